/** The syntax tree of a script. In: fragments of text, compile options. Out: weft_script. */
#pragma once

#include "fusion/base/pairs.h"
#include "fusion/script/tokens.h"
#include "fusion/weft_compilation.h"
#include "fusion/weft_compile.h"

enum {
    WEFT_TEXT_MAX = 256 * 1024, /* bytes of one text */
    WEFT_NAMES_MAX = 4096,      /* names declared, assigned or returned by one script */
    WEFT_STATEMENTS_MAX = 4096, /* assignments and accumulating stores */
};

#define WEFT_ARGUMENTS_MAX 128  /* of a function: each coefficient of a form is one */
#define WEFT_ELEMENTS_MAX 65536 /* components of one value */
#define WEFT_RANK_MAX 4

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

/** Operators of conditions: `op` of a NODE_BINARY. */
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
    weft_location place; /* of the operator, the name or the number */
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
    const struct weft_script_table *table; /* of a call of table or table_slope; else NULL */
};

typedef struct weft_script_index {
    const char *name;
    bool plain;        /* `index nodes plain;` or the target of a connectivity */
    const char *up_to; /* `index basis up to j;`: the name j; else NULL */
    /* a product of two index sets, made by `over rows, cols`, which is its name; else NULL */
    const char *first, *second;
    weft_pairs pairs; /* of a product: `over rows, cols symmetric lower packed`, its name too */
    weft_location place;
} weft_script_index;

/** connectivity dofs : cells -> nodes[d+1] ordered; */
typedef struct weft_script_connectivity {
    const char *name, *from, *to;
    weft_node *width;
    bool is_ordered; /* no kernel may read the entries of an element in another order */
    weft_location place, from_place, to_place;
} weft_script_connectivity;

/** input x, y : real[d] over nodes;   sizes are integer expressions in parameters; over NULL:
 *  uniform; `over rows, cols`: the name of their product. Each name is an entry of its own, with the same nodes of sizes. */
typedef struct weft_script_input {
    const char *name, *over;
    weft_node *sizes[WEFT_RANK_MAX];
    int rank;
    weft_location place, over_place;
} weft_script_input;

/** parameter d = 2; */
typedef struct weft_script_parameter {
    const char *name;
    int value;
    weft_location place;
} weft_script_parameter;

/** expression source(x, y, z) over nodes = 1, air: 2;   from the options' text if they have one */
typedef struct weft_script_expression {
    const char *name;
    const char **arguments;
    int n_arguments;
    weft_node *body;     /* of all groups together, once the script is complete */
    const char **groups; /* [n_bodies] NULL: where no group of the others is */
    weft_node **bodies;
    int n_bodies;
    const char *origin; /* of the options' text, or NULL */
    const char *over;   /* index set, for one value for each of its elements; or NULL */
    struct script_reference *references; /* files in the formulas */
    int n_references;
    weft_location place;
} weft_script_expression;

/** repeat at most MOST while (CONDITION) { statements [first, last) } */
typedef struct weft_script_loop {
    weft_node *most, *condition;
    int first, last; /* its statements, at least one */
    int parent;      /* enclosing loop, or -1; loops are in the order of their starts */
    weft_location place;
} weft_script_loop;

/** name = value;   target[maps] += value; */
typedef struct weft_script_statement {
    const char *name;
    bool accumulate;
    bool update;                   /* update name = value; */
    const char *connectivities[2]; /* of an accumulation */
    weft_location map_places[2];
    int n_connectivities;
    weft_node *value;
    int loop;           /* innermost enclosing loop, or -1 */
    int part;           /* number of `split;` before it */
    int fuse, together; /* enclosing `fuse { }`, `together { }`, from 1; 0: none */
    weft_node *variant; /* `using variant N` of its call; NULL: the planner chooses */
    weft_location place;
} weft_script_statement;

