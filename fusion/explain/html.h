/** The HTML report. In: segments with plans. Out: SVG drawings and HTML text.
 *
 *      html.c         writes the page
 *      html_graph.c   makes and draws the graph of a segment
 *      html_dot.c     layout by Graphviz
 *      html_layout.c  built-in layout, if Graphviz is not available */
#pragma once

#include "fusion/plan/segment.h"

/* In pixels. The SVG stretches text to this width, whatever the browser's font. */
enum { REPORT_LETTER = 7, REPORT_LINE = 16, REPORT_MARGIN = 12, REPORT_TITLE = 18 };

/** A call or a list. */
typedef struct report_node {
    double x, y, width, height; /* its box; width 0: not drawn */
    int band;                   /* its kernel; -1: lists above, n_bands: lists below */
    const char *text;           /* its lines, separated by newlines */
} report_node;

typedef struct report_edge {
    int from, to; /* nodes */
    bool accumulates;
    const char *what; /* description of the data on it */
    const char *path; /* for the attribute d of an SVG path */
} report_edge;

/** A kernel: a titled box around the nodes of this band. */
typedef struct report_band {
    double x, y, width, height;
    /* the upper left corner of the title, REPORT_TITLE high */
    double title_x, title_y, title_width;
} report_band;

typedef struct report_drawing {
    report_node *nodes;
    report_edge *edges;
    report_band *bands;
    int n_nodes, n_edges, n_bands;
    double width, height;
    weft_arena *arena;
} report_drawing;

/** Text with markup characters escaped. */
void weft_report_text(const char *text, weft_text *out);
/** "hsl(47, 60%, 90%)": the colour of a kernel. */
void weft_report_colour(int kernel, weft_text *out);
/** The graph of one segment as SVG: a box for each kernel with its calls, the input lists above and
 *  the resulting lists below.
 *  first   number of its first kernel on the page
 *  layout  NULL: the built-in layout */
weft_status weft_report_graph(const weft_segment *c, int first, const weft_report_layout *layout,
                              weft_text *out, weft_error *error);

/** Built-in layout of nodes, bands and edges with given sizes. Bands are one below the other, in
 *  order. The nodes of a band are in rows, each below those that it uses. Edges between adjacent
 *  rows of a band are direct; the others use a lane left of the bands, so that no edge crosses a
 *  box or a title.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_report_place(report_drawing *drawing, weft_error *error);
/** The graph in Graphviz's language, with numbers instead of the script's names. */
void weft_report_dot_write(const report_drawing *drawing, weft_text *out);
/** Take the layout from the output of `dot -Tjson0`. Returns false if it is not valid; then only
 *  members that weft_report_place sets may have changed. */
bool weft_report_dot_read(report_drawing *drawing, const char *json);
