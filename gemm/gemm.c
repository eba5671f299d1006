/* Computes dense products: checks them, chooses a kernel, compiles it and launches it. */
#include "gemm/kernels.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct weft_gemm_compiled {
    weft_module *module;
    char key[33]; /* hash of the source */
    struct weft_gemm_compiled *next;
} weft_gemm_compiled;

weft_status weft_gemm_kernels_make(weft_device *device, weft_gemm_kernels **out,
                                   weft_error *error) {
    weft_gemm_kernels *kernels = calloc(1, sizeof *kernels);
    if (!kernels)
        return weft_out_of_memory(error, "dense products");
    kernels->device = device;
    kernels->limits = weft_gemm_limits_of(weft_device_limits(device));
    pthread_mutex_init(&kernels->mutex, NULL);
    *out = kernels;
    return WEFT_OK;
}

void weft_gemm_kernels_free(weft_gemm_kernels **kernels) {
    if (!kernels || !*kernels)
        return;
    for (weft_gemm_compiled *one = (*kernels)->compiled, *next; one; one = next) {
        next = one->next;
        weft_module_free(&one->module);
        free(one);
    }
    for (int i = 0; i < (*kernels)->n_packed; ++i)
        weft_memory_free(&(*kernels)->packed[i]);
    for (int i = 0; i < 3; ++i)
        weft_memory_free(&(*kernels)->parts[i]);
    for (int i = 0; i < 2; ++i) {
        weft_memory_free(&(*kernels)->transposed[i]);
        weft_memory_free(&(*kernels)->triangles[i]);
    }
    free((*kernels)->packed);
    pthread_mutex_destroy(&(*kernels)->mutex);
    free(*kernels);
    *kernels = NULL;
}

/* ---- checks --------------------------------------------------------------------------------- */

static weft_status check_matrix(const char *name, const weft_gemm_matrix *matrix, int bytes,
                                int64_t rows, int64_t columns, int64_t n, weft_error *error) {
    const int64_t limit = INT64_MAX / 4 / (bytes > 0 ? bytes : 1);
    if (!matrix->memory)
        return weft_error_set(error, WEFT_ERROR_SHAPE, "matrix %s has no memory", name);
    if (matrix->ld < (rows > 1 ? rows : 1))
        return weft_error_set(error, WEFT_ERROR_SHAPE,
                              "the leading dimension of %s is %lld, but it has %lld rows", name,
                              (long long)matrix->ld, (long long)rows);
    if (matrix->first < 0 || matrix->stride < 0)
        return weft_error_set(
            error, WEFT_ERROR_SHAPE,
            "matrix %s begins at entry %lld with stride %lld: neither may be negative", name,
            (long long)matrix->first, (long long)matrix->stride);
    if (rows == 0 || columns == 0 || n == 0)
        return WEFT_OK;
    const double entries = (double)matrix->first + (double)(n - 1) * (double)matrix->stride +
                           (double)(columns - 1) * (double)matrix->ld + (double)rows;
    const int64_t held = (int64_t)(weft_memory_bytes(matrix->memory) / (size_t)bytes);
    if (entries > (double)limit || (int64_t)entries > held)
        return weft_error_set(error, WEFT_ERROR_SHAPE,
                              "matrix %s ends at entry %.0f, but its memory holds %lld", name,
                              entries, (long long)held);
    return WEFT_OK;
}

weft_status weft_gemm_check(const weft_gemm_product *p, int64_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    const int bytes = weft_gemm_element_bytes(p->type);
    const int64_t sizes[] = {p->m, p->n, p->k, n};
    for (int i = 0; i < 4; ++i)
        if (sizes[i] < 0 || sizes[i] > INT32_MAX / 2)
            TRY(weft_error_set(
                error, WEFT_ERROR_SHAPE,
                "a product of size %lld x %lld x %lld, %lld times: sizes are from 0 to 2^30",
                (long long)p->m, (long long)p->n, (long long)p->k, (long long)n));
    const bool a = p->op_a != WEFT_GEMM_PLAIN, b = p->op_b != WEFT_GEMM_PLAIN;
    TRY(check_matrix("A", &p->a, bytes, a ? p->k : p->m, a ? p->m : p->k, n, error));
    TRY(check_matrix("B", &p->b, bytes, b ? p->n : p->k, b ? p->k : p->n, n, error));
    TRY(check_matrix("C", &p->c, bytes, p->m, p->n, n, error));
    if (n > 1 && p->c.stride == 0 && p->m > 0 && p->n > 0)
        TRY(weft_error_set(error, WEFT_ERROR_SHAPE,
                           "all %lld products of a batch go to the same C: its stride is 0",
                           (long long)n));
done:
    return status;
}

