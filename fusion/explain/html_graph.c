/* Makes the graph of a segment for the report (calls, lists, data between them, kernels), places it
 * and draws it as SVG. */
#include "fusion/base/array.h"
#include "fusion/explain/html.h"
#include "fusion/graph/print.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE_MOST = 40,   /* letters of a line in a box */
    EDGES_MOST = 3000 /* beyond this Graphviz takes too long */
};

/* ---- nodes and edges ---- */

typedef struct graph_report {
    const weft_graph *graph;
    const weft_plan *plan;
    report_drawing d; /* nodes: the calls, then the lists */
} graph_report;

static bool is_given(const weft_value *value) {
    return value->is_input && value->storage < 0;
}

/* Is a list drawn below the kernels? Accumulated, returned and updated lists are. */
static bool is_left(const weft_graph *graph, const weft_value *value) {
    bool accumulated = false;
    for (int i = 0; i < graph->n_accumulations; ++i)
        accumulated |= graph->accumulations[i].target == value->id;
    return accumulated || value->returned || value->storage >= 0;
}

/* Break at blanks into lines of at most LINE_MOST letters, or of one longer word. */
static int break_lines(char *text) {
    int n_lines = 1;
    char *start = text, *blank = NULL;
    for (char *c = text; *c; ++c) {
        if (*c == ' ')
            blank = c;
        if (c - start < LINE_MOST || !blank)
            continue;
        *blank = '\n';
        start = blank + 1;
        blank = NULL;
        ++n_lines;
    }
    return n_lines;
}

static int longest_line(const char *text) {
    int most = 0;
    while (*text) {
        const int length = (int)strcspn(text, "\n");
        most = length > most ? length : most;
        text += length + (text[length] == '\n');
    }
    return most;
}

/* Takes ownership of the text. */
static weft_status set_node(graph_report *p, int node, int band, int margin, weft_text *text,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    char *copy =
        text->failed || !text->data ? NULL : weft_arena_copy(p->d.arena, text->data, text->length);
    if (!copy) {
        status = weft_no_memory(error);
    } else {
        const int n_lines = break_lines(copy);
        p->d.nodes[node] = (report_node){.band = band,
                                         .text = copy,
                                         .width = longest_line(copy) * REPORT_LETTER + 2 * margin,
                                         .height = n_lines * REPORT_LINE + 8};
    }
    weft_text_free(text);
    return status;
}

static weft_status set_nodes(graph_report *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    for (int k = 0; k < p->plan->n_kernels; ++k) {
        const weft_implementation *one = p->plan->kernels[k].implementation;
        for (int i = 0; one && i < one->fusion->n_calls; ++i) {
            const weft_call *call = &graph->calls[one->order[i]];
            weft_text text = {0};
            weft_print_name(graph, call->result, &text);
            weft_text_add(&text, " = ");
            weft_print_call(graph, call, &text);
            TRY(set_node(p, call->id, k, 7, &text, error));
        }
    }
    for (int i = 0; i < graph->n_values; ++i) {
        const weft_value *value = &graph->values[i];
        weft_text text = {0};
        if (!weft_print_is_live(graph, value) || !(is_given(value) || is_left(graph, value)))
            continue;
        weft_text_add(&text, "%s", value->name);
        TRY(set_node(p, graph->n_calls + i, is_given(value) ? -1 : p->plan->n_kernels, 12, &text,
                     error));
    }
done:
    return status;
}

/* Add an edge, unless it exists or one of its nodes is not drawn. Takes ownership of the text. */
static weft_status add_edge(graph_report *p, int from, int to, bool accumulates, weft_text *what,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    report_drawing *d = &p->d;
    bool drawn = d->nodes[from].width > 0 && d->nodes[to].width > 0 && from != to;
    const report_edge edge = {from, to, accumulates,
                              weft_arena_copy(d->arena, what->data ? what->data : "", what->length),
                              NULL};
    if (what->failed || !edge.what)
        status = weft_no_memory(error);
    for (int i = 0; drawn && i < d->n_edges; ++i)
        drawn = d->edges[i].from != from || d->edges[i].to != to ||
                strcmp(d->edges[i].what, edge.what ? edge.what : "") != 0;
    if (status == WEFT_OK && drawn)
        status = WEFT_APPEND(d->arena, d->edges, d->n_edges, edge, error);
    weft_text_free(what);
    return status;
}

