/* The parameters of the stencils, and the constraints on them. */
#include "gemm/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const weft_gemm_stencil weft_gemm_stencils[WEFT_GEMM_STENCILS] = {
    {"mma",
     "mma.cu",
     12,
     {{"BM", 7, {32, 48, 64, 96, 128, 192, 256}},
      {"BN", 7, {32, 48, 64, 96, 128, 192, 256}},
      {"KB", 3, {1, 2, 4}}, /* rows of 128 bytes of a stage */
      {"WM", 4, {16, 32, 48, 64}},
      {"WN", 4, {16, 32, 48, 64}},
      {"STAGES", 5, {2, 3, 4, 5, 6}},
      {"SUB", 3, {1, 2, 4}}, /* k of a thread in a step */
      {"KI", 3, {4, 8, 16}}, /* k of the instruction; 0: in halves of 8 rows */
      {"BUFFERS", 3, {0, 1, 2}},
      {"MINB", 1, {1}},  /* set from the resources */
      {"GROUP", 1, {8}}, /* orthogonal to the others: tuned last */
      {"SWAP", 1, {0}}}},
    {"fma",
     "fma.cu",
     11,
     {{"BM", 6, {32, 64, 96, 128, 192, 256}},
      {"BN", 6, {32, 64, 96, 128, 192, 256}},
      {"BK", 3, {8, 16, 32}},
      {"TM", 5, {4, 6, 8, 12, 16}},
      {"TN", 5, {4, 6, 8, 12, 16}},
      {"LM", 2, {4, 8}},
      {"RUN", 3, {1, 2, 4}}, /* neighbouring lanes along a column */
      {"STAGES", 4, {2, 3, 4, 5}},
      {"MINB", 1, {1}},
      {"GROUP", 1, {8}},
      {"IN_PLACE", 1, {0}}}},
    {"small",
     "small.cu",
     3,
     {{"TM", 6, {1, 2, 3, 4, 6, 8}}, {"TN", 6, {1, 2, 3, 4, 6, 8}}, {"BLOCK", 3, {64, 128, 256}}}},
    {"direct",
     "direct.cu",
     5,
     {{"TILE_M", 4, {1, 2, 3, 4}},
      {"TILE_N", 6, {1, 2, 3, 4, 6, 8}},
      {"BLOCK", 3, {64, 128, 256}},
      {"STAGED", 4, {0, 1, 2, 4}}, /* slabs along k in shared memory; 0: not there */
      {"MINB", 1, {1}}}},
    {"batch",
     "batch.cu",
     6,
     {{"TM", 7, {3, 4, 6, 7, 8, 12, 16}},
      {"TN", 6, {3, 4, 6, 7, 8, 12}},
      {"RUN", 3, {1, 2, 4}}, /* neighbouring threads along a column */
      {"PRODUCTS", 4, {1, 2, 4, 8}},
      {"SLABS", 3, {1, 2, 4}}, /* parts along k */
      {"MINB", 1, {1}}}},
    {"host",
     "host.c",
     5,
     {{"MR", 8, {2, 4, 8, 12, 16, 24, 32, 48}},
      {"NR", 7, {2, 3, 4, 5, 6, 8, 12}},
      {"KC", 4, {128, 192, 256, 384}},
      {"MC", 4, {96, 144, 192, 288}},
      {"NC", 1, {4080}}}}};

const char *const weft_gemm_verdict_texts[WEFT_GEMM_VERDICTS] = {
    "survive",
    "tiles do not divide evenly",
    "threads, shared memory or instructions exceed the device",
    "registers are too few",
    "too few warps or blocks",
    "too little reuse",
    "too few bytes in flight"};

static int least(int a, int b) {
    return a < b ? a : b;
}

static bool is_complex(weft_gemm_type type) {
    return type == WEFT_GEMM_SINGLE_COMPLEX || type == WEFT_GEMM_DOUBLE_COMPLEX;
}

static int element_bytes(weft_gemm_type type) {
    static const int bytes[WEFT_GEMM_TYPES] = {4, 8, 8, 16};
    return bytes[type];
}

