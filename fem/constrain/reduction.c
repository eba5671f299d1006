/* The constrained problem C^T A C v = C^T (b - A g): C and g on the device, for repeated solves.
 *
 * Decision  docs/decisions/0032-constraints-are-sparse-maps.md */
#include "fem/base/memory.h"
#include "fem/constrain/private.h"
#include "fem/form/vectors.h"
#include "fem/operator/operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct weft_reduction {
    weft_constraints *constraints;
    weft_csr map; /* C */
    weft_operator *expand, *restrict_;
    weft_vector_programs vectors;
    weft_memory *g, *kept;         /* kept: 0 at dependent dofs, elsewhere 1 */
    weft_memory *load, *v;         /* of the reduced system */
    weft_memory *work, *x0, *rest; /* x0 = x - C v, rest = b - A x0 */
    double *g_values;
    bool has_constant; /* g is not always 0 */
    int32_t *constrained;
    int64_t n_constrained;
    constraint_product *product;
    weft_operator *whole, *op; /* A, borrowed; C^T A C */
    double *fetched, *values;  /* of A and C^T A C, where the device's are not the host's */
};

void weft_reduction_free(weft_reduction **out) {
    weft_reduction *reduction = out ? *out : NULL;
    if (!reduction)
        return;
    weft_operator_free(&reduction->op);
    constraint_product_free(&reduction->product);
    weft_operator_free(&reduction->expand);
    weft_operator_free(&reduction->restrict_);
    weft_csr_clear(&reduction->map);
    weft_vectors_clear(&reduction->vectors);
    weft_memory_free(&reduction->g);
    weft_memory_free(&reduction->kept);
    weft_memory_free(&reduction->load);
    weft_memory_free(&reduction->v);
    weft_memory_free(&reduction->work);
    weft_memory_free(&reduction->x0);
    weft_memory_free(&reduction->rest);
    free(reduction->fetched);
    free(reduction->values);
    free(reduction->g_values);
    free(reduction->constrained);
    free(reduction);
    *out = NULL;
}

weft_operator *weft_reduction_operator(const weft_reduction *reduction) {
    return reduction->op;
}

/* ---- C --------------------------------------------------------------------------------------- */

/* C: the identity, with the rows of dependent dofs, as a matrix; with `diagonal`, these have a 0 on it. */
static weft_status make_map(const weft_constraints *constraints, bool diagonal, weft_csr *out,
                            weft_error *error) {
    const int64_t n = constraints->n_dofs;
    int64_t n_entries = n, k = 0;
    for (int i = 0; i < constraints->n_rows; ++i)
        n_entries += constraints->rows[i].n;
    *out = (weft_csr){.n_rows = n, .n_columns = n};
    out->row_start = weft_array_make_unset((uint64_t)(n + 1) * sizeof *out->row_start);
    out->columns = weft_array_make_unset((uint64_t)n_entries * sizeof *out->columns);
    out->values = weft_array_make_unset((uint64_t)n_entries * sizeof *out->values);
    if (!out->row_start || !out->columns || !out->values)
        return weft_out_of_memory(error, "constraints");
    for (int64_t i = 0; i < n; ++i) {
        const constraint_row *row =
            constraints->row_of[i] >= 0 ? &constraints->rows[constraints->row_of[i]] : NULL;
        bool placed = row && !diagonal;
        out->row_start[i] = k;
        for (int e = 0; e <= (row ? row->n : 0); ++e) { /* ascending, as they were merged */
            const int32_t column = row && e < row->n ? row->dofs[e] : INT32_MAX;
            if (!placed && column > i) {
                out->columns[k] = (int32_t)i;
                out->values[k++] = row ? 0 : 1;
                placed = true;
            }
            if (column < n) {
                out->columns[k] = column;
                out->values[k++] = row->factors[e];
            }
        }
    }
    out->row_start[n] = k;
    return WEFT_OK;
}

/* An operator of a matrix, whose arrays it takes over. */
static weft_status make_operator(weft_context *context, weft_csr *matrix, weft_operator **out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_pattern *pattern = calloc(1, sizeof *pattern);
    if (!pattern)
        TRY(weft_out_of_memory(error, "constraints"));
    *pattern = (weft_pattern){matrix->n_rows, matrix->row_start[matrix->n_rows], matrix->row_start,
                              matrix->columns};
    matrix->row_start = NULL;
    matrix->columns = NULL;
    TRY(weft_operator_from_matrix(context, &pattern, matrix->values, 0, out, error));
done:
    return status;
}

