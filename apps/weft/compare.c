/* weft compare: compares the run times of two scaling studies by a rank test.
 *
 * Decision  docs/decisions/0054-studies-compare-fresh-processes.md */
#include "apps/common/statistics.h"
#include "apps/weft/tool.h"
#include "core/base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Show what became faster or slower from one study of scaling to another."
    "\v"
    "For each mesh, assembly and device that both studies have, and for each phase, the times of "
    "A's runs are compared with B's. A phase counts as slower if the medians differ by more than "
    "the threshold, and if the ranks of the runs differ significantly: the p-value of the exact "
    "two-sided Mann-Whitney test is P or less. With 5 runs each and the default P this means that "
    "every run of B is slower than every run of A. With fewer than 5 and 5 runs (or 4 and 6, 3 and "
    "9) no difference can be significant, and the comparison says so.\n"
    "\n"
    "Exit status: 0 nothing became slower, 1 something became slower or fails now, 2 wrong usage, "
    "or the files are not results, or they have no case in common.\n"
    "\n"
    "Example:\n"
    "  weft compare before/results.json after/results.json";

typedef struct comparison {
    double threshold, chance; /* per cent; a probability */
    bool all;
    const char *paths[2]; /* borrowed from argv */
    int n_paths;
    json_t *roots[2], *cases[2];
    int n_cases, n_compared, n_slower, n_faster, n_alike, n_few, n_broken;
} comparison;

static const app_option table[] = {
    {"threshold", "PERCENT", "Differences of medians below this are ignored (default 5)", 't',
     APP_NUMBER(comparison, threshold, 0, 1e6)},
    {"chance", "P", "Largest p-value of a significant difference (default 0.01)", 'p',
     APP_NUMBER(comparison, chance, 0, 1)},
    {"all", NULL, "Also print unchanged times", 'a', APP_FLAG(comparison, all, true)},
    {0}};

static weft_status read_path(void *user, const char *text, weft_error *error) {
    comparison *out = user;
    if (out->n_paths < 2) {
        out->paths[out->n_paths++] = text;
        return WEFT_OK;
    }
    weft_error_set(error, WEFT_ERROR_USAGE, "unexpected argument '%.200s'", text);
    weft_error_hint(error, "two files are compared");
    return WEFT_ERROR_USAGE;
}

static weft_status read_options(int argc, char **argv, comparison *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_command_line line = {.arguments = "A.json B.json",
                                   .doc = doc,
                                   .tables = {{table, out}},
                                   .argument = read_path,
                                   .user = out};
    TRY(app_command_line_read(&line, argc, argv, error));
    if (out->n_paths < 2) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "two files are compared, %d %s given",
                                out->n_paths, out->n_paths == 1 ? "is" : "are");
        weft_error_hint(error, "write weft compare A/results.json B/results.json");
    }
done:
    return status;
}

static weft_status refuse_file(const char *path, int line, const char *why, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT, "%s", why);
    weft_error_location(error, path, NULL, line, 0);
    weft_error_hint(error, "give the results.json of a study of scaling");
    return WEFT_ERROR_INPUT;
}

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

/* Check names, and that times are lists of numbers. */
static bool is_case(const json_t *item) {
    const json_t *seconds = json_object_get(item, "seconds");
    bool fine = text_of(item, "mesh") && text_of(item, "assembly") && text_of(item, "device") &&
                json_is_object(seconds);
    const char *name;
    json_t *phase;
    if (fine)
        json_object_foreach((json_t *)(uintptr_t)seconds, name, phase) {
            const json_t *values = json_object_get(phase, "values");
            fine = fine && json_is_array(values);
            for (size_t i = 0; fine && i < json_array_size(values); ++i)
                fine = json_is_number(json_array_get(values, i));
        }
    return fine;
}

static weft_status read_file(comparison *out, int side, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *path = out->paths[side];
    char *text = NULL;
    json_error_t place;
    TRY(weft_file_read_as(path, WEFT_FILE_JSON, &text, NULL, error));
    out->roots[side] = json_loads(text, 0, &place);
    if (!out->roots[side])
        TRY(refuse_file(path, place.line, "this is not JSON", error));
    out->cases[side] = json_object_get(out->roots[side], "cases");
    if (!json_is_integer(json_object_get(out->roots[side], "weft_scaling")) ||
        !json_is_array(out->cases[side]))
        TRY(refuse_file(path, 0, "these are not results of scaling", error));
    for (size_t i = 0; i < json_array_size(out->cases[side]); ++i)
        if (!is_case(json_array_get(out->cases[side], i)))
            TRY(refuse_file(path, 0, "a case lacks its mesh, assembly, device or seconds", error));
done:
    free(text);
    return status;
}

static bool is_same(const json_t *a, const json_t *b) {
    return strcmp(text_of(a, "mesh"), text_of(b, "mesh")) == 0 &&
           strcmp(text_of(a, "assembly"), text_of(b, "assembly")) == 0 &&
           strcmp(text_of(a, "device"), text_of(b, "device")) == 0;
}

static const json_t *find_case(const json_t *cases, const json_t *wanted) {
    for (size_t i = 0; i < json_array_size(cases); ++i)
        if (is_same(json_array_get(cases, i), wanted))
            return json_array_get(cases, i);
    return NULL;
}

static void print_case(const char *verdict, const json_t *item) {
    printf("%-8s %s | %s | %s", verdict, text_of(item, "mesh"), text_of(item, "assembly"),
           text_of(item, "device"));
}

