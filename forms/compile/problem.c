/* Finds the forms of a problem, lists its spaces and domains, and lowers its integrals. */
#include "forms/compile/compile.h"
#include "forms/operators/operators.h"
#include "fusion/script/script.h"

#include <ctype.h>
#include <string.h>

const char *ufl_kernel_name(weft_ufl *ufl, const char *form, int integral) {
    char *name = ufl_print(&ufl->context, "ufl_%s_%d", form, integral);
    for (char *c = name; c && *c; ++c)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    return name;
}

/* ---- the forms --------------------------------------------------------------------------- */

/* What F is differentiated by where the file has no J: `unknown`, or the coefficient that is called u. */
static const ufl_node *find_unknown(weft_ufl *ufl, const ufl_prepared *form) {
    const ufl_problem_of *stated = ufl->module->problem;
    const ufl_node *found = stated ? stated->solution : ufl->module->unknown,
                   *u = ufl_module_terminal(ufl->module, "u");
    for (int i = 0; !found && i < form->n_coefficients; ++i)
        if (form->coefficients[i] == u)
            found = u;
    for (int i = 0; !found && i < form->n_coefficients; ++i)
        if (form->coefficients[i]->space == form->arguments[0]->space)
            found = form->coefficients[i];
    return found;
}

static bool derive_tangent(weft_ufl *ufl, const ufl_form *form, ufl_problem *out) {
    const ufl_directions directions = {.w = &out->unknown, .n_w = 1};
    out->matrix_form = ufl_derivative(&ufl->graph, form, &directions);
    out->matrix = out->matrix_form ? ufl_prepare(&ufl->graph, out->matrix_form, &ufl->names) : NULL;
    if (!out->matrix || out->matrix->n_arguments == 2)
        return out->matrix != NULL;
    const char *name = ufl_module_name(ufl->module, out->unknown);
    ufl->context.place = form->place;
    ufl_fail(&ufl->context, WEFT_ERROR_INPUT, "the form %s does not depend on its unknown%s%s",
             out->shown.vector, name ? ", " : "", name ? name : "");
    ufl_hint(&ufl->context, "the unknown is what the file calls `unknown`, else the coefficient u, "
                            "else the first in the space of the test function");
    return false;
}

/* A linear form of the file in this space, or NULL. */
static const char *find_unused(weft_ufl *ufl, const ufl_space *space) {
    const ufl_module *module = ufl->module;
    for (int i = 0; i < module->n_variables; ++i) {
        const ufl_node **arguments = NULL;
        const ufl_form *form = module->variables[i].form;
        if (ufl_form_terminals(&ufl->graph, form, UFL_ARGUMENT, &arguments) == 1 &&
            arguments[0]->space == space)
            return module->variables[i].name;
    }
    return NULL;
}

/* The load of a linear problem, where the file has it. A sum that vanishes has no arguments. */
static bool find_load(weft_ufl *ufl, int L, ufl_problem *out) {
    const ufl_prepared *form = L >= 0 ? ufl->prepared[L] : NULL;
    out->shown.unused = form ? NULL : find_unused(ufl, out->matrix->arguments[0]->space);
    if (!form || form->form.n_integrals == 0)
        return true;
    if (form->n_arguments == 1) {
        out->vector = form;
        out->shown.vector = ufl->module->forms[L].name;
        return true;
    }
    ufl->context.place = form->form.place;
    ufl_fail(&ufl->context, WEFT_ERROR_INPUT, "the load %s of a linear problem has %s",
             ufl->module->forms[L].name,
             form->n_arguments == 0 ? "no test function" : "a trial function");
    ufl_hint(&ufl->context, "%s is a linear form, such as %s = f*v*dx with the test function v",
             ufl->module->forms[L].name, ufl->module->forms[L].name);
    return false;
}

static bool take_matrix(weft_ufl *ufl, int form, ufl_problem *out) {
    if (form < 0 || ufl->prepared[form]->n_arguments != 2)
        return false;
    out->matrix = ufl->prepared[form];
    out->matrix_form = ufl->module->forms[form].form;
    out->shown.matrix = ufl->module->forms[form].name;
    return true;
}

