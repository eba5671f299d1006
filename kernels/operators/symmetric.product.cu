//@ rows      edge
//@ source    symmetric storage by patches: docs/decisions/0021-owners-compute-on-gpus.md; colouring of bipartite graphs: Koenig 1916
//@ threads   512
//@ nodes     512
//@ blocks    3
//@ argument  const int64_t *patches      [patch][4]: first value, first column, first list entry; then rounds (16 bits), halo (16 bits), overflow (32 bits)
//@ argument  const double *values        a patch after the other: [512] diagonal, [round][512] slots, overflow
//@ argument  const uint16_t *columns     a patch after the other: [round][512] local columns: 0 .. 511 rows of the patch, 512 none, 513 + k halo node k
//@ argument  const int32_t *lists        a patch after the other: halo nodes; columns of the overflow, local or ~node; rows of the overflow, ascending
/* A patch owns 512 rows. An edge between two of them is stored once, in a slot of one of them (its
 * source), and serves both. In a round each row is the target of one edge at most, so that the
 * stores of a round need no atomics, and the order of all additions is fixed. All slots of a patch
 * come by two bulk copies. The patch that takes this one's place later, ROWS_RESIDENT blocks on, is
 * fetched into the L2 cache now: a block's chain of dependent loads is then short, and memory is
 * never idle. About 70 KB of the L2 cache are taken for each resident block. */

INLINE uint32_t symmetric_shared(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* For what is read once: it leaves the L2 cache first. */
INLINE unsigned long long symmetric_once()
{
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

INLINE void symmetric_copy(void *to, const void *from, uint32_t bytes, uint32_t barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1], %2, [%3], %4;"
                 :: "r"(symmetric_shared(to)), "l"(from), "r"(bytes), "r"(barrier), "l"(symmetric_once()) : "memory");
}

/* bytes: a multiple of 16 */
INLINE void symmetric_fetch(const void *from, uint32_t bytes)
{
    if (bytes > 0)
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" :: "l"(from), "r"(bytes) : "memory");
}

INLINE void symmetric_wait(uint32_t barrier)
{
    uint32_t done;
    do {
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(barrier) : "memory");
    } while (!done);
}

INLINE int symmetric_rounds_of(int64_t counts)
{
    return (int)(counts & 0xffff);
}

INLINE int symmetric_halo_of(int64_t counts)
{
    return (int)(counts >> 16 & 0xffff);
}

INLINE uint32_t symmetric_overflow_of(int64_t counts)
{
    return (uint32_t)((unsigned long long)counts >> 32);
}

/* One thread: what a later block will read, and further on where that is. */
INLINE void symmetric_prefetch(const int64_t *patch, const double *values, const uint16_t *columns,
                             const int32_t *lists)
{
    if (blockIdx.x + ROWS_RESIDENT < gridDim.x) {
        const int64_t *next = patch + 4 * ROWS_RESIDENT;
        const int64_t counts = next[3];
        const uint32_t n_slots = symmetric_rounds_of(counts) * ROWS_NODES;
        const uint32_t n_over = symmetric_overflow_of(counts) < 1024 ? symmetric_overflow_of(counts) : 1024;
        symmetric_fetch(values + next[0], (n_slots + ROWS_NODES + ((n_over + 3) & ~3u)) * 8);
        symmetric_fetch(columns + next[1], n_slots * 2);
        symmetric_fetch(lists + next[2], (symmetric_halo_of(counts) + 2 * n_over) / 4 * 16);
    }
    if (blockIdx.x + 2 * ROWS_RESIDENT < gridDim.x)
        asm volatile("prefetch.global.L2 [%0];" :: "l"(patch + 8 * ROWS_RESIDENT));
}

