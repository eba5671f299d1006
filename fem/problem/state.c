/* Writes the state of a run in time to checkpoints, and continues from them. */
#include "fem/problem/state.h"
#include "fem/io/result.h"
#include "fem/weft_preconditioner.h"
#include "fem/weft_result.h"

#include <stdlib.h>
#include <string.h>

weft_status weft_state_check_name(const char *path, weft_error *error) {
    if (weft_ends_with(path, ".vtkhdf"))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "--checkpoint %s: it is a VTKHDF file, so its name ends in .vtkhdf", path);
    weft_error_hint(error, "write --checkpoint FILE.vtkhdf");
    return WEFT_ERROR_USAGE;
}

void weft_state_clear(weft_state *state) {
    weft_text_free(&state->problem);
}

/* The lists of a state on the host, with the numbers behind them. */
typedef struct lists {
    const char *names[WEFT_STATE_LISTS + 1];
    double *values[WEFT_STATE_LISTS + 1];
    int64_t lengths[WEFT_STATE_LISTS + 1];
    weft_checkpoint file;
} lists;

static weft_status lists_make(const weft_state *state, lists *out, weft_error *error) {
    bool good = !state->problem.failed;
    *out = (lists){.file = {.problem = state->problem.data,
                            .step = state->step,
                            .n_lists = state->n + (state->numbers != NULL),
                            .names = out->names,
                            .lists = out->values,
                            .lengths = state->numbers ? out->lengths : NULL}};
    for (int i = 0; i < state->n; ++i) {
        out->names[i] = state->names[i];
        out->lengths[i] = state->n_dofs;
        out->values[i] = weft_array_make((size_t)state->n_dofs, sizeof(double));
        good &= out->values[i] != NULL;
    }
    out->names[state->n] = "numbers";
    out->values[state->n] = state->numbers;
    out->lengths[state->n] = state->n_numbers;
    return good ? WEFT_OK : weft_out_of_memory(error, "a checkpoint");
}

static void lists_clear(const weft_state *state, lists *all) {
    for (int i = 0; i < state->n; ++i)
        free(all->values[i]);
}

/* Has this rank the file? */
static bool has_file(const weft_state *state) {
    return weft_comm_rank(weft_layout_comm(state->divided.layout)) == 0;
}

/* values  [n_dofs] on the rank that has the file; NULL on others */
static weft_status pull(const weft_state *state, int i, double *values, weft_error *error) {
    return state->divided.layout
               ? weft_divided_collect(&state->divided, state->memories[i], state->spaces, values,
                                      error)
               : weft_vector_pull(state->memories[i], values, state->n_dofs, error);
}

static weft_status push(const weft_state *state, int i, const double *values, weft_error *error) {
    return state->divided.layout
               ? weft_divided_spread(&state->divided, state->spaces, values, state->memories[i],
                                     error)
               : weft_vector_push(state->memories[i], values, state->n_dofs, error);
}

weft_status weft_state_write(const weft_state *state, const char *path, const weft_mesh *mesh,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const bool writes = has_file(state);
    lists all = {.values = {NULL}};
    if (writes)
        TRY(lists_make(state, &all, error));
    for (int i = 0; i < state->n; ++i)
        TRY(pull(state, i, all.values[i], error));
    if (writes)
        TRY(weft_checkpoint_write(path, mesh, &all.file, error));
done:
    lists_clear(state, &all);
    return status;
}

/* What is read is sent to the other ranks. */
static weft_status share(const weft_state *state, int64_t *step, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_comm *comm = weft_layout_comm(state->divided.layout);
    TRY(weft_comm_broadcast(comm, step, sizeof *step, 0, error));
    TRY(weft_comm_broadcast(comm, state->numbers, (size_t)state->n_numbers * sizeof *state->numbers,
                            0, error));
done:
    return status;
}

weft_status weft_state_read(weft_state *state, const char *path, const weft_mesh *mesh,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const bool reads = has_file(state);
    lists all = {.values = {NULL}};
    if (reads) {
        TRY(lists_make(state, &all, error));
        TRY(weft_checkpoint_read(path, mesh, &all.file, error));
    }
    TRY(share(state, &all.file.step, error));
    for (int i = 0; i < state->n; ++i)
        TRY(push(state, i, all.values[i], error));
    state->step = all.file.step;
done:
    lists_clear(state, &all);
    return status;
}

/* ---- choices of a run that is continued: they depend on the number of steps, on what was measured and on the machine */

/* The name after an option of the program's, which precede those with texts of the user; false: it is not there. */
static bool find_choice(const char *problem, const char *option, char *out, size_t size) {
    const char *at = strstr(problem, option);
    if (!at)
        return false;
    at += strlen(option);
    const size_t length = strcspn(at, " ");
    if (length >= size)
        return false;
    memcpy(out, at, length);
    out[length] = '\0';
    return true;
}

static weft_status keep_preconditioner(const char *problem, weft_problem_options *options,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    char name[64];
    int kind = WEFT_JACOBI;
    if (options->preconditioner != WEFT_AUTO)
        goto done;
    if (find_choice(problem, " --preconditioner ", name, sizeof name))
        TRY(weft_preconditioner_find(name, &kind, error));
    options->earlier = kind;
done:
    return status;
}

weft_status weft_problem_resume_choices(const char *path, weft_problem_options *options,
                                        weft_error *error) {
    weft_status status = WEFT_OK;
    char *problem = NULL, name[64];
    weft_assembly assembly = 0;
    int choice = 0;
    if (!path)
        goto done;
    TRY(weft_checkpoint_problem(path, &problem, error));
    if (options->assembly == WEFT_AUTO && find_choice(problem, " --assembly ", name, sizeof name)) {
        TRY(weft_assembly_find(name, &assembly, error));
        options->assembly = (int)assembly;
    }
    if (options->method == WEFT_AUTO && find_choice(problem, " --method ", name, sizeof name))
        for (choice = 0; choice < weft_method_count(); ++choice)
            if (strcmp(weft_method_about((weft_method)choice)->name, name) == 0 &&
                !weft_method_about((weft_method)choice)->needs_symmetric)
                options->method = choice; /* GMRES or BiCGStab, by the memory */
    TRY(keep_preconditioner(problem, options, error));
done:
    free(problem);
    return status;
}
