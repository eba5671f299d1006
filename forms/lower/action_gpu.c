/* Writes what the text of an action has on a GPU alone: layouts in shared memory, sizes of blocks, lists of fields, and the
 * kernel's arguments. */
#include "forms/lower/action_private.h"

/* ---- sizes ---- */

/* Arrays of q^3 values in shared memory: how much longer than q^2 a plane is, and than their values an array, for the
 * fewest bank conflicts of lines in all directions (a search over both for half a warp of 16 banks). Odd numbers of points
 * are fastest without gaps. */
typedef struct array_layout {
    int plane, size, swap_x, swap_y;
} array_layout;

static array_layout layout_of(const ufl_action_writer *w) {
    const int q = w->n_points;
    if (w->dimension == 2) /* odd rows */
        return (array_layout){.plane = q | 1, .size = q * (q | 1)};
    static const array_layout found[UFL_LINE_MAX + 1] = {
        [6] = {5, 3, 1, 0}, [10] = {5, 11, 1, 0}, [12] = {1, 5, 1, 0}};
    array_layout layout = found[q];
    layout.plane += q * q;
    layout.size += (q - 1) * layout.plane + q * q;
    if (q == 4) /* exclusive or */
        layout = (array_layout){16, 64, 0, 0};
    if (q == 8) /* half-planes are shifted, too */
        layout = (array_layout){68, 546, 0, 1};
    return layout;
}

/* Cells per thread block, and threads per multiprocessor for which registers are left, by measurements of products on an
 * H200 (docs/measurements.md). */
typedef struct occupancy {
    int cells, threads;
} occupancy;

static occupancy trilinear_occupancy(const ufl_action_writer *w) {
    const int q = w->n_points;
    const bool gradients = w->n_gradients > 0;
    if (w->by_layers)
        return gradients ? (occupancy){32 / q, 384} : (occupancy){64 / q, 768};
    const int cells = q >= 8 ? 1 : q == 4 ? 8 : (gradients ? 252 : 144) / (q * q);
    return (occupancy){cells, gradients ? (q >= 8 ? 512 : 756) : (q >= 8 ? 800 : 1008)};
}
/* Lines of 24 coefficients of the geometry, or of a determinant's 6, are in registers. */
static occupancy curved_occupancy(const ufl_action_writer *w) {
    const int q = w->n_points, cells = q >= 8 ? 1 : 128 / (q * q);
    if (w->n_gradients == 0)
        return (occupancy){cells, 1024};
    return (occupancy){q == 4 ? 4 : cells, q == 4 || q == 6 ? 640 : 512};
}
/* Functions with several components need more registers. */
static occupancy vector_occupancy(const ufl_action_writer *w) {
    const int q = w->n_points;
    if (q == 4)
        return w->trilinear ? (occupancy){8, 512} : (occupancy){4, 384};
    return q >= 8 ? (occupancy){1, 256} : (occupancy){128 / (q * q), 384};
}
static occupancy plane_occupancy(const ufl_action_writer *w) {
    const int q = w->n_points, cells = q > 4 && q < 8 ? 128 / q : 64 / q;
    return (occupancy){cells, w->n_values > 1 ? 384 : q < 8 ? 1024 : q == 8 ? 896 : 640};
}
static occupancy wanted_occupancy(const ufl_action_writer *w) {
    if (w->dimension == 2)
        return plane_occupancy(w);
    if (w->n_values > 1)
        return vector_occupancy(w);
    return w->trilinear ? trilinear_occupancy(w) : curved_occupancy(w);
}

static int cube(int n) {
    return n * n * n;
}

/* Numbers of a cell's geometry: GEOMETRY_SIZE of trilinear.cu or geometry.cu. */
static int geometry_size(const ufl_action_writer *w) {
    const int n = w->geometry->n;
    if (w->trilinear)
        return 25;
    return (w->out->kernel.n_vertices * w->dimension | 1) +
           (w->dimension == 3 ? w->n_points * 6 * n * n : 0);
}

static int real_bytes(const ufl_action_writer *w) {
    return w->shape.single ? (int)sizeof(float) : (int)sizeof(double);
}

