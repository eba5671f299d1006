/* Reads the options that apps which solve on a mesh share. */
#include "apps/common/fem.h"

#include <math.h>
#include <string.h>

app_run_options app_run_options_default(void) {
    return (app_run_options){
        .device = "auto", .solver = weft_problem_options_default(), .plan = WEFT_PLAN_FUSED};
}

void app_run_options_clear(app_run_options *options) {
    app_conditions_clear(&options->conditions);
    app_probes_clear(&options->probes);
    weft_arena_free(&options->texts);
    app_derived_options_clear(&options->derived);
    app_constraints_clear(&options->constraints);
    app_lines_clear(&options->lines);
}

bool app_is_silent(const app_run_options *options) {
    return options->verbosity == APP_QUIET || (options->json && strcmp(options->json, "-") == 0);
}

weft_status app_parse_assembly(const char *text, const char *other, bool *is_other,
                               weft_assembly *out, weft_error *error) {
    const char *names[WEFT_ASSEMBLIES_MOST + 1];
    int choice = weft_assembly_count();
    weft_assembly found = 0;
    if (other)
        *is_other = strcmp(text, other) == 0;
    if (!(other && *is_other) && weft_assembly_find(text, &found, NULL) != WEFT_OK) {
        for (int i = 0; i < choice; ++i)
            names[i] = weft_assembly_name((weft_assembly)i);
        names[choice] = other;
        return app_parse_choice("--assembly", text, names, choice + (other != NULL), &choice,
                                error);
    }
    *out = found;
    return WEFT_OK;
}

weft_status app_read_assembly(const app_option *row, const char *option, const char *text, void *at,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    app_run_options *options = at;
    weft_assembly assembly = 0;
    bool is_auto = false;
    (void)row, (void)option;
    TRY(app_parse_assembly(text, "auto", &is_auto, &assembly, error));
    options->solver.assembly = is_auto ? WEFT_AUTO : (int)assembly;
done:
    return status;
}

/* Choices before the kinds of weft_preconditioner. */
enum { NAMED = 3 };
static const int named[NAMED] = {WEFT_NO_PRECONDITIONER, WEFT_JACOBI, WEFT_AUTO};

weft_status app_parse_preconditioner(const char *option, const char *text, int *out,
                                     weft_error *error) {
    enum { MOST = 16 };
    const char *names[NAMED + MOST] = {"none", "jacobi", "auto"};
    const int n = weft_preconditioner_count();
    for (int i = 0; i < n && i < MOST; ++i)
        names[NAMED + i] = weft_preconditioner_about(i)->name;
    return app_parse_choice(option, text, names, NAMED + n, out, error);
}

weft_status app_read_preconditioner(const app_option *row, const char *option, const char *text,
                                    void *at, weft_error *error) {
    weft_status status = WEFT_OK;
    app_run_options *options = at;
    int choice = 0;
    (void)row;
    TRY(app_parse_preconditioner(option, text, &choice, error));
    options->solver.preconditioner = choice < NAMED ? named[choice] : choice - NAMED;
    options->mesh.levels =
        choice >= NAMED && weft_preconditioner_about(choice - NAMED)->needs_levels
            ? APP_LEVELS_BUILT_IN
            : APP_LEVELS_NONE;
done:
    return status;
}

weft_status app_read_condition(const app_option *row, const char *option, const char *text,
                               void *at, weft_error *error) {
    (void)option;
    return app_condition_read(at, (weft_condition_kind)row->low, text, error);
}

weft_status app_read_probe(const app_option *row, const char *option, const char *text, void *at,
                           weft_error *error) {
    (void)row, (void)option;
    return app_probe_read(at, text, error);
}

static weft_status read_memory(const app_option *row, const char *option, const char *text,
                               void *at, weft_error *error) {
    (void)row;
    return weft_parse_bytes(option, text, at, error);
}

static weft_status read_seconds(const app_option *row, const char *option, const char *text,
                                void *at, weft_error *error) {
    (void)row;
    return weft_parse_seconds(option, text, at, error);
}

static weft_status read_until(const app_option *row, const char *option, const char *text, void *at,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    static const char *const names[] = {"tolerance", "discretisation"};
    app_run_options *options = at;
    int choice = 0;
    (void)row;
    TRY(app_parse_choice(option, text, names, 2, &choice, error));
    options->solver.until_discretisation = choice == 1;
done:
    return status;
}

static weft_status read_method(const app_option *row, const char *option, const char *text,
                               void *at, weft_error *error) {
    weft_status status = WEFT_OK;
    app_run_options *options = at;
    const char *names[WEFT_METHODS_MOST + 1];
    const int n = weft_method_count();
    int choice = 0;
    (void)row;
    for (int i = 0; i < n; ++i)
        names[i] = weft_method_about((weft_method)i)->name;
    names[n] = "auto";
    TRY(app_parse_choice(option, text, names, n + 1, &choice, error));
    options->solver.method = choice < n ? choice : WEFT_AUTO;
done:
    return status;
}

