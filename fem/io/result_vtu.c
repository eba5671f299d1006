/* Writes mesh, groups of cells and fields to a .vtu file: the XML format of VTK with inline data in
 * base64. Appended data would be smaller or simpler, but VTK 9.1 with expat 2.6, as in Ubuntu
 * 24.04, fails to find where they begin.
 *
 *      <VTKFile> ... <DataArray type= Name= format="binary">  bytes as uint64, then the values
 *
 * Source  VTK User's Guide, "VTK File Formats", section XML file formats */
#include "core/base/file.h"
#include "core/weft_escape.h"
#include "fem/io/result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 14, ROW_BYTES_MAX = 32 }; /* rows at a time; of arrays that are made here */
enum { CODED = 1 << 16 };                     /* characters of base64 that are written at once */

struct vtu_writer;

typedef struct vtu_array {
    const char *name, *type;
    int width;         /* components, as VTK sees them; 0: one, of an array without that notion */
    size_t row_bytes;  /* of one point or cell */
    int64_t n;         /* rows */
    const void *bytes; /* all of it, or NULL: made by fill, piece by piece */
    void (*fill)(const struct vtu_writer *w, int group, int64_t first, int64_t n, void *out);
    int group;
} vtu_array;

typedef struct vtu_writer {
    const weft_result_content *content;
    weft_result_grid grid;
    int file, number; /* number: errno of what failed first, or 0 */
    vtu_array *arrays;
    int n_arrays, n_point_arrays, n_cell_arrays; /* point data, cell data, then points and cells */
    char (*names)[WEFT_MASK_NAME_BYTES];         /* of groups */
    weft_text head;
    bool failed;           /* a text got no memory */
    unsigned char rest[3]; /* bytes that are not coded yet: fewer than three */
    int n_rest;
    char *coded; /* [CODED] */
    size_t n_coded;
} vtu_writer;

static void fill_points(const vtu_writer *w, int group, int64_t first, int64_t n, void *out) {
    (void)group;
    weft_points_fill(&w->grid, first, n, out);
}

static void fill_cells(const vtu_writer *w, int group, int64_t first, int64_t n, void *out) {
    (void)group;
    weft_cells_fill(&w->grid, first, n, out);
}

static void fill_offsets(const vtu_writer *w, int group, int64_t first, int64_t n, void *out) {
    int64_t *offsets = out;
    (void)group;
    for (int64_t i = 0; i < n; ++i)
        offsets[i] = (first + i + 1) * w->grid.width;
}

static void fill_types(const vtu_writer *w, int group, int64_t first, int64_t n, void *out) {
    (void)group;
    (void)first;
    weft_types_fill(&w->grid, n, out);
}

static void fill_mask(const vtu_writer *w, int group, int64_t first, int64_t n, void *out) {
    weft_mask_fill(w->content->mesh, group, first, n, out);
}

/* ---- list of arrays ------------------------------------------------------------------------ */

static void add_fields(vtu_writer *w, bool on_cells) {
    const weft_mesh *mesh = w->content->mesh;
    for (int i = 0; i < w->content->n_fields; ++i) {
        const weft_field *field = &w->content->fields[i];
        if (field->on_cells == on_cells)
            w->arrays[w->n_arrays++] =
                (vtu_array){.name = field->name,
                            .type = "Float64",
                            .width = field->n_components,
                            .row_bytes = (size_t)field->n_components * sizeof(double),
                            .n = on_cells ? mesh->n_cells : w->grid.n_points,
                            .bytes = field->values};
    }
}

