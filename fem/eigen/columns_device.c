/* Blocks of vectors on a GPU, by kernels/solvers/columns.cu: what columns.c does on the host. What a step of LOBPCG with a of m columns
 * launches, and how many times it reads or writes a block: products 2 (4, and the matrices); Gram matrices 13, each with the sum of its chunks
 * (26); combinations 14 (37); residuals 1 (2); a column of residuals and back, 2 a. Results of Gram matrices and residuals are read, for which the
 * host waits 14 times; nothing else waits. */
#include "fem/eigen/private.h"

#include "core/base/fault.h"
#include "core/embedded.h"
#include "fem/base/memory.h"
#include "fem/embedded_solvers.h"
#include "fusion/setup/setup.h"

#include <stdlib.h>
#include <string.h>

/* Of the kernels; a chunk has CHUNK rows or more, and there are at most CHUNKS_MOST tiles of chunks. */
enum { THREADS = 256, GROUP = COLUMNS_GROUP, TILE = 16, NUMBERS = 16, SUMMED = 32 };
enum { CHUNK = 1024, CHUNKS_MOST = 1056, TERMS_MOST = 3 };

typedef struct matrix {
    const double *of; /* the host's values, by which it is found */
    weft_memory *row_start, *columns, *values;
} matrix;

struct columns_device {
    weft_device *device;
    weft_module *module; /* the device's */
    matrix matrices[2];
    weft_memory *dropped;              /* [rows] bytes: 1 in dropped rows */
    weft_memory *d;                    /* [rows] pencil_diagonal */
    weft_memory *r, *z;                /* [rows] a column */
    weft_memory *where;                /* NUMBERS: the column that is preconditioned */
    weft_memory *numbers, *sums, *all; /* of a launch, grown where they are too small */
};

/* ---- making ---------------------------------------------------------------------------------- */

bool columns_device_pays(const weft_pencil *pencil) {
    const int64_t least =
        pencil->rows_on_device > 0 ? pencil->rows_on_device : WEFT_EIGEN_ON_DEVICE;
    return weft_setup_on_device(pencil->device) && pencil->K.n_rows >= least;
}

void columns_device_free(columns_device **out) {
    columns_device *there = *out;
    if (!there)
        return;
    for (int k = 0; k < 2; ++k) {
        weft_memory_free(&there->matrices[k].row_start);
        weft_memory_free(&there->matrices[k].columns);
        weft_memory_free(&there->matrices[k].values);
    }
    weft_memory **const rest[] = {&there->dropped, &there->d,       &there->r,    &there->z,
                                  &there->where,   &there->numbers, &there->sums, &there->all};
    for (size_t k = 0; k < sizeof rest / sizeof *rest; ++k)
        weft_memory_free(rest[k]);
    free(there);
    *out = NULL;
}

static weft_status place_matrix(weft_device *device, const weft_csr *A, matrix *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t rows = (size_t)A->n_rows, n = (size_t)A->row_start[A->n_rows];
    out->of = A->values;
    TRY(weft_memory_place(device, A->row_start, rows + 1, sizeof *A->row_start, &out->row_start,
                          error));
    TRY(weft_memory_place(device, A->columns, n, sizeof *A->columns, &out->columns, error));
    TRY(weft_memory_place(device, A->values, n, sizeof *A->values, &out->values, error));
done:
    return status;
}

static weft_status place_dropped(const weft_pencil *pencil, columns_device *there,
                                 weft_error *error) {
    const size_t rows = (size_t)pencil->K.n_rows;
    const int64_t n = weft_fault("dropped_row_kept") ? 0 : pencil->n_dropped;
    unsigned char *marks = calloc(rows + 1, 1);
    if (!marks)
        return weft_out_of_memory(error, "eigenvectors");
    for (int64_t k = 0; k < n; ++k)
        marks[pencil->dropped[k]] = 1;
    const weft_status status =
        weft_memory_place(there->device, marks, rows, 1, &there->dropped, error);
    free(marks);
    return status;
}

weft_status columns_device_make(const weft_pencil *pencil, const double *d, columns_device **out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)pencil->K.n_rows * sizeof(double);
    const char *text = "";
    columns_device *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    made->device = pencil->device;
    for (const weft_embedded_file *file = weft_embedded_solvers; file->name; ++file)
        if (strcmp(file->name, "columns.cu") == 0)
            text = file->text;
    TRY(weft_device_module(made->device, "columns", text, &made->module, error));
    TRY(place_matrix(made->device, &pencil->K, &made->matrices[0], error));
    TRY(place_matrix(made->device, &pencil->M, &made->matrices[1], error));
    TRY(place_dropped(pencil, made, error));
    TRY(weft_memory_make(made->device, bytes, &made->d, error));
    TRY(weft_memory_make(made->device, bytes, &made->r, error));
    TRY(weft_memory_make(made->device, bytes, &made->z, error));
    TRY(weft_memory_make(made->device, NUMBERS * sizeof(int64_t), &made->where, error));
    TRY(columns_device_set_diagonal(made, d, error));
    *out = made;
    made = NULL;
