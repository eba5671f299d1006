/* Makes a V-cycle from its levels, and runs it. */
#include "fem/precondition/cycle.h"

#include "core/base/fault.h"
#include "core/weft_core.h"
#include "fem/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

weft_status weft_cycle_place(const weft_cycle *cycle, const double *values, int64_t n,
                             weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    float *converted = NULL;
    if (!cycle->single) {
        status = weft_memory_place(cycle->context->device, values, (size_t)n, sizeof *values, out,
                                   error);
        goto done;
    }
    converted = malloc((size_t)n * sizeof *converted + 1);
    if (!converted)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    for (int64_t i = 0; i < n; ++i)
        converted[i] = (float)values[i];
    TRY(weft_memory_place(cycle->context->device, converted, (size_t)n, sizeof *converted, out,
                          error));
done:
    free(converted);
    return status;
}

double *weft_level_diagonal(const weft_csr *A, const weft_preconditioner_problem *problem) {
    double *a = malloc(((size_t)A->n_rows + 1) * sizeof *a);
    for (int64_t i = 0; a && i < A->n_rows; ++i) {
        a[i] = -1;
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            if (A->columns[k] == i && A->values[k] > 0)
                a[i] = A->values[k];
    }
    for (int64_t k = 0; a && problem && k < problem->n_constrained; ++k)
        if (!weft_fault("mask_lost"))
            a[problem->constrained[k]] = -1;
    return a;
}

static weft_status make_lists(const weft_cycle *cycle, int number, const weft_cycle_source *source,
                              const double *a, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cycle_level *level = &cycle->levels[number];
    weft_device *device = cycle->context->device;
    const size_t bytes = (size_t)level->n * (cycle->single ? sizeof(float) : sizeof(double));
    const bool is_coarsest = number + 1 == cycle->n_levels;
    const double inverse = source->lambda > 0 ? 1 / source->lambda : 1;
    TRY(weft_memory_make(device, bytes, &level->b, error));
    TRY(weft_memory_make(device, bytes, &level->z, error));
    if (a)
        TRY(weft_cycle_place(cycle, a, level->n, &level->a, error));
    if (!is_coarsest) {
        TRY(weft_memory_make(device, bytes, &level->x, error));
        TRY(weft_cycle_place(cycle, &inverse, 1, &level->inverse, error));
    }
done:
    return status;
}

/* ---- transfer ---- */

int weft_widest_row(const weft_csr *P) {
    int64_t most = 1;
    for (int64_t i = 0; i < P->n_rows; ++i)
        if (P->row_start[i + 1] - P->row_start[i] > most)
            most = P->row_start[i + 1] - P->row_start[i];
    return (int)most;
}

/* The entries of P by rows of equal length; entries beyond a row's end have weight 0, and rows without
 * entries refer to different columns, of which none gets long lists. */
static weft_status transfer_of_matrix(const weft_cycle *cycle, weft_cycle_level *level,
                                      const weft_csr *P, int *width, weft_error *error) {
    weft_status status = WEFT_OK;
    *width = weft_cycle_is_divided(level) ? level->part->width : weft_widest_row(P);
    double *weights = calloc((size_t)(level->n * *width) + 1, sizeof *weights);
    level->parent_indices = calloc((size_t)(level->n * *width) + 1, sizeof(int32_t));
    if (!weights || !level->parent_indices)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    for (int64_t i = 0; i < level->n; ++i) {
        const int64_t first = P->row_start[i], n = P->row_start[i + 1] - first;
        for (int64_t k = 0; k < *width; ++k) {
            weights[i * *width + k] = k < n ? P->values[first + k] : 0;
            level->parent_indices[i * *width + k] = n > 0 ? P->columns[first + (k < n ? k : 0)]
                                                          : (int32_t)(i * P->n_columns / level->n);
        }
    }
    level->has_dof_weights = true;
    TRY(weft_cycle_place(cycle, weights, level->n * *width, &level->weights, error));
done:
    free(weights);
    return status;
}

