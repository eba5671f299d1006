/* What an implementation takes: psi of its routines, loads and stores apart from computes (Fousek
 * et al. 2011, equation 3), and the launches. */
#include "implementations.h"

#include <math.h>
#include <string.h>

#define WEFT_DEFAULT_INSTANCES 1e6
#define WEFT_DEFAULT_LAUNCH 1e-6
#define BARRIER_SECONDS 2e-8 /* that a block waits; others run meanwhile */
#define LAST_CACHE_FACTOR 3  /* how much faster than memory what is spilled is written and read */

enum { PLACES = 2 /* registers, shared */, REGISTERS_MOST = 255, REGISTERS_OWN = 24 };

struct weft_predictor {
    const weft_graph *graph;
    const weft_limits *limits;
    const weft_compile_options *options;
    const weft_cost_source *source; /* NULL: analytic alone */
    weft_cost_source analytic;
    double real_bytes;
    bool is_gpu;
    weft_cost_routine *list;
    weft_cost_routine **pointers; /* for the source */
    int n;
    int *loads;    /* [n_data][1 + n_maps][PLACES] in list, or -1 */
    int *stores;   /* [n_data][PLACES] */
    int *adds;     /* [n_accumulations][PLACES] */
    bool *mapped;  /* [n_maps] while a kernel is looked at: its numbers are loaded already */
    int *computes; /* [n_calls] the first of a call's, [n_variants][PLACES] */
};

static const char *place_name(int place) {
    return place == PLACE_SHARED ? "shared" : "registers";
}

static const char *type_name(const weft_predictor *p) {
    return p->options->single ? "float" : "double";
}

static weft_status add_move(weft_arena *arena, weft_predictor *p, weft_cost_kind kind,
                            weft_cost_form form, int components, int width, double bytes,
                            int *number, weft_error *error) {
    static const char *const forms[] = {"block", "plain", "indirect", "add", "add_matrix"};
    for (int place = 0; place < PLACES; ++place) {
        weft_cost_routine *one = &p->list[p->n];
        *one = (weft_cost_routine){.kind = kind,
                                   .form = form,
                                   .components = components,
                                   .width = width,
                                   .bytes = bytes,
                                   .real_bytes = (int)p->real_bytes,
                                   .shared = place == PLACE_SHARED,
                                   .handle = -1};
        one->name =
            weft_arena_print(arena, "%s %s %d %d %s %s", kind == WEFT_COST_LOAD ? "load" : "store",
                             forms[form], components, width, type_name(p), place_name(place));
        if (one->name == NULL)
            return weft_no_memory(error);
        number[place] = p->n++;
    }
    return WEFT_OK;
}

static weft_status add_compute(weft_arena *arena, weft_predictor *p, const weft_call *call,
                               int variant, weft_error *error) {
    const weft_instance *instance = call->instance;
    weft_status status = WEFT_OK;
    weft_text sizes = {0};
    for (int i = 0; instance != NULL && i < instance->n_names; ++i)
        weft_text_add(&sizes, "%s%s=%d", i > 0 ? "," : "", instance->names[i], instance->values[i]);
    if (instance == NULL || instance->n_names == 0)
        weft_text_add(&sizes, "n=%d,flops=%.0f",
                      weft_shape_count(&p->graph->data[call->result].shape), call->flops);
    for (int place = 0; place < PLACES; ++place) {
        weft_cost_routine *one = &p->list[p->n++];
        *one = (weft_cost_routine){.kind = WEFT_COST_COMPUTE,
                                   .function = call->label,
                                   .variant = variant,
                                   .threads = instance != NULL ? instance->threads[variant] : 1,
                                   .flops = call->flops,
                                   .real_bytes = (int)p->real_bytes,
                                   .shared = place == PLACE_SHARED,
                                   .handle = -1};
        one->name = sizes.failed ? NULL
                                 : weft_arena_print(arena, "compute %s %d %s %s %s", call->label,
                                                    one->threads, sizes.data, type_name(p),
                                                    place_name(place));
        if (one->name == NULL) {
            status = weft_no_memory(error);
            goto done;
        }
    }
done:
    weft_text_free(&sizes);
    return status;
}

