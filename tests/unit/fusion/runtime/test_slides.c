/* labels: quick */
/* The reductions and transpositions of docs/examples/slides on the host and as CUDA text run thread by thread, with
 * numbers of tiles that leave remainders and numbers that fill no tile; threads and tiles per block
 * as the planner and as scripts choose. All numbers are small integers, so that every order of
 * additions gives the same sum. */
#include "emulated_gpu.h"
#include "fusion/plan/implementation.h"
#include "program_support.h"

enum { TILES = 70, LEFT = 600, LARGEST = 16 * 256, TEXT = 4096, REDUCTIONS = 7, SIDE = 32 };

typedef struct shape {
    bool emulated;
    int elements, threads, serial; /* 0: the planner's choice */
} shape;

static void read_script(const char *name, int number, char *text) {
    char path[1024];
    const char *folder = getenv("WEFT_SOURCE");
    assert_non_null(folder);
    snprintf(path, sizeof path, "%s/docs/examples/slides/%s_%d.weft", folder, name, number);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, TEXT - 1, file)] = '\0';
    fclose(file);
}

static program_case open_script(const char *name, int number, const shape *how,
                                weft_variant_choice fold) {
    const weft_device_options device_options = weft_device_options_default(NULL);
    const weft_parameter asked[] = {
        {"block_tiles", how->elements}, {"width", how->threads}, {"serial", how->serial}};
    const weft_compile_options options = {.size = sizeof options,
                                          .parameters = asked,
                                          .n_parameters = how->elements > 0 ? 3 : 0,
                                          .variants = &fold,
                                          .n_variants = fold.function != NULL};
    char text[TEXT], folder[1024];
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    read_script(name, number, text);
    snprintf(folder, sizeof folder, "%s/docs/examples/slides", getenv("WEFT_SOURCE"));
    case_check(weft_library_make(&library, &error), &error);
    case_check(weft_library_add_directory(library, folder, &error), &error);
    case_check(weft_device_open("host:1", &device_options, &device, &error), &error);
    if (how->emulated)
        emulated_gpu_make(device);
    program_case c = case_open_on(library, device, text, &options);
    c.own_library = true;
    return c;
}

static void check_sizes(program_case *c, double *x) {
    static const int64_t sizes[][2] = {{0, 0},  {0, 1},   {1, 0},   {2, 255},
                                       {7, 31}, {33, 32}, {64, 33}, {TILES, 513}};
    double rest[LEFT];
    const int64_t per_tile = weft_shape_count(&case_value(c, "x")->shape);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        double expected = 0;
        for (int64_t i = 0; i < sizes[k][0] * per_tile; ++i) {
            x[i] = (double)((i * 7 + i / 256 * 3) % 23) - 9;
            expected += x[i];
        }
        for (int64_t i = 0; i < sizes[k][1]; ++i) {
            rest[i] = (double)(i * 5 % 17) - 4;
            expected += rest[i];
        }
        case_size(c, "tiles", sizes[k][0]);
        case_size(c, "left", sizes[k][1]);
        case_input(c, "x", x);
        case_input(c, "rest", rest);
        case_run(c);
        double *s = case_result(c, "s"), *t = case_result(c, "t");
        if (s[0] + t[0] != expected)
            fail_msg("%lld tiles and %lld: %g, not %g", (long long)sizes[k][0],
                     (long long)sizes[k][1], s[0] + t[0], expected);
        free(s);
        free(t);
    }
}

static void check_shape(int number, const shape *how, double *x) {
    program_case c = open_script("reduction", number, how, (weft_variant_choice){NULL, 0});
    const weft_implementation *one = case_segment(&c)->cover->list[0];
    if (how->elements > 0) {
        assert_int_equal(one->elements_per_block, how->elements);
        assert_int_equal(one->threads_per_element, how->threads);
        assert_int_equal(one->serial_iterations, how->serial);
    } else if (how->emulated)
        assert_true(one->elements_per_block < 32); /* tiles are read by whole sectors */
    check_sizes(&c, x);
    case_close(&c);
}

