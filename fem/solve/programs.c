/* Compiles the scripts of conjugate gradients once per solver, and binds them once per solve. */
#include "fem/solve/private.h"
#include "fem/sparse/csr.h"

#include <stdlib.h>

static const char *const names[WEFT_CG_NAMES] = {
    "x",  "b",    "z",    "p",      "q",     "d",    "rz",         "rz_before", "rr",
    "pq", "step", "gain", "energy", "share", "size", "iterations", "limit",
};

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
    {"cg_residual.weft",
     9,
     {WEFT_CG_X, WEFT_CG_Z, WEFT_CG_B, WEFT_CG_Q, WEFT_CG_D, WEFT_CG_SHARE, WEFT_CG_RR, WEFT_CG_RZ,
      WEFT_CG_ENERGY}},
    {"cg_mean.weft", 2, {WEFT_CG_X, WEFT_CG_SHARE}},
    {"cg_size.weft", 3, {WEFT_CG_X, WEFT_CG_D, WEFT_CG_SIZE}},
};

/* q = A p for the loop; the csr product on the host also computes p.q. */
static weft_status loop_apply(void *user, const weft_program_product *product, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_solver *cg = user;
    if (!product->vy)
        return weft_operator_apply_in_loop(cg->op, product, error);
    TRY(weft_csr_product_dots(cg->context->device, weft_operator_pattern(cg->op),
                              weft_memory_host(weft_operator_values(cg->op)),
                              weft_memory_host(product->v), weft_memory_host(product->y), cg->sums,
                              error));
    const double dot = weft_sum(cg->sums, (cg->n + WEFT_REDUCTION_TILE - 1) / WEFT_REDUCTION_TILE);
    TRY(weft_memory_write(product->vy, 0, &dot, sizeof dot, error));
done:
    return status;
}

/* The product kernel of this operator, if the device has one; otherwise NULL. */
static const weft_product_arguments *rows_of(const weft_solver *cg) {
    const bool threads = weft_device_limits(cg->context->device)->execution == WEFT_EXECUTION_SIMT;
    return threads && cg->op->table->rows ? cg->op->table->rows(cg->op) : NULL;
}

static weft_status compile(weft_solver *cg, weft_cg_script script, weft_error *error) {
    const weft_cg_use *use = &uses[script];
    const weft_product_arguments *rows = rows_of(cg);
    const weft_fragment fragment = {use->file, weft_fem_script(use->file)};
    const weft_operator_choice choice = {.name = "A",
                                         .product_kernel = rows ? rows->product_kernel : NULL,
                                         .brings_dot = !rows && cg->sums};
    const weft_compile_options options = {.operators = &choice,
                                          .n_operators = script == WEFT_CG_LOOP};
    return weft_compiled_make(cg->context, &fragment, 1, &options, &cg->scripts[script], error);
}

static weft_status bind_loop(weft_solver *cg, weft_program *program, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_product_arguments *rows = rows_of(cg);
    if (rows) {
        TRY(weft_program_bind_product(program, "A", rows, error));
    } else {
        TRY(weft_program_bind(program, "q", cg->memory[WEFT_CG_Q], error));
        TRY(weft_program_bind_operator(program, "A", loop_apply, cg, error));
    }
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
        for (int i = 0; i < use->n_names; ++i)
            TRY(weft_program_bind(compiled->program, names[use->names[i]],
                                  cg->memory[use->names[i]], error));
        if (script == WEFT_CG_LOOP)
            TRY(bind_loop(cg, compiled->program, error));
    }
    TRY(weft_program_run(compiled->program, error));
done:
    return status;
}

weft_status weft_cg_counted(const weft_solver *cg, int64_t *iterations, weft_error *error) {
    return weft_program_iterations(cg->scripts[WEFT_CG_LOOP].program, iterations, error);
}

void weft_cg_unbind(weft_solver *cg, weft_cg_script script) {
    weft_program *program = cg->bound[script] ? cg->scripts[script].program : NULL;
    if (!program)
        return;
    for (int i = 0; i < uses[script].n_names; ++i)
        (void)weft_program_bind(program, names[uses[script].names[i]], NULL, NULL);
    if (script == WEFT_CG_LOOP) {
        (void)weft_program_bind(program, "q", NULL, NULL);
        (void)weft_program_record_history(program, "rr", NULL, 0, NULL);
    }
    cg->bound[script] = false;
}
