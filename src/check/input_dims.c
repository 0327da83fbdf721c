/*
 * Sizes for the dims that a model's inputs leave open. Takes what the user set, gives the model
 * with all inputs of known shapes; looks for sizes where those that it begins with, 1 each, do not
 * fit the operators. Makes no values and runs nothing itself.
 */
#include "check/input_dims.h"

#include "core/array.h"
#include "core/graph/copy.h"
#include "core/hash.h"
#include "onnx/schema/infer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A dim of graph input INPUT, or all that have its symbol. */
struct open_dim {
    int64_t symbol; /* as in a shape; AMP_DIM_UNKNOWN: without a name, and there is one alone */
    size_t input;
    int place;
    int64_t size;
    bool is_set, is_found;
    uint32_t positions; /* a bit for each of enum position */
};

/* Where in shapes a dim stands, for dims that are alike. */
enum position { FIRST = 1, BEHIND_FIRST = 2, SPATIAL = 4 };

struct amp_input_dims {
    const struct amp_model *model;
    struct amp_arena *arena;
    struct open_dim *items;
    size_t count;
    struct amp_shape *shapes; /* per graph input: with what is open as declared */
};

/* ---- the dims of a model --------------------------------------------------------------------- */

static const struct amp_value *input_at(const struct amp_model *model, size_t i)
{
    return amp_value_at(model, model->graphs[0].inputs.items[i]);
}

/* The open dim PLACE of graph input I, which is declared as DECLARED; NULL when it is none. */
static struct open_dim *find_dim(const struct amp_input_dims *dims, size_t i, int place,
                                 int64_t declared)
{
    for (size_t k = 0; k < dims->count; k++) {
        struct open_dim *dim = &dims->items[k];
        bool is_it = declared == AMP_DIM_UNKNOWN ? dim->input == i && dim->place == place
                                                 : dim->symbol == declared;
        if (is_it)
            return dim;
    }
    return NULL;
}

static void add_dims(struct amp_input_dims *dims, size_t i)
{
    const struct amp_shape *shape = &dims->shapes[i];
    for (int d = 0; d < shape->rank; d++) {
        if (shape->dims[d] >= 0)
            continue;
        struct open_dim *dim = find_dim(dims, i, d, shape->dims[d]);
        if (dim == NULL) {
            dim = &dims->items[dims->count++];
            *dim = (struct open_dim){.symbol = shape->dims[d], .input = i, .place = d, .size = 1};
        }
        dim->positions |= d == 0 ? FIRST : d == 1 ? BEHIND_FIRST : BEHIND_FIRST | SPATIAL;
    }
}

struct amp_input_dims *amp_input_dims_create(const struct amp_model *model)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_input_dims *dims = amp_arena_alloc(arena, sizeof *dims);
    size_t n_inputs = model->graphs[0].inputs.count;
    *dims = (struct amp_input_dims){.model = model, .arena = arena};
    dims->items = amp_arena_array(arena, n_inputs * AMP_RANK_MAX, sizeof *dims->items);
    dims->shapes = amp_arena_array(arena, n_inputs, sizeof *dims->shapes);
    for (size_t i = 0; i < n_inputs; i++) {
        amp_value_shape(input_at(model, i), &dims->shapes[i]);
        if (input_at(model, i)->constant == NULL)
            add_dims(dims, i);
    }
    return dims;
}

void amp_input_dims_destroy(struct amp_input_dims *dims)
{
    if (dims != NULL)
        amp_arena_destroy(dims->arena);
}

/* ---- what the user says ---------------------------------------------------------------------- */

bool amp_input_dims_set(struct amp_input_dims *dims, const char *symbol, int64_t size)
{
    for (size_t k = 0; k < dims->count; k++) {
        const char *name = amp_dim_symbol(dims->model, dims->items[k].symbol);
        if (name == NULL || strcmp(name, symbol) != 0)
            continue;
        dims->items[k].size = size;
        dims->items[k].is_set = true;
        return true;
    }
    return false;
}

