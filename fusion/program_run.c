/* Running a program: memory for what is not bound, then every launch of the plan. */
#include "program_internal.h"
#include "source_internal.h"
#include "star_internal.h"

#include <stdlib.h>

static int64_t list_values(const weft_program *p, int index_set, int components) {
    const weft_graph *graph = p->compilation->graph;
    const int64_t lanes = p->compilation->plan->lanes;
    if (index_set < 0)
        return components;
    const int64_t n = p->sizes[index_set];
    return graph->index_sets[index_set].plain ? n * components
                                              : (n + lanes - 1) / lanes * lanes * components;
}

static weft_status list_bytes(const weft_program *p, int index_set, int components,
                              const char *name, size_t *bytes, weft_error *error) {
    const size_t real_bytes = p->compilation->options.single ? sizeof(float) : sizeof(double);
    if (index_set >= 0 && p->sizes[index_set] < 0)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "the size of index set '%s' is not known (needed for '%s')",
                              p->compilation->graph->index_sets[index_set].name, name);
    *bytes = (size_t)list_values(p, index_set, components) * real_bytes;
    return WEFT_OK;
}

static weft_status prepare_matrix(const weft_program *p, const weft_datum *matrix,
                                  weft_error *error) {
    const weft_map *map = &p->compilation->graph->maps[matrix->map];
    const int64_t lanes = p->compilation->plan->lanes, n = p->sizes[map->from];
    const weft_memory *positions = p->positions[matrix->id];
    if (weft_program_makes_rows(p, matrix->id) && p->data[matrix->id] != NULL)
        return WEFT_OK;
    if (p->data[matrix->id] == NULL || positions == NULL)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "matrix '%s' has no values and positions bound", matrix->name);
    const size_t needed = n <= 0 ? 0
                                 : (size_t)((n + lanes - 1) / lanes * lanes) *
                                       (size_t)(map->width * map->width) * sizeof(uint32_t);
    if (weft_memory_bytes(positions) < needed)
        return weft_error_set(error, WEFT_ERROR_SHAPE,
                              "the positions of '%s' have %zu bytes, but need %zu", matrix->name,
                              weft_memory_bytes(positions), needed);
    return WEFT_OK;
}

static weft_status prepare_datum(weft_program *p, const weft_datum *datum, weft_error *error) {
    weft_status status = WEFT_OK;
    size_t needed = 0;
    const int i = datum->id;
    if (datum->kind == DATUM_MATRIX)
        return prepare_matrix(p, datum, error);
    TRY(list_bytes(p, datum->index_set, weft_shape_count(&datum->shape), datum->name, &needed,
                   error));
    if (datum->is_input && p->data[i] == NULL)
        return weft_error_set(error, WEFT_ERROR_USAGE, "input '%s' is not bound", datum->name);
    if (p->data[i] == NULL || (p->own[i] && weft_memory_bytes(p->data[i]) < needed)) {
        weft_memory_free(&p->data[i]);
        p->own[i] = true;
        TRY(weft_memory_make(p->device, needed, &p->data[i], error));
    }
    if (weft_memory_bytes(p->data[i]) < needed)
        status = weft_error_set(error, WEFT_ERROR_SHAPE, "'%s' has %zu bytes bound, but needs %zu",
                                datum->name, weft_memory_bytes(p->data[i]), needed);
done:
    return status;
}

static bool is_used(const weft_plan *plan, int datum) {
    for (int k = 0; k < plan->n_kernels; ++k)
        for (int i = 0; i < plan->kernels[k].n_arguments; ++i)
            if (plan->kernels[k].arguments[i].kind == ARGUMENT_DATUM &&
                plan->kernels[k].arguments[i].index == datum)
                return true;
    return false;
}

/* Connectivities and sizes given one by one must fit together in the end. */
static weft_status check_size(const weft_program *p, const weft_map *map, bool from, int64_t n,
                              weft_error *error) {
    const int set = from ? map->from : map->to;
    if (p->sizes[set] == n)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_SHAPE,
                          "connectivity '%s' leads %s %lld %s, but there are %lld", map->name,
                          from ? "from" : "to", (long long)n,
                          p->compilation->graph->index_sets[set].name, (long long)p->sizes[set]);
}

