/* The .cases files: many small cases in one text.
     # what the family is about
     files: ops/conv/ *.       (without the blank) where members go; not there: STAGE/NAME/
     == <ir_version: 8>        a section: what models without fields have, up to the next section
     == NAME                   a case
     # what it is for
     args: m.onnx -q           a member on one line
     -- model.onnx             a member up to the next line that begins with "-- " or "== "; words
   behind the path: base85, tensor, packed (the text deflated, in base85), unended (no newline at
   its end), same as CASE, link to CASE A line of a member that begins like a header has a backslash
   in front. A blank line in front of a case belongs to no member. This file knows where cases and
   members stand; what members mean is expand.c's. */
#include "archive.h"

#include "planes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

/* The line at AT of the archive's text, without its newline. */
struct line {
    const char *text;
    size_t size;
    size_t next; /* where the next one begins */
};

static struct line get_line(const struct archive *archive, size_t at)
{
    const char *text = archive->text.data + at;
    const char *end = memchr(text, '\n', archive->text.size - at);
    size_t size = end ? (size_t)(end - text) : archive->text.size - at;
    return (struct line){text, size, at + size + (end != NULL)};
}

static bool begins(struct line line, const char *with)
{
    return line.size >= strlen(with) && !memcmp(line.text, with, strlen(with));
}

static bool is_header(struct line line)
{
    return begins(line, "-- ") || begins(line, "== ");
}

/* How many backslashes stand in front of what looks like a header; -1: it does not. */
static int count_marks(struct line line)
{
    size_t n = 0;
    while (n < line.size && line.text[n] == '\\') {
        n++;
    }
    struct line rest = {line.text + n, line.size - n, 0};
    return is_header(rest) ? (int)n : -1;
}

__attribute__((noreturn)) static void fail_on(const struct archive *archive, int line,
                                              const char *what)
{
    die("%s:%d: %s", archive->path, line, what);
}

/* ---- reading ---- */

/* Where the archive's text is read. */
struct reader {
    struct archive *archive;
    size_t at;
    int line;
    const struct lexer *fields; /* of the section; NULL: none */
};

/* `as CASE` or `to CASE`, the words left behind `same` or `link`. */
static void read_other(struct reader *reader, struct member *member, char **left)
{
    const char *word = strtok_r(NULL, " ", left), *name = strtok_r(NULL, " ", left);
    if (!word || strcmp(word, member->form == FORM_SAME ? "as" : "to") || !name) {
        fail_on(reader->archive, reader->line,
                "the name is missing: `same as CASE`, `link to CASE`");
    }
    member->other = copy_bytes(name, strlen(name));
}

/* Words behind a member's path. */
static void read_words(struct reader *reader, struct member *member, char *words)
{
    char *left = NULL;
    for (char *word = strtok_r(words, " ", &left); word; word = strtok_r(NULL, " ", &left)) {
        if (!strcmp(word, "base85")) {
            member->form = FORM_BASE85;
        } else if (!strcmp(word, "tensor")) {
            member->form = FORM_TENSOR;
        } else if (!strcmp(word, "packed")) {
            member->is_packed = true;
        } else if (!strcmp(word, "unended")) {
            member->is_unended = true;
        } else if (!strcmp(word, "same") || !strcmp(word, "link")) {
            member->form = *word == 's' ? FORM_SAME : FORM_LINK;
            read_other(reader, member, &left);
        } else {
            fail_on(reader->archive, reader->line,
                    "unknown word behind a member's path; there are: base85 tensor packed unended "
                    "same link");
        }
    }
}

/* Makes the content of a packed MEMBER the text that it stands for. */
static void unpack(const struct reader *reader, struct member *member)
{
    struct buffer packed = {0}, text = {0};
    if (!put_from_base85(&packed, member->content, member->size) ||
        !put_from_deflated_text(&text, &packed)) {
        fail_on(reader->archive, member->line, "this is no packed text");
    }
    member->content = text.data;
    member->size = text.size;
}

/* A member of lines: from its header to the next one. */
static struct member *read_lines(struct reader *reader)
{
    struct member *member = new_memory(sizeof *member);
    struct line line = get_line(reader->archive, reader->at);
    char *head = copy_bytes(line.text + 3, line.size - 3), *space = strchr(head, ' ');
    if (space) {
        *space = 0;
        read_words(reader, member, space + 1);
    }
    member->path = head;
    member->begin = reader->at;
    reader->at = line.next;
    member->line = ++reader->line;
    size_t first = reader->at, end = first, before = first;
    while (reader->at < reader->archive->text.size) {
        line = get_line(reader->archive, reader->at);
        if (is_header(line)) {
            break;
        }
        before = reader->at;
        end = reader->at = line.next;
        reader->line++;
    }
    /* The blank line in front of the next case. */
    bool is_last = reader->at >= reader->archive->text.size || begins(line, "== ");
    if (is_last && end > before && reader->at < reader->archive->text.size &&
        reader->archive->text.data[before] == '\n') {
        end = before;
    }
    member->content = reader->archive->text.data + first;
    member->size = end - first;
    member->end = end;
    if (member->is_packed) {
        unpack(reader, member);
    }
    return member;
}

