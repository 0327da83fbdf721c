/*
 * Runs the steps of attention in slices: takes the calls of their kernels, which it queues, and
 * gives the output of the last one. The kernels run on tensors that view a part of what the calls
 * read: the same primitives as for the whole, made for the shape of a slice, and once more for what
 * is left at the end. A slice is a range along one dim of the scores, with all dims behind it
 * whole, and one index along each dim before it. It refuses calls that cannot be cut so; step.c
 * then tries others.
 */
#include "run/exec/slices.h"

#include "core/clock.h"
#include "core/convert.h"
#include "ops/dnnl/engine.h"
#include "ops/dnnl/layout.h"
#include "ops/dnnl/post_op.h"
#include "ops/kernel/kernel.h"
#include "ops/matmul/matmul.h"
#include "ops/dnnl/profile.h"

#include <omp.h>
#include <string.h>

/* Scores are kept whole up to this many bytes for each thread, and no slice of them is larger: as
   much as the cache of a core holds. Attention of 12 heads of 64 over 512 tokens takes 0.6 of the
   time so, in bfloat16 on 2 cores that have 2 MiB of cache each; halves and doubles of this come
   within 0.1 of that. */
enum { SLICE_BYTES_PER_THREAD = 2 << 20 };

/* Rows of a slice are a multiple of this: oneDNN multiplies blocks of so many. */
enum { ROW_BLOCK = 32 };

/* Slices are of two shapes: as many as fit, and the rest at the end. */
enum { FULL, REST, N_FORMS };

/* A tensor that is cut along the scores' dims; the slices of it are views. */
struct cut {
    struct amp_tensor whole;
    int n_dims; /* the scores' dims, from the first, that it is cut along */
    int64_t
        strides[AMP_RANK_MAX]; /* bytes along the scores' dims; 0: it has all of that dim, or 1 */
    struct amp_tensor slices[N_FORMS];
    bool is_made;
};

struct member {
    const struct amp_step *step;
    struct amp_ctx ctx; /* of the call that waits */
    struct amp_tensor
        inputs[AMP_ATTENTION_INPUTS_MAX]; /* what was widened would go with the call */
    const struct amp_tensor *reads[AMP_ATTENTION_INPUTS_MAX]; /* those */
    enum amp_dtype wanted; /* the dtype of what it gets from the member before */
    struct amp_tensor all; /* what it would give; data only of the last one */
    struct cut in[AMP_ATTENTION_INPUTS_MAX], operands[AMP_POSTS_MAX], out;
    struct amp_post posts[AMP_POSTS_MAX];
    void *states[N_FORMS];
    int place;              /* of what it gives: which scratch memory */
    enum amp_dtype rounded; /* the dtype to which that is rounded */
    struct amp_tensor
        given[N_FORMS]; /* what the next member gets: rounded, in the dtype it wants */
    int given_place;    /* in which scratch memory that is */
    double seconds;     /* of this run */
};

struct amp_slices {
    struct member *members;
    size_t n, capacity;
    bool is_queueing;
    const struct amp_node *refused_by;
    struct amp_shape shape;  /* of the scores */
    int axis;                /* which is cut */
    int64_t counts[N_FORMS]; /* along it; of the rest 0: there is none */
    struct amp_buffer *scratch[2];
};

struct amp_slices *amp_slices_create(struct amp_arena *arena, size_t n)
{
    struct amp_slices *slices = amp_arena_array(arena, 1, sizeof *slices);
    slices->members = amp_arena_array(arena, n, sizeof *slices->members);
    slices->capacity = n;
    return slices;
}

/* Of members that have run, or will not. */
static void release_inputs(struct amp_slices *slices)
{
    for (size_t m = 0; m < slices->n; m++)
        amp_tensors_release(slices->members[m].inputs, AMP_ATTENTION_INPUTS_MAX);
    slices->n = 0;
}

