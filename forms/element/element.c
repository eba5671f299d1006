/* Makes the descriptors of finite elements, meshes and function spaces. */
#include "forms/element/element.h"

#include "core/base/fault.h"

#include <stdio.h>
#include <string.h>

/* Families that Weft has, by every name that form files use. */
static const struct {
    const char *name;
    ufl_family family;
    bool discontinuous;
} families[] = {
    {"P", UFL_LAGRANGE, false},
    {"CG", UFL_LAGRANGE, false},
    {"Lagrange", UFL_LAGRANGE, false},
    {"Q", UFL_LAGRANGE, false},
    {"DG", UFL_LAGRANGE, true},
    {"DP", UFL_LAGRANGE, true},
    {"DQ", UFL_LAGRANGE, true},
    {"Discontinuous Lagrange", UFL_LAGRANGE, true},
    {"Discontinuous P", UFL_LAGRANGE, true},
    {"R", UFL_REAL, false},
    {"Real", UFL_REAL, false},
    {"B", UFL_BUBBLE, false},
    {"Bubble", UFL_BUBBLE, false},
    {"bubble", UFL_BUBBLE, false},
    {"Quadrature", UFL_QUADRATURE, true},
    {"Quad", UFL_QUADRATURE, true},
};
enum { N_FAMILIES = sizeof families / sizeof families[0] };

/* Families of UFL and Basix that Weft does not have. */
static const struct {
    const char *name, *words;
} foreign[] = {
    {"RT", "Raviart-Thomas"},
    {"Raviart-Thomas", "Raviart-Thomas"},
    {"DRT", "discontinuous Raviart-Thomas"},
    {"Discontinuous RT", "discontinuous Raviart-Thomas"},
    {"Discontinuous Raviart-Thomas", "discontinuous Raviart-Thomas"},
    {"RTF", "Raviart-Thomas"},
    {"BDM", "Brezzi-Douglas-Marini"},
    {"Brezzi-Douglas-Marini", "Brezzi-Douglas-Marini"},
    {"DBDM", "discontinuous Brezzi-Douglas-Marini"},
    {"BDFM", "Brezzi-Douglas-Fortin-Marini"},
    {"N1curl", "Nedelec"},
    {"N1E", "Nedelec"},
    {"N1F", "Nedelec"},
    {"N1div", "Nedelec"},
    {"N2curl", "Nedelec"},
    {"N2E", "Nedelec"},
    {"N2F", "Nedelec"},
    {"N2div", "Nedelec"},
    {"Nedelec 1st kind H(curl)", "Nedelec"},
    {"Nedelec 2nd kind H(curl)", "Nedelec"},
    {"Nedelec 1st kind H(div)", "Nedelec"},
    {"Nedelec 2nd kind H(div)", "Nedelec"},
    {"Regge", "Regge"},
    {"HHJ", "Hellan-Herrmann-Johnson"},
    {"Hellan-Herrmann-Johnson", "Hellan-Herrmann-Johnson"},
    {"GLS", "Gopalakrishnan-Lederer-Schoeberl"},
    {"CR", "Crouzeix-Raviart"},
    {"Crouzeix-Raviart", "Crouzeix-Raviart"},
    {"Hermite", "Hermite"},
    {"HER", "Hermite"},
    {"Argyris", "Argyris"},
    {"ARG", "Argyris"},
    {"Morley", "Morley"},
    {"MOR", "Morley"},
    {"MTW", "Mardal-Tai-Winther"},
    {"AW", "Arnold-Winther"},
    {"Arnold-Winther", "Arnold-Winther"},
    {"DPC", "DPC"},
    {"S", "serendipity"},
    {"serendipity", "serendipity"},
    {"Serendipity", "serendipity"},
    {"Bernstein", "Bernstein"},
    {"HDiv Trace", "trace"},
    {"HDivT", "trace"},
    {"Boundary Quadrature", "boundary quadrature"},
    {"BQ", "boundary quadrature"},
    {"iso", "iso"},
    {"P Lambda", "'P Lambda' (exterior calculus)"},
    {"P- Lambda", "'P- Lambda' (exterior calculus)"},
    {"Q Lambda", "'Q Lambda' (exterior calculus)"},
    {"S Lambda", "'S Lambda' (exterior calculus)"},
    {"RTCE", "RTCE"},
    {"RTCF", "RTCF"},
    {"NCE", "NCE"},
    {"NCF", "NCF"},
};
enum { N_FOREIGN = sizeof foreign / sizeof foreign[0], DEGREE_MAX = 8, QUADRATURE_MAX = 100 };

