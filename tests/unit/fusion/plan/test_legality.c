/* labels: quick */
/* Which calls may share a kernel: what levels say of groups of calls, and what sets of calls say, are the same; and two
 * products of one list are kept apart by the rules of products, not for want of shared data. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/dependence.h"
#include "fusion/plan/fusions.h"
#include "fusion/plan/legality.h"
#include "fusion/plan/segment.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "library_state.h"
#include "test_support.h"

#include <string.h>

static weft_compilation *compile(const weft_library *library, const char *text) {
    weft_compilation *made = NULL;
    weft_device *device = NULL;
    weft_error error = {0};
    const weft_fragment fragment = {"script", text};
    const weft_operator_choice choices[] = {{.name = "A", .product_kernel = "csr"},
                                            {.name = "B", .product_kernel = "csr"}};
    const weft_compile_options options = {.size = sizeof options,
                                          .operators = choices,
                                          .n_operators = strstr(text, "operator B") ? 2 : 1};
    assert_int_equal(weft_device_open("null:h200", NULL, &device, &error), WEFT_OK);
    if (weft_compile(library, weft_device_limits(device), &fragment, 1, &options, &made, &error) !=
        WEFT_OK)
        fail_msg("%s", error.message);
    weft_device_free(&device);
    return made;
}

static void products_stay_apart(void **state) {
    weft_compilation *c =
        compile(*state, "index nodes;\noperator A over nodes;\noperator B over nodes;\n"
                        "input p : real over nodes;\n"
                        "y = apply(A, p);\nz = apply(B, p);\nreturn y, z;\n");
    const weft_segment *segment = weft_compilation_only(c);
    int through = 0;
    assert_int_equal(segment->graph->n_calls, 2);
    assert_int_equal(weft_why_not_fused(segment->graph, segment->fusions, 0, 1, &through),
                     NOT_FUSED_PRODUCT);
    assert_int_equal(through, -1);
    weft_compilation_free(&c);
}

/* Groups of more than WEFT_FUSION_CALLS calls come from the levels alone. */
static void levels_agree_with_sets(void **state) {
    static const char *const scripts[] = {
        /* a product that computes its operand at every row it reads, and long chains beside it */
        "index nodes;\noperator A over nodes;\ninput z, w : real over nodes;\ninput beta : real;\n"
        "u = z + w;\np = u + beta*w;\nq = apply(A, p);\na = q + p;\nb = a*a;\nc = b + a;\nd = "
        "c*b;\ne = d + c;\n"
        "f = e*d;\ng = f + e;\nh = g*f;\ni = h + g;\nj = i*h;\nreturn p, j;\n",
        /* an update behind the product of what the product's operand is made of */
        "index nodes;\noperator A over nodes;\ninput z, w : real over nodes;\ninput beta : real;\n"
        "p = z + beta*w;\nq = apply(A, p);\nupdate w = q + z;\na = q + p;\nb = a*a;\nc = b + a;\nd "
        "= c*b;\n"
        "e = d + c;\nf = e*d;\ng = f + e;\nh = g*f;\nreturn h;\n",
        "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\noperator A over nodes;\n"
        "input x : real over nodes;\ny[dofs] += 2*x[dofs];\np = y + x;\nq = apply(A, p);\ns = "
        "dot(p, q);\n"
        "t = s*q;\na = t + p;\nb = a*a;\nc = b + a;\nd = c*b;\ne = d + c;\nf = e*d;\ng = f + e;\nh "
        "= g*f;\n"
        "i = h + g;\nreturn i;\n"};
    for (size_t k = 0; k < sizeof scripts / sizeof *scripts; ++k) {
        weft_compilation *c = compile(*state, scripts[k]);
        const weft_segment *segment = weft_compilation_only(c);
        const weft_fusions *fusions = segment->fusions;
        int most = 0;
        for (int i = 0; i < fusions->n; ++i) {
            uint64_t set[WEFT_CALLS_MAX / 64] = {0};
            int a = -1, b = -1, outside = -1;
            for (int n = 0; n < fusions->list[i].n_calls; ++n)
                weft_set_add(set, fusions->list[i].calls[n]);
            assert_int_equal(
                weft_set_split(segment->graph, fusions->dependence, set, &a, &b, &outside),
                FUSIBLE);
            most = fusions->list[i].n_calls > most ? fusions->list[i].n_calls : most;
        }
        assert_true(most > WEFT_FUSION_CALLS);
        weft_compilation_free(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_stay_apart),
                                       cmocka_unit_test(levels_agree_with_sets)};
    return cmocka_run_group_tests(tests, library_open, library_close);
}
