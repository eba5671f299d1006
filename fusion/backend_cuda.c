/* The GPU's prelude: one thread an instance, `real` is a scalar, a warp's instances are the lanes
 * of a block of interleaved data, so that its threads read neighbouring words. Accumulating stores
 * are atomic. */
#include "source_internal.h"

static void types(weft_text *out, int lanes, bool single) {
    weft_text_add(out,
                  "#ifdef __CUDACC_RTC__ /* which has no <stdint.h> */\n"
                  "typedef int int32_t;\n"
                  "typedef unsigned int uint32_t;\n"
                  "typedef long long int64_t;\n"
                  "#else\n"
                  "#include <stdint.h>\n"
                  "#endif\n\n"
                  "#define LANES %d\n"
                  "#define THREADS %d\n"
                  "typedef %s scalar;\n"
                  "typedef scalar real;\n"
                  "#define restrict __restrict__\n"
                  "#define KERNEL extern \"C\" __global__ void __launch_bounds__(THREADS)\n"
                  "#define FINISH extern \"C\" __global__ void /* of one thread block */\n"
                  "#define INLINE static __device__ __forceinline__\n"
                  "#define UNROLL _Pragma(\"unroll\")\n"
                  "#define SPLAT(e) ((real)(e))\n\n",
                  lanes, WEFT_CUDA_THREADS, single ? "float" : "double");
}

static const char loads[] =
    "/* interleaved lists: [block][component][lane] */\n"
    "INLINE void load_block(real *v, const scalar *p, int components)\n"
    "{\n"
    "    UNROLL for (int c = 0; c < components; ++c)\n"
    "        v[c] = p[c * LANES];\n"
    "}\n\n"
    "/* plain lists: [instance][component] */\n"
    "INLINE void load_plain(real *v, const scalar *p, int components, int64_t instance, int64_t)\n"
    "{\n"
    "    UNROLL for (int c = 0; c < components; ++c)\n"
    "        v[c] = p[instance * components + c];\n"
    "}\n\n"
    "/* plain lists through a connectivity: v[vertex][component] */\n"
    "INLINE void load_indirect(real *v, const scalar *p, const int32_t *map, int width, int "
    "components)\n"
    "{\n"
    "    UNROLL for (int a = 0; a < width; ++a) {\n"
    "        const int64_t i = map[a * LANES];\n"
    "        UNROLL for (int c = 0; c < components; ++c)\n"
    "            v[a * components + c] = p[i * components + c];\n"
    "    }\n"
    "}\n\n"
    "INLINE void load_uniform(real *v, const scalar *p, int components)\n"
    "{\n"
    "    for (int c = 0; c < components; ++c)\n"
    "        v[c] = p[c];\n"
    "}\n\n";

static const char stores[] =
    "INLINE void store_block(scalar *p, const real *v, int components, int)\n"
    "{\n"
    "    UNROLL for (int c = 0; c < components; ++c)\n"
    "        p[c * LANES] = v[c];\n"
    "}\n\n"
    "INLINE void store_plain(scalar *p, const real *v, int components, int64_t instance, int64_t)\n"
    "{\n"
    "    UNROLL for (int c = 0; c < components; ++c)\n"
    "        p[instance * components + c] = v[c];\n"
    "}\n\n"
    "INLINE void add_indirect(scalar *p, const int32_t *map, const real *v, int width, int "
    "components, int)\n"
    "{\n"
    "    UNROLL for (int a = 0; a < width; ++a) {\n"
    "        const int64_t i = map[a * LANES];\n"
    "        UNROLL for (int c = 0; c < components; ++c)\n"
    "            atomicAdd(&p[i * components + c], v[a * components + c]);\n"
    "    }\n"
    "}\n\n"
    "INLINE void add_matrix(scalar *p, const uint32_t *positions, const real *v, int entries, "
    "int)\n"
    "{\n"
    "    UNROLL for (int k = 0; k < entries; ++k)\n"
    "        atomicAdd(&p[positions[k * LANES]], v[k]);\n"
    "}\n\n";

