/* Rejects fuse blocks that span several segments, because a kernel belongs to one segment; the
 * message names the steps between. */
#include "fusion/base/array.h"
#include "fusion/control/private.h"
#include "fusion/graph/print.h"

#include <string.h>

typedef struct checker {
    const weft_control *control;
    int fuse; /* the block, from 1 */
    weft_error *error;
} checker;

/* A call of the fuse block in a segment, or -1. */
static int call_in(const checker *c, int segment) {
    const weft_graph *graph = c->control->segments[segment]->graph;
    for (int i = 0; i < graph->n_calls; ++i)
        if (graph->calls[i].fuse == c->fuse)
            return i;
    return -1;
}

static weft_location place_of(const checker *c) {
    return c->control->script->fuses[c->fuse - 1].place;
}

/* Is this step the product with an opaque operator that a statement of the block asks for? */
static bool is_of_block(const checker *c, const weft_control_step *step) {
    const weft_script *script = c->control->script;
    for (int i = 0; step->kind == CONTROL_APPLY && i < script->n_statements; ++i)
        if (script->statements[i].fuse == c->fuse &&
            strcmp(script->statements[i].name, c->control->names[step->y].name) == 0)
            return true;
    return false;
}

static weft_status refuse_product(const checker *c, const weft_control_step *step) {
    const char *name = c->control->script->operators[step->op].name;
    weft_error_at(c->error, WEFT_ERROR_TYPE, place_of(c),
                  "'%s' is the product with operator '%s', which shares no kernel here",
                  c->control->names[step->y].name, name);
    weft_error_hint(
        c->error,
        "it does where '%s' is a script or a product kernel; else take it out of the block", name);
    return WEFT_ERROR_TYPE;
}

/* Print the steps between two segments: "q = apply(A, p)" or "uniform arithmetic". */
static void print_between(const checker *c, const weft_control_steps *steps, int first, int last,
                          weft_text *out) {
    for (int i = first + 1; i < last; ++i) {
        const weft_control_step *step = &steps->list[i];
        weft_text_add(out, "%s", out->length > 0 ? ", " : "between them: ");
        if (step->kind == CONTROL_APPLY)
            weft_text_add(out, "%s = apply(%s, ...)", c->control->names[step->y].name,
                          c->control->script->operators[step->op].name);
        else
            weft_text_add(out, step->kind == CONTROL_LOOP ? "a loop" : "uniform values");
    }
}

static weft_status refuse(const checker *c, const weft_control_steps *steps, int first, int last) {
    const int segments[2] = {steps->list[first].number, steps->list[last].number};
    weft_text names[2] = {{0}, {0}}, between = {0};
    for (int k = 0; k < 2; ++k) {
        const weft_graph *graph = c->control->segments[segments[k]]->graph;
        weft_print_name(graph, graph->calls[call_in(c, segments[k])].result, &names[k]);
    }
    print_between(c, steps, first, last, &between);
    weft_status status = WEFT_ERROR_TYPE;
    if (names[0].failed || names[1].failed || between.failed)
        status = weft_no_memory(c->error);
    else {
        weft_error_at(
            c->error, status, place_of(c),
            "'%s' and '%s' cannot share a kernel: they are in segments %d and %d of the program",
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

/* Check the steps of one list; a fuse block contains no loops, so it lies in one list. */
static weft_status check_steps(const checker *c, const weft_control_steps *steps) {
    weft_status status = WEFT_OK;
    int first = -1;
    for (int i = 0; i < steps->n; ++i) {
        const weft_control_step *step = &steps->list[i];
        if (step->kind == CONTROL_LOOP)
            TRY(check_steps(c, &step->body));
        if (is_of_block(c, step))
            TRY(refuse_product(c, step));
        if (step->kind != CONTROL_SEGMENT || call_in(c, step->number) < 0)
            continue;
        if (first >= 0)
            TRY(refuse(c, steps, first, i));
        first = i;
    }
done:
    return status;
}

weft_status weft_control_check_directives(const weft_compilation *compilation,
                                          const weft_control *control, weft_error *error) {
    weft_status status = WEFT_OK;
    checker c = {.control = control, .error = error};
    if (compilation->options.plan == WEFT_PLAN_UNFUSED || compilation->options.forced_plan)
        goto done;
    for (c.fuse = 1; c.fuse <= control->script->n_fuses; ++c.fuse)
        TRY(check_steps(&c, &control->steps));
done:
    return status;
}
