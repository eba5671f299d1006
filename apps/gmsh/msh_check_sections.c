/* One section of a .msh file, from behind its name to behind its $End line. The formats:
 * Gmsh reference manual, sections "MSH file format" and "MSH file format version 2". */
#include "weft_gmsh.h"

#include <stdio.h>
#include <string.h>

static bool is_end(const char *line, size_t length, const char *section) {
    size_t n = strlen(section);
    return length == n + 4 && memcmp(line, "$End", 4) == 0 && memcmp(line + 4, section, n) == 0;
}

/* A line of the section; its end or another section is an error. */
static weft_status content_line(msh_file *file, const char *section, const char **line,
                                size_t *length) {
    if (!msh_line(file, line, length))
        return msh_cut(file, section);
    if (*length > 0 && **line == '$')
        return msh_error(file, *line, *length, "$%s ends before all that it announces", section);
    return WEFT_OK;
}

static weft_status skip_lines(msh_file *file, const char *section, int64_t n) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    for (int64_t i = 0; i < n; ++i)
        TRY(content_line(file, section, &line, &length));
done:
    return status;
}

static weft_status numbers_line(msh_file *file, const char *section, int64_t *out, int n) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    TRY(content_line(file, section, &line, &length));
    if (msh_integers(line, length, out, n) < n || out[n - 1] < 0 || out[0] < 0)
        status = msh_error(file, line, length, "%d whole numbers were expected in $%s", n, section);
done:
    return status;
}

static weft_status type_error(msh_file *file, const char *line, size_t length, int64_t element,
                              int64_t type) {
    if (element >= 0)
        msh_error(file, line, length, "element %lld has type %lld, which is no element type",
                  (long long)element, (long long)type);
    else
        msh_error(file, line, length, "elements of type %lld: there is no such element type",
                  (long long)type);
    weft_error_hint(file->error, "Weft reads triangles (type 2) and tetrahedra (type 4), with "
                                 "lines (1) and points (15) round them; write the file again");
    return WEFT_ERROR_INPUT;
}

static weft_status short_element(msh_file *file, const char *line, size_t length) {
    if (file->at >= file->size)
        return msh_cut(file, "Elements");
    return msh_error(file, line, length, "this element has too few nodes");
}

/* number type n_tags tags... nodes... */
static weft_status elements_2(msh_file *file) {
    weft_status status = WEFT_OK;
    int64_t n;
    TRY(numbers_line(file, "Elements", &n, 1));
    for (int64_t i = 0; i < n; ++i) {
        const char *line;
        size_t length;
        int64_t values[256];
        TRY(content_line(file, "Elements", &line, &length));
        int came = msh_integers(line, length, values, 256);
        int nodes = came > 1 ? msh_type_nodes(values[1]) : 0;
        if (came > 1 && nodes == 0)
            return type_error(file, line, length, values[0], values[1]);
        if (came < 3 || values[2] < 0 || values[2] > 100 || came < 3 + values[2] + nodes)
            return short_element(file, line, length);
        ++file->counts.elements[values[1]];
    }
done:
    return status;
}

/* n lines of points, each `width` numbers. */
static weft_status point_lines(msh_file *file, int64_t n, int width) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    for (int64_t i = 0; i < n; ++i) {
        TRY(content_line(file, "Nodes", &line, &length));
        if (msh_reals(line, length) >= width)
            continue;
        return file->at >= file->size ? msh_cut(file, "Nodes")
                                      : msh_error(file, line, length, "this is no point");
    }
done:
    return status;
}

static weft_status nodes_2(msh_file *file) {
    weft_status status = WEFT_OK;
    int64_t n;
    TRY(numbers_line(file, "Nodes", &n, 1));
    TRY(point_lines(file, n, 4));
    file->counts.nodes += n;
done:
    return status;
}

/* n_blocks n_nodes least greatest; then blocks: dimension tag parametric n, n numbers, n points */
static weft_status nodes_4(msh_file *file) {
    weft_status status = WEFT_OK;
    int64_t head[2], block[4];
    TRY(numbers_line(file, "Nodes", head, 2));
    for (int64_t b = 0; b < head[0]; ++b) {
        TRY(numbers_line(file, "Nodes", block, 4));
        TRY(skip_lines(file, "Nodes", block[3]));
        TRY(point_lines(file, block[3], 3));
        file->counts.nodes += block[3];
    }
done:
    return status;
}

/* n_blocks n_elements least greatest; then blocks: dimension tag type n, n of number nodes... */
static weft_status elements_4(msh_file *file) {
    weft_status status = WEFT_OK;
    int64_t head[2];
    TRY(numbers_line(file, "Elements", head, 2));
    for (int64_t b = 0; b < head[0]; ++b) {
        const char *line;
        size_t length;
        int64_t block[4], values[160];
        TRY(content_line(file, "Elements", &line, &length));
        if (msh_integers(line, length, block, 4) < 4 || block[3] < 0)
            return msh_error(file, line, length, "4 whole numbers were expected in $Elements");
        int nodes = msh_type_nodes(block[2]);
        if (nodes == 0)
            return type_error(file, line, length, -1, block[2]);
        for (int64_t i = 0; i < block[3]; ++i) {
            TRY(content_line(file, "Elements", &line, &length));
            if (msh_integers(line, length, values, nodes + 1) < nodes + 1)
                return short_element(file, line, length);
        }
        file->counts.elements[block[2]] += block[3];
    }
done:
    return status;
}

