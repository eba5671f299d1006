/* Reads the command line of solve. */
#include "apps/common/fem.h"
#include "apps/common/problem.h"
#include "apps/common/support.h"
#include "apps/solve/solve.h"
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_outline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NAME@GROUP: the group moves into the value. */
static weft_status split_group(solve_binding *made, weft_error *error) {
    weft_status status = WEFT_OK;
    char *joined = NULL, *at = strchr(made->name, '@');
    if (!at)
        goto done;
    *at = '\0';
    TRY(app_formula_add_group(made->origin, at + 1, made->value, &joined, error));
    free(made->value);
    made->value = joined;
done:
    return status;
}

/* Has the text a formula without a group? */
static bool has_other(const char *text) {
    weft_formula_piece piece;
    while (*text && weft_formula_next(&text, &piece, NULL, NULL) == WEFT_OK)
        if (!piece.group[0])
            return true;
    return false;
}

/* Add values of a name to those that it has: one for each group, one for all others. */
static weft_status join_binding(solve_binding *binding, const solve_binding *more,
                                weft_error *error) {
    if (has_other(more->value) && has_other(binding->value)) {
        weft_error_set(error, WEFT_ERROR_USAGE, "%s is given twice", more->origin);
        weft_error_hint(error, "leave one of them out");
        return WEFT_ERROR_USAGE;
    }
    return app_formula_add(more->origin, more->value, &binding->value, error);
}

static weft_status read_binding(const app_option *row, const char *option, const char *text,
                                void *at, weft_error *error) {
    weft_status status = WEFT_OK;
    solve_bindings *bindings = at;
    solve_binding made = {0};
    TRY(app_split_assignment(option, text, row->value, &made.name, &made.value, error));
    if (strcmp(option, "--param") != 0)
        TRY(split_group(&made, error));
    snprintf(made.origin, sizeof made.origin, "%s %.70s", option, made.name);
    if (strcmp(option, "--param") == 0)
        TRY(app_parse_integer(made.origin, made.value, -1000000, 1000000, &made.number, error));
    for (int i = 0; i < bindings->n; ++i)
        if (strcmp(bindings->list[i].name, made.name) == 0) {
            TRY(join_binding(&bindings->list[i], &made, error));
            goto done;
        }
    TRY(APP_APPEND(bindings->list, bindings->n, made, error));
    made = (solve_binding){0};
done:
    free(made.name);
    free(made.value);
    return status;
}

static weft_status read_kernels(const app_option *row, const char *option, const char *text,
                                void *at, weft_error *error) {
    solve_options *o = at;
    (void)row;
    if (o->n_kernels == SOLVE_KERNELS_MAX)
        return weft_error_set(error, WEFT_ERROR_USAGE, "more than %d times --kernels",
                              SOLVE_KERNELS_MAX);
    return app_parse_text(option, text, &o->kernels[o->n_kernels++], error);
}

static weft_status read_script(void *user, const char *text, weft_error *error) {
    solve_options *o = user;
    if (o->script) {
        weft_error_set(error, WEFT_ERROR_USAGE, "unexpected argument '%s'", text);
        weft_error_hint(
            error, "one script is given, %s; put expressions with blanks or brackets in quotes",
            o->script);
        return WEFT_ERROR_USAGE;
    }
    return app_parse_text("SCRIPT.weft", text, &o->script, error);
}

static const app_option script_options[] = {
    {.help = "Script:"},
    {"degree", "P", "Degree of the elements of a shipped form file (default 1)",
     APP_INTEGER(solve_options, degree, 1, 8)},
    {"matrix", "NAME", "Name of the local matrix in the script (default K)",
     APP_TEXT(solve_options, matrix)},
    {"vector", "NAME",
     "Name of the vector in the script (default b, or r, the residual, with --nonlinear; a script "
     "without it has the vector zero)",
     APP_TEXT(solve_options, vector)},
    {"mass", "NAME",
     "Name of the mass matrix in the script (default M), or of its form in a form file (default m "
     "or M)",
     APP_TEXT(solve_options, mass)},
    {"input", "NAME[@GROUP]=EXPR[,EXPR...]",
     "Values of an input, everywhere or in a group: one expression per component, evaluated at the "
     "nodes or at the centers of cells, with --time at each time; repeatable",
     APP_BY(read_binding, solve_options, inputs)},
    {"define", "NAME[@GROUP]=EXPR",
     "Body of an expression of the script, everywhere or in a group of cells; repeatable",
     APP_BY(read_binding, solve_options, defines)},
    {"param", "NAME=INT", "Value of a parameter of the script; repeatable", .former = "set",
     APP_BY(read_binding, solve_options, sets)},
    {"measure", "MEASURE=GROUP",
     "The group of ds(ID), dx(ID) or dS(ID) of a form file, such as 'ds(1)=wall' (default: the "
     "physical group of the number ID); repeatable",
     APP_BY(read_binding, solve_options, measures)},
    APP_DEGREES(solve_options, degrees),
    {"kernels", "DIR",
     "Add the functions of DIR/**/*.kernel.c; they replace shipped functions of the same name; "
     "repeatable",
     .read = read_kernels},
    {0}};

