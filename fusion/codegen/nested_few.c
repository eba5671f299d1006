/* Writes kernels over a matrix of few rows for GPUs, such as the basis of a Krylov space: row by row in memory, and
 * each thread has whole columns.
 *
 * A thread walks over the rows of its column, CHUNK of them at once while the next ones are on their way, once for each phase; later phases find the column in
 * the cache. What a phase closes is the thread's own. Sums over the columns stay in registers, one for each
 * row, over all columns of the thread; of more than PANEL rows one panel after another, each with a walk of its own over the
 * matrix. Of an index set `up to j` the rows after number j are left out.
 *
 * Decision  docs/decisions/0014-kernels-over-matrices-know-their-sizes.md */
#include "core/base/fault.h"
#include "fusion/base/target.h"
#include "fusion/codegen/nested.h"

enum {
    FEW_ROWS = 512, /* at most */
    FEW_PANEL = 64, /* of which sums are in registers at once */
    FEW_SUMS = 40,  /* up to which a block has FEW_THREADS with 128 registers each */
    FEW_THREADS = 512,
    FEW_CHUNK = 8,      /* loads of a thread on their way */
    WIDE_THREADS = 256, /* with more sums */
    WIDE_CHUNK = 16
};

static bool is_over(const weft_nested_writer *n, int value, int index_set) {
    return n->w->graph->values[value].index_set == index_set;
}

static int first_of(const weft_nested_writer *n) {
    return n->w->graph->index_sets[n->kernel->index_set].first;
}

/* Does a phase add to sums over the columns? */
static bool has_sums(const weft_nested_writer *n, int phase) {
    for (int i = 0; i < n->kernel->n_reductions; ++i)
        if (n->phase[weft_nested_member(n, n->kernel->reductions[i])] == phase)
            return true;
    return false;
}

static bool closes(const weft_nested_writer *n, int member, int phase) {
    const weft_call *call = &n->w->graph->calls[n->fusion->calls[member]];
    return n->phase[member] == phase && weft_nested_is_over_product(n, call) &&
           weft_nested_is_closed(n, call);
}

/* Can phases be repeated for several panels? What overwrites its own operand cannot, nor can sums over the rows of one panel
 * be closed. */
static bool has_panels(const weft_nested_writer *n) {
    for (int i = 0; i < n->fusion->n_calls; ++i)
        if (closes(n, i, n->phase[i]) && has_sums(n, n->phase[i]))
            return false;
    for (int i = 0; i < n->kernel->n_stores && n->phases > 1; ++i)
        if (n->w->graph->values[n->kernel->stores[i]].storage >= 0)
            return false;
    return true;
}

bool weft_nested_shape_few(const weft_segment *segment, const weft_plan_kernel *kernel,
                           int64_t n_first, int64_t n_second, weft_nested_shape *out) {
    const source_writer w = {.graph = segment->graph, .plan = segment->plan};
    weft_nested_writer n;
    weft_nested_begin(&n, &w, kernel);
    if (n_first < 1 || n_first > FEW_ROWS || n_second < 1 || !weft_nested_is_scalar(&n) ||
        (n_first > FEW_PANEL && !has_panels(&n)))
        return false;
    const int64_t sums = (n_first < FEW_PANEL ? n_first : FEW_PANEL) * kernel->n_reductions;
    const int threads = sums > FEW_SUMS ? WIDE_THREADS : FEW_THREADS;
    const int chunk = sums > FEW_SUMS ? WIDE_CHUNK : FEW_CHUNK;
    const int rows = (int)(n_first + chunk - 1) / chunk * chunk;
    const int multiprocessors =
        segment->limits.multiprocessors > 0 ? segment->limits.multiprocessors : 1;
    *out = (weft_nested_shape){.few_rows = rows,
                               .steps = chunk,
                               .threads = threads,
                               .cluster = 1,
                               .n_parts = (n_second - 1) / threads + 1};
    out->n_parts = out->n_parts < multiprocessors ? out->n_parts : multiprocessors;
    return true;
}

