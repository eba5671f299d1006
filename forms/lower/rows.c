/* Writes the body of a matrix that is too large for registers and has to be summed over points in
 * each cell: factors at all points first, then row by row, so that only a row is added to:
 *
 *     A(i,j) = sum over points p and derivatives l of g_l(p,i) d_l trial_j(p),
 *     g_l(p,i) = sum over k of weight(p) factor_kl(p) d_k test_i(p)
 *
 * which are the operations of the loop over points with the matrix inside (loop.c).
 *
 * Decision  docs/decisions/0024-element-tensors-are-loops-over-tables.md */
#include "forms/lower/emit.h"

#include <stdio.h>
#include <string.h>

enum { FEWEST_ENTRIES = 400 /* smaller matrices stay in the caches closest to the units */ };

typedef struct row_writer {
    ufl_emitter *e;
    const ufl_terms *terms;
    int *arrays; /* [scalars] number of the array that holds a factor at the points; -1: none */
    int n_arrays, n_names;
} row_writer;

static const ufl_basis *basis_of(const row_writer *w, int term, int argument) {
    return &w->e->l->bases[w->terms->list[term].basis[argument]];
}

static bool same_part(const ufl_basis *a, const ufl_basis *b) {
    return a->side == b->side && a->part.scalar == b->part.scalar &&
           a->part.first == b->part.first && a->part.stride == b->part.stride;
}

static bool is_constant(const row_writer *w, int term) {
    return w->e->l->scalars.list[w->terms->list[term].factor].constant;
}

/* Is this the first term with its parts? argument 0: its test part alone. */
static bool is_first(const row_writer *w, int term, bool both) {
    for (int t = 0; t < term; ++t)
        if (same_part(basis_of(w, t, 0), basis_of(w, term, 0)) &&
            (!both || same_part(basis_of(w, t, 1), basis_of(w, term, 1))))
            return false;
    return true;
}

static bool belongs(const row_writer *w, int term, int first) {
    return same_part(basis_of(w, term, 0), basis_of(w, first, 0)) &&
           same_part(basis_of(w, term, 1), basis_of(w, first, 1));
}

static ufl_element_table *table_of(const row_writer *w, int term, int argument) {
    const ufl_basis *basis = basis_of(w, term, argument);
    return ufl_emit_table(w->e, basis->part.scalar, basis->side);
}

/* Factors at the points, times weights: "real at0[24];" and the loop that fills them. */
static bool write_factors(row_writer *w) {
    ufl_emitter *e = w->e;
    for (int k = 0; k < w->n_arrays; ++k)
        weft_text_add(&e->body, "real at%d[%d];\n", k, e->n_points);
    if (w->n_arrays == 0)
        return true;
    weft_text_add(&e->body, "for (int p = 0; p < %d; ++p) {\n", e->n_points);
    e->indent = "    ";
    const long before = e->flops;
    if (!ufl_emit_declare(e, false))
        return false;
    for (int k = 0; k < w->n_arrays; ++k)
        for (int t = 0; t < w->terms->n; ++t)
            if (w->arrays[w->terms->list[t].factor] == k) {
                weft_text_add(&e->body, "    at%d[p] = weight%d(p)*", k, e->weight_table);
                ufl_emit_scalar(e, w->terms->list[t].factor, &e->body);
                weft_text_add(&e->body, ";\n");
                ++e->flops;
                break;
            }
    weft_text_add(&e->body, "}\n");
    e->indent = "";
    e->flops = before + (e->flops - before) * e->n_points;
    return true;
}

/* "        real g3 = at0[p]*phi1(1,p,i) + s4*weight0(p)*phi1(2,p,i);": of the terms of a block
 * whose trial functions have one derivative. */
static bool write_test_sum(row_writer *w, int first, int derivative, int number) {
    ufl_emitter *e = w->e;
    const char *name = ufl_emit_table_name(e, table_of(w, first, 0));
    bool started = false;
    if (!name)
        return false;
    weft_text_add(&e->body, "        real g%d = ", number);
    for (int t = first; t < w->terms->n; ++t) {
        if (!belongs(w, t, first) || basis_of(w, t, 1)->derivative != derivative)
            continue;
        weft_text_add(&e->body, started ? " + " : "");
        started = true;
        if (is_constant(w, t)) {
            ufl_emit_scalar(e, w->terms->list[t].factor, &e->body);
            weft_text_add(&e->body, "*weight%d(p)", e->weight_table);
        } else
            weft_text_add(&e->body, "at%d[p]", w->arrays[w->terms->list[t].factor]);
        weft_text_add(&e->body, "*%s(%d,p,i)", name, basis_of(w, t, 0)->derivative);
        e->flops += 3;
    }
    weft_text_add(&e->body, ";\n");
    return true;
}

