/* Makes matrices and diagonals close to the Schur complement of a multiplier. */
#include "fem/precondition/schur.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The reaction, times nodes per side squared, from which on it changes the Schur complement. */
static const double REACTION = 0.5;

double weft_schur_eliminated(const weft_block_analysis *a, int64_t i, const double *d) {
    double sum = 0;
    for (int64_t k = a->A->row_start[i]; k < a->A->row_start[i + 1]; ++k) {
        const int32_t j = a->A->columns[k];
        const weft_block *other = &a->blocks->list[a->of[j]];
        if (a->free[j] && a->of[j] != a->of[i] && other->sign != 0 &&
            other->role != WEFT_BLOCK_MULTIPLIER)
            sum += a->A->values[k] * a->T.values[k] / d[j];
    }
    return sum;
}

bool weft_block_is_singular(const weft_block *block) {
    static const double UNSEEN = 1e-10;
    const weft_csr *A = &block->matrix;
    double most = 0, diagonal = 0;
    if (block->n_constrained > 0 || weft_space_components(block->space) > 1)
        return false;
    for (int64_t i = 0; i < A->n_rows; ++i) {
        double row = 0;
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k) {
            row += A->values[k];
            diagonal = A->columns[k] == i ? fmax(diagonal, A->values[k]) : diagonal;
        }
        most = fmax(most, fabs(row));
    }
    return most <= UNSEEN * diagonal;
}

bool weft_schur_is_eliminated(const weft_block_analysis *a, const weft_block *block, int32_t j) {
    const weft_block *other = &a->blocks->list[a->of[j]];
    return a->free[j] && other != block && other->role != WEFT_BLOCK_MULTIPLIER;
}

bool weft_schur_is_own(const weft_block_analysis *a, const weft_block *block, int32_t j) {
    return a->free[j] && &a->blocks->list[a->of[j]] == block;
}

/* [B S, C], the rows of the block, in all columns; those where S, `scale`, is 0 are left out */
static weft_status make_left(const weft_block_analysis *a, const weft_block *block,
                             const double *scale, weft_csr *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_csr *A = a->A;
    const int64_t most = A->row_start[block->first + block->n] - A->row_start[block->first];
    int64_t n = 0;
    TRY(weft_csr_allocate(block->n, A->n_rows, most + block->n, out, error));
    for (int64_t i = block->first; i < block->first + block->n; ++i) {
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1] && a->free[i]; ++k) {
            const int32_t j = A->columns[k];
            const double factor = weft_schur_is_own(a, block, j) ? 1 : scale[j];
            if (factor == 0)
                continue;
            out->columns[n] = j;
            out->values[n++] = A->values[k] * factor;
        }
        out->row_start[i - block->first + 1] = n;
    }
done:
    return status;
}

/* [B'; 1], the columns of the block, in all rows but those where `scale` is 0 */
static weft_status make_right(const weft_block_analysis *a, const weft_block *block,
                              const double *scale, weft_csr *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_csr *A = a->A;
    const int64_t most = A->row_start[block->first + block->n] - A->row_start[block->first];
    int64_t n = 0;
    TRY(weft_csr_allocate(A->n_rows, block->n, most + block->n, out, error));
    for (int64_t i = 0; i < A->n_rows; ++i) {
        if (weft_schur_is_own(a, block, (int32_t)i)) {
            out->columns[n] = (int32_t)(i - block->first);
            out->values[n++] = 1;
        } else if (scale[i] != 0) {
            for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
                if (weft_schur_is_own(a, block, A->columns[k])) {
                    out->columns[n] = (int32_t)(A->columns[k] - block->first);
                    out->values[n++] = A->values[k];
                }
        }
        out->row_start[i + 1] = n;
    }
done:
    return status;
}

weft_status weft_schur_add_product(const weft_block_analysis *a, const weft_block *block,
                                   const double *scale, weft_csr *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr left = {0}, right = {0};
    TRY(make_left(a, block, scale, &left, error));
    TRY(make_right(a, block, scale, &right, error));
    TRY(weft_csr_multiply(a->device, &left, &right, out, error));
done:
    weft_csr_clear(&left);
    weft_csr_clear(&right);
    return status;
}

/* Replace a matrix by its symmetric part, with a sign. */
static weft_status make_symmetric(weft_device *device, double sign, weft_csr *A,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = A->row_start[A->n_rows];
    double *values = weft_array_make_unset((size_t)n * sizeof *values + 1);
    if (!values)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    TRY(weft_csr_symmetric_part(device, A, values, error));
    for (int64_t k = 0; k < n; ++k)
        A->values[k] = sign * values[k];
done:
    free(values);
    return status;
}

