/* Chooses the assembly and compares the memory that a run needs with the device's. */
#include "fem/linear/memory.h"
#include "core/base/number.h"

#include <math.h>
#include <string.h>

weft_status weft_problem_assembly_choose(weft_device *device, const weft_problem_options *options,
                                         int preconditioner, const weft_assembly_problem *problem,
                                         const weft_monitor *monitor, weft_assembly *out,
                                         weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text reason = {0};
    if (options->assembly != WEFT_AUTO) {
        *out = (weft_assembly)options->assembly;
        goto done;
    }
    if (preconditioner >= 0 && problem->lowers_degrees &&
        weft_preconditioner_about(preconditioner)->coarsens) {
        *out = WEFT_ASSEMBLY_MATRIX_FREE;
        weft_log(monitor, WEFT_LOG_INFO,
                 "matrix-free, as %s of lower degrees needs a matrix of linear functions alone",
                 weft_preconditioner_about(preconditioner)->name);
        goto done;
    }
    if (preconditioner >= 0 && weft_preconditioner_about(preconditioner)->needs_matrix) {
        *out = WEFT_ASSEMBLY_CSR;
        weft_log(monitor, WEFT_LOG_INFO, "csr, whose matrix the preconditioner %s needs",
                 weft_preconditioner_about(preconditioner)->name);
        goto done;
    }
    TRY(weft_assembly_choose(weft_device_limits(device), problem, out, &reason, error));
    const char *why = reason.data && !reason.failed ? reason.data : weft_assembly_name(*out);
    const int first = (int)strcspn(why, "\n"); /* the other lines are a table */
    weft_log(monitor, WEFT_LOG_INFO, "%.*s\n%s", first, why, why[first] ? why + first + 1 : "");
done:
    weft_text_free(&reason);
    return status;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* What the steps of a run hold of the cells. */
typedef struct cell_bytes {
    size_t connectivity;
    size_t load;      /* needed besides, while the right-hand side is made */
    size_t evicted;   /* connectivity and coordinates, while the system is solved */
    size_t integrals; /* two lists over cells that are summed, and their sources */
} cell_bytes;

/* A right-hand side gathered from the cells on a GPU: its values in cells and the transposed
 * connectivity, unless the operator keeps that. In ranges: of one, or the interleaved connectivity and the
 * copy that it is made from. */
static size_t load_bytes(const weft_limits *limits, const weft_problem_memory *what,
                         weft_assembly assembly, size_t places) {
    const weft_assembly_problem *problem = &what->problem;
    const size_t c = problem->components > 1 ? (size_t)problem->components : 1;
    const size_t starts = (size_t)problem->n_nodes * sizeof(int64_t);
    const size_t ranges = what->ranges_load ? (size_t)weft_connectivity_ranges(limits, places) : 1;
    if (limits->execution != WEFT_EXECUTION_SIMT)
        return 0;
    if (ranges > 1)
        return larger(places / ranges * (sizeof(double) + sizeof(uint32_t)) + 3 * starts / 2,
                      places * sizeof(int32_t));
    return places * c * sizeof(double) +
           (weft_assembly_about(assembly)->scatter == WEFT_SCATTER_GATHERED
                ? 0
                : places * sizeof(uint32_t) + starts);
}

static cell_bytes count_cells(const weft_limits *limits, const weft_problem_memory *what,
                              weft_assembly assembly) {
    const weft_assembly_problem *problem = &what->problem;
    const size_t lanes = (size_t)limits->lanes_double;
    const size_t cells = ((size_t)problem->n_cells + lanes - 1) / lanes * lanes;
    const size_t places = cells * (size_t)problem->width;
    const size_t ranges = (size_t)weft_connectivity_ranges(limits, places);
    const size_t coordinates =
        (size_t)problem->n_nodes * (size_t)problem->dimension * sizeof(double);
    cell_bytes bytes = {.connectivity = places * sizeof(int32_t),
                        .load = load_bytes(limits, what, assembly, places),
                        .integrals = 2 * cells * sizeof(double)};
    if (ranges > 1 && what->solves_once && problem->width == problem->dimension + 1 &&
        weft_assembly_about(assembly)->stores_matrix) {
        const bool reads_points = what->preconditioner >= 0 &&
                                  weft_preconditioner_about(what->preconditioner)->reads_points;
        bytes.evicted = bytes.connectivity + (reads_points ? 0 : coordinates);
        bytes.integrals = (bytes.integrals + 2 * bytes.connectivity) / ranges + coordinates;
    }
    return bytes;
}

/* Coordinates, vectors and the most that is allocated at one time:
 * the right-hand side, which is made first (in Newton's method again, beside the operator); the
 * operator, what its assembly needs, and vectors that look for constants; the solver or, after it, two fields on cells that
 * are summed or vectors of the energy, and the preconditioner, when what assembly needs is freed. */
void weft_problem_memory_estimate(const weft_limits *limits, const weft_problem_memory *what,
                                  weft_assembly assembly, weft_memory_estimate *estimate) {
    const weft_assembly_problem *problem = &what->problem;
    const size_t c = problem->components > 1 ? (size_t)problem->components : 1;
    const size_t nodes = (size_t)problem->n_nodes, real_bytes = sizeof(double);
    const cell_bytes cells = count_cells(limits, what, assembly);
    size_t late = 0, early = 0;
    weft_memory_estimate_add(estimate, "coordinates", nodes * (size_t)problem->dimension,
                             real_bytes);
    weft_memory_estimate_add(estimate, "solution, right-hand side", 2 * nodes * c, real_bytes);
    weft_memory_estimate_add(estimate, "other vectors", (size_t)(what->n_vectors - 2) * nodes * c,
                             real_bytes);
    weft_memory_estimate_add(estimate, "inputs of the script", what->input_bytes, 1);
    weft_memory_estimate_add(estimate, "vectors for eigenvalues", what->block_bytes, 1);
    const size_t before = estimate->bytes;
    weft_operator_memory_estimate(limits, assembly, problem, estimate, &late, &early);
    const size_t whole = estimate->bytes - before;
    const weft_cg_options solver = {
        .size = sizeof solver, .method = what->method, .restart = what->restart};
    const size_t preconditioner =
        what->preconditioner < 0
            ? 0
            : weft_preconditioner_memory_estimate(limits, what->preconditioner, problem);
    const size_t checks = (size_t)what->n_checks * nodes * c * real_bytes;
    const size_t after = larger((size_t)what->n_energy * nodes * c * real_bytes, cells.integrals);
    /* the null device solves nothing */
    const size_t cg = limits->records_only
                          ? 0
                          : larger(weft_cg_memory_estimate(limits, assembly, problem, &solver,
                                                           what->preconditioner >= 0),
                                   after) +
                                preconditioner;
    const size_t kept = whole - (what->assembles_again || limits->records_only ? 0 : early);
    const size_t solve = kept + cg - (cg > 0 ? cells.evicted : 0);
    const size_t first = what->assembles_again ? whole - late : cells.connectivity;
    const size_t most = larger(larger(first + cells.load, whole + checks), solve);
    if (most > whole)
        weft_memory_estimate_add(estimate, "solver, preconditioner, lists of cells", most - whole,
                                 1);
}

/* "320 bytes per node: about 4.4e+08 nodes fit", and the assembly that needs the least memory, if it is not
 * the current one. */
static void write_hint(const weft_device *device, const weft_problem_memory *what, size_t here,
                       char *hint, size_t size) {
    weft_assembly_cost costs[WEFT_ASSEMBLIES_MOST];
    const weft_limits *limits = weft_device_limits(device);
    const int n = weft_assembly_costs(limits, &what->problem, costs);
    const double per_node = (double)here / fmax(1, (double)what->problem.n_nodes);
    size_t least = here;
    const char *name = NULL;
    for (int i = 0; i < n; ++i) {
        weft_memory_estimate other = {0};
        if (!costs[i].possible)
            continue;
        weft_problem_memory_estimate(limits, what, costs[i].assembly, &other);
        if (other.bytes < least) {
            least = other.bytes;
            name = costs[i].name;
        }
    }
    const int length = weft_print(hint, size, "%.0f bytes per node: about %.3g nodes fit; ",
                                  per_node, (double)weft_device_bytes_free(device) / per_node);
    if (length < 0 || (size_t)length >= size)
        return;
    if (name)
        weft_print(hint + length, size - (size_t)length,
                   "--assembly %s needs %.4g MB; or take a smaller mesh", name,
                   (double)least * 1e-6);
    else
        weft_print(hint + length, size - (size_t)length,
                   "take a smaller mesh: no assembly needs less");
}

weft_status weft_problem_memory_check(weft_device *device, const weft_problem_memory *what,
                                      weft_assembly assembly, size_t *bytes, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_limits *limits = weft_device_limits(device);
    weft_memory_estimate estimate = {0};
    char hint[200];
    weft_problem_memory_estimate(limits, what, assembly, &estimate);
    write_hint(device, what, estimate.bytes, hint, sizeof hint);
    TRY(weft_memory_estimate_check(&estimate, device, hint, error));
    *bytes = estimate.bytes;
done:
    return status;
}

void weft_problem_memory_compare(const weft_device *device, size_t estimated,
                                 const weft_monitor *monitor) {
    weft_log(monitor, WEFT_LOG_INFO,
             "memory: %.3f MB were allocated at most, %.3f MB were predicted",
             (double)weft_device_bytes_peak(device) * 1e-6, (double)estimated * 1e-6);
}
