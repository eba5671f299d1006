/* labels: quick */
/* Lists over cells and over nodes, and loads of the one from the other, end to end on the host.
 * Tolerance: a few roundings of numbers of size 1, so 1e-13; what is only moved is compared bit by
 * bit. */
#include "program_support.h"

static const double TOLERANCE = 1e-13;

/* ---- indirect loads; stores over a plain index set ---- */

static void indirect_loads(void **state) {
    (void)state;
    program_case c = case_open(
        NULL, "host:2",
        "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
        "input x : real[2] over nodes;\ninput f : real over nodes;\n"
        "input k : real over cells;\n"
        "X = x[dofs];\n"
        "area = (X[1,0] - X[0,0])*(X[2,1] - X[0,1]) - (X[2,0] - X[0,0])*(X[1,1] - X[0,1]);\n"
        "s = k*f[dofs] + area;\n"
        "first = x[dofs][0];\n"
        "g = 2*f;\n"
        "h = x[1] + g;\n"
        "y = 3*x;\n"
        "return area, s, first, g, h, y;\n",
        NULL);
    for (int64_t n = 0; n < 3; ++n) {
        mesh m = mesh_make(n == 0 ? 1 : n == 1 ? 8 : 2001, 3);
        uint64_t seed = 3;
        double *x = random_list(&seed, 2 * m.n_nodes), *f = random_list(&seed, m.n_nodes);
        double *k = random_list(&seed, m.n_cells);
        case_map(&c, "dofs", m.dofs, m.n_cells, 3, m.n_nodes);
        case_input(&c, "x", x);
        case_input(&c, "f", f);
        case_input(&c, "k", k);
        case_run(&c);
        double *area = case_result(&c, "area"), *s = case_result(&c, "s");
        double *first = case_result(&c, "first"), *g = case_result(&c, "g");
        double *h = case_result(&c, "h"), *y = case_result(&c, "y");
        for (int64_t i = 0; i < m.n_cells; ++i) {
            const int32_t *d = m.dofs + 3 * i;
            const double *a = x + 2 * d[0], *b = x + 2 * d[1], *e = x + 2 * d[2];
            const double wanted = (b[0] - a[0]) * (e[1] - a[1]) - (e[0] - a[0]) * (b[1] - a[1]);
            assert_double_near(area[i], wanted, TOLERANCE, TOLERANCE);
            for (int j = 0; j < 3; ++j)
                assert_double_near(s[3 * i + j], k[i] * f[d[j]] + wanted, TOLERANCE, TOLERANCE);
            assert_same_bits(first + 2 * i, a, 2);
        }
        for (int64_t i = 0; i < m.n_nodes; ++i) {
            assert_double_near(g[i], 2 * f[i], 0, 0);
            assert_double_near(h[i], x[2 * i + 1] + 2 * f[i], 4e-16, 4e-16);
            assert_double_near(y[2 * i], 3 * x[2 * i], 0, 0);
            assert_double_near(y[2 * i + 1], 3 * x[2 * i + 1], 0, 0);
        }
        free(area);
        free(s);
        free(first);
        free(g);
        free(h);
        free(y);
        free(x);
        free(f);
        free(k);
        /* the program keeps the last connectivity: its indices live until the case is closed */
        if (n == 2) {
            case_close(&c);
        }
        free(m.dofs);
    }
}

/* Names of the script that meet the generator's own: all are different variables. */
static void names_that_meet(void **state) {
    (void)state;
    mesh m = mesh_make(33, 3);
    program_case c = case_open(NULL, "host:1",
                               "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
                               "connectivity a_at_dofs : cells -> nodes[3];\n"
                               "input x, x_at_a : real over nodes;\n"
                               "input x_at_dofs, x_at_dofs_0, block, start, arithmetic_0, int : "
                               "real over cells;\n"
                               "p = 1*x[dofs] + 2*x[a_at_dofs] + 4*x_at_a[dofs];\n"
                               "q = x_at_dofs + 2*x_at_dofs_0 + 4*block + 8*start + "
                               "16*arithmetic_0 + 32*int;\n"
                               "s = sqrt((p + q)^2);\nreturn s;\n",
                               NULL);
    static const char *const names[] = {"x_at_dofs", "x_at_dofs_0",  "block",
                                        "start",     "arithmetic_0", "int"};
    double *x = malloc((size_t)m.n_nodes * sizeof *x), *y = malloc((size_t)m.n_nodes * sizeof *y);
    double lists[6][33];
    assert_true(x != NULL && y != NULL);
    for (int64_t i = 0; i < m.n_nodes; ++i) {
        x[i] = (double)i;
        y[i] = 1000.0 + (double)i;
    }
    case_map(&c, "dofs", m.dofs, m.n_cells, 3, m.n_nodes);
    case_map(&c, "a_at_dofs", m.dofs, m.n_cells, 3, m.n_nodes);
    case_input(&c, "x", x);
    case_input(&c, "x_at_a", y);
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < 33; ++i)
            lists[k][i] = 100.0 * k + i;
        case_input(&c, names[k], lists[k]);
    }
    case_run(&c);
    double *s = case_result(&c, "s");
    for (int i = 0; i < 33; ++i)
        for (int a = 0; a < 3; ++a) {
            const int32_t d = m.dofs[3 * i + a];
            double wanted = 3 * x[d] + 4 * y[d];
            for (int k = 0; k < 6; ++k)
                wanted += (double)(1 << k) * lists[k][i];
            assert_double_near(s[3 * i + a], wanted, 0, 0);
        }
    free(s);
    free(x);
    free(y);
    case_close(&c);
    free(m.dofs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indirect_loads),
        cmocka_unit_test(names_that_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
