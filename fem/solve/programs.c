/* Compiles the scripts of conjugate gradients once per solver, and binds them once per solve. */
#include "fem/precondition/precondition.h"
#include "fem/solve/private.h"
#include "fem/space/layout.h"

#include <string.h>

static const char *const names[WEFT_CG_NAMES] = {
    "x",     "b",    "z",     "p",      "q",          "d",     "rz",   "rz_before",
    "rr",    "pq",   "step",  "gain",   "energy",     "share", "size", "start",
    "least", "most", "wrong", "jacobi", "iterations", "limit",
};

enum { PERSISTENT_MOST = 4000000 }; /* more dofs than any GPU holds on its multiprocessors */

typedef struct weft_cg_use {
    const char *file;
    int n_names;
    weft_cg_name names[12];
} weft_cg_use;

static const weft_cg_use uses[WEFT_CG_SCRIPTS] = {
    {"cg.weft",
     12,
     {WEFT_CG_X, WEFT_CG_Z, WEFT_CG_P, WEFT_CG_D, WEFT_CG_ITERATIONS, WEFT_CG_LIMIT, WEFT_CG_RR,
      WEFT_CG_RZ, WEFT_CG_RZ_BEFORE, WEFT_CG_PQ, WEFT_CG_STEP, WEFT_CG_GAIN}},
    {"cg_preconditioned.weft",
     11,
     {WEFT_CG_X, WEFT_CG_P, WEFT_CG_D, WEFT_CG_ITERATIONS, WEFT_CG_LIMIT, WEFT_CG_RR, WEFT_CG_RZ,
      WEFT_CG_RZ_BEFORE, WEFT_CG_PQ, WEFT_CG_STEP, WEFT_CG_GAIN}},
    {"cg_preconditioned_single.weft",
     12,
     {WEFT_CG_X, WEFT_CG_P, WEFT_CG_D, WEFT_CG_ITERATIONS, WEFT_CG_LIMIT, WEFT_CG_RR, WEFT_CG_RZ,
      WEFT_CG_RZ_BEFORE, WEFT_CG_PQ, WEFT_CG_STEP, WEFT_CG_GAIN, WEFT_CG_SIZE}},
    {"cg_residual.weft",
     10,
     {WEFT_CG_X, WEFT_CG_Z, WEFT_CG_B, WEFT_CG_Q, WEFT_CG_D, WEFT_CG_RR, WEFT_CG_RZ, WEFT_CG_ENERGY,
      WEFT_CG_MOST, WEFT_CG_SIZE}},
    {"cg_residual_mean.weft",
     11,
     {WEFT_CG_X, WEFT_CG_Z, WEFT_CG_B, WEFT_CG_Q, WEFT_CG_D, WEFT_CG_SHARE, WEFT_CG_RR, WEFT_CG_RZ,
      WEFT_CG_ENERGY, WEFT_CG_MOST, WEFT_CG_SIZE}},
    {"cg_residual_alone.weft",
     9,
     {WEFT_CG_X, WEFT_CG_B, WEFT_CG_Q, WEFT_CG_D, WEFT_CG_RR, WEFT_CG_RZ, WEFT_CG_ENERGY,
      WEFT_CG_MOST, WEFT_CG_SIZE}},
    {"cg_mean.weft", 2, {WEFT_CG_X, WEFT_CG_SHARE}},
    {"cg_size.weft", 3, {WEFT_CG_X, WEFT_CG_D, WEFT_CG_SIZE}},
    {"cg_diagonal.weft",
     5,
     {WEFT_CG_D, WEFT_CG_JACOBI, WEFT_CG_LEAST, WEFT_CG_MOST, WEFT_CG_WRONG}},
    {"cg_diagonal_signs.weft",
     6,
     {WEFT_CG_D, WEFT_CG_JACOBI, WEFT_CG_LEAST, WEFT_CG_MOST, WEFT_CG_WRONG, WEFT_CG_START}},
    {"cg_given.weft", 6, {WEFT_CG_X, WEFT_CG_Z, WEFT_CG_D, WEFT_CG_P, WEFT_CG_SIZE, WEFT_CG_START}},
    {"cg_reference.weft", 5, {WEFT_CG_P, WEFT_CG_Q, WEFT_CG_D, WEFT_CG_RZ, WEFT_CG_SIZE}},
    {"cg_add.weft", 5, {WEFT_CG_X, WEFT_CG_Z, WEFT_CG_Q, WEFT_CG_RZ, WEFT_CG_SIZE}},
};

