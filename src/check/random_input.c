/*
 * Random values for graph inputs. Takes a model and one of its inputs, gives a plan (type, shape,
 * kind of values, range) and, for a seed and a sample, the tensor. Follows the input through nodes
 * that only move or cast its elements, to see what operators do with these: indices stay within the
 * dim that they index, lengths within their sequences, images have pixels, so that most models can
 * run on the values and do what they were made for. Assumes that types are inferred; changes
 * nothing in the model.
 */
#include "check/random_input.h"

#include "core/array.h"
#include "core/graph/uses.h"
#include "core/hash.h"
#include "core/number/random.h"
#include "ops/kernel/tensor_cast.h"
#include "ops/op.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a model does with an input --------------------------------------------------------- */

/* The elements of an input, as the operators say that it reaches. */
struct seen {
    int64_t n_indexed;        /* the least dim that they are indices into; INT64_MAX: none known */
    enum amp_meaning meaning; /* to the first operator that says more than numbers */
    double extent;            /* of lengths and boxes: the most that they may be; 0 or less: not
                                 known */
    bool is_rescaled;         /* from 0 to 255 to something less, before anything else */
};

/* The least dim that the second input of a node addresses, as INDEXING says; INT64_MAX when not
   known. */
static int64_t addressed_dim(const struct amp_model *model, const struct amp_node *node,
                             enum amp_indexing indexing)
{
    struct amp_shape data;
    amp_value_shape(amp_value_at(model, node->inputs[0]), &data);
    int64_t axis = amp_node_int(node, "axis", 0), least = INT64_MAX;
    int first = (int)(axis < 0 ? axis + data.rank : axis), last = first;
    if (indexing == AMP_INDEXES_DIMS) {
        first = 0;
        last = AMP_RANK_MAX;
    }
    for (int i = first; i >= 0 && i < data.rank && i <= last; i++)
        if (data.dims[i] >= 0 && data.dims[i] < least)
            least = data.dims[i];
    return least;
}

/* Whether the first output of a node holds the values of its first input. */
static bool passes_values(const struct amp_op *op)
{
    return op->role == AMP_ROLE_CAST || op->effect == AMP_PRESERVES_VALUES;
}

struct amp_random_planner {
    const struct amp_model *model;
    struct amp_uses uses;
    uint32_t *to_visit; /* a stack; no value gets there twice, as one node gives it */
    size_t n_to_visit;
};

static void visit_later(struct amp_random_planner *planner, uint32_t value)
{
    if (value != AMP_NONE)
        planner->to_visit[planner->n_to_visit++] = value;
}

/* The dim of input 0 that an attribute of NODE counts, 0 without one; not above 0 when it is not
   known. */
static double counted_dim(const struct amp_model *model, const struct amp_node *node,
                          const char *attr)
{
    const struct amp_value *data = amp_value_at(model, node->inputs[0]);
    int64_t axis = attr != NULL ? amp_node_int(node, attr, 0) : 0;
    return axis >= 0 && axis < data->rank ? (double)data->dims[axis] : 0;
}

/* The lesser side of the image in input 0 in the unit of boxes, of which attribute ATTR is how many
   pixels make one; 1 where boxes are relative. */
static double box_extent(const struct amp_model *model, const struct amp_node *node,
                         const char *attr)
{
    const struct amp_value *image = amp_value_at(model, node->inputs[0]);
    double scale = attr != NULL ? (double)amp_node_float(node, attr, 1) : 0;
    if (!(scale > 0) || image->rank < 4 || image->dims[2] <= 0 || image->dims[3] <= 0)
        return 1;
    int64_t side = image->dims[2] < image->dims[3] ? image->dims[2] : image->dims[3];
    return (double)side / scale;
}

