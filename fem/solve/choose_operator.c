/* Chooses the assembly with the least predicted time among those that fit into memory. Bytes are
 * counted from the data structures. The fraction of bandwidth that a product reaches is measured
 * (weft_assembly_speeds), as recomputed operators are bound by arithmetic and gathers, not by bytes.
 *
 * Decision  docs/decisions/0029-operator-formats-are-descriptors.md */
#include "fem/solve/persistent.h"

#include <math.h>

/* Usable fraction of memory; the rest is for data not counted here. */
#define MEMORY_SHARE 0.9

/* Memory of a run besides the operator: coordinates, CG's vectors, the cells. */
static double memory_beside(const weft_operator_sizes *s, int dimension) {
    return 8.0 * dimension * (double)s->n_nodes + 72.0 * (double)s->n_rows +
           4.0 * (double)s->width * (double)s->n_cells;
}

static const char *impossible(const weft_operator_format *format, const weft_assembly_problem *p,
                              bool on_gpu) {
    if (!(on_gpu ? format->gpu : format->host).is_available)
        return "not on this device";
    return format->refuses ? format->refuses(p) : NULL;
}

/* Patches of vertices, of simplices of degree 1, are made by threads of the host, those of cells on a GPU: 24 ms of 7.4e6 tetrahedra
 * of degree 2, one H200. */
static double set_up_seconds(const weft_operator_format *format, const weft_assembly_speed *speed,
                             const weft_assembly_problem *p, const weft_operator_sizes *s) {
    static const double cell_patches = 3.3e-9;
    const double cells = (double)p->n_cells,
                 threads = s->limits->threads > 1 ? s->limits->threads : 1;
    return s->on_gpu && format->recomputes && p->width > p->dimension + 1
               ? cell_patches * cells
               : speed->set_up * cells / threads;
}

/* Seconds in which an iteration of the persistent kernel reads the pairs of entries that do not fit into shared memory. */
static double read_seconds(const weft_assembly_problem *p, const weft_operator_sizes *s) {
    static const double pair_bytes = 20, uneven = 1.2, shared = 0.8, speed = 1.4e12;
    const bool is_uneven = p->width > p->dimension + 1;
    const double pairs =
        0.5 * ((double)s->n_entries - (double)s->n_rows) * (is_uneven ? uneven : 1);
    const double kept =
        shared * (double)s->limits->onchip_bytes * (double)s->limits->multiprocessors;
    return fmax(pair_bytes * pairs - kept, 0) / speed;
}

/* Add the cost of the rest of a CG iteration on a GPU to that of the product: seven lists and three
 * launches. If the vectors of a stored matrix fit on the chip, the time of a persistent iteration
 * is used instead (docs/measurements.md: 1.5 us at 10^4 nodes, 21 us at 10^6); what of the matrix does not fit is read from the
 * cache, unevenly where rows differ in length (P2 triangles, 5.1e5 rows: 33 us for 45 MB). */
static void add_iteration(const weft_operator_format *format, const weft_assembly_problem *p,
                          const weft_operator_sizes *s, weft_assembly_cost *cost) {
    static const double least = 1.3e-6, a_node = 2e-11;
    const double dofs = (double)s->n_rows;
    weft_persistent_shape shape;
    char reason[200];
    if (format->info.stores_matrix &&
        weft_persistent_fits(s->limits, (int64_t)s->n_rows, (int64_t)s->n_entries, &shape, reason,
                             sizeof reason))
        cost->product_seconds = least + fmax(a_node * dofs, read_seconds(p, s));
    else
        cost->product_seconds += 56 * dofs / s->limits->bandwidth + 3 * s->limits->launch_seconds;
}

/* The fraction of the bandwidth that a product reaches. Recomputing blocks takes more arithmetic per byte: on the host 1.5 times the
 * time of csr for 80 k triangles with two components, 1.4 times for 83 k tetrahedra with three. */
static double fraction_of(const weft_operator_format *format, const weft_assembly_speed *speed,
                          const weft_assembly_problem *p, const weft_operator_sizes *s) {
    const double dense = format->recomputes ? sqrt((double)s->n_components) : 1;
    return speed->product[p->dimension < 3 ? 0 : 1] / dense;
}

static const weft_assembly_speed *speed_of(weft_assembly assembly, const weft_assembly_problem *p,
                                           const weft_operator_sizes *s) {
    const weft_operator_format *format = weft_operator_format_of(assembly);
    return p->speeds ? &p->speeds->of[assembly] : s->on_gpu ? &format->gpu : &format->host;
}

static double bandwidth_of(const weft_limits *limits) {
    return limits->bandwidth > 0 ? limits->bandwidth : 1e10;
}

static void predict(weft_assembly assembly, const weft_limits *limits,
                    const weft_assembly_problem *p, weft_assembly_cost *cost) {
    const weft_operator_format *format = weft_operator_format_of(assembly);
    const weft_operator_sizes sizes = weft_operator_sizes_of(limits, p);
    const weft_assembly_speed *speed = speed_of(assembly, p, &sizes);
    const double bandwidth = bandwidth_of(limits), product = fraction_of(format, speed, p, &sizes);
    *cost = (weft_assembly_cost){.name = format->info.name, .assembly = assembly};
    cost->why_not = impossible(format, p, sizes.on_gpu);
    cost->possible = !cost->why_not;
    format->count_bytes(&sizes, cost);
    cost->set_up_seconds = set_up_seconds(format, speed, p, &sizes);
    cost->assembly_seconds = cost->assembly_bytes / (bandwidth * speed->assembly);
    cost->product_seconds = cost->product_bytes / (bandwidth * product) + limits->launch_seconds;
    if (sizes.on_gpu)
        add_iteration(format, p, &sizes, cost);
    cost->seconds =
        cost->set_up_seconds + cost->assembly_seconds + p->applications * cost->product_seconds;
    if (!cost->why_not && cost->memory_bytes + memory_beside(&sizes, p->dimension) >
                              MEMORY_SHARE * (double)limits->memory_bytes)
        cost->why_not = "does not fit into memory";
}

/* Order: those that fit, by time; those that do not fit, by size; those that are impossible. */
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
    const int n = weft_assembly_count();
    for (int i = 0; i < n; ++i) {
        weft_assembly_cost cost;
        int k = i;
        predict((weft_assembly)i, limits, problem, &cost);
        for (; k > 0 && better(&cost, &out[k - 1]); --k)
            out[k] = out[k - 1];
        out[k] = cost;
    }
    return n;
}

double weft_iteration_seconds(const weft_limits *limits, const weft_assembly_problem *problem,
                              weft_assembly assembly) {
    /* p = z + beta p; p . q, apart from the product; x and r, with their sums */
    static const double list_bytes = 24 + 16 + 48;
    const weft_operator_format *format = weft_operator_format_of(assembly);
    const weft_operator_sizes sizes = weft_operator_sizes_of(limits, problem);
    const double fraction =
        fraction_of(format, speed_of(assembly, problem, &sizes), problem, &sizes);
    weft_assembly_cost cost = {.assembly = assembly};
    format->count_bytes(&sizes, &cost);
    return (cost.product_bytes / fraction + list_bytes * (double)sizes.n_rows) /
           bandwidth_of(limits);
}

weft_status weft_assembly_choose(const weft_limits *limits, const weft_assembly_problem *problem,
                                 weft_assembly *out, weft_text *reason, weft_error *error) {
    weft_assembly_cost costs[WEFT_ASSEMBLIES_MOST];
    if (problem->dimension < 1 || problem->dimension > 3 || problem->width < 1 ||
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
