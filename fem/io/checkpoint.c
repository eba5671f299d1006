/* Writes and reads checkpoints: result files with the lists as nodal fields, and in
 * /Weft/Checkpoint the problem they belong to and a hash of everything. */
#include "fem/io/child_process.h"
#include "fem/io/result.h"
#include "fem/io/vtkhdf.h"
#include "fem/mesh/mesh.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECKPOINT_VERSION "1"
enum { HASH = 33, NOTES = 5 };

/* Attributes, all text. */
static const char *const note_names[NOTES] = {"Version", "Step", "Mesh", "Problem", "Hash"};

typedef struct content {
    const char *path;
    const weft_mesh *mesh;
    const weft_checkpoint *checkpoint;
    const char *notes[NOTES];
    const weft_field *fields;
    const char *temporary;
} content;

/* Numbers of a list. */
static int64_t length_of(const weft_mesh *mesh, const weft_checkpoint *checkpoint, int i) {
    return checkpoint->lengths ? checkpoint->lengths[i] : mesh->n_nodes;
}

/* ---- hash ---------------------------------------------------------------------------------- */

void weft_mesh_hash(const weft_mesh *mesh, char out[HASH]) {
    char both[2 * HASH];
    weft_hash(mesh->x, (size_t)mesh->n_nodes * (size_t)mesh->dimension * sizeof *mesh->x, both);
    weft_hash(mesh->cells,
              (size_t)mesh->n_cells * (size_t)weft_mesh_cell_vertices(mesh) * sizeof *mesh->cells,
              both + HASH);
    weft_hash(both, sizeof both, out);
}

/* The hash of the attributes that precede it, and of the lists. */
static weft_status hash_all(const content *c, char out[HASH], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    char one[HASH];
    for (int i = 0; i < NOTES - 1; ++i)
        weft_text_add(&text, "%s\n", c->notes[i]);
    for (int i = 0; i < c->checkpoint->n_lists; ++i) {
        weft_hash(c->checkpoint->lists[i],
                  (size_t)length_of(c->mesh, c->checkpoint, i) * sizeof *c->checkpoint->lists[i],
                  one);
        weft_text_add(&text, "%s %s\n", c->checkpoint->names[i], one);
    }
    if (text.failed)
        status = weft_out_of_memory(error, c->path);
    else
        weft_hash(text.data, text.length, out);
    weft_text_free(&text);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------- */

static bool write_note(hid_t group, const char *name, const char *value) {
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), attribute = -1;
    if (type >= 0 && space >= 0 && H5Tset_size(type, strlen(value) + 1) >= 0)
        attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    /* leave objects open on errors: closing any clears HDF5's error stack, and this process ends */
    return attribute >= 0 && H5Awrite(attribute, type, value) >= 0 && H5Aclose(attribute) >= 0 &&
           H5Sclose(space) >= 0 && H5Tclose(type) >= 0;
}

/* A list that is not a field of the mesh. */
static bool write_list(hid_t group, const char *name, const double *values, int64_t n) {
    const hsize_t extent = (hsize_t)n;
    hid_t space = H5Screate_simple(1, &extent, NULL);
    hid_t set = space < 0 ? -1
                          : H5Dcreate2(group, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT,
                                       H5P_DEFAULT);
    return set >= 0 &&
           H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 &&
           H5Dclose(set) >= 0 && H5Sclose(space) >= 0;
}

