/* Draws charts as SVG: axes with ticks, curves, bars and their legend. */
#include "chart.h"
#include "core/weft_escape.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 860, HEIGHT = 480, LEFT = 84, RIGHT = 640, TOP = 64, BOTTOM = 400, TICKS = 8 };

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#8c6d31"};
enum { COLOURS = sizeof colours / sizeof *colours };

/* An axis with its range. */
typedef struct axis {
    const paper_chart_axis *about;
    double low, high, step; /* low and high of logarithmic axes: logarithms; step: between ticks */
    double from, to;        /* pixels */
} axis;

static bool is_logarithmic(const axis *a) {
    return a->about->scale != PAPER_CHART_LINEAR;
}

static double transform(const axis *a, double value) {
    return a->about->scale == PAPER_CHART_LOG    ? log10(value)
           : a->about->scale == PAPER_CHART_LOG2 ? log2(value)
                                                 : value;
}

static bool can_show(const axis *a, double value) {
    return isfinite(value) && (!is_logarithmic(a) || value > 0);
}

static double pixel(const axis *a, double value) {
    return a->from + (transform(a, value) - a->low) / (a->high - a->low) * (a->to - a->from);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* The least of 1, 2, 5, 10, ... that is not below x > 0. */
static double round_step(double x) {
    const double power = pow(10, floor(log10(x)));
    const double digits = x / power;
    return power * (digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 5 ? 5 : 10);
}

/* Widen the range to whole steps. */
static void round_range(axis *a, bool from_zero) {
    if (from_zero)
        a->low = 0;
    if (!(a->high > a->low)) {
        a->high += a->high == 0 ? 1 : fabs(a->high) / 2;
        a->low -= from_zero || a->low == 0 ? 0 : fabs(a->low) / 2;
    }
    a->step = is_logarithmic(a) ? ceil((a->high - a->low) / TICKS)
                                : round_step((a->high - a->low) / TICKS);
    /* a value on a tick is one, however it was rounded */
    a->low = floor(a->low / a->step + 1e-9) * a->step;
    a->high = ceil(a->high / a->step - 1e-9) * a->step;
}

static axis axis_of(const paper_chart *chart, bool is_y) {
    axis a = {.about = is_y ? &chart->y : &chart->x,
              .low = INFINITY,
              .high = -INFINITY,
              .from = is_y ? BOTTOM : LEFT,
              .to = is_y ? TOP : RIGHT};
    bool positive = true;
    for (int i = 0; i < chart->n; ++i)
        for (int k = 0; k < chart->curves[i].n; ++k) {
            const double value = (is_y ? chart->curves[i].y : chart->curves[i].x)[k];
            if (!can_show(&a, value))
                continue;
            a.low = fmin(a.low, transform(&a, value));
            a.high = fmax(a.high, transform(&a, value));
            positive = positive && value >= 0;
        }
    if (a.about->n_names > 0) {
        a.low = -0.5;
        a.high = a.about->n_names - 0.5;
    } else if (isfinite(a.low))
        round_range(&a, is_y && positive && !is_logarithmic(&a));
    return a;
}

/* ---- axes ------------------------------------------------------------------------------------ */

static void add_text(weft_text *out, double x, double y, const char *more, const char *text) {
    weft_text_add(out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, more);
    weft_text_add_markup(out, text);
    weft_text_add(out, "</text>\n");
}

/* 1500000 as "1.5M" */
static void print_number(double value, char out[32]) {
    static const struct {
        double unit;
        const char *letter;
    } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}};
    for (int i = 0; i < 4; ++i)
        if (fabs(value) >= units[i].unit) {
            const double unit = i == 3 ? 1e3 : units[i].unit;
            snprintf(out, 32, "%.4g%s", value / unit, units[i].letter);
            return;
        }
    snprintf(out, 32, "%.4g", fabs(value) < 1e-12 ? 0 : value);
}

static void add_tick(const axis *a, bool is_y, double at, const char *label, weft_text *out) {
    if (is_y) {
        weft_text_add(out, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n",
                      LEFT, at, RIGHT, at);
        add_text(out, LEFT - 8, at + 4, " text-anchor=\"end\"", label);
    } else {
        weft_text_add(out, "<line class=\"axis\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n",
                      at, BOTTOM, at, BOTTOM + 5);
        if (a->about->n_names > 8) /* long lists of names are written upwards */
            weft_text_add(out, "<g transform=\"translate(%.1f %d) rotate(-40)\">\n", at + 4,
                          BOTTOM + 18);
        add_text(out, a->about->n_names > 8 ? 0 : at, a->about->n_names > 8 ? 0 : BOTTOM + 20,
                 a->about->n_names > 8 ? " text-anchor=\"end\"" : " text-anchor=\"middle\"", label);
        if (a->about->n_names > 8)
            weft_text_add(out, "</g>\n");
    }
}

static void add_ticks(const axis *a, bool is_y, weft_text *out) {
    const double span = a->high - a->low;
    char label[32];
    for (int i = 0; i < a->about->n_names; ++i)
        add_tick(a, is_y, pixel(a, i), a->about->names[i], out);
    if (a->about->n_names > 0)
        return;
    const int n = (int)lround(span / a->step);
    for (int i = 0; i <= n; ++i) {
        const double at = a->low + i * a->step;
        const double value = a->about->scale == PAPER_CHART_LOG    ? pow(10, at)
                             : a->about->scale == PAPER_CHART_LOG2 ? exp2(at)
                                                                   : at;
        print_number(value, label);
        add_tick(a, is_y, pixel(a, value), label, out);
        /* 2 and 5 between the few decades of a short axis */
        for (int digit = 2; a->about->scale == PAPER_CHART_LOG && span <= 2 && i < n && digit <= 5;
             digit += 3) {
            print_number(value * digit, label);
            add_tick(a, is_y, pixel(a, value * digit), label, out);
        }
    }
}