static weft_status make_maps(weft_reduction *reduction, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_constraints *constraints = reduction->constraints;
    weft_csr map = {0}, transpose = {0};
    TRY(make_map(constraints, false, &reduction->map, error));
    TRY(make_map(constraints, true, &map, error));
    TRY(weft_csr_transpose(constraints->context->device, &map, &transpose, error));
    TRY(make_operator(constraints->context, &map, &reduction->expand, error));
    TRY(make_operator(constraints->context, &transpose, &reduction->restrict_, error));
    weft_operator_distribute(reduction->expand, constraints->layout);
    weft_operator_distribute(reduction->restrict_, constraints->layout);
done:
    weft_csr_clear(&map);
    weft_csr_clear(&transpose);
    return status;
}

static weft_status make_vectors(weft_reduction *reduction, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_constraints *constraints = reduction->constraints;
    const int64_t n = constraints->n_dofs;
    weft_device *device = constraints->context->device;
    double *kept = weft_array_make((size_t)n, sizeof *kept);
    reduction->g_values = weft_array_make((size_t)n, sizeof *reduction->g_values);
    reduction->constrained = weft_array_make((size_t)n, sizeof *reduction->constrained);
    if (!kept || !reduction->g_values || !reduction->constrained)
        TRY(weft_out_of_memory(error, "constraints"));
    reduction->has_constant = constraints->has_constant || constraints->values.n_values > 0;
    for (int i = 0; i < constraints->n_rows; ++i) {
        reduction->g_values[constraints->rows[i].dof] = constraints->rows[i].constant;
        reduction->has_constant |= constraints->rows[i].constant != 0;
    }
    for (int64_t i = 0; i < n; ++i) {
        kept[i] = constraints->row_of[i] < 0;
        if (constraints->row_of[i] != -1)
            reduction->constrained[reduction->n_constrained++] = (int32_t)i;
    }
    TRY(weft_memory_place(device, kept, (size_t)n, sizeof *kept, &reduction->kept, error));
    TRY(weft_memory_place(device, reduction->g_values, (size_t)n, sizeof(double), &reduction->g,
                          error));
    weft_memory **const vectors[] = {&reduction->load, &reduction->v, &reduction->work,
                                     &reduction->x0, &reduction->rest};
    for (int i = 0; i < (reduction->has_constant ? 5 : 3); ++i)
        TRY(weft_memory_make(device, (size_t)n * sizeof(double), vectors[i], error));
done:
    free(kept);
    return status;
}

weft_status weft_reduction_make(weft_constraints *constraints, weft_reduction **out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_reduction *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "constraints"));
    made->constraints = constraints;
    made->vectors = (weft_vector_programs){.context = constraints->context,
                                           .n = constraints->n_dofs,
                                           .share = weft_layout_share(constraints->layout)};
    TRY(constraints_resolve(constraints, error));
    TRY(make_maps(made, error));
    TRY(make_vectors(made, error));
    *out = made;
    made = NULL;
done:
    weft_reduction_free(&made);
    return status;
}

/* ---- C^T A C --------------------------------------------------------------------------------- */

/* The present values of the matrix, on the host. */
static weft_status fetch_values(weft_reduction *reduction, weft_operator *op, const double **out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *values = NULL;
    TRY(weft_operator_matrix(op, &values, error));
    const size_t bytes = (size_t)weft_operator_pattern(op)->n_entries * sizeof(double);
    *out = weft_memory_host(values);
    if (*out)
        goto done;
    if (!reduction->fetched)
        reduction->fetched = weft_array_make_unset(bytes);
    if (!reduction->fetched)
        TRY(weft_out_of_memory(error, "constraints"));
    TRY(weft_memory_read(values, 0, reduction->fetched, bytes, error));
    *out = reduction->fetched;
done:
    return status;
}

/* The operator C^T A C, for a pattern of A that is new. */
static weft_status make_reduced(weft_reduction *reduction, weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_constraints *constraints = reduction->constraints;
    weft_pattern *pattern = NULL;
    weft_operator_free(&reduction->op);
    constraint_product_free(&reduction->product);
    free(reduction->values);
    free(reduction->fetched);
    reduction->fetched = reduction->values = NULL;
    TRY(constraint_product_make(constraints, weft_operator_pattern(op), &reduction->map,
                                &reduction->product, error));
    TRY(constraint_product_pattern(reduction->product, &pattern, error));
    reduction->values = weft_array_make((size_t)pattern->n_entries, sizeof *reduction->values);
    if (!reduction->values)
        TRY(weft_out_of_memory(error, "constraints"));
    TRY(weft_operator_from_matrix(constraints->context, &pattern, reduction->values,
                                  WEFT_MATRIX_CHANGES, &reduction->op, error));
    weft_operator_distribute(reduction->op, constraints->layout);
    reduction->whole = op;
done:
    weft_pattern_free(&pattern);
    return status;
}

