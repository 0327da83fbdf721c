#ifndef AMP_CLI_OPTIONS_OPTION_TABLE_H
#define AMP_CLI_OPTIONS_OPTION_TABLE_H

#include "cli/options/options.h"

/* What an option's value is, and so which type its field has. */
enum amp_option_kind {
    AMP_OPTION_FLAG,   /* none: bool */
    AMP_OPTION_COUNT,  /* none: int, how often it was given */
    AMP_OPTION_TEXT,   /* const char * */
    AMP_OPTION_FORMAT, /* const char *; only after '=', "text" without it */
    AMP_OPTION_REPORT, /* const char *; after '=' or a next word that names a report, else "-" */
    AMP_OPTION_OUTPUT, /* const char *: a file that is written; "-": stdout */
    AMP_OPTION_LOG,    /* const char *: a file that is added to */
    AMP_OPTION_FOLDER, /* const char *: a folder that files are written to, made where there is none
                        */
    AMP_OPTION_LIST,   /* struct amp_texts */
    AMP_OPTION_NUMBER, /* int64_t, 0 or more */
    AMP_OPTION_SIZE    /* int64_t, bytes */
};

/* The sections of the help and the manual. */
enum amp_option_group {
    AMP_GROUP_CONVERSION,
    AMP_GROUP_RULES,
    AMP_GROUP_DATA,
    AMP_GROUP_RANGES,
    AMP_GROUP_TUNING,
    AMP_GROUP_RUNNING,
    AMP_GROUP_TIMING,
    AMP_GROUP_COMPARING,
    AMP_GROUP_TRAINING,
    AMP_GROUP_TALK,
    AMP_GROUP_END
};

/* An option. Options of several commands may have one name and differ; so may two of one command,
   where one compares (METRIC>=VALUE) and the other does not. */
struct amp_option {
    const char *name;     /* without the dashes */
    char letter;          /* 0: none */
    const char *argument; /* NULL: none; "[=...": not needed */
    enum amp_option_kind kind;
    size_t offset;     /* in struct amp_options */
    unsigned commands; /* bits of enum amp_command */
    enum amp_option_group group;
    const char *help; /* {metrics}, {runtimes} and the like stand for names of tables */
};

/* The option in row I of the table; NULL behind the last. */
const struct amp_option *amp_option_at(size_t i);

/* Whether the model that a conversion makes hangs on OPTION, as it does on rules, ranges and data.
 */
bool amp_option_makes_model(const struct amp_option *option);

/* The name of the option in row I; NULL behind the last. */
const char *amp_option_name_at(size_t i);

/* The option that COMMAND has under the first LENGTH characters of NAME, else that of another
   command; NULL when there is none. */
const struct amp_option *amp_option_find(const char *name, size_t length, enum amp_command command);

/* The one among the options of OPTION's name and commands, lists all, that takes what VALUE is: a
   comparison or none. */
const struct amp_option *amp_option_for_value(const struct amp_option *option, const char *value);

/* The option that COMMAND has under the name whose letter is LETTER, else that of another command;
   NULL when there is none. */
const struct amp_option *amp_option_find_letter(char letter, enum amp_command command);

/* What the help says of a command. */
struct amp_command_words {
    const char *name; /* NULL, in the first row only: what there is without a name */
    enum amp_command command;
    unsigned shown;   /* the commands whose options its help lists */
    const char *help; /* usage, what it does, examples */
};

/* The command that is called NAME; NULL: none is. */
const struct amp_command_words *amp_command_find(const char *name);

/* The command in row I; NULL behind the last. */
const struct amp_command_words *amp_command_words_at(size_t i);

#endif
