/* Elements of vectors whose tangential or normal components are continuous: Nedelec's of both kinds, Raviart and
 * Thomas's, and Brezzi, Douglas and Marini's. */
#include "fem/element/moments.h"

enum { SIMPLICES = 1 << WEFT_TRIANGLE | 1 << WEFT_TETRAHEDRON, DEGREE_MAX = 6 };

/* ---- tangential components ------------------------------------------------------------------- */

static weft_moments first_kind(const weft_cell *cell, int degree, int dimension) {
    (void)cell;
    return (weft_moments){.kind = dimension == 1 ? WEFT_MOMENT_TANGENT : WEFT_MOMENT_AXES,
                          .degree = degree - dimension};
}

static void first_kind_count(const weft_cell *cell, int degree, int nodes[4]) {
    weft_moments_count(cell, degree, first_kind, nodes);
}

static weft_status first_kind_make(weft_element *element, weft_error *error) {
    return weft_moments_make(element, first_kind, WEFT_COMPLETE_ROTATED, error);
}

static weft_moments second_kind(const weft_cell *cell, int degree, int dimension) {
    (void)cell;
    return dimension == 1 ? (weft_moments){.kind = WEFT_MOMENT_TANGENT, .degree = degree}
                          : (weft_moments){.kind = WEFT_MOMENT_FAMILY,
                                           .family = WEFT_RAVIART_THOMAS,
                                           .degree = degree - dimension + 1};
}

static void second_kind_count(const weft_cell *cell, int degree, int nodes[4]) {
    weft_moments_count(cell, degree, second_kind, nodes);
}

static weft_status second_kind_make(weft_element *element, weft_error *error) {
    return weft_moments_make(element, second_kind, WEFT_COMPLETE_NONE, error);
}

/* ---- normal components ------------------------------------------------------------------------ */

static weft_moments raviart_thomas(const weft_cell *cell, int degree, int dimension) {
    if (dimension < cell->dimension - 1)
        return (weft_moments){.kind = WEFT_MOMENT_NONE};
    return dimension < cell->dimension
               ? (weft_moments){.kind = WEFT_MOMENT_NORMAL, .degree = degree - 1}
               : (weft_moments){.kind = WEFT_MOMENT_AXES, .degree = degree - 2};
}

static void raviart_thomas_count(const weft_cell *cell, int degree, int nodes[4]) {
    weft_moments_count(cell, degree, raviart_thomas, nodes);
}

static weft_status raviart_thomas_make(weft_element *element, weft_error *error) {
    return weft_moments_make(element, raviart_thomas, WEFT_COMPLETE_RADIAL, error);
}

static weft_moments brezzi_douglas_marini(const weft_cell *cell, int degree, int dimension) {
    if (dimension < cell->dimension - 1)
        return (weft_moments){.kind = WEFT_MOMENT_NONE};
    return dimension < cell->dimension
               ? (weft_moments){.kind = WEFT_MOMENT_NORMAL, .degree = degree}
               : (weft_moments){
                     .kind = WEFT_MOMENT_FAMILY, .family = WEFT_NEDELEC, .degree = degree - 1};
}

static void brezzi_douglas_marini_count(const weft_cell *cell, int degree, int nodes[4]) {
    weft_moments_count(cell, degree, brezzi_douglas_marini, nodes);
}

static weft_status brezzi_douglas_marini_make(weft_element *element, weft_error *error) {
    return weft_moments_make(element, brezzi_douglas_marini, WEFT_COMPLETE_NONE, error);
}

/* ---- rows, of each family and of the same functions without dofs that cells share ---------------- */

#define NAMES(...)                                                                                 \
    .names = (const char *const[]) {                                                               \
        __VA_ARGS__, NULL                                                                          \
    }
#define COMMON(its_map, its_broken, rule)                                                          \
    .about.map = its_map, .about.broken = its_broken, .about.is_vector = true,                     \
    .about.has_degree = true, .cells = SIMPLICES, .least_degree = 1, .most_degree = DEGREE_MAX,    \
    .count = rule##_count, .make = rule##_make

const weft_family_row weft_family_nedelec = {
    .about = {.words = "Nedelec",
              .prefix = "N1curl",
              .listed = "Nedelec (N1curl, N2curl)",
              NAMES("N1curl", "N1E", "Nedelec 1st kind H(curl)")},
    COMMON(WEFT_MAP_COVARIANT, WEFT_NEDELEC_BROKEN, first_kind)};

const weft_family_row weft_family_nedelec_broken = {
    .about = {.words = "discontinuous Nedelec",
              .prefix = "DN1curl",
              NAMES("DN1curl", "Discontinuous N1curl")},
    COMMON(WEFT_MAP_COVARIANT, WEFT_NEDELEC_BROKEN, first_kind)};

const weft_family_row weft_family_nedelec_second = {
    .about = {.words = "Nedelec (second kind)",
              .prefix = "N2curl",
              NAMES("N2curl", "N2E", "Nedelec 2nd kind H(curl)")},
    COMMON(WEFT_MAP_COVARIANT, WEFT_NEDELEC_SECOND_BROKEN, second_kind)};

const weft_family_row weft_family_nedelec_second_broken = {
    .about = {.words = "discontinuous Nedelec (second kind)",
              .prefix = "DN2curl",
              NAMES("DN2curl", "Discontinuous N2curl")},
    COMMON(WEFT_MAP_COVARIANT, WEFT_NEDELEC_SECOND_BROKEN, second_kind)};

const weft_family_row weft_family_raviart_thomas = {
    .about = {.words = "Raviart-Thomas",
              .prefix = "RT",
              .listed = "Raviart-Thomas (RT)",
              NAMES("RT", "Raviart-Thomas", "RTF", "N1div", "N1F", "Nedelec 1st kind H(div)")},
    COMMON(WEFT_MAP_CONTRAVARIANT, WEFT_RAVIART_THOMAS_BROKEN, raviart_thomas)};

const weft_family_row weft_family_raviart_thomas_broken = {
    .about = {.words = "discontinuous Raviart-Thomas",
              .prefix = "DRT",
              NAMES("DRT", "Discontinuous RT", "Discontinuous Raviart-Thomas")},
    COMMON(WEFT_MAP_CONTRAVARIANT, WEFT_RAVIART_THOMAS_BROKEN, raviart_thomas)};

const weft_family_row weft_family_brezzi_douglas_marini = {
    .about = {.words = "Brezzi-Douglas-Marini",
              .prefix = "BDM",
              .listed = "Brezzi-Douglas-Marini (BDM)",
              NAMES("BDM", "Brezzi-Douglas-Marini", "BDMF", "N2div", "N2F",
                    "Nedelec 2nd kind H(div)")},
    COMMON(WEFT_MAP_CONTRAVARIANT, WEFT_BREZZI_DOUGLAS_MARINI_BROKEN, brezzi_douglas_marini)};

const weft_family_row weft_family_brezzi_douglas_marini_broken = {
    .about = {.words = "discontinuous Brezzi-Douglas-Marini",
              .prefix = "DBDM",
              NAMES("DBDM", "Discontinuous BDM", "Discontinuous Brezzi-Douglas-Marini")},
    COMMON(WEFT_MAP_CONTRAVARIANT, WEFT_BREZZI_DOUGLAS_MARINI_BROKEN, brezzi_douglas_marini)};