weft_status weft_reduction_update(weft_reduction *reduction, weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = reduction->constraints->context->device;
    const double *values = NULL;
    if (reduction->whole != op)
        TRY(make_reduced(reduction, op, error));
    TRY(fetch_values(reduction, op, &values, error));
    weft_memory *kept = weft_operator_values(reduction->op);
    double *in_place = kept ? weft_memory_host(kept) : NULL;
    TRY(constraint_product_values(reduction->product, device, values,
                                  in_place ? in_place : reduction->values, error));
    if (!in_place)
        TRY(weft_operator_set_matrix(reduction->op, reduction->values, error));
done:
    return status;
}

/* ---- prescribed values ----------------------------------------------------------------------- */

/* Values of some dofs. */
static weft_status read_dofs(const constraint_row *row, int64_t n_dofs, weft_memory *u, double *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    for (int k = 0; k < row->n; ++k)
        if (row->dofs[k] < n_dofs)
            TRY(weft_memory_read(u, (size_t)row->dofs[k] * sizeof *out, &out[k], sizeof *out,
                                 error));
done:
    return status;
}

/* What an equation between prescribed values sums to, and the size of its terms. */
static weft_status sum_check(const weft_constraints *constraints, const constraint_row *row,
                             double factor, weft_memory *u, double *sum, double *size,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    double *at = weft_array_make((size_t)row->n, sizeof *at);
    if (!at)
        TRY(weft_out_of_memory(error, "constraints"));
    *sum = factor * row->constant;
    *size = fabs(*sum);
    TRY(read_dofs(row, constraints->n_dofs, u, at, error));
    for (int k = 0; k < row->n; ++k) {
        const bool is_value = row->dofs[k] >= constraints->n_dofs;
        const double value =
            is_value ? constraints->values.values[row->dofs[k] - constraints->n_dofs].now : at[k];
        *sum += row->factors[k] * value;
        *size += fabs(row->factors[k] * value);
    }
done:
    free(at);
    return status;
}

static weft_status refuse_check(const weft_constraints *constraints, const constraint_row *row,
                                double apart, weft_error *error) {
    weft_status status = WEFT_OK;
    double t = 0;
    int32_t dof = 0;
    for (int k = 0; k < row->n; ++k)
        dof = row->dofs[k] < constraints->n_dofs ? row->dofs[k] : dof;
    TRY(weft_memory_read(weft_bc_time(constraints->bc), 0, &t, sizeof t, error));
    TRY(constraints_refuse(constraints, dof, apart, t, row->origin, error));
done:
    return status;
}

/* Equations between prescribed values hold. */
static weft_status check_values(const weft_reduction *reduction, double factor, weft_memory *u,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_constraints *constraints = reduction->constraints;
    const int n = constraints->n_checks;
    double *sums = weft_array_make(2 * (size_t)n, sizeof *sums), *sizes = sums + n, largest = 0;
    if (!sums)
        TRY(weft_out_of_memory(error, "constraints"));
    for (int i = 0; i < n; ++i) {
        TRY(sum_check(constraints, &constraints->checks[i], factor, u, &sums[i], &sizes[i], error));
        largest = fmax(largest, sizes[i]);
    }
    if (constraints->has_checks)
        TRY(weft_comm_maximum(weft_layout_comm(constraints->layout), &largest, error));
    for (int i = 0; i < n; ++i)
        if (!(fabs(sums[i]) <=
              CONSTRAINT_ROUNDING * sizes[i] + CONSTRAINT_ROUNDING_OF_LARGEST * largest))
            TRY(refuse_check(constraints, &constraints->checks[i], fabs(sums[i]), error));
done:
    free(sums);
    return status;
}

/* g at the time of the conditions */
static weft_status set_constants(weft_reduction *reduction, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_constraints *constraints = reduction->constraints;
    const int64_t n = constraints->n_dofs;
    int n_changed = 0;
    int32_t *changed = NULL;
    if (constraints->values.n_values == 0)
        goto done;
    changed = weft_array_make((size_t)constraints->n_rows + 1, sizeof *changed);
    if (!changed)
        TRY(weft_out_of_memory(error, "constraints"));
    TRY(point_values_evaluate(&constraints->values, error));
    for (int i = 0; i < constraints->n_rows; ++i) {
        const constraint_row *row = &constraints->rows[i];
        double value = row->constant;
        for (int k = 0; k < row->n; ++k)
            if (row->dofs[k] >= n)
                value += row->factors[k] * constraints->values.values[row->dofs[k] - n].now;
        if (value == reduction->g_values[row->dof])
            continue;
        reduction->g_values[row->dof] = value;
        changed[n_changed++] = row->dof;
    }
    TRY(point_entries_write(reduction->g, reduction->g_values, n, changed, n_changed, error));
done:
    free(changed);
    return status;
}

