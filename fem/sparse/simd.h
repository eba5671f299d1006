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
    double starts[WEFT_EXACT_SLICES], most = 0;
    exact_bits largest = {
        0}; /* sizes as integers have the same order, and above all those that are not finite */
    weft_exact_sum piece = {.place = sum->place};
    int64_t i = 0;
    static const exact_words places = {0, 8, 16, 24, 32, 40, 48, 56};
    for (; i + EXACT_LANES <= n; i += EXACT_LANES) {
        uint64_t marks; /* a byte for each lane */
        exact_reals a, b;
        memcpy(&marks, owned + i, sizeof marks);
        memcpy(&a, v + i, sizeof a);
        memcpy(&b, y + i, sizeof b);
        const exact_bits counted = -(exact_bits)((marks + (exact_words){0}) >> places & 1);
        const exact_bits product = (exact_bits)(a * b) & counted;
        const exact_bits size = product & INT64_MAX, larger = size > largest;
        largest = (size & larger) | (largest & ~larger);
        *(exact_bits *)(void *)(products + i) = product;
    }
    int64_t greatest = 0;
    for (; i < n; ++i) {
        int64_t bits;
        products[i] = owned[i] ? v[i] * y[i] : 0;
        memcpy(&bits, &products[i], sizeof bits);
        greatest = (bits & INT64_MAX) > greatest ? bits & INT64_MAX : greatest;
    }
    for (int l = 0; l < EXACT_LANES; ++l)
        greatest = largest[l] > greatest ? largest[l] : greatest;
    memcpy(&most, &greatest, sizeof most);
    if (!(most < weft_exact_limit(WEFT_EXACT_MOST))) {
        for (i = 0; i < n; ++i)
            weft_exact_add(sum, products[i]);
        return;
    }
    for (; n % EXACT_LANES != 0; ++n)
        products[n] = 0;
    while (!(most < weft_exact_limit(piece.place)))
        ++piece.place;
    for (int k = 0; k < WEFT_EXACT_SLICES; ++k)
        starts[k] = ldexp(1.5, 52 + WEFT_EXACT_BITS * (int)(piece.place - k));
    exact_reals s0 = starts[0] - (exact_reals){0}, s1 = starts[1] - (exact_reals){0},
                s2 = starts[2] - (exact_reals){0};
    for (i = 0; i < n; i += EXACT_LANES) { /* in registers */
        exact_reals left = *(const exact_reals *)(const void *)(products + i);
        exact_reals next = s0 + (exact_reals)((exact_bits)left | 1);
        left -= next - s0;
        s0 = next;
        next = s1 + (exact_reals)((exact_bits)left | 1);
        left -= next - s1;
        s1 = next;
        s2 += (exact_reals)((exact_bits)left | 1);
    }
    const exact_reals sums[WEFT_EXACT_SLICES] = {s0, s1, s2};
    for (int k = 0; k < WEFT_EXACT_SLICES; ++k) {
        const double root = ldexp(1, -WEFT_EXACT_BITS / 2 * (int)(piece.place - k));
        for (int l = 0; l < EXACT_LANES; ++l)
            piece.slices[k] += (int64_t)((sums[k][l] - starts[k]) * root * root);
    }
    weft_exact_join(sum, &piece);
}

static const weft_simd_kernels SIMD_NAME(kernels) = {
    SIMD_NAME(csr_rows), SIMD_NAME(csr_rows_single), SIMD_NAME(exact_dot)};
