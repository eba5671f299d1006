/* Kernels with reductions on a GPU: a thread has several instances of its block's chunk, and all of
 * their loads are issued before the first is waited for. */
#include "core/weft_core.h"
#include "fusion/codegen/private.h"
#include "fusion/graph/graph.h"
#include "fusion/library/library.h"
#include "fusion/plan/plan.h"

bool weft_source_chunked(const source_writer *w, const weft_plan_kernel *kernel) {
    return w->backend->is_threaded && kernel->kind == KERNEL_REDUCTION;
}

enum { AHEAD_COMPONENTS = 8 /* an instance: four instances of so many are 64 registers */ };

/* Loads behind a store would not be issued before it: the compiler must keep their order. */
bool weft_source_loads_ahead(const source_writer *w, const weft_plan_kernel *kernel) {
    int n = 0;
    for (int i = 0; i < kernel->n_loads; ++i)
        if (w->graph->data[kernel->loads[i].datum].index_set >= 0)
            n += weft_shape_count(&kernel->loads[i].shape);
    return weft_source_chunked(w, kernel) && n <= AHEAD_COMPONENTS;
}

void weft_source_write_loaded(const source_writer *w, const weft_plan_kernel *kernel) {
    for (int i = 0; i < kernel->n_loads; ++i) {
        const weft_operand *load = &kernel->loads[i];
        const char *name = weft_source_variable(w, load->datum, load->map);
        if (w->graph->data[load->datum].index_set >= 0)
            weft_text_add(w->out, "        real(&%s)[%d] = ahead_%s[k];\n", name,
                          weft_shape_count(&load->shape), name + 2);
    }
}

void weft_source_write_ahead(const source_writer *w, const weft_plan_kernel *kernel) {
    for (int i = 0; i < kernel->n_loads; ++i) {
        const weft_operand *load = &kernel->loads[i];
        if (w->graph->data[load->datum].index_set >= 0)
            weft_text_add(w->out, "    real ahead_%s[CHUNK / THREADS][%d];\n",
                          weft_source_variable(w, load->datum, load->map) + 2,
                          weft_shape_count(&load->shape));
    }
    weft_text_add(w->out, "    UNROLL for (int k = 0; k < CHUNK / THREADS; ++k) {\n");
    weft_source_thread(w, "        ", WEFT_CHUNK_INSTANCE);
    weft_text_add(w->out, "        if (instance >= n_instances)\n            continue;\n");
    weft_source_write_loaded(w, kernel);
    for (int i = 0; i < kernel->n_loads; ++i)
        if (w->graph->data[kernel->loads[i].datum].index_set >= 0)
            weft_source_load_statement(w, &kernel->loads[i]);
    weft_text_add(w->out, "    }\n%s", w->plan->guarded ? WEFT_GUARD_LATE : "");
}
