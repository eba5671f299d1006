/* Chooses the preconditioner and the assembly of a problem, with an estimate of its memory. */
#include "fem/eigen/eigen.h"
#include "fem/mesh/part.h"
#include "fem/precondition/levels.h"
#include "fem/problem/problem.h"
#include "fem/space/layout.h"

#include <math.h>
#include <stdlib.h>

/* Nodes of a cell, or of the widest domain. */
static int count_width(const weft_problem *problem) {
    int width = 0;
    for (int i = 0; i < problem->forms.n_parts; ++i) {
        const weft_connectivity *dofs = problem->forms.parts[i].dofs;
        const int of_part = dofs ? weft_connectivity_width(dofs) : 0;
        width = of_part > width ? of_part : width;
    }
    if (width == 0 && problem->forms.first.form.dofs)
        width = weft_connectivity_width(problem->forms.first.form.dofs);
    return width > 0 ? width : problem->mesh->dimension + 1;
}

static int count_components(const weft_problem *problem) {
    return problem->forms.components > 0    ? problem->forms.components
           : problem->forms.first.form.text ? weft_form_components(&problem->forms.first.form)
                                            : 1;
}

/* Products in a solve, as far as they can be predicted. */
static double count_products(const weft_problem *problem, const weft_assembly_problem *sizes) {
    const weft_problem_options *options = problem->system.linear.options;
    const weft_mesh *mesh = problem->mesh;
    const double expected = weft_cg_iterations_expected(sizes, options->tolerance);
    return weft_records_only(problem->context) && options->assembly != WEFT_AUTO
               ? 1 /* it stops after the first */
               : fmin(expected, weft_linear_iterations_limit(options, mesh) + 2.0);
}

/* The greatest of the functions; before there is a space, that of shipped scripts. */
static int count_degree(const weft_problem *problem) {
    int degree = 1;
    for (int i = 0; i < problem->fields.n; ++i)
        if (problem->fields.list[i].space)
            degree = (int)fmax(degree, weft_space_element(problem->fields.list[i].space)->degree);
    return degree;
}

static weft_status count_inputs(const weft_problem *problem, size_t *bytes, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_name_info *inputs = NULL;
    int n = 0;
    TRY(weft_problem_list_inputs(problem, &inputs, &n, error));
    for (int i = 0; i < n; ++i)
        if (!weft_problem_owns(problem, inputs[i].name))
            *bytes += (size_t)weft_inputs_size_of(&problem->inputs, &inputs[i]) * sizeof(double);
done:
    free(inputs);
    return status;
}

static double predict_product_bytes(const weft_problem *problem,
                                    const weft_assembly_problem *sizes) {
    weft_assembly_cost costs[WEFT_ASSEMBLIES_MOST];
    const int n = weft_assembly_costs(weft_device_limits(problem->context->device), sizes, costs);
    for (int i = 0; i < n; ++i)
        if (costs[i].possible && costs[i].assembly == problem->system.linear.choice.assembly)
            return costs[i].product_bytes;
    return NAN;
}

/* Displacements have as many components as there are dimensions, and are taken for such until the matrix says otherwise. */
static bool is_elastic(const weft_problem *problem, int components) {
    return problem->fields.n <= 1 && components > 1 && components == problem->mesh->dimension &&
           !problem->system.is_uncoupled;
}

static bool is_on_gpu(const weft_problem *problem) {
    return weft_context_is_on_gpu(problem->context);
}

/* Is a mixed problem so small that its matrix takes less time than the kernels of lower degrees take to compile? */
static bool is_small(const weft_problem *problem, int64_t n_dofs) {
    static const int64_t LEAST = 100000;
    return problem->fields.n > 1 && !is_on_gpu(problem) && n_dofs < LEAST &&
           problem->system.linear.options->assembly != WEFT_ASSEMBLY_MATRIX_FREE;
}

/* Are the forms of the operator those of a file alone, which can be written for functions of lower degrees?
 * n_dofs  of all ranks */
static bool lowers_degrees(const weft_problem *problem, int64_t n_dofs) {
    const weft_fields *fields = &problem->fields;
    const weft_coarser *coarser = &problem->forms.coarser;
    bool is_alone = coarser->make && problem->declared.n == 0 && !is_small(problem, n_dofs) &&
                    !weft_problem_is_in_time(problem) &&
                    (fields->n == 1 ? weft_space_coarsens(fields->list[0].space)
                                    : fields->n == 2 && coarser->is_saddle(coarser->user));
    for (int i = 0; i < fields->n_conditions && is_alone; ++i)
        is_alone = fields->conditions[i].kind != WEFT_ROBIN;
    return is_alone;
}

/* A triangular preconditioner of a saddle point halves the iterations of a diagonal one, for GMRES, if a basis of one of these
 * lengths fits. */
