/* labels: quick */
/* Linear systems, inverses and determinants of small matrices, on the host and as a GPU's text. An error, relative to the
 * largest component, is at most 20 n eps cond: elimination and Cholesky's method are backward stable (Higham 2002, sections 9.3
 * and 10.1), and random matrices stay far below. The exact values and the condition come from elimination with complete
 * pivoting in long double. Where a matrix is singular or not positive definite, no component is a number. */
#include "emulated_gpu.h"
#include "program_support.h"

#include <float.h>

enum { ORDER_MAX = 33, CELLS = 37 };

/* Elements 0, 1, ... are of the families in turn. */
typedef enum family {
    RANDOM,
    PERMUTED, /* zeros on the diagonal, so that rows must be exchanged */
    NEEDLE,   /* one large singular value, the others equal */
    ROWS,     /* random, each row of another size */
    BOTH,     /* each row and column of another size */
    N_FAMILIES
} family;

typedef long double matrix[ORDER_MAX][2 * ORDER_MAX];

/* a, of order n, is inverted in long double; returns its determinant. */
static long double invert(int n, const double *a, matrix out) {
    matrix w;
    int row_of[ORDER_MAX];
    long double det = 1;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < 2 * n; ++j)
            w[i][j] = j < n ? (long double)a[i * n + j] : j - n == i;
    for (int k = 0; k < n; ++k) {
        int p = k, q = k;
        for (int i = k; i < n; ++i)
            for (int j = k; j < n; ++j)
                if (fabsl(w[i][j]) > fabsl(w[p][q])) {
                    p = i;
                    q = j;
                }
        for (int j = 0; j < 2 * n; ++j) {
            const long double swap = w[k][j];
            w[k][j] = w[p][j];
            w[p][j] = swap;
        }
        for (int i = 0; i < n; ++i) {
            const long double swap = w[i][k];
            w[i][k] = w[i][q];
            w[i][q] = swap;
        }
        row_of[k] = q;
        det *= (p != k) == (q != k) ? w[k][k] : -w[k][k];
        for (int j = 2 * n - 1; j >= 0; --j)
            w[k][j] = j == k ? 1 : w[k][j] / w[k][k];
        for (int i = 0; i < n; ++i)
            for (int j = 2 * n - 1; i != k && j >= k; --j)
                w[i][j] -= w[i][k] * w[k][j];
    }
    for (int k = n - 1; k >= 0; --k)
        for (int j = n; j < 2 * n; ++j) {
            const long double swap = w[k][j];
            w[k][j] = w[row_of[k]][j];
            w[row_of[k]][j] = swap;
        }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            out[i][j] = w[i][n + j];
    return det;
}

static long double row_norm(int n, const double *a, matrix inverse) {
    long double of_a = 0, of_inverse = 0;
    for (int i = 0; i < n; ++i) {
        long double row = 0, other = 0;
        for (int j = 0; j < n; ++j) {
            row += fabsl((long double)a[i * n + j]);
            other += fabsl(inverse[i][j]);
        }
        of_a = fmaxl(of_a, row);
        of_inverse = fmaxl(of_inverse, other);
    }
    return of_a * of_inverse;
}

/* ---- data ---- */

static void needle(int n, double size, uint64_t *state, double *a) {
    double u[ORDER_MAX], v[ORDER_MAX];
    for (int i = 0; i < n; ++i) {
        u[i] = random_real(state);
        v[i] = random_real(state);
    }
    for (int i = 0; i < n * n; ++i)
        a[i] = u[i / n] * v[i % n] + 1 / size * random_real(state);
}

/* size: of the condition that is added */
static void fill(int n, family kind, double size, uint64_t *state, double *a) {
    for (int i = 0; i < n * n; ++i)
        a[i] = random_real(state);
    for (int i = 0; i < n && kind == PERMUTED; ++i)
        for (int j = 0; j < n; ++j)
            a[i * n + j] *= n > 1 && i == j ? 0 : (i + 1) % n == j ? 4 : 1;
    if (kind == NEEDLE)
        needle(n, size, state, a);
    for (int i = 0; i < n * n && (kind == ROWS || kind == BOTH); ++i) {
        const double row = pow(size, (double)(i / n) / n), column = pow(size, (double)(i % n) / n);
        a[i] = kind == ROWS ? row * a[i] : row / column * (a[i] + (i / n == i % n ? 3 : 0));
    }
}

