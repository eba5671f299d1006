/* The host's figures, each against its rival or its floor in one run: ratios count.
 *      bench_host [--quick]
 *      bench_host --setup [N [bisection|metis|none [DEVICE...]]] */
#include "bench_host.h"
#include "bench_host_rivals.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_short;

int bench_short(void) {
    return n_short;
}

void bench_line(const char *name, const char *what, double value, const char *unit, double ratio,
                double asked) {
    const bool is_short = asked > 0.0 && ratio < asked;
    n_short += is_short;
    printf("%-11s %-56s %9.3g %-9s", name, what, value, unit);
    if (ratio > 0.0)
        printf(" %7.2f x", ratio);
    if (asked > 0.0)
        printf("  (asked %.3g)%s", asked, is_short ? "  SHORT" : "");
    printf("\n");
    fflush(stdout);
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds, int n) {
    qsort(seconds, (size_t)n, sizeof *seconds, compare_doubles);
    return seconds[n / 2];
}

weft_status bench_pair(bench_task a, void *user_a, double *seconds_a, bench_task b, void *user_b,
                       double *seconds_b, weft_error *error) {
    weft_status status = WEFT_OK;
    double times_a[REPEATS], times_b[REPEATS];
    for (int i = -2; i < REPEATS; ++i) {
        double start = weft_clock();
        TRY(a(user_a, error));
        times_a[i < 0 ? 0 : i] = weft_clock() - start;
        start = weft_clock();
        if (b != NULL)
            TRY(b(user_b, error));
        times_b[i < 0 ? 0 : i] = weft_clock() - start;
    }
    *seconds_a = median(times_a, REPEATS);
    if (seconds_b != NULL)
        *seconds_b = median(times_b, REPEATS);
done:
    return status;
}

/* Copy bandwidth, both passes counted: the better of the plain loop and memcpy. */
static double copy_bandwidth(void) {
    const size_t n = 20u << 20;
    double *a = weft_array_make(n, sizeof *a), *b = weft_array_make(n, sizeof *b);
    double times[2][REPEATS];
    double best = 0.0;
    for (int i = 0; a != NULL && b != NULL && i < REPEATS; ++i) {
        double start = weft_clock();
        rival_copy(a, b, n);
        times[0][i] = weft_clock() - start;
        start = weft_clock();
        memcpy(b, a, n * sizeof *a);
        times[1][i] = weft_clock() - start;
    }
    if (a != NULL && b != NULL) {
        const double loop = median(times[0], REPEATS), library = median(times[1], REPEATS);
        best = 16.0 * (double)n / (loop < library ? loop : library);
    }
    free(a);
    free(b);
    return best;
}

static const char form_text[] = "parameter d = 2;\n"
                                "index cells, nodes;\n"
                                "connectivity dofs : cells -> nodes[d+1];\n"
                                "input x : real[d] over nodes;\n"
                                "J = jacobian(x[dofs]);\n"
                                "G = tform_dshape(J);\n"
                                "K = dshape_dot_dshape(G, J);\n";

static weft_status case_make(bench_case *c, int dimension, int64_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    c->name = dimension == 2 ? "triangles" : "tetrahedra";
    c->dimension = dimension;
    TRY(dimension == 2 ? weft_mesh_make_square(n, &c->mesh, error)
                       : weft_mesh_make_cube(n, &c->mesh, error));
    TRY(weft_connectivity_make(c->context.device, c->mesh->cells, c->mesh->n_cells, dimension + 1,
                               c->mesh->n_nodes, &c->dofs, error));
    TRY(weft_memory_wrap(c->context.device, c->mesh->x,
                         (size_t)(c->mesh->n_nodes * dimension) * sizeof(double), &c->x, error));
    c->inputs[0] = (weft_form_input){"x", c->x};
    c->parameters[0] = (weft_parameter){"d", dimension};
    c->form = (weft_form){.name = "stiffness",
                          .text = form_text,
                          .dofs = c->dofs,
                          .inputs = c->inputs,
                          .n_inputs = 1,
                          .parameters = c->parameters,
                          .n_parameters = 1};
    printf("\n%s: %lld cells, %lld nodes, double, one thread\n", c->name,
           (long long)c->mesh->n_cells, (long long)c->mesh->n_nodes);
done:
    return status;
}

static void case_free(bench_case *c) {
    weft_memory_free(&c->x);
    weft_connectivity_free(&c->dofs);
    weft_mesh_free(&c->mesh);
}

static weft_status run(bool quick, const char *bin_directory, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_device_options options = weft_device_options_default(NULL);
    const int64_t sizes[2] = {quick ? 200 : 500, quick ? 24 : 50};
    weft_device *device = NULL;
    weft_library *library = NULL;
    TRY(weft_device_open("host:1", &options, &device, error));
    TRY(weft_fem_library_make(&library, error));
    const double bandwidth = copy_bandwidth();
    printf("%s\ncopy bandwidth %.1f GB/s\n", weft_device_limits(device)->name, bandwidth * 1e-9);
    const weft_context context = {.device = device, .library = library, .plan = WEFT_PLAN_FUSED};
    printf("\nfunctions of formulas, a million elements, one thread\n");
    TRY(bench_functions(&context, error));
    for (int d = 2; d <= 3; ++d) {
        bench_case c = {.context = context, .copy_bandwidth = bandwidth};
        status = case_make(&c, d, sizes[d - 2], error);
        if (status == WEFT_OK)
            status = bench_local(&c, error);
        if (status == WEFT_OK)
            status = bench_operators(&c, error);
        if (status == WEFT_OK)
            status = bench_python(&c, sizes[d - 2], error);
        case_free(&c);
        if (status != WEFT_OK)
            goto done;
    }
    printf("\nwhole process\n");
    TRY(bench_process(bin_directory, error));
done:
    weft_library_free(&library);
    weft_device_free(&device);
    return status;
}

static int usage(int code) {
    printf("usage: bench_host [--quick]\n"
           "       bench_host --setup [N [bisection|metis|none [DEVICE...]]]\n"
           "       bench_host --version\n"
           "Medians of %d alternating runs of Weft and its rivals; see docs/measurements.md.\n",
           REPEATS);
    return code;
}

int main(int argc, char **argv) {
    weft_error error = {0};
    char directory[4096];
    const bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const bool setup = argc > 1 && strcmp(argv[1], "--setup") == 0;
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts("bench_host (Weft) " WEFT_VERSION);
        return 0;
    }
    if (argc > 1 && !quick && !setup)
        return usage(strcmp(argv[1], "--help") == 0 ? 0 : 2);
    snprintf(directory, sizeof directory, "%s", argv[0]);
    char *slash = strrchr(directory, '/');
    if (slash != NULL)
        *slash = '\0';
    else
        snprintf(directory, sizeof directory, ".");
    if ((setup ? bench_setup(argc - 2, argv + 2, &error) : run(quick, directory, &error)) !=
        WEFT_OK) {
        char text[4096];
        weft_error_text(&error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        return weft_status_exit_code(error.status);
    }
    if (!setup)
        printf("\n%d figure%s short of what was asked\n", n_short, n_short == 1 ? "" : "s");
    return 0;
}
