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

/** The chosen cover as text for weft_compile_options.cover: one line per graph. */
weft_status weft_compilation_cover(const weft_compilation *compilation, weft_text *out,
                                   weft_error *error);
/** Number of kernels whose prediction uses measured times only; *n_kernels: of how many. */
int weft_compilation_measured(const weft_compilation *compilation, int *n_kernels);
/** Does the compilation use the cover that options.cover asked for? */
bool weft_compilation_recalled(const weft_compilation *compilation);
/** Print a stage: tokens, script, graph, fusions, implementations, cover, plan or source.
 *  format  text; for graph and plan also dot; for these, fusions, implementations and cover json
 *  The text of script and graph is a valid script again.
 *  Errors  WEFT_ERROR_USAGE (lists the stages and formats), WEFT_ERROR_MEMORY */
weft_status weft_compilation_print(const weft_compilation *compilation, const char *stage,
                                   const char *format, weft_text *out, weft_error *error);
/** Explain the fused and the unfused plan: kernels, bytes, flops, and for each pair of calls
 *  whether they are fused, or the reason why not. */
weft_status weft_compilation_explain(const weft_compilation *compilation, weft_text *out,
                                     weft_error *error);
/** Explain one pair of calls, with the predicted times of the best plans that do and do not fuse
 *  them.
 *  first, second  the calls' results, or the lists that they accumulate into
 *  Errors         WEFT_ERROR_USAGE: no such call */
weft_status weft_compilation_why(const weft_compilation *compilation, const char *first,
                                 const char *second, weft_text *out, weft_error *error);
/** Layout program for drawn graphs. run(user, dot) returns the output of Graphviz `dot -Tjson0` for
 *  the graph `dot`, allocated with malloc; NULL if it is not available. */
typedef struct weft_report_layout {
    char *(*run)(void *user, const char *dot);
    void *user;
} weft_report_layout;
/** Self-contained HTML report: a drawing of the graph and its kernels, predicted and measured
 *  times, and the script next to the generated source.
 *  seconds  measured time of each kernel in a run, s, [weft_compilation_kernels]; entries below 0
 *           are unknown; NULL: not measured
 *  layout   NULL: the built-in layout, kernels one below the other */
weft_status weft_compilation_html(const weft_compilation *compilation, const double *seconds,
                                  const weft_report_layout *layout, weft_text *out,
                                  weft_error *error);

/** What fusion saves: the plan compared with a plan of one kernel per call. */
typedef struct weft_saving {
    int n_calls, n_kernels, n_unfused;
    /* the fused kernel that saves the most bytes per element; "" and 0: none does */
    char calls[256], index_set[64]; /* "jacobian, tform_dshape and dshape_dot_dshape", "cells" */
    double bytes, bytes_unfused;    /* per element: moved by the kernel, by its calls unfused */
} weft_saving;
/** Makes the unfused plan, which takes about as long as weft_compile.
 *  Errors  WEFT_ERROR_MEMORY; WEFT_ERROR_UNSUPPORTED: of a kept plan without it */
weft_status weft_compilation_saving(const weft_compilation *compilation, weft_saving *out,
                                    weft_error *error);

/** Keep the plan in the cache of weft_compile_options.plans, unless it is from there: a later compilation of the same, by the same
 *  build of Weft, then makes no search. Such a compilation has no fusions and implementations but those of its plan, for
 *  weft_compilation_explain, _why and _html. Failures to write are ignored.
 *  saving  computed before, for weft_compilation_saving of compilations of the kept plan; NULL: they have none
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_compilation_keep(const weft_compilation *compilation, const weft_saving *saving,
                                  weft_error *error);
/** Was the plan kept by an earlier compilation? */
bool weft_compilation_is_kept(const weft_compilation *compilation);

