/* How good is the first plan after a calibration of a minute? Every script that is shipped, and scripts of the random generator
 * that no term was fitted to: the time of the plan that is predicted best over that of the fastest measured, and the rank
 * correlation of predicted and measured times.
 *
 *      bench_predictions [--device D] [--seconds S] [--held-out N] [--elements N] [--limit S] [--scripts TEXT,...] [--covers FILE] [--replay FILE]
 *
 * default auto, 60 seconds of calibration into memory (the tuning database is not used; 0: the model of the device alone),
 * 20 random scripts, of each script as many elements as move four times the last-level cache, and no new
 * script from 280 seconds on. TEXT: part of the names of the scripts. --covers: a line for each plan, "precision, script, elements, predicted
 * and measured seconds, cover". --replay: predicts the plans of such a file again and compares them with the times there, as
 * for a change of the model on a machine without that device (--device null:h200); "?": its first plan is not in the file. Scripts that cannot be measured alone are counted with the reason of the last of them: loops,
 * operators, names that programs define. A plan is measured with data of the tuner; of each script the eight plans that are
 * predicted best and eight others. The slides' scripts have one or two plans each, so that their correlation is that of all
 * seven reductions, and of all three transpositions. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/base/array.h"
#include "fusion/compile/compile.h"
#include "fusion/cost/measured.h"
#include "fusion/tune/tune.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "random_natives.h"
#include "random_script.h"

#include <dirent.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 8, OTHERS = 8, MOST_PLANS = 64, POOL = 1024, FILES = 256 };
#define NEAR 1.05
#define RANKED 5 /* plans of a script whose ranks are compared, at least */

/* Predicted and measured times whose ranks are compared together. */
typedef struct pool {
    const char *name;
    double predicted[POOL], measured[POOL];
    int n;
} pool;

typedef struct bench {
    weft_device *device;
    weft_library *library;
    weft_tuning *tuning;
    weft_measured_costs *costs;
    weft_cost_source source;
    weft_arena *arena;
    bool single;
    double seconds, end; /* end: of weft_clock, for the current precision */
    int held_out;
    int64_t elements;
    const char *scripts; /* parts of their names; NULL: all */
    FILE *covers;        /* or NULL */
    char *replay;        /* contents of such a file, or NULL */
    int n, near, n_held, near_held, n_chosen, near_chosen, skipped; /* chosen: of several plans */
    double worst;
    char worst_name[64], reason[200];
    pool pools[2]; /* of the current precision */
    double least_ranks;
    char least_name[64];
} bench;

/* ---- calibration ---- */

static weft_status collect(bench *b, weft_cost_primitive_set *set, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int single = 0; single < 2; ++single)
        TRY(weft_cost_primitive_set_library(set, b->library, weft_device_limits(b->device), single,
                                            NULL, 0, error));
done:
    return status;
}

static weft_status calibrate(bench *b, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cost_primitive_set set = {.arena = b->arena};
    const weft_limits *limits = weft_device_limits(b->device);
    const weft_calibration_options how = {.size = sizeof how, .seconds = b->seconds};
    weft_calibration_result result = {0};
    char identity[33];
    TRY(collect(b, &set, error));
    TRY(weft_calibrate(b->device, b->library, &set, b->tuning, &how, &result, error));
    printf("%s: %lld of %lld points of %d primitives in %.0f s\n", limits->name,
           (long long)result.n_measured, (long long)result.n_points, set.n, result.seconds);
    weft_device_identity(b->device, identity);
    TRY(weft_measured_costs_make(b->tuning, identity, limits, &b->costs, error));
    b->source = weft_measured_costs_source(b->costs);
done:
    return status;
}

/* ---- one script ---- */

static double correlation_of(const double *predicted, const double *measured, int n) {
    return n >= RANKED ? weft_rank_correlation(predicted, measured, n) : NAN;
}

static void take_least(bench *b, const char *name, double correlation) {
    if (isnan(correlation) || correlation >= b->least_ranks)
        return;
    b->least_ranks = correlation;
    snprintf(b->least_name, sizeof b->least_name, "%.50s, %s", name,
             b->single ? "float" : "double");
}

