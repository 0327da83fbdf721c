/* Random numbers that a line can give again: NumPy's default generator, PCG64 (XSL-RR) seeded by
   SeedSequence, and its two distributions, uniform and standard normal (by a ziggurat of 256
   layers, Doornik's form). The numbers are NumPy's to the last bit or nearly so: whoever writes a
   tensor compares before it trusts. */
#include "chance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- PCG64 ---- */

typedef unsigned __int128 uint128;

struct generator {
    uint128 state, increment;
};

static uint32_t hash_mix(uint32_t value, uint32_t *constant, uint32_t factor)
{
    value ^= *constant;
    *constant *= factor;
    value *= *constant;
    return value ^ value >> 16;
}

/* SeedSequence(SEED).generate_state(8). */
static void spread_seed(uint64_t seed, uint32_t words[8])
{
    uint32_t pool[4], constant = 0x43b0d7e5;
    for (int i = 0; i < 4; i++) {
        pool[i] = hash_mix(i < 2 ? (uint32_t)(seed >> 32 * i) : 0, &constant, 0x931e8875);
    }
    for (int from = 0; from < 4; from++) {
        for (int to = 0; to < 4; to++) {
            if (from != to) {
                uint32_t mixed = 0xca01f9ddU * pool[to] -
                                 0x4973f715U * hash_mix(pool[from], &constant, 0x931e8875);
                pool[to] = mixed ^ mixed >> 16;
            }
        }
    }
    constant = 0x8b51f9dd;
    for (int i = 0; i < 8; i++) {
        words[i] = hash_mix(pool[i % 4], &constant, 0x58f38ded);
    }
}

#define FACTOR ((uint128)0x2360ed051fc65da4 << 64 | 0x4385df649fccf645)

static void advance(struct generator *generator)
{
    generator->state = generator->state * FACTOR + generator->increment;
}

/* N steps at once: a step is x -> factor * x + increment, and so is any number of them. */
static void skip_draws(struct generator *generator, uint64_t n)
{
    uint128 factor = FACTOR, increment = generator->increment, all_factor = 1, all_increment = 0;
    for (; n; n >>= 1) {
        if (n & 1) {
            all_factor *= factor;
            all_increment = all_increment * factor + increment;
        }
        increment *= factor + 1;
        factor *= factor;
    }
    generator->state = generator->state * all_factor + all_increment;
}

static struct generator seed_generator(uint64_t seed)
{
    uint32_t words[8];
    uint128 halves[2] = {0, 0};
    spread_seed(seed, words);
    for (int i = 0; i < 2; i++) {
        uint64_t high = words[4 * i] | (uint64_t)words[4 * i + 1] << 32,
                 low = words[4 * i + 2] | (uint64_t)words[4 * i + 3] << 32;
        halves[i] = (uint128)high << 64 | low;
    }
    struct generator generator = {0, halves[1] << 1 | 1};
    advance(&generator);
    generator.state += halves[0];
    advance(&generator);
    return generator;
}

static uint64_t get_next(struct generator *generator)
{
    advance(generator);
    uint64_t mixed = (uint64_t)(generator->state >> 64) ^ (uint64_t)generator->state;
    int turn = (int)(generator->state >> 122);
    return mixed >> turn | mixed << (-turn & 63);
}

static double get_uniform(struct generator *generator)
{
    return (double)(get_next(generator) >> 11) * 0x1p-53;
}

/* ---- the normal distribution ---- */

static const double tail = 3.6541528853610088, area = 0.00492867323399;

/* The layers of the ziggurat: up to which size a number is within, how wide they are, the density
 * at their edge. */
static double within[256], width[256], density[256];

static void make_layers(void)
{
    const double all = 0x1p52;
    double edge = tail;
    width[255] = edge / all;
    density[255] = exp(-0.5 * edge * edge);
    within[0] = floor(edge * density[255] / area * all);
    width[0] = area / density[255] / all;
    density[0] = 1;
    for (int i = 254; i > 0; i--) {
        double x = sqrt(-2 * log(area / edge + density[i + 1]));
        within[i + 1] = floor(x / edge * all);
        width[i] = x / all;
        density[i] = exp(-0.5 * x * x);
        edge = x;
    }
    within[1] = 0;
}

/* A number beyond the last layer, of that sign. */
static double get_tail(struct generator *generator, bool is_negative)
{
    for (;;) {
        double x = -log1p(-get_uniform(generator)) / tail, y = -log1p(-get_uniform(generator));
        if (y + y > x * x) {
            return is_negative ? -(tail + x) : tail + x;
        }
    }
}

