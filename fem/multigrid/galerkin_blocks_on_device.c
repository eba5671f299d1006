/* Makes Galerkin matrices of nodes with several rows on a device (kernels/setup/galerkin_blocks.cu). */
#include "fem/multigrid/on_device.h"

#include "fusion/connectivity/connectivity.h"

enum { REACH_MOST = 128, NEAR_MOST = 256, THREADS = 256 }; /* as in kernels/setup */

typedef struct product {
    weft_setup *setup;
    const weft_device_blocks *level;
    const weft_device_block_prolongation *P;
    weft_sell_memories A;
    weft_memory *sizes;               /* modes, rows of a node at most */
    weft_memory *reach_start, *reach; /* aggregates that nodes reach by A P */
    weft_memory *products;            /* A P */
    weft_memory *start, *places;      /* rows of P with entries in each aggregate */
    weft_memory *near_start, *near;   /* aggregates next to each one */
} product;

static void product_clear(product *p) {
    weft_memory **memories[] = {&p->sizes, &p->reach_start, &p->reach,      &p->products,
                                &p->start, &p->places,      &p->near_start, &p->near};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
}

static weft_status make(const product *p, int64_t n, size_t size, weft_memory **out,
                        weft_error *error) {
    return weft_memory_make_unset(weft_setup_device(p->setup), (size_t)n * size, out, error);
}

static weft_status run(const product *p, const char *name, int64_t n, weft_memory *const *arguments,
                       int n_arguments, weft_error *error) {
    const weft_setup_kernel kernel = {"galerkin_blocks", name, n, 0, 0};
    return weft_setup_launch(p->setup, &kernel, arguments, n_arguments, error);
}

/* Starts of lists from their lengths, of which the greatest is limited. */
static weft_status sum_lengths(const product *p, weft_memory *lengths, int64_t n,
                               weft_memory *longest, int32_t limit, weft_memory **start,
                               int64_t *total, weft_error *error) {
    weft_status status = WEFT_OK;
    int32_t most = 0;
    TRY(weft_setup_sums(p->setup, lengths, n, start, total, error));
    TRY(weft_memory_read(longest, 0, &most, sizeof most, error));
    if (most > limit)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "a node couples with more than %d aggregates", limit));
done:
    return status;
}

static weft_status find_reach(product *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = p->level->n_nodes;
    const weft_device_block_prolongation *P = p->P;
    const weft_sell_memories *A = &p->A;
    int64_t total = 0;
    weft_memory *lengths = NULL, *longest = NULL;
    TRY(make(p, n, sizeof(uint32_t), &lengths, error));
    TRY(weft_memory_make(weft_setup_device(p->setup), sizeof(int32_t), &longest, error));
    weft_memory *arguments[] = {A->slots,   A->bases,  A->start,        A->column_start,
                                A->columns, A->values, p->level->first, P->aggregates,
                                P->counts,  lengths,   longest};
    TRY(run(p, "reach_counts", 32 * n, arguments, 11, error));
    TRY(sum_lengths(p, lengths, n, longest, REACH_MOST, &p->reach_start, &total, error));
    TRY(make(p, total, sizeof(int32_t), &p->reach, error));
    TRY(make(p, total * p->level->most_rows * P->n_modes, sizeof(double), &p->products, error));
    arguments[9] = p->reach_start;
    arguments[10] = p->reach;
    TRY(run(p, "reach_lists", 32 * n, arguments, 11, error));
done:
    weft_memory_free(&lengths);
    weft_memory_free(&longest);
    return status;
}

static weft_status multiply(product *p, weft_error *error) {
    const weft_sell_memories *A = &p->A;
    const weft_device_blocks *level = p->level;
    weft_memory *const arguments[] = {
        p->sizes,     A->slots,      A->bases,       A->start,  A->column_start,
        A->columns,   A->values,     level->first,   level->of, p->P->aggregates,
        p->P->counts, p->P->weights, p->reach_start, p->reach,  p->products};
    return run(p, "block_products", 32 * level->n_rows, arguments, 15, error);
}

