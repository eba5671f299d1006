/* labels: quick */
/* Product kernels: what their files must hold, and how calls share a kernel with them. What a
 * product kernel reads at other rows is either complete before its kernel or computed there
 * again. */
#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "fusion/library/library.h"
#include "fusion/script/tokens.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"
#include "nvrtc_support.h"
#include "program_support.h"

static weft_status read_text(const char *text, const weft_product_kernel **out, weft_error *error) {
    weft_arena *arena = NULL;
    weft_error ignored = {0};
    static weft_source source;
    assert_int_equal(weft_arena_make(&arena, &ignored), WEFT_OK);
    source = (weft_source){"test.product.cu", text};
    const weft_status status = weft_product_kernel_read(arena, &source, out, error);
    if (status == WEFT_OK) {
        assert_string_equal((*out)->name, "copy");
        assert_int_equal((*out)->n_arguments, 2);
        assert_string_equal((*out)->arguments[0].name, "start");
        assert_string_equal((*out)->arguments[1].type, "const double *");
        assert_string_equal((*out)->helpers, "INLINE int one() { return 1; }\n");
        assert_string_equal((*out)->body, "own[0] = y[0] = LOAD(first_row);\n");
    }
    weft_arena_free(&arena);
    return status;
}

static void files(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        int line;
    } wrong[] = {
        {"//@ rows a\n//@ threads 100\n//@ nodes 512\n//@ body\n", "threads of a block", 4},
        {"//@ rows a\n//@ threads 256\n//@ nodes 500\n//@ body\n", "multiple of 512, or 32", 4},
        {"//@ rows a\n//@ threads 256\n//@ nodes 16\n//@ body\n", "multiple of 512, or 32", 4},
        {"//@ rows a\n//@ threads x\n", "number", 2},
        {"//@ rows a\n//@ argument const double values\n", "pointer", 2},
        {"//@ rows a\n//@ argument const double *\n", "name is missing", 2},
        {"//@ rows a\n//@ wibble\n", "lines of a product kernel", 2},
        {"//@ threads 512\n//@ nodes 512\n", "rows NAME", 2},
    };
    const weft_product_kernel *product_kernel = NULL;
    weft_error error = {0};
    case_check(read_text("//@ rows copy\n//@ threads 512\n//@ nodes 512\n"
                         "//@ argument const int64_t *start   what it is\n"
                         "//@ argument const double * values\n"
                         "INLINE int one() { return 1; }\n"
                         "//@ body\nown[0] = y[0] = LOAD(first_row);\n",
                         &product_kernel, &error),
               &error);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        error = (weft_error){0};
        assert_int_equal(read_text(wrong[i].text, &product_kernel, &error), WEFT_ERROR_SYNTAX);
        assert_non_null(strstr(error.message, wrong[i].message));
        assert_int_equal(error.line, wrong[i].line);
    }
}

static const char declarations[] = "index nodes plain;\noperator A over nodes;\n"
                                   "input z, p, d : real over nodes;\ninput beta : real;\n";

static program_case open_rows(const char *statements, const char *product_kernel,
                              weft_plan_kind plan) {
    char text[1024];
    const weft_operator_choice choice = {.name = "A", .product_kernel = product_kernel};
    const weft_compile_options options = {
        .size = sizeof options, .plan = plan, .operators = &choice, .n_operators = 1};
    snprintf(text, sizeof text, "%s%s", declarations, statements);
    return case_open(NULL, "null:h200", text, &options);
}

static int kernels(const char *statements, weft_plan_kind plan) {
    program_case c = open_rows(statements, "csr", plan);
    const int n = weft_compilation_kernels(c.compilation);
    case_close(&c);
    return n;
}

