/* labels: full */
/* Assemblies that store a matrix on a GPU (here one that computes nothing), and edges on the host,
 * rerun with the n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"
#include "operator_fixture.h"
#include "test_support.h"

typedef struct operator_case {
    fixture f;
    weft_assembly assembly;
} operator_case;

static weft_status use_operator(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    operator_case *with = user;
    fixture *f = &with->f;
    weft_connectivity *cells = NULL, *facets = NULL;
    weft_operator *op = NULL;
    weft_memory *v = NULL, *y = NULL, *values = NULL;
    weft_form_input inputs[] = {{"x", f->x}, {"when", f->when}};
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
                          .n_inputs = 2}};
    TRY(weft_memory_make(f->device, (size_t)f->n * sizeof(double), &v, error));
    TRY(weft_memory_make(f->device, (size_t)f->n * sizeof(double), &y, error));
    TRY(weft_operator_make(&f->context, with->assembly, forms, 2, &op, error));
    TRY(weft_operator_assemble(op, error));
    TRY(weft_operator_apply(op, v, y, error));
    TRY(weft_operator_diagonal(op, y, error));
    if (with->assembly == WEFT_ASSEMBLY_CSR)
        TRY(weft_operator_matrix(op, &values, error));
done:
    weft_operator_free(&op);
    weft_memory_free(&v);
    weft_memory_free(&y);
    weft_connectivity_free(&cells);
    weft_connectivity_free(&facets);
    return status;
}

static void check(const char *device, weft_assembly assembly) {
    operator_case with = {fixture_make(device, 2, 4, WEFT_PLAN_FUSED), assembly};
    weft_error error = {0};
    assert_int_equal(use_operator(&with, &error), WEFT_OK); /* compiles once: then from the cache */
    test_every_allocation(weft_assembly_name(assembly), use_operator, &with);
    fixture_free(&with.f);
}

static void edges_on_the_host(void **state) {
    (void)state;
    check("host:1", WEFT_ASSEMBLY_SYMMETRIC);
}

static void edges_on_a_gpu(void **state) {
    (void)state;
    check("null:h200", WEFT_ASSEMBLY_SYMMETRIC);
}

static void csr_in_slices(void **state) {
    (void)state;
    check("null:h200", WEFT_ASSEMBLY_CSR);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(edges_on_the_host),
                                       cmocka_unit_test(edges_on_a_gpu),
                                       cmocka_unit_test(csr_in_slices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
