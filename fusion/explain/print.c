/* Prints stages and the explanation of a compilation: those of each segment, in program order, with
 * the steps between them as comments. */
#include "fusion/plan/print.h"
#include "fusion/base/array.h"
#include "fusion/base/json.h"
#include "fusion/control/program.h"
#include "fusion/explain/private.h"

#include <string.h>

/* Only printing needs tokens, so the texts are split again. */
static weft_status print_tokens(const weft_compilation *c, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *scratch = NULL;
    TRY(weft_arena_make(&scratch, error));
    for (int i = 0; i < c->script->n_sources; ++i) {
        weft_token *tokens = NULL;
        int n = 0;
        TRY(weft_tokens_make(scratch, &c->script->sources[i], &tokens, &n, error));
        weft_tokens_print(tokens, n, out);
    }
done:
    weft_arena_free(&scratch);
    return status;
}

static const char *const stages[] = {"tokens",          "script", "graph", "fusions",
                                     "implementations", "cover",  "plan",  "source"};

static bool is_stage(const char *name) {
    return weft_name_index(stages, (int)(sizeof stages / sizeof *stages), sizeof *stages, name) >=
           0;
}

/* Print a stage of one segment, from graph to plan, as text or for Graphviz. */
static void print_stage(const weft_segment *s, const char *stage, bool dot, weft_text *out) {
    if (strcmp(stage, "graph") == 0)
        (dot ? weft_graph_print_dot : weft_graph_print_text)(s->graph, out);
    else if (strcmp(stage, "fusions") == 0)
        weft_fusions_print(s, out);
    else if (strcmp(stage, "implementations") == 0)
        weft_implementations_print(s, out);
    else if (strcmp(stage, "cover") == 0)
        weft_cover_print(s->graph, s->cover, out);
    else
        (dot ? weft_plan_print_dot : weft_plan_print_text)(s->graph, s->plan, out);
}

typedef struct printer {
    const weft_control *control;
    const char *stage; /* NULL: explain */
    bool dot;
    weft_text *out;
    weft_error *error;
    int depth;
} printer;

static void indent(const printer *p) {
    weft_text_add(p->out, "# ");
    for (int i = 0; i < p->depth; ++i)
        weft_text_add(p->out, "    ");
}

static weft_status print_steps(printer *p, const weft_control_steps *steps);

static weft_status print_segment(printer *p, const weft_control_step *step) {
    const weft_segment *segment = p->control->segments[step->number];
    if (!p->dot && segment->number >= 0) {
        indent(p);
        weft_text_add(p->out, "segment %d of %d\n", step->number + 1, p->control->n_segments);
    }
    if (!p->stage)
        return weft_explain_segment(segment, p->out, p->error);
    print_stage(segment, p->stage, p->dot, p->out);
    return WEFT_OK;
}

static void print_between(const printer *p, const weft_control_step *step) {
    const weft_control *control = p->control;
    indent(p);
    if (step->kind == CONTROL_APPLY) {
        weft_text_add(p->out, "%s = apply(%s, %s)", control->names[step->y].name,
                      control->script->operators[step->op].name, control->names[step->v].name);
        if (step->dot >= 0)
            weft_text_add(p->out, ", which brings %s", control->names[step->dot].name);
    } else {
        weft_text_add(p->out, "uniform:");
        for (int i = 0; i < step->n_scalars; ++i)
            weft_text_add(p->out, "%s %s", i > 0 ? "," : "",
                          control->names[step->scalars[i].target].name);
    }
    weft_text_add(p->out, "\n");
}

/* Print the rematerialisation choice of a loop. */
static void print_choice(const printer *p, int loop) {
    const weft_control *control = p->control;
    const weft_control_choice *choice =
        control->choices_of_loops ? &control->choices_of_loops[loop] : NULL;
    if (!choice || choice->n == 0)
        return;
    indent(p);
    weft_text_add(
        p->out,
        "%d value%s made before this loop for it alone: %s (%.4g ms predicted for %.0f iterations, "
        "%.4g ms %s)\n",
        choice->n, choice->n == 1 ? "" : "s",
        choice->chosen ? "rematerialised in every iteration" : "stored",
        1e3 * (choice->chosen ? choice->recomputed : choice->stored), choice->iterations,
        1e3 * (choice->chosen ? choice->stored : choice->recomputed),
        choice->chosen ? "stored" : "rematerialised in every iteration");
}

