/* Reads the user's script, checks it and finds its matrix, vector and inputs. */
#include "apps/common/fem.h"
#include "apps/solve/solve.h"
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_outline.h"

#include <stdlib.h>
#include <string.h>

/* Names of the texts that are appended to the user's script. */
static const char *const taken[] = {
    "v",       "y",         "A",           "apart",           "whole",
    "square",  "total",     "action",      "difference",      "block_rows",
    "rows_of", "equations", "block_nodes", "block_components"};

void solve_script_clear(solve *run) {
    solve_script *script = &run->script;
    solve_parts_clear(run);
    weft_ufl_free(&script->ufl);
    free(script->text);
    script->text = NULL;
}

static weft_status refuse(const solve *run, const char *hint, weft_error *error, const char *format,
                          const char *name) {
    weft_error_set(error, WEFT_ERROR_INPUT, format, name);
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_INPUT;
}

/* Compile a part for a dimension, returning the values that are used. */
static weft_status compile(const solve *run, const weft_problem_part *part, int dimension,
                           weft_compilation **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const solve_options *options = run->options;
    const solve_script *script = &run->script;
    enum { RETURNS = 5 };
    weft_text returns[RETURNS] = {{0}};
    const weft_problem *problem = run->base.problem;
    const bool is_first = part == problem->parts;
    const char *const names[RETURNS] = {
        part->has_matrix ? problem->matrix : NULL, part->has_vector ? problem->vector : NULL,
        is_first ? options->sum : NULL, is_first ? script->action : NULL,
        part->has_mass ? problem->mass : NULL};
    static const char *const origins[] = {"--matrix", "--vector", "--sum", "Kv", "--mass"};
    weft_fragment fragments[RETURNS + 1] = {{options->script, part->text}};
    weft_bound_form form;
    int n = 1;
    weft_form_start(options->script, part->text, NULL, &form);
    for (int i = 0; i < options->defines.n; ++i)
        weft_form_bind_expression(&form, options->defines.list[i].name,
                                  options->defines.list[i].value, options->defines.list[i].origin);
    for (int i = 0; i < options->sets.n; ++i)
        weft_form_bind_parameter(&form, options->sets.list[i].name, options->sets.list[i].number);
    if (script->has_d)
        weft_form_bind_parameter(&form, "d", dimension);
    for (int i = 0; i < RETURNS; ++i) {
        if (!names[i])
            continue;
        weft_text_add(&returns[i], "return %s;\n", names[i]);
        if (returns[i].failed)
            TRY(weft_out_of_memory(error, NULL));
        fragments[n++] = (weft_fragment){origins[i], returns[i].data};
    }
    const weft_compile_options compiled = {.size = sizeof compiled,
                                           .plan = options->run.plan,
                                           .expressions = form.expressions,
                                           .n_expressions = form.form.n_expressions,
                                           .parameters = form.parameters,
                                           .n_parameters = form.form.n_parameters};
    TRY(weft_compile(run->base.library, weft_device_limits(run->base.device), fragments, n,
                     &compiled, out, error));
done:
    for (int i = 0; i < RETURNS; ++i)
        weft_text_free(&returns[i]);
    return status;
}

/* The dimension implied by the mesh's name, or 0. */
static int dimension_of(const char *mesh) {
    return strncmp(mesh, "square:", 7) == 0 ? 2 : strncmp(mesh, "cube:", 5) == 0 ? 3 : 0;
}

/* Without a mesh, a script is invalid if it compiles in neither dimension. */
static weft_status try_out(solve *run, const weft_problem_part *part, weft_error *error) {
    const int dimension = dimension_of(run->options->run.mesh.name);
    weft_compilation *compilation = NULL;
    weft_status status = compile(run, part, dimension ? dimension : 2, &compilation, error);
    if (status != WEFT_OK && !dimension && run->script.has_d) {
        weft_compilation_free(&compilation);
        const weft_status in_space = compile(run, part, 3, &compilation, NULL);
        status = in_space == WEFT_OK ? WEFT_OK : status;
    }
    weft_compilation_free(&compilation);
    return status;
}

