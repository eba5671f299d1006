/* Makes scalar expressions: equal ones are one, operations on numbers are carried out. */
#include "forms/lower/scalar.h"

#include <math.h>
#include <string.h>

int ufl_scalar_operands(const ufl_scalar *scalar) {
    static const int counts[SCALAR_TYPES] = {
        [SCALAR_SUM] = 2,       [SCALAR_PRODUCT] = 2,   [SCALAR_QUOTIENT] = 2,
        [SCALAR_FUNCTION1] = 1, [SCALAR_FUNCTION2] = 2, [SCALAR_SELECT] = 4,
    };
    return counts[scalar->type];
}

static uint64_t hash_of(const ufl_scalar *made) {
    uint64_t bits = 0, hash = (uint64_t)made->type;
    memcpy(&bits, &made->value, sizeof bits);
    const uint64_t parts[] = {(uint64_t)made->a, (uint64_t)made->b, (uint64_t)made->c,
                              (uint64_t)made->d, bits};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
        hash = (hash ^ parts[i]) * 0x9E3779B97F4A7C15u ^ hash >> 29;
    for (const char *c = made->name; c && *c; ++c)
        hash = (hash ^ (uint64_t)(unsigned char)*c) * 0x9E3779B97F4A7C15u;
    return hash;
}

static bool equal(const ufl_scalar *a, const ufl_scalar *b) {
    return a->type == b->type && a->a == b->a && a->b == b->b && a->c == b->c && a->d == b->d &&
           memcmp(&a->value, &b->value, sizeof a->value) == 0 &&
           (a->name == b->name || (a->name && b->name && strcmp(a->name, b->name) == 0));
}

static bool grow(ufl_scalars *scalars) {
    const int bits = scalars->bits ? scalars->bits + 1 : 8;
    int *table = ufl_alloc(scalars->context, (size_t)1 << bits, sizeof *table);
    if (!table)
        return false;
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    for (int i = 0; i < scalars->n; ++i) {
        uint64_t slot = hash_of(&scalars->list[i]) & mask;
        while (table[slot])
            slot = (slot + 1) & mask;
        table[slot] = i + 1;
    }
    scalars->table = table;
    scalars->bits = bits;
    return true;
}

/* The number of a scalar that equals *made, which is added where it is new. */
static int keep(ufl_scalars *scalars, ufl_scalar made) {
    const int n_operands = ufl_scalar_operands(&made);
    const int operands[] = {made.a, made.b, made.c, made.d};
    if (n_operands > 0) {
        made.constant = true;
        for (int i = 0; i < n_operands; ++i) {
            if (operands[i] < 0)
                return -1;
            made.constant = made.constant && scalars->list[operands[i]].constant;
        }
    }
    if ((scalars->bits == 0 || 2 * (scalars->n + 1) > 1 << scalars->bits) && !grow(scalars))
        return -1;
    const uint64_t mask = ((uint64_t)1 << scalars->bits) - 1;
    uint64_t slot = hash_of(&made) & mask;
    for (; scalars->table[slot]; slot = (slot + 1) & mask)
        if (equal(&scalars->list[scalars->table[slot] - 1], &made))
            return scalars->table[slot] - 1;
    ufl_scalar *list = ufl_grow(scalars->context, scalars->list, (size_t)scalars->n, sizeof *list);
    if (!list)
        return -1;
    scalars->list = list;
    list[scalars->n] = made;
    scalars->table[slot] = scalars->n + 1;
    return scalars->n++;
}

static bool number_of(const ufl_scalars *scalars, int a, double *value) {
    if (a < 0 || scalars->list[a].type != SCALAR_NUMBER)
        return false;
    *value = scalars->list[a].value;
    return true;
}

int ufl_scalar_number(ufl_scalars *scalars, double value) {
    if (value == 0)
        value = 0; /* -0 */
    return keep(scalars, (ufl_scalar){.type = SCALAR_NUMBER,
                                      .a = -1,
                                      .b = -1,
                                      .c = -1,
                                      .d = -1,
                                      .value = value,
                                      .constant = true});
}

int ufl_scalar_leaf(ufl_scalars *scalars, ufl_scalar_type type, int a, int b, int c,
                    bool constant) {
    return keep(scalars,
                (ufl_scalar){.type = type, .a = a, .b = b, .c = c, .d = -1, .constant = constant});
}

