/* UNV, Nastran, VTK and Medit files: is the file whole? Gmsh takes what there is of one that was
 * cut, and from VTK files it reads cells of any number of nodes into room for 100. */
#include "apps/gmsh/weft_gmsh.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool starts_with(const char *line, size_t length, const char *word) {
    size_t n = strlen(word);
    return length >= n && memcmp(line, word, n) == 0;
}

static bool is_word(const char *line, size_t length, const char *word) {
    while (length > 0 && (*line == ' ' || *line == '\t'))
        ++line, --length;
    size_t n = strlen(word);
    return starts_with(line, length, word) &&
           (length == n || line[n] == ' ' || line[n] == '\t' || line[n] == '\r');
}

/* ---- Medit: Keyword, a count, and as many lines; "Keyword count" too ---- */

static weft_status check_medit_list(msh_file *file, const char *name, size_t length, int64_t n) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t n_line;
    char section[40];
    snprintf(section, sizeof section, "%.*s", length < 39 ? (int)length : 39, name);
    for (int64_t i = 0; i < n; ++i) {
        if (!msh_line(file, &line, &n_line))
            return msh_error(file, NULL, 0, "%s announces %lld, and the file ends after %lld",
                             section, (long long)n, (long long)i);
        if (n_line == 0)
            --i;
        else if (msh_reals(line, n_line) < 1)
            return msh_error(file, line, n_line, "%s announces %lld, and has %lld", section,
                             (long long)n, (long long)i);
    }
    return status;
}

static weft_status check_medit(msh_file *file) {
    static const char *const names[] = {
        "Vertices",       "Edges",      "EdgesP2",      "Triangles", "TrianglesP2",
        "Quadrilaterals", "Tetrahedra", "TetrahedraP2", "Hexahedra", "Prisms"};
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    while (msh_line(file, &line, &length))
        for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
            int64_t n = -1;
            if (!is_word(line, length, names[i]))
                continue;
            if (!msh_line(file, &line, &length) || msh_integers(line, length, &n, 1) < 1 || n < 0)
                TRY(msh_error(file, NULL, 0, "a count was expected on the line after %s",
                              names[i]));
            TRY(check_medit_list(file, names[i], strlen(names[i]), n));
            break;
        }
done:
    return status;
}

/* ---- Nastran: ends with ENDDATA ---- */

static weft_status check_nastran(msh_file *file) {
    const char *line;
    size_t length;
    while (msh_line(file, &line, &length))
        if (is_word(line, length, "ENDDATA"))
            return WEFT_OK;
    msh_error(file, NULL, 0, "the file has no ENDDATA at its end");
    weft_error_hint(file->error,
                    "it was cut short: write it again; where it is whole, add a line ENDDATA");
    return WEFT_ERROR_INPUT;
}

/* ---- UNV: datasets between lines of -1; 2411 holds nodes and 2412 elements ---- */

static bool is_minus(const char *line, size_t length) {
    return length >= 2 && memcmp(line + length - 2, "-1", 2) == 0 &&
           strspn(line, " ") == length - 2;
}

static weft_status check_unv_nodes(msh_file *file) {
    const char *line;
    size_t length;
    for (;;) {
        if (!msh_line(file, &line, &length))
            return msh_error(file, NULL, 0, "the file ends inside the nodes (dataset 2411)");
        if (is_minus(line, length))
            return WEFT_OK;
        if (msh_reals(line, length) < 4 || !msh_line(file, &line, &length) || length < 5)
            return msh_error(file, line, length, "a node was expected (dataset 2411)");
    }
}

static weft_status check_unv_elements(msh_file *file) {
    const char *line;
    size_t length;
    for (;;) {
        int64_t head[6], nodes[8];
        if (!msh_line(file, &line, &length))
            return msh_error(file, NULL, 0, "the file ends inside the elements (dataset 2412)");
        if (is_minus(line, length))
            return WEFT_OK;
        if (msh_integers(line, length, head, 6) < 6 || head[5] < 1 || head[5] > 64)
            return msh_error(file, line, length, "an element was expected (dataset 2412)");
        int64_t type = head[1];
        bool beam = type == 11 || (type >= 21 && type <= 24) || type == 31 || type == 32;
        if (beam && !msh_line(file, &line, &length))
            continue;
        for (int64_t left = head[5]; left > 0; left -= 8) {
            int wanted = left < 8 ? (int)left : 8;
            if (!msh_line(file, &line, &length) ||
                msh_integers(line, length, nodes, wanted) < wanted)
                return msh_error(file, line, length, "an element has too few nodes");
        }
    }
}

