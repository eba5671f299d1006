/** A compilation: what weft_compile (fusion/weft_compile.h) made of a script. In: a compilation.
 *  Out: its stages and its plan as text, its kernels with what they move, its names. */
#ifndef WEFT_COMPILATION_H
#define WEFT_COMPILATION_H

#include "fusion/weft_library.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_compilation weft_compilation;
void weft_compilation_free(weft_compilation **compilation);

/** The cover that was chosen, as text for weft_compile_options.cover: a line for each graph. */
weft_status weft_compilation_cover(const weft_compilation *compilation, weft_text *out,
                                   weft_error *error);
/** How many of its kernels are predicted by measured times alone; *n_kernels: of how many. */
int weft_compilation_measured(const weft_compilation *compilation, int *n_kernels);
/** Is its cover the one that options.cover asked for? */
bool weft_compilation_recalled(const weft_compilation *compilation);
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
typedef struct weft_report_layout {
    char *(*run)(void *user, const char *dot);
    void *user;
} weft_report_layout;
/** A page for a browser that needs nothing else: the graph with its kernels drawn, what is
 *  predicted and what was measured, and the script beside the generated source.
 *  seconds  of a run, measured, by kernel [weft_compilation_kernels]; NULL: not measured. Entries
 *           below 0 are not known
 *  layout   NULL: the library's own, a kernel below the other */
weft_status weft_compilation_html(const weft_compilation *compilation, const double *seconds,
                                  const weft_report_layout *layout, weft_text *out,
                                  weft_error *error);

/** What fusion spares: the kernels of the plan against those of a plan with a kernel per call. */
typedef struct weft_saving {
    int n_calls, n_kernels, n_unfused;
    /* of the fused kernel that spares the most bytes per element; "" and 0: none does */
    char calls[256], index_set[64]; /* "jacobian, tform_dshape and dshape_dot_dshape", "cells" */
    double bytes, bytes_unfused;    /* that it moves, and that its calls would move apart */
} weft_saving;
/** Makes the other plan, which takes about as long as the first.  Errors  WEFT_ERROR_MEMORY */
weft_status weft_compilation_saving(const weft_compilation *compilation, weft_saving *out,
                                    weft_error *error);

/** One kernel of the plan, counted per element of its index set. */
typedef struct weft_kernel_info {
    const char *name, *index_set;
    int n_calls;
    double bytes_loaded, bytes_stored; /* that must move; indirect data counted once an access */
    double flops;
    double seconds;    /* of a launch over options.instances, predicted; 0: not known */
    bool patches;      /* it accumulates by patches */
    bool patch_cells;  /* and reads lists over the cells, so that it needs their numbers */
    bool cell_colours; /* it accumulates by colours of elements, a launch each */
    /** How it adds to its targets: "atomic", "chunk-colored", "cell-colored", "gather",
     *  "vertex-patch" or "edge-patch"; NULL: it adds to none. */
    const char *scatter;
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

#ifdef __cplusplus
}
#endif
#endif