static void sums(void **state) {
    static const shape host = {false, 0, 0, 0}, block = {true, 1, 256, 3};
    static const shape others[] = {{true, 0, 0, 0}, {true, 1, 64, 1}, {true, 4, 128, 2}};
    double *x = calloc((size_t)TILES * LARGEST, sizeof *x);
    (void)state;
    assert_non_null(x);
    for (int number = 1; number <= REDUCTIONS; ++number) {
        check_shape(number, &host, x);
        check_shape(number, &block, x);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        check_shape(5, &others[i], x);
    free(x);
}

/* Barriers of the first kernel: of blocks, and of warps. */
static void count_barriers(const program_case *c, int *blocks, int *warps) {
    *blocks = *warps = 0;
    const char *text = strstr(weft_compilation_source(c->compilation), "#define ELEMENTS 1");
    assert_non_null(text);
    text = strstr(text, "MULTI_THREAD_KERNEL"); /* after definitions */
    assert_non_null(text);
    const char *end = strstr(text, "#undef ELEMENTS");
    for (const char *at = text; (at = strstr(at, "__sync")) != NULL && at < end; ++at) {
        *blocks += strncmp(at, "__syncthreads", 13) == 0;
        *warps += strncmp(at, "__syncwarp", 10) == 0;
    }
}

/* In reduction 5 the levels of 128, 64 and 32 threads read what more than one warp has written; those
 * of 16 to 1 read what one warp has written. In reduction 3 all threads of the block take part in
 * each of the eight levels, which the loads and the last call add to. */
static void warp_barriers(void **state) {
    const shape block = {true, 1, 256, 1};
    int blocks = 0, warps = 0;
    (void)state;
    program_case c = open_script("reduction", 5, &block, (weft_variant_choice){"fold", 1});
    count_barriers(&c, &blocks, &warps);
    assert_int_equal(blocks, 3);
    assert_int_equal(warps, 5);
    case_close(&c);
    c = open_script("reduction", 3, &block, (weft_variant_choice){"halves", 1});
    count_barriers(&c, &blocks, &warps);
    assert_int_equal(warps, 0);
    assert_true(blocks >= 9);
    case_close(&c);
}

/* The entry (i, j) of a matrix of rows x columns tiles of 32 x 32, each stored by rows. */
static int64_t entry_at(int64_t i, int64_t j, int64_t columns) {
    return ((i / SIDE * columns + j / SIDE) * SIDE + i % SIDE) * SIDE + j % SIDE;
}

static void check_tiles(program_case *c, int64_t rows, int64_t columns) {
    const int64_t n = rows * columns;
    double *x = calloc((size_t)(n * SIDE * SIDE), sizeof *x);
    int32_t *swap = calloc((size_t)n, sizeof *swap);
    assert_true(x != NULL && swap != NULL);
    for (int64_t i = 0; i < n * SIDE * SIDE; ++i)
        x[i] = (double)i;
    for (int64_t i = 0; i < columns; ++i)
        for (int64_t j = 0; j < rows; ++j)
            swap[i * rows + j] = (int32_t)(j * columns + i);
    case_map(c, "swap", swap, n, 1, n);
    case_input(c, "x", x);
    case_run(c);
    double *y = case_result(c, "y");
    for (int64_t i = 0; i < columns * SIDE; ++i)
        for (int64_t j = 0; j < rows * SIDE; ++j)
            if (y[entry_at(i, j, rows)] != x[entry_at(j, i, columns)])
                fail_msg("(%lld, %lld): %g, not %g", (long long)i, (long long)j,
                         y[entry_at(i, j, rows)], x[entry_at(j, i, columns)]);
    free(x);
    free(y);
    free(swap);
}

static void check_entries(program_case *c, int64_t rows, int64_t columns) {
    const int64_t n = rows * columns;
    double *x = calloc((size_t)n, sizeof *x);
    int32_t *swap = calloc((size_t)n, sizeof *swap);
    assert_true(x != NULL && swap != NULL);
    for (int64_t i = 0; i < n; ++i) {
        x[i] = (double)i;
        swap[i] = (int32_t)(i % rows * columns + i / rows);
    }
    case_map(c, "swap", swap, n, 1, n);
    case_input(c, "x", x);
    case_run(c);
    double *y = case_result(c, "y");
    for (int64_t i = 0; i < columns; ++i)
        for (int64_t j = 0; j < rows; ++j)
            assert_true(y[i * rows + j] == x[j * columns + i]);
    free(x);
    free(y);
    free(swap);
}

static void transpositions(void **state) {
    static const shape shapes[] = {
        {false, 0, 0, 0}, {true, 0, 0, 0}, {true, 1, 1024, 1}, {true, 1, 256, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i)
        for (int number = i < 2 ? 1 : 2; number <= 3; ++number) {
            program_case c =
                open_script("transpose", number, &shapes[i], (weft_variant_choice){NULL, 0});
            (number > 1 ? check_tiles : check_entries)(&c, 3, 5);
            case_close(&c);
            c = open_script("transpose", number, &shapes[i], (weft_variant_choice){NULL, 0});
            (number > 1 ? check_tiles : check_entries)(&c, number > 1 ? 1 : 33, 7);
            case_close(&c);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(warp_barriers),
        cmocka_unit_test(transpositions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
