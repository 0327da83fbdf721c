/*
 * The log of a search: takes trials, gives lines of JSON, and back. Lines are appended each with
 * one write; whoever has the log open holds a lock on it, so that no two searches mix theirs.
 */
#include "tune/trial_log.h"

#include "core/array.h"
#include "core/file/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <jansson.h>

enum { VERSION = 1 };

static const char version_key[] = "ampconv-tune-log", infinite[] = "infinite",
                  preview_key[] = "preview";

static const char *const verdicts[] = {
    [AMP_TRIAL_MET] = "met", [AMP_TRIAL_MISSED] = "missed", [AMP_TRIAL_UNSURE] = "unsure"};

struct amp_trial_log {
    const char *path;
    int file;
    size_t n_units;
    const struct amp_problem *problem; /* what it says of that, but for the units' names; NULL:
                                          nothing */
    struct amp_trial *entries;         /* as read; of equal candidates the first counts */
    size_t count, capacity;
    struct amp_arena *arena;
};

/* Numbers that came of a trial. */
static const struct field {
    const char *key;
    size_t offset;
    bool is_magnitude; /* not below 0 */
} fields[] = {
    {"measured", offsetof(struct amp_trial, measured), true},
    {"score", offsetof(struct amp_trial, score), false},
    {"seconds", offsetof(struct amp_trial, seconds), true},
};

/* ---- writing --------------------------------------------------------------------------------- */

static json_t *number_of(double number)
{
    if (isnan(number))
        return json_null();
    if (isinf(number))
        return json_string(number < 0 ? "-infinite" : infinite);
    return json_real(number);
}

/* [[0, 3], [7, 7]]: the first and the last of units in a row that are kept. */
static json_t *ranges_of(const bool *keeps, size_t n)
{
    json_t *ranges = json_array();
    for (size_t i = 0; i < n; i++) {
        size_t first = i;
        while (i < n && keeps[i])
            i++;
        if (i > first)
            json_array_append_new(ranges,
                                  json_pack("[I, I]", (json_int_t)first, (json_int_t)(i - 1)));
    }
    return ranges;
}

static json_t *text_of(const char *text)
{
    json_t *string = json_string(text);
    return string != NULL ? string : json_string("(not UTF-8)");
}

static json_t *line_of(const struct amp_trial *trial, size_t n_units)
{
    const unsigned char *bytes = (const unsigned char *)trial;
    json_t *line = json_object();
    json_object_set_new(line, trial->is_preview ? preview_key : "trial",
                        json_integer((json_int_t)trial->number));
    json_object_set_new(line, "phase", text_of(trial->phase));
    json_object_set_new(line, "kept", ranges_of(trial->keeps, n_units));
    json_object_set_new(line, "loss", number_of(trial->loss));
    json_object_set_new(line, "power", number_of(trial->power));
    json_object_set_new(line, "verdict", json_string(verdicts[trial->verdict]));
    for (size_t i = 0; i < AMP_COUNT(fields); i++)
        json_object_set_new(line, fields[i].key,
                            number_of(*(const double *)(const void *)(bytes + fields[i].offset)));
    json_object_set_new(line, "reason", text_of(trial->reason));
    return line;
}

/* LINE as the text that stands in the file, to be freed; drops the reference. */
static char *dump(json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17));
    json_decref(line);
    if (text == NULL)
        return NULL;
    size_t length = strlen(text);
    text = amp_xrealloc(text, length + 2, 1);
    memcpy(text + length, "\n", 2);
    return text;
}

static json_t *pair_of(uint32_t a, uint32_t b, double number)
{
    return json_pack("[I, I, o]", (json_int_t)a, (json_int_t)b, number_of(number));
}

static json_t *edges_of(const struct amp_problem *problem)
{
    json_t *list = json_array();
    for (size_t i = 0; i < problem->n_edges; i++) {
        const struct amp_problem_edge *edge = &problem->edges[i];
        json_array_append_new(list, pair_of(edge->a, edge->b, edge->cost));
    }
    return list;
}

