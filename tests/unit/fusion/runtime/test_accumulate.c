/* labels: quick */
/* Accumulating stores end to end on the host, against plain loops in C.
 * Tolerance: targets sum up to some dozens of terms of size 1 in another order, so 1e-13; results
 * of different numbers of threads are compared bit by bit. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"
#include "program_support.h"

static const double TOLERANCE = 1e-13;

/* ---- accumulating stores ---- */

static const char *const add_script = "index cells, nodes;\n"
                                      "connectivity dofs : cells -> nodes[4];\n"
                                      "input u : real over nodes;\n"
                                      "input k : real over cells;\n"
                                      "input w : real[4,3] over cells;\n"
                                      "v = k*u[dofs] + 1;\n"
                                      "b[dofs] += v;\n"
                                      "c[dofs] += w;\n"
                                      "b[dofs] += u[dofs];\n"
                                      "return b, c;\n";

typedef struct sums {
    double *b, *c;
} sums;

static sums add_run(const mesh *m, weft_scatter scatter, weft_plan_kind plan, int threads) {
    char device[16];
    snprintf(device, sizeof device, "host:%d", threads);
    const weft_compile_options options = {.size = sizeof options, .scatter = scatter, .plan = plan};
    program_case c = case_open(NULL, device, add_script, &options);
    uint64_t seed = 21;
    double *u = random_list(&seed, m->n_nodes), *k = random_list(&seed, m->n_cells);
    double *w = random_list(&seed, 12 * m->n_cells);
    case_map(&c, "dofs", m->dofs, m->n_cells, 4, m->n_nodes);
    case_input(&c, "u", u);
    case_input(&c, "k", k);
    case_input(&c, "w", w);
    case_run(&c);
    case_run(&c); /* what accumulates starts from zero each time */
    sums made = {case_result(&c, "b"), case_result(&c, "c")};
    free(u);
    free(k);
    free(w);
    case_close(&c);
    return made;
}

static sums add_expected(const mesh *m) {
    uint64_t seed = 21;
    double *u = random_list(&seed, m->n_nodes), *k = random_list(&seed, m->n_cells);
    double *w = random_list(&seed, 12 * m->n_cells);
    sums made = {calloc((size_t)m->n_nodes, sizeof(double)),
                 calloc((size_t)m->n_nodes * 3, sizeof(double))};
    for (int64_t i = 0; i < m->n_cells; ++i)
        for (int a = 0; a < 4; ++a) {
            const int32_t d = m->dofs[4 * i + a];
            made.b[d] += k[i] * u[d] + 1 + u[d];
            for (int j = 0; j < 3; ++j)
                made.c[3 * d + j] += w[12 * i + 3 * a + j];
        }
    free(u);
    free(k);
    free(w);
    return made;
}

static void sums_free(sums *s) {
    free(s->b);
    free(s->c);
}

static void accumulating(void **state) {
    (void)state;
    const int64_t sizes[] = {1, 7, 8, 9, 1003, 20011};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        mesh m = mesh_make(sizes[k], 4);
        sums wanted = add_expected(&m);
        for (int scatter = 0; scatter < 2; ++scatter)
            for (int plan = 0; plan < 2; ++plan) {
                sums got = add_run(&m, (weft_scatter)scatter, (weft_plan_kind)plan, 2);
                for (int64_t i = 0; i < m.n_nodes; ++i)
                    assert_double_near(got.b[i], wanted.b[i], TOLERANCE, TOLERANCE);
                for (int64_t i = 0; i < 3 * m.n_nodes; ++i)
                    assert_double_near(got.c[i], wanted.c[i], TOLERANCE, TOLERANCE);
                sums_free(&got);
            }
        sums_free(&wanted);
        free(m.dofs);
    }
}

static void threads_change_no_bit(void **state) {
    (void)state;
    mesh m = mesh_make(50021, 4);
    for (int scatter = case_on_gpu(); scatter < 2; ++scatter) {
        sums one = add_run(&m, (weft_scatter)scatter, WEFT_PLAN_FUSED, 1);
        for (int threads = 2; threads <= 4; ++threads) {
            sums more = add_run(&m, (weft_scatter)scatter, WEFT_PLAN_FUSED, threads);
            assert_same_bits(one.b, more.b, m.n_nodes);
            assert_same_bits(one.c, more.c, 3 * m.n_nodes);
            sums_free(&more);
        }
        sums_free(&one);
    }
    free(m.dofs);
}

