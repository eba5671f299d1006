/* Scripts run as programs: local assembly in both precisions, and in float, which operators do not
 * have, the product that recomputes. */
#include "bench_cuda.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct program_run {
    bench_case *c;
    bool single;
    weft_compilation *compilation;
    weft_program *program;
    weft_memory *x, *v, *y; /* of the precision; x is the case's own in double */
} program_run;

static weft_status run_program(void *user, weft_error *error) {
    return weft_program_run(((program_run *)user)->program, error);
}

/* The array as the precision has it, on the device. */
static weft_status push(bench_case *c, const double *values, int64_t n, bool single,
                        weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)n * (single ? sizeof(float) : sizeof(double));
    float *narrow = NULL;
    TRY(weft_memory_make(c->device, bytes, out, error));
    if (!single) {
        TRY(weft_memory_write(*out, 0, values, bytes, error));
        goto done;
    }
    narrow = malloc(bytes + 1);
    if (!narrow) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    for (int64_t i = 0; i < n; ++i)
        narrow[i] = (float)values[i];
    TRY(weft_memory_write(*out, 0, narrow, bytes, error));
done:
    free(narrow);
    return status;
}

static weft_status make(program_run *r, const char *suffix, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_case *c = r->c;
    const int d = c->mesh->dimension;
    const weft_fragment fragments[2] = {{"poisson.weft", weft_fem_script("poisson.weft")},
                                        {suffix, weft_fem_script(suffix)}};
    const weft_compile_options options = {.size = sizeof options,
                                          .single = r->single,
                                          .parameters = c->parameters,
                                          .n_parameters = 1};
    TRY(weft_compile(c->run->library, weft_device_limits(c->device), fragments, 2, &options,
                     &r->compilation, error));
    TRY(weft_program_make(c->device, r->compilation, &r->program, error));
    TRY(weft_program_bind_connectivity(r->program, "dofs", c->dofs, error));
    TRY(push(c, c->mesh->x, c->mesh->n_nodes * d, r->single, &r->x, error));
    TRY(weft_program_bind(r->program, "x", r->x, error));
done:
    return status;
}

static void clear(program_run *r) {
    weft_program_free(&r->program);
    weft_compilation_free(&r->compilation);
    weft_memory_free(&r->x);
    weft_memory_free(&r->v);
    weft_memory_free(&r->y);
}

static weft_status timed(program_run *r, bench_row *row, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_timer *timer = NULL;
    TRY(weft_timer_make(r->c->device, &timer, error));
    TRY(bench_measure(bench_timer_timing_loop(timer), run_program, r, r->c->run->options->repeats,
                      &row->seconds, error));
    if (!r->c->run->counts)
        row->seconds = 0;
done:
    weft_timer_free(&timer);
    return status;
}

/* ---- local assembly: compared with the formula |T| grad phi_i . grad phi_j on some cells -------
 */

/* A coordinate as the device has it: what rounding it to float does to a cell is not the kernel's.
 */
static double coordinate(const weft_mesh *mesh, int32_t node, int k, bool single) {
    const double x = mesh->x[(int64_t)node * mesh->dimension + k];
    return single ? (double)(float)x : x;
}

