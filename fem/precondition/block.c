/* The preconditioner of mixed spaces: one solver for each space, of its block of the matrix or of its Schur
 * complement S. For a symmetric matrix, with |S^-1| that is positive definite, and for others
 *
 *      M = [ V          ]        M = [ V  -V B' S^-1 ]
 *          [      |S^-1| ]           [         S^-1  ]
 *
 * Bubbles are eliminated cell by cell before, so that all this is of the condensed matrix (condense.h). */
#include "core/base/number.h"
#include "core/weft_core.h"
#include "fem/base/memory.h"
#include "fem/precondition/blocks.h"
#include "fem/precondition/commutator.h"
#include "fem/precondition/condense.h"
#include "fem/precondition/levels.h"
#include "fem/space/layout.h"

#include <stdio.h>
#include <stdlib.h>

/* The solver of one block: z = sign V r + diagonal r. */
typedef struct part {
    int64_t first, n;           /* dofs */
    weft_preconditioner *cycle; /* V; NULL: none */
    weft_csr matrix;            /* of V, which keeps its pattern */
    weft_memory *r, *v, *z;     /* [n]; v = V r */
    weft_memory *diagonal, *sign;
    weft_compiled combine;
    weft_coupled_solver *pair;   /* of this part and another; NULL: none */
    weft_operator *factorised;   /* what V factorises; NULL: V is multigrid */
    weft_commutator *commutator; /* around V; NULL: none */
    /* of a multiplier that augments (augmented.c): what is subtracted from the rest in place of z, x = shift r; NULL: z */
    weft_memory *shift, *x;
} part;

typedef struct block_state {
    weft_mixed mixed; /* on several ranks: how they divide the blocks; otherwise {0} */
    weft_blocks blocks;
    part parts[WEFT_BLOCKS_MAX];
    bool is_triangular, is_paired; /* coupled parts are solved together */
    /* with condensed bubbles, else NULL: the condensed matrix if the rest is triangular, and the products and lists
       [n_dofs] before and after the solvers of the rest */
    weft_operator *condensed, *down, *up;
    weft_memory *lower, *upper;
    weft_memory *x, *y; /* triangular: [n_dofs] the multipliers of z, else 0; A x */
    weft_compiled subtract;
} block_state;

static void part_clear(part *p) {
    if (p->cycle)
        p->cycle->kind->free(p->cycle);
    free(p->cycle);
    weft_csr_clear(&p->matrix);
    weft_compiled_free(&p->combine);
    weft_coupled_solver_free(&p->pair);
    weft_commutator_free(&p->commutator);
    weft_operator_free(&p->factorised);
    weft_memory **memories[] = {&p->r, &p->v, &p->z, &p->x, &p->diagonal, &p->sign, &p->shift};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
}

static void block_free(weft_preconditioner *preconditioner) {
    block_state *state = preconditioner->state;
    if (!state)
        return;
    for (int b = 0; b < WEFT_BLOCKS_MAX; ++b)
        part_clear(&state->parts[b]);
    weft_blocks_clear(&state->blocks);
    weft_compiled_free(&state->subtract);
    weft_operator **operators[] = {&state->condensed, &state->down, &state->up};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; ++i)
        weft_operator_free(operators[i]);
    weft_memory **lists[] = {&state->lower, &state->upper, &state->x, &state->y};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        weft_memory_free(lists[i]);
    weft_mixed_clear(&state->mixed);
    free(state);
    preconditioner->state = NULL;
}

/* ---- solvers of blocks ------------------------------------------------------------------- */

/* An operator of a matrix, whose arrays it takes. */
static weft_status make_operator(const weft_preconditioner *preconditioner, weft_csr *A,
                                 weft_operator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_pattern *pattern = calloc(1, sizeof *pattern);
    if (!pattern)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    *pattern = (weft_pattern){A->n_rows, A->row_start[A->n_rows], A->row_start, A->columns};
    A->row_start = NULL;
    A->columns = NULL;
    TRY(weft_operator_from_matrix(preconditioner->context, &pattern, A->values, 0, out, error));
    weft_operator_distribute(*out, preconditioner->problem.op->layout);
done:
    return status;
}

/* V: a factorization if there is something to be factorised, else multigrid on the levels of the mesh if there are any, or by
 * aggregation. */
