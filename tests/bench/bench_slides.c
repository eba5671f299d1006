/* The reductions and transpositions of Dey's slides (2020): throughput of each step, against the step
 * before and against copying, and over coarsening factors by threads and by blocks.
 *
 *      bench_slides [DEVICE [--shapes | --shape NAME STEP THREADS TILES]]     default host; null:h200 prints predictions
 *
 *  --shapes: on a GPU, the planner's shape beside the best of a grid of threads by tiles of a block, each as measured and
 *  as predicted, and the rank correlation of the two. --shape: one of them, for a profiler. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 7,
    TRANSPOSITIONS = 3,
    TILE = 256,        /* threads of a tile */
    LEFT = 77,         /* numbers that fill no tile */
    NUMBERS = 1 << 27, /* on the host a quarter of them */
    FACTORS = 3,       /* 2, 4, 8 */
    REPEATS = 9,
    RUNS = 5,
    LISTS = 8,
    SHAPES = 64, /* of a grid, at most */
    TEXT = 4096
};

typedef struct bench {
    weft_device *device;
    weft_library *library;
    weft_timer *timer;
    bool gpu, predicts; /* predicts: the device computes nothing */
    double numbers;
} bench;

/* One script to be timed. */
typedef struct bench_case {
    const char *text;
    int threads, serial; /* per tile, tiles one after another; 0: the planner's choice */
    bool transposes;
    int tiles; /* of a block; 0: one where threads are given */
    double seconds, predicted;
} bench_case;

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The number of elements of an index set: tiles of as many numbers as x has, the rest, or numbers. */
static int64_t size_of(const bench *b, const weft_graph *graph, int set) {
    const char *name = graph->index_sets[set].name;
    if (strcmp(name, "left") == 0)
        return LEFT;
    if (strcmp(name, "result") == 0)
        set = graph->connectivities[0].to;
    for (int i = 0; i < graph->n_values; ++i)
        if (graph->values[i].index_set == set && graph->values[i].is_input)
            return (int64_t)b->numbers / weft_shape_count(&graph->values[i].shape);
    return 0;
}

/* Bind lists of zeros to all inputs and results. */
static weft_status bind_lists(const bench *b, const weft_graph *graph, weft_program *program,
                              weft_memory **lists, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < graph->n_index_sets; ++i)
        TRY(weft_program_size(program, graph->index_sets[i].name, size_of(b, graph, i), error));
    for (int i = 0, used = 0; i < graph->n_values && used < LISTS; ++i) {
        const weft_value *value = &graph->values[i];
        if (!value->is_input && !value->returned)
            continue;
        const int64_t n = value->index_set >= 0 ? size_of(b, graph, value->index_set) : 1;
        const int64_t lanes = value->index_set >= 0 && !graph->index_sets[value->index_set].plain
                                  ? weft_program_lanes(program)
                                  : 1;
        const size_t all =
            (size_t)((n + lanes - 1) / lanes * lanes) * (size_t)weft_shape_count(&value->shape);
        TRY(weft_memory_make(b->device, all * sizeof(float), &lists[used], error));
        TRY(weft_memory_zero(lists[used], error));
        TRY(weft_program_bind(program, value->name, lists[used++], error));
    }
done:
    return status;
}

/* Bind `swap` of a transposition: a square matrix of entries, or of tiles.
 * indices  the caller's, freed after *out */
static weft_status bind_swap(const bench *b, const weft_graph *graph, weft_program *program,
                             int32_t **indices, weft_connectivity **out, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t side = 1;
    const int64_t n = size_of(b, graph, graph->connectivities[0].to);
    while (side * side < n)
        side *= 2;
    int32_t *swap = *indices = malloc((size_t)n * sizeof *swap);
    if (swap == NULL)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for a transposition");
    for (int64_t i = 0; i < n; ++i)
        swap[i] = (int32_t)(i % side * side + i / side);
    TRY(weft_connectivity_make(b->device, swap, n, 1, n, out, error));
    TRY(weft_program_bind_connectivity(program, "swap", *out, error));
done:
    return status;
}

/* Median seconds of a run. */
static weft_status time_runs(const bench *b, weft_program *program, double *seconds,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    double taken[REPEATS];
    for (int i = -1; i < REPEATS; ++i) {
        double all = 0;
        TRY(weft_timer_start(b->timer, error));
        for (int k = 0; k < RUNS; ++k)
            TRY(weft_program_run(program, error));
        TRY(weft_timer_stop(b->timer, error));
        TRY(weft_timer_seconds(b->timer, &all, error));
        if (i >= 0)
            taken[i] = all / RUNS;
    }
    qsort(taken, REPEATS, sizeof *taken, compare);
    *seconds = taken[REPEATS / 2];
done:
    return status;
}

/* Predictions are per element of each kernel's index set. */
static double predicted_seconds(const bench *b, const weft_segment *segment) {
    double sum = 0;
    for (int i = 0; i < segment->cover->n; ++i) {
        const weft_implementation *one = segment->cover->list[i];
        sum += one->seconds * (double)size_of(b, segment->graph, one->fusion->index_set);
    }
    return sum;
}

