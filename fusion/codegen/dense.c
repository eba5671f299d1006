/* Writes kernels of products of small matrices (fusion/plan/dense.h): one or several warps per element, each of
 * which computes tiles. Lists in memory and calls become entries, `v_NAME[c]`, so that what precedes a product is
 * computed where its entries are read, and what follows where they are stored. */
#include "fusion/plan/dense.h"
#include "fusion/base/array.h"
#include "fusion/base/prelude.h"
#include "fusion/base/target.h"
#include "fusion/codegen/private.h"
#include "gemm/embedded_gemm.h"

#include <stdio.h>
#include <string.h>

typedef struct dense_writer {
    const source_writer *w;
    const weft_plan_kernel *kernel;
    const int *order;
    int n;
    weft_dense dense;
} dense_writer;

static void add_stencil(const char *name, weft_text *out) {
    const weft_embedded_file *file = weft_embedded_gemm;
    while (file->name && strcmp(file->name, name) != 0)
        ++file;
    weft_text_add(out, "%s", file->name ? file->text : "");
}

void weft_source_dense_prelude(const weft_limits *limits, bool single, weft_text *out) {
    char depth[16];
    snprintf(depth, sizeof depth, "%d", single ? 0 : limits->matrix_depth);
    const weft_prelude_value values[] = {{"depth", depth}, {NULL, NULL}};
    weft_prelude_write("dense.h", values, out);
    add_stencil("units.cu", out);
    add_stencil("tile.cu", out);
}

static const weft_call *call_at(const dense_writer *d, int position) {
    return &d->w->graph->calls[d->order[position]];
}

/* The place of a list in shared memory, in components; -1: it is not there. */
static int staged_at(const dense_writer *d, int value, int connectivity) {
    const weft_implementation *one = d->kernel->implementation;
    for (int m = 0; m < one->n_onchip; ++m)
        if (one->onchip[m].value == value && one->onchip[m].connectivity == connectivity &&
            one->placement[m] == PLACE_SHARED)
            return one->offsets[m];
    return -1;
}

/* A list between memory and shared memory, in the order of the addresses: neighbouring threads have the
 * same component of neighbouring elements. */
static void write_copy(const dense_writer *d, int value, bool loads) {
    const source_writer *w = d->w;
    const int count = weft_shape_count(&w->graph->values[value].shape);
    const char *p = weft_source_variable(w, weft_value_storage(w->graph, value), -1) + 2;
    weft_text_add(
        w->out,
        "    UNROLL_SOME for (int i = threadIdx.x; i < %d * ELEMENTS; i += blockDim.x) {\n"
        "        const int other = i %% ELEMENTS, c = i / ELEMENTS;\n",
        count);
    if (loads)
        weft_text_add(
            w->out,
            "        copy_async<(int)sizeof(scalar)>(&on_chip[other * %d + %d + c], &p_%s[first / "
            "LANES * (%d * LANES) + first %% LANES + other + c * LANES]);\n    }\n",
            d->kernel->implementation->shared_components, staged_at(d, value, -1), p, count);
    else
        weft_text_add(
            w->out,
            "        if (first + other < n_elements)\n"
            "            p_%s[first / LANES * (%d * LANES) + first %% LANES + other + c * "
            "LANES] = on_chip[other * %d + %d + c];\n    }\n",
            p, count, d->kernel->implementation->shared_components, staged_at(d, value, -1));
}

/* Copy lists to shared memory. */
static void write_staged_loads(const dense_writer *d) {
    bool any = false;
    weft_text_add(d->w->out, "    extern __shared__ __align__(128) unsigned char shared[];\n"
                             "    scalar *const on_chip = (scalar *)shared;\n");
    for (int i = 0; i < d->kernel->n_loads; ++i) {
        const weft_operand *load = &d->kernel->loads[i];
        if (staged_at(d, load->value, load->connectivity) < 0)
            continue;
        write_copy(d, load->value, true);
        any = true;
    }
    weft_text_add(d->w->out,
                  "%s    scalar *const mine = on_chip + threadIdx.x / THREADS_PER_ELEMENT * %d;\n",
                  any ? "    copy_commit();\n    copy_wait<0>();\n    __syncthreads();\n" : "",
                  d->kernel->implementation->shared_components);
}

/* Copy results from shared memory. */
static void write_staged_stores(const dense_writer *d) {
    bool any = false;
    for (int i = 0; i < d->kernel->n_stores; ++i) {
        if (staged_at(d, d->kernel->stores[i], -1) < 0)
            continue;
        weft_text_add(d->w->out, "%s", any ? "" : "    __syncthreads();\n");
        write_copy(d, d->kernel->stores[i], false);
        any = true;
    }
}

