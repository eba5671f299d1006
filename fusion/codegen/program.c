/* Writes the module of a script: the kernels of its segments and, on devices with threads, a
 * one-thread kernel for each step of uniform arithmetic and two for each loop:
 *
 *      loop_N_begin    (n, names, active, count, capacities, values x 4, histories x 4
 *                       [, active of the outer loop])
 *      loop_N_iteration(n, names, active, count, capacities, values x 4, histories x 4
 *                       [, partials, result ...])
 *
 * `begin` evaluates the condition before the first iteration. `iteration` joins the reductions,
 * computes the uniform arithmetic that ends the body, counts, and evaluates the condition again.
 * `active` is 1 if there is a next iteration. Kernels in the loop return if it is 0, so that a
 * device can run several iterations without testing the condition on the host. */
#include "fusion/base/array.h"
#include "fusion/base/prelude.h"
#include "fusion/base/target.h"
#include "fusion/codegen/private.h"
#include "fusion/control/kept_plan.h"

#include <string.h>

#include <stdio.h>

static bool scalar_uses(const weft_control_scalar *scalar, int name) {
    bool uses = scalar->target == name;
    for (int i = 0; i < scalar->n_operands; ++i)
        uses |= scalar->operands[i] == name;
    return uses;
}

const weft_control_step *weft_control_last_scalars(const weft_control_step *loop) {
    const weft_control_step *last = &loop->body.list[loop->body.n - 1];
    return loop->body.n > 0 && last->kind == CONTROL_SCALARS ? last : NULL;
}

bool weft_control_uses(const weft_control_step *step, int name) {
    bool uses = false;
    if (step->kind == CONTROL_LOOP) {
        const weft_control_step *last = weft_control_last_scalars(step);
        uses = scalar_uses(&step->most, name) || scalar_uses(&step->condition, name) ||
               (last && weft_control_uses(last, name));
    }
    for (int i = 0; i < step->n_scalars; ++i)
        uses |= scalar_uses(&step->scalars[i], name);
    return uses;
}

const weft_plan_kernel *weft_control_joined(const weft_control *control,
                                            const weft_control_step *loop,
                                            const weft_control_step **step) {
    const int at = loop->body.n - 1 - (weft_control_last_scalars(loop) != NULL);
    const weft_control_step *segment = at >= 0 ? &loop->body.list[at] : NULL;
    if (!segment || segment->kind != CONTROL_SEGMENT)
        return NULL;
    const weft_plan *plan = control->segments[segment->number]->plan;
    if (control->segments[segment->number]->options.distributed)
        return NULL; /* it waits for other ranks */
    if (plan->n_kernels == 0 || plan->kernels[plan->n_kernels - 1].kind != KERNEL_FINAL_REDUCTION)
        return NULL;
    *step = segment;
    return &plan->kernels[plan->n_kernels - 1];
}

/* ---- kernels of one thread ------------------------------------------------------------------- */

enum { CONDITION, MOST, EXTRA }; /* values after the program's names: condition, iteration limit */

typedef struct scalar_writer {
    source_writer source;
    const weft_control *control;
} scalar_writer;

/* The program's names as values of a graph, for the writer of arithmetic. */
static weft_status scalar_data(weft_arena *arena, const weft_control *control, weft_graph *graph,
                               weft_error *error) {
    static const char *const extra[EXTRA] = {"condition", "most"};
    graph->values =
        weft_arena_alloc(arena, (size_t)control->n_names + EXTRA, sizeof *graph->values);
    if (!graph->values)
        return weft_no_memory(error);
    for (int i = 0; i < control->n_names; ++i)
        graph->values[i] = (weft_value){.id = i, .name = control->names[i].name};
    for (int i = 0; i < EXTRA; ++i)
        graph->values[control->n_names + i] =
            (weft_value){.id = control->n_names + i, .name = extra[i]};
    graph->n_values = control->n_names + EXTRA;
    return WEFT_OK;
}

static const char *variable(const scalar_writer *w, int name) {
    return weft_source_variable(&w->source, name, -1);
}

static weft_status write_scalar(const scalar_writer *w, const weft_control_scalar *scalar,
                                int target, weft_error *error) {
    weft_operand *operands =
        weft_arena_alloc(w->source.arena, (size_t)scalar->n_operands + 1, sizeof *operands);
    if (!operands)
        return weft_no_memory(error);
    for (int i = 0; i < scalar->n_operands; ++i)
        operands[i] = (weft_operand){
            .value = scalar->operands[i], .connectivity = -1, .offset = scalar->offsets[i]};
    const weft_call call = {.arithmetic = scalar->nodes,
                            .n_arithmetic = scalar->n_nodes,
                            .operands = operands,
                            .n_operands = scalar->n_operands,
                            .result = target};
    weft_source_arithmetic(&w->source, &call, variable(w, target));
    return WEFT_OK;
}

