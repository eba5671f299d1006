/* The preconditioners by multigrid: geometric, on the levels of a refined mesh and below them by
 * aggregation, and by aggregation alone. */
#include "fem/precondition/levels.h"

#include "core/base/fault.h"
#include "core/base/number.h"
#include "core/weft_core.h"
#include "fem/form/compare.h"

#include <math.h>
#include <stdlib.h>

enum {
    DEGREE = 2,
    COARSE_DEGREE = 4,
    COARSEST_ROWS = 500,
    /* rows of a level that the host coarsens as fast as a device: one of each node, or several, with longer rows */
    AGGREGATED_ON_HOST = 5000,
    BLOCKS_ON_HOST = 1000
};

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
    weft_csr *given; /* weft_preconditioner.matrix */
    weft_context *context;
    int degree;     /* of the smoothing on levels to be added */
    double *values; /* a copy of the operator's that are not on the host */
    weft_csr finest;
    /* on several ranks, otherwise {0}: problem is its problem, and finest, which is owned, the matrix of all */
    weft_whole whole;
    weft_whole_nodes nodes; /* whose list of constrained dofs moves to constrained[0] */
    /* geometric levels, from 1: the matrix of level i; 0: linear functions below a space of higher degree, with the
     * transfer from them */
    weft_csr A[WEFT_PRECONDITIONER_LEVELS_MAX], P;
    int32_t *constrained[WEFT_PRECONDITIONER_LEVELS_MAX];
    weft_levels on_device; /* in place of these, made on the device */
    weft_algebraic_level *algebraic;
    int n_algebraic;
    weft_cycle_source sources[WEFT_PRECONDITIONER_LEVELS_MAX];
    int n_sources;
} building;

static bool has_ranks(const building *b) {
    return b->whole.rows.comm != NULL;
}

static void building_clear(building *b) {
    for (int i = 0; i < WEFT_PRECONDITIONER_LEVELS_MAX; ++i) {
        weft_csr_clear(&b->A[i]);
        free(b->constrained[i]);
    }
    weft_csr_clear(&b->P);
    for (int i = 0; i < b->n_sources; ++i)
        weft_cycle_source_clear(&b->sources[i]);
    weft_algebraic_levels_free(&b->algebraic, b->n_algebraic);
    weft_levels_clear(&b->on_device);
    if (has_ranks(b))
        weft_csr_clear(&b->finest);
    weft_whole_clear(&b->whole);
    free(b->nodes.x);
    free(b->values);
}

weft_status weft_matrix_on_host(const weft_preconditioner_problem *problem, weft_csr *out,
                                double **own, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = problem->op;
    weft_memory *values = NULL;
    const weft_pattern *pattern = weft_operator_pattern(op);
    if (!pattern)
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "multigrid needs an operator that stores its matrix",
                              "use --assembly csr"));
    TRY(weft_operator_matrix(op, &values, error));
    *out = (weft_csr){pattern->n_rows, pattern->n_rows, pattern->row_start, pattern->columns,
                      weft_memory_host(values)};
    if (!out->values) {
        const size_t bytes = (size_t)pattern->n_entries * sizeof **own;
        out->values = *own = weft_array_make_unset(bytes);
        if (!*own)
            TRY(weft_out_of_memory(error, "the matrix for multigrid"));
        TRY(weft_memory_read(values, 0, *own, bytes, error));
        weft_operator_matrix_release(op);
    }
done:
    return status;
}

/* Smoothers and the solution on the coarsest level need a positive definite matrix, and coarser levels of
 * convection are unstable. The symmetric part is the diffusion, where the velocity has no divergence. */
static weft_status take_symmetric_part(building *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_csr given = b->finest;
    double *values = weft_array_make_unset((size_t)given.row_start[given.n_rows] * sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "the matrix for multigrid"));
    TRY(weft_csr_symmetric_part(b->device, &given, values, error));
    free(has_ranks(b) ? given.values : b->values);
    b->finest.values = values;
    b->values = has_ranks(b) ? b->values : values;
    values = NULL;
done:
    free(values);
    return status;
}

/* The rows of all ranks. */
static weft_status gather_matrix(building *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_rank_rows *rows = &b->whole.rows;
    const weft_csr part = b->finest;
    b->finest = (weft_csr){0};
    TRY(weft_whole_matrix(rows, &part, rows->numbers, rows->n_whole, &b->finest, error));
done:
    return status;
}

