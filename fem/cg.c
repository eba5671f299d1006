#include "cg_internal.h"

#include <math.h>
#include <stdlib.h>

enum {
    PLATEAU_LEAST = 1000, /* iterations without a new lowest residual; n for larger systems */
    FEW_TURNS = 20        /* iterations asked for at first; a device's turn of several fits often */
};

const char *weft_cg_outcome_name(weft_cg_outcome outcome) {
    switch (outcome) {
    case WEFT_CG_CONVERGED:
        return "converged";
    case WEFT_CG_MAX_ITERATIONS:
        return "max_iterations";
    case WEFT_CG_INDEFINITE:
        return "indefinite";
    case WEFT_CG_BREAKDOWN:
        return "breakdown";
    case WEFT_CG_NAN:
        return "nan";
    case WEFT_CG_STAGNATION:
        return "stagnation";
    }
    return "unknown";
}

typedef struct weft_cg_course {
    int iterations, capacity;
    double *history;
    double lowest; /* residual so far, and when */
    int lowest_at;
    double replaced; /* the true residual when the recurrence last met the tolerance */
    int turns;       /* iterations to ask the device for at once */
    double *rr;      /* [WEFT_CG_TURNS_MAX + 1] of a run */
    bool is_true;    /* the residual is b - A x itself, not the recurrence's */
} weft_cg_course;

static weft_status course_note(weft_cg_course *course, double residual, weft_error *error) {
    weft_status status = WEFT_OK;
    if (course->iterations >= course->capacity) {
        int capacity = course->capacity < 64 ? 64 : course->capacity + course->capacity / 2;
        double *grown = realloc(course->history, (size_t)capacity * sizeof *grown);
        if (!grown) {
            status = weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the history of CG");
            goto done;
        }
        course->history = grown;
        course->capacity = capacity;
    }
    course->history[course->iterations] = residual;
    if (residual < course->lowest) {
        course->lowest = residual;
        course->lowest_at = course->iterations;
    }
done:
    return status;
}

static int64_t patience_of(const weft_cg *cg) {
    return cg->n > PLATEAU_LEAST ? cg->n : PLATEAU_LEAST;
}

static bool plateau(const weft_cg *cg, const weft_cg_course *course) {
    return course->iterations - course->lowest_at > patience_of(cg);
}

/* The recurrence says converged: ask b - A x. Where that does not agree, it takes the recurrence's
 * place (van der Vorst and Ye 2000), once for each halving. */
static weft_status confirm(weft_cg *cg, weft_cg_course *course, bool *decided,
                           weft_cg_outcome *outcome, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!course->is_true)
        TRY(weft_cg_residual(cg, error));
    course->is_true = true;
    double residual = sqrt(cg->rr) / cg->norm;
    course->history[course->iterations] = residual;
    *decided = true;
    if (cg->rr <= cg->limit)
        *outcome = WEFT_CG_CONVERGED;
    else if (isnan(residual))
        *outcome = WEFT_CG_NAN;
    else if (residual > 0.5 * course->replaced)
        *outcome = WEFT_CG_STAGNATION;
    else
        *decided = false;
    course->replaced = residual;
done:
    return status;
}

/* Does the present residual end the iteration? */
static weft_status judge(weft_cg *cg, weft_cg_course *course, bool *decided,
                         weft_cg_outcome *outcome, weft_error *error) {
    weft_status status = WEFT_OK;
    *decided = false;
    if (cg->rr <= cg->limit)
        TRY(confirm(cg, course, decided, outcome, error));
    if (*decided)
        goto done;
    *decided = true;
    if (isnan(cg->rr) || isinf(cg->rr) || isnan(cg->rz))
        *outcome = WEFT_CG_NAN;
    else if (!(cg->rz > 0))
        *outcome = WEFT_CG_BREAKDOWN;
    else if (course->iterations >= cg->options->max_iterations)
        *outcome = WEFT_CG_MAX_ITERATIONS;
    else if (plateau(cg, course))
        *outcome = WEFT_CG_STAGNATION;
    else
        *decided = false;
done:
    return status;
}

/* Digits gained of those wanted. */
void weft_cg_tell(const weft_cg *cg, double residual) {
    double tolerance = cg->options->tolerance;
    double wanted = tolerance > 0 && tolerance < 1 ? -log10(tolerance) : 0;
    double gained = residual < 1 && residual > 0 ? -log10(residual) : 0;
    weft_progress(cg->options->monitor, "solve", gained < wanted ? gained : wanted, wanted);
}

/* As the loop of iterate, in one kernel. Where b - A x contradicts the recurrence, it starts anew
 * from that: the kernel's curvature rests on residuals that are orthogonal to the directions
 * before. */
static weft_status iterate_staying(weft_cg *cg, weft_cg_course *course, weft_cg_outcome *outcome,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cg_stretch stretch = {0};
    bool decided = false;
    while (!decided) {
        free(stretch.rr);
        stretch = (weft_cg_stretch){0};
        if (!course->is_true) /* what was left of a stretch */
            TRY(weft_cg_residual(cg, error));
        TRY(weft_cg_stay(cg, cg->options->max_iterations - course->iterations, patience_of(cg),
                         &stretch, error));
        course->is_true = course->is_true && stretch.n == 0;
        for (int i = 1; i <= stretch.n; ++i) {
            course->iterations += 1;
            TRY(course_note(course, sqrt(stretch.rr[i]) / cg->norm, error));
        }
        weft_cg_tell(cg, course->history[course->iterations]);
        if (stretch.is_indefinite) {
            *outcome = WEFT_CG_INDEFINITE;
            break;
        }
        TRY(judge(cg, course, &decided, outcome, error));
    }
done:
    free(stretch.rr);
    return status;
}

