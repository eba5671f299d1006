/* The problems that belong to a functional J(u, m) of the solution of F(u, m; v) = 0: its value, the adjoint problem, and its
 * gradient with respect to a control m.
 *
 *     dJ/dm q = J_m q - F_m(q; lambda)   where   F_u(v; lambda) = J_u v for all v
 *
 * Of steps in time M du/dt + F(u) = 0 each u that was solved for has such a problem, with what later equations have of it:
 *
 *     L(u, m) = weight J(u, m) - F(u, m; adjoint) - M(m; u, adjoint_mass)
 *
  * Everything is derived from prepared forms with the degrees of their quadrature rules, so that the gradient is that of the numbers
 * that are computed, not of the integrals that they approximate.
 *
 * Decision  docs/decisions/0076-gradients-are-problems.md */
#include "forms/compile/compile.h"
#include "forms/operators/operators.h"

#include <string.h>

/* What is known of a file and one of its functionals. */
typedef struct sensitivity {
    weft_ufl *ufl; /* a copy of the file */
    const ufl_problem *problem;
    const ufl_node *state, *adjoint;
    const ufl_form *J, *F; /* F(u; v), linear in the test function v */
    const ufl_form *M;     /* in time: the mass */
    const ufl_node *adjoint_mass, *shift, *weight;
} sensitivity;

/* The form with the degrees that its rules have. */
static const ufl_form *with_degrees(ufl_graph *graph, const ufl_prepared *form) {
    const ufl_form *made =
        form ? ufl_form_make(graph, form->form.integrals, form->form.n_integrals) : NULL;
    ufl_integral *integrals = made ? (ufl_integral *)made->integrals : NULL;
    for (int i = 0; made && i < made->n_integrals; ++i)
        if (!form->points[i]) {
            integrals[i].metadata.degree = form->degrees[i];
            integrals[i].metadata.has_degree = true;
        }
    return made;
}

static const ufl_form *minus(ufl_graph *graph, const ufl_form *a, const ufl_form *b) {
    const ufl_form *negated = b ? ufl_form_scale(graph, ufl_int(graph, -1), b) : NULL;
    return a && negated ? ufl_form_add(graph, a, negated) : NULL;
}

static const ufl_form *derivative(ufl_graph *graph, const ufl_form *form, const ufl_node *w,
                                  const ufl_node *dw) {
    const ufl_directions directions = {.w = &w, .dw = &dw, .n_w = 1, .n_dw = dw ? 1 : 0};
    return form && w ? ufl_derivative(graph, form, &directions) : NULL;
}

/* ---- the functional and the solution in it ------------------------------------------------- */

static const ufl_form *find_functional(sensitivity *s, const char *name) {
    weft_ufl *ufl = s->ufl;
    const ufl_module *module = ufl->module;
    const ufl_node **arguments = NULL;
    const ufl_form *found = NULL;
    const char *others = "";
    if (!name)
        return ufl_form_make(&ufl->graph, NULL, 0);
    for (int i = 0; i < module->n_variables; ++i) {
        const ufl_export *variable = &module->variables[i];
        const int n = ufl_form_terminals(&ufl->graph, variable->form, UFL_ARGUMENT, &arguments);
        if (n < 0)
            return NULL;
        if (strcmp(variable->name, name) == 0)
            found = variable->form;
        if (n == 0)
            others =
                ufl_print(&ufl->context, "%s%s%s", others, *others ? ", " : "", variable->name);
    }
    const int n = found ? ufl_form_terminals(&ufl->graph, found, UFL_ARGUMENT, &arguments) : 0;
    if (found && n == 0)
        return found;
    ufl->context.place = found ? found->place : (ufl_place){0, 0};
    ufl_fail(&ufl->context, WEFT_ERROR_USAGE,
             found ? "the form %s is not a functional: it has a test function"
                   : "the file has no functional %s",
             name);
    return *others ? ufl_hint(&ufl->context, "functionals are: %s", others)
                   : ufl_hint(&ufl->context, "write one as J = (unknown - d)**2*dx with unknown = "
                                             "Coefficient(V), which stands for the solution");
}