/* The matrix of the finest level, its symmetric part if it is general. */
static weft_status read_matrix(building *b, weft_error *error) {
    weft_status status = WEFT_OK;
    if (b->given)
        b->finest = *b->given;
    else
        TRY(weft_matrix_on_host(b->problem, &b->finest, &b->values, error));
    if (b->given && has_ranks(b))
        *b->given = (weft_csr){0};
    else if (has_ranks(b))
        TRY(gather_matrix(b, error));
    if (b->problem->is_general)
        TRY(take_symmetric_part(b, error));
done:
    return status;
}

static void add_source(building *b, weft_csr *A, const weft_csr *P, int32_t *parents,
                       double lambda) {
    b->sources[b->n_sources++] = (weft_cycle_source){.A = A,
                                                     .takes = A != &b->finest || has_ranks(b),
                                                     .P = P,
                                                     .parents = parents,
                                                     .lambda = lambda,
                                                     .degree = b->degree};
}

/* A matrix to be coarsened, with its mesh, the coordinates of its nodes (both NULL: unknown), and
 * constrained dofs. */
typedef struct weft_to_coarsen {
    weft_csr *A;
    const weft_mesh *mesh;
    const double *x;
    const int32_t *constrained;
    int64_t n_constrained;
    const weft_levels
        *levels; /* that end with this matrix: nodes and near-nullspace; NULL: the problem's */
} weft_to_coarsen;

/* Levels by aggregation from a matrix on. */
static weft_status aggregate(building *b, const weft_to_coarsen *from, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = b->problem;
    const int left = WEFT_PRECONDITIONER_LEVELS_MAX - b->n_sources;
    const int wanted = problem->levels > b->n_sources ? problem->levels - b->n_sources : 0;
    weft_aggregation_options options = {.coarsest_rows = COARSEST_ROWS,
                                        .most_levels = wanted > 0 && wanted < left ? wanted : left,
                                        .constrained = from->constrained,
                                        .n_constrained = from->n_constrained};
    if (from->mesh) {
        options.components = weft_space_components(problem->space);
        options.dimension = from->mesh->dimension;
        options.x = from->x;
        options.rigid_body_modes = options.components == from->mesh->dimension;
    }
    if (from->levels) {
        options.aggregate_nodes =
            weft_aggregation_nodes(options.dimension, options.rigid_body_modes);
        options.components = 1;
        options.node_start = from->levels->node_start;
        options.n_nodes = from->levels->n_nodes;
        options.near_nullspace = from->levels->modes;
        options.n_near_nullspace = from->levels->n_modes;
        options.n_finer = b->n_sources;
        options.rigid_body_modes = false;
    }
    TRY(weft_aggregation_make(b->device, from->A, &options, problem->monitor, &b->algebraic,
                              &b->n_algebraic, error));
    for (int i = 0; i < b->n_algebraic; ++i)
        add_source(b, i == 0 ? from->A : &b->algebraic[i].A,
                   i + 1 < b->n_algebraic ? &b->algebraic[i].P : NULL, NULL,
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
        const weft_operator *op = b->sources[i].op;
        report->levels[i] = (weft_preconditioner_level){
            .n_rows = A ? A->n_rows : weft_operator_dofs(op),
            .n_entries = A ? A->row_start[A->n_rows] : weft_operator_entries(op),
            .lambda = b->sources[i].lambda};
        entries += (double)report->levels[i].n_entries;
    }
    report->complexity = entries / (double)report->levels[0].n_entries;
}

