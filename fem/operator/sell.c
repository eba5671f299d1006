/* The operator as one sparse matrix on a GPU: in slices (fem/sparse/sell.h), the first form from zero, the
 * others added. Rows are made by their owners (fem/sparse/addto.h), in a fixed order; where that cannot be, by
 * atomic additions at precomputed positions. */
#include "fem/form/form.h"
#include "fem/form/trial.h"
#include "fem/operator/private.h"
#include "fem/sparse/addto.h"

#include <stdio.h>
#include <stdlib.h>

/* Whether owners make the same matrix is tried on so many cells. */
#define TRIAL_CELLS 2048

typedef struct sliced_part {
    weft_form form;
    weft_equations equations;
    weft_compiled assemble;
    bool by_owners, is_checked;
    weft_matrix_rows rows;  /* by owners */
    weft_memory *positions; /* else */
} sliced_part;

typedef struct sliced_operator {
    weft_context *context;
    weft_sliced_matrix *matrix;
    weft_sliced *layout;   /* until parts that are made by owners are checked */
    weft_memory *exported; /* in the pattern's order; NULL: never asked for */
    sliced_part *parts;
    int n_parts;
} sliced_operator;

/* ---- one form ---- */

static weft_status part_compile(const sliced_operator *sliced, const sliced_part *part,
                                weft_scatter scatter, weft_compiled *out, weft_error *error) {
    return weft_compiled_make_addto(sliced->context, &part->form, part->equations.connectivity,
                                    part == sliced->parts, scatter, out, error);
}

static bool stars_of(const weft_compiled *compiled, bool *with_cells) {
    bool stars = false;
    *with_cells = false;
    for (int k = 0; k < weft_compilation_kernels(compiled->compilation); ++k) {
        weft_kernel_info info;
        weft_compilation_kernel(compiled->compilation, k, &info);
        stars |= info.stars;
        *with_cells |= info.star_cells;
    }
    return stars;
}

/* What a program by owners, or one by positions, needs for dofs; bound. */
static weft_status bind_rows(const sliced_operator *sliced, const weft_pattern *pattern,
                             const weft_compiled *compiled, weft_connectivity *dofs,
                             weft_matrix_rows *rows, weft_error *error) {
    weft_status status = WEFT_OK;
    bool with_cells = false;
    (void)stars_of(compiled, &with_cells);
    TRY(weft_addto_rows_make(sliced->context->device, sliced->layout, pattern, dofs, with_cells,
                             rows, error));
    rows->start = weft_sliced_matrix_start(sliced->matrix);
    rows->rows = weft_sliced_matrix_rows(sliced->matrix);
    TRY(weft_program_bind_connectivity(compiled->program, "dofs", dofs, error));
    TRY(weft_program_bind_matrix_rows(compiled->program, "A",
                                      weft_sliced_matrix_values(sliced->matrix), rows, error));
done:
    return status;
}

/* rows is dofs where a node has one component. */
static weft_status bind_positions(const sliced_operator *sliced, const weft_compiled *compiled,
                                  weft_connectivity *dofs, const weft_connectivity *rows,
                                  weft_memory **positions, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_sliced_positions(sliced->matrix, rows, positions, error));
    TRY(weft_program_bind_connectivity(compiled->program, "dofs", dofs, error));
    TRY(weft_program_bind_matrix(compiled->program, "A", weft_sliced_matrix_values(sliced->matrix),
                                 *positions, error));
done:
    return status;
}

/* Atomic additions in place of owners, and why. */
static weft_status part_fall_back(const sliced_operator *sliced, sliced_part *part,
                                  weft_compiled *atomic, const char *why, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_log(sliced->context->monitor, WEFT_LOG_WARNING,
             "%s: the matrix is assembled by atomic additions, not row by row: %s", part->form.name,
             why);
    weft_compiled_free(&part->assemble);
    weft_addto_rows_free(&part->rows);
    part->by_owners = false;
    part->assemble = *atomic;
    *atomic = (weft_compiled){0};
    TRY(bind_positions(sliced, &part->assemble, part->form.dofs, part->equations.connectivity,
                       &part->positions, error));
done:
    return status;
}

