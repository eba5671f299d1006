/** The types of the compiler in flow order: tokens, script, functions, graph; from plan_internal.h
 * fusions, implementations, cover, plan. All of a compilation lives in one arena. */
#ifndef FUSION_INTERNAL_H
#define FUSION_INTERNAL_H

#include "core/base/fault.h"
#include "fusion/weft_fusion.h"

#include <locale.h>

#define WEFT_RANK_MAX 4
#define WEFT_ARGUMENTS_MAX 12
#define WEFT_CALLS_MAX 512
#define WEFT_ELEMENTS_MAX 65536 /* components of one element; sizes are refused beyond */

/* ---- text (tokens.c) ----------------------------------------------------------------------------
 */

/** A named text; tokens and places point into it. */
typedef struct weft_source {
    const char *name, *text;
} weft_source;

typedef struct weft_place {
    const weft_source *source;
    int line, column; /* from 1 */
} weft_place;

typedef enum weft_token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_NUMBER, /* 1, 1.5, 1e-3, .5 */
    TOKEN_SYMBOL, /* ( ) [ ] { } , ; : = + - * / ^ < > and -> += <= >= */
} weft_token_kind;

typedef struct weft_token {
    weft_token_kind kind;
    weft_place place;
    const char *text; /* terminated copy, in the arena */
    double number;
    bool integer; /* a number without point or exponent */
} weft_token;

/** Set message and place at once; returns status. */
weft_status weft_error_at(weft_error *error, weft_status status, weft_place place,
                          const char *format, ...) WEFT_PRINTF(4, 5);

/** Split a text into tokens, ending with one TOKEN_END. `#` starts a comment to the end of the
 * line. */
weft_status weft_tokens_make(weft_arena *arena, const weft_source *source, weft_token **out, int *n,
                             weft_error *error);

/* ---- script (script.c): what was written ------------------------------------------------ */

/** Abstract syntax of an expression. */
typedef enum weft_node_kind {
    NODE_NUMBER,
    NODE_NAME,
    NODE_CALL,     /* name(children...; keys) : function, intrinsic or script expression */
    NODE_NEGATE,   /* -child */
    NODE_BINARY,   /* child op child, op one of + - * / ^; in conditions COMPARE_* and CONDITION_AND
                    */
    NODE_SUBSCRIPT /* child 0 [ child 1, ... ] : x[dofs] or P[0] or A[dofs,dofs] (targets only) */
} weft_node_kind;

/** What conditions are made of: `op` of a NODE_BINARY. */
enum {
    COMPARE_LESS = '<',
    COMPARE_GREATER = '>',
    COMPARE_LESS_EQUAL = 'l',
    COMPARE_GREATER_EQUAL = 'g',
    CONDITION_AND = '&'
};
bool weft_op_compares(char op);
/** "<", ">", "<=", ">=", "and", or the operator itself. */
const char *weft_op_text(char op);

typedef struct weft_node weft_node;
struct weft_node {
    weft_node_kind kind;
    weft_place place; /* of the operator, the name or the number */
    double number;
    bool integer;
    const char *name;
    char op;
    weft_node **children;
    int n_children;
    /* f(a, b, degree = 4): parameters of the function, integer expressions in parameters */
    const char **keys;
    weft_node **key_values;
    int n_keys;
};

typedef struct weft_script_index {
    const char *name;
    bool plain; /* `index nodes plain;` or the target of a connectivity */
    weft_place place;
} weft_script_index;

/** connectivity dofs : cells -> nodes[d+1]; */
typedef struct weft_script_connectivity {
    const char *name, *from, *to;
    weft_node *width;
    weft_place place, from_place, to_place;
} weft_script_connectivity;

/** input x, y : real[d] over nodes;   sizes are integer expressions in parameters; over NULL:
 * uniform */
typedef struct weft_script_input {
    const char *name, *over;
    weft_node *sizes[WEFT_RANK_MAX];
    int rank;
    weft_place place, over_place;
} weft_script_input;

