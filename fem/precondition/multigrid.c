/* The preconditioners by multigrid: geometric, on the levels of a refined mesh and below them by
 * aggregation, and by aggregation alone. */
#include "fem/precondition/cycle.h"

#include "core/weft_core.h"

#include <stdlib.h>

enum { DEGREE = 2, COARSEST_ROWS = 500 };

typedef struct multigrid {
    weft_cycle cycle;
} multigrid;

static void multigrid_free(weft_preconditioner *preconditioner) {
    multigrid *state = preconditioner->state;
    if (!state)
        return;
    weft_cycle_clear(&state->cycle);
    free(state);
    preconditioner->state = NULL;
}

/* ---- levels while a cycle is made ---- */

typedef struct building {
    weft_device *device;
    const weft_preconditioner_problem *problem;
    double *values; /* of the operator, on the host */
    weft_csr finest;
    int n_geometric; /* levels with parents; then those of aggregation */
    weft_csr A[WEFT_PRECONDITIONER_LEVELS_MAX], P[WEFT_PRECONDITIONER_LEVELS_MAX];
    int32_t *parents[WEFT_PRECONDITIONER_LEVELS_MAX];
    weft_algebraic_level *algebraic;
    int n_algebraic;
    weft_cycle_source sources[WEFT_PRECONDITIONER_LEVELS_MAX];
    int n_sources;
} building;

static void building_clear(building *b) {
    for (int i = 0; i < WEFT_PRECONDITIONER_LEVELS_MAX; ++i) {
        weft_csr_clear(&b->A[i]);
        weft_csr_clear(&b->P[i]);
        free(b->parents[i]);
    }
    weft_algebraic_levels_free(&b->algebraic, b->n_algebraic);
    free(b->values);
}

/* The operator's matrix on the host. */
static weft_status read_matrix(building *b, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = b->problem->op;
    weft_memory *values = NULL;
    const weft_pattern *pattern = weft_operator_pattern(op);
    if (!pattern) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "multigrid needs an operator that stores its matrix");
        weft_error_hint(error, "use --assembly csr");
        return WEFT_ERROR_UNSUPPORTED;
    }
    TRY(weft_operator_matrix(op, &values, error));
    const size_t bytes = (size_t)pattern->n_entries * sizeof *b->values;
    b->values = weft_array_make_unset(bytes);
    if (!b->values)
        TRY(weft_out_of_memory(error, "the matrix for multigrid"));
    TRY(weft_memory_read(values, 0, b->values, bytes, error));
    b->finest = (weft_csr){pattern->n_rows, pattern->n_rows, pattern->row_start, pattern->columns,
                           b->values};
done:
    return status;
}

static void add_source(building *b, const weft_csr *A, const weft_csr *P, const int32_t *parents,
                       double lambda) {
    b->sources[b->n_sources++] = (weft_cycle_source){A, P, parents, lambda};
}

/* Levels by aggregation from the matrix A on. */
static weft_status aggregate(building *b, const weft_csr *A, bool is_finest, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = b->problem;
    const int left = WEFT_PRECONDITIONER_LEVELS_MAX - b->n_sources;
    const int wanted = problem->levels > b->n_sources ? problem->levels - b->n_sources : 0;
    weft_aggregation_options options = {.coarsest_rows = COARSEST_ROWS,
                                        .most_levels = wanted > 0 && wanted < left ? wanted : 0};
    if (is_finest) {
        options.constrained = problem->constrained;
        options.n_constrained = problem->n_constrained;
    }
    if (problem->space && is_finest) {
        const weft_mesh *mesh = weft_space_mesh(problem->space);
        options.components = weft_space_components(problem->space);
        options.dimension = mesh->dimension;
        options.x = mesh->x;
        options.rigid_body_modes = options.components == mesh->dimension;
    }
    TRY(weft_aggregation_make(b->device, A, &options, problem->monitor, &b->algebraic,
                              &b->n_algebraic, error));
    for (int i = 0; i < b->n_algebraic; ++i)
        add_source(b, &b->algebraic[i].A, i + 1 < b->n_algebraic ? &b->algebraic[i].P : NULL, NULL,
                   b->algebraic[i].lambda);
done:
    return status;
}

/* ---- the kinds ---- */

static void fill_report(weft_preconditioner *preconditioner, const building *b, int degree) {
    weft_preconditioner_report *report = &preconditioner->report;
    double entries = 0;
    report->degree = degree;
    report->n_levels = b->n_sources;
    for (int i = 0; i < b->n_sources; ++i) {
        const weft_csr *A = b->sources[i].A;
        report->levels[i] = (weft_preconditioner_level){.n_rows = A->n_rows,
                                                        .n_entries = A->row_start[A->n_rows],
                                                        .lambda = b->sources[i].lambda};
        entries += (double)report->levels[i].n_entries;
    }
    report->complexity = entries / (double)report->levels[0].n_entries;
}

static weft_status make(weft_preconditioner *preconditioner,
                        weft_status (*coarsen)(building *b, weft_error *error), weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = &preconditioner->problem;
    building b = {.device = preconditioner->context->device, .problem = problem};
    const int degree = problem->degree > 0 ? problem->degree : DEGREE;
    multigrid *state = preconditioner->state = calloc(1, sizeof *state);
    if (!state)
        return weft_out_of_memory(error, "a preconditioner");
    if (degree > WEFT_CHEBYSHEV_DEGREE_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "the degree of a smoother is 1 to %d",
                           WEFT_CHEBYSHEV_DEGREE_MAX));
    TRY(read_matrix(&b, error));
    TRY(coarsen(&b, error));
    fill_report(preconditioner, &b, degree);
    TRY(weft_cycle_make(preconditioner->context, b.sources, b.n_sources, problem, degree,
                        &state->cycle, error));
done:
    building_clear(&b);
    return status;
}

static weft_status apply(weft_preconditioner *preconditioner, weft_memory *r, weft_memory *z,
                         weft_error *error) {
    multigrid *state = preconditioner->state;
    return weft_cycle_run(&state->cycle, r, z, NULL, error);
}

static weft_status coarsen_by_aggregation(building *b, weft_error *error) {
    return aggregate(b, &b->finest, true, error);
}

static weft_status aggregation_make(weft_preconditioner *preconditioner, weft_error *error) {
    return make(preconditioner, coarsen_by_aggregation, error);
}

const weft_preconditioner_kind weft_preconditioner_aggregation = {
    .info = {"aggregation", "multigrid by smoothed aggregation, for any mesh"},
    .make = aggregation_make,
    .apply = apply,
    .free = multigrid_free,
};
