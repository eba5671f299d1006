/* Writes the script of a form file, and adds the functions that it calls to a library. */
#include "forms/compile/compile.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct script_writer {
    weft_ufl *ufl;
    weft_text *out;
    const ufl_node *unknown;      /* called u; NULL: none */
    const ufl_node *declared[64]; /* inputs */
    int n_declared;
} script_writer;

/* The forms of a problem: a matrix, and a vector or none. */
typedef struct problem {
    const ufl_prepared *matrix, *vector;
    const char *matrix_name, *vector_name;
    bool nonlinear;
} problem;

static const char *function_name(weft_ufl *ufl, const char *form, int integral) {
    char *name = ufl_print(&ufl->context, "ufl_%s_%d", form, integral);
    for (char *c = name; c && *c; ++c)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    return name;
}

int ufl_compile_form(weft_ufl *ufl, const ufl_prepared *form, const char *name,
                     const ufl_lowered ***out) {
    const int n = form->form.n_integrals;
    const ufl_lowered **list = ufl_alloc(&ufl->context, (size_t)n + 1, sizeof *list);
    for (int i = 0; list && i < n; ++i) {
        const ufl_integral *integral = &form->form.integrals[i];
        ufl->context.place = integral->place;
        if (integral->type != UFL_CELL || integral->id != UFL_ID_EVERYWHERE) {
            ufl_fail(&ufl->context, WEFT_ERROR_UNSUPPORTED,
                     integral->type == UFL_CELL
                         ? "integrals over groups of cells (%s(%d)) are not compiled to scripts"
                         : "integrals over facets (%s) are not compiled to scripts",
                     ufl_measure_name(integral->type), integral->id);
            ufl_hint(&ufl->context,
                     "leave the term out, and give boundary terms by --neumann or --robin");
            return -1;
        }
        list[i] = ufl_lower_integral(&ufl->graph, form, i, function_name(ufl, name, i), NULL);
        if (!list[i])
            return -1;
    }
    *out = list;
    return list ? n : -1;
}

static int find_form(const weft_ufl *ufl, const char *name) {
    for (int i = 0; i < ufl->module->n_forms; ++i)
        if (strcmp(ufl->module->forms[i].name, name) == 0)
            return i;
    return -1;
}

/* What F is differentiated by where the file has no J: `unknown`, or the coefficient that is called u. */
static const ufl_node *find_unknown(weft_ufl *ufl, const ufl_prepared *form) {
    const ufl_node *found = ufl->module->unknown;
    for (int i = 0; !found && i < form->n_coefficients; ++i)
        if (strcmp(ufl_terminal_name(ufl, form, form->coefficients[i]), "u") == 0)
            found = form->coefficients[i];
    for (int i = 0; !found && i < form->n_coefficients; ++i)
        if (form->coefficients[i]->space == form->arguments[0]->space)
            found = form->coefficients[i];
    return found;
}

static const ufl_prepared *derive_tangent(weft_ufl *ufl, const ufl_form *form,
                                          const ufl_node *unknown) {
    const ufl_directions directions = {.w = &unknown, .n_w = 1};
    const ufl_form *tangent = ufl_derivative(&ufl->graph, form, &directions);
    return tangent ? ufl_prepare(&ufl->graph, tangent, &ufl->names) : NULL;
}

/* Find a and L, or F and J. */
static bool find_problem(weft_ufl *ufl, problem *out, const ufl_node **unknown) {
    const int a = find_form(ufl, "a"), L = find_form(ufl, "L"), F = find_form(ufl, "F"),
              J = find_form(ufl, "J");
    ufl->context.place = (ufl_place){0, 0};
    *out = (problem){.matrix_name = "a", .vector_name = "L"};
    if (a >= 0 && ufl->prepared[a]->n_arguments == 2) {
        out->matrix = ufl->prepared[a];
        out->vector = L >= 0 && ufl->prepared[L]->n_arguments == 1 ? ufl->prepared[L] : NULL;
        return true;
    }
    if (F < 0 || ufl->prepared[F]->n_arguments != 1) {
        ufl_fail(&ufl->context, WEFT_ERROR_INPUT,
                 "this file has no problem: neither a bilinear form a nor a linear form F");
        ufl_hint(&ufl->context,
                 "call the forms a and L, or F and J; weft ufl shows those that there are");
        return false;
    }
    *out = (problem){
        .vector = ufl->prepared[F], .vector_name = "F", .matrix_name = "J", .nonlinear = true};
    *unknown = find_unknown(ufl, out->vector);
    if (!*unknown) {
        ufl_fail(&ufl->context, WEFT_ERROR_INPUT,
                 "the form F has no coefficient in its own space, so no unknown");
        return false;
    }
    out->matrix = J >= 0 && ufl->prepared[J]->n_arguments == 2
                      ? ufl->prepared[J]
                      : derive_tangent(ufl, ufl->module->forms[F].form, *unknown);
    return out->matrix != NULL;
}

