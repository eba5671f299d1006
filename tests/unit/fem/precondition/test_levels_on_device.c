/* labels: full */
/* Levels of multigrid that a device makes, against Galerkin products, prolongations and bounds of
 * eigenvalues of the host, which fem/multigrid's tests check: entries of the coarsest matrix, sums of
 * some hundred products, to 1e-13 of the largest; where the host has no entry, 0. Levels by aggregation against
 * Galerkin products with the weights of their own transfers, which are floats: to 1e-5 of the largest entry;
 * fem/multigrid's tests check aggregates and prolongations. Runs on an emulated GPU, or on the device that
 * WEFT_TEST_DEVICE names. */
#include "fem/precondition/levels.h"
#include "fusion/connectivity/connectivity.h"
#include "preconditioner_support.h"

static const double TOLERANCE = 1e-13;

static double entry(const weft_csr *A, int64_t i, int64_t j, bool *has) {
    for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
        if (A->columns[k] == j) {
            *has = true;
            return A->values[k];
        }
    *has = false;
    return 0;
}

/* Every entry of the host's is there, and the others are 0. */
static void compare_matrices(const weft_csr *made, const weft_csr *expected) {
    double most = 0;
    int64_t n_found = 0;
    assert_int_equal(made->n_rows, expected->n_rows);
    for (int64_t k = 0; k < expected->row_start[expected->n_rows]; ++k)
        most = fmax(most, fabs(expected->values[k]));
    for (int64_t i = 0; i < made->n_rows; ++i)
        for (int64_t k = made->row_start[i]; k < made->row_start[i + 1]; ++k) {
            bool has = false;
            const double value = entry(expected, i, made->columns[k], &has);
            assert_double_near(made->values[k], value, 0, TOLERANCE * most);
            assert_true(k == made->row_start[i] || made->columns[k] > made->columns[k - 1]);
            n_found += has;
        }
    assert_int_equal(n_found, expected->row_start[expected->n_rows]);
}

/* The host's level: its matrix, constrained dofs. */
typedef struct host_level {
    weft_csr A;
    int32_t *constrained;
    int64_t n_constrained;
} host_level;

static host_level finest(multigrid_case *c) {
    host_level level = {.n_constrained = c->problem.n_constrained};
    weft_memory *values = NULL;
    const weft_pattern *p = weft_operator_pattern(c->op);
    assert_non_null(p);
    assert_int_equal(weft_operator_matrix(c->op, &values, NULL), WEFT_OK);
    level.A = (weft_csr){p->n_rows, p->n_rows, p->row_start, p->columns, NULL};
    level.A.values = malloc((size_t)p->n_entries * sizeof(double));
    level.constrained = malloc((size_t)(p->n_rows + 1) * sizeof *level.constrained);
    assert_true(level.A.values && level.constrained);
    assert_int_equal(
        weft_memory_read(values, 0, level.A.values, (size_t)p->n_entries * sizeof(double), NULL),
        WEFT_OK);
    if (level.n_constrained > 0)
        memcpy(level.constrained, c->problem.constrained,
               (size_t)level.n_constrained * sizeof *level.constrained);
    return level;
}

static host_level coarser(const host_level *fine, const weft_hierarchy_level *level,
                          int components) {
    const int64_t n = level[-1].mesh->n_nodes * components;
    host_level out = {0};
    weft_error error = {0};
    char *marks = calloc((size_t)n, 1);
    out.constrained = malloc((size_t)(n + 1) * sizeof *out.constrained);
    assert_true(marks && out.constrained);
    for (int64_t k = 0; k < fine->n_constrained; ++k) {
        const int32_t dof = fine->constrained[k], *pair = level->parents + dof / components * 2;
        if (pair[0] == pair[1])
            marks[pair[0] * components + dof % components] = 1;
    }
    for (int64_t i = 0; i < n; ++i)
        if (marks[i])
            out.constrained[out.n_constrained++] = (int32_t)i;
    const weft_parents parents = {.parents = level->parents,
                                  .n_fine = level->mesh->n_nodes,
                                  .n_coarse = level[-1].mesh->n_nodes,
                                  .components = components,
                                  .fine_constrained = fine->constrained,
                                  .coarse_constrained = out.constrained,
                                  .n_fine_constrained = fine->n_constrained,
                                  .n_coarse_constrained = out.n_constrained};
    check(weft_galerkin_refined(NULL, &fine->A, &parents, &out.A, &error), &error);
    free(marks);
    return out;
}