/* acc += a_ij v_j, and y_j += a_ij v_i where j is a row of the patch */
INLINE real symmetric_rounds(real acc, real own, int n, const double *slots, const uint16_t *columns,
                        const real *v, real *y)
{
    for (int k = threadIdx.x; k < n * ROWS_NODES; k += ROWS_NODES) {
        const real a = slots[k];
        const int j = columns[k];
        acc += a * v[j];
        if (j < ROWS_NODES)
            y[j] += a * own;
        __syncthreads();
    }
    return acc;
}
//@ body
    {
        const int64_t *patch = patches + blockIdx.x * (int64_t)4;
        const int64_t counts = patch[3];
        RETURN_IF_DONE; /* behind a load: the answer came with it */
        const int n_rounds = symmetric_rounds_of(counts), n_halo = symmetric_halo_of(counts);
        const uint32_t n_overflow = symmetric_overflow_of(counts);
        const uint32_t n_slots = n_rounds * ROWS_NODES;
        const int32_t *halo = lists + patch[2], *over = halo + n_halo;
        const double *stored = values + patch[0];
        real *v_s = (real *)(shared + 16), *y_s = v_s + ((ROWS_NODES + 2 + n_halo) & ~1);
        double *a_s = (double *)(y_s + ROWS_NODES);
        uint16_t *columns_s = (uint16_t *)(a_s + ROWS_NODES + n_slots);
        const uint32_t barrier = symmetric_shared(shared);
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                         "fence.mbarrier_init.release.cluster;" :: "r"(barrier) : "memory");
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                         :: "r"(barrier), "r"((ROWS_NODES + n_slots) * 8 + n_slots * 2) : "memory");
            symmetric_copy(columns_s, columns + patch[1], n_slots * 2, barrier);
            symmetric_copy(a_s, stored, (ROWS_NODES + n_slots) * 8, barrier);
            symmetric_prefetch(patch, values, columns, lists);
            v_s[ROWS_NODES] = 0;
        }
        /* the first of the overflow; seldom is there more */
        int32_t over_j = 0, over_i = 0;
        real over_a = 0;
        if (threadIdx.x < n_overflow) {
            const uint32_t at = ROWS_NODES + n_slots + threadIdx.x;
            over_j = over[threadIdx.x];
            over_i = over[n_overflow + threadIdx.x];
            over_a = stored[at];
        }
        own[0] = first_row + threadIdx.x < n_rows ? LOAD(first_row + threadIdx.x) : (real)0;
        v_s[threadIdx.x] = own[0];
        y_s[threadIdx.x] = 0;
        _Pragma("unroll 2") for (int k = threadIdx.x; k < n_halo; k += ROWS_THREADS)
            v_s[ROWS_NODES + 1 + k] = LOAD(halo[k]);
        __syncthreads();
        symmetric_wait(barrier);
        y[0] = own[0] * a_s[threadIdx.x];
        y[0] = symmetric_rounds(y[0], own[0], n_rounds, a_s + ROWS_NODES, columns_s, v_s, y_s);
        if (threadIdx.x == 0) /* the words may be used for anything from here on */
            asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(barrier) : "memory");
        /* products side by side where the slots were, then each row's first thread adds its own */
        real *product = (real *)a_s;
        uint16_t *row_s = columns_s;
        for (uint32_t first = 0; first < n_overflow; first += ROWS_THREADS) {
            const uint32_t left = n_overflow - first, e = threadIdx.x;
            const uint32_t m = left < ROWS_THREADS ? left : ROWS_THREADS;
            if (first > 0 && e < m) {
                const uint32_t at = ROWS_NODES + n_slots + first + e;
                over_j = over[first + e];
                over_i = over[n_overflow + first + e];
                over_a = stored[at];
            }
            if (e < m) {
                real v_j;
                if (over_j >= 0)
                    v_j = v_s[over_j];
                else
                    v_j = LOAD(~over_j);
                product[e] = over_a * v_j;
                row_s[e] = (uint16_t)over_i;
            }
            __syncthreads();
            if (e < m && (e == 0 || row_s[e - 1] != over_i)) {
                real sum = product[e];
                for (uint32_t k = e + 1; k < m && row_s[k] == over_i; ++k)
                    sum += product[k];
                y_s[over_i] += sum;
            }
            __syncthreads();
        }
        y[0] = first_row + threadIdx.x < n_rows ? y[0] + y_s[threadIdx.x] : (real)0;
    }
