/* Whole processes: the rival in Python, poisson from a warm cache, planning time, and memory a
 * tetrahedron. */
#include "bench_host.h"
#include "core/weft_core.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef WEFT_SOURCE_DIR
#define WEFT_SOURCE_DIR "."
#endif

/* Run a program and return its standard output; *code its exit code. */
static char *output_of(char *const *arguments, int *code) {
    int ends[2];
    size_t length = 0;
    ssize_t got = 0;
    char *text = calloc(1, 65536);
    *code = -1;
    if (text == NULL || pipe(ends) != 0) {
        free(text);
        return NULL;
    }
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(127);
        close(ends[0]);
        close(ends[1]);
        execvp(arguments[0], arguments);
        _exit(127);
    }
    close(ends[1]);
    while (length < 65535 && (got = read(ends[0], text + length, 65535 - length)) > 0)
        length += (size_t)got;
    close(ends[0]);
    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status))
        *code = WEXITSTATUS(status);
    return text;
}

weft_status bench_python(bench_case *c, int64_t n, weft_error *error) {
    int code = 0;
    char size[32], dimension[8];
    char script[] = WEFT_SOURCE_DIR "/tests/bench/bench_dolfinx.py", python[] = "/usr/bin/python3";
    char *const arguments[] = {python, script, dimension, size, NULL};
    (void)error;
    snprintf(size, sizeof size, "%lld", (long long)n);
    snprintf(dimension, sizeof dimension, "%d", c->dimension);
    char *text = output_of(arguments, &code);
    json_t *root = text != NULL ? json_loads(text, 0, NULL) : NULL;
    if (code == 0 && root != NULL) {
        const double assemble = json_real_value(json_object_get(root, "assemble_matrix_seconds"));
        const double iteration = json_real_value(json_object_get(root, "cg_iteration_seconds"));
        bench_line(c->name, "Addto into csr, against DOLFINx assemble_matrix",
                   (double)c->mesh->n_cells / c->addto_seconds * 1e-6, "Mcells/s",
                   assemble / c->addto_seconds, 8.0);
        bench_line(c->name, "Jacobi-CG iteration, against PETSc", c->iteration_seconds * 1e3, "ms",
                   iteration / c->iteration_seconds, 1.0);
    } else
        printf("%-11s DOLFINx and PETSc: skipped (python3-dolfinx is not installed, or failed)\n",
               c->name);
    json_decref(root);
    free(text);
    return WEFT_OK;
}

static double poisson_value(const char *bin_directory, const char *mesh, const char *assembly,
                            const char *key) {
    int code = 0;
    char program[4200], mesh_copy[64], assembly_copy[64];
    char options[][24] = {"--mesh",      "--assembly", "--json",   "-",
                          "--tolerance", "1e-2",       "--device", "host:1"};
    snprintf(program, sizeof program, "%s/poisson", bin_directory);
    snprintf(mesh_copy, sizeof mesh_copy, "%s", mesh);
    snprintf(assembly_copy, sizeof assembly_copy, "%s", assembly);
    char *const arguments[] = {program,       options[0], mesh_copy,  options[1],
                               assembly_copy, options[2], options[3], options[4],
                               options[5],    options[6], options[7], NULL};
    char *text = output_of(arguments, &code);
    json_t *root = text != NULL && code == 0 ? json_loads(text, 0, NULL) : NULL;
    const json_t *found = json_object_get(root, key);
    if (!json_is_number(found))
        found = json_object_get(json_object_get(root, "mesh"), key);
    if (!json_is_number(found))
        found = json_object_get(json_object_get(root, "seconds"), key);
    const double value = found != NULL ? json_number_value(found) : -1.0;
    json_decref(root);
    free(text);
    return value;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

weft_status bench_process(const char *bin_directory, weft_error *error) {
    static const struct {
        const char *assembly;
        double most;
    } memory[] = {{"lma", 300.0}, {"matrix-free", 100.0}};
    double times[REPEATS];
    (void)error;
    for (int i = -1; i < REPEATS; ++i) {
        const double start = weft_clock();
        if (poisson_value(bin_directory, "square:32", "lma", "iterations") < 0) {
            printf("poisson: skipped (not found beside bench_host, or it failed)\n");
            return WEFT_OK;
        }
        times[i < 0 ? 0 : i] = weft_clock() - start;
    }
    qsort(times, REPEATS, sizeof *times, compare_doubles);
    bench_line("poisson", "--mesh square:32, warm cache, whole process", times[REPEATS / 2] * 1e3,
               "ms", 0.15 / times[REPEATS / 2], 1.0);
    const double plan = poisson_value(bin_directory, "square:32", "lma", "plan");
    if (plan > 0)
        bench_line("poisson", "plan and generate, all its scripts", plan * 1e3, "ms", 0.020 / plan,
                   1.0);
    for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i) {
        const double cells = poisson_value(bin_directory, "cube:70", memory[i].assembly, "cells");
        const double bytes =
            poisson_value(bin_directory, "cube:70", memory[i].assembly, "bytes_peak") / cells;
        bench_line("poisson",
                   i == 0 ? "peak memory, lma (300 at most)"
                          : "peak memory, matrix-free (100 at most)",
                   bytes, "B/tet", memory[i].most / bytes, 1.0);
    }
    return WEFT_OK;
}
