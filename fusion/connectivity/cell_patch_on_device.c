/* Makes cell patches by kernels of the device (kernels/setup/cell_patches.cu). */
#include "core/weft_core.h"
#include "fusion/connectivity/private.h"

enum { LANES = WEFT_CELL_PATCH_LANES, PLACES = 4096 /* as in the kernels */ };

/* The patches in the making. */
typedef struct patch_work {
    weft_connectivity *connectivity;
    weft_device *device;
    weft_setup *setup;
    weft_cell_patches *made;
    weft_memory *sizes, *indices;
    weft_memory *n_touching; /* [n_to] uint32_t, patches that name a node */
    int64_t n_nodes, n_rows; /* of all patches */
} patch_work;

bool weft_cell_patches_fit_on_device(const weft_connectivity *connectivity, int cells) {
    return weft_setup_on_device(connectivity->device) && connectivity->n_from > 0 &&
           (int64_t)cells * connectivity->width <= PLACES;
}

static weft_status make(const patch_work *w, int64_t n, size_t size, weft_memory **out,
                        weft_error *error) {
    return weft_memory_make_unset(w->device, (size_t)n * size, out, error);
}

/* A block for each patch. */
static weft_status run(const patch_work *w, const char *name, weft_memory *const *arguments, int n,
                       weft_error *error) {
    const weft_setup_kernel kernel = {"cell_patches", name, w->made->n_patches, w->made->n_patches,
                                      0};
    return weft_setup_launch(w->setup, &kernel, arguments, n, error);
}

/* A thread for each of n elements. */
static weft_status run_each(const patch_work *w, const char *name, int64_t n,
                            weft_memory *const *arguments, int n_arguments, weft_error *error) {
    const weft_setup_kernel kernel = {"cell_patches", name, n, 0, 0};
    return weft_setup_launch(w->setup, &kernel, arguments, n_arguments, error);
}

/* The sums of wide [n + 1] as uint32_t. */
static weft_status narrow(const patch_work *w, weft_memory *wide, int64_t n, weft_memory **out,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(make(w, n + 1, sizeof(uint32_t), out, error));
    TRY(run_each(w, "narrow", n + 1, (weft_memory *[]){wide, *out}, 2, error));
done:
    return status;
}

static weft_status too_many(const patch_work *w, weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%lld cells are too many for cell patches",
                          (long long)w->connectivity->n_from);
}

/* Numbers of nodes and rows of each patch, and their sums. */
static weft_status count(patch_work *w, weft_memory **nodes, weft_memory **rows,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = w->made->n_patches;
    uint32_t most = 0;
    weft_memory *n_nodes = NULL, *n_rows = NULL, *highest = NULL;
    TRY(weft_memory_make(w->device, (size_t)(w->connectivity->n_to + 1) * sizeof(uint32_t),
                         &w->n_touching, error));
    TRY(weft_memory_make(w->device, sizeof most, &highest, error));
    TRY(make(w, n, sizeof(uint32_t), &n_nodes, error));
    TRY(make(w, n, sizeof(uint32_t), &n_rows, error));
    weft_memory *const counted[] = {w->sizes, w->indices, w->n_touching, n_nodes, n_rows, highest};
    TRY(run(w, "count_nodes", counted, 6, error));
    TRY(weft_setup_sums(w->setup, n_nodes, n, nodes, &w->n_nodes, error));
    TRY(weft_setup_sums(w->setup, n_rows, n, rows, &w->n_rows, error));
    TRY(weft_memory_read(highest, 0, &most, sizeof most, error));
    w->made->most_nodes = (int)most;
done:
    weft_memory_free(&n_nodes);
    weft_memory_free(&n_rows);
    weft_memory_free(&highest);
    return status;
}

/* Local numbers, and where each patch starts. */
static weft_status make_local(patch_work *w, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cell_patches *m = w->made;
    const int64_t n = m->n_patches;
    weft_memory *nodes = NULL, *rows = NULL, *n_border = NULL, *slots = NULL;
    TRY(count(w, &nodes, &rows, error));
    TRY(make(w, w->n_nodes, sizeof(int32_t), &m->nodes, error));
    TRY(make(w, n * ((m->width + 1) / 2) * m->cells, sizeof(uint32_t), &m->places, error));
    TRY(make(w, n, sizeof(uint32_t), &n_border, error));
    weft_memory *const listed[] = {w->sizes, w->indices, w->n_touching, nodes,
                                   m->nodes, m->places,  n_border};
    TRY(run(w, "list_nodes", listed, 7, error));
    TRY(weft_setup_sums(w->setup, n_border, n, &slots, &m->n_slots, error));
    TRY(make(w, 3 * (n + 1), sizeof(int64_t), &m->start, error));
    weft_memory *const joined[] = {nodes, slots, rows, m->start};
    TRY(run_each(w, "join_starts", n + 1, joined, 4, error));
done:
    weft_memory_free(&nodes);
    weft_memory_free(&rows);
    weft_memory_free(&n_border);
    weft_memory_free(&slots);
    return status;
}

