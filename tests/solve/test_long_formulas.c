/* labels: quick */
/* Long formulas: each function of the C library is one copy of code, called, not one copy for each
 * place and lane. Else kernels grow and the compiler takes minutes: 20 sines in --exact, which is
 * evaluated at 9 points for each of 7 quadrature points, made 130 kB and took 9 s on AVX-512. */
#include "test_support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(__aarch64__) /* each part of an object begins on a page of 64 kB */
enum { PAGES = 64 * 1024 };
#else
enum { PAGES = 0 };
#endif
enum { N_SINES = 20, LARGEST = 64 * 1024 + PAGES };

static long largest_file(const char *folder) {
    long largest = 0;
    DIR *files = opendir(folder);
    assert_non_null(files);
    for (struct dirent *entry = readdir(files); entry; entry = readdir(files)) {
        struct stat info;
        char *path = test_path(folder, entry->d_name);
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && (long)info.st_size > largest)
            largest = (long)info.st_size;
        free(path);
    }
    closedir(files);
    return largest;
}

static void test_kernels_stay_small(void **state) {
    char formula[N_SINES * 5 + 32] = "", *cache = NULL, *entries = NULL;
    char *folder = test_folder_make();
    (void)state;
    for (int i = 0; i < N_SINES; ++i)
        strcat(formula, "sin(");
    strcat(formula, "x");
    for (int i = 0; i < N_SINES; ++i)
        strcat(formula, ")");
    assert_true(asprintf(&cache, "XDG_CACHE_HOME=%s", folder) > 0);
    assert_true(asprintf(&entries, "%s/weft", folder) > 0);
    const char *const environment[] = {cache, NULL};
    const char *command[] = {
        WEFT_BINARY_DIR "/poisson", "--mesh", "square:2", "--exact", formula, NULL};
    test_run run = test_program(command, environment);
    assert_int_equal(0, run.exit_code);
    test_run_free(&run);
    assert_in_range(largest_file(entries), 1024, LARGEST);
    free(cache);
    free(entries);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels_stay_small)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
