/* Recursive coordinate bisection on a device (kernels/setup/bisection.cu), of nodes to be numbered and of points to be
 * divided into sets. Each axis
 * has a list of all nodes, sorted once; every level divides all ranges of all lists by one stable
 * partition. The number of launches depends on the depth of the recursion alone. */
#include "fem/base/memory.h"
#include "fem/order/on_device.h"

#include <math.h>
#include <stdlib.h>

enum { /* as in kernels/setup */
       ATOM = 32,
       BOX_BLOCKS = 1024,
       PART_TILE = 2048,
       RADIX_TILE = 4096,
       RADIX_DIGITS = 256,
};

typedef struct bisection {
    weft_setup *setup;
    int64_t n, leaf;
    int d;
    weft_memory *sizes;                 /* dimension, nodes */
    weft_memory *leaf_size, *q;         /* of nodes; uint32_t [d][n] */
    weft_memory *sets;                  /* NULL, or of each range: the sets that it becomes */
    weft_memory *lists[3], *spares[3];  /* int32_t [n] each, d of them */
    weft_memory *range, *sides, *tiles; /* of a place, of a node; first halves by tile */
    weft_memory *start, *axis;          /* of the ranges */
    int64_t n_ranges;
} bisection;

static weft_status make(const bisection *b, int64_t n, size_t size, weft_memory **out,
                        weft_error *error) {
    return weft_memory_make_unset(weft_setup_device(b->setup), (size_t)n * size, out, error);
}

/* ---- points from coordinates --------------------------------------------------------------- */

static weft_status find_box(const bisection *b, weft_memory *x, double box[4], weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_tiles = (b->n + 255) / 256,
                  n_blocks = n_tiles < BOX_BLOCKS ? n_tiles : BOX_BLOCKS;
    double(*found)[2][3] = malloc((size_t)n_blocks * sizeof *found), longest = 0;
    weft_memory *out = NULL;
    if (!found)
        TRY(weft_out_of_memory(error, "the box of a mesh"));
    TRY(make(b, n_blocks, sizeof *found, &out, error));
    const weft_setup_kernel kernel = {"bisection", "extents", b->n, n_blocks, 0};
    TRY(weft_setup_launch(b->setup, &kernel, (weft_memory *[]){b->sizes, x, out}, 3, error));
    TRY(weft_memory_read(out, 0, found, (size_t)n_blocks * sizeof *found, error));
    for (int c = 0; c < b->d; ++c) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int64_t i = 0; i < n_blocks; ++i) {
            low = fmin(low, found[i][0][c]);
            high = fmax(high, found[i][1][c]);
        }
        box[c] = low;
        longest = fmax(longest, high - low);
    }
    box[3] = weft_order_scale(longest);
done:
    free(found);
    weft_memory_free(&out);
    return status;
}

static weft_status make_points(bisection *b, weft_memory *x, weft_error *error) {
    weft_status status = WEFT_OK;
    double box[4] = {0};
    weft_memory *given = NULL;
    TRY(find_box(b, x, box, error));
    TRY(make(b, 4, sizeof *box, &given, error));
    TRY(weft_memory_write(given, 0, box, sizeof box, error));
    TRY(make(b, b->d * b->n, sizeof(uint32_t), &b->q, error));
    const weft_setup_kernel kernel = {"bisection", "points", b->n, 0, 0};
    TRY(weft_setup_launch(b->setup, &kernel, (weft_memory *[]){b->sizes, x, given, b->q}, 4,
                          error));
done:
    weft_memory_free(&given);
    return status;
}

/* ---- the lists ----------------------------------------------------------------------------- */

/* Sort a list by eight bits of the coordinates along an axis. */
static weft_status sort_by_digit(bisection *b, int axis, int shift, weft_memory *from,
                                 weft_memory *to, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_tiles = (b->n + RADIX_TILE - 1) / RADIX_TILE;
    int64_t total = 0;
    weft_memory *sizes = NULL, *counts = NULL, *starts = NULL;
    TRY(weft_setup_numbers(b->setup, (int64_t[]){shift, axis * b->n}, 2, &sizes, error));
    TRY(make(b, n_tiles * RADIX_DIGITS, sizeof(uint32_t), &counts, error));
    const weft_setup_kernel count = {"radix", "radix_counts", b->n, n_tiles, 0};
    TRY(weft_setup_launch(b->setup, &count, (weft_memory *[]){sizes, b->q, from, counts}, 4,
                          error));
    TRY(weft_setup_sums(b->setup, counts, n_tiles * RADIX_DIGITS, &starts, &total, error));
    const weft_setup_kernel move = {"radix", "radix_move", b->n, n_tiles, 0};
    TRY(weft_setup_launch(b->setup, &move, (weft_memory *[]){sizes, b->q, from, starts, to}, 5,
                          error));
done:
    weft_memory_free(&sizes);
    weft_memory_free(&counts);
    weft_memory_free(&starts);
    return status;
}