static void list_arrays(vtu_writer *w) {
    const weft_mesh *mesh = w->content->mesh;
    add_fields(w, false);
    w->n_point_arrays = w->n_arrays;
    add_fields(w, true);
    for (int g = 0; g < mesh->n_groups; ++g)
        if (w->names[g][0])
            w->arrays[w->n_arrays++] = (vtu_array){.name = w->names[g],
                                                   .type = "UInt8",
                                                   .width = 1,
                                                   .row_bytes = 1,
                                                   .n = mesh->n_cells,
                                                   .fill = fill_mask,
                                                   .group = g};
    w->n_cell_arrays = w->n_arrays - w->n_point_arrays;
    w->arrays[w->n_arrays++] = (vtu_array){.name = "Points",
                                           .type = "Float64",
                                           .width = 3,
                                           .row_bytes = 3 * sizeof(double),
                                           .n = w->grid.n_points,
                                           .fill = fill_points};
    w->arrays[w->n_arrays++] = (vtu_array){.name = "connectivity",
                                           .type = "Int32",
                                           .row_bytes = (size_t)w->grid.width * sizeof(int32_t),
                                           .n = mesh->n_cells,
                                           .bytes = w->grid.order ? NULL : w->grid.cells,
                                           .fill = fill_cells};
    w->arrays[w->n_arrays++] = (vtu_array){.name = "offsets",
                                           .type = "Int64",
                                           .row_bytes = sizeof(int64_t),
                                           .n = mesh->n_cells,
                                           .fill = fill_offsets};
    w->arrays[w->n_arrays++] = (vtu_array){
        .name = "types", .type = "UInt8", .row_bytes = 1, .n = mesh->n_cells, .fill = fill_types};
}

/* ---- data ---------------------------------------------------------------------------------- */

static void write_bytes(vtu_writer *w, const void *bytes, size_t n) {
    if (w->number == 0 && weft_write_all(w->file, bytes, n) != WEFT_OK)
        w->number = errno;
}

/* Encode three bytes as four characters (RFC 4648, section 4); fewer bytes are padded with '='. */
static void code_rest(vtu_writer *w) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = w->n_rest; i < 3; ++i)
        w->rest[i] = 0;
    const unsigned bits =
        (unsigned)w->rest[0] << 16 | (unsigned)w->rest[1] << 8 | (unsigned)w->rest[2];
    for (int i = 0; i < 4; ++i)
        w->coded[w->n_coded++] = i <= w->n_rest ? digits[bits >> (18 - 6 * i) & 63] : '=';
    w->n_rest = 0;
    if (w->n_coded == CODED) {
        write_bytes(w, w->coded, w->n_coded);
        w->n_coded = 0;
    }
}

static void write_coded(vtu_writer *w, const void *bytes, size_t n) {
    const unsigned char *from = bytes;
    for (size_t i = 0; i < n && w->number == 0; ++i) {
        w->rest[w->n_rest++] = from[i];
        if (w->n_rest == 3)
            code_rest(w);
    }
}

/* Room for PIECE rows of most arrays, and for one cell of any degree. */
static size_t piece_bytes(const vtu_writer *w) {
    const size_t cell = (size_t)w->grid.width * sizeof(int32_t);
    return cell > (size_t)PIECE * ROW_BYTES_MAX ? cell : (size_t)PIECE * ROW_BYTES_MAX;
}

static void write_array(vtu_writer *w, const vtu_array *array, void *piece) {
    const uint64_t bytes = (uint64_t)array->n * array->row_bytes;
    write_coded(w, &bytes, sizeof bytes);
    if (array->bytes)
        write_coded(w, array->bytes, bytes);
    const int64_t fitting = (int64_t)(piece_bytes(w) / array->row_bytes);
    const int64_t rows = fitting < PIECE ? fitting : PIECE;
    for (int64_t first = 0; !array->bytes && first < array->n && w->number == 0; first += rows) {
        const int64_t n = array->n - first < rows ? array->n - first : rows;
        array->fill(w, array->group, first, n, piece);
        write_coded(w, piece, (size_t)n * array->row_bytes);
    }
    if (w->n_rest > 0)
        code_rest(w);
    write_bytes(w, w->coded, w->n_coded);
    w->n_coded = 0;
}

