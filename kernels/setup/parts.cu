/* The parts of a mesh as disjoint sets of nodes: parents point to lower numbers, paths are halved on the way, and a
 * root is only ever linked to a lower one, so that threads may do both at once. Jayanti and Tarjan 2016; Jaiganesh and
 * Burtscher 2018. */
INLINE int32_t root_of(volatile int32_t *parent, int32_t i)
{
    for (int32_t next = parent[i]; next != i; next = parent[i]) {
        const int32_t after = parent[next];
        if (after != next)
            parent[i] = after;
        i = next;
    }
    return i;
}

extern "C" __global__ void parts_start(long long n, int32_t *parent)
{
    const int64_t i = element();
    if (i < n)
        parent[i] = (int32_t)i;
}

extern "C" __global__ void parts_flatten(long long n, int32_t *parent)
{
    const int64_t i = element();
    if (i < n)
        parent[i] = root_of(parent, (int32_t)i);
}

/* Cells that share a node are of one part. Some of the cells connect nearly all nodes; the others then find equal
 * parents (Sutton et al. 2018).  n: cells.  sizes: width, lanes of the indices, cells per thread: the first of them */
extern "C" __global__ void parts_join(long long n, const int64_t *sizes, const int32_t *indices,
                                      int32_t *parent)
{
    const int64_t cell = element() * sizes[2], width = sizes[0], lanes = sizes[1];
    if (cell >= n)
        return;
    const int32_t *nodes = indices + cell / lanes * width * lanes + cell % lanes;
    bool is_joined = true;
    for (int64_t k = 1; k < width; ++k)
        is_joined &= parent[nodes[k * lanes]] == parent[nodes[0]];
    if (is_joined)
        return;
    int32_t a = root_of(parent, nodes[0]);
    for (int64_t k = 1; k < width; ++k) {
        int32_t b = root_of(parent, nodes[k * lanes]);
        while (a != b) {
            const int32_t low = a < b ? a : b, high = a < b ? b : a;
            if (atomicCAS(&parent[high], high, low) == high) {
                a = low;
                break;
            }
            a = root_of(parent, low);
            b = root_of(parent, high);
        }
    }
}

extern "C" __global__ void parts_count(long long n, const int32_t *parent, uint32_t *count)
{
    const int64_t i = element();
    if (i < n && parent[i] == i)
        atomicAdd(count, 1u);
}
