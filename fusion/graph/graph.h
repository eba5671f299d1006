/** The dataflow graph: calls, values, accumulations. In: script and library. Out: weft_graph. */
#pragma once

#include "fusion/base/pairs.h"
#include "fusion/library/library.h"

#define UNIFORM (-1) /* index_set of a value without an index set */
#define WEFT_INDEX_SETS_DIFFER (-2)
#define WEFT_CALLS_MAX 512

typedef struct weft_index_set {
    const char *name;
    bool plain;
    bool
        few; /* `up to`: a few elements, of which matrices have whole columns in one thread of a GPU */
    int up_to; /* the uniform input with the number of the last element that counts; -1: all count */
    /* A product of two index sets, or a triangle of it (fusion/base/pairs.h). -1, -1: none.
     * Both factors are plain. */
    int first, second;
    weft_pairs pairs;
} weft_index_set;

typedef struct weft_graph_connectivity {
    const char *name;
    int from, to; /* index sets */
    int width;
    bool is_ordered; /* no kernel may permute the entries of an element (fusion/plan/legality.h) */
} weft_graph_connectivity;

typedef enum weft_value_kind {
    VALUE_INPUT,
    VALUE_RESULT,      /* of a call */
    VALUE_ACCUMULATED, /* target of accumulations */
    VALUE_MATRIX       /* sparse target of A[dofs,dofs] += K */
} weft_value_kind;

typedef struct weft_value {
    int id;
    const char *name;
    bool named; /* the name is the script's, not generated */
    weft_value_kind kind;
    weft_shape shape;
    int index_set; /* -1: uniform */
    int producer;  /* call, or -1 */
    bool returned;
    bool is_input;    /* true also for accumulated lists whose initial value is an input */
    int connectivity; /* VALUE_MATRIX only */
    bool updated;     /* an input whose memory an update overwrites */
    int storage;      /* the input that an update overwrites, or -1 */
    weft_location place;
} weft_value;

/** Is a list, by its name or value, float in memory, where the script computes in double? */
bool weft_name_is_narrow(const weft_compile_options *options, const char *name);
bool weft_value_is_narrow(const weft_compile_options *options, const weft_value *value);

/** How a call sees a value: directly or through a connectivity, whole or a leading part of it. */
typedef struct weft_operand {
    int value;
    int connectivity; /* -1: direct; else loaded as [width, shape...] */
    int offset;       /* first component, after leading subscripts */
    weft_shape shape; /* as the call sees it */
} weft_operand;

/** Elementwise arithmetic as a tree in an array; node i uses earlier nodes only. */
typedef enum weft_arithmetic_op {
    ARITHMETIC_NUMBER,
    ARITHMETIC_OPERAND,
    ARITHMETIC_NEGATE,
    ARITHMETIC_ADD,
    ARITHMETIC_SUBTRACT,
    ARITHMETIC_MULTIPLY,
    ARITHMETIC_DIVIDE,
    ARITHMETIC_POWER,
    ARITHMETIC_INTRINSIC,
    ARITHMETIC_SELECT /* c where a and b compare as `name` says ("<"), else d */
} weft_arithmetic_op;

typedef struct weft_arithmetic {
    weft_arithmetic_op op;
    double number;
    int operand;      /* ARITHMETIC_OPERAND */
    const char *name; /* ARITHMETIC_INTRINSIC: sqrt, exp, ... */
    int a, b;         /* -1: none */
    int c, d;         /* ARITHMETIC_SELECT */
    bool is_uniform;  /* the same for all elements and components; of a call's */
} weft_arithmetic;

/** The values of the tuned parameters of a call. */
typedef struct weft_call_setting_of {
    const char *text;         /* "width = 4, rows = 2" */
    const char *const *given; /* [n_given] parameters that the call sets itself */
    int n_given;
    bool
        is_stored; /* a search has found them; else they are the defaults, or the first that are allowed */
    double seconds, standard_seconds; /* of the search: with these values, with the defaults */
} weft_call_setting_of;

typedef struct weft_call {
    int id;
    const char *label;                         /* "jacobian", or "arithmetic" */
    const weft_specialisation *specialisation; /* NULL: arithmetic */
    weft_arithmetic *arithmetic;
    int n_arithmetic;
    weft_operand *operands;
    int n_operands;
    int result;    /* value */
    int index_set; /* -1: uniform only */
    double flops;  /* operations per element; functions as their equivalents */
    weft_location place;
    const weft_reduction *reduction;           /* NULL: a map */
    const weft_specialisation *combine;        /* operator of a reduction; NULL: reduction->op */
    weft_pairs pairs;                          /* of its index set */
    const weft_product_kernel *product_kernel; /* `apply`: reads v at other rows too; else NULL */
    int part, fuse, together;                  /* of its statement; -1, 0 and 0: none */
    int variant;                               /* `using variant N` of its statement, or -1 */
    weft_location variant_place;
    int op;                              /* `apply`: index into graph->operators */
    const weft_call_setting_of *setting; /* NULL: it has no tuned parameters */
    bool is_divided; /* a sum over the second index set of a product, whose elements ranks divide */
} weft_call;

