/* labels: quick */
/* Plans that are kept on disk. A second compilation of the same finds the plan and gives the same plan and source as one without
 * a cache; every part of what a plan depends on is in its key; an entry that is damaged, cut off, of another script or that
 * other processes write at the same time changes nothing. */
#include "core/base/build.h"
#include "core/device/kept_text.h"
#include "core/weft_cache.h"
#include "core/weft_core.h"
#include "fusion/compile/compile.h"
#include "fusion/control/kept_plan.h"
#include "fusion/cost/cost.h"
#include "fusion/library/library.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char poisson[] = "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
                              "input x : real[2] over nodes;\ninput f : real over nodes;\n"
                              "expression source(x) = 1;\n"
                              "J = jacobian(x[dofs]);\nG = tform_dshape(J);\n"
                              "K = dshape_dot_dshape(G, J);\n"
                              "b[dofs] += shape_load(source(f[dofs]), J);\nreturn K, b;\n";
/* two segments, and a value that is stored before the loop or recomputed in it */
static const char loop[] =
    "index N;\ninput A, B : real[4,4] over N;\ninput s : real over N;\ninput left : real;\n"
    "P = mmul(A, B);\nq = 2*s;\nr = sum(s);\n"
    "repeat at most 3 while (left > r) {\n    T = madd(P, mmul(A, A));\n"
    "    update q = q + T[0,0];\n    update left = left - dot(q, s);\n}\nreturn q;\n";
/* kernels over rows and columns, with a second plan for sizes that do not fit the first */
static const char nested[] = "index rows;\nindex cols;\n"
                             "input A : real over rows, cols;\ninput x : real over cols;\n"
                             "y = gemv(A, x);\nz = gemtv(A, y);\nreturn z;\n";

typedef struct keeper {
    weft_library *library;
    weft_device *device;
    char *folder;
    weft_limits limits;
    weft_fragment fragment;
    weft_compile_options options;
} keeper;

static void must(weft_status status, const weft_error *error) {
    char text[4096];
    if (status == WEFT_OK)
        return;
    weft_error_text(error, text, sizeof text);
    fail_msg("%s", text);
}

static weft_device *open_device(const char *name, const char *folder) {
    weft_error error = {0};
    weft_device_options options;
    weft_device *device = NULL;
    weft_options_clear(&options, sizeof options);
    options.cache_directory = folder;
    must(weft_device_open(name, &options, &device, &error), &error);
    return device;
}

static keeper keeper_open(const weft_library *library, const char *device, const char *script) {
    keeper k = {.library = (weft_library *)(uintptr_t)library,
                .fragment = {"script.weft", script},
                .options = {.size = sizeof(weft_compile_options)},
                .folder = test_folder_make()};
    k.device = open_device(device, k.folder);
    k.limits = *weft_device_limits(k.device);
    k.options.plans = k.device;
    return k;
}

static void keeper_close(keeper *k) {
    weft_device_free(&k->device);
    test_folder_remove(&k->folder);
}

static weft_compilation *compile(const keeper *k) {
    weft_compilation *made = NULL;
    weft_error error = {0};
    must(weft_compile(k->library, &k->limits, &k->fragment, 1, &k->options, &made, &error), &error);
    return made;
}

static void keep(const keeper *k, const weft_saving *saving) {
    weft_compilation *made = compile(k);
    weft_error error = {0};
    must(weft_compilation_keep(made, saving, &error), &error);
    weft_compilation_free(&made);
}

static weft_text printed(const weft_compilation *compilation, const char *stage) {
    weft_text text = {0};
    weft_error error = {0};
    must(weft_compilation_print(compilation, stage, strcmp(stage, "plan") == 0 ? "json" : "text",
                                &text, &error),
         &error);
    return text;
}

/* The compilation is what one without a cache gives; is it of a kept plan? */
static bool check_same(const keeper *k) {
    static const char *const stages[] = {"graph", "plan", "source"};
    keeper alone = *k;
    alone.options.plans = NULL;
    weft_compilation *expected = compile(&alone), *got = compile(k);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; ++i) {
        weft_text a = printed(expected, stages[i]), b = printed(got, stages[i]);
        assert_string_equal(a.data, b.data);
        weft_text_free(&a);
        weft_text_free(&b);
    }
    const bool kept = weft_compilation_is_kept(got);
    weft_compilation_free(&expected);
    weft_compilation_free(&got);
    return kept;
}

