/* Cells, elements, meshes, spaces and measures, in the words of today's UFL, legacy UFL and Basix. */
#include "forms/interpret/private.h"

#include <string.h>

static ufl_elements *elements_of(const ufl_call *call) {
    return call->graph->elements;
}

/* An element with the geometric dimension of the cell that it was made on. */
static ufl_value with_gdim(const ufl_element *element, int gdim) {
    ufl_value value = ufl_of_element(element);
    value.gdim = gdim;
    return value;
}

static const ufl_element *slot_element(ufl_call *call, int slot) {
    if (call->slots[slot].kind == UFL_K_ELEMENT)
        return call->slots[slot].element;
    ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "%s expects an element, not %s",
              call->builtin->name, ufl_kind_words(call->slots[slot]));
    return NULL;
}

/* A list of elements as an array; returns their number or -1. */
static int element_list(ufl_call *call, const ufl_value *items, size_t n,
                        const ufl_element ***out) {
    *out = ufl_alloc(call->interpreter->context, n, sizeof **out);
    for (size_t i = 0; *out && i < n; ++i) {
        if (items[i].kind != UFL_K_ELEMENT) {
            ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "%s expects elements, not %s",
                      call->builtin->name, ufl_kind_words(items[i]));
            return -1;
        }
        (*out)[i] = items[i].element;
    }
    return !*out || n > 1000 ? -1 : (int)n;
}

/* ---- cells and meshes ---- */

static ufl_value cell(ufl_call *call) {
    ufl_value value = ufl_nothing();
    int64_t gdim = 0;
    if (!ufl_slot_cell(call, 0, &value) || !ufl_given(call, 1))
        return value;
    if (!ufl_slot_int(call, 1, &gdim))
        return ufl_nothing();
    if (gdim < ufl_cell_dimension((ufl_cell_type)value.integer) || gdim > 3)
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE,
                         "a %s lies in a space of dimension %d to 3, not %lld",
                         ufl_cell_name((ufl_cell_type)value.integer),
                         ufl_cell_dimension((ufl_cell_type)value.integer), (long long)gdim);
    value.gdim = (int)gdim;
    return value;
}

static ufl_value mesh(ufl_call *call) {
    if (call->slots[0].kind == UFL_K_CELL)
        return ufl_of_mesh(ufl_to_mesh(call->interpreter, call->slots[0]));
    return ufl_of_mesh(ufl_mesh_make(elements_of(call), slot_element(call, 0)));
}

static ufl_value space(ufl_call *call) {
    const ufl_mesh *made = ufl_to_mesh(call->interpreter, call->slots[0]);
    return ufl_of_space(ufl_space_make(elements_of(call), made, slot_element(call, 1)));
}

/* Measure("dx", domain, subdomain_id, metadata, subdomain_data) */
static ufl_value measure(ufl_call *call) {
    static const struct {
        const char *name;
        ufl_integral_type type;
    } types[] = {{"dx", UFL_CELL},
                 {"cell", UFL_CELL},
                 {"ds", UFL_EXTERIOR_FACET},
                 {"exterior_facet", UFL_EXTERIOR_FACET},
                 {"dS", UFL_INTERIOR_FACET},
                 {"interior_facet", UFL_INTERIOR_FACET},
                 {"dP", UFL_VERTEX_INTEGRAL},
                 {"vertex", UFL_VERTEX_INTEGRAL},
                 {"dr", UFL_RIDGE},
                 {"ridge", UFL_RIDGE}};
    enum { N_TYPES = sizeof types / sizeof types[0] };
    const char *names[N_TYPES], *name = ufl_slot_text(call, 0);
    ufl_measure *made = ufl_alloc(call->interpreter->context, 1, sizeof *made);
    int row = 0;
    if (!name || !made)
        return ufl_nothing();
    for (int i = 0; i < N_TYPES; ++i)
        names[i] = types[i].name;
    while (row < N_TYPES && strcmp(types[row].name, name) != 0)
        ++row;
    if (row == N_TYPES) {
        const char *nearest = weft_nearest_name(name, names, N_TYPES);
        ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED, "there is no measure '%.100s'", name);
        if (nearest)
            ufl_hint(call->interpreter->context, "did you mean '%s'?", nearest);
        else
            ufl_hint(call->interpreter->context, "Weft has dx, ds, dS and dP");
        return ufl_nothing();
    }
    *made = (ufl_measure){.type = types[row].type, .metadata = {.degree = -1, .others = ""}};
    const ufl_value whole = {.kind = UFL_K_MEASURE, .measure = made};
    ufl_value domain = call->slots[1], id = call->slots[2];
    static const char *const keywords[] = {"subdomain_id", "metadata", "domain"};
    const ufl_value arguments[3] = {id.kind ? id : ufl_none(),
                                    call->slots[3].kind ? call->slots[3] : ufl_none(),
                                    domain.kind ? domain : ufl_none()};
    return ufl_apply(call->interpreter, whole, arguments, 3, keywords);
}