static void note_meaning(const struct amp_model *model, const struct amp_node *node,
                         const struct amp_input_meaning *meaning, struct seen *seen)
{
    if (seen->meaning != AMP_MEANS_NUMBERS || node->inputs[0] == AMP_NONE)
        return;
    seen->meaning = meaning->what;
    if (meaning->what == AMP_MEANS_INDICES && counted_dim(model, node, NULL) > 0)
        seen->n_indexed = (int64_t)counted_dim(model, node, NULL);
    else if (meaning->what == AMP_MEANS_LENGTHS)
        seen->extent = counted_dim(model, node, meaning->attr);
    else if (meaning->what == AMP_MEANS_BOXES)
        seen->extent = box_extent(model, node, meaning->attr);
}

/* The greatest magnitude among the first elements of constant VALUE; 0 when it is none. */
static double magnitude(const struct amp_model *model, uint32_t value)
{
    enum { LOOKED_AT = 64 };
    double most = 0;
    const struct amp_tensor *tensor =
        value != AMP_NONE ? amp_value_at(model, value)->constant : NULL;
    if (tensor == NULL || tensor->data == NULL || amp_dtype_class(tensor->dtype) != AMP_CLASS_FLOAT)
        return 0;
    for (size_t i = 0; i < amp_tensor_count(tensor) && i < LOOKED_AT; i++)
        most = fmax(most, fabs(amp_tensor_double(tensor, i)));
    return most;
}

/* What brings pixels of 0 to 255 near 0 and 1: constants of that magnitude are taken away, divided
   by or multiplied with the inverse of, or a normalization has such means. */
static const struct {
    enum amp_role role;
    uint32_t operand;
    double least, most;
} rescalings[] = {{AMP_ROLE_SUB, 1, 50, 256},
                  {AMP_ROLE_ADD, 1, 50, 256},
                  {AMP_ROLE_DIV, 1, 50, 256},
                  {AMP_ROLE_MUL, 1, 1.0 / 256, 1.0 / 50},
                  {AMP_ROLE_BATCH_NORMALIZATION, 3, 50, 256}};

static bool rescales(const struct amp_model *model, const struct amp_node *node,
                     const struct amp_op *op, uint32_t slot)
{
    for (size_t i = 0; i < AMP_COUNT(rescalings); i++) {
        uint32_t operand = slot == 1 && rescalings[i].operand == 1 ? 0 : rescalings[i].operand;
        double found = op->role == rescalings[i].role ? magnitude(model, node->inputs[operand]) : 0;
        if (found >= rescalings[i].least && found <= rescalings[i].most)
            return true;
    }
    return false;
}

/* Notes what one use of a value says of it, and visits the output later where the value moves there
   unchanged. */
static void visit_use(struct amp_random_planner *planner, struct amp_use use, struct seen *seen)
{
    const struct amp_model *model = planner->model;
    const struct amp_node *node = amp_node_at(model, use.node);
    const struct amp_op *op = amp_op_of(node);
    if (op == NULL)
        return;
    for (const struct amp_input_meaning *m = op->meanings; m != NULL && m->what; m++)
        if (m->input == use.slot)
            note_meaning(model, node, m, seen);
    seen->is_rescaled |= rescales(model, node, op, use.slot);
    if (use.slot == 1 && op->indexing != AMP_INDEXES_NOTHING && node->inputs[0] != AMP_NONE) {
        int64_t dim = addressed_dim(model, node, op->indexing);
        seen->n_indexed = dim < seen->n_indexed ? dim : seen->n_indexed;
    } else if (use.slot == 0 && passes_values(op)) {
        visit_later(planner, node->outputs[0]);
    }
}

/* What the uses of VALUE, and of values that nodes move it to unchanged, say of it. */
static struct seen look(struct amp_random_planner *planner, uint32_t value)
{
    struct seen seen = {.n_indexed = INT64_MAX};
    visit_later(planner, value);
    while (planner->n_to_visit > 0) {
        uint32_t at = planner->to_visit[--planner->n_to_visit];
        for (uint32_t i = planner->uses.first[at]; i < planner->uses.first[at + 1]; i++)
            visit_use(planner, planner->uses.items[i], &seen);
    }
    return seen;
}

