/* Writes folders of files as cases, the way back from expand.c. Each file is written in the
   notation of its kind when that gives its bytes again, or the bytes of a message with the same
   fields in another order; else as base85. Files that an earlier case of the same call has, too,
   are named and not repeated. */
#include "commands.h"

#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "anchor.h"
#include "archive.h"
#include "fields.h"
#include "model.h"
#include "onnx-data.pb-c.h"
#include "sample.h"

/* A file that was written. */
struct written {
    char *name; /* the case */
    char *path;
    struct buffer bytes;
};

struct printer {
    struct buffer *out;
    const char *name;        /* of the case */
    const char *prefix;      /* what its files' paths begin with */
    Onnx__ModelProto *model; /* the case's; NULL: none */
    struct written **written;
    size_t n_written;
    int n_reordered; /* files whose fields are packed in another order than they had */
};

/* ---- files as text ---- */

/* Whether TEXT's fields, packed, are those of the bytes, in whatever order these have them. */
static bool gives_model(const struct buffer *text, const struct buffer *bytes,
                        const ProtobufCMessage *message)
{
    struct lexer lexer = {"the text of a model", text->data, text->data + text->size, 1};
    bool is_function = message->descriptor == &onnx__function_proto__descriptor;
    ProtobufCMessage *again =
        is_function ? &read_function(&lexer)->base : &read_model(&lexer, NULL)->base;
    return are_equal(again, message) && protobuf_c_message_get_packed_size(message) == bytes->size;
}

/* A model or a function; false where its text would not give its fields again. */
static bool put_as(struct printer *printer, const ProtobufCMessageDescriptor *descriptor,
                   const struct buffer *bytes, struct buffer *text)
{
    ProtobufCMessage *message =
        protobuf_c_message_unpack(descriptor, NULL, bytes->size, (const uint8_t *)bytes->data);
    if (!message || !bytes->size) {
        return false;
    }
    if (descriptor == &onnx__model_proto__descriptor) {
        put_model(text, (const Onnx__ModelProto *)message);
    } else {
        put_function(text, (const Onnx__FunctionProto *)message);
    }
    if (!gives_model(text, bytes, message)) {
        fprintf(stderr, "case_tool: %s: a model as base85\n", printer->name);
        return false;
    }
    printer->n_reordered += !packs_to(message, bytes);
    return true;
}

/* The text of a file of one of the kinds that have a notation; false where it is of none or has
 * none. */
static bool put_notation(struct printer *printer, const char *path, const struct buffer *bytes,
                         struct buffer *text)
{
    if (has_ending(path, "onnx")) {
        return put_as(printer, &onnx__model_proto__descriptor, bytes, text);
    }
    if (has_ending(path, "function")) {
        return put_as(printer, &onnx__function_proto__descriptor, bytes, text);
    }
    if (has_ending(path, "pb")) {
        return put_sample(text, bytes, NULL);
    }
    return has_ending(path, "npy") && put_npy(text, bytes);
}

static bool has_notation(const char *path)
{
    return has_ending(path, "onnx") || has_ending(path, "function") || has_ending(path, "pb") ||
           has_ending(path, "npy");
}

static void put_base85_member(struct printer *printer, const char *path, const struct buffer *bytes)
{
    put(printer->out, "-- ");
    put(printer->out, path);
    put(printer->out, " base85\n");
    put_base85(printer->out, bytes->data, bytes->size);
}

/* Whether an earlier case has the file; then that is said. */
static bool put_same(struct printer *printer, const char *path, const struct buffer *bytes)
{
    for (size_t i = 0; bytes->size > 200 && i < printer->n_written; i++) {
        const struct written *written = printer->written[i];
        if (!strcmp(written->path, path) && is_same(&written->bytes, bytes)) {
            put(printer->out, "-- ");
            put(printer->out, path);
            put(printer->out, " same as ");
            put(printer->out, written->name);
            put(printer->out, "\n");
            return true;
        }
    }
    struct written *written = new_memory(sizeof *written);
    *written = (struct written){copy_bytes(printer->name, strlen(printer->name)),
                                copy_bytes(path, strlen(path)), *bytes};
    add_item(&printer->written, &printer->n_written, written);
    return false;
}

/* Whether the file is a link to that of the same path in a folder beside the case's; then that is
 * said. */
static bool put_link(struct printer *printer, const char *path)
{
    struct buffer full = {0};
    char to[512] = "";
    put(&full, printer->prefix);
    put(&full, path);
    ssize_t size = readlink(full.data, to, sizeof to - 1), end = size - (ssize_t)strlen(path) - 1;
    bool is_link =
        end > 3 && !strncmp(to, "../", 3) && to[end] == '/' && !strcmp(to + end + 1, path);
    if (is_link) {
        put_format(printer->out, "-- %s link to %.*s\n", path, (int)end - 3, to + 3);
    }
    free(full.data);
    return is_link;
}

