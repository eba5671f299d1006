/* labels: full */
/* Element matrices and vectors against the C code that FFCx generates for the same forms
 * (ffcx_forms.py), on random cells: an independent implementation, by people who know the field.
 * Skipped where python3-ffcx is missing. Tolerances as in test_element.c: both sides sum a few
 * terms and divide by one determinant. */
#include "core/weft_core.h"
#include "kernel_check.h"

#include <dlfcn.h>
#include <unistd.h>

/* A, coefficients, constants, coordinates [vertex][3], local facet. */
typedef void (*ffcx_kernel)(double *a, const double *w, const double *c, const double *x,
                            const int *facet);

enum { N_FORMS = 12 };
static const char *const names[N_FORMS] = {
    "stiffness_2", "tensor_2", "mass_2", "load_2", "facet_mass_2", "facet_load_2",
    "stiffness_3", "tensor_3", "mass_3", "load_3", "facet_mass_3", "facet_load_3"};
static ffcx_kernel kernels[N_FORMS];

static ffcx_kernel kernel_of(const check_case *c) {
    for (int i = 0; i < N_FORMS; ++i)
        if (strcmp(names[i], c->function) == 0)
            return kernels[i];
    fail_msg("no form %s", c->function);
    return NULL;
}

/* Vertices of a cell as FFCx takes them. */
static void pad(int n, int d, const double *x, double padded[12]) {
    for (int v = 0; v < n; ++v)
        for (int i = 0; i < 3; ++i)
            padded[v * 3 + i] = i < d ? x[v * d + i] : 0;
}

/* Arguments: vertices, then the coefficient or the constant. */
static void cell_tensor(const check_case *c, const double *const *arguments, double *result) {
    double x[12] = {0};
    const double *data = c->n_arguments > 1 ? arguments[1] : NULL;
    pad(c->d + 1, c->d, arguments[0], x);
    kernel_of(c)(result, data, data, x, NULL);
}

/* Arguments: vertices of a facet, then the coefficient there. The facet becomes number 0 of a cell,
 * which is the one opposite its vertex 0; rows and columns of that vertex are zero. */
static void facet_tensor(const check_case *c, const double *const *arguments, double *result) {
    int d = c->d, n = d + 1, facet = 0;
    bool matrix = c->n_result == d * d;
    double vertices[12] = {-1, -1, -1}, x[12] = {0}, w[4] = {7}, a[16] = {0};
    memcpy(vertices + d, arguments[0], (size_t)(d * d) * sizeof *vertices);
    pad(n, d, vertices, x);
    if (c->n_arguments > 1)
        memcpy(w + 1, arguments[1], (size_t)d * sizeof *w);
    kernel_of(c)(a, w, NULL, x, &facet);
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < (matrix ? d : 1); ++j)
            result[matrix ? i * d + j : i] = matrix ? a[(i + 1) * n + j + 1] : a[i + 1];
    for (int i = 0; i < (matrix ? n : 1); ++i)
        assert_double_near(a[i], 0, 0, 1e-13);
}

#define STIFFNESS "J@ = jacobian(a@_0); G@ = tform_dshape(J@); r@ = dshape_dot_dshape(G@, J@);"
#define TENSOR                                                                                     \
    "J@ = jacobian(a@_0); G@ = tform_dshape(J@); r@ = dshape_tensor_dshape(G@, a@_1, J@);"
#define MASS "J@ = jacobian(a@_0); r@ = shape_shape(J@);"
#define LOAD "J@ = jacobian(a@_0); r@ = shape_load(a@_1, J@);"
#define FACET_MASS "r@ = facet_shape_shape(a@_0);"
#define FACET_LOAD "r@ = facet_load(a@_1, a@_0);"
#define X(n, d)                                                                                    \
    { 2, {(n), (d)}, DATA_VERTICES }
#define M(n)                                                                                       \
    { 2, {(n), (n)}, DATA_ANY }
#define V(n)                                                                                       \
    { 1, {(n), 0}, DATA_ANY }