static enum amp_status set_dim(struct amp_input_dims *dims, size_t i, int place, int64_t size,
                               struct amp_error *err)
{
    int64_t declared = dims->shapes[i].dims[place];
    struct open_dim *dim = find_dim(dims, i, place, declared);
    if (dim == NULL && declared != size)
        return amp_fail(err, AMP_USAGE, "dim %d of the input is %" PRId64, place, declared);
    if (dim != NULL && dim->is_set && dim->size != size)
        return amp_fail(err, AMP_USAGE, "dim %d of the input, '%s', is set to %" PRId64 " already",
                        place, amp_dim_symbol(dims->model, dim->symbol), dim->size);
    if (dim != NULL) {
        dim->size = size;
        dim->is_set = true;
    }
    return AMP_OK;
}

enum amp_status amp_input_dims_set_shape(struct amp_input_dims *dims, size_t i,
                                         const struct amp_shape *shape, struct amp_error *err)
{
    struct amp_shape *declared = &dims->shapes[i];
    if (declared->rank < 0)
        *declared = *shape;
    if (declared->rank != shape->rank)
        return amp_fail(err, AMP_USAGE, "the input has %d dims", declared->rank);
    for (int d = 0; d < shape->rank; d++)
        AMP_TRY(set_dim(dims, i, d, shape->dims[d], err));
    return AMP_OK;
}

/* ---- the model with sizes -------------------------------------------------------------------- */

/* The shape of graph input I with all sizes. */
static struct amp_shape shape_of(const struct amp_input_dims *dims, size_t i)
{
    struct amp_shape shape = dims->shapes[i];
    for (int d = 0; d < shape.rank; d++) {
        const struct open_dim *dim = find_dim(dims, i, d, shape.dims[d]);
        if (dim != NULL)
            shape.dims[d] = dim->size;
    }
    return shape;
}

static bool is_bound(const struct amp_input_dims *dims, size_t i)
{
    const struct amp_value *input = input_at(dims->model, i);
    return dims->count == 0 && input->rank == dims->shapes[i].rank;
}

/* Has nothing be known of the shapes that nodes of the main graph give, so that what is declared of
   them for other sizes does not stay. */
static void forget_shapes(struct amp_model *model)
{
    const struct amp_shape unknown = {.rank = -1};
    const struct amp_ids *nodes = &model->graphs[0].nodes;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct amp_node *node = amp_node_at(model, nodes->items[i]);
        for (uint32_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != AMP_NONE &&
                amp_value_at(model, node->outputs[k])->constant == NULL)
                amp_value_set_shape(model, node->outputs[k], &unknown);
    }
}

const struct amp_model *amp_input_dims_bind(const struct amp_input_dims *dims,
                                            struct amp_arena *arena)
{
    struct amp_error ignored = {.status = AMP_OK};
    const struct amp_ids *inputs = &dims->model->graphs[0].inputs;
    bool is_as_declared = true;
    for (size_t i = 0; i < inputs->count; i++)
        is_as_declared = is_as_declared && is_bound(dims, i);
    if (is_as_declared)
        return dims->model;
    struct amp_model *bound = amp_model_copy(dims->model, arena);
    forget_shapes(bound);
    for (size_t i = 0; i < inputs->count; i++) {
        struct amp_shape shape = shape_of(dims, i);
        if (shape.rank >= 0)
            amp_value_set_shape(bound, inputs->items[i], &shape);
    }
    AMP_IGNORE(amp_infer(bound, &ignored));
    return bound;
}

/* ---- looking for sizes ----------------------------------------------------------------------- */

enum {
    INFERENCES_MAX = 600,
    RUNS_MAX = 24,
    ROUNDS_MAX = 6,
    NAMED_MAX = 8, /* numbers of a message that are tried */
    SIZE_MAX_TRIED = 4096,
    ELEMENTS_MAX = 1 << 24 /* of an input */
};

static const int64_t common_sizes[] = {2,   3,   4,   6,   8,   16,  24,  32,  48,
                                       64,  80,  96,  112, 128, 160, 192, 224, 256,
                                       299, 320, 384, 416, 448, 512, 640, 768, 1024};

/* What became of the sizes at hand. */
struct outcome {
    bool works;
    size_t reached; /* nodes of the main graph before the one that refuses */
    size_t said;    /* where its text goes on behind the name of that node */
    uint32_t hash;  /* of what it says, numbers apart */
    struct amp_error err;
};

