/* Writes kernels that start with a product kernel: y = A v for the rows that a thread block owns,
 * where v is loaded, or computed by an inlined producer, at every row that the product kernel
 * reads; then, row by row, the other calls of the kernel, their stores and contributions to
 * reductions. No barrier is needed between the two, because a thread reads only the rows of y that
 * it computed.
 *
 * Decision  docs/decisions/0020-product-kernels-are-hand-written.md */
#include "fusion/codegen/private.h"

#include <stdio.h>
#include <string.h>

static bool is_done(const weft_plan_kernel *kernel, int call) {
    return call == kernel->product || call == kernel->prologue;
}

/* Is this load read by a call after the product kernel? */
static bool is_wanted(const source_writer *w, const weft_plan_kernel *kernel,
                      const weft_operand *load) {
    const weft_fusion *fusion = kernel->implementation->fusion;
    for (int i = 0; i < fusion->n_calls; ++i) {
        const weft_call *call = &w->graph->calls[fusion->calls[i]];
        for (int k = 0; k < call->n_operands && !is_done(kernel, call->id); ++k)
            if (call->operands[k].value == load->value &&
                call->operands[k].connectivity == load->connectivity)
                return true;
    }
    return false;
}

/* The helper functions of a product kernel are written once per module. */
static bool is_first_use(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_product_kernel *product_kernel = w->graph->calls[kernel->product].product_kernel;
    for (const weft_plan_kernel *k = w->plan->kernels; k < kernel; ++k)
        if (k->kind == KERNEL_PRODUCT &&
            strcmp(w->graph->calls[k->product].product_kernel->name, product_kernel->name) == 0)
            return false;
    return true;
}

static void write_definitions(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_product_kernel *product_kernel = w->graph->calls[kernel->product].product_kernel;
    char blocks[16] = "";
    if (product_kernel->blocks > 0)
        snprintf(blocks, sizeof blocks, ", %d", product_kernel->blocks);
    weft_text_add(
        w->out,
        "#define ROWS_THREADS %d\n"
        "#define ROWS_BOUNDS ROWS_THREADS%s\n"
        "#define ROWS_NODES %d /* rows of a block */\n"
        "#define ROWS_PER_THREAD (ROWS_NODES < ROWS_THREADS ? 1 : ROWS_NODES / ROWS_THREADS)\n"
        "#define LOAD(j) load_row(j)\n"
        "#define RETURN_IF_DONE %s\n",
        product_kernel->threads, blocks, product_kernel->rows,
        w->plan->predicated ? "if (going == 0) return" : "(void)0");
    if (product_kernel->blocks > 0)
        weft_text_add(w->out,
                      "#define ROWS_RESIDENT %d /* blocks that the device runs at once */\n",
                      product_kernel->blocks * w->limits->multiprocessors);
    if (is_first_use(w, kernel))
        weft_text_add(w->out, "\n%s", product_kernel->helpers);
}

/* Define load_row(row): v at any row, from memory or computed by the inlined producer. */
static weft_status write_load_row(const source_writer *w, const weft_plan_kernel *kernel,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_operand *v = &w->graph->calls[kernel->product].operands[0];
    const weft_call *prologue = kernel->prologue >= 0 ? &w->graph->calls[kernel->prologue] : NULL;
    weft_text_add(w->out, "    const auto load_row = [&](int64_t row) -> real {\n");
    if (!prologue) {
        weft_text_add(w->out, "        return p_%s[row];\n    };\n",
                      weft_source_variable(w, weft_value_storage(w->graph, v->value), -1) + 2);
        goto done;
    }
    for (int k = 0; k < prologue->n_operands; ++k) {
        const weft_value *value = &w->graph->values[prologue->operands[k].value];
        bool repeated = value->index_set < 0;
        for (int m = 0; m < k; ++m)
            repeated |= prologue->operands[m].value == value->id;
        if (repeated)
            continue;
        const int count = weft_shape_count(&value->shape);
        const char *name = weft_source_variable(w, value->id, -1);
        weft_text_add(
            w->out, "        real %s[%d];\n        load_plain(%s, p_%s, %d, row, n_elements);\n",
            name, count, name,
            weft_source_variable(w, weft_value_storage(w->graph, value->id), -1) + 2, count);
    }
    TRY(weft_source_call(w, prologue, 0, error));
    weft_text_add(w->out, "        return %s[0];\n    };\n",
                  weft_source_variable(w, prologue->result, -1));
done:
    return status;
}

/* Is this a load of later calls that is issued before the product kernel starts? With one row per
 * thread such loads go to registers; with more rows, to the L2 cache. */
static bool is_behind(const source_writer *w, const weft_plan_kernel *kernel,
                      const weft_operand *load) {
    return w->graph->values[load->value].index_set >= 0 && load->connectivity < 0 &&
           load->value != w->graph->calls[kernel->product].operands[0].value &&
           is_wanted(w, kernel, load);
}

