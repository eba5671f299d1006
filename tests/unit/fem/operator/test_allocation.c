/* labels: full */
/* The public functions of fem around operators, rerun with their n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "operator_fixture.h"
#include "test_support.h"

static weft_status use_library(void *user, weft_error *error) {
    (void)user;
    weft_library *library = NULL;
    weft_status status = weft_fem_library_make(&library, error);
    weft_library_free(&library);
    return status;
}

static weft_status use_connectivity(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const fixture *f = user;
    weft_connectivity *c = NULL;
    weft_memory *memory = NULL, *start = NULL, *positions = NULL;
    const weft_schedule *schedule = NULL;
    TRY(weft_connectivity_make(f->device, f->mesh->cells, f->mesh->n_cells, f->d + 1, f->n, &c,
                               error));
    TRY(weft_connectivity_interleaved(c, 8, &memory, error));
    TRY(weft_connectivity_schedule(c, 8, &schedule, error));
    TRY(weft_connectivity_transposed(c, 8, &start, &positions, error));
done:
    weft_connectivity_free(&c);
    return status;
}

static weft_status use_pattern(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const fixture *f = user;
    weft_pattern *pattern = NULL;
    weft_memory *positions = NULL, *sides = NULL;
    TRY(weft_pattern_make(f->device, f->cells, 8, &pattern, &positions, error));
    TRY(weft_pattern_positions(f->device, pattern, f->facets, 8, &sides, error));
done:
    weft_pattern_free(&pattern);
    weft_memory_free(&positions);
    weft_memory_free(&sides);
    return status;
}

static weft_status use_order(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *mesh = NULL;
    weft_renumbering renumbering = {0};
    TRY(weft_mesh_make_square(8, &mesh, error));
    TRY(weft_mesh_order(NULL, mesh, *(const weft_ordering *)user, 20, NULL, &renumbering, error));
done:
    free(renumbering.nodes);
    free(renumbering.cells);
    weft_mesh_free(&mesh);
    return status;
}

typedef struct operator_case {
    fixture *f;
    weft_assembly assembly;
    int components; /* 1: Poisson's equation; 2: elasticity, after its measure of asymmetry */
} operator_case;

static const int32_t held[] = {0, 1, 3};
static const weft_cg_options once[] = {
    {.size = sizeof(weft_cg_options), .jacobi = true, .tolerance = 1e-8, .max_iterations = 500},
    {.size = sizeof(weft_cg_options),
     .jacobi = true,
     .tolerance = 1e-8,
     .max_iterations = 500,
     .constrained = held,
     .n_constrained = 3}};

static weft_status load_make(const operator_case *with, const weft_form *like, weft_memory *b,
                             weft_error *error) {
    const char *const names[] = {"b"};
    weft_form load = *like;
    load.name = "load";
    load.text = weft_fem_script("load");
    if (with->components == 1)
        return weft_form_run(&with->f->context, &load,
                             &(weft_form_outputs){.names = names, .memories = &b, .n = 1}, error);
    ((double *)weft_memory_host(b))[7] = 1;
    return WEFT_OK;
}

/* Everything that a solve with a Robin condition does: its connectivities are made again, as they
 * keep what they make when first asked. */
static weft_status use_operator(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const operator_case *with = user;
    fixture *f = with->f;
    const bool scalar = with->components == 1;
    const size_t bytes = (size_t)(f->n * with->components) * sizeof(double);
    weft_connectivity *cells = NULL, *facets = NULL;
    weft_operator *op = NULL;
    weft_memory *x = NULL, *b = NULL;
    weft_cg_result result = {0};
    double difference = 0;
    const weft_form_input inputs[] = {{"x", f->x}, {"when", f->when}};
    TRY(weft_connectivity_make(f->device, f->mesh->cells, f->mesh->n_cells, 3, f->n, &cells,
                               error));
    TRY(weft_connectivity_make(f->device, f->facet_nodes, f->n_facets, 2, f->n, &facets, error));
    const weft_form forms[] = {{.name = scalar ? "poisson" : "elasticity",
                                .text = weft_fem_script(scalar ? "poisson" : "elasticity"),
                                .action = scalar ? NULL : "Kv",
                                .dofs = cells,
                                .inputs = inputs,
                                .n_inputs = 1,
                                .components = with->components},
                               {.name = "robin",
                                .text = weft_fem_script(scalar ? "robin" : "robin_component"),
                                .dofs = facets,
                                .inputs = inputs,
                                .n_inputs = 2,
                                .components = with->components}};
    if (!scalar)
        TRY(weft_form_asymmetry(&f->context, &forms[0], &difference, error));
    TRY(weft_memory_make(f->device, bytes, &x, error));
    TRY(weft_memory_make(f->device, bytes, &b, error));
    TRY(load_make(with, &forms[0], b, error));
    TRY(weft_operator_make(&f->context, with->assembly, forms, 2, &op, error));
    TRY(weft_operator_assemble(op, error));
    TRY(weft_cg_solve(&f->context, op, b, x, &once[!scalar], &result, error));
    if (result.outcome != WEFT_CG_CONVERGED || difference > 1e-12)
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

static void libraries_and_orders(void **state) {
    (void)state;
    test_every_allocation("library", use_library, NULL);
    weft_ordering bisection = WEFT_ORDERING_BISECTION, metis = WEFT_ORDERING_METIS;
    test_every_allocation("bisection", use_order, &bisection);
    test_every_allocation("metis", use_order, &metis);
}

static void connectivities_and_patterns(void **state) {
    (void)state;
    fixture f = fixture_make("host:1", 2, 4, WEFT_PLAN_FUSED);
    test_every_allocation("connectivity", use_connectivity, &f);
    test_every_allocation("pattern", use_pattern, &f);
    fixture_free(&f);
}

static void check_assembly(weft_assembly assembly, int components) {
    fixture f = fixture_make("host:1", 2, components == 1 ? 4 : 3, WEFT_PLAN_FUSED);
    operator_case with = {&f, assembly, components};
    weft_error error = {0};
    if (use_operator(&with, &error) != WEFT_OK) /* compiles once: then from the cache */
        fail_msg("%s", error.message);
    test_every_allocation(weft_assembly_name(assembly), use_operator, &with);
    fixture_free(&f);
}

static void one_component(void **state) {
    (void)state;
    check_assembly(WEFT_ASSEMBLY_LMA, 1);
    check_assembly(WEFT_ASSEMBLY_LMA_GATHER, 1);
    check_assembly(WEFT_ASSEMBLY_CSR, 1);
    check_assembly(WEFT_ASSEMBLY_MATRIX_FREE, 1);
}

static void two_components(void **state) {
    (void)state;
    check_assembly(WEFT_ASSEMBLY_LMA_GATHER, 2);
    check_assembly(WEFT_ASSEMBLY_CSR, 2);
    check_assembly(WEFT_ASSEMBLY_SYMMETRIC, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries_and_orders),
        cmocka_unit_test(connectivities_and_patterns),
        cmocka_unit_test(one_component),
        cmocka_unit_test(two_components),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
