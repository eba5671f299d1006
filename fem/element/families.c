/* The table of families: a row for each that Weft has, and the names of those that it does not have. */
#include "fem/element/family.h"

#include <string.h>

extern const weft_family_row weft_family_lagrange, weft_family_discontinuous, weft_family_bubble,
    weft_family_quadrature, weft_family_real, weft_family_crouzeix_raviart, weft_family_nedelec,
    weft_family_nedelec_second, weft_family_raviart_thomas, weft_family_brezzi_douglas_marini,
    weft_family_nedelec_broken, weft_family_nedelec_second_broken,
    weft_family_raviart_thomas_broken, weft_family_brezzi_douglas_marini_broken;

static const weft_family_row *const rows[] = {
    [WEFT_LAGRANGE] = &weft_family_lagrange,
    [WEFT_DISCONTINUOUS] = &weft_family_discontinuous,
    [WEFT_BUBBLE] = &weft_family_bubble,
    [WEFT_QUADRATURE] = &weft_family_quadrature,
    [WEFT_REAL] = &weft_family_real,
    [WEFT_CROUZEIX_RAVIART] = &weft_family_crouzeix_raviart,
    [WEFT_NEDELEC] = &weft_family_nedelec,
    [WEFT_NEDELEC_SECOND] = &weft_family_nedelec_second,
    [WEFT_RAVIART_THOMAS] = &weft_family_raviart_thomas,
    [WEFT_BREZZI_DOUGLAS_MARINI] = &weft_family_brezzi_douglas_marini,
    [WEFT_NEDELEC_BROKEN] = &weft_family_nedelec_broken,
    [WEFT_NEDELEC_SECOND_BROKEN] = &weft_family_nedelec_second_broken,
    [WEFT_RAVIART_THOMAS_BROKEN] = &weft_family_raviart_thomas_broken,
    [WEFT_BREZZI_DOUGLAS_MARINI_BROKEN] = &weft_family_brezzi_douglas_marini_broken,
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

#define NAMES(...)                                                                                 \
    .names = (const char *const[]) {                                                               \
        __VA_ARGS__, NULL                                                                          \
    }

/* Families of UFL and Basix that Weft does not have. */
static const weft_family_info foreign[] = {
    {.words = "Brezzi-Douglas-Fortin-Marini", NAMES("BDFM")},
    {.words = "Regge", NAMES("Regge")},
    {.words = "Hellan-Herrmann-Johnson", NAMES("HHJ", "Hellan-Herrmann-Johnson")},
    {.words = "Gopalakrishnan-Lederer-Schoeberl", NAMES("GLS")},
    {.words = "Hermite", NAMES("Hermite", "HER")},
    {.words = "Argyris", NAMES("Argyris", "ARG")},
    {.words = "Morley", NAMES("Morley", "MOR")},
    {.words = "Mardal-Tai-Winther", NAMES("MTW")},
    {.words = "Arnold-Winther", NAMES("AW", "Arnold-Winther")},
    {.words = "DPC", NAMES("DPC")},
    {.words = "serendipity", NAMES("S", "serendipity", "Serendipity")},
    {.words = "Bernstein", NAMES("Bernstein")},
    {.words = "trace", NAMES("HDiv Trace", "HDivT")},
    {.words = "boundary quadrature", NAMES("Boundary Quadrature", "BQ")},
    {.words = "iso", NAMES("iso")},
    {.words = "'P Lambda' (exterior calculus)", NAMES("P Lambda")},
    {.words = "'P- Lambda' (exterior calculus)", NAMES("P- Lambda")},
    {.words = "'Q Lambda' (exterior calculus)", NAMES("Q Lambda")},
    {.words = "'S Lambda' (exterior calculus)", NAMES("S Lambda")},
    {.words = "RTCE", NAMES("RTCE")},
    {.words = "RTCF", NAMES("RTCF")},
    {.words = "NCE", NAMES("NCE")},
    {.words = "NCF", NAMES("NCF")},
};
enum { N_FOREIGN = sizeof foreign / sizeof foreign[0] };

const weft_family_row *weft_family_row_of(weft_family family) {
    return family >= 0 && family < N_ROWS ? rows[family] : NULL;
}

const weft_family_info *weft_family_about(weft_family family) {
    if (family < 0 || family >= N_ROWS + N_FOREIGN)
        return NULL;
    return family < N_ROWS ? &rows[family]->about : &foreign[family - N_ROWS];
}

int weft_family_count(bool all) {
    return all ? N_ROWS + N_FOREIGN : N_ROWS;
}

bool weft_family_find(const char *name, weft_family *out) {
    for (int family = 0; family < N_ROWS; ++family)
        for (const char *const *own = rows[family]->about.names; *own; ++own)
            if (strcmp(*own, name) == 0) {
                *out = family;
                return true;
            }
    return false;
}

bool weft_family_degrees(weft_family family, weft_cell_type cell, int *least, int *most) {
    const weft_family_row *row = weft_family_row_of(family);
    if (!row || !(row->cells >> cell & 1))
        return false;
    *least = row->least_degree_on ? row->least_degree_on(weft_cell_of(cell)) : row->least_degree;
    *most = row->most_degree;
    return true;
}
