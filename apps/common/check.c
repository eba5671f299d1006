/* Checks formulas and output names of a command line before the run. */
#include "apps/common/fem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* index points;  input P : real[4] over points;
 * expression e0(x, y, z, t) = 0;  ...  v = P[0] + e0(P[0], P[1], P[2], P[3]) + ...;  return v; */
static void write_script(bool with_time, int n, weft_expression *expressions, char (*names)[16],
                         weft_text *out) {
    weft_text_add(out, "index points;\ninput P : real[%d] over points;\n", with_time ? 4 : 3);
    for (int i = 0; i < n; ++i) {
        snprintf(names[i], sizeof names[i], "e%d", i);
        expressions[i].name = names[i];
        weft_text_add(out, "expression e%d(x, y, z%s) = 0;\n", i, with_time ? ", t" : "");
    }
    weft_text_add(out, "v = P[0]");
    for (int i = 0; i < n; ++i)
        weft_text_add(out, " + e%d(P[0], P[1], P[2]%s)", i, with_time ? ", P[3]" : "");
    weft_text_add(out, ";\nreturn v;\n");
}

weft_status app_expressions_check(const weft_library *library, const weft_limits *limits,
                                  bool with_time, weft_expression *expressions, int n,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text script = {0};
    weft_compilation *compilation = NULL;
    char(*names)[16] = calloc((size_t)n + 1, sizeof *names);
    if (!names)
        TRY(weft_out_of_memory(error, NULL));
    write_script(with_time, n, expressions, names, &script);
    if (script.failed)
        TRY(weft_out_of_memory(error, NULL));
    const weft_fragment fragment = {"the expressions of the command line", script.data};
    const weft_compile_options options = {.expressions = expressions, .n_expressions = n};
    TRY(weft_compile(library, limits, &fragment, 1, &options, &compilation, error));
done:
    weft_compilation_free(&compilation);
    weft_text_free(&script);
    free(names);
    return status;
}

bool app_is_same_file(const char *a, const char *b) {
    struct stat of_a, of_b;
    if (!a || !b || strcmp(a, "-") == 0)
        return false;
    return strcmp(a, b) == 0 || (stat(a, &of_a) == 0 && stat(b, &of_b) == 0 &&
                                 of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

static weft_status refuse_json(const char *path, const char *other, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "--json would write over %s, %s", other, path);
    weft_error_hint(error, "give --json another name");
    return WEFT_ERROR_USAGE;
}

static bool ends_with(const char *path, const char *ending) {
    const size_t length = strlen(path), n = strlen(ending);
    return length > n && path[length - n - 1] != '/' && strcmp(path + length - n, ending) == 0;
}

/* Refuse outputs that would overwrite the user's geometry or mesh, as `-o plate.geo` would. A
 * .vtkhdf mesh may be overwritten: the result contains that mesh, and u. */
weft_status app_outputs_check(const char *mesh, const char *output, const char *json,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    if (app_is_same_file(json, mesh))
        TRY(refuse_json(json, "the mesh", error));
    if (app_is_same_file(json, output))
        TRY(refuse_json(json, "the file of --output", error));
    if (output && !ends_with(output, ".vtkhdf") && !ends_with(output, ".vtu")) {
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                "--output %s: a result is a VTKHDF file, so its name ends in "
                                ".vtkhdf, or in .vtu for one in XML",
                                output);
        weft_error_hint(error, "write --output FILE.vtkhdf");
    }
done:
    return status;
}
