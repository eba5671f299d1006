/* Writes reductions. On the host each range of whole tiles stores a partial result, and a kernel of
 * one thread joins them. On a GPU a thread block computes one or more tiles, each with its own
 * partial result, and a kernel of one block joins them, after one of several blocks if they are
 * many. The reduction trees depend on the size only.
 *
 * Decision  docs/decisions/0005-reductions-are-fixed-trees.md */
#include "core/base/exact.h"
#include "core/base/fault.h"
#include "fusion/base/target.h"
#include "fusion/codegen/private.h"
#include "fusion/plan/implementations.h"

static int result_count(const source_writer *w, const weft_call *call) {
    return weft_shape_count(&w->graph->values[call->result].shape);
}

/* The variable's name without the "v_". */
static const char *result_name(const source_writer *w, const weft_call *call) {
    return weft_source_variable(w, call->result, -1) + 2;
}

static const char *storage_name(const source_writer *w, const weft_call *call) {
    return weft_source_variable(w, weft_value_storage(w->graph, call->result), -1) + 2;
}

/* Is the reduction a sum over the elements of several ranks, whose bits do not depend on their parts? */
static bool is_exact(const source_writer *w, const weft_call *call) {
    return w->options->distributed && call->reduction->op == '+';
}

/* "exact" or the name of the operator. */
static const char *join_name(const source_writer *w, const weft_call *call) {
    return is_exact(w, call) ? "exact" : weft_source_join_name(w, call);
}

/* Numbers of a partial result, and vectors of one of a thread, per component. */
static int partial_numbers(const source_writer *w, const weft_call *call) {
    return is_exact(w, call) ? WEFT_EXACT_NUMBERS : 1;
}

/* Numbers of a thread, per component: where sums are exact, those of all its tiles. */
static const char *values_per_thread(const source_writer *w, const weft_plan_kernel *kernel,
                                     const weft_call *call) {
    if (kernel->kind == KERNEL_PRODUCT)
        return "ROWS_PER_THREAD";
    if (!is_exact(w, call) || kernel->coarsening <= 1)
        return "(TILE / THREADS)";
    const char *text = weft_arena_print(w->arena, "(%d * (TILE / THREADS))", kernel->coarsening);
    w->out->failed |= !text;
    return text ? text : "1";
}

void weft_source_reductions_start(const source_writer *w, const weft_plan_kernel *kernel) {
    const bool threaded = w->backend->is_threaded;
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        const char *name = result_name(w, call), *values = values_per_thread(w, kernel, call);
        const int count = result_count(w, call);
        if (threaded)
            weft_text_add(w->out, "    real a_%s[%s * %d];\n    start_%s(a_%s, %s * %d);\n", name,
                          values, count, weft_source_join_name(w, call), name, values, count);
        else
            weft_text_add(w->out, "    real a_%s[%d];\n    start_%s(a_%s, %d);\n", name,
                          count * partial_numbers(w, call), join_name(w, call), name, count);
    }
}

/* The number of elements of as many tiles as there are partial results, as C text. */
static const char *elements_joined(const source_writer *w, const weft_plan_kernel *kernel) {
    if (kernel->coarsening <= 1)
        return "n_elements";
    const char *text = weft_arena_print(w->arena, "(n_elements + %d) / %d", kernel->coarsening - 1,
                                        kernel->coarsening);
    w->out->failed |= !text;
    return text ? text : "n_elements";
}

/* Does every operator of a kernel take its elements in any order? */
static bool any_order(const source_writer *w, const weft_plan_kernel *kernel) {
    bool any = true;
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        any &= !call->combine || weft_function_is_commutative(call->combine->function);
    }
    return any;
}

/* A thread with several tiles joins to each of its numbers that of the same place in the next tile; where the order of
 * elements counts, those of a number are neighbours instead. */
