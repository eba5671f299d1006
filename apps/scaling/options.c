/* Reads the command line of scaling. */
#include "apps/common/fem.h"
#include "apps/scaling/scaling.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parse "2", "0..3" or "0,2"; ascending, since orders compare successive levels */
static weft_status read_refine(const app_option *row, const char *option, const char *text,
                               void *at, weft_error *error) {
    enum { MOST = 12 };
    scaling_options *o = at;
    (void)row;
    weft_status status = WEFT_OK;
    scaling_list pieces = {0};
    char first[40];
    const char *dots = strstr(text, "..");
    o->n_refine = 0;
    if (dots) {
        int low = 0, high = 0;
        snprintf(first, sizeof first, "%.*s", (int)(dots - text < 39 ? dots - text : 39), text);
        TRY(app_parse_integer(option, first, 0, MOST, &low, error));
        TRY(app_parse_integer(option, dots + 2, low, MOST, &high, error));
        for (int i = low; i <= high; ++i)
            TRY(APP_APPEND(o->refine, o->n_refine, i, error));
    } else {
        TRY(scaling_list_add(option, text, &pieces, error));
        for (int i = 0; i < pieces.n; ++i) {
            int low = o->n_refine ? o->refine[o->n_refine - 1] + 1 : 0, times = 0;
            TRY(app_parse_integer(option, pieces.items[i], low, MOST, &times, error));
            TRY(APP_APPEND(o->refine, o->n_refine, times, error));
        }
    }
done:
    scaling_list_clear(&pieces);
    return status;
}

/* A list of integers from 1 to `high`, or if that is 0 of positive numbers. */
static weft_status read_numbers(const app_option *row, const char *option, const char *text,
                                void *at, weft_error *error) {
    weft_status status = WEFT_OK;
    scaling_list *list = at;
    double number = 0;
    TRY(scaling_list_add(option, text, list, error));
    for (int i = 0; i < list->n; ++i) {
        int integer = 0;
        TRY(row->high > 0
                ? app_parse_integer(option, list->items[i], 1, (int)row->high, &integer, error)
                : app_parse_number(option, list->items[i], 1e-300, HUGE_VAL, &number, error));
    }
done:
    return status;
}

/* "all" (the default) leaves the list empty. The app refuses assemblies unsupported by a device. */
static weft_status read_assemblies(const app_option *row, const char *option, const char *text,
                                   void *at, weft_error *error) {
    weft_status status = WEFT_OK;
    scaling_list *list = at;
    (void)row;
    weft_assembly assembly;
    scaling_list_clear(list);
    if (strcmp(text, "all") == 0)
        goto done;
    TRY(scaling_list_add(option, text, list, error));
    for (int i = 0; i < list->n; ++i)
        TRY(app_parse_assembly(list->items[i], NULL, NULL, &assembly, error));
done:
    return status;
}

static weft_status read_preconditioners(const app_option *row, const char *option, const char *text,
                                        void *at, weft_error *error) {
    weft_status status = WEFT_OK;
    scaling_list *list = at;
    int choice = 0;
    (void)row;
    TRY(scaling_list_add(option, text, list, error));
    for (int i = 0; i < list->n; ++i)
        TRY(app_parse_preconditioner(option, list->items[i], &choice, error));
done:
    return status;
}

static weft_status read_app(const app_option *row, const char *option, const char *text, void *at,
                            weft_error *error) {
    const char *names[4];
    (void)row;
    return app_parse_choice(option, text, names, scaling_app_names(names), at, error);
}

static weft_status read_mesh(const app_option *row, const char *option, const char *text, void *at,
                             weft_error *error) {
    (void)row, (void)option;
    return scaling_list_append(at, text, error);
}

static weft_status read_devices(const app_option *row, const char *option, const char *text,
                                void *at, weft_error *error) {
    (void)row;
    return scaling_list_add(option, text, at, error);
}

static weft_status read_folder(const app_option *row, const char *option, const char *text,
                               void *at, weft_error *error) {
    (void)row, (void)option, (void)error;
    *(const char **)at = text;
    return WEFT_OK;
}

static weft_status refuse_argument(void *user, const char *text, weft_error *error) {
    (void)user;
    weft_error_set(error, WEFT_ERROR_USAGE, "unexpected argument '%.200s'", text);
    weft_error_hint(error, "put the options of the app behind --");
    return WEFT_ERROR_USAGE;
}

