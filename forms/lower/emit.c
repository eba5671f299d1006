/* Writes the function of an integral: the text of its body, its signature and its tables. */
#include "forms/lower/emit.h"

#include "core/base/fault.h"

#include <stdio.h>
#include <string.h>

/* Operations of a body without loops: compilers take minutes for more. */
enum { OPERATIONS_MAX = 6000, FLOPS_MAX = 1000000000, KEPT_BASES = 32 };

/* ---- the scalars of a body ---- */

/* The factors become factor * |det J| or the like. */
static bool scale_terms(ufl_lowering *l, const ufl_terms *terms) {
    const int scale = l->collects ? ufl_scalar_number(&l->scalars, 1) : ufl_weight_scale(l);
    for (int t = 0; t < terms->n; ++t) {
        terms->list[t].factor =
            l->collects ? ufl_scale_collected(l, scale, terms->list[t].factor)
                        : ufl_scalar_multiply(&l->scalars, scale, terms->list[t].factor);
        if (terms->list[t].factor < 0)
            return false;
    }
    return true;
}

static bool all_constant(const ufl_lowering *l, const ufl_terms *terms) {
    for (int t = 0; t < terms->n; ++t)
        if (!l->scalars.list[terms->list[t].factor].constant)
            return false;
    return true;
}

/* Of a reference tensor, at most: a product for each entry of each term's block. */
static long count_operations(ufl_emitter *e, const ufl_terms *terms) {
    long sum = 0;
    for (int t = 0; t < terms->n; ++t) {
        long block = 1;
        for (int k = 0; k < 2; ++k)
            if (terms->list[t].basis[k] >= 0) {
                const ufl_element_table *table =
                    ufl_emit_table(e, e->l->bases[terms->list[t].basis[k]].part.scalar,
                                   e->l->bases[terms->list[t].basis[k]].side);
                block *= table ? table->n_functions : 1;
            }
        sum += block;
    }
    return sum;
}

bool ufl_emit_prepare(ufl_emitter *e, const ufl_terms *terms) {
    const size_t n = (size_t)e->l->scalars.n + 1;
    e->uses = ufl_alloc(e->l->context, n, sizeof *e->uses);
    e->declared = ufl_alloc(e->l->context, n, sizeof *e->declared);
    e->depths = ufl_alloc(e->l->context, n, sizeof *e->depths);
    if (!e->uses || !e->declared || !e->depths)
        return false;
    for (int t = 0; t < terms->n; ++t)
        ufl_emit_count_uses(e, terms->list[t].factor);
    return true;
}
/* ---- the whole function ---- */

/* The points of a rule in the cell, or those of a facet's rule mapped to the cell. */
static double *map_points(ufl_emitter *e, const weft_quadrature *rule, const weft_cell *cell,
                          int side) {
    const int d = cell->dimension, facet = e->l->facets[side];
    int v[8] = {0};
    double *points = ufl_alloc(e->l->context, (size_t)(rule->n * d), sizeof *points);
    if (facet >= 0)
        weft_cell_entity(cell, d - 1, facet, v);
    if (side == 1 && d == 3 && !cell->simplex && weft_fault("facet_permuted")) {
        const int swapped = v[1];
        v[1] = v[2];
        v[2] = swapped;
    }
    for (int p = 0; points && p < rule->n; ++p)
        for (int c = 0; c < d; ++c) {
            double x = facet < 0 ? rule->points[p * d + c] : cell->vertices[v[0]][c];
            for (int k = 0; facet >= 0 && k < d - 1; ++k)
                x += rule->points[p * (d - 1) + k] *
                     (cell->vertices[v[k + 1]][c] - cell->vertices[v[0]][c]);
            points[p * d + c] = x;
        }
    return points;
}

/* Points and weights on the cell, or on facets mapped to their cells.
 * own  a quadrature element whose points they are, or NULL */
