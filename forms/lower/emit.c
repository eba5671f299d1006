/* Writes the function of an integral: the text of its body, its signature and its tables. */
#include "forms/lower/private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Operations of a body without loops: compilers take minutes for more. */
enum { TABLES_MAX = 16, OPERATIONS_MAX = 6000 };
/* Entries of reference tensors that are smaller than this, relative to the largest, are rounding errors
 * of sums over points. */
#define REFERENCE_ZERO 1e-14

typedef struct element_table {
    const ufl_element *scalar;
    int side, order, n_functions, number; /* number: of the table in the text; -1: not used there */
    double *values;                       /* [derivative][point][function] */
} element_table;

typedef struct emitter {
    ufl_lowering *l;
    weft_text body;
    element_table elements[32];
    int n_elements;
    ufl_function_table tables[TABLES_MAX];
    int n_tables;
    int *uses;                   /* [scalars] how often each is used */
    bool *declared;              /* [scalars] as a variable */
    double *points[2], *weights; /* of the cell on each side: [n][d]; [n] */
    int n_points, weight_table;
    int columns;                /* of a result of rank 1, or 0 */
    const ufl_element *results; /* its element */
    const char *indent;
    long flops;
} emitter;

/* ---- tables ---- */

static element_table *table_of(emitter *e, const ufl_element *scalar, int side) {
    for (int i = 0; i < e->n_elements; ++i)
        if (e->elements[i].scalar == scalar && e->elements[i].side == side)
            return &e->elements[i];
    if (e->n_elements == (int)(sizeof e->elements / sizeof e->elements[0]))
        return ufl_fail(e->l->context, WEFT_ERROR_UNSUPPORTED, "more than 32 scalar elements");
    element_table *table = &e->elements[e->n_elements];
    *table = (element_table){.scalar = scalar, .side = side, .number = -1};
    table->order = scalar->family == UFL_QUADRATURE ? 0 : e->l->order > 1 ? e->l->order : 1;
    table->n_functions = ufl_tabulate(e->l->context, scalar, table->order, e->n_points,
                                      e->points[side], &table->values);
    if (table->n_functions < 0)
        return NULL;
    ++e->n_elements;
    return table;
}

static int add_table(emitter *e, const char *prefix, int rank, int n0, int n1, int n2,
                     const double *values) {
    if (e->n_tables == TABLES_MAX) {
        ufl_fail(e->l->context, WEFT_ERROR_UNSUPPORTED, "an integral with more than %d tables",
                 TABLES_MAX);
        return -1;
    }
    const char *name = ufl_print(e->l->context, "%s%d", prefix, e->n_tables);
    if (!name)
        return -1;
    e->tables[e->n_tables] =
        (ufl_function_table){.name = name, .rank = rank, .sizes = {n0, n1, n2}, .values = values};
    return e->n_tables++;
}

/* The table of an element in the text. */
static const char *table_name(emitter *e, element_table *table) {
    if (!table)
        return NULL;
    if (table->number < 0)
        table->number =
            add_table(e, "phi", 3, weft_derivative_count(e->l->mesh->tdim, table->order),
                      e->n_points, table->n_functions, table->values);
    return table->number < 0 ? NULL : e->tables[table->number].name;
}

/* Vectors of a blocked element are [nodes, components], as scripts have them; others have one index. */
static int columns_of(const ufl_element *element) {
    return element->family == UFL_BLOCKED && element->sub[0]->n_sub == 0 ? element->block_size : 0;
}

/* NAME(entry of function `index` of a part) */
static void write_dof(weft_text *out, const char *name, const ufl_element *element, ufl_part part,
                      const char *index, bool has_sides) {
    if (columns_of(element) > 0)
        weft_text_add(out, part.first >= columns_of(element) ? "%s(%d + %s,%d)" : "%s(%.0d%s,%d)",
                      name, part.first / columns_of(element), index,
                      part.first % columns_of(element));
    else if (element->n_dofs == 1 && !has_sides)
        weft_text_add(out, "%s", name);
    else if (part.first == 0 && part.stride == 1)
        weft_text_add(out, "%s(%s)", name, index);
    else
        weft_text_add(out, "%s(%d + %d*%s)", name, part.first, part.stride, index);
}

/* ---- scalars ---- */

static void count_uses(emitter *e, int scalar) {
    const ufl_scalar *s = &e->l->scalars.list[scalar];
    const int operands[] = {s->a, s->b, s->c, s->d};
    if (e->uses[scalar]++ > 0)
        return;
    for (int i = 0; i < ufl_scalar_operands(s); ++i)
        count_uses(e, operands[i]);
}

/* A number as C writes it. */
static const char *number_text(double value, char out[40]) {
    snprintf(out, 40, "%.17g", value);
    if (!strpbrk(out, ".en"))
        strcat(out, ".0");
    return out;
}