/* S = G G^T + I/n, scaled from both sides: positive definite */
static void fill_definite(int n, double size, uint64_t *state, double *s) {
    double g[ORDER_MAX * ORDER_MAX];
    for (int i = 0; i < n * n; ++i)
        g[i] = random_real(state);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = i == j ? 1.0 / n : 0;
            for (int k = 0; k < n; ++k)
                sum += g[i * n + k] * g[j * n + k];
            s[i * n + j] = s[j * n + i] = sum * pow(size, (double)(i + j) / (2 * n));
        }
}

typedef struct data {
    int n;
    bool single;
    double *a, *s, *b, *c;
} data;

static data data_make(int n, bool single) {
    uint64_t state = (uint64_t)n * 7 + single;
    const double size = single ? 50 : 1e6;
    data d = {.n = n, .single = single};
    d.a = calloc((size_t)(CELLS * n * n), sizeof *d.a);
    d.s = calloc((size_t)(CELLS * n * n), sizeof *d.s);
    d.b = random_list(&state, CELLS * n);
    d.c = random_list(&state, CELLS * n * 2);
    assert_non_null(d.a);
    assert_non_null(d.s);
    for (int e = 0; e < CELLS; ++e) {
        fill(n, (family)(e % N_FAMILIES), size, &state, d.a + e * n * n);
        fill_definite(n, e % 2 ? size : 1, &state, d.s + e * n * n);
    }
    for (int i = 0; i < CELLS * n * n && single; ++i) {
        d.a[i] = (float)d.a[i];
        d.s[i] = (float)d.s[i];
    }
    for (int i = 0; i < CELLS * n * 2 && single; ++i) {
        d.c[i] = (float)d.c[i];
        d.b[i < CELLS * n ? i : 0] = (float)d.b[i < CELLS * n ? i : 0];
    }
    return d;
}

static void data_free(data *d) {
    free(d->a);
    free(d->s);
    free(d->b);
    free(d->c);
}

/* ---- comparing ---- */

/* found = inverse * right, columns many? */
static void check_product(const data *d, const char *name, int e, matrix inverse, long double cond,
                          const double *right, int columns, const double *found) {
    const int n = d->n;
    const long double eps = d->single ? FLT_EPSILON : DBL_EPSILON;
    for (int c = 0; c < columns; ++c) {
        long double expected[ORDER_MAX], most = 0, worst = 0;
        for (int i = 0; i < n; ++i) {
            expected[i] = 0;
            for (int j = 0; j < n; ++j)
                expected[i] +=
                    inverse[i][j] * (right ? (long double)right[j * columns + c] : j == c);
            most = fmaxl(most, fabsl(expected[i]));
        }
        for (int i = 0; i < n; ++i) {
            const long double error = fabsl(expected[i] - (long double)found[i * columns + c]);
            worst = error <= worst ? worst : error;
        }
        if (!(worst <= 20 * n * eps * cond * most))
            fail_msg("%s, n = %d, %s, element %d (family %d): error %Lg of %Lg, condition %Lg, "
                     "%Lg eps cond",
                     name, n, d->single ? "float" : "double", e, e % N_FAMILIES, worst, most, cond,
                     worst / most / eps / cond);
    }
}

typedef struct found {
    const char *name;
    bool definite;     /* of S, not of A */
    int columns;       /* of the right-hand side; 0: a determinant */
    const char *right; /* NULL: the unit matrix */
} found;

static const found results[] = {
    {"x", false, 1, "b"},  {"y", false, 1, "b"},   {"X", false, 2, "c"},
    {"Y", false, 2, "c"},  {"V", false, -1, NULL}, {"d", false, 0, NULL},
    {"e", false, 0, NULL}, {"z", true, 1, "b"},    {"Z", true, 2, "c"},
};