static weft_status add_operand(graph_report *p, const weft_call *call, const weft_operand *operand,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    const weft_value *value = &graph->values[operand->value];
    const bool summed = value->kind == VALUE_ACCUMULATED;
    for (int a = -1; a < graph->n_accumulations; ++a) {
        weft_text what = {0};
        if (a < 0 ? summed : graph->accumulations[a].target != value->id)
            continue;
        weft_print_operand(graph, operand, &what);
        weft_text_add(&what, " ");
        weft_shape_print(&operand->shape, &what);
        const int from = a >= 0                 ? graph->accumulations[a].call
                         : value->producer >= 0 ? value->producer
                                                : graph->n_calls + value->id;
        TRY(add_edge(p, from, call->id, a >= 0, &what, error));
    }
done:
    return status;
}

static weft_status add_edges(graph_report *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    for (int i = 0; i < graph->n_calls; ++i)
        for (int k = 0; k < graph->calls[i].n_operands; ++k)
            TRY(add_operand(p, &graph->calls[i], &graph->calls[i].operands[k], error));
    for (int i = 0; i < graph->n_values; ++i) {
        const weft_value *value = &graph->values[i];
        weft_text what = {0};
        if (is_given(value) || value->producer < 0)
            continue;
        weft_text_add(&what, "%s", value->name);
        TRY(add_edge(p, value->producer, graph->n_calls + i, false, &what, error));
    }
    for (int a = 0; a < graph->n_accumulations; ++a) {
        const weft_accumulation *one = &graph->accumulations[a];
        weft_text what = {0};
        if (graph->values[one->target].is_input)
            continue;
        weft_text_add(&what, "%s", graph->values[one->target].name);
        TRY(add_edge(p, one->call, graph->n_calls + one->target, true, &what, error));
    }
done:
    return status;
}

static void add_title(const graph_report *p, int band, weft_text *out) {
    const weft_plan_kernel *kernel = &p->plan->kernels[band];
    weft_text_add(out, "%s, over %s", kernel->name,
                  weft_index_set_name(p->graph, kernel->index_set));
}

static weft_status make(graph_report *p, weft_error *error) {
    weft_status status = WEFT_OK;
    report_drawing *d = &p->d;
    d->n_nodes = p->graph->n_calls + p->graph->n_values;
    d->n_bands = p->plan->n_kernels;
    TRY(WEFT_ALLOC(d->arena, d->nodes, (size_t)d->n_nodes + 1, error));
    TRY(WEFT_ALLOC(d->arena, d->bands, (size_t)d->n_bands + 1, error));
    for (int i = 0; i < d->n_bands; ++i) {
        weft_text title = {0};
        add_title(p, i, &title);
        d->bands[i].title_width = (double)title.length * REPORT_LETTER;
        weft_text_free(&title);
    }
    TRY(set_nodes(p, error));
    TRY(add_edges(p, error));
done:
    return status;
}

/* Place by Graphviz if it is available and its output is valid, else by the built-in layout. */
static weft_status place(graph_report *p, const weft_report_layout *layout, weft_error *error) {
    report_drawing *d = &p->d;
    weft_text dot = {0};
    bool placed = false;
    if (layout && d->n_edges <= EDGES_MOST) {
        weft_report_dot_write(d, &dot);
        char *answer = dot.failed ? NULL : layout->run(layout->user, dot.data);
        placed = weft_report_dot_read(d, answer);
        free(answer);
        weft_text_free(&dot);
    }
    return placed ? WEFT_OK : weft_report_place(d, error);
}