static void write_names(const scalar_writer *w, const weft_control_step *step, bool load) {
    for (int i = 0; i < w->control->n_names; ++i) {
        if (!weft_control_uses(step, i))
            continue;
        const char *v = variable(w, i);
        const int count = weft_shape_count(&w->control->names[i].shape);
        if (!load)
            weft_text_add(w->source.out, ",\n    scalar *p_%s", v + 2);
        else
            weft_text_add(w->source.out, "    real %s[%d];\n    load_uniform(%s, p_%s, %d);\n", v,
                          count, v, v + 2, count);
    }
}

static weft_status write_scalars(const scalar_writer *w, const weft_control_step *step,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < step->n_scalars; ++i) {
        const char *v = variable(w, step->scalars[i].target);
        TRY(write_scalar(w, &step->scalars[i], step->scalars[i].target, error));
        weft_text_add(w->source.out, "    p_%s[0] = %s[0];\n", v + 2, v);
    }
done:
    return status;
}

static weft_status write_scalars_kernel(const scalar_writer *w, const weft_control_step *step,
                                        weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text *out = w->source.out;
    weft_text_add(out, "FINISH scalars_%d(int64_t n_elements", step->number);
    write_names(w, step, false);
    weft_text_add(out, "%s)\n{\n    if (threadIdx.x > 0%s)\n        return;\n",
                  step->loop >= 0 ? ",\n    const uint32_t *active" : "",
                  step->loop >= 0 ? " || *active == 0" : "");
    write_names(w, step, true);
    TRY(write_scalars(w, step, error));
    weft_text_add(out, "}\n\n");
done:
    return status;
}

static weft_status write_loop_kernel(const scalar_writer *w, const weft_control_step *loop,
                                     bool begin, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text *out = w->source.out;
    const bool inner = begin && loop->loop >= 0;
    const weft_control_step *last = begin ? NULL : weft_control_last_scalars(loop);
    const int condition = w->control->n_names + CONDITION, most = w->control->n_names + MOST;
    const weft_control_step *segment = NULL;
    const weft_plan_kernel *joined = begin ? NULL : weft_control_joined(w->control, loop, &segment);
    const weft_graph *graph = joined ? w->control->segments[segment->number]->graph : NULL;
    weft_text_add(out, "FINISH loop_%d_%s(int64_t n_elements", loop->number,
                  begin ? "begin" : "iteration");
    write_names(w, loop, false);
    weft_text_add(out,
                  ",\n    uint32_t *active,\n    uint32_t *count,\n    const uint32_t *capacity");
    for (int i = 0; i < WEFT_HISTORIES_MAX; ++i)
        weft_text_add(out, ",\n    const scalar *value_of_%d", i);
    for (int i = 0; i < WEFT_HISTORIES_MAX; ++i)
        weft_text_add(out, ",\n    scalar *history_of_%d", i);
    if (joined)
        weft_source_joined_arguments(out, joined);
    weft_text_add(out, "%s)\n{\n", inner ? ",\n    const uint32_t *outside" : "");
    if (joined)
        weft_source_joined(&w->source, graph, joined);
    weft_text_add(out, "    if (threadIdx.x > 0%s)\n        return;\n",
                  begin || joined ? "" : " || *active == 0");
    if (inner)
        weft_text_add(out,
                      "    if (*outside == 0) {\n        *active = 0;\n        return;\n    }\n");
    write_names(w, loop, true);
    if (last)
        TRY(write_scalars(w, last, error));
    weft_text_add(out, "    const uint32_t iterations = %s;\n    *count = iterations;\n",
                  begin ? "0" : "*count + 1");
    for (int i = 0; i < WEFT_HISTORIES_MAX; ++i)
        weft_text_add(out,
                      "    if (iterations < capacity[%d])\n        history_of_%d[iterations] = "
                      "value_of_%d[0];\n",
                      i, i, i);
    weft_text_add(out, "    real %s[1], %s[1];\n", variable(w, condition), variable(w, most));
    TRY(write_scalar(w, &loop->condition, condition, error));
    TRY(write_scalar(w, &loop->most, most, error));
    weft_text_add(out, "    *active = %s[0] > 0 && %s[0] >= (real)iterations + 1;\n}\n\n",
                  variable(w, condition), variable(w, most));
done:
    return status;
}