static weft_status make_transfer(const weft_cycle *cycle, int number, weft_cycle_source *source,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    static const double halves[2] = {0.5, 0.5};
    weft_cycle_level *level = &cycle->levels[number];
    int width = 2;
    if (source->transfer) {
        level->parents = source->transfer;
        level->weights = source->weights;
        level->has_dof_weights = true;
        source->transfer = NULL;
        source->weights = NULL;
        goto done;
    }
    if (source->parents) {
        level->parent_indices = source->parents;
        source->parents = NULL;
        TRY(weft_cycle_place(cycle, halves, 2, &level->weights, error));
    } else {
        TRY(transfer_of_matrix(cycle, level, source->P, &width, error));
    }
    TRY(weft_connectivity_make(cycle->context->device, level->parent_indices, level->n, width,
                               cycle->levels[number + 1].n, &level->parents, error));
done:
    return status;
}

void weft_cycle_source_clear(weft_cycle_source *source) {
    weft_operator_free(&source->op);
    weft_memory_free(&source->a);
    weft_connectivity_free(&source->transfer);
    weft_memory_free(&source->weights);
    free(source->parents);
    source->parents = NULL;
    weft_level_part_free(&source->part);
}

/* ---- levels ---- */

typedef struct scaling {
    const weft_csr *A;
    const double *a;
    double *out;
} scaling;

enum { SCALED = 1 << 12 };

static void scale_chunk(void *user, int64_t chunk) {
    const scaling *s = user;
    const int64_t n = s->A->n_rows, last = (chunk + 1) * SCALED < n ? (chunk + 1) * SCALED : n;
    for (int64_t i = chunk * SCALED; i < last; ++i)
        for (int64_t k = s->A->row_start[i]; k < s->A->row_start[i + 1]; ++k)
            s->out[k] = s->a[i] > 0 ? s->A->values[k] / s->a[i] : 0;
}

/* The operator D^-1 A of a level, with the arrays of its matrix or the borrowed pattern of that. */
static weft_status make_operator(const weft_cycle *cycle, weft_cycle_level *level,
                                 const weft_cycle_source *source, const double *a,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr *A = source->A;
    const int64_t n_entries = A->row_start[A->n_rows];
    const weft_level_part *part = level->part;
    const bool is_large = part && !weft_operator_uses_csr_vector(part->n_whole, part->n_entries);
    const unsigned how = (cycle->single ? WEFT_MATRIX_SINGLE : 0) |
                         (source->takes ? 0 : WEFT_MATRIX_BORROWED) |
                         (is_large ? WEFT_MATRIX_LARGE : 0);
    double *own = source->takes ? NULL : weft_array_make_unset((size_t)n_entries * sizeof *own);
    scaling s = {A, a, source->takes ? A->values : own};
    weft_pattern *pattern = calloc(1, sizeof *pattern);
    if (!pattern || !s.out)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(weft_device_for(cycle->context->device, (A->n_rows + SCALED - 1) / SCALED, scale_chunk, &s,
                        error));
    *pattern = (weft_pattern){A->n_rows, n_entries, A->row_start, A->columns};
    status = weft_operator_from_matrix(cycle->context, &pattern, s.out, how, &level->op, error);
    if (status == WEFT_OK && weft_cycle_is_divided(level) && !weft_fault("product_stale"))
        weft_operator_distribute(level->op, level->part->product);
    if (source->takes) {
        free(A->values);
        *A = (weft_csr){0};
    }
done:
    free(pattern);
    free(own);
    return status;
}

/* Does the transfer lead to a constrained dof from a free one? */
static bool leads_to_constrained(const weft_cycle_source *source, const double *a,
                                 const double *coarse) {
    const int64_t n = source->A->n_rows;
    for (int64_t i = 0; i < n; ++i)
        if (a[i] <= 0 && source->parents) {
            if (coarse[source->parents[2 * i]] > 0 || coarse[source->parents[2 * i + 1]] > 0)
                return true;
        } else if (a[i] <= 0 && source->P->row_start[i] < source->P->row_start[i + 1]) {
            return true;
        }
    return false;
}