static weft_status make(weft_preconditioner *preconditioner,
                        weft_status (*coarsen)(building *b, weft_error *error), weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = &preconditioner->problem;
    const int degree = problem->degree > 0 ? problem->degree : DEGREE;
    building b = {.device = preconditioner->context->device,
                  .problem = problem,
                  .given = preconditioner->matrix,
                  .context = preconditioner->context,
                  .degree = degree};
    multigrid *state = preconditioner->state = calloc(1, sizeof *state);
    if (!state)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    if (problem->degree < 0 || degree > WEFT_CHEBYSHEV_DEGREE_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "the degree of a smoother is 1 to %d",
                           WEFT_CHEBYSHEV_DEGREE_MAX));
    weft_layout *layout = problem->op ? problem->op->layout : preconditioner->layout;
    if (layout) {
        TRY(weft_whole_make(b.device, problem, layout, &b.whole, error));
        b.problem = &b.whole.problem;
    }
    TRY(coarsen(&b, error));
    fill_report(preconditioner, &b, degree);
    TRY(weft_cycle_make(preconditioner->context, b.sources, b.n_sources, b.problem,
                        has_ranks(&b) ? &b.whole : NULL, &state->cycle, error));
    if (state->cycle.levels[b.n_sources - 1].n > COARSEST_ROWS)
        (void)weft_print(preconditioner->report.detail, sizeof preconditioner->report.detail,
                         "the coarsest level by %s", weft_cycle_coarsest_name(&state->cycle));
done:
    building_clear(&b);
    return status;
}

static weft_status apply(weft_preconditioner *preconditioner, weft_memory *r, weft_memory *z,
                         weft_error *error) {
    multigrid *state = preconditioner->state;
    return weft_cycle_run(&state->cycle, r, z, preconditioner->square, preconditioner->active,
                          error);
}

/* On a GPU, whose kernels read floats as doubles; on ranks the list is in another order. */
static weft_memory *single(const weft_preconditioner *preconditioner) {
    const weft_cycle *cycle = &((const multigrid *)preconditioner->state)->cycle;
    const weft_limits *limits = weft_device_limits(cycle->context->device);
    return limits->execution == WEFT_EXECUTION_SIMT && !cycle->outer.share ? cycle->levels[0].z
                                                                           : NULL;
}

static bool lists(const weft_preconditioner *preconditioner, weft_single_lists *out) {
    const weft_cycle *cycle = &((const multigrid *)preconditioner->state)->cycle;
    const weft_cycle_level *finest = &cycle->levels[0];
    *out = (weft_single_lists){finest->a, finest->b, finest->z};
    return cycle->single;
}

static weft_status cycle(weft_preconditioner *preconditioner, weft_error *error) {
    multigrid *state = preconditioner->state;
    return weft_cycle_run_from(&state->cycle, 0, preconditioner->active, error);
}

static weft_status full(weft_preconditioner *preconditioner, int cycles, weft_memory *r,
                        weft_memory *z, weft_full_report *report, weft_error *error) {
    multigrid *state = preconditioner->state;
    return weft_cycle_run_full(&state->cycle, cycles, r, z, report, error);
}

static weft_status start(weft_preconditioner *preconditioner, int cycles, weft_memory *r,
                         weft_memory *z, weft_error *error) {
    multigrid *state = preconditioner->state;
    return weft_cycle_run_start(&state->cycle, cycles, r, z, error);
}

static weft_to_coarsen finest(building *b) {
    const weft_preconditioner_problem *problem = b->problem;
    const weft_space *space = problem->space;
    return (weft_to_coarsen){.A = &b->finest,
                             .mesh = space ? weft_space_mesh(space) : NULL,
                             .x = has_ranks(b) ? b->whole.x
                                  : space      ? weft_space_points(space)
                                               : NULL,
                             .constrained = problem->constrained,
                             .n_constrained = problem->n_constrained};
}

/* The prolongation from linear functions, and their constrained dofs and nodes, of all ranks if there are several. */
static weft_status prolong_degree(building *b, const weft_to_coarsen *from, int64_t *n_constrained,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    if (!has_ranks(b)) {
        status = weft_degree_prolongation(b->problem->space, from->constrained, from->n_constrained,
                                          &b->P, &b->constrained[0], n_constrained, error);
        goto done;
    }
    status = weft_whole_prolongation(&b->whole, &b->P, &b->nodes, error);
    b->constrained[0] = b->nodes.constrained;
    *n_constrained = b->nodes.n_constrained;
done:
    return status;
}

/* From a space of higher degree to linear functions on the same mesh, whose matrix is the Galerkin product. Its list of
 * constrained dofs is b's. */
