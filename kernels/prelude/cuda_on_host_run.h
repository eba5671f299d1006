/* Runs kernels of CUDA text on the host (cuda_on_host.h): fibers, barriers, shuffles and copies.
 * Blocks, or clusters of blocks, run one after the other; shared memory is poisoned before each.
 * Threads and blocks run in the order of their numbers (0), in reverse (1), or from both ends
 * alternately (2): what is right does not depend on it. */
#include <stdarg.h>
#include <ucontext.h>

#pragma GCC visibility push(hidden)

emulated_index threadIdx, blockIdx, blockDim, gridDim;
unsigned char *emulated_shared;
emulated_place emulated;

/* A GPU gives a thread at most 512 kB of local memory. What a stack does not use takes no memory. */
enum { EMULATED_STACK = 1048576, EMULATED_LANE = 16 };

/* A stack on which threads run one after the other, until one waits: that thread holds it then. */
struct emulated_fiber {
    void *kept[5]; /* where it stopped: by __builtin_setjmp */
    emulated_fiber *next_made, *next_free;
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

struct emulated_thread {
    emulated_fiber *fiber; /* that it holds; NULL: it has not begun */
    unsigned wanted;       /* at a named barrier: this number of threads; of a warp: these lanes */
    unsigned present;      /* lanes that it has waited with */
    int line;              /* of the block's barrier */
    emulated_copies copies;
};

/* What lanes give to each other: taken when all of them wait, so that one wait is enough. */
struct emulated_lane {
    alignas(16) unsigned char given[EMULATED_LANE], taken[EMULATED_LANE];
};

struct emulated_schedule {
    emulated_fiber scheduler, *running, *made, *free;
    size_t n_fibers;
    emulated_thread *threads;
    unsigned char *states; /* emulated_state */
    emulated_lane *lanes;  /* [n_threads] each */
    size_t n_threads;      /* of all blocks of a cluster */
    size_t capacity;       /* threads that there is memory for */
    size_t position;       /* threads that had their chance since the scheduler began to pass */
    int order;
    void (*body)();
    unsigned first_block;
    bool progress;
    char *shared; /* as `statics` */
    size_t shared_stride;
    char failure[300]; /* what is wrong; "": nothing */
    bool tells;        /* who runs kernels asks for failures */
};
static emulated_schedule emulation;

/* Shared memory of a block of the cluster in its place. */
static void emulated_place_block(unsigned block) {
    const size_t bytes = emulated_statics_bytes();
    if (block != emulated.block && bytes > 0) {
        memcpy(emulated_statics_of(emulated.block), __start_emulated_statics, bytes);
        memcpy(__start_emulated_statics, emulated_statics_of(block), bytes);
    }
    emulated.block = block;
    blockIdx.x = emulation.first_block + block;
    emulated_shared = (unsigned char *)emulation.shared + block * emulation.shared_stride;
}

/* The number of the i-th thread or block of n. */
static inline size_t emulated_number(size_t i, size_t n, int order) {
    const bool from_end = order == 1 || (order == 2 && i % 2 == 1);
    const size_t steps = order == 2 ? i / 2 : i;
    return from_end ? n - 1 - steps : steps;
}

/* The next thread of this pass that can run becomes the one that does; false: there is none. */
static bool emulated_take_next() {
    const size_t n = emulation.n_threads;
    while (emulation.position < n) {
        const size_t t = emulated_number(emulation.position++, n, emulation.order);
        if (emulation.states[t] != RUNS && emulation.states[t] != AT_RING)
            continue;
        const unsigned block = (unsigned)t / emulated.block_threads;
        if (block != emulated.block)
            emulated_place_block(block);
        emulated.me = (unsigned)t;
        threadIdx.x = (unsigned)t - block * emulated.block_threads;
        return true;
    }
    return false;
}

/* swapcontext would call the system twice a switch, for the mask of signals. */
__attribute__((noinline)) static void emulated_go(emulated_fiber *to) {
    __builtin_longjmp(to->kept, 1);
}
__attribute__((noinline)) static void emulated_switch(emulated_fiber *from, emulated_fiber *to) {
    emulation.running = to;
    if (__builtin_setjmp(from->kept) == 0)
        emulated_go(to);
}

/* Runs threads that begin, for ever: after each the next one, unless that waits on a fiber of its own. */
static void emulated_entry() {
    emulated_fiber *own = emulation.running;
    for (;;) {
        emulation.body();
        emulation.states[emulated.me] = DONE;
        emulation.progress = true;
        const bool has_next = emulated_take_next();
        emulated_fiber *to = has_next ? emulation.threads[emulated.me].fiber : &emulation.scheduler;
        if (to != nullptr) {
            own->next_free = emulation.free;
            emulation.free = own;
            emulated_switch(own, to);
        }
    }
}

/* On a new fiber. Stacks of the same place in a page would share few lines of the caches. */
__attribute__((noinline)) static void emulated_begin(emulated_fiber *from) {
    static ucontext_t context;
    const size_t shift = emulation.n_fibers++ * 1088 % 65536;
    emulated_fiber *fiber = (emulated_fiber *)malloc(sizeof *fiber + 65536 + EMULATED_STACK);
    fiber->next_made = emulation.made;
    emulation.made = emulation.running = fiber;
    getcontext(&context);
    context.uc_stack.ss_sp = (char *)(fiber + 1) + shift;
    context.uc_stack.ss_size = EMULATED_STACK;
    context.uc_link = nullptr;
    makecontext(&context, emulated_entry, 0);
    if (__builtin_setjmp(from->kept) == 0)
        setcontext(&context);
}

/* The thread that was taken goes on or begins; `from` stops. */
static void emulated_proceed(emulated_fiber *from) {
    emulated_fiber *to = emulation.threads[emulated.me].fiber;
    if (to == nullptr && emulation.free != nullptr) {
        to = emulation.free;
        emulation.free = to->next_free;
    }
    if (to != nullptr)
        emulated_switch(from, to);
    else
        emulated_begin(from);
}

void emulated_wait(emulated_state at) {
    const unsigned me = emulated.me;
    emulated_fiber *own = emulation.running;
    emulation.threads[me].fiber = own;
    emulation.states[me] = (unsigned char)at;
    emulation.progress |= at != AT_RING;
    if (emulated_take_next())
        emulated_proceed(own);
    else
        emulated_switch(own, &emulation.scheduler);
    emulation.threads[me].fiber = nullptr;
}

void emulated_fail(const char *format, ...) {
    va_list values;
    va_start(values, format);
    if (emulation.failure[0] == '\0')
        vsnprintf(emulation.failure, sizeof emulation.failure, format, values);
    va_end(values);
    for (;;)
        emulated_wait(DONE);
}

void emulated_block_barrier(int line) {
    emulation.threads[emulated.me].line = line;
    emulated_wait(AT_BLOCK_BARRIER);
}

void rows_barrier(int threads) {
    emulation.threads[emulated.me].wanted = (unsigned)threads;
    emulated_wait(AT_NAMED_BARRIER);
}

void __syncwarp(unsigned mask) {
    const unsigned me = emulated.me;
    if ((mask >> me % 32 & 1) == 0)
        emulated_fail("thread %u of block %u waits for lanes 0x%x of its warp, without its own",
                      threadIdx.x, blockIdx.x, mask);
    emulation.threads[me].wanted = mask;
    emulated_wait(AT_WARP_BARRIER);
}

/* The usual sizes without a call. */
static inline void emulated_take(void *to, const void *from, size_t bytes) {
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, bytes);
}

