/* Loads of cells and facets, and whether they sum to zero where only that allows a solution. */
#include "fem/base/share.h"
#include "fem/bc/private.h"
#include "fem/mesh/mesh.h"
#include "fusion/connectivity/connectivity.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Pure Neumann data must sum to zero. Their integrals are taken with two degrees of quadrature:
 * what the two differ by says how well the integrals are known at all, and data that are zero to
 * within that are accepted, as are data to within rounding; a sum above the last bound is refused
 * whatever the quadrature. */
static const double SUM_ROUNDING = 1e-8, SUM_QUADRATURE = 1e-3;
enum { DEGREE_CHECK = 2 * WEFT_LOAD_DEGREE, CHUNK = 1 << 16 };

static bool is_zero(const char *text) {
    double constant = NAN;
    return weft_formula_constant(text, &constant) && constant == 0;
}

typedef struct finite_check {
    const double *values;
    int64_t n;
    _Atomic int64_t first; /* that is not finite; n: none */
} finite_check;

static void check_chunk(void *user, int64_t chunk) {
    finite_check *check = user;
    const int64_t last = (chunk + 1) * CHUNK < check->n ? (chunk + 1) * CHUNK : check->n;
    int64_t i = chunk * CHUNK, seen = atomic_load(&check->first);
    while (i < last && isfinite(check->values[i]))
        ++i;
    while (i < last && i < seen && !atomic_compare_exchange_weak(&check->first, &seen, i))
        ;
}

static bool adds_to_b(const weft_bound_form *form) {
    for (int i = 0; i < form->form.n_inputs; ++i)
        if (strcmp(form->inputs[i].name, "b") == 0)
            return true;
    return false;
}

weft_status weft_bc_add_load(const weft_bc *bc, const weft_bound_form *form, int64_t n,
                             weft_memory *b, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *output = "b";
    const weft_expression *formula = &form->expressions[0];
    const int64_t n_dofs = weft_bc_dofs(bc);
    const weft_form_outputs outputs = {&output, &b, 1, "cells", n};
    TRY(adds_to_b(form)
            ? weft_form_run_ranges(bc->context, &form->form, &outputs, NULL, NULL, error)
            : weft_form_run(bc->context, &form->form, &outputs, error));
    TRY(weft_vector_pull(b, values, n_dofs, error));
    finite_check check = {.values = values, .n = bc->is_null ? 0 : n_dofs, .first = n_dofs};
    TRY(weft_device_for(bc->context->device, (check.n + CHUNK - 1) / CHUNK, check_chunk, &check,
                        error));
    if (check.first < n_dofs)
        TRY(weft_formula_refuse(
            bc->space, formula->text, formula->origin,
            (check.first - bc->place.first_dof) / weft_space_components(bc->space), error));
done:
    return status;
}

/* int f phi_i over the facets of a group */
static weft_status add_facet_source(const weft_bc *bc, int group, const char *text,
                                    const char *origin, int degree, weft_memory *b, double *values,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_space_facets facets = {0};
    weft_bound_form form;
    TRY(weft_space_facets_make(bc->space, group, &facets, error));
    TRY(weft_form_ship(bc->space, "neumann.weft", facets.dofs, &form, error));
    weft_form_bind_input(&form, "b", b);
    weft_form_bind_input(&form, "when", bc->when);
    weft_form_bind_expression(&form, "flux", text, origin);
    weft_form_bind_parameter(&form, "degree", degree);
    TRY(weft_bc_add_load(bc, &form, facets.n, b, values, error));
done:
    weft_space_facets_free(&facets);
    return status;
}

/* The group of facets that a formula is for; -1: it is for cells. */
static int facet_group(const weft_bc *bc, const weft_formula_piece *piece) {
    const weft_mesh *mesh = weft_space_mesh(bc->space);
    int group = -1;
    if (!piece->group[0] || weft_mesh_cell_group(mesh, piece->group, &group, NULL) == WEFT_OK ||
        weft_mesh_any_group(mesh, piece->group, &group, NULL) != WEFT_OK)
        return -1;
    return group;
}

/* The formulas of a text that are for cells. */
static weft_status cell_source(const weft_bc *bc, const char *source, const char *origin,
                               weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    for (const char *at = source; *at;) {
        const char *start = at;
        weft_formula_piece piece;
        TRY(weft_formula_next(&at, &piece, origin, error));
        if (facet_group(bc, &piece) >= 0)
            continue;
        weft_text_add(out, out->length > 0 ? "; " : "");
        weft_text_add_bytes(out, start, (size_t)(piece.text + piece.length - start));
    }
    if (out->failed)
        TRY(weft_out_of_memory(error, "a source"));
done:
    return status;
}

static weft_status add_facet_sources(const weft_bc *bc, const char *source, const char *origin,
                                     int degree, weft_memory *b, double *values,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    char *text = NULL;
    for (const char *at = source; *at;) {
        weft_formula_piece piece;
        TRY(weft_formula_next(&at, &piece, origin, error));
        const int group = facet_group(bc, &piece);
        if (group < 0)
            continue;
        text = strndup(piece.text, piece.length);
        if (!text)
            TRY(weft_out_of_memory(error, "a source"));
        TRY(add_facet_source(bc, group, text, origin, degree, b, values, error));
        free(text);
        text = NULL;
    }
done:
    free(text);
    return status;
}

