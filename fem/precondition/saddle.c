/* The preconditioner `block` of saddle points whose matrix is not stored, as Stokes' equations on Taylor and Hood's elements: multigrid on
 * lower degrees for the block A of the vectors, and for the Schur complement of the multipliers a polynomial in their mass matrix M,
 * scaled by what A has in place of the Laplacian's diagonal, the viscosity n:
 *
 *      S^-1 = -s n^1/2 p(M) n^1/2,   s: the sign of B' in A u + B' p, B u = 0
 *
 * For a symmetric matrix M is block-diagonal with |S^-1|, and for others upper triangular, with one more product of the whole operator.
 *
 * Decision  docs/decisions/0065-multigrid-without-a-matrix.md
 * Source    Wathen 1987 (bounds of D^-1 M by cell); Elman, Silvester and Wathen 2014, chapter 4 */
#include "core/base/fault.h"
#include "core/base/number.h"
#include "core/weft_core.h"
#include "fem/base/eigen.h"
#include "fem/base/memory.h"
#include "fem/base/share.h"
#include "fem/precondition/coarse.h"
#include "fem/precondition/levels.h"
#include "fem/space/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct saddle {
    weft_coarse *A, *mass;
    weft_layout *layouts[2];    /* on several ranks, of the parts; otherwise NULL */
    weft_coarse *low;           /* A's form for vectors of the multipliers' degree */
    double *laplacian;          /* [n of the second] the diagonal of a Laplacian of their degree */
    weft_preconditioner *cycle; /* of A */
    int32_t *constrained[2];    /* of the parts, in their own numbers */
    int64_t n_constrained[2];
    int64_t n[2];             /* dofs */
    weft_memory *r[2], *z[2]; /* [n] of the parts */
    weft_memory *d,
        *scale; /* [n of the second] inverse diagonal of M; n^1/2, with 0 at constrained dofs */
    weft_memory *x, *y; /* triangular: [all] the multipliers of z, else 0; A x */
    weft_memory *sign;  /* of S^-1 */
    weft_operator_in_script in_script;
    weft_compiled polynomial, subtract;
} saddle;

static void saddle_free(weft_preconditioner *preconditioner) {
    saddle *state = preconditioner->state;
    if (!state)
        return;
    weft_compiled_free(&state->polynomial);
    weft_compiled_free(&state->subtract);
    weft_operator_in_script_free(&state->in_script);
    weft_preconditioner_free(&state->cycle);
    weft_coarse_free(&state->A);
    weft_coarse_free(&state->mass);
    weft_coarse_free(&state->low);
    weft_layout_free(&state->layouts[0]);
    weft_layout_free(&state->layouts[1]);
    free(state->laplacian);
    weft_memory **lists[] = {&state->r[0],  &state->r[1], &state->z[0], &state->z[1], &state->d,
                             &state->scale, &state->x,    &state->y,    &state->sign};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        weft_memory_free(lists[i]);
    free(state->constrained[0]);
    free(state->constrained[1]);
    free(state);
    preconditioner->state = NULL;
}

/* ---- the mass of the multipliers ------------------------------------------------------------- */

/* The extreme eigenvalues of D^-1 M of the reference cell, between which those of any mesh of affine cells lie. */
static weft_status bound_mass(const weft_element *element, double *least, double *most,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_quadrature rule = {0};
    const int n = element->n_nodes;
    double *values = NULL, *M = calloc((size_t)(n * n), sizeof *M);
    TRY(weft_quadrature_make(element->cell, WEFT_SCHEME_DEFAULT, 2 * element->degree + 2, &rule,
                             error));
    values = malloc((size_t)(n * rule.n) * sizeof *values);
    if (!values || !M)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    TRY(weft_element_tabulate(element, 0, rule.n, rule.points, values, error));
    for (int p = 0; p < rule.n; ++p)
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < n; ++k)
                M[i * n + k] += rule.weights[p] * values[p * n + i] * values[p * n + k];
    for (int i = 0; i < n; ++i)
        values[i] = sqrt(M[i * n + i]);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            M[i * n + k] /= values[i] * values[k];
    weft_diagonalise(n, M, NULL);
    *least = *most = M[0];
    for (int i = 1; i < n; ++i) {
        *least = fmin(*least, M[i * n + i]);
        *most = fmax(*most, M[i * n + i]);
    }
