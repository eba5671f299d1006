/* labels: quick */
/* What the planner finds exactly, against every possibility tried one by one: fusions, the order of
 * least need on chip, offsets in shared memory, the best covers. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/library/library.h"
#include "fusion/plan/cover.h"
#include "fusion/plan/dependence.h"
#include "fusion/plan/fusions.h"
#include "fusion/plan/implementation.h"
#include "fusion/plan/implementations.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "library_state.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static weft_compilation *compile(const weft_library *library, const char *device_name,
                                 const char *text, const weft_compile_options *options) {
    weft_compilation *made = NULL;
    weft_device *device = NULL;
    weft_error error = {0};
    const weft_fragment fragment = {"script", text};
    assert_int_equal(weft_device_open(device_name, NULL, &device, &error), WEFT_OK);
    if (weft_compile(library, weft_device_limits(device), &fragment, 1, options, &made, &error) !=
        WEFT_OK) {
        char message[4096];
        weft_error_text(&error, message, sizeof message);
        fail_msg("%s", message);
    }
    weft_device_free(&device);
    return made;
}

/* ---- fusions ---- */

/* Does b need a done before, and in an earlier kernel? By their operands alone: no updates here. */
static bool needs(const weft_graph *graph, int a, int b, bool *barrier) {
    const weft_call *reader = &graph->calls[b];
    bool found = false;
    *barrier = false;
    for (int k = 0; k < reader->n_operands; ++k) {
        const weft_operand *operand = &reader->operands[k];
        if (graph->calls[a].result == operand->value) {
            found = true;
            *barrier |= operand->connectivity >= 0 || graph->calls[a].reduction != NULL;
        }
        for (int i = 0; i < graph->n_accumulations; ++i)
            if (graph->accumulations[i].call == a &&
                graph->accumulations[i].target == operand->value)
                found = *barrier = true;
    }
    return found;
}

/* Is a set a candidate? Paths by going from call to call; connected by growing from one. */
static bool is_candidate(const weft_graph *graph, unsigned set) {
    unsigned from[16] = {0}, connected = set & (~set + 1);
    for (int a = graph->n_calls - 1; a >= 0; --a)
        for (int b = a + 1; b < graph->n_calls; ++b) {
            bool barrier = false;
            if (needs(graph, a, b, &barrier)) {
                from[a] |= from[b] | 1u << b;
                if (barrier && (set >> a & 1) != 0 && (set >> b & 1) != 0)
                    return false;
            }
        }
    for (int a = 0; a < graph->n_calls; ++a)
        for (int b = 0; b < graph->n_calls; ++b)
            if ((set >> a & 1) != 0 && (set >> b & 1) == 0 && (from[a] >> b & 1) != 0 &&
                (from[b] & set) != 0)
                return false;
    for (int iteration = 0; iteration < graph->n_calls; ++iteration)
        for (int a = 0; a < graph->n_calls; ++a)
            for (int b = 0; b < graph->n_calls; ++b)
                if ((connected >> a & 1) != 0 && (set >> b & 1) != 0) {
                    if (graph->calls[a].index_set != graph->calls[b].index_set)
                        return false;
                    if (weft_calls_share(graph, &graph->calls[a], &graph->calls[b]))
                        connected |= 1u << b;
                }
    return connected == set;
}

static bool is_listed(const weft_fusions *fusions, unsigned set) {
    for (int i = 0; i < fusions->n; ++i) {
        unsigned one = 0;
        for (int k = 0; k < fusions->list[i].n_calls; ++k)
            one |= 1u << fusions->list[i].calls[k];
        if (one == set)
            return true;
    }
    return false;
}

static const char *const scripts[] = {
    "index N;\ninput A, B : real[3,3] over N;\ninput c : real[3] over N;\n"
    "input D, E : real[5,5] over N;\nM1 = mmul(A, B);\nv1 = mvmul(M1, c);\ns1 = norm2(v1);\n"
    "M2 = mmul(D, E);\nM3 = madd(M2, D);\nF = smmul(M3, s1);\nreturn F;\n",
    "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\ninput x : real[2] over nodes;\n"
    "input f : real over nodes;\nJ = jacobian(x[dofs]);\nG = tform_dshape(J);\n"
    "K = dshape_dot_dshape(G, J);\nb[dofs] += shape_load(f[dofs], J);\nz = 2*b;\ne = sum(z);\n"
    "w = e*z;\nv = mvmul(K, w[dofs]);\nreturn K, b, v;\n",
    /* The parentheses tell the compiler that no comma is missing. */
    ("index N;\ninput k : real over N;\na = 2*k;\nb = exp(a);\nc = sin(a);\nd = b*c;\ns = sum(d);\n"
     "e = d*s;\nf = e + a;\ng = 3*k;\nreturn f, g, s;\n")};

