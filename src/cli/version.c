/*
 * `ampconv --version`: the program, oneDNN, and which dtypes this CPU computes in.
 */
#include "cli/commands.h"
#include "core/array.h"
#include "run/session.h"

void amp_command_version(FILE *file)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16};
    char text[64];
    fprintf(file, "ampconv %s\n", AMP_VERSION);
    fprintf(file, "oneDNN %s on %s\n", amp_session_library(text, sizeof text), amp_session_isa());
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++)
        fprintf(file, "%-9s %s\n", amp_dtype_name(dtypes[i]),
                amp_session_is_native(dtypes[i]) ? "native" : "computed in float32, then rounded");
}
