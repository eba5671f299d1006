/* Places the graph of a report without Graphviz: calls in rows, and edges between rows that are not neighbours in lanes left
 * of the kernels, so that nothing overlaps. */
#include "fusion/base/array.h"
#include "fusion/explain/html.h"

enum {
    GAP_X = 14,
    GAP_Y = 28, /* between rows; edges are horizontal only here */
    LANE = 9,
    ROW_WIDTH = 900,
    SHIFTS = 6, /* number of heights of edges in a gap */
    SHIFT = 3
};

typedef struct layout {
    report_drawing *d;
    int *row;             /* [n_nodes] */
    double *top, *bottom; /* [n_rows] */
    int *lane, *last;     /* [n_nodes] lane or -1; last row that an edge of the node leads to */
    int *n_in, *taken;    /* [n_nodes] edges that end at the node; those drawn so far */
    int *until;           /* [n_lanes] row where the lane becomes free */
    int n_rows, n_lanes, *level;
} layout;

static weft_status make(layout *l, report_drawing *d, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)d->n_nodes + 1;
    int **lists[] = {&l->row, &l->lane, &l->last, &l->n_in, &l->taken, &l->until, &l->level};
    *l = (layout){.d = d};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        TRY(WEFT_ALLOC(d->arena, *lists[i], n, error));
    TRY(WEFT_ALLOC(d->arena, l->top, n, error));
    TRY(WEFT_ALLOC(d->arena, l->bottom, n, error));
done:
    return status;
}

/* The level of a node is the length of the longest path to it inside its band. */
static void set_levels(layout *l) {
    const report_drawing *d = l->d;
    bool changed = true;
    for (int pass = 0; changed && pass < d->n_nodes; ++pass) {
        changed = false;
        for (int i = 0; i < d->n_edges; ++i) {
            const int from = d->edges[i].from, to = d->edges[i].to;
            if (d->nodes[from].band == d->nodes[to].band && l->level[to] <= l->level[from]) {
                l->level[to] = l->level[from] + 1;
                changed = true;
            }
        }
    }
}

/* Place one level of a band in one row, or in several if it is too wide. */
static double place_level(layout *l, int band, int level, double y) {
    report_drawing *d = l->d;
    double x = 0;
    int row = -1;
    for (int i = 0; i < d->n_nodes; ++i) {
        report_node *node = &d->nodes[i];
        if (node->width <= 0 || node->band != band || l->level[i] != level)
            continue;
        if (row < 0 || x + node->width > ROW_WIDTH) {
            y += row < 0 ? 0 : l->bottom[row] - l->top[row] + GAP_Y;
            row = l->n_rows++;
            l->top[row] = l->bottom[row] = y;
            x = 0;
        }
        l->row[i] = row;
        node->x = x;
        node->y = y;
        x += node->width + GAP_X;
        if (l->bottom[row] < y + node->height)
            l->bottom[row] = y + node->height;
    }
    return row < 0 ? y : l->bottom[row] + GAP_Y;
}

static double place_band(layout *l, int band, double y) {
    report_drawing *d = l->d;
    const bool boxed = band >= 0 && band < d->n_bands;
    int deepest = -1;
    for (int i = 0; i < d->n_nodes; ++i)
        if (d->nodes[i].width > 0 && d->nodes[i].band == band && l->level[i] > deepest)
            deepest = l->level[i];
    if (boxed) {
        d->bands[band].y = y;
        d->bands[band].title_y = y + 4;
        y += REPORT_TITLE + GAP_Y;
    }
    for (int level = 0; level <= deepest; ++level)
        y = place_level(l, band, level, y);
    if (!boxed)
        return y;
    d->bands[band].height = y - d->bands[band].y;
    return y + (band + 1 < d->n_bands ? GAP_X : GAP_Y);
}

static bool is_direct(const layout *l, const report_edge *edge) {
    return l->row[edge->to] == l->row[edge->from] + 1 &&
           l->d->nodes[edge->to].band == l->d->nodes[edge->from].band;
}

