/* The preconditioner of functions with continuous tangential or normal components by auxiliary spaces: a polynomial in D^-1 A,
 * corrections by the kernel of curl or div, by vectors at the nodes or the lowest degree, by the kernel again, and the
 * polynomial. The auxiliary matrices are P^T A P, solved by a cycle of aggregation, or by this preconditioner.
 *
 * Decision  docs/decisions/0080-auxiliary-spaces.md */
#include "fem/precondition/auxiliary.h"
#include "fem/precondition/cycle.h"
#include "fem/precondition/levels.h"
#include "fem/precondition/precondition.h"

#include "core/base/number.h"
#include "core/weft_core.h"
#include "fem/base/marks.h"
#include "fem/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A correction z = x + sum over the parts of P V P^T (b - A x). */
typedef struct part {
    weft_auxiliary space;
    weft_csr matrix; /* P^T A P, of which V keeps the pattern */
    weft_operator *op;
    weft_preconditioner *solver; /* V; NULL: the part is left out */
    weft_connectivity *ends;     /* rows -> columns of P */
    int32_t *indices;
    weft_memory *weights, *r, *z; /* [rows][width]; [columns] P^T of the residual, V of it */
    weft_compiled down, up;
} part;

typedef struct auxiliary_state {
    weft_preconditioner *smoother;
    part parts[WEFT_AUXILIARY_MAX];
    int n;
    weft_memory *b, *x, *y, *rest; /* [n_dofs] a copy of r, the iterate, A x, smoothed rest */
    weft_compiled residual, sum;
} auxiliary_state;

static void part_clear(part *p) {
    weft_preconditioner_free(&p->solver);
    weft_operator_free(&p->op);
    weft_csr_clear(&p->matrix);
    weft_compiled_free(&p->down);
    weft_compiled_free(&p->up);
    weft_connectivity_free(&p->ends);
    free(p->indices);
    weft_memory **memories[] = {&p->weights, &p->r, &p->z};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
    weft_auxiliary_clear(&p->space);
}

static void auxiliary_free(weft_preconditioner *preconditioner) {
    auxiliary_state *state = preconditioner->state;
    if (!state)
        return;
    weft_preconditioner_free(&state->smoother);
    for (int i = WEFT_AUXILIARY_MAX - 1; i >= 0; --i)
        part_clear(&state->parts[i]);
    weft_compiled_free(&state->residual);
    weft_compiled_free(&state->sum);
    weft_memory **memories[] = {&state->b, &state->x, &state->y, &state->rest};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
    free(state);
    preconditioner->state = NULL;
}

/* ---- auxiliary matrices ------------------------------------------------------------------------ */

/* Below this part of what the terms of a diagonal entry of P^T A P are without signs, it is rounding. */
static const double VANISHES = 1e-13;

/* Add the dofs whose diagonal entries vanish to those that are zero: functions in the kernel, as gradients where nothing but
 * their curl counts, and those of which no dof is free.
 *  is_left  are there others? */
static weft_status leave_out(const weft_csr *A, part *p, bool *is_left, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_csr *P = &p->space.P, *C = &p->matrix;
    double *sizes = calloc((size_t)C->n_rows + 1, sizeof *sizes);
    unsigned char *marks = weft_marks_of(p->space.constrained, p->space.n_constrained, C->n_rows);
    int32_t *list = malloc(((size_t)C->n_rows + 1) * sizeof *list);
    if (!sizes || !marks || !list)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    for (int64_t i = 0; i < P->n_rows; ++i) {
        const int64_t at = weft_csr_find(A, i, i);
        for (int64_t k = P->row_start[i]; k < P->row_start[i + 1] && at >= 0; ++k)
            sizes[P->columns[k]] += P->values[k] * P->values[k] * fabs(A->values[at]);
    }
    for (int64_t j = 0; j < C->n_rows; ++j) {
        const int64_t at = weft_csr_find(C, j, j);
        marks[j] |= at < 0 || !(C->values[at] > VANISHES * sizes[j]);
    }
    free(p->space.constrained);
    p->space.constrained = list;
    list = NULL;
    p->space.n_constrained = weft_marks_count(marks, C->n_rows);
    weft_marks_list(marks, C->n_rows, p->space.constrained);
    *is_left = p->space.n_constrained < C->n_rows;
done:
    free(sizes);
    free(marks);
    free(list);
    return status;
}

