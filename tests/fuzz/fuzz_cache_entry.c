/* labels: quick */
/* Any bytes as a cache entry: refused in words, or sound in every part. The hashes are put right
 * first where the input is long enough, so that the checks behind them are reached. */
#include "core/cache/cache.h"
#include "core/weft_core.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const unsigned char *bytes, size_t size) {
    weft_entry entry;
    unsigned char header[WEFT_ENTRY_HEADER];
    const char *wrong = weft_entry_check(bytes, size, NULL, &entry);
    if (wrong) {
        if (!wrong[0])
            abort();
        return;
    }
    if (entry.payload_bytes != size - WEFT_ENTRY_HEADER || strlen(entry.key) > 32 ||
        strlen(entry.description) >= sizeof entry.description)
        abort();
    if (weft_entry_check(bytes, size, "not this one", &entry) == NULL)
        abort();
    if (weft_entry_check(bytes, size - 1, NULL, &entry) == NULL)
        abort();
    weft_entry_encode(&entry, header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check(data, size);
    if (size < WEFT_ENTRY_HEADER)
        return 0;
    unsigned char *bytes = malloc(size);
    char hash[33];
    if (!bytes)
        return 0;
    memcpy(bytes, data, size);
    weft_hash(bytes + WEFT_ENTRY_HEADER, size - WEFT_ENTRY_HEADER, hash);
    memcpy(bytes + 88, hash, 32);
    weft_hash(bytes, 480, hash);
    memcpy(bytes + 480, hash, 32);
    check(bytes, size);
    free(bytes);
    return 0;
}
