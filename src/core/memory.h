#ifndef AMP_CORE_MEMORY_H
#define AMP_CORE_MEMORY_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The account of memory whose size a model decides: the tensors of a run, and what control flow
 * gathers. Systems promise more memory than there is and end the program when it is touched, so
 * that a failed malloc comes too late or never; here a claim that cannot be met is refused before.
 * The bound is what was available when the first claim was made, at most the machine's memory.
 * Not for several threads at once.
 */

/* Takes SIZE bytes from the account; false, with nothing taken, when they are not there. */
bool amp_memory_claim(size_t size);
void amp_memory_return(size_t size);

/* Bytes claimed now, and the most there can be. */
size_t amp_memory_used(void);
size_t amp_memory_limit(void);

/* The most bytes that were claimed at any time since the last restart, which makes it what is
   claimed then. */
size_t amp_memory_peak(void);
void amp_memory_restart_peak(void);

/* Sets the most there can be. */
void amp_memory_set_limit(size_t size);

/* AMP_IO: that WHAT takes SIZE bytes, and how much is in use and allowed. */
enum amp_status amp_memory_fail(struct amp_error *err, const char *what, size_t size);

/* BYTES for people: "512 bytes", "12.3 GB" (powers of 1000). Returns TEXT. */
char *amp_size_text(size_t bytes, char text[32]);

#endif
