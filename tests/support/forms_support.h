/* Runs functions of lowered integrals for tests. */
#ifndef FORMS_SUPPORT_H
#define FORMS_SUPPORT_H

#include "fem/weft_fem.h"
#include "forms/file/file.h"
#include "forms/lower/lower.h"

#include <stdlib.h>
#include <string.h>

static inline int forms_size(const ufl_lowered *lowered) {
    return (lowered->rank > 0 ? lowered->sizes[0] : 1) *
           (lowered->rank > 1 ? lowered->sizes[1] : 1);
}

static inline int forms_argument_size(const ufl_function_argument *argument) {
    return (argument->rows > 0 ? argument->rows : 1) * (argument->columns > 0 ? argument->columns : 1);
}

static inline weft_status forms_bind(weft_device *device, const double *plain, int n, int size,
                                     weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int lanes = weft_device_limits(device)->lanes_double;
    const size_t bytes = (size_t)((n + lanes - 1) / lanes * lanes * size) * sizeof *plain;
    double *mixed = calloc(bytes, 1);
    if (!mixed)
        TRY(weft_out_of_memory(error, NULL));
    weft_interleave(plain, n, size, lanes, mixed);
    TRY(weft_memory_make(device, bytes, out, error));
    TRY(weft_memory_write(*out, 0, mixed, bytes, error));
done:
    free(mixed);
    return status;
}

/* Add the tensors of n cells to sums.
 *  data  [n_arguments], each [n][size of the argument]
 *  sums  [n][size of the tensor] */
static inline weft_status forms_run(weft_device *device, const ufl_lowered *lowered,
                                    const double *const *data, int n, double *sums,
                                    weft_error *error) {
    enum { MOST = 64 };
    weft_status status = WEFT_OK;
    weft_library *library = NULL;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    weft_memory *memories[MOST] = {NULL};
    weft_text script = {0};
    double *plain = NULL, *mixed = NULL;
    const weft_compile_options options = {.elements = 1000};
    const int size = forms_size(lowered);
    weft_text_add(&script, "index cells;\n");
    for (int i = 0; i < lowered->n_arguments; ++i) {
        const ufl_function_argument *argument = &lowered->arguments[i];
        weft_text_add(&script, "input %s : real", argument->name);
        if (argument->columns > 0)
            weft_text_add(&script, "[%d,%d]", argument->rows, argument->columns);
        else if (argument->rows > 0)
            weft_text_add(&script, "[%d]", argument->rows);
        weft_text_add(&script, " over cells;\n");
    }
    weft_text_add(&script, "A = %s(", lowered->name);
    for (int i = 0; i < lowered->n_arguments; ++i)
        weft_text_add(&script, "%s%s", i ? ", " : "", lowered->arguments[i].name);
    weft_text_add(&script, ");\nreturn A;\n");
    const weft_fragment fragment = {"tensors", script.data};
    TRY(weft_library_make(&library, error));
    TRY(ufl_lowered_add(&lowered, 1, library, error));
    TRY(weft_compile(library, weft_device_limits(device), &fragment, 1, &options, &compilation,
                     error));
    TRY(weft_program_make(device, compilation, &program, error));
    TRY(weft_program_size(program, "cells", n, error));
    for (int i = 0; i < lowered->n_arguments && i < MOST; ++i) {
        TRY(forms_bind(device, data[i], n, forms_argument_size(&lowered->arguments[i]),
                       &memories[i], error));
        TRY(weft_program_bind(program, lowered->arguments[i].name, memories[i], error));
    }
    TRY(weft_program_run(program, error));
    weft_memory *result = weft_program_result(program, "A");
    mixed = calloc(weft_memory_bytes(result), 1);
    plain = calloc((size_t)(n * size), sizeof *plain);
    if (!mixed || !plain)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_memory_read(result, 0, mixed, weft_memory_bytes(result), error));
    weft_deinterleave(mixed, n, size, weft_program_lanes(program), plain);
    for (int i = 0; i < n * size; ++i)
        sums[i] += plain[i];
done:
    free(plain);
    free(mixed);
    weft_program_free(&program);
    weft_compilation_free(&compilation);
    weft_library_free(&library);
    for (int i = 0; i < MOST; ++i)
        weft_memory_free(&memories[i]);
    weft_text_free(&script);
    return status;
}

#endif
