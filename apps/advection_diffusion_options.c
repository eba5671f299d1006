#include "advection_diffusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_MESH = 'm',
    KEY_OUTPUT = 'o',
    KEY_QUIET = 'q',
    KEY_VERBOSE = 'v',
    KEY_SIZE = 0x100,
    KEY_REFINE,
    KEY_ORDERING,
    KEY_VELOCITY,
    KEY_DIFFUSIVITY,
    KEY_INITIAL,
    KEY_EXACT,
    KEY_DIRICHLET,
    KEY_DT,
    KEY_STEPS,
    KEY_THETA,
    KEY_SPLITTING,
    KEY_MASS,
    KEY_REASSEMBLE,
    KEY_ASSEMBLY,
    KEY_PLAN,
    KEY_DEVICE,
    KEY_TOLERANCE,
    KEY_MAX_ITERATIONS,
    KEY_OUTPUT_EVERY,
    KEY_CHECKPOINT,
    KEY_CHECKPOINT_EVERY,
    KEY_RESTART,
    KEY_PROBE,
    KEY_JSON
};

static const struct argp_option options_table[] = {
    {NULL, 0, NULL, 0, "Mesh:", 1},
    {"mesh", KEY_MESH, "MESH", 0,
     "FILE.geo or FILE.msh (read by Gmsh), FILE.vtkhdf, square:N (2 N^2 triangles) or cube:N (6 "
     "N^3 tetrahedra)",
     0},
    {"size", KEY_SIZE, "H", 0, "Mesh size for FILE.geo, in its unit", 0},
    {"refine", KEY_REFINE, "N", 0,
     "Halve every edge N times, 0 (default) to 12: each time a triangle becomes 4, a tetrahedron 8",
     0},
    {"ordering", KEY_ORDERING, "NAME", 0,
     "How the nodes are numbered anew: bisection (of coordinates), metis, none, or auto (default): "
     "bisection for .geo and .msh files, and for every mesh on a GPU",
     0},

    {NULL, 0, NULL, 0, "Problem: dT/dt + u.grad T = div(mu grad T)", 2},
    {"velocity", KEY_VELOCITY, "EXPR,EXPR[,EXPR]", 0, "u (default: nothing is advected)", 0},
    {"diffusivity", KEY_DIFFUSIVITY, "EXPR|E11,E12;E21,E22", 0,
     "mu, a number or a symmetric tensor (default: no diffusion)", 0},
    {"initial", KEY_INITIAL, "EXPR", 0, "T at t = 0 (default 0)", 0},
    {"dirichlet", KEY_DIRICHLET, "GROUP=EXPR", 0,
     "T = EXPR on a physical group; repeatable, and where groups meet the later one holds", 0},
    {"exact", KEY_EXACT, "EXPR", 0, "The exact solution: measures the error in L2", 0},

    {NULL, 0, NULL, 0, "Time:", 3},
    {"dt", KEY_DT, "H", 0, "Length of a time step", 0},
    {"steps", KEY_STEPS, "N", 0, "Number of time steps, from t = 0", 0},
    {"theta", KEY_THETA, "THETA", 0,
     "Diffusion: 1/2 Crank and Nicolson (default 0.5), 1 implicit Euler, 0 explicit Euler", 0},
    {"splitting", KEY_SPLITTING, "NAME", 0,
     "lie (default: advection, then diffusion) or strang (second order)", 0},
    {"mass", KEY_MASS, "NAME", 0, "consistent (default) or lumped", 0},
    {"reassemble", KEY_REASSEMBLE, "NAME", 0,
     "Assemble once or in every-step (default: every-step where u or mu depends on t, else once)",
     0},

    {NULL, 0, NULL, 0, "Assembly and solution:", 4},
    {"assembly", KEY_ASSEMBLY, "NAME", 0,
     "auto (default: the cheapest as predicted), lma (local matrices stored), lma-gather, csr, "
     "matrix-free or edge (symmetric, by patches; the advection as csr)",
     0},
    {"plan", KEY_PLAN, "NAME", 0, "fused (default) or unfused", 0},
    {"device", KEY_DEVICE, "NAME", 0,
     "auto (default), host, host:THREADS, cuda, or null, which plans and computes nothing", 0},
    {"tolerance", KEY_TOLERANCE, "T", 0,
     "Stop each solve when its residual has fallen to T of the right-hand side (default 1e-10)", 0},
    {"max-iterations", KEY_MAX_ITERATIONS, "N", 0, "Of one solve (default 10000)", 0},

    {NULL, 0, NULL, 0, "Results:", 5},
    {"output", KEY_OUTPUT, "FILE.vtkhdf", 0, "Write T as a time series that ParaView plays", 0},
    {"output-every", KEY_OUTPUT_EVERY, "N", 0,
     "Write and measure after every N steps (default: at the end alone)", 0},
    {"checkpoint", KEY_CHECKPOINT, "FILE.vtkhdf", 0, "Write what a restart needs", 0},
    {"checkpoint-every", KEY_CHECKPOINT_EVERY, "N", 0,
     "After every N steps (default: at the end alone)", 0},
    {"restart", KEY_RESTART, "FILE.vtkhdf", 0,
     "Go on from a checkpoint, with the other options as they were: the end is the same bit by bit",
     0},
    {"probe", KEY_PROBE, "X,Y[,Z]", 0, "Measure T at a point too; repeatable", 0},
    {"json", KEY_JSON, "FILE|-", 0,
     "Write the results as JSON; - is stdout, and then nothing else is printed there", 0},
    {"quiet", KEY_QUIET, NULL, 0, "Print errors alone", 0},
    {"verbose", KEY_VERBOSE, NULL, 0, "Print what is done, and the kernels", 0},
    {0}};

