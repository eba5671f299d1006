/* Chooses the implementations of the plan: a set partition of the calls of least predicted time.
 *
 * See Fousek et al. 2011, section 4.3.3. The kernels must also have an order: each of two convex
 * sets may depend on the other. If a solution has such a cycle, the cycle is forbidden by a cut and
 * the partition problem is solved again.
 *
 * Decision  docs/decisions/0007-covers-are-set-partitions.md */
#include "fusion/plan/cover.h"
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/plan/dependence.h"
#include "fusion/plan/partition.h"

#include <string.h>

struct weft_covers {
    weft_arena *arena;
    const weft_graph *graph;
    const weft_dependence *dependence;
    const weft_implementation **columns; /* [n_columns] the implementations to choose from */
    double *costs;
    int n_columns;
    weft_partition *partition;
    weft_error *error; /* of the current call */
};

/* Must a call of a run before a call of b? */
static bool precedes(const weft_covers *c, const weft_fusion *a, const weft_fusion *b) {
    if (weft_fault("wrong_order"))
        return false;
    for (int i = 0; i < a->n_calls; ++i)
        for (int k = 0; k < b->n_calls; ++k)
            if (weft_set_has(weft_dependence_reachable(c->dependence, a->calls[i]), b->calls[k]))
                return true;
    return false;
}

/* Preference between two kernels that are ready: lower level, then lower first call. */
static bool before(const weft_implementation *a, const weft_implementation *b) {
    if (a->fusion->level != b->fusion->level)
        return a->fusion->level < b->fusion->level;
    return a->fusion->calls[0] < b->fusion->calls[0];
}

/* Sort list[0 .. n) topologically. Returns the number sorted; if it is less than n, the rest
 * contains a cycle. */
static int sort_by_execution(const weft_covers *c, const weft_implementation **list, int n) {
    for (int done = 0; done < n; ++done) {
        int next = -1;
        for (int i = done; i < n; ++i) {
            bool ready = next < 0 || before(list[i], list[next]);
            for (int k = done; ready && k < n; ++k)
                ready = k == i || !precedes(c, list[k]->fusion, list[i]->fusion);
            if (ready)
                next = i;
        }
        if (next < 0)
            return done;
        const weft_implementation *one = list[next];
        memmove(&list[done + 1], &list[done], (size_t)(next - done) * sizeof(one));
        list[done] = one;
    }
    return n;
}

static int column_of(const weft_covers *c, const weft_implementation *one) {
    for (int i = 0; i < c->n_columns; ++i)
        if (c->columns[i] == one)
            return i;
    return -1;
}

/* Find a cycle in list[0 .. n): follow predecessors until one repeats. ring gets the columns;
 * returns their number. */
static int find_ring(const weft_covers *c, const weft_implementation **list, int n, int *ring) {
    int path[WEFT_CALLS_MAX], length = 0, at = 0;
    for (;;) {
        for (int i = 0; i < length; ++i)
            if (path[i] == at) {
                for (int k = i; k < length; ++k)
                    ring[k - i] = column_of(c, list[path[k]]);
                return length - i;
            }
        path[length++] = at;
        int next = -1;
        for (int i = 0; i < n && next < 0; ++i)
            if (i != at && precedes(c, list[i]->fusion, list[at]->fusion))
                next = i;
        at = next;
    }
}

static weft_status columns_make(weft_covers *c, const weft_cover_problem *problem) {
    const weft_implementations *implementations = problem->implementations;
    const size_t most = (size_t)implementations->n + 1;
    c->columns = weft_arena_alloc(c->arena, most, sizeof(weft_implementation *));
    c->costs = weft_arena_alloc(c->arena, most, sizeof *c->costs);
    if (!c->columns || !c->costs)
        return weft_no_memory(c->error);
    for (int i = 0; i < implementations->n; ++i) {
        const weft_implementation *one = &implementations->list[i];
        const bool other = c->n_columns > 0 && c->columns[c->n_columns - 1]->fusion == one->fusion;
        if (one->reason || (other && !problem->all) ||
            (problem->kind == WEFT_PLAN_UNFUSED && one->fusion->n_calls > 1))
            continue;
        c->columns[c->n_columns] = one;
        /* break ties in favour of fusions within one level */
        c->costs[c->n_columns++] = one->cost * (one->fusion->spans_depths ? 1 + 1e-6 : 1);
    }
    return WEFT_OK;
}

