/* The tool of the tests that are text: makes the folders of cases out of .cases files
   (tests/README.md describes these), writes what the folders expect back, and writes files as text.
   It links with protobuf-c and jansson and shares no code with the program that is tested. Exits 1
   with FILE:LINE where a text is wrong. */
#include <stdio.h>
#include <string.h>

#include "buffer.h"
#include "commands.h"

static const char usage[] =
    "usage: case_tool expand TESTS ROOT       folders below ROOT from TESTS/STAGE/FAMILY.cases\n"
    "       case_tool update TESTS ROOT       stdout, stderr and exit of the folders back into the "
    ".cases files\n"
    "       case_tool print FOLDER...         folders as cases; a prefix FOLDER/NAME. takes the "
    "files NAME.*\n"
    "       case_tool show FILE               a model, sample or .npy file as text\n"
    "       case_tool xml FILE                exits 1 unless the file is well-formed XML\n"
    "       case_tool schema SCHEMA FILE...   whether JSON is as a schema has it, and has all of "
    "it\n";

static int print(void (*put_all)(struct buffer *, char **, int), char **paths, int n)
{
    struct buffer text = {0};
    put_all(&text, paths, n);
    return fwrite(text.data, 1, text.size, stdout) != text.size || fflush(stdout);
}

static void put_first(struct buffer *buffer, char **paths, int n)
{
    (void)n;
    put_file(buffer, paths[0]);
}

int main(int argc, char **argv)
{
    const char *command = argc > 2 ? argv[1] : "";
    if (!strcmp(command, "expand") && argc == 4) {
        expand_all(argv[2], argv[3]);
    } else if (!strcmp(command, "update") && argc == 4) {
        update_all(argv[2], argv[3]);
    } else if (!strcmp(command, "print")) {
        return print(put_cases, argv + 2, argc - 2);
    } else if (!strcmp(command, "show") && argc == 3) {
        return print(put_first, argv + 2, 1);
    } else if (!strcmp(command, "schema") && argc > 3) {
        return schema_check(argv[2], argv + 3, argc - 3);
    } else if (!strcmp(command, "xml") && argc == 3) {
        return !check_xml(argv[2]);
    } else {
        fputs(usage, stderr);
        return 2;
    }
    return 0;
}
