/* labels: full */
/* Two coupled functions: with mass and stiffness matrices M and K on an irregular triangulation
 *
 *      [ d M        x K ]      with signs of d, x and c, and a term f M that is ignored
 *      [ -y K + f M  c M ]
 *
 * has the factor |c| M + beta K, beta^2 = |x y c|/|d|, to rounding (1e-12). The coarsest level is inverted, so that the solution z is
 * that of P z = r, scaled, to the condition number of H times rounding (1e-9). */
#include "fem/base/memory.h"
#include "fem/operator/operator.h"
#include "fem/precondition/blocks.h"
#include "hierarchy_support.h"
#include "multigrid_support.h"

static const double ROUNDING = 1e-12, SOLVES = 1e-9;

typedef struct pair_options {
    double d, x, y, c, f;
    bool is_symmetric;
    int n_left[2]; /* functions that are constrained on the left */
} pair_options;

typedef struct fixture {
    weft_device *device;
    weft_library *library;
    weft_context context;
    weft_mesh *mesh;
    weft_space *space;
    const weft_space *spaces[2];
    weft_csr A, M, K;
    int32_t *constrained;
    int64_t n;
    weft_operator *op;
    weft_preconditioner_problem problem;
} fixture;

static void must(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s", error->message);
}

static void assemble(fixture *f, const pair_options *o) {
    const weft_mesh *mesh = f->mesh;
    test_rows A = test_rows_make(2 * f->n, 2 * f->n), M = test_rows_make(f->n, f->n);
    test_rows K = test_rows_make(f->n, f->n);
    for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
        double g[4][3];
        const double volume = test_gradients(mesh, cell, g);
        const int32_t *v = mesh->cells + cell * 3;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                const double k = volume * (g[i][0] * g[j][0] + g[i][1] * g[j][1]);
                const double m = volume * (i == j ? 2 : 1) / 12;
                test_rows_add(&A, v[i], v[j], o->d * m);
                test_rows_add(&A, v[i], f->n + v[j], o->x * k);
                test_rows_add(&A, f->n + v[i], v[j], -o->y * k + o->f * m);
                test_rows_add(&A, f->n + v[i], f->n + v[j], o->c * m);
                test_rows_add(&M, v[i], v[j], m);
                test_rows_add(&K, v[i], v[j], k);
            }
    }
    f->A = test_rows_finish(&A);
    f->M = test_rows_finish(&M);
    f->K = test_rows_finish(&K);
}

static void open_fixture(fixture *f, const pair_options *o) {
    weft_error error = {0};
    *f = (fixture){.mesh = irregular_mesh(2, 16)};
    must(weft_device_open("host:1", NULL, &f->device, &error), &error);
    must(weft_fem_library_make(&f->library, &error), &error);
    f->context = (weft_context){.device = f->device, .library = f->library};
    must(weft_space_make(f->device, f->mesh, WEFT_ELEMENT_P1, 1, &f->space, &error), &error);
    f->spaces[0] = f->spaces[1] = f->space;
    f->n = f->mesh->n_nodes;
    assemble(f, o);
    f->constrained = calloc((size_t)(2 * f->n), sizeof *f->constrained);
    weft_pattern *pattern = calloc(1, sizeof *pattern);
    assert_true(f->constrained && pattern);
    f->problem = (weft_preconditioner_problem){.constrained = f->constrained,
                                               .is_general = !o->is_symmetric,
                                               .spaces = f->spaces,
                                               .n_spaces = 2,
                                               .double_levels = true};
    for (int p = 0; p < 2; ++p)
        for (int64_t i = 0; i < f->n; ++i)
            if (o->n_left[p] && f->mesh->x[2 * i] < 1e-9)
                f->constrained[f->problem.n_constrained++] = (int32_t)(p * f->n + i);
    *pattern = (weft_pattern){2 * f->n, f->A.row_start[2 * f->n], f->A.row_start, f->A.columns};
    must(weft_operator_from_matrix(&f->context, &pattern, f->A.values, WEFT_MATRIX_BORROWED, &f->op,
                                   &error),
         &error);
    f->problem.op = f->op;
}

static void close_fixture(fixture *f) {
    weft_operator_free(&f->op);
    weft_csr_clear(&f->A);
    weft_csr_clear(&f->M);
    weft_csr_clear(&f->K);
    free(f->constrained);
    weft_space_free(&f->space);
    weft_mesh_free(&f->mesh);
    weft_library_free(&f->library);
    weft_device_free(&f->device);
}

static weft_blocks find(fixture *f) {
    weft_blocks blocks;
    weft_error error = {0};
    const weft_blocks_matrix matrix = {.A = &f->A, .problem = &f->problem};
    must(weft_blocks_make(f->device, &matrix, WEFT_SCHUR_AUTO, &blocks, &error), &error);
    return blocks;
}

/* ---- factors ----------------------------------------------------------------------------- */

