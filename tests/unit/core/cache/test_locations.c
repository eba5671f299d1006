/* labels: quick */
/* Where the cache lies, and what happens where it cannot: no home, read-only, links, other people's
 * folders. Kernels run all the same, and the reason is said once. */
#include "cache_support.h"
#include "core/weft_core.h"

#include <fcntl.h>
#include <sys/wait.h>

/* It runs, keeps nothing, and warned once, with these words. */
static void check_in_memory(cache_place *place, const char *words) {
    forget_log(place);
    weft_device *device = NULL;
    weft_module *modules[2] = {NULL, NULL};
    char source[512];
    assert_int_equal(weft_device_open("host:1", &place->options, &device, NULL), WEFT_OK);
    for (int i = 0; i < 2; ++i) {
        kernel_source(20 + i, source, sizeof source);
        assert_int_equal(weft_module_make(device, "fill", source, &modules[i], NULL), WEFT_OK);
        assert_false(weft_module_cached(modules[i]));
        assert_true(weft_module_seconds(modules[i]) > 0);
    }
    for (int i = 0; i < 2; ++i)
        weft_module_free(&modules[i]);
    weft_device_free(&device);
    if (place->log.warnings != 1 || !strstr(place->log.text, words))
        fail_msg("wanted one warning with \"%s\", got %d:\n%s", words, place->log.warnings,
                 place->log.text);
    assert_false(kernel_runs(place, 3));
    assert_false(kernel_runs(place, 3));
}