/* Runs in the child. */
static weft_status write_notes(const content *c, const char *temporary, weft_error *error) {
    static const char unwritten[] = "the checkpoint could not be written";
    hid_t file = -1, group = -1;
    if (weft_hdf5_open_file(temporary, H5F_ACC_RDWR, H5P_DEFAULT, unwritten, &file, error) ==
        WEFT_OK)
        group = H5Gcreate2(file, "Weft/Checkpoint", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0;
    for (int i = 0; good && i < NOTES; ++i)
        good = write_note(group, note_names[i], c->notes[i]);
    for (int i = 0; good && c->checkpoint->lengths && i < c->checkpoint->n_lists; ++i)
        good = write_list(group, c->checkpoint->names[i], c->checkpoint->lists[i],
                          c->checkpoint->lengths[i]);
    if (!good) {
        const weft_status status = weft_hdf5_unwritten(c->path, unwritten, error);
        if (status == WEFT_ERROR_IO)
            weft_error_hint(error, "see that the disk has room; a text that is too long for HDF5, "
                                   "above 64 kB, is another cause");
        return status;
    }
    if (H5Gclose(group) < 0 || H5Fclose(file) < 0)
        return weft_hdf5_unwritten(c->path, "the file could not be closed", error);
    return WEFT_OK;
}

static weft_status write_in_child(void *user, int out, weft_error *error) {
    weft_status status = WEFT_OK;
    const content *c = user;
    const weft_result_content fields = {.path = c->path,
                                        .mesh = c->mesh,
                                        .fields = c->fields,
                                        .n_fields =
                                            c->checkpoint->lengths ? 0 : c->checkpoint->n_lists};
    (void)out;
    TRY(weft_vtkhdf_write(c->temporary, &fields, error));
    TRY(write_notes(c, c->temporary, error));
done:
    return status;
}

static weft_status fill(void *user, const weft_temporary *temporary, weft_error *error) {
    content *c = user;
    c->temporary = temporary->name;
    return weft_child_run(write_in_child, c, c->path, error);
}

weft_status weft_checkpoint_write(const char *path, const weft_mesh *mesh,
                                  const weft_checkpoint *checkpoint, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = checkpoint->n_lists;
    char mesh_hash[HASH], hash[HASH], step[32];
    weft_field *fields = calloc((size_t)n + 1, sizeof *fields);
    if (!fields)
        TRY(weft_out_of_memory(error, path));
    for (int i = 0; i < n; ++i)
        fields[i] = (weft_field){
            .name = checkpoint->names[i], .n_components = 1, .values = checkpoint->lists[i]};
    (void)snprintf(step, sizeof step, "%" PRId64, checkpoint->step);
    weft_mesh_hash(mesh, mesh_hash);
    content c = {.path = path,
                 .mesh = mesh,
                 .checkpoint = checkpoint,
                 .notes = {CHECKPOINT_VERSION, step, mesh_hash, checkpoint->problem, hash},
                 .fields = fields};
    TRY(hash_all(&c, hash, error));
    TRY(weft_result_place(path, true, fill, &c, error));
done:
    free(fields);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

static weft_status refuse(const char *path, const char *what, const char *hint, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT, "%s: %s", path, what);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_INPUT;
}

/* The length of the first option of a text, up to the next " --" outside quotes. */
static size_t option_length(const char *text) {
    bool is_quoted = false;
    size_t n = 0;
    for (; text[n] && (n == 0 || is_quoted || strncmp(text + n, " --", 3) != 0); ++n)
        is_quoted ^= text[n] == '\'';
    return n;
}

static bool has_option(const char *text, const char *option, size_t length) {
    for (size_t n = 0; *text; text += n + (text[n] == ' ')) {
        n = option_length(text);
        if (n == length && memcmp(text, option, n) == 0)
            return true;
    }
    return false;
}

/* Append the options of a text that another one lacks. */
static void add_differences(const char *text, const char *other, weft_text *out) {
    const size_t before = out->length;
    for (size_t n = 0; *text; text += n + (text[n] == ' ')) {
        n = option_length(text);
        if (!has_option(other, text, n))
            weft_text_add(out, "%s%.*s", out->length > before ? " " : "", (int)(n < 300 ? n : 300),
                          text);
    }
    if (out->length == before)
        weft_text_add(out, "none of these");
}

static weft_status refuse_problem(const char *path, const char *written, const char *problem,
                                  weft_error *error) {
    weft_text was = {0}, is = {0};
    add_differences(written, problem, &was);
    add_differences(problem, written, &is);
    weft_error_set(
        error, WEFT_ERROR_INPUT,
        "%s: the checkpoint of another problem: it was written with %.600s; this run has %.600s",
        path, was.failed ? written : was.data, is.failed ? problem : is.data);
    weft_error_hint(error, "give the options of the run that wrote it");
    weft_text_free(&was);
    weft_text_free(&is);
    return WEFT_ERROR_INPUT;
}

/* Check that the file belongs to this mesh and problem. */
static weft_status compare_notes(const char *path, const char *problem, char *const notes[NOTES],
                                 const char *mesh_hash, weft_error *error) {
    if (strcmp(notes[0], CHECKPOINT_VERSION) != 0) {
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "%s: a checkpoint of version %.20s, where version " CHECKPOINT_VERSION
                       " is read",
                       path, notes[0]);
        weft_error_hint(error, "restart it with the Weft that wrote it");
        return WEFT_ERROR_INPUT;
    }
    if (strcmp(notes[2], mesh_hash) != 0)
        return refuse(path, "the checkpoint of another mesh",
                      "give the mesh, --size, --refine and --ordering of the run that wrote it (a "
                      "GPU orders meshes that a host does not)",
                      error);
    return strcmp(notes[3], problem) != 0 ? refuse_problem(path, notes[3], problem, error)
                                          : WEFT_OK;
}

