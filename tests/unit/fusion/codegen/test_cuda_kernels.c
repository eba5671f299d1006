/* labels: quick */
/* Generated CUDA text run on the host, thread by thread (cuda_on_host.h), against plain loops over
 * small integers: reductions, several threads per element, product kernels with their
 * prologues. Both orders of threads and blocks give the same numbers, to the bit where sums
 * round. */
#include "cuda_emulation.h"
#include "fusion/base/target.h"
#include "fusion/codegen/codegen.h"
#include "fusion/graph/graph.h"
#include "fusion/library/library.h"
#include "fusion/plan/implementation.h"
#include "fusion/plan/plan.h"
#include "fusion/weft_compile.h"
#include "program_support.h"

enum { LISTS = 64, ARGUMENTS = 24 };

/* of null:h200 */
enum { LANES = 32, THREADS = 128, TILE = 512, DIRECT = 40960, JOINED = 2048 };

typedef struct emulation {
    program_case c;
    void *object;
    emulate_function *emulate;
    void *data[LISTS], *partials[LISTS], *second_buffers[LISTS];
    const void *rows[8];
    const int32_t *connectivity; /* interleaved */
    int64_t n, capacity;
} emulation;

/* ---- compiling ---- */

static emulation begin(const char *text, const weft_compile_options *options, int64_t n) {
    emulation e = {.c = case_open(NULL, "null:h200", text, options), .n = n, .capacity = n};
    emulation_compile(weft_compilation_source(e.c.compilation), &e.object, &e.emulate);
    return e;
}

static void end(emulation *e) {
    for (int i = 0; i < LISTS; ++i) {
        free(e->data[i]);
        free(e->partials[i]);
        free(e->second_buffers[i]);
    }
    dlclose(e->object);
    case_close(&e->c);
}

/* ---- data ---- */

static int value_named(const emulation *e, const char *name) {
    const weft_graph *graph = case_segment(&e->c)->graph;
    for (int i = 0; i < graph->n_values; ++i)
        if (strcmp(graph->values[i].name, name) == 0)
            return i;
    fail_msg("no list %s", name);
    return -1;
}

static bool is_interleaved(const emulation *e, int value) {
    const weft_graph *graph = case_segment(&e->c)->graph;
    const int set = graph->values[value].index_set;
    return set >= 0 && !graph->index_sets[set].plain;
}

static int64_t place(const emulation *e, int value, int64_t i, int component) {
    const int count = weft_shape_count(&case_segment(&e->c)->graph->values[value].shape);
    return is_interleaved(e, value) ? (i / LANES * count + component) * LANES + i % LANES
                                    : i * count + component;
}

/* Memory of a list, NaN where nothing has been put. */
static double *list(const emulation *e, void **slot, int value) {
    const int count = weft_shape_count(&case_segment(&e->c)->graph->values[value].shape);
    const size_t n = (size_t)((e->capacity + LANES) / LANES + 1) * LANES;
    if (*slot == NULL) {
        double *made = malloc(n * (size_t)count * sizeof *made);
        assert_non_null(made);
        for (size_t i = 0; i < n * (size_t)count; ++i)
            made[i] = NAN;
        *slot = made;
    }
    return *slot;
}

static double *values(emulation *e, const char *name) {
    const int value = value_named(e, name);
    return list(e, &e->data[value], value);
}

static void *argument(emulation *e, const weft_argument *a) {
    switch (a->kind) {
    case ARGUMENT_VALUE:
        return list(e, &e->data[a->index], a->index);
    case ARGUMENT_DOUBLE_BUFFER:
        return list(e, &e->second_buffers[a->index], a->index);
    case ARGUMENT_PARTIALS:
        return list(e, &e->partials[a->index], a->index);
    case ARGUMENT_PRODUCT:
        return (void *)(uintptr_t)e->rows[a->part];
    case ARGUMENT_CONNECTIVITY:
        return (void *)(uintptr_t)e->connectivity;
    default:
        fail_msg("an argument that is not emulated");
        return NULL;
    }
}

