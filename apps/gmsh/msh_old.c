/* Reads the nodes and elements of MSH 1 and 2, text and binary, with the physical group of each element. The file was
 * checked before (msh_check). */
#include "apps/gmsh/msh_old.h"
#include "core/base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void msh_old_clear(msh_old *old) {
    free(old->numbers);
    free(old->x);
    free(old->elements);
    free(old->nodes);
    free(old->links);
    free(old->pairs);
    *old = (msh_old){0};
}

/* Room for n more elements of an array of *capacity. */
static weft_status grow(void **list, int64_t *capacity, int64_t n, size_t size, weft_error *error) {
    if (n <= *capacity)
        return WEFT_OK;
    const int64_t larger = n + n / 2 + 64;
    void *made = reallocarray(*list, (size_t)larger, size);
    if (!made)
        return weft_out_of_memory(error, "a .msh file");
    *list = made;
    *capacity = larger;
    return WEFT_OK;
}

static double read_real(msh_file *file) {
    uint64_t bits = (uint64_t)msh_size(file);
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- nodes: number x y z, of parametric ones followed by dimension, tag and parameters ------------ */

static weft_status text_node(msh_file *file, msh_old *old, int64_t i) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    TRY(msh_content_line(file, "Nodes", &line, &length));
    char *at = (char *)(uintptr_t)line;
    old->numbers[i] = strtoll(at, &at, 10);
    for (int k = 0; k < 3; ++k)
        old->x[3 * i + k] = weft_number_read(at, &at);
done:
    return status;
}

static void binary_node(msh_file *file, msh_old *old, int64_t i, bool parametric) {
    old->numbers[i] = msh_int(file);
    for (int k = 0; k < 3; ++k)
        old->x[3 * i + k] = read_real(file);
    if (parametric) {
        const int64_t dimension = msh_int(file);
        msh_int(file);
        msh_skip(file, dimension == 1 || dimension == 2 ? dimension : 0, 8);
    }
}

static weft_status read_nodes(msh_file *file, msh_old *old, bool parametric) {
    weft_status status = WEFT_OK;
    int64_t n = 0;
    TRY(msh_numbers_line(file, "Nodes", &n, 1));
    free(old->numbers);
    free(old->x);
    old->n_nodes = n;
    old->numbers = malloc(((size_t)n + 1) * sizeof *old->numbers);
    old->x = malloc(((size_t)n + 1) * 3 * sizeof *old->x);
    if (!old->numbers || !old->x)
        TRY(weft_out_of_memory(file->error, "a .msh file"));
    for (int64_t i = 0; i < n && !file->cut; ++i) {
        if (file->binary)
            binary_node(file, old, i, parametric);
        else
            TRY(text_node(file, old, i));
    }
done:
    return status;
}

/* ---- elements ------------------------------------------------------------------------------------- */

/* tags: physical group, elementary entity, and of version 2.1 on the number of parts and the parts, of which
 * those that have the element as a ghost are negative */
static msh_old_element make_element(msh_old *old, int64_t number, int64_t type, const int64_t *tags,
                                    int64_t n) {
    msh_old_element element = {.number = number,
                               .type = (int)type,
                               .physical = n > 0 ? llabs(tags[0]) : 0,
                               .elementary = n > 1 ? tags[1] : 0};
    for (int64_t i = 3; i < n && i < 3 + tags[2]; ++i) {
        const int64_t part = llabs(tags[i]);
        old->greatest_part = part > old->greatest_part ? part : old->greatest_part;
        if (i == 3)
            element.part = part < INT32_MAX ? (int)part : INT32_MAX;
    }
    return element;
}

weft_status msh_old_add(msh_file *file, msh_old *old, msh_old_element element,
                        const int64_t *nodes) {
    weft_status status = WEFT_OK;
    const int n = msh_type_nodes(element.type);
    TRY(msh_check_tag(file, "Elements", element.physical));
    element.first = old->n_element_nodes;
    TRY(grow((void **)&old->elements, &old->element_capacity, old->n_elements + 1,
             sizeof *old->elements, file->error));
    TRY(grow((void **)&old->nodes, &old->element_node_capacity, old->n_element_nodes + n,
             sizeof *old->nodes, file->error));
    memcpy(old->nodes + old->n_element_nodes, nodes, (size_t)n * sizeof *nodes);
    old->n_element_nodes += n;
    old->elements[old->n_elements++] = element;
done:
    return status;
}

