/* Multigrid for functions of higher degree by an operator without a matrix: levels of lower degrees on the same mesh, each with
 * the operator of its own form, and linear functions, whose stored matrix another kind takes over.
 *
 * Decision  docs/decisions/0065-multigrid-without-a-matrix.md */
#include "fem/precondition/coarse.h"
#include "fem/precondition/cycle.h"
#include "fem/precondition/degree_transfer.h"
#include "fem/precondition/levels.h"

#include "core/base/fault.h"
#include "core/base/number.h"
#include "core/weft_core.h"
#include "fem/base/memory.h"
#include "fem/space/layout.h"
#include "fem/sparse/lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 8, DEGREE = 2, PARTS_MAX = 3, LAST = 1 /* degree of the last level */ };

/* Down: x smoothed from zero and its residual; up: z, smoothed from before + P xc. */
typedef enum degree_step { DOWN, UP, STEPS } degree_step;

/* Lists are of doubles, or of floats with `single`. */
typedef struct degree_level {
    weft_coarse *coarse; /* owner of space and op; NULL: the finest */
    /* of the last, where it was made again: the one whose cells the transfer reads; else NULL */
    weft_coarse *first;
    const weft_space *space; /* borrowed */
    weft_operator *op;       /* borrowed */
    /* op of the finest in single precision, where the problem's is in double; else NULL */
    weft_operator *own;
    int32_t *constrained; /* [n_constrained]; NULL: those of the problem */
    int64_t n_constrained;
    /* on the device: inverse diagonal, 0 at constrained dofs; the reciprocal of the bound of the eigenvalues */
    weft_memory *d, *inverse;
    /* [dofs] right-hand side, smoothed from zero, and in one list the first step, the residual and the result, as each is read
     * before the next is written; with doubles b of the finest is that of apply, and z is */
    weft_memory *b, *x, *z;
    weft_memory *q, *s; /* [dofs] products; the first step of UP */
    weft_memory *gain;  /* of the finest, with `single`: [1] what divides z */
    int degree;
    int64_t n_nodes;
    bool is_released;              /* the last: op is not there, or cannot be assembled again */
    weft_degree_transfer transfer; /* to and from the next level */
    weft_layout *layout; /* on several ranks, of op, unless that is the problem's; else NULL */
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
    weft_shared_buffers *buffers; /* of all programs */
    /* In single precision b of the finest level is r scale / |r|, and z the result over |r|: scale, the root of a typical entry of
     * the diagonal, keeps the range of both b and D^-1 b around 1. The last level's lists are those of `inner`. */
    bool single;
    weft_lists *lists;
    weft_memory *factors; /* [2] doubles, of weft_lists_start */
    weft_memory *square;  /* r.r, where the caller has none */
    weft_compiled size;
} degrees;

static void level_clear(degree_level *level) {
    weft_eigenvalue_steps_clear(&level->bound);
    for (int i = 0; i < STEPS; ++i) {
        weft_compiled_free(&level->programs[i]);
        weft_operator_in_script_free(&level->operators[i]);
    }
    weft_memory **memories[] = {&level->d, &level->inverse, &level->b, &level->x,
                                &level->z, &level->q,       &level->s, &level->gain};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
    weft_degree_transfer_clear(&level->transfer);
    free(level->constrained);
    weft_operator_free(&level->own);
    weft_coarse_free(&level->coarse);
    weft_coarse_free(&level->first);
    weft_layout_free(&level->layout);
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
    weft_compiled_free(&state->size);
    weft_shared_buffers_free(&state->buffers);
    weft_memory_free(&state->factors);
    weft_memory_free(&state->square);
    weft_lists_free(&state->lists);
    free(state);
    preconditioner->state = NULL;
}

static weft_status refuse_single(weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                          "the levels of linear functions are in double precision");
}

/* On a GPU, whose kernels read floats as doubles. */
static weft_memory *degrees_single(const weft_preconditioner *preconditioner) {
    const degrees *state = preconditioner->state;
    const weft_limits *limits = weft_device_limits(preconditioner->context->device);
    return state->single && limits->execution == WEFT_EXECUTION_SIMT ? state->levels[0].z : NULL;
}

/* ---- the scripts ---- */

static size_t real_bytes(const degrees *state) {
    return state->single ? sizeof(float) : sizeof(double);
}