/* An input that is added to keeps what it had; its memory is the caller's. */
static void adding_to_an_input(void **state) {
    (void)state;
    mesh m = mesh_make(501, 3);
    for (int scatter = 0; scatter < 2; ++scatter) {
        const weft_compile_options options = {.size = sizeof options,
                                              .scatter = (weft_scatter)scatter};
        program_case c = case_open(NULL, "host:2",
                                   "index cells, nodes;\n"
                                   "connectivity dofs : cells -> nodes[3];\n"
                                   "input k : real[3] over cells;\ninput y : real over nodes;\n"
                                   "y[dofs] += 2*k;\nreturn y;\n",
                                   &options);
        uint64_t seed = 4;
        double *k = random_list(&seed, 3 * m.n_cells), *y = random_list(&seed, m.n_nodes);
        case_map(&c, "dofs", m.dofs, m.n_cells, 3, m.n_nodes);
        case_input(&c, "k", k);
        case_input(&c, "y", y);
        case_run(&c);
        case_run(&c);
        for (int64_t i = 0; i < 3 * m.n_cells; ++i)
            y[m.dofs[i]] += 2 * (2 * k[i]);
        double *got = case_result(&c, "y");
        for (int64_t i = 0; i < m.n_nodes; ++i)
            assert_double_near(got[i], y[i], TOLERANCE, TOLERANCE);
        free(got);
        free(k);
        free(y);
        case_close(&c);
    }
    free(m.dofs);
}

/* What is read after it was accumulated is complete: a barrier, in both plans. */
static void reading_after_accumulating(void **state) {
    (void)state;
    mesh m = mesh_make(3001, 3);
    for (int mode = 0; mode < 4; ++mode) {
        const weft_compile_options options = {.size = sizeof options,
                                              .scatter = (weft_scatter)(mode / 2),
                                              .plan = (weft_plan_kind)(mode % 2)};
        program_case c = case_open(NULL, "host:2",
                                   "index cells, nodes;\n"
                                   "connectivity dofs : cells -> nodes[3];\n"
                                   "input k : real[3] over cells;\n"
                                   "count[dofs] += 0*k + 1;\n"
                                   "sum[dofs] += k;\n"
                                   "mean = sum/max(count, 1);\n"
                                   "back = mean[dofs] - k;\n"
                                   "return mean, back;\n",
                                   &options);
        uint64_t seed = 14;
        double *k = random_list(&seed, 3 * m.n_cells);
        double *sum = calloc((size_t)m.n_nodes, sizeof *sum);
        double *count = calloc((size_t)m.n_nodes, sizeof *count);
        case_map(&c, "dofs", m.dofs, m.n_cells, 3, m.n_nodes);
        case_input(&c, "k", k);
        case_run(&c);
        for (int64_t i = 0; i < 3 * m.n_cells; ++i) {
            sum[m.dofs[i]] += k[i];
            count[m.dofs[i]] += 1;
        }
        double *mean = case_result(&c, "mean"), *back = case_result(&c, "back");
        for (int64_t i = 0; i < m.n_nodes; ++i)
            assert_double_near(mean[i], sum[i] / fmax(count[i], 1), TOLERANCE, TOLERANCE);
        for (int64_t i = 0; i < 3 * m.n_cells; ++i) {
            const int32_t d = m.dofs[i];
            assert_double_near(back[i], sum[d] / fmax(count[d], 1) - k[i], TOLERANCE, TOLERANCE);
        }
        free(mean);
        free(back);
        free(k);
        free(sum);
        free(count);
        case_close(&c);
    }
    free(m.dofs);
}

