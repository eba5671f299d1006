/* Operators from dense matrices, and right-hand sides and solutions on a host device. */
#include "dense_operator.h"
#include "core/weft_core.h"
#include "test_support.h"

static weft_status dense_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                               weft_error *error) {
    (void)error;
    const dense *m = op->state;
    const double *in = weft_memory_host(v);
    double *out = weft_memory_host(y);
    for (int64_t i = 0; i < m->n; ++i) {
        out[i] = 0;
        for (int64_t j = 0; j < m->n; ++j)
            out[i] += m->A[i * m->n + j] * in[j];
    }
    return WEFT_OK;
}

static weft_status dense_diagonal(weft_operator *op, weft_memory *d, weft_error *error) {
    (void)error;
    const dense *m = op->state;
    double *out = weft_memory_host(d);
    for (int64_t i = 0; i < m->n; ++i)
        out[i] = m->diagonal ? m->diagonal[i] : m->A[i * m->n + i];
    return WEFT_OK;
}

weft_operator dense_operator(const dense *matrix) {
    static const weft_operator_table table = {.apply = dense_apply, .diagonal = dense_diagonal};
    return (weft_operator){.table = &table, .state = (void *)matrix, .n_dofs = matrix->n};
}

setting setting_make(const char *device, weft_library *library, int64_t n) {
    setting s = {0};
    weft_device_options options = weft_device_options_default(NULL);
    assert_int_equal(weft_device_open(device, &options, &s.device, NULL), WEFT_OK);
    s.context = (weft_context){.device = s.device, .library = library};
    assert_int_equal(weft_memory_make(s.device, (size_t)n * sizeof(double), &s.b, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(s.device, (size_t)n * sizeof(double), &s.x, NULL), WEFT_OK);
    s.b_values = weft_memory_host(s.b);
    s.x_values = weft_memory_host(s.x);
    return s;
}

void setting_free(setting *s) {
    weft_memory_free(&s->b);
    weft_memory_free(&s->x);
    weft_device_free(&s->device);
}
