/* weft new: writes templates of functions and scripts. */
#include "apps/weft/tool.h"
#include "core/base/file.h"
#include "fem/weft_fem.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char doc[] =
    "Write a working template: NAME.kernel.c, an elementary function, or NAME.weft, a script."
    "\v"
    "Existing files are kept. The script calls the function of NAME.kernel.c if that file is in "
    "the current directory; otherwise it calls shipped functions, and solve can run it.\n"
    "\n"
    "Examples:\n"
    "  weft new function weighted\n"
    "  weft new script weighted";

static const char function_text[] =
    "// @: a starting point, to be changed into what you need. docs/kernel-files.md has the "
    "rules,\n"
    "// and `weft test .` runs every body below against the first one.\n"
    "\n"
    "//@ function  @(A: real[m,n], x: real[n], s: real) -> y: real[m]\n"
    "//@ kind      map\n"
    "//@ flops     2*m*n\n"
    "//@ source    y(i) = s sum_j A(i,j) x(j): your equation, and where it is from\n"
    "//@ example   @([[1, 2], [3, 4]], [5, 6], 0.5) = [8.5, 19.5]\n"
    "// ^ worked out by hand: what the function must give for these numbers\n"
    "\n"
    "// One thread per element: the plain formula. It is the reference for the bodies below it.\n"
    "//@ threads   1\n"
    "for (int i = 0; i < m; ++i) {\n"
    "    real sum = 0;\n"
    "    for (int j = 0; j < n; ++j)\n"
    "        sum += A(i,j) * x(j);\n"
    "    y(i) = s * sum;\n"
    "}\n"
    "\n"
    "// The same for m threads per element: thread t makes row t. It may be left out.\n"
    "//@ threads   m   A(t,:) x(:) y(t)\n"
    "real sum = 0;\n"
    "for (int j = 0; j < n; ++j)\n"
    "    sum += A(t,j) * x(j);\n"
    "y(t) = s * sum;\n";

static const char script_text[] =
    "# @: a starting point, to be changed into what you need; here -div(k grad u) = source.\n"
    "# docs/tutorial-new-element.md walks through one, docs/language.md has the rules.\n"
    "#   solve @.weft --mesh square:32 --define 'k=1+x' --dirichlet left=0\n"
    "\n"
    "parameter d = 2, degree = 2;                # 2: triangles, 3: tetrahedra; solve takes the "
    "mesh's\n"
    "index cells, nodes;                         # what there is many of\n"
    "connectivity dofs : cells -> nodes[d + 1];  # the nodes of each cell\n"
    "input x : real[d] over nodes;               # coordinates, a list for each node\n"
    "expression k(x, y, z) = 1;                  # formulas: --define k=1+x\n"
    "expression source(x, y, z) = 1;\n"
    "\n"
    "# What is computed for one cell; weft library lists the functions.\n"
    "X = x[dofs];\n"
    "J = jacobian(X);\n"
    "P = quadrature_points(X, degree = degree);\n"
    "mean = quadrature_mean(k(P), d = d, degree = degree);\n"
    "K = mean*dshape_dot_dshape(tform_dshape(J), J);             # the local matrix\n"
    "b[dofs] += quadrature_load(source(P), J, degree = degree);  # its vector, added up over the "
    "nodes\n"
    "return K, b;\n";

/* Replace every '@' by the name, except in "//@". */
static void fill_in(const char *text, const char *name, weft_text *out) {
    for (const char *c = text; *c; ++c)
        if (*c == '@' && !(c - text >= 2 && c[-1] == '/'))
            weft_text_add(out, "%s", name);
        else
            weft_text_add_bytes(out, c, 1);
}

/* Keywords of C that the reader of kernel files accepts as names of functions, and those of the
 * script language. */
static const char *const keywords[] = {
    "index",  "connectivity", "input", "parameter", "expression", "operator", "update",
    "repeat", "at",           "most",  "and",       "apply",      "plain",    "bool",
    "true",   "false",        "_Bool", "printf",    "kernel",     "function"};

static weft_status refuse(const char *name, const char *why, const char *hint, weft_error *error) {
    weft_status status =
        weft_error_set(error, WEFT_ERROR_USAGE, "'%.100s' cannot be the name: %s", name, why);
    weft_error_hint(error, "%s", hint);
    return status;
}

