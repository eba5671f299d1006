/* Enumerates the sets of calls that may be a kernel.
 *
 * Connected sets are grown call by call, each found once (Wernicke 2006, algorithm ESU: a set grows
 * by neighbours that have a higher number than its first call and are not neighbours of the set
 * before). A set with two unfusible calls is dropped with all its supersets. Supersets of a set
 * that is not convex may be convex, so convexity is tested per set.
 *
 * Decision  docs/decisions/0007-covers-are-set-partitions.md */
#include "fusion/plan/dependence.h"
#include "fusion/plan/legality.h"

enum { WORDS_MAX = WEFT_CALLS_MAX / 64, VISITS_PER_CANDIDATE = 20 };

typedef struct search {
    const weft_graph *graph;
    const weft_dependence *r;
    int max_calls, first;
    int64_t n_found;
    weft_fusion_counts *counts;
    weft_status (*found)(void *user, const uint64_t *set);
    void *user;
} search;

/* A set being grown; next: calls that it may grow by; near: the set and its neighbours. */
typedef struct growing {
    uint64_t set[WORDS_MAX], next[WORDS_MAX], near[WORDS_MAX];
    int n;
} growing;

static weft_status look_at(search *s, const growing *g) {
    weft_fusion_counts *counts = s->counts;
    if (++counts->connected > (int64_t)VISITS_PER_CANDIDATE * WEFT_FUSION_CANDIDATES)
        counts->stopped = true;
    if (!weft_dependence_convex(s->r, g->set)) {
        ++counts->not_convex;
        return WEFT_OK;
    }
    if (weft_fusion_misfit(s->graph, g->set) != FUSIBLE) {
        ++counts->unfit;
        return WEFT_OK;
    }
    if (++s->n_found > WEFT_FUSION_CANDIDATES)
        counts->stopped = true;
    return counts->stopped ? WEFT_OK : s->found(s->user, g->set);
}

/* The set extended by call i. */
static void grown_by(const search *s, const growing *g, int i, growing *out) {
    const uint64_t *shares = weft_dependence_shares(s->r, i);
    out->n = g->n + 1;
    for (int k = 0; k < s->r->words; ++k) {
        uint64_t news = shares[k] & ~g->near[k];
        if (k == s->first / 64)
            news &= ~(((uint64_t)2 << (s->first % 64)) - 1);
        else if (k < s->first / 64)
            news = 0;
        out->set[k] = g->set[k];
        out->next[k] = g->next[k] | news;
        out->near[k] = g->near[k] | shares[k];
    }
    weft_set_add(out->set, i);
}

static weft_status grow(search *s, growing *g) {
    weft_status status = WEFT_OK;
    if (g->n > 1)
        TRY(look_at(s, g));
    if (g->n == s->max_calls)
        goto done;
    for (int i = weft_set_next(g->next, s->r->words, 0); i >= 0 && !s->counts->stopped;
         i = weft_set_next(g->next, s->r->words, i)) {
        growing larger;
        weft_set_remove(g->next, i);
        if (weft_set_meets(weft_dependence_unfusible(s->r, i), g->set, s->r->words))
            continue;
        grown_by(s, g, i, &larger);
        TRY(grow(s, &larger));
    }
done:
    return status;
}

weft_status weft_fusion_sets(const weft_graph *graph, const weft_dependence *dependence,
                             int max_calls, weft_fusion_counts *counts,
                             weft_status (*found)(void *user, const uint64_t *set), void *user) {
    weft_status status = WEFT_OK;
    search s = {.graph = graph,
                .r = dependence,
                .max_calls = max_calls,
                .counts = counts,
                .found = found,
                .user = user};
    for (s.first = 0; s.first < graph->n_calls && !counts->stopped; ++s.first) {
        growing empty = {.n = 0}, one;
        weft_set_add(empty.near, s.first);
        grown_by(&s, &empty, s.first, &one);
        TRY(grow(&s, &one));
    }
done:
    return status;
}
