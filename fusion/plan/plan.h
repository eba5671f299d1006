/** The second half of the compiler's types, in flow order: fusions, implementations, cover, plan,
 *  source. Included by fusion_internal.h, which has the first. */
#ifndef PLAN_INTERNAL_H
#define PLAN_INTERNAL_H

/* ---- fusions (fusions.c): which calls may share a kernel -------------------------------- */

/** Why two calls may not be in one kernel. */
typedef enum weft_split_reason {
    SPLIT_NONE,      /* they may */
    SPLIT_INDEX_SET, /* they range over different index sets */
    SPLIT_BARRIER,   /* an accumulated list lies between them */
    SPLIT_PATH,      /* a path between them leaves the kernel (not convex) */
    SPLIT_NOTHING    /* they could, but share no data: no traffic would be spared */
} weft_split_reason;

typedef struct weft_fusion {
    int *calls; /* ascending */
    int n_calls;
    int index_set;
    int level;    /* global barriers before it: of its latest call */
    bool crosses; /* its calls are of several levels */
} weft_fusion;

/** What the search for subgraphs has seen (fusion_sets.c). */
typedef struct weft_fusion_counts {
    int64_t connected;  /* sets of two calls and more that share data, none of them apart */
    int64_t not_convex; /* of these: a path leaves and comes back */
    int64_t unfit;      /* of these: against the rules of rows calls */
    bool stopped;       /* there were too many */
} weft_fusion_counts;

typedef struct weft_relations weft_relations; /* relations.h */

typedef struct weft_fusions {
    weft_fusion *list; /* candidates: every call alone first, then every convex subgraph that spares
                          traffic, up to max_calls, then the maximal ones of a level beyond that */
    int n, capacity;
    int *level; /* [n_calls] global barriers before each call */
    const weft_relations *relations;
    int max_calls; /* of the subgraphs that were all listed */
    bool shrunk;   /* it had to be less than what was asked for: too many candidates */
    weft_fusion_counts counts;
} weft_fusions;

enum {
    WEFT_FUSION_CALLS = 8,        /* max_calls where nothing is asked for */
    WEFT_FUSION_CANDIDATES = 3000 /* subgraphs, at most */
};

weft_status weft_fusions_make(weft_arena *arena, const weft_graph *graph,
                              const weft_compile_options *options, weft_fusions **out,
                              weft_error *error);
/** fusion_sets.c: call `found` with each connected, convex, fitting set of 2 to max_calls calls.
 * Ends early, counts->stopped, past WEFT_FUSION_CANDIDATES. */
weft_status weft_fusion_sets(const weft_graph *graph, const weft_relations *relations,
                             int max_calls, weft_fusion_counts *counts,
                             weft_status (*found)(void *user, const uint64_t *set), void *user);
/** SPLIT_NONE, or why; *through gets the datum or call in the way, or -1. */
weft_split_reason weft_fusion_split(const weft_graph *graph, const weft_fusions *fusions, int a,
                                    int b, int *through);

/* ---- implementations (implementations.c): how a fusion is done -------------------------- */

typedef enum weft_placement { PLACE_REGISTER, PLACE_SHARED } weft_placement;

/** What the kernel does with a datum besides computing with it. */
typedef struct weft_implementation {
    const weft_fusion *fusion;
    int *order;       /* [fusion->n_calls] calls in the order of their execution */
    int *variants;    /* [fusion->n_calls] variant of order[i] */
    bool order_exact; /* no order needs less on chip */
    int instances_per_block, serial_iterations;
    /* on-chip data: one entry a datum-and-map used in the kernel */
    int n_onchip;
    weft_operand *onchip; /* offset 0, whole */
    int **slots;  /* [n_calls][n_operands + 1] in onchip: of order[i]'s operands and result */
    bool *inside; /* [n_onchip] made by this kernel */
    bool *leaves; /* [n_onchip] needed in memory after it (weft_datum_leaves) */
    weft_placement *placement;
    int onchip_peak; /* components live at once, most */
    /* cuda, calls of several threads an instance (placement.c) */
    int warps;               /* threads of an instance; 0: one, and everything in its registers */
    int shared_components;   /* an instance: less than their sum where elements lie over others */
    int register_components; /* of those in registers, live at once, most */
    int *offsets;            /* [n_onchip] of those in shared memory, in components */
    bool overlaps, allocation_proved; /* they do; and shared_components cannot be less */
    bool *barriers;                   /* [n_calls + 1] before order[i], and before the stores */
    /* traffic per instance, in bytes */
    double bytes_loaded, bytes_stored, flops;
    double transfer_seconds, compute_seconds; /* predicted per instance */
    double equation_seconds; /* transfer by equation 3 alone, without a device's own terms */
    double wait_seconds;     /* of that: waits beside a longer one */
    double seconds;          /* the larger of the two, with what both wait for */
    double cost;        /* of all instances (weft_compile_options.instances), launches among them */
    bool measured;      /* the cost source knew all of its routines */
    const char *reason; /* why it was pruned; NULL: kept */
} weft_implementation;

