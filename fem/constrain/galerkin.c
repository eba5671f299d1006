/* C^T A C for many values of A: the first product finds where each entry goes. */
#include "fem/constrain/private.h"

#include <stdlib.h>
#include <string.h>

/* A part of an entry of A that goes to an entry of the result. */
typedef struct contribution {
    int64_t from, to;
    double factor;
} contribution;

struct constraint_product {
    weft_pattern pattern;
    uint32_t *from; /* [n_entries] the entry between independent dofs that an entry is; NONE */
    contribution *contributions; /* added to it */
    int64_t n_contributions, capacity;
    int64_t *identity; /* [n_identity] entries that are 1 */
    int n_identity;
};

static const uint32_t NONE = UINT32_MAX;
enum { CHUNK = 1 << 16 };

void constraint_product_free(constraint_product **product) {
    if (!product || !*product)
        return;
    free((*product)->pattern.row_start);
    free((*product)->pattern.columns);
    free((*product)->from);
    free((*product)->contributions);
    free((*product)->identity);
    free(*product);
    *product = NULL;
}

/* The pattern of C^T A C with a diagonal entry for each dependent dof, whose row is empty. */
static weft_status make_pattern(const weft_constraints *constraints, const weft_csr *matrix,
                                constraint_product *product, weft_error *error) {
    const int64_t n = matrix->n_rows;
    const int64_t n_entries = matrix->row_start[n] + constraints->n_rows;
    weft_pattern *pattern = &product->pattern;
    int64_t k = 0;
    *pattern = (weft_pattern){.n_rows = n, .n_entries = n_entries};
    pattern->row_start = weft_array_make((size_t)n + 1, sizeof *pattern->row_start);
    pattern->columns = weft_array_make((size_t)n_entries, sizeof *pattern->columns);
    product->identity = weft_array_make((size_t)constraints->n_rows, sizeof *product->identity);
    product->from = weft_array_make_unset((uint64_t)n_entries * sizeof *product->from);
    if (!pattern->row_start || !pattern->columns || !product->identity || !product->from)
        return weft_out_of_memory(error, "constraints");
    for (int64_t i = 0; i < n; ++i) {
        const int64_t first = matrix->row_start[i], count = matrix->row_start[i + 1] - first;
        pattern->row_start[i] = k;
        memcpy(pattern->columns + k, matrix->columns + first,
               (size_t)count * sizeof *pattern->columns);
        k += count;
        if (constraints->row_of[i] >= 0) {
            product->identity[product->n_identity++] = k;
            pattern->columns[k++] = (int32_t)i;
        }
    }
    pattern->row_start[n] = k;
    return WEFT_OK;
}

static int64_t find(const weft_pattern *pattern, int32_t row, int32_t column) {
    int64_t low = pattern->row_start[row], high = pattern->row_start[row + 1] - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (pattern->columns[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static weft_status add_contribution(constraint_product *product, const contribution *one,
                                    weft_error *error) {
    if (product->n_contributions == product->capacity) {
        const int64_t capacity = 2 * product->capacity + 1024;
        contribution *contributions =
            realloc(product->contributions, (size_t)capacity * sizeof *contributions);
        if (!contributions)
            return weft_out_of_memory(error, "constraints");
        product->contributions = contributions;
        product->capacity = capacity;
    }
    product->contributions[product->n_contributions++] = *one;
    return WEFT_OK;
}

/* A_ij goes to (k, l) by C_ik C_jl. */
static weft_status place_entry(constraint_product *product, const weft_csr *map, int64_t from,
                               int32_t i, int32_t j, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int64_t a = map->row_start[i]; a < map->row_start[i + 1]; ++a)
        for (int64_t b = map->row_start[j]; b < map->row_start[j + 1]; ++b) {
            const contribution one = {from,
                                      find(&product->pattern, map->columns[a], map->columns[b]),
                                      map->values[a] * map->values[b]};
            TRY(add_contribution(product, &one, error));
        }
done:
    return status;
}

/* Row i of A, of an independent dof: its columns and those of the result ascend. */
static weft_status place_row(const weft_constraints *constraints, const weft_pattern *A,
                             const weft_csr *map, int32_t i, constraint_product *product,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_pattern *pattern = &product->pattern;
    int64_t at = pattern->row_start[i];
    for (int64_t e = A->row_start[i]; e < A->row_start[i + 1]; ++e) {
        const int32_t j = A->columns[e];
        if (constraints->row_of[j] >= 0) {
            TRY(place_entry(product, map, e, i, j, error));
            continue;
        }
        while (pattern->columns[at] < j)
            ++at;
        product->from[at] = (uint32_t)e;
    }
done:
    return status;
}

/* Does a rank compute row i of the result, or need it for one that it computes? */
static bool is_needed(const weft_constraints *constraints, const unsigned char *owned, int32_t i) {
    bool needed = owned[i] != 0;
    const int32_t row = constraints->row_of[i];
    for (int k = 0; row >= 0 && k < constraints->rows[row].n && !needed; ++k) {
        const int32_t dof = constraints->rows[row].dofs[k];
        needed = dof < constraints->n_dofs && owned[dof];
    }
    return needed;
}

/* A rank has the rows of all dependent dofs that its rows of A refer to. */
static weft_status check_rows(const weft_constraints *constraints, const weft_pattern *A,
                              weft_error *error) {
    const unsigned char *owned = weft_layout_owned(constraints->layout);
    for (int32_t i = 0; i < (int32_t)A->n_rows; ++i)
        for (int64_t e = A->row_start[i]; e < A->row_start[i + 1]; ++e)
            if (constraints->lost[A->columns[e]] && is_needed(constraints, owned, i))
                return weft_error_set(error, WEFT_ERROR_INTERNAL,
                                      "a rank does not have the constraints of its neighbours");
    return WEFT_OK;
}

static weft_status place(const weft_constraints *constraints, const weft_pattern *A,
                         const weft_csr *map, constraint_product *product, weft_error *error) {
    weft_status status = WEFT_OK;
    if (A->n_entries >= NONE)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "constraints on a matrix of more than %u entries", NONE));
    if (constraints->layout)
        TRY(check_rows(constraints, A, error));
    for (int64_t e = 0; e < product->pattern.n_entries; ++e)
        product->from[e] = NONE;
    for (int32_t i = 0; i < (int32_t)A->n_rows; ++i) {
        if (constraints->row_of[i] < 0)
            TRY(place_row(constraints, A, map, i, product, error));
        for (int64_t e = A->row_start[i]; constraints->row_of[i] >= 0 && e < A->row_start[i + 1];
             ++e)
            TRY(place_entry(product, map, e, i, A->columns[e], error));
    }
done:
    return status;
}

