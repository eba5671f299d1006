#include "poisson.h"

#include <stdlib.h>

/* All expressions of the command line, at most: three, and two a condition. */
static int collect(const poisson_options *options, weft_expression *out)
{
    int n = 0;
    out[n++] = (weft_expression){NULL, options->source, "--source"};
    if (options->diffusivity)
        out[n++] = (weft_expression){NULL, options->diffusivity, "--diffusivity"};
    if (options->exact)
        out[n++] = (weft_expression){NULL, options->exact, "--exact"};
    for (int i = 0; i < options->n_conditions; ++i) {
        const poisson_condition *condition = &options->conditions[i];
        if (condition->alpha)
            out[n++] = (weft_expression){NULL, condition->alpha, condition->origin};
        out[n++] = (weft_expression){NULL, condition->value, condition->origin};
    }
    return n;
}

/* index points;  input P : real[3] over points;
 * expression e0(x, y, z) = 0;  ...  v = P[0] + e0(P[0], P[1], P[2]) + ...;  return v; */
static void write_script(int n, weft_expression *expressions, char (*names)[16], weft_text *out)
{
    weft_text_add(out, "index points;\ninput P : real[3] over points;\n");
    for (int i = 0; i < n; ++i) {
        snprintf(names[i], sizeof names[i], "e%d", i);
        expressions[i].name = names[i];
        weft_text_add(out, "expression e%d(x, y, z) = 0;\n", i);
    }
    weft_text_add(out, "v = P[0]");
    for (int i = 0; i < n; ++i)
        weft_text_add(out, " + e%d(P[0], P[1], P[2])", i);
    weft_text_add(out, ";\nreturn v;\n");
}

static weft_status check_expressions(poisson *run, weft_error *error)
{
    weft_status status = WEFT_OK;
    weft_text script = {0};
    weft_compilation *compilation = NULL;
    size_t room = 3 + 2 * (size_t)run->options->n_conditions;
    weft_expression *expressions = calloc(room, sizeof *expressions);
    char(*names)[16] = calloc(room, sizeof *names);
    if (!expressions || !names) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    int n = collect(run->options, expressions);
    write_script(n, expressions, names, &script);
    if (script.failed) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    const weft_fragment fragment = {"the expressions of the command line", script.data};
    const weft_compile_options options = {.expressions = expressions, .n_expressions = n};
    TRY(weft_compile(run->library, weft_device_limits(run->device), &fragment, 1, &options,
                     &compilation, error));
done:
    weft_compilation_free(&compilation);
    weft_text_free(&script);
    free(expressions);
    free(names);
    return status;
}

weft_status poisson_check(poisson *run, weft_error *error)
{
    weft_status status = WEFT_OK;
    const poisson_options *options = run->options;
    double start = weft_clock();
    TRY(check_expressions(run, error));
    run->seconds.plan += weft_clock() - start;
    if (options->output && !run->is_null)
        TRY(weft_result_check(options->output, error));
    if (options->json)
        TRY(app_file_check(options->json, error));
done:
    return status;
}
