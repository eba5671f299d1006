/* Keeps the functions of the library, sorted by name: reading files, adding, searching. */
#include "fusion/library/library.h"
#include "core/base/file.h"
#include "fusion/base/array.h"
#include "fusion/embedded_kernels.h"
#include "fusion/library/private.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DIRECTORY_DEPTH = 16 };

/* Operators may be in files that are read after those of their reductions. */
static weft_status complete(weft_library *library, weft_error *error) {
    library->is_complete = true;
    return weft_combines_check(library, library->functions, library->n, error);
}

weft_status weft_library_make(weft_library **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_library *library = calloc(1, sizeof *library);
    if (!library)
        TRY(weft_out_of_memory(error, "the library of functions"));
    TRY(weft_arena_make(&library->arena, error));
    library->is_complete = false;
    for (size_t i = 0; i < weft_embedded_kernels_count; ++i)
        TRY(weft_library_add_text(library, weft_embedded_kernels[i].name,
                                  weft_embedded_kernels[i].text, error));
    TRY(complete(library, error));
    *out = library;
    library = NULL;
done:
    weft_library_free(&library);
    return status;
}

void weft_library_free(weft_library **library) {
    if (!library || !*library)
        return;
    weft_arena_free(&(*library)->arena);
    free(*library);
    *library = NULL;
}

