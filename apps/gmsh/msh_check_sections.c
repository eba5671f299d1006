/* One section of a .msh file, from behind its name to behind its $End line. The formats:
 * Gmsh reference manual, sections "MSH file format" and "MSH file format version 2". */
#include "apps/gmsh/weft_gmsh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* $EndNodes; in MSH 1, $ENDNOD */
static bool is_end(const char *line, size_t length, const char *section) {
    size_t n = strlen(section);
    return length == n + 4 && strncasecmp(line, "$End", 4) == 0 &&
           memcmp(line + 4, section, n) == 0;
}

weft_status msh_content_line(msh_file *file, const char *section, const char **line,
                             size_t *length) {
    if (!msh_line(file, line, length))
        return msh_cut(file, section);
    if (*length > 0 && **line == '$')
        return msh_error(file, *line, *length, "$%s ends before all that it announces", section);
    return WEFT_OK;
}

weft_status msh_check_number(msh_file *file, const char *section, int64_t number) {
    if (file->cut || (number > 0 && number <= INT32_MAX))
        return WEFT_OK;
    msh_error(file, NULL, 0, "$%s names node or element %lld, and numbers are from 1 to 2^31 - 1",
              section, (long long)number);
    if (number > INT32_MAX)
        weft_error_hint(file->error,
                        "number the nodes and elements from 1 on, or write the file as MSH "
                        "2.2, in which numbers may be larger");
    return WEFT_ERROR_INPUT;
}

weft_status msh_check_tag(msh_file *file, const char *section, int64_t tag) {
    if (llabs(tag) <= INT32_MAX)
        return WEFT_OK;
    msh_error(file, NULL, 0, "$%s has an entity or group %lld, and their numbers end at 2^31 - 1",
              section, (long long)tag);
    weft_error_hint(file->error, "give it a smaller number and write the file again");
    return WEFT_ERROR_INPUT;
}

/* n lines of one number each */
static weft_status number_lines(msh_file *file, const char *section, int64_t n) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    int64_t numbers[2];
    for (int64_t i = 0; i < n; ++i) {
        TRY(msh_content_line(file, section, &line, &length));
        if (msh_integers(line, length, numbers, 2) != 1)
            TRY(file->at >= file->size ? msh_cut(file, section)
                                       : msh_error(file, line, length, "one number was expected"));
    }
done:
    return status;
}

weft_status msh_numbers_line(msh_file *file, const char *section, int64_t *out, int n) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    TRY(msh_content_line(file, section, &line, &length));
    if (msh_integers(line, length, out, n) < n || out[n - 1] < 0 || (n < 3 && out[0] < 0))
        status = msh_error(file, line, length, "%d whole numbers were expected in $%s", n, section);
done:
    return status;
}

static weft_status type_error(msh_file *file, const char *line, size_t length, int64_t element,
                              int64_t type) {
    if (element >= 0)
        msh_error(file, line, length, "element %lld has type %lld, which is not an element type",
                  (long long)element, (long long)type);
    else
        msh_error(file, line, length, "elements of type %lld: there is no such element type",
                  (long long)type);
    weft_error_hint(file->error,
                    "Weft reads triangles (type 2), quadrangles (3), tetrahedra (4) and hexahedra "
                    "(5), with lines (1) and points (15); write the file again");
    return WEFT_ERROR_INPUT;
}

static weft_status short_element(msh_file *file, const char *line, size_t length) {
    if (file->at >= file->size)
        return msh_cut(file, "Elements");
    return msh_error(file, line, length, "this element has too few or too many numbers");
}