static weft_status coarsen_degree(building *b, weft_to_coarsen *from, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n_constrained = 0;
    double lambda = 0;
    TRY(weft_csr_eigenvalue(b->device, from->A, from->constrained, from->n_constrained, &lambda,
                            error));
    TRY(prolong_degree(b, from, &n_constrained, error));
    TRY(weft_galerkin(b->device, from->A, &b->P, &b->A[0], error));
    add_source(b, from->A, &b->P, NULL, lambda);
    *from = (weft_to_coarsen){.A = &b->A[0],
                              .mesh = from->mesh,
                              .x = has_ranks(b) ? b->nodes.x : from->mesh->x,
                              .constrained = b->constrained[0],
                              .n_constrained = n_constrained};
done:
    return status;
}

/* The levels that the device makes become sources of b.
 *  from  of the coarsest of them, on the host */
static weft_status take_levels(building *b, const weft_levels_options *options, bool *made,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_levels *levels = &b->on_device;
    weft_error why = {0};
    bool unsupported = false;
    status = weft_levels_on_device(b->context, options, levels, made, &why);
    TRY(weft_status_supported(status, &why, &unsupported, error));
    *made &= !unsupported;
    if (unsupported)
        weft_log(b->problem->monitor, WEFT_LOG_INFO, "levels of multigrid on the host: %s",
                 why.message);
    if (!*made)
        goto done;
    weft_log(b->problem->monitor, WEFT_LOG_INFO, "%d levels of multigrid by %s on the device",
             levels->n, options->hierarchy ? "Galerkin products" : "aggregation");
    for (int i = 0; i < levels->n; ++i)
        b->sources[b->n_sources++] = levels->sources[i];
    levels->n = 0; /* they are b's now */
done:
    return status;
}

static weft_status aggregate_on_device(building *b, weft_to_coarsen *from, bool *made,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = b->problem;
    const weft_levels *levels = &b->on_device;
    const int components = problem->space ? weft_space_components(problem->space) : 1;
    const weft_levels_options options = {
        .problem = problem,
        .components = components,
        .degree = b->degree,
        .most_levels = problem->levels > 0 ? problem->levels : WEFT_PRECONDITIONER_LEVELS_MAX,
        .coarsest_rows = components > 1 ? BLOCKS_ON_HOST : AGGREGATED_ON_HOST};
    if (!problem->space || weft_space_coarsens(problem->space) ||
        !weft_space_points(problem->space) || problem->is_general || b->given || has_ranks(b))
        goto done;
    TRY(take_levels(b, &options, made, error));
    if (*made)
        *from = (weft_to_coarsen){.A = &b->on_device.last,
                                  .mesh = weft_space_mesh(problem->space),
                                  .x = levels->x,
                                  .levels = levels};
done:
    return status;
}

static weft_status coarsen_by_aggregation(building *b, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_to_coarsen from = finest(b);
    bool made = false;
    TRY(aggregate_on_device(b, &from, &made, error));
    if (made) {
        status = aggregate(b, &from, error);
        goto done;
    }
    TRY(read_matrix(b, error));
    if (weft_space_coarsens(b->problem->space))
        TRY(coarsen_degree(b, &from, error));
    TRY(aggregate(b, &from, error));
    if (b->n_sources > 1 && !b->problem->is_general && !b->given &&
        !has_ranks(b)) /* the coarsest is inverted on the host */
        TRY(weft_levels_finest(b->context, b->problem, &b->sources[0], &made, error));
    if (made)
        b->sources[0].A = NULL;
done:
    return status;
}

static weft_status aggregation_make(weft_preconditioner *preconditioner, weft_error *error) {
    return make(preconditioner, coarsen_by_aggregation, error);
}

/* ---- levels of a refined mesh ---- */

/* The constrained dofs of the coarser level: those of constrained nodes that exist there. Returns
 * NULL without memory. */
static int32_t *coarse_constrained(const weft_to_coarsen *from, const int32_t *parents,
                                   int64_t n_coarse, int64_t *n) {
    unsigned char *is_constrained = calloc((size_t)n_coarse + 1, 1);
    int32_t *out = malloc(((size_t)from->n_constrained + 1) * sizeof *out);
    *n = 0;
    for (int64_t k = 0; is_constrained && out && k < from->n_constrained; ++k) {
        const int32_t *pair = parents + 2 * (int64_t)from->constrained[k];
        is_constrained[pair[0]] |= pair[0] == pair[1] && !weft_fault("coarse_dof_free");
    }
    for (int64_t i = 0; is_constrained && out && i < n_coarse; ++i)
        if (is_constrained[i])
            out[(*n)++] = (int32_t)i;
    free(is_constrained);
    return out;
}

