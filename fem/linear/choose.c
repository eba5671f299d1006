/* Chooses the preconditioner and the assembly by predicted time among those whose memory fits. */
#include "core/base/number.h"
#include "core/base/threads.h"
#include "core/device/device.h"
#include "fem/external/external.h"
#include "fem/linear/linear.h"
#include "fem/precondition/precondition.h"
#include "fem/space/vectors.h"

#include <math.h>
#include <string.h>

/* Is the assembly that is requested one without a matrix? */
static bool stores_no_matrix(const weft_problem_options *options) {
    return options->assembly != WEFT_AUTO &&
           !weft_assembly_about((weft_assembly)options->assembly)->stores_matrix;
}

/* Dofs of a mixed space from which on the solvers of its parts are worth their set-up. */
enum { MIXED_LEAST = 2000 };

/* Factorise the matrix of a mixed space, which for a symmetric matrix takes another method than MINRES. */
static void choose_lu(weft_linear *linear, weft_problem_memory *what, int *kind,
                      const weft_factorization_cost *cost) {
    char seconds[32];
    *kind = linear->choice.preconditioner = weft_linear_lu();
    if (what->problem.symmetric)
        weft_linear_choose_method(linear, true, true, 0);
    what->method = linear->choice.method;
    (void)weft_print(linear->choice.preconditioner_reason,
                     sizeof linear->choice.preconditioner_reason,
                     "the mixed problem is small%s, %s predicted",
                     what->problem.symmetric ? "" : " and not symmetric",
                     weft_seconds_text(cost->seconds, seconds));
}

/* Why blocks are not worth their set-up; NULL: they are. */
static const char *unblocked(const weft_linear *linear, const weft_assembly_problem *problem) {
    if (stores_no_matrix(linear->options) && !problem->lowers_degrees)
        return "the assembly stores no matrix";
    return problem->n_nodes * problem->components < MIXED_LEAST ? "the mixed problem is small"
                                                                : NULL;
}

/* The preconditioner of a mixed space, by parts unless that is not worth it. What grows with convection or else takes more
 * iterations the finer the mesh is factorised. */
static weft_status choose_mixed(weft_linear *linear, weft_problem_memory *what, int *kind,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_factorization_cost cost;
    if (weft_linear_may_factorise(linear, what->problem.n_nodes, what->problem.components, &cost) &&
        (!what->problem.symmetric || weft_linear_dofs(linear) < MIXED_LEAST)) {
        choose_lu(linear, what, kind, &cost);
        goto done;
    }
    const char *because = unblocked(linear, &what->problem);
    *kind = WEFT_JACOBI;
    if (!because)
        TRY(weft_preconditioner_find("block", kind, error));
    (void)weft_print(linear->choice.preconditioner_reason,
                     sizeof linear->choice.preconditioner_reason, "%s",
                     because ? because : "the space is mixed");
done:
    return status;
}

/* Why `auto` takes Jacobi's preconditioner without a prediction; NULL: it predicts.
 *  is_definite  the matrix is symmetric, or its symmetric part can precondition it */
const char *weft_linear_jacobi_because(const weft_problem_options *options, weft_method method,
                                       bool is_definite, bool lowers_degrees) {
    if (!is_definite)
        return "the matrix is not symmetric";
    if (method == WEFT_METHOD_MINRES)
        return "the method is MINRES";
    if (stores_no_matrix(options) &&
        !(lowers_degrees && options->assembly == WEFT_ASSEMBLY_MATRIX_FREE))
        return "the assembly stores no matrix";
    return NULL;
}

/* "0.12 s predicted, aggregation 0.35 s": all costs, the chosen one first */
static void write_reason(weft_linear *linear, const weft_preconditioner_cost *costs, int n,
                         int chosen) {
    char *reason = linear->choice.preconditioner_reason, seconds[32];
    const size_t size = sizeof linear->choice.preconditioner_reason;
    int length = weft_print(
        reason, size, "%s predicted%s", weft_seconds_text(costs[chosen].seconds, seconds),
        linear->times == 1 ? "" : " with the iterations that tuning has measured");
    for (int i = 0; i < n && length > 0 && (size_t)length < size; ++i)
        if (i != chosen)
            length += weft_print(reason + length, size - (size_t)length, ", %s %s%s", costs[i].name,
                                 weft_seconds_text(costs[i].seconds, seconds),
                                 i < chosen ? " but too much memory" : "");
}

