/* Makes cell patches: local numbers of the nodes of consecutive cells, rows of sums, and borders. */
#include "core/base/sort.h"
#include "core/weft_core.h"
#include "fusion/connectivity/cell_patches.h"
#include "fusion/connectivity/private.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = WEFT_CELL_PATCH_LANES, TASK_PATCHES = 16 };
static const char WHAT[] = "cell patches";

/* The patches in the making. The arrays of one entry per patch have a last one for the total. */
typedef struct cell_patch_builder {
    weft_connectivity *connectivity;
    weft_cell_patches *made;
    int64_t n_patches;
    int64_t (*start)[3];  /* as in weft_cell_patches */
    uint32_t *first_pair; /* of each patch */
    int32_t **local;      /* [n_patches] global number of each local one */
    int32_t *n_touching;  /* [n_to] patches that name a node */
    atomic_bool failed;
    weft_upload nodes, places, row_start, order, pairs, border, border_start, border_slots;
} cell_patch_builder;

/* Contributions to each node of one patch: counts, and the nodes sorted by them. */
typedef struct patch_counts {
    int32_t *count, *first; /* [nodes + 1] */
    uint16_t *sorted;       /* [nodes] longest first, otherwise ascending */
} patch_counts;

static int64_t patch_cells(const cell_patch_builder *b, int64_t patch) {
    const int64_t left = b->connectivity->n_from - patch * b->made->cells;
    return left < b->made->cells ? left : b->made->cells;
}

static const int32_t *patch_indices(const cell_patch_builder *b, int64_t patch) {
    return b->connectivity->indices + patch * b->made->cells * b->made->width;
}

static int patch_nodes(const cell_patch_builder *b, int64_t patch) {
    return (int)(b->start[patch + 1][0] - b->start[patch][0]);
}

static int patch_border(const cell_patch_builder *b, int64_t patch) {
    return (int)(b->start[patch + 1][1] - b->start[patch][1]);
}

/* ---- local numbers ---- */

/* The nodes of a patch, ascending; their number goes to start[patch + 1][0]. */
static bool list_nodes(cell_patch_builder *b, int64_t patch) {
    const size_t n = (size_t)(patch_cells(b, patch) * b->made->width);
    int32_t *list = malloc((n + 1) * sizeof *list), *fitting = NULL;
    int64_t n_nodes = 0;
    if (!list)
        return false;
    memcpy(list, patch_indices(b, patch), n * sizeof *list);
    weft_numbers_sort((uint32_t *)list, n);
    for (size_t i = 0; i < n; ++i)
        if (i == 0 || list[i] != list[n_nodes - 1])
            list[n_nodes++] = list[i];
    fitting = realloc(list, (size_t)(n_nodes + 1) * sizeof *list);
    b->local[patch] = fitting ? fitting : list;
    b->start[patch + 1][0] = n_nodes;
    return true;
}

/* Inner nodes before border nodes; the number of these goes to start[patch + 1][1]. */
static bool sort_border(cell_patch_builder *b, int64_t patch) {
    const int64_t n = b->start[patch + 1][0];
    int32_t *list = b->local[patch], *border = malloc((size_t)(n + 1) * sizeof *border);
    int64_t n_inner = 0, n_border = 0;
    if (!border)
        return false;
    for (int64_t i = 0; i < n; ++i)
        if (b->n_touching[list[i]] == 1)
            list[n_inner++] = list[i];
        else
            border[n_border++] = list[i];
    memcpy(list + n_inner, border, (size_t)n_border * sizeof *border);
    free(border);
    b->start[patch + 1][1] = n_border;
    b->start[patch + 1][2] = (n + LANES - 1) / LANES;
    return true;
}

static int find(const int32_t *list, int first, int last, int32_t node) {
    while (last - first > 1) {
        const int middle = (first + last) / 2;
        if (list[middle] <= node)
            first = middle;
        else
            last = middle;
    }
    return first;
}

static int local_number(const cell_patch_builder *b, int64_t patch, int32_t node) {
    const int n = patch_nodes(b, patch), n_inner = n - patch_border(b, patch);
    return b->n_touching[node] == 1 ? find(b->local[patch], 0, n_inner, node)
                                    : find(b->local[patch], n_inner, n, node);
}

static bool write_places(cell_patch_builder *b, int64_t patch) {
    const int width = b->made->width, cells = b->made->cells, pairs = (width + 1) / 2;
    uint32_t *places = (uint32_t *)b->places.array + patch * pairs * cells;
    const int32_t *indices = patch_indices(b, patch);
    memcpy((int32_t *)b->nodes.array + b->start[patch][0], b->local[patch],
           (size_t)patch_nodes(b, patch) * sizeof *indices);
    memset(places, 0, (size_t)(pairs * cells) * sizeof *places);
    for (int64_t cell = 0; cell < patch_cells(b, patch); ++cell)
        for (int k = 0; k < width; ++k)
            places[k / 2 * cells + cell] |=
                (uint32_t)local_number(b, patch, indices[cell * width + k]) << 16 * (k % 2);
    return true;
}

