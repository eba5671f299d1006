/* What core/cuda/test_graph_capture.c sees of the stand-in for NVIDIA's driver. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

typedef struct fake_cuda {
    int version;        /* of CUDA: 13000 */
    char fail_name[64]; /* the function that fails, after so many calls of it */
    int fail_skip, fail_code;
    int dead;        /* the sticky code that every later call gives */
    int n_forbidden; /* calls that a capture does not allow */
    int n_kernels, n_arrays, n_modules, n_executables;
    int n_loads;                     /* of modules, in all */
    double clock;                    /* milliseconds: one an event */
    unsigned last_configuration[14]; /* CUlaunchConfig of the last launch */
} fake_cuda;
extern fake_cuda fake;

#endif
