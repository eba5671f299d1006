/* labels: full */
/* Coefficients that jump at random from cell to cell, by up to 1e12: what is called converged agrees with a dense
 * factorisation in long double to 1e-5 of the largest value, with every preconditioner; what does not is refused,
 * with what to try. */
#include "solve_run.h"

#include <math.h>

enum { N = 13, NODES = (N + 1) * (N + 1), CELLS = 2 * N * N };

typedef struct problem {
    double x[NODES][2], jump;
    int cells[CELLS][3];
    bool is_hard[CELLS];
    double exact[NODES];
} problem;

static uint64_t seed;
static double random_number(void) { /* [0, 1) */
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 32) * 0x1p-32;
}

/* An irregular square; a share of its cells has the coefficient `jump`, the others 1. */
static void make(problem *p, uint64_t number) {
    seed = 1000 + number;
    for (int i = 0; i < 8; ++i)
        (void)random_number();
    p->jump = pow(10, 24 * random_number() - 12);
    const double share = random_number() < 0.5 ? 0.5 : 0.2;
    for (int i = 0; i < NODES; ++i)
        for (int k = 0; k < 2; ++k) {
            const int at = k ? i / (N + 1) : i % (N + 1);
            const bool is_inside = i % (N + 1) % N != 0 && i / (N + 1) % N != 0;
            p->x[i][k] = (at + (is_inside ? 0.4 * random_number() - 0.2 : 0)) / N;
        }
    for (int c = 0; c < CELLS; ++c) {
        const int a = c / 2 / N * (N + 1) + c / 2 % N, d = a + N + 2;
        const int triangle[3] = {a, c % 2 ? d : a + 1, c % 2 ? a + N + 1 : d};
        memcpy(p->cells[c], triangle, sizeof triangle);
        p->is_hard[c] = random_number() < share;
    }
}

static void write(const problem *p, const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n1 1 \"left\"\n1 2 \"right\"\n"
            "2 3 \"soft\"\n2 4 \"hard\"\n$EndPhysicalNames\n$Nodes\n%d\n",
            NODES);
    for (int i = 0; i < NODES; ++i)
        fprintf(file, "%d %.17g %.17g 0\n", i + 1, p->x[i][0], p->x[i][1]);
    fprintf(file, "$EndNodes\n$Elements\n%d\n", 2 * N + CELLS);
    for (int i = 0; i < 2 * N; ++i) {
        const int a = i / 2 * (N + 1) + i % 2 * N;
        fprintf(file, "%d 1 2 %d %d %d %d\n", i + 1, 1 + i % 2, 1 + i % 2, a + 1, a + N + 2);
    }
    for (int c = 0; c < CELLS; ++c)
        fprintf(file, "%d 2 2 %d %d %d %d %d\n", 2 * N + c + 1, 3 + p->is_hard[c],
                3 + p->is_hard[c], p->cells[c][0] + 1, p->cells[c][1] + 1, p->cells[c][2] + 1);
    fputs("$EndElements\n", file);
    assert_int_equal(fclose(file), 0);
}

/* -div(k grad u) = 1 in linear elements; rows of fixed nodes are those of the identity. */
static void assemble(const problem *p, long double (*A)[NODES], long double *b) {
    memset(A, 0, sizeof(long double[NODES][NODES]));
    memset(b, 0, sizeof(long double[NODES]));
    for (int c = 0; c < CELLS; ++c) {
        const int *v = p->cells[c];
        long double g[3][2], area2 = 0;
        for (int i = 0; i < 3; ++i) { /* the opposite edge, turned: 2 |T| grad phi_i */
            const double *s = p->x[v[(i + 1) % 3]], *t = p->x[v[(i + 2) % 3]];
            g[i][0] = (long double)s[1] - t[1];
            g[i][1] = (long double)t[0] - s[0];
            area2 += (long double)p->x[v[i]][0] * g[i][0];
        }
        for (int i = 0; i < 3; ++i) {
            b[v[i]] += area2 / 6;
            for (int j = 0; j < 3; ++j)
                A[v[i]][v[j]] += (p->is_hard[c] ? p->jump : 1) *
                                 (g[i][0] * g[j][0] + g[i][1] * g[j][1]) / (2 * area2);
        }
    }
    for (int i = 0; i < NODES; ++i)
        for (int j = 0; j < NODES; ++j) {
            const bool is_given = i % (N + 1) % N == 0, other = j % (N + 1) % N == 0;
            if (!is_given && other) {
                b[i] -= j % (N + 1) == N ? A[i][j] : 0;
                A[i][j] = 0;
            }
            if (is_given)
                A[i][j] = i == j;
            if (is_given)
                b[i] = i % (N + 1) == N;
        }
}

