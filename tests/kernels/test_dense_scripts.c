/* labels: quick */
/* The scripts of docs/examples/dense that factorise the matrices of elements. Static condensation of P4 triangles: a problem
 * whose solution is a polynomial of degree 4 is solved with and without the inner unknowns, and both must give this
 * polynomial. The mass matrix of a discontinuous method: what is integrated against functions of the space comes back.
 * Conditions are below 1e4: errors of 1e-10 are no rounding. */
#include "emulated_gpu.h"
#include "program_support.h"

enum {
    SQUARES = 2, /* along a side, of two triangles each */
    SIDE = 4 * SQUARES + 1,
    NODES = SIDE * SIDE,
    CELLS = 2 * SQUARES * SQUARES,
    N = 15,
    SHARED = 12,
    INNER = 3
};
static const double TOLERANCE = 1e-10;

static program_case open_script(const char *device, const char *name) {
    const weft_compile_options options = {.size = sizeof options};
    char path[1024], text[4096] = "";
    snprintf(path, sizeof path, "%s/docs/examples/dense/%s.weft", WEFT_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    if (strcmp(device, "emulated") != 0)
        return case_open(NULL, device, text, &options);
    const weft_device_options device_options = weft_device_options_default(NULL);
    weft_device *opened = NULL;
    weft_error error = {0};
    case_check(weft_device_open("host:1", &device_options, &opened, &error), &error);
    emulated_gpu_make(opened);
    return case_open_on(NULL, opened, text, &options);
}

/* a x = b by elimination with partial pivoting; x overwrites b, columns many. */
static void eliminate(int n, int columns, double *a, double *b) {
    for (int k = 0; k < n; ++k) {
        int p = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(a[i * n + k]) > fabs(a[p * n + k]))
                p = i;
        for (int j = 0; j < n + columns; ++j) {
            double *x = j < n ? &a[k * n + j] : &b[k * columns + j - n];
            double *y = j < n ? &a[p * n + j] : &b[p * columns + j - n], swap = *x;
            *x = *y;
            *y = swap;
        }
        for (int i = 0; i < n; ++i) {
            const double f = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n && i != k; ++j)
                a[i * n + j] -= f * a[k * n + j];
            for (int j = 0; j < columns && i != k; ++j)
                b[i * columns + j] -= f * b[k * columns + j];
        }
    }
    for (int i = 0; i < n * columns; ++i)
        b[i] /= a[i / columns * n + i / columns];
}

/* ---- P4 triangles ---- */

typedef struct element {
    int place[N][2]; /* of the nodes, in quarters of the sides; the inner ones last */
    double stiffness[N * N], mass[N * N];
} element;

/* The integral of x^a y^b over the reference triangle: a! b! / (a + b + 2)! */
static double moment(int a, int b) {
    return a < 0 || b < 0 ? 0 : tgamma(a + 1) * tgamma(b + 1) / tgamma(a + b + 3);
}

/* The exponents of the k-th monomial are those of the k-th node's place. */
static element element_make(void) {
    element e = {0};
    double vandermonde[N * N], c[N * N] = {0}; /* function i has the coefficient c[k N + i] */
    int n = 0;
    for (int inner = 0; inner < 2; ++inner)
        for (int i = 0; i <= 4; ++i)
            for (int j = 0; i + j <= 4; ++j)
                if (inner == (i > 0 && j > 0 && i + j < 4)) {
                    e.place[n][0] = i;
                    e.place[n++][1] = j;
                }
    assert_int_equal(n, N);
    for (int i = 0; i < N * N; ++i) {
        const int *node = e.place[i / N], *monomial = e.place[i % N];
        vandermonde[i] = pow(node[0] / 4.0, monomial[0]) * pow(node[1] / 4.0, monomial[1]);
        c[i] = i / N == i % N;
    }
    eliminate(N, N, vandermonde, c);
    for (int k = 0; k < N; ++k)
        for (int l = 0; l < N; ++l) {
            const int a = e.place[k][0], b = e.place[k][1], p = e.place[l][0], q = e.place[l][1];
            const double energy = 2 * a * p * moment(a + p - 2, b + q) +
                                  0.5 * (a * q + b * p) * moment(a + p - 1, b + q - 1) +
                                  b * q * moment(a + p, b + q - 2);
            for (int i = 0; i < N * N; ++i) {
                const double both = c[k * N + i / N] * c[l * N + i % N];
                e.stiffness[i] += both * energy;
                e.mass[i] += both * moment(a + p, b + q) / (SQUARES * SQUARES);
            }
        }
    return e;
}

