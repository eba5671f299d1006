/* Lowers an integrand to functions at the points of quadrilaterals and hexahedra: what is interpolated, and the factors of the test
 * function and its derivatives. */
#include "forms/lower/action_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables of a line ---- */

/* Gauss points of the rule of a quadrilateral or hexahedron are those of the rule of an interval. */
static bool make_points(ufl_action_writer *w, const ufl_prepared *form, int number) {
    const ufl_integral *integral = &form->form.integrals[number];
    const ufl_mesh line = {.cell = UFL_INTERVAL};
    ufl_context *context = w->l.context;
    weft_quadrature rule = {0};
    weft_error error = {0};
    const weft_status status = ufl_rule_make(UFL_CELL, &line, integral->metadata.rule,
                                             form->degrees[number], &rule, &error);
    if (status != WEFT_OK) {
        ufl_fail(context, status, "%s", error.message);
        return false;
    }
    w->n_points = rule.n;
    w->points = ufl_alloc(context, (size_t)rule.n, sizeof *w->points);
    w->weights = ufl_alloc(context, (size_t)rule.n, sizeof *w->weights);
    bool symmetric = rule.n <= UFL_LINE_MAX;
    for (int i = 0; w->points && w->weights && i < rule.n; ++i) {
        w->points[i] = rule.points[i];
        w->weights[i] = rule.weights[i];
        symmetric = symmetric && fabs(rule.points[i] + rule.points[rule.n - 1 - i] - 1) < 1e-12;
    }
    weft_quadrature_free(&rule);
    if (!symmetric)
        ufl_fail(context, WEFT_ERROR_UNSUPPORTED,
                 "sum factorisation with %d points on a line, or points that are not symmetric",
                 w->n_points);
    return symmetric && w->points && w->weights;
}

/* The place in the element's numbering of each node of the lattice, x fastest, with the nodes of a line in ascending order. */
static int *lattice_order(ufl_action_writer *w, const weft_element *element, const int *ascending) {
    const int n = element->line->n_nodes;
    int *order = ufl_alloc(w->l.context, (size_t)element->n_nodes, sizeof *order);
    for (int i = 0; order && i < element->n_nodes; ++i) {
        int place = 0;
        for (int a = w->dimension - 1; a >= 0; --a)
            place = place * n + ascending[element->lattice[w->dimension * i + a]];
        order[place] = i;
    }
    return order;
}

static bool fill_line(ufl_action_writer *w, ufl_line *line, const weft_element *element) {
    const weft_element *nodes = element->line;
    const int n = nodes->n_nodes, q = w->n_points;
    int ascending[UFL_LINE_MAX];
    weft_error error = {0};
    double *values = ufl_alloc(w->l.context, (size_t)(2 * n * q), sizeof *values);
    line->n = n;
    line->values = ufl_alloc(w->l.context, (size_t)(n * q), sizeof *line->values);
    line->slopes = ufl_alloc(w->l.context, (size_t)(n * q), sizeof *line->slopes);
    if (!values || !line->values || !line->slopes)
        return false;
    if (weft_element_tabulate(nodes, 1, q, w->points, values, &error) != WEFT_OK) {
        ufl_fail(w->l.context, error.status, "%s", error.message);
        return false;
    }
    for (int i = 0; i < n; ++i) {
        ascending[i] = 0;
        for (int j = 0; j < n; ++j)
            ascending[i] += nodes->points[j] < nodes->points[i];
        line->nodes[ascending[i]] = nodes->points[i];
        for (int p = 0; p < q; ++p) {
            line->values[p * n + ascending[i]] = values[p * n + i];
            line->slopes[p * n + ascending[i]] = values[(q + p) * n + i];
        }
    }
    line->order = lattice_order(w, element, ascending);
    return line->order != NULL;
}

/* The tables of a Lagrange element. NULL and an error. */
static const ufl_line *find_line(ufl_action_writer *w, const ufl_element *scalar) {
    for (int i = 0; i < w->n_lines; ++i)
        if (w->lines[i].element == scalar)
            return &w->lines[i];
    if (!ufl_element_is_lattice(scalar) || scalar->cell != w->l.mesh->cell ||
        scalar->degree >= UFL_LINE_MAX || w->n_lines == WEFT_CELL_SOURCES)
        return ufl_fail(w->l.context, WEFT_ERROR_UNSUPPORTED, "sum factorisation of %s",
                        scalar->name);
    ufl_line *line = &w->lines[w->n_lines];
    weft_element *element = NULL;
    weft_error error = {0};
    const weft_status status = weft_element_make(scalar->family, ufl_weft_cell(scalar->cell),
                                                 scalar->degree, &element, &error);
    line->element = scalar;
    const bool made = status == WEFT_OK && fill_line(w, line, element);
    weft_element_free(&element);
    if (status != WEFT_OK)
        ufl_fail(w->l.context, status, "%s", error.message);
    w->n_lines += made;
    return made ? line : NULL;
}

