/* Computes the right-hand side, or the residual, from the vectors of all parts and the fluxes of conditions. */
#include "fem/base/memory.h"
#include "fem/operator/operator.h"
#include "fem/problem/problem.h"
#include "fusion/weft_compile.h"

#include <math.h>
#include <stdlib.h>

weft_status weft_problem_parts_make(weft_problem *problem, int n, weft_error *error) {
    problem->forms.parts = calloc((size_t)n + 1, sizeof *problem->forms.parts);
    if (!problem->forms.parts)
        return weft_out_of_memory(error, "the forms of a problem");
    problem->forms.n_parts = n;
    return WEFT_OK;
}

void weft_problem_release_vectors(weft_problem *problem) {
    for (int i = 0; i < problem->forms.n_parts; ++i)
        weft_program_free(&problem->forms.parts[i].vector_program);
}

void weft_problem_release_load(weft_problem *problem) {
    const bool gathers = weft_assembly_about(problem->system.linear.choice.assembly)->scatter ==
                         WEFT_SCATTER_GATHERED;
    if (problem->forms.is_nonlinear)
        return;
    weft_problem_release_vectors(problem);
    for (int i = 0; i < problem->forms.n_parts && !gathers; ++i)
        if (problem->forms.parts[i].dofs)
            weft_connectivity_release_transposed(problem->forms.parts[i].dofs);
    if (!gathers)
        weft_connectivity_release_transposed(weft_space_cells(problem->fields.space));
}

void weft_problem_parts_clear(weft_problem *problem) {
    weft_problem_release_vectors(problem);
    for (int i = 0; i < problem->forms.n_parts; ++i) {
        weft_problem_part *part = &problem->forms.parts[i];
        weft_compilation_free(&part->vector_compilation);
        weft_symmetry_free(&part->symmetry);
        weft_compilation_free(&part->compilation);
        weft_text_free(&part->cells);
    }
    weft_memory_free(&problem->forms.numbers);
    free(problem->forms.parts);
    problem->forms.parts = NULL;
    problem->forms.n_parts = 0;
}

weft_status weft_problem_list_forms(weft_problem *problem, weft_error *error) {
    bool is_first = true;
    problem->forms.more = calloc((size_t)problem->forms.n_parts + 1, sizeof *problem->forms.more);
    if (!problem->forms.more)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < problem->forms.n_parts; ++i) {
        const weft_problem_part *part = &problem->forms.parts[i];
        if (!part->has_matrix)
            continue;
        if (is_first)
            problem->forms.first.form = part->bound.form;
        else
            problem->forms.more[problem->forms.n_more++] = part->bound.form;
        is_first = false;
    }
    return WEFT_OK;
}

/* ---- making ------------------------------------------------------------------------------ */

static weft_status make_fluxes(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = problem->fields.n_dofs;
    TRY(weft_vector_make(problem->context->device, n, &problem->system.flux,
                         &problem->system.flux_memory, error));
    TRY(weft_vector_push(problem->system.flux_memory, problem->system.flux, n, error));
    TRY(weft_bc_load_make(problem->fields.bc, NULL, NULL, WEFT_LOAD_DEGREE,
                          problem->system.flux_memory, problem->system.flux, error));
    if (problem->forms.is_nonlinear && problem->point_loads) {
        TRY(weft_point_loads_apply(problem->point_loads, problem->system.flux_memory, error));
        TRY(weft_vector_pull(problem->system.flux_memory, problem->system.flux, n, error));
    }
done:
    return status;
}