/* Vectors along an axis that vary along it alone have no curl, and where no side holds them the matrix is singular. What is
 * found of them is lost in P, to rounding. */
static const double SHIFT = 1e-6;

static void shift(weft_csr *C) {
    for (int64_t i = 0; i < C->n_rows; ++i) {
        const int64_t at = weft_csr_find(C, i, i);
        if (at >= 0)
            C->values[at] *= 1 + SHIFT;
    }
}

/* An operator of the matrix, with a pattern of its own. */
static weft_status make_operator(weft_preconditioner *whole, part *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = p->matrix.row_start[p->matrix.n_rows];
    weft_pattern *pattern = calloc(1, sizeof *pattern);
    if (!pattern)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    *pattern = (weft_pattern){p->matrix.n_rows, n, p->matrix.row_start, p->matrix.columns};
    p->matrix.row_start = NULL;
    p->matrix.columns = NULL;
    TRY(weft_operator_from_matrix(whole->context, &pattern, p->matrix.values, 0, &p->op, error));
    weft_csr_clear(&p->matrix);
done:
    return status;
}

/* Of a matrix C^T A C, with curls C, gradients are the null space, in which rounding is all that there is. */
static const weft_preconditioner_kind auxiliary_of_curls;

/* V of P^T A P: a cycle of aggregation, for edges this preconditioner. */
static weft_status make_solver(weft_preconditioner *whole, part *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *element = weft_space_element(p->space.space);
    const bool is_nested = element->map != WEFT_MAP_IDENTITY;
    if (is_nested)
        TRY(make_operator(whole, p, error));
    p->solver = calloc(1, sizeof *p->solver);
    if (!p->solver)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    const bool of_curls =
        p->space.map == WEFT_AUXILIARY_KERNEL || whole->kind == &auxiliary_of_curls;
    *p->solver = (weft_preconditioner){.kind = !is_nested ? &weft_preconditioner_aggregation
                                               : of_curls ? &auxiliary_of_curls
                                                          : &weft_preconditioner_auxiliary,
                                       .context = whole->context,
                                       .problem = whole->problem,
                                       .matrix = is_nested ? NULL : &p->matrix,
                                       .report = {.n_levels = 1, .complexity = 1}};
    weft_preconditioner_problem *problem = &p->solver->problem;
    problem->op = p->op;
    problem->n_pinned = 0;
    problem->space = p->space.space;
    problem->hierarchy = NULL;
    problem->n_spaces = problem->full_cycles = problem->degree = 0;
    problem->constrained = p->space.constrained;
    problem->n_constrained = p->space.n_constrained;
    problem->project_mean = !is_nested && p->space.n_constrained == 0;
    problem->coarser = NULL;
    TRY(p->solver->kind->make(p->solver, error));
    free(p->matrix.values);
    p->matrix.values = NULL;
done:
    return status;
}

/* ---- transfers --------------------------------------------------------------------------------- */

static const char *const transfer_down = "index fine plain, coarse plain;\n"
                                         "parameter w = 2;\n"
                                         "connectivity ends : fine -> coarse[w];\n"
                                         "input weights : real[w] over fine;\n"
                                         "input b, y : real over fine;\n"
                                         "residual = b - y;\n"
                                         "rc[ends] += weights*residual;\n"
                                         "return rc;\n";