static weft_status read_notes(hid_t file, const char *path, char *notes[NOTES], weft_error *error) {
    hid_t group = weft_hdf5_open_group(file, "Weft/Checkpoint");
    bool whole = true, out_of_memory = false;
    if (group < 0)
        return refuse(path, "this is not a checkpoint",
                      "give a file that --checkpoint wrote; --output writes results", error);
    for (int i = 0; i < NOTES; ++i) {
        if (!out_of_memory)
            notes[i] = weft_hdf5_text(H5Aopen(group, note_names[i], H5P_DEFAULT), &out_of_memory);
        whole &= notes[i] != NULL;
    }
    H5Gclose(group);
    if (out_of_memory)
        return weft_out_of_memory(error, path);
    return whole ? WEFT_OK
                 : refuse(path, "the checkpoint is damaged", "restart from an earlier one", error);
}

static weft_status read_lists(hid_t file, const content *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_vtkhdf_reader reader = {.path = c->path, .file = file, .error = error};
    for (int i = 0; i < c->checkpoint->n_lists; ++i) {
        char name[160];
        (void)snprintf(name, sizeof name, "%s/%s",
                       c->checkpoint->lengths ? "Weft/Checkpoint" : "VTKHDF/PointData",
                       c->checkpoint->names[i]);
        TRY(weft_vtkhdf_read_set(&reader, name, length_of(c->mesh, c->checkpoint, i), 0,
                                 H5T_NATIVE_DOUBLE, c->checkpoint->lists[i]));
    }
done:
    return status;
}

static weft_status read_file(hid_t file, const char *path, const weft_mesh *mesh,
                             weft_checkpoint *checkpoint, weft_error *error) {
    weft_status status = WEFT_OK;
    char *notes[NOTES] = {NULL};
    char mesh_hash[HASH], hash[HASH];
    TRY(read_notes(file, path, notes, error));
    weft_mesh_hash(mesh, mesh_hash);
    TRY(compare_notes(path, checkpoint->problem, notes, mesh_hash, error));
    const content c = {.path = path,
                       .mesh = mesh,
                       .checkpoint = checkpoint,
                       .notes = {notes[0], notes[1], notes[2], notes[3], notes[4]}};
    TRY(read_lists(file, &c, error));
    TRY(hash_all(&c, hash, error));
    if (strcmp(hash, notes[4]) != 0)
        TRY(refuse(path, "the checkpoint is damaged: its hash is another",
                   "restart from an earlier one", error));
    checkpoint->step = strtoll(notes[1], NULL, 10);
done:
    for (int i = 0; i < NOTES; ++i)
        free(notes[i]);
    return status;
}

typedef struct reading {
    const char *path;
    const weft_mesh *mesh;
    weft_checkpoint *checkpoint;
} reading;

