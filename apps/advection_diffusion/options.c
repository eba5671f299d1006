/* Reads the command line of advection_diffusion. */
#include "apps/advection_diffusion/advection_diffusion.h"

#include <math.h>
#include <stdlib.h>

enum {
    KEY_VELOCITY = 0x100,
    KEY_DIFFUSIVITY,
    KEY_INITIAL,
    KEY_EXACT,
    KEY_DT,
    KEY_STEPS,
    KEY_THETA,
    KEY_SPLITTING,
    KEY_MASS,
    KEY_REASSEMBLE,
    KEY_OUTPUT_EVERY,
    KEY_CHECKPOINT,
    KEY_CHECKPOINT_EVERY,
    KEY_RESTART,
    KEY_OVERWRITE
};

static const struct argp_option options_table[] = {
    APP_MESH_OPTIONS(1),
    {NULL, 0, NULL, 0, "Problem: dT/dt + u.grad T = div(mu grad T)", 2},
    {"velocity", KEY_VELOCITY, "EXPR,EXPR[,EXPR]", 0, "u (default: no advection)", 0},
    {"diffusivity", KEY_DIFFUSIVITY, "EXPR|E11,E12;E21,E22", 0,
     "mu, a number or a symmetric tensor (default: no diffusion)", 0},
    {"initial", KEY_INITIAL, "EXPR", 0, "T at t = 0 (default 0)", 0},
    {"dirichlet", APP_KEY_DIRICHLET, "GROUP=EXPR", 0,
     "T = EXPR on a physical group; repeatable; the last one applies where groups meet", 0},
    {"exact", KEY_EXACT, "EXPR", 0, "Exact solution, to measure the error in L2", 0},

    {NULL, 0, NULL, 0, "Time:", 3},
    {"dt", KEY_DT, "H", 0, "Length of a time step", 0},
    {"steps", KEY_STEPS, "N", 0, "Number of time steps, from t = 0", 0},
    {"theta", KEY_THETA, "THETA", 0,
     "Time stepping of the diffusion: 0.5 is Crank-Nicolson (default), 1 implicit Euler, 0 "
     "explicit "
     "Euler",
     0},
    {"splitting", KEY_SPLITTING, "NAME", 0,
     "lie (default; advection, then diffusion; first order) or strang (second order)", 0},
    {"mass", KEY_MASS, "NAME", 0, "Mass matrix: consistent (default) or lumped", 0},
    {"reassemble", KEY_REASSEMBLE, "NAME", 0,
     "When to assemble: once, every-step, or auto (default): every-step if u or mu depends on t, "
     "else once",
     0},

    {NULL, 0, NULL, 0, "Assembly and solution:", 4},
    {"assembly", APP_KEY_ASSEMBLY, "NAME", 0,
     "Storage of the matrix: auto (default: the fastest as predicted), {assemblies}; advection "
     "uses "
     "csr instead of a storage for symmetric matrices",
     0},
    {"plan", APP_KEY_PLAN, "NAME", 0, "fused (default) or unfused", 0},
    {"device", APP_KEY_DEVICE, "NAME", 0,
     "auto (default), host, host:THREADS, host:THREADS:SET (sse2, avx2, avx512 or neon), cuda, or "
     "null (plans, but computes nothing)",
     0},
    {"tolerance", APP_KEY_TOLERANCE, "T", 0,
     "Stop each solve when its residual is T times the right-hand side (default 1e-10)", 0},
    {"max-iterations", APP_KEY_MAX_ITERATIONS, "N", 0,
     "Largest number of iterations per solve (default: 10000, more for large meshes)", 0},

    {NULL, 0, NULL, 0, "Results:", 5},
    {"output", APP_KEY_OUTPUT, "FILE.pvd|FILE.vtkhdf", 0,
     "Write T as a time series for ParaView: .pvd, with a directory of .vtu files next to it, for "
     "any version; .vtkhdf, one smaller file, for version 5.12 or later",
     0},
    {"output-every", KEY_OUTPUT_EVERY, "N", 0,
     "Write and measure after every N steps (default: only at the end)", 0},
    {"checkpoint", KEY_CHECKPOINT, "FILE.vtkhdf", 0, "Write a checkpoint for --restart", 0},
    {"checkpoint-every", KEY_CHECKPOINT_EVERY, "N", 0,
     "Write a checkpoint after every N steps (default: only at the end)", 0},
    {"restart", KEY_RESTART, "FILE.vtkhdf", 0,
     "Continue from a checkpoint, and continue the series of --output; with unchanged other "
     "options "
     "the result is bitwise that of an uninterrupted run",
     0},
    {"overwrite", KEY_OVERWRITE, NULL, 0,
     "Replace an existing file of --output, even if --restart cannot continue it", 0},
    {"probe", APP_KEY_PROBE, "X,Y[,Z]", 0, "Print T at a point; repeatable", 0},
    {"json", APP_KEY_JSON, "FILE|-", 0,
     "Write the results as JSON; - is standard output, where then nothing else is printed", 0},
    {"quiet", APP_KEY_QUIET, NULL, 0, "Print only errors", 0},
    {"verbose", APP_KEY_VERBOSE, NULL, 0, "Print the steps of the program and the kernels", 0},
    {0}};