static const char *const transfer_up = "index fine plain, coarse plain;\n"
                                       "parameter w = 2;\n"
                                       "connectivity ends : fine -> coarse[w];\n"
                                       "input weights : real[w] over fine;\n"
                                       "input before : real over fine;\n"
                                       "input xc : real over coarse;\n"
                                       "x = before + dot(weights, xc[ends]);\n"
                                       "return x;\n";

/* P as lists of equal length, with zeros at constrained dofs of the auxiliary space. */
static weft_status place_transfer(weft_device *device, part *p, int *width, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_csr *P = &p->space.P;
    unsigned char *is_zero =
        weft_marks_of(p->space.constrained, p->space.n_constrained, P->n_columns);
    double *weights = NULL;
    *width = weft_widest_row(P) < 2 ? 2 : weft_widest_row(P);
    const size_t n = (size_t)P->n_rows * (size_t)*width;
    p->indices = weft_array_make(n, sizeof *p->indices);
    weights = weft_array_make(n, sizeof *weights);
    if (!is_zero || !weights || !p->indices)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    for (int64_t i = 0; i < P->n_rows; ++i) {
        const int64_t first = P->row_start[i], end = P->row_start[i + 1];
        /* what fills short rows is spread, for a column with all of it would be one thread's work */
        const int32_t spare = first < end
                                  ? P->columns[first]
                                  : (int32_t)((double)i / (double)P->n_rows * (double)P->n_columns);
        for (int64_t k = first, to = i * *width; to < (i + 1) * *width; ++k, ++to) {
            p->indices[to] = k < end ? P->columns[k] : spare;
            weights[to] = k < end && !is_zero[P->columns[k]] ? P->values[k] : 0;
        }
    }
    TRY(weft_connectivity_make(device, p->indices, P->n_rows, *width, P->n_columns, &p->ends,
                               error));
    TRY(weft_memory_place(device, weights, n, sizeof *weights, &p->weights, error));
    TRY(weft_memory_make(device, (size_t)P->n_columns * sizeof(double), &p->r, error));
    TRY(weft_memory_make(device, (size_t)P->n_columns * sizeof(double), &p->z, error));
done:
    free(is_zero);
    free(weights);
    return status;
}

static weft_status compile_transfer(weft_preconditioner *whole, part *p, bool is_up,
                                    const weft_parameter *width, weft_error *error) {
    weft_status status = WEFT_OK;
    const auxiliary_state *state = whole->state;
    const weft_fragment fragment = {is_up ? "auxiliary_up.weft" : "auxiliary_down.weft",
                                    is_up ? transfer_up : transfer_down};
    const weft_compile_options options = {.size = sizeof options,
                                          .parameters = width,
                                          .n_parameters = 1,
                                          .scatter = WEFT_SCATTER_GATHERED,
                                          .predicated =
                                              weft_device_captures(whole->context->device)};
    weft_compiled *out = is_up ? &p->up : &p->down;
    TRY(weft_compiled_make(whole->context, &fragment, 1, &options, out, error));
    const weft_form_input inputs[] = {{"weights", p->weights},
                                      {is_up ? "before" : "y", is_up ? state->x : state->y},
                                      {is_up ? "x" : "rc", is_up ? state->x : p->r},
                                      {is_up ? "xc" : "b", is_up ? p->z : state->b}};
    TRY(weft_program_bind_connectivity(out->program, "ends", p->ends, error));
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; ++i)
        TRY(weft_program_bind(out->program, inputs[i].name, inputs[i].memory, error));
done:
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------- */

static weft_status make_part(weft_preconditioner *whole, const weft_csr *A, part *p,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = whole->context->device;
    int width = 0;
    bool is_left = false;
    TRY(weft_galerkin(device, A, &p->space.P, &p->matrix, error));
    TRY(leave_out(A, p, &is_left, error));
    if (!is_left) {
        weft_csr_clear(&p->matrix);
        goto done;
    }
    if (p->space.map == WEFT_AUXILIARY_AXIS)
        shift(&p->matrix);
    TRY(place_transfer(device, p, &width, error));
    weft_csr_clear(&p->space.P);
    TRY(make_solver(whole, p, error));
    const weft_parameter parameter = {"w", width};
    TRY(compile_transfer(whole, p, false, &parameter, error));
    TRY(compile_transfer(whole, p, true, &parameter, error));
done:
    return status;
}

