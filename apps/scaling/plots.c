/* Writes plots.gp, a gnuplot 5 script that holds its data and draws each plot as SVG and PNG. */
#include "apps/scaling/results.h"
#include "core/weft_escape.h"

#include <math.h>
#include <string.h>

/* Write the data of one curve: the cases of one device and assembly by level. Columns: 1 dofs,
 * 2 cells; 3 to 5 median, minimum and maximum of the basis phase; 6 seconds per dof, 7 speed-up,
 * 8 and 9 errors; then the medians of the phases, and the iterations. */
enum { FIRST_PHASE = 10 };

static int iterations_column(const scaling_results *results) {
    return FIRST_PHASE + results->n_phases;
}

static void add_value(weft_text *out, double value) {
    if (isfinite(value))
        weft_text_add(out, " %.9g", value);
    else
        weft_text_add(out, " NaN");
}

static void add_row(weft_text *out, const scaling_results *results, const scaling_result *r) {
    const app_spread *basis = &r->phases[results->basis];
    const double values[] = {r->figures[SCALING_DOFS],
                             r->figures[SCALING_CELLS],
                             basis->median,
                             basis->min,
                             basis->max,
                             r->figures[SCALING_SECONDS_PER_DOF],
                             r->figures[SCALING_SPEED_UP],
                             r->figures[SCALING_L2_ERROR],
                             r->figures[SCALING_H1_ERROR]};
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i)
        add_value(out, values[i]);
    for (int p = 0; p < results->n_phases; ++p)
        add_value(out, r->phases[p].median);
    add_value(out, r->figures[SCALING_ITERATIONS]);
    weft_text_add(out, "\n");
}

static int per_level(const scaling_results *results) {
    return results->cases->n_cases / results->cases->n_levels;
}

static void add_curves(weft_text *out, const scaling_results *results) {
    const int n = per_level(results);
    for (int k = 0; k < n; ++k) {
        weft_text_add(out, "$curve_%d << END\n", k);
        for (int l = 0; l < results->cases->n_levels; ++l)
            add_row(out, results, &results->results[l * n + k]);
        weft_text_add(out, "END\n");
    }
}

static void add_title(weft_text *out, const scaling_case *item) {
    char title[200];
    snprintf(title, sizeof title, "%.40s, %.100s", item->system, item->device);
    weft_text_add(out, " title ");
    weft_text_add_gnuplot(out, title);
}

/* Is there a positive value to draw? gnuplot aborts a script at an empty plot. */
static bool any_positive(const scaling_results *results, int curve,
                         double (*value)(const scaling_results *, const scaling_result *, int),
                         int what) {
    const int n = per_level(results);
    for (int i = 0; i < results->cases->n_cases; ++i)
        if ((curve < 0 || i % n == curve) && value(results, &results->results[i], what) > 0)
            return true;
    return false;
}

static double value_figure(const scaling_results *results, const scaling_result *r, int figure) {
    (void)results;
    return r->figures[figure];
}

static double value_phase(const scaling_results *results, const scaling_result *r, int phase) {
    (void)results;
    return r->phases[phase].n > 0 ? r->phases[phase].median : NAN;
}

typedef struct sheet {
    weft_text *text;
    const scaling_results *results;
    scaling_plots *plots;
    const char *kind; /* "svg" or "png" */
} sheet;

static void begin(const sheet *out, const char *name, const char *title, int width, int height) {
    scaling_plots *plots = out->plots;
    if (strcmp(out->kind, "svg") == 0) {
        plots->names[plots->n] = name;
        plots->titles[plots->n++] = title;
    }
    weft_text_add(out->text, "\n");
    app_gnuplot_terminal(out->text, out->kind, "", width, height);
    app_gnuplot_output(out->text, name, out->kind);
}

/* Plot one column of every curve over the dofs. */
static void add_plot(weft_text *out, const scaling_results *results, const char *using,
                     const char *style, const char *more) {
    const int n = per_level(results);
    weft_text_add(out, "plot");
    for (int k = 0; k < n; ++k) {
        weft_text_add(out, "%s $curve_%d using %s with %s", k ? ", \\\n    " : "", k, using, style);
        add_title(out, &results->cases->cases[k]);
    }
    weft_text_add(out, "%s\nunset output\n", more);
}