/* F(u; v) = 0 with the derivative J, which is derived where the file has none. */
static bool take_nonlinear(weft_ufl *ufl, int F, int J, ufl_problem *out) {
    const ufl_module *module = ufl->module;
    out->vector = ufl->prepared[F];
    out->shown.matrix = "J";
    out->shown.vector = module->forms[F].name;
    out->shown.nonlinear = true;
    out->unknown = find_unknown(ufl, out->vector);
    if (!out->unknown) {
        ufl_fail(&ufl->context, WEFT_ERROR_INPUT,
                 "the form %s has no coefficient in its own space, so no unknown",
                 out->shown.vector);
        return false;
    }
    return take_matrix(ufl, J, out) || derive_tangent(ufl, module->forms[F].form, out);
}

/* The problem that solve() states. */
static bool take_stated(weft_ufl *ufl, const ufl_problem_of *stated, ufl_problem *out) {
    const ufl_module *module = ufl->module;
    const char *solution = ufl_module_name(module, stated->solution);
    int matrix = -1, vector = -1;
    for (int i = 0; i < module->n_forms; ++i) {
        matrix = module->forms[i].form == stated->matrix ? i : matrix;
        vector = module->forms[i].form == stated->vector ? i : vector;
    }
    out->shown.solution = solution ? solution : "u";
    ufl->context.place = stated->place;
    if (stated->is_nonlinear)
        return take_nonlinear(ufl, vector, matrix, out);
    return take_matrix(ufl, matrix, out) && find_load(ufl, vector, out);
}

/* Find the problem of solve(), or a and L, F and J, or A and RHS, among the variables of the file. */
static bool find_forms(weft_ufl *ufl, ufl_problem *out) {
    const ufl_module *module = ufl->module;
    const int L = ufl_module_form(module, "L"), F = ufl_module_form(module, "F");
    const int load = L >= 0 ? L : ufl_module_form(module, "RHS");
    ufl->context.place = (ufl_place){0, 0};
    out->shown.solution = "u";
    if (module->problem)
        return take_stated(ufl, module->problem, out);
    if (take_matrix(ufl, ufl_module_form(module, "a"), out))
        return find_load(ufl, load, out);
    if (F >= 0 && ufl->prepared[F]->n_arguments == 1)
        return take_nonlinear(ufl, F, ufl_module_form(module, "J"), out);
    if (take_matrix(ufl, ufl_module_form(module, "A"), out))
        return find_load(ufl, load, out);
    ufl_fail(&ufl->context, WEFT_ERROR_INPUT,
             "this file has no problem: neither a bilinear form a nor a linear form F");
    ufl_hint(&ufl->context,
             "call the forms a and L, or F and J, or write solve(A, RHS); weft ufl shows those "
             "that there are");
    return false;
}

/* Take a form of the file as the mass if it can be that. false: an error */
static bool try_mass(weft_ufl *ufl, const char *name, ufl_problem *out) {
    const ufl_space *space = out->matrix->arguments[0]->space;
    const ufl_module *module = ufl->module;
    for (int i = 0; i < module->n_variables; ++i) {
        const ufl_export *variable = &module->variables[i];
        if (strcmp(variable->name, name) != 0)
            continue;
        ufl->context.place = variable->form->place;
        const ufl_prepared *form = ufl_prepare(&ufl->graph, variable->form, &ufl->names);
        if (!form)
            return false;
        if (form->n_arguments == 2 && form->arguments[0]->space == space &&
            form->arguments[1]->space == space) {
            out->mass = form;
            out->shown.mass = variable->name;
        }
    }
    return true;
}

/* The form of this name; without a name m or M, where one can be the mass. */
static bool find_mass(weft_ufl *ufl, const char *name, ufl_problem *out) {
    if (!try_mass(ufl, name ? name : "m", out) || (!name && !out->mass && !try_mass(ufl, "M", out)))
        return false;
    if (out->mass || !name)
        return true;
    ufl->context.place = (ufl_place){0, 0};
    ufl_fail(&ufl->context, WEFT_ERROR_INPUT,
             "this file has no bilinear form %s in the space of the unknown", name);
    ufl_hint(
        &ufl->context,
        "the mass is a form such as m = inner(u, v)*dx of the file's trial and test functions");
    return false;
}

