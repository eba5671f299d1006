/* Writes the text of an action: tables, the integrand at a point, and the kernel's arguments, before a file of
 * kernels/cells. */
#include "forms/lower/action_private.h"

#include "forms/embedded_cells.h"
#include "fusion/codegen/codegen.h"

#include <stdio.h>
#include <string.h>

/* ---- tables ---- */

static void write_table(ufl_action_writer *w, const char *name, const char *suffix,
                        const double *values, int n, weft_text *out) {
    const bool on_gpu = w->limits->execution == WEFT_EXECUTION_SIMT;
    char number[40];
    weft_text_add(out, "static %s scalar %s%s[] = {", on_gpu ? "__constant__" : "const", name,
                  suffix);
    for (int i = 0; i < n; ++i)
        weft_text_add(out, "%s%s", i ? ", " : "", ufl_emit_number(values[i], number));
    weft_text_add(out, "};\n");
}

/* The even and odd parts of a table [Q][n] whose entry (Q-1-q, n-1-i) is sign times entry (q, i): values for what is
 * added to and subtracted from its mirror image, [(Q+1)/2][(n+1)/2]. */
static bool write_parts(ufl_action_writer *w, const char *prefix, const char *suffix,
                        const double *table, int n, weft_text *out) {
    const int q = w->n_points, rows = (q + 1) / 2, columns = (n + 1) / 2;
    double *even = ufl_alloc(w->l.context, (size_t)(rows * columns), sizeof *even);
    double *odd = ufl_alloc(w->l.context, (size_t)(rows * columns), sizeof *odd);
    char name[40];
    if (!even || !odd)
        return false;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            const double a = table[i * n + j], b = table[i * n + n - 1 - j];
            even[i * columns + j] = (a + b) / 2;
            odd[i * columns + j] = (a - b) / 2;
        }
    snprintf(name, sizeof name, "%seven", prefix);
    write_table(w, name, suffix, even, rows * columns, out);
    snprintf(name, sizeof name, "%sodd", prefix);
    write_table(w, name, suffix, odd, rows * columns, out);
    return true;
}

/* Values and derivatives of the functions of a line at the points, for kernels that do not split them. */
static void write_functions(ufl_action_writer *w, const ufl_line *line, const char *suffix,
                            weft_text *out) {
    write_table(w, "value", suffix, line->values, w->n_points * line->n, out);
    write_table(w, "slope", suffix, line->slopes, w->n_points * line->n, out);
}

/* Derivatives of the Lagrange polynomials through the points, at the points (Berrut and Trefethen 2004, section 9.3). */
static bool write_slopes(ufl_action_writer *w, weft_text *out) {
    const int q = w->n_points;
    double *d = ufl_alloc(w->l.context, (size_t)(q * q), sizeof *d), barycentric[UFL_LINE_MAX];
    if (!d)
        return false;
    for (int i = 0; i < q; ++i) {
        barycentric[i] = 1;
        for (int j = 0; j < q; ++j)
            barycentric[i] /= j == i ? 1 : w->points[i] - w->points[j];
    }
    for (int i = 0; i < q; ++i)
        for (int j = 0; j < q; ++j)
            if (j != i) {
                d[i * q + j] = barycentric[j] / barycentric[i] / (w->points[i] - w->points[j]);
                d[i * q + i] -= d[i * q + j];
            }
    return write_parts(w, "slope_", "", d, q, out);
}

static bool write_tables(ufl_action_writer *w, weft_text *out) {
    bool made[UFL_LINE_MAX + 1] = {false};
    write_table(w, "points", "", w->points, w->n_points, out);
    write_table(w, "weights", "", w->weights, w->n_points, out);
    for (int i = 0; i < w->n_lines; ++i) {
        char suffix[16];
        snprintf(suffix, sizeof suffix, "_%d", w->lines[i].n);
        if (!made[w->lines[i].n] &&
            !write_parts(w, "", suffix, w->lines[i].values, w->lines[i].n, out))
            return false;
        if (w->by_layers && !made[w->lines[i].n])
            write_functions(w, &w->lines[i], suffix, out);
        made[w->lines[i].n] = true;
    }
    weft_text_add(out, "#define NODES(F)");
    for (int n = 0; n <= UFL_LINE_MAX; ++n)
        if (made[n])
            weft_text_add(out, " F(%d)", n);
    weft_text_add(out, "\n");
    return write_slopes(w, out);
}

