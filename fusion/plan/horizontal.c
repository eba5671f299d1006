/* Lets independent kernels of a plan share one launch (horizontal fusion; Dey 2020, types of kernel
 * fusion). Blocks of different kernels meet at no barrier, so that kernels of several threads per element and
 * reductions share launches block by block, and so do final reductions of kernels that share one.
 *
 * Kernels are independent if neither must end before the other starts, by way of any kernels in
 * between. The groups are those of a saved plan, if there is one; otherwise those that the script asks
 * for, and kernels whose work takes less time than a launch join the first group of which this is
 * true, where the prediction gains by it. A group is one node of the order of execution from then
 * on; contracting independent nodes closes no cycle.
 *
 * Decision  docs/decisions/0016-small-kernels-share-a-launch.md */
#include "core/base/fault.h"
#include "core/base/number.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/plan/dependence.h"
#include "fusion/plan/implementations.h"
#include "fusion/plan/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LEAST_GAIN 0.01 /* over inter-block, part of the predicted time */
enum { ARGUMENTS_MOST = 256 /* of a kernel: CUDA has room for 4 KB */ };

typedef struct grouping {
    weft_arena *arena;
    const weft_graph *graph;
    const weft_cover *cover;
    weft_plan *plan;
    int n, words; /* kernels; of a set of them */
    /* [n][words] kernels that start after kernel i has ended; members of a group have the same, and
     * are in the sets of others together */
    uint64_t *after;
    int *number; /* [n] in the plan with groups */
    int *leader; /* [n] the first kernel of the group: itself, if it is alone */
} grouping;

typedef struct members {
    const weft_plan_kernel *kernels[WEFT_GROUP_MEMBERS];
    const weft_implementation
        *list[WEFT_GROUP_MEMBERS]; /* NULL: final reductions, as all of the group */
    int n, n_arguments;
    int together;   /* what asks for the group: a block of the script or of a saved plan, from 1 */
    double seconds; /* of launches of their own */
} members;

const char *weft_combination_name(weft_combination how) {
    static const char *const names[WEFT_COMBINATIONS] = {[INTER_BLOCK] = "inter-block",
                                                         [INNER_BLOCK] = "inner-block",
                                                         [INNER_THREAD] = "inner-thread"};
    return names[how];
}

int weft_plan_launches(const weft_plan *plan) {
    int n = 0;
    for (int i = 0; i < plan->n_kernels; ++i)
        n += !plan->kernels[i].is_member;
    return n;
}

/* ---- dependence ---- */

static uint64_t *after(const grouping *g, int kernel) {
    return g->after + (size_t)kernel * (size_t)g->words;
}

static void add_all(const grouping *g, uint64_t *to, const uint64_t *from) {
    for (int k = 0; k < g->words; ++k)
        to[k] |= from[k];
}

/* Does kernel i use what kernel k or the kernels without calls behind it write, or the other way
 * round? Gathers and final reductions stay behind what they belong to, as where a plan is made. */
static bool unit_conflicts(const grouping *g, int i, int k) {
    const weft_plan_kernel *kernels = g->plan->kernels;
    int list = weft_kernels_conflict(g->graph, &kernels[i], &kernels[k]);
    for (++k; list < 0 && k < g->n && !kernels[k].implementation; ++k)
        list = weft_kernels_conflict(g->graph, &kernels[i], &kernels[k]);
    return list >= 0;
}

static void find_dependences(const grouping *g) {
    for (int i = g->n - 1; i >= 0; --i)
        for (int k = i + 1; k < g->n; ++k)
            if (unit_conflicts(g, i, k) && !weft_fault("launch_shared_too_early")) {
                weft_set_add(after(g, i), k);
                add_all(g, after(g, i), after(g, k));
            }
}

/* ---- groups ---- */

/* The group of a kernel in a saved plan, or else the first together block that has calls of it; 0:
 * none. */
static int together_of(const grouping *g, const weft_plan_kernel *kernel) {
    const weft_implementation *one = kernel->implementation;
    for (int i = 0; g->cover->group && i < g->cover->n; ++i)
        if (g->cover->list[i] == one)
            return g->cover->group[i];
    for (int i = 0; !g->cover->group && one && i < one->fusion->n_calls; ++i)
        if (g->graph->calls[one->fusion->calls[i]].together > 0)
            return g->graph->calls[one->fusion->calls[i]].together;
    return 0;
}