static const check_case cases[N_FORMS] = {
    {"stiffness_2", NULL, 1, {X(3, 2)}, 9, cell_tensor, 2, 0, STIFFNESS},
    {"tensor_2", NULL, 2, {X(3, 2), M(2)}, 9, cell_tensor, 2, 0, TENSOR},
    {"mass_2", NULL, 1, {X(3, 2)}, 9, cell_tensor, 2, 0, MASS},
    {"load_2", NULL, 2, {X(3, 2), V(3)}, 3, cell_tensor, 2, 0, LOAD},
    {"facet_mass_2", NULL, 1, {X(2, 2)}, 4, facet_tensor, 2, 0, FACET_MASS},
    {"facet_load_2", NULL, 2, {X(2, 2), V(2)}, 2, facet_tensor, 2, 0, FACET_LOAD},
    {"stiffness_3", NULL, 1, {X(4, 3)}, 16, cell_tensor, 3, 0, STIFFNESS},
    {"tensor_3", NULL, 2, {X(4, 3), M(3)}, 16, cell_tensor, 3, 0, TENSOR},
    {"mass_3", NULL, 1, {X(4, 3)}, 16, cell_tensor, 3, 0, MASS},
    {"load_3", NULL, 2, {X(4, 3), V(4)}, 4, cell_tensor, 3, 0, LOAD},
    {"facet_mass_3", NULL, 1, {X(3, 3)}, 9, facet_tensor, 3, 0, FACET_MASS},
    {"facet_load_3", NULL, 2, {X(3, 3), V(3)}, 3, facet_tensor, 3, 0, FACET_LOAD},
};

static void test_double(void **state) {
    (void)state;
    check_cases(cases, N_FORMS, 0, false, 1e-12);
}

static void test_float(void **state) {
    (void)state;
    check_cases(cases, N_FORMS, 0, true, 2e-4);
}

/* ---- FFCx ------------------------------------------------------------------------------------ */

/* FFCx finds the integrals of a form at run time; the shim calls them by plain names. */
static void write_shim(const char *path) {
    weft_text text = {0};
    weft_text_add(&text, "#include \"ffcx_forms.h\"\n"
                         "#if UFCX_VERSION_MINOR >= 7\n"
                         "#define INTEGRAL(form, kind) "
                         "(form)->form_integrals[(form)->form_integral_offsets[kind]]\n"
                         "#else\n"
                         "#define INTEGRAL(form, kind) (form)->integrals(kind)[0]\n"
                         "#endif\n");
    for (int i = 0; i < N_FORMS; ++i)
        weft_text_add(
            &text,
            "void %s(double *a, const double *w, const double *c, const double *x, const "
            "int *facet)\n"
            "{\n    INTEGRAL(form_ffcx_forms_%s, %s)->tabulate_tensor_float64(a, w, c, x, "
            "facet, 0);\n}\n",
            names[i], names[i], strncmp(names[i], "facet", 5) == 0 ? "exterior_facet" : "cell");
    assert_false(text.failed);
    test_text_write(path, text.data);
    weft_text_free(&text);
}

static void run(const char *const *arguments, char **output) {
    test_run ran = test_program(arguments, NULL);
    if (ran.exit_code != 0)
        fail_msg("%s ended with %d: %s", arguments[0], ran.exit_code, ran.error);
    if (output) {
        *output = strdup(ran.output);
        assert_non_null(*output);
        (*output)[strcspn(*output, "\n")] = '\0';
    }
    test_run_free(&ran);
}

static void *load_kernels(const char *folder) {
    char *include = NULL, *option = NULL;
    char *forms = test_path(folder, "ffcx_forms.c"), *shim = test_path(folder, "shim.c");
    char *library = test_path(folder, "forms.so");
    run((const char *[]){"/usr/bin/python3", "-m", "ffcx", "-o", folder,
                         WEFT_SOURCE_DIR "/tests/kernels/ffcx_forms.py", NULL},
        NULL);
    run((const char *[]){"/usr/bin/python3", "-c",
                         "import ffcx.codegeneration as c; print(c.get_include_path())", NULL},
        &include);
    assert_true(asprintf(&option, "-I%s", include) > 0);
    write_shim(shim);
    const char *compiler = getenv("CC");
    run((const char *[]){compiler && *compiler ? compiler : "cc", "-O1", "-w", "-shared", "-fPIC",
                         option, "-I", folder, forms, shim, "-o", library, "-lm", NULL},
        NULL);
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    for (int i = 0; i < N_FORMS; ++i) {
        void *symbol = dlsym(handle, names[i]);
        assert_non_null(symbol);
        memcpy(&kernels[i], &symbol, sizeof symbol);
    }
    free(include);
    free(option);
    free(forms);
    free(shim);
    free(library);
    return handle;
}

static void test_all(void **state) {
    char *folder = test_folder_make();
    void *handle = load_kernels(folder);
    test_double(state);
    test_float(state);
    dlclose(handle);
    test_folder_remove(&folder);
}

int main(void) {
    const char *probe[] = {"/usr/bin/python3", "-c", "import ffcx", NULL};
    if (access(probe[0], X_OK) != 0) {
        printf("skipped: no /usr/bin/python3\n");
        return 77;
    }
    test_run ran = test_program(probe, NULL);
    bool missing = ran.exit_code != 0;
    test_run_free(&ran);
    if (missing) {
        printf("skipped: FFCx is missing (install python3-ffcx)\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
