/* Generates micro-benchmark kernels, each of one cost primitive.
 *
 * Results are summed, and the sum is stored only if it equals a value that it never takes, so the
 * compiler cannot remove the work. The kernels call the functions of the backends' preludes just as
 * generated code does (fusion/codegen/kernel.c, fusion/codegen/multi_thread.c). */
#include "fusion/tune/benchmark.h"
#include "fusion/base/target.h"
#include "fusion/cost/intrinsic.h"
#include "fusion/library/function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int weft_benchmark_values(const weft_cost_primitive *primitive) {
    if (primitive->form == WEFT_COST_ADD_MATRIX)
        return primitive->width * primitive->width;
    return primitive->components * (primitive->width > 0 ? primitive->width : 1);
}

int64_t weft_benchmark_nodes(int64_t n, int width) {
    /* nodes per cell: about 1/2 for triangles, 2/11 for tetrahedra */
    const int64_t nodes = n * 2 / (width > 3 ? 11 : width > 1 ? 4 : 2);
    return nodes > 64 ? nodes : 64;
}

/* Vertices at distances typical of a mesh numbered by recursive bisection: adjacent nodes, and
 * nodes one row away. */
static int32_t node_of(int64_t element, int vertex, int64_t n_nodes, int width) {
    static const int64_t steps[] = {0, 1, 30, 31, 900, 901, 930, 931};
    const int64_t first = element * 2 / (width > 3 ? 11 : width > 1 ? 4 : 2);
    return (int32_t)((first + steps[vertex % 8] + 1860 * (vertex / 8)) % n_nodes);
}

weft_status weft_benchmark_connectivity(weft_device *device, int64_t n, int width, int64_t n_nodes,
                                        int32_t **indices, weft_connectivity **out,
                                        weft_error *error) {
    *indices = calloc((size_t)n * (size_t)width + 1, sizeof **indices);
    if (!*indices)
        return weft_out_of_memory(error, "a synthetic connectivity");
    for (int64_t i = 0; i < n; ++i)
        for (int a = 0; a < width; ++a)
            (*indices)[i * width + a] = node_of(i, a, n_nodes, width);
    return weft_connectivity_make(device, *indices, n, width, n_nodes, out, error);
}

weft_status weft_benchmark_positions(weft_device *device, const int32_t *indices, int64_t n,
                                     int width, int lanes, weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int entries = width * width;
    const int64_t blocks = (n + lanes - 1) / lanes;
    const size_t count = (size_t)(blocks * lanes) * (size_t)entries;
    uint32_t *values = calloc(count + 1, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "the positions of a synthetic matrix"));
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < entries; ++k)
            values[(i / lanes * entries + k) * lanes + i % lanes] =
                (uint32_t)(indices[i * width + k / width] * 2 * width + k % width);
    TRY(weft_memory_make_unset(device, count * sizeof *values, out, error));
    TRY(weft_memory_write(*out, 0, values, count * sizeof *values, error));
done:
    free(values);
    return status;
}

static int64_t elements_of(const weft_limits *limits, const weft_cost_primitive *primitive) {
    const bool gpu = weft_target_is_simt(limits);
    if (primitive->kind == WEFT_COST_COMPUTE) {
        const double flops = primitive->flops > 1 ? primitive->flops : 1;
        const double n = (gpu ? 1e9 : 2e7) / flops;
        const double most = gpu ? 1 << 24 : 1 << 20, least = gpu ? 1 << 20 : 1 << 14;
        return (int64_t)(n < least ? least : n > most ? most : n) / 4096 * 4096;
    }
    double bytes = 2.5 * (double)limits->l2_bytes;
    bytes = bytes < 32e6 ? 32e6 : bytes > 256e6 ? 256e6 : bytes;
    /* the same number for all primitives that share a connectivity */
    const double each = primitive->width > 0 ? 16.0 * primitive->width : primitive->bytes;
    const double n = bytes / (each > 1 ? each : 1);
    return ((int64_t)(n < 1 << 23 ? n : 1 << 23) / 4096 + 1) * 4096;
}

static int64_t reals_of(const weft_cost_primitive *primitive, int64_t n, int lanes) {
    if (primitive->kind == WEFT_COST_COMPUTE)
        return lanes;
    if (primitive->form == WEFT_COST_BLOCK || primitive->form == WEFT_COST_AOS)
        return (n + lanes) * primitive->components;
    return weft_benchmark_nodes(n, primitive->width) *
           (primitive->form == WEFT_COST_ADD_MATRIX ? 2 * primitive->width : primitive->components);
}

/* ---- parsing the name of a compute primitive ---- */

/* The fourth word of "compute FUNCTION THREADS m=3,k=3 TYPE PLACE". */
static const char *find_sizes(const char *name) {
    for (int word = 0; word < 3 && name; ++word) {
        name = strchr(name, ' ');
        name += name != NULL;
    }
    return name;
}

/* The value of a size in that word, or -1. */
static int find_size(const char *name, const char *wanted, size_t length) {
    for (const char *text = find_sizes(name); text && *text && *text != ' ';) {
        const size_t here = strcspn(text, "=, ");
        if (text[here] != '=')
            return -1;
        if (here == length && strncmp(text, wanted, length) == 0)
            return atoi(text + here + 1);
        text += here + strcspn(text + here, ", ");
        text += *text == ',';
    }
    return -1;
}