static weft_status make_rows(patch_work *w, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cell_patches *m = w->made;
    int64_t n_pairs = 0;
    weft_memory *row_pairs = NULL, *starts = NULL;
    TRY(make(w, w->n_rows * LANES, sizeof(uint16_t), &m->order, error));
    TRY(make(w, w->n_rows, sizeof(uint32_t), &row_pairs, error));
    weft_memory *const ordered[] = {w->sizes, m->places, m->start, m->order, row_pairs};
    TRY(run(w, "order_rows", ordered, 5, error));
    TRY(weft_setup_sums(w->setup, row_pairs, w->n_rows, &starts, &n_pairs, error));
    if (n_pairs > UINT32_MAX)
        TRY(too_many(w, error));
    TRY(narrow(w, starts, w->n_rows, &m->row_start, error));
    TRY(make(w, n_pairs * LANES, sizeof(uint32_t), &m->pairs, error));
    weft_memory *const written[] = {w->sizes, m->places,    m->start,
                                    m->order, m->row_start, m->pairs};
    TRY(run(w, "write_pairs", written, 6, error));
done:
    weft_memory_free(&row_pairs);
    weft_memory_free(&starts);
    return status;
}

/* The slots of each border node, ascending. */
static weft_status make_slots(patch_work *w, weft_memory *number, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cell_patches *m = w->made;
    weft_memory *targets = NULL, *starts = NULL;
    weft_connectivity *slots = NULL;
    TRY(make(w, m->n_slots, sizeof(int32_t), &targets, error));
    weft_memory *const listed[] = {w->sizes, m->start, m->nodes, number, targets};
    TRY(run(w, "list_slots", listed, 5, error));
    TRY(weft_connectivity_make_copied(w->device, NULL, &targets, 1, m->n_border, &slots, error));
    TRY(weft_connectivity_transpose(slots, w->setup, 1, NULL, &starts, &m->border_slots, error));
    TRY(narrow(w, starts, m->n_border, &m->border_start, error));
done:
    weft_memory_free(&targets);
    weft_memory_free(&starts);
    weft_connectivity_free(&slots);
    return status;
}

static weft_status make_border(patch_work *w, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cell_patches *m = w->made;
    const int64_t n = w->connectivity->n_to;
    weft_memory *is_border = NULL, *number = NULL;
    if (m->n_slots > UINT32_MAX)
        TRY(too_many(w, error));
    TRY(make(w, n, sizeof(uint32_t), &is_border, error));
    TRY(run_each(w, "mark_border", n, (weft_memory *[]){w->n_touching, is_border}, 2, error));
    TRY(weft_setup_sums(w->setup, is_border, n, &number, &m->n_border, error));
    TRY(make(w, m->n_border, sizeof(int32_t), &m->border, error));
    TRY(run_each(w, "list_border", n, (weft_memory *[]){is_border, number, m->border}, 3, error));
    TRY(make_slots(w, number, error));
done:
    weft_memory_free(&is_border);
    weft_memory_free(&number);
    return status;
}

weft_status weft_cell_patches_on_device(weft_connectivity *connectivity, weft_cell_patches *made,
                                        weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = connectivity->device;
    const int lanes = weft_device_limits(device)->lanes_double;
    const int64_t numbers[] = {made->cells, made->width, lanes, connectivity->n_from};
    patch_work w = {.connectivity = connectivity, .device = device, .made = made};
    TRY(weft_setup_make(device, &w.setup, error));
    TRY(weft_connectivity_interleaved(connectivity, lanes, &w.indices, error));
    TRY(weft_setup_numbers(w.setup, numbers, 4, &w.sizes, error));
    TRY(make_local(&w, error));
    if (made->sums) {
        TRY(make_rows(&w, error));
        TRY(make_border(&w, error));
    }
done:
    weft_memory_free(&w.sizes);
    weft_memory_free(&w.n_touching);
    weft_setup_free(&w.setup);
    return status;
}
