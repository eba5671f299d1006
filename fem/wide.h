/* The loops over vectors and rows that conjugate gradients and products spend their time in. wide.c
 * includes this once for each instruction set, with WIDE_NAME and WIDE_TARGET defined: a body that
 * is inlined into functions of other targets would be cut into narrow vectors before it gets there.
 * Sums are over lanes first and then in order of lane, so they do not depend on threads. */

static inline WIDE_TARGET double WIDE_NAME(lanes_sum)(const wide *a) {
    double sum = 0;
    for (int lane = 0; lane < WIDE; ++lane)
        sum += (*a)[lane];
    return sum;
}

/* Four entries a turn, in two sums; entries are fetched ahead, as rows are too short for the
 * processor to see the streams. */
static WIDE_TARGET double WIDE_NAME(csr_rows)(const weft_csr_rows *m, int64_t first, int64_t last) {
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

static WIDE_TARGET double WIDE_NAME(sum)(const double *a, int64_t n) {
    wide s = {0}, t = {0};
    int64_t i = 0;
    for (; i + 2 * WIDE <= n; i += 2 * WIDE) {
        s += *(const wide *)(a + i);
        t += *(const wide *)(a + i + WIDE);
    }
    s += t;
    double sum = WIDE_NAME(lanes_sum)(&s);
    for (; i < n; ++i)
        sum += a[i];
    return sum;
}

static WIDE_TARGET double WIDE_NAME(dot)(const double *a, const double *b, int64_t n) {
    wide s = {0}, t = {0};
    int64_t i = 0;
    for (; i + 2 * WIDE <= n; i += 2 * WIDE) {
        s += *(const wide *)(a + i) * *(const wide *)(b + i);
        t += *(const wide *)(a + i + WIDE) * *(const wide *)(b + i + WIDE);
    }
    s += t;
    double sum = WIDE_NAME(lanes_sum)(&s);
    for (; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* sums[0] = r.r, sums[1] = r.(d r) */
static WIDE_TARGET void WIDE_NAME(norms)(const double *r, const double *d, int64_t n,
                                         double *sums) {
    wide rr = {0}, rz = {0};
    int64_t i = 0;
    for (; i + WIDE <= n; i += WIDE) {
        wide square = *(const wide *)(r + i) * *(const wide *)(r + i);
        rr += square;
        rz += square * *(const wide *)(d + i);
    }
    sums[0] = WIDE_NAME(lanes_sum)(&rr);
    sums[1] = WIDE_NAME(lanes_sum)(&rz);
    for (; i < n; ++i) {
        sums[0] += r[i] * r[i];
        sums[1] += r[i] * r[i] * d[i];
    }
}

/* x += alpha p;  r -= alpha q;  sums as norms */
static WIDE_TARGET void WIDE_NAME(update)(const weft_cg_vectors *v, double alpha, int64_t first,
                                          int64_t n, double *sums) {
    double *x = v->x + first, *r = v->r + first;
    const double *p = v->p + first, *q = v->q + first, *d = v->d + first;
    wide rr = {0}, rz = {0};
    int64_t i = 0;
    for (; i + WIDE <= n; i += WIDE) {
        *(wide *)(x + i) += alpha * *(const wide *)(p + i);
        wide residual = *(const wide *)(r + i) - alpha * *(const wide *)(q + i);
        *(wide *)(r + i) = residual;
        residual *= residual;
        rr += residual;
        rz += residual * *(const wide *)(d + i);
    }
    sums[0] = WIDE_NAME(lanes_sum)(&rr);
    sums[1] = WIDE_NAME(lanes_sum)(&rz);
    for (; i < n; ++i) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        sums[0] += r[i] * r[i];
        sums[1] += r[i] * r[i] * d[i];
    }
}

/* p = d r + beta p */
static WIDE_TARGET void WIDE_NAME(direction)(const weft_cg_vectors *v, double beta, int64_t first,
                                             int64_t n) {
    double *p = v->p + first;
    const double *r = v->r + first, *d = v->d + first;
    int64_t i = 0;
    for (; i + WIDE <= n; i += WIDE)
        *(wide *)(p + i) =
            *(const wide *)(d + i) * *(const wide *)(r + i) + beta * *(const wide *)(p + i);
    for (; i < n; ++i)
        p[i] = d[i] * r[i] + beta * p[i];
}

static const weft_wide_kernels WIDE_NAME(kernels) = {
    WIDE_NAME(csr_rows), WIDE_NAME(sum),    WIDE_NAME(dot),
    WIDE_NAME(norms),    WIDE_NAME(update), WIDE_NAME(direction),
};
