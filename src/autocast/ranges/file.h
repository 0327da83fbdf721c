#ifndef AMP_AUTOCAST_RANGES_FILE_H
#define AMP_AUTOCAST_RANGES_FILE_H

#include "autocast/ranges/ranges.h"
#include "core/status.h"

/*
 * Files of ranges: JSON, as ampconv(1) has it under "Ranges".
 */

/* Reads the file at PATH into new ranges in ARENA; PATH must outlive them. AMP_IO when it cannot be
   read, AMP_RULES with the place, what was found and what is accepted when it is no such file. */
enum amp_status amp_ranges_read(const char *path, struct amp_arena *arena,
                                struct amp_ranges **ranges, struct amp_error *err);

/* Writes RANGES, seen in MODEL_PATH, to PATH ("-": stdout), whole or not at all. Entries whose name
   is no UTF-8 cannot be written and are left out. */
enum amp_status amp_ranges_write(const struct amp_ranges *ranges, const char *model_path,
                                 const char *path, struct amp_error *err);

#endif
