/* Finds the blocks of a saddle point, and matrices and diagonals close to their Schur complements.
 *
 * Decision  docs/decisions/0043-block-preconditioner-reads-the-matrix.md */
#include "fem/precondition/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The reaction of a block from which on it counts as a mass matrix; mass matrices have 1 to 3. */
static const double MASS = 0.3;
/* The reaction, times nodes per side squared, from which on it changes the Schur complement. */
static const double REACTION = 0.5;

typedef struct analysis {
    weft_device *device;
    const weft_csr *A;
    weft_csr T; /* A^T */
    const weft_preconditioner_problem *problem;
    weft_blocks *blocks;
    double *diagonal;    /* [n_rows] */
    unsigned char *free; /* [n_rows] not constrained */
    int *of;             /* [n_rows] the block of a row */
    double *volumes;     /* [n_rows] of nodes; NULL: not needed yet */
} analysis;

void weft_blocks_clear(weft_blocks *blocks) {
    for (int i = 0; i < blocks->n; ++i) {
        weft_block *block = &blocks->list[i];
        weft_csr_clear(&block->matrix);
        weft_csr_clear(&block->coupling);
        free(block->constrained);
        free(block->diagonal);
    }
    *blocks = (weft_blocks){0};
}

static void clear(analysis *a) {
    weft_csr_clear(&a->T);
    free(a->diagonal);
    free(a->free);
    free(a->of);
    free(a->volumes);
}

/* ---- the matrix -------------------------------------------------------------------------- */

static weft_status check_pattern(const analysis *a, weft_error *error) {
    const weft_csr *A = a->A, *T = &a->T;
    const size_t starts = (size_t)(A->n_rows + 1) * sizeof *A->row_start;
    if (memcmp(A->row_start, T->row_start, starts) == 0 &&
        memcmp(A->columns, T->columns, (size_t)A->row_start[A->n_rows] * sizeof *A->columns) == 0)
        return WEFT_OK;
    return weft_error_set(
        error, WEFT_ERROR_UNSUPPORTED,
        "the pattern of the matrix is not symmetric, as block preconditioners need it");
}

static void mark_rows(analysis *a) {
    const weft_csr *A = a->A;
    const weft_preconditioner_problem *problem = a->problem;
    memset(a->free, 1, (size_t)A->n_rows);
    for (int64_t i = 0; i < problem->n_constrained; ++i)
        a->free[problem->constrained[i]] = 0;
    for (int b = 0; b < a->blocks->n; ++b)
        for (int64_t i = 0; i < a->blocks->list[b].n; ++i)
            a->of[a->blocks->list[b].first + i] = b;
    for (int64_t i = 0; i < A->n_rows; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            if (A->columns[k] == i)
                a->diagonal[i] = A->values[k];
}

static weft_status start(analysis *a, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)a->A->n_rows;
    a->diagonal = calloc(n + 1, sizeof *a->diagonal);
    a->free = calloc(n + 1, sizeof *a->free);
    a->of = calloc(n + 1, sizeof *a->of);
    if (!a->diagonal || !a->free || !a->of)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    TRY(weft_csr_transpose(a->device, a->A, &a->T, error));
    TRY(check_pattern(a, error));
    mark_rows(a);
done:
    return status;
}

/* ---- roles ------------------------------------------------------------------------------- */

/* The sign of the free entries of the diagonal of a block; 0: one of them is zero. */
static weft_status find_sign(const analysis *a, int number, double *sign, weft_error *error) {
    const weft_block *block = &a->blocks->list[number];
    bool zero = false, positive = false, negative = false;
    for (int64_t i = block->first; i < block->first + block->n; ++i) {
        zero |= a->free[i] && a->diagonal[i] == 0;
        positive |= a->free[i] && a->diagonal[i] > 0;
        negative |= a->free[i] && a->diagonal[i] < 0;
    }
    *sign = zero ? 0 : negative ? -1 : 1;
    if (!zero && positive && negative)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "the diagonal of part %d of the matrix has entries of both signs",
                              number);
    return WEFT_OK;
}