static weft_status text_elements(msh_file *file, msh_old *old) {
    weft_status status = WEFT_OK;
    int64_t n = 0, values[256];
    TRY(msh_numbers_line(file, "Elements", &n, 1));
    for (int64_t i = 0; i < n; ++i) {
        const char *line;
        size_t length;
        TRY(msh_content_line(file, "Elements", &line, &length));
        const int came = msh_integers(line, length, values, 256);
        const bool first = file->version < 2;
        const int64_t n_tags = first || came < 3 ? 2 : values[2];
        const int n_nodes = came < 3 ? 0 : msh_type_nodes(values[1]);
        if (n_nodes == 0 || n_tags < 0 || n_tags > came || came < 3 + n_tags + n_nodes)
            TRY(msh_error(file, line, length, "an element was expected in $Elements"));
        const int64_t *tags = values + (first ? 2 : 3);
        TRY(msh_old_add(file, old, make_element(old, values[0], values[1], tags, n_tags),
                        tags + n_tags + first));
    }
done:
    return status;
}

static weft_status binary_elements(msh_file *file, msh_old *old) {
    weft_status status = WEFT_OK;
    int64_t n = 0, values[256];
    TRY(msh_numbers_line(file, "Elements", &n, 1));
    for (int64_t came = 0; came < n && !file->cut;) {
        const int64_t type = msh_int(file), block = msh_int(file), n_tags = msh_int(file);
        if (file->cut || msh_type_nodes(type) == 0 || block <= 0 || n_tags < 0 || n_tags > 100)
            TRY(msh_error(file, NULL, 0, "a block of elements was expected in $Elements"));
        const int width = (int)n_tags + msh_type_nodes(type);
        for (int64_t i = 0; i < block && !file->cut; ++i) {
            const int64_t number = msh_int(file);
            for (int k = 0; k < width; ++k)
                values[k] = msh_int(file);
            TRY(msh_old_add(file, old, make_element(old, number, type, values, n_tags),
                            values + n_tags));
        }
        came += block;
    }
done:
    return status;
}

/* ---- Periodic: n links, each: dimension, entity and its master; perhaps "Affine ..."; n pairs of nodes ---- */

static weft_status read_link(msh_file *file, msh_old *old) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    int64_t head[3], n = 0, pair[2];
    TRY(msh_content_line(file, "Periodic", &line, &length));
    if (msh_integers(line, length, head, 3) < 3)
        TRY(msh_error(file, line, length, "3 whole numbers were expected in $Periodic"));
    TRY(msh_content_line(file, "Periodic", &line, &length));
    if (length > 0 && (*line < '0' || *line > '9'))
        TRY(msh_content_line(file, "Periodic", &line, &length));
    if (msh_integers(line, length, &n, 1) < 1 || n < 0)
        TRY(msh_error(file, line, length, "a count was expected in $Periodic"));
    TRY(grow((void **)&old->links, &old->link_capacity, old->n_links + 1, sizeof *old->links,
             file->error));
    old->links[old->n_links++] = (msh_old_link){(int)head[0], head[1], head[2], old->n_pairs, n};
    for (int64_t i = 0; i < n; ++i) {
        TRY(msh_content_line(file, "Periodic", &line, &length));
        if (msh_integers(line, length, pair, 2) < 2)
            TRY(msh_error(file, line, length, "two nodes were expected in $Periodic"));
        TRY(grow((void **)&old->pairs, &old->pair_capacity, 2 * (old->n_pairs + 1),
                 sizeof *old->pairs, file->error));
        memcpy(old->pairs + 2 * old->n_pairs++, pair, sizeof pair);
    }
done:
    return status;
}

static weft_status read_periodic(msh_file *file, msh_old *old) {
    weft_status status = WEFT_OK;
    int64_t n = 0;
    TRY(msh_numbers_line(file, "Periodic", &n, 1));
    for (int64_t i = 0; i < n; ++i)
        TRY(read_link(file, old));
done:
    return status;
}

/* ---- sections ------------------------------------------------------------------------------------- */

static weft_status read_section(msh_file *file, const char *section, msh_old *old) {
    if (strcmp(section, "NOD") == 0 || strcmp(section, "Nodes") == 0)
        return read_nodes(file, old, false);
    if (strcmp(section, "ParametricNodes") == 0)
        return read_nodes(file, old, true);
    if (strcmp(section, "ELM") == 0 || strcmp(section, "Elements") == 0)
        return file->binary ? binary_elements(file, old) : text_elements(file, old);
    if (strcmp(section, "Periodic") == 0) /* text in binary files too */
        return read_periodic(file, old);
    return WEFT_OK;
}

/* The sections are those that msh_check has seen: each from its name to its end, as msh_find_end finds it. */
weft_status msh_old_read(msh_file *file, msh_old *out) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    char section[64];
    file->at = 0;
    file->line = 0;
    while (msh_line(file, &line, &length)) {
        if (length < 2 || *line != '$')
            continue;
        snprintf(section, sizeof section, "%.*s", length < 60 ? (int)length - 1 : 59, line + 1);
        TRY(read_section(file, section, out));
        msh_find_end(file, section);
        (void)msh_line(file, &line, &length);
    }
done:
    if (status != WEFT_OK)
        msh_old_clear(out);
    return status;
}
