#ifndef AMP_OPS_OP_H
#define AMP_OPS_OP_H

#include "core/graph/graph.h"
#include "core/tensor.h"
#include "ops/facts.h"

/*
 * Operators: one `const struct amp_op amp_op_<name>` in its family file and one line in op_list.h.
 * What ONNX says of an operator (inputs, types, attributes, versions) is in the schema table; the
 * descriptor adds only what this program knows how to do with it.
 */
enum amp_effect {
    AMP_COMPUTES,         /* results depend on the precision of the arithmetic */
    AMP_PRESERVES_VALUES, /* moves or copies elements: a cast may cross it unchanged */
    AMP_OPAQUE            /* control flow, random numbers, side effects */
};

struct amp_bound_call; /* ops/bound.h */
struct amp_inner_call; /* ops/bound.h */
struct amp_interval;   /* core/number/interval.h */
struct amp_post;
struct amp_post_op;

struct amp_ctx;

/* How an operator does once more what run has just done, on inputs of the same forms (dtype, shape,
   layout) and other data. */
struct amp_repeat {
    bool (*can)(const struct amp_ctx *ctx); /* after a run: the state has all that it takes */
    /* In the place of run; AMP_AGAIN: run is to be called after all. */
    enum amp_status (*run)(struct amp_ctx *ctx);
};

struct amp_op {
    const char *name;   /* ONNX op_type */
    const char *domain; /* NULL: ai.onnx */
    int newest;         /* the newest since_version that shape and run know */
    enum amp_effect effect;
    enum amp_role role;
    const void *own; /* what its family file alone reads, to tell its operators apart */

    /* ---- what run can do ---- */

    /* Float dtypes (AMP_DTYPE_BIT) that run takes as they are. For others among float16 and
       bfloat16 the executor widens the inputs to float32 and rounds the outputs. Of no concern for
       AMP_PRESERVES_VALUES, which takes any dtype. AMP_BY_DNNL with them: oneDNN computes them, C
       what it lacks. */
    uint32_t native;
    /* Dtypes that ONNX allows for some input or output, and that run has nothing for: the executor
       refuses them before it runs anything. */
    uint32_t lacks;
    /* So many outputs, from the first on, get no memory before run, which shares that of input 0 or
       asks for some itself. */
    uint32_t shares_input;
    /* Run computes through oneDNN (ops/dnnl/dnnl.h), takes tensors in oneDNN's layouts and may give
       such: output 0 gets no memory before run. */
    bool has_layouts;
    /* Run takes tensors in those of oneDNN's layouts that have no blocks (amp_layout_strides), and
       may give such: output 0 gets no memory before run. */
    bool has_strides;
    /* Each element of output 0 comes from the same element of each input, as that broadcasts, so
       that the order in which elements lie is of no concern. */
    bool is_elementwise;
    /* The same of input 0; the others are single numbers, and PyTorch promotes no dtype. */
    bool is_map;
    /* Each element of the results is one of the inputs', or that with another sign: what a lower
       dtype has exactly stays so. Of no concern for AMP_PRESERVES_VALUES. */
    bool picks;
    /* It gives something else when it runs again on the same inputs: random numbers. */
    bool draws;
    /* PyTorch promotes the dtypes of its inputs to one (torch.cat, torch.maximum); true of what
       is_elementwise says, too. */
    bool promotes;
    /* Inputs, a bit each, that run may get in another of float32, float16 and bfloat16 than the
       model has them in (amp_ctx.reads_casts): it casts them, or computes in float32 in any case.
       Of the second, inputs of type float32 alone. */
    uint32_t reads_casts, reads_widened;
    /* Whether run takes constant input I of a lower dtype with others in float32, on a CPU that
       does not compute in that: the executor then widens the others alone. NULL: it does not. */
    bool (*reads_lower)(const struct amp_ctx *ctx, uint32_t i);
    /* Inputs, a bit each, whose data may lie at any address: run copies bytes of them. */
    uint32_t reads_unaligned;
    /* Run does the post-ops of its call (ops/dnnl/post_op.h), or says AMP_UNSUPPORTED when there
     * are any.
     */
    bool fuses;

    /* ---- what it is to the nodes around it; NULL and false: nothing of the kind ---- */

