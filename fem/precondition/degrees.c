/* Multigrid for functions of higher degree by an operator without a matrix: levels of lower degrees on the same mesh, each with
 * the operator of its own form, and linear functions, whose stored matrix another kind takes over.
 *
 * Decision  docs/decisions/0065-multigrid-without-a-matrix.md */
#include "fem/precondition/coarse.h"
#include "fem/precondition/degree_transfer.h"
#include "fem/precondition/levels.h"

#include "core/base/fault.h"
#include "core/base/number.h"
#include "core/weft_core.h"
#include "fem/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 8, DEGREE = 2, PARTS_MAX = 3, LAST = 1 /* degree of the last level */ };

/* Down: x smoothed from zero and its residual; up: z, smoothed from before + P xc. */
typedef enum degree_step { DOWN, UP, STEPS } degree_step;

typedef struct degree_level {
    weft_coarse *coarse;     /* owner of space and op; NULL: the finest */
    const weft_space *space; /* borrowed */
    weft_operator *op;       /* borrowed */
    int32_t *constrained;    /* [n_constrained]; NULL: those of the problem */
    int64_t n_constrained;
    /* on the device: inverse diagonal, 0 at constrained dofs; the reciprocal of the bound of the eigenvalues */
    weft_memory *d, *inverse;
    weft_memory *b, *x, *r, *z;    /* [dofs]; b and z of the finest are those of apply */
    weft_degree_transfer transfer; /* to and from the next level */
    weft_eigenvalue_steps bound;
    weft_compiled programs[STEPS];
    weft_operator_in_script operators[STEPS];
} degree_level;

typedef struct degrees {
    weft_preconditioner *preconditioner;
    degree_level levels[LEVELS_MAX]; /* [n]; the last is linear, and `inner` solves on it */
    int n;
    weft_preconditioner
        *inner;  /* of the last level, or of each component of it, if they are alike */
    int n_parts; /* components that `inner` is applied to one by one; 0: it takes all */
    weft_memory *part_b[PARTS_MAX], *part_z[PARTS_MAX], *units[PARTS_MAX];
    weft_compiled split, join;
    weft_shared_buffers *buffers; /* of the programs of all levels */
} degrees;

static void level_clear(degree_level *level) {
    weft_eigenvalue_steps_clear(&level->bound);
    for (int i = 0; i < STEPS; ++i) {
        weft_compiled_free(&level->programs[i]);
        weft_operator_in_script_free(&level->operators[i]);
    }
    weft_memory **memories[] = {&level->d, &level->inverse, &level->b,
                                &level->x, &level->r,       &level->z};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
    weft_degree_transfer_clear(&level->transfer);
    free(level->constrained);
    weft_coarse_free(&level->coarse);
}

static void degrees_free(weft_preconditioner *preconditioner) {
    degrees *state = preconditioner->state;
    if (!state)
        return;
    weft_preconditioner_free(&state->inner);
    weft_compiled_free(&state->split);
    weft_compiled_free(&state->join);
    for (int k = 0; k < PARTS_MAX; ++k) {
        weft_memory_free(&state->part_b[k]);
        weft_memory_free(&state->part_z[k]);
        weft_memory_free(&state->units[k]);
    }
    for (int i = 0; i < state->n; ++i)
        level_clear(&state->levels[i]);
    weft_shared_buffers_free(&state->buffers);
    free(state);
    preconditioner->state = NULL;
}

/* ---- the scripts ---- */

static void write_smoothing(weft_text *text, degree_step step, int degree) {
    weft_text_add(text, "index fine plain;\noperator A over fine;\n"
                        "input b, d : real over fine;\ninput inverse : real;\n");
    if (step == UP)
        weft_text_add(text, "input x0 : real over fine;\n");
    weft_chebyshev_append(text, degree, step == DOWN, false);
    if (step == DOWN)
        weft_text_add(text, "split;\nr = select(d > 0, b - apply(A, x), 0);\nreturn r;\n");
    weft_text_add(text, "return x;\n");
}

