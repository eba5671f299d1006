/* The null space of problems in which only the curl or the divergence of u counts, everywhere or in a part: gradients, or curls.
 * The load is made compatible with them, and u has no part of them, in the Euclidean norm of dofs. */
#include "fem/base/memory.h"
#include "fem/base/sets.h"
#include "fem/constrain/constrain.h"
#include "fem/multigrid/multigrid.h"
#include "fem/operator/operator.h"
#include "fem/precondition/auxiliary.h"
#include "fem/problem/assembled.h"
#include "fem/space/vectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the sizes of what a row of P^T A P r sums, r random: what is not more is rounding, and what is less than the second may be
 * a small mass, for which no load is changed. */
static const double ROUNDING = 1e-15, UNCLEAR = 1e-13;
enum { PROBES = 6 };
/* Of the load, more than the error of interpolated shapes. */
static const double INCOMPATIBLE = 1e-2;

/* The columns of P that are in the null space. */
typedef struct kernel {
    weft_auxiliary all;
    unsigned char *is_in;
    double *diagonal; /* of P^T P */
    int64_t n_in;
} kernel;

static void kernel_clear(kernel *k) {
    weft_auxiliary_clear(&k->all);
    free(k->is_in);
    free(k->diagonal);
}

/* out = P^T v of columns in the null space; with sizes of P. */
static void restrict_to(const kernel *k, const double *v, bool sizes, double *out) {
    const weft_csr *P = &k->all.P;
    memset(out, 0, (size_t)P->n_columns * sizeof *out);
    for (int64_t i = 0; i < P->n_rows; ++i)
        for (int64_t at = P->row_start[i]; at < P->row_start[i + 1]; ++at)
            out[P->columns[at]] += (sizes ? fabs(P->values[at]) : P->values[at]) * v[i];
    for (int64_t j = 0; j < P->n_columns; ++j)
        if (!k->is_in[j])
            out[j] = 0;
}

/* out = P y */
static void prolong(const kernel *k, const double *y, double *out) {
    const weft_csr *P = &k->all.P;
    for (int64_t i = 0; i < P->n_rows; ++i) {
        out[i] = 0;
        for (int64_t at = P->row_start[i]; at < P->row_start[i + 1]; ++at)
            out[i] += P->values[at] * (k->is_in[P->columns[at]] ? y[P->columns[at]] : 0);
    }
}

/* What products with the matrix need. */
typedef struct probe {
    weft_assembled *system;
    weft_spans *spans;
    double *x, *sizes, *w, *s; /* [rows]; [columns] */
} probe;

static void probe_free(probe *p) {
    weft_spans_free(&p->spans);
    free(p->x);
}

static weft_status probe_make(weft_assembled *system, const weft_csr *P, probe *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = P->n_rows, m = P->n_columns;
    *out = (probe){.system = system, .x = calloc((size_t)(2 * n + 2 * m) + 1, sizeof(double))};
    if (!out->x)
        TRY(weft_out_of_memory(error, "the null space"));
    out->sizes = out->x + n;
    out->w = out->sizes + n;
    out->s = out->w + m;
    TRY(weft_spans_make(system->fields->context->device, 4, n, &out->spans, error));
done:
    return status;
}

/* x = A x, and the sizes of what its rows sum. */
static weft_status apply(probe *p, int64_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)n * sizeof(double);
    weft_memory *v[4];
    for (int i = 0; i < 4; ++i)
        v[i] = weft_spans_vector(p->spans, i);
    TRY(weft_memory_write(v[0], 0, p->x, bytes, error));
    TRY(weft_operator_size_rows(p->spans, p->system->op, v[0], (weft_memory *[]){v[2], v[1]}, v[3],
                                error));
    TRY(weft_operator_apply(p->system->op, v[0], v[1], error));
    TRY(weft_memory_read(v[1], 0, p->x, bytes, error));
    TRY(weft_memory_read(v[3], 0, p->sizes, bytes, error));
done:
    return status;
}

static void set_diagonal(kernel *k) {
    const weft_csr *P = &k->all.P;
    memset(k->diagonal, 0, (size_t)P->n_columns * sizeof *k->diagonal);
    for (int64_t i = 0; i < P->n_rows; ++i)
        for (int64_t at = P->row_start[i]; at < P->row_start[i + 1]; ++at)
            k->diagonal[P->columns[at]] += P->values[at] * P->values[at];
}