/** parameter d = 2; */
typedef struct weft_script_parameter {
    const char *name;
    int value;
    weft_place place;
} weft_script_parameter;

/** expression source(x, y, z) = 1;   body is the bound text's when one is bound */
typedef struct weft_script_expression {
    const char *name;
    const char **arguments;
    int n_arguments;
    weft_node *body;
    weft_place place;
} weft_script_expression;

/** repeat at most MOST while (CONDITION) { statements [first, last) } */
typedef struct weft_script_loop {
    weft_node *most, *condition;
    int first, last; /* its statements; never none */
    int parent;      /* the loop that it stands in, or -1; loops are in the order of their starts */
    weft_place place;
} weft_script_loop;

/** name = value;   target[maps] += value; */
typedef struct weft_script_statement {
    const char *name;
    bool accumulate;
    bool update;         /* update name = value; */
    const char *maps[2]; /* of an accumulation */
    weft_place map_places[2];
    int n_maps;
    weft_node *value;
    int loop;           /* the innermost loop that it stands in, or -1 */
    int part;           /* how many `split;` stand before it */
    int fuse;           /* the `fuse { }` that it stands in, from 1; 0: none */
    weft_node *variant; /* `using variant N` of its call; NULL: as the planner likes */
    weft_place place;
} weft_script_statement;

/** fuse block 64 threads 9 iterations 4 { ... } */
typedef enum weft_fuse_choice {
    FUSE_BLOCK,      /* instances of a block */
    FUSE_THREADS,    /* of an instance */
    FUSE_ITERATIONS, /* turns of a block */
    FUSE_CHOICES
} weft_fuse_choice;
typedef struct weft_script_fuse {
    weft_node *choices[FUSE_CHOICES]; /* NULL: as the planner likes; so is 0 */
    weft_place place;
} weft_script_fuse;

/** operator A over nodes; its use is `y = apply(A, v)` */
typedef struct weft_script_operator {
    const char *name, *over;
    const char *routine; /* of the compile options: a rows routine; NULL: none */
    weft_place place, over_place;
} weft_script_operator;

typedef struct weft_script_return {
    const char *name;
    weft_place place;
} weft_script_return;

typedef struct weft_script {
    weft_script_index *indices;
    int n_indices;
    weft_script_connectivity *connectivities;
    int n_connectivities;
    weft_script_input *inputs;
    int n_inputs;
    weft_script_parameter *parameters;
    int n_parameters;
    weft_script_expression *expressions;
    int n_expressions;
    weft_script_operator *operators;
    int n_operators;
    weft_script_statement *statements; /* in the order of the text, those in loops among them */
    int n_statements;
    weft_script_loop *loops;
    int n_loops;
    weft_script_return *returns;
    int n_returns;
    int n_splits;
    weft_script_fuse *fuses;
    int n_fuses;
    weft_source *sources; /* one a fragment */
    int n_sources;
    bool is_loop_body;  /* a segment inside `repeat`: its updates may alternate between two memories
                         */
    const char **names; /* of everything that is declared or made */
    int n_names;
} weft_script;

/** Read fragments as one script. Values of options->parameters replace the defaults, texts of
 *  options->expressions the bodies (each parsed with its own origin as source name, so that errors
 * show the user's text). Checks what needs no types: every name declared once and before use where
 * it is a declaration (index sets, connectivities), unknown parameters and expressions in options
 * refused with the nearest name. `return` may stand anywhere; several add up. */
weft_status weft_script_make(weft_arena *arena, const weft_fragment *fragments, int n_fragments,
                             const weft_compile_options *options, weft_script **out,
                             weft_error *error);
/** Evaluate an integer expression in parameters (sizes, subscripts, keys). */
weft_status weft_script_integer(const weft_script *script, const weft_node *node, int *out,
                                weft_error *error);
/** Print tokens as a table; a script as canonical text that reads back. */
void weft_tokens_print(const weft_token *tokens, int n, weft_text *out);
void weft_script_print(const weft_script *script, weft_text *out);
void weft_node_print(const weft_node *node, weft_text *out);