weft_gemm_shape weft_gemm_shape_of(const weft_gemm_product *product) {
    return (weft_gemm_shape){product->type, product->m, product->n, product->k};
}

/* ---- the choice of a kernel ----------------------------------------------------------------- */

static void tile_of(const weft_gemm_point *point, int64_t *rows, int64_t *columns) {
    const bool mma = point->stencil == WEFT_GEMM_MMA;
    const bool swap = mma && point->values[MMA_SWAP] != 0;
    *rows = point->values[swap ? MMA_BN : MMA_BM];
    *columns = point->values[swap ? MMA_BM : MMA_BN];
}

enum { SHORT = 128 }; /* sums whose kernel wants overlapping tiles */

/* Tiles of n products. */
static int64_t tiles_of(const weft_gemm_product *p, int64_t n, const weft_gemm_point *point) {
    int64_t rows = 1, columns = 1;
    tile_of(point, &rows, &columns);
    return (p->m + rows - 1) / rows * ((p->n + columns - 1) / columns) * n;
}

static bool reads(const weft_gemm_product *p) {
    return p->alpha[0] != 0 || (weft_gemm_is_complex(p->type) && p->alpha[1] != 0);
}

/* Blocks that compute several tiles each, where sums are so short that copies to shared memory and stores take as long as
 * the multiplications; 0: one tile each. Complex sums take four times as long, and their kernels have no registers left. */
static int64_t persistent_blocks(const weft_gemm_kernels *kernels, const weft_gemm_product *p,
                                 int64_t n, const weft_gemm_point *point) {
    if (point->stencil != WEFT_GEMM_MMA || p->type != WEFT_GEMM_DOUBLE || p->k == 0 ||
        p->k > SHORT || !reads(p))
        return 0;
    const int64_t blocks =
        (int64_t)weft_device_limits(kernels->device)->multiprocessors * point->values[MMA_MINB];
    return tiles_of(p, n, point) > blocks ? blocks : 0;
}

/* Predicted time of transposing factors, in the units of predicted(): entries of C, each of k multiply-adds. */
static double predicted_transposes(const weft_gemm_product *p, int64_t n, int transposed) {
    /* of an H200; single precision per second, bytes per second, seconds of a launch */
    static const double flops = 52e12, bandwidth = 3.5e12, launch = 4e-6;
    const double per_entry =
        (weft_gemm_is_complex(p->type) ? 8.0 : 2.0) * (double)(p->k > 0 ? p->k : 1);
    double seconds = 0;
    for (int factor = 0; factor < 2; ++factor)
        if (transposed >> factor & 1) {
            const int64_t matrices = (factor == 0 ? p->a : p->b).stride != 0 ? n : 1;
            const double entries =
                (double)(factor == 0 ? p->m : p->n) * (double)p->k * (double)matrices;
            seconds += 2 * entries * weft_gemm_element_bytes(p->type) / bandwidth + launch;
        }
    return seconds * flops / per_entry;
}

/* Predicted time, in units that are the same for all points of a type: waves of blocks, of which
 * the last may leave multiprocessors with fewer blocks than they hold. */
static double predicted(const weft_gemm_kernels *kernels, const weft_gemm_product *product,
                        int64_t n_products, const weft_gemm_default *candidate) {
    const int processors = weft_device_limits(kernels->device)->multiprocessors;
    int64_t rows = 1, columns = 1;
    tile_of(&candidate->point, &rows, &columns);
    const int resident =
        candidate->point.values[candidate->point.stencil == WEFT_GEMM_MMA ? MMA_MINB : FMA_MINB];
    const int64_t blocks = tiles_of(product, n_products, &candidate->point);
    const int64_t wave = (int64_t)processors * resident;
    const int64_t whole = blocks / wave, rest = blocks % wave;
    const double last = (double)((rest + processors - 1) / processors) / resident;
    /* one block alone hides less latency than a full multiprocessor */
    const double tail = rest > 0 ? 0.3 + 0.7 * last : 0;
    /* after short sums the few blocks of a multiprocessor wait for stores at the same time */
    const double waits = product->k <= SHORT ? 0.5 / (resident * resident) : 0;
    return ((double)whole + tail) * (double)wave * (double)(rows * columns) / candidate->rate *
               (1 + waits) +
           predicted_transposes(product, n_products, candidate->point.transposed);
}