static int read_values(const json_t *phase, double values[APP_RANKS_MAX]) {
    const json_t *list = json_object_get(phase, "values");
    int n = 0;
    for (size_t i = 0; i < json_array_size(list) && n < APP_RANKS_MAX; ++i)
        values[n++] = json_number_value(json_array_get(list, i));
    return n;
}

/* The smallest p possible for these numbers of runs: all of one side before all of the other. */
static double least_chance(int n_a, int n_b) {
    double a[APP_RANKS_MAX] = {0}, b[APP_RANKS_MAX];
    for (int i = 0; i < APP_RANKS_MAX; ++i)
        b[i] = 1;
    return app_rank_test(a, n_a, b, n_b);
}

static void compare_phase(comparison *out, const json_t *item, const char *phase, const json_t *a,
                          const json_t *b) {
    double before[APP_RANKS_MAX], after[APP_RANKS_MAX];
    const int n_a = read_values(a, before), n_b = read_values(b, after);
    const app_spread old = app_spread_of(before, n_a), new = app_spread_of(after, n_b);
    if (n_a == 0 || n_b == 0 || (old.max == 0 && new.max == 0))
        return; /* this run does not have the phase */
    const double p = app_rank_test(before, n_a, after, n_b);
    const bool apart = fabs(new.median - old.median) > out->threshold / 100 * old.median;
    const bool few = apart && least_chance(n_a, n_b) > out->chance;
    const bool changed = apart && !few && p <= out->chance, slower = new.median > old.median;
    const char *verdict = changed ? (slower ? "slower" : "faster") : few ? "too few" : "alike";
    char texts[6][32];
    ++out->n_compared;
    ++*(changed ? (slower ? &out->n_slower : &out->n_faster) : few ? &out->n_few : &out->n_alike);
    if (!changed && !out->all)
        return;
    print_case(verdict, item);
    printf("  %s %s [%s, %s] -> %s [%s, %s]", phase, app_print_seconds(old.median, texts[0]),
           app_print_seconds(old.min, texts[1]), app_print_seconds(old.max, texts[2]),
           app_print_seconds(new.median, texts[3]), app_print_seconds(new.min, texts[4]),
           app_print_seconds(new.max, texts[5]));
    if (old.median > 0)
        printf(", %+.1f %%", 100 * (new.median / old.median - 1));
    printf(", p %.2g\n", p);
}

/* Compare deterministic figures, which have no spread. */
static void compare_figures(comparison *out, const json_t *a, const json_t *b) {
    static const char *const names[] = {"cells", "dofs", "iterations", "outcome"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const json_t *old = json_object_get(a, names[i]), *new = json_object_get(b, names[i]);
        if (!old || !new || json_equal(old, new))
            continue;
        char *texts[2] = {json_dumps(old, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)),
                          json_dumps(new, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6))};
        print_case("differs", a);
        printf("  %s %s -> %s\n", names[i], texts[0] ? texts[0] : "", texts[1] ? texts[1] : "");
        free(texts[0]);
        free(texts[1]);
    }
    if (!text_of(a, "error") && text_of(b, "error")) {
        ++out->n_broken;
        print_case("fails", b);
        printf("  %s\n", text_of(b, "error"));
    }
}

static void compare_cases(comparison *out) {
    for (size_t i = 0; i < json_array_size(out->cases[0]); ++i) {
        const json_t *a = json_array_get(out->cases[0], i), *b = find_case(out->cases[1], a);
        if (!b)
            continue;
        ++out->n_cases;
        compare_figures(out, a, b);
        const char *phase;
        json_t *old;
        json_object_foreach(json_object_get(a, "seconds"), phase, old) compare_phase(
            out, a, phase, old, json_object_get(json_object_get(b, "seconds"), phase));
    }
    for (int side = 0; side < 2; ++side)
        for (size_t i = 0; i < json_array_size(out->cases[side]); ++i) {
            const json_t *item = json_array_get(out->cases[side], i);
            if (find_case(out->cases[!side], item))
                continue;
            print_case(side == 0 ? "only A" : "only B", item);
            printf("\n");
        }
}

static void print_sides(const comparison *out) {
    static const char *const keys[] = {"app", "version", "machine"};
    for (int side = 0; side < 2; ++side) {
        const json_t *question = json_object_get(out->roots[side], "question");
        printf("%c        %s:", 'A' + side, out->paths[side]);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
            printf("%s %s", i ? "," : "",
                   text_of(question, keys[i]) ? text_of(question, keys[i]) : "?");
        printf("%s\n", json_is_false(json_object_get(out->roots[side], "complete"))
                           ? ", not complete"
                           : "");
    }
}

weft_status weft_tool_compare(int argc, char **argv, const weft_monitor *monitor, int *code,
                              weft_error *error) {
    (void)monitor;
    weft_status status = WEFT_OK;
    comparison run = {.threshold = 5, .chance = 0.01};
    TRY(read_options(argc, argv, &run, error));
    TRY(read_file(&run, 0, error));
    TRY(read_file(&run, 1, error));
    print_sides(&run);
    compare_cases(&run);
    if (run.n_cases == 0)
        TRY(weft_error_refuse(error, WEFT_ERROR_INPUT, "the two have no case in common",
                              "compare studies with the same meshes, assemblies and devices"));
    printf("%d cases, %d times: %d slower, %d faster, %d alike", run.n_cases, run.n_compared,
           run.n_slower, run.n_faster, run.n_alike);
    if (run.n_few > 0)
        printf(", %d of too few runs to tell", run.n_few);
    printf("\n");
    *code = run.n_slower > 0 || run.n_broken > 0;
done:
    json_decref(run.roots[0]);
    json_decref(run.roots[1]);
    return status;
}