static const char doc[] =
    "Advect and diffuse a scalar with linear finite elements on triangles or tetrahedra."
    "\v"
    "EXPR is an expression in x, y, in space z, and t: + - * / ^, sqrt exp log sin cos tan tanh "
    "abs "
    "min max, pi. GROUP is the name of a physical group of the mesh, or boundary for all of the "
    "boundary. What is in no --dirichlet is insulated (mu dT/dn = 0).\n"
    "\n"
    "Examples:\n"
    "  advection_diffusion --mesh square:64 --velocity '0.5-y,x-0.5' --diffusivity 1e-4 \\\n"
    "          --initial 'exp(-((x-0.7)^2+(y-0.5)^2)/0.01)' --dt 0.005 --steps 200 \\\n"
    "          --output cone.vtkhdf --output-every 10\n"
    "  advection_diffusion --mesh cube:24 --velocity 1,0,0 --diffusivity "
    "'1e-3,0,0;0,1e-4,0;0,0,1e-4' "
    "\\\n"
    "          --initial 'exp(-((x-0.3)^2+(y-0.5)^2+(z-0.5)^2)/0.02)' --dt 0.01 --steps 20\n"
    "\n"
    "Exit status: 0 all steps done, 1 a solve has not converged or T has blown up, 2 wrong usage "
    "or "
    "input, 3 the device or the compiler failed.\n"
    "Environment: WEFT_LOG=error|warning|info|debug, WEFT_DEVICE, WEFT_CACHE=on|read|off, "
    "WEFT_KEEP=FOLDER, CC.";

typedef struct reader {
    ad_options *options;
    weft_error *error;
    weft_status status;
} reader;

/* Room for one more of `size` bytes in an array of n, zeroed; NULL when memory is out. */
static void *append(void **array, int *n, size_t size, weft_error *error, weft_status *status) {
    char *larger = reallocarray(*array, (size_t)*n + 1, size);
    if (!larger) {
        *status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        return NULL;
    }
    *array = larger;
    memset(larger + (size_t)*n * size, 0, size);
    return larger + (size_t)(*n)++ * size;
}

