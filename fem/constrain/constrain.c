/* Collects equations between dofs by elimination: each makes one dof dependent. */
#include "core/base/number.h"
#include "fem/constrain/private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Factors below this, relative to the greatest of the equation, are rounding. */
static const double ROUNDING = 1e-10;

static weft_status check_spaces(const constraint_fields *fields, weft_error *error) {
    for (int i = 0; i < fields->n; ++i)
        if (weft_element_has_vertices(weft_space_element(fields->list[i].space)))
            return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "constraints are for continuous (Lagrange) elements: others have no nodes that "
                   "cells share");
    weft_error_location(error, weft_space_mesh(fields->list[0].space)->source, NULL, 0, 0);
    weft_error_hint(error, "leave them out, or take a Lagrange element");
    return WEFT_ERROR_UNSUPPORTED;
}

weft_status weft_constraints_make(weft_context *context, const weft_space *space, const weft_bc *bc,
                                  weft_constraints **out, weft_error *error) {
    const weft_constraint_field field = {.space = space, .bc = bc};
    return weft_constraints_make_in(context, &field, 1, out, error);
}

/* The dofs of Dirichlet conditions. */
static void mark_given(weft_constraints *constraints, const weft_constraint_field *field) {
    int64_t n = 0;
    const int32_t *given = weft_bc_constrained(field->bc, &n);
    for (int64_t i = 0; i < n; ++i)
        constraints->row_of[field->first_dof + given[i]] = -2;
    weft_bc_set(field->bc, 1, constraints->given + field->first_dof);
    for (int64_t i = 0; i < n; ++i)
        constraints->largest =
            fmax(constraints->largest, fabs(constraints->given[field->first_dof + given[i]]));
}

weft_status weft_constraints_make_in(weft_context *context, const weft_constraint_field *fields,
                                     int n, weft_constraints **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_constraints *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "constraints"));
    made->context = context;
    made->space = fields[0].space;
    made->bc = fields[0].bc;
    TRY(constraint_fields_make(fields, n, &made->fields, error));
    TRY(check_spaces(&made->fields, error));
    made->n_dofs = made->fields.n_dofs;
    made->values = (point_values){.context = context, .space = made->space, .bc = made->bc};
    made->row_of = weft_array_make((size_t)made->n_dofs, sizeof *made->row_of);
    made->given = weft_array_make((size_t)made->n_dofs, sizeof *made->given);
    if (!made->row_of || !made->given)
        TRY(weft_out_of_memory(error, "constraints"));
    for (int64_t i = 0; i < made->n_dofs; ++i)
        made->row_of[i] = -1;
    for (int i = 0; i < n; ++i)
        mark_given(made, &fields[i]);
    *out = made;
    made = NULL;
done:
    weft_constraints_free(&made);
    return status;
}

void weft_constraints_free(weft_constraints **constraints) {
    if (!constraints || !*constraints)
        return;
    for (int i = 0; i < (*constraints)->n_rows; ++i) {
        free((*constraints)->rows[i].dofs);
        free((*constraints)->rows[i].factors);
    }
    for (int i = 0; i < (*constraints)->n_checks; ++i) {
        free((*constraints)->checks[i].dofs);
        free((*constraints)->checks[i].factors);
        free((*constraints)->checks[i].origin);
    }
    for (int i = 0; i < (*constraints)->n_sources; ++i)
        free((*constraints)->sources[i].origin);
    free((*constraints)->sources);
    point_values_clear(&(*constraints)->values);
    constraint_fields_clear(&(*constraints)->fields);
    free((*constraints)->checks);
    free((*constraints)->rows);
    free((*constraints)->lost);
    free((*constraints)->row_of);
    free((*constraints)->given);
    free(*constraints);
    *constraints = NULL;
}

bool weft_constraints_empty(const weft_constraints *constraints) {
    return constraints->layout ? constraints->n_all == 0 && !constraints->has_checks
                               : constraints->n_rows == 0 && constraints->n_checks == 0;
}

int64_t weft_constraints_count(const weft_constraints *constraints) {
    return constraints->layout ? constraints->n_all : constraints->n_rows;
}

/* ---- terms ----------------------------------------------------------------------------------- */

weft_status constraint_terms_add(constraint_terms *terms, int32_t dof, double factor,
                                 weft_error *error) {
    if (terms->n == terms->capacity) {
        const int capacity = 2 * terms->capacity + 8;
        int32_t *dofs = realloc(terms->dofs, (size_t)capacity * sizeof *dofs);
        if (dofs)
            terms->dofs = dofs;
        double *factors = realloc(terms->factors, (size_t)capacity * sizeof *factors);
        if (factors)
            terms->factors = factors;
        if (!dofs || !factors)
            return weft_out_of_memory(error, "constraints");
        terms->capacity = capacity;
    }
    terms->dofs[terms->n] = dof;
    terms->factors[terms->n++] = factor;
    return WEFT_OK;
}

void constraint_terms_free(constraint_terms *terms) {
    free(terms->dofs);
    free(terms->factors);
    *terms = (constraint_terms){0};
}

