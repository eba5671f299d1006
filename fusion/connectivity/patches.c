/* Makes all patches of a connectivity in parallel and concatenates them in device memory. */
#include "fusion/connectivity/patches.h"
#include "fusion/connectivity/edge_patches.h"
#include "fusion/connectivity/private.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TASK_PATCHES = 16, NODES_MOST = 4096, NODES_STEP = 128 };

typedef struct patch_builder {
    weft_device *device;
    const struct patch_format *format;
    weft_patch_source source;
    int64_t n_from, n_patches;
    int32_t *list;
    int64_t *start; /* [n_patches + 1] */
    weft_patch *patches;
    int64_t *first_unit, *first_halo; /* [n_patches + 1] */
    atomic_bool failed;
    weft_error error; /* of the task that failed first */
    weft_patches *made;
    weft_upload order, rows, words, halo, cells;
} patch_builder;

/* ---- kinds of patches ---- */

static weft_status check_vertex(const patch_builder *b, weft_error *error) {
    const int width = b->source.width, nodes = b->source.nodes;
    if ((width == 3 || width == 4) && b->n_from <= INT32_MAX && nodes >= 1 && nodes <= NODES_MOST &&
        nodes % NODES_STEP == 0)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                          "patches are made of up to 2^31 triangles or tetrahedra in patches of "
                          "128, 256 ... %d nodes; here are %lld cells of %d and patches of %d",
                          NODES_MOST, (long long)b->n_from, width, nodes);
}

static weft_status check_edge(const patch_builder *b, weft_error *error) {
    const int width = b->source.width, nodes = b->source.nodes;
    if (width == 4 && b->n_from <= INT32_MAX && nodes >= 1 && nodes <= NODES_MOST &&
        b->source.n_warps >= 1)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                          "edge patches are made of up to 2^31 tetrahedra in patches of up to "
                          "%d nodes; here are %lld cells of %d and patches of %d",
                          NODES_MOST, (long long)b->n_from, width, nodes);
}

/* Per kind of patch: the layout of its arrays, its checks and its constructor. */
static const struct patch_format {
    const char *what;      /* for messages */
    size_t unit_words;     /* words per unit, all lanes */
    size_t warp_words;     /* entries per warp in weft_patch.rows; the first is its first unit */
    size_t slots_per_node; /* entries per node in weft_patch.order */
    size_t read_ahead;     /* zero units appended for the read-ahead */
    weft_status (*check)(const patch_builder *, weft_error *);
    weft_status (*make)(const weft_patch_source *, int64_t, weft_patch_scratch *, weft_patch *,
                        weft_error *);
} formats[WEFT_PATCH_KINDS] = {
    [PATCH_VERTEX] = {"patches", WEFT_PATCH_GROUP *WEFT_PATCH_LANES, 4, 1, 0, check_vertex,
                      weft_vertex_patch_make},
    [PATCH_EDGE] = {"edge patches", 2 * WEFT_PATCH_LANES, 2, 0, WEFT_EDGE_PATCH_READ_AHEAD,
                    check_edge, weft_edge_patch_make},
};

/* ---- the patches ---- */

static void make_patches(void *user, int64_t task) {
    patch_builder *b = user;
    weft_patch_scratch scratch = {0};
    weft_error error = {0};
    for (int64_t p = task * TASK_PATCHES; p < b->n_patches && p < (task + 1) * TASK_PATCHES; ++p) {
        if (atomic_load_explicit(&b->failed, memory_order_relaxed))
            break;
        if (b->format->make(&b->source, p, &scratch, &b->patches[p], &error) != WEFT_OK &&
            !atomic_exchange(&b->failed, true))
            b->error = error;
    }
    weft_vertex_walk_scratch_free(&scratch.vertex);
    weft_edge_ring_scratch_free(&scratch.edge);
}

/* Copy n elements of `size` bytes to element `at` on. */
static void copy_to(const weft_upload *to, size_t at, const void *from, size_t n, size_t size) {
    if (to->array && n > 0)
        memcpy((char *)to->array + at * size, from, n * size);
}

