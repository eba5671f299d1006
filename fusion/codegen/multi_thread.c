/* Writes kernels with several threads per element: lane l of every warp belongs to element l of the
 * block, and warp t is thread t of each element. fusion/plan/placement.c has chosen the values in
 * shared memory, where they are loaded, and the barriers. Loads of shared values are spread over
 * the warps; calls of one thread run in the first warp. A thread stores the components that it has
 * computed directly after their call. Where all calls give a thread the same components of a value,
 * it has these in registers, and loads them itself. */
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/codegen/private.h"
#include "fusion/plan/implementations.h"

#include <stdio.h>

/* Context of a call at its position in the kernel. */
typedef struct place_of_call {
    const weft_plan_kernel *kernel;
    const weft_call *call;
    int position, variant;
    bool alone; /* computed by one thread */
    source_threads threads;
} place_of_call;

/* Values are [component][element], or [element][component] where the threads of an element are neighbours. */
static void declare_shared(const source_writer *w, const weft_implementation *one) {
    for (int m = 0; m < one->n_onchip; ++m) {
        if (one->placement[m] != PLACE_SHARED)
            continue;
        const char *v = weft_source_variable(w, one->onchip[m].value, one->onchip[m].connectivity);
        if (one->joint_threads > 0)
            weft_text_add(w->out, "    const shared_list<1> %s = {on_chip + own * %d + %d};\n", v,
                          one->shared_components, one->offsets[m]);
        else
            weft_text_add(w->out,
                          "    const shared_list<ELEMENTS> %s = {on_chip + %d * ELEMENTS + own};\n",
                          v, one->offsets[m]);
    }
}

/* Who loads and computes: those that have an element, or all, where native bodies wait for each other. */
static const char *taking_part(const weft_implementation *one) {
    return one->joint_threads > 0 ? "takes_part" : "is_here";
}

