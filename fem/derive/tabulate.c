/* Evaluates functions of any elements, their gradients and places at points of cells and facets. */
#include "fem/derive/tabulated.h"
#include "fem/space/space.h"
#include "fem/space/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1 << 15, CHUNK = 64 };

/* ---- points ---------------------------------------------------------------------------------- */

/* The greatest degree of the solution's elements, at least 1. */
static int degree_of(const weft_derive *derive) {
    const struct derive_tabulated *t = derive->tabulated;
    int degree = 1;
    for (int i = 1; i < t->n_sources; ++i)
        if (t->sources[i].list == 0 && t->sources[i].space) {
            const int own = weft_space_element(t->sources[i].space)->degree;
            degree = own > degree ? own : degree;
        }
    return degree;
}

/* Points of a cell of dimension k, at which the other reference coordinates are 0. */
static weft_status set_points(derive_set_points *out, int n, int k, int d, const double *xi,
                              const double *weights, weft_error *error) {
    out->n = n;
    out->xi = calloc((size_t)(n * d), sizeof *out->xi);
    out->weights = calloc((size_t)n, sizeof *out->weights);
    if (!out->xi || !out->weights)
        return weft_out_of_memory(error, "points of derived quantities");
    for (int i = 0; i < n; ++i) {
        memcpy(out->xi + i * d, xi + i * k, (size_t)k * sizeof *xi);
        out->weights[i] = weights ? weights[i] : 0;
    }
    return WEFT_OK;
}

static weft_status make_sets(weft_derive *derive, derive_elements elements, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = derive->tabulated->map.d, degree = degree_of(derive);
    const weft_cell *cell = weft_mesh_cell(derive->tabulated->map.mesh);
    const weft_cell *own = elements == DERIVE_CELLS ? cell : weft_cell_of(cell->facet);
    const weft_element *element = weft_space_element(derive->problem.space);
    const int k = own->dimension;
    derive_set_points *sets = derive->tabulated->sets[elements];
    double centre[3];
    weft_quadrature rule = {0};
    weft_element *lattice = NULL;
    for (int a = 0; a < 3; ++a)
        centre[a] = own->simplex ? 1.0 / (k + 1) : 0.5;
    TRY(weft_quadrature_make(own->type, WEFT_SCHEME_DEFAULT, 2 * degree + 2, &rule, error));
    TRY(set_points(&sets[DERIVE_CENTRE], 1, k, d, centre, NULL, error));
    TRY(set_points(&sets[DERIVE_RULE], rule.n, k, d, rule.points, rule.weights, error));
    if (k == 0) {
        TRY(set_points(&sets[DERIVE_LATTICE], 1, k, d, centre, NULL, error));
    } else {
        TRY(weft_element_make(WEFT_LAGRANGE, own->type, degree, &lattice, error));
        TRY(set_points(&sets[DERIVE_LATTICE], lattice->n_nodes, k, d, lattice->points, NULL,
                       error));
    }
    if (elements == DERIVE_CELLS)
        TRY(set_points(&sets[DERIVE_NODES], element->n_nodes, k, d, element->points, NULL, error));
done:
    weft_quadrature_free(&rule);
    weft_element_free(&lattice);
    return status;
}

/* ---- sources --------------------------------------------------------------------------------- */

static int list_of(struct derive_tabulated *t, const char *name) {
    for (int i = 0; i < t->n_lists; ++i)
        if (strcmp(t->lists[i].name, name) == 0)
            return i;
    t->lists[t->n_lists].name = name;
    return t->n_lists++;
}

/* Nodes or cells for which a source has values. */
static int64_t rows_of(const struct derive_tabulated *t, const derive_source *source) {
    return source->space ? weft_space_nodes(source->space) : t->map.mesh->n_cells;
}

