#ifndef AMP_CORE_FILE_H
#define AMP_CORE_FILE_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Takes the places of stdin, stdout and stderr where the program was started without them, so that
   no file opened later gets there and into it what is meant for them. To be called first. */
void amp_streams_open(void);

/* The bytes of an input: a mapped file, or memory when it came through a stream. A mapping is
   private: nothing written to it reaches the file. */
struct amp_bytes {
    unsigned char *data;
    size_t size;
    bool is_mapped;
};

/* Opens the file at PATH; "-" reads stdin to its end. AMP_IO with the system's reason. A mapped
   file that others cut short ends the program with a message when what is gone is read. */
enum amp_status amp_bytes_open(struct amp_bytes *bytes, const char *path, struct amp_error *err);
void amp_bytes_close(struct amp_bytes *bytes);

#endif