static weft_status check_options(const solve *run, weft_error *error) {
    const solve_options *options = run->options;
    if (options->defines.n > WEFT_FORM_EXPRESSIONS || options->sets.n >= WEFT_FORM_PARAMETERS)
        return weft_error_set(error, WEFT_ERROR_USAGE, "more than %d times --define or --param",
                              WEFT_FORM_PARAMETERS - 1);
    for (int i = 0; i < options->sets.n; ++i)
        if (run->script.has_d && strcmp(options->sets.list[i].name, "d") == 0) {
            weft_error_set(error, WEFT_ERROR_USAGE, "the dimension d is given by the mesh");
            weft_error_location(error, "--param", NULL, 0, 0);
            weft_error_hint(error, "omit --param d, and give a mesh of that dimension");
            return WEFT_ERROR_USAGE;
        }
    return WEFT_OK;
}

static bool has_name(const weft_outline *outline, weft_name_kind kind, const char *name) {
    weft_outline_name found;
    return weft_outline_find(outline, name, &found) && found.kind == kind && !found.in_loop;
}

/* Set the names of matrix and vector: as given or the defaults. */
static weft_status name_parts(solve *run, const weft_outline *outline, weft_error *error) {
    const solve_options *options = run->options;
    weft_problem *problem = run->base.problem;
    const char *custom = options->nonlinear ? "r" : "b";
    problem->matrix = options->matrix ? options->matrix : "K";
    problem->vector = options->vector ? options->vector : custom;
    if (!options->vector && !has_name(outline, WEFT_NAME_VALUE, custom)) {
        if (options->nonlinear)
            return refuse(
                run, "add r[dofs] += ...; to the script, or name another by --vector", error,
                "with --nonlinear the script gives a residual, and this one makes no '%s'", custom);
        problem->vector = NULL;
    }
    if (!options->matrix && !has_name(outline, WEFT_NAME_VALUE, "K"))
        return refuse(run, "add K = ...; to the script, or name another matrix by --matrix NAME",
                      error, "this script makes no local matrix '%s'", "K");
    const char *mass = options->time.mass ? options->time.mass : "M";
    if (has_name(outline, WEFT_NAME_INPUT, options->time.previous))
        solve_time_find_scheme(run, has_name(outline, WEFT_NAME_VALUE, mass), run->script.text);
    if (options->time.text && !run->time.is_own)
        problem->mass = mass;
    if (problem->mass && !has_name(outline, WEFT_NAME_VALUE, problem->mass))
        return refuse(
            run,
            "add M = ...; to the script, the local mass matrix of M du/dt + K u = b, or name "
            "another by --mass NAME; a scheme of your own takes an input u_old",
            error, "with --time the script makes a mass matrix, and this one makes no '%s'",
            problem->mass);
    weft_problem_part *part = &problem->parts[0];
    part->has_matrix = true;
    part->has_vector = problem->vector != NULL;
    part->has_mass = problem->mass != NULL;
    weft_text_add(&part->cells, "%s", run->script.text);
    if (strcmp(problem->matrix, "K") != 0) {
        if (has_name(outline, WEFT_NAME_VALUE, "K"))
            return refuse(run, "call that matrix K, or what is K now something else", error,
                          "the matrix is '%s', but the script gives the name K to something else",
                          problem->matrix);
        weft_text_add(&part->cells, "\nK = %s;\n", problem->matrix);
    }
    return part->cells.failed ? weft_out_of_memory(error, NULL) : WEFT_OK;
}

static weft_status read_script(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    solve_script *script = &run->script;
    weft_outline *outline = NULL;
    TRY(app_script_read(run->options->script, &script->text, error));
    const weft_fragment fragment = {run->options->script, script->text};
    TRY(weft_outline_make(&fragment, 1, &outline, error));
    TRY(weft_outline_strip(outline, 0, script->text, error));
    script->parts = calloc(1, sizeof *script->parts);
    if (!script->parts)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_problem_parts_make(run->base.problem, 1, error));
    run->base.problem->parts[0].text = script->text;
    script->has_d = has_name(outline, WEFT_NAME_PARAMETER, "d");
    script->has_u = has_name(outline, WEFT_NAME_INPUT, "u");
    if (has_name(outline, WEFT_NAME_INPUT, "v") && has_name(outline, WEFT_NAME_VALUE, "Kv"))
        script->action = "Kv";
    TRY(name_parts(run, outline, error));
done:
    weft_outline_free(&outline);
    return status;
}

