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

/* rc = P^T (b - A x), with x from zero */
static void append_down(weft_text *text, const weft_cycle_level *level) {
    append_declarations(text, level);
    weft_chebyshev_append(text, level->degree, true);
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

static weft_status compile(const weft_cycle *cycle, int number, bool is_up, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cycle_level *level = &cycle->levels[number];
    weft_text text = {0};
    weft_operator_in_script *in_script = is_up ? &level->up_operator : &level->down_operator;
    const weft_parameter width = {"w", weft_connectivity_width(level->parents)};
    (is_up ? append_up : append_down)(&text, level);
    if (text.failed)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    const weft_fragment fragment = {is_up ? "multigrid_up.weft" : "multigrid_down.weft", text.data};
    TRY(weft_operator_in_script_make(level->op, in_script, error));
    const weft_operator_choice choice = weft_operator_in_script_choice(in_script, "A");
    const weft_compile_options options = {.operators = &choice,
                                          .n_operators = 1,
                                          .parameters = &width,
                                          .n_parameters = 1,
                                          .single = cycle->single,
                                          .scatter = WEFT_SCATTER_GATHERED,
                                          .predicated = cycle->is_predicated,
                                          .elements = level->n};
    TRY(weft_compiled_make(cycle->context, &fragment, 1, &options,
                           is_up ? &level->up : &level->down, error));
done:
    weft_text_free(&text);
    return status;
}

static weft_status bind(const weft_cycle *cycle, int number, bool is_up, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cycle_level *level = &cycle->levels[number];
    const weft_cycle_level *coarser = level + 1;
    weft_program *program = (is_up ? level->up : level->down).program;
    const weft_form_input all[] = {{"b", level->b},
                                   {"d", level->d},
                                   {"inverse", level->inverse},
                                   {"weights", level->weights},
                                   {"x", is_up ? level->z : level->x},
                                   {is_up ? "xc" : "rc", is_up ? coarser->z : coarser->b},
                                   {"before", level->x}};
    TRY(weft_program_bind_connectivity(program, "parents", level->parents, error));
    for (int i = 0; i < (is_up ? 7 : 6); ++i)
        TRY(weft_program_bind(program, all[i].name, all[i].memory, error));
    TRY(weft_operator_in_script_bind(is_up ? &level->up_operator : &level->down_operator, program,
                                     "A", error));
done:
    return status;
}

weft_status weft_cycle_level_programs(weft_cycle *cycle, int level, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int is_up = 0; is_up < 2; ++is_up) {
        TRY(compile(cycle, level, is_up, error));
        TRY(bind(cycle, level, is_up, error));
    }
done:
    return status;
}