/* ---- rows of sums ---- */

static void counts_free(patch_counts *counts) {
    free(counts->count);
    free(counts->first);
    free(counts->sorted);
}

/* The nodes by their numbers of contributions, sorted by counting. */
static bool counts_make(const cell_patch_builder *b, int64_t patch, patch_counts *out) {
    const int n = patch_nodes(b, patch), width = b->made->width;
    const int n_corners = (int)patch_cells(b, patch) * width;
    const int32_t *indices = patch_indices(b, patch);
    int32_t *bins = calloc((size_t)n_corners + 2, sizeof *bins);
    *out = (patch_counts){.count = calloc((size_t)n + 1, sizeof *out->count),
                          .first = calloc((size_t)n + 1, sizeof *out->first),
                          .sorted = malloc(((size_t)n + 1) * sizeof *out->sorted)};
    const bool made = bins && out->count && out->first && out->sorted;
    for (int i = 0; made && i < n_corners; ++i)
        ++out->count[local_number(b, patch, indices[i])];
    for (int i = 0; made && i < n; ++i) {
        out->first[i + 1] = out->first[i] + out->count[i];
        ++bins[n_corners - out->count[i] + 1];
    }
    for (int i = 0; made && i < n_corners; ++i)
        bins[i + 1] += bins[i];
    for (int i = 0; made && i < n; ++i)
        out->sorted[bins[n_corners - out->count[i]]++] = (uint16_t)i;
    free(bins);
    return made;
}

/* Pairs of a row, by its first node, which has most contributions. */
static uint32_t row_pairs(const patch_counts *counts, int row) {
    return (uint32_t)(counts->count[counts->sorted[row * LANES]] + 1) / 2;
}

static bool size_rows(cell_patch_builder *b, int64_t patch) {
    patch_counts counts;
    const bool made = counts_make(b, patch, &counts);
    b->first_pair[patch + 1] = 0;
    for (int row = 0; made && row * LANES < patch_nodes(b, patch); ++row)
        b->first_pair[patch + 1] += row_pairs(&counts, row);
    counts_free(&counts);
    return made;
}

/* contributions[first[i]] ...: those to node i, in ascending order of cells */
static int32_t *list_contributions(const cell_patch_builder *b, int64_t patch,
                                   const patch_counts *counts) {
    const int n = patch_nodes(b, patch), width = b->made->width;
    const int32_t *indices = patch_indices(b, patch);
    int32_t *list = malloc(((size_t)counts->first[n] + 1) * sizeof *list);
    int32_t *next = malloc(((size_t)n + 1) * sizeof *next);
    if (list && next) {
        memcpy(next, counts->first, (size_t)n * sizeof *next);
        for (int cell = 0; cell < patch_cells(b, patch); ++cell)
            for (int k = 0; k < width; ++k)
                list[next[local_number(b, patch, indices[cell * width + k])]++] =
                    k * b->made->cells + cell;
    } else {
        free(list);
        list = NULL;
    }
    free(next);
    return list;
}

static bool write_rows(cell_patch_builder *b, int64_t patch) {
    const int n = patch_nodes(b, patch), none = b->made->width * b->made->cells;
    uint32_t *row_start = (uint32_t *)b->row_start.array + b->start[patch][2];
    uint16_t *order = (uint16_t *)b->order.array + b->start[patch][2] * LANES;
    uint32_t at = b->first_pair[patch];
    patch_counts counts;
    int32_t *list = counts_make(b, patch, &counts) ? list_contributions(b, patch, &counts) : NULL;
    for (int row = 0; list && row * LANES < n; ++row) {
        uint32_t *pairs = (uint32_t *)b->pairs.array + (size_t)at * LANES;
        row_start[row] = at;
        at += row_pairs(&counts, row);
        for (int lane = 0; lane < LANES; ++lane) {
            const int i = row * LANES + lane, node = i < n ? counts.sorted[i] : -1;
            const int count = node < 0 ? 0 : counts.count[node];
            order[i] = node < 0 ? WEFT_CELL_PATCH_NONE : (uint16_t)node;
            for (int k = 0; k < 2 * (int)row_pairs(&counts, row); ++k) {
                const uint32_t one = (uint32_t)(k < count ? list[counts.first[node] + k] : none);
                uint32_t *pair = &pairs[k / 2 * LANES + lane];
                *pair = k % 2 ? *pair | one << 16 : one;
            }
        }
    }
    counts_free(&counts);
    const bool made = list != NULL;
    free(list);
    return made;
}