static void run_kernel(emulation *e, const weft_plan_kernel *kernel, int backwards) {
    const weft_implementation *one = kernel->implementation;
    void *arguments[ARGUMENTS] = {NULL};
    unsigned threads = THREADS, per_block = THREADS, shared = 0;
    assert_true(kernel->n_arguments <= ARGUMENTS);
    for (int i = 0; i < kernel->n_arguments; ++i)
        arguments[i] = argument(e, &kernel->arguments[i]);
    if (kernel->kind == KERNEL_PRODUCT) {
        const weft_product_kernel *product_kernel =
            case_segment(&e->c)->graph->calls[kernel->product].product_kernel;
        threads = (unsigned)product_kernel->threads;
        per_block = (unsigned)product_kernel->rows;
    } else if (kernel->kind == KERNEL_FINAL_REDUCTION) {
        threads = TILE;
        per_block = UINT32_MAX;
    } else if (one != NULL && one->threads_per_element > 0) {
        threads = (unsigned)(one->threads_per_element * one->elements_per_block);
        per_block = (unsigned)(one->elements_per_block * one->serial_iterations);
        shared =
            (unsigned)(one->shared_components * one->elements_per_block) * (unsigned)sizeof(double);
    } else if (kernel->n_reductions > 0) {
        per_block = TILE;
    } else if (weft_source_block_threads(case_segment(&e->c)->plan, kernel) > 0) {
        threads = (unsigned)one->elements_per_block;
        per_block = (unsigned)(one->elements_per_block * one->serial_iterations);
    }
    unsigned blocks = (unsigned)((e->n + per_block - 1) / per_block);
    blocks = blocks == 0 && kernel->kind == KERNEL_FINAL_REDUCTION ? 1 : blocks;
    void *function = dlsym(e->object, kernel->name);
    assert_non_null(function);
    e->emulate(function, e->n, arguments, blocks, threads, shared, backwards);
}

static void run(emulation *e, int backwards) {
    const weft_plan *plan = case_segment(&e->c)->plan;
    for (int i = 0; i < plan->n_kernels; ++i) {
        assert_int_equal(plan->kernels[i].n_zero, 0);
        run_kernel(e, &plan->kernels[i], backwards);
    }
}

/* ---- reductions ---- */

static void check_reductions(weft_plan_kind plan) {
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 511, 512, 513, 4097};
    const weft_compile_options options = {.size = sizeof options, .plan = plan};
    emulation e = begin("index rows;\ninput a, b : real over rows;\n"
                        "s = sum(a);\nd = dot(a, b);\nlow = minimum(a);\nhigh = maximum(b);\n"
                        "rough = sum(a/7);\nc = a + b;\nreturn s, d, low, high, rough, c;\n",
                        &options, 8192);
    double *a = values(&e, "a"), *b = values(&e, "b");
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        double s = 0, d = 0, low = INFINITY, high = -INFINITY, rough = 0;
        e.n = sizes[k];
        for (int64_t i = 0; i < e.n; ++i) {
            a[i] = (double)(i * 7 % 23) - 11;
            b[i] = (double)(i * 5 % 17) - 3;
            s += a[i];
            d += a[i] * b[i];
            low = fmin(low, a[i]);
            high = fmax(high, b[i]);
        }
        for (int iteration = 0; iteration < 2; ++iteration) { /* any order of threads */
            run(&e, iteration);
            assert_true(values(&e, "s")[0] == s);
            assert_true(values(&e, "d")[0] == d);
            assert_true(values(&e, "low")[0] == low);
            assert_true(values(&e, "high")[0] == high);
            if (iteration == 0)
                rough = values(&e, "rough")[0];
            assert_true(values(&e, "rough")[0] == rough);
            assert_true(fabs(rough - s / 7) < 1e-10);
        }
    }
    end(&e);
}