/* MSH 2: number type n_tags tags... nodes...; MSH 1: number type physical elementary n nodes... */
static weft_status elements_2(msh_file *file, const char *section) {
    weft_status status = WEFT_OK;
    int64_t n;
    TRY(msh_numbers_line(file, section, &n, 1));
    for (int64_t i = 0; i < n; ++i) {
        const char *line;
        size_t length;
        int64_t values[256];
        TRY(msh_content_line(file, section, &line, &length));
        int came = msh_integers(line, length, values, 256);
        int nodes = came > 1 ? msh_type_nodes(values[1]) : 0;
        if (came > 1 && nodes == 0)
            TRY(type_error(file, line, length, values[0], values[1]));
        bool right = file->version < 2
                         ? came == 5 + nodes && values[4] == nodes
                         : came >= 3 && values[2] >= 0 && values[2] <= 100 &&
                               came == 3 + values[2] + nodes &&
                               (values[2] < 4 || (values[5] >= 0 && values[5] <= values[2] - 3));
        if (!right)
            TRY(short_element(file, line, length));
        ++file->counts.elements[values[1]];
    }
done:
    return status;
}

/* n lines of points, each `width` numbers, and no more: Gmsh reads numbers, not lines. */
static weft_status point_lines(msh_file *file, int64_t n, int width) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    for (int64_t i = 0; i < n; ++i) {
        TRY(msh_content_line(file, "Nodes", &line, &length));
        if (msh_reals(line, length) == width)
            continue;
        TRY(file->at >= file->size ? msh_cut(file, "Nodes")
                                   : msh_error(file, line, length, "this is not a point"));
    }
done:
    return status;
}

static weft_status nodes_2(msh_file *file, const char *section) {
    weft_status status = WEFT_OK;
    int64_t n;
    TRY(msh_numbers_line(file, section, &n, 1));
    TRY(point_lines(file, n, 4));
    file->counts.nodes += n;
done:
    return status;
}

/* number x y z dimension tag, and `dimension` parameters */
static weft_status parametric_nodes_2(msh_file *file, const char *section) {
    weft_status status = WEFT_OK;
    int64_t n;
    const char *line;
    size_t length;
    TRY(msh_numbers_line(file, section, &n, 1));
    for (int64_t i = 0; i < n; ++i) {
        TRY(msh_content_line(file, section, &line, &length));
        if (msh_reals(line, length) < 6)
            TRY(file->at >= file->size
                    ? msh_cut(file, section)
                    : msh_error(file, line, length, "this is not a point with parameters"));
    }
    file->counts.nodes += n;
done:
    return status;
}

/* Gmsh takes memory for as many as the section announces, and writes as many as its blocks have. */
static weft_status check_total(msh_file *file, const char *section, int64_t announced,
                               int64_t came) {
    if (announced == came)
        return WEFT_OK;
    return msh_error(file, NULL, 0, "$%s announces %lld, and its blocks have %lld", section,
                     (long long)announced, (long long)came);
}

/* n_blocks n_nodes least greatest; then blocks: dimension tag parametric n, n numbers, n points.
 * In 4.0: n_blocks n_nodes; then blocks: tag dimension parametric n, n of number point */
static weft_status nodes_4(msh_file *file) {
    weft_status status = WEFT_OK;
    bool newer = file->version > 4;
    int64_t head[2], block[4], n = 0;
    TRY(msh_numbers_line(file, "Nodes", head, 2));
    for (int64_t b = 0; b < head[0]; ++b) {
        TRY(msh_numbers_line(file, "Nodes", block, 4));
        int64_t parametric = block[2] ? block[newer ? 0 : 1] : 0;
        if (parametric < 0 || parametric > 3)
            TRY(msh_error(file, NULL, 0, "$Nodes has a block of dimension %lld",
                          (long long)parametric));
        if (newer)
            TRY(number_lines(file, "Nodes", block[3]));
        TRY(point_lines(file, block[3], (newer ? 3 : 4) + (int)parametric));
        n += block[3];
    }
    TRY(check_total(file, "Nodes", head[1], n));
    file->counts.nodes += n;
done:
    return status;
}

/* n_blocks n_elements least greatest; then blocks: dimension tag type n, n of number nodes...
 * In 4.0: n_blocks n_elements; then blocks: tag dimension type n, and the same */