static weft_status check_unv_dataset(msh_file *file) {
    const char *line;
    size_t length;
    int64_t kind = 0;
    if (msh_line(file, &line, &length))
        msh_integers(line, length, &kind, 1);
    if (kind == 2411)
        return check_unv_nodes(file);
    if (kind == 2412)
        return check_unv_elements(file);
    while (msh_line(file, &line, &length))
        if (is_minus(line, length))
            return WEFT_OK;
    return msh_error(file, NULL, 0, "the file ends inside a dataset");
}

static weft_status check_unv(msh_file *file) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    while (msh_line(file, &line, &length))
        if (is_minus(line, length))
            TRY(check_unv_dataset(file));
done:
    return status;
}

/* ---- legacy VTK ---- */

static int64_t next_integer(msh_file *file) {
    const char *word;
    size_t length;
    int64_t value = -1;
    if (!msh_word(file, &word, &length) || msh_integers(word, length, &value, 1) < 1)
        return -1;
    return value;
}

/* Before binary data; Gmsh passes all blanks there, so that the data must not start with one. */
static bool pass_line_end(msh_file *file) {
    bool right = file->size - file->at >= 2 && file->text[file->at] == '\n' &&
                 !isspace((unsigned char)file->text[file->at + 1]);
    file->at += right;
    return right;
}

static weft_status check_vtk_cells(msh_file *file, bool binary) {
    enum { NODES_MOST = 100 };
    int64_t n = next_integer(file), total = next_integer(file), came = 0;
    if (n < 0 || total < 0 || n > total)
        return msh_error(file, NULL, 0, "two counts were expected after CELLS");
    if (binary && !pass_line_end(file))
        return msh_error(file, NULL, 0, "a line end was expected behind the counts of CELLS");
    file->swapped = true; /* VTK writes the other byte order */
    for (int64_t i = 0; i < n; ++i) {
        int64_t nodes = binary ? msh_int(file) : next_integer(file);
        if (file->cut || nodes < 1 || nodes > NODES_MOST)
            return msh_error(file, NULL, 0, "cell %lld of %lld has no number of nodes",
                             (long long)i + 1, (long long)n);
        if (binary)
            msh_skip(file, nodes, 4);
        for (int64_t k = 0; !binary && k < nodes; ++k)
            if (next_integer(file) < 0)
                return msh_error(file, NULL, 0, "cell %lld of %lld has too few nodes",
                                 (long long)i + 1, (long long)n);
        came += 1 + nodes;
    }
    if (file->cut || came != total)
        return msh_error(file, NULL, 0, "CELLS announces %lld numbers, and has %lld",
                         (long long)total, (long long)came);
    return WEFT_OK;
}

static weft_status check_vtk(msh_file *file) {
    const char *word;
    size_t length;
    bool binary = false;
    if (!starts_with(file->text, file->size, "# vtk DataFile"))
        return msh_error(file, NULL, 0,
                         "this is not a legacy VTK file: it does not start with # vtk DataFile");
    msh_line(file, &word, &length);
    msh_line(file, &word, &length);
    while (msh_word(file, &word, &length)) {
        binary |= is_word(word, length, "BINARY");
        if (is_word(word, length, "CELLS"))
            return check_vtk_cells(file, binary);
        if (!is_word(word, length, "POINTS"))
            continue;
        int64_t n = next_integer(file);
        if (n < 0 || !msh_word(file, &word, &length))
            return msh_error(file, NULL, 0, "a count and a type were expected after POINTS");
        if (binary && !pass_line_end(file))
            return msh_error(file, NULL, 0, "a line end was expected behind POINTS");
        if (binary)
            msh_skip(file, n, is_word(word, length, "double") ? 24 : 12);
        for (int64_t i = 0; !binary && i < 3 * n; ++i)
            if (!msh_word(file, &word, &length))
                return msh_error(file, NULL, 0, "the file ends inside its %lld points",
                                 (long long)n);
    }
    return msh_error(file, NULL, 0, "the file has no CELLS");
}

typedef struct format {
    const char *ending;
    weft_status (*check)(msh_file *file);
} format;

static const format formats[] = {{".mesh", check_medit},
                                 {".bdf", check_nastran},
                                 {".nas", check_nastran},
                                 {".unv", check_unv},
                                 {".vtk", check_vtk}};

static const format *find_format(const char *path) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i)
        if (path_ends_with(path, formats[i].ending))
            return &formats[i];
    return NULL;
}

weft_status other_check_mapped(msh_file *file) {
    const format *of_file = find_format(file->path);
    return of_file && !msh_foreign_is(file) ? of_file->check(file) : WEFT_OK;
}

weft_status other_check(const char *path, weft_error *error) {
    weft_status status = WEFT_OK;
    msh_file file = {.path = path, .error = error};
    if (!find_format(path))
        goto done;
    TRY(msh_map(&file));
    status = other_check_mapped(&file);
    msh_unmap(&file);
done:
    return status;
}
