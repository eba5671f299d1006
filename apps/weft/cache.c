/* weft cache: lists, verifies and clears the cache of compiled kernels. */
#include "apps/weft/tool.h"

#include <stdlib.h>

static const app_option table[] = {{"invalid", NULL, "clear: remove only invalid entries",
                                    APP_FLAG(weft_tool_options, invalid, true)},
                                   {0}};

static const char doc[] =
    "List, verify or clear the cache of compiled kernels."
    "\v"
    "The cache is in $XDG_CACHE_HOME/weft, or in ~/.cache/weft. Every entry describes its content "
    "and is verified when it is loaded; removing entries is always safe. With WEFT_CACHE=off it is "
    "not used, with WEFT_CACHE=read only read.\n"
    "\n"
    "Exit status of verify: 0 all entries are valid, 1 some are not.\n"
    "\n"
    "Examples:\n"
    "  weft cache list\n"
    "  weft cache verify || weft cache clear --invalid\n"
    "  weft cache clear";

static const char *print_age(double seconds, char out[32]) {
    if (seconds < 120)
        snprintf(out, 32, "%.0f s", seconds);
    else if (seconds < 2 * 3600)
        snprintf(out, 32, "%.0f min", seconds / 60);
    else if (seconds < 2 * 86400)
        snprintf(out, 32, "%.0f h", seconds / 3600);
    else
        snprintf(out, 32, "%.0f d", seconds / 86400);
    return out;
}

static void list_entries(const weft_cache_entry *entries, size_t n, bool only_invalid) {
    char bytes[32], age[32];
    double total = 0;
    size_t n_invalid = 0;
    for (size_t i = 0; i < n; ++i) {
        total += (double)entries[i].bytes;
        n_invalid += !entries[i].valid;
        if (only_invalid && entries[i].valid)
            continue;
        printf("%s  %8s  %7s  %-7s  %s\n", entries[i].key,
               app_print_bytes((double)entries[i].bytes, bytes),
               print_age(entries[i].age_seconds, age), entries[i].valid ? "valid" : "INVALID",
               entries[i].description);
    }
    printf("%zu %s, %s, %zu invalid\n", n, n == 1 ? "entry" : "entries",
           app_print_bytes(total, bytes), n_invalid);
}

static weft_status show_entries(bool verify, int *code, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cache_entry *entries = NULL;
    size_t n = 0;
    char directory[4096];
    TRY(weft_cache_directory(directory, sizeof directory, error));
    TRY(weft_cache_list(NULL, &entries, &n, error));
    printf("cache %s\n", directory);
    list_entries(entries, n, verify);
    for (size_t i = 0; verify && i < n; ++i)
        if (!entries[i].valid)
            *code = 1;
done:
    free(entries);
    return status;
}

weft_status weft_tool_cache(int argc, char **argv, const weft_monitor *monitor, int *code,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tool_options options = {0};
    size_t n = 0;
    (void)monitor;
    TRY(weft_tool_action_read(table, doc, "the cache", argc, argv, &options, error));
    if (options.arguments[0][0] != 'c') {
        TRY(show_entries(options.arguments[0][0] == 'v', code, error));
        goto done;
    }
    TRY(weft_cache_clear(NULL, options.invalid, &n, error));
    printf("%zu %s removed\n", n, n == 1 ? "entry" : "entries");
done:
    weft_tool_clear(&options);
    return status;
}