const ufl_builtin ufl_space_builtins[] = {
    {"Cell", "cellname,geometric_dimension=", cell, 0},
    {"as_cell", "cellname", cell, 0},
    {"Mesh", "coordinate_element,ufl_id=,cargo=", mesh, 0},
    {"FunctionSpace", "mesh,element,label=", space, 0},
    {"Measure", "integral_type,domain=,subdomain_id=,metadata=,subdomain_data=", measure, 0},
    {0}};

/* ---- legacy elements ---- */

/* The scalar element of a legacy call: family, cell, degree, quadrature scheme in slots 0 to 3. */
static const ufl_element *legacy_scalar(ufl_call *call, int *gdim) {
    ufl_value cell_value = ufl_nothing();
    int64_t degree = 0;
    const char *family = ufl_slot_text(call, 0);
    if (!family)
        return NULL;
    if (!call->slots[1].kind || call->slots[1].kind == UFL_K_NONE) {
        ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "the element has no cell");
        ufl_hint(call->interpreter->context, "write %s(\"%s\", triangle, 1)", call->builtin->name,
                 family);
        return NULL;
    }
    if (!ufl_slot_cell(call, 1, &cell_value) ||
        (ufl_given(call, 2) && !ufl_slot_int(call, 2, &degree)))
        return NULL;
    ufl_cell_type type = (ufl_cell_type)cell_value.integer;
    *gdim = cell_value.gdim;
    degree = degree < -1 || degree > 1000 ? -1 : degree;
    weft_family found = WEFT_FAMILY_NONE;
    const weft_family_info *about =
        weft_family_find(family, &found) ? weft_family_about(found) : NULL;
    if (about && about->at_points && ufl_given(call, 3)) {
        const char *scheme = ufl_slot_text(call, 3);
        return scheme ? ufl_element_quadrature(elements_of(call), type, (int)degree, scheme) : NULL;
    }
    if (!ufl_given(call, 2) && (!about || about->has_degree)) {
        ufl_element_make(elements_of(call), family, type, 1, false); /* an unknown family first */
        ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "the element has no degree");
        return NULL;
    }
    return ufl_element_make(elements_of(call), family, type, (int)degree, false);
}

static ufl_value finite_element(ufl_call *call) {
    int gdim = 0;
    if (ufl_given(call, 4) || ufl_given(call, 5)) {
        const char *variant = ufl_given(call, 5) ? ufl_slot_text(call, 5) : "";
        if (variant && variant[0])
            return ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED,
                             "the variant '%.50s' of an element is not supported", variant);
    }
    const ufl_element *element = legacy_scalar(call, &gdim);
    return with_gdim(element, gdim);
}

/* VectorElement(element or family, cell, degree, quad_scheme, dim) */
static ufl_value vector_element(ufl_call *call) {
    int gdim = 0, shape[UFL_RANK_MAX], rank = 1;
    int64_t dim = 0;
    bool of_element = call->slots[0].kind == UFL_K_ELEMENT;
    const ufl_element *scalar = of_element ? call->slots[0].element : legacy_scalar(call, &gdim);
    if (!scalar)
        return ufl_nothing();
    if (of_element)
        gdim = call->slots[0].gdim ? call->slots[0].gdim : ufl_cell_dimension(scalar->cell);
    int slot = of_element && ufl_given(call, 1) ? 1 : 4;
    if (ufl_given(call, slot) && !ufl_slot_int(call, slot, &dim))
        return ufl_nothing();
    shape[0] = dim == 0 ? gdim : dim < 0 || dim > 1000 ? -1 : (int)dim;
    return with_gdim(ufl_element_blocked(elements_of(call), scalar, shape, rank, false), gdim);
}

