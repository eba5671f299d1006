/* What the cache tests share: a folder of their own, a monitor that remembers, a kernel whose
 * answer shows which source ran, and a compiler that counts its runs. */
#ifndef WEFT_CACHE_SUPPORT_H
#define WEFT_CACHE_SUPPORT_H

#include "core/weft_core.h"
#include "test_support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct cache_log {
    int warnings;
    char text[8192];
} cache_log;

static inline void cache_log_add(void *user, weft_log_level level, const char *message) {
    cache_log *log = user;
    size_t used = strlen(log->text);
    log->warnings += level <= WEFT_LOG_WARNING;
    snprintf(log->text + used, sizeof log->text - used, "%s\n", message);
}

/* A scratch folder with options that keep everything inside of it. */
typedef struct cache_place {
    char *folder, *cache, *compiler, *runs;
    cache_log log;
    weft_monitor monitor;
    weft_device_options options;
} cache_place;

static inline const char *real_compiler(void) {
    const char *compiler = getenv("CC");
    return compiler && compiler[0] ? compiler : "cc";
}

/* A script that adds a line to `runs` each time and then behaves as the real compiler; where the
 * file "slow" lies beside it, it makes "started" instead and fails when "slow" is gone. */
static inline void write_compiler(const cache_place *place) {
    char text[2048];
    snprintf(text, sizeof text,
             "#!/bin/sh\n"
             "echo \"$1\" >> '%s'\n"
             "if [ \"$1\" != --version ] && [ -e '%s/slow' ]; then\n"
             "  : > partial.o; : > '%s/started'\n"
             "  while [ -e '%s/slow' ]; do sleep 0.02; done; exit 1\n"
             "fi\n"
             "exec %s \"$@\"\n",
             place->runs, place->folder, place->folder, place->folder, real_compiler());
    test_text_write(place->compiler, text);
    assert_int_equal(chmod(place->compiler, 0755), 0);
}

static inline cache_place *place_make(void) {
    cache_place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    place->folder = test_folder_make();
    place->cache = test_path(place->folder, "cache");
    place->compiler = test_path(place->folder, "counted-cc");
    place->runs = test_path(place->folder, "runs");
    write_compiler(place);
    place->monitor = (weft_monitor){.log = cache_log_add, .user = &place->log};
    place->options = (weft_device_options){.size = sizeof(weft_device_options),
                                           .monitor = &place->monitor,
                                           .cache = WEFT_CACHE_ON,
                                           .cache_directory = place->cache,
                                           .compiler = place->compiler};
    return place;
}

static inline void place_free(cache_place *place) {
    free(place->cache);
    free(place->compiler);
    free(place->runs);
    test_folder_remove(&place->folder);
    free(place);
}

/* Lines of `runs` so far: each is a process. */
static inline int compiler_runs(const cache_place *place) {
    int n = 0;
    char *text = test_file_read(place->runs, NULL);
    for (const char *c = text; c && *c; ++c)
        n += *c == '\n';
    free(text);
    return n;
}

static inline void forget_log(cache_place *place) {
    memset(&place->log, 0, sizeof place->log);
}

/* x[i] = number for every i. */
static inline void kernel_source(int number, char *out, size_t size) {
    snprintf(out, size,
             "#include <stdint.h>\n"
             "void fill(void *const *a, int64_t n, int64_t first, int64_t last)\n"
             "{ double *x = a[0]; (void)n; for (int64_t i = first; i < last; ++i) x[i] = %d; }\n",
             number);
}

/* Open a device, make the kernel, run it. *seconds is weft_module_make's. */
static inline weft_status run_kernel(const weft_device_options *options, int number, double *answer,
                                     bool *cached, double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = NULL;
    weft_module *module = NULL;
    weft_memory *memory = NULL;
    char source[512];
    kernel_source(number, source, sizeof source);
    TRY(weft_device_open("host:1", options, &device, error));
    double start = weft_clock();
    TRY(weft_module_make(device, "fill", source, &module, error));
    if (seconds)
        *seconds = weft_clock() - start;
    TRY(weft_memory_make(device, 8 * sizeof(double), &memory, error));
    weft_launch launch = {.module = module,
                          .kernel = "fill",
                          .arguments = &memory,
                          .n_arguments = 1,
                          .n_elements = 8,
                          .lanes = 1};
    TRY(weft_device_launch(device, &launch, error));
    TRY(weft_memory_read(memory, 7 * sizeof(double), answer, sizeof *answer, error));
    *cached = weft_module_cached(module);
done:
    weft_memory_free(&memory);
    weft_module_free(&module);
    weft_device_free(&device);
    return status;
}

/* It runs and gives the right answer; says whether it was cached. */
static inline bool kernel_runs(cache_place *place, int number) {
    weft_error error = {0};
    double answer = 0;
    bool cached = false;
    weft_status status = run_kernel(&place->options, number, &answer, &cached, NULL, &error);
    if (status != WEFT_OK)
        fail_msg("%s: %s", weft_status_name(status), error.message);
    assert_double_near(answer, number, 0, 0);
    return cached;
}

/* Files in the folder whose name starts with `start`; the last one's path in out. */
static inline int count_files(const char *folder, const char *start, const char *end, char *out,
                              size_t size) {
    int n = 0;
    DIR *list = opendir(folder);
    for (struct dirent *item; list && (item = readdir(list));) {
        size_t length = strlen(item->d_name), tail = strlen(end);
        if (item->d_name[0] == '.' || strncmp(item->d_name, start, strlen(start)) != 0 ||
            length < tail || strcmp(item->d_name + length - tail, end) != 0)
            continue;
        ++n;
        if (out)
            snprintf(out, size, "%s/%s", folder, item->d_name);
    }
    if (list)
        closedir(list);
    return n;
}

/* The file of the only kernel there is (entries of compilers are smaller than any object). */
static inline char *kernel_entry(const cache_place *place) {
    weft_cache_entry *entries = NULL;
    size_t n = 0;
    char name[64], *path = NULL;
    assert_int_equal(weft_cache_list(place->cache, &entries, &n, NULL), WEFT_OK);
    for (size_t i = 0; i < n; ++i)
        if (entries[i].bytes > 4096) {
            assert_null(path);
            snprintf(name, sizeof name, "%s.weft", entries[i].key);
            path = test_path(place->cache, name);
        }
    free(entries);
    assert_non_null(path);
    return path;
}

static inline size_t n_invalid(const cache_place *place) {
    weft_cache_entry *entries = NULL;
    size_t n = 0, invalid = 0;
    assert_int_equal(weft_cache_list(place->cache, &entries, &n, NULL), WEFT_OK);
    for (size_t i = 0; i < n; ++i)
        invalid += !entries[i].valid;
    free(entries);
    return invalid;
}

#endif