void weft_source_tiles(const source_writer *w, const weft_plan_kernel *kernel) {
    const int tiles = kernel->coarsening;
    weft_text_add(w->out,
                  "    UNROLL for (int k = 0; k < %d * (TILE / THREADS); ++k) {\n"
                  "        const int64_t element = %s * (int64_t)(%d * TILE) + ",
                  tiles, weft_source_block(kernel), tiles);
    if (any_order(w, kernel) || weft_fault("tiles_interleaved"))
        weft_text_add(w->out, "k * THREADS + threadIdx.x;\n");
    else
        weft_text_add(
            w->out,
            "(k %% (TILE / THREADS) * THREADS + threadIdx.x) * %d + k / (TILE / THREADS);\n",
            tiles);
}

static void join_tiles(const source_writer *w, const weft_call *call) {
    const char *name = result_name(w, call), *join = weft_source_join_name(w, call);
    const int count = result_count(w, call);
    if (weft_fault("tiles_overwritten"))
        weft_text_add(w->out,
                      "        UNROLL for (int c = 0; c < %d; ++c)\n"
                      "            a_%s[k %% (TILE / THREADS) * %d + c] = v_%s[c];\n",
                      count, name, count, name);
    else if (call->combine)
        weft_text_add(w->out, "        both_%s(a_%s + k %% (TILE / THREADS) * %d, v_%s);\n", join,
                      name, count, name);
    else
        weft_text_add(w->out,
                      "        UNROLL for (int c = 0; c < %d; ++c) {\n"
                      "            real &sum = a_%s[k %% (TILE / THREADS) * %d + c];\n"
                      "            sum = both_%s(sum, v_%s[c]);\n"
                      "        }\n",
                      count, name, count, join, name);
}

void weft_source_reductions_each(const source_writer *w, const weft_plan_kernel *kernel) {
    const bool threaded = w->backend->is_threaded;
    const bool tests = threaded && w->options->distributed && kernel->n_reductions > 0;
    weft_text_add(w->out, "%s", tests ? "        if (owned[element]) {\n" : "");
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        const char *name = result_name(w, call);
        const int count = result_count(w, call);
        if (threaded && kernel->coarsening > 1 && !is_exact(w, call))
            join_tiles(w, call);
        else if (threaded)
            weft_text_add(w->out,
                          "        UNROLL for (int c = 0; c < %d; ++c)\n"
                          "            a_%s[k * %d + c] = v_%s[c];\n",
                          count, name, count, name);
        else
            weft_text_add(w->out, "        join_%s%s(a_%s, v_%s, %d, %s);\n", join_name(w, call),
                          w->options->distributed ? "_counted" : "", name, name, count,
                          w->options->distributed ? "counted" : "lanes");
    }
    weft_text_add(w->out, "%s", tests ? "        }\n" : "");
}

/* The components of a reduction by an operator of the library, at `place` in the tree. */
static void threaded_partial_of_operator(const source_writer *w, const weft_plan_kernel *kernel,
                                         const weft_call *call, const char *threads, int place) {
    const int count = result_count(w, call);
    weft_text_add(w->out,
                  "    if (threadIdx.x / LANES == %d %% (%s / LANES))\n"
                  "        UNROLL for (int j = 0; j < TREE / GROUPS; ++j) {\n"
                  "            real partial[%d];\n"
                  "            chunk_%s(partial, tree + %d * TREE + j * GROUPS, TREE);\n"
                  "            const int64_t number = chunk * (TREE / GROUPS) + j;\n"
                  "            UNROLL for (int c = 0; c < %d; ++c)\n"
                  "                if (threadIdx.x %% LANES == 0 && number * TILE < %s)\n"
                  "                    partials_%s[number * %d + c] = partial[c];\n"
                  "        }\n",
                  place, threads, count, weft_source_join_name(w, call), place, count,
                  elements_joined(w, kernel), result_name(w, call), count);
}

static int count_components(const source_writer *w, const weft_plan_kernel *kernel, bool exact) {
    int n = 0;
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        n += is_exact(w, call) == exact ? result_count(w, call) : 0;
    }
    return n;
}

static const char *warps_of(const weft_plan_kernel *kernel) {
    return kernel->kind == KERNEL_PRODUCT ? "(ROWS_THREADS / LANES)" : "(THREADS / LANES)";
}

/* Of exact sums: the place of the greatest number of a block, what its warps have at the slices from there, and the sum of
 * that, with a barrier behind each. */
