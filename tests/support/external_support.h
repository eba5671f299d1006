/* Matrices of forms on distorted meshes, for the tests of other libraries' solvers. */
#ifndef EXTERNAL_SUPPORT_H
#define EXTERNAL_SUPPORT_H

#include "fem/external/external.h"
#include "test_support.h"

#include "operator_fixture.h"

#include <stdio.h>

/* MPI and PETSc keep memory until the process ends, in plugins that are unloaded by then. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

/* Other tests hide it (tests/CMakeLists.txt). */
__attribute__((constructor)) static void find_direct_solvers(void) {
    static const char *const variables[] = {"WEFT_UMFPACK", "WEFT_MUMPS"};
    for (int i = 0; i < 2; ++i) {
        const char *chosen = getenv(variables[i]);
        if (chosen && strcmp(chosen, "none") == 0)
            unsetenv(variables[i]);
    }
}

typedef struct problem {
    fixture f;
    weft_space *space;
    weft_bound_form form;
    weft_operator *op;
    int64_t n; /* dofs */
    int32_t *constrained;
    weft_external_matrix matrix;
    double *b, *x; /* [n]; b random, x with random values at constrained dofs and 0 elsewhere */
} problem;

/* Constrain component `component` (-1: all) at the nodes of a group. */
static inline void problem_constrain(problem *p, const char *group_name, int component) {
    int group = -1;
    int32_t *nodes = NULL;
    int64_t n = 0, at = 0;
    const int components = p->matrix.components;
    assert_int_equal(weft_mesh_group(p->f.mesh, group_name, &group, NULL), WEFT_OK);
    assert_int_equal(weft_mesh_group_nodes(p->f.mesh, group, &nodes, &n, NULL), WEFT_OK);
    p->constrained = calloc((size_t)(n * components), sizeof *p->constrained);
    for (int64_t i = 0; i < n; ++i)
        for (int c = 0; c < components; ++c)
            if (component < 0 || c == component)
                p->constrained[at++] = nodes[i] * components + c;
    p->matrix.constrained = p->constrained;
    p->matrix.n_constrained = at;
    uint64_t state = 5;
    for (int64_t i = 0; i < at; ++i)
        p->x[p->constrained[i]] = fixture_random(&state);
    free(nodes);
}

/* script  "poisson.weft", or "elasticity.weft" with d components */
static inline problem *problem_make(const char *script, int d, int cells_a_side) {
    problem *p = calloc(1, sizeof *p);
    p->f = fixture_make("host:2", d, cells_a_side, WEFT_PLAN_FUSED);
    const int components = strcmp(script, "elasticity.weft") == 0 ? d : 1;
    assert_int_equal(
        weft_space_make(p->f.device, p->f.mesh, WEFT_ELEMENT_P1, components, &p->space, NULL),
        WEFT_OK);
    assert_int_equal(weft_form_ship(p->space, script, weft_space_cells(p->space), &p->form, NULL),
                     WEFT_OK);
    p->form.form.components = components;
    weft_error error = {0};
    if (weft_operator_make(&p->f.context, WEFT_ASSEMBLY_CSR, &p->form.form, 1, &p->op, &error) ||
        weft_operator_assemble(p->op, &error))
        fail_msg("%s", error.message);
    p->n = weft_operator_dofs(p->op);
    p->b = calloc((size_t)p->n, sizeof *p->b);
    p->x = calloc((size_t)p->n, sizeof *p->x);
    uint64_t state = 3;
    for (int64_t i = 0; i < p->n; ++i)
        p->b[i] = fixture_random(&state) - 0.5;
    p->matrix = (weft_external_matrix){.pattern = weft_operator_pattern(p->op),
                                       .values = weft_memory_host(weft_operator_values(p->op)),
                                       .components = components,
                                       .dimension = d,
                                       .coordinates = p->f.mesh->x};
    return p;
}

static inline void problem_free(problem **problem_) {
    problem *p = *problem_;
    weft_operator_free(&p->op);
    weft_space_free(&p->space);
    fixture_free(&p->f);
    free(p->constrained);
    free(p->b);
    free(p->x);
    free(p);
    *problem_ = NULL;
}

/* Does an error say that a library, its headers or the compiler of its plug-in are not installed? */
static inline bool external_is_missing(const char *message) {
    return strstr(message, "is not found") || strstr(message, "there is no header");
}

/* A solver, or a skipped test where the library is not installed. */
static inline weft_external *external_make_with(weft_external_kind kind,
                                                const weft_external_matrix *matrix,
                                                const char *method) {
    weft_external *solver = NULL;
    weft_error error = {0};
    const weft_external_options options = {.method = method};
    weft_status status = weft_external_make(kind, matrix, &options, &solver, &error);
    if (status != WEFT_OK && external_is_missing(error.message)) {
        fprintf(stderr, "%s: %s\n", error.message, error.hint);
        skip_test("the library is not installed");
    }
    if (status != WEFT_OK)
        fail_msg("%s", error.message);
    return solver;
}

/* Skip a test where the library is not installed. */
static inline void external_need(weft_external_kind kind) {
    int64_t row_start[] = {0, 1};
    int32_t columns[] = {0};
    const double values[] = {1};
    const weft_pattern pattern = {1, 1, row_start, columns};
    const weft_external_matrix matrix = {.pattern = &pattern, .values = values};
    weft_external *solver = external_make_with(kind, &matrix, NULL);
    weft_external_free(&solver);
}

#endif