struct search {
    struct amp_input_dims *dims;
    amp_input_dims_trial *run;
    void *context;
    size_t n_inferences, n_runs;
    struct outcome first; /* of all at 1 */
    struct outcome best;  /* of the sizes that were settled on; fails until the search ends */
    uint32_t met[ROUNDS_MAX + 1]; /* the hashes of all that was settled on */
    size_t n_met;
    bool has_varied;          /* other sizes had something else said */
    struct amp_error refused; /* what the system refused first to sizes that may be right */
};

/* Finds the first node that the failure of OUTCOME names. */
static void find_reached(const struct amp_model *model, struct outcome *outcome)
{
    char name[512];
    const struct amp_ids *nodes = &model->graphs[0].nodes;
    for (size_t i = 0; i < nodes->count; i++) {
        amp_node_text(model, nodes->items[i], name, sizeof name);
        const char *found = strstr(outcome->err.text, name);
        if (found == NULL)
            continue;
        outcome->reached = i;
        outcome->said = (size_t)(found - outcome->err.text) + strlen(name);
        return;
    }
}

static uint32_t hash_words(const char *text)
{
    uint32_t hash = 0;
    for (; *text != '\0'; text++)
        if (!isdigit((unsigned char)*text))
            hash = amp_hash_fnv(text, 1, hash);
    return hash;
}

/* Whether an input has more elements than an attempt may cost. */
static bool is_large(const struct amp_input_dims *dims)
{
    for (size_t i = 0; i < dims->model->graphs[0].inputs.count; i++) {
        struct amp_shape shape = shape_of(dims, i);
        int64_t count = shape.rank >= 0 ? amp_shape_count(&shape) : 0;
        if (count < 0 || count > ELEMENTS_MAX)
            return true;
    }
    return false;
}

/* What becomes of the sizes at hand: inference says it where it refuses them, else a run. Of the
   FIRST sizes a run has the last word, unless inference tells all shapes and refuses none. */
static struct outcome attempt(struct search *search, bool is_first)
{
    struct outcome outcome = {.err = {.status = AMP_OK}};
    struct amp_error refusal = {.status = AMP_OK};
    bool is_told;
    struct amp_arena *arena = amp_arena_create();
    const struct amp_model *bound = amp_input_dims_bind(search->dims, arena);
    search->n_inferences++;
    enum amp_status status = amp_infer_check_shapes(bound, &is_told, &refusal);
    bool is_certain = is_first && is_told; /* none of what is refused */
    if (!is_certain && (is_first || status == AMP_OK) && search->n_runs < RUNS_MAX) {
        search->n_runs++;
        status = search->run(search->context, bound, &outcome.err);
    } else if (status != AMP_OK) {
        outcome.err = refusal;
    } else if (!is_certain) {
        outcome.err = search->first.err; /* nothing is known of them: no better than those */
        status = outcome.err.status;
    }
    outcome.works = status == AMP_OK;
    if (status == AMP_IO)
        AMP_IGNORE(amp_error_copy(&search->refused, &outcome.err));
    if (!outcome.works) {
        find_reached(bound, &outcome);
        outcome.hash = hash_words(outcome.err.text);
    }
    amp_arena_destroy(arena);
    return outcome;
}

/* Whether a failure may be one of sizes. */
static bool is_of_sizes(const struct outcome *outcome)
{
    return outcome->err.status == AMP_MODEL || outcome->err.status == AMP_KERNEL;
}

/* Whether OUTCOME is nearer to the end than what was settled on. */
static bool is_progress(const struct search *search, const struct outcome *outcome)
{
    if (!is_of_sizes(outcome))
        return outcome->works;
    if (outcome->reached != search->best.reached)
        return outcome->reached > search->best.reached;
    for (size_t i = 0; i < search->n_met; i++)
        if (search->met[i] == outcome->hash)
            return false;
    return true;
}

/* A set of open dims that get the same size: one, or those of some positions. */
struct move {
    size_t single;      /* the index of one, unless POSITIONS */
    uint32_t positions; /* 0: SINGLE alone */
};

