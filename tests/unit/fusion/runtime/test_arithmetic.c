/* labels: quick */
/* Elementwise arithmetic end to end on the host against C: + - * / and comparisons are exactly
 * rounded, so bitwise the same up to contraction into fused multiply-adds (one rounding less);
 * transcendental functions are the C library's, within a few units in the last place. */
#include "core/host/compiler.h"
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"
#include "program_support.h"

#include <float.h>

enum { N = 1037 };
static const double FEW_ULP = 1e-14; /* ten times what they are wrong by */

static double number_pow(double x, double y) {
    return pow(x, y);
}

typedef struct formula {
    const char *text; /* of a in (-1, 1), b in (-1, 1), p in (0.5, 2.5) */
    double (*value)(double a, double b, double p);
} formula;

#define PI 3.14159265358979323846
#define F(NAME, VALUE)                                                                             \
    static double NAME(double a, double b, double p) {                                             \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        (void)p;                                                                                   \
        return VALUE;                                                                              \
    }
F(f_add, a + b)
F(f_subtract, a - b)
F(f_multiply, a *b)
F(f_divide, a / b)
F(f_negate, -a)
F(f_double_negate, -(-a))
F(f_left, a - b - p)
F(f_right, a - (b - p))
F(f_quotients, a / b / p)
F(f_quotient_of_product, a / (b * p))
F(f_negated_power, -number_pow(a, 2))
F(f_square, a *a)
F(f_cube, a *a *a)
F(f_inverse_square, 1 / (a * a))
F(f_zero_power, 1)
F(f_root, sqrt(p))
F(f_power, number_pow(p, 3.7))
F(f_power_of_lists, number_pow(p, b))
F(f_power_tower, number_pow(p, number_pow(2, 3)))
F(f_large_power, number_pow(p, 70))
F(f_negative_exponent, number_pow(p, -1.5))
F(f_sqrt, sqrt(p))
F(f_exp, exp(a))
F(f_log, log(p))
F(f_sin, sin(3 * a))
F(f_cos, cos(3 * a))
F(f_tan, tan(a))
F(f_tanh, tanh(2 * a))
F(f_abs, fabs(a))
F(f_min, fmin(a, b))
F(f_max, fmax(a, b))
F(f_min_number, fmin(a, 0.25))
F(f_pi, PI *a)
F(f_nested, exp(-(a *a + b * b)) * sin(2 * PI * a) / sqrt(1 + p))
F(f_constant, 2.5)
F(f_small, a + 1e-300)
F(f_abs_of_number, fabs(-2.0) * a)

static const formula formulas[] = {
    {"a + b", f_add},
    {"a - b", f_subtract},
    {"a*b", f_multiply},
    {"a/b", f_divide},
    {"-a", f_negate},
    {"-(-a)", f_double_negate},
    {"a - b - p", f_left},
    {"a - (b - p)", f_right},
    {"a/b/p", f_quotients},
    {"a/(b*p)", f_quotient_of_product},
    {"-a^2", f_negated_power},
    {"a^2", f_square},
    {"a^3", f_cube},
    {"a^-2", f_inverse_square},
    {"a^0", f_zero_power},
    {"p^0.5", f_root},
    {"p^3.7", f_power},
    {"p^b", f_power_of_lists},
    {"p^2^3", f_power_tower},
    {"p^70", f_large_power},
    {"p^-1.5", f_negative_exponent},
    {"sqrt(p)", f_sqrt},
    {"exp(a)", f_exp},
    {"log(p)", f_log},
    {"sin(3*a)", f_sin},
    {"cos(3*a)", f_cos},
    {"tan(a)", f_tan},
    {"tanh(2*a)", f_tanh},
    {"abs(a)", f_abs},
    {"min(a, b)", f_min},
    {"max(a, b)", f_max},
    {"min(a, 0.25)", f_min_number},
    {"pi*a", f_pi},
    {"exp(-(a^2 + b^2))*sin(2*pi*a)/sqrt(1 + p)", f_nested},
    {"2.5 + 0*a", f_constant},
    {"a + 1e-300", f_small},
    {"abs(-2)*a", f_abs_of_number},
};
enum { N_FORMULAS = sizeof formulas / sizeof formulas[0] };

typedef struct abp {
    double *a, *b, *p;
} abp;

