/* labels: quick */
/* A GPU with warps of 64 threads is another weft_target: block shapes, prices and generated text follow it, and what is
 * written by hand for warps of 32 is left out or refused. Expected numbers follow from the target. */
#include "core/weft_core.h"
#include "fusion/base/target.h"
#include "fusion/codegen/codegen.h"
#include "fusion/control/program.h"
#include "fusion/cost/occupancy.h"
#include "fusion/library/library.h"
#include "fusion/weft_compile.h"
#include "test_support.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WARP = 64, BLOCK = 256, MOST = 1024, TILE = 1024 };

/* An H200's limits, with other warps, blocks and tiles. */
static weft_limits limits_of_64(void) {
    weft_device *device = NULL;
    assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
    weft_limits limits = *weft_device_limits(device);
    weft_device_free(&device);
    limits.lanes_double = limits.lanes_float = limits.target.warp_threads = WARP;
    limits.target.block_threads = BLOCK;
    limits.target.block_threads_most = MOST;
    limits.target.reduction_tile = TILE;
    return limits;
}

static weft_status compile(weft_library *library, const weft_limits *limits, const char *text,
                           weft_scatter scatter, weft_compilation **out, weft_error *error) {
    const weft_fragment fragment = {"warps.weft", text};
    const weft_compile_options options = {.size = sizeof options, .scatter = scatter};
    return weft_compile(library, limits, &fragment, 1, &options, out, error);
}

static weft_compilation *compiled(weft_library *library, const weft_limits *limits,
                                  const char *text, weft_scatter scatter) {
    weft_compilation *made = NULL;
    weft_error error = {0};
    if (compile(library, limits, text, scatter, &made, &error) != WEFT_OK)
        fail_msg("%s: %s", text, error.message);
    return made;
}

/* ---- generated text -------------------------------------------------------------------------- */

static bool has_line(const char *text, const char *what, int number) {
    char line[64];
    snprintf(line, sizeof line, "\n#define %s %d", what, number);
    const char *found = strstr(text, line);
    return found && !isdigit((unsigned char)found[strlen(line)]);
}

/* The place of a number in the text, as a word of its own; NULL: there is none. */
static const char *find_number(const char *text, const char *number) {
    const size_t length = strlen(number);
    for (const char *at = text; (at = strstr(at, number)) != NULL; at += length)
        if (!isalnum((unsigned char)at[-1]) && at[-1] != '_' && at[-1] != '.' &&
            !isalnum((unsigned char)at[length]) && at[length] != '_' && at[length] != '.')
            return at;
    return NULL;
}

static const char *const scripts[] = {
    "index N;\ninput x, y : real over N;\nz = x + 2*y;\nr = dot(z, y);\nreturn z, r;\n",
    "index N;\ninput A, B : real[3,3] over N;\nC = mmul(A, B);\nD = mmul(C, A);\nreturn D;\n",
    "index N;\nindex M;\nconnectivity d : N -> M[3];\ninput x : real over M;\n"
    "input y : real over N;\nb[d] += y*x[d];\nreturn b;\n",
    "index rows;\nindex cols;\ninput A : real over rows, cols;\ninput x : real over cols;\n"
    "y = gemv(A, x);\nreturn y;\n",
    "index N;\ninput x : real over N;\ninput left : real;\nr = sum(x);\n"
    "q = 3*x;\nrepeat at most 3 while (left > r) {\n    update q = 2*q;\n    update left = left - "
    "r;\n}\n"
    "return q;\n",
};

static void text_follows(void **state) {
    const weft_limits limits = limits_of_64();
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; ++i) {
        static const char *const others[] = {"32", "31", "128", "512"};
        weft_compilation *made = compiled(*state, &limits, scripts[i], WEFT_SCATTER_IN_PLACE);
        const char *text = weft_compilation_source(made), *kernels = strstr(text, "k0_");
        assert_true(has_line(text, "LANES", WARP));
        assert_true(has_line(text, "THREADS", BLOCK));
        assert_true(has_line(text, "TILE", TILE));
        assert_non_null(kernels);
        for (int k = 0; k < 4; ++k)
            if (find_number(kernels, others[k]))
                fail_msg("script %zu has %s: %.60s", i, others[k],
                         find_number(kernels, others[k]) - 30);
        weft_compilation_free(&made);
    }
}