static weft_status choose_triangular(weft_problem *problem, weft_problem_memory *what,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    static const int restarts[] = {40, 20};
    enum { RESTARTS = sizeof restarts / sizeof *restarts };
    weft_linear *linear = &problem->system.linear;
    weft_problem_choice *choice = &linear->choice;
    const bool is_own =
        choice->method == WEFT_METHOD_MINRES && linear->options->method == WEFT_AUTO;
    linear->is_saddle = problem->fields.n > 1 && what->problem.lowers_degrees &&
                        choice->preconditioner >= 0 &&
                        choice->assembly == WEFT_ASSEMBLY_MATRIX_FREE;
    if (!linear->is_saddle || !is_own)
        goto done;
    what->method = WEFT_METHOD_GMRES;
    for (int i = 0; i < RESTARTS; ++i) {
        weft_error too_large = {0};
        what->restart = choice->restart > 0 ? choice->restart : restarts[i];
        if (!problem->mesh->part) /* else all ranks decide alike */
            status = weft_problem_memory_check(problem->context->device, what, choice->assembly,
                                               &choice->bytes, &too_large);
        if (status == WEFT_OK) {
            weft_linear_choose_method(linear, true, true, 0);
            choice->restart = what->restart;
            goto done;
        }
        if (status != WEFT_ERROR_MEMORY) {
            if (error)
                *error = too_large;
            goto done;
        }
    }
    linear->is_saddle = false; /* the diagonal one, for MINRES, which fits */
    what->method = WEFT_METHOD_MINRES;
    TRY(weft_problem_memory_check(problem->context->device, what, choice->assembly, &choice->bytes,
                                  error));
done:
    return status;
}

/* A hash of the texts of all forms. */
static weft_status hash_forms(const weft_problem *problem, char out[33], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text all = {0};
    if (problem->forms.first.form.text)
        weft_text_add(&all, "%s\n", problem->forms.first.form.text);
    for (int i = 0; i < problem->forms.n_parts; ++i)
        weft_text_add(&all, "%s\n", problem->forms.parts[i].text);
    if (all.failed)
        TRY(weft_out_of_memory(error, "the texts of forms"));
    weft_hash(all.data ? all.data : "", all.length, out);
done:
    weft_text_free(&all);
    return status;
}

/* Dofs of u, of all ranks. */
static weft_status count_dofs(const weft_problem *problem, int64_t *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fields *fields = &problem->fields;
    weft_comm *comm = problem->mesh->part ? problem->mesh->part->comm : NULL;
    int32_t *owners = NULL;
    *out = fields->n_dofs;
    if (!comm)
        goto done;
    *out = 0;
    for (int s = 0; s < fields->n; ++s) {
        const weft_space *space = fields->spaces[s];
        TRY(weft_space_owners(space, &owners, error));
        for (int64_t i = 0; i < weft_space_nodes(space); ++i)
            *out += owners[i] == weft_comm_rank(comm) ? weft_space_components(space) : 0;
        free(owners);
        owners = NULL;
    }
    TRY(weft_comm_sum(comm, out, error));
done:
    free(owners);
    return status;
}

/* Of vectors for eigenvalues, where they are on the device. */
static size_t count_blocks(const weft_problem *problem, const weft_assembly_problem *p) {
    const weft_limits *limits = weft_device_limits(problem->context->device);
    const int64_t rows = p->n_nodes * p->components;
    if (!problem->forms.is_pencil || limits->execution != WEFT_EXECUTION_SIMT ||
        limits->records_only || rows < WEFT_EIGEN_ON_DEVICE)
        return 0;
    return weft_eigen_bytes_on_device(rows,
                                      p->components * p->components * weft_assembly_entries(p),
                                      (int)fmax(problem->expected_solves, 1));
}

weft_status weft_problem_choose(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    char forms[33];
    weft_linear *linear = &problem->system.linear;
    const bool is_null = weft_records_only(problem->context), again = problem->forms.is_nonlinear;
    const double solves = is_null ? 1 : fmax(problem->expected_solves, 1);
    const int components = count_components(problem);
    const weft_part *part = problem->mesh->part;
    const weft_mesh_shape shape = part ? part->shape : weft_mesh_shape_of(problem->mesh);
    int64_t n_dofs = 0;
    TRY(count_dofs(problem, &n_dofs, error));
    const int64_t n_nodes = problem->fields.n > 0 ? n_dofs / components
                            : part                ? part->n_global_nodes
                                                  : problem->mesh->n_nodes;
    weft_problem_memory what = {
        .problem = {.dimension = problem->mesh->dimension,
                    .width = count_width(problem),
                    .n_nodes = n_nodes,
                    .n_cells = part ? part->n_global_cells : problem->mesh->n_cells,
                    .symmetric = problem->system.is_symmetric,
                    .asymmetry = problem->system.is_symmetric ? 0 : problem->system.asymmetry,
                    .solves = solves,
                    .components = components,
                    .cell = problem->mesh->cell,
                    .degree = count_degree(problem),
                    .is_elastic = is_elastic(problem, components),
                    .cell_shape = shape.cells,
                    .domain_shape = shape.domain,
                    .lowers_degrees = (problem->fields.n > 1 || problem->system.is_symmetric) &&
                                      lowers_degrees(problem, n_dofs)},
        .n_vectors = again && !is_null ? 9 : 2,
        .assembles_again = again,
        .solves_once = !again && !weft_problem_is_in_time(problem),
        .ranges_load = problem->forms.n_parts == 0,
        .n_checks = !is_null && problem->fields.n > 1 ? 4 : 0,
        .n_energy = !is_null && !again && problem->forms.n_parts > 0 ? 5 : 0,
        .method = linear->choice.method,
        .restart = linear->options->restart};
    what.block_bytes = count_blocks(problem, &what.problem);
    what.problem.applications = solves * count_products(problem, &what.problem);
    TRY(hash_forms(problem, forms, error));
    what.forms = forms;
    TRY(count_inputs(problem, &what.input_bytes, error));
    weft_problem_describe(problem);
    TRY(weft_linear_choose(linear, &what, error));
    TRY(choose_triangular(problem, &what, error));
    problem->product_bytes = predict_product_bytes(problem, &what.problem);
done:
    return status;
}