/* to: may be from */
static weft_status sort_by_axis(bisection *b, int axis, weft_memory *from, weft_memory *to,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *const steps[] = {from, b->spares[0], b->range, b->spares[0], to};
    for (int i = 0; i < 4; ++i)
        TRY(sort_by_digit(b, axis, 8 * i, steps[i], steps[i + 1], error));
done:
    return status;
}

/* The list of an axis is sorted by it, then by the axes that follow cyclically, then by number: with
 * that of the next axis at hand, by one key. */
static weft_status make_lists(bisection *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_setup_kernel kernel = {"radix", "radix_identity", b->n, 0, 0};
    for (int c = 0; c < b->d; ++c) {
        TRY(make(b, b->n, sizeof(int32_t), &b->lists[c], error));
        TRY(make(b, b->n, sizeof(int32_t), &b->spares[c], error));
    }
    TRY(make(b, b->n, sizeof(uint32_t), &b->range, error));
    TRY(weft_setup_launch(b->setup, &kernel, &b->lists[0], 1, error));
    for (int c = b->d - 1; c >= 0; --c)
        TRY(sort_by_axis(b, c, b->lists[0], b->lists[0], error));
    for (int c = b->d - 1; c > 0; --c)
        TRY(sort_by_axis(b, c, b->lists[(c + 1) % b->d], b->lists[c], error));
    TRY(weft_memory_zero(b->range, error));
done:
    return status;
}

/* ---- the recursion ------------------------------------------------------------------------- */

/* The list of an axis; that of the first for axes that there are not. */
static weft_memory *list_of(weft_memory *const lists[3], int axis) {
    return lists[axis] ? lists[axis] : lists[0];
}

static weft_status find_axes(bisection *b, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(make(b, b->n_ranges, 1, &b->axis, error));
    const weft_setup_kernel kernel = {"bisection", "range_axes", b->n_ranges, 0, 0};
    weft_memory *const arguments[] = {
        b->sizes, b->start, b->q, b->lists[0], list_of(b->lists, 1), list_of(b->lists, 2), b->axis};
    TRY(weft_setup_launch(b->setup, &kernel, arguments, 7, error));
done:
    return status;
}

/* Bring the first halves of all ranges to their fronts.
 *  lefts  exclusive sums of the sizes of first halves
 *  next   starts of the halves */
static weft_status move_lists(bisection *b, weft_memory *lefts, weft_memory *next,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_blocks = (b->n + PART_TILE - 1) / PART_TILE * b->d;
    weft_memory *x = b->lists[0], *y = list_of(b->lists, 1), *z = list_of(b->lists, 2), *sum = NULL;
    TRY(make(b, 1, sizeof(int64_t), &sum, error));
    const weft_setup_kernel side = {"bisection", "part_sides", b->n, 0, 0};
    TRY(weft_setup_launch(b->setup, &side,
                          (weft_memory *[]){next, b->axis, x, y, z, b->range, b->sides}, 7, error));
    const weft_setup_kernel count = {"bisection", "part_counts", b->n, n_blocks, 0};
    TRY(weft_setup_launch(b->setup, &count, (weft_memory *[]){x, y, z, b->sides, b->tiles}, 5,
                          error));
    const weft_setup_kernel join = {"scan", "scan_sums", n_blocks, 1, 0};
    TRY(weft_setup_launch(b->setup, &join, (weft_memory *[]){b->tiles, sum}, 2, error));
    const weft_setup_kernel move = {"bisection", "part_move", b->n, n_blocks, 0};
    weft_memory *const moved[] = {next,
                                  lefts,
                                  b->range,
                                  b->sides,
                                  b->tiles,
                                  x,
                                  y,
                                  z,
                                  b->spares[0],
                                  list_of(b->spares, 1),
                                  list_of(b->spares, 2)};
    TRY(weft_setup_launch(b->setup, &move, moved, 11, error));
    for (int c = 0; c < b->d; ++c) {
        weft_memory *list = b->lists[c];
        b->lists[c] = b->spares[c];
        b->spares[c] = list;
    }
done:
    weft_memory_free(&sum);
    return status;
}

/* The sizes of first halves, and the starts of all halves. */
static weft_status halve(bisection *b, weft_memory *lefts, weft_memory *next, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *sets = NULL;
    if (b->sets) {
        TRY(make(b, 2 * b->n_ranges, sizeof(uint32_t), &sets, error));
        const weft_setup_kernel kernel = {"bisection", "range_sets", b->n_ranges, 0, 0};
        weft_memory *const arguments[] = {b->sets, b->start, lefts, next, sets};
        TRY(weft_setup_launch(b->setup, &kernel, arguments, 5, error));
        weft_memory_free(&b->sets);
        b->sets = sets;
        sets = NULL;
    } else {
        const weft_setup_kernel kernel = {"bisection", "range_halves", b->n_ranges, 0, 0};
        weft_memory *const arguments[] = {b->leaf_size, b->start, lefts, next};
        TRY(weft_setup_launch(b->setup, &kernel, arguments, 4, error));
    }
done:
    weft_memory_free(&sets);
    return status;
}

