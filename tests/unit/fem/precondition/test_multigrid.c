/* labels: quick */
/* Preconditioners by multigrid as linear maps: symmetric, positive, zero at constrained dofs, and the
 * V-cycle that a plain program with dense matrices computes. Sums of some thousand products are
 * compared: 1e-12 relative to their size; the V-cycle, whose coarsest level is solved: 1e-10. */
#include "fem/multigrid/multigrid.h"
#include "fem/precondition/precondition.h"
#include "preconditioner_support.h"

/* More than 500 rows are coarsened. */
static const case_options cases[] = {
    {.d = 2, .n = 12, .times = 2, .components = 1, .kind = "multigrid"}, /* 3 levels */
    {.d = 3, .n = 4, .times = 1, .components = 1, .kind = "multigrid"},
    {.d = 2, .n = 8, .times = 1, .components = 2, .kind = "multigrid"},
    {.d = 2, .n = 24, .times = 0, .components = 1, .kind = "aggregation"},
    {.d = 3, .n = 8, .times = 0, .components = 1, .kind = "aggregation"},
    {.d = 2, .n = 16, .times = 0, .components = 2, .kind = "aggregation"},
    {.d = 2, .n = 24, .times = 1, .components = 1, .kind = "multigrid"}, /* below by aggregation */
};
enum { CASES = sizeof cases / sizeof *cases };

static double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

static double largest(const double *a, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; ++i)
        most = fmax(most, fabs(a[i]));
    return most;
}

static void symmetric_positive_linear(void **state) {
    (void)state;
    for (int i = 0; i < CASES; ++i) {
        multigrid_case c;
        multigrid_case_make(&c, &cases[i]);
        double *r1 = multigrid_vector(&c, 1), *r2 = multigrid_vector(&c, 2);
        double *z1 = multigrid_apply(&c, r1), *z2 = multigrid_apply(&c, r2);
        double *r3 = malloc((size_t)c.n * sizeof *r3);
        assert_non_null(r3);
        for (int64_t j = 0; j < c.n; ++j)
            r3[j] = r1[j] - 3 * r2[j];
        double *z3 = multigrid_apply(&c, r3);
        const double size = sqrt(dot(z1, z1, c.n) * dot(r2, r2, c.n));
        assert_double_near(dot(z1, r2, c.n), dot(r1, z2, c.n), 0, 1e-12 * size);
        assert_true(dot(r1, z1, c.n) > 0 && dot(r2, z2, c.n) > 0 && dot(r3, z3, c.n) > 0);
        for (int64_t j = 0; j < c.n; ++j)
            assert_double_near(z3[j], z1[j] - 3 * z2[j], 0, 1e-12 * largest(z3, c.n));
        for (int64_t j = 0; j < c.problem.n_constrained; ++j)
            assert_true(z1[c.problem.constrained[j]] == 0);
        free(r1);
        free(r2);
        free(r3);
        free(z1);
        free(z2);
        free(z3);
        multigrid_case_free(&c);
    }
}

/* ---- the reference --------------------------------------------------------------------------- */

/* A level of the reference, dense; rows and columns of constrained dofs are 0. */
typedef struct plain_level {
    int64_t n, n_coarse;
    double *A, *P; /* [n][n], [n][n_coarse]; P is NULL on the coarsest level */
    double *d;     /* inverse diagonal, or 0 */
    double lambda;
    int degree;
    bool is_twice; /* the cycle from this level on is run twice */
} plain_level;

typedef struct plain_cycle {
    plain_level levels[8];
    int n_levels;
} plain_cycle;

static double *zeros(int64_t n) {
    double *out = calloc((size_t)n + 1, sizeof *out);
    assert_non_null(out);
    return out;
}

static void add_level(plain_cycle *cycle, int64_t n, double *A) {
    plain_level *level = &cycle->levels[cycle->n_levels++];
    *level = (plain_level){.n = n, .A = A, .d = zeros(n)};
    for (int64_t i = 0; i < n; ++i)
        level->d[i] = A[i * n + i] > 0 ? 1 / A[i * n + i] : 0;
}