static void take(bench *b, const char *name, bool held, int64_t elements,
                 const weft_search_result *result) {
    double predicted[MOST_PLANS], measured[MOST_PLANS];
    const double best = result->candidates[result->best].measured;
    const double first = result->candidates[0].measured / best;
    pool *own = strncmp(name, "reduction_", 10) == 0   ? &b->pools[0]
                : strncmp(name, "transpose_", 10) == 0 ? &b->pools[1]
                                                       : NULL;
    for (int k = 0; k < result->n_measured && k < MOST_PLANS; ++k) {
        predicted[k] = result->candidates[k].predicted;
        measured[k] = result->candidates[k].measured;
        if (b->covers)
            fprintf(b->covers, "%s\t%s\t%lld\t%.4g\t%.4g\t%s", b->single ? "float" : "double", name,
                    (long long)elements, predicted[k], measured[k], result->candidates[k].cover);
        if (own && own->n < POOL) {
            own->predicted[own->n] = predicted[k];
            own->measured[own->n++] = measured[k];
        }
    }
    const double correlation = correlation_of(predicted, measured, result->n_measured);
    printf("%-6s %-34.34s %9lld %4d %10.1f %7.3f %8.2f\n", b->single ? "float" : "double", name,
           (long long)elements, result->n_measured, 1e6 * best, first, correlation);
    fflush(stdout);
    if (strncmp(name, "listing_1", 9) == 0)
        take_least(b, "Listing 1", correlation);
    b->n += !held;
    b->near += !held && first <= NEAR;
    b->n_held += held;
    b->near_held += held && first <= NEAR;
    b->n_chosen += result->n_measured > 1;
    b->near_chosen += result->n_measured > 1 && first <= NEAR;
    if (first > b->worst) {
        b->worst = first;
        snprintf(b->worst_name, sizeof b->worst_name, "%.50s, %s", name,
                 b->single ? "float" : "double");
    }
}

static int by_prediction(const void *a, const void *b) {
    const double x = ((const weft_search_candidate *)a)->predicted;
    const double y = ((const weft_search_candidate *)b)->predicted;
    return (x > y) - (x < y);
}

static weft_status predict_cover(const bench *b, const weft_search_script *script,
                                 const char *cover, int64_t elements, weft_search_candidate *out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compile_options options = *script->options;
    weft_compilation *compilation = NULL;
    weft_text text = {0};
    options.cover = cover;
    options.elements = elements;
    TRY(weft_compile(b->library, weft_device_limits(b->device), script->fragments,
                     script->n_fragments, &options, &compilation, error));
    const weft_segment *segment = weft_compilation_only(compilation);
    if (!segment)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "no single segment"));
    TRY(weft_compilation_cover(compilation, &text, error));
    out->predicted = segment->cover->seconds;
    out->cover = weft_arena_copy(b->arena, text.data, text.length);
done:
    weft_text_free(&text);
    weft_compilation_free(&compilation);
    return status;
}

/* The plans of this script in the file, in the order of their predictions now. */
static weft_status replay(const bench *b, const char *name, const weft_search_script *script,
                          weft_search_result *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_search_candidate first = {0};
    bool known = false;
    TRY(WEFT_ALLOC(b->arena, out->candidates, MOST_PLANS, error));
    for (char *line = b->replay; *line && out->n_measured < MOST_PLANS;) {
        char precision[8], of[64], cover[4000];
        double predicted, measured;
        long long elements;
        const size_t length = strcspn(line, "\n");
        const int n = sscanf(line, "%7[^\t]\t%63[^\t]\t%lld\t%lg\t%lg\t%3999[^\n]", precision, of,
                             &elements, &predicted, &measured, cover);
        line += length + (line[length] == '\n');
        if (n != 6 || strcmp(of, name) != 0 || (strcmp(precision, "float") == 0) != b->single)
            continue;
        weft_search_candidate *one = &out->candidates[out->n_measured++];
        if (!first.cover)
            TRY(predict_cover(b, script, NULL, elements, &first, error));
        TRY(predict_cover(b, script, cover, elements, one, error));
        one->measured = measured;
        known |= strcmp(one->cover, first.cover) == 0;
    }
    qsort(out->candidates, (size_t)out->n_measured, sizeof *out->candidates, by_prediction);
    for (int k = 0; k < out->n_measured; ++k)
        if (out->candidates[k].measured < out->candidates[out->best].measured)
            out->best = k;
    if (!known && out->n_measured > 0)
        printf("? %s", first.cover);
done:
    return status;
}

static bool asked_for(const bench *b, const char *name) {
    const char *at = b->scripts;
    while (at && *at) {
        const size_t length = strcspn(at, ",");
        if (memmem(name, strlen(name), at, length))
            return true;
        at += length + (at[length] == ',');
    }
    return !b->scripts;
}