static void log_costs(const weft_linear *linear, const weft_preconditioner_cost *costs, int n,
                      int chosen) {
    char seconds[32], set_up[32];
    for (int i = 0; i < n; ++i)
        weft_log(linear->context->monitor, WEFT_LOG_INFO,
                 "preconditioner %s: %s predicted, %s of it for its set-up, %.0f iterations%s",
                 costs[i].name, weft_seconds_text(costs[i].seconds, seconds),
                 weft_seconds_text(costs[i].set_up_seconds, set_up), costs[i].iterations,
                 i == chosen ? " (chosen)" : "");
}

/* Are the nodes of the mesh among those of u, as for multigrid on its levels? */
static bool is_continuous(const weft_linear *linear) {
    return linear->n_spaces == 0 ||
           (linear->n_spaces == 1 &&
            weft_element_has_vertices(weft_space_element(linear->spaces[0])));
}

/* The levels of multigrid are refined meshes, whose nodes are dofs. */
static weft_status check_levels(const weft_linear *linear, int kind, weft_error *error) {
    if (kind < 0 || !weft_preconditioner_about(kind)->needs_levels || is_continuous(linear) ||
        linear->n_spaces > 1 || !linear->hierarchy || linear->hierarchy->n_levels < 2)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "%s is for elements with values at the vertices of cells",
                   weft_preconditioner_about(kind)->name);
    weft_error_location(error, "--preconditioner", NULL, 0, 0);
    weft_error_hint(error, "leave it out: auto chooses another one");
    return WEFT_ERROR_UNSUPPORTED;
}

/* Choose the assembly for a preconditioner, and compare the memory with the device's. */
static weft_status try_preconditioner(weft_linear *linear, weft_problem_memory *what, int kind,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check_levels(linear, kind, error));
    linear->choice.preconditioner = what->preconditioner = kind;
    TRY(weft_problem_assembly_choose(linear->context->device, linear->options, kind, &what->problem,
                                     linear->context->monitor, &linear->choice.assembly, error));
    if (linear->needs_matrix && !weft_assembly_about(linear->choice.assembly)->stores_matrix)
        linear->choice.assembly = WEFT_ASSEMBLY_CSR;
    TRY(weft_problem_memory_check(linear->context->device, what, linear->choice.assembly,
                                  &linear->choice.bytes, error));
done:
    return status;
}

/* The same; BiCGStab instead of GMRES if that was chosen automatically and does not fit. */
static weft_status try_method(weft_linear *linear, weft_problem_memory *what, int kind,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error too_large = {0};
    const bool may_change =
        linear->options->method == WEFT_AUTO && what->method == WEFT_METHOD_GMRES;
    status = try_preconditioner(linear, what, kind, may_change ? &too_large : error);
    if (!may_change || status == WEFT_OK)
        goto done;
    if (status != WEFT_ERROR_MEMORY) {
        if (error)
            *error = too_large;
        goto done;
    }
    what->method = linear->choice.method = WEFT_METHOD_BICGSTAB;
    linear->choice.basis_is_too_large = true;
    TRY(try_preconditioner(linear, what, kind, error));
    const size_t length = strlen(linear->choice.method_reason);
    (void)weft_print(linear->choice.method_reason + length,
                     sizeof linear->choice.method_reason - length,
                     ", and the basis of GMRES does not fit into memory");
done:
    return status;
}

/* Full multigrid, which needs multigrid and CG. */
static weft_status find_full(weft_linear *linear, const weft_problem_memory *what, int *kind,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    *kind = linear->options->preconditioner;
    if (*kind == WEFT_AUTO)
        TRY(weft_preconditioner_find("multigrid", kind, error));
    if (!what->problem.symmetric || what->method != WEFT_METHOD_CG || *kind < 0 ||
        !weft_linear_is_on_levels(linear)) {
        status = weft_error_set(
            error, WEFT_ERROR_USAGE,
            weft_linear_is_on_levels(linear)
                ? "full multigrid needs a symmetric matrix, and multigrid as the preconditioner"
                : "full multigrid is for functions of degree 1");
        weft_error_location(error, "--until", NULL, 0, 0);
        weft_error_hint(error, "leave out --until, or --method and --preconditioner");
        goto done;
    }
    (void)weft_print(linear->choice.preconditioner_reason,
                     sizeof linear->choice.preconditioner_reason,
                     "as --until discretisation needs");
done:
    return status;
}

