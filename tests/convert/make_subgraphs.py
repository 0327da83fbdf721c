#!/usr/bin/env python3
"""Makes the models with bodies (If, Loop, Scan) that the tests of the conversion convert; cases.py says what a case is."""
from cases import DUMP, case, leave_out, loop_body

# ---- depth

case("bodies_three_deep", "three bodies deep: values and weights of every level, some of them from three levels up", """
    g (float[2,4] x, int64 n, bool c, float[3,2,4] z) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        y = Loop (n, c, x) <
            body = b1 (int64 i, bool k, float[2,4] s) => (bool l, float[2,4] t) <float[4,4] v> {
                l = Identity(k)
                d = MatMul(s, v)
                t = If (k) <
                    then_branch = t2 () => (float[2,4] p) <float[4] u> {
                        e = Mul(d, u)
                        p, r = Scan <num_scan_inputs = 1, body = b3 (float[2,4] h, float[2,4] o) => (float[2,4] f, float[2,4] m) <float[4,4] q> {
                            h1 = MatMul(h, q)
                            h2 = MatMul(h1, v)
                            h3 = MatMul(h2, w)
                            h4 = Add(h3, e)
                            h5 = Add(h4, a)
                            f1 = Mul(h5, u)
                            f = Tanh(f1)
                            m = Celu(o)
                        }> (d, z)
                    },
                    else_branch = e2 () => (float[2,4] p2) { p2 = Celu(d) }
                >
            }
        >
    }""", inputs={"n": 3, "c": True})

case("constant_two_up", "Constant nodes of the main graph and of a body, used two levels further in", """
    g (float[2,2] x, int64 n, bool c) => (float[2,2] y) {
        w = Constant<value = float[2,2] {0.1, 0.2, 0.3, 0.4}>()
        f = Constant<value_float = 0.1>()
        y = Loop (n, c, x) <
            body = b1 (int64 i, bool k, float[2,2] s) => (bool l, float[2,2] t) {
                v = Constant<value = float[2,2] {0.1, -0.2, 0.3, -0.4}>()
                l = Identity(k)
                t = If (k) <
                    then_branch = t2 () => (float[2,2] p) {
                        p = If (k) <
                            then_branch = t3 () => (float[2,2] q) { q1 = MatMul(s, w)  q2 = MatMul(q1, v)  q = Add(q2, f) },
                            else_branch = e3 () => (float[2,2] r) { r = MatMul(s, w) }
                        >
                    },
                    else_branch = e2 () => (float[2,2] o) { o = Mul(s, f)  }
                >
            }
        >
    }""", inputs={"n": 2, "c": True})

# ---- weights of both worlds

case("body_weight_shared", "a weight used in a body and outside, lowered in both: converted once, outside", """
    g (float[2,4] x, bool c) => (float[2,4] y, float[2,4] z) <float[4,4] w> {
        z = MatMul(x, w)
        y = If (c) <
            then_branch = t () => (float[2,4] p) { p = MatMul(z, w) },
            else_branch = e () => (float[2,4] q) { r = Gemm(z, w)  q = Add(r, x) }
        >
    }""", inputs={"c": True})

case("body_weight_both", "a weight lowered in one body, and float32 in another and outside: there in both types", """
    g (float[4,4] x, bool c) => (float[4,4] y, float[4,4] z) <float[4,4] w> {
        z = Celu(w)
        y = If (c) <
            then_branch = t () => (float[4,4] p) { p = MatMul(x, w) },
            else_branch = e () => (float[4,4] q) { r = Celu(w)  q = Add(r, x) }
        >
    }""", inputs={"c": True})

case("body_weight_up", "a weight stored in fp16, cast up outside and used within a body", """
    g (float[2,4] x, bool c) => (float[2,4] y) <float16[4,4] w> {
        v = Cast<to = 1>(w)
        y = If (c) <
            then_branch = t () => (float[2,4] p) { p = MatMul(x, v) },
            else_branch = e () => (float[2,4] q) { u = Cast<to = 1>(w)  q = MatMul(x, u) }
        >
    }""", variants={"fp16": DUMP + " -d fp16"}, inputs={"c": True})

