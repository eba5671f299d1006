/* weft gemm: computes, checks, times and tunes dense products, and prints their space. */
#include "apps/weft/gemm.h"
#include "apps/common/statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct gemm_options {
    const char *device, *compare, *point, *out, *t4[2];
    double energy; /* seconds; 0: do not measure */
    const char *arguments[5];
    int n_arguments, n_t4, batch;
    bool check;
    int algorithm; /* in algorithms; -1: not given */
    double tune;   /* seconds; 0: do not */
} gemm_options;

static app_option_read read_export;
enum { ALGORITHM_3M = 1 };
static const char *const algorithms[] = {"standard", "3m", NULL};
static const app_option table[] = {
    {"device", "NAME", "The device (default: auto)", APP_TEXT(gemm_options, device)},
    {"batch", "N", "Compute N products of this shape in one launch",
     APP_INTEGER(gemm_options, batch, 1, 100000000)},
    {"tune", "SECONDS", "Search for the fastest kernel for so long, and store it",
     APP_NUMBER(gemm_options, tune, 0.001, 1e6)},
    {"check", NULL,
     "Compare up to 2048 entries of C with sums in twice the precision of double, and the bits of "
     "two runs",
     APP_FLAG(gemm_options, check, true)},
    {"compare", "NAME", "Time another library in the same run: cublas or openblas",
     APP_TEXT(gemm_options, compare)},
    {"energy", "SECONDS",
     "Run for so long without pauses, and print the energy of an operation (GPUs)",
     APP_NUMBER(gemm_options, energy, 0.3, 1000)},
    {"point", "TEXT", "Use the kernel with these parameters, as the command prints them",
     APP_TEXT(gemm_options, point)},
    {"algorithm", "NAME",
     "standard, or 3m: complex products by three real ones, with larger errors in imaginary parts, "
     "whose bound is printed",
     APP_CHOICE(gemm_options, algorithm, algorithms)},
    {"out", "DIR", "With report: the folder of the page and its figures (default: gemm-report)",
     APP_TEXT(gemm_options, out)},
    {"export", "FORMAT FILE", "With --tune: write all measurements; the format is t4",
     .read = read_export},
    {0}};

static const char doc[] =
    "Compute a dense matrix product C = op(A) op(B) with random numbers, and print its speed."
    "\v"
    "TYPE is S (single), D (double), C (single complex) or Z (double complex). OPS are two "
    "letters, of A and of B: N as it is, T transposed, C conjugated and transposed; several are "
    "separated by commas, and all stands for all four (complex: nine). C has M rows and N columns, "
    "K is the length of the sums. Times are medians of nine interleaved rounds; p is that of a "
    "rank test. Power and clock are those of the GPU at the end, from NVIDIA's management library. "
    "The roof is the least time in which a GPU could move the matrices once, or multiply: its "
    "rates for both are measured first.\n"
    "\n"
    "weft gemm space TYPE [OPS] counts the points of the space of kernels by the constraint that "
    "excludes them, with the limits of the device.\n"
    "\n"
    "weft gemm report OPS M N K writes a page with the space of kernels of all types, the fastest "
    "with their parameters, and figures of the speed over the space and over sizes (gnuplot draws "
    "them), from what searches have stored; --tune searches first, so many seconds for each type "
    "and order.\n"
    "\n"
    "--tune measures candidates on random numbers, in three stages: all at 2048 x 2048 x 2048, the "
    "best quarter at 4096, the best twelve at the size given. Of those that are as fast as the "
    "fastest the one that takes the least energy wins, in double precision and on a GPU. The "
    "winner is used from then on for products of this type and of similar size (weft tuning list). "
    "What a search has measured is not measured again by the next.\n"
    "\n"
    "--algorithm 3m computes C and Z by three products of type S or D, by the kernels that these "
    "use. Other libraries are then compared by their own routines for that (gemm3m). GFlop/s count "
    "the operations of four products.\n"
    "\n"
    "Exit status: 0 done, 1 the check found an error, 2 wrong usage or input, 3 the device "
    "failed.\n"
    "\n"
    "Examples:\n"
    "  weft gemm D NN 8448 8192 8192 --compare cublas\n"
    "  weft gemm S NN,TN 1000 1000 1000 --check\n"
    "  weft gemm D NN 24 24 24 --batch 100000\n"
    "  weft gemm Z all 4224 4096 4096 --tune 60\n"
    "  weft gemm Z NN 1000 1000 1000 --algorithm 3m --check\n"
    "  weft gemm space D --device null:h200\n"
    "  weft gemm report NN,TT 1000 1000 1000 --device host --tune 5";

