/* Cell patches (fusion/connectivity/cell_patches.h): a block for each patch, whose indices fit in its shared memory.
 * sizes of all: cells of a patch, width, lanes of the indices, cells in all. */
#define PATCH_PLACES 4096

struct patch_cells {
    int64_t first;
    int n, width; /* cells, and indices of each */
};
INLINE patch_cells cells_of_block(const int64_t *sizes)
{
    const int64_t first = blockIdx.x * sizes[0], left = sizes[3] - first;
    const patch_cells own = {first, (int)(left < sizes[0] ? left : sizes[0]), (int)sizes[1]};
    return own;
}

/* The sum of a number of each thread, and that of the threads before this one. */
INLINE int sum_before(int mine, int *all)
{
    int64_t sum;
    const int before = (int)block_sum_before(mine, &sum);
    *all = (int)sum;
    return before;
}

/* The nodes of the patch, ascending, in `list`. Returns their number.  keys, list [PATCH_PLACES] */
INLINE int nodes_of_block(const int64_t *sizes, const int32_t *indices, uint32_t *keys, uint32_t *list)
{
    const patch_cells own = cells_of_block(sizes);
    const int n = own.n * own.width;
    int n_nodes = 0;
    for (int i = (int)threadIdx.x; i < n; i += SETUP_THREADS)
        keys[i] = (uint32_t)indices[place_of(own.first + i % own.n, i / own.n, own.width, sizes[2])];
    block_sort(keys, n, 0xffffffffu);
    for (int base = 0; base < n; base += SETUP_THREADS) {
        const int i = base + (int)threadIdx.x;
        const bool is_new = i < n && (i == 0 || keys[i] != keys[i - 1]);
        int all;
        const int before = sum_before(is_new, &all);
        if (is_new)
            list[n_nodes + before] = keys[i];
        n_nodes += all;
    }
    __syncthreads();
    return n_nodes;
}

/* n_touching [nodes]: patches that name a node.  n_nodes, n_rows [patches].  most: nodes of a patch */
extern "C" __global__ void count_nodes(long long n, const int64_t *sizes, const int32_t *indices, uint32_t *n_touching,
                                       uint32_t *n_nodes, uint32_t *n_rows, uint32_t *most)
{
    __shared__ uint32_t keys[PATCH_PLACES], list[PATCH_PLACES];
    const int n_own = nodes_of_block(sizes, indices, keys, list);
    for (int i = (int)threadIdx.x; i < n_own; i += SETUP_THREADS)
        atomicAdd(&n_touching[list[i]], 1u);
    if (threadIdx.x == 0) {
        n_nodes[blockIdx.x] = (uint32_t)n_own;
        n_rows[blockIdx.x] = (uint32_t)(n_own + 31) / 32;
        atomicMax(most, (uint32_t)n_own);
    }
}

/* The place of a node in an ascending list, or -1. */
INLINE int find_node(const uint32_t *list, int first, int last, uint32_t node)
{
    while (last - first > 1) {
        const int middle = (first + last) / 2;
        if (list[middle] <= node)
            first = middle;
        else
            last = middle;
    }
    return first < last && list[first] == node ? first : -1;
}

/* Inner nodes before border nodes, and the local numbers of the cells' nodes.  start [patches + 1]: first node.
 * nodes, places: of weft_cell_patches.  n_border [patches] */
