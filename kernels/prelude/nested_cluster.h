//@ Kernels over the rows or columns of a matrix for GPUs with thread block clusters and bulk copies (compute
//@ capability 9): barriers in shared memory that count bytes, copies that signal them, sums over a cluster.
typedef unsigned long long ring_barrier;
INLINE unsigned ring_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
INLINE void ring_init(ring_barrier *b, int n)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(ring_address(b)), "r"(n) : "memory");
}
INLINE void ring_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
INLINE void ring_expect(ring_barrier *b, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(ring_address(b)), "r"(bytes) : "memory");
}
INLINE void ring_arrive(ring_barrier *b)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(ring_address(b)) : "memory");
}
INLINE void ring_wait(ring_barrier *b, unsigned parity)
{
    asm volatile("{\n.reg .pred p;\nWAIT_%=:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@!p bra WAIT_%=;\n}"
                 :: "r"(ring_address(b)), "r"(parity) : "memory");
}
/* the 16-byte words that contain n numbers from `from` on; returns their bytes */
INLINE unsigned ring_bytes(const scalar *from, int64_t n)
{
    const uint64_t first = (uint64_t)from & ~(uint64_t)15, last = ((uint64_t)(from + n) + 15) & ~(uint64_t)15;
    return (unsigned)(last - first);
}
INLINE void ring_copy(void *to, const scalar *from, int64_t n, ring_barrier *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(ring_address(to)), "l"((uint64_t)from & ~(uint64_t)15), "r"(ring_bytes(from, n)),
                 "r"(ring_address(b)) : "memory");
}
/* The next kernel may start and wait for the end of this one. */
INLINE void let_next_start() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
INLINE unsigned cluster_rank() { unsigned r; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
INLINE void cluster_wait()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
/* v to the same address of another block of the cluster, counted by that block's barrier */
INLINE void cluster_push(scalar *to, scalar v, ring_barrier *b, unsigned rank)
{
    unsigned there, counts;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(ring_address(to)), "r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(counts) : "r"(ring_address(b)), "r"(rank));
    if (sizeof(scalar) == 4)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                     :: "r"(there), "r"(__float_as_uint((float)v)), "r"(counts) : "memory");
    else
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];"
                     :: "r"(there), "l"(__double_as_longlong((double)v)), "r"(counts) : "memory");
}
/* 16 bytes into the thread's own place, zeros if they are not `inside`; copies are waited for in groups */
INLINE void panel_copy(scalar *to, const scalar *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(ring_address(to)), "l"(from), "r"(inside ? 16 : 0) : "memory");
}
INLINE void panel_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> INLINE void panel_wait() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }
/* 16 bytes past the caches */
INLINE void panel_store(float *to, const float *v) { __stcs((float4 *)to, make_float4(v[0], v[1], v[2], v[3])); }
INLINE void panel_store(double *to, const double *v) { __stcs((double2 *)to, make_double2(v[0], v[1])); }
/* hides that n is known, so that offsets of unrolled steps do not fill the registers */
INLINE int panel_opaque(int n)
{
    asm volatile("" : "+r"(n));
    return n;
}

/* the computing threads of the block, without the warp that copies */
INLINE void rows_barrier(int threads) { asm volatile("bar.sync 1, %0;" :: "r"(threads) : "memory"); }

//@ each name
//@ add
//@ multiply
//@ min
//@ max
/* The sums of a row in all computing threads of the cluster: `sums` [ROW_THREADS / LANES], `inbox` [ROW_CLUSTER];
 * number: how many sums before this one. */
template <int THREADS_, int CLUSTER> INLINE void rows_send_@name@(scalar a, scalar *sums, scalar *inbox, ring_barrier *b, unsigned rank)
{
    const scalar warp = lanes_@name@(a, LANES);
    if (threadIdx.x % LANES == 0)
        sums[threadIdx.x / LANES] = warp;
    rows_barrier(THREADS_);
    if (CLUSTER > 1 && threadIdx.x < LANES) {
        if (threadIdx.x == 0)
            ring_expect(b, CLUSTER * sizeof(scalar));
        if (threadIdx.x < CLUSTER) {
            scalar all = sums[0];
            for (int k = 1; k < THREADS_ / LANES; ++k)
                all = both_@name@(all, sums[k]);
            cluster_push(inbox + rank, all, b, threadIdx.x);
        }
    }
}
/* Sums of a panel's columns in all threads of the cluster, column threadIdx.x % WIDTH: a[VECTOR] are a thread's
 * columns from threadIdx.x % (WIDTH / VECTOR) * VECTOR on; sums [THREADS_ / LANES][WIDTH], inbox [CLUSTER][WIDTH] */
template <int THREADS_, int CLUSTER, int WIDTH, int VECTOR>
INLINE scalar panel_close_@name@(const real *a, scalar *sums, scalar *inbox, ring_barrier *b, unsigned rank, unsigned parity)
{
    const int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES, column = lane % WIDTH;
    UNROLL for (int q = 0; q < VECTOR; ++q) {
        scalar v = a[q];
        UNROLL for (int by = WIDTH / VECTOR; by < LANES; by *= 2)
            v = both_@name@(v, __shfl_xor_sync(0xffffffffu, v, by));
        if (lane < WIDTH / VECTOR)
            sums[warp * WIDTH + lane * VECTOR + q] = v;
    }
    if (CLUSTER > 1 && threadIdx.x == 0)
        ring_expect(b, CLUSTER * WIDTH * sizeof(scalar));
    __syncthreads();
    if (CLUSTER == 1 || warp < CLUSTER) {
        scalar all = sums[column];
        UNROLL for (int k = 1; k < THREADS_ / LANES; ++k)
            all = both_@name@(all, sums[k * WIDTH + column]);
        if (CLUSTER == 1)
            return all;
        if (lane < WIDTH)
            cluster_push(inbox + rank * WIDTH + column, all, b, warp);
    }
    ring_wait(b, parity);
    scalar all = inbox[column];
    UNROLL for (int k = 1; k < CLUSTER; ++k)
        all = both_@name@(all, inbox[k * WIDTH + column]);
    return all;
}
/* Sums of N steps over N lanes: each lane gets that of step threadIdx.x % N; overwrites t. */
template <int N> INLINE scalar panel_spread_@name@(real *t)
{
    UNROLL for (int half = N / 2; half > 0; half /= 2)
        UNROLL for (int k = 0; k < half; ++k) {
            const bool upper = (threadIdx.x & half) != 0;
            const scalar keep = upper ? t[k + half] : t[k], send = upper ? t[k] : t[k + half];
            t[k] = both_@name@(keep, __shfl_xor_sync(0xffffffffu, send, half));
        }
    return t[0];
}
template <int THREADS_, int CLUSTER> INLINE scalar rows_receive_@name@(const scalar *sums, const scalar *inbox, ring_barrier *b, unsigned parity)
{
    if (CLUSTER > 1)
        ring_wait(b, parity);
    const scalar *from = CLUSTER > 1 ? inbox : sums;
    scalar all = from[0];
    UNROLL for (int k = 1; k < (CLUSTER > 1 ? CLUSTER : THREADS_ / LANES); ++k)
        all = both_@name@(all, from[k]);
    return all;
}

//@ end