/* The diagonal in single precision, to its rounding, or with half precision to what a row of 15 entries loses, each 2^-12 of itself and their
 * sum at most twice a_ii; -1 at constrained dofs. The bound of the greatest eigenvalue to a tenth: both are above it, by a
 * twentieth or so. */
static void check_source(const weft_cycle_source *source, const host_level *level,
                         bool half_precision) {
    const int64_t n = level->A.n_rows;
    float *diagonal = malloc((size_t)n * sizeof *diagonal);
    double lambda = 0;
    assert_non_null(diagonal);
    assert_int_equal(weft_memory_read(source->a, 0, diagonal, (size_t)n * sizeof *diagonal, NULL),
                     WEFT_OK);
    for (int64_t i = 0; i < n; ++i) {
        bool has = false, is_constrained = false;
        const double a = entry(&level->A, i, i, &has);
        for (int64_t k = 0; k < level->n_constrained; ++k)
            is_constrained |= level->constrained[k] == i;
        assert_double_near((double)diagonal[i], is_constrained ? -1 : a,
                           half_precision ? 0x1p-10 : 1e-6, 0);
    }
    free(diagonal);
    weft_error error = {0};
    check(weft_csr_eigenvalue(NULL, &level->A, level->constrained, level->n_constrained, &lambda,
                              &error),
          &error);
    assert_double_near(source->lambda, lambda, 0.1, 0);
    assert_int_equal(weft_operator_dofs(source->op), n);
}