/* ---- borders ---- */

static void write_border(const cell_patch_builder *b) {
    const weft_connectivity *c = b->connectivity;
    int32_t *border = b->border.array,
            *number = b->n_touching; /* replaced by numbers in `border` */
    uint32_t *start = b->border_start.array, *slots = b->border_slots.array;
    int32_t n = 0;
    start[0] = 0;
    for (int64_t node = 0; node < c->n_to; ++node) {
        if (number[node] == 1)
            continue;
        start[n + 1] = start[n] + (uint32_t)number[node];
        number[node] = n;
        border[n++] = (int32_t)node;
    }
    for (int64_t patch = 0; patch < b->n_patches; ++patch) {
        const int n_nodes = patch_nodes(b, patch), n_inner = n_nodes - patch_border(b, patch);
        for (int i = n_inner; i < n_nodes; ++i)
            slots[start[number[b->local[patch][i]]]++] =
                (uint32_t)(b->start[patch][1] + i - n_inner);
    }
    for (int32_t i = n; i > 0; --i) /* each start was moved to its end */
        start[i] = start[i - 1];
    start[0] = 0;
}

/* ---- all patches ---- */

typedef bool patch_step(cell_patch_builder *b, int64_t patch);
typedef struct patch_task {
    cell_patch_builder *b;
    patch_step *step;
} patch_task;

static void run_step(void *user, int64_t task) {
    const patch_task *t = user;
    for (int64_t p = task * TASK_PATCHES; p < t->b->n_patches && p < (task + 1) * TASK_PATCHES; ++p)
        if (!t->step(t->b, p))
            atomic_store(&t->b->failed, true);
}

static weft_status for_patches(cell_patch_builder *b, patch_step *step, weft_error *error) {
    weft_status status = WEFT_OK;
    patch_task task = {b, step};
    TRY(weft_device_for(b->connectivity->device, (b->n_patches + TASK_PATCHES - 1) / TASK_PATCHES,
                        run_step, &task, error));
    if (atomic_load(&b->failed))
        status = weft_cells_no_memory(WHAT, b->connectivity->n_from, error);
done:
    return status;
}

static weft_status make_local(cell_patch_builder *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_patches = b->n_patches, n_to = b->connectivity->n_to;
    TRY(for_patches(b, list_nodes, error));
    for (int64_t p = 0; p < n_patches; ++p)
        for (int64_t i = 0; i < b->start[p + 1][0]; ++i)
            ++b->n_touching[b->local[p][i]];
    for (int64_t i = 0; i < n_to; ++i)
        b->made->n_border += b->n_touching[i] != 1;
    TRY(for_patches(b, sort_border, error));
    for (int64_t p = 0; p < n_patches; ++p) {
        if (b->start[p + 1][0] > b->made->most_nodes)
            b->made->most_nodes = (int)b->start[p + 1][0];
        for (int k = 0; k < 3; ++k)
            b->start[p + 1][k] += b->start[p][k];
    }
    b->made->n_slots = b->start[n_patches][1];
done:
    return status;
}

static weft_status upload(const cell_patch_builder *b, int64_t count, size_t size, weft_upload *out,
                          weft_error *error) {
    return weft_upload_make(b->connectivity->device, (size_t)count, size, WHAT,
                            b->connectivity->n_from, out, error);
}

static weft_status store_local(cell_patch_builder *b, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cell_patches *m = b->made;
    const size_t bytes = (size_t)(m->n_patches + 1) * sizeof *b->start;
    TRY(weft_memory_make(b->connectivity->device, bytes, &m->start, error));
    TRY(weft_memory_write(m->start, 0, b->start, bytes, error));
    TRY(upload(b, b->start[m->n_patches][0], sizeof(int32_t), &b->nodes, error));
    TRY(upload(b, m->n_patches * ((m->width + 1) / 2) * m->cells, sizeof(uint32_t), &b->places,
               error));
    TRY(for_patches(b, write_places, error));
    TRY(weft_upload_send(&b->nodes, &m->nodes, error));
    TRY(weft_upload_send(&b->places, &m->places, error));
done:
    return status;
}

