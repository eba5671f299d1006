/* Makes the operators a M + K and M and the program of the right-hand side from a form. */
#include "fem/operator/operator.h"
#include "fem/time/rename.h"
#include "fem/time/transient.h"

#include <stdlib.h>
#include <string.h>

static const char *renamed(const char *name) {
    return strcmp(name, "K") == 0 ? weft_time_own_matrix : name;
}

/* K = input times MASS + MATRIX, and K = MASS */
static weft_status write_texts(const weft_transient_part *from, weft_time_part *part,
                               weft_error *error) {
    weft_text *total = &part->total_text, *mass = &part->mass_text;
    weft_time_rename(total, from->form->text);
    weft_time_rename(mass, from->form->text);
    if (from->mass) {
        weft_text_add(total, "\ninput time__shift : real;\nK = time__shift*%s",
                      renamed(from->mass));
        weft_text_add(mass, "\nK = 1*%s;\n", renamed(from->mass));
    }
    if (from->matrix)
        weft_text_add(total, " + %s", renamed(from->matrix));
    weft_text_add(total, ";\n");
    return total->failed || mass->failed ? weft_out_of_memory(error, "a form in time") : WEFT_OK;
}

/* ---- what depends on what -------------------------------------------------------------------- */

/* Does a value of a form read one of its inputs? Compiles without making kernels. */
static weft_status reads(const weft_time_system *system, const weft_form *form, const char *value,
                         const char *input, bool *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *compilation = NULL;
    weft_text text = {0};
    if (!value)
        goto done;
    weft_text_add(&text, "return %s;\n", value);
    const weft_fragment fragments[] = {{form->name, form->text}, {value, text.data}};
    const weft_compile_options options = weft_form_options(form);
    if (text.failed)
        TRY(weft_out_of_memory(error, "a form in time"));
    TRY(weft_context_compile(system->context, fragments, 2, &options, &compilation, error));
    *out |= weft_compilation_reads(compilation, input);
done:
    weft_compilation_free(&compilation);
    weft_text_free(&text);
    return status;
}

static weft_status refuse_mass(const weft_transient_part *part, const char *input,
                               weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "the mass matrix '%s' depends on '%s'",
                   part->mass_name ? part->mass_name : part->mass,
                   part->input_name ? part->input_name(input) : input);
    weft_error_location(error, part->form->name, NULL, 0, 0);
    weft_error_hint(
        error,
        "the mass is constant: put what depends on time or on the solution into the stiffness");
    return WEFT_ERROR_UNSUPPORTED;
}

/* Does the memory of an input depend on time? Form files may have another name for t. */
static bool is_moving(const weft_transient_problem *problem, const weft_memory *memory) {
    if (memory && memory == problem->time)
        return true;
    for (int i = 0; i < problem->moving.n; ++i)
        if (problem->moving.memories[i] == memory)
            return true;
    return false;
}

static weft_status find_motion(weft_time_system *system, const weft_transient_part *part,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    bool moves = false, changes = false;
    TRY(reads(system, part->form, part->mass, "t", &moves, error));
    TRY(reads(system, part->form, part->mass, "u", &changes, error));
    if (moves || changes)
        TRY(refuse_mass(part, moves ? "t" : "u", error));
    for (int i = 0; i < part->form->n_inputs; ++i) {
        const weft_memory *memory = part->form->inputs[i].memory;
        const bool is_input = is_moving(system->problem, memory);
        moves = false;
        if (is_input)
            TRY(reads(system, part->form, part->mass, part->form->inputs[i].name, &moves, error));
        if (moves)
            TRY(refuse_mass(part, part->form->inputs[i].name, error));
        if (is_input || (memory == system->problem->previous && memory))
            TRY(reads(system, part->form, part->matrix, part->form->inputs[i].name,
                      &system->matrix_moves, error));
    }
done:
    return status;
}

/* ---- making ---------------------------------------------------------------------------------- */