static int node_of(const element *e, int cell, int k) {
    const int square = cell / 2, i = e->place[k][0], j = e->place[k][1];
    const int x = 4 * (square % SQUARES) + (cell % 2 ? 4 - i : i);
    const int y = 4 * (square / SQUARES) + (cell % 2 ? 4 - j : j);
    return y * SIDE + x;
}

/* u = x (1 - x) y (1 - y), and f = -(2 u_xx + u_xy + u_yy) */
static double exact(int node) {
    const double x = (double)(node % SIDE) / (SIDE - 1), y = (double)(node / SIDE) / (SIDE - 1);
    return x * (1 - x) * y * (1 - y);
}
static double load(int node) {
    const double x = (double)(node % SIDE) / (SIDE - 1), y = (double)(node / SIDE) / (SIDE - 1);
    return 4 * y * (1 - y) + 2 * x * (1 - x) - (1 - 2 * x) * (1 - 2 * y);
}

/* Solve for the nodes inside the square to which a cell's first `width` nodes belong. */
static void solve_global(const element *e, int width, const double *matrices, const double *right,
                         double *u) {
    static double a[NODES * NODES];
    bool is_free[NODES] = {false};
    memset(a, 0, sizeof a);
    for (int cell = 0; cell < CELLS; ++cell)
        for (int i = 0; i < width; ++i) {
            const int x = node_of(e, cell, i) % SIDE, y = node_of(e, cell, i) / SIDE;
            is_free[node_of(e, cell, i)] = x > 0 && y > 0 && x < SIDE - 1 && y < SIDE - 1;
        }
    for (int cell = 0; cell < CELLS; ++cell)
        for (int i = 0; i < width * width; ++i) {
            const int row = node_of(e, cell, i / width), column = node_of(e, cell, i % width);
            if (is_free[row] && is_free[column])
                a[row * NODES + column] += matrices[cell * width * width + i];
        }
    for (int i = 0; i < NODES; ++i) {
        u[i] = is_free[i] ? right[i] : 0;
        a[i * NODES + i] = is_free[i] ? a[i * NODES + i] : 1;
    }
    eliminate(NODES, 1, a, u);
}

static void check_close(const char *what, int i, double found, double expected) {
    if (!(fabs(found - expected) <= TOLERANCE))
        fail_msg("%s: %d is %.15g, expected %.15g", what, i, found, expected);
}

static void recover(const char *device, const element *e, program_case *from, const double *u,
                    const int32_t *dofs) {
    program_case c = open_script(device, "p4_recovery");
    double *X = case_result(from, "X"), *y = case_result(from, "y");
    case_size(&c, "cells", CELLS);
    case_size(&c, "nodes", NODES);
    case_map(&c, "dofs", dofs, CELLS, SHARED, NODES);
    case_input(&c, "X", X);
    case_input(&c, "y", y);
    case_input(&c, "u", u);
    case_run(&c);
    double *w = case_result(&c, "w");
    for (int i = 0; i < CELLS * INNER; ++i)
        check_close("inner unknown", i, w[i], exact(node_of(e, i / INNER, SHARED + i % INNER)));
    free(w);
    free(X);
    free(y);
    case_close(&c);
}

