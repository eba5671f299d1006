/* Makes and solves the linear system of a problem, with its constraints. */
#include "fem/problem/advice.h"
#include "fem/problem/problem.h"

#include "fem/operator/operator.h"
#include "fem/space/layout.h"

#include <math.h>
#include <stdlib.h>

weft_status weft_problem_vectors_make(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = problem->context->device;
    const int64_t n = problem->fields.n_dofs;
    TRY(weft_vector_make(device, n, &problem->system.u_values, &problem->system.u, error));
    TRY(weft_vector_make(device, n, &problem->system.b_values, &problem->system.b, error));
    problem->system.vectors = (weft_vector_programs){
        .context = problem->context, .n = n, .share = weft_layout_share(problem->fields.layout)};
    weft_problem_describe(problem);
    const weft_solution u = weft_problem_solution(problem);
    if (!problem->mesh->part) /* which is not the body */
        weft_warn_slender(&u);
done:
    return status;
}

weft_status weft_problem_operator_make(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    const weft_form *robin = NULL;
    const int n_more = problem->forms.n_more;
    const int n = 1 + n_more + weft_bc_forms(problem->fields.bc, &robin);
    weft_form *forms = calloc((size_t)n, sizeof *forms);
    if (!forms)
        TRY(weft_out_of_memory(error, "an operator"));
    forms[0] = problem->forms.first.form;
    for (int i = 1; i < n; ++i)
        forms[i] = i <= n_more ? problem->forms.more[i - 1] : robin[i - 1 - n_more];
    TRY(weft_operator_make(problem->context, problem->system.linear.choice.assembly, forms, n, &op,
                           error));
    weft_operator_distribute(op, problem->fields.layout);
    TRY(weft_operator_assemble(op, error));
    problem->system.op = op;
    problem->system.linear.coarser = &problem->forms.coarser;
    problem->system.linear.coarsened = n == 1 + n_more && problem->forms.coarser.make ? op : NULL;
    op = NULL;
done:
    weft_operator_free(&op);
    free(forms);
    return status;
}

static bool has_values(const weft_problem *problem) {
    const weft_fields *fields = &problem->fields;
    bool found = fields->n_constrained == 0;
    for (int64_t i = 0; i < fields->n_constrained && !found; ++i)
        found = problem->system.u_values[fields->constrained[i]] != 0;
    return found;
}

void weft_problem_precompile(weft_problem *problem) {
    const weft_problem_choice *choice = &problem->system.linear.choice;
    const bool has_preconditioner = choice->preconditioner >= 0;
    const weft_preconditioner_info *info =
        has_preconditioner ? weft_preconditioner_about(choice->preconditioner) : NULL;
    const bool on_gpu =
        weft_device_limits(problem->context->device)->execution == WEFT_EXECUTION_SIMT;
    problem->system.linear.solves_once = true;
    const weft_solver_plan plan = {
        .method = choice->method,
        .has_preconditioner = has_preconditioner,
        .stays_single = on_gpu && info && info->needs_matrix && !info->any_sign &&
                        weft_operator_entries(problem->system.op) > 0,
        .projects_mean = problem->system.linear.project_mean,
        .has_values = problem->system.u_values && has_values(problem),
        .starts_full = has_preconditioner && weft_linear_full_cycles(&problem->system.linear) > 0};
    weft_solver_compile_in_background(problem->context, problem->system.op, &plan);
}

weft_system weft_problem_system(const weft_problem *problem) {
    return (weft_system){.op = problem->system.op,
                         .b = problem->system.b,
                         .u = problem->system.u,
                         .constrained = problem->fields.constrained,
                         .n_constrained = problem->fields.n_constrained};
}

/* Where a solve reads nothing but the matrix, as a rule. */
static void evict_cells(weft_problem *problem) {
    if (weft_assembly_about(problem->system.linear.choice.assembly)->stores_matrix)
        for (int i = 0; i < problem->fields.n; ++i)
            weft_space_evict(problem->fields.list[i].space);
}