typedef struct weft_implementations {
    weft_implementation *list; /* in the order of their fusions, the best of a fusion first */
    int n, capacity;
    /* of those looked at; and choices of variants that were too many to look at */
    int64_t considered, too_large, too_many_threads, dominated, slower, not_wished, untried;
} weft_implementations;

enum { WEFT_IMPLEMENTATIONS_KEPT = 16 /* of a fusion */ };

weft_status weft_implementations_make(weft_arena *arena, const weft_graph *graph,
                                      const weft_fusions *fusions, const weft_limits *limits,
                                      const weft_compile_options *options,
                                      weft_implementations **out, weft_error *error);

/* ---- cover (cover.c) and plan (plan.c) -------------------------------------------------- */

/** Implementations that cover every call once, in an order of execution. */
typedef struct weft_cover {
    const weft_implementation **list;
    int n;
    double seconds; /* predicted, of a run: the sum of their costs */
    bool proved;    /* no cover costs less (of those after it in a list of the best: no other) */
} weft_cover;

/** The cover of least predicted cost; for WEFT_PLAN_UNFUSED of single calls. */
weft_status weft_cover_make(weft_arena *arena, const weft_graph *graph, const weft_fusions *fusions,
                            const weft_implementations *implementations, weft_plan_kind kind,
                            weft_cover **out, weft_error *error);
/** The `most` best distinct ones, best first: two differ in an implementation at least. *n: how
 * many there are. They are found one after the other, what was found being forbidden by a no-good
 * cut. */
weft_status weft_covers_make(weft_arena *arena, const weft_graph *graph,
                             const weft_fusions *fusions,
                             const weft_implementations *implementations, weft_plan_kind kind,
                             int most, weft_cover ***out, int *n, weft_error *error);

/** The same one by one: each costs a solution of the partition, so that who stops early has not
 *  paid for the rest. all: every implementation of a fusion may be in one, not the best alone. The
 *  arena, and what was passed, outlive it; the covers are the arena's. */
typedef struct weft_covers weft_covers;
weft_status weft_covers_begin(weft_arena *arena, const weft_graph *graph,
                              const weft_fusions *fusions,
                              const weft_implementations *implementations, weft_plan_kind kind,
                              bool all, weft_covers **out, weft_error *error);
/** The next best; *out NULL: there is none left. */
weft_status weft_covers_next(weft_covers *covers, weft_cover **out, weft_error *error);
void weft_covers_end(weft_covers **covers);

/** Blocks of lanes whose contributions a reduction joins into one partial result. With the lanes it
 *  fixes the tree of a sum: partial results are the same whatever the threads, and are joined
 *  pairwise. On cuda it is a thread block. */
#define WEFT_REDUCTION_BLOCKS 256
#define WEFT_CUDA_LANES 32      /* a warp */
#define WEFT_CUDA_THREADS 128   /* a thread block */
#define WEFT_CUDA_RESERVED 1024 /* bytes of shared memory that each block takes beside its own */
#define WEFT_CUDA_WARPS_MAX 32
#define WEFT_CUDA_CHUNK 512   /* instances whose contributions are one partial result */
#define WEFT_STAR_NODES 512   /* of a patch (star_internal.h) */
#define WEFT_STAR_THREADS 128 /* each walks weft_star_turns stars */
#define WEFT_EDGE_STAR_THREADS 256
#define WEFT_STAR_MATRIX_THREADS 512

