/** The expression graph of a form file.
 *  In: operand nodes and payload. Out: an immutable, hash-consed directed acyclic graph: equal nodes
 *  are one, so pointers compare; a node's id is above those of its operands. Every node keeps the place
 *  of the call that first made it. Checks and simplifications are in forms/operators; this folder only
 *  stores its arguments.
 *
 *      expression.c   making and finding nodes
 *      print.c        expression to text
 *      map.c          tables from node to node
 *
 *  Free indices have numbers; the entries of `indices` are fixed indices k >= 0 or free indices as
 *  UFL_FREE(number) < 0. Shapes and free indices are properties of each node, as in UFL. */
#pragma once

#include "forms/element/element.h"

typedef enum ufl_type {
    /* literals */
    UFL_ZERO,        /* of any shape, with free indices */
    UFL_INT,         /* integer; never 0. int and float literals differ: k**2 is not k**2.0 */
    UFL_FLOAT,       /* value; never 0 */
    UFL_IDENTITY,    /* shape (n, n) */
    UFL_PERMUTATION, /* Levi-Civita symbol, n axes of n */
    /* terminals */
    UFL_ARGUMENT,    /* detail: number (0 test, 1 trial); space */
    UFL_COEFFICIENT, /* detail: count, in order of creation; space */
    UFL_CONSTANT,    /* detail: count; mesh */
    UFL_GEOMETRY,    /* detail: ufl_quantity; mesh */
    /* index notation */
    UFL_INDEXED,          /* operands[0][indices] */
    UFL_COMPONENT_TENSOR, /* T[indices] = operands[0]; all indices free */
    UFL_LIST_TENSOR,      /* T[k, ...] = operands[k][...] */
    UFL_INDEX_SUM,        /* sum of operands[0] over indices[0] */
    /* algebra */
    UFL_SUM,      /* two operands of one shape */
    UFL_PRODUCT,  /* two scalars */
    UFL_DIVISION, /* scalar / true scalar */
    UFL_POWER,    /* true scalars */
    UFL_ABS,
    UFL_MATH,   /* detail: ufl_function; one true scalar */
    UFL_ATAN2,  /* two true scalars */
    UFL_BESSEL, /* detail: 'J', 'Y', 'I' or 'K'; order, argument */
    UFL_MIN,
    UFL_MAX,
    /* conditions have shape () and are operands of conditions and conditionals alone */
    UFL_COMPARE, /* detail: ufl_comparison */
    UFL_AND,
    UFL_OR,
    UFL_NOT,
    UFL_CONDITIONAL, /* condition, value where true, value where false */
    /* wrappers */
    UFL_VARIABLE,   /* detail: label */
    UFL_RESTRICTED, /* detail: '+' or '-' */
    UFL_AVERAGE,    /* detail: 'c' cell or 'f' facet */
    /* tensor algebra; removed by ufl_lower_algebra */
    UFL_TRANSPOSED,
    UFL_OUTER,
    UFL_INNER,
    UFL_DOT,
    UFL_PERP,
    UFL_CROSS,
    UFL_TRACE,
    UFL_DETERMINANT,
    UFL_INVERSE,
    UFL_COFACTOR,
    UFL_DEVIATORIC,
    UFL_SKEW,
    UFL_SYM,
    /* derivatives; ufl_apply_derivatives leaves only UFL_GRAD of a terminal or of UFL_GRAD */
    UFL_GRAD, /* appends an axis */
    UFL_DIV,
    UFL_NABLA_GRAD,
    UFL_NABLA_DIV,
    UFL_CURL,
    UFL_VARIABLE_DERIVATIVE,    /* d operands[0] / d operands[1] */
    UFL_COEFFICIENT_DERIVATIVE, /* operands: f, w1 ... wn, dw1 ... dwn */
    UFL_N_TYPES
} ufl_type;

/* clang-format off */
typedef enum ufl_function {
    UFL_SQRT, UFL_EXP, UFL_LN, UFL_COS, UFL_SIN, UFL_TAN, UFL_COSH, UFL_SINH, UFL_TANH, UFL_ACOS,
    UFL_ASIN, UFL_ATAN, UFL_ERF, UFL_N_FUNCTIONS
} ufl_function;

typedef enum ufl_comparison { UFL_EQ, UFL_NE, UFL_LE, UFL_GE, UFL_LT, UFL_GT } ufl_comparison;