static weft_status make_sources(weft_derive *derive, weft_error *error) {
    weft_status status = WEFT_OK;
    struct derive_tabulated *t = derive->tabulated;
    const weft_derive_problem *problem = &derive->problem;
    t->sources = calloc((size_t)problem->n_functions + 1, sizeof *t->sources);
    t->lists = calloc((size_t)problem->n_functions + 1, sizeof *t->lists);
    if (!t->sources || !t->lists)
        TRY(weft_out_of_memory(error, "derived quantities"));
    t->sources[t->n_sources++] = (derive_source){.space = t->geometry, .list = -1};
    (void)list_of(t, problem->solution ? problem->solution : "u");
    for (int i = 0; i < problem->n_functions; ++i) {
        const weft_derive_function *f = &problem->functions[i];
        derive_source *s = &t->sources[t->n_sources++];
        const bool is_mapped = f->space && weft_space_is_mapped(f->space);
        const int c = is_mapped           ? weft_space_values_of(f->space)
                      : f->components > 0 ? f->components
                                          : weft_space_components(f->space);
        if (is_mapped)
            TRY(weft_space_make(derive->context->device, t->map.mesh,
                                weft_space_lattice(&f->space, 1), c, &s->image, error));
        *s = (derive_source){.space = is_mapped ? s->image : f->space,
                             .mapped = is_mapped ? f->space : NULL,
                             .image = s->image,
                             .components = c,
                             .memory = f->values,
                             .first = f->first,
                             .list = list_of(t, f->name),
                             .component = f->first_component};
        const int last = f->first_component + c;
        derive_list *list = &t->lists[s->list];
        list->components = last > list->components ? last : list->components;
        s->values = weft_array_make((size_t)rows_of(t, s), (size_t)c * sizeof *s->values);
        if (!s->values)
            TRY(weft_out_of_memory(error, "derived quantities"));
    }
done:
    return status;
}

weft_status derive_tabulated_make(weft_derive *derive, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(derive->problem.space);
    struct derive_tabulated *t = calloc(1, sizeof *t);
    if (!t)
        TRY(weft_out_of_memory(error, "derived quantities"));
    derive->tabulated = t;
    TRY(weft_cell_map_make(mesh, &t->map, error));
    TRY(weft_space_make(derive->context->device, mesh,
                        (weft_element_kind){WEFT_LAGRANGE, t->map.element->degree}, mesh->dimension,
                        &t->geometry, error));
    TRY(make_sources(derive, error));
    for (int e = 0; e < 2; ++e)
        TRY(make_sets(derive, (derive_elements)e, error));
done:
    return status;
}

void derive_tabulated_free(weft_derive *derive) {
    struct derive_tabulated *t = derive->tabulated;
    if (!t)
        return;
    for (int i = 0; i < t->n_sources; ++i) {
        weft_space_free(&t->sources[i].image);
        free(t->sources[i].values);
        free(t->sources[i].facet_nodes);
        for (int k = 0; k < 2 * DERIVE_SETS; ++k)
            free(t->sources[i].tables[k / DERIVE_SETS][k % DERIVE_SETS]);
    }
    for (int i = 0; i < t->n_lists; ++i) {
        weft_memory_free(&t->lists[i].values_memory);
        weft_memory_free(&t->lists[i].gradients_memory);
        free(t->lists[i].values);
        free(t->lists[i].gradients);
    }
    for (int k = 0; k < 2 * DERIVE_SETS; ++k) {
        free(t->sets[k / DERIVE_SETS][k % DERIVE_SETS].xi);
        free(t->sets[k / DERIVE_SETS][k % DERIVE_SETS].weights);
    }
    for (int e = 0; e < 2; ++e)
        weft_compiled_free(&t->programs[e]);
    for (int i = 0; t->result_memories && i < derive->n_quantities; ++i)
        weft_memory_free(&t->result_memories[i]);
    for (int i = 0; t->results && i < derive->n_quantities; ++i)
        free(t->results[i]);
    free(t->result_memories);
    free(t->results);
    weft_memory_free(&t->x_memory);
    weft_memory_free(&t->normal_memory);
    free(t->x);
    free(t->normal);
    free(t->measure);
    free(t->facet_cells);
    free(t->volumes);
    free(t->measures);
    free(t->shapes);
    free(t->inputs);
    free(t->sources);
    free(t->lists);
    weft_text_free(&t->text);
    weft_space_free(&t->geometry);
    weft_cell_map_clear(&t->map);
    free(t);
    derive->tabulated = NULL;
}

