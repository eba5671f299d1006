/* A kernel with calls of several threads an instance: lane l of every warp is instance l of the
 * block, warp t thread t of each. fusion/plan/placement.c has said which data are shared and where barriers
 * stand. Loads and stores of shared data are spread over the warps; calls of one thread are the
 * first warp's. */
#include "fusion/codegen/private.h"

static weft_placement placement(const weft_plan_kernel *kernel, int datum, int map) {
    const weft_implementation *one = kernel->implementation;
    for (int m = 0; m < one->n_onchip; ++m)
        if (one->onchip[m].datum == datum && one->onchip[m].map == map)
            return one->placement[m];
    return PLACE_REGISTER;
}

static void declare_shared(const source_writer *w, const weft_implementation *one) {
    for (int m = 0; m < one->n_onchip; ++m)
        if (one->placement[m] == PLACE_SHARED)
            weft_text_add(
                w->out, "    const shared_list<INSTANCES> %s = {on_chip + %d * INSTANCES + own};\n",
                weft_source_variable(w, one->onchip[m].datum, one->onchip[m].map), one->offsets[m]);
}

static void load_shared(const source_writer *w, const weft_operand *load) {
    const weft_datum *datum = &w->graph->data[load->datum];
    const int count = weft_shape_count(&datum->shape);
    const char *v = weft_source_variable(w, load->datum, load->map);
    const char *p = weft_source_variable(w, weft_datum_storage(w->graph, load->datum), -1) + 2;
    weft_text_add(w->out, "    if (is_here)\n");
    if (load->map >= 0) {
        const weft_map *map = &w->graph->maps[load->map];
        weft_text_add(w->out,
                      "        spread_load_indirect<WARPS>(%s, p_%s, m_%s + block * (%d * LANES) + "
                      "lane, %d, %d, warp);\n",
                      v, p, map->name, map->width, map->width, count);
    } else if (w->graph->index_sets[datum->index_set].plain)
        weft_text_add(w->out, "        spread_load_plain<WARPS>(%s, p_%s, %d, instance, warp);\n",
                      v, p, count);
    else
        weft_text_add(
            w->out,
            "        spread_load_block<WARPS>(%s, p_%s + block * (%d * LANES) + lane, %d, warp);\n",
            v, p, count, count);
}

static void store_shared(const source_writer *w, int stored) {
    const weft_datum *datum = &w->graph->data[stored];
    const int count = weft_shape_count(&datum->shape);
    const char *v = weft_source_variable(w, stored, -1);
    const char *p = weft_source_variable(w, weft_datum_storage(w->graph, stored), -1) + 2;
    weft_text_add(w->out, "    if (is_here)\n");
    if (w->graph->index_sets[datum->index_set].plain)
        weft_text_add(w->out, "        spread_store_plain<WARPS>(p_%s, %s, %d, instance, warp);\n",
                      p, v, count);
    else
        weft_text_add(w->out,
                      "        spread_store_block<WARPS>(p_%s + block * (%d * LANES) + lane, %s, "
                      "%d, warp);\n",
                      p, count, v, count);
}

static void add_shared(const source_writer *w, const weft_accumulation *a) {
    const weft_datum *target = &w->graph->data[a->target];
    const char *p = weft_source_variable(w, a->target, -1) + 2;
    const char *v = weft_source_variable(w, a->source, -1);
    const weft_map *map = &w->graph->maps[a->map];
    const int entries = map->width * map->width;
    weft_text_add(w->out, "    if (is_here)\n");
    if (a->matrix)
        weft_text_add(
            w->out,
            "        spread_add_matrix<WARPS>(p_%s, positions_%s + block * (%d * LANES) + "
            "lane, %s, %d, warp);\n",
            p, target->name, entries, v, entries);
    else
        weft_text_add(
            w->out,
            "        spread_add_indirect<WARPS>(p_%s, m_%s + block * (%d * LANES) + lane, "
            "%s, %d, %d, warp);\n",
            p, map->name, map->width, v, map->width, weft_shape_count(&target->shape));
}