done:
    weft_quadrature_free(&rule);
    free(values);
    free(M);
    return status;
}

/* z = sign w p(M) w r by steps of Chebyshev's iteration (of the first kind) for eigenvalues of D^-1 M between these */
static void write_polynomial(weft_text *text, int steps, double least, double most) {
    const double theta = (most + least) / 2, delta = (most - least) / 2, sigma = theta / delta;
    double rho = 1 / sigma;
    weft_text_add(text,
                  "index rows plain;\noperator M over rows;\ninput r, d, w : real over rows;\n"
                  "input sign : real;\n"
                  "r1 = w*r;\ne1 = %.17g*d*r1;\nx1 = e1;\n",
                  1 / theta);
    for (int i = 2; i <= steps; ++i) {
        const double next = 1 / (2 * sigma - rho);
        weft_text_add(text,
                      "split;\nr%d = r%d - apply(M, e%d);\n"
                      "e%d = %.17g*e%d + %.17g*d*r%d;\nx%d = x%d + e%d;\n",
                      i, i - 1, i - 1, i, next * rho, i - 1, 2 * next / delta, i, i, i - 1, i);
        rho = next;
    }
    weft_text_add(text, "z = sign*w*x%d;\nreturn z;\n", steps);
}

/* The steps after which M^-1 is known up to 5 percent: 4 on simplices, 6 on quadrilaterals, 10 on hexahedra. */
static int count_steps(double least, double most) {
    static const double ERROR = 0.05;
    const double root = sqrt(most / least);
    return root > 1 + ERROR ? (int)ceil(log(2 / ERROR) / log((root + 1) / (root - 1))) : 1;
}

static weft_status compile_polynomial(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    saddle *state = preconditioner->state;
    weft_context *context = preconditioner->context;
    const weft_element *element = weft_space_element(state->mass->space);
    double least = 0, most = 0;
    weft_text text = {0};
    TRY(bound_mass(element, &least, &most, error));
    write_polynomial(&text, count_steps(least, most), least, most);
    if (text.failed)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    const weft_fragment fragment = {"mass_inverse.weft", text.data};
    TRY(weft_operator_in_script_make(state->mass->op, &state->in_script, error));
    const weft_operator_choice choice = weft_operator_in_script_choice(&state->in_script, "M");
    const weft_compile_options options = {.size = sizeof options,
                                          .operators = &choice,
                                          .n_operators = 1,
                                          .predicated = weft_device_captures(context->device),
                                          .elements = state->n[1]};
    TRY(weft_compiled_make(context, &fragment, 1, &options, &state->polynomial, error));
    weft_program *program = state->polynomial.program;
    TRY(weft_program_size(program, "rows", state->n[1], error));
    TRY(weft_program_share(program, "rows", weft_layout_share(state->layouts[1]), error));
    const weft_form_input inputs[] = {{"r", state->r[1]},
                                      {"d", state->d},
                                      {"w", state->scale},
                                      {"sign", state->sign},
                                      {"z", state->z[1]}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; ++i)
        TRY(weft_program_bind(program, inputs[i].name, inputs[i].memory, error));
    TRY(weft_operator_in_script_bind(&state->in_script, program, "M", error));
done:
    weft_text_free(&text);
    return status;
}

/* ---- what the matrix says -------------------------------------------------------------------- */

