/* Results that are written where they are stored, entry by entry (fusion/plan/in_place.h). On the host these are
 * vectors of a cache line, which can be stored past the caches in any order. */
#include "fusion/codegen/private.h"
#include "fusion/plan/in_place.h"

enum { VECTORS = 32 /* registers of the host */, CACHE_LINE = 64 };

static bool exceeds_vectors(const source_writer *w, const weft_value *value) {
    const int lanes = w->single ? w->limits->lanes_float : w->limits->lanes_double;
    return weft_shape_count(&value->shape) > VECTORS && lanes * (w->single ? 4 : 8) == CACHE_LINE &&
           !weft_source_is_plain(w, value);
}

bool weft_source_is_written_in_place(const source_writer *w, const weft_plan_kernel *kernel,
                                     int position) {
    const weft_implementation *made = kernel->implementation;
    if (kernel->kind != KERNEL_MAP)
        return false;
    if (w->backend->is_threaded)
        return weft_written_in_place(w->graph, w->options, made, position);
    const int result = w->graph->calls[made->order[position]].result;
    return result >= 0 && exceeds_vectors(w, &w->graph->values[result]) &&
           weft_writable_in_place(w->graph, w->options, made, position);
}

void weft_source_declare_in_place(const source_writer *w, const weft_call *call) {
    const weft_value *value = &w->graph->values[call->result];
    const char *v = weft_source_variable(w, call->result, -1);
    const int count = weft_shape_count(&value->shape);
    if (!w->backend->is_threaded)
        weft_text_add(w->out, "        real *%s = (real *)(p_%s + block * (%d * LANES));\n", v,
                      v + 2, count);
    else if (weft_source_is_plain(w, value))
        weft_text_add(w->out, "        const stored_list<1> %s = {p_%s + element * %d};\n", v,
                      v + 2, count);
    else
        weft_text_add(
            w->out, "        const stored_list<LANES> %s = {p_%s + block * (%d * LANES) + lane};\n",
            v, v + 2, count);
}