/* TensorElement(element or family, cell, degree, quad_scheme, shape, symmetry) */
static ufl_value tensor_element(ufl_call *call) {
    int gdim = 0, shape[UFL_RANK_MAX], rank = 2;
    bool of_element = call->slots[0].kind == UFL_K_ELEMENT, symmetric = false;
    const ufl_element *scalar = of_element ? call->slots[0].element : legacy_scalar(call, &gdim);
    if (!scalar)
        return ufl_nothing();
    if (of_element)
        gdim = call->slots[0].gdim ? call->slots[0].gdim : ufl_cell_dimension(scalar->cell);
    shape[0] = shape[1] = gdim;
    if (ufl_given(call, 4))
        rank = ufl_slot_shape(call, 4, shape);
    if (rank < 0 || !ufl_truth(call->interpreter, call->slots[5].kind ? call->slots[5] : ufl_none(),
                               &symmetric))
        return ufl_nothing();
    return with_gdim(ufl_element_blocked(elements_of(call), scalar, shape, rank, symmetric), gdim);
}

/* MixedElement(a, b, ...), MixedElement([a, b]), EnrichedElement; detail 1: enriched */
static ufl_value combined_element(ufl_call *call) {
    const ufl_value *items = call->rest;
    size_t n = (size_t)call->n_rest;
    const ufl_element **list = NULL;
    if (n == 1 && items[0].kind != UFL_K_ELEMENT &&
        !ufl_iterate(call->interpreter, items[0], &items, &n))
        return ufl_nothing();
    int count = element_list(call, items, n, &list);
    if (count < 0)
        return ufl_nothing();
    return with_gdim(call->builtin->detail ? ufl_element_enriched(elements_of(call), list, count)
                                           : ufl_element_mixed(elements_of(call), list, count),
                     count > 0 ? items[0].gdim : 0);
}

static ufl_value nothing(ufl_call *call) {
    (void)call;
    return ufl_none();
}

const ufl_builtin ufl_legacy_builtins[] = {
    {"FiniteElement", "family,cell=,degree=,quad_scheme=,form_degree=,variant=", finite_element, 0},
    {"VectorElement",
     "family,cell=,degree=,quad_scheme=,dim=,form_degree=,variant=", vector_element, 0},
    {"TensorElement", "family,cell=,degree=,quad_scheme=,shape=,symmetry=,variant=", tensor_element,
     0},
    {"MixedElement", "*", combined_element, 0},
    {"EnrichedElement", "*", combined_element, 1},
    {"NodalEnrichedElement", "*", combined_element, 1},
    {"set_level", "*", nothing, 0},
    {0}};

/* ---- what form files may name but Weft does not have ---- */

static ufl_value refused(ufl_call *call) {
    return ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED, "%s is not supported",
                     call->builtin->name);
}

const ufl_builtin ufl_refused_builtins[] = {{"TensorProductElement", "*", refused, 0},
                                            {"RestrictedElement", "*", refused, 0},
                                            {"BrokenElement", "*", refused, 0},
                                            {"HDivElement", "*", refused, 0},
                                            {"HCurlElement", "*", refused, 0},
                                            {"HDiv", "*", refused, 0},
                                            {"HCurl", "*", refused, 0},
                                            {"WithMapping", "*", refused, 0},
                                            {"InteriorElement", "*", refused, 0},
                                            {"FacetElement", "*", refused, 0},
                                            {"OuterProductElement", "*", refused, 0},
                                            {"OuterProductCell", "*", refused, 0},
                                            {"TensorProductCell", "*", refused, 0},
                                            {"MixedFunctionSpace", "*", refused, 0},
                                            {"MeshSequence", "*", refused, 0},
                                            {"MeshView", "*", refused, 0},
                                            {"extract_blocks", "*", refused, 0},
                                            {"exterior_derivative", "*", refused, 0},
                                            {"ExternalOperator", "*", refused, 0},
                                            {"Interpolate", "*", refused, 0},
                                            {"interpolate", "*", refused, 0},
                                            {"Cofunction", "*", refused, 0},
                                            {"Coargument", "*", refused, 0},
                                            {"Matrix", "*", refused, 0},
                                            {"CellOrientation", "*", refused, 0},
                                            {"QuadratureWeight", "*", refused, 0},
                                            {0}};

/* ---- basix.ufl ---- */

