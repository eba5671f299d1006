/* What was asked of an H200, against what was measured. */
#include "bench_cuda.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum target_unit {
    OF_COPY,     /* fraction of the copy bandwidth */
    GIGA_RATE,   /* G cells/s */
    TIMES_RIVAL, /* the rival's time over ours */
    MICROSECONDS,
    SECONDS,
    SAME_TIME /* shuffled over ordered, at most */
} target_unit;

typedef struct target {
    const char *what, *shape, *work, *kind, *rival; /* rival NULL: the row's own */
    double nodes;                                   /* 0: the largest mesh */
    target_unit unit;
    double least, stretch; /* stretch 0: none asked */
} target;

static const target targets[] = {
    {"local assembly, P1 tets", "tetrahedra", "local", NULL, NULL, 0, OF_COPY, 0.8, 0.9},
    {"Addto into csr, P1 tets", "tetrahedra", "Addto", "csr", NULL, 0, GIGA_RATE, 20, 30},
    {"csr product, P1 tets", "tetrahedra", "apply", "csr", NULL, 0, TIMES_RIVAL, 1.3, 1.5},
    {"edge product, P1 tets", "tetrahedra", "apply", "edge", NULL, 0, TIMES_RIVAL, 1.6, 2},
    {"matrix-free product, P1 tets", "tetrahedra", "apply", "free", NULL, 0, TIMES_RIVAL, 0.65, 1},
    {"matrix-free product, P1 tris", "triangles", "apply", "free", NULL, 0, TIMES_RIVAL, 1.8, 2.3},
    {"CG iteration, tets 10^7 nodes, to A", "tetrahedra", "CG", NULL, "A", 1e7, TIMES_RIVAL, 1.7,
     2},
    {"CG iteration, tets 10^7 nodes, to D", "tetrahedra", "CG", NULL, "D", 1e7, TIMES_RIVAL, 1.5,
     0},
    {"CG iteration, tris 10^7 nodes, to A", "triangles", "CG", NULL, "A", 1e7, TIMES_RIVAL, 1.6, 2},
    {"CG iteration, tris 10^4 nodes", "triangles", "CG", NULL, NULL, 1e4, MICROSECONDS, 4, 1.7},
    {"CG iteration, tris 166,000 nodes", "triangles", "CG", NULL, NULL, 166e3, MICROSECONDS, 5,
     2.7},
    {"CG iteration, tris 10^6 nodes", "triangles", "CG", NULL, NULL, 1e6, MICROSECONDS, 40, 30},
    {"the same mesh shuffled, P1 tets", "tetrahedra", "apply, shuffled", NULL, NULL, 0, SAME_TIME,
     1.1, 0},
    {"the same mesh shuffled, P1 tris", "triangles", "apply, shuffled", NULL, NULL, 0, SAME_TIME,
     1.1, 0},
    {"set-up, tets 10^7 cells", "tetrahedra", "set-up", NULL, NULL, -1e7, SECONDS, 5, 2},
};

static bool is_kind(const bench_row *row, const char *kind) {
    if (!kind)
        return true;
    static const char *const names[] = {"csr", "edge", "lma", "free"};
    return strcmp(names[bench_assembly_kind(row->subject)], kind) == 0;
}

/* Within a fifth of the size asked for: nodes, or cells where negative. */
static bool is_size(const bench_row *row, double nodes) {
    if (nodes == 0)
        return true;
    const double size = nodes > 0 ? (double)row->n_nodes : (double)row->n_cells;
    return fabs(log(size / fabs(nodes))) < 0.2;
}

static double value_of(const target *asked, const bench_rows *rows, const bench_row *row) {
    switch (asked->unit) {
    case OF_COPY:
        return row->copy_bandwidth > 0 ? row->bytes / row->seconds / row->copy_bandwidth : NAN;
    case GIGA_RATE:
        return row->rate;
    case TIMES_RIVAL: {
        if (!asked->rival)
            return row->rival_seconds > 0 ? row->rival_seconds / row->seconds : NAN;
        for (int i = 0; i < rows->n_rows; ++i) {
            const bench_row *other = &rows->rows[i];
            const char *name = other->subject + strlen("rival ");
            if (other->n_cells == row->n_cells && strcmp(other->shape, row->shape) == 0 &&
                strcmp(other->work, "CG") == 0 && other->precision == row->precision &&
                strncmp(other->subject, "rival ", 6) == 0 && name[0] == asked->rival[0])
                return other->seconds / row->seconds;
        }
        return NAN;
    }
    case MICROSECONDS:
        return row->seconds * 1e6;
    case SECONDS:
    case SAME_TIME:
        break;
    }
    return asked->unit == SECONDS ? row->seconds : row->seconds / row->rival_seconds;
}

static bool is_better(const target *asked, double a, double b) {
    /* of set-up and shuffling the worst of all operators counts */
    return asked->unit == MICROSECONDS ? a < b : a > b;
}

static bool reaches(const target *asked, double value, double limit) {
    return asked->unit >= MICROSECONDS ? value <= limit : value >= limit;
}

/* The best row in double of the largest mesh that has one. */
static const bench_row *find(const target *asked, const bench_rows *rows, double *value) {
    const bench_row *best = NULL;
    for (int i = 0; i < rows->n_rows; ++i) {
        const bench_row *row = &rows->rows[i];
        if (row->seconds <= 0 || row->wrong || strcmp(row->shape, asked->shape) != 0 ||
            strcmp(row->work, asked->work) != 0 || strcmp(row->precision, "double") != 0 ||
            strncmp(row->subject, "rival ", 6) == 0 || !is_kind(row, asked->kind) ||
            !is_size(row, asked->nodes))
            continue;
        const double here = value_of(asked, rows, row);
        if (isnan(here) || (best && row->n_cells < best->n_cells))
            continue;
        if (!best || row->n_cells > best->n_cells || is_better(asked, here, *value)) {
            best = row;
            *value = here;
        }
    }
    return best;
}

static void print_value(const target *asked, double value, char out[32]) {
    static const char *const forms[] = {"%.0f %% of copy", "%.3g G cells/s", "%.3g x",
                                        "%.3g us",         "%.3g s",         "%.3g of ordered"};
    snprintf(out, 32, forms[asked->unit], asked->unit == OF_COPY ? 100 * value : value);
}

int bench_targets_print(const bench_rows *rows, const char *device) {
    int n_short = 0;
    printf("\nasked of an H200 in double; measured on %s\n%-36s %16s %16s  %-16s %-12s %s\n",
           device, "work", "at least", "stretch", "measured", "", "by");
    for (size_t i = 0; i < sizeof targets / sizeof *targets; ++i) {
        const target *asked = &targets[i];
        char least[32], stretch[32] = "", text[32] = "-";
        double value = 0;
        const bench_row *row = find(asked, rows, &value);
        print_value(asked, asked->least, least);
        if (asked->stretch > 0)
            print_value(asked, asked->stretch, stretch);
        if (row)
            print_value(asked, value, text);
        const bool reached = row && reaches(asked, value, asked->least);
        n_short += row && !reached;
        printf("%-36s %16s %16s  %-16s %-12s %s", asked->what, least, stretch, text,
               !row      ? "not measured"
               : reached ? asked->stretch > 0 && reaches(asked, value, asked->stretch) ? "stretch"
                                                                                       : "reached"
                         : "NOT REACHED",
               row ? row->subject : "");
        if (row)
            printf(", %.3g nodes", (double)row->n_nodes);
        printf("\n");
    }
    printf("%d measured and not reached\n", n_short);
    return n_short;
}
