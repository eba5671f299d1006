/* Decides how concurrent additions to one list are kept apart. */
#include "fusion/plan/scatter.h"
#include "fusion/base/target.h"
#include "fusion/cost/occupancy.h"
#include "fusion/plan/cell_patches.h"
#include "fusion/plan/implementations.h"
#include "fusion/plan/legality.h"
#include "fusion/plan/patches.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    weft_scatter scatter;
    weft_kernel_kind kind; /* of kernels that take the way */
} ways[WEFT_SCATTER_WAYS] = {{"atomic", WEFT_SCATTER_IN_PLACE, KERNEL_MAP},
                             {"vertex-patch", WEFT_SCATTER_VERTEX_PATCHES, KERNEL_VERTEX_PATCH},
                             {"edge-patch", WEFT_SCATTER_PATCHES, KERNEL_EDGE_PATCH},
                             {"cell-patch", WEFT_SCATTER_CELL_PATCHES, KERNEL_CELL_PATCH},
                             {"cell-colored", WEFT_SCATTER_CELL_COLOURS, KERNEL_CELL_COLOURS},
                             {"gather", WEFT_SCATTER_GATHERED, KERNEL_GATHER}};

const char *weft_scatter_name(weft_scatter scatter, bool is_simt) {
    for (int i = 1; i < WEFT_SCATTER_WAYS; ++i)
        if (ways[i].scatter == scatter)
            return ways[i].name;
    return is_simt ? ways[0].name : "chunk-colored";
}

weft_scatter weft_scatter_named(const char *name) {
    for (int i = 0; i < WEFT_SCATTER_WAYS; ++i)
        if (strcmp(ways[i].name, name) == 0)
            return ways[i].scatter;
    return strcmp(name, "chunk-colored") == 0 ? WEFT_SCATTER_IN_PLACE : WEFT_SCATTER_AUTO;
}

/* ---- legality ---- */

bool weft_scatter_gathers(const weft_compile_options *options, const weft_accumulation *a) {
    return options->scatter == WEFT_SCATTER_GATHERED && !a->matrix;
}

static bool wants_owners(const weft_compile_options *options) {
    return options->scatter == WEFT_SCATTER_PATCHES ||
           options->scatter == WEFT_SCATTER_VERTEX_PATCHES;
}

/* The kind of a kernel with exactly one accumulation and no stores or reductions, if the owners of nodes may
 * compute it, which permutes the entries of cells; else KERNEL_MAP, and kernel->not_permuted says why. Edge
 * patches mirror cells, the others permute evenly. */
static weft_status owners_kind(weft_arena *arena, const weft_graph *graph,
                               const weft_compile_options *options, weft_plan_kernel *kernel,
                               weft_kernel_kind *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = KERNEL_MAP;
    if (!wants_owners(options) || kernel->n_scatters != 1 || kernel->n_stores > 0 ||
        kernel->n_reductions > 0)
        goto done;
    const weft_accumulation *a = &graph->accumulations[kernel->scatters[0]];
    const weft_cell_sum sum = {a, kernel->implementation->order,
                               kernel->implementation->fusion->n_calls};
    if (!weft_patch_fits(graph, &sum))
        goto done;
    if (!a->matrix && options->scatter == WEFT_SCATTER_PATCHES &&
        graph->connectivities[a->connectivity].width == 4 &&
        weft_shape_count(&graph->values[a->target].shape) == 1) {
        TRY(weft_may_permute(arena, graph, &sum, PERMUTATIONS_ALL, &kernel->not_permuted, error));
        *out = KERNEL_EDGE_PATCH;
        if (!kernel->not_permuted)
            goto done;
    }
    TRY(weft_may_permute(arena, graph, &sum, PERMUTATIONS_EVEN, &kernel->not_permuted, error));
    *out = kernel->not_permuted ? KERNEL_MAP
           : a->matrix          ? KERNEL_MATRIX_PATCH
                                : KERNEL_VERTEX_PATCH;
done:
    return status;
}