/* Find the columns j for which row j of P^T A P vanishes. */
static weft_status find(weft_assembled *system, kernel *k, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t m = k->all.P.n_columns;
    probe p = {NULL};
    double *r = calloc((size_t)(2 * m) + 1, sizeof *r), *most = r ? r + m : NULL;
    bool is_clear = true;
    k->is_in = calloc((size_t)m + 1, 1);
    k->diagonal = calloc((size_t)m + 1, sizeof *k->diagonal);
    if (!r || !k->is_in || !k->diagonal)
        TRY(weft_out_of_memory(error, "the null space"));
    for (int64_t j = 0; j < m; ++j)
        k->is_in[j] = 1;
    for (int64_t i = 0; i < k->all.n_constrained; ++i)
        k->is_in[k->all.constrained[i]] = 0;
    set_diagonal(k);
    TRY(probe_make(system, &k->all.P, &p, error));
    bool may_vanish = true; /* some row */
    for (int of = 0; of < PROBES && may_vanish; ++of) {
        for (int64_t j = 0; j < m; ++j)
            r[j] = weft_random_entry(j + of * m);
        prolong(k, r, p.x);
        TRY(apply(&p, k->all.P.n_rows, error));
        restrict_to(k, p.x, false, p.w);
        restrict_to(k, p.sizes, true, p.s);
        may_vanish = false;
        for (int64_t j = 0; j < m; ++j) {
            most[j] = fmax(most[j], p.s[j] > 0 ? fabs(p.w[j]) / p.s[j] : 0);
            may_vanish = may_vanish || (k->is_in[j] && k->diagonal[j] > 0 && most[j] <= ROUNDING);
        }
    }
    for (int64_t j = 0; j < m; ++j) {
        if (!k->is_in[j] || k->diagonal[j] == 0) {
            k->is_in[j] = 0;
            continue;
        }
        is_clear = is_clear && (most[j] <= ROUNDING || most[j] >= UNCLEAR);
        k->is_in[j] = most[j] <= ROUNDING;
        k->n_in += k->is_in[j];
    }
    if (!is_clear)
        k->n_in = 0;
done:
    probe_free(&p);
    free(r);
    return status;
}

/* ---- constants in parts where u itself counts --------------------------------------------------- */

/* Nodes that are neither in the null space by themselves nor held, joined by cells that have no others. The number of the part
 * of each node, by its lowest node; -1: it is in none, or alone in it, and a single function was tested before. */
static void join_nodes(const kernel *k, int32_t *parts, unsigned char *is_joined) {
    const weft_space *space = k->all.space;
    const int width = weft_space_element(space)->n_nodes;
    const int32_t *cells = weft_space_cell_nodes(space);
    const int64_t n = weft_space_nodes(space);
    for (int64_t i = 0; i < n; ++i)
        parts[i] = k->is_in[i] ? -1 : (int32_t)i;
    for (int64_t i = 0; i < k->all.n_constrained; ++i)
        parts[k->all.constrained[i]] = -1;
    for (int64_t c = 0; c < weft_space_mesh(space)->n_cells; ++c) {
        bool is_inside = true;
        for (int i = 0; i < width; ++i)
            is_inside = is_inside && parts[cells[c * width + i]] >= 0;
        for (int i = 1; i < width && is_inside; ++i)
            weft_sets_join(parts, cells[c * width], cells[c * width + i]);
    }
    for (int64_t i = 0; i < n; ++i)
        parts[i] = parts[i] < 0 ? -1 : weft_sets_root(parts, (int32_t)i);
    for (int64_t i = 0; i < n; ++i)
        if (parts[i] >= 0 && parts[i] != i)
            is_joined[parts[i]] = 1;
    for (int64_t i = 0; i < n; ++i)
        parts[i] = parts[i] >= 0 && is_joined[parts[i]] ? parts[i] : -1;
}

