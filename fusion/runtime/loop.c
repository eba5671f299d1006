/* Runs a program step by step: segments launch kernels, the host evaluates uniform arithmetic and
 * conditions. */
#include "core/base/fault.h"
#include "core/device/device.h"
#include "fusion/runtime/private.h"

#include <math.h>
#include <stdlib.h>

/* ---- uniform values -------------------------------------------------------------------------- */

static weft_status uniform_read(const weft_program *p, int name, int component, double *out,
                                weft_error *error) {
    const weft_memory *memory = p->memory[name];
    if (p->compilation->options.single) {
        float number = 0;
        weft_status status = weft_memory_read(memory, (size_t)component * sizeof number, &number,
                                              sizeof number, error);
        *out = (double)number;
        return status;
    }
    return weft_memory_read(memory, (size_t)component * sizeof *out, out, sizeof *out, error);
}

static weft_status real_write(const weft_program *p, weft_memory *memory, int64_t at, double number,
                              weft_error *error) {
    const float single = (float)number;
    return p->compilation->options.single ? weft_memory_write(memory, (size_t)at * sizeof single,
                                                              &single, sizeof single, error)
                                          : weft_memory_write(memory, (size_t)at * sizeof number,
                                                              &number, sizeof number, error);
}

enum { FEW = 32 /* operands that fit on the stack */ };

static weft_status evaluate(const weft_program *p, const weft_control_scalar *scalar, double *out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    double few[FEW] = {0}, *values = few;
    if (scalar->n_operands > FEW)
        values = calloc((size_t)scalar->n_operands, sizeof *values);
    if (!values)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while running a program"));
    for (int i = 0; i < scalar->n_operands; ++i)
        TRY(uniform_read(p, scalar->operands[i], scalar->offsets[i], &values[i], error));
    *out = weft_control_evaluate(scalar, values);
done:
    if (values != few)
        free(values);
    return status;
}

static weft_status run_scalars(const weft_program *p, const weft_control_step *step,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    double number = 0;
    for (int i = 0; i < step->n_scalars; ++i) {
        TRY(evaluate(p, &step->scalars[i], &number, error));
        TRY(real_write(p, p->memory[step->scalars[i].target], 0, number, error));
    }
done:
    return status;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static weft_status record(weft_program *p, int64_t iterations, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < WEFT_HISTORIES_MAX; ++i) {
        double number = 0;
        if (p->captured[i] < 0 || iterations >= p->capacities[i])
            continue;
        TRY(uniform_read(p, p->captured[i], 0, &number, error));
        TRY(real_write(p, p->histories[i], iterations, number, error));
    }
done:
    return status;
}

/* Is there another iteration? On a device without values (null) there is exactly one. */
static weft_status asks(const weft_program *p, const weft_control_step *loop, int64_t iterations,
                        bool *out, weft_error *error) {
    weft_status status = WEFT_OK;
    double most = 0, condition = 0;
    *out = iterations == 0;
    if (weft_device_limits(p->device)->records_only)
        goto done;
    TRY(evaluate(p, &loop->most, &most, error));
    *out = most >= (double)iterations + !weft_fault("one_iteration_more");
    if (!*out)
        goto done;
    TRY(evaluate(p, &loop->condition, &condition, error));
    *out = condition > 0;
done:
    return status;
}

static weft_status run_steps(weft_program *p, const weft_control_steps *steps, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < steps->n; ++i)
        TRY(weft_program_step(p, &steps->list[i], error));
done:
    return status;
}

/* Bring double-buffered lists back to the bound memory. */
static weft_status restore_buffers(weft_program *p, const weft_control_steps *steps,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < steps->n; ++i)
        if (steps->list[i].kind == CONTROL_SEGMENT)
            TRY(weft_program_product_restore_buffers(p->segments[steps->list[i].number], error));
done:
    return status;
}

static weft_status run_loop(weft_program *p, const weft_control_step *loop, weft_error *error) {
    weft_status status = WEFT_OK, cancelled = WEFT_OK;
    const bool counted = loop->number == p->compilation->control->last_loop;
    int64_t iterations = 0;
    bool again = false;
    if (loop->loop < 0 && p->graph && !p->loops_on_host && weft_device_captures(p->device)) {
        TRY(weft_program_graph_run(p, loop, &iterations, error));
        TRY(restore_buffers(p, &loop->body, error));
        goto done;
    }
    TRY(weft_program_graph_activate(p, loop->number, error));
    if (counted)
        TRY(record(p, 0, error));
    TRY(asks(p, loop, 0, &again, error));
    while (again && cancelled == WEFT_OK) {
        TRY(run_steps(p, &loop->body, error));
        ++iterations;
        if (counted)
            TRY(record(p, iterations, error));
        TRY(asks(p, loop, iterations, &again, error));
        cancelled = weft_cancelled(weft_device_monitor(p->device), error);
    }
    TRY(restore_buffers(p, &loop->body, error));
    status = cancelled;
done:
    if (counted)
        p->iterations = iterations;
    return status;
}

static weft_status run_apply(weft_program *p, const weft_control_step *step, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_program_operator *op = &p->operators[step->op];
    weft_memory **memory = p->memory;
    const weft_program_product product = {memory[step->v], memory[step->y],
                                          step->dot >= 0 ? memory[step->dot] : NULL,
                                          weft_program_graph_flag(p, step->loop)};
    TRY(weft_operator_clock_start(p->clock, error));
    TRY(op->apply(op->user, &product, error));
    TRY(weft_operator_clock_stop(p->clock,
                                 p->compilation->control->script->operators[step->op].name, error));
done:
    return status;
}