static void factorise(problem *p) {
    long double(*A)[NODES] = calloc(NODES, sizeof *A), b[NODES];
    assert_non_null(A);
    assemble(p, A, b);
    for (int k = 0; k < NODES; ++k)
        for (int i = k + 1; i < NODES; ++i) {
            const long double factor = A[i][k] / A[k][k];
            for (int j = k; j < NODES && factor != 0; ++j)
                A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
    for (int i = NODES; i-- > 0;) {
        for (int j = i + 1; j < NODES; ++j)
            b[i] -= A[i][j] * b[j];
        b[i] /= A[i][i];
        p->exact[i] = (double)b[i];
    }
    free(A);
}

static double error_of(const problem *p, const char *json) {
    json_t *root = json_loads(json, 0, NULL);
    double most = 0, error = 0;
    assert_non_null(root);
    for (int i = 0; i < NODES; ++i) {
        most = fmax(most, fabs(p->exact[i]));
        error = fmax(error, fabs(p->exact[i] - app_probe_value(root, (size_t)i)));
    }
    json_decref(root);
    return error / most;
}

/* Returns whether the solve has converged; then the answer is right. */
static bool solve(const problem *p, const char *mesh, const char *preconditioner) {
    char probes[NODES][64], hard[64];
    const char *command[2 * NODES + 24] = {WEFT_BINARY_DIR "/poisson",
                                           "--mesh",
                                           mesh,
                                           "--source",
                                           "1",
                                           "--diffusivity",
                                           "@soft=1",
                                           "--diffusivity",
                                           hard,
                                           "--dirichlet",
                                           "left=0",
                                           "--dirichlet",
                                           "right=1",
                                           "--preconditioner",
                                           preconditioner,
                                           "--json",
                                           "-"};
    int n = 17;
    snprintf(hard, sizeof hard, "@hard=%.17g", p->jump);
    for (int i = 0; i < NODES; ++i) {
        snprintf(probes[i], sizeof probes[i], "%.17g,%.17g", p->x[i][0], p->x[i][1]);
        command[n++] = "--probe";
        command[n++] = probes[i];
    }
    test_run run = test_program(command, NULL);
    const bool converged = run.exit_code == 0;
    if (converged && !(error_of(p, run.output) < 1e-5))
        fail_msg("%s, jump %.1e: converged with an error of %.1e", preconditioner, p->jump,
                 error_of(p, run.output));
    if (!converged) { /* a hierarchy may break down; otherwise rounding is named */
        assert_int_equal(1, run.exit_code);
        assert_non_null(strstr(run.error, "not converged"));
        assert_null(strstr(run.error, "raise --max-iterations"));
    }
    test_run_free(&run);
    return converged;
}

static void what_has_converged_is_right(void **state) {
    (void)state;
    static const char *const preconditioners[] = {"auto", "none", "chebyshev", "aggregation"};
    enum { PROBLEMS = 14 };
    char *folder = test_folder_make(), *mesh = test_path(folder, "jump.msh");
    int n_converged = 0;
    for (uint64_t i = 0; i < PROBLEMS; ++i) {
        problem p;
        make(&p, i);
        factorise(&p);
        write(&p, mesh);
        for (int k = 0; k < 4; ++k)
            if (solve(&p, mesh, preconditioners[k]))
                ++n_converged;
            else /* up to 1e8 all are solved, as docs/limits.md says */
                assert_true(fabs(log10(p.jump)) > 8);
    }
    assert_true(n_converged > 4 * PROBLEMS / 2);
    free(mesh);
    test_folder_remove(&folder);
}

/* A strip with inclusions, held on one side: a factorisation leaves a small b - A x, but solves a matrix whose stiff entries
 * are rounded. The value is that of the matrix in exact arithmetic (60 digits, mpmath). */
static void factorisations(void **state) {
    (void)state;
    const double exact = 0.26562335966651;
    test_run run = test_program(
        (const char *const[]){WEFT_BINARY_DIR "/poisson", "--mesh",
                              WEFT_SOURCE_DIR "/tests/solve/data/inclusions.msh", "--source", "1",
                              "--diffusivity", "@g0=1", "--diffusivity", "@g1=11153174427.215292",
                              "--dirichlet", "left=0", "--preconditioner", "cholmod", "--probe",
                              "1,0.1", "--json", "-", NULL},
        NULL);
    const bool is_missing = run.exit_code == 2 && strstr(run.error, "CHOLMOD is not found");
    if (run.exit_code == 0) {
        json_t *root = json_loads(run.output, 0, NULL);
        assert_non_null(root);
        assert_double_near(app_probe_value(root, 0), exact, 1e-5, 0);
        json_decref(root);
    } else if (!is_missing) {
        assert_int_equal(1, run.exit_code);
        assert_non_null(strstr(run.error, "not converged"));
    }
    test_run_free(&run);
    if (is_missing)
        skip_test("CHOLMOD is not installed");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_has_converged_is_right),
                                       cmocka_unit_test(factorisations)};
    return test_exit_code(cmocka_run_group_tests(tests, NULL, NULL), sizeof tests / sizeof *tests);
}
