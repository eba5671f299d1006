/* The table of functions of formulas and bodies, and replacements for well-known other ones.
 *
 * Decision  docs/decisions/0004-intrinsics-are-one-table.md */
#include "fusion/base/intrinsics.h"
#include "fusion/weft_compile.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static double sign(double x) {
    return x > 0 ? 1 : x < 0 ? -1 : x;
}

static double bessel_j(double n, double x) {
    return jn((int)n, x);
}

static double bessel_y(double n, double x) {
    return yn((int)n, x);
}

#define ALL "every x"
#define BOTH "every x and y"
#define OWN (INTRINSIC_HOST_OWN | INTRINSIC_CUDA_OWN)

/* The last column: seconds per element of one thread of an EPYC with AVX-512 (`weft calibrate` in
 * double precision, glibc 2.36, gcc 12), times its nominal 80e9 operations per second, rounded. In
 * single precision, at twice the operations, the same within a third, except erf, sinh, sqrt and
 * tanh: half. */
const weft_intrinsic weft_intrinsics[] = {
    {"sqrt", 1, INTRINSIC_HOST_OWN, "sqrt", NULL, 0, 0, sqrt, NULL, "x >= 0", 20},
    {"exp", 1, 0, "exp", NULL, 22, 38, exp, NULL, ALL, 50},
    {"log", 1, 0, "log", NULL, 22, 38, log, NULL, "x >= 0", 50},
    {"sin", 1, 0, "sin", NULL, 22, 38, sin, NULL, "finite x", 42},
    {"cos", 1, 0, "cos", NULL, 22, 38, cos, NULL, "finite x", 45},
    {"tan", 1, 0, "tan", NULL, 35, 39, tan, NULL, "finite x", 46},
    {"abs", 1, INTRINSIC_HOST_OWN, "fabs", NULL, 0, 0, fabs, NULL, ALL, 2},
    {"min", 2, INTRINSIC_HOST_OWN, "fmin", NULL, 0, 0, NULL, fmin, BOTH, 2},
    {"max", 2, INTRINSIC_HOST_OWN, "fmax", NULL, 0, 0, NULL, fmax, BOTH, 2},
    {"pow", 2, 0, "pow", NULL, 22, 40, NULL, pow, "x >= 0, or y a whole number", 190},
    {"asin", 1, 0, "asin", NULL, 35, 39, asin, NULL, "-1 <= x <= 1", 53},
    {"acos", 1, 0, "acos", NULL, 35, 39, acos, NULL, "-1 <= x <= 1", 56},
    {"atan", 1, 0, "atan", NULL, 35, 39, atan, NULL, ALL, 53},
    {"atan2", 2, 0, "atan2", NULL, 35, 39, NULL, atan2, BOTH, 72},
    {"sinh", 1, 0, "sinh", NULL, 35, 40, sinh, NULL, ALL, 65},
    {"cosh", 1, 0, "cosh", NULL, 35, 40, cosh, NULL, ALL, 45},
    {"tanh", 1, 0, "tanh", NULL, 35, 40, tanh, NULL, ALL, 65},
    {"asinh", 1, 0, "asinh", NULL, 35, 40, asinh, NULL, ALL, 105},
    {"acosh", 1, 0, "acosh", NULL, 35, 40, acosh, NULL, "x >= 1", 110},
    {"atanh", 1, 0, "atanh", NULL, 35, 40, atanh, NULL, "-1 <= x <= 1", 65},
    {"exp2", 1, 0, "exp2", NULL, 35, 39, exp2, NULL, ALL, 40},
    {"expm1", 1, 0, "expm1", NULL, 35, 39, expm1, NULL, ALL, 50},
    {"log2", 1, 0, "log2", NULL, 35, 39, log2, NULL, "x >= 0", 40},
    {"log10", 1, 0, "log10", NULL, 35, 39, log10, NULL, "x >= 0", 40},
    {"log1p", 1, 0, "log1p", NULL, 35, 39, log1p, NULL, "x >= -1", 45},
    {"cbrt", 1, 0, "cbrt", NULL, 35, 40, cbrt, NULL, ALL, 40},
    {"hypot", 2, 0, "hypot", NULL, 35, 40, NULL, hypot, BOTH, 40},
    {"erf", 1, 0, "erf", NULL, 35, 40, erf, NULL, ALL, 95},
    {"erfc", 1, 0, "erfc", NULL, 35, 40, erfc, NULL, ALL, 95},
    {"sign", 1, INTRINSIC_HOST_OWN, NULL, "x > 0 ? (real)1 : x < 0 ? (real)-1 : x", 0, 0, sign,
     NULL, ALL, 6},
    {"floor", 1, INTRINSIC_HOST_OWN, "floor", NULL, 0, 0, floor, NULL, ALL, 17},
    {"ceil", 1, INTRINSIC_HOST_OWN, "ceil", NULL, 0, 0, ceil, NULL, ALL, 17},
    {"round", 1, INTRINSIC_HOST_OWN, "round", NULL, 0, 0, round, NULL, ALL, 13},
    {"trunc", 1, INTRINSIC_HOST_OWN, "trunc", NULL, 0, 0, trunc, NULL, ALL, 13},
    {"bessel_j", 2, INTRINSIC_BODY_ONLY, "jn", NULL, 0, 0, NULL, bessel_j,
     "x a whole number, every y", 200},
    {"bessel_y", 2, INTRINSIC_BODY_ONLY, "yn", NULL, 0, 0, NULL, bessel_y,
     "x a whole number, y >= 0", 200},
    {"select", 3, INTRINSIC_MASK | OWN, NULL, NULL, 0, 0, NULL, NULL,
     "every x and y; a comparison comes first", 2},
    {"reciprocal", 1, INTRINSIC_BODY_ONLY | OWN, NULL, "1 / x", 0, 0, NULL, NULL, "x not 0", 20},
};
const int weft_intrinsics_count = (int)(sizeof weft_intrinsics / sizeof *weft_intrinsics);

