/* Ordering and refinement of built-in meshes on a device and on the host's threads, with what copies
 * of the mesh's arrays cost.
 *
 *      bench_order [DEVICE [NODES]]    default cuda, up to 10^7 nodes */
#include "fem/mesh/refine.h"
#include "fem/order/on_device.h"
#include "fem/weft_hierarchy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 3, LEAF = 512 };

typedef struct phases {
    double write, bisect, renumber; /* seconds; renumber with what is read back */
} phases;

static weft_status order_once(weft_device *device, weft_mesh *mesh, phases *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)mesh->n_nodes, bytes = n * (size_t)mesh->dimension * sizeof *mesh->x;
    double at[4];
    weft_setup *setup = NULL;
    weft_memory *x = NULL, *old = NULL;
    TRY(weft_setup_make(device, &setup, error));
    TRY(weft_memory_make_unset(device, bytes, &x, error));
    TRY(weft_memory_make_unset(device, n * sizeof(int32_t), &old, error));
    TRY(weft_device_wait(device, error));
    at[0] = weft_clock();
    TRY(weft_memory_write(x, 0, mesh->x, bytes, error));
    TRY(weft_device_wait(device, error));
    at[1] = weft_clock();
    TRY(weft_order_bisect_on_device(setup, mesh, LEAF, x, old, error));
    TRY(weft_device_wait(device, error));
    at[2] = weft_clock();
    TRY(weft_mesh_renumber_on_device(setup, mesh, x, old, NULL, NULL, error));
    TRY(weft_device_wait(device, error));
    at[3] = weft_clock();
    *p = (phases){at[1] - at[0], at[2] - at[1], at[3] - at[2]};
done:
    weft_memory_free(&x);
    weft_memory_free(&old);
    weft_setup_free(&setup);
    return status;
}

static weft_status order_on_host(weft_device *host, weft_mesh *mesh, phases *p, weft_error *error) {
    weft_status status = WEFT_OK;
    double at[3];
    weft_renumbering r = {.nodes =
                              weft_array_make_unset((uint64_t)mesh->n_nodes * sizeof *r.nodes)};
    if (!r.nodes)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "no memory"));
    at[0] = weft_clock();
    TRY(weft_order_bisect(host, mesh, LEAF, r.nodes, error));
    at[1] = weft_clock();
    TRY(weft_mesh_renumber(host, mesh, &r, error));
    at[2] = weft_clock();
    *p = (phases){0, at[1] - at[0], at[2] - at[1]};
done:
    free(r.nodes);
    return status;
}

static double sum_of(const phases *p) {
    return p->write + p->bisect + p->renumber;
}

/* The best of some runs, each of a mesh that is not ordered. */
static weft_status time_order(weft_device *device, weft_device *host, int d, int64_t n,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *mesh = NULL;
    phases best[2] = {{HUGE_VAL, 0, 0}, {HUGE_VAL, 0, 0}};
    int64_t n_nodes = 0;
    for (int i = 0; i < 2 * REPEATS; ++i) {
        phases p;
        TRY(weft_mesh_make_grid(host, d, n, &mesh, error));
        n_nodes = mesh->n_nodes;
        TRY(i % 2 ? order_once(device, mesh, &p, error) : order_on_host(host, mesh, &p, error));
        best[i % 2] = sum_of(&p) < sum_of(&best[i % 2]) ? p : best[i % 2];
        weft_mesh_free(&mesh);
    }
    printf("order  %dD %9lld nodes: host %8.2f ms = %7.2f + %7.2f; device %8.2f ms = %6.2f + %6.2f "
           "+ %6.2f\n",
           d, (long long)n_nodes, 1e3 * sum_of(&best[0]), 1e3 * best[0].bisect,
           1e3 * best[0].renumber, 1e3 * sum_of(&best[1]), 1e3 * best[1].write,
           1e3 * best[1].bisect, 1e3 * best[1].renumber);
done:
    weft_mesh_free(&mesh);
    return status;
}

