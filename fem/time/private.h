/** Shared by the files of the advection-diffusion stepper. Not installed.
 *
 *      fem/time/advection_diffusion.c  make, run, resume, free
 *      fem/time/start.c                conditions and T at t = 0
 *      fem/time/coefficients.c         checks of u and mu, and the lengths of stable steps
 *      fem/time/forms.c                the operators: forms from scripts and the user's formulas
 *      fem/time/load.c                 sources, fluxes and Robin conditions
 *      fem/time/precondition.c         the preconditioner of the diffusion
 *      fem/time/step_script.c          the script of a time step, with
 *      fem/time/step_scheme.c          those of its schemes
 *      fem/time/bind.c                 compiles the script and binds its names */
#pragma once

#include "fem/form/form.h"
#include "fem/operator/operator.h"
#include "fem/space/layout.h"

/** The operators of a step. */
typedef enum weft_ad_operator {
    WEFT_AD_A, /* int phi_i u.grad phi_j */
    WEFT_AD_M, /* the mass matrix */
    WEFT_AD_B, /* M + theta h S */
    WEFT_AD_C, /* M - (1 - theta) h S */
    WEFT_AD_OPERATORS
} weft_ad_operator;

/** Lists over the nodes in the step's script. Those before WEFT_AD_KEPT are the state that one step
 *  passes to the next; lists without an enumerator are used by the script only. */
typedef enum weft_ad_list {
    WEFT_AD_T,
    WEFT_AD_G, /* T at Dirichlet nodes */
    WEFT_AD_KEPT =
        8, /* before it k, the last Runge-Kutta slope; e, the last increment by diffusion;
                         D1 .. D4, the change of the slope in each stage of the last step */
    WEFT_AD_FREE = WEFT_AD_KEPT, /* 0 at Dirichlet nodes, otherwise 1 */
    WEFT_AD_WHICH,               /* number of the Dirichlet condition, from 1; 0: none */
    WEFT_AD_D_M,
    WEFT_AD_D_B,
    WEFT_AD_LOAD,  /* int f phi_i + int g phi_i */
    WEFT_AD_ONE_B, /* B times 1, at free nodes */
    WEFT_AD_LISTS = 21
} weft_ad_list;

/** Uniform values of the step's script; those without an enumerator are used by the script only. */
typedef enum weft_ad_value {
    WEFT_AD_STEPS, /* limit of steps of one run */
    WEFT_AD_STEP,  /* steps done since t = 0 */
    WEFT_AD_TIME,
    WEFT_AD_H,
    WEFT_AD_WHEN, /* time at which coefficients are evaluated */
    WEFT_AD_ITERATIONS,
    WEFT_AD_TOLERANCE, /* squared */
    WEFT_AD_INFINITY,
    WEFT_AD_FAILED, /* not converged: 1 a slope, 2 diffusion */
    WEFT_AD_SIZE,
    WEFT_AD_BOUND,
    WEFT_AD_PASS,
    WEFT_AD_ITERATIONS_B,
    WEFT_AD_STAGES,
    WEFT_AD_ITERATIONS_1,                     /* of the first of at most four slopes */
    WEFT_AD_TOTAL = WEFT_AD_ITERATIONS_1 + 4, /* iterations of all solves */
    WEFT_AD_SHARE_B, /* theta h, input of the form of B, not of the script */
    WEFT_AD_SHARE_C,
    WEFT_AD_DURATION, /* of a diffusion step */
    WEFT_AD_VALUES = 38
} weft_ad_value;

