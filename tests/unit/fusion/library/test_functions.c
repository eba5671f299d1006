/* labels: quick */
/* The library as a collection, and specialisations: what a call means once its sizes are known. */
#include "core/weft_core.h"
#include "fem/element/tables.h"
#include "fusion/library/library.h"
#include "fusion/script/tokens.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FUNCTION(name, flops)                                                                      \
    "//@ function " name "(x: real[n]) -> y: real[n]\n//@ kind map\n//@ flops " flops              \
    "\n//@ source none\n//@ threads 1\nfor (int i = 0; i < n; ++i) y(i) = x(i);\n"

typedef struct fixture {
    weft_arena *arena;
    weft_library *library;
} fixture;

static int open_library(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_int_equal(weft_arena_make(&f->arena, NULL), WEFT_OK);
    assert_int_equal(weft_library_make(&f->library, NULL), WEFT_OK);
    assert_int_equal(weft_tables_register(f->library, NULL), WEFT_OK);
    *state = f;
    return 0;
}

static int close_library(void **state) {
    fixture *f = *state;
    weft_library_free(&f->library);
    assert_null(f->library);
    weft_library_free(&f->library);
    weft_arena_free(&f->arena);
    free(f);
    return 0;
}

/* Shipped functions, in order of name, with what `weft library` shows. */
static void test_info(void **state) {
    fixture *f = *state;
    size_t n = 0, seen = 0;
    const char *const *names = weft_library_names(f->library, &n);
    assert_true(n >= 30);
    assert_int_equal(n, weft_library_size(f->library));
    for (size_t i = 0; i < n; ++i) {
        weft_function_info info;
        weft_library_info(f->library, i, &info);
        assert_string_equal(info.name, names[i]);
        /* of one name the map, then the reduction */
        const bool reduces = strncmp(info.kind, "reduce ", 7) == 0;
        const int order = i == 0 ? -1 : strcmp(names[i - 1], names[i]);
        assert_true(order < 0 || (order == 0 && reduces));
        assert_non_null(
            (reduces ? weft_library_find_reduction : weft_library_find)(f->library, names[i]));
        assert_true(info.source[0] && info.flops[0] && info.n_variants >= 1);
        assert_memory_equal(info.text, "//@ function", 12);
        if (strcmp(info.name, "mmul") == 0) {
            assert_string_equal(info.signature, "mmul(A: real[m,k], B: real[k,n]) -> C: real[m,n]");
            assert_string_equal(info.kind, "map");
            assert_string_equal(info.flops, "(2*k - 1)*m*n");
            assert_string_equal(info.file, "algebra/products.kernel.c");
            assert_int_equal(info.line, 3);
            assert_int_equal(info.n_variants, 3);
            assert_string_equal(info.granularities[0], "1");
            assert_string_equal(info.granularities[1], "m");
            assert_string_equal(info.granularities[2], "m*n");
            assert_null(strstr(info.text, "mvmul"));
            ++seen;
        }
    }
    assert_int_equal(seen, 1);
    assert_null(weft_library_find(f->library, "mmu"));
    assert_null(weft_library_find(f->library, ""));
}

static double flops_of(fixture *f, const char *name) {
    weft_shape shape = {1, {7}};
    weft_specialisation *specialisation = NULL;
    assert_int_equal(weft_specialisation_make(
                         f->arena, f->library,
                         &(weft_element_request){.function = weft_library_find(f->library, name),
                                                 .arguments = &shape,
                                                 .n_arguments = 1},
                         &specialisation, NULL),
                     WEFT_OK);
    return specialisation->flops;
}

/* A file adds its functions or replaces those of the same name, whole or not at all. */
static void test_replace(void **state) {
    fixture *f = *state;
    size_t n = weft_library_size(f->library);
    assert_int_equal(
        weft_library_add_text(f->library, "a", FUNCTION("aaa", "1") FUNCTION("zzz", "2"), NULL),
        WEFT_OK);
    assert_int_equal(weft_library_size(f->library), n + 2);
    assert_true(flops_of(f, "aaa") == 1);
    assert_int_equal(weft_library_add_text(f->library, "b", FUNCTION("aaa", "5*n"), NULL), WEFT_OK);
    assert_int_equal(weft_library_size(f->library), n + 2);
    assert_true(flops_of(f, "aaa") == 35);
    assert_true(flops_of(f, "zzz") == 2);
    assert_int_equal(
        weft_library_add_text(f->library, "c", FUNCTION("bbb", "1") FUNCTION("aaa", "oops"), NULL),
        WEFT_ERROR_TYPE);
    assert_int_equal(weft_library_size(f->library), n + 2);
    assert_true(flops_of(f, "aaa") == 35);
    /* other line ends */
    assert_int_equal(weft_library_add_text(
                         f->library, "d",
                         "//@ function crlf(x: real) -> y: real\r\n//@ kind map\r\n//@ flops 1\r\n"
                         "//@ source none\r\n//@ threads 1\r\ny = x;\r\n",
                         NULL),
                     WEFT_OK);
}

