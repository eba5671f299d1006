/** Random scripts of whole numbers so small that all arithmetic is exact, whatever its order.
 *
 *      seed -> script (random_make.c) -> text (random_print.c)
 *                                     -> values by 64-bit integers (random_evaluate.c)
 *
 *  A script is kept as statements and trees of its own, so that what it means is computed from
 *  these and from nothing of the compiler's, and so that statements can be taken away from one that
 *  fails. */
#ifndef RANDOM_SCRIPT_H
#define RANDOM_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/weft_core.h"
#include "fusion/base/pairs.h"

enum {
    RANDOM_SETS = 6,
    RANDOM_MAPS = 4,
    RANDOM_LISTS = 96,
    RANDOM_STATEMENTS = 80,
    RANDOM_NODES = 2048,
    RANDOM_SIZE = 5, /* of a dimension, at most */
    RANDOM_ARGUMENTS = 4,
    RANDOM_TERMS = 3,
    RANDOM_BLOCKS = 3,   /* of each kind of directive, at most */
    RANDOM_LIBRARY = 5,  /* functions of kernels/blas */
    RANDOM_GENERATED = 3 /* functions of matrices, at most */
};
enum { CELLS, NODES, GROUPS, UNIFORM_SET = -1 };

typedef struct random_shape {
    int rank, sizes[2];
} random_shape;
int random_shape_count(const random_shape *shape);
bool random_shape_equal(const random_shape *a, const random_shape *b);

typedef struct random_set {
    const char *name;
    bool plain; /* said in the script */
    int64_t n;
    bool product; /* of two others; member (i, j) is number i * n of second + j */
    int first, second;
    weft_pairs
        pairs; /* of a product; all members have values, those outside of a triangle are not compared */
} random_set;
struct random_script;
/** Has Weft's list over a set the member i? */
bool random_is_stored(const struct random_script *s, int set, int64_t i);

typedef struct random_map {
    const char *name;
    int from, to, width;
    int32_t *indices; /* [n of from][width] */
    int valence;      /* the most members of `from` that a member of `to` has */
} random_map;

/** A sparse matrix over nodes by nodes, which scripts apply: rows compressed. */
typedef struct random_operator {
    int64_t *row_start; /* NULL: the script has no operator */
    int32_t *columns;
    double *entries; /* whole */
    int row_bound;   /* the sum of a row's sizes, at most */
} random_operator;

typedef struct random_list {
    char name[12];
    int set; /* UNIFORM_SET: over nothing */
    random_shape shape;
    int maker;   /* the first statement that makes it; -1: an input */
    bool hidden; /* uniform arithmetic: not to be returned from a straight script */
    bool part;   /* another name for part of a list, or for one seen through a map */
    bool returned;
} random_list;

typedef enum random_kind {
    RANDOM_NUMBER,
    RANDOM_LIST, /* a list: direct or through a map, then leading subscripts */
    RANDOM_NEGATE,
    RANDOM_ADD,
    RANDOM_SUBTRACT,
    RANDOM_MULTIPLY,
    RANDOM_MIN,
    RANDOM_MAX,
    RANDOM_ABS,
    RANDOM_SQUARE,
    RANDOM_SELECT, /* where a < b, else */
    RANDOM_CALL,
    RANDOM_NESTED /* a call of functions[number] */
} random_kind;

typedef enum random_function {
    RANDOM_MMUL,
    RANDOM_MVMUL,
    RANDOM_MADD,
    RANDOM_MSUB,
    RANDOM_SMMUL,
    RANDOM_VADD,
    RANDOM_VSUB,
    RANDOM_SVMUL,
    RANDOM_OUTER,
    RANDOM_TRANSPOSE,
    RANDOM_TRACE,
    RANDOM_DOT,
    RANDOM_UPPER,
    RANDOM_SYMMETRIC, /* symmetric_mvmul, of what upper makes */
    RANDOM_FUNCTIONS
} random_function;
const char *random_function_name(random_function function);

/** What an argument or a result of a nested function is over, in its terms. */
typedef enum random_over {
    RANDOM_BOTH,
    RANDOM_FIRST,
    RANDOM_SECOND,
    RANDOM_NEITHER,
    RANDOM_HERE /* whatever the statement is over */
} random_over;

/** factor * argument a * argument b; b is -1: factor * argument a */
typedef struct random_term {
    int factor, a, b;
} random_term;

/** A function of scalars over pairs of a row and a column, or of kernels/blas: a sum of terms, as a
 *  map or combined over what its result is not over. */
typedef struct random_function_over {
    char name[24];
    char op; /* of a reduction: + < >; 0: a map */
    random_over result, arguments[RANDOM_ARGUMENTS];
    int n_arguments, n_terms;
    random_term terms[RANDOM_TERMS];
} random_function_over;

typedef struct random_node {
    random_kind kind;
    random_shape shape;
    int set; /* what it has a value for each member of; UNIFORM_SET: for none */
    int number;
    int list, map, n_subscripts, subscripts[2];
    random_function function;
    int children[4];
} random_node;

