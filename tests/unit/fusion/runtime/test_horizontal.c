/* labels: quick */
/* Independent kernels in one launch: CUDA text run thread by thread, for unequal sizes, none and
 * remainders. All numbers are small integers, so that results are exact. */
#include "emulated_gpu.h"
#include "fusion/plan/plan.h"
#include "program_support.h"

enum { MOST = 700 };

static program_case open_gpu(const char *text, weft_compile_options options) {
    const weft_device_options device_options = weft_device_options_default(NULL);
    weft_error error = {0};
    weft_device *device = NULL;
    case_check(weft_device_open("host:1", &device_options, &device, &error), &error);
    emulated_gpu_make(device);
    device->limits.launch_seconds = 3e-6;
    device->limits.bandwidth = 4e12;
    device->limits.flops = 3e13;
    options.elements = 1000;
    return case_open_on(NULL, device, text, &options);
}

/* Three kernels, as their index sets differ; r adds to a list that is zeroed first. */
static const char *const three = "index N, M plain, E, V plain;\n"
                                 "connectivity ends : E -> V[2];\n"
                                 "input a, b : real[2] over N;\ninput c : real over M;\n"
                                 "input d : real[2] over E;\ninput s : real;\n"
                                 "%sp = s*a - b;\nq = c*c + s;\nr[ends] += 2*d;\n%s"
                                 "return p, q, r;\n";

/* Their launch by the planner's choice, and by those of the script. */
static const char *const blocks[] = {"", "together {\n", "together inter_block {\n",
                                     "together inner_block {\n", "together inner_thread {\n"};
static const weft_combination combinations[] = {INTER_BLOCK, INTER_BLOCK, INTER_BLOCK, INNER_BLOCK,
                                                INNER_THREAD};
enum { BLOCKS = 5 };

static program_case open_three(int block, weft_compile_options options) {
    char text[1024];
    snprintf(text, sizeof text, three, blocks[block], block > 0 ? "}\n" : "");
    return open_gpu(text, options);
}

typedef struct data {
    double a[2 * MOST], b[2 * MOST], c[MOST], d[2 * MOST], s;
    int32_t ends[2 * MOST];
    double p[2 * MOST], q[MOST], r[MOST]; /* expected */
} data;

static void fill(data *x, int64_t n_edges, int64_t n_vertices) {
    *x = (data){.s = 3};
    for (int64_t i = 0; i < 2 * MOST; ++i) {
        x->a[i] = (double)(i * 7 % 11) - 5;
        x->b[i] = (double)(i * 5 % 13) - 6;
        x->d[i] = (double)(i * 3 % 7) - 3;
        x->p[i] = 3 * x->a[i] - x->b[i];
    }
    for (int64_t i = 0; i < MOST; ++i) {
        x->c[i] = (double)(i % 17) - 8;
        x->q[i] = x->c[i] * x->c[i] + 3;
    }
    for (int64_t i = 0; i < 2 * n_edges; ++i) {
        x->ends[i] = (int32_t)((i * 5 + i % 2) % n_vertices);
        x->r[x->ends[i]] += 2 * x->d[i];
    }
}

static void compare(const program_case *c, const char *name, const double *expected, int64_t n) {
    double *found = case_result(c, name);
    for (int64_t i = 0; i < n; ++i)
        if (found[i] != expected[i])
            fail_msg("%s[%lld] is %g, expected %g", name, (long long)i, found[i], expected[i]);
    free(found);
}

static void bind_and_run(program_case *c, data *x, const int64_t sizes[4]) {
    fill(x, sizes[2], sizes[3]);
    case_size(c, "N", sizes[0]);
    case_size(c, "M", sizes[1]);
    if (c->n_connectivities > 0)
        weft_connectivity_free(&c->connectivities[--c->n_connectivities]);
    case_map(c, "ends", x->ends, sizes[2], 2, sizes[3]);
    case_input(c, "a", x->a);
    case_input(c, "b", x->b);
    case_input(c, "c", x->c);
    case_input(c, "d", x->d);
    case_input(c, "s", &x->s);
    case_run(c);
}

/* The kernels of a plan that has one launch. */
static void expect_one_launch(const program_case *c, int n_kernels, weft_combination how) {
    const weft_plan *plan = case_segment(c)->plan;
    assert_int_equal(plan->kernels[plan->n_kernels - 1].combination, how);
    assert_int_equal(weft_plan_launches(plan), 1);
    assert_int_equal(plan->n_kernels - plan->n_groups, n_kernels);
}