    /* How it can be done as a post-op of the node before it (ops/dnnl/post_op.h). */
    const struct amp_post_op *post_op;
    const struct amp_linear *linear;
    const struct amp_fusion *fusion;
    const struct amp_integer_form *integer;   /* NULL: none */
    const struct amp_gradient_rule *gradient; /* AMP_GRADIENT */
    /* In place of that, of operators that are derived step by step: ends with H NULL. */
    const struct amp_recurrence *recurrence;
    const struct amp_update *update; /* of optimizers: run as (rate, count, values, gradients,
                                        states) -> (values, states) */
    /* Of two inputs either may come first in a pattern (pattern/pattern.h). */
    bool is_commutative;
    /* Output 0 holds the elements of input 0 in their order; only its shape may be another. */
    bool is_reshape;
    /* Axes, in an attribute or an input, count the dims of output 0 and not of input 0. */
    bool has_output_axes;
    enum amp_guard_use guard_use;
    /* What holds of the elements of output 0, given what does of the inputs'; and the magnitude
       that squares and sums within reach (ops/bound.h). Of AMP_PRESERVES_VALUES the first is known
       without. */
    bool (*bound)(const struct amp_bound_call *call, struct amp_interval *out);
    double (*inner)(const struct amp_inner_call *call);
    /* Inputs in which a 0 makes an infinity of the result; and those in which it makes a 0. */
    uint32_t divides, keeps_zero;
    enum amp_indexing indexing;
    struct amp_selects selects;
    /* Output 0 is input 0 but for elements that the other inputs write over, where these say. */
    bool overwrites;
    /* The results depend on the shape of input 0 and on none of its elements. */
    bool reads_shape;
    const struct amp_input_meaning *meanings; /* AMP_MEANINGS */
    /* Whether a node sums over what its inputs share; NULL: the operator is not of that kind. */
    bool (*contracts)(const struct amp_node *node);
    /* In a lower dtype it may round what it hands from one of its own steps to the next, and not
       its results alone. */
    bool rounds_within;
    struct amp_flops flops; /* COUNT NULL: no product, or none that counts */

    /* ---- types that the schema table does not tell ---- */

    const struct amp_dtype_attr *dtype_attr;
    /* The dtype of output I where neither type variables nor dtype_attr tell it; AMP_UNDEFINED:
       not known. */
    enum amp_dtype (*dtype)(const struct amp_model *model, const struct amp_node *node, uint32_t i);
    const struct amp_pairing *pairing; /* with the bodies that it has */
    const char *twins[2];              /* type variables that stand for the same data */
    const struct amp_version_change *changes;

    /* ---- functions ---- */

    enum amp_status (*shape)(struct amp_ctx *ctx); /* NULL: outputs' shapes come from run alone */
    enum amp_status (*run)(struct amp_ctx *ctx);   /* NULL: can be converted, not executed */
    const struct amp_repeat *repeat;               /* NULL: run does all anew */
    void (*destroy)(void *state);                  /* frees what run left in *ctx->state */
    /* Whether another run on inputs of the same shapes reads constant input INDEX (behind the
       inputs: the operands of post-ops), of which STATE may have a form of its own. It may then
       come without data; run says AMP_AGAIN when it wants them after all. NULL: run reads all. */
    bool (*reads)(const void *state, size_t index);
};

/* For amp_op.native: float32 alone; what C computes in; what is lower; every float dtype, whether
   elements are only moved or computed in float32 block by block. */
#define AMP_NATIVE_F32 AMP_DTYPE_BIT(AMP_FLOAT)
#define AMP_NATIVE_C (AMP_DTYPE_BIT(AMP_FLOAT) | AMP_DTYPE_BIT(AMP_DOUBLE))
#define AMP_NATIVE_LOWER (AMP_DTYPE_BIT(AMP_BFLOAT16) | AMP_DTYPE_BIT(AMP_FLOAT16))
#define AMP_NATIVE_ALL (AMP_NATIVE_C | AMP_NATIVE_LOWER)
#define AMP_BY_DNNL AMP_DTYPE_BIT(AMP_UNDEFINED) /* the bit of no dtype */
#define AMP_NATIVE_DNNL (AMP_BY_DNNL | AMP_NATIVE_ALL)

