/*
 * TfIdfVectorizer, ONNX 9. Counts how often the n-grams of a pool occur in each row of integers or
 * strings, the items of an n-gram in equal distances. Makes of the pool a trie over tokens, the
 * numbers of its distinct items, once per node.
 */
#include "core/hash.h"
#include "ops/kernel/data_movement.h"

#include <stdlib.h>
#include <string.h>

/* A hash table from byte strings, which are borrowed, to numbers above 0; it never grows. */
struct table {
    struct slot {
        struct amp_str key;
        uint32_t value; /* 0: free */
    } * slots;
    size_t mask;
};

static void create_table(struct table *table, size_t most)
{
    size_t capacity = 16;
    while (capacity < 2 * most)
        capacity *= 2;
    *table = (struct table){amp_xcalloc(capacity, sizeof *table->slots), capacity - 1};
}

/* The slot of KEY, or the free one where it belongs. */
static struct slot *find_slot(const struct table *table, struct amp_str key)
{
    for (size_t i = amp_hash_keyed(key.data, key.size);; i++) {
        struct slot *slot = &table->slots[i & table->mask];
        if (slot->value == 0 ||
            (slot->key.size == key.size &&
             (key.size == 0 || memcmp(slot->key.data, key.data, key.size) == 0)))
            return slot;
    }
}

/* How a node is reached: from its parent (0: the root) by a token. */
struct edge {
    uint32_t parent, token;
};

struct vocabulary {
    struct amp_str *items; /* the pool's, their bytes borrowed from the node's attributes */
    size_t n_items;
    struct table tokens;
    struct table nodes; /* by their edges */
    struct edge *edges; /* edges[i] leads to node i + 1 */
    uint32_t n_nodes;
    int64_t *columns; /* per node: the output column of the n-gram that ends there; -1: none does */
};

static void destroy_vocabulary(void *state)
{
    struct vocabulary *vocabulary = state;
    if (vocabulary == NULL)
        return;
    free(vocabulary->items);
    free(vocabulary->tokens.slots);
    free(vocabulary->nodes.slots);
    free(vocabulary->edges);
    free(vocabulary->columns);
    free(vocabulary);
}

static struct vocabulary *create_vocabulary(size_t n_items)
{
    struct vocabulary *vocabulary = amp_xcalloc(1, sizeof *vocabulary);
    vocabulary->items = amp_xmalloc(n_items, sizeof *vocabulary->items);
    vocabulary->n_items = n_items;
    vocabulary->edges = amp_xmalloc(n_items, sizeof *vocabulary->edges);
    vocabulary->columns = amp_xmalloc(n_items + 1, sizeof *vocabulary->columns);
    vocabulary->columns[0] = -1;
    create_table(&vocabulary->tokens, n_items);
    create_table(&vocabulary->nodes, n_items);
    return vocabulary;
}

/* The node that EDGE leads to; 0 when there is none. */
static uint32_t follow(const struct vocabulary *vocabulary, struct edge edge)
{
    return find_slot(&vocabulary->nodes, (struct amp_str){(const char *)&edge, sizeof edge})->value;
}

static uint32_t follow_or_add(struct vocabulary *vocabulary, struct edge edge)
{
    struct edge *kept = &vocabulary->edges[vocabulary->n_nodes];
    *kept = edge;
    struct amp_str key = {(const char *)kept, sizeof *kept};
    struct slot *slot = find_slot(&vocabulary->nodes, key);
    if (slot->value == 0) {
        *slot = (struct slot){key, ++vocabulary->n_nodes};
        vocabulary->columns[vocabulary->n_nodes] = -1;
    }
    return slot->value;
}

static uint32_t token_of(struct vocabulary *vocabulary, size_t item)
{
    struct slot *slot = find_slot(&vocabulary->tokens, vocabulary->items[item]);
    if (slot->value == 0)
        *slot = (struct slot){vocabulary->items[item], (uint32_t)item + 1};
    return slot->value;
}

