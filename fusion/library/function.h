/** Elementary functions as they were read: signature, statements, variants. */
#pragma once

#include "fusion/library/library.h"
#include "fusion/library/native.h"
#include "fusion/library/terms.h"

#define WEFT_FUNCTION_NAMES_MAX 32 /* sizes and parameters of one function */
#define WEFT_TABLES_MAX 16
#define WEFT_WHERES_MAX 8
#define WEFT_VARIANTS_MAX 8
#define WEFT_EXAMPLES_MAX 16
#define WEFT_LOCALS_MAX 20000 /* of a body: more than any compiler takes in reasonable time */
#define WEFT_NESTING_MAX 64
#define WEFT_CHAIN_MAX 400

/* ---- statements (fusion/library/body_parse.c) */

typedef enum weft_statement_kind {
    STATEMENT_BLOCK,
    STATEMENT_FOR,
    STATEMENT_IF,
    STATEMENT_DECLARE,
    STATEMENT_ASSIGN,
    STATEMENT_BARRIER /* no thread of the element passes before all have arrived */
} weft_statement_kind;

typedef struct weft_statement weft_statement;
struct weft_statement {
    weft_statement_kind kind;
    weft_location place;
    int number;                /* in its body, from 0 */
    weft_statement *next;      /* statement in the same block */
    weft_statement *body;      /* block, for, if */
    weft_statement *otherwise; /* else */
    int local;                 /* for, declare */
    int64_t step;              /* for */
    weft_binary compare;       /* for: local compare condition */
    weft_term *target;         /* assign */
    weft_term *value;          /* assign, declare (may be NULL), for: first value */
    weft_term *condition;      /* if; for: the bound */
    char op;                   /* assign: '=' or the + - * / of a compound one */
};

typedef struct weft_local {
    const char *name;
    bool real;
    int rank;
    weft_term *extents[WEFT_RANK_MAX];
} weft_local;

typedef struct weft_body {
    weft_statement *first;
    weft_local *locals;
    int n_locals, n_statements;
    bool has_barriers;
} weft_body;

/* ---- functions (fusion/library/read.c) */

/** An argument, a result or a table: a name and a pattern of sizes. */
typedef struct weft_formal {
    const char *name;
    int rank;
    weft_term *sizes[WEFT_RANK_MAX];
    weft_location place;
    bool shifts; /* `//@ shift NAME` */
    int over;    /* weft_function_over */
} weft_formal;

/** `//@ table w: real[q] = maker(d, degree)` */
typedef struct weft_formal_table {
    weft_formal formal;
    const char *maker;
    weft_term *arguments[WEFT_RANK_MAX];
    int n_arguments;
} weft_formal_table;

/** The part of an operand that one thread accesses: per subscript NULL (':', all) or a term in t,
 *  with a step (`t::32`) every so many from it on. */
typedef struct weft_pattern {
    weft_term *subscripts[WEFT_RANK_MAX], *steps[WEFT_RANK_MAX];
} weft_pattern;

/* ---- native bodies (fusion/library/native.c) */

/** Text of a native body below one `//@` line, as it is in the file. */
typedef struct weft_routine {
    const char *text; /* NULL: none */
    size_t length;
    int line; /* of its first character */
} weft_routine;

/** A body in the language of a target, `//@ body cuda`, and what its author declares of it. */
typedef struct weft_native {
    weft_language language;
    weft_routine helpers, compute, loads[WEFT_ARGUMENTS_MAX], store;
    weft_term *shared, *registers, *operations; /* NULL: not declared */
    bool shared_is_reals;                       /* not bytes */
    size_t *shared_at; /* [n_shared] where `__shared__` is in the text of the compute routine */
    int n_shared;
    int waits; /* line of the first barrier or instruction of a warp in the text; 0: none */
    const char **macros; /* names that the text defines */
    int n_macros;
    const char **globals; /* names that the helpers define */
    int n_globals;
} weft_native;

typedef struct weft_variant {
    weft_term *threads;
    const char *threads_text;
    weft_pattern arguments[WEFT_ARGUMENTS_MAX], result;
    weft_body body;            /* of a native body: empty */
    const weft_native *native; /* NULL: a plain body */
    int line;
} weft_variant;

