/* Reads meshes that Gmsh does not: of Medit in two dimensions (BAMG, FreeFEM), and of legacy VTK from version 5 on
 * (VTK 9, ParaView). Gmsh takes the reference of a 2D vertex for z, and offsets for numbers of nodes. */
#include "apps/gmsh/msh_old.h"
#include "core/base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is(const char *word, size_t length, const char *name) {
    return length == strlen(name) && memcmp(word, name, length) == 0;
}

static weft_status cut(msh_file *file, const char *what) {
    msh_error(file, NULL, 0, "the file ends inside its %s", what);
    weft_error_hint(file->error, "it was cut short: write or copy it again");
    return WEFT_ERROR_INPUT;
}

static bool read_integer(msh_file *file, int64_t *out) {
    const char *word;
    size_t length;
    return msh_word(file, &word, &length) && msh_integers(word, length, out, 1) == 1;
}

static bool to_real(const char *word, size_t length, double *out) {
    char text[64], *end = NULL;
    if (length >= sizeof text)
        return false;
    memcpy(text, word, length);
    text[length] = '\0';
    *out = weft_number_read(text, &end);
    return end != text && *end == '\0';
}

static bool read_real(msh_file *file, double *out) {
    const char *word;
    size_t length;
    return msh_word(file, &word, &length) && to_real(word, length, out);
}

/* Room for n nodes, each of which takes at least a byte of the file. */
static weft_status start_nodes(msh_file *file, msh_old *old, int64_t n) {
    if (n < 0 || (uint64_t)n > file->size || old->numbers)
        return msh_error(file, NULL, 0, "a number of points was expected, once");
    old->n_nodes = n;
    old->numbers = malloc(((size_t)n + 1) * sizeof *old->numbers);
    old->x = calloc((size_t)n + 1, 3 * sizeof *old->x);
    if (!old->numbers || !old->x)
        return weft_out_of_memory(file->error, "a mesh");
    for (int64_t i = 0; i < n; ++i)
        old->numbers[i] = i + 1;
    return WEFT_OK;
}

/* ---- Medit: keywords, each with a count and as many lines of nodes and a reference ---------------- */

/* Pass blanks, comments and texts in quotes; false at the end. */
static bool medit_word(msh_file *file, const char **word, size_t *length) {
    while (msh_word(file, word, length)) {
        const char first = **word, stop = first == '#' ? '\n' : '"';
        if (first != '#' && first != '"')
            return true;
        file->at = (size_t)(*word - file->text) + 1;
        while (file->at < file->size && file->text[file->at] != stop)
            file->line += file->text[file->at++] == '\n';
        file->at += file->at < file->size;
    }
    return false;
}

static bool medit_integer(msh_file *file, int64_t *out) {
    const char *word;
    size_t length;
    return medit_word(file, &word, &length) && msh_integers(word, length, out, 1) == 1;
}

static bool medit_real(msh_file *file, double *out) {
    const char *word;
    size_t length;
    return medit_word(file, &word, &length) && to_real(word, length, out);
}

static weft_status medit_vertices(msh_file *file, msh_old *old) {
    weft_status status = WEFT_OK;
    int64_t n = -1, reference;
    (void)medit_integer(file, &n);
    TRY(start_nodes(file, old, n));
    for (int64_t i = 0; i < n; ++i)
        if (!medit_real(file, &old->x[3 * i]) || !medit_real(file, &old->x[3 * i + 1]) ||
            !medit_integer(file, &reference))
            TRY(file->at >= file->size
                    ? cut(file, "vertices")
                    : msh_error(file, NULL, 0, "a vertex was expected: x, y and its reference"));
done:
    return status;
}