/* P^T A P */
static double *galerkin(const plain_level *level) {
    const int64_t n = level->n, m = level->n_coarse;
    const double *A = level->A, *P = level->P;
    double *AP = zeros(n * m), *out = zeros(m * m);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t k = 0; k < n; ++k)
            for (int64_t j = 0; A[i * n + k] != 0 && j < m; ++j)
                AP[i * m + j] += A[i * n + k] * P[k * m + j];
    for (int64_t k = 0; k < n; ++k)
        for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; P[k * m + i] != 0 && j < m; ++j)
                out[i * m + j] += P[k * m + i] * AP[k * m + j];
    free(AP);
    return out;
}

static bool *marked(const multigrid_case *c) {
    bool *out = calloc((size_t)c->n, sizeof *out);
    assert_non_null(out);
    for (int64_t i = 0; i < c->problem.n_constrained; ++i)
        out[c->problem.constrained[i]] = true;
    return out;
}

/* Levels of a hierarchy: each dof is the mean of two coarser ones, or one of them. */
static void add_refined(plain_cycle *cycle, const multigrid_case *c, int n_refined) {
    const int components = weft_space_components(c->space);
    bool *is_constrained = marked(c);
    for (int l = 0; l < n_refined; ++l) {
        const weft_hierarchy_level *fine = &c->hierarchy->levels[c->hierarchy->n_levels - 1 - l];
        plain_level *level = &cycle->levels[cycle->n_levels - 1];
        const int64_t m = level->n_coarse = fine[-1].mesh->n_nodes * components;
        bool *next = calloc((size_t)m, sizeof *next);
        assert_non_null(next);
        level->P = zeros(level->n * m);
        for (int64_t i = 0; i < level->n; ++i) {
            const int32_t *parents = fine->parents + i / components * 2;
            const int64_t a = (int64_t)parents[0] * components + i % components;
            const int64_t b = (int64_t)parents[1] * components + i % components;
            if (a == b && is_constrained[i])
                next[a] = true;
            level->P[i * m + a] += is_constrained[i] ? 0 : 0.5;
            level->P[i * m + b] += is_constrained[i] ? 0 : 0.5;
        }
        for (int64_t i = 0; i < level->n * m; ++i)
            level->P[i] = next[i % m] ? 0 : level->P[i];
        free(is_constrained);
        is_constrained = next;
        add_level(cycle, m, galerkin(level));
    }
    free(is_constrained);
}

/* Levels by aggregation from the last one on, with the library's prolongations. */
static void add_aggregated(plain_cycle *cycle, const multigrid_case *c) {
    plain_level *level = &cycle->levels[cycle->n_levels - 1];
    const weft_mesh *mesh = c->hierarchy->levels[c->hierarchy->n_levels - cycle->n_levels].mesh;
    const int components = weft_space_components(c->space);
    weft_csr A = {.n_rows = level->n, .n_columns = level->n};
    int32_t *constrained = calloc((size_t)level->n, sizeof *constrained);
    weft_aggregation_options options = {.coarsest_rows = 500,
                                        .constrained = constrained,
                                        .components = components,
                                        .dimension = mesh->dimension,
                                        .x = mesh->x,
                                        .rigid_body_modes = components > 1};
    weft_algebraic_level *levels = NULL;
    weft_error error = {0};
    int n_levels = 0;
    A.row_start = calloc((size_t)level->n + 1, sizeof *A.row_start);
    A.columns = calloc((size_t)(level->n * 100), sizeof *A.columns);
    A.values = calloc((size_t)(level->n * 100), sizeof *A.values);
    assert_true(A.row_start && A.columns && A.values && constrained);
    for (int64_t i = 0, at = 0; i < level->n; ++i) {
        if (level->d[i] == 0)
            constrained[options.n_constrained++] = (int32_t)i;
        for (int64_t j = 0; j < level->n; ++j)
            if (level->A[i * level->n + j] != 0 || (i == j && level->d[i] == 0)) {
                A.columns[at] = (int32_t)j;
                A.values[at++] = level->d[i] == 0 ? 1 : level->A[i * level->n + j];
            }
        A.row_start[i + 1] = at;
    }
    check(weft_aggregation_make(c->device, &A, &options, NULL, &levels, &n_levels, &error), &error);
    for (int l = 0; l + 1 < n_levels; ++l) {
        level = &cycle->levels[cycle->n_levels - 1];
        const int64_t m = level->n_coarse = levels[l].P.n_columns;
        level->P = zeros(level->n * m);
        for (int64_t i = 0; i < level->n; ++i)
            for (int64_t k = levels[l].P.row_start[i]; k < levels[l].P.row_start[i + 1]; ++k)
                level->P[i * m + levels[l].P.columns[k]] = levels[l].P.values[k];
        add_level(cycle, m, galerkin(level));
    }
    weft_algebraic_levels_free(&levels, n_levels);
    free(A.row_start);
    free(A.columns);
    free(A.values);
    free(constrained);
}