static void check_result(const data *d, const found *f, const double *values) {
    const int n = d->n, columns = f->columns < 0 ? n : f->columns;
    const long double eps = d->single ? FLT_EPSILON : DBL_EPSILON;
    for (int e = 0; e < CELLS; ++e) {
        const double *a = (f->definite ? d->s : d->a) + e * n * n;
        const double *right = !f->right            ? NULL
                              : f->right[0] == 'b' ? d->b + e * n
                                                   : d->c + e * n * 2;
        matrix inverse;
        const long double det = invert(n, a, inverse), cond = row_norm(n, a, inverse);
        if (20 * n * eps * cond > 0.1L)
            continue;
        if (columns > 0)
            check_product(d, f->name, e, inverse, cond, right, columns, values + e * n * columns);
        else if (!(fabsl((long double)values[e] - det) <= 20 * n * eps * cond * fabsl(det)))
            fail_msg("%s, n = %d, %s, element %d: determinant %g, expected %Lg (condition %Lg)",
                     f->name, n, d->single ? "float" : "double", e, values[e], det, cond);
    }
}

static program_case open_case_of(const char *device, bool single, bool fused,
                                 const weft_variant_choice *bodies, int n_bodies,
                                 const char *text) {
    const weft_compile_options options = {.size = sizeof options,
                                          .plan = fused ? WEFT_PLAN_FUSED : WEFT_PLAN_UNFUSED,
                                          .single = single,
                                          .variants = bodies,
                                          .n_variants = n_bodies};
    if (strcmp(device, "emulated") != 0)
        return case_open(NULL, device, text, &options);
    const weft_device_options device_options = weft_device_options_default(NULL);
    weft_device *opened = NULL;
    weft_error error = {0};
    case_check(weft_device_open("host:1", &device_options, &opened, &error), &error);
    emulated_gpu_make(opened);
    return case_open_on(NULL, opened, text, &options);
}

static program_case open_case(const char *device, bool single, bool fused, const char *text) {
    return open_case_of(device, single, fused, NULL, 0, text);
}

static const char script[] = "index N;\n"
                             "parameter n = %d;\n"
                             "input A, S : real[n,n] over N;\n"
                             "input b : real[n] over N;\n"
                             "input C : real[n,2] over N;\n"
                             "x = solve(A, b);\n"
                             "F = lu(A);\n"
                             "y = lu_solve(F, b);\n"
                             "X = msolve(A, C);\n"
                             "Y = lu_msolve(F, C);\n"
                             "V = inverse(A);\n"
                             "d = det(A);\n"
                             "e = lu_det(F);\n"
                             "L = cholesky(S);\n"
                             "z = cholesky_solve(L, b);\n"
                             "Z = cholesky_msolve(L, C);\n"
                             "return x, y, X, Y, V, d, e, z, Z;\n";

static void check(const char *device, int n, bool single, bool fused) {
    char text[1000];
    data d = data_make(n, single);
    snprintf(text, sizeof text, script, n);
    program_case c = open_case(device, single, fused, text);
    case_size(&c, "N", CELLS);
    case_input(&c, "A", d.a);
    case_input(&c, "S", d.s);
    case_input(&c, "b", d.b);
    case_input(&c, "C", d.c);
    case_run(&c);
    for (size_t i = 0; i < sizeof results / sizeof *results; ++i) {
        double *values = case_result(&c, results[i].name);
        check_result(&d, &results[i], values);
        free(values);
    }
    case_close(&c);
    data_free(&d);
}

static void on_host(void **state) {
    (void)state;
    static const int orders[] = {2, 3, 4, 5, 7, 8, 12, 16};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i) {
        check("host:1", orders[i], i % 2, i % 3 == 0);
        if (orders[i] <= 4)
            check("host:1", orders[i], i % 2 == 0, i % 3);
    }
}

static void on_gpu_text(void **state) {
    (void)state;
    static const int orders[] = {2, 3, 5, 9};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i)
        check("emulated", orders[i], i % 2, i < 2);
}

/* ---- each body of several threads ---- */

typedef struct body_case {
    const char *text; /* of results y or z */
    bool definite;
    weft_variant_choice bodies[2];
    int n_bodies, most; /* most: threads of n * n, or long loops */
} body_case;