static weft_status check_connectivities(const weft_program *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->compilation->graph;
    for (int i = 0; i < graph->n_maps; ++i) {
        if (p->maps[i] == NULL)
            continue;
        TRY(check_size(p, &graph->maps[i], true, weft_connectivity_from(p->maps[i]), error));
        TRY(check_size(p, &graph->maps[i], false, weft_connectivity_to(p->maps[i]), error));
    }
done:
    return status;
}

static int64_t count_blocks(const weft_program *p, int index_set) {
    const int64_t lanes = p->compilation->plan->lanes;
    return (p->sizes[index_set] + lanes - 1) / lanes;
}

static int64_t count_chunks(const weft_program *p, int index_set) {
    const int64_t blocks = p->compilation->plan->reduction_blocks;
    return (count_blocks(p, index_set) + blocks - 1) / blocks;
}

/* Ranges of whole chunks: all at once, or, where there are accumulating stores too, one by one. */
static weft_status chunks_make(weft_program *p, const weft_plan_kernel *kernel, weft_schedule **out,
                               weft_error *error) {
    const int64_t n_blocks = count_blocks(p, kernel->index_set);
    const int64_t n_chunks = count_chunks(p, kernel->index_set);
    const int64_t n_colours = kernel->n_scatters > 0 ? n_chunks : n_chunks > 0;
    weft_schedule *made = calloc(1, sizeof *made);
    if (made == NULL)
        return weft_no_memory(error);
    made->n_colours = (int)n_colours;
    made->colour_start = calloc((size_t)n_colours + 1, sizeof *made->colour_start);
    made->ranges = calloc((size_t)n_chunks + 1, sizeof *made->ranges);
    if (made->colour_start == NULL || made->ranges == NULL) {
        weft_schedule_free(&made);
        return weft_no_memory(error);
    }
    for (int64_t i = 1; i <= n_colours; ++i)
        made->colour_start[i] = kernel->n_scatters > 0 ? i : n_chunks;
    for (int64_t i = 0; i < n_chunks; ++i) {
        const int64_t blocks = p->compilation->plan->reduction_blocks, last = (i + 1) * blocks;
        made->ranges[i][0] = i * blocks;
        made->ranges[i][1] = last < n_blocks ? last : n_blocks;
    }
    *out = made;
    return WEFT_OK;
}

static weft_status prepare_reductions(weft_program *p, int number, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->compilation->graph;
    const weft_plan_kernel *kernel = &p->compilation->plan->kernels[number];
    const size_t real_bytes = p->compilation->options.single ? sizeof(float) : sizeof(double);
    const size_t n_chunks = (size_t)count_chunks(p, kernel->index_set);
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_datum *result = &graph->data[graph->calls[kernel->reductions[i]].result];
        const size_t needed =
            (n_chunks + 1) * (size_t)weft_shape_count(&result->shape) * real_bytes;
        weft_memory_free(&p->partials[result->id]);
        TRY(weft_memory_make(p->device, needed, &p->partials[result->id], error));
    }
    weft_schedule_free(&p->chunks[number]);
    TRY(chunks_make(p, kernel, &p->chunks[number], error));
done:
    return status;
}

weft_status weft_program_prepare(weft_program *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->compilation->graph;
    const weft_plan *plan = p->compilation->plan;
    if (p->ready)
        return WEFT_OK;
    TRY(check_connectivities(p, error));
    for (int i = 0; i < graph->n_data; ++i)
        if (is_used(plan, i) && plan->buffer_of[i] < 0)
            TRY(prepare_datum(p, &graph->data[i], error));
    for (int i = 0; i < plan->n_buffers; ++i) {
        size_t needed = 0;
        TRY(list_bytes(p, plan->buffers[i].index_set, plan->buffers[i].components, "a buffer",
                       &needed, error));
        if (p->buffers[i] != NULL && weft_memory_bytes(p->buffers[i]) >= needed)
            continue;
        weft_memory_free(&p->buffers[i]);
        TRY(weft_memory_make(p->device, needed, &p->buffers[i], error));
    }
    for (int i = 0; i < plan->n_kernels; ++i)
        if (plan->kernels[i].n_reductions > 0 && !plan->kernels[i].finishes)
            TRY(prepare_reductions(p, i, error));
    TRY(weft_program_rows_prepare(p, error));
    p->ready = true;
done:
    return status;
}

