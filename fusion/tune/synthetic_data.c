/* Runs and times the plans of a script on synthetic data, which all of its plans share.
 *
 * The nodes of a cell have near numbers, as in an ordered mesh; values are about 1. */
#include "fusion/tune/synthetic_data.h"
#include "fusion/plan/implementations.h"
#include "fusion/runtime/runtime.h"
#include "fusion/tune/benchmark.h"
#include "fusion/tune/timing.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5 };
static const double LONG_ENOUGH = 2e-3, SLOW = 0.1; /* seconds */

struct weft_synthetic_run {
    weft_device *device;
    bool single;
    int lanes;
    int n_sets, n_connectivities, n_values;
    int64_t *sizes; /* [n_sets] */
    weft_connectivity **connectivities;
    int32_t **indices;       /* [n_connectivities] */
    weft_memory **data;      /* [n_values] inputs and matrix entries; NULL: neither */
    weft_memory **positions; /* [n_values][n_connectivities]; NULL: nothing is added so */
    weft_timer *timer;
};

/* Index sets that only are targets of a connectivity get fewer elements; the factors of a product
 * what planning assumes of them; the others get n. */
static void choose_sizes(weft_synthetic_run *r, const weft_graph *graph, int64_t n) {
    const weft_compile_options options = {.size = sizeof options, .elements = n};
    for (int i = 0; i < r->n_sets; ++i)
        r->sizes[i] = (int64_t)weft_elements_assumed(graph, &options, i);
    for (int m = r->n_connectivities - 1; m >= 0; --m) {
        bool source = false;
        for (int k = 0; k < r->n_connectivities; ++k)
            source = source || graph->connectivities[k].from == graph->connectivities[m].to;
        if (!source)
            r->sizes[graph->connectivities[m].to] =
                weft_benchmark_nodes(n, graph->connectivities[m].width);
    }
}

/* Pseudo-random numbers in [1/2, 3/2), the same on every machine. */
static weft_status make_values(weft_synthetic_run *r, int64_t count, weft_memory **out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)count * (r->single ? sizeof(float) : sizeof(double));
    uint32_t state = 12345;
    void *values = calloc((size_t)count + 1, sizeof(double));
    if (!values)
        TRY(weft_out_of_memory(error, "trying a script"));
    for (int64_t i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        const double one = 0.5 + (double)(state >> 8) / (double)(1u << 24);
        if (r->single)
            ((float *)values)[i] = (float)one;
        else
            ((double *)values)[i] = one;
    }
    TRY(weft_memory_make_unset(r->device, bytes, out, error));
    TRY(weft_memory_write(*out, 0, values, bytes, error));
done:
    free(values);
    return status;
}

static weft_memory **positions_of(const weft_synthetic_run *r, int matrix, int connectivity) {
    return &r->positions[(size_t)matrix * (size_t)r->n_connectivities + (size_t)connectivity];
}

/* Matrix entries, and positions for each connectivity that the matrix is added to through: each row
 * has 2 * width entries, for the greatest width. */
static weft_status make_matrix(weft_synthetic_run *r, const weft_graph *graph,
                               const weft_value *value, weft_error *error) {
    weft_status status = WEFT_OK;
    int width = graph->connectivities[value->connectivity].width;
    for (int k = 0; k < graph->n_accumulations; ++k) {
        const int through = graph->accumulations[k].connectivity;
        const weft_graph_connectivity *connectivity = &graph->connectivities[through];
        weft_memory **positions = positions_of(r, value->id, through);
        if (graph->accumulations[k].target != value->id || *positions)
            continue;
        width = connectivity->width > width ? connectivity->width : width;
        TRY(weft_benchmark_positions(r->device, r->indices[through], r->sizes[connectivity->from],
                                     connectivity->width, r->lanes, positions, error));
    }
    TRY(make_values(r, r->sizes[value->index_set] * 2 * width, &r->data[value->id], error));
done:
    return status;
}

static weft_status make_value(weft_synthetic_run *r, const weft_graph *graph,
                              const weft_value *value, weft_error *error) {
    int64_t n = 1;
    if (value->kind == VALUE_MATRIX)
        return make_matrix(r, graph, value, error);
    if (!value->is_input)
        return WEFT_OK;
    if (value->index_set >= 0) {
        n = r->sizes[value->index_set];
        if (!graph->index_sets[value->index_set].plain)
            n = (n + r->lanes - 1) / r->lanes * r->lanes;
    }
    return make_values(r, n * weft_shape_count(&value->shape), &r->data[value->id], error);
}

static weft_status allocate(weft_synthetic_run *r, const weft_graph *graph, weft_error *error) {
    r->n_sets = graph->n_index_sets;
    r->n_connectivities = graph->n_connectivities;
    r->n_values = graph->n_values;
    r->sizes = calloc((size_t)r->n_sets + 1, sizeof *r->sizes);
    r->connectivities = calloc((size_t)r->n_connectivities + 1, sizeof(weft_connectivity *));
    r->indices = calloc((size_t)r->n_connectivities + 1, sizeof(int32_t *));
    r->data = calloc((size_t)r->n_values + 1, sizeof(weft_memory *));
    r->positions =
        calloc((size_t)r->n_values * (size_t)r->n_connectivities + 1, sizeof(weft_memory *));
    return r->sizes && r->connectivities && r->indices && r->data && r->positions
               ? WEFT_OK
               : weft_out_of_memory(error, "trying a script");
}

