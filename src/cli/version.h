#ifndef AMP_CLI_VERSION_H
#define AMP_CLI_VERSION_H

#include <stdio.h>

/* `ampconv --version`: prints the versions of the program and of oneDNN, and what this CPU computes
   natively. */
void amp_command_version(FILE *file);

#endif
