/* One mesh: what the host knows of it, the rivals on it, ours on it. */
#include "bench_cuda.h"
#include "bench_cuda_rival.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

weft_form bench_form(bench_case *c, weft_connectivity *dofs, weft_memory *x) {
    c->inputs[0] = (weft_form_input){"x", x};
    c->parameters[0] = (weft_parameter){"d", c->mesh->dimension};
    return (weft_form){.name = "poisson.weft",
                       .text = weft_fem_script("poisson.weft"),
                       .dofs = dofs,
                       .inputs = c->inputs,
                       .n_inputs = 1,
                       .product = c->mesh->dimension == 3 ? "stiffness_product.weft" : NULL,
                       .parameters = c->parameters,
                       .n_parameters = 1};
}

bench_row bench_row_make(const bench_case *c, const char *work, const char *subject, bool single) {
    bench_row row = {.shape = c->shape,
                     .precision = single ? "float" : "double",
                     .work = work,
                     .n_cells = c->mesh->n_cells,
                     .n_nodes = c->mesh->n_nodes,
                     .copy_bandwidth = c->run->copy_bandwidth,
                     .difference = -1};
    snprintf(row.subject, sizeof row.subject, "%s", subject);
    return row;
}

double bench_difference(const double *y, const double *wanted, int64_t n) {
    double apart = 0, size = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double difference = y[i] - wanted[i];
        apart += difference * difference;
        size += wanted[i] * wanted[i];
    }
    return sqrt(apart / size); /* NaN stays */
}

/* SplitMix64 (Steele, Lea and Flood 2014), in [-1, 1). */
static double random_value(uint64_t i) {
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-52 - 1;
}

static weft_status make_vectors(bench_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = c->mesh->n_nodes;
    c->v = weft_array_make((size_t)n, sizeof *c->v);
    c->y = weft_array_make((size_t)n, sizeof *c->y);
    c->b = weft_array_make((size_t)n, sizeof *c->b);
    if (!c->v || !c->y || !c->b) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(weft_mesh_group_nodes(c->mesh, -1, &c->boundary, &c->n_boundary, error));
    for (int64_t i = 0; i < n; ++i) {
        c->v[i] = random_value((uint64_t)i);
        c->b[i] = random_value((uint64_t)(i + n));
    }
    for (int64_t i = 0; i < c->n_boundary; ++i)
        c->b[c->boundary[i]] = 0;
done:
    return status;
}

/* The matrix and its product by Weft's host. */
static weft_status make_matrix(bench_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = c->mesh;
    weft_memory *v = NULL, *y = NULL;
    const size_t bytes = (size_t)mesh->n_nodes * sizeof(double);
    c->host = (weft_context){.device = c->run->host, .library = c->run->library};
    TRY(weft_connectivity_make(c->run->host, mesh->cells, mesh->n_cells, mesh->dimension + 1,
                               mesh->n_nodes, &c->host_dofs, error));
    TRY(weft_memory_wrap(c->run->host, mesh->x, bytes * (size_t)mesh->dimension, &c->host_x,
                         error));
    const weft_form form = bench_form(c, c->host_dofs, c->host_x);
    TRY(weft_operator_make(&c->host, WEFT_ASSEMBLY_CSR, &form, 1, &c->matrix, error));
    TRY(weft_operator_assemble(c->matrix, error));
    TRY(weft_memory_wrap(c->run->host, c->v, bytes, &v, error));
    TRY(weft_memory_wrap(c->run->host, c->y, bytes, &y, error));
    TRY(weft_operator_apply(c->matrix, v, y, error));
    c->sizes.entries = (double)weft_operator_pattern(c->matrix)->n_entries;
done:
    weft_memory_free(&v);
    weft_memory_free(&y);
    return status;
}

