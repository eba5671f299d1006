/* Writes kernels over a product of two index sets (Filipovic et al. 2015, section 4.3.2).
 *
 * A kernel walks over the rows of its part. In each phase it passes over the row once. The results
 * that the pass closes are complete then, and calls over the rows use them before the next phase.
 * On the host it walks over ROWS_AT_ONCE rows together, whose sums are independent chains of
 * additions and which share the loads of columns; each sum is added up in the order of one row.
 * Contributions to open results are added to the part's own partial results. Kernels whose text
 * depends on the sizes are in nested_rows.c and nested_columns.c. */
#include "fusion/codegen/nested.h"
#include "core/base/exact.h"
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/base/prelude.h"
#include "fusion/base/target.h"

#include <stdio.h>

enum { ROWS_AT_ONCE = 4 };

void weft_nested_begin(weft_nested_writer *n, const source_writer *w,
                       const weft_plan_kernel *kernel) {
    const weft_index_set *product = &w->graph->index_sets[kernel->index_set];
    *n = (weft_nested_writer){.w = w, .kernel = kernel, .fusion = kernel->implementation->fusion};
    n->rows = kernel->slice == SLICE_ROWS;
    n->pairs = product->pairs;
    n->along = n->rows ? product->first : product->second;
    n->phases = weft_nested_phases(w->graph, n->fusion, n->phase);
}

int weft_nested_member(const weft_nested_writer *n, int call) {
    for (int i = 0; i < n->fusion->n_calls; ++i)
        if (n->fusion->calls[i] == call)
            return i;
    return -1;
}

bool weft_nested_is_over_product(const weft_nested_writer *n, const weft_call *call) {
    return weft_index_set_is_product(n->w->graph, call->index_set);
}

bool weft_nested_is_closed(const weft_nested_writer *n, const weft_call *call) {
    return weft_reduction_is_closed(call, n->kernel->slice);
}

bool weft_nested_is_general(const weft_call *call) {
    return call->combine ||
           (call->specialisation && weft_function_counts(call->specialisation->function));
}

bool weft_nested_is_scalar(const weft_nested_writer *n) {
    const weft_graph *graph = n->w->graph;
    for (int i = 0; i < n->kernel->n_loads; ++i) {
        const weft_value *value = &graph->values[n->kernel->loads[i].value];
        if (value->index_set >= 0 && value->shape.rank > 0)
            return false;
    }
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[n->fusion->calls[i]];
        if (graph->values[call->result].shape.rank > 0 || weft_nested_is_general(call) ||
            (call->reduction && call->reduction->over == REDUCE_ALL))
            return false;
    }
    return true;
}

static int count_of(const weft_nested_writer *n, int value) {
    return weft_shape_count(&n->w->graph->values[value].shape);
}

const char *weft_nested_name(const weft_nested_writer *n, int value) {
    return weft_source_variable(n->w, value, -1) + 2;
}

const char *weft_nested_storage(const weft_nested_writer *n, int value) {
    return weft_nested_name(n, weft_value_storage(n->w->graph, value));
}

bool weft_nested_is_stored(const weft_nested_writer *n, int value) {
    for (int i = 0; i < n->kernel->n_stores; ++i)
        if (n->kernel->stores[i] == value)
            return true;
    return false;
}

bool weft_nested_has_row_sum(const weft_nested_writer *n, const weft_call *call) {
    return weft_nested_is_closed(n, call) || call->is_divided ||
           (weft_call_is_mirrored(call) && call->reduction->over != REDUCE_ALL);
}

/* Is a map of an earlier pass computed again, instead of loaded from memory? What overwrites its
 * own operand cannot be computed again. */
static bool is_recomputed(const weft_nested_writer *n, int value) {
    return !weft_nested_is_stored(n, value) || (n->keeps && n->w->graph->values[value].storage < 0);
}

