/* Chooses the preconditioner with the least predicted time, from the predicted times of products
 * and set-up times, or from the figures of the tuning database.
 *
 * Decision  docs/decisions/0041-preconditioner-by-predicted-time.md */
#include "fem/weft_solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Set-ups. On the host in seconds of one thread per entry of the matrix, of which products of matrices are made: aggregation of
 * scalars took 5.7e-8 in the plane and in space, of several components per node 0.9e-7 to 1.8e-7, as aggregates carry more
 * functions there; multigrid 1.3e-8 to 1.9e-8. On a GPU in seconds per row of degree 1 on simplices, of other elements, and of
 * several components, measured with 10^7 and 10^8 nodes; those of aggregation of other elements are by 16 threads of the host
 * (docs/measurements.md; P2 tetrahedra: 2.5 s of 9.9e6 rows). */
enum { HOST_SCALAR, HOST_VECTOR, GPU_SCALAR, GPU_OTHER, GPU_VECTOR, SET_UPS };

/* A row for each preconditioner besides Jacobi's. A cycle of multigrid of degree 2 on all levels, in products of the finest
 * level: four, of a matrix of half the bytes on a GPU, and their sum over the levels; with transfers. */
typedef struct multigrid_figures {
    const char *name;
    double iterations, host_products, gpu_products;
    double set_up[SET_UPS];
    bool needs_levels;
} multigrid_figures;

static const multigrid_figures figures[] = {
    {"multigrid", 10, 6, 3.5, {2e-8, 2e-8, 0.016e-6, 0.016e-6, 0.016e-6}, true},
    {"aggregation", 15, 7, 3.5, {6e-8, 1.3e-7, 0.018e-6, 0.25e-6, 0.08e-6}, false},
};
enum { FIGURES = sizeof figures / sizeof *figures };
_Static_assert(FIGURES + 2 <= WEFT_COSTS_MAX, "room for Jacobi's preconditioner and lu too");

/* Iterations that convection adds where the symmetric part preconditions: per asymmetry of a cell and
 * cell along a side of the domain, whose product is the Peclet number of the domain. Measured on squares of 128 and 300
 * cells a side at numbers from 0.6 to 60 (docs/measurements.md). */
static const double CONVECTION_ITERATIONS = 5;

/* GMRES with Jacobi's preconditioner: its restarts cost the more iterations, relative to those of CG, the less convection
 * there is. Each iteration reads its basis twice, half of 30 vectors in the mean. */
static const double RESTART_ITERATIONS = 5, BASIS_BYTES = 2 * 15 * sizeof(double);

/* A cycle on lower degrees without a matrix, in products of the highest: four in single precision, and those of the levels below. Its set-up in
 * seconds per row of the highest degree, by one thread of the host and on a GPU, besides that of the matrix of degree 1:
 * diagonals, bounds of eigenvalues, transfers (docs/measurements.md: 0.08 to 0.13 s of 1e7 rows on one H200). */
static const double LOWERED_PRODUCTS = 4.5, LOWERED_SET_UP = 0.5e-6, LOWERED_SET_UP_GPU = 0.01e-6;

/* Planning the scripts of a level and loading their kernels from the cache, on the host and on a GPU (P2 triangles, 5.1e5 rows,
 * 7 levels: 32 ms). */
static const double LEVEL_SECONDS = 10e-3, LEVEL_SECONDS_GPU = 5e-3;

static const char *const figure_names[] = {"set-up", "iteration 2D", "iteration 3D"};
enum { NAMES = sizeof figure_names / sizeof *figure_names };

static double *value_of(weft_preconditioner_speed *speed, int name) {
    return name == 0 ? &speed->set_up : &speed->iteration[name - 1];
}

static void name_figure(const char *preconditioner, int name, char out[80]) {
    (void)snprintf(out, 80, "preconditioner %s %s", preconditioner, figure_names[name]);
}

weft_status weft_preconditioner_speeds_read(weft_tuning *tuning, const char *device,
                                            weft_preconditioner_speeds *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_preconditioner_speeds made = {0};
    for (int i = 0; tuning && i < FIGURES; ++i)
        for (int k = 0; k < NAMES; ++k) {
            char name[80];
            bool found = false;
            name_figure(figures[i].name, k, name);
            TRY(weft_tuning_get(tuning, device, name, value_of(&made.of[i], k), &found, error));
            made.n_measured += found;
        }
    *out = made;
done:
    return status;
}

