/* Makes a hierarchy of levels by smoothed aggregation.
 *
 * Decision  docs/decisions/0040-smoothed-aggregation.md */
#include "fem/multigrid/private.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_LEVELS = 20, COARSEST_ROWS = 2000, ROW_AGGREGATES = 4, CHUNKS = 256 };
/* Bounds of strong couplings on the finest level; each next level has half of it. What is lumped with
 * several modes changes the product with rotations, so that little may be. */
#define THETA 0.02
#define THETA_OF_MODES 0.005
#define SINGULAR 1e-13 /* a smaller part of a diagonal is rounding error */
#define LEAST_REDUCTION 0.9

void weft_algebraic_levels_free(weft_algebraic_level **levels, int n_levels) {
    if (!levels || !*levels)
        return;
    for (int i = 0; i < n_levels; ++i) {
        if (i > 0)
            weft_csr_clear(&(*levels)[i].A);
        weft_csr_clear(&(*levels)[i].P);
    }
    free(*levels);
    *levels = NULL;
}

static void coarsening_clear(weft_coarsening *level) {
    free(level->scale);
    free(level->node_start);
    free(level->node_of);
    free(level->own_x);
    free(level->modes);
    *level = (weft_coarsening){0};
}

/* ---- the finest level ------------------------------------------------------------------------ */

static weft_status options_check(const weft_csr *A, const weft_aggregation_options *options,
                                 weft_error *error) {
    int d = options->dimension, components = options->components ? options->components : 1;
    if (components < 1 || A->n_rows % components)
        return weft_error_set(error, WEFT_ERROR_SHAPE, "%lld rows of %d components per node",
                              (long long)A->n_rows, components);
    if (options->node_start &&
        (!options->near_nullspace || options->n_nodes < 1 ||
         options->node_start[options->n_nodes] != A->n_rows || components != 1))
        return weft_error_set(
            error, WEFT_ERROR_USAGE,
            "rows of nodes need a near-nullspace, and as many rows as the matrix");
    if (options->x && (d < 1 || d > 3))
        return weft_error_set(error, WEFT_ERROR_USAGE, "coordinates in %d dimensions", d);
    if (options->rigid_body_modes && (!options->x || components != d))
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "rigid body modes need coordinates, and as many components per node");
    if (components > WEFT_MOST_MODES ||
        (options->near_nullspace && options->n_near_nullspace < 1) ||
        options->n_near_nullspace > WEFT_MOST_MODES)
        return weft_error_set(
            error, WEFT_ERROR_USAGE, "%d vectors of the near-nullspace, which has 1 to %d",
            options->near_nullspace ? options->n_near_nullspace : components, WEFT_MOST_MODES);
    if (options->aggregate_nodes != 0 && !(options->aggregate_nodes >= 2))
        return weft_error_set(error, WEFT_ERROR_USAGE, "aggregates of %g nodes",
                              options->aggregate_nodes);
    if (options->most_levels < 0 || options->coarsest_rows < 0 || options->row_aggregates < 0)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "a limit of levels, rows or aggregates is negative");
    return WEFT_OK;
}

/* Nodes with several rows. */
static weft_status nodes_make(const weft_aggregation_options *options, int64_t n_rows,
                              weft_coarsening *level, weft_error *error) {
    const int components = options->components ? options->components : 1;
    level->n_nodes = options->node_start ? options->n_nodes : n_rows / components;
    if (components == 1 && !options->node_start)
        return WEFT_OK;
    level->node_start = malloc((size_t)(level->n_nodes + 1) * sizeof *level->node_start);
    level->node_of = malloc((size_t)(n_rows + 1) * sizeof *level->node_of);
    if (!level->node_start || !level->node_of)
        return weft_out_of_memory(error, "the nodes of a matrix");
    for (int64_t node = 0; node <= level->n_nodes; ++node)
        level->node_start[node] =
            options->node_start ? options->node_start[node] : (int32_t)(node * components);
    for (int64_t node = 0; node < level->n_nodes; ++node)
        for (int32_t i = level->node_start[node]; i < level->node_start[node + 1]; ++i)
            level->node_of[i] = (int32_t)node;
    return WEFT_OK;
}