static int *load_number(const weft_predictor *p, int datum, int map) {
    return &p->loads[(datum * (1 + p->graph->n_maps) + map + 1) * PLACES];
}

static weft_status add_loads(weft_arena *arena, weft_predictor *p, const weft_operand *operand,
                             weft_error *error) {
    const weft_datum *datum = &p->graph->data[operand->datum];
    int *number = load_number(p, operand->datum, operand->map);
    const int components = weft_shape_count(&datum->shape);
    if (datum->index_set < 0 || number[0] >= 0)
        return WEFT_OK;
    if (operand->map < 0)
        return add_move(arena, p, WEFT_COST_LOAD,
                        p->graph->index_sets[datum->index_set].plain ? WEFT_COST_PLAIN
                                                                     : WEFT_COST_BLOCK,
                        components, 0, p->real_bytes * components, number, error);
    const int width = p->graph->maps[operand->map].width;
    return add_move(arena, p, WEFT_COST_LOAD, WEFT_COST_INDIRECT, components, width,
                    (p->real_bytes * components + 4.0) * width, number, error);
}

static weft_status add_routines(weft_arena *arena, weft_predictor *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    for (int i = 0; i < graph->n_calls; ++i) {
        const weft_call *call = &graph->calls[i];
        const weft_datum *result = &graph->data[call->result];
        const int n_variants = call->instance != NULL ? call->instance->n_variants : 1;
        const int components = weft_shape_count(&result->shape);
        p->computes[i] = p->n;
        for (int v = 0; v < n_variants; ++v)
            TRY(add_compute(arena, p, call, v, error));
        for (int k = 0; k < call->n_operands; ++k)
            TRY(add_loads(arena, p, &call->operands[k], error));
        if (result->index_set >= 0)
            TRY(add_move(arena, p, WEFT_COST_STORE,
                         graph->index_sets[result->index_set].plain ? WEFT_COST_PLAIN
                                                                    : WEFT_COST_BLOCK,
                         components, 0, p->real_bytes * components,
                         &p->stores[call->result * PLACES], error));
    }
    for (int i = 0; i < graph->n_accumulations; ++i) {
        const weft_accumulation *a = &graph->accumulations[i];
        const int width = graph->maps[a->map].width;
        const int count = weft_shape_count(&graph->data[a->source].shape);
        const int components = a->matrix ? count / (width * width) : count / width;
        const double bytes = 2 * p->real_bytes * count + 4.0 * (a->matrix ? count : width);
        TRY(add_move(arena, p, WEFT_COST_STORE, a->matrix ? WEFT_COST_ADD_MATRIX : WEFT_COST_ADD,
                     components, width, bytes, &p->adds[i * PLACES], error));
    }
done:
    return status;
}

static weft_status allocate(weft_arena *arena, weft_predictor *p, weft_error *error) {
    const weft_graph *graph = p->graph;
    const size_t n_data = (size_t)graph->n_data + 1, n_maps = (size_t)graph->n_maps + 1;
    const size_t n_accumulations = (size_t)graph->n_accumulations + 1;
    size_t most = n_accumulations;
    for (int i = 0; i < graph->n_calls; ++i)
        most +=
            (size_t)graph->calls[i].n_operands + 1 +
            (size_t)(graph->calls[i].instance != NULL ? graph->calls[i].instance->n_variants : 1);
    p->list = weft_arena_alloc(arena, most * PLACES, sizeof *p->list);
    p->pointers = weft_arena_alloc(arena, most * PLACES, sizeof(weft_cost_routine *));
    p->loads = weft_arena_alloc(arena, n_data * n_maps * PLACES, sizeof *p->loads);
    p->stores = weft_arena_alloc(arena, n_data * PLACES, sizeof *p->stores);
    p->adds = weft_arena_alloc(arena, n_accumulations * PLACES, sizeof *p->adds);
    p->mapped = weft_arena_alloc(arena, n_maps, sizeof *p->mapped);
    p->computes = weft_arena_alloc(arena, (size_t)graph->n_calls + 1, sizeof *p->computes);
    if (p->list == NULL || p->pointers == NULL || p->loads == NULL || p->stores == NULL ||
        p->adds == NULL || p->computes == NULL || p->mapped == NULL)
        return weft_no_memory(error);
    for (size_t i = 0; i < n_data * n_maps * PLACES; ++i)
        p->loads[i] = -1;
    return WEFT_OK;
}

