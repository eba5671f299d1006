/* What shared launches and coarsening gain on a GPU.
 *
 *      bench_launches [DEVICE]     default cuda */
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
    CALLS = 20,
    SMALL = 10000,
    SUMMED = 100000,
    LARGE = 1 << 27,
    REPEATS = 9,
    LISTS = 64,
    LENGTH = 4096
};

typedef struct bench {
    weft_device *device;
    weft_library *library;
    weft_timer *timer;
} bench;

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Bind lists of zeros to all inputs and results, whose index sets have n elements each. */
static weft_status bind_lists(const bench *b, const weft_graph *graph, bool single, int64_t n,
                              weft_program *program, weft_memory **lists, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < graph->n_index_sets; ++i)
        TRY(weft_program_size(program, graph->index_sets[i].name, n, error));
    for (int i = 0, used = 0; i < graph->n_values && used < LISTS; ++i) {
        const weft_value *value = &graph->values[i];
        if (!value->is_input && !value->returned)
            continue;
        const int64_t lanes = value->index_set >= 0 && !graph->index_sets[value->index_set].plain
                                  ? weft_program_lanes(program)
                                  : 1;
        const int64_t used_n = value->index_set >= 0 ? n : 1;
        const size_t all = (size_t)((used_n + lanes - 1) / lanes * lanes) *
                           (size_t)weft_shape_count(&value->shape);
        TRY(weft_memory_make(b->device, all * (single ? sizeof(float) : sizeof(double)),
                             &lists[used], error));
        TRY(weft_memory_zero(lists[used], error));
        TRY(weft_program_bind(program, value->name, lists[used++], error));
    }
done:
    return status;
}

/* Median seconds of a run, of many one after another. */
static weft_status time_runs(const bench *b, weft_program *program, int runs, double *seconds,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    double taken[REPEATS];
    for (int i = -2; i < REPEATS; ++i) {
        double all = 0;
        TRY(weft_timer_start(b->timer, error));
        for (int k = 0; k < runs; ++k)
            TRY(weft_program_run(program, error));
        TRY(weft_timer_stop(b->timer, error));
        TRY(weft_timer_seconds(b->timer, &all, error));
        if (i >= 0)
            taken[i] = all / runs;
    }
    qsort(taken, REPEATS, sizeof *taken, compare);
    *seconds = taken[REPEATS / 2];
done:
    return status;
}

/* bytes  moved per element, as planned; NULL: not wanted */
static weft_status time_script(const bench *b, const char *text, weft_compile_options options,
                               double *seconds, double *bytes, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    weft_memory *lists[LISTS] = {NULL};
    const weft_fragment fragment = {"bench_launches", text};
    const int64_t n = options.elements;
    TRY(weft_compile(b->library, weft_device_limits(b->device), &fragment, 1, &options,
                     &compilation, error));
    TRY(weft_program_make(b->device, compilation, &program, error));
    TRY(bind_lists(b, weft_compilation_only(compilation)->graph, options.single, n, program, lists,
                   error));
    TRY(time_runs(b, program, n > 1000000 ? 10 : 200, seconds, error));
    for (int i = 0; bytes != NULL && i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info info;
        weft_compilation_kernel(compilation, i, &info);
        *bytes += info.bytes_loaded + info.bytes_stored;
    }
done:
    weft_program_free(&program);
    weft_compilation_free(&compilation);
    for (int i = 0; i < LISTS; ++i)
        weft_memory_free(&lists[i]);
    return status;
}

/* Independent calls of n elements, in a block that starts with `words`, if there are any. */
static void write_calls(const char *words, int n_calls, char *text) {
    char *at = text + sprintf(text, "index N;\n");
    for (int i = 0; i < n_calls; ++i)
        at += sprintf(at, "input x%d : real over N;\n", i);
    at += sprintf(at, "%s", words);
    for (int i = 0; i < n_calls; ++i)
        at += sprintf(at, "y%d = %d*x%d;\n", i, i + 2, i);
    at += sprintf(at, "%s", words[0] != '\0' ? "}\n" : "");
    for (int i = 0; i < n_calls; ++i)
        at += sprintf(at, "%s y%d", i > 0 ? "," : "return", i);
    sprintf(at, ";\n");
}

static weft_status print_launches(const bench *b, weft_error *error) {
    static const char *const words[] = {"", "", "together inter_block {\n",
                                        "together inner_block {\n", "together inner_thread {\n"};
    static const char *const names[] = {"20 launches", "planner's choice", "inter-block",
                                        "inner-block", "inner-thread"};
    weft_status status = WEFT_OK;
    char text[LENGTH];
    double alone = 0;
    printf("%d independent calls of %d elements, double\n", CALLS, SMALL);
    for (int i = 0; i < 5; ++i) {
        double seconds = 0;
        const weft_compile_options options = {.size = sizeof options,
                                              .plan = i == 0 ? WEFT_PLAN_UNFUSED : WEFT_PLAN_FUSED,
                                              .elements = SMALL};
        write_calls(words[i], CALLS, text);
        TRY(time_script(b, text, options, &seconds, NULL, error));
        alone = i == 0 ? seconds : alone;
        printf("  %-18s%10.2f us%8.2f times as fast\n", names[i], 1e6 * seconds, alone / seconds);
    }
done:
    return status;
}