/* Assign a lane to each node with edges that are not direct; lanes are reused after their end. */
static void set_lanes(layout *l) {
    const report_drawing *d = l->d;
    for (int i = 0; i < d->n_nodes; ++i)
        l->lane[i] = l->last[i] = -1;
    for (int i = 0; i < d->n_edges; ++i) {
        const report_edge *edge = &d->edges[i];
        ++l->n_in[edge->to];
        if (!is_direct(l, edge) && l->last[edge->from] < l->row[edge->to])
            l->last[edge->from] = l->row[edge->to];
    }
    for (int row = 0; row < l->n_rows; ++row)
        for (int i = 0; i < d->n_nodes; ++i) {
            if (d->nodes[i].width <= 0 || l->row[i] != row || l->last[i] < 0)
                continue;
            int lane = 0;
            while (lane < l->n_lanes && l->until[lane] > row)
                ++lane;
            l->n_lanes += lane == l->n_lanes;
            l->until[lane] = l->last[i] > row ? l->last[i] : l->n_rows; /* upward: never freed */
            l->lane[i] = lane;
        }
}

static weft_status set_path(layout *l, report_edge *edge, weft_error *error) {
    report_drawing *d = l->d;
    const report_node *from = &d->nodes[edge->from], *to = &d->nodes[edge->to];
    const double x0 = from->x + from->width / 2, y0 = from->y + from->height;
    const double x1 = to->x + to->width * ++l->taken[edge->to] / (l->n_in[edge->to] + 1),
                 y1 = to->y;
    const double below = l->bottom[l->row[edge->from]], half = (y1 - below) / 2;
    const int lane = l->lane[edge->from], shift = lane % SHIFTS * SHIFT;
    if (is_direct(l, edge))
        edge->path = weft_arena_print(d->arena, "M%.1f %.1fV%.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x0,
                                      y0, below, x0, below + half, x1, y1 - half, x1, y1);
    else
        edge->path = weft_arena_print(d->arena, "M%.1f %.1fV%.1fH%dV%.1fH%.1fV%.1f", x0, y0,
                                      below + 4 + shift, REPORT_MARGIN + lane * LANE,
                                      y1 - 5.5 - shift, x1, y1);
    return edge->path ? WEFT_OK : weft_no_memory(error);
}

/* Move everything to the right of the lanes, and make all bands as wide as the widest. */
static void set_columns(layout *l) {
    report_drawing *d = l->d;
    const double left = REPORT_MARGIN + (l->n_lanes > 0 ? l->n_lanes * LANE + 4 : 0);
    double right = 0;
    for (int i = 0; i < d->n_nodes; ++i) {
        d->nodes[i].x += left + REPORT_MARGIN;
        if (d->nodes[i].width > 0 && d->nodes[i].x + d->nodes[i].width > right)
            right = d->nodes[i].x + d->nodes[i].width;
    }
    for (int i = 0; i < d->n_bands; ++i) {
        d->bands[i].x = left;
        d->bands[i].title_x = left + REPORT_MARGIN;
        if (d->bands[i].title_x + d->bands[i].title_width > right)
            right = d->bands[i].title_x + d->bands[i].title_width;
    }
    for (int i = 0; i < d->n_bands; ++i)
        d->bands[i].width = right + REPORT_MARGIN - left;
    d->width = right + 2 * REPORT_MARGIN;
}

weft_status weft_report_place(report_drawing *d, weft_error *error) {
    weft_status status = WEFT_OK;
    layout l;
    double y = REPORT_MARGIN;
    TRY(make(&l, d, error));
    set_levels(&l);
    for (int band = -1; band <= d->n_bands; ++band)
        y = place_band(&l, band, y);
    d->height = y;
    set_lanes(&l);
    set_columns(&l);
    for (int i = 0; i < d->n_edges; ++i)
        TRY(set_path(&l, &d->edges[i], error));
done:
    return status;
}
