/* Finds the roles of calls in a kernel of products of small matrices. A product is computed by tiles
 * if its result is needed entry by entry only; a product that is an operand of another one is computed where its
 * entries are read, if its sums are short: B^T D B is one product whose second factor is D B. */
#include "fusion/plan/dense.h"
#include "fusion/base/target.h"
#include "fusion/library/native.h"
#include "gemm/space.h"

#include <string.h>

typedef struct finder {
    const weft_graph *graph;
    const int *order;
    int n;
    bool inlined[WEFT_DENSE_CALLS]; /* products that cannot be tiled */
    int terms[WEFT_DENSE_CALLS];    /* of the sums, within each other, of an entry */
    weft_dense *out;
} finder;

/* The plain body whose thread t computes entry t of the result, for each t; -1: there is none. */
static int entry_variant(const weft_call *call) {
    const weft_specialisation *specialisation = call->specialisation;
    if (!specialisation)
        return 0;
    const int n = weft_shape_count(&specialisation->result);
    for (int v = 0; v < specialisation->n_variants; ++v) {
        int c = 0;
        if (weft_specialisation_language(specialisation, v) != LANGUAGE_PLAIN)
            continue;
        while (specialisation->threads[v] == n && c < n &&
               weft_specialisation_writer(specialisation, v, c) == c)
            ++c;
        if (c == n)
            return v;
    }
    return -1;
}

static int position_of(const finder *f, int call) {
    int i = 0;
    while (i < f->n && f->order[i] != call)
        ++i;
    return i < f->n ? i : -1;
}

/* The position of the call that computes an operand from tiles; -1: it does not depend on any. */
static int tiled_operand(const finder *f, const weft_operand *operand) {
    const int producer = f->graph->values[operand->value].producer;
    const int i = producer >= 0 && operand->connectivity < 0 ? position_of(f, producer) : -1;
    return i >= 0 && f->out->roles[i] >= DENSE_TILE ? i : -1;
}

/* Does entry t of the result need entry t alone of an operand? */
static bool is_aligned(const finder *f, const weft_call *call, int variant, int operand) {
    const weft_shape *result = &f->graph->values[call->result].shape;
    const weft_specialisation *specialisation = call->specialisation;
    if (call->operands[operand].offset != 0 ||
        !weft_shape_equal(&call->operands[operand].shape, result))
        return false;
    if (!specialisation)
        return true;
    if (weft_specialisation_thread_count(specialisation, variant, operand) != 1)
        return false;
    for (int t = 0; t < weft_shape_count(result); ++t)
        if (weft_specialisation_thread_component(specialisation, variant, operand, t, 0) != t)
            return false;
    return true;
}

/* Mark the products that the result at a position is computed from. */
static void inline_products(finder *f, int position) {
    const weft_call *call = &f->graph->calls[f->order[position]];
    if (f->out->roles[position] == DENSE_TILE)
        f->inlined[position] = true;
    for (int k = 0; f->out->roles[position] == DENSE_FOLLOWS && k < call->n_operands; ++k) {
        const int from = tiled_operand(f, &call->operands[k]);
        if (from >= 0)
            inline_products(f, from);
    }
}

static bool may_tile(const finder *f, int position) {
    const weft_call *call = &f->graph->calls[f->order[position]];
    const weft_shape *shape = &f->graph->values[call->result].shape;
    return call->specialisation && weft_function_is_product(call->specialisation->function) &&
           !f->inlined[position] && shape->sizes[0] >= WEFT_DENSE_LEAST &&
           shape->sizes[1] >= WEFT_DENSE_LEAST;
}

/* The terms that computing an entry at a position adds up, if its operands are computed with it. */
static int terms_of(const finder *f, int position) {
    const weft_call *call = &f->graph->calls[f->order[position]];
    int most = 1;
    for (int k = 0; k < call->n_operands; ++k) {
        const int producer = f->graph->values[call->operands[k].value].producer;
        const int i = producer >= 0 ? position_of(f, producer) : -1;
        if (i >= 0 && f->out->roles[i] == DENSE_ENTRY && f->terms[i] > most)
            most = f->terms[i];
    }
    return call->specialisation && weft_function_is_product(call->specialisation->function)
               ? most * call->specialisation->arguments[0].sizes[1]
               : most;
}

