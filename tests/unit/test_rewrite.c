/* What may not be done together: graphs that amp_composites_fuse leaves as they are, beside ones
   like them that it does not. By ONNX's definitions of the operators and of their versions. */
#include "net.h"

#include "run/rewrite/fuse_composites.h"

/* The operators of the model as it would run, in order: "Conv Add". */
static const char *fused(void)
{
    static char text[512];
    infer_all();
    size_t n_integer;
    struct amp_model *model = amp_composites_fuse(net.model, net.arena, &n_integer);
    assert_int_equal(amp_graph_check(model, &net.err), AMP_OK);
    text[0] = '\0';
    for (size_t i = 0; i < model->graphs[0].nodes.count; i++) {
        const struct amp_node *node = amp_node_at(model, model->graphs[0].nodes.items[i]);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? " " : "", node->op_type);
    }
    return text;
}

/* ---- composites ---- */

/* LayerNormalization over the last axis with a scale of the given shape, taken apart. */
static void layer_norm(struct amp_shape of_scale, enum amp_dtype of_x)
{
    static const float ones[4] = {1, 1, 1, 1}, small = 1e-5f, two = 2;
    net_start(17);
    uint32_t x = input("x", of_x, DIMS(3, 4));
    uint32_t m = NODE("ReduceMean", "m", x);
    SET_INTS(m, "axes", -1);
    uint32_t d = NODE("Sub", "d", x, m);
    uint32_t p = NODE("Pow", "p", d, constant("two", AMP_FLOAT, SCALAR, &two));
    uint32_t v = NODE("ReduceMean", "v", p);
    SET_INTS(v, "axes", -1);
    uint32_t s = NODE("Sqrt", "s", NODE("Add", "a", v, constant("e", AMP_FLOAT, SCALAR, &small)));
    uint32_t n = NODE("Div", "n", d, s);
    output(NODE("Mul", "y", n, constant("g", AMP_FLOAT, of_scale, ones)));
}

static void a_normalization_takes_a_vector_for_its_scale(void **state)
{
    static const char apart[] = "ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul";
    (void)state;
    layer_norm(DIMS(4), AMP_FLOAT);
    assert_string_equal(fused(), "LayerNormalization");
    layer_norm(DIMS(1, 4), AMP_FLOAT);
    assert_string_equal(fused(), apart);
    layer_norm(SCALAR, AMP_FLOAT);
    assert_string_equal(fused(), apart);
}

/* ---- what comes after a linear operator ---- */

static const float halves[16] = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f,
                                 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};

/* A Conv of two channels at OPSET. */
static uint32_t conv(int opset)
{
    net_start(opset);
    uint32_t x = input("x", AMP_FLOAT, DIMS(1, 2, 3, 3));
    return NODE("Conv", "c", x, constant("w", AMP_FLOAT, DIMS(2, 2, 1, 1), halves));
}

static uint32_t vector(const char *name)
{
    return constant(name, AMP_FLOAT, DIMS(2), halves);
}

static void a_normalization_in_training_stays(void **state)
{
    (void)state;
    for (int training = 0; training < 2; training++) {
        uint32_t c = conv(15);
        uint32_t y =
            NODE("BatchNormalization", "y", c, vector("s"), vector("b"), vector("m"), vector("v"));
        set_int(y, "training_mode", training);
        output(y);
        assert_string_equal(fused(), training ? "Conv BatchNormalization" : "Conv");
    }
    /* Before version 14 its outputs say that it trains. */
    for (uint32_t n_outputs = 1; n_outputs < 6; n_outputs += 4) {
        uint32_t c = conv(9);
        output(net_out(net_node(0, "BatchNormalization", "y", n_outputs,
                                IDS(c, vector("s"), vector("b"), vector("m"), vector("v"))),
                       0));
        assert_string_equal(fused(), n_outputs > 1 ? "Conv BatchNormalization" : "Conv");
    }
}

/* Up to version 6 operands are of one shape unless an attribute lines them up. */
static void sums_of_before_version_7_stay(void **state)
{
    (void)state;
    uint32_t c = conv(7);
    output(NODE("Add", "y", c, constant("b", AMP_FLOAT, DIMS(2, 1, 1), halves)));
    assert_string_equal(fused(), "Conv");
    c = conv(6);
    uint32_t y = NODE("Add", "y", c, constant("b", AMP_FLOAT, DIMS(1), halves));
    set_int(y, "broadcast", 1);
    output(y);
    assert_string_equal(fused(), "Conv Add");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(a_normalization_takes_a_vector_for_its_scale),
        NET_TEST(a_normalization_in_training_stays),
        NET_TEST(sums_of_before_version_7_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
