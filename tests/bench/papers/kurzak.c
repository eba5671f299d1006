/* Kurzak, Tomov and Dongarra 2011: the sixteen counts of figure 5 by the paper's generator and Fermi's limits, the space of
 * kernels that Weft searches here, and table 2 with the kernels that are fastest here. */
#include "papers.h"

#include "apps/weft/gemm.h"

#include <math.h>
#include <string.h>

enum { ORDERS = 4, TEXT = 96 };

/* In the order of the paper's table 2. */
static const struct {
    const char *name;
    weft_gemm_op ops[2];
} orders[ORDERS] = {{"NN", {WEFT_GEMM_PLAIN, WEFT_GEMM_PLAIN}},
                    {"NT", {WEFT_GEMM_PLAIN, WEFT_GEMM_TRANSPOSED}},
                    {"TT", {WEFT_GEMM_TRANSPOSED, WEFT_GEMM_TRANSPOSED}},
                    {"TN", {WEFT_GEMM_TRANSPOSED, WEFT_GEMM_PLAIN}}};

/* SGEMM, CGEMM, DGEMM, ZGEMM as in figure 5, with the rates of table 2: of the paper's kernels, and of the better of CUBLAS
 * and MAGMA before them. */
static const struct {
    const char *name;
    weft_gemm_type type;
    double tuned[ORDERS], before[ORDERS];
} types[WEFT_GEMM_TYPES] = {
    {"SGEMM", WEFT_GEMM_SINGLE, {654, 662, 657, 650}, {650, 641, 650, 650}},
    {"CGEMM", WEFT_GEMM_SINGLE_COMPLEX, {804, 804, 805, 804}, {778, 783, 792, 782}},
    {"DGEMM", WEFT_GEMM_DOUBLE, {300, 301, 300, 300}, {303, 303, 303, 302}},
    {"ZGEMM", WEFT_GEMM_DOUBLE_COMPLEX, {340, 340, 341, 340}, {306, 308, 306, 304}}};

static const char *const type_names[] = {"SGEMM", "CGEMM", "DGEMM", "ZGEMM"};
static const double places[] = {0, 1, 2, 3};

/* Values by order and type, as bars. */
static weft_status draw_bars(paper_run *run, const char *figure, const char *title,
                             const char *label, double values[2 * ORDERS][WEFT_GEMM_TYPES],
                             const char *const *names, int n, weft_error *error) {
    paper_chart chart = {.title = title,
                         .x = {.label = "", .names = type_names, .n_names = WEFT_GEMM_TYPES},
                         .y = {.label = label},
                         .n = n};
    for (int i = 0; i < n; ++i)
        chart.curves[i] =
            (paper_chart_curve){names[i], PAPER_CHART_BARS, places, values[i], WEFT_GEMM_TYPES};
    return paper_draw(run, figure, &chart, error);
}

/* Those of table 1, with those that were given. */
static weft_gemm_fermi_guidelines guidelines_of(const paper_run *run, weft_gemm_type type) {
    weft_gemm_fermi_guidelines all = weft_gemm_fermi_guidelines_of(type);
    all.threads = run->options->threads > 0 ? run->options->threads : all.threads;
    all.blocks = run->options->blocks > 0 ? run->options->blocks : all.blocks;
    all.reuse = run->options->reuse > 0 ? run->options->reuse : all.reuse;
    return all;
}

/* ---- figure 5 -------------------------------------------------------------------------------- */

static weft_status count_fermi(paper_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    static const char *const names[] = {"NN", "NT", "TT", "TN"};
    double values[2 * ORDERS][WEFT_GEMM_TYPES], least = INFINITY, most = 0;
    json_t *counts = json_array();
    for (int t = 0; counts && t < WEFT_GEMM_TYPES; ++t)
        for (int o = 0; o < ORDERS; ++o) {
            const weft_gemm_fermi_guidelines guidelines = guidelines_of(run, types[t].type);
            const weft_gemm_fermi_counts found = weft_gemm_fermi_count(
                types[t].type, orders[o].ops, &weft_gemm_fermi_limits, &guidelines);
            values[o][t] = (double)found.kernels;
            least = fmin(least, values[o][t]);
            most = fmax(most, values[o][t]);
            json_array_append_new(
                counts, json_pack("{s:s,s:s,s:i,s:i,s:f,s:I,s:I}", "type", types[t].name, "order",
                                  orders[o].name, "threads", guidelines.threads, "blocks",
                                  guidelines.blocks, "reuse", guidelines.reuse, "tilings",
                                  (json_int_t)found.tilings, "kernels", (json_int_t)found.kernels));
        }
    TRY(paper_set(run, "figure5", counts, error));
    TRY(draw_bars(run, "figure5", "Kernels that the guidelines leave on Fermi", "kernels", values,
                  names, ORDERS, error));
    TRY(paper_remark(run, error,
                     "figure 5, by algorithms 2 and 3 as printed: %.0f to %.0f kernels here, "
                     "slightly below 100 to slightly above 400 in the paper",
                     least, most));
    TRY(paper_remark(run, error,
                     "the order does not change a count by these algorithms: the grids of threads "
                     "that overlay a stripe are as many as those of its transpose; and no CGEMM "
                     "has the reuse of 5 that table 1 asks for, the paper's fastest (64 x 64 x 16 "
                     "by 16 x 16 threads) has 4: the figure was made by other rules than are "
                     "printed"));
done:
    return status;
}

