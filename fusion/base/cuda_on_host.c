/* Makes generated CUDA text into C++ for the host. */
#include "fusion/base/cuda_on_host.h"
#include "fusion/base/prelude.h"

#include <string.h>

/* What has another text in C++: dynamic shared memory, and an instruction of the device. */
static const char *const replaced[][2] = {
    {"extern __shared__ __align__(128) unsigned char shared[];",
     "unsigned char *const shared = emulated_shared;"},
    {"extern __shared__ __align__(16) unsigned char shared[];",
     "unsigned char *const shared = emulated_shared;"},
    {"extern __shared__ __align__(128) unsigned char ring[];",
     "unsigned char *const ring = emulated_shared;"},
    {"extern __shared__ __align__(128) scalar panel[];",
     "scalar *const panel = (scalar *)emulated_shared;"},
    {"asm(\"rcp.approx.ftz.f64 %0, %1;\" : \"=d\"(r) : \"d\"(x));", "r = 1 / x;"}};
enum { N_REPLACED = sizeof replaced / sizeof *replaced };

/* The instructions of nested_cluster.h, for which cuda_on_host.h has C++. */
static const char first_instruction[] = "typedef unsigned long long ring_barrier;";
static const char behind_instructions[] = "/* The sums of a row in all computing threads";

void weft_cuda_on_host(const char *cuda, weft_text *out) {
    static const weft_prelude_value none[] = {{NULL, NULL}};
    weft_prelude_write("cuda_on_host.h", none, out);
    weft_prelude_write("cuda_on_host_run.h", none, out);
    weft_cuda_on_host_text(cuda, out);
}

void weft_cuda_on_host_text(const char *cuda, weft_text *out) {
    const char *cut = strstr(cuda, first_instruction);
    const char *behind = cut ? strstr(cut, behind_instructions) : NULL;
    while (*cuda != '\0') {
        const char *next = cuda + strlen(cuda);
        int which = -1;
        for (int i = 0; i < N_REPLACED; ++i) {
            const char *found = strstr(cuda, replaced[i][0]);
            if (found && found < next) {
                next = found;
                which = i;
            }
        }
        if (behind && cuda <= cut && next >= cut) {
            next = cut;
            which = -1;
        }
        weft_text_add_bytes(out, cuda, (size_t)(next - cuda));
        cuda = behind && next == cut ? behind : next;
        if (which >= 0) {
            weft_text_add(out, "%s", replaced[which][1]);
            cuda += strlen(replaced[which][0]);
        }
    }
}
