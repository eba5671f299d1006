/* Chooses the preconditioner of CG with the least predicted time, from the predicted times of products
 * and measured set-up times. */
#include "fem/weft_solver.h"

#include <string.h>

/* A cycle of multigrid of degree 2 on all levels, in products of the finest level: four, of a matrix
 * of half the bytes on a GPU, and their sum over the levels; with transfers. Set-up: seconds per row
 * of one host thread, and for a GPU those measured with 16 threads (docs/measurements.md). */
typedef struct multigrid_figures {
    const char *name;
    double iterations, host_products, gpu_products, host_set_up, gpu_set_up;
    bool needs_levels;
} multigrid_figures;

static const multigrid_figures figures[] = {
    {"multigrid", 10, 6, 3.5, 1.5e-6, 0.25e-6, true},
    {"aggregation", 15, 7, 3.5, 2.5e-6, 0.4e-6, false},
};

static weft_preconditioner_cost cost_of(const multigrid_figures *figure, const weft_limits *limits,
                                        const weft_assembly_problem *problem,
                                        const weft_assembly_cost *csr) {
    const bool on_gpu = limits->execution == WEFT_EXECUTION_SIMT;
    const double threads = limits->threads > 1 ? limits->threads : 1;
    const int components = problem->components > 1 ? problem->components : 1;
    const double rows = (double)problem->n_nodes * components;
    const double set_up = on_gpu ? figure->gpu_set_up * rows : figure->host_set_up * rows / threads;
    const double products = 1 + (on_gpu ? figure->gpu_products : figure->host_products);
    weft_preconditioner_cost out = {.name = figure->name,
                                    .iterations = figure->iterations,
                                    .set_up_seconds = set_up,
                                    .seconds =
                                        csr->set_up_seconds + csr->assembly_seconds + set_up +
                                        figure->iterations * products * csr->product_seconds};
    (void)weft_preconditioner_find(figure->name, &out.kind, NULL);
    return out;
}

int weft_preconditioner_costs(const weft_limits *limits, const weft_assembly_problem *problem,
                              bool has_levels, weft_preconditioner_cost out[WEFT_COSTS_MAX]) {
    weft_assembly_cost assemblies[WEFT_ASSEMBLIES_MOST];
    const int n_assemblies = weft_assembly_costs(limits, problem, assemblies);
    int n = 0;
    out[n++] = (weft_preconditioner_cost){.name = "jacobi",
                                          .kind = -1,
                                          .iterations = problem->applications,
                                          .seconds = assemblies[0].seconds};
    for (int i = 0; i < n_assemblies; ++i) {
        if (!assemblies[i].possible || assemblies[i].assembly != WEFT_ASSEMBLY_CSR)
            continue;
        for (size_t k = 0; k < sizeof figures / sizeof *figures && problem->symmetric; ++k)
            if (has_levels || !figures[k].needs_levels)
                out[n++] = cost_of(&figures[k], limits, problem, &assemblies[i]);
    }
    for (int i = 1; i < n; ++i) /* by time */
        for (int k = i; k > 0 && out[k].seconds < out[k - 1].seconds; --k) {
            const weft_preconditioner_cost swapped = out[k];
            out[k] = out[k - 1];
            out[k - 1] = swapped;
        }
    return n;
}
