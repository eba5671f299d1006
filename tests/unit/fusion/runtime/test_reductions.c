/* labels: quick */
/* Reductions over index sets and updates of lists, against sums of integers that doubles hold
 * exactly, so that every order of additions gives the same number. Where sums round, results are
 * compared bitwise between thread counts and plans: the tree depends on the size alone. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "program_support.h"

static const int64_t sizes[] = {0, 1, 7, 8, 9, 2047, 2048, 2049, 100003};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static double *integers(int64_t n, int64_t stride, int64_t modulus) {
    double *out = calloc((size_t)n + 1, sizeof *out);
    assert_non_null(out);
    for (int64_t i = 0; i < n; ++i)
        out[i] = (double)(i * stride % modulus) - (double)(modulus / 2);
    return out;
}

static double one_result(const program_case *c, const char *name) {
    double *values = case_result(c, name);
    const double value = values[0];
    free(values);
    return value;
}

static void check_joins(const char *device, weft_plan_kind plan, bool single, int64_t n) {
    const weft_compile_options options = {.size = sizeof options, .plan = plan, .single = single};
    program_case c =
        case_open(NULL, device,
                  "index rows;\n"
                  "input a, b : real over rows;\n"
                  "s = sum(a);\nd = dot(a, b);\nlow = minimum(a);\nhigh = maximum(a);\n"
                  "t = sum(a*b + 1);\n"
                  "return s, d, low, high, t;\n",
                  &options);
    double *a = integers(n, 7, 11), *b = integers(n, 5, 13);
    double s = 0, d = 0, low = INFINITY, high = -INFINITY, t = 0;
    for (int64_t i = 0; i < n; ++i) {
        s += a[i];
        d += a[i] * b[i];
        t += a[i] * b[i] + 1;
        low = a[i] < low ? a[i] : low;
        high = a[i] > high ? a[i] : high;
    }
    case_size(&c, "rows", n);
    case_input(&c, "a", a);
    case_input(&c, "b", b);
    for (int again = 0; again < 2; ++again) { /* nothing is left over from the run before */
        case_run(&c);
        assert_true(one_result(&c, "s") == s);
        assert_true(one_result(&c, "d") == d);
        assert_true(one_result(&c, "t") == t);
        assert_true(one_result(&c, "low") == low);
        assert_true(one_result(&c, "high") == high);
    }
    case_close(&c);
    free(a);
    free(b);
}

static void test_joins(void **state) {
    (void)state;
    for (int i = 0; i < N_SIZES; ++i)
        for (int plan = 0; plan < 2; ++plan) {
            check_joins("host:1", (weft_plan_kind)plan, false, sizes[i]);
            check_joins("host:3", (weft_plan_kind)plan, sizes[i] < 5000, sizes[i]);
        }
}

/* A rounded sum: bitwise identical results for every number of threads and both plans, and near the
 * true value. */
static void test_bits(void **state) {
    (void)state;
    static const char *const devices[] = {"host:1", "host:2", "host:3", "host:4"};
    const int64_t n = 100003;
    double *a = calloc((size_t)n, sizeof *a);
    double first = 0;
    long double exact = 0;
    for (int64_t i = 0; i < n; ++i) {
        a[i] = 1.0 / (double)(i + 1);
        exact += (long double)a[i] * (long double)a[i];
    }
    for (int k = 0; k < 8; ++k) {
        const weft_compile_options options = {.size = sizeof options,
                                              .plan = k < 4 ? WEFT_PLAN_FUSED : WEFT_PLAN_UNFUSED};
        program_case c = case_open(NULL, devices[k % 4],
                                   "index rows;\ninput a : real over rows;\n"
                                   "u = 2*a;\nd = dot(a, a);\nreturn u, d;\n",
                                   &options);
        case_size(&c, "rows", n);
        case_input(&c, "a", a);
        case_run(&c);
        const double d = one_result(&c, "d");
        first = k == 0 ? d : first;
        assert_memory_equal(&d, &first, sizeof d);
        assert_double_near(d, (double)exact, 1e-14, 0);
        case_close(&c);
    }
    free(a);
}

/* One step of conjugate gradients: two barriers, alpha and beta computed where they are used. */
static const char step[] = "index nodes plain;\n"
                           "input x, r, p, q, d : real over nodes;\n"
                           "input rz : real;\n"
                           "pq = dot(p, q);\nalpha = rz/pq;\n"
                           "update x = x + alpha*p;\nupdate r = r - alpha*q;\n"
                           "z = d*r;\nrz_new = dot(r, z);\nrr = dot(r, r);\n"
                           "update p = z + rz_new/rz*p;\n"
                           "return rz_new, rr, pq;\n";

static void check_step(weft_plan_kind plan, int64_t n) {
    const weft_compile_options options = {.size = sizeof options, .plan = plan};
    program_case c = case_open(NULL, "host:2", step, &options);
    double *v[5], rz = 4, pq = 0, rz_new = 0, rr = 0, size = 0;
    static const char *const names[] = {"x", "r", "p", "q", "d"};
    case_size(&c, "nodes", n);
    for (int k = 0; k < 5; ++k) {
        v[k] = integers(n, 3 + 2 * k, 5);
        case_input(&c, names[k], v[k]);
    }
    case_input(&c, "rz", &rz);
    for (int64_t i = 0; i < n; ++i)
        pq += v[2][i] * v[3][i];
    for (int64_t i = 0; i < n; ++i) {
        v[0][i] += rz / pq * v[2][i];
        v[1][i] -= rz / pq * v[3][i];
        rz_new += v[1][i] * v[4][i] * v[1][i];
        size += fabs(v[1][i] * v[4][i] * v[1][i]);
        rr += v[1][i] * v[1][i];
    }
    for (int64_t i = 0; i < n; ++i)
        v[2][i] = v[4][i] * v[1][i] + rz_new / rz * v[2][i];
    case_run(&c);
    assert_true(one_result(&c, "pq") == pq);
    assert_double_near(one_result(&c, "rz_new"), rz_new, 0, 1e-14 * size);
    assert_double_near(one_result(&c, "rr"), rr, 1e-12, 1e-12);
    for (int k = 0; k < 3; ++k) {
        double *got = case_result(&c, names[k]);
        for (int64_t i = 0; i < n; ++i)
            assert_double_near(got[i], v[k][i], 1e-11, 1e-11);
        free(got);
    }
    /* dot; finish; x, r, z and both dots in one kernel; finish; p */
    if (plan == WEFT_PLAN_FUSED)
        assert_int_equal(weft_compilation_kernels(c.compilation), 5);
    case_close(&c);
    for (int k = 0; k < 5; ++k)
        free(v[k]);
}

