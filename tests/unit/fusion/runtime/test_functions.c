/* labels: quick */
/* The functions of formulas in scripts, against the C library: of lists, in double and float; of
 * uniform values that a kernel uses; and of uniform values that the program computes by itself. A
 * library of functions is trusted to 4 units in the last place, ten times as much is allowed. With
 * WEFT_TEST_DEVICE=cuda the same on a GPU. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"
#include "program_support.h"

enum { N = 1037 };
static const double NEAR = 1e-14, NEAR_SINGLE = 1e-5;

typedef struct formula {
    const char *text; /* of a in (-1, 1), b in (-1, 1), p in (0.5, 2.5) */
    double (*value)(double a, double b, double p);
} formula;

#define F(NAME, VALUE)                                                                             \
    static double NAME(double a, double b, double p) {                                             \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        (void)p;                                                                                   \
        return VALUE;                                                                              \
    }
F(f_sign, (a > 0) - (a < 0))
F(f_floor, floor(3 * a))
F(f_ceil, ceil(3 * a))
F(f_round, round(3 * a))
F(f_trunc, trunc(3 * a))
F(f_cbrt, cbrt(a))
F(f_hypot, hypot(a, b))
F(f_pow, pow(p, b))
F(f_pow_whole, a *a *a)
F(f_exp2, exp2(a))
F(f_expm1, expm1(a))
F(f_log2, log2(p))
F(f_log10, log10(p))
F(f_log1p, log1p(a / 2))
F(f_tan, tan(a))
F(f_asin, asin(a))
F(f_acos, acos(a))
F(f_atan, atan(4 * a))
F(f_atan2, atan2(a, b))
F(f_sinh, sinh(2 * a))
F(f_cosh, cosh(2 * a))
F(f_tanh, tanh(2 * a))
F(f_asinh, asinh(2 * a))
F(f_acosh, acosh(1 + p))
F(f_atanh, atanh(a / 2))
F(f_erf, erf(2 * a))
F(f_erfc, erfc(2 * a))
F(f_select, a<0.25 && b> 0 ? sin(a) : 2)
F(f_min, fmin(a, b))
F(f_max, fmax(a, 0.25))

static const formula formulas[] = {
    {"sign(a)", f_sign},        {"floor(3*a)", f_floor},
    {"ceil(3*a)", f_ceil},      {"round(3*a)", f_round},
    {"trunc(3*a)", f_trunc},    {"cbrt(a)", f_cbrt},
    {"hypot(a, b)", f_hypot},   {"pow(p, b)", f_pow},
    {"pow(a, 3)", f_pow_whole}, {"exp2(a)", f_exp2},
    {"expm1(a)", f_expm1},      {"log2(p)", f_log2},
    {"log10(p)", f_log10},      {"log1p(a/2)", f_log1p},
    {"tan(a)", f_tan},          {"asin(a)", f_asin},
    {"acos(a)", f_acos},        {"atan(4*a)", f_atan},
    {"atan2(a, b)", f_atan2},   {"sinh(2*a)", f_sinh},
    {"cosh(2*a)", f_cosh},      {"tanh(2*a)", f_tanh},
    {"asinh(2*a)", f_asinh},    {"acosh(1 + p)", f_acosh},
    {"atanh(a/2)", f_atanh},    {"erf(2*a)", f_erf},
    {"erfc(2*a)", f_erfc},      {"min(a, b)", f_min},
    {"max(a, 0.25)", f_max},    {"select(a < 0.25 and b > 0, sin(a), 2)", f_select},
};
enum { N_FORMULAS = sizeof formulas / sizeof formulas[0] };

static char *script_of(const char *declarations, const char *behind) {
    weft_text text = {0};
    weft_text_add(&text, "%s", declarations);
    for (int i = 0; i < N_FORMULAS; ++i)
        weft_text_add(&text, "r%d = %s%s;\nreturn r%d;\n", i, formulas[i].text, behind, i);
    assert_false(text.failed);
    return text.data;
}

