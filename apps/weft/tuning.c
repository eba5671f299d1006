/* weft tuning: lists, verifies and clears the tuning database. */
#include "apps/weft/tool.h"

#include <stdlib.h>

static const app_option table[] = {{"invalid", NULL, "clear: remove only damaged entries",
                                    APP_FLAG(weft_tool_options, invalid, true)},
                                   {0}};

static const char doc[] =
    "List, verify or clear the tuning database: measurements of the devices of this machine."
    "\v"
    "The database is next to the kernel cache, in $XDG_CACHE_HOME/weft or ~/.cache/weft. weft "
    "calibrate fills it; without it the compiler predicts times from nominal limits of the "
    "device.\n"
    "\n"
    "Exit status of verify: 0 all entries are intact, 1 some are not.\n"
    "\n"
    "Examples:\n"
    "  weft tuning list\n"
    "  weft tuning verify || weft tuning clear --invalid\n"
    "  weft tuning clear";

static weft_status show(weft_tuning *tuning, weft_error *error) {
    weft_tuning_device *list = NULL;
    size_t n = 0;
    weft_status status = weft_tuning_list(tuning, &list, &n, error);
    for (size_t i = 0; status == WEFT_OK && i < n; ++i) {
        printf(
            "%s\n    %lld primitives at %lld points, %lld kernels, %lld best plans, %lld numbers",
            list[i].description, (long long)list[i].n_product_kernels, (long long)list[i].n_times,
            (long long)list[i].n_kernels, (long long)list[i].n_best_plans,
            (long long)list[i].n_numbers);
        if (list[i].n_times > 0)
            printf(", %.1f hours old", list[i].age_seconds / 3600);
        printf("\n");
    }
    if (status == WEFT_OK)
        printf("%zu %s\n", n, n == 1 ? "device" : "devices");
    free(list);
    return status;
}

static weft_status verify(weft_tuning *tuning, int *code, weft_error *error) {
    int64_t n = 0, damaged = 0;
    weft_status status = weft_tuning_verify(tuning, false, &n, &damaged, error);
    if (status == WEFT_OK)
        printf("%lld entries, %lld damaged\n", (long long)n, (long long)damaged);
    *code = damaged > 0;
    return status;
}

static weft_status clear(weft_tuning *tuning, bool only_invalid, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n = 0, damaged = 0;
    TRY(weft_tuning_verify(tuning, only_invalid, &n, &damaged, error));
    if (!only_invalid)
        TRY(weft_tuning_forget(tuning, NULL, error));
    n = only_invalid ? damaged : n;
    printf("%lld %s removed\n", (long long)n, n == 1 ? "entry" : "entries");
done:
    return status;
}

weft_status weft_tool_tuning(int argc, char **argv, const weft_monitor *monitor, int *code,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tuning *tuning = NULL;
    weft_tool_options options = {0};
    TRY(weft_tool_action_read(table, doc, "the tuning database", argc, argv, &options, error));
    const char *action = options.arguments[0];
    const weft_device_options where = weft_device_options_default(monitor);
    TRY(weft_tuning_open(&where, &tuning, error));
    const char *path = weft_tuning_path(tuning);
    if (action[0] == 'l' || action[0] == 'v')
        printf("tuning database %s\n", path[0] ? path : "in memory");
    if (action[0] == 'l')
        TRY(show(tuning, error));
    else if (action[0] == 'v')
        TRY(verify(tuning, code, error));
    else
        TRY(clear(tuning, options.invalid, error));
done:
    weft_tuning_close(&tuning);
    weft_tool_clear(&options);
    return status;
}
