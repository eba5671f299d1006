/** Weft fusion: scripts and elementary functions in, plans, kernels and launches out.
 *
 *      fragments -> tokens -> script -> graph -> fusions -> implementations -> cover -> plan ->
 * source compilation --> program --> launches
 *
 *  The language is described in docs/language.md, kernel files in docs/kernel-files.md. */
#ifndef WEFT_FUSION_H
#define WEFT_FUSION_H

#include "fusion/tune/tune.h"
#include "fusion/cost/cost.h"
#include "core/weft_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the library of elementary functions ------------------------------------------------------
 */

typedef struct weft_library weft_library;

/** The functions shipped with Weft (embedded from kernels/).  Free with weft_library_free.
 *  Errors  WEFT_ERROR_SYNTAX, WEFT_ERROR_TYPE with file and line; WEFT_ERROR_MEMORY */
weft_status weft_library_make(weft_library **out, weft_error *error);
void weft_library_free(weft_library **library);
/** Add one kernel file's functions; a function of the same name replaces the earlier one. `name` is
 * for messages; texts are copied. */
weft_status weft_library_add_text(weft_library *library, const char *name, const char *text,
                                  weft_error *error);
/** Add every *.kernel.c below a directory, in order of path. */
weft_status weft_library_add_directory(weft_library *library, const char *directory,
                                       weft_error *error);

/** Makes a constant table for `//@ table` lines: fills shape (rank <= 4) and *values (from arena).
 *  arguments are the integers given in the kernel file, such as (d, degree). */
typedef weft_status (*weft_table_maker)(void *user, const int *arguments, int n_arguments,
                                        weft_arena *arena, int *rank, int *sizes, double **values,
                                        weft_error *error);
/** Offer a table under a name. user is borrowed; both must outlive the library. */
weft_status weft_library_add_table(weft_library *library, const char *name, int n_arguments,
                                   weft_table_maker maker, void *user, weft_error *error);

/** What `weft library` shows. Borrowed from the library. */
typedef struct weft_function_info {
    const char *name, *signature, *kind, *flops, *source, *file;
    int line, n_variants;
    const char *const *granularities; /* the threads of each variant, as written: "1", "m", "m*n" */
    const char *text;                 /* its part of the kernel file */
} weft_function_info;
size_t weft_library_size(const weft_library *library);
/** i < weft_library_size, in order of name. */
void weft_library_info(const weft_library *library, size_t i, weft_function_info *out);

/* ---- trying a function ------------------------------------------------------------------------
 */

typedef struct weft_trial_operand {
    const char *name; /* in the signature */
    int rank, sizes[4], n;
    const double *values; /* of an example, [n]; NULL: to be chosen */
} weft_trial_operand;

/** One call of a function, with sizes: what a test of it runs. */
typedef struct weft_trial {
    const char *sizes; /* for people: "m = 2, n = 3", or the text of an example */
    const char *keys;  /* what a script adds to the call: ", degree = 1", or "" */
    int n_arguments;
    weft_trial_operand arguments[12], result;
    char reduction; /* 0: a map; + * < (min) > (max): the result is one instance's contribution */
    int line;       /* of an example in its file; 0: no example */
} weft_trial;

enum { WEFT_TRIALS_MAX = 24 };
typedef struct weft_trials {
    weft_trial list[WEFT_TRIALS_MAX];
    int n;
    const char *source; /* the references as plain C: a host kernel `trial_K` for each list[K] */
} weft_trials;

/** Up to three choices of sizes, from small to large, that a function's signature and its where
 *  lines allow, and its examples. The references are the body with `threads 1` (else the first
 *  one, thread after thread) as it stands, with real = double and no lanes, for the C compiler.
 *  Kernels take the arguments and then the result as [instance][component], and work where
 *  first_block is 0.
 *  function  as in weft_library_info
 *  arena     owns what *out points to
 *  Errors    WEFT_ERROR_SHAPE (no sizes are allowed, an example has others), WEFT_ERROR_MEMORY */
weft_status weft_trials_make(const weft_library *library, size_t function, weft_arena *arena,
                             weft_trials *out, weft_error *error);

/* ---- compiling --------------------------------------------------------------------------------
 */

