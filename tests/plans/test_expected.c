/* labels: quick */
/* Every script here and the plans it must get, for a host's limits and for a GPU's. What a script
 * states stands in its comments that start with `#!`:
 *
 *      #! kernels fused F unfused U        kernels of both plans
 *      #! calls N                          calls of the graph
 *      #! together NAME...                 results whose calls share a kernel of the fused plan
 *      #! apart NAME NAME                  ... that must not
 *      #! split NAME NAME REASON THROUGH   why: barrier, index_set, nothing, none; the datum or -
 *      #! level NAME N                     global barriers before it
 *      #! bytes PLAN SET LOADED STORED     sums over the kernels over an index set, per element
 *      #! flops SET N                      in both plans
 *      #! peak PLAN N                      most components on chip at once
 *      #! buffers PLAN N                   buffers of intermediates
 *      #! zeroed NAME...                   lists zeroed before a launch, or -
 *      #! single, scatter gathered, parameter NAME N, expression NAME TEXT      how to compile
 *
 * The numbers are counted by hand from the script; the comments there say how. */
#include "core/weft_core.h"
#include "differential/random_script.h"
#include "fusion/base/target.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/fusions.h"
#include "fusion/plan/implementation.h"
#include "fusion/plan/legality.h"
#include "fusion/plan/plan.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "plan_invariants.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 64, WORDS = 16 };

/* One `#!` line as words. */
typedef struct line {
    char text[256];
    char *words[WORDS];
    int n, number;
} line;

typedef struct plan_case {
    const char *path;
    char *text;
    line lines[LINES];
    int n_lines;
    weft_compilation *plans[2]; /* by weft_plan_kind */
} plan_case;

static void lines_read(plan_case *c) {
    int number = 0;
    for (const char *at = c->text; *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        ++number;
        if (length > 2 && at[0] == '#' && at[1] == '!') {
            assert_true(c->n_lines < LINES);
            line *l = &c->lines[c->n_lines++];
            l->number = number;
            snprintf(l->text, sizeof l->text, "%.*s", (int)length - 2, at + 2);
            for (char *save = NULL, *word = strtok_r(l->text, " ", &save);
                 word != NULL && l->n < WORDS; word = strtok_r(NULL, " ", &save))
                l->words[l->n++] = word;
        }
        at += length + (at[length] == '\n');
    }
}

static bool says(const line *l, const char *word, int n) {
    return l->n >= n && strcmp(l->words[0], word) == 0;
}

/* ---- compiling ---- */

static void compile_both(plan_case *c, const weft_library *library, const char *device_name) {
    weft_compile_options options = {.size = sizeof options, .scatter = WEFT_SCATTER_IN_PLACE};
    weft_expression expressions[4];
    weft_parameter parameters[4];
    weft_error error = {0};
    weft_device *device = NULL;
    int n_expressions = 0, n_parameters = 0;
    for (int i = 0; i < c->n_lines; ++i) {
        const line *l = &c->lines[i];
        options.single |= says(l, "single", 1);
        if (says(l, "scatter", 2) && strcmp(l->words[1], "gathered") == 0)
            options.scatter = WEFT_SCATTER_GATHERED;
        if (says(l, "parameter", 3))
            parameters[n_parameters++] = (weft_parameter){l->words[1], atoi(l->words[2])};
        if (says(l, "expression", 3))
            expressions[n_expressions++] =
                (weft_expression){l->words[1], l->words[2], "expression"};
    }
    options.expressions = expressions;
    options.n_expressions = n_expressions;
    options.parameters = parameters;
    options.n_parameters = n_parameters;
    assert_int_equal(weft_device_open(device_name, NULL, &device, &error), WEFT_OK);
    for (int kind = 0; kind < 2; ++kind) {
        const weft_fragment fragment = {c->path, c->text};
        options.plan = (weft_plan_kind)kind;
        if (weft_compile(library, weft_device_limits(device), &fragment, 1, &options,
                         &c->plans[kind], &error) != WEFT_OK) {
            char message[4096];
            weft_error_text(&error, message, sizeof message);
            fail_msg("%s", message);
        }
    }
    weft_device_free(&device);
}

