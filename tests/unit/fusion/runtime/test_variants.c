/* labels: quick */
/* Kernels whose calls have different granularities: every choice of variants gives the numbers of
 * plain loops over small integers, which no order of additions changes. On a GPU (WEFT_TEST_DEVICE)
 * several threads share an element through shared memory; on the null device of an H200 the
 * barriers are counted: one behind the loads, and one wherever a thread reads what another has
 * written. */
#include "fusion/weft_compile.h"
#include "program_support.h"

#define LISTS                                                                                      \
    "index N, nodes;\nconnectivity at : N -> nodes[2];\n"                                          \
    "input A, B : real[3,3] over N;\ninput c : real[3] over N;\n"                                  \
    "input D, E : real[5,5] over N;\ninput p : real over nodes;\n"
#define CALLS                                                                                      \
    "M1 = mmul(A, B);\nv1 = mvmul(M1, c);\ns1 = dot(v1, v1);\n"                                    \
    "M2 = mmul(D, E);\nM3 = madd(M2, D);\nF = smmul(M3, s1);\n"                                    \
    "u = p[at];\nw = mvmul(M1, v1);\nt[at] += s1*u;\n"
static const char text[] = LISTS CALLS "return F, w, t;\n";
/* in a block that is asked for */
static const char text_in_block[] =
    LISTS "parameter instances = 0, width = 0, trips = 0;\n"
          "fuse block instances threads width iterations trips {\n" CALLS "}\nreturn F, w, t;\n";

enum { NODES = 17 };

typedef struct lists {
    double A[9], B[9], c[3], D[25], E[25];
    double F[25], w[3], scale;
} lists;

static void product(const double *a, const double *b, int m, int k, int n, double *c) {
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            c[i * n + j] = 0;
            for (int l = 0; l < k; ++l)
                c[i * n + j] += a[i * k + l] * b[l * n + j];
        }
}

static double small(int64_t *state) {
    *state = (*state * 1103515245 + 12345) % 2147483648;
    return (double)(*state / 65536 % 5 - 2);
}

static void fill(double *a, int n, int64_t *state) {
    for (int i = 0; i < n; ++i)
        a[i] = small(state);
}

static lists one(int64_t *state) {
    lists l;
    double m1[9], v1[3], m2[25];
    fill(l.A, 9, state);
    fill(l.B, 9, state);
    fill(l.c, 3, state);
    fill(l.D, 25, state);
    fill(l.E, 25, state);
    product(l.A, l.B, 3, 3, 3, m1);
    product(m1, l.c, 3, 3, 1, v1);
    product(m1, v1, 3, 3, 1, l.w);
    product(l.D, l.E, 5, 5, 5, m2);
    l.scale = v1[0] * v1[0] + v1[1] * v1[1] + v1[2] * v1[2];
    for (int i = 0; i < 25; ++i)
        l.F[i] = l.scale * (m2[i] + l.D[i]);
    return l;
}

static void gather(const lists *all, int64_t n, size_t offset, int count, double *out) {
    for (int64_t i = 0; i < n; ++i)
        memcpy(out + i * count, (const char *)&all[i] + offset, (size_t)count * sizeof *out);
}

static void input(program_case *c, const char *name, const lists *all, int64_t n, size_t offset,
                  int count) {
    double *plain = calloc((size_t)(n * count), sizeof *plain);
    assert_non_null(plain);
    gather(all, n, offset, count, plain);
    case_input(c, name, plain);
    free(plain);
}

static void check_equal(const program_case *c, const char *name, const double *expected,
                        int64_t n) {
    double *got = case_result(c, name);
    for (int64_t i = 0; i < n; ++i)
        if (got[i] != expected[i])
            fail_msg("%s[%lld] is %g, not %g", name, (long long)i, got[i], expected[i]);
    free(got);
}

static void check(const char *script, const weft_compile_options *options, int64_t n) {
    int64_t state = 7 + n;
    program_case c = case_open(NULL, "host:2", script, options);
    lists *all = calloc((size_t)n, sizeof *all);
    int32_t *at = calloc((size_t)n * 2, sizeof *at);
    double *expected = calloc((size_t)n * 25, sizeof *expected), p[NODES], t[NODES] = {0};
    assert_true(all && at && expected);
    fill(p, NODES, &state);
    for (int64_t i = 0; i < n; ++i) {
        all[i] = one(&state);
        for (int k = 0; k < 2; ++k) {
            at[2 * i + k] = (int32_t)((i * 3 + k * 5) % NODES);
            t[at[2 * i + k]] += all[i].scale * p[at[2 * i + k]];
        }
    }
    case_size(&c, "N", n);
    case_map(&c, "at", at, n, 2, NODES);
    input(&c, "A", all, n, offsetof(lists, A), 9);
    input(&c, "B", all, n, offsetof(lists, B), 9);
    input(&c, "c", all, n, offsetof(lists, c), 3);
    input(&c, "D", all, n, offsetof(lists, D), 25);
    input(&c, "E", all, n, offsetof(lists, E), 25);
    case_input(&c, "p", p);
    for (int again = 0; again < 2; ++again) {
        case_run(&c);
        gather(all, n, offsetof(lists, F), 25, expected);
        check_equal(&c, "F", expected, n * 25);
        gather(all, n, offsetof(lists, w), 3, expected);
        check_equal(&c, "w", expected, n * 3);
        check_equal(&c, "t", t, NODES);
    }
    case_close(&c);
    free(all);
    free(at);
    free(expected);
}

