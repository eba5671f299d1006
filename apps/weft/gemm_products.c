/* Products of weft gemm: each order of the operands is timed, and on request tuned, checked and compared with another library. */
#include "apps/common/statistics.h"
#include "apps/weft/gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct session {
    const gemm_options *options;
    weft_gemm_kernels *kernels;
    weft_tuning *tuning;
    weft_power_monitor *power;
    weft_gemm_roof roof; /* of a GPU; 0: not measured */
    gemm_case one;
    gemm_rival rival; /* name NULL: none */
    weft_gemm_point point;
    bool tuned;
    int *code;
} session;

static weft_status run_ours(void *user, weft_error *error) {
    const session *s = user;
    return (s->one.three ? weft_gemm_3m_run : weft_gemm_run)(s->kernels, &s->one.product, s->one.n,
                                                             &s->point, error);
}

typedef struct rival_work {
    const session *s;
    int form;
} rival_work;

static weft_status run_rival(void *user, weft_error *error) {
    const rival_work *work = user;
    return work->s->rival.run(work->s->rival.state, work->form, &work->s->one, error);
}

static weft_status write_t4(const session *s, const weft_gemm_search *search, weft_error *error) {
    weft_text text = {0};
    weft_gemm_search_t4(&s->one.product, search, &text);
    weft_status status = text.failed ? weft_out_of_memory(error, "the results") : WEFT_OK;
    FILE *file = status == WEFT_OK ? fopen(s->options->t4[1], "w") : NULL;
    if (status == WEFT_OK &&
        (!file || fputs(text.data, file) < 0 || fflush(file) != 0 || ferror(file)))
        status = weft_error_set(error, WEFT_ERROR_IO, "cannot write %s: %s", s->options->t4[1],
                                strerror(errno));
    if (file)
        (void)fclose(file);
    weft_text_free(&text);
    return status;
}

static void print_candidate(const char *what, const weft_gemm_candidate *c, double flops) {
    weft_text text = {0};
    weft_gemm_point_text(&c->point, &text);
    const double last = c->trial.seconds[WEFT_TRIAL_STAGES - 1];
    printf("    %-8s %-38s %9.1f GFlop/s", what, text.data ? text.data : "", flops / last * 1e-9);
    if (c->registers >= 0)
        printf(", %d registers, %d bytes spilled", c->registers, c->spill_bytes);
    if (c->joules > 0)
        printf(", %.1f pJ per flop, %.0f W, %.0f MHz", c->joules / flops * 1e12, c->watts,
               c->megahertz);
    printf("\n");
    weft_text_free(&text);
}

static double flops_of(const gemm_case *one) {
    return gemm_flops(&one->product) * (double)one->n;
}

/* The finalists, the best first. */
static void print_finalists(const session *s, const weft_gemm_search *search) {
    print_candidate("best", &search->candidates[search->best], flops_of(&s->one));
    for (int i = 0; i < search->n; ++i)
        if (i != search->best && search->candidates[i].trial.seconds[WEFT_TRIAL_STAGES - 1] > 0)
            print_candidate(i == search->standard ? "default" : "", &search->candidates[i],
                            flops_of(&s->one));
}

static weft_status tune(session *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_gemm_search search;
    const double start = weft_clock();
    const weft_gemm_guidelines guidelines = gemm_guidelines(s->options, s->one.product.type);
    TRY(weft_arena_make(&arena, error));
    TRY(weft_gemm_search_best(s->kernels, &s->one.product, s->one.n,
                              &(weft_gemm_search_options){.seconds = s->options->tune,
                                                          .spill_bytes = -1,
                                                          .seed = 1,
                                                          .known = s->tuning,
                                                          .guidelines = &guidelines},
                              arena, &search, error));
    TRY(weft_gemm_search_store(s->tuning, s->one.device, &s->one.product, s->one.n, &search,
                               error));
    s->point = search.candidates[search.best].point;
    s->tuned = true;
    printf(
        "  tuned %s: %d candidates, %d known, %d compiled, %d timed, in %.1f s; %d as fast as the "
        "fastest%s\n",
        s->one.layout, search.n, search.n_known, search.n_compiled, search.n_timed,
        weft_clock() - start, search.n_tied,
        search.energy_measured
            ? ""
            : " (energy is not measured: no GPU, or no NVIDIA management library)");
    print_finalists(s, &search);
    if (s->options->n_t4 > 0)
        TRY(write_t4(s, &search, error));
done:
    weft_arena_free(&arena);
    return status;
}

static weft_status choose(session *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_gemm_product product =
        s->one.three ? weft_gemm_3m_real(&s->one.product, s->one.n) : s->one.product;
    s->tuned = false;
    s->point = weft_gemm_choose(s->kernels, &product, s->one.n);
    if (s->options->point)
        TRY(weft_gemm_point_read(s->options->point, &s->point, error));
    else if (s->options->tune > 0)
        TRY(tune(s, error));
    else
        TRY(weft_gemm_tuned(s->tuning, s->one.device, &product, s->one.n, &s->point, &s->tuned,
                            error));
done:
    return status;
}