static void copy_patches(void *user, int64_t task) {
    patch_builder *b = user;
    const size_t unit = b->format->unit_words, warp_words = b->format->warp_words;
    const size_t n_slots = b->format->slots_per_node * (size_t)b->source.nodes;
    const size_t n_rows = (size_t)b->source.n_warps * warp_words;
    for (int64_t p = task * TASK_PATCHES; p < b->n_patches && p < (task + 1) * TASK_PATCHES; ++p) {
        weft_patch *patch = &b->patches[p];
        const size_t at = (size_t)b->first_unit[p], n = (size_t)patch->n_units;
        for (size_t i = 0; i < n_rows; i += warp_words)
            patch->rows[i] += (uint32_t)at;
        copy_to(&b->order, (size_t)p * n_slots, patch->order, n_slots, sizeof *patch->order);
        copy_to(&b->rows, (size_t)p * n_rows, patch->rows, n_rows, sizeof *patch->rows);
        copy_to(&b->words, at * unit, patch->words, n * unit, sizeof *patch->words);
        copy_to(&b->cells, at * unit, patch->cells, n * unit, sizeof *patch->cells);
        copy_to(&b->halo, (size_t)b->first_halo[p], patch->halo, (size_t)patch->n_halo,
                sizeof *patch->halo);
        weft_patch_free(patch);
    }
}

static int64_t count_tasks(const patch_builder *b) {
    return (b->n_patches + TASK_PATCHES - 1) / TASK_PATCHES;
}

static weft_status build_patches(patch_builder *b, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_patches *made = b->made;
    b->patches = weft_array_make((size_t)b->n_patches + 1, sizeof *b->patches);
    b->first_unit = weft_array_make((size_t)b->n_patches + 1, sizeof *b->first_unit);
    b->first_halo = weft_array_make((size_t)b->n_patches + 1, sizeof *b->first_halo);
    if (!b->patches || !b->first_unit || !b->first_halo)
        TRY(weft_cells_no_memory(b->format->what, b->n_from, error));
    TRY(weft_device_for(b->device, count_tasks(b), make_patches, b, error));
    if (atomic_load(&b->failed)) {
        if (error)
            *error = b->error;
        TRY(b->error.status);
    }
    for (int64_t p = 0; p < b->n_patches; ++p) {
        const weft_patch *patch = &b->patches[p];
        b->first_unit[p + 1] = b->first_unit[p] + patch->n_units;
        b->first_halo[p + 1] = b->first_halo[p] + patch->n_halo;
        if (b->source.nodes + patch->n_halo > made->most_local)
            made->most_local = b->source.nodes + patch->n_halo;
    }
    made->n_units = b->first_unit[b->n_patches];
    made->n_halo = b->first_halo[b->n_patches];
    if (made->n_units > UINT32_MAX)
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%lld cells are too many for %s",
                                (long long)b->n_from, b->format->what);
done:
    return status;
}

/* ---- device memory ---- */

static weft_status upload(const patch_builder *b, size_t count, size_t size, weft_upload *out,
                          weft_error *error) {
    return weft_upload_make(b->device, count, size, b->format->what, b->n_from, out, error);
}

static weft_status store_patches(patch_builder *b, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_patches *m = b->made;
    const struct patch_format *f = b->format;
    const size_t n_patches = (size_t)b->n_patches, n_words = (size_t)m->n_units * f->unit_words;
    const size_t n_read_ahead = f->read_ahead * f->unit_words;
    const size_t n_slots = f->slots_per_node * n_patches * (size_t)b->source.nodes;
    const size_t n_rows = n_patches * (size_t)b->source.n_warps * f->warp_words;
    TRY(weft_memory_make(b->device, (n_patches + 1) * sizeof *b->first_halo, &m->halo_start,
                         error));
    TRY(weft_memory_write(m->halo_start, 0, b->first_halo, weft_memory_bytes(m->halo_start),
                          error));
    if (f->slots_per_node > 0)
        TRY(upload(b, n_slots, sizeof(uint16_t), &b->order, error));
    TRY(upload(b, n_rows, sizeof(uint32_t), &b->rows, error));
    TRY(upload(b, n_words + n_read_ahead, sizeof(uint16_t), &b->words, error));
    TRY(upload(b, (size_t)m->n_halo, sizeof(int32_t), &b->halo, error));
    if (b->source.with_cells)
        TRY(upload(b, n_words, sizeof(int32_t), &b->cells, error));
    memset((uint16_t *)b->words.array + n_words, 0, n_read_ahead * sizeof(uint16_t));
    TRY(weft_device_for(b->device, count_tasks(b), copy_patches, b, error));
    TRY(weft_upload_send(&b->order, &m->order, error));
    TRY(weft_upload_send(&b->rows, &m->rows, error));
    TRY(weft_upload_send(&b->words, &m->words, error));
    TRY(weft_upload_send(&b->halo, &m->halo, error));
    TRY(weft_upload_send(&b->cells, &m->cells, error));
done:
    return status;
}

