/* weft compile and weft explain: compile scripts and print a chosen stage. */
#include "apps/common/fem.h"
#include "apps/weft/tool.h"
#include "core/base/file.h"

#include <stdlib.h>
#include <string.h>

static const app_option script_options[] = {
    {"param", "NAME=INT", "Value of a parameter of the script; repeatable", .former = "set",
     .read = weft_tool_parameter},
    {"define", "NAME=EXPR", "Body of an expression of the script; repeatable",
     .read = weft_tool_expression},
    {"device", "NAME", "Device to compile for (default auto)", .read = weft_tool_device},
    {"kernels", "DIR",
     "Add the functions of DIR/**/*.kernel.c; they replace shipped functions of the same name",
     APP_BY(weft_tool_text, weft_tool_options, kernels)},
    {"variant", "FUNCTION=NUMBER", "Use this variant of a function, counted from 0; repeatable",
     .read = weft_tool_variant},
    {"product-kernel", "OPERATOR=NAME",
     "Apply an operator by this hand-written matrix-vector product (GPU only); repeatable",
     .former = "routine", .read = weft_tool_product_kernel},
    {"plan-file", "FILE", "Use the kernels of a saved plan (--print plan --format json)",
     .former = "force", APP_BY(weft_tool_text, weft_tool_options, force)},
    {"rematerialize", "NAME",
     "Values that are computed before a loop and read only in it: recompute them in every "
     "iteration (always), store them (never), or do what is predicted to be faster (auto, default)",
     APP_CHOICE(weft_tool_options, rematerialise, weft_tool_rematerialise)},
    {"store", "NAME", NULL, APP_CHOICE(weft_tool_options, rematerialise, weft_tool_stores)},
    {"trip-count", "N", "Expected number of iterations of a loop (default 100)", .former = "turns",
     APP_INTEGER(weft_tool_options, iterations, 1, 1000000)},
    {"max-fusion", "N", "Largest number of calls that are considered for one kernel (default 8)",
     APP_INTEGER(weft_tool_options, max_fusion, 1, 512)},
    {"size", "N",
     "Number of elements of each index set that times are predicted for (default 1000000)",
     .former = "n", APP_INTEGER(weft_tool_options, elements, 1, 2000000000)},
    {"scatter", "NAME",
     "How concurrent additions to one target are kept apart: atomic, chunk-colored, cell-colored, "
     "gather, vertex-patch, edge-patch, cell-patch, or auto (default): on a GPU as is predicted to "
     "be the fastest, else chunk-colored",
     .read = weft_tool_scatter},
    APP_DEGREES(weft_tool_options, ufl.degrees),
    {"precision", "NAME", "Type of real: single or double (default)", .read = weft_tool_precision},
    {"single", NULL, NULL, .read = weft_tool_precision},
    {0}};

static const app_option fuse_table[] = {
    {"print", "STAGE",
     "tokens, script, graph, fusions, implementations, cover, plan (default) or source",
     APP_BY(weft_tool_text, weft_tool_options, print)},
    {"format", "NAME",
     "text (default); dot for graph and plan; json for these, fusions, implementations and cover",
     APP_BY(weft_tool_text, weft_tool_options, format)},
    {"plan", "NAME", "fused (default) or unfused",
     APP_CHOICE(weft_tool_options, plan, weft_tool_plans)},
    {"tune", "N",
     "Measure up to N of the plans that are predicted to be fastest, and store the fastest",
     APP_INTEGER(weft_tool_options, tune, 1, 1000)},
    {0}};

static const char fuse_doc[] =
    "Compile a script and print one stage of the compilation."
    "\v"
    "SCRIPT.weft is a file, the name of a script shipped with Weft, or - for standard input. "
    "Several files are joined in this order into one script.\n"
    "\n"
    "Examples:\n"
    "  weft compile poisson.weft\n"
    "  weft compile poisson.weft --param d=3 --print source\n"
    "  weft compile poisson.weft --print graph --format dot | dot -Tsvg > graph.svg\n"
    "  weft compile my.weft --define 'source=sin(pi*x)' --plan unfused --print plan\n"
    "  weft compile my.weft --device cuda --tune 20 --print cover\n"
    "  weft compile my.weft --format json > plan.json\n"
    "  weft compile my.weft --plan-file plan.json --print source";

static const app_option explain_table[] = {
    {"why", "CALL CALL",
     "Compare the best plan that fuses these two calls with the best one that does not",
     .read = weft_tool_why},
    {"html", "FILE",
     "Write a report for a browser: graph, kernels, times, and source next to the script",
     APP_BY(weft_tool_text, weft_tool_options, html)},
    {0}};

static const char explain_doc[] =
    "Explain the fused and the unfused plan of a script, and what prevents further fusion."
    "\v"
    "Prints the kernels of both plans with the bytes and operations per element, and for "
    "every pair of calls whether they share a kernel, or the reason why not. "
    "docs/reading-an-explanation.md explains an example line by line.\n"
    "\n"
    "Examples:\n"
    "  weft explain poisson.weft\n"
    "  weft explain my.weft --device null:h200\n"
    "  weft explain poisson.weft --why J K\n"
    "  weft explain poisson.weft --html poisson.html";