/** A piece of script text; several are read one after the other as one script. */
typedef struct weft_fragment {
    const char *name; /* for messages: a file name, or "--source" */
    const char *text;
} weft_fragment;

/** The functions that formulas may call. */
#define WEFT_FORMULA_FUNCTIONS                                                                     \
    "sqrt exp log sin cos tan abs min max pow asin acos atan atan2 sinh cosh tanh "                \
    "asinh acosh atanh exp2 expm1 log2 log10 log1p cbrt hypot erf erfc sign floor ceil round "     \
    "trunc"

/** A function of formulas; domain: of its arguments x and y. */
typedef struct weft_formula_info {
    const char *name, *domain;
    int n_arguments;
} weft_formula_info;
/** False: there is none of this name. */
bool weft_formula_tell(const char *name, weft_formula_info *out);

/** What --help says of formulas. */
#define WEFT_FORMULA_HELP                                                                          \
    "+ - * / ^, pi, " WEFT_FORMULA_FUNCTIONS ", and select(a < b, v, w), which is v where a < b "  \
    "and w elsewhere: comparisons are < > <= >=, several are joined by and"

/** The text for a script's `expression NAME(...)`; origin is for messages ("--source"). */
typedef struct weft_expression {
    const char *name, *text, *origin;
} weft_expression;

/** The value for a script's `parameter NAME`. */
typedef struct weft_parameter {
    const char *name;
    int value;
} weft_parameter;

/** Force the variant (granularity) of one function, for tests and experiments. */
typedef struct weft_variant_choice {
    const char *function;
    int variant;
} weft_variant_choice;

/** What a script's `operator NAME over ...` stands for: a script of its own, whose fragments make
 * `y` from an input `v` (a form's text and product.weft) and which is written out where NAME is
 *  applied; a rows routine by name (cuda, weft_program_bind_rows); or with neither a function of
 * the caller's (weft_program_bind_operator). */
typedef struct weft_operator_choice {
    const char *name;
    const weft_fragment *fragments;
    int n_fragments;
    const char *routine;
    bool brings_dot; /* opaque: it can also give the dot product of v and y */
} weft_operator_choice;

typedef enum weft_plan_kind { WEFT_PLAN_FUSED, WEFT_PLAN_UNFUSED } weft_plan_kind;

/** How an accumulating store avoids races: colours of cell ranges that share no target, or a store
 *  per cell and a gather by the target's owner (transposed connectivity). Both are deterministic
 *  on the host; on cuda stores are atomic in place of coloured. Stars: on cuda the owner of targets
 *  evaluates the cells round them and keeps its rows; deterministic. Of a vector from tetrahedra,
 *  stars of edges: a patch's owner evaluates each cell that touches it once, in a kernel whose
 *  values do not depend on any renumbering of a cell's vertices. Of a vector from triangles, or
 *  vertex stars: a target's owner evaluates each cell round it, renumbered so that it is local
 *  vertex 0, and keeps row 0 alone; even renumberings. Of a matrix, whole rows of it
 *  (weft_matrix_rows). For one accumulation from triangles or tetrahedra; what values depend on is
 *  the caller's to know (see weft_kernel_info); where it cannot be done, and on the host, it is the
 *  first. Cell colours: on cuda instances are coloured so that no two of
 *  a colour share a target; a colour is one launch, whose stores are plain additions;
 *  deterministic, as targets are added to in the order of the colours. For vectors and matrices, in
 *  a kernel that accumulates through one map (into any number of lists), has no reduction and one
 *  thread an instance; elsewhere, and on the host, it is the first. There are at least as many
 *  launches as a target has instances, up to 256; what is left of more is added by one thread.
 */
typedef enum weft_scatter {
    WEFT_SCATTER_COLOURED,
    WEFT_SCATTER_GATHERED,
    WEFT_SCATTER_STARS,
    WEFT_SCATTER_CELL_COLOURS,
    WEFT_SCATTER_VERTEX_STARS
} weft_scatter;

/** What a script makes before a loop and reads in it alone, such as local matrices: stored, or made
 *  anew in every turn, where it may share a kernel with what reads it. auto: what is predicted to
 *  take less in all, for the expected number of turns, and fits into half of the memory. */