static const char doc[] =
    "Advect and diffuse a scalar with linear finite elements on triangles or tetrahedra."
    "\v"
    "EXPR is an expression in x, y, in space z, and t: " WEFT_FORMULA_HELP
    ". GROUP is the name of a physical group of the mesh, or `boundary` for the whole boundary. "
    "Parts of the boundary without --dirichlet are insulated (mu dT/dn = 0).\n"
    "\n"
    "On Ctrl-C (SIGINT, SIGTERM, SIGHUP) the program finishes the current step, writes "
    "--checkpoint "
    "if it is given, and exits with 128 plus the number of the signal (130 for Ctrl-C); on a "
    "second "
    "signal it ends at once.\n"
    "\n"
    "Examples:\n"
    "  advection_diffusion --mesh square:64 --velocity '0.5-y,x-0.5' --diffusivity 1e-4 \\\n"
    "          --initial 'exp(-((x-0.7)^2+(y-0.5)^2)/0.01)' --dt 0.005 --steps 200 \\\n"
    "          --output cone.pvd --output-every 10\n"
    "  advection_diffusion --mesh cube:24 --velocity 1,0,0 --diffusivity "
    "'1e-3,0,0;0,1e-4,0;0,0,1e-4' "
    "\\\n"
    "          --initial 'exp(-((x-0.3)^2+(y-0.5)^2+(z-0.5)^2)/0.02)' --dt 0.01 --steps 20\n"
    "\n"
    "Exit status: 0 all steps done, 1 a solve did not converge or T is not finite, 2 wrong usage "
    "or "
    "input, 3 the device or the compiler failed.\n"
    "Environment: WEFT_LOG=error|warning|info|debug, WEFT_DEVICE, WEFT_CACHE=on|read|off, "
    "WEFT_KEEP=FOLDER, WEFT_INSTRUCTIONS=SET, CC.";

static weft_status read_choice(ad_options *options, int key, const char *text, weft_error *error) {
    static const char *const splittings[] = {"lie", "strang"};
    static const char *const masses[] = {"consistent", "lumped"};
    static const char *const times[] = {"auto", "once", "every-step"};
    weft_status status = WEFT_OK;
    int choice = 0;
    if (key == KEY_SPLITTING) {
        TRY(app_parse_choice("--splitting", text, splittings, 2, &choice, error));
        options->splitting = (weft_splitting)choice;
    } else if (key == KEY_MASS) {
        TRY(app_parse_choice("--mass", text, masses, 2, &choice, error));
        options->lumped = choice == 1;
    } else {
        TRY(app_parse_choice("--reassemble", text, times, 3, &choice, error));
        options->reassemble = (ad_reassemble)choice;
    }
done:
    return status;
}

