/* Reads the command line of advection_diffusion. */
#include "apps/advection_diffusion/advection_diffusion.h"
#include "apps/common/problem.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS_MOST = 2000000000 };

static const char *const masses[] = {"consistent", "lumped", NULL};
static const char *const times[] = {"auto", "once", "every-step", NULL};

/* The origin of formulas must outlive the reading, so it is not `option`. */
static weft_status read_formulas(const app_option *row, const char *option, const char *text,
                                 void *at, weft_error *error) {
    (void)option;
    return ad_formulas_read(row->name[0] == 'v' ? "--velocity" : "--diffusivity", text, at, error);
}

static weft_status read_dt(const app_option *row, const char *option, const char *text, void *at,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    double *dt = at;
    (void)row;
    TRY(app_parse_number(option, text, -HUGE_VAL, HUGE_VAL, dt, error));
    if (!(*dt > 0)) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "a time step must be longer than 0");
        weft_error_location(error, option, text, 1, 1);
        weft_error_hint(error, "time runs forwards from t = 0; reverse --velocity to go back");
    }
done:
    return status;
}

/* --scheme and --splitting */
static weft_status read_row(const app_option *row, const char *option, const char *text, void *at,
                            weft_error *error) {
    const weft_step_scheme_info *(*about)(int) =
        row->name[1] == 'p' ? weft_splitting_about : weft_runge_kutta_about;
    const char *names[16];
    int n = 0;
    for (; about(n); ++n)
        names[n] = about(n)->name;
    return app_parse_choice(option, text, names, n, at, error);
}

/* The steps are one script, whose products are with the matrices of all nodes. */
static weft_status refuse_constraint(const app_option *row, const char *option, const char *text,
                                     void *at, weft_error *error) {
    (void)row, (void)text, (void)at;
    weft_error_set(
        error, WEFT_ERROR_UNSUPPORTED,
        "constraints between nodes, and values and loads at points, are not for steps of "
        "advection and diffusion");
    weft_error_location(error, option, NULL, 0, 0);
    weft_error_hint(
        error,
        "take solve heat.weft --time DT,END, whose diffusion has them; see docs/constraints.md");
    return WEFT_ERROR_UNSUPPORTED;
}

