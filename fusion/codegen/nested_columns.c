/* Writes kernels over the columns of a matrix for GPUs with thread block clusters.
 *
 * A cluster holds a panel: all rows of a few columns, 128 bytes of each row. A thread has VECTOR
 * neighbouring columns of STEPS rows. The first pass brings them into registers, through places in
 * shared memory that keep the next loads, also of the next panel, on their way; it closes sums over
 * the rows. The second pass uses the registers. Of larger panels the steps beyond REGISTERS stay in
 * places of their own in shared memory, into which the second pass loads the next panel. Sums over
 * the columns stay in registers over all panels, each in one of the lanes that share the row.
 *
 * Decision  docs/decisions/0014-kernels-over-matrices-know-their-sizes.md */
#include "core/base/fault.h"
#include "fusion/codegen/nested.h"

enum {
    PANEL_THREADS = 512,
    PANEL_BYTES = 128, /* of a row: less reads memory in pieces that are too small */
    PANEL_VECTOR = 16, /* bytes per thread and row */
    PANEL_STEPS = 16,  /* rows per thread whose values stay in registers */
    PANEL_HELD = 16,   /* and in shared memory */
    PANEL_FLIGHT = 24, /* steps on the way, of all matrices */
    PANEL_FLIGHT_MIN = 12,
    PANEL_FLIGHT_HELD = 6, /* least with steps in shared memory, which are on the way too */
    PANEL_RESERVED = 20480 /* shared memory for sums and barriers, in bytes */
};

/* Is a value over the product computed or loaded in the first pass and used in the second? */
static bool is_held(const weft_nested_writer *n, int value) {
    const weft_graph *graph = n->w->graph;
    const int producer = graph->values[value].producer;
    const int member = producer >= 0 ? weft_nested_member(n, producer) : -1;
    if (!weft_index_set_is_product(graph, graph->values[value].index_set) ||
        (member >= 0 && n->phase[member] > 0))
        return false;
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[n->fusion->calls[i]];
        for (int k = 0;
             n->phase[i] == 1 && weft_nested_is_over_product(n, call) && k < call->n_operands; ++k)
            if (call->operands[k].value == value)
                return true;
    }
    return false;
}

static bool is_loaded(const weft_nested_writer *n, int value) {
    for (int i = 0; i < n->kernel->n_loads; ++i)
        if (n->kernel->loads[i].value == value)
            return true;
    return false;
}

/* What a panel takes of shared memory: matrices, vectors over the rows. */
typedef struct panel_size {
    int real_bytes, n_matrices, n_rows;
} panel_size;

/* Which kernels this file can write: two passes over scalars, sums over rows closed in the first. */
static bool is_supported(const weft_nested_writer *n, int *n_matrices, int *n_rows, int *n_held) {
    const weft_graph *graph = n->w->graph;
    *n_matrices = *n_rows = *n_held = 0;
    for (int value = 0; value < graph->n_values; ++value) {
        const weft_value *one = &graph->values[value];
        const bool loaded = is_loaded(n, value);
        *n_held += is_held(n, value);
        if (!loaded)
            continue;
        *n_matrices += weft_index_set_is_product(graph, one->index_set);
        *n_rows += one->index_set == graph->index_sets[n->kernel->index_set].first;
    }
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[n->fusion->calls[i]];
        if (weft_nested_is_over_product(n, call) && weft_nested_is_closed(n, call) &&
            n->phase[i] > 0)
            return false;
    }
    return *n_matrices > 0 && n->phases <= 2 && weft_nested_is_scalar(n);
}

