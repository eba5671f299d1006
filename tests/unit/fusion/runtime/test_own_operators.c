/* labels: quick */
/* Reductions by operators of the library (docs/kernel-files.md): that the elements keep their order, identities, places,
 * scaled norms, loops that read the results, on the host and as CUDA text run thread by thread. Expected values come
 * from plain loops over whole numbers, which every order of grouping gives, or from mathematics. */
#include "emulated_gpu.h"
#include "program_support.h"

/* Compositions of x -> f0 x + f1, which do not commute; products of signs and sums of whole numbers are exact. */
static const char kernels[] =
    "//@ function compose(f: real[2], g: real[2]) -> h: real[2]\n"
    "//@ kind map\n//@ flops 3\n//@ source f after g\n"
    "//@ identity\nh(0) = 1;\nh(1) = 0;\n"
    "//@ threads 1\nh(0) = f(0)*g(0);\nh(1) = f(0)*g(1) + f(1);\n"
    "//@ function all_of(a: real, b: real) -> h: real[2]\n"
    "//@ kind reduce compose\n//@ flops 0\n//@ source the composition of a x + b over a list\n"
    "//@ threads 1\nh(0) = a;\nh(1) = b;\n"
    "//@ function product_of(A: real[n,n]) -> P: real[n,n]\n"
    "//@ kind reduce mmul\n//@ flops 0\n//@ source the product of a list of matrices\n"
    "//@ threads 1\nfor (int i = 0; i < n; ++i)\n    for (int j = 0; j < n; ++j)\n"
    "        P(i,j) = A(i,j);\n"
    "//@ threads n*n A(t / n,t % n) P(t / n,t % n)\nP(t / n,t % n) = A(t / n,t % n);\n"
    "//@ function best_of_row(A: real over i, j, place: real over j) -> r: real[2] over i\n"
    "//@ kind reduce greater_first\n//@ flops 0\n//@ source r_i = (max_j A_ij, its first j)\n"
    "//@ threads 1\nr(0) = A;\nr(1) = place;\n"
    "//@ function best_of_column(A: real over i, j, place: real over i) -> r: real[2] over j\n"
    "//@ kind reduce greater_first\n//@ flops 0\n//@ source r_j = (max_i A_ij, its first i)\n"
    "//@ threads 1\nr(0) = A;\nr(1) = place;\n"
    "//@ function places(x: real over i) -> s: real\n"
    "//@ kind reduce +\n//@ flops 2\n//@ source s = sum_i i x_i\n//@ threads 1\ns = i * x;\n";

typedef struct target {
    const char *device; /* NULL: emulated */
    weft_plan_kind plan;
    bool single;
} target;

static const target targets[] = {{"host:1", WEFT_PLAN_FUSED, false},
                                 {"host:3", WEFT_PLAN_FUSED, true},
                                 {"host:2", WEFT_PLAN_UNFUSED, false},
                                 {NULL, WEFT_PLAN_FUSED, false},
                                 {NULL, WEFT_PLAN_UNFUSED, true}};
enum { TARGETS = sizeof targets / sizeof *targets };

static program_case open_case(const target *to, const char *text) {
    weft_error error = {0};
    weft_library *library = NULL;
    weft_device *device = NULL;
    const weft_device_options device_options = weft_device_options_default(NULL);
    const weft_compile_options options = {
        .size = sizeof options, .plan = to->plan, .single = to->single};
    case_check(weft_library_make(&library, &error), &error);
    case_check(weft_library_add_text(library, "own.kernel.c", kernels, &error), &error);
    program_case c;
    if (to->device) {
        c = case_open(library, to->device, text, &options);
    } else {
        case_check(weft_device_open("host:1", &device_options, &device, &error), &error);
        emulated_gpu_make(device);
        device->limits.multiprocessors = 3; /* parts of several rows in small matrices */
        c = case_open_on(library, device, text, &options);
    }
    c.own_library = true;
    return c;
}

/* On the host a partial result has 256 vectors, on a GPU 512 elements. */
static const int64_t sizes[] = {0, 1, 7, 9, 31, 33, 511, 513, 5003, 20011};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 20011 };

