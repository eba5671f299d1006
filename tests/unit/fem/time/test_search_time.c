/* labels: quick */
/* The planner's search, fusions, implementations and cover, is quick: under 100 ms for every script
 * that is shipped, put together as the programs do, on the host and on an H200; for Listing 1 of
 * Fousek et al. 2011 under 20 ms for all candidates and 10 ms for the cover; under 2 s for a chain
 * of 30 calls and 20 calls that share an input. What is measured is the processor's time of this
 * process, the least of a few runs, so that what else the machine does counts little; builds that
 * are not optimised, are instrumented, or run under an emulator get as much more as they need.
 */
#include "core/embedded.h"
#include "core/weft_core.h"
#include "fem/embedded_scripts.h"
#include "fem/time/private.h"
#include "fem/weft_fem.h"
#include "fusion/control/program.h"
#include "fusion/plan/cover.h"
#include "fusion/plan/fusions.h"
#include "fusion/plan/implementation.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 3, FRAGMENTS = 16 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
static double slack = 30;
#else
static double slack = 2; /* two that share a core slow each other down */
#endif
static const double all_most = 0.1, large_most = 2, candidates_most = 0.02,
                    cover_most = 0.01; /* s */

typedef struct combination {
    const char *scripts[6]; /* names; with ';' a text of its own */
    const char *parameter;
    int value;
    const char *formula; /* that has a value; NULL: all are as they are by default */
} combination;

/* Scripts that others follow or are followed by. What is not among these stands alone. */
static const combination combinations[] = {
    {{"poisson.weft", "product.weft"}, "d", 3, NULL},
    {{"poisson.weft", "continue.weft", "product.weft"}, "d", 3, NULL},
    {{"poisson.weft", "stored.weft"}, "d", 3, NULL},
    {{"poisson.weft", "stored_upper.weft"}, "d", 3, NULL},
    {{"poisson.weft", "matrix.weft"}, "d", 3, NULL},
    {{"poisson.weft", "continue_matrix.weft", "matrix.weft"}, "d", 3, NULL},
    {{"poisson.weft", "diagonal.weft"}, "d", 3, NULL},
    {{"poisson.weft", "energy.weft", "return E;"}, "d", 3, NULL},
    {{"poisson.weft", "asymmetry.weft"}, "d", 3, NULL},
    {{"poisson.weft", "asymmetry_fields.weft"}, "d", 3, NULL},
    {{"poisson.weft", "stiffness_product.weft"}, "d", 3, NULL},
    {{"poisson.weft", "input v : real over nodes;\naction = 2*mvmul(K, v[dofs]);", "action.weft"},
     "d",
     3,
     NULL},
    {{"poisson_diffusivity.weft", "product.weft"}, "d", 3, "diffusivity"},
    {{"poisson_diffusivity.weft", "stiffness_product_mean.weft"}, "d", 3, "diffusivity"},
    {{"local.weft", "product.weft"}, "width", 4, NULL},
    {{"local_blocks.weft", "product_blocks.weft"}, "rows", 6, NULL},
    {{"elasticity.weft", "y[dofs] += Kv;\nreturn y;"}, NULL, 0, "young"},
    {{"local_blocks.weft", "continue_blocks.weft", "product_blocks.weft"}, "rows", 6, NULL},
    {{"elasticity.weft", "matrix_blocks.weft"}, NULL, 0, "young"},
    {{"elasticity.weft", "diagonal_blocks.weft"}, NULL, 0, "young"},
    {{"elasticity.weft", "action = Kv;", "action_blocks.weft"}, NULL, 0, "young"},
    {{"elasticity.weft", "asymmetry_blocks.weft"}, NULL, 0, "young"},
    {{"kirchhoff.weft", "return r, K, W;"}, NULL, 0, "young"},
    {{"helmholtz.weft", "product.weft"}, "d", 3, NULL},
    {{"anisotropic.weft", "product.weft"}, NULL, 0, NULL},
    {{"diffusion.weft", "product.weft"}, "d", 3, NULL},
    {{"mass.weft", "product.weft"}, "d", 3, NULL},
    {{"advection_3.weft", "product.weft"}, NULL, 0, NULL},
    {{"theta_tensor_3.weft", "product.weft"}, NULL, 0, NULL},
    {{"measure_2.weft", "return m, s, m_0, m_1, least, most;", "measure_error.weft"},
     NULL,
     0,
     "exact"},
    {{"measure_3.weft", "return m, s, m_0, m_1, m_2, least, most;", "measure_error.weft"},
     NULL,
     0,
     "exact"},
    {{"advection_2.weft", "return K;"}, NULL, 0, NULL},
    {{"theta_scalar.weft", "return K;"}, NULL, 0, NULL},
    {{"theta_tensor_2.weft", "return K;"}, NULL, 0, NULL},
    {{"mass_lumped.weft", "return K;"}, NULL, 0, NULL},
    {{"robin.weft", "return K;"}, NULL, 0, NULL},
    {{"robin_component.weft", "return K;"}, NULL, 0, NULL},
    {{"neumann_component.weft", "return b;"}, NULL, 0, "flux"},
    {{"cell_points.weft", "return P;"}, NULL, 0, NULL},
    {{"children_mean.weft", "return mean;"}, NULL, 0, NULL},
    {{"centres.weft", "return u;"}, NULL, 0, "value"},
    {{"scaling.weft", "return y;"}, NULL, 0, NULL},
    {{"errors_2.weft", "return l2, h1;"}, NULL, 0, "exact"},
    {{"errors_3.weft", "return l2, h1;"}, NULL, 0, "exact"},
    {{"nodal.weft", "return u;"}, NULL, 0, "value"},
    {{"nodal_time.weft", "return u;"}, NULL, 0, "value"},
    {{"cell_nodes.weft", "return u;"}, NULL, 0, "value"},
    {{"uniform.weft", "return u;"}, NULL, 0, NULL},
    {{"load_time.weft", "return b;"}, "d", 3, "source"},
    {{"load.weft", "return b;"}, "d", 3, "source"},
    {{"neumann.weft", "return b;"}, "d", 3, "flux"},
};
enum { COMBINATIONS = sizeof combinations / sizeof combinations[0] };

