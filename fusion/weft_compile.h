/** Compiling a script: text, a library and the limits of a device in; a plan and the source text of
 *  its kernels out (fusion/weft_compilation.h). The language is described in docs/language.md. */
#ifndef WEFT_COMPILE_H
#define WEFT_COMPILE_H

#include "fusion/weft_compilation.h"

#ifdef __cplusplus
extern "C" {
#endif

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
bool weft_formula_describe(const char *name, weft_formula_info *out);

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
 *  applied; a product kernel by name (cuda, weft_program_bind_product); or with neither a function
 *  of the caller's (weft_program_bind_operator). */
typedef struct weft_operator_choice {
    const char *name;
    const weft_fragment *fragments;
    int n_fragments;
    const char *product_kernel;
    bool brings_dot; /* opaque: it can also give the dot product of v and y */
} weft_operator_choice;

typedef enum weft_plan_kind { WEFT_PLAN_FUSED, WEFT_PLAN_UNFUSED } weft_plan_kind;

/** How an accumulating store avoids races: colours of cell ranges that share no target, or a store
 *  per cell and a gather by the target's owner (transposed connectivity). Both are deterministic
 *  on the host; on cuda stores are atomic in place of coloured. Stars: on cuda the owner of targets
 *  evaluates the cells round them and keeps its rows; deterministic. Of a vector from tetrahedra,
 *  edge patches: a patch's owner evaluates each cell that touches it once, in a kernel whose
 *  values do not depend on any renumbering of a cell's vertices. Of a vector from triangles, or
 *  vertex patches: a target's owner evaluates each cell round it, renumbered so that it is local
 *  vertex 0, and keeps row 0 alone; even renumberings. Of a matrix, whole rows of it
 *  (weft_matrix_rows). For one accumulation from triangles or tetrahedra; what values depend on is
 *  the caller's to know (see weft_kernel_info); where it cannot be done, and on the host, it is the
 *  first. Cell colours: on cuda elements are coloured so that no two of
 *  a colour share a target; a colour is one launch, whose stores are plain additions;
 *  deterministic, as targets are added to in the order of the colours. For vectors and matrices, in
 *  a kernel that accumulates through one connectivity (into any number of lists), has no reduction
 *  and one thread per element; elsewhere, and on the host, it is the first. There are at least as
 *  many launches as a target has elements, up to 256; what is left of more is added by one
 *  thread. */
typedef enum weft_scatter {
    WEFT_SCATTER_COLOURED,
    WEFT_SCATTER_GATHERED,
    WEFT_SCATTER_PATCHES,
    WEFT_SCATTER_CELL_COLOURS,
    WEFT_SCATTER_VERTEX_PATCHES
} weft_scatter;

/** What a script makes before a loop and reads in it alone, such as local matrices: stored, or
 *  rematerialised in every iteration, where it may share a kernel with what reads it. auto: what is
 *  predicted to take less in all, for the expected number of iterations, and fits into half of the
 *  memory. */
typedef enum weft_rematerialise {
    WEFT_REMATERIALISE_AUTO,
    WEFT_REMATERIALISE_NEVER,
    WEFT_REMATERIALISE_ALWAYS
} weft_rematerialise;

/** fusion/cost/cost.h */
typedef struct weft_cost_source weft_cost_source;

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
    weft_rematerialise rematerialise;
    int iterations;          /* of a loop, that `store` reckons with; 0: 100 */
    int64_t elements;        /* of an index set, that plans are made for; 0: 10^6 */
    const char *forced_plan; /* JSON that weft_compilation_print gave of a plan, maybe edited: its
                                kernels and variants hold in place of the planner's choice. NULL:
                                none. What does not fit the script is refused, WEFT_ERROR_INPUT */
    int max_fusion; /* calls of a candidate, at most; 0: chosen by the number of candidates */
    const weft_cost_source *costs; /* borrowed, outlives the compilation; NULL: analytic */
    int alternative;   /* 0: the cover of least predicted time; k: the k-th after it, or the last */
    int patch_nodes;   /* of a patch of a vector's store: 128, 256 or 512 (0); fewer take as many
                          threads, and less time where a device has room for more */
    bool predicated;   /* see weft_program_predicate; for scripts without loops */
    const char *cover; /* weft_compilation_cover of a compilation of the same script: that one,
                          where it is still among the implementations (weft_compilation_recalled) */
} weft_compile_options;

/** Compile a script for a device of these limits, up to its source text. Nothing runs. Free with
 *  weft_compilation_free.
 *  fragments, options  borrowed for the call
 *  library             borrowed; must outlive the compilation
 *  Errors  WEFT_ERROR_SYNTAX, _TYPE, _SHAPE, _UNSUPPORTED, each with file, line, column, caret;
 * _MEMORY */
weft_status weft_compile(const weft_library *library, const weft_limits *limits,
                         const weft_fragment *fragments, int n_fragments,
                         const weft_compile_options *options, weft_compilation **out,
                         weft_error *error);

/** 32 digits for a script with its options and library: the key of weft_tuning_best_plan. */
weft_status weft_script_hash(const weft_library *library, const weft_fragment *fragments,
                             int n_fragments, const weft_compile_options *options, char out[33],
                             weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
