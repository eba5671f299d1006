/* Reads the options of all subcommands. */
#include "apps/weft/tool.h"

#include <stdlib.h>
#include <string.h>

weft_status weft_tool_refuse(const char *what, const char *word, const char *const *names, size_t n,
                             weft_error *error) {
    weft_text list = {0};
    for (size_t i = 0; i < n; ++i)
        weft_text_add(&list, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " and ", names[i]);
    const char *nearest = weft_nearest_name(word, names, n);
    weft_error_set(error, WEFT_ERROR_USAGE, "unknown %s '%.200s'", what, word);
    weft_error_hint(error, "%s%s%sthere are %s", nearest ? "did you mean '" : "",
                    nearest ? nearest : "", nearest ? "'? " : "",
                    list.failed || !list.data ? "none" : list.data);
    weft_text_free(&list);
    return WEFT_ERROR_USAGE;
}

/* Parse "NAME=VALUE"; both are copied into the arena. */
static weft_status split(weft_tool_options *options, const char *option, const char *text,
                         const char *form, const char **name, const char **value,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    char *left = NULL, *right = NULL;
    TRY(app_split_assignment(option, text, form, &left, &right, error));
    *name = weft_arena_copy(options->arena, left, strlen(left));
    *value = weft_arena_copy(options->arena, right, strlen(right));
    if (!*name || !*value)
        status = weft_out_of_memory(error, NULL);
done:
    free(left);
    free(right);
    return status;
}

weft_status weft_tool_expression(const app_option *row, const char *option, const char *text,
                                 void *at, weft_error *error) {
    weft_tool_options *options = at;
    (void)row;
    weft_status status = WEFT_OK;
    weft_expression made = {.origin = "--define"};
    TRY(split(options, option, text, "NAME=EXPR", &made.name, &made.text, error));
    TRY(APP_APPEND(options->expressions, options->n_expressions, made, error));
done:
    return status;
}

weft_status weft_tool_parameter(const app_option *row, const char *option, const char *text,
                                void *at, weft_error *error) {
    weft_tool_options *options = at;
    (void)row;
    weft_status status = WEFT_OK;
    weft_parameter made = {0};
    const char *value = NULL;
    TRY(split(options, option, text, "NAME=INT", &made.name, &value, error));
    TRY(app_parse_integer(option, value, -1000000, 1000000, &made.value, error));
    TRY(APP_APPEND(options->parameters, options->n_parameters, made, error));
done:
    return status;
}

static weft_status too_many(const char *option, size_t most, weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_USAGE, "more than %zu options %s", most, option);
}

weft_status weft_tool_variant(const app_option *row, const char *option, const char *text, void *at,
                              weft_error *error) {
    weft_tool_options *options = at;
    (void)row;
    weft_status status = WEFT_OK;
    const size_t most = sizeof options->variants / sizeof *options->variants;
    const char *number = NULL;
    if ((size_t)options->n_variants == most)
        TRY(too_many(option, most, error));
    weft_variant_choice *made = &options->variants[options->n_variants];
    TRY(split(options, option, text, "FUNCTION=NUMBER", &made->function, &number, error));
    TRY(app_parse_integer(option, number, 0, 1000, &made->variant, error));
    ++options->n_variants;
done:
    return status;
}

weft_status weft_tool_device(const app_option *row, const char *option, const char *text, void *at,
                             weft_error *error) {
    weft_tool_options *options = at;
    (void)row;
    const size_t most = sizeof options->devices / sizeof *options->devices;
    if ((size_t)options->n_devices == most)
        return too_many(option, most, error);
    options->device = options->devices[options->n_devices++] = text;
    return WEFT_OK;
}

weft_status weft_tool_product_kernel(const app_option *row, const char *option, const char *text,
                                     void *at, weft_error *error) {
    weft_tool_options *options = at;
    (void)row;
    weft_status status = WEFT_OK;
    const size_t most = sizeof options->operators / sizeof *options->operators;
    if ((size_t)options->n_operators == most)
        TRY(too_many(option, most, error));
    weft_operator_choice *made = &options->operators[options->n_operators];
    *made = (weft_operator_choice){0};
    TRY(split(options, option, text, "OPERATOR=NAME", &made->name, &made->product_kernel, error));
    ++options->n_operators;
done:
    return status;
}