weft_status weft_program_step(weft_program *p, const weft_control_step *step, weft_error *error) {
    switch (step->kind) {
    case CONTROL_SEGMENT:
        return weft_program_segment_run(p->segments[step->number], error);
    case CONTROL_SCALARS:
        return run_scalars(p, step, error);
    case CONTROL_APPLY:
        return run_apply(p, step, error);
    case CONTROL_LOOP:
        return run_loop(p, step, error);
    }
    return WEFT_OK;
}

/* What ranks have of an index set over which a kernel waits for other ranks, or joins sums with them; NULL: none does.
 *  on_gpus  only of GPUs */
static const weft_share *share_of(const weft_program *p, bool on_gpus) {
    for (int i = 0; i < p->compilation->control->n_segments; ++i) {
        const weft_program_segment *segment = p->segments[i];
        const weft_plan *plan = segment->segment->plan;
        for (int k = 0; k < plan->n_kernels; ++k) {
            const weft_plan_kernel *kernel = &plan->kernels[k];
            const weft_share *share =
                kernel->index_set >= 0 ? segment->shares[kernel->index_set] : NULL;
            if ((kernel->kind == KERNEL_FINAL_REDUCTION || kernel->kind == KERNEL_PRODUCT) &&
                share && (share->team || !on_gpus) && weft_comm_size(share->comm) > 1)
                return share;
        }
    }
    return NULL;
}

/* The order in which sums are joined: FNV-1a of the numbers of their calls. */
static uint64_t hash_sums(const weft_program *p) {
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < p->compilation->control->n_segments; ++i) {
        const weft_plan *plan = p->segments[i]->segment->plan;
        for (int k = 0; k < plan->n_kernels; ++k)
            for (int r = 0; plan->kernels[k].kind == KERNEL_FINAL_REDUCTION &&
                            r < plan->kernels[k].n_reductions;
                 ++r)
                hash =
                    (hash ^ (uint64_t)(4096 * i + plan->kernels[k].reductions[r])) * 1099511628211u;
    }
    return hash;
}

/* Do ranks with other devices have parts of an index set? */
static bool is_mixed(const weft_program *p) {
    bool found = false;
    for (int i = 0; i < p->compilation->control->n_segments; ++i) {
        const weft_program_segment *segment = p->segments[i];
        for (int k = 0; k < segment->segment->graph->n_index_sets; ++k)
            found |= segment->shares[k] && weft_comm_is_mixed(segment->shares[k]->comm);
    }
    return found;
}

/* Ranks whose devices differ have other plans, which have to join sums in the same order. */
static weft_status agree_on_sums(weft_program *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_share *share =
        p->compilation->options.distributed && !p->has_agreed ? share_of(p, false) : NULL;
    uint64_t mine, *all = NULL;
    if (!share || !weft_comm_is_mixed(share->comm))
        goto done;
    mine = hash_sums(p);
    all = calloc((size_t)weft_comm_size(share->comm), sizeof *all);
    if (!all)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while running a program"));
    TRY(weft_comm_gather(share->comm, &mine, sizeof mine, all, error));
    for (int r = 0; r < weft_comm_size(share->comm); ++r)
        if (all[r] != mine)
            TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                                  "the plans of host and GPU join the sums of a script in "
                                  "different orders",
                                  "name devices of one kind"));
    p->has_agreed = true;
done:
    free(all);
    return status;
}

/* On GPUs of several ranks: kernels wait for those of others, so that all start together; where the host passes on what
 * they exchange, loops run on the host. */
static weft_status start_ranks(weft_program *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_share *share = p->compilation->options.distributed ? share_of(p, true) : NULL;
    double nothing = 0;
    p->loops_on_host |= is_mixed(p);
    TRY(agree_on_sums(p, error));
    if (!share)
        goto done;
    p->loops_on_host |= !share->in_kernels;
    if (share->in_kernels)
        TRY(weft_comm_maximum(share->comm, &nothing, error));
    for (int i = 0; i < p->compilation->control->n_segments; ++i)
        TRY(weft_program_segment_start_ranks(p->segments[i], error));
done:
    return status;
}

/* Has a kernel waited for another rank in vain? */
static weft_status check_ranks(const weft_program *p, weft_error *error) {
    weft_status status = WEFT_OK;
    enum { FAILED = 3 }; /* kernels/prelude/ranks_cuda.h */
    const weft_share *share = p->compilation->options.distributed ? share_of(p, true) : NULL;
    int64_t failed = 0;
    const bool is_captured =
        p->active || weft_device_graph_refuses(p->device, "a check", NULL) != WEFT_OK;
    if (share && share->in_kernels && !is_captured)
        TRY(weft_memory_read(share->team, FAILED * sizeof failed, &failed, sizeof failed, error));
    if (failed)
        TRY(weft_error_set(error, WEFT_ERROR_DEVICE,
                           "another rank's GPU did not send its numbers within 10 s"));
done:
    return status;
}

weft_status weft_program_run(weft_program *p, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_cancelled(weft_device_monitor(p->device), error));
    TRY(weft_program_prepare_all(p, error));
    TRY(start_ranks(p, error));
    p->iterations = p->compilation->control->last_loop >= 0 ? 0 : -1;
    TRY(run_steps(p, &p->compilation->control->steps, error));
    TRY(check_ranks(p, error));
done:
    return status;
}

weft_status weft_program_iterations(const weft_program *p, int64_t *out, weft_error *error) {
    (void)error;
    *out = p->iterations;
    return WEFT_OK;
}
