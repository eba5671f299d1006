/* Writes the last stage of a matrix: rows from constants and factors at points, or their moments. For a row i
 *
 *     h_n  = D_f(p) d_k test_i(p), or sum_a W_f(a,b) G_k(a,i)    for each f and k
 *     g_l  = sum_c,n C_c h_n                                     for each block and derivative of the trial function
 *     row(j) += sum_l g_l d_l trial_j(p), or H_l(b,j)
 *
 * in a loop over points p, or over b. */
#include "forms/lower/stages.h"

#include <stdio.h>

/* Rows of one part of the test function. */
typedef struct row_writer {
    ufl_stager *s;
    int test;
    int block; /* the only part of the trial function; -1: all */
    const char *indent, *row;
    int sums[STAGE_SUMS][2]; /* varying and derivative of each h */
    int n_sums, n_names;
} row_writer;

static const ufl_basis *basis_of(const ufl_stager *s, int term, int argument) {
    return &s->e->l->bases[s->terms.list[term].basis[argument]];
}

static int functions_of(const ufl_stager *s, int argument, int part) {
    return s->spaces[s->parts[argument][part].space].table->n_functions;
}

/* Is the term in the rows that are written, with a trial function of this space? */
static bool belongs(const row_writer *w, int term, int space) {
    const int *parts = w->s->parts_of[term];
    return parts[0] == w->test && (w->block < 0 || parts[1] == w->block) &&
           w->s->parts[1][parts[1]].space == space;
}

static bool has_block(const row_writer *w, int trial) {
    for (int t = 0; t < w->s->terms.n; ++t)
        if (w->s->parts_of[t][0] == w->test && w->s->parts_of[t][1] == trial &&
            (w->block < 0 || w->block == trial))
            return true;
    return false;
}

/* The number of the h that a term has. */
static int sum_of(const row_writer *w, int term) {
    int n = 0;
    while (n < w->n_sums && (w->sums[n][0] != w->s->varying_of[term] ||
                             w->sums[n][1] != basis_of(w->s, term, 0)->derivative))
        ++n;
    return n;
}

/* Returns false for more than STAGE_SUMS. */
static bool find_sums(row_writer *w, int space) {
    w->n_sums = 0;
    for (int t = 0; t < w->s->terms.n; ++t)
        if (belongs(w, t, space) && sum_of(w, t) == w->n_sums) {
            if (w->n_sums == STAGE_SUMS)
                return false;
            w->sums[w->n_sums][0] = w->s->varying_of[t];
            w->sums[w->n_sums++][1] = basis_of(w->s, t, 0)->derivative;
        }
    return true;
}

bool ufl_rows_fit(const ufl_stager *s) {
    for (int test = 0; test < s->n_parts[0]; ++test)
        for (int space = 0; space < s->n_spaces; ++space) {
            row_writer w = {.s = (ufl_stager *)s, .test = test, .block = -1};
            if (!find_sums(&w, space))
                return false;
        }
    return true;
}

/* ---- sums over functions of the test space ---------------------------------------------------- */

static const stage_moment *moment_of(const row_writer *w, int varying, int space) {
    const ufl_stager *s = w->s;
    int m = 0;
    while (s->moments[m].varying != varying || s->moments[m].test != s->parts[0][w->test].space ||
           s->moments[m].trial != space)
        ++m;
    return &s->moments[m];
}

/* "real h0 = 0; for (int a...) { real m = W(...); h0 += m*psi(1,a,i); }", those of one factor in one loop */
static void write_compressed_sums(row_writer *w, int space) {
    const ufl_stager *s = w->s;
    const stage_space *test = &s->spaces[s->parts[0][w->test].space];
    weft_text *out = &s->e->body;
    for (int n = 0; n < w->n_sums; ++n)
        weft_text_add(out, "%s    real h%d = 0;\n", w->indent, n);
    for (int n = 0; n < w->n_sums; ++n) {
        const int varying = w->sums[n][0];
        const stage_moment *moment = moment_of(w, varying, space);
        bool is_first = true;
        for (int k = 0; k < n; ++k)
            is_first &= w->sums[k][0] != varying;
        if (!is_first)
            continue;
        weft_text_add(
            out, "%s    for (int a = 0; a < %d; ++a) {\n%s        real m = W(%d + %d*a + b);\n",
            w->indent, test->count, w->indent, moment->offset, s->spaces[space].count);
        for (int k = n; k < w->n_sums; ++k)
            if (w->sums[k][0] == varying) {
                weft_text_add(out, "%s        h%d += m*%s(%d,a,i);\n", w->indent, k, test->values,
                              w->sums[k][1]);
                s->e->flops += 2L * test->count;
            }
        weft_text_add(out, "%s    }\n", w->indent);
    }
}