/* Divide every range. */
static weft_status divide(bisection *b, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *lefts = NULL, *sums = NULL, *next = NULL;
    int64_t total = 0;
    TRY(find_axes(b, error));
    TRY(make(b, b->n_ranges, sizeof(uint32_t), &lefts, error));
    TRY(make(b, 2 * b->n_ranges + 1, sizeof(int32_t), &next, error));
    TRY(halve(b, lefts, next, error));
    TRY(weft_setup_sums(b->setup, lefts, b->n_ranges, &sums, &total, error));
    TRY(move_lists(b, sums, next, error));
    weft_memory_free(&b->axis);
    weft_memory_free(&b->start);
    b->start = next;
    next = NULL;
    b->n_ranges *= 2;
done:
    weft_memory_free(&lefts);
    weft_memory_free(&sums);
    weft_memory_free(&next);
    return status;
}

/* All nodes are one range, which is divided so often. */
static weft_status divide_all(bisection *b, int depth, weft_error *error) {
    weft_status status = WEFT_OK;
    const int32_t all[] = {0, (int32_t)b->n};
    const int64_t n_tiles = (b->n + PART_TILE - 1) / PART_TILE;
    TRY(make(b, b->n, 1, &b->sides, error));
    TRY(make(b, n_tiles * b->d, sizeof(int64_t), &b->tiles, error));
    TRY(make(b, 2, sizeof *all, &b->start, error));
    TRY(weft_memory_write(b->start, 0, all, sizeof all, error));
    b->n_ranges = 1;
    for (; depth > 0; --depth)
        TRY(divide(b, error));
done:
    return status;
}

/* How often ranges are divided; ranges of fewer nodes never more often. */
static int depth_of(int64_t n, int64_t leaf) {
    int depth = 0;
    for (; n > ATOM; ++depth) {
        const int64_t unit = n > leaf ? leaf : ATOM, n_units = (n + unit - 1) / unit;
        n = (n_units + 1) / 2 * unit;
    }
    return depth;
}

static weft_status bisect(bisection *b, weft_memory *old, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(divide_all(b, depth_of(b->n, b->leaf), error));
    TRY(find_axes(b, error));
    const weft_setup_kernel kernel = {"bisection", "take_lists", b->n, 0, 0};
    weft_memory *const arguments[] = {
        b->range, b->axis, b->lists[0], list_of(b->lists, 1), list_of(b->lists, 2), old};
    TRY(weft_setup_launch(b->setup, &kernel, arguments, 6, error));
done:
    return status;
}

static weft_status open_bisection(bisection *b, weft_memory *x, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_setup_numbers(b->setup, (int64_t[]){b->d, b->n}, 2, &b->sizes, error));
    TRY(weft_setup_numbers(b->setup, &b->leaf, 1, &b->leaf_size, error));
    TRY(make_points(b, x, error));
    TRY(make_lists(b, error));
done:
    return status;
}

static void close_bisection(bisection *b) {
    for (int c = 0; c < 3; ++c) {
        weft_memory_free(&b->lists[c]);
        weft_memory_free(&b->spares[c]);
    }
    weft_memory **memories[] = {&b->sizes, &b->leaf_size, &b->q,     &b->sets, &b->range,
                                &b->sides, &b->tiles,     &b->start, &b->axis};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
}

weft_status weft_order_bisect_on_device(weft_setup *setup, const weft_mesh *mesh, int64_t leaf,
                                        weft_memory *x, weft_memory *old, weft_error *error) {
    weft_status status = WEFT_OK;
    bisection b = {.setup = setup, .n = mesh->n_nodes, .leaf = leaf, .d = mesh->dimension};
    TRY(open_bisection(&b, x, error));
    TRY(bisect(&b, old, error));
done:
    close_bisection(&b);
    return status;
}

weft_status weft_point_sets_on_device(weft_setup *setup, const weft_points_on_device *points,
                                      int64_t n_sets, weft_point_ranges *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const uint32_t all = (uint32_t)n_sets;
    bisection b = {.setup = setup, .n = points->n, .d = points->dimension};
    int depth = 0;
    for (int64_t n = n_sets; n > 1; n = (n + 1) / 2)
        ++depth;
    TRY(open_bisection(&b, points->x, error));
    TRY(make(&b, 1, sizeof all, &b.sets, error));
    TRY(weft_memory_write(b.sets, 0, &all, sizeof all, error));
    TRY(divide_all(&b, depth, error));
    *out = (weft_point_ranges){b.n_ranges, b.start, b.lists[0]};
    b.start = b.lists[0] = NULL;
done:
    close_bisection(&b);
    return status;
}

void weft_point_ranges_free(weft_point_ranges *ranges) {
    weft_memory_free(&ranges->start);
    weft_memory_free(&ranges->points);
    *ranges = (weft_point_ranges){0};
}
