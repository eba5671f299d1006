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

/* Grids of threads that load A (m x k) and B (k x n) for layout NN. */
static int64_t load_grids(const fermi_shape *s) {
    const int threads = s->m_dim * s->n_dim;
    int64_t for_a = 0, for_b = 0;
    for (int x = 1; x <= threads; ++x) {
        const int y = threads / x;
        if (x * y != threads)
            continue;
        for_a += s->m_block % x == 0 && s->k_block % y == 0;
        for_b += s->k_block % x == 0 && s->n_block % y == 0;
    }
    return for_a * for_b;
}

static int64_t count_blocks(fermi_shape s, bool complex, int element,
                            const weft_gemm_limits *limits,
                            const weft_gemm_fermi_guidelines *guidelines) {
    const int threads = s.m_dim * s.n_dim;
    int64_t n = 0;
    for (s.k_block = 1; s.k_block <= MOST_K; ++s.k_block)
        for (s.n_block = s.n_dim; s.n_block <= MOST_BLOCK; s.n_block += s.n_dim) {
            if (s.k_block * s.n_block % threads != 0)
                continue;
            for (s.m_block = s.m_dim; s.m_block <= MOST_BLOCK; s.m_block += s.m_dim)
                if (s.m_block * s.k_block % threads == 0 &&
                    survives(&s, complex, element, limits, guidelines))
                    n += load_grids(&s);
        }
    return n;
}

int64_t weft_gemm_fermi_count(weft_gemm_type type, const weft_gemm_limits *limits,
                              const weft_gemm_fermi_guidelines *guidelines) {
    static const int bytes[WEFT_GEMM_TYPES] = {4, 8, 8, 16};
    const bool complex = type == WEFT_GEMM_SINGLE_COMPLEX || type == WEFT_GEMM_DOUBLE_COMPLEX;
    int64_t n = 0;
    for (int n_dim = 1; n_dim <= MOST_DIM; ++n_dim)
        for (int m_dim = 1; m_dim <= MOST_DIM; ++m_dim) {
            const int threads = n_dim * m_dim;
            if (threads <= limits->threads_block && threads % WARP == 0)
                n += count_blocks((fermi_shape){.m_dim = m_dim, .n_dim = n_dim}, complex,
                                  bytes[type], limits, guidelines);
        }
    return n;
}