weft_status weft_predictor_make(weft_arena *arena, const weft_graph *graph,
                                const weft_limits *limits, const weft_compile_options *options,
                                weft_predictor **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_predictor *p = weft_arena_alloc(arena, 1, sizeof *p);
    if (p == NULL)
        return weft_no_memory(error);
    p->graph = graph;
    p->limits = limits;
    p->options = options;
    p->source = options->costs;
    p->analytic = weft_cost_analytic(limits);
    p->real_bytes = options->single ? sizeof(float) : sizeof(double);
    p->is_gpu = (options->single ? limits->lanes_float : limits->lanes_double) == WEFT_CUDA_LANES;
    TRY(allocate(arena, p, error));
    TRY(add_routines(arena, p, error));
    for (int i = 0; i < p->n; ++i)
        p->pointers[i] = &p->list[i];
    if (p->source != NULL && p->source->prepare != NULL)
        TRY(p->source->prepare(p->source->user, p->pointers, p->n, error));
    *out = p;
done:
    return status;
}

static double psi(const weft_predictor *p, int number, const weft_cost_point *point,
                  bool *measured) {
    const weft_cost_routine *routine = &p->list[number];
    double seconds = 0;
    if (p->source == NULL || !p->source->lookup(p->source->user, routine, point, &seconds)) {
        *measured = false;
        p->analytic.lookup(p->analytic.user, routine, point, &seconds);
    }
    return seconds;
}

/* Loads and stores of a kernel: their times alone, and how long each waits, which is what it takes
 * beyond its bytes at the device's bandwidth. */
typedef struct transfers {
    double seconds, waits, longest;
} transfers;

static void add_transfer(const weft_predictor *p, transfers *sum, int number, double part,
                         const weft_cost_point *point, bool *measured) {
    const double seconds = part * psi(p, number, point, measured);
    const double bandwidth = p->limits->bandwidth > 0 ? p->limits->bandwidth : 20e9;
    const double wait = seconds - part * p->list[number].bytes / bandwidth;
    sum->seconds += seconds;
    if (wait <= 0)
        return;
    sum->waits += wait;
    sum->longest = wait > sum->longest ? wait : sum->longest;
}

static bool is_inside(const weft_predictor *p, const weft_implementation *made, int m) {
    (void)p;
    return made->inside[m];
}

/* The part of a transfer through a connectivity that is left where its numbers are there already:
 * they come once a kernel. */
static double part_with_map(const weft_predictor *p, int number, int map) {
    const bool there = p->mapped[map];
    p->mapped[map] = true;
    return there ? 1 - 4.0 * p->list[number].width / p->list[number].bytes : 1;
}

static void add_all_loads(const weft_predictor *p, weft_implementation *made, transfers *sum,
                          const weft_cost_point *point) {
    for (int m = 0; m < made->n_onchip; ++m) {
        const weft_operand *operand = &made->onchip[m];
        if (p->graph->data[operand->datum].index_set < 0 || is_inside(p, made, m))
            continue;
        const int number = load_number(p, operand->datum, operand->map)[made->placement[m]];
        const double part = operand->map >= 0 ? part_with_map(p, number, operand->map) : 1;
        add_transfer(p, sum, number, part, point, &made->measured);
    }
}

