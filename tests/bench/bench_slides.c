/* The reductions and transpositions of Dey's slides (2020): throughput of each step, against the step
 * before and against copying, and over coarsening factors by threads and by blocks.
 *
 *      bench_slides [DEVICE [--shapes | --shape NAME STEP THREADS TILES]]     default host; null:h200 prints predictions
 *
 *  --shapes: on a GPU, the planner's shape beside the best of a grid of threads by tiles of a block, each as measured and
 *  as predicted, and the rank correlation of the two. --shape: one of them, for a profiler. */
#include "bench_slides.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FACTORS = 3, /* 2, 4, 8 */
    SHAPES = 64  /* of a grid, at most */
};

/* GB/s of reading all numbers once: of the planner's shape, over factors of threads, and of blocks. */
static weft_status print_factors(const slides_bench *b, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    slides_case free_choice = {.text = text};
    TRY(slides_time(b, &free_choice, error));
    printf("%8.0f", 4e-9 * b->numbers / free_choice.seconds);
    for (int blocks = 0; blocks < 2; ++blocks)
        for (int k = 1; k <= FACTORS; ++k) {
            slides_case c = {.text = text,
                             .threads = blocks ? SLIDES_TILE : SLIDES_TILE >> k,
                             .serial = blocks ? 1 << k : 1};
            TRY(slides_time(b, &c, error));
            printf("%8.0f", 4e-9 * b->numbers / c.seconds);
        }
done:
    return status;
}

static weft_status print_series(const slides_bench *b, weft_error *error) {
    weft_status status = WEFT_OK;
    slides_case copy = {.text = "index N;\ninput x : real over N;\ny = 2*x;\nreturn y;\n"};
    char text[SLIDES_TEXT];
    double before = 0;
    TRY(slides_time(b, &copy, error));
    const double bandwidth = 8 * b->numbers / copy.seconds;
    printf("sum of %.0f floats%s; y = 2 x moves %.0f GB/s\n", b->numbers,
           b->predicts ? ", predicted" : "", 1e-9 * bandwidth);
    printf("step        us    GB/s  of step before  of copying%s\n",
           b->gpu ? " GB/s: planner threads/2   /4      /8 tiles*2      *4      *8" : "");
    for (int step = 1; step <= SLIDES_STEPS; ++step) {
        TRY(slides_read("reduction", step, text, error));
        slides_case c = {.text = text, .threads = b->gpu ? SLIDES_TILE : 0, .serial = b->gpu};
        TRY(slides_time(b, &c, error));
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
static weft_status print_transpositions(const slides_bench *b, weft_error *error) {
    static const int threads[] = {0, 1024, 512, 256, 128};
    weft_status status = WEFT_OK;
    char text[SLIDES_TEXT];
    printf("transposition of %.0f floats; GB/s of the planner's shape%s\n", b->numbers,
           b->gpu ? ", with 1024, 512, 256, 128 threads per tile" : "");
    for (int step = 1; step <= SLIDES_TRANSPOSITIONS; ++step) {
        TRY(slides_read("transpose", step, text, error));
        printf("%4d", step);
        for (int k = 0; k < (b->gpu && step > 1 ? 5 : 1); ++k) {
            slides_case c = {
                .text = text, .threads = threads[k], .serial = threads[k] > 0, .transposes = true};
            TRY(slides_time(b, &c, error));
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
static weft_status print_shapes(const slides_bench *b, const char *name, int step, int most,
                                double bytes, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text grid = {0};
    char text[SLIDES_TEXT];
    double measured[SHAPES], predicted[SHAPES];
    int n = 0, best = 0, best_threads = 0, best_tiles = 0;
    const bool transposes = most > SLIDES_TILE;
    const double moved = 1e-9 * bytes * b->numbers;
    TRY(slides_read(name, step, text, error));
    slides_case c = {.text = text, .transposes = transposes};
    TRY(slides_time(b, &c, error));
    const double planned = moved / c.seconds, planned_prediction = moved / c.predicted;
    for (int t = most; t >= 4; t /= 2) {
        weft_text_add(&grid, "%12d", t);
        for (int k = 1; k <= 16 && k * t <= 1024; k *= 2, ++n) {
            c = (slides_case){
                .text = text, .threads = t, .serial = 1, .transposes = transposes, .tiles = k};
            TRY(slides_time(b, &c, error));
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
static weft_status print_shape(slides_bench *b, char **arguments, weft_error *error) {
    weft_status status = WEFT_OK;
    char text[SLIDES_TEXT];
    const bool transposes = strcmp(arguments[0], "transpose") == 0;
    b->numbers /= transposes ? 2 : 1;
    TRY(slides_read(arguments[0], atoi(arguments[1]), text, error));
    slides_case c = {.text = text,
                     .threads = atoi(arguments[2]),
                     .serial = 1,
                     .transposes = transposes,
                     .tiles = atoi(arguments[3])};
    TRY(slides_time(b, &c, error));
    const double moved = 1e-9 * (transposes ? 8 : 4) * b->numbers;
    printf("%.0f GB/s, predicted %.0f\n", moved / c.seconds, moved / c.predicted);
done:
    return status;
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error problem = {0}, *error = &problem;
    weft_device *device = NULL;
    slides_bench b = {.device = NULL};
    TRY(weft_device_open(argc > 1 ? argv[1] : "host", NULL, &device, error));
    TRY(slides_open(device, &b, error));
    printf("%s\n", weft_device_limits(device)->name);
    if (argc == 7 && strcmp(argv[2], "--shape") == 0 && b.gpu) {
        TRY(print_shape(&b, argv + 3, error));
        goto done;
    }
    if (argc > 2 && strcmp(argv[2], "--shapes") == 0 && b.gpu) {
        printf(
            "GB/s, measured/predicted; threads of a tile, by tiles of a block: 1, 2, 4, 8, 16\n");
        for (int step = 1; step <= SLIDES_STEPS; ++step)
            TRY(print_shapes(&b, "reduction", step, SLIDES_TILE, 4, error));
        b.numbers /= 2;
        for (int step = 2; step <= SLIDES_TRANSPOSITIONS; ++step)
            TRY(print_shapes(&b, "transpose", step, 1024, 8, error));
        goto done;
    }
    TRY(print_series(&b, error));
    b.numbers /= 2;
    TRY(print_transpositions(&b, error));
done:
    slides_close(&b);
    weft_device_free(&device);
    if (status != WEFT_OK) {
        char text[4096];
        weft_error_text(error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    return status == WEFT_OK ? 0 : 1;
}