static void builder_free(patch_builder *b) {
    for (int64_t p = 0; b->patches && p < b->n_patches; ++p)
        weft_patch_free(&b->patches[p]);
    free(b->patches);
    free(b->first_unit);
    free(b->first_halo);
    free(b->list);
    free(b->start);
    weft_upload *const uploads[] = {&b->order, &b->rows, &b->words, &b->halo, &b->cells};
    for (size_t i = 0; i < sizeof uploads / sizeof *uploads; ++i)
        weft_upload_free(uploads[i]);
    weft_patches_free(&b->made);
}

static weft_status patches_make(const weft_connectivity *connectivity,
                                const weft_patch_options *options, weft_patches **out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    patch_builder b = {.device = connectivity->device,
                       .format = &formats[options->kind],
                       .n_from = connectivity->n_from};
    b.source = (weft_patch_source){.indices = connectivity->indices,
                                   .n_to = connectivity->n_to,
                                   .width = connectivity->width,
                                   .nodes = options->nodes,
                                   .n_warps = options->n_warps,
                                   .with_cells = options->with_cells};
    TRY(b.format->check(&b, error));
    b.n_patches = (connectivity->n_to + options->nodes - 1) / options->nodes;
    b.made = calloc(1, sizeof *b.made);
    if (!b.made)
        TRY(weft_cells_no_memory(b.format->what, b.n_from, error));
    *b.made = (weft_patches){.options = *options,
                             .width = connectivity->width,
                             .n_nodes = connectivity->n_to,
                             .n_patches = b.n_patches,
                             .most_local = options->nodes};
    TRY(weft_patch_sort_cells(b.device, &b.source, b.n_from, b.n_patches, &b.list, &b.start,
                              error));
    TRY(build_patches(&b, error));
    TRY(store_patches(&b, error));
    *out = b.made;
    b.made = NULL;
done:
    builder_free(&b);
    return status;
}

void weft_patches_free(weft_patches **patches) {
    if (!patches || !*patches)
        return;
    weft_memory_free(&(*patches)->halo_start);
    weft_memory_free(&(*patches)->halo);
    weft_memory_free(&(*patches)->order);
    weft_memory_free(&(*patches)->rows);
    weft_memory_free(&(*patches)->words);
    weft_memory_free(&(*patches)->cells);
    free(*patches);
    *patches = NULL;
}

weft_status weft_connectivity_patches(weft_connectivity *connectivity,
                                      const weft_patch_options *options, const weft_patches **out,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    weft_patch_options wanted = *options;
    weft_patches *found = connectivity->patches;
    if (wanted.kind == PATCH_VERTEX)
        wanted.n_warps = weft_patch_warps(wanted.nodes);
    while (found && (found->options.kind != wanted.kind || found->options.nodes != wanted.nodes ||
                     found->options.n_warps != wanted.n_warps ||
                     found->options.with_cells < wanted.with_cells))
        found = found->next;
    if (!found) {
        TRY(weft_connectivity_read(connectivity, error));
        TRY(patches_make(connectivity, &wanted, &found, error));
        found->next = connectivity->patches;
        connectivity->patches = found;
    }
    *out = found;
done:
    return status;
}
