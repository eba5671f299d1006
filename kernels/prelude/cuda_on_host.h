/* What generated CUDA text needs to be compiled as C++ and run on the host, for tests: a thread of
 * a block is a fiber, which runs until a barrier or a shuffle. Blocks, or clusters of blocks, run one
 * after the other; shared memory is poisoned before each. Copies that a device does while threads
 * compute are done at once. Threads and blocks run in the order of their numbers (0), in reverse (1),
 * or from both ends alternately (2): what is right does not depend on it. */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
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

struct emulated_index {
    unsigned x;
};
static emulated_index threadIdx, blockIdx, blockDim, gridDim;
static unsigned char *emulated_shared;

/* A GPU gives a thread at most 512 kB of local memory. What a stack does not use takes no memory. */
enum { EMULATED_STACK = 1048576 };
/* Static shared memory of the block that runs; that of the others of its cluster is kept aside. */
extern "C" __attribute__((weak, visibility("hidden"))) char __start_emulated_statics[];
extern "C" __attribute__((weak, visibility("hidden"))) char __stop_emulated_statics[];
static size_t emulated_statics_bytes() {
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

/* Where a fiber stopped: what __builtin_setjmp keeps. */
struct emulated_place {
    void *kept[5];
};

/* Asynchronous copies are done as late as their threads' waits allow. */
struct emulated_copy {
    void *to;
    const void *from;
    int bytes, present;
    long long group;
};
/* Those of a thread that are not done yet, in order. */
struct emulated_copies {
    emulated_copy *list;
    size_t n, capacity;
    long long open; /* group that copies are added to */
};

/* Its stack belongs to it until the object is closed: started once, it runs its thread of one block
 * after another. */
struct emulated_thread {
    emulated_place place;
    emulated_state state;
    unsigned wanted; /* at a named barrier: this number of threads; of a warp: these lanes */
    int line;        /* of the block's barrier */
    void *stack; /* NULL before it starts */
    emulated_copies copies;
};

/* What a lane gives to others. */
struct emulated_lane {
    alignas(16) unsigned char bytes[16];
};

struct emulated_block {
    emulated_place scheduler;
    emulated_thread *threads;
    emulated_lane *lanes; /* [n_threads] each */
    size_t n_threads; /* of all blocks of a cluster */
    size_t capacity; /* threads that there is memory for */
    void (*body)();
    unsigned me, block_threads, first_block;
    unsigned current; /* block of the cluster whose static shared memory is in place */
    bool progress;
    char *statics, *shared; /* [blocks of the cluster][bytes of one] */
    size_t shared_stride;
    char failure[300]; /* what is wrong; "": nothing */
    bool tells;        /* who runs kernels asks for failures */
};
static emulated_block emulated;

/* swapcontext would call the system twice a switch, for the mask of signals. */
__attribute__((noinline)) static void emulated_go(emulated_place *to) {
    __builtin_longjmp(to->kept, 1);
}
__attribute__((noinline)) static void emulated_switch(emulated_place *from, emulated_place *to) {
    if (__builtin_setjmp(from->kept) == 0)
        emulated_go(to);
}

static void emulated_wait(emulated_state at) {
    const unsigned me = emulated.me;
    emulated.threads[me].state = at;
    emulated_switch(&emulated.threads[me].place, &emulated.scheduler);
}

/* What is wrong with the code that runs: it stops, and emulate_failure tells. */
template <class... A> static void emulated_fail(const char *format, A... values) {
    if (emulated.failure[0] == '\0')
        snprintf(emulated.failure, sizeof emulated.failure, format, values...);
    for (;;)
        emulated_wait(DONE);
}

/* The threads of a block wait at one and the same barrier of the text. */
static inline void emulated_block_barrier(int line) {
    emulated.threads[emulated.me].line = line;
    emulated_wait(AT_BLOCK_BARRIER);
}
#define __syncthreads() emulated_block_barrier(__LINE__)

/* The lanes of a mask wait for each other. */
static inline void __syncwarp(unsigned mask = 0xffffffffu) {
    const unsigned me = emulated.me;
    if ((mask >> me % 32 & 1) == 0)
        emulated_fail("thread %u of block %u waits for lanes 0x%x of its warp, without its own",
                      threadIdx.x, blockIdx.x, mask);
    emulated.threads[me].wanted = mask;
    emulated_wait(AT_WARP_BARRIER);
}

/* What lane `from` of the warp gives; a lane that the mask leaves out, or whose thread has ended, gives no number. */
template <class T> static T emulated_exchange(unsigned mask, T v, unsigned from) {
    static_assert(sizeof(T) <= sizeof(emulated_lane), "a shuffle moves up to 16 bytes");
    const unsigned me = emulated.me, source = me / 32 * 32 + from;
    T got = v;
    memcpy(&emulated.lanes[me], &v, sizeof v);
    __syncwarp(mask);
    if (source < emulated.n_threads && from != me % 32) {
        if ((mask >> from & 1) != 0 && emulated.threads[source].state != DONE)
            memcpy((void *)&got, &emulated.lanes[source], sizeof got);
        else
            memset((void *)&got, 0xff, sizeof got);
    }
    __syncwarp(mask);
    return got;
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

/* The lanes for which a condition on their value holds. */
template <class T, class Condition>
static unsigned emulated_vote(unsigned mask, T v, Condition holds) {
    const unsigned me = emulated.me, first = me / 32 * 32;
    unsigned bits = 0;
    memcpy(&emulated.lanes[me], &v, sizeof v);
    __syncwarp(mask);
    for (unsigned lane = 0; lane < 32 && first + lane < emulated.n_threads; ++lane) {
        T other;
        memcpy((void *)&other, &emulated.lanes[first + lane], sizeof other);
        bits |= (mask >> lane & 1) != 0 && emulated.threads[first + lane].state != DONE
                    ? (unsigned)holds(other) << lane
                    : 0u;
    }
    __syncwarp(mask);
    return bits;
}
static unsigned __ballot_sync(unsigned mask, int holds) {
    return emulated_vote(mask, holds, [](int v) { return v != 0; });
}
static inline int __any_sync(unsigned mask, int holds) {
    return __ballot_sync(mask, holds) != 0;
}
static inline int __all_sync(unsigned mask, int holds) {
    return __ballot_sync(mask, !holds) == 0;
}
template <class T> static unsigned __match_any_sync(unsigned mask, T v) {
    return emulated_vote(mask, v, [v](T other) { return other == v; });
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

static void emulated_count(ring_barrier *b, int arrivals, int bytes) {
    emulated_ring *ring = (emulated_ring *)b;
    ring->pending = (uint16_t)(ring->pending - arrivals);
    ring->bytes += bytes;
    if (ring->pending == 0 && ring->bytes == 0) {
        ring->phase ^= 1u;
        ring->pending = ring->expected;
        emulated.progress = true;
    }
}
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
static char *emulated_statics_of(unsigned block) {
    return emulated.statics + block * emulated_statics_bytes();
}
/* The same place in another block's static shared memory. */
template <class T> static T *emulated_there(T *p, unsigned rank) {
    return rank == emulated.current
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
static inline void rows_barrier(int threads) {
    emulated.threads[emulated.me].wanted = (unsigned)threads;
    emulated_wait(AT_NAMED_BARRIER);
}

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

template <int BYTES> static void copy_async(void *to, const void *from, int present) {
    if ((uintptr_t)to % BYTES != 0 || (present > 0 && (uintptr_t)from % BYTES != 0))
        abort(); /* a device refuses it */
    emulated_copies *own = &emulated.threads[emulated.me].copies;
    if (own->n == own->capacity) {
        own->capacity = 2 * own->capacity + 16;
        own->list = (emulated_copy *)realloc(own->list, own->capacity * sizeof *own->list);
    }
    own->list[own->n++] = {to, from, BYTES, present, own->open};
}
template <int BYTES> static void copy_async(void *to, const void *from) {
    copy_async<BYTES>(to, from, BYTES);
}
static inline void copy_commit() {
    ++emulated.threads[emulated.me].copies.open;
}
template <int N> static void copy_wait() {
    emulated_copies *own = &emulated.threads[emulated.me].copies;
    size_t n = 0;
    for (; n < own->n && own->list[n].group < own->open - N; ++n) {
        const emulated_copy *copy = &own->list[n];
        memset(copy->to, 0, (size_t)copy->bytes);
        memcpy(copy->to, copy->from, (size_t)copy->present);
    }
    if (n == 0)
        return;
    own->n -= n;
    memmove(own->list, own->list + n, own->n * sizeof *own->list);
}

/* The fragments of a warp's product. */
struct emulated_fragments {
    double a[8], b[4];
};
static emulated_fragments emulated_lanes[1024];
template <int K> static void mma(double *c, const double *a, const double *b) {
    constexpr int slots = K >= 4 ? K / 4 : 1, halves = K == 1 ? 1 : 2;
    const unsigned me = emulated.me, lane = me % 32, warp = me - lane;
    memcpy(emulated_lanes[me].a, a, sizeof(double) * slots * halves);
    memcpy(emulated_lanes[me].b, b, sizeof(double) * slots);
    __syncwarp();
    for (unsigned h = 0; h < halves; ++h)
        for (unsigned e = 0; e < 2; ++e)
            for (int s = 0; s < slots; ++s)
                for (unsigned t = 0; t < 4; ++t)
                    c[2 * h + e] += emulated_lanes[warp + lane / 4 * 4 + t].a[halves * s + (int)h] *
                                    emulated_lanes[warp + (2 * (lane % 4) + e) * 4 + t].b[s];
    __syncwarp();
}

static void emulated_entry(unsigned) {
    for (;;) {
        emulated.body();
        emulated_wait(DONE);
    }
}

/* Shared memory of a block of the cluster in its place. */
static void emulated_place_block(unsigned block) {
    const size_t bytes = emulated_statics_bytes();
    if (block != emulated.current && bytes > 0) {
        memcpy(emulated_statics_of(emulated.current), __start_emulated_statics, bytes);
        memcpy(__start_emulated_statics, emulated_statics_of(block), bytes);
    }
    emulated.current = block;
    blockIdx.x = emulated.first_block + block;
    emulated_shared = (unsigned char *)emulated.shared + block * emulated.shared_stride;
}

/* To the thread until it waits or is done. */
__attribute__((noinline)) static void emulated_resume(unsigned me) {
    emulated_thread *thread = &emulated.threads[me];
    emulated_place_block(me / emulated.block_threads);
    emulated.me = me;
    threadIdx.x = me % emulated.block_threads;
    if (thread->stack != nullptr) {
        emulated_switch(&emulated.scheduler, &thread->place);
        return;
    }
    static ucontext_t context;
    thread->stack = malloc(EMULATED_STACK);
    getcontext(&context);
    context.uc_stack.ss_sp = thread->stack;
    context.uc_stack.ss_size = EMULATED_STACK;
    context.uc_link = nullptr;
    makecontext(&context, (void (*)())emulated_entry, 1, me);
    if (__builtin_setjmp(emulated.scheduler.kept) == 0)
        setcontext(&context);
}

/* Threads at a barrier continue once all that are not done have reached it. */
static void emulated_release(size_t first, size_t last, emulated_state at) {
    for (size_t t = first; t < last; ++t)
        if (emulated.threads[t].state != at && emulated.threads[t].state != DONE)
            return;
    for (size_t t = first; t < last; ++t)
        if (emulated.threads[t].state == at)
            emulated.threads[t].state = RUNS;
}

/* The lanes of a mask continue once all of them that are not done wait with the same mask. */
static void emulated_release_lanes(size_t first, size_t last) {
    for (size_t t = first; t < last; ++t) {
        const emulated_thread *one = &emulated.threads[t];
        const unsigned lanes = one->wanted;
        bool all = one->state == AT_WARP_BARRIER;
        for (size_t u = first; u < last && all; ++u)
            all = (lanes >> (u - first) & 1) == 0 || emulated.threads[u].state == DONE ||
                  (emulated.threads[u].state == AT_WARP_BARRIER &&
                   emulated.threads[u].wanted == lanes);
        for (size_t u = first; u < last && all; ++u)
            if ((lanes >> (u - first) & 1) != 0 && emulated.threads[u].state == AT_WARP_BARRIER)
                emulated.threads[u].state = RUNS;
    }
}

/* The barrier of a block is reached by all of its threads, at the same place. */
static void emulated_check_barrier(size_t first, size_t last) {
    size_t at = first;
    while (at < last && emulated.threads[at].state != AT_BLOCK_BARRIER)
        ++at;
    for (size_t t = first; t < last && at < last; ++t)
        if (emulated.threads[t].state != AT_BLOCK_BARRIER && emulated.threads[t].state != DONE)
            return;
    for (size_t t = first; t < last && at < last && emulated.failure[0] == '\0'; ++t)
        if (emulated.threads[t].state == DONE || emulated.threads[t].line != emulated.threads[at].line)
            snprintf(emulated.failure, sizeof emulated.failure,
                     "thread %u waits at the __syncthreads of line %d, which thread %u does not reach",
                     (unsigned)(at - first), emulated.threads[at].line, (unsigned)(t - first));
}

/* A named barrier opens when as many threads of the block as it counts have reached it. */
static void emulated_release_named(size_t first, size_t last) {
    unsigned here = 0, wanted = 0;
    for (size_t t = first; t < last; ++t)
        if (emulated.threads[t].state == AT_NAMED_BARRIER) {
            ++here;
            wanted = emulated.threads[t].wanted;
        }
    for (size_t t = first; t < last && here > 0 && here >= wanted; ++t)
        if (emulated.threads[t].state == AT_NAMED_BARRIER)
            emulated.threads[t].state = RUNS;
}

/* The number of the i-th thread or block of n. */
static size_t emulated_number(size_t i, size_t n, int order) {
    const bool from_end = order == 1 || (order == 2 && i % 2 == 1);
    const size_t steps = order == 2 ? i / 2 : i;
    return from_end ? n - 1 - steps : steps;
}

/* A barrier that not all threads reach. */
static void emulated_tell_stuck() {
    static const char *const places[] = {"runs", "at __syncthreads", "at an instruction of its warp",
                                         "at a barrier of some threads", "at a barrier of the cluster",
                                         "for a copy", "at the end of the kernel"};
    size_t waits = 0, other = 0;
    while (waits + 1 < emulated.n_threads && emulated.threads[waits].state == DONE)
        ++waits;
    while (other + 1 < emulated.n_threads &&
           emulated.threads[other].state == emulated.threads[waits].state &&
           emulated.threads[other].wanted == emulated.threads[waits].wanted)
        ++other;
    snprintf(emulated.failure, sizeof emulated.failure,
             "threads wait for each other for ever: thread %u is %s, thread %u %s", (unsigned)waits,
             places[emulated.threads[waits].state], (unsigned)other,
             places[emulated.threads[other].state]);
}

/* Threads that will not end: the next kernel starts new ones. */
static void emulated_abandon() {
    for (size_t t = 0; t < emulated.capacity; ++t) {
        free(emulated.threads[t].stack);
        emulated.threads[t].stack = nullptr;
        emulated.threads[t].copies.n = 0;
    }
    if (!emulated.tells) {
        fprintf(stderr, "emulated: %s\n", emulated.failure);
        abort();
    }
}

/* What was wrong with the last kernel; NULL: nothing. Who asks once gets the failures of the next ones, which abort otherwise. */
extern "C" const char *emulate_failure() {
    static char last[sizeof emulated.failure];
    memcpy(last, emulated.failure, sizeof last);
    emulated.failure[0] = '\0';
    emulated.tells = true;
    return last[0] != '\0' ? last : nullptr;
}

static void emulated_run_block(int order) {
    const size_t n = emulated.n_threads;
    for (size_t t = 0; t < n; ++t)
        emulated.threads[t].state = RUNS;
    for (size_t done = 0, stuck = 0; done < n && stuck < 3; ++stuck) {
        size_t waiting[DONE + 1] = {0};
        for (size_t i = 0; i < n; ++i) {
            const size_t t = emulated_number(i, n, order);
            if (emulated.threads[t].state == RUNS || emulated.threads[t].state == AT_RING) {
                emulated_resume((unsigned)t);
                emulated.progress |= emulated.threads[t].state != AT_RING;
            }
        }
        stuck = emulated.progress ? 0 : stuck;
        emulated.progress = false;
        for (size_t t = 0; t < n; ++t)
            ++waiting[emulated.threads[t].state];
        done = waiting[DONE];
        for (size_t first = 0; first < n && waiting[AT_WARP_BARRIER] > 0; first += 32)
            emulated_release_lanes(first, first + 32 < n ? first + 32 : n);
        for (size_t first = 0; first < n && waiting[AT_BLOCK_BARRIER] > 0; first += emulated.block_threads) {
            emulated_check_barrier(first, first + emulated.block_threads);
            emulated_release(first, first + emulated.block_threads, AT_BLOCK_BARRIER);
        }
        for (size_t first = 0; first < n && waiting[AT_NAMED_BARRIER] > 0; first += emulated.block_threads)
            emulated_release_named(first, first + emulated.block_threads);
        emulated_release(0, n, AT_CLUSTER_BARRIER);
        if (stuck == 2 && done < n)
            emulated_tell_stuck();
        if (emulated.failure[0] != '\0') {
            emulated_abandon();
            return;
        }
    }
}

static void *emulated_function;
static long long emulated_n;
static void **emulated_arguments;
static void (*emulated_caller)(long long n, void **arguments);

static void emulated_call() {
    emulated_caller(emulated_n, emulated_arguments);
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

/* Also when the object is closed. */
__attribute__((destructor)) static void emulated_free_threads() {
    for (size_t t = 0; t < emulated.capacity; ++t) {
        free(emulated.threads[t].stack);
        free(emulated.threads[t].copies.list);
    }
    free(emulated.threads);
    free(emulated.lanes);
}

static void emulated_set_threads(size_t n) {
    emulated.n_threads = n;
    if (n <= emulated.capacity)
        return;
    emulated.threads = (emulated_thread *)realloc(emulated.threads, n * sizeof *emulated.threads);
    emulated.lanes = (emulated_lane *)realloc(emulated.lanes, n * sizeof *emulated.lanes);
    for (; emulated.capacity < n; ++emulated.capacity)
        emulated.threads[emulated.capacity] = {};
}

struct emulated_named {
    const char *name;
    void (*call)(long long n, void **arguments);
};

/* Blocks per cluster of the next kernel. */
static unsigned emulated_cluster_blocks = 1;
extern "C" void emulate_cluster(unsigned n_blocks) {
    emulated_cluster_blocks = n_blocks;
}

extern "C" void emulate_call(void (*call)(long long, void **), long long n, void **arguments,
                             unsigned n_blocks, unsigned n_threads, unsigned shared_bytes,
                             int order) {
    emulated_caller = call;
    emulated_n = n;
    emulated_arguments = arguments;
    emulated.body = emulated_call;
    const unsigned cluster = emulated_cluster_blocks;
    emulated_set_threads(n_threads * cluster);
    emulated.block_threads = n_threads;
    emulated_cluster_blocks = 1;
    blockDim.x = n_threads;
    gridDim.x = n_blocks;
    const size_t bytes = emulated_statics_bytes();
    emulated.shared_stride = ((size_t)shared_bytes + 256 + 127) / 128 * 128;
    emulated.shared = (char *)aligned_alloc(128, cluster * emulated.shared_stride);
    emulated.statics = (char *)malloc(cluster * bytes + 1);
    for (unsigned i = 0; i < n_blocks / cluster && emulated.failure[0] == '\0'; ++i) {
        emulated.first_block = (unsigned)emulated_number(i, n_blocks / cluster, order) * cluster;
        emulated.current = 0;
        memset(emulated.shared, 0xff, cluster * emulated.shared_stride);
        memset(emulated.statics, 0xff, cluster * bytes);
        if (bytes > 0)
            memset(__start_emulated_statics, 0xff, bytes);
        emulated_run_block(order);
    }
    free(emulated.shared);
    free(emulated.statics);
}

template <size_t> using emulated_pointer = void *;
template <size_t... I> static void emulated_call_each(std::index_sequence<I...>) {
    auto *kernel = (void (*)(long long, emulated_pointer<I>...))emulated_function;
    kernel(emulated_n, emulated_arguments[I]...);
}
template <size_t N> static void emulated_call_with(long long, void **) {
    emulated_call_each(std::make_index_sequence<N>());
}

/* arguments [96] */
extern "C" void emulate_wide(void *kernel, long long n, void **arguments, unsigned n_blocks,
                             unsigned n_threads, unsigned shared_bytes, int order) {
    emulated_function = kernel;
    emulate_call(emulated_call_with<96>, n, arguments, n_blocks, n_threads, shared_bytes, order);
}

/* arguments [24] */
extern "C" void emulate(void *kernel, long long n, void **arguments, unsigned n_blocks,
                        unsigned n_threads, unsigned shared_bytes, int order) {
    emulated_function = kernel;
    emulate_call(emulated_call_with<24>, n, arguments, n_blocks, n_threads, shared_bytes, order);
}