static weft_status read_condition(ad_options *options, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    char *group = NULL, *value = NULL;
    TRY(app_split_assignment("--dirichlet", text, "GROUP=EXPR", &group, &value, error));
    void *array = options->conditions;
    ad_condition *condition =
        append(&array, &options->n_conditions, sizeof *options->conditions, error, &status);
    options->conditions = array;
    if (!condition)
        goto done;
    *condition = (ad_condition){.group = group, .value = value};
    snprintf(condition->origin, sizeof condition->origin, "--dirichlet %.150s", group);
    group = value = NULL;
done:
    free(group);
    free(value);
    return status;
}

static weft_status read_probe(ad_options *options, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    ad_probe probe = {.text = text};
    TRY(app_parse_point("--probe", text, probe.point, &probe.n, error));
    void *array = options->probes;
    ad_probe *place = append(&array, &options->n_probes, sizeof probe, error, &status);
    options->probes = array;
    if (place)
        *place = probe;
done:
    return status;
}

static weft_status read_choice(ad_options *options, int key, const char *text, weft_error *error) {
    static const char *const assemblies[] = {"lma",         "lma-gather", "csr",
                                             "matrix-free", "edge",       "auto"};
    static const char *const orderings[] = {"auto", "bisection", "metis", "none"};
    static const char *const plans[] = {"fused", "unfused"};
    static const char *const splittings[] = {"lie", "strang"};
    static const char *const masses[] = {"consistent", "lumped"};
    static const char *const times[] = {"auto", "once", "every-step"};
    weft_status status = WEFT_OK;
    int choice = 0;
    if (key == KEY_ASSEMBLY) {
        TRY(app_parse_choice("--assembly", text, assemblies, 6, &choice, error));
        options->assembly_auto = choice == 5;
        options->assembly = options->assembly_auto ? WEFT_ASSEMBLY_LMA : (weft_assembly)choice;
    } else if (key == KEY_ORDERING) {
        TRY(app_parse_choice("--ordering", text, orderings, 4, &choice, error));
        options->ordering = (ad_ordering)choice;
    } else if (key == KEY_PLAN) {
        TRY(app_parse_choice("--plan", text, plans, 2, &choice, error));
        options->plan = (weft_plan_kind)choice;
    } else if (key == KEY_SPLITTING) {
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

static weft_status read_text(const char **out, const char *name, const char *text,
                             weft_error *error) {
    if (!text[strspn(text, " \t")]) {
        weft_error_set(error, WEFT_ERROR_USAGE, "option '%s' needs a value that is not empty",
                       name);
        weft_error_hint(error, "--help shows what to give");
        return WEFT_ERROR_USAGE;
    }
    *out = text;
    return WEFT_OK;
}

static weft_status read_argument(const char *text, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "unexpected argument '%s'", text);
    weft_error_hint(
        error, "a mesh is given by --mesh %s; put expressions with blanks or brackets in quotes",
        text);
    return WEFT_ERROR_USAGE;
}

static weft_status read_dt(ad_options *o, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(app_parse_number("--dt", text, -HUGE_VAL, HUGE_VAL, &o->dt, error));
    if (!(o->dt > 0)) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "a time step must be longer than 0");
        weft_error_place(error, "--dt", text, 1, 1);
        weft_error_hint(error, "time runs forwards from t = 0; turn --velocity round to go back");
    }
done:
    return status;
}

static weft_status read_number(ad_options *o, int key, char *text, weft_error *error) {
    switch (key) {
    case KEY_SIZE:
        return app_parse_number("--size", text, 1e-300, HUGE_VAL, &o->size, error);
    case KEY_REFINE:
        return app_parse_integer("--refine", text, 0, 12, &o->refine, error);
    case KEY_DT:
        return read_dt(o, text, error);
    case KEY_STEPS:
        return app_parse_integer("--steps", text, 0, 2000000000, &o->steps, error);
    case KEY_THETA:
        return app_parse_number("--theta", text, 0, 1, &o->theta, error);
    case KEY_TOLERANCE:
        return app_parse_number("--tolerance", text, 0, 1, &o->tolerance, error);
    case KEY_MAX_ITERATIONS:
        return app_parse_integer("--max-iterations", text, 0, 1000000000, &o->max_iterations,
                                 error);
    case KEY_OUTPUT_EVERY:
        return app_parse_integer("--output-every", text, 1, 2000000000, &o->output_every, error);
    case KEY_CHECKPOINT_EVERY:
        return app_parse_integer("--checkpoint-every", text, 1, 2000000000, &o->checkpoint_every,
                                 error);
    default:
        return read_choice(o, key, text, error);
    }
}

