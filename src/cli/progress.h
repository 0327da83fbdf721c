#ifndef AMP_CLI_PROGRESS_H
#define AMP_CLI_PROGRESS_H

/* Begins STAGE and ends the one before: its name is written to stderr once it has taken a second,
   where that is a terminal. */
void amp_progress_begin(const char *stage);

/* Ends the stage and removes its name from the terminal. Without a stage it does nothing. */
void amp_progress_end(void);

#endif
