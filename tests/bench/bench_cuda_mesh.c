/* Meshes of any size from four tiles; shuffled; ordered. */
#include "bench_cuda.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

/* [dimension - 2][large] */
static const char *const tile_names[2][2] = {{"tile_square_small", "tile_square_large"},
                                             {"tile_cube_small", "tile_cube_large"}};
static const double tile_sizes[2][2] = {{0.0163, 0.0036}, {0.08, 0.022}};
static const double large_from[2] = {1e6, 2e6}; /* cells */

static weft_status tile_read(bench_tiles *tiles, int dimension, int large, weft_mesh **out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh **kept = &tiles->meshes[dimension][large];
    char path[4096];
    if (!*kept && tiles->folder) {
        snprintf(path, sizeof path, "%s/%s.vtkhdf", tiles->folder,
                 tile_names[dimension - 2][large]);
        TRY(weft_mesh_read(path, 0, NULL, kept, error));
    } else if (!*kept) {
        snprintf(path, sizeof path, "%s/meshes/%s.geo", WEFT_SOURCE_DIR,
                 dimension == 2 ? "tile_square" : "tile_cube");
        fprintf(stderr, "meshing %s ...\n", path);
        TRY(weft_mesh_read(path, tile_sizes[dimension - 2][large], NULL, kept, error));
    }
    *out = *kept;
done:
    return status;
}

weft_status bench_tiles_write(bench_tiles *tiles, const char *folder, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int d = 2; d <= 3; ++d)
        for (int large = 0; large < 2; ++large) {
            char path[4096];
            weft_mesh *tile = NULL;
            TRY(tile_read(tiles, d, large, &tile, error));
            snprintf(path, sizeof path, "%s/%s.vtkhdf", folder, tile_names[d - 2][large]);
            TRY(weft_result_write(path, tile, NULL, 0, error));
            printf("%s: %lld nodes, %lld cells\n", path, (long long)tile->n_nodes,
                   (long long)tile->n_cells);
        }
done:
    return status;
}

void bench_tiles_free(bench_tiles *tiles) {
    for (int d = 2; d <= 3; ++d)
        for (int large = 0; large < 2; ++large)
            weft_mesh_free(&tiles->meshes[d][large]);
}

/* The counts whose product comes nearest, near a cube among those. */
static void choose_counts(int dimension, double wanted, int64_t counts[3]) {
    const int64_t most = (int64_t)ceil(2 * pow(wanted, 1.0 / dimension)) + 1;
    double least = INFINITY;
    for (int64_t c = 1; c <= (dimension == 3 ? most : 1); ++c)
        for (int64_t b = c; b <= most; ++b)
            for (int64_t a = b; a <= most; ++a) {
                const double product = (double)(a * b * c);
                const double cost = fabs(log(product / wanted)) +
                                    0.02 * log((double)a / (double)(dimension == 3 ? c : b));
                if (cost >= least)
                    continue;
                least = cost;
                counts[0] = a;
                counts[1] = b;
                counts[2] = c;
            }
}

/* ---- shuffling: each number of 0 .. n-1 once, computed anywhere in any order ------------------
 */

typedef struct permutation {
    uint64_t n, mask, seed;
    int half; /* bits */
} permutation;

static permutation permutation_of(int64_t n, uint64_t seed) {
    permutation p = {.n = (uint64_t)n, .seed = seed, .half = 1};
    while ((uint64_t)1 << 2 * p.half < p.n)
        ++p.half;
    p.mask = ((uint64_t)1 << p.half) - 1;
    return p;
}

/* Finalizer of MurmurHash3 (Appleby). */
static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

/* A Feistel network on the next even power of two, walked until it is back inside. */
static int64_t permute(const permutation *p, int64_t i) {
    uint64_t x = (uint64_t)i;
    do {
        uint64_t left = x >> p->half, right = x & p->mask;
        for (uint64_t round = 0; round < 4; ++round) {
            const uint64_t next = left ^ (mixed(right + p->seed + (round << 40)) & p->mask);
            left = right;
            right = next;
        }
        x = left << p->half | right;
    } while (x >= p->n);
    return (int64_t)x;
}

typedef struct shuffle {
    const weft_mesh *mesh;
    permutation nodes, cells;
    double *x;
    int32_t *to;
} shuffle;

static void shuffle_chunk(void *user, int64_t chunk) {
    const shuffle *s = user;
    const weft_mesh *mesh = s->mesh;
    const int d = mesh->dimension;
    const int64_t first = chunk * CHUNK, last = first + CHUNK;
    for (int64_t i = first; i < last && i < mesh->n_nodes; ++i)
        memcpy(s->x + permute(&s->nodes, i) * d, mesh->x + i * d, (size_t)d * sizeof *s->x);
    for (int64_t c = first; c < last && c < mesh->n_cells; ++c) {
        int32_t *to = s->to + permute(&s->cells, c) * (d + 1);
        for (int k = 0; k <= d; ++k)
            to[k] = (int32_t)permute(&s->nodes, mesh->cells[c * (d + 1) + k]);
    }
}

static weft_status shuffle_mesh(weft_device *host, weft_mesh *mesh, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t d = (size_t)mesh->dimension;
    const int64_t n = mesh->n_cells > mesh->n_nodes ? mesh->n_cells : mesh->n_nodes;
    shuffle s = {.mesh = mesh,
                 .nodes = permutation_of(mesh->n_nodes, 17),
                 .cells = permutation_of(mesh->n_cells, 4711),
                 .x = weft_array_make((size_t)mesh->n_nodes, d * sizeof *s.x),
                 .to = weft_array_make((size_t)mesh->n_cells, (d + 1) * sizeof *s.to)};
    if (!s.x || !s.to) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(weft_device_for(host, (n + CHUNK - 1) / CHUNK, shuffle_chunk, &s, error));
    for (int64_t k = 0; k < mesh->n_facets * mesh->dimension; ++k)
        mesh->facets[k] = (int32_t)permute(&s.nodes, mesh->facets[k]);
    free(mesh->x);
    free(mesh->cells);
    mesh->x = s.x;
    mesh->cells = s.to;
    s.x = NULL;
    s.to = NULL;
done:
    free(s.x);
    free(s.to);
    return status;
}

weft_status bench_mesh_make(bench_tiles *tiles, weft_device *host, int dimension, double n_cells,
                            bool shuffled, weft_mesh **out, double seconds[2], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *tile = NULL, *mesh = NULL;
    int64_t counts[3] = {1, 1, 1};
    TRY(tile_read(tiles, dimension, n_cells >= large_from[dimension - 2], &tile, error));
    double start = weft_clock();
    choose_counts(dimension, n_cells / (double)tile->n_cells, counts);
    TRY(weft_mesh_tile(host, tile, counts, &mesh, error));
    seconds[0] = weft_clock() - start;
    if (shuffled)
        TRY(shuffle_mesh(host, mesh, error));
    start = weft_clock();
    TRY(weft_mesh_order(host, mesh, WEFT_ORDERING_BISECTION, 512, NULL, NULL, error));
    seconds[1] = weft_clock() - start;
    *out = mesh;
    mesh = NULL;
done:
    weft_mesh_free(&mesh);
    return status;
}