static weft_status make_vector(weft_time_system *system, const weft_transient_part *from,
                               weft_time_part *part, weft_memory *target, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    weft_text_add(&text, "return %s;\n", from->vector);
    const weft_fragment fragments[] = {{from->form->name, from->form->text},
                                       {from->vector, text.data}};
    const weft_compile_options options = weft_form_options(from->form);
    if (text.failed)
        TRY(weft_out_of_memory(error, "a form in time"));
    TRY(weft_compiled_make(system->context, fragments, 2, &options, &part->vector, error));
    TRY(weft_compiled_bind_form(&part->vector, from->form, error));
    TRY(weft_program_bind(part->vector.program, from->vector, target, error));
    system->vector_moves |= weft_compilation_reads(part->vector.compilation, "t");
    for (int i = 0; i < from->form->n_inputs; ++i)
        system->vector_moves |=
            is_moving(system->problem, from->form->inputs[i].memory) &&
            weft_compilation_reads(part->vector.compilation, from->form->inputs[i].name);
done:
    weft_text_free(&text);
    return status;
}

/* The first vector goes into the load, or raw; others into `more`, which is added. */
static weft_status make_vectors(weft_time_system *system, weft_memory *load, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_problem *problem = system->problem;
    const size_t bytes = (size_t)system->n * sizeof(double);
    weft_device *device = system->context->device;
    weft_memory *target = load;
    if (problem->is_nonlinear) {
        TRY(weft_memory_make(device, bytes, &system->raw, error));
        TRY(weft_memory_make(device, bytes, &system->flux, error));
        TRY(weft_memory_make(device, bytes, &system->robin_u, error));
        target = system->raw;
    }
    for (int i = 0; i < problem->n_parts; ++i) {
        if (!problem->parts[i].vector)
            continue;
        TRY(make_vector(system, &problem->parts[i], &system->parts[i], target, error));
        if (!system->more)
            TRY(weft_memory_make(device, bytes, &system->more, error));
        target = system->more;
    }
done:
    return status;
}

static weft_status make_forms(weft_time_system *system, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < system->problem->n_parts; ++i) {
        const weft_transient_part *from = &system->problem->parts[i];
        weft_time_part *part = &system->parts[i];
        TRY(find_motion(system, from, error));
        TRY(write_texts(from, part, error));
        if (from->mass)
            weft_time_copy_form(from->form, part->total_text.data, &part->total);
        else
            part->total.form = *from->form;
        weft_time_copy_form(from->form, part->mass_text.data, &part->mass);
        if (from->mass)
            weft_form_bind_input(&part->total, "time__shift", system->shift);
    }
done:
    return status;
}

weft_status weft_transient_asymmetry(weft_context *context, const weft_transient_problem *problem,
                                     double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_time_part part = {0};
    *out = 0;
    for (int i = 0; i < problem->n_parts; ++i) {
        double one = 0;
        if (!problem->parts[i].mass)
            continue;
        TRY(write_texts(&problem->parts[i], &part, error));
        weft_time_copy_form(problem->parts[i].form, part.mass_text.data, &part.mass);
        TRY(weft_form_asymmetry(context, &part.mass.form, &one, error));
        *out = one > *out || one != one ? one : *out;
        weft_text_free(&part.total_text);
        weft_text_free(&part.mass_text);
    }
done:
    weft_text_free(&part.total_text);
    weft_text_free(&part.mass_text);
    return status;
}

static weft_status make_operator(weft_time_system *system, bool is_mass, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_problem *problem = system->problem;
    const weft_form *robin = NULL;
    const int n_robin = is_mass ? 0 : weft_bc_forms(problem->bc, &robin);
    weft_operator **out = is_mass ? &system->mass : &system->total;
    weft_form *forms = calloc((size_t)(n_robin + problem->n_parts), sizeof *forms);
    int n = 0;
    if (!forms)
        TRY(weft_out_of_memory(error, "a form in time"));
    for (int i = 0; i < problem->n_parts; ++i)
        if (problem->parts[i].mass || (problem->parts[i].matrix && !is_mass))
            forms[n++] = is_mass ? system->parts[i].mass.form : system->parts[i].total.form;
    for (int i = 0; i < n_robin; ++i)
        forms[n++] = robin[i];
    TRY(weft_operator_make(system->context,
                           is_mass ? problem->mass_assembly : system->linear.choice.assembly, forms,
                           n, out, error));
    weft_operator_distribute(*out, system->layout);
    if (is_mass)
        TRY(weft_operator_assemble(*out, error));
done:
    free(forms);
    return status;
}