static void drop_member_states(struct member *member)
{
    for (int form = 0; form < N_FORMS; form++) {
        if (member->states[form] != NULL && member->step->op->destroy != NULL)
            member->step->op->destroy(member->states[form]);
        member->states[form] = NULL;
    }
}

static void drop_states(struct amp_slices *slices)
{
    for (size_t i = 0; i < slices->capacity; i++)
        drop_member_states(&slices->members[i]);
}

void amp_slices_destroy(struct amp_slices *slices)
{
    if (slices == NULL)
        return;
    drop_states(slices);
    release_inputs(slices);
}

bool amp_slices_are_queueing(const struct amp_slices *slices)
{
    return slices->is_queueing;
}

const struct amp_node *amp_slices_refused_by(const struct amp_slices *slices)
{
    return slices->refused_by;
}

void amp_slices_allow(struct amp_slices *slices)
{
    slices->refused_by = NULL;
}

void amp_slices_refuse(struct amp_slices *slices, const struct amp_node *node)
{
    slices->is_queueing = false;
    slices->refused_by = node;
    drop_states(slices);
    release_inputs(slices);
}

/* Because of the call CTX. */
static enum amp_status refuse(struct amp_slices *slices, const struct amp_ctx *ctx)
{
    amp_slices_refuse(slices, ctx->node);
    return amp_fail(ctx->err, AMP_KERNEL, "attention in slices has been refused");
}

static bool is_chained(const struct amp_slices *slices, const struct member *member, uint32_t i)
{
    return member != slices->members && i == member->step->attention.scores_in;
}

/* ---- cutting --------------------------------------------------------------------------------- */

/* Along the scores' dims, in bytes: 0 where TENSOR, which broadcasts to the scores, has 1 of them.
   False: it lies in blocks. */
static bool find_strides(const struct amp_slices *slices, const struct amp_tensor *tensor,
                         struct cut *cut)
{
    const struct amp_shape *scores = &slices->shape, *shape = &tensor->shape;
    int64_t plain[AMP_RANK_MAX], size = amp_dtype_bits(tensor->dtype) / 8;
    const int64_t *strides = plain;
    int missing = scores->rank - shape->rank;
    amp_strides(shape, plain);
    if (tensor->layout != NULL)
        strides = amp_layout_strides(tensor->layout);
    if (strides == NULL)
        return false;
    for (int i = 0; i < cut->n_dims; i++) {
        int64_t dim = i < missing ? 1 : shape->dims[i - missing];
        cut->strides[i] = dim == 1 ? 0 : strides[i - missing] * size;
    }
    return true;
}

/* The shape of a slice of CUT. */
static struct amp_shape slice_shape(const struct amp_slices *slices, const struct cut *cut,
                                    int form)
{
    struct amp_shape shape = cut->whole.shape;
    int missing = slices->shape.rank - shape.rank;
    for (int i = 0; i <= slices->axis && i < cut->n_dims; i++)
        if (cut->strides[i] != 0)
            shape.dims[i - missing] = i < slices->axis ? 1 : slices->counts[form];
    return shape;
}

/* Cuts TENSOR along N_DIMS of the scores' dims, unless it has been cut so. False: it cannot be. */
static bool cut_tensor(const struct amp_slices *slices, struct amp_layouts *layouts,
                       const struct amp_tensor *tensor, int n_dims, struct cut *cut)
{
    bool is_same = cut->is_made && cut->whole.dtype == tensor->dtype &&
                   cut->whole.layout == tensor->layout &&
                   amp_shape_equal(&cut->whole.shape, &tensor->shape);
    cut->whole = *tensor;
    if (is_same)
        return true;
    cut->n_dims = n_dims;
    if (!find_strides(slices, tensor, cut))
        return false;
    for (int form = 0; form < N_FORMS; form++) {
        struct amp_tensor *slice = &cut->slices[form];
        *slice =
            (struct amp_tensor){.dtype = tensor->dtype, .shape = slice_shape(slices, cut, form)};
        if (tensor->layout != NULL &&
            !amp_layout_part(layouts, tensor, &slice->shape, &slice->layout))
            return false;
    }
    cut->is_made = true;
    return true;
}

