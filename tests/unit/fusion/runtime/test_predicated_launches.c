/* labels: quick */
/* Programs that look first whether they are wanted, on devices that compute nothing: what is
 * launched, and which kernels get the flag of a loop's end. (fem/solve/test_cuda_loops.c: what they do.) */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "program_support.h"

typedef struct reported {
    int always, active; /* products without and with a `active` */
} reported;

static weft_status product_reported(void *user, const weft_program_product *product,
                                    weft_error *error) {
    reported *t = user;
    (void)error;
    assert_true(product->v && product->y && !product->vy);
    if (product->active)
        assert_int_equal(weft_memory_bytes(product->active), sizeof(uint32_t));
    ++*(product->active ? &t->active : &t->always);
    return WEFT_OK;
}

static weft_memory *bind(program_case *c, const char *name, size_t bytes) {
    weft_error error = {0};
    weft_memory **memory = &c->memories[c->n_memories++];
    case_check(weft_memory_make(c->device, bytes, memory, &error), &error);
    if (name)
        case_check(weft_program_bind(c->program, name, *memory, &error), &error);
    return *memory;
}

/* On devices with threads, in loops. */
static void operators_are_reported_of_the_end(void **state) {
    (void)state;
    static const char *const devices[] = {"null", "null:h200"};
    for (int i = 0; i < 2; ++i) {
        reported t = {0};
        weft_error error = {0};
        program_case c = case_open(NULL, devices[i],
                                   "index nodes plain;\n"
                                   "operator M over nodes;\n"
                                   "input x : real over nodes;\n"
                                   "input s : real;\n"
                                   "y = apply(M, x);\n"
                                   "repeat at most 7 while (s > 0) {\n"
                                   "    z = apply(M, x);\n"
                                   "    update x = x + z;\n"
                                   "    update s = sum(x);\n"
                                   "}\n"
                                   "return y;\n",
                                   NULL);
        bind(&c, "x", 3 * sizeof(double));
        bind(&c, "s", sizeof(double));
        case_check(weft_program_size(c.program, "nodes", 3, &error), &error);
        case_check(weft_program_bind_operator(c.program, "M", product_reported, &t, &error),
                   &error);
        case_check(weft_program_run(c.program, &error), &error);
        assert_int_equal(t.always, i == 0 ? 2 : 1);
        assert_int_equal(t.active, i);
        case_close(&c);
    }
}

/* What a list that is added to starts from is a launch too, on a device with threads. */
static void zeroing_is_a_launch(void **state) {
    (void)state;
    static const char *const devices[] = {"null", "null:h200"};
    static const int32_t pairs[] = {0, 1, 1, 2};
    const weft_compile_options options = {.size = sizeof options, .predicated = true};
    for (int i = 0; i < 2; ++i) {
        weft_error error = {0};
        program_case c = case_open(NULL, devices[i],
                                   "index edges, nodes;\n"
                                   "connectivity ends : edges -> nodes[2];\n"
                                   "input x : real[2] over edges;\n"
                                   "y[ends] += 2*x;\n"
                                   "return y;\n",
                                   &options);
        const size_t lanes = (size_t)weft_device_limits(c.device)->lanes_double;
        bind(&c, "x", 2 * lanes * sizeof(double)); /* one block */
        weft_memory *active = bind(&c, NULL, sizeof(uint32_t));
        case_check(weft_connectivity_make(c.device, pairs, 2, 2, 3,
                                          &c.connectivities[c.n_connectivities++], &error),
                   &error);
        case_check(weft_program_bind_connectivity(c.program, "ends", c.connectivities[0], &error),
                   &error);
        for (int times = 0; times < 3; ++times) {
            const int64_t before = weft_device_launches(c.device);
            weft_program_predicate(c.program, times == 1 ? active : NULL);
            case_check(weft_program_run(c.program, &error), &error);
            assert_int_equal(weft_device_launches(c.device) - before, 1 + i);
        }
        case_close(&c);
    }
}

static void loops_guard_themselves(void **state) {
    (void)state;
    weft_error error = {0};
    weft_compilation *none = NULL;
    weft_library *library = NULL;
    weft_device *device = NULL;
    const weft_compile_options options = {.size = sizeof options, .predicated = true};
    const weft_fragment fragment = {"loop.weft", "input s : real;\n"
                                                 "repeat at most 7 while (s > 0) {\n"
                                                 "    update s = s/2;\n"
                                                 "}\n"};
    case_check(weft_library_make(&library, &error), &error);
    case_check(weft_device_open("null:h200", NULL, &device, &error), &error);
    assert_int_equal(
        weft_compile(library, weft_device_limits(device), &fragment, 1, &options, &none, &error),
        WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "a script with loops cannot be predicated: its loops are");
    weft_device_free(&device);
    weft_library_free(&library);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(operators_are_reported_of_the_end),
                                       cmocka_unit_test(zeroing_is_a_launch),
                                       cmocka_unit_test(loops_guard_themselves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
