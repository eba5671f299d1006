/* Finds, for each entry of each local matrix, its position in the values of a symmetric matrix. */
#include "fem/base/memory.h"
#include "fem/sparse/symmetric.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { TASK_BLOCKS = 512 };

typedef struct position_work {
    const weft_symmetric *symmetric;
    const weft_pattern *pattern;
    const int32_t *indices;
    uint32_t *positions;
    int64_t n_cells, n_blocks;
    int width, lanes;
    bool transposed;
    atomic_bool missing;
} position_work;

/* The index of the entry a_ij, or -1. */
static int64_t entry_of(const weft_pattern *pattern, int32_t i, int32_t j) {
    int64_t low = pattern->row_start[i], high = pattern->row_start[i + 1];
    while (high - low > 24) {
        const int64_t middle = low + (high - low) / 2;
        if (pattern->columns[middle] <= j)
            low = middle;
        else
            high = middle;
    }
    for (; low < high; ++low)
        if (pattern->columns[low] == j)
            return low;
    return -1;
}

static uint32_t position_of(position_work *work, int32_t i, int32_t j) {
    const weft_symmetric *symmetric = work->symmetric;
    const int64_t mine = entry_of(work->pattern, i, j);
    int64_t counted = mine;
    if (mine < 0) {
        atomic_store(&work->missing, true);
        return 0;
    }
    if (work->transposed && i != j && i / WEFT_SYMMETRIC_NODES == j / WEFT_SYMMETRIC_NODES) {
        /* only if one slot serves both entries */
        const int64_t other = entry_of(work->pattern, j, i);
        if (symmetric->offsets[mine] == WEFT_SYMMETRIC_DISCARD ||
            symmetric->offsets[other] == WEFT_SYMMETRIC_DISCARD)
            counted = other;
    }
    const uint32_t offset = symmetric->offsets[counted];
    if (offset == WEFT_SYMMETRIC_DISCARD)
        return (uint32_t)(symmetric->first_discard + i % symmetric->n_discard);
    return (uint32_t)(symmetric->patches[i / WEFT_SYMMETRIC_NODES].first_value + offset);
}

static void find(void *user, int64_t task) {
    position_work *work = user;
    const int width = work->width, lanes = work->lanes;
    int64_t last = (task + 1) * TASK_BLOCKS;
    if (last > work->n_blocks)
        last = work->n_blocks;
    for (int64_t block = task * TASK_BLOCKS; block < last; ++block)
        for (int lane = 0; lane < lanes; ++lane) {
            const int64_t cell = block * lanes + lane;
            const int32_t *nodes =
                work->indices + (cell < work->n_cells ? cell : work->n_cells - 1) * width;
            uint32_t *out = work->positions + block * width * width * lanes + lane;
            for (int i = 0; i < width; ++i)
                for (int j = 0; j < width; ++j)
                    out[(i * width + j) * lanes] = position_of(work, nodes[i], nodes[j]);
        }
}

weft_status weft_symmetric_positions(weft_device *device, const weft_symmetric *symmetric,
                                     const weft_pattern *pattern, const weft_connectivity *dofs,
                                     weft_symmetric_placing placing, weft_memory **positions,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    const int lanes = placing.lanes;
    weft_memory *memory = NULL;
    uint32_t *own = NULL; /* staging buffer if the host cannot write into the memory */
    position_work work = {.symmetric = symmetric,
                          .pattern = pattern,
                          .indices = weft_connectivity_indices(dofs),
                          .n_cells = weft_connectivity_from(dofs),
                          .width = weft_connectivity_width(dofs),
                          .lanes = lanes,
                          .transposed = placing.transposed};
    size_t bytes, block_bytes = (size_t)(work.width * work.width * lanes) * sizeof(uint32_t);
    work.n_blocks = (work.n_cells + lanes - 1) / lanes;
    if (weft_connectivity_to(dofs) != pattern->n_rows || symmetric->n_rows != pattern->n_rows)
        return weft_error_set(error, WEFT_ERROR_SHAPE,
                              "a connectivity to %lld dofs, a pattern and edges of %lld and %lld "
                              "rows",
                              (long long)weft_connectivity_to(dofs), (long long)pattern->n_rows,
                              (long long)symmetric->n_rows);
    if (__builtin_mul_overflow((size_t)work.n_blocks, block_bytes, &bytes))
        return weft_error_set(error, WEFT_ERROR_MEMORY, "too many cells for matrix positions");
    TRY(weft_memory_make(device, bytes, &memory, error));
    work.positions = weft_memory_host(memory);
    if (!work.positions)
        work.positions = own = weft_scratch_make(bytes, 1);
    if (!work.positions)
        TRY(weft_out_of_memory(error, "matrix positions"));
    TRY(weft_device_for(device, (work.n_blocks + TASK_BLOCKS - 1) / TASK_BLOCKS, find, &work,
                        error));
    if (atomic_load(&work.missing)) {
        status = weft_error_set(error, WEFT_ERROR_SHAPE,
                                "the pattern lacks couplings of this connectivity");
        weft_error_hint(error, "make the pattern from a connectivity that contains them");
        goto done;
    }
    if (own)
        TRY(weft_memory_write(memory, 0, own, bytes, error));
    *positions = memory;
    memory = NULL;
done:
    weft_memory_free(&memory);
    free(own);
    return status;
}
