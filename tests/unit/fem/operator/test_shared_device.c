/* labels: quick */
/* Threads that share a device, a library and a mesh, as docs/using-the-library.md allows: each
 * compiles, assembles and applies operators of its own. What the thread sanitizer looks at. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_THREADS = 4, PRODUCTS = 10 };

/* v.A v of v(x, y) = x is the unit square's area: about 2 n^2 additions of numbers below 1 */
static const double TOLERANCE = 1e-12;

typedef struct shared {
    weft_device *device;
    weft_library *library;
    weft_mesh *mesh;
    atomic_int next; /* whose turn an assembly is */
} shared;

static weft_status energy(const shared *s, weft_assembly assembly, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_connectivity *dofs = NULL;
    weft_memory *x = NULL, *v = NULL, *y = NULL;
    weft_operator *A = NULL;
    double *product = weft_array_make((size_t)s->mesh->n_nodes, sizeof *product);
    weft_context context = {.device = s->device, .library = s->library};
    const size_t bytes = (size_t)s->mesh->n_nodes * sizeof(double);
    if (!product)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    TRY(weft_connectivity_make(s->device, s->mesh->cells, s->mesh->n_cells, 3, s->mesh->n_nodes,
                               &dofs, error));
    TRY(weft_memory_wrap(s->device, s->mesh->x, 2 * bytes, &x, error));
    const weft_form_input input = {"x", x};
    const weft_form form = {.name = "poisson.weft",
                            .text = weft_fem_script("poisson.weft"),
                            .dofs = dofs,
                            .inputs = &input,
                            .n_inputs = 1};
    TRY(weft_operator_make(&context, assembly, &form, 1, &A, error));
    TRY(weft_operator_assemble(A, error));
    TRY(weft_memory_make(s->device, bytes, &v, error));
    TRY(weft_memory_make(s->device, bytes, &y, error));
    for (int64_t i = 0; i < s->mesh->n_nodes; ++i)
        product[i] = s->mesh->x[2 * i];
    TRY(weft_memory_write(v, 0, product, bytes, error));
    for (int k = 0; k < PRODUCTS; ++k)
        TRY(weft_operator_apply(A, v, y, error));
    TRY(weft_memory_read(y, 0, product, bytes, error));
    *out = 0;
    for (int64_t i = 0; i < s->mesh->n_nodes; ++i)
        *out += s->mesh->x[2 * i] * product[i];
done:
    weft_operator_free(&A);
    weft_memory_free(&y);
    weft_memory_free(&v);
    weft_memory_free(&x);
    weft_connectivity_free(&dofs);
    free(product);
    return status;
}

typedef struct worker {
    shared *s;
    pthread_t thread;
    char message[1200]; /* empty: all is well; only the main thread may fail */
} worker;

static void *work(void *user) {
    worker *w = user;
    shared *s = w->s;
    for (int round = 0; round < 4; ++round) {
        weft_error error = {0};
        double found = 0;
        const weft_assembly assembly = (weft_assembly)(atomic_fetch_add(&s->next, 1) % 4);
        if (energy(s, assembly, &found, &error) != WEFT_OK)
            snprintf(w->message, sizeof w->message, "%s: %s", weft_assembly_name(assembly),
                     error.message);
        else if (!(fabs(found - 1) <= TOLERANCE))
            snprintf(w->message, sizeof w->message, "%s: %.17g", weft_assembly_name(assembly),
                     found);
    }
    return NULL;
}

static void threads_share(void **state) {
    (void)state;
    shared s = {0};
    weft_error error = {0};
    worker workers[N_THREADS] = {0};
    assert_int_equal(weft_device_open("host:3", NULL, &s.device, &error), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&s.library, &error), WEFT_OK);
    assert_int_equal(weft_mesh_make_square(60, &s.mesh, &error), WEFT_OK);
    for (int i = 0; i < N_THREADS; ++i) {
        workers[i].s = &s;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < N_THREADS; ++i)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < N_THREADS; ++i)
        assert_string_equal(workers[i].message, "");
    weft_mesh_free(&s.mesh);
    weft_library_free(&s.library);
    weft_device_free(&s.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