/* Append a column to P. */
static weft_status append_column(kernel *k, const double *column, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr *P = &k->all.P, made = {0};
    int64_t n_new = 0, to = 0;
    for (int64_t i = 0; i < P->n_rows; ++i)
        n_new += column[i] != 0;
    TRY(weft_csr_allocate(P->n_rows, P->n_columns + 1, P->row_start[P->n_rows] + n_new, &made,
                          error));
    for (int64_t i = 0; i < P->n_rows; ++i) {
        for (int64_t at = P->row_start[i]; at < P->row_start[i + 1]; ++at, ++to) {
            made.columns[to] = P->columns[at];
            made.values[to] = P->values[at];
        }
        if (column[i] != 0) {
            made.columns[to] = (int32_t)P->n_columns;
            made.values[to++] = column[i];
        }
        made.row_start[i + 1] = to;
    }
    unsigned char *is_in = realloc(k->is_in, (size_t)P->n_columns + 2);
    double *diagonal = realloc(k->diagonal, ((size_t)P->n_columns + 2) * sizeof *diagonal);
    k->is_in = is_in ? is_in : k->is_in;
    k->diagonal = diagonal ? diagonal : k->diagonal;
    if (!is_in || !diagonal)
        TRY(weft_out_of_memory(error, "the null space"));
    is_in[P->n_columns] = 1;
    weft_csr_clear(P);
    *P = made;
    made = (weft_csr){0};
    set_diagonal(k);
    ++k->n_in;
done:
    weft_csr_clear(&made);
    return status;
}

/* Does the matrix see a function? In the rows of P, which are those of free dofs. */
static weft_status is_unseen(probe *p, const kernel *k, const double *column, bool *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = k->all.P.n_rows;
    double seen = 0, most = 0;
    memcpy(p->x, column, (size_t)n * sizeof *column);
    TRY(apply(p, n, error));
    for (int64_t i = 0; i < n; ++i) {
        most = fmax(most, p->sizes[i]);
        seen = k->all.P.row_start[i + 1] > k->all.P.row_start[i] ? fmax(seen, fabs(p->x[i])) : seen;
    }
    *out = seen <= UNCLEAR * most;
done:
    return status;
}

/* A function that is constant in such a part, which no side holds, and falls to zero outside has no gradient in it. */
static weft_status add_constants(weft_assembled *system, kernel *k, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_space_nodes(k->all.space), n_rows = k->all.P.n_rows;
    int32_t *parts = malloc(((size_t)n + 1) * sizeof *parts);
    unsigned char *is_joined = calloc((size_t)n + 1, 1);
    double *column = calloc((size_t)n_rows + 1, sizeof *column);
    probe p = {NULL};
    if (!parts || !is_joined || !column)
        TRY(weft_out_of_memory(error, "the null space"));
    TRY(probe_make(system, &k->all.P, &p, error));
    join_nodes(k, parts, is_joined);
    for (int64_t part = 0; part < n; ++part) {
        bool unseen = false;
        double most = 0;
        if (parts[part] != part || k->diagonal[part] == 0)
            continue;
        memset(column, 0, (size_t)n_rows * sizeof *column);
        for (int64_t i = 0; i < n_rows; ++i) {
            const int64_t first = k->all.P.row_start[i], end = k->all.P.row_start[i + 1];
            for (int64_t at = first; at < end; ++at)
                if (k->all.P.columns[at] < n && parts[k->all.P.columns[at]] == part)
                    column[i] += k->all.P.values[at];
            most = fmax(most, fabs(column[i]));
        }
        for (int64_t i = 0; i < n_rows; ++i) /* differences of neighbours cancel */
            column[i] = fabs(column[i]) > 1e-9 * most ? column[i] : 0;
        if (most > 1e-9)
            TRY(is_unseen(&p, k, column, &unseen, error));
        if (unseen)
            TRY(append_column(k, column, error));
    }
done:
    probe_free(&p);
    free(parts);
    free(is_joined);
    free(column);
    return status;
}