static void add_member(const grouping *g, members *all, int kernel) {
    const weft_plan_kernel *one = &g->plan->kernels[kernel];
    const int together = together_of(g, one);
    all->together = together > 0 ? together : all->together;
    if (all->n < WEFT_GROUP_MEMBERS) {
        all->kernels[all->n] = one;
        all->list[all->n] = one->implementation;
    }
    ++all->n;
    all->n_arguments += one->n_arguments;
    if (one->implementation)
        all->seconds += weft_predict_work(one->implementation) +
                        weft_predict_launches(one->implementation) *
                            weft_predict_launch(one->implementation->predictor);
}

static members members_of(const grouping *g, int leader) {
    members all = {.n = 0};
    for (int i = leader; i < g->n; ++i)
        if (g->leader[i] == leader)
            add_member(g, &all, i);
    return all;
}

static bool is_possible(const weft_plan_kernel *kernel) {
    return (kernel->kind == KERNEL_MAP || kernel->kind == KERNEL_REDUCTION ||
            (kernel->kind == KERNEL_MULTI_THREAD && kernel->implementation->joint_threads == 0)) &&
           kernel->index_set >= 0;
}

/* Do barriers or tiles of a member need whole blocks? */
static bool needs_blocks(const members *all) {
    bool needs = false;
    for (int i = 0; i < all->n && i < WEFT_GROUP_MEMBERS; ++i)
        needs |= all->kernels[i]->kind != KERNEL_MAP;
    return needs;
}

/* A tile of a reduction has the threads of one block: have other members too many? */
static bool is_too_wide(const grouping *g, const members *all) {
    bool reduces = false;
    int most = 0;
    for (int i = 0; i < all->n && i < WEFT_GROUP_MEMBERS; ++i) {
        const int threads = weft_group_threads(all->list, all->n, INTER_BLOCK, i);
        reduces |= all->kernels[i]->kind == KERNEL_REDUCTION;
        most = threads > most ? threads : most;
    }
    return reduces && most > g->plan->target.block_threads;
}

/* Does a kernel share a launch without being asked to? Its work must be less than a launch. */
static bool is_small(const weft_plan_kernel *kernel) {
    const weft_implementation *one = kernel->implementation;
    return is_possible(kernel) && weft_predict_work(one) < weft_predict_launch(one->predictor);
}

/* How a group is asked for; -1: in any way. */
static int combination_asked(const grouping *g, int together) {
    if (together == 0)
        return -1;
    return g->cover->group ? (int)g->cover->combinations[together - 1]
                           : g->graph->togethers[together - 1].combination;
}

static weft_combination best_combination(const grouping *g, const members *all, double *seconds) {
    const int asked = combination_asked(g, all->together);
    weft_combination best = INTER_BLOCK;
    if (asked >= 0) {
        *seconds = weft_predict_group(all->list, all->n, (weft_combination)asked);
        return (weft_combination)asked;
    }
    for (weft_combination how = INTER_BLOCK;
         how < (needs_blocks(all) ? INNER_BLOCK : WEFT_COMBINATIONS); ++how) {
        const double one = weft_predict_group(all->list, all->n, how);
        if (how == INTER_BLOCK || one < (1 - LEAST_GAIN) * *seconds) {
            best = how;
            *seconds = one;
        }
    }
    return best;
}

static bool are_independent(const grouping *g, int leader, int i) {
    return !weft_set_has(after(g, leader), i) && !weft_set_has(after(g, i), leader);
}

/* May kernel i join the group, and is less time predicted then? */
static bool joins(const grouping *g, int leader, int i) {
    double before = 0, with = 0;
    members all = members_of(g, leader), own = {.n = 0};
    add_member(g, &own, i);
    if (!are_independent(g, leader, i) || own.together > 0)
        return false;
    before = all.seconds;
    if (all.n > 1)
        best_combination(g, &all, &before);
    add_member(g, &all, i);
    before += own.seconds;
    if (all.n > WEFT_GROUP_MEMBERS || all.n_arguments > ARGUMENTS_MOST || is_too_wide(g, &all) ||
        (needs_blocks(&all) && combination_asked(g, all.together) > INTER_BLOCK))
        return false;
    best_combination(g, &all, &with);
    return with < before;
}

