/* Generates the micro-benchmark kernel of a primitive with data in registers.
 *
 * On the host it is a loop over blocks of lanes; on a GPU each thread processes one element per
 * iteration. */
#include "fusion/cost/intrinsic.h"
#include "fusion/tune/benchmark.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_MOST = 512 /* maximum threads per block */ };

static void head(const weft_benchmark_writer *p, int number) {
    if (p->backend->is_threaded)
        weft_text_add(
            p->out,
            "extern \"C\" __global__ void __launch_bounds__(%d) probe_%d(int64_t n_elements, "
            "scalar *p, const int32_t *map, const scalar *seed, scalar *sink)\n{\n"
            "    const int64_t step = (int64_t)gridDim.x * blockDim.x;\n"
            "    const int64_t iterations = (n_elements + step - 1) / step;\n",
            BLOCK_MOST, number);
    else
        weft_text_add(p->out,
                      "void probe_%d(void *const *arguments, int64_t n_elements, int64_t "
                      "first_block, int64_t last_block)\n{\n"
                      "    scalar *restrict p = arguments[0];\n"
                      "    const int32_t *restrict map = arguments[1];\n"
                      "    const scalar *restrict seed = arguments[2];\n"
                      "    scalar *restrict sink = arguments[3];\n"
                      "    const int64_t extra = (int64_t)seed[3];\n"
                      "    scalar pad[extra > 0 ? extra : 1];\n"
                      "    for (int64_t i = 0; i < extra; ++i)\n"
                      "        pad[i] = 0;\n",
                      number);
}

static void open_loop(const weft_benchmark_writer *p) {
    if (p->backend->is_threaded)
        weft_text_add(
            p->out,
            "    for (int64_t iteration = 0; iteration < iterations; ++iteration) {\n"
            "        const int64_t element = (blockIdx.x * iterations + iteration) * blockDim.x + "
            "threadIdx.x;\n"
            "        if (element >= n_elements)\n            break;\n"
            "        const int64_t block = element / LANES;\n"
            "        const int lane = (int)(element %% LANES);\n");
    else
        weft_text_add(
            p->out, "    for (int64_t block = first_block; block < last_block; ++block) {\n"
                    "        const int lanes = LANES;\n"
                    "        if (extra > 0) /* a line of them, so that they stay in the cache */\n"
                    "            pad[block * (64 / (int64_t)sizeof(scalar)) %% extra] += 1;\n"
                    "        __asm__ volatile(\"\" ::: \"memory\");\n"
                    "        (void)lanes;\n");
}

static void close_loop(const weft_benchmark_writer *p, bool sums) {
    weft_text_add(p->out, "    }\n");
    if (sums)
        weft_text_add(p->out, "    real all = sum[0] + sum[1] + (sum[2] + sum[3]);\n");
    if (sums && p->backend->is_threaded)
        weft_text_add(p->out, "    if (all == seed[0])\n        sink[0] = all;\n");
    else if (sums)
        weft_text_add(p->out, "    for (int l = 0; l < LANES; ++l)\n"
                              "        if (all[l] == seed[0])\n            sink[0] = all[l];\n");
    if (!p->backend->is_threaded)
        weft_text_add(p->out, "    for (int64_t i = 0; i < extra; ++i)\n"
                              "        if (pad[i] == seed[0])\n            sink[0] = pad[i];\n"
                              "    store_fence();\n");
    weft_text_add(p->out, "    (void)map;\n    (void)p;\n    (void)sink;\n}\n\n");
}

static void print_load(const weft_benchmark_writer *p) {
    const weft_cost_primitive *r = p->primitive;
    const int c = r->components, values = weft_benchmark_values(r);
    const char *lane = p->backend->is_threaded ? " + lane" : "";
    weft_text_add(p->out, "    real sum[4] = {0};\n");
    open_loop(p);
    weft_text_add(p->out, "        real v[%d];\n", values);
    if (r->form == WEFT_COST_AOS)
        weft_text_add(p->out, "        load_plain(v, p, %d, block * LANES%s, n_elements);\n", c,
                      lane);
    else if (r->form == WEFT_COST_INDIRECT)
        weft_text_add(p->out,
                      "        load_indirect(v, p, map + block * (%d * LANES)%s, %d, %d);\n",
                      r->width, lane, r->width, c);
    else
        weft_text_add(p->out, "        load_block(v, p + block * (%d * LANES)%s, %d);\n", c, lane,
                      c);
    weft_text_add(p->out,
                  "        UNROLL for (int c = 0; c < %d; ++c)\n            sum[c %% 4] += v[c];\n",
                  values);
    close_loop(p, true);
}

static void print_store(const weft_benchmark_writer *p) {
    const weft_cost_primitive *r = p->primitive;
    const int c = r->components, values = weft_benchmark_values(r);
    const bool threaded = p->backend->is_threaded;
    const char *lane = threaded ? " + lane" : "", *lanes = threaded ? "1" : "lanes";
    weft_text_add(p->out,
                  "    real v[%d];\n"
                  "    UNROLL for (int c = 0; c < %d; ++c)\n"
                  "        v[c] = SPLAT(seed[2] * (scalar)(c + 1));\n",
                  values, values);
    open_loop(p);
    if (r->form == WEFT_COST_AOS)
        weft_text_add(p->out, "        store_plain(p, v, %d, block * LANES%s, n_elements);\n", c,
                      lane);
    else if (r->form == WEFT_COST_ADD)
        weft_text_add(p->out,
                      "        add_indirect(p, map + block * (%d * LANES)%s, v, %d, %d, %s);\n",
                      r->width, lane, r->width, c, lanes);
    else if (r->form == WEFT_COST_ADD_MATRIX)
        weft_text_add(
            p->out,
            "        add_matrix(p, (const uint32_t *)map + block * (%d * LANES)%s, v, %d, %s);\n",
            values, lane, values, lanes);
    else
        weft_text_add(p->out, "        store_block(p + block * (%d * LANES)%s, v, %d, 1);\n", c,
                      lane, c);
    close_loop(p, false);
}

