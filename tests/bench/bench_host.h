/** Shared by the parts of bench_host. */
#ifndef BENCH_HOST_H
#define BENCH_HOST_H

#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"

#define REPEATS 15

/** Everything a measurement needs on one mesh. */
typedef struct bench_case {
    const char *name; /* "triangles" */
    int dimension;
    weft_context context;
    weft_mesh *mesh;
    weft_connectivity *dofs;
    weft_memory *x;
    weft_form_input inputs[1];
    weft_parameter parameters[1];
    weft_form form;
    double copy_bandwidth;                   /* bytes a second, measured in this run */
    double addto_seconds, iteration_seconds; /* from bench_operators, for bench_python */
} bench_case;

typedef weft_status (*bench_task)(void *user, weft_error *error);

/** Run a and b alternately and give the median seconds of each; b NULL: a alone. */
weft_status bench_pair(bench_task a, void *user_a, double *seconds_a, bench_task b, void *user_b,
                       double *seconds_b, weft_error *error);
/** One line: what, figure, ratio, what was asked. asked 0: reported only. Counts what falls short.
 */
void bench_line(const char *name, const char *what, double value, const char *unit, double ratio,
                double asked);
int bench_short(void);

weft_status bench_local(bench_case *c, weft_error *error);
weft_status bench_operators(bench_case *c, weft_error *error);
weft_status bench_python(bench_case *c, int64_t n, weft_error *error);
/** Times each phase of set-up. words: [N [bisection|metis|none [DEVICE...]]]; cube:N, shuffled
 *  unless none. With WEFT_BENCH_PRODUCTS in the environment products are timed too. */
weft_status bench_setup(int n_words, char **words, weft_error *error);
/** y = sin(x) + exp(x) over a million elements. */
weft_status bench_functions(const weft_context *context, weft_error *error);
weft_status bench_process(const char *bin_directory, weft_error *error);

#endif