static void check_values(const program_case *c, const char *name, const double *expected, int n) {
    double *got = case_result(c, name);
    for (int i = 0; i < n; ++i)
        assert_true(got[i] == expected[i] || (isnan(got[i]) && isnan(expected[i])));
    free(got);
}

static double sign_of(int64_t i) {
    return i * 7 % 11 % 3 == 0 ? -1 : 1;
}

static void check_order(const target *to, int64_t n) {
    static double a[MOST + 1], b[MOST + 1];
    double all[2] = {1, 0}, places = 0;
    program_case c =
        open_case(to, "index rows;\ninput a, b : real over rows;\n"
                      "f = all_of(a, b + 1);\ns = places(a);\nc = a - b;\nreturn f, s, c;\n");
    for (int64_t i = 0; i < n; ++i) {
        a[i] = sign_of(i);
        b[i] = (double)(i * 5 % 13) - 5;
        all[1] = all[0] * (b[i] + 1) + all[1];
        all[0] *= a[i];
        places += (double)i * a[i];
    }
    case_size(&c, "rows", n);
    case_input(&c, "a", a);
    case_input(&c, "b", b);
    for (int again = 0; again < 2; ++again) {
        case_run(&c);
        check_values(&c, "f", all, 2);
        if (!to->single) /* whole numbers beyond 2^24 */
            check_values(&c, "s", &places, 1);
    }
    case_close(&c);
}

static void order_is_kept(void **state) {
    (void)state;
    for (int t = 0; t < TARGETS; ++t)
        for (int k = 0; k < SIZES; ++k)
            check_order(&targets[t], sizes[k]);
}

/* Permutations of the axes with signs: products of such matrices are such matrices. */
static void check_matrices(const target *to, int64_t n) {
    static double A[MOST * 9 + 1];
    double P[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    program_case c = open_case(
        to, "index rows;\ninput A : real[3,3] over rows;\nP = product_of(A);\nreturn P;\n");
    for (int64_t e = 0; e < n; ++e) {
        double next[9] = {0};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                const int to_j = e % 3 == 0 ? (i + 1) % 3 : e % 5 == 1 ? 2 - i : i;
                A[e * 9 + i * 3 + j] = j == to_j ? sign_of(e + i) : 0;
            }
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                for (int k = 0; k < 3; ++k)
                    next[i * 3 + j] += P[i * 3 + k] * A[e * 9 + k * 3 + j];
        memcpy(P, next, sizeof P);
    }
    case_size(&c, "rows", n);
    case_input(&c, "A", A);
    case_run(&c);
    check_values(&c, "P", P, 9);
    case_close(&c);
}

static void products_of_matrices(void **state) {
    (void)state;
    for (int t = 0; t < TARGETS; ++t)
        for (int k = 0; k < SIZES - 1; ++k)
            check_matrices(&targets[t], sizes[k]);
}

/* The first of the greatest and of the least; NaN comes before any number. */
static void check_places(const target *to, int64_t n, int64_t not_a_number) {
    static double x[MOST + 1];
    double most[2] = {-INFINITY, INFINITY}, least[2] = {INFINITY, INFINITY}, large[2];
    program_case c =
        open_case(to, "index rows;\ninput x : real over rows;\n"
                      "m = argmax(x);\nl = argmin(x);\na = iamax(x);\nreturn m, l, a;\n");
    memcpy(large, most, sizeof large);
    for (int64_t i = 0; i < n; ++i) {
        x[i] = i == not_a_number ? NAN : (double)((i + 3) * 29 % 97) - 60;
        if (isnan(x[i]) || x[i] > most[0])
            most[0] = x[i], most[1] = (double)i;
        if (isnan(x[i]) || x[i] < least[0])
            least[0] = x[i], least[1] = (double)i;
        if (isnan(x[i]) || fabs(x[i]) > large[0])
            large[0] = fabs(x[i]), large[1] = (double)i;
        if (isnan(x[i]))
            break;
    }
    for (int64_t i = not_a_number < 0 ? n : not_a_number + 1; i < n; ++i)
        x[i] = i % 7 == 0 ? NAN : 1e30; /* what follows changes nothing */
    case_size(&c, "rows", n);
    case_input(&c, "x", x);
    case_run(&c);
    check_values(&c, "m", most, 2);
    check_values(&c, "l", least, 2);
    check_values(&c, "a", large, 2);
    case_close(&c);
}