static void factors(void **state) {
    (void)state;
    static const pair_options cases[] = {
        {1, 3e-4, 0.02, 1, 0, false, {0}},   {2, -3e-4, -0.5, 0.25, 0.3, false, {0}},
        {-2, 1, -4, 3, -0.1, false, {1, 1}}, {1, 0.1, -0.1, -1, 0, true, {0}},
        {4, 0.1, -0.1, -1, 0, true, {1, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const pair_options *o = &cases[i];
        fixture f;
        open_fixture(&f, o);
        weft_blocks blocks = find(&f);
        const double beta = sqrt(fabs(o->x * o->y * o->c / o->d));
        assert_int_equal(blocks.n_multipliers, 0);
        assert_int_equal(blocks.list[0].role, WEFT_BLOCK_COUPLED);
        assert_int_equal(blocks.list[1].role, WEFT_BLOCK_COUPLED);
        assert_int_equal(blocks.list[0].partner, 1);
        assert_true(blocks.list[1].has_pair && !blocks.list[0].has_pair);
        for (int b = o->is_symmetric ? 0 : 1; b < 2; ++b) {
            const weft_csr *H = &blocks.list[b].matrix;
            const double scale = b == 1 ? 1 : fabs(o->d / o->c);
            double most = 0;
            assert_int_equal(H->row_start[f.n], f.M.row_start[f.n]);
            for (int64_t k = 0; k < f.M.row_start[f.n]; ++k)
                most = fmax(most, fabs(o->c) * f.M.values[k] + beta * fabs(f.K.values[k]));
            for (int64_t k = 0; k < f.M.row_start[f.n]; ++k)
                assert_double_near(H->values[k],
                                   scale * (fabs(o->c) * f.M.values[k] + beta * f.K.values[k]), 0,
                                   ROUNDING * scale * most);
        }
        weft_blocks_clear(&blocks);
        close_fixture(&f);
    }
}

/* Couplings by masses, wrong signs and one constrained function are not pairs. */
static void others(void **state) {
    (void)state;
    static const pair_options cases[] = {{1, 0.1, 0.1, 1, 0, false, {1, 0}},
                                         {1, 0.1, -0.1, 1, 0, true, {0}},
                                         {1, 0, 0, 1, 0.1, false, {0}},
                                         {1, 0.1, 0, 1, 0.1, false, {0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        fixture f;
        weft_blocks blocks;
        open_fixture(&f, &cases[i]);
        const weft_blocks_matrix matrix = {.A = &f.A, .problem = &f.problem};
        if (weft_blocks_make(f.device, &matrix, WEFT_SCHUR_AUTO, &blocks, NULL) == WEFT_OK)
            for (int b = 0; b < 2; ++b)
                assert_true(blocks.list[b].role != WEFT_BLOCK_COUPLED);
        weft_blocks_clear(&blocks);
        close_fixture(&f);
    }
}

/* ---- application ------------------------------------------------------------------------- */

/* a += factor B x */
static void add_product(const weft_csr *B, double factor, const double *x, double *a) {
    for (int64_t i = 0; i < B->n_rows; ++i)
        for (int64_t k = B->row_start[i]; k < B->row_start[i + 1]; ++k)
            a[i] += factor * B->values[k] * x[B->columns[k]];
}

static void solves(void **state) {
    (void)state;
    static const pair_options cases[] = {{1, 3e-4, 0.02, 1, 0, false, {0}},
                                         {2, -3e-4, -0.5, 0.25, 0.3, false, {1, 1}},
                                         {-2, 1, -4, 3, 0, false, {1, 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const pair_options *o = &cases[i];
        fixture f;
        weft_error error = {0};
        weft_preconditioner *preconditioner = NULL;
        weft_memory *r_memory = NULL, *z_memory = NULL;
        double *r = NULL, *z = NULL;
        uint64_t seed = 5;
        int kind = 0;
        open_fixture(&f, o);
        must(weft_preconditioner_find("block", &kind, &error), &error);
        must(weft_preconditioner_make(&f.context, kind, &f.problem, &preconditioner, &error),
             &error);
        assert_non_null(
            strstr(weft_preconditioner_reported(preconditioner)->detail, "u_0 with u_1"));
        must(weft_vector_make(f.device, 2 * f.n, &r, &r_memory, &error), &error);
        must(weft_vector_make(f.device, 2 * f.n, &z, &z_memory, &error), &error);
        for (int64_t k = 0; k < 2 * f.n; ++k)
            r[k] = (double)(random_next(&seed) >> 11) * 0x1p-52 - 1;
        for (int64_t k = 0; k < f.problem.n_constrained; ++k)
            r[f.constrained[k]] = 0;
        must(weft_vector_push(r_memory, r, 2 * f.n, &error), &error);
        must(weft_preconditioner_apply(preconditioner, r_memory, z_memory, &error), &error);
        must(weft_vector_pull(z_memory, z, 2 * f.n, &error), &error);

        /* [ d M + 2 t K    x K ]    t = 2 |d/c| beta, with the sign of d: T added twice to the row of c, whose factor
           [ -y K           c M ]    |d/c| the scaled system has taken out */
        const double beta = sqrt(fabs(o->x * o->y * o->c / o->d));
        const double t = (o->d < 0 ? -2 : 2) * fabs(o->d / o->c) * beta;
        double *rest = malloc((size_t)(2 * f.n) * sizeof *rest), most = 0;
        assert_non_null(rest);
        memcpy(rest, r, (size_t)(2 * f.n) * sizeof *rest);
        add_product(&f.M, -o->d, z, rest);
        add_product(&f.K, -t, z, rest);
        add_product(&f.K, -o->x, z + f.n, rest);
        add_product(&f.K, o->y, z, rest + f.n);
        add_product(&f.M, -o->c, z + f.n, rest + f.n);
        for (int64_t k = 0; k < f.problem.n_constrained; ++k) {
            assert_true(z[f.constrained[k]] == 0);
            rest[f.constrained[k]] = 0;
        }
        for (int64_t k = 0; k < 2 * f.n; ++k)
            most = fmax(most, fabs(r[k]));
        for (int64_t k = 0; k < 2 * f.n; ++k)
            assert_double_near(rest[k], 0, 0, SOLVES * most);
        free(rest);
        free(r);
        free(z);
        weft_memory_free(&r_memory);
        weft_memory_free(&z_memory);
        weft_preconditioner_free(&preconditioner);
        close_fixture(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(factors), cmocka_unit_test(others),
                                       cmocka_unit_test(solves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
