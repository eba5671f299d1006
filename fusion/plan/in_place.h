/** Results that exceed the registers of a thread are written where they are stored, entry by entry: an array of
 *  them would lie in device memory too, and be written, read and written again.
 *  Contributions that a gather can evaluate are not written at all.
 *  In:  an implementation with one thread per element, for a GPU
 *  Out: which results these are, and what is live without them
 *
 *  Decision  docs/decisions/0024-element-tensors-are-loops-over-tables.md */
#pragma once

#include "fusion/plan/implementation.h"

/** Can the result of order[position] be written in place? It can if the body only assigns it, and nothing else
 *  in the kernel reads it.
 *  made  of a map: no reduction, one thread per element, stored by the kernel itself */
bool weft_writable_in_place(const weft_graph *graph, const weft_compile_options *options,
                            const weft_implementation *made, int position);
/** Is it on a GPU? It is if it also exceeds the registers. */
bool weft_written_in_place(const weft_graph *graph, const weft_compile_options *options,
                           const weft_implementation *made, int position);
/** The maximum number of components live at once, as onchip_peak, without results written in place. */
int weft_peak_not_in_place(const weft_graph *graph, const weft_compile_options *options,
                           const weft_implementation *made);
/** Is a fusion one call on a GPU whose result only the gather of a list of scalars reads, which evaluates it itself? That spares
 *  a kernel, and the contributions in memory. */
bool weft_gather_evaluates(const weft_graph *graph, const weft_compile_options *options,
                           bool on_gpu, const weft_fusion *fusion);