static weft_status part_make(const sliced_operator *sliced, const weft_pattern *pattern,
                             sliced_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled atomic = {0};
    weft_error why = {0};
    bool with_cells = false;
    TRY(part_compile(sliced, part,
                     weft_form_components(&part->form) > 1 ? WEFT_SCATTER_COLOURED
                                                           : WEFT_SCATTER_STARS,
                     &part->assemble, error));
    part->by_owners = stars_of(&part->assemble, &with_cells);
    if (!part->by_owners) {
        TRY(bind_positions(sliced, &part->assemble, part->form.dofs, part->equations.connectivity,
                           &part->positions, error));
        goto done;
    }
    status = bind_rows(sliced, pattern, &part->assemble, part->form.dofs, &part->rows, &why);
    if (status == WEFT_ERROR_UNSUPPORTED) {
        TRY(part_compile(sliced, part, WEFT_SCATTER_COLOURED, &atomic, error));
        TRY(part_fall_back(sliced, part, &atomic, why.message, error));
    } else if (status != WEFT_OK && error) {
        *error = why;
    }
done:
    weft_compiled_free(&atomic);
    return status;
}

/* ---- owners on trial ---- */

/* y = A v of the matrix that a program makes of zeros. */
static weft_status trial_run(const sliced_operator *sliced, const weft_compiled *compiled,
                             weft_memory *v, weft_memory *y, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_memory_zero(weft_sliced_matrix_values(sliced->matrix), error));
    TRY(weft_program_run(compiled->program, error));
    TRY(weft_sliced_product(sliced->matrix, v, y, error));
done:
    return status;
}

/* The first cells by owners and by atomic additions: what their products differ by. The programs
 * are bound to all cells again afterwards. */
static weft_status trial_apart(const sliced_operator *sliced, const weft_pattern *pattern,
                               sliced_part *part, const weft_compiled *atomic, double *apart,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = sliced->context->device;
    weft_connectivity *all = part->form.dofs, *few = NULL;
    const int64_t n_cells = weft_connectivity_from(all), n = pattern->n_rows;
    weft_matrix_rows rows = {0};
    weft_memory *positions = NULL, *v = NULL, *y[2] = {NULL, NULL};
    TRY(weft_connectivity_make(device, weft_connectivity_indices(all),
                               n_cells < TRIAL_CELLS ? n_cells : TRIAL_CELLS,
                               weft_connectivity_width(all), n, &few, error));
    TRY(bind_rows(sliced, pattern, &part->assemble, few, &rows, error));
    TRY(bind_positions(sliced, atomic, few, few, &positions, error));
    TRY(weft_memory_make(device, (size_t)n * sizeof(double), &v, error));
    TRY(weft_memory_make(device, (size_t)n * sizeof(double), &y[0], error));
    TRY(weft_memory_make(device, (size_t)n * sizeof(double), &y[1], error));
    TRY(weft_trial_write(v, n, error));
    TRY(trial_run(sliced, atomic, v, y[0], error));
    TRY(trial_run(sliced, &part->assemble, v, y[1], error));
    TRY(weft_trial_apart(y[0], y[1], n, apart, error));
    TRY(weft_program_bind_connectivity(part->assemble.program, "dofs", all, error));
    TRY(weft_program_bind_matrix_rows(part->assemble.program, "A",
                                      weft_sliced_matrix_values(sliced->matrix), &part->rows,
                                      error));
done:
    weft_addto_rows_free(&rows);
    weft_memory_free(&positions);
    weft_memory_free(&v);
    weft_memory_free(&y[0]);
    weft_memory_free(&y[1]);
    weft_connectivity_free(&few);
    return status;
}

/* A form whose values depend on how a cell's vertices are numbered (a quadrature rule that is not
 * symmetric, say) is none for owners, nor are rows too long for a block's memory. */
