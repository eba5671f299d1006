/* Chooses the grid of the persistent kernel, and the placement of its data in registers and shared
 * memory. The constants are from trials on an H200. */
#include "fem/solve/persistent.h"

#include <stdio.h>

enum {
    LANES = 32,
    WARPS_STEP = 4,     /* granularity of register allocation */
    THREADS_LEAST = 96, /* three warps compute the three sums */
    THREADS_FEW = 256,  /* for blocks of few, some and many rows; each the maximum for the */
    THREADS_SOME = 384, /* registers that a thread then gets: 255, 168, 128 */
    THREADS_MANY = 512,
    FEW_ROWS = 1280,
    SOME_ROWS = 6144,
    FEW_ENTRIES = 10,  /* per row; with more, the halo is larger and needs more threads */
    BLOCK_NODES = 228, /* minimum worth a block of its own */
    MOST_REGISTERS = 255,
    REGISTER_STEP = 8,
    OWN_REGISTERS = 28,   /* of 4 bytes: addresses, sums */
    KEEP_REGISTERS = 48,  /* reserved in addition, if possible, for loads in flight */
    SPILL_REGISTERS = 16, /* tolerated spills, which cost little */
    NODE_REGISTERS = 6,   /* p, s, w */
    HALO_REGISTERS = 5,   /* s, w, the address */
    PAIR_REGISTERS = 5,   /* two values, two columns */
    PAIR_BYTES = 20,
    MOST_PAIRS = 384,    /* per thread: NVRTC takes 10 s for a kernel with 320, 18 s with 515 */
    COPIES = 1,          /* of the partial sums exchanged between blocks */
    SPACING = 16,        /* words (128 bytes) per four sums; 4 costs 0.7 us more per iteration */
    STATIC_BYTES = 1024, /* of shared memory: static, and the system's */
};

static int round_up(int64_t n, int step) {
    return (int)((n + step - 1) / step * step);
}

static int registers_of(const weft_limits *limits, int threads) {
    int given = LANES * round_up((threads + LANES - 1) / LANES, WARPS_STEP);
    int n = (int)(limits->register_bytes / 4 / (size_t)given) / REGISTER_STEP * REGISTER_STEP;
    return n < MOST_REGISTERS ? n : MOST_REGISTERS;
}

static int threads_for(int64_t rows, double entries) {
    if (rows <= THREADS_FEW)
        return rows < THREADS_LEAST ? THREADS_LEAST : round_up(rows, LANES);
    if (rows <= FEW_ROWS && entries <= FEW_ENTRIES)
        return THREADS_FEW;
    return rows <= SOME_ROWS ? THREADS_SOME : THREADS_MANY;
}

bool weft_persistent_fits(const weft_limits *limits, int64_t n, int64_t n_entries,
                          weft_persistent_shape *shape, char *reason, size_t size) {
    weft_persistent_shape s = {0};
    if (limits->execution != WEFT_EXECUTION_SIMT || limits->multiprocessors < 1) {
        snprintf(reason, size, "the device has no multiprocessors");
        return false;
    }
    if (n < 1 || n_entries > INT32_MAX) {
        snprintf(reason, size, "there are %lld nodes and %lld entries", (long long)n,
                 (long long)n_entries);
        return false;
    }
    int64_t wanted = (n + BLOCK_NODES - 1) / BLOCK_NODES;
    s.n_blocks = wanted < limits->multiprocessors ? (int)wanted : limits->multiprocessors;
    int64_t rows = (n + s.n_blocks - 1) / s.n_blocks;
    s.threads = threads_for(rows, (double)n_entries / (double)n);
    int64_t nodes = (rows + s.threads - 1) / s.threads;
    int64_t most = (registers_of(limits, s.threads) - OWN_REGISTERS) / NODE_REGISTERS;
    int64_t kept = ((int64_t)limits->onchip_bytes - STATIC_BYTES) / (8 * (int64_t)s.threads);
    most = most < WEFT_PERSISTENT_NODES ? most : WEFT_PERSISTENT_NODES;
    most = most < kept ? most : kept;
    if (nodes > most) {
        snprintf(reason, size,
                 "%lld nodes are %lld a multiprocessor, which keeps the vectors of %lld",
                 (long long)n, (long long)rows, (long long)(most > 0 ? most * s.threads : 0));
        return false;
    }
    const int64_t pairs = n_entries / n / 2 * nodes;
    if (pairs > MOST_PAIRS) {
        snprintf(reason, size, "a thread has %lld pairs of entries, and a kernel at most %d",
                 (long long)pairs, MOST_PAIRS);
        return false;
    }
    s.nodes = (int)nodes;
    *shape = s;
    return true;
}

