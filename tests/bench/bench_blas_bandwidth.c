/* Bandwidth of reading and of copying, by kernels written by hand: the ceilings of this run. */
#include "bench_blas.h"
#include "fusion/base/target.h"

#include <stdlib.h>

enum { LANES = 1024 /* words of a block on the host */, THREADS = 256 };

/* The kernels' lists are words of 64 bytes on the host and of 16 on a GPU. What is read is combined
 * by exclusive or, and stored only if that gives a number that random data do not give. Copying
 * past the caches and through them: the better one counts, as of the two widths on a GPU. */
static const char host_source[] =
    "#include <stdint.h>\n"
    "#if defined(__SSE2__)\n#include <emmintrin.h>\n#endif\n"
    "typedef uint64_t word __attribute__((vector_size(64), aligned(16), may_alias));\n"
    "#define RANGE int64_t i = first * 1024, end = last * 1024 < n ? last * 1024 : n;\n"
    "#define ARGUMENTS (void *const *a, int64_t n, int64_t first, int64_t last)\n"
    "void read_0 ARGUMENTS {\n"
    "    const word *x = a[0]; word s = {0}, t = {0}; RANGE\n"
    "    for (; i + 2 <= end; i += 2) { s ^= x[i]; t ^= x[i + 1]; }\n"
    "    s ^= t;\n"
    "    if (s[0] == 0x123456789abcdefu && s[1] == s[0]) *(word *)a[1] = s;\n"
    "}\n"
    "void copy_0 ARGUMENTS {\n"
    "    const word *x = a[0]; word *y = a[1]; RANGE\n"
    "    for (; i < end; ++i) y[i] = x[i];\n"
    "}\n"
    "void copy_1 ARGUMENTS {\n"
    "    RANGE\n"
    "#if defined(__SSE2__)\n"
    "    const __m128i *x = a[0]; __m128i *y = a[1];\n"
    "    for (i *= 4, end *= 4; i < end; ++i) _mm_stream_si128(y + i, _mm_load_si128(x + i));\n"
    "    _mm_sfence();\n"
    "#else\n"
    "    const word *x = a[0]; word *y = a[1];\n"
    "    for (; i < end; ++i) y[i] = x[i];\n"
    "#endif\n"
    "}\n";

static const char cuda_source[] =
    "#define PART(WORDS) \\\n"
    "    const long long first = (long long)blockIdx.x * (256 * WORDS) + threadIdx.x;\n"
    "__device__ __forceinline__ void fold(uint4 &s, uint4 v) {\n"
    "    s.x ^= v.x; s.y ^= v.y; s.z ^= v.z; s.w ^= v.w;\n"
    "}\n"
    "template <int WORDS> __device__ void read_words(long long n, const uint4 *x, uint4 *y) {\n"
    "    PART(WORDS) uint4 s = make_uint4(0, 0, 0, 0);\n"
    "    _Pragma(\"unroll\") for (int k = 0; k < WORDS; ++k)\n"
    "        if (first + 256 * k < n) fold(s, x[first + 256 * k]);\n"
    "    if (s.x == 0x12345678u && s.y == 0x9abcdef0u && s.z == 1u && s.w == 2u) y[0] = s;\n"
    "}\n"
    "template <int WORDS> __device__ void copy_words(long long n, const uint4 *x, uint4 *y) {\n"
    "    PART(WORDS) uint4 v[WORDS];\n"
    "    _Pragma(\"unroll\") for (int k = 0; k < WORDS; ++k)\n"
    "        if (first + 256 * k < n) v[k] = x[first + 256 * k];\n"
    "    _Pragma(\"unroll\") for (int k = 0; k < WORDS; ++k)\n"
    "        if (first + 256 * k < n) y[first + 256 * k] = v[k];\n"
    "}\n"
    "#define ARGUMENTS (long long n, const uint4 *x, uint4 *y)\n"
    "extern \"C\" __global__ void __launch_bounds__(256) read_0 ARGUMENTS { read_words<4>(n, x, "
    "y); }\n"
    "extern \"C\" __global__ void __launch_bounds__(256) read_1 ARGUMENTS { read_words<8>(n, x, "
    "y); }\n"
    "extern \"C\" __global__ void __launch_bounds__(256) copy_0 ARGUMENTS { copy_words<1>(n, x, "
    "y); }\n"
    "extern \"C\" __global__ void __launch_bounds__(256) copy_1 ARGUMENTS { copy_words<4>(n, x, "
    "y); }\n";