/* Of the polynomials. */
static int degree_of(const degrees *state) {
    const int wanted = state->preconditioner->problem.degree;
    return wanted > 0 ? wanted : DEGREE;
}

/* is_finest: with conversions */
static void write_smoothing(weft_text *text, degree_step step, int degree, bool is_finest) {
    const unsigned down = is_finest ? WEFT_CHEBYSHEV_STARTED : WEFT_CHEBYSHEV_FROM_ZERO;
    weft_text_add(text, "index fine plain;\noperator A over fine;\n"
                        "input b, d : real over fine;\ninput inverse : real;\n");
    if (step == UP)
        weft_text_add(text, "input x0 : real over fine;\n");
    if (is_finest)
        weft_text_add(text, step == DOWN ? "input e1 : real over fine;\n" : "input gain : real;\n");
    weft_chebyshev_append(text, degree, step == DOWN ? down : 0);
    if (step == DOWN)
        weft_text_add(text,
                      "split;\nq = apply(A, x);\nr = select(d > 0, b - q, 0);\nreturn r, x;\n");
    else
        weft_text_add(text, "z = %sx;\nreturn z;\n", is_finest ? "gain*" : "");
}

static weft_status bind_smoothing(const degrees *state, int i, degree_step step,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    degree_level *level = (degree_level *)&state->levels[i];
    weft_program *program = level->programs[step].program;
    const bool is_finest = state->single && i == 0;
    const bool is_up = step == UP, is_own = step == DOWN || level->b;
    const weft_form_input all[] = {{"d", level->d},
                                   {"inverse", level->inverse},
                                   {is_up ? "x0" : "x", level->x},
                                   {"b", level->b},
                                   {is_up ? "z" : "r", is_own ? level->z : NULL},
                                   {"e1", is_up       ? level->s
                                          : is_finest ? level->z
                                                      : NULL},
                                   {"q", is_up ? NULL : level->q},
                                   {"q0", is_up ? level->q : NULL},
                                   {"gain", is_finest && is_up ? level->gain : NULL}};
    weft_program_share_buffers(program, state->buffers);
    TRY(weft_program_size(program, "fine", weft_operator_dofs(level->op), error));
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
        if (all[k].memory)
            TRY(weft_program_bind(program, all[k].name, all[k].memory, error));
    for (int k = 1; k < degree_of(state); ++k) {
        const char name[] = {'q', (char)('0' + k), 0};
        TRY(weft_program_bind(program, name, level->q, error));
    }
    TRY(weft_operator_in_script_bind(&level->operators[step], program, "A", error));
done:
    return status;
}

static weft_status compile_smoothing(degrees *state, int i, degree_step step, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = state->preconditioner->context;
    degree_level *level = &state->levels[i];
    weft_text text = {0};
    write_smoothing(&text, step, degree_of(state), state->single && i == 0);
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
                                          .single = state->single,
                                          .predicated = weft_device_captures(context->device),
                                          .elements = weft_operator_dofs(level->op)};
    TRY(weft_compiled_make(context, &fragment, 1, &options, &level->programs[step], error));
    TRY(bind_smoothing(state, i, step, error));
done:
    weft_text_free(&text);
    return status;
}