/* A level whose matrix was made on the device; never the coarsest. */
static weft_status take_level(weft_cycle *cycle, int number, weft_cycle_source *source,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cycle_level *level = &cycle->levels[number];
    level->op = source->op;
    level->a = source->a;
    level->is_masked = source->is_masked;
    source->op = NULL;
    source->a = NULL;
    TRY(make_lists(cycle, number, source, NULL, error));
    TRY(make_transfer(cycle, number, source, error));
done:
    return status;
}

/* Make a level; *a is the diagonal of the next coarser one and becomes that of this one, or NULL if it was made on the
 * device. */
static weft_status make_level(weft_cycle *cycle, int number, weft_cycle_source *source,
                              const weft_preconditioner_problem *problem, double **a,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cycle_level *level = &cycle->levels[number];
    const bool is_coarsest = number + 1 == cycle->n_levels;
    double *coarse = *a;
    *a = NULL;
    if (!source->A) {
        TRY(take_level(cycle, number, source, error));
        goto done;
    }
    if (weft_cycle_is_divided(level)) {
        *a = level->part->a;
        level->part->a = NULL;
    } else {
        *a = weft_level_diagonal(source->A, number == 0 ? problem : NULL);
    }
    if (!*a)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(make_lists(cycle, number, source, *a, error));
    if (is_coarsest) {
        TRY(weft_cycle_coarsest(cycle, source->A, *a, problem->project_mean, error));
    } else {
        level->is_masked = weft_cycle_is_divided(level) || leads_to_constrained(source, *a, coarse);
        TRY(make_operator(cycle, level, source, *a, error));
        TRY(make_transfer(cycle, number, source, error));
    }
done:
    free(coarse);
    return status;
}

/* Run the cycle once, so that later runs allocate nothing. */
static weft_status warm_up(weft_cycle *cycle, int full_cycles, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes =
        (size_t)(cycle->outer.share ? cycle->outer.n : cycle->levels[0].n) * sizeof(double);
    weft_memory *r = NULL, *z = NULL;
    TRY(weft_memory_make(cycle->context->device, bytes, &r, error));
    TRY(weft_memory_make(cycle->context->device, bytes, &z, error));
    TRY(weft_memory_zero(r, error));
    TRY(weft_cycle_run(cycle, r, z, NULL, NULL, error));
    if (full_cycles > 0) {
        weft_full_report report;
        TRY(weft_cycle_run_full(cycle, full_cycles, r, z, &report, error));
    }
done:
    weft_memory_free(&r);
    weft_memory_free(&z);
    return status;
}

