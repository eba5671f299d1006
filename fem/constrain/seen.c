/* Judges which modes an operator maps to zero, row by row, and which its weakest terms alone hold. */
#include "fem/constrain/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Work on a mode, relative to the terms without signs, below which it is held weakly: rounding of A m then
 * costs more than 1e-7 of the amount of the mode. */
static const double WEAK = 1e-9;

enum { SAMPLES = 3 }; /* in which the terms of a row hardly all cancel */

weft_status weft_operator_size_rows(weft_spans *spans, weft_operator *op, weft_memory *mask,
                                    weft_memory *const scratch[2], weft_memory *out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_operator_dofs(op);
    const weft_span v = weft_span_whole(scratch[0], n), sizes = weft_span_whole(out, n);
    TRY(weft_memory_zero(out, error));
    for (int sample = 0; sample < SAMPLES; ++sample) {
        const double start = (double)(sample * n);
        TRY(weft_span_change(spans, &v, WEFT_SPAN_SAMPLE, mask, start, 0, error));
        TRY(weft_operator_apply(op, scratch[0], scratch[1], error));
        TRY(weft_span_change(spans, &sizes, WEFT_SPAN_RAISE, scratch[1], 0, 0, error));
    }
done:
    return status;
}

weft_status weft_operator_row_sizes(weft_device *device, weft_operator *op, double *out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_operator_dofs(op);
    weft_spans *spans = NULL;
    TRY(weft_spans_make(device, 3, n, &spans, error));
    weft_memory *const scratch[] = {weft_spans_vector(spans, 0), weft_spans_vector(spans, 1)};
    weft_memory *sizes = weft_spans_vector(spans, 2);
    TRY(weft_operator_size_rows(spans, op, NULL, scratch, sizes, error));
    TRY(weft_memory_read(sizes, 0, out, (size_t)n * sizeof *out, error));
done:
    weft_spans_free(&spans);
    return status;
}

double weft_operator_seen(const double *y, const double *sizes, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; ++i)
        if (!(fabs(y[i]) <= most * sizes[i])) /* sizes of 0 have y = 0 */
            most = fabs(y[i]) / sizes[i];
    return most;
}

/* ---- modes ----------------------------------------------------------------------------------- */

/* An operator and what judges it. */
typedef struct judge {
    const weft_constraints *constraints;
    weft_operator *op;
    double *sizes, *y; /* [n_dofs] */
    weft_memory *v_memory, *y_memory;
} judge;

static weft_status judge_make(const weft_constraints *constraints, weft_operator *op, judge *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = constraints->context->device;
    const size_t n = (size_t)constraints->n_dofs;
    *out = (judge){.constraints = constraints, .op = op};
    out->sizes = weft_array_make(n, sizeof *out->sizes);
    if (!out->sizes)
        TRY(weft_out_of_memory(error, "free modes"));
    TRY(weft_vector_make(device, (int64_t)n, &out->y, &out->y_memory, error));
    TRY(weft_memory_make(device, n * sizeof(double), &out->v_memory, error));
    TRY(weft_operator_row_sizes(device, op, out->sizes, error));
done:
    return status;
}

static void judge_clear(judge *by) {
    weft_memory_free(&by->v_memory);
    weft_memory_free(&by->y_memory);
    free(by->sizes);
    free(by->y);
}

/* How much larger rounding is in a mode because of its coordinates: those of rotations vary. */
static double coordinates_of(const judge *by, const double *mode) {
    const weft_space *space = by->constraints->space;
    const int c = weft_space_components(space), d = weft_space_mesh(space)->dimension;
    const double *x = weft_space_points(space);
    double far = 0, low[3] = {INFINITY, INFINITY, INFINITY}, size = 0;
    double high[3] = {-INFINITY, -INFINITY, -INFINITY};
    bool varies = false;
    for (int64_t i = 0; i < by->constraints->n_dofs; ++i)
        varies |= mode[i] != 0 && fabs(mode[i]) != 1;
    if (!varies)
        return 1;
    for (int64_t i = 0; i < weft_space_nodes(space); ++i) {
        bool is_there = false;
        for (int k = 0; k < c; ++k)
            is_there |= mode[i * c + k] != 0;
        for (int a = 0; a < d && is_there; ++a) {
            far = fmax(far, fabs(x[i * d + a]));
            low[a] = fmin(low[a], x[i * d + a]);
            high[a] = fmax(high[a], x[i * d + a]);
        }
    }
    for (int a = 0; a < d; ++a)
        size = fmax(size, high[a] - low[a]);
    return size > 0 ? 1 + far / size : 1;
}

