/* Holds the bound arguments of product kernels, and the double buffers of lists that alternate
 * between two memories. */
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/runtime/private.h"

#include <stdlib.h>
#include <string.h>

weft_status weft_program_product_allocate(weft_program_segment *p, weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    const size_t n_values = (size_t)graph->n_values + 1;
    p->double_buffers = calloc(n_values, sizeof *p->double_buffers);
    p->swapped = calloc(n_values, sizeof *p->swapped);
    p->rows = calloc((size_t)graph->n_operators + 1, sizeof *p->rows);
    return p->double_buffers && p->swapped && p->rows ? WEFT_OK : weft_no_memory(error);
}

void weft_program_product_free(weft_program_segment *p) {
    for (int i = 0; p->double_buffers && p->swapped && i < p->segment->graph->n_values; ++i) {
        if (p->swapped[i]) { /* data[i] is our buffer, double_buffers[i] the caller's memory */
            weft_memory *bound = p->double_buffers[i];
            p->double_buffers[i] = p->data[i];
            p->data[i] = bound;
        }
        weft_memory_free(&p->double_buffers[i]);
    }
    free(p->double_buffers);
    free(p->swapped);
    free(p->rows);
}

/* The product kernel of an operator that the segment applies, *op its number; NULL: it does not
 * apply it. Applications whose result is not read may have been eliminated. */
static const weft_product_kernel *find_product_kernel(const weft_graph *graph, const char *name,
                                                      int *op) {
    for (int i = 0; i < graph->n_calls; ++i)
        if (graph->calls[i].product_kernel &&
            strcmp(graph->operators[graph->calls[i].op], name) == 0) {
            *op = graph->calls[i].op;
            return graph->calls[i].product_kernel;
        }
    return NULL;
}

weft_status weft_program_segment_rows(weft_program_segment *p, const char *name,
                                      const weft_product_arguments *rows, bool *found,
                                      weft_error *error) {
    int op = 0;
    const weft_product_kernel *product_kernel = find_product_kernel(p->segment->graph, name, &op);
    if (!product_kernel)
        return WEFT_OK;
    if (strcmp(product_kernel->name, rows->product_kernel) != 0 ||
        product_kernel->n_arguments != rows->n_arguments)
        return weft_error_set(
            error, WEFT_ERROR_USAGE,
            "operator '%s' was compiled for the product kernel '%s' with %d arguments, "
            "but '%s' with %d is bound",
            name, product_kernel->name, product_kernel->n_arguments, rows->product_kernel,
            rows->n_arguments);
    p->rows[op] = rows;
    p->ready = false;
    *found = true;
    return WEFT_OK;
}

/* Allocate a double buffer for every list whose next value a kernel stores there. */
static weft_status prepare_double_buffers(weft_program_segment *p, const weft_plan_kernel *kernel,
                                          weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < kernel->n_arguments; ++i) {
        const int value = kernel->arguments[i].index;
        if (kernel->arguments[i].kind != ARGUMENT_DOUBLE_BUFFER)
            continue;
        const size_t bytes = weft_memory_bytes(p->data[value]);
        if (p->double_buffers[value] && weft_memory_bytes(p->double_buffers[value]) >= bytes)
            continue;
        weft_memory_free(&p->double_buffers[value]);
        TRY(weft_memory_make(p->device, bytes, &p->double_buffers[value], error));
    }
done:
    return status;
}

static weft_status check_rows(const weft_program_segment *p, const weft_plan_kernel *kernel,
                              weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    const int op = graph->calls[kernel->product].op;
    if (!p->rows[op])
        return weft_error_set(error, WEFT_ERROR_USAGE, "operator '%s' is not bound",
                              graph->operators[op]);
    if (p->sizes[kernel->index_set] != p->rows[op]->n_rows)
        return weft_error_set(
            error, WEFT_ERROR_SHAPE, "operator '%s' has %lld rows, but there are %lld %s",
            graph->operators[op], (long long)p->rows[op]->n_rows,
            (long long)p->sizes[kernel->index_set], graph->index_sets[kernel->index_set].name);
    return WEFT_OK;
}

weft_status weft_program_product_prepare(weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->segment->plan;
    for (int i = 0; i < plan->n_kernels; ++i) {
        if (plan->kernels[i].kind == KERNEL_PRODUCT)
            TRY(check_rows(p, &plan->kernels[i], error));
        TRY(prepare_double_buffers(p, &plan->kernels[i], error));
    }
done:
    return status;
}

weft_status weft_program_product_argument(const weft_program_segment *p,
                                          const weft_argument *argument, weft_memory **out,
                                          weft_error *error) {
    *out = argument->kind == ARGUMENT_DOUBLE_BUFFER
               ? p->double_buffers[argument->index]
               : p->rows[argument->index]->arguments[argument->part];
    return *out ? WEFT_OK
                : weft_error_set(error, WEFT_ERROR_USAGE, "argument %d of operator '%s' is missing",
                                 argument->part, p->segment->graph->operators[argument->index]);
}

weft_status weft_program_product_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                      weft_launch *launch, weft_error *error) {
    const weft_call *call = &p->segment->graph->calls[kernel->product];
    (void)error;
    launch->block_threads = call->product_kernel->threads;
    launch->shared_bytes = p->rows[call->op]->shared_bytes;
    launch->n_blocks =
        (launch->n_elements + call->product_kernel->rows - 1) / call->product_kernel->rows;
    return WEFT_OK;
}

static void swap(weft_program_segment *p, int value) {
    weft_memory *kept = p->data[value];
    p->data[value] = p->double_buffers[value];
    p->double_buffers[value] = kept;
    p->swapped[value] = !p->swapped[value];
}

void weft_program_product_swap(weft_program_segment *p, const weft_plan_kernel *kernel) {
    for (int i = 0; i < kernel->n_arguments; ++i)
        if (kernel->arguments[i].kind == ARGUMENT_DOUBLE_BUFFER)
            swap(p, kernel->arguments[i].index);
}

weft_status weft_program_product_restore_buffers(weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < p->segment->graph->n_values; ++i) {
        if (!p->swapped[i])
            continue;
        if (!weft_fault("stale_double_buffer"))
            TRY(weft_memory_copy(p->double_buffers[i], p->data[i], weft_memory_bytes(p->data[i]),
                                 error));
        swap(p, i);
    }
done:
    return status;
}