typedef enum random_statement_kind {
    RANDOM_ASSIGN,
    RANDOM_ACCUMULATE, /* list[map] += root */
    RANDOM_ADDTO,      /* M[map,map] += root */
    RANDOM_UPDATE,
    RANDOM_REDUCE, /* list = op(root) or dot(root, second), or the same as an update */
    RANDOM_APPLY,  /* list = apply(A, root) */
    RANDOM_REPEAT, /* repeat at most `trip count` while (root < second) { */
    RANDOM_END     /* } */
} random_statement_kind;

typedef struct random_statement {
    random_statement_kind kind;
    int list, map, set, root, second, iterations;
    char
        op; /* of a reduction: + . < >, a: asum, m: amax, n: nrm2_squared, g: argmax, l: last_nonzero */
    bool update;
    int fuse, together; /* the block that it is in, from 1; 0: none */
    bool split;         /* before it */
} random_statement;

/** What a fuse block asks of its kernel on a GPU; 0: nothing. */
typedef struct random_fuse {
    int block, iterations, stride;
} random_fuse;

typedef struct random_script {
    uint64_t seed;
    bool single; /* numbers are exact in float */
    bool flows;  /* it may have loops, and updates of uniform values */
    double limit;
    random_set sets[RANDOM_SETS];
    int n_sets;
    int product; /* a set of pairs; -1: the script has no matrices */
    /* those of kernels/blas first */
    random_function_over functions[RANDOM_LIBRARY + RANDOM_GENERATED];
    int n_functions;
    random_map connectivities[RANDOM_MAPS];
    int n_connectivities;
    random_operator op; /* A, over nodes */
    int matrix_map;     /* what M is accumulated through, -1: there is no M */
    random_list lists[RANDOM_LISTS];
    int n_lists, n_inputs; /* inputs come first */
    random_node nodes[RANDOM_NODES];
    int n_nodes;
    random_statement statements[RANDOM_STATEMENTS];
    int n_statements;
    random_fuse fuses[RANDOM_BLOCKS];
    int togethers[RANDOM_BLOCKS]; /* -1, or inter_block, inner_block, inner_thread */
    int n_fuses, n_togethers;
} random_script;

/** The same script for the same seed, on every machine. Free with random_script_free. */
random_script *random_script_make(uint64_t seed);
random_script *random_script_copy(const random_script *script);
void random_script_free(random_script **script);
/** Free what it points to, not itself. */
void random_script_clear(random_script *script);
/** Return whatever nothing reads, besides what is returned already. */
void random_script_return_rest(random_script *script);
/** The end of a loop that starts at this statement; all statements where it has none yet. */
int random_loop_end(const random_script *script, int start);
bool random_node_reads(const random_script *script, int node, int list);
/** Which lists does a statement read or add to? */
bool random_statement_reads(const random_script *script, const random_statement *s, int list);

/** Does it reduce by an operator of random_script_print_functions? */
bool random_script_has_own(const random_script *script);
/** The text of the first script from *seed on that has no loops, operators, matrices and generated functions; *seed gets the
 * one behind it. malloc'd */
char *random_straight_text(uint64_t *seed);
/** Which scheduling directives are printed: none, blocks without shapes, or all. */
typedef enum random_directives {
    RANDOM_UNDIRECTED,
    RANDOM_SHAPELESS,
    RANDOM_DIRECTED
} random_directives;
/** Give the script scheduling directives, or none. */
void random_directives_make(random_script *script);
bool random_script_is_directed(const random_script *script);
/** As text. */
void random_script_print(const random_script *script, random_directives directives, weft_text *out);
/** The functions that were generated for the script, as a kernel file; nothing: there are none. */
void random_script_print_functions(const random_script *script, weft_text *out);
/** Functions called are noted in calls [RANDOM_FUNCTIONS]. */
void random_script_calls(const random_script *script, bool *calls);

/** Can no number in it, whatever the inputs, exceed script->limit? */
bool random_script_is_exact(const random_script *script);

/** What it computes: values[list] [instance][component]; NULL for lists that have none. */
typedef struct random_values {
    int64_t *values[RANDOM_LISTS];
    bool changed[RANDOM_LISTS]; /* inputs */
    int64_t *matrix;            /* by position */
} random_values;
void random_values_make(const random_script *script, random_values *out);
void random_values_free(random_values *values);
/** An input's values, in -3 .. 3; malloc'd. */
int64_t *random_input(const random_script *script, int list);
/** Where M has the products of two members that an element of its map leads to: positions
 * [instance] [width][width], malloc'd; equal pairs have equal positions. *n: of different pairs. */
uint32_t *random_positions(const random_script *script, int64_t *n);
int64_t random_members(const random_script *script, int set);
/** The index set that a nested function's argument is over, in a statement over `here`. */
bool random_function_fits(const random_script *s, const random_function_over *f);
int random_set_over(const random_script *script, random_over over, int here);

/** splitmix64 */
uint64_t random_next(uint64_t *state);
int random_below(uint64_t *state, int n);

/** Memory or the end: this is a test program. */
void *random_alloc(size_t n, size_t size);

#endif
