/* Makes the descriptors of finite elements, meshes and function spaces. */
#include "forms/element/element.h"

#include "core/base/fault.h"

#include <stdio.h>
#include <string.h>

/* Families of vectors are listed where their row says so. */
static bool is_listed(weft_family family) {
    const weft_family_info *about = weft_family_about(family);
    return !about->is_vector || about->listed;
}

/* "Lagrange (P, Q), Real and Bubble": those with polynomials of all degrees first, then those with one dof for all cells. */
static const char *list_families(ufl_context *context) {
    const char *text = "", *between = "";
    int left = 0;
    for (weft_family family = 0; family < weft_family_count(false); ++family)
        left += is_listed(family);
    for (int order = 0; order < 3; ++order)
        for (weft_family family = 0; family < weft_family_count(false) && text; ++family) {
            const weft_family_info *about = weft_family_about(family);
            if (!is_listed(family) || order != (about->is_lattice ? 0 : about->is_global ? 1 : 2))
                continue;
            text = ufl_print(context, "%s%s%s", text, between,
                             about->listed ? about->listed : about->prefix);
            between = --left > 1 ? ", " : " and ";
        }
    return text ? text : "";
}

/* A family that the table knows by name alone, or not at all. */
static void refuse_family(ufl_context *context, const char *name) {
    enum { NAMES_MAX = 200 };
    const char *names[NAMES_MAX];
    int n = 0;
    for (weft_family family = 0; family < weft_family_count(true); ++family) {
        const weft_family_info *about = weft_family_about(family);
        for (const char *const *own = about->names; *own && n < NAMES_MAX; ++own) {
            names[n++] = *own;
            if (strcmp(*own, name) == 0) {
                ufl_fail(context, WEFT_ERROR_UNSUPPORTED, "%s elements are not supported",
                         about->words);
                ufl_hint(context,
                         "Weft has %s elements, and vectors, tensors and mixed elements of these",
                         list_families(context));
                return;
            }
        }
    }
    const char *nearest = weft_nearest_name(name, names, (size_t)n);
    ufl_fail(context, WEFT_ERROR_TYPE, "there is no family of elements '%.100s'", name);
    if (nearest)
        ufl_hint(context, "did you mean '%s'?", nearest);
    else
        ufl_hint(context, "Weft has %s", list_families(context));
}

/* Return the element that equals *made, which is added where it is new. */
static const ufl_element *keep(ufl_elements *elements, const ufl_element *made) {
    if (!made->name)
        return NULL;
    for (int i = 0; i < elements->n_elements; ++i)
        if (strcmp(elements->elements[i]->name, made->name) == 0)
            return elements->elements[i];
    ufl_element *kept = ufl_alloc(elements->context, 1, sizeof *kept);
    const ufl_element **grown = ufl_grow(elements->context, elements->elements,
                                         (size_t)elements->n_elements, sizeof *grown);
    if (!kept || !grown)
        return NULL;
    *kept = *made;
    elements->elements = grown;
    grown[elements->n_elements++] = kept;
    return kept;
}

const weft_family_info *ufl_element_about(const ufl_element *element) {
    static const weft_family_info none = {0};
    return element->kind == UFL_SIMPLE ? weft_family_about(element->family) : &none;
}

bool ufl_element_is_lattice(const ufl_element *element) {
    return ufl_element_about(element)->is_lattice && !element->tensor_order;
}

bool ufl_element_is_constant(const ufl_element *element) {
    const weft_family_info *about = ufl_element_about(element);
    return element->kind == UFL_SIMPLE && element->degree == 0 && !about->is_global &&
           !about->at_points;
}

bool ufl_element_has_constant_gradients(const ufl_element *element) {
    return ufl_cell_is_simplex(element->cell) && element->superdegree <= 1 &&
           !ufl_element_find_quadrature(element);
}

