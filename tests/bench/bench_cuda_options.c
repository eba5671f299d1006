#include "apps/common/support.h"
#include "bench_cuda.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_DEVICE = 256,
    KEY_TILES,
    KEY_WRITE_TILES,
    KEY_CELLS,
    KEY_SHAPES,
    KEY_WHAT,
    KEY_PRECISION,
    KEY_ASSEMBLIES,
    KEY_REPEAT,
    KEY_JSON,
    KEY_QUICK,
    KEY_TARGETS,
    KEY_SOLVE_LARGE
};

static const struct argp_option entries[] = {
    {"cells", KEY_CELLS, "N,...", 0, "Sizes (default: 1e4 to 1e8 and those of --targets)", 0},
    {"targets", KEY_TARGETS, NULL, 0, "Only the sizes of the table of targets", 0},
    {"quick", KEY_QUICK, NULL, 0, "Under a minute on a GPU: 1e4, 1e6 cells", 0},
    {"shapes", KEY_SHAPES, "triangles,tetrahedra", 0, "One or both (default)", 0},
    {"what", KEY_WHAT, "local,addto,apply,cg,shuffle", 0, "What to measure (default: all)", 0},
    {"precision", KEY_PRECISION, "double,float", 0, "One or both (default)", 0},
    {"assemblies", KEY_ASSEMBLIES, "NAME,...", 0, "Operators (default: every one)", 0},
    {"repeat", KEY_REPEAT, "N", 0, "Medians of N measurements (default: 11)", 0},
    {"device", KEY_DEVICE, "NAME", 0, "cuda (default); host; null:h200 measures nothing", 0},
    {"tiles", KEY_TILES, "DIR", 0, "Directory of meshed tiles, for a machine without Gmsh", 0},
    {"write-tiles", KEY_WRITE_TILES, "DIR", 0, "Mesh the tiles, write them to DIR, and exit", 0},
    {"solve-large", KEY_SOLVE_LARGE, NULL, 0,
     "Solve one Poisson problem (1e8 tetrahedra, or --cells), and print only the time of each "
     "phase",
     0},
    {"json", KEY_JSON, "FILE", 0, "Every row as JSON", 0},
    {0}};

static weft_status parse_words(const char *option, char *text, const char *const *names, int n,
                               unsigned *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char *rest = NULL;
    *out = 0;
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        int which = 0;
        TRY(app_parse_choice(option, word, names, n, &which, error));
        *out |= 1u << which;
    }
done:
    return status;
}

static weft_status parse_cells(bench_options *options, char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    char *rest = NULL;
    options->n_cells = 0;
    options->asked_cells = true;
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (options->n_cells == BENCH_SIZES_MAX)
            return weft_error_set(error, WEFT_ERROR_USAGE, "--cells: more than %d sizes",
                                  BENCH_SIZES_MAX);
        TRY(app_parse_number("--cells", word, 100, 2e9, &options->cells[options->n_cells], error));
        options->n_cells += 1;
    }
done:
    return status;
}

static weft_status parse_assemblies(bench_options *options, char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    char *rest = NULL;
    options->n_assemblies = 0;
    options->asked_assemblies = true;
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (options->n_assemblies == BENCH_ASSEMBLIES_MAX)
            return weft_error_set(error, WEFT_ERROR_USAGE, "--assemblies: too many");
        TRY(weft_assembly_find(word, &options->assemblies[options->n_assemblies], error));
        options->n_assemblies += 1;
    }
done:
    return status;
}

static weft_status parse_words_of(bench_options *options, int key, char *text, weft_error *error) {
    static const char *const shapes[] = {"triangles", "tetrahedra"};
    static const char *const precisions[] = {"double", "float"};
    static const char *const works[] = {"local", "addto", "apply", "cg", "shuffle"};
    weft_status status = WEFT_OK;
    unsigned bits = 0;
    if (key == KEY_SHAPES) {
        TRY(parse_words("--shapes", text, shapes, 2, &bits, error));
        options->shapes[2] = bits & 1;
        options->shapes[3] = bits & 2;
    } else if (key == KEY_PRECISION) {
        TRY(parse_words("--precision", text, precisions, 2, &bits, error));
        options->precisions[0] = bits & 1;
        options->precisions[1] = bits & 2;
    } else {
        TRY(parse_words("--what", text, works, 5, &options->works, error));
    }
done:
    return status;
}

