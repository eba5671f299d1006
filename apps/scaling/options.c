/* Reads the command line of scaling. */
#include "apps/common/fem.h"
#include "apps/scaling/scaling.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_MESH = 'm',
    KEY_OUT = 'o',
    KEY_QUIET = 'q',
    KEY_VERBOSE = 'v',
    KEY_APP = 0x100,
    KEY_SIZES,
    KEY_REFINE,
    KEY_ASSEMBLY,
    KEY_DEVICE,
    KEY_THREADS,
    KEY_REPEAT,
    KEY_WARMUP,
    KEY_NO_PLOTS,
    KEY_FIT_DT
};

static const struct argp_option options_table[] = {
    {NULL, 0, NULL, 0, "Cases:", 1},
    {"app", KEY_APP, "NAME", 0, "poisson (default) or advection_diffusion", 0},
    {"mesh", KEY_MESH, "MESH", 0,
     "square (default), cube, square:N, cube:N or a file, as for the application; repeatable, for "
     "meshes of one domain from coarse to fine",
     0},
    {"sizes", KEY_SIZES, "N1,N2,...", 0,
     "Cells per side of square and cube; mesh sizes of FILE.geo, in its unit", 0},
    APP_READING_OPTIONS,
    {"refine", KEY_REFINE, "L|A..B|LIST", 0,
     "Refine every mesh by halving its edges this often: 2, or 0..3, or 0,2", 0},
    {"assembly", KEY_ASSEMBLY, "all|LIST", 0,
     "all (default), or a list with commas: {assembly names}", 0},
    {"device", KEY_DEVICE, "LIST", 0,
     "host (default), host:THREADS, host:THREADS:SET, cuda, cuda:NUMBER", 0},
    {"threads", KEY_THREADS, "N1,N2,...", 0,
     "Strong scaling: run on the host with each of these numbers of threads", 0},

    {"fit-dt", KEY_FIT_DT, NULL, 0,
     "advection_diffusion: --dt and --steps after -- apply to the first mesh; on the others dt is "
     "proportional to the cell size, up to the same end time",
     0},

    {NULL, 0, NULL, 0, "Measurement:", 2},
    {"repeat", KEY_REPEAT, "N", 0, "Measured runs of each case (default 5)", 0},
    {"warmup", KEY_WARMUP, "N", 0, "Runs before them that are not measured (default 1)", 0},

    {NULL, 0, NULL, 0, "Results:", 3},
    {"out", KEY_OUT, "DIR", 0, "Directory of the study; an unfinished study there is continued", 0},
    {"no-plots", KEY_NO_PLOTS, NULL, 0, "Write the gnuplot script, but do not run it", 0},
    {"quiet", KEY_QUIET, NULL, 0, "Print only errors", 0},
    {"verbose", KEY_VERBOSE, NULL, 0, "Print every run", 0},
    {0}};

static const char doc[] =
    "Run an application over mesh sizes, assemblies and devices, and report times and errors."
    "\v"
    "Options after -- are passed to the application: problem, tolerance and so on. Without them it "
    "solves a problem with a known solution, so that errors and convergence orders can be "
    "reported; "
    "that of advection_diffusion is for the unit square and cube, with time steps proportional to "
    "the cell size.\n"
    "\n"
    "DIR receives study.jsonl (one line per run), results.json, results.csv, report.md, plots.gp, "
    "and "
    "plots as SVG and PNG if gnuplot is installed. The same command continues a study that was "
    "interrupted by Ctrl-C or killed.\n"
    "\n"
    "Examples:\n"
    "  scaling --sizes 16,32,64 --assembly csr,edge --out study\n"
    "  scaling --mesh part.geo --refine 0..2 --assembly csr,matrix-free --out parts \\\n"
    "          -- --source 1 --dirichlet hot=1\n"
    "  scaling --app advection_diffusion --sizes 8,16 --assembly csr --out cone\n"
    "  scaling --mesh cube --sizes 12 --assembly csr --threads 1,2 --out threads\n"
    "  weft compare before/results.json after/results.json\n"
    "\n"
    "Exit status: 0 done, 1 a case failed or did not converge (the rest is done), 2 wrong usage or "
    "input, 3 the device failed, 130 stopped by Ctrl-C.";

