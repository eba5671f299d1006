/* labels: full */
/* The preconditioner of mixed spaces, on a saddle point of linear elements that is assembled plainly:
 *
 *      [ s M + k K    B' ]   in two components and one, on an irregular triangulation
 *      [ B            -e K ]
 *
 * Schur complements equal those by dense algebra to rounding of their terms (1e-12); the preconditioner of a symmetric
 * matrix is symmetric and positive definite, that of others triangular, both to the rounding of cycles in
 * double precision (1e-10). The GPU's cycles are in single precision (1e-4). */
#include "saddle_support.h"

static const double ROUNDING = 1e-12, CYCLES = 1e-10, SINGLE = 1e-4;

/* ---- blocks ------------------------------------------------------------------------------ */

/* C - B D^-1 B' of the pressure, over free velocities; [n_nodes][n_nodes] */
static double *schur(const saddle *s) {
    const int64_t n = s->mesh->n_nodes, all = s->n;
    double *A = saddle_dense(&s->A), *out = calloc((size_t)(n * n), sizeof *out);
    char *given = calloc((size_t)all, 1);
    assert_true(out && given);
    for (int64_t i = 0; i < s->n_constrained; ++i)
        given[s->constrained[i]] = 1;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
            out[i * n + j] = A[(2 * n + i) * all + 2 * n + j];
            for (int64_t k = 0; k < 2 * n; ++k)
                if (!given[k])
                    out[i * n + j] -=
                        A[(2 * n + i) * all + k] * A[k * all + 2 * n + j] / A[k * all + k];
        }
    free(A);
    free(given);
    return out;
}

static void find(saddle *s, weft_blocks *blocks) {
    weft_error error = {0};
    const weft_blocks_matrix matrix = {.A = &s->A, .problem = &s->problem};
    must(weft_blocks_make(s->device, &matrix, WEFT_SCHUR_AUTO, blocks, &error), &error);
    assert_int_equal(blocks->n, 2);
    assert_int_equal(blocks->n_multipliers, 1);
    assert_int_equal(blocks->list[1].role, WEFT_BLOCK_MULTIPLIER);
    assert_int_equal(blocks->list[0].n_constrained, s->n_constrained);
    assert_int_equal(blocks->list[1].n_constrained, 0);
}

/* Of an elliptic block the diagonal of the Schur complement counts, without and with a block of its own; sign: -1 for
 * symmetric matrices. */
