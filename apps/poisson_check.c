#include "poisson.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* All expressions of the command line, at most: three, and two a condition. */
static int collect(const poisson_options *options, weft_expression *out) {
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
static void write_script(int n, weft_expression *expressions, char (*names)[16], weft_text *out) {
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

static weft_status check_expressions(poisson *run, weft_error *error) {
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

static bool is_same_file(const char *a, const char *b) {
    struct stat of_a, of_b;
    if (!a || !b)
        return false;
    return strcmp(a, b) == 0 || (stat(a, &of_a) == 0 && stat(b, &of_b) == 0 &&
                                 of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

static weft_status refuse_json(const char *path, const char *other, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "--json would write over %s, %s", other, path);
    weft_error_hint(error, "give --json another name");
    return WEFT_ERROR_USAGE;
}

/* A result must not cost the user the geometry or mesh it came from, as `-o plate.geo` would. A
 * .vtkhdf mesh may be written over: the result is that mesh again, with u. */
static weft_status check_names(const poisson_options *options, weft_error *error) {
    static const char ending[] = ".vtkhdf";
    weft_status status = WEFT_OK;
    const char *output = options->output, *json = options->json;
    if (json && strcmp(json, "-") == 0)
        json = NULL;
    if (is_same_file(json, options->mesh))
        TRY(refuse_json(json, "the mesh", error));
    if (is_same_file(json, output))
        TRY(refuse_json(json, "the file of --output", error));
    size_t length = output ? strlen(output) : 0, wanted = sizeof ending - 1;
    if (output && (length <= wanted || output[length - wanted - 1] == '/' ||
                   strcmp(output + length - wanted, ending) != 0)) {
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                "--output %s: a result is a VTKHDF file, so its name ends in %s",
                                output, ending);
        weft_error_hint(error, "write --output FILE%s", ending);
    }
done:
    return status;
}

weft_status poisson_check(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const poisson_options *options = run->options;
    TRY(check_names(options, error));
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
