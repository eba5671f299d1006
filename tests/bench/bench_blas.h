/** Shared by the parts of bench_blas: the eleven sequences of BLAS calls of Filipovic et al. 2015,
 *  table 1, and products with symmetric and triangular matrices, by Weft and by a BLAS library in one run.
 *
 *      bench_blas_options.c    command line
 *      bench_blas_sequences.c  the sequences: names, work, calls of a BLAS library
 *      bench_blas_data.c       random data, outputs
 *      bench_blas_reference.c  expected results and how far results are from them
 *      bench_blas_program.c    a sequence by Weft: the first plan, and the best predicted ones
 *      bench_blas_cblas.c      the rival on the host
 *      bench_blas_cublas.c     the rival on a GPU
 *      bench_blas_bandwidth.c  read and copy bandwidth
 *      bench_blas_run.c        all sequences over sizes
 *      bench_blas_tables.c     tables and JSON */
#ifndef BENCH_BLAS_H
#define BENCH_BLAS_H

#include "core/weft_core.h"
#include "fusion/weft_library.h"

#include <jansson.h>

enum {
    BLAS_PAPER = 11 /* sequences of the paper, the first ones */,
    BLAS_SEQUENCES = 15,
    BLAS_SIZES = 24,
    BLAS_OUTPUTS = 3
};

typedef struct blas_options {
    const char *device, *json, *blas; /* blas: file of the BLAS library; NULL: the usual ones */
    bool single, check;
    bool sequences[BLAS_SEQUENCES];
    int64_t sizes[BLAS_SIZES], lengths[BLAS_SIZES]; /* of matrices and vectors */
    int n_sizes, n_lengths, repeats, plans, seed;
} blas_options;

/** Errors WEFT_ERROR_USAGE. --help is printed here and ends the program. */
weft_status blas_options_parse(int argc, char **argv, blas_options *out, weft_error *error);

/* ---- data ------------------------------------------------------------------------------------ */

/** The inputs of all scripts by their names; vectors have n elements, matrices [n][n]. */
typedef enum blas_input {
    BLAS_A,
    BLAS_B,
    BLAS_X,
    BLAS_Y,
    BLAS_Z,
    BLAS_W,
    BLAS_V,
    BLAS_U,
    BLAS_P,
    BLAS_R,
    BLAS_U1,
    BLAS_U2,
    BLAS_V1,
    BLAS_V2,
    BLAS_INPUTS
} blas_input;
extern const char *const blas_input_names[BLAS_INPUTS];
#define BLAS_ALPHA 0.9990234375
#define BLAS_BETA 0.75

/** Inputs of one size, each made when it is first asked for. */
typedef struct blas_data {
    weft_device *device, *host; /* borrowed */
    bool single;
    int64_t n;
    uint64_t seed;
    void *values[BLAS_INPUTS];          /* on the host; NULL: not made yet */
    weft_memory *memories[BLAS_INPUTS]; /* on the device */
    weft_memory *numbers[2];            /* alpha, beta */
} blas_data;

typedef enum blas_shape { BLAS_NUMBER, BLAS_VECTOR, BLAS_MATRIX } blas_shape;
/** Number of elements of a list. */
int64_t blas_count(int64_t n, blas_shape shape);
weft_status blas_data_make(blas_data *data, weft_error *error);
weft_status blas_data_need(blas_data *data, blas_input which, weft_error *error);
void blas_data_clear(blas_data *data);
/** Memory of a device for a list, with room for whole vectors of lanes. */
weft_status blas_memory(const blas_data *data, blas_shape shape, weft_memory **out,
                        weft_error *error);
double blas_value(const void *list, bool single, int64_t i);

/* ---- sequences ------------------------------------------------------------------------------- */

/** y = alpha op(A) x + beta y */
typedef struct blas_gemv {
    int64_t n;
    double alpha, beta;
    const void *A, *x;
    void *y;
} blas_gemv;

/** A BLAS library on a device. Matrices are [n][n], row after row. A failed call sets `failed` and
 *  `code` once. */
