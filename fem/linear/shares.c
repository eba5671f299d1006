/* Divides a mesh among ranks whose devices differ, so that an iteration is predicted to take equally long on each. */
#include "core/base/threads.h"
#include "core/device/device.h"
#include "fem/linear/linear.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_problem_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What an iteration takes besides moving its bytes. A rank with a GPU that the host passes numbers on for starts kernels, and waits for copies
 * of copies of its neighbours' values and of two sums to and from the host; GPUs that reach each other wait for messages of 5 us
 * (decision 0073). A host starts its threads, and meets the others. */
enum { LAUNCHES = 9, COPIES = 6, REGIONS = 4, MEETINGS = 3 };
/* With the waits of both: 3.4e6 nodes of tetrahedra on an H200 and 8 threads of its host take 0.35 ms an iteration beyond their bytes,
 * whether the host has 2 or 5 per cent. */
static const double COPY_SECONDS = 55e-6, MESSAGE_SECONDS = 5e-6, MEETING_SECONDS = 1e-6;
static const double BUS = 2e10; /* bytes per second between host and GPU */

/* Predicted seconds of an iteration on one device: fixed + nodes * each. */
typedef struct pace {
    double fixed, each, alone;
    uint64_t cells; /* a hash of those of the mesh */
    char device[128];
} pace;

static weft_assembly_problem sizes_of(const weft_mesh *mesh, const weft_ranks_work *work) {
    const int d = mesh->dimension, p = (int)fmax(work->degree, 1);
    const bool is_simplex = weft_mesh_cell(mesh)->simplex;
    double width = 1; /* (d + p over d), or (p + 1)^d */
    for (int k = 1; k <= d; ++k)
        width *= is_simplex ? (double)(p + k) / k : p + 1;
    return (weft_assembly_problem){.dimension = d,
                                   .width = (int)lround(width),
                                   .n_nodes = (int64_t)((double)mesh->n_nodes * pow(p, d)),
                                   .n_cells = mesh->n_cells,
                                   .symmetric = true,
                                   .solves = 1,
                                   .components = work->components > 1 ? work->components : 1,
                                   .cell = mesh->cell,
                                   .degree = p};
}

static weft_assembly assembly_of(const weft_context *context, const weft_assembly_problem *sizes,
                                 int asked) {
    const bool is_cheap = !weft_context_is_on_gpu(context) ||
                          (sizes->width == sizes->dimension + 1 && sizes->components == 1);
    return asked != WEFT_AUTO ? (weft_assembly)asked
           : is_cheap         ? WEFT_ASSEMBLY_CSR
                              : WEFT_ASSEMBLY_MATRIX_FREE;
}

static double fixed_seconds(const weft_context *context, const weft_assembly_problem *sizes) {
    const weft_limits *limits = weft_device_limits(context->device);
    const double border = 2.0 * sizeof(double) * sizes->components *
                          pow((double)sizes->n_nodes, (sizes->dimension - 1.0) / sizes->dimension);
    if (limits->execution != WEFT_EXECUTION_SIMT)
        return REGIONS * limits->launch_seconds + MEETINGS * MEETING_SECONDS;
    return LAUNCHES * limits->launch_seconds + (weft_comm_is_staged(context->comm)
                                                    ? COPIES * COPY_SECONDS + border / BUS
                                                    : MEETINGS * MESSAGE_SECONDS);
}

/* An iteration on the whole mesh without ranks, with all processors or the loop of a GPU. */
static double alone_seconds(const weft_limits *limits, const weft_assembly_problem *sizes,
                            weft_assembly assembly) {
    const weft_limits all = weft_limits_with_threads(limits, weft_threads_available());
    weft_assembly_cost costs[WEFT_ASSEMBLIES_MOST];
    const int n = weft_assembly_costs(limits, sizes, costs);
    double seconds = weft_iteration_seconds(&all, sizes, assembly) + REGIONS * all.launch_seconds;
    for (int i = 0; i < n && limits->execution == WEFT_EXECUTION_SIMT; ++i)
        if (costs[i].assembly == assembly)
            seconds = costs[i].product_seconds;
    return seconds;
}

static weft_status find_pace(const weft_context *context, const weft_mesh *mesh,
                             const weft_ranks_work *work, pace *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_limits *limits = weft_device_limits(context->device);
    weft_assembly_problem sizes = sizes_of(mesh, work);
    const weft_assembly assembly = assembly_of(context, &sizes, work->assembly);
    weft_speeds speeds = {0};
    TRY(weft_speeds_read(context->device, NULL, &speeds, error));
    sizes.speeds = &speeds.assemblies;
    *out = (pace){.fixed = fixed_seconds(context, &sizes),
                  .each = weft_iteration_seconds(limits, &sizes, assembly) / (double)mesh->n_nodes,
                  .alone = alone_seconds(limits, &sizes, assembly)};
    memcpy(out->device, limits->name, sizeof out->device);
done:
    return status;
}