/* Returns whether the family has the degree on the cell, else an error. */
static bool check_degree(ufl_context *context, weft_family family, ufl_cell_type cell, int degree) {
    const weft_family_info *about = weft_family_about(family);
    const weft_cell_type type = ufl_weft_cell(cell);
    int least = 0, most = 0, other = 0, end = 0;
    if (!weft_family_degrees(family, type, &least, &most)) {
        ufl_fail(context, WEFT_ERROR_UNSUPPORTED, "there are no %s elements of the %s",
                 about->words, ufl_cell_name(cell));
        return false;
    }
    if (!about->has_degree || (degree >= least && degree <= most))
        return true;
    if (degree == 0 && about->broken != family &&
        weft_family_degrees(about->broken, type, &other, &end) && other == 0) {
        ufl_fail(context, WEFT_ERROR_TYPE, "a continuous %s element has degree %d or more",
                 about->words, least);
        ufl_hint(context, "write \"%s\" for values that are constant on each cell",
                 weft_family_about(about->broken)->prefix);
        return false;
    }
    ufl_fail(context, WEFT_ERROR_UNSUPPORTED,
             "%s elements of the %s have degree %d to %d, this one %d", about->words,
             ufl_cell_name(cell), least, most, degree);
    return false;
}

/* An element of vectors, with its components. */
static const ufl_element *keep_vector(ufl_elements *elements, ufl_element *made) {
    const int d = ufl_cell_dimension(made->cell);
    const ufl_element **components = ufl_alloc(elements->context, (size_t)d, sizeof *components);
    for (int k = 0; components && k < d; ++k) {
        ufl_element one = *made;
        one.component = k + 1;
        one.name = ufl_print(elements->context, "component %d of %s", k, made->name);
        components[k] = keep(elements, &one);
        if (!components[k])
            return NULL;
    }
    made->rank = 1;
    made->shape[0] = made->value_size = d;
    made->components = components;
    return components ? keep(elements, made) : NULL;
}

const ufl_element *ufl_element_make(ufl_elements *elements, const char *family, ufl_cell_type cell,
                                    int degree, bool discontinuous) {
    ufl_context *context = elements->context;
    weft_family found = WEFT_FAMILY_NONE;
    if (!weft_family_find(family, &found)) {
        refuse_family(context, family);
        return NULL;
    }
    const weft_family_info *about = weft_family_about(found);
    if (discontinuous && about->broken == WEFT_FAMILY_NONE)
        return ufl_fail(context, WEFT_ERROR_UNSUPPORTED, "there are no discontinuous %s elements",
                        about->words);
    if (discontinuous) {
        found = about->broken;
        about = weft_family_about(found);
    }
    if (!check_degree(context, found, cell, degree))
        return NULL;
    if (about->at_points)
        return ufl_element_quadrature(elements, cell, degree, "default");
    degree = about->has_degree ? degree : 0;
    const char *name = ufl_cell_name(cell);
    ufl_element made = {.family = found,
                        .cell = cell,
                        .degree = degree,
                        .superdegree = degree,
                        .discontinuous = !about->is_continuous,
                        .value_size = 1,
                        .block_size = 1,
                        .n_dofs = weft_family_functions(found, ufl_weft_cell(cell), degree),
                        .name = about->has_degree
                                    ? ufl_print(context, "%s%d %s", about->prefix, degree, name)
                                    : ufl_print(context, "%s %s", about->prefix, name)};
    return about->is_vector ? keep_vector(elements, &made) : keep(elements, &made);
}

weft_status ufl_element_rule(const ufl_element *element, weft_quadrature *out, weft_error *error) {
    static const struct {
        const char *name;
        weft_scheme scheme;
    } schemes[] = {{"default", WEFT_SCHEME_DEFAULT}, /* as Basix, up to degree 5 on triangles */
                   {"canonical", WEFT_SCHEME_DEFAULT}, {"gauss_jacobi", WEFT_SCHEME_GAUSS_JACOBI},
                   {"GJ", WEFT_SCHEME_GAUSS_JACOBI},   {"Gauss-Jacobi", WEFT_SCHEME_GAUSS_JACOBI},
                   {"GLL", WEFT_SCHEME_GLL},           {"gll", WEFT_SCHEME_GLL},
                   {"vertex", WEFT_SCHEME_VERTEX}};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; ++i)
        if (strcmp(schemes[i].name, element->scheme) == 0)
            return weft_quadrature_make(ufl_weft_cell(element->cell), schemes[i].scheme,
                                        element->degree, out, error);
    return weft_error_set(
        error, WEFT_ERROR_UNSUPPORTED,
        "there is no quadrature rule '%.100s': Weft has default, gauss_jacobi, GLL and vertex",
        element->scheme);
}