double weft_aggregation_theta(int n_modes, int level) {
    return ldexp(n_modes == 1 ? THETA : THETA_OF_MODES, -level);
}

/* More rigid body modes than components make coarse levels dense in 3D. */
double weft_aggregation_nodes(int dimension, bool rigid_body_modes) {
    if (dimension == 1)
        return 3;
    return dimension == 2 ? 9 : rigid_body_modes ? 20 : 16;
}

bool weft_aggregation_reduces(int64_t n_coarse, int64_t n_rows) {
    return n_coarse > 0 && (double)n_coarse <= LEAST_REDUCTION * (double)n_rows;
}

static weft_status finest_make(const weft_csr *A, const weft_aggregation_options *options,
                               weft_coarsening *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = options->dimension;
    TRY(weft_free_rows(A, options->constrained, options->n_constrained, &out->scale, error));
    out->aggregate_nodes = options->aggregate_nodes != 0
                               ? options->aggregate_nodes
                               : weft_aggregation_nodes(d, options->rigid_body_modes);
    out->row_aggregates = options->row_aggregates ? options->row_aggregates : ROW_AGGREGATES;
    TRY(nodes_make(options, A->n_rows, out, error));
    TRY(weft_modes_make(out->device, options, A->n_rows, out->scale, &out->modes, &out->n_modes,
                        error));
    if (options->x) {
        out->dimension = d;
        out->x = options->x;
    }
done:
    return status;
}

/* ---- one level after another ----------------------------------------------------------------- */

static weft_status aggregates_make(const weft_coarsening *level, const weft_node_graph *graph,
                                   weft_node_sets *out, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!level->x) {
        status = weft_nodes_gather(level, graph, out, error);
        goto done;
    }
    TRY(weft_nodes_bisect(level, graph, out, error));
    TRY(weft_nodes_connect(level, graph, out, error));
done:
    return status;
}

typedef struct repair {
    const weft_coarsening *level;
    const weft_csr *R;
    weft_csr *A;
} repair;

/* A part of the mesh that nothing fixes ends as a coarse dof whose row is rounding error. Its
 * diagonal becomes sum_i p_i^2 a_ii, so that smoothers divide by a number of the right size. */
static void chunk_repair(void *user, int64_t chunk) {
    const repair *r = user;
    const double *scale = r->level->scale;
    int64_t last = weft_chunk_start(r->A->n_rows, chunk + 1, CHUNKS);
    for (int64_t i = weft_chunk_start(r->A->n_rows, chunk, CHUNKS); i < last; ++i) {
        double sum = 0;
        for (int64_t k = r->R->row_start[i]; k < r->R->row_start[i + 1]; ++k) {
            double p = r->R->values[k] / scale[r->R->columns[k]];
            sum += p * p;
        }
        for (int64_t k = r->A->row_start[i]; k < r->A->row_start[i + 1]; ++k)
            if (r->A->columns[k] == i && r->A->values[k] <= SINGULAR * sum)
                r->A->values[k] = sum;
    }
}

static weft_status coarse_matrix_make(const weft_coarsening *level, const weft_csr *P, weft_csr *A,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr R = {0};
    repair work = {level, &R, A};
    TRY(weft_csr_transpose(level->device, P, &R, error));
    TRY(weft_galerkin_with(level->device, level->A, P, &R, A, error));
    TRY(weft_device_for(level->device, CHUNKS, chunk_repair, &work, error));
done:
    weft_csr_clear(&R);
    return status;
}

