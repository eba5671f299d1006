/* Constants of a mixed function that the equations leave open, as the pressure of an enclosed flow: the load is made
 * compatible with them, and their mean is zero in the solution. */
#include "fem/base/memory.h"
#include "fem/problem/assembled.h"

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
    component out = {field->first_dof + k - field->first_value,
                     field->first_dof + weft_space_dofs(field->space), c};
    while (continues(system, ++field))
        out.last += weft_space_dofs(field->space);
    return out;
}

static bool is_fixed(const weft_assembled *system, const component *of) {
    for (int64_t i = 0; i < system->fields->n_constrained; ++i) {
        const int32_t dof = system->fields->constrained[i];
        if (dof >= of->first && dof < of->last && (dof - of->first) % of->step == 0)
            return true;
    }
    return false;
}

/* Do constraints change a constant, as a value at a point does? */
static weft_status is_constrained(const weft_assembled *system, const component *of, double *e,
                                  bool *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = is_fixed(system, of);
    memset(e, 0, (size_t)system->fields->n_dofs * sizeof *e);
    for (int64_t i = of->first; i < of->last; i += of->step)
        e[i] = 1;
    if (!system->constraints || *out)
        goto done;
    TRY(weft_constraints_fill(system->constraints, false, e, error));
    for (int64_t i = 0; i < system->fields->n_dofs; ++i) {
        const bool is_own = i >= of->first && i < of->last && (i - of->first) % of->step == 0;
        *out |= fabs(e[i] - (is_own ? 1 : 0)) > UNSEEN;
    }
done:
    return status;
}

/* C^T y, in the rows that are solved for. */
static weft_status restrict_rows(const weft_assembled *system, double *y, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_constraint_forces forces = {0};
    if (system->constraints)
        TRY(weft_constraints_restrict(system->constraints, y, &forces, error));
    for (int64_t i = 0; i < system->fields->n_constrained; ++i)
        y[system->fields->constrained[i]] = 0;
done:
    weft_constraint_forces_clear(&forces);
    return status;
}

static weft_status make_vectors(const weft_assembled *system, double *values[2],
                                weft_memory *memory[2], weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < 2; ++i)
        TRY(weft_vector_make(system->fields->context->device, system->fields->n_dofs, &values[i],
                             &memory[i], error));
done:
    return status;
}

/* Rows whose entries are themselves rounding, as those of velocities at vertices in the columns of pressures, sum terms of
 * cells that cancel: they count as a hundredth of the largest row. */
static void lift_small_rows(double *sizes, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; ++i)
        most = fmax(most, sizes[i]);
    for (int64_t i = 0; i < n; ++i)
        sizes[i] = fmax(sizes[i], 1e-2 * most);
}

/* Whether A e is zero, of e = values[0], in the rows of free dofs: up to rounding of
 * what each row sums. */
static weft_status is_unseen(weft_assembled *system, double *values[2], weft_memory *memory[2],
                             bool *out, weft_error *error) {
    weft_status status = WEFT_OK;
    double *const e = values[0], *const y = values[1];
    double *sizes = weft_array_make((size_t)system->fields->n_dofs, sizeof *sizes);
    if (!sizes)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_operator_row_sizes(system->fields->context->device, system->op, e, sizes, error));
    lift_small_rows(sizes, system->fields->n_dofs);
    TRY(weft_vector_push(memory[0], e, system->fields->n_dofs, error));
    TRY(weft_operator_apply(system->op, memory[0], memory[1], error));
    TRY(weft_vector_pull(memory[1], y, system->fields->n_dofs, error));
    TRY(restrict_rows(system, y, error));
    *out = weft_operator_seen(y, sizes, system->fields->n_dofs) <= UNSEEN;
done:
    free(sizes);
    return status;
}

static void free_vectors(double *values[2], weft_memory *memory[2]) {
    for (int i = 0; i < 2; ++i) {
        weft_memory_free(&memory[i]);
        free(values[i]);
    }
}

