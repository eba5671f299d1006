/* A large Poisson problem from tiles to solution, phase by phase. On a box of sides a, b, c
 *      u = sin(pi x/a) sin(pi y/b) sin(pi z/c),   -div grad u = pi^2 (1/a^2 + 1/b^2 + 1/c^2) u
 * with u = 0 on the boundary: what comes out is compared with what is known. */
#include "apps/common/support.h"
#include "bench_cuda.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef struct bench_solve {
    bench_run *run;
    weft_device *device;
    weft_context context;
    weft_mesh *mesh;
    double sides[3];
    int32_t *boundary;
    int64_t n_boundary;
    weft_connectivity *dofs;
    weft_memory *x, *b, *u;
    weft_form_input inputs[1];
    weft_parameter parameters[1];
    weft_operator *op;
    double last; /* clock at the end of the last phase */
} bench_solve;

static void report(bench_solve *s, const char *phase) {
    char text[32], bytes[32];
    (void)weft_device_wait(s->device, NULL);
    const double now = weft_clock();
    printf("  %-44s %12s   %s on the device\n", phase, app_print_seconds(now - s->last, text),
           app_print_bytes((double)weft_device_bytes(s->device), bytes));
    fflush(stdout);
    s->last = weft_clock();
}

static double side_of(const weft_mesh *mesh, int axis) {
    double high = 0;
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        high = fmax(high, mesh->x[i * mesh->dimension + axis]);
    return high;
}

static weft_status make_mesh(bench_solve *s, double n_cells, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = s->run->options->shapes[3] ? 3 : 2;
    double seconds[2];
    char text[2][32];
    TRY(bench_mesh_make(&s->run->tiles, s->run->host, d, n_cells, false, &s->mesh, seconds, error));
    for (int k = 0; k < d; ++k)
        s->sides[k] = side_of(s->mesh, k);
    TRY(weft_mesh_group_nodes(s->mesh, -1, &s->boundary, &s->n_boundary, error));
    printf("%s: %lld nodes, %lld cells, tiled in %s, ordered in %s\n", s->mesh->source,
           (long long)s->mesh->n_nodes, (long long)s->mesh->n_cells,
           app_print_seconds(seconds[0], text[0]), app_print_seconds(seconds[1], text[1]));
done:
    return status;
}

static weft_form form_of(bench_solve *s, const char *name) {
    s->inputs[0] = (weft_form_input){"x", s->x};
    s->parameters[0] = (weft_parameter){"d", s->mesh->dimension};
    return (weft_form){.name = name,
                       .text = weft_fem_script(name),
                       .dofs = s->dofs,
                       .inputs = s->inputs,
                       .n_inputs = 1,
                       .parameters = s->parameters,
                       .n_parameters = 1};
}

static weft_status make_load(bench_solve *s, weft_error *error) {
    static const char axes[3] = {'x', 'y', 'z'};
    weft_status status = WEFT_OK;
    const char *output = "b";
    double factor = 0;
    weft_text text = {0};
    for (int k = 0; k < s->mesh->dimension; ++k)
        factor += pi * pi / (s->sides[k] * s->sides[k]);
    weft_text_add(&text, "%.17g", factor);
    for (int k = 0; k < s->mesh->dimension; ++k)
        weft_text_add(&text, "*sin(%.17g*%c)", pi / s->sides[k], axes[k]);
    if (text.failed) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    const weft_expression source = {"source", text.data, "--solve-large"};
    weft_form form = form_of(s, "load.weft");
    form.expressions = &source;
    form.n_expressions = 1;
    TRY(weft_form_run(&s->context, &form,
                      &(weft_form_outputs){&output, &s->b, 1, "cells", s->mesh->n_cells}, error));
done:
    weft_text_free(&text);
    return status;
}

/* Largest difference from the solution at the nodes. */
static weft_status compare(bench_solve *s, double *worst, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = s->mesh;
    double *u = malloc((size_t)mesh->n_nodes * sizeof *u);
    if (!u)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    TRY(weft_memory_read(s->u, 0, u, (size_t)mesh->n_nodes * sizeof *u, error));
    *worst = 0;
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        double wanted = 1;
        for (int k = 0; k < mesh->dimension; ++k)
            wanted *= sin(pi * mesh->x[i * mesh->dimension + k] / s->sides[k]);
        const double apart = fabs(u[i] - wanted);
        if (!(apart <= *worst)) /* NaN stays */
            *worst = apart;
    }