/* element(family, cell, degree, lagrange_variant, dpc_variant, discontinuous, shape, symmetry) */
static ufl_value basix_element(ufl_call *call) {
    ufl_value cell_value = ufl_nothing();
    int64_t degree = 0;
    bool discontinuous = false, symmetric = false;
    int shape[UFL_RANK_MAX], rank = 0;
    const char *family = ufl_slot_text(call, 0);
    if (!family || !ufl_slot_cell(call, 1, &cell_value) || !ufl_slot_int(call, 2, &degree) ||
        (call->slots[5].kind && !ufl_truth(call->interpreter, call->slots[5], &discontinuous)) ||
        (call->slots[7].kind && !ufl_truth(call->interpreter, call->slots[7], &symmetric)))
        return ufl_nothing();
    const char *variant = ufl_given(call, 3) ? ufl_slot_text(call, 3) : "gll_warped";
    if (!variant)
        return ufl_nothing();
    if (strcmp(variant, "gll_warped") != 0 && strcmp(variant, "unset") != 0 && degree > 2)
        return ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED,
                         "Lagrange elements have the variant gll_warped, not %.50s", variant);
    if (ufl_given(call, 6)) {
        rank = ufl_slot_shape(call, 6, shape);
        if (rank < 0)
            return ufl_nothing();
    }
    degree = degree < -1 || degree > 1000 ? -1 : degree;
    const ufl_element *scalar = ufl_element_make(
        elements_of(call), family, (ufl_cell_type)cell_value.integer, (int)degree, discontinuous);
    return ufl_of_element(
        rank > 0 ? ufl_element_blocked(elements_of(call), scalar, shape, rank, symmetric) : scalar);
}

/* mixed_element([...]), enriched_element([...]) */
static ufl_value basix_combined(ufl_call *call) {
    const ufl_value *items = NULL;
    size_t n = 0;
    const ufl_element **list = NULL;
    if (!ufl_iterate(call->interpreter, call->slots[0], &items, &n))
        return ufl_nothing();
    int count = element_list(call, items, n, &list);
    if (count < 0)
        return ufl_nothing();
    return ufl_of_element(call->builtin->detail
                              ? ufl_element_enriched(elements_of(call), list, count)
                              : ufl_element_mixed(elements_of(call), list, count));
}

static ufl_value basix_blocked(ufl_call *call) {
    int shape[UFL_RANK_MAX];
    bool symmetric = false;
    const ufl_element *sub = slot_element(call, 0);
    int rank = sub ? ufl_slot_shape(call, 1, shape) : -1;
    if (rank < 0 ||
        (call->slots[2].kind && !ufl_truth(call->interpreter, call->slots[2], &symmetric)))
        return ufl_nothing();
    return ufl_of_element(ufl_element_blocked(elements_of(call), sub, shape, rank, symmetric));
}

/* A scalar element in the shape of slot `slot`, if that is given. */
static ufl_value shaped(ufl_call *call, const ufl_element *scalar, int slot) {
    int shape[UFL_RANK_MAX];
    int rank = ufl_given(call, slot) ? ufl_slot_shape(call, slot, shape) : 0;
    if (rank < 0)
        return ufl_nothing();
    return ufl_of_element(
        rank > 0 ? ufl_element_blocked(elements_of(call), scalar, shape, rank, false) : scalar);
}

static ufl_value basix_quadrature(ufl_call *call) {
    ufl_value cell_value = ufl_nothing();
    int64_t degree = 0;
    if (!ufl_slot_cell(call, 0, &cell_value))
        return ufl_nothing();
    if (!ufl_given(call, 3))
        return ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED,
                         "a quadrature element is given by its scheme and degree, not by points");
    const char *scheme = ufl_given(call, 2) ? ufl_slot_text(call, 2) : "default";
    if (!scheme || !ufl_slot_int(call, 3, &degree))
        return ufl_nothing();
    degree = degree < -1 || degree > 1000 ? -1 : degree;
    return shaped(call,
                  ufl_element_quadrature(elements_of(call), (ufl_cell_type)cell_value.integer,
                                         (int)degree, scheme),
                  1);
}

static ufl_value basix_real(ufl_call *call) {
    ufl_value cell_value = ufl_nothing();
    if (!ufl_slot_cell(call, 0, &cell_value))
        return ufl_nothing();
    return shaped(
        call,
        ufl_element_make(elements_of(call), "Real", (ufl_cell_type)cell_value.integer, 0, false),
        1);
}

static ufl_value basix_wrap(ufl_call *call) {
    const ufl_element *element = slot_element(call, 0);
    return ufl_of_element(element);
}