static weft_status add_refinement(scaling_options *o, int times, weft_error *error) {
    int *larger = reallocarray(o->refine, (size_t)o->n_refine + 1, sizeof *larger);
    if (!larger)
        return weft_out_of_memory(error, NULL);
    o->refine = larger;
    o->refine[o->n_refine++] = times;
    return WEFT_OK;
}

/* Parse "2", "0..3" or "0,2"; ascending, since orders compare successive levels */
static weft_status read_refine(scaling_options *o, const char *text, weft_error *error) {
    enum { MOST = 12 };
    weft_status status = WEFT_OK;
    scaling_list pieces = {0};
    char first[40];
    const char *dots = strstr(text, "..");
    o->n_refine = 0;
    if (dots) {
        int low = 0, high = 0;
        snprintf(first, sizeof first, "%.*s", (int)(dots - text < 39 ? dots - text : 39), text);
        TRY(app_parse_integer("--refine", first, 0, MOST, &low, error));
        TRY(app_parse_integer("--refine", dots + 2, low, MOST, &high, error));
        for (int i = low; i <= high; ++i)
            TRY(add_refinement(o, i, error));
    } else {
        TRY(scaling_list_add("--refine", text, &pieces, error));
        for (int i = 0; i < pieces.n; ++i) {
            int low = o->n_refine ? o->refine[o->n_refine - 1] + 1 : 0, times = 0;
            TRY(app_parse_integer("--refine", pieces.items[i], low, MOST, &times, error));
            TRY(add_refinement(o, times, error));
        }
    }
done:
    scaling_list_clear(&pieces);
    return status;
}

static weft_status read_numbers(const char *option, const char *text, bool whole, int most,
                                scaling_list *out, weft_error *error) {
    weft_status status = WEFT_OK;
    double number = 0;
    int integer = 0;
    TRY(scaling_list_add(option, text, out, error));
    for (int i = 0; i < out->n; ++i)
        if (whole)
            TRY(app_parse_integer(option, out->items[i], 1, most, &integer, error));
        else
            TRY(app_parse_number(option, out->items[i], 1e-300, HUGE_VAL, &number, error));
done:
    return status;
}

/* "all" (the default) leaves the list empty. The app refuses assemblies unsupported by a device. */
static weft_status read_assemblies(scaling_options *o, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_assembly assembly;
    scaling_list_clear(&o->assemblies);
    if (strcmp(text, "all") == 0)
        return WEFT_OK;
    TRY(scaling_list_add("--assembly", text, &o->assemblies, error));
    for (int i = 0; i < o->assemblies.n; ++i)
        TRY(app_parse_assembly(o->assemblies.items[i], NULL, NULL, &assembly, error));
done:
    return status;
}

static weft_status read_app(scaling_options *o, const char *text, weft_error *error) {
    const char *names[4];
    int n = scaling_app_names(names);
    return app_parse_choice("--app", text, names, n, &o->app, error);
}

static weft_status read_option(void *user, int key, const char *text, weft_error *error) {
    scaling_options *o = user;
    switch (key) {
    case KEY_APP:
        return read_app(o, text, error);
    case KEY_MESH:
        return scaling_list_append(&o->meshes, text, error);
    case KEY_SIZES:
        return read_numbers("--sizes", text, false, 0, &o->sizes, error);
    case KEY_REFINE:
        return read_refine(o, text, error);
    case KEY_ASSEMBLY:
        return read_assemblies(o, text, error);
    case KEY_DEVICE:
        return scaling_list_add("--device", text, &o->devices, error);
    case KEY_THREADS:
        return read_numbers("--threads", text, true, 4096, &o->threads, error);
    case KEY_REPEAT:
        return app_parse_integer("--repeat", text, 1, 1000, &o->repeat, error);
    case KEY_WARMUP:
        return app_parse_integer("--warmup", text, 0, 1000, &o->warmup, error);
    case KEY_OUT:
        o->out = text;
        return WEFT_OK;
    case KEY_FIT_DT:
        o->fit_dt = true;
        return WEFT_OK;
    case APP_KEY_MESH_MEMORY:
    case APP_KEY_MESH_TIME:
    case APP_KEY_TRUST_GEO:
        return app_mesh_option_read(&o->reading, key, text, error);
    case KEY_NO_PLOTS:
        o->no_plots = true;
        return WEFT_OK;
    case KEY_QUIET:
        o->verbosity = APP_QUIET;
        return WEFT_OK;
    case KEY_VERBOSE:
        o->verbosity = APP_VERBOSE;
        return WEFT_OK;
    default:
        weft_error_set(error, WEFT_ERROR_USAGE, "unexpected argument '%.200s'", text);
        weft_error_hint(error, "what is for the app stands behind --");
        return WEFT_ERROR_USAGE;
    }
}

