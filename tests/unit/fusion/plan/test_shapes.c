/* labels: full */
/* No legal shape of a kernel is predicted faster than the one that is planned: of every shipped script, the slides'
 * among them, and of random ones, shapes are drawn at random and forced, one kernel at a time. */
#include "core/weft_core.h"
#include "fem/weft_form.h"
#include "fusion/plan/block_shapes.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "operator_fixture.h"
#include "test_support.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More iterations are taken only where they gain 2 % (variants.c), and rounding. */
static const double GAIN = 0.98 - 1e-9;

typedef struct search {
    weft_library *library;
    weft_device *device;
    uint64_t random;
    int n_drawn, n_scripts, n_kernels, n_legal;
} search;

static weft_status compile(const search *s, const char *name, const char *text, bool single,
                           const char *plan, weft_compilation **out) {
    weft_error error = {0};
    const weft_fragment fragment = {name, text};
    const weft_compile_options options = {
        .size = sizeof options, .single = single, .forced_plan = plan};
    *out = NULL;
    return weft_compile(s->library, weft_device_limits(s->device), &fragment, 1, &options, out,
                        &error);
}

/* A stage as JSON; NULL: the script has several segments. */
static json_t *stage(const weft_compilation *made, const char *name) {
    weft_text text = {0};
    assert_int_equal(weft_compilation_print(made, name, "json", &text, NULL), WEFT_OK);
    json_t *read = json_loads(text.data, JSON_DECODE_ANY, NULL);
    weft_text_free(&text);
    if (json_is_object(read))
        return read;
    json_decref(read);
    return NULL;
}

static double predicted(const weft_compilation *made) {
    json_t *cover = stage(made, "cover");
    const double seconds = json_number_value(json_object_get(cover, "seconds"));
    json_decref(cover);
    return seconds;
}

static int draw(search *s, int n) {
    return (int)(fixture_random(&s->random) * n);
}

/* A shape with at most so many threads per element, which may be refused. */
static json_t *draw_block(search *s, int most) {
    int threads = 1 << draw(s, 11), elements = 1 << draw(s, 11);
    while (threads > most)
        threads = threads == most + 1 ? most : threads / 2;
    while (threads * elements > 1024)
        elements /= 2;
    if (threads == 1 && elements < 32)
        elements = 32;
    return json_pack("{s:i, s:i, s:i}", "elements", elements, "threads", threads, "iterations",
                     1 << draw(s, 7));
}

static int most_threads(json_t *kernel) {
    int most = 1;
    size_t k;
    json_t *call;
    json_array_foreach(json_object_get(kernel, "calls"), k, call) {
        const int threads = (int)json_integer_value(json_object_get(call, "threads"));
        most = threads > most ? threads : most;
        json_object_del(call, "variant"); /* the planner's for the shape */
    }
    return most;
}

static void check_kernel(search *s, const char *name, const char *text, bool single, json_t *plan,
                         json_t *kernel, double seconds) {
    const int most = most_threads(kernel);
    for (int i = 0; i < s->n_drawn; ++i) {
        weft_compilation *forced = NULL;
        json_object_set_new(kernel, "block", draw_block(s, most));
        char *asked = json_dumps(plan, 0);
        assert_non_null(asked);
        if (compile(s, name, text, single, asked, &forced) == WEFT_OK) {
            ++s->n_legal;
            if (predicted(forced) < GAIN * seconds)
                fail_msg("%s%s: %.4g s are planned, and %.4g with %s", name,
                         single ? ", float" : "", seconds, predicted(forced),
                         json_dumps(json_object_get(kernel, "block"), 0));
        }
        weft_compilation_free(&forced);
        free(asked);
    }
}

/* Kernels of several threads or of one, but not those whose shape is their kind's. */
static void check_script(search *s, const char *name, const char *text, bool single) {
    weft_compilation *made = NULL;
    if (compile(s, name, text, single, NULL, &made) != WEFT_OK)
        return; /* it needs parameters */
    json_t *plan = stage(made, "plan"), *all = plan ? json_object_get(plan, "kernels") : NULL;
    const double seconds = plan ? predicted(made) : 0;
    size_t i, k;
    json_t *kernel, *other;
    json_array_foreach(all, i, kernel) {
        json_t *copy = json_deep_copy(plan), *kernels = json_object_get(copy, "kernels");
        json_array_foreach(kernels, k, other) if (k != i) json_object_del(other, "block");
        check_kernel(s, name, text, single, copy, json_array_get(kernels, i), seconds);
        ++s->n_kernels;
        json_decref(copy);
    }
    s->n_scripts += plan != NULL;
    json_decref(plan);
    weft_compilation_free(&made);
}

