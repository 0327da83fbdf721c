/*
 * The report of `ampconv bench`, as text and as JSON: takes the times of the sides of a model,
 * gives speed-ups over float32, GFLOP/s, and shares of what the machine's product of matrices
 * reaches.
 */
#include "cli/report/bench.h"

#include "cli/report/head.h"
#include "cli/report/json.h"
#include "cli/report/profile.h"
#include "core/cpu.h"
#include "core/print.h"
#include "ops/dnnl/roofline.h"
#include "run/exec/session.h"

#include <string.h>

double amp_bench_speedup(const struct amp_bench *bench, const struct amp_bench_side *side)
{
    for (size_t i = 0; i < bench->n_sides; i++)
        if (bench->sides[i].dtype == AMP_FLOAT)
            return bench->sides[i].median / side->median;
    return 0;
}

double amp_bench_gflops(const struct amp_bench *bench, const struct amp_bench_side *side)
{
    return bench->flops / side->median * 1e-9;
}

double amp_bench_roofline(const struct amp_bench_side *side)
{
    return side->roofline > 0 ? AMP_ROOFLINE_FLOPS / side->roofline * 1e-9 : 0;
}

double amp_bench_share(const struct amp_bench *bench, const struct amp_bench_side *side)
{
    return side->ratio > 0 ? bench->flops / AMP_ROOFLINE_FLOPS / side->ratio : 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

void amp_report_bench_head(FILE *file, size_t n_runs)
{
    char version[64];
    int n_threads = amp_session_threads();
    amp_print(file, "oneDNN %s on %s, %d thread%s, medians of %zu run%s in turns\n",
              amp_session_library(version, sizeof version), amp_cpu_isa(), n_threads,
              n_threads == 1 ? "" : "s", n_runs, n_runs == 1 ? "" : "s");
    amp_print(file, "%-24s %5s %10s %10s %8s %8s %14s %12s\n", "model", "dtype", "median ms",
              "minimum ms", "speed-up", "GFLOP/s", "% of roofline", "peak MB");
}

/* Prints VALUE in a column of WIDTH, "-" where it is 0. */
static void print_number(FILE *file, int width, int digits, double value)
{
    if (value > 0)
        amp_print(file, " %*.*f", width, digits, value);
    else
        amp_print(file, " %*s", width, "-");
}

static void print_roofline(FILE *file, double share, double possible)
{
    char text[48] = "-";
    if (share > 0)
        snprintf(text, sizeof text, "%.0f of %.0f", 100 * share, possible);
    amp_print(file, " %14s", text);
}

void amp_report_bench(FILE *file, const char *path, const struct amp_bench *bench)
{
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; i < bench->n_sides; i++) {
        const struct amp_bench_side *side = &bench->sides[i];
        amp_print(file, "%-24s %5s", slash != NULL ? slash + 1 : path,
                  amp_dtype_short_name(side->dtype));
        print_number(file, 10, 3, 1e3 * side->median);
        print_number(file, 10, 3, 1e3 * side->minimum);
        print_number(file, 8, 2, amp_bench_speedup(bench, side));
        print_number(file, 8, 1, amp_bench_gflops(bench, side));
        print_roofline(file, amp_bench_share(bench, side), amp_bench_roofline(side));
        print_number(file, 12, 1, 1e-6 * (double)side->peak_bytes);
        fputc('\n', file);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *number_or_null(double value)
{
    return value > 0 ? amp_json_number(value) : json_null();
}

static json_t *json_side(const struct amp_bench *bench, const struct amp_bench_side *side)
{
    json_t *object = json_object();
    amp_json_set(object, "dtype", json_string(amp_dtype_short_name(side->dtype)));
    amp_json_set(object, "median_ms", amp_json_number(1e3 * side->median));
    amp_json_set(object, "min_ms", amp_json_number(1e3 * side->minimum));
    amp_json_set(object, "speedup", number_or_null(amp_bench_speedup(bench, side)));
    amp_json_set(object, "gflops", amp_json_number_or_null(amp_bench_gflops(bench, side)));
    amp_json_set(object, "roofline", number_or_null(amp_bench_roofline(side)));
    amp_json_set(object, "share", number_or_null(amp_bench_share(bench, side)));
    amp_json_set(object, "peak_bytes", amp_json_count(side->peak_bytes));
    amp_json_set(object, "widened_nodes", amp_json_count(side->widened));
    if (side->profile != NULL)
        amp_json_set(object, "profile", amp_json_profile(side, bench->n_runs));
    return object;
}

json_t *amp_json_bench(const char *path, const struct amp_bench *bench)
{
    json_t *object = json_object(), *results = json_array();
    for (size_t i = 0; i < bench->n_sides; i++)
        json_array_append_new(results, json_side(bench, &bench->sides[i]));
    amp_json_set(object, "model", amp_json_text(path));
    amp_json_set(object, "flops", amp_json_number(bench->flops));
    amp_json_set(object, "results", results);
    return object;
}

json_t *amp_json_bench_all(size_t n_runs, json_t *models)
{
    char version[64];
    json_t *object = amp_report_begin("bench");
    amp_json_set(object, "threads", json_integer(amp_session_threads()));
    amp_json_set(object, "isa", json_string(amp_cpu_isa()));
    amp_json_set(object, "onednn", json_string(amp_session_library(version, sizeof version)));
    amp_json_set(object, "runs", amp_json_count(n_runs));
    amp_json_set(object, "models", models);
    return object;
}