/* Shares with which all ranks take T = (N + sum fixed / each) / (sum 1 / each); one node for those that would take longer with none. */
static void balance(const pace *paces, int n, double n_nodes, double *shares) {
    bool changes = true;
    double sum = 0;
    for (int r = 0; r < n; ++r)
        shares[r] = 1;
    while (changes) {
        double speed = 0, nodes = n_nodes;
        changes = false;
        for (int r = 0; r < n; ++r) {
            speed += shares[r] > 0 ? 1 / paces[r].each : 0;
            nodes += shares[r] > 0 ? paces[r].fixed / paces[r].each : 0;
        }
        for (int r = 0; r < n; ++r) {
            const bool had_some = shares[r] > 0;
            shares[r] =
                had_some ? fmax((nodes / speed - paces[r].fixed) / paces[r].each / n_nodes, 0) : 0;
            changes |= had_some && shares[r] <= 0;
        }
        for (int r = 0; r < n && changes; ++r)
            shares[r] = shares[r] > 0;
    }
    for (int r = 0; r < n; ++r)
        sum += shares[r] = fmax(shares[r], 1 / n_nodes);
    for (int r = 0; r < n; ++r)
        shares[r] /= sum;
}

/* FNV-1a. Host and GPU number a mesh alike, which makes their parts those of one mesh. */
static uint64_t hash_cells(const weft_mesh *mesh) {
    uint64_t hash = 14695981039346656037u;
    for (int64_t i = 0; i < mesh->n_cells * weft_mesh_cell_vertices(mesh); ++i)
        hash = (hash ^ (uint64_t)(uint32_t)mesh->cells[i]) * 1099511628211u;
    return hash;
}

static weft_status compare_meshes(const pace *paces, int n, weft_error *error) {
    for (int r = 1; r < n; ++r)
        if (paces[r].cells != paces[0].cells)
            return weft_error_set(error, WEFT_ERROR_INTERNAL,
                                  "ranks 0 and %d number the cells of the mesh differently", r);
    return WEFT_OK;
}

static bool are_alike(const pace *paces, int n) {
    bool found = true;
    for (int r = 1; r < n; ++r)
        found &= paces[r].each == paces[0].each && paces[r].fixed == paces[0].fixed;
    return found;
}

static void advise(const weft_context *context, const weft_rank_share *shares, int n) {
    const int best = weft_ranks_faster_alone(shares, n);
    char alone[32];
    if (best >= 0 && weft_comm_rank(context->comm) == 0)
        weft_log(context->monitor, WEFT_LOG_INFO,
                 "%s alone is predicted to be faster, with %s an iteration", shares[best].device,
                 weft_seconds_text(shares[best].alone, alone));
}

int weft_ranks_faster_alone(const weft_rank_share *shares, int n) {
    int best = 0;
    double all = 0;
    for (int r = 0; r < n; ++r) {
        best = shares[r].alone < shares[best].alone ? r : best;
        all = fmax(all, shares[r].seconds);
    }
    return n > 0 && shares[best].alone < all ? best : -1;
}

void weft_ranks_shares_print(const weft_rank_share *shares, int n, weft_text *out) {
    char seconds[32];
    const int best = weft_ranks_faster_alone(shares, n);
    for (int r = 0; r < n; ++r)
        weft_text_add(out, "%s %.3g %% of the nodes, %s an iteration predicted: %s\n",
                      r == 0 ? "shares     " : "           ", 100 * shares[r].share,
                      weft_seconds_text(shares[r].seconds, seconds), shares[r].device);
    if (best >= 0)
        weft_text_add(out, "            faster as predicted: %s alone, %s\n", shares[best].device,
                      weft_seconds_text(shares[best].alone, seconds));
}

weft_status weft_ranks_share_out(weft_context *context, const weft_mesh *mesh,
                                 const weft_ranks_work *work, weft_rank_share **out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_comm *comm = context->comm;
    const int n = weft_comm_size(comm);
    const double n_nodes = (double)mesh->n_nodes;
    weft_ranks_work common = *work;
    pace mine, *paces = calloc((size_t)n, sizeof *paces);
    weft_rank_share *made = calloc((size_t)n, sizeof *made);
    double *shares = calloc((size_t)n, sizeof *shares);
    *out = NULL;
    if (!paces || !made || !shares)
        TRY(weft_out_of_memory(error, "the shares of ranks"));
    TRY(weft_comm_broadcast(comm, &common, sizeof common, 0, error));
    TRY(find_pace(context, mesh, &common, &mine, error));
    mine.cells = weft_comm_is_mixed(comm) ? hash_cells(mesh) : 0;
    TRY(weft_comm_gather(comm, &mine, sizeof mine, paces, error));
    TRY(compare_meshes(paces, n, error));
    if (!weft_comm_shares(comm) && (are_alike(paces, n) || n_nodes < n))
        goto done;
    if (!weft_comm_shares(comm)) {
        balance(paces, n, n_nodes, shares);
        TRY(weft_comm_share_out(comm, shares, n, error));
    }
    for (int r = 0; r < n; ++r) {
        made[r].share = weft_comm_shares(comm)[r];
        made[r].seconds = paces[r].fixed + paces[r].each * made[r].share * n_nodes;
        made[r].alone = paces[r].alone;
        memcpy(made[r].device, paces[r].device, sizeof made[r].device);
    }
    advise(context, made, n);
    *out = made;
    made = NULL;
done:
    free(paces);
    free(made);
    free(shares);
    return status;
}
