/* The graph drawn: bands from top to bottom are lists that are given, kernels in their order, lists
 * that are left. In a band calls stand below what they use. */
#include "page_internal.h"

#include <string.h>

enum {
    LETTER = 7,
    NODE_HEIGHT = 24,
    ROW = 46,
    GAP = 14,
    TITLE = 22,
    MARGIN = 12,
    TEXT_MOST = 46 /* letters of a call */
};

typedef struct box {
    double x, y, width;
} box;

typedef struct drawing {
    const weft_compilation *c;
    const weft_graph *graph;
    const weft_plan *plan;
    weft_text *out;
    box *calls, *data;    /* data: of lists that are drawn above and below */
    int *row;             /* of a call in its band */
    double *top, *bottom; /* [n_kernels] of bands */
    double width, height;
    double below; /* where the last band starts */
} drawing;

static double text_width(const weft_text *text) {
    const size_t n = text->length < TEXT_MOST ? text->length : TEXT_MOST;
    return (double)n * LETTER + 12;
}

static void call_text(const weft_graph *graph, const weft_call *call, weft_text *out) {
    print_name(graph, call->result, out);
    weft_text_add(out, " = ");
    print_call(graph, call, out);
}

static bool is_given(const weft_datum *datum) {
    return datum->is_input && datum->storage < 0;
}

/* Accumulated lists, and whatever is returned or updated. */
static bool is_left(const weft_graph *graph, const weft_datum *datum) {
    bool accumulated = false;
    for (int i = 0; i < graph->n_accumulations; ++i)
        accumulated |= graph->accumulations[i].target == datum->id;
    return accumulated || datum->returned || datum->storage >= 0;
}

/* ---- places ---- */

static double place_data(drawing *d, bool given, double y) {
    double x = MARGIN;
    for (int i = 0; i < d->graph->n_data; ++i) {
        const weft_datum *datum = &d->graph->data[i];
        if (!print_is_live(d->graph, datum) ||
            !(given ? is_given(datum) : !is_given(datum) && is_left(d->graph, datum)))
            continue;
        d->data[i] = (box){x, y, (double)strlen(datum->name) * LETTER + 24};
        x += d->data[i].width + GAP;
    }
    d->width = x > d->width ? x : d->width;
    return x > MARGIN ? y + NODE_HEIGHT + ROW / 2.0 : y;
}

static int row_of(const drawing *d, const weft_implementation *one, int position) {
    const weft_call *call = &d->graph->calls[one->order[position]];
    int deepest = 0;
    for (int i = 0; i < position; ++i)
        for (int k = 0; k < call->n_operands; ++k)
            if (call->operands[k].datum == d->graph->calls[one->order[i]].result &&
                d->row[one->order[i]] >= deepest)
                deepest = d->row[one->order[i]] + 1;
    return deepest;
}

static double place_kernel(drawing *d, int kernel, double y) {
    const weft_implementation *one = d->plan->kernels[kernel].implementation;
    const int n = one != NULL ? one->fusion->n_calls : 0;
    int rows = 0;
    d->top[kernel] = y;
    for (int i = 0; i < n; ++i) {
        d->row[one->order[i]] = row_of(d, one, i);
        rows = d->row[one->order[i]] + 1 > rows ? d->row[one->order[i]] + 1 : rows;
    }
    for (int row = 0; row < rows; ++row) {
        double x = 2 * MARGIN;
        for (int i = 0; i < n; ++i) {
            const int call = one->order[i];
            weft_text text = {0};
            if (d->row[call] != row)
                continue;
            call_text(d->graph, &d->graph->calls[call], &text);
            d->out->failed |= text.failed;
            d->calls[call] = (box){x, y + TITLE + row * ROW, text_width(&text)};
            x += d->calls[call].width + GAP;
            weft_text_free(&text);
        }
        d->width = x > d->width ? x : d->width;
    }
    d->bottom[kernel] = y + TITLE + (rows > 0 ? (rows - 1) * ROW + NODE_HEIGHT + 8 : 4);
    return d->bottom[kernel] + ROW / 2.0;
}

static weft_status place(drawing *d, weft_arena *arena, weft_error *error) {
    const size_t n_calls = (size_t)d->graph->n_calls + 1;
    d->calls = weft_arena_alloc(arena, n_calls, sizeof *d->calls);
    d->row = weft_arena_alloc(arena, n_calls, sizeof *d->row);
    d->data = weft_arena_alloc(arena, (size_t)d->graph->n_data + 1, sizeof *d->data);
    d->top = weft_arena_alloc(arena, (size_t)d->plan->n_kernels + 1, sizeof *d->top);
    d->bottom = weft_arena_alloc(arena, (size_t)d->plan->n_kernels + 1, sizeof *d->bottom);
    if (!d->calls || !d->row || !d->data || !d->top || !d->bottom)
        return weft_no_memory(error);
    d->width = 420;
    double y = place_data(d, true, MARGIN);
    for (int i = 0; i < d->plan->n_kernels; ++i)
        y = place_kernel(d, i, y);
    d->below = y;
    d->height = place_data(d, false, y);
    return WEFT_OK;
}

/* ---- drawing ---- */

static void draw_edge(const drawing *d, const box *from, const box *to, const char *what,
                      bool accumulates) {
    const double x0 = from->x + from->width / 2, y0 = from->y + NODE_HEIGHT;
    const double x1 = to->x + to->width / 2, y1 = to->y, half = (y1 - y0) / 2;
    if (from->width <= 0 || to->width <= 0)
        return;
    weft_text_add(d->out,
                  "<path class=\"edge%s\" d=\"M%.0f %.0f C%.0f %.0f %.0f %.0f %.0f %.0f\"><title>",
                  accumulates ? " adds" : "", x0, y0, x0, y0 + half, x1, y1 - half, x1, y1);
    page_text(what, d->out);
    weft_text_add(d->out, "</title></path>\n");
}

