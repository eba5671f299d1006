/* labels: quick */
/* Both plans, every variant and both precisions of one script give what C gives.
 * Tolerance: chains of a dozen operations on numbers of size 1, contracted or not, so 1e-13
 * (double) and 2e-4 (float). */
#include "core/weft_core.h"
#include "fusion/library/library.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "library_state.h"
#include "program_support.h"

static const double DOUBLE = 1e-13, SINGLE = 2e-4;

static const char *const listing_1 = "index  N;\n"
                                     "input  A, B : real[3,3] over N;\n"
                                     "input  c    : real[3]   over N;\n"
                                     "input  D, E : real[5,5] over N;\n"
                                     "M1 = mmul(A, B);\n"
                                     "v1 = mvmul(M1, c);\n"
                                     "s1 = norm2(v1);\n"
                                     "M2 = mmul(D, E);\n"
                                     "M3 = madd(M2, D);\n"
                                     "F  = smmul(M3, s1);\n"
                                     "return F;\n";

static void listing_1_in_c(const double *A, const double *B, const double *c, const double *D,
                           const double *E, double *F) {
    double v[3] = {0}, norm = 0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j)
            for (int l = 0; l < 3; ++l)
                v[i] += A[3 * i + l] * B[3 * l + j] * c[j];
        norm += v[i] * v[i];
    }
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j) {
            double s = D[5 * i + j];
            for (int l = 0; l < 5; ++l)
                s += D[5 * i + l] * E[5 * l + j];
            F[5 * i + j] = s * sqrt(norm);
        }
}

static void listing_1_check(weft_library *library, const weft_compile_options *options, int64_t n,
                            int n_kernels) {
    program_case k = case_open(library, "host:2", listing_1, options);
    const double tolerance = options->single ? SINGLE : DOUBLE;
    static const char *const names[] = {"A", "B", "c", "D", "E"};
    static const int counts[] = {9, 9, 3, 25, 25};
    double *in[5];
    uint64_t seed = 2;
    if (!case_on_gpu()) /* several threads per element may pay for a kernel more there */
        assert_int_equal(weft_compilation_kernels(k.compilation), n_kernels);
    case_size(&k, "N", n);
    for (int i = 0; i < 5; ++i) {
        in[i] = random_list(&seed, n * counts[i]);
        case_input(&k, names[i], in[i]);
    }
    case_run(&k);
    double *F = case_result(&k, "F");
    for (int64_t i = 0; i < n; ++i) {
        double wanted[25];
        listing_1_in_c(in[0] + 9 * i, in[1] + 9 * i, in[2] + 3 * i, in[3] + 25 * i, in[4] + 25 * i,
                       wanted);
        for (int j = 0; j < 25; ++j)
            assert_double_near(F[25 * i + j], wanted[j], tolerance, 10 * tolerance);
    }
    free(F);
    for (int i = 0; i < 5; ++i)
        free(in[i]);
    case_close(&k);
}

static void listing_1_of_the_paper(void **state) {
    for (int single = 0; single < 2; ++single) {
        listing_1_check(
            *state, &(weft_compile_options){.size = sizeof(weft_compile_options), .single = single},
            1037, 1);
        listing_1_check(*state,
                        &(weft_compile_options){.size = sizeof(weft_compile_options),
                                                .single = single,
                                                .plan = WEFT_PLAN_UNFUSED},
                        1037, 6);
    }
    const int64_t sizes[] = {1, 7, 8, 9};
    for (int i = 0; i < 4; ++i)
        listing_1_check(*state, &(weft_compile_options){.size = sizeof(weft_compile_options)},
                        sizes[i], 1);
}

/* mmul, mvmul, madd and smmul, each at each granularity that it has. */
static void forced_variants(void **state) {
    static const char *const functions[] = {"mmul", "mvmul", "madd", "smmul", "norm2"};
    int tried = 0;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; ++f)
        for (int variant = 0;; ++variant) {
            const weft_variant_choice choice = {functions[f], variant};
            const weft_compile_options options = {
                .size = sizeof options, .variants = &choice, .n_variants = 1};
            const weft_function *function = weft_library_find(*state, functions[f]);
            weft_function_info info = {0};
            assert_non_null(function);
            for (size_t i = 0; i < weft_library_size(*state); ++i) {
                weft_library_info(*state, i, &info);
                if (strcmp(info.name, functions[f]) == 0)
                    break;
            }
            if (variant == info.n_variants)
                break;
            listing_1_check(*state, &options, 37, 1);
            ++tried;
        }
    assert_true(tried >= 11); /* 3 + 2 + 3 + 3, and norm2's */
}

static void variant_that_does_not_exist(void **state) {
    weft_error error = {0};
    weft_limits limits = {.lanes_double = 8, .lanes_float = 16};
    const weft_fragment fragment = {"listing.weft", listing_1};
    const weft_variant_choice choice = {"mmul", 7};
    const weft_compile_options options = {
        .size = sizeof options, .variants = &choice, .n_variants = 1};
    weft_compilation *compilation = NULL;
    assert_int_equal(weft_compile(*state, &limits, &fragment, 1, &options, &compilation, &error),
                     WEFT_ERROR_USAGE);
    assert_null(compilation);
    assert_string_equal(error.message, "'mmul' has variants 0 to 2, not 7");
    const weft_variant_choice misspelled = {"mmull", 0};
    const weft_compile_options wrong = {
        .size = sizeof wrong, .variants = &misspelled, .n_variants = 1};
    assert_int_equal(weft_compile(*state, &limits, &fragment, 1, &wrong, &compilation, &error),
                     WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "a variant is chosen for 'mmull', which is not called");
    assert_string_equal(error.hint, "did you mean 'mmul'?");
    /* A variant has no effect where the script is compiled in parts that do not call the function, or where a call is removed. */
    static const char *const removed = "index cells;\n"
                                       "input A : real[3,3] over cells;\n"
                                       "input s : real;\n"
                                       "B = mmul(A, A);\n"
                                       "u = s*1;\n"
                                       "C = transpose(A);\n"
                                       "repeat at most 2 while (u < 1) {\n"
                                       "    D = B;\n"
                                       "    update u = u + 1;\n"
                                       "}\n"
                                       "return C;\n";
    const weft_fragment parts = {"parts.weft", removed};
    const weft_variant_choice first = {"mmul", 0};
    const weft_compile_options needless = {
        .size = sizeof needless, .variants = &first, .n_variants = 1};
    assert_int_equal(weft_compile(*state, &limits, &parts, 1, &needless, &compilation, &error),
                     WEFT_OK);
    weft_compilation_free(&compilation);
}