static weft_status make_cell_source(const weft_bc *bc, const char *source, const char *origin,
                                    int degree, weft_memory *b, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_limits *limits = weft_device_limits(bc->context->device);
    weft_connectivity *cells = weft_space_cells(bc->space);
    const int64_t n_indices = weft_connectivity_from(cells) * weft_connectivity_width(cells);
    const bool has_ranges = weft_connectivity_ranges(limits, (size_t)n_indices) > 1;
    weft_memory *indices = NULL;
    weft_bound_form form;
    TRY(weft_form_ship(bc->space, has_ranges ? "load_add.weft" : "load.weft", cells, &form, error));
    if (has_ranges) { /* of indices that the operator needs, too */
        TRY(weft_memory_zero(b, error));
        TRY(weft_connectivity_interleaved(cells, limits->lanes_double, &indices, error));
        weft_form_bind_input(&form, "b", b);
    }
    weft_form_bind_expression(&form, "source", source, origin);
    weft_form_bind_parameter(&form, "degree", degree);
    TRY(weft_bc_add_load(bc, &form, weft_space_mesh(bc->space)->n_cells, b, values, error));
done:
    return status;
}

static weft_status make_source(const weft_bc *bc, const char *source, const char *origin,
                               int degree, weft_memory *b, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text cells = {0};
    if (!source || is_zero(source))
        goto done;
    if (bc->place.n_dofs > 0)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE,
                           "sources are for the functions of one space, not for mixed ones"));
    origin = origin ? origin : "source";
    if (!weft_formula_by_group(source)) {
        status = make_cell_source(bc, source, origin, degree, b, values, error);
        goto done;
    }
    TRY(cell_source(bc, source, origin, &cells, error));
    if (cells.length > 0)
        TRY(make_cell_source(bc, cells.data, origin, degree, b, values, error));
    TRY(add_facet_sources(bc, source, origin, degree, b, values, error));
done:
    weft_text_free(&cells);
    return status;
}

int64_t weft_bc_dofs(const weft_bc *bc) {
    return bc->place.n_dofs > 0 ? bc->place.n_dofs : weft_space_dofs(bc->space);
}

bool weft_bc_has_flux(const weft_condition *condition) {
    return condition->kind != WEFT_DIRICHLET && !is_zero(condition->value);
}

weft_status weft_bc_flux_form(const weft_bc *bc, const weft_bc_piece *piece, int degree,
                              weft_memory *b, weft_bound_form *out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_bc_form(bc, piece, true, degree, out, error));
    weft_form_bind_input(out, "b", b);
    weft_form_bind_expression(out, "flux", piece->condition.value, piece->condition.origin);
done:
    return status;
}

static weft_status add_fluxes(const weft_bc *bc, int degree, weft_memory *b, double *values,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < bc->n_pieces; ++i) {
        const weft_bc_piece *piece = &bc->pieces[i];
        weft_bound_form form;
        if (!weft_bc_has_flux(&piece->condition))
            continue;
        TRY(weft_bc_flux_form(bc, piece, degree, b, &form, error));
        TRY(weft_bc_add_load(bc, &form, bc->facets[piece->facets].n, b, values, error));
    }
    for (int i = 0; i < bc->n_joined; ++i)
        TRY(add_fluxes(bc->joined[i], degree, b, values, error));
done:
    return status;
}

weft_status weft_bc_load_make(weft_bc *bc, const char *source, const char *origin, int degree,
                              weft_memory *b, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(make_source(bc, source, origin, degree, b, values, error));
    TRY(add_fluxes(bc, degree, b, values, error));
done:
    return status;
}

typedef struct integrals {
    double source, flux; /* int f, int g: the shape functions sum to 1 */
    double size;         /* about int |f| + int |g| */
} integrals;

static weft_status integrate(weft_bc *bc, const char *source, const char *origin, int degree,
                             integrals *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = bc->context->device;
    const int64_t n = weft_space_dofs(bc->space);
    double *f = NULL, *g = NULL;
    weft_memory *f_memory = NULL, *g_memory = NULL;
    TRY(weft_vector_make(device, n, &f, &f_memory, error));
    TRY(weft_vector_make(device, n, &g, &g_memory, error));
    TRY(make_source(bc, source, origin, degree, f_memory, f, error));
    TRY(add_fluxes(bc, degree, g_memory, g, error));
    const weft_share *share = weft_connectivity_to_share(weft_space_cells(bc->space));
    double of_f = 0, of_g = 0;
    TRY(weft_share_sums(share, f, n, &out->source, &of_f, error));
    TRY(weft_share_sums(share, g, n, &out->flux, &of_g, error));
    out->size = of_f + of_g;
done:
    weft_memory_free(&f_memory);
    weft_memory_free(&g_memory);
    free(f);
    free(g);
    return status;
}

weft_status weft_bc_balance(weft_bc *bc, const char *source, const char *origin, weft_balance *out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    integrals low, high;
    TRY(integrate(bc, source, origin, WEFT_LOAD_DEGREE, &low, error));
    TRY(integrate(bc, source, origin, DEGREE_CHECK, &high, error));
    const double doubt = 2 * (fabs(high.source - low.source) + fabs(high.flux - low.flux));
    const double rounding = SUM_ROUNDING * high.size;
    *out = (weft_balance){.source = high.source,
                          .flux = high.flux,
                          .sum = high.source + high.flux,
                          .rounding = rounding,
                          .bound = fmax(rounding, fmin(doubt, SUM_QUADRATURE * high.size))};
done:
    return status;
}

weft_balance weft_balance_of_sums(double sum, double size) {
    return (weft_balance){.source = NAN,
                          .flux = NAN,
                          .sum = sum,
                          .rounding = SUM_ROUNDING * size,
                          .bound = SUM_QUADRATURE * size};
}

weft_balance weft_balance_of(const double *b, int64_t n) {
    double size = 0;
    for (int64_t i = 0; i < n; ++i)
        size += fabs(b[i]);
    return weft_balance_of_sums(weft_sum(b, n), size);
}
