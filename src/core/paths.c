/*
 * The folders in which the program finds its own files. The build compiles this file a second time
 * for installation, with another AMP_RULES_DIR; no other file may depend on that macro.
 */
#include "core/paths.h"

const char amp_rules_dir[] = AMP_RULES_DIR;
