/* labels: quick */
/* Gathers that evaluate what they sum, on an emulated GPU: the same sums as of stored contributions, of small integers
 * and so exact, for remainders of a warp and targets without contributions; and what is not evaluated there. */
#include "emulated_gpu.h"
#include "fusion/plan/plan.h"
#include "program_support.h"

enum { MOST = 700 };

static program_case open_gpu(const char *text, weft_plan_kind plan) {
    const weft_device_options device_options = weft_device_options_default(NULL);
    const weft_compile_options options = {
        .size = sizeof options, .scatter = WEFT_SCATTER_GATHERED, .plan = plan};
    weft_error error = {0};
    weft_device *device = NULL;
    case_check(weft_device_open("host:1", &device_options, &device, &error), &error);
    emulated_gpu_make(device);
    return case_open_on(NULL, device, text, &options);
}

static int count(const program_case *c, bool folded) {
    const weft_plan *plan = case_segment(c)->plan;
    int n = 0;
    for (int i = 0; i < plan->n_kernels; ++i)
        n += !folded || (plan->kernels[i].kind == KERNEL_GATHER && plan->kernels[i].prologue >= 0);
    return n;
}

#define HEAD(plain)                                                                                \
    "index E " plain ", V plain;\nconnectivity ends : E -> V[3];\n"                                \
    "input a : real over E;\ninput w : real[3] over E;\ninput v : real over V;\n"                  \
    "input s : real;\ninput u : real[3];\n"

/* What is added for corner c of element e, and the text of it. */
typedef struct folded_case {
    const char *text;
    bool is_folded, adds; /* r is an input */
} folded_case;

static double expected_of(int number, double a, const double *w, const double *u, double v, int c) {
    switch (number) {
    case 0:
        return u[c] * a;
    case 1:
        return w[c] * a;
    case 2:
        return v > 0 ? w[c] * v : 0;
    case 3:
        return 3 * w[c] - u[c];
    case 4:
        return w[c] * a + v;
    default:
        return w[c] * a;
    }
}

static const folded_case cases[] = {
    {"r[ends] += u*a;\nreturn r;\n", true, false},
    {"r[ends] += w*a;\nreturn r;\n", true, false},
    {"r[ends] += select(v[ends] > 0, w*v[ends], 0);\nreturn r;\n", true, false},
    {"r[ends] += s*w - u;\nreturn r;\n", true, false},
    {"r[ends] += w*a + v[ends];\n", true, true},
    /* not: somebody else reads it */
    {"k = w*a;\nr[ends] += k;\nreturn r, k;\n", false, false},
};

static void run(int number, const char *plain, int64_t n_elements, int64_t n_targets) {
    static double a[MOST], w[3 * MOST], v[MOST], r[MOST], sums[MOST];
    static int32_t ends[3 * MOST];
    const double s = 3, u[3] = {2, -1, 5};
    const folded_case *one = &cases[number];
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s", plain, one->adds ? "input r : real over V;\n" : "",
             one->text);
    for (int64_t i = 0; i < n_targets; ++i) {
        v[i] = (double)(i % 7) - 3;
        r[i] = (double)(i % 5);
        sums[i] = one->adds ? r[i] : 0;
    }
    for (int64_t e = 0; e < n_elements; ++e)
        a[e] = (double)(e * 5 % 11) - 5;
    for (int64_t k = 0; k < 3 * n_elements; ++k) {
        w[k] = (double)(k * 7 % 13) - 6;
        ends[k] = (int32_t)(k * k % (n_targets > 2 ? n_targets - 1 : n_targets));
    }
    for (int64_t e = 0; e < n_elements; ++e)
        for (int c = 0; c < 3; ++c)
            sums[ends[3 * e + c]] += expected_of(number, a[e], &w[3 * e], u, v[ends[3 * e + c]], c);
    for (int kind = 0; kind < 2; ++kind) {
        program_case c = open_gpu(text, kind == 0 ? WEFT_PLAN_FUSED : WEFT_PLAN_UNFUSED);
        assert_int_equal(count(&c, true), kind == 0 && one->is_folded);
        case_map(&c, "ends", ends, n_elements, 3, n_targets);
        case_input(&c, "a", a);
        case_input(&c, "w", w);
        case_input(&c, "v", v);
        case_input(&c, "s", &s);
        case_input(&c, "u", u);
        if (one->adds)
            case_input(&c, "r", r);
        case_run(&c);
        double *found = case_result(&c, "r");
        for (int64_t i = 0; i < n_targets; ++i)
            if (found[i] != sums[i])
                fail_msg("case %d, r[%lld] is %g, expected %g", number, (long long)i, found[i],
                         sums[i]);
        free(found);
        case_close(&c);
    }
}

static void sums_are_the_same(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{1, 1},     {31, 7},  {32, 40}, {33, 12},
                                       {699, 300}, {699, 5}, {650, 90}};
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); ++i)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
            run(i, HEAD(""), sizes[k][0], sizes[k][1]);
            run(i, HEAD("plain"), sizes[k][0], sizes[k][1]);
        }
}

/* Stored: for two gathers, for a function, for three lists, for a vector at each target; otherwise one kernel. */
static void what_is_stored(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int n_folded, n_kernels;
    } plans[] = {
        {HEAD("") "r[ends] += u*a;\nreturn r;\n", 1, 1},
        {HEAD("") "k = u*a;\nr[ends] += k;\nq[ends] += k;\nreturn r, q;\n", 0, 3},
        {HEAD("") "input A : real[3,3] over E;\nr[ends] += mvmul(A, w);\nreturn r;\n", 0, 2},
        {HEAD("") "input b : real over E;\nr[ends] += w*a*b;\nreturn r;\n", 0, 2},
        {HEAD("") "input B : real[3,2] over E;\nr[ends] += 2*B;\nreturn r;\n", 0, 2},
    };
    for (size_t i = 0; i < sizeof plans / sizeof *plans; ++i) {
        program_case c = open_gpu(plans[i].text, WEFT_PLAN_FUSED);
        assert_int_equal(count(&c, true), plans[i].n_folded);
        assert_int_equal(count(&c, false), plans[i].n_kernels);
        case_close(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_the_same),
                                       cmocka_unit_test(what_is_stored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
