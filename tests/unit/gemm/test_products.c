/* labels: full */
/* Dense products of every type and order of the operands against three loops over the definition: on the
 * host; and on a GPU if WEFT_TEST_DEVICE=cuda, else in the emulation of CUDA text. Entries, alpha and beta are small
 * whole numbers, so every sum is exact in either precision: results must be equal, also of complex products
 * by three real ones. C is not read where beta is 0: it holds NaN there. */
#include "core/base/threads.h"
#include "emulated_gpu.h"
#include "gemm/kernels.h"
#include "test_support.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static weft_device *device;
static weft_gemm_kernels *kernels;

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

static uint32_t seed = 1;
static int whole(void) {
    seed = seed * 1664525 + 1013904223;
    return (int)(seed >> 16) % 7 - 3;
}

/* A matrix of a batch on the host, as complex doubles, and in the type on the device. */
typedef struct matrix {
    double complex *entries;
    size_t n;
    weft_gemm_matrix on_device;
} matrix;

static void *in_type(const matrix *m, weft_gemm_type type) {
    void *bytes = weft_array_make(m->n + 1, 16);
    for (size_t i = 0; i < m->n; ++i) {
        const double re = creal(m->entries[i]), im = cimag(m->entries[i]);
        if (type == WEFT_GEMM_SINGLE)
            ((float *)bytes)[i] = (float)re;
        else if (type == WEFT_GEMM_DOUBLE)
            ((double *)bytes)[i] = re;
        else if (type == WEFT_GEMM_SINGLE_COMPLEX) {
            ((float *)bytes)[2 * i] = (float)re;
            ((float *)bytes)[2 * i + 1] = (float)im;
        } else {
            ((double *)bytes)[2 * i] = re;
            ((double *)bytes)[2 * i + 1] = im;
        }
    }
    return bytes;
}

static matrix matrix_make(weft_gemm_type type, int64_t ld, int64_t columns, int64_t first,
                          int64_t stride, int64_t n, bool nan) {
    matrix m = {.n = (size_t)(first + (n - 1) * stride + ld * columns),
                .on_device = {.first = first, .ld = ld, .stride = stride}};
    weft_error error;
    m.entries = calloc(m.n + 1, sizeof *m.entries);
    for (size_t i = 0; i < m.n; ++i) {
        const double re = whole(), im = weft_gemm_is_complex(type) ? whole() : 0;
        m.entries[i] = nan ? NAN : re + im * I;
    }
    const size_t bytes = (m.n + 1) * (size_t)weft_gemm_element_bytes(type);
    void *data = in_type(&m, type);
    check(weft_memory_make(device, bytes, &m.on_device.memory, &error), &error);
    check(weft_memory_write(m.on_device.memory, 0, data, bytes, &error), &error);
    free(data);
    return m;
}

static void matrix_drop(matrix *m) {
    weft_memory_free(&m->on_device.memory);
    free(m->entries);
}

static double complex entry(const matrix *m, weft_gemm_op op, int64_t i, int64_t j, int64_t b) {
    const weft_gemm_matrix *d = &m->on_device;
    const double complex *at = m->entries + d->first + b * d->stride;
    return op == WEFT_GEMM_PLAIN        ? at[i + j * d->ld]
           : op == WEFT_GEMM_TRANSPOSED ? at[j + i * d->ld]
                                        : conj(at[j + i * d->ld]);
}

static void expect(const weft_gemm_product *p, matrix *a, matrix *b, matrix *c, int64_t n) {
    const double complex alpha = p->alpha[0] + p->alpha[1] * I, beta = p->beta[0] + p->beta[1] * I;
    for (int64_t x = 0; x < n; ++x)
        for (int64_t j = 0; j < p->n; ++j)
            for (int64_t i = 0; i < p->m; ++i) {
                double complex sum = 0;
                double complex *at = &c->entries[p->c.first + x * p->c.stride + i + j * p->c.ld];
                for (int64_t l = 0; l < p->k; ++l)
                    sum += entry(a, p->op_a, i, l, x) * entry(b, p->op_b, l, j, x);
                *at = alpha * sum + (beta == 0 ? 0 : beta * *at);
            }
}