/* The smallest cluster in which a panel fits, with at most this number of steps in shared memory. */
static bool find_cluster(const weft_segment *segment, const panel_size *size, int64_t n_first,
                         int held_most, weft_nested_shape *out) {
    const int step_bytes = PANEL_THREADS * PANEL_VECTOR, n_matrices = size->n_matrices;
    const int rows = PANEL_THREADS / (PANEL_BYTES / PANEL_VECTOR); /* per step */
    for (int cluster = 1; cluster <= segment->limits.cluster_blocks; cluster *= 2) {
        const int64_t steps = (n_first + (int64_t)rows * cluster - 1) / ((int64_t)rows * cluster);
        const int64_t held = steps > PANEL_STEPS ? steps - PANEL_STEPS : 0;
        const int64_t row_bytes = steps * rows * size->real_bytes * size->n_rows;
        int64_t slots = ((int64_t)segment->limits.onchip_bytes - PANEL_RESERVED - row_bytes -
                         held * step_bytes) /
                        (n_matrices * step_bytes);
        slots = slots < PANEL_FLIGHT / n_matrices ? slots : PANEL_FLIGHT / n_matrices;
        slots = held > 0 && slots > PANEL_STEPS ? PANEL_STEPS : slots;
        if (held > held_most ||
            slots < (held > 0 ? PANEL_FLIGHT_HELD : PANEL_FLIGHT_MIN) / n_matrices)
            continue;
        *out = (weft_nested_shape){
            .threads = PANEL_THREADS,
            .steps = (int)steps,
            .held = (int)held,
            .cluster = cluster,
            .slots = (int)slots,
            .part_bytes = step_bytes,
            .shared_bytes = (int)((slots * n_matrices + held) * step_bytes + row_bytes),
            .n_parts = weft_nested_clusters(segment->limits.multiprocessors, cluster),
        };
        return true;
    }
    return false;
}

bool weft_nested_shape_columns(const weft_segment *segment, const weft_plan_kernel *kernel,
                               int64_t n_first, int64_t n_second, weft_nested_shape *out) {
    panel_size size = {.real_bytes =
                           segment->options.single ? (int)sizeof(float) : (int)sizeof(double)};
    const source_writer w = {.graph = segment->graph, .plan = segment->plan};
    const int64_t n_panels = (n_second * size.real_bytes + PANEL_BYTES - 1) / PANEL_BYTES;
    weft_nested_writer n;
    int n_held = 0;
    weft_nested_begin(&n, &w, kernel);
    if (!is_supported(&n, &size.n_matrices, &size.n_rows, &n_held) || n_held > 1 ||
        n_second % (PANEL_VECTOR / size.real_bytes) != 0 ||
        n_first < 4 * PANEL_THREADS / (PANEL_BYTES / PANEL_VECTOR) ||
        n_second > INT32_MAX - PANEL_THREADS)
        return false;
    if (!find_cluster(segment, &size, n_first, 0, out) &&
        (n_held == 0 || size.n_matrices > 1 ||
         !find_cluster(segment, &size, n_first, PANEL_HELD, out)))
        return false;
    out->n_parts = out->n_parts < n_panels ? out->n_parts : n_panels;
    return out->n_parts > 0;
}

static int count_matrices(const weft_nested_writer *n) {
    int count = 0;
    for (int i = 0; i < n->kernel->n_loads; ++i)
        count += weft_index_set_is_product(
            n->w->graph, n->w->graph->values[n->kernel->loads[i].value].index_set);
    return count;
}

