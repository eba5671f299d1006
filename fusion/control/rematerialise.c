/* Decides for each loop whether values computed before it, such as local matrices, are stored, or
 * recomputed in every iteration, where they may be fused with their readers. Both are planned; the
 * one with the lower predicted time over the expected number of iterations is chosen. Values that
 * do not fit into memory are recomputed.
 *
 * Decision  docs/decisions/0011-loop-invariants-are-planned-both-ways.md */
#include "fusion/base/array.h"
#include "fusion/control/kept_plan.h"
#include "fusion/control/private.h"
#include "fusion/plan/saved_plan.h"

#include <string.h>

static const double DEFAULT_TRIP_COUNT = 100;
#define MEMORY_SHARE 0.5 /* of the device's memory, for stored values */

static bool has_call(const control_builder *b, const weft_node *node) {
    const weft_library *library = b->compilation->library;
    if (weft_node_is_apply(node) ||
        (node->kind == NODE_CALL && weft_library_find_reduction(library, node->name)))
        return true;
    for (int i = 0; i < node->n_children; ++i)
        if (has_call(b, node->children[i]))
            return true;
    return false;
}

/* Does an expression read a list, directly or through a statement before `before`? */
static bool is_list(const weft_script *script, const weft_node *node, int before) {
    for (int i = 0; i < script->n_inputs; ++i)
        if (script->inputs[i].over && weft_control_node_reads(node, script->inputs[i].name))
            return true;
    for (int i = 0; i < before; ++i)
        if (weft_control_node_reads(node, script->statements[i].name) &&
            is_list(script, script->statements[i].value, i))
            return true;
    return false;
}

/* Is a name changed by a statement in [first, last)? */
static bool is_changed(const weft_script *script, const char *name, int first, int last) {
    for (int i = first; i < last; ++i) {
        const weft_script_statement *one = &script->statements[i];
        if ((one->update || one->accumulate) && strcmp(one->name, name) == 0)
            return true;
    }
    return false;
}

static bool reads_changed(const weft_script *script, const weft_node *node, int first, int last) {
    if (node->kind == NODE_NAME && is_changed(script, node->name, first, last))
        return true;
    for (int i = 0; i < node->n_children; ++i)
        if (reads_changed(script, node->children[i], first, last))
            return true;
    return false;
}

/* Could statement i be moved into the loop? Its readers are not considered here. */
static bool is_movable(const control_builder *b, int i, int loop) {
    const weft_script *script = b->script;
    const weft_script_statement *one = &script->statements[i];
    if (one->loop != script->loops[loop].parent || one->update || one->accumulate ||
        one->fuse > 0 || has_call(b, one->value) || !is_list(script, one->value, i) ||
        is_changed(script, one->name, 0, script->n_statements) ||
        reads_changed(script, one->value, i + 1, script->loops[loop].last))
        return false;
    return WEFT_FIND_NAME(script->returns, script->n_returns, one->name) < 0;
}

/* Is statement i read by a statement that is neither in the loop nor moved into it? */
static bool is_read_elsewhere(const weft_script *script, const bool *moved, int i, int loop) {
    const char *name = script->statements[i].name;
    const weft_script_loop *l = &script->loops[loop];
    for (int k = 0; k < script->n_statements; ++k)
        if ((k < l->first || k >= l->last) && !moved[k] &&
            weft_control_statement_reads(&script->statements[k], name))
            return true;
    for (int k = 0; k < script->n_loops; ++k)
        if (weft_control_node_reads(script->loops[k].most, name) ||
            weft_control_node_reads(script->loops[k].condition, name))
            return true;
    return false;
}

static bool is_read_in(const weft_script *script, int i, int first, int last) {
    for (int k = first; k < last; ++k)
        if (weft_control_statement_reads(&script->statements[k], script->statements[i].name))
            return true;
    return false;
}

static int recomputable(const control_builder *b, int loop, bool *moved) {
    const weft_script *script = b->script;
    const weft_script_loop *l = &script->loops[loop];
    int n = 0;
    for (int i = 0; i < script->n_statements; ++i)
        moved[i] = i < l->first && is_movable(b, i, loop);
    for (bool changed = true; changed;) { /* until every moved statement has moved readers only */
        changed = false;
        for (int i = 0; i < l->first; ++i)
            if (moved[i] && is_read_elsewhere(script, moved, i, loop)) {
                moved[i] = false;
                changed = true;
            }
    }
    for (int i = 0; i < l->first; ++i)
        n += moved[i] && is_read_in(script, i, l->first, l->last);
    return n;
}