/* Compile the script of a part that returns its vector; Newton's method runs it repeatedly. */
static weft_status compile_vector(weft_problem *problem, weft_problem_part *part,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = problem->context;
    const weft_form *form = &part->bound.form;
    weft_text text = {0};
    weft_program_free(&part->vector_program);
    weft_compilation_free(&part->vector_compilation); /* of an earlier solve */
    weft_text_add(&text, "return %s;\n", problem->forms.vector);
    if (text.failed)
        TRY(weft_out_of_memory(error, NULL));
    const weft_fragment fragments[] = {{form->name, form->text}, {"--vector", text.data}};
    weft_compile_options options = weft_form_vector_options(context, form);
    options.distributed = context->comm != NULL;
    options.runs_once = !problem->forms.is_nonlinear; /* in time, fem/time has its own */
    double start = weft_clock();
    TRY(weft_context_compile(context, fragments, 2, &options, &part->vector_compilation, error));
    context->plan_seconds += weft_clock() - start;
    start = weft_clock();
    TRY(weft_program_make(context->device, part->vector_compilation, &part->vector_program, error));
    context->compile_seconds += weft_clock() - start;
    context->n_kernels += weft_compilation_kernels(part->vector_compilation);
    weft_compiled compiled = {part->vector_compilation, part->vector_program, context->data};
    TRY(weft_compiled_bind_form(&compiled, form, error));
    TRY(weft_program_bind(part->vector_program, problem->forms.vector, problem->system.b, error));
done:
    weft_text_free(&text);
    return status;
}

weft_status weft_problem_vectors_compile(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    bool has_flux = problem->forms.is_nonlinear && problem->point_loads;
    for (int i = 0; i < problem->fields.n_conditions; ++i)
        has_flux |= problem->fields.conditions[i].kind != WEFT_DIRICHLET;
    if (has_flux)
        TRY(make_fluxes(problem, error));
    for (int i = 0; i < problem->forms.n_parts; ++i)
        if (problem->forms.parts[i].has_vector)
            TRY(compile_vector(problem, &problem->forms.parts[i], error));
done:
    return status;
}

weft_status weft_problem_robin_make(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_form *robin = NULL;
    const int n = weft_bc_forms(problem->fields.bc, &robin);
    if (n == 0)
        goto done;
    TRY(weft_operator_make(problem->context, WEFT_ASSEMBLY_MATRIX_FREE, robin, n,
                           &problem->system.robin, error));
    weft_operator_distribute(problem->system.robin, problem->fields.layout);
done:
    return status;
}

weft_status weft_problem_more_make(weft_problem *problem, weft_error *error) {
    return problem->system.scratch
               ? WEFT_OK
               : weft_memory_make(problem->context->device,
                                  (size_t)problem->fields.n_dofs * sizeof(double),
                                  &problem->system.scratch, error);
}

/* ---- b ----------------------------------------------------------------------------------- */

/* Lists of all dofs by chunks, on the host's threads. */
enum { CHUNKS = 256 };
typedef struct load_chunks {
    int64_t n;
    double *b;
    double *sum;        /* of parts so far; NULL: of one part, which is in b */
    const double *flux; /* NULL: none */
    double factor;
    int64_t wrong[CHUNKS]; /* the first entry that is not finite, or -1 */
} load_chunks;

static void add_chunk(void *user, int64_t chunk) {
    const load_chunks *in = user;
    for (int64_t i = in->n * chunk / CHUNKS; i < in->n * (chunk + 1) / CHUNKS; ++i)
        in->sum[i] += in->b[i];
}

static void finish_chunk(void *user, int64_t chunk) {
    load_chunks *in = user;
    in->wrong[chunk] = -1;
    for (int64_t i = in->n * chunk / CHUNKS; i < in->n * (chunk + 1) / CHUNKS; ++i) {
        if (in->sum)
            in->b[i] = in->sum[i];
        if (in->flux)
            in->b[i] += in->factor * in->flux[i];
        if (in->wrong[chunk] < 0 && !isfinite(in->b[i]))
            in->wrong[chunk] = i;
    }
}

static weft_status refuse_infinite(const weft_problem *problem, int64_t dof, weft_error *error) {
    const int d = problem->mesh->dimension;
    char point[64];
    const weft_problem_field *field = weft_fields_of_dof(&problem->fields, dof);
    const int64_t node = (dof - field->first_dof) / weft_space_components(field->space);
    weft_error_set(error, WEFT_ERROR_INPUT, "the vector '%s' is not finite at the node %s",
                   problem->forms.vector ? problem->forms.vector : "b",
                   weft_point_text(&weft_space_points(field->space)[node * d], d, point));
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    weft_error_hint(error, "look at the formulas of --input and --define: 1/x has no value at "
                           "x = 0, log(x) none for x <= 0");
    return WEFT_ERROR_INPUT;
}