/* sum a_ik a_ki / d_k of row i over the free k of blocks that are neither multipliers nor its own */
static double eliminated(const analysis *a, int64_t i, const double *d) {
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

/* Do a block and those before it have the signs of a saddle point? */
static bool opposes(const analysis *a, const weft_block *block) {
    double sum = 0;
    for (int64_t i = block->first; i < block->first + block->n; ++i)
        if (a->free[i])
            sum += eliminated(a, i, a->diagonal) / a->diagonal[i];
    return sum < -1e-3 * (double)block->n;
}

/* The reaction of a block: its rows that see no constrained dof, applied to the constant of their
 * component. */
static double find_reaction(const analysis *a, const weft_block *block) {
    const weft_csr *A = a->A;
    const int c = weft_space_components(block->space);
    double rows = 0, diagonals = 0;
    for (int64_t i = block->first; i < block->first + block->n; ++i) {
        double row = 0;
        bool sees = !a->free[i];
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1] && !sees; ++k) {
            const int64_t j = A->columns[k] - block->first;
            if (j < 0 || j >= block->n)
                continue;
            sees = !a->free[A->columns[k]];
            row += j % c == (i - block->first) % c ? A->values[k] : 0;
        }
        rows += sees ? 0 : row * block->sign;
        diagonals += sees ? 0 : fabs(a->diagonal[i]);
    }
    return diagonals > 0 ? rows / diagonals : 0;
}

/* Find the mass matrix of the same space to which a block is coupled by derivatives, as in Cahn and Hilliard's
 * equations. */
static bool find_partner(const analysis *a, weft_block *block) {
    const weft_element *own = weft_space_element(block->space);
    for (int b = 0; b < a->blocks->n; ++b) {
        const weft_block *other = &a->blocks->list[b];
        const weft_element *element = weft_space_element(other->space);
        block->pair = (weft_coupled){
            .A = a->A, .free = a->free, .n = block->n, .c = other->first, .m = block->first};
        block->partner = b;
        if (other != block && other->role == WEFT_BLOCK_MASS && other->sign != 0 &&
            other->n == block->n && element->family == own->family &&
            element->degree == own->degree && weft_coupled_find(&block->pair))
            return true;
    }
    return false;
}

/* Mark a block and its partner. */
static void couple(const analysis *a, weft_block *block) {
    weft_block *other = &a->blocks->list[block->partner];
    block->role = other->role = WEFT_BLOCK_COUPLED;
    block->sign = block->pair.sign_c;
    block->reaction = 1;
    block->has_pair = true;
    other->partner = (int)(block - a->blocks->list);
}

static weft_status find_roles(analysis *a, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_blocks *blocks = a->blocks;
    bool is_done[WEFT_BLOCKS_MAX] = {false};
    int n = blocks->n;
    for (int b = 0; b < blocks->n; ++b) {
        is_done[b] = blocks->list[b].role == WEFT_BLOCK_CONDENSED;
        n -= is_done[b];
    }
    for (int step = 0; step < n; ++step) {
        int next = -1;
        double sign = 0;
        for (int b = 0; b < blocks->n; ++b)
            if (!is_done[b] && (next < 0 || blocks->list[b].n > blocks->list[next].n))
                next = b;
        weft_block *block = &blocks->list[next];
        is_done[next] = true;
        TRY(find_sign(a, next, &sign, error));
        if (sign != 0 && find_partner(a, block)) {
            couple(a, block);
            continue;
        }
        if (sign == 0 || opposes(a, block)) {
            block->role = WEFT_BLOCK_MULTIPLIER;
            blocks->n_multipliers += 1;
            continue;
        }
        block->sign = sign;
        block->reaction = find_reaction(a, block);
        block->role = block->reaction > MASS ? WEFT_BLOCK_MASS : WEFT_BLOCK_ELLIPTIC;
    }
done:
    return status;
}

/* Jacobi's preconditioner does as well without multipliers and elliptic blocks. */
static weft_status check_roles(const weft_blocks *blocks, weft_error *error) {
    int n = 0;
    for (int b = 0; b < blocks->n; ++b)
        n += blocks->list[b].role != WEFT_BLOCK_CONDENSED;
    bool useful = blocks->n_multipliers > 0 && blocks->n_multipliers < n;
    for (int b = 0; b < blocks->n; ++b)
        useful |= blocks->list[b].role == WEFT_BLOCK_ELLIPTIC ||
                  blocks->list[b].role == WEFT_BLOCK_COUPLED;
    if (useful)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                          blocks->n_multipliers > 0
                              ? "the diagonal of every part of the matrix has zeros"
                              : "all parts of the matrix are like mass matrices");
}

