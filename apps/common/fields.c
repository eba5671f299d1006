/* The functions of a mixed space: their dofs and conditions, and their results at common nodes. */
#include "apps/common/run.h"

#include <stdlib.h>
#include <string.h>

void app_run_fields_count(app_run *run) {
    if (run->n_fields == 0)
        run->fields[run->n_fields++] = (app_field){.space = run->space};
    run->space = run->fields[0].space;
    run->n_dofs = 0;
    run->n_values = 0;
    for (int i = 0; i < run->n_fields; ++i) {
        app_field *field = &run->fields[i];
        const int last = field->first_value + weft_space_components(field->space);
        field->first_dof = run->n_dofs;
        run->n_dofs += weft_space_dofs(field->space);
        run->n_values = last > run->n_values ? last : run->n_values;
    }
}

const app_field *app_run_field_of_value(const app_run *run, int value) {
    int i = 0;
    while (i + 1 < run->n_fields &&
           (run->fields[i].is_enrichment ||
            value >= run->fields[i].first_value + weft_space_components(run->fields[i].space)))
        ++i;
    return &run->fields[i];
}

const app_field *app_run_field_of_dof(const app_run *run, int64_t dof) {
    int i = run->n_fields - 1;
    while (i > 0 && dof < run->fields[i].first_dof)
        --i;
    return &run->fields[i];
}

/* ---- conditions -------------------------------------------------------------------------- */

static weft_status refuse_flux(const weft_condition *condition, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "conditions on the flux are not for functions of mixed spaces");
    weft_error_location(error, condition->origin, NULL, 0, 0);
    weft_error_hint(error, "write the boundary term into the form, with ds");
    return WEFT_ERROR_UNSUPPORTED;
}

/* The conditions on one field, of its own components. Where there are none, its flux is zero. */
static weft_status make_field(app_run *run, app_field *field, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_components(field->space);
    int n = 0;
    weft_condition *list = calloc((size_t)run->pieces.n + 1, sizeof *list);
    if (!list)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < run->pieces.n && !field->is_enrichment; ++i) {
        const int k = run->pieces.list[i].component - field->first_value;
        if (k < 0 || k >= c)
            continue;
        if (run->pieces.list[i].kind != WEFT_DIRICHLET)
            TRY(refuse_flux(&run->pieces.list[i], error));
        list[n] = run->pieces.list[i];
        list[n++].component = k;
    }
    if (n == 0)
        list[n++] = (weft_condition){
            .kind = WEFT_NEUMANN, .group = "boundary", .value = "0", .origin = "--neumann"};
    TRY(weft_bc_make(&run->context, field->space, list, n, &field->bc, error));
done:
    free(list);
    return status;
}

static weft_status join_constrained(app_run *run, weft_error *error) {
    int64_t all = 0;
    for (int pass = 0; pass < 2; ++pass) {
        if (pass == 1)
            run->own_constrained = weft_array_make((size_t)all, sizeof *run->own_constrained);
        if (pass == 1 && !run->own_constrained)
            return weft_out_of_memory(error, NULL);
        all = 0;
        for (int i = 0; i < run->n_fields; ++i) {
            int64_t n = 0;
            const int32_t *dofs = weft_bc_constrained(run->fields[i].bc, &n);
            for (int64_t k = 0; k < n && pass == 1; ++k)
                run->own_constrained[all + k] = (int32_t)(run->fields[i].first_dof + dofs[k]);
            all += n;
        }
    }
    run->constrained = run->own_constrained;
    run->n_constrained = all;
    return WEFT_OK;
}

weft_status app_run_conditions_make(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (run->n_fields > 1) {
        for (int i = 0; i < run->n_fields; ++i)
            TRY(make_field(run, &run->fields[i], error));
        TRY(join_constrained(run, error));
    } else {
        TRY(weft_bc_make(&run->context, run->space, run->pieces.list, run->pieces.n,
                         &run->fields[0].bc, error));
        run->constrained = weft_bc_constrained(run->fields[0].bc, &run->n_constrained);
    }
    run->bc = run->fields[0].bc;
done:
    return status;
}

