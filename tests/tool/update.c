/* Rewrites expectations in .cases files: the members stdout, stderr and exit of each case with
   args, and txt of those that have it, become what the files of its folder are. All else in an
   archive stays as it was written, to the byte. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive.h"

/* A part of an archive's text that another takes the place of. */
struct change {
    size_t begin, end;
    struct buffer text;
};

struct changes {
    const struct archive *archive;
    struct change **items;
    size_t n;
};

static struct change *add_change(struct changes *changes, size_t begin, size_t end)
{
    struct change *change = new_memory(sizeof *change);
    change->begin = begin;
    change->end = end;
    add_item(&changes->items, &changes->n, change);
    return change;
}

/* Pages are made to be looked at in a browser: nobody reads them in an archive. */
static bool is_page(const struct buffer *text)
{
    static const char begin[] = "<!DOCTYPE html>";
    return text->size >= strlen(begin) && !memcmp(text->data, begin, strlen(begin));
}

/* One expectation of a case: what the archive has, and what the folder FOLDER has. */
static void compare(struct changes *changes, const struct test_case *test, const char *folder,
                    const char *name)
{
    const struct archive *archive = changes->archive;
    const struct member *member = find_member(test, name);
    struct buffer path = {0}, expected = {0}, text = {0};
    put(&path, folder);
    put(&path, name);
    bool is_there = read_file(path.data, &text);
    if (member) {
        put_member_bytes(&expected, archive, member);
    }
    if (is_there == (member != NULL) && is_same(&text, &expected)) {
        return;
    }
    bool is_line = is_there && fits_line(&text),
         was_line = member && member->begin < test->lines_end;
    bool is_in_place = is_there && member && is_line == was_line;
    if (member && !is_in_place) {
        add_change(changes, member->begin, member->end);
    }
    if (is_there) {
        size_t at = is_line ? test->lines_end : test->end;
        struct change *change = is_in_place ? add_change(changes, member->begin, member->end)
                                            : add_change(changes, at, at);
        put_file_member(&change->text, name, &text, member ? member->is_packed : is_page(&text));
    }
}

static int compare_places(const void *a, const void *b)
{
    const struct change *one = *(struct change *const *)a, *other = *(struct change *const *)b;
    if (one->begin != other->begin) {
        return one->begin < other->begin ? -1 : 1;
    }
    return one->end == other->end ? 0 : one->end < other->end ? -1 : 1;
}

static void write_changed(struct changes *changes)
{
    const struct archive *archive = changes->archive;
    struct buffer text = {0};
    size_t at = 0;
    qsort(changes->items, changes->n, sizeof(struct change *), compare_places);
    for (size_t i = 0; i < changes->n; i++) {
        const struct change *change = changes->items[i];
        put_bytes(&text, archive->text.data + at, change->begin - at);
        put_bytes(&text, change->text.data, change->text.size);
        at = change->end;
    }
    put_bytes(&text, archive->text.data + at, archive->text.size - at);
    write_file(archive->path, text.data, text.size);
    printf("%s: %zu expectations rewritten\n", archive->path, changes->n);
}

static void update_archive(const char *root, const char *path)
{
    static const char *const expectations[] = {"exit", "stdout", "stderr"};
    struct archive *archive = read_archive(path);
    struct changes changes = {archive, NULL, 0};
    for (size_t i = 0; i < archive->n_cases; i++) {
        const struct test_case *test = archive->cases[i];
        struct buffer folder = {0};
        put(&folder, root);
        put(&folder, "/");
        put(&folder, get_target(archive, test->name, ""));
        for (size_t j = 0;
             find_member(test, "args") && j < sizeof expectations / sizeof *expectations; j++) {
            compare(&changes, test, folder.data, expectations[j]);
        }
        if (find_member(test, "txt")) {
            compare(&changes, test, folder.data, "txt");
        }
        free(folder.data);
    }
    if (changes.n) {
        write_changed(&changes);
    }
}

void update_all(const char *tests, const char *root)
{
    size_t n;
    char **archives = list_archives(tests, &n);
    for (size_t i = 0; i < n; i++) {
        update_archive(root, archives[i]);
    }
}