static weft_status open_checkpoint(const char *path, hid_t *file, weft_error *error) {
    weft_hdf5_start();
    const weft_status status = weft_hdf5_open_file(path, H5F_ACC_RDONLY, H5P_DEFAULT,
                                                   "this checkpoint is incomplete", file, error);
    if (status == WEFT_ERROR_INPUT)
        weft_error_hint(
            error,
            "it is missing, cut short or of another kind: give a file that --checkpoint wrote");
    return status;
}

/* In the child: send the step, then the lists, using its copy of the caller's memory. */
static weft_status read_in_child(void *user, int out, weft_error *error) {
    weft_status status = WEFT_OK;
    const reading *r = user;
    hid_t file = -1;
    TRY(open_checkpoint(r->path, &file, error));
    TRY(read_file(file, r->path, r->mesh, r->checkpoint, error));
    TRY(weft_child_write(out, &r->checkpoint->step, sizeof r->checkpoint->step, error));
    for (int i = 0; i < r->checkpoint->n_lists; ++i)
        TRY(weft_child_write(out, r->checkpoint->lists[i],
                             (size_t)length_of(r->mesh, r->checkpoint, i) * sizeof(double), error));
done:
    return status;
}

/* In the child: send the length of the problem, then the text. */
static weft_status read_problem_in_child(void *user, int out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *path = user;
    char *notes[NOTES] = {NULL};
    hid_t file = -1;
    TRY(open_checkpoint(path, &file, error));
    TRY(read_notes(file, path, notes, error));
    const int64_t length = (int64_t)strlen(notes[3]);
    TRY(weft_child_write(out, &length, sizeof length, error));
    TRY(weft_child_write(out, notes[3], (size_t)length, error));
done:
    for (int i = 0; i < NOTES; ++i)
        free(notes[i]);
    return status;
}

weft_status weft_checkpoint_problem(const char *path, char **out, weft_error *error) {
    enum { MOST = 1 << 24 };
    weft_status status = WEFT_OK;
    weft_child child = WEFT_CHILD_NONE;
    weft_reading_limits limits;
    char *text = NULL;
    int64_t length = 0;
    TRY(weft_file_unlocked(path, false, error));
    TRY(weft_reading_limits_find(path, false, (weft_reading_limits){0}, &limits, error));
    TRY(weft_child_start(read_problem_in_child, (void *)path, path, &limits, &child, error));
    bool whole = weft_child_read(&child, &length, sizeof length) && length >= 0 && length < MOST;
    if (whole) {
        text = calloc((size_t)length + 1, 1);
        if (!text)
            TRY(weft_out_of_memory(error, path));
        whole = weft_child_read(&child, text, (size_t)length);
    }
    TRY(weft_child_end(&child, false, path, error));
    if (!whole)
        TRY(weft_error_set(error, WEFT_ERROR_INTERNAL, "%s: it was read in part", path));
    *out = text;
    text = NULL;
done:
    (void)weft_child_end(&child, true, path, NULL);
    free(text);
    return status;
}

weft_status weft_checkpoint_read(const char *path, const weft_mesh *mesh,
                                 weft_checkpoint *checkpoint, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_child child = WEFT_CHILD_NONE;
    weft_reading_limits limits;
    reading r = {path, mesh, checkpoint};
    TRY(weft_file_unlocked(path, false, error));
    TRY(weft_reading_limits_find(path, false, (weft_reading_limits){0}, &limits, error));
    TRY(weft_child_start(read_in_child, &r, path, &limits, &child, error));
    int64_t step = 0;
    bool whole = weft_child_read(&child, &step, sizeof step);
    for (int i = 0; whole && i < checkpoint->n_lists; ++i)
        whole = weft_child_read(&child, checkpoint->lists[i],
                                (size_t)length_of(mesh, checkpoint, i) * sizeof(double));
    TRY(weft_child_end(&child, false, path, error));
    if (!whole)
        status = weft_error_set(error, WEFT_ERROR_INTERNAL, "%s: it was read in part", path);
    else
        checkpoint->step = step;
done:
    (void)weft_child_end(&child, true, path, NULL);
    return status;
}
