/* The scripts of a level of the V-cycle: smoothing, and the transfer from and to the coarser level. */
#include "fem/precondition/cycle.h"

#include "core/base/fault.h"

static const char *const declarations = "index fine plain, coarse plain;\n"
                                        "parameter w = 2;\n"
                                        "connectivity parents : fine -> coarse[w];\n"
                                        "operator A over fine;\n"
                                        "input b, d : real over fine;\n"
                                        "input inverse : real;\n";

static void append_declarations(weft_text *text, const weft_cycle_level *level) {
    weft_text_add(text, "%sinput weights : real[w]%s;\n", declarations,
                  level->has_dof_weights ? " over fine" : "");
}

/* rc = P^T (b - A x), with x from zero, or from z */
static void append_down(weft_text *text, const weft_cycle_level *level, bool from_zero) {
    append_declarations(text, level);
    if (!from_zero)
        weft_text_add(text, "input x0 : real over fine;\n");
    weft_chebyshev_append(text, level->degree, from_zero);
    weft_text_add(text,
                  "split;\n"
                  "residual = select(d %s 0, 0, b - apply(A, x));\n"
                  "rc[parents] += %s*residual;\n"
                  "return x, rc;\n",
                  weft_fault("mask_lost") ? "<" : "<=",
                  weft_fault("restriction_scaled") ? "2*weights" : "weights");
}

/* z = x + P xc, smoothed */
static void append_up(weft_text *text, const weft_cycle_level *level) {
    append_declarations(text, level);
    weft_text_add(text, "input before : real over fine;\n"
                        "input xc : real over coarse;\n"
                        "x0 = before + select(d <= 0, 0, dot(weights, xc[parents]));\n"
                        "split;\n");
    weft_chebyshev_append(text, level->degree, false);
    weft_text_add(text, "return x;\n");
}

/* The script of a step, into `made`; NULL: only let other threads compile it. */
static weft_status compile(const weft_cycle *cycle, int number, weft_cycle_step step,
                           const weft_operator_in_script *in_script, weft_compiled *made,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    static const char *const names[] = {"multigrid_down.weft", "multigrid_again.weft",
                                        "multigrid_up.weft"};
    const weft_cycle_level *level = &cycle->levels[number];
    weft_text text = {0};
    const weft_parameter width = {"w", weft_connectivity_width(level->parents)};
    if (step == WEFT_CYCLE_UP)
        append_up(&text, level);
    else
        append_down(&text, level, step == WEFT_CYCLE_DOWN);
    if (text.failed)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    const weft_fragment fragment = {names[step], text.data};
    const weft_operator_choice choice = weft_operator_in_script_choice(in_script, "A");
    const weft_compile_options options = {.operators = &choice,
                                          .n_operators = 1,
                                          .parameters = &width,
                                          .n_parameters = 1,
                                          .single = cycle->single,
                                          .scatter = WEFT_SCATTER_GATHERED,
                                          .predicated = cycle->is_predicated,
                                          .elements = level->n};
    if (made)
        TRY(weft_compiled_make(cycle->context, &fragment, 1, &options, made, error));
    else
        weft_compiled_ahead(cycle->context, &fragment, 1, &options);
done:
    weft_text_free(&text);
    return status;
}

static weft_status bind(const weft_cycle *cycle, int number, weft_cycle_step step,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cycle_level *level = &cycle->levels[number];
    const weft_cycle_level *coarser = level + 1;
    weft_program *program = level->programs[step].program;
    const bool is_up = step == WEFT_CYCLE_UP;
    const weft_form_input all[] = {{"b", level->b},
                                   {"d", level->d},
                                   {"inverse", level->inverse},
                                   {"weights", level->weights},
                                   {"x", is_up ? level->z : level->x},
                                   {is_up ? "xc" : "rc", is_up ? coarser->z : coarser->b},
                                   {is_up ? "before" : "x0", is_up ? level->x : level->z}};
    TRY(weft_program_bind_connectivity(program, "parents", level->parents, error));
    for (int i = 0; i < (step == WEFT_CYCLE_DOWN ? 6 : 7); ++i)
        TRY(weft_program_bind(program, all[i].name, all[i].memory, error));
    TRY(weft_operator_in_script_bind(&level->operators[step], program, "A", error));
done:
    return status;
}

static bool has_step(const weft_cycle_level *level, weft_cycle_step step) {
    return step != WEFT_CYCLE_AGAIN || level->is_twice;
}

weft_status weft_cycle_levels_ahead(const weft_cycle *cycle, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator_in_script in_script = {0};
    for (int i = 0; i + 1 < cycle->n_levels; ++i) {
        const weft_cycle_level *level = &cycle->levels[i];
        TRY(weft_operator_in_script_make(level->op, &in_script, error));
        for (int step = 0; step < WEFT_CYCLE_STEPS; ++step)
            if (has_step(level, (weft_cycle_step)step))
                TRY(compile(cycle, i, (weft_cycle_step)step, &in_script, NULL, error));
        weft_operator_in_script_free(&in_script);
    }
done:
    weft_operator_in_script_free(&in_script);
    return status;
}

weft_status weft_cycle_level_programs(weft_cycle *cycle, int number, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cycle_level *level = &cycle->levels[number];
    for (int i = 0; i < WEFT_CYCLE_STEPS; ++i) {
        const weft_cycle_step step = (weft_cycle_step)i;
        if (!has_step(level, step))
            continue;
        TRY(weft_operator_in_script_make(level->op, &level->operators[i], error));
        TRY(compile(cycle, number, step, &level->operators[i], &level->programs[i], error));
        TRY(bind(cycle, number, step, error));
    }
done:
    return status;
}
