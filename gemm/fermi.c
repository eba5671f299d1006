/* Counts the space of the paper: its stencil, parameters and constraints. */
#include "gemm/space.h"

typedef struct fermi_shape {
    int m_dim, n_dim, m_block, n_block, k_block;
} fermi_shape;

enum { MOST_DIM = 256, MOST_BLOCK = 256, MOST_K = 64, WARP = 32 };

static int least(int a, int b) {
    return a < b ? a : b;
}

/* Blocks that run at once if each takes `need` of `all`, in whole warps. */
static int resident(const weft_gemm_limits *limits, int64_t all, int64_t need, int threads) {
    const int warps = threads / WARP;
    const int blocks = (int)(all / need < limits->blocks ? all / need : limits->blocks);
    return least(blocks * warps, limits->warps) / warps;
}

/* Algorithm 3, 2 to 4. */
static bool survives(const fermi_shape *s, bool complex, int element,
                     const weft_gemm_limits *limits, const weft_gemm_fermi_guidelines *guidelines) {
    const int threads = s->m_dim * s->n_dim;
    const int m = s->m_block / s->m_dim, n = s->n_block / s->n_dim; /* of a thread */
    const int64_t shared =
        (int64_t)((s->m_block + 1) * s->k_block + (s->k_block + 1) * s->n_block) * element;
    const int64_t registers =
        ((int64_t)(m * n + m + n) * threads + s->m_block * s->k_block + s->k_block * s->n_block) *
        (element / 4);
    const double reuse = complex ? 4.0 * m * n / (2.0 * (m + n)) : (double)m * n / (m + n);
    const int least_blocks = guidelines ? guidelines->blocks : 1;
    const int least_threads = guidelines ? guidelines->threads : 1;
    if (guidelines && reuse < guidelines->reuse)
        return false;
    const int by_shared = resident(limits, limits->shared, shared, threads);
    if (by_shared < least_blocks || by_shared * threads < least_threads)
        return false;
    const int by_registers = resident(limits, limits->registers, registers, threads);
    return by_registers >= least_blocks && by_registers * threads >= least_threads;
}

/* Grids of threads that read a stripe of rows x columns without idle threads. */
static int64_t load_grids(int threads, int rows, int columns) {
    int64_t n = 0;
    for (int x = 1; x <= threads; ++x)
        n += threads % x == 0 && rows % x == 0 && columns % (threads / x) == 0;
    return n;
}

/* The stripes as they lie in memory: of A m x k, of B k x n, of transposed factors the reverse. The grids of a stripe and
 * of its transpose are as many: x and y change their places. */
static int64_t load_variants(const fermi_shape *s, const weft_gemm_op ops[2]) {
    const int threads = s->m_dim * s->n_dim;
    const bool a = ops[0] == WEFT_GEMM_PLAIN, b = ops[1] == WEFT_GEMM_PLAIN;
    return load_grids(threads, a ? s->m_block : s->k_block, a ? s->k_block : s->m_block) *
           load_grids(threads, b ? s->k_block : s->n_block, b ? s->n_block : s->k_block);
}

/* What all shapes of a count have in common. */
typedef struct fermi_space {
    bool complex;
    int element; /* bytes */
    const weft_gemm_op *ops;
    const weft_gemm_limits *limits;
    const weft_gemm_fermi_guidelines *guidelines;
} fermi_space;

static void count_blocks(const fermi_space *space, fermi_shape s, weft_gemm_fermi_counts *out) {
    const int threads = s.m_dim * s.n_dim;
    for (s.k_block = 1; s.k_block <= MOST_K; ++s.k_block)
        for (s.n_block = s.n_dim; s.n_block <= MOST_BLOCK; s.n_block += s.n_dim) {
            if (s.k_block * s.n_block % threads != 0)
                continue;
            for (s.m_block = s.m_dim; s.m_block <= MOST_BLOCK; s.m_block += s.m_dim)
                if (s.m_block * s.k_block % threads == 0 &&
                    survives(&s, space->complex, space->element, space->limits,
                             space->guidelines)) {
                    ++out->tilings;
                    out->kernels += load_variants(&s, space->ops);
                }
        }
}

weft_gemm_fermi_counts weft_gemm_fermi_count(weft_gemm_type type, const weft_gemm_op ops[2],
                                             const weft_gemm_limits *limits,
                                             const weft_gemm_fermi_guidelines *guidelines) {
    static const int bytes[WEFT_GEMM_TYPES] = {4, 8, 8, 16};
    const fermi_space space = {.complex = type == WEFT_GEMM_SINGLE_COMPLEX ||
                                          type == WEFT_GEMM_DOUBLE_COMPLEX,
                               .element = bytes[type],
                               .ops = ops,
                               .limits = limits,
                               .guidelines = guidelines};
    weft_gemm_fermi_counts out = {0, 0};
    for (int n_dim = 1; n_dim <= MOST_DIM; ++n_dim)
        for (int m_dim = 1; m_dim <= MOST_DIM; ++m_dim) {
            const int threads = n_dim * m_dim;
            if (threads <= limits->threads_block && threads % WARP == 0)
                count_blocks(&space, (fermi_shape){.m_dim = m_dim, .n_dim = n_dim}, &out);
        }
    return out;
}

/* GF100, compute capability 2.0. */
const weft_gemm_limits weft_gemm_fermi_limits = {.threads_block = 1024,
                                                 .warps = 48,
                                                 .blocks = 8,
                                                 .registers_thread = 63,
                                                 .registers = 32768,
                                                 .shared_block = 49152,
                                                 .shared = 49152};

weft_gemm_fermi_guidelines weft_gemm_fermi_guidelines_of(weft_gemm_type type) {
    static const double reuse[WEFT_GEMM_TYPES] = {3, 2, 5, 2};
    return (weft_gemm_fermi_guidelines){.threads = 512, .blocks = 2, .reuse = reuse[type]};
}
