/** What the tests of preconditioners by multigrid share: an operator on a refined, irregular mesh, and
 *  a preconditioner for it. */
#ifndef WEFT_PRECONDITIONER_SUPPORT_H
#define WEFT_PRECONDITIONER_SUPPORT_H

#include "core/weft_core.h"
#include "emulated_gpu.h"
#include "fem/weft_fem.h"
#include "hierarchy_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct case_options {
    int d;
    int64_t n;      /* cells a side of the coarsest mesh */
    int times;      /* of refinement */
    int components; /* 1: diffusion; d: elasticity */
    const char *kind;
    bool is_free;        /* natural conditions alone */
    bool is_pinned;      /* u = 0 at the midpoint of an edge inside, too, whose ends are free */
    const char *device;  /* NULL: host:2 */
    bool is_emulated;    /* CUDA text on the host */
    size_t memory_bytes; /* of an emulated device; 0: the host's */
    bool is_single;      /* on the host: levels in single precision, where the matrix allows that */
    double scale;        /* of the matrix, without conditions; 0: 1 */
} case_options;

/* An operator, its problem and, after multigrid_make, its preconditioner. Must not be moved. */
typedef struct multigrid_case {
    weft_device *device;
    weft_library *library;
    weft_context context;
    weft_hierarchy *hierarchy;
    weft_space *space;
    weft_bc *bc;
    weft_memory *k; /* [n_nodes] diffusivity or Young's modulus */
    double *k_values;
    weft_bound_form form;
    weft_operator *op;
    weft_preconditioner_problem problem;
    weft_preconditioner *preconditioner;
    int32_t *pinned; /* the constrained dofs with is_pinned */
    int64_t n;       /* dofs */
    weft_memory *r, *z;
    double *r_values, *z_values;
} multigrid_case;

static inline void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s", error->message);
}

static const char diffusion[] = "parameter d = 2;\n"
                                "index cells, nodes;\n"
                                "connectivity dofs : cells -> nodes[d + 1];\n"
                                "input x : real[d] over nodes;\n"
                                "input k : real over nodes;\n"
                                "J = jacobian(x[dofs]);\n"
                                "a = quadrature_mean(interpolate(k[dofs], degree = 1), d = d, "
                                "degree = 1);\n"
                                "K = smmul(dshape_dot_dshape(tform_dshape(J), J), a);\n";
/* Poisson's ratio is 0.3 */
static const char elasticity[] = "parameter d = 2;\n"
                                 "index cells, nodes;\n"
                                 "connectivity dofs : cells -> nodes[d + 1];\n"
                                 "input x : real[d] over nodes;\n"
                                 "input k : real over nodes;\n"
                                 "J = jacobian(x[dofs]);\n"
                                 "E = quadrature_mean(interpolate(k[dofs], degree = 1), d = d, "
                                 "degree = 1);\n"
                                 "K = elastic_stiffness(tform_dshape(J), J, first_lame(E, 0.3), "
                                 "shear_modulus(E, 0.3));\n";

/* u = 0 on the left, springs of one component at the bottom; or natural conditions alone. */
static inline void multigrid_conditions(multigrid_case *c, const case_options *options) {
    weft_condition conditions[4] = {{0}};
    weft_error error = {0};
    int n = 0;
    for (int k = 0; k < options->components; ++k)
        conditions[n++] = options->is_free
                              ? (weft_condition){WEFT_NEUMANN, "boundary", "0", NULL, NULL, k}
                              : (weft_condition){WEFT_DIRICHLET, "left", "0", NULL, NULL, k};
    if (!options->is_free)
        conditions[n++] = (weft_condition){WEFT_ROBIN, "bottom", "1", "1+x", NULL, 0};
    check(weft_bc_make(&c->context, c->space, conditions, n, &c->bc, &error), &error);
}

