/* The kinds of preconditioners, and their common interface. */
#include "fem/precondition/precondition.h"

#include "core/weft_core.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const weft_preconditioner_kind *const kinds[] = {
    &weft_preconditioner_chebyshev,   &weft_preconditioner_multigrid,
    &weft_preconditioner_aggregation, &weft_preconditioner_auxiliary,
    &weft_preconditioner_block,       &weft_preconditioner_commutator,
    &weft_preconditioner_augmented,   &weft_preconditioner_hypre,
    &weft_preconditioner_petsc,       &weft_preconditioner_cholmod,
    &weft_preconditioner_lu};

enum { KINDS = sizeof kinds / sizeof *kinds };

int weft_preconditioner_count(void) {
    return KINDS;
}

const weft_preconditioner_info *weft_preconditioner_about(int kind) {
    return &kinds[kind]->info;
}

bool weft_preconditioner_is_found(int kind) {
    return !kinds[kind]->is_found || kinds[kind]->is_found(kinds[kind]);
}

weft_status weft_preconditioner_find(const char *name, int *kind, weft_error *error) {
    const char *names[KINDS];
    for (int i = 0; i < KINDS; ++i) {
        names[i] = kinds[i]->info.name;
        if (strcmp(name, names[i]) == 0) {
            *kind = i;
            return WEFT_OK;
        }
    }
    weft_error_set(error, WEFT_ERROR_USAGE, "there is no preconditioner '%s'", name);
    const char *near = weft_nearest_name(name, names, KINDS);
    if (near)
        weft_error_hint(error, "did you mean '%s'?", near);
    else
        weft_error_hint(error, "the first of them is %s", names[0]);
    return WEFT_ERROR_USAGE;
}

/* Apply it once where applications may be captured: what is made at the first application, such as arrays and
 * kernels, cannot be made during a capture. Ranks that exchange by the host capture nothing. */
static weft_status apply_once(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = preconditioner->context->device;
    const size_t bytes = (size_t)weft_operator_dofs(preconditioner->problem.op) * sizeof(double);
    weft_memory *r = NULL, *z = NULL;
    TRY(weft_memory_make(device, bytes, &r, error));
    TRY(weft_memory_make(device, bytes, &z, error));
    TRY(preconditioner->kind->apply(preconditioner, r, z, error));
done:
    weft_memory_free(&r);
    weft_memory_free(&z);
    return status;
}

/* Make the state, with the time and the memory in the report. */
static weft_status set_up(weft_preconditioner *preconditioner, weft_error *error) {
    const double start = weft_clock();
    const weft_device *device = preconditioner->context->device;
    const weft_operator *op = preconditioner->problem.op; /* NULL: of a matrix alone */
    const size_t late = op ? op->late_bytes : 0, before = weft_device_bytes(device);
    weft_status status = preconditioner->kind->make(preconditioner, error);
    if (status == WEFT_OK && weft_device_captures(device) &&
        !weft_comm_is_mixed(preconditioner->context->comm))
        status = apply_once(preconditioner, error);
    preconditioner->report.bytes =
        weft_device_bytes(device) - before - (op ? op->late_bytes - late : 0);
    preconditioner->report.set_up_seconds = weft_clock() - start;
    return status;
}

/* What a kind is where the operator stores no matrix, and its forms are known. */
static const weft_preconditioner_kind *without_matrix(const weft_preconditioner_kind *kind,
                                                      const weft_preconditioner_problem *problem) {
    if (weft_preconditioner_lowers_degrees(kind, problem))
        return &weft_preconditioner_degrees;
    return kind == &weft_preconditioner_block && weft_preconditioner_is_saddle(problem)
               ? &weft_preconditioner_saddle
               : kind;
}

weft_status weft_preconditioner_make(weft_context *context, int kind,
                                     const weft_preconditioner_problem *problem,
                                     weft_preconditioner **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_preconditioner *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    *made = (weft_preconditioner){.kind = without_matrix(kinds[kind], problem),
                                  .context = context,
                                  .problem = *problem,
                                  .report = {.kind = kind, .n_levels = 1, .complexity = 1}};
    TRY(set_up(made, error));
    *out = made;
    made = NULL;
done:
    weft_preconditioner_free(&made);
    return status;
}

void weft_preconditioner_free(weft_preconditioner **preconditioner) {
    if (!preconditioner || !*preconditioner)
        return;
    (*preconditioner)->kind->free(*preconditioner);
    free(*preconditioner);
    *preconditioner = NULL;
}

void weft_preconditioner_keep_report(weft_preconditioner *preconditioner) {
    if (!preconditioner)
        return;
    preconditioner->kind->free(preconditioner);
    preconditioner->problem = (weft_preconditioner_problem){0};
}