struct amp_random_planner *amp_random_planner_create(const struct amp_model *model)
{
    struct amp_random_planner *planner = amp_xmalloc(1, sizeof *planner);
    *planner =
        (struct amp_random_planner){.model = model,
                                    .uses = amp_uses_create(model),
                                    .to_visit = amp_xcalloc(model->n_values, sizeof(uint32_t))};
    return planner;
}

void amp_random_planner_destroy(struct amp_random_planner *planner)
{
    amp_uses_destroy(&planner->uses);
    free(planner->to_visit);
    free(planner);
}

/* ---- kinds: whether an input is of one; the range where it is known only then -----------------
 */

/* An input that a kind is looked for. */
struct candidate {
    const struct amp_model *model;
    const char *name;
    struct seen seen;
};

static bool is_of(const struct amp_random_input *plan, enum amp_dtype_class class)
{
    return amp_dtype_class(plan->dtype) == class;
}

static bool is_integer(const struct amp_random_input *plan)
{
    return is_of(plan, AMP_CLASS_INT) || is_of(plan, AMP_CLASS_UINT);
}

static bool is_float(const struct amp_random_input *plan)
{
    return is_of(plan, AMP_CLASS_FLOAT);
}

/* An integer that can be more than a small number. */
static bool is_wide(const struct amp_random_input *plan)
{
    return is_integer(plan) && amp_dtype_bits(plan->dtype) >= 32;
}

/* Whether the shape is one of images: 1, 3 or 4 channels first or last. */
static bool is_image(const struct amp_random_input *plan)
{
    const struct amp_shape *shape = &plan->shape;
    if (shape->rank < 3 || shape->rank > 5)
        return false;
    int64_t first = shape->dims[shape->rank == 3 ? 0 : 1], last = shape->dims[shape->rank - 1];
    return first == 1 || first == 3 || first == 4 || last == 1 || last == 3 || last == 4;
}

static bool is_text(const struct candidate *c, struct amp_random_input *plan)
{
    (void)c;
    return is_of(plan, AMP_CLASS_STRING);
}

static bool is_condition(const struct candidate *c, struct amp_random_input *plan)
{
    plan->lowest = 1;
    return c->seen.meaning == AMP_MEANS_CONDITION && is_of(plan, AMP_CLASS_BOOL);
}

static bool are_boxes(const struct candidate *c, struct amp_random_input *plan)
{
    const struct amp_shape *shape = &plan->shape;
    plan->low = 0;
    plan->high = c->seen.extent;
    return c->seen.meaning == AMP_MEANS_BOXES && is_float(plan) && shape->rank > 0 &&
           shape->dims[shape->rank - 1] >= 4;
}

static bool are_scores(const struct candidate *c, struct amp_random_input *plan)
{
    plan->low = 0;
    plan->high = 1;
    return c->seen.meaning == AMP_MEANS_SCORES && is_float(plan);
}

/* Positions repeat where there are more of them than what they index has. */
static bool are_positions(const struct candidate *c, struct amp_random_input *plan)
{
    const struct amp_shape *shape = &plan->shape;
    int64_t count = shape->rank > 0 ? shape->dims[shape->rank - 1] : 1;
    count = c->seen.n_indexed < count ? c->seen.n_indexed : count;
    plan->lowest = 0;
    plan->highest = count > 0 ? count - 1 : 0;
    return is_wide(plan) &&
           (strcasestr(c->name, "position_id") != NULL || strcasestr(c->name, "pos_id") != NULL);
}

static bool are_indices(const struct candidate *c, struct amp_random_input *plan)
{
    plan->lowest = 0;
    plan->highest = c->seen.n_indexed > 0 ? c->seen.n_indexed - 1 : 0;
    return is_wide(plan) && c->seen.n_indexed < INT64_MAX;
}

static bool are_lengths(const struct candidate *c, struct amp_random_input *plan)
{
    plan->lowest = 1;
    plan->highest = c->seen.extent > 0 ? (int64_t)c->seen.extent : 1;
    return c->seen.meaning == AMP_MEANS_LENGTHS && is_integer(plan);
}

