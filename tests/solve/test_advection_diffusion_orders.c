/* labels: full */
/* Orders of convergence. In space and time: second order in L2 (Ern and Guermond 2021, Finite
 * Elements III, chapters 67 and 76). In time alone, against a run with small steps on the same
 * mesh: 4 for Runge and Kutta, 3 for Heun, 2 for theta = 1/2, 1 for theta = 1, 1 for Lie's splitting, 2 for
 * Strang's (Hundsdorfer and Verwer 2003, chapters II and IV). What is left of higher orders at
 * these step lengths keeps the observed ones within a tenth; between Lie's runs it does not (the
 * next term is as large), so that only an order from 1 to below 1.6 is asked there. */
#include "ad_run.h"

static const double TOLERANCE = 0.1;

/* Gauss' bell with covariance s/2 + D t ... of dT/dt + u.grad T = div(D grad T), D = (a b; b c):
 * T = s / sqrt(det C) exp(-(r.C^-1 r)/2), C = s I + 2 D t, r = x - x0 - u t. */
static const char EXACT[] =
    "0.004/sqrt((0.004+2e-3*t)*(0.004+4e-3*t)-(8e-4*t)^2)*exp(-((0.004+4e-3*t)*(x-0.35-0.5*t)^2"
    "-2*8e-4*t*(x-0.35-0.5*t)*(y-0.4-0.25*t)+(0.004+2e-3*t)*(y-0.4-0.25*t)^2)"
    "/(2*((0.004+2e-3*t)*(0.004+4e-3*t)-(8e-4*t)^2)))";

static void gaussian(void **state) {
    (void)state;
    static const char *const splittings[] = {"lie", "strang"};
    static const char *const meshes[] = {"square:32", "square:64", "square:128"};
    static const char *const steps[] = {"20", "40", "80"}, *const lengths[] = {"0.02", "0.01",
                                                                               "0.005"};
    for (int k = 0; k < 2; ++k) {
        double errors[3];
        for (int i = 0; i < 3; ++i) {
            json_t *run = AD(0, "--mesh", meshes[i], "--velocity", "0.5,0.25", "--diffusivity",
                             "1e-3,4e-4;4e-4,2e-3", "--initial",
                             "exp(-((x-0.35)^2+(y-0.4)^2)/0.008)", "--exact", EXACT, "--dt",
                             lengths[i], "--steps", steps[i], "--splitting", splittings[k]);
            errors[i] = app_number(run, "l2_error");
            json_decref(run);
        }
        assert_double_near(2, log2(errors[0] / errors[1]), 0, TOLERANCE);
        assert_double_near(2, log2(errors[1] / errors[2]), 0, TOLERANCE);
    }
}

/* The same in space, with a scalar mu: T = (s/(s + 2 mu t))^(3/2) exp(-|r|^2 / (2 (s + 2 mu t))) */
static void gaussian_in_space(void **state) {
    (void)state;
    static const char *const meshes[] = {"cube:16", "cube:32"};
    static const char *const steps[] = {"5", "10"}, *const lengths[] = {"0.04", "0.02"};
    double errors[2];
    for (int i = 0; i < 2; ++i) {
        json_t *run =
            AD(0, "--mesh", meshes[i], "--velocity", "0.5,0.25,-0.25", "--diffusivity", "2e-3",
               "--initial", "exp(-((x-0.45)^2+(y-0.45)^2+(z-0.5)^2)/0.02)", "--exact",
               "(0.01/(0.01+4e-3*t))^1.5*exp(-((x-0.45-0.5*t)^2+(y-0.45-0.25*t)^2"
               "+(z-0.5+0.25*t)^2)/(2*(0.01+4e-3*t)))",
               "--dt", lengths[i], "--steps", steps[i]);
        errors[i] = app_number(run, "l2_error");
        json_decref(run);
    }
    assert_double_near(2, log2(errors[0] / errors[1]), 0, 0.2); /* the bell is 1.6 cells wide */
}

typedef struct scheme {
    const char *name, *options[10];
    int steps, reference; /* of the coarsest of three runs; of the reference */
    double until, least, most;
} scheme;

