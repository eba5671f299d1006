/** What the tests of static condensation share: random matrices over linear functions and bubbles of two degrees, some
 *  of whose dofs are constrained. */
#ifndef WEFT_CONDENSE_SUPPORT_H
#define WEFT_CONDENSE_SUPPORT_H

#include "fem/precondition/condense.h"
#include "hierarchy_support.h"
#include "multigrid_support.h"

enum { SPACES = 4 };
static const struct {
    weft_element_kind element;
    int components;
} kinds[SPACES] = {
    {{WEFT_LAGRANGE, 1}, 2}, {{WEFT_BUBBLE, 3}, 2}, {{WEFT_LAGRANGE, 1}, 1}, {{WEFT_BUBBLE, 4}, 1}};

typedef struct fixture {
    weft_device *device;
    weft_mesh *mesh;
    weft_space *spaces[SPACES];
    int64_t first[SPACES + 1];
    weft_csr A;
    int32_t constrained[3];
    weft_preconditioner_problem problem;
    weft_condensation condensation;
} fixture;

/* The dofs of a cell; returns how many. */
static inline int list_dofs(const fixture *f, int64_t cell, int64_t *dofs, bool *is_bubble) {
    int n = 0;
    for (int s = 0; s < SPACES; ++s) {
        const int width = weft_space_element(f->spaces[s])->n_nodes, c = kinds[s].components;
        for (int k = 0; k < width * c; ++k, ++n) {
            dofs[n] = f->first[s] +
                      (int64_t)weft_space_cell_nodes(f->spaces[s])[cell * width + k / c] * c +
                      k % c;
            is_bubble[n] = kinds[s].element.family == WEFT_BUBBLE;
        }
    }
    return n;
}

static inline double random_number(uint64_t *seed) {
    return (double)(random_next(seed) >> 11) * 0x1p-52 - 1;
}

/* bubbles  scale of the couplings of bubbles; their diagonals dominate */
static inline void assemble(fixture *f, double bubbles) {
    uint64_t seed = 7;
    int64_t dofs[64];
    bool is_bubble[64];
    test_rows rows = test_rows_make(f->first[SPACES], f->first[SPACES]);
    for (int64_t cell = 0; cell < f->mesh->n_cells; ++cell) {
        const int n = list_dofs(f, cell, dofs, is_bubble);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                const bool both = is_bubble[i] && is_bubble[j];
                const double value = random_number(&seed) + (i == j ? 12 : 0);
                test_rows_add(&rows, dofs[i], dofs[j], both ? bubbles * value : value);
            }
    }
    f->A = test_rows_finish(&rows);
}

static inline void open_fixture(fixture *f, double bubbles) {
    *f = (fixture){.mesh = irregular_mesh(2, 4)};
    assert_int_equal(weft_device_open("host:1", NULL, &f->device, NULL), WEFT_OK);
    for (int s = 0; s < SPACES; ++s) {
        assert_int_equal(weft_space_make(f->device, f->mesh, kinds[s].element, kinds[s].components,
                                         &f->spaces[s], NULL),
                         WEFT_OK);
        f->first[s + 1] = f->first[s] + weft_space_dofs(f->spaces[s]);
    }
    assemble(f, bubbles);
    f->constrained[0] = 0;
    f->constrained[1] = 5;
    f->constrained[2] = (int32_t)f->first[2] + 3;
    f->problem = (weft_preconditioner_problem){.constrained = f->constrained,
                                               .n_constrained = 3,
                                               .spaces = (const weft_space *const *)f->spaces,
                                               .n_spaces = SPACES};
}

static inline void close_fixture(fixture *f) {
    weft_condensation_clear(&f->condensation);
    weft_csr_clear(&f->A);
    for (int s = 0; s < SPACES; ++s)
        weft_space_free(&f->spaces[s]);
    weft_mesh_free(&f->mesh);
    weft_device_free(&f->device);
}

static inline weft_status condense(fixture *f, weft_error *error) {
    return weft_condense(f->device, &f->A, &f->problem, &f->condensation, error);
}

#endif
