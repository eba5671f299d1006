/* The sequences: what they read and write, how users of a BLAS library write them, and what
 * they give in exact arithmetic. */
#include "bench_blas.h"

#include <math.h>

const char *const blas_input_names[BLAS_INPUTS] = {"A", "B", "x", "y",  "z",  "w",  "v",
                                                   "u", "p", "r", "u1", "u2", "v1", "v2"};

double blas_elements(const blas_sequence *sequence, int64_t n) {
    return sequence->matrix ? (double)n * (double)n : (double)n;
}

/* ---- by calls -------------------------------------------------------------------------------- */

static void multiply(blas_rival *b, bool transposed, const void *A, const void *x, void *y,
                     const double scales[2], int64_t n) {
    b->gemv(b, transposed,
            &(blas_gemv){.n = n, .alpha = scales[0], .beta = scales[1], .A = A, .x = x, .y = y});
}

static const double plain[2] = {1, 0};

static void call_axpydot(blas_rival *b, const blas_lists *l) {
    b->copy(b, l->n, l->in[BLAS_W], l->out[0]);
    b->axpy(b, l->n, -BLAS_ALPHA, l->in[BLAS_V], l->out[0]);
    b->dot(b, l->n, l->out[0], l->in[BLAS_U], l->out[1]);
}

static void call_atax(blas_rival *b, const blas_lists *l) {
    multiply(b, false, l->in[BLAS_A], l->in[BLAS_X], l->scratch, plain, l->n);
    multiply(b, true, l->in[BLAS_A], l->scratch, l->out[0], plain, l->n);
}

static void call_bicgk(blas_rival *b, const blas_lists *l) {
    multiply(b, false, l->in[BLAS_A], l->in[BLAS_P], l->out[0], plain, l->n);
    multiply(b, true, l->in[BLAS_A], l->in[BLAS_R], l->out[1], plain, l->n);
}

static void call_sgemv(blas_rival *b, const blas_lists *l) {
    static const double scales[2] = {BLAS_ALPHA, BLAS_BETA};
    b->copy(b, l->n, l->in[BLAS_Y], l->out[0]);
    multiply(b, false, l->in[BLAS_A], l->in[BLAS_X], l->out[0], scales, l->n);
}

/* x = beta A^T y + z, w = alpha A x */
static void transposed_then_plain(blas_rival *b, const blas_lists *l, const void *A, void *x,
                                  void *w) {
    static const double first[2] = {BLAS_BETA, 1}, second[2] = {BLAS_ALPHA, 0};
    b->copy(b, l->n, l->in[BLAS_Z], x);
    multiply(b, true, A, l->in[BLAS_Y], x, first, l->n);
    multiply(b, false, A, x, w, second, l->n);
}

static void call_sgemvt(blas_rival *b, const blas_lists *l) {
    transposed_then_plain(b, l, l->in[BLAS_A], l->out[0], l->out[1]);
}

static void call_sscal(blas_rival *b, const blas_lists *l) {
    b->scal(b, l->n, BLAS_ALPHA, l->out[0]);
}

static void call_gemver(blas_rival *b, const blas_lists *l) {
    b->copy_matrix(b, l->n, l->in[BLAS_A], l->out[0]);
    b->ger(b, l->n, l->in[BLAS_U1], l->in[BLAS_V1], l->out[0]);
    b->ger(b, l->n, l->in[BLAS_U2], l->in[BLAS_V2], l->out[0]);
    transposed_then_plain(b, l, l->out[0], l->out[1], l->out[2]);
}

static void call_gesummv(blas_rival *b, const blas_lists *l) {
    static const double first[2] = {BLAS_ALPHA, 0}, second[2] = {BLAS_BETA, 1};
    multiply(b, false, l->in[BLAS_A], l->in[BLAS_X], l->out[0], first, l->n);
    multiply(b, false, l->in[BLAS_B], l->in[BLAS_X], l->out[0], second, l->n);
}

static void call_madd(blas_rival *b, const blas_lists *l) {
    b->madd(b, l->n, l->in[BLAS_A], l->in[BLAS_B], l->out[0]);
}

static void call_vadd(blas_rival *b, const blas_lists *l) {
    b->copy(b, l->n, l->in[BLAS_W], l->out[0]);
    b->axpy(b, l->n, 1, l->in[BLAS_Y], l->out[0]);
    b->axpy(b, l->n, 1, l->in[BLAS_Z], l->out[0]);
}

