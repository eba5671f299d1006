/** Weft fusion: scripts and elementary functions in, plans, kernels and launches out.
 *
 *      fragments -> tokens -> script -> graph
 *                -> fusions -> implementations -> cover -> plan -> source
 *      compilation -> program -> launches
 *
 *  Predictions and measurements have headers of their own: fusion/cost/cost.h and
 *  fusion/tune/tune.h. */
#ifndef WEFT_FUSION_H
#define WEFT_FUSION_H

#include "fusion/weft_outline.h"
#include "fusion/weft_program.h"
#include "fusion/weft_share.h"

#endif
