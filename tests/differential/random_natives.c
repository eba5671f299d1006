/* Native bodies for functions that random scripts call, beside the plain ones of the library: warps and parts of them, shared
 * memory, routines that load and store, helpers and macros of one name in several functions. */
#include "random_natives.h"

#include "fusion/weft_library.h"

#include <string.h>

static const char *const natives[][2] = {
    {"mmul", "//@ body cuda\n"
             "//@ threads 8  A(:,t::8) B(t::8,:)\n"
             "//@ helpers\n"
             "#define WIDTH 8\n"
             "enum { FIRST = WIDTH / 2 };\n"
             "static __device__ real total(real v)\n"
             "{\n"
             "    for (int by = FIRST; by > 0; by /= 2)\n"
             "        v += __shfl_xor_sync(0xffffffffu, v, by, WIDTH);\n"
             "    return v;\n"
             "}\n"
             "//@ compute\n"
             "for (int i = 0; i < m; ++i)\n"
             "    for (int j = 0; j < n; ++j) {\n"
             "        real s = 0;\n"
             "        for (int l = t; l < k; l += WIDTH)\n"
             "            s += A(i, l) * B(l, j);\n"
             "        C(i, j) = total(s);\n"
             "    }\n"
             "//@ body cuda\n"
             "//@ threads 32  C(t::32,:)\n"
             "//@ compute\n"
             "for (int i = t; i < m; i += 32)\n"
             "    for (int j = 0; j < n; ++j) {\n"
             "        C(i, j) = 0;\n"
             "        for (int l = 0; l < k; ++l)\n"
             "            C(i, j) += A(i, l) * B(l, j);\n"
             "    }\n"
             "//@ body c\n"
             "//@ threads 1\n"
             "//@ helpers\n"
             "static real total(real a, real b, real c)\n"
             "{\n"
             "    return a + b * c;\n"
             "}\n"
             "//@ compute\n"
             "for (int i = 0; i < m; ++i)\n"
             "    for (int j = 0; j < n; ++j) {\n"
             "        real s = SPLAT(0.0);\n"
             "        for (int l = 0; l < k; ++l)\n"
             "            s = total(s, A(i, l), B(l, j));\n"
             "        C(i, j) = s;\n"
             "    }\n"},
    {"mvmul", "//@ body cuda\n"
              "//@ threads 64  y(t::64)\n"
              "//@ shared m + n reals\n"
              "//@ registers 40\n"
              "//@ compute\n"
              "__shared__ real copy[n];\n"
              "__shared__ real sums[m];\n"
              "for (int j = t; j < n; j += 64)\n"
              "    copy[j] = x(j);\n"
              "__syncthreads();\n"
              "for (int i = t; i < m; i += 64) {\n"
              "    sums[m - 1 - i] = 0;\n"
              "    for (int j = 0; j < n; ++j)\n"
              "        sums[m - 1 - i] += A(i, j) * copy[j];\n"
              "}\n"
              "__syncthreads();\n"
              "for (int i = t; i < m; i += 64)\n"
              "    y(i) = sums[m - 1 - i];\n"},
    {"dot", "//@ body cuda\n"
            "//@ threads 4  x(t::4) y(t::4)\n"
            "//@ operations 2*n + 8\n"
            "//@ helpers\n"
            "#define WIDTH 4\n"
            "enum { FIRST = WIDTH / 2 };\n"
            "static __device__ real total(real v)\n"
            "{\n"
            "    for (int by = FIRST; by > 0; by /= 2)\n"
            "        v += __shfl_down_sync(0xffffffffu, v, by, WIDTH);\n"
            "    return v;\n"
            "}\n"
            "//@ load x\n"
            "for (int i = t; i < n; i += WIDTH)\n"
            "    x(i) = __ldcs(&from(i));\n"
            "//@ compute\n"
            "real sum = 0;\n"
            "for (int i = t; i < n; i += WIDTH)\n"
            "    sum += x(i) * y(i);\n"
            "s = total(sum);\n"},
    {"outer", "//@ body cuda\n"
              "//@ threads 8  A(t::8,:)\n"
              "//@ compute\n"
              "for (int i = t; i < m; i += 8)\n"
              "    for (int j = 0; j < n; ++j)\n"
              "        A(i, j) = x(i) * y(j);\n"
              "//@ store A\n"
              "for (int i = t; i < m; i += 8)\n"
              "    for (int j = n; j-- > 0;)\n"
              "        to(i, j) = A(i, j);\n"},
    {"madd", "//@ body cuda\n"
             "//@ threads 1\n"
             "//@ compute\n"
             "for (int i = 0; i < m; ++i)\n"
             "    for (int j = 0; j < n; ++j)\n"
             "        C(i, j) = B(i, j) + A(i, j);\n"
             "//@ body c\n"
             "//@ threads 1\n"
             "//@ helpers\n"
             "enum { FIRST = 0 };\n"
             "//@ compute\n"
             "for (int i = FIRST; i < m; ++i)\n"
             "    for (int j = FIRST; j < n; ++j)\n"
             "        C(i, j) = B(i, j) + A(i, j);\n"},
    {"transpose", "//@ body cuda\n"
                  "//@ threads 2  B(t::2,:)\n"
                  "//@ compute\n"
                  "for (int i = t; i < n; i += 2)\n"
                  "    for (int j = 0; j < m; ++j)\n"
                  "        B(i, j) = A(j, i);\n"},
};

weft_status random_natives_add(weft_library *library, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    for (size_t i = 0; i < sizeof natives / sizeof *natives && status == WEFT_OK; ++i)
        for (size_t k = 0; k < weft_library_size(library); ++k) {
            weft_function_info info;
            weft_library_info(library, k, &info);
            if (strcmp(info.name, natives[i][0]) != 0 || strcmp(info.kind, "map") != 0)
                continue;
            text.length = 0;
            weft_text_add(&text, "%s\n%s", info.text, natives[i][1]);
            status = weft_library_add_text(library, "natives.kernel.c", text.data, error);
            break;
        }
    weft_text_free(&text);
    return status;
}
