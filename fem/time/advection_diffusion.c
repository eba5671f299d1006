/* Integrates advection-diffusion problems in time: compiles the script of a step once, then runs
 * many steps per call. */
#include "fem/mesh/part.h"
#include "fem/time/private.h"
#include "fem/time/ranks.h"
#include "fem/time/step_scheme.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* T obeys a maximum principle: if it exceeds the largest given value by this factor, the scheme is
 * unstable. */
static const double GROWTH = 1e6;

const char *weft_step_outcome_name(weft_step_outcome outcome) {
    static const char *const names[] = {"done", "nan", "blow_up", "advection_not_converged",
                                        "diffusion_not_converged"};
    return names[outcome];
}

static weft_status value_write(weft_advection_diffusion *ad, weft_ad_value which, double value,
                               weft_error *error) {
    return weft_memory_write(ad->values[which], 0, &value, sizeof value, error);
}

static weft_status value_read(const weft_advection_diffusion *ad, weft_ad_value which,
                              double *value, weft_error *error) {
    return weft_memory_read(ad->values[which], 0, value, sizeof *value, error);
}

/* ---- values at the start ---------------------------------------------------------------------- */

/* Set size = T.T, and the bound for it */
static weft_status set_bound(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    double largest = 0;
    const weft_part *part = ad->mesh->part;
    for (int64_t i = 0; i < ad->n; ++i)
        largest = fmax(largest, fabs(ad->initial[i]));
    TRY(weft_comm_maximum(ad->context->comm, &largest, error));
    double bound =
        GROWTH * largest * (GROWTH * largest) * (double)(part ? part->n_global_nodes : ad->n);
    if (weft_ad_has_list(ad, WEFT_AD_WHICH) || ad->has_load ||
        !isfinite(bound)) /* later values are unknown */
        bound = 1e300;
    TRY(value_write(ad, WEFT_AD_BOUND, bound > 0 ? bound : 1, error));
    TRY(value_write(ad, WEFT_AD_SIZE, 0, error));
done:
    return status;
}

static weft_status set_values(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_advection_diffusion_problem *problem = ad->problem;
    const double tolerance = fmax(problem->tolerance, DBL_EPSILON);
    const struct {
        weft_ad_value which;
        double value;
    } given[] = {{WEFT_AD_H, problem->dt},
                 {WEFT_AD_ITERATIONS, problem->max_iterations},
                 {WEFT_AD_TOLERANCE, tolerance * tolerance},
                 {WEFT_AD_INFINITY, INFINITY},
                 {WEFT_AD_PASS, 1},
                 {WEFT_AD_STAGES, weft_runge_kutta_rows[problem->runge_kutta].n},
                 {WEFT_AD_SHARE_B, problem->theta * ad->diffusion_step},
                 {WEFT_AD_SHARE_C, -(1 - problem->theta) * ad->diffusion_step},
                 {WEFT_AD_DURATION, ad->diffusion_step}};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; ++i)
        TRY(value_write(ad, given[i].which, given[i].value, error));
done:
    return status;
}

/* d = 1/diag(A) at free nodes, otherwise 0 */
static weft_status set_diagonal(weft_advection_diffusion *ad, weft_ad_operator which,
                                weft_ad_list list, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n_kept = 0;
    const int32_t *kept = ad->bc ? weft_bc_constrained(ad->bc, &n_kept) : NULL;
    double *d = NULL;
    if (!ad->operators[which] || !ad->lists[list] ||
        weft_device_limits(ad->context->device)->records_only)
        goto done;
    d = weft_array_make((size_t)ad->n, sizeof *d);
    if (!d)
        TRY(weft_out_of_memory(error, "advection and diffusion"));
    TRY(weft_operator_diagonal(ad->operators[which], ad->lists[list], error));
    TRY(weft_vector_pull(ad->lists[list], d, ad->n, error));
    if (ad->layout) /* kernels of GPUs compute with copies, too */
        TRY(weft_layout_update_values(ad->layout, d, error));
    for (int64_t i = 0; i < ad->n; ++i)
        d[i] = 1 / d[i];
    for (int64_t i = 0; i < n_kept; ++i)
        d[kept[i]] = 0;
    TRY(weft_ad_list_write(ad, list, d, error));
done:
    free(d);
    return status;
}