static bool is_moved(const struct amp_input_dims *dims, const struct move *move, size_t k)
{
    const struct open_dim *dim = &dims->items[k];
    return !dim->is_set &&
           (move->positions != 0 ? (dim->positions & move->positions) != 0 : k == move->single);
}

/* Gives the dims of MOVE the size; whether one changes. */
static bool make_move(struct amp_input_dims *dims, const struct move *move, int64_t size)
{
    bool is_changed = false;
    for (size_t k = 0; k < dims->count; k++)
        if (is_moved(dims, move, k)) {
            is_changed |= dims->items[k].size != size;
            dims->items[k].size = size;
        }
    return is_changed;
}

static void save_sizes(const struct amp_input_dims *dims, int64_t *sizes)
{
    for (size_t k = 0; k < dims->count; k++)
        sizes[k] = dims->items[k].size;
}

static void restore_sizes(struct amp_input_dims *dims, const int64_t *sizes)
{
    for (size_t k = 0; k < dims->count; k++)
        dims->items[k].size = sizes[k];
}

/* Tries MOVE to SIZE: what works, or is nearer to the end than BEST, is kept there with its sizes
   in BEST_SIZES. The sizes at hand stay as they were. */
static void try_move(struct search *search, const struct move *move, int64_t size,
                     struct outcome *best, int64_t *best_sizes)
{
    struct amp_input_dims *dims = search->dims;
    int64_t *before = amp_xmalloc(dims->count, sizeof *before);
    save_sizes(dims, before);
    if (make_move(dims, move, size) && !is_large(dims) && search->n_inferences < INFERENCES_MAX) {
        struct outcome outcome = attempt(search, false);
        search->has_varied |= strcmp(outcome.err.text, search->first.err.text) != 0;
        bool is_nearer =
            outcome.works || best->err.status == AMP_OK || outcome.reached > best->reached;
        if (is_progress(search, &outcome) && is_nearer) {
            *best = outcome;
            save_sizes(dims, best_sizes);
        }
    }
    restore_sizes(dims, before);
    free(before);
}

/* The moves of the dims, singles first, to MOVES, which has room for all; how many. */
static size_t list_moves(const struct amp_input_dims *dims, struct move *moves)
{
    static const uint32_t groups[] = {SPATIAL, BEHIND_FIRST, FIRST, FIRST | BEHIND_FIRST};
    size_t count = 0;
    for (size_t k = 0; k < dims->count; k++)
        if (!dims->items[k].is_set)
            moves[count++] = (struct move){.single = k};
    for (size_t g = 0; g < AMP_COUNT(groups) && count > 1; g++)
        moves[count++] = (struct move){.positions = groups[g]};
    return count;
}

static bool has_size(const int64_t *sizes, size_t count, int64_t size)
{
    for (size_t i = 0; i < count; i++)
        if (sizes[i] == size)
            return true;
    return false;
}

/* The sizes to try after a failure that TEXT tells of, to SIZES: those that it names, then common
   ones; how many. */
static size_t list_sizes(const char *text, int64_t sizes[NAMED_MAX + AMP_COUNT(common_sizes)])
{
    size_t count = 0;
    while (*text != '\0' && count < NAMED_MAX) {
        char *end = NULL;
        int64_t number = isdigit((unsigned char)*text) ? strtoll(text, &end, 10) : 0;
        if (number > 1 && number <= SIZE_MAX_TRIED && !has_size(sizes, count, number))
            sizes[count++] = number;
        text = end != NULL ? end : text + 1;
    }
    size_t n_named = count;
    for (size_t i = 0; i < AMP_COUNT(common_sizes); i++)
        if (!has_size(sizes, n_named, common_sizes[i]))
            sizes[count++] = common_sizes[i];
    return count;
}

/* Settles on the first sizes that work or, when none do, on those that get furthest; false when
   none get further than before. */