void emulated_exchange_bytes(unsigned mask, void *v, size_t bytes, unsigned from) {
    const unsigned me = emulated.me, source = me / 32 * 32 + from;
    emulated_take(emulation.lanes[me].given, v, bytes);
    __syncwarp(mask);
    if (source == me || source >= emulation.n_threads)
        return;
    if ((emulation.threads[me].present >> from & 1) != 0)
        emulated_take(v, emulation.lanes[source].taken, bytes);
    else
        memset(v, 0xff, bytes);
}

unsigned emulated_vote(unsigned mask, uint64_t v, uint64_t wanted) {
    const unsigned me = emulated.me;
    const emulated_lane *lanes = emulation.lanes + me / 32 * 32;
    unsigned bits = 0;
    memcpy(emulation.lanes[me].given, &v, sizeof v);
    __syncwarp(mask);
    for (unsigned rest = emulation.threads[me].present; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        memcpy(&v, lanes[lane].taken, sizeof v);
        bits |= (unsigned)(v == wanted) << lane;
    }
    return bits;
}

void emulated_count(ring_barrier *b, int arrivals, int bytes) {
    emulated_ring *ring = (emulated_ring *)b;
    ring->pending = (uint16_t)(ring->pending - arrivals);
    ring->bytes += bytes;
    if (ring->pending == 0 && ring->bytes == 0) {
        ring->phase ^= 1u;
        ring->pending = ring->expected;
        emulation.progress = true;
    }
}

