/* Names the matrix, vector and mass of a script, and checks their shapes. */
#include "forms/bind/bind.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_outline.h"

#include <string.h>

enum { COMPONENTS_MAX = 8 };

/* Names of the texts that are appended to the script. */
static const char *const taken[] = {
    "v",       "y",         "A",           "apart",           "whole",
    "square",  "total",     "action",      "difference",      "block_rows",
    "rows_of", "equations", "block_nodes", "block_components"};

static weft_status refuse(const weft_binding *binding, const char *hint, weft_error *error,
                          const char *format, const char *name) {
    const weft_problem *problem = binding->problem;
    weft_error_set(error, WEFT_ERROR_INPUT, format, name);
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_INPUT;
}

/* ---- names ------------------------------------------------------------------------------- */

static bool has_name(const weft_outline *outline, weft_name_kind kind, const char *name) {
    weft_outline_name found;
    return weft_outline_find(outline, name, &found) && found.kind == kind && !found.in_loop;
}

/* The mass, for eigenvalues; in time unless the script has a scheme of its own: an input u_old, and no mass that is named or called M. */
static void name_mass(const weft_outline *outline, const weft_binding *binding) {
    const weft_bind_options *options = binding->options;
    weft_problem *problem = binding->problem;
    const char *previous = options->previous ? options->previous : "u_old";
    const bool makes_mass = has_name(outline, WEFT_NAME_VALUE, options->mass ? options->mass : "M");
    if (!options->in_time && !options->has_mass)
        return;
    problem->forms.is_pencil = !options->in_time;
    if (options->in_time && has_name(outline, WEFT_NAME_INPUT, previous) && !makes_mass)
        problem->names.previous = previous;
    else
        problem->forms.mass = options->mass ? options->mass : "M";
}

/* Set the names of matrix, vector and mass: as given or the defaults. */
static weft_status name_values(const weft_outline *outline, const weft_binding *binding,
                               weft_error *error) {
    const weft_bind_options *options = binding->options;
    weft_problem *problem = binding->problem;
    const char *custom = options->nonlinear ? "r" : "b";
    problem->forms.matrix = options->matrix ? options->matrix : "K";
    problem->forms.vector = options->vector ? options->vector : custom;
    if (!options->vector && !has_name(outline, WEFT_NAME_VALUE, custom)) {
        if (options->nonlinear)
            return refuse(
                binding, "add r[dofs] += ...; to the script, or name another by --vector", error,
                "with --nonlinear the script gives a residual, and this one makes no '%s'", custom);
        problem->forms.vector = NULL;
    }
    if (!options->matrix && !has_name(outline, WEFT_NAME_VALUE, "K"))
        return refuse(binding,
                      "add K = ...; to the script, or name another matrix by --matrix NAME", error,
                      "this script makes no local matrix '%s'", "K");
    name_mass(outline, binding);
    if (!problem->forms.mass || has_name(outline, WEFT_NAME_VALUE, problem->forms.mass))
        return WEFT_OK;
    if (problem->forms.is_pencil)
        return refuse(binding,
                      "add M = ...; to the script, the local mass matrix of K u = l M u, or name "
                      "another by --mass NAME",
                      error,
                      "with --eigenvalues the script makes a mass matrix, and this one makes no "
                      "'%s'",
                      problem->forms.mass);
    return refuse(binding,
                  "add M = ...; to the script, the local mass matrix of M du/dt + K u = b, or name "
                  "another by --mass NAME; a scheme of your own takes an input u_old",
                  error, "with --time the script makes a mass matrix, and this one makes no '%s'",
                  problem->forms.mass);
}

/* The part, in which the matrix is called K. */
static weft_status make_part(const weft_outline *outline, const weft_binding *binding,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = binding->problem;
    TRY(weft_problem_parts_make(problem, 1, error));
    weft_problem_part *part = &problem->forms.parts[0];
    part->text = binding->text;
    part->id = -1;
    part->has_matrix = true;
    part->has_vector = problem->forms.vector != NULL;
    part->has_mass = problem->forms.mass != NULL;
    weft_text_add(&part->cells, "%s", binding->text);
    if (strcmp(problem->forms.matrix, "K") != 0) {
        if (has_name(outline, WEFT_NAME_VALUE, "K"))
            TRY(refuse(binding, "call that matrix K, or what is K now something else", error,
                       "the matrix is '%s', but the script gives the name K to something else",
                       problem->forms.matrix));
        weft_text_add(&part->cells, "\nK = %s;\n", problem->forms.matrix);
    }
    if (part->cells.failed)
        TRY(weft_out_of_memory(error, NULL));
done:
    return status;
}

