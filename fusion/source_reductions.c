/* Reductions in generated source. On the host a range of whole chunks leaves partial results, which
 * a kernel of one thread joins. On a GPU a thread block makes whole chunks, each with a partial
 * result of its own, and the block that arrives last joins them all: no launch more. The trees
 * depend on the size alone. */
#include "source_internal.h"

static const char *join_name(const weft_call *call) {
    switch (call->reduction->op) {
    case '*':
        return "multiply";
    case '<':
        return "min";
    case '>':
        return "max";
    default:
        return "add";
    }
}

static int result_count(const source_writer *w, const weft_call *call) {
    return weft_shape_count(&w->graph->data[call->result].shape);
}

/* Without the "v_". */
static const char *result_name(const source_writer *w, const weft_call *call) {
    return weft_source_variable(w, call->result, -1) + 2;
}

static const char *storage_name(const source_writer *w, const weft_call *call) {
    return weft_source_variable(w, weft_datum_storage(w->graph, call->result), -1) + 2;
}

void weft_source_reductions_start(const source_writer *w, const weft_plan_kernel *kernel) {
    const bool threaded = w->backend->is_threaded;
    const char *per_thread = kernel->rows >= 0 ? "ROWS_PER_THREAD" : "(CHUNK / THREADS)";
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        const char *name = result_name(w, call);
        const int count = result_count(w, call);
        if (threaded)
            weft_text_add(w->out, "    real a_%s[%s * %d];\n    start_%s(a_%s, %s * %d);\n", name,
                          per_thread, count, join_name(call), name, per_thread, count);
        else
            weft_text_add(w->out, "    real a_%s[%d];\n    start_%s(a_%s, %d);\n", name, count,
                          join_name(call), name, count);
    }
}

void weft_source_reductions_each(const source_writer *w, const weft_plan_kernel *kernel) {
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        const char *name = result_name(w, call);
        const int count = result_count(w, call);
        if (w->backend->is_threaded)
            weft_text_add(w->out,
                          "        UNROLL for (int c = 0; c < %d; ++c)\n"
                          "            a_%s[k * %d + c] = v_%s[c];\n",
                          count, name, count, name);
        else
            weft_text_add(w->out, "        join_%s(a_%s, v_%s, %d, lanes);\n", join_name(call),
                          name, name, count);
    }
}

/* n_instances is that of the launch; `first` that of the block's first instance. */
static void threaded_end(const source_writer *w, const weft_plan_kernel *kernel) {
    const char *threads = kernel->rows >= 0 ? "ROWS_THREADS" : "THREADS";
    const char *per_thread = kernel->rows >= 0 ? "ROWS_PER_THREAD" : "CHUNK / THREADS";
    if (kernel->n_reductions == 0)
        return;
    weft_text_add(w->out, "\n    __shared__ scalar tree[%s * (%s)];\n", threads, per_thread);
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        const char *name = result_name(w, call);
        weft_text_add(w->out, "    partial_%s<%s, %s>(partials_%s, tree, a_%s, %d, n_instances);\n",
                      join_name(call), threads, per_thread, name, name, result_count(w, call));
    }
    weft_text_add(w->out, "    if (is_last_block(arrived)) {\n");
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        weft_text_add(w->out, "        finish_%s<%s>(p_%s, tree, partials_%s, %d, n_instances);\n",
                      join_name(call), threads, storage_name(w, call), result_name(w, call),
                      result_count(w, call));
    }
    weft_text_add(w->out, "    }\n");
}

/* The launch's ranges are whole chunks of blocks, each with a partial result. */
void weft_source_reductions_end(const source_writer *w, const weft_plan_kernel *kernel) {
    if (w->backend->is_threaded) {
        threaded_end(w, kernel);
        return;
    }
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        const char *name = result_name(w, call);
        weft_text_add(w->out, "    partial_%s(partials_%s + first_block / %d * %d, a_%s, %d);\n",
                      join_name(call), name, w->plan->reduction_blocks, result_count(w, call), name,
                      result_count(w, call));
    }
}

/* n_instances is the number of partial results and one more. */
void weft_source_reductions_finish(const source_writer *w, const weft_plan_kernel *kernel) {
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &w->graph->calls[kernel->reductions[i]];
        weft_text_add(w->out, "    finish_%s(p_%s, partials_%s, %d, n_instances - 1);\n",
                      join_name(call), storage_name(w, call), result_name(w, call),
                      result_count(w, call));
    }
}