/* ---- matrices of blocks ------------------------------------------------------------------ */

static weft_status list_constrained(const analysis *a, weft_block *block, weft_error *error) {
    int64_t n = 0;
    for (int64_t i = 0; i < block->n; ++i)
        n += !a->free[block->first + i];
    block->constrained = malloc(((size_t)n + 1) * sizeof *block->constrained);
    if (!block->constrained)
        return weft_out_of_memory(error, "the blocks of a preconditioner");
    for (int64_t i = 0; i < block->n; ++i)
        if (!a->free[block->first + i])
            block->constrained[block->n_constrained++] = (int32_t)i;
    return WEFT_OK;
}

/* Is the block, in contrast to its pattern, not symmetric? */
static bool is_unsymmetric(const analysis *a, const weft_block *block) {
    static const double SYMMETRIC = 1e-10;
    const weft_csr *A = a->A;
    const int64_t last = block->first + block->n;
    double most = 0, apart = 0;
    for (int64_t i = block->first; i < last; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            if (A->columns[k] >= block->first && A->columns[k] < last) {
                most = fmax(most, fabs(A->values[k]));
                apart = fmax(apart, fabs(A->values[k] - a->T.values[k]));
            }
    return apart > SYMMETRIC * most;
}

/* Make the symmetric part of a block that is not symmetric definite, which a term like (u . grad w, v) in a
 * tangent takes from it: without couplings of components, and with row sums that are not negative. */
static void make_definite(const weft_block *block, weft_csr *A) {
    const int c = weft_space_components(block->space);
    for (int64_t i = 0; i < A->n_rows; ++i) {
        double row = 0;
        int64_t diagonal = -1;
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k) {
            if (A->columns[k] % c != i % c)
                A->values[k] = 0;
            row += A->values[k];
            diagonal = A->columns[k] == i ? k : diagonal;
        }
        if (row < 0 && diagonal >= 0)
            A->values[diagonal] -= 2 * row;
    }
}

/* sign (A + A^T)/2 of the block */
static weft_status extract(const analysis *a, weft_block *block, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_csr *A = a->A;
    weft_csr made = {0};
    int64_t n = 0;
    const int64_t last = block->first + block->n;
    for (int64_t k = A->row_start[block->first]; k < A->row_start[last]; ++k)
        n += A->columns[k] >= block->first && A->columns[k] < last;
    TRY(weft_csr_allocate(block->n, block->n, n, &made, error));
    n = 0;
    for (int64_t i = block->first; i < last; ++i) {
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            if (A->columns[k] >= block->first && A->columns[k] < last) {
                made.columns[n] = (int32_t)(A->columns[k] - block->first);
                made.values[n++] = block->sign * 0.5 * (A->values[k] + a->T.values[k]);
            }
        made.row_start[i - block->first + 1] = n;
    }
    if (is_unsymmetric(a, block))
        make_definite(block, &made);
    block->matrix = made;
    made = (weft_csr){0};
done:
    weft_csr_clear(&made);
    return status;
}

/* Are constants in the null space of the matrix of a block with one component? */
static bool loses_constants(const weft_block *block) {
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

/* ---- Schur complements ------------------------------------------------------------------- */

/* Is column j of a row one of those that are eliminated? */
static bool is_eliminated(const analysis *a, const weft_block *block, int32_t j) {
    const weft_block *other = &a->blocks->list[a->of[j]];
    return a->free[j] && other != block && other->role != WEFT_BLOCK_MULTIPLIER;
}

static bool is_own(const analysis *a, const weft_block *block, int32_t j) {
    return a->free[j] && &a->blocks->list[a->of[j]] == block;
}

/* [-B D^-1, C], the rows of the block, in all columns */
static weft_status make_left(const analysis *a, const weft_block *block, const double *d,
                             weft_csr *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_csr *A = a->A;
    const int64_t most = A->row_start[block->first + block->n] - A->row_start[block->first];
    int64_t n = 0;
    TRY(weft_csr_allocate(block->n, A->n_rows, most + block->n, out, error));
    for (int64_t i = block->first; i < block->first + block->n; ++i) {
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1] && a->free[i]; ++k) {
            const int32_t j = A->columns[k];
            if (!is_eliminated(a, block, j) && !is_own(a, block, j))
                continue;
            out->columns[n] = j;
            out->values[n++] = is_own(a, block, j) ? A->values[k] : -A->values[k] / d[j];
        }
        out->row_start[i - block->first + 1] = n;
    }