static bool make_round(struct search *search, const struct move *moves, size_t n_moves)
{
    struct amp_input_dims *dims = search->dims;
    int64_t sizes[NAMED_MAX + AMP_COUNT(common_sizes)];
    int64_t *best_sizes = amp_xcalloc(dims->count, sizeof *best_sizes);
    struct outcome best = {.err = {.status = AMP_OK}};
    size_t n_sizes = list_sizes(search->best.err.text + search->best.said, sizes);
    for (size_t s = 0; s < n_sizes; s++)
        for (size_t m = 0; m < n_moves && !best.works; m++)
            try_move(search, &moves[m], sizes[s], &best, best_sizes);
    bool has_progress = best.works || best.err.status != AMP_OK;
    if (has_progress) {
        restore_sizes(dims, best_sizes);
        search->best = best;
        search->met[search->n_met++] = best.hash;
    }
    free(best_sizes);
    return has_progress;
}

/* Puts the dims back to 1 that need not be more. */
static void lessen(struct search *search)
{
    for (size_t k = 0; k < search->dims->count; k++) {
        struct open_dim *dim = &search->dims->items[k];
        int64_t size = dim->size;
        if (dim->is_set || size == 1)
            continue;
        dim->size = 1;
        dim->is_found = !attempt(search, false).works;
        dim->size = dim->is_found ? size : 1;
    }
}

/* ---- what is said of it ---------------------------------------------------------------------- */

static char *dim_name(const struct amp_input_dims *dims, const struct open_dim *dim, char *text,
                      size_t size)
{
    const char *symbol = amp_dim_symbol(dims->model, dim->symbol);
    if (symbol != NULL)
        snprintf(text, size, "%s", symbol);
    else
        snprintf(text, size, "%s[%d]", input_at(dims->model, dim->input)->name, dim->place);
    return text;
}

/* Adds to the failure in ERR which sizes were looked for in vain, and how to give them. */
static enum amp_status say_none_works(const struct amp_input_dims *dims, struct amp_error *err)
{
    char list[512] = "", name[128];
    bool has_symbol = false, has_other = false;
    for (size_t k = 0, used = 0; k < dims->count && used < sizeof list; k++) {
        if (dims->items[k].is_set)
            continue;
        bool is_symbol = dims->items[k].symbol != AMP_DIM_UNKNOWN;
        has_symbol |= is_symbol;
        has_other |= !is_symbol;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", used > 0 ? ", " : "",
                                 dim_name(dims, &dims->items[k], name, sizeof name));
    }
    size_t length = strlen(err->text);
    snprintf(err->text + length, sizeof err->text - length,
             "; none of the sizes tried for %s works: give one with %s%s%s", list,
             has_symbol ? "--dim NAME=N" : "", has_symbol && has_other ? " or " : "",
             has_other ? "--input-shape NAME=1,3,224,224" : "");
    return err->status;
}

enum amp_status amp_input_dims_find(struct amp_input_dims *dims, amp_input_dims_trial *run,
                                    void *context, struct amp_error *err)
{
    struct search search = {.dims = dims, .run = run, .context = context};
    struct move *moves = amp_xcalloc(dims->count + 4, sizeof *moves);
    size_t n_moves = list_moves(dims, moves);
    enum amp_status status = AMP_OK;
    if (n_moves > 0)
        search.first = search.best = attempt(&search, true);
    bool is_needed = is_of_sizes(&search.first);
    search.met[search.n_met++] = search.first.hash;
    for (size_t r = 0; r < ROUNDS_MAX && is_needed && !search.best.works; r++)
        if (!make_round(&search, moves, n_moves))
            break;
    if (search.best.works) {
        lessen(&search);
    } else if (is_needed) {
        for (size_t m = 0; m < n_moves; m++)
            make_move(dims, &moves[m], 1);
        bool is_refused = search.refused.status != AMP_OK;
        if (is_refused || search.has_varied)
            status = amp_error_copy(err, is_refused ? &search.refused : &search.first.err);
    }
    free(moves);
    return status == AMP_OK ? AMP_OK : say_none_works(dims, err);
}

int64_t amp_input_dims_found(const struct amp_input_dims *dims, size_t k, char *name, size_t size)
{
    for (size_t i = 0; i < dims->count; i++)
        if (dims->items[i].is_found && k-- == 0) {
            dim_name(dims, &dims->items[i], name, size);
            return dims->items[i].size;
        }
    return 0;
}
