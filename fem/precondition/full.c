/* Full multigrid: levels from the coarsest mesh on, each with V-cycles from the interpolated solution of
 * the level before.
 *
 * The right-hand side is a residual, so that constrained dofs are 0 on every level, and a coarse one is
 * P^T of the finer one: exact for nested spaces. On each level s is the solution so far, b its residual,
 * and z a V-cycle of b.
 *
 * Decision  docs/decisions/0042-full-multigrid-of-a-residual.md */
#include "fem/precondition/cycle.h"

#include "core/base/fault.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum full_step {
    FULL_LOAD,  /* the coarser level's b */
    FULL_START, /* s from the coarser level, and b with it */
    FULL_STEP,  /* add z to s, and change b */
    FULL_END,   /* the same without b */
    FULL_STEPS
} full_step;

typedef struct full_level {
    weft_memory *s;                                                         /* [n] */
    weft_memory *energy[WEFT_FULL_CYCLES_MAX], *size[WEFT_FULL_CYCLES_MAX]; /* b.z, z.z of cycles */
    weft_compiled programs[FULL_STEPS];
    weft_operator_in_script operators[FULL_STEPS];
} full_level;

struct weft_cycle_full {
    int n_levels; /* of meshes, from 0 */
    full_level *levels;
};

static const char *const names[FULL_STEPS] = {"full_load.weft", "full_start.weft", "full_step.weft",
                                              "full_end.weft"};

/* ---- programs -------------------------------------------------------------------------------- */

static const char *name_of(const weft_cycle_level *level, full_step step) {
    return step == FULL_LOAD && weft_cycle_is_divided(level) ? "full_load_divided.weft"
                                                             : names[step];
}

static bool has_operator(full_step step) {
    return step == FULL_START || step == FULL_STEP;
}

/* Rows of a level, of all ranks. */
static int64_t rows_of(const weft_cycle_level *level) {
    return level->part ? level->part->n_whole : level->n;
}

/* How a step is compiled; its parts point to each other. */
typedef struct step_script {
    weft_fragment fragment;
    weft_operator_choice choice;
    weft_compile_options options;
    int level;
    full_step step;
} step_script;

static weft_status describe(const weft_cycle *cycle, int number, full_step step,
                            weft_operator_in_script *in_script, step_script *out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cycle_level *level = &cycle->levels[number];
    *out = (step_script){.fragment = {name_of(level, step), weft_fem_script(name_of(level, step))},
                         .level = number,
                         .step = step};
    if (has_operator(step)) {
        TRY(weft_operator_in_script_make(level->op, in_script, error));
        out->choice = weft_operator_in_script_choice(in_script, "A");
    }
    out->options = (weft_compile_options){.size = sizeof(weft_compile_options),
                                          .operators = &out->choice,
                                          .n_operators = has_operator(step),
                                          .single = cycle->single,
                                          .scatter = WEFT_SCATTER_GATHERED,
                                          .replicated = !weft_cycle_is_divided(level),
                                          .elements = rows_of(level)};
done:
    return status;
}

static bool is_word(const char *word, const char *words) {
    const size_t n = strlen(word);
    for (const char *at = words; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strcspn(at, " ") == n && strncmp(at, word, n) == 0)
            return true;
    return false;
}

