/* Binds the matrix of a form file for functions of a lower degree to the mesh and the inputs of its problem. */
#include "fem/precondition/coarse.h"
#include "fem/operator/operator.h"
#include "fem/space/space.h"
#include "forms/bind/bind.h"
#include "forms/compile/compile.h"

#include <stdlib.h>
#include <string.h>

typedef struct making {
    const weft_binding *binding;
    const weft_ufl_problem *ufl; /* the coarse one */
    int sets[UFL_SETS_MAX];
    weft_coarse *out;
} making;

static const weft_entities_kind kinds[] = {WEFT_ENTITIES_CELLS, WEFT_ENTITIES_EXTERIOR,
                                           WEFT_ENTITIES_INTERIOR};

/* The group over which a part is integrated: that of the part of the problem with the same domain. */
static int group_of(const making *m, const weft_ufl_part *part) {
    const weft_ufl_problem *of = m->binding->ufl;
    for (int i = 0; i < of->n_parts; ++i)
        if (of->parts[i].domain == part->domain && of->parts[i].id == part->id) /* any facets */
            return m->binding->groups[i];
    return -1;
}

static weft_status connect(const making *m, int i_part, int set, weft_error *error) {
    const weft_ufl_part *part = &m->ufl->parts[i_part];
    weft_entity_dofs *out = &m->out->dofs[i_part * m->ufl->n_sets + set];
    const weft_space *own[] = {m->out->space};
    const weft_problem_set *given =
        set > 0 ? &m->binding->problem->inputs.sets[m->sets[set]] : NULL;
    const weft_entities_of of = {kinds[part->domain], group_of(m, part), part->facets};
    return given ? weft_entity_dofs_make_of((const weft_space *const *)given->spaces, given->n,
                                            given->is_flat, &of, out, error)
                 : weft_entity_dofs_make_of(own, 1, false, &of, out, error);
}

/* Does a text declare this input? */
static bool declares(const char *script, const char *input) {
    const char *at = script;
    const size_t n = strlen(input);
    for (at = strstr(at, "input "); at; at = strstr(at, "input ")) {
        at += strlen("input ");
        if (strncmp(at, input, n) == 0 && at[n] == ' ')
            return true;
    }
    return false;
}

/* The inputs of the problem that the part's text declares. */
static void bind_inputs(const making *m, const weft_ufl_part *part, weft_bound_form *out) {
    const weft_problem *problem = m->binding->problem;
    for (int p = 0; p < problem->forms.n_parts; ++p) {
        const weft_compilation *compilation = problem->forms.parts[p].compilation;
        for (int i = 0; i < weft_compilation_names(compilation); ++i) {
            weft_name_info info;
            bool is_new = true;
            weft_compilation_name(compilation, i, &info);
            for (int k = 0; k < out->form.n_inputs; ++k)
                is_new &= strcmp(out->inputs[k].name, info.name) != 0;
            weft_memory *memory = info.kind == WEFT_NAME_INPUT && is_new
                                      ? weft_problem_memory_of(problem, info.name)
                                      : NULL;
            if (memory && declares(part->script, info.name))
                weft_form_bind_input(out, info.name, memory);
        }
    }
}

static weft_status bind_part(const making *m, int i_part, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_ufl_part *part = &m->ufl->parts[i_part];
    weft_bound_form *bound = &m->out->bound[i_part];
    const weft_entity_dofs *dofs = &m->out->dofs[i_part * m->ufl->n_sets];
    TRY(connect(m, i_part, 0, error));
    weft_form_start(m->binding->problem->forms.file, part->script, dofs[0].connectivity, bound);
    bound->form.components = m->ufl->components;
    bound->form.action = part->has_action ? "Kv" : NULL;
    bound->form.diagonal = part->has_diagonal ? "Kd" : NULL;
    bound->form.kernels = part->kernels;
    bound->form.is_symmetric = part->is_symmetric;
    bound->form.adds_couplings = part->domain == WEFT_UFL_INTERIOR_FACETS;
    for (int i = 1; i < m->ufl->n_sets; ++i) {
        if (!weft_has_word(part->script, m->ufl->sets[i].connectivity))
            continue;
        TRY(connect(m, i_part, i, error));
        weft_form_bind_connectivity(bound, m->ufl->sets[i].connectivity, dofs[i].connectivity);
    }
    bind_inputs(m, part, bound);
done:
    return status;
}

