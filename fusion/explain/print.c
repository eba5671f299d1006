/* The stages of a flow: those of each segment, in the order of the program, with the steps between
 * them as comments. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/plan/compilation.h"
#include "fusion/plan/print_counts.h"
#include "fusion/script/script.h"
#include "fusion/weft_compile.h"

#include <string.h>

typedef struct printer {
    const weft_compilation *compilation;
    const char *stage, *format; /* stage NULL: explain */
    weft_text *out;
    weft_error *error;
    int depth, n_printed;
} printer;

static void indent(const printer *p) {
    weft_text_add(p->out, "# ");
    for (int i = 0; i < p->depth; ++i)
        weft_text_add(p->out, "    ");
}

static weft_status print_steps(printer *p, const weft_flow_steps *steps);

static weft_status print_segment(printer *p, const weft_flow_step *step) {
    const weft_flow *flow = p->compilation->flow;
    const weft_compilation *segment = flow->segments[step->number];
    const bool json = p->stage != NULL && strcmp(p->format, "json") == 0;
    if (json)
        weft_text_add(p->out, "%s", p->n_printed > 0 ? ",\n" : "");
    else if (p->stage == NULL || strcmp(p->format, "text") == 0) {
        indent(p);
        weft_text_add(p->out, "segment %d of %d\n", step->number + 1, flow->n_segments);
    }
    ++p->n_printed;
    return p->stage != NULL
               ? weft_compilation_print_stage(segment, p->stage, p->format, p->out, p->error)
               : weft_compilation_explain(segment, p->out, p->error);
}

static void print_between(const printer *p, const weft_flow_step *step) {
    const weft_flow *flow = p->compilation->flow;
    indent(p);
    if (step->kind == FLOW_APPLY) {
        weft_text_add(p->out, "%s = apply(%s, %s)", flow->names[step->y].name,
                      flow->script->operators[step->op].name, flow->names[step->v].name);
        if (step->dot >= 0)
            weft_text_add(p->out, ", which brings %s", flow->names[step->dot].name);
    } else {
        weft_text_add(p->out, "uniform:");
        for (int i = 0; i < step->n_scalars; ++i)
            weft_text_add(p->out, "%s %s", i > 0 ? "," : "",
                          flow->names[step->scalars[i].target].name);
    }
    weft_text_add(p->out, "\n");
}

/* What was stored for the loop, or not. */
static void print_choice(const printer *p, int loop) {
    const weft_flow *flow = p->compilation->flow;
    const weft_flow_choice *choice =
        flow->choices_of_loops != NULL ? &flow->choices_of_loops[loop] : NULL;
    if (choice == NULL || choice->n == 0)
        return;
    indent(p);
    weft_text_add(
        p->out,
        "%d value%s made before this loop for it alone: %s (%.4g ms predicted for %.0f turns, "
        "%.4g ms %s)\n",
        choice->n, choice->n == 1 ? "" : "s", choice->chosen ? "made anew in every turn" : "stored",
        1e3 * (choice->chosen ? choice->recomputed : choice->stored), choice->turns,
        1e3 * (choice->chosen ? choice->stored : choice->recomputed),
        choice->chosen ? "stored" : "made anew in every turn");
}

static weft_status print_loop(printer *p, const weft_flow_step *step) {
    weft_status status = WEFT_OK;
    const weft_script_loop *loop = &p->compilation->flow->script->loops[step->number];
    const bool text = p->stage == NULL || strcmp(p->format, "text") == 0;
    if (text) {
        print_choice(p, step->number);
        indent(p);
        weft_text_add(p->out, "repeat at most ");
        weft_node_print(loop->most, p->out);
        weft_text_add(p->out, " while (");
        weft_node_print(loop->condition, p->out);
        weft_text_add(p->out, ") {\n");
    }
    ++p->depth;
    TRY(print_steps(p, &step->body));
    --p->depth;
    if (text) {
        indent(p);
        weft_text_add(p->out, "}\n");
    }
done:
    return status;
}

static weft_status print_steps(printer *p, const weft_flow_steps *steps) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < steps->n; ++i) {
        const weft_flow_step *step = &steps->list[i];
        if (step->kind == FLOW_SEGMENT)
            TRY(print_segment(p, step));
        else if (step->kind == FLOW_LOOP)
            TRY(print_loop(p, step));
        else if (p->stage == NULL || strcmp(p->format, "text") == 0)
            print_between(p, step);
    }
done:
    return status;
}

/* Which loops recompute what could be stored for them: the segments depend on it, so that a forced
 * plan needs it. */
static void print_json_loops(printer *p) {
    const weft_flow *flow = p->compilation->flow;
    bool any = false;
    if (flow->script->n_loops == 0)
        return;
    weft_text_add(p->out, "{\n  \"format\": \"weft-loops-1\",\n  \"recomputed\": [");
    for (int i = 0; i < flow->script->n_loops; ++i) {
        if (!flow->choices_of_loops[i].chosen)
            continue;
        weft_text_add(p->out, "%s%d", any ? ", " : "", i);
        any = true;
    }
    weft_text_add(p->out, "]\n}\n");
    ++p->n_printed;
}

weft_status weft_flow_print(const weft_compilation *compilation, const char *stage,
                            const char *format, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    printer p = {
        .compilation = compilation, .stage = stage, .format = format, .out = out, .error = error};
    const bool json = strcmp(format, "json") == 0;
    weft_text_add(out, "%s", json ? "[\n" : "");
    if (json && strcmp(stage, "plan") == 0)
        print_json_loops(&p);
    TRY(print_steps(&p, &compilation->flow->steps));
    weft_text_add(out, "%s", json ? "]\n" : "");
done:
    return status;
}

weft_status weft_flow_explain(const weft_compilation *compilation, weft_text *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    printer p = {.compilation = compilation, .out = out, .error = error};
    weft_planner_counts counts = {0};
    TRY(print_steps(&p, &compilation->flow->steps));
    for (int i = 0; i < compilation->flow->n_segments; ++i)
        weft_planner_counts_add(compilation->flow->segments[i], &counts);
    weft_text_add(out, "\n# all segments\n");
    weft_planner_counts_explain(&counts, out);
    if (out->failed)
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while explaining");
done:
    return status;
}