static void places_of_extremes(void **state) {
    (void)state;
    for (int t = 0; t < TARGETS; ++t)
        for (int k = 0; k < SIZES; ++k) {
            check_places(&targets[t], sizes[k], -1);
            if (sizes[k] > 30)
                check_places(&targets[t], sizes[k], sizes[k] / 2);
        }
}

/* Euclidean norms whose squares are beyond the numbers of the precision: of n equal values, sqrt(n) times the value. */
static void scaled_norms(void **state) {
    (void)state;
    static const double of_double[] = {1e200, 1e-200, 3, 1e-310},
                        of_float[] = {1e30, 1e-30, 3, 1e-42};
    enum { N = 1024 };
    static double x[N];
    for (int t = 0; t < TARGETS; ++t)
        for (int k = 0; k < 4; ++k) {
            const double value = targets[t].single ? of_float[k] : of_double[k];
            program_case c =
                open_case(&targets[t], "index rows;\ninput x : real over rows;\n"
                                       "r = nrm2(x);\nn = r[0]*sqrt(r[1]);\nreturn n;\n");
            for (int i = 0; i < N; ++i)
                x[i] = i % 2 ? -value : value;
            weft_error error = {0};
            case_check(weft_program_size(c.program, "rows", N, &error), &error);
            float single[N];
            for (int i = 0; i < N; ++i)
                single[i] = (float)x[i];
            weft_memory *list = case_memory(&c, targets[t].single ? sizeof single : sizeof x);
            case_check(weft_memory_write(list, 0, targets[t].single ? (void *)single : (void *)x,
                                         targets[t].single ? sizeof single : sizeof x, &error),
                       &error);
            case_check(weft_program_bind(c.program, "x", list, &error), &error);
            case_check(weft_program_run(c.program, &error), &error);
            double got = 0;
            float short_one = 0;
            case_check(weft_memory_read(weft_program_result(c.program, "n"), 0,
                                        targets[t].single ? (void *)&short_one : (void *)&got,
                                        targets[t].single ? sizeof short_one : sizeof got, &error),
                       &error);
            got = targets[t].single ? (double)short_one : got;
            const double exact = 32 * (targets[t].single ? (double)(float)value : value);
            assert_true(fabs(got - exact) <= (targets[t].single ? 1e-5 : 1e-13) * exact);
            case_close(&c);
        }
}

/* The same bits for every number of threads and both plans, where the operator rounds. */
static void bits_are_repeated(void **state) {
    (void)state;
    static const char *const devices[] = {"host:1", "host:2", "host:3", "host:4"};
    enum { N = 20000 };
    static double a[N], b[N];
    double first[2] = {0, 0};
    for (int i = 0; i < N; ++i) {
        a[i] = 1 - 1.0 / (i + 2);
        b[i] = 1.0 / (3 * i + 1);
    }
    for (int k = 0; k < 8; ++k) {
        const target to = {devices[k % 4], k < 4 ? WEFT_PLAN_FUSED : WEFT_PLAN_UNFUSED, false};
        program_case c = open_case(&to, "index rows;\ninput a, b : real over rows;\n"
                                        "f = all_of(a, b);\nr = nrm2(b);\nreturn f, r;\n");
        case_size(&c, "rows", N);
        case_input(&c, "a", a);
        case_input(&c, "b", b);
        case_run(&c);
        double *f = case_result(&c, "f");
        if (k == 0)
            memcpy(first, f, sizeof first);
        assert_memory_equal(f, first, sizeof first);
        /* the product of (i + 1) / (i + 2) is 1 / (N + 1) */
        assert_double_near(f[0], 1.0 / (N + 1), 1e-11, 0);
        free(f);
        case_close(&c);
    }
}

