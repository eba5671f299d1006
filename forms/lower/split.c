/* Splits factors of terms: a sum over what varies on the cell, each times what is constant on it. */
#include "forms/lower/emit.h"

enum { OPERATIONS_MAX = 2000 };

static bool add_part(ufl_scalars *scalars, ufl_factor_parts *sum, int constant, int varying) {
    int i = 0;
    while (i < sum->n && sum->varying[i] != varying)
        ++i;
    if (constant < 0 || i == UFL_SPLIT_MAX)
        return false;
    sum->varying[i] = varying;
    sum->constant[i] = i < sum->n ? ufl_scalar_add(scalars, sum->constant[i], constant) : constant;
    sum->n += i == sum->n;
    return sum->constant[i] >= 0;
}

static bool add_split(ufl_scalars *scalars, const ufl_factor_parts *from, ufl_factor_parts *sum) {
    for (int i = 0; i < from->n; ++i)
        if (!add_part(scalars, sum, from->constant[i], from->varying[i]))
            return false;
    return true;
}

static bool multiply(ufl_scalars *scalars, const ufl_factor_parts *a, const ufl_factor_parts *b,
                     ufl_factor_parts *out) {
    for (int i = 0; i < a->n; ++i)
        for (int j = 0; j < b->n; ++j) {
            const int p = a->varying[i], q = b->varying[j];
            const int both = p < 0 ? q : q < 0 ? p : ufl_scalar_multiply(scalars, p, q);
            if (!add_part(scalars, out,
                          ufl_scalar_multiply(scalars, a->constant[i], b->constant[j]), both))
                return false;
        }
    return true;
}

/* left: the number of operations that may still be visited: shared ones are visited once for each use */
static bool split(ufl_scalars *scalars, int factor, int *left, ufl_factor_parts *out) {
    const ufl_scalar s = scalars->list[factor]; /* the list moves as it grows */
    ufl_factor_parts a, b;
    *out = (ufl_factor_parts){0};
    if (--*left < 0)
        return false;
    if (s.constant)
        return add_part(scalars, out, factor, -1);
    switch (s.type) {
    case SCALAR_QUOTIENT:
        if (!scalars->list[s.b].constant)
            break;
        if (!split(scalars, s.a, left, &a))
            return false;
        for (int i = 0; i < a.n; ++i)
            if (!add_part(scalars, out, ufl_scalar_divide(scalars, a.constant[i], s.b),
                          a.varying[i]))
                return false;
        return true;
    case SCALAR_SUM:
        return split(scalars, s.a, left, out) && split(scalars, s.b, left, &b) &&
               add_split(scalars, &b, out);
    case SCALAR_PRODUCT:
        return split(scalars, s.a, left, &a) && split(scalars, s.b, left, &b) &&
               multiply(scalars, &a, &b, out);
    default:
        break;
    }
    return add_part(scalars, out, ufl_scalar_number(scalars, 1), factor);
}

bool ufl_factor_split(ufl_scalars *scalars, int factor, ufl_factor_parts *out) {
    int left = OPERATIONS_MAX;
    return split(scalars, factor, &left, out);
}
