/* Well-formedness of XML (W3C, Extensible Markup Language 1.0, fifth edition): characters, one
   root, tags that match, quoted attributes of different names, known entities. Declarations and
   comments are stepped over; CDATA sections and processing instructions are refused, as reports
   have none. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"

enum { DEPTH_MAX = 64, NAME_MAX_SIZE = 64, ATTRIBUTES_MAX = 24 };

struct reader {
    const char *begin, *at, *end;
    char open[DEPTH_MAX][NAME_MAX_SIZE];
    size_t depth;
    bool had_root;
    const char *problem; /* the first; NULL: none */
};

static bool fail(struct reader *reader, const char *problem)
{
    if (reader->problem == NULL)
        reader->problem = problem;
    return false;
}

static bool starts(const struct reader *reader, const char *text)
{
    size_t size = strlen(text);
    return (size_t)(reader->end - reader->at) >= size && !memcmp(reader->at, text, size);
}

/* Steps over one character of UTF-8 that XML has a place for. */
static bool step(struct reader *reader)
{
    const unsigned char *at = (const unsigned char *)reader->at;
    size_t left = (size_t)(reader->end - reader->at);
    size_t size = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    unsigned code = size == 1 ? at[0] : at[0] & (0xffu >> (size + 1));
    if (size == 0 || size > left || at[0] > 0xf4)
        return fail(reader, "bytes that are no UTF-8");
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return fail(reader, "bytes that are no UTF-8");
        code = code << 6 | (at[i] & 0x3f);
    }
    bool is_control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
    if (is_control || (code >= 0xd800 && code < 0xe000) || code == 0xfffe || code == 0xffff)
        return fail(reader, "a character that XML has no place for");
    reader->at += size;
    return true;
}

static bool skip_entity(struct reader *reader)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (starts(reader, known[i])) {
            reader->at += strlen(known[i]);
            return true;
        }
    return fail(reader, "an & that begins no entity");
}

/* Steps over text up to one of the characters of ENDS, which stays. */
static bool skip_text(struct reader *reader, const char *ends)
{
    while (reader->at < reader->end && strchr(ends, *reader->at) == NULL) {
        if (*reader->at == '<')
            return fail(reader, "a < in an attribute");
        if (!(*reader->at == '&' ? skip_entity(reader) : step(reader)))
            return false;
    }
    return true;
}

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) != NULL)
        reader->at++;
}

static bool read_name(struct reader *reader, char name[NAME_MAX_SIZE])
{
    size_t size = 0;
    while (reader->at + size < reader->end && size < NAME_MAX_SIZE - 1 &&
           (strchr("-_.:", reader->at[size]) != NULL ||
            (reader->at[size] >= '0' && reader->at[size] <= '9') ||
            ((reader->at[size] | 0x20) >= 'a' && (reader->at[size] | 0x20) <= 'z')))
        size++;
    memcpy(name, reader->at, size);
    name[size] = '\0';
    reader->at += size;
    return size > 0 || fail(reader, "no name where there must be one");
}

static bool read_attribute(struct reader *reader, char names[][NAME_MAX_SIZE], size_t count)
{
    if (count == ATTRIBUTES_MAX)
        return fail(reader, "too many attributes");
    if (!read_name(reader, names[count]))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], names[count]))
            return fail(reader, "an attribute that is there twice");
    if (!starts(reader, "=\""))
        return fail(reader, "an attribute without a quoted value");
    reader->at += 2;
    if (!skip_text(reader, "\""))
        return false;
    if (reader->at++ == reader->end)
        return fail(reader, "an attribute without an end");
    return true;
}

/* Reads a start tag behind its name. */
static bool read_attributes(struct reader *reader, const char *name)
{
    char names[ATTRIBUTES_MAX][NAME_MAX_SIZE];
    for (size_t count = 0;; count++) {
        const char *before = reader->at;
        skip_blanks(reader);
        if (starts(reader, "/>")) {
            reader->at += 2;
            return true;
        }
        if (starts(reader, ">")) {
            reader->at++;
            snprintf(reader->open[reader->depth++], NAME_MAX_SIZE, "%s", name);
            return true;
        }
        if (before == reader->at)
            return fail(reader, "no blank before an attribute");
        if (!read_attribute(reader, names, count))
            return false;
    }
}

static bool read_tag(struct reader *reader)
{
    char name[NAME_MAX_SIZE];
    bool is_end = starts(reader, "</");
    reader->at += is_end ? 2 : 1;
    if (!read_name(reader, name))
        return false;
    if (!is_end && reader->depth == 0 && reader->had_root)
        return fail(reader, "a second root");
    if (!is_end && reader->depth == DEPTH_MAX)
        return fail(reader, "tags that are too deep");
    reader->had_root = true;
    if (!is_end)
        return read_attributes(reader, name);
    if (reader->depth == 0 || strcmp(reader->open[--reader->depth], name) != 0)
        return fail(reader, "an end tag that nothing began");
    skip_blanks(reader);
    if (!starts(reader, ">"))
        return fail(reader, "an end tag that does not end");
    reader->at++;
    return true;
}

static bool read_piece(struct reader *reader)
{
    if (starts(reader, "<!DOCTYPE html>") && reader->depth == 0 && !reader->had_root) {
        reader->at += strlen("<!DOCTYPE html>");
        return true;
    }
    if (*reader->at == '<')
        return read_tag(reader);
    const char *begin = reader->at;
    while (reader->at < reader->end && *reader->at != '<')
        if (!(*reader->at == '&' ? skip_entity(reader) : step(reader)))
            return false;
    for (; begin < reader->at && reader->depth == 0; begin++)
        if (strchr(" \t\r\n", *begin) == NULL)
            return fail(reader, "text outside the root");
    return true;
}

bool check_xml(const char *path)
{
    struct buffer bytes = {0};
    if (!read_file(path, &bytes)) {
        printf("%s: cannot be read\n", path);
        return false;
    }
    struct reader reader = {.begin = bytes.data, .at = bytes.data, .end = bytes.data + bytes.size};
    while (reader.at < reader.end && read_piece(&reader))
        ;
    if (reader.problem == NULL && (reader.depth > 0 || !reader.had_root))
        fail(&reader, "the end, with tags that are open");
    if (reader.problem != NULL)
        printf("%s: byte %td: %s\n", path, reader.at - reader.begin, reader.problem);
    free(bytes.data);
    return reader.problem == NULL;
}