static weft_status medit_elements(msh_file *file, int type, msh_old *old) {
    weft_status status = WEFT_OK;
    int64_t n = -1, nodes[4], reference = 0;
    if (!medit_integer(file, &n) || n < 0)
        TRY(msh_error(file, NULL, 0, "a count was expected"));
    for (int64_t i = 0; i < n; ++i) {
        bool right = true;
        for (int k = 0; k < msh_type_nodes(type); ++k)
            right = right && medit_integer(file, &nodes[k]);
        if (!right || !medit_integer(file, &reference))
            TRY(file->at >= file->size
                    ? cut(file, msh_type_name(type))
                    : msh_error(file, NULL, 0,
                                "%lld %s are announced, and number %lld has too few nodes",
                                (long long)n, msh_type_name(type), (long long)i + 1));
        TRY(msh_old_add(file, old,
                        (msh_old_element){.number = old->n_elements + 1,
                                          .type = type,
                                          .physical = llabs(reference),
                                          .elementary = 1},
                        nodes));
    }
done:
    return status;
}

static weft_status read_medit(msh_file *file, msh_old *old) {
    weft_status status = WEFT_OK;
    const char *word;
    size_t length;
    while (medit_word(file, &word, &length)) {
        if (is(word, length, "End"))
            break;
        if (is(word, length, "Vertices"))
            TRY(medit_vertices(file, old));
        else if (is(word, length, "Edges"))
            TRY(medit_elements(file, 1, old));
        else if (is(word, length, "Triangles"))
            TRY(medit_elements(file, 2, old));
        else if (is(word, length, "Quadrilaterals"))
            TRY(medit_elements(file, 3, old));
    }
    if (!old->numbers)
        status = msh_error(file, NULL, 0, "the file has no Vertices");
done:
    return status;
}

/* Does the file say Dimension 2? */
static bool is_medit_2d(const msh_file *file) {
    msh_file copy = *file;
    const char *word;
    size_t length;
    int64_t dimension = 0;
    copy.at = 0;
    while (medit_word(&copy, &word, &length)) {
        if (is(word, length, "Dimension"))
            return medit_integer(&copy, &dimension) && dimension == 2;
        if (is(word, length, "Vertices"))
            return false;
    }
    return false;
}

/* ---- legacy VTK, from version 5 on ---------------------------------------------------------------- */

typedef struct vtk {
    msh_file *file;
    msh_old *old;
    bool binary;
    int64_t n_offsets, *offsets, n_connectivity, *connectivity, n_types, *types;
} vtk;

/* A type of numbers: r real, i integer, u unsigned */
typedef struct number_type {
    const char *name;
    int bytes;
    char kind;
} number_type;

static const number_type number_types[] = {{"double", 8, 'r'},         {"float", 4, 'r'},
                                           {"vtktypeint64", 8, 'i'},   {"vtktypeuint64", 8, 'u'},
                                           {"vtktypeint32", 4, 'i'},   {"vtktypeuint32", 4, 'u'},
                                           {"vtktypeint16", 2, 'i'},   {"vtktypeuint16", 2, 'u'},
                                           {"vtktypeint8", 1, 'i'},    {"vtktypeuint8", 1, 'u'},
                                           {"vtkIdType", 8, 'i'},      {"long", 8, 'i'},
                                           {"unsigned_long", 8, 'u'},  {"int", 4, 'i'},
                                           {"unsigned_int", 4, 'u'},   {"short", 2, 'i'},
                                           {"unsigned_short", 2, 'u'}, {"char", 1, 'i'},
                                           {"unsigned_char", 1, 'u'},  {"signed_char", 1, 'i'}};

/* The type at the end of a line, and, of a binary file, where its numbers begin. */
static weft_status read_type(vtk *v, bool whole, const number_type **out) {
    const char *word;
    size_t length;
    *out = NULL;
    (void)msh_word(v->file, &word, &length);
    for (size_t i = 0; i < sizeof number_types / sizeof *number_types; ++i)
        if (is(word, length, number_types[i].name))
            *out = &number_types[i];
    if (!*out || (whole && (*out)->kind == 'r'))
        return msh_error(v->file, NULL, 0, "a type of %s was expected, such as %s, not %.*s",
                         whole ? "whole numbers" : "numbers", whole ? "vtktypeint64" : "double",
                         length < 40 ? (int)length : 40, word);
    if (v->binary && v->file->at < v->file->size)
        ++v->file->at; /* the line end */
    return WEFT_OK;
}