/* Inputs unknown to the compiler for which no function overflows: nonsingular matrices, the
 * vertices of nondegenerate simplices. */
static void declare_inputs(const weft_benchmark_writer *p, const int *counts, int n) {
    for (int i = 0; i < n; ++i)
        weft_text_add(p->out,
                      "    real v_%d[%d];\n"
                      "    for (int c = 0; c < %d; ++c)\n"
                      "        v_%d[c] = SPLAT(seed[2] * (scalar)(1 + (c * c + %d * c) %% 17));\n",
                      i, counts[i], counts[i], i, 3 + 2 * i);
}

/* Add a zero unknown to the compiler, so that it cannot hoist the work out of the loop. */
static void vary_inputs(const weft_benchmark_writer *p, const int *counts, int n) {
    for (int i = 0; i < n; ++i)
        weft_text_add(p->out,
                      "        UNROLL for (int c = 0; c < %d; ++c)\n"
                      "            v_%d[c] = v_%d[c] + zero;\n",
                      counts[i], i, i);
}

/* An arithmetic expression: as many multiplications and additions as the primitive has flops. */
static void print_arithmetic(const weft_benchmark_writer *p, int n) {
    const int each = (int)(p->primitive->flops / (n > 0 ? n : 1));
    weft_text_add(p->out,
                  "        UNROLL for (int c = 0; c < %d; ++c) {\n"
                  "            real e = v_0[c];\n",
                  n);
    for (int k = 0; k < each; ++k)
        weft_text_add(p->out,
                      k % 2 ? "            e = e + v_0[c];\n" : "            e = e * v_0[c];\n");
    weft_text_add(p->out, "            v_r[c] = e;\n        }\n");
}

/* A function of formulas, of an argument in its domain: the input, or the input and 1. */
static void print_intrinsic(const weft_benchmark_writer *p) {
    static const double AN_INPUT = 0.125;
    const weft_intrinsic *intrinsic = weft_cost_intrinsic(p->primitive);
    const char *argument =
        isnan(weft_intrinsic_value(intrinsic, AN_INPUT, AN_INPUT)) ? "(1 + v_0[0])" : "v_0[0]";
    weft_text_add(p->out, "        v_r[0] = weft_%s(%s", intrinsic->name, argument);
    for (int i = 1; i < intrinsic->n_arguments; ++i)
        weft_text_add(p->out, ", %s", argument);
    weft_text_add(p->out, ");\n");
}

weft_status weft_benchmark_body(const weft_benchmark_writer *p, const char *first, const char *step,
                                weft_error *error) {
    weft_accessor arguments[WEFT_ARGUMENTS_MAX];
    char bases[WEFT_ARGUMENTS_MAX][16];
    const weft_accessor result = {.base = "v_r"};
    const weft_body_style style = {
        .splat = p->backend->splat, .thread = "t", .indent = "            "};
    for (int i = 0; i < p->specialisation->n_arguments; ++i) {
        snprintf(bases[i], sizeof bases[i], "v_%d", i);
        arguments[i] = (weft_accessor){.base = bases[i]};
    }
    weft_text_add(p->out, "        for (int t = %s; t < %d; t += %s) {\n", first,
                  p->primitive->threads > 0 ? p->primitive->threads : 1, step);
    if (weft_function_counts(p->specialisation->function))
        weft_text_add(p->out, "            const real weft_element = SPLAT((scalar)1);\n");
    weft_status status = weft_body_emit(p->specialisation, p->primitive->variant, arguments,
                                        &result, &style, p->out, error);
    weft_text_add(p->out, "        }\n");
    return status;
}

static weft_status print_compute(const weft_benchmark_writer *p, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text_add(p->out, "    real sum[4] = {0};\n    const real zero = SPLAT(seed[1]);\n");
    declare_inputs(p, p->counts, p->n_arguments);
    open_loop(p);
    weft_text_add(p->out, "        real v_r[%d];\n", p->n_results);
    vary_inputs(p, p->counts, p->n_arguments);
    if (p->specialisation)
        TRY(weft_benchmark_body(p, "0", "1", error));
    else if (p->primitive->intrinsic)
        print_intrinsic(p);
    else
        print_arithmetic(p, p->n_results);
    weft_text_add(
        p->out, "        UNROLL for (int c = 0; c < %d; ++c)\n            sum[c %% 4] += v_r[c];\n",
        p->n_results);
    close_loop(p, true);
done:
    return status;
}

weft_status weft_benchmark_registers(const weft_benchmark_writer *p, int number,
                                     weft_error *error) {
    head(p, number);
    if (p->primitive->kind == WEFT_COST_LOAD)
        print_load(p);
    else if (p->primitive->kind == WEFT_COST_STORE)
        print_store(p);
    else
        return print_compute(p, error);
    return WEFT_OK;
}
