/* The matrix of a problem for functions of a lower degree, as multigrid needs it: the form with other arguments. */
#include "forms/compile/compile.h"
#include "forms/operators/operators.h"
#include "forms/transform/transform.h"

/* Is it a continuous Lagrange element, also with several components? */
static bool can_be_lowered(const ufl_element *element) {
    const ufl_element *nodal = ufl_nodal_element(element);
    return nodal->n_sub == 0 && ufl_element_is_lattice(nodal) && !nodal->discontinuous &&
           !nodal->tensor_order && !element->symmetric;
}

static const ufl_element *of_degree(weft_ufl *ufl, const ufl_element *element, int degree,
                                    bool is_scalar) {
    const ufl_element *nodal = ufl_nodal_element(element);
    const ufl_element *made =
        ufl_element_make(&ufl->elements, "Lagrange", nodal->cell, degree, false);
    return !made || is_scalar || nodal == element
               ? made
               : ufl_element_blocked(&ufl->elements, made, element->shape, element->rank, false);
}

/* A function of one subspace of a mixed space as one of the whole: zero elsewhere. */
static const ufl_node *widened(weft_ufl *ufl, const ufl_node *function, const ufl_space *whole,
                               int field) {
    ufl_graph *graph = &ufl->graph;
    const ufl_element *element = whole->element;
    const ufl_node **parts =
        ufl_alloc(&ufl->context, (size_t)element->value_size, sizeof(ufl_node *));
    int at = 0;
    for (int i = 0; parts && i < element->n_sub; ++i)
        for (int k = 0; k < element->sub[i]->value_size; ++k) {
            const ufl_component component = {UFL_COMPONENT_FIXED, k};
            parts[at++] = i != field ? ufl_zero_scalar(graph)
                          : element->sub[i]->rank == 0
                              ? function
                              : ufl_getitem(graph, function, &component, 1);
        }
    return parts ? ufl_list_tensor(graph, parts, at) : NULL;
}

static bool refuse(weft_ufl *ufl, const ufl_element *element) {
    ufl_fail(&ufl->context, WEFT_ERROR_UNSUPPORTED,
             "functions of %s have none of a lower degree among them", element->name);
    return false;
}

static const ufl_element *element_of(const ufl_problem *of, int field) {
    const ufl_element *element = of->matrix->arguments[0]->space->element;
    return element->kind == UFL_MIXED ? element->sub[field] : element;
}

/* A scalar as the first component of a vector. */
static const ufl_node *first_of(weft_ufl *ufl, const ufl_node *scalar, int n) {
    const ufl_node **parts = ufl_alloc(&ufl->context, (size_t)n, sizeof(ufl_node *));
    for (int i = 0; parts && i < n; ++i)
        parts[i] = i == 0 ? scalar : ufl_zero_scalar(&ufl->graph);
    return parts ? ufl_list_tensor(&ufl->graph, parts, n) : NULL;
}

/* The form with other arguments. */
static const ufl_form *replaced(weft_ufl *ufl, const ufl_problem *of, int field,
                                const ufl_space *space) {
    const ufl_element *element = element_of(of, field);
    const ufl_node *old[2] = {of->matrix->arguments[0], of->matrix->arguments[1]}, *made[2];
    for (int i = 0; i < 2; ++i) {
        made[i] = ufl_argument(&ufl->graph, space, old[i]->detail);
        if (made[i] && element->rank == 1 && space->element->rank == 0)
            made[i] = first_of(ufl, made[i], element->value_size);
        if (made[i] && old[i]->space->element->kind == UFL_MIXED)
            made[i] = widened(ufl, made[i], old[i]->space, field);
        if (!made[i])
            return NULL;
    }
    const ufl_form *form = ufl_expand_derivatives(&ufl->graph, of->matrix_form);
    return form ? ufl_replace(&ufl->graph, form, old, made, 2) : NULL;
}

const ufl_form *ufl_standard_form(weft_ufl *ufl, weft_coarse_form form, const ufl_space *space) {
    ufl_graph *graph = &ufl->graph;
    const ufl_node *arguments[2] = {ufl_argument(graph, space, 0), ufl_argument(graph, space, 1)};
    const ufl_measure dx = {.type = UFL_CELL, .metadata = {.degree = -1, .others = ""}};
    for (int i = 0; i < 2 && form == WEFT_COARSE_LAPLACIAN; ++i)
        arguments[i] = ufl_spatial(graph, UFL_GRAD, arguments[i]);
    const ufl_node *integrand = ufl_tensor_binary(graph, UFL_INNER, arguments[1], arguments[0]);
    return integrand ? ufl_form_integrate(graph, integrand, &dx) : NULL;
}

/* The form with arguments of this degree in place of its own, prepared. */
static bool take_form(weft_ufl *ufl, const ufl_problem *of, weft_coarse_form kind, int field,
                      int degree, ufl_problem *out) {
    const ufl_element *element = element_of(of, field);
    const ufl_mesh *mesh = of->matrix->arguments[0]->space->mesh;
    const bool is_own = kind == WEFT_COARSE_PROBLEM || kind == WEFT_COARSE_COMPONENT;
    if (!can_be_lowered(element) || element->rank > is_own)
        return refuse(ufl, element);
    const ufl_element *lower = of_degree(ufl, element, degree, kind == WEFT_COARSE_COMPONENT);
    const ufl_space *space = lower ? ufl_space_make(&ufl->elements, mesh, lower) : NULL;
    if (!space)
        return false;
    out->matrix_form =
        is_own ? replaced(ufl, of, field, space) : ufl_standard_form(ufl, kind, space);
    out->matrix = out->matrix_form ? ufl_prepare(&ufl->graph, out->matrix_form, &ufl->names) : NULL;
    if (out->matrix && out->matrix->n_arguments != 2)
        return refuse(ufl, element);
    return out->matrix != NULL;
}

