/* Writes report.md: the main results of a study as tables. Every number is in results.json too. */
#include "apps/scaling/results.h"
#include "core/weft_escape.h"

#include <math.h>
#include <string.h>

static const char *base_name(const char *name) {
    const char *end = name + strcspn(name, ","), *slash = end;
    while (slash > name && slash[-1] != '/')
        --slash;
    return slash;
}

static void add_text(weft_text *out, const char *text) {
    weft_text_add(out, "| ");
    weft_text_add_markdown(out, text);
    weft_text_add(out, " ");
}

static void add_number(weft_text *out, double value) {
    if (isfinite(value))
        weft_text_add(out, "| %.4g ", value);
    else
        weft_text_add(out, "| ");
}

static void add_count(weft_text *out, double value) {
    if (isfinite(value))
        weft_text_add(out, "| %.10g ", value);
    else
        weft_text_add(out, "| ");
}

static void add_spread(weft_text *out, const app_spread *spread) {
    if (spread->n == 0)
        weft_text_add(out, "| ");
    else
        weft_text_add(out, "| %.4g [%.4g, %.4g] ", spread->median, spread->min, spread->max);
}

/* Write a table head "| a | b |" with its rule; columns marked '>' are right-aligned. */
static void add_head(weft_text *out, const char *const *names, int n) {
    for (int i = 0; i < n; ++i)
        weft_text_add(out, "| %s ", names[i] + (names[i][0] == '>'));
    weft_text_add(out, "|\n");
    for (int i = 0; i < n; ++i)
        weft_text_add(out, names[i][0] == '>' ? "| ---: " : "| --- ");
    weft_text_add(out, "|\n");
}
#define ADD_HEAD(out, ...)                                                                         \
    add_head(out, (const char *const[]){__VA_ARGS__},                                              \
             (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))

/* Add text as inline code; as plain text if it contains a backtick or a newline. */
static void add_code(weft_text *out, const char *text) {
    bool fits = text[0] != '\0', shown = true;
    int length;
    for (const char *c = text; (length = weft_character_length(c, &shown)) > 0; c += length)
        fits = fits && shown && *c != '`';
    if (fits) {
        weft_text_add(out, " `%s`", text);
        return;
    }
    weft_text_add(out, " \"");
    weft_text_add_markdown(out, text);
    weft_text_add(out, "\"");
}

static void add_introduction(weft_text *out, const scaling_results *results) {
    const scaling_options *options = results->options;
    const scaling_cases *cases = results->cases;
    weft_text_add(out, "# Scaling of %s\n\n", scaling_app_at(options->app)->name);
    weft_text_add_markdown(out, cases->machine);
    weft_text_add(out, ", Weft %s, program %.8s. %d run%s a case, after %d that %s not count.\n",
                  WEFT_VERSION, cases->program_hash, options->repeat,
                  options->repeat == 1 ? "" : "s", options->warmup,
                  options->warmup == 1 ? "does" : "do");
    weft_text_add(out, "Options of the app:");
    for (int i = 0; i < cases->arguments.n; ++i)
        add_code(out, cases->arguments.items[i]);
    weft_text_add(out, "%s.\n\n", cases->arguments.n > 0 ? "" : " none");
    if (results->n_missing > 0)
        weft_text_add(out, "**Not complete: %d runs are left.**\n\n", results->n_missing);
    weft_text_add(out,
                  "Times are in seconds: the median [the least, the greatest]. `compute` is "
                  "assembly, preconditioner and solve,\n`process` from the start of the process to "
                  "its end, `order` part of `mesh`. Speed-ups are of `%s`.\nDoF/s is dofs x "
                  "iterations / the median of `solve`. The order of an error is seen against\nthe "
                  "mesh before: log(e0 / e1) / log(h0 / h1), h = cells^(-1/d).\n\n",
                  results->phases[results->basis]);
}

static void add_times(weft_text *out, const scaling_results *results, const char *device) {
    const int solve = scaling_phase_find(results, "solve");
    weft_text_add(out, "## Time on ");
    weft_text_add_markdown(out, device);
    weft_text_add(out, "\n\n");
    ADD_HEAD(out, "mesh", ">dofs", "assembly", ">iterations", results->phases[results->basis],
             solve < 0 ? "process" : "solve", ">DoF/s", ">seconds a dof", ">speed-up",
             ">bytes (process)", ">bytes (device)");
    for (int i = 0; i < results->cases->n_cases; ++i) {
        const scaling_result *r = &results->results[i];
        if (strcmp(r->item->device, device) != 0)
            continue;
        add_text(out, base_name(r->item->level->name));
        add_count(out, r->figures[SCALING_DOFS]);
        add_text(out, r->item->system);
        add_count(out, r->figures[SCALING_ITERATIONS]);
        add_spread(out, &r->phases[results->basis]);
        add_spread(out, &r->phases[solve < 0 ? results->n_phases - 1 : solve]);
        add_number(out, r->figures[SCALING_DOFS_PER_SECOND]);
        add_number(out, r->figures[SCALING_SECONDS_PER_DOF]);
        add_number(out, r->figures[SCALING_SPEED_UP]);
        add_number(out, r->figures[SCALING_BYTES_PEAK]);
        add_number(out, r->figures[SCALING_BYTES_DEVICE]);
        weft_text_add(out, "|\n");
    }
    weft_text_add(out, "\nSpeed-up: against %s on ", results->cases->cases[0].system);
    weft_text_add_markdown(out, results->cases->cases[0].device);
    weft_text_add(out, ".\n\n");
}

