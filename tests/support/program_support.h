/** What the tests of programs share: compile a text, bind plain arrays, run, read results back. */
#ifndef PROGRAM_SUPPORT_H
#define PROGRAM_SUPPORT_H

#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/library/library.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_MEMORIES = 256 };

typedef struct program_case {
    weft_library *library; /* borrowed or own */
    bool own_library;
    weft_device *device;
    weft_compilation *compilation;
    weft_program *program;
    int64_t sizes[16]; /* of index sets */
    void *arrays[CASE_MEMORIES];
    weft_memory *memories[CASE_MEMORIES];
    int n_memories;
    weft_connectivity *connectivities[8];
    int n_connectivities;
} program_case;

static inline void case_check(weft_status status, const weft_error *error) {
    if (status == WEFT_OK)
        return;
    char text[4096];
    weft_error_text(error, text, sizeof text);
    fail_msg("%s", text);
}

/** The device that stands for the host's (WEFT_TEST_DEVICE), or NULL. */
static inline const char *case_forced_device(void) {
    return getenv("WEFT_TEST_DEVICE");
}

/** There accumulating stores add in the order in which threads happen to come, and sums differ in
 * their last bits. */
static inline bool case_on_gpu(void) {
    const char *forced = case_forced_device();
    return forced && strncmp(forced, "cuda", 4) == 0;
}

/** Compile a text (the library NULL: the shipped one) for an open device, which case_close closes,
 *  and make its program. */
static inline program_case case_open_on(weft_library *library, weft_device *device,
                                        const char *text, const weft_compile_options *options) {
    program_case c = {.library = library, .device = device};
    weft_error error = {0};
    const weft_fragment fragment = {"test.weft", text};
    if (library == NULL) {
        case_check(weft_library_make(&c.library, &error), &error);
        c.own_library = true;
    }
    case_check(weft_compile(c.library, weft_device_limits(c.device), &fragment, 1, options,
                            &c.compilation, &error),
               &error);
    case_check(weft_program_make(c.device, c.compilation, &c.program, &error), &error);
    return c;
}

/** The same, on a device that is opened by name. */
static inline program_case case_open(weft_library *library, const char *device, const char *text,
                                     const weft_compile_options *options) {
    weft_error error = {0};
    weft_device *opened = NULL;
    const weft_device_options device_options = weft_device_options_default(NULL);
    const char *forced = case_forced_device();
    if (forced && strncmp(device, "host", 4) == 0)
        device = forced;
    case_check(weft_device_open(device, &device_options, &opened, &error), &error);
    return case_open_on(library, opened, text, options);
}

static inline void case_close(program_case *c) {
    weft_program_free(&c->program);
    for (int i = 0; i < c->n_memories; ++i) {
        weft_memory_free(&c->memories[i]);
        free(c->arrays[i]);
    }
    for (int i = 0; i < c->n_connectivities; ++i)
        weft_connectivity_free(&c->connectivities[i]);
    weft_compilation_free(&c->compilation);
    weft_device_free(&c->device);
    if (c->own_library)
        weft_library_free(&c->library);
}

/** What the script is: it has no loops. */
static inline const weft_segment *case_segment(const program_case *c) {
    return weft_compilation_only(c->compilation);
}

static inline int case_set(const program_case *c, const char *name) {
    const weft_graph *graph = case_segment(c)->graph;
    for (int i = 0; i < graph->n_index_sets; ++i)
        if (strcmp(graph->index_sets[i].name, name) == 0)
            return i;
    fail_msg("no index set %s", name);
    return -1;
}

/** An input or a result by name. */
static inline const weft_value *case_value(const program_case *c, const char *name) {
    const weft_graph *graph = case_segment(c)->graph;
    for (int i = 0; i < graph->n_values; ++i)
        if ((graph->values[i].is_input || graph->values[i].returned) &&
            strcmp(graph->values[i].name, name) == 0)
            return &graph->values[i];
    fail_msg("no list %s", name);
    return NULL;
}