/* The inputs of MEMBER: all are cut along the rows but the second of a product. */
static bool cut_inputs(struct amp_slices *slices, struct member *member)
{
    bool is_product = member == slices->members || member == slices->members + slices->n - 1;
    const struct amp_ctx *ctx = &member->ctx;
    struct amp_layouts *layouts = ctx->host->dnnl->layouts;
    int rows = slices->shape.rank - 1;
    for (uint32_t i = 0; i < ctx->n_in; i++) {
        int n_dims = is_product && i == 1 ? rows - 1 : rows;
        if (!is_chained(slices, member, i) &&
            (ctx->in[i]->shape.rank < (is_product ? 2 : 0) ||
             !cut_tensor(slices, layouts, ctx->in[i], n_dims, &member->in[i])))
            return false;
    }
    for (size_t i = 0; i < ctx->n_posts; i++) {
        const struct amp_tensor *operand = ctx->posts[i].operand;
        member->posts[i] = ctx->posts[i];
        member->posts[i].is_constant = false;
        if (operand != NULL && (operand->layout != NULL ||
                                !cut_tensor(slices, layouts, operand, rows, &member->operands[i])))
            return false;
    }
    return true;
}

/* Chooses the place to which MEMBER, before the last, writes its scores, and that from which the
   next one reads them. Each conversion is from one place to the other; a result of as many bits as
   the scores that it is made of is written over them. */
static void choose_places(const struct amp_slices *slices, struct member *member)
{
    bool is_first = member == slices->members;
    const struct member *before = is_first ? NULL : member - 1;
    bool moves = amp_dtype_bits(member->wanted) != amp_dtype_bits(member->all.dtype);
    member->place = is_first ? 0 : before->given_place ^ moves;
    member->given_place = member->place ^ (member->rounded != member->all.dtype) ^
                          (member[1].wanted != member->rounded);
}

/* What the members give: slices of scratch memory and, at last, of the output. */
static bool cut_outputs(struct amp_slices *slices)
{
    for (size_t m = 0; m < slices->n; m++) {
        struct member *member = &slices->members[m];
        struct amp_layouts *layouts = member->ctx.host->dnnl->layouts;
        if (m + 1 < slices->n)
            choose_places(slices, member);
        if (!cut_tensor(slices, layouts, &member->all, slices->shape.rank - 1, &member->out))
            return false;
    }
    return true;
}

/* AMP_KERNEL, with the steps refused, where it is not possible. */
static enum amp_status cut_all(struct amp_slices *slices)
{
    for (size_t m = 0; m < slices->n; m++)
        if (!cut_inputs(slices, &slices->members[m]))
            return refuse(slices, &slices->members[m].ctx);
    return cut_outputs(slices) ? AMP_OK : refuse(slices, &slices->members[0].ctx);
}

/* ---- running --------------------------------------------------------------------------------- */

/* Where the slice at index AT of the scores begins, in bytes from the beginning of CUT. */
static size_t offset_of(const struct amp_slices *slices, const struct cut *cut, const int64_t *at)
{
    int64_t offset = 0;
    for (int i = 0; i <= slices->axis && i < cut->n_dims; i++)
        offset += at[i] * cut->strides[i];
    return (size_t)offset;
}

static const struct amp_tensor *slice_at(const struct amp_slices *slices, struct cut *cut, int form,
                                         const int64_t *at)
{
    struct amp_tensor *slice = &cut->slices[form];
    slice->data = (char *)cut->whole.data + offset_of(slices, cut, at);
    return slice;
}

