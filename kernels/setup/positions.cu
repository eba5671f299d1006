/* Where each entry of each local matrix is added in the values of a symmetric matrix (fem/sparse/symmetric.h). */
#define NODES 512 /* rows of a patch */
#define DISCARD 0xffffffffu

/* As weft_symmetric_patch. */
struct patch_place {
    int64_t first_value, first_column, first_list;
    uint16_t n_rounds, n_halo;
    uint32_t n_overflow;
};

/* n: cells, with spare lanes.  sizes: width, lanes, first discard slot, number of discard slots.
 * offsets: of the pattern's entries in the values of their patches */
extern "C" __global__ void symmetric_positions(long long n, const int64_t *sizes, const int32_t *indices,
                                               const int64_t *row_start, const int32_t *columns,
                                               const uint32_t *offsets, const patch_place *patches,
                                               uint32_t *positions, int32_t *missing)
{
    const int64_t cell = element();
    if (cell >= n)
        return;
    const int width = (int)sizes[0];
    const int64_t lanes = sizes[1], block = cell / lanes, lane = cell % lanes;
    const int32_t *nodes = indices + block * width * lanes + lane;
    uint32_t *out = positions + block * width * width * lanes + lane;
    for (int i = 0; i < width; ++i) {
        const int32_t row = nodes[i * lanes];
        const int64_t first = row_start[row], end = row_start[row + 1];
        for (int j = 0; j < width; ++j) {
            const int32_t column = nodes[j * lanes];
            int64_t entry = first;
            while (entry < end && columns[entry] != column)
                ++entry;
            if (entry == end) {
                missing[0] = 1;
                out[(i * width + j) * lanes] = 0;
                continue;
            }
            const uint32_t offset = offsets[entry];
            out[(i * width + j) * lanes] =
                offset == DISCARD ? (uint32_t)(sizes[2] + row % sizes[3])
                                  : (uint32_t)(patches[row / NODES].first_value + offset);
        }
    }
}