weft_status derive_tabulated_add_facets(weft_derive *derive, int group, int side, int64_t *n,
                                        weft_error *error) {
    weft_status status = WEFT_OK;
    struct derive_tabulated *t = derive->tabulated;
    const int64_t before = derive->parts[DERIVE_FACETS].n_elements;
    weft_space_sides sides = {0};
    for (int i = 0; i < t->n_sources; ++i) {
        if (!t->sources[i].space)
            continue;
        TRY(weft_space_one_side_make(t->sources[i].space, group, side, &sides, error));
        if (i == 0)
            TRY(derive_append(&t->facet_cells, before, sides.cells, sides.n, 1, error));
        TRY(derive_append(&t->sources[i].facet_nodes, before, sides.nodes, sides.n,
                          (size_t)sides.width, error));
        *n = sides.n;
        weft_space_sides_free(&sides);
    }
done:
    weft_space_sides_free(&sides);
    return status;
}

/* Bubbles vanish on the sides of their cells. */
bool derive_tabulated_jumps(const struct derive_tabulated *t, int list) {
    for (int i = 1; i < t->n_sources; ++i) {
        const weft_space *space = t->sources[i].space;
        if (t->sources[i].list != list)
            continue;
        if (!space)
            return true;
        if (!weft_family_about(weft_space_element(space)->family)->is_continuous)
            return true;
    }
    return false;
}

static weft_status tabulate(weft_derive *derive, derive_source *source, derive_elements elements,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    if (!source->space)
        goto done;
    const weft_element *element = weft_space_element(source->space);
    const int d = derive->tabulated->map.d;
    for (int s = 0; s < DERIVE_SETS; ++s) {
        const derive_set_points *points = &derive->tabulated->sets[elements][s];
        double **table = &source->tables[elements][s];
        *table = weft_array_make((size_t)((1 + d) * points->n) + 1,
                                 (size_t)element->n_nodes * sizeof **table);
        if (!*table)
            TRY(weft_out_of_memory(error, "derived quantities"));
        if (points->n > 0)
            TRY(weft_element_tabulate(element, 1, points->n, points->xi, *table, error));
    }
done:
    return status;
}

static weft_status make_rows(weft_derive *derive, weft_error *error) {
    weft_status status = WEFT_OK;
    struct derive_tabulated *t = derive->tabulated;
    weft_device *device = derive->context->device;
    const int d = t->map.d;
    int64_t most = 1;
    for (int e = 0; e < 2; ++e)
        for (int s = 0; s < DERIVE_SETS; ++s) {
            const int64_t n = t->sets[e][s].n, all = n * derive->parts[e].n_elements;
            const int64_t wanted = all < ROWS ? all : ROWS / (n > 0 ? n : 1) * n;
            most = wanted > most ? wanted : most;
            most = n > most ? n : most;
        }
    t->rows = most;
    TRY(weft_vector_make(device, most * d, &t->x, &t->x_memory, error));
    TRY(weft_vector_make(device, most * d, &t->normal, &t->normal_memory, error));
    t->measure = weft_array_make((size_t)most, sizeof *t->measure);
    if (!t->measure)
        TRY(weft_out_of_memory(error, "derived quantities"));
    for (int i = 0; i < t->n_lists; ++i) {
        derive_list *list = &t->lists[i];
        TRY(weft_vector_make(device, most * list->components, &list->values, &list->values_memory,
                             error));
        TRY(weft_vector_make(device, most * list->components * d, &list->gradients,
                             &list->gradients_memory, error));
    }
done:
    return status;
}

