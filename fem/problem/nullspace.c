/* Constants of a mixed function that the equations leave open, as the pressure of an enclosed flow: the load is made
 * compatible with them, and their mean is zero in the solution. */
#include "fem/base/memory.h"
#include "fem/base/share.h"
#include "fem/constrain/constrain.h"
#include "fem/problem/assembled.h"
#include "fem/space/layout.h"
#include "fem/space/vectors.h"
#include "fem/sparse/lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounding of A e in a row of elements of any degree, and of sums over many rows, relative to their terms. */
static const double UNSEEN = 1e-10;

typedef weft_transient_open component;

/* Does this field enrich the one before, whose component continues in it? */
static bool continues(const weft_assembled *system, const weft_problem_field *field) {
    return field < system->fields->list + system->fields->n && field->is_enrichment;
}

/* Dofs of enrichments are values at nodes, too, and follow. */
component weft_component_dofs(const weft_assembled *system, int k) {
    const weft_solution u = weft_fields_solution(system->fields, system->u_values);
    const weft_problem_field *field = weft_solution_field(&u, k);
    const int c = weft_space_components(field->space);
    if (weft_space_is_mapped(field->space)) /* whose dofs are no values */
        return (component){field->first_dof, field->first_dof, 1};
    component out = {field->first_dof + k - field->first_value,
                     field->first_dof + weft_space_dofs(field->space), c};
    while (continues(system, ++field))
        out.last += weft_space_dofs(field->space);
    return out;
}

static const weft_share *share_of(const weft_assembled *system) {
    return weft_layout_share(system->fields->layout);
}

/* Has the component given values, on any rank? */
static weft_status is_fixed(const weft_assembled *system, const component *of, bool *out,
                            weft_error *error) {
    double found = 0;
    for (int64_t i = 0; i < system->fields->n_constrained; ++i) {
        const int32_t dof = system->fields->constrained[i];
        if (dof >= of->first && dof < of->last && (dof - of->first) % of->step == 0)
            found = 1;
    }
    const weft_status status = weft_comm_maximum(weft_share_comm(share_of(system)), &found, error);
    *out = found > 0;
    return status;
}

/* What checks and changes constants: vectors [n_dofs] on the device. */
typedef struct checks {
    weft_assembled *system;
    weft_spans *spans;
    weft_lists *lists;
    weft_memory *e, *y; /* a function, A times it */
    weft_memory *scratch, *sizes;
    double *values; /* of a vector on the host, where constraints work; NULL: there are none */
} checks;

static void checks_clear(checks *c) {
    weft_spans_free(&c->spans);
    weft_lists_free(&c->lists);
    free(c->values);
}

static weft_status checks_make(weft_assembled *system, checks *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = system->fields->context->device;
    const int64_t n = system->fields->n_dofs;
    *c = (checks){.system = system};
    TRY(weft_spans_make(device, 4, n, &c->spans, error));
    weft_spans_share(c->spans, share_of(system));
    TRY(weft_lists_make(device, &c->lists, error));
    c->e = weft_spans_vector(c->spans, 0), c->y = weft_spans_vector(c->spans, 1);
    c->scratch = weft_spans_vector(c->spans, 2), c->sizes = weft_spans_vector(c->spans, 3);
    if (!system->constraints)
        goto done;
    c->values = weft_array_make((size_t)n, sizeof *c->values);
    if (!c->values)
        TRY(weft_out_of_memory(error, NULL));
done:
    return status;
}

static weft_span whole(const checks *c, weft_memory *vector) {
    return weft_span_whole(vector, c->system->fields->n_dofs);
}

static weft_span span_of(weft_memory *vector, const component *of) {
    return (weft_span){vector, of->first, of->last, of->step};
}

/* Dependent dofs of e follow the others. */
static weft_status fill(const checks *c, bool with_values, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = c->system->fields->n_dofs;
    if (!c->system->constraints)
        goto done;
    TRY(weft_vector_pull(c->e, c->values, n, error));
    TRY(weft_constraints_fill(c->system->constraints, with_values, c->values, error));
    TRY(weft_vector_push(c->e, c->values, n, error));
done:
    return status;
}