const ufl_element *ufl_element_quadrature(ufl_elements *elements, ufl_cell_type cell, int degree,
                                          const char *scheme) {
    if (degree < 0 || degree > WEFT_QUADRATURE_DEGREE_MAX)
        return ufl_fail(elements->context, WEFT_ERROR_TYPE,
                        "a quadrature element has degree 0 to %d, this one %d",
                        WEFT_QUADRATURE_DEGREE_MAX, degree);
    ufl_element made = {.family = WEFT_QUADRATURE,
                        .cell = cell,
                        .degree = degree,
                        .superdegree = degree,
                        .discontinuous = true,
                        .scheme = scheme,
                        .value_size = 1,
                        .block_size = 1};
    weft_quadrature rule = {0};
    weft_error error = {0};
    const weft_status status = ufl_element_rule(&made, &rule, &error);
    if (status != WEFT_OK)
        return ufl_fail(elements->context, status, "%s", error.message);
    made.n_dofs = rule.n;
    weft_quadrature_free(&rule);
    made.name =
        ufl_print(elements->context, "Quadrature%d %s (%s)", degree, ufl_cell_name(cell), scheme);
    return keep(elements, &made);
}

const ufl_element *ufl_element_tensor_order(ufl_elements *elements, const ufl_element *element) {
    if (!element)
        return NULL;
    ufl_element made = *element;
    made.tensor_order = true;
    made.name = ufl_print(elements->context, "%s (lexicographic)", element->name);
    return keep(elements, &made);
}

const ufl_element *ufl_element_blocked(ufl_elements *elements, const ufl_element *sub,
                                       const int *shape, int rank, bool symmetric) {
    ufl_context *context = elements->context;
    char text[128];
    if (!sub)
        return NULL;
    if (sub->rank > 0) {
        ufl_fail(context, WEFT_ERROR_TYPE,
                 "a vector or tensor element is made of a scalar element, this one has shape %s",
                 ufl_shape_text(sub->shape, sub->rank, text, sizeof text));
        return ufl_hint(context, "write a mixed element of the parts");
    }
    if (symmetric && (rank != 2 || shape[0] != shape[1]))
        return ufl_fail(context, WEFT_ERROR_TYPE,
                        "a symmetric element has a square shape, this one %s",
                        ufl_shape_text(shape, rank, text, sizeof text));
    ufl_element made = {.kind = UFL_BLOCKED,
                        .cell = sub->cell,
                        .degree = sub->degree,
                        .superdegree = sub->superdegree,
                        .discontinuous = sub->discontinuous,
                        .symmetric = symmetric,
                        .n_sub = 1,
                        .rank = rank,
                        .value_size = 1};
    if (rank < 1 || rank > 4)
        return ufl_fail(context, WEFT_ERROR_TYPE, "the shape of an element has 1 to 4 axes, not %d",
                        rank);
    for (int i = 0; i < rank; ++i) {
        if (shape[i] < 1 || shape[i] > 100)
            return ufl_fail(context, WEFT_ERROR_TYPE, "the shape %s is not one of an element",
                            ufl_shape_text(shape, rank, text, sizeof text));
        made.shape[i] = shape[i];
        made.value_size *= shape[i];
    }
    made.block_size = symmetric ? shape[0] * (shape[0] + 1) / 2 : made.value_size;
    if (made.value_size > 1000)
        return ufl_fail(context, WEFT_ERROR_TYPE, "an element has at most 1000 components, not %d",
                        made.value_size);
    made.n_dofs = sub->n_dofs * made.block_size;
    const ufl_element **subs = ufl_alloc(context, 1, sizeof *subs);
    if (!subs)
        return NULL;
    subs[0] = sub;
    made.sub = subs;
    made.name = ufl_print(context, "%s%s x %s", symmetric ? "symmetric " : "",
                          ufl_shape_text(shape, rank, text, sizeof text), sub->name);
    return keep(elements, &made);
}

/* Names of the parts, separated by `between`. */
static const char *join(ufl_context *context, const ufl_element *const *sub, int n,
                        const char *between) {
    char *text = ufl_copy(context, "", 0);
    for (int i = 0; i < n && text; ++i)
        text = ufl_print(context, "%s%s%s", text, i ? between : "", sub[i]->name);
    return text;
}

