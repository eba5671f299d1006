/* Multigrid for functions of higher degree by an operator without a matrix: levels of lower degrees on the same mesh, each with
 * the operator of its own form, and linear functions, whose stored matrix another kind takes over.
 *
 * Decision  docs/decisions/0065-multigrid-without-a-matrix.md */
#include "fem/precondition/coarse.h"
#include "fem/precondition/levels.h"

#include "core/base/fault.h"
#include "core/base/number.h"
#include "core/weft_core.h"
#include "fem/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 8, DEGREE = 2, PARTS_MAX = 3, LAST = 1 /* degree of the last level */ };

/* Down: x smoothed from zero and its residual; up: z, smoothed from before + P xc. Restrict and prolong go over the cells. */
typedef enum degree_step { DOWN, RESTRICT, PROLONG, UP, STEPS } degree_step;

typedef struct degree_level {
    weft_coarse *coarse;     /* owner of space and op; NULL: the finest */
    const weft_space *space; /* borrowed */
    weft_operator *op;       /* borrowed */
    int32_t *constrained;    /* [n_constrained]; NULL: those of the problem */
    int64_t n_constrained;
    /* on the device: inverse diagonal, 0 at constrained dofs; the reciprocal of the bound of the eigenvalues */
    weft_memory *d, *inverse;
    weft_memory *b, *x, *r, *z; /* [dofs]; b and z of the finest are those of apply */
    weft_memory *shares;        /* [nodes] one over the number of cells of a node */
    /* values of the functions of the coarser level at nodes, [node][function], and transposed */
    weft_memory *table, *transposed;
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
} degrees;

