/* Opens HDF5 files, and groups, data sets and attributes in them. Files are not trusted: all that is
 * read lies in the file itself, HDF5 loads no code for it, and no piece takes more memory than what
 * is stored. Everything else that reads HDF5 opens it here (tests/repository/test_layers.sh). */
#include "core/base/file.h"
#include "core/base/number.h"
#include "fem/io/vtkhdf.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LONGEST_NAME = 640,
    MOST_ELEMENT = 4096,  /* bytes of one value */
    MOST_CHUNK = 1 << 24, /* bytes of a chunk that may hold more than the data set */
    MOST_DIMENSIONS = 32  /* of HDF5 */
};

void weft_hdf5_start(void) {
    /* each names code that HDF5 loads, the last ones before it is asked to load none */
    static const char *const loaders[] = {"HDF5_PLUGIN_PATH", "HDF5_PLUGIN_PRELOAD",
                                          "HDF5_VOL_CONNECTOR", "HDF5_DRIVER"};
    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; ++i)
        unsetenv(loaders[i]);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
    H5Lunregister(H5L_TYPE_EXTERNAL);
}

/* ---- files --------------------------------------------------------------------------------- */

weft_status weft_hdf5_open_file(const char *path, unsigned how, hid_t list, const char *what,
                                hid_t *out, weft_error *error) {
    weft_status status = WEFT_OK;
    int file = -1;
    char checked[32];
    status = weft_file_open(path, O_RDONLY, &file, NULL, error);
    if (status == WEFT_ERROR_IO && error)
        status = weft_error_set(error, WEFT_ERROR_INPUT, "%s: %s: %s", path, what, error->message);
    TRY(status);
    /* the file that was checked, also if the path now names another one */
    (void)snprintf(checked, sizeof checked, "/proc/self/fd/%d", file);
    hid_t opened = H5Fopen(access(checked, F_OK) == 0 ? checked : path, how, list);
    if (opened < 0) {
        status = weft_hdf5_error(WEFT_ERROR_INPUT, path, what, error);
        goto done;
    }
    *out = opened;
done:
    if (file >= 0)
        close(file);
    return status;
}

/* ---- links --------------------------------------------------------------------------------- */

typedef enum place { MISSING, IN_FILE, LINKED } place;

/* Where "GROUP/.../NAME" leads: LINKED if it or a group before it is a link. */
static place find(hid_t file, const char *name) {
    char part[LONGEST_NAME];
    const size_t length = strlen(name);
    if (length >= sizeof part)
        return MISSING;
    for (size_t n = 1; n <= length; ++n) {
        H5L_info_t info;
        if (name[n] != '/' && name[n] != '\0')
            continue;
        memcpy(part, name, n);
        part[n] = '\0';
        if (H5Lexists(file, part, H5P_DEFAULT) <= 0 ||
            H5Lget_info(file, part, &info, H5P_DEFAULT) < 0)
            return MISSING;
        if (info.type != H5L_TYPE_HARD)
            return LINKED;
    }
    return IN_FILE;
}

bool weft_hdf5_has(hid_t file, const char *name) {
    return find(file, name) != MISSING;
}

hid_t weft_hdf5_open_group(hid_t file, const char *name) {
    return find(file, name) == IN_FILE ? H5Gopen2(file, name, H5P_DEFAULT) : -1;
}

hid_t weft_hdf5_open_attribute(hid_t file, const char *group, const char *name) {
    return find(file, group) == IN_FILE
               ? H5Aopen_by_name(file, group, name, H5P_DEFAULT, H5P_DEFAULT)
               : -1;
}

/* ---- data sets ----------------------------------------------------------------------------- */

/* A data set that is being checked. */
typedef struct checked_set {
    const char *path, *name;
    hid_t set, how, type;
    weft_error *error;
} checked_set;

static weft_status refuse(const checked_set *s, const char *what, const char *hint) {
    weft_error_set(s->error, WEFT_ERROR_UNSUPPORTED, "%s: %s %s", s->path, s->name, what);
    weft_error_hint(s->error, "%s", hint);
    return WEFT_ERROR_UNSUPPORTED;
}

static const char one_file[] = "write its values into this file: data are read from the file alone "
                               "that is named, and not from others that it names";