/* A loop reads the results, which its last kernel joins on a GPU. */
static void loops_read_results(void **state) {
    (void)state;
    enum { N = 1500 };
    static double x[N];
    for (int t = 0; t < TARGETS; ++t) {
        if (targets[t].single)
            continue;
        weft_error error = {0};
        int64_t iterations = 0;
        const double huge = 1e300;
        double place = -1;
        program_case c =
            open_case(&targets[t], "index rows plain;\ninput x : real over rows;\n"
                                   "input level, place : real;\n"
                                   "repeat at most 50 while (level > 1) {\n"
                                   "    update x = x/2;\n    r = argmax(x);\n"
                                   "    update level = r[0];\n    update place = r[1];\n}\n");
        for (int i = 0; i < N; ++i)
            x[i] = i == 777 ? 1000 : i == 1203 ? 1000 : -i;
        case_check(weft_program_size(c.program, "rows", N, &error), &error);
        weft_memory *list = case_memory(&c, sizeof x), *level = case_memory(&c, sizeof huge);
        weft_memory *where = case_memory(&c, sizeof place);
        case_check(weft_memory_write(list, 0, x, sizeof x, &error), &error);
        case_check(weft_memory_write(level, 0, &huge, sizeof huge, &error), &error);
        case_check(weft_program_bind(c.program, "x", list, &error), &error);
        case_check(weft_program_bind(c.program, "level", level, &error), &error);
        case_check(weft_program_bind(c.program, "place", where, &error), &error);
        case_check(weft_program_run(c.program, &error), &error);
        case_check(weft_program_iterations(c.program, &iterations, &error), &error);
        case_check(weft_memory_read(where, 0, &place, sizeof place, &error), &error);
        assert_int_equal(iterations, 10); /* 1000 / 2^10 < 1 */
        assert_true(place == 777);
        case_close(&c);
    }
}

/* The greatest of each row, of each column and of a whole matrix, with their places. */
static void check_matrix(const target *to, int64_t m, int64_t n) {
    enum { SIDE = 70 };
    static double A[SIDE * SIDE], place[SIDE], rows[2 * SIDE], columns[2 * SIDE];
    double all[2] = {-INFINITY, INFINITY};
    program_case c = open_case(to, "index I, J;\ninput A : real over I, J;\n"
                                   "input p : real over I;\ninput q : real over J;\n"
                                   "r = best_of_row(A, q);\nc = best_of_column(A, p);\n"
                                   "m = argmax(A);\nreturn r, c, m;\n");
    for (int64_t i = 0; i < 2 * SIDE; ++i)
        rows[i] = columns[i] = i % 2 ? INFINITY : -INFINITY;
    for (int64_t i = 0; i < SIDE; ++i)
        place[i] = (double)i;
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
            const double one = A[i * n + j] = (double)((i * 37 + j * 11) % 41) - 50;
            if (one > rows[2 * i])
                rows[2 * i] = one, rows[2 * i + 1] = (double)j;
            if (one > columns[2 * j])
                columns[2 * j] = one, columns[2 * j + 1] = (double)i;
            if (one > all[0])
                all[0] = one, all[1] = (double)(i * n + j);
        }
    case_size(&c, "I", m);
    case_size(&c, "J", n);
    case_input(&c, "A", A);
    case_input(&c, "p", place);
    case_input(&c, "q", place);
    case_run(&c);
    check_values(&c, "r", rows, (int)(2 * m));
    check_values(&c, "c", columns, (int)(2 * n));
    check_values(&c, "m", all, 2);
    case_close(&c);
}

static void matrices(void **state) {
    (void)state;
    static const int64_t shapes[][2] = {{1, 1}, {7, 9}, {9, 7}, {33, 70}, {70, 33}, {2, 64}};
    for (int t = 0; t < TARGETS; ++t)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; ++k)
            check_matrix(&targets[t], shapes[k][0], shapes[k][1]);
}

