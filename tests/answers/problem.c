/* Random problems and views. */
#include "answers.h"

#include <math.h>
#include <string.h>

uint64_t answers_below(uint64_t *state, uint64_t n) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % n;
}

/* With four digits, so that a problem can be typed. */
double answers_between(uint64_t *state, double low, double high) {
    return low + (high - low) * (double)answers_below(state, 10001) / 10000;
}

const char *answers_side_name(int d, int side) {
    static const char *const names[2][ANSWERS_SIDES] = {
        {"left", "right", "bottom", "top"}, {"left", "right", "front", "back", "bottom", "top"}};
    return names[d - 2][side];
}

static void make_linear(uint64_t *state, answers_linear *out) {
    *out = (answers_linear){.a = {0}};
    for (int c = 0; c < 3; ++c) {
        out->a[c] = answers_between(state, -1, 1);
        for (int a = 0; a < 3; ++a)
            out->slope[c][a] = answers_between(state, -1, 1);
    }
}

/* The first side holds u; two others get any condition, which is constant where it is a flux. In every other problem u is
 * constant on each side, as numbers and formulas are read in different ways. */
static void make_sides(answers_problem *out, uint64_t *state) {
    const int others[2] = {1, 2 * out->d - 1};
    const bool are_constant = out->seed / 2 % 2 == 0;
    for (int s = 0; s < ANSWERS_SIDES; ++s)
        make_linear(state, &out->sides[s].value);
    out->sides[0].condition = ANSWERS_DIRICHLET;
    for (int i = 0; i < 2; ++i) {
        answers_side *side = &out->sides[others[i]];
        side->condition = (answers_condition)answers_below(state, 4);
        side->alpha = answers_between(state, 0.2, 3);
        if (side->condition != ANSWERS_DIRICHLET || are_constant)
            memset(side->value.slope, 0, sizeof side->value.slope);
    }
    if (are_constant)
        memset(out->sides[0].value.slope, 0, sizeof out->sides[0].value.slope);
}

void answers_problem_make(uint64_t seed, answers_physics physics, answers_problem *out) {
    uint64_t state = seed * 1000003u + (uint64_t)physics;
    *out = (answers_problem){.seed = seed, .physics = physics};
    out->d = answers_below(&state, 3) == 0 ? 3 : 2;
    out->n =
        out->d == 2 ? 2 + 2 * (int)answers_below(&state, 4) : 2 + 2 * (int)answers_below(&state, 2);
    out->components = physics == ANSWERS_ELASTICITY ? out->d : 1;
    out->jitter = answers_between(&state, 0, 0.25);
    out->nu = answers_between(&state, 0, 0.4);
    out->wave = answers_between(&state, -0.5, 0.5);
    out->capacity = answers_between(&state, 0.5, 2);
    out->dt = answers_between(&state, 0.01, 0.1);
    out->steps = 2 + (int)answers_below(&state, 3);
    for (int m = 0; m < 2; ++m) {
        out->k[m] = pow(10, answers_between(&state, -2, 2));
        for (int c = 0; c < 3; ++c)
            out->source[m][c] = answers_between(&state, -3, 3);
    }
    out->s = pow(10, answers_between(&state, -2, 4));
    out->beta = answers_between(&state, 0, 1);
    if (physics ==
        ANSWERS_TRANSPORT) /* stable without stabilisation: cell Peclet and Courant numbers below 1 */
        out->k[0] = out->k[1] = answers_between(&state, 0.2, 1);
    for (int a = 0; a < out->d; ++a) {
        out->angle[a] = answers_between(&state, -4, 4);
        out->velocity[a] = answers_between(&state, -0.3, 0.3);
    }
    make_linear(&state, &out->initial);
    make_sides(out, &state);
    for (int p = 0; p < ANSWERS_PROBES; ++p)
        for (int a = 0; a < out->d; ++a)
            out->probes[p][a] = answers_between(&state, 0.05, 0.95);
}

void answers_view_make(const char *program, answers_view *out) {
    *out = (answers_view){.length = 1,
                          .value = 1,
                          .stiffness = 1,
                          .time = 1,
                          .loads = 1,
                          .lifts = 1,
                          .program = program};
    for (int a = 0; a < 3; ++a)
        out->q[a][a] = 1;
}

/* Rotations by random angles in each plane of two axes. */
void answers_view_rotate(answers_view *view, int d, bool reflects, uint64_t *state) {
    const double pi = 3.14159265358979323846;
    for (int a = 0; a < d; ++a)
        for (int b = a + 1; b < d; ++b) {
            const double angle = answers_between(state, -pi, pi), c = cos(angle), s = sin(angle);
            for (int j = 0; j < 3; ++j) {
                const double p = view->q[a][j], r = view->q[b][j];
                view->q[a][j] = c * p - s * r;
                view->q[b][j] = s * p + c * r;
            }
        }
    for (int j = 0; j < 3 && reflects; ++j)
        view->q[0][j] = -view->q[0][j];
}
