/* Filipovic, Madzin, Fousek and Matyska 2015: tables 2 to 5 of the eleven sequences of BLAS calls, and BiCGK and GEMVER over
 * sizes (figures 5 and 6). */
#include "papers.h"

#include "bench_blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tables 2 to 5 of the paper, in their order. */
typedef struct published {
    const char *name;
    double gflops, speed_up, bandwidth; /* GFlop/s; over CUBLAS; GB/s */
    double implementations, rank, first,
        worst; /* rank of the best; shares of its speed, NAN: none */
    double first_seconds, all_seconds;
} published;
static const published table[BLAS_PAPER] = {
    {"AXPYDOT", 38.3, 1.94, 153.2, 25, 4, 0.752, 0.349, 0.144, 0.241},
    {"ATAX", 73.5, 1.03, 147, 1, 1, 1, NAN, 0.137, 0.144},
    {"BiCGK", 115, 1.61, 115, 5, 1, 1, 0.64, 0.140, 0.164},
    {"SGEMV", 73.3, 1.05, 146.6, 83, 14, 0.992, 0.978, 0.152, 0.9},
    {"SGEMVT", 73.3, 1.03, 146.6, 41, 5, 0.998, 0.994, 0.123, 0.393},
    {"SSCAL", 18.2, 1.05, 145.6, 1, 1, 1, NAN, 0.139, 0.113},
    {"GEMVER", 83.4, 2.61, 143, 1271, 54, 0.987, 0.431, 0.133, 42.165},
    {"GESUMMV", 73.4, 1, 146.8, 415, 51, 0.996, 0.944, 0.123, 5.707},
    {"MADD", 11.3, 1.47, 135.6, 1, 1, 1, NAN, 0.128, 0.116},
    {"VADD", 20.0, 2.26, 160, 41, 14, 0.946, 0.504, 0.133, 0.248},
    {"WAXPBY", 36.4, 1.93, 145.6, 83, 1, 1, 0.293, 0.156, 0.731}};

static const blas_sequence *find_sequence(const char *name) {
    for (int i = 0; i < BLAS_PAPER; ++i)
        if (strcmp(blas_sequences[i].name, name) == 0)
            return &blas_sequences[i];
    return NULL;
}

static const blas_plans *find_plans(const blas_results *results, const blas_sequence *sequence) {
    for (int i = 0; i < results->n_plans; ++i)
        if (results->plans[i].sequence == sequence)
            return &results->plans[i];
    return NULL;
}

/* ---- what is measured ------------------------------------------------------------------------ */

static blas_options options_of(const paper_run *run) {
    static const int64_t sizes[] = {256, 512, 1024, 2048, 4096, 8192, 16384};
    blas_options o = {.device = strcmp(run->options->device, "auto") != 0 ? run->options->device
                                : run->gpu                                ? "cuda"
                                                                          : "host",
                      .single = true,
                      .check = run->options->quick,
                      .repeats = run->options->quick ? 1 : 9,
                      .plans = run->options->quick ? 2 : 10,
                      .seed = 2015};
    for (int i = 0; i < BLAS_PAPER;
         ++i) /* in a quick run those of the figures and one of vectors */
        o.sequences[i] =
            !run->options->quick || strstr("bicgk gemver vadd", blas_sequences[i].script);
    o.n_sizes = run->gpu ? 7 : 6; /* to 8192 on the host, like its vectors */
    memcpy(o.sizes, sizes, sizeof sizes);
    o.lengths[0] = run->gpu ? 1 << 26 : 1 << 24;
    o.n_lengths = 1;
    if (run->options->quick) {
        o.n_sizes = 2;
        o.sizes[0] = 64;
        o.sizes[1] = 96;
        o.lengths[0] = 4096;
    }
    return o;
}

/* ---- figures 5 and 6 ------------------------------------------------------------------------- */

