/* Conditions by groups become constrained dofs with values, and forms over facets. */
#include "fem/base/marks.h"
#include "fem/bc/private.h"
#include "fem/space/layout.h"
#include "fem/space/space.h"
#include "fem/space/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a whole mesh: a part of it may have none. */
static weft_status refuse_empty(const weft_condition *condition, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "the group '%s' has no facets on which a condition could hold",
                   condition->group);
    weft_error_location(error, condition->origin, NULL, 0, 0);
    weft_error_hint(error,
                    "name a group of facets of the mesh: lines in the plane, surfaces in space");
    return WEFT_ERROR_INPUT;
}

/* The facets of a group, found once however many conditions it has. */
static weft_status find_facets(weft_bc *bc, weft_bc_piece *piece, weft_error *error) {
    weft_status status = WEFT_OK;
    const int component = bc->place.n_dofs > 0 ? piece->condition.component : -1;
    for (int i = 0; i < bc->n_facets; ++i)
        if (bc->facets[i].group == piece->group && bc->facets[i].component == component) {
            piece->facets = i;
            return WEFT_OK;
        }
    piece->facets = bc->n_facets++;
    weft_bc_facets *facets = &bc->facets[piece->facets];
    status = weft_bc_facets_make(bc, piece->group, component, facets, error);
    if (status != WEFT_OK)
        weft_error_location(error, piece->condition.origin, NULL, 0, 0);
    else if (facets->n == 0 && !weft_space_mesh(bc->space)->part)
        status = refuse_empty(&piece->condition, error);
    return status;
}

/* Of facets; for values at nodes also of points. */
static weft_status find_group(const weft_space *space, const weft_condition *condition, int *group,
                              weft_error *error) {
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_status status = condition->kind == WEFT_DIRICHLET
                                   ? weft_mesh_place(mesh, condition->group, group, error)
                                   : weft_mesh_group(mesh, condition->group, group, error);
    if (status != WEFT_OK && error && !error->file[0])
        weft_error_location(error, condition->origin, NULL, 0, 0);
    return status;
}

weft_status weft_condition_nodes(const weft_space *space, const weft_condition *condition,
                                 int32_t **out, int64_t *n, weft_error *error) {
    weft_status status = WEFT_OK;
    int32_t *nodes = NULL;
    int64_t count = 0;
    int group = 0;
    TRY(find_group(space, condition, &group, error));
    TRY(weft_space_group_nodes(space, group, &nodes, &count, error));
    if (count == 0 && !weft_space_mesh(space)->part)
        TRY(refuse_empty(condition, error));
    *out = nodes;
    *n = count;
    nodes = NULL;
done:
    free(nodes);
    return status;
}

/* No flux through the whole boundary, which nothing is integrated for. */
static bool is_natural(const weft_bc_piece *piece) {
    return piece->condition.kind == WEFT_NEUMANN && piece->group < 0 &&
           !weft_bc_has_flux(&piece->condition);
}

/* The dof of a condition at a node: one of a vector field is about all components. */
static int64_t dof_of(const weft_bc *bc, const weft_condition *condition, int32_t node) {
    return weft_space_is_mapped(bc->space)
               ? node
               : (int64_t)node * weft_space_components(bc->space) + condition->component;
}

static weft_status refuse_flux(const weft_condition *condition, weft_error *error) {
    weft_error_set(
        error, WEFT_ERROR_UNSUPPORTED,
        "fluxes are not prescribed for functions with continuous tangential or normal components");
    weft_error_location(error, condition->origin, NULL, 0, 0);
    weft_error_hint(error, "write it into the forms, as an integral over ds");
    return WEFT_ERROR_UNSUPPORTED;
}

static weft_status place_piece(weft_bc *bc, weft_bc_piece *piece, unsigned char *marks,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_condition *condition = &piece->condition;
    if (condition->kind == WEFT_DIRICHLET) {
        TRY(weft_condition_nodes(bc->space, condition, &piece->nodes, &piece->n_nodes, error));
        for (int64_t i = 0; i < piece->n_nodes; ++i)
            marks[dof_of(bc, condition, piece->nodes[i])] = 1;
        goto done;
    }
    TRY(find_group(bc->space, condition, &piece->group, error));
    piece->facets = -1;
    if (!is_natural(piece) && weft_space_is_mapped(bc->space))
        TRY(refuse_flux(condition, error));
    if (!is_natural(piece))
        TRY(find_facets(bc, piece, error));
done:
    return status;
}