static bool is_count(const struct candidate *c, struct amp_random_input *plan)
{
    plan->lowest = 1;
    plan->highest = 4;
    return c->seen.meaning == AMP_MEANS_COUNT && is_integer(plan);
}

static bool are_sizes(const struct candidate *c, struct amp_random_input *plan)
{
    plan->lowest = 1;
    return c->seen.meaning == AMP_MEANS_SIZES && (is_integer(plan) || is_float(plan));
}

/* PyTorch's key_padding_mask is true where there is nothing to attend to. */
static bool is_padding_mask(const struct candidate *c, struct amp_random_input *plan)
{
    plan->lowest = 0;
    return is_of(plan, AMP_CLASS_BOOL) && strcasestr(c->name, "padding_mask") != NULL;
}

/* Of floats, a mask may be an image: only what is one of attention counts. */
static bool is_mask(const struct candidate *c, struct amp_random_input *plan)
{
    const char *name = is_float(plan) ? "attention_mask" : "mask";
    plan->lowest = 1;
    return strcasestr(c->name, name) != NULL || strcasestr(c->name, "input_mask") != NULL;
}

/* Whether the input is an image of which the metadata of the model say RANGE (onnx,
   docs/MetadataProps.md). */
static bool is_declared(const struct candidate *c, const struct amp_random_input *plan,
                        const char *range)
{
    return c->model->pixel_range != NULL && strcmp(c->model->pixel_range, range) == 0 &&
           is_float(plan) && is_image(plan);
}

static bool are_pixels(const struct candidate *c, struct amp_random_input *plan)
{
    plan->lowest = 0;
    plan->highest = 255;
    bool is_used_so = c->seen.is_rescaled || c->seen.meaning == AMP_MEANS_PIXELS;
    return is_image(plan) && (plan->dtype == AMP_UINT8 || (is_used_so && is_float(plan)));
}

static bool are_bytes_declared(const struct candidate *c, struct amp_random_input *plan)
{
    plan->lowest = 0;
    plan->highest = 255;
    return is_declared(c, plan, "NominalRange_0_255");
}

static bool are_video_declared(const struct candidate *c, struct amp_random_input *plan)
{
    plan->lowest = 16;
    plan->highest = 235;
    return is_declared(c, plan, "NominalRange_16_235");
}

static bool are_shares_declared(const struct candidate *c, struct amp_random_input *plan)
{
    plan->low = 0;
    plan->high = 1;
    return is_declared(c, plan, "Normalized_0_1");
}

static bool are_signed_declared(const struct candidate *c, struct amp_random_input *plan)
{
    plan->low = -1;
    plan->high = 1;
    return is_declared(c, plan, "Normalized_1_1");
}

static bool are_bytes(const struct candidate *c, struct amp_random_input *plan)
{
    unsigned bits = amp_dtype_bits(plan->dtype);
    (void)c;
    if (!is_integer(plan) || bits > 8)
        return false;
    plan->lowest = is_of(plan, AMP_CLASS_INT) ? -(1 << (bits - 1)) : 0;
    plan->highest = plan->lowest + (1 << bits) - 1;
    return true;
}

static bool is_bool(const struct candidate *c, struct amp_random_input *plan)
{
    (void)c;
    plan->lowest = 0;
    plan->highest = 1;
    return is_of(plan, AMP_CLASS_BOOL);
}

static bool are_integers(const struct candidate *c, struct amp_random_input *plan)
{
    (void)c;
    plan->lowest = 0;
    plan->highest = 1;
    return is_integer(plan);
}

static bool are_floats(const struct candidate *c, struct amp_random_input *plan)
{
    (void)c;
    return is_float(plan);
}