static weft_status compile(degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i + 1 < state->n; ++i) {
        degree_level *level = &state->levels[i], *next = level + 1;
        weft_degree_lists lists = {.fine_d = level->d,
                                   .coarse_d = next->d,
                                   .r = level->z,
                                   .b = next->b,
                                   .x = level->x,
                                   .z = next->z,
                                   .single = state->single,
                                   .divides =
                                       state->single && i + 2 == state->n && state->n_parts == 0,
                                   .buffers = state->buffers};
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
    return state->levels[i].n_nodes * weft_space_components(state->levels[0].space);
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

static weft_status set_real(const degrees *state, weft_memory *memory, double value,
                            weft_error *error) {
    const float narrow = (float)value;
    return state->single ? weft_memory_write(memory, 0, &narrow, sizeof narrow, error)
                         : weft_memory_write(memory, 0, &value, sizeof value, error);
}

/* Powers of two, so that rounding does not depend on units. */
static weft_status set_scale(const degrees *state, double typical, double inverse,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    int exponent = 0;
    if (isfinite(typical) && typical > 0)
        (void)frexp(sqrt(typical), &exponent);
    const double factors[2] = {ldexp(1, exponent), 4.0 / 3 * inverse};
    TRY(weft_memory_write(state->factors, 0, factors, sizeof factors, error));
    TRY(set_real(state, state->levels[0].gain, weft_fault("gain_lost") ? 1 : ldexp(1, -exponent),
                 error));
done:
    return status;
}

/* What depends on the values of the operator. */
static weft_status measure(degrees *state, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    degree_level *level = &state->levels[i];
    weft_context *context = state->preconditioner->context;
    weft_preconditioner_problem problem = problem_of(state, level);
    weft_preconditioner_level *shown = &state->preconditioner->report.levels[i];
    double extent[2];
    weft_memory *d = NULL;
    TRY(weft_memory_make(context->device, (size_t)weft_operator_dofs(level->op) * sizeof(double),
                         &d, error));
    if (weft_fault("diagonal_unmasked"))
        problem.n_constrained = 0;
    TRY(weft_inverse_diagonal(&problem, context, d, extent, error));
    TRY(weft_eigenvalue_bound(context, &level->bound, level->op, d, &shown->lambda, error));
    const double inverse = (weft_fault("eigenvalue_low") ? 2 : 1) / shown->lambda;
    TRY(set_real(state, level->inverse, inverse, error));
    if (state->single && i == 0)
        TRY(set_scale(state, sqrt(extent[0]) * sqrt(extent[1]), inverse, error));
    if (state->single)
        TRY(weft_lists_narrow(state->lists, weft_operator_dofs(level->op), d, level->d, error));
    else
        TRY(weft_memory_copy(level->d, d, weft_memory_bytes(d), error));
    int64_t n_rows = weft_operator_dofs(level->op);
    TRY(weft_rank_dofs(level->op, &n_rows, error));
    *shown = (weft_preconditioner_level){
        .n_rows = n_rows, .n_entries = weft_operator_entries(level->op), .lambda = shown->lambda};
done:
    weft_memory_free(&d);
    return status;
}

/* Lists of a level with a coarser one. */
static weft_status make_lists(degrees *state, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    degree_level *level = &state->levels[i];
    weft_device *device = state->preconditioner->context->device;
    const size_t bytes = (size_t)weft_space_dofs(level->space) * real_bytes(state);
    weft_memory **lists[] = {&level->d, &level->x, &level->z, &level->q, &level->s, &level->b};
    const int n = i > 0 || state->single ? 6 : 5;
    for (int k = 0; k < n; ++k)
        TRY(weft_memory_make(device, bytes, lists[k], error));
    TRY(weft_memory_make(device, real_bytes(state), &level->inverse, error));
    if (i == 0 && state->single)
        TRY(weft_memory_make(device, sizeof(float), &level->gain, error));
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
    const weft_coarse_request request = {.form = form,
                                         .degree = degree,
                                         .use = degree == LAST  ? WEFT_COARSE_MATRIX
                                                : state->single ? WEFT_COARSE_SINGLE
                                                                : WEFT_COARSE_PRODUCT};
    TRY(coarser->make(coarser->user, &request, &out->coarse, error));
    out->space = out->coarse->space;
    out->op = out->coarse->op;
    out->degree = degree;
    out->n_nodes = weft_space_nodes(out->space);
    weft_layout_free(&out->layout);
    TRY(weft_layout_make(&out->space, 1, &out->layout, error));
    weft_operator_distribute(out->op, out->layout);
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

static weft_status list_constrained(const degrees *state, degree_level *fine, degree_level *made,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_operator_dofs(fine->op);
    weft_memory *wide = NULL;
    if (state->single) {
        TRY(weft_memory_make(state->preconditioner->context->device, (size_t)n * sizeof(double),
                             &wide, error));
        TRY(weft_lists_widen(state->lists, n, fine->d, wide, error));
    }
    TRY(weft_degree_transfer_constrained(&fine->transfer, wide ? wide : fine->d, &made->constrained,
                                         &made->n_constrained, error));
done:
    weft_memory_free(&wide);
    return status;
}

static weft_status add_level(degrees *state, int degree, weft_error *error) {
    weft_status status = WEFT_OK;
    degree_level *fine = &state->levels[state->n - 1], *made = &state->levels[state->n++];
    const bool shares = degree == LAST && may_share(state);
    TRY(make_coarse(state, shares ? WEFT_COARSE_COMPONENT : WEFT_COARSE_PROBLEM, degree, made,
                    error));
    TRY(weft_degree_transfer_make(state->preconditioner->context, fine->space, made->space,
                                  &fine->transfer, error));
    TRY(list_constrained(state, fine, made, error));
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
    const size_t bytes = (size_t)count_dofs(state, state->n - 1) * real_bytes(state);
    weft_memory **lists[] = {&level->d, &level->b, &level->z};
    for (int k = 0; k < 3 && (!state->single || state->n_parts > 0); ++k)
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
    finest->degree = weft_space_element(finest->space)->degree;
    finest->n_nodes = weft_space_nodes(finest->space);
    if (state->single && !problem->op->single) {
        TRY(weft_operator_single(problem->op, &finest->own, error));
        TRY(weft_operator_assemble(finest->own, error));
        finest->op = finest->own;
    }
    for (int degree = finest->degree; degree != LAST;) {
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
    double *mask = NULL;
    weft_memory *wide = NULL;
    if (!last->d)
        goto done;
    mask = malloc(((size_t)n + 1) * sizeof *mask);
    if (!mask)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    for (int64_t i = 0; i < n; ++i)
        mask[i] = 1;
    for (int64_t i = 0; i < last->n_constrained * parts; ++i)
        mask[last->constrained[i / parts] * parts + i % parts] = 0;
    if (!state->single) {
        status = weft_memory_write(last->d, 0, mask, (size_t)n * sizeof *mask, error);
        goto done;
    }
    TRY(weft_memory_place(state->preconditioner->context->device, mask, (size_t)n, sizeof *mask,
                          &wide, error));
    TRY(weft_lists_narrow(state->lists, n, wide, last->d, error));
done:
    weft_memory_free(&wide);
    free(mask);
    return status;
}

/* b of the last level by components, with `single` divided by the diagonal, and z of them. */
static weft_status write_parts(const degrees *state, weft_text *split, weft_text *join,
                               weft_error *error) {
    const int n = state->n_parts;
    weft_text_add(split, "index nodes plain;\ninput b : real[%d] over nodes;\n%s", n,
                  state->single ? "input a : real over nodes;\n" : "");
    weft_text_add(join, "index nodes plain;\n");
    for (int k = 0; k < n; ++k) {
        weft_text_add(
            split, state->single ? "b%d = select(a > 0, b[%d]/a, 0);\n" : "b%d = b[%d];\n", k, k);
        weft_text_add(split, "return b%d;\n", k);
        weft_text_add(join, "input z%d : real over nodes;\ninput e%d : real[%d];\n", k, k, n);
    }
    for (int k = 0; k < n; ++k)
        weft_text_add(join, "%sz%d*e%d", k == 0 ? "z = " : " + ", k, k);
    weft_text_add(join, ";\nreturn z;\n");
    return split->failed || join->failed ? weft_out_of_memory(error, "a level of multigrid")
                                         : WEFT_OK;
}

static weft_status bind_part(degrees *state, int k, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = state->preconditioner->context->device;
    const size_t bytes = (size_t)state->levels[state->n - 1].n_nodes * real_bytes(state);
    char b[4] = {'b', (char)('0' + k)}, z[4] = {'z', (char)('0' + k)},
         e[4] = {'e', (char)('0' + k)};
    TRY(weft_memory_make(device, bytes, &state->part_b[k], error));
    TRY(weft_memory_make(device, bytes, &state->part_z[k], error));
    TRY(weft_memory_make(device, (size_t)state->n_parts * real_bytes(state), &state->units[k],
                         error));
    for (int i = 0; i < state->n_parts; ++i) {
        const double unit = i == k;
        const float narrow = (float)unit;
        const void *one = state->single ? (const void *)&narrow : &unit;
        TRY(weft_memory_write(state->units[k], (size_t)i * real_bytes(state), one,
                              real_bytes(state), error));
    }
    TRY(weft_program_bind(state->split.program, b, state->part_b[k], error));
    TRY(weft_program_bind(state->join.program, z, state->part_z[k], error));
    TRY(weft_program_bind(state->join.program, e, state->units[k], error));
done:
    return status;
}

static weft_status compile_parts(degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = state->preconditioner->context;
    const degree_level *last = &state->levels[state->n - 1];
    const int64_t nodes = last->n_nodes;
    weft_text split = {0}, join = {0};
    TRY(write_parts(state, &split, &join, error));
    const weft_fragment fragments[] = {{"degree_split.weft", split.data},
                                       {"degree_join.weft", join.data}};
    const weft_compile_options options = {.size = sizeof options,
                                          .single = state->single,
                                          .predicated = weft_device_captures(context->device),
                                          .elements = nodes};
    TRY(weft_compiled_make(context, &fragments[0], 1, &options, &state->split, error));
    TRY(weft_compiled_make(context, &fragments[1], 1, &options, &state->join, error));
    TRY(weft_program_size(state->split.program, "nodes", nodes, error));
    TRY(weft_program_size(state->join.program, "nodes", nodes, error));
    TRY(weft_program_bind(state->split.program, "b", last->b, error));
    TRY(weft_program_bind(state->join.program, "z", last->z, error));
    for (int k = 0; k < state->n_parts; ++k)
        TRY(bind_part(state, k, error));
done:
    weft_text_free(&split);
    weft_text_free(&join);
    return status;
}

/* ---- lists of the last level's solver ---- */

/* Bind those of `inner`, which are new after each update. */
static weft_status bind_lists(degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_degree_transfer *transfer = &state->levels[state->n - 2].transfer;
    weft_single_lists own;
    if (!state->single)
        goto done;
    if (!state->inner->kind->lists(state->inner, &own))
        TRY(refuse_single(error));
    if (state->n_parts > 0) {
        status = weft_program_bind(state->split.program, "a", own.a, error);
        goto done;
    }
    TRY(weft_program_bind(transfer->restriction.program, "dc", own.a, error));
    TRY(weft_program_bind(transfer->restriction.program, "bc", own.b, error));
    TRY(weft_program_bind(transfer->prolongation.program, "xc", own.z, error));
done:
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
    (void)weft_print(report->detail, sizeof report->detail, "degrees %d", state->levels[0].degree);
    for (int i = 1; i < state->n; ++i) {
        const size_t length = strlen(report->detail);
        (void)weft_print(report->detail + length, sizeof report->detail - length, ", %d",
                         state->levels[i].degree);
    }
    const size_t length = strlen(report->detail);
    if (!state->single)
        (void)weft_print(report->detail + length, sizeof report->detail - length,
                         " in double precision");
}

/* Scripts that convert the residual. */
static weft_status make_conversion(degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = state->preconditioner->context;
    const weft_fragment fragment = {"multigrid_size.weft", weft_cycle_size_script};
    const weft_compile_options options = {.size = sizeof options,
                                          .predicated = weft_device_captures(context->device)};
    TRY(weft_lists_make(context->device, &state->lists, error));
    TRY(weft_memory_make(context->device, 2 * sizeof(double), &state->factors, error));
    TRY(weft_memory_make(context->device, sizeof(double), &state->square, error));
    TRY(weft_compiled_make(context, &fragment, 1, &options, &state->size, error));
    TRY(weft_program_size(state->size.program, "fine",
                          weft_operator_dofs(state->preconditioner->problem.op), error));
    TRY(weft_program_bind(state->size.program, "square", state->square, error));
done:
    return status;
}

/* What solves on the last level. */
static weft_status make_inner(degrees *state, weft_error *error) {
    weft_preconditioner *preconditioner = state->preconditioner;
    const weft_preconditioner_problem linear = problem_of(state, &state->levels[state->n - 1]);
    return weft_preconditioner_make(preconditioner->context, preconditioner->report.kind, &linear,
                                    &state->inner, error);
}

/* `inner` has floats of its own of the last level's matrix, which only an update reads again; on the host it borrows the pattern. */
static void release_last(degrees *state) {
    degree_level *last = &state->levels[state->n - 1], *finer = last - 1;
    if (!state->single)
        return;
    if (!weft_setup_on_device(state->preconditioner->context->device)) {
        weft_operator_release_assembly(last->op);
    } else if (finer->transfer.parents) {
        weft_coarse_free(&last->coarse);
        last->space = NULL;
        last->op = NULL;
    } else { /* whose cells the transfer reads */
        weft_operator_free(&last->coarse->op);
        last->op = NULL;
    }
    last->is_released = true;
}

/* Make the matrix again, which is then kept, as further updates may follow. */
static weft_status update_last(degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    degree_level *last = &state->levels[state->n - 1];
    if (!last->is_released) {
        TRY(weft_operator_assemble(last->op, error));
        status = weft_preconditioner_update(state->inner, error);
        goto done;
    }
    weft_preconditioner_free(&state->inner);
    last->first = last->coarse;
    last->coarse = NULL;
    TRY(make_coarse(state, state->n_parts > 0 ? WEFT_COARSE_COMPONENT : WEFT_COARSE_PROBLEM, LAST,
                    last, error));
    last->is_released = false;
    TRY(make_inner(state, error));
done:
    return status;
}

static weft_status make(weft_preconditioner *preconditioner, bool single, weft_error *error) {
    weft_status status = WEFT_OK;
    degrees *state = preconditioner->state = calloc(1, sizeof *state);
    if (!state)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    state->preconditioner = preconditioner;
    state->single = single;
    TRY(weft_shared_buffers_make(&state->buffers, error));
    if (single)
        TRY(make_conversion(state, error));
    TRY(make_levels(state, error));
    TRY(mask_last(state, error));
    if (preconditioner->problem.is_final)
        weft_operator_release_assembly(state->levels[state->n - 1].op);
    TRY(make_inner(state, error));
    fill_report(state);
    TRY(compile(state, error));
    if (state->n_parts > 0)
        TRY(compile_parts(state, error));
    TRY(bind_lists(state, error));
    release_last(state);
done:
    return status;
}

/* In single precision, or where that is refused, for numbers that leave its range or are lost by it, in double. */
static weft_status degrees_make(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = &preconditioner->problem;
    weft_error why = {0};
    preconditioner->reads_operator = true;
    if ((problem->double_levels || problem->op->layout) && !problem->op->single) {
        status = make(preconditioner, false, error);
        goto done;
    }
    status = make(preconditioner, true, problem->op->single ? error : &why);
    if (problem->op->single || status != WEFT_ERROR_UNSUPPORTED) {
        if (status != WEFT_OK && error && !problem->op->single)
            *error = why;
        goto done;
    }
    degrees_free(preconditioner);
    TRY(make(preconditioner, false, error));
    weft_log(preconditioner->context->monitor, WEFT_LOG_INFO,
             "multigrid without a matrix in double precision: %s", why.message);
done:
    return status;
}

static weft_status update(degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    if (weft_fault("coefficient_stale"))
        goto done;
    for (int i = 0; i + 1 < state->n; ++i)
        if (i > 0 || state->levels[i].own)
            TRY(weft_operator_assemble(state->levels[i].op, error));
    for (int i = 0; i + 1 < state->n; ++i)
        TRY(measure(state, i, error));
    TRY(update_last(state, error));
    fill_report(state);
    TRY(bind_lists(state, error));
done:
    return status;
}

/* Where a solver reads the list of floats that z is, levels do not become those of doubles. */
static weft_status degrees_update(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    degrees *state = preconditioner->state;
    weft_error why = {0};
    const bool stays = !state->single || degrees_single(preconditioner) || !state->levels[0].own;
    status = update(state, stays ? error : &why);
    if (status == WEFT_ERROR_UNSUPPORTED && !stays) {
        degrees_free(preconditioner);
        TRY(make(preconditioner, false, error));
    } else if (status != WEFT_OK && !stays && error) {
        *error = why;
    }
done:
    return status;
}

/* ---- the cycle ---- */

static weft_status solve_part(const degrees *state, int k, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *b = state->part_b[k], *z = state->part_z[k];
    weft_single_lists own;
    if (!state->single) {
        weft_layout *layout = state->levels[state->n - 1].layout;
        TRY(weft_preconditioner_apply(state->inner, b, z, error));
        if (layout)
            TRY(weft_layout_update(layout, z, error));
        goto done;
    }
    (void)state->inner->kind->lists(state->inner, &own);
    TRY(weft_memory_copy(own.b, b, weft_memory_bytes(b), error));
    TRY(state->inner->kind->cycle(state->inner, error));
    TRY(weft_memory_copy(z, own.z, weft_memory_bytes(z), error));
done:
    return status;
}

/* On linear functions. */
static weft_status solve_last(const degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    const degree_level *last = &state->levels[state->n - 1];
    weft_context *context = state->preconditioner->context;
    weft_memory *active = state->inner->active = state->preconditioner->active;
    if (state->n_parts == 0) {
        status = state->single ? state->inner->kind->cycle(state->inner, error)
                               : weft_preconditioner_apply(state->inner, last->b, last->z, error);
        goto done;
    }
    TRY(weft_compiled_run(context, &state->split, active, error));
    for (int k = 0; k < state->n_parts; ++k)
        TRY(solve_part(state, k, error));
    TRY(weft_compiled_run(context, &state->join, active, error));
done:
    return status;
}

/* Let each rank have the residual or the solution of others at the dofs that it has copies of. */
static weft_status exchange(const weft_operator *op, weft_memory *list, weft_error *error) {
    return op->layout ? weft_layout_update(op->layout, list, error) : WEFT_OK;
}

/* The last level has one layout for each of its components, if these are solved for one by one. */
static weft_status exchange_solution(const degrees *state, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    const degree_level *level = &state->levels[i];
    if (i + 1 < state->n || state->n_parts == 0)
        status = level->layout ? weft_layout_update(level->layout, level->z, error) : WEFT_OK;
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
    if (!weft_fault("residual_stale"))
        TRY(exchange(level->op, level->z, error));
    TRY(weft_compiled_run(context, &level->transfer.restriction, active, error));
    TRY(cycle(state, i + 1, error));
    if (!weft_fault("solution_stale"))
        TRY(exchange_solution(state, i + 1, error));
    TRY(weft_compiled_run(context, &level->transfer.prolongation, active, error));
    TRY(weft_compiled_run(context, &level->programs[UP], active, error));
done:
    return status;
}

/* Doubles to the lists of the finest level. */
static weft_status convert_in(const degrees *state, weft_memory *r, weft_memory *square,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner *preconditioner = state->preconditioner;
    const degree_level *finest = &state->levels[0];
    weft_memory *const lists[] = {r, finest->d, finest->b, finest->z};
    if (square == state->square) {
        TRY(weft_program_bind(state->size.program, "r", r, error));
        TRY(weft_compiled_run(preconditioner->context, &state->size, preconditioner->active,
                              error));
    }
    TRY(weft_lists_start(state->lists, weft_operator_dofs(finest->op), square, state->factors,
                         lists, error));
done:
    return status;
}

static weft_status degrees_apply(weft_preconditioner *preconditioner, weft_memory *r,
                                 weft_memory *z, weft_error *error) {
    weft_status status = WEFT_OK;
    degrees *state = preconditioner->state;
    degree_level *finest = &state->levels[0];
    weft_memory *square = preconditioner->square ? preconditioner->square : state->square;
    if (!state->single) {
        TRY(weft_program_bind(finest->programs[DOWN].program, "b", r, error));
        TRY(weft_program_bind(finest->programs[UP].program, "b", r, error));
        TRY(weft_program_bind(finest->programs[UP].program, "z", z, error));
        status = cycle(state, 0, error);
        goto done;
    }
    TRY(convert_in(state, r, square, error));
    TRY(cycle(state, 0, error));
    if (z != finest->z)
        TRY(weft_lists_to_double(state->lists, weft_operator_dofs(finest->op), square, finest->z, z,
                                 error));
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

/* A level with the product computed cell by cell: lists of floats (24 bytes, of which 8 take the place of what only set-up holds); the transfer of P2 simplices, with its transpose; with one component on
 * P2 simplices what scatters the product by patches, of which the estimate of the operator has a part, and on lower levels coordinates
 * and connectivity. */
static double level_memory(const shape *s, double nodes, double c, int degree, bool is_finest) {
    const bool in_pairs = s->is_simplex && degree == 2;
    const double places = s->cells * width_of(s, degree);
    double bytes = (16 + 16 * in_pairs) * nodes * c;
    if (c == 1 && in_pairs)
        bytes += is_finest && s->dimension == 3 ? 3.33 * places : 0;
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
    return (size_t)((s.is_simplex ? 85 : 90) * n + 2 * linear_memory(&s, 1) - 13 * s.linear_places);
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
                                                              .single = degrees_single,
                                                              .free = degrees_free};
