#include "scaling.h"

/* On the whole boundary u is the exact solution, so any domain will do, in the plane and in space.
 */
#define SOLUTION "sin(pi*x)*sin(pi*y)"
static const char *const poisson_problem[] = {
    "--source", "--exact", "--diffusivity", "--dirichlet", "--neumann", "--robin", NULL};
static const char *const poisson_default[] = {
    "--source", "2*pi^2*" SOLUTION, "--dirichlet", "boundary=" SOLUTION, "--exact", SOLUTION, NULL};

static const scaling_app apps[] = {{"poisson", "converged", poisson_problem, poisson_default}};
enum { N_APPS = sizeof apps / sizeof *apps };

const scaling_app *scaling_app_at(int index) {
    return &apps[index];
}

int scaling_app_names(const char *names[4]) {
    for (int i = 0; i < N_APPS; ++i)
        names[i] = apps[i].name;
    return N_APPS;
}
