/*
 * Einsum: contracts operands one after the other, from the left. What only one of two operands has
 * and no later one needs is summed first; then their labels fall into batch, rows, columns and
 * summed ones, and the contraction is a matrix product of operands whose dims are put into that
 * order, or a product element by element where no label is summed.
 */
#include "core/memory.h"
#include "ops/dnnl/prim.h"
#include "ops/matmul/einsum_equation.h"
#include "ops/kernel/kernel.h"
#include "ops/matmul/matmul.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A tensor by labels, each once and none of a dim of 1. */
struct operand {
    struct amp_einsum_term term;
    int64_t strides[AMP_EINSUM_LABELS]; /* elements; by label, 0 where it has not got it */
    void *data;
    struct amp_buffer *buffer; /* owns the data; NULL: they are an input's, or the output's */
    bool is_constant;
};

/* What a node keeps: a oneDNN primitive for each product, and the layouts it was made for. */
struct state {
    struct product {
        void *prim;
        bool is_a_transposed, is_b_transposed;
    } products[AMP_EINSUM_OPERANDS];
};

struct run {
    struct amp_ctx *ctx;
    struct amp_einsum einsum;
    enum amp_dtype dtype;
    size_t size; /* bytes of an element */
};

static bool has_label(const struct amp_einsum_term *term, int label)
{
    return memchr(term->labels, label, (size_t)term->n) != NULL;
}

static int64_t count_of(const struct run *run, const struct amp_einsum_term *term)
{
    int64_t count = 1;
    for (int i = 0; i < term->n; i++)
        count *= run->einsum.dims[term->labels[i]];
    return count;
}

static void append(struct amp_einsum_term *term, int label)
{
    term->labels[term->n++] = (unsigned char)label;
}

static struct amp_einsum_term join(const struct amp_einsum_term *a, const struct amp_einsum_term *b)
{
    struct amp_einsum_term result = *a;
    memcpy(result.labels + result.n, b->labels, (size_t)b->n);
    result.n += b->n;
    return result;
}

/* The labels of A, then those that only B has. */
static struct amp_einsum_term unite(const struct amp_einsum_term *a,
                                    const struct amp_einsum_term *b)
{
    struct amp_einsum_term result = *a;
    for (int i = 0; i < b->n; i++)
        if (!has_label(a, b->labels[i]))
            append(&result, b->labels[i]);
    return result;
}

/* ---- operands ------------------------------------------------------------------------------ */

/* Input I: the strides of a label that occurs twice add up, which walks the diagonal. */
static void load(const struct run *run, int i, struct operand *operand)
{
    const struct amp_tensor *tensor = run->ctx->in[i];
    const struct amp_einsum_term *term = &run->einsum.operands[i];
    int64_t strides[AMP_RANK_MAX];
    *operand = (struct operand){.data = tensor->data, .is_constant = run->ctx->is_constant[i]};
    amp_strides(&tensor->shape, strides);
    for (int d = 0; d < term->n; d++) {
        int label = term->labels[d];
        if (tensor->shape.dims[d] == 1)
            continue;
        operand->strides[label] += strides[d];
        if (!has_label(&operand->term, label))
            append(&operand->term, label);
    }
}

/* Sets the term and the strides of an operand that lies in the order of TERM without gaps. */
static void set_order(const struct run *run, struct operand *operand,
                      const struct amp_einsum_term *term)
{
    int64_t stride = 1;
    memset(operand->strides, 0, sizeof operand->strides);
    operand->term = *term;
    for (int i = term->n - 1; i >= 0; i--) {
        operand->strides[term->labels[i]] = stride;
        stride *= run->einsum.dims[term->labels[i]];
    }
}

static bool is_in_order(const struct run *run, const struct operand *operand,
                        const struct amp_einsum_term *term)
{
    struct operand ordered;
    set_order(run, &ordered, term);
    return memcmp(ordered.strides, operand->strides, sizeof ordered.strides) == 0;
}