/* How a script is compiled; its parts point to each other. */
typedef struct weft_cg_request {
    weft_fragment fragment;
    weft_operator_choice choices[2];
    weft_compile_options options;
} weft_cg_request;

static bool has_preconditioner(weft_cg_script script) {
    return script == WEFT_CG_PRECONDITIONED_LOOP || script == WEFT_CG_SINGLE_LOOP;
}

static void describe(const weft_operator_in_script *in_script, weft_cg_script script,
                     weft_cg_request *out) {
    const weft_cg_use *use = &uses[script];
    *out = (weft_cg_request){.fragment = {use->file, weft_fem_script(use->file)},
                             .choices = {weft_operator_in_script_choice(in_script, "A"),
                                         {.name = "M", .is_long = true}}};
    out->options = (weft_compile_options){.size = sizeof(weft_compile_options),
                                          .operators = out->choices,
                                          .n_operators = script == WEFT_CG_LOOP       ? 1
                                                         : has_preconditioner(script) ? 2
                                                                                      : 0,
                                          .narrow = script == WEFT_CG_SINGLE_LOOP ? "z" : NULL};
}

/* The scripts that every solve by the plan runs, unless it ends at once. */
static void choose(const weft_context *context, const weft_operator *op,
                   const weft_solver_plan *plan, bool runs[WEFT_CG_SCRIPTS]) {
    /* On a GPU a small system is solved by the persistent kernel. */
    const bool on_gpu = weft_context_is_on_gpu(context);
    const bool has_loop = !on_gpu || weft_operator_dofs(op) > PERSISTENT_MOST || op->layout;
    const bool is_cg = plan->method == WEFT_METHOD_CG;
    const bool chosen[WEFT_CG_SCRIPTS] = {
        [WEFT_CG_LOOP] = is_cg && !plan->has_preconditioner && has_loop,
        [WEFT_CG_PRECONDITIONED_LOOP] = is_cg && plan->has_preconditioner && !plan->stays_single,
        [WEFT_CG_SINGLE_LOOP] = is_cg && plan->has_preconditioner && plan->stays_single,
        [WEFT_CG_RESIDUAL] = !plan->has_preconditioner,
        [WEFT_CG_RESIDUAL_ALONE] = plan->has_preconditioner,
        [WEFT_CG_DIAGONAL] = weft_method_about(plan->method)->needs_definite,
        [WEFT_CG_DIAGONAL_SIGNS] = on_gpu && !weft_method_about(plan->method)->needs_definite,
        [WEFT_CG_GIVEN] = !plan->projects_mean,
        [WEFT_CG_REFERENCE] = plan->has_values && !plan->projects_mean, /* else when it is run */
        [WEFT_CG_ADD] = plan->starts_full};
    memcpy(runs, chosen, sizeof chosen);
}

void weft_solver_compile_in_background(weft_context *context, weft_operator *op,
                                       const weft_solver_plan *plan) {
    weft_error ignored;
    weft_operator_in_script in_script = {0};
    weft_cg_request request;
    bool runs[WEFT_CG_SCRIPTS];
    choose(context, op, plan, runs);
    if (weft_operator_in_script_make(op, &in_script, &ignored) != WEFT_OK)
        return;
    for (int i = 0; i < WEFT_CG_SCRIPTS; ++i)
        if (runs[i]) {
            describe(&in_script, (weft_cg_script)i, &request);
            weft_compile_in_background(context, &request.fragment, 1, &request.options);
        }
    weft_operator_in_script_free(&in_script);
}

weft_status weft_cg_compile(weft_solver *cg, weft_error *error) {
    const weft_cg_options *options = cg->options;
    const weft_solver_plan plan = {.method = options->method,
                                   .has_preconditioner = options->preconditioner != NULL,
                                   .projects_mean = options->project_mean,
                                   .starts_full = options->full_cycles > 0,
                                   .stays_single = weft_cg_single(cg) != NULL};
    weft_cg_request described[WEFT_CG_SCRIPTS];
    weft_compile_request requests[WEFT_CG_SCRIPTS];
    bool runs[WEFT_CG_SCRIPTS];
    int n = 0;
    choose(cg->context, cg->op, &plan, runs);
    for (int i = 0; i < WEFT_CG_SCRIPTS; ++i)
        if (runs[i] && !cg->scripts[i].program) {
            describe(&cg->in_script, (weft_cg_script)i, &described[n]);
            requests[n] = (weft_compile_request){&described[n].fragment, 1, &described[n].options,
                                                 &cg->scripts[i]};
            ++n;
        }
    return weft_compiled_make_all(cg->context, requests, n, error);
}