/* A script in one precision. *measured: it could be. */
static weft_status run(bench *b, const char *name, bool held, const weft_fragment *fragments, int n,
                       const weft_parameter *parameter, bool *measured, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_search_result result = {0};
    int64_t elements = b->elements;
    weft_compile_options options = {.size = sizeof options,
                                    .single = b->single,
                                    .parameters = parameter,
                                    .n_parameters = parameter != NULL,
                                    .costs = b->costs ? &b->source : NULL};
    const weft_search_script script = {b->library, fragments, n, &options};
    if (!asked_for(b, name))
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "not asked for");
    if (weft_clock() > b->end)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "the time is over");
    if (elements <= 0)
        TRY(weft_search_elements(&script, weft_device_limits(b->device), &elements, error));
    options.elements = elements;
    const weft_search_options how = {.size = sizeof how,
                                     .most = FIRST,
                                     .spread = OTHERS,
                                     .all = true,
                                     .confirm = true,
                                     .elements = elements};
    if (b->replay)
        TRY(replay(b, name, &script, &result, error));
    else
        TRY(weft_search_covers(b->device, &script, &how, b->arena, &result, error));
    *measured = result.n_measured > 0;
    if (*measured)
        take(b, name, held, elements, &result);
done:
    return status;
}

/* ---- scripts ---- */

static void skip(bench *b, const char *name, const weft_error *error) {
    ++b->skipped;
    snprintf(b->reason, sizeof b->reason, "%.40s: %.150s", name, error->message);
}

/* As it is, or put together as programs do. */
static void run_shipped(bench *b, const char *name, const char *text) {
    static const weft_parameter dimension = {"d", 3}, width = {"width", 4};
    static const struct {
        const char *before;
        const weft_parameter *parameter;
    } ways[] = {
        {NULL, NULL}, {NULL, &dimension}, {"poisson.weft", &dimension}, {"local.weft", &width}};
    weft_error error = {0}, first = {0};
    bool measured = false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !measured; ++i) {
        weft_fragment fragments[2];
        int n = 0;
        if (ways[i].before)
            fragments[n++] = (weft_fragment){ways[i].before, weft_fem_script(ways[i].before)};
        fragments[n++] = (weft_fragment){name, text};
        error = (weft_error){0};
        (void)run(b, name, false, fragments, n, ways[i].parameter, &measured, &error);
        if (i == 0)
            first = error;
    }
    if (!measured)
        skip(b, name, &first);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static weft_status run_folder(bench *b, const char *folder, weft_error *error) {
    weft_status status = WEFT_OK;
    char path[1200], *names[FILES];
    int n = 0;
    snprintf(path, sizeof path, "%s/%s", WEFT_SOURCE_DIR, folder);
    DIR *open = opendir(path);
    if (!open)
        return weft_error_set(error, WEFT_ERROR_IO, "cannot read %s", path);
    for (struct dirent *one = readdir(open); one && n < FILES; one = readdir(open)) {
        const size_t length = strlen(one->d_name);
        if (length > 5 && strcmp(one->d_name + length - 5, ".weft") == 0)
            names[n++] = strdup(one->d_name);
    }
    closedir(open);
    qsort(names, (size_t)n, sizeof *names, by_name);
    for (int i = 0; i < n; ++i) {
        char *text = NULL;
        size_t length = 0;
        snprintf(path, sizeof path, "%s/%s/%s", WEFT_SOURCE_DIR, folder, names[i]);
        if (status == WEFT_OK)
            status = weft_file_read(path, &text, &length, error);
        if (status == WEFT_OK)
            run_shipped(b, names[i], text);
        free(text);
        free(names[i]);
    }
    return status;
}

static weft_status run_held_out(bench *b, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int seed = 1; seed <= b->held_out; ++seed) {
        char name[32];
        bool measured = false;
        weft_error why = {0};
        weft_text text = {0}, functions = {0};
        random_script *script = random_script_make((uint64_t)(900000 + seed));
        random_script_print(script, RANDOM_UNDIRECTED, &text);
        random_script_print_functions(script, &functions);
        if (functions.length > 0)
            status = weft_library_add_text(b->library, "random.kernel.c", functions.data, error);
        snprintf(name, sizeof name, "random %d", 900000 + seed);
        const weft_fragment one = {name, text.data};
        if (status == WEFT_OK && run(b, name, true, &one, 1, NULL, &measured, &why) != WEFT_OK)
            skip(b, name, &why);
        weft_text_free(&text);
        weft_text_free(&functions);
        random_script_free(&script);
    }
    return status;
}