/* A new operand in the order of TERM; in DATA, or in memory of its own where that is NULL. */
static enum amp_status create(const struct run *run, const struct amp_einsum_term *term, void *data,
                              struct operand *operand)
{
    int64_t count = 1;
    *operand = (struct operand){.data = data};
    if (term->n > AMP_LOOP_RANK)
        return amp_fail(run->ctx->err, AMP_UNSUPPORTED,
                        "an intermediate product of %d dimensions; at most %d are supported",
                        term->n, AMP_LOOP_RANK);
    for (int i = 0; i < term->n; i++)
        if (__builtin_mul_overflow(count, run->einsum.dims[term->labels[i]], &count) ||
            count > INT64_MAX / 16)
            return AMP_CTX_FAIL(run->ctx, "the size of an intermediate product overflows");
    set_order(run, operand, term);
    if (data != NULL)
        return AMP_OK;
    size_t size = (size_t)count * run->size;
    operand->buffer = amp_buffer_create(size);
    if (operand->buffer == NULL)
        return amp_memory_fail(run->ctx->err, "an intermediate product", size);
    operand->data = operand->buffer->data;
    return AMP_OK;
}

static void release(struct operand *operand)
{
    amp_buffer_unref(operand->buffer);
    operand->buffer = NULL;
}

/* Adds OPERAND to LOOP, which runs over the labels of TERM. */
static void add_view(const struct run *run, struct amp_loop *loop,
                     const struct amp_einsum_term *term, const struct operand *operand)
{
    int64_t strides[AMP_LOOP_RANK];
    for (int i = 0; i < term->n; i++)
        strides[i] = operand->strides[term->labels[i]];
    amp_loop_view(loop, operand->data, run->size, strides);
}

static void init_loop(const struct run *run, struct amp_loop *loop,
                      const struct amp_einsum_term *term)
{
    int64_t dims[AMP_LOOP_RANK];
    for (int i = 0; i < term->n; i++)
        dims[i] = run->einsum.dims[term->labels[i]];
    amp_loop_init(loop, term->n, dims);
}

static void copy(const struct run *run, const struct operand *from, const struct operand *to)
{
    struct amp_loop loop;
    init_loop(run, &loop, &to->term);
    add_view(run, &loop, &to->term, to);
    add_view(run, &loop, &to->term, from);
    amp_loop_run(&loop, amp_loop_copy(run->dtype), NULL);
}

/* Copies OPERAND into the order of TERM unless it lies so. */
static enum amp_status arrange(const struct run *run, struct operand *operand,
                               const struct amp_einsum_term *term)
{
    struct operand arranged;
    if (is_in_order(run, operand, term)) {
        operand->term = *term;
        return AMP_OK;
    }
    AMP_TRY(create(run, term, NULL, &arranged));
    copy(run, operand, &arranged);
    release(operand);
    *operand = arranged;
    return AMP_OK;
}

/* ---- sums and products in C ---------------------------------------------------------------- */

/* Each of COUNT sums in TO is that of N elements in FROM. */
typedef void sum_kernel(const void *from, void *to, int64_t count, int64_t n);

/* SUM: a type that loses nothing, or in which overflow wraps. */
#define ADD_UP(DTYPE, T, SUM, ...)                                                \
    static void sum_##DTYPE(const void *from, void *to, int64_t count, int64_t n) \
    {                                                                             \
        for (int64_t i = 0; i < count; i++) {                                     \
            SUM sum = 0;                                                          \
            for (int64_t j = 0; j < n; j++)                                       \
                sum += (SUM)((const T *)from)[i * n + j];                         \
            ((T *)to)[i] = (T)sum;                                                \
        }                                                                         \
    }
AMP_FLOAT_TYPES(ADD_UP, double)
AMP_INTEGER_TYPES(ADD_UP, uint64_t)
static sum_kernel *const sums[AMP_DTYPE_COUNT] = {AMP_REAL_TYPES(AMP_ROW, sum)};

#define MULTIPLY(DTYPE, T, WORK, ...)                                               \
    static void multiply_##DTYPE(int64_t n, void *const *at, const int64_t *step,   \
                                 const void *param)                                 \
    {                                                                               \
        (void)param;                                                                \
        for (int64_t i = 0; i < n; i++)                                             \
            ((T *)at[0])[i * step[0]] = (T)((WORK)((const T *)at[1])[i * step[1]] * \
                                            (WORK)((const T *)at[2])[i * step[2]]); \
    }
AMP_FLOAT_TYPES(MULTIPLY, double)
AMP_INTEGER_TYPES(MULTIPLY, uint64_t)
static amp_loop_body *const products[AMP_DTYPE_COUNT] = {AMP_REAL_TYPES(AMP_ROW, multiply)};