weft_status weft_nullspace_find(weft_assembled *system, weft_error *error) {
    weft_status status = WEFT_OK;
    double *values[2] = {NULL, NULL};
    weft_memory *memory[2] = {NULL, NULL};
    if (weft_records_only(system->fields->context))
        goto done;
    TRY(make_vectors(system, values, memory, error));
    for (int k = 0; k < system->fields->n_values; ++k) {
        const component of = weft_component_dofs(system, k);
        bool is_held = false, open = false;
        TRY(is_constrained(system, &of, values[0], &is_held, error));
        if (!is_held)
            TRY(is_unseen(system, values, memory, &open, error));
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
    free_vectors(values, memory);
    return status;
}

/* Whether e.(A x) is zero for functions x that are zero where u is prescribed: of a symmetric A that follows from A e = 0,
 * of others it is tried for a pseudorandom x. */
static weft_status is_left(weft_assembled *system, const component *of, double *values[2],
                           weft_memory *memory[2], bool *out, weft_error *error) {
    weft_status status = WEFT_OK;
    uint64_t seed = 1;
    double sum = 0, sizes = 0;
    *out = system->is_symmetric;
    if (*out)
        goto done;
    for (int64_t i = 0; i < system->fields->n_dofs; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        values[0][i] = (double)(seed >> 40) * 0x1p-24;
    }
    for (int64_t i = 0; i < system->fields->n_constrained; ++i)
        values[0][system->fields->constrained[i]] = 0;
    if (system->constraints)
        TRY(weft_constraints_fill(system->constraints, false, values[0], error));
    TRY(weft_vector_push(memory[0], values[0], system->fields->n_dofs, error));
    TRY(weft_operator_apply(system->op, memory[0], memory[1], error));
    TRY(weft_vector_pull(memory[1], values[1], system->fields->n_dofs, error));
    for (int64_t i = of->first; i < of->last; i += of->step) {
        sum += values[1][i];
        sizes += fabs(values[1][i]);
    }
    *out = fabs(sum) <= UNSEEN * sizes;
done:
    return status;
}

/* y = A g, g being the prescribed values and zero elsewhere */
static weft_status apply_given(weft_assembled *system, double *values[2], weft_memory *memory[2],
                               weft_error *error) {
    weft_status status = WEFT_OK;
    memset(values[0], 0, (size_t)system->fields->n_dofs * sizeof *values[0]);
    for (int64_t i = 0; i < system->fields->n_constrained; ++i)
        values[0][system->fields->constrained[i]] =
            system->u_values[system->fields->constrained[i]];
    if (system->constraints)
        TRY(weft_constraints_fill(system->constraints, true, values[0], error));
    TRY(weft_vector_push(memory[0], values[0], system->fields->n_dofs, error));
    TRY(weft_operator_apply(system->op, memory[0], memory[1], error));
    TRY(weft_vector_pull(memory[1], values[1], system->fields->n_dofs, error));
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

/* b - A g must be orthogonal to e, whose A e is zero but in the rows of constrained dofs, where e.(A x) is zero for all other x. */
weft_status weft_nullspace_project(weft_assembled *system, weft_error *error) {
    weft_status status = WEFT_OK;
    double *values[2] = {NULL, NULL}, *rows = NULL;
    weft_memory *memory[2] = {NULL, NULL};
    if (system->open.n == 0 || weft_records_only(system->fields->context))
        goto done;
    TRY(make_vectors(system, values, memory, error));
    rows = weft_array_make((size_t)system->fields->n_dofs, sizeof *rows);
    if (!rows)
        TRY(weft_out_of_memory(error, NULL));
    for (int m = 0; m < system->open.n; ++m) {
        const component of = system->open.list[m];
        double sum = 0, sizes = 0, terms = 0;
        int64_t n = 0;
        bool is_solvable = false;
        TRY(is_left(system, &of, values, memory, &is_solvable, error));
        if (!is_solvable)
            continue;
        TRY(apply_given(system, values, memory, error));
        TRY(weft_operator_row_sizes(system->fields->context->device, system->op, values[0], rows,
                                    error));
        for (int64_t i = of.first; i < of.last; i += of.step, ++n) {
            sum += system->b_values[i] - values[1][i];
            sizes += fabs(system->b_values[i]) + fabs(values[1][i]);
            terms += fabs(system->b_values[i]) + rows[i];
        }
        for (int64_t i = of.first; i < of.last; i += of.step)
            system->b_values[i] -= sum / (double)n;
        warn(system, system->open.values[m], sum, sizes, terms);
    }
    TRY(weft_vector_push(system->b, system->b_values, system->fields->n_dofs, error));
done:
    free_vectors(values, memory);
    free(rows);
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

weft_status weft_nullspace_remove(weft_assembled *system, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_solution u = weft_fields_solution(system->fields, system->u_values);
    for (int m = 0; m < system->open.n; ++m) {
        const int k = system->open.values[m];
        const component of = weft_component_dofs(system, k);
        double integral = 0, measure = 0, largest = 0;
        TRY(weft_solution_integral(&u, k, &integral, error));
        TRY(weft_space_integral(weft_solution_field(&u, k)->space, NULL, 0, &measure, error));
        for (int64_t i = of.first; i < of.last; i += of.step)
            largest = fmax(largest, fabs(system->u_values[i]));
        if (fabs(integral / measure) <= MEAN * largest)
            continue;
        for (int64_t i = of.first; i < of.last; i += of.step)
            system->u_values[i] -= integral / measure;
    }
    if (system->open.n > 0)
        TRY(weft_vector_push(system->u, system->u_values, system->fields->n_dofs, error));
done:
    return status;
}