/* y = A m. Returns through *seen whether some row is above rounding. */
static weft_status see(judge *by, const double *mode, bool *seen, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = by->constraints->n_dofs;
    TRY(weft_memory_write(by->v_memory, 0, mode, (size_t)n * sizeof *mode, error));
    TRY(weft_operator_apply(by->op, by->v_memory, by->y_memory, error));
    TRY(weft_vector_pull(by->y_memory, by->y, n, error));
    *seen = weft_operator_seen(by->y, by->sizes, n) > WEFT_UNSEEN * coordinates_of(by, mode);
done:
    return status;
}

static bool is_weak(const judge *by, const double *mode) {
    double work = 0, size = 0;
    for (int64_t i = 0; i < by->constraints->n_dofs; ++i) {
        work += fabs(mode[i] * by->y[i]);
        size += fabs(mode[i]) * by->sizes[i];
    }
    return work <= WEAK * size;
}

/* Keep the candidates that A maps to zero or holds weakly; pulls become A m where that is not rounding. */
static weft_status keep_weak(judge *all, mode_candidates *found, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = found->n_dofs;
    int kept = 0;
    for (int k = 0; k < found->n; ++k) {
        double *mode = found->modes + kept * n, *pull = found->pulls + kept * n;
        bool seen = false;
        memmove(mode, found->modes + k * n, (size_t)n * sizeof *mode);
        TRY(see(all, mode, &seen, error));
        if (seen && !is_weak(all, mode))
            continue;
        for (int64_t i = 0; i < n; ++i)
            pull[i] = seen ? all->y[i] : 0;
        ++kept;
    }
    found->n = kept;
done:
    return status;
}

/* What one form alone pulls: exact, and so it takes the place of its part of A m. */
static weft_status add_alone(const judge *all, const weft_form *form, mode_candidates *found,
                             double *rest, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = found->n_dofs;
    weft_operator *op = NULL;
    judge alone = {0};
    TRY(weft_operator_make(all->constraints->context, WEFT_ASSEMBLY_MATRIX_FREE, form, 1, &op,
                           error));
    TRY(weft_operator_assemble(op, error));
    TRY(judge_make(all->constraints, op, &alone, error));
    for (int k = 0; k < found->n; ++k) {
        bool seen = false;
        TRY(see(&alone, found->modes + k * n, &seen, error));
        for (int64_t i = 0; i < n && seen; ++i) {
            found->pulls[k * n + i] += alone.y[i];
            rest[k * n + i] -= alone.y[i];
        }
    }
done:
    judge_clear(&alone);
    weft_operator_free(&op);
    return status;
}

weft_status mode_candidates_judge(weft_constraints *constraints, weft_operator *op,
                                  const weft_form *alone, int n_alone, mode_candidates *found,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = found->n_dofs;
    double *rest = NULL;
    judge all = {0};
    TRY(judge_make(constraints, op, &all, error));
    TRY(keep_weak(&all, found, error));
    if (found->n == 0 || n_alone == 0)
        goto done;
    rest = found->pulls; /* of all forms; less those alone, what the others pull */
    found->pulls = weft_array_make((size_t)found->n * (size_t)n, sizeof *rest);
    if (!found->pulls)
        TRY(weft_out_of_memory(error, "free modes"));
    for (int f = 0; f < n_alone; ++f)
        TRY(add_alone(&all, &alone[f], found, rest, error));
    for (int k = 0; k < found->n; ++k) {
        const double limit = WEFT_UNSEEN * coordinates_of(&all, found->modes + k * n);
        const bool others = weft_operator_seen(rest + k * n, all.sizes, n) > limit;
        for (int64_t i = 0; i < n && others; ++i)
            found->pulls[k * n + i] += rest[k * n + i];
    }
done:
    judge_clear(&all);
    free(rest);
    return status;
}