/* Seconds of one refinement by so many levels; on the host if device is the host. */
static weft_status refine_once(weft_device *device, int d, int64_t n, int times, double *seconds,
                               int64_t *n_nodes, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_hierarchy *h = calloc(1, sizeof *h);
    int n_made = 0;
    if (h)
        h->levels = calloc((size_t)times + 1, sizeof *h->levels);
    if (!h || !h->levels)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "no memory"));
    h->n_levels = times + 1;
    TRY(weft_mesh_make_grid(device, d, n, &h->levels[0].mesh, error));
    const double start = weft_clock();
    TRY(weft_setup_on_device(device) ? weft_refine_levels_on_device(device, h, &n_made, NULL, error)
                                     : weft_mesh_refine_levels(device, h, NULL, NULL, error));
    *seconds = weft_clock() - start;
    *n_nodes = h->levels[times].mesh->n_nodes;
done:
    weft_hierarchy_free(&h);
    return status;
}

static weft_status time_refine(weft_device *device, weft_device *host, int d, int64_t n, int times,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    double best[2] = {HUGE_VAL, HUGE_VAL};
    int64_t n_nodes = 0;
    for (int i = 0; i < 2 * REPEATS; ++i) {
        double seconds = 0;
        TRY(refine_once(i % 2 ? device : host, d, n, times, &seconds, &n_nodes, error));
        best[i % 2] = seconds < best[i % 2] ? seconds : best[i % 2];
    }
    printf("refine %dD %9lld nodes, %d times: host %8.2f ms; device %8.2f ms\n", d,
           (long long)n_nodes, times, 1e3 * best[0], 1e3 * best[1]);
done:
    return status;
}

/* Copies of pageable arrays, which the library moves through pinned buffers. */
static weft_status time_copies(weft_device *device, size_t bytes, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *memory = NULL;
    char *array = weft_array_make(bytes, 1);
    double best[2] = {HUGE_VAL, HUGE_VAL};
    if (!array)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "no memory"));
    TRY(weft_memory_make(device, bytes, &memory, error));
    for (int i = 0; i < 2 * REPEATS; ++i) {
        TRY(weft_device_wait(device, error));
        const double start = weft_clock();
        TRY(i % 2 ? weft_memory_read(memory, 0, array, bytes, error)
                  : weft_memory_write(memory, 0, array, bytes, error));
        TRY(weft_device_wait(device, error));
        const double seconds = weft_clock() - start;
        best[i % 2] = seconds < best[i % 2] ? seconds : best[i % 2];
    }
    free(array);
    array = weft_array_make_unset(bytes);
    const double start = weft_clock();
    TRY(weft_memory_read(memory, 0, array, bytes, error));
    printf("copies of %.0f MB: to the device %.1f GB/s, back %.1f GB/s, into new pages %.1f GB/s\n",
           (double)bytes * 1e-6, (double)bytes / best[0] * 1e-9, (double)bytes / best[1] * 1e-9,
           (double)bytes / (weft_clock() - start) * 1e-9);
done:
    free(array);
    weft_memory_free(&memory);
    return status;
}

static weft_status run(const char *name, double most, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double sizes[] = {1e4, 3e4, 1e5, 3e5, 1e6, 1e7};
    weft_device *device = NULL, *host = NULL;
    TRY(weft_device_open(name, NULL, &device, error));
    TRY(weft_device_open("host", NULL, &host, error));
    TRY(time_copies(device, (size_t)(most * 100), error));
    for (int d = 3; d >= 2; --d)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= most; ++i)
            TRY(time_order(device, host, d, (int64_t)(pow(sizes[i], 1.0 / d) - 1), error));
    for (int d = 3; d >= 2; --d)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= most; ++i)
            TRY(time_refine(device, host, d, (int64_t)(pow(sizes[i], 1.0 / d) / 8), 3, error));
done:
    weft_device_free(&device);
    weft_device_free(&host);
    return status;
}

int main(int argc, char **argv) {
    weft_error error = {0};
    if (run(argc > 1 ? argv[1] : "cuda", argc > 2 ? strtod(argv[2], NULL) : 1e7, &error) == WEFT_OK)
        return 0;
    fprintf(stderr, "bench_order: %s\n", error.message);
    return 1;
}