typedef struct kernel {
    const char *name;
    int words; /* of a thread on a GPU; 0: not on this device */
    bool copies;
} kernel;
static const kernel host_kernels[] = {
    {"read_0", 1, false}, {"copy_0", 1, true}, {"copy_1", 1, true}};
static const kernel cuda_kernels[] = {
    {"read_0", 4, false}, {"read_1", 8, false}, {"copy_0", 1, true}, {"copy_1", 4, true}};

typedef struct transfer {
    weft_device *device;
    weft_launch launch;
} transfer;

static weft_status run(void *user, weft_error *error) {
    const transfer *t = user;
    return weft_device_launch(t->device, &t->launch, error);
}

static weft_status measure(const blas_case *c, const weft_module *module, const kernel *which,
                           weft_memory *const *arguments, double *bandwidth, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool gpu = weft_target_is_simt(weft_device_limits(c->data->device));
    const int word = gpu ? 16 : 64;
    const size_t bytes = weft_memory_bytes(arguments[0]) / (which->copies ? 2 : 1);
    const int64_t n = (int64_t)bytes / word;
    transfer t = {
        .device = c->data->device,
        .launch = {.module = module,
                   .kernel = which->name,
                   .arguments = arguments,
                   .n_arguments = 2,
                   .n_elements = n,
                   .lanes = gpu ? 1 : LANES,
                   .block_threads = THREADS,
                   .n_blocks = (n + THREADS * which->words - 1) / (THREADS * which->words)}};
    const blas_task tasks[2] = {run, NULL};
    void *const users[2] = {&t, NULL};
    double seconds = 0;
    TRY(blas_case_time(c, tasks, users, &seconds, error));
    const double made = (double)n * word * (which->copies ? 2 : 1) / seconds;
    *bandwidth = made > *bandwidth ? made : *bandwidth;
done:
    return status;
}

/* Random data: zeros can be faster than real ones. */
static weft_status fill(const blas_case *c, weft_memory *memory, weft_error *error) {
    weft_status status = WEFT_OK;
    const blas_input input = c->sequence->inputs[0];
    const size_t part = weft_memory_bytes(c->data->memories[input]);
    for (size_t at = 0; at < weft_memory_bytes(memory); at += part) {
        const size_t left = weft_memory_bytes(memory) - at;
        TRY(weft_memory_write(memory, at, c->data->values[input], left < part ? left : part,
                              error));
    }
done:
    return status;
}

weft_status blas_bandwidth(const blas_case *c, double bytes, double *read, double *copy,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = c->data->device;
    const bool gpu = weft_target_is_simt(weft_device_limits(device));
    const kernel *kernels = gpu ? cuda_kernels : host_kernels;
    const size_t n_kernels = gpu ? sizeof cuda_kernels / sizeof *cuda_kernels
                                 : sizeof host_kernels / sizeof *host_kernels;
    const size_t whole = ((size_t)bytes + 63) / 64 * 64;
    weft_module *module = NULL;
    weft_memory *arguments[2] = {NULL, NULL};
    *read = *copy = 0;
    TRY(weft_module_make(device, "bandwidth", gpu ? cuda_source : host_source, &module, error));
    TRY(weft_memory_make(device, whole, &arguments[0], error));
    TRY(weft_memory_make(device, whole / 2 + 64, &arguments[1], error));
    TRY(fill(c, arguments[0], error));
    for (size_t i = 0; i < n_kernels; ++i)
        TRY(measure(c, module, &kernels[i], arguments, kernels[i].copies ? copy : read, error));
done:
    weft_memory_free(&arguments[0]);
    weft_memory_free(&arguments[1]);
    weft_module_free(&module);
    return status;
}
