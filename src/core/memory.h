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
/* Gives SIZE claimed bytes back. */
void amp_memory_return(size_t size);

/* Whether a claim of SIZE bytes could be met. */
bool amp_memory_has(size_t size);

/* Bytes of arenas that do not count: what any model needs for its graph, so that a small bound
   speaks of tensors alone. */
enum { AMP_MEMORY_BASIS = 16 << 20 };

/* Takes SIZE bytes for an arena, and gives them back. Of all such bytes, those beyond
   AMP_MEMORY_BASIS are taken from the account. False, with nothing taken, when they are not there.
 */
bool amp_memory_claim_basis(size_t size);
void amp_memory_return_basis(size_t size);

/* Bytes that are claimed. */
size_t amp_memory_used(void);

/* The most bytes that can be claimed. */
size_t amp_memory_limit(void);

/* The most bytes that were claimed at any time since the last restart, which makes it what is
   claimed then. */
size_t amp_memory_peak(void);
void amp_memory_restart_peak(void);

/* Sets the most bytes that can be claimed. */
void amp_memory_set_limit(size_t size);

/* Records the failure that WHAT takes SIZE bytes, with the bytes in use and allowed: AMP_IO. */
enum amp_status amp_memory_fail(struct amp_error *err, const char *what, size_t size);

/* Under the address sanitizer: bytes that may not be touched, as what holds them has not given them
   out, and bytes that may be again. */
#ifdef __SANITIZE_ADDRESS__
#    include <sanitizer/asan_interface.h>
#    define AMP_MEMORY_FORBID(data, size) ASAN_POISON_MEMORY_REGION(data, size)
#    define AMP_MEMORY_ALLOW(data, size) ASAN_UNPOISON_MEMORY_REGION(data, size)
#else
#    define AMP_MEMORY_FORBID(data, size) ((void)0)
#    define AMP_MEMORY_ALLOW(data, size) ((void)0)
#endif

/* Writes BYTES for people to TEXT: "512 bytes", "12.3 GB" (powers of 1000). Returns TEXT. */
char *amp_memory_text(size_t bytes, char text[32]);

#endif