static weft_status make_smoother(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    auxiliary_state *state = preconditioner->state;
    state->smoother = calloc(1, sizeof *state->smoother);
    if (!state->smoother)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    *state->smoother = (weft_preconditioner){.kind = &weft_preconditioner_chebyshev,
                                             .context = preconditioner->context,
                                             .problem = preconditioner->problem,
                                             .report = {.n_levels = 1, .complexity = 1}};
    TRY(state->smoother->kind->make(state->smoother, error));
done:
    return status;
}

static weft_status compile_rows(weft_preconditioner *preconditioner, const char *text,
                                weft_compiled *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragment = {"auxiliary.weft", text};
    const weft_compile_options options = {
        .size = sizeof options,
        .predicated = weft_device_captures(preconditioner->context->device)};
    TRY(weft_compiled_make(preconditioner->context, &fragment, 1, &options, out, error));
    TRY(weft_program_size(out->program, "rows", weft_operator_dofs(preconditioner->problem.op),
                          error));
done:
    return status;
}

static weft_status make_lists(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    auxiliary_state *state = preconditioner->state;
    weft_device *device = preconditioner->context->device;
    const size_t bytes = (size_t)weft_operator_dofs(preconditioner->problem.op) * sizeof(double);
    weft_memory **lists[] = {&state->b, &state->x, &state->y, &state->rest};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        TRY(weft_memory_make(device, bytes, lists[i], error));
    TRY(compile_rows(preconditioner,
                     "index rows plain;\ninput b, y : real over rows;\nr = b - y;\nreturn r;\n",
                     &state->residual, error));
    TRY(compile_rows(preconditioner,
                     "index rows plain;\ninput before, s : real over rows;\nz = before + s;\n"
                     "return z;\n",
                     &state->sum, error));
    TRY(weft_program_bind(state->residual.program, "b", state->b, error));
    TRY(weft_program_bind(state->residual.program, "y", state->y, error));
    TRY(weft_program_bind(state->residual.program, "r", state->y, error));
    TRY(weft_program_bind(state->sum.program, "before", state->x, error));
    TRY(weft_program_bind(state->sum.program, "s", state->rest, error));
done:
    return status;
}

/* "gradients by aggregation, vectors at nodes by aggregation" */
static void describe(weft_preconditioner *preconditioner) {
    const auxiliary_state *state = preconditioner->state;
    char *out = preconditioner->report.detail;
    const size_t size = sizeof preconditioner->report.detail;
    const bool is_curl =
        state->n > 0 && weft_space_element(state->parts[0].space.space)->map != WEFT_MAP_IDENTITY;
    int at = 0;
    for (int i = 0; i < state->n && i < 2 && (size_t)at < size; ++i) {
        const part *p = &state->parts[i];
        const char *name = p->space.map == WEFT_AUXILIARY_KERNEL   ? is_curl ? "curls" : "gradients"
                           : p->space.map == WEFT_AUXILIARY_LOWEST ? "the lowest degree"
                                                                   : "vectors at nodes";
        if (p->solver)
            at += weft_print(out + at, size - (size_t)at, "%s%s by %s", at > 0 ? ", " : "", name,
                             p->solver->kind->info.name);
    }
}

static weft_status check_problem(const weft_preconditioner_problem *problem, weft_error *error) {
    if (problem->space && weft_space_element(problem->space)->map != WEFT_MAP_IDENTITY)
        return WEFT_OK;
    return weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                             "the preconditioner auxiliary is for functions with continuous "
                             "tangential or normal components",
                             "use --preconditioner aggregation");
}

