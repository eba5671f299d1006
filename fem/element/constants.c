/* The constant 1 with one dof for the whole mesh. */
#include "fem/element/family.h"

static void count(const weft_cell *cell, int degree, int nodes[4]) {
    (void)degree;
    nodes[cell->dimension] = 1;
}

static weft_status make(weft_element *e, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_element_make_values(e, error));
    weft_cell_centre(weft_cell_of(e->cell), e->functionals.points);
done:
    return status;
}

const weft_family_row weft_family_real = {
    .about = {.words = "Real",
              .prefix = "Real",
              .names = (const char *const[]){"Real", "R", NULL},
              .broken = WEFT_REAL,
              .is_continuous = true,
              .is_global = true},
    .cells = WEFT_CELLS_ALL,
    .count = count,
    .make = make};
