#ifndef AMP_CLI_PROGRESS_H
#define AMP_CLI_PROGRESS_H

#include <stddef.h>

/* Begins STAGE and ends the one before: its name is written to stderr once it has taken a second,
   where that is a terminal. */
void amp_progress_begin(const char *stage);

/* Says that DONE of TOTAL parts of the stage are done: once it has taken a second, the line has the
   share and the time that is left. OWNER is whose parts they are: the first since the stage began
   decides what is counted, parts of others are not. */
void amp_progress_step(const void *owner, size_t done, size_t total);

/* Removes the line from the terminal before another is printed; the stage goes on. */
void amp_progress_clear(void);

/* Ends the stage and removes its name from the terminal. Without a stage it does nothing. */
void amp_progress_end(void);

#endif
