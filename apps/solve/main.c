/* The app solve: the problem of a user's script. */
#include "apps/common/statement.h"
#include "apps/solve/solve.h"

#include <string.h>

static bool is_given(const solve_bindings *bindings, const char *name) {
    for (int i = 0; i < bindings->n; ++i)
        if (strcmp(bindings->list[i].name, name) == 0)
            return true;
    return false;
}

/* "m(du/dt, v) + a(u, v) = L(v)", by the names of the forms. */
static void state_forms(const solve *run, weft_text *out) {
    const weft_ufl_problem *problem = run->script.problem;
    const char *u = weft_fields_name(&run->base.problem->fields);
    if (run->base.problem->forms.mass && run->options->time.text)
        weft_text_add(out, "%s(d%s/dt, v) + ", problem->mass, u);
    if (run->options->eigen.n > 0)
        weft_text_add(out, "%s(%s, v) = l %s(%s, v)", problem->matrix, u, problem->mass, u);
    else if (problem->nonlinear)
        weft_text_add(out, "%s(%s; v) = 0", problem->vector, u);
    else
        weft_text_add(out, "%s(%s, v) = %s%s", problem->matrix, u,
                      problem->vector ? problem->vector : "0", problem->vector ? "(v)" : "");
}

/* "M du/dt + K u = b", by the names of the script's values. */
static void state_values(const solve *run, weft_text *out) {
    const weft_problem *problem = run->base.problem;
    if (problem->forms.mass && run->options->time.text)
        weft_text_add(out, "%s du/dt + ", problem->forms.mass);
    if (run->options->eigen.n > 0)
        weft_text_add(out, "%s u = l %s u", problem->forms.matrix, problem->forms.mass);
    else if (run->options->nonlinear)
        weft_text_add(out, "%s(u) = 0", problem->forms.vector);
    else
        weft_text_add(out, "%s u = %s", problem->forms.matrix,
                      problem->forms.vector ? problem->forms.vector : "0");
}

static void state_bindings(const solve_bindings *bindings, weft_text *out) {
    for (int i = 0; i < bindings->n; ++i)
        app_state_datum(out, bindings->list[i].name, bindings->list[i].value, "");
}

/* Those of the file that were not given. */
static void state_values_of_file(const solve *run, weft_text *out) {
    const weft_ufl_problem *problem = run->script.problem;
    for (int i = 0; problem && i < problem->n_values; ++i) {
        const weft_ufl_value *value = &problem->values[i];
        const bool starts = problem->nonlinear && strcmp(value->name, "u") == 0;
        if (!is_given(&run->options->inputs, value->name) && !(starts && run->options->initial))
            app_state_datum(out, starts ? "the start" : value->name, value->formula, "");
    }
}

/* The equation, its file, and the given expressions; then those of the script that were not given. */
static void state(const solve *run, weft_text *out) {
    const solve_options *options = run->options;
    const weft_compilation *compilation = run->base.problem->forms.parts[0].compilation;
    int n = 0;
    (run->script.problem ? state_forms : state_values)(run, out);
    weft_text_add(out, " of %s%s", options->script, solve_time_is_own(run) ? " in each step" : "");
    if (options->time.text)
        app_state_datum(out, "u(0)", options->initial, "0");
    state_bindings(&options->inputs, out);
    state_values_of_file(run, out);
    state_bindings(&options->defines, out);
    for (int i = 0; i < weft_compilation_names(compilation); ++i) {
        weft_name_info info;
        weft_compilation_name(compilation, i, &info);
        if (info.kind != WEFT_NAME_EXPRESSION || is_given(&options->defines, info.name))
            continue;
        weft_text_add(out, ", %s", info.name);
        ++n;
    }
    weft_text_add(out, n > 0 ? " as in the script (default)" : "");
}

static const solve_program script_problem = {.name = "solve",
                                             .options_read = solve_options_read,
                                             .state = state,
                                             .form_make = solve_form_make,
                                             .plan_print = solve_plan_print};

int main(int argc, char **argv) {
    return solve_main(&script_problem, argc, argv);
}