static const char intrinsics[] = "#define weft_select(c, a, b) ((c) ? (real)(a) : (real)(b))\n"
                                 "INLINE real weft_abs(real x) { return x < 0 ? -x : x; }\n"
                                 "INLINE real weft_min(real a, real b) { return b < a ? b : a; }\n"
                                 "INLINE real weft_max(real a, real b) { return a < b ? b : a; }\n"
                                 "INLINE real weft_pow(real x, real y) { return pow(x, y); }\n"
                                 "INLINE real weft_powi(real x, int n)\n"
                                 "{\n"
                                 "    real r = 1;\n"
                                 "    UNROLL for (int k = n < 0 ? -n : n; k > 0; k >>= 1) {\n"
                                 "        if (k & 1)\n"
                                 "            r *= x;\n"
                                 "        x *= x;\n"
                                 "    }\n"
                                 "    return n < 0 ? 1 / r : r;\n"
                                 "}\n";

static void functions(weft_text *out) {
    static const char *const names[] = {"sqrt", "exp", "log", "sin", "cos", "tan", "tanh"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        weft_text_add(out, "INLINE real weft_%s(real x) { return %s(x); }\n", names[i], names[i]);
    weft_text_add(out, "\n");
}

/* A thread block's partial result: by halves in shared memory. The join: one block, by halves of
 * what is left, so that neighbouring threads read neighbouring words. Both trees depend on the size
 * alone. */
static void reductions(weft_text *out) {
    static const char *const names[][3] = {
        {"add", "0", "a + b"},
        {"multiply", "1", "a * b"},
        {"min", "__longlong_as_double(0x7ff0000000000000LL)", "b < a ? b : a"},
        {"max", "-__longlong_as_double(0x7ff0000000000000LL)", "a < b ? b : a"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char *name = names[i][0], *neutral = names[i][1];
        weft_text_add(out,
                      "INLINE scalar both_%s(scalar a, scalar b) { return %s; }\n"
                      "INLINE void start_%s(real *a, int components)\n"
                      "{\n"
                      "    for (int c = 0; c < components; ++c)\n"
                      "        a[c] = (scalar)%s;\n"
                      "}\n"
                      "INLINE void join_%s(real *a, const real *v, int components, int)\n"
                      "{\n"
                      "    UNROLL for (int c = 0; c < components; ++c)\n"
                      "        a[c] = both_%s(a[c], v[c]);\n"
                      "}\n",
                      name, names[i][2], name, neutral, name, name);
        weft_text_add(out,
                      "INLINE void partial_%s(scalar *p, const real *a, int components)\n"
                      "{\n"
                      "    __shared__ scalar shared[THREADS];\n"
                      "    for (int c = 0; c < components; ++c) {\n"
                      "        shared[threadIdx.x] = a[c];\n"
                      "        __syncthreads();\n"
                      "        for (int half = THREADS / 2; half > 0; half /= 2) {\n"
                      "            if (threadIdx.x < half)\n"
                      "                shared[threadIdx.x] = both_%s(shared[threadIdx.x], "
                      "shared[threadIdx.x + half]);\n"
                      "            __syncthreads();\n"
                      "        }\n"
                      "        if (threadIdx.x == 0)\n"
                      "            p[c] = shared[0];\n"
                      "        __syncthreads();\n"
                      "    }\n"
                      "}\n",
                      name, name);
        weft_text_add(
            out,
            "INLINE void finish_%s(scalar *result, scalar *p, int components, int64_t n)\n"
            "{\n"
            "    for (int64_t left = n; left > 1; left = (left + 1) / 2) {\n"
            "        const int64_t half = (left + 1) / 2;\n"
            "        for (int64_t i = threadIdx.x; i < left - half; i += blockDim.x)\n"
            "            for (int c = 0; c < components; ++c)\n"
            "                p[i * components + c] =\n"
            "                    both_%s(p[i * components + c], p[(i + half) * components + "
            "c]);\n"
            "        __syncthreads();\n"
            "    }\n"
            "    for (int c = threadIdx.x; c < components; c += blockDim.x)\n"
            "        result[c] = n > 0 ? p[c] : (scalar)%s;\n"
            "}\n\n",
            name, name, neutral);
    }
}

static void cuda_prelude(weft_text *out, int lanes, bool single) {
    types(out, lanes, single);
    weft_text_add_bytes(out, loads, sizeof loads - 1);
    weft_text_add_bytes(out, stores, sizeof stores - 1);
    weft_text_add_bytes(out, intrinsics, sizeof intrinsics - 1);
    functions(out);
    reductions(out);
}

const weft_backend weft_backend_cuda = {.prelude = cuda_prelude, .is_threaded = true};
