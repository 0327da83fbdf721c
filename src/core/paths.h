#ifndef AMP_CORE_PATHS_H
#define AMP_CORE_PATHS_H

/* The folder of the rule sets that come with the program: the source tree's for a program run from
   the build tree, that of its own tree, wherever that lies, for an installed one. */
const char *amp_rules_dir(void);

/* The file to execute in order to start the program again; NULL when the system does not say. */
const char *amp_program_path(void);

#endif