/* Log it if the algorithm of --scatter cannot be used on this device or for a kernel. */
static void log_scatter(const weft_tool_options *options, const weft_compilation *compilation,
                        const weft_monitor *monitor) {
    weft_kernel_info info;
    if (strcmp(options->scatter_name, "auto") == 0)
        return;
    for (int i = 0; i < weft_compilation_kernels(compilation); ++i) {
        weft_compilation_kernel(compilation, i, &info);
        if (info.scatter && strcmp(info.scatter, options->scatter_name) != 0) {
            weft_log(monitor, WEFT_LOG_WARNING,
                     "--scatter %s cannot be used for kernel %s on this device: it uses %s",
                     options->scatter_name, info.name, info.scatter);
            return;
        }
    }
}

static weft_status print_compilation(const weft_tool_options *options, bool explain,
                                     const weft_monitor *monitor, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tool_scripts scripts = {.n = 0};
    weft_text out = {0};
    char *forced = NULL;
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    weft_tool_tuned tuned = {0};
    weft_device_options device_options = weft_device_options_default(monitor);
    weft_compile_options compile_options = {.size = sizeof compile_options,
                                            .plan = options->plan,
                                            .scatter = options->scatter,
                                            .single = options->single,
                                            .rematerialise = options->rematerialise,
                                            .iterations = options->iterations,
                                            .max_fusion = options->max_fusion,
                                            .elements = options->elements,
                                            .expressions = options->expressions,
                                            .n_expressions = options->n_expressions,
                                            .parameters = options->parameters,
                                            .n_parameters = options->n_parameters,
                                            .variants = options->variants,
                                            .n_variants = options->n_variants,
                                            .operators = options->operators,
                                            .n_operators = options->n_operators};
    TRY(weft_tool_scripts_read(options->arguments, options->n_arguments, &options->ufl, &scripts,
                               error));
    if (options->force)
        TRY(weft_file_read_as(options->force, WEFT_FILE_PLAN, &forced, NULL, error));
    compile_options.forced_plan = forced;
    TRY(weft_tool_library_make(options, &library, error));
    TRY(weft_tool_scripts_add(&scripts, library, error));
    TRY(weft_device_open(options->device, &device_options, &device, error));
    TRY(weft_tool_tune(&tuned, device, library, &scripts, &compile_options, options->tune, error));
    TRY(weft_compile(library, weft_device_limits(device), scripts.fragments, scripts.n,
                     &compile_options, &compilation, error));
    if (!weft_device_limits(device)->records_only)
        TRY(weft_compilation_correct(compilation, device, error));
    log_scatter(options, compilation, monitor);
    weft_tool_tune_log(&tuned, &compile_options, compilation, monitor);
    if (options->tune > 0)
        TRY(weft_tool_kernels_keep(&tuned, device, compilation, &compile_options, error));
    if (options->html)
        TRY(weft_tool_html(options->html, &tuned, compilation, &compile_options, monitor, error));
    else if (options->why[0])
        TRY(weft_compilation_why(compilation, options->why[0], options->why[1], &out, error));
    else if (explain) {
        TRY(weft_compilation_explain(compilation, &out, error));
        weft_tool_tune_explain(&compile_options, compilation, &out);
    } else
        TRY(weft_compilation_print(compilation, options->print, options->format, &out, error));
    if ((explain && !options->html && !options->why[0]) ||
        (!explain && strcmp(options->format, "text") == 0 &&
         (strcmp(options->print, "plan") == 0 || strcmp(options->print, "implementations") == 0)))
        TRY(weft_tool_resources(device, compilation, &out, error));
    if (out.failed)
        status = weft_out_of_memory(error, NULL);
    else if (out.data)
        fwrite(out.data, 1, out.length, stdout);
done:
    weft_compilation_free(&compilation);
    weft_tool_tune_clear(&tuned);
    weft_device_free(&device);
    weft_library_free(&library);
    weft_text_free(&out);
    free(forced);
    weft_tool_scripts_clear(&scripts);
    return status;
}

static weft_status run_on_script(const app_option *table, const char *doc, bool explain, int argc,
                                 char **argv, const weft_monitor *monitor, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tool_options options = {.n_arguments_max = 8};
    TRY(weft_tool_read(table, script_options, "SCRIPT.weft...", doc, argc, argv, &options, error));
    if (options.n_arguments == 0) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "no script is given");
        if (options.why[1])
            weft_error_hint(error, "--why takes two calls, and '%s' was taken for the second",
                            options.why[1]);
        else
            weft_error_hint(error, "write %s SCRIPT.weft, for example %s poisson.weft", argv[0],
                            argv[0]);
        goto done;
    }
    TRY(print_compilation(&options, explain, monitor, error));
done:
    weft_tool_clear(&options);
    return status;
}

weft_status weft_tool_fuse(int argc, char **argv, const weft_monitor *monitor, int *code,
                           weft_error *error) {
    (void)code;
    return run_on_script(fuse_table, fuse_doc, false, argc, argv, monitor, error);
}

weft_status weft_tool_explain(int argc, char **argv, const weft_monitor *monitor, int *code,
                              weft_error *error) {
    (void)code;
    return run_on_script(explain_table, explain_doc, true, argc, argv, monitor, error);
}
