/** Weft fem: all of its public headers.
 *
 *      mesh file -> mesh -> ordering -> space -> forms, boundary conditions -> operator -> solver
 *                                                                             -> result file
 */
#ifndef WEFT_FEM_H
#define WEFT_FEM_H

#include "fem/weft_bc.h"
#include "fem/weft_constraint.h"
#include "fem/weft_derive.h"
#include "fem/weft_element.h"
#include "fem/weft_function.h"
#include "fem/weft_hierarchy.h"
#include "fem/weft_locate.h"
#include "fem/weft_modes.h"
#include "fem/weft_newton.h"
#include "fem/weft_order.h"
#include "fem/weft_point_load.h"
#include "fem/weft_problem.h"
#include "fem/weft_problem_constraints.h"
#include "fem/weft_problem_files.h"
#include "fem/weft_problem_ranks.h"
#include "fem/weft_problem_results.h"
#include "fem/weft_result.h"
#include "fem/weft_solver.h"
#include "fem/weft_time.h"
#include "fem/weft_time_scheme.h"
#include "fem/weft_transient.h"

#endif