/* The next number of a binary file, most significant byte first, in 64 bits. */
static bool read_bits(msh_file *file, const number_type *type, uint64_t *out) {
    const size_t n = (size_t)type->bytes;
    *out = 0;
    if (file->size - file->at < n)
        return false;
    for (size_t k = 0; k < n; ++k)
        *out = *out << 8 | (unsigned char)file->text[file->at++];
    if (type->kind == 'i' && n < 8 && *out >> (8 * n - 1))
        *out -= UINT64_C(1) << (8 * n); /* negative */
    return true;
}

static bool read_whole(vtk *v, const number_type *type, int64_t *out) {
    uint64_t bits = 0;
    if (!v->binary)
        return read_integer(v->file, out);
    const bool right = read_bits(v->file, type, &bits);
    *out = (int64_t)bits;
    return right;
}

static bool read_coordinate(vtk *v, const number_type *type, double *out) {
    uint64_t bits = 0;
    if (!v->binary)
        return read_real(v->file, out);
    const bool right = read_bits(v->file, type, &bits);
    if (type->kind != 'r') {
        *out = type->kind == 'u' ? (double)bits : (double)(int64_t)bits;
    } else if (type->bytes == 4) {
        const uint32_t narrow_bits = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &narrow_bits, sizeof narrow);
        *out = (double)narrow;
    } else {
        memcpy(out, &bits, sizeof *out);
    }
    return right;
}

static weft_status vtk_points(vtk *v) {
    weft_status status = WEFT_OK;
    int64_t n = -1;
    const number_type *type = NULL;
    (void)read_integer(v->file, &n);
    TRY(start_nodes(v->file, v->old, n));
    TRY(read_type(v, false, &type));
    for (int64_t i = 0; i < 3 * n; ++i)
        if (!read_coordinate(v, type, &v->old->x[i]))
            TRY(cut(v->file, "points"));
done:
    return status;
}

static weft_status read_list(vtk *v, int64_t n, const number_type *type, const char *what,
                             int64_t **out) {
    weft_status status = WEFT_OK;
    if (n < 0 || (uint64_t)n > v->file->size || *out)
        TRY(msh_error(v->file, NULL, 0, "a number of %s was expected, once", what));
    *out = malloc(((size_t)n + 1) * sizeof **out);
    if (!*out)
        TRY(weft_out_of_memory(v->file->error, "a mesh"));
    for (int64_t i = 0; i < n; ++i)
        if (!read_whole(v, type, &(*out)[i]))
            TRY(cut(v->file, what));
done:
    return status;
}

static weft_status vtk_cells(vtk *v) {
    weft_status status = WEFT_OK;
    const char *word;
    size_t length;
    const number_type *type = NULL;
    if (!read_integer(v->file, &v->n_offsets) || !read_integer(v->file, &v->n_connectivity))
        TRY(msh_error(v->file, NULL, 0, "two counts were expected after CELLS"));
    for (int i = 0; i < 2; ++i) {
        if (!msh_word(v->file, &word, &length) || !is(word, length, i ? "CONNECTIVITY" : "OFFSETS"))
            TRY(msh_error(v->file, NULL, 0, "%s was expected here",
                          i ? "CONNECTIVITY" : "OFFSETS"));
        TRY(read_type(v, true, &type));
        TRY(i ? read_list(v, v->n_connectivity, type, "nodes of cells", &v->connectivity)
              : read_list(v, v->n_offsets, type, "offsets of cells", &v->offsets));
    }
done:
    return status;
}