weft_gemm_limits weft_gemm_limits_of(const weft_limits *limits) {
    const int vector = limits->lanes_double * (int)sizeof(double);
    if (limits->execution == WEFT_EXECUTION_SIMD)
        return (weft_gemm_limits){.vector_bytes = vector,
                                  .vector_registers =
                                      (int)(limits->register_bytes / (size_t)vector),
                                  .cache_bytes = (int)limits->onchip_bytes};
    return (weft_gemm_limits){.threads_block = 1024,
                              .warps = 64,
                              .blocks = 32,
                              .registers_thread = 255,
                              .registers = (int)(limits->register_bytes / 4),
                              .shared_block = (int)limits->onchip_bytes,
                              .shared = (int)limits->onchip_bytes,
                              .shared_reserved = 1024,
                              .matrix_depth = limits->matrix_depth};
}

weft_gemm_guidelines weft_gemm_guidelines_of(weft_gemm_type type) {
    static const double reuse[WEFT_GEMM_TYPES] = {20, 20, 32, 32};
    const bool doubles = type == WEFT_GEMM_DOUBLE || type == WEFT_GEMM_DOUBLE_COMPLEX;
    return (weft_gemm_guidelines){
        .warps = 8, .reuse = reuse[type], .bytes_in_flight = doubles ? 40 * 1024 : 0};
}

/* ---- mma: kernels/gemm/mma.cu --------------------------------------------------------------- */

enum { MMA_OWN_REGISTERS = 31, MMA_COMPLEX_REGISTERS = 8, FMA_OWN_REGISTERS = 28 };

static bool mma_divides(bool complex, const int *v, int *threads) {
    const int thread_k = (complex ? 8 : 16) / 4, slots = v[MMA_KI] < 4 ? 1 : v[MMA_KI] / 4;
    if (v[MMA_BM] % v[MMA_WM] != 0 || v[MMA_BN] % v[MMA_WN] != 0)
        return false;
    *threads = v[MMA_BM] / v[MMA_WM] * (v[MMA_BN] / v[MMA_WN]) * 32;
    if (v[MMA_SUB] > thread_k || slots > v[MMA_SUB] || (!complex && v[MMA_SUB] < 2))
        return false;
    if (v[MMA_BUFFERS] > 0 && v[MMA_KB] * thread_k / v[MMA_SUB] % 2 != 0)
        return false;
    return v[MMA_BM] * v[MMA_KB] * 8 % *threads == 0 && v[MMA_BN] * v[MMA_KB] * 8 % *threads == 0;
}

static int mma_registers(bool complex, const int *v) {
    const int parts = complex ? 2 : 1;
    const int sum = parts * v[MMA_WM] * v[MMA_WN] / 32 * 2;
    const int a = parts * v[MMA_WM] / 16 * 2 * v[MMA_SUB] * 2;
    const int b = parts * v[MMA_WN] / 16 * 2 * v[MMA_SUB] * 2;
    const int fragments = v[MMA_BUFFERS] == 0   ? a + b
                          : v[MMA_BUFFERS] == 1 ? 2 * (a + b)
                                                : a + 2 * b;
    return sum + fragments + MMA_OWN_REGISTERS + (complex ? MMA_COMPLEX_REGISTERS : 0);
}

static double mma_reuse(bool complex, const int *v) {
    return (complex ? 2.0 : 1.0) * v[MMA_WM] * v[MMA_WN] / (v[MMA_WM] + v[MMA_WN]);
}

/* ---- fma: kernels/gemm/fma.cu --------------------------------------------------------------- */

static bool fma_divides(weft_gemm_type type, const int *v, int *threads) {
    const int chunk = 16 / element_bytes(type), ln = 32 / v[FMA_LM];
    if (v[FMA_TM] % chunk != 0 || v[FMA_TN] % chunk != 0 ||
        v[FMA_BM] % (v[FMA_LM] * v[FMA_TM]) != 0 || v[FMA_BN] % (ln * v[FMA_TN]) != 0)
        return false;
    if (v[FMA_LM] * v[FMA_TM] / chunk % 8 != 0 || ln * v[FMA_TN] / chunk % 8 != 0)
        return false;
    *threads = v[FMA_BM] / v[FMA_TM] * (v[FMA_BN] / v[FMA_TN]);
    if (v[FMA_IN_PLACE] && (v[FMA_STAGES] < 3 || v[FMA_TN] % 4 != 0 || v[FMA_TM] % 4 != 0 ||
                            v[FMA_BK] / chunk % 2 != 0))
        return false;
    return v[FMA_BM] * v[FMA_BK] / chunk % *threads == 0 &&
           v[FMA_BN] * v[FMA_BK] / chunk % *threads == 0;
}

