#ifndef AMP_CORE_FILE_H
#define AMP_CORE_FILE_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

/* The bytes of an input: a mapped file, or memory when it came through a stream. A mapping is
   private: nothing written to it reaches the file. */
struct amp_bytes {
    unsigned char *data;
    size_t size;
    bool is_mapped;
};

/* Opens the file at PATH; "-" reads stdin to its end. AMP_IO with the system's reason. */
enum amp_status amp_bytes_open(struct amp_bytes *bytes, const char *path, struct amp_error *err);
void amp_bytes_close(struct amp_bytes *bytes);

/*
 * An output that exists whole or not at all: written beside the target under a temporary name and
 * renamed when it is complete; removed when it is abandoned, and when SIGINT, SIGTERM or SIGHUP end
 * the program. PATH "-" is stdout, where only the order of the bytes can be promised.
 */
struct amp_output;

/* Two can be open at a time. AMP_IO when it cannot be created; PATH must outlive the output. */
enum amp_status amp_output_open(struct amp_output **output, const char *path,
                                struct amp_error *err);
/* AMP_IO when the folder of PATH does not take files: for those who would otherwise work long
   before they hear of it. */
enum amp_status amp_output_check(const char *path, struct amp_error *err);
enum amp_status amp_output_write(struct amp_output *output, const void *data, size_t size,
                                 struct amp_error *err);
/* Flushes, closes and renames; frees OUTPUT in every case. */
enum amp_status amp_output_commit(struct amp_output *output, struct amp_error *err);
/* The same for COUNT outputs that belong together: none is renamed before all are complete, no
   signal comes between the renames, and the last makes the earlier ones count. */
enum amp_status amp_outputs_commit(struct amp_output *const *outputs, size_t count,
                                   struct amp_error *err);
/* Removes what was written; frees OUTPUT. NULL is fine. */
void amp_output_abandon(struct amp_output *output);

#endif
