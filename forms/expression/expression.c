/* Makes and finds the nodes of the expression graph. */
#include "forms/expression/expression.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    return hash * 0xff51afd7ed558ccdu;
}

static uint64_t hash_of(const ufl_node *node) {
    uint64_t hash = mix((uint64_t)node->type, (uint64_t)(uint32_t)node->detail);
    hash = mix(hash, (uint64_t)node->integer);
    hash = mix(hash, (uint64_t)(uintptr_t)node->space);
    for (int i = 0; i < node->n_operands; ++i)
        hash = mix(hash, node->operands[i]->id + 1u);
    for (int i = 0; i < node->n_indices; ++i)
        hash = mix(hash, (uint64_t)(uint32_t)node->indices[i]);
    for (int i = 0; i < node->rank; ++i)
        hash = mix(hash, (uint64_t)(uint32_t)node->shape[i]);
    for (int i = 0; i < node->n_free; ++i)
        hash = mix(hash, (uint64_t)(uint32_t)node->free[i].number);
    return hash ^ hash >> 29;
}

static bool equal_bytes(const void *a, const void *b, size_t n) {
    return n == 0 || memcmp(a, b, n) == 0;
}

static bool equal(const ufl_node *a, const ufl_node *b) {
    return a->type == b->type && a->detail == b->detail && a->integer == b->integer &&
           a->space == b->space && a->n_operands == b->n_operands && a->n_indices == b->n_indices &&
           a->rank == b->rank && a->n_free == b->n_free &&
           (!ufl_is_terminal(a) || a->mesh == b->mesh) &&
           equal_bytes(a->operands, b->operands, (size_t)a->n_operands * sizeof *a->operands) &&
           equal_bytes(a->indices, b->indices, (size_t)a->n_indices * sizeof *a->indices) &&
           equal_bytes(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) &&
           equal_bytes(a->free, b->free, (size_t)a->n_free * sizeof *a->free);
}

enum { BITS_START = 10 };

void ufl_graph_init(ufl_graph *graph, ufl_context *context, ufl_elements *elements) {
    *graph = (ufl_graph){.context = context, .elements = elements, .bits = BITS_START};
    elements->context = context;
    graph->table = ufl_alloc(context, (size_t)1 << graph->bits, sizeof *graph->table);
}

int ufl_new_index(ufl_graph *graph) {
    return graph->n_indices++;
}

double ufl_number(const ufl_node *node) {
    return node->type == UFL_INT     ? (double)node->integer
           : node->type == UFL_FLOAT ? node->value
                                     : 0;
}

static bool grow(ufl_graph *graph) {
    int bits = graph->bits + 1;
    size_t mask = ((size_t)1 << bits) - 1;
    const ufl_node **table = ufl_alloc(graph->context, mask + 1, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < (size_t)1 << graph->bits; ++i)
        if (graph->table[i]) {
            size_t at = hash_of(graph->table[i]) & mask;
            while (table[at])
                at = (at + 1) & mask;
            table[at] = graph->table[i];
        }
    graph->table = table;
    graph->bits = bits;
    return true;
}

static void *copied(ufl_graph *graph, const void *array, int n, size_t size, bool *failed) {
    void *copy = n > 0 ? ufl_alloc(graph->context, (size_t)n, size) : NULL;
    if (copy)
        memcpy(copy, array, (size_t)n * size);
    else
        *failed = *failed || n > 0;
    return copy;
}

static bool terminal_is_constant(const ufl_node *node) {
    switch (node->type) {
    case UFL_ARGUMENT:
        return false;
    case UFL_COEFFICIENT:
        return node->space->element->superdegree == 0;
    case UFL_GEOMETRY:
        switch ((ufl_quantity)node->detail) {
        case UFL_SPATIAL_COORDINATE:
        case UFL_CELL_COORDINATE:
            return false;
        case UFL_FACET_NORMAL: /* flat facets have one normal; those of hexahedra are not flat */
            return node->mesh->straight && node->mesh->cell != UFL_HEXAHEDRON;
        case UFL_JACOBIAN:
        case UFL_JACOBIAN_DETERMINANT:
        case UFL_JACOBIAN_INVERSE:
        case UFL_FACET_JACOBIAN:
        case UFL_FACET_JACOBIAN_DETERMINANT:
        case UFL_FACET_JACOBIAN_INVERSE:
        case UFL_CELL_NORMAL:
            return node->mesh->affine;
        default:
            return true;
        }
    default:
        return true;
    }
}

/* Properties that follow from the operands. */
static void derive(ufl_node *node) {
    node->depth = 1;
    node->arguments = 0;
    if (ufl_is_terminal(node)) {
        node->cell_constant = terminal_is_constant(node);
        if (node->type == UFL_ARGUMENT)
            node->arguments = 1u << node->detail;
        return;
    }
    node->cell_constant = true;
    for (int i = 0; i < node->n_operands; ++i) {
        const ufl_node *operand = node->operands[i];
        node->depth = node->depth <= operand->depth ? operand->depth + 1 : node->depth;
        node->cell_constant = node->cell_constant && operand->cell_constant;
        node->arguments |= operand->arguments;
        node->several_meshes = node->several_meshes || operand->several_meshes ||
                               (node->mesh && operand->mesh && node->mesh != operand->mesh);
        node->mesh = node->mesh ? node->mesh : operand->mesh;
    }
}

const ufl_node *ufl_node_make(ufl_graph *graph, const ufl_node *made) {
    ufl_context *context = graph->context;
    if (context->status != WEFT_OK)
        return NULL;
    size_t mask = ((size_t)1 << graph->bits) - 1, at = hash_of(made) & mask;
    while (graph->table[at] && !equal(graph->table[at], made))
        at = (at + 1) & mask;
    if (graph->table[at])
        return graph->table[at];
    if (graph->n_nodes >= UFL_NODES_MAX) {
        ufl_fail(context, WEFT_ERROR_UNSUPPORTED,
                 "the form file needs more than %d expression nodes", UFL_NODES_MAX);
        return NULL;
    }
    ufl_node *node = ufl_alloc(context, 1, sizeof *node);
    if (!node)
        return NULL;
    bool failed = false;
    *node = *made;
    node->operands =
        copied(graph, made->operands, made->n_operands, sizeof *made->operands, &failed);
    node->indices = copied(graph, made->indices, made->n_indices, sizeof *made->indices, &failed);
    node->shape = copied(graph, made->shape, made->rank, sizeof *made->shape, &failed);
    node->free = copied(graph, made->free, made->n_free, sizeof *made->free, &failed);
    if (failed)
        return NULL;
    derive(node);
    if (node->depth > UFL_DEPTH_MAX)
        return ufl_fail(context, WEFT_ERROR_UNSUPPORTED,
                        "an expression has more than %d operators inside each other",
                        UFL_DEPTH_MAX);
    node->id = graph->n_nodes++;
    node->place = context->place;
    graph->table[at] = node;
    if (2 * (size_t)graph->n_nodes > mask && !grow(graph))
        return NULL;
    return node;
}
