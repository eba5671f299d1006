/* Reads or makes the mesh of a run, refines and orders it, and reports on it. */
#include "apps/common/fem.h"
#include "fem/hierarchy/hierarchy.h"
#include "fem/order/order.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_TIMES = 12 }; /* of weft_mesh_refine */

/* Meshes from files have any numbering. The built-in meshes are numbered row by row unless they are
 * made by refinement, which is good for the host; a GPU needs the nodes of a thread block to be
 * close in all directions. */
static bool wants_order(const weft_device *device, const app_mesh_options *options, bool halved) {
    if (options->ordering == APP_ORDERING_AUTO)
        return halved || weft_mesh_is_gmsh(options->name) ||
               weft_device_limits(device)->execution == WEFT_EXECUTION_SIMT;
    return options->ordering != APP_ORDERING_NONE;
}

static weft_ordering method_of(const app_mesh_options *options) {
    return options->ordering == APP_ORDERING_METIS ? WEFT_ORDERING_METIS : WEFT_ORDERING_BISECTION;
}

static const char *method_name(weft_ordering method) {
    return method == WEFT_ORDERING_METIS ? "METIS" : "coordinate bisection";
}

static weft_status order_mesh(weft_device *device, weft_ordering method,
                              const weft_monitor *monitor, weft_mesh *mesh, app_mesh_made *made,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    TRY(weft_mesh_order_keeping(device, mesh, &(weft_order_options){method, 0, monitor}, NULL,
                                &made->copies, error));
    made->order_seconds = weft_clock() - start;
    made->ordered = method_name(method);
    weft_log(monitor, WEFT_LOG_INFO, "ordered the nodes by %s in %.3g s", made->ordered,
             made->order_seconds);
done:
    return status;
}

static weft_status refine_mesh(weft_device *device, int times, const weft_monitor *monitor,
                               weft_mesh **mesh, app_mesh_made *made, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *fine = NULL;
    weft_mesh_copies_free(&made->copies);
    TRY(weft_mesh_refine(device, *mesh, times, monitor, &fine, error));
    weft_mesh_free(mesh);
    *mesh = fine;
done:
    return status;
}

/* The coarsest built-in mesh that makes `name` when it is refined more often. False if there is none.
 *  times  the number of refinements, which grows */
static bool halve(const char *name, char coarse[64], int *times) {
    const int shape = strncmp(name, "square:", 7) == 0 ? 7 : strncmp(name, "cube:", 5) == 0 ? 5 : 0;
    const bool digits = shape > 0 && strspn(name + shape, "0123456789") == strlen(name + shape);
    const int before = *times;
    long n = digits ? strtol(name + shape, NULL, 10) : 0;
    for (; n % 2 == 0 && n > 2 && *times < MOST_TIMES; n /= 2)
        ++*times;
    snprintf(coarse, 64, "%.*s%ld", shape, name, n);
    return *times > before;
}

void app_mesh_shape_count(app_mesh_shape *shape) {
    const int64_t side =
        shape->side < 1000000 ? shape->side : 1000000; /* larger ones are refused */
    shape->n_nodes = 1;
    shape->n_cells = shape->dimension == 2 ? 2 : 6;
    for (int i = 0; i < shape->dimension; ++i) {
        shape->n_nodes *= side + 1;
        shape->n_cells *= side;
    }
}

/* The intervals per side, refined, of the mesh if that is `shape`:N; -1: it is another one. */
static int64_t side_of(const app_mesh_options *options, const char *shape) {
    const size_t length = strlen(shape);
    if (strncmp(options->name, shape, length) != 0 || options->name[length] != ':')
        return -1;
    const char *number = options->name + length + 1;
    if (*number == '\0' || number[strspn(number, "0123456789")] != '\0')
        return -1;
    return (int64_t)fmin(ldexp(strtod(number, NULL), options->refine), 1e9);
}

bool app_mesh_shape_of(const app_mesh_options *options, app_mesh_shape *out) {
    static const char *const names[] = {"square", "cube"};
    for (int i = 0; i < 2; ++i) {
        const int64_t side = side_of(options, names[i]);
        if (side < 0)
            continue;
        *out = (app_mesh_shape){
            .name = names[i], .dimension = i + 2, .side = side, .refine = options->refine};
        app_mesh_shape_count(out);
        return true;
    }
    return false;
}

int64_t app_mesh_built_in_nodes(const app_mesh_options *options, int *dimension) {
    char coarse[64];
    int times = options->refine;
    app_mesh_shape shape;
    if (!halve(options->name, coarse, &times) || !app_mesh_shape_of(options, &shape))
        return 0;
    *dimension = shape.dimension;
    return shape.n_nodes;
}