static void condense(const char *device) {
    const element e = element_make();
    double K[CELLS * N * N], f[CELLS * N] = {0}, whole[NODES] = {0}, u[NODES];
    int32_t dofs[CELLS * SHARED];
    for (int cell = 0; cell < CELLS; ++cell) {
        memcpy(K + cell * N * N, e.stiffness, sizeof e.stiffness);
        for (int i = 0; i < N; ++i) {
            for (int j = 0; j < N; ++j)
                f[cell * N + i] += e.mass[i * N + j] * load(node_of(&e, cell, j));
            whole[node_of(&e, cell, i)] += f[cell * N + i];
            if (i < SHARED)
                dofs[cell * SHARED + i] = node_of(&e, cell, i);
        }
    }
    solve_global(&e, N, K, whole, u);
    for (int i = 0; i < NODES; ++i)
        check_close("uncondensed", i, u[i], exact(i));
    program_case c = open_script(device, "p4_condensation");
    case_size(&c, "cells", CELLS);
    case_size(&c, "nodes", NODES);
    case_map(&c, "dofs", dofs, CELLS, SHARED, NODES);
    case_input(&c, "K", K);
    case_input(&c, "f", f);
    case_run(&c);
    double *S = case_result(&c, "S"), *r = case_result(&c, "r");
    solve_global(&e, SHARED, S, r, u);
    for (int i = 0; i < CELLS * SHARED; ++i)
        check_close("condensed", dofs[i], u[dofs[i]], exact(dofs[i]));
    recover(device, &e, &c, u, dofs);
    free(S);
    free(r);
    case_close(&c);
}

static void test_condensation(void **state) {
    (void)state;
    condense("host:1");
    condense("emulated");
}

/* ---- a discontinuous method ---- */

/* The k-th function of Q2 at the p-th point of Gauss's rule. */
static double function(int k, int p) {
    const double at[2] = {sqrt(0.6) * (p % 3 - 1), sqrt(0.6) * (p / 3 - 1)};
    double value = 1;
    for (int d = 0; d < 2; ++d) {
        const int i = d == 0 ? k % 3 : k / 3;
        for (int j = 0; j < 3; ++j)
            value *= j == i ? 1 : (at[d] - (j - 1)) / (i - j);
    }
    return value;
}

static void step(const char *device) {
    enum { QUADRILATERALS = 11 };
    static const double weights[] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
    uint64_t state = 3;
    const double one = 1, dt = 0.25;
    double B[81], Bt[81], c[QUADRILATERALS * 9], r[QUADRILATERALS * 9] = {0};
    double *u = random_list(&state, QUADRILATERALS * 9),
           *a = random_list(&state, QUADRILATERALS * 9);
    for (int i = 0; i < 81; ++i) {
        B[i] = function(i % 9, i / 9);
        Bt[i] = function(i / 9, i % 9);
    }
    for (int i = 0; i < QUADRILATERALS * 9; ++i) /* det J is linear */
        c[i] = weights[i % 3] * weights[i / 3 % 3] *
               (1 + 0.1 * (i / 9) + 0.3 * (i % 3 - 1) - 0.2 * (i / 3 % 3 - 1));
    for (int e = 0; e < QUADRILATERALS; ++e)
        for (int i = 0; i < 81; ++i) /* the integral of (sum_j a_j phi_j) phi_i */
            for (int p = 0; p < 9; ++p)
                r[e * 9 + i / 9] +=
                    c[e * 9 + p] * a[e * 9 + i % 9] * function(i % 9, p) * function(i / 9, p);
    program_case p = open_script(device, "dg_mass");
    case_size(&p, "cells", QUADRILATERALS);
    case_input(&p, "c", c);
    case_input(&p, "one", &one);
    case_input(&p, "dt", &dt);
    case_input(&p, "B", B);
    case_input(&p, "Bt", Bt);
    case_input(&p, "u", u);
    case_input(&p, "r", r);
    case_run(&p);
    double *next = case_result(&p, "next");
    for (int i = 0; i < QUADRILATERALS * 9; ++i)
        check_close("step", i, next[i], u[i] + dt * a[i]);
    free(next);
    free(u);
    free(a);
    case_close(&p);
}

static void test_mass(void **state) {
    (void)state;
    step("host:1");
    step("emulated");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_condensation),
        cmocka_unit_test(test_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