static void levels_are_those_of_the_host(void **state) {
    (void)state;
    static const case_options cases[] = {
        {.d = 2, .n = 5, .times = 2, .components = 1},
        {.d = 3, .n = 2, .times = 2, .components = 1},
        {.d = 2, .n = 6, .times = 1, .components = 2},
        {.d = 3, .n = 3, .times = 1, .components = 3},
        {.d = 2, .n = 5, .times = 2, .components = 1, .is_free = true},
        {.d = 3, .n = 3, .times = 1, .components = 1, .is_pinned = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        case_options options = cases[i];
        multigrid_case c;
        weft_levels levels;
        weft_error error = {0};
        bool made = false;
        options.device = getenv("WEFT_TEST_DEVICE");
        options.is_emulated = !options.device;
        multigrid_case_open(&c, &options, WEFT_ASSEMBLY_CSR);
        check(weft_operator_assemble(c.op, &error), &error);
        const weft_levels_options wanted = {.problem = &c.problem,
                                            .hierarchy = c.hierarchy,
                                            .components = options.components,
                                            .degree = 2,
                                            .most_levels = options.times + 1,
                                            .coarsest_rows = 4};
        check(weft_levels_on_device(&c.context, &wanted, &levels, &made, &error), &error);
        assert_true(made);
        assert_int_equal(levels.n, options.times);
        host_level level = finest(&c);
        for (int l = 0; l < levels.n; ++l) {
            check_source(&levels.sources[l], &level, options.components == 1);
            assert_int_equal(levels.sources[l].is_masked, options.is_pinned && l == 0);
            const weft_hierarchy_level *mesh = &c.hierarchy->levels[c.hierarchy->n_levels - 1 - l];
            host_level next = coarser(&level, mesh, options.components);
            free(level.constrained);
            if (l == 0) /* its pattern is the operator's */
                free(level.A.values);
            else
                weft_csr_clear(&level.A);
            level = next;
        }
        compare_matrices(&levels.last, &level.A);
        assert_int_equal(levels.n_constrained, level.n_constrained);
        for (int64_t k = 0; k < level.n_constrained; ++k)
            assert_int_equal(levels.constrained[k], level.constrained[k]);
        assert_ptr_equal(levels.mesh, c.hierarchy->levels[0].mesh);
        free(level.constrained);
        weft_csr_clear(&level.A);
        weft_levels_clear(&levels);
        multigrid_case_free(&c);
    }
}

/* ---- aggregation ---- */

static const double SINGLE = 1e-5;

/* P of a level, from the form of its transfer for blocks of 32 rows. */
static weft_csr prolongation_of(const weft_cycle_source *source) {
    const int64_t n = weft_connectivity_from(source->transfer);
    const int width = weft_connectivity_width(source->transfer);
    const size_t n_weights = (size_t)n * (size_t)width;
    const size_t n_columns = (size_t)((n + 31) / 32 * 32) * (size_t)width;
    weft_memory *memory = NULL;
    weft_error error = {0};
    weft_csr P = {.n_rows = n, .n_columns = weft_connectivity_to(source->transfer)};
    int32_t *columns = malloc(n_columns * sizeof *columns);
    float *weights = malloc(n_weights * sizeof *weights);
    check(weft_connectivity_interleaved(source->transfer, 32, &memory, &error), &error);
    check(weft_memory_read(memory, 0, columns, n_columns * sizeof *columns, &error), &error);
    check(weft_memory_read(source->weights, 0, weights, n_weights * sizeof *weights, &error),
          &error);
    check(weft_csr_allocate(n, P.n_columns, (int64_t)n_weights, &P, &error), &error);
    for (int64_t i = 0; i < n; ++i) {
        int64_t at = P.row_start[i];
        for (int k = 0; k < width; ++k) {
            if (weights[i * width + k] == 0)
                continue;
            P.columns[at] = columns[(i / 32 * width + k) * 32 + i % 32];
            P.values[at++] = (double)weights[i * width + k];
        }
        P.row_start[i + 1] = at;
    }
    free(columns);
    free(weights);
    return P;
}

/* Entries to SINGLE of the largest, also where one of the two has none. */
static void compare_entries(const weft_csr *made, const weft_csr *expected) {
    double most = 0;
    assert_int_equal(made->n_rows, expected->n_rows);
    for (int64_t k = 0; k < expected->row_start[expected->n_rows]; ++k)
        most = fmax(most, fabs(expected->values[k]));
    for (int64_t i = 0; i < made->n_rows; ++i)
        for (int way = 0; way < 2; ++way) {
            const weft_csr *A = way ? made : expected, *B = way ? expected : made;
            for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k) {
                bool has = false;
                assert_double_near(A->values[k], entry(B, i, A->columns[k], &has), 0,
                                   SINGLE * most);
            }
        }
}

/* Mode `mode` of row i: a constant, or a rotation. */
static double mode_of(const multigrid_case *c, int components, int64_t i, int mode) {
    const weft_mesh *mesh = c->hierarchy->levels[c->hierarchy->n_levels - 1].mesh;
    const double *x = mesh->x + i / components * mesh->dimension;
    const int component = (int)(i % components), axis = mode - components;
    if (mode < components)
        return mode == component;
    if (components == 2)
        return component == 0 ? -x[1] : x[0];
    return component == (axis + 2) % 3   ? x[(axis + 1) % 3]
           : component == (axis + 1) % 3 ? -x[(axis + 2) % 3]
                                         : 0;
}

/* One level's transfer interpolates its near-nullspace from the coarser one's, but at nodes beside constrained ones,
 * of which there are none if nothing is constrained. Coordinates are at most 1; sums of 24 weights. */
static void check_modes(const multigrid_case *c, const weft_csr *P, const weft_levels *levels) {
    const int m = levels->n_modes, components = weft_space_components(c->space);
    for (int64_t i = 0; i < P->n_rows; ++i)
        for (int mode = 0; mode < m; ++mode) {
            double fine = 0;
            for (int64_t k = P->row_start[i]; k < P->row_start[i + 1]; ++k)
                fine += P->values[k] * levels->modes[P->columns[k] * m + mode];
            assert_double_near(fine, mode_of(c, components, i, mode), 0, SINGLE);
        }
}