static void of_lists(bool single) {
    const weft_compile_options options = {.size = sizeof options, .single = single};
    char *text = script_of("index n;\ninput a, b, p : real over n;\n", "");
    program_case c = case_open(NULL, "host:1", text, &options);
    uint64_t state = 1;
    double *a = random_list(&state, N), *b = random_list(&state, N), *p = random_list(&state, N);
    const double near = single ? NEAR_SINGLE : NEAR;
    for (int i = 0; i < N; ++i) {
        a[i] = single ? (double)(float)a[i] : a[i];
        b[i] = single ? (double)(float)b[i] : b[i];
        p[i] = single ? (double)(float)(1.5 + p[i]) : 1.5 + p[i];
    }
    case_size(&c, "n", N);
    case_input(&c, "a", a);
    case_input(&c, "b", b);
    case_input(&c, "p", p);
    case_run(&c);
    for (int f = 0; f < N_FORMULAS; ++f) {
        char name[16];
        snprintf(name, sizeof name, "r%d", f);
        double *r = case_result(&c, name);
        for (int i = 0; i < N; ++i)
            test_double_near(r[i], formulas[f].value(a[i], b[i], p[i]), near, near,
                             formulas[f].text, __FILE__, __LINE__);
        free(r);
    }
    free(a);
    free(b);
    free(p);
    case_close(&c);
    free(text);
}

static void lists(void **state) {
    (void)state;
    of_lists(false);
}

static void lists_single(void **state) {
    (void)state;
    of_lists(true);
}

static const double given[][3] = {{0.375, -0.5, 1.75}, {-0.875, 0.25, 0.625}, {0, 1, 2}};
enum { N_GIVEN = sizeof given / sizeof *given };

/* Uniform values that kernels use. */
static void numbers_in_kernels(void **state) {
    char *text = script_of("index n;\ninput a, b, p : real;\ninput x : real over n;\n", "*x");
    (void)state;
    for (int k = 0; k < N_GIVEN; ++k) {
        const double *g = given[k], x[] = {1, 2, 4};
        program_case c = case_open(NULL, "host:1", text, NULL);
        case_size(&c, "n", 3);
        case_input(&c, "a", &g[0]);
        case_input(&c, "b", &g[1]);
        case_input(&c, "p", &g[2]);
        case_input(&c, "x", x);
        case_run(&c);
        for (int f = 0; f < N_FORMULAS; ++f) {
            char name[16];
            snprintf(name, sizeof name, "r%d", f);
            double *r = case_result(&c, name);
            for (int i = 0; i < 3; ++i)
                test_double_near(r[i], formulas[f].value(g[0], g[1], g[2]) * x[i], NEAR, NEAR,
                                 formulas[f].text, __FILE__, __LINE__);
            free(r);
        }
        case_close(&c);
    }
    free(text);
}

/* Uniform values that the program computes between its kernels: here there are none. */
static void numbers(void **state) {
    static const char *const names[] = {"a", "b", "p"};
    char *text = script_of("input a, b, p : real;\n", "");
    weft_error error = {0};
    (void)state;
    for (int k = 0; k < N_GIVEN; ++k) {
        const double *g = given[k];
        program_case c = case_open(NULL, "host:1", text, NULL);
        for (int i = 0; i < 3; ++i) {
            weft_memory *memory = case_memory(&c, sizeof *g);
            case_check(weft_memory_write(memory, 0, &g[i], sizeof *g, &error), &error);
            case_check(weft_program_bind(c.program, names[i], memory, &error), &error);
        }
        case_check(weft_program_run(c.program, &error), &error);
        for (int f = 0; f < N_FORMULAS; ++f) {
            char name[16];
            double r = NAN;
            snprintf(name, sizeof name, "r%d", f);
            case_check(
                weft_memory_read(weft_program_result(c.program, name), 0, &r, sizeof r, &error),
                &error);
            test_double_near(r, formulas[f].value(g[0], g[1], g[2]), NEAR, NEAR, formulas[f].text,
                             __FILE__, __LINE__);
        }
        case_close(&c);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists), cmocka_unit_test(lists_single),
                                       cmocka_unit_test(numbers),
                                       cmocka_unit_test(numbers_in_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