static void reductions(void **state) {
    (void)state;
    check_reductions(WEFT_PLAN_FUSED);
    check_reductions(WEFT_PLAN_UNFUSED);
}

/* The partial results of so many elements that several thread blocks join them first. */
static void check_many_partials(int64_t n_partials) {
    const weft_compile_options options = {.size = sizeof options};
    const int64_t blocks = (n_partials + JOINED - 1) / JOINED;
    emulation e = begin("index rows;\ninput a : real over rows;\n"
                        "s = sum(a);\nlow = minimum(a);\nreturn s, low;\n",
                        &options, n_partials + blocks);
    const weft_plan *plan = case_segment(&e.c)->plan;
    const weft_plan_kernel *kernel = &plan->kernels[plan->n_kernels - 1];
    assert_int_equal(kernel->kind, KERNEL_FINAL_REDUCTION);
    assert_int_equal(kernel->n_reductions, 2);
    void *arguments[ARGUMENTS] = {NULL};
    for (int i = 0; i < kernel->n_arguments; ++i)
        arguments[i] = argument(&e, &kernel->arguments[i]);
    double s = 0, low = INFINITY;
    for (int64_t i = 0; i < n_partials; ++i) {
        const double value = (double)(i * 7 % 23) - 11 - (i == n_partials - 1 ? 9 : 0);
        list(&e, &e.partials[value_named(&e, "s")], value_named(&e, "s"))[i] = value;
        list(&e, &e.partials[value_named(&e, "low")], value_named(&e, "low"))[i] = value;
        s += value;
        low = fmin(low, value);
    }
    void *function = dlsym(e.object, kernel->name);
    assert_non_null(function);
    for (int backwards = 0; backwards < 2; ++backwards) {
        e.n = n_partials * TILE - 3;
        if (n_partials > DIRECT)
            e.emulate(function, e.n, arguments, (unsigned)blocks, TILE, 0, backwards);
        e.emulate(function, e.n, arguments, 1, TILE, 0, backwards);
        assert_true(values(&e, "s")[0] == s);
        assert_true(values(&e, "low")[0] == low);
    }
    end(&e);
}

static void many_partials(void **state) {
    (void)state;
    check_many_partials(DIRECT);
    check_many_partials(DIRECT + 1);
    check_many_partials(20 * JOINED + 1);
}

/* ---- product kernels ---- */

/* A graph Laplacian of a ring with chords, in whole numbers. */
typedef struct ring {
    int64_t start[2048];
    int32_t columns[8192];
    double entries[8192];
} ring;

static void make_ring(ring *r, int64_t n) {
    int64_t k = 0;
    for (int64_t i = 0; i < n; ++i) {
        const int64_t others[] = {(i + 1) % n, (i + n - 1) % n, (i * 37 + 5) % n};
        r->start[i] = k;
        r->columns[k] = (int32_t)i;
        r->entries[k++] = 5;
        for (int m = 0; m < 3; ++m) {
            r->columns[k] = (int32_t)others[m];
            r->entries[k++] = -1 - (double)(i % 3);
        }
    }
    r->start[n] = k;
}

