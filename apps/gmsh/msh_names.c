/* The section $PhysicalNames, text in every file: a count, then lines of dimension, number and a
 * name in quotes. */
#include "apps/gmsh/weft_gmsh.h"
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes [from, to) of a file, to where another stands; 0 or errno. */
static int copy_bytes(int file, size_t from, size_t to, int out) {
    off_t at = (off_t)from;
    while ((size_t)at < to) {
        ssize_t n = sendfile(out, file, &at, to - (size_t)at);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0)
            return EIO;
    }
    return 0;
}

int msh_copy(const char *path, const msh_names *names, const char *lines, int out) {
    int64_t size = 0;
    int file = -1;
    int number = weft_file_open(path, O_RDONLY, &file, &size, NULL) == WEFT_OK ? 0 : EIO;
    if (number == 0)
        number = copy_bytes(file, 0, names->start, out);
    if (number == 0 && weft_write_all(out, lines, strlen(lines)) != WEFT_OK)
        number = errno;
    if (number == 0)
        number = copy_bytes(file, names->end, (size_t)size, out);
    if (file >= 0)
        close(file);
    return number;
}

void msh_names_clear(msh_names *names) {
    for (int i = 0; i < names->n; ++i)
        free(names->list[i].name);
    free(names->list);
    *names = (msh_names){0};
}

const char *msh_names_find(const msh_names *names, int dimension, int tag) {
    for (int i = names->n - 1; i >= 0; --i) {
        const msh_name *name = &names->list[i];
        if (name->tag == tag && (name->dimension == dimension || name->dimension < 0))
            return name->name[0] ? name->name : NULL;
    }
    return NULL;
}

/* The name is what stands between the first quote and the last one. In MSH 2.0 the dimension may be missing. */
static weft_status read_name(msh_file *file, const char *line, size_t length) {
    int64_t numbers[2] = {-1, 0};
    const char *first = memchr(line, '"', length), *last = memrchr(line, '"', length);
    size_t before = first ? (size_t)(first - line) : 0;
    int n = file->version > 2 ? 2 : 1, came = msh_integers(line, before, numbers, 2);
    if (came == 1) { /* without a dimension */
        numbers[1] = numbers[0];
        numbers[0] = -1;
    }
    if (!first || first == last || came < n || numbers[0] < (came == 2 ? 0 : -1) ||
        numbers[0] > 3 || numbers[1] < INT32_MIN || numbers[1] > INT32_MAX)
        return msh_error(file, line, length,
                         "a dimension, a number and a name in quotes were expected");
    if (last - first - 1 > MSH_NAME_MOST)
        return msh_error(file, line, length, "a name has %ld bytes, and Weft takes names of %d",
                         (long)(last - first - 1), MSH_NAME_MOST);
    char *name = strndup(first + 1, (size_t)(last - first - 1));
    if (!name)
        return weft_out_of_memory(file->error, NULL);
    file->names.list[file->names.n++] = (msh_name){(int)numbers[0], (int)numbers[1], name};
    if (length > file->names.longest)
        file->names.longest = length;
    return WEFT_OK;
}

weft_status msh_read_names(msh_file *file) {
    weft_status status = WEFT_OK;
    int64_t n = 0;
    size_t start = file->at;
    TRY(msh_numbers_line(file, "PhysicalNames", &n, 1));
    if (n > (int64_t)(file->size - file->at))
        TRY(msh_error(file, NULL, 0, "$PhysicalNames announces %lld names", (long long)n));
    msh_names_clear(&file->names);
    file->names.start = start;
    file->names.list = calloc((size_t)n + 1, sizeof *file->names.list);
    if (!file->names.list)
        TRY(weft_out_of_memory(file->error, NULL));
    for (int64_t i = 0; i < n; ++i) {
        const char *line;
        size_t length;
        TRY(msh_content_line(file, "PhysicalNames", &line, &length));
        TRY(read_name(file, line, length));
    }
    file->names.end = file->at;
done:
    return status;
}
