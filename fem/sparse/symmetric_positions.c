/* Finds, for each entry of each local matrix, its position in the values of a symmetric matrix. */
#include "fem/sparse/symmetric.h"

typedef struct entry_positions {
    const weft_symmetric *symmetric;
    int64_t n_entries;
} entry_positions;

static uint32_t position_of(const void *user, int32_t row, uint32_t entry) {
    const entry_positions *of = user;
    const weft_symmetric *symmetric = of->symmetric;
    if (entry >= of->n_entries) /* a missing coupling in one of the last rows */
        return 0;
    const uint32_t offset = symmetric->offsets[entry];
    if (offset == WEFT_SYMMETRIC_DISCARD)
        return (uint32_t)(symmetric->first_discard + row % symmetric->n_discard);
    return (uint32_t)(symmetric->patches[row / WEFT_SYMMETRIC_NODES].first_value + offset);
}

weft_status weft_symmetric_positions(weft_device *device, const weft_symmetric *symmetric,
                                     const weft_pattern *pattern, const weft_connectivity *dofs,
                                     int lanes, weft_memory **positions, weft_error *error) {
    const entry_positions of = {symmetric, pattern->n_entries};
    const weft_pattern_search search = {
        .pattern = pattern, .vectors = weft_vectors_of(device), .map = position_of, .user = &of};
    return weft_pattern_positions_by(device, &search, dofs, lanes, positions, error);
}