/* The sizes of a function. Returns false if one is neither given nor has a default. */
static bool read_sizes(const weft_function *function, const char *name, int *values) {
    for (int i = 0; i < function->n_names; ++i) {
        const weft_name *one = &function->names[i];
        values[i] = find_size(name, one->name, strlen(one->name));
        if (values[i] < 0 && !one->has_value)
            return false;
        if (values[i] < 0)
            values[i] = one->value;
    }
    return true;
}

/* The specialisation that a compute primitive's name denotes; *out is NULL if there is none. */
static weft_status probe_element(weft_arena *arena, const weft_library *library,
                                 const weft_cost_primitive *primitive, weft_specialisation **out,
                                 weft_error *error) {
    int values[WEFT_FUNCTION_NAMES_MAX], key_values[WEFT_FUNCTION_NAMES_MAX], n_keys = 0;
    const char *keys[WEFT_FUNCTION_NAMES_MAX];
    weft_shape shapes[WEFT_ARGUMENTS_MAX];
    *out = NULL;
    if (primitive->intrinsic)
        return WEFT_OK;
    const weft_function *function = weft_library_find(library, primitive->function);
    if (!function || !read_sizes(function, primitive->name, values))
        function = weft_library_find_reduction(library, primitive->function);
    if (!function || !read_sizes(function, primitive->name, values) ||
        !weft_function_shapes(function, values, WEFT_ELEMENTS_MAX, shapes))
        return WEFT_OK;
    for (int i = 0; i < function->n_names; ++i)
        if (function->names[i].is_parameter) {
            keys[n_keys] = function->names[i].name;
            key_values[n_keys++] = values[i];
        }
    weft_status status = weft_specialisation_make(
        arena, library,
        &(weft_element_request){
            function, shapes, function->n_arguments, keys, key_values, n_keys, {NULL, 0, 0}, false},
        out, error);
    if (status != WEFT_OK)
        *out = NULL;
    return status == WEFT_ERROR_MEMORY ? status : WEFT_OK;
}

void weft_benchmark_prelude(const weft_limits *limits, bool single, weft_text *out) {
    weft_source_backend(limits)->prelude(out, limits, single);
}

/* ---- kernels ---- */

static weft_status find_operands(weft_benchmark_writer *p,
                                 const weft_specialisation *specialisation, weft_error *error) {
    const weft_cost_primitive *r = p->primitive;
    p->specialisation = specialisation;
    if (r->kind != WEFT_COST_COMPUTE)
        return WEFT_OK;
    if (specialisation) {
        p->n_arguments = specialisation->n_arguments;
        for (int i = 0; i < p->n_arguments; ++i)
            p->counts[i] = weft_shape_count(&specialisation->arguments[i]);
        p->n_results = weft_shape_count(&specialisation->result);
        return WEFT_OK;
    }
    p->n_results = p->counts[0] = r->intrinsic ? 1 : find_size(r->name, "n", 1);
    p->n_arguments = 1;
    if (weft_cost_intrinsic(r) && !r->shared)
        return WEFT_OK;
    if (strcmp(r->function, "arithmetic") == 0 && p->n_results > 0 && !r->shared)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s: it cannot be measured alone",
                          r->name);
}

static weft_benchmark describe(const weft_benchmark_writer *p, const weft_limits *limits) {
    const weft_cost_primitive *r = p->primitive;
    const bool indirect = r->form >= WEFT_COST_INDIRECT && r->kind != WEFT_COST_COMPUTE;
    weft_benchmark out = {.primitive = r, .n = elements_of(limits, r), .share = 1};
    int on_chip = r->kind == WEFT_COST_COMPUTE ? p->n_results : weft_benchmark_values(r),
        moved = p->n_results;
    for (int i = 0; i < p->n_arguments; ++i) {
        on_chip += p->counts[i];
        moved += p->counts[i];
    }
    out.reals = reals_of(r, out.n, p->lanes);
    out.width = indirect ? r->width : 0;
    out.positions = indirect && r->form == WEFT_COST_ADD_MATRIX;
    if (r->shared)
        out.shared = (size_t)on_chip * (size_t)p->lanes * (size_t)r->real_bytes;
    else if (r->kind == WEFT_COST_COMPUTE) /* the kernel adds one addition per operand and result */
        out.share = r->flops > 0 ? r->flops / (r->flops + moved) : 0.1;
    return out;
}

weft_status weft_benchmark_print(const weft_library *library, const weft_limits *limits,
                                 const weft_cost_primitive *primitive, int number, weft_text *out,
                                 weft_benchmark *made, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_specialisation *specialisation = NULL;
    int warps[8];
    const int lanes = weft_target_lanes(limits, primitive->real_bytes == 4);
    weft_benchmark_writer p = {
        .backend = weft_source_backend(limits), .primitive = primitive, .lanes = lanes, .out = out};
    TRY(weft_arena_make(&arena, error));
    if (primitive->shared && !p.backend->is_threaded)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s: there is no shared memory",
                           primitive->name));
    if (primitive->kind == WEFT_COST_COMPUTE)
        TRY(probe_element(arena, library, primitive, &specialisation, error));
    TRY(find_operands(&p, specialisation, error));
    *made = describe(&p, limits);
    const int n_warps = primitive->shared ? weft_benchmark_warps(limits, primitive, warps) : 0;
    for (int i = 0; i < n_warps; ++i)
        TRY(weft_benchmark_shared(&p, number, warps[i], error));
    if (!primitive->shared)
        TRY(weft_benchmark_registers(&p, number, error));
    if (out->failed)
        status = weft_out_of_memory(error, "a primitive's kernel");
done:
    weft_arena_free(&arena);
    return status;
}