static weft_status compile_smoothing(degrees *state, int i, degree_step step, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = state->preconditioner->context;
    degree_level *level = &state->levels[i];
    const int wanted = state->preconditioner->problem.degree;
    weft_text text = {0};
    write_smoothing(&text, step, wanted > 0 ? wanted : DEGREE);
    if (text.failed)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    const weft_fragment fragment = {step == DOWN ? "degree_down.weft" : "degree_up.weft",
                                    text.data};
    TRY(weft_operator_in_script_make(level->op, &level->operators[step], error));
    const weft_operator_choice choice =
        weft_operator_in_script_choice(&level->operators[step], "A");
    const weft_compile_options options = {.size = sizeof options,
                                          .operators = &choice,
                                          .n_operators = 1,
                                          .predicated = weft_device_captures(context->device),
                                          .elements = weft_operator_dofs(level->op)};
    TRY(weft_compiled_make(context, &fragment, 1, &options, &level->programs[step], error));
    weft_program *program = level->programs[step].program;
    weft_program_share_buffers(program, state->buffers);
    TRY(weft_program_size(program, "fine", weft_operator_dofs(level->op), error));
    TRY(weft_program_bind(program, "d", level->d, error));
    TRY(weft_program_bind(program, "inverse", level->inverse, error));
    TRY(weft_program_bind(program, step == DOWN ? "x" : "x0", level->x, error));
    if (step == DOWN)
        TRY(weft_program_bind(program, "r", level->r, error));
    TRY(weft_operator_in_script_bind(&level->operators[step], program, "A", error));
done:
    weft_text_free(&text);
    return status;
}

static weft_status compile(degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i + 1 < state->n; ++i) {
        degree_level *level = &state->levels[i], *next = level + 1;
        const weft_degree_lists lists = {.fine_d = level->d,
                                         .coarse_d = next->d,
                                         .r = level->r,
                                         .b = next->b,
                                         .x = level->x,
                                         .z = next->z};
        TRY(compile_smoothing(state, i, DOWN, error));
        TRY(weft_degree_transfer_compile(&level->transfer, &lists, error));
        TRY(compile_smoothing(state, i, UP, error));
    }
done:
    return status;
}

/* ---- levels ---- */

/* Dofs of a level, also where its space has one component for all. */
static int64_t count_dofs(const degrees *state, int i) {
    return weft_space_nodes(state->levels[i].space) * weft_space_components(state->levels[0].space);
}

/* 3 -> 2 -> 1: half, rounded up */
static int next_degree(int degree) {
    return (degree + 1) / 2;
}

static weft_preconditioner_problem problem_of(const degrees *state, const degree_level *level) {
    weft_preconditioner_problem made = state->preconditioner->problem;
    made.op = level->op;
    made.space = level->space;
    made.coarser = NULL;
    made.full_cycles = 0;
    if (level->coarse) {
        made.constrained = level->constrained;
        made.n_constrained = level->n_constrained;
    }
    return made;
}

/* What depends on the values of the operator. */
static weft_status measure(degrees *state, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    degree_level *level = &state->levels[i];
    weft_context *context = state->preconditioner->context;
    weft_preconditioner_problem problem = problem_of(state, level);
    weft_preconditioner_level *shown = &state->preconditioner->report.levels[i];
    if (weft_fault("diagonal_unmasked"))
        problem.n_constrained = 0;
    TRY(weft_inverse_diagonal(&problem, context, level->d, error));
    TRY(weft_eigenvalue_bound(context, &level->bound, level->op, level->d, &shown->lambda, error));
    const double inverse = (weft_fault("eigenvalue_low") ? 2 : 1) / shown->lambda;
    TRY(weft_memory_write(level->inverse, 0, &inverse, sizeof inverse, error));
    *shown = (weft_preconditioner_level){.n_rows = weft_operator_dofs(level->op),
                                         .n_entries = weft_operator_entries(level->op),
                                         .lambda = shown->lambda};
done:
    return status;
}