/* ---- the integrand ---- */

/* The place of component 0 of a source among the values that are constant on a cell. */
static int first_uniform(const ufl_action_writer *w, int source) {
    int n = 0;
    for (int i = 0; i < source; ++i)
        if (w->out->kernel.sources[i].kind == WEFT_CELL_CONSTANT)
            n += w->out->kernel.sources[i].components;
    return n;
}

static int find_field(const ufl_action_writer *w, int source, int component) {
    int i = 0;
    while (w->fields[i].source != source || w->fields[i].component != component)
        ++i;
    return i;
}

static void write_leaf(ufl_action_writer *w, int number, const ufl_scalar *s) {
    weft_text *out = &w->emitter.body;
    ufl_part parts[UFL_PARTS_MAX];
    weft_text_add(out, "    const real s%d = ", number);
    switch (s->type) {
    case SCALAR_JACOBIAN:
        weft_text_add(out, "J[%d][%d];\n", s->b, s->a);
        break;
    case SCALAR_COORDINATE:
        weft_text_add(out, "x[%d];\n", s->a);
        break;
    case SCALAR_WEIGHT:
        weft_text_add(out, "weight;\n");
        break;
    case SCALAR_DETERMINANT:
        if (w->expands)
            ufl_emit_scalar(&w->emitter, s->a, out);
        weft_text_add(out, w->expands ? ";\n" : "determinant;\n");
        break;
    case SCALAR_CONSTANT:
        weft_text_add(out, "uniform[%d];\n", first_uniform(w, w->l.n_coefficients + s->a) + s->b);
        break;
    default:
        (void)ufl_component_parts(w->l.context, w->l.coefficients[s->a / 2]->space->element, s->b,
                                  parts);
        if (s->constant)
            weft_text_add(out, "uniform[%d];\n", first_uniform(w, s->a / 2) + parts[0].first);
        else
            weft_text_add(out, "u[%d];\n", 4 * find_field(w, s->a / 2, parts[0].first) + s->c);
        break;
    }
    w->emitter.declared[number] = true;
}

/* Leaves are declared where they are; the expression of a determinant comes before what uses it. */
static bool write_point(ufl_action_writer *w, weft_text *out) {
    ufl_emitter *e = &w->emitter;
    const ufl_scalars *scalars = &w->l.scalars;
    for (int i = 0; i < scalars->n; ++i) {
        const ufl_scalar *s = &scalars->list[i];
        if (e->uses[i] == 0)
            continue;
        if (ufl_scalar_operands(s) == 0 && s->type != SCALAR_NUMBER)
            write_leaf(w, i, s);
        else if (ufl_scalar_operands(s) > 0)
            ufl_emit_shared(e, i);
    }
    for (int t = 0; t < w->n_terms; ++t) {
        weft_text_add(&e->body, "    f[%d] = ", 4 * w->terms[t].test + w->terms[t].derivative);
        const bool number = scalars->list[w->terms[t].factor].type == SCALAR_NUMBER;
        weft_text_add(&e->body, number ? "SPLAT(" : "");
        ufl_emit_scalar(e, w->terms[t].factor, &e->body);
        weft_text_add(&e->body, number ? ");\n" : ";\n");
    }
    for (int k = 0; k < w->n_tests; ++k)
        for (int derivative = 1; derivative < 4 && w->tests[k].slot >= 0; ++derivative) {
            bool has = false;
            for (int t = 0; t < w->n_terms; ++t)
                has |= w->terms[t].test == k && w->terms[t].derivative == derivative;
            if (!has)
                weft_text_add(&e->body, "    f[%d] = SPLAT(0.0);\n", 4 * k + derivative);
        }
    weft_text_add(
        out,
        "/* u[field][value, derivatives] -> f[test][value, derivatives] */\n"
        "INLINE void point(real (*J)[3], real determinant, real *x, real weight, const real *u,\n"
        "                  const real *uniform, real *f)\n{\n%s}\n",
        e->body.data ? e->body.data : "");
    return !e->body.failed;
}