static double dot(int64_t n, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* v = v - P (P^T P)^-1 P^T v by conjugate gradients, whose matrix may be singular itself, as that of curls.
 *  part  |P (..)| / |v| */
static weft_status subtract(const kernel *k, double *v, double *part, weft_error *error) {
    static const double TOLERANCE = 1e-13;
    const int64_t n = k->all.P.n_rows, m = k->all.P.n_columns;
    double *lists = calloc((size_t)(5 * m + n) + 1, sizeof *lists);
    if (!lists)
        return weft_out_of_memory(error, "the null space");
    double *r = lists, *z = r + m, *p = z + m, *y = p + m, *q = y + m, *image = q + m;
    const double size = sqrt(dot(n, v, v));
    restrict_to(k, v, false, r);
    double rho = 0, first = -1;
    for (int64_t step = 0; step < 10 * m + 100; ++step) {
        double before = rho;
        for (int64_t j = 0; j < m; ++j)
            z[j] = k->is_in[j] ? r[j] / k->diagonal[j] : 0;
        rho = dot(m, r, z);
        first = first < 0 ? rho : first;
        if (!(rho > TOLERANCE * TOLERANCE * first))
            break;
        for (int64_t j = 0; j < m; ++j)
            p[j] = z[j] + (step > 0 ? rho / before : 0) * p[j];
        prolong(k, p, image);
        const double energy = dot(n, image, image);
        if (!(energy > 0))
            break;
        restrict_to(k, image, false, q);
        for (int64_t j = 0; j < m; ++j) {
            y[j] += rho / energy * p[j];
            r[j] -= rho / energy * q[j];
        }
    }
    prolong(k, y, image);
    *part = size > 0 ? sqrt(dot(n, image, image)) / size : 0;
    for (int64_t i = 0; i < n; ++i)
        v[i] -= image[i];
    free(lists);
    return WEFT_OK;
}

/* Auxiliary spaces in place of what cannot be singular. */
static weft_status choose(weft_linear *linear, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_choice *choice = &linear->choice;
    if (linear->options->preconditioner != WEFT_AUTO || choice->method != WEFT_METHOD_CG ||
        !weft_assembly_about(choice->assembly)->stores_matrix)
        goto done;
    TRY(weft_preconditioner_find("auxiliary", &choice->preconditioner, error));
    (void)snprintf(choice->preconditioner_reason, sizeof choice->preconditioner_reason,
                   "the matrix is singular, with a known null space");
done:
    return status;
}

weft_status weft_kernel_make(weft_assembled *system, weft_kernel **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fields *fields = system->fields;
    kernel *made = NULL;
    *out = NULL;
    if (fields->n > 1 || !weft_space_is_mapped(fields->space) || !system->is_symmetric ||
        !weft_element_is_shared(weft_space_element(fields->space)) ||
        weft_records_only(fields->context))
        goto done;
    made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "the null space"));
    TRY(weft_auxiliary_kernel(fields->space, fields->constrained, fields->n_constrained, &made->all,
                              error));
    TRY(find(system, made, error));
    if (made->n_in == 0)
        goto done;
    if (weft_space_element(made->all.space)->value_size == 1)
        TRY(add_constants(system, made, error));
    TRY(choose(&system->linear, error));
    *out = (weft_kernel *)made;
    made = NULL;
done:
    if (made)
        kernel_clear(made);
    free(made);
    return status;
}

void weft_kernel_free(weft_kernel **of) {
    if (!*of)
        return;
    kernel_clear((kernel *)*of);
    free(*of);
    *of = NULL;
}

static const char *name_of(const weft_assembled *system) {
    return weft_space_element(system->fields->space)->map == WEFT_MAP_COVARIANT ? "curl"
                                                                                : "divergence";
}

weft_status weft_kernel_project(weft_assembled *system, const weft_kernel *of, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fields *fields = system->fields;
    double part = 0, *b = system->b_values, *kept = NULL;
    TRY(weft_vector_pull(system->b, b, fields->n_dofs, error));
    kept = malloc((size_t)fields->n_constrained * sizeof *kept + 1);
    if (!kept)
        TRY(weft_out_of_memory(error, "the null space"));
    for (int64_t i = 0; i < fields->n_constrained; ++i) { /* what stands there is no load */
        kept[i] = b[fields->constrained[i]];
        b[fields->constrained[i]] = 0;
    }
    TRY(subtract((const kernel *)of, b, &part, error));
    for (int64_t i = 0; i < fields->n_constrained; ++i)
        b[fields->constrained[i]] = kept[i];
    TRY(weft_vector_push(system->b, b, fields->n_dofs, error));
    weft_log(fields->context->monitor, part > INCOMPATIBLE ? WEFT_LOG_WARNING : WEFT_LOG_INFO,
             "only the %s of u counts, %s, so that the load must not act on functions without "
             "one: %.1e of it did, and was taken off",
             name_of(system),
             ((const kernel *)of)->n_in + ((const kernel *)of)->all.n_constrained <
                     ((const kernel *)of)->all.P.n_columns
                 ? "in a part of the domain"
                 : "in the whole domain",
             part);
done:
    free(kept);
    return status;
}

weft_status weft_kernel_remove(weft_assembled *system, const weft_kernel *of, weft_error *error) {
    weft_status status = WEFT_OK;
    double part = 0;
    TRY(weft_vector_pull(system->u, system->u_values, system->fields->n_dofs, error));
    TRY(subtract((const kernel *)of, system->u_values, &part, error));
    TRY(weft_vector_push(system->u, system->u_values, system->fields->n_dofs, error));
done:
    return status;
}