/* The size of the path in a line "PATH: content"; 0: it is none. */
static size_t get_path_size(struct line line)
{
    size_t n = 0;
    while (n < line.size &&
           (isalnum((unsigned char)line.text[n]) || strchr("_./-", line.text[n]))) {
        n++;
    }
    return n && n + 1 < line.size && line.text[n] == ':' && line.text[n + 1] == ' ' ? n : 0;
}

static struct member *read_line(struct reader *reader, struct line line, size_t path_size)
{
    struct member *member = new_memory(sizeof *member);
    member->path = copy_bytes(line.text, path_size);
    member->begin = reader->at;
    member->end = line.next;
    member->content = line.text + path_size + 2;
    member->size = line.next - reader->at - path_size - 2;
    member->line = reader->line;
    return member;
}

static void add_member(struct reader *reader, struct test_case *test, struct member *member)
{
    if (find_member(test, member->path)) {
        fail_on(reader->archive, member->line, "the case has this member twice");
    }
    member->fields = reader->fields;
    add_item(&test->members, &test->n_members, member);
    test->end = member->end;
}

/* A case from its header on. */
static void read_case(struct reader *reader)
{
    struct archive *archive = reader->archive;
    struct test_case *test = new_memory(sizeof *test);
    struct line line = get_line(archive, reader->at);
    test->name = copy_bytes(line.text + 3, line.size - 3);
    test->line = reader->line;
    if (find_case(archive, test->name)) {
        fail_on(archive, reader->line, "there are two cases of this name");
    }
    bool is_described = false;
    reader->at = test->end = line.next;
    reader->line++;
    while (reader->at < archive->text.size && !is_header(line = get_line(archive, reader->at))) {
        size_t path_size = get_path_size(line);
        is_described |= begins(line, "# ");
        if (path_size) {
            add_member(reader, test, read_line(reader, line, path_size));
        } else if (line.size && line.text[0] != '#') {
            fail_on(archive, reader->line, "neither a comment, nor PATH: CONTENT, nor a header");
        }
        test->end = line.size ? line.next : test->end;
        reader->at = line.next;
        reader->line++;
    }
    if (!is_described) {
        fail_on(archive, test->line, "a line that says what the case is for is missing: # ...");
    }
    test->lines_end = test->end;
    while (reader->at < archive->text.size && begins(get_line(archive, reader->at), "-- ")) {
        add_member(reader, test, read_lines(reader));
    }
    add_item(&archive->cases, &archive->n_cases, test);
}

/* The head of a section. */
static void read_section(struct reader *reader)
{
    struct archive *archive = reader->archive;
    struct line line = get_line(archive, reader->at);
    struct lexer *fields = new_memory(sizeof *fields);
    *fields = (struct lexer){archive->path, line.text + 3, line.text + line.size, reader->line};
    reader->fields = fields;
    do {
        reader->at = line.next;
        reader->line++;
        line = get_line(archive, reader->at);
    } while (reader->at < archive->text.size && (line.size == 0 || line.text[0] == '#'));
    if (reader->at < archive->text.size && !begins(line, "== ")) {
        fail_on(archive, reader->line, "neither a comment nor a case's header");
    }
}

/* What stands in front of the first case. */
static void read_head(struct reader *reader)
{
    struct archive *archive = reader->archive;
    while (reader->at < archive->text.size) {
        struct line line = get_line(archive, reader->at);
        if (begins(line, "== ")) {
            return;
        }
        if (begins(line, "files: ") && memchr(line.text, '*', line.size)) {
            archive->files = copy_bytes(line.text + 7, line.size - 7);
        } else if (line.size && line.text[0] != '#') {
            fail_on(archive, reader->line,
                    "neither a comment, nor `files: PATH/*/`, nor a case's header");
        }
        reader->at = line.next;
        reader->line++;
    }
}

/* STAGE/NAME/ of the archive's own folder. */
static char *get_usual_files(const char *path)
{
    const char *end = strrchr(path, '/'), *begin = end ? end : path;
    while (begin > path && begin[-1] != '/') {
        begin--;
    }
    struct buffer files = {0};
    put_bytes(&files, begin, end ? (size_t)(end - begin) : 0);
    put(&files, "/*/");
    return files.data;
}