/* Declarations, vectors over the rows into shared memory, barriers. */
static void write_head(const weft_nested_writer *n, const weft_nested_shape *shape) {
    const weft_graph *graph = n->w->graph;
    weft_text *out = n->w->out;
    weft_nested_head(n, shape->threads, shape->cluster);
    weft_text_add(out,
                  "    enum { PANEL_THREADS = %d, STEPS = %d, HELD = %d, REGISTERS = STEPS - HELD, "
                  "CLUSTER = %d, SLOTS = %d, MATRICES = %d, N_CLOSED = %d };\n",
                  shape->threads, shape->steps, shape->held, shape->cluster, shape->slots,
                  count_matrices(n), weft_nested_count_row_sums(n));
    weft_text_add(
        out,
        "    enum { VECTOR = %d / sizeof(scalar), WIDTH = %d / sizeof(scalar), SPREAD "
        "= WIDTH / VECTOR, ROWS = PANEL_THREADS / SPREAD };\n"
        "    extern __shared__ __align__(128) scalar panel[];\n"
        "    __shared__ scalar sums[N_CLOSED + 1][2][PANEL_THREADS / LANES][WIDTH];\n"
        "    __shared__ scalar inbox[N_CLOSED + 1][2][CLUSTER][WIDTH];\n"
        "    __shared__ ring_barrier arrived[N_CLOSED + 1][2];\n"
        "    scalar *const rows = panel + (SLOTS * MATRICES + HELD) * PANEL_THREADS * VECTOR;\n"
        "    const int n_first = (int)sizes[0], n_second = (int)sizes[1];\n"
        "    const unsigned rank = CLUSTER > 1 ? cluster_rank() : 0;\n"
        "    const int part = blockIdx.x / CLUSTER, n_parts = gridDim.x / CLUSTER;\n"
        "    const int n_panels = (n_second + WIDTH - 1) / WIDTH;\n"
        "    const int first_row = (int)rank * (STEPS * ROWS)%s;\n"
        "    const int own_row = threadIdx.x / (WIDTH / VECTOR), own_column = threadIdx.x %% "
        "(WIDTH / VECTOR) * VECTOR;\n"
        "    (void)rows;\n",
        PANEL_VECTOR, PANEL_BYTES, weft_fault("panel_part_twice") ? " * 0" : "");
    for (int i = 0; i < n->kernel->n_loads; ++i) {
        const int value = n->kernel->loads[i].value;
        if (graph->values[value].index_set < 0)
            weft_source_load(n->w, &n->kernel->loads[i]);
        else if (graph->values[value].index_set == graph->index_sets[n->kernel->index_set].first)
            weft_text_add(out,
                          "    for (int k = threadIdx.x; k < STEPS * ROWS; k += PANEL_THREADS)\n"
                          "        rows[%d * STEPS * ROWS + k] = first_row + k < n_first ? "
                          "p_%s[first_row + k] : 0;\n",
                          weft_nested_load_number(n, value), weft_nested_storage(n, value));
    }
    weft_text_add(out, "    if (threadIdx.x == 0) {\n"
                       "        for (int k = 0; k < 2 * N_CLOSED; ++k)\n"
                       "            ring_init(&arrived[k / 2][k %% 2], 1);\n"
                       "        ring_fence();\n    }\n"
                       "    if (CLUSTER > 1)\n        cluster_wait();\n"
                       "    else\n        __syncthreads();\n");
}

/* The copy of one step of a panel into a slot, for all matrices. */
static void write_copy(const weft_nested_writer *n) {
    weft_text *out = n->w->out;
    weft_text_add(out,
                  "    auto copy = [&](int slot, int step, int panel_number) {\n"
                  "        const int row = panel_opaque(first_row + own_row) + step * ROWS;\n"
                  "        const int column = panel_number * WIDTH + own_column;\n"
                  "        const bool inside = row < n_first && column < n_second;\n"
                  "        const int64_t at = inside ? (int64_t)row * n_second + column : 0;\n");
    for (int i = 0; i < n->kernel->n_loads; ++i) {
        const int value = n->kernel->loads[i].value;
        if (weft_index_set_is_product(n->w->graph, n->w->graph->values[value].index_set))
            weft_text_add(out,
                          "        panel_copy(panel + ((slot * MATRICES + %d) * PANEL_THREADS + "
                          "threadIdx.x) * VECTOR, p_%s + at, inside);\n",
                          weft_nested_load_number(n, value), weft_nested_storage(n, value));
    }
    weft_text_add(out, "        panel_commit();\n    };\n"
                       "    for (int step = 0; step < SLOTS; ++step)\n"
                       "        copy(step, step %% REGISTERS, part + step / REGISTERS * n_parts);\n"
                       "    for (int step = 0; step < HELD; ++step)\n"
                       "        copy(SLOTS + step, REGISTERS + step, part);\n");
    for (int i = 0; i < n->kernel->n_reductions; ++i) {
        const weft_call *call = &n->w->graph->calls[n->kernel->reductions[i]];
        weft_text_add(out,
                      "    real o_%s[(STEPS + SPREAD - 1) / SPREAD];\n"
                      "    start_%s(o_%s, (STEPS + SPREAD - 1) / SPREAD);\n",
                      weft_nested_name(n, call->result), weft_source_join_name(n->w, call),
                      weft_nested_name(n, call->result));
    }
}