static void read_operator(const multigrid_case *c, double *A) {
    const weft_pattern *pattern = weft_operator_pattern(c->op);
    bool *is_constrained = marked(c);
    weft_memory *memory = NULL;
    weft_error error = {0};
    check(weft_operator_matrix(c->op, &memory, &error), &error);
    const double *values = weft_memory_host(memory);
    assert_non_null(values);
    for (int64_t i = 0; i < c->n; ++i)
        for (int64_t k = pattern->row_start[i]; k < pattern->row_start[i + 1]; ++k)
            if (!is_constrained[i] && !is_constrained[pattern->columns[k]])
                A[i * c->n + pattern->columns[k]] = values[k];
    free(is_constrained);
}

static void plain_cycle_make(plain_cycle *cycle, const multigrid_case *c) {
    const weft_preconditioner_report *report = weft_preconditioner_reported(c->preconditioner);
    const bool is_geometric = c->hierarchy->n_levels > 1;
    int n_refined = 0; /* levels that are left by refinement */
    double *A = zeros(c->n * c->n);
    *cycle = (plain_cycle){0};
    read_operator(c, A);
    add_level(cycle, c->n, A);
    while (n_refined + 1 < c->hierarchy->n_levels && report->levels[n_refined].n_rows > 500)
        ++n_refined;
    add_refined(cycle, c, n_refined);
    if (cycle->levels[n_refined].n > 500)
        add_aggregated(cycle, c);
    assert_int_equal(cycle->n_levels, report->n_levels);
    assert_in_range(cycle->n_levels, 2, 8);
    for (int l = 0; l < cycle->n_levels; ++l) {
        assert_int_equal(cycle->levels[l].n, report->levels[l].n_rows);
        cycle->levels[l].lambda = report->levels[l].lambda;
        cycle->levels[l].degree = is_geometric && l >= n_refined ? 4 : report->degree;
        cycle->levels[l].is_twice = is_geometric && l == n_refined && l > 0;
    }
}

static void plain_cycle_free(plain_cycle *cycle) {
    for (int l = 0; l < cycle->n_levels; ++l) {
        free(cycle->levels[l].A);
        free(cycle->levels[l].P);
        free(cycle->levels[l].d);
    }
}

/* r = b - A x */
static void residual(const plain_level *level, const double *b, const double *x, double *r) {
    for (int64_t i = 0; i < level->n; ++i)
        r[i] = level->d[i] > 0 ? b[i] - dot(level->A + i * level->n, x, level->n) : 0;
}

/* Chebyshev of the fourth kind, Lottes 2022, algorithm 3. */
static void smooth(const plain_level *level, const double *b, double *x) {
    const int64_t n = level->n;
    double *r = zeros(n), *z = zeros(n), *y = zeros(n);
    memcpy(y, x, (size_t)n * sizeof *y); /* without weights */
    for (int k = 1; k <= level->degree; ++k) {
        residual(level, b, y, r);
        for (int64_t i = 0; i < n; ++i) {
            z[i] = (2. * k - 3) / (2 * k + 1) * z[i] +
                   (8. * k - 4) / (2 * k + 1) / level->lambda * level->d[i] * r[i];
            y[i] += z[i];
            x[i] += weft_chebyshev_weight(level->degree, k) * z[i];
        }
    }
    free(r);
    free(z);
    free(y);
}

