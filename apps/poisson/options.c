/* Reads the command line of poisson. */
#include "apps/common/problem.h"
#include "apps/poisson/poisson.h"

#include <math.h>
#include <stdlib.h>

static const app_option problem_options[] = {
    {.help = "Problem: -div(k grad u) = f"},
    {"source", "[@GROUP=]EXPR",
     "f (default 1); repeatable, with one formula for each group of cells, or of facets for "
     "sources on them",
     APP_BY(app_read_formula, solve_options, source)},
    {"diffusivity", "[@GROUP=]EXPR",
     "k (default 1); repeatable, with one formula for each group of cells",
     APP_BY(app_read_formula, solve_options, diffusivity)},
    {"dirichlet", "GROUP=EXPR",
     "u = EXPR on a physical group; repeatable; the last one applies where groups meet",
     APP_CONDITION(solve_options, WEFT_DIRICHLET)},
    {"neumann", "GROUP=EXPR", "k du/dn = EXPR: the flux into the domain; repeatable",
     APP_CONDITION(solve_options, WEFT_NEUMANN)},
    {"robin", "GROUP=ALPHA,EXPR", "k du/dn + ALPHA u = EXPR; repeatable",
     APP_CONDITION(solve_options, WEFT_ROBIN)},
    {"exact", "EXPR", "Exact solution, to print the errors in L2 and H1",
     APP_TEXT(solve_options, exact)},
    {0}};

static const char doc[] =
    "Solve a Poisson problem with linear finite elements on triangles or tetrahedra."
    "\v"
    "EXPR is an expression in x, y and, in space, z: " WEFT_FORMULA_HELP
    ". GROUP is the name of a physical group of the mesh, or `boundary` for the whole boundary. "
    "Without any condition, u is zero on the whole boundary. Otherwise parts of the boundary "
    "without a condition are insulated (k du/dn = 0). With only Neumann conditions, source and "
    "fluxes must sum to zero, and u is the solution whose integral is zero.\n"
    "\n"
    "Examples:\n"
    "  poisson --mesh square:32 --source 1\n"
    "  poisson --mesh square:64 --source '2*pi^2*sin(pi*x)*sin(pi*y)' \\\n"
    "          --exact 'sin(pi*x)*sin(pi*y)' --output u.vtkhdf\n"
    "  poisson --mesh wall.geo --diffusivity @brick=0.6 --diffusivity @wool=0.04 --source 0 \\\n"
    "          --dirichlet inside=20 --dirichlet outside=-5\n"
    "  poisson --mesh part.geo --size 0.05 --dirichlet hot=100 \\\n"
    "          --robin 'skin=25,25*20' --probe 0.1,0.2\n"
    "\n"
    "Exit status: 0 solved, 1 not converged, 2 wrong usage or input, 3 the device or the compiler "
    "failed.\n" APP_ENVIRONMENT_HELP;

weft_status poisson_options_read(int argc, char **argv, solve_options *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (solve_options){.run = app_run_options_default()};
    const app_command_line line = {.doc = doc,
                                   .tables = {{app_problem_options, &out->run},
                                              {app_mesh_options_table, &out->run},
                                              {app_reading_options, &out->run.mesh.reading},
                                              {problem_options, out},
                                              {app_constraint_options, &out->run},
                                              {app_solver_options, &out->run},
                                              {app_ranks_options, &out->run},
                                              {app_derivation_options, &out->run},
                                              {app_derive_options, &out->run},
                                              {app_result_options, &out->run},
                                              {app_program_options, &out->run}},
                                   .texts = &out->run.texts,
                                   .argument = app_argument_refuse};
    TRY(app_command_line_read(&line, argc, argv, error));
    out->default_source = !out->source;
    if (!out->source)
        TRY(app_formula_add("--source", "1", &out->source, error));
    if (!out->run.mesh.name) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "no mesh is given");
        weft_error_hint(error,
                        "add --mesh FILE.geo, or try --mesh square:32; --help shows examples");
    }
done:
    if (status != WEFT_OK)
        solve_options_clear(out);
    return status;
}