static weft_status make_operators(weft_time_system *system, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_problem *problem = system->problem;
    const weft_form *robin = NULL;
    const int n_robin = weft_bc_forms(problem->bc, &robin);
    TRY(make_operator(system, false, error));
    if (!problem->previous)
        TRY(make_operator(system, true, error));
    if (problem->is_nonlinear && n_robin > 0)
        TRY(weft_operator_make(system->context, WEFT_ASSEMBLY_MATRIX_FREE, robin, n_robin,
                               &system->robin, error));
    if (system->robin)
        weft_operator_distribute(system->robin, system->layout);
done:
    return status;
}

/* Of the constraints, if there are dependent dofs. */
static weft_status make_reduction(weft_time_system *system, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_problem *problem = system->problem;
    if (!problem->constraints || weft_constraints_empty(problem->constraints))
        goto done;
    if (!weft_assembly_about(problem->assembly)->stores_matrix) {
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                "constraints need a matrix, and the assembly %s stores none",
                                weft_assembly_name(problem->assembly));
        weft_error_hint(error, "take the assembly csr");
        goto done;
    }
    TRY(weft_reduction_make(problem->constraints, &system->reduction, error));
done:
    return status;
}

/* The linear systems of the problem, with what it says of their solution. */
static void describe(weft_time_system *system) {
    const weft_transient_problem *problem = system->problem;
    weft_problem_options *options = &system->options;
    *options = weft_problem_options_default();
    options->method = problem->choice.found ? WEFT_AUTO : (int)problem->solver.method;
    options->preconditioner = problem->is_exchangeable       ? WEFT_AUTO
                              : problem->preconditioner >= 0 ? problem->preconditioner
                              : problem->solver.jacobi       ? WEFT_JACOBI
                                                             : WEFT_NO_PRECONDITIONER;
    options->smoother_degree = problem->smoother_degree;
    options->petsc_options = problem->petsc_options;
    options->restart = problem->solver.restart;
    options->tolerance = problem->solver.tolerance;
    options->max_iterations = problem->solver.max_iterations;
    system->linear = (weft_linear){.context = system->context,
                                   .options = options,
                                   .mesh = weft_space_mesh(system->spaces[0]),
                                   .hierarchy = problem->hierarchy,
                                   .spaces = system->spaces,
                                   .n_spaces = problem->n_fields,
                                   .minres_if_indefinite = !problem->is_nonlinear,
                                   .open = problem->open,
                                   .n_open = problem->n_open,
                                   .choice = {.method = problem->solver.method,
                                              .assembly = problem->assembly,
                                              .preconditioner = problem->preconditioner,
                                              .next = problem->choice.next,
                                              .next_after = problem->choice.next_after,
                                              .restart = problem->solver.restart}};
}

weft_status weft_time_system_make(weft_context *context, weft_transient_problem *problem,
                                  weft_memory *load, weft_time_system *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_bc_motion motion = weft_bc_moves(problem->bc);
    *out = (weft_time_system){
        .context = context,
        .problem = problem,
        .n = weft_time_dofs(problem),
        .matrix_moves = motion.alpha,
        .flux_moves =
            motion.flux || (problem->point_loads && weft_point_loads_move(problem->point_loads)),
        .vector_moves = problem->previous != NULL,
        .parts = calloc((size_t)problem->n_parts, sizeof *out->parts)};
    if (!out->parts)
        TRY(weft_out_of_memory(error, "a form in time"));
    out->vector_moves |= out->flux_moves;
    for (int i = 0; i < problem->n_fields; ++i)
        out->spaces[i] = problem->fields[i].space;
    TRY(weft_layout_make(out->spaces, problem->n_fields, &out->layout, error));
    describe(out);
    TRY(weft_memory_make(context->device, sizeof(double), &out->shift, error));
    TRY(make_forms(out, error));
    TRY(make_vectors(out, load, error));
    TRY(make_operators(out, error));
    TRY(make_reduction(out, error));
done:
    return status;
}

