/* Reads the command line of bench_blas. */
#include "apps/common/option_table.h"
#include "bench_blas.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Read each word of a list "a,b,c" by `take`. */
static weft_status read_words(const char *option, const char *text, blas_options *o,
                              weft_status (*take)(blas_options *o, const char *option,
                                                  const char *word, weft_error *error),
                              weft_error *error) {
    weft_status status = WEFT_OK;
    char *copy = strdup(text), *rest = NULL;
    if (!copy)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for options"));
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        TRY(take(o, option, word, error));
done:
    free(copy);
    return status;
}

static weft_status take_number(const char *option, const char *word, double most, int64_t *numbers,
                               int *n, weft_error *error) {
    double value = 0;
    if (*n == BLAS_SIZES)
        return weft_error_set(error, WEFT_ERROR_USAGE, "%s: more than %d numbers", option,
                              BLAS_SIZES);
    const weft_status status = app_parse_number(option, word, 16, most, &value, error);
    numbers[(*n)++] = (int64_t)value;
    return status;
}

static weft_status take_size(blas_options *o, const char *option, const char *word,
                             weft_error *error) {
    return take_number(option, word, 46340, o->sizes, &o->n_sizes, error);
}

static weft_status take_length(blas_options *o, const char *option, const char *word,
                               weft_error *error) {
    return take_number(option, word, 2147483584.0, o->lengths, &o->n_lengths, error);
}

static weft_status take_sequence(blas_options *o, const char *option, const char *word,
                                 weft_error *error) {
    const char *names[BLAS_SEQUENCES];
    int which = 0;
    for (int i = 0; i < BLAS_SEQUENCES; ++i)
        names[i] = blas_sequences[i].script;
    const weft_status status = app_parse_choice(option, word, names, BLAS_SEQUENCES, &which, error);
    o->sequences[which] = true;
    return status;
}

/* The rows of the lists have offset 0: `at` is the options. */
static weft_status read_sizes(const app_option *row, const char *option, const char *text, void *at,
                              weft_error *error) {
    (void)row;
    ((blas_options *)at)->n_sizes = 0;
    return read_words(option, text, at, take_size, error);
}

static weft_status read_lengths(const app_option *row, const char *option, const char *text,
                                void *at, weft_error *error) {
    (void)row;
    ((blas_options *)at)->n_lengths = 0;
    return read_words(option, text, at, take_length, error);
}

static weft_status read_sequences(const app_option *row, const char *option, const char *text,
                                  void *at, weft_error *error) {
    (void)row;
    memset(((blas_options *)at)->sequences, 0, sizeof((blas_options *)at)->sequences);
    return read_words(option, text, at, take_sequence, error);
}

static const char *const precisions[] = {"double", "single", NULL};
static const app_option rows[] = {
    {"device", "NAME", "host (default), cuda, cuda:N; null:h200 plans alone",
     APP_TEXT(blas_options, device)},
    {"precision", "single|double", "Precision (default: single)",
     APP_CHOICE(blas_options, single, precisions)},
    {"sizes", "N,...", "Orders of matrices (default: 256 to 32768, on the host to 8192)",
     .read = read_sizes},
    {"lengths", "N,...",
     "Lengths of vectors (default: with --sizes their squares, else 2^16 to 2^27, on the host to "
     "2^25)",
     .read = read_lengths},
    {"sequences", "NAME,...",
     "Sequences (default: the eleven of the paper; also symv, trmv, spmv, tpmv)",
     .read = read_sequences},
    {"repeat", "N", "Medians of N measurements (default: 11)",
     APP_INTEGER(blas_options, repeats, 1, 99)},
    {"plans", "N", "Measure the N plans of least predicted time (default: 0)",
     APP_INTEGER(blas_options, plans, 0, 300)},
    {"check", NULL, "Compare every result with long double, and two runs bit by bit",
     APP_FLAG(blas_options, check, 1)},
    {"blas", "FILE", "Another library with the C interface of BLAS, on the host",
     APP_TEXT(blas_options, blas)},
    {"seed", "N", "Of the random data (default: the time)",
     APP_INTEGER(blas_options, seed, 0, 2147483647)},
    {"json", "FILE", "All figures as JSON", APP_TEXT(blas_options, json)},
    {0}};

static const char doc[] =
    "Run the eleven sequences of BLAS calls of Filipovic et al. 2015 by Weft and by cuBLAS or "
    "OpenBLAS, and print Tables 2 to 5 of that paper for this machine. Exit status: 0 done, 1 a "
    "result is WRONG, 2 wrong usage, 3 the device failed, 77 there is no such GPU."
    "\vExamples:\n"
    "  bench_blas --device cuda --check --plans 20 --json blas.json\n"
    "  bench_blas --device host --sizes 1000,1024 --sequences atax,bicgk\n";

static void set_defaults(blas_options *o) {
    static const int64_t sizes[] = {256,  512,  1000,  1024,  2048, 4096,
                                    4099, 8192, 16384, 16411, 32768};
    static const int64_t lengths[] = {1 << 16,  1 << 18, 1 << 20, 1 << 22, 1 << 24,
                                      33333333, 1 << 25, 1 << 26, 1 << 27};
    const bool small = strncmp(o->device, "host", 4) == 0;
    for (int i = 0; o->n_lengths == 0 && i < o->n_sizes; ++i)
        o->lengths[i] = o->sizes[i] * o->sizes[i];
    if (o->n_lengths == 0)
        o->n_lengths = o->n_sizes;
    if (o->n_sizes == 0) {
        o->n_sizes = small ? 8 : 11;
        memcpy(o->sizes, sizes, (size_t)o->n_sizes * sizeof *sizes);
    }
    if (o->n_lengths == 0) {
        o->n_lengths = small ? 7 : 9;
        memcpy(o->lengths, lengths, (size_t)o->n_lengths * sizeof *lengths);
    }
}

weft_status blas_options_parse(int argc, char **argv, blas_options *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (blas_options){
        .device = "host", .single = true, .repeats = 11, .seed = (int)(time(NULL) & 0x7fffffff)};
    for (int i = 0; i < BLAS_PAPER; ++i)
        out->sequences[i] = true;
    TRY(app_command_line_read(
        &(app_command_line){.doc = doc, .tables = {{rows, out}}, .argument = app_argument_refuse},
        argc, argv, error));
    set_defaults(out);
done:
    return status;
}