static weft_status elements_4(msh_file *file) {
    weft_status status = WEFT_OK;
    int64_t head[2], n = 0;
    TRY(msh_numbers_line(file, "Elements", head, 2));
    for (int64_t b = 0; b < head[0]; ++b) {
        const char *line;
        size_t length;
        int64_t block[4], values[160];
        TRY(msh_content_line(file, "Elements", &line, &length));
        if (msh_integers(line, length, block, 4) < 4 || block[3] < 0)
            TRY(msh_error(file, line, length, "4 whole numbers were expected in $Elements"));
        int nodes = msh_type_nodes(block[2]);
        if (nodes == 0)
            TRY(type_error(file, line, length, -1, block[2]));
        TRY(msh_check_tag(file, "Elements", block[file->version > 4 ? 1 : 0]));
        for (int64_t i = 0; i < block[3]; ++i) {
            TRY(msh_content_line(file, "Elements", &line, &length));
            if (msh_integers(line, length, values, nodes + 1) < nodes + 1)
                TRY(short_element(file, line, length));
            for (int k = 1; k <= nodes; ++k)
                TRY(msh_check_number(file, "Elements", values[k]));
        }
        file->counts.elements[block[2]] += block[3];
        n += block[3];
    }
    TRY(check_total(file, "Elements", head[1], n));
done:
    return status;
}

weft_status msh_check_ascii(msh_file *file, const char *section) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    bool old = file->version < 4;
    if (old && strcmp(section, "ParametricNodes") == 0)
        TRY(parametric_nodes_2(file, section));
    else if (strcmp(section, "Nodes") == 0 || strcmp(section, "NOD") == 0)
        TRY(old ? nodes_2(file, section) : nodes_4(file));
    else if (strcmp(section, "Elements") == 0 || strcmp(section, "ELM") == 0)
        TRY(old ? elements_2(file, section) : elements_4(file));
    else if (strcmp(section, "PhysicalNames") == 0)
        TRY(msh_read_names(file));
    else if (!old && msh_has_counts(section))
        TRY(msh_check_counts(file, section));
    for (;;) {
        if (!msh_line(file, &line, &length))
            TRY(msh_cut(file, section));
        if (is_end(line, length, section))
            break;
        if (length > 0 && *line == '$' && file->at >= file->size)
            TRY(msh_cut(file, section));
        if (length > 0 && *line == '$' && strcmp(section, "Comments") != 0)
            TRY(msh_error(file, line, length, "$End%s was expected before this", section));
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

/* The third tag is the number of partitions behind it. */
static weft_status check_parts_2(msh_file *file, int64_t block, int64_t tags, int nodes) {
    for (int64_t i = 0; i < block && !file->cut; ++i) {
        msh_skip(file, 3, 4);
        int64_t parts = msh_int(file);
        if (parts < 0 || parts > tags - 3)
            return msh_error(file, NULL, 0, "an element has %lld tags and %lld partitions",
                             (long long)tags, (long long)parts);
        msh_skip(file, tags - 3 + nodes, 4);
    }
    return WEFT_OK;
}

static weft_status binary_elements_2(msh_file *file) {
    weft_status status = WEFT_OK;
    int64_t n = count_line(file);
    if (n < 0)
        TRY(msh_cut(file, "Elements"));
    for (int64_t came = 0; came < n && !file->cut;) {
        int64_t type = msh_int(file), block = msh_int(file), tags = msh_int(file);
        if (file->cut)
            break;
        int nodes = msh_type_nodes(type);
        if (nodes == 0)
            TRY(type_error(file, NULL, 0, -1, type));
        if (block <= 0 || tags < 0 || tags > 100)
            TRY(msh_error(file, NULL, 0, "$Elements has a block of %lld elements with %lld tags",
                          (long long)block, (long long)tags));
        if (tags > 3)
            TRY(check_parts_2(file, block, tags, nodes));
        else
            msh_skip(file, block, (size_t)(1 + tags + nodes) * 4);
        file->counts.elements[type] += block;
        came += block;
    }
done:
    return status;
}

static weft_status binary_parametric_nodes_2(msh_file *file) {
    const int64_t n = count_line(file);
    for (int64_t i = 0; i < n && !file->cut; ++i) {
        msh_skip(file, 1, 4 + 3 * 8);
        const int64_t dimension = msh_int(file);
        if (dimension < 0 || dimension > 3)
            return msh_error(file, NULL, 0, "$ParametricNodes has a node of dimension %lld",
                             (long long)dimension);
        msh_skip(file, 1, 4);
        msh_skip(file, dimension == 1 || dimension == 2 ? dimension : 0, 8);
    }
    file->cut |= n < 0;
    file->counts.nodes = n;
    return WEFT_OK;
}

static weft_status binary_nodes_4(msh_file *file) {
    int64_t n_blocks = msh_size(file), announced = msh_size(file), came = 0;
    msh_skip(file, 2, 8);
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
        if (!file->cut) /* n is at most the size of the file: sums do not overflow */
            came += n;
    }
    file->counts.nodes += came;
    return file->cut ? WEFT_OK : check_total(file, "Nodes", announced, came);
}