/* Refuse app options that the study sets itself, or that would write files. */
static weft_status check_arguments(const scaling_options *o, weft_error *error) {
    static const char *const ours[] = {"--mesh",   "-m",     "--size",    "--refine", "--assembly",
                                       "--device", "--json", "--output",  "-o",       "--quiet",
                                       "-q",       "--help", "--version", "-v",       "--verbose"};
    for (int i = 0; i < o->n_arguments; ++i)
        for (size_t k = 0; k < sizeof ours / sizeof *ours; ++k) {
            size_t length = strlen(ours[k]);
            const char *rest = o->arguments[i] + length;
            if (strncmp(o->arguments[i], ours[k], length) != 0 || (*rest && *rest != '='))
                continue;
            weft_error_set(error, WEFT_ERROR_USAGE,
                           "%s cannot be given to the application after --", ours[k]);
            weft_error_hint(error,
                            "the study sets it for each run; --help shows the options of scaling");
            return WEFT_ERROR_USAGE;
        }
    return WEFT_OK;
}

static weft_status check(const scaling_options *o, weft_error *error) {
    weft_status status = check_arguments(o, error);
    if (status == WEFT_OK && !o->out) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "no folder is given");
        weft_error_hint(error, "add --out DIR: a new folder, or that of a study to go on with");
    } else if (status == WEFT_OK && !o->out[0]) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "the folder's name is empty");
        weft_error_hint(error, "write --out DIR");
    }
    return status;
}

static weft_status set_defaults(scaling_options *o, weft_error *error) {
    weft_status status = WEFT_OK;
    if (o->meshes.n == 0)
        TRY(scaling_list_append(&o->meshes, "square", error));
    for (int i = 0, all = o->assemblies.n == 0; all && i < weft_assembly_count(); ++i)
        TRY(scaling_list_append(&o->assemblies, weft_assembly_name((weft_assembly)i), error));
    if (o->devices.n == 0)
        TRY(scaling_list_append(&o->devices, "host", error));
    if (o->n_refine == 0)
        TRY(add_refinement(o, 0, error));
done:
    return status;
}

weft_status scaling_options_read(int argc, char **argv, scaling_options *out, weft_error *error) {
    weft_status status = WEFT_OK;
    int own = 1;
    *out = (scaling_options){.repeat = 5, .warmup = 1};
    while (own < argc && strcmp(argv[own], "--") != 0)
        ++own;
    out->n_arguments = own < argc ? argc - own - 1 : 0;
    out->arguments = argv + argc - out->n_arguments;
    const struct argp argp = {
        .options = options_table, .args_doc = "-- OPTION OF THE APP...", .doc = doc};
    TRY(app_options_parse(&argp, own, argv, read_option, out, error));
    TRY(check(out, error));
    TRY(set_defaults(out, error));
done:
    if (status != WEFT_OK)
        scaling_options_clear(out);
    return status;
}

void scaling_options_clear(scaling_options *options) {
    scaling_list_clear(&options->meshes);
    scaling_list_clear(&options->sizes);
    scaling_list_clear(&options->assemblies);
    scaling_list_clear(&options->devices);
    scaling_list_clear(&options->threads);
    free(options->refine);
    options->refine = NULL;
    options->n_refine = 0;
}
