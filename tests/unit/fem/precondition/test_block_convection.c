/* labels: full */
/* The preconditioners of mixed spaces with convection: what is chosen by its strength, and the commutator and the augmented matrix
 * against dense algebra. Solutions with dense factors lose the condition, below 1e5, of rounding (1e-10). */
#include "external_support.h"
#include "saddle_support.h"

static const double NEAR = 1e-9;

static void find(saddle *s, weft_schur schur, weft_blocks *blocks) {
    weft_error error = {0};
    const weft_blocks_matrix matrix = {.A = &s->A, .problem = &s->problem};
    must(weft_blocks_make(s->device, &matrix, schur, blocks, &error), &error);
}

/* ---- the choice -------------------------------------------------------------------------- */

static double convection_of(const saddle_options *options) {
    saddle s;
    weft_blocks blocks;
    saddle_open(&s, options);
    find(&s, WEFT_SCHUR_AUTO, &blocks);
    const double found = blocks.convection;
    weft_blocks_clear(&blocks);
    saddle_free(&s);
    return found;
}

/* Velocity times side over diffusivity: in proportion to the velocity, and the same on every mesh and in all units. */
static void convection(void **state) {
    (void)state;
    const double one =
        convection_of(&(saddle_options){.stiffness = 1, .convection = 1, .sign = -1});
    assert_true(one > 0.2 && one < 5); /* |(2, 1)| = 2.2 */
    const saddle_options twice = {.stiffness = 1, .convection = 2, .sign = -1},
                         units = {.stiffness = 1e-9, .convection = 1e-9, .sign = -1},
                         fine = {.stiffness = 1, .convection = 1, .sign = -1, .n = 40},
                         none = {.stiffness = 1, .sign = -1};
    assert_double_near(convection_of(&twice), 2 * one, 0.02, 0); /* the outflow is symmetric */
    assert_double_near(convection_of(&units), one, NEAR, 0);
    assert_double_near(convection_of(&fine), one, 0.15, 0);
    assert_true(convection_of(&none) == 0);
}

typedef struct choice {
    saddle_options options;
    weft_schur schur;
    const char *because;
} choice;

static void expect_choice(const choice *one) {
    saddle s;
    weft_blocks blocks;
    saddle_open(&s, &one->options);
    find(&s, WEFT_SCHUR_AUTO, &blocks);
    assert_int_equal(blocks.schur, one->schur);
    if (one->because)
        assert_string_equal(blocks.because, one->because);
    else
        assert_null(blocks.because);
    assert_int_equal(blocks.list[0].factor.n_rows > 0, one->schur != WEFT_SCHUR_MASS);
    weft_blocks_clear(&blocks);
    saddle_free(&s);
}

static void chosen(void **state) {
    (void)state;
    static const choice with[] = {
        {{.stiffness = 1, .sign = -1}, WEFT_SCHUR_MASS, NULL},
        {{.stiffness = 1, .convection = 1, .sign = -1}, WEFT_SCHUR_MASS, NULL},
        {{.stiffness = 1, .convection = 50, .sign = -1}, WEFT_SCHUR_COMMUTATOR, NULL},
        {{.stiffness = 1, .convection = 1e3, .sign = -1}, WEFT_SCHUR_AUGMENTED, NULL},
        {{.stiffness = 1, .convection = 1e3, .penalty = 1e-3, .sign = -1},
         WEFT_SCHUR_MASS,
         "the multiplier has a block of its own, such as a stabilisation or what condensed bubbles "
         "leave"},
        {{.stiffness = 1, .convection = 1e3, .sign = -1, .is_emulated = true},
         WEFT_SCHUR_MASS,
         "lu runs on the host"},
    };
    static const choice without = {{.stiffness = 1, .convection = 1e3, .sign = -1},
                                   WEFT_SCHUR_MASS,
                                   "no library for lu is found"};
    external_need(WEFT_EXTERNAL_UMFPACK);
    for (size_t i = 0; i < sizeof with / sizeof *with; ++i)
        expect_choice(&with[i]);
    setenv("WEFT_UMFPACK", "none", 1);
    setenv("WEFT_MUMPS", "none", 1);
    expect_choice(&without);
    unsetenv("WEFT_UMFPACK");
    unsetenv("WEFT_MUMPS");
}

/* ---- dense algebra ----------------------------------------------------------------------- */

