/* A fuse block is one kernel, and no kernel reaches over the segments of a program: where the block
 * does, it is refused, with what lies between. */
#include "fusion/base/array.h"
#include "fusion/control/private.h"
#include "fusion/graph/print.h"

#include <string.h>

typedef struct checker {
    const weft_flow *flow;
    int fuse; /* the block, from 1 */
    weft_error *error;
} checker;

/* A call of the block in a segment, or -1. */
static int call_in(const checker *c, int segment) {
    const weft_graph *graph = c->flow->segments[segment]->graph;
    for (int i = 0; i < graph->n_calls; ++i)
        if (graph->calls[i].fuse == c->fuse)
            return i;
    return -1;
}

static weft_place place_of(const checker *c) {
    return c->flow->script->fuses[c->fuse - 1].place;
}

/* The product with an operator that a statement of the block is; it is a function of the caller's.
 */
static bool is_of_block(const checker *c, const weft_flow_step *step) {
    const weft_script *script = c->flow->script;
    for (int i = 0; step->kind == FLOW_APPLY && i < script->n_statements; ++i)
        if (script->statements[i].fuse == c->fuse &&
            strcmp(script->statements[i].name, c->flow->names[step->y].name) == 0)
            return true;
    return false;
}

static weft_status refuse_product(const checker *c, const weft_flow_step *step) {
    const char *name = c->flow->script->operators[step->op].name;
    weft_error_at(c->error, WEFT_ERROR_TYPE, place_of(c),
                  "'%s' is the product with operator '%s', which shares no kernel here",
                  c->flow->names[step->y].name, name);
    weft_error_hint(c->error,
                    "it does where '%s' is a script or a rows routine; else take it out of the "
                    "block",
                    name);
    return WEFT_ERROR_TYPE;
}

/* "q = apply(A, p)" or "uniform arithmetic" of the steps between two segments. */
static void print_between(const checker *c, const weft_flow_steps *steps, int first, int last,
                          weft_text *out) {
    for (int i = first + 1; i < last; ++i) {
        const weft_flow_step *step = &steps->list[i];
        weft_text_add(out, "%s", out->length > 0 ? ", " : "between them: ");
        if (step->kind == FLOW_APPLY)
            weft_text_add(out, "%s = apply(%s, ...)", c->flow->names[step->y].name,
                          c->flow->script->operators[step->op].name);
        else
            weft_text_add(out, step->kind == FLOW_LOOP ? "a loop" : "uniform values");
    }
}

static weft_status refuse(const checker *c, const weft_flow_steps *steps, int first, int last) {
    const int segments[2] = {steps->list[first].number, steps->list[last].number};
    weft_text names[2] = {{0}, {0}}, between = {0};
    for (int k = 0; k < 2; ++k) {
        const weft_graph *graph = c->flow->segments[segments[k]]->graph;
        print_name(graph, graph->calls[call_in(c, segments[k])].result, &names[k]);
    }
    print_between(c, steps, first, last, &between);
    weft_status status = WEFT_ERROR_TYPE;
    if (names[0].failed || names[1].failed || between.failed)
        status = weft_no_memory(c->error);
    else {
        weft_error_at(c->error, status, place_of(c),
                      "'%s' and '%s' cannot share a kernel: they are in segments %d and %d of the "
                      "program",
                      names[0].data, names[1].data, segments[0] + 1, segments[1] + 1);
        weft_error_hint(c->error, "%s",
                        between.length > 0 ? between.data
                                           : "weft explain, without the block, shows the segments");
    }
    weft_text_free(&names[0]);
    weft_text_free(&names[1]);
    weft_text_free(&between);
    return status;
}

/* Steps of one list: a block lies in one, for there are no loops in it. */
static weft_status check_steps(const checker *c, const weft_flow_steps *steps) {
    weft_status status = WEFT_OK;
    int first = -1;
    for (int i = 0; i < steps->n; ++i) {
        const weft_flow_step *step = &steps->list[i];
        if (step->kind == FLOW_LOOP)
            TRY(check_steps(c, &step->body));
        if (is_of_block(c, step))
            return refuse_product(c, step);
        if (step->kind != FLOW_SEGMENT || call_in(c, step->number) < 0)
            continue;
        if (first >= 0)
            return refuse(c, steps, first, i);
        first = i;
    }
done:
    return status;
}

weft_status flow_check_wishes(const weft_compilation *compilation, const weft_flow *flow,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    checker c = {.flow = flow, .error = error};
    if (compilation->options.plan == WEFT_PLAN_UNFUSED || compilation->options.forced_plan != NULL)
        return WEFT_OK;
    for (c.fuse = 1; c.fuse <= flow->script->n_fuses; ++c.fuse)
        TRY(check_steps(&c, &flow->steps));
done:
    return status;
}
