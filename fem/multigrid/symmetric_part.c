/* The symmetric part (A + A^T) / 2 of a matrix.
 *
 * Decision  docs/decisions/0039-multigrid-is-levels-and-scripts.md */
#include "fem/multigrid/private.h"

#include <stdatomic.h>

typedef struct symmetric_part {
    const weft_csr *A;
    double *out;
    int64_t n_chunks;
    _Atomic int64_t alone; /* a row with an entry whose transpose does not exist; -1 */
} symmetric_part;

/* The place of an entry; -1: there is none. */
static int64_t find(const weft_csr *A, int64_t row, int64_t column) {
    int64_t first = A->row_start[row], last = A->row_start[row + 1];
    while (first < last) {
        const int64_t middle = first + (last - first) / 2;
        if (A->columns[middle] < column)
            first = middle + 1;
        else
            last = middle;
    }
    return first < A->row_start[row + 1] && A->columns[first] == column ? first : -1;
}

/* Every entry has its mean from its own row, so that no two threads write one. */
static void chunk_rows(void *user, int64_t chunk) {
    symmetric_part *run = user;
    const weft_csr *A = run->A;
    const int64_t last = weft_chunk_start(A->n_rows, chunk + 1, run->n_chunks);
    for (int64_t i = weft_chunk_start(A->n_rows, chunk, run->n_chunks); i < last; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k) {
            const int64_t other = A->columns[k] == i ? k : find(A, A->columns[k], i);
            if (other < 0)
                atomic_store(&run->alone, i);
            else
                run->out[k] = (A->values[k] + A->values[other]) / 2;
        }
}

weft_status weft_csr_symmetric_part(weft_device *device, const weft_csr *A, double *out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    symmetric_part run = {.A = A, .out = out, .n_chunks = A->n_rows / 4096 + 1, .alone = -1};
    TRY(weft_device_for(device, run.n_chunks, chunk_rows, &run, error));
    if (atomic_load(&run.alone) >= 0)
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                "multigrid needs a matrix whose pattern is symmetric");
done:
    return status;
}
