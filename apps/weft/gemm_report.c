/* weft gemm report: the space of kernels, the best parameters and their speed as a table and
 * figures, as in Kurzak, Tomov and Dongarra 2011 (figures 5 and 6, table 2), from what searches
 * have stored. */
#include "apps/common/statistics.h"
#include "apps/common/support.h"
#include "apps/weft/gemm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SIZES = 6, ROUNDS = 3 };
static const char letters[] = "SDCZ", op_letters[] = "NTC";

typedef struct report {
    const gemm_report_options *how;
    weft_device *device;
    weft_gemm_kernels *kernels;
    weft_tuning *tuning;
    gemm_case one;
    gemm_rival rival; /* name NULL: none */
    weft_gemm_point point[2];
    int64_t m, n, k;
    char layout[3]; /* "NN" */
    /* parts of the page; data of both figures, and what draws them */
    weft_text survivors, table, data, space[WEFT_GEMM_TYPES], sizes[WEFT_GEMM_TYPES];
} report;

/* ---- the space: figure 5 --------------------------------------------------------------------- */

static void add_counts(report *r, weft_gemm_type type, int stencil) {
    const weft_gemm_limits limits = weft_gemm_limits_of(weft_device_limits(r->device));
    const weft_gemm_guidelines guidelines = weft_gemm_guidelines_of(type);
    int64_t counts[WEFT_GEMM_VERDICTS], all = 0, guided = 0;
    int shapes = 0;
    weft_gemm_count(&(weft_gemm_shape){.type = type}, stencil, &limits, &guidelines, counts,
                    &shapes);
    for (int v = 0; v < WEFT_GEMM_VERDICTS; ++v) {
        all += counts[v];
        guided += v >= WEFT_GEMM_FEW_WARPS ? counts[v] : 0;
    }
    weft_text_add(&r->survivors, "| %c | %s | %lld | %lld | %lld | %lld | %lld | **%lld** | %d |\n",
                  letters[type], weft_gemm_stencils[stencil].name, (long long)all,
                  (long long)counts[WEFT_GEMM_INDIVISIBLE],
                  (long long)counts[WEFT_GEMM_NOT_ON_DEVICE],
                  (long long)counts[WEFT_GEMM_REGISTERS], (long long)guided,
                  (long long)counts[WEFT_GEMM_SURVIVES], shapes);
}

static bool tiles_large_products(const report *r, weft_gemm_type type, int stencil) {
    const bool single = type == WEFT_GEMM_SINGLE || type == WEFT_GEMM_SINGLE_COMPLEX;
    if (weft_device_limits(r->device)->execution == WEFT_EXECUTION_SIMD)
        return stencil == WEFT_GEMM_HOST;
    return stencil == (single || weft_device_limits(r->device)->matrix_depth == 0 ? WEFT_GEMM_FMA
                                                                                  : WEFT_GEMM_MMA);
}

/* ---- the best kernels: table 2 --------------------------------------------------------------- */

static weft_status run_tuned(void *user, weft_error *error) {
    const report *r = user;
    return weft_gemm_run(r->kernels, &r->one.product, 1, &r->point[0], error);
}
static weft_status run_default(void *user, weft_error *error) {
    const report *r = user;
    return weft_gemm_run(r->kernels, &r->one.product, 1, &r->point[1], error);
}
static weft_status run_other(void *user, weft_error *error) {
    const report *r = user;
    return r->rival.run(r->rival.state, 0, &r->one, error);
}

/* Slowest and fastest of the first stage, in GFlop/s; their number. */
static int range_of(const weft_gemm_search *search, double flops, double *least, double *most) {
    int n = 0;
    *least = *most = 0;
    for (int i = 0; i < search->n; ++i) {
        const double seconds = search->candidates[i].trial.seconds[0];
        const double rate = seconds > 0 ? flops / seconds * 1e-9 : 0;
        if (rate <= 0)
            continue;
        *least = n == 0 || rate < *least ? rate : *least;
        *most = rate > *most ? rate : *most;
        ++n;
    }
    return n;
}

static double flops_of_first(const report *r, const weft_gemm_search *search) {
    weft_gemm_product p = r->one.product;
    p.m = search->sizes[0][0];
    p.n = search->sizes[0][1];
    p.k = search->sizes[0][2];
    return gemm_flops(&p);
}

