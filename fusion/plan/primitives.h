/** The predictor: the cost primitives of a graph (fusion/plan/primitives.c), from which its
 *  implementations are predicted (fusion/plan/predict.c). */
#pragma once

#include "fusion/plan/implementations.h"

enum { PREDICTOR_PLACES = 2 /* registers, shared */ };

typedef struct predictor_evaluation {
    int primitive; /* index in list */
    double count;  /* evaluations per element */
} predictor_evaluation;

typedef struct weft_call_work weft_call_work; /* fusion/plan/issue.c */

struct weft_predictor {
    const weft_graph *graph;
    const weft_limits *limits;
    const weft_compile_options *options;
    const weft_cost_source *source; /* NULL: only the analytic source */
    weft_cost_source analytic;
    /* of analytic times of transfers, and of computes: how much longer the source's
     * are where it knows them */
    double analytic_scale[2];
    bool knows_all; /* the source knows all primitives in registers, in small and in large blocks */
    double real_bytes;
    bool is_gpu;
    weft_cost_primitive *list;
    weft_cost_primitive **pointers; /* [n] into list, for the source's prepare */
    int n;
    /* indices in list */
    int *loads;  /* [n_values][1 + n_connectivities][PREDICTOR_PLACES]; -1: none */
    int *stores; /* [n_values][PREDICTOR_PLACES] */
    /* [n_accumulations][PREDICTOR_PLACES]; gathered: the loads of the kernel that gathers */
    int *accumulates;
    bool *mapped;  /* [n_connectivities] scratch: the current kernel has loaded its indices */
    int *computes; /* [n_calls] the first of a call's [n_variants][PREDICTOR_PLACES] */
    /* functions of formulas, which the computes of arithmetic do not contain */
    predictor_evaluation *evaluations;
    int n_evaluations;
    int *first_evaluation; /* [n_calls + 1] those of call i are [i] to [i + 1] - 1 */
    /* on a GPU: what bodies do, of call i from first_work[i] on, by variant */
    weft_call_work *work;
    int *first_work; /* [n_calls + 1] */
};

/** Indices in list, by place, of the load of a value through a connectivity; -1: directly. */
int *weft_predictor_load(const weft_predictor *p, int value, int connectivity);