/* ---- looking things up ---- */

static void wrong(const plan_case *c, const line *l, const char *what, double got) {
    fail_msg("%s:%d: #! %s: %s is %g", c->path, l->number, l->words[0], what, got);
}

static weft_plan_kind kind_named(const plan_case *c, const line *l, const char *word) {
    const bool fused = strcmp(word, "fused") == 0;
    if (!fused && strcmp(word, "unfused") != 0)
        wrong(c, l, word, 0);
    return fused ? WEFT_PLAN_FUSED : WEFT_PLAN_UNFUSED;
}

static int call_named(const plan_case *c, const line *l, const char *name) {
    const weft_graph *graph = weft_compilation_only(c->plans[0])->graph;
    for (int i = 0; i < graph->n_calls; ++i)
        if (strcmp(graph->values[graph->calls[i].result].name, name) == 0)
            return i;
    wrong(c, l, name, -1);
    return -1;
}

static int kernel_of(const plan_case *c, int call) {
    const weft_plan *plan = weft_compilation_only(c->plans[WEFT_PLAN_FUSED])->plan;
    for (int i = 0; i < plan->n_kernels; ++i) {
        const weft_implementation *one = plan->kernels[i].implementation;
        for (int k = 0; one != NULL && k < one->fusion->n_calls; ++k)
            if (one->order[k] == call)
                return i;
    }
    fail_msg("%s: call %d is in no kernel", c->path, call);
    return -1;
}

/* ---- checking ---- */

static bool has_line(const plan_case *c, const char *word) {
    for (int i = 0; i < c->n_lines; ++i)
        if (says(&c->lines[i], word, 1))
            return true;
    return false;
}

static void check_kernels(const plan_case *c, const line *l) {
    const bool gpu = weft_compilation_only(c->plans[0])->plan->is_simt;
    if (gpu != (strcmp(l->words[0], "gpu_kernels") == 0) && (!gpu || has_line(c, "gpu_kernels")))
        return;
    for (int k = 1; k + 1 < l->n; k += 2) {
        const weft_plan *plan =
            weft_compilation_only(c->plans[kind_named(c, l, l->words[k])])->plan;
        if (plan->n_kernels - plan->n_groups != atoi(l->words[k + 1]))
            wrong(c, l, l->words[k], plan->n_kernels - plan->n_groups);
    }
}

static void check_together(const plan_case *c, const line *l) {
    const bool together = strcmp(l->words[0], "together") == 0;
    const int first = kernel_of(c, call_named(c, l, l->words[1]));
    for (int k = 2; k < l->n; ++k)
        if ((kernel_of(c, call_named(c, l, l->words[k])) == first) != together)
            wrong(c, l, l->words[k], first);
}

static void check_split(const plan_case *c, const line *l) {
    static const char *const reasons[] = {[FUSIBLE] = "none",
                                          [NOT_FUSED_INDEX_SET] = "index_set",
                                          [NOT_FUSED_BARRIER] = "barrier",
                                          [NOT_FUSED_PATH] = "path",
                                          [NOT_FUSED_PRODUCT] = "product",
                                          [NOT_FUSED_SLICES] = "slices",
                                          [NOT_FUSED_NOTHING] = "nothing"};
    const weft_segment *segment = weft_compilation_only(c->plans[0]);
    const int a = call_named(c, l, l->words[1]), b = call_named(c, l, l->words[2]);
    int through = -1;
    const weft_not_fused_reason reason =
        weft_why_not_fused(segment->graph, segment->fusions, a, b, &through);
    assert_string_equal(reasons[reason], l->words[3]);
    assert_string_equal(through >= 0 ? segment->graph->values[through].name : "-", l->words[4]);
    /* it is the same from either side */
    assert_int_equal(weft_why_not_fused(segment->graph, segment->fusions, b, a, &through), reason);
}