static void write_prefetch(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_product_kernel *product_kernel = w->graph->calls[kernel->product].product_kernel;
    const bool single = product_kernel->rows == product_kernel->threads;
    for (int i = 0; i < kernel->n_loads; ++i) {
        const weft_operand *load = &kernel->loads[i];
        const char *name = weft_source_variable(w, load->value, load->connectivity) + 2;
        const int count = weft_shape_count(&load->shape);
        if (!is_behind(w, kernel, load))
            continue;
        const char *list =
            weft_source_variable(w, weft_value_storage(w->graph, load->value), -1) + 2;
        if (single)
            weft_text_add(
                w->out,
                "    real prefetched_%s[%d];\n"
                "    if (first_row + threadIdx.x < n_rows)\n"
                "        load_plain(prefetched_%s, p_%s, %d, first_row + threadIdx.x, n_rows);\n",
                name, count, name, list, count);
        else
            weft_text_add(
                w->out,
                "    fetch_rows(p_%s + first_row * %d, (n_rows - first_row < ROWS_NODES ? "
                "n_rows - first_row : ROWS_NODES) * %d);\n",
                list, count, count);
    }
}

static void write_product_kernel(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_call *call = &w->graph->calls[kernel->product];
    weft_text_add(w->out, "    extern __shared__ __align__(128) unsigned char shared[];\n"
                          "    const int64_t n_rows = n_elements;\n"
                          "    const int64_t first_row = blockIdx.x * (int64_t)ROWS_NODES;\n"
                          "    real own[ROWS_PER_THREAD], y[ROWS_PER_THREAD];\n");
    write_prefetch(w, kernel);
    weft_text_add(w->out, "\n    /* ");
    weft_source_place(w, &call->place);
    weft_text_add(w->out,
                  "  %s = apply(%s, ...), by the product kernel '%s' */\n"
                  "    {\n%s    }\n\n%s",
                  w->graph->values[call->result].name, w->graph->operators[call->op],
                  call->product_kernel->name, call->product_kernel->body,
                  /* nothing is stored yet; the test is free if the product kernel has already made
                   * it (RETURN_IF_DONE) */
                  w->plan->predicated ? WEFT_PREDICATE_LATE : "");
}

/* The other calls of the kernel, for row k of the thread. */
static weft_status write_rows(const source_writer *w, const weft_plan_kernel *kernel,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_implementation *implementation = kernel->implementation;
    const weft_call *rows = &w->graph->calls[kernel->product];
    weft_text_add(w->out, "    UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {\n");
    weft_source_thread(w, "        ", "first_row + k * ROWS_THREADS + threadIdx.x");
    weft_text_add(w->out,
                  "        if (element >= n_elements%s)\n            continue;\n"
                  "        real %s[1] = {own[k]}, %s[1] = {y[k]};\n"
                  "        (void)block, (void)lane;\n",
                  rows->product_kernel->rows < rows->product_kernel->threads
                      ? " || threadIdx.x >= ROWS_NODES"
                      : "",
                  weft_source_variable(w, rows->operands[0].value, -1),
                  weft_source_variable(w, rows->result, -1));
    for (int i = 0; i < kernel->n_loads; ++i) {
        const weft_operand *load = &kernel->loads[i];
        if (!is_behind(w, kernel, load))
            continue;
        if (rows->product_kernel->rows == rows->product_kernel->threads)
            weft_text_add(w->out, "        real(&%s)[%d] = prefetched_%s;\n",
                          weft_source_variable(w, load->value, load->connectivity),
                          weft_shape_count(&load->shape),
                          weft_source_variable(w, load->value, load->connectivity) + 2);
        else
            weft_source_load(w, load);
    }
    for (int i = 0; i < implementation->fusion->n_calls; ++i)
        if (!is_done(kernel, implementation->order[i]))
            TRY(weft_source_call(w, &w->graph->calls[implementation->order[i]],
                                 implementation->variants[i], error));
    weft_text_add(w->out, "\n");
    for (int i = 0; i < kernel->n_stores; ++i)
        weft_source_store(w, kernel, kernel->stores[i]);
    weft_source_reductions_each(w, kernel);
    weft_text_add(w->out, "    }\n");
done:
    return status;
}

weft_status weft_source_product(const source_writer *plain, const weft_plan_kernel *kernel,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    source_writer hoisting = *plain;
    const source_writer *w = &hoisting;
    hoisting.hoists = true;
    write_definitions(w, kernel);
    weft_source_head(w, kernel);
    weft_source_load_uniforms(w, kernel->loads, kernel->n_loads);
    weft_source_uniforms(w, kernel);
    TRY(write_load_row(w, kernel, error));
    write_product_kernel(w, kernel);
    weft_source_reductions_declare(w, kernel);
    weft_source_reductions_start(w, kernel);
    TRY(write_rows(w, kernel, error));
    weft_source_reduction_tile(w, kernel);
    weft_source_reductions_end(w, kernel);
    weft_text_add(
        w->out,
        "}\n#undef ROWS_THREADS\n#undef ROWS_BOUNDS\n#undef ROWS_NODES\n#undef ROWS_PER_THREAD\n"
        "#undef ROWS_RESIDENT\n#undef LOAD\n#undef RETURN_IF_DONE\n\n");
done:
    return status;
}
