/** The space of kernels for dense products: stencils, their parameters, and which combinations a
 *  device can run and should try. In: a stencil, a type, limits, guidelines. Out: a verdict for each
 *  point, and counts. Pure functions.
 *  Source  Kurzak, Tomov and Dongarra 2011, section 4 */
#pragma once

#include "gemm/weft_gemm.h"

enum { WEFT_GEMM_PARAMETERS = 12, WEFT_GEMM_VALUES = 8 };

/** A stencil: a kernel source whose macros are parameters. */
typedef struct weft_gemm_stencil {
    const char *name, *file; /* "mma", "mma.cu" */
    int n;
    struct {
        const char *name; /* of the macro */
        int n, values[WEFT_GEMM_VALUES];
    } parameters[WEFT_GEMM_PARAMETERS];
} weft_gemm_stencil;
enum {
    WEFT_GEMM_MMA,
    WEFT_GEMM_FMA,
    WEFT_GEMM_SMALL, /* and those below: compiled for their sizes, or of hosts */
    WEFT_GEMM_DIRECT,
    WEFT_GEMM_BATCH,
    WEFT_GEMM_HOST,
    WEFT_GEMM_STENCILS
};
extern const weft_gemm_stencil weft_gemm_stencils[WEFT_GEMM_STENCILS];

/* Positions of the parameters. */
enum {
    MMA_BM,
    MMA_BN,
    MMA_KB,
    MMA_WM,
    MMA_WN,
    MMA_STAGES,
    MMA_SUB,
    MMA_KI,
    MMA_BUFFERS,
    MMA_MINB,
    MMA_GROUP,
    MMA_SWAP
};
enum {
    FMA_BM,
    FMA_BN,
    FMA_BK,
    FMA_TM,
    FMA_TN,
    FMA_LM,
    FMA_RUN,
    FMA_STAGES,
    FMA_MINB,
    FMA_GROUP,
    FMA_IN_PLACE
};
enum { SMALL_TM, SMALL_TN, SMALL_BLOCK };
enum { DIRECT_M, DIRECT_N, DIRECT_BLOCK, DIRECT_STAGED, DIRECT_MINB };
enum { BATCH_TM, BATCH_TN, BATCH_RUN, BATCH_PRODUCTS, BATCH_SLABS, BATCH_MINB };
enum { HOST_MR, HOST_NR, HOST_KC, HOST_MC, HOST_NC };
enum { WEFT_GEMM_SMALL_MOST = 64 }; /* m, n and k of products of "small", "direct" and "batch" */

/** What is computed: the type and the sizes, which matter to "small", "direct" and "batch" only. */
typedef struct weft_gemm_shape {
    weft_gemm_type type;
    int64_t m, n, k;
} weft_gemm_shape;

/** A point of the space: a value for each parameter of a stencil. */
typedef struct weft_gemm_point {
    int stencil;
    int values[WEFT_GEMM_PARAMETERS];
    int transposed; /* mma, fma: factors that are transposed into memory of their own first: 1 A, 2 B, 3 both */
} weft_gemm_point;

/** What the constraints ask of a device. Registers are of 4 bytes. */
typedef struct weft_gemm_limits {
    int threads_block, warps, blocks; /* per block; resident on a multiprocessor */
    int registers_thread, registers;  /* per thread; of a multiprocessor */
    int shared_block, shared;         /* bytes */
    int shared_reserved;              /* bytes that the system takes of each block */
    int matrix_depth;                 /* as in weft_limits */
    /* of a host: of a register, their number, L1 */
    int vector_bytes, vector_registers, cache_bytes;
} weft_gemm_limits;
/** The limits of a device; of a GPU with those of compute capability 9.0 for what weft_limits does not
 *  tell. */
weft_gemm_limits weft_gemm_limits_of(const weft_limits *limits);

/** Guidelines: which of the possible candidates are worth trying. */
typedef struct weft_gemm_guidelines {
    int warps, blocks; /* resident on a multiprocessor, at least */
    /* mma: multiply-adds per shared element of a warp's tile; fma: multiply-adds per 16 bytes read
     * from shared memory; at least */
    double reuse;
    int bytes_in_flight; /* on their way to a multiprocessor, at least */
} weft_gemm_guidelines;
/** Those of section 7 of the study behind the stencils: S 20, C 32, D 20, Z 32; 8 warps. */
weft_gemm_guidelines weft_gemm_guidelines_of(weft_gemm_type type);