/* What the attributes say beside the pool. */
struct settings {
    int64_t min_length, max_length, max_skip;
    const int64_t *starts; /* ngram_counts: where in the pool the n-grams of each length begin */
    size_t n_starts;
    const int64_t *columns; /* ngram_indexes */
    size_t n_columns;
    int64_t width; /* the greatest column + 1 */
};

static enum amp_status read_settings(struct amp_ctx *ctx, struct settings *settings)
{
    const struct amp_node *node = ctx->node;
    *settings = (struct settings){.min_length = amp_node_int(node, "min_gram_length", 0),
                                  .max_length = amp_node_int(node, "max_gram_length", 0),
                                  .max_skip = amp_node_int(node, "max_skip_count", 0)};
    settings->starts = amp_node_ints(node, "ngram_counts", &settings->n_starts);
    settings->columns = amp_node_ints(node, "ngram_indexes", &settings->n_columns);
    if (settings->min_length < 1 || settings->max_length < settings->min_length ||
        settings->max_length > (int64_t)settings->n_starts)
        return AMP_CTX_FAIL(ctx,
                            "n-grams of length %lld to %lld; ngram_counts allows lengths from 1 to "
                            "%zu",
                            (long long)settings->min_length, (long long)settings->max_length,
                            settings->n_starts);
    if (settings->max_skip < 0)
        return AMP_CTX_FAIL(ctx, "max_skip_count is %lld; at least 0 is needed",
                            (long long)settings->max_skip);
    for (size_t i = 0; i < settings->n_columns; i++) {
        int64_t column = settings->columns[i];
        if (column < 0)
            return AMP_CTX_FAIL(ctx, "ngram_indexes[%zu] is %lld; at least 0 is needed", i,
                                (long long)column);
        if (column == INT64_MAX)
            return AMP_CTX_FAIL(ctx, "ngram_indexes[%zu] is %lld: too large", i, (long long)column);
        if (column >= settings->width)
            settings->width = column + 1;
    }
    return AMP_OK;
}

/* An n-gram of the pool. */
struct gram {
    size_t item, length; /* the item that it begins at, and how many it has */
    size_t number;       /* its place in the pool */
};

static enum amp_status add_gram(struct amp_ctx *ctx, const struct settings *settings,
                                struct vocabulary *vocabulary, struct gram gram)
{
    uint32_t node = 0;
    if (gram.number >= settings->n_columns)
        return AMP_CTX_FAIL(ctx, "ngram_indexes has %zu values; the pool has more n-grams",
                            settings->n_columns);
    for (size_t k = 0; k < gram.length; k++)
        node = follow_or_add(vocabulary, (struct edge){node, token_of(vocabulary, gram.item + k)});
    if (vocabulary->columns[node] >= 0)
        return AMP_CTX_FAIL(ctx, "the pool has n-gram %zu, of length %zu, twice", gram.number,
                            gram.length);
    vocabulary->columns[node] = settings->columns[gram.number];
    return AMP_OK;
}

/* The trie of the n-grams whose lengths count. */
static enum amp_status add_grams(struct amp_ctx *ctx, const struct settings *settings,
                                 struct vocabulary *vocabulary)
{
    size_t gram = 0;
    for (size_t length = 1; length <= settings->n_starts; length++) {
        int64_t end = (int64_t)vocabulary->n_items, begin = settings->starts[length - 1];
        if (length < settings->n_starts)
            end = settings->starts[length];
        if (begin < 0 || end < begin || end > (int64_t)vocabulary->n_items ||
            (size_t)(end - begin) % length != 0)
            return AMP_CTX_FAIL(ctx,
                                "n-grams of length %zu take items %lld to %lld of a pool of %zu; "
                                "they must be whole and in order",
                                length, (long long)begin, (long long)(end > begin ? end - 1 : end),
                                vocabulary->n_items);
        bool counts =
            (int64_t)length >= settings->min_length && (int64_t)length <= settings->max_length;
        for (size_t item = (size_t)begin; item < (size_t)end; item += length, gram++)
            if (counts)
                AMP_TRY(add_gram(ctx, settings, vocabulary, (struct gram){item, length, gram}));
    }
    return AMP_OK;
}

