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
    bool is_repr; /* the text is that of weft_ufl_read_repr */
};

/** Read the same text again, into a graph of its own.
 *  out     weft_ufl_free
 *  Errors  WEFT_ERROR_MEMORY */
weft_status ufl_read_again(const weft_ufl *ufl, weft_ufl **out, weft_error *error);

/** The variable that holds a terminal, or v_0, w0, c0 by its position among those of a form. */
const char *ufl_terminal_name(const weft_ufl *ufl, const ufl_prepared *form, const ufl_node *node);