/* Sums over index sets of their own: 40 launches with the final reductions, or 2. */
static void write_sums(int n_calls, char *text) {
    char *at = text + sprintf(text, "index N0");
    for (int i = 1; i < n_calls; ++i)
        at += sprintf(at, ", N%d", i);
    at += sprintf(at, ";\n");
    for (int i = 0; i < n_calls; ++i)
        at += sprintf(at, "input x%d : real over N%d;\ns%d = sum(x%d);\n", i, i, i, i);
    for (int i = 0; i < n_calls; ++i)
        at += sprintf(at, "%s s%d", i > 0 ? "," : "return", i);
    sprintf(at, ";\n");
}

static weft_status print_reductions(const bench *b, weft_error *error) {
    weft_status status = WEFT_OK;
    char text[LENGTH];
    double alone = 0;
    printf("%d independent sums of %d elements, double\n", CALLS, SUMMED);
    write_sums(CALLS, text);
    for (int i = 0; i < 2; ++i) {
        double seconds = 0;
        const weft_compile_options options = {.size = sizeof options,
                                              .plan = i == 0 ? WEFT_PLAN_UNFUSED : WEFT_PLAN_FUSED,
                                              .elements = SUMMED};
        TRY(time_script(b, text, options, &seconds, NULL, error));
        alone = i == 0 ? seconds : alone;
        printf("  %-18s%10.2f us%8.2f times as fast\n",
               i == 0 ? "launches of each" : "planner's choice", 1e6 * seconds, alone / seconds);
    }
done:
    return status;
}

/* Throughput over the factor, by threads (stride 32) and by blocks; 0: the planner's choice. */
static weft_status print_factors(const bench *b, const char *name, const char *inputs,
                                 const char *body, bool single, weft_error *error) {
    static const int factors[] = {1, 2, 4, 8, 16, 0};
    weft_status status = WEFT_OK;
    char text[LENGTH];
    printf("%s, %s, %d elements, GB/s\n", name, single ? "float" : "double", LARGE);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; ++i) {
        printf("  factor %2d", factors[i]);
        for (int stride = 32; stride >= 0; stride -= 32) {
            double seconds = 0, bytes = 0;
            snprintf(text, sizeof text,
                     "index N;\n%sfuse iterations %d stride %d {\n%s}\nreturn y;\n", inputs,
                     factors[i], factors[i] > 1 ? stride : 0, body);
            TRY(time_script(b, text,
                            (weft_compile_options){.size = sizeof(weft_compile_options),
                                                   .single = single,
                                                   .elements = LARGE},
                            &seconds, &bytes, error));
            printf("   %s %8.1f", stride > 0 ? "stride 32" : "blocks",
                   1e-9 * bytes * LARGE / seconds);
        }
        printf("\n");
    }
done:
    return status;
}

static weft_status print_all(const bench *b, weft_error *error) {
    static const char *const scripts[][3] = {
        {"y = 2 x", "input x : real over N;\n", "y = 2*x;\n"},
        {"y = x^2", "input x : real over N;\n", "y = x*x;\n"},
        {"y = 2 x + z", "input x, z : real over N;\n", "y = 2*x + z;\n"},
        {"y = sqrt(sin x + cos z) log x", "input x, z : real over N;\n",
         "y = sqrt(sin(x) + cos(z))*log(x);\n"}};
    weft_status status = WEFT_OK;
    TRY(print_launches(b, error));
    TRY(print_reductions(b, error));
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; ++i)
        for (int single = 1; single >= 0; --single)
            TRY(print_factors(b, scripts[i][0], scripts[i][1], scripts[i][2], single, error));
done:
    return status;
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error problem = {0}, *error = &problem;
    bench b = {.device = NULL};
    TRY(weft_device_open(argc > 1 ? argv[1] : "cuda", NULL, &b.device, error));
    if (weft_device_limits(b.device)->records_only) {
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                "%s computes nothing, so there is nothing to time", argv[1]);
        weft_error_hint(error, "name a device that computes");
        goto done;
    }
    TRY(weft_library_make(&b.library, error));
    TRY(weft_timer_make(b.device, &b.timer, error));
    printf("%s\n", weft_device_limits(b.device)->name);
    TRY(print_all(&b, error));
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
