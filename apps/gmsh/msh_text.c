/* Lines, numbers and errors of a .msh file in memory. */
#include "apps/gmsh/weft_gmsh.h"

#include <string.h>
#include <strings.h>

bool path_ends_with(const char *path, const char *ending) {
    size_t length = strlen(path), n = strlen(ending);
    return length > n && strcmp(path + length - n, ending) == 0;
}

bool msh_line(msh_file *file, const char **line, size_t *length) {
    if (file->at >= file->size)
        return false;
    const char *start = file->text + file->at;
    const char *end = memchr(start, '\n', file->size - file->at);
    size_t n = end ? (size_t)(end - start) : file->size - file->at;
    file->at += n + (end ? 1 : 0);
    ++file->line;
    while (n > 0 && (start[n - 1] == '\r' || start[n - 1] == ' '))
        --n;
    *line = start;
    *length = n;
    return true;
}

bool msh_word(msh_file *file, const char **word, size_t *length) {
    while (file->at < file->size && (unsigned char)file->text[file->at] <= ' ')
        file->line += file->text[file->at++] == '\n';
    *word = file->text + file->at;
    while (file->at < file->size && (unsigned char)file->text[file->at] > ' ')
        ++file->at;
    *length = (size_t)(file->text + file->at - *word);
    return *length > 0;
}

int msh_integers(const char *line, size_t length, int64_t *out, int most) {
    int n = 0;
    size_t i = 0;
    while (n < most) {
        while (i < length && (line[i] == ' ' || line[i] == '\t'))
            ++i;
        bool negative = i < length && line[i] == '-';
        i += negative;
        size_t first = i;
        int64_t value = 0;
        while (i < length && line[i] >= '0' && line[i] <= '9' && i - first < 18)
            value = 10 * value + (line[i++] - '0');
        if (i == first || (i < length && line[i] != ' ' && line[i] != '\t'))
            return n;
        out[n++] = negative ? -value : value;
    }
    return n;
}

int msh_reals(const char *line, size_t length) {
    static const char *const names[] = {"nan", "inf", "+nan", "+inf", "-nan", "-inf"};
    int n = 0;
    size_t i = 0;
    for (;; ++n) {
        while (i < length && (line[i] == ' ' || line[i] == '\t'))
            ++i;
        size_t first = i;
        bool number = false, name = false;
        while (i < length && line[i] != ' ' && line[i] != '\t') {
            number |= line[i] >= '0' && line[i] <= '9';
            if (!memchr("0123456789+-.eE", line[i], 15))
                name = true;
            ++i;
        }
        for (size_t k = 0; name && k < sizeof names / sizeof *names; ++k)
            if (i - first == strlen(names[k]) &&
                strncasecmp(line + first, names[k], i - first) == 0) {
                name = false;
                number = true;
            }
        if (name || !number)
            return n;
    }
}

/* The next bytes of a binary file; where it ends before, *out stays and the file is cut. */
static void read_bytes(msh_file *file, void *out, size_t size) {
    if (file->size - file->at < size) {
        file->cut = true;
        file->at = file->size;
        return;
    }
    memcpy(out, file->text + file->at, size);
    file->at += size;
}

int64_t msh_int(msh_file *file) {
    uint32_t value = 0;
    read_bytes(file, &value, sizeof value);
    return (int32_t)(file->swapped ? __builtin_bswap32(value) : value);
}

int64_t msh_size(msh_file *file) {
    uint64_t value = 0;
    read_bytes(file, &value, sizeof value);
    return (int64_t)(file->swapped ? __builtin_bswap64(value) : value);
}

void msh_skip(msh_file *file, int64_t n, size_t bytes) {
    size_t left = file->size - file->at;
    if (n < 0 || (bytes > 0 && (uint64_t)n > left / bytes)) {
        file->cut = true;
        file->at = file->size;
        return;
    }
    file->at += (size_t)n * bytes;
}

weft_status msh_error(msh_file *file, const char *line, size_t length, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    weft_error_set_list(file->error, WEFT_ERROR_INPUT, format, arguments);
    va_end(arguments);
    weft_error_location(file->error, file->path, NULL, file->binary ? 0 : (int)file->line, 0);
    if (line && !file->binary) {
        char *out = file->error->source_line;
        size_t most = sizeof file->error->source_line - 1;
        if (length > most)
            length = most;
        memcpy(out, line, length);
        out[length] = '\0';
    }
    weft_error_hint(file->error, "the file is damaged: write it again");
    return WEFT_ERROR_INPUT;
}

weft_status msh_cut(msh_file *file, const char *section) {
    if (section[0])
        msh_error(file, NULL, 0, "the file ends inside $%s", section);
    else
        msh_error(file, NULL, 0, "the file ends before its first section");
    weft_error_hint(file->error, "it was cut short: write or copy it again");
    return WEFT_ERROR_INPUT;
}

/* Gmsh's types 1 to 31, and the two hexahedra of higher order behind them. */
static const unsigned char nodes_of_type[32] = {0,  2,  3,  4,  4, 8, 6,  5,  3,  6, 9,
                                                10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10,
                                                12, 15, 15, 21, 4, 5, 6,  20, 35, 56};

int msh_type_nodes(int64_t type) {
    if (type >= 1 && type <= 31)
        return nodes_of_type[type];
    return type == 92 ? 64 : type == 93 ? 125 : 0;
}

int msh_type_dimension(int64_t type) {
    static const signed char of_type[32] = {0, 1, 2, 2, 3, 3, 3, 3, 1, 2, 2, 3, 3, 3, 3, 0,
                                            2, 3, 3, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 3, 3, 3};
    return type < 32 ? of_type[type] : 3;
}

const char *msh_type_name(int64_t type) {
    static const char *const names[32] = {NULL,
                                          "lines",
                                          "triangles",
                                          "quadrangles",
                                          "tetrahedra",
                                          "hexahedra",
                                          "prisms",
                                          "pyramids",
                                          "lines of 3 nodes",
                                          "triangles of 6 nodes",
                                          "quadrangles of 9 nodes",
                                          "tetrahedra of 10 nodes",
                                          "hexahedra of 27 nodes",
                                          "prisms of 18 nodes",
                                          "pyramids of 14 nodes",
                                          "points",
                                          "quadrangles of 8 nodes",
                                          "hexahedra of 20 nodes",
                                          "prisms of 15 nodes",
                                          "pyramids of 13 nodes"};
    if (type >= 1 && type <= 19)
        return names[type];
    if (type >= 20 && type <= 25)
        return "triangles of higher order";
    if (type >= 29 && type <= 31)
        return "tetrahedra of higher order";
    return "cells of another shape";
}