typedef enum weft_store { WEFT_STORE_AUTO, WEFT_STORE_ALWAYS, WEFT_STORE_NEVER } weft_store;

typedef struct weft_compile_options {
    weft_plan_kind plan;
    weft_scatter scatter;
    bool single; /* real is float, else double */
    const weft_expression *expressions;
    int n_expressions;
    const weft_parameter *parameters;
    int n_parameters;
    const weft_variant_choice *variants;
    int n_variants;
    const weft_operator_choice *operators; /* those not named are opaque */
    int n_operators;
    weft_store store;
    int turns;               /* of a loop, that `store` reckons with; 0: 100 */
    int64_t instances;       /* of an index set, that plans are made for; 0: 10^6 */
    const char *forced_plan; /* JSON that weft_compilation_print gave of a plan, maybe edited: its
                                kernels and variants hold in place of the planner's choice. NULL:
                                none. What does not fit the script is refused, WEFT_ERROR_INPUT */
    int max_fusion; /* calls of a candidate, at most; 0: chosen by the number of candidates */
    const weft_cost_source *costs; /* borrowed, outlives the compilation; NULL: analytic */
    int alternative;   /* 0: the cover of least predicted time; k: the k-th after it, or the last */
    int star_nodes;    /* of a patch of stars of a vector: 128, 256 or 512 (0); fewer take as many
                          threads, and less time where a device has room for more */
    bool guarded;      /* see weft_program_guard; for scripts without loops */
    const char *cover; /* weft_compilation_cover of a compilation of the same script: that one,
                          where it is still among the implementations (weft_compilation_recalled) */
} weft_compile_options;

typedef struct weft_compilation weft_compilation;

/** Compile a script for a device of these limits, up to its source text. Nothing runs.
 *  fragments, options  borrowed for the call
 *  library             borrowed; must outlive the compilation
 *  Errors  WEFT_ERROR_SYNTAX, _TYPE, _SHAPE, _UNSUPPORTED, each with file, line, column, caret;
 * _MEMORY */
weft_status weft_compile(const weft_library *library, const weft_limits *limits,
                         const weft_fragment *fragments, int n_fragments,
                         const weft_compile_options *options, weft_compilation **out,
                         weft_error *error);
void weft_compilation_free(weft_compilation **compilation);

/** The cover that was chosen, as text for weft_compile_options.cover: a line for each graph. */
weft_status weft_compilation_cover(const weft_compilation *compilation, weft_text *out,
                                   weft_error *error);
/** The covers that were looked at for options.alternative: alternative + 1 unless there are fewer.
 */
int weft_compilation_alternatives(const weft_compilation *compilation);
/** Seconds of a run for options.instances, predicted. */
double weft_compilation_seconds(const weft_compilation *compilation);
/** How many of its kernels are predicted by measured times alone; *n_kernels: of how many. */
int weft_compilation_measured(const weft_compilation *compilation, int *n_kernels);
/** Is its cover the one that options.cover asked for? */
bool weft_compilation_recalled(const weft_compilation *compilation);
/** 32 digits for a script with its options and library: the key of weft_tuning_winner. */
weft_status weft_script_hash(const weft_library *library, const weft_fragment *fragments,
                             int n_fragments, const weft_compile_options *options, char out[33],
                             weft_error *error);

/** Print a stage: tokens, script, graph, fusions, implementations, cover, plan or source; as text,
 *  and graph and plan also as dot or json. What is printed of script and graph as text reads back
 * as a script. Errors WEFT_ERROR_USAGE (lists the stages and formats) */
weft_status weft_compilation_print(const weft_compilation *compilation, const char *stage,
                                   const char *format, weft_text *out, weft_error *error);
/** What both plans do with this script and why not more: kernels, bytes, flops, and for each pair
 *  of calls fused or the reason why not. */
weft_status weft_compilation_explain(const weft_compilation *compilation, weft_text *out,
                                     weft_error *error);
/** The same of two calls, named by their results or by the lists that they accumulate into, with
 *  the time predicted for the best plans that have them together and apart.
 *  Errors  WEFT_ERROR_USAGE: no such call */
weft_status weft_compilation_why(const weft_compilation *compilation, const char *first,
                                 const char *second, weft_text *out, weft_error *error);
