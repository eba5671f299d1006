/** weft gemm: a product with its data, other libraries that compute it, and its check. */
#pragma once

#include "apps/weft/tool.h"
#include "gemm/roof.h"
#include "gemm/tune.h"

/** A product whose matrices hold random numbers in [-1, 1): number i of a memory is a period of
 *  numbers at i modulo their count, so that the host need not keep matrices. */
typedef struct gemm_case {
    weft_device *device;
    weft_gemm_product product; /* memories are owned; c.memory is of our result */
    int64_t n;                 /* products of a batch */
    double *period;            /* [n_period] */
    int64_t n_period;
    const char *layout; /* "NN" */
    bool three; /* a complex product is computed by three real ones, also by other libraries */
} gemm_case;
/** Make data for a type and sizes, for every order of the operands.
 *  out     caller's; gemm_case_free
 *  Errors  WEFT_ERROR_MEMORY, those of memories */
weft_status gemm_case_make(weft_device *device, weft_gemm_type type, const int64_t sizes[3],
                           int64_t n, gemm_case *out, weft_error *error);
void gemm_case_free(gemm_case *one);
/** Set the order of the operands, and the leading dimensions that belong to it. */
void gemm_case_set(gemm_case *one, weft_gemm_op op_a, weft_gemm_op op_b);

/** Operations of one product. */
double gemm_flops(const weft_gemm_product *product);
/** Append the tile of a point and the arrangement of warps or threads in it: "128 x 64 x 16 | 8 warps of 32 x 32". */
void gemm_tiling_add(const weft_gemm_point *point, weft_gemm_type type, weft_text *out);

/** The largest error of C on some entries (all of them if there are few), relative to the sum of the
 *  absolute values of the products of an entry, against sums in twice the precision of double; with
 *  alpha = 1 and beta = 0. Of three real products that sum is the one of weft_gemm_3m.
 *  hash  of these entries, to compare the bits of two runs */
weft_status gemm_case_error(const gemm_case *one, double *out, uint64_t *hash, weft_error *error);

/** Another library that computes the product. */
typedef struct gemm_rival {
    const char *name;
    int n_forms; /* ways to call it: for a batch, with strides and with pointers */
    weft_status (*run)(void *state, int form, const gemm_case *one, weft_error *error);
    void (*close)(void *state);
    void *state;
} gemm_rival;
/** Open a library for a case.
 *  name    "cublas" (on a GPU) or "openblas" (on the host)
 *  out     caller's; out->close(out->state)
 *  Errors  WEFT_ERROR_USAGE: unknown name; WEFT_ERROR_UNSUPPORTED: it is not installed, or of
 *          another device */
weft_status gemm_rival_open(const char *name, const gemm_case *one, gemm_rival *out,
                            weft_error *error);
/** (apps/weft/gemm_cublas.c, apps/weft/gemm_openblas.c) */
weft_status gemm_cublas_open(const gemm_case *one, gemm_rival *out, weft_error *error);
weft_status gemm_openblas_open(const gemm_case *one, gemm_rival *out, weft_error *error);
/** The first shared library that can be opened, by its name or in the CUDA toolkit's folder.
 *  names  NULL-terminated
 *  Errors  WEFT_ERROR_UNSUPPORTED, with a hint */
weft_status gemm_library_open(const char *const *names, void **out, weft_error *error);

/** The command line. Texts are borrowed. */
typedef struct gemm_options {
    const char *device, *compare, *point, *out, *t4[2];
    double energy; /* seconds; 0: do not measure */
    const char *arguments[5];
    int n_arguments, n_t4, batch;
    bool check;
    int algorithm;                /* GEMM_ALGORITHM_3M, 0: standard; -1: not given */
    double tune;                  /* seconds; 0: do not */
    int warps, blocks, in_flight; /* guidelines; -1: not given */
    double reuse;
} gemm_options;
/** The guidelines of a type, with those that were given. (apps/weft/gemm.c) */
weft_gemm_guidelines gemm_guidelines(const gemm_options *options, weft_gemm_type type);
enum { GEMM_ALGORITHM_3M = 1 };

/** Which operands are transposed: op(A), op(B) of each product. */
typedef struct gemm_orders {
    weft_gemm_op ops[9][2];
    int n;
} gemm_orders;
/** Time, tune, check and compare a product in each order of its operands, and print the results.
 *  code  becomes 1 if a check fails
 *  Errors  WEFT_ERROR_USAGE (options that do not go together), those of devices, products and the other library */
weft_status gemm_products_run(const gemm_options *options, weft_gemm_type type,
                              const gemm_orders *ops, const int64_t sizes[3],
                              const weft_monitor *monitor, int *code, weft_error *error);

/** What weft gemm report is asked for. Texts are borrowed. */
typedef struct gemm_report_options {
    const char *device, *folder, *compare; /* compare: NULL, or another library */
    double tune;                           /* seconds of each search; 0: only stored winners */
    int64_t sizes[3];                      /* m, n, k; of complex types m / 2, n / 2, k */
    weft_gemm_op (*ops)[2];                /* [n_ops] */
    int n_ops;
} gemm_report_options;
/** Search, then write report.md, figures.gp and, with gnuplot, space.svg and sizes.svg into a folder.
 *  Errors  WEFT_ERROR_IO; those of searches and of the other library */
weft_status gemm_report(const gemm_report_options *how, const weft_monitor *monitor,
                        weft_error *error);