typedef struct weft_name {
    const char *name;
    bool is_parameter, has_value;
    int value;          /* the parameter's default */
    const int *choices; /* [n_choices] values among which a search finds the fastest (`//@ tune`) */
    int n_choices;      /* 0: it is not tuned */
} weft_name;

/** `//@ example f([1,2], 3, degree = 1) = 4` */
typedef struct weft_example {
    const char *text;
    weft_location place;
    weft_shape arguments[WEFT_ARGUMENTS_MAX], result;
    const double *values[WEFT_ARGUMENTS_MAX], *result_values;
    int n_arguments;
    const char *keys[WEFT_FUNCTION_NAMES_MAX];
    int key_values[WEFT_FUNCTION_NAMES_MAX];
    int n_keys;
} weft_example;

/** `//@ common NAME`: statements that bodies below it, of this file and of later ones, insert by
 *  `use NAME;`. */
typedef struct weft_common {
    const char *name;
    const weft_source *source;
    const char *text; /* the lines below, in the source's text */
    size_t length;
    int line;
    const struct weft_common *before; /* a newer one hides an older one of its name */
} weft_common;

struct weft_function {
    const weft_source *source;
    const weft_common *commons; /* those that its bodies may use */
    weft_function_info info;
    weft_formal arguments[WEFT_ARGUMENTS_MAX];
    int n_arguments;
    weft_formal result;
    weft_name names[WEFT_FUNCTION_NAMES_MAX];
    int n_names;
    weft_formal_table tables[WEFT_TABLES_MAX];
    int n_tables;
    weft_term *wheres[WEFT_WHERES_MAX];
    const char *where_texts[WEFT_WHERES_MAX];
    int n_wheres;
    const char *index_sets[2]; /* names in `over` of nested functions; NULL: none */
    const char *element; /* name of the element's number in bodies of reductions; NULL: none */
    bool uses_element;
    bool is_reduction;
    bool is_product;        /* `//@ product A*B` */
    weft_variant *identity; /* `//@ identity` of an operator */
    bool is_commutative;    /* `//@ commutative` */
    bool is_unrolled;       /* `//@ unroll` */
    weft_location commutative_place;
    weft_reduction reduction;
    weft_term *flops;
    weft_variant *variants[WEFT_VARIANTS_MAX];
    int n_variants;
    weft_example *examples[WEFT_EXAMPLES_MAX];
    int n_examples;
};

/** Set the error's hint to the signature and the parameters, which may determine sizes of tables.
 *  (fusion/library/names.c) */
void weft_function_hint(const weft_function *function, weft_error *error);

/* ---- the library */

typedef struct weft_library_table {
    const char *name;
    int n_arguments;
    weft_table_maker maker;
    void *user;
} weft_library_table;

struct weft_library {
    weft_arena *arena;
    const weft_function **functions; /* by name */
    const weft_common *commons;
    const char **names;
    size_t n, capacity;
    weft_library_table *tables;
    int n_tables;
    bool
        is_complete; /* no files are being read whose reductions may have operators in later ones */
    const void *forms; /* the form file that is bound with its functions; NULL: none */
};
/** Refuse a body for the sizes and parameters of a specialisation, which the message states: it may be
 *  right for others. The hint names the line `//@ where`.
 *  advice   comes first in the hint; NULL: none
 *  Returns  WEFT_ERROR_TYPE (fusion/library/specialise.c) */
weft_status weft_specialisation_refuse(const weft_specialisation *specialisation,
                                       weft_location place, const char *advice, weft_error *error,
                                       const char *format, ...) WEFT_PRINTF(5, 6);
/** A variant, or WEFT_IDENTITY. */
const weft_variant *weft_function_variant(const weft_function *function, int variant);
int weft_function_name_index(const weft_function *function, const char *name);
/** The shapes of the arguments for values of the function's names; false: one is not positive, or
 *  has more than `most` components. */
bool weft_function_shapes(const weft_function *function, const int *values, int most,
                          weft_shape *shapes);
/** weft_test_cases_make, with the specialisation of each test case. */
weft_status weft_trials_elements(const weft_library *library, size_t function, weft_arena *arena,
                                 weft_test_cases *out,
                                 const weft_specialisation *elements[WEFT_TEST_CASES_MAX],
                                 weft_error *error);