static weft_memory *datum_memory(const weft_program *p, int datum) {
    const int buffer = p->compilation->plan->buffer_of[datum];
    return buffer >= 0 ? p->buffers[buffer] : p->data[datum];
}

/* With the numbers of the cells where any kernel asks for them, so that all share one. */
static weft_status program_stars(const weft_program *p, int map, const weft_stars **out,
                                 weft_error *error) {
    const weft_plan *plan = p->compilation->plan;
    bool with_cells = false;
    for (int k = 0; k < plan->n_kernels; ++k)
        for (int i = 0; i < plan->kernels[k].n_arguments; ++i) {
            const weft_argument *argument = &plan->kernels[k].arguments[i];
            with_cells |= argument->kind == ARGUMENT_STAR && argument->index == map &&
                          argument->part == WEFT_STAR_ARGUMENTS - 1;
        }
    return weft_connectivity_stars(p->maps[map], WEFT_STAR_NODES, with_cells, out, error);
}

static weft_status star_argument(const weft_program *p, const weft_argument *argument,
                                 weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_stars *stars = NULL;
    TRY(program_stars(p, argument->index, &stars, error));
    weft_memory *const memories[WEFT_STAR_ARGUMENTS] = {
        stars->halo_start, stars->halo, stars->order, stars->rows, stars->words, stars->cells};
    *out = memories[argument->part];
done:
    return status;
}

/* A block a patch; what it stages must fit in its shared memory. */
static weft_status launch_stars(const weft_program *p, const weft_plan_kernel *kernel,
                                weft_launch *launch, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->compilation->graph;
    const weft_star_source star = weft_star_source_of(graph, kernel);
    const weft_stars *stars = NULL;
    if (star.accumulation->matrix)
        return weft_program_matrix_launch(p, kernel, launch, error);
    TRY(program_stars(p, star.accumulation->map, &stars, error));
    const size_t bytes =
        weft_star_source_shared(graph, &star, stars->most_local,
                                p->compilation->options.single ? sizeof(float) : sizeof(double));
    if (bytes > p->compilation->limits.onchip_bytes) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "%d nodes in and round a patch of %d need %zu bytes of shared memory, %s "
                       "has %zu a block",
                       stars->most_local, stars->nodes, bytes, p->compilation->limits.name,
                       p->compilation->limits.onchip_bytes);
        weft_error_hint(error, "renumber the nodes, so that neighbours have near numbers");
        return WEFT_ERROR_UNSUPPORTED;
    }
    launch->n_instances = stars->n_nodes;
    launch->block_threads = star.threads;
    launch->n_blocks = stars->n_patches;
    launch->shared_bytes = (int)bytes;
done:
    return status;
}

static weft_status launch_argument(weft_program *p, const weft_argument *argument,
                                   weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->compilation->plan;
    weft_memory *parts[2] = {NULL, NULL};
    switch (argument->kind) {
    case ARGUMENT_DATUM:
        *out = datum_memory(p, argument->index);
        break;
    case ARGUMENT_PARTIALS:
        *out = p->partials[argument->index];
        break;
    case ARGUMENT_ROWS:
    case ARGUMENT_TWIN:
        status = weft_program_rows_argument(p, argument, out, error);
        break;
    case ARGUMENT_POSITIONS:
        *out = p->positions[argument->index];
        break;
    case ARGUMENT_STAR_MATRIX:
        status = weft_program_matrix_argument(p, argument, out, error);
        break;
    case ARGUMENT_MAP:
    case ARGUMENT_COLOUR:
    case ARGUMENT_STAR:
    case ARGUMENT_GATHER:
        if (p->maps[argument->index] == NULL) {
            status = weft_error_set(error, WEFT_ERROR_USAGE, "connectivity '%s' is not bound",
                                    p->compilation->graph->maps[argument->index].name);
            break;
        }
        if (argument->kind == ARGUMENT_STAR) {
            status = star_argument(p, argument, out, error);
            break;
        }
        if (argument->kind == ARGUMENT_COLOUR) {
            status = weft_program_colours_argument(p, argument, out, error);
            break;
        }
        if (argument->kind == ARGUMENT_MAP) {
            status =
                weft_connectivity_interleaved(p->maps[argument->index], plan->lanes, out, error);
            break;
        }
        TRY(weft_connectivity_transposed(p->maps[argument->index], plan->lanes, &parts[0],
                                         &parts[1], error));
        *out = parts[argument->part];
        break;
    }
done:
    return status;
}