/* Operands in ascending order, so that a + b is b + a. */
static int symmetric(ufl_scalars *scalars, ufl_scalar_type type, int a, int b) {
    return keep(
        scalars,
        (ufl_scalar){.type = type, .a = a < b ? a : b, .b = a < b ? b : a, .c = -1, .d = -1});
}

/* ---- powers that are pulled out: what is number * (power * rest) ---- */

typedef struct collected_form {
    int number, power, rest; /* scalars; the exponent; -1: 1 */
} collected_form;

static int multiply_plain(ufl_scalars *scalars, int a, int b);
static int add_plain(ufl_scalars *scalars, int a, int b);

/* The exponent where the scalar is a power of the collected one, else 0. */
static int exponent_of(const ufl_scalars *scalars, int a) {
    const int base = scalars->collected - 1;
    if (a == base)
        return 1;
    const ufl_scalar *s = &scalars->list[a];
    if (s->type != SCALAR_PRODUCT || (s->a != base && s->b != base))
        return 0;
    const int rest = exponent_of(scalars, s->a == base ? s->b : s->a);
    return rest > 0 ? rest + 1 : 0;
}

static collected_form split(const ufl_scalars *scalars, int a) {
    collected_form form = {-1, 0, a};
    const ufl_scalar *s = &scalars->list[a];
    if (s->type == SCALAR_PRODUCT && scalars->list[s->a].type == SCALAR_NUMBER) {
        form.number = s->a;
        form.rest = s->b;
        s = &scalars->list[s->b];
    }
    form.power = exponent_of(scalars, form.rest);
    if (form.power > 0)
        form.rest = -1;
    else if (s->type == SCALAR_PRODUCT) {
        const int left = exponent_of(scalars, s->a), right = exponent_of(scalars, s->b);
        form.power = left > 0 ? left : right;
        form.rest = left > 0 ? s->b : right > 0 ? s->a : form.rest;
    }
    return form;
}

static int join(ufl_scalars *scalars, collected_form form) {
    int result = form.rest;
    if (form.power > 0) {
        int power = scalars->collected - 1;
        for (int k = 1; k < form.power; ++k)
            power = symmetric(scalars, SCALAR_PRODUCT, power, scalars->collected - 1);
        result = result < 0 ? power : symmetric(scalars, SCALAR_PRODUCT, power, result);
    }
    if (form.number < 0)
        return result;
    return result < 0
               ? form.number
               : keep(scalars,
                      (ufl_scalar){
                          .type = SCALAR_PRODUCT, .a = form.number, .b = result, .c = -1, .d = -1});
}

int ufl_scalar_collected(ufl_scalars *scalars, int a, int *rest) {
    collected_form form = {-1, 0, a};
    if (scalars->collected > 0 && a >= 0)
        form = split(scalars, a);
    const int power = form.power;
    form.power = 0;
    *rest = form.number < 0 && form.rest < 0 ? ufl_scalar_number(scalars, 1) : join(scalars, form);
    return power;
}

static int one_of(ufl_scalars *scalars, int a) {
    return a < 0 ? ufl_scalar_number(scalars, 1) : a;
}

int ufl_scalar_add(ufl_scalars *scalars, int a, int b) {
    int left = -1, right = -1;
    if (scalars->collected == 0 || a < 0 || b < 0)
        return add_plain(scalars, a, b);
    const int power = ufl_scalar_collected(scalars, a, &left);
    if (power == 0 || ufl_scalar_collected(scalars, b, &right) != power)
        return add_plain(scalars, a, b);
    int sum = add_plain(scalars, left, right);
    for (int k = 0; k < power; ++k)
        sum = ufl_scalar_multiply(scalars, scalars->collected - 1, sum);
    return sum;
}

int ufl_scalar_multiply(ufl_scalars *scalars, int a, int b) {
    if (scalars->collected == 0 || a < 0 || b < 0)
        return multiply_plain(scalars, a, b);
    const collected_form left = split(scalars, a), right = split(scalars, b);
    if (left.power + right.power == 0)
        return multiply_plain(scalars, a, b);
    int rest = multiply_plain(scalars, one_of(scalars, left.rest), one_of(scalars, right.rest));
    rest = multiply_plain(
        scalars,
        multiply_plain(scalars, one_of(scalars, left.number), one_of(scalars, right.number)), rest);
    if (rest < 0 || ufl_scalar_is(scalars, rest, 0))
        return rest;
    collected_form product = split(scalars, rest);
    product.power = left.power + right.power;
    if (product.rest >= 0 && ufl_scalar_is(scalars, product.rest, 1))
        product.rest = -1;
    return join(scalars, product);
}