case("body_weight_output", "a body's weight that it gives out too stays float32 there", """
    g (float[4,4] x, bool c) => (float[4,4] y, float[4,4] z) {
        y, z = If (c) <
            then_branch = t () => (float[4,4] p, float[4,4] w) <float[4,4] w> { p = MatMul(x, w) },
            else_branch = e () => (float[4,4] q, float[4,4] r) <float[4,4] u> { q = MatMul(x, u)  r = Identity(u) }
        >
    }""", inputs={"c": True})

# ---- values from outside

case("body_captures_both", "a value from outside that bodies need in both types, lowered there or not: one cast, outside", """
    g (float[2,4] x, float[2,4] v, bool c) => (float[2,4] y) <float[4,4] w> {
        a = MatMul(x, w)
        y = If (c) <
            then_branch = t () => (float[2,4] p) { p1 = MatMul(a, w)  p2 = Celu(a)  p3 = MatMul(v, w)  p4 = Celu(v)  p = Sum(p1, p2, p3, p4) },
            else_branch = e () => (float[2,4] q) { q1 = Celu(a)  q2 = MatMul(v, w)  q = Sub(q1, q2) }
        >
    }""", inputs={"c": True})

case("body_output_outside", "a body that names a value from outside as its output, which ONNX forbids: an Identity gives it one of its own", """
    g (float[2,4] x, bool c) => (float[2,4] y, float[2,4] z) <float[4,4] w> {
        a = MatMul(x, w)
        y, z = If (c) <
            then_branch = t () => (float[2,4] a, float[2,4] w1) { w1 = MatMul(a, w) },
            else_branch = e () => (float[2,4] q, float[2,4] x) { q = Relu(x) }
        >
    }""", inputs={"c": True})

case("body_output_weight", "a body that gives out a weight from outside, which lowered nodes use", """
    g (float[4,4] x, bool c) => (float[4,4] y, float[4,4] z) <float[4,4] w> {
        z = MatMul(x, w)
        y = If (c) <
            then_branch = t () => (float[4,4] p) { p = Identity(w) },
            else_branch = e () => (float[4,4] q) { q = MatMul(z, w) }
        >
    }""", inputs={"c": True})

case("body_names", "bodies side by side that use the same names, for values of different types", """
    g (float[2,4] x, bool c) => (float[2,4] y) <float[4,4] w> {
        y = If (c) <
            then_branch = t () => (float[2,4] p) <float[4,4] u> { a = MatMul(x, u)  p = Celu(a) },
            else_branch = e () => (float[2,4] p) <float[4,4] u> { a = Celu(x)  b = Add(a, x)  p = MatMul(b, u) }
        >
    }""", inputs={"c": True})

# ---- outputs and state

case("branch_outputs", "branches whose outputs are lowered, float32, constant or what came in: all float32 at the end", """
    g (float[2,2] x, bool c) => (float[2,2] y, float[2,2] z) <float[2,2] w> {
        y, a = If (c) <
            then_branch = t () => (float[2,2] p, float[2,2] p2) { p = MatMul(x, w)  p2 = Identity(p) },
            else_branch = e () => (float[2,2] q, float[2,2] q2) <float[2,2] q = {1, 2, 3, 4.1}> { q2 = Identity(x) }
        >
        z = MatMul(a, w)
    }""", inputs={"c": True})

case("branch_outputs_16", "branches that agree on fp16 keep it; the lowered consumer of their output takes it over", """
    g (float[2,4] x, bool c) => (float[2,4] y, float16[2,4] z) <float[4,4] w> {
        z = If (c) <
            then_branch = t () => (float16[2,4] p) { p1 = MatMul(x, w)  p = Cast<to = 10>(p1) },
            else_branch = e () => (float16[2,4] q) { q1 = Celu(x)  q = Cast<to = 10>(q1) }
        >
        a = Cast<to = 1>(z)
        y = MatMul(a, w)
    }""", variants={"fp16": DUMP + " -d fp16"}, inputs={"c": True})

case("loop_states_swapped", "Loop states that change places, one from a lowered node and one as it came, keep their types", """
    g (float[2,4] x, float[2,4] z, int64 n, bool c) => (float[2,4] y, float[2,4] v, float[2,4] u) <float[4,4] w> {
        y, v, u = Loop (n, c, x, z, x) <
            body = b (int64 i, bool k, float[2,4] s, float[2,4] r, float[2,4] q) => (bool l, float[2,4] r, float[2,4] t, float[2,4] q) {
                l = Identity(k)
                a = MatMul(s, w)
                t = Add(a, q)
            }
        >
    }""", inputs={"n": 3, "c": True})