/* Sums OPERAND over its labels that are neither in OTHER nor in NEEDED. */
static enum amp_status reduce(const struct run *run, struct operand *operand,
                              const struct amp_einsum_term *other, uint64_t needed)
{
    struct amp_einsum_term kept = {0}, summed = {0};
    struct operand result;
    sum_kernel *kernel;
    for (int i = 0; i < operand->term.n; i++) {
        int label = operand->term.labels[i];
        append(has_label(other, label) || needed >> label & 1 ? &kept : &summed, label);
    }
    if (summed.n == 0)
        return AMP_OK;
    struct amp_einsum_term order = join(&kept, &summed);
    AMP_PICK(run->ctx, kernel, sums, run->dtype);
    AMP_TRY(arrange(run, operand, &order));
    AMP_TRY(create(run, &kept, NULL, &result));
    kernel(operand->data, result.data, count_of(run, &kept), count_of(run, &summed));
    release(operand);
    *operand = result;
    return AMP_OK;
}

/* RESULT = A * B where no label is summed. */
static enum amp_status multiply(const struct run *run, const struct operand *a,
                                const struct operand *b, const struct operand *result)
{
    struct amp_loop loop;
    amp_loop_body *body;
    AMP_PICK(run->ctx, body, products, run->dtype);
    init_loop(run, &loop, &result->term);
    add_view(run, &loop, &result->term, result);
    add_view(run, &loop, &result->term, a);
    add_view(run, &loop, &result->term, b);
    amp_loop_run(&loop, body, NULL);
    return AMP_OK;
}

/* ---- contractions -------------------------------------------------------------------------- */

/* The labels of a contraction of A with B. */
struct groups {
    struct amp_einsum_term batch, rows, columns, summed; /* in both; in A; in B; in both, no more
                                                            needed */
};

/* The groups, needed labels in the order of ORDER, which has them all and none else. */
static struct groups classify(const struct operand *a, const struct operand *b, uint64_t needed,
                              const struct amp_einsum_term *order)
{
    struct groups groups = {.batch.n = 0};
    for (int i = 0; i < order->n; i++) {
        int label = order->labels[i];
        bool in_a = has_label(&a->term, label), in_b = has_label(&b->term, label);
        if (needed >> label & 1)
            append(in_a && in_b ? &groups.batch : in_a ? &groups.rows : &groups.columns, label);
    }
    for (int i = 0; i < a->term.n; i++)
        if (!(needed >> a->term.labels[i] & 1))
            append(&groups.summed, a->term.labels[i]);
    return groups;
}

static struct amp_einsum_term order_of(const struct groups *groups)
{
    struct amp_einsum_term matrices = join(&groups->rows, &groups->columns);
    return join(&groups->batch, &matrices);
}

static bool is_same(const struct amp_einsum_term *a, const struct amp_einsum_term *b)
{
    return a->n == b->n && memcmp(a->labels, b->labels, (size_t)a->n) == 0;
}

/* The labels of a matrix, or of a batch of matrices. */
struct matrix_labels {
    const struct amp_einsum_term *batch, *rows, *columns;
};

/* Brings OPERAND into the order of LABELS, unless it has rows and columns swapped. */
static enum amp_status arrange_matrix(const struct run *run, struct operand *operand,
                                      struct matrix_labels labels, bool *is_transposed)
{
    struct amp_einsum_term plain = join(labels.rows, labels.columns);
    struct amp_einsum_term swapped = join(labels.columns, labels.rows);
    plain = join(labels.batch, &plain);
    swapped = join(labels.batch, &swapped);
    *is_transposed = !is_in_order(run, operand, &plain) && is_in_order(run, operand, &swapped);
    return arrange(run, operand, *is_transposed ? &swapped : &plain);
}

/* One contraction of two operands. */
struct contraction {
    struct product *product; /* what is kept of it between runs */
    struct operand *a, *b, *result;
};

/* The primitive of PRODUCT was made for other layouts: the shapes alone do not tell. */
static void forget_layouts(struct product *product, const struct amp_matmul *matmul)
{
    if (product->is_a_transposed == matmul->is_a_transposed &&
        product->is_b_transposed == matmul->is_b_transposed)
        return;
    amp_prim_destroy(product->prim);
    *product = (struct product){NULL, matmul->is_a_transposed, matmul->is_b_transposed};
}