static abp inputs_make(int64_t n) {
    uint64_t state = 1;
    abp in = {random_list(&state, n), random_list(&state, n), random_list(&state, n)};
    for (int64_t i = 0; i < n; ++i)
        in.p[i] = 1.5 + in.p[i];
    return in;
}

static void inputs_free(abp *in) {
    free(in->a);
    free(in->b);
    free(in->p);
}

/* All formulas in one script, r0 = ...; r1 = ...; so that one module serves them. */
static char *script_of_formulas(void) {
    weft_text text = {0};
    weft_text_add(&text, "index n;\ninput a, b, p : real over n;\n");
    for (int i = 0; i < N_FORMULAS; ++i)
        weft_text_add(&text, "r%d = %s;\nreturn r%d;\n", i, formulas[i].text, i);
    assert_false(text.failed);
    return text.data;
}

static void check_formulas(int64_t n, bool single, double tolerance) {
    const weft_compile_options options = {.size = sizeof options, .single = single};
    char *text = script_of_formulas();
    program_case c = case_open(NULL, "host:1", text, &options);
    abp in = inputs_make(n);
    case_size(&c, "n", n);
    case_input(&c, "a", in.a);
    case_input(&c, "b", in.b);
    case_input(&c, "p", in.p);
    case_run(&c);
    for (int f = 0; f < N_FORMULAS; ++f) {
        char name[16];
        snprintf(name, sizeof name, "r%d", f);
        double *r = case_result(&c, name);
        for (int64_t i = 0; i < n; ++i) {
            const double a = single ? (double)(float)in.a[i] : in.a[i];
            const double b = single ? (double)(float)in.b[i] : in.b[i];
            const double p = single ? (double)(float)in.p[i] : in.p[i];
            /* a and b lie in (-1, 1): rounding before a cancellation counts absolutely */
            test_double_near(r[i], formulas[f].value(a, b, p), tolerance, tolerance,
                             formulas[f].text, __FILE__, __LINE__);
        }
        free(r);
    }
    inputs_free(&in);
    case_close(&c);
    free(text);
}

static void every_operator(void **state) {
    (void)state;
    check_formulas(N, false, 8 * FEW_ULP);
}

static void every_operator_single(void **state) {
    (void)state;
    /* a float has 24 bits: 6e-8; p^70 loses some dozens of units by its factors */
    check_formulas(N, true, 1e-4);
}

static void exact_operators_bitwise(void **state) {
    (void)state;
    program_case c = case_open(NULL, "host:1",
                               "index n;\ninput a, b, p : real over n;\n"
                               "s = a + b; d = a - b; m = a*b; q = a/b; r = sqrt(p);\n"
                               "g = -a; h = abs(a); lo = min(a, b); hi = max(a, b);\n"
                               "return s, d, m, q, r, g, h, lo, hi;\n",
                               NULL);
    abp in = inputs_make(N);
    case_size(&c, "n", N);
    case_input(&c, "a", in.a);
    case_input(&c, "b", in.b);
    case_input(&c, "p", in.p);
    case_run(&c);
    const char *const names[] = {"s", "d", "m", "q", "r", "g", "h", "lo", "hi"};
    for (int k = 0; k < 9; ++k) {
        double *r = case_result(&c, names[k]), wanted[N];
        for (int i = 0; i < N; ++i) {
            const double a = in.a[i], b = in.b[i];
            const double all[] = {a + b, a - b,   a * b,      a / b,     sqrt(in.p[i]),
                                  -a,    fabs(a), fmin(a, b), fmax(a, b)};
            wanted[i] = all[k];
        }
        assert_same_bits(r, wanted, N);
        free(r);
    }
    inputs_free(&in);
    case_close(&c);
}