static weft_status read_option(ad_options *o, int key, char *text, weft_error *error) {
    switch (key) {
    case KEY_MESH:
        return read_text(&o->mesh, "--mesh", text, error);
    case KEY_VELOCITY:
        return ad_formulas_read("--velocity", text, &o->velocity, error);
    case KEY_DIFFUSIVITY:
        return ad_formulas_read("--diffusivity", text, &o->diffusivity, error);
    case KEY_INITIAL:
        return read_text(&o->initial, "--initial", text, error);
    case KEY_EXACT:
        return read_text(&o->exact, "--exact", text, error);
    case KEY_DEVICE:
        return read_text(&o->device, "--device", text, error);
    case KEY_OUTPUT:
        return read_text(&o->output, "--output", text, error);
    case KEY_CHECKPOINT:
        return read_text(&o->checkpoint, "--checkpoint", text, error);
    case KEY_RESTART:
        return read_text(&o->restart, "--restart", text, error);
    case KEY_JSON:
        return read_text(&o->json, "--json", text, error);
    case KEY_DIRICHLET:
        return read_condition(o, text, error);
    case KEY_PROBE:
        return read_probe(o, text, error);
    case KEY_QUIET:
        o->verbosity = APP_QUIET;
        return WEFT_OK;
    case KEY_VERBOSE:
        o->verbosity = APP_VERBOSE;
        return WEFT_OK;
    case ARGP_KEY_ARG:
        return read_argument(text, error);
    default:
        return read_number(o, key, text, error);
    }
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    reader *in = state->input;
    if ((key & 0x1000000) != 0)
        return ARGP_ERR_UNKNOWN; /* argp's own events */
    in->status = read_option(in->options, key, argument, in->error);
    return in->status == WEFT_OK ? 0 : EINVAL;
}

static weft_status missing(const char *what, const char *hint, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%s is given", what);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_USAGE;
}

static weft_status check_complete(const ad_options *o, weft_error *error) {
    if (!o->mesh)
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
    static const struct argp argp = {options_table, parse, NULL, doc, NULL, NULL, NULL};
    weft_status status = WEFT_OK;
    *out = (ad_options){.initial = "0",
                        .device = "auto",
                        .steps = -1,
                        .theta = 0.5,
                        .tolerance = 1e-10,
                        .max_iterations = 10000,
                        .assembly_auto = true,
                        .plan = WEFT_PLAN_FUSED};
    reader in = {out, error, WEFT_OK};
    TRY(app_options_check(options_table, argc, argv, error));
    if (argp_parse(&argp, argc, argv, 0, NULL, &in) != 0) {
        status = in.status != WEFT_OK
                     ? in.status
                     : weft_error_set(error, WEFT_ERROR_USAGE, "the options are not understood");
        goto done;
    }
    TRY(check_complete(out, error));
done:
    if (status != WEFT_OK)
        ad_options_clear(out);
    return status;
}

void ad_options_clear(ad_options *options) {
    for (int i = 0; i < options->n_conditions; ++i) {
        free(options->conditions[i].group);
        free(options->conditions[i].value);
    }
    free(options->conditions);
    free(options->probes);
    ad_formulas_clear(&options->velocity);
    ad_formulas_clear(&options->diffusivity);
    options->conditions = NULL;
    options->probes = NULL;
    options->n_conditions = options->n_probes = 0;
}
