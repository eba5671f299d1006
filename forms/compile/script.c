/* Writes the script of a part of a problem. */
#include "forms/compile/compile.h"
#include "fusion/weft_outline.h"

#include <string.h>

typedef struct script_writer {
    weft_ufl *ufl;
    const ufl_problem *problem;
    const weft_ufl_part *part;
    const char *suffix;
    ufl_inputs *declared;
    weft_text *out;
} script_writer;

const char *ufl_input_name(weft_ufl *ufl, const ufl_problem *problem, const ufl_prepared *form,
                           const ufl_node *node) {
    static const char *const taken[] = {"x",     "X",     "K",    "b",        "r",       "u",  "v",
                                        "y",     "A",     "d",    "t",        "Kv",      "Kd", "M",
                                        "cells", "nodes", "dofs", "vertices", "geometry"};
    if (node == problem->unknown)
        return "u";
    if (node == problem->direction)
        return "v";
    if (problem->of)
        return ufl_input_name(ufl, problem->of, problem->of->matrix, node);
    const char *name = ufl_terminal_name(ufl, form, node);
    bool clashes = strncmp(name, "dofs_", 5) == 0 || strncmp(name, "nodes_", 6) == 0 ||
                   strncmp(name, "coefficient_", 12) == 0 || weft_outline_reserved(name);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; ++i) {
        const size_t n = strlen(taken[i]);
        clashes |= strncmp(name, taken[i], n) == 0 &&
                   (!name[n] || strncmp(name + n, "_d", 2) == 0); /* K_ds_2 of a further part */
    }
    return clashes ? ufl_print(&ufl->context, "coefficient_%s", name) : name;
}

static int n_sides(const script_writer *w) {
    return w->part->domain == WEFT_UFL_INTERIOR_FACETS ? 2 : 1;
}

/* ---- declarations ------------------------------------------------------------------------ */

static bool uses(const ufl_calls *calls, const ufl_problem *problem, int set) {
    for (int i = 0; i < calls->n; ++i)
        for (int k = 1; k < calls->list[i]->n_arguments; ++k)
            if (ufl_problem_set(problem, calls->list[i]->arguments[k].node) == set)
                return true;
    return false;
}

static bool is_used(const script_writer *w, int set) {
    const ufl_part_calls *calls = &w->problem->calls[w->part - w->problem->parts];
    return set == 0 || set == w->problem->shown.geometry || uses(&calls->matrix, w->problem, set) ||
           uses(&calls->vector, w->problem, set) || uses(&calls->action, w->problem, set) ||
           uses(&calls->diagonal, w->problem, set) || uses(&calls->mass, w->problem, set);
}

/* index cells, nodes; connectivity dofs : cells -> nodes[6]; ... */
static void declare_sets(const script_writer *w, const bool *is_known) {
    const weft_ufl_problem *shown = &w->problem->shown;
    weft_text_add(w->out, "index cells%s", w->suffix);
    for (int i = 0; i < shown->n_sets; ++i)
        if (is_used(w, i) && !is_known[i])
            weft_text_add(w->out, ", %s", w->problem->sets[i].nodes);
    weft_text_add(w->out, ";\n");
    for (int i = 0; i < shown->n_sets; ++i) {
        const weft_ufl_set *set = &w->problem->sets[i];
        if (is_used(w, i))
            weft_text_add(w->out, "connectivity %s%s : cells%s -> %s[%d];\n", set->connectivity,
                          w->suffix, w->suffix, set->nodes, n_sides(w) * set->width);
    }
}

static void write_shape(const ufl_node *node, const ufl_function_argument *argument, int set,
                        weft_text *out) {
    const ufl_element *element = node->type == UFL_COEFFICIENT ? node->space->element : NULL;
    const bool interleaved = element && ufl_nodal_element(element) != element;
    if (set >= 0 && interleaved)
        weft_text_add(out, "[%d]", argument->columns);
    else if (set < 0 && argument->columns > 0)
        weft_text_add(out, "[%d,%d]", argument->rows, argument->columns);
    else if (set < 0 && argument->rows > 0)
        weft_text_add(out, "[%d]", argument->rows);
}

