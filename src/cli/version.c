/*
 * `ampconv --version`: the program, oneDNN, and what both make of this CPU.
 */
#include "cli/commands.h"
#include "core/array.h"
#include "core/cpu.h"
#include "run/session.h"

/* oneDNN's instruction set, and the instructions that kernels of our own take. */
static void print_cpu(FILE *file)
{
    char text[64];
    const char *separator = "";
    fprintf(file, "oneDNN %s on %s\n", amp_session_library(text, sizeof text), amp_cpu_isa());
    fprintf(file, "kernels   ");
    for (enum amp_cpu_feature i = 0; i < AMP_CPU_FEATURES; i++) {
        if (amp_cpu_own(i) == NULL || !amp_cpu_has(i))
            continue;
        fprintf(file, "%s%s", separator, amp_cpu_own(i));
        separator = ", ";
    }
    fprintf(file, separator[0] == '\0' ? "generic code\n" : "\n");
}

void amp_command_version(FILE *file)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16};
    fprintf(file, "ampconv %s\n", AMP_VERSION);
    print_cpu(file);
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++)
        fprintf(file, "%-9s %s\n", amp_dtype_name(dtypes[i]),
                amp_cpu_is_native(dtypes[i]) ? "native" : "computed in float32, then rounded");
}