static enum amp_status build_vocabulary(struct amp_ctx *ctx, const struct settings *settings)
{
    const char *name = ctx->in[0]->dtype == AMP_STRING ? "pool_strings" : "pool_int64s";
    const struct amp_attr *pool = amp_node_attr(ctx->node, name);
    if (pool == NULL || pool->count == 0)
        return AMP_CTX_FAIL(ctx, "attribute '%s', which an input of %s needs, is missing", name,
                            amp_dtype_name(ctx->in[0]->dtype));
    if (pool->count >= UINT32_MAX / 4)
        return AMP_CTX_FAIL(ctx, "a pool of %zu items is too large", pool->count);
    struct vocabulary *vocabulary = create_vocabulary(pool->count);
    for (size_t i = 0; i < pool->count; i++)
        vocabulary->items[i] =
            pool->type == AMP_ATTR_STRINGS
                ? pool->strings[i]
                : (struct amp_str){(const char *)&pool->ints[i], sizeof pool->ints[i]};
    enum amp_status status = add_grams(ctx, settings, vocabulary);
    if (status == AMP_OK)
        *ctx->state = vocabulary;
    else
        destroy_vocabulary(vocabulary);
    return status;
}

/* The tokens of the input's elements; 0 for one that the pool does not have. */
static void find_tokens(const struct vocabulary *vocabulary, const struct amp_tensor *in,
                        uint32_t *tokens)
{
    size_t count = amp_tensor_count(in);
    for (size_t i = 0; i < count; i++) {
        int64_t number;
        struct amp_str key = {(const char *)&number, sizeof number};
        if (in->dtype == AMP_STRING)
            key = ((const struct amp_str *)in->data)[i];
        else
            number = amp_tensor_int(in, i);
        tokens[i] = find_slot(&vocabulary->tokens, key)->value;
    }
}

/* A row of input, or what is left of it. */
struct row {
    const uint32_t *tokens;
    int64_t n;
};

/* Adds to COUNTS[width] the n-grams that ROW begins with and that have DISTANCE from item to item.
   Single items have no distance: they count at distance 1. */
static void count_from(const struct vocabulary *vocabulary, const struct settings *settings,
                       struct row row, int64_t distance, int64_t *counts)
{
    uint32_t node = 0;
    int64_t at = 0;
    for (int64_t length = 1; length <= settings->max_length && at < row.n;
         length++, at += distance) {
        uint32_t token = row.tokens[at];
        node = token != 0 ? follow(vocabulary, (struct edge){node, token}) : 0;
        if (node == 0)
            return;
        if (vocabulary->columns[node] >= 0 && (length > 1 || distance == 1))
            counts[vocabulary->columns[node]]++;
    }
}

static void count_row(const struct vocabulary *vocabulary, const struct settings *settings,
                      struct row row, int64_t *counts)
{
    int64_t n = row.n;
    int64_t distances = settings->max_length == 1 || n < 2 ? 1
                        : settings->max_skip < n - 2       ? settings->max_skip + 1
                                                           : n - 1;
    for (int64_t first = 0; first < n; first++)
        for (int64_t distance = 1; distance <= distances && row.tokens[first] != 0; distance++)
            count_from(vocabulary, settings, (struct row){row.tokens + first, n - first}, distance,
                       counts);
}

enum mode { TF, IDF, TFIDF };

/* WEIGHTS: per column; NULL: all 1. */
static void weigh_row(enum mode mode, const float *weights, const int64_t *counts, int64_t width,
                      float *to)
{
    for (int64_t i = 0; i < width; i++) {
        float count = mode == IDF ? (float)(counts[i] > 0) : (float)counts[i];
        to[i] = mode == TF || weights == NULL ? count : count * weights[i];
    }
}