/* The input with the number of the last row that counts; -1: all count, as every row of a list that the kernel makes must
 * be there. */
static int limit_of(const weft_nested_writer *n) {
    const weft_graph *graph = n->w->graph;
    for (int i = 0; i < n->kernel->n_stores; ++i) {
        const weft_value *value = &graph->values[n->kernel->stores[i]];
        if (value->index_set == n->kernel->index_set && value->storage < 0)
            return -1;
    }
    return graph->index_sets[first_of(n)].up_to;
}

static void write_head(const weft_nested_writer *n, const weft_nested_shape *shape) {
    weft_text *out = n->w->out;
    const int limit = limit_of(n);
    weft_nested_head(n, shape->threads, 1);
    weft_text_add(
        out,
        "    enum { FEW_ROWS = %d, FEW_PANEL = %d, FEW_CHUNK = %d, FEW_THREADS = %d };\n"
        "    const int n_first = (int)sizes[0];\n    const int64_t n_second = sizes[1];\n",
        shape->few_rows, shape->few_rows < FEW_PANEL ? shape->few_rows : FEW_PANEL, shape->steps,
        shape->threads);
    if (limit >= 0)
        weft_text_add(out,
                      "    const real last = p_%s[0];\n"
                      "    const int rows = last >= 0 && last < n_first - 1 ? (int)last + %d : "
                      "n_first;\n",
                      weft_nested_storage(n, limit), weft_fault("few_rows_lost") ? 0 : 1);
    else
        weft_text_add(out, "    const int rows = n_first;\n");
    for (int i = 0; i < n->kernel->n_loads; ++i) {
        const int value = n->kernel->loads[i].value;
        const char *name = weft_nested_name(n, value);
        if (is_over(n, value, UNIFORM))
            weft_source_load(n->w, &n->kernel->loads[i]);
        else if (is_over(n, value, first_of(n)))
            weft_text_add(out,
                          "    __shared__ scalar row_%s[FEW_ROWS];\n"
                          "    for (int k = threadIdx.x; k < FEW_ROWS; k += FEW_THREADS)\n"
                          "        row_%s[k] = k < n_first ? p_%s[k] : 0;\n",
                          name, name, weft_nested_storage(n, value));
    }
    weft_text_add(
        out, n->kernel->n_reductions > 0
                 ? "    for (int panel = 0; panel == 0 || panel < rows; panel += FEW_PANEL) {\n"
                 : "    {\n    const int panel = 0;\n");
    for (int i = 0; i < n->kernel->n_reductions; ++i) {
        const weft_call *call = &n->w->graph->calls[n->kernel->reductions[i]];
        const char *name = weft_nested_name(n, call->result);
        weft_text_add(out, "    real o_%s[FEW_PANEL];\n    start_%s(o_%s, FEW_PANEL);\n", name,
                      weft_source_join_name(n->w, call), name);
    }
    weft_text_add(
        out, "    __syncthreads();\n"
             "    for (int64_t column = blockIdx.x * (int64_t)FEW_THREADS + threadIdx.x; column < "
             "n_second; column += gridDim.x * (int64_t)FEW_THREADS) {\n");
    for (int i = 0; i < n->kernel->n_loads; ++i) {
        const int value = n->kernel->loads[i].value;
        if (is_over(n, value, n->along))
            weft_text_add(out,
                          "        const real v_%s[1] = {p_%s[column]};\n        (void)v_%s;\n",
                          weft_nested_name(n, value), weft_nested_storage(n, value),
                          weft_nested_name(n, value));
    }
}

/* The values of a phase over the product in a chunk of rows from row `from` on, which C text names: ahead_X of memory. */
static void write_ahead(const weft_nested_writer *n, const bool *needed, const char *from) {
    const weft_graph *graph = n->w->graph;
    for (int value = 0; value < graph->n_values; ++value)
        if (is_over(n, value, n->kernel->index_set) && weft_nested_loads(n, needed, value))
            weft_text_add(
                n->w->out,
                "            UNROLL for (int q = 0; q < FEW_CHUNK; ++q)\n"
                "                ahead_%s[q] = p_%s[(int64_t)(%s + q < rows ? %s + q : rows - 1) "
                "* n_second + column];\n",
                weft_nested_name(n, value), weft_nested_storage(n, value), from, from);
}

