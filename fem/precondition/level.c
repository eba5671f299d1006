/* The scripts of a level of the V-cycle: smoothing, and the transfer from and to the coarser level. The operator is D^-1 A, and b
 * is divided by the diagonal D, too. */
#include "fem/precondition/cycle.h"

#include "core/base/fault.h"

#include <stdlib.h>

static const char *const declarations = "index fine plain, coarse plain;\n"
                                        "parameter w = 2;\n"
                                        "connectivity parents : fine -> coarse[w];\n"
                                        "operator A over fine;\n"
                                        "input b : real over fine;\n"
                                        "input inverse : real;\n";

static void append_declarations(weft_text *text, const weft_cycle_level *level) {
    weft_text_add(text, "%sinput weights : real[w]%s;\n", declarations,
                  level->has_dof_weights ? " over fine" : "");
}

/* rc = Dc^-1 P^T D (b - A x), with x from zero, or from z */
static void append_down(weft_text *text, const weft_cycle_level *level, bool from_zero) {
    append_declarations(text, level);
    weft_text_add(text, "input a : real over fine;\ninput ac : real over coarse;\n");
    if (!from_zero)
        weft_text_add(text, "input x0 : real over fine;\n");
    weft_chebyshev_append(text, level->degree,
                          WEFT_CHEBYSHEV_SCALED | (from_zero ? WEFT_CHEBYSHEV_FROM_ZERO : 0));
    weft_text_add(text, weft_cycle_is_divided(level) ? "operator exchange over fine;\n"
                                                       "split;\n"
                                                       "own = a*(b - apply(A, x));\n"
                                                       "residual = apply(exchange, own);\n"
                                                     : "split;\n"
                                                       "residual = a*(b - apply(A, x));\n");
    weft_text_add(text,
                  "rc[parents] += select(ac[parents] > 0, %s*residual/ac[parents], 0);\n"
                  "return x, rc;\n",
                  weft_fault("restriction_scaled") ? "2*weights" : "weights");
}

/* z = x + P xc, smoothed */
static void append_up(weft_text *text, const weft_cycle_level *level) {
    append_declarations(text, level);
    weft_text_add(text,
                  "%sinput before : real over fine;\n"
                  "input xc : real over coarse;\n"
                  "x0 = before + %sdot(weights, xc[parents])%s;\n"
                  "split;\n",
                  level->is_masked ? "input a : real over fine;\n" : "",
                  level->is_masked ? "select(a <= 0, 0, " : "", level->is_masked ? ")" : "");
    weft_chebyshev_append(text, level->degree, WEFT_CHEBYSHEV_SCALED);
    weft_text_add(text, "return x;\n");
}

/* A script and how it is compiled; its parts point to each other. */
typedef struct level_script {
    weft_text text;
    weft_fragment fragment;
    weft_operator_choice choice;
    weft_parameter width;
    weft_compile_options options;
    int level;
    weft_cycle_step step;
} level_script;

static weft_status write_script(const weft_cycle *cycle, int number, weft_cycle_step step,
                                level_script *out, weft_error *error) {
    weft_status status = WEFT_OK;
    static const char *const names[] = {"multigrid_down.weft", "multigrid_again.weft",
                                        "multigrid_up.weft"};
    weft_cycle_level *level = &cycle->levels[number];
    out->level = number;
    out->step = step;
    if (step == WEFT_CYCLE_UP)
        append_up(&out->text, level);
    else
        append_down(&out->text, level, step == WEFT_CYCLE_DOWN);
    if (out->text.failed)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(weft_operator_in_script_make(level->op, &level->operators[step], error));
    out->fragment = (weft_fragment){names[step], out->text.data};
    out->choice = weft_operator_in_script_choice(&level->operators[step], "A");
    out->width = (weft_parameter){"w", weft_connectivity_width(level->parents)};
    out->options =
        (weft_compile_options){.size = sizeof(weft_compile_options),
                               .operators = &out->choice,
                               .n_operators = 1,
                               .parameters = &out->width,
                               .n_parameters = 1,
                               .single = cycle->single,
                               .scatter = WEFT_SCATTER_GATHERED,
                               .predicated = cycle->is_predicated,
                               .elements = level->part ? level->part->n_whole : level->n};
done:
    return status;
}

weft_status weft_cycle_exchange(void *user, const weft_program_product *product,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cycle_level *level = user;
    const bool single = level->op->single;
    const size_t bytes = (size_t)level->n * (single ? sizeof(float) : sizeof(double));
    TRY(weft_memory_copy(product->y, product->v, bytes, error));
    if (!weft_fault("residual_stale"))
        TRY(weft_layout_exchange(level->part->residual, product->y, single, product->active,
                                 error));
done:
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
                                   {"inverse", level->inverse},
                                   {"weights", level->weights},
                                   {"x", is_up ? level->z : level->x},
                                   {is_up ? "xc" : "rc", is_up ? coarser->z : coarser->b},
                                   {"a", is_up && !level->is_masked ? NULL : level->a},
                                   {"ac", is_up ? NULL : coarser->a},
                                   {"before", is_up ? level->x : NULL},
                                   {"x0", step == WEFT_CYCLE_AGAIN ? level->z : NULL}};
    weft_program_share_buffers(program, cycle->buffers);
    if (weft_cycle_is_divided(level))
        TRY(weft_program_share(program, "fine", weft_layout_share(level->part->product), error));
    TRY(weft_program_bind_connectivity(program, "parents", level->parents, error));
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (all[i].memory)
            TRY(weft_program_bind(program, all[i].name, all[i].memory, error));
    TRY(weft_operator_in_script_bind(&level->operators[step], program, "A", error));
    if (weft_cycle_is_divided(level) && !is_up)
        TRY(weft_program_bind_operator(program, "exchange", weft_cycle_exchange, level, error));
done:
    return status;
}

weft_status weft_cycle_programs(weft_cycle *cycle, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t most = (size_t)cycle->n_levels * WEFT_CYCLE_STEPS;
    level_script *scripts = calloc(most, sizeof *scripts);
    weft_compile_request *requests = calloc(most, sizeof *requests);
    int n = 0;
    if (!scripts || !requests)
        TRY(weft_out_of_memory(error, "the levels of multigrid"));
    for (int i = 0; i + 1 < cycle->n_levels; ++i)
        for (int k = 0; k < WEFT_CYCLE_STEPS; ++k) {
            weft_cycle_level *level = &cycle->levels[i];
            if (k == WEFT_CYCLE_AGAIN && !level->is_twice)
                continue;
            TRY(write_script(cycle, i, (weft_cycle_step)k, &scripts[n], error));
            requests[n] = (weft_compile_request){&scripts[n].fragment, 1, &scripts[n].options,
                                                 &level->programs[k]};
            ++n;
        }
    TRY(weft_compiled_make_all(cycle->context, requests, n, error));
    for (int i = 0; i < n; ++i)
        TRY(bind(cycle, scripts[i].level, scripts[i].step, error));
done:
    for (size_t i = 0; scripts && i < most; ++i)
        weft_text_free(&scripts[i].text);
    free(scripts);
    free(requests);
    return status;
}