static void unequal_sizes(void **state) {
    static const int64_t sizes[][4] = {{1000 / 2, 300, 7, 9}, {0, 257, 129, 130}, {128, 0, 1, 2},
                                       {129, 1, 0, 1},        {0, 0, 700, 650},   {1, 128, 0, 3}};
    data *x = calloc(1, sizeof *x);
    (void)state;
    assert_non_null(x);
    for (int block = 0; block < BLOCKS; ++block) {
        program_case c =
            open_three(block, (weft_compile_options){.size = sizeof(weft_compile_options),
                                                     .single = block % 2 == 1});
        expect_one_launch(&c, 3, combinations[block]);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
            bind_and_run(&c, x, sizes[i]);
            compare(&c, "p", x->p, 2 * sizes[i][0]);
            compare(&c, "q", x->q, sizes[i][1]);
            compare(&c, "r", x->r, sizes[i][3]);
        }
        case_close(&c);
    }
    free(x);
}

/* A program is run again with other sizes. */
static void sizes_change(void **state) {
    static const int64_t sizes[][2] = {{100, 300}, {300, 1}, {0, 200}, {513, 512}};
    data *x = calloc(1, sizeof *x);
    (void)state;
    assert_non_null(x);
    program_case c = open_gpu(
        "index N, M;\ninput a : real over N;\ninput c : real over M;\n"
        "p = 2*a;\nq = 3*c;\nreturn p, q;\n",
        (weft_compile_options){.size = sizeof(weft_compile_options), .plan = WEFT_PLAN_FUSED});
    expect_one_launch(&c, 2, INTER_BLOCK);
    fill(x, 0, 1);
    for (int64_t i = 0; i < MOST; ++i) {
        x->p[i] = 2 * x->a[i];
        x->q[i] = 3 * x->c[i];
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        case_size(&c, "N", sizes[i][0]);
        case_size(&c, "M", sizes[i][1]);
        case_input(&c, "a", x->a);
        case_input(&c, "c", x->c);
        case_run(&c);
        compare(&c, "p", x->p, sizes[i][0]);
        compare(&c, "q", x->q, sizes[i][1]);
    }
    case_close(&c);
    free(x);
}

/* While *active is 0, neither the kernels nor their zeroing change anything. */
static void predicated(void **state) {
    static const int64_t sizes[4] = {200, 3, 150, 160};
    data *x = calloc(1, sizeof *x);
    weft_error error = {0};
    (void)state;
    assert_non_null(x);
    program_case c = open_three(
        3, (weft_compile_options){.size = sizeof(weft_compile_options), .predicated = true});
    weft_memory *active = case_memory(&c, sizeof(uint32_t));
    weft_program_predicate(c.program, active);
    for (uint32_t is_active = 1; is_active < 2; --is_active) {
        case_check(weft_memory_write(active, 0, &is_active, sizeof is_active, &error), &error);
        if (is_active == 1)
            bind_and_run(&c, x, sizes);
        else {
            const double other = 7;
            case_input(&c, "s", &other);
            case_run(&c);
        }
        compare(&c, "p", x->p, 2 * sizes[0]);
        compare(&c, "q", x->q, sizes[1]);
        compare(&c, "r", x->r, sizes[3]);
    }
    case_close(&c);
    free(x);
}

/* Groups in a loop, which is a CUDA graph: x and y are updated 13 times. */
static void in_loops(void **state) {
    enum { N = 300, M = 200, ITERATIONS = 13 };
    double *lists[2], values[2] = {0, ITERATIONS};
    weft_error error = {0};
    (void)state;
    program_case c = open_gpu(
        "index N plain, M plain;\ninput x : real over N;\n"
        "input y : real over M;\ninput t, end : real;\n"
        "repeat at most 100 while (t < end) {\n"
        "    update x = x + 1;\n    update y = y + t;\n"
        "    update t = t + 1;\n}\n",
        (weft_compile_options){.size = sizeof(weft_compile_options), .plan = WEFT_PLAN_FUSED});
    const weft_control *control = c.compilation->control;
    int n_groups = 0;
    for (int i = 0; i < control->n_segments; ++i)
        n_groups += control->segments[i]->plan->n_groups;
    assert_int_equal(n_groups, 1);
    case_check(weft_program_size(c.program, "N", N, &error), &error);
    case_check(weft_program_size(c.program, "M", M, &error), &error);
    static const char *const names[] = {"x", "y", "t", "end"};
    for (int i = 0; i < 4; ++i) {
        const int64_t n = i == 0 ? N : i == 1 ? M : 1;
        weft_memory *memory = case_memory(&c, (size_t)n * sizeof(double));
        double *list = c.arrays[c.n_memories - 1];
        for (int64_t k = 0; k < n; ++k)
            list[k] = i < 2 ? (double)(k % 5) : values[i - 2];
        if (i < 2)
            lists[i] = list;
        case_check(weft_program_bind(c.program, names[i], memory, &error), &error);
    }
    case_run(&c);
    for (int64_t k = 0; k < N; ++k)
        assert_true(lists[0][k] == (double)(k % 5) + ITERATIONS);
    for (int64_t k = 0; k < M; ++k)
        assert_true(lists[1][k] == (double)(k % 5) + ITERATIONS * (ITERATIONS - 1) / 2);
    case_close(&c);
}

