/* labels: quick */
/* Shapes of stretched boxes, rotated and cut into simplices: sqrt((s + 1/s)/2) of a square that is stretched by s; of a cube
 * sqrt((2 + s^-2)/3) s^(1/3). Cells and the whole have the same.
 * Tolerance: rounding of sums of up to 1000 terms, cubed: 1e-10. */
#include "fem/mesh/mesh.h"
#include "test_support.h"

#include <math.h>

static void stretch(weft_mesh *mesh, double s, double angle) {
    const int d = mesh->dimension;
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        double *x = mesh->x + i * d;
        x[0] *= s;
        const double a = x[0], b = d > 1 ? x[1] : 0;
        x[0] = cos(angle) * a - sin(angle) * b;
        if (d > 1)
            x[1] = sin(angle) * a + cos(angle) * b;
    }
}

static double expected(int d, double s) {
    return sqrt((d - 1 + 1 / (s * s)) / d) * pow(s, 1.0 / d);
}

static void boxes(void **state) {
    static const char *const names[] = {"square:16", "cube:6", "quads:16", "hexes:6", "interval:9"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        for (double s = 1; s < 100; s *= 4) {
            weft_error error = {0};
            weft_mesh *mesh = NULL;
            if (weft_mesh_read(names[i], 0, NULL, &mesh, &error) != WEFT_OK)
                fail_msg("%s", error.message);
            stretch(mesh, s, mesh->dimension > 1 ? 0.7 : 0);
            const weft_mesh_shape shape = weft_mesh_shape_of(mesh);
            const double wanted = mesh->dimension == 1 ? 1 : expected(mesh->dimension, s);
            assert_double_near(shape.cells, wanted, 0, 1e-10);
            assert_double_near(shape.domain, wanted, 0, 1e-10);
            weft_mesh_free(&mesh);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(boxes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
