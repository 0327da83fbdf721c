/*
 * Multiplies matrices of bfloat16 on the tiles of AMX (Advanced Matrix Extensions of x86-64): up to
 * 32 rows by 32 columns at a time in four tiles of sums, while the weights of the next 32 columns
 * are on their way into the cache. It takes a product that is described in full, and assumes that
 * the CPU has AMX.
 */
#include "ops/own/amx_kernel.h"

#include "ops/own/amx_post.h"

#if AMP_HAS_AMX
#    include <immintrin.h>

enum { LINE = 64 }; /* bytes of a cache line */

/* One unit of B: its two tiles of columns; the second is the first where the columns end. */
struct unit {
    const uint16_t *tiles[2];
};

static struct unit unit_of(const struct tile_product *p, int64_t index)
{
    struct unit unit;
    for (int i = 0; i < 2; i++) {
        int64_t column = index * UNIT + (int64_t)i * TILE;
        if (column >= p->n)
            column = index * UNIT;
        unit.tiles[i] = p->b + column / p->width * p->b_right + column % p->width * 2;
    }
    return unit;
}

/* What is fetched beside each step of the product of some rows: of the lines that the step will
   take of another unit, COUNT times 8, those of 4 rows in both tiles from LEFT and RIGHT on. */
struct ahead {
    const char *left, *right;
    int count;
};

