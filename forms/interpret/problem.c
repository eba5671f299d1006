/* What form files may write besides UFL: functions with values, and the problem (Markall, Ham and Kelly 2010, figure 6). */
#include "forms/interpret/private.h"

#include <string.h>

/* ---- functions ----------------------------------------------------------------------------- */

static bool add_value(ufl_interpreter *interpreter, const ufl_node *function,
                      const ufl_node *value) {
    ufl_context *context = interpreter->context;
    const ufl_place place = context->place;
    value = ufl_expand_expression(interpreter->graph, value);
    context->place = place;
    const char *formula = value ? ufl_formula(interpreter, value, function->space) : NULL;
    ufl_value_of *list = ufl_grow(context, interpreter->values, (size_t)interpreter->n_values,
                                  sizeof *interpreter->values);
    if (!formula || !list)
        return false;
    interpreter->values = list;
    list[interpreter->n_values++] = (ufl_value_of){function, value, formula, place.line};
    return true;
}

/* Are the components of the element those of its dofs? */
static bool has_symmetry(const ufl_element *element) {
    bool found = element->symmetric;
    for (int i = 0; i < element->n_sub; ++i)
        found |= has_symmetry(element->sub[i]);
    return found;
}

/* Function(space, value): the function of the space that has the value at its nodes */
static ufl_value function(ufl_call *call) {
    ufl_interpreter *interpreter = call->interpreter;
    const ufl_space *space = ufl_to_space(interpreter, call->slots[0]);
    const ufl_node *made = space ? ufl_coefficient(call->graph, space, -1) : NULL;
    char wanted[100], got[100];
    if (!made || !ufl_given(call, 1))
        return ufl_of_node(made);
    if (call->slots[1].kind == UFL_K_STRING) {
        ufl_wrong(interpreter, WEFT_ERROR_TYPE, "the value of a Function is an expression of x");
        ufl_hint(interpreter->context, "write Function(V, sin(x[0])), without quotes");
        return ufl_nothing();
    }
    const ufl_node *value = ufl_to_node(interpreter, call->slots[1], "the value of a Function");
    if (!value)
        return ufl_nothing();
    bool fits = value->rank == made->rank && value->n_free == 0 && !ufl_is_condition(value);
    for (int i = 0; fits && i < made->rank; ++i)
        fits = value->shape[i] == made->shape[i];
    if (!fits)
        return ufl_wrong(interpreter, WEFT_ERROR_SHAPE,
                         "the value of a Function has the shape %s, and functions of %s have %s",
                         ufl_shape_text(value->shape, value->rank, got, sizeof got),
                         space->element->name,
                         ufl_shape_text(made->shape, made->rank, wanted, sizeof wanted));
    if (has_symmetry(space->element))
        return ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED,
                         "a Function of a symmetric tensor element cannot have a value");
    return add_value(interpreter, made, value) ? ufl_of_node(made) : ufl_nothing();
}

/* ---- the problem --------------------------------------------------------------------------- */

static int count_arguments(ufl_graph *graph, const ufl_form *form) {
    const ufl_node **arguments = NULL;
    return ufl_form_terminals(graph, form, UFL_ARGUMENT, &arguments);
}

static bool contains(ufl_graph *graph, const ufl_form *form, const ufl_node *coefficient) {
    const ufl_node **list = NULL;
    const int n = form ? ufl_form_terminals(graph, form, UFL_COEFFICIENT, &list) : 0;
    for (int i = 0; i < n; ++i)
        if (list[i] == coefficient)
            return true;
    return false;
}

static ufl_value refuse(ufl_call *call, const char *hint, const char *text) {
    ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "%s", text);
    ufl_hint(call->interpreter->context, "%s", hint);
    return ufl_nothing();
}

static ufl_value refuse_shape(ufl_call *call, ufl_value value) {
    ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "solve expects forms, and got %s",
              ufl_kind_words(value));
    ufl_hint(call->interpreter->context, "write P = solve(A, RHS) with a bilinear and a linear "
                                         "form, solve(a == L, u) or solve(F == 0, u)");
    return ufl_nothing();
}

/* The two sides of solve(A, RHS, ...) or solve(a == L, ...); right NULL: 0 */
static bool read_sides(ufl_call *call, ufl_problem_of *out) {
    const bool is_equation = call->slots[0].kind == UFL_K_EQUATION;
    const ufl_value left = is_equation ? call->slots[0].list->items[0] : call->slots[0];
    const ufl_value right = is_equation ? call->slots[0].list->items[1] : call->slots[1];
    const bool is_zero = is_equation && right.kind != UFL_K_FORM && ufl_equal(right, ufl_of_int(0));
    if (left.kind != UFL_K_FORM || (right.kind != UFL_K_FORM && !is_zero)) {
        refuse_shape(call, left.kind != UFL_K_FORM ? left : right);
        return false;
    }
    out->matrix = left.form;
    out->vector = is_zero ? NULL : right.form;
    return true;
}