static weft_status read_export(const app_option *row, const char *option, const char *text,
                               void *at, weft_error *error) {
    gemm_options *options = at;
    static const char *const formats[] = {"t4"};
    (void)row;
    if (options->n_t4 == 0 && strcmp(text, formats[0]) != 0)
        return weft_tool_refuse("format", text, formats, 1, error);
    (void)option;
    options->t4[options->n_t4++ % 2] = text;
    return WEFT_OK;
}

static weft_status read_argument(void *user, const char *text, weft_error *error) {
    gemm_options *options = user;
    if (options->n_arguments < 5) {
        options->arguments[options->n_arguments++] = text;
        return WEFT_OK;
    }
    return weft_error_set(error, WEFT_ERROR_USAGE, "unexpected argument '%.200s'", text);
}

/* ---- arguments ------------------------------------------------------------------------------ */

static weft_status read_type(const char *text, weft_gemm_type *out, weft_error *error) {
    static const char *const names[] = {"S", "D", "C", "Z"};
    for (int i = 0; i < WEFT_GEMM_TYPES; ++i)
        if (strcmp(text, names[i]) == 0) {
            *out = (weft_gemm_type)i;
            return WEFT_OK;
        }
    return weft_tool_refuse("type", text, names, WEFT_GEMM_TYPES, error);
}

typedef struct op_list {
    weft_gemm_op ops[9][2];
    int n;
} op_list;

/* "NN", "NN,TN", "all" */
static weft_status read_ops(const char *text, weft_gemm_type type, op_list *out,
                            weft_error *error) {
    static const char letters[] = "NTC";
    const int n = weft_gemm_is_complex(type) ? 3 : 2;
    out->n = 0;
    if (strcmp(text, "all") == 0) {
        for (int i = 0; i < n * n; ++i) {
            out->ops[out->n][0] = (weft_gemm_op)(i / n);
            out->ops[out->n++][1] = (weft_gemm_op)(i % n);
        }
        return WEFT_OK;
    }
    for (const char *at = text; out->n < 9; at += 3) {
        const char *a = at[0] ? strchr(letters, at[0]) : NULL;
        const char *b = a && at[1] ? strchr(letters, at[1]) : NULL;
        if (!b || (at[2] != ',' && at[2] != '\0'))
            break;
        out->ops[out->n][0] = (weft_gemm_op)(a - letters);
        out->ops[out->n++][1] = (weft_gemm_op)(b - letters);
        if (at[2] == '\0')
            return WEFT_OK;
    }
    weft_error_set(error, WEFT_ERROR_USAGE, "'%.100s' does not say which operands are transposed",
                   text);
    weft_error_hint(
        error,
        "write two letters of N, T and C, such as NT; several with commas, at most nine; or all");
    return WEFT_ERROR_USAGE;
}

static weft_status read_sizes(const gemm_options *options, int64_t sizes[3], weft_error *error) {
    static const char *const names[] = {"M", "N", "K"};
    for (int i = 0; i < 3; ++i) {
        char *end = NULL;
        errno = 0;
        const char *text = options->arguments[2 + i];
        sizes[i] = strtol(text, &end, 10);
        if (end == text || *end != '\0' || errno != 0 || sizes[i] < 1 || sizes[i] > 1 << 24)
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "%s is a whole number from 1 to 16777216, not '%.100s'", names[i],
                                  text);
    }
    return WEFT_OK;
}

/* ---- what applies --------------------------------------------------------------------------- */

