/*
 * Knows the derivative of each operator by each input, as a table of terms (gradient_term.h), and
 * picks the row for a node. At a kink (Abs or Relu at 0) the derivative is 0.
 */
#include "run/rewrite/gradient_rules.h"

#include "core/array.h"

#include <string.h>

enum { EACH = -1 };

/* Ranks of inputs 0 and 1 that a rule is for. */
enum ranks { ANY, MATRICES, VECTOR_MATRIX, MATRIX_VECTOR, VECTORS };

struct rule {
    const char *op;
    int input;        /* or EACH */
    const char *term; /* gradient_rules.h says what it may hold */
    const char *attr; /* only where this attribute, else FALLBACK, is VALUE; NULL: always */
    int64_t fallback, value;
    enum ranks ranks;
};

static const struct rule rules[] = {
    {.op = "Abs", .term = "Mul(g, Sign(x))"},
    {.op = "Add", .input = EACH, .term = "SumTo(g)"},
    {.op = "Cast", .term = "CastLike(g, x)"},
    {.op = "CastLike", .term = "CastLike(g, x)"},
    {.op = "CastLike", .input = 1, .term = "Expand(0, Shape(x))"},
    {.op = "Cos", .term = "Neg(Mul(g, Sin(x)))"},
    {.op = "Div", .term = "SumTo(Div(g, b))"},
    {.op = "Div", .input = 1, .term = "SumTo(Neg(Mul(g, Div(y, b))))"},
    {.op = "Erf", .term = "Mul(g, Mul(1.1283791670955126, Exp(Neg(Mul(x, x)))))"},
    {.op = "Exp", .term = "Mul(g, y)"},
    {.op = "Expand", .term = "SumTo(g)"},
    {.op = "Flatten", .term = "Reshape(g, Shape(x); allowzero=1)"},
    {.op = "Gemm", .term = "Gemm(g, b; alpha=$alpha, transB=!transB)", .attr = "transA"},
    {.op = "Gemm",
     .term = "Gemm(b, g; alpha=$alpha, transA=@transB, transB=1)",
     .attr = "transA",
     .value = 1},
    {.op = "Gemm",
     .input = 1,
     .term = "Gemm(a, g; alpha=$alpha, transA=!transA)",
     .attr = "transB"},
    {.op = "Gemm",
     .input = 1,
     .term = "Gemm(g, a; alpha=$alpha, transA=1, transB=@transA)",
     .attr = "transB",
     .value = 1},
    {.op = "Gemm", .input = 2, .term = "SumTo(Mul(g, $beta))"},
    {.op = "Identity", .term = "g"},
    {.op = "Log", .term = "Div(g, x)"},
    {.op = "MatMul", .term = "SumTo(MatMul(g, Transpose(b; perm=^b)))", .ranks = MATRICES},
    {.op = "MatMul",
     .input = 1,
     .term = "SumTo(MatMul(Transpose(a; perm=^a), g))",
     .ranks = MATRICES},
    {.op = "MatMul",
     .term = "SumTo(Squeeze(MatMul(b, Unsqueeze(g, [-1])), [-1]))",
     .ranks = VECTOR_MATRIX},
    {.op = "MatMul",
     .input = 1,
     .term = "SumTo(Mul(Unsqueeze(a, [-1]), Unsqueeze(g, [-2])))",
     .ranks = VECTOR_MATRIX},
    {.op = "MatMul", .term = "SumTo(Mul(Unsqueeze(g, [-1]), b))", .ranks = MATRIX_VECTOR},
    {.op = "MatMul",
     .input = 1,
     .term = "SumTo(Mul(a, Unsqueeze(g, [-1])))",
     .ranks = MATRIX_VECTOR},
    {.op = "MatMul", .term = "Mul(g, b)", .ranks = VECTORS},
    {.op = "MatMul", .input = 1, .term = "Mul(g, a)", .ranks = VECTORS},
    {.op = "Mul", .term = "SumTo(Mul(g, b))"},
    {.op = "Mul", .input = 1, .term = "SumTo(Mul(g, a))"},
    {.op = "Neg", .term = "Neg(g)"},
    /* 0 to the power of 0 has the derivative 0, not 0 times infinity. */
    {.op = "Pow",
     .term = "SumTo(Where(Equal(b, CastLike(0, b)), 0, Mul(g, Mul(CastLike(b, x), "
             "Pow(x, Sub(CastLike(b, x), 1))))))"},
    {.op = "Pow",
     .input = 1,
     .term = "SumTo(Where(Greater(a, CastLike(0, a)), CastLike(Mul(CastLike(g, a), "
             "Mul(y, Log(a))), x), CastLike(0, x)))"},
    {.op = "Reciprocal", .term = "Neg(Mul(g, Mul(y, y)))"},
    {.op = "ReduceMean",
     .term = "Div(Expand(g, Shape(x)), CastLike(Div(Size(x), Max(Size(y), 1L)), x))",
     .attr = "keepdims",
     .fallback = 1,
     .value = 1},
    {.op = "ReduceMean",
     .term = "Div(Expand(Unsqueeze(g, axes), Shape(x)), "
             "CastLike(Div(Size(x), Max(Size(y), 1L)), x))",
     .attr = "keepdims",
     .fallback = 1},
    {.op = "ReduceSum",
     .term = "Expand(g, Shape(x))",
     .attr = "keepdims",
     .fallback = 1,
     .value = 1},
    {.op = "ReduceSum",
     .term = "Expand(Unsqueeze(g, axes), Shape(x))",
     .attr = "keepdims",
     .fallback = 1},
    {.op = "Relu", .term = "Where(Greater(x, 0), g, 0)"},
    {.op = "Reshape", .term = "Reshape(g, Shape(x); allowzero=1)"},
    {.op = "Sigmoid", .term = "Mul(g, Mul(y, Sub(1, y)))"},
    {.op = "Sin", .term = "Mul(g, Cos(x))"},
    {.op = "Softplus", .term = "Mul(g, Sigmoid(x))"},
    {.op = "Sqrt", .term = "Div(g, Add(y, y))"},
    {.op = "Squeeze", .term = "Reshape(g, Shape(x); allowzero=1)"},
    {.op = "Sub", .term = "SumTo(g)"},
    {.op = "Sub", .input = 1, .term = "SumTo(Neg(g))"},
    {.op = "Sum", .input = EACH, .term = "SumTo(g)"},
    {.op = "Tanh", .term = "Mul(g, Sub(1, Mul(y, y)))"},
    {.op = "Transpose", .term = "Transpose(g; perm=~perm)"},
    {.op = "Unsqueeze", .term = "Reshape(g, Shape(x); allowzero=1)"},
    {.op = "Where", .input = 1, .term = "SumTo(Where(a, g, 0))"},
    {.op = "Where", .input = 2, .term = "SumTo(Where(a, 0, g))"},
};

