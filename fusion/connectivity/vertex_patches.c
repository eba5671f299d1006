/* All patches of a connectivity: the patches in parallel, and their parts one after the other in
 * device memory. */
#include "core/weft_core.h"
#include "fusion/connectivity/vertex_patches.h"
#include "fusion/weft_program.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TASK_PATCHES = 16, NODES_MOST = 4096, NODES_STEP = 128 };

typedef struct star_builder {
    weft_device *device;
    weft_star_source_cells source;
    int64_t n_from, n_patches;
    int32_t *list;
    int64_t *start; /* [n_patches + 1] */
    weft_star_patch *patches;
    int64_t *first_group, *first_halo; /* [n_patches + 1] */
    atomic_bool failed;
    weft_error error; /* of the task that failed first */
    weft_stars *stars;
    uint16_t *order, *words;
    uint32_t *rows;
    int32_t *halo, *cells;
} star_builder;

/* ---- the patches ---- */

static void make_patches(void *user, int64_t task) {
    star_builder *b = user;
    weft_star_scratch scratch = {0};
    weft_error error = {0};
    for (int64_t p = task * TASK_PATCHES; p < b->n_patches && p < (task + 1) * TASK_PATCHES; ++p) {
        if (atomic_load_explicit(&b->failed, memory_order_relaxed))
            break;
        if (weft_star_patch_make(&b->source, p, &scratch, &b->patches[p], &error) != WEFT_OK &&
            !atomic_exchange(&b->failed, true))
            b->error = error;
    }
    weft_star_scratch_free(&scratch);
}

static void copy_patches(void *user, int64_t task) {
    star_builder *b = user;
    const size_t nodes = (size_t)b->source.nodes;
    const size_t n_warps = (size_t)weft_star_warps(b->source.nodes);
    const size_t group = WEFT_STAR_GROUP * WEFT_STAR_LANES;
    for (int64_t p = task * TASK_PATCHES; p < b->n_patches && p < (task + 1) * TASK_PATCHES; ++p) {
        weft_star_patch *patch = &b->patches[p];
        const size_t g = (size_t)b->first_group[p], n_words = (size_t)patch->n_groups * group;
        memcpy(b->order + (size_t)p * nodes, patch->order, nodes * sizeof *b->order);
        memcpy(b->words + g * group, patch->words, n_words * sizeof *b->words);
        if (b->cells)
            memcpy(b->cells + g * group, patch->cells, n_words * sizeof *b->cells);
        memcpy(b->halo + b->first_halo[p], patch->halo, (size_t)patch->n_halo * sizeof *b->halo);
        uint32_t *rows = b->rows + (size_t)p * n_warps * 4;
        memcpy(rows, patch->rows, n_warps * 4 * sizeof *rows);
        for (size_t w = 0; w < n_warps; ++w)
            rows[4 * w] += (uint32_t)g;
        weft_star_patch_free(patch);
    }
}

static int64_t count_tasks(const star_builder *b) {
    return (b->n_patches + TASK_PATCHES - 1) / TASK_PATCHES;
}

static weft_status build_patches(star_builder *b, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_stars *stars = b->stars;
    b->patches = weft_array_make((size_t)b->n_patches + 1, sizeof *b->patches);
    b->first_group = weft_array_make((size_t)b->n_patches + 1, sizeof *b->first_group);
    b->first_halo = weft_array_make((size_t)b->n_patches + 1, sizeof *b->first_halo);
    if (!b->patches || !b->first_group || !b->first_halo)
        return weft_star_no_memory("stars", b->n_from, error);
    TRY(weft_device_for(b->device, count_tasks(b), make_patches, b, error));
    if (atomic_load(&b->failed)) {
        if (error)
            *error = b->error;
        return b->error.status;
    }
    for (int64_t p = 0; p < b->n_patches; ++p) {
        const weft_star_patch *patch = &b->patches[p];
        b->first_group[p + 1] = b->first_group[p] + patch->n_groups;
        b->first_halo[p + 1] = b->first_halo[p] + patch->n_halo;
        if (b->source.nodes + patch->n_halo > stars->most_local)
            stars->most_local = b->source.nodes + patch->n_halo;
    }
    stars->n_groups = b->first_group[b->n_patches];
    stars->n_halo = b->first_halo[b->n_patches];
    if (stars->n_groups > UINT32_MAX)
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%lld cells are too many for stars",
                                (long long)b->n_from);
done:
    return status;
}

/* ---- device memory ---- */