static weft_status part_check(const sliced_operator *sliced, const weft_pattern *pattern,
                              sliced_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled atomic = {0};
    weft_error why = {0};
    double apart = 0;
    if (!part->by_owners || part->is_checked)
        return WEFT_OK;
    TRY(part_compile(sliced, part, WEFT_SCATTER_COLOURED, &atomic, error));
    status = trial_apart(sliced, pattern, part, &atomic, &apart, &why);
    if (status == WEFT_OK && apart > WEFT_TRIAL_APART)
        snprintf(why.message, sizeof why.message,
                 "its values depend on the numbering of a cell's vertices (by %.1e)", apart);
    if (status == WEFT_ERROR_UNSUPPORTED || (status == WEFT_OK && apart > WEFT_TRIAL_APART))
        TRY(part_fall_back(sliced, part, &atomic, why.message, error));
    else if (status != WEFT_OK && error)
        *error = why;
    part->is_checked = status == WEFT_OK;
done:
    weft_compiled_free(&atomic);
    return status;
}

/* ---- the operator ---- */

static weft_status sliced_assemble(weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    sliced_operator *sliced = op->state;
    for (int i = 0; i < sliced->n_parts; ++i)
        TRY(part_check(sliced, op->pattern, &sliced->parts[i], error));
    weft_sliced_free(&sliced->layout);
    for (int i = 0; i < sliced->n_parts; ++i)
        TRY(weft_program_run(sliced->parts[i].assemble.program, error));
done:
    return status;
}

static weft_status sliced_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                                weft_error *error) {
    const sliced_operator *sliced = op->state;
    return weft_sliced_product(sliced->matrix, v, y, error);
}

static weft_status sliced_diagonal(weft_operator *op, weft_memory *d, weft_error *error) {
    const sliced_operator *sliced = op->state;
    return weft_sliced_diagonal(sliced->matrix, d, error);
}

static void sliced_free(weft_operator *op) {
    sliced_operator *sliced = op->state;
    for (int i = 0; i < sliced->n_parts; ++i) {
        weft_compiled_free(&sliced->parts[i].assemble);
        weft_addto_rows_free(&sliced->parts[i].rows);
        weft_memory_free(&sliced->parts[i].positions);
        weft_equations_free(&sliced->parts[i].equations);
    }
    weft_sliced_matrix_free(&sliced->matrix);
    weft_sliced_free(&sliced->layout);
    weft_memory_free(&sliced->exported);
}

static const weft_rows *sliced_rows(const weft_operator *op) {
    const sliced_operator *sliced = op->state;
    return weft_sliced_matrix_routine(sliced->matrix);
}

static weft_status sliced_matrix(weft_operator *op, weft_memory **values, weft_error *error) {
    weft_status status = WEFT_OK;
    sliced_operator *sliced = op->state;
    if (!sliced->exported)
        TRY(weft_memory_make(sliced->context->device,
                             (size_t)op->pattern->n_entries * sizeof(double), &sliced->exported,
                             error));
    TRY(weft_sliced_export(sliced->matrix, op->pattern, sliced->exported, error));
    *values = sliced->exported;
done:
    return status;
}

static const weft_operator_table sliced_table = {
    .assemble = sliced_assemble,
    .apply = sliced_apply,
    .diagonal = sliced_diagonal,
    .free = sliced_free,
    .rows = sliced_rows,
    .matrix = sliced_matrix,
};

weft_status weft_operator_make_sliced(weft_context *context, const weft_form *forms, int n_forms,
                                      weft_operator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    TRY(weft_operator_allocate(&sliced_table, sizeof(sliced_operator), sizeof(sliced_part), forms, n_forms, &op, error));
    sliced_operator *sliced = op->state;
    sliced_part *parts = op->parts;
    *sliced = (sliced_operator){.context = context, .parts = parts, .n_parts = n_forms};
    /* the pattern is the first form's; the others' couplings are in it */
    for (int i = 0; i < n_forms; ++i) {
        parts[i].form = forms[i];
        TRY(weft_equations_make(context->device, &forms[i], &parts[i].equations, error));
    }
    TRY(weft_pattern_make(context->device, parts[0].equations.connectivity, WEFT_SLICE,
                          &op->pattern, NULL, error));
    TRY(weft_sliced_matrix_make(context->device, op->pattern, &sliced->layout, &sliced->matrix,
                                error));
    for (int i = 0; i < n_forms; ++i) {
        TRY(part_make(sliced, op->pattern, &parts[i], error));
    }
    *out = op;
    op = NULL;
done:
    weft_operator_free(&op);
    return status;
}
