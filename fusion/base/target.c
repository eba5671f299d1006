/* Checks what a device says of its warps and thread blocks. */
#include "fusion/base/target.h"

static bool is_power(int n) {
    return n > 0 && (n & (n - 1)) == 0;
}

weft_status weft_target_check(const weft_limits *limits, weft_error *error) {
    const weft_target *t = &limits->target;
    const int warp = t->warp_threads;
    if (!weft_target_is_simt(limits))
        return WEFT_OK;
    const bool warps = is_power(warp) && warp <= WEFT_WARP_MOST && limits->lanes_double == warp &&
                       limits->lanes_float == warp;
    const bool blocks = warps && is_power(t->block_threads) && t->block_threads % warp == 0 &&
                        t->block_threads_most % warp == 0 &&
                        t->resident_threads >= t->block_threads_most && t->resident_blocks > 0 &&
                        t->reserved_bytes >= 0;
    const bool tiles =
        blocks && is_power(t->reduction_tile) && t->reduction_tile % t->block_threads == 0 &&
        t->reduction_tile <= t->block_threads_most && t->reduction_tile <= warp * warp &&
        t->joined_direct > 0 && t->joined_exact > 0 && t->joined_before > 0;
    return tiles ? WEFT_OK
                 : weft_error_refuse(error, WEFT_ERROR_USAGE,
                                     "no kernels can be made for the warps and thread blocks of "
                                     "this device",
                                     "weft_target_check (fusion/base/target.h) has the conditions");
}