static void calls_share_a_kernel_with_a_product_kernel(void **state) {
    (void)state;
    static const char cg[] =
        "s = z + beta*p;\nq = apply(A, s);\nsq = dot(s, q);\nreturn s, q, sq;\n";
    assert_int_equal(kernels(cg, WEFT_PLAN_FUSED), 2);   /* and one that joins partial results */
    assert_int_equal(kernels(cg, WEFT_PLAN_UNFUSED), 4); /* here too */
    /* what comes behind it does, row by row */
    assert_int_equal(kernels("q = apply(A, z);\nr = p - d*q;\nreturn r;\n", WEFT_PLAN_FUSED), 1);
    /* two calls deep is not recomputed */
    assert_int_equal(kernels("s = z + beta*p;\nt = exp(s)*d + s;\nu = s*t;\nq = apply(A, u);\n"
                             "return q, s, t;\n",
                             WEFT_PLAN_FUSED),
                     2);
    /* nor is what is made of a list whose value changes beside it: the update has another kernel */
    assert_int_equal(
        kernels("s = z + beta*p;\nupdate p = d;\nq = apply(A, s);\nreturn q;\n", WEFT_PLAN_FUSED),
        2);
    /* an update outside a loop has one memory: it must be complete */
    assert_int_equal(
        kernels("update p = z + beta*p;\nq = apply(A, p);\nreturn q;\n", WEFT_PLAN_FUSED), 2);
    /* each product kernel has a kernel of its own */
    assert_int_equal(
        kernels("q = apply(A, z);\nr = apply(A, p);\ns = q + r;\nreturn s;\n", WEFT_PLAN_FUSED), 2);
    /* what loads through a connectivity stands in a kernel of its own, also where it is v */
    assert_int_equal(kernels("connectivity around : nodes -> nodes[2];\nq = apply(A, z);\n"
                             "r = q + p[around][0];\nreturn q, r;\n",
                             WEFT_PLAN_FUSED),
                     2);
    assert_int_equal(kernels("connectivity around : nodes -> nodes[2];\n"
                             "q = apply(A, p[around][1]);\nreturn q;\n",
                             WEFT_PLAN_FUSED),
                     2);
    assert_int_equal(kernels("q = apply(A, z);\nr = apply(A, q);\nreturn r;\n", WEFT_PLAN_FUSED),
                     2);
    /* two products of one computed list, which one of them computes */
    assert_int_equal(
        kernels("s = z*p;\nq = apply(A, s);\nr = apply(A, s);\nreturn q, r;\n", WEFT_PLAN_FUSED),
        2);
    /* neither of these is let in by what a later product kernel takes as its prologue */
    assert_int_equal(
        kernels("s = z*p;\nq = apply(A, z);\nr = apply(A, s);\nreturn s, q, r;\n", WEFT_PLAN_FUSED),
        2);
    assert_int_equal(kernels("connectivity around : nodes -> nodes[2];\ns = z*z;\n"
                             "t = s + p[around][0];\nq = apply(A, s);\nreturn t, q;\n",
                             WEFT_PLAN_FUSED),
                     2);
}

static void every_product_kernel_compiles(void **state) {
    (void)state;
    static const char *const product_kernels[] = {"csr", "sell", "edge"};
    static const char cg[] = "s = z + beta*p;\nq = apply(A, s);\nsq = dot(s, q);\nt = d*q;\n"
                             "tt = sum(t);\nreturn s, q, sq, tt;\n";
    weft_nvrtc nvrtc;
    nvrtc_open_or_skip(&nvrtc);
    for (size_t i = 0; i < sizeof product_kernels / sizeof *product_kernels; ++i) {
        program_case c = open_rows(cg, product_kernels[i], WEFT_PLAN_FUSED);
        nvrtc_expect_compiles(&nvrtc, product_kernels[i], weft_compilation_source(c.compilation));
        case_close(&c);
    }
    weft_nvrtc_close(&nvrtc);
}

