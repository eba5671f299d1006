/* Writes a body for tensors of rank 2 that are too large to be written out: reference tensors as
 * tables, and loops over their entries. Where the factors of terms are constant on the cell,
 *
 *     A(i,j) = sum_r factor_r D_r(i,j),   D_r = sum over points and over pairs (k,l) of derivatives
 *                                               of weight * d_k test_i * d_l trial_j
 *
 * with one r for each factor: what the loop over points adds up in each cell is added up here.
 * Blocks of several components share their D_r.
 *
 * Decision  docs/decisions/0024-element-tensors-are-loops-over-tables.md */
#include "forms/lower/emit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NUMBERS = 60000 /* of tables, in the text of a kernel */ };
#define REFERENCE_ZERO 1e-14 /* as in tensor.c */

/* D_r: derivatives[n][2] of the functions of two tables. */
typedef struct reference {
    const ufl_element_table *tables[2];
    int (*derivatives)[2];
    int n, family, number; /* number: in the table of its family, those of the same functions */
} reference;

/* Rows and columns of the tensor that belong to a pair of parts: A(row(i), column(j)), i < n[0],
 * j < n[1]. */
typedef struct block {
    ufl_part parts[2];
    const ufl_element_table *tables[2];
    int n_terms, *factors, *references; /* [n_terms], indices into the list of references */
} block;

typedef struct references {
    ufl_emitter *e;
    const ufl_terms *terms;
    reference *list; /* [terms] at most */
    block *blocks;
    int n, n_blocks, n_families;
    const char **names; /* [n_families] of tables */
    int *sizes;         /* [n_families] number of references */
    bool *done;         /* [terms] */
} references;

/* ---- the references -------------------------------------------------------------------------- */

static const ufl_basis *basis_of(const references *r, int term, int argument) {
    return &r->e->l->bases[r->terms->list[term].basis[argument]];
}

static bool same_block(const references *r, int a, int b) {
    for (int k = 0; k < 2; ++k) {
        const ufl_basis *x = basis_of(r, a, k), *y = basis_of(r, b, k);
        if (x->side != y->side || x->part.scalar != y->part.scalar ||
            x->part.first != y->part.first || x->part.stride != y->part.stride)
            return false;
    }
    return true;
}

/* Terms from `first` on of one block with the factor of the first: their derivatives. Terms are
 * in the order of their bases, so that equal lists compare equal. */
static bool make_reference(references *r, int first, reference *out) {
    int n = 0;
    out->derivatives =
        ufl_alloc(r->e->l->context, (size_t)(r->terms->n - first), sizeof *out->derivatives);
    if (!out->derivatives)
        return false;
    for (int t = first; t < r->terms->n; ++t)
        if (!r->done[t] && r->terms->list[t].factor == r->terms->list[first].factor &&
            same_block(r, first, t)) {
            r->done[t] = true;
            for (int k = 0; k < 2; ++k)
                out->derivatives[n][k] = basis_of(r, t, k)->derivative;
            ++n;
        }
    out->n = n;
    return true;
}

static int find_reference(references *r, const reference *made) {
    for (int i = 0; i < r->n; ++i)
        if (r->list[i].n == made->n && r->list[i].tables[0] == made->tables[0] &&
            r->list[i].tables[1] == made->tables[1] &&
            memcmp(r->list[i].derivatives, made->derivatives,
                   (size_t)made->n * sizeof *made->derivatives) == 0)
            return i;
    reference *kept = &r->list[r->n];
    *kept = *made;
    kept->family = r->n_families;
    for (int i = 0; i < r->n && kept->family == r->n_families; ++i)
        if (r->list[i].tables[0] == made->tables[0] && r->list[i].tables[1] == made->tables[1])
            kept->family = r->list[i].family;
    r->n_families += kept->family == r->n_families;
    kept->number = r->sizes[kept->family]++;
    return r->n++;
}

static bool add_block(references *r, int first) {
    ufl_context *context = r->e->l->context;
    block *b = &r->blocks[r->n_blocks++];
    const size_t most = (size_t)(r->terms->n - first);
    b->factors = ufl_alloc(context, most, sizeof *b->factors);
    b->references = ufl_alloc(context, most, sizeof *b->references);
    for (int k = 0; k < 2; ++k) {
        const ufl_basis *basis = basis_of(r, first, k);
        b->parts[k] = basis->part;
        b->tables[k] = ufl_emit_table(r->e, basis->part.scalar, basis->side);
        if (!b->tables[k])
            return false;
    }
    if (!b->factors || !b->references)
        return false;
    for (int t = first; t < r->terms->n; ++t) {
        reference made = {.tables = {b->tables[0], b->tables[1]}};
        if (r->done[t] || !same_block(r, first, t))
            continue;
        if (!make_reference(r, t, &made))
            return false;
        b->factors[b->n_terms] = r->terms->list[t].factor;
        b->references[b->n_terms++] = find_reference(r, &made);
    }
    return true;
}

