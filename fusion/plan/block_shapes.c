/* The blocks in which a fusion may run, and what the script asks of them. */
#include "fusion/base/target.h"
#include "fusion/plan/block_shapes.h"

enum { ITERATIONS = 4 /* of a serial loop, where their times have been measured */ };

weft_block_wish weft_block_wish_of(const weft_graph *graph, const weft_compile_options *options,
                                   const weft_fusion *fusion) {
    weft_block_wish wish = {.possible = true};
    for (int i = 0; i < fusion->n_calls && options->plan == WEFT_PLAN_FUSED; ++i) {
        const int fuse = graph->calls[fusion->calls[i]].fuse;
        for (int k = 0; k < FUSE_CHOICES && fuse > 0; ++k) {
            const int asked = graph->fuses[fuse - 1].choices[k];
            wish.possible &= asked == 0 || wish.choices[k] == 0 || wish.choices[k] == asked;
            wish.choices[k] = asked != 0 ? asked : wish.choices[k];
        }
    }
    return wish;
}

bool weft_block_wished(const weft_block_wish *wish, const weft_block_shape *shape) {
    const int own[FUSE_CHOICES] = {shape->instances, shape->warps > 0 ? shape->warps : 1,
                                   shape->iterations};
    bool wished = wish->possible;
    for (int k = 0; k < FUSE_CHOICES; ++k)
        wished &= wish->choices[k] == 0 || wish->choices[k] == own[k];
    return wished;
}

/* Those of one iteration, again with more. */
static int add_iterations(const weft_block_wish *wish, bool measured, weft_block_shape *shapes,
                          int n) {
    const int asked = wish->choices[FUSE_ITERATIONS], once = n;
    for (int i = 0; i < once; ++i) {
        if (asked > 0)
            shapes[i].iterations = asked;
        else if (measured) {
            shapes[n] = shapes[i];
            shapes[n++].iterations = ITERATIONS;
        }
    }
    return n;
}

int weft_blocks_of_one(const weft_block_wish *wish, bool measured, weft_block_shape *shapes) {
    static const int sizes[] = {WEFT_CUDA_THREADS, WEFT_CUDA_THREADS / 2, 2 * WEFT_CUDA_THREADS};
    const int asked = wish->choices[FUSE_BLOCK];
    int n = 0;
    for (int i = 0; i < (asked > 0 ? 1 : 3); ++i)
        shapes[n++] = (weft_block_shape){0, asked > 0 ? asked : sizes[i], 1};
    return add_iterations(wish, measured, shapes, n);
}

int weft_blocks_of_several(const weft_block_wish *wish, int most, int fewest, bool measured,
                           weft_block_shape *shapes) {
    const int asked = wish->choices[FUSE_BLOCK], threads = wish->choices[FUSE_THREADS];
    const int counts[2] = {threads > 0 ? threads : most, fewest};
    int n = 0;
    for (int k = 0; k < (threads == 0 && fewest < most ? 2 : 1); ++k) {
        const int warps = counts[k] < WEFT_CUDA_WARPS_MAX ? counts[k] : WEFT_CUDA_WARPS_MAX;
        for (int groups = 1; groups <= 4 && (asked == 0 || groups == 1); groups *= 2)
            shapes[n++] =
                (weft_block_shape){warps, asked > 0 ? asked : groups * WEFT_CUDA_LANES, 1};
    }
    return add_iterations(wish, measured, shapes, n);
}