static void check_folder(search *s, const char *folder, int n_drawn) {
    char path[512];
    const struct dirent *entry = NULL;
    snprintf(path, sizeof path, "%s/%s", getenv("WEFT_SOURCE"), folder);
    DIR *list = opendir(path);
    assert_non_null(list);
    s->n_drawn = n_drawn;
    while ((entry = readdir(list)) != NULL) {
        const size_t n = strlen(entry->d_name);
        if (n < 6 || strcmp(entry->d_name + n - 5, ".weft") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", getenv("WEFT_SOURCE"), folder, entry->d_name);
        char *read = test_file_read(path, NULL);
        for (int single = 0; single < 2; ++single)
            check_script(s, entry->d_name, read, single);
        free(read);
    }
    closedir(list);
}

static void no_shape_is_faster(void **state) {
    (void)state;
    weft_error error = {0};
    char slides[512];
    search s = {.random = 31};
    assert_int_equal(weft_fem_library_make(&s.library, &error), WEFT_OK);
    snprintf(slides, sizeof slides, "%s/docs/examples/slides", getenv("WEFT_SOURCE"));
    assert_int_equal(weft_library_add_directory(s.library, slides, &error), WEFT_OK);
    assert_int_equal(weft_device_open("null:h200", NULL, &s.device, &error), WEFT_OK);
    check_folder(&s, "docs/examples/slides", 6);
    check_folder(&s, "docs/examples/blas", 1);
    check_folder(&s, "apps/check", 3);
    check_folder(&s, "fem/scripts", 1);
    print_message("%d scripts, %d kernels, %d shapes\n", s.n_scripts, s.n_kernels, s.n_legal);
    assert_true(s.n_scripts > 60 && s.n_kernels > 100 && s.n_legal > 200);
    weft_device_free(&s.device);
    weft_library_free(&s.library);
}

/* Append a line of a random script to *script, without the directives of `fuse` and `together`, which leave the planner
 * no choice. open: whether the blocks around it were appended; *depth: their number. */
static void append_line(const char *line, weft_text *script, bool open[16], int *depth) {
    const size_t n = strcspn(line, "\n");
    const bool opens = n > 0 && line[n - 1] == '{', closes = strcmp(line, "}\n") == 0;
    bool appended = true;
    if (opens) {
        assert_true(*depth < 16);
        appended = strncmp(line, "fuse", 4) != 0 && strncmp(line, "together", 8) != 0;
        open[(*depth)++] = appended;
    } else if (closes && *depth > 0) {
        appended = open[--*depth];
    }
    if (appended)
        weft_text_add(script, "%s", line);
}

/* 500 scripts with WEFT_TEST_FULL. */
static void no_shape_of_random_scripts_is_faster(void **state) {
    (void)state;
    weft_error error = {0};
    const int n = getenv("WEFT_TEST_FULL") ? 500 : 20;
    search s = {.random = 77, .n_drawn = 2};
    char command[512], line[4096], name[64] = "";
    bool open[16];
    int depth = 0;
    weft_text script = {0};
    assert_int_equal(weft_fem_library_make(&s.library, &error), WEFT_OK);
    assert_int_equal(weft_device_open("null:h200", NULL, &s.device, &error), WEFT_OK);
    snprintf(command, sizeof command, "\"%s/fuzz_plans\" --count %d --seed 40000 --print",
             getenv("WEFT_BUILD"), n);
    FILE *scripts = popen(command, "r");
    assert_non_null(scripts);
    for (bool more = true; more;) {
        more = fgets(line, sizeof line, scripts);
        if (more && strncmp(line, "----", 4) != 0) {
            append_line(line, &script, open, &depth);
            continue;
        }
        if (script.length > 0)
            check_script(&s, name, script.data, false);
        weft_text_free(&script);
        snprintf(name, sizeof name, "%.60s", line);
    }
    assert_int_equal(pclose(scripts), 0);
    print_message("%d scripts, %d kernels, %d shapes\n", s.n_scripts, s.n_kernels, s.n_legal);
    assert_true(s.n_scripts > n / 4 && s.n_kernels > n && s.n_legal > n);
    weft_device_free(&s.device);
    weft_library_free(&s.library);
}

/* Predicted seconds of a script of the slides by 64 threads per tile. */
static double with_64_threads(const search *s, const char *name, int64_t tiles) {
    char path[512];
    weft_error error = {0};
    weft_compilation *made = NULL;
    snprintf(path, sizeof path, "%s/docs/examples/slides/%s.weft", getenv("WEFT_SOURCE"), name);
    char *text = test_file_read(path, NULL);
    const weft_fragment fragment = {name, text};
    const weft_parameter asked[] = {{"block_tiles", 1}, {"width", 64}, {"serial", 1}};
    const weft_compile_options options = {.size = sizeof options,
                                          .single = true,
                                          .parameters = asked,
                                          .n_parameters = 3,
                                          .elements = tiles};
    assert_int_equal(weft_compile(s->library, weft_device_limits(s->device), &fragment, 1, &options,
                                  &made, &error),
                     WEFT_OK);
    const double seconds = predicted(made);
    weft_compilation_free(&made);
    free(text);
    return seconds;
}

/* Columns of 32 floats are in one bank of shared memory, which serves one at a time: reading a tile takes 1024 clocks
 * instead of 32. On an H200 the transposition takes twice as long as the one that moves each row on. Reductions that add
 * while they load, and in as many threads as have work, take less than half of the first one. */
static void bank_conflicts_and_idle_threads(void **state) {
    (void)state;
    weft_error error = {0};
    char slides[512];
    search s = {.random = 31};
    assert_int_equal(weft_fem_library_make(&s.library, &error), WEFT_OK);
    snprintf(slides, sizeof slides, "%s/docs/examples/slides", getenv("WEFT_SOURCE"));
    assert_int_equal(weft_library_add_directory(s.library, slides, &error), WEFT_OK);
    assert_int_equal(weft_device_open("null:h200", NULL, &s.device, &error), WEFT_OK);
    assert_true(with_64_threads(&s, "transpose_2", 1 << 17) >
                1.5 * with_64_threads(&s, "transpose_3", 1 << 17));
    assert_true(with_64_threads(&s, "reduction_1", 1 << 19) >
                2 * with_64_threads(&s, "reduction_6", 1 << 18));
    weft_device_free(&s.device);
    weft_library_free(&s.library);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_shape_is_faster),
                                       cmocka_unit_test(no_shape_of_random_scripts_is_faster),
                                       cmocka_unit_test(bank_conflicts_and_idle_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
