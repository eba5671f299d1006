/* Helpers for reading and writing VTKHDF files: HDF5's errors, and checked data sets. */
#include "fem/io/vtkhdf.h"
#include "fem/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cause of an error, from HDF5's error stack. */
typedef struct hdf5_cause {
    char innermost[256], reason[128]; /* reason: the system's words, where it has any */
    bool memory;
} hdf5_cause;

static herr_t take_cause(unsigned n, const H5E_error2_t *entry, void *user) {
    static const char start[] = "error message = '";
    hdf5_cause *cause = user;
    const char *reason = entry->desc ? strstr(entry->desc, start) : NULL;
    if (n == 0 && entry->desc)
        weft_copy_cut(cause->innermost, sizeof cause->innermost, entry->desc);
    if (reason && !cause->reason[0]) {
        weft_copy_cut(cause->reason, sizeof cause->reason, reason + sizeof start - 1);
        cause->reason[strcspn(cause->reason, "'")] = '\0';
    }
    cause->memory |= entry->maj_num == H5E_RESOURCE ||
                     (entry->desc && strstr(entry->desc, "memory allocation failed"));
    return 0;
}

weft_status weft_hdf5_error(weft_status status, const char *path, const char *what,
                            weft_error *error) {
    hdf5_cause cause = {0};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_cause, &cause);
    const char *why = cause.reason[0] ? cause.reason : cause.innermost;
    /* Where memory is exhausted HDF5 cannot even note why. */
    const bool silent = H5Eget_num(H5E_DEFAULT) <= 0 && status == WEFT_ERROR_IO;
    if ((cause.memory || silent) && !cause.reason[0]) {
        status = WEFT_ERROR_MEMORY;
        why = "out of memory";
    }
    weft_error_set(error, status, "%s: %s%s%s", path, what, why[0] ? ": " : "", why);
    return status;
}

weft_status weft_hdf5_unwritten(const char *path, const char *what, weft_error *error) {
    const weft_status status = weft_hdf5_error(WEFT_ERROR_IO, path, what, error);
    weft_error_hint(error, status == WEFT_ERROR_MEMORY
                               ? "free some memory, or use a machine with more"
                               : "see that the disk has room, or write to another one");
    return status;
}

char *weft_hdf5_text(hid_t attribute, bool *out_of_memory) {
    hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
    hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
    const size_t size = type < 0 ? 0 : H5Tget_size(type);
    char *out = NULL, *variable = NULL;
    const bool is_text = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
                         H5Sget_simple_extent_npoints(space) == 1 && size < 1 << 20;
    *out_of_memory = false;
    if (is_text && H5Tis_variable_str(type) > 0) {
        if (H5Aread(attribute, type, &variable) >= 0 && variable)
            *out_of_memory = !(out = strdup(variable));
        if (variable)
            H5free_memory(variable);
    } else if (is_text) {
        *out_of_memory = !(out = calloc(size + 1, 1));
        if (out && H5Aread(attribute, type, out) < 0) {
            free(out);
            out = NULL;
        }
    }
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return out;
}

const char weft_hdf5_write_again[] = "write the file again: it is damaged or cut short";

weft_status weft_vtkhdf_damaged(const weft_vtkhdf_reader *r, const char *what) {
    const weft_status status = weft_hdf5_error(WEFT_ERROR_INPUT, r->path, what, r->error);
    if (status == WEFT_ERROR_INPUT)
        weft_error_hint(r->error, "%s", weft_hdf5_write_again);
    return status;
}

weft_status weft_vtkhdf_no_memory(const weft_vtkhdf_reader *r) {
    return weft_error_set(r->error, WEFT_ERROR_MEMORY, "%s: out of memory for %lld cells", r->path,
                          (long long)r->n_cells);
}

weft_status weft_vtkhdf_open_set(const weft_vtkhdf_reader *r, const char *name, int64_t *rows,
                                 int width, hid_t *out) {
    char what[160] = "";
    hsize_t extent[2] = {0, 0};
    hid_t set = -1;
    weft_status status = weft_hdf5_open_set(r->file, r->path, name, &set, r->error);
    if (status != WEFT_OK)
        return status;
    hid_t space = H5Dget_space(set);
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
    H5Dclose(set);
    snprintf(what, sizeof what, "%s has not the size it should have", name);
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