static weft_status read_list(const weft_memory *memory, int64_t n, double **out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    double *made = malloc(((size_t)n + 1) * sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    TRY(weft_memory_read(memory, 0, made, (size_t)n * sizeof *made, error));
    *out = made;
    made = NULL;
done:
    free(made);
    return status;
}

static weft_status read_diagonal(const weft_coarse *coarse, weft_device *device, double **out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_space_dofs(coarse->space);
    weft_memory *d = NULL;
    TRY(weft_memory_make(device, (size_t)n * sizeof(double), &d, error));
    TRY(weft_operator_diagonal(coarse->op, d, error));
    TRY(read_list(d, n, out, error));
done:
    weft_memory_free(&d);
    return status;
}

/* What the viscosity is found by. */
static weft_status make_viscosity(const weft_preconditioner *preconditioner, saddle *state,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_coarser *coarser = preconditioner->problem.coarser;
    const int degree = weft_space_element(state->mass->space)->degree;
    weft_coarse *laplacian = NULL;
    const weft_coarse_request low = {
        .form = WEFT_COARSE_PROBLEM, .degree = degree, .use = WEFT_COARSE_DIAGONAL};
    const weft_coarse_request scalar = {
        .form = WEFT_COARSE_LAPLACIAN, .field = 1, .degree = degree, .use = WEFT_COARSE_DIAGONAL};
    TRY(coarser->make(coarser->user, &low, &state->low, error));
    TRY(coarser->make(coarser->user, &scalar, &laplacian, error));
    TRY(read_diagonal(laplacian, preconditioner->context->device, &state->laplacian, error));
done:
    weft_coarse_free(&laplacian);
    return status;
}

/* Is a viscosity the same at all nodes where it is known, on all ranks, but for rounding and the shapes of cells? */
static weft_status is_even(weft_comm *comm, const double *viscosity, size_t n, bool *out,
                           weft_error *error) {
    static const double EVEN = 1.5;
    weft_status status = WEFT_OK;
    double least = -INFINITY, most = 0; /* the negative of the least */
    for (size_t i = 0; i < n; ++i)
        if (viscosity[i] > 0) {
            least = fmax(least, -viscosity[i]);
            most = fmax(most, viscosity[i]);
        }
    if (comm) {
        TRY(weft_comm_maximum(comm, &least, error));
        TRY(weft_comm_maximum(comm, &most, error));
    }
    *out = most <= EVEN * -least;
done:
    return status;
}

/* Where cells of different viscosity meet, the mean over them by the diagonal of A is that of the largest, but the mass of the
 * multipliers over the viscosity is that of the smallest: 1/n is the mean of 1/n over the cells of a node, that of a cell
 * being the least at its nodes. */
static weft_status take_inverse_means(const weft_space *space, weft_layout *layout,
                                      double *viscosity, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)weft_space_nodes(space);
    const int width = weft_space_element(space)->n_nodes;
    const int64_t n_cells = weft_space_mesh(space)->n_cells;
    const int32_t *nodes = weft_space_cell_nodes(space);
    double *sums = NULL, *counts = NULL;
    bool stays = false;
    if (layout && !weft_fault("viscosity_stale")) /* rows of other ranks are not complete */
        TRY(weft_layout_update_values(layout, viscosity, error));
    TRY(is_even(weft_layout_comm(layout), viscosity, n, &stays, error));
    if (stays)
        goto done;
    sums = calloc(n + 1, sizeof *sums);
    counts = calloc(n + 1, sizeof *counts);
    if (!sums || !counts)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    for (int64_t cell = 0; cell < n_cells; ++cell) {
        const int32_t *own = nodes + cell * width;
        double least = INFINITY;
        for (int k = 0; k < width; ++k)
            if (viscosity[own[k]] > 0)
                least = fmin(least, viscosity[own[k]]);
        for (int k = 0; k < width && least < INFINITY; ++k) {
            sums[own[k]] += 1 / least;
            counts[own[k]] += 1;
        }
    }
    for (size_t i = 0; i < n; ++i)
        viscosity[i] = counts[i] > 0 ? counts[i] / sums[i] : viscosity[i];
done:
    free(sums);
    free(counts);
    return status;
}

/* The roots of the viscosity at the nodes of the multipliers: diagonals of A for vectors of their degree over those of the
 * Laplacian. */
static weft_status find_scale(const weft_preconditioner *preconditioner, const saddle *state,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_components(preconditioner->problem.spaces[0]);
    const size_t n = (size_t)state->n[1];
    double *A = NULL, *scale = malloc((n + 1) * sizeof *scale);
    if (!scale)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    TRY(read_diagonal(state->low, preconditioner->context->device, &A, error));
    for (size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (size_t k = 0; k < (size_t)c; ++k)
            sum += A[i * (size_t)c + k] / c;
        scale[i] = state->laplacian[i] > 0 && sum > 0 ? sum / state->laplacian[i] : 0;
    }
    TRY(take_inverse_means(state->mass->space, state->layouts[1], scale, error));
    for (size_t i = 0; i < n; ++i)
        scale[i] = sqrt(scale[i]);
    for (int64_t i = 0; i < state->n_constrained[1]; ++i)
        scale[state->constrained[1][i]] = 0;
    TRY(weft_memory_write(state->scale, 0, scale, n * sizeof *scale, error));
done:
    free(A);
    free(scale);
    return status;
}

