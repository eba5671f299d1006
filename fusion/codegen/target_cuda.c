/* The GPU's prelude: one thread an instance, `real` is a scalar, a warp's instances are the lanes
 * of a block of interleaved data, so that its threads read neighbouring words. Accumulating stores
 * are atomic, or plain where a launch is a colour of instances. */
#include "core/base/fault.h"
#include "core/weft_core.h"
#include "fusion/base/intrinsics.h"
#include "fusion/base/target.h"
#include "fusion/codegen/codegen.h"
#include "fusion/codegen/private.h"

static void types(weft_text *out, int lanes, bool single) {
    weft_text_add(
        out,
        "#ifdef __CUDACC_RTC__ /* which has no <stdint.h> */\n"
        "typedef unsigned char uint8_t;\n"
        "typedef unsigned short uint16_t;\n"
        "typedef int int32_t;\n"
        "typedef unsigned int uint32_t;\n"
        "typedef long long int64_t;\n"
        "typedef unsigned long long uint64_t;\n"
        "#else\n"
        "#include <stdint.h>\n"
        "#endif\n\n"
        "#define LANES %d\n"
        "#define THREADS %d\n"
        "#define CHUNK %d /* instances a partial result of a reduction */\n"
        "typedef %s scalar;\n"
        "typedef scalar real;\n"
        "#define restrict __restrict__\n"
        "#define KERNEL extern \"C\" __global__ void __launch_bounds__(THREADS)\n"
        "#define FINISH extern \"C\" __global__ void __launch_bounds__(CHUNK) /* one thread block "
        "*/\n"
        "#define ROWS_KERNEL extern \"C\" __global__ void __launch_bounds__(ROWS_BOUNDS)\n"
        "#define BLOCK_KERNEL(N) extern \"C\" __global__ void __launch_bounds__(N)\n"
        "#define WARPS_KERNEL extern \"C\" __global__ void __launch_bounds__(WARPS * INSTANCES)\n"
        "#define INLINE static __device__ __forceinline__\n"
        "#define UNROLL _Pragma(\"unroll\")\n"
        "#define SPLAT(e) ((real)(e))\n\n",
        lanes, WEFT_CUDA_THREADS, WEFT_CUDA_CHUNK, single ? "float" : "double");
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
    "/* n numbers, which the block's threads will ask for: into the second cache */\n"
    "INLINE void fetch_rows(const scalar *p, int64_t n)\n"
    "{\n"
    "#ifdef __CUDA_ARCH__\n"
    "    for (int64_t i = threadIdx.x * 16; i < n; i += blockDim.x * 16)\n"
    "        asm volatile(\"prefetch.global.L2 [%0];\" :: \"l\"(p + i));\n"
    "#endif\n"
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

/* Several threads an instance: a list in shared memory, and loads and stores that its warps share.
 */
static const char shared_lists[] =
    "/* [component][instance of the block], from the thread's own instance on */\n"
    "template <int INSTANCES_> struct shared_list {\n"
    "    scalar *p;\n"
    "    __device__ __forceinline__ scalar &operator[](int c) const { return p[c * INSTANCES_]; }\n"
    "};\n"
    "template <int N_WARPS, class List> INLINE void spread_load_block(List v, const scalar *p, int "
    "components, int warp)\n"
    "{\n"
    "    UNROLL for (int c = warp; c < components; c += N_WARPS)\n"
    "        v[c] = p[c * LANES];\n"
    "}\n"
    "template <int N_WARPS, class List> INLINE void spread_load_plain(List v, const scalar *p, int "
    "components, int64_t instance, int warp)\n"
    "{\n"
    "    UNROLL for (int c = warp; c < components; c += N_WARPS)\n"
    "        v[c] = p[instance * components + c];\n"
    "}\n"
    "template <int N_WARPS, class List> INLINE void spread_load_indirect(List v, const scalar *p, "
    "const "
    "int32_t *map, int width, int components, int warp)\n"
    "{\n"
    "    UNROLL for (int k = warp; k < width * components; k += N_WARPS)\n"
    "        v[k] = p[(int64_t)map[k / components * LANES] * components + k % components];\n"
    "}\n"
    "template <int N_WARPS, class List> INLINE void spread_store_block(scalar *p, List v, int "
    "components, "
    "int warp)\n"
    "{\n"
    "    UNROLL for (int c = warp; c < components; c += N_WARPS)\n"
    "        p[c * LANES] = v[c];\n"
    "}\n"
    "template <int N_WARPS, class List> INLINE void spread_store_plain(scalar *p, List v, int "
    "components, "
    "int64_t instance, int warp)\n"
    "{\n"
    "    UNROLL for (int c = warp; c < components; c += N_WARPS)\n"
    "        p[instance * components + c] = v[c];\n"
    "}\n"
    "template <int N_WARPS, class List> INLINE void spread_add_indirect(scalar *p, const int32_t "
    "*map, "
    "List v, int width, int components, int warp)\n"
    "{\n"
    "    UNROLL for (int k = warp; k < width * components; k += N_WARPS)\n"
    "        atomicAdd(&p[(int64_t)map[k / components * LANES] * components + k % components], "
    "v[k]);\n"
    "}\n"
    "template <int N_WARPS, class List> INLINE void spread_add_matrix(scalar *p, const uint32_t "
    "*positions, "
    "List v, int entries, int warp)\n"
    "{\n"
    "    UNROLL for (int k = warp; k < entries; k += N_WARPS)\n"
    "        atomicAdd(&p[positions[k * LANES]], v[k]);\n"
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
    "}\n\n"
    "/* where no other instance of the launch has these targets */\n"
    "INLINE void add_indirect_alone(scalar *p, const int32_t *map, const real *v, int width, int "
    "components, int)\n"
    "{\n"
    "    UNROLL for (int a = 0; a < width; ++a) {\n"
    "        const int64_t i = map[a * LANES];\n"
    "        UNROLL for (int c = 0; c < components; ++c)\n"
    "            p[i * components + c] += v[a * components + c];\n"
    "    }\n"
    "}\n\n"
    "INLINE void add_matrix_alone(scalar *p, const uint32_t *positions, const real *v, int "
    "entries, int)\n"
    "{\n"
    "    UNROLL for (int k = 0; k < entries; ++k)\n"
    "        p[positions[k * LANES]] += v[k];\n"
    "}\n\n";

static const char intrinsics[] =
    "#define weft_select(c, a, b) ((c) ? (real)(a) : (real)(b))\n"
    "/* from 20 bits to all, but a last one or two; 1/0 is no number */\n"
    "INLINE double weft_reciprocal(double x)\n"
    "{\n"
    "    double r;\n"
    "    asm(\"rcp.approx.ftz.f64 %0, %1;\" : \"=d\"(r) : \"d\"(x));\n"
    "    const double e = fma(-x, r, 1.0);\n"
    "    return fma(r, fma(e, e, e), r);\n"
    "}\n"
    "INLINE float weft_reciprocal(float x) { return 1 / x; }\n"
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
    for (int i = 0; i < weft_intrinsics_count; ++i) {
        const weft_intrinsic *one = &weft_intrinsics[i];
        const bool two = one->n_arguments == 2;
        if (one->flags & INTRINSIC_CUDA_OWN)
            continue;
        weft_text_add(out, "INLINE real weft_%s(real x%s) { return ", one->name,
                      two ? ", real y" : "");
        if (one->c != NULL)
            weft_text_add(out, "%s(x%s)", one->c, two ? ", y" : "");
        else
            weft_text_add(out, "%s", one->plain);
        weft_text_add(out, "; }\n");
    }
    weft_text_add(out, "\n");
}