static weft_status vtk_types(vtk *v) {
    static const number_type type = {"int", 4, 'i'};
    if (!read_integer(v->file, &v->n_types))
        return msh_error(v->file, NULL, 0, "a count was expected after CELL_TYPES");
    if (v->binary && v->file->at < v->file->size)
        ++v->file->at;
    return read_list(v, v->n_types, &type, "types of cells", &v->types);
}

/* FIELD name n, and n arrays: name components tuples type, and numbers */
static weft_status vtk_fields(vtk *v) {
    weft_status status = WEFT_OK;
    const char *word;
    size_t length;
    int64_t n = 0, components = 0, tuples = 0;
    const number_type *type = NULL;
    if (!msh_word(v->file, &word, &length) || !read_integer(v->file, &n))
        TRY(msh_error(v->file, NULL, 0, "a name and a count were expected after FIELD"));
    for (int64_t i = 0; i < n; ++i) {
        if (!msh_word(v->file, &word, &length) || !read_integer(v->file, &components) ||
            !read_integer(v->file, &tuples) || components < 0 || tuples < 0 || components > 1000 ||
            (uint64_t)tuples > v->file->size)
            TRY(msh_error(v->file, NULL, 0, "an array of FIELD was expected"));
        TRY(read_type(v, false, &type));
        if (v->binary)
            msh_skip(v->file, components * tuples, (size_t)type->bytes);
        for (int64_t k = 0; !v->binary && k < components * tuples; ++k)
            if (!msh_word(v->file, &word, &length))
                TRY(cut(v->file, "fields"));
        if (v->file->cut)
            TRY(cut(v->file, "fields"));
    }
done:
    return status;
}

/* Metadata end with an empty line. */
static void pass_metadata(msh_file *file) {
    const char *line;
    size_t length = 1;
    (void)msh_line(file, &line, &length);
    length = 1;
    while (length > 0 && msh_line(file, &line, &length))
        ;
}

/* VTK's types of cells, Gmsh's, and Gmsh's order of the nodes where it differs. */
static const struct {
    int vtk, gmsh;
    signed char order[10];
} cell_types[] = {{1, 15, {0}},
                  {3, 1, {0, 1}},
                  {5, 2, {0, 1, 2}},
                  {8, 3, {0, 1, 3, 2}},
                  {9, 3, {0, 1, 2, 3}},
                  {10, 4, {0, 1, 2, 3}},
                  {11, 5, {0, 1, 3, 2, 4, 5, 7, 6}},
                  {12, 5, {0, 1, 2, 3, 4, 5, 6, 7}},
                  {13, 6, {0, 1, 2, 3, 4, 5}},
                  {14, 7, {0, 1, 2, 3, 4}},
                  {21, 8, {0, 1, 2}},
                  {22, 9, {0, 1, 2, 3, 4, 5}},
                  {24, 11, {0, 1, 2, 3, 4, 5, 6, 7, 9, 8}}};

static int find_type(int64_t type) {
    for (size_t i = 0; i < sizeof cell_types / sizeof *cell_types; ++i)
        if (cell_types[i].vtk == type)
            return (int)i;
    return -1;
}

static weft_status refuse_type(vtk *v, int64_t cell) {
    weft_error *error = v->file->error;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "cell %lld has VTK's type %lld, which is not read", (long long)cell,
                   (long long)v->types[cell]);
    weft_error_location(error, v->file->path, NULL, 0, 0);
    weft_error_hint(error, "in ParaView, apply the filter Tetrahedralize and save it again");
    return WEFT_ERROR_UNSUPPORTED;
}