static void put_member(struct printer *printer, const char *path, const struct buffer *bytes)
{
    struct buffer text = {0};
    if (put_link(printer, path)) {
        return;
    }
    if (!has_notation(path)) {
        put_file_member(printer->out, path, bytes, false);
    } else if (!put_same(printer, path, bytes)) {
        if (put_notation(printer, path, bytes, &text)) {
            put(printer->out, "-- ");
            put(printer->out, path);
            put(printer->out, "\n");
            put_bytes(printer->out, text.data, text.size);
        } else {
            put_base85_member(printer, path, bytes);
        }
    }
    free(text.data);
}

/* ---- samples ---- */

/* The type of the input or output NUMBER of the case's model. */
static const Onnx__TypeProto *get_type(const struct printer *printer, bool is_input, size_t number)
{
    const Onnx__GraphProto *graph = printer->model ? printer->model->graph : NULL;
    if (!graph || number >= (is_input ? graph->n_input : graph->n_output)) {
        return NULL;
    }
    return (is_input ? graph->input : graph->output)[number]->type;
}

/* Whether the path is of a sample in a folder of them; its parts go to FOLDER (its size), IS_INPUT
 * and NUMBER. */
static bool is_sample(const char *path, size_t *folder, bool *is_input, unsigned *number)
{
    const char *slash = strrchr(path, '/');
    int end = 0;
    *folder = slash ? (size_t)(slash + 1 - path) : 0;
    *is_input = slash && sscanf(slash, "/input_%u.pb%n", number, &end) == 1 && end && !slash[end];
    return *is_input ||
           (slash && sscanf(slash, "/output_%u.pb%n", number, &end) == 1 && end && !slash[end]);
}

/* All samples of the folder that PATHS[0] is in; returns how many of the paths they are. */
static size_t put_samples(struct printer *printer, char **paths, size_t n, const char *prefix)
{
    size_t folder, other, i = 0;
    bool is_input;
    unsigned number;
    is_sample(paths[0], &folder, &is_input, &number);
    put_format(printer->out, "-- %.*s\n", (int)folder, paths[0]);
    for (; i < n && is_sample(paths[i], &other, &is_input, &number) && other == folder &&
           !strncmp(paths[i], paths[0], folder);
         i++) {
        struct buffer path = {0}, bytes = {0};
        put(&path, prefix);
        put(&path, paths[i]);
        read_file(path.data, &bytes);
        put_format(printer->out, "%s %u ", is_input ? "input" : "output", number);
        size_t size = printer->out->size;
        if (!put_sample(printer->out, &bytes, get_type(printer, is_input, number))) {
            printer->out->size = size;
            put(printer->out, "base85 {\n");
            put_base85(printer->out, bytes.data, bytes.size);
            put(printer->out, "}\n");
        }
        free(path.data);
        free(bytes.data);
    }
    return i;
}

/* ---- folders ---- */

static void list_files(const char *folder, const char *below, char ***paths, size_t *n)
{
    struct buffer full = {0};
    put(&full, folder);
    put(&full, below);
    DIR *entries = opendir(full.data);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        struct buffer path = {0}, within = {0};
        struct stat info;
        put(&within, below);
        put(&within, entry->d_name);
        put(&path, folder);
        put(&path, within.data);
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || stat(path.data, &info)) {
            continue;
        }
        if (S_ISDIR(info.st_mode)) {
            put(&within, "/");
            list_files(folder, within.data, paths, n);
        } else {
            add_item(paths, n, within.data);
        }
    }
    if (entries) {
        closedir(entries);
    }
}

/* The files whose paths begin with PREFIX, which is no folder. */
static void list_beginning(const char *prefix, char ***paths, size_t *n)
{
    struct buffer pattern = {0};
    glob_t found;
    put(&pattern, prefix);
    put(&pattern, "*");
    if (!glob(pattern.data, 0, NULL, &found)) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            add_item(paths, n,
                     copy_bytes(found.gl_pathv[i] + strlen(prefix),
                                strlen(found.gl_pathv[i] + strlen(prefix))));
        }
    }
}

/* Where a member stands in its case: what was given, then files, then what is expected. */
static int get_rank(const char *path)
{
    static const char *const order[] = {"args",       "refused", "exit",   "setup", "rules.yaml",
                                        "model.onnx", "",        "stdout", "stderr"};
    for (int i = 0; i < (int)(sizeof order / sizeof *order); i++) {
        if (!strcmp(path, order[i])) {
            return i;
        }
    }
    return 6;
}

