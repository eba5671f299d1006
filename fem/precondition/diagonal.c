/* The inverse diagonal of an operator, on its device. */
#include "core/weft_core.h"
#include "fem/base/memory.h"
#include "fem/precondition/precondition.h"
#include "fem/space/layout.h"
#include "fem/sparse/lists.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

weft_status weft_diagonal_refused(int64_t dof, double value, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "the diagonal entry of dof %lld is %g, and preconditioners need positive ones",
                   (long long)dof, value);
    weft_error_hint(error, "try --preconditioner jacobi");
    return WEFT_ERROR_UNSUPPORTED;
}

/* The diagonal as doubles, where there is one by the operator in double precision. */
static weft_status compute(const weft_preconditioner_problem *problem, weft_memory *d,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = problem->op, *exact = op->exact;
    const int64_t n = weft_operator_dofs(op);
    weft_lists *lists = NULL;
    weft_memory *narrow = NULL, *all = NULL;
    if (!op->single) {
        status = weft_operator_diagonal(op, d, error);
        goto done;
    }
    if (exact) {
        const size_t bytes = (size_t)weft_operator_dofs(exact) * sizeof(double);
        TRY(weft_memory_make(op->context->device, bytes, &all, error));
        TRY(weft_operator_diagonal(exact, all, error));
        TRY(weft_memory_copy_part(d, 0, all, 0, (size_t)n * sizeof(double), error));
        goto done;
    }
    TRY(weft_lists_make(op->context->device, &lists, error));
    TRY(weft_memory_make(op->context->device, (size_t)n * sizeof(float), &narrow, error));
    TRY(weft_operator_diagonal(op, narrow, error));
    TRY(weft_lists_widen(lists, n, narrow, d, error));
done:
    weft_memory_free(&all);
    weft_memory_free(&narrow);
    weft_lists_free(&lists);
    return status;
}

/* The error of the first entry of a free dof that is not positive, which the host looks for. */
static weft_status refuse(const weft_preconditioner_problem *problem, weft_memory *d,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    enum { PIECE = 1 << 16 };
    const int64_t n = weft_operator_dofs(problem->op);
    int64_t k = 0;
    double *values = malloc(PIECE * sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "the diagonal of a preconditioner"));
    TRY(compute(problem, d, error));
    for (int64_t first = 0; first < n; first += PIECE) {
        const int64_t count = n - first < PIECE ? n - first : PIECE;
        const size_t offset = (size_t)first * sizeof *values;
        TRY(weft_memory_read(d, offset, values, (size_t)count * sizeof *values, error));
        for (int64_t i = 0; i < count; ++i) {
            const bool is_free =
                k >= problem->n_constrained || problem->constrained[k] != first + i;
            k += !is_free;
            if (is_free && !(values[i] > 0)) {
                status = weft_diagonal_refused(first + i, values[i], error);
                goto done;
            }
        }
    }
    status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                            "the diagonal of the operator is not positive");
done:
    free(values);
    return status;
}

/* The values that cg_diagonal.weft reads and writes. */
typedef struct diagonal_run {
    weft_compiled compiled;
    weft_memory *jacobi, *least, *most, *wrong;
} diagonal_run;

static weft_status run_script(diagonal_run *run, weft_context *context, weft_memory *d,
                              const weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    static const char name[] = "cg_diagonal.weft";
    static const double one = 1;
    const int64_t n = weft_operator_dofs(op);
    const weft_fragment fragment = {name, weft_fem_script(name)};
    const weft_compile_options options = {.size = sizeof options, .elements = n, .runs_once = true};
    weft_device *device = context->device;
    TRY(weft_compiled_make(context, &fragment, 1, &options, &run->compiled, error));
    TRY(weft_memory_place(device, &one, 1, sizeof one, &run->jacobi, error));
    TRY(weft_memory_make(device, sizeof one, &run->least, error));
    TRY(weft_memory_make(device, sizeof one, &run->most, error));
    TRY(weft_memory_make(device, sizeof one, &run->wrong, error));
    const weft_form_input all[] = {{"d", d},
                                   {"jacobi", run->jacobi},
                                   {"least", run->least},
                                   {"most", run->most},
                                   {"wrong", run->wrong}};
    TRY(weft_program_size(run->compiled.program, "nodes", n, error));
    TRY(weft_program_share(run->compiled.program, "nodes", weft_layout_share(op->layout), error));
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        TRY(weft_program_bind(run->compiled.program, all[i].name, all[i].memory, error));
    TRY(weft_program_run(run->compiled.program, error));
done:
    return status;
}

static void clear(diagonal_run *run) {
    weft_compiled_free(&run->compiled);
    weft_memory_free(&run->jacobi);
    weft_memory_free(&run->least);
    weft_memory_free(&run->most);
    weft_memory_free(&run->wrong);
}

weft_status weft_inverse_diagonal(const weft_preconditioner_problem *problem, weft_context *context,
                                  weft_memory *d, double *extent, weft_error *error) {
    weft_status status = WEFT_OK;
    diagonal_run run = {0};
    weft_lists *lists = NULL;
    double least = 0, wrong = 0;
    TRY(compute(problem, d, error));
    if (weft_device_limits(context->device)->records_only)
        goto done;
    if (problem->op->layout)
        TRY(weft_layout_update(problem->op->layout, d, error));
    TRY(weft_lists_make(context->device, &lists, error));
    TRY(weft_lists_set(lists, d, problem->constrained, problem->n_constrained, DBL_MAX, error));
    TRY(run_script(&run, context, d, problem->op, error));
    TRY(weft_memory_read(run.least, 0, &least, sizeof least, error));
    TRY(weft_memory_read(run.wrong, 0, &wrong, sizeof wrong, error));
    if (!(least > 0) || isnan(wrong))
        TRY(refuse(problem, d, error));
    if (extent) {
        extent[0] = least;
        TRY(weft_memory_read(run.most, 0, &extent[1], sizeof extent[1], error));
    }
done:
    weft_lists_free(&lists);
    clear(&run);
    return status;
}