static weft_status make_cycle(const weft_preconditioner *whole, weft_block *block,
                              weft_layout *layout, part *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_hierarchy *hierarchy = whole->problem.hierarchy;
    const bool has_levels = hierarchy && hierarchy->n_levels > 1 &&
                            weft_element_has_vertices(weft_space_element(block->space));
    if (block->factor.n_rows > 0)
        TRY(make_operator(whole, &block->factor, &p->factorised, error));
    p->cycle = calloc(1, sizeof *p->cycle);
    if (!p->cycle)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    *p->cycle = (weft_preconditioner){.kind = p->factorised ? &weft_preconditioner_lu
                                              : has_levels  ? &weft_preconditioner_multigrid
                                                            : &weft_preconditioner_aggregation,
                                      .context = whole->context,
                                      .problem = whole->problem,
                                      .matrix = &p->matrix,
                                      .layout = layout,
                                      .report = {.n_levels = 1, .complexity = 1}};
    weft_preconditioner_problem *problem = &p->cycle->problem;
    problem->op = p->factorised;
    problem->n_pinned = 0; /* numbered in the whole */
    problem->space = block->space;
    problem->n_spaces = problem->full_cycles = 0;
    problem->constrained = block->constrained;
    problem->n_constrained = block->n_constrained;
    problem->project_mean = block->is_singular;
    problem->is_general = p->factorised != NULL;
    TRY(p->cycle->kind->make(p->cycle, error));
    free(p->matrix.values);
    p->matrix.values = NULL;
done:
    return status;
}

/* What combines v and r. */
static const char *combine_text(const part *p) {
    return p->cycle   ? "index rows plain;\n"
                        "input sign : real;\n"
                        "input r, v, diagonal : real over rows;\n"
                        "z = sign*v + diagonal*r;\n"
                        "return z;\n"
           : p->shift ? "index rows plain;\n"
                        "input r, diagonal, shift : real over rows;\n"
                        "z = diagonal*r;\n"
                        "x = shift*r;\n"
                        "return z, x;\n"
                      : "index rows plain;\n"
                        "input r, diagonal : real over rows;\n"
                        "z = diagonal*r;\n"
                        "return z;\n";
}

static weft_status make_combine(const weft_preconditioner *whole, int64_t n_whole, part *p,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragment = {"block.weft", combine_text(p)};
    const weft_compile_options options = {.size = sizeof options,
                                          .elements = n_whole,
                                          .predicated =
                                              weft_device_captures(whole->context->device)};
    TRY(weft_compiled_make(whole->context, &fragment, 1, &options, &p->combine, error));
    const weft_form_input inputs[] = {{"r", p->r},
                                      {"diagonal", p->diagonal},
                                      {"z", p->z},
                                      {p->cycle ? "v" : "shift", p->cycle ? p->v : p->shift},
                                      {p->cycle ? "sign" : "x", p->cycle ? p->sign : p->x}};
    TRY(weft_program_size(p->combine.program, "rows", p->n, error));
    for (int i = 0; i < (p->cycle || p->shift ? 5 : 3); ++i)
        TRY(weft_program_bind(p->combine.program, inputs[i].name, inputs[i].memory, error));
done:
    return status;
}

/* With the penalty W of a multiplier its Schur complement is that of the augmented matrix, sign (diagonal + W), and the first
 * factor of augmented.c adds s B'W r to the rest, s = -sign: together B' sign (diagonal + 2 W) r is subtracted from the rest. */
static weft_status make_shift(const weft_preconditioner *whole, const weft_block *block, part *p,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)block->n * sizeof(double);
    if (!block->penalty)
        goto done;
    TRY(weft_memory_make(whole->context->device, bytes, &p->x, error));
    for (int64_t i = 0; i < block->n; ++i) {
        const double penalty = block->sign * block->penalty[i];
        block->diagonal[i] += penalty;
        block->penalty[i] = block->diagonal[i] + penalty;
    }
    TRY(weft_memory_place(whole->context->device, block->penalty, (size_t)block->n,
                          sizeof *block->penalty, &p->shift, error));
done:
    return status;
}

