/* Describes the apps that scaling can run, with their default problems. */
#include "apps/scaling/scaling.h"

/* On the whole boundary u is the exact solution, so any domain will do, in the plane and in space.
 */
#define SOLUTION "sin(pi*x)*sin(pi*y)"
static const char *const poisson_problem[] = {
    "--source", "--exact", "--diffusivity", "--dirichlet", "--neumann", "--robin", NULL};
static const char *const poisson_default[] = {
    "--source", "2*pi^2*" SOLUTION, "--dirichlet", "boundary=" SOLUTION, "--exact", SOLUTION, NULL};

static const char *const poisson_solver[] = {"--preconditioner", "jacobi", NULL};

/* A Gaussian that is advected through the middle of the unit square and widened by diffusion; in 3D
 * it is constant in z. Its tails are below 1e-5 on the boundary. */
#define WIDTH(t) "(0.008+0.02*" t ")"
#define GAUSSIAN(t) "0.008/" WIDTH(t) "*exp(-((x-0.3-" t ")^2+(y-0.4-0.5*" t ")^2)/" WIDTH(t) ")"
static const char *const ad_problem[] = {"--velocity",  "--diffusivity", "--initial", "--exact",
                                         "--dirichlet", "--dt",          "--steps",   NULL};
static const char *const ad_default[] = {"--diffusivity", "0.005",       "--initial", GAUSSIAN("0"),
                                         "--exact",       GAUSSIAN("t"), NULL};
static const char *const ad_velocity[2] = {"1,0.5", "1,0.5,0"};

static const scaling_app apps[] = {{.name = "poisson",
                                    .success = "converged",
                                    .problem_options = poisson_problem,
                                    .default_arguments = poisson_default,
                                    .default_solver = poisson_solver},
                                   {.name = "advection_diffusion",
                                    .success = "done",
                                    .problem_options = ad_problem,
                                    .default_arguments = ad_default,
                                    .default_velocity = ad_velocity,
                                    .default_time = 0.2,
                                    .default_courant = 0.4}};
enum { N_APPS = sizeof apps / sizeof *apps };

const scaling_app *scaling_app_at(int index) {
    return &apps[index];
}

int scaling_app_names(const char *names[4]) {
    for (int i = 0; i < N_APPS; ++i)
        names[i] = apps[i].name;
    return N_APPS;
}
