/* Writes the body of the diagonal of a matrix: of all terms those that have functions of one part of the element in both arguments,
 *
 *     A(i) = sum over points p and terms of weight(p) factor(p) d_k phi_i(p) d_l phi_i(p)
 *
 * with sums over points made here where factors are constant on the cell. */
#include "forms/lower/emit.h"

#include <string.h>

static const ufl_basis *basis_of(const ufl_emitter *e, const ufl_term *term, int argument) {
    return &e->l->bases[term->basis[argument]];
}

static bool are_same_functions(const ufl_basis *a, const ufl_basis *b) {
    return a->side == b->side && a->part.scalar == b->part.scalar &&
           a->part.first == b->part.first && a->part.stride == b->part.stride;
}

static bool is_on_diagonal(const ufl_emitter *e, const ufl_term *term) {
    return are_same_functions(basis_of(e, term, 0), basis_of(e, term, 1));
}

/* Of derivatives k <= l: the row of their products. */
static int pair_of(int k, int l) {
    return k <= l ? l * (l + 1) / 2 + k : k * (k + 1) / 2 + l;
}

/* sum over points of weight d_k phi_i d_l phi_i, [pair][i]. Returns the number of the table; -1 and an error. */
static int add_squares(ufl_emitter *e, const ufl_element_table *table) {
    const int n = weft_derivative_count(e->l->mesh->tdim, table->order), m = table->n_functions;
    double *sums = ufl_alloc(e->l->context, (size_t)(n * (n + 1) / 2 * m), sizeof *sums);
    if (!sums)
        return -1;
    for (int l = 0; l < n; ++l)
        for (int k = 0; k <= l; ++k)
            for (int p = 0; p < e->n_points; ++p)
                for (int i = 0; i < m; ++i)
                    sums[pair_of(k, l) * m + i] += e->weights[p] *
                                                   table->values[(k * e->n_points + p) * m + i] *
                                                   table->values[(l * e->n_points + p) * m + i];
    return ufl_emit_add_table(e, "square", 2, n * (n + 1) / 2, m, 0, sums);
}

static bool write_constant(ufl_emitter *e, const ufl_element_table *table, const ufl_term *term,
                           int square) {
    const int pair = pair_of(basis_of(e, term, 0)->derivative, basis_of(e, term, 1)->derivative);
    weft_text_add(&e->body, "for (int i = 0; i < %d; ++i)\n    ", table->n_functions);
    ufl_emit_dof(&e->body, "A", e->results, basis_of(e, term, 0)->part, "i", true);
    weft_text_add(&e->body, " += %s(%d,i) * ", e->tables[square].name, pair);
    ufl_emit_scalar(e, term->factor, &e->body);
    weft_text_add(&e->body, ";\n");
    e->flops += 2L * table->n_functions;
    return true;
}

/* Whether a term is summed here over points. */
static bool varies(const ufl_emitter *e, const ufl_term *term) {
    return !e->l->scalars.list[term->factor].constant;
}

/* The entries of a point's terms that share them, in one loop: on a GPU the entries of a cell are in
 * local memory, and are read and written once for each point. */
static bool write_point(ufl_emitter *e, const ufl_terms *terms, int first) {
    const ufl_term *term = &terms->list[first];
    const ufl_basis *basis = basis_of(e, term, 0);
    ufl_element_table *table = ufl_emit_table(e, basis->part.scalar, basis->side);
    const char *name = table ? ufl_emit_table_name(e, table) : NULL;
    const char *sign = "+=";
    if (!name)
        return false;
    for (int t = 0; t < first; ++t)
        if (varies(e, &terms->list[t]) &&
            are_same_functions(basis_of(e, &terms->list[t], 0), basis))
            return true; /* written with that one */
    weft_text_add(&e->body, "    for (int i = 0; i < %d; ++i)\n        ", table->n_functions);
    ufl_emit_dof(&e->body, "A", e->results, basis->part, "i", true);
    for (int t = first; t < terms->n; ++t) {
        const ufl_term *one = &terms->list[t];
        if (!varies(e, one) || !are_same_functions(basis_of(e, one, 0), basis))
            continue;
        weft_text_add(&e->body, " %s f%d * %s(%d,p,i) * %s(%d,p,i)", sign, t, name,
                      basis_of(e, one, 0)->derivative, name, basis_of(e, one, 1)->derivative);
        e->flops += 3L * table->n_functions;
        sign = "+";
    }
    weft_text_add(&e->body, ";\n");
    return true;
}

