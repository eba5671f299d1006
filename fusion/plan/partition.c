/* Solves set partition problems of least cost with GLPK.
 *
 * GLPK aborts the process on misuse and when memory runs out, unless its error hook does not
 * return; it has one environment per thread, prints, and leaks memory after an abort. So each
 * problem is solved in its own thread, whose environment is freed at the end: nothing is shared
 * with a caller that uses GLPK too, and the hook leaves by longjmp. */
#include "fusion/plan/partition.h"
#include "fusion/base/array.h"
#include "fusion/graph/graph.h"

#include <glpk.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

typedef struct members {
    const int *list; /* rows of a column, or columns of a cut; list[1] ... list[n], 1-based */
    int n;
} members;

struct weft_partition {
    weft_arena *arena;
    int n_rows, n_columns;
    members *columns;
    double *costs;
    members *cuts;
    int n_cuts;
    bool failed; /* out of memory in weft_partition_column */
};

typedef struct solution {
    const weft_partition *partition;
    bool *chosen; /* [n_columns] */
    bool found, proved, exhausted, aborted;
    jmp_buf out;
} solution;

weft_status weft_partition_make(int n_rows, int n_columns, weft_partition **out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_partition *made = NULL;
    TRY(weft_arena_make(&arena, error));
    TRY(WEFT_ALLOC(arena, made, 1, error));
    *made = (weft_partition){.arena = arena, .n_rows = n_rows, .n_columns = n_columns};
    TRY(WEFT_ALLOC(arena, made->columns, (size_t)n_columns + 1, error));
    TRY(WEFT_ALLOC(arena, made->costs, (size_t)n_columns + 1, error));
    arena = NULL;
    *out = made;
done:
    weft_arena_free(&arena);
    return status;
}

void weft_partition_free(weft_partition **partition) {
    if (!partition || !*partition)
        return;
    weft_arena *arena = (*partition)->arena;
    *partition = NULL;
    weft_arena_free(&arena);
}

static bool copy_members(weft_arena *arena, const int *list, int n, members *out) {
    int *copy = weft_arena_alloc(arena, (size_t)n + 1, sizeof *copy);
    if (!copy)
        return false;
    for (int i = 0; i < n; ++i)
        copy[i + 1] = list[i] + 1;
    *out = (members){copy, n};
    return true;
}

void weft_partition_column(weft_partition *partition, int column, const int *rows, int n,
                           double cost) {
    partition->costs[column] = cost;
    partition->failed |= !copy_members(partition->arena, rows, n, &partition->columns[column]);
}

weft_status weft_partition_forbid(weft_partition *partition, const int *columns, int n,
                                  weft_error *error) {
    members cut;
    if (!copy_members(partition->arena, columns, n, &cut))
        return weft_no_memory(error);
    return WEFT_APPEND(partition->arena, partition->cuts, partition->n_cuts, cut, error);
}

/* ---- GLPK, in its own thread ---- */

static void leave(void *info) {
    solution *s = info;
    longjmp(s->out, 1);
}

/* Scale factor of the costs: the largest becomes 1000, whatever the unit. */
static double unit(const weft_partition *p) {
    double most = 0;
    for (int i = 0; i < p->n_columns; ++i)
        most = p->costs[i] > most ? p->costs[i] : most;
    return most > 0 ? 1e3 / most : 1;
}

static glp_prob *problem_make(const weft_partition *p) {
    double ones[WEFT_CALLS_MAX + 1];
    glp_prob *problem = glp_create_prob();
    const double scale = unit(p);
    for (int i = 0; i <= WEFT_CALLS_MAX; ++i)
        ones[i] = 1;
    glp_set_obj_dir(problem, GLP_MIN);
    glp_add_rows(problem, p->n_rows + p->n_cuts);
    for (int i = 1; i <= p->n_rows; ++i)
        glp_set_row_bnds(problem, i, GLP_FX, 1, 1);
    glp_add_cols(problem, p->n_columns);
    for (int i = 0; i < p->n_columns; ++i) {
        glp_set_col_kind(problem, i + 1, GLP_BV);
        glp_set_obj_coef(problem, i + 1, p->costs[i] * scale);
        glp_set_mat_col(problem, i + 1, p->columns[i].n, p->columns[i].list, ones);
    }
    for (int i = 0; i < p->n_cuts; ++i) {
        glp_set_row_bnds(problem, p->n_rows + 1 + i, GLP_UP, 0, p->cuts[i].n - 1);
        glp_set_mat_row(problem, p->n_rows + 1 + i, p->cuts[i].n, p->cuts[i].list, ones);
    }
    return problem;
}

