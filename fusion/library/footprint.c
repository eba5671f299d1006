/* What the variants of a specialisation need: language, shared memory, registers, operations. */
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/library/function.h"

#include <string.h>

weft_language weft_language_of(const weft_limits *limits) {
    return !weft_target_is_simt(limits)                      ? LANGUAGE_C
           : limits->target.warp_threads == WEFT_NATIVE_WARP ? LANGUAGE_CUDA
                                                             : LANGUAGE_PLAIN;
}

static const weft_native *native_of(const weft_specialisation *specialisation, int variant) {
    return specialisation->function->variants[variant]->native;
}

weft_language weft_specialisation_language(const weft_specialisation *specialisation, int variant) {
    const weft_native *native = native_of(specialisation, variant);
    return native ? native->language : LANGUAGE_PLAIN;
}

bool weft_specialisation_offers(const weft_specialisation *specialisation, int variant,
                                weft_language target) {
    const weft_language own = weft_specialisation_language(specialisation, variant);
    if (own != LANGUAGE_PLAIN)
        return own == target;
    for (int v = 0; v < specialisation->n_variants && target != LANGUAGE_PLAIN; ++v)
        if (weft_specialisation_language(specialisation, v) == target &&
            specialisation->threads[v] == specialisation->threads[variant])
            return false;
    return true;
}

int weft_specialisation_default(const weft_specialisation *specialisation, weft_language target) {
    for (int v = specialisation->n_variants - 1; v > 0 && target != LANGUAGE_PLAIN; --v)
        if (weft_specialisation_language(specialisation, v) == target &&
            specialisation->threads[v] == 1)
            return v;
    return 0;
}

bool weft_specialisation_is_joint(const weft_specialisation *specialisation, int variant) {
    return native_of(specialisation, variant) && specialisation->threads[variant] > 1;
}

bool weft_specialisation_moves(const weft_specialisation *specialisation, int variant,
                               int operand) {
    const weft_native *native = native_of(specialisation, variant);
    return native && (operand < 0 ? &native->store : &native->loads[operand])->text;
}

size_t weft_specialisation_scratch(const weft_specialisation *specialisation, int variant,
                                   size_t real_bytes) {
    const weft_native *native = native_of(specialisation, variant);
    const weft_footprint *one = &specialisation->footprints[variant];
    if (!native || one->shared == 0)
        return 0;
    const size_t bytes = (size_t)one->shared * (one->shared_is_reals ? real_bytes : 1);
    return (bytes + 8 * (size_t)native->n_shared + 15) / 16 * 16; /* each begins at 8 bytes */
}