/* The first function whose name is not less than `name`; a map precedes a reduction of its name. */
static size_t lower_bound(const weft_library *library, const char *name, bool is_reduction) {
    size_t first = 0, last = library->n;
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        int order = strcmp(library->names[middle], name);
        if (order < 0 || (order == 0 && is_reduction && !library->functions[middle]->is_reduction))
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

static weft_status reserve(weft_library *library, size_t more, weft_error *error) {
    if (library->n + more <= library->capacity)
        return WEFT_OK;
    size_t capacity = (library->n + more) * 2;
    const weft_function **functions = weft_arena_alloc(library->arena, capacity, sizeof *functions);
    const char **names = weft_arena_alloc(library->arena, capacity, sizeof *names);
    if (!functions || !names)
        return weft_out_of_memory(error, "the library of functions");
    if (library->n) {
        memcpy(functions, library->functions, library->n * sizeof *functions);
        memcpy(names, library->names, library->n * sizeof *names);
    }
    library->functions = functions;
    library->names = names;
    library->capacity = capacity;
    return WEFT_OK;
}

/* Insert a function, or replace one of the same name and kind. The caller has reserved space. */
static void insert(weft_library *library, const weft_function *function) {
    size_t i = lower_bound(library, function->info.name, function->is_reduction);
    if (i == library->n || strcmp(library->names[i], function->info.name) != 0 ||
        library->functions[i]->is_reduction != function->is_reduction) {
        memmove(library->functions + i + 1, library->functions + i,
                (library->n - i) * sizeof *library->functions);
        memmove(library->names + i + 1, library->names + i,
                (library->n - i) * sizeof *library->names);
        ++library->n;
    }
    library->functions[i] = function;
    library->names[i] = function->info.name;
}

weft_status weft_library_add_text(weft_library *library, const char *name, const char *text,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    weft_function_list list = {0};
    const weft_common *commons = library->commons;
    weft_source *source = weft_arena_alloc(library->arena, 1, sizeof *source);
    if (!source)
        TRY(weft_out_of_memory(error, "the library of functions"));
    source->name = weft_arena_copy(library->arena, name, strlen(name));
    source->text = weft_arena_copy(library->arena, text, strlen(text));
    if (!source->name || !source->text)
        TRY(weft_out_of_memory(error, "the library of functions"));
    TRY(weft_kernel_file_read(library->arena, source, &commons, &list, error));
    if (library->is_complete)
        TRY(weft_combines_check(library, (const weft_function *const *)list.list, list.n, error));
    TRY(reserve(library, list.n, error));
    for (size_t i = 0; i < list.n; ++i)
        insert(library, list.list[i]);
    library->commons = commons;
done:
    return status;
}

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

static int choose(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static weft_status add_file(weft_library *library, const char *path, weft_error *error) {
    weft_status status = WEFT_OK;
    char *text = NULL;
    size_t length = 0;
    TRY(weft_file_read_as(path, WEFT_FILE_KERNELS, &text, &length, error));
    if (strlen(text) != length) {
        status =
            weft_error_set(error, WEFT_ERROR_SYNTAX, "this is not text: it contains a zero byte");
        weft_error_location(error, path, NULL, 0, 0);
        goto done;
    }
    TRY(weft_library_add_text(library, path, text, error));
done:
    free(text);
    return status;
}

static weft_status add_below(weft_library *library, const char *directory, int depth,
                             size_t *n_files, weft_error *error) {
    weft_status status = WEFT_OK;
    struct dirent **entries = NULL;
    char *path = NULL;
    int n = scandir(directory, &entries, choose, by_name);
    if (n < 0) {
        if (errno == ENOMEM)
            TRY(weft_out_of_memory(error, "the library of functions"));
        status = weft_error_set(error, WEFT_ERROR_IO, "cannot read the directory '%s': %s",
                                directory, strerror(errno));
        weft_error_hint(error, "--kernels takes a directory of *.kernel.c files");
        goto done;
    }
    for (int i = 0; i < n; ++i) {
        struct stat about;
        free(path);
        if (asprintf(&path, "%s/%s", directory, entries[i]->d_name) < 0) {
            path = NULL;
            TRY(weft_out_of_memory(error, "the library of functions"));
        }
        if (stat(path, &about) != 0)
            continue;
        if (S_ISDIR(about.st_mode) && depth < DIRECTORY_DEPTH) {
            TRY(add_below(library, path, depth + 1, n_files, error));
        } else if (S_ISREG(about.st_mode) && ends_with(path, ".kernel.c")) {
            TRY(add_file(library, path, error));
            ++*n_files;
        }
    }
done:
    for (int i = 0; i < n; ++i)
        free(entries[i]);
    free(entries);
    free(path);
    return status;
}

weft_status weft_library_add_directory(weft_library *library, const char *directory,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    size_t n_files = 0;
    library->is_complete = false;
    TRY(add_below(library, directory, 0, &n_files, error));
    TRY(complete(library, error));
    if (n_files == 0) {
        status =
            weft_error_set(error, WEFT_ERROR_IO, "no *.kernel.c file in '%s' or below", directory);
        weft_error_hint(error,
                        "a kernel file's name ends in .kernel.c; docs/kernel-files.md shows one");
    }
done:
    library->is_complete = true;
    return status;
}

weft_status weft_library_add_table(weft_library *library, const char *name, int n_arguments,
                                   weft_table_maker maker, void *user, weft_error *error) {
    weft_library_table table = {weft_arena_copy(library->arena, name, strlen(name)), n_arguments,
                                maker, user};
    if (!table.name)
        return weft_out_of_memory(error, "the library of functions");
    const int known = WEFT_FIND_NAME(library->tables, library->n_tables, name);
    if (known >= 0) {
        library->tables[known] = table;
        return WEFT_OK;
    }
    return WEFT_APPEND(library->arena, library->tables, library->n_tables, table, error);
}

bool weft_library_claim(weft_library *library, const void *forms) {
    if (!library->forms)
        library->forms = forms;
    return library->forms == forms;
}

size_t weft_library_size(const weft_library *library) {
    return library->n;
}

void weft_library_info(const weft_library *library, size_t i, weft_function_info *out) {
    *out = library->functions[i]->info;
}

static const weft_function *find(const weft_library *library, const char *name, bool is_reduction) {
    size_t i = lower_bound(library, name, is_reduction);
    bool found = i < library->n && strcmp(library->names[i], name) == 0 &&
                 library->functions[i]->is_reduction == is_reduction;
    return found ? library->functions[i] : NULL;
}

const weft_function *weft_library_find(const weft_library *library, const char *name) {
    return find(library, name, false);
}

const weft_function *weft_library_find_reduction(const weft_library *library, const char *name) {
    return find(library, name, true);
}

const weft_reduction *weft_function_reduction(const weft_function *function) {
    return function->is_reduction ? &function->reduction : NULL;
}

const char *const *weft_library_names(const weft_library *library, size_t *n) {
    *n = library->n;
    return library->names;
}
