/* Makes the folders of test cases out of the .cases files. What a member becomes goes by the ending
   of its path: .onnx a model, .function a function, .pb and .npy a sample, PATH/ samples in files
   input_N.pb and output_N.pb, others the text as it is. ROOT/.made lists the files that each
   archive gave; an archive that is not newer than its list is left alone, and the files that an
   archive gave once and does not give any more are removed. */
#include "commands.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "anchor.h"
#include "archive.h"
#include "fields.h"
#include "model.h"
#include "onnx-data.pb-c.h"
#include "sample.h"
#include "tensor.h"

/* ---- members ---- */

static void expect_end(struct lexer *lexer)
{
    if (peek(lexer)) {
        fail_at(lexer, "'%.20s' is too much", lexer->at);
    }
}

/* The bytes of the member of that path in the case that it names. */
static void put_same(struct buffer *bytes, const struct archive *archive,
                     const struct member *member)
{
    const struct test_case *other = find_case(archive, member->other);
    const struct member *same = other ? find_member(other, member->path) : NULL;
    if (!same || same->form == FORM_SAME) {
        die("%s:%d: case %s has no %s of its own", archive->path, member->line - 1, member->other,
            member->path);
    }
    put_member_bytes(bytes, archive, same);
}

static void put_tensor_bytes(struct lexer *lexer, struct buffer *bytes)
{
    struct buffer packed = {0};
    read_sample(lexer, &packed);
    Onnx__TensorProto *tensor =
        onnx__tensor_proto__unpack(NULL, packed.size, (uint8_t *)packed.data);
    if (!tensor || !tensor->has_raw_data) {
        fail_at(lexer, "a tensor with raw_data is missing");
    }
    put_bytes(bytes, tensor->raw_data.data, tensor->raw_data.len);
}

void put_member_bytes(struct buffer *bytes, const struct archive *archive,
                      const struct member *member)
{
    struct lexer lexer = get_lexer(archive, member);
    if (member->form == FORM_SAME) {
        put_same(bytes, archive, member);
        return;
    }
    if (member->form == FORM_BASE85) {
        if (!put_from_base85(bytes, member->content, member->size)) {
            fail_at(&lexer, "this is not base85");
        }
        return;
    }
    if (member->form == FORM_TENSOR) {
        put_tensor_bytes(&lexer, bytes);
    } else if (has_ending(member->path, "onnx")) {
        put_packed(bytes, &read_model(&lexer, member->fields)->base);
    } else if (has_ending(member->path, "function")) {
        put_packed(bytes, &read_function(&lexer)->base);
    } else if (has_ending(member->path, "pb")) {
        read_sample(&lexer, bytes);
    } else if (has_ending(member->path, "npy")) {
        read_npy(&lexer, bytes);
    } else {
        put_content(bytes, member);
        return;
    }
    expect_end(&lexer);
}

/* ---- files ---- */

/* Where an archive's files go, and which it has. */
struct output {
    const char *root;
    const struct archive *archive;
    struct buffer list; /* a path per line */
};

static char *get_path(const struct output *output, const char *target)
{
    struct buffer path = {0};
    put(&path, output->root);
    put(&path, "/");
    put(&path, target);
    return path.data;
}

/* Notes the file; returns its path. */
static char *add_target(struct output *output, const struct test_case *test, const char *member)
{
    char *target = get_target(output->archive, test->name, member),
         *path = get_path(output, target);
    put(&output->list, target);
    put(&output->list, "\n");
    free(target);
    return path;
}

/* Writes a file unless it is there as it is to be. */
static void write_target(struct output *output, const struct test_case *test, const char *member,
                         const struct buffer *bytes)
{
    char *path = add_target(output, test, member);
    struct buffer before = {0};
    struct stat info;
    if (lstat(path, &info) || !S_ISREG(info.st_mode) || (size_t)info.st_size != bytes->size ||
        !read_file(path, &before) || !is_same(&before, bytes)) {
        unlink(path);
        write_file(path, bytes->data ? bytes->data : "", bytes->size);
    }
    free(before.data);
    free(path);
}

/* Links the member to the file of the same path in the folder beside the case's. */
static void link_target(struct output *output, const struct test_case *test,
                        const struct member *member)
{
    char *path = add_target(output, test, member->path);
    struct buffer to = {0};
    put(&to, "../");
    put(&to, member->other);
    put(&to, "/");
    put(&to, member->path);
    /* The folder is made by a file; what stands there must not be written through. */
    unlink(path);
    write_file(path, "", 0);
    unlink(path);
    if (symlink(to.data, path)) {
        die("%s: %s", path, strerror(errno));
    }
    free(to.data);
    free(path);
}