/* Where nothing flows out, the eigenvalues of the Schur complement are from 0.1 to 1 of the mass; GMRES takes one to four iterations less
 * with a mean of them in place of 1, where something does up to four more. */
static const double ENCLOSED = 1.7;

/* Do the equations leave a constant of the multipliers open? */
static bool is_enclosed(const weft_preconditioner *preconditioner, const saddle *state) {
    const weft_preconditioner_problem *problem = &preconditioner->problem;
    return problem->n_pinned > 0 && problem->pinned[problem->n_pinned - 1] >= state->n[0];
}

/* Values that vary, by the numbers in the whole. */
static weft_status make_noise(const weft_preconditioner *preconditioner, const saddle *state,
                              double *p, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_layout *layout = state->layouts[1];
    weft_rank_rows rows = {0};
    if (layout)
        TRY(weft_rank_rows_make(preconditioner->context->device, layout, &rows, error));
    for (int64_t i = 0; i < state->n[1]; ++i)
        p[i] = sin(0.7 + 1.3 * (double)((rows.numbers ? rows.numbers[i] : i) % 1009));
done:
    weft_rank_rows_clear(&rows);
    return status;
}

/* The sign of B' in A u + B' p, B u: that of p.B B' p for one p. */
static weft_status find_sign(const weft_preconditioner *preconditioner, const saddle *state,
                             double *sign, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = preconditioner->problem.op;
    const size_t first = (size_t)state->n[0] * sizeof(double),
                 rest = (size_t)state->n[1] * sizeof(double);
    double *p = malloc(rest + 1), *q = NULL, sum = 0;
    if (!p)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    TRY(make_noise(preconditioner, state, p, error));
    TRY(weft_memory_zero(state->x, error));
    TRY(weft_memory_write(state->x, first, p, rest, error));
    TRY(weft_operator_apply(op, state->x, state->y, error));
    TRY(weft_memory_zero(state->x, error));
    TRY(weft_memory_copy_part(state->x, 0, state->y, 0, first, error));
    TRY(weft_operator_apply(op, state->x, state->y, error));
    TRY(weft_memory_copy_part(state->r[1], 0, state->y, first, rest, error));
    TRY(read_list(state->r[1], state->n[1], &q, error));
    TRY(weft_share_product(weft_layout_share(state->layouts[1]), p, q, state->n[1], &sum, error));
    *sign = (sum > 0 ? -1 : 1) * (is_enclosed(preconditioner, state) ? ENCLOSED : 1);
    TRY(weft_memory_zero(state->x, error));
done:
    free(p);
    free(q);
    return status;
}

/* ---- the whole --------------------------------------------------------------------------- */

static weft_status split_constrained(const weft_preconditioner_problem *problem, saddle *state,
                                     weft_error *error) {
    for (int k = 0; k < 2; ++k) {
        const int64_t first = k == 0 ? 0 : state->n[0];
        state->constrained[k] =
            malloc(((size_t)problem->n_constrained + 1) * sizeof *state->constrained[k]);
        if (!state->constrained[k])
            return weft_out_of_memory(error, "a preconditioner");
        for (int64_t i = 0; i < problem->n_constrained; ++i)
            if (problem->constrained[i] >= first && problem->constrained[i] < first + state->n[k])
                state->constrained[k][state->n_constrained[k]++] =
                    (int32_t)(problem->constrained[i] - first);
    }
    return WEFT_OK;
}

static weft_status make_lists(const weft_preconditioner *preconditioner, saddle *state,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = preconditioner->context->device;
    const size_t bytes[2] = {(size_t)state->n[0] * sizeof(double),
                             (size_t)state->n[1] * sizeof(double)};
    for (int k = 0; k < 2; ++k) {
        TRY(weft_memory_make(device, bytes[k], &state->r[k], error));
        TRY(weft_memory_make(device, bytes[k], &state->z[k], error));
    }
    TRY(weft_memory_make(device, bytes[1], &state->d, error));
    TRY(weft_memory_make(device, bytes[1], &state->scale, error));
    TRY(weft_memory_make(device, sizeof(double), &state->sign, error));
    TRY(weft_memory_make(device, bytes[0] + bytes[1], &state->x, error));
    TRY(weft_memory_make(device, bytes[0] + bytes[1], &state->y, error));
done:
    return status;
}

