/** What the generator (source.c, source_calls.c) and the backends share. */
#ifndef SOURCE_INTERNAL_H
#define SOURCE_INTERNAL_H

#include "graph_internal.h"

/** How a backend spells what differs. */
typedef struct weft_backend {
    /** Everything before the kernels: types, loads, stores, intrinsics. */
    void (*prelude)(weft_text *out, int lanes, bool single);
    const char *splat; /* see weft_body_style */
    /** One thread an instance, its number in its block `lane`; else a loop over blocks whose
     *  instances are the lanes of vectors. */
    bool is_threaded;
} weft_backend;

extern const weft_backend weft_backend_host, weft_backend_cuda;

typedef struct source_writer {
    weft_arena *arena;
    const weft_graph *graph;
    const weft_plan *plan;
    const weft_backend *backend;
    bool single;
    weft_text *out;
} source_writer;

/** The register array that holds a datum loaded directly (map -1) or through a map: unique in the
 * graph. */
const char *weft_source_variable(const source_writer *w, int datum, int map);
/** source_calls.c: the statements of one call. */
weft_status weft_source_call(const source_writer *w, const weft_call *call, int variant,
                             weft_error *error);

#endif