static int fma_registers(weft_gemm_type type, const int *v, int threads) {
    const int parts = is_complex(type) ? 2 : 1;
    const int words = element_bytes(type) / parts / 4; /* of a real number */
    if (v[FMA_IN_PLACE])
        return parts * words * (v[FMA_TM] * v[FMA_TN]) + 8 * least(v[FMA_TM], v[FMA_TN]) + 12 +
               FMA_OWN_REGISTERS;
    const int held = (v[FMA_BM] + v[FMA_BN]) * v[FMA_BK] * element_bytes(type) / 4 / threads;
    return parts * words * (v[FMA_TM] * v[FMA_TN] + 2 * (v[FMA_TM] + v[FMA_TN])) + held +
           FMA_OWN_REGISTERS;
}

static double fma_reuse(weft_gemm_type type, const int *v) {
    const double reads = (v[FMA_TM] + v[FMA_TN]) * element_bytes(type) / 16.0;
    return v[FMA_TM] * v[FMA_TN] * (is_complex(type) ? 4 : 1) / reads;
}

/* ---- small: kernels/gemm/small.cu ----------------------------------------------------------- */

enum { SMALL_OWN_REGISTERS = 24, SMALL_SHARED = 100 * 1024 };

static int odd(int64_t n) {
    return (int)n | 1;
}

static weft_gemm_verdict small_judge(const weft_gemm_shape *shape, const int *v,
                                     const weft_gemm_limits *limits, weft_gemm_resources *r) {
    enum { FEWEST = 4 };
    const int m = (int)shape->m, n = (int)shape->n, k = (int)shape->k, tm = v[SMALL_TM],
              tn = v[SMALL_TN];
    const int64_t most = WEFT_GEMM_SMALL_MOST;
    const int words = element_bytes(shape->type) / 4;
    if (shape->m > most || shape->n > most || shape->k > most || m < 1 || n < 1 || k < 1 ||
        (tm > 1 && tm > m) || (tn > 1 && tn > n))
        return WEFT_GEMM_INDIVISIBLE;
    const int per = (m + tm - 1) / tm * ((n + tn - 1) / tn);
    /* either order of an operand: the larger of both odd pitches */
    const int a = odd(m) * k > odd(k) * m ? odd(m) * k : odd(k) * m;
    const int b = odd(n) * k > odd(k) * n ? odd(n) * k : odd(k) * n;
    const int size = a + b > odd(m) * n ? a + b : odd(m) * n;
    r->products = v[SMALL_BLOCK] / per > 0 ? v[SMALL_BLOCK] / per : 1;
    r->threads = (r->products * per + 31) / 32 * 32;
    r->shared_bytes = r->products * size * element_bytes(shape->type);
    r->registers = words * (tm * tn + tm + tn) + tm + tn + SMALL_OWN_REGISTERS;
    r->reuse = (double)tm * tn / (tm + tn);
    if (r->threads > limits->threads_block || r->shared_bytes > limits->shared_block)
        return WEFT_GEMM_NOT_ON_DEVICE;
    if (r->registers > limits->registers_thread)
        return WEFT_GEMM_REGISTERS;
    r->resident = least(limits->shared / (r->shared_bytes + limits->shared_reserved),
                        limits->registers / (r->registers * r->threads));
    r->resident = least(least(r->resident, limits->warps / (r->threads / 32)), limits->blocks);
    if (r->resident < 1)
        return WEFT_GEMM_REGISTERS;
    return r->resident * r->threads / 32 < FEWEST ? WEFT_GEMM_FEW_WARPS : WEFT_GEMM_SURVIVES;
}

/* ---- direct: kernels/gemm/direct.cu --------------------------------------------------------- */

enum { DIRECT_OWN_REGISTERS = 32, TILE_BLOCKS = 16 /* of 16 x 8 entries */ };

int weft_gemm_tile(int m, int n, int *down, int *across) {
    enum { MOST_DOWN = 4, MOST_ACROSS = 8 };
    double least_work = 0;
    int best = 0;
    for (int x = 1; x <= MOST_DOWN; ++x)
        for (int y = 1; y <= MOST_ACROSS && x * y <= TILE_BLOCKS; ++y) {
            const int tiles = (m + 16 * x - 1) / (16 * x) * ((n + 8 * y - 1) / (8 * y));
            /* instructions, and reads, of which several are as dear as one */
            const double work = tiles * (x * y + 0.5 * (2 * x + y));
            if (best > 0 && work >= least_work)
                continue;
            least_work = work;
            best = tiles;
            *down = x;
            *across = y;
        }
    return best;
}

