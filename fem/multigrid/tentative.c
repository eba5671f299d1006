/* Makes the tentative prolongation of aggregates from the near-nullspace. */
#include "fem/multigrid/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 256 };
#define DEPENDENT 1e-8 /* a vector whose other part is smaller, relative to its norm, is dropped */

typedef struct tentative {
    weft_coarsening *level;
    const weft_node_sets *aggregates;
    int32_t *rank; /* [n_aggregates] */
    double *R;     /* [n_aggregates][n_modes][n_modes] rows of R, `rank` each */
    double *x;     /* [n_aggregates][dimension], or NULL */
} tentative;

/* The rows of an aggregate, one after the other: r = {node index in the aggregate, row}. */
typedef struct row_cursor {
    const tentative *t;
    int64_t node, last_node; /* indices of aggregates->nodes */
    int64_t row;
} row_cursor;

static row_cursor rows_of(const tentative *t, int64_t aggregate) {
    return (row_cursor){t, t->aggregates->start[aggregate], t->aggregates->start[aggregate + 1],
                        -1};
}

/* The next row of the near-nullspace; NULL at the end. Those of constrained dofs are zero. */
static double *next_row(row_cursor *cursor) {
    const weft_coarsening *level = cursor->t->level;
    while (cursor->node < cursor->last_node) {
        int64_t node = cursor->t->aggregates->nodes[cursor->node];
        int64_t first = weft_node_row(level, node), last = weft_node_row(level, node + 1);
        cursor->row = cursor->row < first ? first : cursor->row + 1;
        if (cursor->row < last)
            return level->modes + cursor->row * level->n_modes;
        ++cursor->node;
        cursor->row = -1;
    }
    return NULL;
}

/* b.q of two columns. */
static double dot(const tentative *t, int64_t aggregate, int b, int q) {
    row_cursor cursor = rows_of(t, aggregate);
    double sum = 0;
    for (double *row; (row = next_row(&cursor));)
        sum += row[b] * row[q];
    return sum;
}

/* Modified Gram-Schmidt, twice, in place: column `rank` becomes the next vector of Q. */
static void orthonormalise(const tentative *t, int64_t aggregate) {
    const int m = t->level->n_modes;
    double *R = t->R + aggregate * m * m;
    int rank = 0;
    memset(R, 0, (size_t)(m * m) * sizeof *R);
    for (int b = 0; b < m; ++b) {
        double before = sqrt(dot(t, aggregate, b, b)), norm;
        for (int pass = 0; pass < 2; ++pass)
            for (int q = 0; q < rank; ++q) {
                double r = dot(t, aggregate, b, q);
                row_cursor cursor = rows_of(t, aggregate);
                for (double *row; (row = next_row(&cursor));)
                    row[b] -= r * row[q];
                R[q * m + b] += r;
            }
        norm = sqrt(dot(t, aggregate, b, b));
        if (!(norm > DEPENDENT * before))
            continue;
        row_cursor cursor = rows_of(t, aggregate);
        for (double *row; (row = next_row(&cursor));)
            row[rank] = row[b] / norm;
        R[rank++ * m + b] = norm;
    }
    t->rank[aggregate] = rank;
}

static void mean_of_nodes(const tentative *t, int64_t aggregate) {
    const weft_node_sets *sets = t->aggregates;
    int d = t->level->dimension;
    for (int c = 0; c < d; ++c) {
        double sum = 0;
        for (int64_t k = sets->start[aggregate]; k < sets->start[aggregate + 1]; ++k)
            sum += t->level->x[(int64_t)sets->nodes[k] * d + c];
        t->x[aggregate * d + c] =
            sum / (double)(sets->start[aggregate + 1] - sets->start[aggregate]);
    }
}

static void chunk_aggregates(void *user, int64_t chunk) {
    const tentative *t = user;
    int64_t last = weft_chunk_start(t->aggregates->n, chunk + 1, CHUNKS);
    for (int64_t a = weft_chunk_start(t->aggregates->n, chunk, CHUNKS); a < last; ++a) {
        orthonormalise(t, a);
        if (t->x)
            mean_of_nodes(t, a);
    }
}

/* Coarse dofs are numbered by aggregates. With one mode, an aggregate is a coarse dof. */
static weft_status number_rows(const tentative *t, weft_coarsening *coarse, int64_t *n_rows,
                               weft_error *error) {
    const int m = t->level->n_modes;
    int64_t row = 0, n = t->aggregates->n;
    coarse->node_start = malloc((size_t)(n + 1) * sizeof *coarse->node_start);
    coarse->node_of = malloc((size_t)(n * m + 1) * sizeof *coarse->node_of);
    if (!coarse->node_start || !coarse->node_of)
        return weft_out_of_memory(error, "a prolongation");
    for (int64_t a = 0; a < n; ++a) {
        coarse->node_start[a] = (int32_t)row;
        for (int r = 0; r < t->rank[a]; ++r, ++row) {
            coarse->node_of[row] = (int32_t)a;
            memmove(t->R + row * m, t->R + (a * m + r) * m, (size_t)m * sizeof *t->R);
        }
    }
    coarse->node_start[n] = (int32_t)row;
    if (m == 1 && row == n) {
        free(coarse->node_start);
        free(coarse->node_of);
        coarse->node_start = coarse->node_of = NULL;
    }
    *n_rows = row;
    return WEFT_OK;
}

weft_status weft_tentative_make(weft_coarsening *level, const weft_node_sets *aggregates,
                                weft_coarsening *coarse, int64_t *n_coarse_rows,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const int m = level->n_modes, d = level->dimension;
    size_t n = (size_t)aggregates->n;
    tentative t = {.level = level, .aggregates = aggregates};
    t.rank = malloc((n + 1) * sizeof *t.rank);
    t.R = malloc((n * (size_t)(m * m) + 1) * sizeof *t.R);
    if (level->x)
        t.x = malloc((n * (size_t)d + 1) * sizeof *t.x);
    if (!t.rank || !t.R || (level->x && !t.x))
        TRY(weft_out_of_memory(error, "a prolongation"));
    TRY(weft_device_for(level->device, CHUNKS, chunk_aggregates, &t, error));
    TRY(number_rows(&t, coarse, n_coarse_rows, error));
    coarse->n_nodes = aggregates->n;
    coarse->dimension = d;
    coarse->n_modes = m;
    coarse->modes = t.R;
    coarse->x = coarse->own_x = t.x;
    t.R = t.x = NULL;
done:
    free(t.rank);
    free(t.R);
    free(t.x);
    return status;
}
