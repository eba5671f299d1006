/* Proves that the matrix of an integral is symmetric: with its arguments exchanged, the integrand has the same terms. */
#include "forms/lower/private.h"

#include <string.h>

/* The same function of the other argument; -1: the integrand has none. */
static int exchanged(const ufl_lowering *l, int basis) {
    ufl_basis other = l->bases[basis];
    other.argument = 1 - other.argument;
    for (int i = 0; i < l->n_bases; ++i)
        if (memcmp(&l->bases[i], &other, sizeof other) == 0)
            return i;
    return -1;
}

/* Equal factors are one scalar. Terms are ascending by basis, each pair once. */
static bool has_term(const ufl_terms *terms, int test, int trial, int factor) {
    for (int t = 0; t < terms->n; ++t)
        if (terms->list[t].basis[0] == test && terms->list[t].basis[1] == trial)
            return terms->list[t].factor == factor;
    return false;
}

static bool are_symmetric(const ufl_lowering *l, const ufl_terms *terms) {
    for (int t = 0; t < terms->n; ++t) {
        const ufl_term *term = &terms->list[t];
        if (term->basis[0] < 0 || term->basis[1] < 0)
            return false;
        const int test = exchanged(l, term->basis[1]), trial = exchanged(l, term->basis[0]);
        if (test < 0 || trial < 0 || !has_term(terms, test, trial, term->factor))
            return false;
    }
    return true;
}

/* Numbers, Jacobians and what is computed from them without functions. Of cells the determinant alone is known not to be 0. */
static bool are_of_shape(const ufl_lowering *l) {
    for (int i = 0; i < l->scalars.n; ++i)
        switch (l->scalars.list[i].type) {
        case SCALAR_NUMBER:
        case SCALAR_VERTEX:
        case SCALAR_JACOBIAN:
        case SCALAR_CURVATURE:
        case SCALAR_DETERMINANT:
        case SCALAR_SUM:
        case SCALAR_PRODUCT:
            break;
        case SCALAR_QUOTIENT:
            if (l->scalars.list[i].b != l->determinant[0] &&
                l->scalars.list[i].b != l->determinant[1])
                return false;
            break;
        default:
            return false;
        }
    return true;
}

ufl_symmetry ufl_prove_symmetry(ufl_graph *graph, const ufl_prepared *form, int number,
                                const int *facets) {
    const ufl_integral *integral = &form->form.integrals[number];
    ufl_context *context = graph->context;
    weft_error *kept = context->error, ignored = {0};
    ufl_symmetry proved = {false, false};
    ufl_lowering l = ufl_lowering_of(graph, integral, facets);
    if (context->status != WEFT_OK || form->n_arguments != 2 ||
        form->arguments[0]->space != form->arguments[1]->space)
        return proved;
    context->error = &ignored;
    const ufl_terms *terms = ufl_factor(&l, integral->integrand);
    if (terms && context->status == WEFT_OK) {
        proved.is_symmetric = are_symmetric(&l, terms);
        proved.is_of_shape = are_of_shape(&l);
    }
    context->error = kept;
    context->status = WEFT_OK; /* what cannot be lowered is reported where it is lowered */
    return proved;
}
