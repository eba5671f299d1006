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

static const weft_simd_kernels SIMD_NAME(kernels) = {SIMD_NAME(csr_rows),
                                                     SIMD_NAME(csr_rows_single)};