/* sign (C - B D^-1 B'), and its symmetric part if it is not symmetric */
static weft_status multiply(const weft_block_analysis *a, weft_block *block, const double *d,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    double *scale = calloc((size_t)a->A->n_rows + 1, sizeof *scale);
    if (!scale)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    for (int64_t i = 0; i < a->A->n_rows; ++i)
        scale[i] = weft_schur_is_eliminated(a, block, (int32_t)i) ? -1 / d[i] : 0;
    TRY(weft_schur_add_product(a, block, scale, &block->matrix, error));
    TRY(make_symmetric(a->device, block->sign, &block->matrix, error));
    block->is_singular = weft_block_is_singular(block);
done:
    free(scale);
    return status;
}

/* diag(C - B D^-1 B'), inverted, and its sign */
static weft_status invert_diagonal(const weft_block_analysis *a, weft_block *block,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const int number = (int)(block - a->blocks->list);
    bool positive = false, negative = false, wrong = false;
    block->diagonal = calloc((size_t)block->n + 1, sizeof *block->diagonal);
    if (!block->diagonal)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    for (int64_t i = 0; i < block->n; ++i) {
        const int64_t row = block->first + i;
        if (!a->free[row])
            continue;
        const double entry = a->diagonal[row] - weft_schur_eliminated(a, row, a->diagonal);
        positive |= entry > 0;
        negative |= entry < 0;
        wrong |= !isfinite(1 / entry);
        block->diagonal[i] = 1 / fabs(entry);
    }
    block->sign = negative ? -1 : 1;
    if (wrong || (positive && negative)) {
        status =
            weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "the diagonal of the Schur complement of part %d of the matrix has %s",
                           number, wrong ? "zeros" : "entries of both signs");
        weft_error_hint(error, "%s", WEFT_BLOCKS_ADVICE);
    }
done:
    return status;
}

/* ---- reactions --------------------------------------------------------------------------- */

/* |det J| at the centre of a cell, times the measure of the reference cell. table  [1 + d][vertices] */
static double cell_volume(const weft_mesh *mesh, int64_t cell, const double *table) {
    const int d = mesh->dimension, v = weft_mesh_cell_vertices(mesh);
    double J[3][3] = {{0}};
    for (int k = 0; k < v; ++k)
        for (int i = 0; i < d; ++i)
            for (int j = 0; j < d; ++j)
                J[i][j] +=
                    mesh->x[(int64_t)mesh->cells[cell * v + k] * d + i] * table[(1 + j) * v + k];
    const double det = d == 1   ? J[0][0]
                       : d == 2 ? J[0][0] * J[1][1] - J[0][1] * J[1][0]
                                : J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
                                      J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
                                      J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
    return fabs(det) * weft_mesh_cell(mesh)->measure;
}

static weft_status tabulate_centre(const weft_mesh *mesh, double **table, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_mesh_cell(mesh);
    const int d = mesh->dimension, v = cell->n_entities[0];
    weft_element *linear = NULL;
    double centre[3] = {0};
    for (int k = 0; k < v; ++k)
        for (int i = 0; i < d; ++i)
            centre[i] += cell->vertices[k][i] / v;
    *table = malloc((size_t)((1 + d) * v) * sizeof **table);
    if (!*table)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    TRY(weft_element_make(WEFT_LAGRANGE, cell->type, 1, &linear, error));
    TRY(weft_element_tabulate(linear, 1, 1, centre, *table, error));
done:
    weft_element_free(&linear);
    return status;
}

/* shares[n_nodes]: the diagonal of the mass matrix of the reference cell, over its sum. */
static weft_status find_shares(const weft_element *element, double **shares, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_quadrature rule = {0};
    const int n = element->n_nodes;
    double *values = NULL, sum = 0;
    *shares = calloc((size_t)n, sizeof **shares);
    TRY(weft_quadrature_make(element->cell, WEFT_SCHEME_DEFAULT, 2 * element->degree, &rule,
                             error));
    values = malloc((size_t)(n * rule.n) * sizeof *values);
    if (!values || !*shares)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    TRY(weft_element_tabulate(element, 0, rule.n, rule.points, values, error));
    for (int k = 0; k < n; ++k)
        for (int p = 0; p < rule.n; ++p)
            (*shares)[k] += rule.weights[p] * values[p * n + k] * values[p * n + k];
    for (int k = 0; k < n; ++k)
        sum += (*shares)[k];
    for (int k = 0; k < n; ++k)
        (*shares)[k] /= sum;
done:
    weft_quadrature_free(&rule);
    free(values);
    return status;
}

/* Add the volume of every cell to the nodes of a block, in the proportions of the mass matrix's diagonal (Hinton, Rock and
 * Zienkiewicz 1976), which is positive for elements of every degree. table  that of tabulate_centre */
static weft_status add_volumes(const weft_block *block, const double *table, double *volumes,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(block->space);
    const int width = weft_space_element(block->space)->n_nodes;
    const int c = weft_space_components(block->space);
    const int32_t *nodes = weft_space_cell_nodes(block->space);
    double *shares = NULL;
    TRY(find_shares(weft_space_element(block->space), &shares, error));
    for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
        const double volume = cell_volume(mesh, cell, table);
        for (int k = 0; k < width * c; ++k)
            volumes[(int64_t)nodes[cell * width + k / c] * c + k % c] += volume * shares[k / c];
    }