/* The kinds of values; an input is of the first whose function says so, which sets the range. */
static const struct {
    const char *name, *label;
    bool (*is_it)(const struct candidate *c, struct amp_random_input *plan);
    enum amp_random_kind kind;
} kinds[] = {
    {"empty", "empty", is_text, AMP_RANDOM_EMPTY},
    {"condition", "true", is_condition, AMP_RANDOM_CONSTANT},
    {"boxes", "random boxes", are_boxes, AMP_RANDOM_BOXES},
    {"scores", "random scores", are_scores, AMP_RANDOM_UNIFORM},
    {"positions", "positions", are_positions, AMP_RANDOM_POSITIONS},
    {"indices", "random indices", are_indices, AMP_RANDOM_INTEGERS},
    {"lengths", "random lengths", are_lengths, AMP_RANDOM_INTEGERS},
    {"count", "random count", is_count, AMP_RANDOM_INTEGERS},
    {"sizes", "ones", are_sizes, AMP_RANDOM_CONSTANT},
    {"padding mask", "false", is_padding_mask, AMP_RANDOM_CONSTANT},
    {"mask", "ones", is_mask, AMP_RANDOM_CONSTANT},
    {"pixels", "random pixels", are_bytes_declared, AMP_RANDOM_INTEGERS},
    {"pixels", "random pixels", are_video_declared, AMP_RANDOM_INTEGERS},
    {"pixels", "random pixels", are_shares_declared, AMP_RANDOM_UNIFORM},
    {"pixels", "random pixels", are_signed_declared, AMP_RANDOM_UNIFORM},
    {"pixels", "random pixels", are_pixels, AMP_RANDOM_INTEGERS},
    {"bytes", "random", are_bytes, AMP_RANDOM_INTEGERS},
    {"bool", "random", is_bool, AMP_RANDOM_INTEGERS},
    {"integers", "random", are_integers, AMP_RANDOM_INTEGERS},
    {"normal", "random", are_floats, AMP_RANDOM_NORMAL},
};

/* ---- planning -------------------------------------------------------------------------------- */

static enum amp_status plan_kind(struct amp_random_planner *planner, uint32_t value,
                                 struct amp_random_input *plan, struct amp_error *err)
{
    const struct candidate candidate = {.model = planner->model,
                                        .name = amp_value_at(planner->model, value)->name,
                                        .seen = look(planner, value)};
    for (size_t i = 0; i < AMP_COUNT(kinds); i++)
        if (kinds[i].is_it(&candidate, plan)) {
            plan->name = kinds[i].name;
            plan->label = kinds[i].label;
            plan->kind = kinds[i].kind;
            return AMP_OK;
        }
    return amp_fail(err, AMP_UNSUPPORTED,
                    "input '%s': no random values of type %s; give it with --input", candidate.name,
                    amp_dtype_name(plan->dtype));
}

enum amp_status amp_random_planner_plan(struct amp_random_planner *planner, uint32_t value,
                                        const int64_t *sizes, struct amp_random_input *plan,
                                        struct amp_error *err)
{
    const struct amp_model *model = planner->model;
    const struct amp_value *input = amp_value_at(model, value);
    if (input->kind != AMP_KIND_TENSOR && input->kind != AMP_KIND_UNKNOWN)
        return amp_fail(err, AMP_UNSUPPORTED,
                        "input '%s': no random values of type %s; give it with --input or --data",
                        input->name, amp_kind_name(input->kind));
    *plan = (struct amp_random_input){.dtype = input->dtype,
                                      .stream = amp_hash_fnv(input->name, strlen(input->name), 0)};
    amp_value_shape(input, &plan->shape);
    if (plan->shape.rank < 0)
        return amp_fail(
            err, AMP_USAGE,
            "input '%s' has no declared rank: give it with --input-shape, --input or --data",
            input->name);
    for (int i = 0; i < plan->shape.rank; i++) {
        int64_t *dim = &plan->shape.dims[i];
        if (*dim < 0)
            *dim = amp_dim_symbol(model, *dim) ? sizes[AMP_DIM_UNKNOWN - 1 - *dim] : 1;
    }
    return plan_kind(planner, value, plan, err);
}