static const ufl_element *combine(ufl_elements *elements, ufl_element *made,
                                  const ufl_element *const *sub, int n) {
    ufl_context *context = elements->context;
    if (n < 1 || n > 100)
        return ufl_fail(context, WEFT_ERROR_TYPE,
                        "an element is combined from 1 to 100 others, not %d", n);
    const ufl_element **copy = ufl_alloc(context, (size_t)n, sizeof *copy);
    if (!copy)
        return NULL;
    made->cell = sub[0]->cell;
    for (int i = 0; i < n; ++i) {
        if (sub[i]->cell != made->cell)
            return ufl_fail(context, WEFT_ERROR_TYPE,
                            "the parts of an element are on one cell, not on a %s and a %s",
                            ufl_cell_name(made->cell), ufl_cell_name(sub[i]->cell));
        copy[i] = sub[i];
        made->degree = made->degree < sub[i]->degree ? sub[i]->degree : made->degree;
        made->superdegree =
            made->superdegree < sub[i]->superdegree ? sub[i]->superdegree : made->superdegree;
        made->n_dofs = made->n_dofs + sub[i]->n_dofs;
    }
    made->sub = copy;
    made->n_sub = n;
    made->block_size = 1;
    return keep(elements, made);
}

const ufl_element *ufl_element_mixed(ufl_elements *elements, const ufl_element *const *sub, int n) {
    ufl_element made = {.kind = UFL_MIXED, .rank = 1};
    for (int i = 0; i < n; ++i) {
        made.value_size += sub[i]->value_size;
        made.discontinuous = sub[i]->discontinuous && (i == 0 || made.discontinuous);
    }
    made.shape[0] = made.value_size;
    made.name = ufl_print(elements->context, "[%s]", join(elements->context, sub, n, ", "));
    return combine(elements, &made, sub, n);
}

const ufl_element *ufl_element_enriched(ufl_elements *elements, const ufl_element *const *sub,
                                        int n) {
    ufl_element made = {.kind = UFL_ENRICHED, .value_size = 1};
    for (int i = 0; i < n; ++i) {
        if (sub[i]->rank > 0) {
            ufl_fail(elements->context, WEFT_ERROR_UNSUPPORTED,
                     "enriched elements are made of scalar elements");
            return ufl_hint(elements->context, "enrich the scalar element and make a vector of the "
                                               "result: VectorElement(P1 + B)");
        }
        made.discontinuous = sub[i]->discontinuous && (i == 0 || made.discontinuous);
    }
    made.name = ufl_print(elements->context, "(%s)", join(elements->context, sub, n, " + "));
    return combine(elements, &made, sub, n);
}

const ufl_element *ufl_element_find_quadrature(const ufl_element *element) {
    if (ufl_element_about(element)->at_points)
        return element;
    const ufl_element *found = NULL;
    for (int i = 0; i < element->n_sub && !found; ++i)
        found = ufl_element_find_quadrature(element->sub[i]);
    return found;
}

const ufl_element *ufl_element_vector(const ufl_element *element, int flat, int *component) {
    if (element->kind == UFL_MIXED)
        for (int i = 0; i < element->n_sub; flat -= element->sub[i++]->value_size)
            if (flat < element->sub[i]->value_size)
                return ufl_element_vector(element->sub[i], flat, component);
    *component = flat;
    return element->components ? element : NULL;
}

bool ufl_element_has_vectors(const ufl_element *element) {
    bool found = element->components != NULL;
    for (int i = 0; i < element->n_sub && !found; ++i)
        found = ufl_element_has_vectors(element->sub[i]);
    return found;
}

int ufl_element_block(const ufl_element *element, int flat) {
    if (!element->symmetric)
        return flat;
    const int i = flat / element->shape[0], j = flat % element->shape[0], n = element->shape[0];
    if (weft_fault("component_transposed"))
        return i < j ? i * n - i * (i + 1) / 2 + j : j * n - j * (j + 1) / 2 + i;
    return i > j ? i * (i + 1) / 2 + j
                 : j * (j + 1) / 2 + i; /* as Basix: rows of the lower triangle */
}

/* ---- meshes and spaces ---- */

