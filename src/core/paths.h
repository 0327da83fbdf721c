#ifndef AMP_CORE_PATHS_H
#define AMP_CORE_PATHS_H

/* The folder of the rule sets that come with the program: the source tree's for a program run from
   the build tree, DATADIR/ampconv/rules for an installed one. */
extern const char amp_rules_dir[];

#endif