/* is_signed  with the sign of the block, else positive definite */
static weft_status make_part(const weft_preconditioner *whole, weft_blocks *blocks, int number,
                             bool is_signed, part *p, weft_error *error) {
    weft_block *block = &blocks->list[number];
    weft_status status = WEFT_OK;
    const weft_mixed *mixed = &((const block_state *)whole->state)->mixed;
    weft_layout *layout = mixed->layouts[number];
    weft_device *device = whole->context->device;
    const size_t bytes = (size_t)block->n * sizeof(double);
    const double sign = block->weights ? -1 : is_signed ? block->sign : 1;
    p->first = block->first;
    p->n = block->n;
    if (block->role == WEFT_BLOCK_CONDENSED)
        goto done;
    p->matrix = block->matrix;
    block->matrix = (weft_csr){0};
    TRY(weft_memory_make(device, bytes, &p->r, error));
    TRY(weft_memory_make(device, bytes, &p->v, error));
    TRY(weft_memory_make(device, bytes, &p->z, error));
    TRY(weft_memory_make(device, bytes, &p->diagonal, error));
    TRY(weft_memory_place(device, &sign, 1, sizeof sign, &p->sign, error));
    for (int64_t i = 0; i < block->n && block->diagonal; ++i)
        block->diagonal[i] *= sign;
    TRY(make_shift(whole, block, p, error));
    if (block->diagonal)
        TRY(weft_memory_write(p->diagonal, 0, block->diagonal, bytes, error));
    if (p->matrix.n_rows > 0 || block->factor.n_rows > 0)
        TRY(make_cycle(whole, block, layout, p, error));
    if (is_signed && block->role == WEFT_BLOCK_COUPLED && block->has_pair)
        TRY(weft_coupled_solver_make(whole->context, &block->pair, &block->coupling, layout,
                                     &p->pair, error));
    TRY(make_combine(whole, layout ? mixed->rows[number].n_whole : p->n, p, error));
done:
    return status;
}

/* ---- the whole --------------------------------------------------------------------------- */

/* r = r - y, in a block that is not a multiplier */
static weft_status make_subtract(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    block_state *state = preconditioner->state;
    const int64_t n = weft_operator_dofs(preconditioner->problem.op);
    const size_t bytes = (size_t)n * sizeof(double);
    const weft_fragment fragment = {"block.weft", "index rows plain;\n"
                                                  "input r, y : real over rows;\n"
                                                  "rest = r - y;\n"
                                                  "return rest;\n"};
    const weft_compile_options options = {.size = sizeof options, .elements = n};
    weft_device *device = preconditioner->context->device;
    TRY(weft_memory_make(device, bytes, &state->x, error));
    TRY(weft_memory_make(device, bytes, &state->y, error));
    TRY(weft_memory_zero(state->x, error));
    TRY(weft_compiled_make(preconditioner->context, &fragment, 1, &options, &state->subtract,
                           error));
    TRY(weft_program_size(state->subtract.program, "rows", n, error));
    TRY(weft_program_bind(state->subtract.program, "y", state->y, error));
    TRY(weft_program_bind(state->subtract.program, "rest", state->y, error));
done:
    return status;
}

/* Say once that convection is too strong for what is taken. */
static void warn(weft_preconditioner *preconditioner) {
    const block_state *state = preconditioner->state;
    const weft_blocks *blocks = &state->blocks;
    if (!blocks->because || preconditioner->has_warned)
        return;
    preconditioner->has_warned = true;
    weft_log(preconditioner->problem.monitor, WEFT_LOG_WARNING,
             "convection across the domain is %.2g times diffusion, and the preconditioner block "
             "inverts the diffusion alone, with "
             "which GMRES takes hundreds of iterations or more. A factorization that suits "
             "convection is not taken: %s. Try %s, or --restart 200",
             blocks->convection, blocks->because,
             state->mixed.n > 0 ? WEFT_RANKS_FACTORISE : "--preconditioner lu on the host");
}

/* "triangular: u_0 by aggregation, 3 levels, u_1 (Schur complement) by its diagonal" */
static void describe(weft_preconditioner *preconditioner) {
    const block_state *state = preconditioner->state;
    char *out = preconditioner->report.detail;
    const size_t size = sizeof preconditioner->report.detail;
    int at = snprintf(out, size, "%s", state->is_triangular ? "triangular" : "diagonal");
    for (int b = 0; b < state->blocks.n && at > 0 && (size_t)at < size; ++b) {
        const weft_preconditioner *cycle = state->parts[b].cycle;
        const weft_block *block = &state->blocks.list[b];
        const bool is_schur = block->role == WEFT_BLOCK_MULTIPLIER;
        if (block->role == WEFT_BLOCK_COUPLED && state->is_paired && !block->has_pair) {
            at += snprintf(out + at, size - (size_t)at, "%s u_%d with u_%d", b > 0 ? "," : ":", b,
                           block->partner);
            continue;
        }
        if (block->role == WEFT_BLOCK_CONDENSED) {
            at += snprintf(out + at, size - (size_t)at, "%s u_%d by cells", b > 0 ? "," : ":", b);
            continue;
        }
        at += snprintf(out + at, size - (size_t)at, "%s u_%d%s by %s", b > 0 ? "," : ":", b,
                       is_schur ? " (Schur complement)" : "",
                       state->parts[b].commutator ? "a commutator and "
                       : state->parts[b].shift    ? "its diagonal, augmented"
                       : !cycle                   ? "its diagonal"
                       : block->diagonal          ? "its diagonal and "
                                                  : "");
        if (cycle && at > 0 && (size_t)at < size)
            at += snprintf(out + at, size - (size_t)at,
                           state->parts[b].factorised ? "%s" : "%s, %d levels",
                           cycle->kind->info.name, cycle->report.n_levels);
    }
    if (state->blocks.convection > 0 && at > 0 && (size_t)at < size)
        (void)weft_print(out + at, size - (size_t)at, ", convection %.2g times diffusion",
                         state->blocks.convection);
}

