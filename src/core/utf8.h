#ifndef AMP_CORE_UTF8_H
#define AMP_CORE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Text in UTF-8 (RFC 3629), whatever the user's locale is. */

enum {
    AMP_UTF8_MAX = 4,     /* bytes of a code point */
    AMP_UTF8_INVALID = -1 /* bytes that are no UTF-8 */
};

/* The code point at *TEXT, which is before END; steps *TEXT behind it. Where the bytes are no
   UTF-8, steps by one and gives AMP_UTF8_INVALID. */
int32_t amp_utf8_next(const char **text, const char *end);

/* Writes CODE, a code point, to TEXT and returns how many bytes that took. */
size_t amp_utf8_put(int32_t code, char *text);

/* The simple case mappings of Unicode 16, one code point to one: what has no mapping, or only one
   to several code points, stays as it is. */
int32_t amp_utf8_lower(int32_t code);
int32_t amp_utf8_upper(int32_t code);

#endif