/* B times 1 at free nodes. */
static weft_status set_one(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)ad->n * sizeof(double);
    weft_memory *list = ad->lists[WEFT_AD_ONE_B], *ones = NULL;
    double *values = NULL;
    int64_t n_kept = 0;
    const int32_t *kept = ad->bc ? weft_bc_constrained(ad->bc, &n_kept) : NULL;
    if (!ad->operators[WEFT_AD_B] || !list || weft_device_limits(ad->context->device)->records_only)
        goto done;
    values = weft_array_make((size_t)ad->n, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "advection and diffusion"));
    for (int64_t i = 0; i < ad->n; ++i)
        values[i] = 1;
    TRY(weft_memory_make(ad->context->device, bytes, &ones, error));
    TRY(weft_memory_write(ones, 0, values, bytes, error));
    TRY(weft_operator_apply(ad->operators[WEFT_AD_B], ones, list, error));
    TRY(weft_vector_pull(list, values, ad->n, error));
    for (int64_t i = 0; i < n_kept; ++i)
        values[kept[i]] = 0;
    TRY(weft_ad_list_write(ad, WEFT_AD_ONE_B, values, error));
done:
    weft_memory_free(&ones);
    free(values);
    return status;
}

/* ---- making -------------------------------------------------------------------------------- */

static weft_status make_memories(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = ad->context->device;
    const size_t bytes = (size_t)ad->n * sizeof(double);
    for (int i = 0; i < WEFT_AD_VALUES; ++i)
        TRY(weft_memory_make(device, sizeof(double), &ad->values[i], error));
    for (int i = 0; i < WEFT_AD_LISTS; ++i)
        if (i < WEFT_AD_KEPT || i == WEFT_AD_FREE || weft_ad_has_list(ad, (weft_ad_list)i))
            TRY(weft_memory_make(device, bytes, &ad->lists[i], error));
done:
    return status;
}

static void set_scheme(weft_advection_diffusion *ad) {
    const weft_advection_diffusion_problem *problem = ad->problem;
    ad->reassembles = weft_advection_diffusion_reassembles(problem);
    ad->advects = problem->n_velocity > 0;
    weft_ad_load_set(ad);
    ad->diffuses = problem->n_diffusivity > 0 || ad->has_load;
    ad->solves_mass = ad->advects && !problem->lumped;
    ad->diffusion_step =
        problem->dt * (ad->advects ? weft_splitting_rows[problem->splitting].duration : 1);
}

weft_status weft_advection_diffusion_make(weft_context *context,
                                          const weft_advection_diffusion_problem *problem,
                                          weft_advection_diffusion **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_advection_diffusion *ad = calloc(1, sizeof *ad);
    if (!ad)
        TRY(weft_out_of_memory(error, "advection and diffusion"));
    ad->context = context;
    ad->problem = problem;
    ad->mesh = weft_space_mesh(problem->space);
    ad->cells = weft_space_cells(problem->space);
    ad->x = weft_space_coordinates(problem->space);
    ad->n = ad->mesh->n_nodes;
    ad->spaces[0] = problem->space;
    TRY(weft_layout_make(ad->spaces, 1, &ad->layout, error));
    TRY(weft_ad_start(ad, error));
    set_scheme(ad);
    TRY(weft_ad_text_make(ad, error));
    TRY(make_memories(ad, error));
    TRY(weft_ad_lists_set(ad, error));
    TRY(set_values(ad, error));
    TRY(set_bound(ad, error));
    TRY(weft_ad_operators_make(ad, error));
    TRY(weft_ad_operators_assemble(ad, error));
    TRY(set_diagonal(ad, WEFT_AD_M, WEFT_AD_D_M, error));
    TRY(set_diagonal(ad, WEFT_AD_B, WEFT_AD_D_B, error));
    TRY(set_one(ad, error));
    TRY(weft_ad_precondition(ad, error));
    TRY(weft_ad_load_make(ad, error));
    TRY(weft_ad_step_make(ad, error));
    free(ad->initial);
    ad->initial = NULL;
    *out = ad;
    ad = NULL;
done:
    weft_advection_diffusion_free(&ad);
    return status;
}

void weft_advection_diffusion_free(weft_advection_diffusion **out) {
    weft_advection_diffusion *ad = out ? *out : NULL;
    if (!ad)
        return;
    weft_compiled_free(&ad->step);
    weft_ad_load_clear(ad);
    weft_preconditioner_free(&ad->preconditioner);
    for (int i = 0; i < WEFT_AD_OPERATORS; ++i) {
        weft_operator_free(&ad->operators[i]);
        weft_operator_in_script_free(&ad->in_script[i]);
    }
    for (int i = 0; i < WEFT_AD_LISTS; ++i)
        weft_memory_free(&ad->lists[i]);
    for (int i = 0; i < WEFT_AD_VALUES; ++i)
        weft_memory_free(&ad->values[i]);
    weft_layout_free(&ad->layout);
    weft_text_free(&ad->text);
    weft_bc_free(&ad->bc);
    free(ad->conditions);
    free(ad->initial);
    free(ad);
    *out = NULL;
}