static void check_bytes(const plan_case *c, const line *l) {
    const weft_compilation *compilation = c->plans[kind_named(c, l, l->words[1])];
    double loaded = 0, stored = 0;
    bool any = false;
    for (int i = 0; i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info info;
        weft_compilation_kernel(compilation, i, &info);
        if (strcmp(info.index_set, l->words[2]) != 0)
            continue;
        loaded += info.bytes_loaded;
        stored += info.bytes_stored;
        any = true;
    }
    if (!any)
        wrong(c, l, l->words[2], -1);
    if (loaded < atof(l->words[3]) || loaded > atof(l->words[3]))
        wrong(c, l, "loaded", loaded);
    if (stored < atof(l->words[4]) || stored > atof(l->words[4]))
        wrong(c, l, "stored", stored);
}

static void check_flops(const plan_case *c, const line *l) {
    for (int kind = 0; kind < 2; ++kind) {
        double flops = 0;
        for (int i = 0; i < weft_compilation_kernels(c->plans[kind]); ++i) {
            weft_kernel_info info;
            weft_compilation_kernel(c->plans[kind], i, &info);
            flops += strcmp(info.index_set, l->words[1]) == 0 ? info.flops : 0;
        }
        if (flops < atof(l->words[2]) || flops > atof(l->words[2]))
            wrong(c, l, "flops", flops);
    }
}

static void check_peak(const plan_case *c, const line *l) {
    const weft_plan *plan = weft_compilation_only(c->plans[kind_named(c, l, l->words[1])])->plan;
    int peak = 0;
    for (int i = 0; i < plan->n_kernels; ++i)
        if (plan->kernels[i].implementation != NULL &&
            plan->kernels[i].implementation->onchip_peak > peak)
            peak = plan->kernels[i].implementation->onchip_peak;
    if (peak != atoi(l->words[2]))
        wrong(c, l, "the peak", peak);
}

static void check_zeroed(const plan_case *c, const line *l) {
    for (int kind = 0; kind < 2; ++kind) {
        const weft_plan *plan = weft_compilation_only(c->plans[kind])->plan;
        const weft_graph *graph = weft_compilation_only(c->plans[kind])->graph;
        int zeroed = 0, expected = strcmp(l->words[1], "-") == 0 ? 0 : l->n - 1;
        for (int i = 0; i < plan->n_kernels; ++i)
            for (int k = 0; k < plan->kernels[i].n_zero; ++k) {
                bool known = false;
                for (int w = 1; w < l->n; ++w)
                    known |= strcmp(l->words[w], graph->values[plan->kernels[i].zero[k]].name) == 0;
                zeroed += known ? 1 : 1000;
            }
        if (zeroed != expected)
            wrong(c, l, "the number zeroed", zeroed);
    }
}

static void check_line(const plan_case *c, const line *l) {
    if (says(l, "kernels", 3) || says(l, "gpu_kernels", 3))
        check_kernels(c, l);
    else if (says(l, "together", 3) || says(l, "apart", 3))
        check_together(c, l);
    else if (says(l, "split", 5))
        check_split(c, l);
    else if (says(l, "bytes", 5))
        check_bytes(c, l);
    else if (says(l, "flops", 3))
        check_flops(c, l);
    else if (says(l, "peak", 3))
        check_peak(c, l);
    else if (says(l, "zeroed", 2))
        check_zeroed(c, l);
    else if (says(l, "calls", 2)) {
        if (weft_compilation_only(c->plans[0])->graph->n_calls != atoi(l->words[1]))
            wrong(c, l, "the number", weft_compilation_only(c->plans[0])->graph->n_calls);
    } else if (says(l, "level", 3)) {
        const int level =
            weft_compilation_only(c->plans[0])->fusions->level[call_named(c, l, l->words[1])];
        if (level != atoi(l->words[2]))
            wrong(c, l, "the level", level);
    } else if (says(l, "buffers", 3)) {
        const int n =
            weft_compilation_only(c->plans[kind_named(c, l, l->words[1])])->plan->n_buffers;
        if (n != atoi(l->words[2]))
            wrong(c, l, "the number", n);
    } else if (!says(l, "single", 1) && !says(l, "scatter", 2) && !says(l, "parameter", 3) &&
               !says(l, "expression", 3))
        fail_msg("%s:%d: #! %s is not known", c->path, l->number, l->words[0]);
}

