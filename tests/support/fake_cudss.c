/* A stand-in for cuDSS on the emulated GPU, whose memory is the host's: dense factorizations. As the library, it takes pivots from
 * the diagonal, replaces those that are too small, and counts them, unless rows are matched. FAKE_CUDSS_LOG names a file that
 * gets a line for each phase. */
#include "cudss/cudss.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct cudssContext {
    cudaStream_t stream;
};
struct cudssConfig {
    int matches;
};
struct cudssData {
    int64_t n;
    double *lu;
    int64_t *rows;
    int n_perturbed, info;
    enum { EMPTY, ANALYSED, FACTORISED } state;
};
struct cudssMatrix {
    int64_t n;
    const int *row_start, *columns;
    double *values;
    bool is_symmetric;
};

static void note(const char *what, const struct cudssMatrix *a, const struct cudssConfig *config) {
    const char *path = getenv("FAKE_CUDSS_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s %s%s\n", what, a->is_symmetric ? "symmetric" : "general",
            config->matches ? " matched" : "");
    fclose(file);
}

cudssStatus_t cudssGetProperty(libraryPropertyType property, int *value) {
    *value = property == MAJOR_VERSION ? 0 : property == MINOR_VERSION ? 7 : 1;
    return CUDSS_STATUS_SUCCESS;
}

cudssStatus_t cudssCreate(cudssHandle_t *handle) {
    *handle = calloc(1, sizeof **handle);
    return *handle ? CUDSS_STATUS_SUCCESS : CUDSS_STATUS_ALLOC_FAILED;
}

cudssStatus_t cudssDestroy(cudssHandle_t handle) {
    free(handle);
    return CUDSS_STATUS_SUCCESS;
}

cudssStatus_t cudssSetStream(cudssHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUDSS_STATUS_SUCCESS;
}

cudssStatus_t cudssConfigCreate(cudssConfig_t *config) {
    *config = calloc(1, sizeof **config);
    return *config ? CUDSS_STATUS_SUCCESS : CUDSS_STATUS_ALLOC_FAILED;
}

cudssStatus_t cudssConfigDestroy(cudssConfig_t config) {
    free(config);
    return CUDSS_STATUS_SUCCESS;
}

cudssStatus_t cudssConfigSet(cudssConfig_t config, cudssConfigParam_t parameter, void *value,
                             size_t bytes) {
    if (parameter != CUDSS_CONFIG_USE_MATCHING || bytes != sizeof(int))
        return CUDSS_STATUS_INVALID_VALUE;
    config->matches = *(int *)value;
    return CUDSS_STATUS_SUCCESS;
}

cudssStatus_t cudssDataCreate(cudssHandle_t handle, cudssData_t *data) {
    (void)handle;
    *data = calloc(1, sizeof **data);
    return *data ? CUDSS_STATUS_SUCCESS : CUDSS_STATUS_ALLOC_FAILED;
}

cudssStatus_t cudssDataDestroy(cudssHandle_t handle, cudssData_t data) {
    (void)handle;
    free(data->lu);
    free(data->rows);
    free(data);
    return CUDSS_STATUS_SUCCESS;
}

cudssStatus_t cudssDataGet(cudssHandle_t handle, cudssData_t data, cudssDataParam_t parameter,
                           void *value, size_t bytes, size_t *written) {
    (void)handle;
    *written = bytes;
    if (parameter == CUDSS_DATA_INFO && bytes == sizeof(int))
        *(int *)value = data->info;
    else if (parameter == CUDSS_DATA_NPIVOTS && bytes == sizeof(int))
        *(int *)value = data->n_perturbed;
    else if (parameter == CUDSS_DATA_LU_NNZ && bytes == sizeof(int64_t))
        *(int64_t *)value = data->n * data->n;
    else if (parameter == CUDSS_DATA_MEMORY_ESTIMATES && bytes == 16 * sizeof(int64_t))
        ((int64_t *)value)[1] = 8 * data->n * data->n;
    else
        return CUDSS_STATUS_INVALID_VALUE;
    return CUDSS_STATUS_SUCCESS;
}

cudssStatus_t cudssMatrixCreateDn(cudssMatrix_t *matrix, int64_t n_rows, int64_t n_columns,
                                  int64_t stride, void *values, cudaDataType_t type,
                                  cudssLayout_t layout) {
    if (n_columns != 1 || stride < n_rows || !values || type != CUDA_R_64F ||
        layout != CUDSS_LAYOUT_COL_MAJOR)
        return CUDSS_STATUS_INVALID_VALUE;
    *matrix = calloc(1, sizeof **matrix);
    if (!*matrix)
        return CUDSS_STATUS_ALLOC_FAILED;
    **matrix = (struct cudssMatrix){.n = n_rows, .values = values};
    return CUDSS_STATUS_SUCCESS;
}

