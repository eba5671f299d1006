/** The plan of a segment.
 *  In:  graph, device limits, options, cover
 *  Out: kernels in launch order with their arguments, and the buffers of intermediates
 *
 *  Decision  docs/decisions/0009-kernel-kinds-are-one-enumeration.md */
#pragma once

#include "fusion/plan/cover.h"
#include "fusion/plan/nested.h"

/** Argument of a kernel. */
typedef enum weft_argument_kind {
    ARGUMENT_VALUE,         /* buffer of a value */
    ARGUMENT_CONNECTIVITY,  /* interleaved connectivity */
    ARGUMENT_POSITIONS,     /* positions in matrix `index` through connectivity `part` */
    ARGUMENT_PARTIALS,      /* partial results of a reduction, one per tile: index is its value */
    ARGUMENT_PATCH,         /* patches of a connectivity: part indexes weft_patch_arguments */
    ARGUMENT_PRODUCT,       /* argument `part` of the product kernel of operator `index` */
    ARGUMENT_DOUBLE_BUFFER, /* receives the update of a value that other blocks still read */
    ARGUMENT_PATCH_MATRIX,  /* matrix rows: index is the matrix, part indexes
                               weft_patch_matrix_arguments */
    ARGUMENT_COLOUR,        /* the elements of one colour: index is the connectivity */
    ARGUMENT_SIZES,         /* int64_t [3], rows, columns, parts. index: the KERNEL_NESTED */
    ARGUMENT_MEMBERS, /* of a KERNEL_GROUP: int64_t elements [n_members], first block [n_members + 1] of each; of
                         final reductions twice, the second for a launch that joins parts before */
    ARGUMENT_CELL_PATCH, /* patches of cells: part by weft_cell_patch_argument */
    ARGUMENT_OWNED, /* uint8_t [n] of index set `index`: does the element count on this rank? */
    ARGUMENT_TEAM,  /* of a KERNEL_FINAL_REDUCTION on a GPU: weft_share.team of index set `index` */
    ARGUMENT_GATHER /* transposed connectivity: start[n_to + 1] (part 0) and positions (part 1) */
} weft_argument_kind;

typedef struct weft_argument {
    weft_argument_kind kind;
    int index; /* value or connectivity; ARGUMENT_GATHER: connectivity */
    /* ARGUMENT_GATHER, ARGUMENT_PATCH, ARGUMENT_PATCH_MATRIX,
     * ARGUMENT_PRODUCT, ARGUMENT_POSITIONS */
    int part;
} weft_argument;

/** Most kernels that share a launch: each has at least a warp of an INNER_BLOCK. */
#define WEFT_GROUP_MEMBERS 32

/** The kind of a kernel, decided once in fusion/plan/plan.c. The tables that print
 *  (fusion/plan/print.c), generate (fusion/codegen/kernel.c) and launch (fusion/runtime/run.c)
 *  kernels have one row per kind. */
typedef enum weft_kernel_kind {
    KERNEL_MAP,             /* one thread, or one vector lane, per element */
    KERNEL_REDUCTION,       /* KERNEL_MAP with one partial result per tile of each reduction */
    KERNEL_CELL_COLOURS,    /* KERNEL_MAP launched once per colour, with non-atomic additions */
    KERNEL_MULTI_THREAD,    /* several threads per element */
    KERNEL_DENSE,           /* products of small matrices by warps (dense.h) */
    KERNEL_PRODUCT,         /* starts with a hand-written product kernel that computes whole rows */
    KERNEL_VERTEX_PATCH,    /* one owner-computes accumulation over the cells of each vertex */
    KERNEL_EDGE_PATCH,      /* one owner-computes accumulation, each cell of a patch once */
    KERNEL_MATRIX_PATCH,    /* one owner-computes accumulation into whole matrix rows */
    KERNEL_CELL_PATCH,      /* one accumulation over patches of cells (cell_patches.h) */
    KERNEL_CELL_BORDER,     /* adds up what patches of cells leave for their border nodes */
    KERNEL_FINAL_REDUCTION, /* combines the partial results of the preceding kernel */
    KERNEL_GATHER,       /* each target sums the contributions stored for it, or evaluates them */
    KERNEL_NESTED,       /* over a product of two index sets, slice by slice (nested.h) */
    KERNEL_NESTED_FINAL, /* combines the parts of one open result of a KERNEL_NESTED */
    KERNEL_GROUP,        /* one launch of the members before it (horizontal fusion) */
    WEFT_KERNEL_KINDS
} weft_kernel_kind;

