/** Points, and where they are in a mesh, for weft_problem_evaluate. */
#pragma once

#include "fem/weft_function.h"
#include "fem/weft_problem_results.h"

/** Borrowed. */
const weft_cell_points *weft_probes_at(const weft_probes *probes);
