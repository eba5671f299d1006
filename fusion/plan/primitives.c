/* Collects the cost primitives of a graph: loads and stores of values, computes of calls. */
#include "fusion/plan/primitives.h"
#include "fusion/base/array.h"
#include "fusion/base/intrinsics.h"
#include "fusion/base/target.h"
#include "fusion/cost/intrinsic.h"
#include "fusion/library/native.h"
#include "fusion/plan/issue.h"
#include "fusion/plan/scatter.h"

#include <math.h>
#include <string.h>

enum { PLACES = PREDICTOR_PLACES };

int *weft_predictor_load(const weft_predictor *p, int value, int connectivity) {
    return &p->loads[(value * (1 + p->graph->n_connectivities) + connectivity + 1) * PLACES];
}

static const char *place_name(int place) {
    return place == PLACE_SHARED ? "shared" : "registers";
}

static const char *type_name(const weft_predictor *p) {
    return p->options->single ? "float" : "double";
}

/* Add a load or store for each place; `what` has everything else but the name. */
static weft_status add_move(weft_arena *arena, weft_predictor *p, const weft_cost_primitive *what,
                            int *number, weft_error *error) {
    static const char *const forms[] = {"block", "plain", "indirect", "add", "add_matrix"};
    for (int place = 0; place < PLACES; ++place) {
        weft_cost_primitive *one = &p->list[p->n];
        *one = *what;
        one->real_bytes = (int)p->real_bytes;
        one->shared = place == PLACE_SHARED;
        one->handle = -1;
        one->name = weft_arena_print(
            arena, "%s %s %d %d %s %s", one->kind == WEFT_COST_LOAD ? "load" : "store",
            forms[one->form], one->components, one->width, type_name(p), place_name(place));
        if (!one->name)
            return weft_no_memory(error);
        number[place] = p->n++;
    }
    return WEFT_OK;
}

static weft_status add_compute(weft_arena *arena, weft_predictor *p, const weft_call *call,
                               int variant, weft_error *error) {
    const weft_specialisation *specialisation = call->specialisation;
    const weft_shape *shape = &p->graph->values[call->result].shape;
    const double declared = specialisation ? specialisation->footprints[variant].operations : -1;
    const double flops = declared >= 0    ? declared
                         : specialisation ? call->flops
                                          : weft_arithmetic_flops(call, shape, false);
    weft_status status = WEFT_OK;
    weft_text sizes = {0};
    for (int i = 0; specialisation && i < specialisation->n_names; ++i)
        weft_text_add(&sizes, "%s%s=%d", i > 0 ? "," : "", specialisation->names[i],
                      specialisation->values[i]);
    if (!specialisation || specialisation->n_names == 0)
        weft_text_add(&sizes, "n=%d,flops=%.0f", weft_shape_count(shape), flops);
    if (specialisation && weft_specialisation_language(specialisation, variant) != LANGUAGE_PLAIN)
        weft_text_add(&sizes, " %s",
                      weft_language_names[weft_specialisation_language(specialisation, variant)]);
    for (int place = 0; place < PLACES; ++place) {
        weft_cost_primitive *one = &p->list[p->n++];
        *one =
            (weft_cost_primitive){.kind = WEFT_COST_COMPUTE,
                                  .function = call->label,
                                  .variant = variant,
                                  .threads = specialisation ? specialisation->threads[variant] : 1,
                                  .flops = flops,
                                  .real_bytes = (int)p->real_bytes,
                                  .shared = place == PLACE_SHARED,
                                  .handle = -1};
        one->name = sizes.failed ? NULL
                                 : weft_arena_print(arena, "compute %s %d %s %s %s", call->label,
                                                    one->threads, sizes.data, type_name(p),
                                                    place_name(place));
        if (!one->name)
            TRY(weft_no_memory(error));
    }
done:
    weft_text_free(&sizes);
    return status;
}

/* The functions of formulas that a call evaluates, each with the number of its evaluations. */
static weft_status add_intrinsics(weft_arena *arena, weft_predictor *p, const weft_call *call,
                                  weft_error *error) {
    const int first = p->n_evaluations;
    for (int i = 0; i < call->n_arithmetic; ++i) {
        const weft_intrinsic *one = weft_arithmetic_intrinsic(call, i);
        int k = first;
        while (one && k < p->n_evaluations &&
               strcmp(p->list[p->evaluations[k].primitive].function, one->name) != 0)
            ++k;
        if (one && k == p->n_evaluations) {
            p->evaluations[p->n_evaluations++].primitive = p->n;
            p->list[p->n] = weft_cost_of_intrinsic(arena, one, p->options->single);
            if (!p->list[p->n++].name)
                return weft_no_memory(error);
        }
        if (one)
            p->evaluations[k].count += weft_shape_count(&p->graph->values[call->result].shape);
    }
    return WEFT_OK;
}

