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

static weft_status add_expression(weft_tool_options *options, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_expression made = {.origin = "--define"};
    TRY(split(options, "--define", text, "NAME=EXPR", &made.name, &made.text, error));
    weft_expression *larger =
        reallocarray(options->expressions, (size_t)options->n_expressions + 1, sizeof *larger);
    if (!larger)
        TRY(weft_out_of_memory(error, NULL));
    options->expressions = larger;
    larger[options->n_expressions++] = made;
done:
    return status;
}

static weft_status add_parameter(weft_tool_options *options, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_parameter made = {0};
    const char *value = NULL;
    TRY(split(options, "--param", text, "NAME=INT", &made.name, &value, error));
    TRY(app_parse_integer("--param", value, -1000000, 1000000, &made.value, error));
    weft_parameter *larger =
        reallocarray(options->parameters, (size_t)options->n_parameters + 1, sizeof *larger);
    if (!larger)
        TRY(weft_out_of_memory(error, NULL));
    options->parameters = larger;
    larger[options->n_parameters++] = made;
done:
    return status;
}

static weft_status too_many(const char *option, size_t most, weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_USAGE, "more than %zu options %s", most, option);
}

static weft_status add_variant(weft_tool_options *options, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t most = sizeof options->variants / sizeof *options->variants;
    const char *number = NULL;
    if ((size_t)options->n_variants == most)
        return too_many("--variant", most, error);
    weft_variant_choice *made = &options->variants[options->n_variants];
    TRY(split(options, "--variant", text, "FUNCTION=NUMBER", &made->function, &number, error));
    TRY(app_parse_integer("--variant", number, 0, 1000, &made->variant, error));
    ++options->n_variants;
done:
    return status;
}

static weft_status add_device(weft_tool_options *options, const char *text, weft_error *error) {
    const size_t most = sizeof options->devices / sizeof *options->devices;
    if ((size_t)options->n_devices == most)
        return too_many("--device", most, error);
    options->devices[options->n_devices++] = text;
    return WEFT_OK;
}