static void write_scalar(emitter *e, int scalar, weft_text *out);

/* b where the scalar is -1*b and has no name; otherwise -1 */
static int negated(const emitter *e, int scalar) {
    const ufl_scalar *s = &e->l->scalars.list[scalar];
    return !e->declared[scalar] && s->type == SCALAR_PRODUCT &&
                   ufl_scalar_is(&e->l->scalars, s->a, -1)
               ? s->b
               : -1;
}

/* a + b, or a - c where b is -1*c */
static void write_sum(emitter *e, const ufl_scalar *s, weft_text *out) {
    int a = s->a, b = s->b;
    if (negated(e, a) >= 0) {
        a = s->b;
        b = s->a;
    }
    const int subtracted = negated(e, b);
    weft_text_add(out, "(");
    write_scalar(e, a, out);
    weft_text_add(out, subtracted >= 0 ? " - " : " + ");
    write_scalar(e, subtracted >= 0 ? subtracted : b, out);
    weft_text_add(out, ")");
}

static void write_operation(emitter *e, const ufl_scalar *s, weft_text *out) {
    static const char *const signs[SCALAR_TYPES] = {
        [SCALAR_PRODUCT] = "*", [SCALAR_QUOTIENT] = "/"};
    ++e->flops;
    switch (s->type) {
    case SCALAR_SUM:
        write_sum(e, s, out);
        return;
    case SCALAR_PRODUCT:
    case SCALAR_QUOTIENT:
        weft_text_add(out, "(");
        if (s->type == SCALAR_PRODUCT && ufl_scalar_is(&e->l->scalars, s->a, -1)) {
            weft_text_add(out, "-");
            write_scalar(e, s->b, out);
            weft_text_add(out, ")");
            return;
        }
        write_scalar(e, s->a, out);
        weft_text_add(out, "%s", signs[s->type]);
        write_scalar(e, s->b, out);
        weft_text_add(out, ")");
        return;
    case SCALAR_FUNCTION1:
    case SCALAR_FUNCTION2:
        weft_text_add(out, "%s(", s->name);
        write_scalar(e, s->a, out);
        if (s->type == SCALAR_FUNCTION2) {
            weft_text_add(out, ", ");
            write_scalar(e, s->b, out);
        }
        weft_text_add(out, ")");
        return;
    case SCALAR_SELECT:
        weft_text_add(out, "select(");
        write_scalar(e, s->a, out);
        weft_text_add(out, " %s ", s->name);
        write_scalar(e, s->b, out);
        weft_text_add(out, ", ");
        write_scalar(e, s->c, out);
        weft_text_add(out, ", ");
        write_scalar(e, s->d, out);
        weft_text_add(out, ")");
        return;
    default:
        return;
    }
}

static void write_scalar(emitter *e, int scalar, weft_text *out) {
    const ufl_scalar *s = &e->l->scalars.list[scalar];
    char text[40];
    if (e->declared[scalar])
        weft_text_add(out, "s%d", scalar);
    else if (s->type == SCALAR_NUMBER)
        weft_text_add(out, s->value < 0 ? "(%s)" : "%s", number_text(s->value, text));
    else if (s->type == SCALAR_VERTEX)
        weft_text_add(out, "X(%d,%d)", s->a, s->b);
    else if (s->type == SCALAR_CONSTANT)
        weft_text_add(out, e->l->constants[s->a]->rank ? "c%d(%d)" : "c%d", s->a, s->b);
    else
        write_operation(e, s, out);
}

/* real sN = sum of table values times dofs, for what is interpolated at a point. */
static bool declare_interpolated(emitter *e, int number, const ufl_scalar *s) {
    const char *indent = e->indent;
    if (s->type != SCALAR_COEFFICIENT) {
        const ufl_element *coordinates = e->l->mesh->coordinates;
        int powers[3] = {0};
        if (s->type == SCALAR_JACOBIAN)
            powers[s->b] = 1;
        element_table *table = table_of(e, coordinates->sub[0], 0);
        const char *name = table_name(e, table);
        if (!name)
            return false;
        weft_text_add(&e->body,
                      "%sreal s%d = 0;\n%sfor (int i = 0; i < %d; ++i)\n%s    s%d += "
                      "%s(%d,p,i) * X(i,%d);\n",
                      indent, number, indent, table->n_functions, indent, number, name,
                      weft_derivative_index(e->l->mesh->tdim, powers), s->a);
        e->flops += 2L * table->n_functions;
        return true;
    }
    const ufl_node *w = e->l->coefficients[s->a / 2];
    ufl_part parts[UFL_PARTS_MAX];
    const int n = ufl_component_parts(e->l->context, w->space->element, s->b, parts);
    char dofs[16];
    snprintf(dofs, sizeof dofs, "w%d", s->a / 2);
    for (int k = 0; k < n; ++k)
        parts[k].first += s->a % 2 * w->space->element->n_dofs;
    if (n == 1 && s->constant) {
        weft_text_add(&e->body, "%sreal s%d = ", indent, number);
        write_dof(&e->body, dofs, w->space->element, parts[0], "0", e->l->n_sides == 2);
        weft_text_add(&e->body, ";\n");
        return true;
    }
    weft_text_add(&e->body, "%sreal s%d = 0;\n", indent, number);
    for (int k = 0; k < n; ++k) {
        element_table *table = table_of(e, parts[k].scalar, s->a % 2);
        const char *name = table_name(e, table);
        if (!name)
            return false;
        weft_text_add(&e->body, "%sfor (int i = 0; i < %d; ++i)\n%s    s%d += %s(%d,p,i) * ",
                      indent, table->n_functions, indent, number, name, s->c);
        write_dof(&e->body, dofs, w->space->element, parts[k], "i", e->l->n_sides == 2);
        weft_text_add(&e->body, ";\n");
        e->flops += 2L * table->n_functions;
    }
    return n >= 0;
}