/* Two connectivities in one kernel: no schedule serves both, so it runs block after block. */
static void two_connectivities(void **state) {
    (void)state;
    mesh m = mesh_make(2003, 3);
    uint64_t seed = 31;
    const int64_t n_edges = 900;
    int32_t *edges = random_map(&seed, m.n_cells, 2, n_edges);
    double *k = random_list(&seed, m.n_cells);
    for (int scatter = 0; scatter < 2; ++scatter) {
        const weft_compile_options options = {.size = sizeof options,
                                              .scatter = (weft_scatter)scatter};
        program_case c = case_open(NULL, "host:3",
                                   "index cells, nodes, edges;\n"
                                   "connectivity dofs : cells -> nodes[3];\n"
                                   "connectivity sides : cells -> edges[2];\n"
                                   "input k : real over cells;\n"
                                   "input one : real[3];\ninput two : real[2];\n"
                                   "b[dofs] += k*one;\ne[sides] += k*two;\nreturn b, e;\n",
                                   &options);
        const double one[3] = {1, 2, 3}, two[2] = {4, 5};
        case_map(&c, "dofs", m.dofs, m.n_cells, 3, m.n_nodes);
        case_map(&c, "sides", edges, m.n_cells, 2, n_edges);
        case_input(&c, "k", k);
        case_input(&c, "one", one);
        case_input(&c, "two", two);
        case_run(&c);
        double *b = case_result(&c, "b"), *e = case_result(&c, "e");
        double *wanted_b = calloc((size_t)m.n_nodes, sizeof *b);
        double *wanted_e = calloc((size_t)n_edges, sizeof *e);
        for (int64_t i = 0; i < m.n_cells; ++i) {
            for (int a = 0; a < 3; ++a)
                wanted_b[m.dofs[3 * i + a]] += k[i] * one[a];
            for (int a = 0; a < 2; ++a)
                wanted_e[edges[2 * i + a]] += k[i] * two[a];
        }
        for (int64_t i = 0; i < m.n_nodes; ++i)
            assert_double_near(b[i], wanted_b[i], TOLERANCE, TOLERANCE);
        for (int64_t i = 0; i < n_edges; ++i)
            assert_double_near(e[i], wanted_e[i], TOLERANCE, TOLERANCE);
        free(b);
        free(e);
        free(wanted_b);
        free(wanted_e);
        case_close(&c);
    }
    free(edges);
    free(k);
    free(m.dofs);
}

/* From one plain index set to another: nodes are the targets of cells and have targets of their
 * own. */
static void from_a_plain_index_set(void **state) {
    (void)state;
    mesh m = mesh_make(301, 3);
    const int64_t n_coarse = 60;
    uint64_t seed = 41;
    int32_t *parents = random_map(&seed, m.n_nodes, 2, n_coarse);
    double *k = random_list(&seed, 3 * m.n_cells), *f = random_list(&seed, 2 * m.n_nodes);
    double *v = random_list(&seed, 6 * m.n_nodes);
    for (int mode = 0; mode < 4; ++mode) {
        const weft_compile_options options = {.size = sizeof options,
                                              .scatter = (weft_scatter)(mode / 2),
                                              .plan = (weft_plan_kind)(mode % 2)};
        program_case c = case_open(NULL, "host:2",
                                   "index cells, nodes, coarse;\n"
                                   "connectivity dofs : cells -> nodes[3];\n"
                                   "connectivity parents : nodes -> coarse[2];\n"
                                   "input k : real[3] over cells;\n"
                                   "input f : real[2] over nodes;\n"
                                   "input v : real[2,3] over nodes;\n"
                                   "b[dofs] += k;\n"
                                   "e[parents] += f*b;\n"
                                   "g[parents] += 2*v;\n"
                                   "return e, g;\n",
                                   &options);
        case_map(&c, "dofs", m.dofs, m.n_cells, 3, m.n_nodes);
        case_map(&c, "parents", parents, m.n_nodes, 2, n_coarse);
        case_input(&c, "k", k);
        case_input(&c, "f", f);
        case_input(&c, "v", v);
        case_run(&c);
        double *b = calloc((size_t)m.n_nodes, sizeof *b), e[60] = {0}, g[60][3] = {{0}};
        for (int64_t i = 0; i < 3 * m.n_cells; ++i)
            b[m.dofs[i]] += k[i];
        for (int64_t i = 0; i < m.n_nodes; ++i)
            for (int a = 0; a < 2; ++a) {
                e[parents[2 * i + a]] += f[2 * i + a] * b[i];
                for (int j = 0; j < 3; ++j)
                    g[parents[2 * i + a]][j] += 2 * v[6 * i + 3 * a + j];
            }
        double *got_e = case_result(&c, "e"), *got_g = case_result(&c, "g");
        for (int i = 0; i < n_coarse; ++i) {
            assert_double_near(got_e[i], e[i], TOLERANCE, TOLERANCE);
            for (int j = 0; j < 3; ++j)
                assert_double_near(got_g[3 * i + j], g[i][j], TOLERANCE, TOLERANCE);
        }
        free(b);
        free(got_e);
        free(got_g);
        case_close(&c);
    }
    free(parents);
    free(k);
    free(f);
    free(v);
    free(m.dofs);
}

