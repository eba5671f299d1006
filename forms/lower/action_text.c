/* Writes the text of an action: tables, the integrand at a point, and the kernel's arguments on the host, before files of
 * kernels/cells. */
#include "forms/lower/action_private.h"

#include "forms/embedded_cells.h"
#include "fusion/base/target.h"
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

/* Coefficients of monomials from values at the nodes of a line: the inverse of a matrix of powers. */
static bool write_powers(ufl_action_writer *w, const ufl_line *line, weft_text *out) {
    const int n = line->n;
    double *powers = ufl_alloc(w->l.context, (size_t)(n * n), sizeof *powers);
    double *inverse = ufl_alloc(w->l.context, (size_t)(n * n), sizeof *inverse);
    if (!powers || !inverse)
        return false;
    for (int i = 0; i < n; ++i)
        for (int m = 0; m < n; ++m) {
            powers[i * n + m] = m == 0 ? 1 : powers[i * n + m - 1] * line->nodes[i];
            inverse[i * n + m] = i == m;
        }
    if (!ufl_solve_dense(powers, n, inverse, n))
        return ufl_fail(w->l.context, WEFT_ERROR_INTERNAL, "the nodes of a line coincide");
    write_table(w, "geometry_power", "", inverse, n * n, out);
    return true;
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
    return write_slopes(w, out) && (w->trilinear || write_powers(w, w->geometry, out));
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

static int find_field(const ufl_action_writer *w, int source, int part) {
    int i = 0;
    while (w->fields[i].source != source || w->fields[i].part != part)
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
        if (!w->sources[s->a / 2])
            weft_text_add(out, "uniform[%d];\n", first_uniform(w, s->a / 2) + parts[0].first);
        else
            weft_text_add(out, "u[%d];\n",
                          (w->dimension + 1) * find_field(w, s->a / 2, parts[0].first) + s->c);
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
        weft_text_add(&e->body, "    f[%d] = ",
                      (w->dimension + 1) * w->terms[t].test + w->terms[t].derivative);
        const bool number = scalars->list[w->terms[t].factor].type == SCALAR_NUMBER;
        weft_text_add(&e->body, number ? "SPLAT(" : "");
        ufl_emit_scalar(e, w->terms[t].factor, &e->body);
        weft_text_add(&e->body, number ? ");\n" : ";\n");
    }
    for (int k = 0; k < w->n_tests; ++k)
        for (int derivative = 1; derivative <= w->dimension && w->tests[k].slot >= 0;
             ++derivative) {
            bool has = false;
            for (int t = 0; t < w->n_terms; ++t)
                has |= w->terms[t].test == k && w->terms[t].derivative == derivative;
            if (!has)
                weft_text_add(&e->body, "    f[%d] = SPLAT(0.0);\n",
                              (w->dimension + 1) * k + derivative);
        }
    weft_text_add(out,
                  "/* u[field][value, derivatives] -> f[test][value, derivatives] */\n"
                  "INLINE void point(real (*J)[DIMENSION], real determinant, real *x, real weight, "
                  "const real *u,\n"
                  "                  const real *uniform, real *f)\n{\n%s}\n",
                  e->body.data ? e->body.data : "");
    return !e->body.failed;
}

/* ---- a kernel of the host ---- */

void ufl_action_write_sources(const ufl_action_writer *w, bool on_gpu, weft_text *out) {
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
    for (int i = 0; i < w->n_fields; ++i) {
        const ufl_field *field = &w->fields[i];
        const weft_cell_source *source = &w->out->kernel.sources[field->source];
        weft_text_add(out, " F(%d, %d, %d, %d, %d, %d, %d, %d)", i, field->source, source->n_nodes,
                      field->offset, field->line->n, source->components, field->component,
                      field->slot);
    }
    weft_text_add(out, "\n#define TESTS(F)");
    for (int i = 0; i < w->n_tests; ++i)
        weft_text_add(out, " F(%d, %d, %d, %d, %d, %d)", i, w->tests[i].offset, w->tests[i].line->n,
                      w->tests[i].component, w->tests[i].has_value, w->tests[i].slot);
    weft_text_add(out, "\n#define ARGUMENTS const int32_t *const vertices = arguments[0]; const "
                       "scalar *const coordinates = arguments[1]; scalar *const y = arguments[2]; "
                       "const int32_t *const test_dofs = arguments[3]; ");
    ufl_action_write_sources(w, false, out);
    w->out->kernel.cells = weft_target_lanes(w->limits, w->shape.single);
}

/* ---- the text ---- */

void ufl_action_write_file(const char *name, weft_text *out) {
    const weft_embedded_file *found = weft_embedded_cells;
    while (found->name && strcmp(found->name, name) != 0)
        ++found;
    weft_text_add(out, "%s", found->text ? found->text : "");
}

int ufl_action_most_nodes(const ufl_action_writer *w) {
    int most = 0;
    for (int i = 0; i < w->n_lines; ++i)
        most = w->lines[i].n > most ? w->lines[i].n : most;
    return most;
}

static bool uses(const ufl_action_writer *w, ufl_scalar_type type) {
    for (int i = 0; i < w->l.scalars.n; ++i)
        if (w->emitter.uses[i] > 0 && w->l.scalars.list[i].type == type)
            return true;
    return false;
}

static void write_sizes(const ufl_action_writer *w, weft_text *out) {
    const weft_cell_kernel *kernel = &w->out->kernel;
    const int d = w->dimension, n[] = {w->n_fields, w->n_tests};
    weft_text_add(out,
                  "#define DIMENSION %d\n#define VALUES %d\n#define POINTS %d\n#define N_FIELDS "
                  "%d\n#define N_TESTS %d\n#define N_VALUES %d\n#define N_GRADIENTS %d\n"
                  "#define GRADIENTS %d\n",
                  d, d + 1, w->n_points, n[0], n[1], w->n_values, w->n_gradients,
                  w->n_gradients > 0);
    weft_text_add(out,
                  "#define TEST_WIDTH %d\n#define TEST_COMPONENTS %d\n#define MOST_NODES %d\n"
                  "#define GEOMETRY_NODES %d\n#define VERTICES %d\n#define COORDINATES %d\n"
                  "#define JACOBIAN %d\n",
                  kernel->n_nodes, kernel->components, ufl_action_most_nodes(w), w->geometry->n,
                  kernel->n_vertices, uses(w, SCALAR_COORDINATE), uses(w, SCALAR_JACOBIAN));
}

bool ufl_action_write(ufl_action_writer *w) {
    const bool on_gpu = w->limits->execution == WEFT_EXECUTION_SIMT;
    weft_cell_kernel *kernel = &w->out->kernel;
    weft_text text = {0};
    if (on_gpu)
        ufl_action_choose_kernel(w);
    weft_source_backend(w->limits)->prelude(&text, w->limits, w->shape.single);
    weft_text_add(&text, on_gpu ? "#ifndef __CUDACC__\n#define __constant__\n#endif\n" : "");
    write_sizes(w, &text);
    bool fine = write_tables(w, &text) && write_point(w, &text);
    write_uniform(w, on_gpu, &text);
    kernel->name = w->name;
    if (fine && on_gpu)
        ufl_action_write_gpu(w, &text);
    else if (fine) {
        write_host(w, &text);
        ufl_action_write_file("cells.c", &text);
    }
    if (text.failed)
        ufl_fail(w->l.context, WEFT_ERROR_MEMORY, "out of memory");
    else
        kernel->text = ufl_copy(w->l.context, text.data, text.length);
    fine = fine && !text.failed && kernel->text;
    weft_text_free(&text);
    return fine;
}