/* How contributions become one. A chunk of CHUNK consecutive instances is a partial result: warps'
 * worth of them are joined by halves between lanes, then what these give, again by halves. Partial
 * results go round CHUNK sums, which are joined as a chunk is. So the tree depends on the number of
 * instances alone, not on how many threads a block has. */
static const char chunks[] =
    "#define GROUPS (CHUNK / LANES) /* of a chunk: a warp's worth of instances each */\n"
    "#define TOGETHER 20 /* partial results that a thread waits for at once */\n"
    "\n";

static void chunk_functions(weft_text *out, const char *name) {
    weft_text_add(out,
                  "/* Lane 0 gets what `n` lanes hold, n a power of two. */\n"
                  "INLINE scalar lanes_%s(scalar v, int n)\n"
                  "{\n"
                  "    UNROLL for (int half = n / 2; half > 0; half /= 2)\n"
                  "        v = both_%s(v, __shfl_down_sync(0xffffffffu, v, half));\n"
                  "    return v;\n"
                  "}\n"
                  "/* v[k * stride]: of instance k * N_THREADS + thread; a barrier must follow */\n"
                  "template <int N_THREADS, int N>\n"
                  "INLINE void groups_%s(scalar *tree, const real *v, int stride)\n"
                  "{\n"
                  "    UNROLL for (int k = 0; k < N; ++k) {\n"
                  "        const scalar group = lanes_%s(v[k * stride], LANES);\n"
                  "        if (threadIdx.x %% LANES == 0)\n"
                  "            tree[(k * N_THREADS + threadIdx.x) / LANES] = group;\n"
                  "    }\n"
                  "}\n"
                  "/* By one warp: a chunk's groups joined, in lane 0. */\n"
                  "INLINE scalar chunk_%s(const scalar *tree)\n"
                  "{\n"
                  "    return lanes_%s(tree[threadIdx.x %% GROUPS], GROUPS);\n"
                  "}\n",
                  name, name, name, name, name, name);
    weft_text_add(
        out,
        "/* By one block of CHUNK threads. */\n"
        "INLINE void finish_%s(scalar *result, scalar *tree, const scalar *p, int components,\n"
        "                      int64_t n_instances)\n"
        "{\n"
        "    const int64_t n = (n_instances + CHUNK - 1) / CHUNK;\n"
        "    for (int c = 0; c < components; ++c) {\n"
        "        real sum[1];\n"
        "        start_%s(sum, 1);\n"
        "        for (int64_t first = threadIdx.x; first < n; first += TOGETHER * CHUNK) {\n"
        "            scalar some[TOGETHER];\n"
        "            UNROLL for (int j = 0; j < TOGETHER; ++j) {\n"
        "                const int64_t i = first + j * CHUNK;\n"
        "                some[j] = p[(i < n ? i : n - 1) * components + c];\n"
        "            }\n"
        "            UNROLL for (int j = 0; j < TOGETHER; ++j)\n"
        "                sum[0] = first + j * CHUNK < n ? both_%s(sum[0], some[j]) : sum[0];\n"
        "        }\n"
        "        groups_%s<CHUNK, 1>(tree, sum, 1);\n"
        "        __syncthreads();\n"
        "        if (threadIdx.x < LANES) {\n"
        "            const scalar all = chunk_%s(tree);\n"
        "            if (threadIdx.x == 0)\n"
        "                result[c] = all;\n"
        "        }\n"
        "        __syncthreads();\n"
        "    }\n"
        "}\n\n",
        name, name, name, name, name);
}