static void call_waxpby(blas_rival *b, const blas_lists *l) {
    b->copy(b, l->n, l->in[BLAS_X], l->out[0]);
    b->scal(b, l->n, BLAS_ALPHA, l->out[0]);
    b->axpy(b, l->n, BLAS_BETA, l->in[BLAS_Y], l->out[0]);
}

static void call_symv(blas_rival *b, const blas_lists *l) {
    b->triangle(b, l->n, true, false, l->in[BLAS_A], l->in[BLAS_X], l->out[0]);
}

static void call_trmv(blas_rival *b, const blas_lists *l) {
    b->triangle(b, l->n, false, false, l->in[BLAS_A], l->in[BLAS_X], l->out[0]);
}

static void call_spmv(blas_rival *b, const blas_lists *l) {
    b->triangle(b, l->n, true, true, l->in[BLAS_A], l->in[BLAS_X], l->out[0]);
}

static void call_tpmv(blas_rival *b, const blas_lists *l) {
    b->triangle(b, l->n, false, true, l->in[BLAS_A], l->in[BLAS_X], l->out[0]);
}

/* ---- in exact arithmetic --------------------------------------------------------------------- */

static blas_term scaled(double factor, blas_term a) {
    return (blas_term){factor * a.value, fabs(factor) * a.size, factor * factor * a.squares};
}

static blas_term sum(blas_term a, blas_term b) {
    return (blas_term){a.value + b.value, a.size + b.size, a.squares + b.squares};
}

/* out[i] = a first_i + b second_i + third_i; b 0: without the second and the third */
static void combine(blas_reference *r, double a, blas_input first, double b, blas_input second) {
    for (int64_t i = 0; i < r->data->n; ++i) {
        r->vectors[0][i] = scaled(a, blas_reference_input(r, first, i));
        if (b != 0)
            r->vectors[0][i] = sum(r->vectors[0][i], scaled(b, blas_reference_input(r, second, i)));
    }
}

static void load(const blas_reference *r, blas_input which, blas_term *out) {
    for (int64_t i = 0; i < r->data->n; ++i)
        out[i] = blas_reference_input(r, which, i);
}

static void expect_axpydot(blas_reference *r) {
    combine(r, 1, BLAS_W, -BLAS_ALPHA, BLAS_V);
    *r->vectors[1] = (blas_term){0, 0, 0};
    for (int64_t i = 0; i < r->data->n; ++i)
        blas_term_accumulate(r->vectors[1], r->vectors[0][i], blas_reference_input(r, BLAS_U, i));
    r->terms[0] = 2;
    r->terms[1] = (double)r->data->n + 2;
}

static void expect_atax(blas_reference *r) {
    load(r, BLAS_X, r->vectors[0]);
    blas_reference_product(r, MATRIX_A, false, r->vectors[0], r->scratch);
    blas_reference_product(r, MATRIX_A, true, r->scratch, r->vectors[0]);
}

static void expect_bicgk(blas_reference *r) {
    load(r, BLAS_P, r->scratch);
    blas_reference_product(r, MATRIX_A, false, r->scratch, r->vectors[0]);
    load(r, BLAS_R, r->scratch);
    blas_reference_product(r, MATRIX_A, true, r->scratch, r->vectors[1]);
}

static void expect_sgemv(blas_reference *r) {
    load(r, BLAS_X, r->scratch);
    blas_reference_product(r, MATRIX_A, false, r->scratch, r->vectors[0]);
    for (int64_t i = 0; i < r->data->n; ++i)
        r->vectors[0][i] = sum(scaled(BLAS_ALPHA, r->vectors[0][i]),
                               scaled(BLAS_BETA, blas_reference_input(r, BLAS_Y, i)));
}

static void expect_transposed_then_plain(blas_reference *r, blas_matrix A, blas_term *x,
                                         blas_term *w) {
    load(r, BLAS_Y, r->scratch);
    blas_reference_product(r, A, true, r->scratch, x);
    for (int64_t j = 0; j < r->data->n; ++j)
        x[j] = sum(scaled(BLAS_BETA, x[j]), blas_reference_input(r, BLAS_Z, j));
    blas_reference_product(r, A, false, x, w);
    for (int64_t i = 0; i < r->data->n; ++i)
        w[i] = scaled(BLAS_ALPHA, w[i]);
}

