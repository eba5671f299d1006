/* How the lanes of a target run. */
#include "fusion/base/target.h"

bool weft_target_is_simt(int lanes, const weft_limits *limits) {
    return limits->kind == WEFT_DEVICE_CUDA ||
           (limits->kind == WEFT_DEVICE_NULL && lanes == WEFT_CUDA_LANES);
}
