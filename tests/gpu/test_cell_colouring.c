/* labels: gpu */
/* Accumulating stores by colours of cells on a GPU: sums of small integers are exact, so they are
 * those of plain loops here to the bit; sums of real numbers are bitwise identical results in each
 * of 20 runs, and those of plain loops to a few last digits of what is added up. Vectors and
 * matrices, double and float, a node of many cells (more than there are colours), and in a loop
 * that is captured. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "gpu_support.h"
#include "program_support.h"

enum { TIMES = 20 };

static const char vectors[] = "index cells, nodes;\nconnectivity dofs : cells -> nodes[4];\n"
                              "input k : real[4] over cells;\ninput w : real[4,3] over cells;\n"
                              "b[dofs] += 2*k;\nc[dofs] += w;\nreturn b, c;\n";
static const char matrix[] = "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
                             "input k : real[3,3] over cells;\n"
                             "A[dofs,dofs] += 2*k;\nreturn A;\n";

static void skip_without_gpu(void) {
    weft_device *device = gpu_open(NULL);
    weft_device_free(&device);
}

/* Numbers in (-1, 1), or integers from -8 to 8. */
static double *numbers(uint64_t seed, int64_t n, bool integers) {
    double *list = random_list(&seed, n);
    for (int64_t i = 0; i < n && integers; ++i)
        list[i] = floor(8.99 * list[i]);
    return list;
}

/* Of a sum of at most a few dozen numbers below 16 in magnitude; a hub's has 500. */
static void assert_sums(const double *got, const double *wanted, int64_t n, bool integers,
                        bool single) {
    const double tolerance = integers ? 0 : single ? 5e-3 : 1e-11;
    for (int64_t i = 0; i < n; ++i)
        if (!(fabs(got[i] - wanted[i]) <= tolerance))
            fail_msg("[%lld]: %.17g, expected %.17g", (long long)i, got[i], wanted[i]);
}

static weft_compile_options options_of(bool single) {
    return (weft_compile_options){.size = sizeof(weft_compile_options),
                                  .scatter = WEFT_SCATTER_CELL_COLOURS,
                                  .single = single};
}

static void assert_by_colours(const program_case *c) {
    weft_kernel_info info;
    assert_int_equal(weft_compilation_kernels(c->compilation), 1);
    weft_compilation_kernel(c->compilation, 0, &info);
    assert_true(info.cell_colours);
}

static void vectors_once(int64_t n_cells, int hub, bool integers, bool single) {
    mesh m = mesh_make(n_cells, 4);
    for (int64_t i = 0; hub > 0 && i < n_cells; i += hub)
        m.dofs[4 * i] = 0;
    const weft_compile_options options = options_of(single);
    program_case c = case_open(NULL, "cuda", vectors, &options);
    double *k = numbers(3, 4 * n_cells, integers), *w = numbers(4, 12 * n_cells, integers);
    double *b = calloc((size_t)m.n_nodes, sizeof *b), *d = calloc((size_t)m.n_nodes * 3, sizeof *d);
    double *first_b = NULL, *first_c = NULL;
    assert_true(b && d);
    assert_by_colours(&c);
    case_map(&c, "dofs", m.dofs, n_cells, 4, m.n_nodes);
    case_input(&c, "k", k);
    case_input(&c, "w", w);
    for (int64_t i = 0; i < 4 * n_cells; ++i) {
        b[m.dofs[i]] += 2 * (single ? (double)(float)k[i] : k[i]);
        for (int j = 0; j < 3; ++j)
            d[3 * m.dofs[i] + j] += single ? (double)(float)w[3 * i + j] : w[3 * i + j];
    }
    for (int run = 0; run < TIMES; ++run) {
        case_run(&c);
        double *got_b = case_result(&c, "b"), *got_c = case_result(&c, "c");
        if (run == 0) {
            assert_sums(got_b, b, m.n_nodes, integers, single);
            assert_sums(got_c, d, 3 * m.n_nodes, integers, single);
            first_b = got_b;
            first_c = got_c;
            continue;
        }
        assert_same_bits(got_b, first_b, m.n_nodes);
        assert_same_bits(got_c, first_c, 3 * m.n_nodes);
        free(got_b);
        free(got_c);
    }
    case_close(&c);
    free(first_b);
    free(first_c);
    free(b);
    free(d);
    free(k);
    free(w);
    free(m.dofs);
}

static void sums_of_vectors(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 31, 33, 1003, 200003};
    skip_without_gpu();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        for (int mode = 0; mode < 4; ++mode)
            vectors_once(sizes[i], 0, mode & 1, mode & 2);
    for (int mode = 0; mode < 4; ++mode)
        vectors_once(20011, 40, mode & 1, mode & 2); /* 501 cells at node 0 */
}

