/* Finds the length of a step of Newton's method. */
#include "fem/solve/line_search.h"

#include <math.h>

enum { TRIALS = 120 };
static const double LONGEST = 8;     /* step that follows an energy which still falls */
static const double GOOD = 0.1;      /* times the first norm: good enough on any grounds */
static const double LESS = 0.2;      /* of the first fall of the energy: close to its minimum */
static const double SHORTER = 0.1;   /* least factor between a trial and the next, shorter one */
static const double SHORTEST = 1e-9; /* a norm that falls only in shorter steps does not fall */

static double between(double low, double x, double high) {
    return fmin(fmax(x, low), high); /* low for NaN */
}

/* The s where a line through two slopes is zero. */
static double zero(const weft_line_point *a, const weft_line_point *b) {
    return a->s + (b->s - a->s) * a->fall / (a->fall - b->fall);
}

/* The next trial: the energy falls at low, and not at high, whose s is infinite before there is one. */
static double next(const weft_line *line, const weft_line_point *low, const weft_line_point *high) {
    const double width = high->s - low->s;
    if (isinf(high->s))
        return between(2 * low->s, zero(&line->start, low), fmin(4 * low->s, LONGEST));
    if (low->s == 0)
        return between(SHORTER * high->s, zero(low, high), 0.9 * high->s);
    return between(low->s + 0.1 * width, zero(low, high), high->s - 0.1 * width);
}

static weft_status by_energy(const weft_line *line, weft_line_point *now, bool *found,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_line_point low = line->start, high = {.s = INFINITY};
    now->s = 1;
    for (int i = 0; i < TRIALS; ++i) {
        TRY(line->evaluate(line->user, now, error));
        *found = now->norm <= GOOD * line->start.norm || fabs(now->fall) <= LESS * line->start.fall;
        if (*found)
            goto done;
        if (now->fall > 0 && isfinite(now->norm))
            low = *now;
        else
            high = *now;
        *found = isinf(high.s) && (low.s >= LONGEST || low.fall >= line->start.fall);
        if (*found)
            goto done;
        now->s = next(line, &low, &high);
        if (now->s < line->least || high.s - low.s < 1e-3 * low.s)
            break;
    }
    *found = low.s > 0; /* the energy falls up to there */
    now->s = low.s;
    if (*found)
        TRY(line->evaluate(line->user, now, error));
done:
    return status;
}

/* The s that makes least the parabola through the squares of two norms with the slope -2 |R|^2 at 0. */
static double least_of_parabola(const weft_line *line, const weft_line_point *now) {
    const double ratio = now->norm / line->start.norm;
    return now->s / ((ratio * ratio - 1) / now->s + 2);
}

static weft_status by_norm(const weft_line *line, weft_line_point *now, bool *found,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    now->s = 1;
    for (int i = 0; i < TRIALS; ++i) {
        TRY(line->evaluate(line->user, now, error));
        *found = now->norm <= (1 - 1e-4 * now->s) * line->start.norm;
        if (*found)
            break;
        now->s = between(SHORTER * now->s, least_of_parabola(line, now), 0.5 * now->s);
        if (now->s < fmax(line->least, SHORTEST))
            break;
    }
done:
    return status;
}

weft_status weft_line_search(const weft_line *line, weft_line_point *out, bool *found,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    *found = false;
    if (line->start.fall > 0)
        TRY(by_energy(line, out, found, error));
    if (!*found)
        TRY(by_norm(line, out, found, error));
done:
    return status;
}