static void compare(const weft_gemm_product *p, const matrix *c, const char *what) {
    const size_t bytes = c->n * (size_t)weft_gemm_element_bytes(p->type);
    weft_error error;
    void *want = in_type(c, p->type), *got = weft_array_make(bytes + 16, 1);
    check(weft_memory_read(p->c.memory, 0, got, bytes, &error), &error);
    const bool single = p->type == WEFT_GEMM_SINGLE || p->type == WEFT_GEMM_SINGLE_COMPLEX;
    const size_t reals = bytes / (single ? 4 : 8);
    for (size_t i = 0; i < reals; ++i) {
        const double w = single ? ((float *)want)[i] : ((double *)want)[i];
        const double g = single ? ((float *)got)[i] : ((double *)got)[i];
        if (!(w == g || (isnan(w) && isnan(g))))
            fail_msg("%s: number %zu of C is %g, not %g (m %lld n %lld k %lld)", what, i, g, w,
                     (long long)p->m, (long long)p->n, (long long)p->k);
    }
    free(want);
    free(got);
}

typedef struct shape {
    int m, n, k, extra, first, batch; /* extra: of the leading dimensions */
    double beta;
} shape;

static int64_t pitch(int rows, const shape *s) {
    return rows + s->extra > 0 ? rows + s->extra : 1;
}

static const char by_three_products[] = "3m";

/* One product; NULL: with the default point. */
static void run(weft_gemm_type type, weft_gemm_op op_a, weft_gemm_op op_b, const char *point_text,
                const shape *s) {
    weft_error error;
    weft_gemm_point point;
    char what[128];
    snprintf(what, sizeof what, "type %d ops %d %d %s", type, op_a, op_b,
             point_text ? point_text : "default");
    const bool parts = weft_gemm_is_complex(type);
    const bool a = op_a != WEFT_GEMM_PLAIN, b = op_b != WEFT_GEMM_PLAIN;
    const int64_t lda = pitch(a ? s->k : s->m, s), ldb = pitch(b ? s->n : s->k, s);
    const int64_t ldc = s->m + s->extra;
    const int64_t columns_a = a ? s->m : s->k, columns_b = b ? s->k : s->n;
    matrix A =
        matrix_make(type, lda, columns_a, s->first, lda * columns_a + s->extra, s->batch, false);
    matrix B = matrix_make(type, ldb, columns_b, s->first, 0, s->batch, false);
    matrix C = matrix_make(type, ldc, s->n, s->first, ldc * s->n, s->batch, s->beta == 0);
    weft_gemm_product p = {.type = type,
                           .op_a = op_a,
                           .op_b = op_b,
                           .m = s->m,
                           .n = s->n,
                           .k = s->k,
                           .alpha = {2, parts ? -1 : 0},
                           .beta = {s->beta, parts && s->beta != 0 ? 1 : 0},
                           .a = A.on_device,
                           .b = B.on_device,
                           .c = C.on_device};
    if (point_text == by_three_products)
        check(weft_gemm_3m(kernels, &p, s->batch, &error), &error);
    else if (point_text) {
        check(weft_gemm_point_read(point_text, &point, &error), &error);
        check(weft_gemm_run(kernels, &p, s->batch, &point, &error), &error);
    } else
        check(weft_gemm_batched(kernels, &p, s->batch, &error), &error);
    expect(&p, &A, &B, &C, s->batch);
    compare(&p, &C, what);
    matrix_drop(&A);
    matrix_drop(&B);
    matrix_drop(&C);
}

/* Whole tiles; ragged; leading dimensions and first entries that are not aligned; a batch; aligned and no smaller than a
 * tile, so that the last tiles overlap others. */