bool weft_persistent_place(const weft_limits *limits, const weft_persistent_layout *layout,
                           bool weighted, weft_persistent_placement *placement, char *reason,
                           size_t size) {
    weft_persistent_placement p = {.weights = weighted ? 2 : 0};
    int threads = layout->shape.threads, nodes = layout->shape.nodes;
    if (layout->pairs > MOST_PAIRS) {
        snprintf(reason, size, "a thread has %d pairs of entries, and a kernel at most %d",
                 layout->pairs, MOST_PAIRS);
        return false;
    }
    int registers = registers_of(limits, threads) - OWN_REGISTERS - NODE_REGISTERS * nodes -
                    HALO_REGISTERS * layout->halo;
    int64_t shared = (int64_t)limits->onchip_bytes - STATIC_BYTES -
                     (int64_t)(nodes + layout->halo) * threads * 8;
    p.x_shared = registers < 2 * nodes + KEEP_REGISTERS / 2;
    if (p.x_shared)
        shared -= (int64_t)nodes * threads * 8;
    else
        registers -= 2 * nodes;
    if (registers < -SPILL_REGISTERS || shared < 0) {
        snprintf(reason, size,
                 "%d nodes and %d of the halo a thread leave %d registers and %lld "
                 "bytes of shared memory",
                 nodes, layout->halo, registers, (long long)shared);
        return false;
    }
    if (weighted && registers >= 2 * nodes + KEEP_REGISTERS) {
        registers -= 2 * nodes;
        p.weights = 1;
    }
    int in_registers = (registers - KEEP_REGISTERS) / PAIR_REGISTERS;
    p.register_pairs = in_registers < 0               ? 0
                       : in_registers < layout->pairs ? in_registers
                                                      : layout->pairs;
    int64_t left = layout->pairs - p.register_pairs, in_shared = shared / (PAIR_BYTES * threads);
    p.shared_pairs = (int)(left < in_shared ? left : in_shared);
    p.shared_bytes = (nodes * (p.x_shared ? 2 : 1) + layout->halo) * threads * 8 +
                     p.shared_pairs * PAIR_BYTES * threads;
    left -= p.shared_pairs;
    p.read_bytes = (double)layout->shape.n_blocks * threads *
                   ((double)left * PAIR_BYTES + (p.weights == 2 ? 8.0 * nodes : 0));
    *placement = p;
    return true;
}

void weft_persistent_macros(const weft_persistent_layout *layout,
                            const weft_persistent_placement *placement, weft_text *out) {
    weft_text_add(out, "#define BLOCKS %d\n#define THREADS %d\n#define NODES %d\n",
                  layout->shape.n_blocks, layout->shape.threads, layout->shape.nodes);
    weft_text_add(out, "#define HALO %d\n#define PUBLISHED %d\n#define STARTS 0", layout->halo,
                  layout->published);
    for (int k = 1; k <= layout->shape.nodes; ++k)
        weft_text_add(out, ", %d", layout->starts[k]);
    weft_text_add(out, "\n#define REGISTER_PAIRS %d\n#define SHARED_PAIRS %d\n",
                  placement->register_pairs, placement->shared_pairs);
    weft_text_add(out, "#define UNIT_DIAGONAL %d\n#define WEIGHTS %d\n#define X_SHARED %d\n",
                  layout->has_diagonal ? 0 : 1, placement->weights, placement->x_shared ? 1 : 0);
    weft_text_add(out, "#define COPIES %d\n#define SPACING %d\n", COPIES, SPACING);
}

size_t weft_persistent_slot_words(const weft_persistent_layout *layout) {
    enum { SETS = 2, SUMS = 3 };
    return SETS * COPIES * (((size_t)layout->shape.n_blocks * SUMS + 3) / 4) * SPACING;
}