void weft_time_system_clear(weft_time_system *system) {
    weft_linear_clear(&system->linear);
    weft_reduction_free(&system->reduction);
    weft_operator_free(&system->total);
    weft_operator_free(&system->mass);
    weft_operator_free(&system->robin);
    weft_held_modes_clear(&system->means);
    weft_layout_free(&system->layout);
    for (int i = 0; system->parts && i < system->problem->n_parts; ++i) {
        weft_compiled_free(&system->parts[i].vector);
        weft_text_free(&system->parts[i].total_text);
        weft_text_free(&system->parts[i].mass_text);
    }
    free(system->parts);
    weft_memory_free(&system->more);
    weft_memory_free(&system->raw);
    weft_memory_free(&system->flux);
    weft_memory_free(&system->robin_u);
    weft_memory_free(&system->shift);
}

/* ---- at a time ------------------------------------------------------------------------------- */

weft_status weft_time_exchange(const weft_time_system *system, weft_memory *u, weft_error *error) {
    return system->layout ? weft_layout_update(system->layout, u, error) : WEFT_OK;
}

weft_status weft_time_system_set(weft_time_system *system, double t, weft_error *error) {
    weft_status status = WEFT_OK;
    system->at = t;
    TRY(weft_memory_write(system->problem->time, 0, &t, sizeof t, error));
    for (int i = 0; i < system->problem->n_fields; ++i)
        TRY(weft_bc_set_time(system->problem->fields[i].bc, t, error));
    if (system->problem->moving.set)
        TRY(system->problem->moving.set(system->problem->moving.user, t, error));
done:
    return status;
}

static weft_system whole(const weft_time_system *system) {
    const weft_cg_options *options = &system->problem->solver;
    return (weft_system){.op = system->total,
                         .constrained = options->constrained,
                         .n_constrained = options->n_constrained};
}

/* Whether a constant that is kept apart is one of the whole of a scalar. */
static bool is_whole(const weft_time_system *system) {
    for (int64_t i = 0; i < system->n; ++i)
        if (system->means.modes[i] != 1)
            return false;
    return true;
}

/* C^T A C, preconditioner and solver for the assembled operator. */
static weft_status prepare(weft_time_system *system, weft_error *error) {
    const weft_system assembled = whole(system);
    system->linear.project_mean = system->means.n == 1 && !system->reduction && is_whole(system);
    return weft_linear_update(&system->linear, &assembled, system->reduction, error);
}

/* Let the caller choose another method where the matrix is not symmetric any more. That of a matrix that was not definite
 * stays. */
static weft_status choose(weft_time_system *system, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_choice *choice = &system->problem->choice;
    weft_problem_choice *used = &system->linear.choice;
    weft_transient_solver now = {used->method, used->assembly, system->problem->preconditioner};
    if (!choice->choose || !weft_method_about(now.method)->needs_symmetric)
        goto done;
    TRY(choice->choose(choice->user, system->at, &now, error));
    if (weft_method_about(now.method)->needs_symmetric)
        goto done;
    weft_linear_reset(&system->linear);
    used->method = now.method;
    used->preconditioner = system->problem->preconditioner = now.preconditioner;
    if (now.assembly == used->assembly)
        goto done;
    weft_operator_free(&system->total);
    used->assembly = now.assembly;
    TRY(make_operator(system, false, error));
done:
    return status;
}

/* Assemble the operator, and add the time that it takes the device. */
static weft_status assemble(weft_time_system *system, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = system->context->device;
    TRY(weft_device_wait(device, error));
    const double start = weft_clock();
    TRY(weft_operator_assemble(system->total, error));
    TRY(weft_device_wait(device, error));
    system->assembly_seconds += weft_clock() - start;
done:
    return status;
}

