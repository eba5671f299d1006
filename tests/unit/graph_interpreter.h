/** A plain interpreter of graphs, for comparison: it knows nothing of plans, lanes or generated C.
 *  Lists are [instance][component], in double. */
#ifndef GRAPH_INTERPRETER_H
#define GRAPH_INTERPRETER_H

#include "program_support.h"

typedef struct interpreter {
    const weft_graph *graph;
    int64_t sizes[16];      /* of index sets */
    const int32_t *maps[8]; /* [from][width] */
    double *data[1024];     /* by datum; inputs set by the caller, all freed at the end */
} interpreter;

static inline int64_t interpreter_instances(const interpreter *in, int index_set) {
    return index_set < 0 ? 1 : in->sizes[index_set];
}

/* Component c, as the call sees the operand, of instance i. */
static inline double interpreter_operand(const interpreter *in, const weft_operand *operand,
                                         int64_t i, int c) {
    const weft_datum *datum = &in->graph->data[operand->datum];
    const int count = weft_shape_count(&datum->shape), at = operand->offset + c;
    if (operand->map < 0)
        return in->data[datum->id][(datum->index_set < 0 ? 0 : i) * count + at];
    const int width = in->graph->maps[operand->map].width;
    const int64_t j = in->maps[operand->map][i * width + at / count];
    return in->data[datum->id][j * count + at % count];
}

static inline double interpreter_tree(const interpreter *in, const weft_call *call, int node,
                                      int64_t i, int c) {
    const weft_arithmetic *t = &call->arithmetic[node];
    if (t->op == ARITHMETIC_NUMBER)
        return t->number;
    if (t->op == ARITHMETIC_OPERAND) {
        const weft_operand *operand = &call->operands[t->operand];
        return interpreter_operand(in, operand, i, operand->shape.rank == 0 ? 0 : c);
    }
    const double a = interpreter_tree(in, call, t->a, i, c);
    const double b = t->b >= 0 ? interpreter_tree(in, call, t->b, i, c) : 0;
    switch (t->op) {
    case ARITHMETIC_NEGATE:
        return -a;
    case ARITHMETIC_ADD:
        return a + b;
    case ARITHMETIC_SUBTRACT:
        return a - b;
    case ARITHMETIC_MULTIPLY:
        return a * b;
    case ARITHMETIC_DIVIDE:
        return a / b;
    case ARITHMETIC_POWER:
        return pow(a, b);
    default:
        break;
    }
    if (strcmp(t->name, "min") == 0)
        return b < a ? b : a;
    if (strcmp(t->name, "max") == 0)
        return a < b ? b : a;
    if (strcmp(t->name, "abs") == 0)
        return fabs(a);
    fail_msg("the interpreter does not know %s", t->name);
    return 0;
}

static inline void interpreter_function(const interpreter *in, const weft_call *call, int64_t i,
                                        double *out) {
    const weft_operand *a = &call->operands[0], *b = &call->operands[1];
    const weft_shape *shape = &in->graph->data[call->result].shape;
    const int n = weft_shape_count(shape);
    for (int k = 0; k < n; ++k) {
        double s = 0;
        if (strcmp(call->label, "mmul") == 0) {
            const int inner = a->shape.sizes[1], columns = shape->sizes[1];
            for (int l = 0; l < inner; ++l)
                s += interpreter_operand(in, a, i, k / columns * inner + l) *
                     interpreter_operand(in, b, i, l * columns + k % columns);
        } else if (strcmp(call->label, "mvmul") == 0) {
            const int inner = a->shape.sizes[1];
            for (int l = 0; l < inner; ++l)
                s +=
                    interpreter_operand(in, a, i, k * inner + l) * interpreter_operand(in, b, i, l);
        } else if (strcmp(call->label, "madd") == 0) {
            s = interpreter_operand(in, a, i, k) + interpreter_operand(in, b, i, k);
        } else if (strcmp(call->label, "smmul") == 0) {
            s = interpreter_operand(in, a, i, k) * interpreter_operand(in, b, i, 0);
        } else
            fail_msg("the interpreter does not know %s", call->label);
        out[k] = s;
    }
}

static inline double interpreter_reduce(const interpreter *in, const weft_call *call) {
    const bool least = strcmp(call->label, "minimum") == 0;
    const bool greatest = strcmp(call->label, "maximum") == 0;
    double joined = least ? INFINITY : greatest ? -INFINITY : 0;
    for (int64_t i = 0; i < interpreter_instances(in, call->index_set); ++i) {
        double one = interpreter_operand(in, &call->operands[0], i, 0);
        if (strcmp(call->label, "dot") == 0)
            one *= interpreter_operand(in, &call->operands[1], i, 0);
        joined = least ? fmin(joined, one) : greatest ? fmax(joined, one) : joined + one;
    }
    return joined;
}

static inline double *interpreter_list(interpreter *in, int datum) {
    const weft_datum *d = &in->graph->data[datum];
    const int64_t n = interpreter_instances(in, d->index_set);
    if (in->data[datum] == NULL) {
        in->data[datum] = calloc((size_t)(n * weft_shape_count(&d->shape)) + 1, sizeof(double));
        assert_non_null(in->data[datum]);
    }
    return in->data[datum];
}

static inline void interpreter_accumulate(interpreter *in, const weft_accumulation *a) {
    const weft_map *map = &in->graph->maps[a->map];
    const double *source = in->data[a->source];
    double *target = interpreter_list(in, a->target);
    const int count = weft_shape_count(&in->graph->data[a->target].shape);
    assert_false(a->matrix);
    for (int64_t i = 0; i < in->sizes[map->from]; ++i)
        for (int k = 0; k < map->width; ++k)
            for (int c = 0; c < count; ++c)
                target[(int64_t)in->maps[a->map][i * map->width + k] * count + c] +=
                    source[(i * map->width + k) * count + c];
}

/** Calls in script order; what is accumulated, as soon as it is made: so before it is read. */
static inline void interpreter_run(interpreter *in) {
    for (int k = 0; k < in->graph->n_calls; ++k) {
        const weft_call *call = &in->graph->calls[k];
        const int n = weft_shape_count(&in->graph->data[call->result].shape);
        double *out = interpreter_list(in, call->result);
        if (call->reduction != NULL)
            out[0] = interpreter_reduce(in, call);
        for (int64_t i = 0;
             call->reduction == NULL && i < interpreter_instances(in, call->index_set); ++i)
            if (call->instance != NULL)
                interpreter_function(in, call, i, out + i * n);
            else
                for (int c = 0; c < n; ++c)
                    out[i * n + c] = interpreter_tree(in, call, call->n_arithmetic - 1, i, c);
        for (int a = 0; a < in->graph->n_accumulations; ++a)
            if (in->graph->accumulations[a].call == k)
                interpreter_accumulate(in, &in->graph->accumulations[a]);
    }
}

static inline void interpreter_free(interpreter *in) {
    for (size_t i = 0; i < sizeof in->data / sizeof in->data[0]; ++i)
        free(in->data[i]);
}

#endif