static weft_preconditioner_problem problem_of(const weft_preconditioner *preconditioner,
                                              const saddle *state) {
    weft_preconditioner_problem made = preconditioner->problem;
    made.op = state->A->op;
    made.space = state->A->space;
    made.spaces = NULL;
    made.n_spaces = made.full_cycles = 0;
    made.constrained = state->constrained[0];
    made.n_constrained = state->n_constrained[0];
    made.project_mean = made.is_general = false;
    return made;
}

/* What depends on the values of the operator. */
static weft_status measure(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    saddle *state = preconditioner->state;
    double sign = 1;
    TRY(find_scale(preconditioner, state, error));
    if (preconditioner->problem.is_general)
        TRY(find_sign(preconditioner, state, &sign, error));
    TRY(weft_memory_write(state->sign, 0, &sign, sizeof sign, error));
done:
    return status;
}

/* rest = r - y in the vectors */
static weft_status compile_subtract(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    saddle *state = preconditioner->state;
    const weft_fragment fragment = {"block.weft",
                                    "index rows plain;\ninput r, y : real over rows;\n"
                                    "rest = r - y;\nreturn rest;\n"};
    const weft_compile_options options = {
        .size = sizeof options,
        .elements = state->n[0],
        .predicated = weft_device_captures(preconditioner->context->device)};
    TRY(weft_compiled_make(preconditioner->context, &fragment, 1, &options, &state->subtract,
                           error));
    TRY(weft_program_size(state->subtract.program, "rows", state->n[0], error));
    TRY(weft_program_bind(state->subtract.program, "r", state->r[0], error));
    TRY(weft_program_bind(state->subtract.program, "y", state->z[0], error));
    TRY(weft_program_bind(state->subtract.program, "rest", state->r[0], error));
done:
    return status;
}

/* Of one of several ranks. */
static weft_status distribute(const weft_coarse *coarse, weft_layout **layout, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_space *space = coarse->space;
    weft_layout_free(layout);
    TRY(weft_layout_make(&space, 1, layout, error));
    weft_operator_distribute(coarse->op, *layout);
done:
    return status;
}

/* The cycle for the vectors, whose operator only it applies. */
static weft_status make_levels(weft_preconditioner *preconditioner, bool single,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = &preconditioner->problem;
    const weft_coarser *coarser = problem->coarser;
    saddle *state = preconditioner->state;
    int kind = 0;
    const bool has_levels = problem->hierarchy && problem->hierarchy->n_levels > 1;
    const weft_coarse_request A = {.form = WEFT_COARSE_PROBLEM,
                                   .degree = weft_space_element(problem->spaces[0])->degree,
                                   .use = single ? WEFT_COARSE_SINGLE : WEFT_COARSE_PRODUCT};
    weft_preconditioner_free(&state->cycle);
    weft_coarse_free(&state->A);
    TRY(coarser->make(coarser->user, &A, &state->A, error));
    state->A->op->exact = problem->op;
    TRY(distribute(state->A, &state->layouts[0], error));
    TRY(weft_preconditioner_find(has_levels ? "multigrid" : "aggregation", &kind, error));
    const weft_preconditioner_problem first = problem_of(preconditioner, state);
    TRY(weft_preconditioner_make(preconditioner->context, kind, &first, &state->cycle, error));
done:
    return status;
}

/* In single precision, or where that is refused in double. */
static weft_status make_cycle(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error why = {0};
    if (!preconditioner->problem.double_levels && !preconditioner->problem.op->layout) {
        status = make_levels(preconditioner, true, &why);
        if (status != WEFT_ERROR_UNSUPPORTED) {
            if (status != WEFT_OK && error)
                *error = why;
            goto done;
        }
        weft_log(preconditioner->context->monitor, WEFT_LOG_INFO,
                 "multigrid without a matrix in double precision: %s", why.message);
    }
    TRY(make_levels(preconditioner, false, error));
done:
    return status;
}