/* The value of an option of a scheme, or what it is without. */
static const char *option_of(const scheme *s, const char *option, const char *otherwise) {
    for (int i = 0; i + 1 < 10 && s->options[i]; ++i)
        if (strcmp(s->options[i], option) == 0)
            return s->options[i + 1];
    return otherwise;
}

static json_t *run_scheme(const scheme *s, int steps) {
    const char *arguments[APP_ARGUMENTS_MAX] = {
        "--mesh",      "square:16", "--initial", "exp(-((x-0.4)^2+(y-0.45)^2)/0.02)",
        "--probe",     "0.5,0.5",   "--probe",   "0.55,0.45",
        "--probe",     "0.45,0.6",  "--probe",   "0.6,0.6",
        "--tolerance", "1e-12"};
    char dt[32], count[32];
    int n = 14;
    snprintf(dt, sizeof dt, "%.17g", s->until / steps);
    snprintf(count, sizeof count, "%d", steps);
    for (int i = 0; i < 10 && s->options[i]; ++i)
        arguments[n++] = s->options[i];
    arguments[n++] = "--dt";
    arguments[n++] = dt;
    arguments[n++] = "--steps";
    arguments[n++] = count;
    return app_solve("advection_diffusion", 0, arguments);
}

static void in_time(void **state) {
    (void)state;
    static const scheme schemes[] = {
        {"advection", {"--velocity", "0.5,0.25"}, 8, 256, 0.4, 3.9, 4.1},
        {"advection, lumped",
         {"--velocity", "0.5,0.25", "--mass", "lumped"},
         16,
         256,
         0.4,
         3.85,
         4.1},
        {"advection, Heun", {"--velocity", "0.5,0.25", "--scheme", "rk3"}, 32, 1024, 0.4, 2.9, 3.1},
        {"strang with Heun's advection",
         {"--velocity", "0.5-y,x-0.5", "--diffusivity", "0.02*(1+x)", "--dirichlet", "boundary=0",
          "--splitting", "strang", "--scheme", "rk3"},
         16,
         1024,
         0.8,
         1.9,
         2.1},
        {"theta 1/2", {"--diffusivity", "0.05"}, 8, 512, 0.4, 1.9, 2.1},
        {"theta 1", {"--diffusivity", "0.05", "--theta", "1"}, 8, 4096, 0.4, 0.9, 1.1},
        {"lie",
         {"--velocity", "0.5-y,x-0.5", "--diffusivity", "0.02*(1+x)", "--dirichlet", "boundary=0"},
         16,
         1024,
         0.8,
         1,
         1.6},
        {"strang",
         {"--velocity", "0.5-y,x-0.5", "--diffusivity", "0.02*(1+x)", "--dirichlet", "boundary=0",
          "--splitting", "strang"},
         16,
         1024,
         0.8,
         1.9,
         2.1},
        {"strang, coefficients in time",
         {"--velocity", "0.5*cos(3*t),0.25", "--diffusivity", "0.02*(1+x)*(1+0.5*sin(4*t))",
          "--dirichlet", "boundary=0", "--splitting", "strang"},
         16,
         1024,
         0.8,
         1.9,
         2.1},
        {"boundary values in time",
         {"--diffusivity", "0.05", "--dirichlet", "boundary=sin(3*t)*(1+x)"},
         8,
         512,
         0.4,
         1.9,
         2.2}};
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; ++k) {
        const scheme *s = &schemes[k];
        json_t *reference = run_scheme(s, s->reference);
        double before = 0;
        assert_string_equal(app_text(reference, "scheme"), option_of(s, "--scheme", "rk4"));
        assert_string_equal(app_text(reference, "splitting"), option_of(s, "--splitting", "lie"));
        for (int i = 0; i < 3; ++i) {
            json_t *run = run_scheme(s, s->steps << i);
            const double error = ad_apart(run, reference), order = log2(before / error);
            if (i > 0 && !(order >= s->least && order <= s->most))
                fail_msg("%s: order %g, from %g to %g", s->name, order, before, error);
            before = error;
            json_decref(run);
        }
        json_decref(reference);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussian), cmocka_unit_test(gaussian_in_space), cmocka_unit_test(in_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
