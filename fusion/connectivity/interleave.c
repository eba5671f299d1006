#include "fusion/weft_program.h"

/* Instance of lane `lane` of block `block`; the last one again in the spare lanes. */
static int64_t instance_of(int64_t block, int lane, int lanes, int64_t n) {
    int64_t i = block * lanes + lane;
    return i < n ? i : n - 1;
}

void weft_interleave(const double *plain, int64_t n, int components, int lanes, double *out) {
    int64_t n_blocks = (n + lanes - 1) / lanes;
    for (int64_t block = 0; block < n_blocks; ++block)
        for (int c = 0; c < components; ++c)
            for (int lane = 0; lane < lanes; ++lane)
                out[(block * components + c) * lanes + lane] =
                    plain[instance_of(block, lane, lanes, n) * components + c];
}

void weft_deinterleave(const double *interleaved, int64_t n, int components, int lanes,
                       double *out) {
    for (int64_t i = 0; i < n; ++i)
        for (int c = 0; c < components; ++c)
            out[i * components + c] = interleaved[(i / lanes * components + c) * lanes + i % lanes];
}
