/* Preconditions two coupled functions by two solves with one factor. */
#include "fem/base/memory.h"
#include "fem/precondition/coupled.h"
#include "fem/space/layout.h"

#include <stdlib.h>
#include <string.h>

/* The three programs between the solves; each is run once for an application. */
typedef enum pair_step { PAIR_SUM, PAIR_REST, PAIR_BACK, PAIR_STEPS } pair_step;

struct weft_coupled_solver {
    weft_context *context;
    weft_operator *coupling;                        /* T */
    weft_memory *scales[3];                         /* from_m, from_c, to_m */
    weft_memory *sum, *h, *product, *rest, *second; /* [n] f + g, H^-1 of it, T h, g - T h, c */
    weft_compiled programs[PAIR_STEPS];
};

static const struct {
    const char *text;
    const char *names[3]; /* of inputs and results, which pick_memory knows */
} steps[PAIR_STEPS] = {
    {"index rows plain;\n"
     "input from_m, from_c : real;\n"
     "input r_m, r_c : real over rows;\n"
     "sum = from_m*r_m + from_c*r_c;\n"
     "return sum;\n",
     {"from_m", "from_c", "sum"}},
    {"index rows plain;\n"
     "input from_c : real;\n"
     "input r_c, product : real over rows;\n"
     "rest = from_c*r_c - product;\n"
     "return rest;\n",
     {"from_c", "product", "rest"}},
    {"index rows plain;\n"
     "input to_m : real;\n"
     "input h, second : real over rows;\n"
     "c = second;\n"
     "m = to_m*(h - second);\n"
     "return c, m;\n",
     {"to_m", "h", "second"}},
};

void weft_coupled_solver_free(weft_coupled_solver **solver) {
    weft_coupled_solver *s = *solver;
    if (!s)
        return;
    weft_operator_free(&s->coupling);
    weft_memory **lists[] = {&s->scales[0], &s->scales[1], &s->scales[2], &s->sum,
                             &s->h,         &s->product,   &s->rest,      &s->second};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        weft_memory_free(lists[i]);
    for (int i = 0; i < PAIR_STEPS; ++i)
        weft_compiled_free(&s->programs[i]);
    free(s);
    *solver = NULL;
}

static weft_memory *pick_memory(weft_coupled_solver *s, const char *name) {
    const weft_form_input all[] = {
        {"from_m", s->scales[0]},
        {"from_c", s->scales[1]},
        {"to_m", s->scales[2]},
        {"sum", s->sum},
        {"h", s->h},
        {"product", s->product},
        {"rest", s->rest},
        {"second", s->second},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (strcmp(all[i].name, name) == 0)
            return all[i].memory;
    return NULL;
}

static weft_status make_program(weft_coupled_solver *s, pair_step step, int64_t n,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragment = {"coupled.weft", steps[step].text};
    const weft_compile_options options = {.size = sizeof options,
                                          .elements = n,
                                          .predicated = weft_device_captures(s->context->device)};
    weft_compiled *compiled = &s->programs[step];
    TRY(weft_compiled_make(s->context, &fragment, 1, &options, compiled, error));
    TRY(weft_program_size(compiled->program, "rows", n, error));
    for (int i = 0; i < 3 && steps[step].names[i]; ++i)
        TRY(weft_program_bind(compiled->program, steps[step].names[i],
                              pick_memory(s, steps[step].names[i]), error));
done:
    return status;
}

static weft_status make_coupling(weft_coupled_solver *s, weft_csr *T, weft_error *error) {
    weft_pattern *pattern = calloc(1, sizeof *pattern);
    if (!pattern)
        return weft_out_of_memory(error, "a preconditioner");
    *pattern = (weft_pattern){T->n_rows, T->row_start[T->n_rows], T->row_start, T->columns};
    T->row_start = NULL;
    T->columns = NULL;
    return weft_operator_from_matrix(s->context, &pattern, T->values, 0, &s->coupling, error);
}

weft_status weft_coupled_solver_make(weft_context *context, const weft_coupled *pair, weft_csr *T,
                                     weft_layout *layout, weft_coupled_solver **out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    const double scales[3] = {pair->from_m, pair->from_c, pair->to_m};
    const size_t n = (size_t)pair->n;
    weft_device *device = context->device;
    weft_coupled_solver *s = calloc(1, sizeof *s);
    if (!s)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    s->context = context;
    weft_memory **lists[] = {&s->sum, &s->h, &s->product, &s->rest, &s->second};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        TRY(weft_memory_make(device, n * sizeof(double), lists[i], error));
    for (int i = 0; i < 3; ++i)
        TRY(weft_memory_place(device, &scales[i], 1, sizeof scales[i], &s->scales[i], error));
    TRY(make_coupling(s, T, error));
    weft_operator_distribute(s->coupling, layout);
    for (int i = 0; i < PAIR_STEPS; ++i)
        TRY(make_program(s, (pair_step)i, pair->n, error));
    *out = s;
    s = NULL;
done:
    weft_coupled_solver_free(&s);
    return status;
}

weft_status weft_coupled_solver_apply(weft_coupled_solver *s, weft_preconditioner *cycle,
                                      weft_memory *r_c, weft_memory *r_m, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_program *sum = s->programs[PAIR_SUM].program, *back = s->programs[PAIR_BACK].program;
    TRY(weft_program_bind(sum, "r_m", r_m, error));
    TRY(weft_program_bind(sum, "r_c", r_c, error));
    TRY(weft_compiled_run(s->context, &s->programs[PAIR_SUM], cycle->active, error));
    TRY(cycle->kind->apply(cycle, s->sum, s->h, error));
    TRY(weft_operator_apply(s->coupling, s->h, s->product, error));
    TRY(weft_program_bind(s->programs[PAIR_REST].program, "r_c", r_c, error));
    TRY(weft_compiled_run(s->context, &s->programs[PAIR_REST], cycle->active, error));
    TRY(cycle->kind->apply(cycle, s->rest, s->second, error));
    TRY(weft_program_bind(back, "c", r_c, error));
    TRY(weft_program_bind(back, "m", r_m, error));
    TRY(weft_compiled_run(s->context, &s->programs[PAIR_BACK], cycle->active, error));
done:
    return status;
}