enum amp_status amp_random_input_plan(const struct amp_model *model, uint32_t value,
                                      const int64_t *sizes, struct amp_random_input *plan,
                                      struct amp_error *err)
{
    struct amp_random_planner *planner = amp_random_planner_create(model);
    enum amp_status status = amp_random_planner_plan(planner, value, sizes, plan, err);
    amp_random_planner_destroy(planner);
    return status;
}

/* Whether both ends are whole numbers that the integers of DTYPE have. */
static bool are_ends(enum amp_dtype dtype, double low, double high)
{
    bool is_signed = amp_dtype_class(dtype) == AMP_CLASS_INT;
    int bits = dtype == AMP_BOOL ? 1 : (int)amp_dtype_bits(dtype);
    double most = fmin(ldexp(1, bits - is_signed), 0x1p53), least = is_signed ? -most : 0;
    return low == floor(low) && high == floor(high) && low >= least && high < most;
}

enum amp_status amp_random_input_limit(struct amp_random_input *plan, double low, double high,
                                       struct amp_error *err)
{
    bool is_whole = is_integer(plan) || plan->dtype == AMP_BOOL;
    if (!is_whole && !is_float(plan))
        return amp_fail(err, AMP_USAGE, "the input is of type %s; ranges are of numbers",
                        amp_dtype_name(plan->dtype));
    if (low > high)
        return amp_fail(err, AMP_USAGE, "LO is greater than HI");
    if (is_whole && !are_ends(plan->dtype, low, high))
        return amp_fail(err, AMP_USAGE, "the input is of type %s; integers that it has are needed",
                        amp_dtype_name(plan->dtype));
    if (fmax(fabs(low), fabs(high)) > amp_dtype_max(plan->dtype))
        return amp_fail(err, AMP_USAGE, "the input is of type %s, whose greatest number is %.6g",
                        amp_dtype_name(plan->dtype), amp_dtype_max(plan->dtype));
    plan->name = "given";
    plan->label = "random";
    plan->kind = is_whole ? AMP_RANDOM_INTEGERS : AMP_RANDOM_UNIFORM;
    plan->low = low;
    plan->high = high;
    if (is_whole) {
        plan->lowest = (int64_t)low;
        plan->highest = (int64_t)high;
    }
    return AMP_OK;
}

/* ---- what reports say ------------------------------------------------------------------------ */

/* What there is to say of a kind; whether its values are drawn. */
static const struct {
    bool has_whole_range, has_range, is_drawn;
    enum amp_dtype made; /* the dtype that values are made in before they are cast to the plan's */
} traits[] = {[AMP_RANDOM_NORMAL] = {.is_drawn = true, .made = AMP_FLOAT},
              [AMP_RANDOM_UNIFORM] = {.has_range = true, .is_drawn = true, .made = AMP_DOUBLE},
              [AMP_RANDOM_INTEGERS] = {.has_whole_range = true, .is_drawn = true, AMP_INT64},
              [AMP_RANDOM_CONSTANT] = {.made = AMP_INT64},
              [AMP_RANDOM_POSITIONS] = {.has_whole_range = true, .made = AMP_INT64},
              [AMP_RANDOM_BOXES] = {.has_range = true, .is_drawn = true, .made = AMP_DOUBLE},
              [AMP_RANDOM_EMPTY] = {.made = AMP_STRING}};

bool amp_random_input_range(const struct amp_random_input *plan, double *low, double *high)
{
    bool is_whole = traits[plan->kind].has_whole_range;
    *low = is_whole ? (double)plan->lowest : plan->low;
    *high = is_whole ? (double)plan->highest : plan->high;
    return (is_whole || traits[plan->kind].has_range) && plan->dtype != AMP_BOOL;
}

bool amp_random_input_is_drawn(const struct amp_random_input *plan)
{
    return traits[plan->kind].is_drawn;
}