/** target[map] += source, or target[map,map] += source. */
typedef struct weft_accumulation {
    int source, target; /* values */
    int connectivity;
    bool matrix;
    int call; /* the producer of source, which stores it */
    weft_location place;
} weft_accumulation;

/** The directives of a fuse block for its kernel; 0: none. */
typedef struct weft_fuse {
    int choices[FUSE_CHOICES];
    weft_location places[FUSE_CHOICES]; /* of nonzero choices */
    weft_location place;
} weft_fuse;

typedef struct weft_graph {
    weft_index_set *index_sets;
    int n_index_sets;
    weft_graph_connectivity *connectivities;
    int n_connectivities;
    weft_value *values;
    int n_values;
    weft_call *calls; /* in script order, which is a topological order */
    int n_calls;
    weft_accumulation *accumulations;
    int n_accumulations;
    const char **operators; /* names */
    int n_operators;
    weft_fuse *fuses; /* weft_call.fuse is an index from 1 */
    int n_fuses;
    const struct weft_script_together *togethers; /* weft_call.together is an index from 1 */
    bool is_loop_body;
    bool rows_only; /* kernels over two index sets may hold rows, but no columns (plan/nested.h) */
    bool few_rows;  /* and of few rows nothing but columns */
} weft_graph;

/** Make the graph of a script.
 *  out     in arena
 *  Errors  WEFT_ERROR_TYPE, _SHAPE, _UNSUPPORTED with file, line, column; _MEMORY */
weft_status weft_graph_make(weft_arena *arena, const weft_library *library,
                            const weft_script *script, weft_graph **out, weft_error *error);

/* ---- operations of arithmetic (fusion/graph/operations.c) */

/** The operands of a node. Returns their number */
int weft_arithmetic_children(const weft_arithmetic *node, int children[4]);
/** Set is_uniform of each node of a call. */
void weft_arithmetic_find_uniform(const weft_graph *graph, weft_call *call);
/** Is a power one of a literal integer of at most 64, *n, and so a product? */
bool weft_arithmetic_integer_power(const weft_call *call, const weft_arithmetic *node, int *n);
/** The function that a node evaluates for each element. NULL: it is none, or its value is uniform
 *  and computed once per kernel. */
const struct weft_intrinsic *weft_arithmetic_intrinsic(const weft_call *call, int index);
/** The operations of a call of arithmetic per element.
 *  shape       of the result
 *  intrinsics  count functions, by their equivalents (weft_intrinsic.flops); else without them */
double weft_arithmetic_flops(const weft_call *call, const weft_shape *shape, bool intrinsics);

/* printing */
void weft_graph_print_text(const weft_graph *graph, weft_text *out);
void weft_graph_print_dot(const weft_graph *graph, weft_text *out);
/** The graph as JSON; NULL: out of memory (fusion/base/json.h). */
struct json_t *weft_graph_json(const weft_graph *graph);
const char *weft_index_set_name(const weft_graph *graph, int index_set);
bool weft_index_set_is_product(const weft_graph *graph, int index_set);
/** Is an index set one of the two factors of a product? */
bool weft_index_set_is_factor(const weft_graph *graph, int index_set, int product);
/** Is it a product of an index set declared with `up to` and another? */
bool weft_index_set_has_few_rows(const weft_graph *graph, int index_set);
/** The index set of a computation with lists over a and b: their common one, or the product of
 *  which one is a factor or both are. WEFT_INDEX_SETS_DIFFER: there is none. */
int weft_index_set_join(const weft_graph *graph, int a, int b);
/** The value whose memory holds a value: itself, or the input that it updates. */
int weft_value_storage(const weft_graph *graph, int value);
/** The index set that a call with this operand ranges over; UNIFORM: the operand is uniform. */
int weft_operand_index_set(const weft_graph *graph, const weft_operand *operand);
/** The shape of an operand without leading subscripts: that of its value, or [width, shape...]. */
weft_shape weft_operand_whole(const weft_graph *graph, const weft_operand *operand);