/* Vectors over the columns: a thread's own columns for the passes, one column for calls between. */
static void write_column_loads(const weft_nested_writer *n) {
    for (int i = 0; i < n->kernel->n_loads; ++i) {
        const int value = n->kernel->loads[i].value;
        const char *name = weft_nested_name(n, value), *p = weft_nested_storage(n, value);
        if (n->w->graph->values[value].index_set == n->along)
            weft_text_add(n->w->out,
                          "        real c_%s[VECTOR][1];\n"
                          "        UNROLL for (int q = 0; q < VECTOR; ++q)\n"
                          "            c_%s[q][0] = first + q < n_second ? p_%s[first + q] : 0;\n"
                          "        const real one_%s = column < n_second ? p_%s[column] : 0;\n"
                          "        (void)c_%s;\n        (void)one_%s;\n",
                          name, name, p, name, p, name, name);
    }
}

/* What a pass reads for one element: (i, first + q). place: C text, where the step's values are;
 * NULL: in registers. */
static void write_element_loads(const weft_nested_writer *n, const bool *needed,
                                const char *place) {
    const weft_graph *graph = n->w->graph;
    weft_text *out = n->w->out;
    for (int value = 0; value < graph->n_values; ++value) {
        const int set = graph->values[value].index_set;
        const char *name = weft_nested_name(n, value);
        if (set == UNIFORM || !weft_nested_loads(n, needed, value))
            continue;
        if (set == n->along)
            weft_text_add(out, "            real(&v_%s)[1] = c_%s[q];\n", name, name);
        else if (!weft_index_set_is_product(graph, set))
            weft_text_add(
                out,
                "            const real v_%s[1] = {rows[%d * STEPS * ROWS + own_row + k * "
                "ROWS]};\n",
                name, weft_nested_load_number(n, value));
        else if (!place)
            weft_text_add(out, "            real(&v_%s)[1] = h_%s[k][q];\n", name, name);
        else
            weft_text_add(out,
                          "            real v_%s[1] = {panel[((%s * MATRICES + %d) * "
                          "PANEL_THREADS + threadIdx.x) * VECTOR + q]};\n",
                          name, place, is_loaded(n, value) ? weft_nested_load_number(n, value) : 0);
    }
}

static void write_result(const weft_nested_writer *n, const weft_call *call) {
    weft_text *out = n->w->out;
    const char *name = weft_nested_name(n, call->result);
    if (!call->reduction) {
        if (weft_nested_is_stored(n, call->result))
            weft_text_add(out, "            s_%s[q] = v_%s[0];\n", name, name);
        return;
    }
    const char *join = weft_source_join_name(n->w, call);
    if (weft_nested_is_closed(n, call))
        weft_text_add(out, "            a_%s[q] = inside ? both_%s(a_%s[q], v_%s[0]) : a_%s[q];\n",
                      name, join, name, name, name);
    else
        weft_text_add(out,
                      "            t_%s[k - base] = inside ? both_%s(t_%s[k - base], v_%s[0]) : "
                      "t_%s[k - base];\n",
                      name, join, name, name, name);
}