static void the_default_folder(void **state) {
    (void)state;
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    char *xdg = getenv("XDG_CACHE_HOME") ? strdup(getenv("XDG_CACHE_HOME")) : NULL;
    char path[512];
    weft_error error;
    setenv("XDG_CACHE_HOME", "/some/where", 1);
    assert_int_equal(weft_cache_directory(path, sizeof path, &error), WEFT_OK);
    assert_string_equal(path, "/some/where/weft");
    setenv("XDG_CACHE_HOME", "relative", 1); /* to be ignored, says the specification */
    setenv("HOME", "/home/someone", 1);
    assert_int_equal(weft_cache_directory(path, sizeof path, &error), WEFT_OK);
    assert_string_equal(path, "/home/someone/.cache/weft");
    unsetenv("XDG_CACHE_HOME");
    assert_int_equal(weft_cache_directory(path, sizeof path, &error), WEFT_OK);
    assert_string_equal(path, "/home/someone/.cache/weft");
    assert_int_equal(weft_cache_directory(path, 8, &error), WEFT_ERROR_IO);

    unsetenv("HOME");
    assert_int_equal(weft_cache_directory(path, sizeof path, &error), WEFT_ERROR_IO);
    assert_true(error.hint[0] != '\0');
    cache_place *place = place_make();
    place->options.cache_directory = NULL;
    check_in_memory(place, "no home");

    /* system users have a home that does not exist, and is not to be made */
    char *nowhere = test_path(place->folder, "nowhere");
    struct stat info;
    setenv("HOME", nowhere, 1);
    check_in_memory(place, "nowhere/.cache/weft");
    assert_int_not_equal(stat(nowhere, &info), 0);
    unsetenv("HOME");
    free(nowhere);

    /* made with all folders above it, for the owner alone */
    char *below = test_path(place->folder, "a/b");
    char *made = test_path(place->folder, "a/b/weft");
    setenv("XDG_CACHE_HOME", below, 1);
    assert_false(kernel_runs(place, 3));
    assert_true(kernel_runs(place, 3));
    assert_int_equal(stat(made, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    char file[600];
    assert_int_equal(count_files(made, "", ".weft", file, sizeof file), 2);
    assert_int_equal(stat(file, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    free(below);
    free(made);
    place_free(place);
    if (home)
        setenv("HOME", home, 1);
    if (xdg)
        setenv("XDG_CACHE_HOME", xdg, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    free(home);
    free(xdg);
}

static void a_file_in_the_way(void **state) {
    (void)state;
    cache_place *place = place_make();
    test_text_write(place->cache, "a file");
    check_in_memory(place, "cannot open");
    char *below = test_path(place->cache, "weft");
    place->options.cache_directory = below;
    check_in_memory(place, "Not a directory");
    free(below);
    place_free(place);
}

static void a_link_is_not_followed(void **state) {
    (void)state;
    cache_place *place = place_make();
    char *target = test_path(place->folder, "target");
    assert_int_equal(mkdir(target, 0700), 0);
    assert_int_equal(symlink(target, place->cache), 0);
    check_in_memory(place, "symbolic link");
    assert_int_equal(count_files(target, "", "", NULL, 0), 0);
    weft_error error;
    weft_cache_entry *entries = NULL;
    size_t n = 0;
    assert_int_equal(weft_cache_list(place->cache, &entries, &n, &error), WEFT_ERROR_IO);
    assert_int_equal(weft_cache_clear(place->cache, false, &n, &error), WEFT_ERROR_IO);
    assert_non_null(strstr(error.message, "symbolic link"));
    char *slashed = test_path(place->cache, "/");
    place->options.cache_directory = slashed;
    check_in_memory(place, "symbolic link");
    assert_int_equal(count_files(target, "", "", NULL, 0), 0);
    place->options.cache_directory = place->cache;
    free(slashed);
    /* dangling: nothing is made at its end */
    assert_int_equal(rmdir(target), 0);
    check_in_memory(place, "symbolic link");
    assert_int_not_equal(access(target, F_OK), 0);
    free(target);
    place_free(place);
}

/* The names our own files get: links that someone put there lead nowhere either. */
static void a_planted_lock_is_not_followed(void **state) {
    (void)state;
    cache_place *place = place_make();
    char *lock = test_path(place->cache, "lock"), *victim = test_path(place->folder, "victim");
    assert_int_equal(mkdir(place->cache, 0700), 0);
    assert_int_equal(symlink(victim, lock), 0);
    assert_false(kernel_runs(place, 3));
    assert_true(kernel_runs(place, 3));
    assert_int_not_equal(access(victim, F_OK), 0);
    free(lock);
    free(victim);
    place_free(place);
}

static void folders_that_others_may_write(void **state) {
    (void)state;
    cache_place *place = place_make();
    assert_int_equal(mkdir(place->cache, 0700), 0);
    assert_int_equal(chmod(place->cache, 0770), 0);
    check_in_memory(place, "chmod 700");
    assert_int_equal(chmod(place->cache, 0707), 0);
    check_in_memory(place, "chmod 700");
    assert_int_equal(count_files(place->cache, "", "", NULL, 0), 0);
    assert_int_equal(chmod(place->cache, 0700), 0);
    assert_false(kernel_runs(place, 3));
    assert_true(kernel_runs(place, 3));
    place_free(place);
}

static void a_folder_of_another_user(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip_test("only root can make a folder of another user");
    cache_place *place = place_make();
    assert_int_equal(mkdir(place->cache, 0755), 0);
    assert_int_equal(chown(place->cache, 65534, 65534), 0);
    check_in_memory(place, "another user");
    place_free(place);
}

/* Root may write anywhere, so a child without its rights tries. */
static int try_read_only(cache_place *place) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 1;
    place->log = (cache_log){0};
    weft_error error;
    double answer = 0;
    bool cached = false;
    if (run_kernel(&place->options, 3, &answer, &cached, NULL, &error) != WEFT_OK)
        return 2;
    if (!cached || place->log.warnings != 0)
        return 3; /* what is there is used, and nothing is said */
    for (int i = 0; i < 2; ++i)
        if (run_kernel(&place->options, 4, &answer, &cached, NULL, &error) != WEFT_OK || cached)
            return 4;
    if (place->log.warnings != 2 || !strstr(place->log.text, "cannot write"))
        return 5;
    return answer > 3.5 ? 0 : 6;
}

static void a_read_only_folder(void **state) {
    (void)state;
    cache_place *place = place_make();
    char *temporary = test_path(place->folder, "tmp");
    assert_int_equal(mkdir(temporary, 0700), 0);
    const char *owned[] = {place->folder, temporary, place->runs, place->cache, NULL};
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(kernel_runs(place, 3) ? 1 : 0);
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    int before = count_files(place->cache, "", "", NULL, 0);
    char file[600];
    if (geteuid() == 0) {
        for (int i = 0; owned[i]; ++i)
            assert_int_equal(chown(owned[i], 65534, 65534), 0);
        DIR *list = opendir(place->cache);
        assert_non_null(list);
        for (struct dirent *item; (item = readdir(list));) {
            snprintf(file, sizeof file, "%s/%s", place->cache, item->d_name);
            if (item->d_name[0] != '.')
                assert_int_equal(chown(file, 65534, 65534), 0);
        }
        closedir(list);
    }
    assert_int_equal(chmod(place->cache, 0500), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("TMPDIR", temporary, 1);
        _exit(try_read_only(place));
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_int_equal(count_files(place->cache, "", "", NULL, 0), before);
    assert_int_equal(count_files(temporary, "", "", NULL, 0), 0);
    assert_int_equal(chmod(place->cache, 0700), 0);
    free(temporary);
    place_free(place);
}

static void modes(void **state) {
    (void)state;
    cache_place *place = place_make();
    place->options.cache = WEFT_CACHE_OFF;
    assert_false(kernel_runs(place, 3));
    place->options.cache = WEFT_CACHE_READ;
    assert_false(kernel_runs(place, 3));
    assert_int_not_equal(access(place->cache, F_OK), 0); /* not even the folder */
    place->options.cache = WEFT_CACHE_ON;
    assert_false(kernel_runs(place, 3));
    int before = count_files(place->cache, "", "", NULL, 0);
    place->options.cache = WEFT_CACHE_READ;
    assert_true(kernel_runs(place, 3));
    assert_false(kernel_runs(place, 4));
    assert_false(kernel_runs(place, 4));
    place->options.cache = WEFT_CACHE_OFF;
    assert_false(kernel_runs(place, 3));
    assert_int_equal(count_files(place->cache, "", "", NULL, 0), before);
    assert_int_equal(place->log.warnings, 0);
    place_free(place);
}

/* Without a cache folder the leftovers of killed processes lie in TMPDIR. */
static void old_folders_in_tmpdir_are_swept(void **state) {
    (void)state;
    cache_place *place = place_make();
    const char *old = getenv("TMPDIR");
    char *kept = old ? strdup(old) : NULL, *temporary = test_path(place->folder, "tmp");
    assert_int_equal(mkdir(temporary, 0700), 0);
    static const char *const names[] = {
        "weft-00000000000000000000000000000001-0123456789abcdef", /* old */
        "weft-00000000000000000000000000000001-0123456789abcde0", /* young */
        "weft-00000000000000000000000000000001-x",                /* not ours */
    };
    char *paths[3];
    const struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    for (int i = 0; i < 3; ++i) {
        paths[i] = test_path(temporary, names[i]);
        assert_int_equal(mkdir(paths[i], 0700), 0);
        char *file = test_path(paths[i], "module.o");
        test_text_write(file, "x");
        free(file);
        if (i != 1)
            assert_int_equal(utimensat(AT_FDCWD, paths[i], long_ago, 0), 0);
    }
    setenv("TMPDIR", temporary, 1);
    place->options.cache = WEFT_CACHE_OFF;
    assert_false(kernel_runs(place, 3));
    assert_int_not_equal(access(paths[0], F_OK), 0);
    assert_int_equal(access(paths[1], F_OK), 0);
    assert_int_equal(access(paths[2], F_OK), 0);
    assert_int_equal(count_files(temporary, "", "", NULL, 0), 2); /* nor anything of this run */
    if (kept)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    for (int i = 0; i < 3; ++i)
        free(paths[i]);
    free(kept);
    free(temporary);
    place_free(place);
}

static void the_environment(void **state) {
    (void)state;
    cache_log log = {0};
    weft_monitor monitor = {.log = cache_log_add, .user = &log};
    const char *old_compiler = getenv("CC"), *kept = old_compiler ? strdup(old_compiler) : NULL;
    setenv("WEFT_CACHE", "off", 1);
    setenv("WEFT_KEEP", "/tmp/kept", 1);
    setenv("CC", "some-cc -m64", 1);
    weft_device_options options = weft_device_options_default(&monitor);
    assert_ptr_equal(options.monitor, &monitor);
    assert_int_equal(options.cache, WEFT_CACHE_OFF);
    assert_string_equal(options.keep_directory, "/tmp/kept");
    assert_string_equal(options.compiler, "some-cc -m64");
    setenv("WEFT_CACHE", "read", 1);
    unsetenv("WEFT_KEEP");
    setenv("CC", "", 1);
    options = weft_device_options_default(&monitor);
    assert_int_equal(options.cache, WEFT_CACHE_READ);
    assert_null(options.keep_directory);
    assert_null(options.compiler);
    setenv("WEFT_CACHE", "on", 1);
    assert_int_equal(weft_device_options_default(&monitor).cache, WEFT_CACHE_ON);
    assert_int_equal(log.warnings, 0);
    setenv("WEFT_CACHE", "of", 1);
    assert_int_equal(weft_device_options_default(&monitor).cache, WEFT_CACHE_ON);
    assert_int_equal(log.warnings, 1);
    unsetenv("WEFT_CACHE");
    if (kept)
        setenv("CC", kept, 1);
    else
        unsetenv("CC");
    free((void *)(uintptr_t)kept);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_folder),
        cmocka_unit_test(a_file_in_the_way),
        cmocka_unit_test(a_link_is_not_followed),
        cmocka_unit_test(a_planted_lock_is_not_followed),
        cmocka_unit_test(folders_that_others_may_write),
        cmocka_unit_test(a_folder_of_another_user),
        cmocka_unit_test(a_read_only_folder),
        cmocka_unit_test(modes),
        cmocka_unit_test(old_folders_in_tmpdir_are_swept),
        cmocka_unit_test(the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