static void level_clear(degree_level *level) {
    weft_eigenvalue_steps_clear(&level->bound);
    for (int i = 0; i < STEPS; ++i) {
        weft_compiled_free(&level->programs[i]);
        weft_operator_in_script_free(&level->operators[i]);
    }
    weft_memory **memories[] = {&level->d,      &level->inverse, &level->b,
                                &level->x,      &level->r,       &level->z,
                                &level->shares, &level->table,   &level->transposed};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
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

/* Each cell has a share of what its nodes get, so that both are the transpose of each other. */
static void write_transfer(weft_text *text, degree_step step, int components) {
    const char *product = components == 1 ? "mvmul" : "mmul";
    char shape[16] = "";
    if (components > 1)
        (void)weft_print(shape, sizeof shape, "[%d]", components);
    weft_text_add(text,
                  "index cells, fine, coarse;\nparameter n = 3, m = 2;\n"
                  "connectivity fines : cells -> fine[n];\n"
                  "connectivity coarses : cells -> coarse[m];\n"
                  "input T : real[%s];\ninput share : real over fine;\n",
                  step == RESTRICT ? "m,n" : "n,m");
    if (step == RESTRICT)
        weft_text_add(text,
                      "input r : real%s over fine;\ninput dc : real%s over coarse;\n"
                      "s = share*r;\n"
                      "rc[coarses] += %s(T, s[fines]);\n"
                      "bc = select(dc > 0, %src, 0);\nreturn bc;\n",
                      shape, shape, product, weft_fault("restriction_scaled") ? "2*" : "");
    else
        weft_text_add(text,
                      "input x : real%s over fine;\ninput d : real%s over fine;\n"
                      "input xc : real%s over coarse;\n"
                      "e[fines] += %s(T, xc[coarses]);\n"
                      "x0 = x + select(d > 0, share*e, 0);\nreturn x0;\n",
                      shape, shape, shape, product);
}

static weft_status compile_smoothing(const degrees *state, int i, degree_step step, int degree,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = state->preconditioner->context;
    degree_level *level = (degree_level *)&state->levels[i];
    weft_text text = {0};
    write_smoothing(&text, step, degree);
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

static weft_status compile_transfer(const degrees *state, int i, degree_step step,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = state->preconditioner->context;
    degree_level *fine = (degree_level *)&state->levels[i], *coarse = fine + 1;
    weft_connectivity *fines = weft_space_cells(fine->space),
                      *coarses = weft_space_cells(coarse->space);
    weft_text text = {0};
    write_transfer(&text, step, weft_space_components(fine->space));
    if (text.failed)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    const weft_fragment fragment = {
        step == RESTRICT ? "degree_restrict.weft" : "degree_prolong.weft", text.data};
    const weft_parameter widths[] = {{"n", weft_connectivity_width(fines)},
                                     {"m", weft_connectivity_width(coarses)}};
    const weft_compile_options options = {.size = sizeof options,
                                          .parameters = widths,
                                          .n_parameters = 2,
                                          .predicated = weft_device_captures(context->device),
                                          .elements = weft_connectivity_from(fines)};
    TRY(weft_compiled_make(context, &fragment, 1, &options, &fine->programs[step], error));
    weft_program *program = fine->programs[step].program;
    TRY(weft_program_bind_connectivity(program, "fines", fines, error));
    TRY(weft_program_bind_connectivity(program, "coarses", coarses, error));
    TRY(weft_program_bind(program, "T", step == RESTRICT ? fine->transposed : fine->table, error));
    TRY(weft_program_bind(program, "share", fine->shares, error));
    if (step == RESTRICT) {
        TRY(weft_program_bind(program, "r", fine->r, error));
        TRY(weft_program_bind(program, "dc", coarse->d, error));
        TRY(weft_program_bind(program, "bc", coarse->b, error));
    } else {
        TRY(weft_program_bind(program, "x", fine->x, error));
        TRY(weft_program_bind(program, "d", fine->d, error));
        TRY(weft_program_bind(program, "xc", coarse->z, error));
        TRY(weft_program_bind(program, "x0", fine->x, error));
    }
done:
    weft_text_free(&text);
    return status;
}

static weft_status compile(degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    const int wanted = state->preconditioner->problem.degree;
    for (int i = 0; i + 1 < state->n; ++i) {
        TRY(compile_smoothing(state, i, DOWN, wanted > 0 ? wanted : DEGREE, error));
        TRY(compile_transfer(state, i, RESTRICT, error));
        TRY(compile_transfer(state, i, PROLONG, error));
        TRY(compile_smoothing(state, i, UP, wanted > 0 ? wanted : DEGREE, error));
    }
done:
    return status;
}

/* ---- levels ---- */

/* One over the number of cells of each node. */
static weft_status make_shares(const degrees *state, degree_level *level, weft_error *error) {
    weft_status status = WEFT_OK;
    static const char text[] = "index cells, nodes;\nparameter n = 3;\n"
                               "connectivity dofs : cells -> nodes[n];\n"
                               "input ones : real over nodes;\n"
                               "count[dofs] += ones[dofs];\nshare = 1/max(count, 1);\n";
    weft_context *context = state->preconditioner->context;
    const size_t n = (size_t)weft_space_nodes(level->space);
    double *values = malloc((n + 1) * sizeof *values);
    weft_memory *ones = NULL;
    weft_bound_form form;
    if (!values)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    for (size_t i = 0; i < n; ++i)
        values[i] = 1;
    TRY(weft_memory_place(context->device, values, n, sizeof *values, &ones, error));
    TRY(weft_memory_make(context->device, n * sizeof *values, &level->shares, error));
    weft_form_start("degree_shares.weft", text, weft_space_cells(level->space), &form);
    weft_form_bind_input(&form, "ones", ones);
    weft_form_bind_parameter(&form, "n", weft_space_element(level->space)->n_nodes);
    const weft_form_outputs outputs = {
        .names = (const char *const[]){"share"}, .memories = &level->shares, .n = 1};
    TRY(weft_form_run(context, &form.form, &outputs, error));
done:
    weft_memory_free(&ones);
    free(values);
    return status;
}

static weft_status make_table(const degrees *state, degree_level *fine, const weft_space *coarse,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = state->preconditioner->context->device;
    const weft_element *element = weft_space_element(fine->space),
                       *lower = weft_space_element(coarse);
    const int rows = element->n_nodes, columns = lower->n_nodes;
    const size_t n = (size_t)(rows * columns);
    double *table = malloc(n * sizeof *table), *transposed = malloc(n * sizeof *table);
    if (!table || !transposed)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(weft_element_interpolate(lower, element, table, error));
    for (int i = 0; i < rows; ++i)
        for (int k = 0; k < columns; ++k)
            transposed[k * rows + i] = table[i * columns + k];
    TRY(weft_memory_place(device, table, n, sizeof *table, &fine->table, error));
    TRY(weft_memory_place(device, transposed, n, sizeof *table, &fine->transposed, error));
done:
    free(transposed);
    free(table);
    return status;
}

/* Those of a level, also where its space has one component for all. */
static int64_t count_dofs(const degrees *state, int i) {
    return weft_space_nodes(state->levels[i].space) * weft_space_components(state->levels[0].space);
}

/* Weights below it are zero. */
static const double ROUNDING = 1e-12;

/* Sum, for each dof of the coarser level, flags of constrained dofs at which its function is not zero. */
static weft_status sum_flags(const degrees *state, int i, weft_memory *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = state->preconditioner->context;
    const degree_level *fine = &state->levels[i], *coarse = fine + 1;
    const int n = weft_space_element(fine->space)->n_nodes,
              m = weft_space_element(coarse->space)->n_nodes,
              c = weft_space_components(fine->space);
    double *table = malloc((size_t)(n * m) * sizeof *table);
    weft_memory *weights = NULL;
    weft_text text = {0};
    weft_bound_form form;
    char shape[16] = "";
    if (!table)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(weft_memory_read(fine->transposed, 0, table, (size_t)(n * m) * sizeof *table, error));
    for (int k = 0; k < n * m; ++k)
        table[k] = fabs(table[k]) > ROUNDING;
    TRY(weft_memory_place(context->device, table, (size_t)(n * m), sizeof *table, &weights, error));
    if (c > 1)
        (void)weft_print(shape, sizeof shape, "[%d]", c);
    weft_text_add(&text,
                  "index cells, nodes, coarse;\nparameter n = 3, m = 2;\n"
                  "connectivity dofs : cells -> nodes[n];\n"
                  "connectivity coarses : cells -> coarse[m];\n"
                  "input T : real[m,n];\ninput d : real%s over nodes;\n"
                  "flags = select(d > 0, 0, 1);\n"
                  "marks[coarses] += %s(T, flags[dofs]);\n",
                  shape, c > 1 ? "mmul" : "mvmul");
    if (text.failed)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    weft_form_start("degree_constrained.weft", text.data, weft_space_cells(fine->space), &form);
    weft_form_bind_connectivity(&form, "coarses", weft_space_cells(coarse->space));
    weft_form_bind_input(&form, "T", weights);
    weft_form_bind_input(&form, "d", fine->d);
    weft_form_bind_parameter(&form, "n", n);
    weft_form_bind_parameter(&form, "m", m);
    const weft_form_outputs outputs = {
        .names = (const char *const[]){"marks"}, .memories = &out, .n = 1};
    TRY(weft_form_run(context, &form.form, &outputs, error));
done:
    weft_memory_free(&weights);
    weft_text_free(&text);
    free(table);
    return status;
}

/* The dofs of the coarser level that are constrained: those of functions that are not zero at a constrained dof. */
static weft_status find_constrained(const degrees *state, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    degree_level *coarse = (degree_level *)&state->levels[i + 1];
    const int64_t n = count_dofs(state, i + 1);
    const size_t bytes = (size_t)n * sizeof(double);
    double *marks = malloc(bytes + 1);
    weft_memory *memory = NULL;
    coarse->constrained = malloc(((size_t)n + 1) * sizeof *coarse->constrained);
    if (!marks || !coarse->constrained)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(weft_memory_make(state->preconditioner->context->device, bytes, &memory, error));
    TRY(sum_flags(state, i, memory, error));
    TRY(weft_memory_read(memory, 0, marks, bytes, error));
    for (int64_t k = 0; k < n; ++k)
        if (marks[k] > 0 && !weft_fault("coarse_dof_free"))
            coarse->constrained[coarse->n_constrained++] = (int32_t)k;
done:
    weft_memory_free(&memory);
    free(marks);
    return status;
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
    const weft_preconditioner_problem problem = problem_of(state, level);
    weft_preconditioner_level *shown = &state->preconditioner->report.levels[i];
    if (level->coarse)
        TRY(weft_operator_assemble(level->op, error));
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
    TRY(make_shares(state, level, error));
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

/* Does the last level have one matrix for all components? */
static weft_status take_components(degrees *state, int degree, bool *taken, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_coarser *coarser = state->preconditioner->problem.coarser;
    degree_level *made = &state->levels[state->n - 1];
    const int c = weft_space_components(state->levels[0].space);
    *taken = false;
    if (degree != LAST || c < 2 || c > PARTS_MAX || !coarser->is_uncoupled(coarser->user, 0))
        goto done;
    TRY(coarser->make(coarser->user, WEFT_COARSE_COMPONENT, 0, LAST, WEFT_ASSEMBLY_CSR,
                      &made->coarse, error));
    made->space = made->coarse->space;
    TRY(make_table(state, made - 1, made->space, error));
    TRY(find_constrained(state, state->n - 2, error));
    *taken = are_alike(made, c);
    if (*taken) {
        state->n_parts = c;
        for (int64_t i = 0; i < made->n_constrained / c; ++i)
            made->constrained[i] = made->constrained[i * c] / c;
        made->n_constrained /= c;
        goto done;
    }
    weft_coarse_free(&made->coarse);
    weft_memory_free(&(made - 1)->table);
    weft_memory_free(&(made - 1)->transposed);
    free(made->constrained);
    made->constrained = NULL;
    made->n_constrained = 0;
done:
    return status;
}

static weft_status add_level(degrees *state, int degree, weft_error *error) {
    weft_status status = WEFT_OK;
    degree_level *made = &state->levels[state->n++];
    const weft_coarser *coarser = state->preconditioner->problem.coarser;
    bool is_made = false;
    TRY(take_components(state, degree, &is_made, error));
    if (!is_made) {
        TRY(coarser->make(coarser->user, WEFT_COARSE_PROBLEM, 0, degree,
                          degree == LAST ? WEFT_ASSEMBLY_CSR : WEFT_ASSEMBLY_MATRIX_FREE,
                          &made->coarse, error));
        made->space = made->coarse->space;
        TRY(make_table(state, made - 1, made->space, error));
        TRY(find_constrained(state, state->n - 2, error));
    }
    made->op = made->coarse->op;
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
    TRY(make_levels(state, error));
    const degree_level *last = &state->levels[state->n - 1];
    const weft_preconditioner_problem linear = problem_of(state, last);
    TRY(mask_last(state, error));
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
    for (int i = 0; i + 1 < state->n; ++i)
        TRY(measure(state, i, error));
    TRY(weft_operator_assemble(state->levels[state->n - 1].op, error));
    TRY(weft_preconditioner_update(state->inner, error));
    fill_report(state);
done:
    return status;
}

/* ---- the cycle ---- */

static weft_status run_program(const degrees *state, const weft_compiled *compiled,
                               weft_error *error) {
    const weft_preconditioner *preconditioner = state->preconditioner;
    if (weft_device_captures(preconditioner->context->device))
        weft_program_predicate(compiled->program, preconditioner->active);
    return weft_program_run(compiled->program, error);
}

static weft_status run(const degrees *state, int i, degree_step step, weft_error *error) {
    return run_program(state, &state->levels[i].programs[step], error);
}

/* On linear functions. */
static weft_status solve_last(const degrees *state, weft_error *error) {
    weft_status status = WEFT_OK;
    const degree_level *last = &state->levels[state->n - 1];
    state->inner->active = state->preconditioner->active;
    if (state->n_parts == 0) {
        status = weft_preconditioner_apply(state->inner, last->b, last->z, error);
        goto done;
    }
    TRY(run_program(state, &state->split, error));
    for (int k = 0; k < state->n_parts; ++k)
        TRY(weft_preconditioner_apply(state->inner, state->part_b[k], state->part_z[k], error));
    TRY(run_program(state, &state->join, error));
done:
    return status;
}

static weft_status cycle(const degrees *state, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    if (i + 1 == state->n) {
        status = solve_last(state, error);
        goto done;
    }
    TRY(run(state, i, DOWN, error));
    TRY(run(state, i, RESTRICT, error));
    TRY(cycle(state, i + 1, error));
    TRY(run(state, i, PROLONG, error));
    TRY(run(state, i, UP, error));
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

/* Four lists of the finest level and four that its scripts share, those of lower degrees, and the linear level with its matrix,
 * for an eighth of the nodes. */
size_t weft_degrees_memory(const weft_operator_sizes *sizes) {
    return (size_t)(1.2 * 8 * sizeof(double) * (double)sizes->n_rows +
                    60 * (double)(sizes->n_rows * sizes->n_components));
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