/* For amp_op.reads_casts and reads_widened, and amp_dtype_attr.outputs. */
#define AMP_INPUT(i) (UINT32_C(1) << (i))
#define AMP_INPUTS_ALL UINT32_MAX

/* For amp_op.lacks. */
#define AMP_COMPLEX_TYPES (AMP_DTYPE_BIT(AMP_COMPLEX64) | AMP_DTYPE_BIT(AMP_COMPLEX128))
#define AMP_FLOAT8_TYPES                                                   \
    (AMP_DTYPE_BIT(AMP_FLOAT8E4M3FN) | AMP_DTYPE_BIT(AMP_FLOAT8E4M3FNUZ) | \
     AMP_DTYPE_BIT(AMP_FLOAT8E5M2) | AMP_DTYPE_BIT(AMP_FLOAT8E5M2FNUZ))

/* One run of a body of control flow. */
struct amp_body_call {
    uint32_t graph;                   /* the body */
    struct amp_tensor *const *inputs; /* one for each of its graph inputs, by position */
    size_t n_inputs;
    struct amp_tensor *outputs; /* one for each of its graph outputs; the caller releases them */
    size_t n_outputs;
};

struct amp_session; /* run/exec/session.h */

/* What a kernel may ask of whoever runs it. */
struct amp_host {
    struct amp_dnnl *dnnl;       /* engine and stream: ops/dnnl/dnnl.h */
    struct amp_profile *profile; /* what nodes and primitives are noted in; NULL: nothing is */
    bool blocks_channels;  /* float32 convolutions are to have blocks of channels, not channels last
                            */
    size_t constants_size; /* bytes of the model's constants, which a run reads */
    /* Runs a body; values captured from outer graphs are found by SESSION, which is the host's. */
    enum amp_status (*run_body)(struct amp_session *session, const struct amp_body_call *call,
                                struct amp_error *err);
    struct amp_session *session;
};

/* How output 0 may lie, for the nodes that read it. */
struct amp_layout_wish {
    bool any_layout;      /* no reader needs it row-major */
    const int64_t *order; /* the only reader is a Transpose with this perm, of N_ORDER dims; NULL:
                             not so. Output 0 may lie so that the Transpose's result is row-major */
    size_t n_order;
};

/*
 * One call of an operator. For shape: in[i]->shape may have unknown dims (or rank), in[i]->data is
 * NULL where the values are not known; shape sets out[i]->shape, rank -1 where it cannot know yet.
 * For run: all inputs are known; out[i] holds dtype and, where shape knew it, the shape and memory
 * (but see shares_input); for the others run sets the shape and calls amp_ctx_alloc.
 */
struct amp_ctx {
    const struct amp_model *model;
    const struct amp_node *node;        /* attributes; node->since_version selects the semantics */
    const struct amp_tensor *const *in; /* NULL: omitted */
    uint32_t n_in;
    struct amp_tensor *const *out; /* never NULL; out[i]->dtype AMP_UNDEFINED: nobody wants it */
    uint32_t n_out;
    const bool *is_constant; /* per input: the same data in every run, so that what is derived from
                                it may be kept in *state; NULL for shape */
    void **state;            /* of this node, NULL at first, kept between runs; NULL for shape */
    struct amp_host *host;   /* NULL for shape */
    struct amp_error *err;
    const struct amp_post *posts; /* to be done to output 0, whose dtype is that of the last */
    size_t n_posts;
    struct amp_layout_wish layout_wish; /* how output 0 may lie */
    bool reads_casts; /* inputs or operands of posts have another dtype than in the model: run takes
                         them as if they were cast, or says AMP_UNSUPPORTED */
};

/* A call of another operator from within a kernel, for operators that are made of others. */
struct amp_call {
    const struct amp_op *op;
    int version; /* its semantics */
    struct amp_attr *attrs;
    uint32_t n_attrs;
    const struct amp_tensor *in[4]; /* NULL: omitted; none counts as constant */
    uint32_t n_in;
    struct amp_tensor *out[4]; /* with shapes and memory; dtype AMP_UNDEFINED: not wanted */
    uint32_t n_out;
    void **state; /* op->destroy's; NULL at first */
};