static weft_status choose_full(weft_linear *linear, weft_problem_memory *what, weft_error *error) {
    weft_status status = WEFT_OK;
    int kind = -1;
    TRY(find_full(linear, what, &kind, error));
    TRY(try_preconditioner(linear, what, kind, error));
done:
    return status;
}

/* Is there a function with continuous tangential or normal components alone? */
static bool has_mapped(const weft_linear *linear) {
    bool found = false;
    for (int i = 0; i < linear->n_spaces; ++i)
        found = found || weft_space_is_mapped(linear->spaces[i]);
    return found;
}

/* Seconds of a factorisation from which on auxiliary spaces take less, with the time to compile their kernels. */
static const double FACTORISES_FASTER = 0.2;

/* Of functions with continuous tangential or normal components alone: a factorisation, auxiliary spaces, or Jacobi. */
static weft_status choose_mapped(weft_linear *linear, const weft_problem_memory *what, int *kind,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_factorization_cost cost = {0};
    char seconds[32];
    char *reason = linear->choice.preconditioner_reason;
    const size_t size = sizeof linear->choice.preconditioner_reason;
    const bool factorises =
        weft_linear_may_factorise(linear, what->problem.n_nodes, what->problem.components, &cost);
    const bool has_spaces = what->method == WEFT_METHOD_CG && !stores_no_matrix(linear->options) &&
                            weft_element_is_shared(weft_space_element(linear->spaces[0]));
    *kind = factorises ? weft_linear_lu() : WEFT_JACOBI;
    if (factorises && (cost.seconds < FACTORISES_FASTER || !has_spaces)) {
        (void)weft_print(reason, size, "the factorisation takes %s as predicted",
                         weft_seconds_text(cost.seconds, seconds));
        goto done;
    }
    (void)weft_print(reason, size, "%s",
                     has_spaces
                         ? "functions have continuous tangential or normal components alone"
                         : "auxiliary spaces are for CG, a stored matrix, and functions that "
                           "cells share");
    if (has_spaces)
        TRY(weft_preconditioner_find("auxiliary", kind, error));
done:
    return status;
}

/* The fastest of the preconditioners with a prediction whose memory fits. */
static weft_status choose_fastest(weft_linear *linear, weft_problem_memory *what,
                                  const weft_speeds *speeds, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_preconditioner_cost costs[WEFT_COSTS_MAX];
    const bool has_levels =
        linear->hierarchy && linear->hierarchy->n_levels > 1 && is_continuous(linear);
    const bool may_factorise =
        !what->problem.symmetric &&
        weft_linear_may_factorise(linear, what->problem.n_nodes, what->problem.components,
                                  &(weft_factorization_cost){0});
    what->problem.factorisations = !may_factorise          ? 0
                                   : what->assembles_again ? fmax(what->problem.solves, 1)
                                                           : 1;
    const int n =
        weft_preconditioner_costs(weft_device_limits(linear->context->device), &what->problem,
                                  has_levels, &speeds->preconditioners, costs);
    for (int i = 0; i < n; ++i) {
        weft_error too_large = {0};
        status = try_preconditioner(linear, what, costs[i].kind, i + 1 < n ? &too_large : error);
        if (status == WEFT_ERROR_MEMORY && i + 1 < n)
            continue;
        TRY(status);
        write_reason(linear, costs, n, i);
        log_costs(linear, costs, n, i);
        break;
    }
done:
    return status;
}

