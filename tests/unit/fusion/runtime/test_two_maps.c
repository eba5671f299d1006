/* labels: quick */
/* A matrix that is added to through two connectivities: each has positions of its own. Entries are whole numbers, so that
 * sums are exact, on the host and on an emulated GPU; positions that are missing or lead out of the matrix are refused. */
#include "emulated_gpu.h"
#include "program_support.h"

enum { NODES = 50, SMALL = 37, BIG = 200 };

static const char script[] = "index small, big, nodes plain;\n"
                             "connectivity one : small -> nodes[1];\n"
                             "connectivity two : big -> nodes[2];\n"
                             "input k : real[1,1] over small;\ninput m : real[2,2] over big;\n"
                             "A[one,one] += k;\nA[two,two] += m;\nreturn A;\n";

static program_case open_device(bool is_gpu) {
    const weft_device_options device_options = weft_device_options_default(NULL);
    const weft_compile_options options = {.size = sizeof options};
    weft_error error = {0};
    weft_device *device = NULL;
    case_check(weft_device_open("host:1", &device_options, &device, &error), &error);
    if (is_gpu)
        emulated_gpu_make(device);
    return case_open_on(NULL, device, script, &options);
}

/* The place of each entry in a full matrix, interleaved as connectivities are. */
static weft_memory *positions_of(program_case *c, const int32_t *indices, int n, int width) {
    const int lanes = weft_program_lanes(c->program), n_blocks = (n + lanes - 1) / lanes;
    const size_t bytes = (size_t)(n_blocks * lanes * width * width) * sizeof(uint32_t);
    uint32_t *list = calloc(1, bytes);
    weft_error error = {0};
    assert_non_null(list);
    for (int i = 0; i < n_blocks * lanes; ++i)
        for (int e = 0; e < width * width; ++e) {
            const int32_t *cell = &indices[(i < n ? i : n - 1) * width];
            list[(i / lanes * width * width + e) * lanes + i % lanes] =
                (uint32_t)(cell[e / width] * NODES + cell[e % width]);
        }
    weft_memory *memory = case_memory(c, bytes);
    case_check(weft_memory_write(memory, 0, list, bytes, &error), &error);
    free(list);
    return memory;
}

static int32_t one[SMALL], two[2 * BIG];
static double k[SMALL], m[4 * BIG], expected[NODES * NODES];

static void make_data(void) {
    memset(expected, 0, sizeof expected);
    for (int i = 0; i < SMALL; ++i) {
        one[i] = i * 7 % NODES;
        k[i] = i % 5 + 1;
        expected[one[i] * NODES + one[i]] += k[i];
    }
    for (int i = 0; i < BIG; ++i) {
        two[2 * i] = i * 11 % NODES;
        two[2 * i + 1] = (i * 11 + 1 + i % 3) % NODES;
        for (int e = 0; e < 4; ++e) {
            m[4 * i + e] = (i + e) % 9 - 4;
            expected[two[2 * i + e / 2] * NODES + two[2 * i + e % 2]] += m[4 * i + e];
        }
    }
}

static void bind(program_case *c) {
    case_map(c, "one", one, SMALL, 1, NODES);
    case_map(c, "two", two, BIG, 2, NODES);
    case_input(c, "k", k);
    case_input(c, "m", m);
}

static void values(void **state) {
    (void)state;
    static double found[NODES * NODES];
    weft_error error = {0};
    make_data();
    for (int is_gpu = 0; is_gpu < 2; ++is_gpu) {
        program_case c = open_device(is_gpu);
        bind(&c);
        weft_memory *A = case_memory(&c, sizeof expected);
        case_check(
            weft_program_bind_matrix(c.program, "A", A, positions_of(&c, one, SMALL, 1), &error),
            &error);
        case_check(weft_program_bind_matrix_positions(c.program, "A", "two",
                                                      positions_of(&c, two, BIG, 2), &error),
                   &error);
        case_run(&c);
        case_check(weft_memory_read(A, 0, found, sizeof found, &error), &error);
        for (int i = 0; i < NODES * NODES; ++i)
            assert_double_near(found[i], expected[i], 0, 0);
        case_close(&c);
    }
}