static void threaded_exact(const source_writer *w, const weft_plan_kernel *kernel, int step) {
    const char *warps = warps_of(kernel);
    int place = 0;
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        const char *name = result_name(w, call);
        const int count = result_count(w, call);
        for (int c = 0; c < count && is_exact(w, call); ++c, ++place)
            if (step < 2)
                weft_text_add(w->out, "    exact_%s<%s, %s>(exact + %d, a_%s + %d, %d);\n",
                              step == 0 ? "places" : "slices", values_per_thread(w, kernel, call),
                              warps, place, name, c, count);
            else
                weft_text_add(w->out,
                              "    exact_partial(partials_%s, exact + %d, chunk * (TREE / GROUPS), "
                              "TREE / GROUPS, (%s + TILE - 1) / TILE, %d, %d);\n",
                              name, place, elements_joined(w, kernel), count, c);
    }
}

/* Each component of each reduction is joined to groups in its part of `tree`; after a barrier, one
 * warp per component joins the groups to the partial result of the tile. */
static void threaded_partials(const source_writer *w, const weft_plan_kernel *kernel) {
    const bool product = kernel->kind == KERNEL_PRODUCT;
    const char *threads = product ? "ROWS_THREADS" : "THREADS";
    const char *per_thread = product ? "ROWS_PER_THREAD" : "TILE / THREADS";
    int place = 0;
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        const int count = is_exact(w, call) ? 0 : result_count(w, call);
        if (call->combine) {
            weft_text_add(w->out, "    groups_%s<%s, %s>(tree + %d * TREE, a_%s, TREE);\n",
                          weft_source_join_name(w, call), threads, per_thread, place,
                          result_name(w, call));
            place += count;
            continue;
        }
        for (int c = 0; c < count; ++c)
            weft_text_add(w->out, "    groups_%s<%s, %s>(tree + %d * TREE, a_%s + %d, %d);\n",
                          weft_source_join_name(w, call), threads, per_thread, place++,
                          result_name(w, call), c, count);
    }
    if (count_components(w, kernel, true) > 0) {
        threaded_exact(w, kernel, 0);
        weft_text_add(w->out, "    __syncthreads();\n");
        threaded_exact(w, kernel, 1);
    }
    weft_text_add(w->out, "    __syncthreads();\n");
    threaded_exact(w, kernel, 2);
    place = 0;
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        const int count = is_exact(w, call) ? 0 : result_count(w, call);
        if (call->combine) {
            threaded_partial_of_operator(w, kernel, call, threads, place);
            place += count;
            continue;
        }
        for (int c = 0; c < count; ++c, ++place)
            weft_text_add(
                w->out,
                "    if (threadIdx.x / LANES == %d %% (%s / LANES))\n"
                "        UNROLL for (int j = 0; j < TREE / GROUPS; ++j) {\n"
                "            const scalar partial = chunk_%s(tree + %d * TREE + j * GROUPS);\n"
                "            const int64_t number = chunk * (TREE / GROUPS) + j;\n"
                "            if (threadIdx.x %% LANES == 0 && number * TILE < %s)\n"
                "                partials_%s[number * %d + %d] = partial;\n"
                "        }\n",
                place, threads, weft_source_join_name(w, call), place, elements_joined(w, kernel),
                result_name(w, call), count, c);
    }
}

void weft_source_reductions_declare(const source_writer *w, const weft_plan_kernel *kernel) {
    const bool product = kernel->kind == KERNEL_PRODUCT;
    if (kernel->n_reductions == 0)
        return;
    const int n = count_components(w, kernel, false), n_exact = count_components(w, kernel, true);
    weft_text_add(w->out, "#define TREE (%s / LANES)\n", product ? "ROWS_NODES" : "TILE");
    if (n > 0)
        weft_text_add(w->out, "    __shared__ scalar tree[%d * TREE];\n", n);
    if (n_exact > 0)
        weft_text_add(w->out, "    __shared__ exact_block<%s> exact[%d];\n", warps_of(kernel),
                      n_exact);
}

void weft_source_reduction_tile(const source_writer *w, const weft_plan_kernel *kernel) {
    if (kernel->n_reductions == 0)
        return;
    weft_text_add(w->out, "\n    const int64_t chunk = %s;\n", weft_source_block(kernel));
    threaded_partials(w, kernel);
}