static int placement_of(const weft_implementation *made, int datum) {
    for (int m = 0; m < made->n_onchip; ++m)
        if (made->onchip[m].datum == datum && made->onchip[m].map < 0)
            return made->placement[m];
    return PLACE_REGISTER;
}

static void add_all_stores(const weft_predictor *p, weft_implementation *made, transfers *sum,
                           const weft_cost_point *point) {
    const weft_graph *graph = p->graph;
    const bool gathered = p->options->scatter == WEFT_SCATTER_GATHERED;
    for (int m = 0; m < made->n_onchip; ++m) {
        const int datum = made->onchip[m].datum;
        bool leaves = graph->data[datum].index_set >= 0 && is_inside(p, made, m);
        if (!leaves)
            continue;
        leaves = made->leaves[m];
        for (int i = 0; gathered && i < graph->n_accumulations; ++i)
            leaves |= graph->accumulations[i].source == datum && !graph->accumulations[i].matrix;
        if (leaves)
            add_transfer(p, sum, p->stores[datum * PLACES + (int)made->placement[m]], 1, point,
                         &made->measured);
    }
    for (int i = 0; i < graph->n_accumulations; ++i) {
        const weft_accumulation *a = &graph->accumulations[i];
        if (!weft_fusion_contains(made->fusion, a->call) || (gathered && !a->matrix))
            continue;
        const int number = p->adds[i * PLACES + placement_of(made, a->source)];
        add_transfer(p, sum, number, a->matrix ? 1 : part_with_map(p, number, a->map), point,
                     &made->measured);
    }
}

/* Is one of the data that a call reads or makes in shared memory? */
static int place_of_call(const weft_implementation *made, const weft_call *call) {
    for (int m = 0; m < made->n_onchip; ++m) {
        bool uses = made->onchip[m].map < 0 && made->onchip[m].datum == call->result;
        for (int k = 0; k < call->n_operands; ++k)
            uses |= call->operands[k].datum == made->onchip[m].datum &&
                    call->operands[k].map == made->onchip[m].map;
        if (uses && made->placement[m] == PLACE_SHARED)
            return PLACE_SHARED;
    }
    return PLACE_REGISTER;
}

/* Words of a thread beyond the registers it can have go to memory and back, by way of the caches.
 */
static double spill_seconds(const weft_predictor *p, const weft_implementation *made) {
    double words =
        (made->warps > 0 ? made->register_components : made->onchip_peak) * p->real_bytes / 4;
    const double most = p->is_gpu
                            ? REGISTERS_MOST - REGISTERS_OWN
                            : (double)p->limits->onchip_bytes / 4 /
                                  (made->instances_per_block > 0 ? made->instances_per_block : 1);
    const double bandwidth = p->limits->bandwidth > 0 ? p->limits->bandwidth : 20e9;
    words -= most;
    return words > 0 ? 2 * 4 * words / (LAST_CACHE_FACTOR * bandwidth) : 0;
}

static double multiprocessors(const weft_predictor *p) {
    return p->limits->multiprocessors > 0 ? p->limits->multiprocessors : 1;
}

static bool has_reduction(const weft_predictor *p, const weft_implementation *made) {
    for (int i = 0; i < made->fusion->n_calls; ++i)
        if (p->graph->calls[made->fusion->calls[i]].reduction != NULL)
            return true;
    return false;
}

/* The blocks of the multiprocessor that has most of them; *uneven: how much longer it works than
 * if all instances were shared out evenly. */
static double most_blocks(const weft_predictor *p, const weft_cost_point *point, double n,
                          double *uneven) {
    const double each = (double)point->instances * point->iterations, all = multiprocessors(p);
    const double most = ceil(ceil(n / each) / all);
    *uneven = all * most * each / n;
    return most;
}