static weft_status make_space(const making *m, weft_error *error) {
    const weft_ufl_subspace *sub = &m->ufl->sets[0].sub[0];
    const weft_problem *problem = m->binding->problem;
    return weft_space_make(problem->context->device, problem->mesh,
                           (weft_element_kind){sub->family, sub->degree}, m->ufl->components,
                           &m->out->space, error);
}

static weft_status make_operator(const making *m, const weft_coarse_request *request,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = m->ufl->n_parts;
    weft_form *forms = calloc((size_t)n + 1, sizeof *forms);
    if (!forms)
        TRY(weft_out_of_memory(error, "an operator of lower degree"));
    for (int i = 0; i < n; ++i)
        forms[i] = m->out->bound[i].form;
    weft_context *context = m->binding->problem->context;
    switch (request->use) {
    case WEFT_COARSE_SINGLE:
        TRY(weft_operator_make_single(context, forms, n, &m->out->op, error));
        break;
    case WEFT_COARSE_DIAGONAL:
        status = weft_operator_make_diagonal(context, forms, n, &m->out->op, error);
        goto done;
    default:
        TRY(weft_operator_make(context,
                               request->use == WEFT_COARSE_MATRIX ? WEFT_ASSEMBLY_CSR
                                                                  : WEFT_ASSEMBLY_MATRIX_FREE,
                               forms, n, &m->out->op, error));
    }
    TRY(weft_operator_assemble(m->out->op, error));
done:
    free(forms);
    return status;
}

static weft_status check_sets(const making *m, weft_error *error) {
    for (int i = 1; i < m->ufl->n_sets; ++i)
        if (m->sets[i] < 0)
            return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                  "the functions of %s are not those of an input",
                                  m->ufl->sets[i].nodes);
    return WEFT_OK;
}

static weft_status make(void *user, const weft_coarse_request *request, weft_coarse **out,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    making m = {.binding = user};
    const weft_binding *binding = m.binding;
    weft_coarse *made = m.out = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "an operator of lower degree"));
    TRY(weft_ufl_problem_coarse(binding->file, request->form, request->field, request->degree,
                                binding->problem->context->library, &m.ufl, m.sets, error));
    TRY(check_sets(&m, error));
    made->n_dofs = m.ufl->n_parts * m.ufl->n_sets;
    made->dofs = calloc((size_t)made->n_dofs + 1, sizeof *made->dofs);
    made->bound = calloc((size_t)m.ufl->n_parts + 1, sizeof *made->bound);
    if (!made->dofs || !made->bound)
        TRY(weft_out_of_memory(error, "an operator of lower degree"));
    TRY(make_space(&m, error));
    for (int i = 0; i < m.ufl->n_parts; ++i)
        TRY(bind_part(&m, i, error));
    TRY(make_operator(&m, request, error));
    *out = made;
    made = NULL;
done:
    weft_coarse_free(&made);
    return status;
}

static bool is_saddle(void *user) {
    const weft_binding *binding = user;
    return weft_ufl_is_saddle(binding->file);
}

static bool is_uncoupled(void *user, int field) {
    const weft_binding *binding = user;
    return weft_ufl_is_uncoupled(binding->file, field);
}

void weft_ufl_offer_coarse(weft_binding *binding) {
    binding->problem->forms.coarser = (weft_coarser){make, is_saddle, is_uncoupled, binding};
}