typedef struct weft_plan_kernel {
    weft_kernel_kind kind;
    const char *name;
    /* NULL: KERNEL_FINAL_REDUCTION, KERNEL_GATHER without prologue, KERNEL_NESTED_FINAL,
     * KERNEL_CELL_BORDER, KERNEL_GROUP */
    const weft_implementation *implementation;
    int index_set;       /* KERNEL_GROUP: UNIFORM */
    weft_operand *loads; /* whole values loaded at the start, directly or through a connectivity */
    int n_loads;
    int *stores; /* values stored */
    int n_stores;
    int *scatters; /* accumulations done by this kernel, except those left to a gather kernel */
    int n_scatters;
    int gather;   /* KERNEL_GATHER, KERNEL_CELL_BORDER: the accumulation; else -1 */
    int product;  /* KERNEL_PRODUCT: the product call; else -1 */
    int prologue; /* KERNEL_PRODUCT, KERNEL_GATHER: the call inlined into what is loaded, or -1 */
    int patch_nodes;          /* nodes per patch */
    int patch_cells;          /* KERNEL_CELL_PATCH, KERNEL_CELL_BORDER: cells per patch */
    const char *not_permuted; /* why its sum is not by owners though patches are wanted, or NULL */
    bool accumulates;         /* gathers and patches: add to the target instead of overwriting it */
    weft_argument *arguments;
    int n_arguments;
    /* calls whose partial results this kernel computes, or combines (KERNEL_FINAL_REDUCTION,
     * KERNEL_NESTED_FINAL) */
    int *reductions;
    weft_slice slice; /* KERNEL_NESTED, KERNEL_NESTED_FINAL */
    int n_reductions;
    int coarsening; /* KERNEL_REDUCTION, KERNEL_FINAL_REDUCTION on a GPU: tiles of elements that make a
                       partial result; 0: one */
    weft_combination combination; /* KERNEL_GROUP */
    int n_members;                /* KERNEL_GROUP: the kernels directly before it in the plan */
    bool is_member; /* the next KERNEL_GROUP launches it: a map, a reduction, a kernel of
                                     several threads per element, or a final reduction */
    int together;   /* KERNEL_GROUP: the block of the script that asks for it, from 1; 0: none */
    int threads;    /* of members and KERNEL_GROUP: per thread block */
    double seconds; /* KERNEL_GROUP, additions: prediction; 0: the implementation's */
    double saved_seconds; /* KERNEL_GROUP: against launches of their own */
    int *zero;            /* values zeroed before the launch */
    int n_zero;
    double bytes_loaded, bytes_stored, flops; /* per element */
} weft_plan_kernel;

/** A buffer of device memory; intermediates with disjoint lifetimes share one. */
typedef struct weft_plan_buffer {
    int index_set, components; /* components: maximum over the values that share it */
    int first, last;           /* in use from kernel `first` to kernel `last`, inclusive */
} weft_plan_buffer;