static enum amp_status run_member(struct amp_slices *slices, struct member *member, int form,
                                  const int64_t *at)
{
    static const bool is_constant[AMP_ATTENTION_INPUTS_MAX];
    const struct amp_tensor *in[AMP_ATTENTION_INPUTS_MAX];
    struct amp_tensor *out = &member->out.slices[form];
    struct amp_ctx ctx = member->ctx;
    for (uint32_t i = 0; i < ctx.n_in; i++)
        in[i] = is_chained(slices, member, i) ? &member[-1].given[form]
                                              : slice_at(slices, &member->in[i], form, at);
    for (size_t i = 0; i < ctx.n_posts; i++)
        if (ctx.posts[i].operand != NULL)
            member->posts[i].operand = slice_at(slices, &member->operands[i], form, at);
    if (member == slices->members + slices->n - 1)
        slice_at(slices, &member->out, form, at);
    else
        out->data = slices->scratch[member->place]->data;
    ctx.in = in;
    ctx.out = &out;
    ctx.is_constant = is_constant;
    ctx.state = &member->states[form];
    ctx.posts = member->posts;
    ctx.layout_wish = (struct amp_layout_wish){.any_layout = false};
    return member->step->op->run(&ctx);
}

/* Brings SCORES, at *PLACE, into DTYPE. */
static void convert_scores(const struct amp_slices *slices, struct amp_tensor *scores, int *place,
                           enum amp_dtype dtype)
{
    if (scores->dtype == dtype)
        return;
    *place = 1 - *place;
    void *to = slices->scratch[*place]->data;
    amp_dtype_convert(scores->dtype, scores->data, dtype, to, amp_tensor_count(scores));
    scores->dtype = dtype;
    scores->data = to;
}

/* Gives the member behind MEMBER what that has computed. */
static void hand_on(const struct amp_slices *slices, struct member *member, int form)
{
    int place = member->place;
    member->given[form] = member->out.slices[form];
    convert_scores(slices, &member->given[form], &place, member->rounded);
    convert_scores(slices, &member->given[form], &place, member[1].wanted);
}

static enum amp_status run_slice(struct amp_slices *slices, int form, const int64_t *at)
{
    bool is_noted = slices->members[0].ctx.host->profile != NULL;
    for (size_t m = 0; m < slices->n; m++) {
        struct member *member = &slices->members[m];
        double start = is_noted ? amp_clock_seconds() : 0;
        enum amp_status status = run_member(slices, member, form, at);
        if (status != AMP_OK)
            return status == AMP_UNSUPPORTED ? refuse(slices, &member->ctx) : status;
        if (m + 1 < slices->n)
            hand_on(slices, member, form);
        if (is_noted)
            member->seconds += amp_clock_seconds() - start;
    }
    return AMP_OK;
}

static enum amp_status run_slices(struct amp_slices *slices)
{
    int64_t at[AMP_RANK_MAX] = {0}, count = slices->counts[FULL];
    const int64_t *dims = slices->shape.dims;
    do {
        int64_t *first = &at[slices->axis];
        for (*first = 0; *first < dims[slices->axis]; *first += count)
            AMP_TRY(run_slice(slices, *first + count > dims[slices->axis] ? REST : FULL, at));
    } while (amp_index_next(slices->axis, dims, at));
    return AMP_OK;
}

/* Room for a slice of what MEMBER gives, in DTYPE at PLACE. */
static void note_room(const struct member *member, enum amp_dtype dtype, int place, size_t sizes[2])
{
    size_t size = amp_tensor_count(&member->out.slices[FULL]) * (amp_dtype_bits(dtype) / 8);
    if (size > sizes[place])
        sizes[place] = size;
}

static enum amp_status create_scratch(struct amp_slices *slices, struct amp_ctx *ctx)
{
    size_t sizes[2] = {0};
    for (size_t m = 0; m + 1 < slices->n; m++) {
        const struct member *member = &slices->members[m];
        int rounded_place = member->place ^ (member->rounded != member->all.dtype);
        note_room(member, member->all.dtype, member->place, sizes);
        note_room(member, member->rounded, rounded_place, sizes);
        note_room(member, member[1].wanted, member->given_place, sizes);
    }
    for (int i = 0; i < 2; i++) {
        if (sizes[i] == 0)
            continue;
        slices->scratch[i] = amp_scratch(ctx, "a slice of scores", sizes[i], 1);
        if (slices->scratch[i] == NULL)
            return ctx->err->status;
    }
    return AMP_OK;
}