weft_status solve_script_read(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool is_form_file = app_is_form_file(run->options->script);
    run->base.problem->file = run->options->script;
    if (is_form_file && run->options->run.conditions.n == 0)
        run->base.problem->how_to_fix =
            "no condition is given, and a form file has none of its own: add --dirichlet "
            "boundary=0 for u = 0 on the whole boundary";
    run->base.problem->is_nonlinear = run->options->nonlinear;
    TRY(is_form_file ? solve_forms_read(run, error) : read_script(run, error));
    TRY(check_options(run, error));
done:
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
    for (int i = 0; i < run->base.problem->n_parts; ++i)
        TRY(try_out(run, &run->base.problem->parts[i], error));
done:
    return status;
}

/* ---- the script and the mesh ----------------------------------------------------------------- */

static bool find(const weft_compilation *compilation, const char *name, weft_name_info *out) {
    for (int i = 0; i < weft_compilation_names(compilation); ++i) {
        weft_compilation_name(compilation, i, out);
        if (strcmp(out->name, name) == 0)
            return true;
    }
    return false;
}

static weft_status check_names(const solve *run, weft_error *error) {
    const weft_compilation *compilation = run->base.problem->parts[0].compilation;
    weft_name_info info;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; ++i)
        if (find(compilation, taken[i], &info) && !(i == 0 && run->script.action))
            return refuse(run,
                          "give it another name: v, y and A are among those that stand in "
                          "the statements that solve appends to a script",
                          error, "the name '%s' is reserved", taken[i]);
    for (size_t i = 0; i < 2; ++i)
        if (!find(compilation, i ? "nodes" : "cells", &info) || info.kind != WEFT_NAME_INDEX)
            return refuse(run, "write index cells, nodes;", error,
                          "this script has no index set '%s'", i ? "nodes" : "cells");
    return WEFT_OK;
}

static bool is_text(const char *a, const char *b) {
    return a && strcmp(a, b) == 0;
}

static weft_status check_dofs(const solve *run, weft_error *error) {
    const int width = run->base.mesh->dimension + 1;
    weft_name_info dofs;
    if (!find(run->base.problem->parts[0].compilation, "dofs", &dofs) ||
        dofs.kind != WEFT_NAME_CONNECTIVITY || !is_text(dofs.over, "cells") ||
        !is_text(dofs.to, "nodes"))
        return refuse(run, "write connectivity dofs : cells -> nodes[d + 1];", error,
                      "this script has no connectivity '%s' from cells to nodes", "dofs");
    if (dofs.width == width)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "this script is for cells of %d nodes, but the cells of the mesh have %d",
                   dofs.width, width);
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(
        error,
        "with parameter d = 2; and nodes[d + 1] it serves triangles and tetrahedra: solve sets d");
    return WEFT_ERROR_INPUT;
}

static weft_status check_matrix(solve *run, weft_error *error) {
    const int width = run->base.mesh->dimension + 1;
    weft_name_info K;
    static const char hint[] =
        "the local matrix of a cell of n nodes with c components each is real[n*c,n*c] over cells, "
        "row i*c + k for component k of node i";
    if (!find(run->base.problem->parts[0].compilation, run->base.problem->matrix, &K) || K.sparse)
        return refuse(run, "write K = ...; without A[dofs,dofs] +=, which solve does itself", error,
                      "'%s' is not a local matrix", run->base.problem->matrix);
    if (!is_text(K.over, "cells") || K.rank != 2 || K.sizes[0] != K.sizes[1] ||
        K.sizes[0] % width != 0)
        return refuse(run, hint, error, "'%s' does not have the shape of a local matrix",
                      run->base.problem->matrix);
    run->components = K.sizes[0] / width;
    run->n_dofs = run->base.mesh->n_nodes * run->components;
    if (run->components <= SOLVE_COMPONENTS_MAX && run->n_dofs <= INT32_MAX)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                          "%d components per node and %lld in all: at most %d and 2^31 - 1 can be",
                          run->components, (long long)run->n_dofs, SOLVE_COMPONENTS_MAX);
}

