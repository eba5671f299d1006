/* labels: quick */
/* SYRK, SYMM, TRMM and TRSM in exact arithmetic: entries are small integers, so that every order of additions gives the same
 * sums. What a routine must not read is NaN, what it must not write keeps its value. TRSM: triangles whose inverses have small
 * integers, and diagonals of 1, -1 and 2 with solutions that are known. */
#include "emulated_gpu.h"
#include "gemm/weft_gemm.h"
#include "program_support.h"

typedef struct trial {
    weft_gemm_triangular_call call; /* without matrices */
    int64_t extra;                  /* first entry, and rows of the leading dimension beyond */
} trial;

/* A matrix of doubles by columns, [first + ld * columns], and its memory in the type of a call. */
typedef struct matrix {
    double *entries;
    int64_t rows, columns, first, ld, n;
    weft_memory *memory;
} matrix;

static matrix matrix_make(int64_t rows, int64_t columns, int64_t extra) {
    matrix m = {.rows = rows, .columns = columns, .first = extra, .ld = rows + extra};
    m.ld = m.ld > 0 ? m.ld : 1;
    m.n = m.first + m.ld * columns + 1;
    m.entries = malloc((size_t)m.n * sizeof *m.entries);
    assert_non_null(m.entries);
    for (int64_t i = 0; i < m.n; ++i)
        m.entries[i] = NAN;
    return m;
}

static double *at(const matrix *m, int64_t i, int64_t j) {
    return &m->entries[m->first + i + j * m->ld];
}

static void fill(matrix *m, uint64_t *state) {
    for (int64_t j = 0; j < m->columns; ++j)
        for (int64_t i = 0; i < m->rows; ++i)
            *at(m, i, j) = random_below(state, 7) - 3;
}

static weft_gemm_matrix upload(weft_device *device, matrix *m, bool single) {
    const size_t real = single ? sizeof(float) : sizeof(double);
    float *narrow = malloc((size_t)m->n * sizeof *narrow);
    assert_non_null(narrow);
    for (int64_t i = 0; i < m->n; ++i)
        narrow[i] = (float)m->entries[i];
    assert_int_equal(weft_memory_make(device, (size_t)m->n * real, &m->memory, NULL), WEFT_OK);
    assert_int_equal(weft_memory_write(m->memory, 0, single ? (void *)narrow : m->entries,
                                       (size_t)m->n * real, NULL),
                     WEFT_OK);
    free(narrow);
    return (weft_gemm_matrix){.memory = m->memory, .first = m->first, .ld = m->ld};
}

static void download(matrix *m, bool single, double *out) {
    const size_t real = single ? sizeof(float) : sizeof(double);
    float *narrow = malloc((size_t)m->n * sizeof *narrow);
    assert_non_null(narrow);
    assert_int_equal(
        weft_memory_read(m->memory, 0, single ? (void *)narrow : out, (size_t)m->n * real, NULL),
        WEFT_OK);
    for (int64_t i = 0; single && i < m->n; ++i)
        out[i] = (double)narrow[i];
    free(narrow);
}

static void matrix_free(matrix *m) {
    free(m->entries);
    weft_memory_free(&m->memory);
}

static bool is_stored(const weft_gemm_triangular_call *c, int64_t i, int64_t j) {
    return c->upper ? i <= j : i >= j;
}

/* Entry (i, j) of op(A), as the routine means it. */
static double of_a(const weft_gemm_triangular_call *c, const matrix *a, int64_t i, int64_t j) {
    const bool transposed = c->op_a != WEFT_GEMM_PLAIN && c->routine != WEFT_GEMM_SYMM;
    const int64_t row = transposed ? j : i, column = transposed ? i : j;
    if (c->routine == WEFT_GEMM_SYRK)
        return *at(a, row, column);
    if (c->unit && i == j)
        return 1;
    if (is_stored(c, row, column))
        return *at(a, row, column);
    return c->routine == WEFT_GEMM_SYMM ? *at(a, column, row) : 0;
}