/** fuse block 64 threads 9 iterations 4 stride 32 { ... } */
typedef enum weft_fuse_choice {
    FUSE_BLOCK,      /* elements per block */
    FUSE_THREADS,    /* threads per element */
    FUSE_ITERATIONS, /* elements per thread, one after the other: the coarsening factor */
    FUSE_STRIDE,     /* between the elements of a thread */
    FUSE_CHOICES
} weft_fuse_choice;
typedef struct weft_script_fuse {
    weft_node *choices[FUSE_CHOICES]; /* NULL or 0: the planner chooses */
    weft_location place;
} weft_script_fuse;

/** together inner_block { ... } */
typedef struct weft_script_together {
    int combination; /* index of weft_script_combinations; -1: the planner chooses */
    weft_location place;
} weft_script_together;
enum { WEFT_SCRIPT_COMBINATIONS = 3 };
/** "inter_block", "inner_block", "inner_thread" */
extern const char *const weft_script_combinations[WEFT_SCRIPT_COMBINATIONS];

/** operator A over nodes;   used as y = apply(A, v) */
typedef struct weft_script_operator {
    const char *name, *over;
    const char *product_kernel; /* from the compile options; NULL: not a product kernel */
    bool is_long;               /* from the compile options */
    weft_location place, over_place;
} weft_script_operator;

typedef struct weft_script_return {
    const char *name;
    weft_location place;
} weft_script_return;

/** Values of the tuned parameters of a call that a search has found (fusion/tune/tuned.h). */
typedef struct weft_tuned_setting {
    const char *text; /* "width = 4, rows = 2" */
    double seconds, standard_seconds;
} weft_tuned_setting;
typedef struct weft_tuned_source {
    /* The setting of a weft_tuned_key for a number of elements; NULL: none. Lives as long as the source */
    const weft_tuned_setting *(*find)(void *user, const char *key, int64_t elements);
    void *user;
} weft_tuned_source;
/** What the values of tuned parameters are chosen by. */
typedef struct weft_script_tuning {
    const weft_tuned_source *source; /* NULL: none */
    bool single;
    int64_t elements; /* expected of index sets */
} weft_script_tuning;

typedef struct weft_script {
    weft_script_tuning tuning;
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
    weft_data_info *data; /* inputs that the expressions read */
    int n_data;
    weft_script_operator *operators;
    int n_operators;
    weft_script_statement *statements; /* in text order, including those in loops */
    int n_statements;
    weft_script_loop *loops;
    int n_loops;
    weft_script_return *returns;
    int n_returns;
    int n_splits;
    weft_script_fuse *fuses;
    int n_fuses;
    weft_script_together *togethers;
    int n_togethers;
    weft_source *sources; /* one per fragment */
    int n_sources;
    bool is_loop_body;  /* the only segment of a `repeat`: its updates may be double-buffered */
    bool is_proved;     /* compiled by an earlier process, which has kept the plan */
    const char **names; /* all declared and assigned names */
    int n_names;
} weft_script;

/** Add the texts that fragments include, for what depends on a script's text; nothing where they cannot be read. */
void weft_script_add_included(const weft_fragment *fragments, int n_fragments, weft_text *out);
/** Read fragments as one script, and make all checks that do not need types.
 *  options  parameters replace default values; expressions replace bodies, and errors show their
 *           text and origin. Names that the script does not have are errors
 *  out      in arena, which also gets copies of the texts
 *  Errors   WEFT_ERROR_SYNTAX, _TYPE (duplicate or unknown names, with the nearest one), _SHAPE,
 *           _UNSUPPORTED (limits), with file, line, column; _MEMORY */
weft_status weft_script_make(weft_arena *arena, const weft_fragment *fragments, int n_fragments,
                             const weft_compile_options *options, weft_script **out,
                             weft_error *error);
/** Evaluate an integer expression in parameters (sizes, subscripts, keys).
 *  Errors  at the node's place if it is not an integer expression or overflows */
weft_status weft_script_integer(const weft_script *script, const weft_node *node, int *out,
                                weft_error *error);
/** Print tokens as a table, and a script as canonical text that reads back. */
void weft_tokens_print(const weft_token *tokens, int n, weft_text *out);
void weft_script_print(const weft_script *script, weft_text *out);
void weft_node_print(const weft_node *node, weft_text *out);
bool weft_node_is_apply(const weft_node *node);
