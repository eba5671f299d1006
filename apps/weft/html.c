/* weft explain --html: measures the kernels of a plan and writes the report with their times. */
#include "apps/weft/tool.h"
#include "core/base/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The key of a kernel in the tuning database: a hash of the generated source and its name. */
static weft_status hash_kernel(const weft_compilation *compilation, const weft_kernel_info *kernel,
                               char out[33], weft_error *error) {
    weft_text text = {0};
    weft_text_add(&text, "%s %s", kernel->name, weft_compilation_source(compilation));
    if (text.failed) {
        weft_text_free(&text);
        return weft_out_of_memory(error, NULL);
    }
    weft_hash(text.data, text.length, out);
    weft_text_free(&text);
    return WEFT_OK;
}

static weft_status make_seconds(const weft_compilation *compilation, double **out,
                                weft_error *error) {
    const int n = weft_compilation_kernels(compilation);
    *out = calloc((size_t)n + 1, sizeof **out);
    if (!*out)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < n; ++i)
        (*out)[i] = -1;
    return WEFT_OK;
}

weft_status weft_tool_kernels_keep(weft_tool_tuned *tuned, weft_device *device,
                                   const weft_compilation *compilation,
                                   const weft_compile_options *options, weft_error *error) {
    weft_status status = WEFT_OK;
    double *seconds = NULL;
    TRY(make_seconds(compilation, &seconds, error));
    TRY(weft_search_kernels(device, compilation, seconds, error));
    for (int i = 0; i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info info;
        char hash[33];
        weft_compilation_kernel(compilation, i, &info);
        if (info.is_member || info.is_sized)
            continue;
        TRY(hash_kernel(compilation, &info, hash, error));
        const weft_tuning_kernel row = {hash, info.name, weft_tool_elements(options), info.seconds,
                                        seconds[i]};
        TRY(weft_tuning_add_kernel(tuned->tuning, tuned->identity, &row, error));
    }
done:
    free(seconds);
    return status;
}

static weft_status find_measured(const weft_tool_tuned *tuned, const weft_compilation *compilation,
                                 int64_t elements, double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tuning_kernel *known = NULL;
    size_t n = 0;
    if (!tuned->tuning) /* a device that measures nothing */
        goto done;
    TRY(weft_tuning_kernels(tuned->tuning, tuned->identity, tuned->arena, &known, &n, error));
    for (int i = 0; i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info info;
        char hash[33];
        weft_compilation_kernel(compilation, i, &info);
        TRY(hash_kernel(compilation, &info, hash, error));
        for (size_t k = 0; k < n; ++k)
            if (strcmp(known[k].kernel, hash) == 0 && known[k].elements == elements)
                seconds[i] = known[k].measured;
    }
done:
    return status;
}

/* Run Graphviz (dot) on a text; NULL if it is not installed or fails. */
static char *run_dot(void *user, const char *dot) {
    const weft_monitor *monitor = user;
    char program[4096], format[] = "-Tjson0", *answer = NULL;
    char *const arguments[] = {program, format, NULL};
    const app_child_start start = {.arguments = arguments, .input = dot};
    app_child child = {0};
    weft_error error = {0};
    int stopped = 0;
    if (!weft_find_in_path("dot", program, sizeof program))
        return NULL;
    if (app_child_run(&start, &child, &stopped, &error) == WEFT_OK && child.exit_code == 0) {
        answer = child.output;
        child.output = NULL;
    } else {
        weft_log(monitor, WEFT_LOG_WARNING, "%s does not lay the graph out: %.300s", program,
                 child.error ? child.error : error.message);
    }
    app_child_clear(&child);
    return answer;
}

weft_status weft_tool_html(const char *path, const weft_tool_tuned *tuned,
                           const weft_compilation *compilation, const weft_compile_options *options,
                           const weft_monitor *monitor, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_monitor log = *monitor;
    const weft_report_layout layout = {run_dot, &log};
    weft_text page = {0};
    double *seconds = NULL;
    TRY(make_seconds(compilation, &seconds, error));
    TRY(find_measured(tuned, compilation, weft_tool_elements(options), seconds, error));
    TRY(weft_compilation_html(compilation, seconds, &layout, &page, error));
    TRY(app_file_write(path, page.data, error));
done:
    weft_text_free(&page);
    free(seconds);
    return status;
}
