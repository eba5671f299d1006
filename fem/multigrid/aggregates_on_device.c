/* Makes aggregates of nodes on a device (kernels/setup/aggregation.cu). */
#include "fem/multigrid/on_device.h"

#include "fem/order/on_device.h"
#include "fusion/connectivity/connectivity.h"

typedef struct aggregation {
    weft_setup *setup;
    const weft_device_coarsening *level;
    weft_memory *limits; /* theta */
    weft_sell_memories A;
    weft_device_aggregates made;
    weft_memory *x; /* of the points */
    /* of points: one per set, and empty ones; their entries are the places */
    weft_point_ranges ranges;
    weft_memory *place;                /* [nodes] int32_t; -1: none */
    weft_memory *root, *size, *target; /* [places] int32_t, see connection in connect.c */
} aggregation;

static weft_status make(const aggregation *a, int64_t n, size_t size, weft_memory **out,
                        weft_error *error) {
    return weft_memory_make_unset(weft_setup_device(a->setup), (size_t)n * size, out, error);
}

static weft_status run(const aggregation *a, const char *name, int64_t n,
                       weft_memory *const *arguments, int n_arguments, weft_error *error) {
    const weft_setup_kernel kernel = {"aggregation", name, n, 0, 0};
    return weft_setup_launch(a->setup, &kernel, arguments, n_arguments, error);
}

/* int32_t [n], all -1 */
static weft_status make_none(const aggregation *a, int64_t n, weft_memory **out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(make(a, n, sizeof(int32_t), out, error));
    TRY(run(a, "set_none", n, (weft_memory *[]){*out}, 1, error));
done:
    return status;
}

/* The nodes with strong couplings, and their coordinates. */
static weft_status find_points(aggregation *a, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = a->level->n, d = a->level->dimension;
    const weft_sell_memories *A = &a->A;
    weft_memory *active = NULL, *place = NULL, *sizes = NULL;
    TRY(make(a, n, sizeof(uint32_t), &active, error));
    weft_memory *const marked[] = {a->limits,  A->slots,  A->bases,      A->start, A->column_start,
                                   A->columns, A->values, a->made.scale, active};
    TRY(run(a, "active_nodes", n, marked, 9, error));
    TRY(weft_setup_sums(a->setup, active, n, &place, &a->made.n_points, error));
    TRY(make(a, a->made.n_points, sizeof(int32_t), &a->made.nodes, error));
    TRY(make(a, a->made.n_points * d, sizeof(double), &a->x, error));
    TRY(weft_setup_numbers(a->setup, &d, 1, &sizes, error));
    weft_memory *const listed[] = {sizes, active, place, a->level->x, a->made.nodes, a->x};
    TRY(run(a, "list_active", n, listed, 6, error));
done:
    weft_memory_free(&active);
    weft_memory_free(&place);
    weft_memory_free(&sizes);
    return status;
}

static weft_status bisect(aggregation *a, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = a->made.n_points;
    const weft_points_on_device points = {n, a->level->dimension, a->x};
    const int64_t n_sets = (int64_t)((double)n / a->level->aggregate_nodes + 0.5);
    TRY(weft_point_sets_on_device(a->setup, &points, n_sets < 1 ? 1 : n_sets, &a->ranges, error));
    weft_memory_free(&a->x);
    TRY(make_none(a, a->level->n, &a->place, error));
    weft_memory *const ordered[] = {a->ranges.start, a->made.nodes, a->ranges.points, a->place};
    TRY(run(a, "order_sets", a->ranges.n, ordered, 4, error));
done:
    return status;
}

/* Components of the sets, of which small ones join others.
 *  number  exclusive sums of those that stay */