static weft_status draw_sizes(paper_run *run, const blas_results *results, const char *name,
                              const char *figure, weft_error *error) {
    const blas_sequence *sequence = find_sequence(name);
    double n[BLAS_SIZES], ours[BLAS_SIZES], library[BLAS_SIZES], predicted[BLAS_SIZES];
    int used = 0;
    char title[96];
    for (int i = 0; i < results->n_rows && used < BLAS_SIZES; ++i) {
        const blas_row *row = &results->rows[i];
        if (row->sequence != sequence)
            continue;
        const double operations = 1e-9 * blas_flops(row);
        n[used] = (double)row->n;
        ours[used] = row->weft > 0 ? operations / row->weft : NAN;
        library[used] = row->blas > 0 ? operations / row->blas : NAN;
        predicted[used++] = operations / row->predicted;
    }
    snprintf(title, sizeof title, "%s over the order of the matrix", name);
    paper_chart chart = {.title = title,
                         .x = {.label = "rows and columns", .scale = PAPER_CHART_LOG2},
                         .y = {.label = "GFlop/s"},
                         .n = 3,
                         .curves = {{"Weft", PAPER_CHART_LINE_AND_POINTS, n, ours, used},
                                    {results->rival, PAPER_CHART_LINE_AND_POINTS, n, library, used},
                                    {"predicted", PAPER_CHART_DASHES, n, predicted, used}}};
    if (run->predicts) { /* one curve of points, called what it is */
        chart.n = 1;
        chart.curves[0] =
            (paper_chart_curve){"predicted", PAPER_CHART_LINE_AND_POINTS, n, predicted, used};
    }
    return paper_draw(run, figure, &chart, error);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static weft_status compare(paper_run *run, const char *name, const char *what, double theirs,
                           double ours, const char *unit, weft_error *error) {
    char text[128];
    snprintf(text, sizeof text, "%s, %s", name, what);
    return paper_compare(run, text, theirs, ours, unit, error);
}

/* Tables 2 and 3. */
static weft_status compare_speeds(paper_run *run, const blas_results *results, weft_error *error) {
    weft_status status = WEFT_OK;
    bool alone = false;
    for (int i = 0; i < BLAS_PAPER; ++i) {
        const published *p = &table[i];
        const blas_row *row = blas_table_row(results, find_sequence(p->name));
        if (!row)
            continue;
        TRY(compare(run, p->name, "table 2", p->gflops, 1e-9 * blas_flops(row) / row->weft,
                    "GFlop/s", error));
        TRY(compare(run, p->name, "table 3, bandwidth", p->bandwidth,
                    1e-9 * blas_bytes_per_second(results, row), "GB/s", error));
        alone = alone || !(row->blas > 0);
        if (row->blas > 0)
            TRY(compare(run, p->name, "tables 2 and 3, over the library", p->speed_up,
                        row->blas / row->weft, "", error));
    }
    if (alone)
        TRY(paper_leave_out(run, "speed over the library", results->rival, error));
done:
    return status;
}

/* Tables 4 and 5. */
static weft_status compare_plans(paper_run *run, const blas_results *results, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < BLAS_PAPER; ++i) {
        const published *p = &table[i];
        const blas_plans *plans = find_plans(results, find_sequence(p->name));
        char what[96];
        if (!plans)
            continue;
        snprintf(what, sizeof what, "%s, table 4, implementations", p->name);
        TRY(paper_compare_count(run, what, p->implementations, plans->n_plans, "plans", error));
        if (plans->n_measured > 0) {
            snprintf(what, sizeof what, "%s, table 4, rank of the best of %d", p->name,
                     plans->n_measured);
            TRY(paper_compare(run, what, p->rank, plans->best, "", error));
            TRY(compare(run, p->name, "table 4, first over best", p->first, plans->first_share, "",
                        error));
            TRY(compare(run, p->name, "table 4, worst over best", p->worst, plans->worst_share, "",
                        error));
        }
        /* the compiler runs here, whatever the device */
        snprintf(what, sizeof what, "%s, table 5, first plan", p->name);
        TRY(paper_compare_count(run, what, p->first_seconds, plans->plan_seconds, "s", error));
        snprintf(what, sizeof what, "%s, table 5, all plans", p->name);
        TRY(paper_compare_count(run, what, p->all_seconds, plans->count_seconds, "s", error));
    }
    TRY(paper_remark(
        run, error,
        "plans that a bound shows to be slower are not made here, so fewer are counted "
        "than in the paper's table 4"));
done:
    return status;
}

static weft_status make(paper_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    bool no_gpu = false;
    const blas_options options = options_of(run);
    blas_results *results = calloc(1, sizeof *results);
    if (!results)
        TRY(weft_out_of_memory(error, "the tables"));
    TRY(blas_run(&options, results, &no_gpu, error));
    TRY(paper_set(run, "blas", blas_results_json(results), error));
    TRY(draw_sizes(run, results, "BiCGK", "figure5", error));
    TRY(draw_sizes(run, results, "GEMVER", "figure6", error));
    if (run->predicts)
        TRY(paper_leave_out(run, "tables 2 and 3, ranks of table 4, empirical search of table 5",
                            "the device computes nothing", error));
    TRY(compare_speeds(run, results, error));
    TRY(compare_plans(run, results, error));
    if (results->n_wrong > 0)
        TRY(weft_error_set(error, WEFT_ERROR_INTERNAL, "%d results are wrong", results->n_wrong));
done:
    free(results);
    return status;
}

const paper paper_filipovic = {
    "filipovic",
    "Filipovic, Madzin, Fousek and Matyska 2015, Optimizing CUDA code by kernel fusion",
    "GeForce GTX 480, 177.4 GB/s", make};