/* Declarations before and stores after the VECTOR elements of a step. */
static void write_stores(const weft_nested_writer *n, int phase, bool declare) {
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &n->w->graph->calls[n->fusion->calls[i]];
        const char *name = weft_nested_name(n, call->result);
        if (n->phase[i] != phase || !weft_nested_is_over_product(n, call) || call->reduction ||
            !weft_nested_is_stored(n, call->result))
            continue;
        if (declare)
            weft_text_add(n->w->out, "            real s_%s[VECTOR];\n", name);
        else
            weft_text_add(
                n->w->out,
                "            if (inside)\n"
                "                panel_store(p_%s + (int64_t)i * n_second + first, s_%s);\n",
                weft_nested_storage(n, call->result), name);
    }
}

/* The open results to which a pass contributes, of as many steps as lanes share a row: cleared
 * before them, spread over the lanes after them. */
static void write_spread(const weft_nested_writer *n, int phase, bool before) {
    for (int i = 0; i < n->kernel->n_reductions; ++i) {
        const weft_call *call = &n->w->graph->calls[n->kernel->reductions[i]];
        const char *name = weft_nested_name(n, call->result),
                   *join = weft_source_join_name(n->w, call);
        if (n->phase[weft_nested_member(n, call->id)] != phase)
            continue;
        if (before)
            weft_text_add(n->w->out,
                          "        real t_%s[SPREAD];\n        start_%s(t_%s, SPREAD);\n", name,
                          join, name);
        else
            weft_text_add(n->w->out,
                          "        o_%s[base / SPREAD] = both_%s(o_%s[base / SPREAD], "
                          "panel_spread_%s<SPREAD>(t_%s));\n",
                          name, join, name, join, name);
    }
}

/* Keep what the second pass uses: in registers, or in the step's place. */
static void write_held(const weft_nested_writer *n, const bool *needed, bool in_registers) {
    const weft_graph *graph = n->w->graph;
    weft_text *out = n->w->out;
    for (int value = 0; value < graph->n_values; ++value) {
        const bool loaded = is_loaded(n, value);
        const char *name = weft_nested_name(n, value);
        if (!is_held(n, value) || (!loaded && graph->values[value].producer < 0))
            continue;
        if (in_registers && loaded && !weft_nested_loads(n, needed, value))
            weft_text_add(out,
                          "            h_%s[k][q][0] = panel[((slot * MATRICES + %d) * "
                          "PANEL_THREADS + threadIdx.x) * VECTOR + q];\n",
                          name, weft_nested_load_number(n, value));
        else if (in_registers)
            weft_text_add(out, "            h_%s[k][q][0] = v_%s[0];\n", name, name);
        else if (!loaded)
            weft_text_add(out,
                          "            panel[((SLOTS + k - REGISTERS) * PANEL_THREADS + "
                          "threadIdx.x) * VECTOR + q] = v_%s[0];\n",
                          name);
    }
}