static void make_folder(struct output *output, const struct test_case *test, const char *member)
{
    struct buffer path = {0};
    char *target = get_target(output->archive, test->name, member);
    put(&path, get_path(output, target));
    put(&path, ".keep");
    write_file(path.data, "", 0);
    unlink(path.data);
    free(target);
    free(path.data);
}

/* The graph of the case's model. */
static const Onnx__GraphProto *get_graph(const struct archive *archive,
                                         const struct test_case *test)
{
    const struct member *member = find_member(test, "model.onnx");
    for (; member && member->form == FORM_LINK;) {
        const struct test_case *other = find_case(archive, member->other);
        member = other ? find_member(other, "model.onnx") : NULL;
    }
    struct buffer bytes = {0};
    if (member) {
        put_member_bytes(&bytes, archive, member);
    }
    const Onnx__ModelProto *model =
        onnx__model_proto__unpack(NULL, bytes.size, (uint8_t *)bytes.data);
    return model ? model->graph : NULL;
}

/* A tensor of the type, the dims and the name that the graph declares its input INDEX to have, and
   of the data that come next. */
static Onnx__TensorProto *read_declared(struct lexer *lexer, const Onnx__GraphProto *graph,
                                        int64_t index)
{
    if (!graph || index < 0 || (size_t)index >= graph->n_input ||
        graph->input[index]->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
        !graph->input[index]->type->tensor_type->shape) {
        fail_at(lexer, "model.onnx says nothing of the tensor that input %lld is",
                (long long)index);
    }
    const Onnx__TypeProto__Tensor *type = graph->input[index]->type->tensor_type;
    Onnx__TensorProto *tensor = new_message(&onnx__tensor_proto__descriptor);
    tensor->has_data_type = true;
    tensor->data_type = type->elem_type;
    tensor->name = graph->input[index]->name;
    tensor->n_dims = type->shape->n_dim;
    tensor->dims = new_memory((tensor->n_dims + 1) * sizeof *tensor->dims);
    for (size_t i = 0; i < tensor->n_dims; i++) {
        if (type->shape->dim[i]->value_case !=
            ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE) {
            fail_at(lexer, "model.onnx has no number for dim %zu of input %lld", i,
                    (long long)index);
        }
        tensor->dims[i] = type->shape->dim[i]->dim_value;
    }
    read_tensor_data(lexer, tensor);
    return tensor;
}

/* Samples: `input N SAMPLE` and `output N SAMPLE`; `input N = DATA` is a tensor as the model
   declares it. */
static void expand_samples(struct output *output, const struct test_case *test,
                           const struct member *member)
{
    struct lexer lexer = get_lexer(output->archive, member);
    const Onnx__GraphProto *graph = get_graph(output->archive, test);
    make_folder(output, test, member->path);
    while (peek(&lexer)) {
        bool is_input = accept_word(&lexer, "input");
        if (!is_input && !accept_word(&lexer, "output")) {
            fail_at(&lexer, "samples begin with `input N` or `output N`");
        }
        struct buffer path = {0}, bytes = {0};
        int64_t index = read_integer(&lexer);
        put(&path, member->path);
        put_format(&path, "%s_%lld.pb", is_input ? "input" : "output", (long long)index);
        if (is_input && peek(&lexer) == '=') {
            put_packed(&bytes, &read_declared(&lexer, graph, index)->base);
        } else if (accept_word(&lexer, "base85")) {
            expect(&lexer, "{");
            read_base85(&lexer, '}', &bytes);
        } else {
            read_sample(&lexer, &bytes);
        }
        write_target(output, test, path.data, &bytes);
        free(path.data);
        free(bytes.data);
    }
}

static void expand_case(struct output *output, const struct test_case *test)
{
    for (size_t i = 0; i < test->n_members; i++) {
        const struct member *member = test->members[i];
        if (member->path[strlen(member->path) - 1] == '/') {
            expand_samples(output, test, member);
        } else if (member->form == FORM_LINK) {
            link_target(output, test, member);
        } else {
            struct buffer bytes = {0};
            put_member_bytes(&bytes, output->archive, member);
            write_target(output, test, member->path, &bytes);
            free(bytes.data);
        }
    }
}