/* Before the chunks of a phase (declares: with the first of them on its way), or for one of them. */
static void write_chunk(const weft_nested_writer *n, const bool *needed, bool declares) {
    for (int value = 0; value < n->w->graph->n_values; ++value) {
        const char *name = weft_nested_name(n, value);
        if (!is_over(n, value, n->kernel->index_set) || !weft_nested_loads(n, needed, value))
            continue;
        if (declares)
            weft_text_add(n->w->out, "        real ahead_%s[FEW_CHUNK];\n", name);
        else
            weft_text_add(n->w->out,
                          "            real l_%s[FEW_CHUNK];\n"
                          "            UNROLL for (int q = 0; q < FEW_CHUNK; ++q)\n"
                          "                l_%s[q] = ahead_%s[q];\n",
                          name, name, name);
    }
}

/* The values of a phase in one row of a chunk. */
static void write_loads(const weft_nested_writer *n, const bool *needed) {
    for (int value = 0; value < n->w->graph->n_values; ++value) {
        const char *name = weft_nested_name(n, value);
        if (!weft_nested_loads(n, needed, value))
            continue;
        if (is_over(n, value, n->kernel->index_set))
            weft_text_add(n->w->out, "            const real v_%s[1] = {l_%s[q]};\n", name, name);
        else if (is_over(n, value, first_of(n)))
            weft_text_add(n->w->out, "            const real v_%s[1] = {row_%s[i]};\n", name, name);
    }
}

/* A list that is updated is written where it changes. */
static void write_result(const weft_nested_writer *n, int phase, const bool *needed,
                         const weft_call *call) {
    weft_text *out = n->w->out;
    const char *name = weft_nested_name(n, call->result);
    const int storage = n->w->graph->values[call->result].storage;
    if (call->reduction) {
        const bool closed = weft_nested_is_closed(n, call);
        const char *join = weft_source_join_name(n->w, call),
                   *index = closed ? "[0]" : "[first + q]";
        weft_text_add(out, "            %s_%s%s = inside ? both_%s(%s_%s%s, v_%s[0]) : %s_%s%s;\n",
                      closed ? "a" : "o", name, index, join, closed ? "a" : "o", name, index, name,
                      closed ? "a" : "o", name, index);
        return;
    }
    if (!weft_nested_is_stored(n, call->result))
        return;
    weft_text_add(out, "            if (inside%s", has_sums(n, phase) ? "" : " && panel == 0");
    if (storage >= 0 && weft_nested_loads(n, needed, storage))
        weft_text_add(out, " && v_%s[0] != v_%s[0]", name, weft_nested_name(n, storage));
    weft_text_add(out, ")\n                p_%s[(int64_t)i * n_second + column] = v_%s[0];\n",
                  weft_nested_storage(n, call->result), name);
}