/* At most a warp adds up the contributions to a target. */
static void gathers_follow(void **state) {
    const weft_limits limits = limits_of_64();
    weft_compilation *made = compiled(*state, &limits, scripts[2], WEFT_SCATTER_GATHERED);
    assert_non_null(strstr(weft_compilation_source(made), "width < 64 &&"));
    assert_int_equal(weft_source_gather_threads(&limits.target, 1 << 20, 1, false), WARP);
    weft_compilation_free(&made);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static void shapes_follow(void **state) {
    const weft_limits limits = limits_of_64();
    int n_several = 0, n_one = 0;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; ++i) {
        weft_compilation *made = compiled(*state, &limits, scripts[i], WEFT_SCATTER_IN_PLACE);
        const weft_segment *segment = made->control->segments[0];
        for (int k = 0; k < segment->implementations->n; ++k) {
            const weft_implementation *one = &segment->implementations->list[k];
            const int threads = one->threads_per_element > 0 ? one->threads_per_element : 1;
            const int elements = one->elements_per_block;
            const bool is_few = threads > 1 && elements < WARP && WARP % elements == 0;
            assert_true(elements % WARP == 0 || is_few);
            assert_true(threads * elements <= MOST);
            n_several += threads > 1;
            n_one += threads == 1;
        }
        weft_compilation_free(&made);
    }
    assert_true(n_several > 0 && n_one > 0);
}

/* `fuse` takes whole warps of 64, and says so. */
static void directives_follow(void **state) {
    const weft_limits limits = limits_of_64();
    weft_compilation *made = NULL;
    weft_error error = {0};
    assert_int_equal(compile(*state, &limits,
                             "index N;\ninput x : real over N;\nfuse block 192 {\n    y = 2*x;\n}\n"
                             "return y;\n",
                             WEFT_SCATTER_IN_PLACE, &made, &error),
                     WEFT_OK);
    weft_compilation_free(&made);
    assert_int_equal(compile(*state, &limits,
                             "index N;\ninput x : real over N;\nfuse block 96 {\n    y = 2*x;\n}\n"
                             "return y;\n",
                             WEFT_SCATTER_IN_PLACE, &made, &error),
                     WEFT_ERROR_TYPE);
    char text[2000];
    weft_error_text(&error, text, sizeof text);
    assert_non_null(strstr(text,
                           "a block has 64, 128, 192, ... 1024 elements, or 1, 2, ... 32 with "
                           "several threads each"));
}

/* ---- prices ---------------------------------------------------------------------------------- */

/* Blocks of 96 threads take two warps of 64 or three of 32: 2048 / 128 = 16 blocks, or 2048 / 96 = 21. Two warps of 64 issue
 * what four of 32 do in half as many clocks. */
static void prices_follow(void **state) {
    (void)state;
    weft_limits narrow = limits_of_64(), wide = limits_of_64();
    narrow.target.warp_threads = 32;
    const weft_operating_point point = {.threads = 96, .elements = 96};
    assert_true(weft_cost_resident(&narrow, &point) == 21 * 96);
    assert_true(weft_cost_resident(&wide, &point) == 16 * 96);
    wide.target.resident_blocks = 5;
    assert_true(weft_cost_resident(&wide, &point) == 5 * 96);
    wide.target.resident_threads = 256;
    assert_true(weft_cost_resident(&wide, &point) == 2 * 96);
}

/* A tree over a warp of 64 has six steps for 64 numbers, one of 32 five for 32: reductions of a kernel whose time is in
 * the trees cost 6/64 to 5/32. */
static double work_of(weft_library *library, int warp) {
    weft_limits limits = limits_of_64();
    weft_compilation *made = NULL;
    limits.lanes_double = limits.lanes_float = limits.target.warp_threads = warp;
    assert_int_equal(
        compile(library, &limits,
                "index N;\ninput x : real over N;\nfuse iterations 1 {\n    a = sum(x);\n"
                "    b = sum(x*x);\n    c = sum(2*x);\n    d = sum(3*x);\n    e = sum(4*x);\n"
                "    f = sum(x + 1);\n}\nreturn a, b, c, d, e, f;\n",
                WEFT_SCATTER_IN_PLACE, &made, NULL),
        WEFT_OK);
    const weft_segment *segment = made->control->segments[0];
    double seconds = 0;
    for (int k = 0; k < segment->implementations->n; ++k) {
        const weft_implementation *one = &segment->implementations->list[k];
        if (!one->reason)
            seconds = one->seconds;
    }
    weft_compilation_free(&made);
    return seconds;
}

