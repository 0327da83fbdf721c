#ifndef TOOL_ARCHIVE_H
#define TOOL_ARCHIVE_H

#include "buffer.h"
#include "lexer.h"

/* How a member's text stands for its bytes. */
enum member_form {
    FORM_TEXT, /* by the ending of its path: models, samples, or as it is */
    FORM_BASE85,
    FORM_SAME,   /* the bytes of the member of that path in another case */
    FORM_LINK,   /* a link to the file of that path in another folder of the same stage */
    FORM_TENSOR, /* a tensor, whose elements' bytes they are */
};

/* A file of a case, or, when its path ends in a slash, the samples in a folder. */
struct member {
    char *path; /* within the case */
    enum member_form form;
    bool is_unended;     /* no newline at its end */
    bool is_packed;      /* the text stands there deflated, in base85 */
    char *other;         /* FORM_SAME, FORM_LINK: the other case's name */
    size_t begin, end;   /* in the archive's text, with its header */
    const char *content; /* in the archive's text */
    size_t size;
    int line;                   /* of the content */
    const struct lexer *fields; /* at its section's fields, for a model without; NULL: none */
};

struct test_case {
    char *name;
    struct member **members;
    size_t n_members;
    size_t lines_end; /* behind the last member on one line */
    size_t end;       /* behind the last member */
    int line;
};

/* A .cases file. */
struct archive {
    char *path;
    struct buffer text;
    char *files; /* where a case's members go: its name takes the place of the star, and a member's
                    path follows */
    struct test_case **cases;
    size_t n_cases;
};

/* Reads PATH, STAGE/FAMILY.cases. */
struct archive *read_archive(const char *path);
/* NULL where there is none. */
const struct test_case *find_case(const struct archive *archive, const char *name);
const struct member *find_member(const struct test_case *test, const char *path);
/* The path below the root that MEMBER of the case NAME goes to. */
char *get_target(const struct archive *archive, const char *name, const char *member);
/* The member's text as it was before lines that look like headers were marked. */
void put_content(struct buffer *buffer, const struct member *member);
/* A lexer at the member's content. */
struct lexer get_lexer(const struct archive *archive, const struct member *member);

/* Whether TEXT can stand on the line of its path. */
bool fits_line(const struct buffer *text);
/* Appends a member that holds TEXT as it is: on a line, on several, IS_PACKED: deflated; or in
 * base85 when it is no text. */
void put_file_member(struct buffer *buffer, const char *path, const struct buffer *text,
                     bool is_packed);

/* Whether PATH ends in .ENDING or is ENDING. */
bool has_ending(const char *path, const char *ending);

#endif
