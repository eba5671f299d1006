/* labels: quick */
/* Products and CG on borrowed arrays that end where a page ends that nobody may touch, and start
 * where one starts: kernels neither read nor write beyond the numbers of a plain list. */
#include "test_support.h"

#include "operator_fixture.h"

#include <sys/mman.h>
#include <unistd.h>

/* n doubles between two forbidden pages, directly before the second or after the first. */
typedef struct guarded {
    char *pages;
    size_t bytes;
    double *values;
} guarded;

static guarded guarded_make(int64_t n, bool at_end) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)n * sizeof(double);
    const size_t inner = (size + page - 1) / page * page;
    guarded g = {.bytes = inner + 2 * page};
    g.pages = mmap(NULL, g.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.pages != MAP_FAILED);
    assert_int_equal(mprotect(g.pages, page, PROT_NONE), 0);
    assert_int_equal(mprotect(g.pages + page + inner, page, PROT_NONE), 0);
    g.values = (double *)(void *)(g.pages + page + (at_end ? inner - size : 0));
    return g;
}

static void guarded_free(guarded *g) {
    assert_int_equal(munmap(g->pages, g->bytes), 0);
}

static weft_memory *borrow(const fixture *f, const guarded *g, int64_t n) {
    weft_memory *memory = NULL;
    const size_t bytes = weft_device_bytes(f->device);
    assert_int_equal(
        weft_memory_borrow(f->device, g->values, (size_t)n * sizeof(double), &memory, NULL),
        WEFT_OK);
    assert_int_equal(weft_device_bytes(f->device), bytes);
    assert_ptr_equal(weft_memory_address(memory), g->values);
    assert_ptr_equal(weft_memory_host(memory), g->values);
    return memory;
}

/* Coordinates between such pages. */
static weft_memory *borrow_coordinates(const fixture *f, bool at_end, guarded *out) {
    *out = guarded_make(f->n * f->d, at_end);
    memcpy(out->values, f->mesh->x, (size_t)(f->n * f->d) * sizeof *out->values);
    return borrow(f, out, f->n * f->d);
}

/* y = A v against a dense matrix, and CG for A u = y with all dofs of one side fixed, which is
 * solved by v. */