static void expect_refused(program_case *c, weft_status status, const char *message) {
    weft_error error = {0};
    assert_int_equal(weft_program_run(c->program, &error), status);
    assert_string_equal(error.message, message);
}

static void refused(void **state) {
    (void)state;
    weft_error error = {0};
    make_data();
    program_case c = open_device(false);
    bind(&c);
    weft_memory *A = case_memory(&c, sizeof expected);
    weft_memory *first = positions_of(&c, one, SMALL, 1), *second = positions_of(&c, two, BIG, 2);
    case_check(weft_program_bind_matrix(c.program, "A", A, first, &error), &error);
    expect_refused(&c, WEFT_ERROR_USAGE, "matrix 'A' has no positions bound for 'two'");
    case_check(weft_program_bind_matrix_positions(c.program, "A", "two", first, &error), &error);
    assert_int_equal(weft_program_run(c.program, &error), WEFT_ERROR_SHAPE); /* too few */
    const uint32_t outside = NODES * NODES;
    case_check(weft_memory_write(second, 0, &outside, sizeof outside, &error), &error);
    case_check(weft_program_bind_matrix_positions(c.program, "A", "two", second, &error), &error);
    expect_refused(&c, WEFT_ERROR_SHAPE, "a position of 'A' is 2500, but it has 2500 values");
    assert_int_equal(weft_program_bind_matrix_positions(c.program, "A", "three", first, &error),
                     WEFT_ERROR_USAGE);
    assert_int_equal(weft_program_bind_matrix_positions(c.program, "k", "two", first, &error),
                     WEFT_ERROR_USAGE);
    case_close(&c);
}

static void bind_both(program_case *c, weft_memory *A, weft_memory *first, weft_memory *second) {
    weft_error error = {0};
    case_check(weft_program_bind_matrix(c->program, "A", A, first, &error), &error);
    case_check(weft_program_bind_matrix_positions(c->program, "A", "two", second, &error), &error);
}

/* Positions that were checked lead out of a smaller matrix, whichever of them are bound with it. */
static void fewer_values(void **state) {
    (void)state;
    weft_error error = {0};
    make_data();
    program_case c = open_device(false);
    bind(&c);
    weft_memory *first = positions_of(&c, one, SMALL, 1), *second = positions_of(&c, two, BIG, 2);
    weft_memory *inside = case_memory(&c, weft_memory_bytes(first)); /* all are 0 */
    weft_memory *A = case_memory(&c, sizeof expected), *less = case_memory(&c, sizeof expected / 2);
    bind_both(&c, A, inside, second);
    case_run(&c);
    case_check(weft_program_bind(c.program, "A", less, &error), &error);
    expect_refused(&c, WEFT_ERROR_SHAPE, "a position of 'A' is 2499, but it has 1250 values");
    case_check(weft_program_bind(c.program, "A", A, &error), &error);
    case_run(&c);
    case_check(weft_program_bind_matrix(c.program, "A", less, inside, &error), &error);
    expect_refused(&c, WEFT_ERROR_SHAPE, "a position of 'A' is 2499, but it has 1250 values");
    case_close(&c);
}

/* Positions of elements that come into use later, and leave it, in memory that stays bound. */
static void more_elements(void **state) {
    (void)state;
    enum { FEW = 8 };
    const uint32_t outside = NODES * NODES;
    weft_error error = {0};
    make_data();
    program_case c = open_device(false);
    bind(&c);
    weft_memory *A = case_memory(&c, sizeof expected), *second = positions_of(&c, two, BIG, 2);
    case_check(weft_memory_write(second, weft_memory_bytes(second) - sizeof outside, &outside,
                                 sizeof outside, &error),
               &error);
    bind_both(&c, A, positions_of(&c, one, SMALL, 1), second);
    case_map(&c, "two", two, FEW, 2, NODES);
    case_input(&c, "m", m);
    case_run(&c);
    case_map(&c, "two", two, BIG, 2, NODES);
    case_input(&c, "m", m);
    expect_refused(&c, WEFT_ERROR_SHAPE, "a position of 'A' is 2500, but it has 2500 values");
    case_map(&c, "two", two, FEW, 2, NODES);
    case_input(&c, "m", m);
    case_run(&c);
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(refused),
                                       cmocka_unit_test(fewer_values),
                                       cmocka_unit_test(more_elements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