/* What solve(a == L, u) or solve(F == 0, u) puts the solution into; NULL: nothing, or an error */
static const ufl_node *read_target(ufl_call *call) {
    const ufl_value value = call->slots[1];
    if (call->slots[0].kind != UFL_K_EQUATION || !ufl_given(call, 1))
        return NULL;
    if (value.kind == UFL_K_NODE && value.node->type == UFL_COEFFICIENT)
        return value.node;
    ufl_wrong(call->interpreter, WEFT_ERROR_TYPE,
              "solve puts the solution into a Function, and got %s",
              value.kind == UFL_K_NODE ? ufl_type_name(value.node->type) : ufl_kind_words(value));
    ufl_hint(call->interpreter->context, "write u = Function(V); solve(a == L, u)");
    return NULL;
}

/* Conditions are not part of form files. An empty list is none. */
static bool check_conditions(ufl_call *call) {
    const ufl_value value = call->slots[2];
    const bool is_list = value.kind == UFL_K_LIST || value.kind == UFL_K_TUPLE;
    if (!ufl_given(call, 2) || (is_list && value.list->n == 0))
        return true;
    refuse(call,
           "they are given by --dirichlet GROUP=VALUE, in Python by weft.Dirichlet: what is not "
           "prescribed is natural",
           "solve takes no boundary conditions from a form file");
    return false;
}

/* a(u, v) = L(v): sets *unknown to a new function if there is none */
static bool check_linear(ufl_call *call, ufl_problem_of *problem) {
    const ufl_node **arguments = NULL;
    const int n = ufl_form_terminals(call->graph, problem->matrix, UFL_ARGUMENT, &arguments);
    const int n_right = count_arguments(call->graph, problem->vector);
    if (n < 0 || n_right < 0)
        return false;
    if (n != 2) {
        refuse(call,
               "the left side is a bilinear form, such as A = inner(grad(u), grad(v))*dx of a "
               "TrialFunction u and a TestFunction v",
               n == 1 ? "the left side of solve has no trial function, or no test function"
                      : "the left side of solve has no trial and no test function");
        return false;
    }
    if (n_right == 2 || (n_right == 0 && problem->vector->n_integrals > 0)) {
        refuse(call,
               n_right == 2 ? "the right side is a linear form; of a form F with both, write "
                              "solve(lhs(F), rhs(F))"
                            : "the right side is a linear form, such as RHS = f*v*dx of the "
                              "TestFunction v",
               n_right == 2 ? "the right side of solve has a trial function: it is a bilinear form"
                            : "the right side of solve has no test function");
        return false;
    }
    if (problem->solution && problem->solution->space != arguments[1]->space) {
        refuse(call, "write u = Function(V) with the V of TrialFunction(V)",
               "the solution is in another space than the trial function");
        return false;
    }
    if (problem->solution && (contains(call->graph, problem->matrix, problem->solution) ||
                              contains(call->graph, problem->vector, problem->solution))) {
        refuse(call, "a nonlinear problem is F = ...; solve(F == 0, u)",
               "the forms of a linear problem contain its solution");
        return false;
    }
    problem->is_target = problem->solution != NULL;
    if (!problem->solution)
        problem->solution = ufl_coefficient(call->graph, arguments[1]->space, -1);
    return problem->solution != NULL;
}

/* F(u; v) = 0 */
static bool check_nonlinear(ufl_call *call, ufl_problem_of *problem) {
    const int n = count_arguments(call->graph, problem->matrix);
    if (n < 0)
        return false;
    problem->vector = problem->matrix;
    problem->matrix = ufl_given(call, 3) ? ufl_slot_form(call, 3) : NULL;
    problem->is_nonlinear = problem->is_target = true;
    if (n != 1)
        refuse(call,
               n == 2 ? "the unknown of F is a Function; of a form F with a trial function, write "
                        "solve(lhs(F) == rhs(F), u)"
                      : "F is a linear form, such as inner(grad(u), grad(v))*dx of a Function u "
                        "and a TestFunction v",
               n == 2 ? "the form of solve(F == 0, u) has a trial function"
                      : "the form of solve(F == 0, u) has no test function");
    else if (!problem->solution)
        refuse(call, "write solve(F == 0, u)", "solve(F == 0) does not say what the unknown is");
    else if (!contains(call->graph, problem->vector, problem->solution))
        refuse(call, "write F with the Function that solve gets",
               "the form of solve(F == 0, u) does not contain its unknown");
    else if (problem->matrix && count_arguments(call->graph, problem->matrix) != 2)
        refuse(call, "J is derivative(F, u), which is the default", "J is not a bilinear form");
    return call->interpreter->context->status == WEFT_OK;
}