/** Argument of a kernel. */
typedef enum weft_argument_kind {
    ARGUMENT_DATUM,       /* buffer of a datum */
    ARGUMENT_MAP,         /* interleaved connectivity */
    ARGUMENT_POSITIONS,   /* positions of a matrix accumulation */
    ARGUMENT_PARTIALS,    /* a reduction's partial results, one a chunk: index is its datum */
    ARGUMENT_STAR,        /* the stars of a map: part is a place in weft_star_arguments */
    ARGUMENT_ROWS,        /* argument `part` of the routine of operator `index` */
    ARGUMENT_TWIN,        /* where the next value of a datum goes that other blocks still read */
    ARGUMENT_STAR_MATRIX, /* the rows of a matrix (index): part is a place in
                             weft_star_matrix_arguments */
    ARGUMENT_COLOUR,      /* the instances of one colour of a map: index is the map */
    ARGUMENT_GATHER /* transposed connectivity: start[n_to + 1] (part 0) and positions (part 1) */
} weft_argument_kind;

typedef struct weft_argument {
    weft_argument_kind kind;
    int index; /* datum or map; ARGUMENT_GATHER: map */
    int part;  /* ARGUMENT_GATHER: 0 start, 1 positions; ARGUMENT_STAR, ARGUMENT_ROWS: which */
} weft_argument;

typedef struct weft_plan_kernel {
    const char *name;
    const weft_implementation *implementation; /* NULL: a gather */
    int index_set;
    weft_operand *loads; /* loaded at the start: whole data, direct or through a map */
    int n_loads;
    int *stores; /* data stored */
    int n_stores;
    int *scatters; /* accumulations done by coloured stores */
    int n_scatters;
    int gather;        /* accumulation that this kernel gathers, or -1 */
    int rows;          /* call whose whole rows this kernel makes first, or -1 */
    int folded;        /* call that the routine computes at every row it reads, or -1 */
    bool stars;        /* its one accumulation is done by the owner, star by star */
    bool edges;        /* stars of edges, not of vertices */
    int star_nodes;    /* of a patch of stars */
    bool cell_colours; /* its accumulations are plain additions: a launch a colour of instances */
    bool adds;         /* a gather, or stars, that add to what is there, else they write */
    weft_argument *arguments;
    int n_arguments;
    int *reductions; /* calls whose partial results this kernel makes */
    int n_reductions;
    bool finishes; /* it joins the partial results of these reductions, made by the kernel before */
    int *zero;     /* data zeroed before the launch */
    int n_zero;
    double bytes_loaded, bytes_stored, flops;
} weft_plan_kernel;

/** A buffer of device memory; intermediates with disjoint lifetimes share one. */
typedef struct weft_plan_buffer {
    int index_set, components; /* components: the most of those that share it */
    int first, last;           /* kernels in whose span it is in use */
} weft_plan_buffer;

typedef struct weft_plan {
    weft_plan_kernel *kernels;
    int n_kernels;
    int *buffer_of; /* [n_data] buffer of an intermediate stored in memory, or -1 (bound, returned
                       or on chip) */
    weft_plan_buffer *buffers;
    int n_buffers;
    int lanes;
    int reduction_blocks;
    bool guarded; /* in a loop, on a device with threads, or as the options ask: kernels, and what
                     zeroes for them, do nothing where *go is 0 */
} weft_plan;

/** Of a patch of stars of a vector. */
int weft_star_nodes(const weft_compile_options *options);
weft_status weft_plan_make(weft_arena *arena, const weft_graph *graph, const weft_cover *cover,
                           const weft_limits *limits, const weft_compile_options *options,
                           weft_plan **out, weft_error *error);

/* ---- source (source.c) ------------------------------------------------------------------ */

weft_status weft_source_make(weft_arena *arena, const weft_graph *graph, const weft_plan *plan,
                             const weft_limits *limits, const weft_compile_options *options,
                             const char **out, weft_error *error);

#endif