static bool check_arguments(weft_ufl *ufl, const ufl_problem *problem) {
    const ufl_prepared *forms[] = {problem->matrix, problem->vector};
    const ufl_space *space = problem->matrix->arguments[0]->space;
    for (int i = 0; i < 2; ++i)
        for (int k = 0; forms[i] && k < forms[i]->n_arguments; ++k)
            if (forms[i]->arguments[k]->space != space) {
                ufl->context.place = forms[i]->arguments[k]->place;
                ufl_fail(&ufl->context, WEFT_ERROR_UNSUPPORTED,
                         "test and trial functions are in different spaces");
                return false;
            }
    return true;
}

/* ---- spaces ------------------------------------------------------------------------------ */

const ufl_element *ufl_nodal_element(const ufl_element *element) {
    const bool interleaved = element->kind == UFL_BLOCKED && element->sub[0]->n_sub == 0;
    return interleaved ? element->sub[0] : element;
}

static bool refuse_element(weft_ufl *ufl, const ufl_element *element) {
    ufl_fail(&ufl->context, WEFT_ERROR_UNSUPPORTED, "problems with functions of %s are not solved",
             element->name);
    ufl_hint(&ufl->context, "weft ufl FILE --print kernels shows the functions of its integrals");
    return false;
}

/* Spaces have the points of default rules alone. */
static bool check_points(weft_ufl *ufl, const ufl_element *element) {
    weft_quadrature own = {0}, usual = {0};
    const bool made = ufl_element_rule(element, &own, NULL) == WEFT_OK &&
                      weft_quadrature_make(ufl_weft_cell(element->cell), WEFT_SCHEME_DEFAULT,
                                           element->degree, &usual, NULL) == WEFT_OK;
    bool same = made && own.n == usual.n;
    for (int i = 0; same && i < own.n * own.dimension; ++i)
        same = own.points[i] == usual.points[i];
    weft_quadrature_free(&own);
    weft_quadrature_free(&usual);
    if (same)
        return true;
    ufl_fail(&ufl->context, WEFT_ERROR_UNSUPPORTED,
             "coefficients in quadrature elements with the scheme '%s' are not solved with",
             element->scheme);
    ufl_hint(&ufl->context,
             "take the scheme 'default', or write the coefficient as an expression of "
             "SpatialCoordinate with dx(degree=%d, scheme='%s')",
             element->degree, element->scheme);
    return false;
}

/* Append the scalar elements of an element, each with `components`, in the order of its dofs. */
static bool add_subspaces(weft_ufl *ufl, const ufl_element *element, int components,
                          int first_value, weft_ufl_set *set) {
    bool fine = true;
    if (element->tensor_order || set->n == WEFT_UFL_SUBSPACES_MAX)
        return refuse_element(ufl, element);
    if (ufl_element_about(element)->at_points && !check_points(ufl, element))
        return false;
    if (element->n_sub == 0) {
        set->sub[set->n++] =
            (weft_ufl_subspace){element->family, element->degree, components, first_value};
        return true;
    }
    if (element->kind == UFL_BLOCKED && components == 1 && element->sub[0]->kind != UFL_MIXED)
        return add_subspaces(ufl, element->sub[0], element->block_size, first_value, set);
    if (element->kind == UFL_BLOCKED || (element->kind == UFL_MIXED && components > 1))
        return refuse_element(ufl, element);
    for (int i = 0; i < element->n_sub && fine; ++i) {
        fine = add_subspaces(ufl, element->sub[i], components, first_value, set);
        if (element->kind == UFL_MIXED) /* symmetric tensors count components with dofs */
            first_value += element->sub[i]->kind == UFL_BLOCKED ? element->sub[i]->block_size
                                                                : element->sub[i]->value_size;
    }
    return fine;
}

static int find_set(const ufl_problem *problem, const ufl_element *element) {
    for (int i = 0; i < problem->shown.n_sets; ++i)
        if (problem->elements[i] == element)
            return i;
    return -1;
}

