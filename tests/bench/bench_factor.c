/* Factorisations and solutions of 100,000 small systems: scripts of lu, cholesky and solve, by the first plan and with the
 * bodies of one thread, of n threads and of parts of a warp, beside cuSOLVER (Cholesky) and cuBLAS (LU and solve) where the
 * device is a GPU and has them.
 *
 *      bench_factor [DEVICE [NAME [COUNT]]]     default auto; NAME: only cases with this in their names
 *
 * Without a NAME, or with "", these are n = 8, 16 and 32 over plain lists, as the libraries take them, without the factor as a
 * result; other bodies than the plan's only up to n = 16, since NVRTC takes up to 40 s for larger ones. "n=", say, is in all names.
 *
 * A line has the time, the bandwidth on the least bytes (the matrix and the right-hand side read, the solution, and where it
 * is asked for the factor, written), its share of that of copying as many bytes, and the largest error of a solution whose
 * components are all 1. */
#include "bench_factor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 11, TEXT = 1024, WAYS = 4 };

typedef enum method { CHOLESKY, LU, SOLVE, METHODS } method;
static const char *const methods[METHODS] = {"cholesky", "lu", "solve"};

typedef struct factor_case {
    method method;
    bool single, plain, keeps; /* keeps: the factor is a result too */
    int n;
    int64_t count;
    void *a, *b; /* the lists, in this layout */
} factor_case;

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* ---- data ---- */

/* Entry (i, j) of matrix e: symmetric, dominated by its diagonal. */
static double entry(int64_t e, int n, int i, int j) {
    const uint32_t row = (uint32_t)(i > j ? i : j), column = (uint32_t)(i > j ? j : i);
    const uint32_t hash = ((uint32_t)e * 31 + row * 7 + column) * 2654435761u;
    return i == j ? n + 1 : (double)(hash >> 16) / 65536 - 0.5;
}

/* Where component k of element e stands in a list of m components. */
static size_t place(const factor_case *c, int lanes, int64_t e, int m, int k) {
    return c->plain ? (size_t)(e * m + k) : (size_t)((e / lanes * m + k) * lanes + e % lanes);
}

static void put(const factor_case *c, void *list, size_t at, double value) {
    if (c->single)
        ((float *)list)[at] = (float)value;
    else
        ((double *)list)[at] = value;
}

/* Matrices and right-hand sides, A x = b with x = (1, ..., 1), as rounded matrices give it. */
static void fill(const factor_case *c, int lanes, void *a, void *b) {
    const int n = c->n;
    for (int64_t e = 0; e < c->count; ++e)
        for (int i = 0; i < n; ++i) {
            double sum = 0;
            for (int j = 0; j < n; ++j) {
                const double value =
                    c->single ? (double)(float)entry(e, n, i, j) : entry(e, n, i, j);
                put(c, a, place(c, lanes, e, n * n, i * n + j), value);
                sum += value;
            }
            put(c, b, place(c, lanes, e, n, i), sum);
        }
}

static double error_of(const factor_case *c, int lanes, const void *x) {
    double worst = 0;
    for (int64_t e = 0; e < c->count; ++e)
        for (int i = 0; i < c->n; ++i) {
            const size_t at = place(c, lanes, e, c->n, i);
            const double found =
                c->single ? (double)((const float *)x)[at] : ((const double *)x)[at];
            const double error = fabs(found - 1);
            worst = error <= worst ? worst : error;
        }
    return worst;
}

/* ---- by Weft ---- */

/* The variants of the factorisation and of its solution by way; -1: there are none. */
static const int variants[METHODS][WAYS][2] = {
    {{-1, -1}, {0, 0}, {1, 1}, {-1, -1}}, /* plan, one thread, n threads, lanes */
    {{-1, -1}, {0, 0}, {1, 1}, {3, 2}},   /* 2: n x n threads */
    {{-1, -1}, {0, 0}, {-1, -1}, {1, 1}}};

static weft_status compile(const factor_case *c, const weft_library *library, weft_device *device,
                           int way, weft_compilation **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *name = methods[c->method];
    char text[TEXT], solution[64], calls[128];
    snprintf(solution, sizeof solution, "%s_solve", name);
    snprintf(calls, sizeof calls, "F = %s(A);\nx = %s(F, b);", name, solution);
    const weft_variant_choice choices[2] = {{name, variants[c->method][way][0]},
                                            {solution, variants[c->method][way][1]}};
    snprintf(text, sizeof text,
             "index N%s;\ninput A : real[%d,%d] over N;\ninput b : real[%d] over N;\n"
             "%s\nreturn x%s;\n",
             c->plain ? " plain" : "", c->n, c->n, c->n,
             c->method == SOLVE ? "x = solve(A, b);" : calls, c->keeps ? ", F" : "");
    const weft_fragment fragment = {"factor.weft", text};
    const weft_compile_options options = {.size = sizeof options,
                                          .single = c->single,
                                          .elements = c->count,
                                          .variants = way > 0 ? choices : NULL,
                                          .n_variants = way == 0             ? 0
                                                        : c->method == SOLVE ? 1
                                                                             : 2};
    TRY(weft_compile(library, weft_device_limits(device), &fragment, 1, &options, out, error));
    if (way == 0) /* as programs do */
        TRY(weft_compilation_correct(*out, device, error));
done:
    return status;
}