/* Only filters that come with HDF5. */
static weft_status check_filters(const checked_set *s) {
    static const H5Z_filter_t known[] = {H5Z_FILTER_DEFLATE,    H5Z_FILTER_SHUFFLE,
                                         H5Z_FILTER_FLETCHER32, H5Z_FILTER_SZIP,
                                         H5Z_FILTER_NBIT,       H5Z_FILTER_SCALEOFFSET};
    const int n = H5Pget_nfilters(s->how);
    for (int i = 0; i < n; ++i) {
        unsigned flags = 0, config = 0;
        size_t n_values = 0;
        char name[80] = "", what[160];
        const H5Z_filter_t id = H5Pget_filter2(s->how, (unsigned)i, &flags, &n_values, NULL,
                                               sizeof name, name, &config);
        bool good = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; ++k)
            good |= id == known[k];
        if (good)
            continue;
        (void)snprintf(what, sizeof what, "is compressed by filter %d, which HDF5 has not itself",
                       (int)id);
        return refuse(s, what, "write it with gzip or uncompressed: h5repack -f GZIP=4 FILE NEW");
    }
    return n >= 0 ? WEFT_OK : refuse(s, "has no list of filters", "write the file again");
}

/* Bytes of the values, as far as they fit into a double. */
static double bytes_of(const checked_set *s) {
    hid_t space = H5Dget_space(s->set);
    const hssize_t n = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    if (space >= 0)
        H5Sclose(space);
    return n < 0 ? 0 : (double)n * (double)H5Tget_size(s->type);
}

/* HDF5 holds whole chunks, of which a file may announce 4 GB for a few values. */
static weft_status check_chunks(const checked_set *s) {
    hsize_t extent[MOST_DIMENSIONS];
    const int rank = H5Pget_chunk(s->how, MOST_DIMENSIONS, extent);
    const double values = bytes_of(s);
    double chunk = (double)H5Tget_size(s->type);
    char what[160];
    for (int i = 0; i < rank; ++i)
        chunk *= (double)extent[i];
    if (rank >= 1 && (chunk <= MOST_CHUNK || chunk <= 2 * values))
        return WEFT_OK;
    (void)weft_print(what, sizeof what,
                     "has pieces (chunks) of %.3g bytes for values of %.3g bytes", chunk, values);
    return refuse(s, what,
                  "write it in smaller chunks, or in one piece: h5repack -l CONTI FILE NEW");
}

static weft_status check_set(const checked_set *s) {
    weft_status status = WEFT_OK;
    const H5D_layout_t layout = H5Pget_layout(s->how);
    const H5T_class_t class = H5Tget_class(s->type);
    if (layout == H5D_VIRTUAL)
        TRY(refuse(s, "is a virtual data set, whose values are in other files", one_file));
    if (H5Pget_external_count(s->how) != 0)
        TRY(refuse(s, "has its values in another file", one_file));
    if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED)
        TRY(refuse(s, "is stored in an unknown way", "write the file again"));
    if ((class != H5T_INTEGER && class != H5T_FLOAT && class != H5T_ENUM && class != H5T_STRING) ||
        H5Tis_variable_str(s->type) > 0 || H5Tget_size(s->type) > MOST_ELEMENT)
        TRY(refuse(s, "holds neither numbers nor texts of fixed length", "write the file again"));
    TRY(check_filters(s));
    if (layout == H5D_CHUNKED)
        TRY(check_chunks(s));
done:
    return status;
}

weft_status weft_hdf5_open_set(hid_t file, const char *path, const char *name, hid_t *out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    checked_set s = {path, name, -1, -1, -1, error};
    const place where = find(file, name);
    if (where == LINKED)
        TRY(refuse(&s, "is reached by a link", one_file));
    s.set = where == MISSING ? -1 : H5Dopen2(file, name, H5P_DEFAULT);
    s.how = s.set < 0 ? -1 : H5Dget_create_plist(s.set);
    s.type = s.set < 0 ? -1 : H5Dget_type(s.set);
    if (s.how < 0 || s.type < 0) {
        char what[LONGEST_NAME + 32];
        (void)snprintf(what, sizeof what, "%s cannot be read", name);
        status = weft_hdf5_error(WEFT_ERROR_INPUT, path, what, error);
        if (status == WEFT_ERROR_INPUT)
            weft_error_hint(error, "%s", weft_hdf5_write_again);
        goto done;
    }
    TRY(check_set(&s));
    *out = s.set;
    s.set = -1;
done:
    if (s.type >= 0)
        H5Tclose(s.type);
    if (s.how >= 0)
        H5Pclose(s.how);
    if (s.set >= 0)
        H5Dclose(s.set);
    return status;
}