/* Every block in one range. */
typedef struct serial_schedule {
    weft_schedule schedule;
    int64_t start[2], range[1][2];
} serial_schedule;

/* The order that keeps accumulating stores apart. Stores through several maps run serially. */
static weft_status launch_schedule(weft_program *p, const weft_plan_kernel *kernel,
                                   serial_schedule *serial, const weft_schedule **out,
                                   weft_error *error) {
    const weft_graph *graph = p->compilation->graph;
    const int lanes = p->compilation->plan->lanes;
    int map = -1;
    bool several = false;
    for (int i = 0; i < kernel->n_scatters; ++i) {
        const int m = graph->accumulations[kernel->scatters[i]].map;
        several |= map >= 0 && m != map;
        map = m;
    }
    *out = NULL;
    if (p->compilation->limits.kind == WEFT_DEVICE_CUDA) /* atomic there */
        return WEFT_OK;
    *out = p->chunks[kernel - p->compilation->plan->kernels];
    if (map < 0 || *out != NULL)
        return WEFT_OK;
    if (!several && p->maps[map] != NULL)
        return weft_connectivity_schedule(p->maps[map], lanes, out, error);
    *serial =
        (serial_schedule){.start = {0, 1}, .range = {{0, count_blocks(p, kernel->index_set)}}};
    serial->schedule =
        (weft_schedule){.n_colours = 1, .colour_start = serial->start, .ranges = serial->range};
    *out = &serial->schedule;
    return WEFT_OK;
}

static weft_status launch_kernel(weft_program *p, const weft_plan_kernel *kernel,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    serial_schedule serial;
    weft_launch launch = {.module = p->module,
                          .kernel = kernel->name,
                          .arguments = p->arguments,
                          .n_arguments = kernel->n_arguments,
                          .n_instances = p->sizes[kernel->index_set],
                          .lanes = p->compilation->plan->lanes};
    for (int i = 0; i < kernel->n_zero; ++i)
        TRY(weft_memory_zero(datum_memory(p, kernel->zero[i]), error));
    for (int i = 0; i < kernel->n_arguments; ++i)
        TRY(launch_argument(p, &kernel->arguments[i], &p->arguments[i], error));
    if (p->go != NULL)
        p->arguments[launch.n_arguments++] = p->go;
    if (kernel->cell_colours)
        return weft_program_colours_launch(p, kernel, &launch, error);
    if (kernel->stars)
        TRY(launch_stars(p, kernel, &launch, error));
    else
        TRY(launch_schedule(p, kernel, &serial, &launch.schedule, error));
    if (kernel->finishes) { /* one thread, told the number of partial results and one more */
        launch.n_instances = count_chunks(p, kernel->index_set) + 1;
        launch.lanes = (int)launch.n_instances;
    }
    weft_program_rows_launch(p, kernel, &launch);
    if (launch.n_instances > 0 || launch.n_blocks > 0)
        TRY(weft_device_launch(p->device, &launch, error));
    weft_program_rows_swap(p, kernel);
done:
    return status;
}

weft_status weft_program_touch(weft_program *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->compilation->plan;
    TRY(weft_program_prepare(p, error));
    for (int k = 0; k < plan->n_kernels; ++k) {
        weft_launch launch = {0};
        for (int i = 0; i < plan->kernels[k].n_arguments; ++i)
            TRY(launch_argument(p, &plan->kernels[k].arguments[i], &p->arguments[i], error));
        if (plan->kernels[k].stars)
            TRY(launch_stars(p, &plan->kernels[k], &launch, error));
    }
done:
    return status;
}

weft_status weft_program_run(weft_program *program, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = program->compilation->plan;
    if (program->flow != NULL)
        return weft_program_flow_run(program, error);
    TRY(weft_program_prepare(program, error));
    for (int i = 0; i < plan->n_kernels; ++i)
        TRY(launch_kernel(program, &plan->kernels[i], error));
done:
    return status;
}
