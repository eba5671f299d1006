#include "advection_diffusion.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Every formula of the command line; out has room for 20 and one a condition. */
static int collect(const ad_options *options, weft_expression *out) {
    int n = 0;
    out[n++] = (weft_expression){NULL, options->initial, "--initial"};
    if (options->exact)
        out[n++] = (weft_expression){NULL, options->exact, "--exact"};
    for (int i = 0; i < options->velocity.n; ++i)
        out[n++] = options->velocity.list[i];
    for (int i = 0; i < options->diffusivity.n; ++i)
        out[n++] = options->diffusivity.list[i];
    for (int i = 0; i < options->n_conditions; ++i)
        out[n++] =
            (weft_expression){NULL, options->conditions[i].value, options->conditions[i].origin};
    return n;
}

/* A script that uses each of them once. */
static void write_script(int n, weft_expression *expressions, char (*names)[16], weft_text *out) {
    weft_text_add(out, "index points;\ninput P : real[4] over points;\n");
    for (int i = 0; i < n; ++i) {
        snprintf(names[i], sizeof names[i], "e%d", i);
        expressions[i].name = names[i];
        weft_text_add(out, "expression e%d(x, y, z, t) = 0;\n", i);
    }
    weft_text_add(out, "v = P[0]");
    for (int i = 0; i < n; ++i)
        weft_text_add(out, " + e%d(P[0], P[1], P[2], P[3])", i);
    weft_text_add(out, ";\nreturn v;\n");
}

static weft_status check_expressions(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text script = {0};
    weft_compilation *compilation = NULL;
    const size_t room = 20 + (size_t)run->options->n_conditions;
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
    if (!a || !b || strcmp(a, "-") == 0)
        return false;
    return strcmp(a, b) == 0 || (stat(a, &of_a) == 0 && stat(b, &of_b) == 0 &&
                                 of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

static weft_status refuse_same(const char *option, const char *path, const char *other,
                               weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%s would write over %s, %s", option, other, path);
    weft_error_hint(error, "give %s another name", option);
    return WEFT_ERROR_USAGE;
}

/* A file must not cost the user another; a checkpoint may take the place of the one that the run
 * started from. */
static weft_status check_names(const ad_options *o, weft_error *error) {
    weft_status status = WEFT_OK;
    const struct {
        const char *option, *path, *other, *what;
    } pairs[] = {{"--json", o->json, o->mesh, "the mesh"},
                 {"--json", o->json, o->output, "the file of --output"},
                 {"--json", o->json, o->checkpoint, "the file of --checkpoint"},
                 {"--json", o->json, o->restart, "the file of --restart"},
                 {"--output", o->output, o->mesh, "the mesh"},
                 {"--output", o->output, o->checkpoint, "the file of --checkpoint"},
                 {"--output", o->output, o->restart, "the file of --restart"},
                 {"--checkpoint", o->checkpoint, o->mesh, "the mesh"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i)
        if (is_same_file(pairs[i].path, pairs[i].other))
            TRY(refuse_same(pairs[i].option, pairs[i].path, pairs[i].what, error));
done:
    return status;
}

static weft_status check_ending(const char *option, const char *path, weft_error *error) {
    static const char ending[] = ".vtkhdf";
    const size_t length = path ? strlen(path) : 0, wanted = sizeof ending - 1;
    if (!path || (length > wanted && path[length - wanted - 1] != '/' &&
                  strcmp(path + length - wanted, ending) == 0))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "%s %s: it is a VTKHDF file, so its name ends in %s",
                   option, path, ending);
    weft_error_hint(error, "write %s FILE%s", option, ending);
    return WEFT_ERROR_USAGE;
}

static weft_status check_rests(const ad_options *o, weft_error *error) {
    const char *without = o->output_every && !o->output && !o->json ? "--output-every"
                          : o->checkpoint_every && !o->checkpoint   ? "--checkpoint-every"
                                                                    : NULL;
    if (!without)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "%s says when, but not where to", without);
    weft_error_hint(error, without[2] == 'o' ? "add --output FILE.vtkhdf or --json FILE"
                                             : "add --checkpoint FILE.vtkhdf");
    return WEFT_ERROR_USAGE;
}

weft_status ad_check(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const ad_options *options = run->options;
    TRY(check_names(options, error));
    TRY(check_ending("--output", options->output, error));
    TRY(check_ending("--checkpoint", options->checkpoint, error));
    TRY(check_rests(options, error));
    double start = weft_clock();
    TRY(check_expressions(run, error));
    run->seconds.plan += weft_clock() - start;
    if (options->output && !run->is_null)
        TRY(weft_result_check(options->output, error));
    if (options->checkpoint && !run->is_null)
        TRY(weft_result_check(options->checkpoint, error));
    if (options->json)
        TRY(app_file_check(options->json, error));
done:
    return status;
}