/* The coefficient of a functional that stands for the solution of a linear problem: `unknown`, or the only one in its space that
 * the problem does not read. */
static const ufl_node *find_state(sensitivity *s, const ufl_prepared *J, const char *name) {
    const ufl_problem *problem = s->problem;
    const ufl_module *module = s->ufl->module;
    const ufl_space *space = problem->matrix->arguments[0]->space;
    const ufl_node *found = NULL;
    int n = 0;
    if (problem->unknown)
        return problem->unknown;
    if (module->problem)
        return module->problem->solution;
    if (module->unknown && module->unknown->type == UFL_COEFFICIENT &&
        module->unknown->space == space)
        return module->unknown;
    for (int i = 0; i < J->n_coefficients; ++i) {
        const ufl_node *one = J->coefficients[i];
        if (one->space != space || ufl_has_coefficient(problem->matrix, one) ||
            ufl_has_coefficient(problem->vector, one))
            continue;
        found = one;
        ++n;
    }
    if (n == 1 || !name)
        return n == 1 ? found : ufl_coefficient(&s->ufl->graph, space, -1);
    s->ufl->context.place = J->form.place;
    ufl_fail(&s->ufl->context, WEFT_ERROR_INPUT,
             n == 0 ? "the functional %s has no coefficient that stands for the solution"
                    : "the functional %s has several coefficients that could be the solution",
             name);
    return ufl_hint(&s->ufl->context,
                    "write unknown = Coefficient(V) with the V of the trial "
                    "function, and %s of it",
                    name);
}

/* F(u; v) of the problem, as a form of the state. */
static const ufl_form *residual(sensitivity *s) {
    ufl_graph *graph = &s->ufl->graph;
    const ufl_problem *problem = s->problem;
    const ufl_form *vector = problem->vector ? with_degrees(graph, problem->vector) : NULL;
    if (problem->shown.nonlinear)
        return vector;
    const ufl_form *product = ufl_action(graph, with_degrees(graph, problem->matrix), s->state);
    return vector ? minus(graph, product, vector) : product;
}

/* J(u) - F(u; adjoint), or that of a step in time. */
static const ufl_form *lagrangian(sensitivity *s) {
    ufl_graph *graph = &s->ufl->graph;
    const ufl_form *equation = ufl_action(graph, s->F, s->adjoint);
    if (!s->M)
        return minus(graph, s->J, equation);
    const ufl_form *mass = ufl_action(graph, s->M, s->state);
    mass = mass ? ufl_action(graph, mass, s->adjoint_mass) : NULL;
    return minus(graph, minus(graph, ufl_form_scale(graph, s->weight, s->J), equation), mass);
}

/* ---- names --------------------------------------------------------------------------------- */

/* A name that no other terminal of the file has. */
static const char *free_name(weft_ufl *ufl, const char *wanted, const ufl_node *node) {
    const char *name = wanted;
    const ufl_node *other = ufl_module_terminal(ufl->module, name);
    for (int k = 1; name && other && other != node; ++k) {
        name = ufl_print(&ufl->context, "%s_%d", wanted, k);
        other = name ? ufl_module_terminal(ufl->module, name) : NULL;
    }
    return name;
}

/* Let inputs of scripts have the name. */
static bool name_terminal(weft_ufl *ufl, const char *name, const ufl_node *node) {
    ufl_module *module = ufl_alloc(&ufl->context, 1, sizeof *module);
    const size_t n = (size_t)ufl->module->n_names;
    ufl_named_node *names = ufl_alloc(&ufl->context, n + 1, sizeof *names);
    if (!module || !names || !name)
        return false;
    *module = *ufl->module;
    if (n > 0)
        memcpy(names, module->names, n * sizeof *names);
    names[n] = (ufl_named_node){node, name};
    module->names = names;
    ++module->n_names;
    ufl->module = module;
    return true;
}

/* ---- controls ------------------------------------------------------------------------------ */