static json_t *noises_of(const struct amp_problem *problem)
{
    json_t *list = json_array();
    for (size_t i = 0; i < problem->n_noises; i++) {
        const struct amp_problem_noise *noise = &problem->noises[i];
        json_array_append_new(list, pair_of(noise->a, noise->b, noise->power));
    }
    return list;
}

static json_t *line_of_problem(const struct amp_problem *problem)
{
    json_t *line = json_object(), *losses = json_array();
    for (size_t u = 0; u < problem->n_units; u++)
        json_array_append_new(losses, number_of(problem->units[u].loss));
    json_object_set_new(line, "losses", losses);
    json_object_set_new(line, "noises", noises_of(problem));
    json_object_set_new(line, "edges", edges_of(problem));
    json_object_set_new(line, "floor", number_of(problem->floor));
    json_object_set_new(line, "base", number_of(problem->base));
    json_object_set_new(line, "origin", text_of(problem->origin != NULL ? problem->origin : ""));
    return line;
}

static enum amp_status write_line(const struct amp_trial_log *log, json_t *line,
                                  struct amp_error *err)
{
    char *text = dump(line);
    if (text == NULL)
        return amp_fail(err, AMP_IO, "%s: out of memory", log->path);
    size_t done = 0, length = strlen(text);
    while (done < length) {
        ssize_t n = write(log->file, text + done, length - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    free(text);
    if (done < length)
        return amp_fail(err, AMP_IO, "%s: cannot write: %s", log->path, strerror(errno));
    return AMP_OK;
}

enum amp_status amp_trial_log_append(struct amp_trial_log *log, const struct amp_trial *trial,
                                     struct amp_error *err)
{
    return write_line(log, line_of(trial, log->n_units), err);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A line at hand. */
struct reader {
    struct amp_trial_log *log;
    size_t line; /* from 1 */
    struct amp_error *err;
};

/* "t.jsonl:3: verdict: "yes"; accepted: ..." */
static enum amp_status refuse(const struct reader *reader, const char *key, const json_t *value,
                              const char *accepted)
{
    char *text = value == NULL
                     ? NULL
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);
    enum amp_status status =
        amp_fail(reader->err, AMP_USAGE, "%s:%zu: %s: %.60s; accepted: %s", reader->log->path,
                 reader->line, key, text == NULL ? "nothing" : text, accepted);
    free(text);
    return status;
}

static enum amp_status read_number(const struct reader *reader, const json_t *line,
                                   const struct field *field, struct amp_trial *trial)
{
    const json_t *value = json_object_get(line, field->key);
    const char *text = json_string_value(value);
    double number = NAN;
    bool is_infinite = text != NULL && strcmp(text + (*text == '-'), infinite) == 0;
    if (is_infinite)
        number = *text == '-' ? -INFINITY : INFINITY;
    else if (json_is_number(value))
        number = json_number_value(value);
    if ((isnan(number) && !json_is_null(value)) || (field->is_magnitude && number < 0))
        return refuse(reader, field->key, value,
                      field->is_magnitude ? "a number, 0 or more, null or \"infinite\""
                                          : "a number, null, \"infinite\" or \"-infinite\"");
    *(double *)(void *)((unsigned char *)trial + field->offset) = number;
    return AMP_OK;
}

static enum amp_status read_kept(const struct reader *reader, const json_t *line,
                                 struct amp_trial *trial)
{
    static const char accepted[] = "the first and last units of ranges, in their order";
    const json_t *ranges = json_object_get(line, "kept");
    json_int_t next = 0, n = (json_int_t)reader->log->n_units;
    if (!json_is_array(ranges))
        return refuse(reader, "kept", ranges, accepted);
    for (size_t i = 0; i < json_array_size(ranges); i++) {
        const json_t *range = json_array_get(ranges, i);
        const json_t *from = json_array_get(range, 0), *to = json_array_get(range, 1);
        json_int_t first = json_integer_value(from), last = json_integer_value(to);
        if (json_array_size(range) != 2 || !json_is_integer(from) || !json_is_integer(to) ||
            first < next || last < first || last >= n)
            return refuse(reader, "kept", range, accepted);
        memset(trial->keeps + first, true, (size_t)(last - first + 1) * sizeof *trial->keeps);
        next = last + 1;
    }
    return AMP_OK;
}

static enum amp_status read_verdict(const struct reader *reader, const json_t *line,
                                    struct amp_trial *trial)
{
    const json_t *value = json_object_get(line, "verdict");
    for (size_t i = AMP_TRIAL_MET; i < AMP_COUNT(verdicts) && json_is_string(value); i++)
        if (strcmp(json_string_value(value), verdicts[i]) == 0)
            trial->verdict = (enum amp_trial_verdict)i;
    if (trial->verdict == AMP_TRIAL_NONE)
        return refuse(reader, "verdict", value, "\"met\", \"missed\" or \"unsure\"");
    return AMP_OK;
}

static enum amp_status read_trial(const struct reader *reader, const json_t *line)
{
    struct amp_trial_log *log = reader->log;
    const json_t *reason = json_object_get(line, "reason");
    struct amp_trial *trial =
        amp_arena_push(log->arena, &log->entries, &log->count, &log->capacity, sizeof *trial);
    trial->keeps = amp_arena_array(log->arena, log->n_units, sizeof *trial->keeps);
    trial->is_preview = json_object_get(line, preview_key) != NULL;
    AMP_TRY(read_kept(reader, line, trial));
    AMP_TRY(read_verdict(reader, line, trial));
    for (size_t i = 0; i < AMP_COUNT(fields); i++)
        AMP_TRY(read_number(reader, line, &fields[i], trial));
    if (!json_is_string(reason))
        return refuse(reader, "reason", reason, "a text");
    snprintf(trial->reason, sizeof trial->reason, "%s", json_string_value(reason));
    trial->hash = amp_problem_hash(trial->keeps, log->n_units);
    return AMP_OK;
}

/* Reads one [a, b, number] of LIST under KEY. */
static enum amp_status read_pair(const struct reader *reader, const char *key, const json_t *pair,
                                 struct amp_problem_edge *edge)
{
    json_int_t n = (json_int_t)reader->log->n_units;
    json_int_t a = json_integer_value(json_array_get(pair, 0)),
               b = json_integer_value(json_array_get(pair, 1));
    const json_t *number = json_array_get(pair, 2);
    edge->cost = json_number_value(number);
    if (json_array_size(pair) != 3 || a < 0 || b < 0 || a >= n || b >= n ||
        !json_is_number(number) || !(edge->cost >= 0))
        return refuse(reader, key, pair, "two units and a number, 0 or more");
    edge->a = (uint32_t)a;
    edge->b = (uint32_t)b;
    return AMP_OK;
}

/* Reads the list under KEY into *EDGES, *COUNT of them. */
static enum amp_status read_pairs(const struct reader *reader, const json_t *line, const char *key,
                                  struct amp_problem_edge **edges, size_t *count)
{
    const json_t *list = json_object_get(line, key);
    if (!json_is_array(list))
        return refuse(reader, key, list, "a list");
    *count = json_array_size(list);
    *edges = amp_arena_array(reader->log->arena, *count, sizeof **edges);
    for (size_t i = 0; i < *count; i++)
        AMP_TRY(read_pair(reader, key, json_array_get(list, i), &(*edges)[i]));
    return AMP_OK;
}

static enum amp_status read_losses(const struct reader *reader, const json_t *line,
                                   struct amp_problem *problem)
{
    const json_t *losses = json_object_get(line, "losses");
    if (json_array_size(losses) != problem->n_units)
        return refuse(reader, "losses", losses, "a number for each unit");
    for (size_t u = 0; u < problem->n_units; u++) {
        const json_t *loss = json_array_get(losses, u);
        if (!json_is_number(loss))
            return refuse(reader, "losses", loss, "a number for each unit");
        problem->units[u].loss = json_number_value(loss);
    }
    return AMP_OK;
}

static enum amp_status read_noises(const struct reader *reader, const json_t *line,
                                   struct amp_problem *problem)
{
    struct amp_problem_edge *pairs;
    AMP_TRY(read_pairs(reader, line, "noises", &pairs, &problem->n_noises));
    problem->noises =
        amp_arena_array(reader->log->arena, problem->n_noises, sizeof *problem->noises);
    for (size_t i = 0; i < problem->n_noises; i++)
        problem->noises[i] = (struct amp_problem_noise){pairs[i].a, pairs[i].b, pairs[i].cost};
    return AMP_OK;
}

static enum amp_status read_problem(const struct reader *reader, const json_t *line)
{
    struct amp_trial_log *log = reader->log;
    struct amp_problem *problem = amp_arena_alloc(log->arena, sizeof *problem);
    const json_t *origin = json_object_get(line, "origin");
    problem->n_units = log->n_units;
    problem->units = amp_arena_array(log->arena, log->n_units, sizeof *problem->units);
    AMP_TRY(read_losses(reader, line, problem));
    AMP_TRY(read_noises(reader, line, problem));
    AMP_TRY(read_pairs(reader, line, "edges", &problem->edges, &problem->n_edges));
    problem->floor = json_number_value(json_object_get(line, "floor"));
    problem->base = json_number_value(json_object_get(line, "base"));
    if (!json_is_string(origin))
        return refuse(reader, "origin", origin, "a text");
    problem->origin = amp_arena_strdup(log->arena, json_string_value(origin));
    log->problem = problem;
    return AMP_OK;
}

/* The first line of the log of the search KEY. */
static json_t *head_of(uint64_t key, size_t n_units)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, key);
    json_t *head = json_object();
    json_object_set_new(head, version_key, json_integer(VERSION));
    json_object_set_new(head, "key", json_string(text));
    json_object_set_new(head, "units", json_integer((json_int_t)n_units));
    return head;
}