typedef enum gemm_mode { MODE_PRODUCTS, MODE_SPACE, MODE_REPORT } gemm_mode;

/* Refuse an option that has no effect in a mode, or beside another option. */
static weft_status check_mode(const gemm_options *options, gemm_mode mode, weft_error *error) {
    enum { PRODUCTS = 1 << MODE_PRODUCTS, REPORT = 1 << MODE_REPORT };
    static const struct {
        const char *words, *options;
    } modes[] = {{"TYPE OPS M N K",
                  "--device, --batch, --tune (and with it --export), --check, --compare, "
                  "--energy, --point and --algorithm"},
                 {"space", "--device"},
                 {"report", "--device, --tune, --compare and --out"}};
    const struct {
        const char *name;
        bool given;
        int applies; /* bits of modes */
    } rows[] = {{"batch", options->batch > 0, PRODUCTS},
                {"tune", options->tune > 0, PRODUCTS | REPORT},
                {"check", options->check, PRODUCTS},
                {"compare", options->compare != NULL, PRODUCTS | REPORT},
                {"energy", options->energy > 0, PRODUCTS},
                {"point", options->point != NULL, PRODUCTS},
                {"algorithm", options->algorithm >= 0, PRODUCTS},
                {"out", options->out != NULL, REPORT},
                {"export", options->n_t4 > 0, PRODUCTS}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        if (rows[i].given && !(rows[i].applies >> mode & 1)) {
            weft_error_set(error, WEFT_ERROR_USAGE, "--%s does not apply to weft gemm %s",
                           rows[i].name, modes[mode].words);
            weft_error_hint(error, "options that apply: %s", modes[mode].options);
            return WEFT_ERROR_USAGE;
        }
    if (mode == MODE_PRODUCTS && options->n_t4 > 0 && options->tune <= 0)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "--export writes what --tune SECONDS measures, which is not given");
    if (mode == MODE_PRODUCTS && options->point && options->tune > 0)
        return weft_error_set(
            error, WEFT_ERROR_USAGE,
            "--tune searches for a kernel, --point names one: leave out one of them");
    return WEFT_OK;
}

/* ---- weft gemm space ------------------------------------------------------------------------ */

static weft_status print_space(const gemm_options *options, const weft_monitor *monitor,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = NULL;
    weft_gemm_type type = WEFT_GEMM_DOUBLE;
    op_list ops;
    const weft_device_options device_options = weft_device_options_default(monitor);
    if (options->n_arguments < 2)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "the space of which type: S, D, C or Z?"));
    TRY(read_type(options->arguments[1], &type, error));
    if (options->n_arguments > 2) /* it does not depend on the order; a wrong one is refused */
        TRY(read_ops(options->arguments[2], type, &ops, error));
    TRY(weft_device_open(options->device, &device_options, &device, error));
    const weft_limits *limits = weft_device_limits(device);
    const weft_gemm_limits own = weft_gemm_limits_of(limits);
    const weft_gemm_guidelines guidelines = weft_gemm_guidelines_of(type);
    printf("%s\n", limits->name);
    for (int stencil = 0; stencil < WEFT_GEMM_STENCILS; ++stencil) {
        int64_t counts[WEFT_GEMM_VERDICTS], all = 0;
        int shapes = 0;
        const bool single = type == WEFT_GEMM_SINGLE || type == WEFT_GEMM_SINGLE_COMPLEX;
        const bool of_host = stencil == WEFT_GEMM_HOST;
        if (of_host != (limits->execution == WEFT_EXECUTION_SIMD) || stencil == WEFT_GEMM_SMALL ||
            stencil == WEFT_GEMM_DIRECT || stencil == WEFT_GEMM_BATCH ||
            (stencil == WEFT_GEMM_MMA && single))
            continue; /* that of small products depends on their sizes */
        weft_gemm_count(&(weft_gemm_shape){.type = type}, stencil, &own, &guidelines, counts,
                        &shapes);
        for (int v = 0; v < WEFT_GEMM_VERDICTS; ++v)
            all += counts[v];
        printf("stencil %s: %lld points\n", weft_gemm_stencils[stencil].name, (long long)all);
        for (int v = 1; v < WEFT_GEMM_VERDICTS; ++v)
            printf("  %8lld  %s\n", (long long)counts[v], weft_gemm_verdict_texts[v]);
        printf("  %8lld  %s, of %d shapes\n", (long long)counts[0], weft_gemm_verdict_texts[0],
               shapes);
    }