/* Mark a call of a pass and the maps of this pass or of earlier ones that it uses. */
static void mark(const weft_nested_writer *n, int phase, int member, bool *needed) {
    const weft_graph *graph = n->w->graph;
    const weft_call *call = &graph->calls[n->fusion->calls[member]];
    needed[member] = true;
    for (int k = 0; k < call->n_operands; ++k) {
        const int producer = graph->values[call->operands[k].value].producer;
        const int m = producer >= 0 ? weft_nested_member(n, producer) : -1;
        if (m >= 0 && !needed[m] && weft_nested_is_over_product(n, &graph->calls[producer]) &&
            !graph->calls[producer].reduction &&
            (n->phase[m] == phase || is_recomputed(n, call->operands[k].value)))
            mark(n, phase, m, needed);
    }
}

void weft_nested_needed(const weft_nested_writer *n, int phase, bool *needed) {
    for (int i = 0; i < n->fusion->n_calls; ++i)
        if (n->phase[i] == phase &&
            weft_nested_is_over_product(n, &n->w->graph->calls[n->fusion->calls[i]]))
            mark(n, phase, i, needed);
}

bool weft_nested_loads(const weft_nested_writer *n, const bool *needed, int value) {
    const int producer = n->w->graph->values[value].producer;
    const int member = producer >= 0 ? weft_nested_member(n, producer) : -1;
    if (member >= 0 && needed[member])
        return false;
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &n->w->graph->calls[n->fusion->calls[i]];
        for (int k = 0; needed[i] && k < call->n_operands; ++k)
            if (call->operands[k].value == value)
                return true;
    }
    return false;
}

int weft_nested_count_row_sums(const weft_nested_writer *n) {
    int count = 0;
    for (int i = 0; i < n->fusion->n_calls; ++i)
        count += weft_nested_has_row_sum(n, &n->w->graph->calls[n->fusion->calls[i]]);
    return count;
}

bool weft_nested_is_mirrored(const weft_nested_writer *n, int value) {
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &n->w->graph->calls[n->fusion->calls[i]];
        for (int k = 0; weft_call_is_mirrored(call) && k < call->n_operands; ++k)
            if (call->operands[k].value == value)
                return true;
    }
    return false;
}

int weft_nested_load_number(const weft_nested_writer *n, int value) {
    const weft_graph *graph = n->w->graph;
    int number = 0;
    for (int i = 0; i < n->kernel->n_loads && n->kernel->loads[i].value != value; ++i)
        number +=
            graph->values[n->kernel->loads[i].value].index_set == graph->values[value].index_set;
    return number;
}

weft_status weft_nested_calls_after(const weft_nested_writer *n, int phase,
                                    void (*store)(const weft_nested_writer *n, int value),
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = n->w->graph;
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const int number = n->kernel->implementation->order[i];
        const weft_call *call = &graph->calls[number];
        if (weft_nested_is_over_product(n, call) ||
            n->phase[weft_nested_member(n, number)] != phase + 1)
            continue;
        TRY(weft_source_call(n->w, call, n->kernel->implementation->variants[i], error));
        store(n, call->result);
    }
done:
    return status;
}

void weft_nested_head(const weft_nested_writer *n, int threads, int cluster) {
    weft_text *out = n->w->out;
    weft_text_add(out, "extern \"C\" __global__ void ");
    if (cluster > 1)
        weft_text_add(out, "__cluster_dims__(%d, 1, 1) ", cluster);
    weft_text_add(out, "__launch_bounds__(%d, 1) %s(int64_t n_elements", threads, n->kernel->name);
    weft_source_arguments(n->w, n->kernel);
    weft_text_add(out, "%s)\n{\n%s", n->w->plan->predicated ? WEFT_PREDICATE_ARGUMENT : "",
                  n->w->plan->predicated ? WEFT_PREDICATE : "");
}

static void declare(const weft_nested_writer *n, const char *indent, int value) {
    weft_text_add(n->w->out, "%sreal v_%s[%d];\n", indent, weft_nested_name(n, value),
                  count_of(n, value));
}

/* Has each row a value of its own that lives longer than a pass? Returns the phase behind which it is
 * there (-1: loaded before the first one), or phases: it is not such a value. */