static weft_status connect(aggregation *a, weft_memory **number, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = a->made.n_points;
    const int64_t smallest = (int64_t)(a->level->aggregate_nodes / 3 + 1);
    const weft_sell_memories *A = &a->A;
    weft_memory *stays = NULL, *sizes = NULL;
    weft_memory **lists[] = {&a->root, &a->size, &a->target};
    for (int i = 0; i < 3; ++i)
        TRY(make(a, n, sizeof(int32_t), lists[i], error));
    TRY(make(a, n, sizeof(uint32_t), &stays, error));
    TRY(weft_setup_numbers(a->setup, &smallest, 1, &sizes, error));
    weft_memory *const united[] = {a->limits,       A->slots,      A->bases,         A->start,
                                   A->column_start, A->columns,    A->values,        a->made.scale,
                                   a->ranges.start, a->made.nodes, a->ranges.points, a->place,
                                   a->root,         a->size};
    TRY(run(a, "unite_sets", a->ranges.n, united, 14, error));
    weft_memory *const joined[] = {
        sizes,      a->limits, A->slots,      A->bases,        A->start,      A->column_start,
        A->columns, A->values, a->made.scale, a->ranges.start, a->made.nodes, a->ranges.points,
        a->place,   a->root,   a->size,       a->target,       stays};
    TRY(run(a, "join_sets", a->ranges.n, joined, 17, error));
    TRY(weft_setup_sums(a->setup, stays, n, number, &a->made.n, error));
done:
    weft_memory_free(&stays);
    weft_memory_free(&sizes);
    return status;
}

/* Number the aggregates, and list their points. */
static weft_status list_members(aggregation *a, weft_memory *number, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_aggregates *made = &a->made;
    weft_memory *of_point = NULL;
    weft_connectivity *points = NULL;
    TRY(make(a, made->n_points, sizeof(int32_t), &of_point, error));
    weft_memory *const named[] = {made->nodes, a->ranges.points, a->root, a->target,
                                  number,      made->of,         of_point};
    TRY(run(a, "name_sets", made->n_points, named, 7, error));
    TRY(weft_connectivity_make_copied(weft_setup_device(a->setup), NULL, &of_point, 1, made->n,
                                      &points, error));
    TRY(weft_connectivity_transpose(points, a->setup, 1, NULL, &made->start, &made->members,
                                    error));
done:
    weft_memory_free(&of_point);
    weft_connectivity_free(&points);
    return status;
}

static weft_status make_aggregates(aggregation *a, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *number = NULL;
    TRY(bisect(a, error));
    TRY(connect(a, &number, error));
    TRY(list_members(a, number, error));
done:
    weft_memory_free(&number);
    return status;
}

weft_status weft_device_aggregate(weft_setup *setup, const weft_device_coarsening *level,
                                  weft_device_aggregates *out, weft_error *error) {
    weft_status status = WEFT_OK;
    aggregation a = {.setup = setup, .level = level};
    weft_sell_matrix_memories(level->A, &a.A);
    TRY(make(&a, 1, sizeof level->theta, &a.limits, error));
    TRY(weft_memory_write(a.limits, 0, &level->theta, sizeof level->theta, error));
    TRY(make(&a, level->n, sizeof(double), &a.made.scale, error));
    TRY(run(&a, "scales", level->n, (weft_memory *[]){level->fixed, a.A.values, a.made.scale}, 3,
            error));
    TRY(make_none(&a, level->n, &a.made.of, error));
    TRY(find_points(&a, error));
    if (a.made.n_points > 0)
        TRY(make_aggregates(&a, error));
    *out = a.made;
    a.made = (weft_device_aggregates){0};
done:
    weft_device_aggregates_free(&a.made);
    weft_point_ranges_free(&a.ranges);
    weft_memory **memories[] = {&a.limits, &a.x, &a.place, &a.root, &a.size, &a.target};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
    return status;
}

void weft_device_aggregates_free(weft_device_aggregates *aggregates) {
    weft_memory **memories[] = {&aggregates->scale, &aggregates->of, &aggregates->nodes,
                                &aggregates->start, &aggregates->members};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
    *aggregates = (weft_device_aggregates){0};
}
