/* The energy of a linear stationary problem: u.(A - R) u / 2, R of Robin conditions. */
#include "fem/problem/assembled.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounding of what the Robin conditions and A pull at modes that they alone hold. */
static const double SAME_PULL = 1e-12;

/* out = R v, R of Robin conditions; v is left in system->scratch. */
static weft_status apply_robin(weft_assembled *system, const double *v, weft_memory *memory,
                               double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    memset(out, 0, (size_t)system->fields->n_dofs * sizeof *out);
    TRY(weft_vector_push(system->scratch, v, system->fields->n_dofs, error));
    if (!system->robin)
        goto done;
    TRY(weft_operator_apply(system->robin, system->scratch, memory, error));
    TRY(weft_vector_pull(memory, out, system->fields->n_dofs, error));
done:
    return status;
}

/* y = A v - R v */
static weft_status apply_without_robin(weft_assembled *system, const double *v, weft_memory *memory,
                                       double *y, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = system->fields->n_dofs;
    double *robin = NULL;
    TRY(weft_vector_push(system->scratch, v, n, error));
    TRY(weft_operator_apply(system->op, system->scratch, memory, error));
    TRY(weft_vector_pull(memory, y, n, error));
    if (!system->robin)
        goto done;
    robin = weft_array_make((size_t)n, sizeof *robin);
    if (!robin)
        TRY(weft_out_of_memory(error, NULL));
    TRY(apply_robin(system, v, memory, robin, error));
    for (int64_t i = 0; i < n; ++i)
        y[i] -= robin[i];
done:
    free(robin);
    return status;
}

/* Of u = w + m, m of modes that weak terms hold, what m adds to u.(A - R) u: (2 w + m).(A - R) m. */
static weft_status measure_held(weft_assembled *system, weft_memory *memory, double *sum,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = system->fields->n_dofs;
    const weft_held_modes *held = &system->modes.held;
    double *m = weft_array_make((size_t)n, sizeof *m),
           *pull = weft_array_make((size_t)n, sizeof *m);
    double *robin = weft_array_make((size_t)n, sizeof *m);
    if (!m || !pull || !robin)
        TRY(weft_out_of_memory(error, NULL));
    weft_held_modes_add(held, n, 1, held->amounts, held->modes, m);
    weft_held_modes_add(held, n, 1, held->amounts, held->pulls, pull);
    TRY(apply_robin(system, m, memory, robin, error));
    for (int64_t i = 0; i < n; ++i)
        if (fabs(pull[i] - robin[i]) > SAME_PULL * fabs(robin[i]))
            *sum += (2 * system->rest[i] + m[i]) * (pull[i] - robin[i]);
done:
    free(m);
    free(pull);
    free(robin);
    return status;
}

/* Of what a row sums, or of a hundredth of the most in the rows of its component: rounding where its terms cancel. */
static const double ROUNDING = 64 * DBL_EPSILON, SMALL_ROW = 1e-2;

/* u = w + m, m the mean of each component. */
typedef struct split {
    double *w, *m;
    double *of_w, *of_m;  /* (A - R) w, (A - R) m */
    double *one, *of_one; /* the part of m in one component, (A - R) of it */
    double *sizes;        /* of what rows of A sum of it */
} split;

static weft_status split_make(int64_t n, split *s, double **lists, weft_error *error) {
    enum { LISTS = 7 };
    double *list = weft_array_make((size_t)(LISTS * n), sizeof *list);
    if (!list)
        return weft_out_of_memory(error, "the energy");
    *s = (split){list,         list + n,     list + 2 * n, list + 3 * n,
                 list + 4 * n, list + 5 * n, list + 6 * n};
    *lists = list;
    return WEFT_OK;
}

static void fill_mean(const weft_transient_open *of, const double *u, double *out) {
    double sum = 0;
    int64_t n = 0;
    for (int64_t i = of->first; i < of->last; i += of->step, ++n)
        sum += u[i];
    for (int64_t i = of->first; i < of->last; i += of->step)
        out[i] = sum / (double)n;
}

/* (A - R) m is zero where it is rounding. */
static void drop_rounding(const weft_assembled *system, split *s) {
    for (int k = 0; k < system->fields->n_values; ++k) {
        const weft_transient_open of = weft_component_dofs(system, k);
        double most = 0;
        for (int64_t i = of.first; i < of.last; i += of.step)
            most = fmax(most, s->sizes[i]);
        for (int64_t i = of.first; i < of.last; i += of.step)
            if (fabs(s->of_one[i]) <= ROUNDING * fmax(s->sizes[i], SMALL_ROW * most))
                s->of_one[i] = 0;
    }
}

/* Component by component, as rounding of a large mean is not that of a small one. */
static weft_status split_means(weft_assembled *system, const double *u, weft_memory *memory,
                               split *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = system->fields->n_dofs;
    for (int k = 0; k < system->fields->n_values; ++k) {
        const weft_transient_open of = weft_component_dofs(system, k);
        memset(s->one, 0, (size_t)n * sizeof *s->one);
        fill_mean(&of, u, s->one);
        TRY(apply_without_robin(system, s->one, memory, s->of_one, error));
        TRY(weft_operator_row_sizes(system->fields->context->device, system->op, s->one, s->sizes,
                                    error));
        drop_rounding(system, s);
        for (int64_t i = 0; i < n; ++i) {
            s->m[i] += s->one[i];
            s->of_m[i] += s->of_one[i];
        }
    }
done:
    return status;
}

/* u.(A - R) u. Rows of gradients sum to zero but for rounding, which u.(A - R) u would multiply by the square of a
 * constant in u. */
static weft_status measure_split(weft_assembled *system, const double *u, weft_memory *memory,
                                 double *sum, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = system->fields->n_dofs;
    const bool is_symmetric = system->asymmetry <= WEFT_SYMMETRIC;
    double *lists = NULL;
    split s = {0};
    TRY(split_make(n, &s, &lists, error));
    TRY(split_means(system, u, memory, &s, error));
    for (int64_t i = 0; i < n; ++i)
        s.w[i] = u[i] - s.m[i];
    TRY(apply_without_robin(system, s.w, memory, s.of_w, error));
    for (int64_t i = 0; i < n; ++i)
        s.w[i] = is_symmetric ? s.w[i] * s.of_w[i] + (2 * s.w[i] + s.m[i]) * s.of_m[i]
                              : (s.w[i] + s.m[i]) * (s.of_w[i] + s.of_m[i]);
    *sum = weft_sum(s.w, n);
done:
    free(lists);
    return status;
}

weft_status weft_assembled_energy(weft_assembled *system, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const double *u = system->rest ? system->rest : system->u_values;
    weft_memory *memory = NULL;
    double sum = 0;
    TRY(weft_memory_make(system->fields->context->device,
                         (size_t)system->fields->n_dofs * sizeof(double), &memory, error));
    TRY(measure_split(system, u, memory, &sum, error));
    if (system->rest)
        TRY(measure_held(system, memory, &sum, error));
    *out = sum / 2;
done:
    weft_memory_free(&memory);
    return status;
}
