/*
 * `ampconv --version`: prints the versions of the program and of oneDNN, the instruction set that
 * oneDNN takes, the kernels of the program's own that run here, the instructions for lower
 * precision that this CPU has, and the dtypes that it computes in.
 */
#include "cli/version.h"

#include "core/array.h"
#include "core/cpu.h"
#include "core/print.h"
#include "run/exec/session.h"

/* Which instructions for the lower dtypes the CPU has. */
static void print_flags(FILE *file)
{
    struct amp_cpu_flag flag;
    for (size_t i = 0; amp_cpu_flag_at(i, &flag); i++)
        amp_print(file, "%s%s %s", i == 0 ? "cpu       " : ", ", flag.name,
                  flag.is_there ? "yes" : "no");
    if (amp_cpu_flag_at(0, &flag))
        fputc('\n', file);
    if (!amp_cpu_tells_caches())
        amp_print(file, "caches    hidden: fewer of oneDNN's kernels run\n");
}

/* oneDNN's instruction set, and the instructions that kernels of our own take. */
static void print_cpu(FILE *file)
{
    char text[64];
    const char *separator = "";
    amp_print(file, "oneDNN %s on %s\n", amp_session_library(text, sizeof text), amp_cpu_isa());
    amp_print(file, "kernels   ");
    for (enum amp_cpu_feature i = 0; i < AMP_CPU_FEATURES; i++) {
        if (amp_cpu_instructions(i) == NULL || !amp_cpu_has(i))
            continue;
        amp_print(file, "%s%s", separator, amp_cpu_instructions(i));
        separator = ", ";
    }
    fputs(separator[0] == '\0' ? "generic code\n" : "\n", file);
}

void amp_command_version(FILE *file)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16};
    amp_print(file, "ampconv %s\n", AMP_VERSION);
    print_cpu(file);
    print_flags(file);
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++)
        amp_print(file, "%-9s %s\n", amp_dtype_name(dtypes[i]),
                  amp_cpu_is_native(dtypes[i]) ? "native" : "computed in float32, then rounded");
}
