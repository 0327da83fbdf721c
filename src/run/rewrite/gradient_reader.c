/*
 * The words of gradient rules: names, lists, attributes and the equations of Einsum. Takes the text
 * at a reader and the node that is derived, gives numbers or sets attributes of a new node. Makes
 * no nodes or values.
 */
#include "run/rewrite/gradient_reader.h"

#include "core/tensor.h"
#include "run/rewrite/gradient_condition.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct amp_node *amp_gradient_node(const struct amp_gradient_reader *reader)
{
    return amp_node_at(reader->derivation->model, reader->derivation->node);
}

uint32_t amp_gradient_letter(const struct amp_gradient_reader *reader, char letter)
{
    const struct amp_node *node = amp_gradient_node(reader);
    switch (letter) {
    case 'g':
        return reader->derivation->g;
    case 'x':
        return reader->derivation->x;
    case 'y':
        return node->outputs[reader->derivation->output];
    default:
        return letter - 'a' < (int)node->n_inputs ? node->inputs[letter - 'a'] : AMP_NONE;
    }
}

static void skip_spaces(struct amp_gradient_reader *reader)
{
    while (*reader->at == ' ')
        reader->at++;
}

bool amp_gradient_take(struct amp_gradient_reader *reader, char c)
{
    skip_spaces(reader);
    if (*reader->at != c)
        return false;
    reader->at++;
    return true;
}

void amp_gradient_read_name(struct amp_gradient_reader *reader, char name[AMP_GRADIENT_NAME])
{
    size_t length = 0;
    skip_spaces(reader);
    while ((isalnum((unsigned char)*reader->at) || *reader->at == '_') &&
           length < AMP_GRADIENT_NAME - 1)
        name[length++] = *reader->at++;
    name[length] = '\0';
}

