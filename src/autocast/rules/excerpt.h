#ifndef AMP_AUTOCAST_RULES_EXCERPT_H
#define AMP_AUTOCAST_RULES_EXCERPT_H

#include <stddef.h>

/* Private to the rules: places in a text, as libyaml counts them. Lines end where YAML 1.1 ends
   them; columns count characters. */

struct amp_place {
    int line, column; /* from 1 */
};

/* The place of the byte at OFFSET, which is at most SIZE. */
struct amp_place amp_place_of(const char *text, size_t size, size_t offset);

enum { AMP_EXCERPT_SIZE = 512 };

struct amp_excerpt {
    char line[AMP_EXCERPT_SIZE], caret[AMP_EXCERPT_SIZE];
};

/* Sets *EXCERPT to the line at PLACE and, for the line below it, a caret under the column. Of a
   long line only the surroundings of the column are shown. What a terminal would not show as a
   character comes as '?'. */
void amp_excerpt(const char *text, size_t size, struct amp_place place,
                 struct amp_excerpt *excerpt);

#endif