typedef struct blas_rival blas_rival;
struct blas_rival {
    const char *name;
    char missing[512]; /* why there is none; "": there is one */
    bool single;
    int code; /* of the first call that failed; 0: none */
    const char *failed;
    void *state;
    void *(*address)(const weft_memory *memory);
    void (*copy)(blas_rival *rival, int64_t n, const void *x, void *y);
    void (*copy_matrix)(blas_rival *rival, int64_t n, const void *A, void *B);
    void (*axpy)(blas_rival *rival, int64_t n, double alpha, const void *x, void *y);
    void (*scal)(blas_rival *rival, int64_t n, double alpha, void *x);
    void (*dot)(blas_rival *rival, int64_t n, const void *x, const void *y, void *result);
    void (*gemv)(blas_rival *rival, bool transposed, const blas_gemv *call);
    void (*ger)(blas_rival *rival, int64_t n, const void *x, const void *y, void *A);
    /* y = A x with the lower triangle of A: symv, spmv, trmv, tpmv */
    void (*triangle)(blas_rival *rival, int64_t n, bool symmetric, bool packed, const void *A,
                     const void *x, void *y);
    void (*madd)(blas_rival *rival, int64_t n, const void *A, const void *B, void *C);
    void (*close)(blas_rival *rival);
};

/** Open the device's BLAS library, or say in *out why there is none. */
weft_status blas_cblas_open(weft_device *device, const blas_options *options, blas_rival *out,
                            weft_error *error);
weft_status blas_cublas_open(weft_device *device, const blas_options *options, blas_rival *out,
                             weft_error *error);
void blas_rival_close(blas_rival *rival);

/** The addresses of a sequence's lists. */
typedef struct blas_lists {
    int64_t n;
    const void *in[BLAS_INPUTS];
    void *out[BLAS_OUTPUTS], *scratch; /* scratch: a vector */
} blas_lists;

struct blas_reference;

typedef struct blas_sequence {
    const char *name, *script, *tag; /* tag: F, S, B as in Table 1 of the paper */
    bool matrix;                     /* over rows and columns; else vectors alone */
    bool in_place;                   /* overwrites its first input */
    double flops, lists; /* per element of a matrix (or vector): operations, least accesses */
    bool reads;          /* to be compared with the read bandwidth; else with that of copying */
    int n_inputs;
    blas_input inputs[8];
    struct {
        const char *name;
        blas_shape shape;
    } outputs[BLAS_OUTPUTS]; /* name NULL: no more */
    void (*call)(blas_rival *rival, const blas_lists *lists);
    void (*expect)(struct blas_reference *reference);
    /* asked of an H200 in single precision at the sizes of the tables: speed-up, share of the read
     * or copy bandwidth */
    double asked_ratio, asked_share;
} blas_sequence;
extern const blas_sequence blas_sequences[BLAS_SEQUENCES];
/** Elements of its matrices or vectors. */
double blas_elements(const blas_sequence *sequence, int64_t n);

/* ---- expected results ------------------------------------------------------------------------ */

/** A sum, and the sums of its terms' absolute values and squares. */
typedef struct blas_term {
    long double value;
    double size, squares;
} blas_term;
typedef enum blas_matrix {
    MATRIX_A,
    MATRIX_B,
    MATRIX_SUM,
    MATRIX_UPDATED,
    /* lower triangles in A's memory, in full and packed */
    MATRIX_SYMMETRIC,
    MATRIX_TRIANGULAR,
    MATRIX_SYMMETRIC_PACKED,
    MATRIX_TRIANGULAR_PACKED
} blas_matrix;

typedef struct blas_reference {
    const blas_data *data;
    const blas_sequence *sequence;
    blas_term *vectors[BLAS_OUTPUTS], *scratch;
    blas_matrix matrix;         /* the output that is a matrix */
    double terms[BLAS_OUTPUTS]; /* most terms of a sum */
} blas_reference;

weft_status blas_reference_make(const blas_data *data, const blas_sequence *sequence,
                                blas_reference **out, weft_error *error);
void blas_reference_free(blas_reference **reference);
/** Largest |value - expected| / allowed over output k; INFINITY for a NaN. Allowed is the lesser of
 *  terms * eps * sum |terms|, which bounds every order of additions, and of
 *  16 eps sqrt(terms * sum terms^2), which errors of random terms stay a factor of ten below, and
 *  which a term that is lost or counted twice exceeds. */
double blas_reference_error(const blas_reference *reference, int k, const void *values);
/** For `expect`: the parts of sequences. */
blas_term blas_reference_input(const blas_reference *reference, blas_input which, int64_t i);
void blas_term_accumulate(blas_term *sum, blas_term a, blas_term b); /* sum += a * b, one term */
void blas_reference_product(const blas_reference *reference, blas_matrix matrix, bool transposed,
                            const blas_term *x, blas_term *y);

/* ---- measuring ------------------------------------------------------------------------------- */

typedef weft_status (*blas_task)(void *user, weft_error *error);