/* The steps of a pass that are in registers (held: in shared memory) afterwards. */
static weft_status write_steps(const weft_nested_writer *n, int phase, bool held,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = n->w->graph;
    weft_text *out = n->w->out;
    bool needed[WEFT_CALLS_MAX] = {false};
    for (int i = 0; i < n->fusion->n_calls; ++i) /* results of earlier calls are held */
        needed[i] = n->phase[i] == phase &&
                    weft_nested_is_over_product(n, &graph->calls[n->fusion->calls[i]]);
    weft_text_add(out,
                  "        UNROLL for (int base = %s; base < %s; base += SPREAD) {\n"
                  "        (void)base;\n",
                  held ? "REGISTERS" : "0", held ? "STEPS" : "REGISTERS");
    write_spread(n, phase, true);
    weft_text_add(out,
                  "        UNROLL for (int k = base; k < base + SPREAD && k < %s; ++k) {\n"
                  "            const int i = panel_opaque(first_row + own_row) + k * ROWS;\n"
                  "            const bool inside = i < n_first && first < n_second;\n"
                  "            (void)inside;\n",
                  held ? "STEPS" : "REGISTERS");
    write_stores(n, phase, true);
    /* copies come in the order in which they were asked for: those of the held steps come between
     * those of two panels */
    if (phase == 0 && held)
        weft_text_add(out, "            panel_wait<REGISTERS>();\n");
    else if (phase == 0)
        weft_text_add(out, "            if (HELD > 0 && k < SLOTS)\n"
                           "                panel_wait<SLOTS - 1 + HELD>();\n"
                           "            else\n"
                           "                panel_wait<SLOTS - 1>();\n");
    weft_text_add(out, "            UNROLL for (int q = 0; q < VECTOR; ++q) {\n");
    write_element_loads(n, needed,
                        held ? weft_fault("place_shared") ? "SLOTS" : "(SLOTS + k - REGISTERS)"
                        : phase == 0 ? "slot"
                                     : NULL);
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const int number = n->kernel->implementation->order[i];
        if (!needed[weft_nested_member(n, number)])
            continue;
        TRY(weft_source_call(n->w, &graph->calls[number], n->kernel->implementation->variants[i],
                             error));
        write_result(n, &graph->calls[number]);
    }
    if (phase == 0)
        write_held(n, needed, !held);
    weft_text_add(out, "            }\n");
    write_stores(n, phase, false);
    if (phase == 0 && !held)
        weft_text_add(out,
                      "            copy(slot, (k + SLOTS) %% REGISTERS, number + (k + SLOTS) / "
                      "REGISTERS * n_parts);\n"
                      "            slot = slot + 1 < SLOTS ? slot + 1 : 0;\n");
    if (phase == 1 && held)
        weft_text_add(out, "            copy(SLOTS + k - REGISTERS, k, number + n_parts);\n");
    weft_text_add(out, "        }\n");
    write_spread(n, phase, false);
    weft_text_add(out, "        }\n");
done:
    return status;
}

static weft_status write_pass(const weft_nested_writer *n, const weft_nested_shape *shape,
                              int phase, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(write_steps(n, phase, false, error));
    if (shape->held > 0)
        TRY(write_steps(n, phase, true, error));
done:
    return status;
}

static void write_accumulators(const weft_nested_writer *n) {
    const weft_graph *graph = n->w->graph;
    for (int value = 0; value < graph->n_values; ++value)
        if (is_held(n, value))
            weft_text_add(n->w->out, "        real h_%s[REGISTERS][VECTOR][1];\n",
                          weft_nested_name(n, value));
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[n->fusion->calls[i]];
        if (weft_nested_is_closed(n, call))
            weft_text_add(n->w->out,
                          "        real a_%s[VECTOR];\n        start_%s(a_%s, VECTOR);\n",
                          weft_nested_name(n, call->result), weft_source_join_name(n->w, call),
                          weft_nested_name(n, call->result));
    }
}

static void store_column(const weft_nested_writer *n, int value) {
    if (weft_nested_is_stored(n, value))
        weft_text_add(n->w->out,
                      "            if (rank == 0 && threadIdx.x < WIDTH && column < n_second)\n"
                      "                p_%s[column] = v_%s[0];\n",
                      weft_nested_storage(n, value), weft_nested_name(n, value));
}

/* Does a call of the second pass use this value over the columns? */
static bool is_spread(const weft_nested_writer *n, int value) {
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &n->w->graph->calls[n->fusion->calls[i]];
        for (int k = 0;
             n->phase[i] == 1 && weft_nested_is_over_product(n, call) && k < call->n_operands; ++k)
            if (call->operands[k].value == value)
                return true;
    }
    return false;
}

static void declare_spread(const weft_nested_writer *n, int value) {
    if (is_spread(n, value))
        weft_text_add(n->w->out, "        real c_%s[VECTOR][1];\n", weft_nested_name(n, value));
}

