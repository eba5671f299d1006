/* Dey's slides of 2020: throughput of the seven reductions and of the transpositions over coarsening factors of threads and of
 * blocks. */
#include "papers.h"

#include "bench_slides.h"

#include <math.h>

enum { FACTORS = 5, TRANSPOSITION_CURVES = 6, BLOCK = 512 };

static const double factors[FACTORS] = {1, 2, 4, 8, 16};
static const double steps[SLIDES_STEPS] = {1, 2, 3, 4, 5, 6, 7};

typedef struct slides {
    paper_run *run;
    slides_bench bench;
    double rates[2][SLIDES_STEPS][FACTORS]; /* by threads, by blocks; GB/s */
} slides;

/* GB/s of a shape; NAN where the planner refuses it. */
static weft_status measure(const slides *s, slides_case one, double bytes, double *rate,
                           weft_error *error) {
    weft_error refusal = {0};
    const weft_status status = slides_time(&s->bench, &one, &refusal);
    *rate = status == WEFT_OK ? 1e-9 * bytes * s->bench.numbers / one.seconds : NAN;
    if (status == WEFT_OK || status == WEFT_ERROR_UNSUPPORTED || status == WEFT_ERROR_TYPE)
        return WEFT_OK;
    *error = refusal;
    return status;
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* Each step in the shape that the planner chooses, beside y = 2 x. */
static weft_status make_steps(slides *s, weft_error *error) {
    weft_status status = WEFT_OK;
    slides_case copy = {.text = "index N;\ninput x : real over N;\ny = 2*x;\nreturn y;\n"};
    double planned[SLIDES_STEPS], copying[SLIDES_STEPS], rate = 0;
    char text[SLIDES_TEXT];
    TRY(measure(s, copy, 8, &rate, error));
    for (int step = 0; step < SLIDES_STEPS; ++step) {
        copying[step] = rate;
        TRY(slides_read("reduction", step + 1, text, error));
        TRY(measure(s, (slides_case){.text = text}, 4, &planned[step], error));
    }
    TRY(paper_set(s->run, "planned_gb_per_s", app_json_list(planned, SLIDES_STEPS), error));
    TRY(paper_set(s->run, "copy_gb_per_s", app_json_real(rate), error));
    TRY(paper_draw(
        s->run, "steps",
        &(paper_chart){
            .title = "The seven reductions in the planner's shapes",
            .x = {.label = "step"},
            .y = {.label = "GB/s"},
            .n = 2,
            .curves = {{"reduction", PAPER_CHART_LINE_AND_POINTS, steps, planned, SLIDES_STEPS},
                       {"y = 2 x", PAPER_CHART_DASHES, steps, copying, SLIDES_STEPS}}},
        error));
    TRY(paper_compare(s->run, "step 7 over step 1, as planned", NAN, planned[6] / planned[0], "",
                      error));
done:
    return status;
}

/* ---- factors --------------------------------------------------------------------------------- */

static int best_of(const double *rates) {
    int best = 0;
    for (int k = 1; k < FACTORS; ++k)
        if (rates[k] > rates[best])
            best = k;
    return best;
}

static weft_status draw_factors(slides *s, int blocks, weft_error *error) {
    static const char *const names[] = {"reduction 1", "reduction 2", "reduction 3", "reduction 4",
                                        "reduction 5", "reduction 6", "reduction 7"};
    paper_chart chart = {.title = blocks ? "Reductions: tiles of a block (block coarsening)"
                                         : "Reductions: numbers of a thread (thread coarsening)",
                         .x = {.label = "coarsening factor", .scale = PAPER_CHART_LOG2},
                         .y = {.label = "GB/s"},
                         .n = SLIDES_STEPS};
    for (int step = 0; step < SLIDES_STEPS; ++step)
        chart.curves[step] = (paper_chart_curve){names[step], PAPER_CHART_LINE_AND_POINTS, factors,
                                                 s->rates[blocks][step], FACTORS};
    return paper_draw(s->run, blocks ? "blocks" : "threads", &chart, error);
}

static weft_status add_factors(slides *s, json_t *list, weft_error *error) {
    for (int blocks = 0; blocks < 2; ++blocks)
        for (int step = 0; step < SLIDES_STEPS; ++step)
            if (json_array_append_new(
                    list, json_pack("{s:i,s:s,s:o,s:o}", "reduction", step + 1, "coarsened",
                                    blocks ? "blocks" : "threads", "factors",
                                    app_json_list(factors, FACTORS), "gb_per_s",
                                    app_json_list(s->rates[blocks][step], FACTORS))) != 0)
                return weft_out_of_memory(error, "the data");
    return WEFT_OK;
}

/* The slides' factor: the largest power of two with which blocks of one float per number still fill a multiprocessor. */
static weft_status compare_factors(slides *s, weft_error *error) {
    weft_status status = WEFT_OK;
    enum { THREADS = 2048 }; /* of a multiprocessor */
    double fits = 1;
    while (2 * fits * THREADS * 4 <= (double)s->run->limits->onchip_bytes)
        fits *= 2;
    TRY(paper_compare_count(s->run, "factor by shared memory", 4, fits, "", error));
    for (int step = 0; step < SLIDES_STEPS; ++step)
        for (int blocks = 0; blocks < 2; ++blocks) {
            char what[96];
            const double *rates = s->rates[blocks][step];
            const int best = best_of(rates);
            snprintf(what, sizeof what, "reduction %d, best factor of %s", step + 1,
                     blocks ? "blocks" : "threads");
            TRY(paper_compare(s->run, what, NAN, factors[best], "", error));
            snprintf(what, sizeof what, "reduction %d, gain by coarsening %s", step + 1,
                     blocks ? "blocks" : "threads");
            TRY(paper_compare(s->run, what, NAN, rates[best] / rates[0], "", error));
        }
done:
    return status;
}

static weft_status make_factors(slides *s, weft_error *error) {
    weft_status status = WEFT_OK;
    char text[SLIDES_TEXT];
    json_t *list = json_array();
    for (int step = 0; step < SLIDES_STEPS; ++step) {
        TRY(slides_read("reduction", step + 1, text, error));
        for (int k = 0; k < FACTORS; ++k) {
            const int factor = (int)factors[k];
            TRY(measure(s,
                        (slides_case){.text = text, .threads = SLIDES_TILE / factor, .serial = 1},
                        4, &s->rates[0][step][k], error));
            TRY(measure(s, (slides_case){.text = text, .threads = SLIDES_TILE, .serial = factor}, 4,
                        &s->rates[1][step][k], error));
        }
    }
    TRY(paper_set(s->run, "reductions", list, error));
    TRY(add_factors(s, list, error));
    for (int blocks = 0; blocks < 2; ++blocks)
        TRY(draw_factors(s, blocks, error));
    TRY(compare_factors(s, error));
done:
    return status;
}

/* ---- transpositions -------------------------------------------------------------------------- */

static weft_status make_transpositions(slides *s, weft_error *error) {
    weft_status status = WEFT_OK;
    static const char *const names[TRANSPOSITION_CURVES] = {
        "by entries, threads", "by entries, blocks",    "by tiles, threads",
        "by tiles, blocks",    "skewed tiles, threads", "skewed tiles, blocks"};
    paper_chart chart = {.title = "Transpositions over the coarsening factor",
                         .x = {.label = "coarsening factor", .scale = PAPER_CHART_LOG2},
                         .y = {.label = "GB/s"},
                         .n = TRANSPOSITION_CURVES};
    double rates[TRANSPOSITION_CURVES][FACTORS];
    char text[SLIDES_TEXT];
    json_t *list = json_array();
    TRY(paper_set(s->run, "transpositions", list, error));
    s->bench.numbers /= 2;
    for (int i = 0; i < TRANSPOSITION_CURVES; ++i) {
        const bool blocks = i % 2 == 1, entries = i < 2;
        TRY(slides_read("transpose", i / 2 + 1, text, error));
        for (int k = 0; k < FACTORS; ++k) {
            const int factor = (int)factors[k], most = entries ? BLOCK : 4 * SLIDES_TILE;
            const slides_case one = {.text = text,
                                     .transposes = true,
                                     .threads = blocks ? most : most / factor,
                                     .serial = blocks || entries ? factor : 1,
                                     .stride = entries && !blocks && factor > 1 ? 32 : 0};
            TRY(measure(s, one, 8, &rates[i][k], error));
        }
        chart.curves[i] =
            (paper_chart_curve){names[i], PAPER_CHART_LINE_AND_POINTS, factors, rates[i], FACTORS};
        if (json_array_append_new(list, json_pack("{s:s,s:o,s:o}", "transposition", names[i],
                                                  "factors", app_json_list(factors, FACTORS),
                                                  "gb_per_s", app_json_list(rates[i], FACTORS))) !=
            0)
            TRY(weft_out_of_memory(error, "the data"));
    }
    TRY(paper_draw(s->run, "transpositions", &chart, error));
    TRY(paper_compare(s->run, "transposition by entries, factor 4 of threads over 1", NAN,
                      rates[0][2] / rates[0][0], "", error));
done:
    return status;
}

static weft_status make(paper_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    slides s = {.run = run};
    TRY(slides_open(run->device, &s.bench, error));
    if (run->options->quick) {
        s.bench.numbers = 1 << 20;
        s.bench.repeats = 1;
    }
    TRY(make_steps(&s, error));
    if (run->gpu) {
        TRY(make_factors(&s, error));
        TRY(make_transpositions(&s, error));
        TRY(paper_remark(
            run, error,
            "the slides have their throughputs in pictures alone; their text says that "
            "step 7 has enough work per thread already, and that coarsening makes the "
            "transposition by entries slower"));
    } else
        TRY(paper_leave_out(run, "throughput over coarsening factors",
                            "a host has no blocks of threads: a block is a vector's lanes", error));
done:
    slides_close(&s.bench);
    return status;
}

const paper paper_dey = {"dey", "Dey 2020, fusion and coarsening of kernels (slides)",
                         "GeForce GTX TITAN Black, 15 multiprocessors", make};