/* Without any condition u is zero on the whole boundary. */
static weft_status mark_boundary(weft_bc *bc, unsigned char *marks, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_components(bc->space);
    int32_t *nodes = NULL;
    int64_t n = 0;
    TRY(weft_space_group_nodes(bc->space, -1, &nodes, &n, error));
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < c; ++k)
            marks[(int64_t)nodes[i] * c + k] = 1;
done:
    free(nodes);
    return status;
}

static weft_status collect_marks(weft_bc *bc, const unsigned char *marks, weft_error *error) {
    const int64_t n = weft_space_dofs(bc->space);
    bc->n_constrained = weft_marks_count(marks, n);
    bc->constrained = weft_array_make((size_t)bc->n_constrained, sizeof *bc->constrained);
    bc->given = weft_array_make((size_t)bc->n_constrained, sizeof *bc->given);
    if (!bc->constrained || !bc->given)
        return weft_out_of_memory(error, "boundary conditions");
    weft_marks_list(marks, n, bc->constrained);
    return WEFT_OK;
}

/* Write g of one condition to all [dofs], of which the constrained ones are then read. */
static weft_status evaluate(weft_bc *bc, const weft_bc_piece *piece, double *all,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_condition *condition = &piece->condition;
    const int c = weft_space_components(bc->space);
    weft_memory *memory = NULL;
    double *values = NULL, constant = 0;
    if (!weft_formula_constant(condition->value, &constant)) {
        TRY(weft_vector_make(bc->context->device, weft_space_nodes(bc->space), &values, &memory,
                             error));
        TRY(weft_space_evaluate_timed(
            bc->context, bc->space,
            &(weft_timed_formula){condition->value, condition->origin, bc->when}, memory, values,
            error));
        if (strchr(condition->value, '@')) /* a node has the value of the last of its groups */
            TRY(weft_space_take_owners(bc->space, values, error));
    }
    for (int64_t i = 0; i < piece->n_nodes && !bc->is_null; ++i) {
        const int32_t node = piece->nodes[i];
        const double value = values ? values[node] : constant;
        if (!isfinite(value))
            TRY(weft_formula_refuse(bc->space, condition->value, condition->origin, node, error));
        all[(int64_t)node * c + condition->component] = value;
    }
done:
    weft_memory_free(&memory);
    free(values);
    return status;
}

/* The formula of another component with the same group, the last one; NULL: there is none. */
static const char *text_of(const weft_bc *bc, const weft_condition *condition, int component) {
    const char *text = NULL;
    for (int i = 0; i < bc->n_pieces; ++i) {
        const weft_condition *other = &bc->pieces[i].condition;
        if (other->kind == WEFT_DIRICHLET && other->component == component &&
            strcmp(other->group, condition->group) == 0)
            text = other->value;
    }
    return text;
}

/* The dofs on the group of a vector field: its tangential components, or its normal one, follow from all components. */
static weft_status evaluate_mapped(weft_bc *bc, const weft_bc_piece *piece, double *all,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_condition *condition = &piece->condition;
    const int d = weft_space_mesh(bc->space)->dimension;
    const char *texts[3] = {NULL};
    double *values = NULL;
    for (int k = 0; k < d; ++k) {
        texts[k] = text_of(bc, condition, k);
        if (texts[k])
            continue;
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "a condition on functions with continuous tangential or normal components "
                       "has all %d components, and that on '%s' lacks component %d",
                       d, condition->group, k);
        weft_error_location(error, condition->origin, NULL, 0, 0);
        weft_error_hint(error, "write a vector: the component that is not continuous is not used");
        status = WEFT_ERROR_INPUT;
        goto done;
    }
    if (condition->component > 0) /* was set with the first */
        goto done;
    values = weft_array_make((size_t)weft_space_nodes(bc->space), sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "boundary conditions"));
    TRY(weft_mapped_evaluate(bc->context, bc->space, texts, condition->origin, bc->when, values,
                             error));
    for (int64_t i = 0; i < piece->n_nodes && !bc->is_null; ++i) {
        const int32_t node = piece->nodes[i];
        if (!isfinite(values[node]))
            TRY(weft_formula_refuse(bc->space, condition->value, condition->origin, node, error));
        all[node] = values[node];
    }