static void check_rows(int64_t n, int backwards) {
    static ring r;
    const weft_operator_choice choice = {.name = "A", .product_kernel = "csr"};
    const weft_compile_options options = {
        .size = sizeof options, .operators = &choice, .n_operators = 1};
    emulation e = begin("index nodes plain;\noperator A over nodes;\n"
                        "input z, p, d : real over nodes;\ninput beta : real;\n"
                        "s = z + beta*p;\nq = apply(A, s);\nsq = dot(s, q);\nt = p - d*q;\n"
                        "return s, q, sq, t;\n",
                        &options, n);
    assert_int_equal(weft_compilation_kernels(e.c.compilation), 2); /* and one that joins */
    make_ring(&r, n);
    e.rows[0] = r.start;
    e.rows[1] = r.columns;
    e.rows[2] = r.entries;
    double *z = values(&e, "z"), *p = values(&e, "p"), *d = values(&e, "d"), sq = 0;
    values(&e, "beta")[0] = 3;
    for (int64_t i = 0; i < n; ++i) {
        z[i] = (double)(i % 7) - 3;
        p[i] = (double)(i * 3 % 11) - 5;
        d[i] = (double)(i % 2);
    }
    run(&e, backwards);
    for (int64_t i = 0; i < n; ++i) {
        double q = 0;
        for (int64_t k = r.start[i]; k < r.start[i + 1]; ++k)
            q += r.entries[k] * (z[r.columns[k]] + 3 * p[r.columns[k]]);
        sq += (z[i] + 3 * p[i]) * q;
        assert_true(values(&e, "s")[i] == z[i] + 3 * p[i]);
        assert_true(values(&e, "q")[i] == q);
        assert_true(values(&e, "t")[i] == p[i] - d[i] * q);
    }
    assert_true(values(&e, "sq")[0] == sq);
    end(&e);
}

static void rows(void **state) {
    (void)state;
    check_rows(1, 0);
    check_rows(512, 1);
    check_rows(1031, 0);
}

/* ---- several threads per element ---- */

/* block {elements, threads, iterations} is what the script asks for; 0: nothing. */
static void check_block(const int block[3], int mmul, int madd, int64_t n, int backwards) {
    const weft_variant_choice variants[] = {{"mmul", mmul}, {"madd", madd}, {"mvmul", mmul % 2}};
    const weft_parameter asked[] = {
        {"instances", block[0]}, {"width", block[1]}, {"trips", block[2]}};
    const weft_compile_options options = {.size = sizeof options,
                                          .variants = variants,
                                          .n_variants = 3,
                                          .parameters = asked,
                                          .n_parameters = 3};
    emulation e = begin("index N;\ninput A, B : real[3,3] over N;\ninput x : real[3] over N;\n"
                        "parameter instances = 0, width = 0, trips = 0;\n"
                        "fuse block instances threads width iterations trips {\n"
                        "C = mmul(A, B);\nD = madd(C, A);\ny = mvmul(D, x);\n}\nreturn C, y;\n",
                        &options, n);
    const weft_implementation *one = case_segment(&e.c)->cover->list[0];
    assert_int_equal(case_segment(&e.c)->cover->n, 1);
    assert_true(block[0] == 0 || one->elements_per_block == block[0]);
    assert_true(block[1] == 0 ||
                (one->threads_per_element > 0 ? one->threads_per_element : 1) == block[1]);
    assert_true(block[2] == 0 || one->serial_iterations == block[2]);
    const int ids[] = {value_named(&e, "A"), value_named(&e, "B"), value_named(&e, "x"),
                       value_named(&e, "C"), value_named(&e, "y")};
    double *a = values(&e, "A"), *b = values(&e, "B"), *x = values(&e, "x");
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < 9; ++k) {
            a[place(&e, ids[0], i, k)] = (double)((i + 2 * k) % 5) - 2;
            b[place(&e, ids[1], i, k)] = (double)((3 * i + k) % 7) - 3;
            if (k < 3)
                x[place(&e, ids[2], i, k)] = (double)((i + k) % 3);
        }
    run(&e, backwards);
    for (int64_t i = 0; i < n; ++i)
        for (int row = 0; row < 3; ++row) {
            double y = 0;
            for (int column = 0; column < 3; ++column) {
                double c = 0;
                for (int l = 0; l < 3; ++l)
                    c += a[place(&e, ids[0], i, row * 3 + l)] *
                         b[place(&e, ids[1], i, l * 3 + column)];
                assert_true(values(&e, "C")[place(&e, ids[3], i, row * 3 + column)] == c);
                y += (c + a[place(&e, ids[0], i, row * 3 + column)]) *
                     x[place(&e, ids[2], i, column)];
            }
            assert_true(values(&e, "y")[place(&e, ids[4], i, row)] == y);
        }
    end(&e);
}

