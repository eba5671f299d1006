/* A kernel that starts with a rows routine: y = A v for the rows that a thread block owns, where v
 * is loaded or computed at every row that the routine asks for; then, row by row, the calls that
 * share the kernel, their stores and what they contribute to reductions. No barrier is needed
 * between, for a block has made all of its own rows. */
#include "fusion/codegen/private.h"

#include <stdio.h>
#include <string.h>

static bool is_done(const weft_plan_kernel *kernel, int call) {
    return call == kernel->rows || call == kernel->folded;
}

/* Is this load wanted by a call behind the routine? */
static bool is_wanted(const source_writer *w, const weft_plan_kernel *kernel,
                      const weft_operand *load) {
    const weft_fusion *fusion = kernel->implementation->fusion;
    for (int i = 0; i < fusion->n_calls; ++i) {
        const weft_call *call = &w->graph->calls[fusion->calls[i]];
        for (int k = 0; k < call->n_operands && !is_done(kernel, call->id); ++k)
            if (call->operands[k].datum == load->datum && call->operands[k].map == load->map)
                return true;
    }
    return false;
}

/* Helpers stand once in a module. */
static bool is_first_use(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_routine *routine = w->graph->calls[kernel->rows].routine;
    for (const weft_plan_kernel *k = w->plan->kernels; k < kernel; ++k)
        if (k->kind == KERNEL_PRODUCT &&
            strcmp(w->graph->calls[k->rows].routine->name, routine->name) == 0)
            return false;
    return true;
}

static void write_definitions(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_routine *routine = w->graph->calls[kernel->rows].routine;
    char blocks[16] = "";
    if (routine->blocks > 0)
        snprintf(blocks, sizeof blocks, ", %d", routine->blocks);
    weft_text_add(w->out,
                  "#define ROWS_THREADS %d\n"
                  "#define ROWS_BOUNDS ROWS_THREADS%s\n"
                  "#define ROWS_NODES %d /* rows of a block */\n"
                  "#define ROWS_PER_THREAD (ROWS_NODES / ROWS_THREADS)\n"
                  "#define LOAD(j) load_row(j)\n"
                  "#define RETURN_IF_DONE %s\n",
                  routine->threads, blocks, routine->rows,
                  w->plan->guarded ? "if (going == 0) return" : "(void)0");
    if (is_first_use(w, kernel))
        weft_text_add(w->out, "\n%s", routine->helpers);
}

/* v at any row, from memory or computed there from what it is made of. */
static weft_status write_load_row(const source_writer *w, const weft_plan_kernel *kernel,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_operand *v = &w->graph->calls[kernel->rows].operands[0];
    const weft_call *folded = kernel->folded >= 0 ? &w->graph->calls[kernel->folded] : NULL;
    weft_text_add(w->out, "    const auto load_row = [&](int64_t row) -> real {\n");
    if (folded == NULL) {
        weft_text_add(w->out, "        return p_%s[row];\n    };\n",
                      weft_source_variable(w, weft_datum_storage(w->graph, v->datum), -1) + 2);
        goto done;
    }
    for (int k = 0; k < folded->n_operands; ++k) {
        const weft_datum *datum = &w->graph->data[folded->operands[k].datum];
        bool repeated = datum->index_set < 0;
        for (int m = 0; m < k; ++m)
            repeated |= folded->operands[m].datum == datum->id;
        if (repeated)
            continue;
        const int count = weft_shape_count(&datum->shape);
        const char *name = weft_source_variable(w, datum->id, -1);
        weft_text_add(
            w->out, "        real %s[%d];\n        load_plain(%s, p_%s, %d, row, n_instances);\n",
            name, count, name,
            weft_source_variable(w, weft_datum_storage(w->graph, datum->id), -1) + 2, count);
    }
    TRY(weft_source_call(w, folded, 0, error));
    weft_text_add(w->out, "        return %s[0];\n    };\n",
                  weft_source_variable(w, folded->result, -1));
done:
    return status;
}

/* Rows of the thread that what shares the kernel wants, asked for before the routine starts: where
 * a thread has one row, into registers; else into the second cache, for there are not enough. */
static bool is_behind(const source_writer *w, const weft_plan_kernel *kernel,
                      const weft_operand *load) {
    return w->graph->data[load->datum].index_set >= 0 && load->map < 0 &&
           load->datum != w->graph->calls[kernel->rows].operands[0].datum &&
           is_wanted(w, kernel, load);
}