static bool declare_input(const script_writer *w, const ufl_prepared *form,
                          const ufl_function_argument *argument) {
    const ufl_node *node = argument->node;
    const int set = ufl_problem_set(w->problem, node);
    for (int i = 0; i < w->declared->n; ++i)
        if (w->declared->list[i] == node)
            return true;
    if (w->declared->n == UFL_INPUTS_MAX)
        return ufl_fail(&w->ufl->context, WEFT_ERROR_UNSUPPORTED,
                        "more than %d coefficients and constants", UFL_INPUTS_MAX);
    w->declared->list[w->declared->n++] = node;
    weft_text_add(w->out, "input %s : real", ufl_input_name(w->ufl, w->problem, form, node));
    write_shape(node, argument, set, w->out);
    if (set >= 0)
        weft_text_add(w->out, " over %s", w->problem->sets[set].nodes);
    else if (node->type == UFL_COEFFICIENT && ufl_is_over_cells(w->problem, node))
        weft_text_add(w->out, " over cells");
    weft_text_add(w->out, ";\n");
    return true;
}

static bool declare_inputs(const script_writer *w, const ufl_calls *calls) {
    for (int i = 0; i < calls->n; ++i)
        for (int k = 1; k < calls->list[i]->n_arguments; ++k)
            if (!declare_input(w, calls->form, &calls->list[i]->arguments[k]))
                return false;
    return true;
}

/* ---- statements -------------------------------------------------------------------------- */

typedef struct call_writer {
    const script_writer *w;
    const ufl_prepared *form;
    const ufl_lowered *lowered;
} call_writer;

static void write_argument(const void *user, int number, weft_text *out) {
    const call_writer *call = user;
    const script_writer *w = call->w;
    const ufl_function_argument *argument = &call->lowered->arguments[number];
    const int set = argument->node ? ufl_problem_set(w->problem, argument->node) : -1;
    if (!argument->node) {
        weft_text_add(out, "X%s", w->suffix);
        return;
    }
    weft_text_add(out, "%s", ufl_input_name(w->ufl, w->problem, call->form, argument->node));
    if (set >= 0)
        weft_text_add(out, "[%s%s]", w->problem->sets[set].connectivity, w->suffix);
    if (set >= 0 && argument->rows == 0) /* one dof: a number, not a list */
        weft_text_add(out, "[0]");
}

/* LEFT ufl_a_0(X, f[dofs]) + ... */
static void write_calls(const script_writer *w, const ufl_calls *calls) {
    for (int i = 0; i < calls->n; ++i) {
        const call_writer call = {w, calls->form, calls->list[i]};
        weft_text_add(w->out, i ? " + " : "");
        ufl_lowered_call(calls->list[i], write_argument, &call, w->out);
    }
    weft_text_add(w->out, ";\n");
}

bool ufl_write_part(weft_ufl *ufl, const ufl_problem *problem, int part, const char *suffix,
                    ufl_inputs *declared, weft_text *out) {
    const script_writer w = {ufl, problem, &problem->parts[part], suffix, declared, out};
    const ufl_part_calls *calls = &problem->calls[part];
    const weft_ufl_set *geometry = &problem->sets[problem->shown.geometry];
    bool is_known[UFL_SETS_MAX] = {false};
    for (int i = 0; i < problem->shown.n_sets && suffix[0]; ++i)
        for (int earlier = 0; earlier < part; ++earlier) {
            script_writer other = w;
            other.part = &problem->parts[earlier];
            is_known[i] |= is_used(&other, i);
        }
    declare_sets(&w, is_known);
    if (!is_known[problem->shown.geometry])
        weft_text_add(out, "input x : real[%d] over %s;\n",
                      problem->matrix->arguments[0]->space->mesh->gdim, geometry->nodes);
    if (!declare_inputs(&w, &calls->matrix) || !declare_inputs(&w, &calls->vector) ||
        !declare_inputs(&w, &calls->action) || !declare_inputs(&w, &calls->diagonal) ||
        !declare_inputs(&w, &calls->mass))
        return false;
    weft_text_add(out, "X%s = x[%s%s];\n", suffix, geometry->connectivity, suffix);
    if (calls->matrix.n > 0) {
        weft_text_add(out, "K%s = ", suffix);
        write_calls(&w, &calls->matrix);
    }
    if (calls->action.n > 0) {
        weft_text_add(out, "Kv%s = ", suffix);
        write_calls(&w, &calls->action);
    }
    if (calls->diagonal.n > 0) {
        weft_text_add(out, "Kd%s = ", suffix);
        write_calls(&w, &calls->diagonal);
    }
    if (calls->mass.n > 0) {
        weft_text_add(out, "M%s = ", suffix);
        write_calls(&w, &calls->mass);
    }
    if (calls->vector.n > 0) {
        weft_text_add(out, "%s[dofs%s] += ", problem->shown.nonlinear ? "r" : "b", suffix);
        write_calls(&w, &calls->vector);
    }
    return true;
}