static weft_status bind(const weft_cycle *cycle, int number, full_step step, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cycle_level *level = &cycle->levels[number];
    full_level *full = &cycle->full->levels[number];
    weft_program *program = full->programs[step].program;
    const bool is_coarsest = number + 1 == cycle->full->n_levels;
    const weft_form_input all[] = {{"b", level->b},
                                   {"z", level->z},
                                   {"s", full->s},
                                   {"a", level->a},
                                   {"weights", level->weights},
                                   {"ac", is_coarsest ? NULL : level[1].a},
                                   {"bc", is_coarsest ? NULL : level[1].b},
                                   {"sc", is_coarsest ? NULL : full[1].s}};
    static const char *const uses[FULL_STEPS] = {"b a weights ac bc", "b s a weights sc", "b a z s",
                                                 "b a z s"};
    weft_program_share_buffers(program, cycle->buffers);
    if (weft_cycle_is_divided(level))
        TRY(weft_program_share(program, "fine", weft_layout_share(level->part->product), error));
    if (step == FULL_LOAD || step == FULL_START)
        TRY(weft_program_bind_connectivity(program, "parents", level->parents, error));
    else
        TRY(weft_program_size(program, "fine", level->n, error));
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (is_word(all[i].name, uses[step]))
            TRY(weft_program_bind(program, all[i].name, all[i].memory, error));
    if (has_operator(step))
        TRY(weft_operator_in_script_bind(&full->operators[step], program, "A", error));
    if (step == FULL_LOAD && weft_cycle_is_divided(level))
        TRY(weft_program_bind_operator(program, "exchange", weft_cycle_exchange, level, error));
done:
    return status;
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* Levels of meshes: those from which the mean of two parents leads to the finer one, and the next. */
static int count_meshes(const weft_cycle *cycle) {
    int n = 1;
    while (n < cycle->n_levels && cycle->levels[n - 1].parents &&
           !cycle->levels[n - 1].has_dof_weights)
        ++n;
    return n;
}

/* The coarsest mesh has no coarser one, and perhaps an inverse instead of an operator. */
static bool has_step(const weft_cycle *cycle, int number, int n_levels, full_step step) {
    return number + 1 < n_levels || step == FULL_END ||
           (step == FULL_STEP && cycle->levels[number].op);
}

static weft_status make_programs(weft_cycle *cycle, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cycle_full *full = cycle->full;
    const size_t most = (size_t)full->n_levels * FULL_STEPS;
    step_script *scripts = calloc(most, sizeof *scripts);
    weft_compile_request *requests = calloc(most, sizeof *requests);
    int n = 0;
    if (!scripts || !requests)
        TRY(weft_out_of_memory(error, "full multigrid"));
    for (int i = 0; i < full->n_levels; ++i)
        for (int k = 0; k < FULL_STEPS; ++k) {
            full_level *level = &full->levels[i];
            if (!has_step(cycle, i, full->n_levels, (full_step)k))
                continue;
            TRY(describe(cycle, i, (full_step)k, &level->operators[k], &scripts[n], error));
            requests[n] = (weft_compile_request){&scripts[n].fragment, 1, &scripts[n].options,
                                                 &level->programs[k]};
            ++n;
        }
    TRY(weft_compiled_make_all(cycle->context, requests, n, error));
    for (int i = 0; i < n; ++i)
        TRY(bind(cycle, scripts[i].level, scripts[i].step, error));
done:
    free(scripts);
    free(requests);
    return status;
}

static weft_status make_full(weft_cycle *cycle, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = cycle->context->device;
    const size_t real_bytes = cycle->single ? sizeof(float) : sizeof(double);
    weft_cycle_full *full = cycle->full = calloc(1, sizeof *full);
    if (!full)
        TRY(weft_out_of_memory(error, "full multigrid"));
    full->n_levels = count_meshes(cycle);
    full->levels = calloc((size_t)full->n_levels, sizeof *full->levels);
    if (!full->levels)
        TRY(weft_out_of_memory(error, "full multigrid"));
    for (int i = 0; i < full->n_levels; ++i) {
        const size_t bytes = (size_t)cycle->levels[i].n * real_bytes;
        TRY(weft_memory_make(device, bytes, &full->levels[i].s, error));
        for (int k = 0; k < WEFT_FULL_CYCLES_MAX; ++k) {
            TRY(weft_memory_make(device, real_bytes, &full->levels[i].energy[k], error));
            TRY(weft_memory_make(device, real_bytes, &full->levels[i].size[k], error));
        }
    }
    TRY(make_programs(cycle, error));
done:
    return status;
}

weft_status weft_cycle_compile_full_in_background(const weft_cycle *cycle, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n_levels = count_meshes(cycle);
    weft_operator_in_script in_script = {0};
    step_script script;
    for (int i = 0; i < n_levels; ++i)
        for (int k = 0; k < FULL_STEPS; ++k) {
            if (!has_step(cycle, i, n_levels, (full_step)k))
                continue;
            TRY(describe(cycle, i, (full_step)k, &in_script, &script, error));
            weft_compile_in_background(cycle->context, &script.fragment, 1, &script.options);
            weft_operator_in_script_free(&in_script);
        }
done:
    weft_operator_in_script_free(&in_script);
    return status;
}

void weft_cycle_full_free(weft_cycle_full **full) {
    if (!full || !*full)
        return;
    for (int i = 0; (*full)->levels && i < (*full)->n_levels; ++i) {
        full_level *level = &(*full)->levels[i];
        for (int step = 0; step < FULL_STEPS; ++step) {
            weft_compiled_free(&level->programs[step]);
            weft_operator_in_script_free(&level->operators[step]);
        }
        weft_memory_free(&level->s);
        for (int k = 0; k < WEFT_FULL_CYCLES_MAX; ++k) {
            weft_memory_free(&level->energy[k]);
            weft_memory_free(&level->size[k]);
        }
    }
    free((*full)->levels);
    free(*full);
    *full = NULL;
}

/* ---- the algorithm ----------------------------------------------------------------------------- */

static weft_status run(const weft_cycle *cycle, int number, full_step step, weft_error *error) {
    return weft_program_run(cycle->full->levels[number].programs[step].program, error);
}

static weft_status read_real(const weft_cycle *cycle, const weft_memory *memory, double *out,
                             weft_error *error) {
    float single = 0;
    if (!cycle->single)
        return weft_memory_read(memory, 0, out, sizeof *out, error);
    const weft_status status = weft_memory_read(memory, 0, &single, sizeof single, error);
    *out = (double)single;
    return status;
}

/* V-cycles on a level, whose s and b are set. */
static weft_status improve(weft_cycle *cycle, int number, int cycles, weft_error *error) {
    weft_status status = WEFT_OK;
    const full_level *level = &cycle->full->levels[number];
    for (int k = 0; k < cycles; ++k) {
        const full_step step = k + 1 < cycles ? FULL_STEP : FULL_END;
        weft_program *program = level->programs[step].program;
        TRY(weft_program_bind(program, "energy", level->energy[k], error));
        TRY(weft_program_bind(program, "size", level->size[k], error));
        TRY(weft_cycle_run_from(cycle, number, NULL, error));
        TRY(weft_program_run(program, error));
    }
done:
    return status;
}

/* All levels start from the solution on the coarsest mesh: one more cycle there costs nothing. */
static int cycles_of(const weft_cycle *cycle, int number, int cycles) {
    if (!cycle->levels[number].op)
        return 1; /* solved by an inverse */
    return number + 1 < cycle->full->n_levels || cycles == WEFT_FULL_CYCLES_MAX ? cycles
                                                                                : cycles + 1;
}

static weft_status read_changes(const weft_cycle *cycle, int cycles, weft_full_report *report,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    double square = 1;
    if (cycle->single)
        TRY(weft_memory_read(cycle->square, 0, &square, sizeof square, error));
    report->n_levels = cycle->full->n_levels;
    for (int i = 0; i < report->n_levels; ++i) {
        const full_level *level = &cycle->full->levels[i];
        weft_full_level *out = &report->levels[i];
        *out = (weft_full_level){.n_rows = rows_of(&cycle->levels[i]),
                                 .n_cycles = cycles_of(cycle, i, cycles)};
        for (int k = 0; k < out->n_cycles; ++k) {
            TRY(read_real(cycle, level->energy[k], &out->energy[k], error));
            TRY(read_real(cycle, level->size[k], &out->size[k], error));
            out->energy[k] *= square;
            out->size[k] *= square;
        }
    }
done:
    return status;
}

static weft_status interpolate(weft_cycle *cycle, int number, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_level_part *part = cycle->levels[number + 1].part;
    if (!weft_fault("start_stale"))
        TRY(weft_cycle_update(cycle, part ? part->solution : NULL,
                              cycle->full->levels[number + 1].s, NULL, error));
    TRY(run(cycle, number, FULL_START, error));
done:
    return status;
}

/* Levels from the coarsest mesh to `finest`, 0 or 1. */
static weft_status run_levels(weft_cycle *cycle, int finest, int cycles, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = cycle->full->n_levels;
    for (int i = 0; i + 1 < n; ++i) {
        const weft_cycle_level *coarser = &cycle->levels[i + 1];
        TRY(run(cycle, i, FULL_LOAD, error));
        TRY(weft_cycle_update(cycle, coarser->part ? coarser->part->all : NULL, coarser->b, NULL,
                              error));
    }
    TRY(weft_memory_zero(cycle->full->levels[n - 1].s, error));
    for (int i = n; i-- > finest;) {
        if (i + 1 < n)
            TRY(interpolate(cycle, i, error));
        TRY(improve(cycle, i, cycles_of(cycle, i, cycles), error));
    }
done:
    return status;
}

/* b of the finest level from r. */
static weft_status begin(weft_cycle *cycle, weft_memory *r, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!cycle->full)
        TRY(make_full(cycle, error));
    if (cycle->single)
        TRY(weft_cycle_size(cycle, r, NULL, error));
    if (cycle->outer.share)
        TRY(weft_cycle_take_in(cycle, r, NULL, error));
    TRY(weft_cycle_convert_in(cycle, cycle->outer.share ? cycle->outer.r : r, cycle->square,
                              error));
done:
    return status;
}

