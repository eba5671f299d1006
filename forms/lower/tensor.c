/* Writes a body without loops: entries of the tensor by reference tensors, whose sums over points are made
 * here. */
#include "forms/lower/emit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Entries of reference tensors that are smaller than this, relative to the largest, are rounding errors
 * of sums over points. */
#define REFERENCE_ZERO 1e-14

/* A term of an entry of the tensor: factor * value. */
typedef struct entry_part {
    int factor;
    double value;
} entry_part;

static double reference_value(const ufl_emitter *e, const ufl_term *term,
                              const ufl_element_table *const *tables, const int *functions) {
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

static bool fill_entries(ufl_emitter *e, const ufl_terms *terms, tensor_entries *entries) {
    for (int t = 0; t < terms->n; ++t) {
        const ufl_term *term = &terms->list[t];
        const ufl_element_table *tables[2] = {NULL};
        ufl_part parts[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
        int n[2] = {1, 1};
        for (int k = 0; k < 2; ++k)
            if (term->basis[k] >= 0) {
                parts[k] = e->l->bases[term->basis[k]].part;
                tables[k] = ufl_emit_table(e, parts[k].scalar, e->l->bases[term->basis[k]].side);
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
static void write_entry(ufl_emitter *e, const entry_part *parts, int n, weft_text *out) {
    char text[40];
    if (n == 0)
        weft_text_add(out, "0.0");
    for (int k = 0; k < n; ++k) {
        if (k > 0)
            weft_text_add(out, parts[k].value < 0 ? " - " : " + ");
        else if (parts[k].value < 0)
            weft_text_add(out, "-");
        if (fabs(parts[k].value) != 1) {
            weft_text_add(out, "%s*", ufl_emit_number(fabs(parts[k].value), text));
            ++e->flops;
        }
        ufl_emit_scalar(e, parts[k].factor, out);
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

/* Is an entry below the diagonal the one above it? */
static bool is_mirrored(const tensor_entries *entries, int i, int j) {
    const size_t at = (size_t)(i * entries->columns + j), most = (size_t)entries->most;
    const size_t mirrored = (size_t)(j * entries->columns + i);
    return j < i && j < entries->rows && i < entries->columns && entries->n[at] > 0 &&
           entries->n[at] == entries->n[mirrored] &&
           same_parts(entries->parts + at * most, entries->parts + mirrored * most, entries->n[at]);
}

static void write_entries(ufl_emitter *e, int rank, tensor_entries *entries) {
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
            if (rank == 2 && is_mirrored(entries, i, j))
                continue;
            /* Equal entries of a symmetric tensor are assigned together, so that no result is read. */
            const bool twice = rank == 2 && j < entries->rows && i < entries->columns &&
                               is_mirrored(entries, j, i);
            result_text(rank, e->columns, i, j, left);
            if (twice)
                weft_text_add(&e->body, "real k%zu = ", at);
            else
                weft_text_add(&e->body, "%s = ", left);
            write_entry(e, entries->parts + at * most, entries->n[at], &e->body);
            weft_text_add(&e->body, ";\n");
            if (twice)
                weft_text_add(&e->body, "%s = k%zu;\n%s = k%zu;\n", left, at,
                              result_text(rank, e->columns, j, i, right), at);
        }
}

bool ufl_emit_tensor(ufl_emitter *e, const ufl_terms *terms, int rank, const int *sizes) {
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
            ufl_emit_count_uses(e, entries.parts[i * (size_t)entries.most + (size_t)k].factor);
    if (!ufl_emit_declare(e, true))
        return false;
    write_entries(e, rank, &entries);
    return true;
}
