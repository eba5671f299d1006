/* plate: a quarter of a plate under tension, on two planes of symmetry: its corner, the mean of its stress, its supports. */
#include <stdio.h>
#include <weft_fem.h>

int main(void) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    weft_context context = {.plan = WEFT_PLAN_FUSED};
    weft_library *library = NULL;
    weft_mesh *mesh = NULL;
    weft_problem *problem = NULL;
    weft_bound_form form;
    weft_problem_report report;
    weft_probes *corner = NULL;
    weft_derive *derive = NULL;
    const weft_derived_value *stress = NULL;
    weft_problem_balance balance = {0};
    double u[2];
    const weft_problem_options options = weft_problem_options_default();
    const weft_constraint planes[] = {
        {sizeof(weft_constraint), WEFT_CONSTRAINT_SYMMETRY, .group = "left"},
        {sizeof(weft_constraint), WEFT_CONSTRAINT_SYMMETRY, .group = "bottom"}};
    const weft_condition pull = {WEFT_NEUMANN, .group = "right", .value = "1"};
    const weft_derived_quantity mean = {WEFT_DERIVE_INTEGRAL, "stress", NULL, "stress(u)[0]",
                                        "mean"};
    const double point[] = {1, 1};
    TRY(weft_device_open("auto", NULL, &context.device, &error));
    TRY(weft_fem_library_make(&library, &error));
    context.library = library;
    TRY(weft_mesh_make_square(16, &mesh, &error));
    TRY(weft_problem_make(&context, mesh, WEFT_ELEMENT_P1, 2, &problem, &error));
    const weft_space *space = weft_problem_space(problem);
    TRY(weft_form_ship(space, "elasticity.weft", weft_space_cells(space), &form, &error));
    form.form.action = "Kv";
    weft_problem_form(problem, &form.form);
    TRY(weft_problem_condition(problem, &pull, &error));
    for (int i = 0; i < 2; ++i)
        TRY(weft_problem_constraint(problem, &planes[i], &error));
    TRY(weft_problem_solve(problem, &options, &report, &error));
    TRY(weft_probes_make(&context, mesh, point, 1, &corner, &error));
    TRY(weft_problem_evaluate(problem, corner, u, &error));
    printf("corner %.5f, %.5f\n", u[0], u[1]);
    TRY(weft_problem_derive(problem, &mean, 1, NULL, &derive, &error));
    TRY(weft_derive_run(derive, 0, &error));
    (void)weft_derive_values(derive, &stress);
    printf("mean stress %.5f\n", stress->integral[0]);
    TRY(weft_problem_reactions(problem, &balance, &error));
    for (int i = 0; i < balance.reactions.n; ++i)
        printf("%s %.5f\n", balance.reactions.list[i].name, balance.reactions.list[i].sums[0]);
done:
    if (status != WEFT_OK)
        fprintf(stderr, "error: %s\n", error.message);
    weft_problem_balance_clear(&balance);
    weft_derive_free(&derive);
    weft_probes_free(&corner);
    weft_problem_free(&problem);
    weft_mesh_free(&mesh);
    weft_library_free(&library);
    weft_device_free(&context.device);
    return weft_status_exit_code(status);
}