/* ---- running ------------------------------------------------------------------------------- */

static weft_status read_state(const weft_advection_diffusion *ad, weft_step_state *state,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    double step = 0, size = 0, bound = 0, failed = 0, iterations = 0;
    TRY(value_read(ad, WEFT_AD_STEP, &step, error));
    TRY(value_read(ad, WEFT_AD_SIZE, &size, error));
    TRY(value_read(ad, WEFT_AD_BOUND, &bound, error));
    TRY(value_read(ad, WEFT_AD_FAILED, &failed, error));
    *state = (weft_step_state){.step = (int64_t)step};
    TRY(value_read(ad, WEFT_AD_TIME, &state->t, error));
    for (int i = 0; i < weft_runge_kutta_rows[ad->problem->runge_kutta].n && ad->solves_mass; ++i) {
        TRY(value_read(ad, (weft_ad_value)(WEFT_AD_ITERATIONS_1 + i), &iterations, error));
        state->advection[i] = (int)iterations;
    }
    TRY(value_read(ad, WEFT_AD_ITERATIONS_B, &iterations, error));
    state->diffusion = (int)iterations;
    TRY(value_read(ad, WEFT_AD_TOTAL, &iterations, error));
    state->iterations = (int64_t)iterations;
    state->outcome = !isfinite(size) ? WEFT_STEP_NAN
                     : size > bound  ? WEFT_STEP_BLOW_UP
                     : failed > 1.5  ? WEFT_STEP_DIFFUSION
                     : failed > 0.5  ? WEFT_STEP_ADVECTION
                                     : WEFT_STEP_DONE;
done:
    return status;
}

weft_status weft_advection_diffusion_run(weft_advection_diffusion *ad, int64_t n,
                                         weft_step_state *state, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(value_write(ad, WEFT_AD_STEPS, (double)n, error));
    TRY(weft_program_run(ad->step.program, error));
    if (weft_device_limits(ad->context->device)->records_only)
        *state = (weft_step_state){0};
    else
        TRY(read_state(ad, state, error));
done:
    return status;
}

weft_memory *weft_advection_diffusion_field(const weft_advection_diffusion *ad) {
    return ad->lists[WEFT_AD_T];
}

weft_divided weft_advection_diffusion_divided(const weft_advection_diffusion *ad) {
    return (weft_divided){ad->layout, ad->spaces, 1};
}

int weft_advection_diffusion_lists(const weft_advection_diffusion *ad,
                                   const char *names[WEFT_ADVECTION_DIFFUSION_LISTS],
                                   weft_memory *lists[WEFT_ADVECTION_DIFFUSION_LISTS]) {
    for (int i = 0; i < WEFT_AD_KEPT; ++i) {
        names[i] = weft_ad_list_name((weft_ad_list)i);
        lists[i] = ad->lists[i];
    }
    return WEFT_AD_KEPT;
}

weft_status weft_advection_diffusion_resume(weft_advection_diffusion *ad, int64_t step,
                                            weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(value_write(ad, WEFT_AD_STEP, (double)step, error));
    TRY(value_write(ad, WEFT_AD_TIME, (double)step * ad->problem->dt, error));
done:
    return status;
}

weft_step_times weft_advection_diffusion_times(const weft_advection_diffusion *ad) {
    const weft_device *device = ad->context->device;
    weft_step_times out = {0};
    for (int i = 0; i < WEFT_AD_OPERATORS; ++i) {
        const char *name = weft_ad_operator_name((weft_ad_operator)i);
        char renewal[24];
        double seconds = 0;
        (void)snprintf(renewal, sizeof renewal, "reassemble_%s", name);
        out.n_products += weft_program_operator_time(ad->step.program, name, &seconds);
        out.products += seconds;
        out.n_assemblies += weft_program_operator_time(ad->step.program, renewal, &seconds);
        out.assembly += seconds;
    }
    if (weft_device_captures(device) || weft_device_limits(device)->records_only)
        out.products = out.assembly = NAN;
    return out;
}

weft_status weft_advection_diffusion_print(const weft_advection_diffusion *ad, const char *stage,
                                           weft_text *out, weft_error *error) {
    return weft_compilation_print(ad->step.compilation, stage, "text", out, error);
}