/** What finds places for the boxes and edges of a drawn graph: run(user, dot) gives what
 *  `dot -Tjson0` of Graphviz prints for this graph in its language, malloc'd; NULL: it cannot. */
typedef struct weft_page_layout {
    char *(*run)(void *user, const char *dot);
    void *user;
} weft_page_layout;
/** A page for a browser that needs nothing else: the graph with its kernels drawn, what is
 *  predicted and what was measured, and the script beside the generated source.
 *  seconds  of a run, measured, by kernel [weft_compilation_kernels]; NULL: not measured. Entries
 *           below 0 are not known
 *  layout   NULL: the library's own, a kernel below the other */
weft_status weft_compilation_html(const weft_compilation *compilation, const double *seconds,
                                  const weft_page_layout *layout, weft_text *out,
                                  weft_error *error);

/** What fusion spares: the kernels of the plan against those of a plan with a kernel per call. */
typedef struct weft_saving {
    int n_calls, n_kernels, n_unfused;
    /* of the fused kernel that spares the most bytes per instance; "" and 0: none does */
    char calls[256], index_set[64]; /* "jacobian, tform_dshape and dshape_dot_dshape", "cells" */
    double bytes, bytes_unfused;    /* that it moves, and that its calls would move apart */
} weft_saving;
/** Makes the other plan, which takes about as long as the first.  Errors  WEFT_ERROR_MEMORY */
weft_status weft_compilation_saving(const weft_compilation *compilation, weft_saving *out,
                                    weft_error *error);

/** One kernel of the plan, counted per instance of its index set. */
typedef struct weft_kernel_info {
    const char *name, *index_set;
    int n_calls;
    double bytes_loaded, bytes_stored; /* that must move; indirect data counted once an access */
    double flops;
    double seconds;    /* of a launch over options.instances, predicted; 0: not known */
    bool stars;        /* it accumulates by stars */
    bool star_cells;   /* and reads lists over the cells, so that it needs their numbers */
    bool cell_colours; /* it accumulates by colours of instances, a launch each */
} weft_kernel_info;
int weft_compilation_kernels(const weft_compilation *compilation);
void weft_compilation_kernel(const weft_compilation *compilation, int i, weft_kernel_info *out);
const char *weft_compilation_source(const weft_compilation *compilation);

typedef enum weft_name_kind {
    WEFT_NAME_INDEX,
    WEFT_NAME_CONNECTIVITY,
    WEFT_NAME_INPUT,
    WEFT_NAME_PARAMETER,
    WEFT_NAME_EXPRESSION,
    WEFT_NAME_VALUE,   /* assigned or accumulated, and not an input */
    WEFT_NAME_OPERATOR /* of an outline alone */
} weft_name_kind;
/** A name that a script declares or makes. Borrowed from the compilation. */
typedef struct weft_name_info {
    const char *name;
    weft_name_kind kind;
    const char *over;   /* the index set of an input or value, NULL: uniform; where a connectivity
                           starts */
    const char *to;     /* of a connectivity */
    int width;          /* the same */
    int rank, sizes[4]; /* of an input or value; rank -1: a value whose shape nothing asked for */
    bool returned, sparse; /* values; sparse: A[dofs,dofs] += K, its shape is a scalar's */
    int value;             /* of a parameter */
} weft_name_info;
/** In the order: index sets, connectivities, inputs, parameters, expressions, values as written. */
int weft_compilation_names(const weft_compilation *compilation);
void weft_compilation_name(const weft_compilation *compilation, int i, weft_name_info *out);

/* ---- outlines ---------------------------------------------------------------------------------
 */

/** What a script says, by the parser alone: for programs that must know before they compile it. */
typedef struct weft_outline weft_outline;
/** fragments  borrowed for the call; free with weft_outline_free
 *  Errors     those of weft_compile that a text has by itself: WEFT_ERROR_SYNTAX, _TYPE,
 *             _UNSUPPORTED with file, line, column; _MEMORY */
weft_status weft_outline_make(const weft_fragment *fragments, int n_fragments, weft_outline **out,
                              weft_error *error);