/* Former names that --scatter still accepts. */
static const char *current_scatter(const char *text) {
    static const char *const names[][2] = {
        {"coloured", "auto"}, {"gathered", "gather"}, {"cells", "cell-colored"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (strcmp(text, names[i][0]) == 0)
            return names[i][1];
    return text;
}

weft_status weft_tool_scatter(const app_option *row, const char *option, const char *text, void *at,
                              weft_error *error) {
    weft_tool_options *options = at;
    (void)row;
    static const char *const names[] = {"auto",   "atomic",       "chunk-colored", "cell-colored",
                                        "gather", "vertex-patch", "edge-patch",    "cell-patch"};
    static const weft_scatter scatter_of[] = {WEFT_SCATTER_AUTO,     WEFT_SCATTER_IN_PLACE,
                                              WEFT_SCATTER_IN_PLACE, WEFT_SCATTER_CELL_COLOURS,
                                              WEFT_SCATTER_GATHERED, WEFT_SCATTER_VERTEX_PATCHES,
                                              WEFT_SCATTER_PATCHES,  WEFT_SCATTER_CELL_PATCHES};
    weft_status status = WEFT_OK;
    int choice = 0;
    TRY(app_parse_choice(option, current_scatter(text), names, sizeof names / sizeof *names,
                         &choice, error));
    options->scatter = scatter_of[choice];
    options->scatter_name = names[choice];
done:
    return status;
}

const char *const weft_tool_plans[] = {"fused", "unfused", NULL};
const char *const weft_tool_rematerialise[] = {"auto", "never", "always", NULL};
const char *const weft_tool_stores[] = {"auto", "always", "never", NULL};

weft_status weft_tool_text(const app_option *row, const char *option, const char *text, void *at,
                           weft_error *error) {
    (void)row, (void)option, (void)error;
    *(const char **)at = text;
    return WEFT_OK;
}

/* --precision, or --single, its former name without a value. */
weft_status weft_tool_precision(const app_option *row, const char *option, const char *text,
                                void *at, weft_error *error) {
    weft_tool_options *options = at;
    static const char *const precisions[] = {"single", "double"};
    weft_status status = WEFT_OK;
    int choice = 0;
    if (row->value)
        TRY(app_parse_choice(option, text, precisions, 2, &choice, error));
    options->single = choice == 0;
    options->only_double = choice == 1;
done:
    return status;
}

/* Read once for each of the two calls. */
weft_status weft_tool_why(const app_option *row, const char *option, const char *text, void *at,
                          weft_error *error) {
    weft_tool_options *options = at;
    (void)row;
    (void)option, (void)error;
    options->why[options->n_why++ % 2] = text;
    return WEFT_OK;
}

static weft_status read_argument(void *user, const char *text, weft_error *error) {
    weft_tool_options *options = user;
    if (options->n_arguments < options->n_arguments_max) {
        options->arguments[options->n_arguments++] = text;
        return WEFT_OK;
    }
    const int most = (int)(sizeof options->arguments / sizeof *options->arguments);
    weft_error_set(error, WEFT_ERROR_USAGE, "unexpected argument '%.200s'", text);
    if (options->n_arguments == most)
        weft_error_hint(error, "a command takes at most %d: give the others to a second one", most);
    else
        weft_error_hint(error, "--help shows what this command takes");
    return WEFT_ERROR_USAGE;
}

weft_status weft_tool_read(const app_option *table, const app_option *more, const char *usage,
                           const char *doc, int argc, char **argv, weft_tool_options *out,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (weft_tool_options){.print = "plan",
                               .format = "text",
                               .device = "auto",
                               .scatter_name = "auto",
                               .seed = 1,
                               .n_arguments_max = out->n_arguments_max,
                               .ufl = weft_ufl_options_default()};
    TRY(weft_arena_make(&out->arena, error));
    app_command_line line = {
        .arguments = usage, .doc = doc, .argument = read_argument, .user = out};
    int n = 0;
    if (table)
        line.tables[n++] = (app_option_table){table, out};
    if (more)
        line.tables[n] = (app_option_table){more, out};
    TRY(app_command_line_read(&line, argc, argv, error));
done:
    if (status != WEFT_OK)
        weft_tool_clear(out);
    return status;
}

weft_status weft_tool_action_read(const app_option *table, const char *doc, const char *of,
                                  int argc, char **argv, weft_tool_options *out,
                                  weft_error *error) {
    static const char *const names[] = {"list", "verify", "clear"};
    weft_status status = WEFT_OK;
    const char *program = argv[0];
    out->n_arguments_max = 1;
    TRY(weft_tool_read(table, NULL, "list|verify|clear", doc, argc, argv, out, error));
    for (int i = 0; i < 3 && out->n_arguments > 0; ++i)
        if (strcmp(out->arguments[0], names[i]) == 0)
            goto done;
    if (out->n_arguments > 0)
        TRY(weft_tool_refuse("action", out->arguments[0], names, 3, error));
    status = weft_error_set(error, WEFT_ERROR_USAGE, "what should be done with %s?", of);
    weft_error_hint(error, "write %s list, %s verify or %s clear", program, program, program);
done:
    return status;
}

void weft_tool_clear(weft_tool_options *options) {
    weft_arena_free(&options->arena);
    free(options->expressions);
    free(options->parameters);
    options->expressions = NULL;
    options->parameters = NULL;
    options->n_expressions = options->n_parameters = 0;
}
