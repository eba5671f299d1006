/* What generated CUDA text needs to be compiled as C++ and run on the host, for tests: a thread of
 * a block is a fiber, which runs until a barrier or a shuffle. Here is what the text calls and
 * reads; cuda_on_host_run.h has the rest, and its own object where many texts are compiled. */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utility>

/* libstdc++ reads its special functions with <math.h>, which takes longer than all of a kernel. */
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#define _GLIBCXX_USE_STD_SPEC_FUNCS 0
#include <math.h>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __shared__ static __attribute__((section("emulated_statics")))
#define __align__(n) alignas(n)
#define __ldg(p) (*(p)) /* loads that say what is cached */
#define __ldcg(p) (*(p))
#define __ldcs(p) (*(p))

/* Of the object that a text is in, and nobody else's. */
#pragma GCC visibility push(hidden)

struct emulated_index {
    unsigned x;
};
extern emulated_index threadIdx, blockIdx, blockDim, gridDim;
extern unsigned char *emulated_shared;

/* Static shared memory of the block that runs; that of the others of its cluster is kept aside. */
extern "C" __attribute__((weak, visibility("hidden"))) char __start_emulated_statics[];
extern "C" __attribute__((weak, visibility("hidden"))) char __stop_emulated_statics[];
static inline size_t emulated_statics_bytes() {
    return (size_t)((uintptr_t)__stop_emulated_statics - (uintptr_t)__start_emulated_statics);
}

enum emulated_state {
    RUNS,
    AT_BLOCK_BARRIER,
    AT_WARP_BARRIER,
    AT_NAMED_BARRIER,
    AT_CLUSTER_BARRIER,
    AT_RING,
    DONE
};

/* Where the code that runs is. */
struct emulated_place {
    unsigned me; /* thread of the cluster */
    unsigned block_threads;
    unsigned block; /* of the cluster: its static shared memory is in place */
    char *statics;  /* [blocks of the cluster][bytes of one] */
};
extern emulated_place emulated;

/* The thread waits until the state has ended. */
void emulated_wait(emulated_state at);
/* What is wrong with the code that runs: it stops, and emulate_failure tells. */
__attribute__((noreturn)) void emulated_fail(const char *format, ...);
/* The threads of a block wait at one and the same barrier of the text. */
void emulated_block_barrier(int line);
#define __syncthreads() emulated_block_barrier(__LINE__)

/* The lanes of a mask wait for each other. */
void __syncwarp(unsigned mask = 0xffffffffu);

/* `bytes` at v from lane `from` of the warp. */
void emulated_exchange_bytes(unsigned mask, void *v, size_t bytes, unsigned from);
/* The lanes of the mask that give `wanted`; this one gives v. */
unsigned emulated_vote(unsigned mask, uint64_t v, uint64_t wanted);

/* What lane `from` of the warp gives; a lane that the mask leaves out, or whose thread has ended, gives no number. */
template <class T> static T emulated_exchange(unsigned mask, T v, unsigned from) {
    static_assert(sizeof(T) <= 16, "a shuffle moves up to 16 bytes");
    emulated_exchange_bytes(mask, &v, sizeof v, from);
    return v;
}

/* Lanes of a warp in parts of `width`. */
template <class T> static T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32) {
    const unsigned lane = emulated.me % 32, to = lane + by;
    return emulated_exchange(mask, v, to <= (lane | (unsigned)(width - 1)) ? to : lane);
}
template <class T> static T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32) {
    const unsigned lane = emulated.me % 32, first = lane & ~(unsigned)(width - 1);
    return emulated_exchange(mask, v, lane >= first + by ? lane - by : lane);
}
template <class T> static T __shfl_sync(unsigned mask, T v, int from, int width = 32) {
    const unsigned lane = emulated.me % 32, part = (unsigned)(width - 1);
    return emulated_exchange(mask, v, (lane & ~part) | ((unsigned)from & part));
}
template <class T> static T __shfl_xor_sync(unsigned mask, T v, int by, int width = 32) {
    const unsigned lane = emulated.me % 32, to = lane ^ (unsigned)by;
    return emulated_exchange(mask, v, to <= (lane | (unsigned)(width - 1)) ? to : lane);
}

static inline unsigned __ballot_sync(unsigned mask, int holds) {
    return emulated_vote(mask, holds != 0, 1);
}
static inline int __any_sync(unsigned mask, int holds) {
    return __ballot_sync(mask, holds) != 0;
}
static inline int __all_sync(unsigned mask, int holds) {
    return __ballot_sync(mask, !holds) == 0;
}
template <class T> static unsigned __match_any_sync(unsigned mask, T v) {
    static_assert(std::is_integral<T>::value, "equal numbers have equal bits");
    return emulated_vote(mask, (uint64_t)v, (uint64_t)v);
}

/* A subscript of an operand of a native body: is it in range, and of this thread by the pattern? */
#define NATIVE_AT(number, holds, name, thread) (emulated_check(holds, name, thread), number)
static inline void emulated_check(bool holds, const char *name, int thread) {
    if (!holds)
        emulated_fail("%s: thread %d accesses a component that is out of range, or that its "
                      "pattern does not give it",
                      name, thread);
}

static inline int __ffs(int bits) {
    return __builtin_ffs(bits);
}

static inline int __popc(unsigned bits) {
    return __builtin_popcount(bits);
}

static inline double __dadd_rn(double a, double b) {
    return a + b;
}

static inline double __dmul_rn(double a, double b) {
    return a * b;
}

static inline void __threadfence() {
}

/* Kernels of several ranks, which are threads or processes, wait for each other. */
static inline void __threadfence_system() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __nanosleep(unsigned) {
    sched_yield();
}
static inline long long emulated_nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