/* Bytes of shared memory for each cell, as in kernels/cells. */
static int cell_bytes(ufl_action_writer *w) {
    const int q = w->n_points;
    int layers[2] = {0, 0};
    if (!w->by_layers)
        return ((w->n_values + (w->dimension - 1) * w->n_gradients) * layout_of(w).size +
                geometry_size(w)) *
               real_bytes(w);
    w->field_values = 0;
    for (int i = 0; i < w->n_fields; ++i) {
        const int n = w->fields[i].line->n;
        w->fields[i].first = w->field_values;
        w->fields[i].layer = layers[0];
        w->field_values += cube(n);
        layers[0] += n * n * (w->fields[i].slot >= 0 ? 2 : 1);
    }
    for (int i = 0; i < w->n_tests; ++i) {
        w->tests[i].layer = layers[1];
        layers[1] += w->tests[i].line->n * w->tests[i].line->n * (w->tests[i].slot >= 0 ? 2 : 1);
    }
    w->layer_size =
        (layers[0] > layers[1] ? layers[0] : layers[1]) | 1; /* odd: no bank conflicts */
    return (w->field_values + geometry_size(w) + q * w->layer_size) * real_bytes(w);
}

/* Whether a function has the dofs of a cell, one component at each node. */
static bool is_plain(const ufl_field *field, int width) {
    return field->offset == 0 && width == cube(field->line->n);
}

void ufl_action_choose_kernel(ufl_action_writer *w) {
    const weft_cell_kernel *kernel = &w->out->kernel;
    w->trilinear = w->dimension == 3 && w->geometry->n == 2;
    w->by_layers =
        w->trilinear && w->n_values == 1 && w->n_points <= 4 && ufl_action_most_nodes(w) <= 4;
    for (int i = 0; i < w->n_fields; ++i)
        w->by_layers &= is_plain(&w->fields[i], kernel->sources[w->fields[i].source].n_nodes);
    for (int i = 0; i < w->n_tests; ++i)
        w->by_layers &= is_plain(&w->tests[i], kernel->n_nodes);
}

static void choose_shape(ufl_action_writer *w) {
    weft_cell_kernel *kernel = &w->out->kernel;
    const int q = w->n_points, bytes = cell_bytes(w);
    const int threads = w->by_layers || w->dimension == 2 ? q : q * q;
    const occupancy wanted = wanted_occupancy(w);
    kernel->cells = w->shape.cells > 0 ? w->shape.cells : wanted.cells;
    while (kernel->cells > 1 && (size_t)(bytes * kernel->cells) > w->limits->onchip_bytes)
        kernel->cells /= 2;
    kernel->block_threads = kernel->cells * threads;
    kernel->shared_bytes = bytes * kernel->cells;
    if (w->shape.resident == 0) {
        const int most = (int)(w->limits->onchip_bytes / (size_t)(kernel->shared_bytes + 1024));
        const int warps = (kernel->block_threads + 31) / 32;
        const bool tuned = w->trilinear && w->n_values == 1; /* by threads, others by whole warps */
        w->shape.resident = wanted.threads / (tuned ? kernel->block_threads : 32 * warps);
        if (w->shape.resident > most)
            w->shape.resident = most;
        if (w->shape.resident < 1)
            w->shape.resident = 1;
    }
}

/* ---- text ---- */