static int kept_after(const weft_nested_writer *n, int value) {
    const weft_graph *graph = n->w->graph;
    if (graph->values[value].index_set != n->along)
        return n->phases;
    for (int i = 0; i < n->kernel->n_loads; ++i)
        if (n->kernel->loads[i].value == value)
            return -1;
    const int producer = graph->values[value].producer;
    const int m = producer >= 0 ? weft_nested_member(n, producer) : -1;
    if (m < 0)
        return n->phases;
    if (!weft_nested_is_over_product(n, &graph->calls[producer]))
        return n->phase[m] - 1;
    return weft_nested_is_closed(n, &graph->calls[producer]) ? n->phase[m] : n->phases;
}

/* Open a loop over the rows that are walked together, with the values that they keep from before a phase. */
static void open_rows(const weft_nested_writer *n, const char *indent, int phase) {
    weft_text_add(n->w->out,
                  "%sUNROLL for (int r = 0; r < %d; ++r) {\n"
                  "%sconst int64_t i = first + r;\n%s(void)i;\n",
                  indent, n->together, indent, indent);
    for (int value = 0; value < n->w->graph->n_values; ++value)
        if (kept_after(n, value) < phase)
            weft_text_add(n->w->out, "%sreal *const v_%s = kept_%s[r];\n%s(void)v_%s;\n", indent,
                          weft_nested_name(n, value), weft_nested_name(n, value), indent,
                          weft_nested_name(n, value));
}

static void declare_kept(const weft_nested_writer *n) {
    for (int value = 0; value < n->w->graph->n_values; ++value)
        if (kept_after(n, value) < n->phases)
            weft_text_add(n->w->out, "        real kept_%s[%d][%d];\n", weft_nested_name(n, value),
                          n->together, count_of(n, value));
}

/* A result of the row: stored, and kept for later phases. */
static void store_row(const weft_nested_writer *n, int value) {
    const char *name = weft_nested_name(n, value);
    if (weft_nested_is_stored(n, value))
        weft_text_add(n->w->out, "        nested_store_one(p_%s, v_%s, %d, i);\n",
                      weft_nested_storage(n, value), name, count_of(n, value));
    weft_text_add(n->w->out,
                  "        UNROLL for (int c = 0; c < %d; ++c)\n"
                  "            kept_%s[r][c] = v_%s[c];\n",
                  count_of(n, value), name, name);
}

/* Entry (i, j) of the row is number row_start + j, for j in [row_first, row_end). */
static void write_row_bounds(const weft_nested_writer *n) {
    weft_text_add(
        n->w->out,
        "            const int64_t row_start = %s, row_end = %s;\n            (void)row_start;\n",
        !n->pairs.packed                      ? "i * n_second"
        : n->pairs.triangle == TRIANGLE_LOWER ? "i * (i + 1) / 2"
                                              : "i * n_second - i * (i + 1) / 2",
        n->pairs.triangle == TRIANGLE_LOWER && !weft_fault("triangle_exceeded") ? "i + 1"
                                                                                : "n_second");
}

/* The loads of a phase: values over the product, also those that an earlier phase has stored, or
 * over the columns. */
static void write_loads(const weft_nested_writer *n, const bool *needed, bool product) {
    const weft_graph *graph = n->w->graph;
    const bool in_triangle = product && n->pairs.triangle != TRIANGLE_NONE;
    for (int value = 0; value < graph->n_values; ++value) {
        const int set = graph->values[value].index_set;
        if (set == UNIFORM || set == n->along || !weft_nested_loads(n, needed, value) ||
            weft_index_set_is_product(graph, set) != product)
            continue;
        declare(n, "            ", value);
        weft_text_add(n->w->out, "            nested_load(v_%s, p_%s, %d, %s);\n",
                      weft_nested_name(n, value), weft_nested_storage(n, value), count_of(n, value),
                      in_triangle && n->whole ? "0, row_start + j, row_start + j + LANES"
                      : in_triangle           ? "0, row_start + j, row_start + row_end"
                      : product               ? "i, j, n_second"
                      : n->whole              ? "0, j, j + LANES"
                                              : "0, j, n_second");
    }
}