static weft_status measure_cells(weft_derive *derive, weft_error *error) {
    weft_status status = WEFT_OK;
    struct derive_tabulated *t = derive->tabulated;
    const int64_t n_cells = t->map.mesh->n_cells;
    const int n = t->sets[DERIVE_CELLS][DERIVE_RULE].n;
    t->volumes = weft_array_make((size_t)n_cells, sizeof *t->volumes);
    t->measures = weft_array_make((size_t)n_cells, (size_t)n * sizeof *t->measures);
    if (!t->volumes || !t->measures)
        TRY(weft_out_of_memory(error, "derived quantities"));
    for (int64_t first = 0; first < n_cells; first += t->rows / n) {
        const int64_t left = n_cells - first, count = left < t->rows / n ? left : t->rows / n;
        TRY(derive_tabulated_evaluate(derive, DERIVE_CELLS, DERIVE_RULE, first, count, error));
        for (int64_t i = 0; i < count * n; ++i)
            t->volumes[first + i / n] += t->measure[i];
        memcpy(t->measures + first * n, t->measure, (size_t)(count * n) * sizeof *t->measure);
    }
done:
    return status;
}

/* The shape functions of nodal fields at the points of the rule. */
static weft_status make_shapes(weft_derive *derive, weft_error *error) {
    struct derive_tabulated *t = derive->tabulated;
    const weft_element *element = weft_space_element(derive->problem.space);
    const derive_set_points *rule = &t->sets[DERIVE_CELLS][DERIVE_RULE];
    t->shapes = weft_array_make((size_t)rule->n, (size_t)element->n_nodes * sizeof *t->shapes);
    if (!t->shapes)
        return weft_out_of_memory(error, "derived quantities");
    return weft_element_tabulate(element, 0, rule->n, rule->xi, t->shapes, error);
}

weft_status derive_tabulated_prepare(weft_derive *derive, weft_error *error) {
    weft_status status = WEFT_OK;
    struct derive_tabulated *t = derive->tabulated;
    derive->parts[DERIVE_CELLS].n_elements = t->map.mesh->n_cells;
    for (int i = 0; i < t->n_sources; ++i)
        for (int e = 0; e < 2; ++e)
            TRY(tabulate(derive, &t->sources[i], (derive_elements)e, error));
    TRY(make_rows(derive, error));
    if (derive->problem.projection != WEFT_PROJECT_NONE)
        TRY(measure_cells(derive, error));
    if (derive->problem.projection == WEFT_PROJECT_CONSISTENT)
        TRY(make_shapes(derive, error));
done:
    return status;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Values of cells are in blocks of lanes. */
static weft_status pull_cells(weft_derive *derive, derive_source *source, weft_error *error) {
    weft_status status = WEFT_OK;
    const int lanes = weft_device_limits(derive->context->device)->lanes_double;
    const int64_t n = rows_of(derive->tabulated, source);
    const int64_t padded = (n + lanes - 1) / lanes * lanes * source->components;
    double *blocks = weft_array_make((size_t)padded, sizeof *blocks);
    if (!blocks)
        TRY(weft_out_of_memory(error, "derived quantities"));
    TRY(weft_memory_read(source->memory, 0, blocks, (size_t)padded * sizeof *blocks, error));
    weft_deinterleave(blocks, n, source->components, lanes, source->values);
done:
    free(blocks);
    return status;
}

/* The values of the image of a function. */
static weft_status pull_mapped(const struct derive_tabulated *t, derive_source *source,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)weft_space_nodes(source->mapped);
    double *dofs = weft_array_make(n, sizeof *dofs);
    if (!dofs)
        TRY(weft_out_of_memory(error, "derived quantities"));
    TRY(weft_memory_read(source->memory, (size_t)source->first * sizeof *dofs, dofs,
                         n * sizeof *dofs, error));
    memset(source->values, 0,
           (size_t)(rows_of(t, source) * source->components) * sizeof *source->values);
    TRY(weft_space_interpolate(source->mapped, dofs, 1, source->image, source->values, error));
done:
    free(dofs);
    return status;
}