/* The result of C = A B, matrices by GROUPS. */
static enum amp_status multiply_matrices(const struct run *run, const struct contraction *c,
                                         const struct groups *groups)
{
    struct operand *a = c->a, *b = c->b;
    struct amp_matmul matmul = {.alpha = 1,
                                .m = count_of(run, &groups->rows),
                                .n = count_of(run, &groups->columns),
                                .k = count_of(run, &groups->summed),
                                .batch_rank = 1};
    matmul.a_batch[0] = matmul.b_batch[0] = count_of(run, &groups->batch);
    struct matrix_labels of_a = {&groups->batch, &groups->rows, &groups->summed};
    struct matrix_labels of_b = {&groups->batch, &groups->summed, &groups->columns};
    AMP_TRY(arrange_matrix(run, a, of_a, &matmul.is_a_transposed));
    AMP_TRY(arrange_matrix(run, b, of_b, &matmul.is_b_transposed));
    forget_layouts(c->product, &matmul);
    struct amp_tensor in[] = {{.dtype = run->dtype,
                               .shape = {3, {matmul.a_batch[0], matmul.m, matmul.k}},
                               .data = a->data},
                              {.dtype = run->dtype,
                               .shape = {3, {matmul.a_batch[0], matmul.k, matmul.n}},
                               .data = b->data}};
    struct amp_tensor out = {.dtype = run->dtype,
                             .shape = {3, {matmul.a_batch[0], matmul.m, matmul.n}},
                             .data = c->result->data};
    struct amp_ctx ctx = *run->ctx;
    ctx.in = (const struct amp_tensor *[]){&in[0], &in[1]};
    ctx.n_in = 2;
    ctx.out = (struct amp_tensor *[]){&out};
    ctx.n_out = 1;
    ctx.is_constant = (bool[]){a->is_constant, b->is_constant};
    ctx.state = &c->product->prim;
    return amp_matmul_run(&ctx, &matmul);
}

/* The result of C = A times B, summed over what is not NEEDED. In OUTPUT if it comes out in its
   order; NULL: it is not the last product. */
static enum amp_status contract(const struct run *run, const struct contraction *c, uint64_t needed,
                                const struct operand *output)
{
    struct operand *a = c->a, *b = c->b;
    AMP_TRY(reduce(run, a, &b->term, needed));
    AMP_TRY(reduce(run, b, &a->term, needed));
    struct amp_einsum_term order = output ? output->term : unite(&a->term, &b->term);
    struct groups groups = classify(a, b, needed, &order), swapped = classify(b, a, needed, &order);
    struct amp_einsum_term of_groups = order_of(&groups), of_swapped = order_of(&swapped);
    if (output != NULL && is_same(&of_swapped, &order) && !is_same(&of_groups, &order)) {
        const struct contraction turned = {c->product, b, a, c->result};
        return contract(run, &turned, needed, output);
    }
    void *data = output != NULL && is_same(&of_groups, &order) ? output->data : NULL;
    AMP_TRY(create(run, &of_groups, data, c->result));
    if (groups.summed.n == 0)
        return multiply(run, a, b, c->result);
    return multiply_matrices(run, c, &groups);
}

/* ---- the operator -------------------------------------------------------------------------- */

static uint64_t mask_of(const struct amp_einsum_term *term)
{
    uint64_t mask = 0;
    for (int i = 0; i < term->n; i++)
        mask |= UINT64_C(1) << term->labels[i];
    return mask;
}

/* What is needed after operand I: the output's labels and those of later operands. */
static uint64_t needed_after(const struct amp_einsum *einsum, int i)
{
    uint64_t mask = mask_of(&einsum->output);
    for (int j = i + 1; j < einsum->n_operands; j++)
        mask |= mask_of(&einsum->operands[j]);
    return mask;
}

/* Contracts all operands; *LAST is what comes out, maybe OUTPUT itself. */
static enum amp_status contract_all(const struct run *run, struct state *state,
                                    const struct operand *output, struct operand *last)
{
    static const struct amp_einsum_term none = {0};
    int n = run->einsum.n_operands;
    load(run, 0, last);
    for (int i = 1; i < n; i++) {
        struct operand operand, result = {.data = NULL};
        load(run, i, &operand);
        const struct contraction contraction = {&state->products[i], last, &operand, &result};
        enum amp_status status =
            contract(run, &contraction, needed_after(&run->einsum, i), i == n - 1 ? output : NULL);
        release(&operand);
        release(last);
        *last = result;
        AMP_TRY(status);
    }
    return n == 1 ? reduce(run, last, &none, mask_of(&run->einsum.output)) : AMP_OK;
}

static struct operand output_of(const struct run *run)
{
    struct operand output = {.data = run->ctx->out[0]->data};
    struct amp_einsum_term term = {0};
    for (int i = 0; i < run->einsum.output.n; i++)
        if (run->einsum.dims[run->einsum.output.labels[i]] != 1)
            append(&term, run->einsum.output.labels[i]);
    set_order(run, &output, &term);
    return output;
}