static void trees_follow(void **state) {
    const double ratio = work_of(*state, 64) / work_of(*state, 32);
    assert_double_near(6.0 / 64 / (5.0 / 32), ratio, 0.1, 0);
}

/* ---- targets for which nothing can be made --------------------------------------------------- */

static void targets_are_checked(void **state) {
    const weft_limits good = limits_of_64();
    weft_error error = {0};
    weft_compilation *made = NULL;
    assert_int_equal(weft_target_check(&good, &error), WEFT_OK);
    for (int i = 0; i < 9; ++i) {
        weft_limits bad = good;
        bad.lanes_float = i == 0 ? 32 : WARP;
        bad.target.warp_threads = i == 1 ? 0 : WARP;
        bad.target.block_threads = i == 2 ? 192 : i == 3 ? 32 : BLOCK;
        bad.target.reduction_tile = i == 4 ? 128 : i == 5 ? 2048 : TILE;
        bad.target.block_threads_most = i == 6 ? 1000 : MOST;
        bad.target.resident_threads = i == 7 ? 512 : 2048;
        bad.target.joined_before = i == 8 ? 0 : 2048;
        assert_int_equal(weft_target_check(&bad, &error), WEFT_ERROR_USAGE);
        assert_int_equal(compile(*state, &bad, scripts[0], WEFT_SCATTER_IN_PLACE, &made, &error),
                         WEFT_ERROR_USAGE);
        assert_null(made);
    }
}

/* Tiles of products by warps, and owners of nodes, are written for warps of 32. */
static void hand_written_text_is_left_out(void **state) {
    static const char products[] = "index N;\ninput A, B : real[16,16] over N;\n"
                                   "C = mmul(A, B);\nreturn C;\n";
    static const char sums[] =
        "index cells;\nindex nodes;\nconnectivity dofs : cells -> nodes[4];\n"
        "input x : real[3] over nodes;\ninput u : real over nodes;\nJ = jacobian(x[dofs]);\n"
        "G = tform_dshape(J);\nK = dshape_dot_dshape(G, J);\n"
        "b[dofs] += mvmul(K, u[dofs]);\nreturn b;\n";
    for (int warp = 32; warp <= WARP; warp *= 2) {
        weft_limits limits = limits_of_64();
        weft_compilation *made = NULL;
        int n_dense = 0, n_patches = 0;
        limits.lanes_double = limits.lanes_float = limits.target.warp_threads = warp;
        assert_int_equal(compile(*state, &limits, products, WEFT_SCATTER_IN_PLACE, &made, NULL),
                         WEFT_OK);
        const weft_implementations *all = made->control->segments[0]->implementations;
        for (int k = 0; k < all->n; ++k)
            n_dense += all->list[k].is_dense;
        weft_compilation_free(&made);
        assert_int_equal(compile(*state, &limits, sums, WEFT_SCATTER_PATCHES, &made, NULL),
                         WEFT_OK);
        const weft_plan *plan = made->control->segments[0]->plan;
        for (int k = 0; k < plan->n_kernels; ++k)
            n_patches += plan->kernels[k].kind == KERNEL_EDGE_PATCH;
        assert_true(warp == 32 ? n_dense > 0 && n_patches == 1 : n_dense == 0 && n_patches == 0);
        weft_compilation_free(&made);
    }
}

static int open_library(void **state) {
    weft_library *library = NULL;
    const weft_status status = weft_library_make(&library, NULL);
    *state = library;
    return status;
}

static int close_library(void **state) {
    weft_library *library = *state;
    weft_library_free(&library);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_follows),        cmocka_unit_test(gathers_follow),
        cmocka_unit_test(shapes_follow),       cmocka_unit_test(directives_follow),
        cmocka_unit_test(prices_follow),       cmocka_unit_test(trees_follow),
        cmocka_unit_test(targets_are_checked), cmocka_unit_test(hand_written_text_is_left_out),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
