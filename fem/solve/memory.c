/* What an operator will hold on a device, before any of it is made: from the sizes of the mesh
 * alone, for simplices of degree 1. */
#include "core/weft_core.h"
#include "fem/solve/persistent.h"
#include "fem/sparse/sell.h"
#include "fem/weft_fem.h"

static bool is_gpu(const weft_limits *limits) {
    return limits->lanes_double == WEFT_SLICE;
}

/* Cells with the spare lanes of the last block. */
static size_t padded(int64_t n, int lanes) {
    return (size_t)((n + lanes - 1) / lanes * lanes);
}

/* Every edge twice and every node. Euler's formula for a region without holes: in the plane edges =
 * nodes + cells - 1, in space with half the boundary's facets more, which are few. */
static size_t count_entries(const weft_assembly_problem *p) {
    const size_t c = p->components > 1 ? (size_t)p->components : 1;
    return c * c * (3 * (size_t)p->n_nodes + 2 * (size_t)p->n_cells);
}

/* Rows of the matrix, and of a local matrix. */
static size_t count_rows(const weft_assembly_problem *p, int64_t n_nodes) {
    return (size_t)n_nodes * (p->components > 1 ? (size_t)p->components : 1);
}

/* Stored matrices with several components have a connectivity for their rows too, which a program
 * keeps interleaved. */
static void forecast_rows(const weft_assembly_problem *p, const weft_limits *limits,
                          weft_forecast *forecast) {
    if (p->components > 1)
        weft_forecast_add(forecast, "rows of the matrix of each cell",
                          padded(p->n_cells, limits->lanes_double) * count_rows(p, p->width),
                          sizeof(int32_t));
}

static void forecast_matrix(const weft_assembly_problem *p, const weft_limits *limits,
                            weft_forecast *forecast) {
    const size_t nodes = count_rows(p, p->n_nodes);
    const size_t cells = padded(p->n_cells, limits->lanes_double);
    const size_t width = count_rows(p, p->width), entries = count_entries(p);
    forecast_rows(p, limits, forecast);
    if (!is_gpu(limits)) {
        weft_forecast_add(forecast, "positions of K in the matrix", cells,
                          width * width * sizeof(uint32_t));
        weft_forecast_add(forecast, "matrix, values", entries, sizeof(double));
        return;
    }
    /* The diagonal, then the others, with what equal lengths in a slice cost; columns are codes of
     * 16 bits where nodes are ordered. */
    const size_t blocks = (nodes + WEFT_SLICED_ROWS - 1) / WEFT_SLICED_ROWS;
    const size_t others = (entries - nodes) / 100 * 103;
    weft_forecast_add(forecast, "matrix, values", blocks * WEFT_SLICED_ROWS + others,
                      sizeof(double));
    weft_forecast_add(forecast, "matrix, columns", others, sizeof(uint16_t));
    /* a word for each cell round a row, with what equal numbers in a slice cost; halos. With
     * components, positions in their place. */
    if (p->components > 1)
        weft_forecast_add(forecast, "positions of K in the matrix", cells * width * width,
                          sizeof(uint32_t));
    else
        weft_forecast_add(forecast, "cells round each row", cells * width / 25 * 26,
                          sizeof(uint64_t));
    weft_forecast_add(forecast, "halos of the matrix' blocks", nodes, sizeof(int32_t));
    weft_forecast_add(forecast, "matrix, rows and starts",
                      blocks * (2 * WEFT_SLICED_SLICES + WEFT_SLICED_BASES + WEFT_SLICED_ROWS),
                      sizeof(uint32_t));
}

static void forecast_stars(const weft_assembly_problem *p, weft_forecast *forecast) {
    /* a word for each cell round a node, a sixth more for rows of equal length; halos */
    weft_forecast_add(forecast, "stars", (size_t)p->n_cells * (size_t)p->width / 6 * 7,
                      sizeof(uint32_t));
    weft_forecast_add(forecast, "stars, patches", (size_t)p->n_nodes, sizeof(uint64_t));
}