/* ---- elementary functions (library.c, instance.c, body.c) ------------------------------- */

typedef struct weft_function weft_function; /* defined in library_internal.h */

/** The map function of this name, or NULL. */
const weft_function *weft_library_find(const weft_library *library, const char *name);
/** The reduction of this name, or NULL: `dot` of small vectors is a map, of lists of scalars a
 * reduction. */
const weft_function *weft_library_find_reduction(const weft_library *library, const char *name);
/** Does the same number added to every member of this argument (or row to its rows) change nothing?
 */
bool weft_function_shifts(const weft_function *function, int argument);
/** What a function of kind reduce joins by; NULL for maps. */
const struct weft_reduction *weft_function_reduction(const weft_function *function);
/** The names of all functions, for suggestions. Borrowed. */
const char *const *weft_library_names(const weft_library *library, size_t *n);

typedef struct weft_shape {
    int rank; /* 0: scalar */
    int sizes[WEFT_RANK_MAX];
} weft_shape;
int weft_shape_count(const weft_shape *shape); /* components: 1 for a scalar */
bool weft_shape_equal(const weft_shape *a, const weft_shape *b);
/** "real", "real[3,3]" */
void weft_shape_print(const weft_shape *shape, weft_text *out);

/** A function with its sizes bound: what one call in a script means. */
typedef struct weft_instance {
    const weft_function *function;
    weft_shape arguments[WEFT_ARGUMENTS_MAX];
    int n_arguments;
    weft_shape result;
    double flops;
    int n_variants;
    int *threads; /* [n_variants], evaluated: 1, 3, 9 */
    /* size names, parameters and tables, evaluated; for body.c */
    int n_names;
    const char **names;
    int *values;
    int n_tables;
    const char **table_names;
    weft_shape *table_shapes;
    double **tables;
} weft_instance;

/** Unify the argument shapes with the function's signature (sizes m, k, n), take parameters from
 * keys (else their defaults), make its tables, infer the result's shape, evaluate flops and
 * threads. Errors are placed at `place` and show both shapes and the signature. */
weft_status weft_instance_make(weft_arena *arena, const weft_library *library,
                               const weft_function *function, const weft_shape *arguments,
                               int n_arguments, const char *const *keys, const int *key_values,
                               int n_keys, weft_place place, weft_instance **out,
                               weft_error *error);

/** Where an operand lives in generated code: component (i, j) of a shape [.., n] is
 *  base[offset + i * n + j]; a scalar is base[offset]. */
typedef struct weft_accessor {
    const char *base;
    int offset;
} weft_accessor;

/** What a backend's bodies look like (backend_host.c). */
/** A loop of a body that becomes fewer statements than this is unrolled: its subscripts are then
 *  all constants, so that register arrays really live in registers. */
#define WEFT_UNROLL_MAX 256
typedef struct weft_body_style {
    const char
        *splat; /* macro that turns a scalar or a vector into a `real`, around initialisers of and
                   assignments to `real` variables and accessors; NULL where real is a C scalar */
    const char *thread; /* the name that `t` becomes */
    const char *indent;
    int unroll; /* loops become straight-line code below so many statements; 0: WEFT_UNROLL_MAX */
} weft_body_style;

/** Write the body of one variant with accessors replaced by their places, sizes and parameters by
 *  numbers, tables by constants, `t` by the thread index. The emitted code is the statements of one
 * thread. The caller wraps it into braces, and into `for (int t = 0; t < threads; ++t)` where it is
 * run by one. arguments [n_arguments], result: accessors. Errors with the kernel file's line. */
weft_status weft_body_emit(const weft_instance *instance, int variant,
                           const weft_accessor *arguments, const weft_accessor *result,
                           const weft_body_style *style, weft_text *out, weft_error *error);

/* ---- rows routines (routine.c): hand-shaped products y = A v, kernels/operators ----------- */

