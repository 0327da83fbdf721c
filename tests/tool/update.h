#ifndef TOOL_UPDATE_H
#define TOOL_UPDATE_H

/* Takes what the folders below ROOT expect (stdout, stderr, exit) into the .cases files below
 * TESTS, for cases with args. */
void update_all(const char *tests, const char *root);

#endif