/* Add a result to the sum of the row, or to that of the column: s_ holds these, a_ what is uniform and, for
 * each of the rows that are walked together, the former. */
static void write_join(const weft_nested_writer *n, const weft_call *call, bool to_row,
                       const char *lanes) {
    const char *name = weft_nested_name(n, call->result);
    if (call->is_divided) {
        weft_text_add(n->w->out,
                      "            join_exact_counted(a_%s[r], v_%s, %d, "
                      "counted_lanes(owned, j, %s));\n",
                      name, name, count_of(n, call->result), lanes);
        return;
    }
    weft_text_add(n->w->out, "            join_%s(%s_%s%s, v_%s, %d, %s);\n",
                  weft_source_join_name(n->w, call),
                  to_row || call->reduction->over == REDUCE_ALL ? "a" : "s", name,
                  weft_nested_has_row_sum(n, call) ? (to_row ? "[r]" : "") : "", name,
                  count_of(n, call->result), lanes);
}

/* What becomes of the result of a call of this phase. */
static void write_result(const weft_nested_writer *n, const weft_call *call) {
    weft_text *out = n->w->out;
    const char *name = weft_nested_name(n, call->result);
    const int count = count_of(n, call->result);
    if (!call->reduction) {
        if (weft_nested_is_stored(n, call->result))
            weft_text_add(out, "            nested_store(p_%s, v_%s, %d, %s, lanes);\n",
                          weft_nested_storage(n, call->result), name, count,
                          n->pairs.triangle == TRIANGLE_NONE
                              ? "i, j, n_second"
                              : "0, row_start + j, row_start + j + lanes");
        return;
    }
    write_join(n, call, call->reduction->over == REDUCE_SECOND, "lanes");
}

/* Is operand k of a call one before it, too? */
static bool is_earlier(const weft_call *call, int k) {
    bool found = false;
    for (int i = 0; i < k; ++i)
        found |= call->operands[i].value == call->operands[k].value;
    return found;
}

/* The entry once more, as that of (j, i): what is over the rows is taken at j, what is over the columns
 * at i, and the result belongs to column j of what is over the rows. */
static weft_status write_mirrored(const weft_nested_writer *n, const weft_call *call, int variant,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = n->w->graph;
    const weft_index_set *product = &graph->index_sets[n->kernel->index_set];
    weft_text *out = n->w->out;
    if (!weft_call_is_mirrored(call) || weft_fault("mirror_lost"))
        goto done;
    weft_text_add(out, "            {\n");
    if (n->whole)
        weft_text_add(out, "            const int others = lanes;\n");
    else if (n->w->backend->is_threaded || n->pairs.triangle == TRIANGLE_UPPER)
        weft_text_add(out, "            const int others = %s;\n",
                      weft_fault("diagonal_twice") ? "lanes" : "j == i ? 0 : lanes");
    else
        weft_text_add(out,
                      "            const int others = i - j < LANES ? (int)(i - j) : LANES;\n");
    for (int k = 0; k < call->n_operands; ++k) {
        const int value = call->operands[k].value, set = graph->values[value].index_set;
        const char *name = weft_nested_name(n, value), *p = weft_nested_storage(n, value);
        if ((set != product->first && set != product->second) || is_earlier(call, k))
            continue;
        declare(n, "            ", value);
        weft_text_add(out,
                      set == product->first
                          ? "            nested_load(v_%s, p_%s, %d, 0, j, n_second);\n"
                          : "            nested_load_one(v_%s, p_%s, %d, i);\n",
                      name, p, count_of(n, value));
    }
    TRY(weft_source_call(n->w, call, variant, error));
    write_join(n, call, call->reduction->over == REDUCE_FIRST, "others");
    weft_text_add(out, "            }\n");
done:
    return status;
}

/* The open results of columns to which a phase contributes: loaded before the rows that are walked
 * together, or stored after them. */