static bool is_cell_patch(const weft_graph *graph, const weft_compile_options *options,
                          bool is_native, const weft_plan_kernel *kernel) {
    return weft_cell_patch_fits(graph, kernel) &&
           (options->scatter == WEFT_SCATTER_CELL_PATCHES ||
            (is_native && wants_owners(options) && weft_cell_patch_pays(graph, kernel)));
}

/* A kernel launched per cell colour: all its accumulations use one connectivity. */
static bool is_by_colours(const weft_graph *graph, const weft_compile_options *options,
                          const weft_plan_kernel *kernel) {
    const weft_accumulation *all = graph->accumulations;
    if (options->scatter != WEFT_SCATTER_CELL_COLOURS || kernel->n_scatters == 0 ||
        kernel->product >= 0 || kernel->n_reductions > 0 || kernel->implementation->is_dense ||
        kernel->implementation->threads_per_element > 0)
        return false;
    for (int i = 1; i < kernel->n_scatters; ++i)
        if (all[kernel->scatters[i]].connectivity != all[kernel->scatters[0]].connectivity)
            return false;
    return true;
}

weft_status weft_scatter_kind(weft_arena *arena, const weft_graph *graph, const weft_plan *plan,
                              const weft_compile_options *options, weft_plan_kernel *kernel,
                              weft_kernel_kind *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool is_native = plan->target.warp_threads == WEFT_NATIVE_WARP;
    *out = KERNEL_MAP;
    if (is_native) /* patches of nodes are written for such warps */
        TRY(owners_kind(arena, graph, options, kernel, out, error));
    if (*out == KERNEL_MAP && is_cell_patch(graph, options, is_native, kernel))
        *out = KERNEL_CELL_PATCH;
    if (*out == KERNEL_MAP && is_by_colours(graph, options, kernel))
        *out = KERNEL_CELL_COLOURS;
done:
    return status;
}

const char *weft_scatter_not_permuted(const weft_plan *plan) {
    for (int i = 0; i < plan->n_kernels; ++i)
        if (plan->kernels[i].not_permuted)
            return plan->kernels[i].not_permuted;
    return NULL;
}

bool weft_scatter_is_fragile(const weft_plan *plan) {
    for (int i = 0; i < plan->n_kernels; ++i)
        if (plan->kernels[i].kind == KERNEL_VERTEX_PATCH ||
            plan->kernels[i].kind == KERNEL_EDGE_PATCH)
            return true;
    return false;
}

bool weft_scatter_is_open(const weft_segment *s) {
    bool any = false;
    for (int i = 0; i < s->graph->n_accumulations; ++i) {
        if (s->graph->accumulations[i].matrix)
            return false;
        any = true;
    }
    return any && weft_target_is_simt(&s->limits) && s->options.plan == WEFT_PLAN_FUSED &&
           !s->options.runs_once && !s->options.forced_plan;
}

int weft_scatter_list(weft_scatter_way out[WEFT_SCATTER_WAYS]) {
    for (int i = 0; i < WEFT_SCATTER_WAYS; ++i)
        out[i] = (weft_scatter_way){.scatter = ways[i].scatter};
    return WEFT_SCATTER_WAYS;
}

/* ---- prices ---- */

/* Bytes that memory moves in the time that each way takes, fitted to 13 products of 3e7 contributions on an H200
 * (build/bench_scatter; docs/measurements.md): of a triangle to a tetrahedron of degree 3, numbers and vectors. */