static double get_normal(struct generator *generator)
{
    for (;;) {
        uint64_t bits = get_next(generator);
        int layer = (int)(bits & 255);
        double size = (double)(bits >> 9 & 0xfffffffffffff), x = size * width[layer];
        bool is_negative = bits >> 8 & 1;
        if (size < within[layer]) {
            return is_negative ? -x : x;
        }
        if (layer == 0) {
            return get_tail(generator, bits >> 8 >> 1 >> 8 & 1);
        }
        if ((density[layer - 1] - density[layer]) * get_uniform(generator) + density[layer] <
            exp(-0.5 * x * x)) {
            return is_negative ? -x : x;
        }
    }
}

static double get_number(struct generator *generator, bool is_normal)
{
    return is_normal ? get_normal(generator) : get_uniform(generator);
}

/* ---- tensors ---- */

static struct generator begin(const struct chance *chance)
{
    struct generator generator = seed_generator(chance->seed);
    if (!density[0]) {
        make_layers();
    }
    skip_draws(&generator, chance->skip);
    return generator;
}

void draw(const struct chance *chance, const struct element *element, uint64_t *bits, size_t n)
{
    struct generator generator = begin(chance);
    for (size_t i = 0; i < n; i++) {
        bits[i] = encode_number(
            element, chance->offset + chance->scale * get_number(&generator, chance->is_normal));
    }
}

/* The distributions that tensors are looked for in. */
static const struct chance known[] = {
    {true, 7, 0, 0, 0.25}, {true, 7, 0, 0, 1}, {true, 7, 0, 0, 0.5}, {false, 11, 0, -1, 2}};
enum { N_KNOWN = sizeof known / sizeof *known, STREAM = 1 << 19 };

/* A number of the stream and where it was drawn. */
struct drawn {
    double value;
    uint32_t place;
};

static int compare_drawn(const void *a, const void *b)
{
    const struct drawn *one = a, *other = b;
    return one->value < other->value ? -1 : one->value > other->value;
}

/* The first draw of a number at each place of a stream, by value; made once. */
static const struct drawn *get_stream(size_t which)
{
    static struct drawn *streams[N_KNOWN];
    if (!streams[which]) {
        struct generator generator = begin(&known[which]);
        streams[which] = new_memory(STREAM * sizeof **streams);
        for (uint32_t i = 0; i < STREAM; i++) {
            struct generator here = generator;
            double number = get_number(&here, known[which].is_normal);
            streams[which][i] =
                (struct drawn){known[which].offset + known[which].scale * number, i};
            advance(&generator);
        }
        qsort(streams[which], STREAM, sizeof **streams, compare_drawn);
    }
    return streams[which];
}

static bool is_drawn(const struct chance *chance, const struct element *element, const void *bytes,
                     size_t n)
{
    for (size_t some = n < 6 ? n : 6;; some = n) {
        uint64_t *bits = new_memory(some * sizeof *bits);
        draw(chance, element, bits, some);
        size_t i = 0;
        while (i < some && bits[i] == get_bits(element, bytes, i)) {
            i++;
        }
        free(bits);
        if (i < some || some == n) {
            return i == n;
        }
    }
}

bool find_chance(const struct element *element, const void *bytes, size_t n, struct chance *chance)
{
    if (element->kind < ELEMENT_FLOAT || element->parts > 1) {
        return false;
    }
    double first = decode_number(element, get_bits(element, bytes, 0)),
           slack = element->bits > 16 ? 1e-7 : 4e-3;
    for (size_t which = 0; which < N_KNOWN; which++) {
        const struct drawn *stream = get_stream(which);
        double least = first - slack * (fabs(first) + 1e-9);
        size_t low = 0, high = STREAM;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (stream[middle].value < least) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        for (; low < STREAM && stream[low].value <= first + slack * (fabs(first) + 1e-9); low++) {
            *chance = known[which];
            chance->skip = stream[low].place;
            if (is_drawn(chance, element, bytes, n)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- text ---- */

void put_chance(struct buffer *buffer, const struct chance *chance)
{
    put_format(buffer, "%s {%llu, %llu, %.17g, %.17g}", chance->is_normal ? "normal" : "uniform",
               (unsigned long long)chance->seed, (unsigned long long)chance->skip, chance->offset,
               chance->scale);
}

static double read_double(struct lexer *lexer)
{
    char *word = read_word(lexer), *end;
    double value = strtod(word, &end);
    if (*end) {
        fail_at(lexer, "'%s' is no number", word);
    }
    free(word);
    accept(lexer, ",");
    return value;
}

void read_chance(struct lexer *lexer, struct chance *chance)
{
    expect(lexer, "{");
    chance->seed = (uint64_t)read_integer(lexer);
    expect(lexer, ",");
    chance->skip = (uint64_t)read_integer(lexer);
    expect(lexer, ",");
    chance->offset = read_double(lexer);
    chance->scale = read_double(lexer);
    expect(lexer, "}");
}
