/* Galerkin matrices of refined meshes on a device (kernels/setup/galerkin.cu). */
#include "fem/base/memory.h"
#include "fem/sparse/on_device.h"
#include "fusion/connectivity/connectivity.h"

enum { PARENT_LANES = 32 }; /* as in kernels/setup/galerkin.cu */

void weft_device_matrix_free(weft_device_matrix *matrix) {
    weft_device_pattern_free(&matrix->pattern);
    weft_memory_free(&matrix->values);
}

weft_status weft_device_flags(weft_setup *setup, const int32_t *numbers, int64_t n_numbers,
                              int64_t n, weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    weft_memory *where = NULL, *made = NULL;
    TRY(weft_memory_make(device, (size_t)n, &made, error));
    if (n_numbers > 0) {
        TRY(weft_memory_place(device, numbers, (size_t)n_numbers, sizeof *numbers, &where, error));
        const weft_setup_kernel set = {"values", "set_flags", n_numbers, 0, 0};
        TRY(weft_setup_launch(setup, &set, (weft_memory *[]){where, made}, 2, error));
    }
    *out = made;
    made = NULL;
done:
    weft_memory_free(&where);
    weft_memory_free(&made);
    return status;
}

weft_status weft_device_coarse_flags(weft_setup *setup, weft_device_parents *parents,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *indices = NULL, *made = NULL, *found = NULL;
    const int64_t n = weft_connectivity_from(parents->parents);
    int32_t is_masked = 0;
    TRY(weft_connectivity_interleaved(parents->parents, PARENT_LANES, &indices, error));
    TRY(weft_memory_make(weft_setup_device(setup), (size_t)weft_connectivity_to(parents->parents),
                         &made, error));
    const weft_setup_kernel set = {"galerkin", "coarse_flags", n, 0, 0};
    TRY(weft_setup_launch(setup, &set, (weft_memory *[]){indices, parents->fine_fixed, made}, 3,
                          error));
    TRY(weft_memory_make(weft_setup_device(setup), sizeof is_masked, &found, error));
    const weft_setup_kernel look = {"galerkin", "masked", n, 0, 0};
    TRY(weft_setup_launch(setup, &look,
                          (weft_memory *[]){indices, parents->fine_fixed, made, found}, 4, error));
    TRY(weft_memory_read(found, 0, &is_masked, sizeof is_masked, error));
    parents->is_masked = is_masked;
    parents->coarse_fixed = made;
    made = NULL;
done:
    weft_memory_free(&found);
    weft_memory_free(&made);
    return status;
}

/* Launch the kernel for CSR or SELL matrices: what both have in common, then the matrix. */
static weft_status launch(weft_setup *setup, const weft_fine_matrix *A, bool with_values, int64_t n,
                          weft_memory *const common[8], weft_error *error) {
    static const char *const names[2][2] = {{"galerkin_lengths", "galerkin_rows"},
                                            {"galerkin_sell_lengths", "galerkin_sell_rows"}};
    weft_memory *arguments[16];
    int n_arguments = 0;
    for (int i = 0; i < 7 + with_values; ++i)
        arguments[n_arguments++] = common[i];
    if (A->sell) {
        weft_sell_memories sell;
        weft_sell_matrix_memories(A->sell, &sell);
        weft_memory *const of[] = {sell.slots,        sell.bases,   sell.start,
                                   sell.column_start, sell.columns, sell.values};
        for (int i = 0; i < 5 + with_values; ++i)
            arguments[n_arguments++] = of[i];
    } else {
        weft_memory *const of[] = {A->csr->pattern.row_start, A->csr->pattern.columns,
                                   A->csr->values};
        for (int i = 0; i < 2 + with_values; ++i)
            arguments[n_arguments++] = of[i];
    }
    const weft_setup_kernel kernel = {"galerkin", names[A->sell != NULL][with_values], n, 0, 0};
    return weft_setup_launch(setup, &kernel, arguments, n_arguments, error);
}

weft_status weft_device_galerkin(weft_setup *setup, const weft_fine_matrix *A,
                                 const weft_device_parents *parents, weft_device_matrix *out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    weft_memory *indices = NULL, *lengths = NULL, *longest = NULL;
    weft_row_cells children = {0};
    weft_device_matrix made = {.pattern.n_rows = weft_connectivity_to(parents->parents)};
    const int64_t n = made.pattern.n_rows;
    int32_t most = 0;
    TRY(weft_row_cells_make(setup, parents->parents, NULL, &children, error));
    TRY(weft_connectivity_interleaved(parents->parents, PARENT_LANES, &indices, error));
    TRY(weft_memory_make_unset(device, (size_t)(n + 1) * sizeof(uint32_t), &lengths, error));
    TRY(weft_memory_make(device, sizeof most, &longest, error));
    weft_memory *common[8] = {children.start,        children.places, indices, parents->fine_fixed,
                              parents->coarse_fixed, lengths,         longest};
    TRY(launch(setup, A, false, n, common, error));
    TRY(weft_setup_sums(setup, lengths, n, &made.pattern.row_start, &made.pattern.n_entries,
                        error));
    TRY(weft_memory_read(longest, 0, &most, sizeof most, error));
    TRY(weft_device_pattern_check(most, made.pattern.n_entries, error));
    TRY(weft_memory_make_unset(device, (size_t)made.pattern.n_entries * sizeof(int32_t),
                               &made.pattern.columns, error));
    TRY(weft_memory_make_unset(device, (size_t)made.pattern.n_entries * sizeof(double),
                               &made.values, error));
    common[5] = made.pattern.row_start;
    common[6] = made.pattern.columns;
    common[7] = made.values;
    TRY(launch(setup, A, true, n, common, error));
    *out = made;
    made = (weft_device_matrix){0};
done:
    weft_memory_free(&lengths);
    weft_memory_free(&longest);
    weft_row_cells_free(&children);
    weft_device_matrix_free(&made);
    return status;
}
