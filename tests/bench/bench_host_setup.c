/* Each phase of set-up on a cube whose nodes are jittered and whose numbering is shuffled, as a
 * file of the worst kind would give it; and what products take in the order that comes of it. */
#include "bench_host.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRODUCTS = 11 };

typedef struct setup {
    weft_device *device;
    weft_library *library;
    weft_mesh *mesh;
    const char *phase;
    double started, total;
} setup;

static uint64_t random_next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void phase_start(setup *s, const char *phase) {
    s->phase = phase;
    s->started = weft_clock();
}

static void phase_end(setup *s, double bytes, bool counts) {
    const double seconds = weft_clock() - s->started;
    s->total += counts ? seconds : 0.0;
    printf("    %-44s %9.4f s %9.1f MB\n", s->phase, seconds, bytes * 1e-6);
    fflush(stdout);
}

/* A random permutation of the nodes and of the cells, and a tenth of a step of jitter. */
static weft_status mesh_shuffle(weft_mesh *mesh, int64_t n, weft_error *error) {
    uint64_t seed = 88172645463325252u;
    int32_t *place = malloc((size_t)mesh->n_nodes * sizeof *place);
    double *x = weft_array_make((size_t)mesh->n_nodes * 3, sizeof *x);
    if (place == NULL || x == NULL) {
        free(place);
        free(x);
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    }
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        const int64_t j = (int64_t)(random_next(&seed) % (uint64_t)(i + 1));
        place[i] = place[j];
        place[j] = (int32_t)i;
    }
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        for (int c = 0; c < 3; ++c) {
            const double old = mesh->x[i * 3 + c];
            const double jitter = (double)(random_next(&seed) % 2001) / 1e4 - 0.1;
            const bool inside = old > 0.0 && old < 1.0;
            x[(int64_t)place[i] * 3 + c] = old + (inside ? jitter / (double)n : 0.0);
        }
    for (int64_t i = 0; i < mesh->n_cells * 4; ++i)
        mesh->cells[i] = place[mesh->cells[i]];
    for (int64_t i = 0; i < mesh->n_facets * 3; ++i)
        mesh->facets[i] = place[mesh->facets[i]];
    for (int64_t i = mesh->n_cells - 1; i > 0; --i) {
        const int64_t j = (int64_t)(random_next(&seed) % (uint64_t)(i + 1));
        int32_t moved[4];
        memcpy(moved, mesh->cells + i * 4, sizeof moved);
        memcpy(mesh->cells + i * 4, mesh->cells + j * 4, sizeof moved);
        memcpy(mesh->cells + j * 4, moved, sizeof moved);
    }
    free(mesh->x);
    free(place);
    mesh->x = x;
    return WEFT_OK;
}

static weft_status order(setup *s, const char *name, weft_error *error) {
    weft_status status = WEFT_OK;
    const double before = weft_mesh_bandwidth(s->device, s->mesh);
    const bool metis = strcmp(name, "metis") == 0;
    if (strcmp(name, "none") == 0)
        return WEFT_OK;
    phase_start(s, metis ? "order by METIS" : "order by bisection");
    TRY(weft_mesh_order(s->device, s->mesh, metis ? WEFT_ORDERING_METIS : WEFT_ORDERING_BISECTION,
                        0, NULL, NULL, error));
    phase_end(s, (double)s->mesh->n_cells * 16.0 + (double)s->mesh->n_nodes * 24.0, true);
    phase_start(s, "mean distance of a cell's nodes");
    const double after = weft_mesh_bandwidth(s->device, s->mesh);
    phase_end(s, 0.0, true);
    printf("    mean distance %.3g of all before, %.3g after\n", before, after);
done:
    return status;
}

static weft_status connect(setup *s, weft_connectivity *dofs, weft_error *error) {
    weft_status status = WEFT_OK;
    const int lanes = weft_device_limits(s->device)->lanes_double;
    weft_memory *memory = NULL, *start = NULL;
    const weft_schedule *schedule = NULL;
    const double cells = (double)s->mesh->n_cells;
    phase_start(s, "interleaved connectivity");
    TRY(weft_connectivity_interleaved(dofs, lanes, &memory, error));
    phase_end(s, cells * 16.0, true);
    phase_start(s, "transposed connectivity");
    TRY(weft_connectivity_transposed(dofs, lanes, &start, &memory, error));
    phase_end(s, cells * 16.0 + (double)s->mesh->n_nodes * 8.0, true);
    phase_start(s, "colour schedule");
    TRY(weft_connectivity_schedule(dofs, lanes, &schedule, error));
    phase_end(s, 0.0, true);
    printf("    %d colours\n", schedule->n_colours);
done:
    return status;
}

