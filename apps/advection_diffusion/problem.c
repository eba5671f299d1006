/* Fills in the problem: its formulas, the space, the conditions and the probes; makes the stepper. */
#include "apps/advection_diffusion/advection_diffusion.h"
#include "apps/common/fem.h"
#include "fem/space/space.h"

#include <math.h>
#include <stdlib.h>

void ad_problem_set(ad_run *run) {
    const ad_options *options = run->options;
    const ad_formulas *u = &options->velocity, *mu = &options->diffusivity;
    run->problem =
        (weft_advection_diffusion_problem){.velocity = u->list,
                                           .n_velocity = ad_formulas_vanish(u) ? 0 : u->n,
                                           .diffusivity = mu->list,
                                           .n_diffusivity = ad_formulas_vanish(mu) ? 0 : mu->n,
                                           .capacity = {NULL, options->capacity, "--capacity"},
                                           .source = {NULL, options->source, "--source"},
                                           .initial = {NULL, options->initial, "--initial"},
                                           .preconditioner = options->run.solver.preconditioner,
                                           .smoother_degree = options->run.solver.smoother_degree,
                                           .dt = options->dt,
                                           .theta = options->theta,
                                           .splitting = (weft_splitting)options->splitting,
                                           .runge_kutta = (weft_runge_kutta)options->runge_kutta,
                                           .lumped = options->lumped,
                                           .reassemble = options->reassemble,
                                           .tolerance = options->run.solver.tolerance};
}

/* ---- what the options say against what the mesh has ------------------------------------------ */

static weft_status refuse_dimension(const char *option, int n, int d, const char *write,
                                    weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%d expressions, but the mesh has %d dimensions", n, d);
    weft_error_location(error, option, NULL, 0, 0);
    weft_error_hint(error, "write %s", write);
    return WEFT_ERROR_USAGE;
}

static weft_status check_formulas(const ad_run *run, weft_error *error) {
    const int d = run->base.mesh->dimension;
    const ad_formulas *u = &run->options->velocity, *mu = &run->options->diffusivity;
    if (u->n > 0 && (u->n != d || u->n_rows != 1))
        return refuse_dimension("--velocity", u->n, d,
                                d == 2 ? "--velocity EXPR,EXPR" : "--velocity EXPR,EXPR,EXPR",
                                error);
    if (mu->n > 1 && (mu->n != d * d || mu->n_rows != d))
        return refuse_dimension(
            "--diffusivity", mu->n, d,
            d == 2 ? "--diffusivity EXPR, or 'E11,E12;E21,E22'"
                   : "--diffusivity EXPR, or 'E11,E12,E13;E21,E22,E23;E31,E32,E33'",
            error);
    return WEFT_OK;
}

static weft_status find_probes(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_probes *probes = &run->base.points;
    TRY(app_probes_find(&run->options->run.probes, run->base.mesh, &run->base.points, error));
    run->probe_cells = calloc((size_t)probes->n + 1, sizeof *run->probe_cells);
    run->probe_weights = calloc((size_t)probes->n + 1, sizeof *run->probe_weights);
    if (!run->probe_cells || !run->probe_weights)
        TRY(weft_out_of_memory(error, NULL));
    TRY(app_probes_locate(probes, run->base.device, run->base.mesh, run->probe_cells,
                          run->probe_weights, error));
done:
    return status;
}

static weft_status make_space(const ad_run *run, const weft_mesh *mesh, weft_mesh_copies *copies,
                              weft_space **out, weft_error *error) {
    return weft_space_make_with(run->base.device, mesh, copies, WEFT_ELEMENT_P1, 1, out, error);
}

weft_status ad_dofs_make(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check_formulas(run, error));
    if (ad_is_first(run)) {
        TRY(find_probes(run, error));
        TRY(make_space(run, run->base.mesh, &run->base.mesh_made.copies,
                       &run->base.problem->fields.space, error));
        weft_problem_count_fields(run->base.problem);
    }
    if (run->part.comm)
        TRY(make_space(run, run->part.mesh, NULL, &run->part.space, error));
    run->problem.space = run->part.comm ? run->part.space : run->base.problem->fields.space;
    run->problem.hierarchy = run->base.mesh_made.hierarchy;
    run->problem.max_iterations =
        weft_linear_iterations_limit(&run->options->run.solver, run->base.mesh);
    TRY(app_pieces_make(&run->options->run.conditions, ad_mesh(run), 1, &run->base.pieces, error));
    run->problem.conditions = run->base.pieces.list;
    run->problem.n_conditions = run->base.pieces.n;
    run->values = weft_array_make((size_t)run->base.mesh->n_nodes, sizeof *run->values);
    if (!run->values)
        TRY(weft_out_of_memory(error, NULL));