static const char *const orderings[] = {"auto", "bisection", "metis", "none", NULL};
static const char *const exchanges[] = {"auto", "host", NULL};
static const char *const plans[] = {"fused", "unfused", NULL};

const app_option app_reading_options[] = {
    {"mesh-memory", "SIZE",
     "Memory that Gmsh or HDF5 may use to read a mesh, such as 16G (default: three quarters of the "
     "machine's memory; for files other than .geo at most 1 GB plus 64 times the size of the file)",
     APP_BY(read_memory, weft_mesh_options, memory)},
    {"mesh-time", "SECONDS",
     "Time that Gmsh or HDF5 may take (default: 3600 for FILE.geo, else 300 plus 10 per megabyte)",
     APP_BY(read_seconds, weft_mesh_options, seconds)},
    {"trust-geo", NULL,
     "Accept a FILE.geo that runs programs or writes files; by default it is refused",
     APP_FLAG(weft_mesh_options, trust_geo, true)},
    {0}};

const app_option app_program_options[] = {
    {.help = "Device and reports:"},
    {"device", "NAME",
     "auto (default: a GPU if there is one, but the host for work that is done before a GPU has "
     "started, as predicted), " APP_DEVICE_NAMES,
     APP_TEXT(app_run_options, device)},
    {"plan", "NAME", "fused (default) or unfused", APP_CHOICE(app_run_options, plan, plans)},
    {"json", "FILE|-",
     "Write the results as JSON; - is standard output, where then nothing else is printed",
     APP_TEXT(app_run_options, json)},
    {"quiet", NULL, "Print only errors", 'q', APP_FLAG(app_run_options, verbosity, APP_QUIET)},
    {"verbose", NULL,
     "Print the steps, the kernels, and of a stationary problem about twenty residuals", 'v',
     APP_FLAG(app_run_options, verbosity, APP_VERBOSE)},
    {0}};

const app_option app_mesh_options_table[] = {
    {.help = "Mesh:"},
    {"mesh", "MESH",
     "FILE.geo, .msh, .unv, .bdf, .nas, .vtk or .mesh (read by Gmsh), FILE.vtkhdf, square:N (2 N^2 "
     "triangles) or cube:N (6 N^3 tetrahedra); for form files also interval:N, quads:N and hexes:N",
     'm', APP_TEXT(app_run_options, mesh.name)},
    {"size", "H", "Mesh size for FILE.geo, in its unit",
     APP_NUMBER(app_run_options, mesh.reading.cell_size, 1e-300, HUGE_VAL)},
    {"refine", "N",
     "Halve every edge N times, 0 (default) to 12; each time a triangle becomes 4 triangles, a "
     "tetrahedron 8 tetrahedra",
     APP_INTEGER(app_run_options, mesh.refine, 0, 12)},
    {"ordering", "NAME",
     "How nodes are renumbered: bisection (of coordinates), metis, none, or auto (default): "
     "bisection for meshes read by Gmsh and for every mesh on a GPU, else none",
     APP_CHOICE(app_run_options, mesh.ordering, orderings)},
    {0}};

const app_option app_ranks_options[] = {
    {"ranks", "N",
     "Divide the mesh among N ranks, each with its share of the processors (default 1); solutions "
     "have the same bits for any number of them",
     APP_INTEGER(app_run_options, ranks, 1, 1024)},
    {"exchange", "HOW",
     "GPUs of several ranks exchange numbers: auto (default: by writing into each other's memory "
     "where they can), or host",
     APP_CHOICE(app_run_options, exchange, exchanges)},
    {"shares", "S,S,...",
     "Parts of the mesh that ranks have, which add up to 1 (default: equal ones; of devices that "
     "differ those with which each takes equally long, as predicted)",
     APP_TEXT(app_run_options, shares)},
    {0}};

const app_option app_solver_options[] = {
    {.help = "Assembly and solution:"},
    {"assembly", "NAME",
     "Storage of the matrix: auto (default: the fastest as predicted; --verbose prints the "
     "predictions), {assemblies}",
     .read = app_read_assembly},
    {"preconditioner", "NAME",
     "auto (default: jacobi, aggregation or, on refined meshes, multigrid, by predicted time; "
     "block or lu for mixed spaces and what these do not solve; block decides by the convection), "
     "jacobi, none, {preconditioners}",
     .read = app_read_preconditioner},
    {"petsc-options", "TEXT",
     "Options of the preconditioner petsc, as PETSc has them: \"-pc_type lu "
     "-pc_factor_mat_solver_type mumps\"",
     APP_TEXT(app_run_options, solver.petsc_options)},
    {"smoother-degree", "K",
     "Degree of the polynomial that chebyshev and the smoothers of multigrid use, 1 to 6",
     APP_INTEGER(app_run_options, solver.smoother_degree, 1, 6)},
    {"until", "NAME",
     "tolerance (default), or discretisation: full multigrid, which stops when the error of the "
     "solver is below the discretisation error, estimated from the levels of a refined mesh",
     .read = read_until},
    {"method", "NAME", "Krylov method: auto (default: by symmetry and definiteness), {methods}",
     .read = read_method},
    {"restart", "N", "Iterations of GMRES between restarts (default 30)",
     APP_INTEGER(app_run_options, solver.restart, 1, WEFT_RESTART_MAX)},
    {"tolerance", "T",
     "Stop when the residual is T times the right-hand side (default 1e-8), or as small as "
     "rounding allows; 0: only then",
     APP_NUMBER(app_run_options, solver.tolerance, 0, 1)},
    {"tune", "N",
     "Measure up to N of the best plans of each script, and store the fastest; store the speed of "
     "multigrid for later predictions",
     APP_INTEGER(app_run_options, solver.tune, 1, 1000)},
    {"max-iterations", "N", "Largest number of iterations (default: 10000, more for large meshes)",
     APP_INTEGER(app_run_options, solver.max_iterations, 0, 1000000000)},
    {0}};