/* Print errors; a rival's result takes the place of ours in C. */
static weft_status check(session *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_gemm_product *p = &s->one.product;
    const bool single = p->type == WEFT_GEMM_SINGLE || p->type == WEFT_GEMM_SINGLE_COMPLEX;
    const double unit = single ? 0x1p-24 : 0x1p-53;
    double own = 0, again = 0, other = 0;
    uint64_t hash = 0, hash_again = 0, ignored = 0;
    TRY(run_ours(s, error));
    TRY(gemm_case_error(&s->one, &own, &hash, error));
    TRY(weft_memory_zero(p->c.memory, error));
    TRY(run_ours(s, error));
    TRY(gemm_case_error(&s->one, &again, &hash_again, error));
    /* Sums of k terms in any order: Higham 2002, section 3.1 */
    const double bound =
        s->one.three ? weft_gemm_3m_bound(p->type, p->k) : 2 * (double)(p->k + 2) * unit;
    bool good = own <= bound && hash == hash_again;
    printf("  error %.2e", own);
    if (s->rival.name) {
        TRY(run_rival(&(rival_work){s, 0}, error));
        TRY(gemm_case_error(&s->one, &other, &ignored, error));
        printf(" (%s %.2e)", s->rival.name, other);
        good = good && own <= 2 * other;
    }
    printf(", %s bits%s\n", hash == hash_again ? "same" : "DIFFERENT", good ? "" : ": WRONG");
    if (!good)
        *s->code = 1;
done:
    return status;
}

/* The form of the rival with the least median: its times. Returns the median. */
static double best_form(const double *seconds, int forms, double other[WEFT_TRIAL_ROUNDS]) {
    double least = 0;
    for (int i = 0; i < forms; ++i) {
        double sorted[WEFT_TRIAL_ROUNDS];
        memcpy(sorted, &seconds[i * WEFT_TRIAL_ROUNDS], sizeof sorted);
        const double own = app_spread_of(sorted, WEFT_TRIAL_ROUNDS).median;
        if (i == 0 || own < least) {
            least = own;
            memcpy(other, &seconds[i * WEFT_TRIAL_ROUNDS], sizeof sorted);
        }
    }
    return least;
}

/* One line: our times, [forms + 1][WEFT_TRIAL_ROUNDS] in front, and the rival's. */
static void print_times(const session *s, double *seconds, int forms) {
    double other[WEFT_TRIAL_ROUNDS];
    weft_text text = {0};
    const weft_power_reading reading = weft_power_monitor_read(s->power);
    const double least = best_form(seconds + WEFT_TRIAL_ROUNDS, forms, other);
    const double p =
        forms > 0 ? app_rank_test(seconds, WEFT_TRIAL_ROUNDS, other, WEFT_TRIAL_ROUNDS) : 1;
    const double median = app_spread_of(seconds, WEFT_TRIAL_ROUNDS).median;
    const weft_gemm_product *product = &s->one.product;
    const double bytes =
        (double)(weft_memory_bytes(product->a.memory) + weft_memory_bytes(product->b.memory) +
                 weft_memory_bytes(product->c.memory));
    weft_gemm_point_text(&s->point, &text);
    printf("%s %-7s %-38s %11.2f us %9.1f GFlop/s %7.1f GB/s", s->one.layout,
           s->options->point ? "given"
           : s->tuned        ? "tuned"
                             : "default",
           text.data ? text.data : "", median * 1e6, flops_of(&s->one) / median * 1e-9,
           bytes / median * 1e-9);
    if (forms > 0)
        printf("; %s %.2f us, ratio %.3f, p %.1e", s->rival.name, least * 1e6, least / median, p);
    if (s->roof.flops > 0 && !s->one.three) {
        bool arithmetic = false;
        const double roof = weft_gemm_roof_seconds(&s->roof, flops_of(&s->one), bytes, &arithmetic);
        printf("; %.0f %% of the roof (%s)", roof / median * 100,
               arithmetic ? "arithmetic" : "memory");
    }
    if (s->power)
        printf("; %.0f W, %.0f MHz, throttle %#llx", reading.watts, reading.megahertz,
               (unsigned long long)reading.throttle);
    printf("\n");
    weft_text_free(&text);
}

static weft_status measure(session *s, weft_error *error) {
    weft_status status = WEFT_OK;
    enum { FORMS = 3 };
    rival_work users[FORMS];
    weft_gemm_work works[FORMS] = {{run_ours, s}};
    double seconds[FORMS * WEFT_TRIAL_ROUNDS];
    const int forms = s->rival.name ? s->rival.n_forms : 0;
    for (int i = 0; i < forms; ++i) {
        users[i] = (rival_work){s, i};
        works[1 + i] = (weft_gemm_work){run_rival, &users[i]};
    }
    TRY(weft_gemm_time(s->one.device, works, 1 + forms, WEFT_TRIAL_ROUNDS, 5e-3, seconds, error));
    print_times(s, seconds, forms);
done:
    return status;
}