/* ---- sources and fields ---- */

/* Append a part whose dofs are `offset` and after, unless it is there: components of symmetric tensors share parts. */
static bool add_part(ufl_action_writer *w, ufl_part part, bool interleaved, ufl_dofs *out) {
    for (int i = 0; i < out->n_parts; ++i)
        if (out->parts[i].first == part.first)
            return true;
    const ufl_line *line = find_line(w, part.scalar);
    if (!line)
        return false;
    if (out->n_parts == UFL_ACTION_FIELDS)
        return ufl_fail(w->l.context, WEFT_ERROR_UNSUPPORTED,
                        "sum factorisation with more than %d components of functions",
                        UFL_ACTION_FIELDS);
    int offset = 0;
    for (int i = 0; i < out->n_parts && !interleaved; ++i)
        offset += out->parts[i].line->element->n_dofs;
    for (int i = 0; i < part.scalar->n_dofs; ++i)
        out->order[offset + i] =
            interleaved ? line->order[i] : part.first + part.stride * line->order[i];
    out->parts[out->n_parts].first = part.first;
    out->parts[out->n_parts].line = line;
    out->parts[out->n_parts].offset = offset;
    out->parts[out->n_parts++].component = interleaved ? part.first : 0;
    return true;
}

/* The dofs of an element, as problems number them: vectors of a scalar element have nodes, others dofs. */
static bool make_dofs(ufl_action_writer *w, const ufl_element *element, ufl_dofs *out) {
    const bool interleaved = element->kind == UFL_BLOCKED && element->sub[0]->n_sub == 0;
    *out = (ufl_dofs){.n_nodes = interleaved ? element->sub[0]->n_dofs : element->n_dofs,
                      .components = interleaved ? element->block_size : 1};
    out->order = ufl_alloc(w->l.context, (size_t)out->n_nodes, sizeof *out->order);
    bool fine = out->order != NULL;
    for (int i = 0; i < element->value_size && fine; ++i) {
        ufl_part parts[UFL_PARTS_MAX];
        fine = ufl_component_parts(w->l.context, element, i, parts) == 1 &&
               add_part(w, parts[0], interleaved, out);
    }
    return fine;
}

/* What a part is called whose first dof is `first`, as a field. */
static ufl_field field_of(const ufl_dofs *dofs, int first) {
    int i = 0;
    while (i < dofs->n_parts - 1 && dofs->parts[i].first != first)
        ++i;
    return (ufl_field){.part = first,
                       .offset = dofs->parts[i].offset,
                       .component = dofs->parts[i].component,
                       .line = dofs->parts[i].line,
                       .slot = -1};
}

static const ufl_element *scalar_element(const ufl_element *element) {
    return element->kind == UFL_BLOCKED ? element->sub[0] : element;
}

static bool add_source(ufl_action_writer *w, const ufl_node *node) {
    weft_cell_kernel *kernel = &w->out->kernel;
    if (kernel->n_sources == WEFT_CELL_SOURCES)
        return ufl_fail(w->l.context, WEFT_ERROR_UNSUPPORTED,
                        "sum factorisation with more than %d coefficients and constants",
                        WEFT_CELL_SOURCES);
    const int number = kernel->n_sources++;
    weft_cell_source *source = &kernel->sources[number];
    w->out->sources[number] = node;
    *source = (weft_cell_source){.kind = WEFT_CELL_CONSTANT, .components = 1, .uniform = true};
    if (node->type == UFL_CONSTANT) {
        for (int k = 0; k < node->rank; ++k)
            source->components *= node->shape[k];
        return true;
    }
    const ufl_element *element = node->space->element, *scalar = scalar_element(element);
    if (scalar->n_dofs == 1 && node->type != UFL_ARGUMENT) {
        source->components = element->kind == UFL_BLOCKED ? element->block_size : 1;
        source->uniform = ufl_element_about(scalar)->is_global;
        return true;
    }
    ufl_dofs *dofs = ufl_alloc(w->l.context, 1, sizeof *dofs);
    w->sources[number] = dofs;
    if (!dofs || !make_dofs(w, element, dofs))
        return false;
    *source = (weft_cell_source){.kind = WEFT_CELL_NODAL,
                                 .components = dofs->components,
                                 .n_nodes = dofs->n_nodes,
                                 .order = dofs->order};
    if (node->type == UFL_ARGUMENT)
        kernel->argument = number;
    return true;
}