/* A x = b by elimination; rows without a diagonal: x = 0. */
static void solve_densely(const plain_level *level, const double *b, double *x) {
    const int64_t n = level->n;
    double *A = zeros(n * n);
    memcpy(A, level->A, (size_t)(n * n) * sizeof *A);
    for (int64_t i = 0; i < n; ++i)
        x[i] = level->d[i] > 0 ? b[i] : 0;
    for (int64_t k = 0; k < n; ++k)
        for (int64_t i = k + 1; i < n; ++i) {
            if (level->d[k] == 0 || A[i * n + k] == 0)
                continue;
            const double factor = A[i * n + k] / A[k * n + k];
            for (int64_t j = k; j < n; ++j)
                A[i * n + j] -= factor * A[k * n + j];
            x[i] -= factor * x[k];
        }
    for (int64_t i = n; i-- > 0;) {
        for (int64_t j = i + 1; j < n; ++j)
            x[i] -= A[i * n + j] * x[j];
        x[i] = level->d[i] > 0 ? x[i] / A[i * n + i] : 0;
    }
    free(A);
}

/* x = V b */
static void plain_cycle_apply(const plain_cycle *cycle, int l, const double *b, double *x) {
    const plain_level *level = &cycle->levels[l];
    const int64_t n = level->n, m = level->n_coarse;
    if (l + 1 == cycle->n_levels) {
        solve_densely(level, b, x);
        return;
    }
    double *r = zeros(n), *b_coarse = zeros(m), *x_coarse = zeros(m);
    memset(x, 0, (size_t)n * sizeof *x);
    for (int k = 0; k < 1 + level->is_twice; ++k) {
        smooth(level, b, x);
        residual(level, b, x, r);
        memset(b_coarse, 0, (size_t)m * sizeof *b_coarse);
        for (int64_t i = 0; i < n * m; ++i)
            b_coarse[i % m] += level->P[i] * r[i / m];
        plain_cycle_apply(cycle, l + 1, b_coarse, x_coarse);
        for (int64_t i = 0; i < n; ++i)
            x[i] += dot(level->P + i * m, x_coarse, m);
        smooth(level, b, x);
    }
    free(r);
    free(b_coarse);
    free(x_coarse);
}

static void check_reference(multigrid_case *c) {
    plain_cycle cycle;
    plain_cycle_make(&cycle, c);
    double *r = multigrid_vector(c, 5), *z = multigrid_apply(c, r), *expected = zeros(c->n);
    plain_cycle_apply(&cycle, 0, r, expected);
    const double most = largest(expected, c->n);
    assert_true(most > 0);
    for (int64_t i = 0; i < c->n; ++i)
        assert_double_near(z[i], expected[i], 0, 1e-10 * most);
    free(r);
    free(z);
    free(expected);
    plain_cycle_free(&cycle);
}

static void equals_the_reference(void **state) {
    (void)state;
    for (int i = 0; i < CASES; ++i) {
        multigrid_case c;
        multigrid_case_make(&c, &cases[i]);
        check_reference(&c);
        multigrid_case_free(&c);
    }
}

/* Constrained dofs here and there, also between free coarse ones. */
static void single_dofs_are_constrained(void **state) {
    (void)state;
    for (int i = 0; i < CASES; ++i) {
        multigrid_case c;
        weft_error error = {0};
        int32_t constrained[200];
        multigrid_case_open(&c, &cases[i], WEFT_ASSEMBLY_CSR);
        c.problem.constrained = constrained;
        c.problem.n_constrained = 0;
        for (int64_t j = 5; j < c.n; j += 17)
            constrained[c.problem.n_constrained++] = (int32_t)j;
        check(multigrid_try(&c, cases[i].kind, &error), &error);
        check_reference(&c);
        multigrid_case_free(&c);
    }
}

