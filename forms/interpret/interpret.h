/** Executes a form file.
 *  In: a syntax tree. Out: what the file exports: forms with their names, elements, and the names of the
 *  functions and constants that the forms contain.
 *
 *      execute.c     statements, functions
 *      scopes.c      names and their values
 *      exports.c     what the file leaves behind
 *      evaluate.c    expressions
 *      arithmetic.c  operators of Python on all kinds of values
 *      values.c      making, comparing and describing values
 *      subscripts.c  value[index]
 *      attributes.c  value.name and methods; containers.c, measures.c those of lists and of dx
 *      arguments.c   matching the arguments of a call with parameters
 *      python.c, algebra.c, spaces.c, calculus.c  the functions that a file can call
 *      problem.c     Function(V, value) and solve(A, RHS); formula.c: values as formulas
 *      modules.c     which names each module has
 *      repr.c        the classes that the repr of a ufl.Form names
 *
 *  Decision  docs/decisions/0049-form-files-have-an-interpreter.md */
#pragma once

#include "forms/read/read.h"
#include "forms/transform/transform.h"

typedef struct ufl_export {
    const char *name; /* a variable, of several a, L, M, F or J; or "forms[k]" */
    const ufl_form *form;
} ufl_export;

typedef struct ufl_named_node {
    const ufl_node *node;
    const char *name;
} ufl_named_node;

/** Function(space, value) */
typedef struct ufl_value_of {
    const ufl_node *function, *value; /* value: expanded */
    const char *formula;              /* in the language of inputs */
    int line;
} ufl_value_of;

/** What solve() states: matrix(u, v) = vector(v), or vector(u; v) = 0 with the derivative matrix, which may be NULL. */
typedef struct ufl_problem_of {
    const ufl_form *matrix, *vector;
    const ufl_node *solution; /* nonlinear: the unknown */
    bool is_nonlinear;
    bool is_target; /* the solution is a Function of the file */
    ufl_place place;
} ufl_problem_of;

/** What a file leaves behind. Everything is in the arena. */
typedef struct ufl_module {
    int n_forms, n_variables, n_elements, n_names, n_expressions;
    const ufl_export *forms;     /* those that are compiled */
    const ufl_export *variables; /* all that hold forms, in no order */
    const ufl_element *const *elements;
    const ufl_named_node *names; /* of arguments, coefficients, constants: variables of the file */
    const ufl_node *const *expressions; /* expressions = [(expression, points), ...] */
    const ufl_node *unknown;            /* unknown = u, or NULL */
    const ufl_problem_of *problem;      /* of solve(); NULL: the forms have roles by their names */
    const ufl_value_of *values;         /* [n_values] */
    int n_values;
} ufl_module;

/** legacy  the names of legacy UFL are in scope from the start (.ufl)
 *  NULL and an error in graph->context otherwise. */
const ufl_module *ufl_execute(ufl_graph *graph, const ufl_syntax *program, bool legacy);
/** The repr of a form as an expression: names of elements in one word. Arena; NULL without memory. */
char *ufl_repr_text(ufl_context *context, const char *text, size_t length);
/** Execute the expression of ufl_repr_text. The form is called "a". */
const ufl_module *ufl_execute_repr(ufl_graph *graph, const ufl_syntax *expression);
/** The variable that holds a terminal, of several the last in alphabetical order; or NULL. */
const char *ufl_module_name(const ufl_module *module, const ufl_node *node);
/** The terminal that a variable holds, or NULL: a terminal can have several names. */
const ufl_node *ufl_module_terminal(const ufl_module *module, const char *name);
/** The exported form that a variable holds, whatever the form is called; -1: none. */
int ufl_module_form(const ufl_module *module, const char *name);
