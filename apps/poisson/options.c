/* Reads the command line of poisson. */
#include "apps/poisson/poisson.h"

#include <math.h>
#include <stdlib.h>

enum { KEY_SOURCE = 0x100, KEY_EXACT, KEY_DIFFUSIVITY };

static const struct argp_option options_table[] = {
    APP_MESH_OPTIONS(1),
    {NULL, 0, NULL, 0, "Problem: -div(k grad u) = f", 2},
    {"source", KEY_SOURCE, "EXPR", 0, "f (default 1)", 0},
    {"diffusivity", KEY_DIFFUSIVITY, "EXPR", 0, "k (default 1)", 0},
    {"dirichlet", APP_KEY_DIRICHLET, "GROUP=EXPR", 0,
     "u = EXPR on a physical group; repeatable; the last one applies where groups meet", 0},
    {"neumann", APP_KEY_NEUMANN, "GROUP=EXPR", 0,
     "k du/dn = EXPR: the flux into the domain; repeatable", 0},
    {"robin", APP_KEY_ROBIN, "GROUP=ALPHA,EXPR", 0, "k du/dn + ALPHA u = EXPR; repeatable", 0},
    {"exact", KEY_EXACT, "EXPR", 0, "Exact solution, to print the errors in L2 and H1", 0},
    APP_SOLVER_OPTIONS(3),
    APP_RESULT_OPTIONS(4),
    {0}};

static const char doc[] =
    "Solve a Poisson problem with linear finite elements on triangles or tetrahedra."
    "\v"
    "EXPR is an expression in x, y and, in space, z: " WEFT_FORMULA_HELP ". GROUP is the name of a "
    "physical group of the mesh, or `boundary` for the whole boundary. Without any condition, u is "
    "zero on the whole boundary. Otherwise parts of the boundary without a condition are insulated "
    "(k du/dn = 0). With only Neumann conditions, source and fluxes must sum to zero, and u is the "
    "solution whose integral is zero.\n"
    "\n"
    "Examples:\n"
    "  poisson --mesh square:32 --source 1\n"
    "  poisson --mesh square:64 --source '2*pi^2*sin(pi*x)*sin(pi*y)' \\\n"
    "          --exact 'sin(pi*x)*sin(pi*y)' --output u.vtkhdf\n"
    "  poisson --mesh part.geo --size 0.05 --dirichlet hot=100 \\\n"
    "          --robin 'skin=25,25*20' --probe 0.1,0.2\n"
    "\n"
    "Exit status: 0 solved, 1 not converged, 2 wrong usage or input, 3 the device or the compiler "
    "failed.\n"
    "Environment: WEFT_LOG=error|warning|info|debug, WEFT_DEVICE, WEFT_CACHE=on|read|off, "
    "WEFT_KEEP=FOLDER, WEFT_INSTRUCTIONS=SET, CC.";

static weft_status read_option(void *user, int key, const char *text, weft_error *error) {
    solve_options *o = user;
    switch (key) {
    case KEY_SOURCE:
        return app_parse_text("--source", text, &o->source, error);
    case KEY_EXACT:
        return app_parse_text("--exact", text, &o->exact, error);
    case KEY_DIFFUSIVITY:
        return app_parse_text("--diffusivity", text, &o->diffusivity, error);
    case ARGP_KEY_ARG:
        return app_argument_refuse(text, error);
    default:
        return app_run_option_read(&o->run, key, text, error);
    }
}

weft_status poisson_options_read(int argc, char **argv, solve_options *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (solve_options){.run = app_run_options_default(), .source = "1"};
    const struct argp argp = {.options = options_table, .doc = doc};
    TRY(app_options_parse(&argp, argc, argv, read_option, out, error));
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