/* Kernels over pairs keep no order. */
static void pairs_need_commutative_operators(void **state) {
    (void)state;
    weft_error error = {0};
    weft_library *library = NULL;
    weft_compilation *compilation = NULL;
    weft_device *device = NULL;
    const weft_device_options options = weft_device_options_default(NULL);
    const weft_fragment fragment = {"test.weft", "index I, J;\ninput A : real over I, J;\n"
                                                 "f = all_of(A, A);\nreturn f;\n"};
    case_check(weft_device_open("null", &options, &device, &error), &error);
    case_check(weft_library_make(&library, &error), &error);
    case_check(weft_library_add_text(library, "own.kernel.c", kernels, &error), &error);
    assert_int_equal(
        weft_compile(library, weft_device_limits(device), &fragment, 1, NULL, &compilation, &error),
        WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(error.message,
                        "'all_of' combines pairs of I, J by an operator that is not commutative");
    assert_int_equal(error.line, 3);
    weft_device_free(&device);
    weft_library_free(&library);
}

/* Threads that have several tiles of elements: built-in operators, those that keep the order and those that need not, with a
 * map in the same kernel. */
static void check_coarse(int iterations, bool single, int64_t n) {
    static double a[MOST + 1], b[MOST + 1];
    const target to = {NULL, WEFT_PLAN_FUSED, single};
    double all[2] = {1, 0}, sum = 0, low = INFINITY, most[2] = {-INFINITY, INFINITY};
    char text[400];
    const bool split = n % 2 != 0; /* or one kernel, in which the order counts for all */
    snprintf(text, sizeof text,
             "index rows;\ninput a, b : real over rows;\n"
             "fuse iterations %d {\n    f = all_of(a, b);\n}\n%s"
             "fuse iterations %d {\n    c = 2*b;\n    s = sum(c);\n    l = minimum(b);\n"
             "    m = argmax(b);\n}\nreturn f, s, l, m, c;\n",
             iterations, split ? "split;\n" : "", iterations);
    program_case c = open_case(&to, text);
    const weft_plan *plan = case_segment(&c)->plan;
    assert_int_equal(plan->n_kernels, split ? 4 : 2);
    for (int k = 0; k < plan->n_kernels; ++k)
        assert_int_equal(plan->kernels[k].coarsening, iterations);
    for (int64_t i = 0; i < n; ++i) {
        a[i] = sign_of(i);
        b[i] = (double)((i + 3) * 29 % 97) - 60;
        all[1] = all[0] * b[i] + all[1];
        all[0] *= a[i];
        sum += 2 * b[i];
        low = fmin(low, b[i]);
        if (b[i] > most[0])
            most[0] = b[i], most[1] = (double)i;
    }
    case_size(&c, "rows", n);
    case_input(&c, "a", a);
    case_input(&c, "b", b);
    case_run(&c);
    check_values(&c, "f", all, 2);
    check_values(&c, "s", &sum, 1);
    check_values(&c, "l", &low, 1);
    check_values(&c, "m", most, 2);
    case_close(&c);
}

static void threads_have_several_tiles(void **state) {
    (void)state;
    static const int64_t lengths[] = {0, 1, 127, 1023, 1025, 4096, 4097, 9000};
    for (int iterations = 1; iterations <= 8; iterations *= 2)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k)
            check_coarse(iterations, k % 2, lengths[k]);
}

/* A float has the whole numbers up to 2^24. */
static void too_many_places(void **state) {
    (void)state;
    weft_error error = {0};
    const target to = {"null", WEFT_PLAN_FUSED, true};
    program_case c =
        open_case(&to, "index rows;\ninput x : real over rows;\nm = argmax(x);\nreturn m;\n");
    case_check(weft_program_size(c.program, "rows", (1 << 24) + 1, &error), &error);
    case_check(weft_program_bind(c.program, "x", case_memory(&c, ((size_t)1 << 26) + 64), &error),
               &error);
    assert_int_equal(weft_program_run(c.program, &error), WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(
        error.message,
        "'argmax' uses the number of each element, and single precision has those up "
        "to 16777216, but 'rows' has 16777217 elements");
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(products_of_matrices),
        cmocka_unit_test(places_of_extremes),
        cmocka_unit_test(scaled_norms),
        cmocka_unit_test(bits_are_repeated),
        cmocka_unit_test(loops_read_results),
        cmocka_unit_test(too_many_places),
        cmocka_unit_test(matrices),
        cmocka_unit_test(pairs_need_commutative_operators),
        cmocka_unit_test(threads_have_several_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