/* All steps but `absorbed`, which is part of the kernel that ends a loop's iteration. */
static weft_status write_steps(const scalar_writer *w, const weft_control_steps *steps,
                               const weft_control_step *absorbed, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < steps->n; ++i) {
        const weft_control_step *step = &steps->list[i];
        if (step->kind == CONTROL_SCALARS && step != absorbed)
            TRY(write_scalars_kernel(w, step, error));
        if (step->kind != CONTROL_LOOP)
            continue;
        TRY(write_loop_kernel(w, step, true, error));
        TRY(write_steps(w, &step->body, weft_control_last_scalars(step), error));
        TRY(write_loop_kernel(w, step, false, error));
    }
done:
    return status;
}

/* ---- the module ------------------------------------------------------------------------------ */

/* On a GPU, each of several segments has its own namespace, because two of them may contain the
 * same helper functions of a product kernel. */
static weft_status segment_source(const weft_segment *segment, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool spaced = segment->number >= 0 && weft_target_is_simt(&segment->limits);
    if (segment->number >= 0)
        weft_text_add(out, "/* segment %d */\n", segment->number + 1);
    if (spaced)
        weft_text_add(out, "namespace segment_%d {\n", segment->number + 1);
    weft_text_add(out, "%s", segment->number >= 0 ? "\n" : "");
    TRY(weft_source_kernels(segment, out, error));
    weft_text_add(out, "%s", spaced ? "}\n\n" : "");
done:
    return status;
}

static bool has_kind(const weft_control *control, weft_kernel_kind kind) {
    for (int i = 0; i < control->n_segments; ++i)
        for (int k = 0; k < control->segments[i]->plan->n_kernels; ++k)
            if (control->segments[i]->plan->kernels[k].kind == kind)
                return true;
    return false;
}

static void write_exact(const weft_backend *backend, const weft_target *target, weft_text *out) {
    char direct[16];
    (void)snprintf(direct, sizeof direct, "%d", target->joined_exact);
    const weft_prelude_value values[] = {{"direct", direct}, {NULL, NULL}};
    weft_prelude_write(backend->exact, values, out);
}

/* Everything after the prelude. */
static weft_status body_source(const weft_compilation *c, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_graph graph = {0};
    const weft_backend *backend = weft_source_backend(&c->limits);
    const scalar_writer writer = {.source = {.arena = c->arena,
                                             .graph = &graph,
                                             .backend = backend,
                                             .single = c->options.single,
                                             .out = out},
                                  .control = c->control};
    if (has_kind(c->control, KERNEL_NESTED))
        weft_source_nested_prelude(backend, out);
    if (has_kind(c->control, KERNEL_DENSE))
        weft_source_dense_prelude(&c->limits, c->options.single, out);
    TRY(weft_source_combines(c->arena, backend, (const weft_segment *const *)c->control->segments,
                             c->control->n_segments, has_kind(c->control, KERNEL_NESTED), out,
                             error));
    for (int i = 0; i < c->control->n_segments; ++i)
        TRY(segment_source(c->control->segments[i], out, error));
    TRY(scalar_data(c->arena, c->control, &graph, error));
    if (backend->is_threaded)
        TRY(write_steps(&writer, &c->control->steps, NULL, error));
done:
    return status;
}

weft_status weft_source_make(weft_compilation *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    const weft_backend *backend = weft_source_backend(&c->limits);
    weft_text_add(&text, "%s%s", c->options.runs_once ? backend->cheaply : "",
                  c->options.distributed ? "#define CELL_AFTER_CELL\n" : "");
    backend->prelude(&text, &c->limits, c->options.single);
    if (c->options.distributed && !c->options.single && backend->is_threaded)
        weft_prelude_write("ranks_cuda.h", &(weft_prelude_value){NULL, NULL}, &text);
    if (c->options.distributed && !c->options.single)
        write_exact(backend, &c->limits.target, &text);
    const size_t head = text.length;
    if (c->kept)
        weft_text_add_bytes(&text, c->kept->body, strlen(c->kept->body));
    else
        TRY(body_source(c, &text, error));
    const char *copy = text.failed ? NULL : weft_arena_copy(c->arena, text.data, text.length);
    if (!copy)
        TRY(weft_no_memory(error));
    c->source = copy;
    c->body = copy + head;
done:
    weft_text_free(&text);
    return status;
}