/* The host's matrices from the weights of the device. */
static void check_aggregation(multigrid_case *c, const weft_levels *levels) {
    host_level level = finest(c);
    for (int l = 0; l < levels->n; ++l) {
        weft_csr P = prolongation_of(&levels->sources[l]);
        host_level next = {0};
        weft_error error = {0};
        check_source(&levels->sources[l], &level, l == 0 && levels->n_modes == 1);
        assert_int_equal(P.n_rows, level.A.n_rows);
        for (int64_t k = 0; k < level.n_constrained; ++k)
            assert_int_equal(P.row_start[level.constrained[k] + 1],
                             P.row_start[level.constrained[k]]);
        if (levels->n == 1 && level.n_constrained == 0)
            check_modes(c, &P, levels);
        check(weft_galerkin(NULL, &level.A, &P, &next.A, &error), &error);
        next.constrained = calloc(1, sizeof *next.constrained);
        free(level.constrained);
        if (l == 0) /* its pattern is the operator's */
            free(level.A.values);
        else
            weft_csr_clear(&level.A);
        weft_csr_clear(&P);
        level = next;
    }
    compare_entries(&levels->last, &level.A);
    assert_int_equal(levels->n_constrained, 0);
    weft_csr_clear(&level.A);
    free(level.constrained);
}