void app_run_set_conditions(const app_run *run, double factor, double *u) {
    for (int i = 0; i < run->n_fields; ++i)
        weft_bc_set(run->fields[i].bc, factor, u + run->fields[i].first_dof);
}

/* ---- results ----------------------------------------------------------------------------- */

static bool has_nodes(const weft_space *space) {
    const weft_element *element = weft_space_element(space);
    return element->degree > 0 &&
           (element->family == WEFT_LAGRANGE || element->family == WEFT_DISCONTINUOUS);
}

/* Nodes at which all fields are shown: of the highest degree, discontinuous if one field is. */
static weft_status make_nodes(const app_run *run, weft_space **out, weft_error *error) {
    weft_element_kind kind = {WEFT_LAGRANGE, 1};
    for (int i = 0; i < run->n_fields; ++i) {
        const weft_element *element = weft_space_element(run->fields[i].space);
        if (!has_nodes(run->fields[i].space))
            continue;
        kind.degree = element->degree > kind.degree ? element->degree : kind.degree;
        kind.family = element->family == WEFT_DISCONTINUOUS ? WEFT_DISCONTINUOUS : kind.family;
    }
    return weft_space_make(run->device, run->mesh, kind, 1, out, error);
}

static bool is_constant(const weft_space *space) {
    const weft_element *element = weft_space_element(space);
    return element->family == WEFT_DISCONTINUOUS && element->degree == 0;
}

/* A field of the result, with the components that ParaView expects. values [n][shown], to be freed */
static weft_status show_field(const app_run *run, int i, const weft_space *nodes, double **values,
                              weft_field *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_field *field = &run->fields[i];
    const int c = weft_space_components(field->space), shown = c == 2 ? 3 : c;
    const double *u = run->u_values + field->first_dof;
    const bool on_cells = is_constant(field->space);
    const int64_t n = on_cells ? run->mesh->n_cells : weft_space_nodes(nodes);
    double *at = weft_array_make((size_t)n * (size_t)c, sizeof *at);
    if (!at)
        TRY(weft_out_of_memory(error, "a result"));
    if (on_cells)
        for (int64_t k = 0; k < n * c; ++k)
            at[k] = u[(int64_t)weft_space_cell_nodes(field->space)[k / c] * c + k % c];
    else
        TRY(weft_space_interpolate(field->space, u, nodes, at, error));
    for (int k = i + 1; k < run->n_fields && run->fields[k].is_enrichment && !on_cells; ++k)
        TRY(weft_space_interpolate(run->fields[k].space, run->u_values + run->fields[k].first_dof,
                                   nodes, at, error));
    *out = (weft_field){.name = out->name, .n_components = c, .values = at, .on_cells = on_cells};
    *values = shown == c ? at : app_field_fill_up(out, n, shown);
    if (!*values)
        TRY(weft_out_of_memory(error, "a result"));
    out->n_components = shown;
    out->values = *values;
    at = shown == c ? NULL : at;
done:
    free(at);
    return status;
}

weft_status app_run_fields_write(const app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    static const char *const names[APP_FIELDS_MAX] = {"u_0",  "u_1",  "u_2",  "u_3", "u_4",  "u_5",
                                                      "u_6",  "u_7",  "u_8",  "u_9", "u_10", "u_11",
                                                      "u_12", "u_13", "u_14", "u_15"};
    weft_space *nodes = NULL;
    weft_field fields[APP_FIELDS_MAX];
    double *values[APP_FIELDS_MAX] = {NULL};
    int n = 0;
    TRY(make_nodes(run, &nodes, error));
    for (int i = 0; i < run->n_fields; ++i) {
        if (run->fields[i].is_enrichment)
            continue;
        fields[n] = (weft_field){.name = names[n]};
        TRY(show_field(run, i, nodes, &values[n], &fields[n], error));
        ++n;
    }
    TRY(weft_space_write(run->options->output, nodes, fields, n, error));
done:
    for (int i = 0; i < APP_FIELDS_MAX; ++i)
        free(values[i]);
    weft_space_free(&nodes);
    return status;
}