/* The stored triangle; of a system, neighbours in few distances, so that powers of it vanish soon. */
static void fill_triangle(const weft_gemm_triangular_call *c, matrix *a, uint64_t *state) {
    const bool system = c->routine == WEFT_GEMM_TRSM;
    static const double diagonal[] = {1, -1, 2};
    for (int64_t j = 0; j < c->m; ++j)
        for (int64_t i = 0; i < c->m; ++i) {
            const int64_t distance = i > j ? i - j : j - i;
            if (!is_stored(c, i, j) || (c->unit && i == j))
                continue;
            *at(a, i, j) = i == j && system               ? diagonal[random_below(state, 3)]
                           : system && distance % 31 != 0 ? 0
                                                          : random_below(state, 7) - 3;
        }
}

/* op(A) x for a column x of a matrix with m rows. */
static double product_entry(const weft_gemm_triangular_call *c, const matrix *a, const matrix *b,
                            int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < c->m; ++k)
        sum += of_a(c, a, i, k) * *at(b, k, j);
    return sum;
}

static double expected_entry(const weft_gemm_triangular_call *c, const matrix *a, const matrix *b,
                             const matrix *old, int64_t i, int64_t j) {
    double sum = 0;
    if (c->routine == WEFT_GEMM_SYRK) {
        for (int64_t k = 0; k < c->n; ++k)
            sum += of_a(c, a, i, k) * of_a(c, a, j, k);
    } else
        sum = product_entry(c, a, b, i, j);
    const bool adds = c->beta != 0 && c->routine != WEFT_GEMM_TRMM;
    return c->alpha * sum + (adds ? c->beta * *at(old, i, j) : 0);
}

static void compare(const trial *t, const matrix *c, const matrix *expected, const double *found) {
    const int64_t last = c->n;
    for (int64_t k = 0; k < last; ++k) {
        const double e = expected->entries[k], f = found[k];
        if (!(e == f || (isnan(e) && isnan(f))))
            fail_msg("routine %d, type %d, %s, op %d, %s, %lld x %lld: place %lld is %g, not %g",
                     t->call.routine, t->call.type, t->call.upper ? "upper" : "lower", t->call.op_a,
                     t->call.unit ? "unit" : "any diagonal", (long long)t->call.m,
                     (long long)t->call.n, (long long)k, f, e);
    }
}

static void check(weft_device *device, weft_gemm_kernels *kernels, const trial *t) {
    weft_gemm_triangular_call call = t->call;
    const bool syrk = call.routine == WEFT_GEMM_SYRK, solves = call.routine == WEFT_GEMM_TRSM;
    const bool turned = syrk && call.op_a != WEFT_GEMM_PLAIN,
               single = call.type == WEFT_GEMM_SINGLE;
    uint64_t state = (uint64_t)(call.m * 7 + call.n);
    weft_error error = {0};
    matrix a = matrix_make(turned ? call.n : call.m, syrk && !turned ? call.n : call.m, t->extra);
    matrix b = matrix_make(call.m, call.n, t->extra + 1);
    matrix c = matrix_make(call.m, syrk ? call.m : call.n, 2 * t->extra);
    matrix expected = matrix_make(c.rows, c.columns, 2 * t->extra);
    if (syrk)
        fill(&a, &state);
    else
        fill_triangle(&call, &a, &state);
    fill(&b, &state);
    if (call.beta != 0)
        fill(&c, &state);
    for (int64_t j = 0; j < c.columns; ++j)
        for (int64_t i = 0; i < c.rows; ++i) {
            if (solves) { /* C = op(A) B / alpha, whose solution is B */
                *at(&c, i, j) = product_entry(&call, &a, &b, i, j);
                *at(&expected, i, j) = call.alpha * *at(&b, i, j);
            } else if (!syrk || is_stored(&call, i, j))
                *at(&expected, i, j) = expected_entry(&call, &a, &b, &c, i, j);
            else
                *at(&expected, i, j) = *at(&c, i, j);
        }
    call.a = upload(device, &a, single);
    call.b = upload(device, &b, single);
    call.c = upload(device, &c, single);
    case_check(weft_gemm_triangular(kernels, &call, &error), &error);
    assert_int_equal(weft_device_wait(device, &error), WEFT_OK);
    double *found = malloc((size_t)c.n * sizeof *found);
    assert_non_null(found);
    download(&c, single, found);
    compare(t, &c, &expected, found);
    free(found);
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&c);
    matrix_free(&expected);
}