static weft_status time_case(const bench *b, bench_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    weft_connectivity *swap = NULL;
    int32_t *indices = NULL;
    weft_memory *lists[LISTS] = {NULL};
    const weft_fragment fragment = {"bench_slides", c->text};
    const bool tiles = strstr(c->text, "tiles") != NULL;
    const weft_parameter asked[] = {{"block_tiles", c->tiles > 0 ? c->tiles : c->threads > 0},
                                    {"width", c->threads},
                                    {"serial", c->serial}};
    const weft_compile_options options = {.size = sizeof options,
                                          .parameters = asked,
                                          .n_parameters = tiles ? 3 : 0,
                                          .single = true,
                                          .elements = (int64_t)b->numbers / (tiles ? TILE : 1)};
    TRY(weft_compile(b->library, weft_device_limits(b->device), &fragment, 1, &options,
                     &compilation, error));
    const weft_segment *segment = weft_compilation_only(compilation);
    c->seconds = c->predicted = predicted_seconds(b, segment);
    if (b->predicts)
        goto done;
    TRY(weft_program_make(b->device, compilation, &program, error));
    TRY(bind_lists(b, segment->graph, program, lists, error));
    if (c->transposes)
        TRY(bind_swap(b, segment->graph, program, &indices, &swap, error));
    TRY(time_runs(b, program, &c->seconds, error));
done:
    weft_connectivity_free(&swap);
    free(indices);
    weft_program_free(&program);
    weft_compilation_free(&compilation);
    for (int i = 0; i < LISTS; ++i)
        weft_memory_free(&lists[i]);
    return status;
}

static weft_status read_step(const char *name, int step, char *text, weft_error *error) {
    char path[1024];
    snprintf(path, sizeof path, "%s/docs/examples/slides/%s_%d.weft", WEFT_SOURCE_DIR, name, step);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return weft_error_set(error, WEFT_ERROR_IO, "cannot read %s", path);
    text[fread(text, 1, TEXT - 1, file)] = '\0';
    fclose(file);
    return WEFT_OK;
}

/* GB/s of reading all numbers once: of the planner's shape, over factors of threads, and of blocks. */
static weft_status print_factors(const bench *b, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_case free_choice = {text, 0, 0, false, 0, 0, 0};
    TRY(time_case(b, &free_choice, error));
    printf("%8.0f", 4e-9 * b->numbers / free_choice.seconds);
    for (int blocks = 0; blocks < 2; ++blocks)
        for (int k = 1; k <= FACTORS; ++k) {
            bench_case c = {text, blocks ? TILE : TILE >> k, blocks ? 1 << k : 1, false, 0, 0, 0};
            TRY(time_case(b, &c, error));
            printf("%8.0f", 4e-9 * b->numbers / c.seconds);
        }
done:
    return status;
}

static weft_status print_series(const bench *b, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_case copy = {
        "index N;\ninput x : real over N;\ny = 2*x;\nreturn y;\n", 0, 0, false, 0, 0, 0};
    char text[TEXT];
    double before = 0;
    TRY(time_case(b, &copy, error));
    const double bandwidth = 8 * b->numbers / copy.seconds;
    printf("sum of %.0f floats%s; y = 2 x moves %.0f GB/s\n", b->numbers,
           b->predicts ? ", predicted" : "", 1e-9 * bandwidth);
    printf("step        us    GB/s  of step before  of copying%s\n",
           b->gpu ? " GB/s: planner threads/2   /4      /8 tiles*2      *4      *8" : "");
    for (int step = 1; step <= STEPS; ++step) {
        TRY(read_step("reduction", step, text, error));
        bench_case c = {text, b->gpu ? TILE : 0, b->gpu, false, 0, 0, 0};
        TRY(time_case(b, &c, error));
        const double speed = 4 * b->numbers / c.seconds;
        printf("%4d%10.1f%8.0f%16.2f%12.2f", step, 1e6 * c.seconds, 1e-9 * speed,
               before > 0 ? speed / before : 1, speed / bandwidth);
        before = speed;
        if (b->gpu) {
            printf("%6s", "");
            TRY(print_factors(b, text, error));
        }
        printf("\n");
        fflush(stdout);
    }
done:
    return status;
}

/* Transpositions: every number is read and written once. */
static weft_status print_transpositions(const bench *b, weft_error *error) {
    static const int threads[] = {0, 1024, 512, 256, 128};
    weft_status status = WEFT_OK;
    char text[TEXT];
    printf("transposition of %.0f floats; GB/s of the planner's shape%s\n", b->numbers,
           b->gpu ? ", with 1024, 512, 256, 128 threads per tile" : "");
    for (int step = 1; step <= TRANSPOSITIONS; ++step) {
        TRY(read_step("transpose", step, text, error));
        printf("%4d", step);
        for (int k = 0; k < (b->gpu && step > 1 ? 5 : 1); ++k) {
            bench_case c = {text, threads[k], threads[k] > 0, true, 0, 0, 0};
            TRY(time_case(b, &c, error));
            printf("%8.0f", 8e-9 * b->numbers / c.seconds);
        }
        printf("\n");
        fflush(stdout);
    }
done:
    return status;
}