/* Declare what is used more than once, and what is interpolated: of the scalars that are used, those
 * that are constant on the cell, or the others. */
static bool declare_scalars(emitter *e, bool constant) {
    for (int i = 0; i < e->l->scalars.n; ++i) {
        const ufl_scalar *s = &e->l->scalars.list[i];
        if (e->uses[i] == 0 || s->constant != constant || e->declared[i])
            continue;
        if (s->type == SCALAR_COEFFICIENT || s->type == SCALAR_COORDINATE ||
            s->type == SCALAR_JACOBIAN) {
            if (!declare_interpolated(e, i, s))
                return false;
            e->declared[i] = true;
        } else if (ufl_scalar_operands(s) > 0 && e->uses[i] > 1 && negated(e, i) < 0) {
            weft_text value = {0};
            write_operation(e, s, &value);
            weft_text_add(&e->body, "%sreal s%d = %s;\n", e->indent, i,
                          value.data ? value.data : "0");
            e->body.failed = e->body.failed || value.failed;
            weft_text_free(&value);
            e->declared[i] = true;
        }
    }
    return true;
}

/* ---- reference tensors ---- */

/* A term of an entry of the tensor: factor * value. */
typedef struct entry_part {
    int factor;
    double value;
} entry_part;

static double reference_value(const emitter *e, const ufl_term *term,
                              const element_table *const *tables, const int *functions) {
    double sum = 0;
    for (int p = 0; p < e->n_points; ++p) {
        double value = e->weights[p];
        for (int k = 0; k < 2; ++k)
            if (term->basis[k] >= 0) {
                const int derivative = e->l->bases[term->basis[k]].derivative;
                value *= tables[k]->values[(derivative * e->n_points + p) * tables[k]->n_functions +
                                           functions[k]];
            }
        sum += value;
    }
    return sum;
}

typedef struct tensor_entries {
    int rows, columns;
    entry_part *parts; /* [rows][columns][most] */
    int *n;            /* [rows][columns] */
    int most;
} tensor_entries;

static void add_part(tensor_entries *entries, int row, int column, int factor, double value) {
    const size_t at = (size_t)(row * entries->columns + column);
    entry_part *parts = entries->parts + at * (size_t)entries->most;
    for (int i = 0; i < entries->n[at]; ++i)
        if (parts[i].factor == factor) {
            parts[i].value += value;
            return;
        }
    parts[entries->n[at]++] = (entry_part){factor, value};
}