weft_status weft_time_system_assemble(weft_time_system *system, double a, bool to_solve,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    const bool changes = system->matrix_moves || system->problem->is_nonlinear;
    const bool may_differ = changes || system->problem->length; /* which own schemes read */
    if (system->is_assembled && !changes && system->a == a)
        goto done;
    system->is_assembled = false;
    if (to_solve && may_differ)
        TRY(choose(system, error));
    TRY(weft_memory_write(system->shift, 0, &a, sizeof a, error));
    TRY(assemble(system, error));
    system->a = a;
    if (to_solve) {
        TRY(weft_time_means_find(system, error));
        TRY(prepare(system, error));
    }
    system->is_assembled = to_solve;
done:
    return status;
}

weft_status weft_time_system_solve(weft_time_system *system, double tolerance, weft_memory *b,
                                   weft_memory *x, weft_memory *work, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_choice *choice = &system->linear.choice;
    const weft_method before = choice->method;
    weft_system equation = whole(system);
    equation.b = b;
    equation.u = x;
    const weft_system solved = weft_reduction_system(system->reduction, &equation);
    weft_cg_options options = weft_linear_options(&system->linear, &solved);
    options.tolerance = tolerance;
    options.project_mean = system->linear.project_mean && system->is_singular;
    TRY(weft_time_means_enter(system, b, x, &options.tolerance, error));
    TRY(weft_linear_repeat(&system->linear, &equation, system->reduction, &options, work, error));
    if (choice->method != before)
        system->problem->choice.found(system->problem->choice.user, system->at, choice->method,
                                      choice->method_reason);
    TRY(weft_time_means_leave(system, b, x, error));
done:
    return status;
}

weft_status weft_time_system_prescribe(weft_time_system *system, weft_memory *u,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    if (system->reduction)
        TRY(weft_reduction_fill(system->reduction, 1, u, error));
done:
    return status;
}

/* target + fluxes and loads at points */
static weft_status add_fluxes(weft_time_system *system, weft_memory *target, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_bc_add_fluxes(system->problem->bc, target, error));
    if (system->problem->point_loads)
        TRY(weft_point_loads_apply(system->problem->point_loads, target, error));
done:
    return status;
}

/* load = raw + alpha u - fluxes */
static weft_status add_conditions(weft_time_system *system, weft_vector_programs *vectors,
                                  weft_memory *u, weft_memory *load, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_terms terms = {0};
    if (!system->has_vector || system->flux_moves) {
        TRY(weft_memory_zero(system->flux, error));
        TRY(add_fluxes(system, system->flux, error));
    }
    weft_terms_add(&terms, 1, system->raw);
    weft_terms_add(&terms, -1, system->flux);
    if (system->robin) {
        TRY(weft_operator_assemble(system->robin, error));
        TRY(weft_operator_apply(system->robin, u, system->robin_u, error));
        weft_terms_add(&terms, 1, system->robin_u);
    }
    TRY(weft_vectors_sum(vectors, &terms, load, error));
done:
    return status;
}

/* The sum of the forms' vectors. */
static weft_status run_vectors(weft_time_system *system, weft_vector_programs *vectors,
                               weft_memory *target, weft_error *error) {
    weft_status status = WEFT_OK;
    bool is_first = true;
    for (int i = 0; i < system->problem->n_parts; ++i) {
        if (!system->parts[i].vector.program)
            continue;
        TRY(weft_program_run(system->parts[i].vector.program, error));
        if (!is_first)
            TRY(weft_vectors_add(vectors, target, system->more, error));
        is_first = false;
    }
    if (is_first)
        TRY(weft_memory_zero(target, error));
done:
    return status;
}

weft_status weft_time_system_load(weft_time_system *system, weft_vector_programs *vectors,
                                  weft_memory *u, weft_memory *load, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool is_nonlinear = system->problem->is_nonlinear;
    if (!is_nonlinear && system->has_vector &&
        (!system->vector_moves || system->vector_at == system->at))
        goto done;
    TRY(run_vectors(system, vectors, is_nonlinear ? system->raw : load, error));
    TRY(is_nonlinear ? add_conditions(system, vectors, u, load, error)
                     : add_fluxes(system, load, error));
    system->has_vector = true;
    system->vector_at = system->at;
done:
    return status;
}