weft_status msh_check_ascii(msh_file *file, const char *section) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    bool old = file->version < 4;
    if (strcmp(section, "Nodes") == 0)
        TRY(old ? nodes_2(file) : nodes_4(file));
    else if (strcmp(section, "Elements") == 0)
        TRY(old ? elements_2(file) : elements_4(file));
    for (;;) {
        if (!msh_line(file, &line, &length))
            return msh_cut(file, section);
        if (is_end(line, length, section))
            break;
        if (length > 0 && *line == '$' && file->at >= file->size)
            return msh_cut(file, section);
        if (length > 0 && *line == '$' && strcmp(section, "Comments") != 0)
            return msh_error(file, line, length, "$End%s was expected before this", section);
    }
done:
    return status;
}

/* The count before the binary part of version 2 is text. */
static int64_t count_line(msh_file *file) {
    const char *line;
    size_t length;
    int64_t n = -1;
    if (!msh_line(file, &line, &length) || msh_integers(line, length, &n, 1) < 1)
        return -1;
    return n;
}

static weft_status binary_elements_2(msh_file *file) {
    int64_t n = count_line(file);
    if (n < 0)
        return msh_cut(file, "Elements");
    for (int64_t done = 0; done < n && !file->cut;) {
        int64_t type = msh_int(file), block = msh_int(file), tags = msh_int(file);
        if (file->cut)
            break;
        int nodes = msh_type_nodes(type);
        if (nodes == 0)
            return type_error(file, NULL, 0, -1, type);
        if (block <= 0 || tags < 0 || tags > 100)
            return msh_error(file, NULL, 0, "$Elements has a block of %lld elements with %lld tags",
                             (long long)block, (long long)tags);
        msh_skip(file, block, (size_t)(1 + tags + nodes) * 4);
        file->counts.elements[type] += block;
        done += block;
    }
    return WEFT_OK;
}

static weft_status binary_nodes_4(msh_file *file) {
    int64_t n_blocks = msh_size(file);
    msh_skip(file, 3, 8);
    for (int64_t b = 0; b < n_blocks && !file->cut; ++b) {
        int64_t dimension = msh_int(file);
        msh_int(file);
        int64_t parametric = msh_int(file), n = msh_size(file);
        if (file->cut)
            break;
        if (dimension < 0 || dimension > 3 || n < 0)
            return msh_error(file, NULL, 0, "$Nodes has a block of dimension %lld",
                             (long long)dimension);
        msh_skip(file, n, 8 + 8 * (size_t)(3 + (parametric ? dimension : 0)));
        file->counts.nodes += n;
    }
    return WEFT_OK;
}

static weft_status binary_elements_4(msh_file *file) {
    int64_t n_blocks = msh_size(file);
    msh_skip(file, 3, 8);
    for (int64_t b = 0; b < n_blocks && !file->cut; ++b) {
        msh_int(file);
        msh_int(file);
        int64_t type = msh_int(file), n = msh_size(file);
        if (file->cut)
            break;
        int nodes = msh_type_nodes(type);
        if (nodes == 0)
            return type_error(file, NULL, 0, -1, type);
        msh_skip(file, n, 8 * (size_t)(1 + nodes));
        file->counts.elements[type] += n;
    }
    return WEFT_OK;
}

/* Sections whose inside is not walked: their end is where its name stands. */
static void find_end(msh_file *file, const char *section) {
    char end[80];
    int length = snprintf(end, sizeof end, "$End%s", section);
    const char *found = memmem(file->text + file->at, file->size - file->at, end, (size_t)length);
    if (found)
        file->at = (size_t)(found - file->text);
    else
        file->cut = true;
}

weft_status msh_check_binary(msh_file *file, const char *section) {
    weft_status status = WEFT_OK;
    bool old = file->version < 4;
    if (strcmp(section, "Nodes") == 0 && old) {
        file->counts.nodes = count_line(file);
        msh_skip(file, file->counts.nodes, 4 + 3 * 8);
    } else if (strcmp(section, "Nodes") == 0)
        TRY(binary_nodes_4(file));
    else if (strcmp(section, "Elements") == 0)
        TRY(old ? binary_elements_2(file) : binary_elements_4(file));
    else
        find_end(file, section);
    if (file->cut)
        return msh_cut(file, section);
    const char *line = "";
    size_t length = 0;
    while (length == 0)
        if (!msh_line(file, &line, &length))
            return msh_cut(file, section);
    if (!is_end(line, length, section)) {
        bool cut = file->at >= file->size && length < strlen(section) + 4;
        status = cut ? msh_cut(file, section)
                     : msh_error(file, NULL, 0, "$%s does not hold what it announces", section);
    }
done:
    return status;
}