static void schur_diagonals(void **state) {
    (void)state;
    static const saddle_options cases[] = {
        {.stiffness = 3, .sign = 1},
        {.stiffness = 1e-4, .sign = -1},
        {.stiffness = 1, .penalty = 1e-3, .sign = 1},
        {.stiffness = 1, .penalty = 2e-3, .sign = -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        saddle s;
        weft_blocks blocks;
        saddle_open(&s, &cases[i]);
        find(&s, &blocks);
        assert_int_equal(blocks.list[0].role, WEFT_BLOCK_ELLIPTIC);
        assert_double_near(blocks.list[0].reaction, 0, 0, ROUNDING);
        assert_null(blocks.list[1].matrix.values);
        assert_true(blocks.list[1].sign == -cases[i].sign);
        const int64_t n = s.mesh->n_nodes;
        double *S = schur(&s);
        for (int64_t k = 0; k < n; ++k)
            assert_double_near(blocks.list[1].diagonal[k], -cases[i].sign / S[k * n + k], ROUNDING,
                               0);
        free(S);
        weft_blocks_clear(&blocks);
        saddle_free(&s);
    }
}

/* Of a mass matrix the Schur complement is taken as a matrix, which is elliptic. */
static void schur_matrices(void **state) {
    (void)state;
    static const saddle_options cases[] = {{.mass = 2, .sign = 1},
                                           {.mass = 1e3, .penalty = 1e-6, .sign = -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        saddle s;
        weft_blocks blocks;
        saddle_open(&s, &cases[i]);
        find(&s, &blocks);
        const int64_t n = s.mesh->n_nodes;
        assert_int_equal(blocks.list[0].role, WEFT_BLOCK_MASS);
        assert_null(blocks.list[1].diagonal);
        for (int64_t k = 0; k < 2 * n; ++k)
            if (blocks.list[0].diagonal[k] != 0)
                assert_true(blocks.list[0].diagonal[k] > 0);
        double *S = schur(&s), *found = saddle_dense(&blocks.list[1].matrix), most = 0;
        for (int64_t k = 0; k < n * n; ++k)
            most = fmax(most, fabs(S[k]));
        for (int64_t k = 0; k < n * n; ++k)
            assert_double_near(-cases[i].sign * S[k], found[k], 0, ROUNDING * most);
        free(S);
        free(found);
        weft_blocks_clear(&blocks);
        saddle_free(&s);
    }
}

/* A term of order zero that is small against the derivatives on a cell and large against those on the domain adds an
 * elliptic term to the inverse: 1/s (1^T M 1) is the volume, and the term's D has the sum s times the volume. */
static void reactions(void **state) {
    (void)state;
    const saddle_options options = {.mass = 50, .stiffness = 1, .sign = 1};
    saddle s;
    weft_blocks blocks;
    saddle_open(&s, &options);
    find(&s, &blocks);
    assert_int_equal(blocks.list[0].role, WEFT_BLOCK_ELLIPTIC);
    assert_true(blocks.list[0].reaction > 1e-3 && blocks.list[0].reaction < 0.3);
    assert_non_null(blocks.list[1].diagonal);
    assert_int_equal(blocks.list[1].matrix.n_rows, s.mesh->n_nodes);
    weft_blocks_clear(&blocks);
    saddle_free(&s);
}

/* ---- application ------------------------------------------------------------------------- */

static void symmetric_and_definite(void **state) {
    (void)state;
    static const saddle_options cases[] = {{.stiffness = 1, .sign = 1},
                                           {.mass = 1, .sign = 1},
                                           {.mass = 50, .stiffness = 1, .sign = 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        saddle s;
        saddle_open(&s, &cases[i]);
        saddle_make(&s);
        double *a = saddle_noise(&s, 3), *b = saddle_noise(&s, 4), *Ma = saddle_apply(&s, a),
               *Mb = saddle_apply(&s, b);
        const double size = sqrt(test_dot(a, Ma, s.n) * test_dot(b, Mb, s.n));
        assert_true(test_dot(a, Ma, s.n) > 0 && test_dot(b, Mb, s.n) > 0);
        assert_double_near(test_dot(a, Mb, s.n), test_dot(b, Ma, s.n), 0, CYCLES * size);
        for (int64_t k = 0; k < s.n_constrained; ++k)
            assert_true(Ma[s.constrained[k]] == 0);
        free(a);
        free(b);
        free(Ma);
        free(Mb);
        saddle_free(&s);
    }
}

/* With z = M r the pressure is S^-1 r_p, signed, and the velocity V (r_u - B' z_p), which M gives for a residual
 * without pressure. */
static void triangular(void **state) {
    (void)state;
    const saddle_options options = {.stiffness = 2, .sign = -1};
    saddle s;
    weft_blocks blocks;
    saddle_open(&s, &options);
    saddle_make(&s);
    find(&s, &blocks);
    const int64_t n = s.mesh->n_nodes;
    double *r = saddle_noise(&s, 5), *z = saddle_apply(&s, r),
           *rest = calloc((size_t)s.n, sizeof *rest);
    double *multipliers = calloc((size_t)s.n, sizeof *rest), most = 0;
    assert_true(rest && multipliers);
    memcpy(multipliers + 2 * n, z + 2 * n, (size_t)n * sizeof *z);
    for (int64_t i = 0; i < n; ++i)
        assert_double_near(z[2 * n + i], blocks.list[1].diagonal[i] * r[2 * n + i], ROUNDING, 0);
    test_multiply(&s.A, multipliers, rest);
    for (int64_t i = 0; i < 2 * n; ++i) {
        rest[i] = r[i] - rest[i];
        most = fmax(most, fabs(z[i]));
    }
    memset(rest + 2 * n, 0, (size_t)n * sizeof *rest);
    double *velocity = saddle_apply(&s, rest);
    for (int64_t i = 0; i < 2 * n; ++i)
        assert_double_near(velocity[i], z[i], 0, CYCLES * most);
    free(r);
    free(z);
    free(rest);
    free(multipliers);
    free(velocity);
    weft_blocks_clear(&blocks);
    saddle_free(&s);
}

static void as_on_the_host(void **state) {
    (void)state;
    static const saddle_options cases[] = {{.stiffness = 1, .sign = 1}, {.mass = 1, .sign = -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        saddle host, gpu;
        saddle_options options = cases[i];
        saddle_open(&host, &options);
        options.is_emulated = true;
        saddle_open(&gpu, &options);
        saddle_make(&host);
        saddle_make(&gpu);
        double *r = saddle_noise(&host, 6), *expected = saddle_apply(&host, r),
               *found = saddle_apply(&gpu, r), most = 0;
        for (int64_t k = 0; k < host.n; ++k)
            most = fmax(most, fabs(expected[k]));
        for (int64_t k = 0; k < host.n; ++k)
            assert_double_near(found[k], expected[k], 0, SINGLE * most);
        free(r);
        free(expected);
        free(found);
        saddle_free(&host);
        saddle_free(&gpu);
    }
}

/* ---- errors ------------------------------------------------------------------------------ */

static void errors(void **state) {
    (void)state;
    static const struct {
        saddle_options options;
        const char *message;
    } cases[] = {
        {{.sign = 1},
         "error: the diagonal of every part of the matrix has zeros\n"
         "hint: take --preconditioner lu where UMFPACK is installed, or jacobi"},
        {{.mass = 1, .penalty = 0, .sign = 0},
         "error: the diagonal of the Schur complement of part 1 "
         "of the matrix has zeros\n"
         "hint: take --preconditioner lu where UMFPACK is installed, or jacobi"},
    };
    saddle s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        saddle_open(&s, &cases[i].options);
        assert_error(saddle_try(&s, error), WEFT_ERROR_UNSUPPORTED, cases[i].message);
        saddle_free(&s);
    }
    saddle_open(&s, &(saddle_options){.stiffness = 1, .sign = 1});
    s.problem.n_spaces = 1;
    assert_error(saddle_try(&s, error), WEFT_ERROR_UNSUPPORTED,
                 "error: the preconditioner block is for functions in 2 to 16 spaces\n"
                 "hint: use --preconditioner aggregation");
    saddle_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schur_diagonals), cmocka_unit_test(schur_matrices),
        cmocka_unit_test(reactions),       cmocka_unit_test(symmetric_and_definite),
        cmocka_unit_test(triangular),      cmocka_unit_test(as_on_the_host),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