static weft_status print_loop(printer *p, const weft_control_step *step) {
    weft_status status = WEFT_OK;
    const weft_script_loop *loop = &p->control->script->loops[step->number];
    if (!p->dot) {
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
    if (!p->dot) {
        indent(p);
        weft_text_add(p->out, "}\n");
    }
done:
    return status;
}

static weft_status print_steps(printer *p, const weft_control_steps *steps) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < steps->n; ++i) {
        const weft_control_step *step = &steps->list[i];
        if (step->kind == CONTROL_SEGMENT)
            TRY(print_segment(p, step));
        else if (step->kind == CONTROL_LOOP)
            TRY(print_loop(p, step));
        else if (!p->dot)
            print_between(p, step);
    }
done:
    return status;
}

/* The rematerialisation choice of each loop, which a forced plan needs because the segments depend
 * on it. */
static json_t *loops_json(const weft_control *control) {
    json_t *recomputed = json_array();
    for (int i = 0; i < control->script->n_loops; ++i)
        if (control->choices_of_loops[i].chosen)
            weft_json_append(&recomputed, json_integer(i));
    return json_pack("{s:s, s:o}", "format", "weft-loops-1", "recomputed", recomputed);
}

/* The stages that are printed as JSON; as dot, only graph and plan. */
static bool has_format(const char *stage, bool dot) {
    static const char *const planned[] = {"graph", "plan", "fusions", "implementations", "cover"};
    return weft_name_index(planned, dot ? 2 : (int)(sizeof planned / sizeof *planned),
                           sizeof *planned, stage) >= 0;
}

static json_t *segment_json(const weft_segment *s, const char *stage) {
    if (strcmp(stage, "fusions") == 0)
        return weft_fusions_json(s);
    if (strcmp(stage, "implementations") == 0)
        return weft_implementations_json(s);
    if (strcmp(stage, "cover") == 0)
        return weft_cover_json(s);
    return strcmp(stage, "plan") == 0 ? weft_plan_json(s->graph, s->plan, s->number)
                                      : weft_graph_json(s->graph);
}

/* JSON of a script; with more than one segment, a list. */
static json_t *all_json(const weft_compilation *c, const char *stage) {
    const weft_control *control = c->control;
    const weft_segment *only = weft_compilation_only(c);
    if (only)
        return segment_json(only, stage);
    json_t *list = json_array();
    if (strcmp(stage, "plan") == 0 && control->script->n_loops > 0)
        weft_json_append(&list, loops_json(control));
    for (int i = 0; i < control->n_segments; ++i)
        weft_json_append(&list, segment_json(control->segments[i], stage));
    return list;
}

static weft_status no_such_stage(const char *stage, weft_error *error) {
    const char *near = weft_nearest_name(stage, stages, sizeof stages / sizeof *stages);
    weft_error_set(error, WEFT_ERROR_USAGE, "there is no stage '%s'", stage);
    weft_error_hint(
        error,
        "%s%s%sthe stages are tokens, script, graph, fusions, implementations, cover, plan, source",
        near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
    return WEFT_ERROR_USAGE;
}

weft_status weft_compilation_print(const weft_compilation *c, const char *stage, const char *format,
                                   weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool dot = strcmp(format, "dot") == 0, json = strcmp(format, "json") == 0;
    printer p = {.control = c->control, .stage = stage, .dot = dot, .out = out, .error = error};
    if (!dot && !json && strcmp(format, "text") != 0)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE,
                           "there is no format '%s': text, dot and json are", format));
    if ((dot || json) && !has_format(stage, dot))
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "only graph%s plan are printed as %s",
                           dot ? " and" : ", fusions, implementations, cover and", format));
    if (strcmp(stage, "tokens") == 0)
        TRY(print_tokens(c, out, error));
    else if (strcmp(stage, "script") == 0)
        weft_script_print(c->script, out);
    else if (strcmp(stage, "source") == 0)
        weft_text_add(out, "%s", c->source);
    else if (json)
        weft_json_write(all_json(c, stage), out);
    else if (is_stage(stage))
        TRY(print_steps(&p, &c->control->steps));
    else
        status = no_such_stage(stage, error);
    if (status == WEFT_OK && out->failed)
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while printing");
done:
    return status;
}

static void explain_counts(const weft_control *control, weft_text *out) {
    weft_planner_counts counts = {0};
    for (int i = 0; i < control->n_segments; ++i)
        weft_planner_counts_add(control->segments[i], &counts);
    weft_text_add(out, "\n# all segments\n");
    weft_planner_counts_explain(&counts, out);
}

weft_status weft_compilation_explain(const weft_compilation *compilation, weft_text *out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    printer p = {.control = compilation->control, .out = out, .error = error};
    TRY(print_steps(&p, &compilation->control->steps));
    if (!weft_compilation_only(compilation))
        explain_counts(compilation->control, out);
    if (out->failed)
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while explaining");
done:
    return status;
}