static weft_cost_point point_of(const weft_predictor *p, const weft_implementation *made, double n,
                                double *uneven) {
    const double words =
        (made->warps > 0 ? 2 * REGISTERS_OWN + made->register_components * p->real_bytes / 4
                         : REGISTERS_OWN + made->onchip_peak * p->real_bytes / 4);
    weft_cost_point point = {
        .instances = made->instances_per_block,
        /* a thread of a reduction takes the instances of a chunk that fall to it, loads first */
        .iterations = p->is_gpu && has_reduction(p, made) ? WEFT_CUDA_CHUNK / WEFT_CUDA_THREADS
                                                          : made->serial_iterations,
        .threads = made->instances_per_block * (made->warps > 0 ? made->warps : 1),
        .extra_bytes =
            (size_t)(made->shared_components * made->instances_per_block * p->real_bytes),
        .load_bytes = made->bytes_loaded,
        .registers = words < REGISTERS_MOST ? (int)words : REGISTERS_MOST,
    };
    *uneven = 1;
    if (p->is_gpu) {
        const double available = most_blocks(p, &point, n, uneven) * point.threads;
        point.available = available < 1e6 ? (int)available : 0;
    }
    return point;
}

int weft_implementation_barriers(const weft_implementation *made) {
    int n = 0;
    for (int i = 0; made->barriers != NULL && i <= made->fusion->n_calls; ++i)
        n += made->barriers[i];
    return n;
}

/* Equation 3, with the terms that were found to help on this device. */
static double overlapped(const weft_predictor *p, weft_implementation *made, double n) {
    const weft_cost_terms *terms = p->source != NULL ? p->source->terms : NULL;
    if (terms != NULL)
        made->transfer_seconds -= terms->together * made->wait_seconds;
    if (terms != NULL && n * (made->bytes_loaded + made->bytes_stored) < terms->cache_bytes)
        made->transfer_seconds *= terms->cache_factor;
    const double transfer = made->transfer_seconds, compute = made->compute_seconds;
    const double more = transfer > compute ? transfer : compute;
    const double less = transfer > compute ? compute : transfer;
    return terms != NULL ? more + weft_cost_serial(terms, weft_implementation_barriers(made)) * less
                         : more;
}

void weft_predict(const weft_predictor *p, weft_implementation *made) {
    const double n =
        p->options->instances > 0 ? (double)p->options->instances : WEFT_DEFAULT_INSTANCES;
    double uneven = 1;
    const weft_cost_point point = point_of(p, made, n, &uneven);
    const weft_cost_terms *terms = p->source != NULL ? p->source->terms : NULL;
    const double launch = terms != NULL && terms->launch_seconds > 0 ? terms->launch_seconds
                          : p->limits->launch_seconds > 0            ? p->limits->launch_seconds
                                                                     : WEFT_DEFAULT_LAUNCH;
    const int n_barriers = weft_implementation_barriers(made);
    transfers moved = {0};
    memset(p->mapped, 0, (size_t)p->graph->n_maps * sizeof *p->mapped);
    made->measured = true;
    add_all_loads(p, made, &moved, &point);
    add_all_stores(p, made, &moved, &point);
    made->equation_seconds = uneven * (moved.seconds + spill_seconds(p, made));
    made->transfer_seconds = made->equation_seconds;
    made->wait_seconds = uneven * (moved.waits - moved.longest);
    made->compute_seconds = 0;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_call *call = &p->graph->calls[made->order[i]];
        const int number = p->computes[call->id] + made->variants[i] * PLACES;
        made->compute_seconds +=
            uneven * psi(p, number + place_of_call(made, call), &point, &made->measured);
    }
    made->seconds = overlapped(p, made, n);
    if (n_barriers > 0) /* blocks of all multiprocessors wait at once */
        made->seconds +=
            n_barriers * BARRIER_SECONDS * point.threads /
            (weft_cost_resident(p->limits, &point) * point.instances * multiprocessors(p));
    made->cost = n * made->seconds +
                 (has_reduction(p, made) ? 2 : 1) * launch; /* one joins partial results */
}