static void write_spread(const weft_nested_writer *n, int phase, bool loads) {
    for (int i = 0; i < n->kernel->n_reductions; ++i) {
        const weft_call *call = &n->w->graph->calls[n->kernel->reductions[i]];
        const char *name = weft_nested_name(n, call->result);
        const int count = count_of(n, call->result);
        if (call->reduction->over == REDUCE_ALL || call->is_divided ||
            n->phase[weft_nested_member(n, call->id)] != phase)
            continue;
        if (loads)
            weft_text_add(n->w->out,
                          "            real s_%s[%d];\n"
                          "            nested_load(s_%s, part_%s, %d, 0, j, %s);\n",
                          name, count, name, name, count, n->whole ? "j + LANES" : "n_second");
        else
            weft_text_add(n->w->out,
                          "            nested_store(part_%s, s_%s, %d, 0, j, %s, lanes);\n", name,
                          name, count, n->whole ? "j + LANES" : "n_second");
    }
}

/* The loop over the columns: of all rows, or of those that the rows walked together have. The first step of an
 * upper triangle's row is the diagonal alone, which has no mirrored entry. */
static void open_columns(const weft_nested_writer *n) {
    weft_text *out = n->w->out;
    const bool threaded = n->w->backend->is_threaded, lost = weft_fault("columns_lost");
    const bool upper = n->pairs.triangle == TRIANGLE_UPPER;
    char last[32] = "n_second";
    if (n->pairs.triangle == TRIANGLE_LOWER)
        snprintf(last, sizeof last, "first + %d", n->together);
    if (threaded)
        weft_text_add(out,
                      "        for (int64_t j = %sthreadIdx.x; j %s %s; j += NESTED_THREADS) {\n"
                      "            const int lanes = 1;\n",
                      upper ? "first + " : "", lost ? "+ LANES <=" : "<", last);
    else if (n->whole)
        weft_text_add(out,
                      "        for (int64_t j = %s; j + LANES <= %s; j += LANES) {\n"
                      "            const int lanes = LANES;\n",
                      upper ? "first + 1" : "0", upper ? "n_second" : "first");
    else
        weft_text_add(
            out,
            "        for (int64_t j = %s; j %s %s; %s) {\n"
            "            const int lanes = %sn_second - j < LANES ? (int)(n_second - j) : LANES;\n",
            upper                                 ? "first"
            : n->pairs.triangle == TRIANGLE_LOWER ? "first / LANES * LANES"
                                                  : "0",
            lost ? "+ LANES <=" : "<", last,
            upper ? "j = j > first ? j + LANES : first + 1 + (n_second - first - 1) / LANES * LANES"
                  : "j += LANES",
            upper ? "j == first ? 1 : " : "");
    weft_text_add(out, "            (void)lanes;\n");
}

/* The steps over the columns of a pass that are opened by open_columns. */
static weft_status write_steps(const weft_nested_writer *n, int phase, const bool *needed,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = n->w->graph;
    open_columns(n);
    write_loads(n, needed, false);
    write_spread(n, phase, true);
    open_rows(n, "            ", phase);
    if (n->pairs.triangle != TRIANGLE_NONE)
        write_row_bounds(n);
    if (n->pairs.triangle == TRIANGLE_LOWER && !n->w->backend->is_threaded && !n->whole)
        weft_text_add(n->w->out,
                      "            if (j >= row_end)\n                continue;\n"
                      "            const int lanes = row_end - j < LANES ? (int)(row_end - j) : "
                      "LANES;\n");
    write_loads(n, needed, true);
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
    weft_text_add(n->w->out, "            }\n");
    write_spread(n, phase, false);
    weft_text_add(n->w->out, "        }\n");
done:
    return status;
}

