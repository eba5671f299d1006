#include "poisson.h"

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
    KEY_SOURCE,
    KEY_EXACT,
    KEY_DIFFUSIVITY,
    KEY_DIRICHLET,
    KEY_NEUMANN,
    KEY_ROBIN,
    KEY_ORDERING,
    KEY_ASSEMBLY,
    KEY_PLAN,
    KEY_DEVICE,
    KEY_PRECONDITIONER,
    KEY_TOLERANCE,
    KEY_MAX_ITERATIONS,
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

    {NULL, 0, NULL, 0, "Problem: -div(k grad u) = f", 2},
    {"source", KEY_SOURCE, "EXPR", 0, "f (default 1)", 0},
    {"diffusivity", KEY_DIFFUSIVITY, "EXPR", 0, "k (default 1)", 0},
    {"dirichlet", KEY_DIRICHLET, "GROUP=EXPR", 0,
     "u = EXPR on a physical group; repeatable, and where groups meet the later one holds", 0},
    {"neumann", KEY_NEUMANN, "GROUP=EXPR", 0,
     "k du/dn = EXPR: the flux into the domain; repeatable", 0},
    {"robin", KEY_ROBIN, "GROUP=ALPHA,EXPR", 0, "k du/dn + ALPHA u = EXPR; repeatable", 0},
    {"exact", KEY_EXACT, "EXPR", 0, "The exact solution: prints the errors in L2 and H1", 0},

    {NULL, 0, NULL, 0, "Assembly and solution:", 3},
    {"assembly", KEY_ASSEMBLY, "NAME", 0,
     "auto (default: the cheapest as predicted; --verbose shows the figures), lma (local matrices "
     "stored), lma-gather, csr, matrix-free or edge (symmetric, by patches)",
     0},
    {"plan", KEY_PLAN, "NAME", 0, "fused (default) or unfused", 0},
    {"device", KEY_DEVICE, "NAME", 0,
     "auto (default), host, host:THREADS, or null, which plans and computes nothing", 0},
    {"preconditioner", KEY_PRECONDITIONER, "NAME", 0, "jacobi (default) or none", 0},
    {"tolerance", KEY_TOLERANCE, "T", 0,
     "Stop when the residual has fallen to T of the first (default 1e-10)", 0},
    {"max-iterations", KEY_MAX_ITERATIONS, "N", 0, "Give up after N iterations (default 10000)", 0},

    {NULL, 0, NULL, 0, "Results:", 4},
    {"probe", KEY_PROBE, "X,Y[,Z]", 0, "Print u at a point; repeatable", 0},
    {"output", KEY_OUTPUT, "FILE.vtkhdf", 0, "Write the mesh and u, for ParaView and for --mesh",
     0},
    {"json", KEY_JSON, "FILE|-", 0,
     "Write the results as JSON; - is stdout, and then nothing else is printed there", 0},
    {"quiet", KEY_QUIET, NULL, 0, "Print errors alone", 0},
    {"verbose", KEY_VERBOSE, NULL, 0, "Print what is done, the kernels, and some twenty residuals",
     0},
    {0}};

static const char doc[] =
    "Solve a Poisson problem with linear finite elements on triangles or tetrahedra."
    "\v"
    "EXPR is an expression in x, y and, in space, z: + - * / ^, sqrt exp log sin cos tan tanh abs "
    "min "
    "max, pi. "
    "GROUP is the name of a "
    "physical group of the mesh, or boundary for all of the boundary. Without any condition u is "
    "zero on the whole "
    "boundary. With conditions, what is in none of them is insulated (k du/dn = 0). With Neumann "
    "conditions alone the "
    "source and the fluxes must sum to zero, and u is the solution whose integral is zero.\n"
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
    "WEFT_KEEP=FOLDER, CC.";

typedef struct reader {
    poisson_options *options;
    weft_error *error;
    weft_status status;
} reader;