/* Each edge once, a third more for those between patches and for rounds of equal length; what an
 * edge inside a patch does not need goes to a dump: a word a row on the host, few on a GPU. */
static void forecast_edges(const weft_assembly_problem *p, const weft_limits *limits,
                           weft_forecast *forecast) {
    const size_t nodes = count_rows(p, p->n_nodes), rows = count_rows(p, p->width);
    const size_t cells = padded(p->n_cells, limits->lanes_double);
    const size_t edges = (count_entries(p) - nodes) / 2, slots = edges / 3 * 4;
    forecast_rows(p, limits, forecast);
    weft_forecast_add(forecast, "positions of K in the matrix", cells,
                      rows * rows * sizeof(uint32_t));
    weft_forecast_add(forecast, "matrix, values", (is_gpu(limits) ? 1 : 2) * nodes + slots,
                      sizeof(double));
    if (!is_gpu(limits))
        return;
    weft_forecast_add(forecast, "matrix, columns", slots, sizeof(uint16_t));
    weft_forecast_add(forecast, "matrix, halos", nodes / 2, sizeof(int32_t));
}

void weft_operator_forecast(const weft_limits *limits, weft_assembly assembly,
                            const weft_assembly_problem *p, weft_forecast *forecast, size_t *late) {
    const size_t cells = padded(p->n_cells, limits->lanes_double), width = (size_t)p->width;
    const size_t rows = count_rows(p, p->width);
    const bool gather = assembly == WEFT_ASSEMBLY_LMA_GATHER;
    *late = 0;
    weft_forecast_add(forecast, "connectivity", cells * width, sizeof(int32_t));
    if (gather || limits->kind == WEFT_DEVICE_CUDA) { /* there right-hand sides are gathered */
        weft_forecast_add(forecast, "connectivity, transposed", (size_t)p->n_cells * width,
                          sizeof(uint32_t));
        weft_forecast_add(forecast, "connectivity, transposed", (size_t)p->n_nodes + 1,
                          sizeof(int64_t));
    }
    size_t made = forecast->bytes;
    switch (assembly) {
    case WEFT_ASSEMBLY_LMA:
    case WEFT_ASSEMBLY_LMA_GATHER:
        weft_forecast_add(forecast, "local matrices", cells * rows * rows, sizeof(double));
        made = forecast->bytes;
        if (gather) /* of the product, and of the diagonal for Jacobi */
            weft_forecast_add(forecast, "local results, to be gathered",
                              (p->applications > 1 ? 2 : 1) * cells * rows, sizeof(double));
        *late = forecast->bytes - made;
        break;
    case WEFT_ASSEMBLY_CSR:
        forecast_matrix(p, limits, forecast);
        break;
    case WEFT_ASSEMBLY_MATRIX_FREE:
        if (limits->kind == WEFT_DEVICE_CUDA && p->components <= 1)
            forecast_stars(p, forecast);
        *late = forecast->bytes - made;
        break;
    case WEFT_ASSEMBLY_EDGE:
        forecast_edges(p, limits, forecast);
        break;
    }
}

size_t weft_cg_forecast(const weft_limits *limits, weft_assembly assembly,
                        const weft_assembly_problem *problem) {
    const bool gpu = limits->kind == WEFT_DEVICE_CUDA;
    const bool by_rows = assembly == WEFT_ASSEMBLY_CSR || assembly == WEFT_ASSEMBLY_EDGE;
    const double nodes = (double)count_rows(problem, problem->n_nodes);
    const double entries = (double)count_entries(problem);
    weft_persistent_shape shape;
    char reason[200];
    if (gpu && assembly == WEFT_ASSEMBLY_CSR &&
        weft_persistent_fits(limits, (int64_t)nodes, (int64_t)entries, &shape, reason,
                             sizeof reason)) {
        /* the entries in order of rows; pairs of them with 28 bytes each; vectors */
        return (size_t)(8 * entries + 28 * (entries - nodes) / 2 + 64 * nodes);
    }
    /* z, p, q, d; on a GPU p alternates between two memories where it is computed in the product */
    return (size_t)(8 * nodes) * (gpu && by_rows ? 5 : 4);
}