static void found_again(void **state) {
    static const char *const devices[] = {"host:1:sse2", "null", "null:h200"};
    static const char *const scripts[] = {poisson, loop, nested};
    for (int i = 0; i < 9; ++i) {
        const bool simt = i / 3 == 2;
        keeper k = keeper_open(*state, devices[i / 3], scripts[i % 3]);
        k.options.scatter = simt ? WEFT_SCATTER_GATHERED : WEFT_SCATTER_IN_PLACE;
        assert_false(check_same(&k));
        keep(&k, NULL);
        assert_true(check_same(&k));
        weft_device_free(&k.device); /* as a later process */
        k.options.plans = k.device = open_device(devices[i / 3], k.folder);
        assert_true(check_same(&k));
        k.fragment.text = scripts[(i + 1) % 3];
        assert_false(check_same(&k));
        keeper_close(&k);
    }
}

static void saving_is_kept(void **state) {
    keeper k = keeper_open(*state, "null", poisson);
    weft_saving expected = {0}, got = {0};
    weft_error error = {0};
    weft_compilation *made = compile(&k);
    must(weft_compilation_saving(made, &expected, &error), &error);
    must(weft_compilation_keep(made, &expected, &error), &error);
    weft_compilation_free(&made);
    made = compile(&k);
    assert_true(weft_compilation_is_kept(made));
    must(weft_compilation_saving(made, &got, &error), &error);
    assert_memory_equal(&got.bytes, &expected.bytes, sizeof got.bytes);
    assert_memory_equal(&got.bytes_unfused, &expected.bytes_unfused, sizeof got.bytes_unfused);
    assert_string_equal(got.calls, expected.calls);
    assert_string_equal(got.index_set, expected.index_set);
    assert_int_equal(got.n_calls, expected.n_calls);
    assert_int_equal(got.n_kernels, expected.n_kernels);
    assert_int_equal(got.n_unfused, expected.n_unfused);
    weft_compilation_free(&made);
    k.options.single = true;
    keep(&k, NULL);
    made = compile(&k);
    assert_int_equal(weft_compilation_saving(made, &got, NULL), WEFT_ERROR_UNSUPPORTED);
    weft_compilation_free(&made);
    keeper_close(&k);
}

/* ---- the key --------------------------------------------------------------------------------- */

static void key_of(const keeper *k, char out[33]) {
    weft_error error = {0};
    must(weft_kept_key(k->library, &k->limits, &k->fragment, 1, &k->options, out, &error), &error);
}

static void check_key_changes(const keeper *changed, const keeper *base, const char *what) {
    char a[33], b[33];
    key_of(base, a);
    key_of(changed, b);
    assert_int_equal(strlen(a), 32);
    if (strcmp(a, b) == 0)
        fail_msg("%s is not in the key", what);
}

/* A member that is new must be in the key, and then here. */
_Static_assert(sizeof(weft_limits) == 272, "each member of weft_limits is in the key");
_Static_assert(sizeof(weft_compile_options) == 192, "so is each of weft_compile_options");
_Static_assert(sizeof(weft_operator_choice) == 40, "and of weft_operator_choice");

