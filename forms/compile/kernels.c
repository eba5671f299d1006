/* Kernels of whole cells for the matrix of a part of a problem, with the names of their inputs. */
#include "forms/compile/compile.h"
#include "forms/lower/action.h"

#include <string.h>

typedef struct part_kernels {
    weft_form_kernels base;
    weft_ufl *ufl;
    const ufl_problem *problem;
    int part;
    /* of the last calls */
    const weft_limits *limits[2]; /* [single] */
    weft_form_kernel *list[2];
} part_kernels;

static bool name_source(part_kernels *own, const ufl_prepared *form, const ufl_cell_action *action,
                        int i, weft_form_kernel *out) {
    const weft_cell_source *source = &action->kernel.sources[i];
    const ufl_node *node = action->sources[i];
    if (node->type == UFL_ARGUMENT)
        return true;
    out->inputs[i] = ufl_input_name(own->ufl, own->problem, form, node);
    const int set = ufl_problem_set(own->problem, node);
    if (source->kind == WEFT_CELL_NODAL)
        out->connectivities[i] = set >= 0 ? own->problem->sets[set].connectivity : NULL;
    else if (set >= 0 || (!source->uniform && source->components > 1)) {
        ufl_fail(&own->ufl->context, WEFT_ERROR_UNSUPPORTED,
                 "sum factorisation with %s, which is constant on cells", out->inputs[i]);
        return false;
    }
    return out->inputs[i] != NULL;
}

static bool lower(part_kernels *own, const ufl_calls *calls, int k, const weft_limits *limits,
                  bool single, weft_form_kernel *out) {
    weft_ufl *ufl = own->ufl;
    const int integral = (int)(calls->list[k]->integral - calls->form->form.integrals);
    const ufl_action_shape shape = {.single = single};
    const char *name = ufl_print(&ufl->context, "%s_cells", calls->list[k]->name);
    const ufl_cell_action *action =
        name ? ufl_lower_action(&ufl->graph, calls->form, integral, name, limits, &shape) : NULL;
    if (!action)
        return false;
    out->kernel = &action->kernel;
    out->coordinates = "x";
    out->vertices = own->problem->sets[own->problem->shown.geometry].connectivity;
    for (int i = 0; i < action->kernel.n_sources; ++i)
        if (!name_source(own, calls->form, action, i, out))
            return false;
    return true;
}

static weft_status make(const weft_form_kernels *self, const weft_limits *limits, bool single,
                        const weft_form_kernel **out, int *n, weft_error *error) {
    part_kernels *own = (part_kernels *)(uintptr_t)self;
    const ufl_calls *calls = &own->problem->calls[own->part].matrix;
    ufl_context *context = &own->ufl->context;
    weft_error ignored = {0};
    context->status = WEFT_OK;
    context->error = error ? error : &ignored;
    if (own->limits[single] != limits) {
        weft_form_kernel *list = ufl_alloc(context, (size_t)calls->n, sizeof *list);
        bool fine = list != NULL;
        own->limits[single] = NULL;
        for (int k = 0; fine && k < calls->n; ++k)
            fine = lower(own, calls, k, limits, single, &list[k]);
        own->list[single] = list;
        if (fine)
            own->limits[single] = limits;
    }
    *out = own->list[single];
    *n = calls->n;
    const weft_status status = context->status;
    context->status = WEFT_OK;
    context->error = NULL;
    return status;
}

bool ufl_part_kernels(weft_ufl *ufl, ufl_problem *problem, int part) {
    weft_ufl_part *shown = &problem->parts[part];
    const bool tensor =
        problem->shown.cell == WEFT_QUADRILATERAL || problem->shown.cell == WEFT_HEXAHEDRON;
    if (shown->domain != WEFT_UFL_CELLS || !shown->has_matrix || !tensor)
        return true;
    part_kernels *kernels = ufl_alloc(&ufl->context, 1, sizeof *kernels);
    if (!kernels)
        return false;
    *kernels = (part_kernels){.base = {make}, .ufl = ufl, .problem = problem, .part = part};
    shown->kernels = &kernels->base;
    return true;
}
