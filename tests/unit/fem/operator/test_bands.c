/* labels: full */
/* csr assembled by owners band by band: the matrix of words for all rows, bit by bit, as each row is
 * summed in the same order; words that are kept from the second assembly on; and forms that owners cannot assemble,
 * which shows in the first band that has such a cell, against the host's matrix. Runs on an emulated GPU.
 *
 * Tolerance: sums of some 24 terms of one sign, in another order: 1e-13 of the largest entry. */
#include "emulated_gpu.h"
#include "operator_fixture.h"

#define TOLERANCE 1e-13

enum { SIDE = 20 }; /* 9261 nodes: more than 16 blocks of 512 rows */
/* 12 bytes for each vertex of 48000 cells are more than a sixteenth of this memory. */
static const size_t SMALL = 30e6;

/* Forms with their bindings; must not be moved. */
typedef struct problem {
    fixture f;
    weft_form_input input;
    weft_parameter dimension;
    weft_form forms[2];
    weft_operator *op;
} problem;

/* memory_bytes  of the emulated GPU; 0: as much as there is; -1: the host
 * folded        give the last cell a node twice, so that its volume is 0 */
static void problem_open(problem *p, int64_t memory_bytes, bool folded) {
    static const char *const scripts[] = {"mass.weft", "poisson.weft"};
    const int n = folded ? 1 : 2; /* the stiffness of a cell without volume is not finite */
    weft_error error = {0};
    p->f = fixture_make("host:1", 3, SIDE, WEFT_PLAN_FUSED);
    if (memory_bytes >= 0)
        emulated_gpu_make(p->f.device);
    if (memory_bytes > 0)
        p->f.device->limits.memory_bytes = (size_t)memory_bytes;
    if (folded)
        p->f.mesh->cells[p->f.mesh->n_cells * 4 - 1] = p->f.mesh->cells[p->f.mesh->n_cells * 4 - 2];
    p->input = (weft_form_input){"x", p->f.x};
    p->dimension = (weft_parameter){"d", 3};
    for (int i = 0; i < 2; ++i)
        p->forms[i] = (weft_form){.name = scripts[i],
                                  .text = weft_fem_script(scripts[i]),
                                  .dofs = p->f.cells,
                                  .inputs = &p->input,
                                  .n_inputs = 1,
                                  .parameters = &p->dimension,
                                  .n_parameters = 1};
    if (weft_operator_make(&p->f.context, WEFT_ASSEMBLY_CSR, p->forms, n, &p->op, &error) !=
        WEFT_OK)
        fail_msg("%s", error.message);
}

static void problem_free(problem *p) {
    weft_operator_free(&p->op);
    fixture_free(&p->f);
}

/* The values after another assembly, in the pattern's order. free() */
static double *assemble(problem *p, int64_t *n) {
    weft_error error = {0};
    weft_memory *values = NULL;
    if (weft_operator_assemble(p->op, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    *n = weft_operator_entries(p->op);
    double *copy = malloc((size_t)*n * sizeof *copy);
    assert_non_null(copy);
    const size_t before = weft_device_bytes(p->f.device);
    assert_int_equal(weft_operator_matrix(p->op, &values, NULL), WEFT_OK);
    assert_int_equal(weft_memory_read(values, 0, copy, (size_t)*n * sizeof *copy, NULL), WEFT_OK);
    weft_operator_matrix_release(p->op); /* copies are made again by the next call */
    assert_int_equal(weft_device_bytes(p->f.device), before);
    return copy;
}

static void bands_give_the_same_matrix(void **state) {
    problem whole, bands;
    int64_t n = 0, n_bands = 0;
    (void)state;
    problem_open(&whole, 0, false);
    problem_open(&bands, (int64_t)SMALL, false);
    double *expected = assemble(&whole, &n), *first = assemble(&bands, &n_bands);
    const size_t words = 2 * (size_t)bands.f.mesh->n_cells * 4 * sizeof(uint64_t);
    const size_t before = weft_device_bytes(bands.f.device);
    assert_int_equal(n, n_bands);
    assert_memory_equal(first, expected, (size_t)n * sizeof *first);
    assert_true(weft_device_bytes_peak(bands.f.device) + words / 2 <
                weft_device_bytes_peak(whole.f.device));
    for (int i = 0; i < 2; ++i) {
        double *again = assemble(&bands, &n_bands);
        assert_memory_equal(again, expected, (size_t)n * sizeof *again);
        free(again);
    }
    assert_true(weft_device_bytes(bands.f.device) >= before + words);
    free(expected);
    free(first);
    problem_free(&whole);
    problem_free(&bands);
}

static void a_cell_that_owners_refuse(void **state) {
    problem host, bands;
    int64_t n = 0, n_bands = 0;
    double most = 0;
    (void)state;
    problem_open(&host, -1, true);
    problem_open(&bands, (int64_t)SMALL, true);
    double *expected = assemble(&host, &n), *made = assemble(&bands, &n_bands);
    const weft_pattern *patterns[] = {weft_operator_pattern(host.op),
                                      weft_operator_pattern(bands.op)};
    assert_int_equal(n, n_bands);
    assert_memory_equal(patterns[0]->columns, patterns[1]->columns,
                        (size_t)n * sizeof *patterns[0]->columns);
    for (int64_t i = 0; i < n; ++i)
        most = fmax(most, fabs(expected[i]));
    for (int64_t i = 0; i < n; ++i)
        assert_true(fabs(made[i] - expected[i]) <= TOLERANCE * most);
    free(expected);
    free(made);
    problem_free(&host);
    problem_free(&bands);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_give_the_same_matrix),
        cmocka_unit_test(a_cell_that_owners_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