/* Reductions, kernels of several threads per element in blocks of different sizes, and two that add to one list. */
static const char *const blockwise =
    "index N, M, K, E, F, V plain;\n"
    "connectivity ends : E -> V[2];\nconnectivity tips : F -> V[2];\n"
    "input a : real over N;\ninput b : real over M;\ninput g : real over M;\n"
    "input A, B : real[3,3] over K;\ninput d : real[2] over E;\ninput e : real[2] over F;\n"
    "together inter_block {\n"
    "s = sum(2*a);\nt = maximum(3*g);\nu = sum(b*b);\nr[ends] += 2*d;\n%sC = mmul(A, B);%s\n"
    "r[tips] += 3*e;\n}\nreturn s, t, u, r, C;\n";

/* Of N, M, K, E, F, V elements. */
static void check_blockwise(program_case *c, const int64_t n[6]) {
    static const char *const sets[] = {"N", "M", "K", "E", "F", "V"};
    static double a[3000], b[1200], g[1200], A[9 * 300], B[9 * 300], C[9 * 300], d[2 * MOST],
        e[2 * MOST];
    static int32_t ends[2 * MOST], tips[2 * MOST];
    double r[MOST] = {0}, s = 0, t = -INFINITY, u = 0;
    for (int i = 0; i < 6; ++i)
        case_size(c, sets[i], n[i]);
    for (int64_t i = 0; i < n[0]; ++i)
        s += 2 * (a[i] = (double)(i * 7 % 11) - 4);
    for (int64_t i = 0; i < n[1]; ++i) {
        b[i] = (double)(i * 5 % 13) - 6;
        u += b[i] * b[i];
    }
    for (int64_t i = 0; i < n[1]; ++i)
        t = fmax(t, 3 * (g[i] = (double)(i * 11 % 101) - 60));
    for (int64_t i = 0; i < 9 * n[2]; ++i) {
        A[i] = (double)(i * 3 % 7) - 3;
        B[i] = (double)(i * 5 % 9) - 4;
    }
    for (int64_t k = 0; k < n[2]; ++k)
        for (int i = 0; i < 9; ++i) {
            C[9 * k + i] = 0;
            for (int l = 0; l < 3; ++l)
                C[9 * k + i] += A[9 * k + i / 3 * 3 + l] * B[9 * k + 3 * l + i % 3];
        }
    for (int64_t i = 0; i < 2 * n[3]; ++i)
        r[ends[i] = (int32_t)((i * 5 + i % 2) % n[5])] += 2 * (d[i] = (double)(i % 7) - 3);
    for (int64_t i = 0; i < 2 * n[4]; ++i)
        r[tips[i] = (int32_t)((i * 3 + i % 2) % n[5])] += 3 * (e[i] = (double)(i % 5) - 2);
    while (c->n_connectivities > 0)
        weft_connectivity_free(&c->connectivities[--c->n_connectivities]);
    case_map(c, "ends", ends, n[3], 2, n[5]);
    case_map(c, "tips", tips, n[4], 2, n[5]);
    case_input(c, "a", a);
    case_input(c, "b", b);
    case_input(c, "g", g);
    case_input(c, "A", A);
    case_input(c, "B", B);
    case_input(c, "d", d);
    case_input(c, "e", e);
    case_run(c);
    compare(c, "s", &s, 1);
    compare(c, "t", &t, 1);
    compare(c, "u", &u, 1);
    compare(c, "r", r, n[5]);
    compare(c, "C", C, 9 * n[2]);
}