static int larger(int a, int b) {
    return a > b ? a : b;
}

/* Entries from one column to the next in shared memory, as in direct.cu. */
static int pitch(weft_gemm_type type, int64_t rows, bool along) {
    const int r = (int)rows;
    return !is_complex(type)                           ? ((r + 3) / 4 | 1) * 4
           : type == WEFT_GEMM_DOUBLE_COMPLEX && along ? (r + 3) / 8 * 8 + 4
                                                       : (r + 1) / 4 * 4 + 2;
}
/* Entries of an operand in shared memory, in either order. */
static int staged_entries(weft_gemm_type type, int64_t rows, int64_t k) {
    return larger(pitch(type, rows, false) * (int)k, pitch(type, k, true) * (int)rows);
}

static weft_gemm_verdict direct_judge(const weft_gemm_shape *shape, const int *v,
                                      const weft_gemm_limits *limits, weft_gemm_resources *r) {
    const int64_t most = WEFT_GEMM_SMALL_MOST;
    const int64_t m = shape->m, n = shape->n, rows = 16 * v[DIRECT_M], columns = 8 * v[DIRECT_N];
    const int words = element_bytes(shape->type) / 4;
    if (m > most || n > most || shape->k > most || m < 1 || n < 1 || shape->k < 1 ||
        rows >= m + 16 || columns >= n + 8)
        return WEFT_GEMM_INDIVISIBLE;
    const int tiles = (int)((m + rows - 1) / rows * ((n + columns - 1) / columns));
    const int warps = v[DIRECT_BLOCK] / 32;
    const int quads = ((int)shape->k + 3) / 4, slabs = v[DIRECT_STAGED];
    if (slabs > 1 && (slabs - 1) * ((quads + slabs - 1) / slabs) >= quads)
        return WEFT_GEMM_INDIVISIBLE; /* an empty one */
    if (v[DIRECT_MINB] < 1)
        return WEFT_GEMM_INDIVISIBLE;
    if (warps % tiles != 0 && (v[DIRECT_STAGED] || tiles % warps != 0))
        return WEFT_GEMM_INDIVISIBLE;
    r->threads = v[DIRECT_BLOCK];
    r->warps = tiles;
    if (v[DIRECT_STAGED]) /* either order of an operand */
        r->shared_bytes =
            warps / tiles * element_bytes(shape->type) *
            (staged_entries(shape->type, m, shape->k) + staged_entries(shape->type, n, shape->k));
    if (r->shared_bytes > limits->shared_block)
        return WEFT_GEMM_NOT_ON_DEVICE;
    /* of a tile, and of factors on the way to it */
    const int steps = is_complex(shape->type) ? 2 : 4;
    r->registers =
        words * (4 * v[DIRECT_M] * v[DIRECT_N] + steps * (2 * v[DIRECT_M] + v[DIRECT_N])) +
        DIRECT_OWN_REGISTERS;
    r->reuse = (double)rows * (double)columns / (double)(rows + columns);
    if (r->registers > limits->registers_thread)
        return WEFT_GEMM_REGISTERS;
    r->resident =
        least(limits->registers / (r->registers * r->threads), limits->warps / (r->threads / 32));
    r->resident = least(r->resident, limits->shared / (r->shared_bytes + limits->shared_reserved));
    return WEFT_GEMM_SURVIVES;
}

/* ---- batch: kernels/gemm/batch.cu ------------------------------------------------------------ */

enum { BATCH_OWN_REGISTERS = 32 };

/* The largest power of two, at most the entries of 16 bytes, that divides both. */
static int common(int chunk, int64_t x, int64_t y) {
    while (x % chunk != 0 || y % chunk != 0)
        chunk /= 2;
    return chunk;
}

/* Entries of an operand of a product in shared memory, as in batch.cu, in either order. */
static int batch_entries(int chunk, int64_t size, int64_t k) {
    const int wide = common(chunk, k, k), line = (int)k;
    const int along = (line / wide % 2 == 0 ? line + wide : line) * (int)size;
    return (larger(along, (int)(size * k)) + chunk - 1) / chunk * chunk;
}

