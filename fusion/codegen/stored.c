/* Results that exceed the registers of a thread are written where they are stored, entry by
 * entry: an array of them would lie in memory too, and be written, read and written
 * again. On the host this is for vectors of a cache line, which can be stored past the caches in any order. */
#include "fusion/codegen/private.h"

enum {
    REGISTERS = 255, /* of 4 bytes, per thread of a GPU */
    VECTORS = 32,    /* registers of the host */
    CACHE_LINE = 64
};

static bool exceeds_registers(const source_writer *w, const weft_value *value) {
    const int n = weft_shape_count(&value->shape), bytes = w->single ? 4 : 8;
    if (w->backend->is_threaded)
        return n * bytes / 4 > REGISTERS;
    const int lanes = w->single ? w->limits->lanes_float : w->limits->lanes_double;
    return n > VECTORS && lanes * bytes == CACHE_LINE &&
           !w->graph->index_sets[value->index_set].plain;
}

static bool is_stored(const weft_plan_kernel *kernel, int value) {
    for (int i = 0; i < kernel->n_stores; ++i)
        if (kernel->stores[i] == value)
            return true;
    return false;
}

/* Does anything else in the kernel read the value? */
static bool is_read(const source_writer *w, const weft_plan_kernel *kernel, int value) {
    const weft_implementation *one = kernel->implementation;
    for (int i = 0; i < one->fusion->n_calls; ++i) {
        const weft_call *call = &w->graph->calls[one->order[i]];
        for (int k = 0; k < call->n_operands; ++k)
            if (call->operands[k].value == value)
                return true;
    }
    for (int i = 0; i < kernel->n_scatters; ++i)
        if (w->graph->accumulations[kernel->scatters[i]].source == value)
            return true;
    return false;
}

bool weft_source_is_written_in_place(const source_writer *w, const weft_plan_kernel *kernel,
                                     const weft_call *call, int variant) {
    const weft_value *value = &w->graph->values[call->result];
    return kernel->kind == KERNEL_MAP && call->specialisation != NULL && call->reduction == NULL &&
           value->storage < 0 && is_stored(kernel, call->result) && exceeds_registers(w, value) &&
           !is_read(w, kernel, call->result) &&
           weft_function_only_assigns(call->specialisation->function, variant);
}

void weft_source_declare_in_place(const source_writer *w, const weft_call *call) {
    const weft_value *value = &w->graph->values[call->result];
    const char *v = weft_source_variable(w, call->result, -1);
    const int count = weft_shape_count(&value->shape);
    if (!w->backend->is_threaded)
        weft_text_add(w->out, "        real *%s = (real *)(p_%s + block * (%d * LANES));\n", v,
                      v + 2, count);
    else if (w->graph->index_sets[value->index_set].plain)
        weft_text_add(w->out, "        const stored_list<1> %s = {p_%s + element * %d};\n", v,
                      v + 2, count);
    else
        weft_text_add(
            w->out, "        const stored_list<LANES> %s = {p_%s + block * (%d * LANES) + lane};\n",
            v, v + 2, count);
}