static int compare_paths(const void *a, const void *b)
{
    const char *one = *(char *const *)a, *other = *(char *const *)b;
    int ranks = get_rank(one) - get_rank(other);
    return ranks ? ranks : strverscmp(one, other);
}

static void put_about(struct printer *printer, const struct buffer *about)
{
    struct buffer text = {0};
    put_bytes(&text, about->data, about->size);
    char *left = NULL;
    for (char *line = text.data ? strtok_r(text.data, "\n", &left) : NULL; line;
         line = strtok_r(NULL, "\n", &left)) {
        put(printer->out, "# ");
        put(printer->out, line);
        put(printer->out, "\n");
    }
    put(printer->out, text.size ? "" : "# \n");
    free(text.data);
}

static void read_below(const char *prefix, const char *path, struct buffer *bytes)
{
    struct buffer full = {0};
    put(&full, prefix);
    put(&full, path);
    bytes->size = 0;
    *bytes = (struct buffer){0};
    if (!read_file(full.data, bytes)) {
        *bytes = (struct buffer){0};
    }
    free(full.data);
}

static bool is_about(const char *path)
{
    return !strcmp(path, "about") || !strcmp(path, ".gitkeep");
}

static void load_model(struct printer *printer)
{
    struct buffer bytes;
    read_below(printer->prefix, "model.onnx", &bytes);
    printer->model =
        bytes.size ? onnx__model_proto__unpack(NULL, bytes.size, (uint8_t *)bytes.data) : NULL;
}

/* Members: those on a line first, as nothing tells them from the lines of another behind it. */
static void put_members(struct printer *printer, char **paths, size_t n)
{
    struct buffer bytes;
    for (size_t i = 0; i < n; i++) {
        read_below(printer->prefix, paths[i], &bytes);
        if (!is_about(paths[i]) && !has_notation(paths[i]) && fits_line(&bytes)) {
            put_file_member(printer->out, paths[i], &bytes, false);
        }
    }
    for (size_t i = 0; i < n;) {
        size_t folder;
        bool is_input;
        unsigned number;
        read_below(printer->prefix, paths[i], &bytes);
        if (is_sample(paths[i], &folder, &is_input, &number)) {
            i += put_samples(printer, paths + i, n - i, printer->prefix);
            continue;
        }
        if (!is_about(paths[i]) && (has_notation(paths[i]) || !fits_line(&bytes))) {
            put_member(printer, paths[i], &bytes);
        }
        i++;
    }
}

/* The case's name: the last part of a path, without what ends a prefix. */
static char *get_name(const char *path)
{
    size_t size = strlen(path);
    while (size && strchr("/.", path[size - 1])) {
        size--;
    }
    size_t begin = size;
    while (begin && path[begin - 1] != '/') {
        begin--;
    }
    return copy_bytes(path + begin, size - begin);
}

static void put_case(struct printer *printer, const char *path)
{
    struct stat info;
    struct buffer prefix = {0}, about;
    char **paths = NULL;
    size_t n = 0;
    put(&prefix, path);
    if (!stat(path, &info) && S_ISDIR(info.st_mode)) {
        put(&prefix, path[strlen(path) - 1] == '/' ? "" : "/");
        list_files(prefix.data, "", &paths, &n);
    } else {
        list_beginning(path, &paths, &n);
    }
    if (!n) {
        die("%s: no files", path);
    }
    qsort(paths, n, sizeof *paths, compare_paths);
    printer->name = get_name(path);
    printer->prefix = prefix.data;
    load_model(printer);
    read_below(prefix.data, "about", &about);
    put(printer->out, printer->out->size ? "\n== " : "== ");
    put(printer->out, printer->name);
    put(printer->out, "\n");
    put_about(printer, &about);
    put_members(printer, paths, n);
}

void put_cases(struct buffer *buffer, char **paths, int n)
{
    struct buffer first = {0};
    struct printer counter = {.out = &first}, printer = {.out = buffer};
    for (int i = 0; i < n; i++) {
        put_case(&counter, paths[i]);
    }
    name_anchors();
    for (int i = 0; i < n; i++) {
        put_case(&printer, paths[i]);
    }
    if (printer.n_reordered) {
        fprintf(stderr,
                "case_tool: %d models have their fields in another order than they are packed in\n",
                printer.n_reordered);
    }
}

void put_file(struct buffer *buffer, const char *path)
{
    struct printer printer = {.out = buffer, .name = path};
    struct buffer bytes = {0};
    if (!read_file(path, &bytes)) {
        die("%s: cannot be read", path);
    }
    if (!put_notation(&printer, path, &bytes, buffer)) {
        die("%s: has no text that would give its bytes again", path);
    }
}
