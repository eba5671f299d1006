/* Fills lists with a field of a file, interpolated from the file's mesh. */
#include "fem/data/data.h"
#include "fem/io/read.h"
#include "fem/weft_fem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static weft_status refuse(const weft_data_info *info, weft_status status, const char *hint,
                          weft_error *error) {
    if (error && !error->file[0])
        weft_error_location(error, info->origin ? info->origin : info->expression, NULL, 0, 0);
    if (hint)
        weft_error_hint(error, "%s", hint);
    return status;
}

static weft_status check_field(const weft_mesh *mesh, const weft_data_info *info,
                               const weft_file_field *field, weft_error *error) {
    if (field->dimension != mesh->dimension) {
        weft_error_set(error, WEFT_ERROR_INPUT, "%s has %d dimensions, and %s has %d", info->path,
                       field->dimension, mesh->source, mesh->dimension);
        return refuse(info, WEFT_ERROR_INPUT, "give a field of the same dimension", error);
    }
    if (info->component < field->n_components)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "the field of %s has %d component%s, counted from 0: there is no component %d",
                   info->path, field->n_components, field->n_components == 1 ? "" : "s",
                   info->component);
    return refuse(info, WEFT_ERROR_INPUT, "write field(FILE, NAME, COMPONENT)", error);
}

/* Points of one mesh on the boundary of another differ from it by rounding: at most this part of the extent of the
 * file's mesh. */
static const double NEAR = 1e-8;

static double extent_of(const weft_file_field *field) {
    const int d = field->dimension;
    double square = 0;
    for (int k = 0; k < d; ++k) {
        double least = INFINITY, greatest = -INFINITY;
        for (int64_t i = 0; i < field->n_nodes; ++i) {
            least = fmin(least, field->x[i * d + k]);
            greatest = fmax(greatest, field->x[i * d + k]);
        }
        square += (greatest - least) * (greatest - least);
    }
    return sqrt(square);
}

/* From a point to the point of a cell with these weights. */
static double distance_to(const weft_file_field *field, int64_t cell, const double *weights,
                          const double *point) {
    const int d = field->dimension;
    double square = 0;
    for (int k = 0; k < d; ++k) {
        double at = -point[k];
        for (int v = 0; v <= d; ++v)
            at += weights[v] * field->x[(int64_t)field->cells[cell * (d + 1) + v] * d + k];
        square += at * at;
    }
    return sqrt(square);
}

static weft_status refuse_outside(const weft_data_info *info, const double *point, int d,
                                  double distance, const int64_t counts[2], weft_error *error) {
    char text[64];
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "%" PRId64 " of %" PRId64
                   " points are outside the mesh of %s, the first at %s, by %.3g",
                   counts[0], counts[1], info->path, weft_point_text(point, d, text), distance);
    return refuse(info, WEFT_ERROR_INPUT,
                  "field(FILE, NAME, clamp) gives such points the value at the nearest point",
                  error);
}

/* Points without a cell, with the nearest points of the mesh. */
typedef struct outside {
    int64_t n;
    int64_t *index, *cells; /* index: of all points */
    double *points, *weights;
} outside;

static void outside_free(outside *o) {
    free(o->index);
    free(o->cells);
    free(o->points);
    free(o->weights);
}

static weft_status outside_make(const double *points, int64_t n, int d, const int64_t *cells,
                                outside *out, weft_error *error) {
    size_t count = 0;
    for (int64_t i = 0; i < n; ++i)
        count += cells[i] < 0;
    out->index = malloc((count + 1) * sizeof *out->index);
    out->cells = malloc((count + 1) * sizeof *out->cells);
    out->points = malloc((count * (size_t)d + 1) * sizeof *out->points);
    out->weights = malloc((count * (size_t)(d + 1) + 1) * sizeof *out->weights);
    if (!out->index || !out->cells || !out->points || !out->weights)
        return weft_out_of_memory(error, "a field of a file");
    for (int64_t i = 0; i < n; ++i)
        if (cells[i] < 0) {
            out->index[out->n] = i;
            memcpy(out->points + d * out->n++, points + d * i, (size_t)d * sizeof *points);
        }
    return WEFT_OK;
}

