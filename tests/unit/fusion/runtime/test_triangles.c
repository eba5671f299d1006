/* labels: full */
/* Symmetric and triangular matrices of which one triangle is stored, in full or packed: products with vectors, sums, and maps,
 * on the host, as a GPU's text, and with the kernels that GPUs with clusters have for given sizes. The entries are
 * integers, so that every order of additions gives the same sums; what is stored outside of the triangle is NaN. */
#include "emulated_gpu.h"
#include "fusion/base/pairs.h"
#include "fusion/plan/plan.h"
#include "fusion/runtime/runtime.h"
#include "program_support.h"

static const char head[] = "index rows, cols;\n"
                           "input x : real over cols;\n"
                           "input r, u : real over rows;\n"
                           "input s : real;\n";
/* One kind of matrix, its number for '@'. y has a map in its kernel. Of a symmetric matrix, no sum is complete with a row; of
 * a triangular one, y is, and w is of the same pass. */
static const char part[] = "input A@ : real over rows, cols%s;\n"
                           "y@ = gemv(2*A@, x);\n"
                           "z@ = gemtv(A@, r);\n"
                           "w@ = gemtv(A@, y@);\n"
                           "q@ = weighted(A@, x, u, s);\n"
                           "B@ = A@ + s*A@;\n"
                           "return y@, z@, w@, q@, B@;\n";
/* Not where kernels are for the sizes of a run: these have no sums of everything. */
static const char sum[] = "n@ = asum(A@);\nreturn n@;\n";

/* A sum whose term is not the same for (i, j) and (j, i). */
static const char weighted[] = "//@ function  weighted(A: real over i, j, x: real over j, u: real "
                               "over i, s: real) -> y: real over j\n"
                               "//@ kind      reduce +\n"
                               "//@ flops     4\n"
                               "//@ source    y_j = sum_i s A_ij (2 u_i + x_j)\n"
                               "//@ threads   1\n"
                               "y = s * A * (2.0 * u + x);\n";

typedef struct setting {
    const char *device;
    bool single, fused;
    int clusters;   /* blocks of an emulated GPU's; 0: none */
    unsigned kinds; /* bit k: the k-th of the eight */
} setting;

static program_case open_case(const setting *how, const char *text) {
    const weft_compile_options options = {.size = sizeof options,
                                          .plan = how->fused ? WEFT_PLAN_FUSED : WEFT_PLAN_UNFUSED,
                                          .single = how->single};
    weft_error error = {0};
    weft_library *library = NULL;
    case_check(weft_library_make(&library, &error), &error);
    case_check(weft_library_add_text(library, "weighted.kernel.c", weighted, &error), &error);
    program_case c;
    if (strcmp(how->device, "emulated") == 0) {
        const weft_device_options device_options = weft_device_options_default(NULL);
        weft_device *device = NULL;
        case_check(weft_device_open("host:1", &device_options, &device, &error), &error);
        emulated_gpu_make(device);
        device->limits.multiprocessors = how->clusters ? 4 : 3;
        if (how->clusters) {
            device->limits.cluster_blocks = how->clusters;
            device->limits.onchip_bytes = 100 * 1024;
        }
        c = case_open_on(library, device, text, &options);
    } else
        c = case_open(library, how->device, text, &options);
    c.own_library = true;
    return c;
}

/* ---- the mathematics ---- */

typedef struct data {
    int64_t n;
    int number; /* of the kind */
    weft_pairs pairs;
    double *a, *stored; /* all entries, and as they are stored */
    double *x, *r, *u, s;
    int64_t n_stored;
} data;

static double *integers(uint64_t *state, int64_t n) {
    double *list = malloc(sizeof *list * (size_t)(n + 1));
    assert_non_null(list);
    for (int64_t i = 0; i < n; ++i)
        list[i] = random_below(state, 7) - 3;
    return list;
}