/* Do constraints change a constant, as a value at a point does? */
static weft_status is_constrained(const checks *c, const component *of, bool *out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_assembled *system = c->system;
    double most = 0;
    TRY(is_fixed(system, of, out, error));
    if (!system->constraints || *out)
        goto done;
    memset(c->values, 0, (size_t)system->fields->n_dofs * sizeof *c->values);
    for (int64_t i = of->first; i < of->last; i += of->step)
        c->values[i] = 1;
    TRY(weft_constraints_fill(system->constraints, false, c->values, error));
    for (int64_t i = 0; i < system->fields->n_dofs; ++i) {
        const bool is_own = i >= of->first && i < of->last && (i - of->first) % of->step == 0;
        most = fmax(most, fabs(c->values[i] - (is_own ? 1 : 0)));
    }
    TRY(weft_comm_maximum(weft_share_comm(share_of(system)), &most, error));
    *out = most > UNSEEN;
done:
    return status;
}

/* y = C^T y, in the rows that are solved for. */
static weft_status restrict_rows(const checks *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fields *fields = c->system->fields;
    weft_constraint_forces forces = {0};
    if (c->system->constraints) {
        TRY(weft_vector_pull(c->y, c->values, fields->n_dofs, error));
        TRY(weft_constraints_restrict(c->system->constraints, c->values, &forces, error));
        TRY(weft_vector_push(c->y, c->values, fields->n_dofs, error));
    }
    TRY(weft_lists_set(c->lists, c->y, fields->constrained, fields->n_constrained, 0, error));
done:
    weft_constraint_forces_clear(&forces);
    return status;
}

/* Rows whose entries are themselves rounding, as those of velocities at vertices in the columns of pressures, sum terms of
 * cells that cancel: they count as this part of the largest row. */
static const double SMALL_ROW = 1e-2;

/* Whether A e is zero, e a constant in one component, in the rows of free dofs: up to rounding of what each row sums. */
static weft_status is_unseen(const checks *c, const component *of, bool *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_span y = whole(c, c->y), sizes = whole(c, c->sizes), e = span_of(c->e, of);
    weft_span_sums rows, seen;
    TRY(weft_memory_zero(c->e, error));
    TRY(weft_span_change(c->spans, &e, WEFT_SPAN_SET, NULL, 1, 0, error));
    TRY(weft_operator_size_rows(c->spans, c->system->op, c->e, (weft_memory *[]){c->scratch, c->y},
                                c->sizes, error));
    TRY(weft_span_sum(c->spans, &sizes, WEFT_SPAN_PRODUCT, NULL, 0, &rows, error));
    TRY(weft_operator_apply(c->system->op, c->e, c->y, error));
    TRY(restrict_rows(c, error));
    TRY(weft_span_sum(c->spans, &y, WEFT_SPAN_RATIO, c->sizes, SMALL_ROW * rows.most, &seen,
                      error));
    *out = seen.most <= UNSEEN;
done:
    return status;
}

weft_status weft_nullspace_find(weft_assembled *system, weft_error *error) {
    weft_status status = WEFT_OK;
    checks c = {0};
    if (weft_records_only(system->fields->context))
        goto done;
    TRY(checks_make(system, &c, error));
    for (int k = 0; k < system->fields->n_values; ++k) {
        const component of = weft_component_dofs(system, k);
        bool is_held = of.first == of.last, open = false;
        if (is_held)
            continue;
        TRY(is_constrained(&c, &of, &is_held, error));
        if (!is_held)
            TRY(is_unseen(&c, &of, &open, error));
        if (!open)
            continue;
        system->open.list[system->open.n] = of;
        system->open.values[system->open.n++] = k;
        weft_log(system->fields->context->monitor, WEFT_LOG_INFO,
                 "nothing fixes a constant in component %d of u: its mean is set to zero", k);
    }
    system->linear.open = system->open.list;
    system->linear.n_open = system->open.n;
done:
    checks_clear(&c);
    return status;
}

/* Whether e.(A x) is zero, e a constant in each open component, for functions x that are zero where u is prescribed: of a
 * symmetric A that follows from A e = 0, of others it is tried for a pseudorandom x.
 *  out  [open.n] */