static const app_option case_options[] = {
    {.help = "Cases:"},
    {"app", "NAME", "poisson (default) or advection_diffusion",
     APP_BY(read_app, scaling_options, app)},
    {"mesh", "MESH",
     "square (default), cube, square:N, cube:N or a file, as for the application; repeatable, for "
     "meshes of one domain from coarse to fine",
     'm', APP_BY(read_mesh, scaling_options, meshes)},
    {"sizes", "N1,N2,...", "Cells per side of square and cube; mesh sizes of FILE.geo, in its unit",
     APP_BY(read_numbers, scaling_options, sizes)},
    {"refine", "L|A..B|LIST",
     "Refine every mesh by halving its edges this often: 2, or 0..3, or 0,2", .read = read_refine},
    {"assembly", "all|LIST",
     "all (default; csr with --preconditioner), or a list with commas: {assembly names}",
     APP_BY(read_assemblies, scaling_options, assemblies)},
    {"preconditioner", "LIST",
     "poisson: preconditioners to compare, a list with commas (default: jacobi alone), as for the "
     "application",
     APP_BY(read_preconditioners, scaling_options, preconditioners)},
    {"device", "LIST",
     "host (default), host:THREADS, host:THREADS:SET, cuda, cuda:NUMBER, or auto: a GPU if "
     "there is one, for runs of every size",
     APP_BY(read_devices, scaling_options, devices)},
    {"threads", "N1,N2,...",
     "Strong scaling: run on the host with each of these numbers of threads",
     APP_BY(read_numbers, scaling_options, threads), .high = 4096},
    {"fit-dt", NULL,
     "advection_diffusion: --dt and --steps after -- apply to the first mesh; on the others dt is "
     "proportional to the cell size, up to the same end time",
     APP_FLAG(scaling_options, fit_dt, true)},
    {0}};

static const app_option measurement_options[] = {
    {.help = "Measurement:"},
    {"repeat", "N", "Measured runs of each case (default 5)",
     APP_INTEGER(scaling_options, repeat, 1, 1000)},
    {"warmup", "N", "Runs before them that are not measured (default 1)",
     APP_INTEGER(scaling_options, warmup, 0, 1000)},

    {.help = "Results:"},
    {"out", "DIR", "Directory of the study; an unfinished study there is continued", 'o',
     APP_BY(read_folder, scaling_options, out)},
    {"no-plots", NULL, "Write the gnuplot script, but do not run it",
     APP_FLAG(scaling_options, no_plots, true)},
    {"quiet", NULL, "Print only errors", 'q', APP_FLAG(scaling_options, verbosity, APP_QUIET)},
    {"verbose", NULL, "Print every run", 'v', APP_FLAG(scaling_options, verbosity, APP_VERBOSE)},
    {0}};

static const char doc[] =
    "Run an application over mesh sizes, assemblies and devices, and report times and errors."
    "\v"
    "Options after -- are passed to the application: problem, tolerance and so on. Without them it "
    "solves a problem with a known solution, so that errors and convergence orders can be "
    "reported; that of advection_diffusion is for the unit square and cube, with time steps "
    "proportional to the cell size.\n"
    "\n"
    "DIR receives study.jsonl (one line per run), results.json, results.csv, report.md, plots.gp, "
    "and plots as SVG and PNG if gnuplot is installed. The same command continues a study that was "
    "interrupted by Ctrl-C or killed.\n"
    "\n"
    "Examples:\n"
    "  scaling --sizes 16,32,64 --assembly csr,edge --out study\n"
    "  scaling --mesh part.geo --refine 0..2 --assembly csr,matrix-free --out parts \\\n"
    "          -- --source 1 --dirichlet hot=1\n"
    "  scaling --app advection_diffusion --sizes 8,16 --assembly csr --out cone\n"
    "  scaling --mesh cube --sizes 12 --assembly csr --threads 1,2 --out threads\n"
    "  scaling --mesh square:8 --refine 0..5 --preconditioner multigrid,jacobi --out flat\n"
    "  weft compare before/results.json after/results.json\n"
    "\n"
    "Exit status: 0 done, 1 a case failed or did not converge (the rest is done), 2 wrong usage or "
    "input, 3 the device failed, 130 stopped by Ctrl-C.";

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
        weft_error_hint(error, "add --out DIR: a new folder, or that of a study to continue");
    } else if (status == WEFT_OK && !o->out[0]) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "the folder's name is empty");
        weft_error_hint(error, "write --out DIR");
    }
    if (status == WEFT_OK && o->preconditioners.n > 0 && !scaling_app_at(o->app)->default_solver) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "%s has no option --preconditioner",
                                scaling_app_at(o->app)->name);
        weft_error_hint(error, "leave --preconditioner out, or take --app poisson");
    }
    return status;
}

static weft_status set_defaults(scaling_options *o, weft_error *error) {
    weft_status status = WEFT_OK;
    if (o->meshes.n == 0)
        TRY(scaling_list_append(&o->meshes, "square", error));
    if (o->assemblies.n == 0 && o->preconditioners.n > 0) /* whose matrix they need */
        TRY(scaling_list_append(&o->assemblies, weft_assembly_name(WEFT_ASSEMBLY_CSR), error));
    for (int i = 0, all = o->assemblies.n == 0; all && i < weft_assembly_count(); ++i)
        TRY(scaling_list_append(&o->assemblies, weft_assembly_name((weft_assembly)i), error));
    if (o->devices.n == 0)
        TRY(scaling_list_append(&o->devices, "host", error));
    if (o->n_refine == 0)
        TRY(APP_APPEND(o->refine, o->n_refine, 0, error));
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
    const app_command_line line = {.arguments = "-- OPTION OF THE APP...",
                                   .doc = doc,
                                   .tables = {{case_options, out},
                                              {app_reading_options, &out->reading},
                                              {measurement_options, out}},
                                   .argument = refuse_argument};
    TRY(app_command_line_read(&line, own, argv, error));
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
    scaling_list_clear(&options->preconditioners);
    scaling_list_clear(&options->threads);
    free(options->refine);
    options->refine = NULL;
    options->n_refine = 0;
}
