#ifndef AMP_CORE_FILE_INPUT_H
#define AMP_CORE_FILE_INPUT_H

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
    size_t capacity;            /* bytes of memory, in the account of core/memory.h; 0: mapped */
    struct amp_mapping *source; /* of what is mapped; NULL: nothing is */
};

/* Opens the file at PATH, without waiting for anybody. AMP_IO with the system's reason; and for
   what is no regular file (a FIFO, a socket, a device, a folder): data of those may never come or
   never end. A mapped file that others cut short ends the program with a message when what is gone
   is read. */
enum amp_status amp_bytes_open(struct amp_bytes *bytes, const char *path, struct amp_error *err);
/* Gives the mapping or the memory back. BYTES that are all zero are fine. */
void amp_bytes_close(struct amp_bytes *bytes);

/* Gives back the memory that holds the SIZE bytes at DATA, which nobody has changed, of a mapped
   file: they are read again when they are asked for. Bytes that are of none stay. */
void amp_bytes_drop(const void *data, size_t size);

/* AMP_IO when the file behind BYTES is another one now than when it was mapped. */
enum amp_status amp_bytes_check(const struct amp_bytes *bytes, struct amp_error *err);

/* What may come through a stream. */
struct amp_stream {
    bool has_names;  /* FIFOs and devices are streams as well; false: only "-" is */
    size_t size_max; /* bytes */
    /* Whether the first SIZE bytes, which are at DATA, can be the start of what is wanted: reading
       ends with the error of the first call that says no. NULL: all bytes can. */
    enum amp_status (*check)(void *context, const unsigned char *data, size_t size,
                             struct amp_error *err);
    void *context;
};

/* Opens what is at PATH, a regular file as amp_bytes_open does or a stream, which is read to its
   end;
   "-" is stdin. AMP_IO as there, and when the bytes of the stream are more than STREAM or the
   account of memory allows; AMP_USAGE for a terminal. */
enum amp_status amp_bytes_open_stream(struct amp_bytes *bytes, const char *path,
                                      const struct amp_stream *stream, struct amp_error *err);

/* AMP_IO unless there is a regular file at PATH. */
enum amp_status amp_file_check(const char *path, struct amp_error *err);

/* Whether PATH is a stream: "-", the name of an open descriptor (/dev/stdin, /dev/fd/3) or what is
   there and no regular file. Such a path says nothing of where the bytes lie. */
bool amp_file_is_stream(const char *path);

#endif