/* ---- a kernel of the host ---- */

static void write_sources(const ufl_action_writer *w, bool on_gpu, weft_text *out) {
    const weft_cell_kernel *kernel = &w->out->kernel;
    int argument = 4;
    weft_text dofs = {0}, values = {0};
    for (int i = 0; i < kernel->n_sources; ++i) {

        const bool nodal = kernel->sources[i].kind == WEFT_CELL_NODAL;
        if (on_gpu) {
            weft_text_add(&dofs, nodal ? "dofs%d, " : "0, ", i);
            weft_text_add(&values, "values%d, ", i);
        } else {
            weft_text_add(&dofs, nodal ? "arguments[%d], " : "0, ", argument);
            argument += nodal;
            weft_text_add(&values, "arguments[%d], ", argument++);
        }
    }
    weft_text_add(out,
                  "const int32_t *const dofs[] = {%s0}; const scalar *const values[] = {%s0}; "
                  "(void)dofs; (void)values;\n",
                  dofs.data ? dofs.data : "", values.data ? values.data : "");
    out->failed |= dofs.failed || values.failed;
    weft_text_free(&dofs);
    weft_text_free(&values);
}

static void write_uniform(const ufl_action_writer *w, bool on_gpu, weft_text *out) {
    const weft_cell_kernel *kernel = &w->out->kernel;
    int n = 0;
    weft_text_add(out, "#define LOAD_UNIFORM ");
    for (int i = 0; i < kernel->n_sources; ++i)
        for (int c = 0;
             c < kernel->sources[i].components && kernel->sources[i].kind == WEFT_CELL_CONSTANT;
             ++c, ++n) {
            if (kernel->sources[i].uniform)
                weft_text_add(out, "uniform[%d] = SPLAT(values[%d][%d]); ", n, i, c);
            else if (on_gpu)
                weft_text_add(out, "uniform[%d] = values[%d][cell * %d + %d]; ", n, i,
                              kernel->sources[i].components, c);
            else
                weft_text_add(
                    out,
                    "for (int l = 0; l < LANES; ++l) uniform[%d][l] = values[%d][cells[l] * "
                    "%d + %d]; ",
                    n, i, kernel->sources[i].components, c);
        }
    weft_text_add(out, "(void)uniform;\n#define N_UNIFORM %d\n", n);
}

static void write_host(ufl_action_writer *w, weft_text *out) {
    weft_text_add(out, "#define KERNEL_NAME %s\n#define FIELDS(F)", w->name);
    for (int i = 0; i < w->n_fields; ++i)
        weft_text_add(out, " F(%d, %d, %d, %d, %d, %d)", i, w->fields[i].source,
                      w->fields[i].line->n, w->out->kernel.sources[w->fields[i].source].components,
                      w->fields[i].component, w->fields[i].slot);
    weft_text_add(out, "\n#define TESTS(F)");
    for (int i = 0; i < w->n_tests; ++i)
        weft_text_add(out, " F(%d, %d, %d, %d)", i, w->tests[i].component, w->tests[i].has_value,
                      w->tests[i].slot);
    weft_text_add(out,
                  "\n#define TEST_POINTS from_points_%d\n#define ARGUMENTS "
                  "const int32_t *const vertices = arguments[0]; const scalar *const coordinates = "
                  "arguments[1]; scalar *const y = arguments[2]; const int32_t *const test_dofs = "
                  "arguments[3]; ",
                  w->test->n);
    write_sources(w, false, out);
    w->out->kernel.cells = w->limits->lanes_double;
}

/* ---- a kernel of a GPU ---- */

/* Arrays of q^3 values in shared memory: how much longer than q^2 a plane is, and than their values an array, for the
 * fewest bank conflicts of lines in all directions (a search over both for half a warp of 16 banks). Odd numbers of points
 * are fastest without gaps. */
typedef struct array_layout {
    int plane, size, swap_x, swap_y;
} array_layout;

