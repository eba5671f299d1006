/* The integral of a component of a function over the cells, and their measure, by block: sums [2][blocks].
 *
 *     sizes    dimension d, nodes of a cell, points of the rule, lanes of `nodes`; of u: first entry, step; 0: u is 1; the first nodes of a
 *              cell, whose functions interpolate its map
 *     nodes    of the cells, in blocks of lanes
 *     x        [nodes][d]
 *     table    [points][nodes of a cell]: functions
 *     slopes   [d][points][nodes of the map]: derivatives of its functions by reference coordinates
 *     weights  [points] */
INLINE double determinant(const double *J)
{
    return J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) + J[2] * (J[3] * J[7] - J[4] * J[6]);
}

extern "C" __global__ void cell_integrals(long long n, const int64_t *sizes, const int32_t *nodes, const double *x,
                                          const double *table, const double *slopes, const double *weights,
                                          const double *u, double *sums)
{
    const int d = (int)sizes[0], width = (int)sizes[1], n_points = (int)sizes[2];
    const int64_t lanes = sizes[3], first = sizes[4], step = sizes[5];
    const int n_map = (int)sizes[6];
    double integral = 0, measure = 0;
    for (int64_t cell = element(); cell < n; cell += (int64_t)gridDim.x * blockDim.x)
        for (int p = 0; p < n_points; ++p) {
            const double *functions = table + (int64_t)p * width;
            double J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, value = step > 0 ? 0 : 1;
            for (int i = 0; i < d; ++i)
                for (int a = 0; a < d; ++a)
                    J[3 * i + a] = 0;
            for (int k = 0; k < n_map; ++k) {
                const double *at = x + (int64_t)nodes[place_of(cell, k, width, lanes)] * d;
                for (int a = 0; a < d; ++a) {
                    const double slope = slopes[((int64_t)a * n_points + p) * n_map + k];
                    for (int i = 0; i < d; ++i)
                        J[3 * i + a] += slope * at[i];
                }
            }
            for (int k = 0; k < width && step > 0; ++k)
                value += functions[k] * u[first + nodes[place_of(cell, k, width, lanes)] * step];
            const double weight = weights[p] * fabs(determinant(J));
            integral += weight * value;
            measure += weight;
        }
    integral = block_sum(integral);
    measure = block_sum(measure);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = integral;
        sums[gridDim.x + blockIdx.x] = measure;
    }
}