/* In an enriched space dofs are values at nodes, those of bubbles too: a bubble has what the other function lacks there.
 * The source that a bubble belongs to stands before it. */
static weft_status take_surplus(const struct derive_tabulated *t, int bubble, weft_error *error) {
    weft_status status = WEFT_OK;
    derive_source *s = &t->sources[bubble];
    const derive_source *base = NULL;
    double *there = NULL;
    if (!s->space || !weft_space_element(s->space)->span_vanishes)
        goto done;
    for (int i = 1; i < bubble; ++i)
        if (t->sources[i].list == s->list && t->sources[i].component == s->component)
            base = &t->sources[i];
    if (!base || !base->space)
        goto done;
    const int64_t n = rows_of(t, s) * s->components;
    there = weft_array_make((size_t)n, sizeof *there);
    if (!there)
        TRY(weft_out_of_memory(error, "derived quantities"));
    TRY(weft_space_interpolate(base->space, base->values, s->components, s->space, there, error));
    for (int64_t i = 0; i < n; ++i)
        s->values[i] -= there[i];
done:
    free(there);
    return status;
}

weft_status derive_tabulated_pull(weft_derive *derive, weft_error *error) {
    weft_status status = WEFT_OK;
    struct derive_tabulated *t = derive->tabulated;
    for (int i = 1; i < t->n_sources; ++i) {
        derive_source *s = &t->sources[i];
        if (s->mapped) {
            TRY(pull_mapped(t, s, error));
            continue;
        }
        TRY(s->space
                ? weft_memory_read(s->memory, (size_t)s->first * sizeof(double), s->values,
                                   (size_t)(rows_of(t, s) * s->components) * sizeof(double), error)
                : pull_cells(derive, s, error));
    }
    for (int i = 1; i < t->n_sources; ++i)
        TRY(take_surplus(t, i, error));
done:
    return status;
}

typedef struct evaluation {
    const struct derive_tabulated *t;
    derive_elements elements;
    derive_set set;
    int64_t first, n;
} evaluation;

static const int32_t *nodes_of(const derive_source *source, derive_elements elements,
                               int64_t element) {
    const int width = weft_space_element(source->space)->n_nodes;
    return (elements == DERIVE_CELLS ? weft_space_cell_nodes(source->space) : source->facet_nodes) +
           element * width;
}

/* Coordinates of the nodes of an element's cell. */
static void find_nodes(const struct derive_tabulated *t, derive_elements elements, int64_t element,
                       double nodes[WEFT_CELL_MAP_NUMBERS]) {
    const int32_t *numbers = nodes_of(&t->sources[0], elements, element);
    for (int k = 0; k < t->map.n_nodes; ++k)
        memcpy(nodes + k * t->map.d,
               weft_space_points(t->geometry) + (int64_t)numbers[k] * t->map.d,
               (size_t)t->map.d * sizeof *nodes);
}

/* x, the measure with the weight, the normal; at the facet the last reference coordinate is 0, and grows
 * into the cell. */
static void set_place(const evaluation *e, const double *nodes, int point, int64_t row,
                      double inverse[9]) {
    const struct derive_tabulated *t = e->t;
    const int d = t->map.d, w = t->map.n_nodes, n = t->sets[e->elements][e->set].n;
    const double *table = t->sources[0].tables[e->elements][e->set] + (int64_t)point * w;
    const double det = weft_cell_map_inverse(&t->map, table, (int64_t)n * w, nodes, inverse);
    double slope = 0;
    for (int i = 0; i < d; ++i) {
        t->x[row * d + i] = 0;
        for (int k = 0; k < w; ++k)
            t->x[row * d + i] += table[k] * nodes[k * d + i];
        slope += inverse[3 * (d - 1) + i] * inverse[3 * (d - 1) + i];
    }
    slope = sqrt(slope);
    t->measure[row] = t->sets[e->elements][e->set].weights[point] * det *
                      (e->elements == DERIVE_FACETS ? slope : 1);
    for (int i = 0; i < d && e->elements == DERIVE_FACETS; ++i)
        t->normal[row * d + i] = -inverse[3 * (d - 1) + i] / slope;
}

