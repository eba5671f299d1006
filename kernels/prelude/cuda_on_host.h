/* What generated CUDA text needs to be compiled as C++ and run on the host, for tests: a thread of
 * a block is a fiber, which runs until a barrier or a shuffle. Blocks run one after the other;
 * shared memory is poisoned before each. Threads and blocks run in the order of their numbers (0),
 * in reverse (1), or from both ends alternately (2): what is right does not depend on it. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <utility>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n) alignas(n)

struct emulated_index {
    unsigned x;
};
static emulated_index threadIdx, blockIdx, blockDim, gridDim;
static unsigned char *emulated_shared;

enum { EMULATED_STACK = 65536 };
enum emulated_state { RUNS, AT_BLOCK_BARRIER, AT_WARP_BARRIER, DONE };

/* Where a fiber stopped: what __builtin_setjmp keeps. */
struct emulated_place {
    void *kept[5];
};

/* Its stack belongs to it for as long as blocks have this many threads: started once, it runs its
 * thread of one block after another. */
struct emulated_thread {
    emulated_place place;
    emulated_state state;
    void *stack; /* NULL before it starts */
};

struct emulated_block {
    emulated_place scheduler;
    emulated_thread *threads;
    double *lanes; /* [n_threads] each */
    size_t n_threads;
    void (*body)();
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
    const unsigned me = threadIdx.x;
    emulated.threads[me].state = at;
    emulated_switch(&emulated.threads[me].place, &emulated.scheduler);
    threadIdx.x = me;
}

static inline void __syncthreads() {
    emulated_wait(AT_BLOCK_BARRIER);
}

static inline void __syncwarp() {
    emulated_wait(AT_WARP_BARRIER);
}

template <class T> static T __shfl_down_sync(unsigned, T v, int by) {
    const unsigned me = threadIdx.x, lane = me % 32;
    emulated.lanes[me] = (double)v;
    emulated_wait(AT_WARP_BARRIER);
    const T got = lane + (unsigned)by < 32 && me + (unsigned)by < emulated.n_threads
                      ? (T)emulated.lanes[me + (unsigned)by]
                      : v;
    emulated_wait(AT_WARP_BARRIER);
    return got;
}

static inline void __threadfence() {
}

template <class T> static T __ldcg(const T *p) {
    return *p;
}

template <class T> static T atomicAdd(T *p, T v) {
    const T before = *p;
    *p += v;
    return before;
}

static inline double __longlong_as_double(long long bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void emulated_entry(unsigned me) {
    for (;;) {
        threadIdx.x = me;
        emulated.body();
        emulated_wait(DONE);
    }
}

/* To the thread until it waits or is done. */
__attribute__((noinline)) static void emulated_resume(unsigned me) {
    emulated_thread *thread = &emulated.threads[me];
    threadIdx.x = me;
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

/* Threads at a barrier go on once all that are not done stand at it. */
static void emulated_release(size_t first, size_t last, emulated_state at) {
    for (size_t t = first; t < last; ++t)
        if (emulated.threads[t].state != at && emulated.threads[t].state != DONE)
            return;
    for (size_t t = first; t < last; ++t)
        if (emulated.threads[t].state == at)
            emulated.threads[t].state = RUNS;
}

/* The number of the i-th thread or block of n. */
static size_t emulated_number(size_t i, size_t n, int order) {
    const bool from_end = order == 1 || (order == 2 && i % 2 == 1);
    const size_t steps = order == 2 ? i / 2 : i;
    return from_end ? n - 1 - steps : steps;
}

static void emulated_run_block(int order) {
    const size_t n = emulated.n_threads;
    for (size_t t = 0; t < n; ++t)
        emulated.threads[t].state = RUNS;
    for (size_t done = 0, stuck = 0; done < n && stuck < 3; ++stuck) {
        done = 0;
        for (size_t i = 0; i < n; ++i) {
            const size_t t = emulated_number(i, n, order);
            if (emulated.threads[t].state == RUNS) {
                emulated_resume((unsigned)t);
                stuck = 0;
            }
        }
        for (size_t first = 0; first < n; first += 32)
            emulated_release(first, first + 32 < n ? first + 32 : n, AT_WARP_BARRIER);
        emulated_release(0, n, AT_BLOCK_BARRIER);
        for (size_t t = 0; t < n; ++t)
            done += emulated.threads[t].state == DONE;
        if (stuck == 2 && done < n)
            abort(); /* a barrier that not all threads reach */
    }
}

typedef void emulated_kernel(long long n, void *, void *, void *, void *, void *, void *, void *,
                             void *, void *, void *, void *, void *, void *, void *, void *, void *,
                             void *, void *, void *, void *, void *, void *, void *, void *);
static emulated_kernel *emulated_function;
static long long emulated_n;
static void **emulated_arguments;
static void (*emulated_caller)(long long n, void **arguments);

static void emulated_call() {
    emulated_caller(emulated_n, emulated_arguments);
}

static void emulated_call_24(long long n, void **a) {
    emulated_function(n, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
                      a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22],
                      a[23]);
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
    for (size_t t = 0; t < emulated.n_threads; ++t)
        free(emulated.threads[t].stack);
    free(emulated.threads);
    free(emulated.lanes);
}

static void emulated_set_threads(size_t n) {
    if (emulated.n_threads == n)
        return;
    emulated_free_threads();
    emulated.threads = (emulated_thread *)calloc(n, sizeof *emulated.threads);
    emulated.lanes = (double *)calloc(n, sizeof *emulated.lanes);
    emulated.n_threads = n;
}

struct emulated_named {
    const char *name;
    void (*call)(long long n, void **arguments);
};

extern "C" void emulate_call(void (*call)(long long, void **), long long n, void **arguments,
                             unsigned n_blocks, unsigned n_threads, unsigned shared_bytes,
                             int order) {
    emulated_caller = call;
    emulated_n = n;
    emulated_arguments = arguments;
    emulated.body = emulated_call;
    emulated_set_threads(n_threads);
    emulated_shared = (unsigned char *)aligned_alloc(128, shared_bytes / 128 * 128 + 128);
    blockDim.x = n_threads;
    gridDim.x = n_blocks;
    for (unsigned i = 0; i < n_blocks; ++i) {
        blockIdx.x = (unsigned)emulated_number(i, n_blocks, order);
        memset(emulated_shared, 0xff, shared_bytes / 128 * 128 + 128);
        emulated_run_block(order);
    }
    free(emulated_shared);
}

template <size_t> using emulated_pointer = void *;
template <size_t... I> static void emulated_call_each(std::index_sequence<I...>) {
    auto *kernel = (void (*)(long long, emulated_pointer<I>...))emulated_function;
    kernel(emulated_n, emulated_arguments[I]...);
}
static void emulated_call_wide(long long, void **) {
    emulated_call_each(std::make_index_sequence<96>());
}

/* arguments [96] */
extern "C" void emulate_wide(void *kernel, long long n, void **arguments, unsigned n_blocks,
                             unsigned n_threads, unsigned shared_bytes, int order) {
    emulated_function = (emulated_kernel *)kernel;
    emulate_call(emulated_call_wide, n, arguments, n_blocks, n_threads, shared_bytes, order);
}

/* arguments [24] */
extern "C" void emulate(void *kernel, long long n, void **arguments, unsigned n_blocks,
                        unsigned n_threads, unsigned shared_bytes, int order) {
    emulated_function = (emulated_kernel *)kernel;
    emulate_call(emulated_call_24, n, arguments, n_blocks, n_threads, shared_bytes, order);
}
