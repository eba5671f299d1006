/* Proves that a sum over cells does not depend on the order of the entries of a cell: computes it
 * at a random point with its entries in both orders. */
#include "fusion/plan/permutation.h"
#include "core/base/fault.h"
#include "fusion/base/array.h"

#include <string.h>

enum { WIDTH_MAX = 4, GENERATORS_MAX = 3 };

/* Generators of the groups: the cyclic one of three entries, the alternating one of four, and with
 * the transposition, which comes last, the symmetric ones. */
typedef struct generators {
    int n_even, n;
    int orders[GENERATORS_MAX][WIDTH_MAX];
} generators;
static const generators generators_of[WIDTH_MAX + 1] = {
    [2] = {1, 1, {{1, 0}}},
    [3] = {1, 2, {{1, 2, 0}, {1, 0, 2}}},
    [4] = {2, 3, {{1, 2, 0, 3}, {0, 2, 3, 1}, {1, 0, 2, 3}}}};

typedef struct evaluation {
    const weft_graph *graph;
    const weft_cell_sum *sum;
    int width;
    weft_arena *arena;
    weft_residues *field;
    /* [n_values] components of a value of the cell, or uniform; and those loaded through the connectivity,
     * in the cell's own order. NULL: not read */
    weft_residue **own, **loaded;
    weft_residue **permuted; /* [n_values] the latter in the current order */
} evaluation;

static int count_of(const evaluation *e, int value) {
    return weft_shape_count(&e->graph->values[value].shape);
}

/* ---- what is read ---- */

static weft_status random_make(const evaluation *e, int n, weft_residue **out, weft_error *error) {
    weft_status status = WEFT_OK;
    if (*out)
        goto done;
    TRY(WEFT_ALLOC(e->arena, *out, (size_t)n, error));
    for (int i = 0; i < n; ++i)
        (*out)[i] = weft_residue_random(e->field);
done:
    return status;
}

static bool is_computed(const evaluation *e, int value) {
    const int producer = e->graph->values[value].producer;
    for (int i = 0; i < e->sum->n_calls; ++i)
        if (e->sum->calls[i] == producer)
            return true;
    return false;
}

/* Random values of everything that the calls read. *known is false if they read through another
 * connectivity. */
static weft_status inputs_make(evaluation *e, bool *known, weft_error *error) {
    weft_status status = WEFT_OK;
    *known = true;
    for (int i = 0; i < e->sum->n_calls; ++i) {
        const weft_call *call = &e->graph->calls[e->sum->calls[i]];
        for (int k = 0; k < call->n_operands; ++k) {
            const weft_operand *operand = &call->operands[k];
            const int n = count_of(e, operand->value);
            if (operand->connectivity == e->sum->accumulation->connectivity) {
                TRY(random_make(e, e->width * n, &e->loaded[operand->value], error));
                TRY(WEFT_ALLOC(e->arena, e->permuted[operand->value], (size_t)(e->width * n),
                               error));
            } else if (operand->connectivity >= 0) {
                *known = false;
            } else if (!is_computed(e, operand->value)) {
                TRY(random_make(e, n, &e->own[operand->value], error));
            }
        }
        TRY(WEFT_ALLOC(e->arena, e->own[call->result], (size_t)count_of(e, call->result), error));
    }
done:
    return status;
}

/* ---- calls ---- */

static const weft_residue *operand_of(const evaluation *e, const weft_operand *operand) {
    const weft_residue *whole =
        operand->connectivity >= 0 ? e->permuted[operand->value] : e->own[operand->value];
    return whole + operand->offset;
}

static weft_residue power_of(const evaluation *e, const weft_call *call,
                             const weft_arithmetic *node, const weft_residue *nodes) {
    int n = 0;
    return weft_arithmetic_integer_power(call, node, &n)
               ? weft_residue_power(nodes[node->a], n)
               : weft_residue_function(e->field, weft_intrinsic_find("pow"), nodes[node->a],
                                       nodes[node->b]);
}

static weft_residue select_of(const evaluation *e, const weft_arithmetic *node,
                              const weft_residue *nodes) {
    const bool swaps = node->name[0] == '>', with_equal = node->name[1] == '=';
    const weft_residue a = nodes[node->a], b = nodes[node->b];
    /* a <= b is not b < a */
    const bool reads_ab = swaps == with_equal;
    const weft_residue less =
        reads_ab ? weft_residue_less(e->field, a, b) : weft_residue_less(e->field, b, a);
    return weft_residue_select(with_equal ? weft_residue_subtract(1, less) : less, nodes[node->c],
                               nodes[node->d]);
}

/* Component c of a node of elementwise arithmetic, from earlier nodes. */
static weft_residue node_of(const evaluation *e, const weft_call *call, int index, int c,
                            const weft_residue *nodes) {
    const weft_arithmetic *node = &call->arithmetic[index];
    const weft_operand *operand = NULL;
    switch (node->op) {
    case ARITHMETIC_NUMBER:
        return weft_residue_number(e->field, node->number);
    case ARITHMETIC_OPERAND:
        operand = &call->operands[node->operand];
        return operand_of(e, operand)[operand->shape.rank == 0 ? 0 : c];
    case ARITHMETIC_NEGATE:
        return weft_residue_subtract(0, nodes[node->a]);
    case ARITHMETIC_ADD:
        return weft_residue_add(nodes[node->a], nodes[node->b]);
    case ARITHMETIC_SUBTRACT:
        return weft_residue_subtract(nodes[node->a], nodes[node->b]);
    case ARITHMETIC_MULTIPLY:
        return weft_residue_multiply(nodes[node->a], nodes[node->b]);
    case ARITHMETIC_DIVIDE:
        return weft_residue_divide(nodes[node->a], nodes[node->b]);
    case ARITHMETIC_POWER:
        return power_of(e, call, node, nodes);
    case ARITHMETIC_INTRINSIC:
        return weft_residue_function(e->field, weft_intrinsic_find(node->name), nodes[node->a],
                                     node->b >= 0 ? nodes[node->b] : 0);
    case ARITHMETIC_SELECT:
        return select_of(e, node, nodes);
    }
    return 0;
}

