/** A page for a browser: fusion/explain/html.c writes it, fusion/explain/html_graph.c makes and draws the graph of a segment. Where
 *  its boxes and edges go is said by Graphviz (fusion/explain/html_dot.c), or by fusion/explain/html_layout.c where that is not
 *  there. */
#pragma once

#include "fusion/plan/segment.h"

/* Pixels. Text is set to its width by the SVG, whatever the browser's font. */
enum { REPORT_LETTER = 7, REPORT_LINE = 16, REPORT_MARGIN = 12, REPORT_TITLE = 18 };

/** A call or a list. */
typedef struct report_node {
    double x, y, width, height; /* of its box; width 0: not drawn */
    int band;                   /* the kernel; -1: lists above, n_bands: lists below */
    const char *text;           /* its lines, with newlines between */
} report_node;

typedef struct report_edge {
    int from, to; /* nodes */
    bool accumulates;
    const char *what; /* what goes along it */
    const char *path; /* for the attribute d of an SVG path */
} report_edge;

/** A kernel: a box with a title that has the nodes of this band in it. */
typedef struct report_band {
    double x, y, width, height;
    double title_x, title_y, title_width; /* the upper left corner of the title, REPORT_TITLE
                                             high */
} report_band;

typedef struct report_drawing {
    report_node *nodes;
    report_edge *edges;
    report_band *bands;
    int n_nodes, n_edges, n_bands;
    double width, height;
    weft_arena *arena;
} report_drawing;

/** Text with the characters of markup spelled out. */
void weft_report_text(const char *text, weft_text *out);
/** "hsl(47, 60%, 90%)": the colour of a kernel. */
void weft_report_colour(int kernel, weft_text *out);
/** The graph of one segment as SVG: a box for each kernel with its calls, the lists that it starts from
 *  and those that it leaves. first: the number of its first kernel on the page; layout: may be NULL */
weft_status weft_report_graph(const weft_segment *c, int first, const weft_report_layout *layout,
                              weft_text *out, weft_error *error);

/** Place nodes, bands and edges, whose sizes are given: bands one below the other in their order, nodes
 *  of a band in rows, each below what it uses. Edges between neighbouring rows of a band go straight;
 *  the others go to a lane left of the bands, so that no edge crosses a box or a title.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_report_place(report_drawing *drawing, weft_error *error);
/** The same graph in Graphviz's language: numbers alone, none of the user's names. */
void weft_report_dot_write(const report_drawing *drawing, weft_text *out);
/** Take all places from what `dot -Tjson0` printed; false, and nothing is changed that
 *  weft_report_place does not set, where that is not such an answer. */
bool weft_report_dot_read(report_drawing *drawing, const char *json);