/* Write the text to the file. */
static void flush_text(vtu_writer *w) {
    if (w->head.data)
        write_bytes(w, w->head.data, w->head.length);
    w->failed = w->failed || w->head.failed;
    weft_text_free(&w->head);
}

static void write_section(vtu_writer *w, const char *section, int first, int n, void *piece) {
    weft_text *out = &w->head;
    weft_text_add(out, "      <%s>\n", section);
    for (int i = first; i < first + n; ++i) {
        const vtu_array *array = &w->arrays[i];
        weft_text_add(out, "        <DataArray type=\"%s\" Name=\"", array->type);
        weft_text_add_markup(out, array->name);
        weft_text_add(out, "\"");
        if (array->width > 0)
            weft_text_add(out, " NumberOfComponents=\"%d\"", array->width);
        weft_text_add(out, " format=\"binary\">\n");
        flush_text(w);
        write_array(w, array, piece);
        weft_text_add(out, "\n        </DataArray>\n");
    }
    weft_text_add(out, "      </%s>\n", section);
}

/* A string is written as the numbers of its bytes, with 0 at the end. */
static void write_statement(vtu_writer *w) {
    weft_text_add(&w->head, "    <FieldData>\n      <Array type=\"String\" Name=\"problem\" "
                            "NumberOfTuples=\"1\" format=\"ascii\">\n");
    for (const char *c = w->content->statement; *c; ++c)
        weft_text_add(&w->head, "%d ", (unsigned char)*c);
    weft_text_add(&w->head, "0\n      </Array>\n    </FieldData>\n");
}

static void write_all(vtu_writer *w, void *piece) {
    const weft_mesh *mesh = w->content->mesh;
    const int n_data = w->n_point_arrays + w->n_cell_arrays;
    const char *order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "LittleEndian" : "BigEndian";
    weft_text_add(&w->head,
                  "<?xml version=\"1.0\"?>\n"
                  "<VTKFile type=\"UnstructuredGrid\" version=\"%s\" byte_order=\"%s\" "
                  "header_type=\"UInt64\">\n"
                  "  <UnstructuredGrid>\n",
                  w->content->nodes ? "2.2" : "1.0", order);
    if (w->content->statement)
        write_statement(w);
    weft_text_add(&w->head,
                  "    <Piece NumberOfPoints=\"%" PRId64 "\" NumberOfCells=\"%" PRId64 "\">\n",
                  w->grid.n_points, mesh->n_cells);
    write_section(w, "PointData", 0, w->n_point_arrays, piece);
    write_section(w, "CellData", w->n_point_arrays, w->n_cell_arrays, piece);
    write_section(w, "Points", n_data, 1, piece);
    write_section(w, "Cells", n_data + 1, 3, piece);
    weft_text_add(&w->head, "    </Piece>\n  </UnstructuredGrid>\n</VTKFile>\n");
    flush_text(w);
}

weft_status weft_vtu_write(int file, const weft_result_content *content, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_groups = (size_t)content->mesh->n_groups;
    vtu_writer w = {.content = content, .file = file};
    void *piece = NULL;
    TRY(weft_result_grid_make(content->mesh, content->nodes, &w.grid, error));
    piece = malloc(piece_bytes(&w));
    w.coded = malloc(CODED);
    w.names = calloc(n_groups + 1, sizeof *w.names);
    w.arrays = calloc(n_groups + (size_t)content->n_fields + 4, sizeof *w.arrays);
    w.failed = !piece || !w.coded || !w.names || !w.arrays;
    if (!w.failed) {
        weft_mask_names(content, w.names);
        list_arrays(&w);
        write_all(&w, piece);
    }
    if (w.failed)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "%s: out of memory", content->path));
    if (w.number != 0)
        status = weft_cannot_write(content->path, w.number, error);
done:
    weft_result_grid_free(&w.grid);
    free(piece);
    free(w.coded);
    free(w.names);
    free(w.arrays);
    weft_text_free(&w.head);
    return status;
}