/* Of ours and, if there is one, of the rival's. */
static weft_status measure_energy(session *s, weft_error *error) {
    weft_status status = WEFT_OK;
    rival_work user = {s, 0};
    const weft_gemm_work works[] = {{run_ours, s}, {run_rival, &user}};
    const double flops = flops_of(&s->one);
    for (int i = 0; i < (s->rival.name ? 2 : 1); ++i) {
        weft_gemm_energy energy;
        TRY(weft_gemm_energy_measure(s->one.device, s->power, &works[i], s->options->energy,
                                     &energy, error));
        if (energy.launches > 0)
            printf("  energy %-8s %6.2f pJ per flop, %.0f W, %.0f MHz, %.1f GFlop/s over %.2f s\n",
                   i == 0 ? "weft" : s->rival.name, energy.joules / flops * 1e12, energy.watts,
                   energy.megahertz, flops / energy.seconds * 1e-9,
                   energy.seconds * (double)energy.launches);
        else
            printf("  energy is not measured: no GPU, or no NVIDIA management library\n");
    }
done:
    return status;
}

static weft_status run_orders(session *s, const gemm_orders *ops, weft_error *error) {
    static const char letters[] = "NTC";
    weft_status status = WEFT_OK;
    if (s->one.three)
        printf("  3m: imaginary parts err by at most %.1e times the sum over k of (|Re a| + |Im "
               "a|) (|Re b| + |Im b|) + |Re a Re b| + |Im a Im b|,\n      which says nothing of "
               "those that are small against it\n",
               weft_gemm_3m_bound(s->one.product.type, s->one.product.k));
    for (int i = 0; i < ops->n; ++i) {
        const char layout[] = {letters[ops->ops[i][0]], letters[ops->ops[i][1]], '\0'};
        s->one.layout = layout;
        gemm_case_set(&s->one, ops->ops[i][0], ops->ops[i][1]);
        TRY(choose(s, error));
        TRY(measure(s, error));
        if (s->options->energy > 0)
            TRY(measure_energy(s, error));
        if (s->options->check)
            TRY(check(s, error));
        (void)fflush(stdout);
    }
done:
    s->one.layout = NULL;
    return status;
}

static weft_status check_algorithm(const gemm_options *options, weft_gemm_type type,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    if (options->algorithm == GEMM_ALGORITHM_3M && !weft_gemm_is_complex(type))
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                "--algorithm 3m multiplies complex matrices: types C and Z");
    else if (options->algorithm == GEMM_ALGORITHM_3M && options->tune > 0) {
        status =
            weft_error_set(error, WEFT_ERROR_USAGE, "--algorithm 3m cannot be tuned by itself");
        weft_error_hint(error, "tune its real products: the same sizes with type %s",
                        type == WEFT_GEMM_SINGLE_COMPLEX ? "S" : "D");
    } else if (options->algorithm == GEMM_ALGORITHM_3M && options->compare && options->batch > 1)
        status = weft_error_set(
            error, WEFT_ERROR_USAGE,
            "other libraries have no batches by three products: leave out --compare or --batch");
    return status;
}

static weft_status measure_roof(session *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_limits *limits = weft_device_limits(s->one.device);
    if (limits->execution == WEFT_EXECUTION_SIMD || s->one.three)
        goto done;
    TRY(weft_gemm_roof_measure(s->kernels, s->one.product.type, &s->roof, error));
    printf("  roof: copies move %.0f GB/s, units multiply %.1f TFlop/s\n", s->roof.bandwidth * 1e-9,
           s->roof.flops * 1e-12);
done:
    return status;
}

weft_status gemm_products_run(const gemm_options *options, weft_gemm_type type,
                              const gemm_orders *ops, const int64_t sizes[3],
                              const weft_monitor *monitor, int *code, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = NULL;
    session s = {.options = options, .code = code};
    const weft_device_options device_options = weft_device_options_default(monitor);
    TRY(check_algorithm(options, type, error));
    TRY(weft_device_open(options->device, &device_options, &device, error));
    if (weft_device_limits(device)->records_only)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s computes nothing",
                           weft_device_limits(device)->name));
    TRY(weft_tuning_open(&device_options, &s.tuning, error));
    TRY(weft_gemm_kernels_make(device, &s.kernels, error));
    TRY(gemm_case_make(device, type, sizes, options->batch > 0 ? options->batch : 1, &s.one,
                       error));
    s.one.three = options->algorithm == GEMM_ALGORITHM_3M;
    if (options->compare)
        TRY(gemm_rival_open(options->compare, &s.one, &s.rival, error));
    s.power = weft_power_monitor_open(device);
    printf("%s: %s, %lld x %lld x %lld, %lld %s\n", options->arguments[0],
           weft_device_limits(device)->name, (long long)sizes[0], (long long)sizes[1],
           (long long)sizes[2], (long long)s.one.n, s.one.n > 1 ? "products" : "product");
    TRY(measure_roof(&s, error));
    TRY(run_orders(&s, ops, error));
done:
    if (s.rival.close)
        s.rival.close(s.rival.state);
    weft_power_monitor_close(&s.power);
    gemm_case_free(&s.one);
    weft_gemm_kernels_free(&s.kernels);
    weft_tuning_close(&s.tuning);
    weft_device_free(&device);
    return status;
}
