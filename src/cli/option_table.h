#ifndef AMP_CLI_OPTION_TABLE_H
#define AMP_CLI_OPTION_TABLE_H

#include "cli/options.h"

/* Private to the parser and the help: the options and commands as data. */

/* What an option's value is, and so which type its field has. */
enum amp_option_kind {
    AMP_OPTION_FLAG,   /* none: bool */
    AMP_OPTION_COUNT,  /* none: int, how often it was given */
    AMP_OPTION_TEXT,   /* const char * */
    AMP_OPTION_FORMAT, /* the same; only after '=', "text" without it */
    AMP_OPTION_REPORT, /* the same; after '=' or a next word that names a report, else "-" */
    AMP_OPTION_LIST,   /* struct amp_texts */
    AMP_OPTION_NUMBER, /* int64_t, 0 or more */
    AMP_OPTION_SIZE    /* int64_t, bytes */
};

/* The sections of the help and the manual. */
enum amp_option_group {
    AMP_GROUP_CONVERSION,
    AMP_GROUP_RULES,
    AMP_GROUP_DATA,
    AMP_GROUP_RUNNING,
    AMP_GROUP_TIMING,
    AMP_GROUP_TALK,
    AMP_GROUP_END
};

/* One name may stand for options of several commands that differ. */
struct amp_option {
    const char *name;
    char letter;
    const char *argument; /* NULL: none; "[=...": not needed */
    enum amp_option_kind kind;
    size_t offset; /* in struct amp_options */
    unsigned commands;
    enum amp_option_group group;
    const char *help;
};

extern const struct amp_option amp_option_table[];
extern const size_t amp_option_count;

struct amp_command_words {
    const char *name; /* NULL: no word */
    enum amp_command command;
    unsigned shown; /* the commands whose options its help lists */
    const char *help;
};

/* The command that is called NAME; NULL: none is. */
const struct amp_command_words *amp_command_find(const char *name);
const struct amp_command_words *amp_command_words(enum amp_command command);

#endif