/* Lists of a level with a coarser one. */
static weft_status make_lists(degrees *state, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    degree_level *level = &state->levels[i];
    weft_device *device = state->preconditioner->context->device;
    const size_t bytes = (size_t)weft_space_dofs(level->space) * sizeof(double);
    weft_memory **lists[] = {&level->d, &level->x, &level->r, &level->b, &level->z};
    for (int k = 0; k < (i == 0 ? 3 : 5); ++k)
        TRY(weft_memory_make(device, bytes, lists[k], error));
    TRY(weft_memory_make(device, sizeof(double), &level->inverse, error));
done:
    return status;
}

/* Are all components of a node constrained, or none? */
static bool are_alike(const degree_level *level, int components) {
    if (level->n_constrained % components != 0)
        return false;
    for (int64_t i = 0; i < level->n_constrained; ++i)
        if (level->constrained[i] !=
            level->constrained[i - i % components] + (int32_t)(i % components))
            return false;
    return level->n_constrained == 0 || level->constrained[0] % components == 0;
}

/* Make the operator of a level, in place of an earlier one. */
static weft_status make_coarse(const degrees *state, weft_coarse_form form, int degree,
                               degree_level *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_coarser *coarser = state->preconditioner->problem.coarser;
    weft_coarse_free(&out->coarse);
    TRY(coarser->make(coarser->user, form, 0, degree,
                      degree == LAST ? WEFT_ASSEMBLY_CSR : WEFT_ASSEMBLY_MATRIX_FREE, &out->coarse,
                      error));
    out->space = out->coarse->space;
    out->op = out->coarse->op;
done:
    return status;
}

/* May the last level have one matrix for all components? */
static bool may_share(const degrees *state) {
    const weft_coarser *coarser = state->preconditioner->problem.coarser;
    const int c = weft_space_components(state->levels[0].space);
    return c > 1 && c <= PARTS_MAX && coarser->is_uncoupled(coarser->user, 0);
}

/* Keep one component of the constrained dofs of the last level. */
static void take_component(degrees *state, degree_level *last) {
    const int c = state->n_parts = weft_space_components(state->levels[0].space);
    last->n_constrained /= c;
    for (int64_t i = 0; i < last->n_constrained; ++i)
        last->constrained[i] = last->constrained[i * c] / c;
}

static weft_status add_level(degrees *state, int degree, weft_error *error) {
    weft_status status = WEFT_OK;
    degree_level *fine = &state->levels[state->n - 1], *made = &state->levels[state->n++];
    const bool shares = degree == LAST && may_share(state);
    TRY(make_coarse(state, shares ? WEFT_COARSE_COMPONENT : WEFT_COARSE_PROBLEM, degree, made,
                    error));
    TRY(weft_degree_transfer_make(state->preconditioner->context, fine->space, made->space,
                                  &fine->transfer, error));
    TRY(weft_degree_transfer_constrained(&fine->transfer, fine->d, &made->constrained,
                                         &made->n_constrained, error));
    if (shares && are_alike(made, weft_space_components(fine->space))) {
        take_component(state, made);
    } else if (shares) {
        TRY(make_coarse(state, WEFT_COARSE_PROBLEM, degree, made, error));
        fine->transfer.coarse = made->space; /* of the same nodes */
    }
done:
    return status;
}

static weft_status make_last(degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    degree_level *level = &state->levels[state->n - 1];
    weft_device *device = state->preconditioner->context->device;
    const size_t bytes = (size_t)count_dofs(state, state->n - 1) * sizeof(double);
    weft_memory **lists[] = {&level->d, &level->b, &level->z};
    for (int k = 0; k < 3; ++k)
        TRY(weft_memory_make(device, bytes, lists[k], error));
done:
    return status;
}

static weft_status make_levels(degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = &state->preconditioner->problem;
    degree_level *finest = &state->levels[state->n++];
    finest->space = problem->space;
    finest->op = problem->op;
    for (int degree = weft_space_element(finest->space)->degree; degree != LAST;) {
        degree = next_degree(degree);
        TRY(make_lists(state, state->n - 1, error));
        TRY(measure(state, state->n - 1, error));
        TRY(add_level(state, degree, error));
    }
    TRY(make_last(state, error));
done:
    return status;
}