/* Functions that are constant in each cell, of a shape. */
static const ufl_space *constant_space(weft_ufl *ufl, const ufl_mesh *mesh, const int *shape,
                                       int rank) {
    const ufl_element *element =
        ufl_element_make(&ufl->elements, "Discontinuous Lagrange", mesh->cell, 0, true);
    if (element && rank > 0)
        element = ufl_element_blocked(&ufl->elements, element, shape, rank, false);
    return element ? ufl_space_make(&ufl->elements, mesh, element) : NULL;
}

/* The mean of both sides where the integral is over facets between cells. */
static const ufl_node *on_sides(ufl_graph *graph, const ufl_node *function,
                                ufl_integral_type type) {
    if (type != UFL_INTERIOR_FACET)
        return function;
    const ufl_node *sum =
        ufl_add(graph, ufl_restrict(graph, function, '+'), ufl_restrict(graph, function, '-'));
    return sum ? ufl_multiply(graph, ufl_float(graph, 0.5), sum) : NULL;
}

/* The form with each integrand changed; NULL: an error. */
static const ufl_form *each(ufl_graph *graph, const ufl_form *form, const ufl_node *from,
                            const ufl_node *to) {
    const ufl_form *made = form ? ufl_form_make(graph, form->integrals, form->n_integrals) : NULL;
    ufl_integral *integrals = made ? (ufl_integral *)made->integrals : NULL;
    for (int i = 0; made && i < made->n_integrals; ++i) {
        const ufl_node *here = on_sides(graph, to, integrals[i].type);
        integrals[i].integrand =
            !here   ? NULL
            : !from ? ufl_product(graph, integrals[i].integrand, here)
                    : ufl_replace_nodes(graph, integrals[i].integrand, &from, &here, 1);
        if (!integrals[i].integrand)
            return NULL;
    }
    return made;
}

/* Of a number for the whole mesh: the derivative with respect to a function that is constant in each cell. */
static const ufl_form *derive_number(sensitivity *s, const ufl_form *form, const ufl_node *control,
                                     const ufl_space *space, const ufl_node *q) {
    ufl_graph *graph = &s->ufl->graph;
    const ufl_node *function = space ? ufl_coefficient(graph, space, -1) : NULL;
    const ufl_form *made = function ? each(graph, form, control, function) : NULL;
    made = derivative(graph, made, function, q);
    return made ? ufl_replace(graph, made, &function, &control, 1) : NULL;
}

static const ufl_node *find_control(sensitivity *s, const char *name) {
    weft_ufl *ufl = s->ufl;
    const ufl_node *found = name ? ufl_module_terminal(ufl->module, name) : NULL;
    if (found && (found->type == UFL_COEFFICIENT || found->type == UFL_CONSTANT))
        return found;
    if (name && strcmp(name, "u") == 0)
        return s->state;
    ufl->context.place = (ufl_place){0, 0};
    ufl_fail(&ufl->context, WEFT_ERROR_USAGE, "the file has no coefficient or constant %s",
             name ? name : "");
    return ufl_hint(&ufl->context, "weft ufl FILE lists them by form");
}

static bool is_number(const ufl_node *control) {
    return control->type == UFL_CONSTANT ||
           ufl_element_about(ufl_nodal_element(control->space->element))->is_global;
}

/* ---- the problems -------------------------------------------------------------------------- */

static bool add_problem(weft_ufl *ufl, const ufl_form *matrix, const ufl_form *vector) {
    ufl_problem *made = ufl_alloc(&ufl->context, 1, sizeof *made);
    if (!made || !matrix || !vector)
        return false;
    made->matrix_form = matrix;
    made->matrix = ufl_prepare(&ufl->graph, matrix, &ufl->names);
    vector = ufl_expand_derivatives(&ufl->graph, vector);
    made->vector = made->matrix && vector ? ufl_prepare(&ufl->graph, vector, &ufl->names) : NULL;
    if (!made->vector)
        return false;
    made->shown.matrix = "a";
    made->shown.solution = "u";
    if (made->vector->form.n_integrals == 0) /* it vanishes */
        made->vector = NULL;
    else
        made->shown.vector = "L";
    if (!ufl_problem_lower(ufl, made) || !ufl_problem_values(ufl, made))
        return false;
    ufl->problem = made;
    return true;
}