/* ---- drawing ---- */

/* A line of text, stretched to REPORT_LETTER per letter in any font. */
static void draw_text(const char *class, double x, double y, const char *text, size_t length,
                      weft_text *out) {
    weft_text line = {0};
    weft_text_add_bytes(&line, text, length);
    weft_text_add(out,
                  "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" textLength=\"%zu\" "
                  "lengthAdjust=\"spacingAndGlyphs\">",
                  class, x, y, length * REPORT_LETTER);
    weft_report_text(line.data, out);
    weft_text_add(out, "</text>");
    out->failed |= line.failed;
    weft_text_free(&line);
}

static void draw_band(const graph_report *p, int band, int number, weft_text *out) {
    const report_band *b = &p->d.bands[band];
    weft_text title = {0};
    add_title(p, band, &title);
    weft_text_add(out,
                  "<a href=\"#kernel%d\"><rect class=\"kernel\" x=\"%.1f\" y=\"%.1f\" "
                  "width=\"%.1f\" height=\"%.1f\" rx=\"6\" fill=\"",
                  number, b->x, b->y, b->width, b->height);
    weft_report_colour(number, out);
    weft_text_add(out, "\"/>");
    draw_text("name", b->title_x, b->title_y + 13, title.data ? title.data : "", title.length, out);
    weft_text_add(out, "</a>\n");
    out->failed |= title.failed;
    weft_text_free(&title);
}

static void draw_edge(const report_edge *edge, weft_text *out) {
    weft_text_add(out, "<path class=\"edge%s\" d=\"%s\"><title>", edge->accumulates ? " adds" : "",
                  edge->path);
    weft_report_text(edge->what, out);
    weft_text_add(out, "</title></path>\n");
}

static void draw_node(const graph_report *p, int node, weft_text *out) {
    const report_node *b = &p->d.nodes[node];
    const bool is_call = node < p->graph->n_calls;
    const int margin = is_call ? 7 : 12;
    if (b->width <= 0)
        return;
    weft_text_add(out, "<g><title>");
    if (is_call) {
        const weft_location *place = &p->graph->calls[node].place;
        weft_report_text(place->source->name, out);
        weft_text_add(out, ":%d", place->line);
    } else {
        const weft_value *value = &p->graph->values[node - p->graph->n_calls];
        weft_report_text(value->name, out);
        weft_text_add(out, " ");
        weft_print_type(p->graph, &value->shape, value->index_set, out);
    }
    weft_text_add(out,
                  "</title><rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                  "height=\"%.1f\" rx=\"%d\"/>",
                  is_call ? "call" : "list", b->x, b->y, b->width, b->height, is_call ? 3 : 12);
    const char *at = b->text;
    for (int line = 0; *at; ++line) {
        const size_t length = strcspn(at, "\n");
        draw_text("text", b->x + margin, b->y + 16 + line * REPORT_LINE, at, length, out);
        at += length + (at[length] == '\n');
    }
    weft_text_add(out, "</g>\n");
}

weft_status weft_report_graph(const weft_segment *c, int first, const weft_report_layout *layout,
                              weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    graph_report p = {.graph = c->graph, .plan = c->plan};
    TRY(weft_arena_make(&p.d.arena, error));
    TRY(make(&p, error));
    TRY(place(&p, layout, error));
    weft_text_add(out,
                  "<svg width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n",
                  p.d.width, p.d.height, p.d.width, p.d.height);
    for (int i = 0; i < p.d.n_bands; ++i)
        draw_band(&p, i, first + i, out);
    for (int i = 0; i < p.d.n_edges; ++i)
        draw_edge(&p.d.edges[i], out);
    for (int i = 0; i < p.d.n_nodes; ++i)
        draw_node(&p, i, out);
    weft_text_add(out, "</svg>\n");
done:
    weft_arena_free(&p.d.arena);
    return status;
}