done:
    return status;
}

/* [B'; 1], the columns of the block, in all rows */
static weft_status make_right(const analysis *a, const weft_block *block, weft_csr *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_csr *A = a->A;
    const int64_t most = A->row_start[block->first + block->n] - A->row_start[block->first];
    int64_t n = 0;
    TRY(weft_csr_allocate(A->n_rows, block->n, most + block->n, out, error));
    for (int64_t i = 0; i < A->n_rows; ++i) {
        if (is_own(a, block, (int32_t)i)) {
            out->columns[n] = (int32_t)(i - block->first);
            out->values[n++] = 1;
        } else if (is_eliminated(a, block, (int32_t)i)) {
            for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
                if (is_own(a, block, A->columns[k])) {
                    out->columns[n] = (int32_t)(A->columns[k] - block->first);
                    out->values[n++] = A->values[k];
                }
        }
        out->row_start[i + 1] = n;
    }
done:
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
static weft_status multiply(const analysis *a, weft_block *block, const double *d,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr left = {0}, right = {0};
    TRY(make_left(a, block, d, &left, error));
    TRY(make_right(a, block, &right, error));
    TRY(weft_csr_multiply(a->device, &left, &right, &block->matrix, error));
    TRY(make_symmetric(a->device, block->sign, &block->matrix, error));
    block->is_singular = loses_constants(block);
done:
    weft_csr_clear(&left);
    weft_csr_clear(&right);
    return status;
}

/* diag(C - B D^-1 B'), inverted, and its sign */
static weft_status invert_diagonal(const analysis *a, weft_block *block, weft_error *error) {
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
        const double entry = a->diagonal[row] - eliminated(a, row, a->diagonal);
        positive |= entry > 0;
        negative |= entry < 0;
        wrong |= !isfinite(1 / entry);
        block->diagonal[i] = 1 / fabs(entry);
    }
    block->sign = negative ? -1 : 1;
    if (wrong || (positive && negative))
        status =
            weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "the diagonal of the Schur complement of part %d of the matrix has %s",
                           number, wrong ? "zeros" : "entries of both signs");
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

/* The volume of every cell, in equal shares, to the nodes of each block. */
static weft_status find_volumes(analysis *a, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(a->blocks->list[0].space);
    double *table = NULL;
    a->volumes = calloc((size_t)a->A->n_rows + 1, sizeof *a->volumes);
    if (!a->volumes)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    TRY(tabulate_centre(mesh, &table, error));
    for (int b = 0; b < a->blocks->n; ++b) {
        const weft_block *block = &a->blocks->list[b];
        const int width = weft_space_element(block->space)->n_nodes;
        const int c = weft_space_components(block->space);
        const int32_t *nodes = weft_space_cell_nodes(block->space);
        for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
            const double share = cell_volume(mesh, cell, table) / width;
            for (int k = 0; k < width * c; ++k)
                a->volumes[block->first + (int64_t)nodes[cell * width + k / c] * c + k % c] +=
                    share;
        }
    }
done:
    free(table);
    return status;
}

