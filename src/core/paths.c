/*
 * Where the program lies, and its own files with it: an installed tree may be moved. The build
 * compiles this file a second time for installation, with other macros; no other file may depend on
 * them:
 *   AMP_RULES_DIR     the rule sets' folder, as it was built or installed
 *   AMP_RULES_BESIDE  the same as a path from the folder of what runs; "": not installed
 *   AMP_LAUNCHER      what starts the program, as such a path, where what runs is a loader that was
 *                     installed with it; "": the program itself runs
 */
#include "core/paths.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The path of what runs goes to PATH: by /proc, else by the name that it was started under. */
static bool find_running(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    const char *name = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    if (length > 0)
        path[length] = '\0';
    return length > 0 || (name != NULL && realpath(name, path) != NULL);
}

/* The file or folder at BESIDE, a path from the folder of what runs, goes to PATH, where it is
   there. */
static bool find_beside(const char *beside, char path[PATH_MAX])
{
    char running[PATH_MAX], joined[2 * PATH_MAX];
    char *slash = find_running(running) ? strrchr(running, '/') : NULL;
    if (slash == NULL)
        return false;
    *slash = '\0';
    snprintf(joined, sizeof joined, "%s/%s", running, beside);
    return realpath(joined, path) != NULL;
}

const char *amp_rules_dir(void)
{
    static char path[PATH_MAX];
    bool is_installed = sizeof AMP_RULES_BESIDE > 1;
    bool is_found = path[0] != '\0' || (is_installed && find_beside(AMP_RULES_BESIDE, path));
    return is_found ? path : AMP_RULES_DIR;
}

const char *amp_program_path(void)
{
    static char path[PATH_MAX];
    bool is_launched = sizeof AMP_LAUNCHER > 1;
    bool is_found = is_launched ? find_beside(AMP_LAUNCHER, path) : find_running(path);
    return is_found ? path : NULL;
}