static weft_status write_phase(const weft_nested_writer *n, int phase, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = n->w->graph;
    weft_text *out = n->w->out;
    bool needed[WEFT_CALLS_MAX] = {false};
    weft_nested_needed(n, phase, needed);
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[n->fusion->calls[i]];
        if (closes(n, i, phase))
            weft_text_add(out, "        real a_%s[1];\n        start_%s(a_%s, 1);\n",
                          weft_nested_name(n, call->result), weft_source_join_name(n->w, call),
                          weft_nested_name(n, call->result));
    }
    weft_text_add(out, "        {\n");
    write_chunk(n, needed, true);
    write_ahead(n, needed, has_sums(n, phase) ? "panel" : "0");
    weft_text_add(
        out, has_sums(n, phase)
                 ? "        UNROLL for (int first = 0; first < FEW_PANEL; first += FEW_CHUNK)\n"
                   "        if (panel + first < rows) {\n"
                   "            const int base = panel + first;\n"
                 : "        for (int base = 0; base < rows; base += FEW_CHUNK) {\n");
    write_chunk(n, needed, false);
    weft_text_add(out, "            if (base + FEW_CHUNK < rows) {\n");
    write_ahead(n, needed, "base + FEW_CHUNK");
    weft_text_add(out, "            }\n"
                       "            UNROLL for (int q = 0; q < FEW_CHUNK; ++q) {\n"
                       "            const int i = base + q;\n"
                       "            const bool inside = i < rows;\n            (void)inside;\n");
    write_loads(n, needed);
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const int number = n->kernel->implementation->order[i];
        const int m = weft_nested_member(n, number);
        if (!needed[m])
            continue;
        TRY(weft_source_call(n->w, &graph->calls[number], n->kernel->implementation->variants[i],
                             error));
        if (n->phase[m] == phase)
            write_result(n, phase, needed, &graph->calls[number]);
    }
    weft_text_add(out, "            }\n        }\n        }\n");
done:
    return status;
}

static void store_column(const weft_nested_writer *n, int value) {
    if (weft_nested_is_stored(n, value))
        weft_text_add(n->w->out, "        p_%s[column] = v_%s[0];\n", weft_nested_storage(n, value),
                      weft_nested_name(n, value));
}

/* What a phase closes, and the calls over the columns that use it. */
static weft_status write_closed(const weft_nested_writer *n, int phase, weft_error *error) {
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &n->w->graph->calls[n->fusion->calls[i]];
        const char *name = weft_nested_name(n, call->result);
        if (!closes(n, i, phase))
            continue;
        weft_text_add(n->w->out, "        const real v_%s[1] = {a_%s[0]};\n        (void)v_%s;\n",
                      name, name, name);
        store_column(n, call->result);
    }
    return weft_nested_calls_after(n, phase, store_column, error);
}

/* The sums of the block over its columns: of each row. */
static void write_end(const weft_nested_writer *n) {
    weft_text *out = n->w->out;
    weft_text_add(out, "    }\n");
    for (int i = 0; i < n->kernel->n_reductions; ++i) {
        const weft_call *call = &n->w->graph->calls[n->kernel->reductions[i]];
        const char *name = weft_nested_name(n, call->result),
                   *join = weft_source_join_name(n->w, call);
        weft_text_add(
            out,
            "    __shared__ scalar sums_%s[FEW_PANEL][FEW_THREADS / LANES];\n"
            "    UNROLL for (int k = 0; k < FEW_PANEL; ++k) {\n"
            "        const scalar sum = lanes_%s(o_%s[k], LANES);\n"
            "        if (threadIdx.x %% LANES == 0)\n"
            "            sums_%s[k][threadIdx.x / LANES] = sum;\n    }\n"
            "    __syncthreads();\n"
            "    for (int k = threadIdx.x; k < FEW_PANEL && panel + k < n_first; k += "
            "FEW_THREADS) {\n"
            "        scalar sum = sums_%s[k][0];\n"
            "        for (int warp = 1; warp < FEW_THREADS / LANES; ++warp)\n"
            "            sum = both_%s(sum, sums_%s[k][warp]);\n"
            "        partials_%s[blockIdx.x * (int64_t)n_first + panel + k] = sum;\n    }\n"
            "    for (int k = panel + FEW_PANEL + threadIdx.x; k < n_first && panel + "
            "FEW_PANEL >= rows; k += FEW_THREADS)\n"
            "        partials_%s[blockIdx.x * (int64_t)n_first + k] = neutral_%s();\n",
            name, join, name, name, name, join, name, name, name, join);
    }
    weft_text_add(out, "    }\n}\n");
}

weft_status weft_nested_write_few(const weft_nested_writer *n, const weft_nested_shape *shape,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    write_head(n, shape);
    for (int phase = 0; phase < n->phases; ++phase) {
        TRY(write_phase(n, phase, error));
        TRY(write_closed(n, phase, error));
    }
    write_end(n);
done:
    return status;
}
