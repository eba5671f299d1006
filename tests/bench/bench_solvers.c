/* Weft's preconditioned CG beside the solvers of other libraries, for one matrix in one process:
 * -div(grad u) = 1 with u = 0 on the boundary, P1 on tetrahedra of a cube.
 *
 *      bench_solvers [CELLS [REFINEMENTS [RUNS [THREADS]]]]        default 6 3 3 2
 *
 * The inner nodes of cube:CELLS are moved by up to a fifth of their distance, and the mesh is refined
 * REFINEMENTS times: 6 3 are 117,649 nodes, 12 3 are 912,673. All stop at |r| / |b| <= 1e-8 from a
 * zero guess. In each run all solvers run one after the other; printed are medians of seconds, and of the processor
 * time of all threads, which says more on a machine that others use too. Other libraries run on one
 * thread, except for the BLAS of CHOLMOD. */
#include "fem/external/external.h"
#include "fem/weft_fem.h"
#include "fem/weft_preconditioner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS_MAX = 25, ENTRIES_MAX = 24, DIRECT_MAX = 200000 };
static const double tolerance = 1e-8;

typedef struct bench {
    weft_device *device;
    weft_context context;
    weft_hierarchy *hierarchy;
    weft_space *space;
    weft_operator *op;
    weft_memory *b, *x;
    weft_solver *solver;
    int32_t *constrained;
    int64_t n_constrained, n;
    weft_external_matrix matrix;
    double assembly_seconds;
} bench;

/* One row of the table. */
typedef struct entry {
    char name[64];
    int kind;        /* of weft_preconditioner; -1: Jacobi's */
    bool is_library; /* alone, without Weft's CG */
    weft_external_kind library;
    const char *method;
    double set_up[RUNS_MAX], solve[RUNS_MAX], total[RUNS_MAX], processor[RUNS_MAX];
    int iterations;
    double residual;
    char skipped[256];
} entry;

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, compare);
    return values[n / 2];
}

static void move_inner_nodes(weft_mesh *mesh, int cells) {
    uint64_t state = 12345;
    for (int64_t i = 0; i < 3 * mesh->n_nodes; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        if (mesh->x[i] > 1e-9 && mesh->x[i] < 1 - 1e-9)
            mesh->x[i] += 0.4 * ((double)(state >> 11) * 0x1p-53 - 0.5) / cells;
    }
}

static weft_status make_levels(bench *b, int cells, int refinements, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *coarse = NULL;
    const weft_hierarchy_options options = {.size = sizeof options,
                                            .times = refinements,
                                            .ordered = true,
                                            .ordering = WEFT_ORDERING_BISECTION};
    TRY(weft_mesh_make_cube(cells, &coarse, error));
    move_inner_nodes(coarse, cells);
    TRY(weft_hierarchy_make(b->device, &coarse, &options, NULL, &b->hierarchy, error));
done:
    weft_mesh_free(&coarse);
    return status;
}

/* The matrix, and the right-hand side of a source of 1. */
static weft_status make_system(bench *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = b->hierarchy->levels[b->hierarchy->n_levels - 1].mesh;
    weft_bound_form form;
    const size_t bytes = (size_t)mesh->n_nodes * sizeof(double);
    TRY(weft_space_make(b->device, mesh, WEFT_ELEMENT_P1, 1, &b->space, error));
    TRY(weft_space_group_nodes(b->space, -1, &b->constrained, &b->n_constrained, error));
    TRY(weft_form_ship(b->space, "poisson.weft", weft_space_cells(b->space), &form, error));
    TRY(weft_operator_make(&b->context, WEFT_ASSEMBLY_CSR, &form.form, 1, &b->op, error));
    TRY(weft_operator_assemble(b->op, error));
    const double start = weft_clock();
    TRY(weft_operator_assemble(b->op, error));
    b->assembly_seconds = weft_clock() - start;
    TRY(weft_memory_make(b->device, bytes, &b->b, error));
    TRY(weft_memory_make(b->device, bytes, &b->x, error));
    TRY(weft_form_ship(b->space, "load.weft", weft_space_cells(b->space), &form, error));
    weft_form_bind_expression(&form, "source", "1", "bench_solvers");
    const char *const name = "b";
    TRY(weft_form_run(&b->context, &form.form,
                      &(weft_form_outputs){.names = &name, .memories = &b->b, .n = 1}, error));
    TRY(weft_solver_make(&b->context, b->op, &b->solver, error));
    b->n = mesh->n_nodes;
    b->matrix = (weft_external_matrix){.pattern = weft_operator_pattern(b->op),
                                       .values = weft_memory_host(weft_operator_values(b->op)),
                                       .constrained = b->constrained,
                                       .n_constrained = b->n_constrained,
                                       .dimension = 3,
                                       .coordinates = mesh->x};
done:
    return status;
}

