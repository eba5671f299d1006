/** What the parts of an explanation share: both plans of one graph. */
#ifndef EXPLAIN_INTERNAL_H
#define EXPLAIN_INTERNAL_H

#include "graph_print_internal.h"

typedef struct explanation {
    const weft_compilation *compilation;
    const weft_graph *graph;
    double real_bytes;
    weft_plan *plans[2]; /* by weft_plan_kind */
    weft_text *out;
} explanation;

/** explain_pairs.c: for each pair of calls fused, or why not, and the bytes it is about. */
void explain_pairs(const explanation *e);
/** "fused: ..." or "not fused: ...", with a line's end; a is before b. */
void explain_pair(const explanation *e, const weft_call *a, const weft_call *b);
/** Bytes an instance that one kernel for both calls spares, against a kernel each. */
double explain_spared(const explanation *e, const weft_call *a, const weft_call *b);
/** Bytes an instance of b's that b reads of what a makes. */
double explain_passed(const explanation *e, const weft_call *a, const weft_call *b);

#endif