void weft_outline_free(weft_outline **outline);
typedef struct weft_outline_name {
    const char *name; /* borrowed from the outline */
    weft_name_kind kind;
    bool in_loop;     /* made by a statement in a loop */
    bool accumulated; /* NAME[...] += ... */
    bool read; /* in the value of a statement, or in a loop's condition or number of iterations */
} weft_outline_name;
/** In the order of their first appearance. */
int weft_outline_names(const weft_outline *outline);
void weft_outline_tell(const weft_outline *outline, int i, weft_outline_name *out);
/** Is there such a name? out may be NULL. */
bool weft_outline_find(const weft_outline *outline, const char *name, weft_outline_name *out);
/** Is there a return statement? */
bool weft_outline_returns(const weft_outline *outline);
/** Put blanks in the place of the return statements; lines and columns of the rest stay.
 *  text  that of the fragment, unchanged */
weft_status weft_outline_strip(const weft_outline *outline, int fragment, char *text,
                               weft_error *error);

/* ---- data for programs ------------------------------------------------------------------------
 */

/** A map between index sets, such as cell dofs. Made once, shared by programs; keeps what they
 *  need of it (interleaved copy, schedules by colour, transpose), each made when first asked for.
 */
typedef struct weft_connectivity weft_connectivity;
/** indices  borrowed, must outlive it: [n_from][width], each in [0, n_to)
 *  Errors WEFT_ERROR_SHAPE (index out of range, n_to >= 2^31), WEFT_ERROR_MEMORY */
weft_status weft_connectivity_make(weft_device *device, const int32_t *indices, int64_t n_from,
                                   int width, int64_t n_to, weft_connectivity **out,
                                   weft_error *error);
void weft_connectivity_free(weft_connectivity **connectivity);
int64_t weft_connectivity_from(const weft_connectivity *connectivity);
int64_t weft_connectivity_to(const weft_connectivity *connectivity);
int weft_connectivity_width(const weft_connectivity *connectivity);
const int32_t *weft_connectivity_indices(const weft_connectivity *connectivity);

/** Interleave [n][components] into [block][component][lane] and back; spare lanes repeat the last
 *  instance. `out` holds ceil(n / lanes) * lanes * components values. */
void weft_interleave(const double *plain, int64_t n, int components, int lanes, double *out);
void weft_deinterleave(const double *interleaved, int64_t n, int components, int lanes,
                       double *out);

/* ---- programs ---------------------------------------------------------------------------------
 */

typedef struct weft_program weft_program;

/** Make a compilation runnable on a device: compiles or finds its module. compilation and device
 * are borrowed and must outlive it. */
weft_status weft_program_make(weft_device *device, const weft_compilation *compilation,
                              weft_program **out, weft_error *error);
void weft_program_free(weft_program **program);
/** The size of an index set. Those of connectivities are known from them. */
weft_status weft_program_size(weft_program *program, const char *index_set, int64_t n,
                              weft_error *error);
/** Bind a list: an input, or a result that is to be written to the caller's memory. Borrowed.
 *  Layout  interleaved index set: [block][component][lane]; plain: [instance][component]; uniform:
 *          [component]. Elements are double (float when compiled single).
 *  Errors  WEFT_ERROR_USAGE (no such name: lists those that exist) */
weft_status weft_program_bind(weft_program *program, const char *name, weft_memory *memory,
                              weft_error *error);
weft_status weft_program_bind_connectivity(weft_program *program, const char *name,
                                           weft_connectivity *connectivity, weft_error *error);
/** Bind the target of `A[dofs,dofs] += K`: values [n_values], and for the connectivity's cells the
 * interleaved positions [block][i * width + j][lane], uint32_t, for the lanes of
 * weft_program_lanes. */
weft_status weft_program_bind_matrix(weft_program *program, const char *name, weft_memory *values,
                                     weft_memory *positions, weft_error *error);
/** What a rows routine works on. */
typedef struct weft_rows {
    const char *routine;           /* its name: that of the compile options */
    weft_memory *const *arguments; /* borrowed, in the order of the routine's `argument` lines */
    int n_arguments;
    int64_t n_rows;
    int shared_bytes; /* dynamic shared memory of a block */
} weft_rows;
/** Bind an operator whose choice was a routine. Borrowed.
 *  Errors  WEFT_ERROR_USAGE (no such operator, another routine, another number of arguments) */