/* Poisson: local matrices and load of P1 triangles, in closed form. */
static void poisson(void **state) {
    const int64_t n_cells = 1501, n_nodes = 800;
    uint64_t seed = 12;
    int32_t *dofs = random_map(&seed, n_cells, 3, n_nodes);
    double *x = random_list(&seed, 2 * n_nodes), *f = random_list(&seed, n_nodes);
    for (int mode = 0; mode < 8; ++mode) {
        const weft_compile_options options = {.size = sizeof options,
                                              .plan = (weft_plan_kind)(mode % 2),
                                              .scatter = (weft_scatter)(mode / 2 % 2),
                                              .single = mode >= 4};
        program_case c = case_open(*state, "host:2",
                                   "index  cells, nodes;\n"
                                   "connectivity dofs : cells -> nodes[3];\n"
                                   "input  x : real[2] over nodes;\ninput  f : real over nodes;\n"
                                   "J       = jacobian(x[dofs]);\n"
                                   "G       = tform_dshape(J);\n"
                                   "K       = dshape_dot_dshape(G, J);\n"
                                   "b[dofs] += shape_load(f[dofs], J);\n"
                                   "return K, b;\n",
                                   &options);
        case_map(&c, "dofs", dofs, n_cells, 3, n_nodes);
        case_input(&c, "x", x);
        case_input(&c, "f", f);
        case_run(&c);
        double *K = case_result(&c, "K"), *b = case_result(&c, "b");
        double *wanted_b = calloc((size_t)n_nodes, sizeof *b);
        for (int64_t i = 0; i < n_cells; ++i) {
            const int32_t *d = dofs + 3 * i;
            double e[3][2], largest = 0;
            for (int a = 0; a < 3; ++a)
                for (int j = 0; j < 2; ++j) /* the edge opposite of vertex a */
                    e[a][j] = x[2 * d[(a + 2) % 3] + j] - x[2 * d[(a + 1) % 3] + j];
            const double area = fabs(e[0][0] * e[1][1] - e[0][1] * e[1][0]) / 2;
            for (int a = 0; a < 3; ++a)
                for (int q = 0; q < 3; ++q)
                    largest = fmax(largest, fabs(e[a][0] * e[q][0] + e[a][1] * e[q][1]));
            for (int a = 0; a < 3; ++a) {
                wanted_b[d[a]] += area / 12 * (f[d[0]] + f[d[1]] + f[d[2]] + f[d[a]]);
                for (int q = 0; q < 3; ++q) {
                    /* slivers lose digits: det J cancels, and K is as sensitive as 1 / area */
                    const double scale = largest / area * fmax(1, largest / area);
                    assert_double_near(K[9 * i + 3 * a + q],
                                       (e[a][0] * e[q][0] + e[a][1] * e[q][1]) / (4 * area), 0,
                                       (options.single ? 1e-4 : 1e-13) * scale);
                }
            }
        }
        for (int64_t i = 0; i < n_nodes; ++i)
            assert_double_near(b[i], wanted_b[i], 0, options.single ? 1e-4 : 1e-13);
        free(K);
        free(b);
        free(wanted_b);
        case_close(&c);
    }
    free(dofs);
    free(x);
    free(f);
}

/* Whole numbers are exact in any order and contraction: then the plans agree bit by bit. */
static void plans_agree_bitwise(void **state) {
    const int64_t n = 1003;
    double *r[2], *in[5];
    static const char *const names[] = {"A", "B", "c", "D", "E"};
    static const int counts[] = {9, 9, 3, 25, 25};
    uint64_t seed = 8;
    for (int i = 0; i < 5; ++i) {
        in[i] = random_list(&seed, n * counts[i]);
        for (int64_t k = 0; k < n * counts[i]; ++k)
            in[i][k] = rint(9 * in[i][k]);
    }
    for (int plan = 0; plan < 2; ++plan) {
        const weft_compile_options options = {.size = sizeof options, .plan = (weft_plan_kind)plan};
        program_case k = case_open(*state, "host:2", listing_1, &options);
        case_size(&k, "N", n);
        for (int i = 0; i < 5; ++i)
            case_input(&k, names[i], in[i]);
        case_run(&k);
        r[plan] = case_result(&k, "F");
        case_close(&k);
    }
    /* but for the last product with a square root, which is one rounding in both */
    assert_same_bits(r[0], r[1], 25 * n);
    for (int i = 0; i < 5; ++i)
        free(in[i]);
    free(r[0]);
    free(r[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listing_1_of_the_paper),      cmocka_unit_test(forced_variants),
        cmocka_unit_test(variant_that_does_not_exist), cmocka_unit_test(poisson),
        cmocka_unit_test(plans_agree_bitwise),
    };
    return cmocka_run_group_tests(tests, library_open, library_close);
}