/* A mask for what the last level gets. */
static weft_status mask_last(const degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    const degree_level *last = &state->levels[state->n - 1];
    const int64_t n = count_dofs(state, state->n - 1);
    const int parts = state->n_parts > 0 ? state->n_parts : 1;
    double *mask = malloc(((size_t)n + 1) * sizeof *mask);
    if (!mask)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    for (int64_t i = 0; i < n; ++i)
        mask[i] = 1;
    for (int64_t i = 0; i < last->n_constrained * parts; ++i)
        mask[last->constrained[i / parts] * parts + i % parts] = 0;
    TRY(weft_memory_write(last->d, 0, mask, (size_t)n * sizeof *mask, error));
done:
    free(mask);
    return status;
}

/* b of the last level by components, and z of them. */
static weft_status compile_parts(degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = state->preconditioner->context;
    const degree_level *last = &state->levels[state->n - 1];
    const int n = state->n_parts;
    const int64_t nodes = weft_space_nodes(last->space);
    weft_text split = {0}, join = {0};
    weft_text_add(&split, "index nodes plain;\ninput b : real[%d] over nodes;\n", n);
    weft_text_add(&join, "index nodes plain;\n");
    for (int k = 0; k < n; ++k) {
        weft_text_add(&split, "b%d = b[%d];\nreturn b%d;\n", k, k, k);
        weft_text_add(&join, "input z%d : real over nodes;\ninput e%d : real[%d];\n", k, k, n);
    }
    for (int k = 0; k < n; ++k)
        weft_text_add(&join, "%sz%d*e%d", k == 0 ? "z = " : " + ", k, k);
    weft_text_add(&join, ";\nreturn z;\n");
    if (split.failed || join.failed)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    const weft_fragment fragments[] = {{"degree_split.weft", split.data},
                                       {"degree_join.weft", join.data}};
    const weft_compile_options options = {.size = sizeof options,
                                          .predicated = weft_device_captures(context->device),
                                          .elements = nodes};
    TRY(weft_compiled_make(context, &fragments[0], 1, &options, &state->split, error));
    TRY(weft_compiled_make(context, &fragments[1], 1, &options, &state->join, error));
    TRY(weft_program_size(state->split.program, "nodes", nodes, error));
    TRY(weft_program_size(state->join.program, "nodes", nodes, error));
    TRY(weft_program_bind(state->split.program, "b", last->b, error));
    TRY(weft_program_bind(state->join.program, "z", last->z, error));
    for (int k = 0; k < n; ++k) {
        const size_t bytes = (size_t)nodes * sizeof(double);
        double unit[PARTS_MAX] = {0};
        char b[4] = {'b', (char)('0' + k)}, z[4] = {'z', (char)('0' + k)},
             e[4] = {'e', (char)('0' + k)};
        unit[k] = 1;
        TRY(weft_memory_make(context->device, bytes, &state->part_b[k], error));
        TRY(weft_memory_make(context->device, bytes, &state->part_z[k], error));
        TRY(weft_memory_place(context->device, unit, (size_t)n, sizeof *unit, &state->units[k],
                              error));
        TRY(weft_program_bind(state->split.program, b, state->part_b[k], error));
        TRY(weft_program_bind(state->join.program, z, state->part_z[k], error));
        TRY(weft_program_bind(state->join.program, e, state->units[k], error));
    }
done:
    weft_text_free(&split);
    weft_text_free(&join);
    return status;
}

static void fill_report(degrees *state) {
    weft_preconditioner_report *report = &state->preconditioner->report;
    const weft_preconditioner_report *inner = weft_preconditioner_reported(state->inner);
    const int n = state->n - 1;
    report->degree = inner->degree;
    report->n_levels = n + inner->n_levels;
    report->complexity = inner->complexity;
    for (int i = 0; i < inner->n_levels && n + i < WEFT_PRECONDITIONER_LEVELS_MAX; ++i)
        report->levels[n + i] = inner->levels[i];
    (void)weft_print(report->detail, sizeof report->detail, "degrees %d",
                     weft_space_element(state->levels[0].space)->degree);
    for (int i = 1; i < state->n; ++i) {
        const size_t length = strlen(report->detail);
        (void)weft_print(report->detail + length, sizeof report->detail - length, ", %d",
                         weft_space_element(state->levels[i].space)->degree);
    }
}