static void expect_sgemvt(blas_reference *r) {
    expect_transposed_then_plain(r, MATRIX_A, r->vectors[0], r->vectors[1]);
}

static void expect_sscal(blas_reference *r) {
    combine(r, BLAS_ALPHA, BLAS_X, 0, BLAS_X);
    r->terms[0] = 1;
}

static void expect_gemver(blas_reference *r) {
    r->matrix = MATRIX_UPDATED;
    r->terms[0] = 3;
    expect_transposed_then_plain(r, MATRIX_UPDATED, r->vectors[1], r->vectors[2]);
}

static void expect_gesummv(blas_reference *r) {
    load(r, BLAS_X, r->scratch);
    blas_reference_product(r, MATRIX_A, false, r->scratch, r->vectors[0]);
    for (int64_t i = 0; i < r->data->n; ++i) /* y = alpha A x + beta B x, B x in place of x */
        r->vectors[0][i] = scaled(BLAS_ALPHA, r->vectors[0][i]);
    blas_term *Bx = r->scratch + r->data->n;
    blas_reference_product(r, MATRIX_B, false, r->scratch, Bx);
    for (int64_t i = 0; i < r->data->n; ++i)
        r->vectors[0][i] = sum(r->vectors[0][i], scaled(BLAS_BETA, Bx[i]));
}

static void expect_madd(blas_reference *r) {
    r->matrix = MATRIX_SUM;
    r->terms[0] = 2;
}

static void expect_vadd(blas_reference *r) {
    combine(r, 1, BLAS_W, 1, BLAS_Y);
    for (int64_t i = 0; i < r->data->n; ++i)
        r->vectors[0][i] = sum(r->vectors[0][i], blas_reference_input(r, BLAS_Z, i));
    r->terms[0] = 3;
}

static void expect_waxpby(blas_reference *r) {
    combine(r, BLAS_ALPHA, BLAS_X, BLAS_BETA, BLAS_Y);
    r->terms[0] = 2;
}

static void expect_triangle(blas_reference *r, blas_matrix matrix) {
    load(r, BLAS_X, r->scratch);
    blas_reference_product(r, matrix, false, r->scratch, r->vectors[0]);
}

static void expect_symv(blas_reference *r) {
    expect_triangle(r, MATRIX_SYMMETRIC);
}

static void expect_trmv(blas_reference *r) {
    expect_triangle(r, MATRIX_TRIANGULAR);
}

static void expect_spmv(blas_reference *r) {
    expect_triangle(r, MATRIX_SYMMETRIC_PACKED);
}