typedef struct parents_work {
    const weft_hierarchy_level *level;
    int32_t *out;
    int components;
} parents_work;

enum { PARENTS_CHUNK = 1 << 16 };

static void chunk_parents(void *user, int64_t chunk) {
    const parents_work *w = user;
    const int64_t n = w->level->mesh->n_nodes, last = (chunk + 1) * PARENTS_CHUNK;
    const int32_t *parents = w->level->parents;
    for (int64_t i = chunk * PARENTS_CHUNK; i < last && i < n; ++i)
        for (int c = 0; c < w->components; ++c)
            for (int k = 0; k < 2; ++k)
                w->out[2 * (i * w->components + c) + k] =
                    parents[2 * i + (weft_fault("wrong_parent") ? 0 : k)] * w->components + c;
}

int32_t *weft_dof_parents(weft_device *device, const weft_hierarchy_level *level, int components) {
    const int64_t n = level->mesh->n_nodes;
    parents_work w = {.level = level, .components = components};
    w.out = weft_array_make_unset((uint64_t)n * 2 * (uint64_t)components * sizeof *w.out);
    if (w.out)
        (void)weft_device_for(device, (n + PARENTS_CHUNK - 1) / PARENTS_CHUNK, chunk_parents, &w,
                              NULL);
    return w.out;
}

/* Add a level, and make the matrix of the next coarser one: number 1, 2, ... from the finest.
 *  from  becomes the coarser level; its list of constrained dofs is the caller's to free */
static weft_status coarsen_once(building *b, const weft_hierarchy *hierarchy, int number,
                                weft_to_coarsen *from, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_hierarchy_level *level = &hierarchy->levels[hierarchy->n_levels - number];
    const int components = weft_space_components(b->problem->space);
    const weft_mesh *coarser = level[-1].mesh;
    int64_t n_constrained = 0;
    double lambda = 0;
    int32_t *dof_parents = weft_dof_parents(b->device, level, components);
    int32_t *constrained =
        dof_parents
            ? coarse_constrained(from, dof_parents, coarser->n_nodes * components, &n_constrained)
            : NULL;
    b->constrained[number] = constrained;
    if (!constrained)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    const weft_parents parents = {.parents = level->parents,
                                  .n_fine = level->mesh->n_nodes,
                                  .n_coarse = coarser->n_nodes,
                                  .components = components,
                                  .fine_constrained = from->constrained,
                                  .coarse_constrained = constrained,
                                  .n_fine_constrained = from->n_constrained,
                                  .n_coarse_constrained = n_constrained};
    TRY(weft_csr_eigenvalue(b->device, from->A, from->constrained, from->n_constrained, &lambda,
                            error));
    TRY(weft_galerkin_refined(b->device, from->A, &parents, &b->A[number], error));
    add_source(b, from->A, NULL, dof_parents, lambda);
    dof_parents = NULL;
    *from = (weft_to_coarsen){&b->A[number], coarser, coarser->x, constrained, n_constrained, NULL};
done:
    free(dof_parents);
    return status;
}

/* The levels of the hierarchy on the host. */
static weft_status coarsen_on_host(building *b, int most_levels, weft_to_coarsen *from,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(read_matrix(b, error));
    *from = finest(b);
    if (weft_space_coarsens(b->problem->space))
        TRY(coarsen_degree(b, from, error));
    for (int i = 1; i < most_levels && from->A->n_rows > COARSEST_ROWS; ++i)
        TRY(coarsen_once(b, b->problem->hierarchy, i, from, error));
done:
    return status;
}

/* The levels of the hierarchy on the device, unless the matrix was not made there, or cannot be
 * coarsened there. */
static weft_status coarsen_on_device(building *b, int most_levels, weft_to_coarsen *from,
                                     bool *made, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_levels_options options = {.problem = b->problem,
                                         .hierarchy = b->problem->hierarchy,
                                         .components = weft_space_components(b->problem->space),
                                         .degree = b->degree,
                                         .most_levels = most_levels,
                                         .coarsest_rows = COARSEST_ROWS};
    const weft_levels *levels = &b->on_device;
    TRY(take_levels(b, &options, made, error));
    if (!*made)
        goto done;
    *from = (weft_to_coarsen){.A = &b->on_device.last,
                              .mesh = levels->mesh,
                              .x = levels->mesh->x,
                              .constrained = levels->constrained,
                              .n_constrained = levels->n_constrained};
done:
    return status;
}

