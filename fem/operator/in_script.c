/* Operators that scripts apply: products by kernels of the device, or by calls. */
#include "core/comm/exact.h"
#include "fem/operator/operator.h"
#include "fem/space/layout.h"
#include "fem/sparse/csr.h"

#include <stdlib.h>

/* Ranks with different devices: each has a product that the host calls, and a sum after it, in which they meet in the same order. */
static bool is_mixed(const weft_operator *op) {
    return op->layout && weft_comm_is_mixed(weft_layout_comm(op->layout));
}

weft_status weft_operator_in_script_make(weft_operator *op, weft_operator_in_script *out,
                                         weft_error *error) {
    const size_t n = (size_t)(op->n_dofs / WEFT_REDUCTION_TILE) + 1;
    *out = (weft_operator_in_script){.op = op};
    if (!op->values || !weft_memory_host(op->values) || is_mixed(op))
        return WEFT_OK;
    if (op->layout)
        out->exact = calloc(n, sizeof *out->exact);
    else
        out->sums = calloc(n, sizeof *out->sums);
    return out->sums || out->exact ? WEFT_OK : weft_out_of_memory(error, "sums of chunks");
}

void weft_operator_in_script_free(weft_operator_in_script *in_script) {
    free(in_script->sums);
    free(in_script->exact);
    *in_script = (weft_operator_in_script){0};
}

const weft_product_arguments *weft_operator_rows(const weft_operator *op) {
    const bool has_rows = op->table->rows && !is_mixed(op) &&
                          weft_device_limits(op->context->device)->execution == WEFT_EXECUTION_SIMT;
    return has_rows ? op->table->rows(op) : NULL;
}

weft_operator_choice weft_operator_in_script_choice(const weft_operator_in_script *in_script,
                                                    const char *name) {
    const weft_product_arguments *rows = weft_operator_rows(in_script->op);
    return (weft_operator_choice){.name = name,
                                  .product_kernel = rows ? rows->product_kernel : NULL,
                                  .brings_dot = !rows && (in_script->sums || in_script->exact)};
}

static weft_status apply_exactly(const weft_operator_in_script *in_script,
                                 const weft_program_product *product, double *dot,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_operator *op = in_script->op;
    weft_exact_sum sum;
    TRY(weft_layout_update(op->layout, product->v, error));
    TRY(weft_csr_product_exact(op->context->device, op->pattern, weft_memory_host(op->values),
                               weft_memory_host(product->v), weft_memory_host(product->y),
                               weft_memory_host(weft_layout_share(op->layout)->owned),
                               in_script->exact, &sum, error));
    TRY(weft_comm_join_sums(weft_layout_comm(op->layout), &sum, 1, error));
    *dot = weft_exact_value(&sum);
done:
    return status;
}

static weft_status apply(void *user, const weft_program_product *product, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_operator_in_script *in_script = user;
    weft_operator *op = in_script->op;
    double dot = 0;
    if (!product->vy) {
        status = weft_operator_apply_in_loop(op, product, error);
        goto done;
    }
    if (in_script->exact) {
        TRY(apply_exactly(in_script, product, &dot, error));
        TRY(weft_memory_write(product->vy, 0, &dot, sizeof dot, error));
        goto done;
    }
    TRY(weft_csr_product_dots(op->context->device, op->pattern, weft_memory_host(op->values),
                              weft_memory_host(product->v), weft_memory_host(product->y),
                              in_script->sums, error));
    dot = weft_sum(in_script->sums, (op->n_dofs + WEFT_REDUCTION_TILE - 1) / WEFT_REDUCTION_TILE);
    TRY(weft_memory_write(product->vy, 0, &dot, sizeof dot, error));
done:
    return status;
}

weft_status weft_operator_in_script_bind(weft_operator_in_script *in_script, weft_program *program,
                                         const char *name, weft_error *error) {
    const weft_product_arguments *rows = weft_operator_rows(in_script->op);
    return rows ? weft_program_bind_product(program, name, rows, error)
                : weft_program_bind_operator(program, name, apply, in_script, error);
}