static const app_option problem_options[] = {
    {.help = "Problem: c (dT/dt + u.grad T) = div(mu grad T) + f"},
    {"velocity", "[@GROUP=]EXPR,EXPR[,EXPR]",
     "u (default: no advection); repeatable, with one vector for each group of cells",
     APP_BY(read_formulas, ad_options, velocity)},
    {"diffusivity", "[@GROUP=]EXPR|E11,E12;E21,E22",
     "mu, a number or a symmetric tensor (default: no diffusion); repeatable, with one of them for "
     "each group of cells",
     APP_BY(read_formulas, ad_options, diffusivity)},
    {"capacity", "[@GROUP=]EXPR", "c, in x, y and z (default 1); repeatable",
     APP_BY(app_read_formula, ad_options, capacity)},
    {"source", "[@GROUP=]EXPR",
     "f (default 0); repeatable, with one formula for each group of cells",
     APP_BY(app_read_formula, ad_options, source)},
    {"initial", "[@GROUP=]EXPR",
     "T at t = 0 (default 0); repeatable, with one formula for each group of cells or facets",
     APP_BY(app_read_formula, ad_options, initial)},
    {"dirichlet", "GROUP=EXPR",
     "T = EXPR on a physical group; repeatable; the last one applies where groups meet",
     APP_CONDITION(ad_options, WEFT_DIRICHLET)},
    {"neumann", "GROUP=EXPR", "Flux into the domain, mu dT/dn = EXPR; repeatable",
     APP_CONDITION(ad_options, WEFT_NEUMANN)},
    {"robin", "GROUP=ALPHA,EXPR", "mu dT/dn = EXPR - ALPHA T; repeatable",
     APP_CONDITION(ad_options, WEFT_ROBIN)},
    {"exact", "EXPR", "Exact solution, to measure the error in L2", APP_TEXT(ad_options, exact)},

    {.help = "Time:"},
    {"dt", "H", "Length of a time step", APP_BY(read_dt, ad_options, dt)},
    {"steps", "N", "Number of time steps, from t = 0",
     APP_INTEGER(ad_options, steps, 0, STEPS_MOST)},
    {"theta", "THETA",
     "Time stepping of the diffusion: 0.5 is Crank-Nicolson (default), 1 implicit Euler, 0 "
     "explicit Euler",
     APP_NUMBER(ad_options, theta, 0, 1)},
    {"scheme", "NAME", "Of the advection: {advection schemes}; the first is the default",
     APP_BY(read_row, ad_options, runge_kutta)},
    {"splitting", "NAME", "{splittings}; the first is the default",
     APP_BY(read_row, ad_options, splitting)},
    {"mass", "NAME", "Mass matrix: consistent (default) or lumped",
     APP_CHOICE(ad_options, lumped, masses)},
    {"reassemble", "NAME",
     "When to assemble: once, every-step, or auto (default): every-step if u or mu depends on t, "
     "else once",
     APP_CHOICE(ad_options, reassemble, times)},

    {.help = "Assembly and solution:"},
    {"assembly", "NAME",
     "Storage of the matrix: auto (default: the fastest as predicted), {assemblies}; advection "
     "uses csr instead of a storage for symmetric matrices",
     APP_BY(app_read_assembly, ad_options, run)},
    {"preconditioner", "NAME",
     "Of the solves of the diffusion: jacobi (default), {preconditioners}; multigrid needs a "
     "refined or built-in mesh",
     APP_BY(app_read_preconditioner, ad_options, run)},
    {"smoother-degree", "K",
     "Degree of the polynomial that chebyshev and the smoothers of multigrid use, 1 to 6",
     APP_INTEGER(ad_options, run.solver.smoother_degree, 1, 6)},
    {"tolerance", "T",
     "Stop each solve when its residual is T times the right-hand side (default 1e-10)",
     APP_NUMBER(ad_options, run.solver.tolerance, 0, 1)},
    {"max-iterations", "N",
     "Largest number of iterations per solve (default: 10000, more for large meshes)",
     APP_INTEGER(ad_options, run.solver.max_iterations, 0, 1000000000)},

    {.help = "Results:"},
    {"output", "FILE.pvd|FILE.vtkhdf",
     "Write T as a time series for ParaView: .pvd, with a directory of .vtu files next to it, for "
     "any version; .vtkhdf, one smaller file, for version 5.12 or later",
     'o', APP_TEXT(ad_options, run.output)},
    {"output-every", "N", "Write and measure after every N steps (default: only at the end)",
     APP_INTEGER(ad_options, files.output_every, 1, STEPS_MOST)},
    {"checkpoint", "FILE.vtkhdf", "Write a checkpoint for --restart",
     APP_TEXT(ad_options, files.checkpoint)},
    {"checkpoint-every", "N", "Write a checkpoint after every N steps (default: only at the end)",
     APP_INTEGER(ad_options, files.checkpoint_every, 1, STEPS_MOST)},
    {"restart", "FILE.vtkhdf",
     "Continue from a checkpoint, and continue the series of --output; with unchanged other "
     "options the result is bitwise that of an uninterrupted run",
     APP_TEXT(ad_options, files.resume)},
    {"overwrite", NULL,
     "Replace an existing file of --output, even if --restart cannot continue it",
     APP_FLAG(ad_options, files.overwrite, true)},
    {"history", "FILE.csv",
     "Write T at the probes, and --integral and --extrema, after each step while the run goes",
     APP_TEXT(ad_options, files.history)},
    {"history-every", "N", "Write to --history after every N steps (default 1)",
     APP_INTEGER(ad_options, files.history_every, 1, STEPS_MOST)},
    {"probe", "X,Y[,Z]", "Print T at a point; repeatable",
     APP_BY(app_read_probe, ad_options, run.probes)},
    {"tie", "GROUP", NULL, .read = refuse_constraint},
    {"periodic", "GROUP=GROUP", NULL, .read = refuse_constraint},
    {"symmetry", "GROUP", NULL, .read = refuse_constraint},
    {"point-value", "X=VALUE", NULL, .read = refuse_constraint},
    {"point-load", "X=VALUE", NULL, .read = refuse_constraint},
    {0}};