typedef struct bench {
    weft_library *library;
    weft_device *device;
    const char *device_name;
    bool single;
    double worst;
} bench;

static double now(void) {
    struct timespec t;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of the two halves of the search for one graph. */
static void search_once(const weft_segment *c, double *candidates, double *cover) {
    weft_arena *arena = NULL;
    weft_fusions *fusions = NULL;
    weft_implementations *implementations = NULL;
    weft_cover *made = NULL;
    assert_int_equal(weft_arena_make(&arena, NULL), WEFT_OK);
    const double start = now();
    assert_int_equal(weft_fusions_make(arena, c->graph, &c->options, &fusions, NULL), WEFT_OK);
    assert_int_equal(weft_implementations_make(arena, c->graph, fusions, &c->limits, &c->options,
                                               &implementations, NULL),
                     WEFT_OK);
    const double between = now();
    assert_int_equal(weft_cover_make(&(weft_cover_problem){.arena = arena,
                                                           .graph = c->graph,
                                                           .fusions = fusions,
                                                           .implementations = implementations,
                                                           .kind = c->options.plan},
                                     &made, NULL),
                     WEFT_OK);
    *cover += now() - between;
    *candidates += between - start;
    weft_arena_free(&arena);
}

static void search_all(const weft_compilation *c, double *candidates, double *cover) {
    *candidates = *cover = 1e9;
    for (int run = 0; run < RUNS; ++run) {
        double some = 0, rest = 0;
        for (int i = 0; i < c->control->n_segments; ++i)
            search_once(c->control->segments[i], &some, &rest);
        *candidates = some < *candidates ? some : *candidates;
        *cover = rest < *cover ? rest : *cover;
    }
}

static int calls_of(const weft_compilation *c) {
    int n = 0;
    for (int i = 0; i < c->control->n_segments; ++i)
        n += c->control->segments[i]->graph->n_calls;
    return n;
}

static void measure(bench *b, const char *name, const weft_fragment *fragments, int n,
                    weft_compile_options options, double most, double most_candidates,
                    double most_cover) {
    weft_compilation *c = NULL;
    weft_error error = {0};
    double candidates = 0, cover = 0;
    options.single = b->single;
    if (weft_compile(b->library, weft_device_limits(b->device), fragments, n, &options, &c,
                     &error) != WEFT_OK) {
        char text[4096];
        weft_error_text(&error, text, sizeof text);
        fail_msg("%s: %s", name, text);
    }
    search_all(c, &candidates, &cover);
    print_message("%-10s %-58.58s %3d calls %8.2f + %6.2f ms\n", b->device_name, name, calls_of(c),
                  1e3 * candidates, 1e3 * cover);
    if (candidates + cover > slack * most || candidates > slack * most_candidates ||
        cover > slack * most_cover)
        fail_msg("%s takes %.1f ms and %.1f ms", name, 1e3 * candidates, 1e3 * cover);
    if (candidates + cover > b->worst)
        b->worst = candidates + cover;
    weft_compilation_free(&c);
}

static bool is_combined(const char *name) {
    for (int i = 0; i < COMBINATIONS; ++i)
        for (int k = 0; combinations[i].scripts[k] != NULL; ++k)
            if (strcmp(combinations[i].scripts[k], name) == 0)
                return true;
    return strncmp(name, "step_", 5) == 0 || strncmp(name, "cell_nodes", 10) == 0 ||
           strncmp(name, "trace_", 6) == 0;
}

static void measure_combination(bench *b, const combination *one) {
    weft_fragment fragments[FRAGMENTS];
    char name[256] = "";
    int n = 0;
    const weft_parameter parameter = {one->parameter, one->value};
    const weft_expression formula = {one->formula, "2 + x*sin(y)", "formula"};
    for (; one->scripts[n] != NULL; ++n) {
        const bool own = strchr(one->scripts[n], ';') != NULL;
        fragments[n] = (weft_fragment){one->scripts[n],
                                       own ? one->scripts[n] : weft_fem_script(one->scripts[n])};
        assert_non_null(fragments[n].text);
        if (!own) {
            strcat(name, n > 0 ? " " : "");
            strcat(name, one->scripts[n]);
        }
    }
    measure(b, name, fragments, n,
            (weft_compile_options){.size = sizeof(weft_compile_options),
                                   .parameters = &parameter,
                                   .n_parameters = one->parameter != NULL,
                                   .expressions = &formula,
                                   .n_expressions = one->formula != NULL},
            all_most, 1, 1);
}

/* Declared is more than the pieces use. */
static void measure_step(bench *b, const char *name, weft_advection_diffusion *step) {
    assert_int_equal(weft_ad_text_make(step, NULL), WEFT_OK);
    measure(b, name, &(weft_fragment){name, step->text.data}, 1,
            (weft_compile_options){.size = sizeof(weft_compile_options)}, all_most, 1, 1);
    weft_text_free(&step->text);
}

/* Conjugate gradients with the operator's own script written out in their loop. */
static void measure_cg(bench *b) {
    const weft_fragment form[] = {{"poisson.weft", weft_fem_script("poisson.weft")},
                                  {"product.weft", weft_fem_script("product.weft")}};
    const weft_operator_choice choice = {.name = "A", .fragments = form, .n_fragments = 2};
    const weft_fragment cg = {"cg.weft", weft_fem_script("cg.weft")};
    measure(b, "cg.weft, A = poisson.weft product.weft", &cg, 1,
            (weft_compile_options){
                .size = sizeof(weft_compile_options), .operators = &choice, .n_operators = 1},
            all_most, 1, 1);
}

#define CHECKS WEFT_SOURCE_DIR "/apps/check/"

/* The scripts that predictions are measured by. */
static void measure_checks(bench *b) {
    int n = 0;
    DIR *folder = opendir(CHECKS);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[1024];
        if (strstr(entry->d_name, ".weft") == NULL)
            continue;
        snprintf(path, sizeof path, "%s%s", CHECKS, entry->d_name);
        char *text = test_file_read(path, NULL);
        assert_non_null(text);
        measure(b, entry->d_name, &(weft_fragment){entry->d_name, text}, 1,
                (weft_compile_options){.size = sizeof(weft_compile_options)}, all_most, 1, 1);
        free(text);
        ++n;
    }
    closedir(folder);
    assert_true(n > 0);
}

