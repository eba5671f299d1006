/* Makes the matrix rows of forms with c components per node. Row i*c + k of a local matrix belongs
 * to component k of node i; vectors are [nodes][c], which conjugate gradients treat as plain
 * vectors. */
#include "fem/form/form.h"
#include "fusion/connectivity/connectivity.h"

#include <stdlib.h>

int weft_form_components(const weft_form *form) {
    return form->components > 1 ? form->components : 1;
}

int64_t weft_form_vector_dofs(const weft_form *form) {
    return weft_connectivity_to(form->dofs) * weft_form_components(form);
}

enum { CHUNK = 1 << 16 };

typedef struct numbering {
    const int32_t *nodes;
    int32_t *out;
    int64_t n; /* nodes of all cells */
    int32_t components;
} numbering;

static void chunk_number(void *user, int64_t chunk) {
    const numbering *m = user;
    const int64_t last = (chunk + 1) * CHUNK < m->n ? (chunk + 1) * CHUNK : m->n;
    for (int64_t i = chunk * CHUNK; i < last; ++i)
        for (int32_t k = 0; k < m->components; ++k)
            m->out[i * m->components + k] = m->nodes[i] * m->components + k;
}

static weft_status number_on_device(weft_device *device, const weft_form *form, int components,
                                    weft_vector_dofs *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int width = weft_connectivity_width(form->dofs) * components;
    const weft_index_map map = {.components = components, .width = width};
    weft_memory *made = NULL;
    TRY(weft_memory_make_unset(
        device, (size_t)(weft_connectivity_from(form->dofs) * width) * sizeof(int32_t), &made,
        error));
    TRY(weft_connectivity_map(form->dofs, &map, made, error));
    TRY(weft_connectivity_make_on_device(device, &made, width, weft_form_vector_dofs(form),
                                         &out->connectivity, error));
    out->is_own = true;
done:
    weft_memory_free(&made);
    return status;
}

weft_status weft_vector_dofs_make(weft_device *device, const weft_form *form, weft_vector_dofs *out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_form_components(form), width = weft_connectivity_width(form->dofs);
    const int64_t n_cells = weft_connectivity_from(form->dofs);
    int64_t n = 0;
    *out = (weft_vector_dofs){.connectivity = form->dofs};
    if (c == 1)
        goto done;
    out->connectivity = NULL;
    if (__builtin_mul_overflow(n_cells, (int64_t)width * c, &n) ||
        weft_form_vector_dofs(form) > INT32_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "%lld nodes of %d components are more than 2^31 - 1 dofs",
                           (long long)weft_connectivity_to(form->dofs), c));
    if (weft_setup_on_device(device)) {
        TRY(number_on_device(device, form, c, out, error));
        goto done;
    }
    out->indices = weft_array_make_unset((uint64_t)n * sizeof *out->indices);
    if (!out->indices)
        TRY(weft_out_of_memory(error, "the dofs of cells"));
    TRY(weft_connectivity_read(form->dofs, error));
    const int32_t *nodes = weft_connectivity_indices(form->dofs);
    const int64_t n_nodes = n_cells * width;
    TRY(weft_device_for(device, (n_nodes + CHUNK - 1) / CHUNK, chunk_number,
                        &(numbering){nodes, out->indices, n_nodes, c}, error));
    TRY(weft_connectivity_make(device, out->indices, n_cells, width * c,
                               weft_form_vector_dofs(form), &out->connectivity, error));
    out->is_own = true;
done:
    return status;
}

void weft_vector_dofs_free(weft_vector_dofs *vector_dofs) {
    if (vector_dofs->is_own)
        weft_connectivity_free(&vector_dofs->connectivity);
    free(vector_dofs->indices);
    *vector_dofs = (weft_vector_dofs){0};
}

weft_status weft_options_add(weft_compile_options *options, weft_parameter storage[],
                             const weft_parameter *more, int n, weft_error *error) {
    if (options->n_parameters + n > WEFT_PARAMETERS_MAX)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "more than %d parameters are given to a form",
                              WEFT_PARAMETERS_MAX - n);
    for (int i = 0; i < options->n_parameters; ++i)
        storage[i] = options->parameters[i];
    for (int i = 0; i < n; ++i)
        storage[options->n_parameters + i] = more[i];
    options->parameters = storage;
    options->n_parameters += n;
    return WEFT_OK;
}