/* Insertion sort by dof, then sum the terms of each dof: there are few. */
static void merge(constraint_terms *terms) {
    int n = 0;
    for (int i = 1; i < terms->n; ++i) {
        const int32_t dof = terms->dofs[i];
        const double factor = terms->factors[i];
        int k = i;
        for (; k > 0 && terms->dofs[k - 1] > dof; --k) {
            terms->dofs[k] = terms->dofs[k - 1];
            terms->factors[k] = terms->factors[k - 1];
        }
        terms->dofs[k] = dof;
        terms->factors[k] = factor;
    }
    for (int i = 0; i < terms->n; ++i) {
        if (n > 0 && terms->dofs[n - 1] == terms->dofs[i]) {
            terms->factors[n - 1] += terms->factors[i];
            continue;
        }
        terms->dofs[n] = terms->dofs[i];
        terms->factors[n++] = terms->factors[i];
    }
    terms->n = n;
}

bool constraint_is_known(const weft_constraints *constraints, int32_t number) {
    return number >= constraints->n_dofs || constraints->row_of[number] == -2;
}

/* Rows refer to dofs that were independent when they were made, so this ends: a row's dofs can only
 * be dependent by later rows. */
weft_status constraint_terms_expand(weft_constraints *constraints, constraint_terms *terms,
                                    int source, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < terms->n; ++i) {
        const int32_t dof = terms->dofs[i];
        const double factor = terms->factors[i];
        if (dof >= constraints->n_dofs || constraints->row_of[dof] < 0)
            continue;
        const constraint_row *from = &constraints->rows[constraints->row_of[dof]];
        constraint_sources_join(constraints, source, from->source);
        terms->factors[i] = 0;
        terms->constant += factor * from->constant;
        terms->size += fabs(factor * from->constant);
        for (int k = 0; k < from->n; ++k) /* expanded in their turn */
            TRY(constraint_terms_add(terms, from->dofs[k], factor * from->factors[k], error));
    }
    merge(terms);
done:
    return status;
}

/* ---- equations ------------------------------------------------------------------------------- */

weft_status constraints_refuse(const weft_constraints *constraints, int32_t dof, double apart,
                               double t, const char *origin, weft_error *error) {
    const weft_constraint_field *field = constraint_field_of(&constraints->fields, dof);
    const double *x = weft_space_points(field->space);
    const int d = weft_space_mesh(field->space)->dimension;
    const int64_t node = (dof - field->first_dof) / weft_space_components(field->space);
    char point[64], when[40] = "";
    if (t != 0)
        (void)weft_print(when, sizeof when, " at t = %.6g", t);
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "this contradicts other conditions at %s: they differ by %.3g%s",
                   weft_point_text(&x[node * d], d, point), apart, when);
    weft_error_location(error, origin, NULL, 0, 0);
    weft_error_hint(error, "leave one of the conditions out, or make their values equal");
    return WEFT_ERROR_INPUT;
}

static weft_status grow_rows(weft_constraints *constraints, weft_error *error) {
    if (constraints->n_rows < constraints->capacity)
        return WEFT_OK;
    const int capacity = 2 * constraints->capacity + 64;
    constraint_row *rows = realloc(constraints->rows, (size_t)capacity * sizeof *rows);
    if (!rows)
        return weft_out_of_memory(error, "constraints");
    constraints->rows = rows;
    constraints->capacity = capacity;
    return WEFT_OK;
}

/* The greatest factor of independent dofs; of equal ones the last. */
static int find_pivot(const weft_constraints *constraints, const constraint_terms *terms) {
    int pivot = -1;
    double most = 0;
    for (int i = 0; i < terms->n; ++i)
        if (!constraint_is_known(constraints, terms->dofs[i]) &&
            fabs(terms->factors[i]) >= most * (1 - ROUNDING) && terms->factors[i] != 0) {
            pivot = i;
            most = fmax(most, fabs(terms->factors[i]));
        }
    return pivot;
}

/* sum_i factors_i u_i + constant = 0 divided by minus the factor of dof `pivot`, without it; -1: as it is */
static weft_status make_row(const constraint_terms *terms, int pivot, constraint_row *out,
                            weft_error *error) {
    const double by = pivot < 0 ? 1 : -terms->factors[pivot];
    constraint_row row = {.dof = pivot < 0 ? -1 : terms->dofs[pivot],
                          .constant = terms->constant / by};
    row.dofs = malloc((size_t)terms->n * sizeof *row.dofs);
    row.factors = malloc((size_t)terms->n * sizeof *row.factors);
    if (!row.dofs || !row.factors) {
        free(row.dofs);
        free(row.factors);
        return weft_out_of_memory(error, "constraints");
    }
    for (int i = 0; i < terms->n; ++i)
        if (i != pivot && fabs(terms->factors[i]) > 1e-15 * fabs(by)) {
            row.dofs[row.n] = terms->dofs[i];
            row.factors[row.n++] = terms->factors[i] / by;
        }
    *out = row;
    return WEFT_OK;
}