static weft_status are_left(const checks *c, bool *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_assembled *system = c->system;
    const weft_fields *fields = system->fields;
    const weft_span x = whole(c, c->e);
    for (int m = 0; m < system->open.n; ++m)
        out[m] = true;
    if (system->is_symmetric)
        goto done;
    TRY(weft_span_change(c->spans, &x, WEFT_SPAN_SAMPLE, NULL, 0, 0, error));
    TRY(weft_lists_set(c->lists, c->e, fields->constrained, fields->n_constrained, 0, error));
    TRY(fill(c, false, error));
    TRY(weft_operator_apply(system->op, c->e, c->y, error));
    for (int m = 0; m < system->open.n; ++m) {
        const weft_span rows = span_of(c->y, &system->open.list[m]);
        weft_span_sums sums;
        TRY(weft_span_sum(c->spans, &rows, WEFT_SPAN_PRODUCT, NULL, 0, &sums, error));
        out[m] = fabs(sums.sum) <= UNSEEN * sums.size;
    }
done:
    return status;
}

/* y = A g, g being the prescribed values and zero elsewhere, which is u less what is free; sizes of what the rows sum. */
static weft_status apply_given(const checks *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fields *fields = c->system->fields;
    const size_t bytes = (size_t)fields->n_dofs * sizeof(double);
    const weft_span g = whole(c, c->e);
    TRY(weft_memory_copy(c->e, c->system->u, bytes, error));
    TRY(weft_memory_copy(c->y, c->e, bytes, error));
    TRY(weft_lists_set(c->lists, c->y, fields->constrained, fields->n_constrained, 0, error));
    TRY(weft_span_change(c->spans, &g, WEFT_SPAN_ADD, c->y, -1, 0, error));
    TRY(fill(c, true, error));
    TRY(weft_operator_size_rows(c->spans, c->system->op, c->e, (weft_memory *[]){c->scratch, c->y},
                                c->sizes, error));
    TRY(weft_operator_apply(c->system->op, c->e, c->y, error));
done:
    return status;
}

/* More than the error of interpolating prescribed values. */
static const double INCOMPATIBLE = 1e-2;

/* terms  without signs, of what cancels in the rows too */
static void warn(const weft_assembled *system, int value, double sum, double sizes, double terms) {
    if (fabs(sum) <= INCOMPATIBLE * sizes || fabs(sum) <= UNSEEN * terms)
        return;
    weft_log(system->fields->context->monitor, WEFT_LOG_WARNING,
             "the equations of component %d of u, to which a constant can be added, add up to "
             "%.3g, which should be 0: what is prescribed is not compatible, such as more inflow "
             "than outflow; %.1e of their terms was distributed over the domain",
             value, sum, fabs(sum) / sizes);
}

/* The rows of b - y in an open component add up to zero: y = A g.
 *  only_rounding  what is more than rounding of what the rows sum stays, and is not warned of */
static weft_status balance(const checks *c, weft_memory *vector, int m, bool only_rounding,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const component *of = &c->system->open.list[m];
    const weft_span b = span_of(vector, of), y = span_of(c->y, of), sizes = span_of(c->sizes, of);
    weft_span_sums of_b, of_y, rows;
    TRY(weft_span_sum(c->spans, &b, WEFT_SPAN_PRODUCT, NULL, 0, &of_b, error));
    TRY(weft_span_sum(c->spans, &y, WEFT_SPAN_PRODUCT, NULL, 0, &of_y, error));
    TRY(weft_span_sum(c->spans, &sizes, WEFT_SPAN_PRODUCT, NULL, 0, &rows, error));
    const double sum = of_b.sum - of_y.sum;
    int64_t count = 0;
    TRY(weft_span_count(c->spans, &b, &count, error));
    if (only_rounding && !(fabs(sum) <= UNSEEN * (of_b.size + rows.size)))
        goto done;
    TRY(weft_span_change(c->spans, &b, WEFT_SPAN_ADD, NULL, -sum / (double)count, 0, error));
    if (!only_rounding)
        warn(c->system, c->system->open.values[m], sum, of_b.size + of_y.size,
             of_b.size + rows.size);
done:
    return status;
}