void emulated_copy_later(void *to, const void *from, int bytes, int present) {
    const uintptr_t n = (uintptr_t)bytes;
    if ((uintptr_t)to % n != 0 || (present > 0 && (uintptr_t)from % n != 0))
        abort(); /* a device refuses it */
    emulated_copies *own = &emulation.threads[emulated.me].copies;
    if (own->n == own->capacity) {
        own->capacity = 2 * own->capacity + 16;
        own->list = (emulated_copy *)realloc(own->list, own->capacity * sizeof *own->list);
    }
    own->list[own->n++] = {to, from, bytes, present, own->open};
}

void copy_commit() {
    ++emulation.threads[emulated.me].copies.open;
}

void emulated_copy_now(int groups) {
    emulated_copies *own = &emulation.threads[emulated.me].copies;
    size_t n = 0;
    for (; n < own->n && own->list[n].group < own->open - groups; ++n) {
        const emulated_copy *copy = &own->list[n];
        memset(copy->to, 0, (size_t)copy->bytes);
        memcpy(copy->to, copy->from, (size_t)copy->present);
    }
    if (n == 0)
        return;
    own->n -= n;
    memmove(own->list, own->list + n, own->n * sizeof *own->list);
}

struct emulated_fragments {
    double a[8], b[4];
};
static emulated_fragments emulated_lanes[1024];
void emulated_mma(int slots, int halves, double *c, const double *a, const double *b) {
    const unsigned me = emulated.me, lane = me % 32, warp = me - lane;
    memcpy(emulated_lanes[me].a, a, sizeof(double) * (size_t)(slots * halves));
    memcpy(emulated_lanes[me].b, b, sizeof(double) * (size_t)slots);
    __syncwarp();
    for (int h = 0; h < halves; ++h)
        for (unsigned e = 0; e < 2; ++e)
            for (int s = 0; s < slots; ++s)
                for (unsigned t = 0; t < 4; ++t)
                    c[2 * h + (int)e] += emulated_lanes[warp + lane / 4 * 4 + t].a[halves * s + h] *
                                         emulated_lanes[warp + (2 * (lane % 4) + e) * 4 + t].b[s];
    __syncwarp();
}

/* Threads at a barrier continue once all that are not done have reached it. */
static void emulated_release(size_t first, size_t last, emulated_state at) {
    for (size_t t = first; t < last; ++t)
        if (emulation.states[t] != at && emulation.states[t] != DONE)
            return;
    for (size_t t = first; t < last; ++t)
        if (emulation.states[t] == at)
            emulation.states[t] = RUNS;
}