weft_status weft_cycle_run_full(weft_cycle *cycle, int cycles, weft_memory *r, weft_memory *z,
                                weft_full_report *report, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(begin(cycle, r, error));
    TRY(run_levels(cycle, 0, cycles, error));
    TRY(read_changes(cycle, cycles, report, error));
    TRY(weft_cycle_convert_out(cycle, cycle->full->levels[0].s, cycle->square,
                               cycle->outer.share ? cycle->outer.z : z, error));
    if (cycle->outer.share)
        TRY(weft_cycle_put_out(cycle, z, error));
done:
    if (status != WEFT_OK)
        weft_cycle_full_free(&cycle->full); /* perhaps half made */
    return status;
}

weft_status weft_cycle_run_start(weft_cycle *cycle, int cycles, weft_memory *r, weft_memory *z,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_full_report report;
    const weft_cycle_level *finest = &cycle->levels[0];
    if (cycle->full ? cycle->full->n_levels < 2 : count_meshes(cycle) < 2) {
        status = weft_cycle_run_full(cycle, cycles, r, z, &report, error);
        goto done;
    }
    TRY(begin(cycle, r, error));
    TRY(run_levels(cycle, 1, cycles, error));
    if (cycle->single) {
        TRY(weft_lists_interpolate(cycle->lists, cycle->square, finest->parents, finest->a,
                                   cycle->full->levels[1].s, z, error));
    } else {
        TRY(run(cycle, 0, FULL_START, error));
        TRY(weft_memory_copy(z, cycle->full->levels[0].s, (size_t)finest->n * sizeof(double),
                             error));
    }
done:
    if (status != WEFT_OK)
        weft_cycle_full_free(&cycle->full); /* perhaps half made */
    return status;
}
