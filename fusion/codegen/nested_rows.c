/* Writes kernels over the rows of a matrix for GPUs with thread block clusters and bulk copies.
 *
 * Each cluster takes every n-th row. One warp per block copies its part of the rows into a ring in
 * shared memory; the others own columns, whose vectors and open results stay in registers over all
 * rows. A row is read from the ring as often as there are passes, and from memory once.
 *
 * Decision  docs/decisions/0014-kernels-over-matrices-know-their-sizes.md */
#include "core/base/fault.h"
#include "fusion/base/target.h"
#include "fusion/codegen/nested.h"

enum {
    ROW_THREADS = 512, /* that compute, per block */
    ROW_WORDS = 72,    /* registers for vectors and open results, of 128 per thread */
    ROW_SLOTS_MIN = 3, /* two rows on the way while one is used */
    ROW_SLOTS_MAX = 8,
    ROW_FLIGHT = 128 * 1024,  /* bytes of the ring beyond which more slots gain nothing */
    ROW_BYTES_MIN = 8 * 1024, /* of a row and block: less does not cover the barriers of a row */
    ROW_ALIGNMENT = 16,
    ROW_RESERVED = 4096 /* shared memory for sums and barriers */
};

/* Is a value needed for every column of the block? */
static bool is_in_registers(const weft_nested_writer *n, int value) {
    const int set = n->w->graph->values[value].index_set;
    return set == n->w->graph->index_sets[n->kernel->index_set].second ||
           (set == n->along && weft_nested_is_mirrored(n, value));
}

/* Is a value needed for the row? */
static bool is_of_row(const weft_nested_writer *n, int value) {
    const int set = n->w->graph->values[value].index_set;
    return set == n->along || (set == n->w->graph->index_sets[n->kernel->index_set].second &&
                               weft_nested_is_mirrored(n, value));
}

/* The columns of the block that belong to row `row`: [from, to), and where the row begins. */
static void write_row_columns(const weft_nested_writer *n, const char *row) {
    const bool lower = n->pairs.triangle == TRIANGLE_LOWER;
    if (!n->pairs.packed)
        weft_text_add(n->w->out, "        const int64_t row_start = %s * n_second;\n", row);
    else if (lower)
        weft_text_add(n->w->out, "        const int64_t row_start = %s * (%s + 1) / 2;\n", row,
                      row);
    else
        weft_text_add(n->w->out,
                      "        const int64_t row_start = %s * n_second - %s * (%s + 1) / 2;\n", row,
                      row, row);
    weft_text_add(n->w->out,
                  "        const int diagonal = (int)(%s - first_column);\n"
                  "        const int from = %s, to = %s;\n"
                  "        const int entries = to > from ? to - from : 0;\n"
                  "        (void)diagonal;\n        (void)entries;\n",
                  row,
                  n->pairs.triangle == TRIANGLE_UPPER
                      ? "diagonal < 0 ? 0 : diagonal < width ? diagonal : width"
                      : "0",
                  lower ? "diagonal < 0 ? 0 : diagonal < width ? diagonal + 1 : width" : "width");
}

/* Matrices read; vectors over the columns plus open results, in registers per column. */
static bool count_columns(const weft_nested_writer *n, int *n_matrices, int *n_vectors) {
    const weft_graph *graph = n->w->graph;
    *n_matrices = *n_vectors = 0;
    for (int i = 0; i < n->kernel->n_loads; ++i) {
        const weft_value *value = &graph->values[n->kernel->loads[i].value];
        *n_matrices += weft_index_set_is_product(graph, value->index_set);
        *n_vectors += is_in_registers(n, value->id);
    }
    *n_vectors += n->kernel->n_reductions;
    return *n_matrices > 0 && weft_nested_is_scalar(n);
}

