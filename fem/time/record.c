/* Records steps in time, and goes back through them with a limited number of states. */
#include "fem/time/record.h"
#include "fem/time/transient.h"

#include <stdlib.h>
#include <string.h>

/* The state between two steps. */
typedef struct snapshot {
    double *lists; /* [WEFT_TRANSIENT_LISTS][n_dofs], malloc'd */
    double numbers[WEFT_TRANSIENT_NUMBERS];
} snapshot;

/* A step with u at its start and of its stages. */
typedef struct kept {
    double t, dt;
    int n_stages;
    weft_time_stage stages[WEFT_TIME_STAGES];
    double *u; /* [n_stages + 1][n_dofs], malloc'd */
} kept;

struct weft_time_record {
    int64_t most, n, capacity, repeated;
    kept *steps;       /* [n], malloc'd; u is NULL if it is not stored */
    kept now;          /* the step that is made */
    snapshot first;    /* before the first step */
    bool is_complete;  /* all steps are stored */
    bool is_repeating; /* steps that are made are known */
};

void weft_time_record_free(weft_time_record **out) {
    weft_time_record *record = *out;
    if (!record)
        return;
    for (int64_t i = 0; i < record->n; ++i)
        free(record->steps[i].u);
    free(record->steps);
    free(record->now.u);
    free(record->first.lists);
    free(record);
    *out = NULL;
}

int64_t weft_time_record_steps(const weft_transient *transient) {
    return transient->record ? transient->record->n : 0;
}

int64_t weft_time_record_repeated(const weft_transient *transient) {
    return transient->record ? transient->record->repeated : 0;
}

/* ---- states -------------------------------------------------------------------------------- */

static weft_status store(const weft_transient *transient, snapshot *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *names[WEFT_TRANSIENT_LISTS];
    weft_memory *memories[WEFT_TRANSIENT_LISTS];
    const size_t n = (size_t)transient->vectors.n;
    const int n_lists = weft_transient_lists(transient, names, memories);
    out->lists = weft_array_make(WEFT_TRANSIENT_LISTS * n, sizeof *out->lists);
    if (!out->lists)
        TRY(weft_out_of_memory(error, "a state in time"));
    for (int i = 0; i < n_lists; ++i)
        TRY(weft_vector_pull(memories[i], out->lists + (size_t)i * n, (int64_t)n, error));
    weft_transient_numbers(transient, out->numbers);
done:
    return status;
}

static weft_status restore(weft_transient *transient, const snapshot *from, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *names[WEFT_TRANSIENT_LISTS];
    weft_memory *memories[WEFT_TRANSIENT_LISTS];
    const int64_t n = transient->vectors.n;
    const int n_lists = weft_transient_lists(transient, names, memories);
    weft_transient_state state;
    for (int i = 0; i < n_lists; ++i)
        TRY(weft_vector_push(memories[i], from->lists + i * n, n, error));
    TRY(weft_transient_resume(transient, from->numbers, &state, error));
done:
    return status;
}

/* ---- recording ----------------------------------------------------------------------------- */

weft_status weft_time_record_begin(weft_transient *transient, double dt,
                                   const weft_time_stage *stages, int n, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_time_record *record = transient->record;
    const int64_t n_dofs = transient->vectors.n;
    if (!record)
        goto done;
    if (record->n == 0 && !record->first.lists)
        TRY(store(transient, &record->first, error));
    if (transient->system.matrix_moves || transient->problem.is_nonlinear ||
        dt != transient->dt_before)
        weft_transient_forget(transient);
    free(record->now.u);
    record->now = (kept){.t = transient->state.t, .dt = dt, .n_stages = n};
    memcpy(record->now.stages, stages, (size_t)n * sizeof *stages);
    record->now.u = weft_array_make((size_t)(n + 1) * (size_t)n_dofs, sizeof(double));
    if (!record->now.u)
        TRY(weft_out_of_memory(error, "a step in time"));
    TRY(weft_vector_pull(transient->u, record->now.u, n_dofs, error));
done:
    return status;
}

weft_status weft_time_record_stage(weft_transient *transient, int stage, weft_error *error) {
    const int64_t n = transient->vectors.n;
    return transient->record
               ? weft_vector_pull(transient->u, transient->record->now.u + (stage + 1) * n, n,
                                  error)
               : WEFT_OK;
}

