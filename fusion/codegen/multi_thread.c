/* Writes kernels with several threads per element: lane l of every warp belongs to element l of the
 * block, and warp t is thread t of each element. fusion/plan/placement.c has chosen the values in
 * shared memory and the barriers. Loads and stores of shared values are spread over the warps;
 * calls of one thread run in the first warp. */
#include "fusion/codegen/private.h"

static weft_placement placement(const weft_plan_kernel *kernel, int value, int connectivity) {
    const weft_implementation *one = kernel->implementation;
    for (int m = 0; m < one->n_onchip; ++m)
        if (one->onchip[m].value == value && one->onchip[m].connectivity == connectivity)
            return one->placement[m];
    return PLACE_REGISTER;
}

static void declare_shared(const source_writer *w, const weft_implementation *one) {
    for (int m = 0; m < one->n_onchip; ++m)
        if (one->placement[m] == PLACE_SHARED)
            weft_text_add(
                w->out, "    const shared_list<ELEMENTS> %s = {on_chip + %d * ELEMENTS + own};\n",
                weft_source_variable(w, one->onchip[m].value, one->onchip[m].connectivity),
                one->offsets[m]);
}

static void load_shared(const source_writer *w, const weft_operand *load) {
    const weft_value *value = &w->graph->values[load->value];
    const int count = weft_shape_count(&value->shape);
    const char *v = weft_source_variable(w, load->value, load->connectivity);
    const char *p = weft_source_variable(w, weft_value_storage(w->graph, load->value), -1) + 2;
    weft_text_add(w->out, "    if (is_here)\n");
    if (load->connectivity >= 0) {
        const weft_graph_connectivity *connectivity = &w->graph->connectivities[load->connectivity];
        weft_text_add(w->out,
                      "        spread_load_indirect<THREADS_PER_ELEMENT>(%s, p_%s, m_%s + block * "
                      "(%d * LANES) + "
                      "lane, %d, %d, warp);\n",
                      v, p, connectivity->name, connectivity->width, connectivity->width, count);
    } else if (w->graph->index_sets[value->index_set].plain)
        weft_text_add(
            w->out,
            "        spread_load_plain<THREADS_PER_ELEMENT>(%s, p_%s, %d, element, warp);\n", v, p,
            count);
    else
        weft_text_add(w->out,
                      "        spread_load_block<THREADS_PER_ELEMENT>(%s, p_%s + block * (%d * "
                      "LANES) + lane, %d, warp);\n",
                      v, p, count, count);
}

static void store_shared(const source_writer *w, int stored) {
    const weft_value *value = &w->graph->values[stored];
    const int count = weft_shape_count(&value->shape);
    const char *v = weft_source_variable(w, stored, -1);
    const char *p = weft_source_variable(w, weft_value_storage(w->graph, stored), -1) + 2;
    weft_text_add(w->out, "    if (is_here)\n");
    if (w->graph->index_sets[value->index_set].plain)
        weft_text_add(
            w->out,
            "        spread_store_plain<THREADS_PER_ELEMENT>(p_%s, %s, %d, element, warp);\n", p, v,
            count);
    else
        weft_text_add(w->out,
                      "        spread_store_block<THREADS_PER_ELEMENT>(p_%s + block * (%d * LANES) "
                      "+ lane, %s, "
                      "%d, warp);\n",
                      p, count, v, count);
}

static void add_shared(const source_writer *w, const weft_accumulation *a) {
    const weft_value *target = &w->graph->values[a->target];
    const char *p = weft_source_variable(w, a->target, -1) + 2;
    const char *v = weft_source_variable(w, a->source, -1);
    const weft_graph_connectivity *connectivity = &w->graph->connectivities[a->connectivity];
    const int entries = connectivity->width * connectivity->width;
    weft_text_add(w->out, "    if (is_here)\n");
    if (a->matrix)
        weft_text_add(w->out,
                      "        spread_add_matrix<THREADS_PER_ELEMENT>(p_%s, positions_%s + block * "
                      "(%d * LANES) + "
                      "lane, %s, %d, warp);\n",
                      p, target->name, entries, v, entries);
    else
        weft_text_add(w->out,
                      "        spread_add_indirect<THREADS_PER_ELEMENT>(p_%s, m_%s + block * (%d * "
                      "LANES) + lane, "
                      "%s, %d, %d, warp);\n",
                      p, connectivity->name, connectivity->width, v, connectivity->width,
                      weft_shape_count(&target->shape));
}