#define CHANGED(member, value)                                                                     \
    do {                                                                                           \
        keeper other = k;                                                                          \
        other.member = (value);                                                                    \
        check_key_changes(&other, &k, #member);                                                    \
    } while (0)

static void limits_are_in_the_key(void **state) {
    keeper k = keeper_open(*state, "null", poisson);
    CHANGED(limits.kind, (weft_device_kind)(k.limits.kind + 1));
    CHANGED(limits.execution, (weft_execution)(k.limits.execution + 1));
    CHANGED(limits.records_only, !k.limits.records_only);
    CHANGED(limits.language, "other");
    CHANGED(limits.lanes_double, 2);
    CHANGED(limits.lanes_float, 2);
    CHANGED(limits.threads, 1000);
    CHANGED(limits.multiprocessors, 1000);
    CHANGED(limits.register_bytes, 12345);
    CHANGED(limits.cluster_blocks, 3);
    CHANGED(limits.matrix_depth, 3);
    CHANGED(limits.onchip_bytes, 12345);
    CHANGED(limits.l2_bytes, 12345);
    CHANGED(limits.memory_bytes, 12345);
    CHANGED(limits.bandwidth, 12345.5);
    CHANGED(limits.flops, 12345.5);
    CHANGED(limits.launch_seconds, 12345.5);
    CHANGED(limits.target.warp_threads, 12345);
    CHANGED(limits.target.block_threads, 12345);
    CHANGED(limits.target.block_threads_most, 12345);
    CHANGED(limits.target.resident_threads, 12345);
    CHANGED(limits.target.resident_blocks, 12345);
    CHANGED(limits.target.reserved_bytes, 12345);
    CHANGED(limits.target.reduction_tile, 12345);
    CHANGED(limits.target.joined_direct, 12345);
    CHANGED(limits.target.joined_exact, 12345);
    CHANGED(limits.target.joined_before, 12345);
    keeper other = k;
    snprintf(other.limits.name, sizeof other.limits.name, "another");
    check_key_changes(&other, &k, "limits.name");
    keeper_close(&k);
}

static bool nothing_known(void *user, const weft_cost_primitive *primitive,
                          const weft_operating_point *point, double *seconds) {
    (void)user, (void)primitive, (void)point, (void)seconds;
    return false;
}

static void options_are_in_the_key(void **state) {
    static const weft_expression sources[] = {{"source", "2*x", "--source"},
                                              {"source", "3*x", "--source"},
                                              {"source", "2*x", "elsewhere"}};
    static const weft_parameter parameter = {"d", 2};
    static const weft_variant_choice variant = {"jacobian", 1};
    static const weft_fragment part = {"part", "y = v;\n"};
    static const weft_operator_choice operators[] = {{.name = "A"},
                                                     {.name = "B"},
                                                     {.name = "A", .product_kernel = "kernel"},
                                                     {.name = "A", .brings_dot = true},
                                                     {.name = "A", .is_long = true},
                                                     {"A", &part, 1, NULL, false, false}};
    static const weft_cost_source costs[] = {{.lookup = nothing_known, .identity = "one"},
                                             {.lookup = nothing_known, .identity = "two"}};
    keeper k = keeper_open(*state, "null", poisson);
    CHANGED(fragment.name, "another.weft");
    CHANGED(fragment.text, loop);
    CHANGED(options.scatter, WEFT_SCATTER_GATHERED);
    CHANGED(options.single, true);
    CHANGED(options.narrow, "x");
    CHANGED(options.rematerialise, WEFT_REMATERIALISE_NEVER);
    CHANGED(options.iterations, 7);
    CHANGED(options.elements, 7);
    CHANGED(options.max_fusion, 7);
    CHANGED(options.patch_nodes, 128);
    CHANGED(options.predicated, true);
    CHANGED(options.runs_once, true);
    CHANGED(options.distributed, true);
    CHANGED(options.corrected, true);
    CHANGED(options.costs, &costs[0]);
    keeper with = k;
    with.options.n_parameters = 1;
    with.options.parameters = &parameter;
    check_key_changes(&with, &k, "a parameter");
    with = k;
    with.options.n_variants = 1;
    with.options.variants = &variant;
    check_key_changes(&with, &k, "a variant");
    k.options.costs = &costs[0];
    CHANGED(options.costs, &costs[1]);
    k.options.n_expressions = k.options.n_operators = 1;
    k.options.expressions = &sources[0];
    k.options.operators = &operators[0];
    CHANGED(options.expressions, &sources[1]);
    CHANGED(options.expressions, &sources[2]);
    for (size_t i = 1; i < sizeof operators / sizeof *operators; ++i)
        CHANGED(options.operators, &operators[i]);
    keeper_close(&k);
}

static void library_is_in_the_key(void **state) {
    keeper k = keeper_open(*state, "null", poisson), other = k;
    weft_error error = {0};
    static const char text[] =
        "//@ function  halve(x: real) -> y: real\n//@ kind      map\n"
        "//@ flops     1\n//@ source    this test\n//@ threads   1\ny = x / 2;\n";
    must(weft_library_make(&other.library, &error), &error);
    must(weft_library_add_text(other.library, "own.kernel.c", text, &error), &error);
    check_key_changes(&other, &k, "a function of the user's");
    weft_library_free(&other.library);
    keeper_close(&k);
}

/* What the key does not name is not kept. */
static void others_are_not_kept(void **state) {
    static const weft_cost_source unnamed = {.lookup = nothing_known};
    keeper k = keeper_open(*state, "null", poisson);
    char key[33];
    const weft_compile_options options = k.options;
    k.options.costs = &unnamed;
    key_of(&k, key);
    assert_string_equal(key, "");
    k.options = options;
    k.options.cover = "";
    key_of(&k, key);
    assert_string_equal(key, "");
    k.options = options;
    k.options.forced_plan = "{}";
    key_of(&k, key);
    assert_string_equal(key, "");
    k.options = options;
    k.options.alternative = 1;
    key_of(&k, key);
    assert_string_equal(key, "");
    k.options = options;
    k.options.plan = WEFT_PLAN_UNFUSED;
    key_of(&k, key);
    assert_string_equal(key, "");
    keeper_close(&k);
}

/* The build's identity is a hash of the ID that readelf shows of this program. */
static void build_is_that_of_the_program(void **state) {
    (void)state;
    char got[33], expected[33], path[4096];
    unsigned char bytes[64];
    size_t n = 0;
    assert_true(weft_build_identity(got));
    if (!test_program_exists("readelf"))
        skip();
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(length > 0);
    path[length] = '\0';
    test_run run = test_program((const char *const[]){"readelf", "-n", path, NULL}, NULL);
    const char *at = strstr(run.output, "Build ID: ");
    assert_non_null(at);
    unsigned byte = 0;
    for (at += 10; n < sizeof bytes && sscanf(at, "%2x", &byte) == 1 && at[0] > ' '; at += 2)
        bytes[n++] = (unsigned char)byte;
    weft_hash(bytes, n, expected);
    assert_string_equal(got, expected);
    test_run_free(&run);
}

/* ---- tuned parameters, which are in the graph, not in the key -------------------------------- */

static const weft_tuned_setting *setting_of(void *user, const char *key, int64_t elements) {
    (void)key, (void)elements;
    return user;
}

static void tuned_setting_changes_the_plan(void **state) {
    static const char own[] = "//@ function  pick(x: real[8]) -> y: real\n//@ kind      map\n"
                              "//@ parameter width = 1\n//@ tune      width = 1, 2, 4\n"
                              "//@ flops     1\n//@ source    this test\n//@ threads   1\n"
                              "y = x(width);\n";
    static const weft_tuned_setting settings[] = {{"width = 2", 1, 1}, {"width = 4", 1, 1}};
    weft_tuned_source sources[] = {{setting_of, (void *)(uintptr_t)&settings[0]},
                                   {setting_of, (void *)(uintptr_t)&settings[1]}};
    keeper k = keeper_open(*state, "null",
                           "index N;\ninput x : real[8] over N;\ny = pick(x);\nreturn y;\n");
    weft_error error = {0};
    char keys[2][33];
    must(weft_library_make(&k.library, &error), &error);
    must(weft_library_add_text(k.library, "own.c", own, &error), &error);
    k.options.tuned = &sources[0];
    keep(&k, NULL);
    assert_true(check_same(&k));
    key_of(&k, keys[0]);
    k.options.tuned = &sources[1];
    key_of(&k, keys[1]);
    assert_string_equal(keys[0], keys[1]);
    assert_false(check_same(&k));
    keep(&k, NULL); /* replaces the other */
    assert_true(check_same(&k));
    k.options.tuned = NULL;
    assert_false(check_same(&k));
    weft_library_free(&k.library);
    keeper_close(&k);
}

/* ---- entries that are not what they should be ------------------------------------------------ */

static char *entry_path(const keeper *k) {
    char key[33], name[64];
    key_of(k, key);
    snprintf(name, sizeof name, "%s.weft", key);
    return test_path(k->folder, name);
}

static void damaged_entries(void **state) {
    keeper k = keeper_open(*state, "null:h200", poisson);
    size_t size = 0;
    keep(&k, NULL);
    char *path = entry_path(&k), *bytes = test_file_read(path, &size);
    assert_true(size > 1024);
    for (size_t at = 0; at < size; at += at < 600 ? 37 : size / 23) {
        bytes[at] ^= 1;
        test_file_write(path, bytes, size);
        assert_false(check_same(&k));
        bytes[at] ^= 1;
        test_file_write(path, bytes, at); /* cut off */
        assert_false(check_same(&k));
    }
    test_file_write(path, bytes, size);
    assert_true(check_same(&k));
    free(bytes);
    free(path);
    keeper_close(&k);
}

static void store(const keeper *k, const char *text, size_t size) {
    char key[33];
    key_of(k, key);
    weft_device_text_store(k->device, key, "test", text, size);
}

/* Whole entries with right hashes under the key of another script, or with a text that is no plan. */
static void foreign_entries(void **state) {
    keeper k = keeper_open(*state, "null:h200", poisson), other = k;
    weft_text text = {0};
    weft_error error = {0};
    static const char *const none[] = {"", "1\n", "16\nweft-kept-plan-1", "16\nweft-kept-plan-1\n",
                                       "99999999999\nx\n"};
    other.fragment.text = loop;
    weft_compilation *made = compile(&other);
    must(weft_kept_plan_write(made, NULL, &text, &error), &error);
    weft_compilation_free(&made);
    store(&k, text.data, text.length);
    assert_false(check_same(&k));
    weft_text_free(&text);
    for (size_t i = 0; i < sizeof none / sizeof *none; ++i) {
        store(&k, none[i], strlen(none[i]));
        assert_false(check_same(&k));
    }
    made = compile(&k);
    must(weft_kept_plan_write(made, NULL, &text, &error), &error);
    weft_compilation_free(&made);
    for (size_t at = 0; at < text.length; at += 1 + text.length / 97) {
        store(&k, text.data, at); /* cut off before it was written */
        assert_false(check_same(&k));
    }
    store(&k, text.data, text.length);
    assert_true(check_same(&k));
    weft_text_free(&text);
    keeper_close(&k);
}

/* The plan of another device under this key: it fits the graph, but prints itself differently. */
static void plan_of_another_device(void **state) {
    keeper k = keeper_open(*state, "null:h200", poisson), other = k;
    weft_text text = {0};
    weft_error error = {0};
    k.options.scatter = WEFT_SCATTER_IN_PLACE; /* a plan says the way otherwise */
    other.options.scatter = WEFT_SCATTER_GATHERED;
    weft_compilation *made = compile(&other);
    must(weft_kept_plan_write(made, NULL, &text, &error), &error);
    weft_compilation_free(&made);
    store(&k, text.data, text.length);
    assert_false(check_same(&k));
    weft_text_free(&text);
    keeper_close(&k);
}

static void without_a_cache(void **state) {
    keeper k = keeper_open(*state, "null", poisson);
    weft_device_options options;
    weft_error error = {0};
    char key[33];
    weft_options_clear(&options, sizeof options);
    options.cache_directory = k.folder;
    keep(&k, NULL);
    options.cache = WEFT_CACHE_READ;
    weft_device_free(&k.device);
    must(weft_device_open("null", &options, &k.device, &error), &error);
    k.options.plans = k.device;
    assert_true(check_same(&k));
    k.options.single = true;
    keep(&k, NULL);
    assert_false(check_same(&k)); /* nothing was written */
    options.cache = WEFT_CACHE_OFF;
    weft_device_free(&k.device);
    must(weft_device_open("null", &options, &k.device, &error), &error);
    k.options.plans = k.device;
    key_of(&k, key);
    assert_string_equal(key, "");
    keeper_close(&k);
}

/* ---- many processes -------------------------------------------------------------------------- */

enum { PROCESSES = 6, ROUNDS = 12 };

static int child(const keeper *k) {
    weft_error error = {0};
    weft_compilation *made = NULL;
    for (int i = 0; i < ROUNDS; ++i) {
        if (weft_compile(k->library, &k->limits, &k->fragment, 1, &k->options, &made, &error) !=
                WEFT_OK ||
            weft_compilation_keep(made, NULL, &error) != WEFT_OK)
            return 1;
        weft_compilation_free(&made);
        if (i % 3 == 2)
            weft_cache_clear(k->folder, false, &(size_t){0}, &error);
    }
    return 0;
}

static void many_processes(void **state) {
    keeper k = keeper_open(*state, "null:h200", poisson);
    pid_t children[PROCESSES];
    weft_cache_entry *entries = NULL;
    weft_error error = {0};
    size_t n = 0;
    for (int i = 0; i < PROCESSES; ++i) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            _exit(child(&k));
    }
    for (int i = 0; i < PROCESSES; ++i) {
        int result = 0;
        assert_int_equal(waitpid(children[i], &result, 0), children[i]);
        assert_int_equal(result, 0);
    }
    keep(&k, NULL);
    assert_true(check_same(&k));
    must(weft_cache_list(k.folder, &entries, &n, &error), &error);
    assert_int_equal(n, 1);
    assert_true(entries[0].valid);
    assert_non_null(strstr(entries[0].description, "plan of script.weft"));
    free(entries);
    keeper_close(&k);
}

static int open_library(void **state) {
    weft_library *library = NULL;
    const weft_status status = weft_library_make(&library, NULL);
    *state = library;
    return status != WEFT_OK;
}

static int close_library(void **state) {
    weft_library *library = *state;
    weft_library_free(&library);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(found_again),
                                       cmocka_unit_test(saving_is_kept),
                                       cmocka_unit_test(limits_are_in_the_key),
                                       cmocka_unit_test(options_are_in_the_key),
                                       cmocka_unit_test(library_is_in_the_key),
                                       cmocka_unit_test(others_are_not_kept),
                                       cmocka_unit_test(build_is_that_of_the_program),
                                       cmocka_unit_test(tuned_setting_changes_the_plan),
                                       cmocka_unit_test(damaged_entries),
                                       cmocka_unit_test(foreign_entries),
                                       cmocka_unit_test(plan_of_another_device),
                                       cmocka_unit_test(without_a_cache),
                                       cmocka_unit_test(many_processes)};
    return cmocka_run_group_tests(tests, open_library, close_library);
}