/* Functions that users of other languages look for. For these, the hint is the replacement and not
 * the existing function with the nearest spelling. */
// clang-format off
static const struct {
    const char *name, *instead;
} known[] = {
    {"ln", "log(a)"}, {"lg", "log10(a)"}, {"ld", "log2(a)"}, {"exp10", "10^a"}, {"square", "a^2"},
    {"power", "a^b"}, {"fabs", "abs(a)"}, {"sgn", "sign(a)"}, {"signum", "sign(a)"},
    {"fmin", "min(a, b)"}, {"fmax", "max(a, b)"}, {"clamp", "min(max(a, low), high)"},
    {"clip", "min(max(a, low), high)"}, {"int", "trunc(a)"}, {"fix", "trunc(a)"},
    {"rint", "round(a)"}, {"nearbyint", "round(a)"}, {"frac", "a - floor(a)"},
    {"fract", "a - floor(a)"}, {"mod", "a - b*floor(a/b)"}, {"fmod", "a - b*trunc(a/b)"},
    {"remainder", "a - b*round(a/b)"}, {"tg", "tan(a)"}, {"cot", "1/tan(a)"}, {"ctg", "1/tan(a)"},
    {"sec", "1/cos(a)"}, {"csc", "1/sin(a)"}, {"arcsin", "asin(a)"}, {"arccos", "acos(a)"},
    {"arctan", "atan(a)"}, {"arctan2", "atan2(a, b)"}, {"arcsinh", "asinh(a)"},
    {"arccosh", "acosh(a)"}, {"arctanh", "atanh(a)"}, {"arsinh", "asinh(a)"},
    {"arcosh", "acosh(a)"}, {"artanh", "atanh(a)"}, {"sh", "sinh(a)"}, {"ch", "cosh(a)"},
    {"th", "tanh(a)"}, {"coth", "1/tanh(a)"}, {"sech", "1/cosh(a)"}, {"csch", "1/sinh(a)"},
    {"sinc", "select(abs(a) > 0, sin(a)/a, 1)"}, {"heaviside", "select(a > 0, 1, 0)"},
    {"step", "select(a > 0, 1, 0)"}, {"if", "select(a < b, c, d)"},
    {"where", "select(a < b, c, d)"}, {"cond", "select(a < b, c, d)"},
    {"conditional", "select(a < b, c, d)"}, {"ifelse", "select(a < b, c, d)"},
    {"iif", "select(a < b, c, d)"}, {"piecewise", "select(a < b, c, d)"}, {"acot", "atan(1/a)"},
    {"asec", "acos(1/a)"}, {"acsc", "asin(1/a)"}, {"arccot", "atan(1/a)"}, {"cosec", "1/sin(a)"},
    {"cotan", "1/tan(a)"}, {"sinpi", "sin(pi*a)"}, {"cospi", "cos(pi*a)"}, {"tanpi", "tan(pi*a)"},
    {"sind", "sin(pi*a/180)"}, {"cosd", "cos(pi*a/180)"}, {"tand", "tan(pi*a/180)"},
    {"erfcx", "exp(a^2)*erfc(a)"}, {"norm", "hypot(a, b)"}, {"degrees", "a*180/pi"},
    {"radians", "a*pi/180"}, {"sigmoid", "1/(1 + exp(-a))"}, {"copysign", "abs(a)*sign(b)"},
    {"minimum", "min(a, b)"}, {"maximum", "max(a, b)"}, {"absolute", "abs(a)"},
    {"ceiling", "ceil(a)"}, {"truncate", "trunc(a)"}, {"cube", "a^3"}, {"fma", "a*b + c"},
    {"gamma", ""}, {"tgamma", ""}, {"lgamma", ""}, {"beta", ""}, {"j0", ""}, {"j1", ""}, {"jn", ""},
    {"y0", ""}, {"y1", ""}, {"yn", ""}, {"besselj", ""}, {"bessely", ""}, {"erfinv", ""},
    {"zeta", ""}, {"si", ""}, {"ci", ""}, {"ei", ""}, {"li", ""}, {"erfi", ""}, {"digamma", ""},
    {"airy", ""}, {"legendre", ""}, {"rand", ""}, {"random", ""},
};
// clang-format on