static weft_status add_loads(weft_arena *arena, weft_predictor *p, const weft_operand *operand,
                             weft_error *error) {
    const weft_value *value = &p->graph->values[operand->value];
    int *number = weft_predictor_load(p, operand->value, operand->connectivity);
    const int components = weft_shape_count(&value->shape);
    if (value->index_set < 0 || number[0] >= 0)
        return WEFT_OK;
    if (operand->connectivity < 0)
        return add_move(arena, p,
                        &(weft_cost_primitive){.kind = WEFT_COST_LOAD,
                                               .form = p->graph->index_sets[value->index_set].plain
                                                           ? WEFT_COST_AOS
                                                           : WEFT_COST_BLOCK,
                                               .components = components,
                                               .bytes = p->real_bytes * components},
                        number, error);
    const int width = p->graph->connectivities[operand->connectivity].width;
    return add_move(arena, p,
                    &(weft_cost_primitive){.kind = WEFT_COST_LOAD,
                                           .form = WEFT_COST_INDIRECT,
                                           .components = components,
                                           .width = width,
                                           .bytes = (p->real_bytes * components + 4.0) * width},
                    number, error);
}

static weft_status add_primitives(weft_arena *arena, weft_predictor *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    for (int i = 0; i < graph->n_calls; ++i) {
        const weft_call *call = &graph->calls[i];
        const weft_value *result = &graph->values[call->result];
        const int n_variants = call->specialisation ? call->specialisation->n_variants : 1;
        const int components = weft_shape_count(&result->shape);
        p->computes[i] = p->n;
        for (int v = 0; v < n_variants; ++v)
            TRY(add_compute(arena, p, call, v, error));
        p->first_evaluation[i] = p->n_evaluations;
        TRY(add_intrinsics(arena, p, call, error));
        p->first_evaluation[i + 1] = p->n_evaluations;
        for (int k = 0; k < call->n_operands; ++k)
            TRY(add_loads(arena, p, &call->operands[k], error));
        if (result->index_set >= 0)
            TRY(add_move(arena, p,
                         &(weft_cost_primitive){.kind = WEFT_COST_STORE,
                                                .form = graph->index_sets[result->index_set].plain
                                                            ? WEFT_COST_AOS
                                                            : WEFT_COST_BLOCK,
                                                .components = components,
                                                .bytes = p->real_bytes * components},
                         &p->stores[call->result * PLACES], error));
    }
    for (int i = 0; i < graph->n_accumulations; ++i) {
        const weft_accumulation *a = &graph->accumulations[i];
        const int width = graph->connectivities[a->connectivity].width;
        const int count = weft_shape_count(&graph->values[a->source].shape);
        const int components = a->matrix ? count / (width * width) : count / width;
        const bool gathered = weft_scatter_gathers(p->options, a);
        const weft_cost_primitive add = {.kind = WEFT_COST_STORE,
                                         .form = a->matrix ? WEFT_COST_ADD_MATRIX : WEFT_COST_ADD,
                                         .components = components,
                                         .width = width,
                                         .bytes = 2 * p->real_bytes * count +
                                                  4.0 * (a->matrix ? count : width)};
        const weft_cost_primitive gather = {.kind = WEFT_COST_LOAD,
                                            .form = WEFT_COST_INDIRECT,
                                            .components = components,
                                            .width = width,
                                            .bytes = (p->real_bytes * components + 4.0) * width};
        TRY(add_move(arena, p, gathered ? &gather : &add, &p->accumulates[i * PLACES], error));
    }
done:
    return status;
}