/* Every routine, triangle, order and diagonal, for one size. */
static void check_all(weft_device *device, int64_t m, int64_t n, int every) {
    weft_gemm_kernels *kernels = NULL;
    assert_int_equal(weft_gemm_kernels_make(device, &kernels, NULL), WEFT_OK);
    for (int k = 0; k < 64; k += every) {
        const weft_gemm_routine routine = (weft_gemm_routine)(k & 3);
        const trial t = {.call = {.routine = routine,
                                  .type = k & 4 ? WEFT_GEMM_DOUBLE : WEFT_GEMM_SINGLE,
                                  .upper = k & 8,
                                  .op_a = k & 16 ? WEFT_GEMM_TRANSPOSED : WEFT_GEMM_PLAIN,
                                  .unit = (k & 32) && routine >= WEFT_GEMM_TRMM,
                                  .m = m,
                                  .n = n,
                                  .alpha = k & 32 ? 1 : 2,
                                  .beta = k & 16 ? 3 : 0},
                         .extra = k % 3};
        check(device, kernels, &t);
    }
    weft_gemm_kernels_free(&kernels);
}

static weft_device *open_device(bool emulated) {
    const weft_device_options options = weft_device_options_default(NULL);
    weft_device *device = NULL;
    weft_error error = {0};
    case_check(weft_device_open(emulated ? "host:1" : "host:2", &options, &device, &error), &error);
    if (emulated)
        emulated_gpu_make(device);
    return device;
}

static void on_host(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{1, 1},    {5, 3}, {64, 7}, {65, 66},
                                       {200, 33}, {3, 0}, {0, 4}};
    weft_device *device = open_device(false);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        check_all(device, sizes[i][0], sizes[i][1], 1);
    weft_device_free(&device);
}

/* Of the eight routines and triangles one each. */
static void on_gpu_text(void **state) {
    (void)state;
    weft_device *device = open_device(true);
    check_all(device, 70, 5, 9);
    weft_device_free(&device);
}

static void refused(void **state) {
    (void)state;
    weft_device *device = open_device(false);
    weft_gemm_kernels *kernels = NULL;
    weft_error error = {0};
    assert_int_equal(weft_gemm_kernels_make(device, &kernels, NULL), WEFT_OK);
    const weft_gemm_triangular_call complex = {.type = WEFT_GEMM_DOUBLE_COMPLEX, .m = 1, .n = 1};
    assert_int_equal(weft_gemm_triangular(kernels, &complex, &error), WEFT_ERROR_UNSUPPORTED);
    matrix a = matrix_make(4, 4, 0);
    weft_gemm_triangular_call small = {
        .routine = WEFT_GEMM_TRMM, .type = WEFT_GEMM_DOUBLE, .m = 4, .n = 9};
    small.a = small.b = small.c = upload(device, &a, false);
    assert_int_equal(weft_gemm_triangular(kernels, &small, &error), WEFT_ERROR_SHAPE);
    assert_string_equal(error.message, "B, of 4 rows and 9 columns, does not fit into its memory");
    matrix_free(&a);
    weft_gemm_kernels_free(&kernels);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_host),
        cmocka_unit_test(on_gpu_text),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