/* solve(A, RHS); solve(a == L, u, bcs); solve(F == 0, u, bcs, J) */
static ufl_value solve(ufl_call *call) {
    ufl_interpreter *interpreter = call->interpreter;
    ufl_problem_of *problem = ufl_alloc(interpreter->context, 1, sizeof *problem);
    if (!problem)
        return ufl_nothing();
    if (interpreter->problem) {
        ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED,
                  "this file solves a problem in line %d already, and a form file has one",
                  interpreter->problem->place.line);
        ufl_hint(interpreter->context,
                 "write the second problem in a file of its own, with a Coefficient for the result "
                 "of the first: --input 'P=field(first.vtkhdf, P)'");
        return ufl_nothing();
    }
    problem->place = interpreter->context->place;
    if (!read_sides(call, problem))
        return ufl_nothing();
    problem->solution = read_target(call);
    if (interpreter->context->status != WEFT_OK || !check_conditions(call))
        return ufl_nothing();
    if (!(problem->vector ? check_linear(call, problem) : check_nonlinear(call, problem)))
        return ufl_nothing();
    interpreter->problem = problem;
    return problem->is_target ? ufl_none() : ufl_of_node(problem->solution);
}

bool ufl_check_solution(ufl_interpreter *interpreter, const ufl_module *module) {
    const ufl_problem_of *problem = interpreter->problem;
    for (int i = 0; problem && !problem->is_nonlinear && i < module->n_variables; ++i) {
        const ufl_export *form = &module->variables[i];
        if (!contains(interpreter->graph, form->form, problem->solution) ||
            count_arguments(interpreter->graph, form->form) == 0)
            continue;
        interpreter->context->place = form->form->place;
        ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED,
                  "the form %s contains the solution of the problem in line %d: forms of it are "
                  "not computed, but functionals",
                  form->name, problem->place.line);
        ufl_hint(interpreter->context,
                 "values and integrals of the solution are derived quantities (--derive, "
                 "--integral); a second problem is a file of its own");
        return false;
    }
    return true;
}

bool ufl_refuse_name(ufl_interpreter *interpreter, const char *name) {
    static const struct {
        const char *name, *text, *hint;
    } names[] = {
        {"DirichletBC", "boundary conditions are not written in a form file",
         "they are given by --dirichlet GROUP=VALUE, in Python by weft.Dirichlet"},
        {"dirichletbc", "boundary conditions are not written in a form file",
         "they are given by --dirichlet GROUP=VALUE, in Python by weft.Dirichlet"},
        {"Expression", "Expression is not part of form files",
         "write f = Function(V, sin(x[0])), an expression of x = SpatialCoordinate(triangle)"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (strcmp(names[i].name, name) == 0) {
            ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED, "%s", names[i].text);
            ufl_hint(interpreter->context, "%s", names[i].hint);
            return true;
        }
    return false;
}

ufl_value ufl_spatial_coordinate(ufl_interpreter *interpreter) {
    const ufl_elements *elements = interpreter->graph->elements;
    const ufl_mesh *mesh = elements->n_meshes > 0 ? elements->meshes[0] : NULL;
    const int n = elements->n_meshes;
    ufl_cell_type cell = elements->n_elements > 0 ? elements->elements[0]->cell : UFL_VERTEX;
    for (int i = 0; i < elements->n_elements; ++i)
        if (elements->elements[i]->cell != cell)
            return ufl_nothing();
    if (n == 0 && cell != UFL_VERTEX)
        mesh = ufl_mesh_legacy(interpreter->graph->elements, cell, ufl_cell_dimension(cell));
    return n > 1 || !mesh
               ? ufl_nothing()
               : ufl_of_node(ufl_geometry(interpreter->graph, UFL_SPATIAL_COORDINATE, mesh));
}

const ufl_builtin ufl_problem_builtins[] = {{"Function", "space,value=,name=", function, 0},
                                            {"solve", "equation,solution=,bcs=,J=", solve, 0},
                                            {0}};