static const body_case bodies[] = {
    {"y = lu_solve(lu(A), b);\nreturn y;\n", false, {{"lu", 1}}, 1, 9},
    {"y = lu_solve(lu(A), b);\nreturn y;\n", false, {{"lu", 2}}, 1, 9},
    {"y = lu_solve(lu(A), b);\nreturn y;\n", false, {{"lu", 3}, {"lu_solve", 2}}, 2, 33},
    {"F = lu(A);\nG = lu(2*A);\ny = 3*lu_solve(F, b) - 4*lu_solve(G, b);\nreturn y;\n",
     false,
     {{"lu", 3}, {"lu_solve", 2}},
     2,
     9}, /* one after another in the same shared memory */
    {"y = solve(A, b);\nreturn y;\n", false, {{"solve", 1}}, 1, 33},
    {"y = mvmul(inverse(A), b);\nreturn y;\n", false, {{"inverse", 1}}, 1, 9},
    {"z = cholesky_solve(cholesky(S), b);\nreturn z;\n", true, {{"cholesky", 2}}, 1, 9},
};

static void check_body(const body_case *body, int n, bool single) {
    char text[400];
    data d = data_make(n, single);
    snprintf(text, sizeof text,
             "index N plain;\nparameter n = %d;\ninput %s : real[n,n] over N;\n"
             "input b : real[n] over N;\n%s",
             n, body->definite ? "S" : "A", body->text);
    program_case c = open_case_of("emulated", single, true, body->bodies, body->n_bodies, text);
    case_size(&c, "N", CELLS);
    case_input(&c, body->definite ? "S" : "A", body->definite ? d.s : d.a);
    case_input(&c, "b", d.b);
    case_run(&c);
    for (size_t i = 0; i < sizeof results / sizeof *results; ++i) {
        if (strcmp(results[i].name, body->definite ? "z" : "y") != 0)
            continue;
        double *values = case_result(&c, results[i].name);
        check_result(&d, &results[i], values);
        free(values);
    }
    case_close(&c);
    data_free(&d);
}

/* Parts of a warp of 8, 16 and 32 threads, with one and two rows each. */
static void each_body(void **state) {
    (void)state;
    static const int orders[] = {3, 8, 9, 16, 20, 33};
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; ++k)
        for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i)
            if (orders[i] <= bodies[k].most)
                check_body(&bodies[k], orders[i], (i + k) % 2);
}

/* ---- singular and indefinite matrices ---- */

static const char singular[] = "index N plain;\n"
                               "input A : real[3,3] over N;\n"
                               "input b : real[3] over N;\n"
                               "x = solve(A, b);\n"
                               "y = lu_solve(lu(A), b);\n"
                               "z = cholesky_solve(cholesky(A), b);\n"
                               "V = inverse(A);\n"
                               "return x, y, z, V;\n";

static void test_singular(void **state) {
    (void)state;
    /* zero; equal rows; of rank 1; of rank 2; rank 2, its last pivot 0; regular, indefinite */
    static const double a[][9] = {{0},
                                  {7, 1, 3, 7, 1, 3, 3, 2, 9},
                                  {1, 2, 4, 2, 4, 8, 4, 8, 16},
                                  {1, 0, 1, 0, 1, 1, 1, 1, 2},
                                  {4, 0, 0, 0, 2, 0, 0, 0, 0},
                                  {1, 2, 0, 2, 1, 0, 0, 0, 1}};
    static const double b[][3] = {{1, 2, 3}, {1, 2, 3}, {1, 2, 4}, {1, 1, 2}, {0, 0, 0}, {1, 2, 3}};
    enum { N_CASES = sizeof a / sizeof *a };
    static const char *const devices[] = {"host:1", "emulated"};
    for (int way = 0; way < 4; ++way) {
        program_case c = open_case(devices[way / 2], way % 2, true, singular);
        case_size(&c, "N", N_CASES);
        case_input(&c, "A", &a[0][0]);
        case_input(&c, "b", &b[0][0]);
        case_run(&c);
        for (int k = 0; k < 4; ++k) {
            static const char *const names[] = {"x", "y", "z", "V"};
            const int n = k == 3 ? 9 : 3;
            double *x = case_result(&c, names[k]);
            for (int i = 0; i < n * N_CASES; ++i)
                if (isfinite(x[i]) && (k == 2 || i / n < N_CASES - 1))
                    fail_msg("%s, %s: component %d of element %d is %g", devices[way / 2], names[k],
                             i % n, i / n, x[i]);
            free(x);
        }
        case_close(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_host),
        cmocka_unit_test(on_gpu_text),
        cmocka_unit_test(each_body),
        cmocka_unit_test(test_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
