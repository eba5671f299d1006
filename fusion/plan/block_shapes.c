/* Lists the candidate block shapes of a fusion, as restricted by the script's directives. */
#include "fusion/plan/block_shapes.h"
#include "fusion/base/target.h"

enum { ITERATIONS = 4 /* serial iterations tried besides 1 if costs are measured */ };

bool weft_block_elements_are_possible(int elements, bool several_threads) {
    const bool few = elements > 0 && elements < WEFT_CUDA_LANES && (elements & (elements - 1)) == 0;
    return elements > 0 && (elements % WEFT_CUDA_LANES == 0 || (few && several_threads));
}

weft_block_directive weft_block_directive_of(const weft_graph *graph,
                                             const weft_compile_options *options,
                                             const weft_fusion *fusion) {
    weft_block_directive directive = {.possible = true};
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

/* Set the strides, and the requested number of iterations; if it is free, repeat the shapes with
 * `factor`. Elements of a thread at a stride below the block's number of elements are thread coarsening, at that number block
 * coarsening. */
static int add_iterations(const weft_block_directive *directive, int factor,
                          weft_block_shape *shapes, int n) {
    const int asked = directive->choices[FUSE_ITERATIONS], once = n;
    const int stride = directive->choices[FUSE_STRIDE];
    for (int i = 0; i < once; ++i) {
        shapes[i].stride =
            stride > 0 && shapes[i].threads_per_element == 0 && shapes[i].elements % stride == 0
                ? stride
                : shapes[i].elements;
        if (asked > 0)
            shapes[i].iterations = asked;
        else if (factor > 1) {
            shapes[n] = shapes[i];
            shapes[n++].iterations = factor;
        }
    }
    return n;
}

int weft_blocks_of_one(const weft_block_directive *directive, int factor,
                       weft_block_shape *shapes) {
    static const int sizes[] = {WEFT_CUDA_THREADS, WEFT_CUDA_THREADS / 2, 2 * WEFT_CUDA_THREADS};
    const int asked = directive->choices[FUSE_BLOCK];
    int n = 0;
    for (int i = 0; i < (asked > 0 ? 1 : 3); ++i)
        shapes[n++] = (weft_block_shape){0, asked > 0 ? asked : sizes[i], 1, 0};
    return add_iterations(directive, factor, shapes, n);
}

int weft_block_elements_most(int threads) {
    int few = 1;
    while (2 * few * threads <= WEFT_BLOCK_THREADS)
        few *= 2;
    const int warps = WEFT_BLOCK_THREADS / threads / WEFT_CUDA_LANES;
    return warps > 0 ? warps * WEFT_CUDA_LANES : few;
}

int weft_blocks_of_several(const weft_block_directive *directive, int most, int fewest,
                           bool measured, weft_block_shape *shapes) {
    const int asked = directive->choices[FUSE_BLOCK], threads = directive->choices[FUSE_THREADS];
    const int counts[2] = {threads > 0 ? threads : most, fewest};
    int n = 0;
    for (int k = 0; k < (threads == 0 && fewest < most ? 2 : 1); ++k) {
        const bool whole = threads > 0 || asked % WEFT_CUDA_LANES != 0;
        const int threads_per_element =
            whole || counts[k] < WEFT_CUDA_WARPS_MAX ? counts[k] : WEFT_CUDA_WARPS_MAX;
        if (counts[k] > WEFT_CUDA_WARPS_MAX && counts[k] <= WEFT_BLOCK_THREADS && asked == 0)
            shapes[n++] = (weft_block_shape){counts[k], weft_block_elements_most(counts[k]), 1, 0};
        for (int groups = 1; groups <= 4 && (asked == 0 || groups == 1); groups *= 2)
            shapes[n++] = (weft_block_shape){threads_per_element,
                                             asked > 0 ? asked : groups * WEFT_CUDA_LANES, 1, 0};
    }
    return add_iterations(directive, measured ? ITERATIONS : 1, shapes, n);
}
