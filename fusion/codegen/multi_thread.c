/* Writes kernels with several threads per element: lane l of every warp belongs to element l of the
 * block, and warp t is thread t of each element. fusion/plan/placement.c has chosen the values in
 * shared memory, where they are loaded, and the barriers. Loads of shared values are spread over
 * the warps; calls of one thread run in the first warp. A thread stores the components that it has
 * computed directly after their call. */
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

/* "p_K[...]": the memory of component c of a result. */
static void add_place(const source_writer *w, int stored) {
    const weft_value *value = &w->graph->values[stored];
    const int count = weft_shape_count(&value->shape);
    const char *p = weft_source_variable(w, weft_value_storage(w->graph, stored), -1) + 2;
    if (w->graph->index_sets[value->index_set].plain)
        weft_text_add(w->out, "p_%s[element * %d + c]", p, count);
    else
        weft_text_add(w->out, "p_%s[block * (%d * LANES) + lane + c * LANES]", p, count);
}

/* "&p_b[...]": the memory that component c of a contribution is added to. */
static void add_target(const source_writer *w, const weft_accumulation *a) {
    const weft_value *target = &w->graph->values[a->target];
    const char *p = weft_source_variable(w, a->target, -1) + 2;
    const weft_graph_connectivity *connectivity = &w->graph->connectivities[a->connectivity];
    const int count = weft_shape_count(&target->shape);
    if (a->matrix)
        weft_text_add(w->out, "&p_%s[positions_%s[block * (%d * LANES) + lane + c * LANES]]", p,
                      target->name, connectivity->width * connectivity->width);
    else
        weft_text_add(w->out,
                      "&p_%s[(int64_t)m_%s[block * (%d * LANES) + lane + c / %d * LANES] * %d + "
                      "c %% %d]",
                      p, connectivity->name, connectivity->width, count, count, count);
}

/* Store or add component c of a result wherever it goes. */
static void store_component(const source_writer *w, const weft_plan_kernel *kernel,
                            const weft_call *call, const char *component) {
    const char *v = weft_source_variable(w, call->result, -1);
    for (int i = 0; i < kernel->n_stores; ++i)
        if (kernel->stores[i] == call->result) {
            weft_text_add(w->out, "            ");
            add_place(w, call->result);
            weft_text_add(w->out, " = %s[%s];\n", v, component);
        }
    for (int i = 0; i < kernel->n_scatters; ++i)
        if (w->graph->accumulations[kernel->scatters[i]].source == call->result) {
            weft_text_add(w->out, "            atomicAdd(");
            add_target(w, &w->graph->accumulations[kernel->scatters[i]]);
            weft_text_add(w->out, ", %s[%s]);\n", v, component);
        }
}

static bool is_stored(const source_writer *w, const weft_plan_kernel *kernel, int result) {
    for (int i = 0; i < kernel->n_stores; ++i)
        if (kernel->stores[i] == result)
            return true;
    for (int i = 0; i < kernel->n_scatters; ++i)
        if (w->graph->accumulations[kernel->scatters[i]].source == result)
            return true;
    return false;
}

/* The stores of thread t where the thread pattern does not tell its components: consecutive ones of
 * one thread in a loop. */
static void store_runs(const source_writer *w, const weft_plan_kernel *kernel,
                       const weft_call *call, int variant) {
    const int n = weft_shape_count(&call->specialisation->result);
    for (int first = 0, last = 0; first < n; first = last) {
        const int writer = weft_specialisation_writer(call->specialisation, variant, first);
        while (last < n &&
               weft_specialisation_writer(call->specialisation, variant, last) == writer)
            ++last;
        weft_text_add(w->out,
                      "            if (t == %d)\n"
                      "            UNROLL for (int c = %d; c < %d; ++c) {\n",
                      writer, first, last);
        store_component(w, kernel, call, "c");
        weft_text_add(w->out, "            }\n");
    }
}

