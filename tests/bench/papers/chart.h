/** Charts as SVG. In: curves or bars over axes with labels. Out: SVG text that needs no other program to
 *  be drawn, on white, in colours that differ without red and green. */
#pragma once

#include "core/weft_core.h"

typedef enum paper_chart_scale {
    PAPER_CHART_LINEAR,
    PAPER_CHART_LOG,
    PAPER_CHART_LOG2
} paper_chart_scale;

typedef struct paper_chart_axis {
    const char *label; /* with its unit */
    paper_chart_scale scale;
    /* names of the places 0, 1, ..., n_names - 1, instead of numbers; n_names 0: numbers */
    const char *const *names;
    int n_names;
} paper_chart_axis;

typedef enum paper_chart_style {
    PAPER_CHART_LINE,
    PAPER_CHART_POINTS,
    PAPER_CHART_LINE_AND_POINTS,
    PAPER_CHART_DASHES,
    PAPER_CHART_BARS /* of all curves in this style side by side, over named places */
} paper_chart_style;

typedef struct paper_chart_curve {
    const char *name;
    paper_chart_style style;
    const double *x,
        *y; /* [n]; a point that is not finite, or not positive on a logarithmic axis, is left out */
    int n;
} paper_chart_curve;

enum { PAPER_CHART_CURVES = 32 };

typedef struct paper_chart {
    const char *title, *note; /* note: a second line, such as the device; NULL: none */
    paper_chart_axis x, y;    /* a linear y axis begins at 0 where all values are positive */
    paper_chart_curve curves[PAPER_CHART_CURVES];
    int n;
} paper_chart;

/** Append a chart. Names and labels may be any text. A chart without any point says so. */
void paper_chart_add(const paper_chart *chart, weft_text *out);