static enum amp_status read_head(const struct reader *reader, const json_t *line, json_t *head)
{
    const char *key;
    json_t *value;
    if (json_integer_value(json_object_get(line, version_key)) != VERSION)
        return refuse(reader, version_key, json_object_get(line, version_key),
                      "1, in a file that --tune-log wrote");
    json_object_foreach(
        head, key,
        value) if (!json_equal(json_object_get(line, key),
                               value)) return refuse(reader, key, json_object_get(line, key),
                                                     "the log of a search with this model, data, "
                                                     "criterion and settings");
    return AMP_OK;
}

/* Reads the line of LENGTH bytes at TEXT; the first is the HEAD. */
static enum amp_status read_line(const struct reader *reader, const char *text, size_t length,
                                 json_t *head)
{
    json_error_t problem;
    json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
    if (line == NULL)
        return amp_fail(reader->err, AMP_USAGE, "%s:%zu:%d: %s; accepted: a JSON object",
                        reader->log->path, reader->line, problem.column, problem.text);
    enum amp_status status = reader->line == 1 ? read_head(reader, line, head)
                             : json_object_get(line, "losses") != NULL ? read_problem(reader, line)
                                                                       : read_trial(reader, line);
    json_decref(line);
    return status;
}

/* Whether a head that was cut short can stand in the SIZE bytes at TEXT, none of which ends a
   line: whatever else does is no log, and must not be written over. */
