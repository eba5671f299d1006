/* The rivals on one mesh: products in both precisions, and the loops of conjugate gradients. */
#include "bench_cuda.h"
#include "bench_cuda_rival.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 100 };

/* Rows and columns of the boundary become those of the identity; the pattern stays. */
static double *reduced_values(const bench_case *c, const weft_pattern *pattern,
                              const double *values) {
    double *out = malloc((size_t)pattern->n_entries * sizeof *out + 1);
    bool *fixed = calloc((size_t)pattern->n_rows + 1, sizeof *fixed);
    for (int64_t i = 0; fixed && i < c->n_boundary; ++i)
        fixed[c->boundary[i]] = true;
    for (int64_t r = 0; out && fixed && r < pattern->n_rows; ++r)
        for (int64_t k = pattern->row_start[r]; k < pattern->row_start[r + 1]; ++k) {
            const int32_t column = pattern->columns[k];
            out[k] = fixed[r] || fixed[column] ? (double)(column == r) : values[k];
        }
    if (!fixed) {
        free(out);
        out = NULL;
    }
    free(fixed);
    return out;
}

static weft_status loops(bench_case *c, bench_rival_matrix *matrix, bool single,
                         weft_error *error) {
    static const char *const names[3] = {"rival A, host scalars", "rival C, graph",
                                         "rival D, hand-fused"};
    weft_status status = WEFT_OK;
    const weft_pattern *pattern = weft_operator_pattern(c->matrix);
    double *values = reduced_values(c, pattern, weft_memory_host(weft_operator_values(c->matrix)));
    if (!values)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    TRY(bench_rival_matrix_values(matrix, values, error));
    for (int loop = 0; loop < 3; ++loop) {
        double seconds = 0, residual = 0;
        bench_row row = bench_row_make(c, "CG", names[loop], single);
        bench_sizes sizes = c->sizes;
        sizes.real = single ? 4 : 8;
        const int n = c->sizes.nodes > 3e6 ? ITERATIONS / 2 : 2 * ITERATIONS;
        TRY(bench_rival_cg(matrix, (bench_rival_loop)loop, c->b, n,
                           c->run->options->repeats < 5 ? c->run->options->repeats : 5, &seconds,
                           &residual, error));
        row.seconds = seconds;
        row.bytes = bench_bytes_cg(&sizes, BENCH_KIND_CSR);
        if (!single) {
            c->cg_seconds[loop] = seconds;
            if (loop == 0)
                c->residual = residual;
            /* the loops agree among themselves */
            row.difference = residual / c->residual - 1;
            row.difference = row.difference < 0 ? -row.difference : row.difference;
            row.wrong = !(row.difference < 1e-9);
        }
        bench_rows_add(&c->run->rows, &row);
    }
done:
    free(values);
    return status;
}

static weft_status product(bench_case *c, bench_rival_matrix *matrix, bool single,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const char *algorithm = "";
    bench_row row = bench_row_make(c, "apply", "rival", single);
    bench_sizes sizes = c->sizes;
    double *y = malloc((size_t)c->mesh->n_nodes * sizeof *y);
    if (!y)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    TRY(bench_rival_product(matrix, c->v, c->run->options->repeats, &row.seconds, &algorithm,
                            error));
    TRY(bench_rival_apply(matrix, c->v, y, error));
    sizes.real = single ? 4 : 8;
    snprintf(row.subject, sizeof row.subject, "rival %s", algorithm);
    row.bytes = bench_bytes_apply(&sizes, BENCH_KIND_CSR);
    row.rate = c->sizes.nodes / row.seconds * 1e-9;
    row.difference = bench_difference(y, c->y, c->mesh->n_nodes);
    row.wrong = !(row.difference <= (single ? 1e-5 : 1e-12));
    c->product_seconds[single] = row.seconds;
    bench_rows_add(&c->run->rows, &row);
done:
    free(y);
    return status;
}

weft_status bench_rivals(bench_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const unsigned works = c->run->options->works;
    bench_rival_matrix *matrix = NULL;
    for (int single = 0; single < 2; ++single) {
        if (!c->run->options->precisions[single] || !(works & (BENCH_APPLY | BENCH_CG)))
            continue;
        TRY(bench_rival_matrix_make(c->run->rival, weft_operator_pattern(c->matrix),
                                    weft_memory_host(weft_operator_values(c->matrix)), single,
                                    &matrix, error));
        TRY(product(c, matrix, single, error));
        if (works & BENCH_CG)
            TRY(loops(c, matrix, single, error));
        bench_rival_matrix_free(&matrix);
    }
done:
    bench_rival_matrix_free(&matrix);
    return status;
}