static weft_status write_pass(const weft_nested_writer *n, int phase, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = n->w->graph;
    bool needed[WEFT_CALLS_MAX] = {false};
    weft_nested_needed(n, phase, needed);
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[n->fusion->calls[i]];
        if (n->phase[i] == phase && weft_nested_is_over_product(n, call) &&
            weft_nested_has_row_sum(n, call))
            weft_text_add(n->w->out,
                          "        real a_%s[%d][%d];\n"
                          "        UNROLL for (int r = 0; r < %d; ++r)\n"
                          "            start_%s(a_%s[r], %d);\n",
                          weft_nested_name(n, call->result), n->together,
                          count_of(n, call->result) * (call->is_divided ? WEFT_EXACT_NUMBERS : 1),
                          n->together,
                          call->is_divided ? "exact" : weft_source_join_name(n->w, call),
                          weft_nested_name(n, call->result), count_of(n, call->result));
    }
    weft_nested_writer part = *n;
    part.whole = n->pairs.triangle != TRIANGLE_NONE && !n->w->backend->is_threaded;
    if (part.whole)
        TRY(write_steps(&part, phase, needed, error));
    part.whole = false;
    TRY(write_steps(&part, phase, needed, error));
done:
    return status;
}

/* After the pass of a phase: its closed results, then the calls that use them. */
static weft_status write_closed(const weft_nested_writer *n, int phase, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = n->w->graph;
    open_rows(n, "        ", phase);
    for (int i = 0; i < n->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[n->fusion->calls[i]];
        if (n->phase[i] != phase || !weft_nested_is_over_product(n, call) ||
            !weft_nested_has_row_sum(n, call))
            continue;
        const char *name = weft_nested_name(n, call->result),
                   *join = weft_source_join_name(n->w, call);
        if (call->is_divided) { /* for whoever joins the ranks */
            const int count = count_of(n, call->result);
            weft_text_add(n->w->out, "        partial_exact(partials_%s + i * %d, a_%s[r], %d);\n",
                          name, count * WEFT_EXACT_NUMBERS, name, count);
            continue;
        }
        declare(n, "        ", call->result);
        weft_text_add(n->w->out, "        nested_close_%s(v_%s, a_%s[r], %d%s);\n", join, name,
                      name, count_of(n, call->result), n->w->backend->is_threaded ? ", tree" : "");
        if (weft_call_is_mirrored(call)) /* behind the parts: the sums of the rows */
            weft_text_add(
                n->w->out,
                "        nested_store_one(partials_%s + n_parts * n_second * %d, v_%s, %d, i);\n",
                name, count_of(n, call->result), name, count_of(n, call->result));
        else
            store_row(n, call->result);
    }
    status = weft_nested_calls_after(n, phase, store_row, error);
    weft_text_add(n->w->out, "        }\n");
    return status;
}

/* The open results of a part, before the first contribution. */
static void write_cleared(const weft_nested_writer *n) {
    for (int i = 0; i < n->kernel->n_reductions; ++i) {
        const weft_call *call = &n->w->graph->calls[n->kernel->reductions[i]];
        if (call->reduction->over != REDUCE_ALL && !call->is_divided)
            weft_text_add(n->w->out, "    nested_clear_%s(part_%s, n_second * %d);\n",
                          weft_source_join_name(n->w, call), weft_nested_name(n, call->result),
                          count_of(n, call->result));
    }
}

/* Has a part of a GPU's kernel every n_parts-th row? Those of a triangle have different lengths. */
static bool is_cyclic(const weft_nested_writer *n) {
    return n->w->backend->is_threaded && n->pairs.triangle != TRIANGLE_NONE;
}

