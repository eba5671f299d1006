#include "vtkhdf_internal.h"

#include <stdio.h>
#include <string.h>

void weft_hdf5_silence(weft_hdf5_quiet *kept) {
    H5Eget_auto2(H5E_DEFAULT, &kept->print, &kept->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void weft_hdf5_restore(const weft_hdf5_quiet *kept) {
    H5Eset_auto2(H5E_DEFAULT, kept->print, kept->data);
}

static herr_t take_first(unsigned n, const H5E_error2_t *entry, void *user) {
    char *out = user;
    if (n == 0 && entry->desc)
        weft_copy_cut(out, 256, entry->desc);
    return 0;
}

weft_status weft_hdf5_error(weft_status status, const char *path, const char *what,
                            weft_error *error) {
    char cause[256] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, cause);
    weft_error_set(error, status, "%s: %s%s%s", path, what, cause[0] ? ": " : "", cause);
    return status;
}

static const char again[] = "write the file again: it is damaged or cut short";

weft_status weft_vtkhdf_damaged(const weft_vtkhdf_reader *r, const char *what) {
    weft_hdf5_error(WEFT_ERROR_INPUT, r->path, what, r->error);
    weft_error_hint(r->error, "%s", again);
    return WEFT_ERROR_INPUT;
}

weft_status weft_vtkhdf_no_memory(const weft_vtkhdf_reader *r) {
    return weft_error_set(r->error, WEFT_ERROR_MEMORY, "%s: out of memory for %lld cells", r->path,
                          (long long)r->n_cells);
}

weft_status weft_vtkhdf_open_set(const weft_vtkhdf_reader *r, const char *name, int64_t *rows,
                                 int width, hid_t *out) {
    char what[160] = "";
    hsize_t extent[2] = {0, 0};
    hid_t set = H5Dopen2(r->file, name, H5P_DEFAULT);
    hid_t space = set < 0 ? -1 : H5Dget_space(set);
    int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    bool good = rank == (width > 0 ? 2 : 1) &&
                H5Sget_simple_extent_dims(space, extent, NULL) == rank &&
                (width == 0 || extent[1] == (hsize_t)width) && extent[0] <= INT64_MAX / 64 &&
                (*rows < 0 || (hsize_t)*rows == extent[0]);
    if (space >= 0)
        H5Sclose(space);
    if (good) {
        *rows = (int64_t)extent[0];
        *out = set;
        return WEFT_OK;
    }
    if (set >= 0)
        H5Dclose(set);
    snprintf(what, sizeof what, "%s %s", name,
             set < 0 ? "cannot be read" : "has not the size it should have");
    return weft_vtkhdf_damaged(r, what);
}

weft_status weft_vtkhdf_read_set(const weft_vtkhdf_reader *r, const char *name, int64_t rows,
                                 int width, hid_t type, void *out) {
    hid_t set = -1;
    weft_status status = weft_vtkhdf_open_set(r, name, &rows, width, &set);
    if (status != WEFT_OK)
        return status;
    if (rows > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
        status = weft_vtkhdf_damaged(r, "values cannot be read");
    H5Dclose(set);
    return status;
}
