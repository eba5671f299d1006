/* Writes a matrix as several functions: constants of the cell, factors at the points, their moments, rows. */
#include "forms/lower/stages.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEWEST_ENTRIES = 36, /* smaller matrices stay in registers */
    MOST_VARYING = 96,
    MOST_NUMBERS = 60000 /* of tables, in the text of a kernel */
};

/* ---- terms ----------------------------------------------------------------------------------- */

static int number_in(int *list, int *n, int scalar) {
    int i = 0;
    while (i < *n && list[i] != scalar)
        ++i;
    if (i == *n)
        list[(*n)++] = scalar;
    return i;
}

/* Each term as terms with constant factors, where the geometry of cells is constant; else what varies is left whole. */
static bool split_terms(ufl_stager *s, const ufl_terms *terms) {
    ufl_lowering *l = s->e->l;
    const size_t most = (size_t)terms->n * UFL_SPLIT_MAX + 1;
    s->terms.list = ufl_alloc(l->context, most, sizeof *s->terms.list);
    s->varying_of = ufl_alloc(l->context, most, sizeof *s->varying_of);
    s->varying = ufl_alloc(l->context, most + 9, sizeof *s->varying);
    s->parts_of = ufl_alloc(l->context, most, sizeof *s->parts_of);
    const int one = ufl_scalar_number(&l->scalars, 1);
    if (!s->terms.list || !s->varying_of || !s->varying || !s->parts_of || one < 0)
        return false;
    for (int t = 0; t < terms->n; ++t) {
        const int factor = terms->list[t].factor;
        ufl_factor_parts parts = {1, {one}, {factor}};
        if (l->scalars.list[factor].constant)
            parts = (ufl_factor_parts){1, {factor}, {-1}};
        else if ((!l->mesh->affine && !l->keeps_gradients) ||
                 !ufl_factor_split(&l->scalars, factor, &parts))
            parts = (ufl_factor_parts){1, {one}, {factor}};
        if (l->context->status != WEFT_OK)
            return false;
        for (int i = 0; i < parts.n; ++i) {
            s->terms.list[s->terms.n] = terms->list[t];
            s->terms.list[s->terms.n].factor = parts.constant[i];
            s->varying_of[s->terms.n++] = number_in(s->varying, &s->n_varying, parts.varying[i]);
        }
    }
    return true;
}

/* Entries of the adjugate of J, behind the factors. */
static bool add_adjugate(ufl_stager *s) {
    const int d = s->e->l->mesh->tdim;
    for (int k = 0; k < d * d; ++k) {
        const int entry = ufl_jacobian_adjugate(s->e->l, k / d, k % d);
        if (entry < 0)
            return false;
        s->adjugate[k / d][k % d] = s->n_varying + k;
        s->varying[s->n_varying + k] = entry;
    }
    s->n_factors = s->n_varying;
    s->n_varying += d * d;
    return true;
}

static bool number_constants(ufl_stager *s) {
    const ufl_scalars *scalars = &s->e->l->scalars;
    const size_t n = (size_t)scalars->n + 1;
    s->constant_of = ufl_alloc(s->e->l->context, n, sizeof *s->constant_of);
    s->constants = ufl_alloc(s->e->l->context, n, sizeof *s->constants);
    if (!s->constant_of || !s->constants)
        return false;
    memset(s->constant_of, -1, n * sizeof *s->constant_of);
    for (int t = 0; t < s->terms.n; ++t) {
        const int factor = s->terms.list[t].factor;
        if (scalars->list[factor].type != SCALAR_NUMBER)
            s->constant_of[factor] = number_in(s->constants, &s->n_constants, factor);
    }
    return true;
}

static int find_space(ufl_stager *s, const ufl_basis *basis) {
    ufl_element_table *table = ufl_emit_table(s->e, basis->part.scalar, basis->side);
    int i = 0;
    while (i < s->n_spaces && s->spaces[i].table != table)
        ++i;
    if (!table || i == STAGE_PARTS || basis->derivative >= STAGE_DERIVATIVES)
        return -1;
    if (i == s->n_spaces)
        s->spaces[s->n_spaces++] = (stage_space){.table = table, .count = s->e->n_points};
    s->spaces[i].used[basis->derivative] = true;
    return i;
}

