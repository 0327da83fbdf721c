/*
 * Lists of operators: takes a text file with a name per line, gives the operators. What a name
 * stands for is op_name.c's matter.
 */
#include "autocast/rules/op_list.h"

#include "autocast/rules/op_name.h"
#include "core/arena.h"
#include "core/file/input.h"

#include <string.h>

enum { LIST_BYTES_MAX = 1 << 20, LIST_MAX = 10000 /* operators in it */ };

static const char BLANKS[] = " \t\r\f\v";

/* Cuts the comment and the blanks off LINE; what is left may be empty. */
static char *trim(char *line)
{
    line[strcspn(line, "#")] = '\0';
    line += strspn(line, BLANKS);
    size_t length = strlen(line);
    while (length > 0 && strchr(BLANKS, line[length - 1]) != NULL)
        length--;
    line[length] = '\0';
    return line;
}

/* A list that is being read. */
struct reading {
    struct amp_rules *rules;
    const char *label;
    struct amp_op_list *list;
    int n_words;
};

/* Adds WORD to the text that names those that are no operators. */
static void note_unknown(struct reading *reading, const char *word, int line)
{
    struct amp_op_list *list = reading->list;
    if (++list->n_unknown > AMP_OP_LIST_NAMED)
        return;
    const char *before =
        list->unknown == NULL ? "" : amp_arena_printf(reading->rules->arena, "%s, ", list->unknown);
    list->unknown =
        amp_arena_printf(reading->rules->arena, "%s'%.60s' (line %d)", before, word, line);
}

static enum amp_status add_word(struct reading *reading, const char *word, int line,
                                struct amp_error *err)
{
    const char *problem;
    if (++reading->n_words > LIST_MAX)
        return amp_fail(err, AMP_RULES, "%s:%d: too many operators; accepted: a list of %d at most",
                        reading->label, line, LIST_MAX);
    AMP_TRY(amp_op_name_resolve(reading->rules, (struct amp_op_name){word, line},
                                &reading->list->ops, &problem, err));
    if (problem != NULL && !reading->list->keeps_unknown)
        return amp_fail(err, AMP_RULES, "%s:%d: %s", reading->label, line, problem);
    if (problem != NULL)
        note_unknown(reading, word, line);
    return AMP_OK;
}

/* Adds the operators that the lines of TEXT name, which is cut into lines. */
static enum amp_status add_lines(struct reading *reading, char *text, struct amp_error *err)
{
    int line = 1;
    for (char *at = text, *next; at != NULL; at = next, line++) {
        next = strchr(at, '\n');
        if (next != NULL)
            *next++ = '\0';
        char *word = trim(at);
        if (*word != '\0')
            AMP_TRY(add_word(reading, word, line, err));
    }
    return AMP_OK;
}

static enum amp_status check_text(const struct amp_bytes *bytes, const char *label,
                                  struct amp_error *err)
{
    if (bytes->size > LIST_BYTES_MAX)
        return amp_fail(err, AMP_RULES,
                        "%s: %zu bytes; accepted: a list of operators of at most %d", label,
                        bytes->size, LIST_BYTES_MAX);
    if (bytes->size > 0 && memchr(bytes->data, '\0', bytes->size) != NULL)
        return amp_fail(err, AMP_RULES, "%s: not a text; accepted: a name of an operator per line",
                        label);
    return AMP_OK;
}

enum amp_status amp_op_list_read(struct amp_rules *rules, const char *path,
                                 struct amp_op_list *list, struct amp_error *err)
{
    static const struct amp_stream stream = {.size_max = LIST_BYTES_MAX};
    struct amp_bytes bytes;
    struct reading reading = {rules, amp_arena_strdup(rules->arena, path), list, 0};
    AMP_TRY(amp_bytes_open_stream(&bytes, path, &stream, err));
    enum amp_status status = check_text(&bytes, reading.label, err);
    if (status == AMP_OK) {
        char *text = amp_arena_strndup(rules->arena, (const char *)bytes.data, bytes.size);
        status = add_lines(&reading, text, err);
    }
    amp_bytes_close(&bytes);
    list->source = (struct amp_rule_source){reading.label, 1, 1};
    return status;
}
