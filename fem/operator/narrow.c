/* Copies of a form's inputs in single precision, in the layout that programs of floats read. */
#include "core/weft_core.h"
#include "fem/base/memory.h"
#include "fem/operator/private.h"

#include <stdlib.h>
#include <string.h>

/* Components of an input over cells, whose lists are in blocks of lanes; 0: of another, in the order of its elements. */
static int cell_components(const weft_compilation *compilation, const char *input) {
    weft_name_info info;
    for (int i = 0; compilation && i < weft_compilation_names(compilation); ++i) {
        weft_compilation_name(compilation, i, &info);
        if (info.kind != WEFT_NAME_INPUT || strcmp(info.name, input) != 0)
            continue;
        int components = info.over && strcmp(info.over, "cells") == 0;
        for (int k = 0; k < info.rank; ++k)
            components *= info.sizes[k];
        return components;
    }
    return 0;
}

static int64_t padded(int64_t n, int64_t lanes) {
    return (n + lanes - 1) / lanes * lanes;
}

/* The number of reals in a copy. */
static int64_t count_reals(const weft_narrow_inputs *narrow, int i) {
    const weft_limits *limits = weft_device_limits(weft_lists_device(narrow->lists));
    const int64_t n = (int64_t)(weft_memory_bytes(narrow->wide[i].memory) / sizeof(double));
    return narrow->components[i] > 0
               ? padded(narrow->n_cells, limits->lanes_float) * narrow->components[i]
               : n;
}

weft_status weft_narrow_inputs_make(weft_context *context, const weft_form *form,
                                    weft_narrow_inputs *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)form->n_inputs;
    *out = (weft_narrow_inputs){
        .n = form->n_inputs, .n_cells = weft_connectivity_from(form->dofs), .wide = form->inputs};
    TRY(weft_lists_make(context->device, &out->lists, error));
    out->inputs = calloc(n + 1, sizeof *out->inputs);
    out->components = calloc(n + 1, sizeof *out->components);
    if (!out->inputs || !out->components)
        TRY(weft_out_of_memory(error, "inputs in single precision"));
    for (int i = 0; i < out->n; ++i)
        out->inputs[i].name = form->inputs[i].name;
done:
    return status;
}

/* Blocks of other lanes: [block][component][lane]. */
static void convert_cells(const weft_narrow_inputs *narrow, int i, const weft_limits *limits) {
    const double *from = weft_memory_host(narrow->wide[i].memory);
    float *to = weft_memory_host(narrow->inputs[i].memory);
    const int64_t a = limits->lanes_double, b = limits->lanes_float, c = narrow->components[i];
    for (int64_t cell = 0; from && cell < padded(narrow->n_cells, b) && narrow->n_cells > 0;
         ++cell) {
        const int64_t own = cell < narrow->n_cells ? cell : narrow->n_cells - 1;
        for (int64_t k = 0; k < c; ++k)
            to[(cell / b * c + k) * b + cell % b] = (float)from[(own / a * c + k) * a + own % a];
    }
}

static weft_status convert(const weft_narrow_inputs *narrow, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_limits *limits = weft_device_limits(weft_lists_device(narrow->lists));
    if (narrow->components[i] > 0 && limits->lanes_float != limits->lanes_double)
        convert_cells(narrow, i, limits);
    else
        TRY(weft_lists_narrow(narrow->lists, count_reals(narrow, i), narrow->wide[i].memory,
                              narrow->inputs[i].memory, error));
done:
    return status;
}

weft_status weft_narrow_inputs_add(weft_narrow_inputs *narrow, int i,
                                   const weft_compilation *compilation, weft_error *error) {
    weft_status status = WEFT_OK;
    if (narrow->inputs[i].memory)
        goto done;
    narrow->components[i] = cell_components(compilation, narrow->wide[i].name);
    TRY(weft_memory_make(weft_lists_device(narrow->lists),
                         (size_t)count_reals(narrow, i) * sizeof(float), &narrow->inputs[i].memory,
                         error));
    TRY(convert(narrow, i, error));
done:
    return status;
}

weft_status weft_narrow_inputs_refresh(const weft_narrow_inputs *narrow, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < narrow->n; ++i)
        if (narrow->inputs[i].memory)
            TRY(convert(narrow, i, error));
done:
    return status;
}

void weft_narrow_inputs_clear(weft_narrow_inputs *narrow) {
    for (int i = 0; narrow->inputs && i < narrow->n; ++i)
        weft_memory_free(&narrow->inputs[i].memory);
    free(narrow->inputs);
    free(narrow->components);
    weft_lists_free(&narrow->lists);
    *narrow = (weft_narrow_inputs){0};
}