static weft_status read_derivation(const app_option *row, const char *option, const char *text,
                                   void *at, weft_error *error) {
    (void)option;
    return app_derivation_read(at, (weft_derive_kind)row->low, text, error);
}

static weft_status read_constraint(const app_option *row, const char *option, const char *text,
                                   void *at, weft_error *error) {
    (void)option;
    return app_constraint_read(at, (app_constraint_kind)row->low, text, error);
}

const app_option app_constraint_options[] = {
    {.help = "Constraints between nodes, and points:"},
    {"periodic", "GROUP=GROUP",
     "u on one group is u at the same place of the other one; `mesh`: on the sides that "
     "Gmsh's Periodic declares; repeatable",
     APP_BY(read_constraint, app_run_options, constraints), .low = APP_PERIODIC},
    {"tie", "GROUP", "u is equal at all nodes of a group; repeatable",
     APP_BY(read_constraint, app_run_options, constraints), .low = APP_TIE},
    {"symmetry", "GROUP",
     "The normal displacement is 0 on a group, in any direction: a symmetry plane or a sliding "
     "support; repeatable",
     APP_BY(read_constraint, app_run_options, constraints), .low = APP_SYMMETRY},
    {"point-value", "X,Y[,Z]=VALUE[,VALUE...]",
     "u has a value, by a formula, at a point, or at those of a group of points; `free` leaves a "
     "component as it is; repeatable",
     APP_BY(read_constraint, app_run_options, constraints), .low = APP_POINT_VALUE},
    {"point-load", "X,Y[,Z]=VALUE[,VALUE...]",
     "A concentrated source, or force, by a formula, at a point, or at each of a group of points; "
     "repeatable",
     APP_BY(read_constraint, app_run_options, constraints), .low = APP_POINT_LOAD},
    {0}};

static const char *const projections[] = {"none", "lumped", "consistent", NULL};

const app_option app_derivation_options[] = {
    {.help = "Derived quantities, of the solution, its gradient, x and the names of the problem:"},
    {"derive", "NAME=EXPR",
     "A quantity such as 'flux = -kappa*grad(u)', written per cell into --output; other formulas "
     "may use its name; repeatable",
     APP_BY(read_derivation, app_run_options, derived), .low = WEFT_DERIVE_FIELD},
    {"integral", "NAME[@GROUP[|CELLS]]=EXPR",
     "Print an integral over the mesh or a group, such as 'heat@left = dot(flux, normal)'; of "
     "facets between cells that of the side of CELLS; repeatable",
     APP_BY(read_derivation, app_run_options, derived), .low = WEFT_DERIVE_INTEGRAL},
    {"extrema", "NAME[@GROUP[|CELLS]]=EXPR",
     "Print the least and greatest value at vertices, and where they are; repeatable",
     APP_BY(read_derivation, app_run_options, derived), .low = WEFT_DERIVE_EXTREMA},
    {0}};

const app_option app_derive_options[] = {
    {"projection", "NAME",
     "Write the quantities of --derive at nodes instead: lumped (means of the cells around a node) "
     "or consistent (L2 projection); none (default): per cell",
     APP_CHOICE(app_run_options, derived.projection, projections)},
    {"reactions", NULL,
     "Print the reaction of each Dirichlet group, the flux, or force, that keeps u at its value, "
     "and the balance with loads and exchange",
     APP_FLAG(app_run_options, derived.reactions, true)},
    {0}};

static weft_status read_line(const app_option *row, const char *option, const char *text, void *at,
                             weft_error *error) {
    (void)row, (void)option;
    return app_line_read(at, text, error);
}

const app_option app_result_options[] = {
    {.help = "Results:"},
    {"probe", "X,Y[,Z]", "Print u at a point, or at those of a group of points; repeatable",
     APP_BY(app_read_probe, app_run_options, probes)},
    {"line", "X,Y:X,Y:N=FILE.csv",
     "Write u and the quantities of --derive at N points of a line as CSV; repeatable",
     APP_BY(read_line, app_run_options, lines)},
    {"output", "FILE.vtkhdf", "Write the mesh and u; ParaView and --mesh read this file", 'o',
     APP_TEXT(app_run_options, output)},
    {"keep-unconverged", NULL, "Write --output even if the solver has not converged",
     APP_FLAG(app_run_options, keep_unconverged, true)},
    {0}};