done:
    free(values);
    return status;
}

static weft_status evaluate_all(weft_bc *bc, weft_error *error) {
    weft_status status = WEFT_OK;
    double *all = NULL;
    if (bc->n_pieces == 0) /* u = 0 */
        goto done;
    all = weft_array_make_unset((uint64_t)weft_space_dofs(bc->space) * sizeof *all);
    if (!all)
        TRY(weft_out_of_memory(error, "boundary conditions"));
    for (int64_t i = 0; i < bc->n_constrained; ++i)
        all[bc->constrained[i]] = 0;
    for (int i = 0; i < bc->n_pieces; ++i)
        if (bc->pieces[i].condition.kind == WEFT_DIRICHLET)
            TRY((weft_space_is_mapped(bc->space) ? evaluate_mapped : evaluate)(bc, &bc->pieces[i],
                                                                               all, error));
    for (int64_t i = 0; i < bc->n_constrained; ++i)
        bc->given[i] = all[bc->constrained[i]];
done:
    free(all);
    return status;
}

static weft_status make_forms(weft_bc *bc, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < bc->n_pieces; ++i) {
        const weft_bc_piece *piece = &bc->pieces[i];
        weft_bound_form *form = &bc->bound[bc->n_forms];
        if (piece->condition.kind != WEFT_ROBIN)
            continue;
        TRY(weft_bc_form(bc, piece, false, WEFT_LOAD_DEGREE, form, error));
        weft_form_bind_expression(form, "alpha", piece->condition.alpha, piece->condition.origin);
        bc->forms[bc->n_forms++] = form->form;
    }
done:
    return status;
}

/* Room for n conditions, of which so many are Robin's. */
static weft_status allocate(weft_bc *bc, const weft_condition *conditions, int n,
                            weft_error *error) {
    size_t n_robin = 0;
    for (int i = 0; i < n; ++i)
        n_robin += conditions[i].kind == WEFT_ROBIN;
    bc->pieces = calloc((size_t)n + 1, sizeof *bc->pieces);
    bc->facets = calloc((size_t)n + 1, sizeof *bc->facets);
    bc->bound = calloc(n_robin + 1, sizeof *bc->bound);
    bc->forms = calloc(n_robin + 1, sizeof *bc->forms);
    if (!bc->pieces || !bc->facets || !bc->bound || !bc->forms)
        return weft_out_of_memory(error, "boundary conditions");
    for (int i = 0; i < n; ++i) {
        bc->pieces[i].condition = conditions[i];
        if (!conditions[i].origin)
            bc->pieces[i].condition.origin = conditions[i].group;
    }
    bc->n_pieces = n;
    return WEFT_OK;
}

weft_status weft_bc_make(weft_context *context, const weft_space *space,
                         const weft_condition *conditions, int n, weft_bc **out,
                         weft_error *error) {
    return weft_bc_make_in(context, space, NULL, conditions, n, out, error);
}

weft_status weft_bc_make_in(weft_context *context, const weft_space *space,
                            const weft_bc_place *place, const weft_condition *conditions, int n,
                            weft_bc **out, weft_error *error) {
    weft_status status = WEFT_OK;
    unsigned char *marks = weft_array_make((size_t)weft_space_dofs(space), 1);
    weft_bc *bc = calloc(1, sizeof *bc);
    if (!marks || !bc)
        TRY(weft_out_of_memory(error, "boundary conditions"));
    *bc = (weft_bc){.context = context,
                    .space = space,
                    .place = place ? *place : (weft_bc_place){0, 0},
                    .is_barycentric = !place && weft_space_is_barycentric(space),
                    .is_null = weft_device_limits(context->device)->records_only};
    TRY(weft_memory_make(context->device, sizeof(double), &bc->when, error));
    TRY(allocate(bc, conditions, n, error));
    for (int i = 0; i < n; ++i)
        TRY(place_piece(bc, &bc->pieces[i], marks, error));
    if (n == 0)
        TRY(mark_boundary(bc, marks, error));
    TRY(collect_marks(bc, marks, error));
    TRY(evaluate_all(bc, error));
    TRY(make_forms(bc, error));
    bc->n_all_forms = bc->n_forms;
    *out = bc;
    bc = NULL;
done:
    free(marks);
    weft_bc_free(&bc);
    return status;
}

