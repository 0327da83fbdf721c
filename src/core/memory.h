#ifndef AMP_CORE_MEMORY_H
#define AMP_CORE_MEMORY_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The account of memory whose size a file decides: the tensors of a run, what control flow gathers,
 * the graph of a model and all that is made of it. Systems promise more memory than there is and
 * end the program when it is touched, so that a failed malloc comes too late or never; here a claim
 * that cannot be met is refused before. The bound is what was available when the first claim was
 * made, at most the machine's memory. Files that are mapped do not count: their pages are the
 * system's. Threads may claim and return at the same time; the bound is set before there are
 * several.
 */

/* Takes SIZE bytes from the account; false, with nothing taken, when they are not there. */
bool amp_memory_claim(size_t size);
void amp_memory_return(size_t size);

/* Whether a claim of SIZE bytes could be met now. */
bool amp_memory_has(size_t size);

/* The same for what arenas hold, of which the first bytes are free: what any model needs for its
   graph, so that a small bound speaks of tensors alone. */
enum { AMP_MEMORY_BASIS = 16 << 20 };
bool amp_memory_claim_basis(size_t size);
void amp_memory_return_basis(size_t size);

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
char *amp_memory_text(size_t bytes, char text[32]);

#endif
