/* The mesh of a view: boxes in simplices, inner nodes moved at random, in another position and numbering. */
#include "answers.h"

#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *array(size_t n, size_t size) {
    void *made = weft_array_make(n, size);
    if (!made) {
        perror("answers");
        exit(3);
    }
    return made;
}

/* 0 .. n-1 in a random order, or as they are. */
static int32_t *permutation(int64_t n, uint64_t seed) {
    int32_t *out = array((size_t)n, sizeof *out);
    uint64_t state = seed;
    for (int64_t i = 0; i < n; ++i)
        out[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0 && seed; --i) {
        const int64_t j = (int64_t)answers_below(&state, (uint64_t)i + 1);
        const int32_t kept = out[i];
        out[i] = out[j];
        out[j] = kept;
    }
    return out;
}

typedef struct grid {
    const answers_problem *problem;
    const answers_view *view;
    int d, n, side; /* nodes along an axis */
    int32_t *node;  /* numbers of nodes in the view */
    double *X;      /* [node of the view][3] */
    weft_mesh_data *data;
} grid;

static int32_t node_at(const grid *g, const int *at) {
    int64_t k = 0;
    for (int a = g->d - 1; a >= 0; --a)
        k = k * g->side + at[a];
    return g->node[k];
}

static void make_nodes(grid *g) {
    const answers_problem *p = g->problem;
    uint64_t state = p->seed;
    for (int64_t k = 0; k < g->data->n_nodes; ++k) {
        const int at[3] = {(int)(k % g->side), (int)(k / g->side % g->side),
                           (int)(k / g->side / g->side)};
        double *X = g->X + 3 * g->node[k], *x = g->data->x + (int64_t)g->d * g->node[k];
        for (int a = 0; a < g->d; ++a) {
            const double moved = p->jitter * answers_between(&state, -1, 1);
            const bool stays = at[a] == 0 || at[a] == g->n || (a == 0 && 2 * at[a] == g->n);
            X[a] = ((double)at[a] + (stays ? 0 : moved)) / g->n;
        }
        for (int a = 0; a < g->d; ++a)
            for (int b = 0; b < g->d; ++b)
                x[a] += g->view->length * g->view->q[a][b] * X[b];
    }
}

/* The Kuhn simplices of a box: paths from its lowest to its highest corner along the axes in any order. */
static void make_box(grid *g, const int *low, int32_t *cells) {
    static const int orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int s = 0; s < (g->d == 2 ? 2 : 6); ++s) {
        int at[3] = {low[0], low[1], low[2]};
        *cells++ = node_at(g, at);
        for (int a = 0; a < g->d; ++a) {
            ++at[orders[s][a]];
            *cells++ = node_at(g, at);
        }
    }
}

static void make_cells(grid *g) {
    const int width = g->d + 1, of_box = g->d == 2 ? 2 : 6;
    const int64_t n_boxes = g->data->n_cells / of_box;
    int32_t *cells = array((size_t)(g->data->n_cells * width), sizeof *cells);
    int32_t *order = permutation(g->data->n_cells, g->view->numbering);
    uint64_t state = g->view->numbering;
    for (int64_t b = 0; b < n_boxes; ++b) {
        const int low[3] = {(int)(b % g->n), (int)(b / g->n % g->n), (int)(b / g->n / g->n)};
        make_box(g, low, cells + b * of_box * width);
    }
    for (int64_t c = 0; c < g->data->n_cells; ++c) {
        const int64_t shift =
            g->view->numbering ? (int64_t)answers_below(&state, (uint64_t)width) : 0;
        for (int v = 0; v < width; ++v)
            g->data->cells[order[c] * (int64_t)width + v] = cells[c * width + (v + shift) % width];
    }
    free(cells);
    free(order);
}

static bool all_on(const grid *g, const int32_t *nodes, int axis, double at) {
    for (int v = 0; v < g->d; ++v)
        if (g->X[3 * nodes[v] + axis] != at)
            return false;
    return true;
}