static bench begin(const char *device, bool single) {
    bench b = {.device_name = device, .single = single};
    assert_int_equal(weft_fem_library_make(&b.library, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(device, NULL, &b.device, NULL), WEFT_OK);
    return b;
}

static void end(bench *b) {
    weft_device_free(&b->device);
    weft_library_free(&b->library);
}

static void every_shipped_script(void **state) {
    (void)state;
    static const weft_advection_diffusion_problem strang = {.splitting = WEFT_SPLITTING_STRANG,
                                                            .preconditioner = -1};
    static const char *const devices[] = {"null", "null:h200"};
    for (int i = 0; i < 2; ++i) {
        bench b = begin(devices[i], false);
        for (const weft_embedded_file *file = weft_embedded_scripts; file->name != NULL; ++file)
            if (!is_combined(file->name))
                measure(&b, file->name, &(weft_fragment){file->name, file->text}, 1,
                        (weft_compile_options){.size = sizeof(weft_compile_options)}, all_most, 1,
                        1);
        for (int k = 0; k < COMBINATIONS; ++k)
            measure_combination(&b, &combinations[k]);
        measure_step(
            &b, "step of Strang",
            &(weft_advection_diffusion){
                .problem = &strang, .advects = true, .diffuses = true, .solves_mass = true});
        measure_step(&b, "step of advection, lumped",
                     &(weft_advection_diffusion){.problem = &strang, .advects = true});
        measure_cg(&b);
        measure_checks(&b);
        print_message("%-10s the slowest takes %.2f ms\n", b.device_name, 1e3 * b.worst);
        end(&b);
    }
}

static void listing_1(void **state) {
    (void)state;
    char *text = test_file_read(CHECKS "listing_1.weft", NULL);
    assert_non_null(text);
    for (int single = 0; single < 2; ++single) {
        bench b = begin("null:h200", single == 1);
        measure(&b, single ? "listing_1.weft, float" : "listing_1.weft, double",
                &(weft_fragment){"listing_1.weft", text}, 1,
                (weft_compile_options){.size = sizeof(weft_compile_options)}, all_most,
                candidates_most, cover_most);
        end(&b);
    }
    free(text);
}

static void chains_and_wide_graphs(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; ++wide) {
        weft_text text = {0};
        const int n = wide ? 20 : 30;
        const char *name = wide ? "20 calls that share an input" : "a chain of 30 calls";
        weft_text_add(&text, "index N;\ninput A0 : real[3,3] over N;\n");
        for (int i = 0; i < n && wide; ++i)
            weft_text_add(&text, "input B%d : real[3,3] over N;\nA%d = mmul(A0, B%d);\n", i, i + 1,
                          i);
        for (int i = 0; i < n && !wide; ++i)
            weft_text_add(&text, "A%d = mmul(A%d, A0);\n", i + 1, i);
        for (int i = wide ? 1 : n; i <= n; ++i)
            weft_text_add(&text, "return A%d;\n", i);
        assert_false(text.failed);
        bench b = begin("null:h200", false);
        measure(&b, name, &(weft_fragment){name, text.data}, 1,
                (weft_compile_options){.size = sizeof(weft_compile_options)}, large_most,
                large_most, large_most);
        end(&b);
        weft_text_free(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shipped_script),
        cmocka_unit_test(listing_1),
        cmocka_unit_test(chains_and_wide_graphs),
    };
    if (getenv("WEFT_EMULATOR")) /* a processor that is imitated takes ten times as long */
        slack = 60;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