weft_status weft_control_rematerialise(control_builder *b, int loop) {
    weft_status status = WEFT_OK;
    weft_script *script = b->script;
    const int n = script->n_statements, first = script->loops[loop].first;
    bool *moved = weft_arena_alloc(b->arena, (size_t)n + 1, sizeof *moved);
    weft_script_statement *made = weft_arena_alloc(b->arena, (size_t)n + 1, sizeof *made);
    weft_script_loop *loops =
        weft_arena_alloc(b->arena, (size_t)script->n_loops + 1, sizeof *loops);
    int *place = weft_arena_alloc(b->arena, (size_t)n + 1, sizeof *place), n_made = 0;
    if (!moved || !made || !loops || !place)
        TRY(weft_no_memory(b->error));
    if (recomputable(b, loop, moved) == 0)
        goto done;
    for (int i = 0; i < n; ++i) {
        place[i] = n_made;
        for (int k = 0; i == first && k < first; ++k)
            if (moved[k]) {
                made[n_made] = script->statements[k];
                made[n_made].loop = loop;
                made[n_made++].part = script->statements[first].part;
            }
        if (i >= first || !moved[i])
            made[n_made++] = script->statements[i];
    }
    place[n] = n_made;
    for (int k = 0; k < script->n_loops; ++k) {
        loops[k] = script->loops[k];
        loops[k].first = place[loops[k].first];
        loops[k].last = place[loops[k].last];
        /* inner loops that start at its first statement start after the moved statements */
        if (k > loop && script->loops[k].first == first)
            loops[k].first += place[first + 1] - place[first] - 1;
    }
    script->statements = made;
    script->n_statements = n_made;
    script->loops = loops;
done:
    return status;
}

static double expected_iterations(const weft_compile_options *options) {
    return options->iterations > 0 ? options->iterations : DEFAULT_TRIP_COUNT;
}

static double seconds_of(const weft_control *control, const weft_control_steps *steps,
                         double iterations) {
    double sum = 0;
    for (int i = 0; i < steps->n; ++i) {
        const weft_control_step *step = &steps->list[i];
        if (step->kind == CONTROL_SEGMENT)
            sum += control->segments[step->number]->cover->seconds;
        else if (step->kind == CONTROL_LOOP)
            sum += iterations * seconds_of(control, &step->body, iterations);
    }
    return sum;
}

static double seconds_of_all(const weft_control *control, double iterations) {
    return seconds_of(control, &control->steps, iterations);
}

static bool fits(const weft_control *control, const weft_compilation *c) {
    const double n = c->options.elements > 0 ? (double)c->options.elements : 1e6;
    const double real_bytes = c->options.single ? sizeof(float) : sizeof(double);
    double bytes = 0;
    for (int i = 0; i < control->n_names; ++i)
        if (control->names[i].index_set >= 0 && !control->names[i].matrix &&
            !control->names[i].is_input)
            bytes += n * weft_shape_count(&control->names[i].shape) * real_bytes;
    return c->limits.memory_bytes == 0 || bytes <= MEMORY_SHARE * (double)c->limits.memory_bytes;
}

/* Find the names that a loop could recompute, in a program that stores them. */
static weft_status find_recomputable(const weft_compilation *c, const weft_control *control,
                                     int loop, int *n, weft_error *error) {
    const control_builder b = {
        .compilation = c, .arena = c->arena, .script = (weft_script *)(uintptr_t)control->script};
    bool *moved =
        weft_arena_alloc(c->arena, (size_t)control->script->n_statements + 1, sizeof *moved);
    *n = 0;
    if (!moved)
        return weft_no_memory(error);
    if (control->script->loops[loop].parent < 0)
        *n = recomputable(&b, loop, moved);
    return WEFT_OK;
}

/* For each loop, one after another, choose recomputation if it is predicted to be faster, or if the stored
 * values do not fit into memory. */