static weft_status choose(weft_linear *linear, weft_problem_memory *what, const weft_speeds *speeds,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_options *options = linear->options;
    if (options->until_discretisation) {
        TRY(choose_full(linear, what, error));
        goto done;
    }
    const bool is_auto = options->preconditioner == WEFT_AUTO;
    if (linear->n_spaces > 1 && is_auto) {
        int kind = -1;
        TRY(choose_mixed(linear, what, &kind, error));
        TRY(try_method(linear, what, kind, error));
        goto done;
    }
    if (is_auto && has_mapped(linear)) {
        int kind = -1;
        TRY(choose_mapped(linear, what, &kind, error));
        TRY(try_method(linear, what, kind, error));
        goto done;
    }
    const char *because = weft_linear_jacobi_because(
        options, what->method, what->problem.symmetric || what->problem.asymmetry > 0,
        what->problem.lowers_degrees);
    if (!is_auto || because || options->earlier != WEFT_AUTO) {
        (void)weft_print(linear->choice.preconditioner_reason,
                         sizeof linear->choice.preconditioner_reason, "%s",
                         !is_auto  ? "as requested"
                         : because ? because
                                   : "as chosen before the checkpoint");
        TRY(try_method(linear, what,
                       !is_auto  ? options->preconditioner
                       : because ? WEFT_JACOBI
                                 : options->earlier,
                       error));
        goto done;
    }
    TRY(choose_fastest(linear, what, speeds, error));
done:
    return status;
}

/* Set the iterations of CG for one function, and what follows where they are ten times as many, and take as long as its set-up:
 * the fastest other preconditioner but Jacobi's, whose iterations would grow likewise. */
static void foresee(weft_linear *linear, const weft_assembly_problem *problem,
                    const weft_speeds *speeds) {
    const double times = linear->times == 1 ? 10 : 2; /* measured ones are better known */
    weft_problem_choice *choice = &linear->choice;
    weft_preconditioner_cost costs[WEFT_COSTS_MAX];
    const weft_preconditioner_cost *now = NULL, *next = NULL;
    const bool has_levels =
        linear->hierarchy && linear->hierarchy->n_levels > 1 && is_continuous(linear);
    const int n = weft_preconditioner_costs(weft_device_limits(linear->context->device), problem,
                                            has_levels, &speeds->preconditioners, costs);
    choice->expected = choice->next = choice->next_after = 0;
    for (int i = 0; i < n; ++i)
        if (costs[i].kind == choice->preconditioner)
            now = &costs[i];
        else if (!next && costs[i].kind >= 0)
            next = &costs[i];
    if (!now || choice->method != WEFT_METHOD_CG || linear->n_spaces > 1 || has_mapped(linear))
        return;
    choice->expected = now->iterations;
    if (!next || linear->options->preconditioner != WEFT_AUTO ||
        linear->options->until_discretisation ||
        (weft_preconditioner_about(next->kind)->needs_matrix &&
         !weft_assembly_about(choice->assembly)->stores_matrix))
        return;
    choice->next = next->kind;
    choice->next_after = (int)fmin(
        fmax(times * now->iterations, next->set_up_seconds / now->iteration_seconds), 1e9);
}

static bool is_on_gpu(const weft_linear *linear) {
    return weft_context_is_on_gpu(linear->context);
}

/* Is a preconditioner of another library, for ranks that are processes of MPI? */
static bool is_by_mpi(int kind) {
    weft_external_kind library;
    const char *name = kind < 0 ? "" : weft_preconditioner_about(kind)->name;
    return weft_external_find(name, &library, NULL) == WEFT_OK &&
           weft_external_about(library)->takes_ranks;
}

/* Is a preconditioner one of those that several ranks compute? */
static bool runs_on_ranks(int kind) {
    const char *name = kind < 0 ? "" : weft_preconditioner_about(kind)->name;
    return kind < 0 || strcmp(name, "multigrid") == 0 || strcmp(name, "aggregation") == 0 ||
           strcmp(name, "block") == 0 || is_by_mpi(kind);
}

/* What to take in place of what several ranks do not compute. */
static const char *advise(const char *option, const weft_problem_options *options) {
    const weft_preconditioner_info *about =
        options->preconditioner >= 0 ? weft_preconditioner_about(options->preconditioner) : NULL;
    if (strcmp(option, "--method") == 0)
        return "use bicgstab, or minres where the matrix is symmetric";
    if (strcmp(option, "--until") == 0)
        return "leave out --until, or use ranks on the host";
    if (strcmp(option, "--assembly") == 0)
        return "leave out --ranks, or use csr, lma or matrix-free";
    if (about && about->needs_host)
        return "leave out --ranks, or try " WEFT_RANKS_FACTORISE;
    return "leave out --ranks, or use jacobi, multigrid, aggregation, or block for mixed spaces; "
           "of other libraries, mpirun takes hypre and petsc";
}