static void fusions_are_all_that_there_are(void **state) {
    weft_library *library = *state;
    for (size_t s = 0; s < sizeof scripts / sizeof *scripts; ++s) {
        weft_compilation *c = compile(library, "null", scripts[s], NULL);
        const weft_segment *segment = weft_compilation_only(c);
        int n = 0;
        assert_true(segment->graph->n_calls <= 12);
        for (unsigned set = 1; set < 1u << segment->graph->n_calls; ++set) {
            const bool candidate = is_candidate(segment->graph, set);
            if (candidate != is_listed(segment->fusions, set))
                fail_msg("script %zu: set %x is %slisted", s, set, candidate ? "not " : "");
            n += candidate;
        }
        assert_int_equal(segment->fusions->n, n);
        weft_compilation_free(&c);
    }
}

/* A chain of n calls has n - k + 1 sets of k; n calls that read one list have n over k. */
static void fusions_of_chains_and_of_wide_graphs(void **state) {
    weft_library *library = *state;
    weft_text text = {0};
    const weft_compile_options options = {.size = sizeof options, .max_fusion = 4};
    weft_text_add(&text, "index N;\ninput k : real over N;\nc0 = exp(k);\n");
    for (int i = 1; i < 30; ++i)
        weft_text_add(&text, "c%d = exp(c%d);\n", i, i - 1);
    weft_text_add(&text, "return c29;\n");
    weft_compilation *c = compile(library, "null", text.data, &options);
    assert_int_equal(weft_compilation_only(c)->fusions->n, 30 + 29 + 28 + 27);
    weft_compilation_free(&c);
    text.length = 0;
    weft_text_add(&text, "index N;\ninput k : real over N;\n");
    for (int i = 0; i < 20; ++i)
        weft_text_add(&text, "c%d = %d*k;\nreturn c%d;\n", i, i + 2, i);
    c = compile(library, "null", text.data,
                &(weft_compile_options){.size = sizeof(weft_compile_options), .max_fusion = 3});
    assert_int_equal(weft_compilation_only(c)->fusions->n, 20 + 190 + 1140);
    weft_compilation_free(&c);
    weft_text_free(&text);
}

/* ---- order ---- */

static int peak_of(const weft_graph *graph, const weft_fusion *fusion, const int *order) {
    int peak = 0;
    for (int now = 0; now < fusion->n_calls; ++now) {
        int live = 0;
        for (int value = 0; value < graph->n_values; ++value)
            for (int connectivity = -1; connectivity < graph->n_connectivities; ++connectivity) {
                const weft_operand operand = {.value = value, .connectivity = connectivity};
                int first = fusion->n_calls, last = -1;
                for (int i = 0; i < fusion->n_calls; ++i) {
                    const weft_call *call = &graph->calls[order[i]];
                    bool uses = call->result == value && connectivity < 0;
                    for (int k = 0; k < call->n_operands; ++k)
                        uses |= call->operands[k].value == value &&
                                call->operands[k].connectivity == connectivity;
                    if (uses && i < first)
                        first = i;
                    if (uses)
                        last = i;
                }
                if (first <= now && now <= last) {
                    const weft_shape whole = weft_operand_whole(graph, &operand);
                    live += weft_shape_count(&whole);
                }
            }
        peak = live > peak ? live : peak;
    }
    return peak;
}

/* The least peak of all orders that keep what must come before. */
static int least_peak(const weft_segment *c, const weft_fusion *fusion, int *order, int n) {
    int least = INT32_MAX;
    if (n == fusion->n_calls)
        return peak_of(c->graph, fusion, order);
    for (int i = 0; i < fusion->n_calls; ++i) {
        bool ready = true;
        for (int k = 0; k < n; ++k)
            ready &= order[k] != fusion->calls[i];
        for (int k = 0; ready && k < fusion->n_calls; ++k) {
            bool done = k == i || !weft_set_has(weft_dependence_reachable(c->fusions->dependence,
                                                                          fusion->calls[k]),
                                                fusion->calls[i]);
            for (int m = 0; !done && m < n; ++m)
                done = order[m] == fusion->calls[k];
            ready = done;
        }
        if (!ready)
            continue;
        order[n] = fusion->calls[i];
        const int peak = least_peak(c, fusion, order, n + 1);
        least = peak < least ? peak : least;
    }
    return least;
}

static void orders_need_least_on_chip(void **state) {
    weft_library *library = *state;
    int n_compared = 0;
    for (size_t s = 0; s < sizeof scripts / sizeof *scripts; ++s) {
        weft_compilation *c = compile(library, "null", scripts[s], NULL);
        const weft_segment *segment = weft_compilation_only(c);
        for (int i = 0; i < segment->implementations->n; ++i) {
            const weft_implementation *one = &segment->implementations->list[i];
            int order[8];
            if (one->fusion->n_calls > 8 || !one->order_exact)
                continue;
            assert_int_equal(one->onchip_peak, peak_of(segment->graph, one->fusion, one->order));
            assert_int_equal(one->onchip_peak, least_peak(segment, one->fusion, order, 0));
            ++n_compared;
        }
        weft_compilation_free(&c);
    }
    assert_true(n_compared > 40);
}