/** Why a point is not tried, in the order of the tests. */
typedef enum weft_gemm_verdict {
    WEFT_GEMM_SURVIVES,
    WEFT_GEMM_INDIVISIBLE,   /* hard: tiles, threads and copies do not divide evenly */
    WEFT_GEMM_NOT_ON_DEVICE, /* threads, shared memory, instructions */
    WEFT_GEMM_REGISTERS,     /* soft: estimated to spill */
    WEFT_GEMM_FEW_WARPS,     /* guidelines */
    WEFT_GEMM_LITTLE_REUSE,
    WEFT_GEMM_LITTLE_AHEAD,
    WEFT_GEMM_VERDICTS
} weft_gemm_verdict;
extern const char *const weft_gemm_verdict_texts[WEFT_GEMM_VERDICTS];

typedef struct weft_gemm_resources {
    int threads, shared_bytes, registers; /* per block; registers: estimated, per thread */
    int products;                         /* per block */
    int warps;                            /* of "direct": per product */
    int resident;                         /* blocks on a multiprocessor */
    double reuse;                         /* as in weft_gemm_guidelines */
} weft_gemm_resources;

/** Judge a point.
 *  guidelines  NULL: only what is possible
 *  resources   may be NULL; set if the tiles divide evenly */
weft_gemm_verdict weft_gemm_judge(const weft_gemm_shape *shape, const weft_gemm_point *point,
                                  const weft_gemm_limits *limits,
                                  const weft_gemm_guidelines *guidelines,
                                  weft_gemm_resources *resources);
/** The first point of a stencil (all lowest values), and the next; false after the last. */
weft_gemm_point weft_gemm_point_first(int stencil);
bool weft_gemm_point_next(weft_gemm_point *point);

/** The tile of 16 down x 8 across entries per warp that suits a small product: little beyond its edges, and
 *  few reads of the factors.
 *  Returns  the number of tiles */
int weft_gemm_tile(int m, int n, int *down, int *across);

/** Count the points of a stencil by verdict.
 *  shapes  number of block and warp (fma: thread) tiles among the survivors */
void weft_gemm_count(const weft_gemm_shape *shape, int stencil, const weft_gemm_limits *limits,
                     const weft_gemm_guidelines *guidelines, int64_t counts[WEFT_GEMM_VERDICTS],
                     int *shapes);

/** Append "mma 128,64,1,64,32,4,2,8,2,2,8,0", with "+A", "+B" or "+AB" for factors that are transposed first, and
 *  read it.
 *  Errors  WEFT_ERROR_INPUT */
void weft_gemm_point_text(const weft_gemm_point *point, weft_text *out);
weft_status weft_gemm_point_read(const char *text, weft_gemm_point *out, weft_error *error);

/* ---- the paper's own space (gemm/fermi.c) --------------------------------------------------- */

/** Guidelines of the paper's Table 1. */
typedef struct weft_gemm_fermi_guidelines {
    int threads, blocks; /* resident on a multiprocessor, at least */
    double reuse;        /* multiply-adds per element read from shared memory, at least */
} weft_gemm_fermi_guidelines;
/** Those of Table 1: 512 threads, 2 blocks, and a reuse of S 3, C 5, D 2, Z 2. */
weft_gemm_fermi_guidelines weft_gemm_fermi_guidelines_of(weft_gemm_type type);
/** The limits of the paper's device. */
extern const weft_gemm_limits weft_gemm_fermi_limits;

typedef struct weft_gemm_fermi_counts {
    int64_t tilings,
        kernels; /* kernels: tilings with each pair of thread grids that load A and B */
} weft_gemm_fermi_counts;
/** Count the kernels of the paper's generator.
 *  ops         op(A), op(B)
 *  guidelines  NULL: only what is possible
 *  Source  Kurzak, Tomov and Dongarra 2011, algorithms 2 and 3. By these the order of the operands does not
 *          change a count, and no CGEMM has a reuse of 5, which the paper's Table 1 asks for */
weft_gemm_fermi_counts weft_gemm_fermi_count(weft_gemm_type type, const weft_gemm_op ops[2],
                                             const weft_gemm_limits *limits,
                                             const weft_gemm_fermi_guidelines *guidelines);