/* What is added may be a list's next value, which lives in the list's own memory. */
static void adding_an_update(void **state) {
    (void)state;
    mesh m = mesh_make(301, 3);
    uint64_t seed = 43;
    double *k = random_list(&seed, 3 * m.n_cells);
    for (int mode = 0; mode < 4; ++mode) {
        const weft_compile_options options = {.size = sizeof options,
                                              .scatter = (weft_scatter)(mode / 2),
                                              .plan = (weft_plan_kind)(mode % 2)};
        program_case c = case_open(NULL, "host:2",
                                   "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
                                   "input k : real[3] over cells;\n"
                                   "old = k;\nupdate k = 3*k;\nb[dofs] += k;\nd[dofs] += old;\n"
                                   "return b, d;\n",
                                   &options);
        case_map(&c, "dofs", m.dofs, m.n_cells, 3, m.n_nodes);
        case_input(&c, "k", k);
        case_run(&c);
        double *b = case_result(&c, "b"), *d = case_result(&c, "d"), *next = case_result(&c, "k");
        double *wanted = calloc((size_t)m.n_nodes, sizeof *wanted);
        for (int64_t i = 0; i < 3 * m.n_cells; ++i) {
            wanted[m.dofs[i]] += k[i];
            assert_double_near(next[i], 3 * k[i], 0, 0);
        }
        for (int64_t i = 0; i < m.n_nodes; ++i) {
            assert_double_near(b[i], 3 * wanted[i], 3 * TOLERANCE, 3 * TOLERANCE);
            assert_double_near(d[i], wanted[i], TOLERANCE, TOLERANCE);
        }
        free(b);
        free(d);
        free(next);
        free(wanted);
        case_close(&c);
    }
    free(k);
    free(m.dofs);
}

/* ---- A[dofs,dofs] += K: here A is a dense matrix, entry (i, j) at i * n + j ---- */

static void matrix(void **state) {
    (void)state;
    mesh m = mesh_make(3001, 3); /* several chunks, so several colours */
    const int64_t n = m.n_nodes;
    double *first = calloc((size_t)(n * n), sizeof *first);
    assert_non_null(first);
    for (int threads = 1; threads <= 4; ++threads) {
        char device[16];
        snprintf(device, sizeof device, "host:%d", threads);
        program_case c = case_open(NULL, device,
                                   "index cells, nodes;\n"
                                   "connectivity dofs : cells -> nodes[3];\n"
                                   "input k : real[3,3] over cells;\n"
                                   "A[dofs,dofs] += 2*k;\nreturn A;\n",
                                   NULL);
        weft_error error = {0};
        const int lanes = weft_program_lanes(c.program);
        const int64_t n_blocks = (m.n_cells + lanes - 1) / lanes;
        uint64_t seed = 17;
        double *k = random_list(&seed, 9 * m.n_cells);
        case_map(&c, "dofs", m.dofs, m.n_cells, 3, n);
        case_input(&c, "k", k);
        weft_memory *values = case_memory(&c, (size_t)(n * n) * sizeof(double));
        double *A = c.arrays[c.n_memories - 1];
        weft_memory *positions = case_memory(&c, (size_t)(n_blocks * lanes * 9) * 4);
        uint32_t *p = c.arrays[c.n_memories - 1];
        for (int64_t i = 0; i < m.n_cells; ++i)
            for (int e = 0; e < 9; ++e)
                p[(i / lanes * 9 + e) * lanes + i % lanes] =
                    (uint32_t)(m.dofs[3 * i + e / 3] * n + m.dofs[3 * i + e % 3]);
        case_check(weft_memory_write(positions, 0, p, weft_memory_bytes(positions), &error),
                   &error); /* a copy on a GPU */
        case_check(weft_program_bind_matrix(c.program, "A", values, positions, &error), &error);
        case_run(&c);
        case_run(&c); /* from zero again */
        case_check(weft_memory_read(values, 0, A, (size_t)(n * n) * sizeof *A, &error), &error);
        double *wanted = calloc((size_t)(n * n), sizeof *wanted);
        for (int64_t i = 0; i < m.n_cells; ++i)
            for (int e = 0; e < 9; ++e)
                wanted[m.dofs[3 * i + e / 3] * n + m.dofs[3 * i + e % 3]] += 2 * k[9 * i + e];
        for (int64_t i = 0; i < n * n; ++i)
            assert_double_near(A[i], wanted[i], TOLERANCE, TOLERANCE);
        if (threads == 1)
            memcpy(first, A, (size_t)(n * n) * sizeof *first);
        if (!case_on_gpu())
            assert_same_bits(A, first, n * n);
        free(wanted);
        free(k);
        case_close(&c);
    }
    free(first);
    free(m.dofs);
}

int main(void) {
    const struct CMUnitTest tests[] = {

        cmocka_unit_test(accumulating),       cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(adding_to_an_input), cmocka_unit_test(reading_after_accumulating),
        cmocka_unit_test(two_connectivities), cmocka_unit_test(from_a_plain_index_set),
        cmocka_unit_test(adding_an_update),   cmocka_unit_test(matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