static weft_status run_weft(bench *b, entry *e, double seconds[2], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_preconditioner *preconditioner = NULL;
    weft_cg_result result = {0};
    const weft_preconditioner_problem problem = {.op = b->op,
                                                 .constrained = b->constrained,
                                                 .n_constrained = b->n_constrained,
                                                 .space = b->space,
                                                 .hierarchy = b->hierarchy};
    double start = weft_clock();
    if (e->kind >= 0)
        TRY(weft_preconditioner_make(&b->context, e->kind, &problem, &preconditioner, error));
    seconds[0] = weft_clock() - start;
    const weft_cg_options options = {.size = sizeof options,
                                     .jacobi = true,
                                     .tolerance = tolerance,
                                     .max_iterations = 100000,
                                     .constrained = b->constrained,
                                     .n_constrained = b->n_constrained,
                                     .preconditioner = preconditioner};
    start = weft_clock();
    TRY(weft_solver_solve(b->solver, b->b, b->x, &options, &result, error));
    seconds[1] = weft_clock() - start;
    e->iterations = result.iterations;
    e->residual = result.residual;
done:
    free(result.history);
    weft_preconditioner_free(&preconditioner);
    return status;
}

static weft_status run_library(bench *b, entry *e, double seconds[2], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_external *solver = NULL;
    weft_external_result result = {0};
    const weft_external_options options = {.method = e->method};
    double start = weft_clock();
    TRY(weft_external_make(e->library, &b->matrix, &options, &solver, error));
    seconds[0] = weft_clock() - start;
    start = weft_clock();
    TRY(weft_external_solve(solver, b->matrix.values, weft_memory_host(b->b),
                            weft_memory_host(b->x), tolerance, 100000, &result, error));
    seconds[1] = weft_clock() - start;
    e->iterations = result.iterations;
    e->residual = result.residual;
    snprintf(e->name, sizeof e->name, "%s alone", weft_external_description(solver));
done:
    weft_external_free(&solver);
    return status;
}

/* All rows: Weft's CG with each preconditioner, then the libraries with each method. */
static int list_entries(const bench *b, entry *entries) {
    int n = 0;
    for (int kind = -1; kind < weft_preconditioner_count(); ++kind) {
        entries[n].kind = kind;
        snprintf(entries[n++].name, sizeof entries->name, "CG, %s",
                 kind < 0 ? "jacobi" : weft_preconditioner_about(kind)->name);
    }
    for (int library = 0; library < weft_external_count(); ++library) {
        const weft_external_info *info = weft_external_about((weft_external_kind)library);
        for (int i = 0; info->methods[i] && n < ENTRIES_MAX; ++i) {
            entries[n] = (entry){.is_library = true,
                                 .library = (weft_external_kind)library,
                                 .method = info->methods[i]};
            snprintf(entries[n++].name, sizeof entries->name, "%s alone", info->methods[i]);
        }
    }
    for (int i = 0; i < n; ++i)
        if (b->n > DIRECT_MAX && strstr(entries[i].name, "chol"))
            snprintf(entries[i].skipped, sizeof entries[i].skipped, "more than %d nodes",
                     DIRECT_MAX);
    return n;
}