/* Gradients of the d+1 shape functions, each times d! |T|, from the normals of the facets. */
static double cell_gradients(const weft_mesh *mesh, int64_t cell, bool single, double g[4][3]) {
    const int d = mesh->dimension;
    const int32_t *nodes = mesh->cells + cell * (d + 1);
    double e[3][3] = {{0}};
    for (int i = 0; i < d; ++i)
        for (int k = 0; k < d; ++k)
            e[i][k] =
                coordinate(mesh, nodes[i + 1], k, single) - coordinate(mesh, nodes[0], k, single);
    if (d == 2)
        e[2][2] = 1; /* a prism of height 1 */
    double volume = 0;
    for (int i = 0; i < 3; ++i) {
        const double *a = e[(i + 1) % 3], *b = e[(i + 2) % 3];
        for (int k = 0; k < 3; ++k)
            g[i + 1][k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
    for (int k = 0; k < 3; ++k) {
        volume += e[0][k] * g[1][k];
        g[0][k] = 0;
        for (int i = 1; i <= d; ++i)
            g[0][k] -= g[i][k];
    }
    return volume;
}

static double compare_cell(const program_run *r, const weft_mesh *mesh, int64_t cell,
                           const char *block, int lanes) {
    const int width = mesh->dimension + 1;
    const double factor = mesh->dimension == 2 ? 2 : 6;
    double g[4][3], worst = 0, size = 0;
    const double volume = cell_gradients(mesh, cell, r->single, g);
    for (int i = 0; i < width; ++i)
        for (int j = i; j < width; ++j) {
            const size_t at = (size_t)((i * width - i * (i + 1) / 2 + j) * lanes + cell % lanes);
            double wanted = 0, found;
            float narrow;
            for (int k = 0; k < 3; ++k)
                wanted += g[i][k] * g[j][k] / (factor * volume);
            memcpy(&narrow, block + at * sizeof narrow, sizeof narrow);
            if (r->single)
                found = (double)narrow;
            else
                memcpy(&found, block + at * sizeof found, sizeof found);
            size = fmax(size, fabs(wanted));
            worst = isnan(found) ? INFINITY : fmax(worst, fabs(found - wanted));
        }
    return worst / size;
}

/* 1000 cells all over the mesh, from [block][entry of the upper triangle][lane]. */
static weft_status compare_local(const program_run *r, bench_row *row, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = r->c->mesh;
    const int width = mesh->dimension + 1, lanes = weft_program_lanes(r->program);
    const size_t bytes = (size_t)(width * (width + 1) / 2 * lanes) * (r->single ? 4 : 8);
    const weft_memory *local = weft_program_result(r->program, "S");
    char *block = malloc(bytes);
    if (!block || !local) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "no local matrices to look at");
        goto done;
    }
    row->difference = 0;
    for (int64_t i = 0; i < 1000; ++i) {
        const int64_t cell = i * (mesh->n_cells - 1) / 999;
        TRY(weft_memory_read(local, (size_t)(cell / lanes) * bytes, block, bytes, error));
        row->difference = fmax(row->difference, compare_cell(r, mesh, cell, block, lanes));
    }
    row->wrong = !(row->difference <= (r->single ? 1e-4 : 1e-12));
done:
    free(block);
    return status;
}

static weft_status local(bench_case *c, bool single, weft_error *error) {
    weft_status status = WEFT_OK;
    program_run r = {.c = c, .single = single};
    bench_row row = bench_row_make(c, "local", "stored_upper.weft", single);
    bench_sizes sizes = c->sizes;
    sizes.real = single ? 4 : 8;
    row.bytes = bench_bytes_local(&sizes);
    if (bench_bytes_device(&sizes, BENCH_KIND_LMA) >
        0.95 * (double)weft_device_limits(c->device)->memory_bytes) {
        snprintf(row.note, sizeof row.note, "skipped: not enough memory on the device");
        bench_rows_add(&c->run->rows, &row);
        return WEFT_OK;
    }
    TRY(make(&r, "stored_upper.weft", error));
    TRY(timed(&r, &row, error));
    if (row.seconds > 0)
        row.rate = sizes.cells / row.seconds * 1e-9;
    if (c->run->counts)
        TRY(compare_local(&r, &row, error));
    bench_rows_add(&c->run->rows, &row);
done:
    clear(&r);
    return status;
}

/* ---- the product that recomputes, in float --------------------------------------------------- */

static weft_status compare_product(program_run *r, bench_row *row, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = r->c->mesh->n_nodes;
    float *narrow = malloc((size_t)n * sizeof *narrow);
    double *y = malloc((size_t)n * sizeof *y);
    if (!narrow || !y) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(run_program(r, error));
    TRY(weft_memory_read(r->y, 0, narrow, (size_t)n * sizeof *narrow, error));
    for (int64_t i = 0; i < n; ++i)
        y[i] = (double)narrow[i];
    row->difference = bench_difference(y, r->c->y, n);
    /* coordinates rounded to float: their differences lose what the mesh is finer than its box */
    row->wrong = !(row->difference <= 1e-3);
done:
    free(narrow);
    free(y);
    return status;
}

