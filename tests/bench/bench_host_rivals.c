#include "bench_host_rivals.h"

#include <math.h>
#include <string.h>

/* The form of code that FFCx 0.5 writes for inner(grad(u), grad(v))*dx on P1 triangles: coordinate
 * derivatives from tables, inverse Jacobian, weights folded in, then the loops over test and trial.
 */
static void tabulate_triangle(double *restrict A, const double *restrict coordinate_dofs) {
    static const double D10[3] = {-1.0, 1.0, 0.0};
    static const double D01[3] = {-1.0, 0.0, 1.0};
    double J0 = 0.0, J1 = 0.0, J2 = 0.0, J3 = 0.0;
    for (int ic = 0; ic < 3; ++ic) {
        J0 += coordinate_dofs[ic * 3] * D10[ic];
        J1 += coordinate_dofs[ic * 3] * D01[ic];
        J2 += coordinate_dofs[ic * 3 + 1] * D10[ic];
        J3 += coordinate_dofs[ic * 3 + 1] * D01[ic];
    }
    const double det = J0 * J3 - J1 * J2;
    const double K00 = J3 / det, K01 = -J1 / det, K10 = -J2 / det, K11 = J0 / det;
    const double scale = 0.5 * fabs(det);
    const double fw0 = (K00 * K00 + K01 * K01) * scale;
    const double fw1 = (K00 * K10 + K01 * K11) * scale;
    const double fw2 = (K10 * K10 + K11 * K11) * scale;
    double t0[3], t1[3];
    for (int i = 0; i < 3; ++i) {
        t0[i] = fw0 * D10[i] + fw1 * D01[i];
        t1[i] = fw1 * D10[i] + fw2 * D01[i];
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            A[3 * i + j] += D10[j] * t0[i] + D01[j] * t1[i];
}

static void tabulate_tetrahedron(double *restrict A, const double *restrict coordinate_dofs) {
    static const double D[3][4] = {
        {-1.0, 1.0, 0.0, 0.0}, {-1.0, 0.0, 1.0, 0.0}, {-1.0, 0.0, 0.0, 1.0}};
    double J[3][3] = {{0.0}};
    double K[3][3], fw[3][3], t[3][4];
    for (int ic = 0; ic < 4; ++ic)
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                J[i][j] += coordinate_dofs[ic * 3 + i] * D[j][ic];
    K[0][0] = J[1][1] * J[2][2] - J[1][2] * J[2][1];
    K[0][1] = J[0][2] * J[2][1] - J[0][1] * J[2][2];
    K[0][2] = J[0][1] * J[1][2] - J[0][2] * J[1][1];
    K[1][0] = J[1][2] * J[2][0] - J[1][0] * J[2][2];
    K[1][1] = J[0][0] * J[2][2] - J[0][2] * J[2][0];
    K[1][2] = J[0][2] * J[1][0] - J[0][0] * J[1][2];
    K[2][0] = J[1][0] * J[2][1] - J[1][1] * J[2][0];
    K[2][1] = J[0][1] * J[2][0] - J[0][0] * J[2][1];
    K[2][2] = J[0][0] * J[1][1] - J[0][1] * J[1][0];
    const double det = J[0][0] * K[0][0] + J[0][1] * K[1][0] + J[0][2] * K[2][0];
    const double scale = 0.1666666666666667 * fabs(det);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            K[i][j] /= det;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            fw[i][j] = (K[i][0] * K[j][0] + K[i][1] * K[j][1] + K[i][2] * K[j][2]) * scale;
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 4; ++i)
            t[k][i] = fw[k][0] * D[0][i] + fw[k][1] * D[1][i] + fw[k][2] * D[2][i];
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            A[4 * i + j] += D[0][j] * t[0][i] + D[1][j] * t[1][i] + D[2][j] * t[2][i];
}

void rival_stiffness_triangles(const double *x, const int32_t *cells, int64_t n_cells, double *K) {
    for (int64_t c = 0; c < n_cells; ++c) {
        double coordinate_dofs[9];
        for (int v = 0; v < 3; ++v) {
            coordinate_dofs[3 * v] = x[2 * (int64_t)cells[3 * c + v]];
            coordinate_dofs[3 * v + 1] = x[2 * (int64_t)cells[3 * c + v] + 1];
            coordinate_dofs[3 * v + 2] = 0.0;
        }
        memset(K + 9 * c, 0, 9 * sizeof *K);
        tabulate_triangle(K + 9 * c, coordinate_dofs);
    }
}

void rival_stiffness_tetrahedra(const double *x, const int32_t *cells, int64_t n_cells, double *K) {
    for (int64_t c = 0; c < n_cells; ++c) {
        double coordinate_dofs[12];
        for (int v = 0; v < 4; ++v)
            memcpy(coordinate_dofs + 3 * v, x + 3 * (int64_t)cells[4 * c + v], 3 * sizeof *x);
        memset(K + 16 * c, 0, 16 * sizeof *K);
        tabulate_tetrahedron(K + 16 * c, coordinate_dofs);
    }
}

void rival_csr_product(const int64_t *row_start, const int32_t *columns, const double *values,
                       int64_t n_rows, const double *v, double *y) {
    for (int64_t i = 0; i < n_rows; ++i) {
        double sum = 0.0;
        for (int64_t k = row_start[i]; k < row_start[i + 1]; ++k)
            sum += values[k] * v[columns[k]];
        y[i] = sum;
    }
}

void rival_copy(const double *a, double *b, size_t n) {
    for (size_t i = 0; i < n; ++i)
        b[i] = a[i];
}

#if defined(__x86_64__) && defined(__GLIBC__) && __GLIBC_MINOR__ >= 22
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define OF_DOUBLES(NAME) __asm__("_ZGVeN8v_" NAME)
#define OF_FLOATS(NAME) __asm__("_ZGVeN16v_" NAME)
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#define OF_DOUBLES(NAME) __asm__("_ZGVdN4v_" NAME)
#define OF_FLOATS(NAME) __asm__("_ZGVdN8v_" NAME)
#else
#define VECTOR_BYTES 16
#define OF_DOUBLES(NAME) __asm__("_ZGVbN2v_" NAME)
#define OF_FLOATS(NAME) __asm__("_ZGVbN4v_" NAME)
#endif
typedef double doubles __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef float floats __attribute__((vector_size(VECTOR_BYTES), may_alias));
doubles vector_sin(doubles) OF_DOUBLES("sin");
doubles vector_exp(doubles) OF_DOUBLES("exp");
floats vector_sinf(floats) OF_FLOATS("sinf");
floats vector_expf(floats) OF_FLOATS("expf");

void rival_sin_exp(const double *x, double *y, size_t n) {
    for (size_t i = 0; i < n; i += VECTOR_BYTES / sizeof *x) {
        const doubles v = *(const doubles *)(x + i);
        *(doubles *)(y + i) = vector_sin(v) + vector_exp(v);
    }
}

void rival_sin_exp_float(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i += VECTOR_BYTES / sizeof *x) {
        const floats v = *(const floats *)(x + i);
        *(floats *)(y + i) = vector_sinf(v) + vector_expf(v);
    }
}

int rival_vector_bytes(void) {
    return VECTOR_BYTES;
}
#else
void rival_sin_exp(const double *x, double *y, size_t n) {
    (void)x;
    (void)y;
    (void)n;
}

void rival_sin_exp_float(const float *x, float *y, size_t n) {
    (void)x;
    (void)y;
    (void)n;
}

int rival_vector_bytes(void) {
    return 0;
}
#endif
