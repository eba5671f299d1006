/* Reads the user's script or form file, and binds it to the options and the mesh. */
#include "apps/common/fem.h"
#include "apps/solve/solve.h"
#include "core/weft_core.h"
#include "fusion/weft_library.h"

#include <stdlib.h>

static void clear_lists(solve_script *script) {
    free(script->values);
    free(script->expressions);
    free(script->parameters);
    free(script->measures);
}

void solve_script_clear(solve *run) {
    clear_lists(&run->script);
    weft_ufl_free(&run->script.ufl);
}

/* ---- the options of the binding ---------------------------------------------------------- */

static weft_status make_lists(const solve_options *options, solve_script *script,
                              weft_error *error) {
    const solve_bindings *inputs = &options->inputs, *defines = &options->defines;
    const solve_bindings *sets = &options->sets, *measures = &options->measures;
    script->values = calloc((size_t)inputs->n + 1, sizeof *script->values);
    script->expressions = calloc((size_t)defines->n + 1, sizeof *script->expressions);
    script->parameters = calloc((size_t)sets->n + 1, sizeof *script->parameters);
    script->measures = calloc((size_t)measures->n + 1, sizeof *script->measures);
    if (!script->values || !script->expressions || !script->parameters || !script->measures)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < inputs->n; ++i)
        script->values[i] =
            (weft_problem_value){inputs->list[i].name,
                                 {.text = inputs->list[i].value, .origin = inputs->list[i].origin}};
    for (int i = 0; i < defines->n; ++i)
        script->expressions[i] = (weft_expression){defines->list[i].name, defines->list[i].value,
                                                   defines->list[i].origin};
    for (int i = 0; i < sets->n; ++i)
        script->parameters[i] = (weft_parameter){sets->list[i].name, sets->list[i].number};
    for (int i = 0; i < measures->n; ++i)
        script->measures[i] = (weft_bind_measure){measures->list[i].name, measures->list[i].value,
                                                  measures->list[i].origin};
    return WEFT_OK;
}

static weft_status make_binding(const solve_options *options, solve_script *script,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(make_lists(options, script, error));
    script->binding = (weft_bind_options){.size = sizeof script->binding,
                                          .file = options->script,
                                          .measures = script->measures,
                                          .n_measures = options->measures.n,
                                          .values = script->values,
                                          .n_values = options->inputs.n,
                                          .expressions = script->expressions,
                                          .n_expressions = options->defines.n,
                                          .parameters = script->parameters,
                                          .n_parameters = options->sets.n,
                                          .in_time = options->time.text != NULL,
                                          .has_mass = options->eigen.n > 0,
                                          .mass = options->mass,
                                          .previous = options->time.previous,
                                          .matrix = options->matrix,
                                          .vector = options->vector,
                                          .sum = options->sum,
                                          .nonlinear = options->nonlinear,
                                          .names_options = true};
done:
    return status;
}

/* ---- reading ----------------------------------------------------------------------------- */

static weft_status refuse_kind(const solve *run, weft_error *error) {
    const bool is_nonlinear = run->options->nonlinear;
    weft_error_set(error, WEFT_ERROR_INPUT,
                   is_nonlinear
                       ? "with --nonlinear the file gives a residual F, and this one gives a and L"
                       : "the form F is a residual, which Newton's method solves");
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(error, is_nonlinear ? "leave --nonlinear out, or write F = a(u) - L with a "
                                          "Coefficient u"
                                        : "add --nonlinear");
    return WEFT_ERROR_INPUT;
}

static weft_status read_forms(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    solve_script *script = &run->script;
    const char *name = run->options->script;
    const weft_ufl_options options = {
        .size = sizeof options, .monitor = run->base.monitor, .degrees = run->options->degrees};
    TRY(solve_is_shipped_form(name)
            ? solve_shipped_form_read(run, &options, &script->ufl, &script->is_assumed, error)
            : weft_ufl_read(name, &options, &script->ufl, error));
    TRY(weft_bind_form_file(script->ufl, &script->binding, run->base.problem, error));
    script->problem = weft_bind_ufl(run->base.problem);
    if (script->problem->nonlinear != run->options->nonlinear)
        TRY(refuse_kind(run, error));
done:
    return status;
}

static weft_status read_script(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    char *text = NULL;
    TRY(app_script_read(run->options->script, &text, error));
    TRY(weft_bind_script(text, &run->script.binding, run->base.problem, error));
done:
    free(text);
    return status;
}

weft_status solve_script_read(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool is_form_file = app_is_form_file(run->options->script);
    run->base.takes_any_cells = is_form_file;
    if (is_form_file && run->options->run.conditions.n == 0)
        run->base.problem->how_to_fix =
            "no condition is given, and a form file has none of its own: add --dirichlet "
            "boundary=0 for u = 0 on the whole boundary";
    TRY(make_binding(run->options, &run->script, error));
    TRY(is_form_file ? read_forms(run, error) : read_script(run, error));
done:
    return status;
}

/* ---- without a mesh ---------------------------------------------------------------------- */

/* Without a mesh, a script is invalid if it compiles in neither dimension. */
static weft_status try_out(const solve *run, const weft_problem_part *part, weft_error *error) {
    const weft_problem *problem = run->base.problem;
    app_mesh_shape shape;
    const int dimension = app_mesh_shape_of(&run->options->run.mesh, &shape) ? shape.dimension : 0;
    weft_compilation *compilation = NULL;
    weft_status status =
        weft_problem_compile_part(problem, part, dimension ? dimension : 2, &compilation, error);
    if (status != WEFT_OK && !dimension && problem->names.has_dimension) {
        weft_compilation_free(&compilation);
        const weft_status in_space =
            weft_problem_compile_part(problem, part, 3, &compilation, NULL);
        status = in_space == WEFT_OK ? WEFT_OK : status;
    }
    weft_compilation_free(&compilation);
    return status;
}

weft_status solve_script_try(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < run->options->n_kernels; ++i)
        TRY(weft_library_add_directory(run->base.library, run->options->kernels[i], error));
    if (run->script.is_assumed)
        goto done;
    if (run->script.ufl)
        TRY(weft_ufl_add_functions(run->script.ufl, run->base.library, error));
    for (int i = 0; i < run->base.problem->forms.n_parts; ++i)
        TRY(try_out(run, &run->base.problem->forms.parts[i], error));
done:
    return status;
}

/* ---- on the mesh ------------------------------------------------------------------------- */

/* Read a shipped form file again, for the cells of the mesh. */
static weft_status read_again(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_bind_clear(run->base.problem);
    weft_ufl_free(&run->script.ufl);
    TRY(read_forms(run, error));
    TRY(weft_ufl_add_functions(run->script.ufl, run->base.library, error));
done:
    return status;
}

weft_status solve_script_fit(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = run->base.problem;
    if (run->script.is_assumed)
        TRY(read_again(run, error));
    weft_bind_straighten(problem, run->base.mesh);
    TRY(weft_bind_mesh(problem, &run->base.mesh_made.copies, error));
    run->components = problem->forms.components;
done:
    return status;
}

weft_status solve_form_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = run->base.problem;
    TRY(weft_bind_finish(problem, error));
    TRY(weft_problem_check_forms(problem, error));
done:
    return status;
}