done:
    free(shares);
    return status;
}

/* On several ranks those of own nodes, all of whose cells this rank has, are collected. */
static weft_status collect_volumes(weft_block_analysis *a, int number, const double *table,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_block *block = &a->blocks->list[number];
    const weft_rank_rows *rows = a->mixed ? &a->mixed->rows[number] : NULL;
    double *own = NULL;
    if (!rows) {
        status = add_volumes(block, table, a->volumes + block->first, error);
        goto done;
    }
    own = calloc((size_t)rows->n + 1, sizeof *own);
    if (!own)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    TRY(add_volumes(block, table, own, error));
    TRY(weft_rank_collect(rows, own, sizeof *own, a->volumes + block->first, error));
done:
    free(own);
    return status;
}

static weft_status find_volumes(weft_block_analysis *a, weft_error *error) {
    weft_status status = WEFT_OK;
    double *table = NULL;
    if (a->volumes)
        goto done;
    a->volumes = calloc((size_t)a->A->n_rows + 1, sizeof *a->volumes);
    if (!a->volumes)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    TRY(tabulate_centre(weft_space_mesh(a->blocks->list[0].space), &table, error));
    for (int b = 0; b < a->blocks->n; ++b)
        TRY(collect_volumes(a, b, table, error));
done:
    free(table);
    return status;
}

/* The part of the reaction in the diagonal of a block: its mean density times the volumes of nodes. */
static void spread_reaction(const weft_block_analysis *a, const weft_block *block, double *d) {
    double diagonals = 0, volumes = 0;
    for (int64_t i = block->first; i < block->first + block->n; ++i)
        if (a->free[i]) {
            diagonals += a->diagonal[i];
            volumes += a->volumes[i];
        }
    for (int64_t i = block->first; i < block->first + block->n; ++i)
        d[i] = block->reaction * diagonals / volumes * a->volumes[i];
}

/* The blocks to which a multiplier is coupled, by their least reaction. */
static double find_least_reaction(const weft_block_analysis *a, const weft_block *block) {
    bool is_coupled[WEFT_BLOCKS_MAX] = {false};
    double least = INFINITY;
    for (int64_t i = block->first; i < block->first + block->n; ++i)
        for (int64_t k = a->A->row_start[i]; k < a->A->row_start[i + 1]; ++k)
            if (weft_schur_is_eliminated(a, block, a->A->columns[k]) && a->A->values[k] != 0)
                is_coupled[a->of[a->A->columns[k]]] = true;
    for (int b = 0; b < a->blocks->n; ++b)
        if (is_coupled[b])
            least = fmin(least, a->blocks->list[b].reaction);
    return least;
}

/* L of the commutator, which multigrid or a factorization inverts, and its weights. */
static weft_status make_commutator(weft_block_analysis *a, weft_block *block, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(find_volumes(a, error));
    TRY(multiply(a, block, a->volumes, error));
    block->weights = calloc((size_t)a->A->n_rows + 1, sizeof *block->weights);
    if (!block->weights)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    for (int64_t i = 0; i < a->A->n_rows; ++i)
        if (weft_schur_is_eliminated(a, block, (int32_t)i))
            block->weights[i] = 1 / a->volumes[i];
    free(block->diagonal);
    block->diagonal = NULL;
    block->factor = block->matrix;
    block->matrix = (weft_csr){0};
done:
    return status;
}

/* The inverse of the Schur complement of a multiplier. */
weft_status weft_schur_make(weft_block_analysis *a, weft_block *block, weft_error *error) {
    weft_status status = WEFT_OK;
    const double reaction = find_least_reaction(a, block);
    const weft_mesh *mesh = weft_space_mesh(block->space);
    const double per_side = pow((double)weft_block_nodes(block), 1.0 / mesh->dimension);
    double *d = NULL;
    TRY(invert_diagonal(a, block, error));
    if (a->blocks->schur != WEFT_SCHUR_MASS) {
        TRY(a->blocks->schur == WEFT_SCHUR_AUGMENTED ? weft_augment(a, block, error)
                                                     : make_commutator(a, block, error));
        goto done;
    }
    if (reaction * per_side * per_side < REACTION)
        goto done;
    if (reaction > WEFT_BLOCK_MASS_REACTION) {
        TRY(multiply(a, block, a->diagonal, error));
        free(block->diagonal);
        block->diagonal = NULL;
        goto done;
    }
    d = malloc((size_t)a->A->n_rows * sizeof *d + 1);
    if (!d)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    memcpy(d, a->diagonal, (size_t)a->A->n_rows * sizeof *d);
    TRY(find_volumes(a, error));
    for (int b = 0; b < a->blocks->n; ++b)
        if (a->blocks->list[b].role == WEFT_BLOCK_ELLIPTIC)
            spread_reaction(a, &a->blocks->list[b], d);
    TRY(multiply(a, block, d, error));
done:
    free(d);
    return status;
}
