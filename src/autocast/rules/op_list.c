/*
 * Lists of operators: takes a text file with a name per line, gives rules of one precision. What a
 * name stands for is op_name.c's matter.
 */
#include "autocast/rules/op_list.h"

#include "autocast/rules/rules.h"
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

static enum amp_status add_line(struct amp_rules *rules, const char *word,
                                enum amp_precision precision, struct amp_rule_source source,
                                struct amp_error *err)
{
    struct amp_error problem = {.status = AMP_OK};
    enum amp_status status = amp_rules_add_op(rules, word, precision, source, &problem);
    if (status == AMP_USAGE)
        return amp_fail(err, AMP_RULES, "%s:%d: %s", source.file, source.line, problem.text);
    return status == AMP_OK ? AMP_OK : amp_error_copy(err, &problem);
}

/* Adds a rule for each line of TEXT, which is cut into lines. */
static enum amp_status add_lines(struct amp_rules *rules, char *text, const char *label,
                                 enum amp_precision precision, struct amp_error *err)
{
    int line = 1, n_words = 0;
    for (char *at = text, *next; at != NULL; at = next, line++) {
        next = strchr(at, '\n');
        if (next != NULL)
            *next++ = '\0';
        char *word = trim(at);
        if (*word != '\0' && ++n_words > LIST_MAX)
            return amp_fail(err, AMP_RULES,
                            "%s:%d: too many operators; accepted: a list of %d at most", label,
                            line, LIST_MAX);
        if (*word != '\0')
            AMP_TRY(
                add_line(rules, word, precision, (struct amp_rule_source){label, line, 1}, err));
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

enum amp_status amp_rules_load_op_list(struct amp_rules *rules, const char *path,
                                       enum amp_precision precision, struct amp_error *err)
{
    static const struct amp_stream stream = {.size_max = LIST_BYTES_MAX};
    struct amp_bytes bytes;
    char *label = amp_arena_strdup(rules->arena, path);
    AMP_TRY(amp_bytes_open_stream(&bytes, path, &stream, err));
    enum amp_status status = check_text(&bytes, label, err);
    if (status == AMP_OK) {
        char *text = amp_arena_strndup(rules->arena, (const char *)bytes.data, bytes.size);
        status = add_lines(rules, text, label, precision, err);
    }
    amp_bytes_close(&bytes);
    return status;
}