static int add_plain(ufl_scalars *scalars, int a, int b) {
    double x = 0, y = 0;
    if (a < 0 || b < 0)
        return -1;
    const bool known_a = number_of(scalars, a, &x), known_b = number_of(scalars, b, &y);
    if (known_a && known_b)
        return ufl_scalar_number(scalars, x + y);
    if (known_a && x == 0)
        return b;
    if (known_b && y == 0)
        return a;
    if (a == b)
        return ufl_scalar_multiply(scalars, ufl_scalar_number(scalars, 2), a);
    return symmetric(scalars, SCALAR_SUM, a, b);
}

int ufl_scalar_subtract(ufl_scalars *scalars, int a, int b) {
    return a == b && a >= 0
               ? ufl_scalar_number(scalars, 0)
               : ufl_scalar_add(scalars, a,
                                ufl_scalar_multiply(scalars, ufl_scalar_number(scalars, -1), b));
}

static int multiply_plain(ufl_scalars *scalars, int a, int b) {
    double x = 0, y = 0;
    if (a < 0 || b < 0)
        return -1;
    const bool known_a = number_of(scalars, a, &x), known_b = number_of(scalars, b, &y);
    if (known_a && known_b)
        return ufl_scalar_number(scalars, x * y);
    if ((known_a && x == 0) || (known_b && y == 0))
        return ufl_scalar_number(scalars, 0);
    if (known_a && x == 1)
        return b;
    if (known_b && y == 1)
        return a;
    /* Numbers are collected in front: 2*(3*a) is 6*a. */
    if (known_b)
        return multiply_plain(scalars, b, a);
    const ufl_scalar *right = &scalars->list[b], *left = &scalars->list[a];
    double z = 0;
    if (known_a && right->type == SCALAR_PRODUCT && number_of(scalars, right->a, &z))
        return multiply_plain(scalars, ufl_scalar_number(scalars, x * z), right->b);
    if (!known_a && right->type == SCALAR_PRODUCT && number_of(scalars, right->a, &z)) {
        const int number = right->a, rest = right->b;
        return multiply_plain(scalars, number, multiply_plain(scalars, a, rest));
    }
    if (!known_a && left->type == SCALAR_PRODUCT && number_of(scalars, left->a, &z)) {
        const int number = left->a, rest = left->b;
        return multiply_plain(scalars, number, multiply_plain(scalars, rest, b));
    }
    if (known_a)
        return keep(scalars,
                    (ufl_scalar){.type = SCALAR_PRODUCT, .a = a, .b = b, .c = -1, .d = -1});
    return symmetric(scalars, SCALAR_PRODUCT, a, b);
}

int ufl_scalar_divide(ufl_scalars *scalars, int a, int b) {
    double x = 0, y = 0;
    if (a < 0 || b < 0)
        return -1;
    const bool known_a = number_of(scalars, a, &x);
    if (number_of(scalars, b, &y) && y != 0)
        return known_a ? ufl_scalar_number(scalars, x / y)
                       : ufl_scalar_multiply(scalars, ufl_scalar_number(scalars, 1 / y), a);
    if (known_a && x == 0)
        return a;
    return keep(scalars, (ufl_scalar){.type = SCALAR_QUOTIENT, .a = a, .b = b, .c = -1, .d = -1});
}

int ufl_scalar_function(ufl_scalars *scalars, const char *name, int a) {
    return keep(
        scalars,
        (ufl_scalar){.type = SCALAR_FUNCTION1, .name = name, .a = a, .b = -1, .c = -1, .d = -1});
}

int ufl_scalar_function2(ufl_scalars *scalars, const char *name, int a, int b) {
    return keep(
        scalars,
        (ufl_scalar){.type = SCALAR_FUNCTION2, .name = name, .a = a, .b = b, .c = -1, .d = -1});
}

int ufl_scalar_select(ufl_scalars *scalars, const char *name, int a, int b, int c, int d) {
    if (c == d)
        return c;
    return keep(scalars,
                (ufl_scalar){.type = SCALAR_SELECT, .name = name, .a = a, .b = b, .c = c, .d = d});
}

int ufl_scalar_power(ufl_scalars *scalars, int a, int exponent) {
    int result = ufl_scalar_number(scalars, 1);
    for (int square = a; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1)
            result = ufl_scalar_multiply(scalars, result, square);
        if (exponent > 1)
            square = ufl_scalar_multiply(scalars, square, square);
    }
    return result;
}