/* ---- what stands there already ---- */

/* ROOT/.made/STAGE:FAMILY.cases for the archive PATH. */
static char *get_list_path(const char *root, const char *tests, const char *path)
{
    struct buffer list = {0};
    put(&list, root);
    put(&list, "/.made/");
    size_t at = list.size;
    put(&list, path + strlen(tests) + 1);
    for (char *slash = list.data + at; (slash = strchr(slash, '/'));) {
        *slash = ':';
    }
    return list.data;
}

static void remove_file(const char *root, const char *target)
{
    struct buffer path = {0};
    put(&path, root);
    put(&path, "/");
    put(&path, target);
    unlink(path.data);
    /* The folders that are empty then. */
    for (char *slash;
         (slash = strrchr(path.data, '/')) && (size_t)(slash - path.data) > strlen(root);) {
        *slash = 0;
        if (rmdir(path.data)) {
            break;
        }
    }
    free(path.data);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Removes the files that the list at LIST_PATH names and the list KEPT does not. */
static void remove_others(const char *root, const char *list_path, const struct buffer *kept)
{
    struct buffer list = {0}, copy = {0};
    char **names = NULL, *left = NULL;
    size_t n = 0;
    if (!read_file(list_path, &list) || !list.size) {
        return;
    }
    put_bytes(&copy, kept->data, kept->size);
    for (char *line = strtok_r(copy.data, "\n", &left); line; line = strtok_r(NULL, "\n", &left)) {
        add_item(&names, &n, line);
    }
    qsort(names, n, sizeof *names, compare_texts);
    for (char *line = strtok_r(list.data, "\n", &left); line; line = strtok_r(NULL, "\n", &left)) {
        if (!n || !bsearch(&line, names, n, sizeof *names, compare_texts)) {
            remove_file(root, line);
        }
    }
}

/* Whether the file A was changed before the file B; one that is not there was. */
static bool is_older(const char *a, const char *b)
{
    struct stat of_a, of_b;
    if (stat(a, &of_a)) {
        return true;
    }
    if (stat(b, &of_b)) {
        return false;
    }
    return of_a.st_mtim.tv_sec < of_b.st_mtim.tv_sec ||
           (of_a.st_mtim.tv_sec == of_b.st_mtim.tv_sec &&
            of_a.st_mtim.tv_nsec < of_b.st_mtim.tv_nsec);
}

static void expand_archive(const char *root, const char *path, const char *list_path)
{
    struct archive *archive = read_archive(path);
    struct output output = {root, archive, {0}};
    forget_anchors();
    for (size_t i = 0; i < archive->n_cases; i++) {
        expand_case(&output, archive->cases[i]);
    }
    remove_others(root, list_path, &output.list);
    write_file(list_path, output.list.data ? output.list.data : "", output.list.size);
}

/* ---- all ---- */

char **list_archives(const char *tests, size_t *n)
{
    struct buffer pattern = {0};
    glob_t *found = new_memory(sizeof *found);
    put(&pattern, tests);
    put(&pattern, "/*/*.cases");
    if (glob(pattern.data, 0, NULL, found)) {
        die("%s: no archives", pattern.data);
    }
    *n = found->gl_pathc;
    return found->gl_pathv;
}

/* Removes what archives that are gone left. */
static void remove_orphans(const char *root, const char *tests, char **archives, size_t n)
{
    struct buffer pattern = {0};
    glob_t found;
    put(&pattern, root);
    put(&pattern, "/.made/*");
    if (glob(pattern.data, 0, NULL, &found)) {
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        bool is_known = false;
        for (size_t j = 0; j < n && !is_known; j++) {
            char *list_path = get_list_path(root, tests, archives[j]);
            is_known = !strcmp(list_path, found.gl_pathv[i]);
            free(list_path);
        }
        if (!is_known) {
            remove_others(root, found.gl_pathv[i], &(struct buffer){0});
            unlink(found.gl_pathv[i]);
        }
    }
    globfree(&found);
}

void expand_all(const char *tests, const char *root)
{
    size_t n;
    char **archives = list_archives(tests, &n);
    remove_orphans(root, tests, archives, n);
    for (size_t i = 0; i < n; i++) {
        char *list_path = get_list_path(root, tests, archives[i]);
        if (is_older(list_path, archives[i]) || is_older(list_path, "/proc/self/exe")) {
            expand_archive(root, archives[i], list_path);
        }
        free(list_path);
    }
}