struct weft_advection_diffusion {
    weft_context *context;
    const weft_advection_diffusion_problem *problem; /* borrowed */
    const weft_mesh *mesh;                           /* of the problem's space, as are */
    weft_connectivity *cells;
    weft_memory *x;
    weft_condition *conditions; /* the problem's, those of Dirichlet first */
    int n_kept;                 /* of Dirichlet */
    weft_bc *bc;                /* NULL: there are no conditions */
    const weft_space *spaces[1];
    weft_layout *layout; /* of the part of a rank; NULL: the mesh is whole */
    double *initial;     /* [n] T at t = 0, until the stepper is made */
    int64_t n;
    bool reassembles, advects, diffuses,
        solves_mass;           /* solves_mass: slopes by conjugate gradients */
    double diffusion_step;     /* length of a diffusion step: h, or h/2 */
    bool has_flux;             /* conditions on facets */
    bool has_load, load_moves; /* sources or these; they depend on t */
    weft_compiled source;
    weft_preconditioner *preconditioner; /* of B; NULL: Jacobi's */
    int n_robin;
    struct weft_ad_robin {
        weft_bound_form *forms; /* [n_robin] */
        weft_text *texts;
    } robin[2]; /* of B and C */
    weft_bound_form forms[WEFT_AD_OPERATORS];
    weft_operator *operators[WEFT_AD_OPERATORS]; /* NULL: not used by this scheme */
    weft_operator_in_script in_script[WEFT_AD_OPERATORS];
    weft_memory *lists[WEFT_AD_LISTS]; /* NULL: not used by this scheme */
    weft_memory *values[WEFT_AD_VALUES];
    weft_text text; /* of the step's script */
    size_t body;    /* offset in it of the statements, after the declarations */
    weft_compiled step;
    struct weft_ad_renewal {
        weft_advection_diffusion *owner;
        weft_ad_operator which;
    } renewals[WEFT_AD_OPERATORS]; /* arguments of the script's operators reassemble_* */
};

/** Names in the script. Static strings. */
const char *weft_ad_operator_name(weft_ad_operator which);
const char *weft_ad_list_name(weft_ad_list list);
const char *weft_ad_value_name(weft_ad_value value);

/** Make the conditions and T at t = 0; `free`, `which` and T on the device (fem/time/start.c). */
weft_status weft_ad_start(weft_advection_diffusion *ad, weft_error *error);
weft_status weft_ad_lists_set(weft_advection_diffusion *ad, weft_error *error);
/** Write to a list, if the scheme uses it. */
weft_status weft_ad_list_write(weft_advection_diffusion *ad, weft_ad_list list,
                               const double *values, weft_error *error);

/** Whether the scheme uses an operator, list or value (fem/time/step_script.c). */
bool weft_ad_has_operator(const weft_advection_diffusion *ad, weft_ad_operator which);
bool weft_ad_has_list(const weft_advection_diffusion *ad, weft_ad_list list);
bool weft_ad_has_value(const weft_advection_diffusion *ad, weft_ad_value value);

/** Make the operators, or assemble them (fem/time/forms.c). */
weft_status weft_ad_operators_make(weft_advection_diffusion *ad, weft_error *error);
weft_status weft_ad_operators_assemble(weft_advection_diffusion *ad, weft_error *error);
/** Find out which loads there are; compute the load at the present time; the operator
 *  `reassemble_load` of the step's script (fem/time/load.c). */
void weft_ad_load_set(weft_advection_diffusion *ad);
weft_status weft_ad_load_make(weft_advection_diffusion *ad, weft_error *error);
weft_status weft_ad_load_compute(void *user, const weft_program_product *product,
                                 weft_error *error);
/** Make the preconditioner of the diffusion steps, if they have one; the operator P of the step's script
 *  (fem/time/precondition.c). */
weft_status weft_ad_precondition(weft_advection_diffusion *ad, weft_error *error);
weft_status weft_ad_precondition_apply(void *user, const weft_program_product *product,
                                       weft_error *error);
bool weft_ad_is_preconditioned(const weft_advection_diffusion *ad);
/** Set the time of conditions to `when`. */
weft_status weft_ad_conditions_at(weft_advection_diffusion *ad, weft_error *error);
/** The forms of Robin conditions for an operator, times its share.
 *  out  [n_robin] */
weft_status weft_ad_robin_forms(weft_advection_diffusion *ad, weft_ad_operator which,
                                weft_memory *share, weft_form *out, weft_error *error);
void weft_ad_load_clear(weft_advection_diffusion *ad);
/** Make ad->text (fem/time/step_script.c). */
weft_status weft_ad_text_make(weft_advection_diffusion *ad, weft_error *error);
/** Compile and bind ad->step (fem/time/bind.c). */
weft_status weft_ad_step_make(weft_advection_diffusion *ad, weft_error *error);