static weft_status check_problem(const weft_preconditioner_problem *problem, weft_error *error) {
    if (problem->n_spaces > 1 && problem->n_spaces <= WEFT_BLOCKS_MAX)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "the preconditioner block is for functions in 2 to %d spaces", WEFT_BLOCKS_MAX);
    weft_error_hint(error, "use --preconditioner aggregation");
    return WEFT_ERROR_UNSUPPORTED;
}

static weft_status make_condensed(weft_preconditioner *preconditioner, weft_condensation *c,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    block_state *state = preconditioner->state;
    weft_device *device = preconditioner->context->device;
    const size_t bytes = (size_t)c->matrix.n_rows * sizeof(double);
    if (!c->is_any)
        goto done;
    TRY(make_operator(preconditioner, &c->down, &state->down, error));
    TRY(make_operator(preconditioner, &c->up, &state->up, error));
    if (state->is_triangular)
        TRY(make_operator(preconditioner, &c->matrix, &state->condensed, error));
    TRY(weft_memory_make(device, bytes, &state->lower, error));
    TRY(weft_memory_make(device, bytes, &state->upper, error));
done:
    return status;
}

/* Commutators are around the cycles of their parts, with products of the whole. */
static weft_status make_commutators(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    block_state *state = preconditioner->state;
    weft_operator *op = state->condensed ? state->condensed : preconditioner->problem.op;
    for (int b = 0; b < state->blocks.n; ++b) {
        const weft_block *block = &state->blocks.list[b];
        if (block->weights)
            TRY(weft_commutator_make(preconditioner->context, op, block->first, block->n,
                                     block->weights, &state->parts[b].commutator, error));
    }
done:
    return status;
}

/* What the kinds stand for. */
static weft_schur asked_for(const weft_preconditioner *preconditioner) {
    return preconditioner->kind == &weft_preconditioner_commutator  ? WEFT_SCHUR_COMMUTATOR
           : preconditioner->kind == &weft_preconditioner_augmented ? WEFT_SCHUR_AUGMENTED
                                                                    : WEFT_SCHUR_AUTO;
}

/* On several ranks each eliminates the bubbles of its cells, if all can. */
static weft_status condense(const weft_preconditioner *preconditioner, const weft_csr *A,
                            weft_condensation *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = &preconditioner->problem;
    weft_comm *comm = weft_layout_comm(problem->op->layout);
    TRY(weft_condense(preconditioner->context->device, A, problem, out, error));
    int64_t lacking = !out->is_any;
    if (comm)
        TRY(weft_comm_sum(comm, &lacking, error));
    if (lacking > 0)
        weft_condensation_clear(out);
done:
    return status;
}

/* The blocks of the matrix, or of the one without condensed dofs. Several ranks find those of the whole, and keep their parts. */
static weft_status find_blocks(weft_preconditioner *preconditioner, const weft_csr *A,
                               const weft_condensation *condensation, weft_error *error) {
    weft_status status = WEFT_OK;
    block_state *state = preconditioner->state;
    weft_device *device = preconditioner->context->device;
    const weft_preconditioner_problem *problem = &preconditioner->problem;
    const bool is_divided = problem->op->layout;
    weft_mixed *mixed = &state->mixed;
    const weft_csr *left = condensation->is_any ? &condensation->matrix : A;
    if (is_divided)
        TRY(weft_mixed_make(device, left, problem, mixed, error));
    const weft_blocks_matrix matrix = {.A = is_divided ? &mixed->A : left,
                                       .problem = is_divided ? &mixed->problem : problem,
                                       .condensed =
                                           condensation->is_any ? condensation->is_local : NULL,
                                       .mixed = is_divided ? mixed : NULL};
    const weft_csr *whole = is_divided ? &mixed->A : A;
    preconditioner->report.levels[0] = (weft_preconditioner_level){
        .n_rows = whole->n_rows, .n_entries = whole->row_start[whole->n_rows]};
    TRY(weft_blocks_make(device, &matrix, asked_for(preconditioner), &state->blocks, error));
    if (is_divided)
        TRY(weft_blocks_take_part(&state->blocks, mixed, problem, error));
    weft_mixed_clear_matrix(mixed);
done:
    return status;
}