static weft_status describe(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    const saddle *state = preconditioner->state;
    const weft_preconditioner_report *inner = weft_preconditioner_reported(state->cycle);
    weft_preconditioner_report *report = &preconditioner->report;
    (void)weft_print(report->detail, sizeof report->detail,
                     "%s: u_0 by %s of %s, u_1 (Schur complement) by its mass matrix",
                     preconditioner->problem.is_general ? "triangular" : "diagonal",
                     weft_preconditioner_about(inner->kind)->name, inner->detail);
    report->levels[0] = (weft_preconditioner_level){.n_entries = 0};
    TRY(weft_rank_dofs(preconditioner->problem.op, &report->levels[0].n_rows, error));
done:
    return status;
}

static weft_status saddle_make(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = &preconditioner->problem;
    const weft_coarser *coarser = problem->coarser;
    weft_context *context = preconditioner->context;
    saddle *state = preconditioner->state = calloc(1, sizeof *state);
    if (!state)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    preconditioner->reads_operator = true;
    for (int k = 0; k < 2; ++k)
        state->n[k] = weft_space_dofs(problem->spaces[k]);
    TRY(split_constrained(problem, state, error));
    TRY(make_lists(preconditioner, state, error));
    const weft_coarse_request M = {.form = WEFT_COARSE_MASS,
                                   .field = 1,
                                   .degree = weft_space_element(problem->spaces[1])->degree,
                                   .use = WEFT_COARSE_MATRIX};
    TRY(coarser->make(coarser->user, &M, &state->mass, error));
    TRY(distribute(state->mass, &state->layouts[1], error));
    weft_preconditioner_problem mass = {.op = state->mass->op, .space = state->mass->space};
    TRY(weft_inverse_diagonal(&mass, context, state->d, NULL, error));
    TRY(make_viscosity(preconditioner, state, error));
    TRY(measure(preconditioner, error));
    TRY(make_cycle(preconditioner, error));
    TRY(compile_polynomial(preconditioner, error));
    TRY(compile_subtract(preconditioner, error));
    TRY(describe(preconditioner, error));
done:
    return status;
}

static weft_status saddle_update(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error why = {0};
    saddle *state = preconditioner->state;
    TRY(weft_operator_assemble(state->A->op, error));
    TRY(measure(preconditioner, error));
    status = weft_preconditioner_update(state->cycle, &why);
    if (status == WEFT_ERROR_UNSUPPORTED && state->A->op->single)
        status = make_levels(preconditioner, false, error);
    else if (status != WEFT_OK && error)
        *error = why;
done:
    return status;
}

/* ---- application ------------------------------------------------------------------------- */

static weft_status saddle_apply(weft_preconditioner *preconditioner, weft_memory *r, weft_memory *z,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    saddle *state = preconditioner->state;
    weft_context *context = preconditioner->context;
    weft_memory *active = preconditioner->active;
    const size_t first = (size_t)state->n[0] * sizeof(double),
                 rest = (size_t)state->n[1] * sizeof(double);
    TRY(weft_memory_copy_part(state->r[0], 0, r, 0, first, error));
    TRY(weft_memory_copy_part(state->r[1], 0, r, first, rest, error));
    TRY(weft_compiled_run(context, &state->polynomial, active, error));
    if (preconditioner->problem.is_general) {
        TRY(weft_memory_copy_part(state->x, first, state->z[1], 0, rest, error));
        const weft_program_product product = {state->x, state->y, NULL, active};
        TRY(weft_operator_apply_in_loop(preconditioner->problem.op, &product, error));
        TRY(weft_memory_copy_part(state->z[0], 0, state->y, 0, first, error));
        TRY(weft_compiled_run(context, &state->subtract, active, error));
    }
    state->cycle->active = active;
    TRY(weft_preconditioner_apply(state->cycle, state->r[0], state->z[0], error));
    TRY(weft_memory_copy_part(z, 0, state->z[0], 0, first, error));
    TRY(weft_memory_copy_part(z, first, state->z[1], 0, rest, error));
done:
    return status;
}

bool weft_preconditioner_is_saddle(const weft_preconditioner_problem *problem) {
    return problem->n_spaces == 2 && problem->coarser && problem->coarser->make &&
           !problem->op->pattern && problem->coarser->is_saddle(problem->coarser->user);
}

const weft_preconditioner_kind weft_preconditioner_saddle = {.info = {.name = "block"},
                                                             .make = saddle_make,
                                                             .update = saddle_update,
                                                             .apply = saddle_apply,
                                                             .free = saddle_free};