/* The field of a part of a source, which is added where it is new. -1 and an error. */
static int find_field(ufl_action_writer *w, int source, int part) {
    for (int i = 0; i < w->n_fields; ++i)
        if (w->fields[i].source == source && w->fields[i].part == part)
            return i;
    if (w->n_fields == UFL_ACTION_FIELDS) {
        ufl_fail(w->l.context, WEFT_ERROR_UNSUPPORTED,
                 "sum factorisation with more than %d components of functions", UFL_ACTION_FIELDS);
        return -1;
    }
    w->fields[w->n_fields] = field_of(w->sources[source], part);
    w->fields[w->n_fields].source = source;
    return w->n_fields++;
}

static bool use_leaf(ufl_action_writer *w, const ufl_scalar *s) {
    if (s->type == SCALAR_VERTEX)
        return ufl_fail(w->l.context, WEFT_ERROR_UNSUPPORTED,
                        "sizes of cells in sum factorisation");
    if (s->type == SCALAR_CURVATURE)
        return ufl_fail(w->l.context, WEFT_ERROR_UNSUPPORTED,
                        "sum factorisation of second derivatives");
    if (s->type != SCALAR_COEFFICIENT || !w->sources[s->a / 2])
        return true;
    ufl_part parts[UFL_PARTS_MAX];
    const ufl_node *node = w->l.coefficients[s->a / 2];
    if (ufl_component_parts(w->l.context, node->space->element, s->b, parts) != 1 ||
        s->c > w->dimension)
        return ufl_fail(w->l.context, WEFT_ERROR_UNSUPPORTED,
                        "sum factorisation of second derivatives");
    const int field = find_field(w, s->a / 2, parts[0].first);
    if (field >= 0 && s->c > 0)
        w->fields[field].slot = 0;
    return field >= 0;
}

/* ---- the integrand ---- */

static void count_uses(ufl_action_writer *w, int scalar, bool expanded) {
    ufl_scalar *s = &w->l.scalars.list[scalar];
    const int operands[] = {s->a, s->b, s->c, s->d};
    if (w->emitter.uses[scalar]++ > 0)
        return;
    const int n = s->type == SCALAR_DETERMINANT && expanded ? 1 : ufl_scalar_operands(s);
    for (int i = 0; i < n; ++i)
        count_uses(w, operands[i], expanded);
}

/* Use counts of all scalars. Where columns of the Jacobian are needed anyway the determinant is computed from them. */
static bool count_all(ufl_action_writer *w) {
    const size_t n = (size_t)w->l.scalars.n + 1;
    w->emitter.uses = ufl_alloc(w->l.context, n, sizeof *w->emitter.uses);
    w->emitter.declared = ufl_alloc(w->l.context, n, sizeof *w->emitter.declared);
    w->emitter.depths = ufl_alloc(w->l.context, n, sizeof *w->emitter.depths);
    if (!w->emitter.uses || !w->emitter.declared || !w->emitter.depths)
        return false;
    for (int pass = 0; pass < 2; ++pass) {
        memset(w->emitter.uses, 0, n * sizeof *w->emitter.uses);
        for (int t = 0; t < w->n_terms; ++t)
            count_uses(w, w->terms[t].factor, w->expands);
        for (int i = 0; i < w->l.scalars.n; ++i)
            w->expands |= w->emitter.uses[i] > 0 && w->l.scalars.list[i].type == SCALAR_JACOBIAN;
    }
    for (int i = 0; i < w->l.scalars.n; ++i)
        if (w->emitter.uses[i] > 0 && !use_leaf(w, &w->l.scalars.list[i]))
            return false;
    return true;
}

static bool make_terms(ufl_action_writer *w, const ufl_node *integrand) {
    ufl_lowering *l = &w->l;
    const ufl_terms *terms = ufl_factor(l, integrand);
    if (!terms)
        return false;
    w->terms = ufl_alloc(l->context, (size_t)terms->n + 1, sizeof *w->terms);
    const int weight = ufl_scalar_leaf(&l->scalars, SCALAR_WEIGHT, -1, -1, -1, false);
    for (int t = 0; w->terms && t < terms->n; ++t) {
        const ufl_basis *basis = &l->bases[terms->list[t].basis[0]];
        ufl_action_term *term = &w->terms[t];
        term->part = basis->part.first;
        term->derivative = basis->derivative;
        term->factor = ufl_scale_collected(l, weight, terms->list[t].factor);
        if (term->factor < 0)
            return false;
        if (basis->derivative > w->dimension)
            return ufl_fail(l->context, WEFT_ERROR_UNSUPPORTED,
                            "sum factorisation of second derivatives");
    }
    w->n_terms = terms->n;
    return w->terms != NULL;
}

