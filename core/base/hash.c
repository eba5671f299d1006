/* Hashes bytes by xxHash, 128 bits for keys and 64 for tables. */
#include "core/weft_core.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

uint64_t weft_hash_text(const char *text) {
    return XXH3_64bits(text, strlen(text));
}

void weft_hash(const void *bytes, size_t length, char out[33]) {
    static const char digits[] = "0123456789abcdef";
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, length));
    for (size_t i = 0; i < 16; ++i) {
        out[2 * i] = digits[canonical.digest[i] >> 4];
        out[2 * i + 1] = digits[canonical.digest[i] & 15];
    }
    out[32] = '\0';
}