static void join(const grouping *g, int leader, int i) {
    g->leader[i] = leader;
    add_all(g, after(g, leader), after(g, i));
    for (int k = 0; k < g->n; ++k) {
        const bool before = weft_set_has(after(g, k), leader) || weft_set_has(after(g, k), i);
        if (g->leader[k] == leader)
            memcpy(after(g, k), after(g, leader), (size_t)g->words * sizeof *g->after);
        if (!before)
            continue;
        add_all(g, after(g, k), after(g, leader));
        for (int m = leader; m < g->n; ++m)
            if (g->leader[m] == leader)
                weft_set_add(after(g, k), m);
    }
}

/* The result of the first call of a kernel, for messages. */
static const char *result_of(const grouping *g, int kernel) {
    const weft_implementation *one = g->plan->kernels[kernel].implementation;
    return g->graph->values[g->graph->calls[one->fusion->calls[0]].result].name;
}

/* Reject a group that is asked for: at its place in the script, if it is not of a saved plan. */
static weft_status refuse(const grouping *g, int together, weft_error *error, const char *format,
                          ...) WEFT_PRINTF(4, 5);

static weft_status refuse(const grouping *g, int together, weft_error *error, const char *format,
                          ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    weft_print_list(message, sizeof message, format, arguments);
    va_end(arguments);
    if (!g->cover->group)
        return weft_error_at(error, WEFT_ERROR_TYPE, g->graph->togethers[together - 1].place, "%s",
                             message);
    return weft_error_set(error, WEFT_ERROR_INPUT, "the plan does not fit this script: %s",
                          message);
}

/* Why kernel i cannot share the launch that it is asked to share; WEFT_OK: it can. */
static weft_status check_block(const grouping *g, int together, int leader, int i,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    members all = members_of(g, leader);
    if (!is_possible(&g->plan->kernels[i])) {
        status = refuse(g, together, error, "the kernel of '%s' cannot share a launch with others",
                        result_of(g, i));
        weft_error_hint(error,
                        "a launch is shared by kernels without products of operators and of small "
                        "matrices, slices, patches and cell colours");
        return status;
    }
    if (leader == i)
        return WEFT_OK;
    if (!are_independent(g, leader, i))
        return refuse(g, together, error,
                      "'%s' and '%s' cannot share a launch: one of their kernels must end "
                      "before the other starts",
                      result_of(g, leader), result_of(g, i));
    add_member(g, &all, i);
    if (all.n > WEFT_GROUP_MEMBERS || all.n_arguments > ARGUMENTS_MOST)
        return refuse(g, together, error, "a launch has at most %d kernels and %d lists",
                      WEFT_GROUP_MEMBERS, ARGUMENTS_MOST);
    if (needs_blocks(&all) && combination_asked(g, together) > INTER_BLOCK) {
        status =
            refuse(g, together, error,
                   "'%s' and '%s' cannot share thread blocks: one of their kernels has barriers",
                   result_of(g, leader), result_of(g, i));
        weft_error_hint(error, "write `together inter_block`, in which each block runs one kernel");
        return status;
    }
    if (is_too_wide(g, &all)) {
        status =
            refuse(g, together, error,
                   "'%s' and '%s' cannot share a launch: a reduction has blocks of %d threads, "
                   "and another kernel larger ones",
                   result_of(g, leader), result_of(g, i), g->plan->target.block_threads);
        weft_error_hint(error,
                        "`fuse` gives a kernel a block: elements times threads are its threads");
        return status;
    }
    return WEFT_OK;
}

/* The groups that are asked for. */
static weft_status force_groups(const grouping *g, int *n_groups, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < g->n; ++i) {
        const int together = together_of(g, &g->plan->kernels[i]);
        int leader = i;
        for (int k = i - 1; k >= 0 && together > 0; --k)
            leader = together_of(g, &g->plan->kernels[k]) == together ? k : leader;
        if (together > 0)
            TRY(check_block(g, together, leader, i, error));
        *n_groups += leader < i && members_of(g, leader).n == 1;
        if (leader < i)
            join(g, leader, i);
    }
