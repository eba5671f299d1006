/* The energy of a linear stationary problem: u.(A - R) u / 2, R of Robin conditions. */
#include "fem/base/memory.h"
#include "fem/constrain/constrain.h"
#include "fem/problem/assembled.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Rounding of what the Robin conditions and A pull at modes that they alone hold. */
static const double SAME_PULL = 1e-12;

/* Of what a row sums, or of a hundredth of the most in the rows of its component: rounding where its terms cancel. */
static const double ROUNDING = 64 * DBL_EPSILON, SMALL_ROW = 1e-2;

/* u = w + m, m the mean of each component whose values are all about it; vectors [n_dofs] on the device. */
typedef struct split {
    weft_assembled *system;
    weft_spans *spans;
    weft_memory *u;              /* without modes that are held */
    weft_memory *part, *of_part; /* m in one component, then w; (A - R) of it */
    weft_memory *of_m, *sizes;   /* (A - R) m; of what rows of A sum of a part */
    weft_memory *scratch;        /* the system's */
} split;

static weft_status split_make(weft_assembled *system, split *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = system->fields->n_dofs;
    *s = (split){.system = system, .u = system->u, .scratch = system->scratch};
    TRY(weft_spans_make(system->fields->context->device, system->rest ? 5 : 4, n, &s->spans,
                        error));
    s->part = weft_spans_vector(s->spans, 0), s->of_part = weft_spans_vector(s->spans, 1);
    s->of_m = weft_spans_vector(s->spans, 2), s->sizes = weft_spans_vector(s->spans, 3);
    if (!system->rest)
        goto done;
    s->u = weft_spans_vector(s->spans, 4);
    TRY(weft_vector_push(s->u, system->rest, n, error));
done:
    return status;
}

static weft_span whole(const split *s, weft_memory *vector) {
    return weft_span_whole(vector, s->system->fields->n_dofs);
}

static weft_span span_of(const split *s, weft_memory *vector, int k) {
    const weft_transient_open of = weft_component_dofs(s->system, k);
    return (weft_span){vector, of.first, of.last, of.step};
}

/* of_part = (A - R) part */
static weft_status apply_without_robin(const split *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_span y = whole(s, s->of_part);
    TRY(weft_operator_apply(s->system->op, s->part, s->of_part, error));
    if (!s->system->robin)
        goto done;
    TRY(weft_operator_apply(s->system->robin, s->part, s->scratch, error));
    TRY(weft_span_change(s->spans, &y, WEFT_SPAN_ADD, s->scratch, -1, 0, error));
done:
    return status;
}

/* What rounding leaves in the rows of each component becomes zero. */
static weft_status drop_rounding(const split *s, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int k = 0; k < s->system->fields->n_values; ++k) {
        const weft_span sizes = span_of(s, s->sizes, k), rows = span_of(s, s->of_part, k);
        weft_span_sums sums;
        TRY(weft_span_sum(s->spans, &sizes, WEFT_SPAN_PRODUCT, NULL, 0, &sums, error));
        TRY(weft_span_change(s->spans, &rows, WEFT_SPAN_DROP, s->sizes, ROUNDING,
                             SMALL_ROW * sums.most, error));
    }
done:
    return status;
}

/* of_m of the means. Component by component, as rounding of a large mean is not that of a small one. */
static weft_status split_means(const split *s, double means[WEFT_VALUES_MAX], weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_span of_m = whole(s, s->of_m);
    for (int k = 0; k < s->system->fields->n_values; ++k) {
        const weft_span u = span_of(s, s->u, k), part = span_of(s, s->part, k);
        weft_span_sums sums;
        TRY(weft_span_sum(s->spans, &u, WEFT_SPAN_PRODUCT, NULL, 0, &sums, error));
        means[k] = sums.sum / (double)weft_span_entries(&u);
        if (2 * fabs(means[k]) <= sums.most) { /* w is as large, and rounds as much */
            means[k] = 0;
            continue;
        }
        TRY(weft_memory_zero(s->part, error));
        TRY(weft_span_change(s->spans, &part, WEFT_SPAN_SET, NULL, means[k], 0, error));
        TRY(weft_operator_size_rows(s->spans, s->system->op, s->part,
                                    (weft_memory *[]){s->scratch, s->of_part}, s->sizes, error));
        TRY(apply_without_robin(s, error));
        TRY(drop_rounding(s, error));
        TRY(weft_span_change(s->spans, &of_m, WEFT_SPAN_ADD, s->of_part, 1, 0, error));
    }
done:
    return status;
}