static void drop_scratch(struct amp_slices *slices)
{
    for (int i = 0; i < 2; i++) {
        amp_buffer_unref(slices->scratch[i]);
        slices->scratch[i] = NULL;
    }
}

/* The output as a whole, as those who take it want it to lie. */
static enum amp_status create_output(struct amp_slices *slices)
{
    struct member *last = &slices->members[slices->n - 1];
    struct amp_matmul product = amp_matmul_of(&slices->shape, &last->ctx.in[1]->shape);
    const struct amp_layout *layout = amp_matmul_layout(&last->ctx, &product);
    AMP_TRY(amp_ctx_alloc(&last->ctx, 0));
    last->ctx.out[0]->layout = layout;
    last->all = *last->ctx.out[0];
    return AMP_OK;
}

/* Tells the profile what the members before the last, whose call this is, took of its time. */
static void note_seconds(struct amp_slices *slices)
{
    struct amp_profile *profile = slices->members[0].ctx.host->profile;
    for (size_t m = 0; m < slices->n; m++) {
        struct member *member = &slices->members[m];
        if (profile != NULL && m + 1 < slices->n)
            amp_profile_credit(profile, &member->ctx, member->seconds);
        member->seconds = 0;
    }
}

static enum amp_status run(struct amp_slices *slices)
{
    struct amp_ctx *ctx = &slices->members[slices->n - 1].ctx;
    AMP_TRY(create_output(slices));
    AMP_TRY(cut_all(slices));
    enum amp_status status = create_scratch(slices, ctx);
    if (status == AMP_OK)
        status = run_slices(slices);
    drop_scratch(slices);
    note_seconds(slices);
    release_inputs(slices);
    return status;
}

/* ---- queueing calls -------------------------------------------------------------------------- */

static int64_t max_bytes(void)
{
    return (int64_t)SLICE_BYTES_PER_THREAD * omp_get_max_threads();
}

/* Whether a constant that the call reads has no data. */
static bool lacks_data(const struct amp_ctx *ctx)
{
    for (uint32_t i = 0; i < ctx->n_in; i++)
        if (ctx->in[i] != NULL && ctx->is_constant[i] && ctx->in[i]->data == NULL)
            return true;
    for (size_t i = 0; i < ctx->n_posts; i++)
        if (ctx->posts[i].is_constant && ctx->posts[i].operand->data == NULL)
            return true;
    return false;
}

/* Whether rows of the scores can go through the call one without the other. */
static bool is_by_rows(const struct amp_slices *slices, const struct amp_ctx *ctx, bool is_last)
{
    const struct amp_shape *scores = &slices->shape, *out = &ctx->out[0]->shape;
    bool is_flat = ctx->node->since_version < 13;
    bool fits = out->rank == scores->rank;
    for (int i = 0; i < scores->rank - is_last && fits; i++)
        fits = out->dims[i] == scores->dims[i];
    if (!amp_node_has_role(ctx->node, AMP_ROLE_SOFTMAX))
        return fits;
    int64_t axis = amp_node_int(ctx->node, "axis", is_flat ? 1 : -1);
    return axis == -1 || axis == scores->rank - 1;
}

/* Cuts the scores, of SIZE bytes an element, so that no slice is larger than LIMIT bytes unless a
   block of rows is. */
static void choose_cut(struct amp_slices *slices, int64_t size, int64_t limit)
{
    const struct amp_shape *shape = &slices->shape;
    int rows = shape->rank - 2, axis = 0;
    while (axis < rows && amp_shape_product(shape, axis + 1, shape->rank) * size > limit)
        axis++;
    int64_t dim = shape->dims[axis];
    int64_t most = limit / (amp_shape_product(shape, axis + 1, shape->rank) * size);
    if (most < 1)
        most = 1;
    int64_t n = (dim + most - 1) / most, count = (dim + n - 1) / n;
    if (axis == rows)
        count = (count + ROW_BLOCK - 1) / ROW_BLOCK * ROW_BLOCK;
    slices->axis = axis;
    slices->counts[FULL] = count < dim ? count : dim;
    slices->counts[REST] = dim % slices->counts[FULL];
}

