/* The declarations of cuDSS that Weft's plug-in uses, as version 0.7 has them, for the stand-in fake_cudss.c. Numbers are its own,
 * so that a plug-in that is not compiled against its header fails. */
#ifndef FAKE_CUDSS_H
#define FAKE_CUDSS_H

#include <cuda_runtime.h>
#include <library_types.h>
#include <stddef.h>
#include <stdint.h>

#define CUDSS_VERSION_MAJOR 0
#define CUDSS_VERSION_MINOR 7
#define CUDSS_VERSION (CUDSS_VERSION_MAJOR * 10000 + CUDSS_VERSION_MINOR * 100)

typedef struct cudssContext *cudssHandle_t;
typedef struct cudssMatrix *cudssMatrix_t;
typedef struct cudssData *cudssData_t;
typedef struct cudssConfig *cudssConfig_t;

typedef enum cudssConfigParam_t { CUDSS_CONFIG_USE_MATCHING = 103 } cudssConfigParam_t;
typedef enum cudssDataParam_t {
    CUDSS_DATA_INFO = 201,
    CUDSS_DATA_LU_NNZ,
    CUDSS_DATA_NPIVOTS,
    CUDSS_DATA_MEMORY_ESTIMATES
} cudssDataParam_t;
typedef enum cudssPhase_t {
    CUDSS_PHASE_ANALYSIS = 301,
    CUDSS_PHASE_FACTORIZATION,
    CUDSS_PHASE_REFACTORIZATION,
    CUDSS_PHASE_SOLVE
} cudssPhase_t;
typedef enum cudssStatus_t {
    CUDSS_STATUS_SUCCESS,
    CUDSS_STATUS_ALLOC_FAILED = 402,
    CUDSS_STATUS_INVALID_VALUE
} cudssStatus_t;
typedef enum cudssMatrixType_t {
    CUDSS_MTYPE_GENERAL = 501,
    CUDSS_MTYPE_SYMMETRIC
} cudssMatrixType_t;
typedef enum cudssMatrixViewType_t {
    CUDSS_MVIEW_FULL = 601,
    CUDSS_MVIEW_UPPER
} cudssMatrixViewType_t;
typedef enum cudssIndexBase_t { CUDSS_BASE_ZERO = 701 } cudssIndexBase_t;
typedef enum cudssLayout_t { CUDSS_LAYOUT_COL_MAJOR = 801 } cudssLayout_t;

cudssStatus_t cudssGetProperty(libraryPropertyType property, int *value);
cudssStatus_t cudssCreate(cudssHandle_t *handle);
cudssStatus_t cudssDestroy(cudssHandle_t handle);
cudssStatus_t cudssSetStream(cudssHandle_t handle, cudaStream_t stream);
cudssStatus_t cudssConfigCreate(cudssConfig_t *config);
cudssStatus_t cudssConfigDestroy(cudssConfig_t config);
cudssStatus_t cudssConfigSet(cudssConfig_t config, cudssConfigParam_t parameter, void *value,
                             size_t bytes);
cudssStatus_t cudssDataCreate(cudssHandle_t handle, cudssData_t *data);
cudssStatus_t cudssDataDestroy(cudssHandle_t handle, cudssData_t data);
cudssStatus_t cudssDataGet(cudssHandle_t handle, cudssData_t data, cudssDataParam_t parameter,
                           void *value, size_t bytes, size_t *written);
cudssStatus_t cudssMatrixCreateDn(cudssMatrix_t *matrix, int64_t n_rows, int64_t n_columns,
                                  int64_t stride, void *values, cudaDataType_t type,
                                  cudssLayout_t layout);
cudssStatus_t cudssMatrixCreateCsr(cudssMatrix_t *matrix, int64_t n_rows, int64_t n_columns,
                                   int64_t n_entries, void *row_start, void *row_end, void *columns,
                                   void *values, cudaDataType_t indices, cudaDataType_t type,
                                   cudssMatrixType_t kind, cudssMatrixViewType_t view,
                                   cudssIndexBase_t base);
cudssStatus_t cudssMatrixDestroy(cudssMatrix_t matrix);
cudssStatus_t cudssExecute(cudssHandle_t handle, int phase, cudssConfig_t config, cudssData_t data,
                           cudssMatrix_t a, cudssMatrix_t x, cudssMatrix_t b);

#endif