static void expect_tpmv(blas_reference *r) {
    expect_triangle(r, MATRIX_TRIANGULAR_PACKED);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* In the order of Table 2; then those that are not in the paper. flops and lists: of the terms of highest order. */
/* clang-format off */
const blas_sequence blas_sequences[BLAS_SEQUENCES] = {
    {"AXPYDOT", "axpydot", "FS", .flops = 4, .lists = 4, .n_inputs = 3,
     .inputs = {BLAS_W, BLAS_V, BLAS_U}, .outputs = {{"z", BLAS_VECTOR}, {"r", BLAS_NUMBER}},
     .call = call_axpydot, .expect = expect_axpydot, .asked_ratio = 2.3, .asked_share = 0.98},
    {"ATAX", "atax", "", .matrix = true, .reads = true, .flops = 4, .lists = 1, .n_inputs = 2,
     .inputs = {BLAS_A, BLAS_X}, .outputs = {{"y", BLAS_VECTOR}},
     .call = call_atax, .expect = expect_atax, .asked_ratio = 2.0, .asked_share = 0.95},
    {"BiCGK", "bicgk", "F", .matrix = true, .reads = true, .flops = 4, .lists = 1, .n_inputs = 3,
     .inputs = {BLAS_A, BLAS_P, BLAS_R}, .outputs = {{"q", BLAS_VECTOR}, {"s", BLAS_VECTOR}},
     .call = call_bicgk, .expect = expect_bicgk, .asked_ratio = 1.95, .asked_share = 0.95},
    {"SGEMV", "sgemv", "B", .matrix = true, .reads = true, .flops = 2, .lists = 1, .n_inputs = 3,
     .inputs = {BLAS_A, BLAS_X, BLAS_Y}, .outputs = {{"z", BLAS_VECTOR}},
     .call = call_sgemv, .expect = expect_sgemv, .asked_ratio = 1.05, .asked_share = 0.98},
    {"SGEMVT", "sgemvt", "(S)", .matrix = true, .reads = true, .flops = 4, .lists = 1, .n_inputs = 3,
     .inputs = {BLAS_A, BLAS_Y, BLAS_Z}, .outputs = {{"x", BLAS_VECTOR}, {"w", BLAS_VECTOR}},
     .call = call_sgemvt, .expect = expect_sgemvt, .asked_ratio = 1.85, .asked_share = 0.88},
    {"SSCAL", "sscal", "B", .in_place = true, .flops = 1, .lists = 2, .n_inputs = 1,
     .inputs = {BLAS_X}, .outputs = {{"x", BLAS_VECTOR}},
     .call = call_sscal, .expect = expect_sscal, .asked_ratio = 1.4, .asked_share = 0.98},
    {"GEMVER", "gemver", "FS", .matrix = true, .flops = 8, .lists = 2, .n_inputs = 7,
     .inputs = {BLAS_A, BLAS_U1, BLAS_U2, BLAS_Y, BLAS_V1, BLAS_V2, BLAS_Z},
     .outputs = {{"B", BLAS_MATRIX}, {"x", BLAS_VECTOR}, {"w", BLAS_VECTOR}},
     .call = call_gemver, .expect = expect_gemver, .asked_ratio = 3.7, .asked_share = 0.75},
    {"GESUMMV", "gesummv", "(F)", .matrix = true, .reads = true, .flops = 4, .lists = 2, .n_inputs = 3,
     .inputs = {BLAS_A, BLAS_B, BLAS_X}, .outputs = {{"y", BLAS_VECTOR}},
     .call = call_gesummv, .expect = expect_gesummv, .asked_ratio = 1.05, .asked_share = 0.98},
    {"MADD", "madd", "S", .matrix = true, .flops = 1, .lists = 3, .n_inputs = 2,
     .inputs = {BLAS_A, BLAS_B}, .outputs = {{"C", BLAS_MATRIX}},
     .call = call_madd, .expect = expect_madd, .asked_ratio = 1.0, .asked_share = 0.98},
    {"VADD", "vadd", "FS", .flops = 2, .lists = 4, .n_inputs = 3,
     .inputs = {BLAS_W, BLAS_Y, BLAS_Z}, .outputs = {{"x", BLAS_VECTOR}},
     .call = call_vadd, .expect = expect_vadd, .asked_ratio = 2.8, .asked_share = 0.98},
    {"WAXPBY", "waxpby", "F", .flops = 3, .lists = 3, .n_inputs = 2,
     .inputs = {BLAS_X, BLAS_Y}, .outputs = {{"w", BLAS_VECTOR}},
     .call = call_waxpby, .expect = expect_waxpby, .asked_ratio = 3.4, .asked_share = 0.98},
    {"SYMV", "symv", "", .matrix = true, .reads = true, .flops = 2, .lists = 0.5, .n_inputs = 2,
     .inputs = {BLAS_A, BLAS_X}, .outputs = {{"y", BLAS_VECTOR}},
     .call = call_symv, .expect = expect_symv, .asked_ratio = 1.8, .asked_share = 0.85},
    {"TRMV", "trmv", "", .matrix = true, .reads = true, .flops = 1, .lists = 0.5, .n_inputs = 2,
     .inputs = {BLAS_A, BLAS_X}, .outputs = {{"y", BLAS_VECTOR}},
     .call = call_trmv, .expect = expect_trmv, .asked_ratio = 1.8, .asked_share = 0.85},
    {"SPMV", "spmv", "", .matrix = true, .reads = true, .flops = 2, .lists = 0.5, .n_inputs = 2,
     .inputs = {BLAS_A, BLAS_X}, .outputs = {{"y", BLAS_VECTOR}},
     .call = call_spmv, .expect = expect_spmv, .asked_ratio = 1.8, .asked_share = 0.85},
    {"TPMV", "tpmv", "", .matrix = true, .reads = true, .flops = 1, .lists = 0.5, .n_inputs = 2,
     .inputs = {BLAS_A, BLAS_X}, .outputs = {{"y", BLAS_VECTOR}},
     .call = call_tpmv, .expect = expect_tpmv, .asked_ratio = 1.8, .asked_share = 0.85}};
/* clang-format on */