/* The stores and accumulations of a result, by the threads that have computed it. */
static void store_result(const source_writer *w, const weft_plan_kernel *kernel,
                         const weft_call *call, int variant) {
    const bool alone = call->specialisation == NULL || call->specialisation->threads[variant] == 1;
    if (!is_stored(w, kernel, call->result))
        return;
    if (alone) {
        weft_text_add(w->out, "        UNROLL for (int c = 0; c < %d; ++c) {\n",
                      weft_shape_count(&w->graph->values[call->result].shape));
        store_component(w, kernel, call, "c");
        weft_text_add(w->out, "        }\n");
        return;
    }
    weft_text_add(w->out, "        for (int t = warp; t < %d; t += THREADS_PER_ELEMENT) {\n",
                  call->specialisation->threads[variant]);
    const int n = weft_specialisation_thread_count(call->specialisation, variant);
    for (int k = 0; k < n; ++k) {
        weft_text_add(w->out, "            { const int c = ");
        weft_specialisation_component(call->specialisation, variant, k, "t", w->out);
        weft_text_add(w->out, ";\n");
        store_component(w, kernel, call, "c");
        weft_text_add(w->out, "            }\n");
    }
    if (n == 0)
        store_runs(w, kernel, call, variant);
    weft_text_add(w->out, "        }\n");
}

static weft_status write_call(const source_writer *w, const weft_plan_kernel *kernel, int position,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_implementation *one = kernel->implementation;
    const weft_call *call = &w->graph->calls[one->order[position]];
    const int variant = one->variants[position];
    const bool alone = call->specialisation == NULL || call->specialisation->threads[variant] == 1;
    weft_source_call_comment(w, call);
    if (placement(kernel, call->result, -1) == PLACE_REGISTER)
        weft_text_add(w->out, "    real %s[%d];\n", weft_source_variable(w, call->result, -1),
                      weft_shape_count(&w->graph->values[call->result].shape));
    weft_text_add(w->out, alone ? "    if (is_here && warp == 0) {\n" : "    if (is_here) {\n");
    TRY(weft_source_call_statements(w, call, variant, alone ? "0" : "warp",
                                    alone ? "1" : "THREADS_PER_ELEMENT", error));
    store_result(w, kernel, call, variant);
    weft_text_add(w->out, "    }\n");
done:
    return status;
}

/* The values that are loaded before the call at this position; those in registers by the first
 * warp. */
static void write_loads(const source_writer *w, const weft_plan_kernel *kernel, int position) {
    const weft_implementation *one = kernel->implementation;
    for (int m = 0; m < one->n_onchip; ++m)
        if (!one->produced_here[m] && one->load_position[m] == position &&
            one->placement[m] == PLACE_SHARED)
            load_shared(w, &one->onchip[m]);
    for (int m = 0; m < one->n_onchip; ++m) {
        const weft_operand *load = &one->onchip[m];
        if (one->produced_here[m] || one->load_position[m] != position ||
            w->graph->values[load->value].index_set < 0 || one->placement[m] == PLACE_SHARED)
            continue;
        weft_text_add(w->out, "    real %s[%d];\n    if (is_here && warp == 0) {\n",
                      weft_source_variable(w, load->value, load->connectivity),
                      weft_shape_count(&load->shape));
        weft_source_load_statement(w, load);
        weft_text_add(w->out, "    }\n");
    }
}

static weft_status write_position(const source_writer *w, const weft_plan_kernel *kernel,
                                  int position, weft_error *error) {
    const int barriers = kernel->implementation->barriers[position];
    if (barriers & BARRIER_BEFORE_LOADS)
        weft_text_add(w->out, "    __syncthreads();\n");
    write_loads(w, kernel, position);
    if (barriers & BARRIER_BEFORE_CALL)
        weft_text_add(w->out, "    __syncthreads();\n");
    return write_call(w, kernel, position, error);
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
        weft_text_add(
            w->out,
            "    for (int iteration = 0; iteration < %d; ++iteration) {\n%s"
            "    const int64_t element = (blockIdx.x * (int64_t)%d + iteration) * "
            "ELEMENTS + own;\n",
            one->serial_iterations,
            one->shared_components > 0 ? "    if (iteration > 0)\n        __syncthreads();\n" : "",
            one->serial_iterations);
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
    weft_source_load_uniforms(w, kernel->loads, kernel->n_loads);
    write_elements(w, one);
    for (int i = 0; i < one->fusion->n_calls; ++i)
        TRY(write_position(w, kernel, i, error));
    weft_text_add(w->out, "%s}\n#undef THREADS_PER_ELEMENT\n#undef ELEMENTS\n\n",
                  one->serial_iterations > 1 ? "    }\n" : "");
done:
    return status;
}