static array_layout layout_of(int q) {
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

/* Cells per thread block, and threads per multiprocessor for which registers are left, by measurements of single
 * functions on an H200 (docs/measurements.md); functions with several components need more registers. */
static int wanted_cells(const ufl_action_writer *w) {
    const int q = w->n_points;
    if (w->by_layers)
        return (w->n_gradients > 0 ? 32 : 64) / q;
    return q >= 8 ? 1 : q == 4 ? 8 : (w->n_gradients > 0 ? 252 : 144) / (q * q);
}
static int wanted_threads(const ufl_action_writer *w) {
    if (w->by_layers)
        return w->n_gradients > 0 ? 384 : 768;
    if (w->n_values > 1)
        return 384;
    return w->n_gradients > 0 ? (w->n_points >= 8 ? 512 : 756) : (w->n_points >= 8 ? 800 : 1008);
}

static int cube(int n) {
    return n * n * n;
}

/* Bytes of shared memory for each cell, as in kernels/cells. */
static int cell_bytes(ufl_action_writer *w) {
    const int q = w->n_points;
    int layers[2] = {0, 0};
    if (!w->by_layers)
        return ((w->n_values + 2 * w->n_gradients) * layout_of(q).size + 25) * 8;
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
        layers[1] += w->test->n * w->test->n * (w->tests[i].slot >= 0 ? 2 : 1);
    }
    w->layer_size =
        (layers[0] > layers[1] ? layers[0] : layers[1]) | 1; /* odd: no bank conflicts */
    return (w->field_values + 25 + q * w->layer_size) * 8;
}

static void choose_shape(ufl_action_writer *w) {
    weft_cell_kernel *kernel = &w->out->kernel;
    const int q = w->n_points, threads = w->by_layers ? q : q * q, bytes = cell_bytes(w);
    kernel->cells = w->shape.cells > 0 ? w->shape.cells : wanted_cells(w);
    while (kernel->cells > 1 && (size_t)(bytes * kernel->cells) > w->limits->onchip_bytes)
        kernel->cells /= 2;
    kernel->block_threads = kernel->cells * threads;
    kernel->shared_bytes = bytes * kernel->cells;
    if (w->shape.resident == 0) {
        const int most = (int)(w->limits->onchip_bytes / (size_t)(kernel->shared_bytes + 1024));
        w->shape.resident = wanted_threads(w) / kernel->block_threads;
        if (w->shape.resident > most)
            w->shape.resident = most;
        if (w->shape.resident < 1)
            w->shape.resident = 1;
    }
}

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
    for (int i = 0; i < w->n_fields; ++i)
        weft_text_add(out,
                      "template <> struct field<%d> { static constexpr int source = %d, n = %d, "
                      "components = %d, component = %d, slot = %d, first = %d, layer = %d; };\n",
                      i, w->fields[i].source, w->fields[i].line->n,
                      kernel->sources[w->fields[i].source].components, w->fields[i].component,
                      w->fields[i].slot, w->fields[i].first, w->fields[i].layer);
    for (int i = 0; i < w->n_tests; ++i)
        weft_text_add(
            out,
            "template <> struct test<%d> { static constexpr int component = %d, slot = %d, "
            "value = %d, layer = %d; };\n",
            i, w->tests[i].component, w->tests[i].slot, w->tests[i].has_value, w->tests[i].layer);
    weft_text_add(out, "#define FIELDS(F)");
    for (int i = 0; i < w->n_fields; ++i)
        weft_text_add(out, " F(%d)", i);
    weft_text_add(out, "\n#define TESTS(F)");
    for (int i = 0; i < w->n_tests; ++i)
        weft_text_add(out, " F(%d)", i);
    weft_text_add(out, "\n");
}

static bool uses_coordinates(const ufl_action_writer *w) {
    for (int i = 0; i < w->l.scalars.n; ++i)
        if (w->emitter.uses[i] > 0 && w->l.scalars.list[i].type == SCALAR_COORDINATE)
            return true;
    return false;
}