/* What a point adds to a row of a block. */
static bool write_point(row_writer *w, int first) {
    ufl_emitter *e = w->e;
    ufl_element_table *trial = table_of(w, first, 1);
    const char *name = ufl_emit_table_name(e, trial);
    int derivatives[64], n = 0;
    const int number = w->n_names;
    if (!name)
        return false;
    for (int t = first; t < w->terms->n; ++t) {
        bool is_new = belongs(w, t, first);
        for (int k = 0; k < n; ++k)
            is_new = is_new && derivatives[k] != basis_of(w, t, 1)->derivative;
        if (is_new && n < 64)
            derivatives[n++] = basis_of(w, t, 1)->derivative;
    }
    for (int k = 0; k < n; ++k)
        if (!write_test_sum(w, first, derivatives[k], number + k))
            return false;
    weft_text_add(&e->body, "        for (int j = 0; j < %d; ++j)\n            row%d[j] += ",
                  trial->n_functions, first);
    for (int k = 0; k < n; ++k)
        weft_text_add(&e->body, "%sg%d*%s(%d,p,j)", k > 0 ? " + " : "", number + k, name,
                      derivatives[k]);
    weft_text_add(&e->body, ";\n");
    e->flops += 2L * n * trial->n_functions;
    w->n_names += n;
    return true;
}

/* All rows of a test part, from its first term on. */
static bool write_rows(row_writer *w, int first) {
    ufl_emitter *e = w->e;
    const ufl_part rows = basis_of(w, first, 0)->part;
    const int n = table_of(w, first, 0)->n_functions;
    const long before = e->flops;
    weft_text_add(&e->body, "for (int i = 0; i < %d; ++i) {\n", n);
    for (int t = first; t < w->terms->n; ++t)
        if (same_part(basis_of(w, t, 0), basis_of(w, first, 0)) && is_first(w, t, true)) {
            const int columns = table_of(w, t, 1)->n_functions;
            weft_text_add(
                &e->body,
                "    real row%d[%d];\n    for (int j = 0; j < %d; ++j)\n        row%d[j] = 0;\n", t,
                columns, columns, t);
        }
    weft_text_add(&e->body, "    for (int p = 0; p < %d; ++p) {\n", e->n_points);
    const long of_points = e->flops;
    for (int t = first; t < w->terms->n; ++t)
        if (same_part(basis_of(w, t, 0), basis_of(w, first, 0)) && is_first(w, t, true) &&
            !write_point(w, t))
            return false;
    e->flops = of_points + (e->flops - of_points) * e->n_points;
    weft_text_add(&e->body, "    }\n");
    for (int t = first; t < w->terms->n; ++t)
        if (same_part(basis_of(w, t, 0), basis_of(w, first, 0)) && is_first(w, t, true)) {
            const ufl_part columns = basis_of(w, t, 1)->part;
            weft_text_add(
                &e->body,
                "    for (int j = 0; j < %d; ++j)\n        A(%d + %d*i,%d + %d*j) = row%d[j];\n",
                table_of(w, t, 1)->n_functions, rows.first, rows.stride, columns.first,
                columns.stride, t);
        }
    weft_text_add(&e->body, "}\n");
    e->flops = before + (e->flops - before) * n;
    return true;
}

/* Number the factors that vary, and say whether the matrix is worth it. */
static bool prepare(row_writer *w, const int *sizes, bool *worth) {
    const ufl_scalars *scalars = &w->e->l->scalars;
    w->arrays = ufl_alloc(w->e->l->context, (size_t)scalars->n + 1, sizeof *w->arrays);
    if (!w->arrays)
        return false;
    for (int i = 0; i < scalars->n; ++i)
        w->arrays[i] = -1;
    for (int t = 0; t < w->terms->n; ++t) {
        const int factor = w->terms->list[t].factor;
        if (!table_of(w, t, 0) || !table_of(w, t, 1))
            return false;
        if (!is_constant(w, t) && w->arrays[factor] < 0)
            w->arrays[factor] = w->n_arrays++;
    }
    const long entries = (long)sizes[0] * sizes[1];
    *worth = entries >= FEWEST_ENTRIES && 4L * w->n_arrays * w->e->n_points <= entries;
    return true;
}

bool ufl_emit_rows(ufl_emitter *e, const ufl_terms *terms, const int *sizes, bool *worth) {
    row_writer w = {.e = e, .terms = terms};
    long covered = 0;
    if (!prepare(&w, sizes, worth))
        return false;
    if (!*worth)
        return true;
    if (!write_factors(&w))
        return false;
    for (int t = 0; t < terms->n; ++t)
        if (is_first(&w, t, true))
            covered += (long)table_of(&w, t, 0)->n_functions * table_of(&w, t, 1)->n_functions;
    if (covered < (long)sizes[0] * sizes[1])
        weft_text_add(&e->body,
                      "for (int i = 0; i < %d; ++i)\n    for (int j = 0; j < %d; ++j)\n"
                      "        A(i,j) = 0;\n",
                      sizes[0], sizes[1]);
    for (int t = 0; t < terms->n; ++t)
        if (is_first(&w, t, false) && !write_rows(&w, t))
            return false;
    return true;
}