weft_status weft_linear_check_ranks(const weft_linear *linear, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_options *options = linear->options;
    const char *option = NULL;
    if (linear->choice.method == WEFT_METHOD_GMRES && is_on_gpu(linear))
        option = "--method";
    if (options->until_discretisation && is_on_gpu(linear))
        option = "--until";
    if (options->preconditioner >= 0 && !runs_on_ranks(options->preconditioner))
        option = "--preconditioner";
    if (options->assembly == WEFT_ASSEMBLY_SYMMETRIC)
        option = "--assembly";
    if (!option)
        goto done;
    const char *what =
        options->assembly == WEFT_ASSEMBLY_SYMMETRIC ? weft_assembly_name(WEFT_ASSEMBLY_SYMMETRIC)
        : strcmp(option, "--method") == 0            ? "gmres and GPUs"
        : strcmp(option, "--until") == 0             ? "full multigrid and GPUs"
                                         : weft_preconditioner_about(options->preconditioner)->name;
    status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                            "several ranks do not compute with %s yet", what);
    weft_error_location(error, option, NULL, 0, 0);
    weft_error_hint(error, "%s", advise(option, options));
done:
    return status;
}

/* The limits of the whole machine of a rank, which do not depend on the number of ranks. */
static weft_limits limits_of_ranks(const weft_linear *linear) {
    const weft_limits *limits = weft_device_limits(linear->context->device);
    const bool is_bound = strcmp(weft_comm_kind(linear->context->comm), "mpi") == 0;
    return weft_limits_with_threads(limits,
                                    is_bound ? weft_threads_online() : weft_threads_available());
}

/* As without ranks, by predictions without tuning. */
static weft_status choose_kind_for_ranks(weft_linear *linear, const weft_problem_memory *what,
                                         weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_options *options = linear->options;
    weft_problem_choice *choice = &linear->choice;
    weft_preconditioner_cost costs[WEFT_COSTS_MAX];
    weft_assembly_problem problem = what->problem;
    const weft_limits limits = limits_of_ranks(linear);
    const bool has_levels =
        linear->hierarchy && linear->hierarchy->n_levels > 1 && is_continuous(linear);
    const bool is_mixed = linear->n_spaces > 1;
    const char *because =
        options->preconditioner != WEFT_AUTO ? "as requested"
        : is_mixed                           ? unblocked(linear, &problem)
                   : weft_linear_jacobi_because(options, choice->method, problem.symmetric,
                                                problem.lowers_degrees);
    int n = 0, i = 0;
    choice->preconditioner =
        options->preconditioner == WEFT_AUTO ? WEFT_JACOBI : options->preconditioner;
    if (options->until_discretisation) {
        status = find_full(linear, what, &choice->preconditioner, error);
        goto done;
    }
    if (is_mixed && !because) {
        because = "the space is mixed";
        TRY(weft_preconditioner_find("block", &choice->preconditioner, error));
    }
    if (because) {
        (void)weft_print(choice->preconditioner_reason, sizeof choice->preconditioner_reason, "%s",
                         because);
        goto done;
    }
    problem.factorisations = 0;
    n = weft_preconditioner_costs(&limits, &problem, has_levels, NULL, costs);
    while (i + 1 < n && !runs_on_ranks(costs[i].kind))
        ++i;
    choice->preconditioner = costs[i].kind;
    linear->times = 1;
    write_reason(linear, costs, n, i);
done:
    return status;
}

/* Several ranks solve by Krylov methods. What is chosen may depend on nothing that differs between them, nor on
 * their number: the first one decides. */