void amp_gradient_skip(struct amp_gradient_reader *reader, char c)
{
    for (int depth = 0; *reader->at != '\0' && (depth > 0 || *reader->at != c); reader->at++)
        depth +=
            (*reader->at == '(' || *reader->at == '[') - (*reader->at == ')' || *reader->at == ']');
    reader->at += *reader->at != '\0';
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* A list while it is read. */
struct items {
    int64_t *ints;
    int count; /* -1: cannot be told */
};

static void push(struct items *items, int64_t item)
{
    if (items->count >= 0 && items->count < AMP_GRADIENT_ITEMS)
        items->ints[items->count++] = item;
    else
        items->count = -1;
}

static int64_t read_int(struct amp_gradient_reader *reader)
{
    char name[AMP_GRADIENT_NAME], *end;
    if (amp_gradient_take(reader, '#')) {
        amp_gradient_read_name(reader, name);
        return amp_gradient_int(amp_gradient_node(reader), name, 1);
    }
    int64_t value = strtoll(reader->at, &end, 10);
    reader->at = end;
    return amp_gradient_take(reader, '*') ? value * read_int(reader) : value;
}

static int rank_of(const struct amp_gradient_reader *reader, char letter)
{
    uint32_t value = amp_gradient_letter(reader, letter);
    return value == AMP_NONE ? -1 : amp_value_at(reader->derivation->model, value)->rank;
}

/* "a:2", "a:2+1", "a:2=9", at the colon. */
static void read_axes(struct amp_gradient_reader *reader, int rank, struct items *items)
{
    amp_gradient_take(reader, ':');
    int64_t first = read_int(reader);
    int64_t more = amp_gradient_take(reader, '+') ? read_int(reader) : 0;
    bool is_filled = amp_gradient_take(reader, '=');
    int64_t number = is_filled ? read_int(reader) : 0;
    if (rank < 0)
        items->count = -1;
    for (int64_t axis = first < 0 ? first + rank : first; axis < rank; axis++)
        push(items, is_filled ? number : axis + more);
}

/* "strides=1", behind MARK: all of the attribute's, '<' the first half, '>' the second. */
static void read_ints(struct amp_gradient_reader *reader, char mark, struct items *items)
{
    char name[AMP_GRADIENT_NAME];
    size_t count;
    int rank = rank_of(reader, 'a');
    amp_gradient_read_name(reader, name);
    const int64_t *ints = amp_node_ints(amp_gradient_node(reader), name, &count);
    amp_gradient_take(reader, '=');
    int64_t fallback = read_int(reader);
    if (ints == NULL && rank < 0)
        items->count = -1;
    for (int axis = 2; ints == NULL && axis < rank; axis++)
        push(items, fallback);
    size_t begin = mark == '>' ? count / 2 : 0, end = mark == '<' ? count / 2 : count;
    for (size_t i = begin; ints != NULL && i < end; i++)
        push(items, ints[i]);
}

int amp_gradient_items(struct amp_gradient_reader *reader, int64_t ints[AMP_GRADIENT_ITEMS])
{
    struct items items = {.ints = ints};
    while (!amp_gradient_take(reader, ']')) {
        amp_gradient_take(reader, ',');
        skip_spaces(reader);
        char letter = *reader->at;
        if (letter == '*' || letter == '<' || letter == '>') {
            reader->at++;
            read_ints(reader, letter, &items);
        } else if (letter >= 'a' && letter <= 'y') {
            reader->at++;
            read_axes(reader, rank_of(reader, letter), &items);
        } else
            push(&items, read_int(reader));
    }
    return items.count;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* An attribute of a new node, whose text reader is at. */
struct target {
    struct amp_gradient_reader *reader;
    uint32_t node;
    const char *name;
};

static void set_ints(const struct target *target, const int64_t *ints, size_t count)
{
    struct amp_model *model = target->reader->derivation->model;
    amp_node_set_attr(
        model, target->node,
        (struct amp_attr){.name = target->name,
                          .type = AMP_ATTR_INTS,
                          .count = count,
                          .ints = amp_arena_memdup(model->arena, ints, count * sizeof *ints)});
}

static bool set_float(const struct target *target)
{
    struct amp_model *model = target->reader->derivation->model;
    char its[AMP_GRADIENT_NAME];
    amp_gradient_read_name(target->reader, its);
    float value = amp_gradient_float(amp_gradient_node(target->reader), its);
    amp_node_set_attr(
        model, target->node,
        (struct amp_attr){.name = target->name,
                          .type = AMP_ATTR_FLOAT,
                          .count = 1,
                          .floats = amp_arena_memdup(model->arena, &value, sizeof value)});
    return true;
}

/* What is no permutation is left as it is: the node itself is refused then. */
static bool set_inverse(const struct target *target)
{
    int64_t inverse[AMP_GRADIENT_ITEMS];
    char its[AMP_GRADIENT_NAME];
    size_t count;
    amp_gradient_read_name(target->reader, its);
    const int64_t *ints = amp_node_ints(amp_gradient_node(target->reader), its, &count);
    if (ints == NULL)
        return true;
    if (count > AMP_GRADIENT_ITEMS)
        return false;
    memcpy(inverse, ints, count * sizeof *ints);
    for (size_t i = 0; i < count; i++)
        if ((uint64_t)ints[i] < count)
            inverse[ints[i]] = (int64_t)i;
    set_ints(target, inverse, count);
    return true;
}

static bool set_swap(const struct target *target)
{
    int64_t axes[AMP_GRADIENT_ITEMS];
    int rank = rank_of(target->reader, *target->reader->at++);
    for (int i = 0; i < rank; i++)
        axes[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    if (rank >= 0)
        set_ints(target, axes, (size_t)rank);
    return rank >= 0;
}

static bool set_copy(const struct target *target)
{
    char its[AMP_GRADIENT_NAME];
    amp_gradient_read_name(target->reader, its);
    const struct amp_attr *attr = amp_node_attr(amp_gradient_node(target->reader), its);
    if (attr == NULL)
        return true;
    struct amp_attr copy = *attr;
    copy.name = target->name;
    amp_node_set_attr(target->reader->derivation->model, target->node, copy);
    return true;
}

static bool set_int(const struct target *target, int64_t value)
{
    amp_node_set_int(target->reader->derivation->model, target->node, target->name, value);
    return true;
}

static bool set_flag(const struct target *target, bool is_negated)
{
    char its[AMP_GRADIENT_NAME];
    amp_gradient_read_name(target->reader, its);
    return set_int(target, (amp_gradient_int(amp_gradient_node(target->reader), its, 0) != 0) !=
                               is_negated);
}

static bool set_list(const struct target *target)
{
    int64_t ints[AMP_GRADIENT_ITEMS];
    int count = amp_gradient_items(target->reader, ints);
    if (count >= 0)
        set_ints(target, ints, (size_t)count);
    return count >= 0;
}

static bool set_text(const struct target *target, const char *word)
{
    struct amp_model *model = target->reader->derivation->model;
    struct amp_str *text = amp_arena_alloc(model->arena, sizeof *text);
    *text = (struct amp_str){.data = amp_arena_strdup(model->arena, word), .size = strlen(word)};
    amp_node_set_attr(
        model, target->node,
        (struct amp_attr){
            .name = target->name, .type = AMP_ATTR_STRING, .count = 1, .strings = text});
    return true;
}

static bool set_word(const struct target *target)
{
    char word[AMP_GRADIENT_NAME];
    amp_gradient_read_name(target->reader, word);
    return set_text(target, word);
}

enum { EQUATION = 512, TERMS = 8 };

struct terms {
    char text[EQUATION]; /* without spaces, a term behind the other */
    const char *operands[TERMS];
    uint32_t count;
    char output[EQUATION];
};

/* Without an arrow the output has the ellipsis, then the indices that stand once, in their order.
 */
static void imply_output(struct terms *terms)
{
    char *to = terms->output;
    int counts[256] = {0};
    for (uint32_t i = 0; i < terms->count; i++)
        for (const char *c = terms->operands[i]; *c != '\0'; c++)
            counts[(unsigned char)*c]++;
    if (counts['.'] > 0)
        to += sprintf(to, "...");
    for (int c = 'A'; c <= 'z'; c++)
        if (isalpha(c) && counts[c] == 1)
            *to++ = (char)c;
    *to = '\0';
}

static bool read_terms(const char *equation, struct terms *terms)
{
    char *to = terms->text;
    if (strlen(equation) >= EQUATION)
        return false;
    for (const char *c = equation; *c != '\0'; c++)
        if (*c != ' ')
            *to++ = *c;
    *to = '\0';
    char *arrow = strstr(terms->text, "->");
    if (arrow != NULL)
        *arrow = '\0';
    terms->operands[terms->count++] = terms->text;
    for (char *comma = terms->text; (comma = strchr(comma, ',')) != NULL;) {
        if (terms->count == TERMS)
            return false;
        *comma++ = '\0';
        terms->operands[terms->count++] = comma;
    }
    if (arrow != NULL)
        memcpy(terms->output, arrow + 2, strlen(arrow + 2) + 1);
    else
        imply_output(terms);
    return true;
}

/* Whether each index of operand I stands in it once, and in another term. */
static bool is_swappable(const struct terms *terms, uint32_t i)
{
    for (const char *c = terms->operands[i]; *c != '\0'; c++) {
        bool is_elsewhere = strchr(terms->output, *c) != NULL;
        for (uint32_t k = 0; k < terms->count; k++)
            is_elsewhere |= k != i && strchr(terms->operands[k], *c) != NULL;
        if (!is_elsewhere || (*c != '.' && strchr(c + 1, *c) != NULL))
            return false;
    }
    return true;
}

/* Writes to SWAPPED the equation of the gradient of operand I of an Einsum (ONNX Einsum-12, which
   has NumPy's) of EQUATION, whose operands are the gradient of the output, then the others in their
   order. False where no equation is: an index that stands in nothing else or twice in the operand,
   or a text that is too long. Whether it fits the operands the operator itself says. */
static bool swap_operand(const char *equation, uint32_t i, char swapped[EQUATION])
{
    struct terms terms = {.count = 0};
    if (!read_terms(equation, &terms) || i >= terms.count || !is_swappable(&terms, i))
        return false;
    size_t size = EQUATION;
    size_t length = (size_t)snprintf(swapped, size, "%s", terms.output);
    for (uint32_t k = 0; k < terms.count && length < size; k++)
        if (k != i)
            length += (size_t)snprintf(swapped + length, size - length, ",%s", terms.operands[k]);
    if (length < size)
        length += (size_t)snprintf(swapped + length, size - length, "->%s", terms.operands[i]);
    return length < size;
}

/* The equation of the derivative by the input. */
static bool set_swapped(const struct target *target)
{
    char its[AMP_GRADIENT_NAME], swapped[EQUATION];
    amp_gradient_read_name(target->reader, its);
    const char *equation = amp_node_string(amp_gradient_node(target->reader), its, "");
    return swap_operand(equation, target->reader->derivation->input, swapped) &&
           set_text(target, swapped);
}

bool amp_gradient_read_attr(struct amp_gradient_reader *reader, uint32_t node)
{
    char text[AMP_GRADIENT_NAME];
    amp_gradient_read_name(reader, text);
    const struct target target = {reader, node,
                                  amp_arena_strdup(reader->derivation->model->arena, text)};
    amp_gradient_take(reader, '=');
    switch (*reader->at++) {
    case '$':
        return set_float(&target);
    case '~':
        return set_inverse(&target);
    case '^':
        return set_swap(&target);
    case '*':
        return set_copy(&target);
    case '@':
        return set_flag(&target, false);
    case '!':
        return set_flag(&target, true);
    case '[':
        return set_list(&target);
    case '&':
        return set_swapped(&target);
    default:
        reader->at--;
        return isalpha((unsigned char)*reader->at) ? set_word(&target)
                                                   : set_int(&target, read_int(reader));
    }
}