/* The correlation of the ranks of two lists of n numbers: 1 less 6 sum d^2/(n (n^2 - 1)), d the difference of ranks. */
static double rank_correlation(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        double d = 0;
        for (int k = 0; k < n; ++k)
            d += (double)((a[k] < a[i]) - (a[k] > a[i]) - (b[k] < b[i]) + (b[k] > b[i])) / 2;
        sum += d * d;
    }
    return 1 - 6 * sum / (n * ((double)n * n - 1));
}

/* GB/s of the planner's shape, of the best forced one, and of all of the grid, with their predictions. */
static weft_status print_shapes(const bench *b, const char *name, int step, int most, double bytes,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text grid = {0};
    char text[TEXT];
    double measured[SHAPES], predicted[SHAPES];
    int n = 0, best = 0, best_threads = 0, best_tiles = 0;
    const bool transposes = most > TILE;
    const double moved = 1e-9 * bytes * b->numbers;
    TRY(read_step(name, step, text, error));
    bench_case c = {text, 0, 0, transposes, 0, 0, 0};
    TRY(time_case(b, &c, error));
    const double planned = moved / c.seconds, planned_prediction = moved / c.predicted;
    for (int t = most; t >= 4; t /= 2) {
        weft_text_add(&grid, "%12d", t);
        for (int k = 1; k <= 16 && k * t <= 1024; k *= 2, ++n) {
            c = (bench_case){text, t, 1, transposes, k, 0, 0};
            TRY(time_case(b, &c, error));
            measured[n] = moved / c.seconds;
            predicted[n] = moved / c.predicted;
            weft_text_add(&grid, "%7.0f/%-5.0f", measured[n], predicted[n]);
            if (n == 0 || measured[n] > measured[best]) {
                best = n;
                best_threads = t;
                best_tiles = k;
            }
        }
        weft_text_add(&grid, "\n");
    }
    printf("%s %d: planner %.0f/%.0f, %.2f of the best, %.0f with %d threads x %d; rank "
           "correlation %.2f\n%s",
           name, step, planned, planned_prediction, planned / measured[best], measured[best],
           best_threads, best_tiles, rank_correlation(measured, predicted, n), grid.data);
    fflush(stdout);
done:
    weft_text_free(&grid);
    return status;
}

/* One shape of NAME_STEP, such as "reduction", "6", "64", "2". */
static weft_status print_shape(bench *b, char **arguments, weft_error *error) {
    weft_status status = WEFT_OK;
    char text[TEXT];
    const bool transposes = strcmp(arguments[0], "transpose") == 0;
    b->numbers /= transposes ? 2 : 1;
    TRY(read_step(arguments[0], atoi(arguments[1]), text, error));
    bench_case c = {text, atoi(arguments[2]), 1, transposes, atoi(arguments[3]), 0, 0};
    TRY(time_case(b, &c, error));
    const double moved = 1e-9 * (transposes ? 8 : 4) * b->numbers;
    printf("%.0f GB/s, predicted %.0f\n", moved / c.seconds, moved / c.predicted);
done:
    return status;
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error problem = {0}, *error = &problem;
    bench b = {.device = NULL};
    TRY(weft_device_open(argc > 1 ? argv[1] : "host", NULL, &b.device, error));
    const weft_limits *limits = weft_device_limits(b.device);
    b.gpu = limits->execution == WEFT_EXECUTION_SIMT;
    b.predicts = limits->kind == WEFT_DEVICE_NULL;
    b.numbers = b.gpu ? NUMBERS : NUMBERS / 4;
    TRY(weft_library_make(&b.library, error));
    TRY(weft_library_add_directory(b.library, WEFT_SOURCE_DIR "/docs/examples/slides", error));
    TRY(weft_timer_make(b.device, &b.timer, error));
    printf("%s\n", limits->name);
    if (argc == 7 && strcmp(argv[2], "--shape") == 0 && b.gpu) {
        TRY(print_shape(&b, argv + 3, error));
        goto done;
    }
    if (argc > 2 && strcmp(argv[2], "--shapes") == 0 && b.gpu) {
        printf(
            "GB/s, measured/predicted; threads of a tile, by tiles of a block: 1, 2, 4, 8, 16\n");
        for (int step = 1; step <= STEPS; ++step)
            TRY(print_shapes(&b, "reduction", step, TILE, 4, error));
        b.numbers /= 2;
        for (int step = 2; step <= TRANSPOSITIONS; ++step)
            TRY(print_shapes(&b, "transpose", step, 1024, 8, error));
        goto done;
    }
    TRY(print_series(&b, error));
    b.numbers = b.gpu ? NUMBERS / 2 : NUMBERS / 8;
    TRY(print_transpositions(&b, error));
done:
    weft_timer_free(&b.timer);
    weft_library_free(&b.library);
    weft_device_free(&b.device);
    if (status != WEFT_OK) {
        char text[4096];
        weft_error_text(error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    return status == WEFT_OK ? 0 : 1;
}
