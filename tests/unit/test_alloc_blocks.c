/* labels: full */
/* Operators with components, from making to a solve, and the measure of asymmetry, rerun with their
 * n-th allocation failing. */
#include "allocation.h"
#include "test_support.h"

#include "fusion_internal.h"
#include "operator_fixture.h"

typedef struct operator_case {
    fixture *f;
    weft_assembly assembly;
} operator_case;

/* Connectivities are made anew, as they keep what they make when first asked. */
static weft_status use_operator(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const operator_case *with = user;
    fixture *f = with->f;
    const size_t bytes = (size_t)f->n * 2 * sizeof(double);
    weft_connectivity *cells = NULL, *facets = NULL;
    weft_operator *op = NULL;
    weft_memory *x = NULL, *b = NULL;
    weft_cg_result result = {0};
    const weft_form_input inputs[] = {{"x", f->x}};
    double apart = 1;
    TRY(weft_connectivity_make(f->device, f->mesh->cells, f->mesh->n_cells, 3, f->n, &cells,
                               error));
    TRY(weft_connectivity_make(f->device, f->facet_nodes, f->n_facets, 2, f->n, &facets, error));
    const weft_form forms[] = {{.name = "elasticity",
                                .text = weft_fem_script("elasticity.weft"),
                                .action = "Kv",
                                .dofs = cells,
                                .inputs = inputs,
                                .n_inputs = 1,
                                .components = 2},
                               {.name = "robin",
                                .text = weft_fem_script("robin_component.weft"),
                                .dofs = facets,
                                .inputs = inputs,
                                .n_inputs = 1,
                                .components = 2}};
    const int32_t constrained[] = {0, 1, 3};
    const weft_cg_options options = {.jacobi = true,
                                     .tolerance = 1e-8,
                                     .max_iterations = 500,
                                     .constrained = constrained,
                                     .n_constrained = 3};
    TRY(weft_form_asymmetry(&f->context, &forms[0], &apart, error));
    TRY(weft_memory_make(f->device, bytes, &x, error));
    TRY(weft_memory_make(f->device, bytes, &b, error));
    ((double *)weft_memory_host(b))[7] = 1;
    TRY(weft_operator_make(&f->context, with->assembly, forms, 2, &op, error));
    TRY(weft_operator_assemble(op, error));
    TRY(weft_cg_solve(&f->context, op, b, x, &options, &result, error));
    if (result.outcome != WEFT_CG_CONVERGED || apart > 1e-12)
        status = weft_error_set(error, WEFT_ERROR_INTERNAL, "not solved");
done:
    free(result.history);
    weft_operator_free(&op);
    weft_memory_free(&x);
    weft_memory_free(&b);
    weft_connectivity_free(&cells);
    weft_connectivity_free(&facets);
    return status;
}

static void check_assembly(weft_assembly assembly) {
    fixture f = fixture_make("host:1", 2, 3, WEFT_PLAN_FUSED);
    operator_case with = {&f, assembly};
    weft_error error = {0};
    if (use_operator(&with, &error) != WEFT_OK) /* compiles once: then from the cache */
        fail_msg("%s", error.message);
    test_every_allocation(weft_assembly_name(assembly), use_operator, &with);
    fixture_free(&f);
}

static void lma_gather(void **state) {
    (void)state;
    check_assembly(WEFT_ASSEMBLY_LMA_GATHER);
}

static void csr(void **state) {
    (void)state;
    check_assembly(WEFT_ASSEMBLY_CSR);
}

static void edge(void **state) {
    (void)state;
    check_assembly(WEFT_ASSEMBLY_EDGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lma_gather), cmocka_unit_test(csr),
                                       cmocka_unit_test(edge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
