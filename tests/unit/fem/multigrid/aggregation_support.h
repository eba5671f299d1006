/** What tests of aggregation on a device share: the steps of the host that it is compared with, and matrices there and back. */
#ifndef AGGREGATION_SUPPORT_H
#define AGGREGATION_SUPPORT_H

#include "fem/base/memory.h"
#include "fem/multigrid/on_device.h"
#include "fem/multigrid/private.h"
#include "multigrid_support.h"
#include "setup_support.h"

static inline void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s", error->message);
}

static inline weft_memory *place(weft_device *device, const void *array, int64_t n, size_t size) {
    weft_memory *out = NULL;
    weft_error error = {0};
    check(weft_memory_place(device, array, (size_t)n, size, &out, &error), &error);
    return out;
}

/** Aggregation by the host. host_steps_clear. */
typedef struct host_steps {
    weft_coarsening level, coarse;
    weft_node_graph graph;
    weft_node_sets aggregates;
    weft_csr P;
    int64_t n_coarse;
} host_steps;

/** All steps after level, whose scale marks free rows by 1. */
static inline void host_steps_run(host_steps *s) {
    weft_error error = {0};
    check(weft_csr_scale(NULL, s->level.A, s->level.scale, &s->level.lambda, &error), &error);
    check(weft_node_graph_make(&s->level, &s->graph, &error), &error);
    check(weft_nodes_bisect(&s->level, &s->graph, &s->aggregates, &error), &error);
    check(weft_nodes_connect(&s->level, &s->graph, &s->aggregates, &error), &error);
    check(weft_tentative_make(&s->level, &s->aggregates, &s->coarse, &s->n_coarse, &error), &error);
    check(weft_prolongation_make(&s->level, &s->graph, &s->aggregates, &s->coarse, s->n_coarse,
                                 &s->P, &error),
          &error);
}

static inline void host_steps_clear(host_steps *s) {
    free(s->level.scale);
    free(s->level.modes);
    free(s->coarse.own_x);
    free(s->coarse.modes);
    free(s->coarse.node_start);
    free(s->coarse.node_of);
    weft_node_graph_clear(&s->graph);
    weft_node_sets_clear(&s->aggregates);
    weft_csr_clear(&s->P);
}

static inline weft_sell_matrix *place_matrix(weft_setup *setup, const weft_csr *A) {
    const int64_t n = A->n_rows, n_entries = A->row_start[n];
    weft_sell_matrix *out = NULL;
    weft_error error = {0};
    weft_device_matrix csr = {{n, n_entries, NULL, NULL}, NULL};
    csr.pattern.row_start = place(weft_setup_device(setup), A->row_start, n + 1, sizeof(int64_t));
    csr.pattern.columns = place(weft_setup_device(setup), A->columns, n_entries, sizeof(int32_t));
    csr.values = place(weft_setup_device(setup), A->values, n_entries, sizeof(double));
    check(weft_sell_matrix_from_device(setup, &csr.pattern, &out, &error), &error);
    check(weft_sell_matrix_set(setup, &csr, out, &error), &error);
    weft_device_matrix_free(&csr);
    return out;
}

/** A matrix of the device on the host. weft_csr_clear. */
static inline weft_csr read_matrix(const weft_device_matrix *from) {
    const int64_t n = from->pattern.n_rows, n_entries = from->pattern.n_entries;
    weft_csr A = {.n_rows = n, .n_columns = n};
    A.row_start = setup_read(from->pattern.row_start, (size_t)(n + 1) * sizeof *A.row_start);
    A.columns = setup_read(from->pattern.columns, (size_t)n_entries * sizeof *A.columns);
    A.values = setup_read(from->values, (size_t)n_entries * sizeof *A.values);
    return A;
}

/** The memory must be near these numbers, to `tolerance` of the largest. */
static inline void near_each(const char *what, const weft_memory *memory, const double *expected,
                             int64_t n, double tolerance) {
    double *found = setup_read(memory, (size_t)n * sizeof *found), most = 0;
    for (int64_t i = 0; i < n; ++i)
        most = fmax(most, fabs(expected[i]));
    for (int64_t i = 0; i < n; ++i)
        if (!(fabs(found[i] - expected[i]) <= tolerance * most))
            fail_msg("%s %lld: %.17g, not %.17g", what, (long long)i, found[i], expected[i]);
    free(found);
}

#endif