static void check_threads(int mmul, int madd, int64_t n, int backwards) {
    check_block((const int[3]){0, 0, 0}, mmul, madd, n, backwards);
}

/* Products of permutations, which do not fit in shared memory together: each factor is loaded over
 * another that the product before has used. A_i moves row r + i to row r. */
static void late_loads(void **state) {
    (void)state;
    enum { PRODUCTS = 21, SIZE = 5, ELEMENTS = 40, SHIFT = PRODUCTS * (PRODUCTS + 1) / 2 };
    const weft_variant_choice variants[] = {{"mmul", 2}};
    const weft_compile_options options = {
        .size = sizeof options, .variants = variants, .n_variants = 1};
    weft_text text = {0};
    weft_text_add(&text, "index N;\ninput P0 : real[5,5] over N;\n");
    for (int i = 1; i <= PRODUCTS; ++i)
        weft_text_add(&text, "input A%d : real[5,5] over N;\n", i);
    weft_text_add(&text, "fuse threads %d {\n", SIZE * SIZE);
    for (int i = 1; i <= PRODUCTS; ++i)
        weft_text_add(&text, "P%d = mmul(A%d, P%d);\n", i, i, i - 1);
    weft_text_add(&text, "}\nreturn P%d;\n", PRODUCTS);
    assert_false(text.failed);
    emulation e = begin(text.data, &options, ELEMENTS);
    const weft_implementation *one = case_segment(&e.c)->cover->list[0];
    assert_int_equal(case_segment(&e.c)->cover->n, 1);
    assert_int_equal(one->threads_per_element, SIZE * SIZE);
    assert_true(one->overlaps);
    for (int i = 0; i <= PRODUCTS; ++i) {
        char name[8];
        snprintf(name, sizeof name, i == 0 ? "P0" : "A%d", i);
        const int id = value_named(&e, name);
        double *list_of = values(&e, name);
        for (int64_t k = 0; k < ELEMENTS; ++k)
            for (int c = 0; c < SIZE * SIZE; ++c)
                list_of[place(&e, id, k, c)] =
                    i == 0 ? (double)(k + c) : (c / SIZE + i) % SIZE == c % SIZE;
    }
    const int id = value_named(&e, "P21");
    for (int backwards = 0; backwards < 2; ++backwards) {
        run(&e, backwards);
        for (int64_t k = 0; k < ELEMENTS; ++k)
            for (int c = 0; c < SIZE * SIZE; ++c)
                assert_true(values(&e, "P21")[place(&e, id, k, c)] ==
                            (double)(k + (c + SHIFT * SIZE) % (SIZE * SIZE)));
    }
    end(&e);
    weft_text_free(&text);
}

/* Blocks that the planner does not think of itself, and threads that no call has, which go round.
 */
static void blocks(void **state) {
    (void)state;
    check_block((const int[3]){96, 2, 3}, 2, 1, 700, 0);
    check_block((const int[3]){96, 9, 5}, 2, 2, 97, 1);
    check_block((const int[3]){32, 7, 1}, 2, 0, 65, 0);
    check_block((const int[3]){160, 1, 4}, 1, 2, 641, 1);
    check_block((const int[3]){1024, 1, 1}, 0, 0, 1025, 0);
    check_block((const int[3]){32, 3, 64}, 1, 1, 33, 1);
    check_block((const int[3]){64, 2, 2}, 2, 2, 150, 1); /* several rounds over own registers */
    check_block((const int[3]){32, 2, 1}, 1, 1, 40, 0);
}

static void threads(void **state) {
    (void)state;
    check_threads(0, 0, 70, 0);
    check_threads(1, 1, 33, 0);
    check_threads(2, 1, 64, 1);
    check_threads(1, 2, 31, 1);
    check_threads(2, 2, 100, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions), cmocka_unit_test(many_partials), cmocka_unit_test(rows),
        cmocka_unit_test(threads),    cmocka_unit_test(blocks),        cmocka_unit_test(late_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