/* Give each call its role. *again: a product must not be tiled, so that the roles must be found once more. */
static bool find_roles(finder *f, bool *again) {
    weft_dense *out = f->out;
    *again = false;
    out->shape.rank = 0;
    for (int i = 0; i < f->n; ++i) {
        const weft_call *call = &f->graph->calls[f->order[i]];
        const weft_shape *shape = &f->graph->values[call->result].shape;
        const bool tile = may_tile(f, i);
        const int variant = entry_variant(call);
        bool follows = false;
        if (variant < 0 && !tile && weft_shape_count(shape) > 1)
            return false;
        out->variants[i] = variant >= 0 ? variant : 0;
        for (int k = 0; k < call->n_operands; ++k) {
            const int from = tiled_operand(f, &call->operands[k]);
            follows |= from >= 0;
            if (from >= 0 && (tile || !is_aligned(f, call, out->variants[i], k))) {
                inline_products(f, from);
                *again = true;
                return true;
            }
        }
        out->roles[i] = tile                           ? DENSE_TILE
                        : follows                      ? DENSE_FOLLOWS
                        : weft_shape_count(shape) == 1 ? DENSE_SCALAR
                                                       : DENSE_ENTRY;
        f->terms[i] = terms_of(f, i);
        if (out->roles[i] == DENSE_ENTRY && f->terms[i] > WEFT_DENSE_TERMS)
            return false;
        if (tile && out->shape.rank > 0 && !weft_shape_equal(&out->shape, shape))
            return false;
        if (tile)
            out->shape = *shape;
    }
    return out->shape.rank > 0;
}

/* A kernel that overwrites a list could still have to read other entries of it. */
static bool overwrites(const finder *f) {
    for (int i = 0; i < f->n; ++i)
        if (f->graph->values[f->graph->calls[f->order[i]].result].storage >= 0)
            return true;
    return false;
}

bool weft_dense_find(const weft_graph *graph, const int *order, int n, weft_dense *out) {
    finder f = {.graph = graph, .order = order, .n = n, .out = out};
    bool again = true, any = false;
    for (int i = 0; i < n; ++i) {
        const weft_call *call = &graph->calls[order[i]];
        if (call->reduction || call->product_kernel || call->index_set < 0 ||
            weft_index_set_is_product(graph, call->index_set))
            return false;
        any |= call->specialisation && weft_function_is_product(call->specialisation->function);
    }
    if (!any || n > WEFT_DENSE_CALLS || overwrites(&f))
        return false;
    *out = (weft_dense){0};
    while (again)
        if (!find_roles(&f, &again))
            return false;
    const int tiles =
        weft_gemm_tile(out->shape.sizes[1], out->shape.sizes[0], &out->down, &out->across);
    out->warps = tiles < 2 ? 1 : tiles < 4 ? 2 : 4;
    return true;
}

bool weft_dense_is_interleaved(const weft_graph *graph, const weft_implementation *made, int m) {
    const weft_operand *operand = &made->onchip[m];
    const int set = graph->values[operand->value].index_set;
    return set >= 0 && operand->connectivity < 0 && !graph->index_sets[set].plain &&
           weft_shape_count(&operand->shape) > 1 && (!made->produced_here[m] || made->live_out[m]);
}

enum { STAGED_BLOCKS = 3 /* on a multiprocessor, at least */ };

void weft_dense_stage(const weft_graph *graph, const weft_limits *limits, int real_bytes,
                      weft_implementation *made) {
    int n = 0;
    made->shared_components = 0;
    for (int m = 0; m < made->n_onchip; ++m) {
        made->placement[m] = PLACE_REGISTER;
        made->offsets[m] = n;
        n += weft_dense_is_interleaved(graph, made, m) ? weft_shape_count(&made->onchip[m].shape)
                                                       : 0;
    }
    n += n % 2 == 0 && n > 0; /* the same component of several elements in different banks */
    if (n == 0 || (size_t)n * (size_t)made->elements_per_block * (size_t)real_bytes +
                          (size_t)limits->target.reserved_bytes >
                      limits->onchip_bytes / STAGED_BLOCKS)
        return;
    made->shared_components = n;
    for (int m = 0; m < made->n_onchip; ++m)
        if (weft_dense_is_interleaved(graph, made, m))
            made->placement[m] = PLACE_SHARED;
}