static weft_status store_sums(cell_patch_builder *b, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cell_patches *m = b->made;
    const int64_t n_rows = b->start[m->n_patches][2];
    int64_t n_pairs = 0;
    TRY(for_patches(b, size_rows, error));
    for (int64_t p = 0; p < m->n_patches; ++p) {
        n_pairs += b->first_pair[p + 1];
        b->first_pair[p + 1] = (uint32_t)n_pairs;
    }
    if (n_pairs > UINT32_MAX || m->n_slots > UINT32_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%lld cells are too many for %s",
                           (long long)b->connectivity->n_from, WHAT));
    TRY(upload(b, n_rows + 1, sizeof(uint32_t), &b->row_start, error));
    TRY(upload(b, n_rows * LANES, sizeof(uint16_t), &b->order, error));
    TRY(upload(b, n_pairs * LANES, sizeof(uint32_t), &b->pairs, error));
    TRY(upload(b, m->n_border, sizeof(int32_t), &b->border, error));
    TRY(upload(b, m->n_border + 1, sizeof(uint32_t), &b->border_start, error));
    TRY(upload(b, m->n_slots, sizeof(uint32_t), &b->border_slots, error));
    ((uint32_t *)b->row_start.array)[n_rows] = (uint32_t)n_pairs;
    TRY(for_patches(b, write_rows, error));
    write_border(b);
    TRY(weft_upload_send(&b->row_start, &m->row_start, error));
    TRY(weft_upload_send(&b->order, &m->order, error));
    TRY(weft_upload_send(&b->pairs, &m->pairs, error));
    TRY(weft_upload_send(&b->border, &m->border, error));
    TRY(weft_upload_send(&b->border_start, &m->border_start, error));
    TRY(weft_upload_send(&b->border_slots, &m->border_slots, error));
done:
    return status;
}

static void builder_free(cell_patch_builder *b) {
    for (int64_t p = 0; b->local && p < b->n_patches; ++p)
        free(b->local[p]);
    free(b->local);
    free(b->start);
    free(b->first_pair);
    free(b->n_touching);
    weft_upload *const uploads[] = {&b->nodes, &b->places, &b->row_start,    &b->order,
                                    &b->pairs, &b->border, &b->border_start, &b->border_slots};
    for (size_t i = 0; i < sizeof uploads / sizeof *uploads; ++i)
        weft_upload_free(uploads[i]);
    weft_cell_patches_free(&b->made);
}

static weft_status make_on_host(cell_patch_builder *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_patches = (size_t)b->made->n_patches;
    TRY(weft_connectivity_read(b->connectivity, error));
    b->start = weft_array_make(n_patches + 1, sizeof *b->start);
    b->first_pair = weft_array_make(n_patches + 1, sizeof *b->first_pair);
    b->local = weft_array_make(n_patches + 1, sizeof *b->local);
    b->n_touching = weft_array_make((size_t)b->connectivity->n_to + 1, sizeof *b->n_touching);
    if (!b->start || !b->first_pair || !b->local || !b->n_touching)
        TRY(weft_cells_no_memory(WHAT, b->connectivity->n_from, error));
    TRY(make_local(b, error));
    TRY(store_local(b, error));
    if (b->made->sums)
        TRY(store_sums(b, error));
done:
    return status;
}

static weft_status patches_make(weft_connectivity *connectivity, int cells, bool sums,
                                weft_cell_patches **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_patches = (connectivity->n_from + cells - 1) / cells;
    cell_patch_builder b = {.connectivity = connectivity, .n_patches = n_patches};
    if (cells % LANES != 0 || (int64_t)cells * connectivity->width >= UINT16_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "patches of %d cells with %d nodes each: multiples of %d cells with "
                           "less than %d nodes in all are supported",
                           cells, connectivity->width, LANES, UINT16_MAX));
    b.made = calloc(1, sizeof *b.made);
    if (!b.made)
        TRY(weft_cells_no_memory(WHAT, connectivity->n_from, error));
    *b.made = (weft_cell_patches){
        .cells = cells, .width = connectivity->width, .sums = sums, .n_patches = n_patches};
    TRY(weft_cell_patches_fit_on_device(connectivity, cells)
            ? weft_cell_patches_on_device(connectivity, b.made, error)
            : make_on_host(&b, error));
    *out = b.made;
    b.made = NULL;
done:
    builder_free(&b);
    return status;
}

void weft_cell_patches_free(weft_cell_patches **patches) {
    if (!patches || !*patches)
        return;
    weft_cell_patches *p = *patches;
    weft_memory **const all[] = {&p->start,     &p->nodes,        &p->places,
                                 &p->row_start, &p->order,        &p->pairs,
                                 &p->border,    &p->border_start, &p->border_slots};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        weft_memory_free(all[i]);
    free(p);
    *patches = NULL;
}

weft_status weft_connectivity_cell_patches(weft_connectivity *connectivity, int cells, bool sums,
                                           const weft_cell_patches **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cell_patches *found = connectivity->cell_patches;
    while (found && (found->cells != cells || found->sums < sums))
        found = found->next;
    if (!found) {
        TRY(patches_make(connectivity, cells, sums, &found, error));
        found->next = connectivity->cell_patches;
        connectivity->cell_patches = found;
    }
    *out = found;
done:
    return status;
}
