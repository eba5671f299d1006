/* What constraints supply: the residual at dependent dofs, passed on by the transpose of u = C v + g. */
#include "fem/constrain/private.h"

#include <stdlib.h>
#include <string.h>

/* ---- sources --------------------------------------------------------------------------------- */

weft_status constraint_source_of(weft_constraints *constraints, const char *origin, int *out,
                                 weft_error *error) {
    const int n = constraints->n_sources;
    for (int i = n - 1; i >= 0; --i) /* mostly that of the equation before */
        if (strcmp(constraints->sources[i].origin, origin) == 0) {
            *out = i;
            return WEFT_OK;
        }
    constraint_source *sources = realloc(constraints->sources, ((size_t)n + 1) * sizeof *sources);
    if (!sources)
        return weft_out_of_memory(error, "constraints");
    constraints->sources = sources;
    sources[n] = (constraint_source){.origin = strdup(origin), .joined = n};
    if (!sources[n].origin)
        return weft_out_of_memory(error, "constraints");
    constraints->n_sources += 1;
    *out = n;
    return WEFT_OK;
}

static int first_of(const weft_constraints *constraints, int source) {
    while (constraints->sources[source].joined != source)
        source = constraints->sources[source].joined;
    return source;
}

void constraint_source_supplies(weft_constraints *constraints, const char *origin) {
    for (int i = 0; i < constraints->n_sources; ++i)
        if (strcmp(constraints->sources[i].origin, origin) == 0)
            constraints->sources[i].supplies = true;
}

void constraint_sources_join(weft_constraints *constraints, int a, int b) {
    if (a < 0 || b < 0) /* pins of free modes carry nothing */
        return;
    a = first_of(constraints, a);
    b = first_of(constraints, b);
    constraints->sources[a > b ? a : b].joined = a > b ? b : a;
}

/* ---- forces ---------------------------------------------------------------------------------- */

weft_status weft_constraints_restrict(weft_constraints *constraints, double *r,
                                      weft_constraint_forces *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const constraint_fields *fields = &constraints->fields;
    const int c = fields->n_values, n = constraints->n_sources;
    *out = (weft_constraint_forces){.n = n};
    TRY(constraints_resolve(constraints, error));
    if (constraints->layout)
        TRY(weft_layout_update_values(constraints->layout, r, error));
    out->origins = calloc((size_t)n + 1, sizeof *out->origins);
    out->supplies = calloc((size_t)n + 1, sizeof *out->supplies);
    out->first = calloc((size_t)n + 1, sizeof *out->first);
    out->sums = calloc(((size_t)n + 1) * (size_t)c, sizeof *out->sums); /* the last of pins */
    if (!out->origins || !out->supplies || !out->first || !out->sums)
        TRY(weft_out_of_memory(error, "constraints"));
    for (int i = 0; i < n; ++i) {
        out->origins[i] = constraints->sources[i].origin;
        out->supplies[i] = constraints->sources[i].supplies;
        out->first[i] = first_of(constraints, i);
    }
    for (int i = 0; i < constraints->n_rows; ++i) {
        const constraint_row *row = &constraints->rows[i];
        const double force = r[row->dof];
        double *sums = out->sums + (ptrdiff_t)(row->source < 0 ? n : out->first[row->source]) * c;
        r[row->dof] = 0;
        sums[constraint_value_of(fields, row->dof)] += force;
        for (int k = 0; k < row->n; ++k)
            if (row->dofs[k] < constraints->n_dofs) {
                r[row->dofs[k]] += row->factors[k] * force;
                sums[constraint_value_of(fields, row->dofs[k])] -= row->factors[k] * force;
            }
    }
done:
    return status;
}

void weft_constraint_forces_clear(weft_constraint_forces *forces) {
    free(forces->origins);
    free(forces->supplies);
    free(forces->first);
    free(forces->sums);
    *forces = (weft_constraint_forces){0};
}