/* A scalar with a tensor, tensors of one shape, components and rows, uniforms of every shape. */
static void broadcasting(void **state) {
    (void)state;
    program_case c = case_open(NULL, "host:1",
                               "index n;\n"
                               "input s : real over n;\ninput v, w : real[3] over n;\n"
                               "input M : real[2,3] over n;\n"
                               "input alpha : real;\ninput u : real[3];\n"
                               "r0 = s*v + w;\n"
                               "r1 = M[1] - M[0];\n"
                               "r2 = M[1,2]*v[0] + alpha;\n"
                               "r3 = u*v - 2*alpha;\n"
                               "r4 = M*alpha + s;\n"
                               "r5 = u[1]*s;\n"
                               "two = 2*alpha + u[0];\n"
                               "r6 = two*M[0];\n"
                               "r7 = u*u + s;\n"
                               "return r0, r1, r2, r3, r4, r5, r6, r7;\n",
                               NULL);
    uint64_t seed = 7;
    double *s = random_list(&seed, N), *v = random_list(&seed, 3 * N);
    double *w = random_list(&seed, 3 * N), *M = random_list(&seed, 6 * N);
    const double alpha = 0.375, u[3] = {1.25, -0.5, 2};
    case_size(&c, "n", N);
    case_input(&c, "s", s);
    case_input(&c, "v", v);
    case_input(&c, "w", w);
    case_input(&c, "M", M);
    case_input(&c, "alpha", &alpha);
    case_input(&c, "u", u);
    case_run(&c);
    double *r[8];
    for (int k = 0; k < 8; ++k) {
        char name[8];
        snprintf(name, sizeof name, "r%d", k);
        r[k] = case_result(&c, name);
    }
    for (int i = 0; i < N; ++i) {
        const double *Mi = M + 6 * i, *vi = v + 3 * i, *wi = w + 3 * i;
        for (int j = 0; j < 3; ++j) {
            assert_double_near(r[0][3 * i + j], s[i] * vi[j] + wi[j], 4e-16, 4e-16);
            assert_double_near(r[1][3 * i + j], Mi[3 + j] - Mi[j], 0, 0);
            assert_double_near(r[3][3 * i + j], u[j] * vi[j] - 2 * alpha, 4e-16, 4e-16);
            assert_double_near(r[6][3 * i + j], (2 * alpha + u[0]) * Mi[j], 0, 0);
            assert_double_near(r[7][3 * i + j], u[j] * u[j] + s[i], 4e-16, 4e-16);
        }
        assert_double_near(r[2][i], Mi[5] * vi[0] + alpha, 4e-16, 4e-16);
        for (int j = 0; j < 6; ++j)
            assert_double_near(r[4][6 * i + j], Mi[j] * alpha + s[i], 4e-16, 4e-16);
        assert_double_near(r[5][i], u[1] * s[i], 0, 0);
    }
    for (int k = 0; k < 8; ++k)
        free(r[k]);
    free(s);
    free(v);
    free(w);
    free(M);
    case_close(&c);
}

/* A formula of the script bound to a user's text; parameters as numbers, negative ones too. */
static void formulas_and_parameters(void **state) {
    (void)state;
    const weft_expression bound = {"source", "sin(x)*y + x^2", "--source"};
    const weft_parameter parameter = {"p", -3};
    const weft_compile_options options = {.size = sizeof options,
                                          .expressions = &bound,
                                          .n_expressions = 1,
                                          .parameters = &parameter,
                                          .n_parameters = 1};
    program_case c = case_open(NULL, "host:1",
                               "index n;\nparameter p = 2, q = 4;\n"
                               "input x : real[2] over n;\ninput s : real over n;\n"
                               "expression source(x, y) = 1;\n"
                               "expression constant(x, y) = 1.5;\n"
                               "expression first(a, b) = a;\n"
                               "r0 = source(x);\n"
                               "r1 = source(x[1], 2*s);\n"
                               "r2 = constant(x);\n"
                               "r3 = p*s + q^2;\n"
                               "r4 = first(s, x);\n"
                               "return r0, r1, r2, r3, r4;\n",
                               &options);
    uint64_t seed = 9;
    double *x = random_list(&seed, 2 * N), *s = random_list(&seed, N);
    case_size(&c, "n", N);
    case_input(&c, "x", x);
    case_input(&c, "s", s);
    case_run(&c);
    double *r0 = case_result(&c, "r0"), *r1 = case_result(&c, "r1"), *r2 = case_result(&c, "r2");
    double *r3 = case_result(&c, "r3"), *r4 = case_result(&c, "r4");
    for (int i = 0; i < N; ++i) {
        const double a = x[2 * i], b = x[2 * i + 1];
        assert_double_near(r0[i], sin(a) * b + a * a, FEW_ULP, FEW_ULP);
        assert_double_near(r1[i], sin(b) * 2 * s[i] + b * b, FEW_ULP, FEW_ULP);
        assert_double_near(r2[i], 1.5, 0, 0);
        assert_double_near(r3[i], -3 * s[i] + 16, FEW_ULP, 0);
        assert_double_near(r4[2 * i], s[i], 0, 0);
        assert_double_near(r4[2 * i + 1], s[i], 0, 0);
    }
    free(r0);
    free(r1);
    free(r2);
    free(r3);
    free(r4);
    free(x);
    free(s);
    case_close(&c);
}

