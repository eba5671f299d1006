/* weft gemm: reads its options, and prints the space of kernels of dense products. */
#include "apps/weft/gemm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static app_option_read read_export;
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
    {"warps", "N", "With space, --tune: warps that a multiprocessor holds, at least (default: 8)",
     APP_INTEGER(gemm_options, warps, 1, 64)},
    {"blocks", "N", "With space, --tune: blocks that a multiprocessor holds, at least (default: 1)",
     APP_INTEGER(gemm_options, blocks, 1, 64)},
    {"reuse", "X",
     "With space, --tune: multiply-adds per element that a warp reads from shared memory (fma: per "
     "16 bytes a thread "
     "reads), at least (default: 20; complex 32)",
     APP_NUMBER(gemm_options, reuse, 0, 1e6)},
    {"in-flight", "BYTES",
     "With space, --tune: bytes on their way to a multiprocessor, at least (default: 0; in double "
     "precision 40960)",
     APP_INTEGER(gemm_options, in_flight, 0, 1 << 24)},
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

/* "NN", "NN,TN", "all" */
static weft_status read_ops(const char *text, weft_gemm_type type, gemm_orders *out,
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
    enum { PRODUCTS = 1 << MODE_PRODUCTS, SPACE = 1 << MODE_SPACE, REPORT = 1 << MODE_REPORT };
    static const struct {
        const char *words, *options;
    } modes[] = {{"TYPE OPS M N K",
                  "--device, --batch, --tune (and with it --export), --check, --compare, "
                  "--energy, --point, --algorithm, and with --tune also --warps, --blocks, --reuse "
                  "and --in-flight"},
                 {"space", "--device, --warps, --blocks, --reuse and --in-flight"},
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
                {"warps", options->warps >= 0, PRODUCTS | SPACE},
                {"blocks", options->blocks >= 0, PRODUCTS | SPACE},
                {"reuse", options->reuse >= 0, PRODUCTS | SPACE},
                {"in-flight", options->in_flight >= 0, PRODUCTS | SPACE},
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
    if (mode == MODE_PRODUCTS && options->tune <= 0 &&
        (options->warps >= 0 || options->blocks >= 0 || options->reuse >= 0 ||
         options->in_flight >= 0))
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "--warps, --blocks, --reuse and --in-flight say what --tune SECONDS "
                              "tries, which is not given");
    if (mode == MODE_PRODUCTS && options->point && options->tune > 0)
        return weft_error_set(
            error, WEFT_ERROR_USAGE,
            "--tune searches for a kernel, --point names one: leave out one of them");
    return WEFT_OK;
}

weft_gemm_guidelines gemm_guidelines(const gemm_options *options, weft_gemm_type type) {
    weft_gemm_guidelines all = weft_gemm_guidelines_of(type);
    all.warps = options->warps >= 0 ? options->warps : all.warps;
    all.blocks = options->blocks >= 0 ? options->blocks : all.blocks;
    all.reuse = options->reuse >= 0 ? options->reuse : all.reuse;
    all.bytes_in_flight = options->in_flight >= 0 ? options->in_flight : all.bytes_in_flight;
    return all;
}

/* ---- weft gemm space ------------------------------------------------------------------------ */

static weft_status print_space(const gemm_options *options, const weft_monitor *monitor,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = NULL;
    weft_gemm_type type = WEFT_GEMM_DOUBLE;
    const weft_device_options device_options = weft_device_options_default(monitor);
    if (options->n_arguments < 2)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "the space of which type: S, D, C or Z?"));
    TRY(read_type(options->arguments[1], &type, error));
    if (options->n_arguments > 2) {
        status =
            weft_error_set(error, WEFT_ERROR_USAGE,
                           "'%.100s': the space does not depend on which operands are transposed",
                           options->arguments[2]);
        weft_error_hint(error, "leave it out");
        goto done;
    }
    TRY(weft_device_open(options->device, &device_options, &device, error));
    const weft_limits *limits = weft_device_limits(device);
    const weft_gemm_limits own = weft_gemm_limits_of(limits);
    const weft_gemm_guidelines guidelines = gemm_guidelines(options, type);
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

/* weft gemm TYPE OPS M N K */
static weft_status run_products(const gemm_options *options, const weft_monitor *monitor, int *code,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_gemm_type type = WEFT_GEMM_DOUBLE;
    gemm_orders ops = {.n = 0};
    int64_t sizes[3] = {0};
    if (options->n_arguments < 5)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "type, operands or sizes are missing",
                              "weft gemm D NN 1000 1000 1000; weft gemm --help explains them"));
    TRY(read_type(options->arguments[0], &type, error));
    TRY(read_ops(options->arguments[1], type, &ops, error));
    TRY(read_sizes(options, sizes, error));
    TRY(gemm_products_run(options, type, &ops, sizes, monitor, code, error));
done:
    return status;
}

/* weft gemm report OPS M N K */
static weft_status write_report(const gemm_options *options, const weft_monitor *monitor,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    gemm_orders ops = {.n = 0};
    gemm_report_options how = {.device = options->device,
                               .folder = options->out ? options->out : "gemm-report",
                               .compare = options->compare,
                               .tune = options->tune,
                               .ops = ops.ops};
    if (options->n_arguments < 5)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "operands or sizes are missing",
                              "weft gemm report all 2000 2000 2000"));
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

weft_status weft_tool_gemm(int argc, char **argv, const weft_monitor *monitor, int *code,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    gemm_options options = {
        .device = "auto", .algorithm = -1, .warps = -1, .blocks = -1, .reuse = -1, .in_flight = -1};
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
        status = print_space(&options, monitor, error);
    else if (mode == MODE_REPORT)
        status = write_report(&options, monitor, error);
    else
        status = run_products(&options, monitor, code, error);
done:
    return status;
}
