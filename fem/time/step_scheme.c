/* The tables of explicit schemes and splittings. */
#include "fem/time/step_scheme.h"

/* Hairer, Norsett and Wanner 1993, II.1 */
const weft_runge_kutta_row weft_runge_kutta_rows[] = {
    [WEFT_RUNGE_KUTTA_4] = {{"rk4", "the classical scheme of order 4", "Runge-Kutta 4"},
                            4,
                            {"0", "h/2", "h/2", "h"},
                            {"h/6", "h/3", "h/3", "h/6"},
                            .stable = 8},
    [WEFT_RUNGE_KUTTA_3] = {{"rk3", "Heun's scheme of order 3, with three slopes", "Runge-Kutta 3"},
                            3,
                            {"0", "h/3", "2*h/3"},
                            {"h/4", "0", "3*h/4"},
                            .stable = 3}};

const weft_splitting_row weft_splitting_rows[] = {
    [WEFT_SPLITTING_LIE] = {{"lie", "advection, then diffusion; first order", "Lie splitting"},
                            .n_passes = 1,
                            .advects = "1",
                            .duration = 1},
    /* Strang 1968: a half diffusion, the advection, a half diffusion */
    [WEFT_SPLITTING_STRANG] = {{"strang", "second order", "Strang splitting"},
                               .n_passes = 2,
                               .advects = "pass",
                               .duration = 0.5}};

#define COUNT(rows) ((int)(sizeof(rows) / sizeof *(rows)))

const weft_step_scheme_info *weft_runge_kutta_about(int number) {
    return number < COUNT(weft_runge_kutta_rows) ? &weft_runge_kutta_rows[number].about : NULL;
}

const weft_step_scheme_info *weft_splitting_about(int number) {
    return number < COUNT(weft_splitting_rows) ? &weft_splitting_rows[number].about : NULL;
}