/* The inner product of a space, and a load in it. */
static bool add_projection(weft_ufl *ufl, const ufl_space *space, const ufl_form *load) {
    return load && add_problem(ufl, ufl_standard_form(ufl, WEFT_COARSE_MASS, space), load);
}

static bool make_value(sensitivity *s) {
    weft_ufl *ufl = s->ufl;
    const ufl_mesh *mesh = s->problem->matrix->arguments[0]->space->mesh;
    const ufl_space *space = constant_space(ufl, mesh, NULL, 0);
    const ufl_node *q = space ? ufl_argument(&ufl->graph, space, 0) : NULL;
    return q && add_projection(ufl, space, each(&ufl->graph, s->J, NULL, q));
}

static bool make_adjoint(sensitivity *s) {
    ufl_graph *graph = &s->ufl->graph;
    const ufl_form *tangent = s->problem->shown.nonlinear ? derivative(graph, s->F, s->state, NULL)
                                                          : with_degrees(graph, s->problem->matrix);
    if (tangent && s->M) {
        const ufl_form *mass = ufl_form_scale(graph, s->shift, s->M);
        tangent = mass ? ufl_form_add(graph, tangent, mass) : NULL;
    }
    const ufl_form *load = derivative(graph, s->M ? lagrangian(s) : s->J, s->state, NULL);
    return tangent && load && add_problem(s->ufl, ufl_adjoint(graph, tangent, NULL), load);
}

static bool make_gradient(sensitivity *s, ufl_sensitivity *what) {
    ufl_graph *graph = &s->ufl->graph;
    weft_ufl *ufl = s->ufl;
    const ufl_node *control = what->control ? find_control(s, what->control) : s->state;
    if (!control)
        return false;
    what->is_number = is_number(control);
    what->is_state = control == s->state;
    const ufl_space *space =
        what->is_number ? constant_space(ufl, s->problem->matrix->arguments[0]->space->mesh,
                                         control->shape, control->rank)
                        : control->space;
    const ufl_node *q = space ? ufl_argument(graph, space, 0) : NULL;
    const ufl_form *whole = lagrangian(s);
    const ufl_form *load = !q || !whole      ? NULL
                           : what->is_number ? derive_number(s, whole, control, space, q)
                                             : derivative(graph, whole, control, q);
    return load && add_projection(ufl, space, load);
}

/* The mass and what goes with it. */
static bool start_time(sensitivity *s, ufl_sensitivity *what) {
    weft_ufl *ufl = s->ufl;
    const ufl_space *space = s->problem->matrix->arguments[0]->space;
    s->M = with_degrees(&ufl->graph, s->problem->mass);
    s->adjoint_mass = ufl_coefficient(&ufl->graph, space, -1);
    s->shift = ufl_constant(&ufl->graph, space->mesh, NULL, 0, -1);
    s->weight = ufl_constant(&ufl->graph, space->mesh, NULL, 0, -1);
    what->adjoint_mass = free_name(ufl, "adjoint_mass", NULL);
    what->shift = free_name(ufl, "shift", NULL);
    what->weight = free_name(ufl, "weight", NULL);
    return s->M && s->adjoint_mass && s->shift && s->weight &&
           name_terminal(ufl, what->adjoint_mass, s->adjoint_mass) &&
           name_terminal(ufl, what->shift, s->shift) && name_terminal(ufl, what->weight, s->weight);
}

static bool start(sensitivity *s, ufl_sensitivity *what) {
    weft_ufl *ufl = s->ufl;
    ufl_graph *graph = &ufl->graph;
    const ufl_form *written = find_functional(s, what->functional);
    const ufl_prepared *J = written ? ufl_prepare(graph, written, &ufl->names) : NULL;
    s->problem = J ? ufl->problem : NULL;
    s->state = s->problem ? find_state(s, J, what->functional) : NULL;
    if (!s->state)
        return false;
    s->adjoint = ufl_coefficient(graph, s->problem->matrix->arguments[0]->space, -1);
    what->state = free_name(ufl, "state", s->state);
    what->adjoint = free_name(ufl, "adjoint", NULL);
    s->J = with_degrees(graph, J);
    s->F = residual(s);
    return s->adjoint && s->J && s->F && name_terminal(ufl, what->state, s->state) &&
           name_terminal(ufl, what->adjoint, s->adjoint) && (!what->in_time || start_time(s, what));
}