/* transposed: points that transpose factors first, too */
static weft_gemm_point choose(const weft_gemm_kernels *kernels, const weft_gemm_product *product,
                              int64_t n_products, bool transposed) {
    const weft_gemm_default *list = NULL;
    const weft_gemm_shape shape = weft_gemm_shape_of(product);
    weft_gemm_point small;
    if (kernels->limits.vector_bytes > 0)
        return weft_gemm_host_default(&shape, &kernels->limits);
    if (n_products > 1 && weft_gemm_small_default(&shape, &kernels->limits, &small))
        return small;
    const int n = weft_gemm_defaults(product->type, product->op_a, product->op_b,
                                     kernels->limits.matrix_depth, &list);
    int best = -1;
    for (int i = 0; i < n; ++i)
        if ((transposed || list[i].point.transposed == 0) &&
            (best < 0 || predicted(kernels, product, n_products, &list[i]) <
                             predicted(kernels, product, n_products, &list[best])))
            best = i;
    return list[best].point;
}

weft_gemm_point weft_gemm_choose(const weft_gemm_kernels *kernels, const weft_gemm_product *product,
                                 int64_t n_products) {
    return choose(kernels, product, n_products, true);
}

/* ---- compilation and launch ----------------------------------------------------------------- */

static bool is_aligned(const weft_gemm_matrix *matrix, int bytes, int64_t n) {
    return matrix->first * bytes % 16 == 0 && matrix->ld * bytes % 16 == 0 &&
           (n == 1 || matrix->stride * bytes % 16 == 0);
}

static weft_gemm_variant variant_of(const weft_gemm_kernels *kernels, const weft_gemm_product *p,
                                    int64_t n, const weft_gemm_point *point) {
    const int bytes = weft_gemm_element_bytes(p->type), *v = point->values;
    const int depth = point->stencil == WEFT_GEMM_FMA       ? v[FMA_BK]
                      : p->type == WEFT_GEMM_DOUBLE_COMPLEX ? 8 * v[MMA_KB]
                                                            : 16 * v[MMA_KB];
    int64_t rows = 1, columns = 1;
    weft_gemm_variant variant = {.shape = weft_gemm_shape_of(p), .op_a = p->op_a, .op_b = p->op_b};
    variant.vector_bytes = kernels->limits.vector_bytes;
    variant.matrix_depth = kernels->limits.matrix_depth;
    variant.packed = p->a.ld == (p->op_a == WEFT_GEMM_PLAIN ? p->m : p->k) &&
                     p->b.ld == (p->op_b == WEFT_GEMM_PLAIN ? p->k : p->n) && p->c.ld == p->m;
    if (point->stencil >= WEFT_GEMM_SMALL)
        return variant; /* these take any alignment */
    tile_of(point, &rows, &columns);
    variant.aligned =
        is_aligned(&p->a, bytes, n) && is_aligned(&p->b, bytes, n) && is_aligned(&p->c, bytes, n);
    variant.edges =
        !variant.aligned || p->m % rows != 0 || p->n % columns != 0 || p->k % depth != 0;
    variant.whole_chunks = variant.edges && p->k * bytes % 16 == 0;
    variant.persistent = persistent_blocks(kernels, p, n, point) > 0;
    variant.shifted = variant.edges && variant.aligned && !variant.persistent && p->m >= rows &&
                      p->n >= columns && p->m * bytes % 16 == 0 && p->n * bytes % 16 == 0 &&
                      p->k * bytes % 16 == 0;
    return variant;
}

static weft_gemm_compiled *find(weft_gemm_kernels *kernels, const char *key) {
    pthread_mutex_lock(&kernels->mutex);
    weft_gemm_compiled *one = kernels->compiled;
    while (one && strcmp(one->key, key) != 0)
        one = one->next;
    pthread_mutex_unlock(&kernels->mutex);
    return one;
}

weft_status weft_gemm_compile(weft_gemm_kernels *kernels, const weft_text *source,
                              weft_module **module, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_gemm_compiled *made = NULL;
    char key[33];
    if (source->failed)
        TRY(weft_out_of_memory(error, "a kernel's source"));
    weft_hash(source->data, source->length, key);
    weft_gemm_compiled *found = find(kernels, key);
    if (!found) {
        made = calloc(1, sizeof *made);
        if (!made)
            TRY(weft_out_of_memory(error, "a kernel"));
        memcpy(made->key, key, sizeof key);
        TRY(weft_module_make(kernels->device, "gemm", source->data, &made->module, error));
        pthread_mutex_lock(&kernels->mutex);
        made->next = kernels->compiled;
        kernels->compiled = found = made;
        pthread_mutex_unlock(&kernels->mutex);
        made = NULL;
    }
    *module = found->module;
done:
    free(made);
    return status;
}

