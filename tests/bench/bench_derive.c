/* Derived quantities beside products: bench_derive [N], on square:N (default 700). Medians of alternate
 * runs on the host, copies of the results included, and their ratios to a matrix-free product. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 11, CASES = 6 };

typedef struct bench {
    weft_context context;
    weft_mesh *mesh;
    weft_space *space;
    weft_memory *u, *y;
    double *u_values, *y_values;
    weft_bound_form form;
    weft_operator *operators[2]; /* matrix-free, csr */
    weft_derive *derived[CASES - 2];
} bench;

static const char *const names[CASES] = {"product, matrix-free", "product, csr",
                                         "flux per cell",        "flux at nodes, lumped",
                                         "integral over cells",  "integral over the boundary"};

static weft_status make_operators(bench *b, weft_error *error) {
    static const weft_assembly assemblies[] = {WEFT_ASSEMBLY_MATRIX_FREE, WEFT_ASSEMBLY_CSR};
    weft_status status = WEFT_OK;
    for (int i = 0; i < 2; ++i) {
        TRY(weft_operator_make(&b->context, assemblies[i], &b->form.form, 1, &b->operators[i],
                               error));
        TRY(weft_operator_assemble(b->operators[i], error));
    }
done:
    return status;
}

static weft_status make_derived(bench *b, weft_error *error) {
    static const weft_derived_quantity quantities[CASES - 2] = {
        {WEFT_DERIVE_FIELD, "flux", NULL, "-grad(u)", "flux"},
        {WEFT_DERIVE_FIELD, "flux", NULL, "-grad(u)", "flux"},
        {WEFT_DERIVE_INTEGRAL, "content", NULL, "u", "content"},
        {WEFT_DERIVE_INTEGRAL, "heat", "boundary", "dot(grad(u), normal)", "heat"}};
    weft_status status = WEFT_OK;
    for (int i = 0; i < CASES - 2; ++i) {
        const weft_derive_problem problem = {.space = b->space,
                                             .cells = &b->form.form,
                                             .u = b->u,
                                             .projection =
                                                 i == 1 ? WEFT_PROJECT_LUMPED : WEFT_PROJECT_NONE};
        TRY(weft_derive_make(&b->context, &problem, &quantities[i], 1, &b->derived[i], error));
    }
done:
    return status;
}

static weft_status bench_make(bench *b, int64_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_mesh_make_square(n, &b->mesh, error));
    TRY(weft_space_make(b->context.device, b->mesh, WEFT_ELEMENT_P1, 1, &b->space, error));
    const int64_t nodes = weft_space_nodes(b->space);
    TRY(weft_vector_make(b->context.device, nodes, &b->u_values, &b->u, error));
    TRY(weft_vector_make(b->context.device, nodes, &b->y_values, &b->y, error));
    for (int64_t i = 0; i < nodes; ++i)
        b->u_values[i] = b->mesh->x[2 * i] * b->mesh->x[2 * i + 1];
    TRY(weft_vector_push(b->u, b->u_values, nodes, error));
    TRY(weft_form_ship(b->space, "poisson.weft", weft_space_cells(b->space), &b->form, error));
    TRY(make_operators(b, error));
    TRY(make_derived(b, error));
done:
    return status;
}

static void bench_free(bench *b) {
    for (int i = 0; i < CASES - 2; ++i)
        weft_derive_free(&b->derived[i]);
    for (int i = 0; i < 2; ++i)
        weft_operator_free(&b->operators[i]);
    weft_memory_free(&b->u);
    weft_memory_free(&b->y);
    free(b->u_values);
    free(b->y_values);
    weft_space_free(&b->space);
    weft_mesh_free(&b->mesh);
}

static int compare(const void *a, const void *b) {
    const double *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

static weft_status measure(bench *b, weft_error *error) {
    weft_status status = WEFT_OK;
    double seconds[CASES][RUNS];
    for (int run = -1; run < RUNS; ++run) /* the first is not counted */
        for (int i = 0; i < CASES; ++i) {
            const double start = weft_clock();
            TRY(i < 2 ? weft_operator_apply(b->operators[i], b->u, b->y, error)
                      : weft_derive_run(b->derived[i - 2], 0, error));
            if (run >= 0)
                seconds[i][run] = weft_clock() - start;
        }
    for (int i = 0; i < CASES; ++i)
        qsort(seconds[i], RUNS, sizeof seconds[i][0], compare);
    for (int i = 0; i < CASES; ++i)
        printf("%-28s %8.2f ms  %6.2f\n", names[i], 1e3 * seconds[i][RUNS / 2],
               seconds[i][RUNS / 2] / seconds[0][RUNS / 2]);
done:
    return status;
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    char text[4096];
    bench b = {0};
    TRY(weft_device_open("host", NULL, &device, &error));
    TRY(weft_fem_library_make(&library, &error));
    b.context = (weft_context){.device = device, .library = library, .plan = WEFT_PLAN_FUSED};
    TRY(bench_make(&b, argc > 1 ? strtoll(argv[1], NULL, 10) : 700, &error));
    TRY(measure(&b, &error));
done:
    if (status != WEFT_OK) {
        weft_error_text(&error, text, sizeof text);
        fprintf(stderr, "%s", text);
    }
    bench_free(&b);
    weft_library_free(&library);
    weft_device_free(&device);
    return weft_status_exit_code(status);
}
