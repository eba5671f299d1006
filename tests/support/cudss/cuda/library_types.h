/* The types of CUDA's own headers that cuDSS's takes. */
#ifndef FAKE_LIBRARY_TYPES_H
#define FAKE_LIBRARY_TYPES_H

typedef struct CUstream_st *cudaStream_t;
typedef enum cudaDataType_t { CUDA_R_64F = 1, CUDA_R_32I = 10 } cudaDataType_t;
typedef enum libraryPropertyType { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL } libraryPropertyType;

#endif
