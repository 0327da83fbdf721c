#ifndef TOOL_LEXER_H
#define TOOL_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

/* A place in a text. */
struct lexer {
    const char *file; /* its name in messages */
    const char *at, *end;
    int line;
};

/* Says FILE:LINE and what is wrong there, and ends the program. */
__attribute__((format(printf, 2, 3), noreturn)) void fail_at(const struct lexer *lexer,
                                                             const char *format, ...);

/* The next character behind blanks and comments, which reach from # to the end of their line; 0 at
 * the end. */
char peek(struct lexer *lexer);
/* Takes SIGN when it comes next. */
bool accept(struct lexer *lexer, const char *sign);
/* Takes SIGN, which must come next. */
void expect(struct lexer *lexer, const char *sign);
/* Whether a name comes next: an identifier or a text in quotes. */
bool is_name_next(struct lexer *lexer);
/* Takes a name. */
char *read_name(struct lexer *lexer);
/* Takes an identifier when it is WORD. */
bool accept_word(struct lexer *lexer, const char *word);
/* Takes a text in quotes, whose size in bytes goes to *SIZE unless that is NULL. */
char *read_text(struct lexer *lexer, size_t *size);
/* Takes a number or a word that stands for one, as it is written. */
char *read_word(struct lexer *lexer);
int64_t read_integer(struct lexer *lexer);
/* Takes base85 up to CLOSE, which it takes too. */
void read_base85(struct lexer *lexer, char close, struct buffer *bytes);

/* Whether TEXT can be written as an identifier. */
bool is_identifier(const char *text);
/* The size of the UTF-8 character at TEXT; 0: it is none, or a control character other than tabs
 * and newlines. */
size_t get_character(const unsigned char *text, size_t left);
/* Appends a text in quotes; what is no character is written in hexadecimal. */
void put_text(struct buffer *buffer, const void *text, size_t size);

#endif
