/* Which assembly: the one whose predicted time is least, of those that fit. Bytes are counted from
 * the data structures; what share of the bandwidth an operator reaches is from measurements, for
 * the recomputed ones are bound by arithmetic and gathers rather than by bytes. */
#include "core/weft_core.h"
#include "fem/solve/persistent.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <string.h>

/* Where a figure comes from: docs/measurements.md; for a GPU, products of 10^7 nodes on an H200. */
typedef struct assembly_figures {
    const char *name;
    bool gpu, host;
    /* Of the nominal bandwidth reached by a product, [dimension - 2], and by assembly. Above 1 on
     * the host, whose nominal figure is a cautious one. */
    double gpu_product[2], host_product[2], gpu_assembly, host_assembly;
    /* Patterns, positions, patches, transposes: seconds of one of the host's threads, a cell. */
    double gpu_set_up, host_set_up;
} assembly_figures;

static const assembly_figures figures[] = {
    {"csr", true, true, {0.87, 0.90}, {3.0, 3.0}, 0.7, 0.9, 1300e-9, 150e-9},
    {"edge", true, false, {0.68, 0.66}, {1.0, 1.0}, 0.15, 0.9, 1000e-9, 450e-9},
    {"matrix-free", true, true, {0.55, 0.39}, {0.63, 0.26}, 1.0, 1.0, 1500e-9, 20e-9},
    {"lma", true, true, {0.76, 0.78}, {1.26, 1.1}, 0.9, 1.0, 10e-9, 20e-9},
    {"lma-gather", true, true, {0.59, 0.61}, {1.47, 1.25}, 0.9, 1.0, 40e-9, 40e-9},
};
enum { N_FIGURES = sizeof figures / sizeof *figures };

/* Of the memory, for what is not counted here. */
#define MEMORY_SHARE 0.9

double weft_cg_iterations_expected(int dimension, int64_t n_nodes, double tolerance) {
    /* sqrt(condition) / 2 ln(2 / tolerance) with sqrt(condition) = 2 n / pi for n nodes a side is
     * the bound; half of it is what solves take (Dirichlet conditions, uniform meshes). */
    double side = pow((double)n_nodes, 1.0 / dimension);
    double logarithm = tolerance > 0 ? log(2 / tolerance) : log(2 / 1e-16);
    return 1 + ceil(0.5 * side / M_PI * fmax(logarithm, 1));
}

int weft_cg_iterations_limit(int dimension, int64_t n_nodes, double tolerance) {
    static const double LEAST = 10000, TIMES = 50;
    return (int)fmin(
        fmax(LEAST, TIMES * weft_cg_iterations_expected(dimension, n_nodes, tolerance)), 1e9);
}

static bool is_gpu(const weft_limits *limits) {
    return limits->kind == WEFT_DEVICE_CUDA ||
           (limits->kind == WEFT_DEVICE_NULL && limits->lanes_double >= 32);
}

static double components_of(const weft_assembly_problem *p) {
    return p->components > 1 ? p->components : 1;
}

/* Euler's formula for simplices of degree 1: edges = nodes + cells, but for the boundary. */
static double count_entries(const weft_assembly_problem *p) {
    double nodes = (double)p->n_nodes, cells = (double)p->n_cells, c = components_of(p);
    if (p->width == p->dimension + 1)
        return c * c * (3 * nodes + 2 * cells);
    return c * c * (nodes + 0.75 * cells * p->width * (p->width - 1));
}