/* Part and rows of a thread block or of a range of rows, and the open results of the part. */
static void write_start(const weft_nested_writer *n) {
    weft_text *out = n->w->out;
    const weft_graph *graph = n->w->graph;
    const bool threaded = n->w->backend->is_threaded;
    weft_text_add(out, "    const int64_t n_second = sizes[%d], n_parts = sizes[2];\n",
                  weft_fault("row_length_transposed") ? 0 : 1);
    if (threaded)
        weft_text_add(out, "    __shared__ scalar tree[NESTED_THREADS];\n    (void)tree;\n"
                           "    const int64_t part = blockIdx.x;\n");
    if (threaded && is_cyclic(n))
        weft_text_add(out, "    const int64_t first_row = part, last_row = n_elements;\n");
    else if (threaded)
        weft_text_add(out, "    const int64_t first_row = part * n_elements / n_parts;\n"
                           "    const int64_t last_row = (part + 1) * n_elements / n_parts;\n");
    else
        weft_text_add(out, "    const int64_t part = (first_block * n_parts + n_elements - 1) / "
                           "n_elements, first_row = first_block, last_row = last_block;\n");
    weft_text_add(out, "    (void)part;\n");
    for (int i = 0; i < n->kernel->n_reductions; ++i) {
        const weft_call *call = &graph->calls[n->kernel->reductions[i]];
        const char *name = weft_nested_name(n, call->result),
                   *join = weft_source_join_name(n->w, call);
        const int count = count_of(n, call->result);
        if (call->reduction->over == REDUCE_ALL)
            weft_text_add(out, "    real a_%s[%d];\n    start_%s(a_%s, %d);\n", name, count, join,
                          name, count);
        else if (!call->is_divided)
            weft_text_add(out,
                          "    scalar *const part_%s = partials_%s + part * (n_second * %d);\n",
                          name, name, count);
    }
    write_cleared(n);
}

/* Partial results of reductions over everything. */
static void write_end(const weft_nested_writer *n) {
    for (int i = 0; i < n->kernel->n_reductions; ++i) {
        const weft_call *call = &n->w->graph->calls[n->kernel->reductions[i]];
        const char *name = weft_nested_name(n, call->result),
                   *join = weft_source_join_name(n->w, call);
        const int count = count_of(n, call->result);
        if (call->reduction->over != REDUCE_ALL)
            continue;
        if (n->w->backend->is_threaded)
            weft_text_add(n->w->out,
                          "    nested_close_%s(a_%s, a_%s, %d, tree);\n"
                          "    nested_store_one(partials_%s, a_%s, %d, part);\n",
                          join, name, name, count, name, name, count);
        else
            weft_text_add(n->w->out, "    partial_%s(partials_%s + part * %d, a_%s, %d);\n", join,
                          name, count, name, count);
    }
}

void weft_source_nested_prelude(const weft_backend *backend, weft_text *out) {
    const weft_prelude_value values[] = {{NULL, NULL}};
    if (backend->is_threaded)
        weft_text_add(out, "#define NESTED_THREADS %d\n", WEFT_NESTED_THREADS);
    weft_prelude_write(backend->nested, values, out);
}

/* Walk over this number of rows together, as long as the part has them. */
static weft_status write_rows(weft_nested_writer *n, int together, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = n->w->graph;
    n->together = together;
    if (is_cyclic(n))
        weft_text_add(n->w->out, "    for (; first < last_row; first += n_parts) {\n");
    else
        weft_text_add(n->w->out, "    for (; first + %d <= last_row; first += %d) {\n", together,
                      together);
    if (weft_fault("open_restarted"))
        write_cleared(n);
    declare_kept(n);
    for (int i = 0; i < n->kernel->n_loads; ++i) {
        const int value = n->kernel->loads[i].value;
        if (graph->values[value].index_set == n->along)
            weft_text_add(n->w->out,
                          "        UNROLL for (int r = 0; r < %d; ++r)\n"
                          "            nested_load_one(kept_%s[r], p_%s, %d, first + r);\n",
                          together, weft_nested_name(n, value), weft_nested_storage(n, value),
                          count_of(n, value));
    }
    for (int phase = 0; phase < n->phases; ++phase) {
        TRY(write_pass(n, phase, error));
        TRY(write_closed(n, phase, error));
    }
    weft_text_add(n->w->out, "    }\n");
done:
    return status;
}

