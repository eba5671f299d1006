/* Products of small matrices in scripts: by warps, as planned, against the plan without them (lanes or several
 * threads per element), on the same lists of small integers, whose results must agree to the bit.
 *
 *      bench_dense [DEVICE [NAME]]     default auto; NAME: only cases with this in their names */
#include "core/base/threads.h"
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSIONS = 2, LISTS = 8, REPEATS = 7, TEXT = 2048, PERIOD = 1 << 20, COMPARED = 1 << 20 };
static const double LIST_BYTES = 6e8; /* the most of all lists of a script */

static const char *const library_names[VERSIONS] = {"before", "by warps"};

typedef struct bench_case {
    char name[64], text[TEXT];
    bool single;
    int64_t n;
    double bytes; /* per element, of all lists */
    weft_compilation *compilations[VERSIONS];
    weft_program *programs[VERSIONS];
    weft_error error;
} bench_case;

typedef struct bench {
    weft_device *device;
    weft_library *libraries[VERSIONS]; /* without the product lines, and as shipped */
    weft_timer *timer;
    bench_case cases[64];
    int n;
} bench;

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* ---- libraries ---- */

/* The shipped functions, those of products without their product lines. */
static weft_status make_libraries(bench *b, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int v = 0; v < VERSIONS; ++v)
        TRY(weft_library_make(&b->libraries[v], error));
    for (size_t i = 0; i < weft_library_size(b->libraries[0]); ++i) {
        weft_function_info info;
        weft_library_info(b->libraries[1], i, &info);
        const char *line = strstr(info.text, "//@ product");
        if (line == NULL)
            continue;
        char *text = calloc(strlen(info.text) + 1, 1);
        if (text == NULL)
            TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for a function"));
        memcpy(text, info.text, (size_t)(line - info.text));
        strcat(text, strchr(line, '\n') + 1);
        status = weft_library_add_text(b->libraries[0], "before.kernel.c", text, error);
        free(text);
        TRY(status);
    }
done:
    return status;
}

/* ---- cases ---- */

static void add_case(bench *b, const char *name, bool single, const char *text) {
    bench_case *c = &b->cases[b->n++];
    *c = (bench_case){.single = single};
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->text, sizeof c->text, "%s", text);
}

static void add_squares(bench *b, bool single, const char *plain) {
    static const int sizes[] = {3, 4, 6, 8, 12, 16, 24, 32};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        char name[64], text[TEXT];
        const int n = sizes[i];
        snprintf(name, sizeof name, "%s %d x %d%s", single ? "S" : "D", n, n,
                 plain[0] ? "" : ", interleaved");
        snprintf(text, sizeof text,
                 "index cells%s;\ninput A, B : real[%d,%d] over cells;\nC = mmul(A, B);\n"
                 "return C;\n",
                 plain, n, n);
        add_case(b, name, single, text);
    }
}