bool weft_nested_shape_rows(const weft_segment *segment, const weft_plan_kernel *kernel,
                            int64_t n_first, int64_t n_second, weft_nested_shape *out) {
    const int real_bytes = segment->options.single ? (int)sizeof(float) : (int)sizeof(double);
    const source_writer w = {.graph = segment->graph, .plan = segment->plan};
    const int64_t shared = (int64_t)segment->limits.onchip_bytes - ROW_RESERVED;
    weft_nested_writer n;
    int n_matrices = 0, n_vectors = 0;
    weft_nested_begin(&n, &w, kernel);
    if (segment->limits.cluster_blocks == 0 || !n.rows ||
        !count_columns(&n, &n_matrices, &n_vectors))
        return false;
    for (int cluster = 1; cluster <= 8 && cluster <= segment->limits.cluster_blocks; cluster *= 2) {
        const int64_t width = ((n_second + cluster - 1) / cluster + 3) / 4 * 4;
        const int64_t last = n_second - (cluster - 1) * width; /* of the last block */
        const int64_t columns = (width + ROW_THREADS - 1) / ROW_THREADS;
        const int64_t part =
            (width * real_bytes + 2 * ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
        int64_t slots = ROW_FLIGHT / (part * n_matrices);
        slots = slots < ROW_SLOTS_MIN ? ROW_SLOTS_MIN : slots;
        slots = slots > ROW_SLOTS_MAX ? ROW_SLOTS_MAX : slots;
        if (part * n_matrices < ROW_BYTES_MIN || last <= 0)
            return false;
        if (slots * part * n_matrices > shared || columns * n_vectors * real_bytes / 4 > ROW_WORDS)
            continue;
        *out = (weft_nested_shape){
            .threads = ROW_THREADS,
            .steps = (int)columns,
            .full = (int)((cluster > 1 ? last : width) / ROW_THREADS),
            .cluster = cluster,
            .slots = (int)slots,
            .part_bytes = (int)part,
            .shared_bytes = (int)(slots * part * n_matrices),
            .n_parts = weft_nested_clusters(segment->limits.multiprocessors, cluster),
        };
        out->n_parts = out->n_parts < n_first ? out->n_parts : n_first;
        return out->n_parts > 0;
    }
    return false;
}

static void write_head(const weft_nested_writer *n, const weft_nested_shape *shape) {
    weft_text *out = n->w->out;
    const int n_closed = weft_nested_count_row_sums(n);
    weft_nested_head(n, shape->threads + n->w->plan->target.warp_threads, shape->cluster);
    weft_text_add(out,
                  "    enum { ROW_THREADS = %d, ROW_COLUMNS = %d, ROW_FULL = %d, ROW_CLUSTER = %d, "
                  "ROW_SLOTS = %d, PART_BYTES = %d, SLOT_BYTES = %d, N_CLOSED = %d };\n",
                  shape->threads, shape->steps, shape->full, shape->cluster, shape->slots,
                  shape->part_bytes, shape->shared_bytes / shape->slots, n_closed);
    weft_text_add(
        out,
        "    extern __shared__ __align__(128) unsigned char ring[];\n"
        "    __shared__ scalar sums[N_CLOSED + 1][4][ROW_THREADS / LANES];\n"
        "    __shared__ scalar inbox[N_CLOSED + 1][4][ROW_CLUSTER];\n"
        "    __shared__ ring_barrier full[ROW_SLOTS], empty[ROW_SLOTS];\n"
        "    __shared__ ring_barrier arrived[N_CLOSED + 1][4];\n"
        "    const int64_t n_first = sizes[0], n_second = sizes[1];\n"
        "    const int rank = ROW_CLUSTER > 1 ? (int)cluster_rank()%s : 0;\n"
        "    const int64_t part = blockIdx.x / ROW_CLUSTER, n_parts = gridDim.x / ROW_CLUSTER;\n"
        "    const int64_t own = ((n_second + ROW_CLUSTER - 1) / ROW_CLUSTER + 3) / 4 * 4;\n"
        "    const int64_t first_column = rank * own;\n"
        "    const int width = (int)(own < n_second - first_column ? own : n_second - "
        "first_column);\n"
        "    if (threadIdx.x == 0) {\n"
        "        for (int k = 0; k < ROW_SLOTS; ++k) {\n"
        "            ring_init(full + k, 1);\n"
        "            ring_init(empty + k, ROW_THREADS / LANES);\n"
        "        }\n"
        "        for (int k = 0; k < 4 * N_CLOSED; ++k)\n"
        "            ring_init(&arrived[k / 4][k %% 4], 1);\n"
        "        ring_fence();\n"
        "    }\n"
        "    if (ROW_CLUSTER > 1)\n        cluster_wait();\n"
        "    else\n        __syncthreads();\n",
        weft_fault("rank_lost") ? " * 0" : "");
}

/* The warp that copies rows into the ring. */
static void write_producer(const weft_nested_writer *n) {
    const weft_graph *graph = n->w->graph;
    weft_text *out = n->w->out;
    weft_text_add(
        out, "    if (threadIdx.x >= ROW_THREADS) {\n"
             "        if (threadIdx.x == ROW_THREADS)\n"
             "            for (int64_t i = 0, row = part; row < n_first; ++i, row += n_parts) {\n"
             "                const int slot = (int)(i %% ROW_SLOTS);\n"
             "                unsigned bytes = 0;\n"
             "                if (i >= ROW_SLOTS)\n"
             "                    ring_wait(empty + slot, (unsigned)(i / ROW_SLOTS - 1) & 1);\n");
    write_row_columns(n, "row");
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < n->kernel->n_loads; ++i) {
            const int value = n->kernel->loads[i].value;
            if (!weft_index_set_is_product(graph, graph->values[value].index_set))
                continue;
            if (pass == 0)
                weft_text_add(out,
                              "                bytes += entries ? ring_bytes(p_%s + row_start + "
                              "first_column + from, entries) : 0;\n",
                              weft_nested_storage(n, value));
            else
                weft_text_add(out,
                              "                if (entries)\n"
                              "                    ring_copy(ring + slot * SLOT_BYTES + %d * "
                              "PART_BYTES, p_%s + "
                              "row_start + first_column + from, entries, full + slot);\n",
                              weft_nested_load_number(n, value), weft_nested_storage(n, value));
        }
        weft_text_add(out, pass == 0 ? "                ring_expect(full + slot, bytes);\n" : "");
    }
    weft_text_add(out, "            }\n    } else {\n");
}