/* Runs CALL for the node of CTX. */
enum amp_status amp_call_run(const struct amp_ctx *ctx, const struct amp_call *call);

/* Runs a body of the node of CTX. */
enum amp_status amp_ctx_run_body(const struct amp_ctx *ctx, const struct amp_body_call *call);

/* The descriptor of an operator; NULL when there is none. DOMAIN "" is ai.onnx. */
const struct amp_op *amp_op_find(const char *domain, const char *op_type);
const struct amp_op *amp_op_of(const struct amp_node *node);

/* Whether NODE is of the operator that ROLE is of. */
bool amp_node_has_role(const struct amp_node *node, enum amp_role role);

/* Whether the operator of ai.onnx that is called OP_TYPE is the one that ROLE is of. */
bool amp_op_name_has_role(const char *op_type, enum amp_role role);

/* Whether NODE is of a version before 7, in which operands line up by attributes, broadcast and
   axis, and not from the last dim on as NumPy has it (ONNX, Broadcasting). */
bool amp_broadcasts_by_attributes(const struct amp_node *node);

/* Whether they do so from another dim on than the last ones: attribute axis is there. */
bool amp_broadcasts_from_axis(const struct amp_node *node);

/* Whether output 0 of OP may lie as its inputs do, in whatever order. */
static inline bool amp_op_keeps_places(const struct amp_op *op)
{
    return op->is_elementwise || op->is_map;
}

/* Whether input or output I is there. */
static inline bool amp_has_in(const struct amp_ctx *ctx, uint32_t i)
{
    return i < ctx->n_in && ctx->in[i] != NULL;
}

static inline bool amp_has_out(const struct amp_ctx *ctx, uint32_t i)
{
    return i < ctx->n_out && ctx->out[i]->dtype != AMP_UNDEFINED;
}

/* AMP_MODEL with the text; the executor puts the node's name before it. */
#define AMP_CTX_FAIL(ctx, ...) amp_fail((ctx)->err, AMP_MODEL, __VA_ARGS__)

/* Allocates output I whose dtype and shape are set. */
enum amp_status amp_ctx_alloc(struct amp_ctx *ctx, uint32_t i);

/* Reads input I, an integer tensor of at most MAX elements, into VALUES. Sets *COUNT to -1 when the
   data is not known (shape only) and to 0 when the input is omitted. */
enum amp_status amp_ctx_ints(const struct amp_ctx *ctx, uint32_t i, int64_t *values, int max,
                             int *count);

/* Where a node has its axes, pads, repeats ...: in an attribute or, from some version on, in an
 * input.
 */
struct amp_ints_place {
    const char *attr;
    uint32_t input;
};

/* Reads at most MAX integers from attribute PLACE.attr or, where the node does not have it, from
   input PLACE.input into VALUES. Sets *COUNT as amp_ctx_ints does. */
enum amp_status amp_ctx_ints_attr(const struct amp_ctx *ctx, struct amp_ints_place place,
                                  int64_t *values, int max, int *count);

/* The place of string attribute NAME in the list NAMES, which NULL ends; *CHOICE stays as it is
   when the attribute is absent. */
enum amp_status amp_ctx_choice(const struct amp_ctx *ctx, const char *name,
                               const char *const *names, int *choice);

/* AXIS in -RANK .. RANK-1, made positive. */
enum amp_status amp_ctx_axis(const struct amp_ctx *ctx, int64_t axis, int rank, int *result);

/* Whether what is reduced stays as a dim of 1: attribute keepdims. ONNX knows 1, the default, and
   0; its own shape inference takes others for 0. */
bool amp_ctx_keeps_dims(const struct amp_ctx *ctx);

/* Shape functions that many operators share. */
enum amp_status amp_shape_same(struct amp_ctx *ctx);      /* every output as input 0 */
enum amp_status amp_shape_broadcast(struct amp_ctx *ctx); /* output 0: all inputs broadcast (ONNX
                                                             multidirectional broadcasting) */

/* The broadcast of A and B to *OUT, unknown dims allowed: AMP_MODEL when they do not fit. OUT may
   be A or B. */
enum amp_status amp_broadcast(const struct amp_shape *a, const struct amp_shape *b,
                              struct amp_shape *out, struct amp_error *err);

#endif