static weft_status time_program(weft_timer *timer, weft_program *program, double *seconds,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    double taken[REPEATS];
    for (int i = -2; i < REPEATS; ++i) {
        TRY(weft_timer_start(timer, error));
        TRY(weft_program_run(program, error));
        TRY(weft_timer_stop(timer, error));
        TRY(weft_timer_seconds(timer, &taken[i < 0 ? 0 : i], error));
    }
    qsort(taken, REPEATS, sizeof *taken, compare);
    *seconds = taken[REPEATS / 2];
done:
    return status;
}

static size_t list_bytes(const factor_case *c, int components) {
    return (size_t)((c->count + 31) / 32 * 32 * components) * (c->single ? 4 : 8);
}

static double least_bytes(const factor_case *c) {
    const double matrix = (double)c->n * c->n, factor = c->method == LU ? matrix + c->n : matrix;
    return (double)c->count * (c->single ? 4 : 8) * (matrix + 2 * c->n + (c->keeps ? factor : 0));
}

/* One way to compile a case: its seconds, and the error of its solutions. */
static weft_status run_way(const factor_bench *b, const factor_case *c, int way, double *seconds,
                           double *worst, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    weft_memory *lists[2] = {NULL, NULL};
    void *x = calloc(1, list_bytes(c, c->n));
    if (!x)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for solutions"));
    TRY(compile(c, b->library, b->device, way, &compilation, error));
    TRY(weft_program_make(b->device, compilation, &program, error));
    TRY(weft_program_size(program, "N", c->count, error));
    for (int k = 0; k < 2; ++k) {
        const size_t bytes = list_bytes(c, k == 0 ? c->n * c->n : c->n);
        TRY(weft_memory_make(b->device, bytes, &lists[k], error));
        TRY(weft_memory_write(lists[k], 0, k == 0 ? c->a : c->b, bytes, error));
        TRY(weft_program_bind_beginning(program, k == 0 ? "A" : "b", lists[k], error));
    }
    TRY(time_program(b->timer, program, seconds, error));
    const int lanes = weft_program_lanes(program);
    const int64_t rounded = c->plain ? c->count : (c->count + lanes - 1) / lanes * lanes;
    TRY(weft_memory_read(weft_program_result(program, "x"), 0, x,
                         (size_t)(rounded * c->n) * (c->single ? 4 : 8), error));
    *worst = error_of(c, lanes, x);
done:
    weft_program_free(&program);
    weft_compilation_free(&compilation);
    weft_memory_free(&lists[0]);
    weft_memory_free(&lists[1]);
    free(x);
    return status;
}

/* The time of copying half of the bytes to the other half. */
static weft_status copy_seconds(const factor_bench *b, double bytes, double *seconds,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *from = NULL, *to = NULL;
    double taken[REPEATS];
    const size_t half = (size_t)(bytes / 2) / 256 * 256 + 256;
    TRY(weft_memory_make(b->device, half, &from, error));
    TRY(weft_memory_make(b->device, half, &to, error));
    for (int i = -1; i < REPEATS; ++i) {
        TRY(weft_timer_start(b->timer, error));
        TRY(weft_memory_copy(to, from, half, error));
        TRY(weft_timer_stop(b->timer, error));
        TRY(weft_timer_seconds(b->timer, &taken[i < 0 ? 0 : i], error));
    }
    qsort(taken, REPEATS, sizeof *taken, compare);
    *seconds = taken[REPEATS / 2];
done:
    weft_memory_free(&from);
    weft_memory_free(&to);
    return status;
}

/* Over a plain list. */
static weft_status run_rival(const factor_bench *b, const factor_case *c, double *seconds,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    void *x = malloc(list_bytes(c, c->n));
    if (!x)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for solutions"));
    memcpy(x, c->b, list_bytes(c, c->n));
    TRY(factor_rival_run(b,
                         &(factor_systems){.lu = c->method != CHOLESKY,
                                           .single = c->single,
                                           .n = c->n,
                                           .count = c->count,
                                           .matrices = c->a,
                                           .rights = x},
                         seconds, error));
    const double worst = error_of(c, 1, x);
    if (!(worst < (c->single ? 1e-4 : 1e-11)))
        printf("    the library's solutions are wrong by %.1e\n", worst);
done:
    free(x);
    return status;
}