typedef enum ufl_quantity {
    UFL_SPATIAL_COORDINATE, UFL_CELL_COORDINATE, UFL_FACET_NORMAL, UFL_CELL_NORMAL,
    UFL_JACOBIAN, UFL_JACOBIAN_DETERMINANT, UFL_JACOBIAN_INVERSE,
    UFL_FACET_JACOBIAN, UFL_FACET_JACOBIAN_DETERMINANT, UFL_FACET_JACOBIAN_INVERSE,
    UFL_CELL_VOLUME, UFL_CIRCUMRADIUS, UFL_CELL_DIAMETER, UFL_FACET_AREA,
    UFL_MIN_CELL_EDGE_LENGTH, UFL_MAX_CELL_EDGE_LENGTH,
    UFL_MIN_FACET_EDGE_LENGTH, UFL_MAX_FACET_EDGE_LENGTH,
    UFL_CELL_VERTICES, UFL_CELL_EDGE_VECTORS, UFL_FACET_EDGE_VECTORS, UFL_N_QUANTITIES
} ufl_quantity;
/* clang-format on */

#define UFL_FREE(number) (-1 - (number)) /* and back */

typedef struct ufl_free_index {
    int number, dimension;
} ufl_free_index;

typedef struct ufl_node {
    ufl_type type;
    int detail;
    union {
        int64_t integer; /* UFL_INT */
        double value;    /* UFL_FLOAT */
    };
    uint32_t id;
    int depth;
    ufl_place place;
    int rank, n_free, n_operands, n_indices;
    const int *shape;           /* [rank] */
    const ufl_free_index *free; /* [n_free], ascending numbers */
    const struct ufl_node *const *operands;
    const int *indices;
    const ufl_space *space; /* arguments, coefficients */
    const ufl_mesh *mesh;   /* the mesh of all terminals; NULL: none */
    bool several_meshes;
    bool cell_constant; /* every terminal is constant on each cell (arguments never are) */
    unsigned arguments; /* bit k: argument number k is among the terminals */
} ufl_node;

typedef struct ufl_graph {
    ufl_context *context;
    ufl_elements *elements;
    const ufl_node **table; /* open addressing, 2^bits slots */
    int bits;
    uint32_t n_nodes;
    int n_indices, n_labels, n_coefficients, n_constants;
    bool part_degrees; /* fixed components of mixed functions have the degrees of their parts */
} ufl_graph;

/** Prepare an empty graph. NULL context->arena is not allowed.
 *  Errors  WEFT_ERROR_MEMORY, in context->status */
void ufl_graph_init(ufl_graph *graph, ufl_context *context, ufl_elements *elements);
/** Find or add the node that equals *made; id, depth, place and the derived members are filled in.
 *  shape, free, operands and indices are copied. */
const ufl_node *ufl_node_make(ufl_graph *graph, const ufl_node *made);
/** A number for a free index that no expression has. */
int ufl_new_index(ufl_graph *graph);

static inline const ufl_node *ufl_operand(const ufl_node *node, int k) {
    return node->operands[k];
}
static inline bool ufl_is_zero(const ufl_node *node) {
    return node->type == UFL_ZERO;
}
static inline bool ufl_is_number(const ufl_node *node) { /* a ScalarValue of UFL: never 0 */
    return node->type == UFL_INT || node->type == UFL_FLOAT;
}
static inline bool ufl_is_terminal(const ufl_node *node) {
    return node->type <= UFL_GEOMETRY;
}
static inline bool ufl_is_condition(const ufl_node *node) {
    return node->type >= UFL_COMPARE && node->type <= UFL_NOT;
}
/** No axes and no free indices. */
static inline bool ufl_is_true_scalar(const ufl_node *node) {
    return node->rank == 0 && node->n_free == 0;
}
double ufl_number(const ufl_node *node); /* of UFL_INT, UFL_FLOAT, scalar UFL_ZERO */

const char *ufl_type_name(ufl_type type);
const char *ufl_function_name(ufl_function function);
const char *ufl_quantity_name(ufl_quantity quantity);

/** How to call terminals when printing. NULL members: v_0, w_0, c_0. */
typedef struct ufl_names {
    const char *(*name)(const struct ufl_names *names, const ufl_node *terminal);
    const void *user;
} ufl_names;
/** Append the expression as UFL would print it; at most `most` characters, then "...". */
void ufl_expression_text(const ufl_node *node, const ufl_names *names, size_t most, weft_text *out);

/** A table from node to node. Start from {0}; the storage comes from the context's arena. */
typedef struct ufl_map {
    const ufl_node **keys, **values;
    size_t n;
    int bits;
} ufl_map;
const ufl_node *ufl_map_find(const ufl_map *map, const ufl_node *key);
/** Returns value, or NULL on lack of memory or for a NULL value. */
const ufl_node *ufl_map_put(ufl_graph *graph, ufl_map *map, const ufl_node *key,
                            const ufl_node *value);
