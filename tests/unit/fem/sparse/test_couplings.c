/* labels: quick */
/* Anisotropy and jumps are distinguished from even coefficients by the couplings of the matrix: P1 on
 * regular and on distorted meshes, assembled here. On the regular meshes the tensor of a row is that
 * of the coefficient, so that the ratio of its eigenvalues is known. */
#include "fem/sparse/couplings.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include "operator_fixture.h"

typedef enum coefficient {
    EVEN,
    LAST_AXIS, /* value along the last axis, 1 across */
    DIAGONAL,  /* value along (1, 1[, 1]), 1 across */
    RANDOM     /* 1 or value in each cell */
} coefficient;

/* Gradients of the barycentric coordinates 1 .. d, by Cramer's rule; returns the volume times d!. */
static double gradients(const weft_mesh *mesh, const int32_t *nodes, double g[4][3]) {
    const int d = mesh->dimension;
    double e[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 1}};
    for (int i = 0; i < d; ++i)
        for (int k = 0; k < d; ++k)
            e[i][k] = mesh->x[nodes[i + 1] * d + k] - mesh->x[nodes[0] * d + k];
    double determinant = 0;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            const double *a = e[(i + 1) % 3], *b = e[(i + 2) % 3];
            const double cross = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
            g[i + 1][k] = cross;
            determinant += i == 0 ? e[0][k] * cross : 0;
        }
    for (int k = 0; k < 3; ++k) {
        g[0][k] = 0;
        for (int i = 1; i <= d; ++i) {
            g[i][k] /= determinant;
            g[0][k] -= g[i][k];
        }
    }
    return fabs(determinant);
}

static double energy(const double *a, const double *b, int d, coefficient which, double value) {
    double sum = 0, along_a = 0, along_b = 0;
    for (int k = 0; k < d; ++k) {
        sum += a[k] * b[k];
        along_a += a[k] / sqrt(d);
        along_b += b[k] / sqrt(d);
    }
    if (which == LAST_AXIS)
        return sum + (value - 1) * a[d - 1] * b[d - 1];
    return which == DIAGONAL ? sum + (value - 1) * along_a * along_b : sum;
}

static double *assemble(const weft_mesh *mesh, const weft_pattern *pattern, coefficient which,
                        double value) {
    const int d = mesh->dimension;
    double *values = calloc((size_t)pattern->n_entries, sizeof *values);
    uint64_t state = 7;
    for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
        const int32_t *nodes = mesh->cells + cell * (d + 1);
        double g[4][3];
        double factor = gradients(mesh, nodes, g);
        if (which == RANDOM && fixture_random(&state) < 0.5)
            factor *= value;
        for (int i = 0; i <= d; ++i)
            for (int j = 0; j <= d; ++j) {
                int64_t e = pattern->row_start[nodes[i]];
                while (pattern->columns[e] != nodes[j])
                    ++e;
                values[e] += factor * energy(g[i], g[j], d, which, value);
            }
    }
    return values;
}

static weft_couplings measure(const fixture *f, coefficient which, double value) {
    weft_pattern *pattern = NULL;
    weft_couplings out;
    assert_int_equal(weft_pattern_make(f->device, f->cells, 8, &pattern, NULL, NULL), WEFT_OK);
    double *values = assemble(f->mesh, pattern, which, value);
    const weft_couplings_matrix matrix = {pattern, values, 1, f->d, f->mesh->x};
    weft_couplings_measure(&matrix, &out);
    free(values);
    weft_pattern_free(&pattern);
    return out;
}

/* fixture_make's mesh is distorted; `regular` takes the nodes back to their places. */
static void check_mesh(int d, int cells_a_side, bool regular) {
    fixture f = fixture_make("host:2", d, cells_a_side, WEFT_PLAN_FUSED);
    for (int64_t i = 0; regular && i < d * f.mesh->n_nodes; ++i)
        f.mesh->x[i] = round(f.mesh->x[i] * cells_a_side) / cells_a_side;
    weft_couplings c = measure(&f, EVEN, 1);
    assert_int_equal(c.is, WEFT_COUPLINGS_EVEN);
    if (regular)
        assert_double_near(c.anisotropy, 1, 1e-9, 0);
    c = measure(&f, LAST_AXIS, 100);
    assert_int_equal(c.is, WEFT_COUPLINGS_ANISOTROPIC);
    if (regular)
        assert_double_near(c.anisotropy, 100, 1e-9, 0);
    assert_int_equal(measure(&f, LAST_AXIS, 0.01).is, WEFT_COUPLINGS_ANISOTROPIC);
    c = measure(&f, DIAGONAL, 100);
    assert_int_equal(c.is, WEFT_COUPLINGS_ANISOTROPIC);
    if (regular)
        assert_double_near(c.anisotropy, 100, 1e-9, 0);
    assert_int_equal(measure(&f, RANDOM, 1e4).is, WEFT_COUPLINGS_JUMPING);
    assert_int_equal(measure(&f, RANDOM, 2).is, WEFT_COUPLINGS_EVEN);
    fixture_free(&f);
}

static void regular_meshes(void **state) {
    (void)state;
    check_mesh(2, 30, true);
    check_mesh(3, 10, true);
}

static void distorted_meshes(void **state) {
    (void)state;
    check_mesh(2, 30, false);
    check_mesh(3, 10, false);
}

/* Cells 20 times as wide as they are high, with a coefficient of 1. */
static void flat_cells(void **state) {
    (void)state;
    fixture f = fixture_make("host:2", 2, 20, WEFT_PLAN_FUSED);
    for (int64_t i = 0; i < f.mesh->n_nodes; ++i)
        f.mesh->x[2 * i + 1] *= 0.05;
    assert_int_equal(measure(&f, EVEN, 1).is, WEFT_COUPLINGS_ANISOTROPIC);
    fixture_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_meshes),
        cmocka_unit_test(distorted_meshes),
        cmocka_unit_test(flat_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
