/** The compiler. In: script text, a library of functions, the limits of a device. Out: a plan and the source text of
 *  its kernels (fusion/weft_compilation.h). docs/language.md describes the language. */
#ifndef WEFT_COMPILE_H
#define WEFT_COMPILE_H

#include "fusion/weft_compilation.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A piece of script text. A script is the concatenation of its fragments. */
typedef struct weft_fragment {
    const char *name; /* for messages: a file name, or "--source" */
    const char *text;
} weft_fragment;

/** The functions that formulas may call. */
#define WEFT_FORMULA_FUNCTIONS                                                                     \
    "sqrt exp log sin cos tan abs min max pow asin acos atan atan2 sinh cosh tanh "                \
    "asinh acosh atanh exp2 expm1 log2 log10 log1p cbrt hypot erf erfc sign floor ceil round "     \
    "trunc"

/** A function that formulas may call; domain: of its arguments x and y. */
typedef struct weft_formula_info {
    const char *name, *domain;
    int n_arguments;
} weft_formula_info;
/** Returns false if formulas have no function of this name. */
bool weft_formula_describe(const char *name, weft_formula_info *out);

/** Description of formulas for --help texts. */
#define WEFT_FORMULA_HELP                                                                          \
    "+ - * / ^, pi, " WEFT_FORMULA_FUNCTIONS ", and select(a < b, v, w), which is v where a < b "  \
    "and w elsewhere: comparisons are < > <= >=, several are joined by and"

/** The text for a script's `expression NAME(...)`; origin is for messages ("--source"). A formula, or
 *  formulas by group of cells, `FORMULA; @GROUP=FORMULA; ...`, of which the first may be missing:
 *  weft_compilation_data then lists the inputs that the runtime must fill. */
typedef struct weft_expression {
    const char *name, *text, *origin;
} weft_expression;

/** A formula of such a text. */
typedef struct weft_formula_piece {
    char group[256];  /* ""; wherever no group of the others is */
    const char *text; /* [length], borrowed from the text */
    size_t length;
} weft_formula_piece;
/** Does the text have formulas by group? NULL: no. */
bool weft_formula_by_group(const char *text);
/** Step over the next formula of a text.
 *  text    the rest; advanced; the end is an empty text
 *  Errors  WEFT_ERROR_SYNTAX, with the column in the rest */
weft_status weft_formula_next(const char **text, weft_formula_piece *out, const char *origin,
                              weft_error *error);

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

/** Implementation of a script's `operator NAME over ...`; one of
 *  fragments       a script that computes `y` from an input `v` (a form's text and product.weft);
 *                  it is inlined where NAME is applied
 *  product_kernel  the name of a product kernel (CUDA, weft_program_bind_product)
 *  neither         opaque: a callback of the caller (weft_program_bind_operator) */
typedef struct weft_operator_choice {
    const char *name;
    const weft_fragment *fragments;
    int n_fragments;
    const char *product_kernel;
    bool brings_dot; /* opaque operators: the callback can also compute v . y */
    bool is_long; /* opaque: it launches many kernels, so a recorded loop contains few iterations */
} weft_operator_choice;

typedef enum weft_plan_kind { WEFT_PLAN_FUSED, WEFT_PLAN_UNFUSED } weft_plan_kind;

/** How an accumulating store avoids races. All are deterministic, except IN_PLACE on CUDA. Those behind
 *  GATHERED are for CUDA; elsewhere they mean IN_PLACE (weft_kernel_info.scatter says what is used).
 *
 *  AUTO            What is predicted to be the fastest (fusion/plan/scatter.h); IN_PLACE on the
 *                  host, for matrices and what runs once.
 *  IN_PLACE        Each cell adds to its targets. Host: cell ranges are coloured so that ranges of
 *                  one colour share no target. CUDA: atomic additions.
 *  GATHERED        Each cell stores its contribution; then the owner of a target sums those of its
 *                  cells (transposed connectivity). Vectors only.
 *  PATCHES         Owner computes: the owner of a set of targets evaluates all cells that touch
 *                  them. For one accumulation from triangles or tetrahedra.
 *                    scalar dofs, tetrahedra  edge patches: each cell is evaluated once per patch
 *                                             that it touches
 *                    other vectors            vertex patches (below)
 *                    matrices                 whole rows (weft_matrix_rows)
 *                  The caller guarantees that the kernel's values do not depend on the order of a
 *                  cell's vertices (edge patches), or not on its even permutations (the others).
 *  CELL_COLOURS    Elements are coloured so that no two of a colour share a target; each colour is
 *                  one launch with plain additions. For vectors and matrices, in kernels that
 *                  accumulate through one connectivity (into any number of lists), have no
 *                  reduction and use one thread per element. The number of launches is at least
 *                  the number of elements of a target, at most 256; one thread adds the elements
 *                  that do not fit into 256 colours.
 *  VERTEX_PATCHES  As PATCHES, but vertex patches for tetrahedra too: the owner of a target evaluates
 *                  each incident cell from there on, in an even permutation, and keeps row 0.
 *  CELL_PATCHES    On devices with threads, a vector from cells with any number of nodes, whatever
 *                  connectivities the kernel loads through: blocks of consecutive cells are summed
 *                  in shared memory, nodes of several blocks by a second kernel. PATCHES and VERTEX_PATCHES
 *                  do the same where their patches do not fit, for cells of at most 16 nodes. */