/* b on the host: the sum of the parts and the prescribed flux. */
static weft_status finish_load(const weft_problem *problem, load_chunks *load, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_device_for(problem->context->device, CHUNKS, finish_chunk, load, error));
    for (int i = 0; i < CHUNKS && !problem->forms.is_nonlinear; ++i)
        if (load->wrong[i] >= 0)
            TRY(refuse_infinite(problem, load->wrong[i], error));
done:
    return status;
}

static int count_vectors(const weft_problem *problem) {
    int n = 0;
    for (int i = 0; i < problem->forms.n_parts; ++i)
        n += problem->forms.parts[i].vector_program != NULL;
    return n;
}

weft_status weft_problem_load(weft_problem *problem, double factor, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = problem->context->device;
    const bool is_null = weft_records_only(problem->context), is_sum = count_vectors(problem) != 1;
    const weft_solution u = weft_problem_solution(problem);
    load_chunks load = {.n = problem->fields.n_dofs,
                        .b = problem->system.b_values,
                        .flux = problem->system.flux,
                        .factor = factor};
    if (is_sum && !is_null) {
        load.sum = weft_array_make((size_t)load.n, sizeof *load.sum);
        if (!load.sum)
            TRY(weft_out_of_memory(error, NULL));
    }
    for (int i = 0; i < problem->forms.n_parts; ++i) {
        weft_problem_part *part = &problem->forms.parts[i];
        if (!part->vector_program)
            continue;
        TRY(weft_program_run(part->vector_program, error));
        if (is_null)
            continue;
        TRY(weft_vector_pull(problem->system.b, load.b, load.n, error));
        if (is_sum)
            TRY(weft_device_for(device, CHUNKS, add_chunk, &load, error));
        if (part->domain == WEFT_PART_BOUNDARY) /* for the balance, without the program */
            TRY(weft_solution_sum(&u, load.b, part->vector_sums, error));
    }
    if (is_null)
        goto done;
    TRY(finish_load(problem, &load, error));
    if (is_sum || load.flux)
        TRY(weft_vector_push(problem->system.b, load.b, load.n, error));
done:
    free(load.sum);
    return status;
}

/* ---- r(u) -------------------------------------------------------------------------------- */

/* b = b + factor x */
static weft_status add(weft_problem *problem, double factor, weft_memory *x, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_terms terms = {0};
    weft_terms_add(&terms, factor, x);
    if (terms.n == 0)
        goto done;
    TRY(weft_vectors_sum(&problem->system.vectors, &terms, problem->system.scratch, error));
    TRY(weft_vectors_add(&problem->system.vectors, problem->system.b, problem->system.scratch,
                         error));
done:
    return status;
}

/* The vectors of all parts. */
static weft_status run_parts(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    bool is_first = true;
    for (int i = 0; i < problem->forms.n_parts; ++i) {
        weft_program *program = problem->forms.parts[i].vector_program;
        if (!program)
            continue;
        TRY(weft_program_bind(program, problem->forms.vector,
                              is_first ? problem->system.b : problem->system.scratch, error));
        TRY(weft_program_run(program, error));
        if (!is_first)
            TRY(weft_vectors_add(&problem->system.vectors, problem->system.b,
                                 problem->system.scratch, error));
        is_first = false;
    }
done:
    return status;
}

weft_status weft_problem_residual(weft_problem *problem, double factor, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_more_make(problem, error));
    TRY(run_parts(problem, error));
    if (problem->system.flux)
        TRY(add(problem, -factor, problem->system.flux_memory, error));
    if (problem->system.robin) {
        TRY(weft_operator_apply(problem->system.robin, problem->system.u, problem->system.scratch,
                                error));
        TRY(weft_vectors_add(&problem->system.vectors, problem->system.b, problem->system.scratch,
                             error));
    }
done:
    return status;
}
