/* Generates the micro-benchmark kernel of a primitive with data in shared memory.
 *
 * Warp t of a block is thread t of its elements, as in fusion/codegen/multi_thread.c. */
#include "fusion/tune/benchmark.h"

int weft_benchmark_warps(const weft_limits *limits, const weft_cost_primitive *primitive,
                         int out[8]) {
    const int most = limits->target.block_threads_most / limits->target.warp_threads;
    static const int all[] = {2, 3, 5, 9, 16, 25, 32};
    int n = 0;
    if (primitive->kind == WEFT_COST_COMPUTE && primitive->threads > 1) {
        out[n++] = primitive->threads < most ? primitive->threads : most;
        if (out[0] < most)
            out[n++] = most;
        return n;
    }
    for (size_t i = 0; i < sizeof all / sizeof *all && all[i] <= most; ++i)
        out[n++] = all[i];
    return n;
}

static void print_moves(const weft_benchmark_writer *p) {
    const weft_cost_primitive *r = p->primitive;
    const char *verb = r->kind == WEFT_COST_LOAD ? "load" : "store";
    const char *a = r->kind == WEFT_COST_LOAD ? "v, p" : "p",
               *b = r->kind == WEFT_COST_LOAD ? "" : ", v";
    const int values = weft_benchmark_values(r);
    weft_text_add(p->out, "        if (element < n_elements)\n            ");
    if (r->form == WEFT_COST_AOS)
        weft_text_add(p->out, "spread_%s_plain<THREADS_PER_ELEMENT>(%s%s, %d, element, warp);\n",
                      verb, a, b, r->components);
    else if (r->form == WEFT_COST_INDIRECT)
        weft_text_add(p->out,
                      "spread_load_indirect<THREADS_PER_ELEMENT>(v, p, map + block * (%d * LANES) "
                      "+ lane, %d, %d, warp);\n",
                      r->width, r->width, r->components);
    else if (r->form == WEFT_COST_ADD)
        weft_text_add(p->out,
                      "spread_add_indirect<THREADS_PER_ELEMENT>(p, map + block * (%d * LANES) + "
                      "lane, v, %d, %d, warp);\n",
                      r->width, r->width, r->components);
    else if (r->form == WEFT_COST_ADD_MATRIX)
        weft_text_add(p->out,
                      "spread_add_matrix<THREADS_PER_ELEMENT>(p, (const uint32_t *)map + block * "
                      "(%d * LANES) + lane, v, %d, warp);\n",
                      values, values);
    else
        weft_text_add(
            p->out,
            "spread_%s_block<THREADS_PER_ELEMENT>(%s + block * (%d * LANES) + lane%s, %d, warp);\n",
            verb, a, r->components, b, r->components);
    weft_text_add(p->out, "        __syncthreads();\n");
    if (r->kind == WEFT_COST_LOAD)
        weft_text_add(
            p->out, "        sum += v[(warp + (int)iteration) %% %d];\n        __syncthreads();\n",
            values);
}

/* Operands and result are laid out consecutively in shared memory and initialised once. */
static void declare_shared(const weft_benchmark_writer *p) {
    const bool compute = p->primitive->kind == WEFT_COST_COMPUTE;
    int offset = 0;
    for (int i = 0; compute && i < p->n_arguments; offset += p->counts[i++])
        weft_text_add(p->out,
                      "    const shared_list<LANES> v_%d = {on_chip + %d * LANES + lane};\n", i,
                      offset);
    weft_text_add(p->out, "    const shared_list<LANES> %s = {on_chip + %d * LANES + lane};\n",
                  compute ? "v_r" : "v", offset);
    offset += compute ? p->n_results : weft_benchmark_values(p->primitive);
    weft_text_add(
        p->out,
        "    for (int c = warp; c < %d; c += THREADS_PER_ELEMENT)\n"
        "        on_chip[c * LANES + lane] = seed[2] * (scalar)(1 + (c * c + 3 * c) %% 17);\n"
        "    __syncthreads();\n",
        offset);
}

weft_status weft_benchmark_shared(const weft_benchmark_writer *p, int number, int warps,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text_add(p->out,
                  "#define THREADS_PER_ELEMENT %d\n"
                  "extern \"C\" __global__ void __launch_bounds__(THREADS_PER_ELEMENT * LANES) "
                  "probe_%d_%d(int64_t n_elements, scalar *p, const int32_t *map, const scalar "
                  "*seed, scalar *sink)\n{\n"
                  "    extern __shared__ __align__(128) unsigned char shared[];\n"
                  "    scalar *const on_chip = (scalar *)shared;\n"
                  "    const int warp = threadIdx.x / LANES, lane = threadIdx.x %% LANES;\n"
                  "    const int64_t step = (int64_t)gridDim.x * LANES;\n"
                  "    const int64_t iterations = (n_elements + step - 1) / step;\n"
                  "    scalar sum = 0;\n",
                  warps, number, warps);
    declare_shared(p);
    weft_text_add(p->out, "    for (int64_t iteration = 0; iteration < iterations; ++iteration) {\n"
                          "        const int64_t block = blockIdx.x * iterations + iteration;\n"
                          "        const int64_t element = block * LANES + lane;\n");
    if (p->primitive->kind == WEFT_COST_COMPUTE) {
        TRY(weft_benchmark_body(p, "warp", "THREADS_PER_ELEMENT", error));
        weft_text_add(p->out, "        __syncthreads();\n");
    } else
        print_moves(p);
    weft_text_add(p->out, "        if (block * LANES >= n_elements)\n            break;\n    }\n"
                          "    if (sum == seed[0])\n        sink[0] = sum;\n"
                          "    (void)map;\n    (void)p;\n}\n#undef THREADS_PER_ELEMENT\n\n");
done:
    return status;
}