static weft_status store_patches(star_builder *b, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_stars *s = b->stars;
    const size_t n_slots = (size_t)s->n_patches * (size_t)s->nodes;
    const size_t n_rows = (size_t)s->n_patches * (size_t)weft_star_warps(s->nodes);
    const size_t n_words = (size_t)s->n_groups * WEFT_STAR_GROUP * WEFT_STAR_LANES;
    void *order = NULL, *rows = NULL, *words = NULL, *halo = NULL, *cells = NULL;
    TRY(weft_memory_make(b->device, ((size_t)s->n_patches + 1) * sizeof *b->first_halo,
                         &s->halo_start, error));
    TRY(weft_star_place(b->device, "stars", n_slots, sizeof *b->order, &s->order, &order, error));
    TRY(weft_star_place(b->device, "stars", n_rows * 4, sizeof *b->rows, &s->rows, &rows, error));
    TRY(weft_star_place(b->device, "stars", n_words, sizeof *b->words, &s->words, &words, error));
    TRY(weft_star_place(b->device, "stars", (size_t)s->n_halo, sizeof *b->halo, &s->halo, &halo,
                        error));
    if (s->with_cells)
        TRY(weft_star_place(b->device, "stars", n_words, sizeof *b->cells, &s->cells, &cells,
                            error));
    b->order = order;
    b->rows = rows;
    b->words = words;
    b->halo = halo;
    b->cells = cells;
    TRY(weft_device_for(b->device, count_tasks(b), copy_patches, b, error));
    TRY(weft_memory_write(s->halo_start, 0, b->first_halo, weft_memory_bytes(s->halo_start),
                          error));
    TRY(weft_star_send(s->order, order, error));
    TRY(weft_star_send(s->rows, rows, error));
    TRY(weft_star_send(s->words, words, error));
    TRY(weft_star_send(s->halo, halo, error));
    TRY(weft_star_send(s->cells, cells, error));
done:
    weft_star_drop(s->order, order);
    weft_star_drop(s->rows, rows);
    weft_star_drop(s->words, words);
    weft_star_drop(s->halo, halo);
    weft_star_drop(s->cells, cells);
    return status;
}

static void builder_free(star_builder *b) {
    for (int64_t p = 0; b->patches && p < b->n_patches; ++p)
        weft_star_patch_free(&b->patches[p]);
    free(b->patches);
    free(b->first_group);
    free(b->first_halo);
    free(b->list);
    free(b->start);
    weft_stars_free(&b->stars);
}

weft_status weft_stars_make(weft_device *device, const weft_connectivity *connectivity, int nodes,
                            bool with_cells, weft_stars **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int width = weft_connectivity_width(connectivity);
    const int64_t n_to = weft_connectivity_to(connectivity);
    star_builder b = {.device = device, .n_from = weft_connectivity_from(connectivity)};
    if ((width != 3 && width != 4) || b.n_from > INT32_MAX || nodes < 1 || nodes > NODES_MOST ||
        nodes % NODES_STEP != 0)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "stars are made of up to 2^31 triangles or tetrahedra in patches of "
                              "128, 256 ... %d nodes; here are %lld cells of %d and patches of %d",
                              NODES_MOST, (long long)b.n_from, width, nodes);
    b.n_patches = (n_to + nodes - 1) / nodes;
    b.source = (weft_star_source_cells){.indices = weft_connectivity_indices(connectivity),
                                        .n_to = n_to,
                                        .width = width,
                                        .nodes = nodes,
                                        .with_cells = with_cells};
    b.stars = calloc(1, sizeof *b.stars);
    if (!b.stars)
        return weft_star_no_memory("stars", b.n_from, error);
    *b.stars = (weft_stars){.nodes = nodes,
                            .width = width,
                            .n_nodes = n_to,
                            .n_patches = b.n_patches,
                            .most_local = nodes,
                            .with_cells = with_cells};
    TRY(weft_star_sort_cells(device, &b.source, b.n_from, b.n_patches, &b.list, &b.start, error));
    TRY(build_patches(&b, error));
    TRY(store_patches(&b, error));
    *out = b.stars;
    b.stars = NULL;
done:
    builder_free(&b);
    return status;
}

void weft_stars_free(weft_stars **stars) {
    if (!stars || !*stars)
        return;
    weft_memory_free(&(*stars)->halo_start);
    weft_memory_free(&(*stars)->halo);
    weft_memory_free(&(*stars)->order);
    weft_memory_free(&(*stars)->rows);
    weft_memory_free(&(*stars)->words);
    weft_memory_free(&(*stars)->cells);
    free(*stars);
    *stars = NULL;
}
