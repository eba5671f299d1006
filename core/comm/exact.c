/* Joins the exact sums of several ranks, in any order with the same bits. */
#include "core/comm/exact.h"

#include <stdlib.h>

weft_status weft_comm_join_sums(weft_comm *comm, weft_exact_sum *sums, int64_t n,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const int size = weft_comm_size(comm);
    weft_exact_sum *all = malloc((size_t)size * (size_t)n * sizeof *all + 1);
    if (!all)
        TRY(weft_out_of_memory(error, "sums over ranks"));
    TRY(weft_comm_gather(comm, sums, (size_t)n * sizeof *sums, all, error));
    for (int64_t i = 0; i < n; ++i) {
        sums[i] = all[i];
        for (int r = 1; r < size; ++r)
            weft_exact_join(&sums[i], &all[r * n + i]);
    }
done:
    free(all);
    return status;
}