/* Counts that the text of section 6.1 gives. */
static weft_status count_more(paper_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_gemm_fermi_guidelines guidelines = weft_gemm_fermi_guidelines_of(WEFT_GEMM_SINGLE_COMPLEX);
    const weft_gemm_fermi_counts all =
        weft_gemm_fermi_count(WEFT_GEMM_SINGLE, orders[0].ops, &weft_gemm_fermi_limits, NULL);
    TRY(paper_set(run, "sgemm_nn_without_guidelines", json_integer(all.kernels), error));
    TRY(paper_remark(run, error,
                     "SGEMM NN without guidelines: slightly more than one million kernels in the "
                     "paper, %lld here",
                     (long long)all.kernels));
    guidelines.reuse = 6;
    TRY(paper_compare_count(run, "CGEMM NN with a reuse of 6", 6,
                            (double)weft_gemm_fermi_count(WEFT_GEMM_SINGLE_COMPLEX, orders[0].ops,
                                                          &weft_gemm_fermi_limits, &guidelines)
                                .kernels,
                            "kernels", error));
    guidelines.reuse = 4;
    TRY(paper_compare_count(run, "CGEMM NN with a reuse of 4", NAN,
                            (double)weft_gemm_fermi_count(WEFT_GEMM_SINGLE_COMPLEX, orders[0].ops,
                                                          &weft_gemm_fermi_limits, &guidelines)
                                .kernels,
                            "kernels", error));
done:
    return status;
}

/* What Weft's own guidelines leave on this device. */
static weft_status count_here(paper_run *run, weft_error *error) {
    const weft_gemm_limits limits = weft_gemm_limits_of(run->limits);
    json_t *list = json_array();
    for (int t = 0; list && t < WEFT_GEMM_TYPES; ++t) {
        const weft_gemm_type type = types[t].type;
        const bool single = type == WEFT_GEMM_SINGLE || type == WEFT_GEMM_SINGLE_COMPLEX;
        const int stencil = !run->gpu                                  ? WEFT_GEMM_HOST
                            : single || run->limits->matrix_depth == 0 ? WEFT_GEMM_FMA
                                                                       : WEFT_GEMM_MMA;
        const weft_gemm_guidelines guidelines = weft_gemm_guidelines_of(type);
        int64_t counts[WEFT_GEMM_VERDICTS], all = 0;
        int shapes = 0;
        weft_gemm_count(&(weft_gemm_shape){.type = type}, stencil, &limits, &guidelines, counts,
                        &shapes);
        for (int v = 0; v < WEFT_GEMM_VERDICTS; ++v)
            all += counts[v];
        json_array_append_new(
            list, json_pack("{s:s,s:s,s:I,s:I,s:i}", "type", types[t].name, "stencil",
                            weft_gemm_stencils[stencil].name, "points", (json_int_t)all,
                            "survivors", (json_int_t)counts[WEFT_GEMM_SURVIVES], "shapes", shapes));
    }
    return paper_set(run, "space_here", list, error);
}

/* ---- table 2 --------------------------------------------------------------------------------- */

typedef struct timing {
    paper_run *run;
    weft_gemm_kernels *kernels;
    gemm_case one;
    gemm_rival rival; /* name NULL: none */
    weft_gemm_point point;
} timing;

static weft_status run_ours(void *user, weft_error *error) {
    const timing *t = user;
    return weft_gemm_run(t->kernels, &t->one.product, 1, &t->point, error);
}

static weft_status run_rival(void *user, weft_error *error) {
    const timing *t = user;
    return t->rival.run(t->rival.state, 0, &t->one, error);
}

/* The fastest kernel that a search finds in the time it has; in a quick run the one that is used without searching. */
static weft_status find_point(timing *t, int *n_timed, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_gemm_search search;
    *n_timed = 0;
    t->point = weft_gemm_choose(t->kernels, &t->one.product, 1);
    if (t->run->options->quick)
        goto done;
    TRY(weft_gemm_search_best(t->kernels, &t->one.product, 1,
                              &(weft_gemm_search_options){.seconds = t->run->options->seconds,
                                                          .spill_bytes = -1,
                                                          .seed = 1,
                                                          .least = 5e-3,
                                                          .burst = 0.1},
                              t->run->arena, &search, error));
    t->point = search.candidates[search.best].point;
    *n_timed = search.n_timed;
done:
    return status;
}

