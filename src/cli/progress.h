#ifndef AMP_CLI_PROGRESS_H
#define AMP_CLI_PROGRESS_H

/*
 * Says on a terminal what takes over a second, and takes it back when it is done; nothing in a
 * pipe. STAGE must be a constant string. The one stage at a time is the last one begun.
 */
void amp_progress_begin(const char *stage);
void amp_progress_end(void);

#endif