/* "6 * ": the groups of all components are joined at once where an operator of the library needs
 * them together; else one component after another. */
static const char *tree_of_finish(const source_writer *w, const weft_graph *graph,
                                  const weft_plan_kernel *kernel) {
    int most = 1;
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &graph->calls[kernel->reductions[i]];
        const int count = weft_shape_count(&graph->values[call->result].shape);
        most = call->combine && count > most ? count : most;
    }
    const char *text = most > 1 ? weft_arena_print(w->arena, "%d * ", most) : "";
    w->out->failed |= !text;
    return text ? text : "";
}

/* What this rank has goes to the others, at most so many results at once, and theirs are joined to it. */
static void join_ranks(const source_writer *w, const weft_plan_kernel *kernel) {
    enum { AT_ONCE = 4 };
    for (int first = 0; first < kernel->n_reductions; first += AT_ONCE) {
        const int last =
            first + AT_ONCE < kernel->n_reductions ? first + AT_ONCE : kernel->n_reductions;
        for (int i = first; i < last; ++i) {
            const weft_call *call = &w->graph->calls[kernel->reductions[i]];
            const bool exact = is_exact(w, call);
            weft_text_add(
                w->out,
                "    words_send(team, epoch + %d, (const int64_t *)%s%s, %d, threadIdx.x, "
                "TILE);\n",
                i + 1, exact ? "partials_" : "p_",
                exact ? result_name(w, call) : storage_name(w, call),
                partial_numbers(w, call) * result_count(w, call));
        }
        for (int i = first; i < last; ++i) {
            const weft_call *call = &w->graph->calls[kernel->reductions[i]];
            weft_text_add(w->out, "    ranks_%s(p_%s, partials_%s, team, epoch + %d, %d);\n",
                          join_name(w, call), storage_name(w, call), result_name(w, call), i + 1,
                          result_count(w, call));
        }
    }
    weft_text_add(w->out, "    if (threadIdx.x == 0)\n        team[2] = epoch + %d;\n",
                  kernel->n_reductions);
}

static const char *room_name(const source_writer *w, const weft_call *call) {
    return is_exact(w, call) ? "room" : "tree";
}

static void threaded_finish(const source_writer *w, const weft_plan_kernel *kernel) {
    if (w->options->distributed)
        weft_text_add(w->out, "    __shared__ exact_number room[TILE / LANES];\n"
                              "    const int64_t epoch = team[2];\n");
    weft_text_add(w->out,
                  "    __shared__ scalar tree[%sGROUPS];\n    wait_for_kernels();\n"
                  "    if (%s > 1) {\n",
                  tree_of_finish(w, w->graph, kernel), kernel->is_member ? "blocks" : "gridDim.x");
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        weft_text_add(w->out, "        finish_part_%s(%s, partials_%s, %d, %s%s, %s);\n",
                      join_name(w, call), room_name(w, call), result_name(w, call),
                      result_count(w, call), elements_joined(w, kernel),
                      weft_fault("partial_dropped") ? " - TILE" : "", weft_source_block(kernel));
    }
    weft_text_add(w->out, "        return;\n    }\n");
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        if (is_exact(w, call))
            weft_text_add(w->out, "    finish_exact(room, partials_%s, %d, %s);\n",
                          result_name(w, call), result_count(w, call), elements_joined(w, kernel));
        else
            weft_text_add(w->out, "    finish_%s(p_%s, tree, partials_%s, %d, %s);\n",
                          weft_source_join_name(w, call), storage_name(w, call),
                          result_name(w, call), result_count(w, call), elements_joined(w, kernel));
    }
    if (w->options->distributed)
        join_ranks(w, kernel);
}

/* On the host, the ranges of a launch are whole tiles of blocks, each with a partial result. */
void weft_source_reductions_end(const source_writer *w, const weft_plan_kernel *kernel) {
    if (w->backend->is_threaded) {
        if (kernel->n_reductions > 0)
            weft_text_add(w->out, "#undef TREE\n");
        return;
    }
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        const char *name = result_name(w, call);
        weft_text_add(w->out, "    partial_%s(partials_%s + first_block / %d * %d, a_%s, %d);\n",
                      join_name(w, call), name, w->plan->reduction_blocks,
                      result_count(w, call) * partial_numbers(w, call), name,
                      result_count(w, call));
    }
}