static void aggregates_of_the_device(void **state) {
    (void)state;
    static const struct {
        case_options options;
        int most_levels, n_levels;
        int64_t coarsest_rows;
    } cases[] = {
        {{.d = 2, .n = 40, .components = 1}, 32, 2, 30},
        {{.d = 2, .n = 30, .components = 1}, 2, 1, 4}, /* by most_levels */
        {{.d = 3, .n = 10, .components = 1}, 32, 1, 100},
        {{.d = 3, .n = 9, .components = 1, .is_free = true}, 2, 1, 4},
        {{.d = 2, .n = 17, .times = 1, .components = 1}, 32, 2, 20},
        {{.d = 2, .n = 30, .components = 2}, 32, 2, 100},
        {{.d = 3, .n = 8, .components = 3}, 32, 1, 250},
        {{.d = 3, .n = 6, .components = 3, .is_free = true}, 2, 1, 4},
        {{.d = 2, .n = 14, .components = 2, .is_free = true}, 2, 1, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        case_options options = cases[i].options;
        multigrid_case c;
        weft_levels levels;
        weft_error error = {0};
        bool made = false;
        options.device = getenv("WEFT_TEST_DEVICE");
        options.is_emulated = !options.device;
        multigrid_case_open(&c, &options, WEFT_ASSEMBLY_CSR);
        check(weft_operator_assemble(c.op, &error), &error);
        const weft_levels_options wanted = {.problem = &c.problem,
                                            .components = options.components,
                                            .degree = 2,
                                            .most_levels = cases[i].most_levels,
                                            .coarsest_rows = cases[i].coarsest_rows};
        check(weft_levels_on_device(&c.context, &wanted, &levels, &made, &error), &error);
        assert_true(made);
        assert_int_equal(levels.n, cases[i].n_levels);
        check_aggregation(&c, &levels);
        weft_levels_clear(&levels);
        multigrid_case_free(&c);
    }
}

/* Iterations and levels of elasticity by levels that the device makes first, and the host from some thousand rows on, are
 * those of the host alone. The solutions of both are those of the matrix (multigrid_solve). */
static void elasticity_takes_as_many_iterations(void **state) {
    (void)state;
    static const case_options cases[] = {
        {.d = 3, .n = 12, .components = 3, .kind = "aggregation"},
        {.d = 2, .n = 52, .components = 2, .kind = "aggregation"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        int iterations[2];
        weft_preconditioner_report reports[2];
        for (int on_device = 0; on_device < 2; ++on_device) {
            case_options options = cases[i];
            multigrid_case c;
            options.device = on_device ? getenv("WEFT_TEST_DEVICE") : NULL;
            options.is_emulated = on_device && !options.device;
            options.is_single = true;
            multigrid_case_make(&c, &options);
            reports[on_device] = *weft_preconditioner_reported(c.preconditioner);
            iterations[on_device] = multigrid_solve(&c, true, 1e-8);
            multigrid_case_free(&c);
        }
        assert_int_equal(iterations[1], iterations[0]);
        assert_int_equal(reports[1].n_levels, reports[0].n_levels);
        for (int l = 0; l < reports[0].n_levels; ++l)
            assert_int_equal(reports[1].levels[l].n_rows, reports[0].levels[l].n_rows);
    }
}

/* ---- device memory that runs out ---- */

static weft_status (*memory_make)(weft_memory *memory, weft_error *error);
static int64_t n_left; /* allocations until the one that fails; 0: none does */

static weft_status failing_memory_make(weft_memory *memory, weft_error *error) {
    if (n_left > 0 && --n_left == 0)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "no device memory, for the test");
    return memory_make(memory, error);
}

static weft_status use_operator(multigrid_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    TRY(weft_operator_make(&c->context, WEFT_ASSEMBLY_CSR, &c->form.form, 1, &op, error));
    TRY(weft_operator_assemble(op, error));
done:
    weft_operator_free(&op);
    return status;
}

static weft_status use_levels(multigrid_case *c, weft_error *error) {
    const weft_levels_options wanted = {.problem = &c->problem,
                                        .hierarchy = c->hierarchy,
                                        .components = 1,
                                        .degree = 2,
                                        .most_levels = 2,
                                        .coarsest_rows = 4};
    weft_levels levels;
    bool made = false;
    const weft_status status = weft_levels_on_device(&c->context, &wanted, &levels, &made, error);
    weft_levels_clear(&levels);
    return status;
}

static weft_status use_aggregation(multigrid_case *c, weft_error *error) {
    const weft_levels_options wanted = {.problem = &c->problem,
                                        .components = weft_space_components(c->space),
                                        .degree = 2,
                                        .most_levels = 2,
                                        .coarsest_rows = 4};
    weft_levels levels;
    bool made = false;
    const weft_status status = weft_levels_on_device(&c->context, &wanted, &levels, &made, error);
    weft_levels_clear(&levels);
    return status;
}

/* Every allocation fails once: the error is reported, and nothing stays allocated. */
static void fail_each_allocation(int components) {
    weft_status (*const uses[])(multigrid_case * c,
                                weft_error * error) = {use_aggregation, use_operator, use_levels};
    const case_options options = {
        .d = 2, .n = 3, .times = 1, .components = components, .is_emulated = true};
    multigrid_case c;
    multigrid_case_open(&c, &options, WEFT_ASSEMBLY_CSR);
    assert_int_equal(weft_operator_assemble(c.op, NULL), WEFT_OK);
    weft_device_table *table = (weft_device_table *)(uintptr_t)c.device->table;
    memory_make = table->memory_make;
    table->memory_make = failing_memory_make;
    for (size_t u = 0; u < (components > 1 ? 1 : sizeof uses / sizeof *uses); ++u) {
        weft_error error = {0};
        assert_int_equal(uses[u](&c, &error), WEFT_OK); /* connectivities keep their forms */
        const size_t bytes = weft_device_bytes(c.device);
        weft_status status = WEFT_ERROR_MEMORY;
        int64_t n_failed = 0;
        for (; status != WEFT_OK; ++n_failed) {
            n_left = n_failed + 1;
            status = uses[u](&c, &error);
            if (status != WEFT_OK)
                assert_int_equal(status, WEFT_ERROR_MEMORY);
            assert_int_equal(weft_device_bytes(c.device), bytes);
        }
        assert_true(n_failed > 10);
        n_left = 0;
    }
    table->memory_make = memory_make;
    multigrid_case_free(&c);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    if (getenv("WEFT_TEST_DEVICE"))
        skip_test("the memory of a real device does not fail on request");
    fail_each_allocation(1);
    fail_each_allocation(2);
}

/* ---- how much memory is there at a time ---- */

static size_t most_bytes; /* the most since it was set */

static weft_status counted_memory_make(weft_memory *memory, weft_error *error) {
    const size_t bytes = weft_device_bytes(memory->device) + memory->bytes;
    most_bytes = bytes > most_bytes ? bytes : most_bytes;
    return memory_make(memory, error);
}

/* Bytes for each of n that were there at most, beyond those before. */
static double bytes_more(size_t before, int64_t n) {
    return (double)(most_bytes - before) / (double)n;
}

/* Of the 2048 cells on which assembly is verified: positions, words, connectivity and its transpose. */
#define TRIAL_BYTES (2048 * (4 * 16 + 8 * 8 + 4 * 4 + 4 * 4))

/* Memory counted for tetrahedra with 24 vertices of cells and 14 entries off the diagonal per node. What
 * assembly keeps: connectivity 4 * 24 (there before), a word of 8 bytes for each vertex of a cell, the
 * matrix 8 + 10 * 14. The transposed connectivity (8 + 4 * 24) and the columns of the pattern (4 * 15)
 * must be freed before the values (8 * 15) are there: then no more than what stays is there at any
 * time, up to 5 %. Verification adds four vectors and what it needs for its cells. Levels: values in half precision, parents, the coarse matrix and vectors are less than a copy of the matrix in
 * CSR format, 8 + 12 * 15. By aggregation, with the Galerkin product: diagonal and numbers of aggregates 20, P 48, in the
 * cycle's form 32, its transpose 16, flags and modes 9, and a coarse matrix of 40 to 50 entries for 14 nodes. */
static void little_memory_at_a_time(void **state) {
    (void)state;
    const case_options options = {.d = 3, .n = 4, .times = 2, .components = 1, .is_emulated = true};
    multigrid_case c;
    weft_error error = {0};
    weft_operator *op = NULL;
    if (getenv("WEFT_TEST_DEVICE"))
        skip_test("allocations of a real device are not counted");
    multigrid_case_open(&c, &options, WEFT_ASSEMBLY_CSR);
    weft_operator_free(&c.op);
    weft_device_table *table = (weft_device_table *)(uintptr_t)c.device->table;
    memory_make = table->memory_make;
    table->memory_make = counted_memory_make;
    const size_t before = weft_device_bytes(c.device);
    most_bytes = before;
    check(weft_operator_make(&c.context, WEFT_ASSEMBLY_CSR, &c.form.form, 1, &op, &error), &error);
    const double kept = (double)(weft_device_bytes(c.device) - before) / (double)c.n;
    assert_true(bytes_more(before, c.n) < 1.05 * kept);
    check(weft_operator_assemble(op, &error), &error);
    const double few = (double)TRIAL_BYTES / (double)c.n;
    assert_true(bytes_more(before, c.n) < 1.05 * kept + 4 * 8 + few);
    c.problem.op = op;
    weft_operator_release_assembly(op);
    const size_t released = weft_device_bytes(c.device);
    most_bytes = released;
    check(use_levels(&c, &error), &error);
    assert_true(bytes_more(released, c.n) <
                8 + 12.0 * (double)weft_operator_entries(op) / (double)c.n);
    const size_t levels = weft_device_bytes(c.device);
    most_bytes = levels;
    check(use_aggregation(&c, &error), &error);
    assert_true(bytes_more(levels, c.n) < 180);
    table->memory_make = memory_make;
    weft_operator_free(&op);
    multigrid_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_those_of_the_host), cmocka_unit_test(aggregates_of_the_device),
        cmocka_unit_test(elasticity_takes_as_many_iterations),
        cmocka_unit_test(each_allocation_may_fail), cmocka_unit_test(little_memory_at_a_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
