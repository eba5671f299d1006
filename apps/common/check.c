/* Checks formulas and output names of a command line before the run. */
#include "apps/common/fem.h"

#include <limits.h>
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

weft_status app_formulas_add(app_formulas *formulas, const char *origin, const char *text,
                             weft_error *error) {
    const weft_expression made = {NULL, text, origin};
    return text ? APP_APPEND(formulas->list, formulas->n, made, error) : WEFT_OK;
}

weft_status app_expressions_check(const weft_library *library, const weft_limits *limits,
                                  bool with_time, app_formulas *formulas, weft_error *error) {
    const int n = formulas->n;
    weft_status status = WEFT_OK;
    weft_text script = {0};
    weft_compilation *compilation = NULL;
    char(*names)[16] = calloc((size_t)n + 1, sizeof *names);
    if (!names)
        TRY(weft_out_of_memory(error, NULL));
    write_script(with_time, n, formulas->list, names, &script);
    if (script.failed)
        TRY(weft_out_of_memory(error, NULL));
    const weft_fragment fragment = {"the expressions of the command line", script.data};
    const weft_compile_options options = {
        .size = sizeof options, .expressions = formulas->list, .n_expressions = n};
    TRY(weft_compile(library, limits, &fragment, 1, &options, &compilation, error));
done:
    weft_compilation_free(&compilation);
    weft_text_free(&script);
    free(names);
    return status;
}

static bool is_same_inode(const char *a, const char *b) {
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

/* Copy the folder of a path; false if it is longer than a path can be. */
static bool find_folder(const char *path, const char *name, char out[PATH_MAX]) {
    const size_t length = (size_t)(name - path);
    if (length >= PATH_MAX)
        return false;
    memcpy(out, path, length);
    out[length] = '\0';
    if (length == 0)
        strcpy(out, ".");
    return true;
}

/* Files that do not exist yet are the same if their names and folders are. */
static bool is_same_file(const char *a, const char *b) {
    char folder_a[PATH_MAX], folder_b[PATH_MAX];
    if (!a || !b || strcmp(a, "-") == 0)
        return false;
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    const char *name_a = slash_a ? slash_a + 1 : a, *name_b = slash_b ? slash_b + 1 : b;
    return strcmp(a, b) == 0 || is_same_inode(a, b) ||
           (strcmp(name_a, name_b) == 0 && find_folder(a, name_a, folder_a) &&
            find_folder(b, name_b, folder_b) && is_same_inode(folder_a, folder_b));
}

weft_status app_overwrite_check(const app_overwrite *pairs, int n, weft_error *error) {
    for (int i = 0; i < n; ++i)
        if (is_same_file(pairs[i].path, pairs[i].other)) {
            weft_error_set(error, WEFT_ERROR_USAGE, "%s would write over %s, %s", pairs[i].option,
                           pairs[i].what, pairs[i].path);
            weft_error_hint(error, "give %s another name", pairs[i].option);
            return WEFT_ERROR_USAGE;
        }
    return WEFT_OK;
}

weft_status app_outputs_check(const char *mesh, const char *output, const char *json,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const app_overwrite pairs[] = {{"--json", json, mesh, "the mesh"},
                                   {"--json", json, output, "the file of --output"}};
    TRY(app_overwrite_check(pairs, 2, error));
    if (output && !app_ends_with(output, ".vtkhdf") && !app_ends_with(output, ".vtu")) {
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                "--output %s: a result is a VTKHDF file, so its name ends in "
                                ".vtkhdf, or in .vtu for one in XML",
                                output);
        weft_error_hint(error, "write --output FILE.vtkhdf");
    }
done:
    return status;
}

weft_status app_checkpoint_check(const char *path, weft_error *error) {
    if (!path || app_ends_with(path, ".vtkhdf"))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "--checkpoint %s: it is a VTKHDF file, so its name ends in .vtkhdf", path);
    weft_error_hint(error, "write --checkpoint FILE.vtkhdf");
    return WEFT_ERROR_USAGE;
}
