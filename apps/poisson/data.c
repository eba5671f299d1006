#include "apps/common/fem.h"
#include "apps/poisson/poisson.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdlib.h>

/* The condition's value at every node, of which those of its group are then taken. */
static weft_status evaluate(poisson *run, const app_condition *condition, weft_memory *memory,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const char *output = "u";
    app_form form;
    TRY(poisson_form_make(run, "nodal.weft", NULL, &form, error));
    app_form_expression(&form, "value", condition->value, condition->origin);
    TRY(weft_form_run(&run->context, &form.form, &output, &memory, 1, "nodes", run->mesh->n_nodes,
                      error));
done:
    return status;
}

static weft_status set_values(poisson *run, const app_condition *condition, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *memory = NULL;
    double *values = NULL, constant = 0;
    int32_t *nodes = NULL;
    int64_t n = 0;
    int group = 0;
    if (!app_constant(condition->value, &constant)) {
        TRY(app_array_make(run->device, run->mesh->n_nodes, &values, &memory, error));
        TRY(evaluate(run, condition, memory, error));
        TRY(app_array_pull(memory, values, run->mesh->n_nodes, error));
    }
    TRY(app_condition_group(run->mesh, condition, &group, error));
    TRY(weft_mesh_group_nodes(run->mesh, group, &nodes, &n, error));
    for (int64_t i = 0; i < n && !run->is_null; ++i) {
        double value = values ? values[nodes[i]] : constant;
        if (!isfinite(value))
            TRY(app_refuse_value(run->mesh, condition->origin, condition->value, nodes[i], error));
        run->u_values[nodes[i]] = value;
    }
done:
    weft_memory_free(&memory);
    free(values);
    free(nodes);
    return status;
}

weft_status poisson_data_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const poisson_options *options = run->options;
    const weft_mesh *mesh = run->mesh;
    size_t bytes = (size_t)mesh->n_nodes * (size_t)mesh->dimension * sizeof *mesh->x;
    TRY(weft_memory_wrap(run->device, mesh->x, bytes, &run->x, error));
    TRY(app_array_make(run->device, mesh->n_nodes, &run->u_values, &run->u, error));
    TRY(app_array_make(run->device, mesh->n_nodes, &run->b_values, &run->b, error));
    for (int i = 0; i < options->run.conditions.n; ++i)
        if (options->run.conditions.list[i].kind == APP_DIRICHLET)
            TRY(set_values(run, &options->run.conditions.list[i], error));
    TRY(app_array_push(run->u, run->u_values, mesh->n_nodes, error));
done:
    return status;
}

/* K of the cells, and int alpha phi_i phi_j over the facets of each Robin condition. */
weft_status poisson_operator_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const poisson_options *options = run->options;
    weft_form *forms = calloc((size_t)options->run.conditions.n + 1, sizeof *forms);
    run->forms = calloc((size_t)options->run.conditions.n + 1, sizeof *run->forms);
    if (!forms || !run->forms) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(poisson_form_cells(run, &run->forms[run->n_forms++], error));
    for (int i = 0; i < options->run.conditions.n; ++i) {
        const app_condition *condition = &options->run.conditions.list[i];
        if (condition->kind != APP_ROBIN)
            continue;
        app_form *form = &run->forms[run->n_forms++];
        TRY(poisson_form_make(run, "robin.weft", run->parts[i].dofs, form, error));
        app_form_expression(form, "alpha", condition->alpha, condition->origin);
    }
    for (int i = 0; i < run->n_forms; ++i)
        forms[i] = run->forms[i].form;
    TRY(weft_operator_make(&run->context, run->assembly, forms, run->n_forms, &run->op, error));
    TRY(weft_operator_assemble(run->op, error));
done:
    free(forms);
    return status;
}