static void draw_operands(const drawing *d, const weft_call *call) {
    for (int k = 0; k < call->n_operands; ++k) {
        const weft_operand *operand = &call->operands[k];
        const weft_datum *datum = &d->graph->data[operand->datum];
        weft_text what = {0};
        print_operand(d->graph, operand, &what);
        weft_text_add(&what, " ");
        weft_shape_print(&operand->shape, &what);
        const box *from =
            datum->producer >= 0 ? &d->calls[datum->producer] : &d->data[operand->datum];
        if (datum->kind != DATUM_ACCUMULATED)
            draw_edge(d, from, &d->calls[call->id], what.data, false);
        for (int a = 0; a < d->graph->n_accumulations; ++a)
            if (d->graph->accumulations[a].target == datum->id)
                draw_edge(d, &d->calls[d->graph->accumulations[a].call], &d->calls[call->id],
                          what.data, true);
        d->out->failed |= what.failed;
        weft_text_free(&what);
    }
}

static void draw_edges(const drawing *d) {
    for (int i = 0; i < d->graph->n_calls; ++i)
        draw_operands(d, &d->graph->calls[i]);
    for (int i = 0; i < d->graph->n_data; ++i) {
        const weft_datum *datum = &d->graph->data[i];
        if (d->data[i].width > 0 && !is_given(datum) && datum->producer >= 0)
            draw_edge(d, &d->calls[datum->producer], &d->data[i], datum->name, false);
    }
    for (int a = 0; a < d->graph->n_accumulations; ++a) {
        const weft_accumulation *one = &d->graph->accumulations[a];
        if (!d->graph->data[one->target].is_input)
            draw_edge(d, &d->calls[one->call], &d->data[one->target],
                      d->graph->data[one->target].name, true);
    }
}

static void draw_call(const drawing *d, const weft_call *call) {
    const box *b = &d->calls[call->id];
    weft_text text = {0};
    call_text(d->graph, call, &text);
    d->out->failed |= text.failed;
    weft_text_add(d->out, "<g><title>");
    page_text(call->place.source->name, d->out);
    weft_text_add(d->out, ":%d: ", call->place.line);
    page_text(text.data, d->out);
    weft_text_add(d->out,
                  "</title><rect class=\"call\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" "
                  "height=\"%d\" rx=\"3\"/><text x=\"%.0f\" y=\"%.0f\">",
                  b->x, b->y, b->width, NODE_HEIGHT, b->x + 6, b->y + 16);
    if (text.length > TEXT_MOST)
        memcpy(text.data + TEXT_MOST - 3, "...", 4);
    page_text(text.data, d->out);
    weft_text_add(d->out, "</text></g>\n");
    weft_text_free(&text);
}

static void draw_datum(const drawing *d, int datum) {
    const box *b = &d->data[datum];
    weft_text_add(d->out, "<g><title>");
    page_text(d->graph->data[datum].name, d->out);
    weft_text_add(d->out, " ");
    print_type(d->graph, &d->graph->data[datum].shape, d->graph->data[datum].index_set, d->out);
    weft_text_add(d->out,
                  "</title><rect class=\"list\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" "
                  "height=\"%d\" rx=\"12\"/><text x=\"%.0f\" y=\"%.0f\">",
                  b->x, b->y, b->width, NODE_HEIGHT, b->x + 12, b->y + 16);
    page_text(d->graph->data[datum].name, d->out);
    weft_text_add(d->out, "</text></g>\n");
}

static void draw_kernel(const drawing *d, int kernel, int number) {
    const weft_plan_kernel *one = &d->plan->kernels[kernel];
    weft_text_add(d->out,
                  "<a href=\"#kernel%d\"><rect class=\"kernel\" x=\"%d\" y=\"%.0f\" width=\"%.0f\" "
                  "height=\"%.0f\" rx=\"6\" fill=\"",
                  number, MARGIN, d->top[kernel], d->width - MARGIN,
                  d->bottom[kernel] - d->top[kernel]);
    page_colour(number, d->out);
    weft_text_add(d->out, "\"/><text class=\"name\" x=\"%d\" y=\"%.0f\">", MARGIN + 8,
                  d->top[kernel] + 15);
    page_text(one->name, d->out);
    weft_text_add(d->out, ", over %s</text></a>\n", weft_index_set_name(d->graph, one->index_set));
}

weft_status page_graph(const weft_compilation *c, int first, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *scratch = NULL;
    drawing d = {.c = c, .graph = c->graph, .plan = c->plan, .out = out};
    TRY(weft_arena_make(&scratch, error));
    TRY(place(&d, scratch, error));
    weft_text_add(out,
                  "<svg width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n",
                  d.width + MARGIN, d.height, d.width + MARGIN, d.height);
    for (int i = 0; i < d.plan->n_kernels; ++i)
        draw_kernel(&d, i, first + i);
    draw_edges(&d);
    for (int i = 0; i < d.graph->n_calls; ++i)
        draw_call(&d, &d.graph->calls[i]);
    for (int i = 0; i < d.graph->n_data; ++i)
        if (d.data[i].width > 0)
            draw_datum(&d, i);
    weft_text_add(out, "</svg>\n");
done:
    weft_arena_free(&scratch);
    return status;
}