static const shape shapes[] = {{64, 64, 64, 0, 0, 1, 0},  {45, 39, 21, 0, 0, 1, -3},
                               {33, 65, 17, 3, 1, 1, 2},  {1, 1, 1, 0, 0, 1, 0},
                               {70, 34, 40, 0, 0, 2, 1},  {5, 80, 0, 1, 0, 1, 2},
                               {50, 50, 50, 14, 0, 2, 0}, {7, 3, 100, 1, 3, 3, -1},
                               {68, 76, 36, 4, 4, 1, -2}, {64, 100, 68, 0, 0, 2, 1}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

typedef struct sample {
    weft_gemm_type type;
    const char *point;
} sample;
/* Small products in batches, of which the last block has a part. */
static const shape small_shapes[] = {{3, 3, 3, 0, 0, 70, 0},  {4, 4, 4, 2, 1, 33, 2},
                                     {6, 30, 6, 0, 0, 9, -1}, {17, 9, 24, 0, 0, 7, 1},
                                     {8, 8, 0, 0, 0, 5, 3},   {64, 64, 64, 1, 0, 2, 0},
                                     {64, 36, 20, 0, 0, 3, 0}};

/* Points with small tiles, each with another value of a parameter that changes the code. */
static const sample samples[] = {{WEFT_GEMM_DOUBLE, "mma 32,32,1,16,16,3,2,8,0,1,8,0"},
                                 {WEFT_GEMM_DOUBLE, "mma 32,32,1,32,16,4,2,4,2,1,1,1"},
                                 {WEFT_GEMM_DOUBLE, "mma 64,32,2,32,32,2,4,16,1,1,8,0"},
                                 {WEFT_GEMM_DOUBLE, "mma 32,32,1,16,16,3,2,0,2,1,8,1"},
                                 {WEFT_GEMM_DOUBLE, "fma 64,32,8,4,4,8,2,3,1,8,0"},
                                 {WEFT_GEMM_DOUBLE, "fma 64,32,8,4,4,8,2,3,1,8,1"},
                                 {WEFT_GEMM_SINGLE, "fma 64,64,16,8,4,4,2,3,1,8,0"},
                                 {WEFT_GEMM_SINGLE, "fma 64,64,16,8,4,4,1,4,1,8,1"},
                                 {WEFT_GEMM_DOUBLE_COMPLEX, "mma 32,32,1,16,16,3,1,4,1,1,8,0"},
                                 {WEFT_GEMM_DOUBLE_COMPLEX, "mma 32,32,1,16,32,3,2,8,0,1,8,1"},
                                 {WEFT_GEMM_SINGLE_COMPLEX, "fma 64,32,8,4,4,8,2,3,1,8,0"},
                                 {WEFT_GEMM_SINGLE_COMPLEX, "fma 32,64,8,4,8,4,2,3,1,8,1"},
                                 {WEFT_GEMM_SINGLE, "fma 64,64,16,8,4,4,2,3,1,8,1"},
                                 {WEFT_GEMM_SINGLE, "fma 64,64,8,4,8,8,1,4,1,8,1"},
                                 {WEFT_GEMM_SINGLE_COMPLEX, "fma 64,32,8,4,4,8,2,3,1,8,1"},
                                 {WEFT_GEMM_SINGLE_COMPLEX, "fma 32,64,16,4,8,4,2,4,1,8,1"},
                                 {WEFT_GEMM_DOUBLE, "fma 64,32,8,4,4,8,2,3,1,8,1"},
                                 {WEFT_GEMM_SINGLE, "fma 64,64,16,8,4,4,2,3,1,8,0+A"},
                                 {WEFT_GEMM_DOUBLE, "mma 32,32,1,16,16,3,2,8,0,1,8,0+B"},
                                 {WEFT_GEMM_DOUBLE_COMPLEX, "mma 32,32,1,16,16,3,1,4,1,1,8,0+AB"},
                                 {WEFT_GEMM_SINGLE_COMPLEX, "fma 64,32,8,4,4,8,2,3,1,8,0+AB"}};
enum { N_SAMPLES = sizeof samples / sizeof *samples };

static bool on_gpu(void) {
    const char *name = getenv("WEFT_TEST_DEVICE");
    return name && strncmp(name, "cuda", 4) == 0;
}

/* A GPU's compiler is slow: all kernels at once. */
static void compile_one(void *user, int64_t number) {
    (void)user;
    weft_error error;
    weft_gemm_point point;
    weft_module *module = NULL;
    const int shape_number = (int)(number % N_SHAPES), order = (int)(number / N_SHAPES % 9);
    const sample *one = &samples[number / N_SHAPES / 9];
    const int ops = weft_gemm_is_complex(one->type) ? 3 : 2;
    const shape *s = &shapes[shape_number];
    const bool a = order % ops != 0, b = order / ops % ops != 0;
    weft_gemm_product p = {.type = one->type,
                           .op_a = (weft_gemm_op)(order % ops),
                           .op_b = (weft_gemm_op)(order / ops % ops),
                           .m = s->m,
                           .n = s->n,
                           .k = s->k};
    p.a = (weft_gemm_matrix){.first = s->first, .ld = pitch(a ? s->k : s->m, s)};
    p.b = (weft_gemm_matrix){.first = s->first, .ld = pitch(b ? s->n : s->k, s)};
    p.c = (weft_gemm_matrix){.first = s->first, .ld = s->m + s->extra};
    if (order < ops * ops && weft_gemm_point_read(one->point, &point, &error) == WEFT_OK)
        (void)weft_gemm_module(kernels, &p, s->batch, &point, &module, &error);
}

static void compile_samples(void) {
    weft_threads *threads = NULL;
    weft_error error;
    check(weft_threads_make(weft_threads_available(), &threads, &error), &error);
    weft_threads_run(threads, (int64_t)N_SAMPLES * 9 * N_SHAPES, compile_one, NULL);
    weft_threads_free(&threads);
}

/* Of the kernels of a point: for whole tiles, for edges, for columns that are not aligned, and for tiles that overlap. */
static int kernel_of(const shape *s) {
    if (s->m % 4 == 0 && s->n % 4 == 0 && s->k % 4 == 0 && s->n % 64 != 0 && s->n > 64)
        return 3;
    return s->extra % 2 == 1 || s->m % 2 == 1 ? 2 : s->m % 64 != 0 || s->k % 64 != 0;
}

/* All orders of operands: on a GPU for each sample. In the emulation, whose compiler is slow, two for
 * each, so that every order comes up with every stencil: one with whole tiles or aligned edges, in turn, and with tiles that
 * overlap, and one with columns that are not aligned, the most general kernel. */
static void test_samples(void **state) {
    (void)state;
    if (on_gpu())
        compile_samples();
    for (int i = 0; i < N_SAMPLES; ++i) {
        const int ops = weft_gemm_is_complex(samples[i].type) ? 3 : 2, orders = ops * ops;
        const int from = on_gpu() ? 0 : 3 * i, to = on_gpu() ? orders : from + 2;
        for (int o = from; o < to; ++o) {
            const int order = o % orders;
            for (int s = 0; s < N_SHAPES; ++s) {
                const int kernel = kernel_of(&shapes[s]);
                if (on_gpu() || (o == from ? kernel == i % 2 || kernel == 3 : kernel == 2))
                    run(samples[i].type, (weft_gemm_op)(order % ops), (weft_gemm_op)(order / ops),
                        samples[i].point, &shapes[s]);
            }
        }
    }
}

static void test_small(void **state) {
    (void)state;
    const int n = sizeof small_shapes / sizeof *small_shapes;
    for (int type = 0; type < WEFT_GEMM_TYPES; ++type)
        for (int i = on_gpu() ? 0 : type % 3; i < n; i += on_gpu() ? 1 : 3) {
            const int ops = weft_gemm_is_complex((weft_gemm_type)type) ? 3 : 2;
            const int o = 3 * type + i;
            run((weft_gemm_type)type, (weft_gemm_op)(o % ops), (weft_gemm_op)(o / ops % ops), NULL,
                &small_shapes[i]);
        }
    run(WEFT_GEMM_DOUBLE, WEFT_GEMM_TRANSPOSED, WEFT_GEMM_PLAIN, "small 3,2,64", &small_shapes[3]);
    /* tiles that are larger than the product, and several tiles */
    run(WEFT_GEMM_DOUBLE, WEFT_GEMM_PLAIN, WEFT_GEMM_PLAIN, "direct 2,2,64,0,1", &small_shapes[3]);
    run(WEFT_GEMM_DOUBLE, WEFT_GEMM_TRANSPOSED, WEFT_GEMM_TRANSPOSED, "direct 2,4,128,1,1",
        &small_shapes[5]);
    run(WEFT_GEMM_DOUBLE, WEFT_GEMM_PLAIN, WEFT_GEMM_TRANSPOSED, "direct 1,1,64,1,1",
        &small_shapes[1]);
    run(WEFT_GEMM_DOUBLE, WEFT_GEMM_TRANSPOSED, WEFT_GEMM_PLAIN, "direct 1,4,64,0,1",
        &small_shapes[2]);
    run(WEFT_GEMM_SINGLE, WEFT_GEMM_PLAIN, WEFT_GEMM_PLAIN, "direct 2,1,64,0,1", &small_shapes[3]);
    /* slabs along k, of which the last has less */
    run(WEFT_GEMM_DOUBLE, WEFT_GEMM_PLAIN, WEFT_GEMM_PLAIN, "direct 4,4,64,3,1", &small_shapes[5]);
    run(WEFT_GEMM_SINGLE, WEFT_GEMM_TRANSPOSED, WEFT_GEMM_PLAIN, "direct 2,2,64,2,1",
        &(shape){18, 18, 18, 0, 0, 5, 0});
    run(WEFT_GEMM_DOUBLE_COMPLEX, WEFT_GEMM_PLAIN, WEFT_GEMM_TRANSPOSED, "direct 3,2,64,4,1",
        &(shape){44, 28, 29, 0, 0, 3, 1});
    for (int wide = 0; wide < 2; ++wide) {
        const weft_gemm_type type = wide ? WEFT_GEMM_DOUBLE_COMPLEX : WEFT_GEMM_SINGLE_COMPLEX;
        run(type, WEFT_GEMM_CONJUGATE_TRANSPOSED, WEFT_GEMM_PLAIN, "direct 2,2,64,1,1",
            &small_shapes[3]);
        run(type, WEFT_GEMM_PLAIN, WEFT_GEMM_CONJUGATE_TRANSPOSED, "direct 1,4,64,0,1",
            &small_shapes[2]);
        run(type, WEFT_GEMM_PLAIN, WEFT_GEMM_TRANSPOSED, "direct 1,1,64,1,1", &small_shapes[1]);
    }
    run(WEFT_GEMM_SINGLE, WEFT_GEMM_PLAIN, WEFT_GEMM_TRANSPOSED, "direct 2,3,64,1,1",
        &(shape){18, 18, 18, 0, 1, 5, 0}); /* rows of 8 bytes, from a first entry that is not */
    run(WEFT_GEMM_SINGLE, WEFT_GEMM_PLAIN, WEFT_GEMM_TRANSPOSED, "direct 2,3,64,1,1",
        &(shape){18, 18, 18, 0, 0, 5, 0});
    run(WEFT_GEMM_SINGLE, WEFT_GEMM_PLAIN, WEFT_GEMM_TRANSPOSED, "direct 2,4,128,1,1",
        &small_shapes[5]);
    run(WEFT_GEMM_SINGLE, WEFT_GEMM_PLAIN, WEFT_GEMM_PLAIN, "direct 4,5,32,1,1", &small_shapes[6]);
}

/* Tiles of threads: several products per block, in warps of their own and not; columns that are copied whole, by 16 bytes, by
 * pairs, and one by one; rows and k read four, two and one at once; tiles beyond the edges; slabs. */
static void test_batch(void **state) {
    (void)state;
    static const struct {
        weft_gemm_type type;
        const char *point;
        shape shape;
    } list[] = {{WEFT_GEMM_SINGLE, "batch 8,7,1,2,2,1", {56, 56, 56, 0, 0, 3, 0}},
                {WEFT_GEMM_SINGLE, "batch 6,3,3,4,1,1", {18, 18, 18, 0, 0, 9, 2}},
                {WEFT_GEMM_SINGLE, "batch 6,3,1,4,1,1", {18, 18, 18, 0, 1, 5, 0}},
                {WEFT_GEMM_SINGLE, "batch 12,6,2,1,3,1", {44, 44, 44, 0, 0, 2, 0}},
                {WEFT_GEMM_SINGLE, "batch 4,3,1,3,1,1", {17, 9, 24, 3, 1, 7, 1}},
                {WEFT_GEMM_SINGLE, "batch 8,5,1,2,1,1", {16, 20, 8, 4, 4, 5, 0}},
                {WEFT_GEMM_SINGLE_COMPLEX, "batch 7,7,2,3,2,1", {28, 28, 28, 0, 0, 4, 0}},
                {WEFT_GEMM_SINGLE_COMPLEX, "batch 4,8,2,2,3,1", {30, 22, 18, 0, 0, 3, -1}},
                {WEFT_GEMM_SINGLE_COMPLEX, "batch 3,2,1,5,1,1", {9, 7, 5, 1, 3, 11, 2}},
                {WEFT_GEMM_DOUBLE, "batch 4,3,1,2,2,1", {12, 10, 14, 0, 0, 5, 0}},
                {WEFT_GEMM_DOUBLE_COMPLEX, "batch 3,2,1,2,1,1", {7, 8, 9, 0, 1, 5, 1}}};
    const int n = sizeof list / sizeof *list;
    for (int i = 0; i < n; ++i) {
        const int ops = weft_gemm_is_complex(list[i].type) ? 3 : 2, orders = ops * ops;
        for (int order = on_gpu() ? 0 : i % orders; order < orders; order += on_gpu() ? 1 : orders)
            run(list[i].type, (weft_gemm_op)(order % ops), (weft_gemm_op)(order / ops),
                list[i].point, &list[i].shape);
    }
}

/* Blocks so small that every loop of the host's product is run several times, by three threads. */
static void test_host(void **state) {
    (void)state;
    static const char *const points[WEFT_GEMM_TYPES] = {"host 16,3,16,32,12", "host 8,3,16,24,12",
                                                        "host 16,2,16,16,12", "host 8,2,16,16,12"};
    static const shape wide = {70, 90, 75, 1, 2, 1, -2};
    const int n = sizeof small_shapes / sizeof *small_shapes;
    for (int type = 0; type < WEFT_GEMM_TYPES;
         ++type) { /* every second order: compilers are slow */
        const int ops = weft_gemm_is_complex((weft_gemm_type)type) ? 3 : 2;
        for (int o = type % 2; o < ops * ops; o += ops) {
            const weft_gemm_op a = (weft_gemm_op)(o % ops), b = (weft_gemm_op)(o / ops);
            run((weft_gemm_type)type, a, b, points[type], &wide);
            for (int s = 0; s < N_SHAPES; ++s)
                run((weft_gemm_type)type, a, b, points[type], &shapes[s]);
            for (int s = 0; s < n; ++s)
                run((weft_gemm_type)type, a, b, points[type], &small_shapes[s]);
        }
        for (int s = 0; s < n; s += 2)
            run((weft_gemm_type)type, WEFT_GEMM_PLAIN, WEFT_GEMM_PLAIN, NULL, &small_shapes[s]);
    }
}

/* More tiles than blocks that are resident, and short sums: blocks compute several tiles. */
static void test_persistent(void **state) {
    (void)state;
    static const shape many = {40, 33, 20, 0, 0, 50, 2}, longer = {32, 64, 64, 0, 0, 150, 0},
                       odd = {33, 40, 37, 1, 1, 70, -1};
    static const char *const points[] = {"mma 32,32,1,16,16,3,2,8,0,1,8,0",
                                         "mma 32,32,1,32,16,4,2,4,2,1,1,1"};
    for (int i = 0; i < 2; ++i) {
        run(WEFT_GEMM_DOUBLE, WEFT_GEMM_PLAIN, WEFT_GEMM_TRANSPOSED, points[i], &many);
        run(WEFT_GEMM_DOUBLE, WEFT_GEMM_TRANSPOSED, WEFT_GEMM_PLAIN, points[i], &longer);
        run(WEFT_GEMM_DOUBLE, WEFT_GEMM_PLAIN, WEFT_GEMM_PLAIN, points[i], &odd);
    }
}

static void test_default(void **state) {
    (void)state;
    run(WEFT_GEMM_DOUBLE, WEFT_GEMM_PLAIN, WEFT_GEMM_PLAIN, NULL, &shapes[1]);
    run(WEFT_GEMM_SINGLE, WEFT_GEMM_TRANSPOSED, WEFT_GEMM_PLAIN, NULL, &shapes[1]);
}

/* Every order of operands in turn, since compilers are slow. */
static void test_three_products(void **state) {
    (void)state;
    const int n = sizeof small_shapes / sizeof *small_shapes;
    for (int s = 0; s < N_SHAPES; ++s)
        for (int o = s % 3; o < 9; o += 3)
            run(s % 2 == 0 ? WEFT_GEMM_DOUBLE_COMPLEX : WEFT_GEMM_SINGLE_COMPLEX,
                (weft_gemm_op)(o % 3), (weft_gemm_op)(o / 3), by_three_products, &shapes[s]);
    for (int s = 0; s < n; s += on_gpu() ? 1 : 2)
        run(WEFT_GEMM_DOUBLE_COMPLEX, WEFT_GEMM_CONJUGATE_TRANSPOSED, WEFT_GEMM_PLAIN,
            by_three_products, &small_shapes[s]);
}

/* Neither A nor B is read if alpha is 0. */
static void test_alpha_zero(void **state) {
    (void)state;
    weft_error error;
    matrix a = matrix_make(WEFT_GEMM_DOUBLE, 21, 21, 0, 0, 1, true);
    matrix c = matrix_make(WEFT_GEMM_DOUBLE, 21, 21, 0, 0, 1, false);
    weft_gemm_product p = {.type = WEFT_GEMM_DOUBLE,
                           .m = 21,
                           .n = 21,
                           .k = 21,
                           .beta = {3, 0},
                           .a = a.on_device,
                           .b = a.on_device,
                           .c = c.on_device};
    check(weft_gemm(kernels, &p, &error), &error);
    for (size_t i = 0; i < c.n; ++i)
        c.entries[i] *= 3;
    compare(&p, &c, "alpha 0");
    matrix_drop(&a);
    matrix_drop(&c);
}

static void test_errors(void **state) {
    (void)state;
    weft_error error = {0};
    matrix a = matrix_make(WEFT_GEMM_DOUBLE, 8, 8, 0, 0, 1, false);
    const weft_gemm_product good = {.type = WEFT_GEMM_DOUBLE,
                                    .m = 8,
                                    .n = 8,
                                    .k = 8,
                                    .alpha = {1, 0},
                                    .a = a.on_device,
                                    .b = a.on_device,
                                    .c = a.on_device};
    weft_gemm_product p = good;
    p.m = -1;
    assert_int_equal(weft_gemm(kernels, &p, &error), WEFT_ERROR_SHAPE);
    p = good;
    p.a.ld = 7;
    assert_int_equal(weft_gemm(kernels, &p, &error), WEFT_ERROR_SHAPE);
    assert_non_null(strstr(error.message, "leading dimension of A is 7, but it has 8 rows"));
    p = good;
    p.k = 10;
    assert_int_equal(weft_gemm(kernels, &p, &error), WEFT_ERROR_SHAPE);
    p = good;
    p.c.memory = NULL;
    assert_int_equal(weft_gemm(kernels, &p, &error), WEFT_ERROR_SHAPE);
    p = good;
    assert_int_equal(weft_gemm_batched(kernels, &p, 2, &error), WEFT_ERROR_SHAPE);
    p = good;
    p.m = 0;
    assert_int_equal(weft_gemm(kernels, &p, &error), WEFT_OK);
    assert_int_equal(weft_gemm_3m(kernels, &good, 1, &error), WEFT_ERROR_UNSUPPORTED);
    p.type = WEFT_GEMM_DOUBLE_COMPLEX;
    p.m = -1;
    assert_int_equal(weft_gemm_3m(kernels, &p, 1, &error), WEFT_ERROR_SHAPE);
    matrix_drop(&a);
}

static int open_device(void **state) {
    (void)state;
    weft_error error;
    check(weft_device_open(on_gpu() ? getenv("WEFT_TEST_DEVICE") : "host:1", NULL, &device, &error),
          &error);
    if (!on_gpu())
        emulated_gpu_make(device);
    check(weft_gemm_kernels_make(device, &kernels, &error), &error);
    return 0;
}

static int open_host(void **state) {
    (void)state;
    weft_error error;
    check(weft_device_open("host:3", NULL, &device, &error), &error);
    check(weft_gemm_kernels_make(device, &kernels, &error), &error);
    return 0;
}

static int close_device(void **state) {
    (void)state;
    weft_gemm_kernels_free(&kernels);
    weft_device_free(&device);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default),        cmocka_unit_test(test_alpha_zero),
        cmocka_unit_test(test_errors),         cmocka_unit_test(test_small),
        cmocka_unit_test(test_batch),          cmocka_unit_test(test_persistent),
        cmocka_unit_test(test_three_products), cmocka_unit_test(test_samples)};
    const struct CMUnitTest on_host[] = {cmocka_unit_test(test_host),
                                         cmocka_unit_test(test_three_products),
                                         cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(on_host, open_host, close_device) +
           cmocka_run_group_tests(tests, open_device, close_device);
}