static weft_status check_solution(const weft_outline *outline, const weft_binding *binding,
                                  weft_error *error) {
    const weft_problem *problem = binding->problem;
    if (!problem->forms.is_nonlinear || has_name(outline, WEFT_NAME_INPUT, "u"))
        return WEFT_OK;
    weft_error_set(
        error, WEFT_ERROR_INPUT,
        "with --nonlinear the script needs the solution as an input, and this one has no input u");
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    weft_error_hint(error, "write input u : real over nodes; or, with components, real[d]");
    return WEFT_ERROR_INPUT;
}

weft_status weft_bind_name_script(const char *text, weft_binding *binding, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = binding->problem;
    weft_problem_names *names = &problem->names;
    weft_outline *outline = NULL;
    if (!problem->forms.file)
        problem->forms.file = "script";
    binding->text = strdup(text);
    if (!binding->text)
        TRY(weft_out_of_memory(error, NULL));
    const weft_fragment fragment = {problem->forms.file, binding->text};
    TRY(weft_outline_make(&fragment, 1, &outline, error));
    TRY(weft_outline_strip(outline, 0, binding->text, error));
    problem->forms.is_nonlinear = binding->options->nonlinear;
    names->is_script = true;
    names->has_dimension = has_name(outline, WEFT_NAME_PARAMETER, "d");
    if (has_name(outline, WEFT_NAME_INPUT, "v") && has_name(outline, WEFT_NAME_VALUE, "Kv"))
        names->action = "Kv";
    TRY(name_values(outline, binding, error));
    TRY(make_part(outline, binding, error));
    TRY(check_solution(outline, binding, error));
done:
    weft_outline_free(&outline);
    return status;
}

/* ---- shapes ------------------------------------------------------------------------------ */

bool weft_bind_find(const weft_compilation *compilation, const char *name, weft_name_info *out) {
    for (int i = 0; i < weft_compilation_names(compilation); ++i) {
        weft_compilation_name(compilation, i, out);
        if (strcmp(out->name, name) == 0)
            return true;
    }
    return false;
}

static weft_status check_names(const weft_binding *binding, weft_error *error) {
    const weft_problem *problem = binding->problem;
    const weft_compilation *compilation = problem->forms.parts[0].compilation;
    weft_name_info info;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; ++i)
        if (weft_bind_find(compilation, taken[i], &info) && !(i == 0 && problem->names.action))
            return refuse(binding,
                          "give it another name: v, y and A are among those that stand in "
                          "the statements that solve appends to a script",
                          error, "the name '%s' is reserved", taken[i]);
    for (size_t i = 0; i < 2; ++i)
        if (!weft_bind_find(compilation, i ? "nodes" : "cells", &info) ||
            info.kind != WEFT_NAME_INDEX)
            return refuse(binding, "write index cells, nodes;", error,
                          "this script has no index set '%s'", i ? "nodes" : "cells");
    return WEFT_OK;
}

static bool is_text(const char *a, const char *b) {
    return a && strcmp(a, b) == 0;
}

static weft_status check_dofs(const weft_binding *binding, weft_error *error) {
    const weft_problem *problem = binding->problem;
    const int width = problem->mesh->dimension + 1;
    weft_name_info dofs;
    if (!weft_bind_find(problem->forms.parts[0].compilation, "dofs", &dofs) ||
        dofs.kind != WEFT_NAME_CONNECTIVITY || !is_text(dofs.over, "cells") ||
        !is_text(dofs.to, "nodes"))
        return refuse(binding, "write connectivity dofs : cells -> nodes[d + 1];", error,
                      "this script has no connectivity '%s' from cells to nodes", "dofs");
    if (dofs.width == width)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "this script is for cells of %d nodes, but the cells of the mesh have %d",
                   dofs.width, width);
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    weft_error_hint(
        error,
        "with parameter d = 2; and nodes[d + 1] it serves triangles and tetrahedra: solve sets d");
    return WEFT_ERROR_INPUT;
}