static void load_shared(const source_writer *w, const weft_implementation *one,
                        const weft_operand *load) {
    const weft_value *value = &w->graph->values[load->value];
    const int count = weft_shape_count(&value->shape);
    const char *v = weft_source_variable(w, load->value, load->connectivity);
    const char *p = weft_source_variable(w, weft_value_storage(w->graph, load->value), -1) + 2;
    weft_text_add(w->out, "    if (%s)\n", taking_part(one));
    if (load->connectivity >= 0) {
        const weft_graph_connectivity *connectivity = &w->graph->connectivities[load->connectivity];
        weft_text_add(w->out,
                      "        spread_load_indirect<THREADS_PER_ELEMENT>(%s, p_%s, m_%s + block * "
                      "(%d * LANES) + lane, %d, %d, warp);\n",
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

void weft_source_component(const source_writer *w, const weft_operand *operand) {
    const weft_value *value = &w->graph->values[operand->value];
    const int count = weft_shape_count(&value->shape);
    const char *p = weft_source_variable(w, weft_value_storage(w->graph, operand->value), -1) + 2;
    if (operand->connectivity >= 0) {
        const weft_graph_connectivity *map = &w->graph->connectivities[operand->connectivity];
        if (map->width == 1) /* one index for all components: it is loaded once */
            weft_text_add(w->out, "p_%s[(int64_t)m_%s[block * LANES + lane] * %d + c]", p,
                          map->name, count);
        else
            weft_text_add(
                w->out,
                "p_%s[(int64_t)m_%s[block * (%d * LANES) + lane + c / %d * LANES] * %d + c %% %d]",
                p, map->name, map->width, count, count, count);
    } else if (value->index_set < 0)
        weft_text_add(w->out, "p_%s[c]", p);
    else if (w->graph->index_sets[value->index_set].plain)
        weft_text_add(w->out, "p_%s[element * %d + c]", p, count);
    else
        weft_text_add(w->out, "p_%s[block * (%d * LANES) + lane + c * LANES]", p, count);
}

void weft_source_target(const source_writer *w, const weft_accumulation *a) {
    const weft_graph_connectivity *connectivity = &w->graph->connectivities[a->connectivity];
    if (a->matrix)
        weft_text_add(w->out, "p_%s[%s[block * (%d * LANES) + lane + c * LANES]]",
                      weft_source_variable(w, a->target, -1) + 2,
                      weft_source_positions(w, a->target, a->connectivity),
                      connectivity->width * connectivity->width);
    else
        weft_source_component(w,
                              &(weft_operand){.value = a->target, .connectivity = a->connectivity});
}

/* Store or add component c of a result, which is `from`, wherever it goes. */
static void store_component(const source_writer *w, const place_of_call *at, const char *from) {
    const weft_plan_kernel *kernel = at->kernel;
    for (int i = 0; i < kernel->n_stores; ++i)
        if (kernel->stores[i] == at->call->result) {
            weft_text_add(w->out, "            ");
            weft_source_component(w,
                                  &(weft_operand){.value = at->call->result, .connectivity = -1});
            weft_text_add(w->out, " = %s;\n", from);
        }
    for (int i = 0; i < kernel->n_scatters; ++i)
        if (w->graph->accumulations[kernel->scatters[i]].source == at->call->result) {
            weft_text_add(w->out, "            atomicAdd(&");
            weft_source_target(w, &w->graph->accumulations[kernel->scatters[i]]);
            weft_text_add(w->out, ", %s);\n", from);
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

/* "real v_J[4];" */
static void declare_registers(const source_writer *w, const place_of_call *at, int operand) {
    const weft_implementation *one = at->kernel->implementation;
    const weft_operand *value = &one->onchip[one->slots[at->position][operand]];
    int n = weft_shape_count(&value->shape);
    if (at->threads.own[operand]) {
        const int threads = at->call->specialisation->threads[at->variant];
        n = (threads + at->threads.width - 1) / at->threads.width *
            weft_specialisation_thread_count(at->call->specialisation, at->variant,
                                             operand < at->call->n_operands ? operand : -1);
    }
    weft_text_add(w->out, "    real %s[%d];\n",
                  weft_source_variable(w, value->value, value->connectivity), n);
}

/* "{ const int c = ...;": the number-th component of an operand (-1: of the result) that thread t
 * has. */
static void open_component(const source_writer *w, const place_of_call *at, int operand,
                           int number) {
    weft_text_add(w->out, "            { const int c = ");
    weft_specialisation_component(at->call->specialisation, at->variant, operand, number, "t",
                                  w->out);
    weft_text_add(w->out, ";\n");
}

/* The stores of thread t where the thread pattern does not tell its components: consecutive ones of
 * one thread in a loop. */
static void store_runs(const source_writer *w, const place_of_call *at, const char *from) {
    const weft_specialisation *specialisation = at->call->specialisation;
    const int n = weft_shape_count(&specialisation->result);
    for (int first = 0, last = 0; first < n; first = last) {
        const int writer = weft_specialisation_writer(specialisation, at->variant, first);
        while (last < n && weft_specialisation_writer(specialisation, at->variant, last) == writer)
            ++last;
        weft_text_add(w->out,
                      "            if (t == %d)\n"
                      "            UNROLL for (int c = %d; c < %d; ++c) {\n",
                      writer, first, last);
        store_component(w, at, from);
        weft_text_add(w->out, "            }\n");
    }
}

/* The stores and accumulations of a result, by the threads that have computed it. */
static weft_status store_result(const source_writer *w, const place_of_call *at,
                                weft_error *error) {
    const weft_call *call = at->call;
    const bool own = at->threads.own[call->n_operands];
    const char *base = own ? weft_source_own(w, call, at->variant, -1, &at->threads)
                           : weft_source_variable(w, call->result, -1);
    const char *from = weft_arena_print(w->arena, "%s[c]", base);
    if (!from)
        return weft_no_memory(error);
    if (!is_stored(w, at->kernel, call->result) ||
        weft_source_native_move(w, call, at->variant, -1))
        return WEFT_OK;
    if (at->alone) {
        weft_text_add(w->out, "        UNROLL for (int c = 0; c < %d; ++c) {\n",
                      weft_shape_count(&w->graph->values[call->result].shape));
        store_component(w, at, from);
        weft_text_add(w->out, "        }\n");
        return WEFT_OK;
    }
    const int n = weft_specialisation_thread_count(call->specialisation, at->variant, -1);
    weft_source_open_threads(w, call, at->variant, &at->threads);
    for (int k = 0; k < n; ++k) {
        from = own ? weft_arena_print(w->arena, "%s[%d]", base, k) : from;
        if (!from)
            return weft_no_memory(error);
        open_component(w, at, -1, k);
        store_component(w, at, from);
        weft_text_add(w->out, "            }\n");
    }
    if (n == 0)
        store_runs(w, at, from);
    weft_text_add(w->out, "        }\n");
    return WEFT_OK;
}

static weft_status write_call(const source_writer *w, const place_of_call *at, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_implementation *one = at->kernel->implementation;
    const weft_call *call = at->call;
    const int result = one->slots[at->position][call->n_operands];
    weft_source_call_comment(w, call);
    /* threads without an element wait with the others, and compute what nobody stores */
    const bool waits = weft_specialisation_has_barriers(call->specialisation, at->variant);
    if (one->placement[result] != PLACE_SHARED)
        declare_registers(w, at, call->n_operands);
    if (waits)
        weft_text_add(w->out, "    {\n");
    else
        weft_text_add(w->out, "    if (%s%s) {\n", taking_part(one),
                      at->alone ? " && warp == 0" : "");
    TRY(weft_source_call_statements(w, call, at->variant, &at->threads, error));
    if (one->joint_threads > 0 || waits)
        weft_text_add(w->out, "    }\n    if (is_here%s) {\n", at->alone ? " && warp == 0" : "");
    TRY(store_result(w, at, error));
    weft_text_add(w->out, "    }\n");
done:
    return status;
}

/* Load an operand into the registers of the threads that use its components. */
static void load_own(const source_writer *w, const place_of_call *at, int operand) {
    const weft_operand *load = &at->call->operands[operand];
    const int n = weft_specialisation_thread_count(at->call->specialisation, at->variant, operand);
    weft_text_add(w->out, "    if (%s)\n", taking_part(at->kernel->implementation));
    weft_source_open_threads(w, at->call, at->variant, &at->threads);
    for (int k = 0; k < n; ++k) {
        open_component(w, at, operand, k);
        weft_text_add(w->out, "            %s[%d] = ",
                      weft_source_own(w, at->call, at->variant, operand, &at->threads), k);
        weft_source_component(w, load);
        weft_text_add(w->out, ";\n            }\n");
    }
    weft_text_add(w->out, "        }\n");
}

/* Load an operand of this call. Registers of one thread are those of the first warp; a scalar in
 * the threads' own registers is loaded by each. */
static void write_load(const source_writer *w, const place_of_call *at, int operand) {
    const weft_implementation *one = at->kernel->implementation;
    const int m = one->slots[at->position][operand];
    if (one->placement[m] != PLACE_SHARED)
        declare_registers(w, at, operand);
    if (weft_source_native_move(w, at->call, at->variant, operand))
        return;
    if (one->placement[m] == PLACE_SHARED) {
        load_shared(w, one, &one->onchip[m]);
        return;
    }
    if (at->threads.own[operand]) {
        load_own(w, at, operand);
        return;
    }
    weft_text_add(w->out, "    if (%s%s) {\n", taking_part(one),
                  one->placement[m] == PLACE_REGISTER ? " && warp == 0" : "");
    weft_source_load_statement(w, &one->onchip[m]);
    weft_text_add(w->out, "    }\n");
}

static weft_status find_call(const source_writer *w, const weft_plan_kernel *kernel, int position,
                             place_of_call *out, weft_error *error) {
    const weft_implementation *one = kernel->implementation;
    const weft_call *call = &w->graph->calls[one->order[position]];
    const int variant = one->variants[position];
    bool *own = weft_arena_alloc(w->arena, (size_t)call->n_operands + 1, sizeof *own);
    if (!own)
        return weft_no_memory(error);
    for (int k = 0; k <= call->n_operands; ++k) {
        const int m = one->slots[position][k];
        const bool copied = !one->produced_here[m] && weft_shape_count(&one->onchip[m].shape) == 1;
        own[k] = one->placement[m] == PLACE_OWN_REGISTER && !copied;
    }
    *out = (place_of_call){.kernel = kernel,
                           .call = call,
                           .position = position,
                           .variant = variant,
                           .alone =
                               !call->specialisation || call->specialisation->threads[variant] == 1,
                           .threads = {.width = one->threads_per_element, .own = own}};
    return WEFT_OK;
}

/* The loads that are issued before the call at this position; each is written as a load of the
 * first call that uses it. */
static weft_status write_loads(const source_writer *w, const weft_plan_kernel *kernel, int position,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_implementation *one = kernel->implementation;
    bool *done = weft_arena_alloc(w->arena, (size_t)one->n_onchip + 1, sizeof *done);
    if (!done)
        TRY(weft_no_memory(error));
    for (int i = 0; i < one->fusion->n_calls; ++i) {
        place_of_call at = {0};
        TRY(find_call(w, kernel, i, &at, error));
        for (int k = 0; k < at.call->n_operands; ++k) {
            const int m = one->slots[i][k];
            if (done[m] || one->produced_here[m] || one->load_position[m] != position ||
                w->graph->values[one->onchip[m].value].index_set < 0)
                continue;
            done[m] = true;
            write_load(w, &at, k);
        }
    }
done:
    return status;
}

static weft_status write_position(const source_writer *w, const weft_plan_kernel *kernel,
                                  int position, weft_error *error) {
    weft_status status = WEFT_OK;
    const int barriers = kernel->implementation->barriers[position];
    place_of_call at = {0};
    TRY(find_call(w, kernel, position, &at, error));
    if (barriers & BARRIER_BEFORE_LOADS)
        weft_text_add(w->out, "    __syncthreads();\n");
    TRY(write_loads(w, kernel, position, error));
    if (barriers & BARRIER_BEFORE_CALL)
        weft_text_add(w->out, barriers & BARRIER_OF_WARP ? "    __syncwarp();\n"
                                                         : "    __syncthreads();\n");
    TRY(write_call(w, &at, error));
done:
    return status;
}

/* The element of a thread, `number`, and whether there is such an element. Where all threads take part, those
 * without one compute that of the last element, and store nothing. */
static void write_place(const source_writer *w, const weft_plan_kernel *kernel,
                        const char *number) {
    const weft_implementation *one = kernel->implementation;
    /* blocks of a group have threads for the largest member, and all of them meet at barriers */
    const char *own =
        kernel->is_member && !weft_fault("surplus_threads") ? " && warp < THREADS_PER_ELEMENT" : "";
    if (one->joint_threads > 0)
        weft_text_add(w->out,
                      "    const int64_t number = %s;\n"
                      "    const bool is_here = number < n_elements, takes_part = %s;\n"
                      "    const int64_t element = is_here ? number : n_elements - 1;\n",
                      number, weft_fault("joint_threads_masked") ? "is_here" : "true");
    else
        weft_text_add(w->out, "    const int64_t element = %s;\n", number);
    weft_text_add(w->out,
                  "    const int64_t block = element / LANES;\n"
                  "    const int lane = %s(int)(element %% LANES);\n",
                  one->joint_threads > 0 ? "" : "ELEMENTS % LANES == 0 ? own % LANES : ");
    if (one->joint_threads == 0)
        weft_text_add(w->out, "    const bool is_here = element < n_elements%s;\n", own);
}

/* The elements of a block; if it has several per thread, in a loop. */
static void write_elements(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_implementation *one = kernel->implementation;
    const char *block = weft_source_block(kernel);
    const bool joint = one->joint_threads > 0 && !weft_fault("joint_threads_apart");
    char number[96];
    weft_text_add(w->out,
                  "    extern __shared__ __align__(128) unsigned char shared[];\n"
                  "    scalar *const on_chip = (scalar *)shared;\n"
                  "    const int warp = threadIdx.x %s, own = threadIdx.x %s;\n",
                  joint ? "% THREADS_PER_ELEMENT" : "/ ELEMENTS",
                  joint ? "/ THREADS_PER_ELEMENT" : "% ELEMENTS");
    if (one->joint_threads > 0)
        weft_text_add(w->out,
                      "    unsigned char *const scratch = (unsigned char *)(on_chip + own * %d);\n",
                      weft_fault("scratch_of_all") ? 0 : one->shared_components);
    declare_shared(w, one);
    if (one->serial_iterations > 1)
        weft_text_add(
            w->out, "    for (int iteration = 0; iteration < %d; ++iteration) {\n%s",
            one->serial_iterations,
            one->shared_components > 0 ? "    if (iteration > 0)\n        __syncthreads();\n" : "");
    if (one->serial_iterations > 1)
        snprintf(number, sizeof number, "(%s * (int64_t)%d + iteration) * ELEMENTS + own", block,
                 one->serial_iterations);
    else
        snprintf(number, sizeof number, "%s * (int64_t)ELEMENTS + own", block);
    write_place(w, kernel, number);
}

weft_status weft_source_threads(const source_writer *w, const weft_plan_kernel *kernel,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_implementation *one = kernel->implementation;
    weft_text_add(
        w->out,
        "#define THREADS_PER_ELEMENT %d /* threads of an element */\n"
        "#define ELEMENTS %d /* of a block */\n"
        "#define ELEMENT_BARRIER \\\n"
        "    if (THREADS_PER_ELEMENT * ELEMENTS <= LANES) __syncwarp(); else __syncthreads()\n",
        one->threads_per_element, one->elements_per_block);
    weft_source_head(w, kernel);
    weft_source_load_uniforms(w, kernel->loads, kernel->n_loads);
    write_elements(w, kernel);
    for (int i = 0; i < one->fusion->n_calls; ++i)
        TRY(write_position(w, kernel, i, error));
    weft_text_add(w->out,
                  "%s}\n#undef THREADS_PER_ELEMENT\n#undef ELEMENTS\n#undef ELEMENT_BARRIER\n\n",
                  one->serial_iterations > 1 ? "    }\n" : "");
done:
    return status;
}