/* ---- all scripts ---- */

static void check_explanation(const weft_compilation *compilation) {
    weft_text once = {0}, twice = {0};
    assert_int_equal(weft_compilation_explain(compilation, &once, NULL), WEFT_OK);
    assert_int_equal(weft_compilation_explain(compilation, &twice, NULL), WEFT_OK);
    assert_string_equal(once.data, twice.data);
    const int n = weft_compilation_only(compilation)->graph->n_calls;
    int pairs = 0;
    for (const char *at = once.data; (at = strstr(at, "fused: ")) != NULL; ++at)
        ++pairs;
    assert_int_equal(pairs, n * (n - 1) / 2);
    weft_text_free(&once);
    weft_text_free(&twice);
}

static void check_script(const weft_library *library, const char *device, const char *path) {
    plan_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->path = path;
    c->text = test_file_read(path, NULL);
    assert_non_null(c->text);
    lines_read(c);
    assert_true(c->n_lines > 0);
    compile_both(c, library, device);
    for (int i = 0; i < c->n_lines; ++i)
        check_line(c, &c->lines[i]);
    for (int kind = 0; kind < 2; ++kind) {
        check_plan(c->path, c->plans[kind]);
        check_buffers(c->path, c->plans[kind]);
        check_explanation(c->plans[kind]);
        weft_compilation_free(&c->plans[kind]);
    }
    free(c->text);
    free(c);
}

static void check_all(const char *device) {
    glob_t found;
    weft_library *library = NULL;
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(glob(WEFT_SOURCE_DIR "/tests/plans/*.weft", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 20);
    for (size_t i = 0; i < found.gl_pathc; ++i)
        check_script(library, device, found.gl_pathv[i]);
    globfree(&found);
    weft_library_free(&library);
}

/* Whatever the script, calls run once and in order, and buffers hold one thing at a time. */
static void plans_of_random_scripts(void **state) {
    (void)state;
    weft_library *library = NULL;
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    uint64_t seed = 1000;
    for (int i = 0; i < 200; ++i) {
        plan_case c = {.path = "random script", .text = random_straight_text(&seed)};
        line scatter = {.words = {"scatter", "gathered"}, .n = 2};
        c.lines[0] = scatter;
        c.n_lines = i % 2 == 0 ? 1 : 0;
        compile_both(&c, library, i % 4 < 2 ? "null" : "null:h200");
        for (int kind = 0; kind < 2; ++kind) {
            check_plan(c.path, c.plans[kind]);
            check_buffers(c.path, c.plans[kind]);
        }
        assert_true(weft_compilation_kernels(c.plans[WEFT_PLAN_FUSED]) <=
                    weft_compilation_kernels(c.plans[WEFT_PLAN_UNFUSED]));
        for (int kind = 0; kind < 2; ++kind)
            weft_compilation_free(&c.plans[kind]);
        free(c.text);
    }
    weft_library_free(&library);
}

static void plans_for_a_host(void **state) {
    (void)state;
    check_all("null");
}

static void plans_for_a_gpu(void **state) {
    (void)state;
    check_all("null:h200");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_for_a_host),
                                       cmocka_unit_test(plans_for_a_gpu),
                                       cmocka_unit_test(plans_of_random_scripts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