weft_status weft_program_bind_rows(weft_program *program, const char *name, const weft_rows *rows,
                                   weft_error *error);
/** y = A v for an opaque operator of the script: v and y as lists are bound. vy: where the dot
 * product of v and y is wanted too, one double; else NULL. go: in a loop, on a device with threads,
 * what weft_program_guard takes: launches may ask it, so that turns after the end cost little. */
typedef struct weft_program_product {
    weft_memory *v, *y, *vy, *go;
} weft_program_product;
/** May only launch, zero and copy on the device where that records (weft_device_records). */
typedef weft_status (*weft_program_apply)(void *user, const weft_program_product *product,
                                          weft_error *error);
/** What an opaque operator does. user is borrowed.
 *  Errors WEFT_ERROR_USAGE (no such operator: lists those that exist) */
weft_status weft_program_bind_operator(weft_program *program, const char *name,
                                       weft_program_apply apply, void *user, weft_error *error);
/** Keep the history of a uniform value of a script with loops: entry 0 before the first turn of the
 *  last of its outermost loops, entry i after turn i, as far as `capacity` reals go. memory NULL:
 * no more. At most 4 at a time. Errors WEFT_ERROR_USAGE, WEFT_ERROR_SHAPE */
weft_status weft_program_record(weft_program *program, const char *name, weft_memory *memory,
                                int64_t capacity, weft_error *error);
/** The turns that this loop has done in the last run; -1 without one. Waits for the device. */
weft_status weft_program_turns(const weft_program *program, int64_t *out, weft_error *error);
/** A matrix whose rows are made by their owners (WEFT_SCATTER_STARS on cuda, where weft_kernel_info
 *  says stars), in slices of 32 rows, 16 to a block of 512.
 *
 *  values      [512 * blocks] the diagonal by rows, then slice after slice its entries beside the
 *              diagonal, [k][lane]
 *  start       [slices + 1] uint32_t, where a slice begins in values
 *  rows        [blocks][512] uint16_t, the row in its block of each lane of each slice
 *  words       [slice][k][lane] uint64_t, the cells round a row: for each vertex v = 1, 2, 3 beside
 *              the row's own from bit 21 (v - 1) on 13 bits of the vertex' local number (in the
 *              block, or 512 + its place in the halo) and 8 bits of its entry's k; 2^63: none.
 *              (0, 1, 2, 3) is an even renumbering of the cell (of two vertices, any)
 *  word_start  [slices + 1] uint32_t, where a slice begins in words
 *  halo        int32_t, block after block; halo_start [blocks + 1] int64_t
 *  cells       int32_t numbers of the cells as words stand; NULL: no list over cells is read
 *  All are borrowed. */
typedef struct weft_matrix_rows {
    weft_memory *start, *rows, *word_start, *words, *halo_start, *halo, *cells;
    int64_t n_rows;
    int most_local;      /* local numbers of a block, at most */
    int64_t most_values; /* entries beside the diagonal of a block, at most */
} weft_matrix_rows;
/** Bind the target of `A[dofs,dofs] += K` that is made by rows; in place of _bind_matrix. */
weft_status weft_program_bind_matrix_rows(weft_program *program, const char *name,
                                          weft_memory *values, const weft_matrix_rows *rows,
                                          weft_error *error);
int weft_program_lanes(const weft_program *program);
/** Run every launch of the plan once. Results not bound are allocated on the first run. Accumulated
 * lists that are not inputs start from zero each time. Errors  WEFT_ERROR_USAGE (unbound input
 * named), WEFT_ERROR_SHAPE (memory too small: how small), _MEMORY, _DEVICE */
weft_status weft_program_run(weft_program *program, weft_error *error);
/** Of a script compiled `guarded`, on cuda: a launch that finds a 0 in the uint32_t `go` writes
 * nothing. Borrowed; NULL: every launch works. */
void weft_program_guard(weft_program *program, weft_memory *go);
/** The memory of a returned list, after a run. Borrowed; NULL when there is no such name. */
weft_memory *weft_program_result(const weft_program *program, const char *name);
double weft_program_compile_seconds(const weft_program *program);

#ifdef __cplusplus
}
#endif
#endif