static int find_part(ufl_stager *s, int argument, const ufl_basis *basis) {
    const int space = find_space(s, basis);
    stage_part *list = s->parts[argument];
    int *n = &s->n_parts[argument], i = 0;
    while (i < *n && (list[i].part.first != basis->part.first || list[i].space != space ||
                      list[i].part.stride != basis->part.stride))
        ++i;
    if (space < 0 || i == STAGE_PARTS)
        return -1;
    if (i == *n)
        list[(*n)++] = (stage_part){basis->part, space};
    return i;
}

static bool find_parts(ufl_stager *s) {
    for (int t = 0; t < s->terms.n; ++t)
        for (int k = 0; k < 2; ++k) {
            const int basis = s->terms.list[t].basis[k];
            s->parts_of[t][k] = basis < 0 ? -1 : find_part(s, k, &s->e->l->bases[basis]);
            if (s->parts_of[t][k] < 0)
                return false;
        }
    return true;
}

/* Components of vectors have the same rows, and rows are written once for each part. */
static bool share_rows(const ufl_lowering *l, const ufl_terms *terms) {
    bool share = false;
    for (int t = 0; t < terms->n; ++t)
        for (int k = 0; k < 2; ++k) {
            const int basis = terms->list[t].basis[k];
            share = share || (basis >= 0 && l->bases[basis].part.scalar->component > 0);
        }
    return share;
}

/* ---- moments --------------------------------------------------------------------------------- */

static int moments_size(const ufl_stager *s) {
    int n = 0;
    for (int m = 0; m < s->n_moments; ++m)
        n += s->spaces[s->moments[m].test].count * s->spaces[s->moments[m].trial].count;
    return n;
}

static bool find_moments(ufl_stager *s) {
    for (int t = 0; t < s->terms.n; ++t) {
        const stage_moment one = {s->varying_of[t], s->parts[0][s->parts_of[t][0]].space,
                                  s->parts[1][s->parts_of[t][1]].space, 0};
        int m = 0;
        while (m < s->n_moments &&
               (s->moments[m].varying != one.varying || s->moments[m].test != one.test ||
                s->moments[m].trial != one.trial))
            ++m;
        if (m == STAGE_SUMS)
            return false;
        if (m == s->n_moments)
            s->moments[s->n_moments++] = one;
    }
    return true;
}

/* Take moments, if they and the rows made from them take fewer operations than rows by points. */
static bool choose_moments(ufl_stager *s) {
    if (s->e->l->mesh->affine && find_moments(s)) {
        for (int i = 0; i < s->n_spaces; ++i) {
            if (!ufl_compress(s->e, s->spaces[i].table, s->spaces[i].used,
                              &s->spaces[i].compressed))
                return false;
            s->spaces[i].count = s->spaces[i].compressed.rank;
        }
        s->compressed =
            ufl_count_rows(s, true) < ufl_count_rows(s, false) && moments_size(s) <= MOST_NUMBERS;
    }
    for (int i = 0; i < s->n_spaces && !s->compressed; ++i)
        s->spaces[i].count = s->e->n_points;
    int offset = 0;
    for (int m = 0; m < s->n_moments; ++m) {
        s->moments[m].offset = offset;
        offset += s->spaces[s->moments[m].test].count * s->spaces[s->moments[m].trial].count;
    }
    return true;
}

static bool name_tables(ufl_stager *s) {
    ufl_emitter *e = s->e;
    for (int i = 0; i < s->n_spaces; ++i) {
        stage_space *space = &s->spaces[i];
        const int rank = space->count, n = space->table->n_functions;
        if (!s->compressed) {
            space->values = ufl_emit_table_name(e, space->table);
        } else {
            const int units = ufl_emit_add_table(e, "units", 2, e->n_points, rank, 0,
                                                 space->compressed.at_points);
            const int values = ufl_emit_add_table(
                e, "psi", 3, weft_derivative_count(e->l->mesh->tdim, space->table->order), rank, n,
                space->compressed.functions);
            if (units < 0 || values < 0)
                return false;
            space->units = e->tables[units].name;
            space->values = e->tables[values].name;
        }
        if (!space->values)
            return false;
    }
    return true;
}

