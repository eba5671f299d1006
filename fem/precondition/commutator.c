/* Applies the least-squares commutator: three products of the whole matrix between two solves. */
#include "fem/precondition/commutator.h"
#include "fem/base/memory.h"

#include <stdlib.h>

struct weft_commutator {
    weft_context *context;
    weft_operator *A;
    size_t first, bytes;          /* of the multiplier's rows, in bytes */
    weft_memory *weights, *x, *y; /* [rows of A] 1/q; what A is applied to, A x */
    weft_memory *h;               /* [n] */
    weft_compiled scale;          /* x = weights y */
};

void weft_commutator_free(weft_commutator **commutator) {
    weft_commutator *c = *commutator;
    if (!c)
        return;
    weft_memory **lists[] = {&c->weights, &c->x, &c->y, &c->h};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        weft_memory_free(lists[i]);
    weft_compiled_free(&c->scale);
    free(c);
    *commutator = NULL;
}

static weft_status make_scale(weft_commutator *c, int64_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragment = {"commutator.weft", "index rows plain;\n"
                                                       "input weights, y : real over rows;\n"
                                                       "x = weights*y;\n"
                                                       "return x;\n"};
    const weft_compile_options options = {.size = sizeof options, .elements = n};
    TRY(weft_compiled_make(c->context, &fragment, 1, &options, &c->scale, error));
    TRY(weft_program_size(c->scale.program, "rows", n, error));
    TRY(weft_program_bind(c->scale.program, "weights", c->weights, error));
    TRY(weft_program_bind(c->scale.program, "x", c->x, error));
    TRY(weft_program_bind(c->scale.program, "y", c->y, error));
done:
    return status;
}

weft_status weft_commutator_make(weft_context *context, weft_operator *A, int64_t first, int64_t n,
                                 const double *weights, weft_commutator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_rows = weft_operator_dofs(A);
    const size_t bytes = (size_t)n_rows * sizeof(double);
    weft_commutator *c = calloc(1, sizeof *c);
    if (!c)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    *c = (weft_commutator){.context = context,
                           .A = A,
                           .first = (size_t)first * sizeof(double),
                           .bytes = (size_t)n * sizeof(double)};
    TRY(weft_memory_place(context->device, weights, (size_t)n_rows, sizeof *weights, &c->weights,
                          error));
    TRY(weft_memory_make(context->device, bytes, &c->x, error));
    TRY(weft_memory_make(context->device, bytes, &c->y, error));
    TRY(weft_memory_make(context->device, c->bytes, &c->h, error));
    TRY(make_scale(c, n_rows, error));
    *out = c;
    c = NULL;
done:
    weft_commutator_free(&c);
    return status;
}

weft_status weft_commutator_apply(weft_commutator *c, weft_preconditioner *cycle, weft_memory *r,
                                  weft_memory *z, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(cycle->kind->apply(cycle, r, z, error));
    TRY(weft_memory_zero(c->x, error));
    TRY(weft_memory_copy_part(c->x, c->first, z, 0, c->bytes, error));
    for (int factor = 0; factor < 2; ++factor) { /* q^-1 B', then q^-1 F */
        TRY(weft_operator_apply(c->A, c->x, c->y, error));
        TRY(weft_program_run(c->scale.program, error));
    }
    TRY(weft_operator_apply(c->A, c->x, c->y, error));
    TRY(weft_memory_copy_part(c->h, 0, c->y, c->first, c->bytes, error));
    TRY(cycle->kind->apply(cycle, c->h, z, error));
done:
    return status;
}