/* In both plans. */
static void every_choice_of_variants(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 31, 32, 33, 1009};
    for (int choice = 0; choice < 54; ++choice) {
        const weft_variant_choice variants[] = {{"mmul", choice % 3},
                                                {"mvmul", choice / 3 % 2},
                                                {"madd", choice / 6 % 3},
                                                {"smmul", choice / 18 % 3}};
        const weft_compile_options options = {.size = sizeof options,
                                              .plan = choice % 5 == 4 ? WEFT_PLAN_UNFUSED
                                                                      : WEFT_PLAN_FUSED,
                                              .variants = variants,
                                              .n_variants = 4};
        check(text, &options, sizes[choice % 5]);
    }
}

/* Blocks that the planner would not think of; on the host there is one, which nobody asks for. */
static void blocks_that_are_asked_for(void **state) {
    (void)state;
    static const int blocks[][3] = {{96, 2, 3}, {32, 25, 1}, {32, 7, 64}, {160, 1, 5}, {64, 9, 2}};
    static const int64_t sizes[] = {1, 95, 97, 641, 4099};
    const bool on_gpu = case_on_gpu();
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; ++i)
        for (int k = 0; k < 5; ++k) {
            const weft_variant_choice variants[] = {
                {"mmul", 2}, {"mvmul", k % 2}, {"madd", k % 3}, {"smmul", (k + 1) % 3}};
            const weft_parameter asked[] = {{"instances", on_gpu ? blocks[i][0] : 0},
                                            {"width", on_gpu ? blocks[i][1] : 0},
                                            {"trips", on_gpu ? blocks[i][2] : 0}};
            const weft_compile_options options = {.size = sizeof options,
                                                  .variants = variants,
                                                  .n_variants = 4,
                                                  .parameters = asked,
                                                  .n_parameters = 3};
            check(text_in_block, &options, sizes[k]);
        }
}

static int count(const char *haystack, const char *needle) {
    int n = 0;
    for (const char *at = strstr(haystack, needle); at != NULL; at = strstr(at + 1, needle))
        ++n;
    return n;
}

static int barriers(const char *script, int mmul, int mvmul, int madd) {
    const weft_variant_choice variants[] = {{"mmul", mmul}, {"madd", madd}, {"mvmul", mvmul}};
    const weft_compile_options options = {
        .size = sizeof options, .variants = variants, .n_variants = mvmul < 0 ? 2 : 3};
    program_case c = case_open(NULL, "null:h200", script, &options);
    const char *kernel = strstr(weft_compilation_source(c.compilation), "KERNEL k0_");
    assert_non_null(kernel);
    const int n = count(kernel, "__syncthreads");
    case_close(&c);
    return n;
}

static void only_the_barriers_that_are_needed(void **state) {
    (void)state;
    static const char chain[] = "index N;\ninput A, B : real[4,4] over N;\n"
                                "C = mmul(A, B);\nD = madd(C, A);\nreturn D;\n";
    static const char column[] = "index N;\ninput A, B : real[4,4] over N;\n"
                                 "input x : real[4] over N;\n"
                                 "fuse threads 16 {\n"
                                 "C = mmul(A, B);\nD = madd(C, A);\ny = mvmul(D, x);\n"
                                 "}\nreturn y;\n";
    assert_int_equal(barriers(chain, 0, -1, 0), 0); /* one thread: none */
    /* element by element in both: behind the loads; each thread stores what it computed */
    assert_int_equal(barriers(chain, 2, -1, 2), 1);
    /* row by row in both */
    assert_int_equal(barriers(chain, 1, -1, 1), 1);
    /* rows by four threads, then elements by sixteen: one between */
    assert_int_equal(barriers(chain, 1, -1, 2), 2);
    /* and rows of D, which others made, by four threads again */
    assert_int_equal(barriers(column, 1, 1, 2), 3);
}

/* Where all calls give a thread the same components, these stay in its registers, and it loads and
 * stores them itself. */
