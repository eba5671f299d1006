/* The loop over the rows of a CSR product. fem/sparse/simd.c includes this once per instruction
 * set, with SIMD_NAME and SIMD_TARGET defined: a common body inlined into functions of different
 * targets would be split into narrow vectors before inlining. */

/* Four entries per iteration, in two sums. Explicit prefetches, because rows are too short for the
 * hardware prefetcher to detect the streams. */
static SIMD_TARGET double SIMD_NAME(csr_rows)(const weft_csr_rows *m, int64_t first, int64_t last) {
    const double *a = m->values, *v = m->v;
    const int32_t *c = m->columns;
    int64_t k = m->row_start[first];
    double dot = 0;
    for (int64_t i = first; i < last; ++i) {
        int64_t end = m->row_start[i + 1];
        double s = 0, t = 0;
        __builtin_prefetch(a + k + 256);
        __builtin_prefetch(a + k + 264);
        __builtin_prefetch(c + k + 512);
        for (; k + 3 < end; k += 4) {
            s += a[k] * v[c[k]];
            t += a[k + 1] * v[c[k + 1]];
            s += a[k + 2] * v[c[k + 2]];
            t += a[k + 3] * v[c[k + 3]];
        }
        for (; k < end; ++k)
            s += a[k] * v[c[k]];
        m->y[i] = s + t;
        dot += v[i] * (s + t);
    }
    return dot;
}

/* The same with floats. */
static SIMD_TARGET void SIMD_NAME(csr_rows_single)(const weft_csr_rows_single *m, int64_t first,
                                                   int64_t last) {
    const float *a = m->values, *v = m->v;
    const int32_t *c = m->columns;
    int64_t k = m->row_start[first];
    for (int64_t i = first; i < last; ++i) {
        int64_t end = m->row_start[i + 1];
        float s = 0, t = 0;
        __builtin_prefetch(a + k + 512);
        __builtin_prefetch(c + k + 512);
        for (; k + 3 < end; k += 4) {
            s += a[k] * v[c[k]];
            t += a[k + 1] * v[c[k + 1]];
            s += a[k + 2] * v[c[k + 2]];
            t += a[k + 3] * v[c[k + 3]];
        }
        for (; k < end; ++k)
            s += a[k] * v[c[k]];
        m->y[i] = s + t;
    }
}

/* As kernels/prelude/exact_host.h does. Products are rounded before they are divided into slices: through memory, so that no multiplication
 * is contracted with what follows. */
static SIMD_TARGET void SIMD_NAME(exact_dot)(const double *v, const double *y,
                                             const unsigned char *owned, int64_t n,
                                             weft_exact_sum *sum) {
    double products[WEFT_EXACT_PIECE] __attribute__((aligned(64)));
    double starts[WEFT_EXACT_SLICES], most = 0, whole = 0;
    exact_reals sums[WEFT_EXACT_SLICES], largest = {0}, all = {0};
    weft_exact_sum piece = {.place = sum->place};
    int64_t i = 0;
    for (; i + EXACT_LANES <= n; i += EXACT_LANES) {
        exact_marks marks;
        exact_reals a, b;
        memcpy(&marks, owned + i, sizeof marks);
        memcpy(&a, v + i, sizeof a);
        memcpy(&b, y + i, sizeof b);
        const exact_reals product =
            (exact_reals)((exact_bits)(a * b) & -__builtin_convertvector(marks, exact_bits));
        const exact_reals size = (exact_reals)((exact_bits)product & INT64_MAX);
        const exact_bits larger = size > largest;
        largest = (exact_reals)(((exact_bits)size & larger) | ((exact_bits)largest & ~larger));
        all += size; /* not finite if a product is not */
        *(exact_reals *)(void *)(products + i) = product;
    }
    for (; i < n; ++i) {
        products[i] = owned[i] ? v[i] * y[i] : 0;
        largest[0] = fabs(products[i]) > largest[0] ? fabs(products[i]) : largest[0];
        all[0] += fabs(products[i]);
    }
    for (int l = 0; l < EXACT_LANES; ++l) {
        most = largest[l] > most ? largest[l] : most;
        whole += all[l];
    }
    if (!(most < weft_exact_limit(WEFT_EXACT_MOST)) || !isfinite(whole)) {
        for (i = 0; i < n; ++i)
            weft_exact_add(sum, products[i]);
        return;
    }
    for (; n % EXACT_LANES != 0; ++n)
        products[n] = 0;
    while (!(most < weft_exact_limit(piece.place)))
        ++piece.place;
    for (int k = 0; k < WEFT_EXACT_SLICES; ++k) {
        starts[k] = ldexp(1.5, 52 + WEFT_EXACT_BITS * (int)(piece.place - k));
        for (int l = 0; l < EXACT_LANES; ++l)
            sums[k][l] = starts[k];
    }
    for (i = 0; i < n; i += EXACT_LANES) {
        exact_reals left = *(const exact_reals *)(const void *)(products + i);
        for (int k = 0; k < WEFT_EXACT_SLICES; ++k) {
            const exact_reals next = sums[k] + (exact_reals)((exact_bits)left | 1);
            left -= next - sums[k];
            sums[k] = next;
        }
    }
    for (int k = 0; k < WEFT_EXACT_SLICES; ++k) {
        const double root = ldexp(1, -WEFT_EXACT_BITS / 2 * (int)(piece.place - k));
        for (int l = 0; l < EXACT_LANES; ++l)
            piece.slices[k] += (int64_t)((sums[k][l] - starts[k]) * root * root);
    }
    weft_exact_join(sum, &piece);
}

static const weft_simd_kernels SIMD_NAME(kernels) = {
    SIMD_NAME(csr_rows), SIMD_NAME(csr_rows_single), SIMD_NAME(exact_dot)};