static weft_status degrees_make(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    degrees *state = preconditioner->state = calloc(1, sizeof *state);
    if (!state)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    state->preconditioner = preconditioner;
    preconditioner->reads_operator = true;
    TRY(weft_shared_buffers_make(&state->buffers, error));
    TRY(make_levels(state, error));
    const degree_level *last = &state->levels[state->n - 1];
    const weft_preconditioner_problem linear = problem_of(state, last);
    TRY(mask_last(state, error));
    if (preconditioner->problem.is_final)
        weft_operator_release_assembly(last->op);
    TRY(weft_preconditioner_make(preconditioner->context, preconditioner->report.kind, &linear,
                                 &state->inner, error));
    fill_report(state);
    TRY(compile(state, error));
    if (state->n_parts > 0)
        TRY(compile_parts(state, error));
done:
    return status;
}

static weft_status degrees_update(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    degrees *state = preconditioner->state;
    if (weft_fault("coefficient_stale"))
        goto done;
    for (int i = 1; i < state->n; ++i)
        TRY(weft_operator_assemble(state->levels[i].op, error));
    for (int i = 0; i + 1 < state->n; ++i)
        TRY(measure(state, i, error));
    TRY(weft_preconditioner_update(state->inner, error));
    fill_report(state);
done:
    return status;
}

/* ---- the cycle ---- */

/* On linear functions. */
static weft_status solve_last(const degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    const degree_level *last = &state->levels[state->n - 1];
    weft_context *context = state->preconditioner->context;
    weft_memory *active = state->inner->active = state->preconditioner->active;
    if (state->n_parts == 0) {
        status = weft_preconditioner_apply(state->inner, last->b, last->z, error);
        goto done;
    }
    TRY(weft_compiled_run(context, &state->split, active, error));
    for (int k = 0; k < state->n_parts; ++k)
        TRY(weft_preconditioner_apply(state->inner, state->part_b[k], state->part_z[k], error));
    TRY(weft_compiled_run(context, &state->join, active, error));
done:
    return status;
}

static weft_status cycle(const degrees *state, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    const degree_level *level = &state->levels[i];
    weft_context *context = state->preconditioner->context;
    weft_memory *active = state->preconditioner->active;
    if (i + 1 == state->n) {
        status = solve_last(state, error);
        goto done;
    }
    TRY(weft_compiled_run(context, &level->programs[DOWN], active, error));
    TRY(weft_compiled_run(context, &level->transfer.restriction, active, error));
    TRY(cycle(state, i + 1, error));
    TRY(weft_compiled_run(context, &level->transfer.prolongation, active, error));
    TRY(weft_compiled_run(context, &level->programs[UP], active, error));
done:
    return status;
}

static weft_status degrees_apply(weft_preconditioner *preconditioner, weft_memory *r,
                                 weft_memory *z, weft_error *error) {
    weft_status status = WEFT_OK;
    degrees *state = preconditioner->state;
    for (int i = 0; i + 1 < state->n; ++i) {
        degree_level *level = &state->levels[i];
        weft_memory *b = i == 0 ? r : level->b;
        TRY(weft_program_bind(level->programs[DOWN].program, "b", b, error));
        TRY(weft_program_bind(level->programs[UP].program, "b", b, error));
        TRY(weft_program_bind(level->programs[UP].program, "x", i == 0 ? z : level->z, error));
    }
    TRY(cycle(state, 0, error));
done:
    return status;
}

/* ---- memory, in bytes ---- */

typedef struct shape {
    int dimension;
    bool is_simplex;
    double cells, vertices, linear_places; /* vertices per cell, of all cells */
} shape;