/* Continuous, linear, of one or several components, on triangles or tetrahedra. */
static bool is_nodal(const ufl_element *element) {
    const ufl_element *scalar = element->family == UFL_BLOCKED ? element->sub[0] : element;
    return scalar->family == UFL_LAGRANGE && scalar->degree == 1 && !scalar->discontinuous &&
           !element->symmetric && (scalar->cell == UFL_TRIANGLE || scalar->cell == UFL_TETRAHEDRON);
}

static bool check_spaces(weft_ufl *ufl, const problem *p) {
    const ufl_prepared *forms[] = {p->matrix, p->vector};
    const ufl_space *space = p->matrix->arguments[0]->space;
    for (int i = 0; i < 2; ++i)
        for (int k = 0; forms[i] && k < forms[i]->n_arguments; ++k)
            if (forms[i]->arguments[k]->space != space) {
                ufl->context.place = forms[i]->arguments[k]->place;
                ufl_fail(&ufl->context, WEFT_ERROR_UNSUPPORTED,
                         "test and trial functions are in different spaces");
                return false;
            }
    if (is_nodal(space->element) && space->mesh->affine)
        return true;
    ufl->context.place = p->matrix->arguments[0]->place;
    ufl_fail(&ufl->context, WEFT_ERROR_UNSUPPORTED,
             "scripts are made for continuous functions of degree 1 on triangles and tetrahedra, "
             "this is %s",
             space->element->name);
    ufl_hint(&ufl->context, "weft ufl FILE --print kernels shows the functions of its integrals");
    return false;
}

/* The name of an input in the script: that of the file, unless the script has it. */
static const char *input_name(script_writer *w, const ufl_prepared *form, const ufl_node *node) {
    static const char *const taken[] = {"x", "X", "K", "b", "r",     "u",     "v",
                                        "y", "A", "d", "t", "cells", "nodes", "dofs"};
    if (node == w->unknown)
        return "u";
    const char *name = ufl_terminal_name(w->ufl, form, node);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; ++i)
        if (strcmp(name, taken[i]) == 0)
            return ufl_print(&w->ufl->context, "coefficient_%s", name);
    return name;
}

static bool is_over_nodes(const ufl_node *node) {
    return node->type == UFL_COEFFICIENT && is_nodal(node->space->element);
}

static bool declare_input(script_writer *w, const ufl_prepared *form,
                          const ufl_function_argument *argument) {
    for (int i = 0; i < w->n_declared; ++i)
        if (w->declared[i] == argument->node)
            return true;
    if (w->n_declared == 64)
        return ufl_fail(&w->ufl->context, WEFT_ERROR_UNSUPPORTED,
                        "more than 64 coefficients and constants");
    w->declared[w->n_declared++] = argument->node;
    const ufl_element *element =
        argument->node->type == UFL_COEFFICIENT ? argument->node->space->element : NULL;
    const bool nodal = is_over_nodes(argument->node);
    const ufl_element *scalar =
        element && element->family == UFL_BLOCKED ? element->sub[0] : element;
    if (element && !nodal && scalar->n_dofs != 1) {
        w->ufl->context.place = argument->node->place;
        ufl_fail(
            &w->ufl->context, WEFT_ERROR_UNSUPPORTED,
            "coefficients of scripts are of degree 1, constant in each cell or uniform; %s is %s",
            ufl_terminal_name(w->ufl, form, argument->node), element->name);
        return false;
    }
    weft_text_add(w->out, "input %s : real", input_name(w, form, argument->node));
    if (nodal && argument->columns > 1)
        weft_text_add(w->out, "[%d]", argument->columns);
    else if (!nodal && argument->columns > 0)
        weft_text_add(w->out, "[%d,%d]", argument->rows, argument->columns);
    else if (!nodal && argument->rows > 0)
        weft_text_add(w->out, "[%d]", argument->rows);
    weft_text_add(w->out, "%s;\n",
                  nodal                                   ? " over nodes"
                  : element && scalar->family != UFL_REAL ? " over cells"
                                                          : "");
    return true;
}

static bool declare_inputs(script_writer *w, const ufl_prepared *form,
                           const ufl_lowered *const *list, int n) {
    for (int i = 0; i < n; ++i)
        for (int k = 1; k < list[i]->n_arguments; ++k)
            if (!declare_input(w, form, &list[i]->arguments[k]))
                return false;
    return true;
}

static void write_calls(script_writer *w, const ufl_prepared *form, const char *left,
                        const ufl_lowered *const *list, int n) {
    weft_text_add(w->out, "%s ", left);
    for (int i = 0; i < n; ++i) {
        weft_text_add(w->out, "%s%s(", i ? " + " : "", list[i]->name);
        for (int k = 0; k < list[i]->n_arguments; ++k) {
            const ufl_function_argument *argument = &list[i]->arguments[k];
            if (!argument->node)
                weft_text_add(w->out, "X");
            else
                weft_text_add(w->out, ", %s%s", input_name(w, form, argument->node),
                              is_over_nodes(argument->node) ? "[dofs]" : "");
        }
        weft_text_add(w->out, ")");
    }
    weft_text_add(w->out, ";\n");
}

