//@ prelude ranks_cuda.h
/* Values of a list that ranks have copies of. A message is divided into chunks; chunk for chunk the sender writes into the memory of
 * the receiver, then the epoch, the count of exchanges so far, into a flag. Two epochs are kept apart: nobody is further ahead, as
 * all neighbours send to each other. Both ends let a chunk to the same block. */
#define CHUNK_WORDS 5 /* address of the numbers, of the flag, first of the list of dofs, count, from one epoch to the next */

/* state: epoch, blocks that are done.  starts: [2 (blocks + 1)] chunks of each block that it sends, then receives.
 * n: blocks times threads */
template <class T> INLINE void exchange(int64_t *state, int64_t *team, const int64_t *starts, const int64_t *chunks,
                                        const int32_t *dofs, T *list, const uint32_t *active)
{
    if (*active == 0)
        return;
    const int64_t b = blockIdx.x, *received = starts + gridDim.x + 1, epoch = *(volatile int64_t *)state + 1,
                  parity = epoch % 2;
    for (int64_t s = starts[b]; s < starts[b + 1]; ++s) {
        const int64_t *c = chunks + s * CHUNK_WORDS;
        volatile T *to = (volatile T *)(c[0] + parity * c[4]);
        for (int64_t k = threadIdx.x; k < c[3]; k += SETUP_THREADS)
            to[k] = list[dofs[c[2] + k]];
    }
    __syncthreads();
    if (threadIdx.x == 0 && starts[b] < starts[b + 1]) {
        __threadfence_system();
        for (int64_t s = starts[b]; s < starts[b + 1]; ++s) {
            const int64_t *c = chunks + s * CHUNK_WORDS;
            *(volatile int64_t *)(c[1] + parity * c[4]) = epoch;
        }
    }
    for (int64_t r = received[b]; r < received[b + 1]; ++r) {
        const int64_t *c = chunks + r * CHUNK_WORDS, start = nanoseconds();
        volatile int64_t *flag = (volatile int64_t *)(c[1] + parity * c[4]);
        while (threadIdx.x == 0 && *flag != epoch && !waits_in_vain(start, team + 3))
            ;
        if (threadIdx.x == 0)
            __threadfence_system();
        __syncthreads();
        volatile T *from = (volatile T *)(c[0] + parity * c[4]);
        for (int64_t k = threadIdx.x; k < c[3]; k += SETUP_THREADS)
            list[dofs[c[2] + k]] = from[k];
    }
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    __threadfence();
    if (atomicAdd((unsigned long long *)(state + 1), 1ull) + 1 == gridDim.x) {
        state[1] = 0;
        *(volatile int64_t *)state = epoch;
    }
}

extern "C" __global__ void exchange_double(long long, int64_t *state, int64_t *team, const int64_t *starts,
                                           const int64_t *chunks, const int32_t *dofs, double *list,
                                           const uint32_t *active)
{
    exchange(state, team, starts, chunks, dofs, list, active);
}

extern "C" __global__ void exchange_float(long long, int64_t *state, int64_t *team, const int64_t *starts,
                                          const int64_t *chunks, const int32_t *dofs, float *list,
                                          const uint32_t *active)
{
    exchange(state, team, starts, chunks, dofs, list, active);
}

/* By the host: n numbers of the list one after another, and back. */
template <class T> INLINE void pack(long long n, const int32_t *dofs, const T *list, T *packed)
{
    const int64_t i = element();
    if (i < n)
        packed[i] = list[dofs[i]];
}
template <class T> INLINE void unpack(long long n, const int32_t *dofs, T *list, const T *packed)
{
    const int64_t i = element();
    if (i < n)
        list[dofs[i]] = packed[i];
}

extern "C" __global__ void exchange_pack(long long n, const int32_t *dofs, const double *list, double *packed)
{
    pack(n, dofs, list, packed);
}
extern "C" __global__ void exchange_pack_float(long long n, const int32_t *dofs, const float *list, float *packed)
{
    pack(n, dofs, list, packed);
}
extern "C" __global__ void exchange_unpack(long long n, const int32_t *dofs, double *list, const double *packed)
{
    unpack(n, dofs, list, packed);
}
extern "C" __global__ void exchange_unpack_float(long long n, const int32_t *dofs, float *list, const float *packed)
{
    unpack(n, dofs, list, packed);
}