static weft_status add_row(weft_constraints *constraints, const constraint_terms *terms, int pivot,
                           int source, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(grow_rows(constraints, error));
    TRY(make_row(terms, pivot, &constraints->rows[constraints->n_rows], error));
    constraints->rows[constraints->n_rows].source = source;
    constraints->row_of[terms->dofs[pivot]] = constraints->n_rows++;
    constraints->is_resolved = false;
done:
    return status;
}

/* An equation between values that depend on time: it is checked when they are known. */
static weft_status add_check(weft_constraints *constraints, const constraint_terms *terms,
                             const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)constraints->n_checks + 1;
    constraint_row *checks = realloc(constraints->checks, n * sizeof *checks);
    if (!checks)
        TRY(weft_out_of_memory(error, "constraints"));
    constraints->checks = checks;
    TRY(make_row(terms, -1, &checks[n - 1], error));
    constraints->n_checks += 1;
    checks[n - 1].origin = strdup(origin ? origin : "");
    if (!checks[n - 1].origin)
        TRY(weft_out_of_memory(error, "constraints"));
done:
    return status;
}

/* An equation without an independent dof. */
static weft_status check_known(weft_constraints *constraints, const constraint_terms *terms,
                               int32_t dof, const char *origin, weft_error *error) {
    double sum = terms->constant, size = terms->size;
    bool moves = false, is_formula = false;
    for (int i = 0; i < constraints->fields.n; ++i)
        moves |= weft_bc_moves(constraints->fields.list[i].bc).dirichlet;
    for (int i = 0; i < terms->n; ++i) {
        is_formula |= terms->dofs[i] >= constraints->n_dofs && terms->factors[i] != 0;
        if (terms->dofs[i] >= constraints->n_dofs ||
            !constraint_is_known(constraints, terms->dofs[i]))
            continue;
        sum += terms->factors[i] * constraints->given[terms->dofs[i]];
        size += fabs(terms->factors[i] * constraints->given[terms->dofs[i]]);
    }
    if (!is_formula && fabs(sum) > CONSTRAINT_ROUNDING * size +
                                       CONSTRAINT_ROUNDING_OF_LARGEST * constraints->largest)
        return constraints_refuse(constraints, dof, fabs(sum), 0, origin, error);
    return (is_formula || moves) && terms->n > 0 ? add_check(constraints, terms, origin, error)
                                                 : WEFT_OK;
}

weft_status constraints_add_terms(weft_constraints *constraints, constraint_terms *terms,
                                  int32_t dof, const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    double scale = 0;
    int source = -1;
    if (origin)
        TRY(constraint_source_of(constraints, origin, &source, error));
    for (int i = 0; i < terms->n; ++i)
        scale = fmax(scale, terms->dofs[i] < constraints->n_dofs ? fabs(terms->factors[i]) : 0);
    TRY(constraint_terms_expand(constraints, terms, source, error));
    const int pivot = find_pivot(constraints, terms);
    TRY(pivot >= 0 && fabs(terms->factors[pivot]) > ROUNDING * scale
            ? add_row(constraints, terms, pivot, source, error)
            : check_known(constraints, terms, dof, origin, error));
done:
    return status;
}

weft_status weft_constraints_add(weft_constraints *constraints, int n, const int32_t *dofs,
                                 const double *factors, double value, const char *origin,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    constraint_terms terms = {.constant = -value, .size = fabs(value)};
    for (int i = 0; i < n; ++i)
        TRY(constraint_terms_add(&terms, dofs[i], factors[i], error));
    if (n > 0)
        TRY(constraints_add_terms(constraints, &terms, dofs[0], origin, error));
done:
    constraint_terms_free(&terms);
    return status;
}

/* From the last row to the first: the rows that a row refers to are later ones, resolved already. */
weft_status constraints_resolve(weft_constraints *constraints, weft_error *error) {
    weft_status status = WEFT_OK;
    constraint_terms terms = {0};
    for (int i = constraints->n_rows - 1; i >= 0 && !constraints->is_resolved; --i) {
        constraint_row *row = &constraints->rows[i];
        bool needed = false;
        for (int k = 0; k < row->n; ++k)
            needed |= row->dofs[k] < constraints->n_dofs && constraints->row_of[row->dofs[k]] >= 0;
        if (!needed)
            continue;
        terms.n = 0;
        terms.constant = row->constant;
        for (int k = 0; k < row->n; ++k)
            TRY(constraint_terms_add(&terms, row->dofs[k], row->factors[k], error));
        TRY(constraint_terms_expand(constraints, &terms, row->source, error));
        int32_t *dofs = malloc((size_t)terms.n * sizeof *dofs + 1);
        double *factors = malloc((size_t)terms.n * sizeof *factors + 1);
        if (!dofs || !factors) {
            free(dofs);
            free(factors);
            TRY(weft_out_of_memory(error, "constraints"));
        }
        free(row->dofs);
        free(row->factors);
        row->dofs = dofs;
        row->factors = factors;
        row->constant = terms.constant;
        row->n = 0;
        for (int k = 0; k < terms.n; ++k)
            if (terms.factors[k] != 0) {
                dofs[row->n] = terms.dofs[k];
                factors[row->n++] = terms.factors[k];
            }
    }
    constraints->is_resolved = true;
done:
    constraint_terms_free(&terms);
    return status;
}