done:
    weft_device_free(&device);
    return status;
}

/* ---- products ------------------------------------------------------------------------------- */

typedef struct session {
    const gemm_options *options;
    app_messages *messages;
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
    const double last = c->seconds[WEFT_GEMM_STAGES - 1];
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
    const weft_gemm_product *p = &one->product;
    return (weft_gemm_is_complex(p->type) ? 8.0 : 2.0) * (double)p->m * (double)p->n *
           (double)p->k * (double)one->n;
}

/* The finalists, the best first. */
static void print_finalists(const session *s, const weft_gemm_search *search) {
    print_candidate("best", &search->candidates[search->best], flops_of(&s->one));
    for (int i = 0; i < search->n; ++i)
        if (i != search->best && search->candidates[i].seconds[WEFT_GEMM_STAGES - 1] > 0)
            print_candidate(i == search->standard ? "default" : "", &search->candidates[i],
                            flops_of(&s->one));
}

static weft_status tune(session *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_gemm_search search;
    const double start = weft_clock();
    TRY(weft_arena_make(&arena, error));
    TRY(weft_gemm_search_best(
        s->kernels, &s->one.product, s->one.n,
        &(weft_gemm_search_options){
            .seconds = s->options->tune, .spill_bytes = -1, .seed = 1, .known = s->tuning},
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
static double best_form(const double *seconds, int forms, double other[WEFT_GEMM_ROUNDS]) {
    double least = 0;
    for (int i = 0; i < forms; ++i) {
        double sorted[WEFT_GEMM_ROUNDS];
        memcpy(sorted, &seconds[i * WEFT_GEMM_ROUNDS], sizeof sorted);
        const double own = app_spread_of(sorted, WEFT_GEMM_ROUNDS).median;
        if (i == 0 || own < least) {
            least = own;
            memcpy(other, &seconds[i * WEFT_GEMM_ROUNDS], sizeof sorted);
        }
    }
    return least;
}

/* One line: our times, [forms + 1][WEFT_GEMM_ROUNDS] in front, and the rival's. */
static void print_times(const session *s, double *seconds, int forms) {
    double other[WEFT_GEMM_ROUNDS];
    weft_text text = {0};
    const weft_power_reading reading = weft_power_monitor_read(s->power);
    const double least = best_form(seconds + WEFT_GEMM_ROUNDS, forms, other);
    const double p =
        forms > 0 ? app_rank_test(seconds, WEFT_GEMM_ROUNDS, other, WEFT_GEMM_ROUNDS) : 1;
    const double median = app_spread_of(seconds, WEFT_GEMM_ROUNDS).median;
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
    double seconds[FORMS * WEFT_GEMM_ROUNDS];
    const int forms = s->rival.name ? s->rival.n_forms : 0;
    for (int i = 0; i < forms; ++i) {
        users[i] = (rival_work){s, i};
        works[1 + i] = (weft_gemm_work){run_rival, &users[i]};
    }
    TRY(weft_gemm_time(s->one.device, works, 1 + forms, WEFT_GEMM_ROUNDS, 5e-3, seconds, error));
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

static weft_status run_orders(session *s, const op_list *ops, weft_error *error) {
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
    if (options->algorithm == ALGORITHM_3M && !weft_gemm_is_complex(type))
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                "--algorithm 3m multiplies complex matrices: types C and Z");
    else if (options->algorithm == ALGORITHM_3M && options->tune > 0) {
        status =
            weft_error_set(error, WEFT_ERROR_USAGE, "--algorithm 3m cannot be tuned by itself");
        weft_error_hint(error, "tune its real products: the same sizes with type %s",
                        type == WEFT_GEMM_SINGLE_COMPLEX ? "S" : "D");
    } else if (options->algorithm == ALGORITHM_3M && options->compare && options->batch > 1)
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

static weft_status run_products(const gemm_options *options, app_messages *messages, int *code,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = NULL;
    session s = {.options = options, .messages = messages, .code = code};
    weft_gemm_type type = WEFT_GEMM_DOUBLE;
    op_list ops = {.n = 0};
    int64_t sizes[3] = {0};
    const weft_device_options device_options = weft_device_options_default(&messages->monitor);
    if (options->n_arguments < 5) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "type, operands or sizes are missing");
        weft_error_hint(error, "weft gemm D NN 1000 1000 1000; weft gemm --help explains them");
        goto done;
    }
    TRY(read_type(options->arguments[0], &type, error));
    TRY(read_ops(options->arguments[1], type, &ops, error));
    TRY(read_sizes(options, sizes, error));
    TRY(check_algorithm(options, type, error));
    TRY(weft_device_open(options->device, &device_options, &device, error));
    if (weft_device_limits(device)->records_only)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s computes nothing",
                           weft_device_limits(device)->name));
    TRY(weft_tuning_open(&device_options, &s.tuning, error));
    TRY(weft_gemm_kernels_make(device, &s.kernels, error));
    TRY(gemm_case_make(device, type, sizes, options->batch > 0 ? options->batch : 1, &s.one,
                       error));
    s.one.three = options->algorithm == ALGORITHM_3M;
    if (options->compare)
        TRY(gemm_rival_open(options->compare, &s.one, &s.rival, error));
    s.power = weft_power_monitor_open(device);
    printf("%s: %s, %lld x %lld x %lld, %lld %s\n", options->arguments[0],
           weft_device_limits(device)->name, (long long)sizes[0], (long long)sizes[1],
           (long long)sizes[2], (long long)s.one.n, s.one.n > 1 ? "products" : "product");
    TRY(measure_roof(&s, error));
    TRY(run_orders(&s, &ops, error));
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

/* weft gemm report OPS M N K */
static weft_status write_report(const gemm_options *options, const weft_monitor *monitor,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    op_list ops = {.n = 0};
    gemm_report_options how = {.device = options->device,
                               .folder = options->out ? options->out : "gemm-report",
                               .compare = options->compare,
                               .tune = options->tune,
                               .ops = ops.ops};
    if (options->n_arguments < 5) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "operands or sizes are missing");
        weft_error_hint(error, "weft gemm report all 2000 2000 2000");
        goto done;
    }
    TRY(read_ops(options->arguments[1], WEFT_GEMM_DOUBLE, &ops, error));
    how.n_ops = ops.n;
    TRY(read_sizes(options, how.sizes, error));
    if (how.sizes[0] < 2 || how.sizes[1] < 2)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE,
                           "M and N are at least 2: complex types have half"));
    TRY(gemm_report(&how, monitor, error));
done:
    return status;
}

weft_status weft_tool_gemm(int argc, char **argv, app_messages *messages, int *code,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    gemm_options options = {.device = "auto", .algorithm = -1};
    gemm_mode mode = MODE_PRODUCTS;
    const app_command_line line = {.arguments =
                                       "TYPE OPS M N K\nspace TYPE [OPS]\nreport OPS M N K",
                                   .doc = doc,
                                   .tables = {{table, &options}},
                                   .argument = read_argument,
                                   .user = &options};
    TRY(app_command_line_read(&line, argc, argv, error));
    if (options.n_arguments > 0 && strcmp(options.arguments[0], "space") == 0)
        mode = MODE_SPACE;
    else if (options.n_arguments > 0 && strcmp(options.arguments[0], "report") == 0)
        mode = MODE_REPORT;
    TRY(check_mode(&options, mode, error));
    if (mode == MODE_SPACE)
        status = print_space(&options, &messages->monitor, error);
    else if (mode == MODE_REPORT)
        status = write_report(&options, &messages->monitor, error);
    else
        status = run_products(&options, messages, code, error);
done:
    return status;
}