/* Facets of cells on each side; the whole number of facets is small. */
static void make_sides(grid *g) {
    weft_mesh_data *data = g->data;
    const int width = g->d + 1;
    for (int s = 0; s < 2 * g->d; ++s) {
        weft_group *group = &data->groups[data->n_groups++];
        *group = (weft_group){
            .dimension = g->d - 1, .first_facet = data->n_group_facets, .number = s + 1};
        snprintf(group->name, sizeof group->name, "%s", answers_side_name(g->d, s));
        for (int64_t c = 0; c < data->n_cells; ++c)
            for (int left = 0; left < width; ++left) {
                int32_t *facet = data->group_facet_nodes + data->n_group_facets * g->d;
                for (int v = 0, i = 0; v < width; ++v)
                    if (v != left)
                        facet[i++] = data->cells[c * width + v];
                if (!all_on(g, facet, s / 2, s % 2))
                    continue;
                ++data->n_group_facets;
                ++group->n_facets;
            }
    }
}

/* steel, air; where groups are split also steel_2, air_2: those with Y > 1/2. */
static void make_materials(grid *g) {
    static const char *const names[] = {"steel", "air", "steel_2", "air_2"};
    weft_mesh_data *data = g->data;
    const int width = g->d + 1;
    for (int m = 0; m < (g->view->splits ? 4 : 2); ++m) {
        weft_group *group = &data->groups[data->n_groups++];
        *group =
            (weft_group){.dimension = g->d, .first_cell = data->n_group_cells, .number = 100 + m};
        snprintf(group->name, sizeof group->name, "%s", names[m]);
        for (int64_t c = 0; c < data->n_cells; ++c) {
            double centre[2] = {0};
            for (int v = 0; v < width; ++v)
                for (int a = 0; a < 2; ++a)
                    centre[a] += g->X[3 * data->cells[c * width + v] + a] / width;
            const int material = centre[0] > 0.5, half = g->view->splits && centre[1] > 0.5;
            if (material + 2 * half != m)
                continue;
            data->group_cells[data->n_group_cells++] = (int32_t)c;
            ++group->n_cells;
        }
    }
}

static void write(const grid *g, const weft_mesh *mesh, const answers_linear *field,
                  const char *path) {
    const int c = g->problem->components;
    weft_error error = {0};
    double *values = array((size_t)(mesh->n_nodes * c), sizeof *values);
    const weft_field fields[1] = {{.name = "v", .n_components = c, .values = values}};
    for (int64_t i = 0; i < mesh->n_nodes && field; ++i)
        for (int k = 0; k < c; ++k) {
            values[i * c + k] = field->a[k];
            for (int a = 0; a < g->d; ++a)
                values[i * c + k] += field->slope[k][a] * g->X[3 * i + a];
        }
    if (weft_result_write(path, mesh, fields, field ? 1 : 0, &error) != WEFT_OK) {
        fprintf(stderr, "%s: %s\n", path, error.message);
        exit(3);
    }
    free(values);
}

void answers_mesh_write(const answers_problem *problem, const answers_view *view,
                        const answers_linear *field, const char *path) {
    const int d = problem->d, n = problem->n;
    weft_mesh_data data = {.dimension = d,
                           .n_nodes = d == 2 ? (n + 1) * (n + 1) : (n + 1) * (n + 1) * (n + 1),
                           .n_cells = d == 2 ? 2 * n * n : 6 * n * n * n};
    const size_t n_nodes = (size_t)data.n_nodes, n_cells = (size_t)data.n_cells,
                 width = (size_t)d + 1;
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    data.x = array(n_nodes * (size_t)d, sizeof *data.x);
    data.cells = array(n_cells * width, sizeof *data.cells);
    data.groups = array(ANSWERS_SIDES + 4, sizeof *data.groups);
    data.group_facet_nodes =
        array((n_cells + 1) * width * (size_t)d, sizeof *data.group_facet_nodes);
    data.group_cells = array(n_cells, sizeof *data.group_cells);
    grid g = {problem,
              view,
              d,
              n,
              n + 1,
              permutation(data.n_nodes, view->numbering),
              array(n_nodes * 3, sizeof(double)),
              &data};
    make_nodes(&g);
    make_cells(&g);
    make_sides(&g);
    make_materials(&g);
    if (weft_mesh_make(&data, "answers", NULL, &mesh, &error) != WEFT_OK) {
        fprintf(stderr, "the mesh of seed %llu: %s\n", (unsigned long long)problem->seed,
                error.message);
        exit(3);
    }
    write(&g, mesh, field, path);
    weft_mesh_free(&mesh);
    free(g.node);
    free(g.X);
}