static weft_status check_name(const char *name, weft_error *error) {
    bool fine = isalpha((unsigned char)name[0]) && strlen(name) <= 48;
    for (const char *c = name; *c; ++c)
        fine = fine && (isalnum((unsigned char)*c) || *c == '_') && !((unsigned char)*c & 0x80);
    if (!fine)
        return refuse(name, "it is not an identifier",
                      "a name is a letter, then letters, digits and _, at most 48 in all; the "
                      "file's ending is added",
                      error);
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; ++i)
        if (strcmp(name, keywords[i]) == 0)
            return refuse(name, "it is a word of the language", "choose another one", error);
    return WEFT_OK;
}

/* Find the function of this name, or the first function of this file. */
static bool find_function(const weft_library *library, const char *name, bool is_file,
                          size_t *out) {
    for (size_t i = 0; i < weft_library_size(library); ++i) {
        weft_function_info info;
        weft_library_info(library, i, &info);
        *out = i;
        if (strcmp(is_file ? info.file : info.name, name) == 0)
            return true;
    }
    return false;
}

/* Let the reader of kernel files decide which names it refuses. */
static weft_status check_reserved(const char *name, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_library *library = NULL;
    weft_text text = {0};
    weft_error inner = {0};
    TRY(weft_library_make(&library, error));
    fill_in(function_text, name, &text);
    if (text.failed)
        TRY(weft_out_of_memory(error, NULL));
    if (weft_library_add_text(library, name, text.data, &inner) != WEFT_OK)
        status = refuse(name, "it is reserved", inner.hint, error);
done:
    weft_text_free(&text);
    weft_library_free(&library);
    return status;
}

/* Make a script that calls a user's function with sizes that it allows. */
static weft_status print_call(const weft_library *library, size_t function, const char *name,
                              weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_test_cases test_cases;
    weft_function_info info;
    weft_library_info(library, function, &info);
    TRY(weft_arena_make(&arena, error));
    TRY(weft_test_cases_make(library, function, arena, &test_cases, error));
    const weft_test_case *test_case =
        &test_cases.list[test_cases.n > 1 && !test_cases.list[1].line ? 1 : 0];
    weft_text_add(out,
                  "# %s: a starting point, to be changed into what you need. docs/language.md has "
                  "the rules.\n\nindex cells;  # what there is many of\n",
                  name);
    for (int i = 0; i < test_case->n_arguments; ++i) {
        const weft_test_operand *operand = &test_case->arguments[i];
        weft_text_add(out, "input %s : real", operand->name);
        for (int s = 0; s < operand->rank; ++s)
            weft_text_add(out, "%s%d%s", s ? "," : "[", operand->sizes[s],
                          s + 1 == operand->rank ? "]" : "");
        weft_text_add(out, " over cells;\n");
    }
    weft_text_add(out, "\n# %s\n%s = %s(", info.signature, test_case->result.name, info.name);
    for (int i = 0; i < test_case->n_arguments; ++i)
        weft_text_add(out, "%s%s", i ? ", " : "", test_case->arguments[i].name);
    weft_text_add(out, "%s);\nreturn %s;\n",
                  test_case->n_arguments || !test_case->keys[0] ? test_case->keys
                                                                : test_case->keys + 2,
                  test_case->result.name);
done:
    weft_arena_free(&arena);
    return status;
}

static weft_status make_script(weft_library *library, const char *name, bool *uses_own,
                               weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char kernel[64], *text = NULL;
    size_t length = 0, function = 0;
    snprintf(kernel, sizeof kernel, "%.48s.kernel.c", name);
    *uses_own = access(kernel, F_OK) == 0;
    if (!*uses_own) {
        fill_in(script_text, name, out);
        goto done;
    }
    TRY(weft_file_read_as(kernel, WEFT_FILE_KERNELS, &text, &length, error));
    TRY(weft_library_add_text(library, kernel, text, error));
    if (find_function(library, kernel, true, &function))
        TRY(print_call(library, function, name, out, error));
done:
    free(text);
    return status;
}