static weft_status run_precision(bench *b, weft_error *error) {
    static const char *const folders[] = {"apps/check", "docs/examples/slides",
                                          "docs/examples/blas", "docs/examples", "fem/scripts"};
    weft_status status = WEFT_OK;
    b->pools[0] = (pool){.name = "the slides' reductions"};
    b->pools[1] = (pool){.name = "the slides' transpositions"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i)
        TRY(run_folder(b, folders[i], error));
    TRY(run_held_out(b, error));
    TRY(run_folder(b, "docs/examples/dense", error)); /* compile for long */
    for (int k = 0; k < 2; ++k) {
        const pool *own = &b->pools[k];
        const double correlation = correlation_of(own->predicted, own->measured, own->n);
        printf("%-6s rank correlation of %s: %.2f (%d plans)\n", b->single ? "float" : "double",
               own->name, correlation, own->n);
        take_least(b, own->name, correlation);
    }
done:
    return status;
}

static void print_summary(const bench *b) {
    const int n = b->n + b->n_held;
    printf("first plan within 5 %% of the best: %d of %d scripts (%.1f %%; asked: 95), of %d "
           "held-out ones %d\n",
           b->near + b->near_held, n, n > 0 ? 100.0 * (b->near + b->near_held) / n : 0, b->n_held,
           b->near_held);
    printf("of %d scripts with several plans: %d\n", b->n_chosen, b->near_chosen);
    printf("worst first plan: %.2f times the best (%s)\n", b->worst, b->worst_name);
    printf("least rank correlation of Listing 1 and the slides: %.2f (%s; asked: 0.9)\n",
           b->least_ranks, b->least_name);
    if (b->skipped > 0)
        printf("%d scripts were not measured, the last: %s\n", b->skipped, b->reason);
}

static void usage(void) {
    fprintf(stderr,
            "usage: bench_predictions [--device D] [--seconds S] [--held-out N] "
            "[--elements N] [--limit S] [--scripts TEXT,...] [--covers FILE] [--replay FILE]\n");
    exit(2);
}

static void read_options(bench *b, const char **device, double *limit, int argc, char **argv) {
    static const struct option options[] = {
        {"device", 1, NULL, 'd'},   {"seconds", 1, NULL, 's'}, {"held-out", 1, NULL, 'h'},
        {"elements", 1, NULL, 'e'}, {"limit", 1, NULL, 'l'},   {"scripts", 1, NULL, 'n'},
        {"covers", 1, NULL, 'c'},   {"replay", 1, NULL, 'r'},  {0}};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'd')
            *device = optarg;
        else if (c == 's')
            b->seconds = atof(optarg);
        else if (c == 'h')
            b->held_out = atoi(optarg);
        else if (c == 'e')
            b->elements = atoll(optarg);
        else if (c == 'l')
            *limit = atof(optarg);
        else if (c == 'n')
            b->scripts = optarg;
        else if (c == 'r')
            b->replay = optarg; /* read by main */
        else if (c != 'c' || !(b->covers = fopen(optarg, "w")))
            usage();
    }
    if (optind < argc)
        usage();
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error problem = {0}, *error = &problem;
    const double start = weft_clock();
    const char *device = "auto";
    double limit = 280;
    bench *b = calloc(1, sizeof *b);
    if (!b)
        return 1;
    *b = (bench){.seconds = 60, .held_out = 20, .least_ranks = INFINITY};
    read_options(b, &device, &limit, argc, argv);
    weft_device_options in_memory = weft_device_options_default(NULL);
    in_memory.cache = WEFT_CACHE_OFF;
    TRY(weft_arena_make(&b->arena, error));
    TRY(weft_device_open(device, NULL, &b->device, error));
    TRY(weft_tuning_open(&in_memory, &b->tuning, error));
    TRY(weft_fem_library_make(&b->library, error));
    if (b->replay) {
        const char *path = b->replay;
        size_t length = 0;
        TRY(weft_file_read(path, &b->replay, &length, error));
    } else if (b->seconds > 0)
        TRY(calibrate(b, error));
    TRY(weft_library_add_directory(b->library, WEFT_SOURCE_DIR "/docs/examples/slides", error));
    TRY(random_natives_add(b->library, error));
    printf("%-6s %-34s %9s %4s %10s %7s %8s\n", "", "script", "elements", "run", "best, us",
           "first", "rank r");
    for (int single = 1; single >= 0; --single) {
        b->single = single;
        b->end = start + (single ? (b->seconds + limit) / 2 : limit);
        TRY(run_precision(b, error));
    }
    print_summary(b);
done:
    if (status != WEFT_OK)
        fprintf(stderr, "%s\n", error->message);
    if (b->covers)
        fclose(b->covers);
    weft_measured_costs_free(&b->costs);
    weft_library_free(&b->library);
    weft_tuning_close(&b->tuning);
    weft_device_free(&b->device);
    weft_arena_free(&b->arena);
    free(b);
    return status != WEFT_OK;
}