typedef struct weft_plan {
    weft_plan_kernel *kernels;
    /* the second: of kind KERNEL_GROUP, which compute nothing themselves */
    int n_kernels, n_groups;
    int *buffer_of; /* [n_values] buffer of an intermediate; -1: bound, returned or on chip */
    weft_plan_buffer *buffers;
    int n_buffers;
    int lanes;
    bool is_simt;         /* weft_limits.execution */
    weft_target target;   /* weft_limits.target */
    weft_scatter scatter; /* the way that additions were to be kept apart */
    /* that of the second plan, for meshes that patches do not fit; AUTO: there is none */
    weft_scatter retreat;
    int reduction_blocks;
    bool predicated; /* SIMT devices: kernels and their zeroing have no effect while *active is 0 */
} weft_plan;

/** Is the kind one of those by patches (vertex, edge, matrix or cell patches)? */
bool weft_kernel_is_patch(weft_kernel_kind kind);
/** Does a kernel write the memory of a value? */
bool weft_kernel_writes(const weft_graph *graph, const weft_plan_kernel *kernel, int value);
/** The list that one of two kernels writes and the other uses, so that they cannot run in any order; -1:
 *  there is none. */
int weft_kernels_conflict(const weft_graph *graph, const weft_plan_kernel *a,
                          const weft_plan_kernel *b);
/** Assign buffers to the intermediates of a plan.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_plan_assign_buffers(weft_arena *arena, const weft_graph *graph, weft_plan *plan,
                                     weft_error *error);
/** Let independent kernels of a plan share launches as the cover of a saved plan says, otherwise
 *  where the prediction gains by it (fusion/plan/horizontal.c): their kernels become members, followed by a KERNEL_GROUP.
 *  plan    kernels in launch order, without buffers
 *  Errors  WEFT_ERROR_TYPE: a `together` block that cannot be one launch; WEFT_ERROR_INPUT: the same
 *          of a saved plan; WEFT_ERROR_MEMORY
 *  Source  Dey 2020, types of kernel fusion */
weft_status weft_plan_group(weft_arena *arena, const weft_graph *graph, const weft_cover *cover,
                            weft_plan *plan, weft_error *error);
/** Check that no kernel stores a list of which it loads other elements, and that no kernels share a
 *  launch that conflict (fusion/plan/check.c).
 *  Errors  WEFT_ERROR_INTERNAL: names the kernels and the list */
weft_status weft_plan_check(const weft_graph *graph, const weft_plan *plan, weft_error *error);
/** Nodes per patch of vertex and edge patches: the option, or WEFT_PATCH_NODES if it is 0. */
int weft_patch_nodes(const weft_compile_options *options);
/** Make the plan of a cover.
 *  graph, cover  borrowed; must outlive the plan
 *  out           allocated in the arena
 *  Errors        WEFT_ERROR_USAGE: options->patch_nodes; WEFT_ERROR_MEMORY */
weft_status weft_plan_make(weft_arena *arena, const weft_graph *graph, const weft_cover *cover,
                           const weft_limits *limits, const weft_compile_options *options,
                           weft_plan **out, weft_error *error);

/** How a kernel adds to its targets: "atomic", "tile-colored", "cell-colored", "gather",
 *  "vertex-patch", "edge-patch" or "cell-patch"; NULL: it accumulates nothing. */
const char *weft_plan_scatter_name(const weft_plan *plan, const weft_plan_kernel *kernel);
/** The number of launches of a run. */
int weft_plan_launches(const weft_plan *plan);
/** "inter-block", "inner-block" or "inner-thread". */
const char *weft_combination_name(weft_combination how);
/** "inter-block, 128 threads per block: 4.7 us predicted, 9.4 in 2 launches" */
void weft_plan_print_group(const weft_plan_kernel *kernel, weft_text *out);
void weft_plan_print_text(const weft_graph *graph, const weft_plan *plan, weft_text *out);
void weft_plan_print_dot(const weft_graph *graph, const weft_plan *plan, weft_text *out);
/** The plan as JSON, format "weft-plan-1"; memory and errors as in fusion/base/json.h.
 *  segment  its number in the compilation; -1: the script is a single segment */
struct json_t *weft_plan_json(const weft_graph *graph, const weft_plan *plan, int segment);
