/* Writes the graph of a report for Graphviz, and reads the layout from `dot -Tjson0`. Nodes are
 * identified by numbers; names of the script are not passed on. */
#include "core/base/number.h"
#include "fusion/explain/html.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Graphviz has sizes in inches of 72 points and positions in points; a point is a pixel here. */
static void write_node(const char *letter, int number, double width, double height,
                       weft_text *out) {
    weft_text_add(out, "%s%d [width=%.4f, height=%.4f];\n", letter, number, width / 72,
                  height / 72);
}

static bool is_first_in_band(const report_drawing *d, int node) {
    for (int i = 0; i < d->n_edges; ++i)
        if (d->edges[i].to == node && d->nodes[d->edges[i].from].band == d->nodes[node].band)
            return false;
    return true;
}

/* The title is a node too, above the others, so that edges avoid it. */
static void write_band(const report_drawing *d, int band, weft_text *out) {
    weft_text_add(out, "subgraph cluster_%d {\nmargin=%d;\n", band, REPORT_MARGIN);
    write_node("t", band, d->bands[band].title_width, REPORT_TITLE, out);
    for (int i = 0; i < d->n_nodes; ++i) {
        if (d->nodes[i].width <= 0 || d->nodes[i].band != band)
            continue;
        write_node("n", i, d->nodes[i].width, d->nodes[i].height, out);
        if (is_first_in_band(d, i))
            weft_text_add(out, "t%d -> n%d [style=invis];\n", band, i);
    }
    weft_text_add(out, "}\n");
}

void weft_report_dot_write(const report_drawing *d, weft_text *out) {
    weft_text_add(out, "digraph weft {\ngraph [nodesep=0.2, ranksep=0.4, pad=0];\n"
                       "node [shape=box, fixedsize=true, label=\"\"];\nedge [dir=none];\n");
    for (int i = 0; i < d->n_bands; ++i)
        write_band(d, i, out);
    for (int i = 0; i < d->n_nodes; ++i)
        if (d->nodes[i].width > 0 && (d->nodes[i].band < 0 || d->nodes[i].band == d->n_bands))
            write_node("n", i, d->nodes[i].width, d->nodes[i].height, out);
    for (int i = 0; i < d->n_edges; ++i)
        weft_text_add(out, "n%d -> n%d [id=e%d];\n", d->edges[i].from, d->edges[i].to, i);
    weft_text_add(out, "}\n");
}

/* Read n numbers separated by commas or blanks; false if there are fewer. */
static bool read_numbers(const char *text, int n, double *out) {
    for (int i = 0; i < n; ++i) {
        char *end = NULL;
        if (!text)
            return false;
        out[i] = weft_number_read(text, &end);
        if (end == text)
            return false;
        text = end + (*end == ',' || *end == ' ');
    }
    return true;
}

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

/* The number after a prefix, as in "n12"; -1 if the name is different or the number too large. */
static int number_of(const char *name, const char *prefix, int n) {
    const size_t length = strlen(prefix);
    char *end = NULL;
    if (!name || strncmp(name, prefix, length) != 0)
        return -1;
    const long number = strtol(name + length, &end, 10);
    return end == name + length || *end || number < 0 || number >= n ? -1 : (int)number;
}

/* The y axis points up in Graphviz and down in SVG. */
typedef struct frame {
    double left, top;
} frame;

static void place_x_y(const frame *from, const double point[2], double *x, double *y) {
    *x = point[0] - from->left + REPORT_MARGIN;
    *y = from->top - point[1] + REPORT_MARGIN;
}

static bool read_object(report_drawing *d, const frame *from, const json_t *object, int *n_read) {
    const char *name = text_of(object, "name");
    const int node = number_of(name, "n", d->n_nodes),
              band = number_of(name, "cluster_", d->n_bands);
    const int title = number_of(name, "t", d->n_bands);
    double v[4];
    *n_read += node >= 0 || band >= 0 || title >= 0;
    if (band >= 0) {
        report_band *b = &d->bands[band];
        if (!read_numbers(text_of(object, "bb"), 4, v))
            return false;
        b->width = v[2] - v[0];
        b->height = v[3] - v[1];
        place_x_y(from, (const double[]){v[0], v[3]}, &b->x, &b->y);
    } else if (node >= 0 || title >= 0) {
        double x, y;
        if (!read_numbers(text_of(object, "pos"), 2, v))
            return false;
        place_x_y(from, v, &x, &y);
        if (node >= 0) {
            d->nodes[node].x = x - d->nodes[node].width / 2;
            d->nodes[node].y = y - d->nodes[node].height / 2;
        } else {
            d->bands[title].title_x = x - d->bands[title].title_width / 2;
            d->bands[title].title_y = y - REPORT_TITLE / 2.0;
        }
    }
    return true;
}

/* "x,y x,y x,y x,y ...": the control points of consecutive cubic curves. */
static bool read_edge(report_drawing *d, const frame *from, const json_t *object, int *n_read) {
    const int edge = number_of(text_of(object, "id"), "e", d->n_edges);
    const char *at = text_of(object, "pos");
    weft_text path = {0};
    double point[2], x, y;
    if (edge < 0)
        return true; /* from a title */
    for (int i = 0; read_numbers(at, 2, point); ++i) {
        place_x_y(from, point, &x, &y);
        weft_text_add(&path, "%s%.1f %.1f", i == 0 ? "M" : i == 1 ? "C" : " ", x, y);
        at += strcspn(at, " ");
        at += *at == ' ';
    }
    const bool fine = path.data && !path.failed;
    d->edges[edge].path = fine ? weft_arena_copy(d->arena, path.data, path.length) : NULL;
    *n_read += d->edges[edge].path != NULL;
    weft_text_free(&path);
    return fine;
}

static int count_drawn(const report_drawing *d) {
    int n = 2 * d->n_bands + d->n_edges;
    for (int i = 0; i < d->n_nodes; ++i)
        n += d->nodes[i].width > 0;
    return n;
}

bool weft_report_dot_read(report_drawing *d, const char *json) {
    json_t *root = json ? json_loads(json, 0, NULL) : NULL;
    const json_t *objects = json_object_get(root, "objects"),
                 *edges = json_object_get(root, "edges");
    double v[4];
    int n_read = 0;
    bool fine = read_numbers(text_of(root, "bb"), 4, v);
    const frame report = {fine ? v[0] : 0, fine ? v[3] : 0};
    for (size_t i = 0; fine && i < json_array_size(objects); ++i)
        fine = read_object(d, &report, json_array_get(objects, i), &n_read);
    for (size_t i = 0; fine && i < json_array_size(edges); ++i)
        fine = read_edge(d, &report, json_array_get(edges, i), &n_read);
    fine = fine && n_read == count_drawn(d);
    if (fine) {
        d->width = v[2] - v[0] + 2 * REPORT_MARGIN;
        d->height = v[3] - v[1] + 2 * REPORT_MARGIN;
    }
    json_decref(root);
    return fine;
}