/* Constrain the first dof of a node in the middle that refinement has made. */
static inline void multigrid_pin(multigrid_case *c, const case_options *options) {
    const weft_hierarchy_level *finest = &c->hierarchy->levels[options->times];
    const int64_t n = c->problem.n_constrained;
    int64_t node = 0, at = 0;
    for (;; ++node) {
        bool is_inside = finest->parents[2 * node] != finest->parents[2 * node + 1];
        assert_true(node < finest->mesh->n_nodes);
        for (int k = 0; k < options->d; ++k)
            is_inside &= fabs(finest->mesh->x[node * options->d + k] - 0.5) < 0.2;
        if (is_inside)
            break;
    }
    c->pinned = malloc(((size_t)n + 1) * sizeof *c->pinned);
    assert_non_null(c->pinned);
    for (; at < n && c->problem.constrained[at] < node * options->components; ++at)
        c->pinned[at] = c->problem.constrained[at];
    c->pinned[at] = (int32_t)(node * options->components);
    for (; at < n; ++at)
        c->pinned[at + 1] = c->problem.constrained[at];
    c->problem.constrained = c->pinned;
    ++c->problem.n_constrained;
}

static inline void multigrid_case_open(multigrid_case *c, const case_options *options,
                                       weft_assembly assembly) {
    const weft_hierarchy_options refined = {
        .size = sizeof refined, .times = options->times, .ordered = true, .part_nodes = 16};
    /* conversions and the coarsest level, whose results only the cycle reads */
    static const char *const repeated[] = {"to_single", "to_double", "gemv", NULL};
    weft_error error = {0};
    *c = (multigrid_case){0};
    check(weft_device_open(options->device ? options->device : "host:2", NULL, &c->device, &error),
          &error);
    if (options->is_emulated)
        emulated_gpu_make(c->device)->repeated = repeated;
    if (options->memory_bytes > 0)
        c->device->limits.memory_bytes = options->memory_bytes;
    check(weft_fem_library_make(&c->library, &error), &error);
    c->context = (weft_context){.device = c->device, .library = c->library};
    c->hierarchy = make_hierarchy(c->device, irregular_mesh(options->d, options->n), &refined);
    const weft_mesh *mesh = c->hierarchy->levels[options->times].mesh;
    check(weft_space_make(c->device, mesh, WEFT_ELEMENT_P1, options->components, &c->space, &error),
          &error);
    multigrid_conditions(c, options);
    c->n = weft_space_dofs(c->space);
    check(weft_vector_make(c->device, mesh->n_nodes, &c->k_values, &c->k, &error), &error);
    check(weft_vector_make(c->device, c->n, &c->r_values, &c->r, &error), &error);
    check(weft_vector_make(c->device, c->n, &c->z_values, &c->z, &error), &error);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        c->k_values[i] =
            (options->scale > 0 ? options->scale : 1) * (1 + 2 * mesh->x[i * options->d]);
    check(weft_vector_push(c->k, c->k_values, mesh->n_nodes, &error), &error);
    weft_form_start("form.weft", options->components > 1 ? elasticity : diffusion,
                    weft_space_cells(c->space), &c->form);
    c->form.form.components = options->components;
    weft_form_bind_parameter(&c->form, "d", options->d);
    weft_form_bind_input(&c->form, "x", weft_space_coordinates(c->space));
    weft_form_bind_input(&c->form, "k", c->k);
    check(weft_bc_operator_make(c->bc, assembly, &c->form.form, &c->op, &error), &error);
    c->problem = (weft_preconditioner_problem){.op = c->op,
                                               .project_mean = options->is_free,
                                               .double_levels = !options->is_single,
                                               .space = c->space,
                                               .hierarchy = c->hierarchy};
    c->problem.constrained = weft_bc_constrained(c->bc, &c->problem.n_constrained);
    if (options->is_pinned)
        multigrid_pin(c, options);
}

static inline weft_status multigrid_try(multigrid_case *c, const char *kind, weft_error *error) {
    int number = 0;
    check(weft_preconditioner_find(kind, &number, error), error);
    return weft_preconditioner_make(&c->context, number, &c->problem, &c->preconditioner, error);
}

