/** What several ranks have of integrators, each of a part of the mesh. Not installed. */
#pragma once

#include "fem/space/layout.h"
#include "fem/weft_time.h"
#include "fem/weft_transient.h"

/** Dofs of the lists of this rank. */
int64_t weft_transient_dofs(const weft_transient *transient);
/** The ranks; NULL: the integrator has the whole. */
weft_comm *weft_transient_comm(const weft_transient *transient);
/** The functions of u, as parts; without a layout where the integrator has the whole. */
weft_divided weft_transient_divided(const weft_transient *transient);
weft_divided weft_advection_diffusion_divided(const weft_advection_diffusion *ad);