static weft_status vtk_cell(vtk *v, int64_t cell) {
    const int kind = find_type(v->types[cell]);
    const int64_t first = v->offsets[cell], end = v->offsets[cell + 1];
    int64_t nodes[10];
    if (kind < 0)
        return refuse_type(v, cell);
    const int type = cell_types[kind].gmsh, n = msh_type_nodes(type);
    if (first < 0 || end < first || end > v->n_connectivity)
        return msh_error(v->file, NULL, 0, "cell %lld has its nodes from %lld to %lld, of %lld",
                         (long long)cell, (long long)first, (long long)end,
                         (long long)v->n_connectivity);
    if (end - first != n)
        return msh_error(v->file, NULL, 0, "cell %lld has %lld nodes, and its type has %d",
                         (long long)cell, (long long)(end - first), n);
    for (int k = 0; k < n; ++k) {
        const int64_t point = v->connectivity[first + cell_types[kind].order[k]];
        if (point < 0 || point >= v->old->n_nodes)
            return msh_error(v->file, NULL, 0,
                             "cell %lld has the point %lld, of %lld points from 0", (long long)cell,
                             (long long)point, (long long)v->old->n_nodes);
        nodes[k] = point + 1;
    }
    return msh_old_add(v->file, v->old,
                       (msh_old_element){.number = cell + 1, .type = type, .elementary = 1}, nodes);
}

static weft_status vtk_sections(vtk *v) {
    weft_status status = WEFT_OK;
    const char *word;
    size_t length;
    while (!v->types && msh_word(v->file, &word, &length)) {
        if (is(word, length, "DATASET")) {
            if (!msh_word(v->file, &word, &length) || !is(word, length, "UNSTRUCTURED_GRID"))
                TRY(msh_error(v->file, NULL, 0,
                              "the data set is %.*s, and a mesh is an UNSTRUCTURED_GRID",
                              length < 40 ? (int)length : 40, word));
        } else if (is(word, length, "POINTS"))
            TRY(vtk_points(v));
        else if (is(word, length, "CELLS"))
            TRY(vtk_cells(v));
        else if (is(word, length, "CELL_TYPES"))
            TRY(vtk_types(v));
        else if (is(word, length, "FIELD"))
            TRY(vtk_fields(v));
        else if (is(word, length, "METADATA"))
            pass_metadata(v->file);
        else
            TRY(msh_error(v->file, NULL, 0, "a section was expected, not %.*s",
                          length < 40 ? (int)length : 40, word));
    }
    if (!v->old->numbers || !v->offsets || !v->connectivity || !v->types)
        status = cut(v->file, "points and cells");
done:
    return status;
}

static weft_status read_vtk(msh_file *file, msh_old *old) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length = 0;
    vtk v = {.file = file, .old = old};
    for (int i = 0; i < 3; ++i)
        (void)msh_line(file, &line, &length);
    v.binary = length == 6 && memcmp(line, "BINARY", 6) == 0;
    file->binary = v.binary;
    file->swapped = true; /* VTK writes the other byte order */
    TRY(vtk_sections(&v));
    if (v.n_offsets != v.n_types + 1)
        TRY(msh_error(file, NULL, 0, "%lld cells have %lld offsets", (long long)v.n_types,
                      (long long)v.n_offsets));
    for (int64_t i = 0; i < v.n_types; ++i)
        TRY(vtk_cell(&v, i));
done:
    free(v.offsets);
    free(v.connectivity);
    free(v.types);
    return status;
}

/* ---- both ----------------------------------------------------------------------------------------- */

static bool is_vtk_5(const msh_file *file) {
    static const char start[] = "# vtk DataFile Version ";
    const size_t n = sizeof start - 1;
    return file->size > n + 1 && memcmp(file->text, start, n) == 0 && file->text[n] >= '5' &&
           file->text[n] <= '9' && file->text[n + 1] == '.';
}

bool msh_foreign_is(const msh_file *file) {
    return path_ends_with(file->path, ".vtk")    ? is_vtk_5(file)
           : path_ends_with(file->path, ".mesh") ? is_medit_2d(file)
                                                 : false;
}

weft_status msh_foreign_read(msh_file *file, msh_old *out) {
    file->at = 0;
    file->line = 0;
    const weft_status status =
        path_ends_with(file->path, ".vtk") ? read_vtk(file, out) : read_medit(file, out);
    if (status != WEFT_OK)
        msh_old_clear(out);
    return status;
}