/* The lanes of a mask continue once all of them that are not done wait with the same mask. */
static void emulated_release_lanes(size_t first, size_t last) {
    for (size_t t = first; t < last; ++t) {
        const unsigned lanes = emulation.threads[t].wanted;
        unsigned present = 0;
        bool all = emulation.states[t] == AT_WARP_BARRIER;
        for (size_t u = first; u < last && all; ++u) {
            const bool waits = emulation.states[u] == AT_WARP_BARRIER && emulation.threads[u].wanted == lanes;
            if ((lanes >> (u - first) & 1) != 0) {
                all = waits || emulation.states[u] == DONE;
                present |= (unsigned)waits << (u - first);
            }
        }
        for (size_t u = first; u < last && all; ++u)
            if ((present >> (u - first) & 1) != 0) {
                emulation.states[u] = RUNS;
                emulation.threads[u].present = present;
                memcpy(emulation.lanes[u].taken, emulation.lanes[u].given, EMULATED_LANE);
            }
    }
}

/* The barrier of a block is reached by all of its threads, at the same place. */
static void emulated_check_barrier(size_t first, size_t last) {
    size_t at = first;
    while (at < last && emulation.states[at] != AT_BLOCK_BARRIER)
        ++at;
    for (size_t t = first; t < last && at < last; ++t)
        if (emulation.states[t] != AT_BLOCK_BARRIER && emulation.states[t] != DONE)
            return;
    for (size_t t = first; t < last && at < last && emulation.failure[0] == '\0'; ++t)
        if (emulation.states[t] == DONE || emulation.threads[t].line != emulation.threads[at].line)
            snprintf(emulation.failure, sizeof emulation.failure,
                     "thread %u waits at the __syncthreads of line %d, which thread %u does not reach",
                     (unsigned)(at - first), emulation.threads[at].line, (unsigned)(t - first));
}

/* A named barrier opens when as many threads of the block as it counts have reached it. */
static void emulated_release_named(size_t first, size_t last) {
    unsigned here = 0, wanted = 0;
    for (size_t t = first; t < last; ++t)
        if (emulation.states[t] == AT_NAMED_BARRIER) {
            ++here;
            wanted = emulation.threads[t].wanted;
        }
    for (size_t t = first; t < last && here > 0 && here >= wanted; ++t)
        if (emulation.states[t] == AT_NAMED_BARRIER)
            emulation.states[t] = RUNS;
}

/* A barrier that not all threads reach. */
static void emulated_tell_stuck() {
    static const char *const places[] = {"runs", "at __syncthreads", "at an instruction of its warp",
                                         "at a barrier of some threads", "at a barrier of the cluster",
                                         "for a copy", "at the end of the kernel"};
    size_t waits = 0, other = 0;
    while (waits + 1 < emulation.n_threads && emulation.states[waits] == DONE)
        ++waits;
    while (other + 1 < emulation.n_threads &&
           emulation.states[other] == emulation.states[waits] &&
           emulation.threads[other].wanted == emulation.threads[waits].wanted)
        ++other;
    snprintf(emulation.failure, sizeof emulation.failure,
             "threads wait for each other for ever: thread %u is %s, thread %u %s", (unsigned)waits,
             places[emulation.states[waits]], (unsigned)other,
             places[emulation.states[other]]);
}

static void emulated_free_fibers() {
    while (emulation.made != nullptr) {
        emulated_fiber *fiber = emulation.made;
        emulation.made = fiber->next_made;
        free(fiber);
    }
    emulation.free = nullptr;
    emulation.n_fibers = 0;
}

/* Threads that will not end: the next kernel starts on new fibers. */
static void emulated_abandon() {
    emulated_free_fibers();
    for (size_t t = 0; t < emulation.capacity; ++t)
        emulation.threads[t].copies.n = 0;
    if (!emulation.tells) {
        fprintf(stderr, "emulated: %s\n", emulation.failure);
        abort();
    }
}