static void add_axes(const paper_chart *chart, const axis *x, const axis *y, weft_text *out) {
    add_ticks(y, true, out);
    add_ticks(x, false, out);
    weft_text_add(out, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
    add_text(out, (LEFT + RIGHT) / 2.0, HEIGHT - 12, " text-anchor=\"middle\"", chart->x.label);
    weft_text_add(out, "<g transform=\"translate(20 %d) rotate(-90)\">\n", (TOP + BOTTOM) / 2);
    add_text(out, 0, 0, " text-anchor=\"middle\"", chart->y.label);
    weft_text_add(out, "</g>\n");
}

/* ---- curves ---------------------------------------------------------------------------------- */

static void add_line(const paper_chart_curve *c, const char *colour, const axis *x, const axis *y,
                     weft_text *out) {
    bool drawing = false;
    weft_text_add(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"%s d=\"", colour,
                  c->style == PAPER_CHART_DASHES ? " stroke-dasharray=\"7 4\"" : "");
    for (int i = 0; i < c->n; ++i) {
        const bool shown = can_show(x, c->x[i]) && can_show(y, c->y[i]);
        if (shown)
            weft_text_add(out, "%c%.1f %.1f", drawing ? 'L' : 'M', pixel(x, c->x[i]),
                          pixel(y, c->y[i]));
        drawing = shown;
    }
    weft_text_add(out, "\"/>\n");
}

static void add_points(const paper_chart_curve *c, const char *colour, const axis *x, const axis *y,
                       weft_text *out) {
    for (int i = 0; i < c->n; ++i)
        if (can_show(x, c->x[i]) && can_show(y, c->y[i]))
            weft_text_add(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                          pixel(x, c->x[i]), pixel(y, c->y[i]), colour);
}

/* Bars number `place` of `n` beside each other. */
static void add_bars(const paper_chart_curve *c, const char *colour, int place, int n,
                     const axis axes[2], weft_text *out) {
    const axis *x = &axes[0], *y = &axes[1];
    const double wide = 0.8 / n, unit = (x->to - x->from) / (x->high - x->low);
    for (int i = 0; i < c->n; ++i) {
        if (!can_show(x, c->x[i]) || !can_show(y, c->y[i]))
            continue;
        const double top = pixel(y, c->y[i]);
        weft_text_add(out,
                      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                      pixel(x, c->x[i]) + (place * wide - 0.4) * unit, top, wide * unit,
                      BOTTOM - top, colour);
    }
}

static void add_legend(const paper_chart_curve *c, const char *colour, int place, weft_text *out) {
    const double x = RIGHT + 22, y = TOP + 10 + 20.0 * place;
    if (c->style == PAPER_CHART_BARS)
        weft_text_add(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"10\" fill=\"%s\"/>\n",
                      x, y - 5, colour);
    else if (c->style != PAPER_CHART_POINTS)
        weft_text_add(out,
                      "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"%s d=\"M%.1f "
                      "%.1fh22\"/>\n",
                      colour, c->style == PAPER_CHART_DASHES ? " stroke-dasharray=\"7 4\"" : "", x,
                      y);
    if (c->style == PAPER_CHART_POINTS || c->style == PAPER_CHART_LINE_AND_POINTS)
        weft_text_add(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x + 11, y,
                      colour);
    add_text(out, x + 30, y + 4, "", c->name);
}

static void add_curves(const paper_chart *chart, const axis axes[2], weft_text *out) {
    int n_bars = 0, bar = 0;
    for (int i = 0; i < chart->n; ++i)
        n_bars += chart->curves[i].style == PAPER_CHART_BARS;
    for (int i = 0; i < chart->n; ++i) {
        const paper_chart_curve *c = &chart->curves[i];
        const char *colour = colours[i % COLOURS];
        if (c->style == PAPER_CHART_BARS)
            add_bars(c, colour, bar++, n_bars, axes, out);
        else if (c->style != PAPER_CHART_POINTS)
            add_line(c, colour, &axes[0], &axes[1], out);
        if (c->style == PAPER_CHART_POINTS || c->style == PAPER_CHART_LINE_AND_POINTS)
            add_points(c, colour, &axes[0], &axes[1], out);
        add_legend(c, colour, i, out);
    }
}

void paper_chart_add(const paper_chart *chart, weft_text *out) {
    const axis axes[2] = {axis_of(chart, false), axis_of(chart, true)};
    const int rows = TOP + 30 + 20 * chart->n; /* of the legend */
    const int height = rows > HEIGHT ? rows : HEIGHT;
    weft_text_add(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
                  WIDTH, height, WIDTH, height);
    weft_text_add_markup(out, chart->title);
    weft_text_add(out, "</title>\n<style>text{font:13px sans-serif;fill:#222}.axis{stroke:#444;"
                       "fill:none}.grid{stroke:#ddd}</style>\n"
                       "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    add_text(out, LEFT, 24, " font-weight=\"bold\"", chart->title);
    if (chart->note)
        add_text(out, LEFT, 44, "", chart->note);
    if (isfinite(axes[0].low) && isfinite(axes[1].low)) {
        add_axes(chart, &axes[0], &axes[1], out);
        add_curves(chart, axes, out);
    } else
        add_text(out, LEFT, TOP + 40.0, "", "There is nothing to show.");
    weft_text_add(out, "</svg>\n");
}