weft_status weft_problem_solve_system(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_linear *linear = &problem->system.linear;
    weft_cg_options options;
    weft_system whole, system;
    const double start = weft_context_clock(problem->context);
    linear->solves_once = true;
    TRY(weft_problem_constrain(problem, error));
    whole = weft_problem_system(problem);
    system = weft_reduction_system(problem->system.reduction, &whole);
    weft_operator_release_assembly(system.op);
    evict_cells(problem);
    TRY(weft_linear_solve(linear, &whole, problem->system.reduction, problem->system.u_values,
                          &options, error));
    linear->solve_seconds =
        weft_context_clock(problem->context) - start - linear->precondition_seconds;
    const weft_solution u = weft_problem_solution(problem);
    weft_advise(&problem->system.linear, &u, system.op);
    TRY(weft_problem_release(problem, error));
    TRY(weft_held_add(&problem->system, &options, error));
    TRY(weft_linear_store_speeds(linear, error));
done:
    return status;
}

/* Work on a constant that counts as none, relative to that of each dof. */
static const double WORKLESS = 1e-8;

bool weft_problem_is_open(const weft_problem *problem) {
    const weft_assembled *system = &problem->system;
    return system->linear.project_mean || system->open.n > 0 || system->modes.n > 0;
}

bool weft_problem_is_self_adjoint(const weft_problem *problem) {
    const weft_assembled *system = &problem->system;
    return !problem->forms.is_nonlinear && system->op && system->is_symmetric &&
           system->linear.cg.outcome == WEFT_CG_CONVERGED && problem->declared.n == 0 &&
           !system->reduction && !system->rest && !weft_problem_is_open(problem) &&
           !problem->mesh->part;
}

weft_status weft_problem_solve_again(weft_problem *problem, const double *load, double *out,
                                     weft_cg_result *result, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_linear *linear = &problem->system.linear;
    const int64_t n = problem->fields.n_dofs;
    const weft_system system = weft_problem_system(problem);
    weft_cg_options options = weft_linear_options(linear, &system);
    const weft_cg_result kept = linear->cg;
    double *b = malloc((size_t)n * sizeof *b + 1), *u = malloc((size_t)n * sizeof *u + 1);
    linear->cg = (weft_cg_result){0};
    if (!b || !u)
        TRY(weft_out_of_memory(error, "a second solve"));
    options.method = linear->choice.method;
    options.restart = linear->choice.restart;
    TRY(weft_problem_more_make(problem, error));
    TRY(weft_vector_pull(system.b, b, n, error));
    TRY(weft_vector_pull(system.u, u, n, error));
    TRY(weft_vector_push(system.b, load, n, error));
    TRY(weft_memory_zero(system.u, error));
    TRY(weft_linear_repeat(linear, &system, NULL, &options, problem->system.scratch, error));
    TRY(weft_vector_pull(system.u, out, n, error));
    TRY(weft_vector_push(system.b, b, n, error));
    TRY(weft_vector_push(system.u, u, n, error));
    *result = linear->cg;
    result->history = NULL;
done:
    free(linear->cg.history);
    linear->cg = kept;
    free(b);
    free(u);
    return status;
}

/* Does the load do more than rounding of work on a mode? NULL: the dofs from first to last by steps, of a constant. */
static bool works_on(const double *load, const double *mode, weft_transient_open dofs) {
    double work = 0, size = 0;
    for (int64_t i = dofs.first; i < dofs.last; i += dofs.step) {
        work += load[i] * (mode ? mode[i] : 1);
        size += fabs(load[i] * (mode ? mode[i] : 1));
    }
    return fabs(work) > WORKLESS * size;
}

bool weft_problem_works_on_free(const weft_problem *problem, const double *load) {
    const weft_assembled *system = &problem->system;
    const int64_t n = problem->fields.n_dofs;
    const weft_transient_open all = {0, n, 1};
    bool found = system->linear.project_mean && works_on(load, NULL, all);
    for (int k = 0; k < system->open.n; ++k)
        found |= works_on(load, NULL, system->open.list[k]);
    for (int k = 0; k < system->modes.n; ++k)
        found |= works_on(load, system->modes.modes + k * n, all);
    return found;
}