/* Add the nodes of an element under these names, unless they are there. Returns its number or -1. */
static int add_set(weft_ufl *ufl, ufl_problem *problem, const ufl_element *element,
                   const char *nodes, const char *connectivity) {
    const int found = find_set(problem, element), n = problem->shown.n_sets;
    weft_ufl_set *set = &problem->sets[n];
    if (found >= 0)
        return found;
    if (n == UFL_SETS_MAX) {
        ufl_fail(&ufl->context, WEFT_ERROR_UNSUPPORTED, "functions in more than %d spaces",
                 UFL_SETS_MAX);
        return -1;
    }
    *set = (weft_ufl_set){.nodes = nodes,
                          .connectivity = connectivity,
                          .width = element->n_dofs,
                          .flat = element->n_sub > 0,
                          .n_values = element->value_size};
    if (!nodes || !connectivity || !add_subspaces(ufl, element, 1, 0, set))
        return -1;
    problem->elements[n] = element;
    return problem->shown.n_sets++;
}

bool ufl_is_over_cells(const ufl_problem *problem, const ufl_node *coefficient) {
    const ufl_element *scalar = ufl_nodal_element(coefficient->space->element);
    if (!ufl_element_is_constant(scalar))
        return false;
    for (int i = 0; i < problem->shown.n_parts; ++i)
        if (problem->parts[i].domain != WEFT_UFL_CELLS || problem->parts[i].id != UFL_ID_EVERYWHERE)
            return false;
    return true;
}

static bool is_uniform(const ufl_node *node) {
    return node->type != UFL_COEFFICIENT ||
           ufl_element_about(ufl_nodal_element(node->space->element))->is_global;
}

int ufl_problem_set(const ufl_problem *problem, const ufl_node *node) {
    const bool is_argument = node == problem->unknown || node == problem->direction;
    if (!is_argument && (is_uniform(node) || ufl_is_over_cells(problem, node)))
        return -1;
    return find_set(problem, ufl_nodal_element(node->space->element));
}

static bool add_coefficient_sets(weft_ufl *ufl, ufl_problem *problem, const ufl_calls *calls) {
    for (int i = 0; i < calls->n; ++i)
        for (int k = 1; k < calls->list[i]->n_arguments; ++k) {
            const ufl_node *node = calls->list[i]->arguments[k].node;
            const bool is_unknown = node == problem->unknown;
            if (!is_unknown && (is_uniform(node) || ufl_is_over_cells(problem, node)))
                continue;
            const char *name = ufl_terminal_name(ufl, calls->form, node);
            ufl->context.place = node->place;
            if (add_set(ufl, problem, ufl_nodal_element(node->space->element),
                        ufl_print(&ufl->context, "nodes_%s", name),
                        ufl_print(&ufl->context, "dofs_%s", name)) < 0)
                return false;
        }
    return true;
}

static bool find_sets(weft_ufl *ufl, ufl_problem *problem) {
    const ufl_node *argument = problem->matrix->arguments[0];
    const ufl_mesh *mesh = argument->space->mesh;
    const ufl_element *element = argument->space->element;
    const ufl_element *nodal = ufl_nodal_element(element);
    ufl->context.place = argument->place;
    problem->shown.cell = ufl_weft_cell(mesh->cell);
    problem->shown.components = nodal != element ? element->block_size : 1;
    if (add_set(ufl, problem, nodal, "nodes", "dofs") < 0)
        return false;
    problem->sets[0].n_values = element->value_size;
    problem->shown.geometry =
        add_set(ufl, problem, mesh->coordinates->sub[0], "vertices", "geometry");
    for (int i = 0; problem->shown.geometry >= 0 && i < problem->shown.n_parts; ++i)
        if (!add_coefficient_sets(ufl, problem, &problem->calls[i].matrix) ||
            !add_coefficient_sets(ufl, problem, &problem->calls[i].vector) ||
            !add_coefficient_sets(ufl, problem, &problem->calls[i].mass))
            return false;
    return problem->shown.geometry >= 0;
}

/* ---- domains ----------------------------------------------------------------------------- */

static bool domain_of(weft_ufl *ufl, const ufl_integral *integral, weft_ufl_domain *out) {
    if (integral->type <= UFL_INTERIOR_FACET) {
        *out = (weft_ufl_domain)integral->type;
        return true;
    }
    ufl_fail(&ufl->context, WEFT_ERROR_UNSUPPORTED, "integrals over %s are not compiled",
             ufl_measure_name(integral->type));
    return false;
}