weft_status weft_source_nested(const source_writer *writer, const weft_plan_kernel *kernel,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    source_writer nested = *writer;
    const source_writer *w = &nested;
    const weft_graph *graph = w->graph;
    weft_nested_writer n;
    nested.is_nested = true;
    if (kernel->slice == SLICE_COLUMNS) {
        weft_text_add(w->out, "/* %s: its text depends on the sizes of a run */\n\n", kernel->name);
        goto done;
    }
    weft_nested_begin(&n, w, kernel);
    weft_source_head(w, kernel);
    for (int i = 0; i < kernel->n_loads; ++i)
        if (graph->values[kernel->loads[i].value].index_set < 0)
            weft_source_load(w, &kernel->loads[i]);
    write_start(&n);
    weft_text_add(w->out, "    int64_t first = first_row;\n");
    if (!w->backend->is_threaded && n.pairs.triangle != TRIANGLE_UPPER)
        TRY(write_rows(&n, ROWS_AT_ONCE, error));
    TRY(write_rows(&n, 1, error));
    write_end(&n);
    weft_text_add(w->out, "}\n\n");
done:
    return status;
}

weft_status weft_source_nested_final(const source_writer *w, const weft_plan_kernel *kernel,
                                     weft_error *error) {
    const weft_call *call = &w->graph->calls[kernel->reductions[0]];
    const char *result = weft_source_variable(w, weft_value_storage(w->graph, call->result), -1);
    (void)error;
    weft_source_head(w, kernel);
    if (call->is_divided) { /* the sums of each row are joined with those of other ranks (fusion/runtime/run.c) */
        weft_text_add(w->out, "}\n\n");
        return WEFT_OK;
    }
    weft_text_add(
        w->out,
        w->backend->is_threaded
            ? "    wait_for_kernels();\n"
              "    const int64_t first = blockIdx.x * (int64_t)LANES + threadIdx.x %% LANES;\n"
            : "    for (int64_t first = first_block * LANES; first < last_block * LANES; "
              "first += LANES)\n");
    weft_text_add(w->out,
                  "        nested_combine_%s(p_%s, partials_%s, sizes[2]%s%s, n_elements, first);\n"
                  "}\n\n",
                  weft_source_join_name(w, call), result + 2,
                  weft_source_variable(w, call->result, -1) + 2,
                  weft_call_is_mirrored(call) && call->reduction->over != REDUCE_ALL ? " + 1" : "",
                  weft_fault("part_unfinished") ? " - 1" : "");
    return WEFT_OK;
}

/* Multiprocessors come in groups, and a cluster lies in one: not all belong to a large cluster.
 * Memory does not need all: six clusters of 16 blocks were faster than seven on an H200. */
int weft_nested_clusters(int multiprocessors, int cluster) {
    return multiprocessors * (cluster <= 2 ? 8 : cluster <= 8 ? 7 : 6) / 8 / cluster;
}

bool weft_nested_shape_make(const weft_segment *segment, const weft_plan_kernel *kernel,
                            int64_t n_first, int64_t n_second, weft_nested_shape *out) {
    if (weft_product_holds_columns(segment->graph, kernel->index_set))
        return weft_nested_shape_few(segment, kernel, n_first, n_second, out);
    if (segment->limits.cluster_blocks == 0)
        return false;
    return (kernel->slice == SLICE_ROWS ? weft_nested_shape_rows : weft_nested_shape_columns)(
        segment, kernel, n_first, n_second, out);
}

weft_status weft_source_nested_sized(const weft_segment *segment, const weft_plan_kernel *kernel,
                                     const weft_nested_shape *shape, weft_text *out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_nested_writer n;
    const weft_backend *backend = weft_source_backend(&segment->limits);
    const source_writer w = {.arena = segment->arena,
                             .graph = segment->graph,
                             .plan = segment->plan,
                             .limits = &segment->limits,
                             .backend = backend,
                             .options = &segment->options,
                             .single = segment->options.single,
                             .out = out};
    weft_nested_begin(&n, &w, kernel);
    n.keeps = shape->few_rows == 0;
    backend->prelude(out, &segment->limits, segment->options.single);
    weft_source_nested_prelude(backend, out);
    if (shape->few_rows == 0)
        weft_prelude_write("nested_cluster.h", &(weft_prelude_value){NULL, NULL}, out);
    TRY((shape->few_rows ? weft_nested_write_few
         : n.rows        ? weft_nested_write_rows
                         : weft_nested_write_columns)(&n, shape, error));
    if (out->failed)
        status = weft_no_memory(error);
done:
    return status;
}
