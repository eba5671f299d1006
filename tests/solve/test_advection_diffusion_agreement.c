/* labels: quick */
/* Every assembly, plan and number of threads computes the same; all solves go to 1e-12, so that
 * 1e-9 is left of what may differ. tests/gpu/test_advection_diffusion.sh does the same on a
 * GPU. */
#include "ad_run.h"

static const double TOLERANCE = 1e-9;

static const char *const assemblies[] = {"csr", "lma", "lma-gather", "matrix-free", "edge"};

typedef struct problem {
    const char *options[20];
} problem;

static const problem problems[] = {
    {{"--mesh", "square:20", "--velocity", "0.4,0.2", "--diffusivity", "1e-3,5e-4;5e-4,2e-3",
      "--splitting", "strang", "--dirichlet", "left=0.2*sin(3*t)", "--dirichlet", "bottom=0.1*x"}},
    {{"--mesh", "square:20", "--velocity", "0.5-y+0.1*t,x-0.5", "--diffusivity", "1e-3*(1+t)",
      "--mass", "lumped", "--theta", "1", "--dirichlet", "boundary=0"}},
    {{"--mesh", "cube:6", "--velocity", "0.4,0.2*x,0.1", "--diffusivity",
      "1e-3,5e-4,0;5e-4,2e-3,0;0,0,1e-3", "--reassemble", "every-step"}},
    {{"--mesh", "cube:6", "--diffusivity", "0.01*(1+x+t)", "--dirichlet", "left=t"}}};

static json_t *run_with(const problem *p, const char *const *more) {
    const char *arguments[APP_ARGUMENTS_MAX] = {"--initial",   "exp(-((x-0.3)^2+(y-0.4)^2)/0.02)",
                                                "--dt",        "0.02",
                                                "--steps",     "6",
                                                "--tolerance", "1e-12"};
    const char dimension = p->options[1][0];
    int n = 8;
    for (int i = 0; i < 20 && p->options[i]; ++i)
        arguments[n++] = p->options[i];
    for (int i = 0; more[i]; ++i)
        arguments[n++] = more[i];
    for (int i = 0; i < 3; ++i) {
        static const char *const probes[2][3] = {{"0.3,0.4", "0.5,0.5", "0.1,0.9"},
                                                 {"0.3,0.4,0.5", "0.5,0.5,0.1", "0.1,0.9,0.7"}};
        arguments[n++] = "--probe";
        arguments[n++] = probes[dimension == 'c'][i];
    }
    return app_solve("advection_diffusion", 0, arguments);
}

static void same_everywhere(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof problems / sizeof problems[0]; ++k) {
        json_t *plain = run_with(
            &problems[k], (const char *const[]){"--assembly", "csr", "--device", "host:1", NULL});
        for (size_t i = 0; i < sizeof assemblies / sizeof assemblies[0]; ++i)
            for (int unfused = 0; unfused < 2; ++unfused) {
                /* every assembly solves two of the problems fused and two unfused */
                if ((k + i) % 2 == (size_t)unfused && !test_is_full())
                    continue;
                json_t *other = run_with(
                    &problems[k], (const char *const[]){"--assembly", assemblies[i], "--plan",
                                                        unfused ? "unfused" : "fused", "--device",
                                                        "host:3", NULL});
                if (!(ad_apart(plain, other) <= TOLERANCE))
                    fail_msg("problem %zu, %s: apart by %g", k, assemblies[i],
                             ad_apart(plain, other));
                assert_string_equal(json_string_value(json_object_get(other, "assembly")),
                                    assemblies[i]);
                json_decref(other);
            }
        json_decref(plain);
    }
}

/* Coefficients that do not change may as well be assembled in every step. */
static void reassembly_changes_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof assemblies / sizeof assemblies[0]; ++i) {
        json_t *once = run_with(&problems[0], (const char *const[]){"--assembly", assemblies[i],
                                                                    "--reassemble", "once", NULL});
        json_t *often =
            run_with(&problems[0], (const char *const[]){"--assembly", assemblies[i],
                                                         "--reassemble", "every-step", NULL});
        assert_true(ad_apart(once, often) <= TOLERANCE);
        json_decref(once);
        json_decref(often);
    }
}

static void same_bits_for_any_threads(void **state) {
    (void)state;
    static const char *const devices[] = {"host:1", "host:2", "host:5"};
    for (int k = 0; k < 2; ++k) {
        json_t *runs[3];
        for (int i = 0; i < 3; ++i)
            runs[i] =
                run_with(&problems[2 * k],
                         (const char *const[]){"--assembly", "csr", "--device", devices[i], NULL});
        for (int i = 1; i < 3; ++i)
            assert_true(
                json_equal(json_object_get(runs[0], "series"), json_object_get(runs[i], "series")));
        for (int i = 0; i < 3; ++i)
            json_decref(runs[i]);
    }
}

/* Whether the host looks after every step or at the end alone. */
static void grouping_changes_nothing(void **state) {
    (void)state;
    json_t *whole = run_with(&problems[0], (const char *const[]){NULL});
    json_t *each = run_with(&problems[0], (const char *const[]){"--output-every", "1", NULL});
    assert_true(json_equal(ad_entry(whole, -1), ad_entry(each, -1)));
    assert_int_equal(json_array_size(json_object_get(each, "series")), 7);
    json_decref(whole);
    json_decref(each);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_everywhere), cmocka_unit_test(reassembly_changes_nothing),
        cmocka_unit_test(same_bits_for_any_threads), cmocka_unit_test(grouping_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