static weft_status check_script(const weft_library *library, const char *file, const char *text,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    const weft_device_options device_options = weft_device_options_default(NULL);
    const weft_compile_options options = {.size = sizeof options, .n_variants = 0};
    const weft_fragment fragment = {file, text};
    TRY(weft_device_open("null", &device_options, &device, error));
    TRY(weft_compile(library, weft_device_limits(device), &fragment, 1, &options, &compilation,
                     error));
done:
    weft_compilation_free(&compilation);
    weft_device_free(&device);
    return status;
}

/* Create the file atomically (O_EXCL), only if it does not exist. */
static weft_status write_new(const char *file, const char *text, weft_error *error) {
    int descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        const int cause = errno;
        weft_error_set(error, WEFT_ERROR_IO,
                       cause == EEXIST ? "this file is here already, and is not overwritten"
                                       : "cannot be written: %s",
                       strerror(cause));
        weft_error_location(error, file, NULL, 0, 0);
        if (cause == EEXIST)
            weft_error_hint(error, "choose another name, or move it away");
        return WEFT_ERROR_IO;
    }
    size_t length = strlen(text), done = 0;
    ssize_t n = 1;
    while (done < length && (n = write(descriptor, text + done, length - done)) > 0)
        done += (size_t)n;
    if (close(descriptor) != 0 || n <= 0) {
        unlink(file);
        weft_error_set(error, WEFT_ERROR_IO, "cannot be written: %s", strerror(errno));
        weft_error_location(error, file, NULL, 0, 0);
        return WEFT_ERROR_IO;
    }
    return WEFT_OK;
}

static weft_status make_file(bool is_function, const char *name, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_library *library = NULL;
    weft_text text = {0};
    char file[64], shipped[64];
    bool uses_own = false;
    size_t found;
    TRY(check_name(name, error));
    TRY(check_reserved(name, error));
    snprintf(file, sizeof file, "%.48s%s", name, is_function ? ".kernel.c" : ".weft");
    snprintf(shipped, sizeof shipped, "%.48s.weft", name);
    TRY(weft_fem_library_make(&library, error));
    if (is_function) {
        if (find_function(library, name, false, &found))
            TRY(refuse(name, "a function of this name is shipped with Weft",
                       "yours would replace it in every script: choose another name; weft library "
                       "show prints the shipped one",
                       error));
        fill_in(function_text, name, &text);
    } else if (weft_fem_script(shipped)) {
        TRY(refuse(name, "a script of this name is shipped with Weft",
                   "yours would stand for it in every command: choose another name", error));
    } else {
        TRY(make_script(library, name, &uses_own, &text, error));
        if (!text.failed)
            TRY(check_script(library, file, text.data, error));
    }
    if (text.failed)
        TRY(weft_out_of_memory(error, NULL));
    TRY(write_new(file, text.data, error));
    printf("%s is written. Next:\n", file);
    if (is_function)
        printf(
            "  weft test .                         run it against its reference and its example\n"
            "  weft new script %-19s a script that calls it\n",
            name);
    else if (uses_own)
        printf("  weft compile %s --kernels .\n  weft compile %s --kernels . --print source\n",
               file, file);
    else
        printf("  solve %s --mesh square:32\n  weft compile %s --print source\n", file, file);
done:
    weft_text_free(&text);
    weft_library_free(&library);
    return status;
}

weft_status weft_tool_new(int argc, char **argv, const weft_monitor *monitor, int *code,
                          weft_error *error) {
    static const char *const kinds[] = {"function", "script"};
    weft_status status = WEFT_OK;
    weft_tool_options options = {.n_arguments_max = 2};
    (void)monitor;
    (void)code;
    TRY(weft_tool_read(NULL, NULL, "function NAME\nscript NAME", doc, argc, argv, &options, error));
    if (options.n_arguments > 0 && strcmp(options.arguments[0], kinds[0]) != 0 &&
        strcmp(options.arguments[0], kinds[1]) != 0)
        TRY(weft_tool_refuse("starting point", options.arguments[0], kinds, 2, error));
    if (options.n_arguments != 2)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "what should be written is not given",
                              "write weft new function NAME, or weft new script NAME"));
    TRY(make_file(strcmp(options.arguments[0], kinds[0]) == 0, options.arguments[1], error));
done:
    weft_tool_clear(&options);
    return status;
}