/* b - A g must be orthogonal to e, whose A e is zero but in the rows of constrained dofs, where e.(A x) is zero for all other x. */
weft_status weft_nullspace_project(weft_assembled *system, weft_error *error) {
    weft_status status = WEFT_OK;
    checks c = {0};
    bool is_solvable[WEFT_VALUES_MAX];
    if (system->open.n == 0 || weft_records_only(system->fields->context))
        goto done;
    TRY(checks_make(system, &c, error));
    TRY(are_left(&c, is_solvable, error));
    TRY(apply_given(&c, error));
    for (int m = 0; m < system->open.n; ++m)
        if (is_solvable[m])
            TRY(balance(&c, system->b, m, false, error));
    TRY(weft_vector_pull(system->b, system->b_values, system->fields->n_dofs, error));
done:
    checks_clear(&c);
    return status;
}

/* What a step du leaves of the right-hand side r of a tangent, summed over an open component, is the rounding of terms that cancel: a
 * tolerance relative to r, which falls from one iteration to the next, asks for less in the end. */
weft_status weft_nullspace_balance(weft_assembled *system, weft_memory *r, weft_memory *du,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    checks c = {0};
    bool is_solvable[WEFT_VALUES_MAX];
    if (system->open.n == 0 || weft_records_only(system->fields->context))
        goto done;
    TRY(checks_make(system, &c, error));
    TRY(are_left(&c, is_solvable, error));
    TRY(weft_operator_size_rows(c.spans, system->op, system->u, (weft_memory *[]){c.scratch, c.y},
                                c.sizes, error));
    TRY(weft_operator_apply(system->op, du, c.y, error));
    for (int m = 0; m < system->open.n; ++m)
        if (is_solvable[m])
            TRY(balance(&c, r, m, true, error));
done:
    checks_clear(&c);
    return status;
}

double weft_nullspace_imbalance(const weft_assembled *system, int *value) {
    double most = 0, largest = 0;
    for (int64_t i = 0; i < system->fields->n_dofs; ++i)
        largest = fmax(largest, fabs(system->b_values[i]));
    for (int m = 0; m < system->open.n; ++m) {
        const component of = system->open.list[m];
        double sum = 0, sizes = 0;
        for (int64_t i = of.first; i < of.last; i += of.step) {
            sum += system->b_values[i];
            sizes += fabs(system->b_values[i]);
        }
        if (fabs(sum) > UNSEEN * largest && fabs(sum) / sizes > most) {
            most = fabs(sum) / sizes;
            *value = system->open.values[m];
        }
    }
    return most;
}

/* Means that are this small beside the largest value are rounding: to subtract them once more would change the last digits,
 * and with them the next step in time. */
static const double MEAN = 1e-13;

weft_status weft_component_shift(weft_assembled *system, int k, double by, weft_error *error) {
    weft_status status = WEFT_OK;
    const component of = weft_component_dofs(system, k);
    const weft_span values = span_of(system->u, &of);
    weft_spans *spans = NULL;
    TRY(weft_spans_make(system->fields->context->device, 0, 0, &spans, error));
    TRY(weft_span_change(spans, &values, WEFT_SPAN_ADD, NULL, by, 0, error));
    TRY(weft_vector_pull(system->u, system->u_values, system->fields->n_dofs, error));
done:
    weft_spans_free(&spans);
    return status;
}

weft_status weft_nullspace_remove(weft_assembled *system, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_solution u = weft_fields_solution(system->fields, system->u_values);
    weft_spans *spans = NULL;
    u.memory = system->u;
    if (system->open.n > 0) {
        TRY(weft_spans_make(system->fields->context->device, 0, 0, &spans, error));
        weft_spans_share(spans, share_of(system));
        if (system->fields->layout) {
            TRY(weft_layout_update(system->fields->layout, system->u, error));
            TRY(weft_vector_pull(system->u, system->u_values, system->fields->n_dofs, error));
        }
    }
    for (int m = 0; m < system->open.n; ++m) {
        const int k = system->open.values[m];
        const weft_span values = span_of(system->u, &system->open.list[m]);
        weft_span_sums sums;
        double integral = 0, measure = 0;
        TRY(weft_span_sum(spans, &values, WEFT_SPAN_PRODUCT, NULL, 0, &sums, error));
        if (sums.most == 0)
            continue;
        TRY(weft_solution_integral(&u, k, &integral, error));
        TRY(weft_space_integral(weft_solution_field(&u, k)->space, NULL, 0, &measure, error));
        if (fabs(integral / measure) > MEAN * sums.most)
            TRY(weft_component_shift(system, k, -integral / measure, error));
    }
done:
    weft_spans_free(&spans);
    return status;
}