/* A dense matrix, entry (i, j) at i * n + j. */
static void matrix_once(bool integers, bool single) {
    mesh m = mesh_make(3001, 3);
    const int64_t n = m.n_nodes;
    const weft_compile_options options = options_of(single);
    const size_t real_bytes = single ? sizeof(float) : sizeof(double),
                 bytes = (size_t)(n * n) * real_bytes;
    program_case c = case_open(NULL, "cuda", matrix, &options);
    weft_error error = {0};
    const int lanes = weft_program_lanes(c.program);
    const int64_t n_blocks = (m.n_cells + lanes - 1) / lanes;
    double *k = numbers(5, 9 * m.n_cells, integers);
    double *wanted = calloc((size_t)(n * n), sizeof *wanted),
           *got = calloc((size_t)(n * n), sizeof *got);
    void *first = malloc(bytes);
    assert_true(wanted && got && first);
    assert_by_colours(&c);
    case_map(&c, "dofs", m.dofs, m.n_cells, 3, n);
    case_input(&c, "k", k);
    weft_memory *values = case_memory(&c, bytes);
    weft_memory *positions = case_memory(&c, (size_t)(n_blocks * lanes * 9) * 4);
    uint32_t *p = c.arrays[c.n_memories - 1];
    for (int64_t i = 0; i < m.n_cells; ++i)
        for (int e = 0; e < 9; ++e) {
            const int64_t at = m.dofs[3 * i + e / 3] * n + m.dofs[3 * i + e % 3];
            p[(i / lanes * 9 + e) * lanes + i % lanes] = (uint32_t)at;
            wanted[at] += 2 * (single ? (double)(float)k[9 * i + e] : k[9 * i + e]);
        }
    case_check(weft_memory_write(positions, 0, p, weft_memory_bytes(positions), &error), &error);
    case_check(weft_program_bind_matrix(c.program, "A", values, positions, &error), &error);
    for (int run = 0; run < TIMES; ++run) {
        case_run(&c);
        case_check(weft_memory_read(values, 0, got, bytes, &error), &error);
        if (run == 0)
            memcpy(first, got, bytes);
        assert_memory_equal(got, first, bytes);
    }
    for (int64_t i = 0; single && i < n * n; ++i)
        got[i] = (double)((const float *)first)[i];
    assert_sums(got, wanted, n * n, integers, single);
    case_close(&c);
    free(first);
    free(got);
    free(wanted);
    free(k);
    free(m.dofs);
}

static void sums_of_matrices(void **state) {
    (void)state;
    skip_without_gpu();
    for (int mode = 0; mode < 4; ++mode)
        matrix_once(mode & 1, mode & 2);
}

/* Five iterations of a loop, which the device runs by itself where it records. */
static void in_a_loop(void **state) {
    (void)state;
    enum { CELLS = 5003, ITERATIONS = 5 };
    const weft_fragment fragment = {
        "test.weft", "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
                     "input k : real[3] over cells;\ninput x : real over nodes;\n"
                     "input n : real;\n"
                     "repeat at most 9 while (n < 5) {\n"
                     "    b[dofs] += k;\n    update x = x + b;\n    update n = n + 1;\n}\n"};
    const weft_compile_options options = options_of(false);
    weft_device *device = gpu_open(NULL);
    weft_library *library = NULL;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    weft_connectivity *connectivity = NULL;
    weft_error error = {0};
    mesh m = mesh_make(CELLS, 3);
    double *k = numbers(6, 3 * CELLS, true), *blocks = calloc(3 * (CELLS + 32), sizeof *blocks);
    double *wanted = calloc((size_t)m.n_nodes, sizeof *wanted);
    double *got = calloc((size_t)m.n_nodes, sizeof *got);
    int64_t iterations = -1;
    assert_true(blocks && wanted && got);
    weft_interleave(k, CELLS, 3, 32, blocks);
    for (int64_t i = 0; i < 3 * CELLS; ++i)
        wanted[m.dofs[i]] += ITERATIONS * k[i];
    gpu_check(weft_library_make(&library, &error), &error);
    gpu_check(weft_compile(library, weft_device_limits(device), &fragment, 1, &options,
                           &compilation, &error),
              &error);
    gpu_check(weft_program_make(device, compilation, &program, &error), &error);
    gpu_check(weft_connectivity_make(device, m.dofs, CELLS, 3, m.n_nodes, &connectivity, &error),
              &error);
    weft_memory *k_memory = gpu_memory(device, blocks, 3 * ((CELLS + 31) / 32 * 32) * sizeof *k);
    weft_memory *x = gpu_memory(device, NULL, (size_t)m.n_nodes * sizeof *got);
    weft_memory *n = gpu_memory(device, NULL, sizeof *got);
    gpu_check(weft_program_bind_connectivity(program, "dofs", connectivity, &error), &error);
    gpu_check(weft_program_bind(program, "k", k_memory, &error), &error);
    gpu_check(weft_program_bind(program, "x", x, &error), &error);
    gpu_check(weft_program_bind(program, "n", n, &error), &error);
    gpu_check(weft_program_run(program, &error), &error);
    gpu_check(weft_program_iterations(program, &iterations, &error), &error);
    gpu_check(weft_memory_read(x, 0, got, (size_t)m.n_nodes * sizeof *got, &error), &error);
    assert_int_equal(iterations, ITERATIONS);
    for (int64_t i = 0; i < m.n_nodes; ++i)
        assert_true(got[i] == wanted[i]);
    weft_program_free(&program);
    weft_compilation_free(&compilation);
    weft_connectivity_free(&connectivity);
    weft_memory_free(&k_memory);
    weft_memory_free(&x);
    weft_memory_free(&n);
    weft_library_free(&library);
    weft_device_free(&device);
    free(k);
    free(blocks);
    free(wanted);
    free(got);
    free(m.dofs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_vectors),
                                       cmocka_unit_test(sums_of_matrices),
                                       cmocka_unit_test(in_a_loop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