done:
    return status;
}

weft_status ad_coefficients_check(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const ad_options *options = run->options;
    weft_step_limits *limits = &run->limits;
    const weft_monitor *monitor = run->base.monitor;
    TRY(weft_advection_diffusion_check(ad_context(run), &run->problem, limits, error));
    if (limits->cfl > limits->cfl_limit)
        weft_log(
            monitor, WEFT_LOG_WARNING,
            "the CFL number is %.3g, above %.3g, up to which the advection is stable: take --dt "
            "%.3g or less",
            limits->cfl, limits->cfl_limit, options->dt * limits->cfl_limit / limits->cfl * 0.99);
    if (options->dt > limits->dt_diffusion)
        weft_log(
            monitor, WEFT_LOG_WARNING,
            "with --theta %g the diffusion is surely stable only up to --dt %.3g; from --theta "
            "0.5 on it always is",
            options->theta, 0.99 * limits->dt_diffusion);
done:
    return status;
}

/* ---- the stepper ----------------------------------------------------------------------------- */

/* Products with the matrices per step, about. */
enum { PRODUCTS = 100 };

app_work ad_work(const ad_run *run) {
    const ad_options *options = run->options;
    return (app_work){.is_known = !options->files.checkpoint && !options->files.resume,
                      .reassembles = weft_advection_diffusion_reassembles(&run->problem),
                      .solves = options->steps,
                      .products = PRODUCTS};
}

/* The assembly named by the user, else the cheapest for the products per assembly. */
static weft_status choose_assembly(ad_run *run, weft_error *error) {
    const bool reassembles = weft_advection_diffusion_reassembles(&run->problem);
    const double products = PRODUCTS * (reassembles ? 1.0 : fmax(1, run->options->steps));
    /* symmetric, as those are that are applied most */
    weft_assembly_problem problem = weft_space_problem(run->problem.space, products);
    const weft_problem_options *options = &run->options->run.solver;
    weft_speeds speeds = {0};
    weft_status status = WEFT_OK;
    if (run->part.comm) { /* whatever the parts are */
        run->base.problem->system.linear.choice.assembly =
            options->assembly == WEFT_AUTO ? WEFT_ASSEMBLY_CSR : (weft_assembly)options->assembly;
        goto done;
    }
    TRY(weft_speeds_read(run->base.device, run->base.monitor, &speeds, error));
    problem.speeds = &speeds.assemblies;
    TRY(weft_problem_assembly_choose(run->base.device, options, options->preconditioner, &problem,
                                     run->base.monitor,
                                     &run->base.problem->system.linear.choice.assembly, error));
    if (options->preconditioner >= 0 && options->assembly == WEFT_AUTO &&
        !weft_assembly_about(run->base.problem->system.linear.choice.assembly)->stores_matrix)
        run->base.problem->system.linear.choice.assembly = WEFT_ASSEMBLY_CSR;
done:
    return status;
}

weft_status ad_stepper_make(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const ad_options *options = run->options;
    const weft_expression exact = {NULL, options->exact, "--exact"};
    if (weft_advection_diffusion_moves(&run->problem) &&
        options->reassemble == WEFT_REASSEMBLE_ONCE)
        weft_log(run->base.monitor, WEFT_LOG_WARNING,
                 "--reassemble once: the coefficients keep their values at t = 0");
    TRY(choose_assembly(run, error));
    run->problem.assembly = run->base.problem->system.linear.choice.assembly;
    TRY(weft_advection_diffusion_make(ad_context(run), &run->problem, &run->stepper, error));
    if (!ad_is_first(run))
        goto done;
    const weft_nodal_field field = {.mesh = run->base.mesh,
                                    .cells = weft_space_cells(run->base.problem->fields.space),
                                    .x = weft_space_coordinates(run->base.problem->fields.space),
                                    .u = ad_field(run)};
    TRY(weft_field_measure_make(&run->base.context, &field, options->exact ? &exact : NULL,
                                &run->measure, error));
done:
    return status;
}
