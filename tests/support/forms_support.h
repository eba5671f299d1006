/* Runs functions of lowered integrals for tests. */
#ifndef FORMS_SUPPORT_H
#define FORMS_SUPPORT_H

#include "fem/weft_fem.h"
#include "forms/file/file.h"
#include "forms/lower/lower.h"

#include <stdlib.h>
#include <string.h>

enum { FORMS_ARGUMENTS = 64 };

static inline int forms_size(const ufl_lowered *lowered) {
    return (lowered->rank > 0 ? lowered->sizes[0] : 1) *
           (lowered->rank > 1 ? lowered->sizes[1] : 1);
}

static inline int forms_argument_size(const ufl_function_argument *argument) {
    return (argument->rows > 0 ? argument->rows : 1) *
           (argument->columns > 0 ? argument->columns : 1);
}

/** Where and how a function runs. */
typedef struct forms_way {
    weft_device *device;
    bool single; /* float, else double */
    int variant; /* which of the bodies that each function has; the last, if it has fewer */
} forms_way;

/** A function over n cells, ready to run. Starts from {0}. */
typedef struct forms_job {
    weft_library *library;
    weft_compilation *compilation;
    weft_program *program;
    weft_memory *memories[FORMS_ARGUMENTS];
    int n, size, n_variants;
    bool single;
} forms_job;

static inline void forms_job_free(forms_job *job) {
    weft_program_free(&job->program);
    weft_compilation_free(&job->compilation);
    weft_library_free(&job->library);
    for (int i = 0; i < FORMS_ARGUMENTS; ++i)
        weft_memory_free(&job->memories[i]);
}

static inline void forms_argument(const void *user, int argument, weft_text *out) {
    weft_text_add(out, "%s", ((const ufl_lowered *)user)->arguments[argument].name);
}

static inline void forms_script(const ufl_lowered *lowered, weft_text *out) {
    weft_text_add(out, "index cells;\n");
    for (int i = 0; i < lowered->n_arguments; ++i) {
        const ufl_function_argument *argument = &lowered->arguments[i];
        weft_text_add(out, "input %s : real", argument->name);
        if (argument->columns > 0)
            weft_text_add(out, "[%d,%d]", argument->rows, argument->columns);
        else if (argument->rows > 0)
            weft_text_add(out, "[%d]", argument->rows);
        weft_text_add(out, " over cells;\n");
    }
    weft_text_add(out, "A = ");
    ufl_lowered_call(lowered, forms_argument, lowered, out);
    weft_text_add(out, ";\nreturn A;\n");
}

static inline weft_status forms_bind(forms_job *job, const forms_way *way, int k, const char *name,
                                     const double *plain, int size, weft_error *error) {
    weft_status status = WEFT_OK;
    const int lanes = weft_program_lanes(job->program);
    const size_t n = (size_t)((job->n + lanes - 1) / lanes * lanes * size);
    const size_t bytes = n * (way->single ? sizeof(float) : sizeof(double));
    double *mixed = calloc(n, sizeof *mixed);
    if (!mixed)
        TRY(weft_out_of_memory(error, NULL));
    weft_interleave(plain, job->n, size, lanes, mixed);
    for (size_t i = 0; way->single && i < n; ++i) {
        const float rounded = (float)mixed[i];
        memcpy((char *)mixed + i * sizeof rounded, &rounded, sizeof rounded);
    }
    TRY(weft_memory_make(way->device, bytes, &job->memories[k], error));
    TRY(weft_memory_write(job->memories[k], 0, mixed, bytes, error));
    TRY(weft_program_bind(job->program, name, job->memories[k], error));
done:
    free(mixed);
    return status;
}

static inline int forms_bodies(const weft_library *library, const char *function) {
    weft_function_info info = {0};
    for (size_t i = 0; i < weft_library_size(library); ++i) {
        weft_library_info(library, i, &info);
        if (strcmp(info.name, function) == 0)
            return info.n_variants;
    }
    return 0;
}

/** Compile a function and bind its arguments.
 *  data  [n_arguments], each [n][size of the argument] */
static inline weft_status forms_job_make(forms_job *job, const forms_way *way,
                                         const ufl_lowered *lowered, const double *const *data,
                                         int n, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text script = {0};
    weft_variant_choice choices[UFL_STAGES_MAX] = {{lowered->name, 0}};
    const int n_functions = lowered->n_stages > 0 ? lowered->n_stages : 1;
    const weft_compile_options options = {.size = sizeof options,
                                          .elements = 1000,
                                          .single = way->single,
                                          .variants = choices,
                                          .n_variants = n_functions};
    job->n = n;
    job->size = forms_size(lowered);
    job->single = way->single;
    forms_script(lowered, &script);
    const weft_fragment fragment = {"tensors", script.data};
    TRY(weft_library_make(&job->library, error));
    TRY(ufl_lowered_add(&lowered, 1, job->library, error));
    for (int k = 0; k < n_functions; ++k) {
        if (lowered->n_stages > 0)
            choices[k].function = lowered->stages[k].name;
        const int n_bodies = forms_bodies(job->library, choices[k].function);
        choices[k].variant = way->variant < n_bodies ? way->variant : n_bodies - 1;
        job->n_variants = n_bodies > job->n_variants ? n_bodies : job->n_variants;
    }
    TRY(weft_compile(job->library, weft_device_limits(way->device), &fragment, 1, &options,
                     &job->compilation, error));
    TRY(weft_program_make(way->device, job->compilation, &job->program, error));
    TRY(weft_program_size(job->program, "cells", n, error));
    for (int i = 0; i < lowered->n_arguments && i < FORMS_ARGUMENTS; ++i)
        TRY(forms_bind(job, way, i, lowered->arguments[i].name, data[i],
                       forms_argument_size(&lowered->arguments[i]), error));
done:
    weft_text_free(&script);
    return status;
}

/** Run, and add the tensors to sums, [n][size]. */
static inline weft_status forms_job_run(forms_job *job, double *sums, weft_error *error) {
    weft_status status = WEFT_OK;
    double *plain = NULL, *mixed = NULL;
    TRY(weft_program_run(job->program, error));
    weft_memory *result = weft_program_result(job->program, "A");
    const size_t bytes = weft_memory_bytes(result);
    const size_t n = bytes / (job->single ? sizeof(float) : sizeof(double));
    mixed = calloc(n, sizeof *mixed);
    plain = calloc((size_t)(job->n * job->size), sizeof *plain);
    if (!mixed || !plain)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_memory_read(result, 0, mixed, bytes, error));
    for (size_t i = n; job->single && i-- > 0;) {
        float rounded;
        memcpy(&rounded, (char *)mixed + i * sizeof rounded, sizeof rounded);
        mixed[i] = (double)rounded;
    }
    weft_deinterleave(mixed, job->n, job->size, weft_program_lanes(job->program), plain);
    for (int i = 0; i < job->n * job->size; ++i)
        sums[i] += plain[i];
done:
    free(plain);
    free(mixed);
    return status;
}

/** Both, in double precision. */
static inline weft_status forms_run(weft_device *device, const ufl_lowered *lowered,
                                    const double *const *data, int n, double *sums,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    forms_job job = {0};
    const forms_way way = {.device = device};
    TRY(forms_job_make(&job, &way, lowered, data, n, error));
    TRY(forms_job_run(&job, sums, error));
done:
    forms_job_free(&job);
    return status;
}

#endif