done:
    return status;
}

static int choose_groups(const grouping *g) {
    int n = 0;
    for (int i = 0; i < g->n; ++i) {
        bool alone = is_small(&g->plan->kernels[i]) && g->leader[i] == i && members_of(g, i).n == 1;
        for (int leader = 0; leader < i && alone; ++leader)
            if (g->leader[leader] == leader && is_small(&g->plan->kernels[leader]) &&
                joins(g, leader, i)) {
                n += members_of(g, leader).n == 1;
                join(g, leader, i);
                alone = false;
            }
    }
    return n;
}

/* The final reduction of kernel i; -1: it has none. */
static int final_of(const grouping *g, int i) {
    return i + 1 < g->n && g->plan->kernels[i].kind == KERNEL_REDUCTION &&
                   g->plan->kernels[i + 1].kind == KERNEL_FINAL_REDUCTION
               ? i + 1
               : -1;
}

/* Final reductions of kernels that share a launch share one. */
static int group_finals(const grouping *g) {
    int n = 0;
    for (int i = 0; i < g->n; ++i) {
        int first = -1;
        for (int k = g->leader[i]; k < i && first < 0 && final_of(g, i) >= 0; ++k)
            first = g->leader[k] == g->leader[i] ? final_of(g, k) : -1;
        if (first < 0)
            continue;
        n += members_of(g, first).n == 1;
        join(g, first, final_of(g, i));
    }
    return n;
}

/* ---- the plan with groups ---- */

static weft_status add_arguments(weft_arena *arena, weft_plan_kernel *group,
                                 const weft_plan_kernel *member, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < member->n_arguments; ++i) {
        int k = 0;
        while (k < group->n_arguments &&
               memcmp(&group->arguments[k], &member->arguments[i], sizeof(weft_argument)) != 0)
            ++k;
        if (k == group->n_arguments)
            TRY(WEFT_APPEND(arena, group->arguments, group->n_arguments, member->arguments[i],
                            error));
    }
done:
    return status;
}

/* Append the kernel that launches the n kernels at the end of the plan. */
static weft_status add_group(const grouping *g, weft_plan *made, const members *all,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_plan_kernel *group = &made->kernels[made->n_kernels];
    *group = (weft_plan_kernel){.kind = KERNEL_GROUP,
                                .gather = -1,
                                .product = -1,
                                .prologue = -1,
                                .index_set = UNIFORM,
                                .n_members = all->n};
    group->together = !g->cover->group ? all->together : 0;
    if (all->list[0]) {
        group->combination = best_combination(g, all, &group->seconds);
        group->saved_seconds = all->seconds - group->seconds;
    }
    group->name = weft_arena_print(g->arena, "k%d_together", made->n_kernels);
    if (!group->name)
        TRY(weft_no_memory(error));
    const weft_argument sizes = {ARGUMENT_MEMBERS, made->n_kernels, 0};
    TRY(WEFT_APPEND(g->arena, group->arguments, group->n_arguments, sizes, error));
    for (int m = 0; m < all->n; ++m) {
        weft_plan_kernel *member = group - all->n + m;
        member->is_member = true;
        member->threads = all->list[0]
                              ? weft_group_threads(all->list, all->n, group->combination, m)
                              : made->target.reduction_tile;
        group->threads = group->combination == INNER_BLOCK  ? group->threads + member->threads
                         : member->threads > group->threads ? member->threads
                                                            : group->threads;
        TRY(add_arguments(g->arena, group, member, error));
    }
    ++made->n_kernels;
    ++made->n_groups;
done:
    return status;
}

static bool is_ready(const grouping *g, const uint64_t *done, int leader) {
    for (int k = 0; k < g->n; ++k)
        if (!weft_set_has(done, k) && weft_set_has(after(g, k), leader))
            return false;
    return true;
}