/* Make P and the matrix of the next level. Without reduction, coarse->n_nodes remains 0. */
static weft_status coarsen(weft_coarsening *level, weft_csr *P, weft_csr *A,
                           weft_coarsening *coarse, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_node_graph graph = {0};
    weft_node_sets aggregates = {0};
    int64_t n_rows = 0;
    TRY(weft_node_graph_make(level, &graph, error));
    TRY(aggregates_make(level, &graph, &aggregates, error));
    TRY(weft_tentative_make(level, &aggregates, coarse, &n_rows, error));
    if (!weft_aggregation_reduces(n_rows, level->A->n_rows)) {
        coarsening_clear(coarse);
        goto done;
    }
    TRY(weft_prolongation_make(level, &graph, &aggregates, coarse, n_rows, P, error));
    TRY(coarse_matrix_make(level, P, A, error));
    coarse->scale = malloc((size_t)n_rows * sizeof *coarse->scale);
    if (!coarse->scale)
        TRY(weft_out_of_memory(error, "the diagonal of a matrix"));
    for (int64_t i = 0; i < n_rows; ++i)
        coarse->scale[i] = 1;
    coarse->device = level->device;
    coarse->aggregate_nodes = level->aggregate_nodes;
    coarse->row_aggregates = level->row_aggregates;
    coarse->theta = level->theta / 2;
done:
    weft_node_graph_clear(&graph);
    weft_node_sets_clear(&aggregates);
    return status;
}

static void report(const weft_monitor *monitor, const weft_algebraic_level *levels, int n,
                   int n_finer) {
    double entries = 0, finest = (double)levels[0].A.row_start[levels[0].A.n_rows];
    for (int l = 0; l < n; ++l) {
        const weft_csr *A = &levels[l].A, *P = &levels[l].P;
        int64_t widest = 0;
        for (int64_t i = 0; i < P->n_rows; ++i) {
            int64_t width = P->row_start[i + 1] - P->row_start[i];
            widest = width > widest ? width : widest;
        }
        entries += (double)A->row_start[A->n_rows];
        weft_log(monitor, WEFT_LOG_INFO,
                 "level %d: %lld rows, %lld entries, lambda %.3g, widest row of P %lld",
                 n_finer + l, (long long)A->n_rows, (long long)A->row_start[A->n_rows],
                 levels[l].lambda, (long long)widest);
    }
    if (n_finer == 0)
        weft_log(monitor, WEFT_LOG_INFO, "operator complexity %.3g",
                 finest > 0 ? entries / finest : 1);
}

weft_status weft_aggregation_make(weft_device *device, const weft_csr *A,
                                  const weft_aggregation_options *options,
                                  const weft_monitor *monitor, weft_algebraic_level **levels,
                                  int *n_levels, weft_error *error) {
    weft_status status = WEFT_OK;
    const int most = options->most_levels ? options->most_levels : MOST_LEVELS;
    const int64_t few = options->coarsest_rows ? options->coarsest_rows : COARSEST_ROWS;
    weft_coarsening level = {.device = device}, coarse = {0};
    weft_algebraic_level *made = NULL;
    int n = 0;
    TRY(options_check(A, options, error));
    made = calloc((size_t)most, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "levels"));
    made[0].A = *A;
    TRY(finest_make(A, options, &level, error));
    level.theta = weft_aggregation_theta(level.n_modes, options->n_finer);
    for (;;) {
        level.A = &made[n].A;
        TRY(weft_csr_scale(device, level.A, level.scale, &made[n].lambda, error));
        level.lambda = made[n].lambda;
        if (++n == most || level.A->n_rows <= few || level.lambda == 0)
            break;
        TRY(coarsen(&level, &made[n - 1].P, &made[n].A, &coarse, error));
        if (coarse.n_nodes == 0)
            break;
        coarsening_clear(&level);
        level = coarse;
        coarse = (weft_coarsening){0};
    }
    report(monitor, made, n, options->n_finer);
    *levels = made;
    *n_levels = n;
    made = NULL;
done:
    coarsening_clear(&level);
    coarsening_clear(&coarse);
    weft_algebraic_levels_free(&made, most);
    return status;
}