/* The next best cover; *out is NULL when there are no more. */
static weft_status next_cover(weft_covers *c, weft_cover **out) {
    weft_status status = WEFT_OK;
    const size_t n_calls = (size_t)c->graph->n_calls;
    int *chosen = weft_arena_alloc(c->arena, n_calls + 1, sizeof *chosen);
    weft_cover *made = weft_arena_alloc(c->arena, 1, sizeof *made);
    if (!made || !chosen)
        TRY(weft_no_memory(c->error));
    TRY(WEFT_ALLOC(c->arena, made->list, n_calls + 1, c->error));
    *out = NULL;
    for (;;) {
        int n = 0;
        TRY(weft_partition_solve(c->partition, chosen, &n, &made->proved, c->error));
        if (n == 0)
            goto done;
        made->n = n;
        for (int i = 0; i < n; ++i)
            made->list[i] = c->columns[chosen[i]];
        const int sorted = sort_by_execution(c, made->list, n);
        if (sorted == n)
            break;
        n = find_ring(c, made->list + sorted, n - sorted, chosen);
        TRY(weft_partition_forbid(c->partition, chosen, n, c->error));
    }
    for (int i = 0; i < made->n; ++i)
        made->seconds += made->list[i]->cost;
    TRY(weft_partition_forbid(c->partition, chosen, made->n, c->error));
    *out = made;
done:
    return status;
}

weft_status weft_covers_begin(const weft_cover_problem *problem, weft_covers **out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_covers *c = NULL;
    TRY(WEFT_ALLOC(problem->arena, c, 1, error));
    *c = (weft_covers){.arena = problem->arena,
                       .graph = problem->graph,
                       .dependence = problem->fusions->dependence,
                       .error = error};
    TRY(columns_make(c, problem));
    TRY(weft_partition_make(c->graph->n_calls, c->n_columns, &c->partition, error));
    for (int i = 0; i < c->n_columns; ++i)
        weft_partition_column(c->partition, i, c->columns[i]->fusion->calls,
                              c->columns[i]->fusion->n_calls, c->costs[i]);
    *out = c;
done:
    return status;
}

weft_status weft_covers_next(weft_covers *covers, weft_cover **out, weft_error *error) {
    covers->error = error;
    return next_cover(covers, out);
}

void weft_covers_end(weft_covers **covers) {
    if (!covers || !*covers)
        return;
    weft_partition_free(&(*covers)->partition);
    *covers = NULL; /* the rest belongs to the arena */
}

weft_status weft_covers_make(const weft_cover_problem *problem, int most, weft_cover ***out, int *n,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cover_problem several = *problem;
    weft_covers *covers = NULL;
    weft_cover **list = weft_arena_alloc(problem->arena, (size_t)most + 1, sizeof(weft_cover *));
    *n = 0;
    if (!list)
        TRY(weft_no_memory(error));
    several.all = most > 1;
    TRY(weft_covers_begin(&several, &covers, error));
    while (*n < most) {
        TRY(weft_covers_next(covers, &list[*n], error));
        if (!list[*n])
            break;
        ++*n;
    }
    *out = list;
done:
    weft_covers_end(&covers);
    return status;
}

weft_status weft_cover_make(const weft_cover_problem *problem, weft_cover **out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cover **list = NULL;
    int n = 0;
    TRY(weft_covers_make(problem, 1, &list, &n, error));
    if (n > 0)
        *out = list[0];
    else if (problem->graph->n_calls > 0)
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                "no choice of kernels covers every call once");
    else { /* nothing to do */
        *out = weft_arena_alloc(problem->arena, 1, sizeof **out);
        status = *out ? WEFT_OK : weft_no_memory(error);
    }
done:
    return status;
}