/* Say which case failed, and why; true. */
static bool report(const char *name, const char *way, const weft_error *error) {
    char message[4 * TEXT];
    weft_error_text(error, message, sizeof message);
    printf("%-24s %-10s failed: %s\n", name, way, message);
    fflush(stdout);
    return true;
}

static void print_way(const factor_case *c, const char *name, const char *way, double seconds,
                      double copy, double rival, double worst) {
    printf("%-24s %-10s %10.1f us %8.0f GB/s %6.1f %%", name, way, 1e6 * seconds,
           1e-9 * least_bytes(c) / seconds, 100 * copy / seconds);
    if (rival > 0)
        printf(" %8.2f x (library %.1f us)", rival / seconds, 1e6 * rival);
    printf("  error %.1e\n", worst);
    fflush(stdout);
}

/* Every way of a case; one that fails is reported, and the others are run. */
static void run_ways(const factor_bench *b, const factor_case *c, const char *name, bool *wrong) {
    static const char *const ways[WAYS] = {"planned", "1 thread", "n threads", "lanes"};
    double seconds = 0, worst = 0, copy = 0, rival = 0;
    weft_error problem = {0};
    if (copy_seconds(b, least_bytes(c), &copy, &problem) != WEFT_OK)
        *wrong |= report(name, "copy", &problem);
    if (b->rival && c->plain && run_rival(b, c, &rival, &problem) != WEFT_OK) {
        *wrong |= report(name, "library", &problem);
        rival = 0;
    }
    for (int way = 0; way < (b->is_gpu && (c->n <= 16 || b->wanted[0]) ? WAYS : 1); ++way) {
        if (way > 0 && variants[c->method][way][0] < 0)
            continue;
        problem = (weft_error){0};
        if (run_way(b, c, way, &seconds, &worst, &problem) != WEFT_OK) {
            *wrong |= report(name, ways[way], &problem);
            continue;
        }
        print_way(c, name, ways[way], seconds, copy, rival, worst);
        *wrong |= !(worst < (c->single ? 1e-4 : 1e-11));
    }
}

static void run_case(const factor_bench *b, factor_case *c, bool *wrong) {
    char name[64];
    weft_error problem = {0};
    const weft_limits *limits = weft_device_limits(b->device);
    const bool usual = c->plain && !c->keeps && c->n >= 8 && c->n <= 32;
    snprintf(name, sizeof name, "%s %s n=%d%s%s", c->single ? "S" : "D", methods[c->method], c->n,
             c->plain ? " plain" : "", c->keeps ? " kept" : "");
    if ((c->method == SOLVE && c->keeps) ||
        (b->wanted[0] ? strstr(name, b->wanted) == NULL : !usual))
        return;
    c->a = calloc(1, list_bytes(c, c->n * c->n));
    c->b = calloc(1, list_bytes(c, c->n));
    if (c->a && c->b) {
        fill(c,
             b->is_gpu   ? 32
             : c->single ? limits->lanes_float
                         : limits->lanes_double,
             c->a, c->b);
        run_ways(b, c, name, wrong);
    } else {
        weft_error_set(&problem, WEFT_ERROR_MEMORY, "out of memory for systems");
        *wrong |= report(name, "", &problem);
    }
    free(c->a);
    free(c->b);
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error problem = {0}, *error = &problem;
    static const int orders[] = {4, 8, 16, 32, 64};
    factor_bench b = {.wanted = argc > 2 ? argv[2] : ""};
    bool wrong = false;
    TRY(weft_device_open(argc > 1 ? argv[1] : "auto", NULL, &b.device, error));
    TRY(weft_library_make(&b.library, error));
    TRY(weft_timer_make(b.device, &b.timer, error));
    const weft_limits *limits = weft_device_limits(b.device);
    b.is_gpu = limits->execution == WEFT_EXECUTION_SIMT;
    printf("%s\n", limits->name);
    if (b.is_gpu)
        TRY(factor_rival_open(&b, error));
    for (int number = 0; number < 8 * METHODS * (int)(sizeof orders / sizeof *orders); ++number) {
        factor_case c = {.single = !(number & 4),
                         .plain = number & 2,
                         .keeps = number & 1,
                         .method = number / 8 % METHODS,
                         .n = orders[number / 8 / METHODS],
                         .count = argc > 3 ? atoll(argv[3]) : 100000};
        run_case(&b, &c, &wrong);
    }
done:
    if (status != WEFT_OK)
        fprintf(stderr, "%s\n", error->message);
    factor_rival_close(&b);
    weft_library_free(&b.library);
    weft_timer_free(&b.timer);
    weft_device_free(&b.device);
    return status != WEFT_OK || wrong;
}