struct archive *read_archive(const char *path)
{
    struct archive *archive = new_memory(sizeof *archive);
    archive->path = copy_bytes(path, strlen(path));
    archive->files = get_usual_files(path);
    if (!read_file(path, &archive->text)) {
        die("%s: cannot be read", path);
    }
    struct reader reader = {archive, 0, 1, NULL};
    read_head(&reader);
    while (reader.at < archive->text.size) {
        if (begins(get_line(archive, reader.at), "== <")) {
            read_section(&reader);
        } else {
            read_case(&reader);
        }
    }
    return archive;
}

const struct test_case *find_case(const struct archive *archive, const char *name)
{
    for (size_t i = 0; i < archive->n_cases; i++) {
        if (!strcmp(archive->cases[i]->name, name)) {
            return archive->cases[i];
        }
    }
    return NULL;
}

const struct member *find_member(const struct test_case *test, const char *path)
{
    for (size_t i = 0; i < test->n_members; i++) {
        if (!strcmp(test->members[i]->path, path)) {
            return test->members[i];
        }
    }
    return NULL;
}

char *get_target(const struct archive *archive, const char *name, const char *member)
{
    struct buffer path = {0};
    const char *star = strchr(archive->files, '*');
    put_bytes(&path, archive->files, (size_t)(star - archive->files));
    put(&path, name);
    put(&path, star + 1);
    put(&path, member);
    return path.data;
}

struct lexer get_lexer(const struct archive *archive, const struct member *member)
{
    return (struct lexer){archive->path, member->content, member->content + member->size,
                          member->line};
}

/* ---- texts as members ---- */

void put_content(struct buffer *buffer, const struct member *member)
{
    const struct archive part = {
        .text = {.data = (char *)(uintptr_t)member->content, .size = member->size}};
    size_t before = buffer->size;
    for (size_t at = 0; at < member->size;) {
        struct line line = get_line(&part, at);
        size_t mark = count_marks(line) > 0;
        put_bytes(buffer, line.text + mark, line.next - at - mark);
        at = line.next;
    }
    if (member->is_unended && buffer->size > before) {
        buffer->data[--buffer->size] = 0;
    }
}

/* Whether TEXT can be a member as it is. */
static bool is_plain_text(const struct buffer *text)
{
    const unsigned char *bytes = (const unsigned char *)text->data;
    for (size_t i = 0, n; i < text->size; i += n) {
        n = get_character(bytes + i, text->size - i);
        if (!n) {
            return false;
        }
    }
    return true;
}

bool fits_line(const struct buffer *text)
{
    return is_plain_text(text) && text->size > 1 && text->size <= 110 &&
           memchr(text->data, '\n', text->size) == text->data + text->size - 1 &&
           !isspace((unsigned char)text->data[0]);
}

static void put_base85_member(struct buffer *buffer, const char *path, const struct buffer *bytes)
{
    put(buffer, "-- ");
    put(buffer, path);
    put(buffer, " base85\n");
    put_base85(buffer, bytes->data, bytes->size);
}

/* Appends TEXT with a mark in front of lines that look like headers. */
static void put_marked(struct buffer *buffer, const struct buffer *text)
{
    const struct archive part = {.text = *text};
    for (size_t at = 0; at < text->size;) {
        struct line line = get_line(&part, at);
        put(buffer, count_marks(line) >= 0 ? "\\" : "");
        put_bytes(buffer, line.text, line.size);
        put(buffer, "\n");
        at = line.next;
    }
}

void put_file_member(struct buffer *buffer, const char *path, const struct buffer *text,
                     bool is_packed)
{
    struct buffer lines = {0}, deflated = {0};
    if (!is_plain_text(text)) {
        put_base85_member(buffer, path, text);
        return;
    }
    if (fits_line(text)) {
        put(buffer, path);
        put(buffer, ": ");
        put_bytes(buffer, text->data, text->size);
        return;
    }
    bool is_ended = !text->size || text->data[text->size - 1] == '\n';
    put(buffer, "-- ");
    put(buffer, path);
    put(buffer, is_packed ? " packed" : "");
    put(buffer, is_ended ? "\n" : " unended\n");
    put_marked(&lines, text);
    if (is_packed) {
        put_deflated_text(&deflated, lines.data, lines.size);
        put_base85(buffer, deflated.data, deflated.size);
    } else {
        put_bytes(buffer, lines.data, lines.size);
    }
    free(lines.data);
    free(deflated.data);
}

bool has_ending(const char *path, const char *ending)
{
    size_t size = strlen(path), end = strlen(ending);
    return size >= end && !strcmp(path + size - end, ending) &&
           (size == end || path[size - end - 1] == '.');
}