static void test_step(void **state) {
    (void)state;
    for (int i = 1; i < N_SIZES; ++i)
        for (int plan = 0; plan < 2; ++plan)
            check_step((weft_plan_kind)plan, sizes[i]);
}

/* Readers of the old value come first, whatever the kernel: directly, through a map, behind a
 * barrier. */
static void check_old_readers(weft_plan_kind plan) {
    const weft_compile_options options = {.size = sizeof options, .plan = plan};
    program_case c = case_open(NULL, "host:2",
                               "index cells, nodes;\n"
                               "connectivity ends : cells -> nodes[2];\n"
                               "input x, f : real over nodes;\n"
                               "t = 3*x;\n"
                               "e = x[ends];\n"
                               "w = e[0] + 10*e[1];\n"
                               "s = sum(f);\n"
                               "late = x + s;\n"
                               "update x = t;\n"
                               "after = x[ends];\n"
                               "v = after[0] - after[1];\n"
                               "y = 2*x;\n"
                               "return t, w, late, v, y;\n",
                               &options);
    enum { N = 1000 };
    int32_t ends[N - 1][2];
    double *x = integers(N, 7, 101), *f = integers(N, 3, 17), s = 0;
    for (int i = 0; i < N; ++i)
        s += f[i];
    for (int i = 0; i + 1 < N; ++i)
        ends[i][0] = i, ends[i][1] = i + 1;
    case_map(&c, "ends", &ends[0][0], N - 1, 2, N);
    case_input(&c, "x", x);
    case_input(&c, "f", f);
    case_run(&c);
    double *t = case_result(&c, "t"), *w = case_result(&c, "w"), *late = case_result(&c, "late");
    double *v = case_result(&c, "v"), *y = case_result(&c, "y"), *next = case_result(&c, "x");
    for (int i = 0; i < N; ++i) {
        assert_true(t[i] == 3 * x[i] && next[i] == 3 * x[i] && y[i] == 6 * x[i]);
        assert_true(late[i] == x[i] + s);
        if (i + 1 < N) {
            assert_true(w[i] == x[i] + 10 * x[i + 1]);
            assert_true(v[i] == 3 * x[i] - 3 * x[i + 1]);
        }
    }
    free(t), free(w), free(late), free(v), free(y), free(next), free(x), free(f);
    case_close(&c);
}

static void test_old_readers(void **state) {
    (void)state;
    check_old_readers(WEFT_PLAN_FUSED);
    check_old_readers(WEFT_PLAN_UNFUSED);
}

static void refuse(const char *text, const char *message) {
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    const weft_fragment fragment = {"test.weft", text};
    const weft_device_options options = weft_device_options_default(NULL);
    case_check(weft_library_make(&library, &error), &error);
    case_check(weft_device_open("null", &options, &device, &error), &error);
    assert_int_not_equal(
        weft_compile(library, weft_device_limits(device), &fragment, 1, NULL, &compilation, &error),
        WEFT_OK);
    assert_string_equal(error.message, message);
    assert_true(error.line > 0);
    weft_device_free(&device);
    weft_library_free(&library);
}

static void test_refused(void **state) {
    (void)state;
    refuse("index n;\ninput x : real over n;\nupdate y = x;\nreturn x;",
           "'y' has no value that could be updated");
    refuse("index n;\ninput x : real over n;\ny = 2*x;\nupdate y = x;\nreturn y;",
           "'y' cannot be updated: only input lists over an index set can");
    refuse("index n;\ninput x : real over n;\nupdate x = 2*x;\nupdate x = x + 1;\n",
           "'x' is updated twice: join the two into one");
    refuse("index n;\ninput x : real over n;\ninput m : real[2] over n;\nupdate x = 2*m;\n",
           "'x' is real over n, its next value is real[2] over n");
    refuse("index n;\ninput a, b : real;\ns = dot(a, b);\nreturn s;",
           "every argument of 'dot' is uniform: there is nothing to map over");
}

/* Canonical text of a script with updates and reductions reads back to the same. */
static void test_prints_back(void **state) {
    (void)state;
    weft_error error = {0};
    weft_text once = {0}, twice = {0};
    program_case c = case_open(NULL, "null", step, NULL);
    case_check(weft_compilation_print(c.compilation, "graph", "text", &once, &error), &error);
    program_case d = case_open(NULL, "null", once.data, NULL);
    case_check(weft_compilation_print(d.compilation, "graph", "text", &twice, &error), &error);
    assert_string_equal(once.data, twice.data);
    assert_non_null(strstr(once.data, "update p = z + rz_new/rz*p;"));
    weft_text_free(&once);
    weft_text_free(&twice);
    case_close(&c);
    case_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joins),   cmocka_unit_test(test_bits),
        cmocka_unit_test(test_step),    cmocka_unit_test(test_old_readers),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_prints_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