static bool make(sensitivity *s, ufl_sensitivity *what) {
    if (!start(s, what))
        return false;
    switch (what->role) {
    case UFL_VALUE:
        return make_value(s);
    case UFL_ADJOINT:
        return make_adjoint(s);
    case UFL_GRADIENT:
        break;
    }
    return make_gradient(s, what);
}

weft_status ufl_read_sensitivity(const weft_ufl *file, ufl_sensitivity *what, weft_ufl **out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_ufl_problem *shown = NULL;
    sensitivity s = {.ufl = NULL};
    weft_error ignored = {0};
    TRY(ufl_read_again(file, &s.ufl, error));
    if (what->in_time)
        TRY(weft_ufl_problem_in_time(s.ufl, what->mass, &shown, error));
    else
        TRY(weft_ufl_problem_of(s.ufl, &shown, error));
    s.ufl->context.error = error ? error : &ignored;
    if (!make(&s, what) && s.ufl->context.status == WEFT_OK)
        ufl_fail(&s.ufl->context, WEFT_ERROR_MEMORY, "out of memory");
    status = s.ufl->context.status;
    s.ufl->context.error = NULL;
    TRY(status);
    *out = s.ufl;
    s.ufl = NULL;
done:
    weft_ufl_free(&s.ufl);
    return status;
}

/* The terminal that an input stands for; NULL: the functions do not read it. */
static const ufl_node *read_by(const weft_ufl *ufl, const ufl_calls *calls, const char *input) {
    for (int i = 0; i < calls->n; ++i)
        for (int k = 1; k < calls->list[i]->n_arguments; ++k) {
            const ufl_node *node = calls->list[i]->arguments[k].node;
            if (strcmp(ufl_terminal_name(ufl, calls->form, node), input) == 0)
                return node;
        }
    return NULL;
}

static const ufl_node *find_input(const weft_ufl *ufl, const char *input) {
    const ufl_problem *problem = ufl->problem;
    const ufl_node *found = NULL;
    for (int i = 0; i < problem->shown.n_parts && !found; ++i) {
        const ufl_calls *calls[] = {&problem->calls[i].matrix, &problem->calls[i].vector,
                                    &problem->calls[i].mass};
        for (int k = 0; k < 3 && !found; ++k)
            found = read_by(ufl, calls[k], input);
    }
    return found;
}

bool ufl_problem_reads(const weft_ufl *ufl, const char *input) {
    return find_input(ufl, input) != NULL;
}

bool ufl_problem_reads_cells(const weft_ufl *ufl, const char *input) {
    const ufl_node *node = find_input(ufl, input);
    return node && node->type == UFL_COEFFICIENT && ufl_is_over_cells(ufl->problem, node);
}

/* Does a form without arguments have this terminal? */
static bool is_in(weft_ufl *ufl, const ufl_form *form, const char *name) {
    static const ufl_type types[] = {UFL_COEFFICIENT, UFL_CONSTANT};
    const ufl_node **list = NULL;
    if (ufl_form_terminals(&ufl->graph, form, UFL_ARGUMENT, &list) != 0)
        return false;
    for (int t = 0; t < 2; ++t) {
        const int n = ufl_form_terminals(&ufl->graph, form, types[t], &list);
        for (int i = 0; i < n; ++i) {
            const char *own = ufl_module_name(ufl->module, list[i]);
            if (own && strcmp(own, name) == 0)
                return true;
        }
    }
    return false;
}

bool ufl_functionals_read(weft_ufl *ufl, const char *input) {
    for (int i = 0; i < ufl->module->n_variables; ++i)
        if (is_in(ufl, ufl->module->variables[i].form, input))
            return true;
    return false;
}