#define WEFT_ROUTINE_ARGUMENTS_MAX 16

typedef struct weft_routine_argument {
    const char *type, *name; /* "const double *", "values" */
} weft_routine_argument;

/** Text that computes whole rows of y = A v for the rows that a thread block owns. What stands in
 *  its scope, and what it must leave, is in docs/kernel-files.md. */
typedef struct weft_routine {
    const char *name;
    int threads, rows; /* of a block; rows is a multiple of threads and of WEFT_CUDA_CHUNK */
    int blocks; /* of a multiprocessor at once, for which there must be registers; 0: any number */
    weft_routine_argument *arguments;
    int n_arguments;
    const char *helpers, *body;
} weft_routine;
/** The shipped routine of this name. Errors WEFT_ERROR_USAGE (lists those that exist) and, for a
 *  file that breaks the rules, WEFT_ERROR_SYNTAX with its line. */
weft_status weft_routine_find(weft_arena *arena, const char *name, const weft_routine **out,
                              weft_error *error);
/** Read a routine file. */
weft_status weft_routine_read(weft_arena *arena, const weft_source *source,
                              const weft_routine **out, weft_error *error);

/** Does a thread of a variant touch a component of an argument (operand -1: of the result), by its
 *  thread-to-data mapping? 1, 0, or -1 where the mapping does not say. */
int weft_instance_touches(const weft_instance *instance, int variant, int operand, int thread,
                          int component);

/* ---- graph (graph.c): calls, data, dependencies ----------------------------------------- */

typedef struct weft_index_set {
    const char *name;
    bool plain;
} weft_index_set;

typedef struct weft_map {
    const char *name;
    int from, to; /* index sets */
    int width;
} weft_map;

typedef enum weft_datum_kind {
    DATUM_INPUT,
    DATUM_RESULT,      /* made by a call */
    DATUM_ACCUMULATED, /* target of accumulations */
    DATUM_MATRIX       /* sparse target of A[dofs,dofs] += K */
} weft_datum_kind;

typedef struct weft_datum {
    int id;
    const char *name;
    bool named; /* by the script, not by us */
    weft_datum_kind kind;
    weft_shape shape;
    int index_set; /* -1: uniform */
    int producer;  /* call, or -1 */
    bool returned;
    bool is_input; /* also of accumulated lists that continue an input */
    int map;       /* DATUM_MATRIX: its connectivity */
    bool updated;  /* an input whose memory gets a next value */
    int storage;   /* the input that an update overwrites, or -1 */
    weft_place place;
} weft_datum;

/** How a call sees a datum: directly or through a connectivity, whole or a leading part of it. */
typedef struct weft_operand {
    int datum;
    int map;          /* -1: direct; else loaded as [width, shape...] */
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
} weft_arithmetic;

/** How a reduction joins its instances' contributions. */
typedef struct weft_reduction {
    char op;        /* + * < (min) > (max) */
    double neutral; /* joined with x it gives x */
} weft_reduction;

typedef struct weft_call {
    int id;
    const char *label;             /* "jacobian", or "arithmetic" */
    const weft_instance *instance; /* NULL: arithmetic */
    weft_arithmetic *arithmetic;
    int n_arithmetic;
    weft_operand *operands;
    int n_operands;
    int result;    /* datum */
    int index_set; /* -1: uniform only */
    double flops;
    weft_place place;
    const weft_reduction *reduction; /* NULL: a map */
    const weft_routine *routine; /* of `apply`: whole rows, from v at other rows too; else NULL */
    int part, fuse;              /* of its statement; -1 and 0: of none */
    int variant;                 /* that its statement asks for, or -1 */
    weft_place variant_place;
    int op; /* of `apply`: the operator in graph->operators */
} weft_call;

/** target[map] += source, or target[map,map] += source. */
typedef struct weft_accumulation {
    int source, target; /* data */
    int map;
    bool matrix;
    int call; /* the producer of source, which stores it */
    weft_place place;
} weft_accumulation;