/* Before the rows: vectors over the columns into registers, open results cleared, and values of the first 64 rows: each lane
 * of a warp has those of two, and asks for that of another when 32 rows are done, as a row may take less time than a load. */
static void write_registers(const weft_nested_writer *n) {
    const weft_graph *graph = n->w->graph;
    weft_text *out = n->w->out;
    weft_text_add(out, "        const int64_t lane = threadIdx.x %% LANES;\n        (void)lane;\n");
    for (int i = 0; i < n->kernel->n_loads; ++i) {
        const int value = n->kernel->loads[i].value, set = graph->values[value].index_set;
        const char *name = weft_nested_name(n, value), *p = weft_nested_storage(n, value);
        if (set < 0)
            weft_source_load(n->w, &n->kernel->loads[i]);
        if (is_in_registers(n, value))
            weft_text_add(out,
                          "        real c_%s[ROW_COLUMNS][1];\n"
                          "        UNROLL for (int k = 0; k < ROW_COLUMNS; ++k) {\n"
                          "            const int at = k * ROW_THREADS + threadIdx.x;\n"
                          "            c_%s[k][0] = at < width ? p_%s[first_column + at] : 0;\n"
                          "        }\n",
                          name, name, p);
        if (is_of_row(n, value))
            weft_text_add(
                out,
                "        real ahead_%s = part + lane * n_parts < n_first ? p_%s[part + lane "
                "* n_parts] : 0;\n"
                "        real after_%s = part + (LANES + lane) * n_parts < n_first ? "
                "p_%s[part + (LANES + lane) * n_parts] : 0;\n",
                name, p, name, p);
    }
    for (int i = 0; i < n->kernel->n_reductions; ++i) {
        const weft_call *call = &graph->calls[n->kernel->reductions[i]];
        const char *name = weft_nested_name(n, call->result);
        weft_text_add(out,
                      "        real o_%s[ROW_COLUMNS];\n        start_%s(o_%s, ROW_COLUMNS);\n",
                      name, weft_source_join_name(n->w, call), name);
    }
}