static void add_row(report *r, const weft_gemm_search *search, const double rates[3]) {
    const weft_gemm_candidate *best = &search->candidates[search->best];
    const double flops = gemm_flops(&r->one.product);
    double least = 0, most = 0;
    const int tried = range_of(search, flops_of_first(r, search), &least, &most);
    weft_text *t = &r->table;
    weft_text_add(t, "| %c %s | ", letters[r->one.product.type], r->layout);
    gemm_tiling_add(&best->point, r->one.product.type, t);
    weft_text_add(t, " | `");
    weft_gemm_point_text(&best->point, t);
    weft_text_add(t, "` | %.1f | %.1f | ", rates[0], rates[1]);
    if (r->rival.name)
        weft_text_add(t, "%.1f, %.2f | ", rates[2], rates[0] / rates[2]);
    else
        weft_text_add(t, "| ");
    if (best->joules > 0)
        weft_text_add(t, "%.1f, %.0f W, %.0f MHz | ", best->joules / flops * 1e12, best->watts,
                      best->megahertz);
    else
        weft_text_add(t, "| ");
    weft_text_add(t, "%d of %d: %.0f to %.0f |\n", tried, search->n, least, most);
}

/* The best kernel, the default and another library, interleaved, in GFlop/s. */
static weft_status measure(report *r, double rates[3], weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_gemm_work works[] = {{run_tuned, r}, {run_default, r}, {run_other, r}};
    const int n = r->rival.name ? 3 : 2;
    double seconds[3 * WEFT_TRIAL_ROUNDS];
    TRY(weft_gemm_time(r->device, works, n, WEFT_TRIAL_ROUNDS, 5e-3, seconds, error));
    for (int i = 0; i < n; ++i)
        rates[i] = gemm_flops(&r->one.product) * 1e-9 /
                   app_spread_of(seconds + i * WEFT_TRIAL_ROUNDS, WEFT_TRIAL_ROUNDS).median;
done:
    return status;
}

/* ---- figures --------------------------------------------------------------------------------- */

static int descending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* All candidates of the first stage, the fastest first. */
static weft_status add_space(report *r, const weft_gemm_search *search, weft_error *error) {
    const double flops = flops_of_first(r, search);
    const int type = (int)r->one.product.type;
    double *rates = calloc((size_t)search->n + 1, sizeof *rates);
    int n = 0;
    if (!rates)
        return weft_out_of_memory(error, "a figure");
    for (int i = 0; i < search->n; ++i)
        if (search->candidates[i].trial.seconds[0] > 0)
            rates[n++] = flops / search->candidates[i].trial.seconds[0] * 1e-9;
    qsort(rates, (size_t)n, sizeof *rates, descending);
    weft_text_add(&r->data, "$space_%c_%s << EOD\n", letters[type], r->layout);
    for (int i = 0; i < n; ++i)
        weft_text_add(&r->data, "%d %.6g\n", i + 1, rates[i]);
    weft_text_add(&r->data, "EOD\n");
    if (n > 0)
        weft_text_add(&r->space[type], "%s $space_%c_%s using 1:2 with lines title '%s'",
                      r->space[type].length > 0 ? "," : "plot", letters[type], r->layout,
                      r->layout);
    free(rates);
    return WEFT_OK;
}

/* The largest multiple of `tile` up to `size`, so that no kernel for edges is compiled. */
static int64_t whole(int64_t size, int tile) {
    return size < tile ? size : size / tile * tile;
}