/* part = w */
static weft_status take_rest(const split *s, const double means[WEFT_VALUES_MAX],
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)s->system->fields->n_dofs * sizeof(double);
    TRY(weft_memory_copy(s->part, s->u, bytes, error));
    for (int k = 0; k < s->system->fields->n_values; ++k) {
        const weft_span w = span_of(s, s->part, k);
        TRY(weft_span_change(s->spans, &w, WEFT_SPAN_ADD, NULL, -means[k], 0, error));
    }
done:
    return status;
}

/* u.(A - R) u. Rows of gradients sum to zero but for rounding, which u.(A - R) u would multiply by the square of a
 * constant in u. Of a symmetric A - R it is w.(A - R) w + (2 w + m).(A - R) m = w.(A - R) u + u.(A - R) m. */
static weft_status measure_split(const split *s, double *sum, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool is_symmetric = s->system->asymmetry <= WEFT_SYMMETRIC;
    const weft_span of_u = whole(s, s->of_part), of_m = whole(s, s->of_m);
    double means[WEFT_VALUES_MAX];
    weft_span_sums first, second = {0};
    TRY(split_means(s, means, error));
    TRY(take_rest(s, means, error));
    TRY(apply_without_robin(s, error));
    TRY(weft_span_change(s->spans, &of_u, WEFT_SPAN_ADD, s->of_m, 1, 0, error));
    TRY(weft_span_sum(s->spans, &of_u, WEFT_SPAN_PRODUCT, is_symmetric ? s->part : s->u, 0, &first,
                      error));
    if (is_symmetric)
        TRY(weft_span_sum(s->spans, &of_m, WEFT_SPAN_PRODUCT, s->u, 0, &second, error));
    *sum = first.sum + second.sum;
done:
    return status;
}

/* robin = R m, m on the host as is the result. */
static weft_status apply_robin(const split *s, const double *m, double *robin, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = s->system->fields->n_dofs;
    if (!s->system->robin)
        goto done;
    TRY(weft_vector_push(s->part, m, n, error));
    TRY(weft_operator_apply(s->system->robin, s->part, s->of_part, error));
    TRY(weft_vector_pull(s->of_part, robin, n, error));
done:
    return status;
}

/* Of u = w + m, m of modes that weak terms hold, what m adds to u.(A - R) u: (2 w + m).(A - R) m. */
static weft_status measure_held(const split *s, double *sum, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_assembled *system = s->system;
    const int64_t n = system->fields->n_dofs;
    const weft_held_modes *held = &system->modes.held;
    double *m = weft_array_make((size_t)n, sizeof *m),
           *pull = weft_array_make((size_t)n, sizeof *m);
    double *robin = weft_array_make((size_t)n, sizeof *m);
    if (!m || !pull || !robin)
        TRY(weft_out_of_memory(error, NULL));
    weft_held_modes_add(held, n, 1, held->amounts, held->modes, m);
    weft_held_modes_add(held, n, 1, held->amounts, held->pulls, pull);
    TRY(apply_robin(s, m, robin, error));
    for (int64_t i = 0; i < n; ++i)
        if (fabs(pull[i] - robin[i]) > SAME_PULL * fabs(robin[i]))
            *sum += (2 * system->rest[i] + m[i]) * (pull[i] - robin[i]);
done:
    free(m);
    free(pull);
    free(robin);
    return status;
}

weft_status weft_assembled_energy(weft_assembled *system, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    split s = {0};
    double sum = 0;
    TRY(split_make(system, &s, error));
    TRY(measure_split(&s, &sum, error));
    if (system->rest)
        TRY(measure_held(&s, &sum, error));
    *out = sum / 2;
done:
    weft_spans_free(&s.spans);
    return status;
}
