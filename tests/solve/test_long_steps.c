/* labels: full */
/* Insulated bodies keep their mean over steps so long that the mass is 1e-7 to 1e-11 of the stiffness, whatever the
 * scheme, preconditioner and element, part by part; what a flux or a weak film adds comes on top. The mean of 20 + x is
 * 20.5, and linear elements represent it. */
#include "solve_run.h"

static double mass_of(const char *const *options) {
    const char *all[40] = {"heat.weft", "--mesh=square:8", "--initial=20+x"};
    int n = 3;
    while (*options)
        all[n++] = *options++;
    json_t *root = app_solve("solve", 0, all);
    const double mass = app_number(root, "integral_u");
    json_decref(root);
    return mass;
}
#define MASS(...) mass_of((const char *const[]){__VA_ARGS__, NULL})

static void the_mean_stays(void **state) {
    (void)state;
    static const char *const preconditioners[] = {
        "--preconditioner=jacobi", "--preconditioner=none", "--preconditioner=multigrid",
        "--preconditioner=aggregation"};
    for (int i = 0; i < 4; ++i) {
        expect(MASS("--neumann=left=0", "--time=1e5,1e6", preconditioners[i]), 20.5, 1e-8);
        expect(MASS("--neumann=left=0", "--time=1e8,1e9", preconditioners[i]), 20.5, 1e-6);
    }
    static const char *const schemes[] = {"--scheme=theta", "--scheme=bdf2", "--scheme=sdirk2",
                                          "--scheme=sdirk3"};
    for (int i = 0; i < 4; ++i) {
        expect(MASS("--neumann=left=0", "--time=1e6,1e7", schemes[i]), 20.5, 1e-7);
        expect(MASS("--neumann=left=0", "--periodic=bottom=top", "--time=1e6,1e7", schemes[i]),
               20.5, 1e-7);
    }
    /* 1e-6 through a side of length 1 */
    expect(MASS("--neumann=left=1e-6", "--time=1e5,1e6"), 21.5, 1e-7);
}

/* u' = alpha (5 - u), by implicit Euler from 20. */
static void a_weak_film(void **state) {
    (void)state;
    static const char *const times[] = {"--time=1e5,1e5", "--time=1e6,1e6", "--time=1e7,1e7"};
    for (int i = 0; i < 3; ++i) {
        const double dt = 1e5 * pow(10, i);
        expect(
            MASS("--robin=left=1e-8,5e-8", "--initial=20", "--scheme=theta", "--theta=1", times[i]),
            (20 + 5e-8 * dt) / (1 + 1e-8 * dt), 1e-6);
    }
}

/* A value at a point or on a side holds the mean: nothing is kept apart. */
static void what_is_held(void **state) {
    (void)state;
    expect(MASS("--dirichlet=left=3", "--time=1e6,1e7", "--scheme=theta", "--theta=1"), 3, 1e-5);
    expect(MASS("--neumann=left=0", "--point-value=0.5,0.5=3", "--time=1e6,1e7", "--scheme=theta",
                "--theta=1"),
           3, 1e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_stays),
        cmocka_unit_test(a_weak_film),
        cmocka_unit_test(what_is_held),
    };
    return test_exit_code(cmocka_run_group_tests(tests, NULL, NULL), sizeof tests / sizeof *tests);
}