static weft_gemm_verdict batch_judge(const weft_gemm_shape *shape, const int *v,
                                     const weft_gemm_limits *limits, weft_gemm_resources *r) {
    enum { FEWEST = 4 };
    const int64_t most = WEFT_GEMM_SMALL_MOST;
    const int m = (int)shape->m, n = (int)shape->n, k = (int)shape->k;
    const int tm = v[BATCH_TM], tn = v[BATCH_TN], slabs = v[BATCH_SLABS];
    const int bytes = element_bytes(shape->type), chunk = 16 / bytes;
    const int parts = is_complex(shape->type) ? 2 : 1, words = bytes / parts / 4;
    if (shape->m > most || shape->n > most || shape->k > most || m < 1 || n < 1 || k < 1 ||
        tm < 1 || tn < 1 || tm > m || tn > n || v[BATCH_RUN] < 1 || v[BATCH_PRODUCTS] < 1 ||
        slabs < 1 || v[BATCH_MINB] < 1)
        return WEFT_GEMM_INDIVISIBLE;
    const int ti = (m + tm - 1) / tm, tj = (n + tn - 1) / tn, step = common(chunk, k, k);
    const int depth = (k / step + slabs - 1) / slabs * step;
    if (ti % v[BATCH_RUN] != 0 || (slabs - 1) * depth >= k)
        return WEFT_GEMM_INDIVISIBLE;
    r->products = v[BATCH_PRODUCTS];
    r->threads = (r->products * ti * tj + 31) / 32 * 32;
    r->shared_bytes =
        r->products * bytes * (batch_entries(chunk, m, k) + batch_entries(chunk, n, k));
    r->registers =
        parts * words * (tm * tn + step * tm) + chunk * parts * words + BATCH_OWN_REGISTERS;
    r->reuse = fma_reuse(shape->type, (const int[]){[FMA_TM] = tm, [FMA_TN] = tn});
    if (r->threads > limits->threads_block || r->shared_bytes > limits->shared_block)
        return WEFT_GEMM_NOT_ON_DEVICE;
    if (r->registers > limits->registers_thread)
        return WEFT_GEMM_REGISTERS;
    r->resident = least(limits->shared / (r->shared_bytes + limits->shared_reserved),
                        limits->registers / ((r->registers + 7) / 8 * 8 * r->threads));
    r->resident = least(least(r->resident, limits->warps / (r->threads / 32)), limits->blocks);
    if (r->resident < v[BATCH_MINB])
        return WEFT_GEMM_REGISTERS;
    return r->resident * r->threads / 32 < FEWEST ? WEFT_GEMM_FEW_WARPS : WEFT_GEMM_SURVIVES;
}

/* ---- host: kernels/gemm/host.c -------------------------------------------------------------- */

/* Source  Low, Igual, Smith and Quintana-Orti 2016: the micro-tiles of A and B in half of the L1 cache,
 * MC x KC of A in half of an L2 cache of at least 512 KB */
static weft_gemm_verdict host_judge(weft_gemm_type type, const int *v,
                                    const weft_gemm_limits *limits,
                                    const weft_gemm_guidelines *guidelines,
                                    weft_gemm_resources *r) {
    enum { HALF_L2 = 448 * 1024 };
    const int parts = is_complex(type) ? 2 : 1, bytes = element_bytes(type);
    const int lanes = limits->vector_bytes / (bytes / parts);
    if (lanes < 1)
        return WEFT_GEMM_NOT_ON_DEVICE;
    if (v[HOST_MR] % lanes != 0 || v[HOST_MC] % v[HOST_MR] != 0)
        return WEFT_GEMM_INDIVISIBLE;
    const int rows = v[HOST_MR] / lanes;
    r->registers = parts * (rows * v[HOST_NR] + rows) + parts;
    r->reuse = (double)v[HOST_MR] * v[HOST_NR] / (v[HOST_MR] + v[HOST_NR]);
    if (r->registers > limits->vector_registers)
        return WEFT_GEMM_REGISTERS;
    if (!guidelines)
        return WEFT_GEMM_SURVIVES;
    /* two multiply-adds per cycle, each of four to five cycles */
    if (parts * rows * v[HOST_NR] < 8)
        return WEFT_GEMM_LITTLE_REUSE;
    if (v[HOST_KC] * (v[HOST_NR] * bytes) > limits->cache_bytes / 2 ||
        v[HOST_MC] * v[HOST_KC] * bytes > HALF_L2)
        return WEFT_GEMM_LITTLE_AHEAD;
    return WEFT_GEMM_SURVIVES;
}