/* Give points outside the nearest points of the mesh, and refuse them unless they are near. */
static weft_status find_nearest(const weft_locator *locator, const weft_data_info *info,
                                const weft_file_field *field, const double *points, int64_t n,
                                int64_t *cells, double *weights, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = field->dimension;
    const double near = NEAR * extent_of(field);
    double distance_of_first = 0;
    int64_t first = -1, counts[2] = {0, n};
    outside o = {0};
    TRY(outside_make(points, n, d, cells, &o, error));
    TRY(weft_locator_find(locator, o.points, o.n, true, o.cells, o.weights, error));
    for (int64_t k = 0; k < o.n; ++k) {
        const double *of_cell = o.weights + k * (d + 1);
        const double distance =
            o.cells[k] < 0 ? INFINITY : distance_to(field, o.cells[k], of_cell, o.points + k * d);
        cells[o.index[k]] = o.cells[k];
        memcpy(weights + o.index[k] * (d + 1), of_cell, (size_t)(d + 1) * sizeof *weights);
        if (distance <= near)
            continue;
        ++counts[0];
        if (first < 0) {
            first = k;
            distance_of_first = distance;
        }
    }
    if (first >= 0)
        status = refuse_outside(info, o.points + first * d, d, distance_of_first, counts, error);
done:
    outside_free(&o);
    return status;
}

/* The field at points; linear in each cell of the file, or constant. */
static weft_status interpolate(weft_device *device, const weft_data_info *info,
                               const weft_file_field *field, const double *points, int64_t n,
                               double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = field->dimension, c = field->n_components;
    const weft_locator_cells simplices = {
        .dimension = d, .n_cells = field->n_cells, .x = field->x, .cells = field->cells};
    weft_locator *locator = NULL;
    int64_t *cells = malloc(((size_t)n + 1) * sizeof *cells);
    double *weights = malloc(((size_t)n * (size_t)(d + 1) + 1) * sizeof *weights);
    if (!cells || !weights)
        TRY(weft_out_of_memory(error, "a field of a file"));
    TRY(weft_locator_make(device, &simplices, &locator, error));
    TRY(weft_locator_find(locator, points, n, info->clamped, cells, weights, error));
    TRY(find_nearest(locator, info, field, points, n, cells, weights, error));
    for (int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int v = 0; v <= d && !field->on_cells; ++v)
            sum +=
                weights[i * (d + 1) + v] *
                field->values[(int64_t)field->cells[cells[i] * (d + 1) + v] * c + info->component];
        out[i] = field->on_cells ? field->values[cells[i] * c + info->component] : sum;
    }
done:
    weft_locator_free(&locator);
    free(cells);
    free(weights);
    return status;
}

/* A field that is constant in each cell is taken a little inside the cell that a point belongs to. */
static const double INSIDE = 1e-6;

weft_status weft_data_of_field_at(weft_device *device, const weft_mesh *mesh,
                                  const weft_data_info *info, const weft_data_points *points,
                                  double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = points->n * mesh->dimension;
    weft_file_field field = {0};
    double *moved = NULL;
    TRY(weft_file_field_read(info->path, info->field, &field, error));
    TRY(check_field(mesh, info, &field, error));
    if (field.on_cells && points->inside) {
        moved = malloc(((size_t)n + 1) * sizeof *moved);
        if (!moved)
            TRY(weft_out_of_memory(error, "a field of a file"));
        for (int64_t i = 0; i < n; ++i)
            moved[i] = points->x[i] + INSIDE * (points->inside[i] - points->x[i]);
    }
    TRY(interpolate(device, info, &field, moved ? moved : points->x, points->n, out, error));
done:
    weft_file_field_free(&field);
    free(moved);
    return status != WEFT_OK ? refuse(info, status, NULL, error) : WEFT_OK;
}

/* The affine function with values u at n affinely independent points x of dimension d, constant
 * across their hull where n <= d (Gram-Schmidt): out[0] + out[1] x + ... */
static void fit_affine(int d, int n, double x[4][3], const double *u, double *out) {
    double basis[3][3], slopes[3];
    memset(out, 0, (size_t)(d + 1) * sizeof *out);
    for (int i = 1; i < n; ++i) {
        double *e = basis[i - 1], square = 0, along = u[i] - u[0];
        for (int k = 0; k < d; ++k)
            e[k] = x[i][k] - x[0][k];
        for (int j = 0; j < i - 1; ++j) {
            double dot = 0, norm = 0;
            for (int k = 0; k < d; ++k) {
                dot += e[k] * basis[j][k];
                norm += basis[j][k] * basis[j][k];
            }
            along -= dot / norm * slopes[j];
            for (int k = 0; k < d; ++k)
                e[k] -= dot / norm * basis[j][k];
        }
        slopes[i - 1] = along; /* the difference of u along e */
        for (int k = 0; k < d; ++k)
            square += e[k] * e[k];
        for (int k = 0; k < d; ++k)
            out[k + 1] += square > 0 ? along / square * e[k] : 0;
    }
    out[0] = u[0];
    for (int k = 0; k < d; ++k)
        out[0] -= out[k + 1] * x[0][k];
}

