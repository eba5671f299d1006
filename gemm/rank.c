/* Ranks candidates that time does not tell apart by energy, which limits the clock of a GPU that computes in double
 * precision. */
#include "gemm/tune.h"

int weft_gemm_least_energy(const weft_gemm_candidate *candidates, const int *tied, int n) {
    int best = tied[0];
    for (int i = 1; i < n; ++i)
        if (candidates[tied[i]].joules > 0 && candidates[best].joules > 0 &&
            candidates[tied[i]].joules < candidates[best].joules)
            best = tied[i];
    return best;
}