/* A script of docs/examples/dense. */
static void add_example(bench *b, const char *name) {
    char path[1024], text[TEXT] = "";
    snprintf(path, sizeof path, "%s/docs/examples/dense/%s.weft", WEFT_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    if (file == NULL || fread(text, 1, TEXT - 1, file) == 0)
        fprintf(stderr, "cannot read %s\n", path);
    if (file != NULL)
        fclose(file);
    add_case(b, name, false, text);
}

static void add_cases(bench *b) {
    static const char *const examples[] = {"element_matrices", "p4_tetrahedra", "condensation"};
    static const char *const plain[] = {" plain", ""};
    add_squares(b, false, " plain");
    add_squares(b, false, "");
    add_squares(b, true, " plain");
    for (int i = 0; i < 2; ++i) {
        char text[TEXT];
        snprintf(text, sizeof text,
                 "index cells%s;\ninput D : real[6,6] over cells;\n"
                 "input B : real[6,30] over cells;\nK = mmul(transpose(B), mmul(D, B));\n"
                 "return K;\n",
                 plain[i]);
        add_case(b, i == 0 ? "B^T D B, 6 x 30" : "B^T D B, interleaved", false, text);
    }
    for (int i = 0; i < 3; ++i)
        add_example(b, examples[i]);
}

static const char *wanted = "";

static void compile_one(void *user, int64_t number) {
    bench *b = user;
    bench_case *c = &b->cases[number / VERSIONS];
    const int v = (int)(number % VERSIONS);
    const weft_fragment fragment = {c->name, c->text};
    const weft_compile_options options = {
        .size = sizeof options, .single = c->single, .elements = 50000};
    weft_error *error = &c->error;
    weft_status status = WEFT_OK;
    if (strstr(c->name, wanted) == NULL)
        return;
    TRY(weft_compile(b->libraries[v], weft_device_limits(b->device), &fragment, 1, &options,
                     &c->compilations[v], error));
    if (!weft_device_limits(b->device)->records_only)
        TRY(weft_program_make(b->device, c->compilations[v], &c->programs[v], error));
done:
    if (status != WEFT_OK)
        fprintf(stderr, "%s: %s\n", c->name, error->message);
}

/* ---- data ---- */

static weft_status fill(weft_memory *list, bool single, weft_error *error) {
    static double wide[PERIOD];
    static float narrow[PERIOD];
    weft_status status = WEFT_OK;
    const size_t block = single ? sizeof narrow : sizeof wide, all = weft_memory_bytes(list);
    for (int i = 0; i < PERIOD; ++i) {
        wide[i] = (double)((uint32_t)i * 2654435761u % 5) - 2;
        narrow[i] = (float)wide[i];
    }
    for (size_t at = 0; at < all; at += block)
        TRY(weft_memory_write(list, at, single ? (void *)narrow : (void *)wide,
                              all - at < block ? all - at : block, error));
done:
    return status;
}

static size_t bytes_of(const bench_case *c, const weft_graph *graph, const weft_value *value) {
    const int64_t n = value->index_set >= 0 ? (c->n + 31) / 32 * 32 : 1;
    (void)graph;
    return (size_t)(n * weft_shape_count(&value->shape)) * (c->single ? 4 : 8);
}

/* Bind the same inputs to both versions, and results to each. */
static weft_status bind(const bench *b, bench_case *c, weft_memory *lists[VERSIONS][LISTS],
                        weft_error *error) {
    weft_status status = WEFT_OK;
    for (int v = 0; v < VERSIONS; ++v) {
        const weft_graph *graph = weft_compilation_only(c->compilations[v])->graph;
        TRY(weft_program_size(c->programs[v], "cells", c->n, error));
        for (int i = 0, used = 0; i < graph->n_values && used < LISTS; ++i) {
            const weft_value *value = &graph->values[i];
            if (!value->is_input && !value->returned)
                continue;
            weft_memory *shared = value->is_input && v > 0 ? lists[0][used] : NULL;
            if (shared == NULL) {
                TRY(weft_memory_make_unset(b->device, bytes_of(c, graph, value), &lists[v][used],
                                           error));
                if (value->is_input)
                    TRY(fill(lists[v][used], c->single, error));
                shared = lists[v][used];
            }
            TRY(weft_program_bind(c->programs[v], value->name, shared, error));
            ++used;
        }
    }
done:
    return status;
}

/* The number of elements that fills the lists. */
static void choose_elements(bench_case *c) {
    const weft_graph *graph = weft_compilation_only(c->compilations[1])->graph;
    c->n = 1;
    c->bytes = 0;
    for (int i = 0; i < graph->n_values; ++i)
        if ((graph->values[i].is_input || graph->values[i].returned) &&
            graph->values[i].index_set >= 0)
            c->bytes += weft_shape_count(&graph->values[i].shape) * (c->single ? 4.0 : 8.0);
    c->n = (int64_t)(LIST_BYTES / c->bytes) / 32 * 32;
}

/* ---- times ---- */

static weft_status time_once(const bench *b, weft_program *program, double *seconds,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_timer_start(b->timer, error));
    TRY(weft_program_run(program, error));
    TRY(weft_timer_stop(b->timer, error));
    TRY(weft_timer_seconds(b->timer, seconds, error));
done:
    return status;
}