typedef struct parse_state {
    bench_options *options;
    weft_error *error;
    weft_status status;
} parse_state;

static error_t take(int key, char *text, struct argp_state *state) {
    parse_state *parse = state->input;
    bench_options *options = parse->options;
    if (parse->status != WEFT_OK)
        return 0;
    switch (key) {
    case KEY_CELLS:
        parse->status = parse_cells(options, text, parse->error);
        return 0;
    case KEY_SHAPES:
    case KEY_WHAT:
    case KEY_PRECISION:
        parse->status = parse_words_of(options, key, text, parse->error);
        return 0;
    case KEY_ASSEMBLIES:
        parse->status = parse_assemblies(options, text, parse->error);
        return 0;
    case KEY_REPEAT:
        parse->status = app_parse_integer("--repeat", text, 1, 99, &options->repeats, parse->error);
        return 0;
    case KEY_DEVICE:
        options->device = text;
        return 0;
    case KEY_TILES:
        options->tiles = text;
        return 0;
    case KEY_WRITE_TILES:
        options->write_tiles = text;
        return 0;
    case KEY_JSON:
        options->json = text;
        return 0;
    case KEY_QUICK:
        options->quick = true;
        return 0;
    case KEY_SOLVE_LARGE:
        options->solve_large = true;
        return 0;
    case KEY_TARGETS:
        options->targets = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char about[] =
    "Measure Weft on a GPU, next to cuSPARSE, cuBLAS and the copy bandwidth of the same run; every "
    "product is compared with the host's. Exit status: 0 done, 1 a result is WRONG, 2 wrong usage, "
    "3 the machine failed, 77 no GPU.\v";

/* argp's name for what --version prints. */
const char *argp_program_version = "bench_cuda (Weft) " WEFT_VERSION;

/* The help text is put together from constants, once, before argp shows it. */
static weft_status parse(int argc, char **argv, parse_state *state) {
    weft_status status = WEFT_OK;
    weft_text help = {0};
    weft_text_add(&help, "%s%s\nassemblies:", about, bench_bytes_text);
    weft_assembly all[BENCH_ASSEMBLIES_MAX];
    const int n = bench_assemblies(all);
    for (int i = 0; i < n; ++i)
        weft_text_add(&help, " %s", weft_assembly_name(all[i]));
    if (help.failed)
        return weft_error_set(state->error, WEFT_ERROR_MEMORY, "out of memory");
    const struct argp argp = {.options = entries, .parser = take, .doc = help.data};
    if (argp_parse(&argp, argc, argv, 0, NULL, state) != 0)
        status = weft_error_set(state->error, WEFT_ERROR_USAGE, "see bench_cuda --help");
    weft_text_free(&help);
    return status == WEFT_OK ? state->status : status;
}

int bench_assemblies(weft_assembly *out) {
    /* what has been thought of; what this build knows of it */
    static const char *const names[] = {"lma",  "lma-gather", "csr",  "matrix-free",
                                        "edge", "sell",       "star", "patch"};
    int n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        n += weft_assembly_find(names[i], &out[n], NULL) == WEFT_OK;
    return n;
}

weft_status bench_options_parse(int argc, char **argv, bench_options *out, weft_error *error) {
    static const double decades[] = {1e4, 1e5, 1e6, 1e7, 1e8};
    static const double quick[] = {1e4, 1e6};
    weft_status status = WEFT_OK;
    *out = (bench_options){.device = "cuda",
                           .shapes = {false, false, true, true},
                           .precisions = {true, true},
                           .works = 31,
                           .repeats = 11};
    out->n_assemblies = bench_assemblies(out->assemblies);
    TRY(app_options_check(entries, argc, argv, error));
    TRY(parse(argc, argv, &(parse_state){out, error, WEFT_OK}));
    if (out->n_cells == 0 && out->quick) {
        memcpy(out->cells, quick, sizeof quick);
        out->n_cells = 2;
    } else if (out->n_cells == 0 && !out->targets) {
        memcpy(out->cells, decades, sizeof decades);
        out->n_cells = 5;
        out->targets = true;
    }
done:
    return status;
}
