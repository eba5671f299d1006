/* What the planner has looked at and why it left it out, by reason: of one script, or summed over
 * the segments of one with loops. */
#include "fusion/plan/print_counts.h"
#include "core/weft_core.h"
#include "fusion/plan/fusions.h"
#include "fusion/plan/implementation.h"
#include "fusion/plan/segment.h"
#include "fusion/weft_compile.h"

#include <string.h>

static void add_reason(weft_planner_counts *counts, const char *reason) {
    int at = 0;
    while (at < counts->n_reasons && strcmp(counts->reasons[at], reason) != 0)
        ++at;
    if (at == WEFT_PRUNE_REASONS)
        --at; /* more than there are; counted with the last */
    else if (at == counts->n_reasons)
        counts->reasons[counts->n_reasons++] = reason;
    ++counts->by_reason[at];
}

void weft_planner_counts_add(const weft_segment *c, weft_planner_counts *counts) {
    const weft_fusion_counts *sets = &c->fusions->counts;
    const weft_implementations *all = c->implementations;
    counts->calls += c->graph->n_calls;
    counts->candidates += c->fusions->n;
    counts->connected += sets->connected;
    counts->not_convex += sets->not_convex;
    counts->unfit += sets->unfit;
    if (counts->max_calls < c->fusions->max_calls)
        counts->max_calls = c->fusions->max_calls;
    counts->shrunk |= c->fusions->shrunk;
    counts->made += all->considered;
    counts->dominated += all->dominated;
    counts->slower += all->slower;
    counts->too_large += all->too_large;
    counts->too_many_threads += all->too_many_threads;
    counts->not_wished += all->not_wished;
    counts->untried += all->untried;
    for (int i = 0; i < all->n; ++i)
        if (all->list[i].reason != NULL)
            add_reason(counts, all->list[i].reason);
        else
            ++counts->kept;
}

void weft_fusion_counts_print(const weft_planner_counts *counts, weft_text *out) {
    weft_text_add(out, "%lld connected set%s of 2 to %d calls with no barrier inside%s; ",
                  (long long)counts->connected, counts->connected == 1 ? "" : "s",
                  counts->max_calls, counts->shrunk ? " (more calls make too many)" : "");
    weft_text_add(out, "left out: %lld that a path leaves and comes back to",
                  (long long)counts->not_convex);
    if (counts->unfit > 0)
        weft_text_add(out, ", %lld against the rules of operators", (long long)counts->unfit);
    weft_text_add(out, "\n");
}

static void print_one(int64_t n, const char *link, const char *why, bool *any, weft_text *out) {
    if (n == 0)
        return;
    weft_text_add(out, "%s%lld %s%s", *any ? ", " : "; ", (long long)n, link, why);
    *any = true;
}

void weft_implementation_counts_print(const weft_planner_counts *counts, weft_text *out) {
    bool any = false;
    weft_text_add(out, "implementations: %lld made, %lld kept", (long long)counts->made,
                  (long long)counts->kept);
    print_one(counts->dominated, "", "dominated", &any, out);
    print_one(counts->slower, "", "slower than 16 others of their calls", &any, out);
    print_one(counts->too_large, "", "too much shared memory", &any, out);
    print_one(counts->too_many_threads, "", "too many threads", &any, out);
    print_one(counts->not_wished, "", "not the block that the script asks for", &any, out);
    for (int i = 0; i < counts->n_reasons; ++i)
        print_one(counts->by_reason[i], "since ", counts->reasons[i], &any, out);
    if (counts->untried > 0)
        weft_text_add(out, "; %lld choices of variants not tried", (long long)counts->untried);
    weft_text_add(out, "\n");
}

void weft_planner_counts_explain(const weft_planner_counts *counts, weft_text *out) {
    weft_text_add(out, "\nLooked at\n  fusions: %lld of a call alone; ", (long long)counts->calls);
    weft_fusion_counts_print(counts, out);
    weft_text_add(out, "  ");
    weft_implementation_counts_print(counts, out);
}