static void refuse_family(ufl_context *context, const char *name) {
    for (int i = 0; i < N_FOREIGN; ++i)
        if (strcmp(foreign[i].name, name) == 0) {
            ufl_fail(context, WEFT_ERROR_UNSUPPORTED, "%s elements are not supported",
                     foreign[i].words);
            ufl_hint(context, "Weft has Lagrange (P, Q), discontinuous Lagrange (DG), Real, Bubble "
                              "and Quadrature elements, and vectors, tensors and mixed elements of "
                              "these");
            return;
        }
    const char *names[N_FAMILIES + N_FOREIGN];
    for (int i = 0; i < N_FAMILIES; ++i)
        names[i] = families[i].name;
    for (int i = 0; i < N_FOREIGN; ++i)
        names[N_FAMILIES + i] = foreign[i].name;
    const char *nearest = weft_nearest_name(name, names, N_FAMILIES + N_FOREIGN);
    ufl_fail(context, WEFT_ERROR_TYPE, "there is no family of elements '%.100s'", name);
    if (nearest)
        ufl_hint(context, "did you mean '%s'?", nearest);
    else
        ufl_hint(context, "Weft has P (also CG, Lagrange, Q), DG, Real, Bubble and Quadrature");
}

/* Return the element that equals *made, which is added where it is new. */
static const ufl_element *keep(ufl_elements *elements, const ufl_element *made) {
    if (!made->name)
        return NULL;
    for (int i = 0; i < elements->n_elements; ++i)
        if (strcmp(elements->elements[i]->name, made->name) == 0)
            return elements->elements[i];
    ufl_element *kept = ufl_alloc(elements->context, 1, sizeof *kept);
    const ufl_element **grown = ufl_room(elements->context, elements->elements,
                                         (size_t)elements->n_elements, sizeof *grown);
    if (!kept || !grown)
        return NULL;
    *kept = *made;
    elements->elements = grown;
    grown[elements->n_elements++] = kept;
    return kept;
}

/* dim P_k of a simplex or Q_k: of degree -1 and below it is 0. */
static int polynomials(ufl_cell_type cell, int degree) {
    int d = ufl_cell_dimension(cell), n = 1;
    for (int i = 1; i <= d; ++i)
        n = ufl_cell_is_simplex(cell) ? n * (degree + i) / i : n * (degree + 1);
    return degree < 0 ? 0 : n;
}

/* Bubbles vanish on the boundary: the remaining factor has this degree. */
static int bubble_rest(ufl_cell_type cell, int degree) {
    return degree - (ufl_cell_is_simplex(cell) ? ufl_cell_dimension(cell) + 1 : 2);
}

const ufl_element *ufl_element_make(ufl_elements *elements, const char *family, ufl_cell_type cell,
                                    int degree, bool discontinuous) {
    ufl_context *context = elements->context;
    int row = 0;
    while (row < N_FAMILIES && strcmp(families[row].name, family) != 0)
        ++row;
    if (row == N_FAMILIES) {
        refuse_family(context, family);
        return NULL;
    }
    ufl_element made = {.family = families[row].family,
                        .cell = cell,
                        .degree = degree,
                        .superdegree = degree,
                        .discontinuous = families[row].discontinuous || discontinuous,
                        .value_size = 1,
                        .block_size = 1};
    const char *name = ufl_cell_name(cell);
    switch (made.family) {
    case UFL_REAL:
        made.degree = made.superdegree = 0;
        made.n_dofs = 1;
        made.name = ufl_print(context, "Real %s", name);
        break;
    case UFL_BUBBLE:
        if (bubble_rest(cell, degree) < 0 || degree > DEGREE_MAX)
            return ufl_fail(context, WEFT_ERROR_TYPE,
                            "a bubble on the %s has degree %d to %d, this one %d", name,
                            degree - bubble_rest(cell, degree), DEGREE_MAX, degree);
        made.n_dofs = polynomials(cell, bubble_rest(cell, degree));
        made.name = ufl_print(context, "Bubble%d %s", degree, name);
        break;
    case UFL_QUADRATURE:
        return ufl_element_quadrature(elements, cell, degree, "default");
    default:
        if (degree < 0 || degree > DEGREE_MAX)
            return ufl_fail(context, WEFT_ERROR_UNSUPPORTED,
                            "elements have degree 0 to %d, this one %d", DEGREE_MAX, degree);
        if (degree == 0 && !made.discontinuous) {
            ufl_fail(context, WEFT_ERROR_TYPE,
                     "a continuous Lagrange element has degree 1 or more");
            return ufl_hint(context, "write \"DG\" for values that are constant on each cell");
        }
        made.n_dofs = polynomials(cell, degree);
        made.name = ufl_print(context, "%s%d %s", made.discontinuous ? "DG" : "P", degree, name);
    }
    return keep(elements, &made);
}