/* Solve A x = b, in place of both, by elimination with pivots. */
static void solve_dense(int64_t n, double *A, double *b) {
    for (int64_t k = 0; k < n; ++k) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; ++i)
            pivot = fabs(A[i * n + k]) > fabs(A[pivot * n + k]) ? i : pivot;
        for (int64_t j = 0; j < n; ++j) {
            const double entry = A[k * n + j];
            A[k * n + j] = A[pivot * n + j];
            A[pivot * n + j] = entry;
        }
        const double entry = b[k];
        b[k] = b[pivot];
        b[pivot] = entry;
        for (int64_t i = k + 1; i < n; ++i) {
            const double factor = A[i * n + k] / A[k * n + k];
            for (int64_t j = k; j < n; ++j)
                A[i * n + j] -= factor * A[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (int64_t k = n - 1; k >= 0; --k) {
        for (int64_t j = k + 1; j < n; ++j)
            b[k] -= A[k * n + j] * b[j];
        b[k] /= A[k * n + k];
    }
}

/* The parts of a saddle point, dense: [u][u], [u][p], [p][u], without what is constrained. */
typedef struct parts {
    int64_t u, p;
    double *F, *G, *B;
} parts;

static parts split(const saddle *s) {
    parts out = {.p = s->mesh->n_nodes, .u = 2 * s->mesh->n_nodes};
    const int64_t n = s->n;
    double *A = saddle_dense(&s->A);
    for (int64_t k = 0; k < s->n_constrained; ++k)
        for (int64_t i = 0; i < n; ++i) {
            const int64_t at = s->constrained[k];
            A[at * n + i] = A[i * n + at] = i == at;
        }
    out.F = calloc((size_t)(out.u * out.u), sizeof *out.F);
    out.G = calloc((size_t)(out.u * out.p), sizeof *out.G);
    out.B = calloc((size_t)(out.u * out.p), sizeof *out.B);
    assert_true(out.F && out.G && out.B);
    for (int64_t i = 0; i < out.u; ++i)
        for (int64_t j = 0; j < out.u; ++j)
            out.F[i * out.u + j] = A[i * n + j];
    for (int64_t i = 0; i < out.u; ++i)
        for (int64_t j = 0; j < out.p; ++j) {
            out.G[i * out.p + j] = A[i * n + out.u + j];
            out.B[j * out.u + i] = A[(out.u + j) * n + i];
        }
    free(A);
    return out;
}

static void parts_free(parts *p) {
    free(p->F);
    free(p->G);
    free(p->B);
}

/* y = A x, A [m][n] */
static void multiply_dense(int64_t m, int64_t n, const double *A, const double *x, double *y) {
    for (int64_t i = 0; i < m; ++i) {
        y[i] = 0;
        for (int64_t j = 0; j < n; ++j)
            y[i] += A[i * n + j] * x[j];
    }
}

static void assert_near(const double *found, const double *expected, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; ++i)
        most = fmax(most, fabs(expected[i]));
    for (int64_t i = 0; i < n; ++i)
        assert_double_near(found[i], expected[i], 0, NEAR * most);
}

/* Thirds of the areas of the cells at each node: the diagonal of the mass matrix, but for a factor. */
static double *make_areas(const saddle *s) {
    double *areas = calloc((size_t)s->mesh->n_nodes, sizeof *areas), g[4][3];
    assert_non_null(areas);
    for (int64_t cell = 0; cell < s->mesh->n_cells; ++cell) {
        const double volume = test_gradients(s->mesh, cell, g);
        for (int k = 0; k < 3; ++k)
            areas[s->mesh->cells[cell * 3 + k]] += volume / 3;
    }
    return areas;
}

/* -L^-1 B q^-1 F q^-1 B' L^-1 r */
static void commute(const saddle *s, const parts *p, const double *r, double *out) {
    double *areas = make_areas(s), *L = calloc((size_t)(p->p * p->p), sizeof *L),
           *copy = calloc((size_t)(p->p * p->p), sizeof *L);
    double *x = calloc((size_t)p->u, sizeof *x), *y = calloc((size_t)p->u, sizeof *y);
    assert_true(L && copy && x && y);
    for (int64_t i = 0; i < p->p; ++i)
        for (int64_t j = 0; j < p->p; ++j)
            for (int64_t k = 0; k < p->u; ++k)
                L[i * p->p + j] += p->B[i * p->u + k] / areas[k / 2] * p->G[k * p->p + j];
    for (int64_t i = s->n_constrained; i-- > 0 && s->constrained[i] >= p->u;)
        L[(s->constrained[i] - p->u) * (p->p + 1)] = 1;
    memcpy(copy, L, (size_t)(p->p * p->p) * sizeof *L);
    memcpy(out, r, (size_t)p->p * sizeof *out);
    solve_dense(p->p, copy, out);
    multiply_dense(p->u, p->p, p->G, out, x);
    for (int64_t k = 0; k < p->u; ++k)
        x[k] /= areas[k / 2];
    multiply_dense(p->u, p->u, p->F, x, y);
    for (int64_t k = 0; k < p->u; ++k)
        y[k] /= areas[k / 2];
    multiply_dense(p->p, p->u, p->B, y, out);
    solve_dense(p->p, L, out);
    for (int64_t i = 0; i < p->p; ++i)
        out[i] = -out[i];
    free(areas);
    free(L);
    free(copy);
    free(x);
    free(y);
}

