/** A segment: a straight-line script, without loops, operators and uniform updates, and the result
 *  of each stage of its compilation.
 *  In:  script, library, limits, options
 *  Out: graph, fusions, implementations, cover, plan */
#pragma once

#include "fusion/plan/block_shapes.h"
#include "fusion/plan/plan.h"

/** A way to keep concurrent additions apart, as it was tried for a segment. */
typedef struct weft_scatter_way {
    weft_scatter scatter;
    double seconds;      /* predicted of the segment, with this way where it is legal */
    const char *refused; /* why no kernel can take it; NULL: it was planned */
} weft_scatter_way;
enum { WEFT_SCATTER_WAYS = 6 };

typedef struct weft_segment {
    weft_arena *arena; /* of the compilation */
    const weft_library *library;
    weft_limits limits;
    weft_compile_options options;
    int number; /* in its compilation, from 0; -1: the script is a single segment */
    int loop;   /* the loop that contains it, or -1 */
    weft_script *script;
    weft_graph *graph;
    weft_fusions *fusions;
    weft_implementations *implementations;
    weft_cover *cover;
    bool cover_recalled; /* the cover was given by options.cover */
    bool is_kept;        /* options.forced_plan is this planner's: the search is left out, and
                          * fusions and implementations are those of the plan alone */
    weft_plan *plan;
    /* What was tried for options.scatter = WEFT_SCATTER_AUTO, of which `options` then has the way that was chosen */
    weft_scatter_way ways[WEFT_SCATTER_WAYS];
    int n_ways;
    const char *not_permuted; /* why owners of nodes were not among them, or NULL */
    weft_scatter
        retreat; /* the way of `otherwise` where patches do not fit a mesh; AUTO: there is none */
    /* A second plan of the same graph: without columns of a matrix, for sizes that kernels of the plan do not fit
     * (weft_nested_shape_make), or without patches of nodes, for meshes that they do not fit; NULL: not needed */
    struct weft_segment *otherwise;
} weft_segment;

/** Run the stages from graph to plan.
 *  segment  arena, library, limits, options and script are set
 *  Errors   those of each stage; WEFT_ERROR_INPUT: options.forced_plan does not fit */
weft_status weft_segment_plan(weft_segment *segment, weft_error *error);
/** Make the plan of segment->cover, and the second plan if it needs one.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_segment_plan_cover(weft_segment *segment, weft_error *error);
/** Append the chosen cover as a line of text, in the form that options.cover accepts. */
weft_status weft_segment_write_cover(const weft_segment *segment, weft_text *out,
                                     weft_error *error);
/** Read what weft_segment_write_cover wrote, now or in an earlier version: an implementation that the search has not kept is made
 *  again. *out is NULL: no line is of this graph, or its implementations are not possible any more.
 *  Errors  those of the predictions; WEFT_ERROR_MEMORY */
weft_status weft_segment_read_cover(const weft_segment *segment, const char *text, weft_cover **out,
                                    weft_error *error);
/** The implementations of one fusion with these variants and this block shape, though predictions would keep others; none: they are
 *  not possible. Errors  those of weft_implementations_make
 *  variants  [calls of the fusion], in the order in which they run */
weft_status weft_implementations_of_shape(const weft_segment *segment, const weft_fusion *fusion,
                                          const int *variants, const weft_block_shape *shape,
                                          weft_implementations **out, weft_error *error);
/** Hash of the graph as it is printed. Errors  WEFT_ERROR_MEMORY */
weft_status weft_segment_hash_graph(const weft_segment *segment, char out[33], weft_error *error);
void weft_fusions_print(const weft_segment *c, weft_text *out);
void weft_implementations_print(const weft_segment *c, weft_text *out);
/** The same, and the cover, as JSON: formats "weft-fusions-1", "weft-implementations-1" and
 *  "weft-cover-1"; memory and errors as in fusion/base/json.h. */
struct json_t *weft_fusions_json(const weft_segment *c);
struct json_t *weft_implementations_json(const weft_segment *c);
struct json_t *weft_cover_json(const weft_segment *c);