static weft_status write_call(const source_writer *w, const weft_plan_kernel *kernel, int position,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_implementation *one = kernel->implementation;
    const weft_call *call = &w->graph->calls[one->order[position]];
    const int variant = one->variants[position];
    const bool alone = call->instance == NULL || call->instance->threads[variant] == 1;
    if (one->barriers[position])
        weft_text_add(w->out, "    __syncthreads();\n");
    weft_source_call_comment(w, call);
    if (placement(kernel, call->result, -1) == PLACE_REGISTER)
        weft_text_add(w->out, "    real %s[%d];\n", weft_source_variable(w, call->result, -1),
                      weft_shape_count(&w->graph->data[call->result].shape));
    weft_text_add(w->out, alone ? "    if (is_here && warp == 0) {\n" : "    if (is_here) {\n");
    TRY(weft_source_call_statements(w, call, variant, alone ? "0" : "warp", alone ? "1" : "WARPS",
                                    error));
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

/* The instances of a block, in turns where it goes through several. */
static void write_instances(const source_writer *w, const weft_implementation *one) {
    weft_text_add(w->out,
                  "    extern __shared__ __align__(128) unsigned char shared[];\n"
                  "    scalar *const on_chip = (scalar *)shared;\n"
                  "    const int warp = threadIdx.x / INSTANCES, own = threadIdx.x %% INSTANCES;\n"
                  "    const int lane = own %% LANES;\n");
    declare_shared(w, one);
    if (one->serial_iterations > 1)
        weft_text_add(
            w->out,
            "    for (int turn = 0; turn < %d; ++turn) {\n"
            "    if (turn > 0)\n        __syncthreads();\n"
            "    const int64_t instance = (blockIdx.x * (int64_t)%d + turn) * INSTANCES + own;\n",
            one->serial_iterations, one->serial_iterations);
    else
        weft_text_add(w->out,
                      "    const int64_t instance = blockIdx.x * (int64_t)INSTANCES + own;\n");
    weft_text_add(w->out, "    const int64_t block = instance / LANES;\n"
                          "    const bool is_here = instance < n_instances;\n");
}

weft_status weft_source_threads(const source_writer *w, const weft_plan_kernel *kernel,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_implementation *one = kernel->implementation;
    weft_text_add(w->out,
                  "#define WARPS %d /* threads of an instance */\n"
                  "#define INSTANCES %d /* of a block */\n",
                  one->warps, one->instances_per_block);
    weft_source_head(w, kernel);
    for (int i = 0; i < kernel->n_loads; ++i)
        if (w->graph->data[kernel->loads[i].datum].index_set < 0)
            weft_source_load(w, &kernel->loads[i]);
    write_instances(w, one);
    for (int i = 0; i < kernel->n_loads; ++i)
        if (placement(kernel, kernel->loads[i].datum, kernel->loads[i].map) == PLACE_SHARED)
            load_shared(w, &kernel->loads[i]);
    for (int i = 0; i < kernel->n_loads; ++i) {
        const weft_operand *load = &kernel->loads[i];
        if (w->graph->data[load->datum].index_set < 0 ||
            placement(kernel, load->datum, load->map) == PLACE_SHARED)
            continue;
        weft_text_add(w->out, "    real %s[%d];\n    if (is_here && warp == 0) {\n",
                      weft_source_variable(w, load->datum, load->map),
                      weft_shape_count(&load->shape));
        weft_source_load_statement(w, load);
        weft_text_add(w->out, "    }\n");
    }
    for (int i = 0; i < one->fusion->n_calls; ++i)
        TRY(write_call(w, kernel, i, error));
    write_stores(w, kernel);
    weft_text_add(w->out, "%s}\n#undef WARPS\n#undef INSTANCES\n\n",
                  one->serial_iterations > 1 ? "    }\n" : "");
done:
    return status;
}