/* GFlop/s of ours and, where there is one, of the other library. */
static weft_status time_both(timing *t, double rates[2], weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_gemm_work works[] = {{run_ours, t}, {run_rival, t}};
    const int n = t->rival.name ? 2 : 1, rounds = t->run->options->quick ? 3 : WEFT_TRIAL_ROUNDS;
    double seconds[2 * WEFT_TRIAL_ROUNDS];
    rates[1] = NAN;
    TRY(weft_gemm_time(t->run->device, works, n, rounds, 1e-3, seconds, error));
    for (int i = 0; i < n; ++i)
        rates[i] = gemm_flops(&t->one.product) * 1e-9 / paper_median(seconds + i * rounds, rounds);
done:
    return status;
}

static weft_status add_kernel(timing *t, int type, int order, double rates[2], json_t *table,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text tiling = {0}, point = {0};
    char what[TEXT];
    int n_timed = 0;
    gemm_case_set(&t->one, orders[order].ops[0], orders[order].ops[1]);
    TRY(find_point(t, &n_timed, error));
    TRY(time_both(t, rates, error));
    gemm_tiling_add(&t->point, types[type].type, &tiling);
    weft_gemm_point_text(&t->point, &point);
    if (tiling.failed || point.failed)
        TRY(weft_out_of_memory(error, "table 2"));
    json_array_append_new(table, json_pack("{s:s,s:s,s:I,s:s,s:s,s:i,s:f,s:o}", "type",
                                           types[type].name, "order", orders[order].name, "size",
                                           (json_int_t)t->one.product.m, "tiling", tiling.data,
                                           "point", point.data, "timed", n_timed, "gflops",
                                           rates[0], "library_gflops", app_json_real(rates[1])));
    snprintf(what, sizeof what, "table 2, %s %s", types[type].name, orders[order].name);
    TRY(paper_compare(t->run, what, types[type].tuned[order], rates[0], "GFlop/s", error));
    snprintf(what, sizeof what, "table 2, %s %s over the library before it", types[type].name,
             orders[order].name);
    TRY(paper_compare(t->run, what, types[type].tuned[order] / types[type].before[order],
                      rates[0] / rates[1], "", error));
done:
    weft_text_free(&tiling);
    weft_text_free(&point);
    return status;
}

/* The four orders of a type. */
static weft_status add_type(timing *t, int type, double values[2 * ORDERS][WEFT_GEMM_TYPES],
                            json_t *table, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error missing = {0};
    const bool complex = weft_gemm_is_complex(types[type].type);
    const int64_t whole = t->run->options->quick ? 128 : t->run->gpu ? 4096 : 1024;
    const int64_t size = complex ? whole / 2 : whole, sizes[] = {size, size, size};
    TRY(gemm_case_make(t->run->device, types[type].type, sizes, 1, &t->one, error));
    if (gemm_rival_open(t->run->gpu ? "cublas" : "openblas", &t->one, &t->rival, &missing) !=
            WEFT_OK &&
        type == 0)
        TRY(paper_leave_out(t->run, "table 2, the library's rates", missing.message, error));
    for (int o = 0; o < ORDERS; ++o) {
        double rates[2];
        TRY(add_kernel(t, type, o, rates, table, error));
        values[2 * o][type] = rates[0];
        values[2 * o + 1][type] = rates[1];
    }
done:
    if (t->rival.close)
        t->rival.close(t->rival.state);
    t->rival = (gemm_rival){0};
    gemm_case_free(&t->one);
    t->one = (gemm_case){0};
    return status;
}

static weft_status make_table(paper_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    static const char *const names[] = {"NN, Weft", "NN, library", "NT, Weft", "NT, library",
                                        "TT, Weft", "TT, library", "TN, Weft", "TN, library"};
    timing t = {.run = run};
    double values[2 * ORDERS][WEFT_GEMM_TYPES];
    json_t *table = json_array();
    TRY(paper_set(run, "table2", table, error));
    TRY(weft_gemm_kernels_make(run->device, &t.kernels, error));
    for (int type = 0; type < WEFT_GEMM_TYPES; ++type)
        TRY(add_type(&t, type, values, table, error));
    TRY(draw_bars(run, "table2", "The fastest kernels, and a library's", "GFlop/s", values, names,
                  2 * ORDERS, error));
done:
    weft_gemm_kernels_free(&t.kernels);
    return status;
}

static weft_status make(paper_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(count_fermi(run, error));
    TRY(count_more(run, error));
    TRY(count_here(run, error));
    if (run->predicts)
        TRY(paper_leave_out(run, "table 2",
                            "the device computes nothing, and products have no "
                            "predictions",
                            error));
    else
        TRY(make_table(run, error));
done:
    return status;
}

const paper paper_kurzak = {"kurzak", "Kurzak, Tomov and Dongarra 2011, Autotuning GEMMs for Fermi",
                            "Tesla S2050, Fermi at 1.147 GHz", make};