weft_status weft_preconditioner_speeds_write(weft_tuning *tuning, const char *device, int kind,
                                             int dimension,
                                             const weft_preconditioner_speed *seconds_per_row,
                                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_preconditioner_speed speed = *seconds_per_row;
    for (int i = 0; kind >= 0 && i < FIGURES; ++i) {
        if (strcmp(figures[i].name, weft_preconditioner_about(kind)->name) != 0)
            continue;
        for (int k = 0; k < NAMES; ++k) {
            char name[80];
            if (k > 0 && k != (dimension < 3 ? 1 : 2))
                continue;
            name_figure(figures[i].name, k, name);
            if (*value_of(&speed, k) > 0)
                TRY(weft_tuning_set(tuning, device, name, *value_of(&speed, k), error));
        }
    }
done:
    return status;
}

/* Levels of a hierarchy from n_rows rows to 500. */
static double count_levels(double rows, int dimension) {
    double levels = 1;
    for (; rows > 500; rows /= dimension < 3 ? 4 : 8)
        ++levels;
    return levels;
}

/* The Peclet number of the domain, about. */
static double count_convection(const weft_assembly_problem *problem) {
    return problem->asymmetry * pow((double)problem->n_nodes, 1.0 / problem->dimension);
}

static double count_solves(const weft_assembly_problem *problem) {
    return problem->solves > 1 ? problem->solves : 1;
}

/* What an iteration takes besides products: that of CG is in their cost. */
static double orthogonalise_seconds(const weft_limits *limits,
                                    const weft_assembly_problem *problem) {
    const int components = problem->components > 1 ? problem->components : 1;
    return problem->symmetric
               ? 0
               : BASIS_BYTES * (double)problem->n_nodes * components / limits->bandwidth;
}

static weft_preconditioner_cost cost_of_jacobi(const weft_limits *limits,
                                               const weft_assembly_problem *problem,
                                               const weft_assembly_cost *fastest) {
    const double restarts =
        problem->symmetric ? 1 : 1 + RESTART_ITERATIONS / (1 + count_convection(problem));
    const double iterations = problem->applications * restarts;
    const double more = iterations - problem->applications;
    return (weft_preconditioner_cost){
        .name = "jacobi",
        .kind = -1,
        .iterations = iterations / count_solves(problem),
        .iteration_seconds = fastest->product_seconds + orthogonalise_seconds(limits, problem),
        .seconds = fastest->seconds + more * fastest->product_seconds +
                   iterations * orthogonalise_seconds(limits, problem)};
}

/* Of a matrix that is stored whole, or of the one of degree 1 below a product without one. */
static double set_up_per_row(const multigrid_figures *f, bool on_gpu,
                             const weft_assembly_problem *problem) {
    const int components = problem->components > 1 ? problem->components : 1;
    const bool is_vector = components > 1;
    const bool is_other = !problem->lowers_degrees && problem->width > problem->dimension + 1;
    weft_assembly_problem lowest = *problem;
    if (problem->lowers_degrees) { /* about as many entries per row as on simplices */
        lowest.width = problem->dimension + 1;
        lowest.n_cells = (problem->dimension < 3 ? 2 : 6) * problem->n_nodes;
    }
    if (on_gpu)
        return f->set_up[is_vector ? GPU_VECTOR : is_other ? GPU_OTHER : GPU_SCALAR];
    return f->set_up[is_vector ? HOST_VECTOR : HOST_SCALAR] * components *
           weft_assembly_entries(&lowest) / (double)problem->n_nodes;
}

/* Seconds, without the levels' kernels. */
static double set_up_seconds(const multigrid_figures *f, const weft_limits *limits,
                             const weft_assembly_problem *problem, double rows) {
    const bool on_gpu = limits->execution == WEFT_EXECUTION_SIMT;
    const double threads = !on_gpu && limits->threads > 1 ? limits->threads : 1;
    const double each = set_up_per_row(f, on_gpu, problem);
    /* rows of the matrix of degree 1, of which products of matrices are made (P2 tetrahedra, 117,649 rows: 0.04 s of one thread) */
    const double fewer = pow(fmax(problem->degree, 1), problem->dimension);
    if (!problem->lowers_degrees)
        return each * rows / (on_gpu ? 1 : fewer) / threads;
    return (each * rows / fewer + (on_gpu ? LOWERED_SET_UP_GPU : LOWERED_SET_UP) * rows) / threads;
}