static weft_status add_primitive(weft_tool_options *options, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t most = sizeof options->operators / sizeof *options->operators;
    if ((size_t)options->n_operators == most)
        return too_many("--product-kernel", most, error);
    weft_operator_choice *made = &options->operators[options->n_operators];
    *made = (weft_operator_choice){0};
    TRY(split(options, "--product-kernel", text, "OPERATOR=NAME", &made->name,
              &made->product_kernel, error));
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

static weft_status read_scatter(weft_tool_options *options, const char *text, weft_error *error) {
    static const char *const names[] = {"auto",   "atomic",       "chunk-colored", "cell-colored",
                                        "gather", "vertex-patch", "edge-patch"};
    static const weft_scatter scatter_of[] = {WEFT_SCATTER_IN_PLACE, WEFT_SCATTER_IN_PLACE,
                                              WEFT_SCATTER_IN_PLACE, WEFT_SCATTER_CELL_COLOURS,
                                              WEFT_SCATTER_GATHERED, WEFT_SCATTER_VERTEX_PATCHES,
                                              WEFT_SCATTER_PATCHES};
    weft_status status = WEFT_OK;
    int choice = 0;
    TRY(app_parse_choice("--scatter", current_scatter(text), names, 7, &choice, error));
    options->scatter = scatter_of[choice];
    options->scatter_name = names[choice];
done:
    return status;
}

static weft_status read_choice(weft_tool_options *options, int key, const char *text,
                               weft_error *error) {
    static const char *const plans[] = {"fused", "unfused"},
                             *const precisions[] = {"single", "double"};
    static const char *const rematerialise[] = {"auto", "never", "always"};
    static const char *const stores[] = {"auto", "always", "never"};
    weft_status status = WEFT_OK;
    int choice = 0;
    if (key == TOOL_PLAN) {
        TRY(app_parse_choice("--plan", text, plans, 2, &choice, error));
        options->plan = (weft_plan_kind)choice;
    } else if (key == TOOL_PRECISION) {
        TRY(app_parse_choice("--precision", text, precisions, 2, &choice, error));
        options->single = choice == 0;
        options->only_double = choice == 1;
    } else if (key == TOOL_REMATERIALIZE) { /* --rematerialize never means always store */
        TRY(app_parse_choice("--rematerialize", text, rematerialise, 3, &choice, error));
        options->rematerialise = (weft_rematerialise)choice;
    } else { /* the former option */
        TRY(app_parse_choice("--store", text, stores, 3, &choice, error));
        options->rematerialise = (weft_rematerialise)choice;
    }
done:
    return status;
}

static weft_status read_argument(weft_tool_options *options, const char *text, weft_error *error) {
    if (options->n_arguments < options->n_arguments_max) {
        options->arguments[options->n_arguments++] = text;
        return WEFT_OK;
    }
    weft_error_set(error, WEFT_ERROR_USAGE, "unexpected argument '%.200s'", text);
    weft_error_hint(error, "--help shows what this command takes");
    return WEFT_ERROR_USAGE;
}

static weft_status read_option(void *user, int key, const char *text, weft_error *error) {
    weft_tool_options *options = user;
    switch (key) {
    case TOOL_PRINT:
        options->print = text;
        return WEFT_OK;
    case TOOL_FORMAT:
        options->format = text;
        return WEFT_OK;
    case TOOL_DEVICE:
        options->device = text;
        return add_device(options, text, error);
    case TOOL_KERNELS:
        options->kernels = text;
        return WEFT_OK;
    case TOOL_SINGLE:
        return read_choice(options, TOOL_PRECISION, "single", error);
    case TOOL_INVALID:
        options->invalid = true;
        return WEFT_OK;
    case TOOL_SECONDS:
        return app_parse_number("--time-limit", text, 0.001, 1e6, &options->seconds, error);
    case TOOL_TRIP_COUNT:
        return app_parse_integer("--trip-count", text, 1, 1000000, &options->iterations, error);
    case TOOL_MAX_FUSION:
        return app_parse_integer("--max-fusion", text, 1, 512, &options->max_fusion, error);
    case TOOL_ELEMENTS:
        return app_parse_integer("--size", text, 1, 2000000000, &options->elements, error);
    case TOOL_TUNE:
        return app_parse_integer("--tune", text, 1, 1000, &options->tune, error);
    case TOOL_CHECK:
        options->check = true;
        return WEFT_OK;
    case TOOL_WHY: /* once for each call */
        options->why[options->n_why++ % 2] = text;
        return WEFT_OK;
    case TOOL_FORCE:
        options->force = text;
        return WEFT_OK;
    case TOOL_HTML:
        options->html = text;
        return WEFT_OK;
    case TOOL_JSON:
        options->json = text;
        return WEFT_OK;
    case TOOL_DRAW:
        options->draw = text;
        return WEFT_OK;
    case TOOL_OUT:
        options->out = text;
        return WEFT_OK;
    case TOOL_AGAIN:
        options->again = true;
        return WEFT_OK;
    case TOOL_SEED:
        return app_parse_integer("--seed", text, 0, 1000000000, &options->seed, error);
    case TOOL_SET:
        return add_parameter(options, text, error);
    case TOOL_VARIANT:
        return add_variant(options, text, error);
    case TOOL_PRODUCT_KERNEL:
        return add_primitive(options, text, error);
    case TOOL_SCATTER:
        return read_scatter(options, text, error);
    case TOOL_DEFINE:
        return add_expression(options, text, error);
    case ARGP_KEY_ARG:
        return read_argument(options, text, error);
    default:
        return read_choice(options, key, text, error);
    }
}

weft_status weft_tool_read(const struct argp_option *table, const char *usage, const char *doc,
                           int argc, char **argv, weft_tool_options *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (weft_tool_options){.print = "plan",
                               .format = "text",
                               .device = "auto",
                               .scatter_name = "auto",
                               .seed = 1,
                               .n_arguments_max = out->n_arguments_max};
    TRY(weft_arena_make(&out->arena, error));
    const struct argp argp = {.options = table, .args_doc = usage, .doc = doc};
    TRY(app_options_parse(&argp, argc, argv, read_option, out, error));
done:
    if (status != WEFT_OK)
        weft_tool_clear(out);
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
