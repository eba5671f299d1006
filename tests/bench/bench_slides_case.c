/* Compiles, binds and times the scripts of the slides. */
#include "bench_slides.h"

#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEFT = 77,         /* numbers that fill no tile */
    NUMBERS = 1 << 27, /* on the host a quarter of them */
    REPEATS = 9,
    RUNS = 5,
    LISTS = 8
};

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The number of elements of an index set: tiles of as many numbers as x has, the rest, or numbers. */
static int64_t size_of(const slides_bench *b, const weft_graph *graph, int set) {
    const char *name = graph->index_sets[set].name;
    if (strcmp(name, "left") == 0)
        return LEFT;
    if (strcmp(name, "result") == 0)
        set = graph->connectivities[0].to;
    for (int i = 0; i < graph->n_values; ++i)
        if (graph->values[i].index_set == set && graph->values[i].is_input)
            return (int64_t)b->numbers / weft_shape_count(&graph->values[i].shape);
    return 0;
}

/* Bind lists of zeros to all inputs and results. */
static weft_status bind_lists(const slides_bench *b, const weft_graph *graph, weft_program *program,
                              weft_memory **lists, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < graph->n_index_sets; ++i)
        TRY(weft_program_size(program, graph->index_sets[i].name, size_of(b, graph, i), error));
    for (int i = 0, used = 0; i < graph->n_values && used < LISTS; ++i) {
        const weft_value *value = &graph->values[i];
        if (!value->is_input && !value->returned)
            continue;
        const int64_t n = value->index_set >= 0 ? size_of(b, graph, value->index_set) : 1;
        const int64_t lanes = value->index_set >= 0 && !graph->index_sets[value->index_set].plain
                                  ? weft_program_lanes(program)
                                  : 1;
        const size_t all =
            (size_t)((n + lanes - 1) / lanes * lanes) * (size_t)weft_shape_count(&value->shape);
        TRY(weft_memory_make(b->device, all * sizeof(float), &lists[used], error));
        TRY(weft_memory_zero(lists[used], error));
        TRY(weft_program_bind(program, value->name, lists[used++], error));
    }
done:
    return status;
}

/* Bind `swap` of a transposition: a square matrix of entries, or of tiles.
 * indices  the caller's, freed after *out */
static weft_status bind_swap(const slides_bench *b, const weft_graph *graph, weft_program *program,
                             int32_t **indices, weft_connectivity **out, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t side = 1;
    const int64_t n = size_of(b, graph, graph->connectivities[0].to);
    while (side * side < n)
        side *= 2;
    int32_t *swap = *indices = malloc((size_t)n * sizeof *swap);
    if (swap == NULL)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for a transposition");
    for (int64_t i = 0; i < n; ++i)
        swap[i] = (int32_t)(i % side * side + i / side);
    TRY(weft_connectivity_make(b->device, swap, n, 1, n, out, error));
    TRY(weft_program_bind_connectivity(program, "swap", *out, error));
done:
    return status;
}

/* Median seconds of a run. */
static weft_status time_runs(const slides_bench *b, weft_program *program, double *seconds,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    double taken[REPEATS];
    for (int i = -1; i < b->repeats; ++i) {
        double all = 0;
        TRY(weft_timer_start(b->timer, error));
        for (int k = 0; k < RUNS; ++k)
            TRY(weft_program_run(program, error));
        TRY(weft_timer_stop(b->timer, error));
        TRY(weft_timer_seconds(b->timer, &all, error));
        if (i >= 0)
            taken[i] = all / RUNS;
    }
    qsort(taken, (size_t)b->repeats, sizeof *taken, compare);
    *seconds = taken[b->repeats / 2];
done:
    return status;
}

/* Predictions are per element of each kernel's index set. */
static double predicted_seconds(const slides_bench *b, const weft_segment *segment) {
    double sum = 0;
    for (int i = 0; i < segment->cover->n; ++i) {
        const weft_implementation *one = segment->cover->list[i];
        sum += one->seconds * (double)size_of(b, segment->graph, one->fusion->index_set);
    }
    return sum;
}

weft_status slides_time(const slides_bench *b, slides_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    weft_connectivity *swap = NULL;
    int32_t *indices = NULL;
    weft_memory *lists[LISTS] = {NULL};
    const weft_fragment fragment = {"bench_slides", c->text};
    const bool tiles = strstr(c->text, "tiles") != NULL;
    const weft_parameter asked[2][3] = {
        {{"size", c->threads}, {"factor", c->serial}, {"step", c->stride}},
        {{"block_tiles", c->tiles > 0 ? c->tiles : c->threads > 0},
         {"width", c->threads},
         {"serial", c->serial}}};
    const weft_compile_options options = {.size = sizeof options,
                                          .parameters = asked[tiles],
                                          .n_parameters = strstr(c->text, "parameter") ? 3 : 0,
                                          .single = true,
                                          .elements =
                                              (int64_t)b->numbers / (tiles ? SLIDES_TILE : 1)};
    TRY(weft_compile(b->library, weft_device_limits(b->device), &fragment, 1, &options,
                     &compilation, error));
    const weft_segment *segment = weft_compilation_only(compilation);
    c->seconds = c->predicted = predicted_seconds(b, segment);
    if (b->predicts)
        goto done;
    TRY(weft_program_make(b->device, compilation, &program, error));
    TRY(bind_lists(b, segment->graph, program, lists, error));
    if (c->transposes)
        TRY(bind_swap(b, segment->graph, program, &indices, &swap, error));
    TRY(time_runs(b, program, &c->seconds, error));
done:
    weft_connectivity_free(&swap);
    free(indices);
    weft_program_free(&program);
    weft_compilation_free(&compilation);
    for (int i = 0; i < LISTS; ++i)
        weft_memory_free(&lists[i]);
    return status;
}

weft_status slides_read(const char *name, int step, char *text, weft_error *error) {
    char path[1024];
    snprintf(path, sizeof path, "%s/docs/examples/slides/%s_%d.weft", WEFT_SOURCE_DIR, name, step);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return weft_error_set(error, WEFT_ERROR_IO, "cannot read %s", path);
    text[fread(text, 1, SLIDES_TEXT - 1, file)] = '\0';
    fclose(file);
    return WEFT_OK;
}

weft_status slides_open(weft_device *device, slides_bench *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_limits *limits = weft_device_limits(device);
    *out = (slides_bench){.device = device,
                          .gpu = limits->execution == WEFT_EXECUTION_SIMT,
                          .predicts = limits->kind == WEFT_DEVICE_NULL,
                          .repeats = REPEATS};
    out->numbers = out->gpu ? NUMBERS : NUMBERS / 4;
    TRY(weft_library_make(&out->library, error));
    TRY(weft_library_add_directory(out->library, WEFT_SOURCE_DIR "/docs/examples/slides", error));
    TRY(weft_timer_make(device, &out->timer, error));
done:
    return status;
}

void slides_close(slides_bench *bench) {
    weft_timer_free(&bench->timer);
    weft_library_free(&bench->library);
}