case("loop_state_lowered_before", "Loop whose first state comes from a lowered node and goes to one: casts at both ends, and in the body", f"""
    g (float[2,4] x, int64 n, bool c) => (float[2,4] y, float[M,2,4] z) <float[4,4] w> {{
        a = MatMul(x, w)
        b, z = Loop (n, c, a) <{loop_body("t = Relu(s)", "u = Relu(s)")}>
        y = MatMul(b, w)
    }}""", inputs={"n": 3, "c": True})

case("loop_state_16", "Loop that carries fp16 keeps it across iterations, whatever its nodes run in", f"""
    g (float16[2,4] x, int64 n, bool c) => (float16[2,4] y, float16[M,2,4] z) <float16[4,4] w> {{
        y, z = Loop (n, c, x) <{loop_body("a = MatMul(s, w)", "t = Tanh(a)", "u = Relu(a)", dtype="float16[2,4]")}>
    }}""", variants={"fp16": DUMP + " -d fp16"}, inputs={"n": 3, "c": True})

case("loop_no_count", "Loop without a trip count: it ends by its condition", f"""
    g (float[2,4] x, bool c) => (float[2,4] y, float[M,2,4] z) <float[4,4] w, int64 two = {{2}}> {{
        y, z = Loop (none, c, x) <{loop_body("t = MatMul(s, w)", "u = Relu(t)", goes_on="Less(i, two)")}>
    }}""", leave_out, inputs={"c": True})

case("loop_no_condition", "Loop without a condition: it ends by its trip count, of zero here", f"""
    g (float[2,4] x, int64 n) => (float[2,4] y, float[M,2,4] z) <float[4,4] w> {{
        a = MatMul(x, w)
        y, z = Loop (n, , a) <{loop_body("t = MatMul(s, w)", "u = Relu(t)")}>
    }}""", inputs={"n": 0})

case("loop_no_iterations", "Loop whose condition is false from the start: the state goes through, the scan output is empty", f"""
    g (float[2,4] x, int64 n, bool c) => (float[2,4] y, float[M,2,4] z) <float[4,4] w> {{
        y, z = Loop (n, c, x) <{loop_body("t = MatMul(s, w)", "u = Relu(t)")}>
    }}""", inputs={"n": 5, "c": False})

case("scan_two_states", "Scan: two states, two scanned inputs and outputs, one backwards, from and to lowered nodes", """
    g (float[4] h, float[3,4] x, float[3,4] z) => (float[4] y, float[4] y2, float[3,4] v, float[3,4] u) <float[4,4] w> {
        a = MatMul(x, w)
        y, y2, b, u = Scan <num_scan_inputs = 2, scan_input_directions = [0, 1], body = b (float[4] s, float[4] s2, float[4] i, float[4] j) => (float[4] t, float[4] t2, float[4] o, float[4] o2) {
            t = MatMul(s, w)
            t2 = Add(s2, i)
            o = Mul(t, j)
            o2 = Identity(i)
        }> (h, h, a, z)
        v = MatMul(b, w)
    }""")

case("body_of_nothing", "branches without nodes: one gives out its own weight, the other one that a lowered node uses", """
    g (float[2,2] x, bool c) => (float[2,2] y) {
        a = If (c) <
            then_branch = t () => (float[2,2] p) <float[2,2] p = {1, 2, 3, 4.1}> {},
            else_branch = e () => (float[2,2] q) <float[2,2] q = {4, 3, 2, 1.1}> {}
        >
        y = MatMul(x, a)
    }""", inputs={"c": True})

case("if_in_fp32", "a rule for nodes within a body, by their names", """
    g (float[2,4] x, bool c) => (float[2,4] y) <float[4,4] w> {
        y = If (c) <
            then_branch = t () => (float[2,4] p) { p = MatMul(x, w) },
            else_branch = e () => (float[2,4] q) { q = MatMul(x, w) }
        >
    }""", args=DUMP + " --node MatMul_q=fp32", inputs={"c": True})