/* ---- verdicts ------------------------------------------------------------------------------- */

static weft_gemm_verdict judge_guided(const weft_gemm_guidelines *guidelines,
                                      const weft_gemm_resources *r, int stages) {
    if (r->resident * r->threads / 32 < guidelines->warps || r->resident < guidelines->blocks)
        return WEFT_GEMM_FEW_WARPS;
    if (r->reuse < guidelines->reuse)
        return WEFT_GEMM_LITTLE_REUSE;
    if (r->shared_bytes / stages * (stages - 1) * r->resident < guidelines->bytes_in_flight)
        return WEFT_GEMM_LITTLE_AHEAD;
    return WEFT_GEMM_SURVIVES;
}

weft_gemm_verdict weft_gemm_judge(const weft_gemm_shape *shape, const weft_gemm_point *point,
                                  const weft_gemm_limits *limits,
                                  const weft_gemm_guidelines *guidelines,
                                  weft_gemm_resources *resources) {
    enum { STEP = 8, FEWEST = 64, MANY_STAGES = 4 };
    const int *v = point->values;
    const weft_gemm_type type = shape->type;
    const bool mma = point->stencil == WEFT_GEMM_MMA;
    weft_gemm_resources r = {.products = 1};
    if (point->stencil == WEFT_GEMM_HOST || limits->vector_bytes > 0) {
        const weft_gemm_verdict verdict = point->stencil != WEFT_GEMM_HOST
                                              ? WEFT_GEMM_NOT_ON_DEVICE
                                              : host_judge(type, v, limits, guidelines, &r);
        if (resources)
            *resources = r;
        return verdict;
    }
    if (point->stencil >= WEFT_GEMM_SMALL) {
        const weft_gemm_verdict verdict =
            point->stencil == WEFT_GEMM_DIRECT  ? direct_judge(shape, v, limits, &r)
            : point->stencil == WEFT_GEMM_BATCH ? batch_judge(shape, v, limits, &r)
                                                : small_judge(shape, v, limits, &r);
        if (resources)
            *resources = r;
        return verdict;
    }
    const int stages = v[mma ? MMA_STAGES : FMA_STAGES];
    if (!(mma ? mma_divides(is_complex(type), v, &r.threads) : fma_divides(type, v, &r.threads)))
        return WEFT_GEMM_INDIVISIBLE;
    r.shared_bytes = mma ? (v[MMA_BM] + v[MMA_BN]) * v[MMA_KB] * 128 * stages
                         : (v[FMA_BM] + v[FMA_BN]) * v[FMA_BK] * element_bytes(type) * stages;
    r.registers = mma ? mma_registers(is_complex(type), v) : fma_registers(type, v, r.threads);
    r.reuse = mma ? mma_reuse(is_complex(type), v) : fma_reuse(type, v);
    const int given = (r.registers + STEP - 1) / STEP * STEP;
    r.resident = least(limits->shared / (r.shared_bytes + limits->shared_reserved),
                       limits->registers / (given * r.threads));
    r.resident = least(least(r.resident, limits->warps / (r.threads / 32)), limits->blocks);
    if (resources)
        *resources = r;
    if (r.threads > limits->threads_block || r.threads < FEWEST ||
        r.shared_bytes > limits->shared_block || (mma && v[MMA_KI] > limits->matrix_depth))
        return WEFT_GEMM_NOT_ON_DEVICE;
    if (r.registers > limits->registers_thread || (r.resident < 1 && !guidelines))
        return WEFT_GEMM_REGISTERS;
    if (!guidelines)
        return WEFT_GEMM_SURVIVES;
    if (mma && stages > MANY_STAGES && v[MMA_KB] > 1)
        return WEFT_GEMM_LITTLE_AHEAD;
    return judge_guided(guidelines, &r, stages);
}

weft_gemm_point weft_gemm_point_first(int stencil) {
    weft_gemm_point point = {.stencil = stencil};
    for (int i = 0; i < weft_gemm_stencils[stencil].n; ++i)
        point.values[i] = weft_gemm_stencils[stencil].parameters[i].values[0];
    return point;
}