static bool is_empty(const struct amp_einsum *einsum)
{
    for (int label = 0; label < AMP_EINSUM_LABELS; label++)
        if (einsum->dims[label] == 0)
            return true;
    return false;
}

static enum amp_status shape(struct amp_ctx *ctx)
{
    struct amp_einsum einsum;
    struct amp_shape *output = &ctx->out[0]->shape;
    output->rank = -1;
    for (uint32_t i = 0; i < ctx->n_in; i++)
        if (ctx->in[i]->shape.rank < 0)
            return AMP_OK;
    AMP_TRY(amp_einsum_read(ctx, &einsum));
    output->rank = einsum.output.n;
    for (int i = 0; i < output->rank; i++)
        output->dims[i] = einsum.dims[einsum.output.labels[i]];
    return AMP_OK;
}

static enum amp_status run(struct amp_ctx *ctx)
{
    struct run this = {
        .ctx = ctx, .dtype = ctx->out[0]->dtype, .size = amp_dtype_bits(ctx->out[0]->dtype) / 8};
    AMP_TRY(amp_einsum_read(ctx, &this.einsum));
    /* Rounding in between, after each of several products, is not the operator's. */
    if (this.einsum.n_operands > 2 && sums[this.dtype] == NULL)
        return amp_no_kernel(ctx, this.dtype);
    if (is_empty(&this.einsum)) {
        memset(ctx->out[0]->data, 0, amp_tensor_size(ctx->out[0]));
        return AMP_OK;
    }
    if (*ctx->state == NULL)
        *ctx->state = amp_xcalloc(1, sizeof(struct state));
    struct operand output = output_of(&this), last;
    enum amp_status status = contract_all(&this, *ctx->state, &output, &last);
    if (status == AMP_OK && last.data != output.data)
        copy(&this, &last, &output);
    release(&last);
    return status;
}

static void destroy(void *state)
{
    struct state *kept = state;
    for (int i = 0; i < AMP_EINSUM_OPERANDS; i++)
        amp_prim_destroy(kept->products[i].prim);
    free(kept);
}

/* Whether a label of several operands is summed over: a letter of the operands is not in the
   output, which without an arrow has the letters that stand there once (ONNX, Einsum-12). */
static bool contracts(const struct amp_node *node)
{
    const char *equation = amp_node_string(node, "equation", "");
    const char *arrow = strstr(equation, "->");
    size_t size = arrow != NULL ? (size_t)(arrow - equation) : strlen(equation);
    for (size_t i = 0; i < size && node->n_inputs > 1; i++) {
        if (!isalpha((unsigned char)equation[i]))
            continue;
        bool is_kept = arrow != NULL ? strchr(arrow, equation[i]) != NULL
                                     : memchr(equation + i + 1, equation[i], size - i - 1) == NULL;
        if (!is_kept)
            return true;
    }
    return false;
}

/* Every label's dim, for each factor after the first (ops/flops.h). */
static double count_flops(const struct amp_ctx *ctx, uint32_t unused)
{
    (void)unused;
    struct amp_error err = {.status = AMP_OK};
    struct amp_ctx reading = *ctx;
    struct amp_einsum equation;
    reading.err = &err;
    if (amp_einsum_read(&reading, &equation) != AMP_OK)
        return 0;
    double product = 2 * (ctx->n_in - 1.0);
    for (int i = 0; i < AMP_EINSUM_LABELS; i++)
        product *= (double)equation.dims[i];
    return product;
}

const struct amp_op amp_op_einsum = {
    .name = "Einsum",
    .newest = 12,
    .effect = AMP_COMPUTES,
    .role = AMP_ROLE_EINSUM,
    .native = AMP_NATIVE_DNNL,
    .contracts = contracts,
    .flops = {count_flops, 0},
    .gradient = AMP_GRADIENT(
        {.when = "!b", .term = "Summed(Einsum(g; equation=&equation))"},
        {.when = "!c", .term = "Summed(Einsum(g, b; equation=&equation))"},
        {.input = 1, .when = "!c", .term = "Summed(Einsum(g, a; equation=&equation))"},
        {.when = "!d", .term = "Summed(Einsum(g, b, c; equation=&equation))"},
        {.input = 1, .when = "!d", .term = "Summed(Einsum(g, a, c; equation=&equation))"},
        {.input = 2, .when = "!d", .term = "Summed(Einsum(g, a, b; equation=&equation))"}),
    .shape = shape,
    .run = run,
    .destroy = destroy,
};