/* Are entries of the diagonal of the finest matrix far from the ends of the range of floats? */
static bool fits_floats(const weft_csr *A) {
    static const double LEAST = 1e-25, MOST = 1e25;
    for (int64_t i = 0; A && i < A->n_rows; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            if (A->columns[k] == i && A->values[k] != 0 &&
                (A->values[k] < LEAST || A->values[k] > MOST))
                return false;
    return true;
}

/* The lists of a caller on one of several ranks. */
static weft_status make_outer(weft_cycle *cycle, const weft_whole *whole, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_rank_rows *rows = &whole->rows;
    weft_cycle_outer *outer = &cycle->outer;
    const size_t bytes = (size_t)cycle->levels[0].n * sizeof(double);
    *outer = (weft_cycle_outer){.n = rows->n,
                                .n_own = rows->n_own,
                                .own = malloc((size_t)rows->n_own * sizeof *outer->own + 1),
                                .share = weft_layout_share(whole->layout)};
    if (!outer->own)
        TRY(weft_out_of_memory(error, "the levels of multigrid"));
    memcpy(outer->own, rows->own, (size_t)rows->n_own * sizeof *outer->own);
    TRY(weft_memory_make(cycle->context->device, bytes, &outer->r, error));
    TRY(weft_memory_make(cycle->context->device, bytes, &outer->z, error));
    TRY(weft_memory_zero(outer->r, error));
done:
    return status;
}

/* GPUs apply matrices of floats in scripts alone, which host and GPU together do not. */
static bool is_single(const weft_context *context, const weft_csr *finest,
                      const weft_preconditioner_problem *problem) {
    return !weft_comm_is_mixed(context->comm) &&
           (weft_context_is_on_gpu(context) || (!problem->double_levels && fits_floats(finest)));
}

weft_status weft_cycle_make(weft_context *context, weft_cycle_source *sources, int n_levels,
                            const weft_preconditioner_problem *problem, const weft_whole *whole,
                            weft_cycle *out, weft_error *error) {
    weft_status status = WEFT_OK;
    double *a = NULL;
    *out = (weft_cycle){.context = context,
                        .single = is_single(context, sources[0].A, problem),
                        .n_levels = n_levels,
                        .is_predicated = weft_device_captures(context->device),
                        .levels = calloc((size_t)n_levels, sizeof *out->levels)};
    if (!out->levels)
        TRY(weft_out_of_memory(error, "the levels of multigrid"));
    if (whole)
        TRY(weft_levels_divide(context->device, whole, sources, n_levels, error));
    for (int i = 0; i < n_levels; ++i) {
        out->levels[i].part = sources[i].part;
        sources[i].part = NULL;
        out->levels[i].n = sources[i].A ? sources[i].A->n_rows : weft_operator_dofs(sources[i].op);
        out->levels[i].degree = sources[i].degree;
        out->levels[i].is_twice = i > 0 && sources[i].is_twice;
    }
    if (whole)
        TRY(make_outer(out, whole, error));
    TRY(weft_shared_buffers_make(&out->buffers, error));
    for (int i = n_levels; i-- > 0;)
        TRY(make_level(out, i, &sources[i], problem, &a, error));
    if (problem->full_cycles > 0)
        TRY(weft_cycle_compile_full_in_background(out, error));
    TRY(weft_cycle_programs(out, error));
    TRY(weft_cycle_conversion(out, error));
    TRY(warm_up(out, problem->full_cycles, error));
done:
    free(a);
    return status;
}

void weft_cycle_clear(weft_cycle *cycle) {
    weft_cycle_full_free(&cycle->full);
    for (int i = 0; cycle->levels && i < cycle->n_levels; ++i) {
        weft_cycle_level *level = &cycle->levels[i];
        for (int step = 0; step < WEFT_CYCLE_STEPS; ++step) {
            weft_compiled_free(&level->programs[step]);
            weft_operator_in_script_free(&level->operators[step]);
        }
        weft_connectivity_free(&level->parents);
        free(level->parent_indices);
        weft_operator_free(&level->op);
        weft_level_part_free(&level->part);
        weft_memory **memories[] = {&level->a, &level->inverse, &level->b,
                                    &level->x, &level->z,       &level->weights};
        for (size_t k = 0; k < sizeof memories / sizeof *memories; ++k)
            weft_memory_free(memories[k]);
    }
    weft_cycle_coarsest_free(cycle);
    weft_compiled_free(&cycle->size);
    weft_compiled_free(&cycle->divide);
    weft_shared_buffers_free(&cycle->buffers);
    weft_memory_free(&cycle->square);
    free(cycle->outer.own);
    weft_memory_free(&cycle->outer.r);
    weft_memory_free(&cycle->outer.z);
    weft_lists_free(&cycle->lists);
    free(cycle->levels);
    *cycle = (weft_cycle){0};
}

/* ---- the cycle ---- */

weft_status weft_cycle_update(const weft_cycle *cycle, weft_layout *layout, weft_memory *list,
                              weft_memory *active, weft_error *error) {
    if (!layout)
        return WEFT_OK;
    return weft_layout_exchange(layout, list, cycle->single, active, error);
}

/* Down, the coarser levels, and up; on several ranks these get what they need of each other's coarser rows. */
static weft_status run_once(weft_cycle *cycle, int number, weft_cycle_step down,
                            weft_memory *active, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cycle_level *level = &cycle->levels[number];
    const weft_cycle_level *coarser = level + 1;
    const weft_level_part *part = coarser->part;
    TRY(weft_compiled_run(cycle->context, &level->programs[down], active, error));
    if (!weft_fault("side_incomplete"))
        TRY(weft_cycle_update(cycle, part ? part->all : NULL, coarser->b, active, error));
    TRY(weft_cycle_run_from(cycle, number + 1, active, error));
    if (!weft_fault("solution_stale"))
        TRY(weft_cycle_update(cycle, part ? part->solution : NULL, coarser->z, active, error));
    TRY(weft_compiled_run(cycle->context, &level->programs[WEFT_CYCLE_UP], active, error));
done:
    return status;
}

weft_status weft_cycle_run_from(weft_cycle *cycle, int number, weft_memory *active,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const bool is_coarsest = number + 1 == cycle->n_levels;
    if (is_coarsest)
        TRY(weft_cycle_coarsest_run(cycle, error));
    for (int i = 0; !is_coarsest && i < 1 + cycle->levels[number].is_twice; ++i)
        TRY(run_once(cycle, number, i == 0 ? WEFT_CYCLE_DOWN : WEFT_CYCLE_AGAIN, active, error));
done:
    return status;
}

static bool follow_each_other(int64_t n, const int32_t *list) {
    return n == 0 || list[n - 1] - list[0] == n - 1;
}

/* Own rows from one list to another. Scattered ones are on the host. */
static weft_status copy_own(int64_t n, const int32_t *from, weft_memory *source, const int32_t *to,
                            weft_memory *target, weft_error *error) {
    const double *given = weft_memory_host(source);
    double *out = weft_memory_host(target);
    if (follow_each_other(n, from) && follow_each_other(n, to))
        return n == 0 ? WEFT_OK
                      : weft_memory_copy_part(target, (size_t)to[0] * sizeof(double), source,
                                              (size_t)from[0] * sizeof(double),
                                              (size_t)n * sizeof(double), error);
    if (!given || !out)
        return weft_error_refuse(
            error, WEFT_ERROR_UNSUPPORTED,
            "multigrid of discontinuous elements on GPUs of ranks needs cells in "
            "the order of nodes",
            "use --preconditioner jacobi");
    for (int64_t k = 0; k < n; ++k)
        out[to[k]] = given[from[k]];
    return WEFT_OK;
}

weft_status weft_cycle_take_in(weft_cycle *cycle, weft_memory *r, weft_memory *active,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cycle_outer *outer = &cycle->outer;
    const weft_level_part *part = cycle->levels[0].part;
    TRY(copy_own(outer->n_own, outer->own, r, part->own, outer->r, error));
    if (part->all)
        TRY(weft_layout_exchange(part->all, outer->r, false, active, error));
done:
    return status;
}

weft_status weft_cycle_put_out(weft_cycle *cycle, weft_memory *z, weft_error *error) {
    const weft_cycle_outer *outer = &cycle->outer;
    return copy_own(outer->n_own, cycle->levels[0].part->own, outer->z, outer->own, z, error);
}

weft_status weft_cycle_run(weft_cycle *cycle, weft_memory *r, weft_memory *z, weft_memory *square,
                           weft_memory *active, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cycle_outer *outer = &cycle->outer;
    weft_memory *from = outer->share ? outer->r : r, *to = outer->share ? outer->z : z;
    if (cycle->single && !square) {
        TRY(weft_cycle_size(cycle, r, active, error));
        square = cycle->square;
    }
    if (outer->share)
        TRY(weft_cycle_take_in(cycle, r, active, error));
    TRY(weft_cycle_convert_in(cycle, from, square, error));
    TRY(weft_cycle_run_from(cycle, 0, active, error));
    if (z != cycle->levels[0].z)
        TRY(weft_cycle_convert_out(cycle, cycle->levels[0].z, square, to, error));
    if (outer->share)
        TRY(weft_cycle_put_out(cycle, z, error));
done:
    return status;
}
