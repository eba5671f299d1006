/* The app poisson: the problem -div(k grad u) = f with shipped forms, run by apps/solve. */
#include "apps/common/statement.h"
#include "apps/poisson/poisson.h"
#include "fem/weft_fem.h"

#include <math.h>

/* poisson.weft, or poisson_diffusivity.weft with the user's k. */
static weft_status form_cells(const solve *run, weft_bound_form *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *diffusivity = run->options->diffusivity;
    TRY(weft_form_ship(run->base.problem->fields.space,
                       diffusivity ? "poisson_diffusivity.weft" : "poisson.weft",
                       weft_space_cells(run->base.problem->fields.space), out, error));
    if (diffusivity)
        weft_form_bind_expression(out, "diffusivity", diffusivity, "--diffusivity");
    out->form.product = diffusivity ? "stiffness_product_mean.weft" : "stiffness_product.weft";
done:
    return status;
}

static void state(const solve *run, weft_text *out) {
    const solve_options *options = run->options;
    weft_text_add(out, "-div(k grad u) = f");
    app_state_datum(out, "k", options->diffusivity, "1");
    app_state_datum(out, "f", options->default_source ? NULL : options->source, "1");
}

static weft_status check_size(solve *run, weft_error *error) {
    return app_memory_forecast(run->base.device, run->base.options, error);
}

static weft_status make_form(solve *run, weft_error *error) {
    return form_cells(run, &run->base.problem->forms.first, error);
}

/* kappa is the diffusivity of a cell, the mean of --diffusivity. */
static int name_coefficients(const solve *run, weft_derive_alias out[SOLVE_ALIASES_MAX]) {
    out[0] = (weft_derive_alias){"kappa", run->options->diffusivity ? "k" : "1"};
    return 1;
}

/* Refuse a part of the mesh without condition on u; the hint names the options that fix u. */
static weft_status check_fixed(solve *run, weft_error *error) {
    const weft_status status = weft_bc_find_free(
        run->base.problem->fields.bc, 0, &run->base.problem->system.linear.project_mean, error);
    if (status == WEFT_ERROR_INPUT)
        weft_error_hint(
            error,
            "add --dirichlet or --robin for a group of that part, or join the parts in the mesh: "
            "in a .geo file, shared points and curves, or Coherence");
    if (status != WEFT_OK || run->base.problem->system.linear.project_mean || run->base.is_null)
        return status;
    const weft_form *robin = NULL;
    int64_t n_parts = 1;
    return weft_bc_forms(run->base.problem->fields.bc, &robin) == 0
               ? WEFT_OK
               : weft_problem_find_floating(run->base.problem,
                                            run->base.problem->fields.n_constrained > 0, &n_parts,
                                            error);
}

static weft_status make_load(solve *run, weft_error *error) {
    return weft_bc_load_make(run->base.problem->fields.bc, run->options->source, "--source",
                             WEFT_LOAD_DEGREE, run->base.problem->system.b,
                             run->base.problem->system.b_values, error);
}

/* -div(k grad u) = f and k du/dn = g: int f + int g = 0 is needed for a solution. */
static weft_status check_balance(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_balance balance;
    TRY(weft_bc_balance(run->base.problem->fields.bc, run->options->source, "--source", &balance,
                        error));
    weft_log(
        run->base.monitor, WEFT_LOG_INFO,
        "pure Neumann: integrals %.10g (source) and %.10g (flux), sum %.3g, accepted up to %.3g",
        balance.source, balance.flux, balance.sum, balance.bound);
    if (fabs(balance.sum) <= balance.bound)
        goto done;
    status = weft_error_set(
        error, WEFT_ERROR_INPUT,
        "with Neumann conditions alone the source and the fluxes must sum to zero, but their "
        "integrals are %.10g (--source) and %.10g (--neumann, --robin)",
        balance.source, balance.flux);
    weft_error_location(error, "--neumann", NULL, 0, 0);
    weft_error_hint(error,
                    "subtract %.10g from --source, or fix u somewhere by --dirichlet GROUP=EXPR",
                    balance.sum / weft_mesh_measure(run->base.mesh));
done:
    return status;
}

/* int k |grad u|^2 and int u, in one pass */
static weft_status integrate_once(solve *run, weft_memory *u, double sums[2], weft_error *error) {
    static const char *const names[2] = {"E", "I"};
    static const char integral[] =
        "I = quadrature_integral(interpolate(U, degree = 1), J, degree = 1);\n";
    weft_status status = WEFT_OK;
    weft_text text = {0};
    weft_bound_form form;
    const char *energy = weft_fem_script("energy.weft");
    TRY(form_cells(run, &form, error));
    weft_text_add(&text, "%s%s%s", form.form.text, energy ? energy : "", integral);
    if (text.failed)
        TRY(weft_out_of_memory(error, NULL));
    form.form.name = "energy.weft";
    form.form.text = text.data;
    weft_form_bind_input(&form, "u", u);
    TRY(weft_form_sum(&run->base.context, &form, run->base.mesh->n_cells, names, 2, sums, error));
done:
    weft_text_free(&text);
    return status;
}

/* energy = int k |grad u|^2 / 2, to which constants that weak conditions hold add nothing but rounding */
static weft_status integrate(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    double sums[2] = {0, 0}, rest[2] = {0, 0};
    weft_memory *memory = NULL;
    TRY(integrate_once(run, run->base.problem->system.u, sums, error));
    rest[0] = sums[0];
    if (run->base.problem->system.rest) {
        TRY(weft_memory_make(run->base.device,
                             (size_t)run->base.problem->fields.n_dofs * sizeof(double), &memory,
                             error));
        TRY(weft_vector_push(memory, run->base.problem->system.rest,
                             run->base.problem->fields.n_dofs, error));
        TRY(integrate_once(run, memory, rest, error));
    }
    run->base.energy = rest[0] / 2;
    run->integral_u[0] = sums[1];
done:
    weft_memory_free(&memory);
    return status;
}

static const solve_program problem = {
    .name = "poisson",
    .advice =
        {.indefinite = "the operator is not positive definite: check --diffusivity <= 0 and "
                       "ALPHA < 0 in --robin",
         .breakdown = "look at --diffusivity and --robin, or try --preconditioner none",
         .nan = "a value is not a number or too large: look at --diffusivity and ALPHA in --robin"},
    .options_read = poisson_options_read,
    .size_check = check_size,
    .state = state,
    .form_make = make_form,
    .fixed_check = check_fixed,
    .load_make = make_load,
    .balance_check = check_balance,
    .integrate = integrate,
    .plan_print = poisson_plan_print,
    .name_coefficients = name_coefficients,
    .prints_history = true};

int main(int argc, char **argv) {
    return solve_main(&problem, argc, argv);
}