static weft_status agree(bench_case *c, weft_memory *lists[VERSIONS][LISTS], bool *same,
                         weft_error *error) {
    static char found[VERSIONS][COMPARED];
    weft_status status = WEFT_OK;
    *same = true;
    for (int i = 0; i < LISTS; ++i) {
        if (lists[1][i] == NULL)
            continue;
        const size_t all = weft_memory_bytes(lists[1][i]),
                     used = (size_t)((double)c->n / (double)((c->n + 31) / 32 * 32) * (double)all);
        const size_t n = used < COMPARED ? used : COMPARED;
        for (int v = 0; v < VERSIONS; ++v)
            TRY(weft_memory_read(lists[v][i], used - n, found[v], n, error));
        *same = *same && memcmp(found[0], found[1], n) == 0;
    }
done:
    return status;
}

static weft_status run_case(const bench *b, bench_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *lists[VERSIONS][LISTS] = {{NULL}};
    double seconds[VERSIONS][REPEATS];
    bool same = false;
    if (c->programs[0] == NULL || c->programs[1] == NULL)
        return WEFT_OK;
    choose_elements(c);
    TRY(bind(b, c, lists, error));
    for (int i = -1; i < REPEATS; ++i)
        for (int v = 0; v < VERSIONS; ++v)
            TRY(time_once(b, c->programs[v], &seconds[v][i < 0 ? 0 : i], error));
    for (int v = 0; v < VERSIONS; ++v)
        qsort(seconds[v], REPEATS, sizeof(double), compare);
    TRY(agree(c, lists, &same, error));
    const double before = seconds[0][REPEATS / 2], now = seconds[1][REPEATS / 2];
    printf("%-26s%9lld%12.1f%12.1f%8.2f%9.0f  %s\n", c->name, (long long)c->n, 1e6 * before,
           1e6 * now, before / now, 1e-9 * c->bytes * (double)c->n / now,
           same ? "" : "RESULTS DIFFER");
    fflush(stdout);
done:
    for (int v = 0; v < VERSIONS; ++v)
        for (int i = 0; i < LISTS; ++i)
            weft_memory_free(&lists[v][i]);
    return status;
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error problem = {0}, *error = &problem;
    weft_threads *threads = NULL;
    static bench b;
    TRY(weft_device_open(argc > 1 ? argv[1] : "auto", NULL, &b.device, error));
    wanted = argc > 2 ? argv[2] : "";
    TRY(make_libraries(&b, error));
    TRY(weft_timer_make(b.device, &b.timer, error));
    TRY(weft_threads_make(weft_threads_available(), &threads, error));
    add_cases(&b);
    weft_threads_run(threads, (int64_t)b.n * VERSIONS, compile_one, &b);
    printf("%s\n%-26s%9s%12s us%9s us%8s%9s\n", weft_device_limits(b.device)->name, "", "elements",
           library_names[0], library_names[1], "ratio", "GB/s");
    for (int i = 0; i < b.n; ++i)
        TRY(run_case(&b, &b.cases[i], error));
done:
    if (status != WEFT_OK)
        fprintf(stderr, "%s\n", error->message);
    for (int i = 0; i < b.n; ++i)
        for (int v = 0; v < VERSIONS; ++v) {
            weft_program_free(&b.cases[i].programs[v]);
            weft_compilation_free(&b.cases[i].compilations[v]);
        }
    for (int v = 0; v < VERSIONS; ++v)
        weft_library_free(&b.libraries[v]);
    weft_threads_free(&threads);
    weft_timer_free(&b.timer);
    weft_device_free(&b.device);
    return status == WEFT_OK ? 0 : 1;
}