/* The mass matrix has the shape of the matrix. */
static weft_status check_mass(const solve *run, weft_error *error) {
    const char *name = run->base.problem->mass;
    weft_name_info M, K;
    if (!name)
        return WEFT_OK;
    if (find(run->base.problem->parts[0].compilation, name, &M) && !M.sparse &&
        find(run->base.problem->parts[0].compilation, run->base.problem->matrix, &K) &&
        is_text(M.over, "cells") && M.rank == 2 && M.sizes[0] == K.sizes[0] &&
        M.sizes[1] == K.sizes[1])
        return WEFT_OK;
    return refuse(run, "it is a local matrix with as many rows and columns as that of the form",
                  error, "'%s' does not have the shape of a mass matrix", name);
}

static weft_status check_vector(const solve *run, weft_error *error) {
    const int c = run->components;
    const char *name = run->base.problem->vector;
    weft_name_info b;
    if (!name)
        return WEFT_OK;
    const bool fine = find(run->base.problem->parts[0].compilation, name, &b) &&
                      is_text(b.over, "nodes") && b.kind == WEFT_NAME_VALUE && !b.sparse &&
                      (b.rank == 0 ? c == 1 : b.rank == 1 && b.sizes[0] == c && c > 1);
    if (fine)
        return WEFT_OK;
    weft_error_set(
        error, WEFT_ERROR_INPUT,
        "'%s' does not have the shape of a vector: the matrix has %d component%s per node", name, c,
        c == 1 ? "" : "s");
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(error,
                    c == 1 ? "write %s[dofs] += ...; of a real[n] for the n nodes of a cell"
                           : "write %s[dofs] += ...; of a real[n,%d] for the n nodes of a cell",
                    name, c);
    return WEFT_ERROR_INPUT;
}

/* Check the shapes of the script's own K v and of its v. */
static weft_status check_action(const solve *run, weft_error *error) {
    const int c = run->components, width = run->base.mesh->dimension + 1;
    weft_name_info v, Kv;
    if (!run->script.action)
        return WEFT_OK;
    const bool fine =
        find(run->base.problem->parts[0].compilation, "v", &v) && is_text(v.over, "nodes") &&
        v.rank == (c > 1) && (c == 1 || v.sizes[0] == c) &&
        find(run->base.problem->parts[0].compilation, "Kv", &Kv) && is_text(Kv.over, "cells") &&
        Kv.rank == 1 + (c > 1) && Kv.sizes[0] == width && (c == 1 || Kv.sizes[1] == c);
    return fine ? WEFT_OK
                : refuse(run,
                         "with c components, v is real[c] over nodes and Kv real[n,c] over cells; "
                         "with one, real and real[n]",
                         error, "'%s' does not have the shape of K v", "Kv");
}

static weft_status check_sum(const solve *run, weft_error *error) {
    weft_name_info sum;
    if (!run->options->sum ||
        (find(run->base.problem->parts[0].compilation, run->options->sum, &sum) &&
         is_text(sum.over, "cells") && sum.rank == 0 && !sum.sparse))
        return WEFT_OK;
    return refuse(run, "a number for each cell can be summed", error,
                  "'%s' is not a real over cells", run->options->sum);
}

/* A user's script has the shapes that solve can use. */
static weft_status check_script(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check_dofs(run, error));
    TRY(check_matrix(run, error));
    TRY(check_mass(run, error));
    TRY(check_names(run, error));
    TRY(check_vector(run, error));
    TRY(check_action(run, error));
done:
    return status;
}

weft_status solve_script_fit(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    solve_script *script = &run->script;
    if (script->is_assumed) { /* now for the cells of the mesh */
        solve_script_clear(run);
        *script = (solve_script){0};
        TRY(solve_forms_read(run, error));
        TRY(weft_ufl_add_functions(script->ufl, run->base.library, error));
    }
    weft_problem *problem = run->base.problem;
    for (int i = 0; i < problem->n_parts; ++i)
        TRY(compile(run, &problem->parts[i], run->base.mesh->dimension,
                    &problem->parts[i].compilation, error));
    TRY(script->ufl ? solve_spaces_make(run, error) : check_script(run, error));
    TRY(check_sum(run, error));
    weft_name_info load;
    script->has_load = !script->ufl &&
                       find(run->base.problem->parts[0].compilation, "load", &load) &&
                       load.kind == WEFT_NAME_INPUT && !load.over && load.rank == 0;
done:
    return status;
}