static void test_directory(void **state) {
    fixture *f = *state;
    weft_error error = {0};
    char *folder = test_folder_make();
    char *below = test_path(folder, "below"), *one = test_path(folder, "one.kernel.c");
    char *two = test_path(below, "two.kernel.c"), *other = test_path(folder, "other.c");
    size_t n = weft_library_size(f->library);
    assert_int_equal(weft_library_add_directory(f->library, folder, &error), WEFT_ERROR_IO);
    assert_non_null(strstr(error.message, "no *.kernel.c file in"));
    assert_int_equal(weft_library_add_directory(f->library, other, &error), WEFT_ERROR_IO);
    assert_non_null(strstr(error.message, "cannot read the directory"));
    assert_int_equal(mkdir(below, 0700), 0);
    test_text_write(one, FUNCTION("one", "1"));
    test_text_write(two, FUNCTION("two", "1"));
    test_text_write(other, "this is no kernel file");
    assert_int_equal(weft_library_add_directory(f->library, folder, &error), WEFT_OK);
    assert_int_equal(weft_library_size(f->library), n + 2);
    assert_non_null(weft_library_find(f->library, "two"));
    test_text_write(two, FUNCTION("two", "k"));
    assert_int_equal(weft_library_add_directory(f->library, folder, &error), WEFT_ERROR_TYPE);
    assert_string_equal(error.file, two);
    assert_int_equal(error.line, 3);
    test_file_write(two, "//@ func\0tion", 13);
    assert_int_equal(weft_library_add_directory(f->library, folder, &error), WEFT_ERROR_SYNTAX);
    assert_string_equal(error.message, "this is not text: it contains a zero byte");
    test_folder_remove(&folder);
    free(below);
    free(one);
    free(two);
    free(other);
}

/* ---- specialisations
 * ------------------------------------------------------------------------------- */

static weft_status call(fixture *f, const char *name, int n, const weft_shape *shapes,
                        const char *key, int value, weft_specialisation **out, weft_error *error) {
    static const weft_source source = {"script", "y = call(x);\n"};
    return weft_specialisation_make(f->arena, f->library,
                                    &(weft_element_request){weft_library_find(f->library, name),
                                                            shapes,
                                                            n,
                                                            &key,
                                                            &value,
                                                            key != NULL,
                                                            {&source, 1, 5},
                                                            false},
                                    out, error);
}

static void test_sizes(void **state) {
    fixture *f = *state;
    weft_specialisation *specialisation = NULL;
    weft_text text = {0};
    weft_shape two[] = {{2, {2, 3}}, {2, {3, 5}}};
    assert_int_equal(call(f, "mmul", 2, two, NULL, 0, &specialisation, NULL), WEFT_OK);
    weft_shape_print(&specialisation->result, &text);
    assert_string_equal(text.data, "real[2,5]");
    assert_true(specialisation->flops == 50);
    assert_int_equal(specialisation->n_variants, 3);
    assert_int_equal(specialisation->threads[0], 1);
    assert_int_equal(specialisation->threads[1], 2);
    assert_int_equal(specialisation->threads[2], 10);
    weft_text_free(&text);
    weft_shape vertices = {2, {4, 3}}, nodal[] = {{1, {3}}, {2, {2, 2}}};
    assert_int_equal(call(f, "quadrature_points", 1, &vertices, "degree", 4, &specialisation, NULL),
                     WEFT_OK);
    weft_shape_print(&specialisation->result, &text);
    assert_string_equal(text.data, "real[3,14]"); /* Walkington's rule */
    weft_text_free(&text);
    assert_int_equal(call(f, "shape_load", 2, nodal, NULL, 0, &specialisation, NULL), WEFT_OK);
    assert_int_equal(weft_shape_count(&specialisation->result), 3);
    assert_true(weft_shape_equal(&specialisation->result, &nodal[0]));
    assert_false(weft_shape_equal(&specialisation->result, &nodal[1]));
    weft_shape scalar = {0};
    weft_shape_print(&scalar, &text);
    assert_string_equal(text.data, "real");
    assert_int_equal(weft_shape_count(&scalar), 1);
    weft_text_free(&text);
}