/* Append a group, or a kernel that is alone. Names start with the number of the kernel. */
static weft_status add_unit(const grouping *g, weft_plan *made, uint64_t *done, int leader,
                            weft_error *error) {
    const members all = members_of(g, leader);
    for (int i = leader; i < g->n; ++i) {
        if (g->leader[i] != leader)
            continue;
        weft_plan_kernel *kernel = &made->kernels[made->n_kernels];
        *kernel = g->plan->kernels[i];
        kernel->name =
            weft_arena_print(g->arena, "k%d%s", made->n_kernels, strchr(kernel->name, '_'));
        if (!kernel->name)
            return weft_no_memory(error);
        g->number[i] = made->n_kernels++;
        for (int k = 0; k < kernel->n_arguments; ++k)
            if (kernel->arguments[k].kind == ARGUMENT_SIZES)
                kernel->arguments[k].index = g->number[kernel->arguments[k].index];
        weft_set_add(done, i);
    }
    return all.n > 1 ? add_group(g, made, &all, error) : WEFT_OK;
}

/* What comes next: kernels without calls as soon as they can, else the first that is ready. */
static int next_unit(const grouping *g, const uint64_t *done) {
    int next = -1;
    for (int i = 0; i < g->n; ++i) {
        if (weft_set_has(done, i) || g->leader[i] != i || !is_ready(g, done, i))
            continue;
        if (!g->plan->kernels[i].implementation)
            return i;
        next = next < 0 ? i : next;
    }
    return next;
}

static bool adds_to(const weft_graph *graph, const weft_plan_kernel *kernel, int list) {
    for (int i = 0; i < kernel->n_scatters; ++i)
        if (graph->accumulations[kernel->scatters[i]].target == list)
            return true;
    return false;
}

/* A list is zeroed before the first of the kernels that add to it, whose order may have changed. A kernel has room for
 * each list that it adds to. */
static void zero_first(const weft_graph *graph, weft_plan *plan) {
    for (int k = 0; k < plan->n_kernels; ++k)
        for (int i = 0; i < plan->kernels[k].n_zero; ++i) {
            const int list = plan->kernels[k].zero[i];
            int first = 0;
            while (first < k && !adds_to(graph, &plan->kernels[first], list))
                ++first;
            if (first == k || weft_fault("zeroed_late"))
                continue;
            plan->kernels[first].zero[plan->kernels[first].n_zero++] = list;
            plan->kernels[k].zero[i--] = plan->kernels[k].zero[--plan->kernels[k].n_zero];
        }
}

static weft_status rewrite(const grouping *g, int n_groups, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_plan made = *g->plan;
    uint64_t *done = NULL;
    made.n_kernels = 0;
    TRY(WEFT_ALLOC(g->arena, made.kernels, (size_t)(g->n + n_groups), error));
    TRY(WEFT_ALLOC(g->arena, done, (size_t)g->words, error));
    while (made.n_kernels < g->n + n_groups) {
        TRY(add_unit(g, &made, done, next_unit(g, done), error));
    }
    zero_first(g->graph, &made);
    *g->plan = made;
done:
    return status;
}

weft_status weft_plan_group(weft_arena *arena, const weft_graph *graph, const weft_cover *cover,
                            weft_plan *plan, weft_error *error) {
    weft_status status = WEFT_OK;
    grouping g = {.arena = arena,
                  .graph = graph,
                  .cover = cover,
                  .plan = plan,
                  .n = plan->n_kernels,
                  .words = plan->n_kernels / 64 + 1};
    int n_groups = 0, n_candidates = 0;
    for (int i = 0; i < g.n; ++i)
        n_candidates += (!cover->group && is_small(&plan->kernels[i])) ||
                        together_of(&g, &plan->kernels[i]) > 0;
    if (n_candidates < 2)
        goto done;
    TRY(WEFT_ALLOC(arena, g.after, (size_t)g.n * (size_t)g.words, error));
    TRY(WEFT_ALLOC(arena, g.number, (size_t)g.n, error));
    TRY(WEFT_ALLOC(arena, g.leader, (size_t)g.n, error));
    for (int i = 0; i < g.n; ++i)
        g.leader[i] = i;
    find_dependences(&g);
    TRY(force_groups(&g, &n_groups, error));
    if (!cover->group)
        n_groups += choose_groups(&g);
    n_groups += group_finals(&g);
    if (n_groups > 0)
        TRY(rewrite(&g, n_groups, error));
done:
    return status;
}
