/* Records integrals and probe values of T after a time step. */
#include "apps/advection_diffusion/advection_diffusion.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdlib.h>

double ad_probe_value(const ad_run *run, int i) {
    const int width = run->base.mesh->dimension + 1;
    const int64_t cell = run->probe_cells[i];
    double value = 0;
    if (cell < 0)
        return NAN;
    for (int v = 0; v < width; ++v)
        value += run->probe_weights[i][v] * run->values[run->base.mesh->cells[cell * width + v]];
    return value;
}

weft_status ad_record_add(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n_probes = run->base.points.n;
    const double start = weft_clock(), before = run->base.seconds.measure;
    ad_record record = {.state = run->state};
    record.probes = calloc((size_t)n_probes + 1, sizeof *record.probes);
    if (!record.probes)
        TRY(weft_out_of_memory(error, NULL));
    if (!run->part.comm)
        TRY(ad_pull(run, error));
    TRY(weft_field_measure_run(run->measure, run->state.t, &record.measures, error));
    for (int i = 0; i < n_probes; ++i)
        record.probes[i] = ad_probe_value(run, i);
    TRY(APP_APPEND(run->records, run->n_records, record, error));
    record.probes = NULL;
done:
    free(record.probes);
    run->base.seconds.measure = before + weft_clock() - start;
    return status;
}
