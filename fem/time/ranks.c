/* Collects the lists of an integrator from the parts of ranks, and spreads them. */
#include "fem/time/ranks.h"
#include "fem/time/transient.h"

#include <stdlib.h>

int64_t weft_transient_dofs(const weft_transient *transient) {
    return transient->system.n;
}

weft_comm *weft_transient_comm(const weft_transient *transient) {
    return weft_layout_comm(transient->system.layout);
}

static weft_status values_make(int64_t n, double **out, weft_error *error) {
    *out = weft_array_make((size_t)n, sizeof **out);
    return *out ? WEFT_OK : weft_out_of_memory(error, "a form in time");
}

weft_status weft_transient_collect(const weft_transient *transient, weft_memory *list,
                                   const weft_space *const *whole, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_time_system *system = &transient->system;
    double *values = NULL;
    TRY(values_make(system->n, &values, error));
    TRY(weft_time_exchange(system, list, error));
    TRY(weft_memory_read(list, 0, values, (size_t)system->n * sizeof *values, error));
    TRY(weft_layout_collect(system->spaces, system->problem->n_fields, values, whole, out, error));
done:
    free(values);
    return status;
}

weft_status weft_transient_spread(const weft_transient *transient, const weft_space *const *whole,
                                  const double *values, weft_memory *list, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_time_system *system = &transient->system;
    double *part = NULL;
    TRY(values_make(system->n, &part, error));
    TRY(weft_layout_spread(system->spaces, system->problem->n_fields, whole, values, part, error));
    TRY(weft_memory_write(list, 0, part, (size_t)system->n * sizeof *part, error));
done:
    free(part);
    return status;
}