static weft_status pattern(setup *s, weft_connectivity *dofs, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_pattern *made = NULL;
    weft_memory *positions = NULL;
    const int lanes = weft_device_limits(s->device)->lanes_double;
    phase_start(s, "pattern of the matrix");
    TRY(weft_pattern_make(s->device, dofs, lanes, &made, NULL, error));
    phase_end(s, (double)made->n_entries * 4.0 + (double)made->n_rows * 8.0, false);
    weft_pattern_free(&made);
    phase_start(s, "pattern with every cell's positions");
    TRY(weft_pattern_make(s->device, dofs, lanes, &made, &positions, error));
    phase_end(s, (double)made->n_entries * 4.0 + (double)s->mesh->n_cells * 64.0, true);
done:
    weft_pattern_free(&made);
    weft_memory_free(&positions);
    return status;
}

static weft_status product(setup *s, weft_connectivity *dofs, weft_assembly assembly,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)s->mesh->n_nodes * sizeof(double);
    weft_context context = {.device = s->device, .library = s->library, .plan = WEFT_PLAN_FUSED};
    weft_operator *op = NULL;
    weft_memory *x = NULL, *v = NULL, *y = NULL;
    double best = 1e300;
    TRY(weft_memory_wrap(s->device, s->mesh->x, 3 * bytes, &x, error));
    TRY(weft_memory_make(s->device, bytes, &v, error));
    TRY(weft_memory_make(s->device, bytes, &y, error));
    const weft_form_input inputs[] = {{"x", x}};
    const weft_parameter parameters[] = {{"d", 3}};
    const weft_form form = {.name = "poisson",
                            .text = weft_fem_script("poisson"),
                            .dofs = dofs,
                            .inputs = inputs,
                            .n_inputs = 1,
                            .parameters = parameters,
                            .n_parameters = 1};
    TRY(weft_operator_make(&context, assembly, &form, 1, &op, error));
    TRY(weft_operator_assemble(op, error));
    for (int i = 0; i < PRODUCTS; ++i) {
        const double start = weft_clock();
        TRY(weft_operator_apply(op, v, y, error));
        best = fmin(best, weft_clock() - start);
    }
    printf("    product, %-35s %9.3f ms\n", weft_assembly_name(assembly), best * 1e3);
done:
    weft_operator_free(&op);
    weft_memory_free(&x);
    weft_memory_free(&v);
    weft_memory_free(&y);
    return status;
}

/* order: none (row after row, as the cube is made), bisection or metis (both after a shuffle) */
static weft_status setup_once(setup *s, int64_t n, const char *ordering, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_connectivity *dofs = NULL;
    s->total = 0.0;
    TRY(weft_mesh_make_cube(n, &s->mesh, error));
    if (strcmp(ordering, "none") != 0)
        TRY(mesh_shuffle(s->mesh, n, error));
    printf("\n%s, ordering %s: %lld cells, %lld nodes\n", weft_device_limits(s->device)->name,
           ordering, (long long)s->mesh->n_cells, (long long)s->mesh->n_nodes);
    TRY(order(s, ordering, error));
    phase_start(s, "connectivity (numbers checked)");
    TRY(weft_connectivity_make(s->device, s->mesh->cells, s->mesh->n_cells, 4, s->mesh->n_nodes,
                               &dofs, error));
    phase_end(s, 0.0, true);
    TRY(connect(s, dofs, error));
    TRY(pattern(s, dofs, error));
    printf("    %-44s %9.4f s\n", "all of it", s->total);
    if (s->library != NULL) {
        TRY(product(s, dofs, WEFT_ASSEMBLY_CSR, error));
        TRY(product(s, dofs, WEFT_ASSEMBLY_MATRIX_FREE, error));
    }
done:
    weft_connectivity_free(&dofs);
    weft_mesh_free(&s->mesh);
    return status;
}

weft_status bench_setup(int n_words, char **words, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_device_options options = weft_device_options_default(NULL);
    setup s = {0};
    const int64_t n = n_words > 0 ? strtoll(words[0], NULL, 10) : 60;
    const char *ordering = n_words > 1 ? words[1] : "bisection";
    static char *standard[] = {"host:1", "host"};
    char **devices = n_words > 2 ? words + 2 : standard;
    for (int i = 0; i < (n_words > 2 ? n_words - 2 : 2); ++i) {
        TRY(weft_device_open(devices[i], &options, &s.device, error));
        if (getenv("WEFT_BENCH_PRODUCTS") != NULL)
            TRY(weft_fem_library_make(&s.library, error));
        TRY(setup_once(&s, n, ordering, error));
        weft_library_free(&s.library);
        weft_device_free(&s.device);
    }
done:
    weft_mesh_free(&s.mesh);
    weft_library_free(&s.library);
    weft_device_free(&s.device);
    return status;
}