static void write_ahead(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_routine *routine = w->graph->calls[kernel->rows].routine;
    const bool single = routine->rows == routine->threads;
    for (int i = 0; i < kernel->n_loads; ++i) {
        const weft_operand *load = &kernel->loads[i];
        const char *name = weft_source_variable(w, load->datum, load->map) + 2;
        const int count = weft_shape_count(&load->shape);
        if (!is_behind(w, kernel, load))
            continue;
        const char *list =
            weft_source_variable(w, weft_datum_storage(w->graph, load->datum), -1) + 2;
        if (single)
            weft_text_add(
                w->out,
                "    real ahead_%s[%d];\n"
                "    if (first_row + threadIdx.x < n_rows)\n"
                "        load_plain(ahead_%s, p_%s, %d, first_row + threadIdx.x, n_rows);\n",
                name, count, name, list, count);
        else
            weft_text_add(
                w->out,
                "    fetch_rows(p_%s + first_row * %d, (n_rows - first_row < ROWS_NODES ? "
                "n_rows - first_row : ROWS_NODES) * %d);\n",
                list, count, count);
    }
}

static void write_routine(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_call *call = &w->graph->calls[kernel->rows];
    weft_text_add(w->out, "    extern __shared__ __align__(128) unsigned char shared[];\n"
                          "    const int64_t n_rows = n_instances;\n"
                          "    const int64_t first_row = blockIdx.x * (int64_t)ROWS_NODES;\n"
                          "    real own[ROWS_PER_THREAD], y[ROWS_PER_THREAD];\n");
    write_ahead(w, kernel);
    weft_text_add(w->out, "\n    /* ");
    weft_source_place(w, &call->place);
    weft_text_add(w->out,
                  "  %s = apply(%s, ...), by the routine '%s' */\n"
                  "    {\n%s    }\n\n%s",
                  w->graph->data[call->result].name, w->graph->operators[call->op],
                  call->routine->name, call->routine->body,
                  /* nothing is stored yet; where the routine asks itself, behind its first loads,
                     this costs nothing */
                  w->plan->guarded ? WEFT_GUARD_LATE : "");
}

/* Row k of the thread: what shares the kernel with the routine. */
static weft_status write_rows(const source_writer *w, const weft_plan_kernel *kernel,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_implementation *implementation = kernel->implementation;
    const weft_call *rows = &w->graph->calls[kernel->rows];
    weft_text_add(w->out, "    UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {\n");
    weft_source_thread(w, "        ", "first_row + k * ROWS_THREADS + threadIdx.x");
    weft_text_add(w->out,
                  "        if (instance >= n_instances)\n            continue;\n"
                  "        real %s[1] = {own[k]}, %s[1] = {y[k]};\n"
                  "        (void)block, (void)lane;\n",
                  weft_source_variable(w, rows->operands[0].datum, -1),
                  weft_source_variable(w, rows->result, -1));
    for (int i = 0; i < kernel->n_loads; ++i) {
        const weft_operand *load = &kernel->loads[i];
        if (!is_behind(w, kernel, load))
            continue;
        if (rows->routine->rows == rows->routine->threads)
            weft_text_add(w->out, "        real(&%s)[%d] = ahead_%s;\n",
                          weft_source_variable(w, load->datum, load->map),
                          weft_shape_count(&load->shape),
                          weft_source_variable(w, load->datum, load->map) + 2);
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

weft_status weft_source_rows(const source_writer *plain, const weft_plan_kernel *kernel,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    source_writer hoisting = *plain;
    const source_writer *w = &hoisting;
    hoisting.hoists = true;
    write_definitions(w, kernel);
    weft_source_head(w, kernel);
    for (int i = 0; i < kernel->n_loads; ++i)
        if (w->graph->data[kernel->loads[i].datum].index_set < 0)
            weft_source_load(w, &kernel->loads[i]);
    weft_source_uniforms(w, kernel);
    TRY(write_load_row(w, kernel, error));
    write_routine(w, kernel);
    weft_source_reductions_declare(w, kernel);
    weft_source_reductions_start(w, kernel);
    TRY(write_rows(w, kernel, error));
    weft_source_reductions_chunk(w, kernel);
    weft_source_reductions_end(w, kernel);
    weft_text_add(
        w->out,
        "}\n#undef ROWS_THREADS\n#undef ROWS_BOUNDS\n#undef ROWS_NODES\n#undef ROWS_PER_THREAD\n"
        "#undef LOAD\n#undef RETURN_IF_DONE\n\n");
done:
    return status;
}
