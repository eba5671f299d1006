/* Reads the command line of solve. */
#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "apps/solve/solve.h"
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_outline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_MATRIX = 0x100,
    KEY_VECTOR,
    KEY_INPUT,
    KEY_DEFINE,
    KEY_SET,
    KEY_KERNELS,
    KEY_EXACT,
    KEY_SUM,
    KEY_NONLINEAR,
    KEY_NEWTON_TOLERANCE,
    KEY_NEWTON_ITERATIONS,
    KEY_LOAD_STEPS
};

static const struct argp_option options_table[] = {
    {NULL, 0, NULL, 0, "Script:", 1},
    {"matrix", KEY_MATRIX, "NAME", 0, "Name of the local matrix in the script (default K)", 0},
    {"vector", KEY_VECTOR, "NAME", 0,
     "Name of the vector in the script (default b, or r, the residual, with --nonlinear; a script "
     "without it has the vector zero)",
     0},
    {"input", KEY_INPUT, "NAME=EXPR[,EXPR...]", 0,
     "Values of an input: one expression per component, evaluated at the nodes or at the centers "
     "of "
     "cells; repeatable",
     0},
    {"define", KEY_DEFINE, "NAME=EXPR", 0, "Body of an expression of the script; repeatable", 0},
    {"param", KEY_SET, "NAME=INT", 0, "Value of a parameter of the script; repeatable", 0},
    APP_HIDDEN_ALIAS("set"),
    {"kernels", KEY_KERNELS, "DIR", 0,
     "Add the functions of DIR/**/*.kernel.c; they replace shipped functions of the same name; "
     "repeatable",
     0},
    APP_MESH_OPTIONS(2),
    {NULL, 0, NULL, 0, "Boundary conditions, one expression per component, or `free`:", 3},
    {"dirichlet", APP_KEY_DIRICHLET, "GROUP=EXPR[,EXPR...]", 0,
     "u = EXPR on a physical group; repeatable; the last one applies where groups meet", 0},
    {"neumann", APP_KEY_NEUMANN, "GROUP=EXPR[,EXPR...]", 0,
     "Flux into the domain, or traction; repeatable", 0},
    {"robin", APP_KEY_ROBIN, "GROUP=ALPHA,EXPR[,EXPR...]", 0,
     "Flux or traction EXPR - ALPHA u; repeatable", 0},
    {"exact", KEY_EXACT, "EXPR[,EXPR...]", 0, "Exact solution, to print the errors in L2 and H1",
     0},
    APP_SOLVER_OPTIONS(4),
    {NULL, 0, NULL, 0, "Newton's method:", 5},
    {"nonlinear", KEY_NONLINEAR, NULL, 0,
     "The vector is a residual r(u) and the matrix its derivative; the script has an input u", 0},
    {"newton-tolerance", KEY_NEWTON_TOLERANCE, "T", 0,
     "Stop when the residual at free dofs is T times the largest residual of the load step over "
     "all "
     "dofs (default 1e-10), or as small as rounding allows",
     0},
    {"newton-iterations", KEY_NEWTON_ITERATIONS, "N", 0,
     "Largest number of iterations (default 25)", 0},
    {"load-steps", KEY_LOAD_STEPS, "N", 0,
     "Apply the boundary conditions, and the uniform input `load` if the script has one, in N "
     "equal "
     "steps (default 1)",
     0},
    APP_RESULT_OPTIONS(6),
    {"sum", KEY_SUM, "NAME", 0, "Print the sum of this value of the script over all cells", 0},
    {0}};

static const char doc[] =
    "Solve the problem of a script with linear finite elements on triangles or tetrahedra."
    "\v"
    "SCRIPT.weft is a file or a script shipped with Weft: diffusion, helmholtz, anisotropic, "
    "elasticity, kirchhoff. For each cell it computes a local matrix K, and adds a vector to the "
    "nodes: b[dofs] += .... docs/tutorial-new-element.md develops an example. If K has n*c rows "
    "for "
    "the n nodes of a cell, u has c components.\n"
    "EXPR is an expression in x, y and, in space, z: " WEFT_FORMULA_HELP
    ". GROUP is the name of a physical group of the mesh, or `boundary` for the whole boundary. "
    "Without any condition, u is zero on the whole boundary.\n"
    "\n"
    "Examples:\n"
    "  solve diffusion.weft --mesh square:32\n"
    "  solve helmholtz.weft --mesh square:64 --define 'source=sin(pi*x)'\n"
    "  solve elasticity.weft --mesh beam.geo --define young=210e9 \\\n"
    "        --dirichlet wall=0,0 --neumann tip=0,-1e5 --output beam.vtkhdf\n"
    "  solve kirchhoff.weft --nonlinear --load-steps 4 --mesh cube:8 \\\n"
    "        --dirichlet left=0,0,0 --dirichlet right=0.5,free,free\n"
    "\n"
    "Exit status: 0 solved, 1 not converged, 2 wrong usage or input, 3 the device or the compiler "
    "failed.\n"
    "Environment: WEFT_LOG=error|warning|info|debug, WEFT_DEVICE, WEFT_CACHE=on|read|off, "
    "WEFT_KEEP=FOLDER, WEFT_INSTRUCTIONS=SET, CC.";

