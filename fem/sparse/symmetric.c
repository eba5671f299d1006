/* Lays out a symmetric matrix: places the entries of each patch, then concatenates the patches. */
#include "fem/base/memory.h"
#include "fem/sparse/symmetric_patch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TASK_PATCHES = 8, FEW_DUMPS = 65536 };

typedef struct symmetric_make {
    const weft_pattern *pattern;
    weft_symmetric *edge;
    int most_rounds;
    void **records; /* [n_patches] */
    atomic_bool no_memory, not_symmetric;
} symmetric_make;

void weft_symmetric_free(weft_symmetric **edge) {
    if (!edge || !*edge)
        return;
    free((*edge)->patches);
    free((*edge)->columns);
    free((*edge)->lists);
    free((*edge)->offsets);
    free(*edge);
    *edge = NULL;
}

static void place(void *user, int64_t task) {
    symmetric_make *make = user;
    weft_symmetric *edge = make->edge;
    int64_t first = task * TASK_PATCHES, last = first + TASK_PATCHES;
    weft_symmetric_work *work = calloc(1, sizeof *work);
    if (!work) {
        atomic_store(&make->no_memory, true);
        return;
    }
    if (last > edge->n_patches)
        last = edge->n_patches;
    work->most_rounds = make->most_rounds;
    for (int64_t p = first; p < last; ++p) {
        weft_symmetric_outcome outcome = weft_symmetric_patch_make(
            work, make->pattern, p, edge->offsets, &edge->patches[p], &make->records[p]);
        if (outcome != WEFT_SYMMETRIC_PLACED) {
            atomic_store(outcome == WEFT_SYMMETRIC_NO_MEMORY ? &make->no_memory
                                                             : &make->not_symmetric,
                         true);
            break;
        }
    }
    weft_symmetric_work_free(work);
    free(work);
}

static void lay(void *user, int64_t task) {
    symmetric_make *make = user;
    weft_symmetric *edge = make->edge;
    int64_t first = task * TASK_PATCHES, last = first + TASK_PATCHES;
    for (int64_t p = first; p < last && p < edge->n_patches; ++p) {
        const weft_symmetric_patch *patch = &edge->patches[p];
        const size_t bytes = (size_t)patch->n_rounds * WEFT_SYMMETRIC_NODES * sizeof *edge->columns;
        const char *record = make->records[p];
        memcpy(edge->columns + patch->first_column, record, bytes);
        memcpy(edge->lists + patch->first_list, record + bytes,
               weft_symmetric_lists(patch) * sizeof *edge->lists);
        free(make->records[p]);
        make->records[p] = NULL;
    }
}

weft_status weft_symmetric_sum(weft_symmetric *edge, bool few_discards, weft_error *error) {
    int64_t n_slots = 0;
    for (int64_t p = 0; p < edge->n_patches; ++p) {
        weft_symmetric_patch *patch = &edge->patches[p];
        patch->first_value = edge->n_values;
        patch->first_column = edge->n_columns;
        patch->first_list = edge->n_lists;
        n_slots += patch->n_rounds * WEFT_SYMMETRIC_NODES;
        edge->n_values += (patch->n_rounds + 1) * (int64_t)WEFT_SYMMETRIC_NODES +
                          (((int64_t)patch->n_overflow + 3) & ~(int64_t)3);
        edge->n_columns += patch->n_rounds * WEFT_SYMMETRIC_NODES;
        edge->n_lists += (int64_t)weft_symmetric_lists(patch);
        edge->n_overflow += patch->n_overflow;
        if (patch->n_rounds > edge->most_rounds)
            edge->most_rounds = patch->n_rounds;
        if (patch->n_halo > edge->most_halo)
            edge->most_halo = patch->n_halo;
    }
    edge->first_discard = edge->n_values;
    edge->n_discard = few_discards && edge->n_rows > FEW_DUMPS ? FEW_DUMPS : edge->n_rows;
    edge->n_values += edge->n_discard;
    edge->slots_per_row = (double)n_slots / (double)(edge->n_rows > 0 ? edge->n_rows : 1);
    if (edge->n_values < (int64_t)UINT32_MAX)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "the edges of %lld rows have %lld values, more than 2^32 - 1",
                   (long long)edge->n_rows, (long long)edge->n_values);
    weft_error_hint(error, "use the assembly lma or matrix-free");
    return WEFT_ERROR_UNSUPPORTED;
}

int weft_symmetric_rounds_most(const weft_symmetric_options *options) {
    const int most = options->most_rounds;
    return most > 0 && most < WEFT_SYMMETRIC_MOST_ROUNDS ? most : WEFT_SYMMETRIC_MOST_ROUNDS;
}

static weft_status no_memory(weft_error *error, int64_t n_rows) {
    weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the edges of %lld rows",
                   (long long)n_rows);
    weft_error_hint(error, "use the assembly matrix-free, which stores no matrix");
    return WEFT_ERROR_MEMORY;
}

static weft_status outcome(const symmetric_make *make, weft_error *error) {
    if (atomic_load(&make->no_memory))
        return no_memory(error, make->edge->n_rows);
    if (!atomic_load(&make->not_symmetric))
        return WEFT_OK;
    return weft_error_refuse(error, WEFT_ERROR_INPUT,
                             "the pattern has an entry a_ij and no entry a_ji: edges need both",
                             "use the assembly csr");
}

weft_status weft_symmetric_make(weft_device *device, const weft_pattern *pattern,
                                const weft_symmetric_options *options, weft_symmetric **out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_patches = (pattern->n_rows + WEFT_SYMMETRIC_NODES - 1) / WEFT_SYMMETRIC_NODES;
    const int64_t n_tasks = (n_patches + TASK_PATCHES - 1) / TASK_PATCHES;
    weft_symmetric *edge = calloc(1, sizeof *edge);
    symmetric_make make = {
        .pattern = pattern, .edge = edge, .most_rounds = weft_symmetric_rounds_most(options)};
    if (!edge)
        TRY(no_memory(error, pattern->n_rows));
    edge->n_rows = pattern->n_rows;
    edge->n_patches = n_patches;
    edge->patches = weft_array_make((size_t)n_patches, sizeof *edge->patches);
    edge->offsets = weft_scratch_make((size_t)pattern->n_entries, sizeof *edge->offsets);
    make.records = calloc((size_t)n_patches + 1, sizeof *make.records);
    if (!edge->patches || !edge->offsets || !make.records)
        TRY(no_memory(error, pattern->n_rows));
    TRY(weft_device_for(device, n_tasks, place, &make, error));
    TRY(outcome(&make, error));
    TRY(weft_symmetric_sum(edge, options->few_discards, error));
    edge->columns = weft_array_make((size_t)edge->n_columns, sizeof *edge->columns);
    edge->lists = weft_array_make((size_t)edge->n_lists, sizeof *edge->lists);
    if (!edge->columns || !edge->lists)
        TRY(no_memory(error, pattern->n_rows));
    TRY(weft_device_for(device, n_tasks, lay, &make, error));
    *out = edge;
    edge = NULL;
done:
    for (int64_t p = 0; make.records && p < n_patches; ++p)
        free(make.records[p]);
    free(make.records);
    weft_symmetric_free(&edge);
    return status;
}
