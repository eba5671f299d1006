/* Writes the host prelude from its template kernels/prelude/host.h. */
#include "fusion/base/intrinsics.h"
#include "fusion/base/prelude.h"
#include "fusion/base/target.h"
#include "fusion/codegen/private.h"

#include <stdio.h>

static void library_call(weft_text *out, const weft_intrinsic *one, const char *suffix) {
    const int n = one->n_arguments;
    if (one->vector_x86 > 0)
        weft_text_add(out, "#if VECTOR_SINCE(%d, %d)\nVECTOR_%d(%s_, \"%s%s\");\n#else\n",
                      one->vector_x86, one->vector_arm, n, one->name, one->c, suffix);
    weft_text_add(out, "LANEWISE_%d(ONCE, %s_, __builtin_%s%s)\n", n, one->name, one->c, suffix);
    if (one->vector_x86 > 0)
        weft_text_add(out, "#endif\n");
    weft_text_add(out,
                  n == 2 ? "#define weft_%s(x, y) %s_(SPLAT(x), SPLAT(y))\n"
                         : "#define weft_%s(x) %s_(SPLAT(x))\n",
                  one->name, one->name);
}

/* `#elif` branches that define ROOTS(x), square roots of vectors of `bytes`, by an instruction. */
static void roots(weft_text *out, int bytes, bool single) {
    static const struct {
        int bytes;
        const char *macro, *of_double, *of_float;
    } forms[] = {
        {64, "__AVX512F__", "__builtin_ia32_sqrtpd512_mask(x, (real){0}, -1, 4)",
         "__builtin_ia32_sqrtps512_mask(x, (real){0}, -1, 4)"},
        {32, "__AVX__", "__builtin_ia32_sqrtpd256(x)", "__builtin_ia32_sqrtps256(x)"},
        {16, "__SSE2__", "__builtin_ia32_sqrtpd(x)", "__builtin_ia32_sqrtps(x)"},
        {16, "__aarch64__", "__builtin_aarch64_sqrtv2df(x)", "__builtin_aarch64_sqrtv4sf(x)"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
        if (forms[i].bytes == bytes)
            weft_text_add(out,
                          "#elif defined(%s)\n"
                          "#define ROOTS(x) %s\n",
                          forms[i].macro, single ? forms[i].of_float : forms[i].of_double);
}

static void host_prelude(weft_text *out, const weft_limits *limits, bool single) {
    const int lanes = weft_target_lanes(limits, single);
    const char *suffix = single ? "f" : "";
    const int n_bytes = lanes * (int)(single ? sizeof(float) : sizeof(double));
    char n_lanes[16], bytes[16];
    weft_text each_lane = {0}, root_forms = {0}, calls = {0};
    snprintf(n_lanes, sizeof n_lanes, "%d", lanes);
    snprintf(bytes, sizeof bytes, "%d", n_bytes);
    for (int i = 0; i < lanes; ++i)
        weft_text_add(&each_lane, "%sM(%d)", i > 0 ? ", " : "", i);
    weft_text_add_bytes(&root_forms, "", 0);
    roots(&root_forms, n_bytes, single);
    for (int i = 0; i < weft_intrinsics_count; ++i)
        if ((weft_intrinsics[i].flags & INTRINSIC_HOST_OWN) == 0)
            library_call(&calls, &weft_intrinsics[i], suffix);
    out->failed |= each_lane.failed || root_forms.failed || calls.failed;
    const weft_prelude_value values[] = {
        {"lanes", n_lanes},
        {"bytes", bytes},
        {"bits", single ? "32" : "64"},
        {"scalar", single ? "float" : "double"},
        {"suffix", suffix},
        {"whole", single ? "0x1p23" : "0x1p52"},
        {"each_lane", each_lane.data},
        {"roots", root_forms.data},
        {"functions", calls.data},
        {NULL, NULL},
    };
    if (!out->failed)
        weft_prelude_write("host.h", values, out);
    weft_text_free(&each_lane);
    weft_text_free(&root_forms);
    weft_text_free(&calls);
}

/* Of -O1, with the passes that make fused multiply-adds, so that results are those of -O3. Other compilers than gcc ignore it. */
static const char cheaply[] =
    "#pragma GCC optimize (\"O1\", \"expensive-optimizations\", \"no-tree-bit-ccp\")\n";

const weft_backend weft_backend_host = {.language = "host",
                                        .cheaply = cheaply,
                                        .prelude = host_prelude,
                                        .nested = "nested_host.h",
                                        .combine = "combine_host.h",
                                        .exact = "exact_host.h",
                                        .splat = "SPLAT",
                                        .combine_nested = "combine_nested_host.h",
                                        .element = "numbers_from(block * LANES)",
                                        .element_of_pair = "numbers_from(i * n_second + j)"};