/* Is the optimum of the linear relaxation integral? It often is. */
static bool is_whole(const weft_partition *p, glp_prob *problem) {
    for (int i = 1; i <= p->n_columns; ++i) {
        const double x = glp_get_col_prim(problem, i);
        if (fabs(x - round(x)) > 1e-9)
            return false;
    }
    return true;
}

static void take(solution *s, glp_prob *problem, bool whole) {
    for (int i = 0; i < s->partition->n_columns; ++i)
        s->chosen[i] =
            (whole ? glp_get_col_prim(problem, i + 1) : glp_mip_col_val(problem, i + 1)) > 0.5;
    s->found = true;
}

static void solve(solution *s) {
    glp_smcp simplex;
    glp_iocp search;
    glp_term_out(GLP_OFF);
    glp_error_hook(leave, s);
    glp_prob *problem = problem_make(s->partition);
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    simplex.tm_lim = 1000 * WEFT_PARTITION_SECONDS;
    glp_init_iocp(&search);
    search.msg_lev = GLP_MSG_OFF;
    search.tm_lim = 1000 * WEFT_PARTITION_SECONDS;
    if (glp_simplex(problem, &simplex) != 0)
        return;
    s->exhausted = glp_get_status(problem) == GLP_NOFEAS;
    if (glp_get_status(problem) != GLP_OPT)
        return;
    if (is_whole(s->partition, problem)) {
        take(s, problem, true);
        s->proved = true;
        return;
    }
    const int code = glp_intopt(problem, &search);
    const int status = glp_mip_status(problem);
    s->exhausted = code == 0 && status == GLP_NOFEAS;
    if (status != GLP_OPT && status != GLP_FEAS)
        return;
    take(s, problem, false);
    s->proved = code == 0 && status == GLP_OPT;
}

/* The environment is created explicitly: if another GLPK function had to create it and memory ran
 * out, the process would be aborted before the hook is installed. */
static void *solve_in_thread(void *user) {
    solution *s = user;
    if (glp_init_env() != 0) {
        s->aborted = true;
        return NULL;
    }
    if (setjmp(s->out) != 0)
        s->aborted = true;
    else
        solve(s);
    glp_error_hook(NULL, NULL);
    glp_free_env();
    return NULL;
}

/* ---- greedy fallback, if GLPK finds no solution within its time limit ---- */

static bool is_forbidden(const weft_partition *p, const bool *chosen) {
    for (int i = 0; i < p->n_cuts; ++i) {
        bool all = true;
        for (int k = 1; all && k <= p->cuts[i].n; ++k)
            all = chosen[p->cuts[i].list[k] - 1];
        if (all)
            return true;
    }
    return false;
}

static bool fits(const weft_partition *p, int column, const bool *covered) {
    for (int k = 1; k <= p->columns[column].n; ++k)
        if (covered[p->columns[column].list[k] - 1])
            return false;
    return true;
}

/* Repeatedly take the largest column, of at most `largest` rows, that still fits. Returns false if
 * the result is forbidden by a cut. */
static bool by_size(const weft_partition *p, int largest, bool *chosen) {
    bool covered[WEFT_CALLS_MAX] = {false};
    memset(chosen, 0, (size_t)p->n_columns * sizeof *chosen);
    for (int size = largest; size > 0; --size)
        for (int i = 0; i < p->n_columns; ++i)
            if (p->columns[i].n == size && fits(p, i, covered)) {
                chosen[i] = true;
                for (int k = 1; k <= size; ++k)
                    covered[p->columns[i].list[k] - 1] = true;
            }
    return !is_forbidden(p, chosen);
}

weft_status weft_partition_solve(weft_partition *partition, int *chosen, int *n, bool *proved,
                                 weft_error *error) {
    solution s = {.partition = partition};
    pthread_t thread;
    *n = 0;
    *proved = false;
    s.chosen =
        weft_arena_alloc(partition->arena, (size_t)partition->n_columns + 1, sizeof *s.chosen);
    if (partition->failed || !s.chosen)
        return weft_no_memory(error);
    if (partition->n_rows == 0 || partition->n_columns == 0)
        return WEFT_OK;
    if (pthread_create(&thread, NULL, solve_in_thread, &s) != 0)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "no thread for the search of a cover");
    pthread_join(thread, NULL);
    if (s.exhausted)
        return WEFT_OK;
    *proved = s.found && s.proved;
    if (!s.found && !by_size(partition, partition->n_rows, s.chosen) &&
        !by_size(partition, 1, s.chosen))
        return WEFT_OK;
    for (int i = 0; i < partition->n_columns; ++i)
        if (s.chosen[i])
            chosen[(*n)++] = i;
    return WEFT_OK;
}