static inline void case_size(program_case *c, const char *index_set, int64_t n) {
    weft_error error = {0};
    const weft_graph *graph = case_segment(c)->graph;
    case_check(weft_program_size(c->program, index_set, n, &error), &error);
    c->sizes[case_set(c, index_set)] = n;
    for (int i = 0; i < graph->n_index_sets; ++i) {
        const weft_index_set *set = &graph->index_sets[i];
        if (set->first >= 0)
            c->sizes[i] = weft_pairs_count(set->pairs, c->sizes[set->first], c->sizes[set->second]);
    }
}

/** indices [n_from][width], alive until case_close. */
static inline void case_map(program_case *c, const char *name, const int32_t *indices,
                            int64_t n_from, int width, int64_t n_to) {
    weft_error error = {0};
    const weft_graph *graph = case_segment(c)->graph;
    weft_connectivity **connectivity = &c->connectivities[c->n_connectivities++];
    case_check(
        weft_connectivity_make(c->device, indices, n_from, width, n_to, connectivity, &error),
        &error);
    case_check(weft_program_bind_connectivity(c->program, name, *connectivity, &error), &error);
    for (int i = 0; i < graph->n_connectivities; ++i)
        if (strcmp(graph->connectivities[i].name, name) == 0) {
            c->sizes[graph->connectivities[i].from] = n_from;
            c->sizes[graph->connectivities[i].to] = n_to;
        }
}

static inline weft_memory *case_memory(program_case *c, size_t bytes) {
    weft_error error = {0};
    assert_true(c->n_memories < CASE_MEMORIES);
    void *array = weft_array_make(bytes > 0 ? bytes : 1, 1);
    assert_non_null(array);
    c->arrays[c->n_memories] = array;
    case_check(weft_memory_wrap(c->device, array, bytes, &c->memories[c->n_memories], &error),
               &error);
    return c->memories[c->n_memories++];
}

/* Where component k of element i stands in a list's memory. */
static inline size_t case_position(const program_case *c, const weft_value *field, int64_t i,
                                   int k) {
    const int n = weft_shape_count(&field->shape), lanes = case_segment(c)->plan->lanes;
    if (field->index_set < 0)
        return (size_t)k;
    if (case_segment(c)->graph->index_sets[field->index_set].plain)
        return (size_t)(i * n + k);
    return (size_t)((i / lanes * n + k) * lanes + i % lanes);
}

static inline int64_t case_elements(const program_case *c, const weft_value *field) {
    return field->index_set < 0 ? 1 : c->sizes[field->index_set];
}

static inline size_t case_bytes(const program_case *c, const weft_value *field) {
    const int64_t n = case_elements(c, field), lanes = case_segment(c)->plan->lanes;
    const bool interleaved =
        field->index_set >= 0 && !case_segment(c)->graph->index_sets[field->index_set].plain;
    const int64_t padded = interleaved ? (n + lanes - 1) / lanes * lanes : n;
    return (size_t)(padded * weft_shape_count(&field->shape)) *
           (c->compilation->options.single ? sizeof(float) : sizeof(double));
}

/** Bind an input, values [instance][component]; spare lanes repeat the last element. */
static inline void case_input(program_case *c, const char *name, const double *values) {
    weft_error error = {0};
    const weft_value *field = case_value(c, name);
    const int count = weft_shape_count(&field->shape);
    const int64_t n = case_elements(c, field);
    const size_t real_bytes = c->compilation->options.single ? sizeof(float) : sizeof(double);
    const size_t bytes = case_bytes(c, field);
    weft_memory *memory = case_memory(c, bytes);
    char *array = c->arrays[c->n_memories - 1];
    const int64_t padded = (int64_t)(bytes / real_bytes) / count;
    for (int64_t i = 0; i < padded; ++i)
        for (int k = 0; k < count; ++k) {
            const double value = values[(i < n ? i : n - 1) * count + k];
            char *at = array + case_position(c, field, i, k) * real_bytes;
            if (c->compilation->options.single)
                *(float *)(void *)at = (float)value;
            else
                *(double *)(void *)at = value;
        }
    case_check(weft_memory_write(memory, 0, array, bytes, &error), &error); /* a copy on a GPU */
    case_check(weft_program_bind(c->program, name, memory, &error), &error);
}