static weft_status make_device(bench_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = c->mesh;
    const size_t bytes = (size_t)mesh->n_nodes * sizeof(double);
    const weft_device_options options = weft_device_options_default(NULL);
    TRY(weft_device_open(c->run->options->device, &options, &c->device, error));
    c->context = (weft_context){.device = c->device, .library = c->run->library};
    TRY(weft_connectivity_make(c->device, mesh->cells, mesh->n_cells, mesh->dimension + 1,
                               mesh->n_nodes, &c->dofs, error));
    TRY(weft_memory_wrap(c->device, mesh->x, bytes * (size_t)mesh->dimension, &c->x, error));
    TRY(weft_memory_wrap(c->device, c->v, bytes, &c->device_v, error));
    TRY(weft_memory_make(c->device, bytes, &c->device_y, error));
    TRY(weft_memory_wrap(c->device, c->b, bytes, &c->device_b, error));
    c->form = bench_form(c, c->dofs, c->x);
done:
    return status;
}

static void free_device(bench_case *c) {
    weft_memory_free(&c->device_v);
    weft_memory_free(&c->device_y);
    weft_memory_free(&c->device_b);
    weft_memory_free(&c->x);
    weft_connectivity_free(&c->dofs);
    weft_device_free(&c->device);
}

static void case_free(bench_case *c) {
    free_device(c);
    weft_operator_free(&c->matrix);
    weft_memory_free(&c->host_x);
    weft_connectivity_free(&c->host_dofs);
    weft_mesh_free(&c->mesh);
    free(c->v);
    free(c->y);
    free(c->b);
    free(c->boundary);
    c->v = c->y = c->b = NULL;
    c->boundary = NULL;
}

static void report_set_up(bench_case *c, const double seconds[2], bool shuffled) {
    static const char *const what[2] = {"tile", "order"};
    for (int i = shuffled ? 1 : 0; i < 2; ++i) {
        bench_row row = bench_row_make(c, what[i], shuffled ? "host, shuffled" : "host", false);
        row.seconds = c->run->counts ? seconds[i] : 0;
        bench_rows_add(&c->run->rows, &row);
    }
    c->order_seconds = seconds[1];
}

static weft_status case_make(bench_case *c, int dimension, double n_cells, bool shuffled,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    double seconds[2];
    fprintf(stderr, "%s, %.3g cells%s ...\n", c->shape, n_cells, shuffled ? ", shuffled" : "");
    TRY(bench_mesh_make(&c->run->tiles, c->run->host, dimension, n_cells, shuffled, &c->mesh,
                        seconds, error));
    c->sizes = (bench_sizes){.dimension = dimension,
                             .cells = (double)c->mesh->n_cells,
                             .nodes = (double)c->mesh->n_nodes,
                             .entries = (dimension == 3 ? 15.0 : 7.0) * (double)c->mesh->n_nodes,
                             .real = 8};
    report_set_up(c, seconds, shuffled);
    TRY(make_vectors(c, error));
    if (c->run->counts)
        TRY(make_matrix(c, error));
done:
    return status;
}

/* The same mesh once more, its nodes and cells in any order and ordered again. */
static weft_status run_shuffled(bench_case *ordered, int dimension, double n_cells,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    bench_case c = {.run = ordered->run, .shape = ordered->shape};
    memcpy(c.apply_seconds, ordered->apply_seconds, sizeof c.apply_seconds);
    TRY(case_make(&c, dimension, n_cells, true, error));
    TRY(make_device(&c, error));
    TRY(bench_operators(&c, true, error));
done:
    case_free(&c);
    return status;
}

weft_status bench_case_run(bench_run *run, int dimension, double n_cells, weft_error *error) {
    weft_status status = WEFT_OK;
    const unsigned works = run->options->works;
    bench_case c = {.run = run, .shape = dimension == 2 ? "triangles" : "tetrahedra"};
    TRY(case_make(&c, dimension, n_cells, false, error));
    if (run->rival && !bench_rival_missing(run->rival))
        TRY(bench_rivals(&c, error));
    TRY(make_device(&c, error));
    TRY(bench_programs(&c, error));
    if (run->options->precisions[0])
        TRY(bench_operators(&c, false, error));
    case_free(&c);
    if (works & BENCH_SHUFFLE && works & BENCH_APPLY && run->options->precisions[0])
        TRY(run_shuffled(&c, dimension, n_cells, error));
done:
    case_free(&c);
    return status;
}
