/* Contractions of a line of values in registers. They use that points and nodes are symmetric: even and odd parts of a
 * line are contracted apart, by half the operations (Solomonoff 1992, J. Comput. Phys. 98). */
#define HALF (Q / 2)

/* From P nodes to the points, and its transpose. */
template <int P> INLINE void interpolate(const real (&u)[P], real (&v)[Q])
{
    using B = nodes<P>;
    constexpr int E = (P + 1) / 2, O = P / 2;
    real e[E], o[O + 1];
    UNROLL for (int i = 0; i < O; ++i) {
        e[i] = u[i] + u[P - 1 - i];
        o[i] = u[i] - u[P - 1 - i];
    }
    if (P % 2)
        e[O] = u[O];
    UNROLL for (int q = 0; q < (Q + 1) / 2; ++q) {
        real a = B::even(q * E) * e[0], b = 0;
        UNROLL for (int i = 1; i < E; ++i)
            a = fma(B::even(q * E + i), e[i], a);
        if (2 * q + 1 == Q) {
            v[q] = a;
            continue;
        }
        UNROLL for (int i = 0; i < O; ++i)
            b = i == 0 ? B::odd(q * E) * o[0] : fma(B::odd(q * E + i), o[i], b);
        v[q] = a + b;
        v[Q - 1 - q] = a - b;
    }
}
template <int P> INLINE void interpolate_transposed(const real (&v)[Q], real (&u)[P])
{
    using B = nodes<P>;
    constexpr int E = (P + 1) / 2, O = P / 2, R = (Q + 1) / 2;
    real e[R], o[HALF + 1];
    UNROLL for (int q = 0; q < HALF; ++q) {
        e[q] = v[q] + v[Q - 1 - q];
        o[q] = v[q] - v[Q - 1 - q];
    }
    if (Q % 2)
        e[HALF] = v[HALF];
    UNROLL for (int i = 0; i < E; ++i) {
        real a = B::even(i) * e[0], b = 0;
        UNROLL for (int q = 1; q < R; ++q)
            a = fma(B::even(q * E + i), e[q], a);
        if (2 * i + 1 == P) {
            u[i] = a;
            continue;
        }
        UNROLL for (int q = 0; q < HALF; ++q)
            b = q == 0 ? B::odd(i) * o[0] : fma(B::odd(q * E + i), o[q], b);
        u[i] = a + b;
        u[P - 1 - i] = a - b;
    }
}
/* The derivative of the polynomial through the values at the points, and its transpose, which is added. */
INLINE void differentiate(const real (&u)[Q], real (&d)[Q])
{
    constexpr int E = (Q + 1) / 2, O = HALF;
    real e[E], o[O + 1];
    UNROLL for (int i = 0; i < O; ++i) {
        e[i] = u[i] + u[Q - 1 - i];
        o[i] = u[i] - u[Q - 1 - i];
    }
    if (Q % 2)
        e[O] = u[O];
    UNROLL for (int q = 0; q < E; ++q) {
        real a = 0, b = 0;
        UNROLL for (int i = 0; i < O; ++i)
            b = i == 0 ? slope_odd[q * E] * o[0] : fma(slope_odd[q * E + i], o[i], b);
        if (2 * q + 1 == Q) {
            d[q] = b;
            continue;
        }
        UNROLL for (int i = 0; i < E; ++i)
            a = i == 0 ? slope_even[q * E] * e[0] : fma(slope_even[q * E + i], e[i], a);
        d[q] = b + a;
        d[Q - 1 - q] = b - a;
    }
}
INLINE void differentiate_transposed(const real (&f)[Q], real (&r)[Q])
{
    constexpr int E = (Q + 1) / 2, O = HALF;
    real e[E], o[O + 1];
    UNROLL for (int q = 0; q < O; ++q) {
        e[q] = f[q] + f[Q - 1 - q];
        o[q] = f[q] - f[Q - 1 - q];
    }
    if (Q % 2)
        e[O] = f[O];
    UNROLL for (int i = 0; i < E; ++i) {
        real a = 0, b = 0;
        UNROLL for (int q = 0; q < O; ++q)
            a = q == 0 ? slope_even[i] * o[0] : fma(slope_even[q * E + i], o[q], a);
        if (2 * i + 1 == Q) {
            r[i] += a;
            continue;
        }
        UNROLL for (int q = 0; q < E; ++q)
            b = q == 0 ? slope_odd[i] * e[0] : fma(slope_odd[q * E + i], e[q], b);
        r[i] += a + b;
        r[Q - 1 - i] += a - b;
    }
}