static void block_by_block(void **state) {
    static const int64_t sizes[][6] = {{3000, 1200, 300, 7, 9, 30},
                                       {0, 513, 1, 129, 130, 500},
                                       {512, 1, 37, 700, 0, 9},
                                       {513, 511, 0, 0, 700, 650},
                                       {1, 0, 129, 128, 256, 3}};
    static const char *const fuses[] = {"", "fuse block 8 threads 9 {", "fuse block 32 threads 3 {",
                                        "fuse block 4 threads 9 iterations 3 {"};
    (void)state;
    for (int k = 0; k < 8; ++k) {
        char text[1024];
        const char *fuse = fuses[k % 4];
        snprintf(text, sizeof text, blockwise, fuse, *fuse ? "}" : "");
        program_case c = open_gpu(
            text, (weft_compile_options){.size = sizeof(weft_compile_options), .single = k >= 4});
        assert_int_equal(weft_plan_launches(case_segment(&c)->plan), 2);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
            check_blockwise(&c, sizes[i]);
        case_close(&c);
    }
}

/* Sums and an operator of the library's, over unequal lists. */
static void operators(void **state) {
    static const int64_t sizes[][2] = {{1300, 513}, {1, 2000}, {512, 1}};
    static double x[2000], y[2000];
    (void)state;
    program_case c = open_gpu("index N, M;\ninput x : real over N;\ninput y : real over M;\n"
                              "together { a = argmax(x); s = sum(2*y); }\n"
                              "again = argmax(x);\nreturn a, s, again;\n",
                              (weft_compile_options){.size = sizeof(weft_compile_options)});
    assert_int_equal(weft_plan_launches(case_segment(&c)->plan), 3);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        double a[2] = {-INFINITY, 0}, s = 0;
        for (int64_t k = 0; k < sizes[i][0]; ++k) {
            x[k] = (double)(k * 37 % 1009);
            if (x[k] > a[0]) {
                a[0] = x[k];
                a[1] = (double)k;
            }
        }
        for (int64_t k = 0; k < sizes[i][1]; ++k)
            s += 2 * (y[k] = (double)(k % 9) - 3);
        case_size(&c, "N", sizes[i][0]);
        case_size(&c, "M", sizes[i][1]);
        case_input(&c, "x", x);
        case_input(&c, "y", y);
        case_run(&c);
        compare(&c, "a", a, 2);
        compare(&c, "again", a, 2); /* the same value, copied */
        compare(&c, "s", &s, 1);
    }
    case_close(&c);
}

/* The second of two kernels that add to r shares the launch of what the first needs, and so comes before it. */
static void added_ahead(void **state) {
    enum { N = 40, E = 33, F = 21, V = 30 };
    double x[N], e[2 * F], r[V] = {0};
    int32_t ends[2 * E], from[2 * E], tips[2 * F];
    (void)state;
    program_case c = open_gpu(
        "index N plain, E, F, V plain;\nconnectivity ends : E -> V[2];\n"
        "connectivity from : E -> N[2];\nconnectivity tips : F -> V[2];\ninput x : real over N;\n"
        "input e : real[2] over F;\na = 2*x;\nr[ends] += 3*a[from];\nr[tips] += 5*e;\nreturn r;\n",
        (weft_compile_options){.size = sizeof(weft_compile_options)});
    const weft_plan *plan = case_segment(&c)->plan;
    assert_int_equal(plan->n_groups, 1);
    assert_int_equal(plan->kernels[1].n_scatters, 1); /* before the kernel that reads a */
    for (int i = 0; i < N; ++i)
        x[i] = (double)(i * 7 % 11) - 5;
    for (int i = 0; i < 2 * E; ++i) {
        from[i] = i * 3 % N;
        ends[i] = (i * 5 + i % 2) % V;
        r[ends[i]] += 6 * x[from[i]];
    }
    for (int i = 0; i < 2 * F; ++i)
        r[tips[i] = (i * 7 + i % 2) % V] += 5 * (e[i] = (double)(i % 5) - 1);
    case_size(&c, "N", N);
    case_map(&c, "ends", ends, E, 2, V);
    case_map(&c, "from", from, E, 2, N);
    case_map(&c, "tips", tips, F, 2, V);
    case_input(&c, "x", x);
    case_input(&c, "e", e);
    case_run(&c);
    case_run(&c);
    compare(&c, "r", r, V);
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unequal_sizes),  cmocka_unit_test(sizes_change),
        cmocka_unit_test(predicated),     cmocka_unit_test(in_loops),
        cmocka_unit_test(block_by_block), cmocka_unit_test(added_ahead),
        cmocka_unit_test(operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