static bool is_inside(weft_pairs pairs, int64_t i, int64_t j) {
    return pairs.triangle == TRIANGLE_LOWER ? j <= i : j >= i;
}

static weft_pairs pairs_of(int number) {
    return (weft_pairs){.triangle = number & 1 ? TRIANGLE_UPPER : TRIANGLE_LOWER,
                        .symmetric = number & 2,
                        .packed = number & 4};
}

/* Row by row of the triangle. The vectors are those of every kind. */
static data data_make(int64_t n, int number) {
    uint64_t state = (uint64_t)n;
    const weft_pairs pairs = pairs_of(number);
    data d = {.n = n,
              .number = number,
              .pairs = pairs,
              .s = 3,
              .n_stored = pairs.packed ? n * (n + 1) / 2 : n * n};
    d.a = calloc((size_t)(n * n) + 1, sizeof *d.a);
    d.x = integers(&state, n);
    d.r = integers(&state, n);
    d.u = integers(&state, n);
    d.stored = integers(&state, d.n_stored);
    assert_non_null(d.a);
    int64_t next = 0;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
            if (is_inside(pairs, i, j)) {
                d.a[i * n + j] = d.stored[pairs.packed ? next : i * n + j];
                ++next;
            } else if (!pairs.packed)
                d.stored[i * n + j] = NAN;
        }
    for (int64_t i = 0; i < n && pairs.symmetric; ++i)
        for (int64_t j = 0; j < n; ++j)
            d.a[i * n + j] = is_inside(pairs, i, j) ? d.a[i * n + j] : d.a[j * n + i];
    return d;
}

static void data_free(data *d) {
    free(d->a);
    free(d->stored);
    free(d->x);
    free(d->r);
    free(d->u);
}

static void compare(const program_case *c, const data *d, const char *name, const double *expected,
                    int64_t n) {
    char own[32];
    snprintf(own, sizeof own, "%s%d", name, d->number);
    double *found = case_result(c, own);
    for (int64_t i = 0; i < n; ++i)
        if (found[i] != expected[i])
            fail_msg("%s, n = %lld: %s[%lld] is %g, expected %g", weft_pairs_words(d->pairs),
                     (long long)d->n, name, (long long)i, found[i], expected[i]);
    free(found);
}

/* y, z, w, q and n; every entry of a triangular matrix counts once, every one of a symmetric one that is not on the diagonal
 * twice. */
static void check_sums(const program_case *c, const data *d, bool has_sum) {
    const int64_t n = d->n;
    double *sums = calloc((size_t)(4 * n) + 1, sizeof *sums), total = 0;
    double *y = sums, *z = sums + n, *w = sums + 2 * n, *q = sums + 3 * n;
    assert_non_null(sums);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
            const double a = d->a[i * n + j];
            if (!d->pairs.symmetric && !is_inside(d->pairs, i, j))
                continue;
            y[i] += 2 * a * d->x[j];
            z[j] += a * d->r[i];
            q[j] += d->s * a * (2 * d->u[i] + d->x[j]);
            total += fabs(a);
        }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            w[j] += d->a[i * n + j] * y[i];
    compare(c, d, "y", y, n);
    compare(c, d, "z", z, n);
    compare(c, d, "w", w, n);
    compare(c, d, "q", q, n);
    if (has_sum)
        compare(c, d, "n", &total, 1);
    free(sums);
}

/* B has the layout of A; it is defined where A is. */
static void check_map(const program_case *c, const data *d) {
    char name[32];
    snprintf(name, sizeof name, "B%d", d->number);
    double *b = case_result(c, name);
    for (int64_t k = 0; k < d->n_stored; ++k)
        if (!isnan(d->stored[k]) && b[k] != (1 + d->s) * d->stored[k])
            fail_msg("%s, n = %lld: B[%lld] is %g, expected %g", weft_pairs_words(d->pairs),
                     (long long)d->n, (long long)k, b[k], (1 + d->s) * d->stored[k]);
    free(b);
}