char *amp_random_input_text(const struct amp_random_input *plan, char *text, size_t size)
{
    double low, high;
    snprintf(text, size, "%s", plan->label);
    if (!amp_random_input_range(plan, &low, &high))
        return text;
    if (traits[plan->kind].has_whole_range)
        snprintf(text, size, "%s, %" PRId64 " to %" PRId64, plan->label, plan->lowest,
                 plan->highest);
    else
        snprintf(text, size, "%s, %.6g to %.6g", plan->label, low, high);
    return text;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void fill_normal(const struct amp_random_input *plan, struct amp_tensor *tensor,
                        struct amp_random *random)
{
    float *elements = tensor->data;
    (void)plan;
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        elements[i] = amp_random_normal(random);
}

/* A number of 53 random bits from the plan's low to its high. */
static double draw(const struct amp_random_input *plan, struct amp_random *random)
{
    double share = (double)(amp_random_next(random) >> 11) / 0x1p53;
    return plan->low * (1 - share) + plan->high * share;
}

static void fill_uniform(const struct amp_random_input *plan, struct amp_tensor *tensor,
                         struct amp_random *random)
{
    double *elements = tensor->data;
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        elements[i] = draw(plan, random);
}

static void fill_integers(const struct amp_random_input *plan, struct amp_tensor *tensor,
                          struct amp_random *random)
{
    int64_t *elements = tensor->data;
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        elements[i] = amp_random_between(random, plan->lowest, plan->highest);
}

static void fill_constant(const struct amp_random_input *plan, struct amp_tensor *tensor,
                          struct amp_random *random)
{
    int64_t *elements = tensor->data;
    (void)random;
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        elements[i] = plan->lowest;
}

static void fill_positions(const struct amp_random_input *plan, struct amp_tensor *tensor,
                           struct amp_random *random)
{
    int64_t *elements = tensor->data;
    const struct amp_shape *shape = &tensor->shape;
    size_t length = shape->rank > 0 ? (size_t)shape->dims[shape->rank - 1] : 1;
    (void)random;
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        elements[i] = (int64_t)(i % length % (size_t)(plan->highest + 1));
}

static void fill_boxes(const struct amp_random_input *plan, struct amp_tensor *tensor,
                       struct amp_random *random)
{
    double *elements = tensor->data;
    size_t width = (size_t)tensor->shape.dims[tensor->shape.rank - 1];
    for (size_t end = width; end <= amp_tensor_count(tensor); end += width) {
        for (size_t i = end - width; i + 4 < end; i++)
            elements[i] = 0;
        for (size_t i = end - 4; i < end - 2; i++) {
            double a = draw(plan, random), b = draw(plan, random);
            elements[i] = fmin(a, b);
            elements[i + 2] = fmax(a, b);
        }
    }
}

static void fill_strings(const struct amp_random_input *plan, struct amp_tensor *tensor,
                         struct amp_random *random)
{
    struct amp_str *elements = tensor->data;
    (void)plan;
    (void)random;
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        elements[i] = (struct amp_str){.data = "", .size = 0};
}

static void (*const fills[])(const struct amp_random_input *plan, struct amp_tensor *tensor,
                             struct amp_random *random) = {
    [AMP_RANDOM_NORMAL] = fill_normal,       [AMP_RANDOM_UNIFORM] = fill_uniform,
    [AMP_RANDOM_INTEGERS] = fill_integers,   [AMP_RANDOM_CONSTANT] = fill_constant,
    [AMP_RANDOM_POSITIONS] = fill_positions, [AMP_RANDOM_BOXES] = fill_boxes,
    [AMP_RANDOM_EMPTY] = fill_strings};

enum amp_status amp_random_input_make(const struct amp_random_input *plan, uint64_t seed,
                                      uint64_t sample, struct amp_tensor *tensor,
                                      struct amp_error *err)
{
    struct amp_tensor made = {.dtype = traits[plan->kind].made, .shape = plan->shape};
    struct amp_random random = amp_random_start(seed, sample << 32 | plan->stream);
    *tensor = (struct amp_tensor){.data = NULL};
    AMP_TRY(amp_tensor_alloc(&made, err));
    fills[plan->kind](plan, &made, &random);
    enum amp_status status = amp_tensor_cast_copy(&made, plan->dtype, tensor, err);
    amp_tensor_release(&made);
    return status;
}