static weft_status call_run(const evaluation *e, const weft_call *call, bool *known,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_residue *arguments[WEFT_ARGUMENTS_MAX];
    weft_residue *result = e->own[call->result], *nodes = NULL;
    *known = !call->reduction && !call->product_kernel;
    if (!*known)
        goto done;
    if (call->specialisation) {
        for (int k = 0; k < call->n_operands; ++k)
            arguments[k] = operand_of(e, &call->operands[k]);
        memset(result, 0, (size_t)count_of(e, call->result) * sizeof *result);
        *known = weft_specialisation_residues(call->specialisation, e->arena, e->field, arguments,
                                              result);
        goto done;
    }
    TRY(WEFT_ALLOC(e->arena, nodes, (size_t)call->n_arithmetic + 1, error));
    for (int c = 0; c < count_of(e, call->result); ++c) {
        for (int i = 0; i < call->n_arithmetic; ++i)
            nodes[i] = node_of(e, call, i, c, nodes);
        result[c] = nodes[call->n_arithmetic - 1];
    }
    *known = !weft_residues_failed(e->field);
done:
    return status;
}

/* The source of the accumulation with the cell's entries in this order. */
static weft_status source_of(const evaluation *e, const int *order, weft_residue *out, bool *known,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const int source = e->sum->accumulation->source;
    for (int value = 0; value < e->graph->n_values; ++value) {
        const int n = count_of(e, value);
        for (int i = 0; e->loaded[value] && i < e->width; ++i)
            memcpy(e->permuted[value] + i * n, e->loaded[value] + order[i] * n,
                   (size_t)n * sizeof **e->permuted);
    }
    for (int i = 0; i < e->sum->n_calls && *known; ++i)
        TRY(call_run(e, &e->graph->calls[e->sum->calls[i]], known, error));
    memcpy(out, e->own[source], (size_t)count_of(e, source) * sizeof *out);
done:
    return status;
}

/* ---- the comparison ---- */

/* Is `permuted` what `straight` is with its entries in this order? Rows and, of a matrix, columns. */
static bool is_permuted(const evaluation *e, const int *order, const weft_residue *straight,
                        const weft_residue *permuted, int n) {
    const int rest = n / e->width; /* components of an entry, or columns */
    for (int i = 0; i < n; ++i) {
        const int c = e->sum->accumulation->matrix ? order[i % rest] : i % rest;
        if (permuted[i] != straight[order[i / rest] * rest + c])
            return false;
    }
    return true;
}

static weft_status compare(evaluation *e, weft_permutations permutations, bool *out,
                           weft_error *error) {
    static const int identity[WIDTH_MAX] = {0, 1, 2, 3};
    weft_status status = WEFT_OK;
    const generators *g = &generators_of[e->width];
    const int n = count_of(e, e->sum->accumulation->source);
    const int n_orders = permutations == PERMUTATIONS_ALL ? g->n : g->n_even;
    const int rows = e->sum->accumulation->matrix ? n / e->width : n;
    weft_residue *straight = NULL, *permuted = NULL;
    bool known = n % e->width == 0 && (!e->sum->accumulation->matrix || rows == e->width) &&
                 is_computed(e, e->sum->accumulation->source);
    if (known)
        TRY(inputs_make(e, &known, error));
    *out = known;
    if (!known)
        goto done;
    TRY(WEFT_ALLOC(e->arena, straight, (size_t)n, error));
    TRY(WEFT_ALLOC(e->arena, permuted, (size_t)n, error));
    TRY(source_of(e, identity, straight, &known, error));
    for (int i = 0; i < n_orders && *out; ++i) {
        TRY(source_of(e, g->orders[i], permuted, &known, error));
        *out = known &&
               (is_permuted(e, g->orders[i], straight, permuted, n) || weft_fault("order_ignored"));
    }
done:
    return status;
}

weft_status weft_cell_sum_commutes(const weft_graph *graph, const weft_cell_sum *sum,
                                   weft_permutations permutations, bool *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_values = (size_t)graph->n_values + 1;
    evaluation e = {.graph = graph,
                    .sum = sum,
                    .width = graph->connectivities[sum->accumulation->connectivity].width};
    *out = false;
    if (e.width > WIDTH_MAX || generators_of[e.width].n == 0)
        goto done;
    TRY(weft_arena_make(&e.arena, error));
    TRY(weft_residues_make(e.arena, &e.field, error));
    TRY(WEFT_ALLOC(e.arena, e.own, n_values, error));
    TRY(WEFT_ALLOC(e.arena, e.loaded, n_values, error));
    TRY(WEFT_ALLOC(e.arena, e.permuted, n_values, error));
    TRY(compare(&e, permutations, out, error));
done:
    weft_arena_free(&e.arena);
    return status;
}