weft_family ufl_weft_family(const ufl_element *scalar) {
    static const weft_family known[] = {[UFL_LAGRANGE] = WEFT_LAGRANGE,
                                        [UFL_BUBBLE] = WEFT_BUBBLE,
                                        [UFL_REAL] = WEFT_REAL,
                                        [UFL_QUADRATURE] = WEFT_QUADRATURE};
    if (scalar->family == UFL_LAGRANGE && (scalar->discontinuous || scalar->degree == 0))
        return WEFT_DISCONTINUOUS;
    return known[scalar->family];
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
        "there is no quadrature rule '%.100s': Weft has default, gauss_jacobi, GLL "
        "and vertex",
        element->scheme);
}

const ufl_element *ufl_element_quadrature(ufl_elements *elements, ufl_cell_type cell, int degree,
                                          const char *scheme) {
    if (degree < 0 || degree > QUADRATURE_MAX)
        return ufl_fail(elements->context, WEFT_ERROR_TYPE,
                        "a quadrature element has degree 0 to %d, this one %d", QUADRATURE_MAX,
                        degree);
    ufl_element made = {.family = UFL_QUADRATURE,
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
                 "a vector or tensor element is made of a scalar element, "
                 "this one has shape %s",
                 ufl_shape_text(sub->shape, sub->rank, text, sizeof text));
        return ufl_hint(context, "write a mixed element of the parts");
    }
    if (symmetric && (rank != 2 || shape[0] != shape[1]))
        return ufl_fail(context, WEFT_ERROR_TYPE,
                        "a symmetric element has a square shape, this one %s",
                        ufl_shape_text(shape, rank, text, sizeof text));
    ufl_element made = {.family = UFL_BLOCKED,
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
                        "an element is combined from 1 to 100 others, "
                        "not %d",
                        n);
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
    ufl_element made = {.family = UFL_MIXED, .rank = 1};
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
    ufl_element made = {.family = UFL_ENRICHED, .value_size = 1};
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
    if (element->family == UFL_QUADRATURE)
        return element;
    const ufl_element *found = NULL;
    for (int i = 0; i < element->n_sub && !found; ++i)
        found = ufl_element_find_quadrature(element->sub[i]);
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
    if (coordinates->family != UFL_BLOCKED || coordinates->rank != 1 ||
        coordinates->sub[0]->family != UFL_LAGRANGE || coordinates->sub[0]->discontinuous ||
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
    mesh->affine = ufl_cell_is_simplex(mesh->cell) && coordinates->degree == 1;
    if (mesh->gdim < mesh->tdim)
        return ufl_fail(context, WEFT_ERROR_TYPE, "a %s has at least %d coordinates, not %d",
                        ufl_cell_name(mesh->cell), mesh->tdim, mesh->gdim);
    ufl_mesh **grown =
        ufl_room(context, elements->meshes, (size_t)elements->n_meshes, sizeof *grown);
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
                        "meshes of vertices are not "
                        "supported");
    const ufl_element *scalar = ufl_element_make(elements, "P", cell, 1, false);
    const ufl_element *coordinates = ufl_element_blocked(elements, scalar, &gdim, 1, false);
    ufl_mesh *mesh = mesh_make(elements, coordinates);
    ufl_mesh **grown =
        ufl_room(elements->context, elements->legacy, (size_t)elements->n_legacy, sizeof *grown);
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
    if (mesh->cell != element->cell)
        return ufl_fail(elements->context, WEFT_ERROR_TYPE,
                        "an element of the %s on a mesh of %ss is not a function space",
                        ufl_cell_name(element->cell), ufl_cell_name(mesh->cell));
    ufl_space *space = ufl_alloc(elements->context, 1, sizeof *space);
    const ufl_space **grown =
        ufl_room(elements->context, elements->spaces, (size_t)elements->n_spaces, sizeof *grown);
    if (!space || !grown)
        return NULL;
    space->mesh = mesh;
    space->element = element;
    elements->spaces = grown;
    grown[elements->n_spaces++] = space;
    return space;
}
