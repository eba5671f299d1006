/* weft library: lists the functions of the library and shows one of them. */
#include "apps/weft/tool.h"
#include "fem/weft_fem.h"

#include <stdlib.h>
#include <string.h>

static const app_option table[] = {
    {"kernels", "DIR",
     "Add the functions of DIR/**/*.kernel.c; they replace shipped functions of the same name",
     APP_BY(weft_tool_text, weft_tool_options, kernels)},
    {0}};

static const char doc[] =
    "List the elementary functions, or show one of them."
    "\v"
    "list prints one line per function: its name, kind, granularities (threads per element) and "
    "signature. show prints its part of the kernel file, with all its bodies. In "
    "formulas, " WEFT_FORMULA_FUNCTIONS " and select are available as well.\n"
    "\n"
    "Examples:\n"
    "  weft library list\n"
    "  weft library show mmul\n"
    "  weft library list --kernels my-kernels";

weft_status weft_tool_library_make(const weft_tool_options *options, weft_library **out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    weft_library *library = NULL;
    TRY(weft_fem_library_make(&library, error));
    if (options->kernels)
        TRY(weft_library_add_directory(library, options->kernels, error));
    *out = library;
    library = NULL;
done:
    weft_library_free(&library);
    return status;
}

static void list_functions(const weft_library *library) {
    int widths[3] = {8, 4, 7};
    for (int pass = 0; pass < 2; ++pass) {
        if (pass == 1)
            printf("%-*s  %-*s  %-*s  %s\n", widths[0], "function", widths[1], "kind", widths[2],
                   "threads", "signature");
        for (size_t i = 0; i < weft_library_size(library); ++i) {
            weft_function_info info;
            weft_library_info(library, i, &info);
            char threads[256] = "";
            for (int v = 0; v < info.n_variants; ++v)
                snprintf(threads + strlen(threads), sizeof threads - strlen(threads), "%s%s",
                         v ? ", " : "", info.granularities[v]);
            const char *columns[3] = {info.name, info.kind, threads};
            if (pass == 1)
                printf("%-*s  %-*s  %-*s  %s\n", widths[0], info.name, widths[1], info.kind,
                       widths[2], threads, info.signature);
            for (int c = 0; c < 3; ++c)
                if ((int)strlen(columns[c]) > widths[c])
                    widths[c] = (int)strlen(columns[c]);
        }
    }
}

/* Is it a function without a kernel file? */
static bool show_formula(const char *name) {
    static const char *const arguments[] = {"", "x", "x, y", "condition, x, y"};
    weft_formula_info info;
    if (!weft_formula_describe(name, &info))
        return false;
    printf("%s(%s): a function of formulas and of kernel bodies, for %s; see docs/language.md, "
           "Functions\n",
           info.name, arguments[info.n_arguments], info.domain);
    return true;
}

static weft_status show_function(const weft_library *library, const char *name, weft_error *error) {
    weft_status status = WEFT_OK;
    size_t n = weft_library_size(library);
    const char **names = calloc(n + 1, sizeof *names);
    if (!names)
        TRY(weft_out_of_memory(error, NULL));
    for (size_t i = 0; i < n; ++i) {
        weft_function_info info;
        weft_library_info(library, i, &info);
        names[i] = info.name;
        if (strcmp(info.name, name) == 0) {
            printf("# %s:%d\n%s", info.file, info.line, info.text);
            size_t length = strlen(info.text);
            if (length == 0 || info.text[length - 1] != '\n')
                putchar('\n');
            goto done;
        }
    }
    if (show_formula(name))
        goto done;
    const char *nearest = weft_nearest_name(name, names, n);
    status =
        weft_error_set(error, WEFT_ERROR_USAGE, "there is no elementary function '%.200s'", name);
    if (nearest)
        weft_error_hint(error, "did you mean '%s'? weft library list shows all", nearest);
    else
        weft_error_hint(error, "weft library list shows all");
done:
    free(names);
    return status;
}

static bool has_function(const weft_library *library, const char *name) {
    for (size_t i = 0; i < weft_library_size(library); ++i) {
        weft_function_info info;
        weft_library_info(library, i, &info);
        if (strcmp(info.name, name) == 0)
            return true;
    }
    return false;
}

weft_status weft_tool_library(int argc, char **argv, const weft_monitor *monitor, int *code,
                              weft_error *error) {
    static const char *const names[] = {"list", "show"};
    weft_status status = WEFT_OK;
    weft_library *library = NULL;
    weft_tool_options options = {.n_arguments_max = 2};
    (void)monitor;
    (void)code;
    TRY(weft_tool_read(table, NULL, "[list]\n[show] NAME", doc, argc, argv, &options, error));
    const char *action = options.n_arguments > 0 ? options.arguments[0] : "list";
    bool list = strcmp(action, "list") == 0, show = strcmp(action, "show") == 0;
    bool is_name = !list && !show; /* NAME alone is show NAME */
    if (!is_name && options.n_arguments != (show ? 2 : options.n_arguments > 0)) {
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                show ? "show needs the name of a function" : "list takes no name");
        weft_error_hint(error, "write weft library show NAME, or weft library list");
        goto done;
    }
    TRY(weft_tool_library_make(&options, &library, error));
    if (is_name && (options.n_arguments > 1 ||
                    (!has_function(library, action) && weft_nearest_name(action, names, 2))))
        TRY(weft_tool_refuse("action", action, names, 2, error));
    if (!list)
        TRY(show_function(library, options.arguments[is_name ? 0 : 1], error));
    else
        list_functions(library);
done:
    weft_library_free(&library);
    weft_tool_clear(&options);
    return status;
}