const weft_intrinsic *weft_intrinsic_find(const char *name) {
    for (int i = 0; i < weft_intrinsics_count; ++i)
        if (strcmp(weft_intrinsics[i].name, name) == 0)
            return &weft_intrinsics[i];
    return NULL;
}

const weft_intrinsic *weft_formula_intrinsic(const char *name) {
    const weft_intrinsic *found = weft_intrinsic_find(name);
    return found && (found->flags & INTRINSIC_BODY_ONLY) == 0 ? found : NULL;
}

size_t weft_formula_names(const char *names[WEFT_INTRINSICS_MAX]) {
    size_t n = 0;
    for (int i = 0; i < weft_intrinsics_count; ++i)
        if ((weft_intrinsics[i].flags & INTRINSIC_BODY_ONLY) == 0)
            names[n++] = weft_intrinsics[i].name;
    return n;
}

int weft_formula_arguments(const char *name) {
    const weft_intrinsic *found = weft_formula_intrinsic(name);
    return found ? found->n_arguments : 0;
}

bool weft_formula_describe(const char *name, weft_formula_info *out) {
    const weft_intrinsic *found = weft_formula_intrinsic(name);
    if (!found)
        return false;
    *out = (weft_formula_info){found->name, found->domain, found->n_arguments};
    return true;
}

const char *weft_formula_instead(const char *name) {
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (strcasecmp(known[i].name, name) == 0)
            return known[i].instead;
    return NULL;
}

double weft_intrinsic_value(const weft_intrinsic *intrinsic, double x, double y) {
    return intrinsic->one ? intrinsic->one(x) : intrinsic->two(x, y);
}
