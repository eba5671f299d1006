/* Predicts the iterations of CG with Jacobi's preconditioner from the element and the shapes of cells and mesh.
 *
 *      edges along a side x c(cell, kind of equations) x (1 + (degree - 1)/5) x ln(2/tolerance)/ln(2/1e-8)
 *
 * Measured to 1e-8 on two meshes each of the unit square or cube, of degrees 1 to 4, with a face, two opposite ones, or all
 * held: the iterations per edge were the same on both. The extremes of these conditions differ by a factor of 2 for scalars,
 * of which c is the geometric mean, and of 2 to 4 for bodies. Those are rarely held all around: c is that of a face.
 *
 * Decision  docs/decisions/0062-iterations-by-element.md */
#include "fem/weft_solver.h"

#include <math.h>

/* c of scalars, whose vectors are not coupled by derivatives either, and of elasticity (Poisson's ratio 0.3). */
static const struct {
    double scalar, elastic;
} growth[WEFT_CELL_TYPES] = {
    [WEFT_INTERVAL] = {0.8, 0.8},     [WEFT_TRIANGLE] = {3.2, 12.5},
    [WEFT_TETRAHEDRON] = {4.4, 22.4}, [WEFT_QUADRILATERAL] = {2.2, 8.8},
    [WEFT_HEXAHEDRON] = {2.4, 13.8},
};

static const double DEGREE = 0.2, MEASURED_TOLERANCE = 1e-8;

static double digits(double tolerance) {
    return fmax(log(2 / (tolerance > 0 ? tolerance : 1e-16)), 1);
}

double weft_cg_iterations_expected(const weft_assembly_problem *problem, double tolerance) {
    static const weft_cell_type simplices[] = {WEFT_POINT, WEFT_INTERVAL, WEFT_TRIANGLE,
                                               WEFT_TETRAHEDRON};
    const weft_cell_type cell =
        problem->cell != WEFT_POINT ? problem->cell : simplices[problem->dimension];
    const double flat = problem->cell_shape > 0 ? problem->cell_shape : 1;
    const double slender = problem->domain_shape > 0 ? problem->domain_shape : 1;
    const double across = fmax(pow((double)problem->n_nodes, 1.0 / problem->dimension) - 1, 1);
    const double side = across * flat * (problem->is_elastic ? slender * slender : 1 / slender);
    const double c = problem->is_elastic ? growth[cell].elastic : growth[cell].scalar;
    const double degree = 1 + DEGREE * fmax(problem->degree - 1, 0);
    return 1 + ceil(c * degree * side * digits(tolerance) / digits(MEASURED_TOLERANCE));
}

int weft_cg_iterations_limit(int dimension, int64_t n_nodes, double tolerance) {
    static const double LEAST = 10000, TIMES = 50;
    const weft_assembly_problem scalar = {.dimension = dimension, .n_nodes = n_nodes};
    return (int)fmin(fmax(LEAST, TIMES * weft_cg_iterations_expected(&scalar, tolerance)), 1e9);
}
