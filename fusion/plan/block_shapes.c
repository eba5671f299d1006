/* Lists the candidate block shapes of a fusion, as restricted by the script's directives. */
#include "fusion/plan/block_shapes.h"
#include "fusion/base/target.h"

bool weft_block_elements_are_possible(const weft_target *target, int elements,
                                      bool several_threads) {
    const int warp = target->warp_threads;
    const bool few = elements > 0 && elements < warp && (elements & (elements - 1)) == 0;
    return elements > 0 && (elements % warp == 0 || (few && several_threads));
}

weft_block_directive weft_block_directive_of(const weft_graph *graph, const weft_limits *limits,
                                             const weft_compile_options *options,
                                             const weft_fusion *fusion) {
    weft_block_directive directive = {.possible = true, .target = limits->target};
    for (int i = 0; i < fusion->n_calls && options->plan == WEFT_PLAN_FUSED; ++i) {
        const int fuse = graph->calls[fusion->calls[i]].fuse;
        for (int k = 0; k < FUSE_CHOICES && fuse > 0; ++k) {
            const int asked = graph->fuses[fuse - 1].choices[k];
            directive.possible &=
                asked == 0 || directive.choices[k] == 0 || directive.choices[k] == asked;
            directive.choices[k] = asked != 0 ? asked : directive.choices[k];
        }
    }
    return directive;
}

bool weft_block_meets_directive(const weft_block_directive *directive,
                                const weft_block_shape *shape) {
    const int own[FUSE_CHOICES] = {shape->elements,
                                   shape->threads_per_element > 0 ? shape->threads_per_element : 1,
                                   shape->iterations, shape->stride};
    bool as_directed = directive->possible;
    for (int k = 0; k < FUSE_CHOICES; ++k)
        as_directed &= directive->choices[k] == 0 || directive->choices[k] == own[k];
    return as_directed;
}

/* Add a shape with one iteration, or as many as requested, unless it has too many threads. Elements of a thread at a
 * stride below the block's number of elements are thread coarsening, at that number block coarsening. */
static void add(const weft_block_directive *directive, int threads, int elements,
                weft_block_shape *shapes, int *n) {
    const int iterations = directive->choices[FUSE_ITERATIONS];
    const int stride = directive->choices[FUSE_STRIDE];
    const bool at_stride = stride > 0 && threads == 0 && elements % stride == 0;
    if ((threads > 0 ? threads : 1) * elements <= directive->target.block_threads_most || *n == 0)
        shapes[(*n)++] = (weft_block_shape){threads, elements, iterations > 0 ? iterations : 1,
                                            at_stride ? stride : elements};
}

int weft_blocks_of_one(const weft_block_directive *directive, weft_block_shape *shapes) {
    const weft_target *target = &directive->target;
    const int asked = directive->choices[FUSE_BLOCK];
    int n = 0;
    add(directive, 0, asked > 0 ? asked : target->block_threads, shapes, &n);
    for (int size = target->warp_threads; size <= target->block_threads_most && asked == 0;
         size *= 2)
        if (size != target->block_threads)
            add(directive, 0, size, shapes, &n);
    return n;
}

int weft_block_elements_most(const weft_target *target, int threads) {
    int few = 1;
    while (2 * few * threads <= target->block_threads_most)
        few *= 2;
    const int warps = target->block_threads_most / threads / target->warp_threads;
    return warps > 0 ? warps * target->warp_threads : few;
}

/* The blocks of so many threads per element: of a warp's elements first, as of equal ones the first is taken. */
static void add_blocks(const weft_block_directive *directive, int threads, weft_block_shape *shapes,
                       int *n) {
    const int warp = directive->target.warp_threads;
    const int asked = directive->choices[FUSE_BLOCK],
              most = weft_block_elements_most(&directive->target, threads);
    if (asked > 0) {
        add(directive, threads, asked, shapes, n);
        return;
    }
    for (int elements = warp; elements <= most; elements *= 2)
        add(directive, threads, elements, shapes, n);
    for (int elements = warp / 2; elements > 0; elements /= 2)
        add(directive, threads, elements, shapes, n);
    if ((most & (most - 1)) != 0)
        add(directive, threads, most, shapes, n);
}

int weft_blocks_of_several(const weft_block_directive *directive, int most, int fewest,
                           weft_block_shape *shapes) {
    const int asked = directive->choices[FUSE_THREADS];
    int n = 0, power = 1;
    add_blocks(directive, asked > 0 ? asked : most, shapes, &n);
    if (asked > 0)
        return n;
    while (2 * power < most)
        power *= 2;
    if (fewest < most && (fewest & (fewest - 1)) != 0)
        add_blocks(directive, fewest, shapes, &n);
    for (int threads = power; threads > 1; threads /= 2)
        add_blocks(directive, threads, shapes, &n);
    return n;
}