static void write_row_start(const weft_nested_writer *n) {
    const weft_graph *graph = n->w->graph;
    weft_text *out = n->w->out;
    weft_text_add(out, "        for (int64_t i = part; i < n_first; ++count, i += n_parts) {\n"
                       "        const int slot = (int)(count %% ROW_SLOTS);\n"
                       "        const unsigned side = (unsigned)count & 3, parity = "
                       "(unsigned)(count >> 2) & 1;\n        (void)side;\n        (void)parity;\n");
    write_row_columns(n, "i");
    for (int k = 0; k < n->kernel->n_loads; ++k) {
        const int value = n->kernel->loads[k].value, set = graph->values[value].index_set;
        const char *name = weft_nested_name(n, value), *p = weft_nested_storage(n, value);
        if (is_of_row(n, value))
            weft_text_add(
                out,
                "        if (count > 0 && count %% LANES == 0) {\n"
                "            ahead_%s = after_%s;\n"
                "            after_%s = i + (LANES + lane) * n_parts < n_first ? p_%s[i + "
                "(LANES + lane) * n_parts] : 0;\n"
                "        }\n"
                "        real %s_%s[1] = {__shfl_sync(0xffffffffu, ahead_%s, (int)(count %% "
                "LANES))};\n",
                name, name, name, p, set == n->along ? "v" : "r", name, name);
        else if (weft_index_set_is_product(graph, set))
            weft_text_add(out,
                          "        const scalar *const ring_%s = (const scalar *)(ring + slot * "
                          "SLOT_BYTES + %d * PART_BYTES) + ((uint64_t)(p_%s + row_start + "
                          "first_column + from) & 15) / sizeof(scalar) - from;\n",
                          name, weft_nested_load_number(n, value), p);
    }
    weft_text_add(out, "        ring_wait(full + slot, (unsigned)(count / ROW_SLOTS) & 1);\n");
}

static void write_join(const weft_nested_writer *n, const weft_call *call, bool to_row,
                       const char *condition) {
    const char *name = weft_nested_name(n, call->result), *join = weft_source_join_name(n->w, call);
    const char *place = to_row ? "a" : "o", *at = to_row ? "0" : "k";
    weft_text_add(n->w->out, "            %s%s_%s[%s] = both_%s(%s_%s[%s], v_%s[0]);\n", condition,
                  place, name, at, join, place, name, at, name);
}

static void write_result(const weft_nested_writer *n, const weft_call *call) {
    weft_text *out = n->w->out;
    const char *name = weft_nested_name(n, call->result);
    if (!call->reduction) {
        if (weft_nested_is_stored(n, call->result))
            weft_text_add(out, "            nested_store(p_%s, v_%s, 1, 0, row_start + j, 0, 1);\n",
                          weft_nested_storage(n, call->result), name);
        return;
    }
    write_join(n, call, call->reduction->over == REDUCE_SECOND, "");
}

/* The entry once more, as that of (j, i): see nested.c. */
static weft_status write_mirrored(const weft_nested_writer *n, const weft_call *call, int variant,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = n->w->graph;
    if (!weft_call_is_mirrored(call) || weft_fault("mirror_lost"))
        goto done;
    weft_text_add(n->w->out, "            {\n");
    for (int k = 0; k < call->n_operands; ++k) {
        const int value = call->operands[k].value, set = graph->values[value].index_set;
        const char *name = weft_nested_name(n, value);
        if (set == n->along)
            weft_text_add(n->w->out, "            real(&v_%s)[1] = c_%s[k];\n", name, name);
        else if (is_in_registers(n, value))
            weft_text_add(n->w->out, "            real(&v_%s)[1] = r_%s;\n", name, name);
    }
    TRY(weft_source_call(n->w, call, variant, error));
    write_join(n, call, call->reduction->over == REDUCE_FIRST,
               weft_fault("diagonal_twice") ? "" : "if (at != diagonal)\n                ");
    weft_text_add(n->w->out, "            }\n");
done:
    return status;
}