static weft_status choose_for_ranks(weft_linear *linear, const weft_problem_memory *what,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_options *options = linear->options;
    weft_problem_choice *choice = &linear->choice;
    if (choice->method == WEFT_METHOD_GMRES && options->method == WEFT_AUTO && is_on_gpu(linear))
        choice->method = WEFT_METHOD_BICGSTAB;
    TRY(weft_linear_check_ranks(linear, error));
    TRY(choose_kind_for_ranks(linear, what, error));
    TRY(weft_comm_broadcast(linear->context->comm, &choice->preconditioner,
                            sizeof choice->preconditioner, 0, error));
    /* on a GPU other rows than those of linear elements are added up in the order of cells from stored local matrices */
    const weft_assembly_problem *problem = &what->problem;
    const bool is_cheap = !is_on_gpu(linear) || (problem->degree <= 1 && problem->components <= 1 &&
                                                 problem->width == problem->dimension + 1);
    const bool needs_matrix = choice->preconditioner >= 0 &&
                              (!problem->lowers_degrees || is_by_mpi(choice->preconditioner)) &&
                              weft_preconditioner_about(choice->preconditioner)->needs_matrix;
    choice->assembly = options->assembly != WEFT_AUTO ? (weft_assembly)options->assembly
                       : needs_matrix                 ? WEFT_ASSEMBLY_CSR
                       : !is_cheap || (problem->lowers_degrees && choice->preconditioner >= 0)
                           ? WEFT_ASSEMBLY_MATRIX_FREE
                           : WEFT_ASSEMBLY_CSR;
    if (linear->needs_matrix && !weft_assembly_about(choice->assembly)->stores_matrix)
        choice->assembly = WEFT_ASSEMBLY_CSR;
    choice->next = choice->next_after = 0;
    choice->expected = 0;
done:
    return status;
}

static weft_status choose_alone(weft_linear *linear, const weft_problem_memory *what,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_memory complete = *what;
    weft_speeds speeds = {0};
    TRY(weft_speeds_read(linear->context->device, linear->context->monitor, &speeds, error));
    complete.problem.speeds = &speeds.assemblies;
    linear->times = 1;
    (void)weft_print(linear->forms, sizeof linear->forms, "%s", what->forms ? what->forms : "");
    if (what->forms)
        TRY(weft_iterations_read(linear->context->device, what->forms, &linear->times, error));
    complete.problem.applications *= linear->times;
    TRY(choose(linear, &complete, &speeds, error));
    foresee(linear, &complete.problem, &speeds);
done:
    return status;
}

/* Options of PETSc must not be without effect. */
static weft_status check_petsc(const weft_problem_options *options, weft_error *error) {
    int petsc = 0;
    (void)weft_preconditioner_find("petsc", &petsc, NULL);
    if (!options->petsc_options || options->preconditioner == petsc)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "PETSc's options are for the preconditioner petsc");
    weft_error_location(error, "--petsc-options", NULL, 0, 0);
    weft_error_hint(error, "add --preconditioner petsc");
    return WEFT_ERROR_USAGE;
}

weft_status weft_linear_choose(weft_linear *linear, const weft_problem_memory *what,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check_petsc(linear->options, error));
    TRY((linear->mesh && linear->mesh->part ? choose_for_ranks : choose_alone)(linear, what,
                                                                               error));
done:
    return status;
}

weft_status weft_linear_levels_pay(const weft_linear *linear, int dimension, int64_t n_nodes,
                                   double solves, bool *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = linear->context->device;
    const weft_problem_options *options = linear->options;
    const int limit = options->max_iterations;
    weft_preconditioner_cost costs[WEFT_COSTS_MAX];
    weft_speeds speeds = {0};
    const weft_limits limits =
        linear->context->comm ? limits_of_ranks(linear) : *weft_device_limits(device);
    TRY(linear->context->comm
            ? weft_assembly_speeds_read(NULL, NULL, &limits, &speeds.assemblies, error)
            : weft_speeds_read(device, NULL, &speeds, error));
    weft_assembly_problem problem = {.dimension = dimension,
                                     .width = dimension + 1,
                                     .n_nodes = n_nodes,
                                     .n_cells = (dimension == 2 ? 2 : 6) * n_nodes,
                                     .symmetric = true,
                                     .solves = fmax(solves, 1),
                                     .speeds = &speeds.assemblies};
    const double expected = weft_cg_iterations_expected(&problem, options->tolerance);
    problem.applications = problem.solves * (limit >= 0 ? fmin(limit + 2.0, expected) : expected);
    (void)weft_preconditioner_costs(&limits, &problem, true, &speeds.preconditioners, costs);
    *out = costs[0].kind >= 0 && weft_preconditioner_about(costs[0].kind)->needs_levels;
    TRY(weft_comm_broadcast(linear->context->comm, out, sizeof *out, 0, error));
done:
    return status;
}