static void add_label(weft_text *out, const char *format, ...) WEFT_PRINTF(2, 3);

static void add_label(weft_text *out, const char *format, ...) {
    char label[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(label, sizeof label, format, arguments);
    va_end(arguments);
    weft_text_add(out, "set ylabel ");
    weft_text_add_gnuplot(out, label);
    weft_text_add(out, "\n");
}

static void add_times(const sheet *out) {
    const scaling_results *results = out->results;
    const char *basis = results->phases[results->basis];
    if (!any_positive(results, -1, value_phase, results->basis))
        return;
    begin(out, "time", "Time against dofs", 900, 600);
    weft_text_add(out->text, "set logscale xy\nset format '%%.0e'\nset xlabel 'dofs'\n");
    add_label(out->text, "%s, s", basis);
    add_plot(out->text, results, "1:3:4:5", "yerrorlines", "");
    begin(out, "time_per_dof", "Time per dof against dofs", 900, 600);
    add_label(out->text, "%s a dof, s", basis);
    add_plot(out->text, results, "1:6", "linespoints", "");
    begin(out, "speed_up", "Speed-up against dofs", 900, 600);
    weft_text_add(out->text, "unset logscale y\nset format y '%%g'\nset yrange [0:*]\n");
    add_label(out->text, "speed-up against %s, %s", results->cases->cases[0].system,
              results->cases->cases[0].device);
    add_plot(out->text, results, "1:7", "linespoints", "");
    weft_text_add(out->text, "set logscale y\nset format y '%%.0e'\nset yrange [*:*]\n");
}

static void add_iterations(const sheet *out) {
    char using[16];
    if (!any_positive(out->results, -1, value_figure, SCALING_ITERATIONS))
        return;
    begin(out, "iterations", "Iterations against dofs", 900, 600);
    weft_text_add(out->text, "set format y '%%g'\nset ylabel 'iterations'\n");
    snprintf(using, sizeof using, "1:%d", iterations_column(out->results));
    add_plot(out->text, out->results, using, "linespoints", "");
    weft_text_add(out->text, "set format y '%%.0e'\n");
}

/* Plot one panel per curve with one line per phase. */
static void add_phases(const sheet *out) {
    const scaling_results *results = out->results;
    const int n = per_level(results), columns = n < 3 ? n : 3, rows = (n + columns - 1) / columns;
    begin(out, "phases", "Time of each phase against dofs", 450 * columns, 380 * rows);
    weft_text_add(out->text, "set multiplot layout %d,%d\nset ylabel 's'\n", rows, columns);
    for (int k = 0; k < n; ++k) {
        const scaling_case *item = &results->cases->cases[k];
        bool any = false;
        if (!any_positive(results, k, value_phase, results->n_phases - 1))
            continue;
        weft_text_add(out->text, "set title ");
        weft_text_add_gnuplot(out->text, item->name + strlen(item->level->name) + strlen(" | "));
        weft_text_add(out->text, "\nplot");
        for (int p = 0; p < results->n_phases; ++p) {
            if (!any_positive(results, k, value_phase, p))
                continue;
            weft_text_add(out->text,
                          "%s $curve_%d using 1:($%d > 0 ? $%d : NaN) with linespoints title ",
                          any ? ", \\\n    " : "", k, FIRST_PHASE + p, FIRST_PHASE + p);
            weft_text_add_gnuplot(out->text, results->phases[p]);
            any = true;
        }
        weft_text_add(out->text, "\n");
    }
    weft_text_add(out->text, "unset multiplot\nunset output\nunset title\n");
}

/* Add a reference line of order 2 through the first point: e = e0 (h / h0)^2, h = cells^(-1/d). */
static void add_errors(const sheet *out) {
    const scaling_result *first = &out->results->results[0];
    char line[200] = "";
    if (!any_positive(out->results, -1, value_figure, SCALING_L2_ERROR))
        return;
    if (first->figures[SCALING_L2_ERROR] > 0)
        snprintf(line, sizeof line,
                 ", \\\n     %.9g * (x / %.9g) ** (-2.0 / %.0f) title 'order 2' lc rgb 'gray'",
                 first->figures[SCALING_L2_ERROR], first->figures[SCALING_CELLS],
                 first->figures[SCALING_DIMENSION]);
    begin(out, "error", "Error in L2 against cells", 900, 600);
    weft_text_add(out->text, "set xlabel 'cells'\nset ylabel 'error in L2'\n");
    add_plot(out->text, out->results, "2:8", "linespoints", line);
}

/* Is this the first case of its speed-up curve (one curve per mesh and assembly)? */
static bool starts_threads(const scaling_results *results, int i) {
    const scaling_result *r = &results->results[i];
    if (!isfinite(r->figures[SCALING_PARALLEL_SPEED_UP]))
        return false;
    for (int k = 0; k < i; ++k)
        if (results->results[k].item->level == r->item->level &&
            strcmp(results->results[k].item->system, r->item->system) == 0 &&
            isfinite(results->results[k].figures[SCALING_PARALLEL_SPEED_UP]))
            return false;
    return true;
}

static void add_threads_curves(weft_text *out, const scaling_results *results) {
    for (int i = 0; i < results->cases->n_cases; ++i) {
        const scaling_result *r = &results->results[i];
        if (!starts_threads(results, i))
            continue;
        weft_text_add(out, "$threads_%d << END\n", i);
        for (int k = i; k < results->cases->n_cases; ++k) {
            const scaling_result *other = &results->results[k];
            if (other->item->level == r->item->level &&
                strcmp(other->item->system, r->item->system) == 0 &&
                isfinite(other->figures[SCALING_PARALLEL_SPEED_UP]))
                weft_text_add(out, "%.0f %.9g\n", other->figures[SCALING_THREADS],
                              other->figures[SCALING_PARALLEL_SPEED_UP]);
        }
        weft_text_add(out, "END\n");
    }
}

static void add_threads(const sheet *out) {
    bool any = false;
    for (int i = 0; i < out->results->cases->n_cases; ++i) {
        const scaling_case *item = out->results->results[i].item;
        char title[200];
        if (!starts_threads(out->results, i))
            continue;
        if (!any) {
            begin(out, "threads", "Speed-up against threads", 900, 600);
            weft_text_add(
                out->text,
                "unset logscale\nset format '%%g'\nset xlabel 'threads'\nset ylabel 'speed-up'\n"
                "plot");
        }
        any = true;
        snprintf(title, sizeof title, "%.120s, %.40s", item->level->name, item->system);
        weft_text_add(out->text, " $threads_%d using 1:2 with linespoints title ", i);
        weft_text_add_gnuplot(out->text, title);
        weft_text_add(out->text, ", \\\n    ");
    }
    if (any)
        weft_text_add(out->text, " x title 'ideal' lc rgb 'gray'\nunset output\n");
}

weft_status scaling_plots_write(const char *folder, const scaling_results *results,
                                scaling_plots *plots, weft_error *error) {
    static const char *const kinds[] = {"svg", "png"};
    weft_text text = {0};
    *plots = (scaling_plots){0};
    weft_text_add(&text, "# gnuplot plots.gp draws each plot as SVG and as PNG into this folder\n"
                         "set encoding utf8\n");
    add_curves(&text, results);
    add_threads_curves(&text, results);
    for (int k = 0; k < 2; ++k) {
        const sheet out = {&text, results, plots, kinds[k]};
        weft_text_add(&text, "\nreset\nset datafile missing 'NaN'\nset key outside below\n"
                             "set grid\n");
        add_times(&out);
        add_iterations(&out);
        add_phases(&out);
        add_errors(&out);
        add_threads(&out);
    }
    return app_folder_write(folder, "plots.gp", &text, error);
}

weft_status scaling_plots_draw(const char *folder, const weft_monitor *monitor,
                               scaling_plots *plots, int *stopped, weft_error *error) {
    return app_gnuplot_run(folder, "plots.gp", monitor, &plots->drawn, stopped, error);
}
