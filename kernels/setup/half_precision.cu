/* SELL matrices in single precision, with their rows scaled, or with entries off the diagonal in half precision
 * (fem/sparse/on_device.h). */
#define HALF_MOST 65504.0f
#define UNIT_EXPONENT 7

INLINE uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Rounded to nearest, ties to even, those below 2^-14 away from 0. |x| <= HALF_MOST */
INLINE uint32_t half_of(float x)
{
    const uint32_t sign = bits_of(x) >> 16 & 0x8000, size = bits_of(x) & 0x7fffffff;
    if (float_of(size) < 0x1p-14f)
        return sign | (uint32_t)(float_of(size) * 0x1p24f + 0.5f);
    return sign | (((size + 0xfff + (size >> 13 & 1)) >> 13) - (112u << 10));
}

INLINE float value_of(uint32_t half)
{
    return float_of((half & 0x7fff) << 13 | (half & 0x8000) << 16) * 0x1p112f;
}

INLINE uint32_t exponent_of(float x)
{
    return bits_of(x) >> 23 & 0xff;
}

/* Write a row's values in half precision, the first word of each pair, in units of 2^(exponent - 7 - 127); what rounding takes off the sum of the row.  fits becomes false
 * where an entry is too large. */
INLINE double write_half_values(const double *in, int length, uint32_t exponent, uint32_t *out, bool *fits)
{
    const double unit = float_of((exponent - UNIT_EXPONENT) << 23), inverse = 1 / unit;
    double lost = 0;
    for (int k = 0; k < length; k += 2) {
        uint32_t pair = 0;
        for (int i = 0; i < 2 && k + i < length; ++i) {
            const double entry = in[(int64_t)(k + i) * 32];
            const float scaled = (float)(entry * inverse);
            *fits &= scaled >= -HALF_MOST && scaled <= HALF_MOST;
            const uint32_t half = *fits ? half_of(scaled) : 0;
            pair |= half << i * 16;
            lost += entry - value_of(half) * unit;
        }
        out[64 * (k / 2)] = pair;
    }
    return lost;
}

/* n: slots.  sizes: rows.  diagonal: not positive where a row is to be left out.  bad[0] becomes 1 where the numbers of a
 * row do not fit.
 * The diagonal takes what rounding takes off, so that sums of rows stay: then x.(B - A)x is a sum of
 * (b_ij - a_ij)(x_i - x_j)^2 / 2, small against x.A x. With it the exponent may change, once. */
extern "C" __global__ void sell_half_values(long long n, const int64_t *sizes, const double *values,
                                       const uint32_t *start, const uint16_t *rows, float *diagonal,
                                       uint32_t *pairs, int32_t *bad)
{
    const int64_t place = element();
    if (place >= n)
        return;
    const int64_t slice = place / 32, row = place / 512 * 512 + rows[place];
    const int length = (int)((start[slice + 1] - start[slice]) / 32);
    const double *in = values + start[slice] + place % 32;
    uint32_t *out = pairs + 2 * (((int64_t)start[slice] - n) / 2 + slice * 16 + place % 32);
    const bool is_row = row < sizes[0] && diagonal[row] > 0;
    const double own = is_row ? values[row] : 0;
    bool fits = true, same = !is_row;
    float kept = (float)own;
    for (int k = 0; k < length && !is_row; ++k)
        out[64 * (k / 2)] = 0;
    for (int i = 0; i < 3 && fits && !same; ++i) {
        const uint32_t exponent = exponent_of(kept);
        fits = own > 0 && exponent > UNIT_EXPONENT && exponent < 255;
        if (fits)
            kept = (float)(own + write_half_values(in, length, exponent, out, &fits));
        same = exponent_of(kept) == exponent;
    }
    if (!fits || !same)
        bad[0] = 1;
    if (is_row)
        diagonal[row] = kept;
}

/* D^-1 A as floats; rows of the identity where the diagonal is not positive.  n: slots.  sizes: rows */
extern "C" __global__ void sell_scaled(long long n, const int64_t *sizes, const double *values,
                                       const uint32_t *start, const uint16_t *rows, const float *diagonal,
                                       float *out)
{
    const int64_t place = element();
    if (place >= n)
        return;
    const int64_t slice = place / 32, row = place / 512 * 512 + rows[place];
    const int length = (int)((start[slice + 1] - start[slice]) / 32);
    const int64_t first = start[slice] + place % 32;
    const double scale = row < sizes[0] && diagonal[row] > 0 ? 1 / (double)diagonal[row] : 0;
    for (int k = 0; k < length; ++k)
        out[first + (int64_t)k * 32] = (float)(values[first + (int64_t)k * 32] * scale);
    out[row] = scale > 0 ? (float)(values[row] * scale) : 1.0f;
}