static weft_status allocate(weft_arena *arena, weft_predictor *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    const size_t n_values = (size_t)graph->n_values + 1,
                 n_connectivities = (size_t)graph->n_connectivities + 1;
    const size_t n_accumulations = (size_t)graph->n_accumulations + 1;
    size_t most = n_accumulations, n_nodes = 1;
    for (int i = 0; i < graph->n_calls; ++i) {
        n_nodes += (size_t)graph->calls[i].n_arithmetic;
        most += (size_t)graph->calls[i].n_operands + 1 +
                (size_t)(graph->calls[i].specialisation ? graph->calls[i].specialisation->n_variants
                                                        : 1);
    }
    TRY(WEFT_ALLOC(arena, p->list, most * PLACES + n_nodes, error));
    TRY(WEFT_ALLOC(arena, p->pointers, most * PLACES + n_nodes, error));
    TRY(WEFT_ALLOC(arena, p->evaluations, n_nodes, error));
    TRY(WEFT_ALLOC(arena, p->first_evaluation, (size_t)graph->n_calls + 1, error));
    TRY(WEFT_ALLOC(arena, p->loads, n_values * n_connectivities * PLACES, error));
    TRY(WEFT_ALLOC(arena, p->stores, n_values * PLACES, error));
    TRY(WEFT_ALLOC(arena, p->accumulates, n_accumulations * PLACES, error));
    TRY(WEFT_ALLOC(arena, p->mapped, n_connectivities, error));
    TRY(WEFT_ALLOC(arena, p->computes, (size_t)graph->n_calls + 1, error));
    for (size_t i = 0; i < n_values * n_connectivities * PLACES; ++i)
        p->loads[i] = -1;
done:
    return status;
}

/* Has the calibration of this primitive come beyond its first point (fusion/tune/points.c)? */
static bool is_known(const weft_predictor *p, const weft_cost_primitive *primitive) {
    static const weft_operating_point ends[] = {{.elements = 32, .iterations = 1, .threads = 32},
                                                {.elements = 512, .iterations = 4, .threads = 512}};
    double seconds = 0;
    return p->source->lookup(p->source->user, primitive, &ends[0], &seconds) &&
           p->source->lookup(p->source->user, primitive, &ends[1], &seconds);
}

/* A source that knows some primitives only, as after a short calibration, must not make these look
 * slow or fast beside the others: analytic times are scaled by the geometric mean of measured over
 * analytic times, at one operating point, of the primitives in registers that are known. */
static void find_scales(weft_predictor *p) {
    const int threads = weft_target_block(p->limits, p->options->single);
    double logs[2] = {0, 0};
    int n[2] = {0, 0};
    for (int i = 0; i < p->n && p->source; ++i) {
        const weft_cost_primitive *one = &p->list[i];
        const weft_operating_point point = {
            .elements = threads, .iterations = 1, .threads = threads, .load_bytes = one->bytes};
        const bool computes = one->kind == WEFT_COST_COMPUTE;
        double known = 0, analytic = 0;
        p->analytic.lookup(p->analytic.user, one, &point, &analytic);
        if (one->shared || !p->source->lookup(p->source->user, one, &point, &known) ||
            !(known > 0 && analytic > 0))
            continue;
        logs[computes] += log(known / analytic);
        ++n[computes];
    }
    p->knows_all = p->source != NULL;
    for (int i = 0; i < p->n && p->knows_all; ++i)
        p->knows_all = p->list[i].shared || is_known(p, &p->list[i]);
    for (int k = 0; k < 2; ++k)
        p->analytic_scale[k] = n[k] > 0 ? exp(logs[k] / n[k]) : 1;
}

weft_status weft_predictor_make(weft_arena *arena, const weft_graph *graph,
                                const weft_limits *limits, const weft_compile_options *options,
                                weft_predictor **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_predictor *p = NULL;
    weft_graph *own_graph = NULL;
    weft_compile_options *own_options = NULL;
    TRY(WEFT_ALLOC(arena, p, 1, error));
    TRY(WEFT_ALLOC(arena, own_graph, 1, error));
    TRY(WEFT_ALLOC(arena, own_options, 1, error));
    *own_graph = *graph; /* the caller's may end before the implementations */
    *own_options = *options;
    p->graph = own_graph;
    p->limits = limits;
    p->options = own_options;
    p->source = options->costs;
    p->analytic = weft_cost_analytic(limits);
    p->real_bytes = options->single ? sizeof(float) : sizeof(double);
    p->is_gpu = weft_target_is_simt(limits);
    TRY(allocate(arena, p, error));
    TRY(add_primitives(arena, p, error));
    if (p->is_gpu)
        TRY(weft_issue_prepare(arena, p, error));
    for (int i = 0; i < p->n; ++i)
        p->pointers[i] = &p->list[i];
    if (p->source && p->source->prepare)
        TRY(p->source->prepare(p->source->user, p->pointers, p->n, error));
    find_scales(p);
    *out = p;
done:
    return status;
}