/* The part of the reaction in the diagonal of a block: its mean density times the volumes of nodes. */
static void spread_reaction(const analysis *a, const weft_block *block, double *d) {
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
static double find_least_reaction(const analysis *a, const weft_block *block) {
    bool is_coupled[WEFT_BLOCKS_MAX] = {false};
    double least = INFINITY;
    for (int64_t i = block->first; i < block->first + block->n; ++i)
        for (int64_t k = a->A->row_start[i]; k < a->A->row_start[i + 1]; ++k)
            if (is_eliminated(a, block, a->A->columns[k]) && a->A->values[k] != 0)
                is_coupled[a->of[a->A->columns[k]]] = true;
    for (int b = 0; b < a->blocks->n; ++b)
        if (is_coupled[b])
            least = fmin(least, a->blocks->list[b].reaction);
    return least;
}

/* The inverse of the Schur complement of a multiplier. */
static weft_status make_schur(analysis *a, weft_block *block, weft_error *error) {
    weft_status status = WEFT_OK;
    const double reaction = find_least_reaction(a, block);
    const weft_mesh *mesh = weft_space_mesh(block->space);
    const double per_side = pow((double)weft_space_nodes(block->space), 1.0 / mesh->dimension);
    double *d = NULL;
    TRY(invert_diagonal(a, block, error));
    if (reaction * per_side * per_side < REACTION)
        goto done;
    if (reaction > MASS) {
        TRY(multiply(a, block, a->diagonal, error));
        free(block->diagonal);
        block->diagonal = NULL;
        goto done;
    }
    d = malloc((size_t)a->A->n_rows * sizeof *d + 1);
    if (!d)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    memcpy(d, a->diagonal, (size_t)a->A->n_rows * sizeof *d);
    if (!a->volumes)
        TRY(find_volumes(a, error));
    for (int b = 0; b < a->blocks->n; ++b)
        if (a->blocks->list[b].role == WEFT_BLOCK_ELLIPTIC)
            spread_reaction(a, &a->blocks->list[b], d);
    TRY(multiply(a, block, d, error));
done:
    free(d);
    return status;
}

/* ---- all blocks -------------------------------------------------------------------------- */

/* H, for two blocks with GMRES, and for each, in its scale, with MINRES. */
static weft_status make_coupled(const analysis *a, weft_block *block, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_coupled *pair =
        block->has_pair ? &block->pair : &a->blocks->list[block->partner].pair;
    const double scale = block->has_pair ? 1 : pair->scale;
    if (a->problem->is_general && !block->has_pair)
        return WEFT_OK;
    TRY(weft_coupled_matrices(a->device, pair, &block->matrix, &block->coupling, error));
    for (int64_t k = 0; k < block->matrix.row_start[block->n]; ++k)
        block->matrix.values[k] *= scale;
    block->is_singular = loses_constants(block);
done:
    return status;
}

static weft_status make_block(analysis *a, weft_block *block, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(list_constrained(a, block, error));
    if (block->role == WEFT_BLOCK_COUPLED) {
        TRY(make_coupled(a, block, error));
        goto done;
    }
    if (block->role == WEFT_BLOCK_CONDENSED)
        goto done;
    if (block->role == WEFT_BLOCK_MULTIPLIER) {
        TRY(make_schur(a, block, error));
    } else if (block->role == WEFT_BLOCK_ELLIPTIC) {
        TRY(extract(a, block, error));
        block->is_singular = loses_constants(block);
    } else {
        block->diagonal = calloc((size_t)block->n + 1, sizeof *block->diagonal);
        if (!block->diagonal)
            TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
        for (int64_t i = 0; i < block->n; ++i)
            if (a->free[block->first + i])
                block->diagonal[i] = 1 / fabs(a->diagonal[block->first + i]);
    }
done:
    return status;
}

weft_status weft_blocks_make(weft_device *device, const weft_csr *A,
                             const weft_preconditioner_problem *problem, const bool *condensed,
                             weft_blocks *out, weft_error *error) {
    weft_status status = WEFT_OK;
    analysis a = {.device = device, .A = A, .problem = problem, .blocks = out};
    int64_t first = 0;
    *out = (weft_blocks){.n = problem->n_spaces};
    for (int b = 0; b < out->n; ++b) {
        out->list[b] = (weft_block){.space = problem->spaces[b],
                                    .first = first,
                                    .n = weft_space_dofs(problem->spaces[b]),
                                    .role = WEFT_BLOCK_MASS};
        if (condensed && condensed[b])
            out->list[b].role = WEFT_BLOCK_CONDENSED;
        first += out->list[b].n;
    }
    TRY(start(&a, error));
    TRY(find_roles(&a, error));
    TRY(check_roles(out, error));
    for (int b = 0; b < out->n; ++b)
        TRY(make_block(&a, &out->list[b], error));
done:
    clear(&a);
    return status;
}