/* Dofs whose rows other ranks have get their values. */
static weft_status update(const weft_reduction *reduction, weft_memory *u, weft_error *error) {
    weft_layout *layout = reduction->constraints->layout;
    return layout ? weft_layout_update(layout, u, error) : WEFT_OK;
}

weft_status weft_reduction_fill(weft_reduction *reduction, double factor, weft_memory *u,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_terms terms = {0};
    const bool computes =
        !weft_device_limits(reduction->constraints->context->device)->records_only;
    TRY(set_constants(reduction, error));
    TRY(update(reduction, u, error));
    if (computes)
        TRY(check_values(reduction, factor, u, error));
    TRY(weft_operator_apply(reduction->expand, u, reduction->work, error));
    weft_terms_add(&terms, 1, reduction->work);
    weft_terms_add(&terms, factor, reduction->g);
    TRY(weft_vectors_sum(&reduction->vectors, &terms, u, error));
    TRY(update(reduction, u, error));
done:
    return status;
}

/* ---- a solve --------------------------------------------------------------------------------- */

weft_status weft_reduction_restrict(weft_reduction *reduction, weft_memory *r, weft_memory *out,
                                    weft_error *error) {
    return weft_operator_apply(reduction->restrict_, r, out, error);
}

weft_status weft_reduction_project(weft_reduction *reduction, weft_memory *weights, weft_memory *u,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = reduction->constraints->n_dofs;
    const size_t bytes = (size_t)n * sizeof(double);
    double *work = weft_array_make(3 * (size_t)n, sizeof *work);
    if (!work)
        TRY(weft_out_of_memory(error, "constraints"));
    TRY(weft_memory_read(weights, 0, work, bytes, error));
    TRY(weft_memory_read(u, 0, work + n, bytes, error));
    TRY(weft_reduction_fill(reduction, 1, u, error));
    TRY(weft_memory_read(u, 0, work + 2 * n, bytes, error));
    TRY(constraints_project(reduction->constraints, work, work + 2 * n, work + n, error));
    TRY(weft_memory_write(u, 0, work + n, bytes, error));
    TRY(weft_reduction_fill(reduction, 1, u, error));
done:
    free(work);
    return status;
}

weft_status weft_reduction_keep(weft_reduction *reduction, weft_memory *u, weft_memory *out,
                                weft_error *error) {
    return weft_vectors_mask(&reduction->vectors, u, reduction->kept, out, error);
}

weft_system weft_reduction_system(const weft_reduction *reduction, const weft_system *whole) {
    if (!reduction)
        return *whole;
    return (weft_system){.op = reduction->op,
                         .b = reduction->load,
                         .u = reduction->v,
                         .constrained = reduction->constrained,
                         .n_constrained = reduction->n_constrained};
}

weft_status weft_reduction_enter(weft_reduction *reduction, const weft_system *whole,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_terms start = {0}, rest = {0};
    if (!reduction)
        goto done;
    TRY(weft_vectors_mask(&reduction->vectors, whole->u, reduction->kept, reduction->v, error));
    if (!reduction->has_constant) { /* x = C v */
        status = weft_reduction_restrict(reduction, whole->b, reduction->load, error);
        goto done;
    }
    TRY(weft_operator_apply(reduction->expand, reduction->v, reduction->work, error));
    weft_terms_add(&start, 1, whole->u);
    weft_terms_add(&start, -1, reduction->work);
    TRY(weft_vectors_sum(&reduction->vectors, &start, reduction->x0, error));
    TRY(weft_operator_apply(reduction->whole, reduction->x0, reduction->work, error));
    weft_terms_add(&rest, 1, whole->b);
    weft_terms_add(&rest, -1, reduction->work);
    TRY(weft_vectors_sum(&reduction->vectors, &rest, reduction->rest, error));
    TRY(weft_reduction_restrict(reduction, reduction->rest, reduction->load, error));
done:
    return status;
}

weft_status weft_reduction_leave(weft_reduction *reduction, const weft_system *whole,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_terms terms = {0};
    if (!reduction)
        goto done;
    TRY(weft_operator_apply(reduction->expand, reduction->v,
                            reduction->has_constant ? reduction->work : whole->u, error));
    if (reduction->has_constant) {
        weft_terms_add(&terms, 1, reduction->work);
        weft_terms_add(&terms, 1, reduction->x0);
        TRY(weft_vectors_sum(&reduction->vectors, &terms, whole->u, error));
    }
    TRY(update(reduction, whole->u, error));
done:
    return status;
}