weft_status weft_gemm_module(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                             int64_t n, const weft_gemm_point *point, weft_module **module,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text source = {0};
    const weft_gemm_product transposed = weft_gemm_transposed(product, n, point->transposed);
    const weft_gemm_variant variant = variant_of(kernels, &transposed, n, point);
    TRY(weft_gemm_source(&variant, point, &source, error));
    TRY(weft_gemm_compile(kernels, &source, module, error));
done:
    weft_text_free(&source);
    return status;
}

/* Thread blocks of n products. */
static int64_t blocks_of(const weft_gemm_kernels *kernels, const weft_gemm_product *p, int64_t n,
                         const weft_gemm_point *point, const weft_gemm_resources *resources) {
    const int warps = resources->threads / 32;
    if (point->stencil == WEFT_GEMM_DIRECT)
        return (n * resources->warps + warps - 1) / warps;
    if (point->stencil >= WEFT_GEMM_SMALL)
        return (n + resources->products - 1) / resources->products;
    const int64_t persistent = persistent_blocks(kernels, p, n, point);
    return persistent > 0 ? persistent : tiles_of(p, n, point);
}

weft_gemm_values weft_gemm_values_of(const weft_gemm_product *p, int64_t n, bool swap) {
    const weft_gemm_matrix *a = swap ? &p->b : &p->a, *b = swap ? &p->a : &p->b;
    return (weft_gemm_values){.m = (int)(swap ? p->n : p->m),
                              .n = (int)(swap ? p->m : p->n),
                              .k = reads(p) ? (int)p->k : 0,
                              .lda = a->ld,
                              .ldb = b->ld,
                              .ldc = p->c.ld,
                              .first_a = a->first,
                              .first_b = b->first,
                              .first_c = p->c.first,
                              .stride_a = n > 1 ? a->stride : 0,
                              .stride_b = n > 1 ? b->stride : 0,
                              .stride_c = n > 1 ? p->c.stride : 0,
                              .alpha = {p->alpha[0], p->alpha[1]},
                              .beta = {p->beta[0], p->beta[1]}};
}

weft_status weft_gemm_run(weft_gemm_kernels *kernels, const weft_gemm_product *product, int64_t n,
                          const weft_gemm_point *point, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_module *module = NULL;
    weft_gemm_resources resources = {0};
    const weft_gemm_shape shape = weft_gemm_shape_of(product);
    const bool swap = point->stencil == WEFT_GEMM_MMA && point->values[MMA_SWAP] != 0;
    TRY(weft_gemm_check(product, n, error));
    if (product->m == 0 || product->n == 0 || n == 0)
        goto done;
    const weft_gemm_verdict verdict =
        weft_gemm_judge(&shape, point, &kernels->limits, NULL, &resources);
    if (verdict == WEFT_GEMM_INDIVISIBLE || verdict == WEFT_GEMM_NOT_ON_DEVICE)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "a kernel with these parameters is not possible here: its %s",
                           weft_gemm_verdict_texts[verdict]));
    if (point->stencil == WEFT_GEMM_HOST) {
        TRY(weft_gemm_host_run(kernels, product, n, point, error));
        goto done;
    }
    if (point->transposed != 0) {
        weft_gemm_product transposed;
        weft_gemm_point rest = *point;
        rest.transposed = 0;
        if (reads(product)) {
            TRY(weft_gemm_transpose(kernels, product, n, point->transposed, &transposed, error));
            product = &transposed;
        }
        TRY(weft_gemm_run(kernels, product, n, &rest, error));
        goto done;
    }
    TRY(weft_gemm_module(kernels, product, n, point, &module, error));
    const weft_gemm_values values = weft_gemm_values_of(product, n, swap);
    weft_memory *arguments[] = {swap ? product->b.memory : product->a.memory,
                                swap ? product->a.memory : product->b.memory, product->c.memory};
    TRY(weft_device_launch(
        kernels->device,
        &(weft_launch){.module = module,
                       .kernel = "product",
                       .arguments = arguments,
                       .n_arguments = 3,
                       .values = &values,
                       .n_elements = n,
                       .lanes = 1,
                       .block_threads = resources.threads,
                       .shared_bytes = resources.shared_bytes,
                       .n_blocks = blocks_of(kernels, product, n, point, &resources)},
        error));
done:
    return status;
}

weft_status weft_gemm_batched(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                              int64_t n, weft_error *error) {
    weft_gemm_point point = choose(kernels, product, n, true);
    const weft_status status = weft_gemm_run(kernels, product, n, &point, error);
    if (status != WEFT_ERROR_MEMORY || point.transposed == 0)
        return status;
    point = choose(kernels, product, n, false); /* no memory for transposed factors */
    return weft_gemm_run(kernels, product, n, &point, error);
}

weft_status weft_gemm(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                      weft_error *error) {
    return weft_gemm_batched(kernels, product, 1, error);
}
