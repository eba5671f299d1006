/* Fousek, Filipovic and Madzin 2011: the implementations of Listing 1, as measured and as predicted (figures 4 and 5), the best of
 * all over the best without fusions and over the best with one kernel, and the times of planning and compiling. */
#include "papers.h"

#include "fusion/compile/compile.h"
#include "fusion/control/program.h"
#include "fusion/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEGREE = 5, FIT = DEGREE + 1, COMPILED = 8, BEST = 5 };

typedef struct listing {
    paper_run *run;
    char *text, *fused; /* the script, and all of it as one kernel */
    int64_t elements;
    weft_search_result all, unfused, one_kernel;
} listing;

static weft_compile_options options_of(const listing *l, weft_plan_kind plan) {
    return (weft_compile_options){.size = sizeof(weft_compile_options),
                                  .plan = plan,
                                  .single = true,
                                  .elements = l->elements};
}

/* The script, and a copy whose calls must be one kernel. */
static weft_status read_script(listing *l, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    TRY(weft_file_read(WEFT_SOURCE_DIR "/apps/check/listing_1.weft", &l->text, NULL, error));
    const char *first = strstr(l->text, "M1 ="), *last = strstr(l->text, "return");
    if (!first || !last)
        TRY(weft_error_set(error, WEFT_ERROR_INPUT, "listing_1.weft is not as it was"));
    weft_text_add(&text, "%.*sfuse {\n%.*s}\n%s", (int)(first - l->text), l->text,
                  (int)(last - first), first, last);
    if (text.failed)
        TRY(weft_out_of_memory(error, "a script"));
    l->fused = text.data;
    text.data = NULL;
done:
    weft_text_free(&text);
    return status;
}

/* ---- implementations ------------------------------------------------------------------------- */

/* On a device that computes nothing a prediction stands for a time, and everything says so. */
static weft_status predict(void *user, const weft_compilation *compilation, weft_program *program,
                           double *seconds, weft_error *error) {
    (void)user, (void)program, (void)error;
    *seconds = weft_compilation_only(compilation)->cover->seconds;
    return WEFT_OK;
}

static weft_status search(const listing *l, const char *text, weft_plan_kind plan, int most,
                          weft_search_result *out, weft_error *error) {
    const weft_compile_options options = options_of(l, plan);
    const weft_fragment fragment = {"listing_1.weft", text};
    const weft_search_options how = {.size = sizeof how,
                                     .most = most,
                                     .all = true,
                                     .confirm = !l->run->predicts,
                                     .elements = l->elements,
                                     .measure = l->run->predicts ? predict : NULL};
    return weft_search_covers(l->run->device,
                              &(weft_search_script){l->run->library, &fragment, 1, &options}, &how,
                              l->run->arena, out, error);
}

static double rate(const listing *l, double seconds) {
    return 1e-6 * (double)l->elements / seconds;
}

static double best_rate(const listing *l, const weft_search_result *found) {
    return found->n_measured > 0 ? rate(l, found->candidates[found->best].measured) : NAN;
}

static weft_status add_data(listing *l, weft_error *error) {
    weft_status status = WEFT_OK;
    json_t *covers = json_array();
    TRY(paper_set(l->run, "elements", json_integer(l->elements), error));
    TRY(paper_set(l->run, "implementations", covers, error));
    for (int i = 0; i < l->all.n_measured; ++i) {
        const weft_search_candidate *one = &l->all.candidates[i];
        if (json_array_append_new(
                covers, json_pack("{s:s,s:f,s:o}", "cover", one->cover, "predicted_melem_per_s",
                                  rate(l, one->predicted), "measured_melem_per_s",
                                  l->run->predicts ? json_null()
                                                   : app_json_real(rate(l, one->measured)))) != 0)
            TRY(weft_out_of_memory(error, "the data"));
    }
done:
    return status;
}

static int by_rate(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (x[0] < y[0]) - (x[0] > y[0]);
}