/** Everything that measurements of one sequence at one size need. */
typedef struct blas_case {
    const blas_options *options;
    const blas_sequence *sequence;
    blas_data *data;
    const weft_library *library;
    weft_timer *timer;
    weft_memory *outputs[BLAS_OUTPUTS], *scratch;
    blas_reference *reference; /* NULL: results are not checked */
    void *buffer;              /* an output on the host */
} blas_case;

weft_status blas_case_make(blas_case *c, weft_error *error);
void blas_case_clear(blas_case *c);
/** Run a task on poisoned outputs twice.
 *  worst  largest error of the reference's measure, INFINITY where the two runs differ in a bit;
 *         0 if results are not checked */
weft_status blas_case_check(const blas_case *c, blas_task task, void *user, double *worst,
                            weft_error *error);
/** Medians of the seconds of one execution of each task; the tasks alternate. tasks[1] may be
 *  NULL. */
weft_status blas_case_time(const blas_case *c, const blas_task *tasks, void *const *users,
                           double *seconds, weft_error *error);

/** What a size and a sequence took. Seconds 0: not measured. */
typedef struct blas_row {
    const blas_sequence *sequence;
    int64_t n;
    double weft, blas;             /* seconds */
    double predicted;              /* seconds of our plan, without a calibration */
    double weft_error, blas_error; /* of what is allowed; < 0: not checked */
    double read, copy;             /* bandwidth, bytes/s; 0: not measured */
    const char *note;              /* why it was skipped; NULL: it was not */
} blas_row;

/** The plans of a sequence. */
typedef struct blas_plans {
    const blas_sequence *sequence;
    int64_t n;
    int n_kernels, n_passes;         /* of the first plan: kernels, kernels over a matrix */
    int n_implementations, n_plans;  /* kept by the planner; covers, at most BLAS_PLANS_COUNTED */
    int n_measured, best;            /* plans measured; rank of the fastest one by prediction */
    double first_share, worst_share; /* of the speed of the fastest; 0: not measured */
    double plan_seconds, count_seconds, search_seconds;
    int n_wrong;
} blas_plans;
enum { BLAS_PLANS_COUNTED = 1000 };

typedef struct blas_program blas_program;
weft_status blas_program_make(const blas_case *c, blas_program **out, weft_error *error);
void blas_program_free(blas_program **program);
weft_status blas_program_run(void *program, weft_error *error);
/** Plans of a sequence; measures options->plans of them unless the device computes nothing. */
weft_status blas_plans_make(const blas_case *c, blas_plans *out, weft_error *error);

/** Predicted seconds of a sequence's plan. */
weft_status blas_predict(const blas_case *c, double *seconds, weft_error *error);

/** Bandwidth of reading `bytes`, and of copying half of them, in bytes/s. */
weft_status blas_bandwidth(const blas_case *c, double bytes, double *read, double *copy,
                           weft_error *error);

/* ---- tables ---------------------------------------------------------------------------------- */

typedef struct blas_results {
    const blas_options *options;
    char device[128],
        rival[512]; /* rival: its name, why there is none, or "": none was looked for */
    blas_row rows[BLAS_SEQUENCES * BLAS_SIZES];
    blas_plans plans[BLAS_SEQUENCES];
    int n_rows, n_plans, n_wrong;
} blas_results;
/** Measure the sequences over sizes, and print each row.
 *  options  borrowed, also by *out
 *  no_gpu   set to whether it fails because there is no such GPU
 *  Errors   those of devices, compilations and runs */
weft_status blas_run(const blas_options *options, blas_results *out, bool *no_gpu,
                     weft_error *error);

/** Operations of a row's sequence, and bytes per second on its least accesses. */
double blas_flops(const blas_row *row);
double blas_bytes_per_second(const blas_results *results, const blas_row *row);
/** The row at the size of the tables; NULL: there is none, or nothing was measured. */
const blas_row *blas_table_row(const blas_results *results, const blas_sequence *sequence);
void blas_row_head(const blas_results *results);
void blas_row_print(const blas_results *results, const blas_row *row);
/** The size that the tables are for: the largest matrix of order 16,384 or less, or the longest
 *  vectors. */
int64_t blas_table_size(const blas_options *options, bool matrix);
/** Tables 2 to 5. */
void blas_tables_print(const blas_results *results);
/** {device, rival, precision, rows, plans}; NULL: no memory. */
json_t *blas_results_json(const blas_results *results);
weft_status blas_results_write(const blas_results *results, const char *path, weft_error *error);

#endif
