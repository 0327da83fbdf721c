#ifndef AMP_OPS_TEXT_REGEX_SYNTAX_H
#define AMP_OPS_TEXT_REGEX_SYNTAX_H

#include "core/dtype.h"
#include "core/status.h"

enum { AMP_REGEX_DEPTH = 1000 /* how deep groups may be nested */ };

/*
 * Writes PATTERN, in RE2's syntax with its default options, in PCRE2's syntax to *TRANSLATED, a
 * terminated string that the caller frees. What PCRE2, with UTF, ALT_CIRCUMFLEX, NO_AUTO_CAPTURE
 * and newline LF, finds with that is what RE2 matches in full; groups do not capture, repetitions
 * are greedy. AMP_MODEL where RE2 has no such construct (look-around, backreferences, possessive
 * repetition,
 * ...), where a repetition is larger than RE2 allows (1000 in all levels together), and for \C,
 * which matches single bytes.
 */
enum amp_status amp_regex_translate(struct amp_str pattern, char **translated,
                                    struct amp_error *err);

#endif