static shape shape_of(const weft_operator_sizes *sizes, const weft_assembly_problem *problem,
                      double side, int degree) {
    const int d = problem->dimension;
    const bool is_simplex = weft_cell_of(problem->cell)->simplex;
    return (shape){.dimension = d,
                   .is_simplex = is_simplex,
                   .cells = (double)sizes->n_padded,
                   .vertices = pow((side - 1) / degree + 1, d),
                   .linear_places = (double)sizes->n_padded * (is_simplex ? d + 1 : 1 << d)};
}

/* Nodes per cell. */
static double width_of(const shape *s, int degree) {
    double width = 1;
    for (int k = 1; k <= s->dimension; ++k)
        width *= s->is_simplex ? (double)(degree + k) / k : degree + 1;
    return width;
}

/* Linear functions of c components, with a matrix of blocks: coordinates, connectivity and its transpose, values in double and half
 * the bytes, columns; below it levels by aggregation, whose transfers have longer rows with several components. */
static double linear_memory(const shape *s, double c) {
    const double row = s->is_simplex ? (2 << s->dimension) - 1 : pow(3, s->dimension);
    const double coarser = 1 / (1 - pow(2, -s->dimension));
    return s->vertices * (16 * s->dimension + 48 + 24 * c + 14.2 * coarser * row * c * c) +
           (c > 1 ? 12 + 4 * c : 13) * s->linear_places + (c > 1 ? 290 * c * s->vertices : 0);
}

/* A level with the product computed cell by cell: lists, those that its scripts share, and one of the bounds of eigenvalues; the
 * transfer of P2 simplices, with its transpose; with one component what scatters the product, by patches or by a transposed
 * connectivity and shares, of which the estimate of the operator has a part, and on lower levels coordinates and connectivity. */
static double level_memory(const shape *s, double nodes, double c, int degree, bool is_finest) {
    const bool in_pairs = s->is_simplex && degree == 2;
    const double places = s->cells * width_of(s, degree);
    double bytes = (64 + 16 * in_pairs) * nodes * c;
    if (c == 1)
        bytes += is_finest ? 3.33 * places + (in_pairs ? 16 : 24) * nodes
                           : (8 + 4 * !in_pairs) * places + (in_pairs ? 24 : 32) * nodes;
    return is_finest ? bytes : bytes + 4 * places + (16 * c + 8 * s->dimension) * nodes;
}

size_t weft_degrees_memory(const weft_operator_sizes *sizes, const weft_assembly_problem *problem) {
    const double c = (double)sizes->n_components, d = problem->dimension;
    const double side = pow((double)sizes->n_nodes, 1 / d);
    const shape s = shape_of(sizes, problem, side, problem->degree);
    double bytes = linear_memory(&s, c);
    for (int degree = problem->degree; degree > LAST; degree = next_degree(degree))
        bytes += level_memory(&s, pow((side - 1) / problem->degree * degree + 1, d), c, degree,
                              degree == problem->degree);
    return (size_t)bytes;
}

/* Velocities of degree 2, whose components have one matrix of linear functions, and the mass of the pressure. */
size_t weft_saddle_memory(const weft_operator_sizes *sizes, const weft_assembly_problem *problem) {
    const double d = problem->dimension, n = (double)sizes->n_rows;
    const double side = pow(n / (d + pow(2, -d)), 1 / d);
    const shape s = shape_of(sizes, problem, side, 2);
    return (size_t)((s.is_simplex ? 130 : 154) * n + 2 * linear_memory(&s, 1) -
                    13 * s.linear_places);
}

bool weft_preconditioner_lowers_degrees(const weft_preconditioner_kind *kind,
                                        const weft_preconditioner_problem *problem) {
    return kind->info.coarsens && problem->coarser && problem->coarser->make &&
           !problem->is_general && problem->space && !problem->op->pattern &&
           weft_space_coarsens(problem->space);
}

const weft_preconditioner_kind weft_preconditioner_degrees = {.info = {.name = "multigrid"},
                                                              .make = degrees_make,
                                                              .update = degrees_update,
                                                              .apply = degrees_apply,
                                                              .free = degrees_free};
