/* The words of the texts: names, texts in quotes, numbers, signs. A text in quotes has the escapes
   \n, \t, \", \\ and \xHH and stands on one line. What does not fit ends the program with the file
   and the line. It assumes a NUL behind the text. */
#include "lexer.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fail_at(const struct lexer *lexer, const char *format, ...)
{
    char text[512];
    va_list words;
    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    die("%s:%d: %s", lexer->file, lexer->line, text);
}

static void skip_blanks(struct lexer *lexer)
{
    while (lexer->at < lexer->end) {
        if (*lexer->at == '#') {
            while (lexer->at < lexer->end && *lexer->at != '\n') {
                lexer->at++;
            }
        } else if (!isspace((unsigned char)*lexer->at)) {
            return;
        } else {
            lexer->line += *lexer->at++ == '\n';
        }
    }
}

char peek(struct lexer *lexer)
{
    skip_blanks(lexer);
    return lexer->at < lexer->end ? *lexer->at : 0;
}

bool accept(struct lexer *lexer, const char *sign)
{
    skip_blanks(lexer);
    size_t size = strlen(sign);
    if ((size_t)(lexer->end - lexer->at) < size || memcmp(lexer->at, sign, size)) {
        return false;
    }
    lexer->at += size;
    return true;
}

/* Up to 20 characters of what comes next, for messages. */
static const char *get_found(struct lexer *lexer, char found[24])
{
    skip_blanks(lexer);
    size_t n = 0;
    while (n < 20 && lexer->at + n < lexer->end && lexer->at[n] != '\n') {
        n++;
    }
    snprintf(found, 24, "%.*s", (int)n, lexer->at);
    return n ? found : "the end";
}

void expect(struct lexer *lexer, const char *sign)
{
    char found[24];
    if (!accept(lexer, sign)) {
        fail_at(lexer, "'%s' is missing before '%s'", sign, get_found(lexer, found));
    }
}

static bool begins_identifier(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool continues_identifier(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool is_identifier(const char *text)
{
    if (!begins_identifier(*text)) {
        return false;
    }
    while (continues_identifier(*text)) {
        text++;
    }
    return !*text;
}

bool is_name_next(struct lexer *lexer)
{
    char next = peek(lexer);
    return next == '"' || begins_identifier(next);
}

char *read_name(struct lexer *lexer)
{
    char found[24];
    if (peek(lexer) == '"') {
        return read_text(lexer, NULL);
    }
    if (!is_name_next(lexer)) {
        fail_at(lexer, "a name is missing before '%s'", get_found(lexer, found));
    }
    const char *begin = lexer->at;
    while (lexer->at < lexer->end && continues_identifier(*lexer->at)) {
        lexer->at++;
    }
    return copy_bytes(begin, (size_t)(lexer->at - begin));
}

bool accept_word(struct lexer *lexer, const char *word)
{
    size_t size = strlen(word);
    skip_blanks(lexer);
    if ((size_t)(lexer->end - lexer->at) < size || memcmp(lexer->at, word, size) ||
        continues_identifier(lexer->at[size])) {
        return false;
    }
    lexer->at += size;
    return true;
}

static int get_hex_digit(struct lexer *lexer)
{
    if (lexer->at >= lexer->end || !isxdigit((unsigned char)*lexer->at)) {
        fail_at(lexer, "\\x needs two hexadecimal digits");
    }
    char digit[2] = {*lexer->at++, 0};
    return (int)strtol(digit, NULL, 16);
}

/* What the characters behind a backslash stand for. */
static char read_escape(struct lexer *lexer)
{
    char sign = lexer->at < lexer->end ? *lexer->at++ : 0;
    switch (sign) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case '"':
        return '"';
    case '\\':
        return '\\';
    case 'x': {
        int high = get_hex_digit(lexer);
        return (char)(high * 16 + get_hex_digit(lexer));
    }
    default:
        fail_at(lexer, "no such escape: \\%c", sign);
    }
}

char *read_text(struct lexer *lexer, size_t *size)
{
    struct buffer text = {0};
    expect(lexer, "\"");
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n') {
        char c = *lexer->at++;
        c = c == '\\' ? read_escape(lexer) : c;
        put_bytes(&text, &c, 1);
    }
    if (lexer->at >= lexer->end || *lexer->at != '"') {
        fail_at(lexer, "a text has no end");
    }
    lexer->at++;
    if (size) {
        *size = text.size;
    }
    return text.data ? text.data : copy_bytes("", 0);
}

char *read_word(struct lexer *lexer)
{
    char found[24];
    skip_blanks(lexer);
    const char *begin = lexer->at;
    while (lexer->at < lexer->end &&
           (continues_identifier(*lexer->at) || strchr("+-.", *lexer->at))) {
        lexer->at++;
    }
    if (lexer->at == begin) {
        fail_at(lexer, "a number is missing before '%s'", get_found(lexer, found));
    }
    return copy_bytes(begin, (size_t)(lexer->at - begin));
}

int64_t read_integer(struct lexer *lexer)
{
    char *word = read_word(lexer), *end;
    int64_t value = strtoll(word, &end, 0);
    if (*end) {
        fail_at(lexer, "'%s' is not an integer", word);
    }
    free(word);
    return value;
}

void read_base85(struct lexer *lexer, char close, struct buffer *bytes)
{
    skip_blanks(lexer);
    const char *end = memchr(lexer->at, close, (size_t)(lexer->end - lexer->at));
    if (!end || !put_from_base85(bytes, lexer->at, (size_t)(end - lexer->at))) {
        fail_at(lexer, "base85 up to '%c' is missing", close);
    }
    for (; lexer->at <= end; lexer->at++) {
        lexer->line += *lexer->at == '\n';
    }
}

size_t get_character(const unsigned char *text, size_t left)
{
    size_t n = *text < 0x80 ? 1 : *text >= 0xf0 ? 4 : *text >= 0xe0 ? 3 : 2;
    bool is_control = (*text < 32 && *text != '\n' && *text != '\t') || *text == 127;
    if (n > left || is_control || (*text >= 0x80 && *text < 0xc2) || *text >= 0xf5) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return n;
}

void put_text(struct buffer *buffer, const void *text, size_t size)
{
    const unsigned char *bytes = text;
    put(buffer, "\"");
    for (size_t i = 0, n; i < size; i += n ? n : 1) {
        n = get_character(bytes + i, size - i);
        switch (bytes[i]) {
        case '\n':
            put(buffer, "\\n");
            break;
        case '\t':
            put(buffer, "\\t");
            break;
        case '"':
            put(buffer, "\\\"");
            break;
        case '\\':
            put(buffer, "\\\\");
            break;
        default:
            if (n) {
                put_bytes(buffer, bytes + i, n);
            } else {
                put_format(buffer, "\\x%02x", bytes[i]);
            }
        }
    }
    put(buffer, "\"");
}