static bool make_rule(ufl_emitter *e, const ufl_integral *integral, int degree,
                      const ufl_element *own) {
    const weft_cell *cell = weft_cell_of(ufl_weft_cell(e->l->mesh->cell));
    weft_quadrature rule = {0};
    weft_error error = {0};
    const weft_status status = own ? ufl_element_rule(own, &rule, &error)
                                   : ufl_rule_make(integral->type, e->l->mesh,
                                                   integral->metadata.rule, degree, &rule, &error);
    if (status != WEFT_OK) {
        e->l->context->place = integral->place;
        ufl_fail(e->l->context, status, "%s", error.message);
        return false;
    }
    e->n_points = rule.n;
    e->weights = ufl_alloc(e->l->context, (size_t)rule.n, sizeof *e->weights);
    for (int side = 0; side < e->l->n_sides; ++side) {
        e->points[side] = map_points(e, &rule, cell, side);
        if (!e->points[side])
            e->weights = NULL;
    }
    if (e->weights)
        memcpy(e->weights, rule.weights, (size_t)rule.n * sizeof *e->weights);
    weft_quadrature_free(&rule);
    return e->weights != NULL;
}

static bool make_arguments(ufl_emitter *e, ufl_lowered *out) {
    ufl_lowering *l = e->l;
    const int n = 2 + l->n_coefficients + l->n_constants;
    ufl_function_argument *list = ufl_alloc(l->context, (size_t)n, sizeof *list);
    if (!list)
        return false;
    const ufl_element *coordinates = l->mesh->coordinates->sub[0];
    list[out->n_arguments++] =
        (ufl_function_argument){"X", NULL, l->n_sides * coordinates->n_dofs, l->mesh->gdim};
    if (e->product)
        list[out->n_arguments++] = (ufl_function_argument){
            "v", out->vector, out->sizes[0] / (out->columns > 0 ? out->columns : 1), out->columns};
    for (int i = 0; i < l->n_coefficients; ++i) {
        const ufl_element *element = l->coefficients[i]->space->element;
        const int columns = ufl_emit_columns(element);
        const int dofs = l->n_sides * element->n_dofs;
        list[out->n_arguments++] =
            (ufl_function_argument){ufl_print(l->context, "w%d", i), l->coefficients[i],
                                    columns > 0 ? dofs / columns
                                    : dofs == 1 ? 0
                                                : dofs,
                                    columns};
    }
    for (int i = 0; i < l->n_constants; ++i) {
        int components = l->constants[i]->rank > 0;
        for (int k = 0; k < l->constants[i]->rank; ++k)
            components *= l->constants[i]->shape[k];
        list[out->n_arguments++] = (ufl_function_argument){ufl_print(l->context, "c%d", i),
                                                           l->constants[i], components, 0};
    }
    out->arguments = list;
    return true;
}

static void write_type(int rows, int columns, weft_text *out) {
    if (rows == 0)
        weft_text_add(out, "real");
    else if (columns == 0)
        weft_text_add(out, "real[%d]", rows);
    else
        weft_text_add(out, "real[%d,%d]", rows, columns);
}

/* Affine cells are seen by differences of their vertices, unless coordinates are used. */
static bool ignores_place(const ufl_lowering *l) {
    for (int i = 0; i < l->scalars.n; ++i)
        if (l->scalars.list[i].type == SCALAR_COORDINATE)
            return false;
    return l->mesh->affine;
}

void ufl_emit_argument(const ufl_function_argument *argument, weft_text *out) {
    weft_text_add(out, "%s: ", argument->name);
    write_type(argument->rows, argument->columns, out);
}