static bool fill_entries(emitter *e, const ufl_terms *terms, tensor_entries *entries) {
    for (int t = 0; t < terms->n; ++t) {
        const ufl_term *term = &terms->list[t];
        const element_table *tables[2] = {NULL};
        ufl_part parts[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
        int n[2] = {1, 1};
        for (int k = 0; k < 2; ++k)
            if (term->basis[k] >= 0) {
                parts[k] = e->l->bases[term->basis[k]].part;
                tables[k] = table_of(e, parts[k].scalar, e->l->bases[term->basis[k]].side);
                if (!tables[k])
                    return false;
                n[k] = tables[k]->n_functions;
            }
        for (int i = 0; i < n[0]; ++i)
            for (int j = 0; j < n[1]; ++j) {
                const int functions[2] = {i, j};
                add_part(entries, parts[0].first + parts[0].stride * i,
                         parts[1].first + parts[1].stride * j, term->factor,
                         reference_value(e, term, tables, functions));
            }
    }
    double largest = 0;
    const size_t n = (size_t)(entries->rows * entries->columns);
    for (size_t i = 0; i < n * (size_t)entries->most; ++i)
        largest = fmax(largest, fabs(entries->parts[i].value));
    for (size_t i = 0; i < n; ++i) {
        entry_part *parts = entries->parts + i * (size_t)entries->most;
        int kept = 0;
        for (int k = 0; k < entries->n[i]; ++k)
            if (fabs(parts[k].value) > REFERENCE_ZERO * largest)
                parts[kept++] = parts[k];
        entries->n[i] = kept;
    }
    return true;
}

/* columns  of a vector, or 0 */
static const char *result_text(int rank, int columns, int i, int j, char out[40]) {
    if (rank == 0)
        snprintf(out, 40, "A");
    else if (rank == 1 && columns == 0)
        snprintf(out, 40, "A(%d)", i);
    else if (rank == 1)
        snprintf(out, 40, "A(%d,%d)", i / columns, i % columns);
    else
        snprintf(out, 40, "A(%d,%d)", i, j);
    return out;
}

/* sum of factor * value; with values of equal size in front of the sum of their factors */
static void write_entry(emitter *e, const entry_part *parts, int n, weft_text *out) {
    char text[40];
    if (n == 0)
        weft_text_add(out, "0.0");
    for (int k = 0; k < n; ++k) {
        if (k > 0)
            weft_text_add(out, parts[k].value < 0 ? " - " : " + ");
        else if (parts[k].value < 0)
            weft_text_add(out, "-");
        if (fabs(parts[k].value) != 1) {
            weft_text_add(out, "%s*", number_text(fabs(parts[k].value), text));
            ++e->flops;
        }
        write_scalar(e, parts[k].factor, out);
        ++e->flops;
    }
}

static bool same_parts(const entry_part *a, const entry_part *b, int n) {
    for (int k = 0; k < n; ++k)
        if (a[k].factor != b[k].factor ||
            fabs(a[k].value - b[k].value) > REFERENCE_ZERO * 10 * fabs(a[k].value))
            return false;
    return true;
}

static int compare_parts(const void *a, const void *b) {
    return ((const entry_part *)a)->factor - ((const entry_part *)b)->factor;
}

static void write_entries(emitter *e, int rank, tensor_entries *entries) {
    char left[40], right[40];
    const size_t most = (size_t)entries->most;
    for (int i = 0; i < entries->rows; ++i)
        for (int j = 0; j < entries->columns; ++j) {
            const size_t at = (size_t)(i * entries->columns + j);
            qsort(entries->parts + at * most, (size_t)entries->n[at], sizeof *entries->parts,
                  compare_parts);
        }
    for (int i = 0; i < entries->rows; ++i)
        for (int j = 0; j < entries->columns; ++j) {
            const size_t at = (size_t)(i * entries->columns + j);
            const size_t mirrored = (size_t)(j * entries->columns + i);
            weft_text_add(&e->body, "%s = ", result_text(rank, e->columns, i, j, left));
            /* an entry below the diagonal of a symmetric tensor is there already */
            if (rank == 2 && j < i && j < entries->rows && i < entries->columns &&
                entries->n[at] > 0 && entries->n[at] == entries->n[mirrored] &&
                same_parts(entries->parts + at * most, entries->parts + mirrored * most,
                           entries->n[at]))
                weft_text_add(&e->body, "%s", result_text(rank, e->columns, j, i, right));
            else
                write_entry(e, entries->parts + at * most, entries->n[at], &e->body);
            weft_text_add(&e->body, ";\n");
        }
}

/* The factors become factor * |det J| or the like. */
static bool scale_terms(ufl_lowering *l, const ufl_terms *terms) {
    const int scale = ufl_weight_scale(l);
    for (int t = 0; t < terms->n; ++t) {
        terms->list[t].factor = ufl_scalar_multiply(&l->scalars, scale, terms->list[t].factor);
        if (terms->list[t].factor < 0)
            return false;
    }
    return true;
}

static bool all_constant(const ufl_lowering *l, const ufl_terms *terms) {
    for (int t = 0; t < terms->n; ++t)
        if (!l->scalars.list[terms->list[t].factor].constant)
            return false;
    return true;
}

/* Of a reference tensor, at most: a product for each entry of each term's block. */
static long count_operations(emitter *e, const ufl_terms *terms) {
    long sum = 0;
    for (int t = 0; t < terms->n; ++t) {
        long block = 1;
        for (int k = 0; k < 2; ++k)
            if (terms->list[t].basis[k] >= 0) {
                const element_table *table =
                    table_of(e, e->l->bases[terms->list[t].basis[k]].part.scalar,
                             e->l->bases[terms->list[t].basis[k]].side);
                block *= table ? table->n_functions : 1;
            }
        sum += block;
    }
    return sum;
}

static bool prepare_scalars(emitter *e, const ufl_terms *terms) {
    const size_t n = (size_t)e->l->scalars.n + 1;
    e->uses = ufl_alloc(e->l->context, n, sizeof *e->uses);
    e->declared = ufl_alloc(e->l->context, n, sizeof *e->declared);
    if (!e->uses || !e->declared)
        return false;
    for (int t = 0; t < terms->n; ++t)
        count_uses(e, terms->list[t].factor);
    return true;
}

static bool write_reference_tensor(emitter *e, const ufl_terms *terms, int rank, const int *sizes) {
    tensor_entries entries = {.rows = rank > 0 ? sizes[0] : 1,
                              .columns = rank > 1 ? sizes[1] : 1,
                              .most = terms->n > 0 ? terms->n : 1};
    const size_t n = (size_t)(entries.rows * entries.columns);
    entries.parts = ufl_alloc(e->l->context, n * (size_t)entries.most, sizeof *entries.parts);
    entries.n = ufl_alloc(e->l->context, n, sizeof *entries.n);
    if (!entries.parts || !entries.n || !fill_entries(e, terms, &entries))
        return false;
    /* A factor is used once for each entry that has it. */
    for (size_t i = 0; i < n; ++i)
        for (int k = 0; k < entries.n[i]; ++k)
            count_uses(e, entries.parts[i * (size_t)entries.most + (size_t)k].factor);
    if (!declare_scalars(e, true))
        return false;
    write_entries(e, rank, &entries);
    return true;
}

/* ---- loops over points ---- */

/* A(first + stride*i, ...) += ..., for all terms that have one function of the test function: first the
 * sum over functions of the trial function, in a local array for each of its parts. */
static bool write_matrix_terms(emitter *e, const ufl_terms *terms, int first, int end) {
    const ufl_basis *test = &e->l->bases[terms->list[first].basis[0]];
    element_table *rows = table_of(e, test->part.scalar, test->side);
    const char *row_name = table_name(e, rows);
    if (!row_name)
        return false;
    bool *done = ufl_alloc(e->l->context, (size_t)(end - first), sizeof *done);
    if (!done)
        return false;
    for (int t = first; t < end; ++t) {
        if (done[t - first])
            continue;
        const ufl_part part = e->l->bases[terms->list[t].basis[1]].part;
        element_table *columns =
            table_of(e, part.scalar, e->l->bases[terms->list[t].basis[1]].side);
        const char *column_name = table_name(e, columns);
        if (!column_name)
            return false;
        weft_text_add(&e->body,
                      "    real h%d[%d];\n    for (int j = 0; j < %d; ++j)\n        h%d[j] = ", t,
                      columns->n_functions, columns->n_functions, t);
        bool started = false;
        for (int u = t; u < end; ++u) {
            const ufl_basis *trial = &e->l->bases[terms->list[u].basis[1]];
            if (memcmp(&trial->part, &part, sizeof part) != 0)
                continue;
            done[u - first] = true;
            weft_text_add(&e->body, started ? " + " : "");
            started = true;
            write_scalar(e, terms->list[u].factor, &e->body);
            weft_text_add(&e->body, "*weight%d(p)*%s(%d,p,j)", e->weight_table, column_name,
                          trial->derivative);
            e->flops += 3L * columns->n_functions;
        }
        weft_text_add(&e->body,
                      ";\n    for (int i = 0; i < %d; ++i)\n        for (int j = 0; j < %d; ++j)\n"
                      "            A(%d + %d*i,%d + %d*j) += %s(%d,p,i) * h%d[j];\n",
                      rows->n_functions, columns->n_functions, test->part.first, test->part.stride,
                      part.first, part.stride, row_name, test->derivative, t);
        e->flops += 2L * rows->n_functions * columns->n_functions;
    }
    return true;
}

static bool write_vector_term(emitter *e, const ufl_term *term) {
    const ufl_basis *test = &e->l->bases[term->basis[0]];
    element_table *rows = table_of(e, test->part.scalar, test->side);
    const char *name = table_name(e, rows);
    if (!name)
        return false;
    weft_text_add(&e->body, "    real f%d = weight%d(p)*", term->basis[0], e->weight_table);
    write_scalar(e, term->factor, &e->body);
    weft_text_add(&e->body, ";\n    for (int i = 0; i < %d; ++i)\n        ", rows->n_functions);
    write_dof(&e->body, "A", e->results, test->part, "i", e->l->n_sides == 2);
    weft_text_add(&e->body, " += f%d * %s(%d,p,i);\n", term->basis[0], name, test->derivative);
    e->flops += 2L * rows->n_functions + 1;
    return true;
}

/* What is constant on the cell and used at points is computed once, before the loop: it counts as used
 * twice. */
static void hoist_constants(emitter *e, const ufl_terms *terms) {
    const ufl_scalars *scalars = &e->l->scalars;
    for (int t = 0; t < terms->n; ++t)
        e->uses[terms->list[t].factor] += scalars->list[terms->list[t].factor].constant;
    for (int i = 0; i < scalars->n; ++i) {
        const ufl_scalar *s = &scalars->list[i];
        const int operands[] = {s->a, s->b, s->c, s->d};
        for (int k = 0; k < ufl_scalar_operands(s) && e->uses[i] > 0 && !s->constant; ++k)
            e->uses[operands[k]] += scalars->list[operands[k]].constant;
    }
}

static bool write_quadrature_loop(emitter *e, const ufl_terms *terms, int rank, const int *sizes) {
    hoist_constants(e, terms);
    e->weight_table = add_table(e, "weight", 1, e->n_points, 0, 0, e->weights);
    if (e->weight_table < 0 || !declare_scalars(e, true))
        return false;
    if (rank == 0)
        weft_text_add(&e->body, "A = 0;\n");
    else if (rank == 1)
        weft_text_add(&e->body,
                      e->columns > 0
                          ? "for (int i = 0; i < %d; ++i)\n    for (int c = 0; c < %d; ++c)\n"
                            "        A(i,c) = 0;\n"
                          : "for (int i = 0; i < %d; ++i)\n    A(i) = 0;\n",
                      e->columns > 0 ? sizes[0] / e->columns : sizes[0], e->columns);
    else
        weft_text_add(&e->body,
                      "for (int i = 0; i < %d; ++i)\n    for (int j = 0; j < %d; ++j)\n"
                      "        A(i,j) = 0;\n",
                      sizes[0], sizes[1]);
    const long before = e->flops;
    weft_text_add(&e->body, "for (int p = 0; p < %d; ++p) {\n", e->n_points);
    e->indent = "    ";
    if (!declare_scalars(e, false))
        return false;
    for (int t = 0; t < terms->n;) {
        int end = t + 1;
        if (rank == 0) {
            weft_text_add(&e->body, "    A += weight%d(p)*", e->weight_table);
            write_scalar(e, terms->list[t].factor, &e->body);
            weft_text_add(&e->body, ";\n");
        } else if (rank == 1) {
            if (!write_vector_term(e, &terms->list[t]))
                return false;
        } else {
            while (end < terms->n && terms->list[end].basis[0] == terms->list[t].basis[0])
                ++end;
            if (!write_matrix_terms(e, terms, t, end))
                return false;
        }
        t = end;
    }
    weft_text_add(&e->body, "}\n");
    e->flops = before + (e->flops - before) * e->n_points;
    return true;
}

/* ---- the whole function ---- */

/* The points of a rule in the cell, or those of a facet's rule mapped to the cell. */
static double *map_points(emitter *e, const weft_quadrature *rule, const weft_cell *cell,
                          int facet) {
    const int d = cell->dimension;
    int v[8] = {0};
    double *points = ufl_alloc(e->l->context, (size_t)(rule->n * d), sizeof *points);
    if (facet >= 0)
        weft_cell_entity(cell, d - 1, facet, v);
    for (int p = 0; points && p < rule->n; ++p)
        for (int c = 0; c < d; ++c) {
            double x = facet < 0 ? rule->points[p * d + c] : cell->vertices[v[0]][c];
            for (int k = 0; facet >= 0 && k < d - 1; ++k)
                x += rule->points[p * (d - 1) + k] *
                     (cell->vertices[v[k + 1]][c] - cell->vertices[v[0]][c]);
            points[p * d + c] = x;
        }
    return points;
}

/* Points and weights on the cell, or on facets mapped to their cells. */
static bool make_rule(emitter *e, const ufl_integral *integral, int degree) {
    const weft_cell *cell = weft_cell_of(ufl_weft_cell(e->l->mesh->cell));
    weft_quadrature rule = {0};
    weft_error error = {0};
    const weft_status status = ufl_rule_make(integral->type, e->l->mesh, integral->metadata.rule,
                                             degree, &rule, &error);
    if (status != WEFT_OK) {
        e->l->context->place = integral->place;
        ufl_fail(e->l->context, status, "%s", error.message);
        return false;
    }
    e->n_points = rule.n;
    e->weights = ufl_alloc(e->l->context, (size_t)rule.n, sizeof *e->weights);
    for (int side = 0; side < e->l->n_sides; ++side) {
        e->points[side] = map_points(e, &rule, cell, e->l->facets[side]);
        if (!e->points[side])
            e->weights = NULL;
    }
    if (e->weights)
        memcpy(e->weights, rule.weights, (size_t)rule.n * sizeof *e->weights);
    weft_quadrature_free(&rule);
    return e->weights != NULL;
}

static bool make_arguments(emitter *e, ufl_lowered *out) {
    ufl_lowering *l = e->l;
    const int n = 1 + l->n_coefficients + l->n_constants;
    ufl_function_argument *list = ufl_alloc(l->context, (size_t)n, sizeof *list);
    if (!list)
        return false;
    const ufl_element *coordinates = l->mesh->coordinates->sub[0];
    list[out->n_arguments++] =
        (ufl_function_argument){"X", NULL, l->n_sides * coordinates->n_dofs, l->mesh->gdim};
    for (int i = 0; i < l->n_coefficients; ++i) {
        const ufl_element *element = l->coefficients[i]->space->element;
        const int columns = columns_of(element);
        const int dofs = l->n_sides * element->n_dofs;
        list[out->n_arguments++] =
            (ufl_function_argument){ufl_print(l->context, "w%d", i), l->coefficients[i],
                                    columns > 0 ? dofs / columns
                                    : dofs == 1 ? 0
                                                : dofs,
                                    columns};
    }
    for (int i = 0; i < l->n_constants; ++i) {
        int components = l->constants[i]->rank > 0;
        for (int k = 0; k < l->constants[i]->rank; ++k)
            components *= l->constants[i]->shape[k];
        list[out->n_arguments++] = (ufl_function_argument){ufl_print(l->context, "c%d", i),
                                                           l->constants[i], components, 0};
    }
    out->arguments = list;
    return true;
}

static void write_type(int rows, int columns, weft_text *out) {
    if (rows == 0)
        weft_text_add(out, "real");
    else if (columns == 0)
        weft_text_add(out, "real[%d]", rows);
    else
        weft_text_add(out, "real[%d,%d]", rows, columns);
}

static const char *write_function(emitter *e, const ufl_lowered *lowered) {
    weft_text text = {0};
    weft_text_add(&text, "//@ function  %s(", lowered->name);
    for (int i = 0; i < lowered->n_arguments; ++i) {
        const ufl_function_argument *argument = &lowered->arguments[i];
        weft_text_add(&text, "%s%s: ", i ? ", " : "", argument->name);
        write_type(argument->rows, argument->columns, &text);
    }
    weft_text_add(&text, ") -> A: ");
    if (lowered->columns > 0)
        write_type(lowered->sizes[0] / lowered->columns, lowered->columns, &text);
    else
        write_type(lowered->rank > 0 ? lowered->sizes[0] : 0,
                   lowered->rank > 1 ? lowered->sizes[1] : 0, &text);
    weft_text_add(&text, "\n//@ kind      map\n//@ flops     %ld\n", e->flops > 0 ? e->flops : 1);
    for (int i = 0; i < e->n_tables; ++i) {
        const ufl_function_table *table = &e->tables[i];
        weft_text_add(&text, "//@ table     %s: real[%d", table->name, table->sizes[0]);
        for (int k = 1; k < table->rank; ++k)
            weft_text_add(&text, ",%d", table->sizes[k]);
        weft_text_add(&text, "] = %s_table(%d)\n", lowered->name, i);
    }
    weft_text_add(
        &text, "//@ source    integral over %s, degree %d, %d points%s\n",
        e->l->facets[0] < 0 ? "the cell" : "a facet", lowered->degree, lowered->n_points,
        lowered->representation == UFL_REFERENCE_TENSOR ? ", summed when this was generated" : "");
    weft_text_add(&text, "//@ threads   1\n%s", e->body.data ? e->body.data : "");
    char *kept = NULL;
    if (text.failed || e->body.failed)
        ufl_fail(e->l->context, WEFT_ERROR_MEMORY, "out of memory");
    else
        kept = ufl_copy(e->l->context, text.data, text.length);
    weft_text_free(&text);
    return kept;
}

static bool lower(emitter *e, ufl_lowered *out) {
    ufl_lowering *l = e->l;
    const ufl_terms *terms = NULL;
    const ufl_node **arguments = NULL;
    const ufl_node *integrand = out->integral->integrand;
    out->rank = ufl_terminals(l->graph, &integrand, 1, UFL_ARGUMENT, &arguments);
    if (out->rank < 0)
        return false;
    for (int i = 0; i < out->rank; ++i)
        if (arguments[i]->detail < 2)
            out->sizes[arguments[i]->detail] = l->n_sides * arguments[i]->space->element->n_dofs;
    if (out->rank == 1) {
        e->results = arguments[0]->space->element;
        out->columns = e->columns = columns_of(e->results);
    }
    if (!make_rule(e, out->integral, out->degree))
        return false;
    terms = ufl_factor(l, integrand);
    if (!terms)
        return false;
    /* shared lists are not written to */
    ufl_terms own = {terms->n, ufl_alloc(l->context, (size_t)terms->n + 1, sizeof *own.list)};
    if (!own.list)
        return false;
    memcpy(own.list, terms->list, (size_t)terms->n * sizeof *own.list);
    if (!scale_terms(l, &own))
        return false;
    const bool tensor = all_constant(l, &own) && count_operations(e, &own) <= OPERATIONS_MAX;
    out->representation = tensor ? UFL_REFERENCE_TENSOR : UFL_QUADRATURE_LOOP;
    out->n_points = e->n_points;
    if (tensor) {
        const ufl_terms none = {0, NULL};
        if (!prepare_scalars(e, &none) || !write_reference_tensor(e, &own, out->rank, out->sizes))
            return false;
    } else if (!prepare_scalars(e, &own) || !write_quadrature_loop(e, &own, out->rank, out->sizes))
        return false;
    if (!make_arguments(e, out))
        return false;
    ufl_function_table *tables = ufl_alloc(l->context, (size_t)e->n_tables + 1, sizeof *tables);
    if (!tables)
        return false;
    memcpy(tables, e->tables, (size_t)e->n_tables * sizeof *tables);
    out->tables = tables;
    out->n_tables = e->n_tables;
    out->flops = e->flops;
    out->text = write_function(e, out);
    return out->text != NULL;
}

const ufl_lowered *ufl_lower_integral(ufl_graph *graph, const ufl_prepared *form, int number,
                                      const char *name, const int *facets) {
    const ufl_integral *integral = &form->form.integrals[number];
    const bool interior = integral->type == UFL_INTERIOR_FACET;
    ufl_context *context = graph->context;
    ufl_lowering l = {.graph = graph,
                      .context = context,
                      .mesh = integral->mesh,
                      .facets = {facets ? facets[0] : -1, facets && interior ? facets[1] : -1},
                      .n_sides = interior ? 2 : 1,
                      .scalars = {.context = context},
                      .determinant = {-1, -1},
                      .scale = -1};
    emitter e = {.l = &l, .indent = ""};
    memset(l.jacobian, -1, sizeof l.jacobian);
    memset(l.inverse, -1, sizeof l.inverse);
    ufl_lowered *out = ufl_alloc(context, 1, sizeof *out);
    if (!out)
        return NULL;
    *out = (ufl_lowered){.name = name,
                         .integral = integral,
                         .facets = {l.facets[0], l.facets[1]},
                         .degree = form->degrees[number]};
    context->place = integral->place;
    if (integral->mesh->gdim != integral->mesh->tdim)
        return ufl_fail(context, WEFT_ERROR_UNSUPPORTED,
                        "cells of dimension %d in space of dimension %d", integral->mesh->tdim,
                        integral->mesh->gdim);
    if ((integral->type == UFL_CELL) != (facets == NULL) ||
        (integral->type != UFL_CELL && integral->type != UFL_EXTERIOR_FACET && !interior))
        return ufl_fail(context, WEFT_ERROR_UNSUPPORTED, "integrals over %s are not compiled",
                        ufl_measure_name(integral->type));
    if (interior && !integral->mesh->affine)
        return ufl_fail(context, WEFT_ERROR_UNSUPPORTED,
                        "integrals over interior facets of cells that are not affine");
    if (form->points[number])
        return ufl_fail(context, WEFT_ERROR_UNSUPPORTED, "integrals with %s are not compiled",
                        form->points[number]->name);
    const bool made = lower(&e, out);
    weft_text_free(&e.body);
    return made ? out : NULL;
}

/* ---- tables for the library ---- */

static weft_status copy_table(void *user, const int *arguments, int n_arguments, weft_arena *arena,
                              weft_table *out, weft_error *error) {
    const ufl_lowered *lowered = user;
    if (n_arguments != 1 || arguments[0] < 0 || arguments[0] >= lowered->n_tables)
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "%s has no such table", lowered->name);
    const ufl_function_table *table = &lowered->tables[arguments[0]];
    size_t n = 1;
    out->rank = table->rank;
    for (int k = 0; k < table->rank; ++k) {
        out->sizes[k] = table->sizes[k];
        n *= (size_t)table->sizes[k];
    }
    out->values = weft_arena_alloc(arena, n, sizeof *out->values);
    if (!out->values)
        return weft_out_of_memory(error, "a table");
    memcpy(out->values, table->values, n * sizeof *out->values);
    return WEFT_OK;
}

weft_status ufl_lowered_add(const ufl_lowered *const *lowered, int n, weft_library *library,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < n; ++i) {
        char name[200];
        if (lowered[i]->n_tables > 0) {
            snprintf(name, sizeof name, "%s_table", lowered[i]->name);
            TRY(weft_library_add_table(library, name, 1, copy_table, (void *)lowered[i], error));
        }
        TRY(weft_library_add_text(library, lowered[i]->name, lowered[i]->text, error));
    }
done:
    return status;
}