static weft_status product(bench_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    program_run r = {.c = c, .single = true};
    bench_row row = bench_row_make(c, "apply", "matrix-free", true);
    bench_sizes sizes = c->sizes;
    sizes.real = 4;
    TRY(make(&r, "product.weft", error));
    TRY(push(c, c->v, c->mesh->n_nodes, true, &r.v, error));
    TRY(weft_memory_make(c->device, (size_t)c->mesh->n_nodes * sizeof(float), &r.y, error));
    TRY(weft_program_bind(r.program, "v", r.v, error));
    TRY(weft_program_bind(r.program, "y", r.y, error));
    if (c->run->counts)
        TRY(compare_product(&r, &row, error));
    TRY(timed(&r, &row, error));
    row.bytes = bench_bytes_apply(&sizes, BENCH_KIND_FREE);
    if (row.seconds > 0)
        row.rate = sizes.nodes / row.seconds * 1e-9;
    row.rival_seconds = c->product_seconds[1];
    if (row.rival_seconds > 0)
        snprintf(row.rival, sizeof row.rival, "cuSPARSE");
    bench_rows_add(&c->run->rows, &row);
done:
    clear(&r);
    return status;
}

/* ---- Addto in float -------------------------------------------------------------------------- */

/* The values against the host's. */
static weft_status compare_values(const program_run *r, const weft_memory *memory, bench_row *row,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_operator_pattern(r->c->matrix)->n_entries;
    const double *wanted = weft_memory_host(weft_operator_values(r->c->matrix));
    float *narrow = malloc((size_t)n * sizeof *narrow + 1);
    double *values = malloc((size_t)n * sizeof *values + 1);
    if (!narrow || !values) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(weft_memory_read(memory, 0, narrow, (size_t)n * sizeof *narrow, error));
    for (int64_t i = 0; i < n; ++i)
        values[i] = (double)narrow[i];
    row->difference = bench_difference(values, wanted, n);
    row->wrong = !(row->difference <= 1e-3);
done:
    free(narrow);
    free(values);
    return status;
}

static weft_status addto(bench_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    program_run r = {.c = c, .single = true};
    bench_row row = bench_row_make(c, "Addto", "matrix.weft", true);
    bench_sizes sizes = c->sizes;
    weft_pattern *pattern = NULL;
    weft_memory *positions = NULL, *values = NULL;
    sizes.real = 4;
    TRY(make(&r, "matrix.weft", error));
    TRY(weft_pattern_make(c->device, c->dofs, weft_program_lanes(r.program), &pattern, &positions,
                          error));
    TRY(weft_memory_make(c->device, (size_t)pattern->n_entries * sizeof(float), &values, error));
    TRY(weft_program_bind_matrix(r.program, "A", values, positions, error));
    TRY(timed(&r, &row, error));
    row.bytes = bench_bytes_addto(&sizes);
    if (row.seconds > 0)
        row.rate = sizes.cells / row.seconds * 1e-9;
    if (c->run->counts)
        TRY(compare_values(&r, values, &row, error));
    bench_rows_add(&c->run->rows, &row);
done:
    weft_memory_free(&values);
    weft_memory_free(&positions);
    weft_pattern_free(&pattern);
    clear(&r);
    return status;
}

/* What there is no interface for is said, not left out silently. */
static void report_missing(bench_case *c) {
    bench_row row = bench_row_make(c, "CG", "-", true);
    snprintf(row.note, sizeof row.note, "skipped: operators and their CG are in double alone");
    bench_rows_add(&c->run->rows, &row);
}

weft_status bench_programs(bench_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const bench_options *options = c->run->options;
    for (int single = 0; single < 2; ++single)
        if (options->works & BENCH_LOCAL && options->precisions[single])
            TRY(local(c, single, error));
    if (options->works & BENCH_ADDTO && options->precisions[1])
        TRY(addto(c, error));
    if (options->works & BENCH_APPLY && options->precisions[1])
        TRY(product(c, error));
    if (options->works & BENCH_CG && options->precisions[1])
        report_missing(c);
done:
    return status;
}