static weft_status read_binding(solve_bindings *bindings, const char *option, const char *form,
                                const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    solve_binding made = {0};
    TRY(app_split_assignment(option, text, form, &made.name, &made.value, error));
    snprintf(made.origin, sizeof made.origin, "%s %.70s", option, made.name);
    if (strcmp(option, "--param") == 0)
        TRY(app_parse_integer(made.origin, made.value, -1000000, 1000000, &made.number, error));
    for (int i = 0; i < bindings->n; ++i)
        if (strcmp(bindings->list[i].name, made.name) == 0) {
            status = weft_error_set(error, WEFT_ERROR_USAGE, "%s is given twice", made.origin);
            weft_error_hint(error, "leave one of them out");
            goto done;
        }
    solve_binding *larger =
        reallocarray(bindings->list, (size_t)bindings->n + 1, sizeof *bindings->list);
    if (!larger) {
        status = weft_out_of_memory(error, NULL);
        goto done;
    }
    bindings->list = larger;
    larger[bindings->n++] = made;
    made = (solve_binding){0};
done:
    free(made.name);
    free(made.value);
    return status;
}

static weft_status read_kernels(solve_options *o, const char *text, weft_error *error) {
    if (o->n_kernels == SOLVE_KERNELS_MAX)
        return weft_error_set(error, WEFT_ERROR_USAGE, "more than %d times --kernels",
                              SOLVE_KERNELS_MAX);
    return app_parse_text("--kernels", text, &o->kernels[o->n_kernels++], error);
}

static weft_status read_script(solve_options *o, const char *text, weft_error *error) {
    if (o->script) {
        weft_error_set(error, WEFT_ERROR_USAGE, "unexpected argument '%s'", text);
        weft_error_hint(error,
                        "one script is given, %s; put expressions with blanks or brackets "
                        "in quotes",
                        o->script);
        return WEFT_ERROR_USAGE;
    }
    return app_parse_text("SCRIPT.weft", text, &o->script, error);
}

static weft_status read_option(void *user, int key, const char *text, weft_error *error) {
    solve_options *o = user;
    switch (key) {
    case KEY_MATRIX:
        return app_parse_text("--matrix", text, &o->matrix, error);
    case KEY_VECTOR:
        return app_parse_text("--vector", text, &o->vector, error);
    case KEY_INPUT:
        return read_binding(&o->inputs, "--input", "NAME=EXPR[,EXPR...]", text, error);
    case KEY_DEFINE:
        return read_binding(&o->defines, "--define", "NAME=EXPR", text, error);
    case KEY_SET:
        return read_binding(&o->sets, "--param", "NAME=INT", text, error);
    case KEY_KERNELS:
        return read_kernels(o, text, error);
    case KEY_EXACT:
        return app_parse_text("--exact", text, &o->exact, error);
    case KEY_SUM:
        return app_parse_text("--sum", text, &o->sum, error);
    case KEY_NONLINEAR:
        o->nonlinear = true;
        return WEFT_OK;
    case KEY_NEWTON_TOLERANCE:
        return app_parse_number("--newton-tolerance", text, 0, 1, &o->newton_tolerance, error);
    case KEY_NEWTON_ITERATIONS:
        return app_parse_integer("--newton-iterations", text, 0, 10000, &o->newton_iterations,
                                 error);
    case KEY_LOAD_STEPS:
        return app_parse_integer("--load-steps", text, 1, 10000, &o->load_steps, error);
    case ARGP_KEY_ARG:
        return read_script(o, text, error);
    default:
        return app_run_option_read(&o->run, key, text, error);
    }
}

/* What its options need by default: a matrix, and a vector or a residual. */
static bool can_be_solved(const char *text) {
    const weft_fragment fragment = {"script", text};
    weft_outline *outline = NULL;
    weft_outline_name matrix, vector;
    if (weft_outline_make(&fragment, 1, &outline, NULL) != WEFT_OK)
        return false;
    const bool can = weft_outline_find(outline, "K", &matrix) && matrix.kind == WEFT_NAME_VALUE &&
                     ((weft_outline_find(outline, "b", &vector) && vector.accumulated) ||
                      (weft_outline_find(outline, "r", &vector) && vector.accumulated));
    weft_outline_free(&outline);
    return can;
}

static weft_status check(const solve_options *o, weft_error *error) {
    const char *missing = !o->script ? "no script is given" : "no mesh is given";
    weft_status status = o->script ? app_script_check(o->script, can_be_solved, error) : WEFT_OK;
    if (status != WEFT_OK || (o->script && o->run.mesh.name))
        return status;
    weft_error_set(error, WEFT_ERROR_USAGE, "%s", missing);
    weft_error_hint(error, !o->script ? "write solve SCRIPT.weft --mesh MESH, for example solve "
                                        "diffusion.weft --mesh square:32; --help shows more"
                                      : "add --mesh FILE.geo, or try --mesh square:32; --help "
                                        "shows examples");
    return WEFT_ERROR_USAGE;
}

weft_status solve_options_read(int argc, char **argv, solve_options *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (solve_options){.run = app_run_options_default(),
                           .newton_tolerance = 1e-10,
                           .newton_iterations = 25,
                           .load_steps = 1};
    const struct argp argp = {.options = options_table, .args_doc = "SCRIPT.weft", .doc = doc};
    TRY(app_options_parse(&argp, argc, argv, read_option, out, error));
    TRY(check(out, error));
done:
    if (status != WEFT_OK)
        solve_options_clear(out);
    return status;
}

static void clear_bindings(solve_bindings *bindings) {
    for (int i = 0; i < bindings->n; ++i) {
        free(bindings->list[i].name);
        free(bindings->list[i].value);
    }
    free(bindings->list);
    *bindings = (solve_bindings){0};
}

void solve_options_clear(solve_options *options) {
    app_run_options_clear(&options->run);
    clear_bindings(&options->inputs);
    clear_bindings(&options->defines);
    clear_bindings(&options->sets);
}