static inline void case_run(program_case *c) {
    weft_error error = {0};
    case_check(weft_program_run(c->program, &error), &error);
}

/** A result as [instance][component], malloc'd. */
static inline double *case_result(const program_case *c, const char *name) {
    weft_error error = {0};
    const weft_value *field = case_value(c, name);
    const int count = weft_shape_count(&field->shape);
    const int64_t n = case_elements(c, field);
    const size_t bytes = case_bytes(c, field);
    weft_memory *memory = weft_program_result(c->program, name);
    assert_non_null(memory);
    double *out = calloc((size_t)(n * count) + 1, sizeof *out);
    char *raw = malloc(bytes + 1);
    assert_non_null(out);
    assert_non_null(raw);
    if (bytes > 0)
        case_check(weft_memory_read(memory, 0, raw, bytes, &error), &error);
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < count; ++k) {
            const size_t at = case_position(c, field, i, k);
            out[i * count + k] = c->compilation->options.single
                                     ? (double)((const float *)(const void *)raw)[at]
                                     : ((const double *)(const void *)raw)[at];
        }
    free(raw);
    return out;
}

/** The same numbers on every machine: splitmix64. */
static inline uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static inline int random_below(uint64_t *state, int n) {
    return (int)(random_next(state) % (uint64_t)n);
}
/** In (-1, 1), never 0. */
static inline double random_real(uint64_t *state) {
    return ((double)(random_next(state) >> 12) + 0.5) / 2251799813685248.0 - 1.0;
}
/** n numbers in (-1, 1), malloc'd. */
static inline double *random_list(uint64_t *state, int64_t n) {
    double *list = malloc(sizeof *list * (size_t)(n + 1));
    assert_non_null(list);
    for (int64_t i = 0; i < n; ++i)
        list[i] = random_real(state);
    return list;
}
/** A map from n_from to width different members of n_to, malloc'd. */
static inline int32_t *random_map(uint64_t *state, int64_t n_from, int width, int64_t n_to) {
    int32_t *connectivity = malloc(sizeof *connectivity * (size_t)(n_from * width + 1));
    assert_non_null(connectivity);
    for (int64_t i = 0; i < n_from; ++i)
        for (int a = 0; a < width; ++a)
            for (bool fresh = false; !fresh;) {
                /* near the cell's own place, as in a mesh with a sensible order */
                int64_t target = i * n_to / n_from + random_below(state, 3 * width) - width;
                target = (target % n_to + n_to) % n_to;
                connectivity[i * width + a] = (int32_t)target;
                fresh = true;
                for (int b = 0; b < a; ++b)
                    fresh = fresh && connectivity[i * width + b] != target;
            }
    return connectivity;
}

/** Cells that share nodes with their neighbours, as in a mesh with a sensible order. */
typedef struct mesh {
    int64_t n_cells, n_nodes;
    int width;
    int32_t *dofs;
} mesh;

static inline mesh mesh_make(int64_t n_cells, int width) {
    uint64_t state = 5;
    mesh m = {.n_cells = n_cells, .n_nodes = n_cells / 2 + 4 * width, .width = width};
    m.dofs = random_map(&state, n_cells, width, m.n_nodes);
    return m;
}

/** The same bytes? Says where not. */
static inline void assert_same_bits(const double *a, const double *b, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0)
            fail_msg("[%lld]: %.17g is not %.17g", (long long)i, a[i], b[i]);
}

#endif