const ufl_problem *ufl_problem_coarse(weft_ufl *ufl, const ufl_problem *of, weft_coarse_form form,
                                      int field, int degree) {
    static const char *const suffixes[] = {"", "_component", "_mass", "_laplacian"};
    ufl_problem *made = ufl_alloc(&ufl->context, 1, sizeof *made);
    if (!made)
        return NULL;
    made->of = of;
    made->unknown = of->unknown;
    made->shown.matrix =
        ufl_print(&ufl->context, "%s%s_p%d_%d", of->shown.matrix, suffixes[form], degree, field);
    if (!made->shown.matrix || !take_form(ufl, of, form, field, degree, made) ||
        !ufl_problem_lower(ufl, made))
        return NULL;
    return made;
}

/* Is every argument below a derivative? */
static bool differentiates(ufl_graph *graph, const ufl_node *node) {
    if (node->type == UFL_ARGUMENT)
        return false;
    if (node->type == UFL_GRAD || ufl_is_terminal(node))
        return true;
    for (int i = 0; i < node->n_operands; ++i)
        if (!differentiates(graph, ufl_operand(node, i)))
            return false;
    return true;
}

/* Terms of derivatives over the cells alone. */
static bool is_elliptic(weft_ufl *ufl, const ufl_form *form) {
    form = form ? ufl_expand_derivatives(&ufl->graph, form) : NULL;
    for (int i = 0; form && i < form->n_integrals; ++i)
        if (form->integrals[i].type != UFL_CELL ||
            !differentiates(&ufl->graph, form->integrals[i].integrand))
            return false;
    return form && form->n_integrals > 0;
}

static bool is_saddle(weft_ufl *ufl, const ufl_problem *problem) {
    const ufl_space *space = problem->matrix->arguments[0]->space;
    const ufl_element *const *sub = space->element->sub;
    if (space->element->kind != UFL_MIXED || space->element->n_sub != 2 ||
        !can_be_lowered(sub[0]) || !can_be_lowered(sub[1]) || sub[0]->rank != 1 ||
        sub[1]->rank != 0 || sub[0]->degree <= sub[1]->degree)
        return false;
    const ufl_space *first = ufl_space_make(&ufl->elements, space->mesh, sub[0]),
                    *second = ufl_space_make(&ufl->elements, space->mesh, sub[1]);
    const ufl_form *none = first && second ? replaced(ufl, problem, 1, second) : NULL;
    none = none ? ufl_expand_derivatives(&ufl->graph, none) : NULL;
    return none && none->n_integrals == 0 && is_elliptic(ufl, replaced(ufl, problem, 0, first));
}

bool weft_ufl_is_saddle(weft_ufl *ufl) {
    weft_error ignored = {0};
    ufl->context.status = WEFT_OK;
    ufl->context.error = &ignored;
    const bool found = ufl->problem && is_saddle(ufl, ufl->problem);
    ufl->context.error = NULL;
    ufl->context.status = WEFT_OK;
    return found;
}

static bool is_uncoupled(weft_ufl *ufl, const ufl_problem *problem, int field) {
    const ufl_element *element = element_of(problem, field);
    const ufl_space *space =
        ufl_space_make(&ufl->elements, problem->matrix->arguments[0]->space->mesh, element);
    if (!space || !can_be_lowered(element) || element->rank != 1)
        return false;
    const ufl_form *form = replaced(ufl, problem, field, space);
    const ufl_prepared *prepared = form ? ufl_prepare(&ufl->graph, form, &ufl->names) : NULL;
    for (int i = 0; prepared && i < prepared->form.n_integrals; ++i)
        if (!ufl_is_uncoupled(&ufl->graph, prepared, i))
            return false;
    return prepared != NULL;
}

bool weft_ufl_is_uncoupled(weft_ufl *ufl, int field) {
    weft_error ignored = {0};
    ufl->context.status = WEFT_OK;
    ufl->context.error = &ignored;
    const bool found = ufl->problem && is_uncoupled(ufl, ufl->problem, field);
    ufl->context.error = NULL;
    ufl->context.status = WEFT_OK;
    return found;
}

/* The set with the same entries in the problem that a coarse one is of; -1: none. */
static int find_set(const ufl_problem *coarse, int set) {
    for (int i = 0; set > 0 && i < coarse->of->shown.n_sets; ++i)
        if (coarse->of->elements[i] == coarse->elements[set])
            return i;
    return -1;
}

weft_status weft_ufl_problem_coarse(weft_ufl *ufl, weft_coarse_form form, int field, int degree,
                                    weft_library *library, const weft_ufl_problem **out,
                                    int sets[UFL_SETS_MAX], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error ignored = {0};
    ufl->context.status = WEFT_OK;
    ufl->context.error = error ? error : &ignored;
    const ufl_problem *made = ufl_problem_coarse(ufl, ufl->problem, form, field, degree);
    ufl->context.error = NULL;
    status = ufl->context.status;
    ufl->context.status = WEFT_OK;
    TRY(status);
    for (int i = 0; i < made->shown.n_parts; ++i) {
        const ufl_part_calls *calls = &made->calls[i];
        TRY(ufl_lowered_add(calls->matrix.list, calls->matrix.n, library, error));
        TRY(ufl_lowered_add(calls->action.list, calls->action.n, library, error));
        TRY(ufl_lowered_add(calls->diagonal.list, calls->diagonal.n, library, error));
    }
    for (int i = 0; i < made->shown.n_sets; ++i)
        sets[i] = find_set(made, i);
    *out = &made->shown;
done:
    return status;
}