static ufl_mesh *mesh_make(ufl_elements *elements, const ufl_element *coordinates) {
    ufl_context *context = elements->context;
    char text[128];
    if (!coordinates)
        return NULL;
    if (coordinates->kind != UFL_BLOCKED || coordinates->rank != 1 ||
        !ufl_element_about(coordinates->sub[0])->is_lattice || coordinates->sub[0]->discontinuous ||
        coordinates->shape[0] > 3) {
        ufl_fail(context, WEFT_ERROR_TYPE,
                 "the coordinates of a mesh are a Lagrange element of shape (1,), (2,) or (3,), "
                 "this one has shape %s",
                 ufl_shape_text(coordinates->shape, coordinates->rank, text, sizeof text));
        return ufl_hint(context,
                        "write Mesh(basix.ufl.element(\"P\", \"triangle\", 1, shape=(2,)))");
    }
    ufl_mesh *mesh = ufl_alloc(context, 1, sizeof *mesh);
    if (!mesh)
        return NULL;
    mesh->coordinates = coordinates;
    mesh->cell = coordinates->cell;
    mesh->gdim = coordinates->shape[0];
    mesh->tdim = ufl_cell_dimension(mesh->cell);
    mesh->straight = coordinates->degree == 1;
    mesh->affine = ufl_cell_is_simplex(mesh->cell) && mesh->straight;
    if (mesh->gdim < mesh->tdim)
        return ufl_fail(context, WEFT_ERROR_TYPE, "a %s has at least %d coordinates, not %d",
                        ufl_cell_name(mesh->cell), mesh->tdim, mesh->gdim);
    ufl_mesh **grown =
        ufl_grow(context, elements->meshes, (size_t)elements->n_meshes, sizeof *grown);
    if (!grown)
        return NULL;
    elements->meshes = grown;
    mesh->number = elements->n_meshes;
    grown[elements->n_meshes++] = mesh;
    return mesh;
}

const ufl_mesh *ufl_mesh_make(ufl_elements *elements, const ufl_element *coordinates) {
    return mesh_make(elements, coordinates);
}

const ufl_mesh *ufl_mesh_legacy(ufl_elements *elements, ufl_cell_type cell, int gdim) {
    for (int i = 0; i < elements->n_legacy; ++i)
        if (elements->legacy[i]->cell == cell && elements->legacy[i]->gdim == gdim)
            return elements->legacy[i];
    if (cell == UFL_VERTEX)
        return ufl_fail(elements->context, WEFT_ERROR_UNSUPPORTED,
                        "meshes of vertices are not supported");
    const ufl_element *scalar = ufl_element_make(elements, "P", cell, 1, false);
    const ufl_element *coordinates = ufl_element_blocked(elements, scalar, &gdim, 1, false);
    ufl_mesh *mesh = mesh_make(elements, coordinates);
    ufl_mesh **grown =
        ufl_grow(elements->context, elements->legacy, (size_t)elements->n_legacy, sizeof *grown);
    if (!mesh || !grown)
        return NULL;
    elements->legacy = grown;
    grown[elements->n_legacy++] = mesh;
    return mesh;
}

const ufl_space *ufl_space_make(ufl_elements *elements, const ufl_mesh *mesh,
                                const ufl_element *element) {
    if (!mesh || !element)
        return NULL;
    for (int i = 0; i < elements->n_spaces; ++i)
        if (elements->spaces[i]->mesh == mesh && elements->spaces[i]->element == element)
            return elements->spaces[i];
    if (mesh->gdim != mesh->tdim && ufl_element_has_vectors(element))
        return ufl_fail(elements->context, WEFT_ERROR_UNSUPPORTED,
                        "%s on a mesh whose points have %d coordinates", element->name, mesh->gdim);
    if (mesh->cell != element->cell)
        return ufl_fail(elements->context, WEFT_ERROR_TYPE,
                        "an element of the %s on a mesh of %ss is not a function space",
                        ufl_cell_name(element->cell), ufl_cell_name(mesh->cell));
    ufl_space *space = ufl_alloc(elements->context, 1, sizeof *space);
    const ufl_space **grown =
        ufl_grow(elements->context, elements->spaces, (size_t)elements->n_spaces, sizeof *grown);
    if (!space || !grown)
        return NULL;
    space->mesh = mesh;
    space->element = element;
    elements->spaces = grown;
    grown[elements->n_spaces++] = space;
    return space;
}