/* One element of the row: what a pass loads. */
static void write_element_loads(const weft_nested_writer *n, const bool *needed) {
    const weft_graph *graph = n->w->graph;
    weft_text *out = n->w->out;
    for (int value = 0; value < graph->n_values; ++value) {
        const int set = graph->values[value].index_set;
        const char *name = weft_nested_name(n, value);
        const int producer = graph->values[value].producer;
        if (set == UNIFORM || set == n->along || !weft_nested_loads(n, needed, value))
            continue;
        if (!weft_index_set_is_product(graph, set))
            weft_text_add(out, "            real(&v_%s)[1] = c_%s[k];\n", name, name);
        else if (producer >= 0 && weft_nested_member(n, producer) >= 0)
            weft_text_add(out,
                          "            real v_%s[1];\n"
                          "            v_%s[0] = p_%s[row_start + j];\n",
                          name, name, weft_nested_storage(n, value));
        else
            weft_text_add(out, "            real v_%s[1] = {ring_%s[at]};\n", name, name);
    }
}

static weft_status write_pass(const weft_nested_writer *n, int phase, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = n->w->graph;
    bool needed[WEFT_CALLS_MAX] = {false};
    weft_nested_needed(n, phase, needed);
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[n->fusion->calls[i]];
        if (n->phase[i] == phase && weft_nested_has_row_sum(n, call))
            weft_text_add(n->w->out, "        real a_%s[1];\n        start_%s(a_%s, 1);\n",
                          weft_nested_name(n, call->result), weft_source_join_name(n->w, call),
                          weft_nested_name(n, call->result));
    }
    weft_text_add(n->w->out,
                  "        UNROLL for (int k = 0; k < ROW_COLUMNS; ++k) {\n"
                  "            const int at = k * ROW_THREADS + threadIdx.x;\n"
                  "            if (%s)\n"
                  "                continue;\n"
                  "            const int64_t j = first_column + at;\n"
                  "            (void)j;\n",
                  n->pairs.triangle == TRIANGLE_LOWER ? "at >= to"
                  : n->pairs.triangle == TRIANGLE_UPPER
                      ? "at < from || (k >= ROW_FULL && at >= width)"
                      : "k >= ROW_FULL && at >= width");
    write_element_loads(n, needed);
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const int number = n->kernel->implementation->order[i];
        const int m = weft_nested_member(n, number);
        if (!needed[m])
            continue;
        TRY(weft_source_call(n->w, &graph->calls[number], n->kernel->implementation->variants[i],
                             error));
        if (n->phase[m] != phase)
            continue;
        write_result(n, &graph->calls[number]);
        TRY(write_mirrored(n, &graph->calls[number], n->kernel->implementation->variants[i],
                           error));
    }
    weft_text_add(n->w->out, "        }\n");
    if (phase == n->phases - 1)
        weft_text_add(n->w->out, "        __syncwarp();\n"
                                 "        if (threadIdx.x %% LANES == 0)\n"
                                 "            ring_arrive(empty + slot);\n");
done:
    return status;
}

static void store_row(const weft_nested_writer *n, int value) {
    if (weft_nested_is_stored(n, value))
        weft_text_add(
            n->w->out,
            "        if (threadIdx.x == 0 && rank == 0)\n            p_%s[i] = v_%s[0];\n",
            weft_nested_storage(n, value), weft_nested_name(n, value));
}

/* What a pass closes: warps to sums, blocks to the cluster. closed: number of the first result. */
static int write_sends(const weft_nested_writer *n, int phase, int closed) {
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &n->w->graph->calls[n->fusion->calls[i]];
        if (n->phase[i] != phase || !weft_nested_has_row_sum(n, call))
            continue;
        weft_text_add(n->w->out,
                      "        rows_send_%s<ROW_THREADS, ROW_CLUSTER>(a_%s[0], sums[%d][side], "
                      "inbox[%d][side], &arrived[%d][side], rank);\n",
                      weft_source_join_name(n->w, call), weft_nested_name(n, call->result), closed,
                      closed, closed);
        ++closed;
    }
    return closed;
}