static void binding(void **state) {
    (void)state;
    weft_error error = {0};
    program_case c = open_rows("q = apply(A, z);\nreturn q;\n", "csr", WEFT_PLAN_FUSED);
    weft_memory *memories[3] = {case_memory(&c, 8), case_memory(&c, 8), case_memory(&c, 8)};
    const weft_product_arguments rows = {"csr", memories, 3, 5, 0};
    const weft_product_arguments other = {"sell", memories, 3, 5, 0},
                                 fewer = {"csr", memories, 2, 5, 0};
    assert_int_equal(weft_program_bind_product(c.program, "B", &rows, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_program_bind_product(c.program, "A", &other, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_program_bind_product(c.program, "A", &fewer, &error), WEFT_ERROR_USAGE);
    case_size(&c, "nodes", 6);
    case_check(weft_program_bind(c.program, "z", case_memory(&c, 48), &error), &error);
    assert_int_equal(weft_program_run(c.program, &error), WEFT_ERROR_USAGE); /* A is not bound */
    case_check(weft_program_bind_product(c.program, "A", &rows, &error), &error);
    assert_int_equal(weft_program_run(c.program, &error), WEFT_ERROR_SHAPE); /* 5 rows, 6 nodes */
    case_size(&c, "nodes", 5);
    case_check(weft_program_bind(c.program, "z", case_memory(&c, 40), &error), &error);
    case_check(weft_program_run(c.program, &error), &error);
    case_close(&c);
}

/* A product that nobody reads does not keep the operator from where it is applied. */
static void binding_beside_a_dead_product(void **state) {
    (void)state;
    weft_error error = {0};
    double n = 1;
    program_case c = open_rows("repeat at most 2 while (beta > 0) {\n"
                               "    update p = 2*p;\n    dead = apply(A, p);\n"
                               "    update beta = beta - 1;\n}\n"
                               "q = apply(A, z);\nreturn q;\n",
                               "csr", WEFT_PLAN_FUSED);
    weft_memory *memories[3] = {case_memory(&c, 8), case_memory(&c, 8), case_memory(&c, 8)};
    const weft_product_arguments rows = {"csr", memories, 3, 5, 0};
    case_check(weft_program_bind_product(c.program, "A", &rows, &error), &error);
    case_check(weft_program_size(c.program, "nodes", 5, &error), &error);
    case_check(weft_program_bind(c.program, "z", case_memory(&c, 40), &error), &error);
    case_check(weft_program_bind(c.program, "p", case_memory(&c, 40), &error), &error);
    case_check(weft_program_bind(c.program, "d", case_memory(&c, 40), &error), &error);
    case_check(weft_program_bind(c.program, "beta", case_memory(&c, sizeof n), &error), &error);
    case_check(weft_program_run(c.program, &error), &error);
    case_close(&c);
}

/* What is legal does not hang on which kind of operator it gets. */
static void updating_twice(void **state) {
    (void)state;
    static const char *const product_kernels[] = {NULL, "csr"};
    for (int i = 0; i < 2; ++i) {
        program_case c = open_rows("update p = z;\nq = apply(A, d);\nupdate p = p - q;\n",
                                   product_kernels[i], WEFT_PLAN_FUSED);
        assert_true(weft_compilation_kernels(c.compilation) >= 2);
        case_close(&c);
    }
}

/* Added to before a uniform value changes and after it: in two segments. fuzz_plans checks numbers.
 */
static void a_matrix_of_two_segments(void **state) {
    (void)state;
    assert_int_equal(kernels("connectivity around : nodes -> nodes[2];\n"
                             "input K : real[2,2] over nodes;\n"
                             "M[around,around] += K;\nupdate beta = -beta;\n"
                             "M[around,around] += beta*K;\nreturn M;\n",
                             WEFT_PLAN_UNFUSED),
                     2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files),
        cmocka_unit_test(calls_share_a_kernel_with_a_product_kernel),
        cmocka_unit_test(every_product_kernel_compiles),
        cmocka_unit_test(binding),
        cmocka_unit_test(binding_beside_a_dead_product),
        cmocka_unit_test(updating_twice),
        cmocka_unit_test(a_matrix_of_two_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