void ufl_emit_lines(const ufl_emitter *e, const ufl_lowered *lowered, bool reads_place,
                    weft_text *out) {
    /* integers of kernel files go up to FLOPS_MAX */
    const long flops = e->flops < 1 ? 1 : e->flops > FLOPS_MAX ? FLOPS_MAX : e->flops;
    weft_text_add(out, "//@ kind      map\n//@ flops     %ld\n", flops);
    for (int i = 0; i < e->n_tables; ++i) {
        const ufl_function_table *table = &e->tables[i];
        weft_text_add(out, "//@ table     %s: real[%d", table->name, table->sizes[0]);
        for (int k = 1; k < table->rank; ++k)
            weft_text_add(out, ",%d", table->sizes[k]);
        weft_text_add(out, "] = %s_table(%d)\n", lowered->name, i);
    }
    if (reads_place && ignores_place(e->l))
        weft_text_add(out, "//@ shift     X\n");
    if (e->product && e->ignores_constants)
        weft_text_add(out, "//@ shift     v\n");
    weft_text_add(
        out, "//@ source    integral over %s, degree %d, %d points%s\n",
        e->l->facets[0] < 0 ? "the cell" : "a facet", lowered->degree, lowered->n_points,
        lowered->representation == UFL_REFERENCE_TENSOR ? ", summed when this was generated" : "");
}

static const char *write_function(ufl_emitter *e, const ufl_lowered *lowered) {
    weft_text text = {0};
    weft_text_add(&text, "//@ function  %s(", lowered->name);
    for (int i = 0; i < lowered->n_arguments; ++i) {
        weft_text_add(&text, i ? ", " : "");
        ufl_emit_argument(&lowered->arguments[i], &text);
    }
    weft_text_add(&text, ") -> A: ");
    if (lowered->columns > 0)
        write_type(lowered->sizes[0] / lowered->columns, lowered->columns, &text);
    else
        write_type(lowered->rank > 0 ? lowered->sizes[0] : 0,
                   lowered->rank > 1 ? lowered->sizes[1] : 0, &text);
    weft_text_add(&text, "\n");
    ufl_emit_lines(e, lowered, true, &text);
    weft_text_add(&text, "//@ threads   1\n%s", e->body.data ? e->body.data : "");
    char *kept = NULL;
    if (text.failed || e->body.failed)
        ufl_fail(e->l->context, WEFT_ERROR_MEMORY, "out of memory");
    else
        kept = ufl_copy(e->l->context, text.data, text.length);
    weft_text_free(&text);
    return kept;
}

static bool finish(ufl_emitter *e, ufl_lowered *out) {
    ufl_lowering *l = e->l;
    ufl_function_table *tables = ufl_alloc(l->context, (size_t)e->n_tables + 1, sizeof *tables);
    if (!tables)
        return false;
    memcpy(tables, e->tables, (size_t)e->n_tables * sizeof *tables);
    out->tables = tables;
    out->n_tables = e->n_tables;
    if (out->n_stages > 0)
        return true;
    out->flops = e->flops;
    out->text = write_function(e, out);
    return out->text != NULL;
}

/* Gradients of the trial function are transformed to physical coordinates and fluxes back, instead of the form's tensor to
 * reference coordinates, where that takes fewer operations: for constant gradients, and for vectors, whose
 * tensors have many entries. */
static bool keeps_gradients(const ufl_lowering *l, const ufl_element *element) {
    return l->mesh->affine && l->mesh->gdim == l->mesh->tdim &&
           (element->kind == UFL_BLOCKED || ufl_element_has_constant_gradients(element));
}

/* The same in rows of matrices of vectors on cells whose Jacobian varies, whose factors at the points would be as many as
 * entries of the tensor. */
static bool rows_keep_gradients(const ufl_lowering *l, const ufl_lowered *out,
                                const ufl_element *element) {
    return out->rank == 2 && !l->mesh->affine && l->mesh->gdim == l->mesh->tdim &&
           l->facets[0] < 0 && element->kind == UFL_BLOCKED && ufl_stages_are_worth(out);
}

static bool make_adjugate(ufl_emitter *e) {
    const int d = e->l->mesh->tdim;
    bool made = true;
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) {
            e->adjugate[i][j] = ufl_jacobian_adjugate(e->l, i, j);
            made = made && e->adjugate[i][j] >= 0;
        }
    return made;
}