static weft_status check_matrix(const weft_binding *binding, weft_error *error) {
    weft_problem *problem = binding->problem;
    const int width = problem->mesh->dimension + 1;
    weft_name_info K;
    static const char hint[] =
        "the local matrix of a cell of n nodes with c components each is real[n*c,n*c] over cells, "
        "row i*c + k for component k of node i";
    if (!weft_bind_find(problem->forms.parts[0].compilation, problem->forms.matrix, &K) || K.sparse)
        return refuse(binding, "write K = ...; without A[dofs,dofs] +=, which solve does itself",
                      error, "'%s' is not a local matrix", problem->forms.matrix);
    if (!is_text(K.over, "cells") || K.rank != 2 || K.sizes[0] != K.sizes[1] ||
        K.sizes[0] % width != 0)
        return refuse(binding, hint, error, "'%s' does not have the shape of a local matrix",
                      problem->forms.matrix);
    problem->forms.components = K.sizes[0] / width;
    const int64_t n_dofs = problem->mesh->n_nodes * problem->forms.components;
    if (problem->forms.components <= COMPONENTS_MAX && n_dofs <= INT32_MAX)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                          "%d components per node and %lld in all: at most %d and 2^31 - 1 can be",
                          problem->forms.components, (long long)n_dofs, COMPONENTS_MAX);
}

/* The mass matrix has the shape of the matrix. */
static weft_status check_mass(const weft_binding *binding, weft_error *error) {
    const weft_problem *problem = binding->problem;
    const char *name = problem->forms.mass;
    weft_name_info M, K;
    if (!name)
        return WEFT_OK;
    if (weft_bind_find(problem->forms.parts[0].compilation, name, &M) && !M.sparse &&
        weft_bind_find(problem->forms.parts[0].compilation, problem->forms.matrix, &K) &&
        is_text(M.over, "cells") && M.rank == 2 && M.sizes[0] == K.sizes[0] &&
        M.sizes[1] == K.sizes[1])
        return WEFT_OK;
    return refuse(binding, "it is a local matrix with as many rows and columns as that of the form",
                  error, "'%s' does not have the shape of a mass matrix", name);
}

static weft_status check_vector(const weft_binding *binding, weft_error *error) {
    const weft_problem *problem = binding->problem;
    const int c = problem->forms.components;
    const char *name = problem->forms.vector;
    weft_name_info b;
    if (!name)
        return WEFT_OK;
    const bool fine = weft_bind_find(problem->forms.parts[0].compilation, name, &b) &&
                      is_text(b.over, "nodes") && b.kind == WEFT_NAME_VALUE && !b.sparse &&
                      (b.rank == 0 ? c == 1 : b.rank == 1 && b.sizes[0] == c && c > 1);
    if (fine)
        return WEFT_OK;
    weft_error_set(
        error, WEFT_ERROR_INPUT,
        "'%s' does not have the shape of a vector: the matrix has %d component%s per node", name, c,
        c == 1 ? "" : "s");
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    weft_error_hint(error,
                    c == 1 ? "write %s[dofs] += ...; of a real[n] for the n nodes of a cell"
                           : "write %s[dofs] += ...; of a real[n,%d] for the n nodes of a cell",
                    name, c);
    return WEFT_ERROR_INPUT;
}

/* Check the shapes of the script's own K v and of its v. */
static weft_status check_action(const weft_binding *binding, weft_error *error) {
    const weft_problem *problem = binding->problem;
    const int c = problem->forms.components, width = problem->mesh->dimension + 1;
    weft_name_info v, Kv;
    if (!problem->names.action)
        return WEFT_OK;
    const bool fine = weft_bind_find(problem->forms.parts[0].compilation, "v", &v) &&
                      is_text(v.over, "nodes") && v.rank == (c > 1) &&
                      (c == 1 || v.sizes[0] == c) &&
                      weft_bind_find(problem->forms.parts[0].compilation, "Kv", &Kv) &&
                      is_text(Kv.over, "cells") && Kv.rank == 1 + (c > 1) && Kv.sizes[0] == width &&
                      (c == 1 || Kv.sizes[1] == c);
    return fine ? WEFT_OK
                : refuse(binding,
                         "with c components, v is real[c] over nodes and Kv real[n,c] over cells; "
                         "with one, real and real[n]",
                         error, "'%s' does not have the shape of K v", "Kv");
}

/* `load` is the load factor where it is a number without other values. */
static void find_factor(const weft_binding *binding) {
    weft_problem *problem = binding->problem;
    const weft_problem_given *given = &problem->names.given;
    weft_name_info load;
    problem->names.has_factor =
        weft_bind_find(problem->forms.parts[0].compilation, "load", &load) &&
        load.kind == WEFT_NAME_INPUT && !load.over && load.rank == 0;
    for (int i = 0; i < given->n_values; ++i)
        problem->names.has_factor &= strcmp(given->values[i].name, "load") != 0;
}

weft_status weft_bind_check_script(const weft_binding *binding, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check_dofs(binding, error));
    TRY(check_matrix(binding, error));
    TRY(check_mass(binding, error));
    TRY(check_names(binding, error));
    TRY(check_vector(binding, error));
    TRY(check_action(binding, error));
    find_factor(binding);
done:
    return status;
}