static weft_status binary_elements_4(msh_file *file) {
    weft_status status = WEFT_OK;
    int64_t n_blocks = msh_size(file), announced = msh_size(file), came = 0;
    msh_skip(file, 2, 8);
    for (int64_t b = 0; b < n_blocks && !file->cut; ++b) {
        msh_int(file);
        msh_int(file);
        int64_t type = msh_int(file), n = msh_size(file);
        if (file->cut)
            break;
        int nodes = msh_type_nodes(type);
        if (nodes == 0)
            TRY(type_error(file, NULL, 0, -1, type));
        for (int64_t i = 0; i < n && !file->cut; ++i) {
            msh_skip(file, 1, 8);
            for (int k = 0; k < nodes && !file->cut; ++k)
                TRY(msh_check_number(file, "Elements", msh_size(file)));
        }
        if (file->cut)
            break;
        file->counts.elements[type] += n;
        came += n;
    }
    if (!file->cut)
        status = check_total(file, "Elements", announced, came);
done:
    return status;
}

bool msh_is_text(const msh_file *file, const char *section) {
    return !file->binary || strcmp(section, "PhysicalNames") == 0;
}

void msh_find_end(msh_file *file, const char *section) {
    char end[80];
    const char *line;
    size_t length;
    if (msh_is_text(file, section)) {
        while (msh_line(file, &line, &length))
            if (is_end(line, length, section)) {
                file->at = (size_t)(line - file->text);
                --file->line;
                return;
            }
    } else {
        const int n = snprintf(end, sizeof end, "$End%s", section);
        const char *found = memmem(file->text + file->at, file->size - file->at, end, (size_t)n);
        if (found) {
            file->at = (size_t)(found - file->text);
            return;
        }
    }
    file->cut = true;
}

weft_status msh_check_binary(msh_file *file, const char *section) {
    weft_status status = WEFT_OK;
    bool old = file->version < 4;
    if (strcmp(section, "Nodes") == 0 && old) {
        file->counts.nodes = count_line(file);
        msh_skip(file, file->counts.nodes, 4 + 3 * 8);
    } else if (strcmp(section, "ParametricNodes") == 0 && old) {
        TRY(binary_parametric_nodes_2(file));
    } else if (strcmp(section, "Nodes") == 0)
        TRY(binary_nodes_4(file));
    else if (strcmp(section, "Elements") == 0)
        TRY(old ? binary_elements_2(file) : binary_elements_4(file));
    else if (!old && msh_has_counts(section))
        TRY(msh_check_counts(file, section));
    else
        msh_find_end(file, section);
    if (file->cut)
        TRY(msh_cut(file, section));
    const char *line = "";
    size_t length = 0;
    while (length == 0)
        if (!msh_line(file, &line, &length))
            TRY(msh_cut(file, section));
    if (!is_end(line, length, section)) {
        bool cut = file->at >= file->size && length < strlen(section) + 4;
        status = cut ? msh_cut(file, section)
                     : msh_error(file, NULL, 0, "$%s does not hold what it announces", section);
    }
done:
    return status;
}
