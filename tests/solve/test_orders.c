/* labels: full */
/* The shipped scripts against manufactured solutions on three meshes, each with half the spacing:
 * order 2 in L2 and 1 in H1, as linear elements have. Observed orders come near them from either
 * side; 0.1 is allowed. */
#include "solve_run.h"

#include <math.h>

static const double NEAR = 0.1;

typedef struct manufactured {
    const char *name, *meshes[3];
    const char *arguments[16];
} manufactured;

static const manufactured cases[] = {
    /* lambda = 1 + x, natural conditions: du/dn = 0 */
    {"helmholtz in 2D",
     {"square:8", "square:16", "square:32"},
     {"helmholtz.weft", "--neumann", "boundary=0", "--define", "lambda=1+x", "--define",
      "source=(2*pi^2+1+x)*cos(pi*x)*cos(pi*y)", "--exact", "cos(pi*x)*cos(pi*y)"}},
    {"helmholtz in 3D",
     {"cube:4", "cube:8", "cube:16"},
     {"helmholtz.weft", "--define", "lambda=2", "--define",
      "source=(3*pi^2+2)*sin(pi*x)*sin(pi*y)*sin(pi*z)", "--exact",
      "sin(pi*x)*sin(pi*y)*sin(pi*z)"}},
    /* D = [2 1; 1 3] */
    {"anisotropic in 2D",
     {"square:8", "square:16", "square:32"},
     {"anisotropic.weft", "--input", "D=2,1,1,3", "--define",
      "source=pi^2*(5*sin(pi*x)*sin(pi*y)-2*cos(pi*x)*cos(pi*y))", "--exact",
      "sin(pi*x)*sin(pi*y)"}},
    /* D = (1 + x) 1 but for D_zz = 2 + 2 x: a tensor that varies */
    {"anisotropic in 3D",
     {"cube:4", "cube:8", "cube:16"},
     {"anisotropic.weft", "--input", "D=1+x,0,0,0,1+x,0,0,0,2+2*x", "--define",
      "source=4*pi^2*(1+x)*sin(pi*x)*sin(pi*y)*sin(pi*z)-pi*cos(pi*x)*sin(pi*y)*sin(pi*z)",
      "--exact", "sin(pi*x)*sin(pi*y)*sin(pi*z)"}},
    /* lambda = mu = 0.4; u = (s, 0), s = sin(pi x) sin(pi y):
     * -f = ((lambda + 2 mu) s_xx + mu s_yy, (lambda + mu) s_xy) */
    {"elasticity in 2D",
     {"square:8", "square:16", "square:32"},
     {"elasticity.weft", "--define", "poisson=0.25", "--define",
      "force_x=1.6*pi^2*sin(pi*x)*sin(pi*y)", "--define", "force_y=-0.8*pi^2*cos(pi*x)*cos(pi*y)",
      "--exact", "sin(pi*x)*sin(pi*y),0"}},
    {"elasticity in 3D",
     {"cube:4", "cube:8", "cube:16"},
     {"elasticity.weft", "--define", "poisson=0.25", "--define",
      "force_x=2*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)", "--define",
      "force_y=-0.8*pi^2*cos(pi*x)*cos(pi*y)*sin(pi*z)", "--define",
      "force_z=-0.8*pi^2*cos(pi*x)*sin(pi*y)*cos(pi*z)", "--exact",
      "sin(pi*x)*sin(pi*y)*sin(pi*z),0,0"}},
};

static void orders(void **state) {
    const manufactured *c = *state;
    const char *arguments[24] = {"--tolerance", "1e-10", "--mesh"};
    json_t *results[3];
    for (int i = 0; c->arguments[i]; ++i)
        arguments[4 + i] = c->arguments[i];
    for (int i = 0; i < 3; ++i) {
        arguments[3] = c->meshes[i];
        results[i] = app_solve("solve", 0, arguments);
    }
    const double l2 = poisson_order(results[1], results[2], "l2_error"),
                 h1 = poisson_order(results[1], results[2], "h1_error"),
                 before = poisson_order(results[0], results[1], "l2_error");
    print_message("%s: L2 %.3f, %.3f, H1 %.3f\n", c->name, before, l2, h1);
    assert_double_near(l2, 2, 0, NEAR);
    assert_double_near(h1, 1, 0, NEAR);
    for (int i = 0; i < 3; ++i)
        json_decref(results[i]);
}

/* -laplace u + lambda u = lambda u with the linear function u: its only error is that of the integrals of lambda, which has
 * degree 2, with two functions of degree 1. They are exact, and with the mean over each cell of second order. */
static void variable_coefficient(void **state) {
    static const struct {
        const char *meshes[2], *lambda, *source, *u, *boundary;
    } in[] = {{{"square:4", "square:8"},
               "lambda=1+100*x*y",
               "source=(1+100*x*y)*(1+2*x+3*y)",
               "1+2*x+3*y",
               "boundary=1+2*x+3*y"},
              {{"cube:4", "cube:8"},
               "lambda=50*x*z+y",
               "source=(50*x*z+y)*(x-y+2*z)",
               "x-y+2*z",
               "boundary=x-y+2*z"}};
    (void)state;
    for (int k = 0; k < 4; ++k) {
        const int mean = k % 2, d = k / 2;
        double errors[2];
        for (int i = 0; i < 2; ++i) {
            json_t *result =
                SOLVE(0, "helmholtz.weft", "--mesh", in[d].meshes[i], "--define", in[d].lambda,
                      "--define", in[d].source, "--dirichlet", in[d].boundary, "--exact", in[d].u,
                      "--tolerance", "1e-12", "--param", mean ? "mean=1" : "mean=0");
            errors[i] = json_number_value(json_object_get(result, "l2_error"));
            json_decref(result);
        }
        print_message("mean=%d in %dD: %.3e, %.3e\n", mean, d + 2, errors[0], errors[1]);
        if (!mean)
            assert_true(errors[0] < 1e-10 && errors[1] < 1e-10); /* of the Krylov method */
        else
            assert_double_near(log2(errors[0] / errors[1]), 2, 0, 0.3);
    }
}

int main(void) {
    enum { N = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[N + 1] = {cmocka_unit_test(variable_coefficient)};
    for (int i = 0; i < N; ++i) {
        tests[i + 1].name = cases[i].name;
        tests[i + 1].test_func = orders;
        tests[i + 1].initial_state = (void *)(uintptr_t)&cases[i];
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
