/* labels: full */
/* Mesh files with bytes, numbers and lines changed at random, from a fixed seed: the checks of
 * weft-gmsh answer with one of their statuses, and what they pass is read or refused by Gmsh, in
 * bounded time. What is read is a mesh that weft_mesh_make has checked. */
#include "apps/gmsh/weft_gmsh.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHECKED = 400, THROUGH_GMSH = 2, BYTES = 8192 };

static uint64_t state_of_random = 20240229;

static size_t draw(size_t n) {
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return (size_t)(state_of_random % n);
}

typedef struct bytes {
    char data[BYTES + 1];
    size_t n;
} bytes;

static void replace(bytes *in, size_t at, size_t cut, const char *by, size_t n) {
    if (at + cut > in->n)
        cut = in->n - at;
    if (in->n - cut + n > BYTES)
        return;
    memmove(in->data + at + n, in->data + at + cut, in->n - at - cut);
    memcpy(in->data + at, by, n);
    in->n += n - cut;
}

/* A byte, a number in text, eight bytes of a count, or a line twice. */
static void mutate(bytes *in) {
    static const char *const numbers[] = {
        "0",  "-1", "2147483647", "4294967296", "1e300",
        "15", "92", "nan",        "99999999",   "9223372036854775807"};
    static const int64_t counts[] = {0, 1, -1, INT32_MAX, INT64_MAX, (int64_t)1 << 31, 1000};
    size_t at = draw(in->n);
    switch (draw(4)) {
    case 0:
        in->data[at] = (char)draw(256);
        break;
    case 1: {
        at += strcspn(in->data + at, "0123456789");
        const char *number = numbers[draw(sizeof numbers / sizeof *numbers)];
        if (at < in->n)
            replace(in, at, strspn(in->data + at, "0123456789"), number, strlen(number));
        break;
    }
    case 2: {
        int64_t count = counts[draw(sizeof counts / sizeof *counts)];
        replace(in, at, 8, (const char *)&count, 8);
        break;
    }
    default: {
        size_t n = strcspn(in->data + at, "\n");
        char line[200];
        n = n < sizeof line ? n : sizeof line;
        memcpy(line, in->data + at, n);
        replace(in, at, draw(2) ? n : 0, line, n);
    }
    }
    in->data[in->n] = '\0';
}

/* Does the file pass?  */
static bool passes(const char *path, const bytes *in) {
    weft_error error = {0};
    msh_file file = {.path = path, .text = in->data, .size = in->n, .error = &error};
    weft_status status =
        path_ends_with(path, ".msh") ? msh_check_mapped(&file) : other_check_mapped(&file);
    msh_names_clear(&file.names);
    if (status != WEFT_OK && status != WEFT_ERROR_INPUT && status != WEFT_ERROR_UNSUPPORTED)
        fail_msg("%s: %s", path, weft_status_name(status));
    assert_true(status == WEFT_OK || (error.message[0] && error.hint[0]));
    return status == WEFT_OK;
}

/* False: Gmsh has crashed, which ends as an error, too. */
static bool read_by_gmsh(const char *path, const bytes *in) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    test_file_write(path, in->data, in->n);
    weft_status status = weft_mesh_read_with(
        path, &(weft_mesh_options){.size = sizeof(weft_mesh_options), .seconds = 120}, NULL, &mesh,
        &error);
    weft_mesh_free(&mesh);
    bool known = status == WEFT_OK || status == WEFT_ERROR_INPUT ||
                 status == WEFT_ERROR_UNSUPPORTED || status == WEFT_ERROR_MEMORY;
    if (!known || strstr(error.message, "seconds, and was stopped"))
        fail_msg("%s: %s: %s", path, weft_status_name(status), error.message);
    return !strstr(error.message, "crashed");
}

/* n_gmsh  of those that pass, how many go through Gmsh */
static size_t check_file(const char *path, const bytes *from, size_t n_gmsh) {
    size_t n_crashed = 0;
    for (int i = 0; i < CHECKED; ++i) {
        bytes changed = *from;
        for (size_t k = 1 + draw(3); k > 0 && changed.n > 0; --k)
            mutate(&changed);
        bool passed = passes(path, &changed);
        if (!passed || n_gmsh == 0)
            continue;
        --n_gmsh;
        n_crashed += !read_by_gmsh(path, &changed);
    }
    return n_crashed;
}

static bool read_corpus(const char *corpus, const char *name, bytes *out) {
    size_t length = 0;
    char *path = test_path(corpus, name);
    char *text = name[0] == '.' ? NULL : test_file_read(path, &length);
    bool small = text && length > 0 && length <= BYTES / 2;
    if (small) {
        memcpy(out->data, text, length + 1);
        out->n = length;
    }
    free(text);
    free(path);
    return small;
}

static void test_mutated(void **state) {
    static const char corpus[] = WEFT_SOURCE_DIR "/tests/fuzz/corpus/fuzz_mesh_check";
    const char *program = getenv("WEFT_GMSH");
    const size_t n_gmsh = program && access(program, X_OK) == 0 ? THROUGH_GMSH : 0;
    size_t n_files = 0, n_crashed = 0;
    struct dirent **entries = NULL;
    (void)state;
    char *folder = test_folder_make();
    int n = scandir(corpus, &entries, NULL, alphasort);
    for (int i = 0; i < n; ++i) {
        bytes from;
        if (read_corpus(corpus, entries[i]->d_name, &from)) {
            char *path = test_path(folder, entries[i]->d_name);
            n_crashed += check_file(path, &from, path_ends_with(path, ".geo") ? 0 : n_gmsh);
            free(path);
            ++n_files;
        }
        free(entries[i]);
    }
    free(entries);
    assert_true(n_files >= 10);
    if (n_crashed > 0)
        fail_msg("Gmsh crashed on %zu files", n_crashed);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