/* Threads that wait for what has come run on; returns how many are done. */
static size_t emulated_release_all() {
    const size_t n = emulation.n_threads, block = emulated.block_threads;
    bool any[DONE + 1] = {false};
    size_t done = 0;
    for (size_t t = 0; t < n; ++t) {
        any[emulation.states[t]] = true;
        done += emulation.states[t] == DONE;
    }
    for (size_t first = 0; first < n && any[AT_WARP_BARRIER]; first += 32)
        emulated_release_lanes(first, first + 32 < n ? first + 32 : n);
    for (size_t first = 0; first < n && any[AT_BLOCK_BARRIER]; first += block) {
        emulated_check_barrier(first, first + block);
        emulated_release(first, first + block, AT_BLOCK_BARRIER);
    }
    for (size_t first = 0; first < n && any[AT_NAMED_BARRIER]; first += block)
        emulated_release_named(first, first + block);
    if (any[AT_CLUSTER_BARRIER])
        emulated_release(0, n, AT_CLUSTER_BARRIER);
    return done;
}

static void emulated_run_block() {
    const size_t n = emulation.n_threads;
    memset(emulation.states, RUNS, n);
    for (size_t t = 0; t < n; ++t)
        emulation.threads[t].fiber = nullptr;
    for (size_t done = 0, stuck = 0; done < n && stuck < 3; ++stuck) {
        emulation.position = 0;
        if (emulated_take_next())
            emulated_proceed(&emulation.scheduler);
        stuck = emulation.progress ? 0 : stuck;
        emulation.progress = false;
        done = emulated_release_all();
        if (stuck == 2 && done < n)
            emulated_tell_stuck();
        if (emulation.failure[0] != '\0') {
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

/* Also when the object is closed. */
__attribute__((destructor)) static void emulated_free_threads() {
    emulated_free_fibers();
    for (size_t t = 0; t < emulation.capacity; ++t)
        free(emulation.threads[t].copies.list);
    free(emulation.threads);
    free(emulation.states);
    free(emulation.lanes);
}

static void emulated_set_threads(size_t n) {
    emulation.n_threads = n;
    if (n <= emulation.capacity)
        return;
    emulation.threads = (emulated_thread *)realloc(emulation.threads, n * sizeof *emulation.threads);
    emulation.states = (unsigned char *)realloc(emulation.states, n);
    emulation.lanes = (emulated_lane *)realloc(emulation.lanes, n * sizeof *emulation.lanes);
    for (; emulation.capacity < n; ++emulation.capacity)
        emulation.threads[emulation.capacity] = {};
}

#pragma GCC visibility pop

/* What was wrong with the last kernel; NULL: nothing. Who asks once gets the failures of the next ones, which abort otherwise. */
extern "C" const char *emulate_failure() {
    static char last[sizeof emulation.failure];
    memcpy(last, emulation.failure, sizeof last);
    emulation.failure[0] = '\0';
    emulation.tells = true;
    return last[0] != '\0' ? last : nullptr;
}

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
    emulation.body = emulated_call;
    const unsigned cluster = emulated_cluster_blocks;
    emulation.order = order;
    emulated_set_threads(n_threads * cluster);
    emulated.block_threads = n_threads;
    emulated_cluster_blocks = 1;
    blockDim.x = n_threads;
    gridDim.x = n_blocks;
    const size_t bytes = emulated_statics_bytes();
    emulation.shared_stride = ((size_t)shared_bytes + 256 + 127) / 128 * 128;
    emulation.shared = (char *)aligned_alloc(128, cluster * emulation.shared_stride);
    emulated.statics = (char *)malloc(cluster * bytes + 1);
    for (unsigned i = 0; i < n_blocks / cluster && emulation.failure[0] == '\0'; ++i) {
        emulation.first_block = (unsigned)emulated_number(i, n_blocks / cluster, order) * cluster;
        emulated.block = 0;
        memset(emulation.shared, 0xff, cluster * emulation.shared_stride);
        memset(emulated.statics, 0xff, cluster * bytes);
        if (bytes > 0)
            memset(__start_emulated_statics, 0xff, bytes);
        emulated_place_block(0);
        emulated_run_block();
    }
    free(emulation.shared);
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