static enum amp_status shape_tfidf(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    struct settings settings;
    AMP_TRY(read_settings(ctx, &settings));
    if (in->rank > 2)
        return AMP_CTX_FAIL(ctx, "the input has rank %d; 1 and 2 are possible", in->rank);
    out->rank = in->rank == 0 ? 1 : in->rank; /* a scalar counts as a row of one */
    if (out->rank == 2)
        out->dims[0] = in->dims[0];
    if (out->rank > 0)
        out->dims[out->rank - 1] = settings.width;
    return AMP_OK;
}

/* The mode and, where the mode wants them, the weights. ONNX's text gives an n-gram the weight of
   its place in the pool; ONNX Runtime and ONNX's reference implementation take that of its output
   column, and so does this. The two are one where ngram_indexes counts up from 0. */
static enum amp_status read_weights(struct amp_ctx *ctx, int64_t width, enum mode *mode,
                                    const float **weights)
{
    static const char *const modes[] = {[TF] = "TF", [IDF] = "IDF", [TFIDF] = "TFIDF", NULL};
    const struct amp_attr *attr = amp_node_attr(ctx->node, "weights");
    int choice = TF;
    AMP_TRY(amp_ctx_choice(ctx, "mode", modes, &choice));
    *mode = (enum mode)choice;
    *weights = attr != NULL && attr->count > 0 ? attr->floats : NULL;
    if (*mode != TF && *weights != NULL && (int64_t)attr->count < width)
        return AMP_CTX_FAIL(ctx, "%zu weights for %lld columns", attr->count, (long long)width);
    return AMP_OK;
}

static enum amp_status reserve(struct amp_ctx *ctx, size_t n_tokens, size_t n_counts,
                               struct amp_buffer **tokens, struct amp_buffer **counts)
{
    *counts = NULL;
    *tokens = amp_scratch(ctx, "the tokens", n_tokens, sizeof(uint32_t));
    if (*tokens != NULL)
        *counts = amp_scratch(ctx, "the counts of a row", n_counts, sizeof(int64_t));
    if (*counts != NULL)
        return AMP_OK;
    amp_buffer_unref(*tokens);
    return ctx->err->status;
}

static enum amp_status run_tfidf(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0];
    struct amp_tensor *out = ctx->out[0];
    struct settings settings;
    enum mode mode;
    const float *weights;
    AMP_TRY(read_settings(ctx, &settings));
    AMP_TRY(read_weights(ctx, settings.width, &mode, &weights));
    if (amp_tensor_count(out) == 0)
        return AMP_OK;
    if (*ctx->state == NULL)
        AMP_TRY(build_vocabulary(ctx, &settings));
    int64_t rows = in->shape.rank == 2 ? in->shape.dims[0] : 1;
    int64_t length = in->shape.rank > 0 ? in->shape.dims[in->shape.rank - 1] : 1;
    struct amp_buffer *tokens_buffer, *counts_buffer;
    AMP_TRY(
        reserve(ctx, amp_tensor_count(in), (size_t)settings.width, &tokens_buffer, &counts_buffer));
    uint32_t *tokens = tokens_buffer->data;
    int64_t *counts = counts_buffer->data;
    find_tokens(*ctx->state, in, tokens);
    for (int64_t row = 0; row < rows; row++) {
        memset(counts, 0, (size_t)settings.width * sizeof *counts);
        count_row(*ctx->state, &settings, (struct row){tokens + row * length, length}, counts);
        weigh_row(mode, weights, counts, settings.width, (float *)out->data + row * settings.width);
    }
    amp_buffer_unref(tokens_buffer);
    amp_buffer_unref(counts_buffer);
    return AMP_OK;
}

const struct amp_op amp_op_tf_idf_vectorizer = {
    .name = "TfIdfVectorizer",
    .newest = 9,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_F32,
    .shape = shape_tfidf,
    .run = run_tfidf,
    .destroy = destroy_vocabulary,
};