cudssStatus_t cudssMatrixCreateCsr(cudssMatrix_t *matrix, int64_t n_rows, int64_t n_columns,
                                   int64_t n_entries, void *row_start, void *row_end, void *columns,
                                   void *values, cudaDataType_t indices, cudaDataType_t type,
                                   cudssMatrixType_t kind, cudssMatrixViewType_t view,
                                   cudssIndexBase_t base) {
    const bool is_symmetric = kind == CUDSS_MTYPE_SYMMETRIC;
    if (n_rows != n_columns || ((int *)row_start)[n_rows] != n_entries || row_end ||
        indices != CUDA_R_32I || type != CUDA_R_64F || base != CUDSS_BASE_ZERO ||
        view != (is_symmetric ? CUDSS_MVIEW_UPPER : CUDSS_MVIEW_FULL))
        return CUDSS_STATUS_INVALID_VALUE;
    *matrix = calloc(1, sizeof **matrix);
    if (!*matrix)
        return CUDSS_STATUS_ALLOC_FAILED;
    **matrix = (struct cudssMatrix){n_rows, row_start, columns, values, is_symmetric};
    return CUDSS_STATUS_SUCCESS;
}

cudssStatus_t cudssMatrixDestroy(cudssMatrix_t matrix) {
    free(matrix);
    return CUDSS_STATUS_SUCCESS;
}

static cudssStatus_t analyse(cudssData_t data, cudssMatrix_t a) {
    const int64_t n = a->n;
    free(data->lu);
    free(data->rows);
    *data = (struct cudssData){.n = n,
                               .lu = calloc((size_t)(n * n), sizeof(double)),
                               .rows = calloc((size_t)n, sizeof(int64_t)),
                               .state = ANALYSED};
    return data->lu && data->rows ? CUDSS_STATUS_SUCCESS : CUDSS_STATUS_ALLOC_FAILED;
}

/* A as a dense matrix. Returns its greatest entry. */
static double expand(cudssData_t data, const struct cudssMatrix *a) {
    const int64_t n = a->n;
    double greatest = 0;
    for (int64_t i = 0; i < n * n; ++i)
        data->lu[i] = 0;
    for (int64_t i = 0; i < n; ++i)
        for (int e = a->row_start[i]; e < a->row_start[i + 1]; ++e) {
            data->lu[i * n + a->columns[e]] = a->values[e];
            if (a->is_symmetric)
                data->lu[a->columns[e] * n + i] = a->values[e];
            greatest = fmax(greatest, fabs(a->values[e]));
        }
    return greatest;
}

static void factorise(cudssData_t data, const struct cudssMatrix *a, bool matches) {
    const int64_t n = a->n;
    double *const lu = data->lu;
    const double least = 1e-13 * expand(data, a);
    data->n_perturbed = 0;
    data->state = FACTORISED;
    for (int64_t k = 0; k < n; ++k) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n && matches; ++i)
            pivot = fabs(lu[i * n + k]) > fabs(lu[pivot * n + k]) ? i : pivot;
        data->rows[k] = pivot;
        for (int64_t j = 0; j < n && pivot != k; ++j) {
            const double swapped = lu[k * n + j];
            lu[k * n + j] = lu[pivot * n + j];
            lu[pivot * n + j] = swapped;
        }
        if (fabs(lu[k * n + k]) < least) {
            lu[k * n + k] = least;
            ++data->n_perturbed;
        }
        for (int64_t i = k + 1; i < n; ++i) {
            const double factor = lu[i * n + k] /= lu[k * n + k];
            for (int64_t j = k + 1; j < n && factor != 0; ++j)
                lu[i * n + j] -= factor * lu[k * n + j];
        }
    }
}

static void solve(const struct cudssData *data, double *x, const double *b) {
    const int64_t n = data->n;
    const double *const lu = data->lu;
    for (int64_t i = 0; i < n; ++i)
        x[i] = b[i];
    for (int64_t k = 0; k < n; ++k) {
        const double swapped = x[k];
        x[k] = x[data->rows[k]];
        x[data->rows[k]] = swapped;
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < i; ++j)
            x[i] -= lu[i * n + j] * x[j];
    for (int64_t i = n - 1; i >= 0; --i) {
        for (int64_t j = i + 1; j < n; ++j)
            x[i] -= lu[i * n + j] * x[j];
        x[i] /= lu[i * n + i];
    }
}

cudssStatus_t cudssExecute(cudssHandle_t handle, int phase, cudssConfig_t config, cudssData_t data,
                           cudssMatrix_t a, cudssMatrix_t x, cudssMatrix_t b) {
    if (!handle->stream) /* Weft's own, so that work is in order */
        return CUDSS_STATUS_INVALID_VALUE;
    if (phase == CUDSS_PHASE_ANALYSIS) {
        note("analysis", a, config);
        return analyse(data, a);
    }
    if ((phase == CUDSS_PHASE_FACTORIZATION && data->state >= ANALYSED) ||
        (phase == CUDSS_PHASE_REFACTORIZATION && data->state == FACTORISED)) {
        note(phase == CUDSS_PHASE_FACTORIZATION ? "factorization" : "refactorization", a, config);
        factorise(data, a, config->matches);
        return CUDSS_STATUS_SUCCESS;
    }
    if (phase != CUDSS_PHASE_SOLVE || data->state != FACTORISED)
        return CUDSS_STATUS_INVALID_VALUE;
    note("solve", a, config);
    solve(data, x->values, b->values);
    return CUDSS_STATUS_SUCCESS;
}