static void test_wrong_calls(void **state) {
    fixture *f = *state;
    static const struct {
        const char *function;
        int n;
        weft_shape shapes[3];
        const char *key;
        int value;
        weft_status status;
        const char *message, *hint;
    } calls[] = {
        {"mmul",
         2,
         {{2, {2, 3}}, {2, {4, 5}}},
         NULL,
         0,
         WEFT_ERROR_SHAPE,
         "mmul: B is real[4,5], but A has made k = 3, so its size 1 should be 3",
         "its signature is mmul(A: real[m,k]"},
        {"mmul",
         1,
         {{2, {2, 3}}},
         NULL,
         0,
         WEFT_ERROR_SHAPE,
         "mmul: takes 2 arguments, 1 is given",
         "signature"},
        {"mvmul",
         2,
         {{2, {2, 3}}, {0, {0}}},
         NULL,
         0,
         WEFT_ERROR_SHAPE,
         "mvmul: x is real, but a vector (real[n]) is expected",
         "signature"},
        {"jacobian",
         1,
         {{2, {3, 3}}},
         NULL,
         0,
         WEFT_ERROR_SHAPE,
         "jacobian: X is real[3,3], but X has made d = 2, so its size 2 should be 2",
         "signature"},
        {"measure",
         1,
         {{2, {4, 4}}},
         NULL,
         0,
         WEFT_ERROR_SHAPE,
         "measure: needs d <= 3, but d = 4",
         "signature"},
        /* 4 points are those of a tetrahedron, and that d is a parameter is what the user must see
         */
        {"quadrature_mean",
         1,
         {{1, {4}}},
         NULL,
         0,
         WEFT_ERROR_SHAPE,
         "quadrature_mean: f is real[4], but simplex_weights(2, 2) makes q = 3, so its size 1 "
         "should be "
         "3",
         "its signature is quadrature_mean(f: real[q]) -> s: real; parameters d = 2, degree = 2"},
        {"shape_load",
         2,
         {{1, {3}}, {2, {2, 2}}},
         "degre",
         2,
         WEFT_ERROR_TYPE,
         "shape_load has no parameter 'degre'",
         "did you mean 'degree'?"},
        {"mmul",
         2,
         {{2, {2, 3}}, {2, {3, 5}}},
         "degree",
         2,
         WEFT_ERROR_TYPE,
         "mmul has no parameter 'degree'",
         "it has none"},
        {"interpolate",
         1,
         {{1, {3}}},
         "degree",
         101,
         WEFT_ERROR_USAGE,
         "no quadrature of degree 101",
         "degrees go from 0 to 100"},
        {"quadrature_load",
         2,
         {{1, {5}}, {2, {2, 2}}},
         "degree",
         2,
         WEFT_ERROR_SHAPE,
         "quadrature_load: f is real[5], but simplex_weights(2, 2) makes q = 3, so its size 1 "
         "should be 3",
         "signature"},
        {"outer",
         2,
         {{1, {300}}, {1, {300}}},
         NULL,
         0,
         WEFT_ERROR_SHAPE,
         "outer: its result real[300,300] would have more than 65536 components",
         "signature"},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        weft_error error = {0};
        weft_specialisation *specialisation = NULL;
        weft_status status = call(f, calls[i].function, calls[i].n, calls[i].shapes, calls[i].key,
                                  calls[i].value, &specialisation, &error);
        assert_string_equal(error.message, calls[i].message);
        assert_int_equal(status, calls[i].status);
        assert_non_null(strstr(error.hint, calls[i].hint));
        assert_string_equal(error.file, "script");
        assert_int_equal(error.line, 1);
        assert_int_equal(error.column, 5);
        assert_null(specialisation);
    }
}

/* A parameter without a value must be set; a table without a maker is named. */
static void test_missing(void **state) {
    fixture *f = *state;
    static const char text[] =
        "//@ function p(x: real[n]) -> y: real\n//@ kind map\n//@ parameter k\n//@ flops k\n//@ "
        "source none\n"
        "//@ threads 1\ny = k * x(0);\n"
        "//@ function q(x: real[n]) -> y: real\n//@ kind map\n//@ flops 1\n//@ source none\n"
        "//@ table w: real[m] = no_such_table(n)\n//@ threads 1\ny = w(0) * x(0);\n";
    weft_shape shape = {1, {2}};
    weft_specialisation *specialisation = NULL;
    weft_error error = {0};
    assert_int_equal(weft_library_add_text(f->library, "missing", text, NULL), WEFT_OK);
    assert_int_equal(call(f, "p", 1, &shape, NULL, 0, &specialisation, &error), WEFT_ERROR_TYPE);
    assert_string_equal(error.message, "p needs its parameter 'k'");
    assert_int_equal(call(f, "p", 1, &shape, "k", 3, &specialisation, &error), WEFT_OK);
    assert_true(specialisation->flops == 3);
    assert_int_equal(call(f, "q", 1, &shape, NULL, 0, &specialisation, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "no table maker 'no_such_table' is registered");
    assert_string_equal(error.file, "missing");
    assert_int_equal(error.line, 12);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_library, close_library)
    const struct CMUnitTest tests[] = {TEST(test_info),        TEST(test_replace),
                                       TEST(test_directory),   TEST(test_sizes),
                                       TEST(test_wrong_calls), TEST(test_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