static weft_status coarsen_by_hierarchy(building *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_hierarchy *hierarchy = b->problem->hierarchy;
    weft_to_coarsen from = {0};
    bool made = false;
    if (!hierarchy || hierarchy->n_levels < 2 || !b->problem->space)
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "multigrid needs a mesh that was refined, with its levels",
                              "use --refine, or --preconditioner aggregation"));
    const int most = b->problem->levels > 0 && b->problem->levels < hierarchy->n_levels
                         ? b->problem->levels
                         : hierarchy->n_levels;
    if (!weft_space_coarsens(b->problem->space) && !b->problem->is_general && !b->given &&
        !has_ranks(b))
        TRY(coarsen_on_device(b, most, &from, &made, error));
    if (!made)
        TRY(coarsen_on_host(b, most, &from, error));
    /* the levels by aggregation replace an exact solution of the coarsest mesh */
    const int first = b->n_sources;
    b->degree = COARSE_DEGREE;
    TRY(aggregate(b, &from, error));
    b->sources[first].is_twice = true;
done:
    return status;
}

static weft_status multigrid_make(weft_preconditioner *preconditioner, weft_error *error) {
    return make(preconditioner, coarsen_by_hierarchy, error);
}

/* Matrices, lists and transfers of all levels, whose rows sum to those of the finest times 2^d / (2^d - 1),
 * the inverse of the coarsest, and a list of full multigrid. Entries are floats, on a GPU with 16-bit columns, or of one
 * component in half precision, with local numbers; on the host their columns are the pattern's. */
static size_t aggregation_memory(const weft_operator_sizes *sizes, int dimension) {
    const double rows = (double)sizes->n_rows, entries = (double)sizes->n_entries;
    const double children = dimension == 2 ? 4 : 8, coarsest = fmin(rows, COARSEST_ROWS);
    const double finest = sizes->on_gpu ? 6.2 * entries + 82 * rows : 4 * entries + 90 * rows;
    return (size_t)(finest * children / (children - 1) + sizeof(float) * coarsest * coarsest);
}

/* Levels that a GPU makes are counted: on the finest values in half precision with local numbers and halos, or floats,
 * lists and transfers; on the others columns, too. */
static size_t multigrid_memory(const weft_operator_sizes *sizes, int dimension) {
    const double rows = (double)sizes->n_rows, entries = (double)sizes->n_entries;
    const double children = dimension == 2 ? 4 : 8, coarsest = fmin(rows, COARSEST_ROWS);
    const double halo = sizes->n_components > 1 ? 0 : dimension == 2 ? 1 : 4;
    const double values = 4.12 * entries + halo * rows;
    const double finest = values + 60 * rows, coarse = values + 2.06 * entries + 47 * rows;
    if (!sizes->on_gpu)
        return aggregation_memory(sizes, dimension);
    return (size_t)(finest + coarse / (children - 1) + sizeof(float) * coarsest * coarsest);
}

const weft_preconditioner_kind weft_preconditioner_multigrid = {
    .info = {.name = "multigrid",
             .help = "geometric multigrid on the levels of --refine, square:N and cube:N",
             .needs_matrix = true,
             .coarsens = true,
             .needs_levels = true},
    .make = multigrid_make,
    .apply = apply,
    .single = single,
    .lists = lists,
    .cycle = cycle,
    .full = full,
    .start = start,
    .free = multigrid_free,
    .estimate_memory = multigrid_memory,
};

const weft_preconditioner_kind weft_preconditioner_aggregation = {
    .info = {.name = "aggregation",
             .help = "multigrid by smoothed aggregation, for any mesh",
             .needs_matrix = true,
             .coarsens = true,
             .reads_points = true},
    .make = aggregation_make,
    .apply = apply,
    .single = single,
    .lists = lists,
    .cycle = cycle,
    .free = multigrid_free,
    .estimate_memory = aggregation_memory,
};