/* The closed results in all threads, and the calls over the rows that use them. */
static weft_status write_receives(const weft_nested_writer *n, int phase, int closed,
                                  weft_error *error) {
    const weft_graph *graph = n->w->graph;
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[n->fusion->calls[i]];
        if (n->phase[i] != phase || !weft_nested_has_row_sum(n, call))
            continue;
        weft_text_add(n->w->out,
                      "        real v_%s[1] = {rows_receive_%s<ROW_THREADS, ROW_CLUSTER>("
                      "sums[%d][side], inbox[%d][side], &arrived[%d][side], parity)};\n",
                      weft_nested_name(n, call->result), weft_source_join_name(n->w, call), closed,
                      closed, closed);
        if (weft_call_is_mirrored(call)) /* behind the parts: the sums of the rows */
            weft_text_add(n->w->out,
                          "        if (threadIdx.x == 0 && rank == 0)\n"
                          "            partials_%s[n_parts * n_second + i] = v_%s[0];\n",
                          weft_nested_name(n, call->result), weft_nested_name(n, call->result));
        else
            store_row(n, call->result);
        ++closed;
    }
    return weft_nested_calls_after(n, phase, store_row, error);
}

/* Do calls after the last pass use results of earlier passes, which only the current row has? */
static bool uses_earlier(const weft_nested_writer *n) {
    const weft_graph *graph = n->w->graph;
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[n->fusion->calls[i]];
        for (int k = 0; n->phase[i] == n->phases && k < call->n_operands; ++k) {
            const int producer = graph->values[call->operands[k].value].producer;
            const int m = producer >= 0 ? weft_nested_member(n, producer) : -1;
            if (m >= 0 && n->phase[m] < n->phases - 1)
                return true;
        }
    }
    return false;
}

/* The results that the last pass of a row closes are received one row later, so that the exchange
 * within the cluster overlaps with the next row. condition: C text, is there an earlier row? */
static weft_status write_late(const weft_nested_writer *n, int closed, const char *condition,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text_add(
        n->w->out,
        "        if (%s) {\n"
        "        const int64_t late = count - 1, i = part + late * %s;\n"
        "        const unsigned side = (unsigned)late & 3, parity = (unsigned)(late >> 2) "
        "& 1;\n        (void)side;\n        (void)parity;\n        (void)i;\n",
        condition, weft_fault("late_row_elsewhere") ? "1" : "n_parts");
    for (int k = 0; k < n->kernel->n_loads; ++k) {
        const int value = n->kernel->loads[k].value;
        if (n->w->graph->values[value].index_set == n->along)
            weft_text_add(n->w->out, "        real v_%s[1] = {p_%s[i]};\n        (void)v_%s;\n",
                          weft_nested_name(n, value), weft_nested_storage(n, value),
                          weft_nested_name(n, value));
    }
    TRY(write_receives(n, n->phases - 1, closed, error));
    weft_text_add(n->w->out, "        }\n");
done:
    return status;
}

static void write_end(const weft_nested_writer *n) {
    weft_text *out = n->w->out;
    weft_text_add(out, "        let_next_start();\n");
    for (int i = 0; i < n->kernel->n_reductions; ++i) {
        const char *name = weft_nested_name(n, n->w->graph->calls[n->kernel->reductions[i]].result);
        weft_text_add(
            out,
            "        UNROLL for (int k = 0; k < ROW_COLUMNS; ++k) {\n"
            "            const int at = k * ROW_THREADS + threadIdx.x;\n"
            "            if (at < width)\n"
            "                partials_%s[part * n_second + first_column + at] = o_%s[k];\n"
            "        }\n",
            name, name);
    }
    weft_text_add(out, "    }\n    if (ROW_CLUSTER > 1)\n        cluster_wait();\n}\n");
}

weft_status weft_nested_write_rows(const weft_nested_writer *n, const weft_nested_shape *shape,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    int closed = 0;
    const bool late = shape->cluster > 1 && !uses_earlier(n);
    write_head(n, shape);
    write_producer(n);
    write_registers(n);
    weft_text_add(n->w->out, "        int64_t count = 0;\n");
    write_row_start(n);
    for (int phase = 0; phase < n->phases; ++phase) {
        TRY(write_pass(n, phase, error));
        const int first = closed;
        closed = write_sends(n, phase, first);
        TRY(phase == n->phases - 1 && late ? write_late(n, first, "count > 0", error)
                                           : write_receives(n, phase, first, error));
        closed = phase == n->phases - 1 ? first : closed;
    }
    weft_text_add(n->w->out, "        }\n");
    if (late)
        TRY(write_late(n, closed, "count > 0", error));
    write_end(n);
done:
    return status;
}
