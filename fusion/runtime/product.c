/* What a program holds for kernels with rows routines: what operators work on, twins of lists that
 * alternate between two memories. */
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/runtime/private.h"

#include <stdlib.h>
#include <string.h>

weft_status weft_program_rows_allocate(weft_program_segment *p, weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    const size_t n_data = (size_t)graph->n_data + 1;
    p->twins = calloc(n_data, sizeof *p->twins);
    p->swapped = calloc(n_data, sizeof *p->swapped);
    p->rows = calloc((size_t)graph->n_operators + 1, sizeof *p->rows);
    return p->twins && p->swapped && p->rows ? WEFT_OK : weft_no_memory(error);
}

void weft_program_rows_free(weft_program_segment *p) {
    for (int i = 0; p->twins != NULL && p->swapped != NULL && i < p->segment->graph->n_data; ++i) {
        if (p->swapped[i]) { /* data hold the twin, and the twin is the caller's */
            weft_memory *bound = p->twins[i];
            p->twins[i] = p->data[i];
            p->data[i] = bound;
        }
        weft_memory_free(&p->twins[i]);
    }
    free(p->twins);
    free(p->swapped);
    free(p->rows);
}

/* The routine of an operator that the segment applies, *op its number; NULL: it applies none of this
 * name. A segment knows operators whose applications nobody reads. */
static const weft_routine *find_routine(const weft_graph *graph, const char *name, int *op) {
    for (int i = 0; i < graph->n_calls; ++i)
        if (graph->calls[i].routine != NULL &&
            strcmp(graph->operators[graph->calls[i].op], name) == 0) {
            *op = graph->calls[i].op;
            return graph->calls[i].routine;
        }
    return NULL;
}

weft_status weft_program_segment_rows(weft_program_segment *p, const char *name,
                                      const weft_rows *rows, bool *found, weft_error *error) {
    int op = 0;
    const weft_routine *routine = find_routine(p->segment->graph, name, &op);
    if (routine == NULL)
        return WEFT_OK;
    if (strcmp(routine->name, rows->routine) != 0 || routine->n_arguments != rows->n_arguments)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "operator '%s' was compiled for the routine '%s' with %d arguments, "
                              "but '%s' with %d is bound",
                              name, routine->name, routine->n_arguments, rows->routine,
                              rows->n_arguments);
    p->rows[op] = rows;
    p->ready = false;
    *found = true;
    return WEFT_OK;
}

/* Every list that some kernel gives its next value beside the old one has a twin. */
static weft_status prepare_twins(weft_program_segment *p, const weft_plan_kernel *kernel,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < kernel->n_arguments; ++i) {
        const int datum = kernel->arguments[i].index;
        if (kernel->arguments[i].kind != ARGUMENT_TWIN)
            continue;
        const size_t bytes = weft_memory_bytes(p->data[datum]);
        if (p->twins[datum] != NULL && weft_memory_bytes(p->twins[datum]) >= bytes)
            continue;
        weft_memory_free(&p->twins[datum]);
        TRY(weft_memory_make(p->device, bytes, &p->twins[datum], error));
    }
done:
    return status;
}

static weft_status check_rows(const weft_program_segment *p, const weft_plan_kernel *kernel,
                              weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    const int op = graph->calls[kernel->rows].op;
    if (p->rows[op] == NULL)
        return weft_error_set(error, WEFT_ERROR_USAGE, "operator '%s' is not bound",
                              graph->operators[op]);
    if (p->sizes[kernel->index_set] != p->rows[op]->n_rows)
        return weft_error_set(
            error, WEFT_ERROR_SHAPE, "operator '%s' has %lld rows, but there are %lld %s",
            graph->operators[op], (long long)p->rows[op]->n_rows,
            (long long)p->sizes[kernel->index_set], graph->index_sets[kernel->index_set].name);
    return WEFT_OK;
}

weft_status weft_program_rows_prepare(weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->segment->plan;
    for (int i = 0; i < plan->n_kernels; ++i) {
        if (plan->kernels[i].kind == KERNEL_PRODUCT)
            TRY(check_rows(p, &plan->kernels[i], error));
        TRY(prepare_twins(p, &plan->kernels[i], error));
    }
done:
    return status;
}

weft_status weft_program_rows_argument(const weft_program_segment *p, const weft_argument *argument,
                                       weft_memory **out, weft_error *error) {
    *out = argument->kind == ARGUMENT_TWIN ? p->twins[argument->index]
                                           : p->rows[argument->index]->arguments[argument->part];
    return *out != NULL
               ? WEFT_OK
               : weft_error_set(error, WEFT_ERROR_USAGE, "argument %d of operator '%s' is missing",
                                argument->part, p->segment->graph->operators[argument->index]);
}

weft_status weft_program_product_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                      weft_launch *launch, weft_error *error) {
    const weft_call *call = &p->segment->graph->calls[kernel->rows];
    (void)error;
    launch->block_threads = call->routine->threads;
    launch->shared_bytes = p->rows[call->op]->shared_bytes;
    launch->n_blocks = (launch->n_instances + call->routine->rows - 1) / call->routine->rows;
    return WEFT_OK;
}

static void swap(weft_program_segment *p, int datum) {
    weft_memory *kept = p->data[datum];
    p->data[datum] = p->twins[datum];
    p->twins[datum] = kept;
    p->swapped[datum] = !p->swapped[datum];
}

void weft_program_rows_swap(weft_program_segment *p, const weft_plan_kernel *kernel) {
    for (int i = 0; i < kernel->n_arguments; ++i)
        if (kernel->arguments[i].kind == ARGUMENT_TWIN)
            swap(p, kernel->arguments[i].index);
}

weft_status weft_program_rows_settle(weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < p->segment->graph->n_data; ++i) {
        if (!p->swapped[i])
            continue;
        if (!weft_planted("stale_twin"))
            TRY(weft_memory_copy(p->twins[i], p->data[i], weft_memory_bytes(p->data[i]), error));
        swap(p, i);
    }
done:
    return status;
}
