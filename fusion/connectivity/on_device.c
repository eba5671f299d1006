/* Makes the forms of a connectivity by kernels of the device (kernels/setup/connectivity.cu). */
#include "fusion/connectivity/connectivity.h"
#include "fusion/connectivity/private.h"

#include <stdlib.h>

enum {
    BLOCKS = 1024,
    THREADS = 256,
    SHORT_LISTS = 32, /* positions per target in the mean that one thread sorts */
    MOST_BLOCKS = 1 << 20
};

weft_status weft_indices_fit_on_device(weft_device *device, weft_memory *indices, int64_t n,
                                       int64_t n_to, bool *fit, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_blocks = n / THREADS < BLOCKS ? n / THREADS + 1 : BLOCKS;
    const weft_setup_kernel kernel = {"connectivity", "highest_index", n, n_blocks, 0};
    weft_setup *setup = NULL;
    weft_memory *highest = NULL;
    uint32_t most = 0;
    TRY(weft_setup_make(device, &setup, error));
    TRY(weft_memory_make(device, sizeof most, &highest, error));
    TRY(weft_setup_launch(setup, &kernel, (weft_memory *[]){indices, highest}, 2, error));
    TRY(weft_memory_read(highest, 0, &most, sizeof most, error));
    *fit = n == 0 || most < n_to;
done:
    weft_memory_free(&highest);
    weft_setup_free(&setup);
    return status;
}

weft_status weft_interleave_on_device(weft_connectivity *connectivity, int lanes, weft_memory **out,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = connectivity->device;
    const int64_t n = connectivity->n_from, width = connectivity->width;
    const int64_t n_padded = (n + lanes - 1) / lanes * lanes;
    const size_t bytes = (size_t)(n * width) * sizeof(int32_t);
    weft_setup *setup = NULL;
    weft_memory *sizes = NULL, *plain = NULL, *made = NULL;
    TRY(weft_setup_make(device, &setup, error));
    TRY(weft_setup_numbers(setup, (int64_t[]){n, width, lanes}, 3, &sizes, error));
    if (!connectivity->plain) {
        TRY(weft_connectivity_read(connectivity, error));
        TRY(weft_memory_make_unset(device, bytes, &plain, error));
        TRY(weft_memory_write(plain, 0, connectivity->indices, bytes, error));
        connectivity->plain = plain;
        plain = NULL;
    }
    TRY(weft_memory_make_unset(device, (size_t)(n_padded * width) * sizeof(int32_t), &made, error));
    const weft_setup_kernel kernel = {"connectivity", "interleave", n_padded, 0, 0};
    TRY(weft_setup_launch(setup, &kernel, (weft_memory *[]){sizes, connectivity->plain, made}, 3,
                          error));
    if (connectivity->indices)
        weft_memory_free(&connectivity->plain);
    *out = made;
    made = NULL;
done:
    weft_memory_free(&sizes);
    weft_memory_free(&plain);
    weft_memory_free(&made);
    weft_setup_free(&setup);
    return status;
}

weft_status weft_connectivity_make_on_device(weft_device *device, weft_memory **plain, int width,
                                             int64_t n_to, weft_connectivity **out,
                                             weft_error *error) {
    weft_status status = WEFT_OK;
    const int lanes = weft_device_limits(device)->lanes_double;
    weft_connectivity *made = NULL;
    weft_memory *interleaved = NULL; /* the connectivity's */
    TRY(weft_connectivity_make_copied(device, NULL, plain, width, n_to, &made, error));
    TRY(weft_connectivity_interleaved(made, lanes, &interleaved, error));
    weft_connectivity_release_plain(made);
    *out = made;
    made = NULL;
done:
    weft_connectivity_free(&made);
    return status;
}

weft_status weft_connectivity_rows(weft_connectivity *connectivity, const int32_t *elements,
                                   int64_t n, int32_t *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = connectivity->device;
    const int lanes = weft_device_limits(device)->lanes_double, width = connectivity->width;
    const size_t bytes = (size_t)n * sizeof *elements;
    weft_setup *setup = NULL;
    weft_memory *sizes = NULL, *indices = NULL, *wanted = NULL, *rows = NULL;
    if (n == 0)
        goto done;
    TRY(weft_setup_make(device, &setup, error));
    TRY(weft_connectivity_interleaved(connectivity, lanes, &indices, error));
    TRY(weft_setup_numbers(setup, (int64_t[]){width, lanes}, 2, &sizes, error));
    TRY(weft_memory_make_unset(device, bytes, &wanted, error));
    TRY(weft_memory_write(wanted, 0, elements, bytes, error));
    TRY(weft_memory_make_unset(device, bytes * (size_t)width, &rows, error));
    const weft_setup_kernel kernel = {"connectivity", "take_rows", n, 0, 0};
    TRY(weft_setup_launch(setup, &kernel, (weft_memory *[]){sizes, wanted, indices, rows}, 4,
                          error));
    TRY(weft_memory_read(rows, 0, out, bytes * (size_t)width, error));
done:
    weft_memory_free(&sizes);
    weft_memory_free(&wanted);
    weft_memory_free(&rows);
    weft_setup_free(&setup);
    return status;
}

