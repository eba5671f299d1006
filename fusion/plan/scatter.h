/** How concurrent additions to one list are kept apart: the only place where it is decided which ways a kernel may take, what
 *  each is predicted to take, and which is taken.
 *
 *      In:  a graph, a kernel whose loads, stores and accumulations are known, weft_compile_options.scatter
 *      Out: the kind of the kernel; for WEFT_SCATTER_AUTO the way of a segment (fusion/plan/segment.c tries all)
 *
 *  Decision  docs/decisions/0085-additions-are-planned.md */
#pragma once

#include "fusion/plan/segment.h"

/** The name of a way as `--scatter` takes it. PATCHES, with edge patches where they fit, is "edge-patch". */
const char *weft_scatter_name(weft_scatter scatter, bool is_simt);
/** The way of this name; AUTO: there is none. */
weft_scatter weft_scatter_named(const char *name);

/** Is the accumulation left to a kernel of its own, which gathers? */
bool weft_scatter_gathers(const weft_compile_options *options, const weft_accumulation *a);

/** The kind of a kernel that accumulates, over one index set: KERNEL_MAP where the way that is asked for is not possible, and
 *  additions are in place; kernel->not_permuted then says why owners may not compute it, or is NULL.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_scatter_kind(weft_arena *arena, const weft_graph *graph, const weft_plan *plan,
                              const weft_compile_options *options, weft_plan_kernel *kernel,
                              weft_kernel_kind *out, weft_error *error);

/** Are there several ways, for this segment and its device, among which the planner is to choose? Otherwise additions are in
 *  place: on a host, where chunks of one colour are faster than gathers, for matrices, whose rows a caller must bring, and where
 *  a script runs once, for which no tables are worth making. */
bool weft_scatter_is_open(const weft_segment *segment);
/** Fill a list of what there is to try, WEFT_SCATTER_IN_PLACE first. Returns how many. */
int weft_scatter_list(weft_scatter_way out[WEFT_SCATTER_WAYS]);
/** What a planned segment is predicted to take, and in *refused, unless NULL, why no kernel takes the way of its options. */
double weft_scatter_seconds(const weft_segment *segment, const char **refused);
/** Why the owners of nodes may not compute a sum of this plan, which was to be theirs; NULL: they may, or it was not. */
const char *weft_scatter_not_permuted(const weft_plan *plan);
/** May the patches of a plan not fit a mesh, because too many nodes are round them? */
bool weft_scatter_is_fragile(const weft_plan *plan);