static const double
    ATOMIC_APART = 37, /* of an addition besides reading and writing, if the 32 of a warp are in
                          32 sectors; fewer in proportion */
    SECTOR = 32,       /* bytes */
    GATHER_APART = 12, /* of a contribution that no neighbour reads, of cells of 4 nodes and more */
    CACHED = 0.25,     /* of what cells read through a connectivity, as neighbours read it too */
    VERTEX = 2.1,      /* of each of the nodes of a cell, for each of its entries, and */
    VERTEX_COMPONENT = 3.2, /* for each component */
    EDGE = 59,              /* of a cell */
    EDGE_EVALUATIONS = 1.5, /* of a cell, by the patches that it touches */
    CELL = 29,              /* of a cell, and */
    CELL_ENTRY = 9,         /* of an index, and */
    CELL_CONTRIBUTION = 11, /* of a contribution */
    CELL_SMALL = 2,         /* times as much in patches of fewer cells than the most */
    CELL_COMPUTES = 1.5,    /* times as long for a body that computes more than it moves: it has
                               fewer registers */
    COLOUR_ACCESS = 64,     /* of a contribution whose neighbours have other colours */
    COLOURS = 6,            /* launches for each node of a cell */
    NODES_OF_TRIANGLE = 0.5, NODES_OF_TETRAHEDRON = 0.17, /* nodes for each cell of a mesh */
    PATCHES_RESIDENT = 2; /* of nodes, on a multiprocessor, that keep it busy */

/* A kernel with additions: of each element. */
typedef struct addition {
    double contributions, width, components, real_bytes;
    double own;   /* bytes of lists over the elements, read and written */
    double loads; /* of what it reads through connectivities, with the indices */
    double entries;
} addition;

static bool reads(const weft_graph *graph, const weft_implementation *made, int connectivity) {
    for (int i = 0; i < graph->n_accumulations; ++i)
        if (graph->accumulations[i].connectivity == connectivity &&
            weft_fusion_contains(made->fusion, graph->accumulations[i].call))
            return true;
    for (int m = 0; m < made->n_onchip; ++m)
        if (made->onchip[m].connectivity == connectivity)
            return true;
    return false;
}

/* What a kernel adds through the connectivities of its accumulations, and all that it reads. */
static addition addition_of(const weft_graph *graph, const weft_compile_options *options,
                            const weft_implementation *made) {
    addition out = {.real_bytes = options->single ? sizeof(float) : sizeof(double)};
    for (int i = 0; i < graph->n_accumulations; ++i) {
        const weft_accumulation *a = &graph->accumulations[i];
        if (!weft_fusion_contains(made->fusion, a->call))
            continue;
        out.width = fmax(out.width, graph->connectivities[a->connectivity].width);
        out.components = fmax(out.components, weft_shape_count(&graph->values[a->target].shape));
        out.contributions += weft_shape_count(&graph->values[a->source].shape);
    }
    for (int m = 0; m < made->n_onchip; ++m) {
        const weft_operand *operand = &made->onchip[m];
        const double bytes = weft_shape_count(&operand->shape) * out.real_bytes;
        if (graph->values[operand->value].index_set < 0 ||
            (made->produced_here[m] && !made->live_out[m]))
            continue;
        *(operand->connectivity >= 0 ? &out.loads : &out.own) +=
            bytes * (operand->connectivity >= 0 ? CACHED : 1);
    }
    for (int i = 0; i < graph->n_connectivities; ++i)
        out.entries += reads(graph, made, i) ? graph->connectivities[i].width : 0;
    out.loads += 4 * out.entries;
    return out;
}

/* The part of a warp's additions to one node of its cells that are in sectors of their own: neighbours are near in an ordered
 * mesh of few nodes a cell. Floats gain nothing. */
static double apart(const addition *add) {
    const double far = add->width <= 3 ? 1 : add->width <= 4 ? 2 : 3;
    return fmin(1, add->components * sizeof(double) / SECTOR * far);
}

/* How many times as long a kernel takes that has fewer patches of nodes than are resident at once. */
static double starved(const weft_segment *s, const weft_plan_kernel *kernel, double n) {
    if (kernel->kind != KERNEL_VERTEX_PATCH && kernel->kind != KERNEL_EDGE_PATCH)
        return 1;
    const int width =
        s->graph->connectivities[s->graph->accumulations[kernel->scatters[0]].connectivity].width;
    const double nodes = n * (width <= 3 ? NODES_OF_TRIANGLE : NODES_OF_TETRAHEDRON);
    const double resident = PATCHES_RESIDENT * weft_cost_multiprocessors(&s->limits);
    return fmax(1, resident * weft_patch_nodes(&s->options) / fmax(nodes, 1));
}