weft_status weft_connectivity_map(weft_connectivity *connectivity, const weft_index_map *map,
                                  weft_memory *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int lanes = weft_device_limits(connectivity->device)->lanes_double;
    const int64_t width = connectivity->width;
    const int64_t numbers[] = {width, lanes, map->components, map->first, map->width, map->at};
    weft_setup *setup = NULL;
    weft_memory *sizes = NULL, *indices = NULL, *order = NULL;
    int64_t *places = malloc((size_t)width * sizeof *places);
    if (!places)
        TRY(weft_cells_no_memory("connectivity", connectivity->n_from, error));
    for (int k = 0; k < width; ++k)
        places[k] = map->order ? map->order[k] : k;
    TRY(weft_setup_make(connectivity->device, &setup, error));
    TRY(weft_connectivity_interleaved(connectivity, lanes, &indices, error));
    TRY(weft_setup_numbers(setup, numbers, 6, &sizes, error));
    TRY(weft_setup_numbers(setup, places, (int)width, &order, error));
    const weft_setup_kernel kernel = {"connectivity", "map_indices", connectivity->n_from, 0, 0};
    TRY(weft_setup_launch(setup, &kernel, (weft_memory *[]){sizes, order, indices, out}, 4, error));
done:
    free(places);
    weft_memory_free(&sizes);
    weft_memory_free(&order);
    weft_setup_free(&setup);
    return status;
}

weft_status weft_connectivity_transpose(weft_connectivity *connectivity, weft_setup *setup,
                                        int lanes, const weft_target_range *targets,
                                        weft_memory **start, weft_memory **positions,
                                        weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = connectivity->device;
    const int own_lanes = weft_device_limits(device)->lanes_double;
    const weft_target_range all = {0, connectivity->n_to};
    const int64_t n = connectivity->n_from;
    const int64_t first = (targets ? targets : &all)->first, n_to = (targets ? targets : &all)->n;
    const int64_t numbers[] = {connectivity->width, own_lanes, lanes, first, n_to};
    int64_t total = 0;
    weft_memory *sizes = NULL, *indices = NULL, *counts = NULL, *starts = NULL, *made = NULL;
    TRY(weft_connectivity_interleaved(connectivity, own_lanes, &indices, error));
    TRY(weft_setup_numbers(setup, numbers, 5, &sizes, error));
    TRY(weft_memory_make(device, (size_t)(n_to + 1) * sizeof(uint32_t), &counts, error));
    const weft_setup_kernel count = {"connectivity", "count_positions", n, 0, 0};
    TRY(weft_setup_launch(setup, &count, (weft_memory *[]){sizes, indices, counts}, 3, error));
    TRY(weft_setup_sums(setup, counts, n_to, &starts, &total, error));
    TRY(weft_memory_make_unset(device, (size_t)total * sizeof(uint32_t), &made, error));
    const weft_setup_kernel put = {"connectivity", "put_positions", n, 0, 0};
    TRY(weft_setup_launch(setup, &put, (weft_memory *[]){sizes, indices, starts, counts, made}, 5,
                          error));
    const bool is_long = total > SHORT_LISTS * n_to;
    const int64_t n_blocks = n_to < MOST_BLOCKS ? n_to : MOST_BLOCKS;
    const weft_setup_kernel sort = {"connectivity",
                                    is_long ? "sort_long_positions" : "sort_positions", n_to,
                                    is_long ? n_blocks : 0, 0};
    TRY(weft_setup_launch(setup, &sort, (weft_memory *[]){starts, made}, 2, error));
    const weft_setup_kernel place = {"connectivity", "place_positions", lanes > 1 ? total : 0, 0,
                                     0};
    TRY(weft_setup_launch(setup, &place, (weft_memory *[]){sizes, made}, 2, error));
    *start = starts;
    *positions = made;
    starts = made = NULL;
done:
    weft_memory_free(&sizes);
    weft_memory_free(&counts);
    weft_memory_free(&starts);
    weft_memory_free(&made);
    return status;
}

weft_status weft_transpose_on_device(weft_connectivity *connectivity, int lanes,
                                     weft_memory **start, weft_memory **positions,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_setup *setup = NULL;
    TRY(weft_setup_make(connectivity->device, &setup, error));
    TRY(weft_connectivity_transpose(connectivity, setup, lanes, NULL, start, positions, error));
done:
    weft_setup_free(&setup);
    return status;
}