static void write_moment(ufl_stager *s, const stage_moment *m, bool by_threads) {
    const int rows = s->spaces[m->test].count, columns = s->spaces[m->trial].count,
              q = s->e->n_points;
    const char *left = s->spaces[m->test].units, *right = s->spaces[m->trial].units;
    weft_text *out = &s->e->body;
    if (by_threads) {
        weft_text_add(
            out,
            "if (t >= %d && t < %d) {\n    int a = (t - %d) / %d;\n    int b = (t - %d) %% "
            "%d;\n    real sum = 0;\n    for (int p = 0; p < %d; ++p)\n        sum += "
            "D(%d,p) * %s(p,a) * %s(p,b);\n    W(t) = sum;\n}\n",
            m->offset, m->offset + rows * columns, m->offset, columns, m->offset, columns, q,
            m->varying, left, right);
        return;
    }
    const bool symmetric = m->test == m->trial;
    weft_text_add(out,
                  "for (int a = 0; a < %d; ++a) {\n    real product[%d];\n"
                  "    for (int p = 0; p < %d; ++p)\n        product[p] = D(%d,p) * %s(p,a);\n",
                  rows, q, q, m->varying, left);
    weft_text_add(out,
                  symmetric ? "    for (int b = 0; b <= a; ++b) {\n"
                            : "    for (int b = 0; b < %d; ++b) {\n",
                  columns);
    weft_text_add(out,
                  "        real sum = 0;\n        for (int p = 0; p < %d; ++p)\n"
                  "            sum += product[p] * %s(p,b);\n        W(%d + %d*a + b) = sum;\n",
                  q, right, m->offset, columns);
    if (symmetric)
        weft_text_add(out, "        W(%d + %d*b + a) = sum;\n", m->offset, columns);
    weft_text_add(out, "    }\n}\n");
    s->e->flops += (long)rows * (q + 2L * q * (symmetric ? (columns + 1) / 2 : columns));
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* Which arguments of the integral the scalars in use read. */
static void find_arguments(ufl_stager *s) {
    const ufl_lowering *l = s->e->l;
    memset(s->uses, 0, (size_t)s->out->n_arguments * sizeof *s->uses);
    for (int i = 0; i < l->scalars.n; ++i) {
        const ufl_scalar *scalar = &l->scalars.list[i];
        if (s->e->uses[i] == 0)
            continue;
        if (scalar->type == SCALAR_COEFFICIENT)
            s->uses[1 + scalar->a / 2] = true;
        else if (scalar->type == SCALAR_CONSTANT)
            s->uses[1 + l->n_coefficients + scalar->a] = true;
        else if (scalar->type == SCALAR_VERTEX || scalar->type == SCALAR_COORDINATE ||
                 scalar->type == SCALAR_JACOBIAN || scalar->type == SCALAR_CURVATURE)
            s->uses[0] = true;
    }
}

/* Begin a stage whose statements use these scalars. */
static bool begin_stage(ufl_stager *s, const int *scalars, int n) {
    ufl_emitter *e = s->e;
    ufl_terms used = {0, ufl_alloc(e->l->context, (size_t)n + 1, sizeof *used.list)};
    for (int i = 0; used.list && i < n; ++i)
        if (scalars[i] >= 0)
            used.list[used.n++] = (ufl_term){{-1, -1}, scalars[i]};
    e->flops = 0;
    e->indent = "";
    weft_text_free(&e->body);
    e->body = (weft_text){0};
    if (!used.list || !ufl_emit_prepare(e, &used))
        return false;
    ufl_emit_hoist(e, &used);
    find_arguments(s);
    bool any = n == 0;
    for (int i = 0; i < s->out->n_arguments; ++i)
        any |= s->uses[i];
    s->uses[0] |= !any; /* a function has an argument */
    return true;
}

static void add_input(ufl_stager *s, ufl_stage *stage, int input, bool *started) {
    weft_text_add(&s->text, *started ? ", " : "");
    *started = true;
    stage->inputs[stage->n_inputs++] = input;
    if (input >= 0)
        ufl_emit_argument(&s->out->arguments[input], &s->text);
    else
        weft_text_add(&s->text, "%s: real[%s]", s->out->stages[-1 - input].result,
                      s->out->stages[-1 - input].shape);
}

/* The function of a stage from its bodies, which begin with lines "//@ threads".
 *  from   bit k: it takes the result of stage k
 *  shape  of the result */
static bool end_stage(ufl_stager *s, const char *suffix, const char *result, const char *shape,
                      unsigned from) {
    ufl_lowered *out = s->out;
    ufl_stage *stage = &out->stages[out->n_stages];
    const int n = out->n_arguments + out->n_stages;
    bool started = false;
    *stage = (ufl_stage){.name = ufl_print(s->e->l->context, "%s%s", out->name, suffix),
                         .result = result,
                         .shape = shape,
                         .inputs = ufl_alloc(s->e->l->context, (size_t)n, sizeof *stage->inputs)};
    if (!stage->name || !shape || !stage->inputs)
        return false;
    weft_text_add(&s->text, "//@ function  %s(", stage->name);
    for (int i = 0; i < out->n_arguments; ++i)
        if (s->uses[i])
            add_input(s, stage, i, &started);
    for (int k = 0; k < out->n_stages; ++k)
        if (from >> k & 1)
            add_input(s, stage, -1 - k, &started);
    weft_text_add(&s->text, ") -> %s: real[%s]\n", result, shape);
    ufl_emit_lines(s->e, out, s->uses[0], &s->text);
    weft_text_add(&s->text, "%s\n", s->e->body.data ? s->e->body.data : "");
    s->text.failed |= s->e->body.failed;
    out->flops += s->e->flops;
    ++out->n_stages;
    return true;
}

static bool write_constants(ufl_stager *s) {
    ufl_emitter *e = s->e;
    if (!begin_stage(s, s->constants, s->n_constants))
        return false;
    weft_text_add(&e->body, "//@ threads   1\n");
    if (!ufl_emit_declare(e, true))
        return false;
    for (int i = 0; i < s->n_constants; ++i) {
        weft_text_add(&e->body, "C(%d) = ", i);
        ufl_emit_scalar(e, s->constants[i], &e->body);
        weft_text_add(&e->body, ";\n");
    }
    return end_stage(s, "_constants", "C", ufl_print(e->l->context, "%d", s->n_constants), 0);
}

/* D(0,p) = weight(p)*s7; */
static bool write_point(ufl_stager *s, const char *indent) {
    ufl_emitter *e = s->e;
    e->indent = indent;
    if (!ufl_emit_declare(e, false))
        return false;
    for (int i = 0; i < s->n_varying; ++i) {
        const bool has_weight = !s->keeps_gradients || i < s->n_factors;
        weft_text_add(&e->body, "%sD(%d,p) = ", indent, i);
        if (has_weight)
            weft_text_add(&e->body, "weight%d(p)", e->weight_table);
        if (s->varying[i] >= 0) {
            weft_text_add(&e->body, has_weight ? "*" : "");
            ufl_emit_scalar(e, s->varying[i], &e->body);
        }
        weft_text_add(&e->body, ";\n");
        ++e->flops;
    }
    return true;
}

static bool write_points(ufl_stager *s) {
    ufl_emitter *e = s->e;
    if (!begin_stage(s, s->varying, s->n_varying))
        return false;
    weft_text_add(&e->body, "//@ threads   1\n");
    if (!ufl_emit_declare(e, true))
        return false;
    weft_text_add(&e->body, "for (int p = 0; p < %d; ++p) {\n", e->n_points);
    const long before = e->flops;
    if (!write_point(s, "    "))
        return false;
    const long flops = before + (e->flops - before) * e->n_points;
    memset(e->declared, 0, (size_t)e->l->scalars.n * sizeof *e->declared);
    weft_text_add(&e->body, "}\n//@ threads   %d  D(:,t)\nint p = t;\n", e->n_points);
    e->indent = "";
    if (!ufl_emit_declare(e, true) || !write_point(s, ""))
        return false;
    e->flops = flops;
    return end_stage(s, "_points", "D",
                     ufl_print(e->l->context, "%d,%d", s->n_varying, e->n_points), 0);
}

static bool write_moments(ufl_stager *s, unsigned from) {
    ufl_emitter *e = s->e;
    const int n = moments_size(s);
    if (!begin_stage(s, NULL, 0))
        return false;
    weft_text_add(&e->body, "//@ threads   1\n");
    for (int m = 0; m < s->n_moments; ++m)
        write_moment(s, &s->moments[m], false);
    weft_text_add(&e->body, "//@ threads   %d  W(t)\n", n);
    for (int m = 0; m < s->n_moments; ++m)
        write_moment(s, &s->moments[m], true);
    return end_stage(s, "_moments", "W", ufl_print(e->l->context, "%d", n), from);
}

static bool write_all(ufl_stager *s) {
    unsigned from = 0, last;
    if (s->n_constants > 0) {
        if (!write_constants(s))
            return false;
        from = 1;
    }
    last = 1u << s->out->n_stages;
    if (!write_points(s))
        return false;
    if (s->compressed) {
        if (!write_moments(s, last))
            return false;
        last <<= 1;
    }
    return begin_stage(s, NULL, 0) && ufl_write_rows(s) &&
           end_stage(s, "", "A",
                     ufl_print(s->e->l->context, "%d,%d", s->out->sizes[0], s->out->sizes[1]),
                     from | last);
}

bool ufl_stages_are_worth(const ufl_lowered *out) {
    return out->rank == 2 && (long)out->sizes[0] * out->sizes[1] >= FEWEST_ENTRIES;
}

bool ufl_emit_stages(ufl_emitter *e, const ufl_terms *terms, ufl_lowered *out, bool *worth) {
    ufl_stager s = {.e = e, .out = out, .keeps_gradients = e->l->keeps_gradients};
    *worth = ufl_stages_are_worth(out) && terms->n > 0 && !share_rows(e->l, terms);
    if (!*worth)
        return true;
    if (!split_terms(&s, terms) || (s.keeps_gradients && !add_adjugate(&s)) ||
        !number_constants(&s))
        return false;
    *worth = s.n_varying <= MOST_VARYING && find_parts(&s) && ufl_rows_fit(&s);
    if (!*worth)
        return e->l->context->status == WEFT_OK && !s.keeps_gradients;
    s.uses = ufl_alloc(e->l->context, (size_t)out->n_arguments, sizeof *s.uses);
    e->weight_table = ufl_emit_add_table(e, "weight", 1, e->n_points, 0, 0, e->weights);
    bool made =
        s.uses && e->weight_table >= 0 && choose_moments(&s) && name_tables(&s) && write_all(&s);
    if (made && s.text.failed)
        made = ufl_fail(e->l->context, WEFT_ERROR_MEMORY, "out of memory") != NULL;
    out->text = made ? ufl_copy(e->l->context, s.text.data, s.text.length) : NULL;
    weft_text_free(&s.text);
    return out->text != NULL;
}

/* ---- calls ------------------------------------------------------------------------------------ */

static void write_stage(const ufl_lowered *lowered, int number,
                        void (*write)(const void *user, int argument, weft_text *out),
                        const void *user, weft_text *out) {
    const ufl_stage *stage = &lowered->stages[number];
    weft_text_add(out, "%s(", stage->name);
    for (int i = 0; i < stage->n_inputs; ++i) {
        weft_text_add(out, i ? ", " : "");
        if (stage->inputs[i] >= 0)
            write(user, stage->inputs[i], out);
        else
            write_stage(lowered, -1 - stage->inputs[i], write, user, out);
    }
    weft_text_add(out, ")");
}

void ufl_lowered_call(const ufl_lowered *lowered,
                      void (*write)(const void *user, int argument, weft_text *out),
                      const void *user, weft_text *out) {
    if (lowered->n_stages > 0) {
        write_stage(lowered, lowered->n_stages - 1, write, user, out);
        return;
    }
    weft_text_add(out, "%s(", lowered->name);
    for (int i = 0; i < lowered->n_arguments; ++i) {
        weft_text_add(out, i ? ", " : "");
        write(user, i, out);
    }
    weft_text_add(out, ")");
}