/* Each is used by more than one sum. */
static void use_adjugate(ufl_emitter *e) {
    for (int k = 0; k < 2 * 9; ++k)
        if (k / 2 / 3 < e->l->mesh->tdim && k / 2 % 3 < e->l->mesh->tdim)
            ufl_emit_count_uses(e, e->adjugate[k / 2 / 3][k / 2 % 3]);
}

/* A function of rank 1 with the argument v. */
static bool lower_product(ufl_emitter *e, ufl_lowered *out, const ufl_node *const *arguments,
                          const ufl_terms *terms) {
    ufl_terms parts;
    const ufl_rule rule = out->integral->metadata.rule;
    if (out->rank != 2 || arguments[0]->space != arguments[1]->space || !e->l->mesh->affine ||
        (rule != UFL_RULE_DEFAULT && rule != UFL_RULE_GAUSS_JACOBI))
        return ufl_fail(e->l->context, WEFT_ERROR_UNSUPPORTED,
                        "a product without the matrix of this integral");
    const int *polynomials = ufl_product_split(e->l, terms, &parts);
    if (!polynomials)
        return false;
    e->results = arguments[0]->space->element;
    out->rank = 1;
    out->columns = e->columns = ufl_emit_columns(e->results);
    out->n_points = e->n_points;
    out->representation = UFL_REFERENCE_TENSOR;
    if ((e->l->keeps_gradients && !make_adjugate(e)) || !ufl_emit_prepare(e, &parts))
        return false;
    if (e->l->keeps_gradients)
        use_adjugate(e);
    return make_arguments(e, out) && ufl_emit_product(e, &parts, polynomials, out->degree) &&
           finish(e, out);
}

/* By reference tensors where factors are constant and these are small; large matrices in stages; else by a loop. */
static bool lower_tensor(ufl_emitter *e, ufl_lowered *out, const ufl_terms *terms) {
    const bool constant = all_constant(e->l, terms);
    const bool few = count_operations(e, terms) <= OPERATIONS_MAX;
    const ufl_terms none = {0, NULL};
    bool made = constant && few, staged = false;
    out->n_points = e->n_points;
    out->representation = UFL_REFERENCE_TENSOR;
    if (!make_arguments(e, out) || !ufl_emit_prepare(e, made ? &none : terms) ||
        (made && !ufl_emit_tensor(e, terms, out->rank, out->sizes)) ||
        (constant && !few && out->rank == 2 && !ufl_emit_reference(e, terms, out->sizes, &made)))
        return false;
    if (made)
        return true;
    out->representation = UFL_QUADRATURE_LOOP;
    if (out->rank == 2 && !ufl_emit_stages(e, terms, out, &staged))
        return false;
    /* stages that were not worth it have added scalars */
    return staged || (ufl_emit_prepare(e, terms) && ufl_emit_loop(e, terms, out->rank, out->sizes));
}

/* A function of rank 1. */
static bool lower_diagonal(ufl_emitter *e, ufl_lowered *out, const ufl_node *const *arguments,
                           ufl_terms *terms) {
    const ufl_terms none = {0, NULL};
    if (out->rank != 2 || arguments[0]->space != arguments[1]->space || e->l->n_sides > 1)
        return ufl_fail(e->l->context, WEFT_ERROR_UNSUPPORTED,
                        "the diagonal without the matrix of this integral");
    e->results = arguments[0]->space->element;
    out->rank = 1;
    out->columns = e->columns = ufl_emit_columns(e->results);
    out->n_points = e->n_points;
    out->representation = UFL_QUADRATURE_LOOP;
    return make_arguments(e, out) && ufl_emit_prepare(e, &none) &&
           ufl_emit_diagonal(e, terms, out->sizes[0]) && finish(e, out);
}