/* The predicted places of the five fastest. */
static weft_status compare_places(listing *l, const double *sorted, weft_error *error) {
    static const double places[BEST] = {0, 48, 1, 6, 28};
    weft_status status = WEFT_OK;
    for (int i = 0; i < BEST && i < l->all.n_measured; ++i) {
        char what[96];
        snprintf(what, sizeof what, "figure 5, predicted place of the implementation in place %d",
                 i);
        TRY(paper_compare(l->run, what, places[i], sorted[3 * i + 2], "", error));
    }
done:
    return status;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Solve the symmetric positive definite system of a fit in place by elimination. */
static void eliminate(double m[FIT][FIT + 1]) {
    for (int i = 0; i < FIT; ++i)
        for (int r = 0; r < FIT; ++r) {
            const double factor = r == i ? 0 : m[r][i] / m[i][i];
            for (int c = i; c <= FIT && r != i; ++c)
                m[r][c] -= factor * m[i][c];
        }
}

/* The polynomial of degree five by least squares, in Chebyshev polynomials of t from -1 to 1. */
static void fit(const double *y, int n, double *out) {
    double m[FIT][FIT + 1] = {{0}};
    for (int i = 0; i < n; ++i) {
        const double angle = acos(2.0 * i / (n - 1) - 1);
        for (int r = 0; r < FIT; ++r) {
            for (int c = 0; c < FIT; ++c)
                m[r][c] += cos(r * angle) * cos(c * angle);
            m[r][FIT] += cos(r * angle) * y[i];
        }
    }
    eliminate(m);
    for (int i = 0; i < n; ++i) {
        out[i] = 0;
        for (int k = 0; k < FIT; ++k)
            out[i] += m[k][FIT] / m[k][k] * cos(k * acos(2.0 * i / (n - 1) - 1));
    }
}

static weft_status draw_figure4(listing *l, const double *place, const double *sorted, int n,
                                weft_error *error) {
    double *values = weft_arena_alloc(l->run->arena, 2 * (size_t)n + 1, sizeof *values);
    if (!values)
        return weft_out_of_memory(error, "figure 4");
    for (int i = 0; i < n; ++i) {
        values[i] = sorted[3 * i];
        values[n + i] = sorted[3 * i + 1];
    }
    paper_chart chart = {.title = "Figure 4: implementations of Listing 1, the fastest first",
                         .x = {.label = "place"},
                         .y = {.label = "million elements per second"}};
    if (!l->run->predicts)
        chart.curves[chart.n++] =
            (paper_chart_curve){"measured", PAPER_CHART_LINE, place, values, n};
    chart.curves[chart.n++] =
        (paper_chart_curve){"predicted", PAPER_CHART_POINTS, place, values + n, n};
    return paper_draw(l->run, "figure4", &chart, error);
}

static weft_status draw_figure5(listing *l, const double *place, int n, weft_error *error) {
    double *values = weft_arena_alloc(l->run->arena, 4 * (size_t)n + 1, sizeof *values);
    if (!values)
        return weft_out_of_memory(error, "figure 5");
    for (int i = 0; i < n; ++i) {
        values[i] = rate(l, l->all.candidates[i].measured);
        values[2 * n + i] = best_rate(l, &l->unfused);
        values[3 * n + i] = best_rate(l, &l->one_kernel);
    }
    paper_chart chart = {
        .title = "Figure 5: implementations of Listing 1 in the order of their "
                 "predictions",
        .x = {.label = "predicted place"},
        .y = {.label = "million elements per second"},
        .n = 3,
        .curves = {{"each", PAPER_CHART_POINTS, place, values, n},
                   {"best without fusions", PAPER_CHART_DASHES, place, values + 2 * (size_t)n, n},
                   {"best with one kernel", PAPER_CHART_DASHES, place, values + 3 * (size_t)n, n}}};
    if (n > FIT) {
        fit(values, n, values + n);
        chart.curves[chart.n++] =
            (paper_chart_curve){"polynomial of degree 5", PAPER_CHART_LINE, place, values + n, n};
    }
    return paper_draw(l->run, "figure5", &chart, error);
}

static weft_status make_figures(listing *l, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = l->all.n_measured;
    /* sorted: measured and predicted rate, predicted place, the fastest first */
    double *place = weft_arena_alloc(l->run->arena, (size_t)n + 1, sizeof *place);
    double *sorted = weft_arena_alloc(l->run->arena, 3 * (size_t)n + 1, sizeof *sorted);
    double *both = weft_arena_alloc(l->run->arena, 2 * (size_t)n + 1, sizeof *both);
    if (!place || !sorted || !both)
        TRY(weft_out_of_memory(error, "the figures"));
    for (int i = 0; i < n; ++i) {
        place[i] = i;
        both[i] = sorted[3 * i] = rate(l, l->all.candidates[i].measured);
        both[n + i] = sorted[3 * i + 1] = rate(l, l->all.candidates[i].predicted);
        sorted[3 * i + 2] = i;
    }
    qsort(sorted, (size_t)n, 3 * sizeof *sorted, by_rate);
    TRY(draw_figure4(l, place, sorted, n, error));
    TRY(draw_figure5(l, place, n, error));
    if (l->run->predicts)
        TRY(paper_leave_out(l->run,
                            "measured rates of figures 4 and 5, predicted places of the best",
                            "the device computes nothing", error));
    else {
        TRY(compare_places(l, sorted, error));
        TRY(paper_compare(l->run, "figure 4, rank correlation of predicted and measured", NAN,
                          weft_rank_correlation(both, both + n, n), "", error));
    }
done:
    return status;
}

/* ---- ratios ---------------------------------------------------------------------------------- */

static weft_status make_ratios(listing *l, weft_error *error) {
    weft_status status = WEFT_OK;
    const double unfused = best_rate(l, &l->unfused), fused = best_rate(l, &l->one_kernel);
    /* the best of one kernel, measured again, may be the best of all */
    const double best = fmax(best_rate(l, &l->all), fmax(unfused, fused));
    TRY(paper_compare(l->run, "best implementation", 234.5, best, "Melem/s", error));
    TRY(paper_compare(l->run, "best without fusions", 94.2, unfused, "Melem/s", error));
    TRY(paper_compare(l->run, "best with all functions in one kernel", 160.2, fused, "Melem/s",
                      error));
    TRY(paper_compare(l->run, "best over unfused", 2.49, best / unfused, "", error));
    TRY(paper_compare(l->run, "best over all fused", 1.46, best / fused, "", error));
    TRY(paper_set(l->run, "unfused_melem_per_s", app_json_real(unfused), error));
    TRY(paper_set(l->run, "one_kernel_melem_per_s", app_json_real(fused), error));
done:
    return status;
}

/* ---- times of the compilers ------------------------------------------------------------------ */

/* Implementation number k, without anything from the cache. */
static weft_status time_one(listing *l, weft_device *device, int k, double *plan, double *compile,
                            int *n_kernels, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    weft_compile_options options = options_of(l, WEFT_PLAN_FUSED);
    options.alternative = k;
    double start = weft_clock();
    TRY(weft_compile(l->run->library, l->run->limits, &(weft_fragment){"listing_1.weft", l->text},
                     1, &options, &compilation, error));
    *plan = weft_clock() - start;
    *n_kernels = weft_compilation_kernels(compilation);
    start = weft_clock();
    if (!l->run->predicts)
        TRY(weft_program_make(device, compilation, &program, error));
    *compile = weft_clock() - start;
done:
    weft_program_free(&program);
    weft_compilation_free(&compilation);
    return status;
}

static weft_status make_times(listing *l, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_options how = weft_device_options_default(l->run->monitor);
    weft_device *device = NULL;
    double plan[COMPILED], compile[COMPILED];
    json_t *list = json_array();
    const int n = l->run->options->quick ? 1 : COMPILED;
    how.cache = WEFT_CACHE_OFF;
    TRY(paper_set(l->run, "compiled", list, error));
    TRY(weft_device_open(l->run->options->device, &how, &device, error));
    for (int k = 0; k < n; ++k) {
        int n_kernels = 0;
        TRY(time_one(l, device, k, &plan[k], &compile[k], &n_kernels, error));
        json_array_append_new(
            list, json_pack("{s:i,s:i,s:f,s:o}", "place", k, "kernels", n_kernels, "plan_seconds",
                            plan[k], "compile_seconds",
                            l->run->predicts ? json_null() : app_json_real(compile[k])));
    }
    TRY(paper_compare_count(l->run, "generation of the space, cover and code", 0.21 + 0.15,
                            paper_median(plan, n), "s", error));
    if (l->run->predicts)
        TRY(paper_leave_out(l->run, "time to compile an implementation",
                            "nothing is compiled for a null device", error));
    else
        TRY(paper_compare_count(l->run, "compilation of an implementation", 2.08,
                                paper_median(compile, n), "s", error));
done:
    weft_device_free(&device);
    return status;
}

static weft_status make(paper_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool quick = run->options->quick;
    listing l = {.run = run, .elements = quick ? 4096 : run->gpu ? 1 << 20 : 1 << 17};
    const int most = quick ? (run->predicts ? 40 : 3) : run->predicts ? 300 : run->gpu ? 200 : 60;
    TRY(read_script(&l, error));
    TRY(search(&l, l.text, WEFT_PLAN_FUSED, most, &l.all, error));
    TRY(search(&l, l.text, WEFT_PLAN_UNFUSED, quick ? 1 : 10, &l.unfused, error));
    TRY(search(&l, l.fused, WEFT_PLAN_FUSED, quick ? 1 : 10, &l.one_kernel, error));
    for (int i = 0; i < l.one_kernel.n; ++i)
        if (l.one_kernel.candidates[i].n_parts != 1)
            TRY(weft_error_set(error, WEFT_ERROR_INTERNAL, "'fuse' has left several kernels"));
    TRY(add_data(&l, error));
    TRY(make_figures(&l, error));
    TRY(make_ratios(&l, error));
    TRY(make_times(&l, error));
done:
    free(l.text);
    free(l.fused);
    return status;
}

const paper paper_fousek = {
    "fousek",
    "Fousek, Filipovic and Madzin 2011, Automatic fusions of CUDA-GPU kernels for parallel map",
    "GeForce GTX 480", make};