static bool is_cut_head(const char *text, size_t size, json_t *head)
{
    char *whole = dump(json_incref(head));
    bool is_cut = whole != NULL && size < strlen(whole) && memcmp(whole, text, size) == 0;
    free(whole);
    return is_cut;
}

/* Reads the lines in BYTES; *SIZE gets how many bytes those take that are whole. */
static enum amp_status read_lines(struct reader *reader, const struct amp_bytes *bytes,
                                  json_t *head, size_t *size)
{
    const char *text = (const char *)bytes->data;
    const char *end;
    *size = 0;
    while (*size < bytes->size && (end = memchr(text + *size, '\n', bytes->size - *size)) != NULL) {
        reader->line++;
        AMP_TRY(read_line(reader, text + *size, (size_t)(end - text) - *size, head));
        *size = (size_t)(end - text) + 1;
    }
    if (*size == 0 && bytes->size > 0 && !is_cut_head(text, bytes->size, head))
        return amp_fail(reader->err, AMP_USAGE, "%s: no log of a search; accepted: one, or no file",
                        reader->log->path);
    return AMP_OK;
}

/* ---- the file -------------------------------------------------------------------------------- */

static enum amp_status open_file(struct amp_trial_log *log, struct amp_error *err)
{
    if (access(log->path, F_OK) == 0)
        AMP_TRY(amp_file_check(log->path, err));
    log->file = open(log->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (log->file < 0)
        return amp_fail(err, AMP_IO, "%s: cannot open: %s", log->path, strerror(errno));
    if (flock(log->file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return amp_fail(err, AMP_IO, "%s: another search writes this log", log->path);
    return AMP_OK;
}

/* Reads the file, cuts off what is no whole line, and begins it with HEAD where it is empty. */
static enum amp_status take_up(struct amp_trial_log *log, json_t *head, struct amp_error *err)
{
    size_t size;
    struct amp_bytes bytes = {.data = NULL};
    struct reader reader = {.log = log, .err = err};
    AMP_TRY(open_file(log, err));
    AMP_TRY(amp_bytes_open(&bytes, log->path, err));
    enum amp_status status = read_lines(&reader, &bytes, head, &size);
    amp_bytes_close(&bytes);
    AMP_TRY(status);
    if (ftruncate(log->file, (off_t)size) != 0 || lseek(log->file, 0, SEEK_END) < 0)
        return amp_fail(err, AMP_IO, "%s: cannot write: %s", log->path, strerror(errno));
    return size > 0 ? AMP_OK : write_line(log, json_incref(head), err);
}

enum amp_status amp_trial_log_open(const struct amp_trials *trials, struct amp_trial_log **log,
                                   struct amp_error *err)
{
    json_t *head = head_of(trials->key, trials->problem->n_units);
    *log = amp_arena_alloc(trials->arena, sizeof **log);
    **log = (struct amp_trial_log){.path = trials->log_path,
                                   .file = -1,
                                   .n_units = trials->problem->n_units,
                                   .arena = trials->arena};
    enum amp_status status = take_up(*log, head, err);
    json_decref(head);
    if (status != AMP_OK) {
        amp_trial_log_close(*log);
        *log = NULL;
    }
    return status;
}

void amp_trial_log_close(struct amp_trial_log *log)
{
    if (log != NULL && log->file >= 0)
        close(log->file);
}

bool amp_trial_log_replay(const struct amp_trial_log *log, struct amp_trial *trial)
{
    for (size_t i = 0; i < log->count; i++) {
        const struct amp_trial *entry = &log->entries[i];
        if (entry->hash != trial->hash || entry->is_preview != trial->is_preview ||
            memcmp(entry->keeps, trial->keeps, log->n_units * sizeof *entry->keeps) != 0)
            continue;
        trial->verdict = entry->verdict;
        trial->measured = entry->measured;
        trial->score = entry->score;
        trial->seconds = entry->seconds;
        memcpy(trial->reason, entry->reason, sizeof trial->reason);
        return true;
    }
    return false;
}

bool amp_trial_log_recall(const struct amp_trial_log *log, struct amp_problem *problem)
{
    const struct amp_problem *known = log->problem;
    if (known == NULL)
        return false;
    for (size_t u = 0; u < problem->n_units; u++)
        problem->units[u].loss = known->units[u].loss;
    problem->noises = known->noises;
    problem->n_noises = known->n_noises;
    problem->edges = known->edges;
    problem->n_edges = known->n_edges;
    problem->floor = known->floor;
    problem->base = known->base;
    problem->origin = known->origin;
    return true;
}

enum amp_status amp_trial_log_remember(struct amp_trial_log *log, const struct amp_problem *problem,
                                       struct amp_error *err)
{
    if (log->problem != NULL)
        return AMP_OK;
    log->problem = problem;
    return write_line(log, line_of_problem(problem), err);
}