/** What a fuse block asks of its kernel; 0: nothing. */
typedef struct weft_fuse {
    int choices[FUSE_CHOICES];
    weft_place places[FUSE_CHOICES]; /* of what is not 0 */
    weft_place place;
} weft_fuse;

typedef struct weft_graph {
    weft_index_set *index_sets;
    int n_index_sets;
    weft_map *maps;
    int n_maps;
    weft_datum *data;
    int n_data;
    weft_call *calls; /* in script order, which is a topological order */
    int n_calls;
    weft_accumulation *accumulations;
    int n_accumulations;
    const char **operators; /* names */
    int n_operators;
    weft_fuse *fuses; /* weft_call.fuse counts them from 1 */
    int n_fuses;
    bool is_loop_body;
} weft_graph;

weft_status weft_graph_make(weft_arena *arena, const weft_library *library,
                            const weft_script *script, weft_graph **out, weft_error *error);

#include "fusion/plan/plan.h"

/* ---- numbers (numbers.c) ---- */

/** Between begin and end this thread writes numbers as C does. Start from {0}; end what was not
 * begun is harmless. */
typedef struct weft_numbers {
    locale_t c, before;
} weft_numbers;
weft_status weft_numbers_begin(weft_numbers *numbers, weft_error *error);
void weft_numbers_end(weft_numbers *numbers);

/* ---- the compilation -------------------------------------------------------------------- */

struct weft_compilation {
    weft_arena *arena;
    const weft_library *library;
    weft_limits limits;
    weft_compile_options options; /* copied into the arena */
    weft_script *script;
    weft_graph *graph;
    weft_fusions *fusions;
    weft_implementations *implementations;
    weft_cover *cover;
    int n_covers;        /* that were found for options.alternative */
    bool cover_recalled; /* it is that of options.cover */
    weft_plan *plan;
    int segment; /* of a script with loops, from 0; else -1 */
    const char *source;
    struct weft_flow
        *flow; /* a script with loops: the stages after the script are in its segments */
};

/** Set cover, n_covers and cover_recalled from what comes before (cover_choose.c). */
weft_status weft_cover_choose(weft_compilation *c, weft_error *error);

/** The same script by another cover of its implementations: only plan and source are made anew,
 *  everything else is base's, which outlives it. Of a script without loops. */
weft_status weft_compile_cover(const weft_compilation *base, weft_cover *cover,
                               weft_compilation **out, weft_error *error);

/* printing (graph_print.c, plan_print.c) */
void weft_graph_print_text(const weft_graph *graph, weft_text *out);
void weft_graph_print_dot(const weft_graph *graph, weft_text *out);
void weft_graph_print_json(const weft_graph *graph, weft_text *out);
void weft_fusions_print(const weft_compilation *c, weft_text *out);
void weft_implementations_print(const weft_compilation *c, weft_text *out);
void weft_cover_print(const weft_graph *graph, const weft_cover *cover, weft_text *out);
void weft_plan_print_text(const weft_graph *graph, const weft_plan *plan, weft_text *out);
void weft_plan_print_dot(const weft_graph *graph, const weft_plan *plan, weft_text *out);
/** segment: of the compilation. */
void weft_plan_print_json(const weft_graph *graph, const weft_plan *plan, int segment,
                          weft_text *out);

/* connectivity internals for programs (connectivity.c) */
weft_status weft_connectivity_interleaved(weft_connectivity *connectivity, int lanes,
                                          weft_memory **out, weft_error *error);
weft_status weft_connectivity_schedule(weft_connectivity *connectivity, int lanes,
                                       const weft_schedule **out, weft_error *error);
/** start [n_to + 1] int64_t; positions [n_from * width] uint32_t or int64_t (see *wide): the
 * component index cell block layout ((cell / lanes) * width + local) * lanes + cell % lanes,
 * ascending. */
weft_status weft_connectivity_transposed(weft_connectivity *connectivity, int lanes,
                                         weft_memory **start, weft_memory **positions,
                                         weft_error *error);

#endif