/* Speed of the best kernel for squares of halved sizes. */
static weft_status add_sizes(report *r, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_gemm_product asked = r->one.product;
    const weft_gemm_work work = {run_tuned, r};
    const int *v = r->point[0].values, type = (int)asked.type;
    const bool host = r->point[0].stencil == WEFT_GEMM_HOST;
    const int tile = host          ? 1
                     : v[0] > v[1] ? v[0]
                                   : v[1]; /* BM, BN: the larger is a multiple of BK */
    int64_t size = asked.m < asked.n ? asked.m : asked.n;
    size = asked.k < size ? asked.k : size;
    weft_text_add(&r->data, "$sizes_%c_%s << EOD\n", letters[type], r->layout);
    for (int i = 0; i < SIZES && whole(size, tile) >= tile; ++i, size /= 2) {
        double seconds[ROUNDS];
        r->one.product.m = r->one.product.n = r->one.product.k = whole(size, tile);
        gemm_case_set(&r->one, asked.op_a, asked.op_b);
        TRY(weft_gemm_time(r->device, &work, 1, ROUNDS, 2e-3, seconds, error));
        weft_text_add(&r->data, "%lld %.6g\n", (long long)r->one.product.m,
                      gemm_flops(&r->one.product) * 1e-9 / app_spread_of(seconds, ROUNDS).median);
    }
    weft_text_add(&r->data, "EOD\n");
    weft_text_add(&r->sizes[type], "%s $sizes_%c_%s using 1:2 with linespoints title '%s'",
                  r->sizes[type].length > 0 ? "," : "plot", letters[type], r->layout, r->layout);
done:
    r->one.product = asked;
    return status;
}

static void add_figure(weft_text *out, const weft_text plots[], const char *name, const char *x,
                       const char *more) {
    weft_text_add(out, "\nreset\n");
    app_gnuplot_terminal(out, "svg", "", 900, 700);
    app_gnuplot_output(out, name, "svg");
    weft_text_add(out,
                  "set grid\nset key bottom %s\nset xlabel '%s'\n"
                  "set ylabel 'GFlop/s'\nset yrange [0:*]\n%sset multiplot layout 2,2\n",
                  strcmp(name, "space") == 0 ? "left" : "right", x, more);
    for (int type = 0; type < WEFT_GEMM_TYPES; ++type)
        if (plots[type].length > 0)
            weft_text_add(out, "set title '%cGEMM'\n%s\n", letters[type], plots[type].data);
    weft_text_add(out, "unset multiplot\nunset output\n");
}

/* ---- the page -------------------------------------------------------------------------------- */

static weft_status tune_layout(report *r, weft_arena *arena, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_gemm_search search;
    TRY(weft_gemm_search_best(r->kernels, &r->one.product, 1,
                              &(weft_gemm_search_options){.seconds = r->how->tune,
                                                          .spill_bytes = -1,
                                                          .seed = 1,
                                                          .known = r->tuning,
                                                          .burst = r->how->tune < 60 ? 0.3 : 0},
                              arena, &search, error));
    TRY(weft_gemm_search_store(r->tuning, r->device, &r->one.product, 1, &search, error));
done:
    return status;
}

static weft_status report_layout(report *r, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_gemm_search search;
    double rates[3] = {0};
    const double start = weft_clock();
    TRY(weft_arena_make(&arena, error));
    if (r->how->tune > 0)
        TRY(tune_layout(r, arena, error));
    TRY(weft_gemm_search_read(r->kernels, &r->one.product, 1, r->tuning, arena, &search, error));
    r->point[0] = search.candidates[search.best].point;
    r->point[1] = search.candidates[search.standard].point;
    TRY(measure(r, rates, error));
    add_row(r, &search, rates);
    TRY(add_space(r, &search, error));
    TRY(add_sizes(r, error));
    printf("%c %s: %.1f GFlop/s, %d of %d candidates timed, %.1f s\n", letters[r->one.product.type],
           r->layout, rates[0], search.n_known, search.n, weft_clock() - start);
    (void)fflush(stdout);
done:
    weft_arena_free(&arena);
    return status;
}

static weft_status report_type(report *r, weft_gemm_type type, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t parts = weft_gemm_is_complex(type) ? 2 : 1;
    const int64_t sizes[] = {r->m / parts, r->n / parts, r->k};
    for (int stencil = 0; stencil < WEFT_GEMM_STENCILS; ++stencil)
        if (tiles_large_products(r, type, stencil))
            add_counts(r, type, stencil);
    TRY(gemm_case_make(r->device, type, sizes, 1, &r->one, error));
    if (r->how->compare)
        TRY(gemm_rival_open(r->how->compare, &r->one, &r->rival, error));
    for (int i = 0; i < r->how->n_ops; ++i) {
        const weft_gemm_op *ops = r->how->ops[i];
        gemm_case_set(&r->one, ops[0], ops[1]);
        r->layout[0] = op_letters[ops[0]];
        r->layout[1] = op_letters[ops[1]];
        TRY(report_layout(r, error));
    }
done:
    if (r->rival.close)
        r->rival.close(r->rival.state);
    r->rival = (gemm_rival){0};
    gemm_case_free(&r->one);
    r->one = (gemm_case){0};
    return status;
}