static weft_status compile(weft_solver *cg, weft_cg_script script, weft_error *error) {
    weft_cg_request request;
    describe(&cg->in_script, script, &request);
    return weft_compiled_make(cg->context, &request.fragment, 1, &request.options,
                              &cg->scripts[script], error);
}

static bool is_loop(weft_cg_script script) {
    return script == WEFT_CG_LOOP || has_preconditioner(script);
}

static weft_status precondition(void *user, const weft_program_product *product,
                                weft_error *error) {
    const weft_solver *cg = user;
    weft_preconditioner *preconditioner = cg->options->preconditioner;
    preconditioner->active = product->active;
    preconditioner->square = cg->memory[WEFT_CG_RR];
    const weft_status status =
        weft_preconditioner_apply(preconditioner, product->v, product->y, error);
    preconditioner->active = preconditioner->square = NULL;
    return status;
}

weft_memory *weft_cg_single(const weft_solver *cg) {
    weft_preconditioner *preconditioner = cg->options->preconditioner;
    return preconditioner && preconditioner->kind->single && cg->options->method == WEFT_METHOD_CG
               ? preconditioner->kind->single(preconditioner)
               : NULL;
}

static weft_status bind_preconditioner(weft_solver *cg, weft_program *program, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_program_bind_operator(program, "M", precondition, cg, error));
    weft_program_loop_on_host(program, cg->options->preconditioner->is_foreign);
    TRY(weft_program_bind(program, "r", cg->memory[WEFT_CG_Q], error));
    TRY(weft_program_bind(program, "z",
                          weft_cg_single(cg) ? weft_cg_single(cg) : cg->memory[WEFT_CG_Z], error));
done:
    return status;
}

static weft_status bind_loop(weft_solver *cg, weft_program *program, weft_cg_script script,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const bool has_operator = has_preconditioner(script);
    if (has_operator)
        TRY(bind_preconditioner(cg, program, error));
    if (!weft_operator_rows(cg->op))
        TRY(weft_program_bind(program, "q", has_operator ? cg->product : cg->memory[WEFT_CG_Q],
                              error));
    TRY(weft_operator_in_script_bind(&cg->in_script, program, "A", error));
    TRY(weft_program_record_history(program, "rr", cg->history, WEFT_CG_ITERATIONS_MAX + 1, error));
done:
    return status;
}

weft_status weft_cg_run(weft_solver *cg, weft_cg_script script, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled *compiled = &cg->scripts[script];
    const weft_cg_use *use = &uses[script];
    if (!compiled->program)
        TRY(compile(cg, script, error));
    if (!cg->bound[script]) {
        cg->bound[script] = true;
        TRY(weft_program_size(compiled->program, "nodes", cg->n, error));
        TRY(weft_program_share(compiled->program, "nodes", weft_layout_share(cg->op->layout),
                               error));
        for (int i = 0; i < use->n_names; ++i)
            TRY(weft_program_bind(compiled->program, names[use->names[i]],
                                  cg->memory[use->names[i]], error));
        if (is_loop(script))
            TRY(bind_loop(cg, compiled->program, script, error));
    }
    TRY(weft_program_run(compiled->program, error));
done:
    return status;
}

void weft_cg_unbind(weft_solver *cg, weft_cg_script script) {
    weft_program *program = cg->bound[script] ? cg->scripts[script].program : NULL;
    if (!program)
        return;
    for (int i = 0; i < uses[script].n_names; ++i)
        (void)weft_program_bind(program, names[uses[script].names[i]], NULL, NULL);
    if (is_loop(script)) {
        (void)weft_program_bind(program, "q", NULL, NULL);
        (void)weft_program_record_history(program, "rr", NULL, 0, NULL);
    }
    cg->bound[script] = false;
}