/* Add the values and gradients of a source. */
static void add_source(const evaluation *e, const derive_source *source, const int32_t *nodes,
                       int point, int64_t row, const double inverse[9]) {
    const derive_list *list = &e->t->lists[source->list];
    const int d = e->t->map.d, c = source->components;
    const int w = weft_space_element(source->space)->n_nodes;
    const int64_t stride = (int64_t)e->t->sets[e->elements][e->set].n * w;
    const double *table = source->tables[e->elements][e->set] + (int64_t)point * w;
    const int last = list->reads_gradients[e->elements] ? d : 0;
    if (!list->reads_values[e->elements] && last == 0)
        return;
    for (int k = 0; k < c; ++k) {
        double sums[4] = {0};
        const int64_t at = row * list->components + source->component + k;
        for (int j = 0; j < w; ++j) {
            const double u = source->values[(int64_t)nodes[j] * c + k];
            for (int a = 0; a <= last; ++a)
                sums[a] += table[a * stride + j] * u;
        }
        list->values[at] += sums[0];
        for (int i = 0; i < d && last > 0; ++i)
            for (int a = 0; a < d; ++a)
                list->gradients[at * d + i] += inverse[3 * a + i] * sums[1 + a];
    }
}

static void add_constant(const evaluation *e, const derive_source *source, int64_t element,
                         int64_t row) {
    const derive_list *list = &e->t->lists[source->list];
    const int64_t cell = e->elements == DERIVE_CELLS ? element : e->t->facet_cells[element];
    for (int k = 0; k < source->components; ++k)
        list->values[row * list->components + source->component + k] +=
            source->values[cell * source->components + k];
}

static void evaluate_chunk(void *user, int64_t chunk) {
    const evaluation *e = user;
    const struct derive_tabulated *t = e->t;
    const int n = t->sets[e->elements][e->set].n;
    double nodes[WEFT_CELL_MAP_NUMBERS], inverse[9];
    for (int64_t i = chunk * CHUNK; i < e->n && i < (chunk + 1) * CHUNK; ++i) {
        find_nodes(t, e->elements, e->first + i, nodes);
        for (int p = 0; p < n; ++p) {
            const int64_t row = i * n + p;
            set_place(e, nodes, p, row, inverse);
            for (int k = 0; k < t->n_lists; ++k) {
                const int c = t->lists[k].components;
                memset(t->lists[k].values + row * c, 0, (size_t)c * sizeof(double));
                memset(t->lists[k].gradients + row * c * t->map.d, 0,
                       (size_t)(c * t->map.d) * sizeof(double));
            }
            for (int k = 1; k < t->n_sources; ++k)
                if (t->sources[k].space)
                    add_source(e, &t->sources[k],
                               nodes_of(&t->sources[k], e->elements, e->first + i), p, row,
                               inverse);
                else
                    add_constant(e, &t->sources[k], e->first + i, row);
        }
    }
}

weft_status derive_tabulated_evaluate(weft_derive *derive, derive_elements elements, derive_set set,
                                      int64_t first, int64_t n, weft_error *error) {
    evaluation e = {derive->tabulated, elements, set, first, n};
    return weft_device_for(derive->context->device, (n + CHUNK - 1) / CHUNK, evaluate_chunk, &e,
                           error);
}

void derive_tabulated_place(const weft_derive *derive, derive_elements elements, derive_set set,
                            int64_t element, int point, double out[3]) {
    const struct derive_tabulated *t = derive->tabulated;
    const int d = t->map.d, w = t->map.n_nodes;
    const double *table = t->sources[0].tables[elements][set] + (int64_t)point * w;
    double nodes[WEFT_CELL_MAP_NUMBERS];
    find_nodes(t, elements, element, nodes);
    for (int i = 0; i < d; ++i) {
        out[i] = 0;
        for (int k = 0; k < w; ++k)
            out[i] += table[k] * nodes[k * d + i];
    }
}