static weft_status write_page(report *r, weft_error *error) {
    weft_text text = {0};
    const char *other = r->how->compare ? r->how->compare : "other library";
    weft_text_add(
        &text,
        "# Dense products on %s\n\n%lld x %lld x %lld; complex types have half of the rows "
        "and columns.\n\n## Space of kernels\n\n"
        "| type | stencil | points | do not divide | not on this device | registers | below "
        "guidelines | survive | shapes of tiles |\n|---|---|---|---|---|---|---|---|---|\n%s",
        weft_device_limits(r->device)->name, (long long)r->m, (long long)r->n, (long long)r->k,
        r->survivors.data);
    weft_text_add(
        &text,
        "\n## Fastest kernels\n\nGFlop/s, medians of nine interleaved rounds. Energy in pJ "
        "per flop. Tried: candidates that were timed, and the slowest and the fastest of "
        "them in GFlop/s, at up to 2048 x 2048 x 2048.\n\n"
        "| type | tiling | | point | GFlop/s | untuned | %s, ratio | energy | tried |\n"
        "|---|---|---|---|---|---|---|---|---|\n%s\n",
        other, r->table.data);
    weft_text_add(&text,
                  "## Speed over the space\n\n![The candidates of each type in the order of their "
                  "speed](space.svg)\n\n## Speed over sizes\n\n![The best kernel of each type "
                  "for square matrices](sizes.svg)\n\n`gnuplot figures.gp` draws both.\n");
    return app_folder_write(r->how->folder, "report.md", &text, error);
}

static weft_status write_figures(report *r, weft_error *error) {
    weft_text text = {0};
    weft_text_add(&text, "# gnuplot figures.gp draws space.svg and sizes.svg\n%s", r->data.data);
    add_figure(&text, r->space, "space", "candidates, the fastest first", "");
    add_figure(&text, r->sizes, "sizes", "m = n = k", "set logscale x 2\n");
    return app_folder_write(r->how->folder, "figures.gp", &text, error);
}

static void clear(report *r) {
    weft_text_free(&r->survivors);
    weft_text_free(&r->table);
    weft_text_free(&r->data);
    for (int type = 0; type < WEFT_GEMM_TYPES; ++type) {
        weft_text_free(&r->space[type]);
        weft_text_free(&r->sizes[type]);
    }
    weft_gemm_kernels_free(&r->kernels);
    weft_tuning_close(&r->tuning);
    weft_device_free(&r->device);
}

weft_status gemm_report(const gemm_report_options *how, const weft_monitor *monitor,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    report r = {.how = how, .m = how->sizes[0], .n = how->sizes[1], .k = how->sizes[2]};
    const weft_device_options options = weft_device_options_default(monitor);
    struct stat folder;
    bool drawn = false;
    int stopped = 0; /* signals end the program */
    TRY(weft_device_open(how->device, &options, &r.device, error));
    if (weft_device_limits(r.device)->records_only)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s computes nothing",
                           weft_device_limits(r.device)->name));
    if (mkdir(how->folder, 0777) != 0 &&
        (errno != EEXIST || stat(how->folder, &folder) != 0 || !S_ISDIR(folder.st_mode)))
        TRY(weft_error_set(error, WEFT_ERROR_IO, "cannot make the folder %s: %s", how->folder,
                           strerror(errno)));
    TRY(weft_tuning_open(&options, &r.tuning, error));
    TRY(weft_gemm_kernels_make(r.device, &r.kernels, error));
    for (int type = 0; type < WEFT_GEMM_TYPES; ++type) {
        TRY(report_type(&r, (weft_gemm_type)type, error));
        TRY(write_page(&r, error)); /* a long search may be interrupted */
        TRY(write_figures(&r, error));
    }
    TRY(app_gnuplot_run(how->folder, "figures.gp", monitor, &drawn, &stopped, error));
done:
    clear(&r);
    return status;
}