static void no_barrier_where_the_mapping_is_the_same(void **state) {
    (void)state;
    static const char script[] = "index N;\ninput A, B : real[3,3] over N;\n"
                                 "input s : real over N;\nC = madd(A, B);\n"
                                 "D = smmul(C, s);\nupdate A = madd(D, A);\nreturn C;\n";
    for (int variant = 1; variant <= 2; ++variant) {
        const weft_variant_choice variants[] = {{"madd", variant}, {"smmul", variant}};
        const weft_compile_options options = {
            .size = sizeof options, .variants = variants, .n_variants = 2};
        program_case c = case_open(NULL, "null:h200", script, &options);
        const weft_plan *plan = case_segment(&c)->plan;
        assert_int_equal(plan->n_kernels, 1);
        assert_int_equal(plan->kernels[0].implementation->shared_components, 0);
        const char *kernel = strstr(weft_compilation_source(c.compilation), "KERNEL k0_");
        assert_int_equal(count(kernel, "__syncthreads"), 0);
        case_close(&c);
    }
}

/* Threads that read A by rows must have loaded it before others overwrite it by components, although
 * no value is in shared memory; threads that overwrite what they have read themselves need not
 * wait. */
static void updates_wait_for_loads(void **state) {
    (void)state;
    static const char *const scripts[] = {
        "index N;\ninput A, D : real[3,3] over N;\nfuse {\n"
        "C = madd(A, A) using variant 1;\nupdate A = madd(D, D) using variant 2;\n}\nreturn C;\n",
        "index N;\ninput A, D : real[3,3] over N;\nfuse {\n"
        "C = madd(A, A) using variant 2;\nupdate A = madd(D, D) using variant 2;\n}\nreturn C;\n"};
    for (int k = 0; k < 2; ++k) {
        program_case c = case_open(NULL, "null:h200", scripts[k], NULL);
        const weft_plan *plan = case_segment(&c)->plan;
        assert_int_equal(plan->n_kernels, 1);
        assert_int_equal(plan->kernels[0].implementation->shared_components, 0);
        const char *kernel = strstr(weft_compilation_source(c.compilation), "KERNEL k0_");
        assert_int_equal(count(kernel, "__syncthreads"), k == 0);
        case_close(&c);
    }
}

/* The first kernel of a plan for an H200, and its shared memory in components per element, which
 * must be what the text of the kernel declares. */
static int shared_components(const char *script, const char *function, int variant) {
    const weft_variant_choice variants[] = {{function, variant}};
    const weft_compile_options options = {
        .size = sizeof options, .variants = variants, .n_variants = 1, .max_fusion = 10};
    program_case c = case_open(NULL, "null:h200", script, &options);
    const weft_plan *plan = case_segment(&c)->plan;
    weft_text printed = {0};
    char expected[80];
    assert_int_equal(plan->n_kernels, 1);
    const int n = plan->kernels[0].implementation->shared_components;
    weft_plan_print_text(case_segment(&c)->graph, plan, &printed);
    snprintf(expected, sizeof expected, "on chip  %d components in shared memory", n);
    assert_non_null(strstr(printed.data, expected));
    weft_text_free(&printed);
    case_close(&c);
    return n;
}

/* At any time one factor, one product and the next one are needed, however long the chain is. All
 * matrices together would not fit. */
static void loads_are_late(void **state) {
    (void)state;
    weft_text vectors = {0}, matrices = {0};
    weft_text_add(&vectors, "index N;\ninput y0 : real[4] over N;\n");
    weft_text_add(&matrices, "index N;\ninput P0 : real[7,7] over N;\n");
    for (int i = 1; i <= 10; ++i) {
        weft_text_add(&vectors, "input A%d : real[4,4] over N;\n", i);
        weft_text_add(&matrices, "input A%d : real[7,7] over N;\n", i);
    }
    weft_text_add(&matrices, "fuse {\n");
    for (int i = 1; i <= 10; ++i) {
        weft_text_add(&vectors, "y%d = mvmul(A%d, y%d);\n", i, i, i - 1);
        weft_text_add(&matrices, "P%d = mmul(P%d, A%d);\n", i, i - 1, i);
    }
    weft_text_add(&vectors, "return y10;\n");
    weft_text_add(&matrices, "}\nreturn P10;\n");
    assert_false(vectors.failed || matrices.failed);
    assert_in_range(shared_components(vectors.data, "mvmul", 1), 0, 16 + 4 + 4);
    assert_in_range(shared_components(matrices.data, "mmul", 1), 0, 3 * 49);
    weft_text_free(&vectors);
    weft_text_free(&matrices);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_choice_of_variants),
        cmocka_unit_test(blocks_that_are_asked_for),
        cmocka_unit_test(only_the_barriers_that_are_needed),
        cmocka_unit_test(no_barrier_where_the_mapping_is_the_same),
        cmocka_unit_test(updates_wait_for_loads),
        cmocka_unit_test(loads_are_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
