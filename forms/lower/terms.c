/* Sums of terms: a scalar times one function of each argument. */
#include "forms/lower/private.h"

#include <string.h>

const ufl_terms *ufl_terms_make(ufl_lowering *l, const ufl_term *list, int n) {
    ufl_terms *terms = ufl_alloc(l->context, 1, sizeof *terms);
    if (!terms)
        return NULL;
    terms->n = n;
    terms->list = ufl_alloc(l->context, (size_t)(n > 0 ? n : 1), sizeof *terms->list);
    if (!terms->list)
        return NULL;
    if (n > 0) /* else there is perhaps no list */
        memcpy(terms->list, list, (size_t)n * sizeof *list);
    return terms;
}

const ufl_terms *ufl_terms_scalar(ufl_lowering *l, int factor) {
    if (factor < 0)
        return NULL;
    const ufl_term term = {{-1, -1}, factor};
    return ufl_terms_make(l, &term, ufl_scalar_is(&l->scalars, factor, 0) ? 0 : 1);
}

int ufl_terms_compare(const ufl_term *a, const ufl_term *b) {
    for (int k = 0; k < 2; ++k)
        if (a->basis[k] != b->basis[k])
            return a->basis[k] < b->basis[k] ? -1 : 1;
    return 0;
}

const ufl_terms *ufl_terms_add(ufl_lowering *l, const ufl_terms *a, const ufl_terms *b) {
    if (!a || !b)
        return NULL;
    if (a->n == 0 || b->n == 0)
        return a->n == 0 ? b : a;
    ufl_term *list = ufl_alloc(l->context, (size_t)(a->n + b->n), sizeof *list);
    if (!list)
        return NULL;
    int n = 0;
    for (int i = 0, j = 0; i < a->n || j < b->n;) {
        const int order = i == a->n   ? 1
                          : j == b->n ? -1
                                      : ufl_terms_compare(&a->list[i], &b->list[j]);
        if (order != 0) {
            list[n++] = order < 0 ? a->list[i++] : b->list[j++];
            continue;
        }
        ufl_term sum = a->list[i++];
        sum.factor = ufl_scalar_add(&l->scalars, sum.factor, b->list[j++].factor);
        if (sum.factor < 0)
            return NULL;
        if (!ufl_scalar_is(&l->scalars, sum.factor, 0))
            list[n++] = sum;
    }
    return ufl_terms_make(l, list, n);
}

const ufl_terms *ufl_terms_multiply(ufl_lowering *l, const ufl_node *node, const ufl_terms *a,
                                    const ufl_terms *b) {
    const ufl_terms *sum = ufl_terms_make(l, NULL, 0);
    for (int i = 0; a && b && sum && i < a->n; ++i) {
        ufl_term *row = ufl_alloc(l->context, (size_t)(b->n > 0 ? b->n : 1), sizeof *row);
        if (!row)
            return NULL;
        for (int j = 0; j < b->n; ++j) {
            row[j].factor = ufl_scalar_multiply(&l->scalars, a->list[i].factor, b->list[j].factor);
            if (row[j].factor < 0)
                return NULL;
            for (int k = 0; k < 2; ++k) {
                const int p = a->list[i].basis[k], q = b->list[j].basis[k];
                if (p >= 0 && q >= 0) {
                    l->context->place = node->place;
                    return ufl_fail(l->context, WEFT_ERROR_TYPE,
                                    "a product of two functions of argument %d", k);
                }
                row[j].basis[k] = p >= 0 ? p : q;
            }
        }
        const ufl_terms *product = ufl_terms_make(l, row, b->n);
        /* b is sorted, and a adds the same to all, so that rows are sorted where only one has each
         * argument; else they are sorted term by term */
        for (int j = 0; product && j < b->n; ++j)
            sum = ufl_terms_add(l, sum, ufl_terms_make(l, &product->list[j], 1));
        if (!product)
            return NULL;
    }
    return a && b ? sum : NULL;
}

int ufl_terms_factor(ufl_lowering *l, const ufl_node *node, const ufl_terms *terms) {
    if (!terms)
        return -1;
    if (terms->n == 0)
        return ufl_scalar_number(&l->scalars, 0);
    if (terms->n == 1 && terms->list[0].basis[0] < 0 && terms->list[0].basis[1] < 0)
        return terms->list[0].factor;
    l->context->place = node->place;
    ufl_fail(l->context, WEFT_ERROR_TYPE, "an argument in %s", ufl_type_name(node->type));
    return -1;
}