/* ---- application ------------------------------------------------------------------------- */

/* z_p by the commutator, and F z_u = r_u - B' z_p. */
static void commutator(void **state) {
    (void)state;
    external_need(WEFT_EXTERNAL_UMFPACK);
    for (int sign = -1; sign <= 1; sign += 2) {
        saddle s;
        saddle_open(&s, &(saddle_options){.stiffness = 1,
                                          .convection = 20,
                                          .sign = sign,
                                          .n = 8,
                                          .holds_pressure = true,
                                          .kind = "commutator"});
        s.problem.is_general = true;
        saddle_make(&s);
        parts p = split(&s);
        double *r = saddle_noise(&s, 7), *z = saddle_apply(&s, r);
        double *expected = calloc((size_t)s.n, sizeof *expected);
        assert_non_null(expected);
        commute(&s, &p, r + p.u, expected + p.u);
        assert_near(z + p.u, expected + p.u, p.p);
        multiply_dense(p.u, p.p, p.G, expected + p.u, expected);
        for (int64_t i = 0; i < p.u; ++i)
            expected[i] = r[i] - expected[i];
        solve_dense(p.u, p.F, expected);
        assert_near(z, expected, p.u);
        parts_free(&p);
        free(r);
        free(z);
        free(expected);
        saddle_free(&s);
    }
}

/* With the augmented F and its Schur complement, (F + s B'W B) z_u + B' z_p = r_u + s B'W r_p, where s B'W B is symmetric and
 * positive as F is: s is the sign of B below the diagonal. */
static void augmented(void **state) {
    (void)state;
    external_need(WEFT_EXTERNAL_UMFPACK);
    for (int sign = -1; sign <= 1; sign += 2) {
        saddle s;
        weft_blocks blocks;
        saddle_open(
            &s, &(saddle_options){
                    .stiffness = 1, .convection = 1e3, .sign = sign, .n = 8, .kind = "augmented"});
        s.problem.is_general = true;
        saddle_make(&s);
        find(&s, WEFT_SCHUR_AUGMENTED, &blocks);
        const weft_block *multiplier = &blocks.list[1];
        parts p = split(&s);
        double *r = saddle_noise(&s, 8), *z = saddle_apply(&s, r);
        double *expected = calloc((size_t)s.n, sizeof *expected);
        assert_non_null(expected);
        for (int64_t i = 0; i < p.p; ++i) { /* the weight dominates the diagonal */
            assert_true(multiplier->penalty[i] > 100 * multiplier->diagonal[i]);
            assert_double_near(
                z[p.u + i], -sign * (multiplier->diagonal[i] + multiplier->penalty[i]) * r[p.u + i],
                NEAR, 0);
        }
        for (int64_t i = 0; i < p.u; ++i) {
            expected[i] = r[i];
            for (int64_t k = 0; k < p.p; ++k) {
                const double weight = sign * p.G[i * p.p + k] * multiplier->penalty[k];
                expected[i] += weight * r[p.u + k] - p.G[i * p.p + k] * z[p.u + k];
                for (int64_t j = 0; j < p.u; ++j)
                    p.F[i * p.u + j] += weight * p.B[k * p.u + j];
            }
        }
        solve_dense(p.u, p.F, expected);
        assert_near(z, expected, p.u);
        parts_free(&p);
        free(r);
        free(z);
        free(expected);
        weft_blocks_clear(&blocks);
        saddle_free(&s);
    }
}

/* ---- errors ------------------------------------------------------------------------------ */

static void refused(void **state) {
    (void)state;
    static const struct {
        saddle_options options;
        const char *message;
    } cases[] = {
        {{.stiffness = 1, .convection = 1, .penalty = 1e-3, .sign = -1, .kind = "augmented"},
         "error: the preconditioner augmented does not suit the matrix: the multiplier has a block "
         "of its own, such as a "
         "stabilisation or what condensed bubbles leave\n"
         "hint: use --preconditioner block, or lu"},
        {{.stiffness = 1, .sign = 1, .kind = "commutator"},
         "error: the preconditioner commutator does not suit the matrix: the method is for "
         "symmetric matrices\n"
         "hint: use --preconditioner block, or lu"},
        {{.stiffness = 1, .convection = 1, .sign = -1, .kind = "commutator", .is_emulated = true},
         "error: the preconditioner commutator factorises on the host\n"
         "hint: use --device host, or --preconditioner block"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        saddle s;
        saddle_open(&s, &cases[i].options);
        assert_error(saddle_try(&s, error), WEFT_ERROR_UNSUPPORTED, cases[i].message);
        saddle_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convection), cmocka_unit_test(chosen),  cmocka_unit_test(commutator),
        cmocka_unit_test(augmented),  cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