weft_status weft_preconditioner_update(weft_preconditioner *preconditioner, weft_error *error) {
    const weft_preconditioner_kind *kind = preconditioner->kind;
    preconditioner->n_solves = 0;
    preconditioner->is_reused = preconditioner->needs_update = false;
    if (!kind->update) {
        kind->free(preconditioner);
        return set_up(preconditioner, error);
    }
    const double start = weft_clock();
    const weft_status status = kind->update(preconditioner, error);
    preconditioner->report.set_up_seconds = weft_clock() - start;
    return status;
}

/* A factorization is made again, which takes as long as ten iterations with the old one, and solves for functions of every size,
 * where a residual of all shows the largest alone. */
weft_status weft_preconditioner_refresh(weft_preconditioner *preconditioner, weft_error *error) {
    const bool is_direct = preconditioner->kind->info.any_sign;
    preconditioner->is_reused = true;
    return preconditioner->needs_update || preconditioner->reads_operator || is_direct
               ? weft_preconditioner_update(preconditioner, error)
               : WEFT_OK;
}

/* More iterations than the first solve took by less than this do not count. */
enum { FEW_ITERATIONS = 4 };

int weft_preconditioner_iterations_limit(const weft_preconditioner *preconditioner) {
    return preconditioner->is_reused && preconditioner->n_solves > 0
               ? 4 * (preconditioner->first_iterations + FEW_ITERATIONS)
               : INT_MAX;
}

bool weft_preconditioner_used(weft_preconditioner *preconditioner, int iterations, bool converged) {
    if (preconditioner->n_solves++ == 0)
        preconditioner->first_iterations = iterations;
    preconditioner->needs_update =
        !converged || iterations > 2 * preconditioner->first_iterations + FEW_ITERATIONS;
    return !converged && preconditioner->is_reused;
}

static weft_status check_lists(const weft_preconditioner *preconditioner, const weft_memory *r,
                               const weft_memory *z, weft_error *error) {
    const size_t bytes = (size_t)weft_operator_dofs(preconditioner->problem.op) * sizeof(double);
    const bool is_single =
        preconditioner->kind->single && z == preconditioner->kind->single(preconditioner);
    if (weft_memory_bytes(r) < bytes || (weft_memory_bytes(z) < bytes && !is_single))
        return weft_error_set(error, WEFT_ERROR_SHAPE,
                              "the lists of a preconditioner must hold %lld doubles each",
                              (long long)(bytes / sizeof(double)));
    return WEFT_OK;
}

weft_status weft_preconditioner_apply(weft_preconditioner *preconditioner, weft_memory *r,
                                      weft_memory *z, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check_lists(preconditioner, r, z, error));
    TRY(preconditioner->kind->apply(preconditioner, r, z, error));
done:
    return status;
}

weft_status weft_preconditioner_refuse_full(const weft_preconditioner *preconditioner,
                                            weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "full multigrid needs the levels of a refined mesh, which the preconditioner %s "
                   "does not have",
                   preconditioner->kind->info.name);
    weft_error_hint(error, "use --preconditioner multigrid, with --refine");
    return WEFT_ERROR_UNSUPPORTED;
}

static weft_status check_full(const weft_preconditioner *preconditioner, int cycles, weft_memory *r,
                              weft_memory *z, weft_error *error) {
    if (!preconditioner->kind->full)
        return weft_preconditioner_refuse_full(preconditioner, error);
    if (cycles < 1 || cycles > WEFT_FULL_CYCLES_MAX)
        return weft_error_set(error, WEFT_ERROR_USAGE, "full multigrid has 1 to %d cycles a level",
                              WEFT_FULL_CYCLES_MAX);
    return check_lists(preconditioner, r, z, error);
}

weft_status weft_preconditioner_start(weft_preconditioner *preconditioner, int cycles,
                                      weft_memory *r, weft_memory *z, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check_full(preconditioner, cycles, r, z, error));
    TRY(preconditioner->kind->start(preconditioner, cycles, r, z, error));
done:
    return status;
}

weft_status weft_preconditioner_full(weft_preconditioner *preconditioner, int cycles,
                                     weft_memory *r, weft_memory *z, weft_full_report *report,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check_full(preconditioner, cycles, r, z, error));
    *report = (weft_full_report){0};
    TRY(preconditioner->kind->full(preconditioner, cycles, r, z, report, error));
done:
    return status;
}

size_t weft_preconditioner_memory_estimate(const weft_limits *limits, int kind,
                                           const weft_assembly_problem *problem) {
    const weft_operator_sizes sizes = weft_operator_sizes_of(limits, problem);
    if (problem->lowers_degrees && kinds[kind]->info.coarsens)
        return kinds[kind] == &weft_preconditioner_block ? weft_saddle_memory(&sizes, problem)
                                                         : weft_degrees_memory(&sizes, problem);
    return kinds[kind]->estimate_memory ? kinds[kind]->estimate_memory(&sizes, problem->dimension)
                                        : 0;
}

const weft_preconditioner_report *
weft_preconditioner_reported(const weft_preconditioner *preconditioner) {
    return &preconditioner->report;
}
