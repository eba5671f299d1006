/* Makes derived quantities: checks names, finds groups, compiles; and collects the results of a run. */
#include "fem/derive/tabulated.h"
#include "fem/space/space.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_identifier(const char *name) {
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    for (const char *c = name; *c; ++c)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return strlen(name) < 100;
}

bool weft_derive_reserves(const char *name) {
    static const char *const own[] = {"x",      "y",    "z",      "t",      "pi",
                                      "normal", "grad", "strain", "stress", "select"};
    for (size_t i = 0; i < sizeof own / sizeof *own; ++i)
        if (strcmp(name, own[i]) == 0)
            return true;
    return strncmp(name, "derived_", 8) == 0;
}

static bool is_reserved(const weft_derive_problem *problem, const char *name) {
    return weft_derive_reserves(name) ||
           strcmp(name, problem->solution ? problem->solution : "u") == 0;
}

bool derive_is_equal(const char *a, const char *b) {
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static weft_status check_name(const weft_derive *derive, int i, weft_error *error) {
    const weft_derived_quantity *given = &derive->quantities[i].given;
    const char *hint = NULL;
    if (!is_identifier(given->name)) {
        weft_error_set(error, WEFT_ERROR_USAGE, "'%s' is not a name for a derived quantity",
                       given->name);
        hint = "a name has letters, digits and _, begins with no digit, and has at most 99 bytes";
    } else if (given->kind == WEFT_DERIVE_FIELD && is_reserved(&derive->problem, given->name)) {
        weft_error_set(error, WEFT_ERROR_USAGE, "the name '%s' means something else in formulas",
                       given->name);
        hint = "choose another name";
    }
    for (int k = 0; k < i && !hint; ++k) {
        const weft_derived_quantity *other = &derive->quantities[k].given;
        if (strcmp(other->name, given->name) != 0 || other->kind != given->kind ||
            !derive_is_equal(other->group, given->group))
            continue;
        weft_error_set(error, WEFT_ERROR_USAGE, "'%s' is given twice", given->name);
        hint = "choose another name";
    }
    if (!hint)
        return WEFT_OK;
    weft_error_location(error, given->origin, NULL, 0, 0);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_USAGE;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const char *copy(weft_arena *arena, const char *text) {
    return text ? weft_arena_copy(arena, text, strlen(text)) : NULL;
}

static weft_status copy_quantities(weft_derive *derive, const weft_derived_quantity *quantities,
                                   int n, weft_error *error) {
    derive->quantities = weft_arena_alloc(derive->arena, (size_t)n + 1, sizeof(derive_quantity));
    derive->fields = weft_arena_alloc(derive->arena, (size_t)n + 1, sizeof *derive->fields);
    derive->values = weft_arena_alloc(derive->arena, (size_t)n + 1, sizeof *derive->values);
    if (!derive->quantities || !derive->fields || !derive->values)
        return weft_out_of_memory(error, "derived quantities");
    derive_order *order = weft_arena_alloc(derive->arena, (size_t)n + 1, sizeof *order);
    if (!order)
        return weft_out_of_memory(error, "derived quantities");
    if (derive_order_find(quantities, n, order, error) != WEFT_OK)
        return WEFT_ERROR_USAGE;
    for (int i = 0; i < n; ++i) {
        const weft_derived_quantity *from = &quantities[order[i].given];
        derive_quantity *to = &derive->quantities[i];
        to->index = i;
        to->rank_of_kind = order[i].rank;
        to->given = (weft_derived_quantity){.kind = from->kind,
                                            .name = copy(derive->arena, from->name),
                                            .group = copy(derive->arena, from->group),
                                            .text = copy(derive->arena, from->text),
                                            .origin = copy(derive->arena, from->origin)};
        if (!to->given.name || !to->given.text || !to->given.origin ||
            (from->group && !to->given.group))
            return weft_out_of_memory(error, "derived quantities");
    }
    derive->n_quantities = n;
    return WEFT_OK;
}

/* The programs of formulas over cells and over facets. */
static weft_status make_programs(weft_derive *derive, weft_error *error) {
    weft_status status = WEFT_OK;
    if (derive->tabulated)
        TRY(derive_tabulated_prepare(derive, error));
    for (int e = 0; e < 2; ++e)
        TRY(derive->tabulated ? derive_pointwise_make(derive, (derive_elements)e, error)
                              : derive_part_make(derive, (derive_elements)e, error));
done:
    return status;
}

static weft_status make(weft_derive *derive, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = weft_space_mesh(derive->problem.space)->dimension;
    if (derive->problem.n_functions > 0)
        TRY(derive_tabulated_make(derive, error));
    for (int i = 0; i < derive->n_quantities; ++i) {
        TRY(check_name(derive, i, error));
        TRY(derive_elements_find(derive, i, error));
    }
    TRY(derive_scope_make(derive->context, &derive->problem, derive->tabulated, &derive->scope,
                          error));
    for (int e = 0; e < 2 && !derive->tabulated; ++e)
        TRY(derive_points_make(d, (derive_elements)e, &derive->parts[e].points, error));
    for (int i = 0; i < derive->n_quantities; ++i) {
        TRY(derive_quantity_check(derive, i, error));
        TRY(derive_side_check(derive, &derive->quantities[i], error));
    }
    TRY(weft_memory_make(derive->context->device, sizeof(double), &derive->t, error));
    TRY(make_programs(derive, error));
done:
    return status;
}

/* Without functions the solution is P1 on triangles or tetrahedra. Nodal fields need nodes. */
static weft_status check_space(const weft_derive_problem *problem, weft_error *error) {
    const weft_space *space = problem->space;
    const weft_mesh *mesh = weft_space_mesh(space);
    const bool has_nodes = weft_space_element(space)->lattice_degree > 0;
    if (problem->n_functions > 0 ? has_nodes || problem->projection == WEFT_PROJECT_NONE
                                 : weft_space_is_barycentric(space))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   problem->n_functions > 0
                       ? "this element has no nodes for fields at nodes"
                       : "derived quantities are of linear elements on triangles and tetrahedra");
    weft_error_location(error, mesh->source, NULL, 0, 0);
    weft_error_hint(error, problem->n_functions > 0
                               ? "leave out the projection"
                               : "take a mesh of triangles or tetrahedra, and degree 1");
    return WEFT_ERROR_UNSUPPORTED;
}

weft_status weft_derive_make(weft_context *context, const weft_derive_problem *problem,
                             const weft_derived_quantity *quantities, int n, weft_derive **out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_derive *derive = calloc(1, sizeof *derive);
    if (!derive)
        TRY(weft_out_of_memory(error, "derived quantities"));
    *derive = (weft_derive){.context = context, .problem = *problem};
    TRY(check_space(problem, error));
    TRY(weft_arena_make(&derive->arena, error));
    TRY(copy_quantities(derive, quantities, n, error));
    TRY(make(derive, error));
    derive->problem.functions = NULL;
    derive->problem.constants = NULL;
    derive->problem.n_constants = 0;
    *out = derive;
    derive = NULL;
done:
    weft_derive_free(&derive);
    return status;
}

static void free_quantity(derive_quantity *quantity) {
    for (int k = 0; k < quantity->n_lists; ++k) {
        if (quantity->memories)
            weft_memory_free(&quantity->memories[k]);
        if (quantity->lists)
            free(quantity->lists[k]);
    }
    free(quantity->rows);
}

void weft_derive_free(weft_derive **derive) {
    if (!derive || !*derive)
        return;
    derive_tabulated_free(*derive);
    for (int e = 0; e < 2; ++e)
        derive_part_free(&(*derive)->parts[e]);
    for (int i = 0; i < (*derive)->n_quantities; ++i)
        free_quantity(&(*derive)->quantities[i]);
    weft_operator_free(&(*derive)->mass);
    weft_memory_free(&(*derive)->t);
    derive_scope_free(&(*derive)->scope);
    weft_arena_free(&(*derive)->arena);
    free(*derive);
    *derive = NULL;
}

/* ---- results --------------------------------------------------------------------------------- */

/* The rows of a nodal matrix, which are lists of their own, beside each other. */
static weft_status join_rows(const weft_derive *derive, derive_quantity *quantity,
                             weft_error *error) {
    const int64_t n = weft_space_nodes(derive->problem.space);
    const int c = quantity->list_components, rows = quantity->n_lists;
    if (!quantity->rows)
        quantity->rows = weft_array_make((size_t)n, (size_t)(rows * c) * sizeof(double));
    if (!quantity->rows)
        return weft_out_of_memory(error, "derived quantities");
    for (int64_t i = 0; i < n; ++i)
        for (int r = 0; r < rows; ++r)
            memcpy(quantity->rows + (i * rows + r) * c, quantity->lists[r] + i * c,
                   (size_t)c * sizeof(double));
    return WEFT_OK;
}

static weft_status collect(weft_derive *derive, weft_error *error) {
    weft_status status = WEFT_OK;
    derive->n_fields = derive->n_values = 0;
    for (int i = 0; i < derive->n_quantities; ++i)
        *(derive->quantities[i].given.kind == WEFT_DERIVE_FIELD ? &derive->n_fields
                                                                : &derive->n_values) += 1;
    for (int i = 0; i < derive->n_quantities; ++i) {
        derive_quantity *quantity = &derive->quantities[i];
        if (quantity->given.kind != WEFT_DERIVE_FIELD) {
            derive_value_compute(derive, quantity, &derive->values[quantity->rank_of_kind]);
            continue;
        }
        if (quantity->n_lists > 1)
            TRY(join_rows(derive, quantity, error));
        derive->fields[quantity->rank_of_kind] =
            (weft_field){.name = quantity->given.name,
                         .on_cells = derive->problem.projection == WEFT_PROJECT_NONE,
                         .n_components = quantity->n_components,
                         .values = quantity->n_lists > 1 ? quantity->rows : quantity->lists[0]};
    }
done:
    return status;
}

weft_status weft_derive_run(weft_derive *derive, double t, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_memory_write(derive->t, 0, &t, sizeof t, error));
    if (derive->tabulated)
        TRY(derive_pointwise_run(derive, error));
    for (int e = 0; e < 2 && !derive->tabulated; ++e)
        TRY(derive_part_run(derive, (derive_elements)e, error));
    if (!weft_device_limits(derive->context->device)->records_only)
        TRY(collect(derive, error));
done:
    return status;
}

int weft_derive_fields(const weft_derive *derive, const weft_field **fields) {
    *fields = derive->fields;
    return derive->n_fields;
}

int weft_derive_values(const weft_derive *derive, const weft_derived_value **values) {
    *values = derive->values;
    return derive->n_values;
}