static bool collect(references *r) {
    ufl_context *context = r->e->l->context;
    const size_t n = (size_t)r->terms->n + 1;
    r->list = ufl_alloc(context, n, sizeof *r->list);
    r->blocks = ufl_alloc(context, n, sizeof *r->blocks);
    r->done = ufl_alloc(context, n, sizeof *r->done);
    r->names = ufl_alloc(context, n, sizeof *r->names);
    r->sizes = ufl_alloc(context, n, sizeof *r->sizes);
    if (!r->list || !r->blocks || !r->done || !r->names || !r->sizes)
        return false;
    for (int t = 0; t < r->terms->n; ++t)
        if (!r->done[t] && !add_block(r, t))
            return false;
    return true;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void fill(const ufl_emitter *e, const reference *one, double *out) {
    const int rows = one->tables[0]->n_functions, columns = one->tables[1]->n_functions;
    double largest = 0;
    for (int x = 0; x < one->n; ++x)
        for (int p = 0; p < e->n_points; ++p) {
            const double *values[2];
            for (int k = 0; k < 2; ++k)
                values[k] = one->tables[k]->values + (one->derivatives[x][k] * e->n_points + p) *
                                                         one->tables[k]->n_functions;
            for (int i = 0; i < rows; ++i)
                for (int j = 0; j < columns; ++j)
                    out[i * columns + j] += e->weights[p] * values[0][i] * values[1][j];
        }
    for (int i = 0; i < rows * columns; ++i)
        largest = fmax(largest, fabs(out[i]));
    for (int i = 0; i < rows * columns; ++i)
        out[i] = fabs(out[i]) > REFERENCE_ZERO * largest ? out[i] : 0;
}

static long count_numbers(const references *r) {
    long n = 0;
    for (int i = 0; i < r->n; ++i)
        n += (long)r->list[i].tables[0]->n_functions * r->list[i].tables[1]->n_functions;
    return n;
}

static bool add_tables(references *r) {
    for (int family = 0; family < r->n_families; ++family) {
        double *values = NULL;
        int rows = 0, columns = 0;
        for (int i = 0; i < r->n; ++i) {
            const reference *one = &r->list[i];
            if (one->family != family)
                continue;
            rows = one->tables[0]->n_functions;
            columns = one->tables[1]->n_functions;
            if (!values)
                values =
                    ufl_alloc(r->e->l->context, (size_t)r->sizes[family] * (size_t)(rows * columns),
                              sizeof *values);
            if (!values)
                return false;
            fill(r->e, one, values + one->number * rows * columns);
        }
        const int table =
            ufl_emit_add_table(r->e, "reference", 3, r->sizes[family], rows, columns, values);
        if (table < 0)
            return false;
        r->names[family] = r->e->tables[table].name;
    }
    return true;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* "2 + 3*x", "x" */
static void write_index(weft_text *out, ufl_part part, const char *x) {
    if (part.first > 0)
        weft_text_add(out, "%d + ", part.first);
    if (part.stride > 1)
        weft_text_add(out, "%d*", part.stride);
    weft_text_add(out, "%s", x);
}

/* factor*D(r,i,j) + ... */
static void write_sum(references *r, const block *b, weft_text *out) {
    for (int k = 0; k < b->n_terms; ++k) {
        const reference *one = &r->list[b->references[k]];
        weft_text_add(out, k > 0 ? " + " : "");
        ufl_emit_scalar(r->e, b->factors[k], out);
        weft_text_add(out, "*%s(%d,i,j)", r->names[one->family], one->number);
    }
}

/* Has an earlier block the same entries, as components of vectors have? */
static bool is_added(const references *r, int number) {
    const block *b = &r->blocks[number];
    bool found = false;
    for (int i = 0; i < number && !found; ++i) {
        found = true;
        for (int k = 0; k < 2; ++k)
            found = found && r->blocks[i].parts[k].first == b->parts[k].first &&
                    r->blocks[i].parts[k].stride == b->parts[k].stride;
    }
    return found;
}

static long covered(const references *r) {
    long n = 0;
    for (int i = 0; i < r->n_blocks; ++i)
        if (!is_added(r, i))
            n += (long)r->blocks[i].tables[0]->n_functions * r->blocks[i].tables[1]->n_functions;
    return n;
}

static void write_blocks(references *r, const int *sizes) {
    ufl_emitter *e = r->e;
    if (covered(r) < (long)sizes[0] * sizes[1])
        weft_text_add(&e->body,
                      "for (int i = 0; i < %d; ++i)\n    for (int j = 0; j < %d; ++j)\n"
                      "        A(i,j) = 0;\n",
                      sizes[0], sizes[1]);
    for (int i = 0; i < r->n_blocks; ++i) {
        const block *b = &r->blocks[i];
        const long entries = (long)b->tables[0]->n_functions * b->tables[1]->n_functions;
        weft_text_add(&e->body,
                      "for (int i = 0; i < %d; ++i)\n    for (int j = 0; j < %d; ++j)\n"
                      "        A(",
                      b->tables[0]->n_functions, b->tables[1]->n_functions);
        write_index(&e->body, b->parts[0], "i");
        weft_text_add(&e->body, ",");
        write_index(&e->body, b->parts[1], "j");
        weft_text_add(&e->body, is_added(r, i) ? ") += " : ") = ");
        write_sum(r, b, &e->body);
        weft_text_add(&e->body, ";\n");
        e->flops += 2L * b->n_terms * entries;
    }
}

bool ufl_emit_reference(ufl_emitter *e, const ufl_terms *terms, const int *sizes, bool *fits) {
    references r = {.e = e, .terms = terms};
    if (!collect(&r))
        return false;
    *fits = count_numbers(&r) <= MOST_NUMBERS;
    if (!*fits)
        return true;
    for (int i = 0; i < r.n_blocks; ++i) /* each factor is used for many entries */
        for (int k = 0; k < r.blocks[i].n_terms; ++k)
            e->uses[r.blocks[i].factors[k]] += 2;
    if (!add_tables(&r) || !ufl_emit_declare(e, true))
        return false;
    write_blocks(&r, sizes);
    return true;
}
