/** What the tests of preconditioners of mixed spaces share: a saddle point of linear elements, assembled plainly,
 *
 *      [ s M + k K + w N    B' ]   in two components and one, on an irregular triangulation; N: convection along (2, 1)
 *      [ B                -e K ] */
#ifndef WEFT_SADDLE_SUPPORT_H
#define WEFT_SADDLE_SUPPORT_H

#include "emulated_gpu.h"
#include "fem/base/memory.h"
#include "fem/operator/operator.h"
#include "fem/precondition/blocks.h"
#include "hierarchy_support.h"
#include "multigrid_support.h"

typedef struct saddle_options {
    double mass, stiffness, penalty; /* s, k, e */
    double convection;               /* w */
    double sign;                     /* of B below the diagonal; 1: symmetric */
    int n;                           /* squares a side; 0: 20 */
    bool holds_pressure; /* in one cell, without which modes of linear elements are open */
    const char *kind;    /* of the preconditioner; NULL: block */
    bool is_emulated;
} saddle_options;

typedef struct saddle {
    weft_device *device;
    weft_library *library;
    weft_context context;
    weft_mesh *mesh;
    weft_space *spaces[2];
    weft_csr A;
    int32_t *constrained; /* velocities on the left */
    int64_t n_constrained, n;
    weft_operator *op;
    weft_preconditioner_problem problem;
    const char *kind;
    weft_preconditioner *preconditioner;
    weft_memory *r, *z;
    double *r_values, *z_values;
} saddle;

static inline void must(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s", error->message);
}

static inline weft_csr assemble(const weft_mesh *mesh, const saddle_options *options) {
    const int64_t n = mesh->n_nodes;
    test_rows rows = test_rows_make(3 * n, 3 * n);
    for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
        double g[4][3];
        const double volume = test_gradients(mesh, cell, g);
        const int32_t *v = mesh->cells + cell * 3;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                const double K = volume * (g[i][0] * g[j][0] + g[i][1] * g[j][1]);
                const double M = volume * (i == j ? 2 : 1) / 12;
                const double N = volume / 3 * (2 * g[j][0] + g[j][1]);
                for (int c = 0; c < 2; ++c) {
                    const double b = -volume / 3 * g[j][c]; /* -(q_i, d_c v_j) */
                    test_rows_add(&rows, 2 * v[i] + c, 2 * v[j] + c,
                                  options->mass * M + options->stiffness * K +
                                      options->convection * N);
                    test_rows_add(&rows, 2 * v[i] + c, 2 * v[j] + 1 - c, 0);
                    test_rows_add(&rows, 2 * n + v[i], 2 * v[j] + c, options->sign * b);
                    test_rows_add(&rows, 2 * v[j] + c, 2 * n + v[i], b);
                }
                test_rows_add(&rows, 2 * n + v[i], 2 * n + v[j],
                              -options->sign * options->penalty * K);
            }
    }
    return test_rows_finish(&rows);
}

static inline int compare_dofs(const void *a, const void *b) {
    return *(const int32_t *)a - *(const int32_t *)b;
}

static inline void list_constrained(saddle *s, bool holds_pressure) {
    const int64_t n = s->mesh->n_nodes;
    s->constrained = calloc((size_t)s->n + 1, sizeof *s->constrained);
    assert_non_null(s->constrained);
    for (int64_t i = 0; i < n; ++i)
        for (int c = 0; c < 2 && s->mesh->x[2 * i] < 1e-9; ++c)
            s->constrained[s->n_constrained++] = (int32_t)(2 * i + c);
    for (int k = 0; k < 3 && holds_pressure; ++k)
        s->constrained[s->n_constrained++] = (int32_t)(2 * n + s->mesh->cells[k]);
    qsort(s->constrained, (size_t)s->n_constrained, sizeof *s->constrained, compare_dofs);
}