typedef enum weft_scatter {
    WEFT_SCATTER_AUTO,
    WEFT_SCATTER_IN_PLACE,
    WEFT_SCATTER_GATHERED,
    WEFT_SCATTER_PATCHES,
    WEFT_SCATTER_CELL_COLOURS,
    WEFT_SCATTER_VERTEX_PATCHES,
    WEFT_SCATTER_CELL_PATCHES
} weft_scatter;

/** Whether values that a script computes before a loop and reads only inside it, such as local
 *  matrices, are stored (NEVER) or recomputed in every iteration (ALWAYS), where they may be fused
 *  with their readers. AUTO: the choice with the lower predicted time over the expected number of
 *  iterations; values that need more than half of the device's memory are recomputed. */
typedef enum weft_rematerialise {
    WEFT_REMATERIALISE_AUTO,
    WEFT_REMATERIALISE_NEVER,
    WEFT_REMATERIALISE_ALWAYS
} weft_rematerialise;

/** Defined in fusion/cost/cost.h. */
typedef struct weft_cost_source weft_cost_source;

typedef struct weft_compile_options {
    size_t size; /* sizeof(weft_compile_options) */
    weft_plan_kind plan;
    weft_scatter scatter;
    bool single; /* real is float, else double */
    const weft_expression *expressions;
    int n_expressions;
    const weft_parameter *parameters;
    int n_parameters;
    const weft_variant_choice *variants;
    int n_variants;
    /* an input over a plain index set, or the result of an opaque operator, that is float in memory
     * where real is double and is read element by element; NULL: none. Not on the host:
     * WEFT_ERROR_UNSUPPORTED */
    const char *narrow;
    const weft_operator_choice *operators; /* operators that are not listed are opaque */
    int n_operators;
    weft_rematerialise rematerialise;
    int iterations; /* expected trip count of loops, for `rematerialise`; 0: 100 */
    /* expected size of index sets, for predictions; 0: 10^6. Of a square matrix its entries; 0: 4096^2 */
    int64_t elements;
    /* a plan as JSON (weft_compilation_print), perhaps edited: its kernels and variants replace the
     * planner's choice. NULL: none. A plan that does not fit the script: WEFT_ERROR_INPUT */
    const char *forced_plan;
    int max_fusion; /* most calls per fusion candidate; 0: from the number of candidates */
    const weft_cost_source *costs; /* borrowed, outlives the compilation; NULL: analytic */
    int alternative; /* 0: the cover of least predicted time; k: the k-th after it, or the last */
    int patch_nodes; /* of a vector: 128, 256 or 512 (0). Small ones suit a device that is not full */
    bool predicated; /* see weft_program_predicate; for scripts without loops */
    /* weft_compilation_cover of an earlier compilation, if its kernels are still possible */
    const char *cover;
    const struct weft_tuned_source *tuned; /* of tuned parameters; borrowed as costs; may be NULL */
    bool runs_once;                        /* or a few times: on the host compiled in less time */
    bool distributed, replicated; /* ranks have parts (weft_program_share); each has the whole */
    const weft_device *plans;     /* keeps plans (weft_compilation_keep); borrowed; may be NULL */
    bool corrected; /* a kept plan is that after weft_compilation_correct, with its saving */
} weft_compile_options;
static inline weft_compile_options weft_compile_options_default(void) {
    weft_compile_options options;
    weft_options_clear(&options, sizeof options);
    return options;
}

/** Compile a script to source text for a device with these limits. Nothing runs.
 *  fragments, options  borrowed for the call
 *  library             borrowed; must outlive the compilation
 *  out                 caller's; weft_compilation_free
 *  Errors  WEFT_ERROR_SYNTAX, _TYPE, _SHAPE, _UNSUPPORTED, each with file, line, column, caret;
 *          _INPUT (options->forced_plan), _MEMORY */
weft_status weft_compile(const weft_library *library, const weft_limits *limits,
                         const weft_fragment *fragments, int n_fragments,
                         const weft_compile_options *options, weft_compilation **out,
                         weft_error *error);

/** Hash of a script with its options and library, 32 digits: the key of weft_tuning_best_plan. */
weft_status weft_script_hash(const weft_library *library, const weft_fragment *fragments,
                             int n_fragments, const weft_compile_options *options, char out[33],
                             weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