static void degrees(void **state) {
    (void)state;
    multigrid_case c;
    weft_error error = {0};
    multigrid_case_open(&c, &cases[1], WEFT_ASSEMBLY_CSR);
    for (c.problem.degree = 1; c.problem.degree <= WEFT_CHEBYSHEV_DEGREE_MAX; ++c.problem.degree) {
        check(multigrid_try(&c, "multigrid", &error), &error);
        check_reference(&c);
        weft_preconditioner_free(&c.preconditioner);
    }
    multigrid_case_free(&c);
}

/* The last level is solved, however large it is. */
static void fewer_levels(void **state) {
    (void)state;
    static const int of[] = {0, 6};
    for (int i = 0; i < 2; ++i) {
        multigrid_case c;
        weft_error error = {0};
        multigrid_case_open(&c, &cases[of[i]], WEFT_ASSEMBLY_CSR);
        c.problem.levels = 2;
        check(multigrid_try(&c, "multigrid", &error), &error);
        const weft_preconditioner_report *report = weft_preconditioner_reported(c.preconditioner);
        assert_int_equal(report->n_levels, 2);
        assert_int_equal(report->levels[1].n_rows, 25 * 25);
        multigrid_case_free(&c);
    }
}

/* ---- updates and errors ---------------------------------------------------------------------- */

/* After the coefficient changed, the cycle is that of the new operator. */
static void update(void **state) {
    (void)state;
    static const int of[] = {1, 3};
    for (int i = 0; i < 2; ++i) {
        multigrid_case c;
        weft_error error = {0};
        multigrid_case_make(&c, &cases[of[i]]);
        for (int64_t j = 0; j < weft_space_nodes(c.space); ++j)
            c.k_values[j] = 1 + (double)(j % 7);
        check(weft_vector_push(c.k, c.k_values, weft_space_nodes(c.space), &error), &error);
        check(weft_operator_assemble(c.op, &error), &error);
        check(weft_preconditioner_update(c.preconditioner, &error), &error);
        check_reference(&c);
        multigrid_case_free(&c);
    }
}

/* What the report says to be held is what becomes free, and more than the levels' matrices take. */
static void bytes(void **state) {
    (void)state;
    for (int i = 0; i < CASES; ++i) {
        multigrid_case c;
        weft_error error = {0};
        multigrid_case_make(&c, &cases[i]);
        for (int updates = 0; updates < 2; ++updates) {
            const weft_preconditioner_report *report =
                weft_preconditioner_reported(c.preconditioner);
            int64_t entries = 0;
            for (int l = 0; l + 1 < report->n_levels; ++l)
                entries += report->levels[l].n_entries;
            assert_true(report->bytes > (size_t)entries * (sizeof(double) + sizeof(int32_t)));
            check(weft_preconditioner_update(c.preconditioner, &error), &error);
        }
        const size_t held = weft_preconditioner_reported(c.preconditioner)->bytes;
        const size_t before = weft_device_bytes(c.device);
        weft_preconditioner_free(&c.preconditioner);
        assert_int_equal(before - weft_device_bytes(c.device), held);
        multigrid_case_free(&c);
    }
}

static void errors(void **state) {
    (void)state;
    static const char *const kinds[] = {"multigrid", "aggregation"};
    multigrid_case c;
    multigrid_case_open(&c, &cases[0], WEFT_ASSEMBLY_MATRIX_FREE);
    for (int i = 0; i < 2; ++i)
        assert_error(multigrid_try(&c, kinds[i], error), WEFT_ERROR_UNSUPPORTED,
                     "error: multigrid needs an operator that stores its matrix\n"
                     "hint: use --assembly csr");
    multigrid_case_free(&c);
    multigrid_case_open(&c, &cases[3], WEFT_ASSEMBLY_CSR);
    assert_error(multigrid_try(&c, "multigrid", error), WEFT_ERROR_UNSUPPORTED,
                 "error: multigrid needs a mesh that was refined, with its levels\n"
                 "hint: use --refine, or --preconditioner aggregation");
    for (int i = 0; i < 2; ++i) {
        c.problem.degree = i ? -1 : 7;
        assert_error(multigrid_try(&c, "aggregation", error), WEFT_ERROR_USAGE,
                     "error: the degree of a smoother is 1 to 6");
    }
    assert_null(c.preconditioner);
    multigrid_case_free(&c);
}