/** One kernel of the plan; bytes and flops per element of its index set. */
typedef struct weft_kernel_info {
    const char *name, *index_set;
    int n_calls;
    double bytes_loaded, bytes_stored; /* compulsory traffic; indirect data once per access */
    double flops;
    double seconds; /* predicted time of a launch over options.elements; 0: unknown */
    bool is_member; /* has no launch of its own, but is part of that of a later kernel */
    bool is_sized;  /* its text depends on the sizes of a run, so that it is not in the source */
    bool patches;   /* accumulates by patches */
    /* accumulates by patches and reads lists over cells, so it needs the cells' numbers */
    bool patch_cells;
    bool patch_rows;   /* accumulates the rows of a matrix by patches */
    bool cell_colours; /* accumulates by coloured elements, one launch per colour */
    /** How the kernel accumulates: "atomic", "chunk-colored", "cell-colored", "gather",
     *  "vertex-patch" or "edge-patch"; NULL: it does not. */
    const char *scatter;
    /** Why the owners of nodes do not add up, though WEFT_SCATTER_PATCHES or _VERTEX_PATCHES asks for it: the
     *  order of the entries of a cell. NULL: for no such reason */
    const char *not_permuted;
} weft_kernel_info;
/** Choose the covers again with the register spills of the compiled kernels priced, up to four
 *  times, and remake plans and source. Covers that were forced or recalled stay. Does nothing where
 *  the device's compiler does not report spills, as on the host. The compilation keeps the compiled
 *  module, which its programs on this device run.
 *  device  borrowed, must outlive the compilation
 *  Errors  those of weft_module_make; on null WEFT_ERROR_COMPILER: NVRTC is missing */
weft_status weft_compilation_correct(weft_compilation *compilation, weft_device *device,
                                     weft_error *error);
int weft_compilation_kernels(const weft_compilation *compilation);
void weft_compilation_kernel(const weft_compilation *compilation, int i, weft_kernel_info *out);
const char *weft_compilation_source(const weft_compilation *compilation);

typedef enum weft_name_kind {
    WEFT_NAME_INDEX,
    WEFT_NAME_CONNECTIVITY,
    WEFT_NAME_INPUT,
    WEFT_NAME_PARAMETER,
    WEFT_NAME_EXPRESSION,
    WEFT_NAME_VALUE,    /* assigned or accumulated, and not an input */
    WEFT_NAME_OPERATOR, /* in outlines only */
    WEFT_NAME_DATA,     /* an input that an expression needs: weft_compilation_data */
    WEFT_NAME_PROCEDURE /* in outlines only */
} weft_name_kind;
/** A name that a script declares or assigns. Borrowed from the compilation. */
typedef struct weft_name_info {
    const char *name;
    weft_name_kind kind;
    /* index set of an input or value, NULL: uniform; source index set of a connectivity */
    const char *over;
    const char *to;        /* connectivities: target index set */
    int width;             /* connectivities: targets per element */
    int rank, sizes[4];    /* inputs and values; rank -1: a value whose shape was not inferred */
    bool returned, sparse; /* values; sparse: A[dofs,dofs] += K, reported with a scalar's shape */
    int value;             /* parameters */
} weft_name_info;
/** Number of names. Their order: index sets, connectivities, inputs, parameters, expressions, then
 *  values in script order. */
int weft_compilation_names(const weft_compilation *compilation);
void weft_compilation_name(const weft_compilation *compilation, int i, weft_name_info *out);
/** Does anything that is returned, updated or accumulated into an input depend on this input? */
bool weft_compilation_reads(const weft_compilation *compilation, const char *input);
/** An input that an expression with formulas by group or fields of files reads. It must be
 *  bound like other inputs; weft_data_bind of fem does so for groups of a mesh. Borrowed from the
 *  compilation. */
typedef struct weft_data_info {
    const char *input, *expression, *origin;
    const char *over; /* the index set */
    bool is_plain;    /* the index set is; else lists over it are in blocks */
    /* each of its elements is one point; else they are cells, and the expression is evaluated
     * at any of their points */
    bool at_points;
    int n;                     /* groups with a formula */
    const char *const *groups; /* [n] their names; NULL: where no group of the others is */
    const double *values;      /* [n] the value of the input in each group */
    /* or, where path is not NULL, a field of a file: over cells real[d+1], the coefficients of an
     * affine function c[0] + c[1] x + ... in each cell; at points real */
    const char *path, *field; /* field NULL: the default */
    int component;            /* of a field with several */
    bool clamped; /* points outside the file's mesh get the value at the nearest point */
} weft_data_info;
/** The number of such inputs. */
int weft_compilation_data_inputs(const weft_compilation *compilation);
void weft_compilation_data(const weft_compilation *compilation, int i, weft_data_info *out);
/** Find the value that is worth storing if a script runs often and only one input changes: the
 *  smallest named value over an index set that does not depend on that input and is computed by all
 *  of the script's evaluations of functions (exp, sin, ...) that do not.
 *  changing  name of the input
 *  found     false: there is none, or the script has several segments; *out is untouched
 *  Errors    WEFT_ERROR_MEMORY */
weft_status weft_compilation_costly_value(const weft_compilation *compilation,
                                          const char *index_set, const char *changing, bool *found,
                                          weft_name_info *out, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
