/** A form file that was read: what weft_ufl.h describes, for the stages that compile it.
 *  In: the text. Out: the expression graph and every form prepared for compilation. */
#pragma once

#include "forms/degree/degree.h"
#include "forms/interpret/interpret.h"
#include "forms/weft_ufl.h"

struct weft_ufl {
    ufl_context context;
    ufl_elements elements;
    ufl_graph graph;
    ufl_names names; /* variables of the file, for printing */
    const ufl_module *module;
    const ufl_prepared **prepared;     /* [module->n_forms] */
    const struct ufl_problem *problem; /* made on first use, by forms/compile */
    char *file, *text;
};

/** The variable that holds a terminal, or v_0, w0, c0 by its position among those of a form. */
const char *ufl_terminal_name(const weft_ufl *ufl, const ufl_prepared *form, const ufl_node *node);