/* Round -1 compiles kernels, starts libraries, and is not counted. */
static void run_all(bench *b, entry *entries, int n, int runs) {
    for (int round = -1; round < runs; ++round)
        for (int i = 0; i < n; ++i) {
            entry *e = &entries[i];
            weft_error error = {0};
            double seconds[2] = {0};
            if (e->skipped[0])
                continue;
            memset(weft_memory_host(b->x), 0, (size_t)b->n * sizeof(double));
            const clock_t start = clock();
            weft_status status = e->is_library ? run_library(b, e, seconds, &error)
                                               : run_weft(b, e, seconds, &error);
            if (status != WEFT_OK)
                snprintf(e->skipped, sizeof e->skipped, "%.255s", error.message);
            if (round < 0)
                continue;
            e->set_up[round] = seconds[0];
            e->solve[round] = seconds[1];
            e->total[round] = seconds[0] + seconds[1];
            e->processor[round] = (double)(clock() - start) / CLOCKS_PER_SEC;
        }
}

static void print(const bench *b, entry *entries, int n, int runs, int threads) {
    printf("%lld nodes, %lld of them constrained, %lld entries; %d threads; median of %d; assembly "
           "%.3f s\n",
           (long long)b->n, (long long)b->n_constrained, (long long)b->matrix.pattern->n_entries,
           threads, runs, b->assembly_seconds);
    printf("%-34s%10s%10s%10s%13s%7s%10s\n", "", "set-up s", "solve s", "total s", "processor s",
           "iter.", "|r|/|b|");
    for (int i = 0; i < n; ++i) {
        entry *e = &entries[i];
        if (e->skipped[0])
            printf("%-34sskipped: %s\n", e->name, e->skipped);
        else
            printf("%-34s%10.3f%10.3f%10.3f%13.3f%7d%10.1e\n", e->name, median(e->set_up, runs),
                   median(e->solve, runs), median(e->total, runs), median(e->processor, runs),
                   e->iterations, e->residual);
    }
}

static int argument(int argc, char **argv, int i, int otherwise) {
    return argc > i ? atoi(argv[i]) : otherwise;
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    bench b = {0};
    weft_library *library = NULL;
    static entry entries[ENTRIES_MAX];
    char device[32];
    const int cells = argument(argc, argv, 1, 6), refinements = argument(argc, argv, 2, 3);
    const int runs = argument(argc, argv, 3, 3), threads = argument(argc, argv, 4, 2);
    if (cells < 1 || runs < 1 || runs > RUNS_MAX || refinements < 0 || threads < 1) {
        fprintf(stderr, "usage: bench_solvers [CELLS [REFINEMENTS [RUNS [THREADS]]]]\n");
        return 2;
    }
    snprintf(device, sizeof device, "host:%d", threads);
    const weft_device_options options = weft_device_options_default(NULL);
    TRY(weft_device_open(device, &options, &b.device, &error));
    TRY(weft_fem_library_make(&library, &error));
    b.context = (weft_context){.device = b.device, .library = library, .plan = WEFT_PLAN_FUSED};
    TRY(make_levels(&b, cells, refinements, &error));
    TRY(make_system(&b, &error));
    const int n = list_entries(&b, entries);
    run_all(&b, entries, n, runs);
    print(&b, entries, n, runs, threads);
done:
    if (status != WEFT_OK)
        fprintf(stderr, "bench_solvers: %s\n", error.message);
    weft_solver_free(&b.solver);
    weft_operator_free(&b.op);
    weft_memory_free(&b.b);
    weft_memory_free(&b.x);
    weft_space_free(&b.space);
    free(b.constrained);
    weft_hierarchy_free(&b.hierarchy);
    weft_library_free(&library);
    weft_device_free(&b.device);
    return weft_status_exit_code(status);
}