/* A bound of the nodes of a file, by the fewest bytes that a format has for a node and its two cells or more. */
static bool bound_file(const app_mesh_options *options, app_mesh_size *out) {
    enum { BYTES_LEAST = 20 };
    struct stat info;
    if (!weft_mesh_is_gmsh(options->name) || app_ends_with(options->name, ".geo") ||
        options->refine > 0 || stat(options->name, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    *out = (app_mesh_size){.n_nodes = info.st_size / BYTES_LEAST + 1, .is_bound = true};
    return true;
}

bool app_mesh_size_of(const app_mesh_options *options, app_mesh_size *out) {
    static const struct {
        const char *name;
        int dimension, simplices; /* of a box */
    } shapes[] = {
        {"interval", 1, 1}, {"square", 2, 2}, {"quads", 2, 2}, {"cube", 3, 6}, {"hexes", 3, 6}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        const int64_t side = side_of(options, shapes[i].name),
                      counted = side < 1000000 ? side : 1000000;
        if (side < 1)
            continue;
        *out = (app_mesh_size){shapes[i].dimension, 1, shapes[i].simplices, false};
        for (int k = 0; k < shapes[i].dimension; ++k) {
            out->n_nodes *= counted + 1;
            out->n_cells *= counted;
        }
        return true;
    }
    return bound_file(options, out);
}

/* Refine a coarse mesh and keep the levels.
 *  mesh  is replaced by the finest, which the hierarchy owns */
static weft_status make_levels(weft_device *device, const weft_hierarchy_options *options,
                               const weft_monitor *monitor, weft_mesh **mesh, app_mesh_made *made,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_hierarchy *hierarchy = NULL;
    TRY(weft_hierarchy_make_keeping(device, mesh, options, monitor, &hierarchy, &made->copies,
                                    error));
    *mesh = hierarchy->levels[hierarchy->n_levels - 1].mesh;
    made->hierarchy = hierarchy;
    made->order_seconds = hierarchy->order_seconds;
    if (options->ordered)
        made->ordered = method_name(options->ordering);
    weft_log(monitor, WEFT_LOG_INFO,
             "kept %d levels from %" PRId64 " to %" PRId64 " nodes, ordered in %.3g s",
             hierarchy->n_levels, hierarchy->levels[0].mesh->n_nodes, (*mesh)->n_nodes,
             made->order_seconds);
done:
    return status;
}

weft_status app_mesh_make(weft_device *device, const app_mesh_options *options,
                          const weft_monitor *monitor, weft_mesh **out, app_mesh_made *made,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *mesh = NULL;
    double start = weft_clock();
    char coarse[64];
    int times = options->refine;
    const bool halved =
        options->levels == APP_LEVELS_BUILT_IN && halve(options->name, coarse, &times);
    const bool keeps = options->levels != APP_LEVELS_NONE;
    const bool ordered = wants_order(device, options, halved);
    const weft_hierarchy_options levels = {
        .size = sizeof levels, .times = times, .ordered = ordered, .ordering = method_of(options)};
    weft_mesh_options reading = options->reading;
    reading.size = sizeof reading;
    reading.device = device;
    TRY(weft_mesh_read_with(halved ? coarse : options->name, &reading, monitor, &mesh, error));
    if (ordered && !keeps)
        TRY(order_mesh(device, levels.ordering, monitor, mesh, made, error));
    if (keeps)
        TRY(make_levels(device, &levels, monitor, &mesh, made, error));
    else if (times > 0)
        TRY(refine_mesh(device, times, monitor, &mesh, made, error));
    if (options->reading.cell_size > 0 && !app_ends_with(options->name, ".geo"))
        weft_log(monitor, WEFT_LOG_WARNING, "--size has no effect: it applies only to .geo files");
    weft_log(monitor, WEFT_LOG_INFO,
             "mesh: %" PRId64 " cells, %" PRId64 " nodes, %" PRId64 " boundary facets",
             mesh->n_cells, mesh->n_nodes, mesh->n_boundary_facets);
    *out = mesh;
    mesh = NULL;
done:
    weft_mesh_free(&mesh);
    made->seconds = weft_clock() - start;
    return status;
}

static void print_count(const char *what, int64_t n, const char *thing, const char *fate) {
    if (n > 0)
        printf("            %s: %" PRId64 " %s%s %s\n", what, n, thing, n == 1 ? "" : "s", fate);
}

void app_mesh_free(weft_mesh **mesh, app_mesh_made *made) {
    if (made->hierarchy)
        *mesh = NULL; /* owned by the hierarchy */
    weft_mesh_free(mesh);
    weft_hierarchy_free(&made->hierarchy);
    weft_mesh_copies_free(&made->copies);
}

void app_mesh_print(const weft_mesh *mesh, const app_mesh_made *made) {
    printf("mesh        %s: %" PRId64 " %s, %" PRId64 " nodes%s%s\n", mesh->source, mesh->n_cells,
           weft_mesh_cell(mesh)->plural, mesh->n_nodes, made->ordered ? ", ordered by " : "",
           made->ordered ? made->ordered : "");
    print_count("repaired", mesh->n_flipped_cells, "inverted cell", "flipped");
    print_count("repaired", mesh->n_dropped_nodes, "unused node", "dropped");
    print_count("ignored", mesh->n_ignored_facets, "group facet", "of no cell");
}