/* "real d1 = D(4,b)*phi(1,b,i) + ...": derivatives of the test function by physical coordinates, times det J */
static void write_gradient(row_writer *w) {
    const ufl_stager *s = w->s;
    const int d = s->e->l->mesh->tdim;
    const char *values = s->spaces[s->parts[0][w->test].space].values;
    weft_text *out = &s->e->body;
    for (int c = 0; c < d; ++c) {
        bool is_used = false;
        for (int n = 0; n < w->n_sums; ++n)
            is_used |= w->sums[n][1] == 1 + c;
        if (!is_used)
            continue;
        weft_text_add(out, "%s    real d%d = ", w->indent, 1 + c);
        for (int k = 0; k < d; ++k)
            weft_text_add(out, "%sD(%d,b)*%s(%d,b,i)", k > 0 ? " + " : "", s->adjugate[k][c],
                          values, 1 + k);
        weft_text_add(out, ";\n");
        s->e->flops += 2L * d - 1;
    }
}

static void write_sums(row_writer *w, int space) {
    const ufl_stager *s = w->s;
    if (s->compressed) {
        write_compressed_sums(w, space);
        return;
    }
    if (s->keeps_gradients)
        write_gradient(w);
    for (int n = 0; n < w->n_sums; ++n) {
        ++s->e->flops;
        if (s->keeps_gradients && w->sums[n][1] > 0) {
            weft_text_add(&s->e->body, "%s    real h%d = D(%d,b)*d%d;\n", w->indent, n,
                          w->sums[n][0], w->sums[n][1]);
            continue;
        }
        weft_text_add(&s->e->body, "%s    real h%d = D(%d,b)*%s(%d,b,i);\n", w->indent, n,
                      w->sums[n][0], s->spaces[s->parts[0][w->test].space].values, w->sums[n][1]);
    }
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* "real g4 = C(2)*h0 - h1;": of the terms of a block whose trial functions have one derivative. */
static void write_factor(row_writer *w, int trial, int derivative, int name) {
    const ufl_stager *s = w->s;
    weft_text *out = &s->e->body;
    bool started = false;
    weft_text_add(out, "%s    real g%d = ", w->indent, name);
    for (int t = 0; t < s->terms.n; ++t) {
        if (!belongs(w, t, s->parts[1][trial].space) || s->parts_of[t][1] != trial ||
            basis_of(s, t, 1)->derivative != derivative)
            continue;
        const int factor = s->terms.list[t].factor;
        weft_text_add(out, started ? " + " : "");
        started = true;
        if (s->constant_of[factor] >= 0)
            weft_text_add(out, "C(%d)*", s->constant_of[factor]);
        else if (!ufl_scalar_is(&s->e->l->scalars, factor, 1)) {
            ufl_emit_scalar(s->e, factor, out);
            weft_text_add(out, "*");
        }
        weft_text_add(out, "h%d", sum_of(w, t));
        s->e->flops += 2;
    }
    weft_text_add(out, ";\n");
}

/* Replace factors g of derivatives by physical coordinates by those by reference coordinates, all of which are used then. */
static void transform_factors(row_writer *w, bool *used, int *names) {
    const ufl_stager *s = w->s;
    const int d = s->e->l->mesh->tdim;
    int own[1 + 3], n = 0;
    for (int c = 1; c <= d; ++c)
        n += used[c];
    if (n == 0)
        return;
    for (int k = 1; k <= d; ++k) {
        bool started = false;
        own[k] = w->n_names++;
        weft_text_add(&s->e->body, "%s    real g%d = ", w->indent, own[k]);
        for (int c = 1; c <= d; ++c)
            if (used[c]) {
                weft_text_add(&s->e->body, "%sD(%d,b)*g%d", started ? " + " : "",
                              s->adjugate[k - 1][c - 1], names[c]);
                started = true;
            }
        weft_text_add(&s->e->body, ";\n");
        s->e->flops += 2L * n - 1;
    }
    for (int k = 1; k <= d; ++k) {
        used[k] = true;
        names[k] = own[k];
    }
}

/* What a point, or b, adds to a row of a block. */
static void write_block(row_writer *w, int trial) {
    const ufl_stager *s = w->s;
    const stage_space *space = &s->spaces[s->parts[1][trial].space];
    const int n = space->table->n_functions;
    int names[STAGE_DERIVATIVES] = {0};
    bool started = false;
    bool used[STAGE_DERIVATIVES] = {false};
    for (int t = 0; t < s->terms.n; ++t)
        if (s->parts_of[t][0] == w->test && s->parts_of[t][1] == trial)
            used[basis_of(s, t, 1)->derivative] = true;
    for (int l = 0; l < STAGE_DERIVATIVES; ++l)
        if (used[l])
            write_factor(w, trial, l, names[l] = w->n_names++);
    if (s->keeps_gradients)
        transform_factors(w, used, names);
    weft_text_add(&s->e->body,
                  "%s    for (int j = 0; j < %d; ++j)\n%s        row%d[j] += ", w->indent, n,
                  w->indent, trial);
    for (int l = 0; l < STAGE_DERIVATIVES; ++l)
        if (used[l]) {
            weft_text_add(&s->e->body, "%sg%d*%s(%d,b,j)", started ? " + " : "", names[l],
                          space->values, l);
            started = true;
            s->e->flops += 2L * n;
        }
    weft_text_add(&s->e->body, ";\n");
}

/* The blocks of row i whose trial functions have this space. */
static void write_space(row_writer *w, int space) {
    const ufl_stager *s = w->s;
    weft_text *out = &s->e->body;
    const long before = s->e->flops;
    w->n_names = 0;
    find_sums(w, space);
    if (w->n_sums == 0)
        return;
    weft_text_add(out, "%sfor (int b = 0; b < %d; ++b) {\n", w->indent, s->spaces[space].count);
    write_sums(w, space);
    for (int k = 0; k < s->n_parts[1]; ++k)
        if (s->parts[1][k].space == space && has_block(w, k))
            write_block(w, k);
    weft_text_add(out, "%s}\n", w->indent);
    s->e->flops = before + (s->e->flops - before) * s->spaces[space].count;
}

/* Row i of a part of the test function, which is row w->row of the matrix. */
static void write_row(row_writer *w) {
    const ufl_stager *s = w->s;
    weft_text *out = &s->e->body;
    for (int k = 0; k < s->n_parts[1]; ++k)
        if (has_block(w, k))
            weft_text_add(
                out, "%sreal row%d[%d];\n%sfor (int j = 0; j < %d; ++j)\n%s    row%d[j] = 0;\n",
                w->indent, k, functions_of(s, 1, k), w->indent, functions_of(s, 1, k), w->indent,
                k);
    for (int space = 0; space < s->n_spaces; ++space)
        write_space(w, space);
    for (int k = 0; k < s->n_parts[1]; ++k)
        if (has_block(w, k))
            weft_text_add(out,
                          "%sfor (int j = 0; j < %d; ++j)\n%s    A(%s,%d + %d*j) = row%d[j];\n",
                          w->indent, functions_of(s, 1, k), w->indent, w->row,
                          s->parts[1][k].part.first, s->parts[1][k].part.stride, k);
}

/* ---- bodies ----------------------------------------------------------------------------------- */

/* Are the functions of an argument those of n_parts equal components, interleaved? */
static bool are_blocked(const ufl_stager *s, int argument) {
    const int n_parts = s->n_parts[argument], n = functions_of(s, argument, 0);
    unsigned found = 0;
    for (int k = 0; k < n_parts; ++k) {
        const ufl_part *part = &s->parts[argument][k].part;
        if (part->stride != n_parts || part->first >= n_parts || functions_of(s, argument, k) != n)
            return false;
        found |= 1u << part->first;
    }
    return n * n_parts == s->out->sizes[argument] && found + 1 == 1u << n_parts;
}

static bool is_full(const ufl_stager *s) {
    long covered = 0;
    for (int test = 0; test < s->n_parts[0]; ++test) {
        const row_writer w = {.test = test, .s = (ufl_stager *)s, .block = -1};
        for (int k = 0; k < s->n_parts[1]; ++k)
            if (has_block(&w, k))
                covered += (long)functions_of(s, 0, test) * functions_of(s, 1, k);
    }
    return covered == (long)s->out->sizes[0] * s->out->sizes[1];
}

static void write_by_one(ufl_stager *s) {
    weft_text *out = &s->e->body;
    weft_text_add(out, "//@ threads   1\n");
    if (!is_full(s))
        weft_text_add(out,
                      "for (int i = 0; i < %d; ++i)\n    for (int j = 0; j < %d; ++j)\n"
                      "        A(i,j) = 0;\n",
                      s->out->sizes[0], s->out->sizes[1]);
    for (int test = 0; test < s->n_parts[0]; ++test) {
        const ufl_part *part = &s->parts[0][test].part;
        const long before = s->e->flops;
        char row[48];
        snprintf(row, sizeof row, "%d + %d*i", part->first, part->stride);
        weft_text_add(out, "for (int i = 0; i < %d; ++i) {\n", functions_of(s, 0, test));
        write_row(&(row_writer){.s = s, .test = test, .block = -1, .indent = "    ", .row = row});
        weft_text_add(out, "}\n");
        s->e->flops = before + (s->e->flops - before) * functions_of(s, 0, test);
    }
}

/* Threads have the rows part by part where these are blocked, so that those of a warp have one part; else in order. */
static void write_by_rows(ufl_stager *s) {
    weft_text *out = &s->e->body;
    const int n = functions_of(s, 0, 0), n_parts = s->n_parts[0];
    const bool blocked = are_blocked(s, 0);
    char row[64] = "t";
    if (blocked && n_parts > 1)
        snprintf(row, sizeof row, "%d*(t %% %d) + t / %d", n_parts, n, n);
    weft_text_add(out, "//@ threads   %d  A(%s,:)\n", s->out->sizes[0], row);
    if (!is_full(s))
        weft_text_add(out, "for (int j = 0; j < %d; ++j)\n    A(%s,j) = 0;\n", s->out->sizes[1],
                      row);
    for (int test = 0; test < s->n_parts[0]; ++test) {
        const int first = s->parts[0][test].part.first, stride = s->parts[0][test].part.stride;
        if (blocked)
            weft_text_add(out, "if (t / %d == %d) {\n    int i = t %% %d;\n", n, first, n);
        else
            weft_text_add(out,
                          "if (t >= %d && t < %d && (t - %d) %% %d == 0) {\n"
                          "    int i = (t - %d) / %d;\n",
                          first, first + stride * functions_of(s, 0, test), first, stride, first,
                          stride);
        write_row(&(row_writer){.s = s, .test = test, .block = -1, .indent = "    ", .row = row});
        weft_text_add(out, "}\n");
    }
}

/* A thread has the entries of a row in one component of the trial function. */
static void write_by_blocks(ufl_stager *s) {
    weft_text *out = &s->e->body;
    const int n = functions_of(s, 0, 0), n_columns = s->n_parts[1], n_rows = s->out->sizes[0];
    char row[96];
    snprintf(row, sizeof row, "%d*(t %% %d) + t %% %d / %d", s->n_parts[0], n, n_rows, n);
    weft_text_add(out, "//@ threads   %d  A(%s,t / %d::%d)\n", n_rows * n_columns, row, n_rows,
                  n_columns);
    if (!is_full(s))
        weft_text_add(out, "for (int j = 0; j < %d; ++j)\n    A(%s,t / %d + %d*j) = 0;\n",
                      functions_of(s, 1, 0), row, n_rows, n_columns);
    for (int test = 0; test < s->n_parts[0]; ++test)
        for (int trial = 0; trial < n_columns; ++trial) {
            row_writer w = {.s = s, .test = test, .block = trial, .indent = "    ", .row = row};
            if (!has_block(&w, trial))
                continue;
            weft_text_add(out, "if (t / %d == %d && t %% %d / %d == %d) {\n    int i = t %% %d;\n",
                          n_rows, s->parts[1][trial].part.first, n_rows, n,
                          s->parts[0][test].part.first, n);
            write_row(&w);
            weft_text_add(out, "}\n");
        }
}

bool ufl_write_rows(ufl_stager *s) {
    write_by_one(s);
    const long flops = s->e->flops;
    write_by_rows(s);
    if (s->n_parts[1] > 1 && are_blocked(s, 0) && are_blocked(s, 1))
        write_by_blocks(s);
    s->e->flops = flops;
    return true;
}

/* ---- costs ------------------------------------------------------------------------------------ */

static long count_space(const row_writer *w, int space, bool compressed) {
    const ufl_stager *s = w->s;
    const stage_space *test = &s->spaces[s->parts[0][w->test].space], *trial = &s->spaces[space];
    long n = (long)w->n_sums * (compressed ? 2 * test->compressed.rank : 1);
    for (int k = 0; k < s->n_parts[1]; ++k) {
        bool used[STAGE_DERIVATIVES] = {false};
        for (int t = 0; t < s->terms.n; ++t)
            if (belongs(w, t, space) && s->parts_of[t][1] == k) {
                n += 2 + (used[basis_of(s, t, 1)->derivative] ? 0 : 2L * functions_of(s, 1, k));
                used[basis_of(s, t, 1)->derivative] = true;
            }
    }
    return n * (compressed ? trial->compressed.rank : s->e->n_points);
}

long ufl_count_rows(const ufl_stager *s, bool compressed) {
    long sum = 0;
    for (int test = 0; test < s->n_parts[0]; ++test)
        for (int space = 0; space < s->n_spaces; ++space) {
            row_writer w = {.s = (ufl_stager *)s, .test = test, .block = -1};
            find_sums(&w, space);
            sum += functions_of(s, 0, test) * count_space(&w, space, compressed);
        }
    for (int m = 0; m < s->n_moments && compressed; ++m) {
        const long rows = s->spaces[s->moments[m].test].compressed.rank,
                   columns = s->spaces[s->moments[m].trial].compressed.rank;
        sum += rows * s->e->n_points *
               (1 + 2 * (s->moments[m].test == s->moments[m].trial ? (columns + 1) / 2 : columns));
    }
    return sum;
}