/* The terms whose factors are constant on the cell. */
static bool write_constants(ufl_emitter *e, const ufl_terms *terms) {
    int squares[sizeof e->elements / sizeof *e->elements];
    memset(squares, -1, sizeof squares);
    for (int t = 0; t < terms->n; ++t) {
        const ufl_term *term = &terms->list[t];
        const ufl_basis *basis = basis_of(e, term, 0);
        ufl_element_table *table = ufl_emit_table(e, basis->part.scalar, basis->side);
        if (!table)
            return false;
        if (varies(e, term))
            continue;
        int *square = &squares[table - e->elements];
        if (*square < 0)
            *square = add_squares(e, table);
        if (*square < 0 || !write_constant(e, table, term, *square))
            return false;
    }
    return true;
}

/* The others, at a point. */
static bool write_points(ufl_emitter *e, const ufl_terms *terms) {
    for (int t = 0; t < terms->n; ++t) {
        if (!varies(e, &terms->list[t]))
            continue;
        weft_text_add(&e->body, "    real f%d = weight%d(p)*", t, e->weight_table);
        ufl_emit_scalar(e, terms->list[t].factor, &e->body);
        weft_text_add(&e->body, ";\n");
        ++e->flops;
    }
    for (int t = 0; t < terms->n; ++t)
        if (varies(e, &terms->list[t]) && !write_point(e, terms, t))
            return false;
    return true;
}

/* Keep the terms of the diagonal. */
static void filter(ufl_emitter *e, ufl_terms *terms) {
    int kept = 0;
    for (int t = 0; t < terms->n; ++t)
        if (is_on_diagonal(e, &terms->list[t]))
            terms->list[kept++] = terms->list[t];
    terms->n = kept;
}

static int count_varying(const ufl_emitter *e, const ufl_terms *terms) {
    int n = 0;
    for (int t = 0; t < terms->n; ++t)
        n += varies(e, &terms->list[t]);
    return n;
}

bool ufl_emit_diagonal(ufl_emitter *e, ufl_terms *terms, int size) {
    const int columns = e->columns;
    filter(e, terms);
    for (int t = 0; t < terms->n; ++t) /* each is used for many entries */
        for (int k = 0; k < 2; ++k)
            ufl_emit_count_uses(e, terms->list[t].factor);
    const int varying = count_varying(e, terms);
    if (varying > 0) {
        ufl_emit_hoist(e, terms);
        e->weight_table = ufl_emit_add_table(e, "weight", 1, e->n_points, 0, 0, e->weights);
    }
    if (e->weight_table < 0 || !ufl_emit_declare(e, true))
        return false;
    weft_text_add(&e->body,
                  columns > 0 ? "for (int i = 0; i < %d; ++i)\n    for (int c = 0; c < %d; ++c)\n"
                                "        A(i,c) = 0;\n"
                              : "for (int i = 0; i < %d; ++i)\n    A(i) = 0;\n",
                  columns > 0 ? size / columns : size, columns);
    if (!write_constants(e, terms))
        return false;
    if (varying == 0)
        return true;
    const long before = e->flops;
    weft_text_add(&e->body, "for (int p = 0; p < %d; ++p) {\n", e->n_points);
    e->indent = "    ";
    if (!ufl_emit_declare(e, false) || !write_points(e, terms))
        return false;
    weft_text_add(&e->body, "}\n");
    e->flops = before + (e->flops - before) * e->n_points;
    return true;
}