static void spread(const weft_nested_writer *n, int value) {
    const char *name = weft_nested_name(n, value);
    if (is_spread(n, value))
        weft_text_add(
            n->w->out,
            "            UNROLL for (int q = 0; q < VECTOR; ++q)\n"
            "                c_%s[q][0] = __shfl_sync(0xffffffffu, v_%s[0], own_column + q);\n",
            name, name);
}

static void use_column(const weft_nested_writer *n, int value) {
    store_column(n, value);
    spread(n, value);
}

/* The sums that the first pass closes and the calls over the columns that use them, each thread for
 * one column, then what the second pass uses to the threads that have the columns. */
static weft_status write_closed(const weft_nested_writer *n, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = n->w->graph;
    int closed = 0;
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[n->fusion->calls[i]];
        if (weft_nested_is_closed(n, call) || !weft_nested_is_over_product(n, call))
            declare_spread(n, call->result);
    }
    weft_text_add(n->w->out, "        {\n");
    for (int i = 0; i < n->kernel->n_loads; ++i) {
        const int value = n->kernel->loads[i].value;
        if (graph->values[value].index_set == n->along)
            weft_text_add(
                n->w->out, "            const real v_%s[1] = {one_%s};\n            (void)v_%s;\n",
                weft_nested_name(n, value), weft_nested_name(n, value), weft_nested_name(n, value));
    }
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[n->fusion->calls[i]];
        const char *name = weft_nested_name(n, call->result);
        if (!weft_nested_is_closed(n, call))
            continue;
        weft_text_add(n->w->out,
                      "            real v_%s[1] = {panel_close_%s<PANEL_THREADS, CLUSTER, WIDTH, "
                      "VECTOR>(a_%s, sums[%d][side][0], inbox[%d][side][0], &arrived[%d][side], "
                      "rank, parity)};\n",
                      name, weft_source_join_name(n->w, call), name, closed, closed, closed);
        use_column(n, call->result);
        ++closed;
    }
    TRY(weft_nested_calls_after(n, 0, use_column, error));
    weft_text_add(n->w->out, "        }\n");
done:
    return status;
}

/* The sums over the columns of all panels. */
static void write_end(const weft_nested_writer *n) {
    weft_text *out = n->w->out;
    weft_text_add(out, "    }\n    panel_wait<0>();\n    let_next_start();\n");
    for (int i = 0; i < n->kernel->n_reductions; ++i) {
        const char *name = weft_nested_name(n, n->w->graph->calls[n->kernel->reductions[i]].result);
        weft_text_add(
            out,
            "    UNROLL for (int base = 0; base < STEPS; base += SPREAD) {\n"
            "        const int k = base + threadIdx.x %% SPREAD%s;\n"
            "        const int i = first_row + own_row + k * ROWS;\n"
            "        if (k < STEPS && i < n_first)\n"
            "            partials_%s[(int64_t)part * n_first + i] = o_%s[base / SPREAD];\n    }\n",
            weft_fault("lane_sum_elsewhere") ? " / 2" : "", name, name);
    }
    weft_text_add(out, "    if (CLUSTER > 1)\n        cluster_wait();\n}\n");
}

weft_status weft_nested_write_columns(const weft_nested_writer *n, const weft_nested_shape *shape,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    write_head(n, shape);
    write_copy(n);
    weft_text_add(
        n->w->out,
        "    int slot = 0, count = 0;\n"
        "    for (int number = part; number < n_panels; number += n_parts, ++count) {\n"
        "        const unsigned side = (unsigned)count & 1, parity = (unsigned)(count >> 1) & 1;\n"
        "        const int first = number * WIDTH + own_column;\n"
        "        const int column = number * WIDTH + threadIdx.x %% LANES %% WIDTH;\n"
        "        (void)side;\n        (void)parity;\n");
    write_column_loads(n);
    write_accumulators(n);
    TRY(write_pass(n, shape, 0, error));
    TRY(write_closed(n, error));
    if (n->phases > 1)
        TRY(write_pass(n, shape, 1, error));
    write_end(n);
done:
    return status;
}
