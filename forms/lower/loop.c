/* Writes a body that loops over the quadrature points. */
#include "forms/lower/emit.h"

#include <string.h>

/* A(first + stride*i, ...) += ..., for all terms that have one function of the test function: first the
 * sum over functions of the trial function, in a local array for each of its parts. */
static bool write_matrix_terms(ufl_emitter *e, const ufl_terms *terms, int first, int end) {
    const ufl_basis *test = &e->l->bases[terms->list[first].basis[0]];
    ufl_element_table *rows = ufl_emit_table(e, test->part.scalar, test->side);
    const char *row_name = ufl_emit_table_name(e, rows);
    if (!row_name)
        return false;
    bool *done = ufl_alloc(e->l->context, (size_t)(end - first), sizeof *done);
    if (!done)
        return false;
    for (int t = first; t < end; ++t) {
        if (done[t - first])
            continue;
        const ufl_part part = e->l->bases[terms->list[t].basis[1]].part;
        ufl_element_table *columns =
            ufl_emit_table(e, part.scalar, e->l->bases[terms->list[t].basis[1]].side);
        const char *column_name = ufl_emit_table_name(e, columns);
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
            ufl_emit_scalar(e, terms->list[u].factor, &e->body);
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

static bool write_vector_term(ufl_emitter *e, const ufl_term *term) {
    const ufl_basis *test = &e->l->bases[term->basis[0]];
    ufl_element_table *rows = ufl_emit_table(e, test->part.scalar, test->side);
    const char *name = ufl_emit_table_name(e, rows);
    if (!name)
        return false;
    weft_text_add(&e->body, "    real f%d = weight%d(p)*", term->basis[0], e->weight_table);
    ufl_emit_scalar(e, term->factor, &e->body);
    weft_text_add(&e->body, ";\n    for (int i = 0; i < %d; ++i)\n        ", rows->n_functions);
    ufl_emit_dof(&e->body, "A", e->results, test->part, "i", true);
    weft_text_add(&e->body, " += f%d * %s(%d,p,i);\n", term->basis[0], name, test->derivative);
    e->flops += 2L * rows->n_functions + 1;
    return true;
}

/* It counts as used twice. */
void ufl_emit_hoist(ufl_emitter *e, const ufl_terms *terms) {
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

bool ufl_emit_loop(ufl_emitter *e, const ufl_terms *terms, int rank, const int *sizes) {
    ufl_emit_hoist(e, terms);
    e->weight_table = ufl_emit_add_table(e, "weight", 1, e->n_points, 0, 0, e->weights);
    if (e->weight_table < 0 || !ufl_emit_declare(e, true))
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
    if (!ufl_emit_declare(e, false))
        return false;
    for (int t = 0; t < terms->n;) {
        int end = t + 1;
        if (rank == 0) {
            weft_text_add(&e->body, "    A += weight%d(p)*", e->weight_table);
            ufl_emit_scalar(e, terms->list[t].factor, &e->body);
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