/* Iterations until the host wants to see what there is: as many as take a tenth of a second, none
 * beyond the last that is allowed, and none beyond the one at which a plateau would be told. */
static int turns_wanted(const weft_cg *cg, const weft_cg_course *course) {
    const int64_t left = (int64_t)cg->options->max_iterations - course->iterations;
    const int64_t flat = course->lowest_at + patience_of(cg) + 1 - course->iterations;
    int64_t turns = course->turns;
    turns = turns < left ? turns : left;
    turns = turns < flat ? turns : flat;
    return turns > 1 ? (int)turns : 1;
}

/* As many iterations as the device does at once. *broken: p.q of the next one is not positive. */
static weft_status advance(weft_cg *cg, weft_cg_course *course, bool *broken, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double LONG = 0.1; /* seconds */
    const double start = weft_clock();
    int done = 0;
    TRY(weft_cg_turns(cg, turns_wanted(cg, course), &done, course->rr, error));
    *broken = done > 0 && !(cg->pq > 0);
    for (int i = 1; i <= done - *broken; ++i) {
        course->is_true = false;
        course->iterations += 1;
        TRY(course_note(course, sqrt(course->rr[i]) / cg->norm, error));
    }
    if (weft_clock() - start < LONG && course->turns < WEFT_CG_TURNS_MAX)
        course->turns *= 2;
    else if (weft_clock() - start > 4 * LONG && course->turns > FEW_TURNS)
        course->turns /= 2;
done:
    return status;
}

static weft_status iterate(weft_cg *cg, weft_cg_course *course, weft_cg_outcome *outcome,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    bool decided = false, broken = false, stays = false;
    TRY(weft_cg_residual(cg, error));
    course->is_true = true;
    TRY(course_note(course, sqrt(cg->rr) / cg->norm, error));
    TRY(judge(cg, course, &decided, outcome, error));
    if (!decided)
        TRY(weft_cg_stay_prepare(cg, &stays, error));
    if (stays) {
        TRY(iterate_staying(cg, course, outcome, error));
        goto done;
    }
    while (!decided) {
        TRY(advance(cg, course, &broken, error));
        if (broken) {
            *outcome = isnan(cg->pq) ? WEFT_CG_NAN : WEFT_CG_INDEFINITE;
            break;
        }
        weft_cg_tell(cg, sqrt(cg->rr) / cg->norm);
        TRY(judge(cg, course, &decided, outcome, error));
    }
done:
    return status;
}

/* The reduced right-hand side is zero, so the solution is. */
static weft_status solve_zero(weft_cg *cg, weft_cg_course *course, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_cg_clear(cg, error));
    cg->rr = 0;
    course->is_true = true;
    TRY(course_note(course, 0, error));
done:
    return status;
}

weft_status weft_cg_solve(weft_context *context, weft_operator *op, weft_memory *b, weft_memory *x,
                          const weft_cg_options *options, weft_cg_result *result,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cg_course course = {.lowest = INFINITY, .replaced = INFINITY, .turns = FEW_TURNS};
    weft_cg_outcome outcome = WEFT_CG_CONVERGED;
    weft_cg cg = {0};
    double least = 0, wanted = 1, scale = 1;
    course.rr = malloc((WEFT_CG_TURNS_MAX + 1) * sizeof *course.rr);
    TRY(weft_cg_prepare(&cg, context, op, b, x, options, error));
    if (!course.rr) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the history of CG");
        goto done;
    }
    TRY(weft_cg_diagonal(&cg, &least, error));
    TRY(weft_cg_norm(&cg, error));
    TRY(weft_cg_scale_wanted(&cg, &wanted, error));
    if (wanted != 1) {
        TRY(weft_cg_scale(&cg, wanted, error));
        scale = wanted;
        TRY(weft_cg_norm(&cg, error));
    }
    cg.limit = options->tolerance * cg.norm * (options->tolerance * cg.norm);
    if (cg.norm <= 0) {
        TRY(solve_zero(&cg, &course, error));
    } else if (isnan(least) || !(least > 0)) {
        TRY(weft_cg_residual(&cg, error));
        course.is_true = true;
        TRY(course_note(&course, sqrt(cg.rr) / cg.norm, error));
        outcome = isnan(least) ? WEFT_CG_NAN : WEFT_CG_INDEFINITE;
    } else {
        TRY(iterate(&cg, &course, &outcome, error));
    }
    if (options->project_mean)
        TRY(weft_cg_subtract_mean(&cg, error));
    if (!course.is_true)
        TRY(weft_cg_residual(&cg, error));
    *result = (weft_cg_result){outcome, course.iterations, cg.norm > 0 ? sqrt(cg.rr) / cg.norm : 0,
                               course.history};
    if (isnan(cg.norm))
        result->residual = NAN;
    weft_cg_tell(&cg, result->residual);
    course.history = NULL;
done:
    if (scale != 1) {
        weft_status restored = weft_cg_scale(&cg, 1 / scale, status == WEFT_OK ? error : NULL);
        status = status == WEFT_OK ? restored : status;
    }
    free(course.history);
    free(course.rr);
    weft_cg_release(&cg);
    return status;
}