/* The coefficients of each element, from values at its vertices or one value. */
typedef struct coefficients {
    const weft_mesh *mesh;
    const int32_t *nodes; /* [n][n_vertices] */
    int64_t n, lanes;
    int n_vertices;
    const double *nodal, *centred; /* one is NULL */
    double *out;                   /* [block][d+1][lane] */
} coefficients;

enum { CHUNK = 4096 };

static void fit_chunk(void *user, int64_t chunk) {
    const coefficients *f = user;
    const int d = f->mesh->dimension;
    const int64_t n_padded = (f->n + f->lanes - 1) / f->lanes * f->lanes;
    for (int64_t i = chunk * CHUNK; i < n_padded && i < (chunk + 1) * CHUNK; ++i) {
        const int64_t from = i < f->n ? i : f->n - 1; /* spare lanes repeat the last element */
        double x[4][3], u[4] = {0}, c[4] = {0};
        for (int v = 0; v < f->n_vertices && f->nodal; ++v) {
            const int64_t node = f->nodes[from * f->n_vertices + v];
            u[v] = f->nodal[node];
            for (int k = 0; k < d; ++k)
                x[v][k] = f->mesh->x[node * d + k];
        }
        if (f->nodal)
            fit_affine(d, f->n_vertices, x, u, c);
        else
            c[0] = f->centred[from];
        for (int k = 0; k <= d; ++k)
            f->out[(i / f->lanes * (d + 1) + k) * f->lanes + i % f->lanes] = c[k];
    }
}

static void find_centres(const weft_mesh *mesh, const int32_t *nodes, int n_vertices, int64_t n,
                         double *out) {
    const int d = mesh->dimension;
    memset(out, 0, (size_t)n * (size_t)d * sizeof *out);
    for (int64_t i = 0; i < n; ++i)
        for (int v = 0; v < n_vertices; ++v)
            for (int k = 0; k < d; ++k)
                out[i * d + k] += mesh->x[(int64_t)nodes[i * n_vertices + v] * d + k] / n_vertices;
}

weft_status weft_data_of_field(weft_device *device, const weft_mesh *mesh,
                               const weft_data_info *info, const weft_data_elements *elements,
                               double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = mesh->dimension;
    weft_file_field field = {0};
    double *values = NULL, *centres = NULL;
    const int64_t lanes = weft_device_limits(device)->lanes_double;
    TRY(weft_file_field_read(info->path, info->field, &field, error));
    TRY(check_field(mesh, info, &field, error));
    if (weft_mesh_cell_vertices(mesh) != d + 1) {
        status = weft_error_set(
            error, WEFT_ERROR_UNSUPPORTED,
            "fields of files are linear in each cell, which needs triangles or tetrahedra");
        goto done;
    }
    const int64_t n = field.on_cells ? elements->n : mesh->n_nodes;
    values = malloc(((size_t)n + 1) * sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "a field of a file"));
    if (field.on_cells) {
        centres = malloc(((size_t)n * (size_t)d + 1) * sizeof *centres);
        if (!centres)
            TRY(weft_out_of_memory(error, "a field of a file"));
        find_centres(mesh, elements->nodes, elements->n_vertices, n, centres);
    }
    TRY(interpolate(device, info, &field, centres ? centres : mesh->x, n, values, error));
    coefficients f = {mesh,
                      elements->nodes,
                      elements->n,
                      lanes,
                      elements->n_vertices,
                      field.on_cells ? NULL : values,
                      field.on_cells ? values : NULL,
                      out};
    TRY(weft_device_for(device, (elements->n + lanes + CHUNK - 1) / CHUNK, fit_chunk, &f, error));
done:
    weft_file_field_free(&field);
    free(values);
    free(centres);
    return status != WEFT_OK ? refuse(info, status, NULL, error) : WEFT_OK;
}
