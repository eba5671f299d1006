/* Local matrices that are added up in the order of cells on a GPU: each has places of its own, which a second kernel sums for each
 * entry of the matrix. */
#include "fem/base/memory.h"
#include "fem/sparse/on_device.h"

#include <stdlib.h>

struct weft_ordered_sums {
    weft_setup *setup;
    weft_memory *own;    /* [places] uint32_t: the place itself */
    weft_memory *values; /* [places] double */
    weft_memory *start;  /* [entries + 1] int64_t, in list */
    weft_memory *list;   /* the places of each entry, ascending by cell */
    int64_t n_entries;
};

void weft_ordered_sums_free(weft_ordered_sums **out) {
    weft_ordered_sums *sums = out ? *out : NULL;
    if (!sums)
        return;
    weft_memory_free(&sums->own);
    weft_memory_free(&sums->values);
    weft_memory_free(&sums->start);
    weft_memory_free(&sums->list);
    weft_setup_free(&sums->setup);
    free(sums);
    *out = NULL;
}

/* The places of each entry, by a counting sort. */
static weft_status make_lists(weft_ordered_sums *sums, int64_t n_cells, int64_t width,
                              weft_memory *positions, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(sums->setup);
    const int64_t n = sums->n_entries, numbers[] = {width, WEFT_SLICE, WEFT_SLICE, 0, n};
    const weft_setup_kernel count = {"connectivity", "count_positions", n_cells, 0, 0},
                            put = {"connectivity", "put_positions", n_cells, 0, 0},
                            sort = {"connectivity", "sort_positions", n, 0, 0};
    weft_memory *sizes = NULL, *counts = NULL;
    int64_t total = 0;
    TRY(weft_setup_numbers(sums->setup, numbers, 5, &sizes, error));
    TRY(weft_memory_make(device, (size_t)(n + 1) * sizeof(uint32_t), &counts, error));
    TRY(weft_setup_launch(sums->setup, &count, (weft_memory *[]){sizes, positions, counts}, 3,
                          error));
    TRY(weft_setup_sums(sums->setup, counts, n, &sums->start, &total, error));
    TRY(weft_memory_make_unset(device, (size_t)total * sizeof(uint32_t) + 1, &sums->list, error));
    TRY(weft_setup_launch(sums->setup, &put,
                          (weft_memory *[]){sizes, positions, sums->start, counts, sums->list}, 5,
                          error));
    TRY(weft_setup_launch(sums->setup, &sort, (weft_memory *[]){sums->start, sums->list}, 2,
                          error));
    const weft_setup_kernel place = {"connectivity", "place_positions", total, 0, 0};
    TRY(weft_setup_launch(sums->setup, &place, (weft_memory *[]){sizes, sums->list}, 2, error));
done:
    weft_memory_free(&sizes);
    weft_memory_free(&counts);
    return status;
}

weft_status weft_ordered_sums_make(weft_device *device, int64_t n_cells, int width,
                                   weft_memory *positions, int64_t n_entries,
                                   weft_ordered_sums **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t square = (int64_t)width * width;
    const int64_t n_padded = (n_cells + WEFT_SLICE - 1) / WEFT_SLICE * WEFT_SLICE;
    weft_ordered_sums *sums = calloc(1, sizeof *sums);
    if (!sums)
        TRY(weft_out_of_memory(error, "a sparse matrix"));
    if (n_entries > INT32_MAX || n_padded > UINT32_MAX / square)
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "a matrix that several ranks add up in the order of cells has at "
                              "most 2^31 - 1 entries, and 2^32 - 1 of local matrices",
                              "use more ranks, or --assembly matrix-free"));
    sums->n_entries = n_entries;
    TRY(weft_setup_make(device, &sums->setup, error));
    const size_t places = (size_t)(n_padded * square);
    const weft_setup_kernel number = {"values", "number", n_padded * square, 0, 0};
    TRY(weft_memory_make_unset(device, places * sizeof(uint32_t), &sums->own, error));
    TRY(weft_memory_make(device, places * sizeof(double), &sums->values, error));
    TRY(weft_setup_launch(sums->setup, &number, (weft_memory *[]){sums->own}, 1, error));
    TRY(make_lists(sums, n_cells, square, positions, error));
    *out = sums;
    sums = NULL;
done:
    weft_ordered_sums_free(&sums);
    return status;
}

weft_memory *weft_ordered_sums_values(const weft_ordered_sums *sums) {
    return sums->values;
}

weft_memory *weft_ordered_sums_positions(const weft_ordered_sums *sums) {
    return sums->own;
}

weft_status weft_ordered_sums_add(const weft_ordered_sums *sums, bool is_first, weft_memory *matrix,
                                  weft_error *error) {
    const weft_setup_kernel add = {"values", is_first ? "sum_lists" : "add_lists", sums->n_entries,
                                   0, 0};
    return weft_setup_launch(sums->setup, &add,
                             (weft_memory *[]){sums->start, sums->list, sums->values, matrix}, 4,
                             error);
}