weft_status weft_time_record_end(weft_transient *transient, weft_error *error) {
    weft_time_record *record = transient->record;
    if (!record || record->is_repeating)
        return WEFT_OK;
    if (record->n == record->capacity) {
        const int64_t capacity = 2 * record->capacity + 16;
        kept *steps = realloc(record->steps, (size_t)capacity * sizeof *steps);
        if (!steps)
            return weft_out_of_memory(error, "the steps in time");
        record->steps = steps;
        record->capacity = capacity;
    }
    record->is_complete = record->n < record->most;
    for (int64_t i = 0; i < record->n && !record->is_complete; ++i) {
        free(record->steps[i].u);
        record->steps[i].u = NULL;
    }
    record->steps[record->n] = record->now;
    if (record->is_complete)
        record->now.u = NULL;
    else
        record->steps[record->n].u = NULL;
    ++record->n;
    return WEFT_OK;
}

weft_status weft_time_record_make(const weft_transient_problem *problem, weft_time_record **out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    if (problem->checkpoints <= 0)
        goto done;
    if (problem->tolerance > 0)
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "steps whose length is chosen by a tolerance are not recorded",
                              "let the tolerance in time be 0, for steps of given lengths"));
    *out = calloc(1, sizeof **out);
    if (!*out)
        TRY(weft_out_of_memory(error, "the steps in time"));
    (*out)->most = problem->checkpoints;
done:
    return status;
}

/* ---- backwards ----------------------------------------------------------------------------- */

typedef struct way {
    weft_transient *transient;
    weft_time_record *record;
    const weft_time_visitor *visitor;
} way;

static weft_status visit(const way *back, const kept *step, weft_error *error) {
    const double *u[WEFT_TIME_STAGES + 1];
    for (int i = 0; i <= step->n_stages; ++i)
        u[i] = step->u + i * back->transient->vectors.n;
    const weft_time_visit made = {step->t, step->dt, step->n_stages, step->stages, u};
    return back->visitor->visit(back->visitor->user, &made, error);
}

/* Make the steps from `from`, whose state is there, to `to`. */
static weft_status repeat(const way *back, int64_t from, int64_t to, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_transient_state state;
    for (int64_t i = from; i < to; ++i) {
        TRY(weft_transient_step(back->transient, back->record->steps[i].dt, &state, error));
        if (state.outcome != WEFT_TRANSIENT_DONE)
            TRY(weft_error_refuse(error, WEFT_ERROR_INPUT, "a step that was made again has failed",
                                  "raise the number of checkpoints"));
        ++back->record->repeated;
    }
done:
    return status;
}

/* (a + b over b), at most `most`. */
static int64_t binomial(int64_t a, int64_t b, int64_t most) {
    int64_t value = 1;
    for (int64_t i = 1; i <= b; ++i) {
        if (value > most)
            return most;
        value = value * (a + i) / i;
    }
    return value < most ? value : most;
}

/* How many of n steps are made before the next state is stored, where s states may be, that at the start among them. With the least
 * r for which n is at most (s + r over s), r - 1 repetitions go back through these, and r through the rest. */
static int64_t split(int64_t n, int64_t s) {
    int64_t r = 1;
    while (binomial(r, s, n) < n)
        ++r;
    const int64_t first = binomial(r - 1, s, n), rest = n - binomial(r - 1, s - 1, n - 1);
    return first < rest ? first : rest;
}

/* Visit the steps before `to` down to `from`, whose state is `start`. */
static weft_status go_back(const way *back, int64_t from, int64_t to, const snapshot *start,
                           int64_t states, weft_error *error) {
    weft_status status = WEFT_OK;
    snapshot middle = {.lists = NULL};
    while (to > from) {
        const int64_t n = to - from, next = from + (states > 1 && n > 1 ? split(n, states) : n - 1);
        TRY(restore(back->transient, start, error));
        TRY(repeat(back, from, next, error));
        if (next + 1 == to) {
            TRY(repeat(back, next, to, error));
            TRY(visit(back, &back->record->now, error));
        } else {
            TRY(store(back->transient, &middle, error));
            TRY(go_back(back, next, to, &middle, states - 1, error));
            free(middle.lists);
            middle.lists = NULL;
        }
        to = next;
    }
done:
    free(middle.lists);
    return status;
}

weft_status weft_time_record_reverse(weft_transient *transient, const weft_time_visitor *visitor,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_time_record *record = transient->record;
    const way back = {transient, record, visitor};
    snapshot end = {.lists = NULL};
    if (!record || record->n == 0)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "no steps are recorded",
                              "give a number of checkpoints, and make steps"));
    record->repeated = 0;
    record->is_repeating = true;
    for (int64_t i = record->n; i > 0 && record->is_complete; --i)
        TRY(visit(&back, &record->steps[i - 1], error));
    if (record->is_complete)
        goto done;
    TRY(store(transient, &end, error));
    TRY(go_back(&back, 0, record->n, &record->first, record->most, error));
    TRY(restore(transient, &end, error));
done:
    if (record)
        record->is_repeating = false;
    free(end.lists);
    return status;
}