done:
    columns_device_free(&made);
    return status;
}

weft_status columns_device_set_diagonal(columns_device *there, const double *d, weft_error *error) {
    return weft_memory_write(there->d, 0, d, weft_memory_bytes(there->d), error);
}

static weft_status make_block(const weft_pencil *pencil, columns *out, weft_error *error) {
    const size_t entries = (size_t)out->n * (size_t)out->stride;
    return weft_memory_make(pencil->device, entries * sizeof(double), &out->memory, error);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* A memory of so many bytes, or of more. */
static weft_status grow(weft_device *device, size_t bytes, weft_memory **memory,
                        weft_error *error) {
    if (*memory && weft_memory_bytes(*memory) >= bytes)
        return WEFT_OK;
    weft_memory_free(memory);
    return weft_memory_make(device, bytes, memory, error);
}

/* The numbers of a kernel, and its coefficients behind them. */
static weft_status place_numbers(columns_device *there, const int64_t *numbers, const double *C,
                                 size_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t first = NUMBERS * sizeof *numbers, bytes = first + n * sizeof *C;
    char *both = malloc(bytes);
    if (!both)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    memcpy(both, numbers, first);
    memcpy(both + first, C ? (const void *)C : "", n * sizeof *C);
    TRY(grow(there->device, bytes, &there->numbers, error));
    TRY(weft_memory_write(there->numbers, 0, both, bytes, error));
done:
    free(both);
    return status;
}

static weft_status launch(const columns_device *there, const char *kernel, int64_t n,
                          int64_t n_blocks, weft_memory *const *arguments, int n_arguments,
                          weft_error *error) {
    const weft_launch launched = {.module = there->module,
                                  .kernel = kernel,
                                  .arguments = arguments,
                                  .n_arguments = n_arguments,
                                  .n_elements = n,
                                  .lanes = 32,
                                  .block_threads = THREADS,
                                  .n_blocks = n_blocks};
    return n > 0 && n_blocks > 0 ? weft_device_launch(there->device, &launched, error) : WEFT_OK;
}

static int64_t over(int64_t n, int64_t by) {
    return (n + by - 1) / by;
}

/* ---- products -------------------------------------------------------------------------------- */

static weft_status product(const weft_pencil *pencil, const weft_csr *A, const columns *x,
                           columns *y, weft_error *error) {
    weft_status status = WEFT_OK;
    columns_device *there = pencil->blocks;
    const matrix *of = &there->matrices[A->values != there->matrices[0].of];
    const int64_t groups = over(x->m, GROUP);
    const int64_t numbers[NUMBERS] = {groups, x->stride, y->stride};
    y->m = x->m;
    if (x->m == 0)
        goto done;
    TRY(place_numbers(there, numbers, NULL, 0, error));
    weft_memory *const arguments[] = {there->numbers, of->row_start, of->columns, of->values,
                                      there->dropped, x->memory,     y->memory};
    TRY(launch(there, "multiply", x->n, over(x->n, THREADS / groups), arguments, 7, error));
done:
    return status;
}

/* ---- sums over rows -------------------------------------------------------------------------- */

static int64_t count_chunks(int64_t n, int64_t tiles) {
    const int64_t most = tiles < CHUNKS_MOST ? CHUNKS_MOST / tiles : 1, all = over(n, CHUNK);
    return all < most ? all : most;
}

/* Add up n sums of each chunk, which are in there->sums, into out [n]. */
static weft_status add_chunks(columns_device *there, int64_t chunks, int64_t n, double *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t numbers[NUMBERS] = {chunks - (chunks > 1 && weft_fault("chunk_of_sums_lost"))};
    TRY(grow(there->device, (size_t)n * sizeof *out, &there->all, error));
    TRY(place_numbers(there, numbers, NULL, 0, error));
    weft_memory *const arguments[] = {there->numbers, there->sums, there->all};
    TRY(launch(there, "add_chunks", n, over(n, SUMMED), arguments, 3, error));
    TRY(weft_memory_read(there->all, 0, out, (size_t)n * sizeof *out, error));
done:
    return status;
}

static weft_status gram(const weft_pencil *pencil, const columns *a, const columns *b, double *G,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    columns_device *there = pencil->blocks;
    const int64_t along = over(b->m, TILE), tiles = over(a->m, TILE) * along;
    const int64_t chunks = count_chunks(a->n, tiles), size = tiles * TILE * TILE;
    const int64_t numbers[NUMBERS] = {
        over(a->m, GROUP), over(b->m, GROUP), a->stride, b->stride, along, tiles, chunks};
    double *all = NULL;
    if (tiles == 0)
        goto done;
    all = malloc((size_t)size * sizeof *all);
    if (!all)
        TRY(weft_out_of_memory(error, "a Gram matrix"));
    TRY(grow(there->device, (size_t)(chunks * size) * sizeof *all, &there->sums, error));
    TRY(place_numbers(there, numbers, NULL, 0, error));
    weft_memory *const arguments[] = {there->numbers, a->memory, b->memory, there->sums};
    TRY(launch(there, "gram", a->n, chunks * tiles, arguments, 4, error));
    TRY(add_chunks(there, chunks, size, all, error));
    for (int i = 0; i < a->m; ++i)
        for (int k = 0; k < b->m; ++k)
            G[i * b->m + k] =
                all[((i / TILE * along + k / TILE) * TILE + i % TILE) * TILE + k % TILE];
done:
    free(all);
    return status;
}

static weft_status residuals(const weft_pencil *pencil, const columns *a, const double *c,
                             const columns *b, const double *d, double *sums, weft_error *error) {
    weft_status status = WEFT_OK;
    columns_device *there = pencil->blocks;
    const int64_t tiles = over(a->m, TILE), chunks = count_chunks(a->n, tiles), size = tiles * TILE;
    const int64_t numbers[NUMBERS] = {a->m, a->stride, b->stride, tiles, chunks};
    double *all = malloc((size_t)size * sizeof *all + 1);
    (void)d; /* columns_device_set_diagonal has placed it */
    if (!all)
        TRY(weft_out_of_memory(error, "residuals"));
    if (tiles == 0)
        goto done;
    TRY(grow(there->device, (size_t)(chunks * size) * sizeof *all, &there->sums, error));
    TRY(place_numbers(there, numbers, c, (size_t)a->m, error));
    weft_memory *const arguments[] = {there->numbers, a->memory, b->memory, there->d, there->sums};
    TRY(launch(there, "squares", a->n, chunks * tiles, arguments, 5, error));
    TRY(add_chunks(there, chunks, size, all, error));
    memcpy(sums, all, (size_t)a->m * sizeof *sums);
done:
    free(all);
    return status;
}

/* ---- combinations ---------------------------------------------------------------------------- */

static weft_status combine(const weft_pencil *pencil, const columns_term *terms, int n_terms, int m,
                           columns *out, weft_error *error) {
    weft_status status = WEFT_OK;
    columns_device *there = pencil->blocks;
    const int width = columns_width(m), groups = width / GROUP;
    int64_t numbers[NUMBERS] = {n_terms, groups, out->stride};
    weft_memory *arguments[TERMS_MOST + 2] = {NULL};
    double *C = NULL;
    size_t rows = 0, place = 0;
    if (m == 0)
        goto done;
    for (int t = 0; t < n_terms; ++t)
        rows += terms[t].C ? (size_t)columns_width(terms[t].of->m) : 0;
    C = calloc(rows * (size_t)width + 1, sizeof *C);
    if (!C)
        TRY(weft_out_of_memory(error, "a combination of vectors"));
    for (int t = 0; t < TERMS_MOST; ++t) {
        const columns *of = t < n_terms ? terms[t].of : out;
        const bool is_multiplied = t < n_terms && terms[t].C;
        const int64_t own[] = {of->m, of->stride, is_multiplied ? (int64_t)place : -1};
        memcpy(numbers + 3 + 3 * t, own, sizeof own);
        arguments[1 + t] = of->memory;
        for (int k = 0; is_multiplied && k < of->m; ++k)
            memcpy(C + place + (size_t)(k * width), terms[t].C + k * m, (size_t)m * sizeof *C);
        place += is_multiplied ? (size_t)(columns_width(of->m) * width) : 0;
    }
    TRY(place_numbers(there, numbers, C, place, error));
    arguments[0] = there->numbers;
    arguments[TERMS_MOST + 1] = out->memory;
    const int64_t at_once = THREADS / groups * GROUP;
    TRY(launch(there, "combine", out->n, over(out->n, at_once), arguments, TERMS_MOST + 2, error));
done:
    out->m = m;
    free(C);
    return status;
}

/* As a product with columns of the unit matrix. */
static weft_status take(const weft_pencil *pencil, const int *list, int n, columns *block,
                        weft_error *error) {
    double *C = calloc((size_t)block->m * (size_t)n + 1, sizeof *C);
    if (!C)
        return weft_out_of_memory(error, "a combination of vectors");
    for (int k = 0; k < n; ++k)
        C[list[k] * n + k] = 1;
    const columns_term term = {block, C};
    const weft_status status = combine(pencil, &term, 1, n, block, error);
    free(C);
    return status;
}

/* ---- single columns -------------------------------------------------------------------------- */

static weft_status fill_random(const weft_pencil *pencil, int first, int last, int seed,
                               columns *out, weft_error *error) {
    weft_status status = WEFT_OK;
    columns_device *there = pencil->blocks;
    const int64_t numbers[NUMBERS] = {first, last, seed, out->stride};
    TRY(place_numbers(there, numbers, NULL, 0, error));
    weft_memory *const arguments[] = {there->numbers, there->dropped, out->memory};
    TRY(launch(there, "fill_random", out->n, over(out->n, THREADS), arguments, 3, error));
    out->m = last;
done:
    return status;
}

/* The column that `where` names, into there->r. */
static weft_status take_out(columns_device *there, weft_memory *where, const columns *block,
                            weft_error *error) {
    weft_memory *const arguments[] = {where, block->memory, there->r};
    return launch(there, "get_column", block->n, over(block->n, THREADS), arguments, 3, error);
}

/* there->z into the column that was taken out, and `where` names the next one. */
static weft_status put_back(columns_device *there, weft_memory *where, columns *block,
                            weft_error *error) {
    weft_memory *const arguments[] = {where, there->dropped, there->z, block->memory};
    return launch(there, "set_column", block->n, over(block->n, THREADS), arguments, 4, error);
}

static weft_status get(const weft_pencil *pencil, const columns *block, int at, double *out,
                       weft_error *error) {
    weft_status status = WEFT_OK;
    columns_device *there = pencil->blocks;
    const int64_t numbers[NUMBERS] = {at, at, block->stride};
    TRY(place_numbers(there, numbers, NULL, 0, error));
    TRY(take_out(there, there->numbers, block, error));
    TRY(weft_memory_read(there->r, 0, out, (size_t)block->n * sizeof *out, error));
done:
    return status;
}

static weft_status set(const weft_pencil *pencil, columns *block, int at, const double *values,
                       weft_error *error) {
    weft_status status = WEFT_OK;
    columns_device *there = pencil->blocks;
    const int64_t numbers[NUMBERS] = {at, at, block->stride};
    TRY(place_numbers(there, numbers, NULL, 0, error));
    TRY(weft_memory_write(there->z, 0, values, (size_t)block->n * sizeof *values, error));
    TRY(put_back(there, there->numbers, block, error));
done:
    return status;
}

/* ---- the approximate inverse ----------------------------------------------------------------- */

static weft_status scale_rows(columns_device *there, columns *block, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t numbers[NUMBERS] = {block->m, block->stride};
    TRY(place_numbers(there, numbers, NULL, 0, error));
    weft_memory *const arguments[] = {there->numbers, there->d, block->memory};
    TRY(launch(there, "scale_rows", block->n, over(block->n, THREADS), arguments, 3, error));
done:
    return status;
}

static weft_status precondition_there(const weft_pencil *pencil, columns *block,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    columns_device *there = pencil->blocks;
    const int64_t first[] = {0, 0, block->stride, 1};
    TRY(weft_memory_write(there->where, 0, first, sizeof first, error));
    for (int k = 0; k < block->m; ++k) {
        TRY(take_out(there, there->where, block, error));
        TRY(pencil->precondition_on_device(pencil->user, there->r, there->z, error));
        TRY(put_back(there, there->where, block, error));
    }
done:
    return status;
}

static weft_status precondition(const weft_pencil *pencil, const double *d, columns *block,
                                double *r, double *z, weft_error *error) {
    return !pencil->precondition ? scale_rows(pencil->blocks, block, error)
           : pencil->precondition_on_device
               ? precondition_there(pencil, block, error)
               : columns_precondition_each(pencil, d, block, r, z, error);
}

const columns_table columns_on_device = {.make = make_block,
                                         .product = product,
                                         .gram = gram,
                                         .combine = combine,
                                         .take = take,
                                         .residuals = residuals,
                                         .random = fill_random,
                                         .get = get,
                                         .set = set,
                                         .precondition = precondition};
