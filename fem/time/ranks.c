/* What several ranks have of an integrator. */
#include "fem/time/ranks.h"
#include "fem/time/transient.h"

int64_t weft_transient_dofs(const weft_transient *transient) {
    return transient->system.n;
}

weft_comm *weft_transient_comm(const weft_transient *transient) {
    return weft_layout_comm(transient->system.layout);
}

weft_divided weft_transient_divided(const weft_transient *transient) {
    const weft_time_system *system = &transient->system;
    return (weft_divided){system->layout, system->spaces, system->problem->n_fields};
}