/* P^T by aggregates, from a copy of the indices that a connectivity can have. */
static weft_status transpose(product *p, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *copy = NULL;
    weft_connectivity *rows = NULL;
    const size_t bytes = weft_memory_bytes(p->P->aggregates);
    TRY(make(p, (int64_t)bytes, 1, &copy, error));
    TRY(weft_memory_copy(copy, p->P->aggregates, bytes, error));
    TRY(weft_connectivity_make_copied(weft_setup_device(p->setup), NULL, &copy, WEFT_ROW_AGGREGATES,
                                      p->P->n_aggregates, &rows, error));
    TRY(weft_connectivity_transpose(rows, p->setup, 1, NULL, &p->start, &p->places, error));
done:
    weft_memory_free(&copy);
    weft_connectivity_free(&rows);
    return status;
}

static weft_status find_near(product *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = p->P->n_aggregates;
    int64_t total = 0;
    weft_memory *lengths = NULL, *longest = NULL;
    TRY(make(p, n, sizeof(uint32_t), &lengths, error));
    TRY(weft_memory_make(weft_setup_device(p->setup), sizeof(int32_t), &longest, error));
    weft_memory *arguments[] = {p->start,       p->places, p->P->counts, p->level->of,
                                p->reach_start, p->reach,  lengths,      longest};
    TRY(run(p, "near_counts", 32 * n, arguments, 8, error));
    TRY(sum_lengths(p, lengths, n, longest, NEAR_MOST, &p->near_start, &total, error));
    TRY(make(p, total, sizeof(int32_t), &p->near, error));
    arguments[6] = p->near_start;
    arguments[7] = p->near;
    TRY(run(p, "near_lists", 32 * n, arguments, 8, error));
done:
    weft_memory_free(&lengths);
    weft_memory_free(&longest);
    return status;
}

static weft_status make_rows(const product *p, weft_device_matrix *made, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_device_block_prolongation *P = p->P;
    const int64_t n = P->n_aggregates;
    weft_device_pattern *pattern = &made->pattern;
    weft_memory *lengths = NULL;
    pattern->n_rows = P->n_columns;
    TRY(make(p, pattern->n_rows, sizeof(uint32_t), &lengths, error));
    TRY(run(p, "coarse_lengths", n, (weft_memory *[]){P->first, p->near_start, p->near, lengths}, 4,
            error));
    TRY(weft_setup_sums(p->setup, lengths, pattern->n_rows, &pattern->row_start,
                        &pattern->n_entries, error));
    TRY(weft_device_pattern_check(0, pattern->n_entries, error));
    TRY(make(p, pattern->n_entries, sizeof(int32_t), &pattern->columns, error));
    TRY(make(p, pattern->n_entries, sizeof(double), &made->values, error));
    weft_memory *const arguments[] = {
        p->sizes,        p->start,     p->places,          P->counts,        P->weights,  P->scale,
        p->level->first, p->level->of, p->reach_start,     p->reach,         p->products, P->first,
        p->near_start,   p->near,      pattern->row_start, pattern->columns, made->values};
    TRY(run(p, "coarse_rows", THREADS * n, arguments, 17, error));
done:
    weft_memory_free(&lengths);
    return status;
}

weft_status weft_device_galerkin_blocks(weft_setup *setup, const weft_device_blocks *level,
                                        const weft_device_block_prolongation *P,
                                        weft_device_matrix *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_matrix made = {0};
    product p = {.setup = setup, .level = level, .P = P};
    weft_sell_matrix_memories(level->A, &p.A);
    TRY(weft_setup_numbers(setup, (int64_t[]){P->n_modes, level->most_rows}, 2, &p.sizes, error));
    TRY(find_reach(&p, error));
    TRY(multiply(&p, error));
    TRY(transpose(&p, error));
    TRY(find_near(&p, error));
    TRY(make_rows(&p, &made, error));
    *out = made;
    made = (weft_device_matrix){0};
done:
    product_clear(&p);
    weft_device_matrix_free(&made);
    return status;
}