static bool lower(ufl_emitter *e, ufl_lowered *out, const ufl_element *points) {
    ufl_lowering *l = e->l;
    const ufl_terms *terms = NULL;
    const ufl_node **arguments = NULL;
    const ufl_node *integrand = out->integral->integrand;
    out->rank = ufl_terminals(l->graph, &integrand, 1, UFL_ARGUMENT, &arguments);
    if (out->rank > 2)
        ufl_fail(l->context, WEFT_ERROR_UNSUPPORTED, "a form with more than two arguments");
    if (out->rank < 0 || out->rank > 2)
        return false;
    /* a form of a trial function alone has rank 1, too */
    for (int i = 0; i < out->rank; ++i) {
        l->numbers[i] = arguments[i]->detail;
        out->sizes[i] = l->n_sides * arguments[i]->space->element->n_dofs;
    }
    if (out->rank == 1) {
        e->results = arguments[0]->space->element;
        out->columns = e->columns = ufl_emit_columns(e->results);
    }
    if (!make_rule(e, out->integral, out->degree, points))
        return false;
    l->collects = e->product && l->mesh->affine && l->mesh->gdim == l->mesh->tdim;
    const ufl_element *element = out->rank == 2 ? arguments[0]->space->element : NULL;
    l->keeps_gradients =
        out->rank == 2 && !e->diagonal &&
        (e->product ? keeps_gradients(l, element) : rows_keep_gradients(l, out, element));
    terms = ufl_factor(l, integrand);
    if (!terms)
        return false;
    if (l->keeps_gradients && !e->product && (l->order > 1 || l->n_bases > KEPT_BASES)) {
        l->keeps_gradients = false; /* second derivatives are by reference coordinates */
        l->memo = NULL;
        l->n_bases = 0;
        terms = ufl_factor(l, integrand);
        if (!terms)
            return false;
    }
    /* shared lists are not written to */
    ufl_terms own = {terms->n, ufl_alloc(l->context, (size_t)terms->n + 1, sizeof *own.list)};
    if (!own.list)
        return false;
    memcpy(own.list, terms->list, (size_t)terms->n * sizeof *own.list);
    if (!scale_terms(l, &own))
        return false;
    if (e->product && points)
        return ufl_fail(l->context, WEFT_ERROR_UNSUPPORTED,
                        "a product without the matrix with points of an element");
    if (e->product)
        return lower_product(e, out, arguments, &own);
    if (e->diagonal)
        return lower_diagonal(e, out, arguments, &own);
    return lower_tensor(e, out, &own) && finish(e, out);
}

static const ufl_lowered *lower_as(ufl_graph *graph, const ufl_prepared *form, int number,
                                   const char *name, const int *facets, const ufl_node *vector,
                                   bool diagonal) {
    const ufl_integral *integral = &form->form.integrals[number];
    const bool interior = integral->type == UFL_INTERIOR_FACET;
    ufl_context *context = graph->context;
    ufl_lowering l = ufl_lowering_of(graph, integral, facets);
    ufl_emitter e = {.l = &l, .indent = "", .product = vector != NULL, .diagonal = diagonal};
    ufl_lowered *out = ufl_alloc(context, 1, sizeof *out);
    if (!out)
        return NULL;
    *out = (ufl_lowered){.name = name,
                         .integral = integral,
                         .facets = {l.facets[0], l.facets[1]},
                         .vector = vector,
                         .degree = form->degrees[number]};
    context->place = integral->place;
    if ((integral->type == UFL_CELL) != !facets ||
        (integral->type != UFL_CELL && integral->type != UFL_EXTERIOR_FACET && !interior))
        return ufl_fail(context, WEFT_ERROR_UNSUPPORTED, "integrals over %s are not compiled",
                        ufl_measure_name(integral->type));
    if (form->points[number] && integral->type != UFL_CELL)
        return ufl_fail(context, WEFT_ERROR_UNSUPPORTED, "integrals over facets with %s",
                        form->points[number]->name);
    const bool made = lower(&e, out, form->points[number]);
    weft_text_free(&e.body);
    return made ? out : NULL;
}