static weft_status choose(const weft_compilation *c, weft_control **control, bool *recomputed,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_rematerialise rematerialise = c->options.rematerialise;
    const double iterations = expected_iterations(&c->options);
    weft_control_choice *choices = NULL;
    TRY(WEFT_ALLOC(c->arena, choices, (size_t)(*control)->script->n_loops + 1, error));
    for (int i = 0; i < (*control)->script->n_loops; ++i) {
        weft_control *other = NULL;
        int n = 0;
        TRY(find_recomputable(c, *control, i, &n, error));
        if (n == 0 || rematerialise == WEFT_REMATERIALISE_NEVER)
            continue;
        recomputed[i] = true;
        status = weft_control_build(c, recomputed, &other, error);
        if (status == WEFT_ERROR_TYPE && rematerialise == WEFT_REMATERIALISE_AUTO) {
            status = WEFT_OK; /* a directive that the stored values serve cannot be followed */
            recomputed[i] = false;
            continue;
        }
        TRY(status);
        choices[i] = (weft_control_choice){.n = n,
                                           .iterations = iterations,
                                           .stored = seconds_of_all(*control, iterations),
                                           .recomputed = seconds_of_all(other, iterations)};
        if (rematerialise == WEFT_REMATERIALISE_ALWAYS ||
            choices[i].recomputed < choices[i].stored || !fits(*control, c))
            *control = other;
        else
            recomputed[i] = false;
        choices[i].chosen = recomputed[i];
    }
    (*control)->choices_of_loops = choices;
done:
    return status;
}

/* Apply the kernels of a saved plan and, if it has them, its rematerialisation choices. */
static weft_status force(const weft_compilation *c, bool *recomputed, weft_control **control,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    const int n_loops = c->script->n_loops;
    bool found = false, any = false;
    weft_control_choice *choices = NULL;
    TRY(WEFT_ALLOC(c->arena, choices, (size_t)n_loops + 1, error));
    TRY(weft_plan_force_loops(c->options.forced_plan, n_loops, recomputed, &found, error));
    for (int i = 0; i < n_loops; ++i) {
        choices[i] = (*control)->choices_of_loops[i];
        choices[i].chosen = recomputed[i];
        any |= recomputed[i];
    }
    TRY(weft_control_build(c, any ? recomputed : NULL, control, error));
    (*control)->choices_of_loops = choices;
done:
    return status;
}

/* The steps of a kept plan. */
static weft_status restore(const weft_compilation *c, bool *recomputed, weft_control **control,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    bool any = false;
    if (c->kept->n_loops != c->script->n_loops)
        TRY(weft_error_set(error, WEFT_ERROR_INPUT, "the kept plan has other loops"));
    for (int i = 0; i < c->kept->n_loops; ++i)
        any |= recomputed[i] = c->kept->choices[i].chosen;
    TRY(weft_control_build(c, any ? recomputed : NULL, control, error));
    (*control)->choices_of_loops = c->kept->choices;
done:
    return status;
}

/* The steps of a script with more than one segment. */
static weft_status steps_make(const weft_compilation *compilation, weft_control **out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation planned = *compilation; /* by the planner, whatever is forced afterwards */
    weft_control *control = NULL;
    const int n_loops = compilation->script->n_loops;
    bool *recomputed = NULL;
    TRY(WEFT_ALLOC(compilation->arena, recomputed, (size_t)n_loops + 1, error));
    if (compilation->options.predicated && n_loops > 0)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE,
                           "a script with loops cannot be predicated: its loops are"));
    if (compilation->kept) {
        TRY(restore(compilation, recomputed, out, error));
        goto done;
    }
    planned.options.forced_plan = NULL;
    TRY(weft_control_build(&planned, NULL, &control, error));
    TRY(choose(&planned, &control, recomputed, error));
    if (compilation->options.forced_plan)
        TRY(force(compilation, recomputed, &control, error));
    TRY(weft_control_check_directives(compilation, control, error));
    *out = control;
done:
    return status;
}

weft_status weft_control_make(const weft_compilation *compilation, weft_control **out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    bool many = false;
    TRY(weft_control_needs_steps(compilation->arena, compilation->library, compilation->script,
                                 &many, error));
    TRY((many ? steps_make : weft_control_straight_make)(compilation, out, error));
done:
    return status;
}