static void write_structs(const ufl_action_writer *w, weft_text *out) {
    const weft_cell_kernel *kernel = &w->out->kernel;
    weft_text_add(out,
                  "template <int N> struct nodes;\n#define LINE(N) template <> struct nodes<N> { "
                  "static __device__ __forceinline__ scalar even(int i) { return even_##N[i]; } "
                  "static __device__ __forceinline__ scalar odd(int i) { return odd_##N[i]; } ");
    if (w->by_layers)
        weft_text_add(
            out, "static __device__ __forceinline__ scalar value(int q, int i) { return "
                 "value_##N[q * N + i]; } static __device__ __forceinline__ scalar slope(int q, "
                 "int i) { return slope_##N[q * N + i]; } ");
    weft_text_add(out, "};\nNODES(LINE)\n#undef LINE\n");
    weft_text_add(out, "template <int N> struct field;\ntemplate <int N> struct test;\n");
    for (int i = 0; i < w->n_fields; ++i) {
        const ufl_field *field = &w->fields[i];
        const weft_cell_source *source = &kernel->sources[field->source];
        weft_text_add(
            out,
            "template <> struct field<%d> { static constexpr int source = %d, n = %d, width = %d, "
            "offset = %d, components = %d, component = %d, slot = %d, first = %d, layer = %d; };\n",
            i, field->source, field->line->n, source->n_nodes, field->offset, source->components,
            field->component, field->slot, field->first, field->layer);
    }
    for (int i = 0; i < w->n_tests; ++i)
        weft_text_add(out,
                      "template <> struct test<%d> { static constexpr int n = %d, offset = %d, "
                      "component = %d, slot = %d, value = %d, layer = %d; };\n",
                      i, w->tests[i].line->n, w->tests[i].offset, w->tests[i].component,
                      w->tests[i].slot, w->tests[i].has_value, w->tests[i].layer);
    weft_text_add(out, "#define FIELDS(F)");
    for (int i = 0; i < w->n_fields; ++i)
        weft_text_add(out, " F(%d)", i);
    weft_text_add(out, "\n#define TESTS(F)");
    for (int i = 0; i < w->n_tests; ++i)
        weft_text_add(out, " F(%d)", i);
    weft_text_add(out, "\n");
}

static void write_files(const ufl_action_writer *w, weft_text *out) {
    const char *const files[] = {"common.cu", w->by_layers ? NULL : "contractions.cu",
                                 w->trilinear ? "trilinear.cu" : "geometry.cu",
                                 w->by_layers        ? "hexahedra_layers.cu"
                                 : w->dimension == 2 ? "quadrilaterals.cu"
                                                     : "hexahedra_lines.cu"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i)
        if (files[i])
            ufl_action_write_file(files[i], out);
}

void ufl_action_write_gpu(ufl_action_writer *w, weft_text *out) {
    const weft_cell_kernel *kernel = &w->out->kernel;
    const array_layout layout = layout_of(w);
    choose_shape(w);
    write_structs(w, out);
    weft_text_add(out,
                  "#define PLANE_SIZE %d\n#define LAYOUT_SIZE %d\n#define SWAP_X %d\n"
                  "#define SWAP_Y %d\n",
                  layout.plane, layout.size, layout.swap_x, layout.swap_y);
    if (w->by_layers)
        weft_text_add(out,
                      "#define FIELD_VALUES %d\n#define LAYER_SIZE %d\n#define TEST_NODES %d\n"
                      "#define ROWS_UNROLL _Pragma(\"unroll %d\")\n",
                      w->field_values, w->layer_size, w->tests[0].line->n,
                      w->n_gradients > 0 ? 1 : w->n_points);
    weft_text_add(
        out,
        "#define CELLS %d\n#define RESIDENT %d\n#ifdef PREDICATED\n"
        "#define ACTIVE , const uint32_t *__restrict__ active\n#define CLEAR_KERNEL extern \"C\" "
        "__global__ void %s_clear(long long n_elements, scalar *__restrict__ y ACTIVE)\n"
        "#else\n#define ACTIVE\n#endif\n#define CELLS_KERNEL extern \"C\" __global__ void "
        "__launch_bounds__(%d, RESIDENT) %s(long long n_elements, const int32_t *__restrict__ "
        "vertices, const scalar *__restrict__ coordinates, scalar *__restrict__ y, const int32_t "
        "*__restrict__ test_dofs",
        kernel->cells, w->shape.resident, w->name, kernel->block_threads, w->name);
    for (int i = 0; i < kernel->n_sources; ++i) {
        if (kernel->sources[i].kind == WEFT_CELL_NODAL)
            weft_text_add(out, ", const int32_t *__restrict__ dofs%d", i);
        weft_text_add(out, ", const scalar *__restrict__ values%d", i);
    }
    weft_text_add(out, " ACTIVE)\n#define SOURCES ");
    ufl_action_write_sources(w, true, out);
    write_files(w, out);
}