static const app_option condition_options[] = {
    {.help = "Boundary conditions, one expression per component, or `free`:"},
    {"dirichlet", "GROUP=EXPR[,EXPR...]",
     "u = EXPR on a physical group; repeatable; the last one applies where groups meet",
     APP_CONDITION(solve_options, WEFT_DIRICHLET)},
    {"neumann", "GROUP=EXPR[,EXPR...]", "Flux into the domain, or traction; repeatable",
     APP_CONDITION(solve_options, WEFT_NEUMANN)},
    {"robin", "GROUP=ALPHA,EXPR[,EXPR...]", "Flux or traction EXPR - ALPHA u; repeatable",
     APP_CONDITION(solve_options, WEFT_ROBIN)},
    {"exact", "EXPR[,EXPR...]", "Exact solution, to print the errors in L2 and H1",
     APP_TEXT(solve_options, exact), .is_joined = true},
    {0}};

static const app_option start_options[] = {
    {"initial", "EXPR[,EXPR...]",
     "u at t = 0 with --time, or where Newton's method starts with --nonlinear, one expression per "
     "component (default 0)",
     APP_TEXT(solve_options, initial), .is_joined = true},
    {0}};

static const app_option newton_options[] = {
    {.help = "Newton's method:"},
    {"nonlinear", NULL,
     "The vector is a residual r(u) and the matrix its derivative; the script has an input u",
     APP_FLAG(solve_options, nonlinear, true)},
    {"newton-tolerance", "T",
     "Stop when the residual at free dofs is T times the reactions, or the loads, and u changes "
     "little (default 1e-10), or as small as rounding allows",
     APP_NUMBER(solve_options, newton.tolerance, 0, 1)},
    {"newton-iterations", "N", "Largest number of iterations (default 50)",
     APP_INTEGER(solve_options, newton.iterations, 0, 10000)},
    {"load-steps", "N",
     "Apply the values of conditions, and the input or Constant `load` if there is one, in N equal "
     "steps (default 1)",
     APP_INTEGER(solve_options, newton.load_steps, 1, 10000)},
    {0}};

static const app_option sum_options[] = {
    {"sum", "NAME", "Print the sum of this value of the script over all cells",
     APP_TEXT(solve_options, sum)},
    {"gradient", "J",
     "Compute the functional J of a form file, a form without arguments, and its derivatives with "
     "respect to what --wrt names",
     APP_TEXT(solve_options, gradient)},
    {"wrt", "NAME[,NAME...]",
     "Coefficients and constants for --gradient, or u, the values of --dirichlet, or with --time "
     "initial, those of --initial; derivatives "
     "with respect to functions are written beside --output",
     APP_TEXT(solve_options, wrt)},
    {"over-time", NULL,
     "With --time: integrate J over time by the trapezoidal rule, instead of taking it at the end",
     APP_FLAG(solve_options, over_time, true)},
    {"checkpoints", "N",
     "Store at most N steps in time for --gradient; of more the state is stored N times, and steps "
     "are made again from there (default 100)",
     APP_INTEGER(solve_options, checkpoints, 1, 1000000000)},
    {0}};

static const char doc[] =
    "Solve the problem of a script with linear finite elements on triangles or tetrahedra, or of a "
    "UFL form file (.ufl, .py) in Lagrange elements of any degree on any cells."
    "\v"
    "SCRIPT.weft is a file or a script shipped with Weft: poisson, poisson_diffusivity, diffusion, "
    "helmholtz, anisotropic, elasticity, kirchhoff (with --nonlinear), heat and heat_nonlinear "
    "(with --time); elasticity.ufl, a shipped form file, takes elements of any --degree. For each "
    "cell it computes a local matrix K, and adds a vector to the nodes: b[dofs] += .... "
    "docs/tutorial-new-element.md develops an example. If K has n*c rows for the n nodes of a "
    "cell, u has c components.\n"
    "EXPR is an expression in x, y and, in space, z: " WEFT_FORMULA_HELP
    ". GROUP is the name of a physical group of the mesh, or `boundary` for the whole boundary. "
    "Without any condition, u of a script is zero on the whole boundary; a form file is solved as "
    "it stands, with its natural conditions.\n"
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
    "failed.\n" APP_ENVIRONMENT_HELP;

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
    weft_error_hint(
        error, !o->script ? "write solve SCRIPT.weft --mesh MESH, for example solve "
                            "diffusion.weft --mesh square:32; --help shows more"
                          : "add --mesh FILE.geo, or try --mesh square:32; --help shows examples");
    return WEFT_ERROR_USAGE;
}