static void add_phases(weft_text *out, const scaling_results *results) {
    weft_text_add(out, "## Phases\n\n| mesh | assembly | device ");
    for (int p = 0; p < results->n_phases; ++p)
        weft_text_add(out, "| %s ", results->phases[p]);
    weft_text_add(out, "|\n| --- | --- | --- ");
    for (int p = 0; p < results->n_phases; ++p)
        weft_text_add(out, "| ---: ");
    weft_text_add(out, "|\n");
    for (int i = 0; i < results->cases->n_cases; ++i) {
        const scaling_result *r = &results->results[i];
        add_text(out, base_name(r->item->level->name));
        add_text(out, r->item->system);
        add_text(out, r->item->device);
        for (int p = 0; p < results->n_phases; ++p)
            add_number(out, r->phases[p].median);
        weft_text_add(out, "|\n");
    }
    weft_text_add(out, "\nMedians, in seconds.\n\n");
}

static bool has_figure(const scaling_results *results, scaling_figure figure) {
    for (int i = 0; i < results->cases->n_cases; ++i)
        if (isfinite(results->results[i].figures[figure]))
            return true;
    return false;
}

static void add_errors(weft_text *out, const scaling_results *results) {
    static const scaling_figure figures[] = {SCALING_L2_ERROR, SCALING_L2_ORDER, SCALING_H1_ERROR,
                                             SCALING_H1_ORDER};
    if (!has_figure(results, SCALING_L2_ERROR))
        return;
    weft_text_add(out, "## Errors\n\n");
    ADD_HEAD(out, "mesh", ">cells", "assembly", "device", ">L2 error", ">order",
             ">H1 seminorm error", ">order");
    for (int i = 0; i < results->cases->n_cases; ++i) {
        const scaling_result *r = &results->results[i];
        add_text(out, base_name(r->item->level->name));
        add_count(out, r->figures[SCALING_CELLS]);
        add_text(out, r->item->system);
        add_text(out, r->item->device);
        for (size_t k = 0; k < sizeof figures / sizeof *figures; ++k)
            add_number(out, r->figures[figures[k]]);
        weft_text_add(out, "|\n");
    }
    weft_text_add(out, "\n");
}

static void add_threads(weft_text *out, const scaling_results *results) {
    if (!has_figure(results, SCALING_PARALLEL_SPEED_UP))
        return;
    weft_text_add(out, "## Strong scaling\n\n");
    ADD_HEAD(out, "mesh", "assembly", ">threads", results->phases[results->basis], ">speed-up",
             ">efficiency");
    for (int i = 0; i < results->cases->n_cases; ++i) {
        const scaling_result *r = &results->results[i];
        if (!isfinite(r->figures[SCALING_PARALLEL_SPEED_UP]))
            continue;
        add_text(out, base_name(r->item->level->name));
        add_text(out, r->item->system);
        add_count(out, r->figures[SCALING_THREADS]);
        add_spread(out, &r->phases[results->basis]);
        add_number(out, r->figures[SCALING_PARALLEL_SPEED_UP]);
        add_number(out, r->figures[SCALING_PARALLEL_EFFICIENCY]);
        weft_text_add(out, "|\n");
    }
    weft_text_add(out, "\nAgainst the fewest threads of the same mesh and assembly.\n\n");
}

static void add_failures(weft_text *out, const scaling_results *results) {
    bool any = false;
    for (int i = 0; i < results->cases->n_cases; ++i) {
        const scaling_result *r = &results->results[i];
        if (!scaling_result_failed(results, r))
            continue;
        weft_text_add(out, any ? "" : "## What failed\n\n");
        any = true;
        weft_text_add(out, "- ");
        weft_text_add_markdown(out, r->item->name);
        weft_text_add(out, ": ");
        weft_text_add_markdown(out, r->error ? r->error : r->outcome);
        weft_text_add(out, "\n");
    }
    weft_text_add(out, any ? "\n" : "");
}

weft_status scaling_report_write(const char *folder, const scaling_results *results,
                                 const scaling_plots *plots, weft_error *error) {
    weft_text text = {0};
    add_introduction(&text, results);
    for (int k = 0; k < results->cases->devices.n; ++k)
        add_times(&text, results, results->cases->devices.items[k]);
    add_threads(&text, results);
    add_errors(&text, results);
    add_phases(&text, results);
    add_failures(&text, results);
    weft_text_add(&text, "## Plots\n\n");
    for (int i = 0; i < plots->n && plots->drawn; ++i)
        weft_text_add(&text, "![%s](%s.svg)\n\n", plots->titles[i], plots->names[i]);
    if (!plots->drawn)
        weft_text_add(&text, "`gnuplot plots.gp` in this folder draws them.\n");
    return app_folder_write(folder, "report.md", &text, error);
}