done:
    free(u);
    return status;
}

/* The first assembly that is asked for, or that is there and fits. */
static weft_status make_operator(bench_solve *s, weft_error *error) {
    static const char *const best[] = {"edge", "csr", "matrix-free"};
    weft_status status = WEFT_OK;
    const weft_form form = form_of(s, "poisson.weft");
    weft_assembly assembly = s->run->options->assemblies[0];
    const bool asked = s->run->options->asked_assemblies;
    for (size_t i = 0; i < (asked ? 1 : sizeof best / sizeof *best); ++i) {
        if (!asked && weft_assembly_find(best[i], &assembly, NULL) != WEFT_OK)
            continue;
        status = weft_operator_make(&s->context, assembly, &form, 1, &s->op, error);
        if (status != WEFT_ERROR_UNSUPPORTED && status != WEFT_ERROR_MEMORY)
            break;
        printf("  %s: %s\n", weft_assembly_name(assembly), error ? error->message : "refused");
    }
    TRY(status);
    char phase[64];
    snprintf(phase, sizeof phase, "operator %s, compiling too", weft_assembly_name(assembly));
    report(s, phase);
    TRY(weft_operator_assemble(s->op, error));
    report(s, "assembly");
done:
    return status;
}

static weft_status solve(bench_solve *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cg_result result = {0};
    double worst = 0;
    const weft_cg_options options = {.size = sizeof options,
                                     .jacobi = true,
                                     .tolerance = 1e-8,
                                     .max_iterations = 20000,
                                     .constrained = s->boundary,
                                     .n_constrained = s->n_boundary};
    const double start = weft_clock();
    TRY(weft_cg_solve(&s->context, s->op, s->b, s->u, &options, &result, error));
    TRY(weft_device_wait(s->device, error));
    const double seconds = weft_clock() - start;
    report(s, "conjugate gradients");
    TRY(compare(s, &worst, error));
    char bytes[32];
    printf("  %s: %d iterations, %.3g ms each, |r|/|b| %.2e, largest error %.2e, at most %s on the "
           "device\n",
           weft_cg_outcome_name(result.outcome), result.iterations,
           1e3 * seconds / (result.iterations > 0 ? result.iterations : 1), result.residual, worst,
           app_print_bytes((double)weft_device_bytes_peak(s->device), bytes));
    /* linear elements: O(h^2), h of the order of n^(-1/d) in parts of the box */
    const double h = pow((double)s->mesh->n_nodes, -1.0 / s->mesh->dimension);
    if (result.outcome != WEFT_CG_CONVERGED || !(worst < 10 * h * h)) {
        printf("  WRONG\n");
        s->run->rows.n_wrong += 1;
    }
done:
    free(result.history);
    return status;
}

weft_status bench_solve_large(bench_run *run, double n_cells, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_solve s = {.run = run};
    const weft_device_options options = weft_device_options_default(NULL);
    TRY(weft_device_open(run->options->device, &options, &s.device, error));
    s.context = (weft_context){.device = s.device, .library = run->library};
    TRY(make_mesh(&s, n_cells, error));
    const weft_mesh *mesh = s.mesh;
    const size_t bytes = (size_t)mesh->n_nodes * sizeof(double);
    s.last = weft_clock();
    TRY(weft_connectivity_make(s.device, mesh->cells, mesh->n_cells, mesh->dimension + 1,
                               mesh->n_nodes, &s.dofs, error));
    TRY(weft_memory_wrap(s.device, mesh->x, bytes * (size_t)mesh->dimension, &s.x, error));
    TRY(weft_memory_make(s.device, bytes, &s.b, error));
    TRY(weft_memory_make(s.device, bytes, &s.u, error));
    report(&s, "mesh to the device");
    TRY(make_load(&s, error));
    report(&s, "right-hand side, compiling too");
    TRY(make_operator(&s, error));
    if (run->counts)
        TRY(solve(&s, error));
done:
    weft_operator_free(&s.op);
    weft_memory_free(&s.x);
    weft_memory_free(&s.b);
    weft_memory_free(&s.u);
    weft_connectivity_free(&s.dofs);
    weft_device_free(&s.device);
    weft_mesh_free(&s.mesh);
    free(s.boundary);
    return status;
}
