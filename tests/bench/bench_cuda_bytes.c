/* What must move through memory: every input read once, every result written once. */
#include "bench_cuda.h"

#include <string.h>

const char bench_bytes_text[] =
    "Bytes that must move; r: bytes of a real, d: dimension, c, n, e: cells, nodes\n"
    "and entries of the matrix:\n"
    "  local      c (4 (d+1) + r (d+1)(d+2)/2) + n r d\n"
    "             a cell's nodes, half of its symmetric matrix, coordinates\n"
    "  Addto      c (4 (d+1) + 4 (d+1)^2) + n r d + e r\n"
    "             nodes, known positions, coordinates, values once\n"
    "  apply csr  e (r + 4) + 4 (n + 1) + 2 n r\n"
    "        edge (e - n)/2 (r + 2) + n r + 2 n r\n"
    "             each edge once with a 16-bit column, the diagonal\n"
    "        lma  c (4 (d+1) + r (d+1)(d+2)/2) + 2 n r\n"
    "        free c 4 (d+1) + n r d + 2 n r: operators without a matrix\n"
    "  CG         apply + 8 n r: two kernels, one for p, one for x, r and r.r\n"
    "An operator may well move more; it is not credited for it. L2 marks sizes of\n"
    "less than 60 MB: they stay in the cache, and GB/s is not of memory.\n";

bench_kind bench_assembly_kind(const char *name) {
    if (strncmp(name, "csr", 3) == 0 || strncmp(name, "sell", 4) == 0)
        return BENCH_KIND_CSR;
    if (strncmp(name, "edge", 4) == 0)
        return BENCH_KIND_EDGE;
    return strncmp(name, "lma", 3) == 0 ? BENCH_KIND_LMA : BENCH_KIND_FREE;
}

static double half_matrix(const bench_sizes *sizes) {
    return 0.5 * (sizes->dimension + 1) * (sizes->dimension + 2) * sizes->real;
}

static double cell_nodes(const bench_sizes *sizes) {
    return 4.0 * (sizes->dimension + 1);
}

static double coordinates(const bench_sizes *sizes) {
    return sizes->nodes * sizes->real * sizes->dimension;
}

double bench_bytes_local(const bench_sizes *sizes) {
    return sizes->cells * (cell_nodes(sizes) + half_matrix(sizes)) + coordinates(sizes);
}

double bench_bytes_addto(const bench_sizes *sizes) {
    const double width = sizes->dimension + 1;
    return sizes->cells * (cell_nodes(sizes) + 4 * width * width) + coordinates(sizes) +
           sizes->entries * sizes->real;
}

double bench_bytes_apply(const bench_sizes *sizes, bench_kind kind) {
    const double vectors = 2 * sizes->nodes * sizes->real;
    switch (kind) {
    case BENCH_KIND_CSR:
        return sizes->entries * (sizes->real + 4) + 4 * (sizes->nodes + 1) + vectors;
    case BENCH_KIND_EDGE:
        return 0.5 * (sizes->entries - sizes->nodes) * (sizes->real + 2) +
               sizes->nodes * sizes->real + vectors;
    case BENCH_KIND_LMA:
        return sizes->cells * (cell_nodes(sizes) + half_matrix(sizes)) + vectors;
    case BENCH_KIND_FREE:
        break;
    }
    return sizes->cells * cell_nodes(sizes) + coordinates(sizes) + vectors;
}

double bench_bytes_cg(const bench_sizes *sizes, bench_kind kind) {
    return bench_bytes_apply(sizes, kind) + 8 * sizes->nodes * sizes->real;
}

double bench_bytes_device(const bench_sizes *sizes, bench_kind kind) {
    const double width = sizes->dimension + 1;
    double bytes =
        sizes->cells * cell_nodes(sizes) + coordinates(sizes) + 12 * sizes->nodes * sizes->real;
    if (kind == BENCH_KIND_LMA) /* square, and a result a cell for gathering */
        bytes += sizes->cells * (width * width + width) * sizes->real;
    if (kind == BENCH_KIND_CSR || kind == BENCH_KIND_EDGE)
        bytes += sizes->entries * (sizes->real + 4) + sizes->cells * 4 * width * width;
    if (kind == BENCH_KIND_EDGE)
        bytes += sizes->entries * sizes->real;
    return bytes;
}