/* As the processor wants it (palette 1): rows of 64 bytes. */
struct config {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* Tiles 0 to 3 hold sums and 4 holds A, ROWS rows, 5 and 6 columns of B. The eighth is not taken:
   where another program uses the other half of the core, each tile in use slows down what is done
   with the others (a product of 2 by 2 tiles took 29 ns with eight and 20 with seven; on a core of
   one's own 8 with either). */
AMP_AMX_TARGET static void configure(int rows)
{
    struct config config = {.palette = 1};
    for (int i = 0; i < 7; i++) {
        config.row_bytes[i] = 64;
        config.rows[i] = (uint8_t)(i == 5 || i == 6 ? TILE : rows);
    }
    /* Of what gcc's intrinsic reads, gcc knows 8 bytes. */
    __asm__ volatile("ldtilecfg %0" : : "m"(config));
}

/* Into the first and the second cache, and into the first to be written. Not by intrinsics: gcc
   takes functions that only prefetch for functions without effect, and drops their calls. */
static inline void fetch_first(const char *at)
{
    __asm__ volatile("prefetcht0 %0" : : "m"(*at));
}

static inline void fetch_to_write(const char *at)
{
    __asm__ volatile("prefetchw %0" : : "m"(*at));
}

static inline void fetch_second(const char *at)
{
    __asm__ volatile("prefetcht1 %0" : : "m"(*at));
}

/* Fetches row I of each 4 of what STEP fetches ahead. */
AMP_AMX_TARGET static inline void fetch_b(const struct tile_product *p, const struct ahead *ahead,
                                          int64_t step, int i)
{
    int64_t row = 4 * p->width, at = 2 * step * p->b_down + i * row;
    for (int n = 0; n < ahead->count; n++, at += 4 * row) {
        fetch_second(ahead->left + at);
        fetch_second(ahead->right + at);
    }
}

/* Fetches what the next step takes of a tile of A. */
AMP_AMX_TARGET static inline void fetch_a(const struct tile_product *p, const uint16_t *a)
{
    for (int i = 0; i < TILE; i++)
        fetch_first((const char *)(a + i * p->a_row + STEP));
}

/* Fetches COUNT rows, or those that are left from row FIRST of RESULTS on, of FROM there. */
AMP_AMX_TARGET static inline void fetch_rows(const struct elements *from, bool is_written,
                                             const struct results *results, int first, int count)
{
    int64_t size = from->is_bf16 ? 2 : 4, row = from->row * size;
    const char *at = (const char *)from->data + results->row * row + results->column * size;
    for (int i = first; i < first + count && i < results->rows; i++)
        for (int64_t line = 0; line < size / 2; line++)
            (is_written ? fetch_to_write : fetch_first)(at + i * row + line * LINE);
}

/* Fetches COUNT rows, from row FIRST of RESULTS on, of what the end of the product reads and
   writes. */
AMP_AMX_TARGET static inline void fetch_end(const struct tile_product *p,
                                            const struct results *results, int first, int count)
{
    fetch_rows(&p->y, true, results, first, count);
    for (int k = 0; k < p->n_posts; k++)
        if (p->posts[k].operand.row != 0)
            fetch_rows(&p->posts[k].operand, false, results, first, count);
}

/* Rows of A, from row RESULTS->row on, by UNIT: the first TILE_ROWS and the last of them, which may
   be the same in part. */
AMP_AMX_TARGET static void multiply_two(const struct tile_product *p, const struct unit *unit,
                                        const struct ahead *ahead, int tile_rows,
                                        struct results *results)
{
    int lower_row = results->rows - tile_rows;
    const uint16_t *upper = p->a + results->row * p->a_row, *lower = upper + lower_row * p->a_row;
    int64_t a_bytes = p->a_row * 2, b_bytes = p->width * 4, steps = p->k / STEP;
    int rows = (int)((results->rows + steps - 1) / steps), row = 0; /* of Y, per step */
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t step = 0; step < steps; step++, upper += STEP, lower += STEP) {
        _tile_loadd(5, unit->tiles[0] + step * p->b_down, b_bytes);
        fetch_b(p, ahead, step, 0);
        _tile_loadd(6, unit->tiles[1] + step * p->b_down, b_bytes);
        _tile_loadd(4, upper, a_bytes);
        fetch_b(p, ahead, step, 1);
        _tile_dpbf16ps(0, 4, 5);
        fetch_a(p, upper);
        fetch_b(p, ahead, step, 2);
        _tile_dpbf16ps(1, 4, 6);
        _tile_loadd(4, lower, a_bytes);
        _tile_dpbf16ps(2, 4, 5);
        fetch_b(p, ahead, step, 3);
        fetch_a(p, lower);
        _tile_dpbf16ps(3, 4, 6);
        fetch_end(p, results, row, rows);
        row += rows;
    }
    _tile_stored(0, &results->at[0][0], sizeof results->at[0]);
    _tile_stored(1, &results->at[0][TILE], sizeof results->at[0]);
    _tile_stored(2, &results->at[lower_row][0], sizeof results->at[0]);
    _tile_stored(3, &results->at[lower_row][TILE], sizeof results->at[0]);
}

/* Rows of A, from row RESULTS->row on, no more than a tile has, by UNIT. */
AMP_AMX_TARGET static void multiply_one(const struct tile_product *p, const struct unit *unit,
                                        const struct ahead *ahead, struct results *results)
{
    const uint16_t *a = p->a + results->row * p->a_row;
    int64_t a_bytes = p->a_row * 2, b_bytes = p->width * 4, steps = p->k / STEP;
    int rows = (int)((results->rows + steps - 1) / steps), row = 0; /* of Y, per step */
    _tile_zero(0);
    _tile_zero(1);
    for (int64_t step = 0; step < steps; step++, a += STEP) {
        _tile_loadd(5, unit->tiles[0] + step * p->b_down, b_bytes);
        fetch_b(p, ahead, step, 0);
        _tile_loadd(4, a, a_bytes);
        fetch_b(p, ahead, step, 1);
        _tile_dpbf16ps(0, 4, 5);
        fetch_b(p, ahead, step, 2);
        _tile_loadd(6, unit->tiles[1] + step * p->b_down, b_bytes);
        fetch_b(p, ahead, step, 3);
        _tile_dpbf16ps(1, 4, 6);
        fetch_end(p, results, row, rows);
        row += rows;
    }
    _tile_stored(0, &results->at[0][0], sizeof results->at[0]);
    _tile_stored(1, &results->at[0][TILE], sizeof results->at[0]);
}

/* What to fetch of unit NEXT beside block INDEX of COUNT, 16 rows of two tiles in all. */
static struct ahead ahead_of(const struct tile_product *p, const struct unit *next, int64_t index,
                             int64_t count)
{
    int64_t parts = TILE / 4, first = index * parts / count, end = (index + 1) * parts / count;
    int64_t bytes = first * 4 * 4 * p->width;
    return (struct ahead){.left = (const char *)next->tiles[0] + bytes,
                          .right = (const char *)next->tiles[1] + bytes,
                          .count = (int)(end - first)};
}

/* All rows of A, in as many blocks of almost the same size as it takes, by unit INDEX of B;
   meanwhile fetches unit NEXT, which may be the same: none. Tiles have TILE_ROWS rows. */
static void multiply_unit(const struct tile_product *p, int64_t index, int64_t next, int tile_rows)
{
    int64_t blocks = (p->m + UNIT - 1) / UNIT, left = p->n - index * UNIT;
    struct unit unit = unit_of(p, index), next_unit = unit_of(p, next);
    struct results results = {.column = index * UNIT, .columns = left < UNIT ? (int)left : UNIT};
    for (int64_t block = 0; block < blocks; block++, results.row += results.rows) {
        struct ahead ahead = ahead_of(p, &next_unit, block, blocks);
        if (next == index)
            ahead.count = 0;
        results.rows = (int)(p->m * (block + 1) / blocks - results.row);
        if (results.rows > tile_rows)
            multiply_two(p, &unit, &ahead, tile_rows, &results);
        else
            multiply_one(p, &unit, &ahead, &results);
        amp_amx_store(p, &results);
    }
}

/* Those of a tile that twice fill every block, or once where there are no more rows. */
static int tile_rows_of(int64_t m)
{
    int64_t blocks = (m + UNIT - 1) / UNIT, rows = (m + blocks - 1) / blocks;
    return (int)(m <= TILE ? m : (rows + 1) / 2);
}

AMP_AMX_TARGET void amp_amx_multiply(const struct tile_product *p, int64_t first, int64_t end)
{
    int tile_rows = tile_rows_of(p->m);
    if (first < end)
        configure(tile_rows);
    for (int64_t i = first; i < end; i++)
        multiply_unit(p, i, i + 1 < end ? i + 1 : i, tile_rows);
    _tile_release();
}

#endif