static weft_status check_start(const solve_options *o, weft_error *error) {
    if (!o->initial || o->nonlinear || o->time.text)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "--initial is for problems in time and for Newton's method");
    weft_error_location(error, "--initial", NULL, 0, 0);
    weft_error_hint(error, "add --time DT,END or --nonlinear, or leave it out");
    return WEFT_ERROR_USAGE;
}

/* --gradient is of form files. */
static weft_status check_gradient(const solve_options *o, weft_error *error) {
    const bool is_form = o->script && app_is_form_file(o->script);
    if (o->wrt && !o->gradient) {
        weft_error_set(error, WEFT_ERROR_USAGE, "--wrt names controls of a gradient");
        weft_error_location(error, "--wrt", NULL, 0, 0);
        weft_error_hint(error, "add --gradient J, with the name of a functional in the form file");
        return WEFT_ERROR_USAGE;
    }
    if ((o->over_time || o->checkpoints > 0) && !(o->gradient && o->time.text)) {
        const char *option = o->over_time ? "--over-time" : "--checkpoints";
        weft_error_set(error, WEFT_ERROR_USAGE, "%s is for a gradient in time", option);
        weft_error_location(error, option, NULL, 0, 0);
        weft_error_hint(error, "add --time DT,END and --gradient J, or leave it out");
        return WEFT_ERROR_USAGE;
    }
    if (!o->gradient || is_form)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "a gradient is that of a form file's problem");
    weft_error_location(error, "--gradient", NULL, 0, 0);
    weft_error_hint(error, "write the problem as a form file (.ufl, .py), with a "
                           "functional J: docs/gradients.md");
    return WEFT_ERROR_UNSUPPORTED;
}

/* Options of which --mass is one, and what they need. */
static weft_status check_mass(const solve_options *o, weft_error *error) {
    const char *option = o->mass && !o->time.text && o->eigen.n == 0 ? "--mass"
                         : o->eigen.near && o->eigen.n == 0          ? "--near"
                         : o->eigen.largest && o->eigen.n == 0       ? "--largest"
                         : o->eigen.buckling && o->eigen.n == 0      ? "--buckling"
                         : o->eigen.frequencies && o->eigen.n == 0   ? "--frequencies"
                         : o->eigen.participation && o->eigen.n == 0 ? "--participation"
                         : o->eigen.length != 0 && o->eigen.n == 0   ? "--normalise"
                                                                     : NULL;
    if (!option)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "%s is for %seigenvalues", option,
                   o->mass ? "problems in time and " : "");
    weft_error_location(error, option, NULL, 0, 0);
    weft_error_hint(error, "add %s--eigenvalues N, or leave it out",
                    o->mass ? "--time DT,END or " : "");
    return WEFT_ERROR_USAGE;
}

weft_status solve_options_read(int argc, char **argv, solve_options *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (solve_options){.run = app_run_options_default(),
                           .newton = weft_newton_options_default(),
                           .degree = 1,
                           .time = solve_time_options_default()};
    const app_command_line line = {.arguments = "SCRIPT.weft",
                                   .doc = doc,
                                   .tables = {{app_problem_options, &out->run},
                                              {script_options, out},
                                              {app_mesh_options_table, &out->run},
                                              {app_reading_options, &out->run.mesh.reading},
                                              {condition_options, out},
                                              {app_constraint_options, &out->run},
                                              {app_solver_options, &out->run},
                                              {app_ranks_options, &out->run},
                                              {newton_options, out},
                                              {start_options, out},
                                              {solve_time_option_table, &out->time},
                                              {solve_eigen_option_table, &out->eigen},
                                              {app_derivation_options, &out->run},
                                              {app_derive_options, &out->run},
                                              {app_result_options, &out->run},
                                              {sum_options, out},
                                              {app_program_options, &out->run}},
                                   .texts = &out->run.texts,
                                   .argument = read_script,
                                   .user = out};
    TRY(app_command_line_read(&line, argc, argv, error));
    TRY(check(out, error));
    TRY(solve_shipped_form_check(out, error));
    TRY(check_start(out, error));
    TRY(check_gradient(out, error));
    TRY(check_mass(out, error));
    TRY(solve_eigen_options_check(out, error));
    TRY(solve_time_options_check(&out->time, error));
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
    free(options->source);
    free(options->diffusivity);
    options->source = options->diffusivity = NULL;
    clear_bindings(&options->inputs);
    clear_bindings(&options->defines);
    clear_bindings(&options->sets);
    clear_bindings(&options->measures);
}