static inline void saddle_open(saddle *s, const saddle_options *options) {
    static const char *const repeated[] = {"to_single", "to_double", "gemv", NULL};
    weft_error error = {0};
    weft_pattern *pattern = calloc(1, sizeof *pattern);
    *s = (saddle){.kind = options->kind ? options->kind : "block"};
    must(weft_device_open("host:1", NULL, &s->device, &error), &error);
    if (options->is_emulated)
        emulated_gpu_make(s->device)->repeated = repeated;
    must(weft_fem_library_make(&s->library, &error), &error);
    s->context = (weft_context){.device = s->device, .library = s->library};
    s->mesh = irregular_mesh(2, options->n ? options->n : 20);
    for (int i = 0; i < 2; ++i)
        must(weft_space_make(s->device, s->mesh, WEFT_ELEMENT_P1, 2 - i, &s->spaces[i], &error),
             &error);
    s->A = assemble(s->mesh, options);
    s->n = s->A.n_rows;
    list_constrained(s, options->holds_pressure);
    *pattern = (weft_pattern){s->n, s->A.row_start[s->n], s->A.row_start, s->A.columns};
    must(weft_operator_from_matrix(&s->context, &pattern, s->A.values, WEFT_MATRIX_BORROWED, &s->op,
                                   &error),
         &error);
    if (options->is_emulated) /* as the operators of forms have them */
        must(weft_memory_place(s->device, s->A.values, (size_t)s->A.row_start[s->n],
                               sizeof *s->A.values, &s->op->values, &error),
             &error);
    must(weft_vector_make(s->device, s->n, &s->r_values, &s->r, &error), &error);
    must(weft_vector_make(s->device, s->n, &s->z_values, &s->z, &error), &error);
    s->problem = (weft_preconditioner_problem){.op = s->op,
                                               .constrained = s->constrained,
                                               .n_constrained = s->n_constrained,
                                               .is_general = options->sign < 0,
                                               .spaces = (const weft_space *const *)s->spaces,
                                               .n_spaces = 2,
                                               .double_levels = true};
}

static inline void saddle_free(saddle *s) {
    weft_preconditioner_free(&s->preconditioner);
    weft_operator_free(&s->op);
    weft_csr_clear(&s->A);
    weft_memory_free(&s->r);
    weft_memory_free(&s->z);
    free(s->r_values);
    free(s->z_values);
    free(s->constrained);
    for (int i = 0; i < 2; ++i)
        weft_space_free(&s->spaces[i]);
    weft_mesh_free(&s->mesh);
    weft_library_free(&s->library);
    weft_device_free(&s->device);
}

static inline weft_status saddle_try(saddle *s, weft_error *error) {
    int kind = 0;
    must(weft_preconditioner_find(s->kind, &kind, error), error);
    return weft_preconditioner_make(&s->context, kind, &s->problem, &s->preconditioner, error);
}

/** malloc'd, [n_rows][n_columns] */
static inline double *saddle_dense(const weft_csr *A) {
    double *out = calloc((size_t)(A->n_rows * A->n_columns), sizeof *out);
    assert_non_null(out);
    for (int64_t i = 0; i < A->n_rows; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            out[i * A->n_columns + A->columns[k]] += A->values[k];
    return out;
}

static inline void saddle_make(saddle *s) {
    weft_error error = {0};
    must(saddle_try(s, &error), &error);
}

/** z = M r; malloc'd */
static inline double *saddle_apply(saddle *s, const double *r) {
    weft_error error = {0};
    double *out = malloc((size_t)s->n * sizeof *out);
    assert_non_null(out);
    memcpy(s->r_values, r, (size_t)s->n * sizeof *r);
    for (int64_t i = 0; i < s->n; ++i)
        s->z_values[i] = NAN;
    must(weft_vector_push(s->r, s->r_values, s->n, &error), &error);
    must(weft_vector_push(s->z, s->z_values, s->n, &error), &error);
    must(weft_preconditioner_apply(s->preconditioner, s->r, s->z, &error), &error);
    must(weft_vector_pull(s->z, s->z_values, s->n, &error), &error);
    memcpy(out, s->z_values, (size_t)s->n * sizeof *out);
    return out;
}

/** Random, 0 at constrained dofs, malloc'd. */
static inline double *saddle_noise(const saddle *s, uint64_t seed) {
    double *out = malloc((size_t)s->n * sizeof *out);
    assert_non_null(out);
    for (int64_t i = 0; i < s->n; ++i)
        out[i] = (double)(random_next(&seed) >> 11) * 0x1p-52 - 1;
    for (int64_t i = 0; i < s->n_constrained; ++i)
        out[s->constrained[i]] = 0;
    return out;
}

#endif
