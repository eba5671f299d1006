/* Ranks candidates that were timed beside one another: by time, and those that time does not tell
 * apart by energy, which limits the clock of a GPU that computes in double precision. */
#include "gemm/tune.h"

static double median_of(const weft_gemm_candidate *c) {
    return c->seconds[WEFT_GEMM_STAGES - 1];
}

/* Source  Mann and Whitney 1947: of two samples of nine the smaller count of pairs is at most 17
 *         with a probability of 5 %, two-sided, if they are from one distribution */
bool weft_gemm_same_time(const double *a, const double *b) {
    enum { CRITICAL = 17 };
    double above = 0;
    for (int i = 0; i < WEFT_GEMM_ROUNDS; ++i)
        for (int j = 0; j < WEFT_GEMM_ROUNDS; ++j)
            above += a[i] > b[j] ? 1 : a[i] == b[j] ? 0.5 : 0;
    const double below = WEFT_GEMM_ROUNDS * WEFT_GEMM_ROUNDS - above;
    return (above < below ? above : below) > CRITICAL;
}

int weft_gemm_tied(const weft_gemm_candidate *candidates, const int *list, int n, int *tied) {
    int best = 0, n_tied = 0;
    for (int i = 1; i < n; ++i)
        if (median_of(&candidates[list[i]]) < median_of(&candidates[list[best]]))
            best = i;
    tied[n_tied++] = list[best];
    for (int i = 0; i < n; ++i) {
        int at = n_tied;
        if (i == best ||
            !weft_gemm_same_time(candidates[list[i]].rounds, candidates[list[best]].rounds))
            continue;
        for (; at > 1 && median_of(&candidates[tied[at - 1]]) > median_of(&candidates[list[i]]);
             --at)
            tied[at] = tied[at - 1];
        tied[at] = list[i];
        ++n_tied;
    }
    return n_tied;
}

int weft_gemm_least_energy(const weft_gemm_candidate *candidates, const int *tied, int n) {
    int best = tied[0];
    for (int i = 1; i < n; ++i)
        if (candidates[tied[i]].joules > 0 && candidates[best].joules > 0 &&
            candidates[tied[i]].joules < candidates[best].joules)
            best = tied[i];
    return best;
}