static weft_status auxiliary_make(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = &preconditioner->problem;
    weft_auxiliary spaces[WEFT_AUXILIARY_MAX] = {{.space = NULL}};
    weft_csr A = {0};
    double *own = NULL;
    int n = 0;
    TRY(check_problem(problem, error));
    auxiliary_state *state = preconditioner->state = calloc(1, sizeof *state);
    if (!state)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    TRY(weft_matrix_on_host(problem, &A, &own, error));
    status = weft_auxiliary_make(problem->space, problem->constrained, problem->n_constrained,
                                 spaces, &n, error);
    for (int i = 0; i < n; ++i)
        state->parts[i].space = spaces[i];
    TRY(status);
    state->n = n;
    TRY(make_smoother(preconditioner, error));
    TRY(make_lists(preconditioner, error));
    for (int i = preconditioner->kind == &auxiliary_of_curls; i < n; ++i)
        TRY(make_part(preconditioner, &A, &state->parts[i], error));
    preconditioner->report.degree = state->smoother->report.degree;
    preconditioner->report.levels[0] = state->smoother->report.levels[0];
    describe(preconditioner);
done:
    free(own);
    return status;
}

/* x = x + sum of P V P^T (b - A x) over some of the parts */
static weft_status correct(weft_preconditioner *preconditioner, int first, int end,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    auxiliary_state *state = preconditioner->state;
    bool is_any = false;
    for (int i = first; i < end; ++i)
        is_any = is_any || state->parts[i].solver;
    if (!is_any)
        goto done;
    TRY(weft_operator_apply(preconditioner->problem.op, state->x, state->y, error));
    for (int i = first; i < end; ++i) {
        part *p = &state->parts[i];
        if (!p->solver)
            continue;
        TRY(weft_program_run(p->down.program, error));
        TRY(p->solver->kind->apply(p->solver, p->r, p->z, error));
    }
    for (int i = first; i < end; ++i)
        if (state->parts[i].solver)
            TRY(weft_program_run(state->parts[i].up.program, error));
done:
    return status;
}

static weft_status auxiliary_apply(weft_preconditioner *preconditioner, weft_memory *r,
                                   weft_memory *z, weft_error *error) {
    weft_status status = WEFT_OK;
    auxiliary_state *state = preconditioner->state;
    weft_preconditioner *smoother = state->smoother;
    const size_t bytes = (size_t)weft_operator_dofs(preconditioner->problem.op) * sizeof(double);
    /* programs keep the lists that they are bound to, for what follows from these takes time */
    TRY(weft_memory_copy(state->b, r, bytes, error));
    TRY(weft_memory_copy(state->y, r, bytes, error));
    TRY(smoother->kind->apply(smoother, state->y, state->rest, error));
    TRY(weft_memory_copy(state->x, state->rest, bytes, error));
    TRY(correct(preconditioner, 0, 1, error));
    TRY(correct(preconditioner, 1, state->n, error));
    TRY(correct(preconditioner, 0, 1, error));
    TRY(weft_operator_apply(preconditioner->problem.op, state->x, state->y, error));
    TRY(weft_program_run(state->residual.program, error));
    TRY(smoother->kind->apply(smoother, state->y, state->rest, error));
    TRY(weft_program_bind(state->sum.program, "z", z, error));
    TRY(weft_program_run(state->sum.program, error));
done:
    return status;
}

static const weft_preconditioner_kind auxiliary_of_curls = {.info = {.name = "auxiliary"},
                                                            .make = auxiliary_make,
                                                            .apply = auxiliary_apply,
                                                            .free = auxiliary_free};

const weft_preconditioner_kind weft_preconditioner_auxiliary = {
    .info = {.name = "auxiliary",
             .help = "auxiliary spaces, for continuous tangential or normal components",
             .needs_matrix = true,
             .reads_points = true},
    .make = auxiliary_make,
    .apply = auxiliary_apply,
    .free = auxiliary_free,
};