/* basix.create_tp_element(family, cell, degree, lagrange_variant) */
static ufl_value basix_create(ufl_call *call) {
    ufl_value cell_value = ufl_nothing();
    int64_t degree = 0;
    bool discontinuous = false;
    const char *family = ufl_slot_text(call, 0);
    if (!family || !ufl_slot_cell(call, 1, &cell_value) || !ufl_slot_int(call, 2, &degree) ||
        (call->slots[5].kind && !ufl_truth(call->interpreter, call->slots[5], &discontinuous)))
        return ufl_nothing();
    degree = degree < -1 || degree > 1000 ? -1 : degree;
    ufl_cell_type type = (ufl_cell_type)cell_value.integer;
    const ufl_element *element =
        ufl_element_make(elements_of(call), family, type, (int)degree, discontinuous);
    if (!element || !call->builtin->detail)
        return element ? (ufl_value){.kind = UFL_K_OPAQUE, .text = "an element of Basix"}
                       : ufl_nothing();
    if (ufl_cell_is_simplex(type) && type != UFL_INTERVAL)
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "a %s has no tensor-product element",
                         ufl_cell_name(type));
    return ufl_of_element(ufl_element_tensor_order(elements_of(call), element));
}

/* Points and weights, of which a form file makes nothing but `expressions`. */
static ufl_value basix_points(ufl_call *call) {
    ufl_value pair[2] = {{.kind = UFL_K_OPAQUE, .text = "points"},
                         {.kind = UFL_K_OPAQUE, .text = "weights"}};
    return ufl_of_items(call->interpreter, UFL_K_TUPLE, pair, 2);
}

static ufl_value basix_text(ufl_call *call) {
    const char *name = ufl_slot_text(call, 0);
    return ufl_of_text(name);
}

const ufl_builtin ufl_basix_builtins[] = {
    {"element",
     "family,cell,degree,lagrange_variant=,dpc_variant=,discontinuous=,shape=,symmetry=,"
     "dof_ordering=,dtype=",
     basix_element, 0},
    {"mixed_element", "elements", basix_combined, 0},
    {"enriched_element", "elements,map_type=", basix_combined, 1},
    {"blocked_element", "element,shape,symmetry=", basix_blocked, 0},
    {"quadrature_element", "cell,value_shape=,scheme=,degree=,points=,weights=", basix_quadrature,
     0},
    {"real_element", "cell,value_shape=", basix_real, 0},
    {"wrap_element", "element", basix_wrap, 0},
    {0}};

const ufl_builtin ufl_tp_builtins[] = {
    {"create_tp_element",
     "family,cell,degree,lagrange_variant=,dpc_variant=,discontinuous=,dtype=", basix_create, 1},
    {"create_element",
     "family,cell,degree,lagrange_variant=,dpc_variant=,discontinuous=,dof_ordering=,dtype=",
     basix_create, 0},
    {"make_quadrature", "cell,degree,rule=,polyset_type=", basix_points, 0},
    {"string_to_type", "name", basix_text, 0},
    {"string_to_family", "name,cell=", basix_text, 0},
    {0}};

/* ---- the module utils of UFL's own demos ---- */

static ufl_value utils_lagrange(ufl_call *call) {
    ufl_value cell_value = ufl_nothing();
    int64_t degree = 0;
    int shape_slot = call->builtin->detail ? 3 : 2, cell_slot = call->builtin->detail ? 1 : 0;
    const char *family = call->builtin->detail ? ufl_slot_text(call, 0) : "P";
    if (!family || !ufl_slot_cell(call, cell_slot, &cell_value) ||
        !ufl_slot_int(call, cell_slot + 1, &degree))
        return ufl_nothing();
    if (strncmp(family, "vector ", 7) == 0)
        family += 7;
    degree = degree < -1 || degree > 1000 ? -1 : degree;
    return shaped(call,
                  ufl_element_make(elements_of(call), family, (ufl_cell_type)cell_value.integer,
                                   (int)degree, false),
                  shape_slot);
}

const ufl_builtin ufl_utils_builtins[] = {
    {"LagrangeElement", "cell,degree,shape=", utils_lagrange, 0},
    {"FiniteElement", "family,cell,degree,shape=,pullback=,sobolev_space=", utils_lagrange, 1},
    {"MixedElement", "elements", basix_combined, 0},
    {"SymmetricElement", "*", refused, 0},
    {0}};