/* Are there functions whose values are mapped with the cells? Then the vertices of cells ascend, and cells on facets are as
 * they are. */
static bool has_mapped(const ufl_problem *problem) {
    const ufl_prepared *forms[] = {problem->matrix, problem->vector, problem->mass};
    bool found = false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i) {
        for (int k = 0; forms[i] && k < forms[i]->n_arguments; ++k)
            found = found || ufl_element_has_vectors(forms[i]->arguments[k]->space->element);
        for (int k = 0; forms[i] && k < forms[i]->n_coefficients; ++k)
            found = found || ufl_element_has_vectors(forms[i]->coefficients[k]->space->element);
    }
    return found;
}

static int compare_parts(const weft_ufl_part *a, const weft_ufl_part *b) {
    const int keys[][2] = {{(int)a->domain, (int)b->domain},
                           {a->id, b->id},
                           {a->facets[0], b->facets[0]},
                           {a->facets[1], b->facets[1]}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* The part of a domain, made where it is new; NULL and an error. */
static int find_part(weft_ufl *ufl, ufl_problem *problem, const weft_ufl_part *wanted) {
    int n = problem->shown.n_parts, at = 0;
    while (at < n && compare_parts(&problem->parts[at], wanted) < 0)
        ++at;
    if (at < n && compare_parts(&problem->parts[at], wanted) == 0)
        return at;
    if (n == UFL_PARTS_OF_PROBLEM_MAX) {
        ufl_fail(&ufl->context, WEFT_ERROR_UNSUPPORTED, "integrals over more than %d domains", n);
        return -1;
    }
    memmove(&problem->parts[at + 1], &problem->parts[at],
            (size_t)(n - at) * sizeof *problem->parts);
    memmove(&problem->calls[at + 1], &problem->calls[at],
            (size_t)(n - at) * sizeof *problem->calls);
    problem->parts[at] = *wanted;
    problem->calls[at] = (ufl_part_calls){{.form = problem->matrix},
                                          {.form = problem->vector},
                                          {.form = problem->action},
                                          {.form = problem->matrix},
                                          {.form = problem->mass}};
    ++problem->shown.n_parts;
    return at;
}

typedef enum calls_kind { MATRIX, VECTOR, ACTION, DIAGONAL, MASS } calls_kind;

static ufl_calls *calls_of(ufl_problem *problem, int part, calls_kind kind) {
    ufl_part_calls *calls = &problem->calls[part];
    switch (kind) {
    case MATRIX:
        return &calls->matrix;
    case VECTOR:
        return &calls->vector;
    case ACTION:
        return &calls->action;
    case DIAGONAL:
        return &calls->diagonal;
    case MASS:
        break;
    }
    return &calls->mass;
}

/* Hexahedra have kernels of whole cells. */
static bool wants_action(const ufl_problem *problem, weft_ufl_domain domain) {
    return domain != WEFT_UFL_CELLS ||
           ufl_nodal_element(problem->matrix->arguments[0]->space->element)->cell != UFL_HEXAHEDRON;
}

/* K v without K, where that is possible (forms/lower/product.c): from integral i of the matrix, which is integral i of
 * its action. NULL: it is not, or out of memory. */
static const ufl_lowered *lower_product(weft_ufl *ufl, const ufl_problem *problem,
                                        const ufl_integral *action, int i, const char *name) {
    ufl_context *context = &ufl->context;
    weft_error *kept = context->error, ignored = {0};
    const ufl_integral *matrix = &problem->matrix->form.integrals[i];
    if (problem->matrix->form.n_integrals != problem->action->form.n_integrals ||
        matrix->id != action->id || matrix->type != UFL_CELL || action->type != UFL_CELL ||
        !ufl_metadata_equal(&matrix->metadata, &action->metadata))
        return NULL;
    context->error = &ignored;
    const ufl_lowered *lowered =
        ufl_lower_product(&ufl->graph, problem->matrix, i, name, problem->direction);
    context->error = kept;
    if (context->status == WEFT_ERROR_UNSUPPORTED)
        context->status = WEFT_OK;
    else if (context->status != WEFT_OK && kept)
        *kept = ignored;
    return lowered;
}

/* A value of a script has a limit, and the matrix of a cell, or of two beside a facet, is one. */
static bool check_size(weft_ufl *ufl, const ufl_prepared *form, const ufl_integral *integral) {
    const int n_sides = integral->type == UFL_INTERIOR_FACET ? 2 : 1;
    const int64_t rows = n_sides * form->arguments[0]->space->element->n_dofs;
    const int64_t columns = n_sides * form->arguments[1]->space->element->n_dofs;
    if (rows * columns <= WEFT_ELEMENTS_MAX)
        return true;
    ufl_fail(&ufl->context, WEFT_ERROR_UNSUPPORTED,
             "the matrix of %s has %lld x %lld entries, and %d are the most",
             n_sides == 1 ? "a cell" : "the two cells of a facet", (long long)rows,
             (long long)columns, WEFT_ELEMENTS_MAX);
    ufl_hint(&ufl->context,
             "lower the degree, or the number of components; a finer mesh makes up for it");
    return false;
}

/* Add a function of an integral to its part, at facets with these numbers in their cells. */
static bool lower_at(weft_ufl *ufl, ufl_problem *problem, const ufl_prepared *form, int i,
                     const char *function, calls_kind kind, const weft_ufl_part *wanted) {
    const ufl_integral *integral = &form->form.integrals[i];
    const int at = find_part(ufl, problem, wanted);
    if (at < 0)
        return false;
    ufl_calls *calls = calls_of(problem, at, kind);
    if (calls->n == (int)(sizeof calls->list / sizeof *calls->list)) {
        ufl_fail(&ufl->context, WEFT_ERROR_UNSUPPORTED,
                 "more than %d integrals with different metadata over one domain", calls->n);
        return false;
    }
    const int base = weft_cell_of(ufl_weft_cell(integral->mesh->cell))->base;
    const int facets[2] = {wanted->facets[0] < 0 ? base : wanted->facets[0],
                           wanted->facets[1] < 0 ? base : wanted->facets[1]};
    const ufl_lowered *lowered =
        kind == ACTION ? lower_product(ufl, problem, integral, i, function) : NULL;
    if (!lowered && ufl->context.status == WEFT_OK && kind == ACTION &&
        wanted->domain == WEFT_UFL_CELLS &&
        ufl_element_has_constant_gradients(
            ufl_nodal_element(problem->matrix->arguments[0]->space->element)))
        return true; /* K of linear simplices takes fewer operations than a loop over points */
    if (!lowered && ufl->context.status == WEFT_OK)
        lowered = (kind == DIAGONAL ? ufl_lower_diagonal : ufl_lower_integral)(
            &ufl->graph, form, i, function, integral->type == UFL_CELL ? NULL : facets);
    if (!lowered)
        return false;
    calls->form = form;
    calls->list[calls->n++] = lowered;
    problem->parts[at].has_matrix |= kind == MATRIX;
    problem->parts[at].has_vector |= kind == VECTOR;
    problem->parts[at].has_action |= kind == ACTION;
    problem->parts[at].has_diagonal |= kind == DIAGONAL;
    problem->parts[at].has_mass |= kind == MASS;
    return true;
}

static bool lower_integral(weft_ufl *ufl, ufl_problem *problem, const ufl_prepared *form, int i,
                           const char *name, calls_kind kind) {
    const ufl_integral *integral = &form->form.integrals[i];
    weft_ufl_part wanted = {.id = integral->id, .facets = {-1, -1}};
    ufl->context.place = integral->place;
    if (!domain_of(ufl, integral, &wanted.domain))
        return false;
    if ((kind == MATRIX || kind == MASS) && !check_size(ufl, form, integral))
        return false;
    if (kind == ACTION && !wants_action(problem, wanted.domain))
        return true;
    const char *function = ufl_kernel_name(ufl, name, i);
    const weft_cell *cell = weft_cell_of(ufl_weft_cell(integral->mesh->cell));
    if (wanted.domain == WEFT_UFL_CELLS || !has_mapped(problem))
        return lower_at(ufl, problem, form, i, function, kind, &wanted);
    const int n = cell->n_entities[cell->dimension - 1],
              n_others = wanted.domain == WEFT_UFL_INTERIOR_FACETS ? n : 1;
    bool fine = true;
    for (int k = 0; k < n * n_others && fine; ++k) {
        wanted.facets[0] = k / n_others;
        wanted.facets[1] = n_others > 1 ? k % n_others : -1;
        const char *own = ufl_print(&ufl->context, "%s_at_%d", function, k);
        fine = own && lower_at(ufl, problem, form, i, own, kind, &wanted);
    }
    return fine;
}

static bool lower_form(weft_ufl *ufl, ufl_problem *problem, const ufl_prepared *form,
                       const char *name, calls_kind kind) {
    for (int i = 0; form && i < form->form.n_integrals; ++i)
        if (!lower_integral(ufl, problem, form, i, name, kind))
            return false;
    return true;
}

/* K v by functions of their own, from the action of the matrix on a function v. */
static bool lower_action(weft_ufl *ufl, ufl_problem *problem) {
    const ufl_space *space = problem->matrix->arguments[1]->space;
    problem->direction = ufl_coefficient(&ufl->graph, space, -1);
    const ufl_form *form = problem->direction
                               ? ufl_action(&ufl->graph, problem->matrix_form, problem->direction)
                               : NULL;
    problem->action = form ? ufl_prepare(&ufl->graph, form, &ufl->names) : NULL;
    const char *name = ufl_print(&ufl->context, "%s_action", problem->shown.matrix);
    if (!problem->action || !name || !lower_form(ufl, problem, problem->action, name, ACTION))
        return false;
    for (int i = 0; i < problem->shown.n_parts; ++i) /* all integrals of a part, or none */
        if (problem->calls[i].action.n < problem->calls[i].matrix.n) {
            problem->calls[i].action.n = 0;
            problem->parts[i].has_action = false;
        }
    return true;
}

/* The diagonal by functions of its own, where the matrix is large. */
static bool lower_diagonal(weft_ufl *ufl, ufl_problem *problem) {
    const ufl_element *element = problem->matrix->arguments[0]->space->element;
    const char *name = ufl_print(&ufl->context, "%s_diagonal", problem->shown.matrix);
    if (ufl_element_has_vectors(element))
        return true; /* whose components share dofs */
    for (int i = 0; i < problem->matrix->form.n_integrals; ++i)
        if (problem->matrix->form.integrals[i].type == UFL_INTERIOR_FACET)
            return true; /* whose sides may share dofs */
    return name && (ufl_element_has_constant_gradients(ufl_nodal_element(element)) ||
                    lower_form(ufl, problem, problem->matrix, name, DIAGONAL));
}

const ufl_problem *ufl_problem_make(weft_ufl *ufl, bool in_time, const char *mass) {
    ufl_problem *problem = ufl_alloc(&ufl->context, 1, sizeof *problem);
    return problem && find_forms(ufl, problem) && check_arguments(ufl, problem) &&
                   (!in_time || find_mass(ufl, mass, problem)) && ufl_problem_lower(ufl, problem) &&
                   ufl_problem_values(ufl, problem)
               ? problem
               : NULL;
}

bool ufl_problem_lower(weft_ufl *ufl, ufl_problem *problem) {
    if (!lower_form(ufl, problem, problem->matrix, problem->shown.matrix, MATRIX) ||
        !lower_form(ufl, problem, problem->vector, problem->shown.vector, VECTOR) ||
        !lower_form(ufl, problem, problem->mass, problem->shown.mass, MASS) ||
        !lower_action(ufl, problem) || !lower_diagonal(ufl, problem) || !find_sets(ufl, problem))
        return false;
    problem->shown.sets = problem->sets;
    problem->shown.parts = problem->parts;
    for (int i = 0; i < problem->shown.n_parts; ++i) {
        weft_text text = {0};
        ufl_inputs declared = {.n = 0};
        problem->parts[i].is_symmetric = ufl_is_symmetric(ufl, &problem->calls[i].matrix);
        if (ufl_write_part(ufl, problem, i, "", &declared, &text) && !text.failed)
            problem->parts[i].script = ufl_copy(&ufl->context, text.data, text.length);
        else if (text.failed)
            ufl_fail(&ufl->context, WEFT_ERROR_MEMORY, "out of memory");
        weft_text_free(&text);
        if (!problem->parts[i].script || !ufl_part_kernels(ufl, problem, i))
            return false;
    }
    return true;
}