static void bind_vectors(program_case *c, const data *d) {
    case_input(c, "x", d->x);
    case_input(c, "r", d->r);
    case_input(c, "u", d->u);
    case_input(c, "s", &d->s);
}

static void check(program_case *c, const setting *how, int64_t n) {
    char name[32];
    data all[8];
    case_size(c, "rows", n);
    case_size(c, "cols", n);
    bool bound = false;
    for (int k = 0; k < 8; ++k) {
        if (!(how->kinds >> k & 1))
            continue;
        all[k] = data_make(n, k);
        snprintf(name, sizeof name, "A%d", k);
        case_input(c, name, all[k].stored);
        if (!bound)
            bind_vectors(c, &all[k]);
        bound = true;
    }
    case_run(c);
    for (int k = 0; k < 8; ++k) {
        if (!(how->kinds >> k & 1))
            continue;
        check_sums(c, &all[k], how->clusters == 0);
        check_map(c, &all[k]);
        data_free(&all[k]);
    }
}

static program_case open_kinds(const setting *how) {
    char text[8000], own[1200];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", head);
    for (int k = 0; k < 8; ++k) {
        if (!(how->kinds >> k & 1))
            continue;
        snprintf(own, sizeof own, part, weft_pairs_words(pairs_of(k)));
        if (how->clusters == 0)
            strcat(own, sum);
        for (const char *at = own; *at; ++at)
            text[length++] = *at == '@' ? (char)('0' + k) : *at;
        text[length] = '\0';
    }
    return open_case(how, text);
}

static void check_small(const setting *how) {
    static const int64_t sizes[] = {1, 2, 7, 8, 33, 0, 64, 131};
    program_case c = open_kinds(how);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        check(&c, how, sizes[i]);
    case_close(&c);
}

static void on_host(void **state) {
    (void)state;
    check_small(&(setting){"host:1", false, true, 0, 0xff});
    check_small(&(setting){"host:3", true, false, 0, 0x42});
}

static void on_gpu_text(void **state) {
    (void)state;
    check_small(&(setting){"emulated", false, true, 0, 0xff});
    check_small(&(setting){"emulated", true, false, 0, 0x84});
}

/* Kernels over rows for the sizes of a run, of one block and of two. */
static void with_clusters(void **state) {
    (void)state;
    for (int blocks = 1; blocks <= 2; ++blocks) {
        const setting how = {"emulated", false, true, 2, blocks == 1 ? 0x2c : 0x40};
        program_case c = open_kinds(&how);
        const weft_program_segment *segment = c.program->segments[0];
        check(&c, &how, blocks == 1 ? 1030 : 2050);
        for (int k = 0; k < segment->segment->plan->n_kernels; ++k)
            if (segment->segment->plan->kernels[k].kind == KERNEL_NESTED) {
                if (!segment->nested[k].module)
                    fail_msg("%d blocks: %s has no kernel for its sizes", blocks,
                             segment->segment->plan->kernels[k].name);
                assert_int_equal(segment->nested[k].shape.cluster, blocks);
            }
        case_close(&c);
    }
}

static void of_other_sizes(void **state) {
    (void)state;
    const setting how = {"null:h200", false, true, 1, 1};
    program_case c = open_kinds(&how);
    weft_error error = {0};
    double list[42] = {0};
    case_size(&c, "rows", 6);
    case_size(&c, "cols", 7);
    case_input(&c, "A0", list);
    case_input(&c, "x", list);
    case_input(&c, "r", list);
    case_input(&c, "u", list);
    case_input(&c, "s", list);
    assert_int_equal(weft_program_run(c.program, &error), WEFT_ERROR_SHAPE);
    assert_string_equal(error.message,
                        "a list over rows, cols triangular lower needs sets of equal size, not of "
                        "6 and 7");
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_host),
        cmocka_unit_test(on_gpu_text),
        cmocka_unit_test(with_clusters),
        cmocka_unit_test(of_other_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