weft_status constraint_product_make(weft_constraints *constraints, const weft_pattern *pattern,
                                    const weft_csr *map, constraint_product **out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr result = {0};
    constraint_product *made = calloc(1, sizeof *made);
    double *values = weft_array_make((size_t)pattern->n_entries, sizeof *values);
    if (!made || !values)
        TRY(weft_out_of_memory(error, "constraints"));
    const weft_csr A = {pattern->n_rows, pattern->n_rows, pattern->row_start, pattern->columns,
                        values};
    TRY(weft_galerkin(constraints->context->device, &A, map, &result, error));
    TRY(make_pattern(constraints, &result, made, error));
    TRY(place(constraints, pattern, map, made, error));
    *out = made;
    made = NULL;
done:
    weft_csr_clear(&result);
    free(values);
    constraint_product_free(&made);
    return status;
}

weft_status constraint_product_pattern(const constraint_product *product, weft_pattern **out,
                                       weft_error *error) {
    const weft_pattern *from = &product->pattern;
    weft_pattern *made = calloc(1, sizeof *made);
    if (!made)
        return weft_out_of_memory(error, "constraints");
    *made = (weft_pattern){.n_rows = from->n_rows, .n_entries = from->n_entries};
    made->row_start = weft_array_make((size_t)from->n_rows + 1, sizeof *made->row_start);
    made->columns = weft_array_make((size_t)from->n_entries, sizeof *made->columns);
    if (!made->row_start || !made->columns) {
        weft_pattern_free(&made);
        return weft_out_of_memory(error, "constraints");
    }
    memcpy(made->row_start, from->row_start, ((size_t)from->n_rows + 1) * sizeof *made->row_start);
    memcpy(made->columns, from->columns, (size_t)from->n_entries * sizeof *made->columns);
    *out = made;
    return WEFT_OK;
}

typedef struct gathering {
    const constraint_product *product;
    const double *values;
    double *out;
} gathering;

static void gather_chunk(void *user, int64_t chunk) {
    const gathering *g = user;
    const int64_t first = chunk * CHUNK, n = g->product->pattern.n_entries;
    const int64_t last = first + CHUNK < n ? first + CHUNK : n;
    for (int64_t e = first; e < last; ++e) {
        const uint32_t from = g->product->from[e];
        g->out[e] = from == NONE ? 0 : g->values[from];
    }
}

weft_status constraint_product_values(const constraint_product *product, weft_device *device,
                                      const double *values, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    gathering g = {product, values, out};
    TRY(weft_device_for(device, (product->pattern.n_entries + CHUNK - 1) / CHUNK, gather_chunk, &g,
                        error));
    for (int64_t s = 0; s < product->n_contributions; ++s)
        out[product->contributions[s].to] +=
            product->contributions[s].factor * values[product->contributions[s].from];
    for (int i = 0; i < product->n_identity; ++i)
        out[product->identity[i]] = 1;
done:
    return status;
}
