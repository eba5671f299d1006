/* labels: full */
/* The assembly edge, on the host and on a GPU (here one that computes nothing), rerun with the n-th
 * allocation failing. */
#include "allocation.h"
#include "test_support.h"

#include "operator_fixture.h"

static weft_status use_operator(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    fixture *f = user;
    weft_connectivity *cells = NULL, *facets = NULL;
    weft_operator *op = NULL;
    weft_memory *v = NULL, *y = NULL;
    weft_form_input inputs[] = {{"x", f->x}};
    TRY(weft_connectivity_make(f->device, f->mesh->cells, f->mesh->n_cells, 3, f->n, &cells,
                               error));
    TRY(weft_connectivity_make(f->device, f->facet_nodes, f->n_facets, 2, f->n, &facets, error));
    weft_form forms[] = {{.name = "poisson",
                          .text = weft_fem_script("poisson"),
                          .dofs = cells,
                          .inputs = inputs,
                          .n_inputs = 1},
                         {.name = "robin",
                          .text = weft_fem_script("robin"),
                          .dofs = facets,
                          .inputs = inputs,
                          .n_inputs = 1}};
    TRY(weft_memory_make(f->device, (size_t)f->n * sizeof(double), &v, error));
    TRY(weft_memory_make(f->device, (size_t)f->n * sizeof(double), &y, error));
    TRY(weft_operator_make(&f->context, WEFT_ASSEMBLY_EDGE, forms, 2, &op, error));
    TRY(weft_operator_assemble(op, error));
    TRY(weft_operator_apply(op, v, y, error));
    TRY(weft_operator_diagonal(op, y, error));
done:
    weft_operator_free(&op);
    weft_memory_free(&v);
    weft_memory_free(&y);
    weft_connectivity_free(&cells);
    weft_connectivity_free(&facets);
    return status;
}

static void check(const char *device) {
    fixture f = fixture_make(device, 2, 4, WEFT_PLAN_FUSED);
    weft_error error = {0};
    assert_int_equal(use_operator(&f, &error), WEFT_OK); /* compiles once: then from the cache */
    test_every_allocation("edge", use_operator, &f);
    fixture_free(&f);
}

static void on_the_host(void **state) {
    (void)state;
    check("host:1");
}

static void on_a_gpu(void **state) {
    (void)state;
    check("null:h200");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_the_host), cmocka_unit_test(on_a_gpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