static enum ranks ranks_of(const struct amp_model *model, const struct amp_node *node)
{
    static const enum ranks found[2][2] = {{MATRICES, MATRIX_VECTOR}, {VECTOR_MATRIX, VECTORS}};
    int a = amp_value_at(model, node->inputs[0])->rank;
    int b = amp_value_at(model, node->inputs[1])->rank;
    return a < 1 || b < 1 ? ANY : found[a == 1][b == 1];
}

static bool applies(const struct rule *rule, const struct amp_model *model,
                    const struct amp_node *node, uint32_t i)
{
    return amp_node_is(node, "", rule->op) && (rule->input == EACH || rule->input == (int)i) &&
           (rule->attr == NULL ||
            (amp_node_int(node, rule->attr, rule->fallback) != 0) == (rule->value != 0)) &&
           (rule->ranks == ANY || rule->ranks == ranks_of(model, node));
}

uint32_t amp_gradient_of_input(struct amp_derivation *derivation, uint32_t i)
{
    const struct amp_node *node = amp_node_at(derivation->model, derivation->node);
    derivation->x = node->inputs[i];
    /* Before opset 7 shapes were fitted together otherwise. */
    if (node->schema == NULL || amp_node_attr(node, "broadcast") != NULL)
        return AMP_NONE;
    for (size_t k = 0; k < AMP_COUNT(rules); k++)
        if (applies(&rules[k], derivation->model, node, i))
            return amp_gradient_term(derivation, rules[k].term);
    return AMP_NONE;
}
