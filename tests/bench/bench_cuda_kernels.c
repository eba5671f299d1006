/* The rivals' own kernels, for double and float, by NVRTC. */
#include "bench_cuda_rival_internal.h"
#include "core/cuda/cuda.h"
#include "core/weft_core.h"

#include <stdlib.h>
#include <string.h>

/* The three of loop D read and write each vector once: p.q; x, r and r.r; p. Sums are joined by the
 * block that comes last, which also makes the scalar that follows. */
static const char text[] =
    "struct alignas(16) wide { unsigned int w[4]; };\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "copy(long long n, const wide *__restrict__ from, wide *__restrict__ to) {\n"
    "    const long long first = blockIdx.x * 1024ll + threadIdx.x;\n"
    "    wide kept[4];\n"
    "    if (first + 768 < n) {\n"
    "#pragma unroll\n"
    "        for (int k = 0; k < 4; ++k) kept[k] = from[first + 256 * k];\n"
    "#pragma unroll\n"
    "        for (int k = 0; k < 4; ++k) to[first + 256 * k] = kept[k];\n"
    "    } else\n"
    "        for (long long i = first; i < n; i += 256) to[i] = from[i];\n"
    "}\n"
    "extern \"C\" __global__ void alpha(real *s) {\n"
    "    s[2] = s[0] / s[1];\n"
    "    s[3] = -s[2];\n"
    "}\n"
    "extern \"C\" __global__ void beta(real *s) {\n"
    "    s[4] = s[5] / s[0];\n"
    "    s[0] = s[5];\n"
    "}\n"
    "__device__ real block_sum(real value) {\n"
    "    __shared__ real sums[8];\n"
    "    for (int k = 16; k > 0; k /= 2) value += __shfl_down_sync(0xffffffffu, value, k);\n"
    "    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;\n"
    "    __syncthreads();\n"
    "    value = threadIdx.x < 8 ? sums[threadIdx.x] : 0;\n"
    "    if (threadIdx.x < 32)\n"
    "        for (int k = 4; k > 0; k /= 2) value += __shfl_down_sync(0xffffffffu, value, k);\n"
    "    __syncthreads();\n"
    "    return value;\n"
    "}\n"
    "/* The sum over all blocks, in thread 0 of the last one; false elsewhere. */\n"
    "__device__ bool grid_sum(real value, real *partial, unsigned int *count, real *out) {\n"
    "    __shared__ bool last;\n"
    "    value = block_sum(value);\n"
    "    if (threadIdx.x == 0) {\n"
    "        partial[blockIdx.x] = value;\n"
    "        __threadfence();\n"
    "        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;\n"
    "    }\n"
    "    __syncthreads();\n"
    "    if (!last) return false;\n"
    "    value = 0;\n"
    "    for (unsigned int i = threadIdx.x; i < gridDim.x; i += 256)\n"
    "        value += ((volatile real *)partial)[i];\n"
    "    *out = block_sum(value);\n"
    "    return threadIdx.x == 0;\n"
    "}\n"
    "#define EACH for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x)\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "pq(int n, const real *__restrict__ p, const real *__restrict__ q, real *s, real *partial,\n"
    "   unsigned int *count) {\n"
    "    real sum = 0;\n"
    "#pragma unroll 4\n"
    "    EACH sum += p[i] * q[i];\n"
    "    if (grid_sum(sum, partial, count, &sum)) s[2] = s[0] / sum;\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "xr(int n, const real *__restrict__ p, const real *__restrict__ q, real *__restrict__ x,\n"
    "   real *__restrict__ r, real *s, real *partial, unsigned int *count) {\n"
    "    const real a = s[2];\n"
    "    real sum = 0;\n"
    "#pragma unroll 4\n"
    "    EACH {\n"
    "        const real next = r[i] - a * q[i];\n"
    "        x[i] += a * p[i];\n"
    "        r[i] = next;\n"
    "        sum += next * next;\n"
    "    }\n"
    "    if (grid_sum(sum, partial, count, &sum)) {\n"
    "        s[4] = sum / s[0];\n"
    "        s[0] = sum;\n"
    "    }\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "p(int n, const real *__restrict__ r, real *__restrict__ p, const real *s) {\n"
    "    const real b = s[4];\n"
    "#pragma unroll 4\n"
    "    EACH p[i] = r[i] + b * p[i];\n"
    "}\n";

static const char *const names[BENCH_KERNELS] = {"copy", "alpha", "beta", "pq", "xr", "p"};

static weft_status make_module(bench_rival *rival, const weft_nvrtc *nvrtc, int architecture,
                               bool single, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cuda_driver *driver = &rival->driver;
    weft_text source = {0};
    weft_cubin cubin = {0};
    weft_text_add(&source, "typedef %s real;\n%s", single ? "float" : "double", text);
    if (source.failed) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(weft_nvrtc_compile(nvrtc, architecture, "rivals", source.data, &cubin, error));
    TRY(bench_rival_check(rival, driver->cuModuleLoadData(&rival->modules[single], cubin.bytes),
                          "loading the rivals' kernels", error));
    for (int i = 0; i < BENCH_KERNELS; ++i)
        TRY(bench_rival_check(rival,
                              driver->cuModuleGetFunction(&rival->kernels[single][i],
                                                          rival->modules[single], names[i]),
                              "looking for a rival's kernel", error));
done:
    weft_cubin_free(&cubin);
    weft_text_free(&source);
    return status;
}

weft_status bench_kernels_make(bench_rival *rival, weft_error *error) {
    weft_status status = WEFT_OK;
    int version[2] = {0, 0};
    static const int asked[2] = {WEFT_CU_MAJOR, WEFT_CU_MINOR};
    weft_nvrtc nvrtc = {0};
    TRY(weft_nvrtc_open(&nvrtc, error));
    for (int i = 0; i < 2; ++i)
        TRY(bench_rival_check(
            rival, rival->driver.cuDeviceGetAttribute(&version[i], asked[i], rival->device),
            "asking for the GPU's kind", error));
    for (int single = 0; single < 2; ++single)
        TRY(make_module(rival, &nvrtc, 10 * version[0] + version[1], single, error));
done:
    weft_nvrtc_close(&nvrtc);
    return status;
}

weft_status bench_kernel_launch(bench_rival *rival, bool single, bench_kernel kernel, int blocks,
                                void **parameters, weft_error *error) {
    const unsigned threads = kernel == BENCH_KERNEL_ALPHA || kernel == BENCH_KERNEL_BETA ? 1 : 256;
    return bench_rival_check(rival,
                             rival->more.cuLaunchKernel(rival->kernels[single][kernel],
                                                        (unsigned)blocks, 1, 1, threads, 1, 1, 0,
                                                        rival->stream, parameters, NULL),
                             "launching a rival's kernel", error);
}