static const char doc[] =
    "Advect and diffuse a scalar with linear finite elements on triangles or tetrahedra."
    "\v"
    "EXPR is an expression in x, y, in space z, and t: " WEFT_FORMULA_HELP
    ". GROUP is the name of a physical group of the mesh, or `boundary` for the whole boundary. "
    "Parts of the boundary without a condition are insulated (mu dT/dn = 0).\n"
    "\n"
    "On Ctrl-C (SIGINT, SIGTERM, SIGHUP) the program finishes the current step, writes "
    "--checkpoint if it is given, and exits with 128 plus the number of the signal (130 for "
    "Ctrl-C); on a second signal it ends at once.\n"
    "\n"
    "Examples:\n"
    "  advection_diffusion --mesh square:64 --velocity '0.5-y,x-0.5' --diffusivity 1e-4 \\\n"
    "          --initial 'exp(-((x-0.7)^2+(y-0.5)^2)/0.01)' --dt 0.005 --steps 200 \\\n"
    "          --output cone.pvd --output-every 10\n"
    "  advection_diffusion --mesh cube:24 --velocity 1,0,0 --diffusivity "
    "'1e-3,0,0;0,1e-4,0;0,0,1e-4' \\\n"
    "          --initial 'exp(-((x-0.3)^2+(y-0.5)^2+(z-0.5)^2)/0.02)' --dt 0.01 --steps 20\n"
    "\n"
    "Exit status: 0 all steps done, 1 a solve did not converge or T is not finite, 2 wrong usage "
    "or input, 3 the device or the compiler failed.\n" APP_ENVIRONMENT_HELP;

static weft_status missing(const char *what, const char *hint, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%s is given", what);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_USAGE;
}

static weft_status check_complete(const ad_options *o, weft_error *error) {
    if (!o->run.mesh.name)
        return missing("no mesh",
                       "add --mesh FILE.geo, or try --mesh square:32; --help shows examples",
                       error);
    if (!(o->dt > 0))
        return missing("no time step", "add --dt H; --help shows examples", error);
    if (o->steps < 0)
        return missing("no number of steps", "add --steps N; --help shows examples", error);
    if (o->velocity.n == 0 && o->diffusivity.n == 0 && !o->source)
        return missing("neither --velocity nor --diffusivity",
                       "add one of them, or both; --help shows examples", error);
    return WEFT_OK;
}

weft_status ad_options_read(int argc, char **argv, ad_options *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (ad_options){.run = app_run_options_default(),
                        .steps = -1,
                        .theta = 0.5,
                        .files = {.resume_option = "--restart"}};
    out->run.solver.preconditioner = WEFT_JACOBI;
    out->run.solver.tolerance =
        1e-10; /* errors accumulate over steps, and the initial guess is good */
    const app_command_line line = {.doc = doc,
                                   .tables = {{app_problem_options, &out->run},
                                              {app_mesh_options_table, &out->run},
                                              {app_reading_options, &out->run.mesh.reading},
                                              {problem_options, out},
                                              {app_ranks_options, &out->run},
                                              {app_derivation_options, &out->run},
                                              {app_program_options, &out->run}},
                                   .texts = &out->run.texts,
                                   .argument = app_argument_refuse};
    TRY(app_command_line_read(&line, argc, argv, error));
    out->default_initial = !out->initial;
    if (!out->initial)
        TRY(app_formula_add("--initial", "0", &out->initial, error));
    TRY(check_complete(out, error));
    if (out->run.solver.preconditioner == WEFT_NO_PRECONDITIONER ||
        out->run.solver.preconditioner == WEFT_AUTO)
        status = missing("a preconditioner that the diffusion does not take",
                         "write --preconditioner jacobi, or one that --help lists", error);
done:
    if (status != WEFT_OK)
        ad_options_clear(out);
    return status;
}

void ad_options_clear(ad_options *options) {
    app_run_options_clear(&options->run);
    free(options->initial);
    free(options->source);
    free(options->capacity);
    options->initial = options->source = options->capacity = NULL;
    ad_formulas_clear(&options->velocity);
    ad_formulas_clear(&options->diffusivity);
}
