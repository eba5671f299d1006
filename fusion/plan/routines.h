/** A predictor: the routines of a compilation (fusion/plan/routines.c), by which its implementations are
 *  predicted (fusion/plan/predict.c). */
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
    weft_cost_routine *list;
    weft_cost_routine **pointers; /* for the source */
    int n;
    int *loads;    /* [n_data][1 + n_maps][PREDICTOR_PLACES] in list, or -1 */
    int *stores;   /* [n_data][PREDICTOR_PLACES] */
    int *adds;     /* [n_accumulations][PREDICTOR_PLACES] */
    bool *mapped;  /* [n_maps] while a kernel is looked at: its numbers are loaded already */
    int *computes; /* [n_calls] the first of a call's, [n_variants][PREDICTOR_PLACES] */
};

/** Its numbers in list, by place, for an input of a kernel, through a connectivity or map -1. */
int *weft_predictor_load(const weft_predictor *p, int datum, int map);