/* Uniform numbers stay in registers, other lists where they are. */
static void write_loads(const dense_writer *d) {
    const source_writer *w = d->w;
    for (int i = 0; i < d->kernel->n_loads; ++i) {
        const weft_operand *load = &d->kernel->loads[i];
        const weft_value *value = &w->graph->values[load->value];
        const int staged = staged_at(d, load->value, load->connectivity);
        if (value->index_set < 0 && weft_shape_count(&value->shape) == 1) {
            weft_source_load_uniforms(w, load, 1);
            continue;
        }
        weft_text_add(w->out,
                      "    const entries_by %s{[&](const int c) FORCE_INLINE -> real { return ",
                      weft_source_variable(w, load->value, load->connectivity));
        if (staged >= 0)
            weft_text_add(w->out, "mine[%d + c]", staged);
        else
            weft_source_component(w, load);
        weft_text_add(w->out, "; }};\n");
    }
}

/* "v = ...;", in which `t` is the number of the entry. */
static weft_status write_body(const dense_writer *d, int position, weft_error *error) {
    weft_status status = WEFT_OK;
    const source_writer *w = d->w;
    const weft_call *call = call_at(d, position);
    const weft_specialisation *specialisation = call->specialisation;
    const weft_accessor result = {.base = weft_source_variable(w, call->result, -1)};
    const weft_body_style style = {
        .splat = w->backend->splat, .thread = "c", .indent = "            ", .unroll = w->unroll};
    weft_accessor arguments[WEFT_ARGUMENTS_MAX];
    if (!specialisation) {
        const char *target = weft_arena_print(w->arena, "%s[0] = ", result.base);
        if (!target)
            TRY(weft_no_memory(error));
        weft_source_assign(w, call, target, "            ");
        goto done;
    }
    for (int i = 0; i < call->n_operands; ++i)
        arguments[i] = (weft_accessor){.base = weft_source_variable(w, call->operands[i].value,
                                                                    call->operands[i].connectivity),
                                       .offset = call->operands[i].offset};
    TRY(weft_body_emit(specialisation, d->dense.variants[position], arguments, &result, &style,
                       w->out, error));
done:
    return status;
}

/* What precedes the tiles: a number in registers, or what computes an entry. */
static weft_status write_before(const dense_writer *d, int position, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text *out = d->w->out;
    const weft_call *call = call_at(d, position);
    const char *v = weft_source_variable(d->w, call->result, -1);
    const bool scalar = d->dense.roles[position] == DENSE_SCALAR;
    weft_source_call_comment(d->w, call);
    if (scalar)
        weft_text_add(out, "        real %s[1];\n        {\n", v);
    else
        weft_text_add(out,
                      "        const entries_by %s{[&](const int c) FORCE_INLINE -> real {\n"
                      "            one_entry %s;\n",
                      v, v);
    TRY(write_body(d, position, error));
    if (scalar)
        weft_text_add(out, "        }\n");
    else
        weft_text_add(out, "            return %s.x;\n        }};\n", v);
done:
    return status;
}

static int role_of(const dense_writer *d, int value) {
    for (int i = 0; i < d->n; ++i)
        if (call_at(d, i)->result == value)
            return (int)d->dense.roles[i];
    return -1;
}

/* Store and accumulate entry c of a value. */
static void write_stores(const dense_writer *d, int value) {
    const source_writer *w = d->w;
    const char *v = weft_source_variable(w, value, -1);
    for (int i = 0; i < d->kernel->n_stores; ++i)
        if (d->kernel->stores[i] == value && staged_at(d, value, -1) >= 0)
            weft_text_add(w->out, "            mine[%d + c] = %s[c];\n", staged_at(d, value, -1),
                          v);
        else if (d->kernel->stores[i] == value) {
            weft_text_add(w->out, "            if (is_here)\n                ");
            weft_source_component(w, &(weft_operand){.value = value, .connectivity = -1});
            weft_text_add(w->out, " = %s[c];\n", v);
        }
    for (int i = 0; i < d->kernel->n_scatters; ++i) {
        const weft_accumulation *a = &w->graph->accumulations[d->kernel->scatters[i]];
        if (a->source != value)
            continue;
        weft_text_add(w->out, "            if (is_here)\n                atomicAdd(&");
        weft_source_target(w, a);
        weft_text_add(w->out, ", %s[c]);\n", v);
    }
}

static bool leaves(const dense_writer *d, int value) {
    bool found = false;
    for (int i = 0; i < d->kernel->n_stores; ++i)
        found |= d->kernel->stores[i] == value;
    for (int i = 0; i < d->kernel->n_scatters; ++i)
        found |= d->w->graph->accumulations[d->kernel->scatters[i]].source == value;
    return found;
}

/* Store the results that do not depend on tiles. */
static void write_other_stores(const dense_writer *d) {
    for (int i = 0; i < d->n; ++i) {
        const int value = call_at(d, i)->result;
        if (role_of(d, value) >= (int)DENSE_TILE || !leaves(d, value))
            continue;
        weft_text_add(d->w->out,
                      "    for (int c = threadIdx.x %% THREADS_PER_ELEMENT; c < %d; c += "
                      "THREADS_PER_ELEMENT) {\n",
                      weft_shape_count(&d->w->graph->values[value].shape));
        write_stores(d, value);
        weft_text_add(d->w->out, "    }\n");
    }
}