template <class T> static T atomicAdd(T *p, T v) {
    const T before = *p;
    *p += v;
    return before;
}

template <class T> static T atomicCAS(T *p, T expected, T v) {
    const T before = *p;
    *p = before == expected ? v : before;
    return before;
}

template <class T> static T atomicMax(T *p, T v) {
    const T before = *p;
    *p = before > v ? before : v;
    return before;
}

static inline long long __double_as_longlong(double v) {
    long long bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
static inline double __longlong_as_double(long long bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* ---- clusters: what nested_cluster.h does by instructions of the device ---- */

typedef unsigned long long ring_barrier;
struct emulated_ring {
    uint16_t expected, pending;
    int32_t bytes : 31; /* still to come */
    uint32_t phase : 1;
};
static_assert(sizeof(emulated_ring) == sizeof(ring_barrier), "a barrier is one word");

void emulated_count(ring_barrier *b, int arrivals, int bytes);
static inline void ring_init(ring_barrier *b, int n) {
    *(emulated_ring *)b = {(uint16_t)n, (uint16_t)n, 0, 0};
}
static inline void ring_fence() {
}
static inline void ring_expect(ring_barrier *b, unsigned bytes) {
    emulated_count(b, 1, (int)bytes);
}
static inline void ring_arrive(ring_barrier *b) {
    emulated_count(b, 1, 0);
}
static inline void ring_wait(ring_barrier *b, unsigned parity) {
    while (((volatile emulated_ring *)b)->phase == parity)
        emulated_wait(AT_RING);
}
template <class T> static unsigned ring_bytes(const T *from, int64_t n) {
    return (unsigned)((((uint64_t)(from + n) + 15) & ~(uint64_t)15) -
                      ((uint64_t)from & ~(uint64_t)15));
}
template <class T> static void ring_copy(void *to, const T *from, int64_t n, ring_barrier *b) {
    memcpy(to, (const void *)((uint64_t)from & ~(uint64_t)15), ring_bytes(from, n));
    emulated_count(b, 0, -(int)ring_bytes(from, n));
}
static inline void let_next_start() {
}
static inline unsigned cluster_rank() {
    return emulated.me / emulated.block_threads;
}
static inline void cluster_wait() {
    emulated_wait(AT_CLUSTER_BARRIER);
}
static inline char *emulated_statics_of(unsigned block) {
    return emulated.statics + block * emulated_statics_bytes();
}
/* The same place in another block's static shared memory. */
template <class T> static T *emulated_there(T *p, unsigned rank) {
    return rank == emulated.block
               ? p
               : (T *)(emulated_statics_of(rank) + ((char *)p - __start_emulated_statics));
}
template <class T, class V> static void cluster_push(T *to, V v, ring_barrier *b, unsigned rank) {
    *emulated_there(to, rank) = (T)v;
    emulated_count(emulated_there(b, rank), 0, -(int)sizeof(T));
}
template <class T> static void panel_copy(T *to, const T *from, bool inside) {
    for (size_t i = 0; i < 16 / sizeof(T); ++i)
        to[i] = inside ? from[i] : 0;
}
static inline void panel_commit() {
}
template <int N> static void panel_wait() {
}
template <class T> static void panel_store(T *to, const T *v) {
    memcpy(to, v, 16);
}
static inline int panel_opaque(int n) {
    return n;
}
/* Waits for so many threads of the block. */
void rows_barrier(int threads);

/* ---- dense products: what kernels/gemm/device.cu does by instructions of the device ---- */

#define BY_VALUE(type) const type &
#define DYNAMIC_SHARED(name) unsigned char *const name = emulated_shared
#ifndef UNROLL
#define UNROLL
#endif
#define NO_UNROLL

struct float2 {
    float x, y;
};
struct double2 {
    double x, y;
};
struct float4 {
    float x, y, z, w;
};
template <class T> static void __stcs(T *p, T v) {
    *p = v;
}
static inline long long opaque(long long x) {
    return x;
}
static inline double negative(double x) {
    return -x;
}

void emulated_copy_later(void *to, const void *from, int bytes, int present);
/* All but the last groups of copies of the thread, now. */
void emulated_copy_now(int groups);
template <int BYTES> static void copy_async(void *to, const void *from, int present) {
    emulated_copy_later(to, from, BYTES, present);
}
template <int BYTES> static void copy_async(void *to, const void *from) {
    emulated_copy_later(to, from, BYTES, BYTES);
}
void copy_commit();
template <int N> static void copy_wait() {
    emulated_copy_now(N);
}

/* The fragments of a warp's product. */
void emulated_mma(int slots, int halves, double *c, const double *a, const double *b);
template <int K> static void mma(double *c, const double *a, const double *b) {
    emulated_mma(K >= 4 ? K / 4 : 1, K == 1 ? 1 : 2, c, a, b);
}

/* A kernel of any arguments as a function of an array of them. */
template <class... A, size_t... I>
static void emulated_spread(void (*kernel)(int64_t, A...), long long n, void **arguments,
                            std::index_sequence<I...>) {
    (void)arguments;
    kernel(n, (A)arguments[I]...);
}
template <class... A>
static void emulated_apply(void (*kernel)(int64_t, A...), long long n, void **arguments) {
    emulated_spread(kernel, n, arguments, std::index_sequence_for<A...>());
}
template <auto kernel> static void emulated_entry_of(long long n, void **arguments) {
    emulated_apply(kernel, n, arguments);
}

#pragma GCC visibility pop

struct emulated_named {
    const char *name;
    void (*call)(long long n, void **arguments);
};