extern "C" __global__ void list_nodes(long long n, const int64_t *sizes, const int32_t *indices,
                                      const uint32_t *n_touching, const int64_t *start, int32_t *nodes,
                                      uint32_t *places, uint32_t *n_border)
{
    __shared__ uint32_t keys[PATCH_PLACES], list[PATCH_PLACES];
    const patch_cells own = cells_of_block(sizes);
    const int n_own = nodes_of_block(sizes, indices, keys, list), me = (int)threadIdx.x;
    int n_inner = 0, mine = 0, inner = 0, border;
    for (int i = me; i < n_own; i += SETUP_THREADS)
        mine += n_touching[list[i]] == 1;
    (void)sum_before(mine, &n_inner);
    border = n_inner;
    for (int base = 0; base < n_own; base += SETUP_THREADS) { /* `keys` gets the list in its order */
        const int i = base + me, left = n_own - base < SETUP_THREADS ? n_own - base : SETUP_THREADS;
        const bool is_inner = i < n_own && n_touching[list[i]] == 1;
        int all;
        const int before = sum_before(is_inner, &all);
        if (i < n_own)
            keys[is_inner ? inner + before : border + me - before] = list[i];
        inner += all;
        border += left - all;
    }
    __syncthreads();
    for (int i = me; i < n_own; i += SETUP_THREADS)
        nodes[start[blockIdx.x] + i] = (int32_t)keys[i];
    const int cells = (int)sizes[0], n_pairs = (own.width + 1) / 2;
    for (int i = me; i < n_pairs * cells; i += SETUP_THREADS) {
        const int cell = i % cells, pair = i / cells;
        uint32_t both = 0;
        for (int half = 0; half < 2 && cell < own.n && 2 * pair + half < own.width; ++half) {
            const uint32_t node =
                (uint32_t)indices[place_of(own.first + cell, 2 * pair + half, own.width, sizes[2])];
            const int found = find_node(keys, 0, n_inner, node);
            both |= (uint32_t)(found >= 0 ? found : find_node(keys, n_inner, n_own, node)) << 16 * half;
        }
        places[blockIdx.x * (int64_t)(n_pairs * cells) + i] = both;
    }
    if (me == 0)
        n_border[blockIdx.x] = (uint32_t)(n_own - n_inner);
}

/* start [patches + 1][3] of weft_cell_patches.  n: patches + 1 */
extern "C" __global__ void join_starts(long long n, const int64_t *nodes, const int64_t *slots, const int64_t *rows,
                                       int64_t *start)
{
    const int64_t i = element();
    if (i >= n)
        return;
    start[3 * i] = nodes[i];
    start[3 * i + 1] = slots[i];
    start[3 * i + 2] = rows[i];
}

/* The local number of index k of a cell of the block's patch. */
INLINE uint32_t local_of(const int64_t *sizes, const uint32_t *places, int cell, int k)
{
    const int64_t n_pairs = (sizes[1] + 1) / 2;
    return places[(blockIdx.x * n_pairs + k / 2) * sizes[0] + cell] >> k % 2 * 16 & 0xffff;
}

/* The nodes of a patch in rows of 32, those with most contributions first, otherwise ascending.
 * row_pairs [rows]: pairs of contributions of each lane */
extern "C" __global__ void order_rows(long long n, const int64_t *sizes, const uint32_t *places, const int64_t *start,
                                      uint16_t *order, uint32_t *row_pairs)
{
    __shared__ uint32_t keys[PATCH_PLACES];
    const patch_cells own = cells_of_block(sizes);
    const int64_t first_row = start[3 * blockIdx.x + 2];
    const int n_own = (int)(start[3 * (blockIdx.x + 1)] - start[3 * blockIdx.x]), me = (int)threadIdx.x;
    const int n_rows = (n_own + 31) / 32;
    for (int i = me; i < n_own; i += SETUP_THREADS)
        keys[i] = (uint32_t)PATCH_PLACES << 16 | (uint32_t)i;
    __syncthreads();
    for (int i = me; i < own.n * own.width; i += SETUP_THREADS)
        atomicAdd(&keys[local_of(sizes, places, i % own.n, i / own.n)], 0u - (1u << 16));
    __syncthreads();
    block_sort(keys, n_own, 0xffffffffu);
    for (int i = me; i < n_rows * 32; i += SETUP_THREADS)
        order[first_row * 32 + i] = (uint16_t)(i < n_own ? keys[i] & 0xffff : 0xffff);
    for (int row = me; row < n_rows; row += SETUP_THREADS)
        row_pairs[first_row + row] = (PATCH_PLACES - (keys[row * 32] >> 16) + 1) / 2;
}