weft_status weft_bc_join(weft_bc *bc, weft_bc *other, weft_error *error) {
    const size_t n_forms = (size_t)(bc->n_all_forms + other->n_all_forms);
    weft_form *forms = realloc(bc->forms, (n_forms + 1) * sizeof *forms);
    if (!forms)
        return weft_out_of_memory(error, "boundary conditions");
    bc->forms = forms;
    weft_bc **joined = realloc(bc->joined, (size_t)(bc->n_joined + 1) * sizeof *joined);
    if (!joined)
        return weft_out_of_memory(error, "boundary conditions");
    bc->joined = joined;
    bc->joined[bc->n_joined++] = other;
    memcpy(forms + bc->n_all_forms, other->forms, (size_t)other->n_all_forms * sizeof *forms);
    bc->n_all_forms += other->n_all_forms;
    return WEFT_OK;
}

void weft_bc_free(weft_bc **bc) {
    if (!bc || !*bc)
        return;
    weft_bc_steps_free(*bc);
    weft_memory_free(&(*bc)->when);
    for (int i = 0; i < (*bc)->n_pieces; ++i)
        free((*bc)->pieces[i].nodes);
    for (int i = 0; i < (*bc)->n_facets; ++i)
        weft_bc_facets_free(&(*bc)->facets[i]);
    free((*bc)->facets);
    free((*bc)->pieces);
    free((*bc)->bound);
    free((*bc)->forms);
    free((*bc)->joined);
    free((*bc)->constrained);
    free((*bc)->given);
    free(*bc);
    *bc = NULL;
}

const int32_t *weft_bc_constrained(const weft_bc *bc, int64_t *n) {
    *n = bc->n_constrained;
    return bc->constrained;
}

weft_status weft_bc_owners(const weft_bc *bc, int32_t *out, weft_error *error) {
    const int c = weft_space_components(bc->space);
    const int64_t n = weft_space_dofs(bc->space);
    int32_t *all = weft_array_make((size_t)n, sizeof *all);
    if (!all)
        return weft_out_of_memory(error, "boundary conditions");
    for (int64_t i = 0; i < n && bc->n_pieces == 0; ++i)
        all[i] = (int32_t)(i % c);
    for (int k = 0; k < bc->n_pieces; ++k) {
        const weft_bc_piece *piece = &bc->pieces[k];
        for (int64_t i = 0; i < piece->n_nodes; ++i) /* of Dirichlet conditions only */
            all[dof_of(bc, &piece->condition, piece->nodes[i])] = k;
    }
    for (int64_t i = 0; i < bc->n_constrained; ++i)
        out[i] = all[bc->constrained[i]];
    free(all);
    return WEFT_OK;
}

void weft_bc_set(const weft_bc *bc, double factor, double *u) {
    for (int64_t i = 0; i < bc->n_constrained; ++i)
        u[bc->constrained[i]] = factor * bc->given[i];
}

int weft_bc_forms(const weft_bc *bc, const weft_form **forms) {
    *forms = bc->forms;
    return bc->n_all_forms;
}

weft_status weft_bc_operator_make(weft_bc *bc, weft_assembly assembly, const weft_form *cells,
                                  weft_operator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    const int n = bc->n_all_forms;
    weft_form *forms = calloc((size_t)n + 1, sizeof *forms);
    if (!forms)
        TRY(weft_out_of_memory(error, "boundary conditions"));
    forms[0] = *cells;
    memcpy(forms + 1, bc->forms, (size_t)n * sizeof *forms);
    TRY(weft_operator_make(bc->context, assembly, forms, n + 1, &op, error));
    TRY(weft_operator_assemble(op, error));
    *out = op;
    op = NULL;
done:
    weft_operator_free(&op);
    free(forms);
    return status;
}