/* The forms, their functions and the script. out, library: NULL, or what is wanted. */
static weft_status compile(weft_ufl *ufl, weft_text *out, weft_library *library,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error ignored = {0};
    weft_text unused = {0};
    script_writer w = {.ufl = ufl, .out = out ? out : &unused};
    problem p;
    const ufl_lowered **matrix = NULL, **vector = NULL;
    int n_matrix = 0, n_vector = 0;
    ufl->context.status = WEFT_OK;
    ufl->context.error = error ? error : &ignored;
    bool fine = find_problem(ufl, &p, &w.unknown) && check_spaces(ufl, &p);
    if (fine) {
        n_matrix = ufl_compile_form(ufl, p.matrix, p.matrix_name, &matrix);
        n_vector =
            p.vector && n_matrix >= 0 ? ufl_compile_form(ufl, p.vector, p.vector_name, &vector) : 0;
        fine = n_matrix >= 0 && n_vector >= 0;
    }
    if (fine) {
        const ufl_mesh *mesh = p.matrix->arguments[0]->space->mesh;
        weft_text_add(w.out,
                      "# The forms %s%s%s of %s.\nindex cells, nodes;\n"
                      "connectivity dofs : cells -> nodes[%d];\ninput x : real[%d] over nodes;\n",
                      p.matrix_name, p.vector ? " and " : "", p.vector ? p.vector_name : "",
                      ufl->file, mesh->tdim + 1, mesh->gdim);
        fine = declare_inputs(&w, p.matrix, matrix, n_matrix) &&
               (!p.vector || declare_inputs(&w, p.vector, vector, n_vector));
    }
    if (fine) {
        weft_text_add(w.out, "X = x[dofs];\n");
        write_calls(&w, p.matrix, "K =", matrix, n_matrix);
        if (p.vector && n_vector > 0)
            write_calls(&w, p.vector, p.nonlinear ? "r[dofs] +=" : "b[dofs] +=", vector, n_vector);
    }
    status = ufl->context.status;
    if (status == WEFT_OK && w.out->failed)
        status = weft_out_of_memory(error, NULL);
    if (status == WEFT_OK && library)
        status = ufl_lowered_add(matrix, n_matrix, library, error);
    if (status == WEFT_OK && library && n_vector > 0)
        status = ufl_lowered_add(vector, n_vector, library, error);
    ufl->context.error = NULL;
    weft_text_free(&unused);
    return status;
}

weft_status weft_ufl_script(weft_ufl *ufl, weft_text *out, weft_error *error) {
    return compile(ufl, out, NULL, error);
}

weft_status weft_ufl_add_functions(weft_ufl *ufl, weft_library *library, weft_error *error) {
    return compile(ufl, NULL, library, error);
}

weft_status weft_ufl_print_kernels(weft_ufl *ufl, const char *form, weft_text *out,
                                   weft_error *error) {
    weft_error ignored = {0};
    ufl->context.status = WEFT_OK;
    ufl->context.error = error ? error : &ignored;
    bool found = false;
    for (int i = 0; i < ufl->module->n_forms && ufl->context.status == WEFT_OK; ++i) {
        const char *name = ufl->module->forms[i].name;
        const ufl_prepared *prepared = ufl->prepared[i];
        if (form && strcmp(form, name) != 0)
            continue;
        found = true;
        for (int k = 0; k < prepared->form.n_integrals; ++k) {
            const ufl_integral *integral = &prepared->form.integrals[k];
            const int n = integral->type == UFL_CELL
                              ? 1
                              : ufl_cell_entities(integral->mesh->cell, integral->mesh->tdim - 1);
            const int pairs = integral->type == UFL_INTERIOR_FACET ? n : 1;
            for (int at = 0; at < n * pairs; ++at) {
                const int facets[2] = {at / pairs, at % pairs};
                const char *function = function_name(ufl, name, k);
                if (function && integral->type == UFL_EXTERIOR_FACET)
                    function = ufl_print(&ufl->context, "%s_facet_%d", function, facets[0]);
                if (function && integral->type == UFL_INTERIOR_FACET)
                    function =
                        ufl_print(&ufl->context, "%s_facets_%d_%d", function, facets[0], facets[1]);
                const ufl_lowered *lowered = ufl_lower_integral(
                    &ufl->graph, prepared, k, function, integral->type == UFL_CELL ? NULL : facets);
                if (lowered)
                    weft_text_add(out, "%s\n", lowered->text);
            }
        }
    }
    const weft_status status = ufl->context.status;
    ufl->context.error = NULL;
    if (status == WEFT_OK && form && !found)
        return weft_ufl_print_forms(ufl, form, out, error); /* names the forms that there are */
    return status == WEFT_OK && out->failed ? weft_out_of_memory(error, NULL) : status;
}