/* The contributions to each node, in ascending order of cells.  row_start [rows + 1] */
extern "C" __global__ void write_pairs(long long n, const int64_t *sizes, const uint32_t *places, const int64_t *start,
                                       const uint16_t *order, const uint32_t *row_start, uint32_t *pairs)
{
    __shared__ uint32_t keys[PATCH_PLACES];
    __shared__ uint16_t first[PATCH_PLACES + 1];
    const patch_cells own = cells_of_block(sizes);
    const int64_t first_row = start[3 * blockIdx.x + 2], end_row = start[3 * (blockIdx.x + 1) + 2];
    const int n_own = (int)(start[3 * (blockIdx.x + 1)] - start[3 * blockIdx.x]);
    const int n_corners = own.n * own.width, me = (int)threadIdx.x, lane = me % 32;
    const uint32_t none = (uint32_t)(sizes[0] * sizes[1]);
    for (int i = me; i < n_corners; i += SETUP_THREADS)
        keys[i] = local_of(sizes, places, i % own.n, i / own.n) << 16 | (uint32_t)(i % own.n * own.width + i / own.n);
    block_sort(keys, n_corners, 0xffffffffu);
    for (int i = me; i < n_corners; i += SETUP_THREADS) /* each node of a patch has contributions */
        if (i == 0 || keys[i] >> 16 != keys[i - 1] >> 16)
            first[keys[i] >> 16] = (uint16_t)i;
    if (me == 0)
        first[n_own] = (uint16_t)n_corners;
    __syncthreads();
    for (int64_t row = first_row + me / 32; row < end_row; row += SETUP_THREADS / 32) {
        const int node = order[row * 32 + lane];
        const int at = node == 0xffff ? 0 : first[node], count = node == 0xffff ? 0 : first[node + 1] - at;
        for (uint32_t pair = row_start[row]; pair < row_start[row + 1]; ++pair) {
            uint32_t both = 0;
            for (int half = 0; half < 2; ++half) {
                const int k = 2 * (int)(pair - row_start[row]) + half;
                const uint32_t corner = k < count ? keys[at + k] & 0xffff : 0;
                both |= (k < count ? corner % own.width * (uint32_t)sizes[0] + corner / own.width : none) << 16 * half;
            }
            pairs[(int64_t)pair * 32 + lane] = both;
        }
    }
}

/* n: nodes.  is_border: of other than one patch */
extern "C" __global__ void mark_border(long long n, const uint32_t *n_touching, uint32_t *is_border)
{
    const int64_t i = element();
    if (i < n)
        is_border[i] = n_touching[i] != 1;
}

/* n: nodes.  number [n + 1]: exclusive sums of is_border */
extern "C" __global__ void list_border(long long n, const uint32_t *is_border, const int64_t *number, int32_t *border)
{
    const int64_t i = element();
    if (i < n && is_border[i])
        border[number[i]] = (int32_t)i;
}

/* targets [slots]: the number in `border` of the node of each slot */
extern "C" __global__ void list_slots(long long n, const int64_t *sizes, const int64_t *start, const int32_t *nodes,
                                      const int64_t *number, int32_t *targets)
{
    const int64_t *own = start + 3 * blockIdx.x;
    const int64_t n_border = own[4] - own[1];
    for (int64_t i = threadIdx.x; i < n_border; i += SETUP_THREADS)
        targets[own[1] + i] = (int32_t)number[nodes[own[3] - n_border + i]];
}

extern "C" __global__ void narrow(long long n, const int64_t *wide, uint32_t *out)
{
    const int64_t i = element();
    if (i < n)
        out[i] = (uint32_t)wide[i];
}