static void forget_cuts(struct member *member)
{
    member->out.is_made = false;
    for (int i = 0; i < AMP_ATTENTION_INPUTS_MAX; i++)
        member->in[i].is_made = false;
    for (int i = 0; i < AMP_POSTS_MAX; i++)
        member->operands[i].is_made = false;
}

bool amp_slices_begin(struct amp_slices *slices, const struct amp_shape *shape,
                      enum amp_dtype dtype)
{
    int64_t size = amp_dtype_bits(dtype) / 8;
    release_inputs(slices);
    slices->is_queueing = slices->refused_by == NULL && shape->rank >= 2 &&
                          amp_shape_count(shape) > max_bytes() / size;
    return slices->is_queueing;
}

static void begin_scores(struct amp_slices *slices, const struct amp_tensor *scores)
{
    int axis = slices->axis;
    int64_t full = slices->counts[FULL];
    bool is_same = amp_shape_equal(&slices->shape, &scores->shape);
    slices->shape = scores->shape;
    choose_cut(slices, amp_dtype_bits(scores->dtype) / 8, max_bytes());
    for (size_t m = 0; m < slices->capacity; m++)
        if (!is_same || axis != slices->axis || full != slices->counts[FULL])
            forget_cuts(&slices->members[m]);
}

/* What CTX gives once it is stored. A call that computes in float32 for a lower dtype has no
   post-ops. */
static enum amp_dtype rounded_dtype(const struct amp_step *step, const struct amp_ctx *ctx)
{
    bool is_rounded = ctx->n_posts == 0 && !amp_step_stays_wide(step, 0);
    return is_rounded ? amp_value_at(ctx->model, ctx->node->outputs[0])->dtype : ctx->out[0]->dtype;
}

static void keep_inputs(struct member *member, const struct amp_ctx *ctx)
{
    for (uint32_t i = 0; i < ctx->n_in; i++) {
        member->reads[i] = &member->inputs[i];
        amp_tensor_refer(&member->inputs[i], ctx->in[i]);
    }
    member->wanted = ctx->in[member->step->attention.scores_in]->dtype;
    member->ctx.in = member->reads;
}

/* The next member is STEP, called with CTX: what it has of another step, or of the same one with
   other post-ops or in another dtype, goes. */
static void add_member(struct amp_slices *slices, const struct amp_step *step,
                       const struct amp_ctx *ctx)
{
    struct member *member = &slices->members[slices->n++];
    if (member->ctx.node != ctx->node || member->ctx.n_posts != ctx->n_posts ||
        member->all.dtype != ctx->out[0]->dtype) {
        drop_member_states(member);
        forget_cuts(member);
    }
    member->step = step;
    member->ctx = *ctx;
    member->all = (struct amp_tensor){.dtype = ctx->out[0]->dtype, .shape = ctx->out[0]->shape};
    member->rounded = rounded_dtype(step, ctx);
    keep_inputs(member, ctx);
}

bool amp_slices_queue(struct amp_slices *slices, const struct amp_step *step, bool can_cut,
                      const struct amp_ctx *ctx, enum amp_status *status)
{
    if (!slices->is_queueing)
        return false;
    if (slices->n == 0)
        begin_scores(slices, ctx->out[0]);
    *status = AMP_OK;
    if (!can_cut || !is_by_rows(slices, ctx, step->attention.is_last)) {
        *status = refuse(slices, ctx);
    } else if (lacks_data(ctx)) {
        *status = AMP_AGAIN;
    } else {
        add_member(slices, step, ctx);
        if (step->attention.is_last)
            *status = run(slices);
    }
    return true;
}