static void check(int d, int64_t cells_a_side, weft_assembly assembly, bool at_end) {
    fixture f = fixture_make("host:2", d, cells_a_side, WEFT_PLAN_FUSED);
    weft_error error;
    weft_operator *A = NULL;
    guarded x;
    weft_memory *mx = borrow_coordinates(&f, at_end, &x);
    weft_form_input input = {"x", mx};
    weft_parameter dimension = {"d", d};
    const weft_form form = {.name = "poisson.weft",
                            .text = weft_fem_script("poisson.weft"),
                            .dofs = f.cells,
                            .inputs = &input,
                            .n_inputs = 1,
                            .parameters = &dimension,
                            .n_parameters = 1};
    if (weft_operator_make(&f.context, assembly, &form, 1, &A, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(weft_operator_assemble(A, &error), WEFT_OK);
    guarded v = guarded_make(f.n, at_end), y = guarded_make(f.n, at_end),
            u = guarded_make(f.n, at_end);
    weft_memory *mv = borrow(&f, &v, f.n), *my = borrow(&f, &y, f.n), *mu = borrow(&f, &u, f.n);
    double *dense = calloc((size_t)(f.n * f.n), sizeof *dense);
    assert_non_null(dense);
    reference_stiffness(&f, false, dense);
    uint64_t seed = 7;
    for (int64_t i = 0; i < f.n; ++i)
        v.values[i] = fixture_random(&seed) - 0.5;
    assert_int_equal(weft_operator_apply(A, mv, my, &error), WEFT_OK);
    for (int64_t i = 0; i < f.n; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < f.n; ++j)
            sum += dense[i * f.n + j] * v.values[j];
        assert_double_near(y.values[i], sum, 1e-11, 1e-11);
    }
    int32_t *fixed = NULL;
    int64_t n_fixed = 0;
    int group = 0;
    assert_int_equal(weft_mesh_group(f.mesh, "left", &group, &error), WEFT_OK);
    assert_int_equal(weft_mesh_group_nodes(f.mesh, group, &fixed, &n_fixed, &error), WEFT_OK);
    for (int64_t i = 0; i < n_fixed; ++i)
        u.values[fixed[i]] = v.values[fixed[i]];
    const weft_cg_options options = {.size = sizeof options,
                                     .jacobi = true,
                                     .tolerance = 1e-12,
                                     .max_iterations = 1000,
                                     .constrained = fixed,
                                     .n_constrained = n_fixed};
    weft_cg_result result = {0};
    if (weft_cg_solve(&f.context, A, my, mu, &options, &result, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    for (int64_t i = 0; i < f.n; ++i)
        assert_double_near(u.values[i], v.values[i], 1e-8, 1e-8);
    free(result.history);
    free(fixed);
    free(dense);
    weft_memory_free(&mv);
    weft_memory_free(&my);
    weft_memory_free(&mu);
    guarded_free(&v);
    guarded_free(&y);
    guarded_free(&u);
    weft_operator_free(&A);
    weft_memory_free(&mx);
    guarded_free(&x);
    fixture_free(&f);
}

/* 2D: 49, 64, 81 and 121 nodes, 3D: 64 and 125, which leave several remainders of a block. */
static void arrays_between_forbidden_pages(void **state) {
    (void)state;
    static const int64_t sides[2][4] = {{6, 7, 8, 10}, {3, 4, 0, 0}};
    for (int assembly = 0; assembly < weft_assembly_count(); ++assembly)
        for (int d = 2; d <= 3; ++d)
            for (int k = 0; k < 4 && sides[d - 2][k] > 0; ++k)
                for (int at_end = 0; at_end < 2; ++at_end)
                    check(d, sides[d - 2][k], (weft_assembly)assembly, at_end != 0);
}

static void wrong_calls(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_memory *memory = NULL;
    weft_error error;
    double value = 3, back = 0;
    assert_int_equal(weft_device_open("host:1", NULL, &device, &error), WEFT_OK);
    assert_int_equal(weft_memory_borrow(device, NULL, 8, &memory, &error), WEFT_ERROR_USAGE);
    assert_null(memory);
    assert_int_equal(weft_memory_borrow(device, &value, sizeof value, &memory, &error), WEFT_OK);
    assert_int_equal(weft_memory_read(memory, 0, &back, sizeof back, &error), WEFT_OK);
    assert_true(back == 3);
    assert_int_equal(weft_memory_write(memory, 8, &back, 1, &error), WEFT_ERROR_USAGE);
    weft_memory_free(&memory);
    assert_int_equal(weft_device_bytes(device), 0);
    weft_device_free(&device);
    assert_int_equal(weft_device_open("null", NULL, &device, &error), WEFT_OK);
    assert_int_equal(weft_memory_borrow(device, &value, sizeof value, &memory, &error), WEFT_OK);
    assert_null(weft_memory_address(memory));
    weft_memory_free(&memory);
    weft_device_free(&device);
}

/* Interleaved lists must be aligned to blocks of lanes; a list that is not is refused. */
static void unaligned_interleaved_lists_are_refused(void **state) {
    (void)state;
    const weft_fragment script = {"doubled.weft", "index cells;\ninput a : real over cells;\n"
                                                  "y = 2*a;\nreturn y;\n"};
    weft_compile_options options = {.size = sizeof options};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    weft_memory *memory = NULL;
    weft_error error;
    double *values = weft_array_make(65, sizeof *values);
    assert_non_null(values);
    assert_int_equal(weft_device_open("host:1", NULL, &device, &error), WEFT_OK);
    assert_int_equal(weft_library_make(&library, &error), WEFT_OK);
    assert_int_equal(weft_compile(library, weft_device_limits(device), &script, 1, &options,
                                  &compilation, &error),
                     WEFT_OK);
    assert_int_equal(weft_program_make(device, compilation, &program, &error), WEFT_OK);
    assert_int_equal(weft_program_size(program, "cells", 64, &error), WEFT_OK);
    for (int first = 0; first < 2; ++first) {
        assert_int_equal(
            weft_memory_borrow(device, values + first, 64 * sizeof *values, &memory, &error),
            WEFT_OK);
        assert_int_equal(weft_program_bind(program, "a", memory, &error), WEFT_OK);
        assert_int_equal(weft_program_run(program, &error), first ? WEFT_ERROR_USAGE : WEFT_OK);
        weft_memory_free(&memory);
    }
    assert_non_null(strstr(error.message, "'a' is bound to memory at an address"));
    weft_program_free(&program);
    weft_compilation_free(&compilation);
    weft_library_free(&library);
    weft_device_free(&device);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_between_forbidden_pages),
        cmocka_unit_test(unaligned_interleaved_lists_are_refused),
        cmocka_unit_test(wrong_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