static weft_status write_call(const source_writer *w, const weft_plan_kernel *kernel, int position,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_implementation *one = kernel->implementation;
    const weft_call *call = &w->graph->calls[one->order[position]];
    const int variant = one->variants[position];
    const bool alone = call->specialisation == NULL || call->specialisation->threads[variant] == 1;
    if (one->barriers[position])
        weft_text_add(w->out, "    __syncthreads();\n");
    weft_source_call_comment(w, call);
    if (placement(kernel, call->result, -1) == PLACE_REGISTER)
        weft_text_add(w->out, "    real %s[%d];\n", weft_source_variable(w, call->result, -1),
                      weft_shape_count(&w->graph->values[call->result].shape));
    weft_text_add(w->out, alone ? "    if (is_here && warp == 0) {\n" : "    if (is_here) {\n");
    TRY(weft_source_call_statements(w, call, variant, alone ? "0" : "warp",
                                    alone ? "1" : "THREADS_PER_ELEMENT", error));
    weft_text_add(w->out, "    }\n");
done:
    return status;
}

static void write_stores(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_implementation *one = kernel->implementation;
    if (one->barriers[one->fusion->n_calls])
        weft_text_add(w->out, "    __syncthreads();\n");
    for (int i = 0; i < kernel->n_stores; ++i)
        if (placement(kernel, kernel->stores[i], -1) == PLACE_SHARED)
            store_shared(w, kernel->stores[i]);
    for (int i = 0; i < kernel->n_scatters; ++i) {
        const weft_accumulation *a = &w->graph->accumulations[kernel->scatters[i]];
        if (placement(kernel, a->source, -1) == PLACE_SHARED)
            add_shared(w, a);
    }
    weft_text_add(w->out, "    if (is_here && warp == 0) {\n");
    for (int i = 0; i < kernel->n_stores; ++i)
        if (placement(kernel, kernel->stores[i], -1) == PLACE_REGISTER)
            weft_source_store(w, kernel, kernel->stores[i]);
    for (int i = 0; i < kernel->n_scatters; ++i) {
        const weft_accumulation *a = &w->graph->accumulations[kernel->scatters[i]];
        if (placement(kernel, a->source, -1) == PLACE_REGISTER)
            weft_source_scatter(w, kernel, a);
    }
    weft_text_add(w->out, "    }\n");
}

/* The elements of a block; if it has several per thread, in a loop. */
static void write_elements(const source_writer *w, const weft_implementation *one) {
    weft_text_add(w->out,
                  "    extern __shared__ __align__(128) unsigned char shared[];\n"
                  "    scalar *const on_chip = (scalar *)shared;\n"
                  "    const int warp = threadIdx.x / ELEMENTS, own = threadIdx.x %% ELEMENTS;\n"
                  "    const int lane = own %% LANES;\n");
    declare_shared(w, one);
    if (one->serial_iterations > 1)
        weft_text_add(w->out,
                      "    for (int iteration = 0; iteration < %d; ++iteration) {\n"
                      "    if (iteration > 0)\n        __syncthreads();\n"
                      "    const int64_t element = (blockIdx.x * (int64_t)%d + iteration) * "
                      "ELEMENTS + own;\n",
                      one->serial_iterations, one->serial_iterations);
    else
        weft_text_add(w->out,
                      "    const int64_t element = blockIdx.x * (int64_t)ELEMENTS + own;\n");
    weft_text_add(w->out, "    const int64_t block = element / LANES;\n"
                          "    const bool is_here = element < n_elements;\n");
}

weft_status weft_source_threads(const source_writer *w, const weft_plan_kernel *kernel,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_implementation *one = kernel->implementation;
    weft_text_add(w->out,
                  "#define THREADS_PER_ELEMENT %d /* threads of an element */\n"
                  "#define ELEMENTS %d /* of a block */\n",
                  one->threads_per_element, one->elements_per_block);
    weft_source_head(w, kernel);
    for (int i = 0; i < kernel->n_loads; ++i)
        if (w->graph->values[kernel->loads[i].value].index_set < 0)
            weft_source_load(w, &kernel->loads[i]);
    write_elements(w, one);
    for (int i = 0; i < kernel->n_loads; ++i)
        if (placement(kernel, kernel->loads[i].value, kernel->loads[i].connectivity) ==
            PLACE_SHARED)
            load_shared(w, &kernel->loads[i]);
    for (int i = 0; i < kernel->n_loads; ++i) {
        const weft_operand *load = &kernel->loads[i];
        if (w->graph->values[load->value].index_set < 0 ||
            placement(kernel, load->value, load->connectivity) == PLACE_SHARED)
            continue;
        weft_text_add(w->out, "    real %s[%d];\n    if (is_here && warp == 0) {\n",
                      weft_source_variable(w, load->value, load->connectivity),
                      weft_shape_count(&load->shape));
        weft_source_load_statement(w, load);
        weft_text_add(w->out, "    }\n");
    }
    for (int i = 0; i < one->fusion->n_calls; ++i)
        TRY(write_call(w, kernel, i, error));
    write_stores(w, kernel);
    weft_text_add(w->out, "%s}\n#undef THREADS_PER_ELEMENT\n#undef ELEMENTS\n\n",
                  one->serial_iterations > 1 ? "    }\n" : "");
done:
    return status;
}