static weft_preconditioner_cost cost_of(int figure, const weft_limits *limits,
                                        const weft_assembly_problem *problem,
                                        const weft_assembly_cost *csr,
                                        const weft_preconditioner_speed *measured) {
    const multigrid_figures *f = &figures[figure];
    const bool on_gpu = limits->execution == WEFT_EXECUTION_SIMT;
    const int components = problem->components > 1 ? problem->components : 1;
    const double rows = (double)problem->n_nodes * components;
    const double products = 1 + (problem->lowers_degrees ? LOWERED_PRODUCTS
                                 : on_gpu                ? f->gpu_products
                                                         : f->host_products);
    const double levels =
        (on_gpu ? LEVEL_SECONDS_GPU : LEVEL_SECONDS) * count_levels(rows, problem->dimension);
    double set_up = set_up_seconds(f, limits, problem, rows);
    double iteration = products * csr->product_seconds;
    const double iterations =
        f->iterations +
        (problem->symmetric ? 0 : CONVECTION_ITERATIONS * count_convection(problem));
    if (measured && measured->set_up > 0)
        set_up = measured->set_up * rows;
    if (measured && measured->iteration[problem->dimension < 3 ? 0 : 1] > 0)
        iteration = measured->iteration[problem->dimension < 3 ? 0 : 1] * rows;
    set_up += levels;
    iteration += orthogonalise_seconds(limits, problem);
    weft_preconditioner_cost out = {.name = f->name,
                                    .iterations = iterations,
                                    .iteration_seconds = iteration,
                                    .set_up_seconds = set_up,
                                    .seconds = csr->set_up_seconds + csr->assembly_seconds +
                                               set_up +
                                               count_solves(problem) * iterations * iteration};
    (void)weft_preconditioner_find(f->name, &out.kind, NULL);
    return out;
}

/* The true residual after the first iteration is checked by a second. */
static weft_preconditioner_cost cost_of_lu(const weft_assembly_problem *problem,
                                           const weft_assembly_cost *csr) {
    enum { ITERATIONS = 2 };
    const weft_factorization_cost lu =
        weft_factorization_predict(problem->dimension, problem->n_nodes, problem->components);
    weft_preconditioner_cost out = {.name = "lu",
                                    .iterations = ITERATIONS,
                                    .set_up_seconds = lu.seconds,
                                    .seconds = csr->set_up_seconds + csr->assembly_seconds +
                                               problem->factorisations * lu.seconds +
                                               count_solves(problem) * ITERATIONS *
                                                   (lu.solution_seconds + csr->product_seconds)};
    (void)weft_preconditioner_find(out.name, &out.kind, NULL);
    return out;
}

static void sort_by_time(weft_preconditioner_cost *costs, int n) {
    for (int i = 1; i < n; ++i)
        for (int k = i; k > 0 && costs[k].seconds < costs[k - 1].seconds; --k) {
            const weft_preconditioner_cost swapped = costs[k];
            costs[k] = costs[k - 1];
            costs[k - 1] = swapped;
        }
}

int weft_preconditioner_costs(const weft_limits *limits, const weft_assembly_problem *problem,
                              bool has_levels, const weft_preconditioner_speeds *speeds,
                              weft_preconditioner_cost out[WEFT_COSTS_MAX]) {
    weft_assembly_cost assemblies[WEFT_ASSEMBLIES_MOST];
    const int n_assemblies = weft_assembly_costs(limits, problem, assemblies);
    const weft_assembly needed =
        problem->lowers_degrees ? WEFT_ASSEMBLY_MATRIX_FREE : WEFT_ASSEMBLY_CSR;
    int n = 0;
    out[n++] = cost_of_jacobi(limits, problem, &assemblies[0]);
    for (int i = 0; i < n_assemblies; ++i) {
        if (!assemblies[i].possible || assemblies[i].assembly != needed)
            continue;
        for (int k = 0; k < FIGURES && (problem->symmetric || problem->asymmetry > 0); ++k)
            if (has_levels || !figures[k].needs_levels)
                out[n++] =
                    cost_of(k, limits, problem, &assemblies[i], speeds ? &speeds->of[k] : NULL);
        if (problem->factorisations > 0)
            out[n++] = cost_of_lu(problem, &assemblies[i]);
    }
    sort_by_time(out, n);
    return n;
}