static weft_status read_dt(ad_options *o, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(app_parse_number("--dt", text, -HUGE_VAL, HUGE_VAL, &o->dt, error));
    if (!(o->dt > 0)) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "a time step must be longer than 0");
        weft_error_location(error, "--dt", text, 1, 1);
        weft_error_hint(error, "time runs forwards from t = 0; reverse --velocity to go back");
    }
done:
    return status;
}

static weft_status read_option(void *user, int key, const char *text, weft_error *error) {
    enum { STEPS_MOST = 2000000000 };
    ad_options *o = user;
    switch (key) {
    case KEY_VELOCITY:
        return ad_formulas_read("--velocity", text, &o->velocity, error);
    case KEY_DIFFUSIVITY:
        return ad_formulas_read("--diffusivity", text, &o->diffusivity, error);
    case KEY_INITIAL:
        return app_parse_text("--initial", text, &o->initial, error);
    case KEY_EXACT:
        return app_parse_text("--exact", text, &o->exact, error);
    case KEY_CHECKPOINT:
        return app_parse_text("--checkpoint", text, &o->checkpoint, error);
    case KEY_RESTART:
        return app_parse_text("--restart", text, &o->restart, error);
    case KEY_OVERWRITE:
        o->overwrite = true;
        return WEFT_OK;
    case KEY_DT:
        return read_dt(o, text, error);
    case KEY_STEPS:
        return app_parse_integer("--steps", text, 0, STEPS_MOST, &o->steps, error);
    case KEY_THETA:
        return app_parse_number("--theta", text, 0, 1, &o->theta, error);
    case KEY_OUTPUT_EVERY:
        return app_parse_integer("--output-every", text, 1, STEPS_MOST, &o->output_every, error);
    case KEY_CHECKPOINT_EVERY:
        return app_parse_integer("--checkpoint-every", text, 1, STEPS_MOST, &o->checkpoint_every,
                                 error);
    case KEY_SPLITTING:
    case KEY_MASS:
    case KEY_REASSEMBLE:
        return read_choice(o, key, text, error);
    case ARGP_KEY_ARG:
        return app_argument_refuse(text, error);
    default:
        return app_run_option_read(&o->run, key, text, error);
    }
}

static weft_status missing(const char *what, const char *hint, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%s is given", what);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_USAGE;
}

static weft_status check_complete(const ad_options *o, weft_error *error) {
    if (!o->run.mesh.name)
        return missing("no mesh",
                       "add --mesh FILE.geo, or try --mesh square:32; --help shows "
                       "examples",
                       error);
    if (!(o->dt > 0))
        return missing("no time step", "add --dt H; --help shows examples", error);
    if (o->steps < 0)
        return missing("no number of steps", "add --steps N; --help shows examples", error);
    if (o->velocity.n == 0 && o->diffusivity.n == 0)
        return missing("neither --velocity nor --diffusivity",
                       "add one of them, or both; --help shows examples", error);
    return WEFT_OK;
}

weft_status ad_options_read(int argc, char **argv, ad_options *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out =
        (ad_options){.run = app_run_options_default(), .initial = "0", .steps = -1, .theta = 0.5};
    out->run.tolerance = 1e-10; /* errors accumulate over steps, and the initial guess is good */
    const struct argp argp = {.options = options_table, .doc = doc};
    TRY(app_options_parse(&argp, argc, argv, read_option, out, error));
    TRY(check_complete(out, error));
done:
    if (status != WEFT_OK)
        ad_options_clear(out);
    return status;
}

void ad_options_clear(ad_options *options) {
    app_run_options_clear(&options->run);
    ad_formulas_clear(&options->velocity);
    ad_formulas_clear(&options->diffusivity);
}