/* On the host, n_elements is the number of partial results plus one. */
void weft_source_final_reduction(const source_writer *w, const weft_plan_kernel *kernel) {
    if (w->backend->is_threaded) {
        threaded_finish(w, kernel);
        return;
    }
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        weft_text_add(w->out, "    finish_%s(p_%s, partials_%s, %d, n_elements - 1);\n",
                      join_name(w, call), storage_name(w, call), result_name(w, call),
                      result_count(w, call));
    }
}

void weft_source_joined_arguments(weft_text *out, const weft_plan_kernel *kernel) {
    for (int i = 0; i < kernel->n_reductions; ++i)
        weft_text_add(out, ",\n    const scalar *partials_%d,\n    scalar *joined_%d", i, i);
}

void weft_source_joined(const source_writer *w, const weft_graph *graph,
                        const weft_plan_kernel *kernel) {
    weft_text_add(w->out, "%s    __shared__ scalar tree[%sGROUPS];\n", WEFT_PREDICATE,
                  tree_of_finish(w, graph, kernel));
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &graph->calls[kernel->reductions[i]];
        weft_text_add(w->out, "    finish_%s(joined_%d, tree, partials_%d, %d, %s);\n",
                      weft_source_join_name(w, call), i, i,
                      weft_shape_count(&graph->values[call->result].shape),
                      elements_joined(w, kernel));
    }
}

/* ---- on a GPU: the loads of all elements of a thread are issued first ---- */

bool weft_source_chunked(const source_writer *w, const weft_plan_kernel *kernel) {
    return w->backend->is_threaded && kernel->kind == KERNEL_REDUCTION;
}

/* Elements per thread. */
static int elements_of(const source_writer *w, const weft_plan_kernel *kernel) {
    if (weft_source_chunked(w, kernel))
        return w->plan->target.reduction_tile / w->plan->target.block_threads *
               (kernel->coarsening > 1 ? kernel->coarsening : 1);
    return kernel->kind == KERNEL_MAP ? kernel->implementation->serial_iterations : 1;
}

/* A compiler cannot move loads before stores, so the loads of all elements are written first. */
bool weft_source_prefetches(const source_writer *w, const weft_plan_kernel *kernel) {
    return w->backend->is_threaded && kernel->implementation &&
           weft_components_prefetched(w->graph, kernel->implementation, elements_of(w, kernel)) > 0;
}

void weft_source_write_loaded(const source_writer *w, const weft_plan_kernel *kernel) {
    for (int i = 0; i < kernel->n_loads; ++i) {
        const weft_operand *load = &kernel->loads[i];
        const char *name = weft_source_variable(w, load->value, load->connectivity);
        if (w->graph->values[load->value].index_set >= 0)
            weft_text_add(w->out, "        real(&%s)[%d] = prefetched_%s[k];\n", name,
                          weft_shape_count(&load->shape), name + 2);
    }
}

void weft_source_write_prefetch(const source_writer *w, const weft_plan_kernel *kernel,
                                void (*elements)(const source_writer *, const weft_plan_kernel *)) {
    for (int i = 0; i < kernel->n_loads; ++i) {
        const weft_operand *load = &kernel->loads[i];
        if (w->graph->values[load->value].index_set >= 0)
            weft_text_add(w->out, "    real prefetched_%s[%d][%d];\n",
                          weft_source_variable(w, load->value, load->connectivity) + 2,
                          elements_of(w, kernel), weft_shape_count(&load->shape));
    }
    elements(w, kernel);
    weft_source_write_loaded(w, kernel);
    for (int i = 0; i < kernel->n_loads; ++i)
        if (w->graph->values[kernel->loads[i].value].index_set >= 0)
            weft_source_load_statement(w, &kernel->loads[i]);
    weft_text_add(w->out, "    }\n%s",
                  w->plan->predicated && !kernel->is_member ? WEFT_PREDICATE_LATE : "");
}
