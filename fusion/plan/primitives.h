/** A predictor: the primitives of a compilation (fusion/plan/primitives.c), by which its
 *  implementations are predicted (fusion/plan/predict.c). */
#pragma once

#include "fusion/plan/implementations.h"

enum { PREDICTOR_PLACES = 2 /* registers, shared */ };

struct weft_predictor {
    const weft_graph *graph;
    const weft_limits *limits;
    const weft_compile_options *options;
    const weft_cost_source *source; /* NULL: analytic alone */
    weft_cost_source analytic;
    double real_bytes;
    bool is_gpu;
    weft_cost_primitive *list;
    weft_cost_primitive **pointers; /* for the source */
    int n;
    int *loads;    /* [n_values][1 + n_connectivities][PREDICTOR_PLACES] in list, or -1 */
    int *stores;   /* [n_values][PREDICTOR_PLACES] */
    int *accumulates;     /* [n_accumulations][PREDICTOR_PLACES] */
    bool *mapped;  /* [n_connectivities] while a kernel is looked at: its numbers are loaded
                      already */
    int *computes; /* [n_calls] the first of a call's, [n_variants][PREDICTOR_PLACES] */
};

/** Its numbers in list, by place, for an input of a kernel, through a connectivity or connectivity
 *  -1. */
int *weft_predictor_load(const weft_predictor *p, int value, int connectivity);