/* "transposed<24>(v_A, 0)" */
static void add_factor(const dense_writer *d, const weft_call *call, int operand) {
    const weft_operand *factor = &call->operands[operand];
    weft_text_add(d->w->out, "transposed<%d>(%s, %d)", factor->shape.sizes[1],
                  weft_source_variable(d->w, factor->value, factor->connectivity), factor->offset);
}

/* The tiles of an element, and for each entry of theirs what follows. */
static weft_status write_tiles(const dense_writer *d, weft_error *error) {
    weft_status status = WEFT_OK;
    const source_writer *w = d->w;
    weft_text *out = w->out;
    const int m = d->dense.shape.sizes[0], n = d->dense.shape.sizes[1];
    weft_text_add(out,
                  "\n    typedef warp_tile<%d, %d, %d, %d> tile;\n"
                  "    for (int number = threadIdx.x %% THREADS_PER_ELEMENT / %d; number < "
                  "tile::COUNT; number += THREADS_PER_ELEMENT / %d) {\n",
                  n, m, d->dense.down, d->dense.across, WEFT_NATIVE_WARP, WEFT_NATIVE_WARP);
    for (int i = 0; i < d->n; ++i) {
        const weft_call *call = call_at(d, i);
        if (d->dense.roles[i] != DENSE_TILE)
            continue;
        weft_source_call_comment(w, call);
        weft_text_add(out, "        tile tile_%d;\n        tile_%d.start(number);\n", i, i);
        weft_text_add(out, "        tile_%d.add<%d>(", i, call->operands[0].shape.sizes[1]);
        add_factor(d, call, 1);
        weft_text_add(out, ", ");
        add_factor(d, call, 0);
        weft_text_add(out, ");\n");
    }
    weft_text_add(out, "        UNROLL for (int at = 0; at < tile::ENTRIES; ++at) {\n");
    for (int i = 0, first = 1; i < d->n; ++i) {
        const int value = call_at(d, i)->result;
        const char *v = weft_source_variable(w, value, -1);
        if (d->dense.roles[i] < DENSE_TILE)
            continue;
        if (d->dense.roles[i] == DENSE_TILE && first)
            weft_text_add(
                out,
                "            if (!tile_%d.has(at))\n                continue;\n"
                "            const int c = tile_%d.column_of(at) * %d + tile_%d.row_of(at);\n",
                i, i, n, i);
        first = 0;
        if (d->dense.roles[i] == DENSE_TILE)
            weft_text_add(out, "            one_entry %s = {tile_%d.v[at]};\n", v, i);
        else {
            weft_source_call_comment(w, call_at(d, i));
            weft_text_add(out, "            one_entry %s;\n            {\n", v);
            TRY(write_body(d, i, error));
            weft_text_add(out, "            }\n");
        }
        write_stores(d, value);
    }
    weft_text_add(out, "        }\n    }\n");
done:
    return status;
}

weft_status weft_source_dense(const source_writer *w, const weft_plan_kernel *kernel,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_implementation *one = kernel->implementation;
    dense_writer d = {.w = w, .kernel = kernel, .order = one->order, .n = one->fusion->n_calls};
    if (!weft_dense_find(w->graph, d.order, d.n, &d.dense))
        TRY(weft_error_set(error, WEFT_ERROR_INTERNAL, "%s has no products", kernel->name));
    weft_text_add(w->out,
                  "#define THREADS_PER_ELEMENT %d\n"
                  "#define ELEMENTS %d /* of a block */\n",
                  one->threads_per_element, one->elements_per_block);
    weft_source_head(w, kernel);
    weft_text_add(
        w->out,
        "    const int64_t first = blockIdx.x * (int64_t)ELEMENTS;\n"
        "    const int64_t own = first + threadIdx.x / THREADS_PER_ELEMENT;\n"
        "    const bool is_here = own < n_elements; /* else the last one is computed too */\n"
        "    const int64_t element = is_here ? own : n_elements - 1;\n"
        "    const int64_t block = element / LANES;\n"
        "    const int lane = (int)(element %% LANES);\n");
    if (one->shared_components > 0)
        write_staged_loads(&d);
    write_loads(&d);
    for (int i = 0; i < d.n; ++i)
        if (d.dense.roles[i] < DENSE_TILE)
            TRY(write_before(&d, i, error));
    write_other_stores(&d);
    TRY(write_tiles(&d, error));
    write_staged_stores(&d);
    weft_text_add(w->out, "}\n#undef THREADS_PER_ELEMENT\n#undef ELEMENTS\n\n");
done:
    return status;
}