/* The bytes of each, by name. */
static void count_bytes(const weft_assembly_problem *p, bool gpu, weft_assembly_cost *cost) {
    const double c = components_of(p), nodes = c * (double)p->n_nodes, cells = (double)p->n_cells;
    const double rows = c * p->width, entries = count_entries(p), edges = (entries - nodes) / 2;
    const double vectors = 16 * nodes, local = 8 * rows * rows * cells;
    const double connectivity = 4 * p->width * cells, positions = 4 * rows * rows * cells;
    /* An element reads its connectivity, and each node once where the order of nodes is good. */
    const double elements = connectivity + 8 * p->dimension * (double)p->n_nodes;
    if (strcmp(cost->name, "csr") == 0) {
        cost->product_bytes = 12 * entries + vectors + (gpu ? 0 : 8 * nodes);
        cost->assembly_bytes = elements + positions + 16 * entries;
        cost->memory_bytes = 12 * entries + 8 * nodes + positions;
    } else if (strcmp(cost->name, "edge") == 0) {
        /* A value and a 16-bit column of each edge in a patch, those between two patches twice;
         * the diagonal; the halo of each patch. */
        cost->product_bytes = 1.2 * 10 * edges + 8 * nodes + 10 * nodes + vectors;
        cost->assembly_bytes = elements + positions + 16 * entries;
        cost->memory_bytes = cost->product_bytes + positions;
    } else if (strcmp(cost->name, "matrix-free") == 0) {
        cost->product_bytes = elements + vectors;
        cost->assembly_bytes = 0;
        cost->memory_bytes = 2 * connectivity;
    } else {
        bool gather = strcmp(cost->name, "lma-gather") == 0;
        cost->product_bytes = local + connectivity + vectors;
        cost->assembly_bytes = elements + local;
        cost->memory_bytes = local + connectivity + (gather ? connectivity + 8 * nodes : 0);
    }
}

/* What the run holds beside the operator: coordinates, CG's vectors, the cells. */
static double memory_beside(const weft_assembly_problem *p) {
    return 8.0 * (p->dimension + 9 * components_of(p)) * (double)p->n_nodes +
           4.0 * p->width * (double)p->n_cells;
}

static const char *impossible(const assembly_figures *f, const weft_assembly_problem *p, bool gpu,
                              weft_assembly_cost *cost) {
    if (weft_assembly_find(f->name, &cost->assembly, NULL) != WEFT_OK || !(gpu ? f->gpu : f->host))
        return "not on this device";
    if (strcmp(f->name, "edge") == 0 && !p->symmetric)
        return "the form is not symmetric";
    if (strcmp(f->name, "edge") == 0 && p->width != p->dimension + 1)
        return "for simplices of degree 1";
    if (strcmp(f->name, "edge") == 0 && p->components > 1)
        return "for one component a node";
    return NULL;
}

/* What conjugate gradients add to a product on a GPU: seven lists and three launches more; or,
 * where a stored matrix and the vectors fit on the chip, nothing: there an iteration has a time of
 * its own (docs/measurements.md: 1.5 us at 10^4 nodes, 21 us at 10^6). */
static void add_iteration(const weft_limits *limits, const weft_assembly_problem *p,
                          weft_assembly_cost *cost) {
    static const double least = 1.3e-6, a_node = 2e-11;
    const double dofs = components_of(p) * (double)p->n_nodes;
    weft_persistent_shape shape;
    char reason[200];
    if (strcmp(cost->name, "csr") == 0 &&
        weft_persistent_fits(limits, (int64_t)dofs, (int64_t)count_entries(p), &shape, reason,
                             sizeof reason))
        cost->product_seconds = least + a_node * dofs;
    else
        cost->product_seconds += 56 * dofs / limits->bandwidth + 3 * limits->launch_seconds;
}