/* Bytes of an element, with what the kernel reads. */
static double bytes_of(const weft_graph *graph, const weft_compile_options *options,
                       const weft_plan_kernel *kernel, const addition *add) {
    const double n = add->contributions, w = add->width;
    switch (kernel->kind) {
    case KERNEL_VERTEX_PATCH:
        return w *
               (add->own + w * (VERTEX + VERTEX_COMPONENT * add->components * add->real_bytes / 8));
    case KERNEL_EDGE_PATCH:
        return EDGE + EDGE_EVALUATIONS * add->own;
    case KERNEL_CELL_PATCH: {
        const weft_accumulation *a = &graph->accumulations[kernel->scatters[0]];
        const bool small = weft_cell_patch_cells(graph, a, options) < WEFT_CELL_PATCH_MOST;
        return add->own +
               (CELL + CELL_ENTRY * add->entries + CELL_CONTRIBUTION * n * add->real_bytes / 8) *
                   (small ? CELL_SMALL : 1);
    }
    case KERNEL_CELL_COLOURS:
        return add->own + add->loads / CACHED + COLOUR_ACCESS * n;
    default:
        return options->scatter == WEFT_SCATTER_GATHERED
                   ? add->own + add->loads +
                         n * (2 * add->real_bytes + 4 + (w > 3 ? GATHER_APART : 0))
                   : fmax(add->own + add->loads,
                          n * (2 * add->real_bytes + ATOMIC_APART * apart(add)));
    }
}

/* How often the body of an element is computed. */
static double evaluations(const weft_plan_kernel *kernel, const addition *add) {
    return kernel->kind == KERNEL_VERTEX_PATCH ? add->width
           : kernel->kind == KERNEL_EDGE_PATCH ? EDGE_EVALUATIONS
           : kernel->kind == KERNEL_CELL_PATCH ? CELL_COMPUTES
                                               : 1;
}

/* Seconds of a kernel and of those that finish it; additions in place whose times were measured keep these. */
static double kernel_seconds(const weft_segment *s, const weft_plan_kernel *kernel) {
    const weft_implementation *made = kernel->implementation;
    const weft_graph *graph = s->graph;
    const addition add = addition_of(graph, &s->options, made);
    const bool in_place = kernel->kind == KERNEL_MAP || kernel->kind == KERNEL_MULTI_THREAD ||
                          kernel->kind == KERNEL_REDUCTION;
    if (add.contributions == 0 || kernel->kind == KERNEL_GATHER || (in_place && made->measured))
        return made->cost;
    const double n = weft_elements_assumed(graph, &s->options, made->fusion->index_set);
    const bool has_second =
        kernel->kind == KERNEL_CELL_PATCH || s->options.scatter == WEFT_SCATTER_GATHERED;
    const double launches =
        kernel->kind == KERNEL_CELL_COLOURS ? COLOURS * add.width : 1 + has_second;
    return launches * weft_predict_launch(made->predictor) +
           starved(s, kernel, n) * n *
               fmax(bytes_of(graph, &s->options, kernel, &add) / weft_cost_bandwidth(&s->limits) +
                        weft_predict_spills(made),
                    evaluations(kernel, &add) * made->compute_seconds);
}

double weft_scatter_seconds(const weft_segment *s, const char **refused) {
    double sum = 0;
    bool taken =
        s->options.scatter == WEFT_SCATTER_IN_PLACE || s->options.scatter == WEFT_SCATTER_GATHERED;
    const char *why = weft_scatter_not_permuted(s->plan);
    int number = 0;
    while (ways[number].scatter != s->options.scatter)
        ++number;
    for (int i = 0; i < s->plan->n_kernels; ++i) {
        weft_plan_kernel *kernel = &s->plan->kernels[i];
        taken |= kernel->kind == ways[number].kind;
        if (kernel->implementation)
            sum += kernel->seconds = kernel_seconds(s, kernel);
    }
    if (refused)
        *refused = taken ? NULL : why ? why : "no kernel of this script has the form";
    return sum;
}