static inline void multigrid_case_make(multigrid_case *c, const case_options *options) {
    weft_error error = {0};
    multigrid_case_open(c, options, WEFT_ASSEMBLY_CSR);
    check(multigrid_try(c, options->kind, &error), &error);
}

static inline void multigrid_case_free(multigrid_case *c) {
    weft_preconditioner_free(&c->preconditioner);
    weft_memory_free(&c->r);
    weft_memory_free(&c->z);
    weft_operator_free(&c->op);
    weft_memory_free(&c->k);
    free(c->pinned);
    free(c->r_values);
    free(c->z_values);
    free(c->k_values);
    weft_bc_free(&c->bc);
    weft_space_free(&c->space);
    weft_hierarchy_free(&c->hierarchy);
    weft_library_free(&c->library);
    weft_device_free(&c->device);
}

/* Numbers in [-1, 1), 0 at constrained dofs; malloc'd. */
static inline double *multigrid_vector(const multigrid_case *c, uint64_t seed) {
    double *out = malloc((size_t)c->n * sizeof *out);
    assert_non_null(out);
    for (int64_t i = 0; i < c->n; ++i)
        out[i] = (double)(random_next(&seed) >> 11) * 0x1p-52 - 1;
    for (int64_t i = 0; i < c->problem.n_constrained; ++i)
        out[c->problem.constrained[i]] = 0;
    return out;
}

/* M r; malloc'd. */
static inline double *multigrid_apply(multigrid_case *c, const double *r) {
    weft_error error = {0};
    double *out = malloc((size_t)c->n * sizeof *out);
    assert_non_null(out);
    memcpy(c->r_values, r, (size_t)c->n * sizeof *r);
    for (int64_t i = 0; i < c->n; ++i)
        c->z_values[i] = NAN;
    check(weft_vector_push(c->r, c->r_values, c->n, &error), &error);
    check(weft_vector_push(c->z, c->z_values, c->n, &error), &error);
    check(weft_preconditioner_apply(c->preconditioner, c->r, c->z, &error), &error);
    check(weft_vector_pull(c->z, c->z_values, c->n, &error), &error);
    memcpy(out, c->z_values, (size_t)c->n * sizeof *out);
    return out;
}

/* K u = b from zero, with or without the preconditioner; returns the iterations, u in z_values. */
static inline int multigrid_solve(multigrid_case *c, bool with, double tolerance) {
    weft_cg_result result = {0};
    weft_error error = {0};
    double *b = multigrid_vector(c, 9), mean = 0;
    const weft_cg_options options = {.size = sizeof options,
                                     .jacobi = true,
                                     .tolerance = tolerance,
                                     .max_iterations = 5000,
                                     .constrained = c->problem.constrained,
                                     .n_constrained = c->problem.n_constrained,
                                     .project_mean = c->problem.project_mean,
                                     .preconditioner = with ? c->preconditioner : NULL};
    for (int64_t i = 0; i < c->n; ++i)
        mean += b[i] / (double)c->n;
    for (int64_t i = 0; i < c->n; ++i) {
        c->r_values[i] = options.project_mean ? b[i] - mean : b[i];
        c->z_values[i] = 0;
    }
    check(weft_vector_push(c->r, c->r_values, c->n, &error), &error);
    check(weft_vector_push(c->z, c->z_values, c->n, &error), &error);
    check(weft_cg_solve(&c->context, c->op, c->r, c->z, &options, &result, &error), &error);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    check(weft_vector_pull(c->z, c->z_values, c->n, &error), &error);
    free(result.history);
    free(b);
    return result.iterations;
}

/* z_values, malloc'd. */
static inline double *multigrid_solution(const multigrid_case *c) {
    double *out = malloc((size_t)c->n * sizeof *out);
    assert_non_null(out);
    memcpy(out, c->z_values, (size_t)c->n * sizeof *out);
    return out;
}

#endif