bool weft_gemm_point_next(weft_gemm_point *point) {
    const weft_gemm_stencil *stencil = &weft_gemm_stencils[point->stencil];
    for (int i = stencil->n; i-- > 0;) {
        const int *values = stencil->parameters[i].values;
        for (int k = 0; k + 1 < stencil->parameters[i].n; ++k)
            if (values[k] == point->values[i]) {
                point->values[i] = values[k + 1];
                return true;
            }
        point->values[i] = values[0];
    }
    return false;
}

/* The parameters that make a shape: tiles of block and warp or thread. */
static bool same_shape(const weft_gemm_point *a, const weft_gemm_point *b) {
    static const int parts[WEFT_GEMM_STENCILS][5] = {
        {MMA_BM, MMA_BN, MMA_WM, MMA_WN, MMA_WN},
        {FMA_BM, FMA_BN, FMA_TM, FMA_TN, FMA_LM},
        {SMALL_TM, SMALL_TN, SMALL_TM, SMALL_TM, SMALL_TM},
        {DIRECT_M, DIRECT_N, DIRECT_M, DIRECT_M, DIRECT_M},
        {BATCH_TM, BATCH_TN, BATCH_TM, BATCH_TM, BATCH_TM},
        {HOST_MR, HOST_NR, HOST_MR, HOST_MR, HOST_MR}};
    for (int i = 0; i < 5; ++i)
        if (a->values[parts[a->stencil][i]] != b->values[parts[a->stencil][i]])
            return false;
    return true;
}

void weft_gemm_count(const weft_gemm_shape *shape, int stencil, const weft_gemm_limits *limits,
                     const weft_gemm_guidelines *guidelines, int64_t counts[WEFT_GEMM_VERDICTS],
                     int *shapes) {
    enum { MOST_SHAPES = 1024 };
    weft_gemm_point found[MOST_SHAPES], point = weft_gemm_point_first(stencil);
    *shapes = 0;
    memset(counts, 0, WEFT_GEMM_VERDICTS * sizeof *counts);
    do {
        const weft_gemm_verdict verdict = weft_gemm_judge(shape, &point, limits, guidelines, NULL);
        int i = 0;
        ++counts[verdict];
        if (verdict != WEFT_GEMM_SURVIVES)
            continue;
        while (i < *shapes && !same_shape(&found[i], &point))
            ++i;
        if (i == *shapes && i < MOST_SHAPES)
            found[(*shapes)++] = point;
    } while (weft_gemm_point_next(&point));
}

static const char *const transposed_texts[] = {"", "+A", "+B", "+AB"};

void weft_gemm_point_text(const weft_gemm_point *point, weft_text *out) {
    const weft_gemm_stencil *stencil = &weft_gemm_stencils[point->stencil];
    weft_text_add(out, "%s", stencil->name);
    for (int i = 0; i < stencil->n; ++i)
        weft_text_add(out, "%c%d", i == 0 ? ' ' : ',', point->values[i]);
    weft_text_add(out, "%s", transposed_texts[point->transposed]);
}

weft_status weft_gemm_point_read(const char *text, weft_gemm_point *out, weft_error *error) {
    for (int s = 0; s < WEFT_GEMM_STENCILS; ++s) {
        const weft_gemm_stencil *stencil = &weft_gemm_stencils[s];
        const size_t length = strlen(stencil->name);
        weft_gemm_point point = {.stencil = s};
        if (strncmp(text, stencil->name, length) != 0 || text[length] != ' ')
            continue;
        const char *at = text + length;
        int n = 0;
        for (; n < stencil->n && *at == (n == 0 ? ' ' : ','); ++n) {
            char *end = NULL;
            const long value = strtol(at + 1, &end, 10);
            if (end == at + 1 || value < 0 || value > 4096)
                break;
            point.values[n] = (int)value;
            at = end;
        }
        while (point.transposed < 3 && strcmp(at, transposed_texts[point.transposed]) != 0)
            ++point.transposed;
        if (n == stencil->n && strcmp(at, transposed_texts[point.transposed]) == 0 &&
            (point.transposed == 0 || s < WEFT_GEMM_SMALL)) {
            *out = point;
            return WEFT_OK;
        }
    }
    weft_error_set(error, WEFT_ERROR_INPUT, "'%.100s' is not a point of a stencil", text);
    weft_error_hint(error, "write its name and its values, such as mma "
                           "128,64,1,64,32,4,2,8,2,2,8,0 or fma 128,128,16,8,8,8,2,3,2,8,0");
    return WEFT_ERROR_INPUT;
}