/* Cavities take 50 to 120 iterations, and with the default of 30 up to four times as many. */
enum { COMMUTATOR_RESTART = 100 };

static weft_status block_make(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_condensation condensation = {0};
    const weft_preconditioner_problem *problem = &preconditioner->problem;
    weft_csr A = {0};
    double *own = NULL;
    TRY(check_problem(problem, error));
    block_state *state = preconditioner->state = calloc(1, sizeof *state);
    if (!state)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    TRY(weft_matrix_on_host(problem, &A, &own, error));
    TRY(condense(preconditioner, &A, &condensation, error));
    TRY(find_blocks(preconditioner, &A, &condensation, error));
    preconditioner->reads_operator = state->blocks.schur != WEFT_SCHUR_MASS;
    state->is_paired = problem->is_general;
    state->is_triangular = problem->is_general && state->blocks.n_multipliers > 0;
    for (int b = 0; b < state->blocks.n; ++b)
        TRY(make_part(preconditioner, &state->blocks, b, problem->is_general, &state->parts[b],
                      error));
    if (state->is_triangular)
        TRY(make_subtract(preconditioner, error));
    TRY(make_condensed(preconditioner, &condensation, error));
    TRY(make_commutators(preconditioner, error));
    preconditioner->report.restart =
        state->blocks.schur == WEFT_SCHUR_COMMUTATOR ? COMMUTATOR_RESTART : 0;
    describe(preconditioner);
    warn(preconditioner);
done:
    weft_condensation_clear(&condensation);
    free(own);
    return status;
}

/* ---- application ------------------------------------------------------------------------- */

/* Copy the dofs of a part from or to a list of all. */
static weft_status copy(const part *p, weft_memory *own, weft_memory *all, bool is_out,
                        weft_error *error) {
    const size_t first = (size_t)p->first * sizeof(double), bytes = (size_t)p->n * sizeof(double);
    return is_out ? weft_memory_copy_part(all, first, own, 0, bytes, error)
                  : weft_memory_copy_part(own, 0, all, first, bytes, error);
}

/* z = r in the dofs of a part */
static weft_status keep_part(const part *p, weft_memory *r, weft_memory *z, weft_error *error) {
    const size_t first = (size_t)p->first * sizeof(double);
    return weft_memory_copy_part(z, first, r, first, (size_t)p->n * sizeof(double), error);
}

static weft_status solve_part(const weft_preconditioner *preconditioner, part *p, weft_memory *r,
                              weft_memory *z, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(copy(p, p->r, r, false, error));
    if (p->cycle)
        p->cycle->active = preconditioner->active;
    if (p->commutator)
        TRY(weft_commutator_apply(p->commutator, p->cycle, p->r, p->v, error));
    else if (p->cycle)
        TRY(p->cycle->kind->apply(p->cycle, p->r, p->v, error));
    TRY(weft_compiled_run(preconditioner->context, &p->combine, preconditioner->active, error));
    TRY(copy(p, p->z, z, true, error));
done:
    return status;
}

/* Two coupled parts, once for both. */
static weft_status solve_pair(const weft_preconditioner *preconditioner, int number, weft_memory *r,
                              weft_memory *z, weft_error *error) {
    weft_status status = WEFT_OK;
    block_state *state = preconditioner->state;
    part *own = &state->parts[number];
    part *other = &state->parts[state->blocks.list[number].partner];
    if (!own->pair)
        goto done;
    TRY(copy(own, own->r, r, false, error));
    TRY(copy(other, other->r, r, false, error));
    own->cycle->active = preconditioner->active;
    TRY(weft_coupled_solver_apply(own->pair, own->cycle, other->r, own->r, error));
    TRY(copy(own, own->r, z, true, error));
    TRY(copy(other, other->r, z, true, error));
done:
    return status;
}