static void sizes_of(const char *set, bool single) {
    char device[32];
    const weft_compile_options options = {.size = sizeof options, .single = single};
    snprintf(device, sizeof device, "host:2:%s", set);
    program_case c = case_open(NULL, device,
                               "index n;\ninput a, b : real[2] over n;\n"
                               "r = a*b + 1;\nq = r[0] - b[1];\ns = sin(a[0]) + exp(b[1]);\n"
                               "return r, q, s;\n",
                               &options);
    const double eps = single ? FLT_EPSILON : DBL_EPSILON;
    const int lanes = weft_program_lanes(c.program);
    const int64_t sizes[] = {0,         1,    lanes - 1, lanes, lanes + 1, 2 * lanes - 1,
                             2 * lanes, 4099, 3,         0};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        const int64_t n = sizes[k];
        uint64_t seed = 11;
        double *a = random_list(&seed, 2 * n), *b = random_list(&seed, 2 * n);
        for (int64_t i = 0; single && i < 2 * n; ++i) {
            a[i] = (double)(float)a[i];
            b[i] = (double)(float)b[i];
        }
        case_size(&c, "n", n);
        case_input(&c, "a", a);
        case_input(&c, "b", b);
        case_run(&c);
        double *r = case_result(&c, "r"), *q = case_result(&c, "q"), *s = case_result(&c, "s");
        for (int64_t i = 0; i < n; ++i) {
            for (int j = 0; j < 2; ++j)
                assert_double_near(r[2 * i + j], a[2 * i + j] * b[2 * i + j] + 1, 10 * eps,
                                   10 * eps);
            assert_double_near(q[i], a[2 * i] * b[2 * i] + 1 - b[2 * i + 1], 20 * eps, 20 * eps);
            assert_double_near(s[i], sin(a[2 * i]) + exp(b[2 * i + 1]), 50 * eps, 50 * eps);
        }
        free(r);
        free(q);
        free(s);
        free(a);
        free(b);
    }
    case_close(&c);
}

/* Blocks that are empty, partly filled, full, and one more, by every instruction set. */
static void sizes_round_blocks(void **state) {
    static const char *const sets[] = {"sse2", "avx2", "avx512", "neon"};
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
        weft_processor processor;
        for (int single = 0; single < 2; ++single)
            if (weft_processor_read(sets[i], &processor, NULL) == WEFT_OK)
                sizes_of(sets[i], single);
    }
}

/* The same call of two parts of a list is two calls. */
static void parts_of_a_list(void **state) {
    (void)state;
    program_case c = case_open(NULL, "host:1",
                               "index n;\ninput A : real[2,3] over n;\n"
                               "u = norm2(A[0]);\nv = norm2(A[1]);\nreturn u, v;\n",
                               NULL);
    double A[6 * 11];
    for (int k = 0; k < 6 * 11; ++k)
        A[k] = k % 7 - 2.5;
    case_size(&c, "n", 11);
    case_input(&c, "A", A);
    case_run(&c);
    double *u = case_result(&c, "u"), *v = case_result(&c, "v");
    for (int i = 0; i < 11; ++i) {
        const double *row = A + (ptrdiff_t)6 * i;
        assert_double_near(u[i], sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]), FEW_ULP,
                           0);
        assert_double_near(v[i], sqrt(row[3] * row[3] + row[4] * row[4] + row[5] * row[5]), FEW_ULP,
                           0);
    }
    free(u);
    free(v);
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator),          cmocka_unit_test(every_operator_single),
        cmocka_unit_test(exact_operators_bitwise), cmocka_unit_test(broadcasting),
        cmocka_unit_test(formulas_and_parameters), cmocka_unit_test(sizes_round_blocks),
        cmocka_unit_test(parts_of_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