const ufl_lowered *ufl_lower_integral(ufl_graph *graph, const ufl_prepared *form, int number,
                                      const char *name, const int *facets) {
    return lower_as(graph, form, number, name, facets, NULL, false);
}

const ufl_lowered *ufl_lower_diagonal(ufl_graph *graph, const ufl_prepared *form, int number,
                                      const char *name, const int *facets) {
    return lower_as(graph, form, number, name, facets, NULL, true);
}

const ufl_lowered *ufl_lower_product(ufl_graph *graph, const ufl_prepared *form, int number,
                                     const char *name, const ufl_node *vector) {
    return lower_as(graph, form, number, name, NULL, vector, false);
}

/* The number of terms of component k with itself, or -1: they are not those of component 0. */
static int count_component(const ufl_lowering *l, const ufl_terms *terms, int k) {
    int n = 0;
    for (int t = 0; t < terms->n; ++t) {
        const ufl_term *term = &terms->list[t];
        const ufl_basis *test = &l->bases[term->basis[0]], *trial = &l->bases[term->basis[1]];
        bool found = false;
        if (test->part.first != trial->part.first)
            return -1;
        if (test->part.first != k)
            continue;
        ++n;
        for (int u = 0; u < terms->n && !found; ++u) {
            const ufl_term *other = &terms->list[u];
            const ufl_basis *a = &l->bases[other->basis[0]], *b = &l->bases[other->basis[1]];
            found = a->part.first == 0 && a->derivative == test->derivative &&
                    b->derivative == trial->derivative && other->factor == term->factor;
        }
        if (!found)
            return -1;
    }
    return n;
}

bool ufl_is_uncoupled(ufl_graph *graph, const ufl_prepared *form, int number) {
    const ufl_integral *integral = &form->form.integrals[number];
    ufl_lowering l = ufl_lowering_of(graph, integral, NULL);
    if (integral->type != UFL_CELL || form->n_arguments != 2 ||
        ufl_emit_columns(form->arguments[0]->space->element) < 2)
        return false;
    const ufl_terms *terms = ufl_factor(&l, integral->integrand);
    const int components = ufl_emit_columns(form->arguments[0]->space->element);
    bool uncoupled = terms != NULL;
    for (int k = 0; k < components && uncoupled; ++k)
        uncoupled = count_component(&l, terms, k) == count_component(&l, terms, 0);
    return uncoupled && count_component(&l, terms, 0) > 0;
}

/* ---- tables for the library ---- */

static weft_status copy_table(void *user, const int *arguments, int n_arguments, weft_arena *arena,
                              weft_table *out, weft_error *error) {
    const ufl_lowered *lowered = user;
    if (n_arguments != 1 || arguments[0] < 0 || arguments[0] >= lowered->n_tables)
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "%s has no such table", lowered->name);
    const ufl_function_table *table = &lowered->tables[arguments[0]];
    size_t n = 1;
    out->rank = table->rank;
    for (int k = 0; k < table->rank; ++k) {
        out->sizes[k] = table->sizes[k];
        n *= (size_t)table->sizes[k];
    }
    out->values = weft_arena_alloc(arena, n, sizeof *out->values);
    if (!out->values)
        return weft_out_of_memory(error, "a table");
    memcpy(out->values, table->values, n * sizeof *out->values);
    return WEFT_OK;
}

weft_status ufl_lowered_add(const ufl_lowered *const *lowered, int n, weft_library *library,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < n; ++i) {
        char name[200];
        if (lowered[i]->n_tables > 0) {
            snprintf(name, sizeof name, "%s_table", lowered[i]->name);
            TRY(weft_library_add_table(library, name, 1, copy_table, (void *)lowered[i], error));
        }
        TRY(weft_library_add_text(library, lowered[i]->name, lowered[i]->text, error));
    }
done:
    return status;
}