static void write_gpu(ufl_action_writer *w, weft_text *out) {
    const weft_cell_kernel *kernel = &w->out->kernel;
    const array_layout layout = layout_of(w->n_points);
    choose_shape(w);
    write_structs(w, out);
    weft_text_add(out,
                  "#define PLANE_SIZE %d\n#define LAYOUT_SIZE %d\n#define SWAP_X %d\n"
                  "#define SWAP_Y %d\n#define COORDINATES %d\n",
                  layout.plane, layout.size, layout.swap_x, layout.swap_y, uses_coordinates(w));
    if (w->by_layers)
        weft_text_add(out,
                      "#define FIELD_VALUES %d\n#define LAYER_SIZE %d\n#define ROWS_UNROLL "
                      "_Pragma(\"unroll %d\")\n",
                      w->field_values, w->layer_size, w->n_gradients > 0 ? 1 : w->n_points);
    weft_text_add(
        out,
        "#define CELLS %d\n#define RESIDENT %d\n#ifdef PREDICATED\n"
        "#define ACTIVE , const uint32_t *__restrict__ active\n#define CLEAR_KERNEL extern "
        "\"C\" __global__ void %s_clear(long long n_elements, scalar *__restrict__ y ACTIVE)\n"
        "#else\n#define ACTIVE\n#endif\n#define CELLS_KERNEL extern \"C\" "
        "__global__ void __launch_bounds__(%d, RESIDENT) %s("
        "long long n_elements, const int32_t *__restrict__ vertices, const scalar "
        "*__restrict__ coordinates, scalar *__restrict__ y, const int32_t *__restrict__ "
        "test_dofs",
        kernel->cells, w->shape.resident, w->name, kernel->block_threads, w->name);
    for (int i = 0; i < kernel->n_sources; ++i) {
        if (kernel->sources[i].kind == WEFT_CELL_NODAL)
            weft_text_add(out, ", const int32_t *__restrict__ dofs%d", i);
        weft_text_add(out, ", const scalar *__restrict__ values%d", i);
    }
    weft_text_add(out, " ACTIVE)\n#define SOURCES ");
    write_sources(w, true, out);
}

static void write_file(const char *name, weft_text *out) {
    const weft_embedded_file *found = weft_embedded_cells;
    while (found->name && strcmp(found->name, name) != 0)
        ++found;
    weft_text_add(out, "%s", found->text ? found->text : "");
}

bool ufl_action_write(ufl_action_writer *w) {
    const bool on_gpu = w->limits->execution == WEFT_EXECUTION_SIMT;
    weft_cell_kernel *kernel = &w->out->kernel;
    weft_text text = {0};
    int most = 0;
    for (int i = 0; i < w->n_lines; ++i)
        most = w->lines[i].n > most ? w->lines[i].n : most;
    w->by_layers = on_gpu && w->n_values == 1 && w->n_points <= 4 && most <= 4;
    weft_source_backend(w->limits)->prelude(&text, w->limits->lanes_double, false);
    weft_text_add(&text, on_gpu ? "#ifndef __CUDACC__\n#define __constant__\n#endif\n" : "");
    weft_text_add(
        &text,
        "#define POINTS %d\n#define N_FIELDS %d\n#define N_TESTS %d\n#define N_VALUES %d\n"
        "#define N_GRADIENTS %d\n#define GRADIENTS %d\n#define TEST_NODES %d\n"
        "#define TEST_COMPONENTS %d\n#define MOST_NODES %d\n",
        w->n_points, w->n_fields, w->n_tests, w->n_values, w->n_gradients, w->n_gradients > 0,
        w->test->n, kernel->components, most);
    bool fine = write_tables(w, &text) && write_point(w, &text);
    write_uniform(w, on_gpu, &text);
    kernel->name = w->name;
    kernel->n_vertices = 8;
    kernel->dimension = 3;
    if (fine && on_gpu) {
        write_gpu(w, &text);
        write_file("hexahedra_geometry.cu", &text);
        write_file(w->by_layers ? "hexahedra_layers.cu" : "hexahedra_lines.cu", &text);
    } else if (fine) {
        write_host(w, &text);
        write_file("hexahedra.c", &text);
    }
    if (text.failed)
        ufl_fail(w->l.context, WEFT_ERROR_MEMORY, "out of memory");
    else
        kernel->text = ufl_copy(w->l.context, text.data, text.length);
    fine = fine && !text.failed && kernel->text;
    weft_text_free(&text);
    return fine;
}