/* The parts that are multipliers, or those that are not. */
static weft_status solve_parts(const weft_preconditioner *preconditioner, bool multipliers,
                               weft_memory *r, weft_memory *z, weft_error *error) {
    weft_status status = WEFT_OK;
    block_state *state = preconditioner->state;
    for (int b = 0; b < state->blocks.n; ++b) {
        const weft_block_role role = state->blocks.list[b].role;
        part *p = &state->parts[b];
        if (role == WEFT_BLOCK_CONDENSED && !multipliers)
            TRY(keep_part(p, r, z, error));
        else if (role == WEFT_BLOCK_COUPLED && state->is_paired)
            TRY(multipliers ? WEFT_OK : solve_pair(preconditioner, b, r, z, error));
        else if ((role == WEFT_BLOCK_MULTIPLIER) == multipliers)
            TRY(solve_part(preconditioner, p, r, z, error));
    }
done:
    return status;
}

/* All parts but bubbles. */
static weft_status solve_rest(weft_preconditioner *preconditioner, weft_memory *r, weft_memory *z,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    block_state *state = preconditioner->state;
    weft_operator *op = state->condensed ? state->condensed : preconditioner->problem.op;
    TRY(solve_parts(preconditioner, true, r, z, error));
    if (state->is_triangular) {
        for (int b = 0; b < state->blocks.n; ++b) {
            const part *p = &state->parts[b];
            if (state->blocks.list[b].role == WEFT_BLOCK_MULTIPLIER)
                TRY(copy(p, p->x ? p->x : p->z, state->x, true, error));
        }
        TRY(weft_operator_apply(op, state->x, state->y, error));
        TRY(weft_program_bind(state->subtract.program, "r", r, error));
        TRY(weft_program_run(state->subtract.program, error));
        r = state->y;
    }
    TRY(solve_parts(preconditioner, false, r, z, error));
done:
    return status;
}

static weft_status block_apply(weft_preconditioner *preconditioner, weft_memory *r, weft_memory *z,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const block_state *state = preconditioner->state;
    if (!state->down) {
        status = solve_rest(preconditioner, r, z, error);
        goto done;
    }
    TRY(weft_operator_apply(state->down, r, state->lower, error));
    TRY(solve_rest(preconditioner, state->lower, state->upper, error));
    TRY(weft_operator_apply(state->up, state->upper, z, error));
done:
    return status;
}

/* Cycles for all blocks, their lists, and two lists of all dofs. */
static size_t block_estimate_memory(const weft_operator_sizes *sizes, int dimension) {
    enum { LISTS = 6 };
    return weft_preconditioner_aggregation.estimate_memory(sizes, dimension) +
           LISTS * sizeof(double) * sizes->n_rows;
}

const weft_preconditioner_kind weft_preconditioner_block = {
    .info = {.name = "block",
             .help = "multigrid and Schur complements by the parts of a mixed space",
             .needs_matrix = true,
             .coarsens = true},
    .make = block_make,
    .apply = block_apply,
    .free = block_free,
    .estimate_memory = block_estimate_memory,
};

static bool is_found(const weft_preconditioner_kind *kind) {
    (void)kind;
    return weft_preconditioner_lu.is_found(&weft_preconditioner_lu);
}

/* The factors of velocities are most of those of the whole; augmented ones couple the nodes of neighbouring cells, and take four
 * times as much. */
static size_t commutator_estimate_memory(const weft_operator_sizes *sizes, int dimension) {
    return weft_preconditioner_lu.estimate_memory(sizes, dimension);
}

static size_t augmented_estimate_memory(const weft_operator_sizes *sizes, int dimension) {
    return WEFT_AUGMENTED_FACTORS * weft_preconditioner_lu.estimate_memory(sizes, dimension);
}

const weft_preconditioner_kind weft_preconditioner_commutator = {
    .info = {.name = "commutator",
             .help = "block with the least-squares commutator, for flows; lu for velocities",
             .needs_matrix = true,
             .needs_host = true,
             .any_sign = true},
    .make = block_make,
    .apply = block_apply,
    .free = block_free,
    .is_found = is_found,
    .estimate_memory = commutator_estimate_memory,
};

const weft_preconditioner_kind weft_preconditioner_augmented = {
    .info = {.name = "augmented",
             .help = "block with an augmented Lagrangian, for fast flows; lu for velocities",
             .needs_matrix = true,
             .needs_host = true,
             .any_sign = true},
    .make = block_make,
    .apply = block_apply,
    .free = block_free,
    .is_found = is_found,
    .estimate_memory = augmented_estimate_memory,
};