/* ---- offsets ---- */

static bool apart(const weft_live_range *a, const weft_live_range *b) {
    return a->last < b->first || b->last < a->first || a->offset + a->components <= b->offset ||
           b->offset + b->components <= a->offset;
}

/* Every offset of every element. */
static int least_end(weft_live_range *lives, int n, int at, int end, int most) {
    int least = most;
    if (at == n)
        return end;
    for (int offset = 0; offset + lives[at].components <= most; ++offset) {
        bool fits = true;
        lives[at].offset = offset;
        for (int k = 0; k < at; ++k)
            fits &= apart(&lives[at], &lives[k]);
        const int top = offset + lives[at].components;
        const int found = fits ? least_end(lives, n, at + 1, top > end ? top : end, least) : most;
        least = found < least ? found : least;
    }
    return least;
}

static void offsets_are_the_best(void **state) {
    (void)state;
    uint64_t random = 12345;
    for (int trial = 0; trial < 400; ++trial) {
        weft_live_range lives[6] = {0}, tried[6];
        int sum = 0;
        bool proved = false;
        const int n = 2 + trial % 5;
        for (int i = 0; i < n; ++i) {
            int numbers[3];
            for (int k = 0; k < 3; ++k) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                numbers[k] = (int)(random >> 40);
            }
            lives[i] = (weft_live_range){.components = 1 + numbers[0] % 4, .first = numbers[1] % 6};
            lives[i].last = lives[i].first + numbers[2] % 3;
            sum += lives[i].components;
        }
        memcpy(tried, lives, sizeof lives);
        const int end = weft_onchip_allocate(lives, n, &proved);
        assert_true(proved);
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < i; ++k)
                assert_true(apart(&lives[i], &lives[k]));
        assert_int_equal(end, least_end(tried, n, 0, 0, sum));
    }
}

/* ---- covers ---- */

/* The costs of all covers, by choosing for the lowest call that is left. */
typedef struct all_covers {
    const weft_segment *segment;
    double costs[20000];
    int n;
} all_covers;

static void list_covers(all_covers *all, unsigned left, double cost) {
    if (left == 0) {
        assert_true(all->n < 20000);
        all->costs[all->n++] = cost;
        return;
    }
    const weft_implementations *among = all->segment->implementations;
    for (int i = 0; i < among->n; ++i) {
        unsigned set = 0;
        for (int k = 0; k < among->list[i].fusion->n_calls; ++k)
            set |= 1u << among->list[i].fusion->calls[k];
        if (among->list[i].reason == NULL && (set & left) == set && (set & left & (~left + 1)) != 0)
            list_covers(all, left & ~set, cost + among->list[i].cost);
    }
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void covers_are_the_best(void **state) {
    enum { BEST = 12 };
    weft_library *library = *state;
    all_covers *all = calloc(1, sizeof *all);
    assert_non_null(all);
    weft_compilation *c = compile(library, "null", scripts[0], NULL); /* no ring of kernels there */
    weft_cover **list = NULL;
    int n = 0;
    const weft_segment *segment = all->segment = weft_compilation_only(c);
    list_covers(all, (1u << segment->graph->n_calls) - 1, 0);
    qsort(all->costs, (size_t)all->n, sizeof *all->costs, ascending);
    assert_int_equal(
        weft_covers_make(&(weft_cover_problem){.arena = c->arena,
                                               .graph = segment->graph,
                                               .fusions = segment->fusions,
                                               .implementations = segment->implementations,
                                               .kind = WEFT_PLAN_FUSED},
                         BEST, &list, &n, NULL),
        WEFT_OK);
    assert_int_equal(n, BEST < all->n ? BEST : all->n);
    for (int i = 0; i < n; ++i) {
        assert_true(list[i]->proved);
        assert_true(list[i]->seconds < all->costs[i] * (1 + 1e-5));
        assert_true(list[i]->seconds > all->costs[i] * (1 - 1e-5));
        for (int k = 0; k < i; ++k) {
            bool same = list[i]->n == list[k]->n;
            for (int m = 0; same && m < list[i]->n; ++m)
                same = list[i]->list[m] == list[k]->list[m];
            assert_false(same);
        }
    }
    weft_compilation_free(&c);
    free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fusions_are_all_that_there_are),
                                       cmocka_unit_test(fusions_of_chains_and_of_wide_graphs),
                                       cmocka_unit_test(orders_need_least_on_chip),
                                       cmocka_unit_test(offsets_are_the_best),
                                       cmocka_unit_test(covers_are_the_best)};
    return cmocka_run_group_tests(tests, library_open, library_close);
}