static void reductions(weft_text *out) {
    static const char *const names[][3] = {
        {"add", "0", "a + b"},
        {"multiply", "1", "a * b"},
        {"min", "__longlong_as_double(0x7ff0000000000000LL)", "b < a ? b : a"},
        {"max", "-__longlong_as_double(0x7ff0000000000000LL)", "a < b ? b : a"}};
    weft_text_add_bytes(out, chunks, sizeof chunks - 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char *name = names[i][0];
        const char *neutral = names[i == 3 && weft_planted("wrong_neutral") ? 0 : i][1];
        weft_text_add(out,
                      "INLINE scalar both_%s(scalar a, scalar b) { return %s; }\n"
                      "INLINE scalar neutral_%s() { return (scalar)%s; }\n"
                      "INLINE void start_%s(real *a, int n)\n"
                      "{\n"
                      "    UNROLL for (int i = 0; i < n; ++i)\n"
                      "        a[i] = neutral_%s();\n"
                      "}\n",
                      name, names[i][2], name, neutral, name, name);
        chunk_functions(out, name);
    }
}

static void cuda_prelude(weft_text *out, int lanes, bool single) {
    types(out, lanes, single);
    weft_text_add_bytes(out, loads, sizeof loads - 1);
    weft_text_add_bytes(out, stores, sizeof stores - 1);
    weft_text_add_bytes(out, shared_lists, sizeof shared_lists - 1);
    weft_text_add_bytes(out, intrinsics, sizeof intrinsics - 1);
    functions(out);
    reductions(out);
}

const weft_backend weft_backend_cuda = {.prelude = cuda_prelude, .is_threaded = true};