static weft_status read_choice(poisson_options *options, int key, const char *text,
                               weft_error *error) {
    static const char *const assemblies[] = {"lma",         "lma-gather", "csr",
                                             "matrix-free", "edge",       "auto"};
    static const char *const orderings[] = {"auto", "bisection", "metis", "none"};
    static const char *const plans[] = {"fused", "unfused"};
    static const char *const preconditioners[] = {"none", "jacobi"};
    weft_status status = WEFT_OK;
    int choice = 0;
    if (key == KEY_ASSEMBLY) {
        TRY(app_parse_choice("--assembly", text, assemblies, 6, &choice, error));
        options->assembly_auto = choice == 5;
        options->assembly = options->assembly_auto ? WEFT_ASSEMBLY_LMA : (weft_assembly)choice;
    } else if (key == KEY_ORDERING) {
        TRY(app_parse_choice("--ordering", text, orderings, 4, &choice, error));
        options->mesh.ordering = (app_ordering)choice;
    } else if (key == KEY_PLAN) {
        TRY(app_parse_choice("--plan", text, plans, 2, &choice, error));
        options->plan = (weft_plan_kind)choice;
    } else {
        TRY(app_parse_choice("--preconditioner", text, preconditioners, 2, &choice, error));
        options->jacobi = choice == 1;
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

static weft_status read_option(poisson_options *o, int key, char *text, weft_error *error) {
    switch (key) {
    case KEY_MESH:
        return read_text(&o->mesh.name, "--mesh", text, error);
    case KEY_SOURCE:
        return read_text(&o->source, "--source", text, error);
    case KEY_EXACT:
        return read_text(&o->exact, "--exact", text, error);
    case KEY_DIFFUSIVITY:
        return read_text(&o->diffusivity, "--diffusivity", text, error);
    case KEY_DEVICE:
        return read_text(&o->device, "--device", text, error);
    case KEY_OUTPUT:
        return read_text(&o->output, "--output", text, error);
    case KEY_JSON:
        return read_text(&o->json, "--json", text, error);
    case KEY_SIZE:
        return app_parse_number("--size", text, 1e-300, HUGE_VAL, &o->mesh.size, error);
    case KEY_REFINE:
        return app_parse_integer("--refine", text, 0, 12, &o->mesh.refine, error);
    case KEY_TOLERANCE:
        return app_parse_number("--tolerance", text, 0, 1, &o->tolerance, error);
    case KEY_MAX_ITERATIONS:
        return app_parse_integer("--max-iterations", text, 0, 1000000000, &o->max_iterations,
                                 error);
    case KEY_DIRICHLET:
        return app_condition_read(&o->conditions, APP_DIRICHLET, text, error);
    case KEY_NEUMANN:
        return app_condition_read(&o->conditions, APP_NEUMANN, text, error);
    case KEY_ROBIN:
        return app_condition_read(&o->conditions, APP_ROBIN, text, error);
    case KEY_PROBE:
        return app_probe_read(&o->probes, text, error);
    case KEY_QUIET:
        o->verbosity = APP_QUIET;
        return WEFT_OK;
    case KEY_VERBOSE:
        o->verbosity = APP_VERBOSE;
        return WEFT_OK;
    case ARGP_KEY_ARG:
        return read_argument(text, error);
    default:
        return read_choice(o, key, text, error);
    }
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    reader *in = state->input;
    if ((key & 0x1000000) != 0)
        return ARGP_ERR_UNKNOWN; /* argp's own events */
    in->status = read_option(in->options, key, argument, in->error);
    return in->status == WEFT_OK ? 0 : EINVAL;
}

weft_status poisson_options_read(int argc, char **argv, poisson_options *out, weft_error *error) {
    static const struct argp argp = {options_table, parse, NULL, doc, NULL, NULL, NULL};
    weft_status status = WEFT_OK;
    *out = (poisson_options){.source = "1",
                             .device = "auto",
                             .tolerance = 1e-10,
                             .max_iterations = 10000,
                             .assembly_auto = true,
                             .plan = WEFT_PLAN_FUSED,
                             .jacobi = true};
    reader in = {out, error, WEFT_OK};
    TRY(app_options_check(options_table, argc, argv, error));
    if (argp_parse(&argp, argc, argv, 0, NULL, &in) != 0) {
        status = in.status != WEFT_OK
                     ? in.status
                     : weft_error_set(error, WEFT_ERROR_USAGE, "the options are not understood");
        goto done;
    }
    if (!out->mesh.name) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "no mesh is given");
        weft_error_hint(error,
                        "add --mesh FILE.geo, or try --mesh square:32; --help shows examples");
    }
done:
    if (status != WEFT_OK)
        poisson_options_clear(out);
    return status;
}

void poisson_options_clear(poisson_options *options) {
    app_conditions_clear(&options->conditions);
    app_probes_clear(&options->probes);
}
