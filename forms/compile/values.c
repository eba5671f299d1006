/* Finds the values that a form file gives to coefficients of the problem, and to the unknown, which starts from them. */
#include "forms/compile/compile.h"

#include <string.h>

bool ufl_has_coefficient(const ufl_prepared *form, const ufl_node *coefficient) {
    for (int i = 0; form && i < form->n_coefficients; ++i)
        if (form->coefficients[i] == coefficient)
            return true;
    return false;
}

/* Scripts call the unknown u. Where it has a value, no other coefficient may be called so. */
static bool check_only_u(weft_ufl *ufl, const ufl_problem *problem, int line) {
    const ufl_prepared *form = problem->vector;
    for (int i = 0; i < form->n_coefficients; ++i) {
        if (form->coefficients[i] == problem->unknown ||
            strcmp(ufl_terminal_name(ufl, form, form->coefficients[i]), "u") != 0)
            continue;
        ufl->context.place = (ufl_place){line, 1};
        ufl_fail(&ufl->context, WEFT_ERROR_UNSUPPORTED,
                 "the unknown has a value, and another coefficient is called u");
        ufl_hint(&ufl->context, "call the unknown u, or leave out its value: --initial gives it");
        return false;
    }
    return true;
}

bool ufl_problem_values(weft_ufl *ufl, ufl_problem *problem) {
    const ufl_module *module = ufl->module;
    problem->values = ufl_alloc(&ufl->context, (size_t)module->n_values, sizeof *problem->values);
    for (int i = 0; problem->values && i < module->n_values; ++i) {
        const ufl_value_of *one = &module->values[i];
        const ufl_prepared *forms[] = {problem->vector, problem->matrix, problem->mass};
        const ufl_prepared *form = NULL;
        for (int k = 0; k < 3 && !form; ++k)
            form = ufl_has_coefficient(forms[k], one->function) ? forms[k] : NULL;
        if (!form)
            continue;
        const char *name = ufl_terminal_name(ufl, form, one->function);
        if (one->function == problem->unknown) {
            if (!check_only_u(ufl, problem, one->line))
                return false;
            name = "u"; /* where Newton's method starts */
        }
        problem->values[problem->shown.n_values++] = (weft_ufl_value){
            name, one->formula, ufl_print(&ufl->context, "%s:%d: %s", ufl->file, one->line, name)};
    }
    problem->shown.values = problem->values;
    return ufl->context.status == WEFT_OK;
}