weft_status weft_synthetic_run_make(weft_device *device, const weft_compilation *compilation,
                                    int64_t n, weft_synthetic_run **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_synthetic_run *r = NULL;
    const weft_segment *segment = weft_compilation_only(compilation);
    if (!segment || segment->graph->n_operators > 0)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "a script with loops or operators cannot be tried alone"));
    const weft_graph *graph = segment->graph;
    r = calloc(1, sizeof *r);
    if (!r)
        TRY(weft_out_of_memory(error, "trying a script"));
    r->device = device;
    r->single = compilation->options.single;
    r->lanes = segment->plan->lanes;
    TRY(allocate(r, graph, error));
    choose_sizes(r, graph, n);
    for (int m = 0; m < r->n_connectivities; ++m) {
        const weft_graph_connectivity *one = &graph->connectivities[m];
        TRY(weft_benchmark_connectivity(device, r->sizes[one->from], one->width, r->sizes[one->to],
                                        &r->indices[m], &r->connectivities[m], error));
    }
    for (int i = 0; i < r->n_values; ++i)
        TRY(make_value(r, graph, &graph->values[i], error));
    TRY(weft_timer_make(device, &r->timer, error));
    *out = r;
    r = NULL;
done:
    weft_synthetic_run_free(&r);
    return status;
}

void weft_synthetic_run_free(weft_synthetic_run **synthetic_run) {
    if (!synthetic_run || !*synthetic_run)
        return;
    weft_synthetic_run *r = *synthetic_run;
    for (int m = 0; r->connectivities && r->indices && m < r->n_connectivities; ++m) {
        weft_connectivity_free(&r->connectivities[m]);
        free(r->indices[m]);
    }
    for (int i = 0; r->data && i < r->n_values; ++i)
        weft_memory_free(&r->data[i]);
    for (int i = 0; r->positions && i < r->n_values * r->n_connectivities; ++i)
        weft_memory_free(&r->positions[i]);
    weft_timer_free(&r->timer);
    free(r->sizes);
    free(r->connectivities);
    free(r->indices);
    free(r->data);
    free(r->positions);
    free(r);
    *synthetic_run = NULL;
}

static weft_status bind_matrix(weft_synthetic_run *r, const weft_graph *graph,
                               const weft_value *value, weft_program *program, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_program_bind_matrix(program, value->name, r->data[value->id],
                                 *positions_of(r, value->id, value->connectivity), error));
    for (int m = 0; m < r->n_connectivities; ++m)
        if (*positions_of(r, value->id, m))
            TRY(weft_program_bind_matrix_positions(program, value->name,
                                                   graph->connectivities[m].name,
                                                   *positions_of(r, value->id, m), error));
done:
    return status;
}

static weft_status bind_all(weft_synthetic_run *r, const weft_graph *graph, weft_program *program,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < r->n_sets; ++i)
        if (!weft_index_set_is_product(graph, i))
            TRY(weft_program_size(program, graph->index_sets[i].name, r->sizes[i], error));
    for (int m = 0; m < r->n_connectivities; ++m)
        TRY(weft_program_bind_connectivity(program, graph->connectivities[m].name,
                                           r->connectivities[m], error));
    for (int i = 0; i < r->n_values; ++i) {
        const weft_value *value = &graph->values[i];
        if (value->kind == VALUE_MATRIX)
            TRY(bind_matrix(r, graph, value, program, error));
        else if (r->data[i])
            TRY(weft_program_bind(program, value->name, r->data[i], error));
    }
done:
    return status;
}

/* A whole run or a single kernel. */
typedef struct timed_run {
    weft_program *program;
    int kernel; /* -1: all of them */
} timed_run;

static weft_status run(void *user, weft_error *error) {
    const timed_run *one = user;
    return one->kernel < 0 ? weft_program_run(one->program, error)
                           : weft_program_launch_kernel(one->program, one->kernel, error);
}

static weft_status time_runs(const weft_synthetic_run *r, weft_program *program, int kernel,
                             double worthless, double *seconds, weft_error *error) {
    timed_run one = {program, kernel};
    const weft_timing_loop watch = {.device = r->device,
                                    .timer = r->timer,
                                    .work = run,
                                    .user = &one,
                                    .rounds = ROUNDS,
                                    .round = LONG_ENOUGH,
                                    .slow = SLOW,
                                    .worthless = worthless};
    return weft_timing_loop_run(&watch, seconds, error);
}

weft_status weft_synthetic_run_time(weft_synthetic_run *r, weft_program *program,
                                    const weft_compilation *compilation, double worthless,
                                    double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_segment *segment = weft_compilation_only(compilation);
    if (!segment || segment->graph->n_values != r->n_values ||
        segment->graph->n_connectivities != r->n_connectivities)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "the data are another script's"));
    TRY(bind_all(r, segment->graph, program, error));
    TRY(time_runs(r, program, -1, worthless, seconds, error));
done:
    return status;
}

weft_status weft_synthetic_run_time_kernels(weft_synthetic_run *r, weft_program *program,
                                            const weft_compilation *compilation, double *seconds,
                                            weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_segment *segment = weft_compilation_only(compilation);
    TRY(bind_all(r, segment->graph, program, error));
    TRY(weft_program_run(program, error));
    for (int i = 0; i < segment->plan->n_kernels; ++i)
        if (segment->plan->kernels[i].is_member)
            seconds[i] = -1; /* it is launched with its group */
        else
            TRY(time_runs(r, program, i, 0, &seconds[i], error));
done:
    return status;
}