/* Parts of the test function that have terms, and the arrays that they share with fields. */
static bool make_tests(ufl_action_writer *w) {
    for (int t = 0; t < w->n_terms; ++t) {
        int k = 0;
        while (k < w->n_tests && w->tests[k].part != w->terms[t].part)
            ++k;
        if (k == UFL_ACTION_FIELDS)
            return ufl_fail(w->l.context, WEFT_ERROR_UNSUPPORTED,
                            "sum factorisation with more than %d components", UFL_ACTION_FIELDS);
        if (k == w->n_tests)
            w->tests[w->n_tests++] = field_of(&w->test, w->terms[t].part);
        w->terms[t].test = k;
        if (w->terms[t].derivative > 0)
            w->tests[k].slot = 0;
        else
            w->tests[k].has_value = true;
    }
    ufl_field *const lists[] = {w->fields, w->tests};
    const int lengths[] = {w->n_fields, w->n_tests};
    for (int i = 0; i < 2; ++i) {
        int slots = 0;
        for (int k = 0; k < lengths[i]; ++k) {
            if (lists[i][k].slot < 0)
                continue;
            lists[i][k].slot = slots++;
            if (w->n_points < lists[i][k].line->n)
                return ufl_fail(
                    w->l.context, WEFT_ERROR_UNSUPPORTED,
                    "sum factorisation of gradients with %d points on a line of %d nodes",
                    w->n_points, lists[i][k].line->n);
        }
        if (slots > w->n_gradients)
            w->n_gradients = slots;
        if (lengths[i] > w->n_values)
            w->n_values = lengths[i];
    }
    return true;
}

static bool lower(ufl_action_writer *w, const ufl_prepared *form, int number) {
    const ufl_integral *integral = &form->form.integrals[number];
    const ufl_node **arguments = NULL;
    ufl_lowering *l = &w->l;
    const int rank = ufl_terminals(l->graph, &integral->integrand, 1, UFL_ARGUMENT, &arguments);
    if (rank < 1 || !make_points(w, form, number))
        return false;
    w->geometry = find_line(w, l->mesh->coordinates->sub[0]);
    if (!w->geometry || !make_dofs(w, arguments[0]->space->element, &w->test) ||
        !make_terms(w, integral->integrand))
        return false;
    weft_cell_kernel *kernel = &w->out->kernel;
    kernel->argument = -1;
    kernel->dimension = w->dimension;
    kernel->n_vertices = w->geometry->element->n_dofs;
    kernel->vertex_order = w->geometry->order;
    kernel->n_nodes = w->test.n_nodes;
    kernel->components = w->test.components;
    kernel->order = w->test.order;
    for (int i = 0; i < l->n_coefficients; ++i)
        if (!add_source(w, l->coefficients[i]))
            return false;
    for (int i = 0; i < l->n_constants; ++i)
        if (!add_source(w, l->constants[i]))
            return false;
    return count_all(w) && make_tests(w);
}

const ufl_cell_action *ufl_lower_action(ufl_graph *graph, const ufl_prepared *form, int number,
                                        const char *name, const weft_limits *limits,
                                        const ufl_action_shape *shape) {
    const ufl_integral *integral = &form->form.integrals[number];
    ufl_context *context = graph->context;
    ufl_action_writer *w = ufl_alloc(context, 1, sizeof *w);
    ufl_cell_action *out = ufl_alloc(context, 1, sizeof *out);
    if (!w || !out)
        return NULL;
    w->l = (ufl_lowering){.graph = graph,
                          .context = context,
                          .mesh = integral->mesh,
                          .facets = {-1, -1},
                          .n_sides = 1,
                          .acts = true,
                          .collects = true,
                          .scalars = {.context = context},
                          .determinant = {-1, -1},
                          .scale = -1};
    memset(w->l.jacobian, -1, sizeof w->l.jacobian);
    memset(w->l.inverse, -1, sizeof w->l.inverse);
    w->emitter = (ufl_emitter){.l = &w->l, .indent = "    ", .prefix = "weft_"};
    w->out = out;
    w->name = name;
    w->limits = limits;
    w->shape = shape ? *shape : (ufl_action_shape){.cells = 0};
    w->emitter.single = out->kernel.single = w->shape.single;
    context->place = integral->place;
    w->dimension = integral->mesh->tdim;
    const bool tensor =
        integral->mesh->cell == UFL_QUADRILATERAL || integral->mesh->cell == UFL_HEXAHEDRON;
    if (integral->type != UFL_CELL || !tensor || integral->mesh->gdim != w->dimension ||
        form->points[number])
        return ufl_fail(
            context, WEFT_ERROR_UNSUPPORTED,
            "sum factorisation of integrals that are not over quadrilaterals or hexahedra");
    const bool made = lower(w, form, number) && ufl_action_write(w);
    weft_text_free(&w->emitter.body);
    return made ? out : NULL;
}