static void predict(const assembly_figures *f, const weft_limits *limits,
                    const weft_assembly_problem *p, weft_assembly_cost *cost) {
    const bool gpu = is_gpu(limits);
    const int d = p->dimension == 2 ? 0 : 1;
    const double bandwidth = limits->bandwidth > 0 ? limits->bandwidth : 1e10;
    /* Blocks recomputed take more arithmetic for each byte: on the host 1.5 times the time of csr
     * at 80 k triangles with two components, 1.4 times at 83 k tetrahedra with three. */
    const double dense = strcmp(f->name, "matrix-free") == 0 ? sqrt(components_of(p)) : 1;
    const double product = (gpu ? f->gpu_product[d] : f->host_product[d]) / dense;
    *cost = (weft_assembly_cost){.name = f->name};
    cost->why_not = impossible(f, p, gpu, cost);
    cost->possible = !cost->why_not;
    count_bytes(p, gpu, cost);
    cost->set_up_seconds = (gpu ? f->gpu_set_up : f->host_set_up) * (double)p->n_cells /
                           (limits->threads > 1 ? limits->threads : 1);
    cost->assembly_seconds =
        cost->assembly_bytes / (bandwidth * (gpu ? f->gpu_assembly : f->host_assembly));
    cost->product_seconds = cost->product_bytes / (bandwidth * product) + limits->launch_seconds;
    if (gpu)
        add_iteration(limits, p, cost);
    cost->seconds =
        cost->set_up_seconds + cost->assembly_seconds + p->applications * cost->product_seconds;
    if (!cost->why_not &&
        cost->memory_bytes + memory_beside(p) > MEMORY_SHARE * (double)limits->memory_bytes)
        cost->why_not = "does not fit into memory";
}

/* What fits, by time; then what does not, by size; then what cannot be. */
static bool better(const weft_assembly_cost *a, const weft_assembly_cost *b) {
    if (a->possible != b->possible)
        return a->possible;
    if (!a->why_not != !b->why_not)
        return !a->why_not;
    return a->why_not ? a->memory_bytes < b->memory_bytes : a->seconds < b->seconds;
}

static void explain(const weft_assembly_problem *p, const weft_assembly_cost *costs, int n,
                    weft_text *reason) {
    const weft_assembly_cost *best = &costs[0];
    weft_text_add(reason, "assembly %s%s: predicted for %.0f products of %lld nodes\n", best->name,
                  best->why_not ? ", the smallest, though nothing fits" : "", p->applications,
                  (long long)p->n_nodes);
    weft_text_add(reason, "  %-12s %10s %11s %10s %10s %10s\n", "", "set-up ms", "assembly MB",
                  "product MB", "memory MB", "in all ms");
    for (int i = 0; i < n; ++i) {
        const weft_assembly_cost *c = &costs[i];
        weft_text_add(reason, "  %-12s %10.3g %11.4g %10.4g %10.4g %10.3g", c->name,
                      c->set_up_seconds * 1e3, c->assembly_bytes * 1e-6, c->product_bytes * 1e-6,
                      c->memory_bytes * 1e-6, c->seconds * 1e3);
        weft_text_add(reason, "%s%s%s", c->why_not ? "  " : "", c->why_not ? c->why_not : "",
                      i + 1 < n ? "\n" : "");
    }
}

int weft_assembly_costs(const weft_limits *limits, const weft_assembly_problem *problem,
                        weft_assembly_cost out[WEFT_ASSEMBLIES_MOST]) {
    _Static_assert(N_FIGURES <= WEFT_ASSEMBLIES_MOST, "room for every assembly");
    for (int i = 0; i < N_FIGURES; ++i) {
        weft_assembly_cost cost;
        int k = i;
        predict(&figures[i], limits, problem, &cost);
        for (; k > 0 && better(&cost, &out[k - 1]); --k)
            out[k] = out[k - 1];
        out[k] = cost;
    }
    return N_FIGURES;
}

weft_status weft_assembly_choose(const weft_limits *limits, const weft_assembly_problem *problem,
                                 weft_assembly *out, weft_text *reason, weft_error *error) {
    weft_assembly_cost costs[WEFT_ASSEMBLIES_MOST];
    if (problem->dimension < 2 || problem->dimension > 3 || problem->width < 1 ||
        problem->n_nodes < 1 || problem->n_cells < 1 || !(problem->applications >= 0))
        return weft_error_set(
            error, WEFT_ERROR_USAGE,
            "no assembly can be chosen for %lld cells of %d nodes in dimension %d",
            (long long)problem->n_cells, problem->width, problem->dimension);
    int n = weft_assembly_costs(limits, problem, costs);
    *out = costs[0].assembly;
    if (reason)
        explain(problem, costs, n, reason);
    return WEFT_OK;
}
