/** What bench_host is measured against: the loops a competent user would write, compiled -O3
 * -march=native. */
#ifndef BENCH_HOST_RIVALS_H
#define BENCH_HOST_RIVALS_H

#include <stddef.h>
#include <stdint.h>

/** Local P1 stiffness matrices in the style of FFCx's tabulate_tensor, cell after cell.
 *  x [n_nodes][d], cells [n_cells][d+1], K [n_cells][(d+1)^2] */
void rival_stiffness_triangles(const double *x, const int32_t *cells, int64_t n_cells, double *K);
void rival_stiffness_tetrahedra(const double *x, const int32_t *cells, int64_t n_cells, double *K);
/** y = A v, one row after another. */
void rival_csr_product(const int64_t *row_start, const int32_t *columns, const double *values,
                       int64_t n_rows, const double *v, double *y);
/** b = a, by the loop. */
void rival_copy(const double *a, double *b, size_t n);

/** y = sin(x) + exp(x) by the vector functions of glibc's libmvec, called by hand; n is a multiple of
 *  16. */
void rival_sin_exp(const double *x, double *y, size_t n);
void rival_sin_exp_float(const float *x, float *y, size_t n);
/** Bytes of the vectors that they use; 0: there are no such functions, and they do nothing. */
int rival_vector_bytes(void);

#endif