/* ---- the coarsest level ---- */

/* With one level the preconditioner is what solves the coarsest. */
typedef struct coarsest_case {
    case_options options;
    const char *library; /* WEFT_UMFPACK; NULL: the installed one */
    const char *detail;
} coarsest_case;

static const coarsest_case coarsest_cases[] = {
    {{.d = 2, .n = 24, .components = 1, .kind = "aggregation"}, NULL, "the coarsest level by lu"},
    {{.d = 3, .n = 7, .components = 3, .kind = "aggregation"}, NULL, "the coarsest level by lu"},
    {{.d = 2, .n = 24, .components = 1, .kind = "aggregation", .is_free = true},
     NULL,
     "the coarsest level by lu"},
    {{.d = 2, .n = 24, .components = 1, .kind = "aggregation"},
     "none",
     "the coarsest level by its inverse"},
    {{.d = 2, .n = 48, .components = 1, .kind = "aggregation"},
     "none",
     "the coarsest level by its diagonal"},
};

/* r - A z, of a singular matrix without its mean, relative to r. */
static double residual_of(const multigrid_case *c, const double *r, const double *z) {
    const weft_pattern *pattern = weft_operator_pattern(c->op);
    bool *is_constrained = marked(c);
    const double *values = weft_memory_host(weft_operator_values(c->op));
    double mean = 0, most = 0;
    for (int64_t i = 0; i < c->n && c->problem.project_mean; ++i)
        mean += r[i] / (double)c->n;
    for (int64_t i = 0; i < c->n; ++i) {
        double sum = r[i] - mean;
        for (int64_t k = pattern->row_start[i]; k < pattern->row_start[i + 1]; ++k)
            sum -= values[k] * z[pattern->columns[k]];
        most = is_constrained[i] ? most : fmax(most, fabs(sum));
    }
    free(is_constrained);
    return most / largest(r, c->n);
}

static void coarsest_level(void **state) {
    const coarsest_case *one = *state;
    multigrid_case c;
    weft_error error = {0};
    if (one->library)
        setenv("WEFT_UMFPACK", one->library, 1);
    else
        unsetenv("WEFT_UMFPACK");
    multigrid_case_open(&c, &one->options, WEFT_ASSEMBLY_CSR);
    c.problem.levels = 1;
    check(multigrid_try(&c, one->options.kind, &error), &error);
    const char *detail = weft_preconditioner_reported(c.preconditioner)->detail;
    const bool is_here = one->library || strstr(detail, "lu");
    if (is_here) {
        double *r = multigrid_vector(&c, 3), *z = multigrid_apply(&c, r);
        assert_string_equal(detail, one->detail);
        if (strstr(detail, "diagonal")) {
            const weft_pattern *pattern = weft_operator_pattern(c.op);
            const double *values = weft_memory_host(weft_operator_values(c.op));
            for (int64_t i = 0; i < c.n; ++i)
                for (int64_t k = pattern->row_start[i]; k < pattern->row_start[i + 1]; ++k)
                    if (pattern->columns[k] == i)
                        assert_double_near(z[i] * values[k], r[i], 1e-12, 1e-14);
        } else {
            assert_true(residual_of(&c, r, z) < 1e-10);
        }
        free(r);
        free(z);
    }
    multigrid_case_free(&c);
    setenv("WEFT_UMFPACK", "none", 1);
    if (!is_here)
        skip_test("UMFPACK is not installed");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symmetric_positive_linear),
        cmocka_unit_test(equals_the_reference),
        cmocka_unit_test(single_dofs_are_constrained),
        cmocka_unit_test(degrees),
        cmocka_unit_test(update),
        cmocka_unit_test(fewer_levels),
        cmocka_unit_test(bytes),
        cmocka_unit_test(errors),
#define COARSEST(name, i)                                                                          \
    {"coarsest_level (" name ")", coarsest_level, NULL, NULL, (void *)&coarsest_cases[i]}
        COARSEST("lu", 0),
        COARSEST("components", 1),
        COARSEST("singular", 2),
        COARSEST("inverse", 3),
        COARSEST("diagonal", 4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
