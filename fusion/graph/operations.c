/* Counts the operations of elementwise arithmetic, with functions as their equivalents. */
#include "fusion/base/intrinsics.h"
#include "fusion/graph/graph.h"

#include <math.h>

int weft_arithmetic_children(const weft_arithmetic *node, int children[4]) {
    children[0] = node->a;
    children[1] = node->b;
    children[2] = node->c;
    children[3] = node->d;
    if (node->op == ARITHMETIC_NUMBER || node->op == ARITHMETIC_OPERAND)
        return 0;
    return node->op == ARITHMETIC_SELECT ? 4 : node->b >= 0 ? 2 : 1;
}

void weft_arithmetic_find_uniform(const weft_graph *graph, weft_call *call) {
    for (int i = 0; i < call->n_arithmetic; ++i) {
        weft_arithmetic *node = &call->arithmetic[i];
        const weft_operand *operand =
            node->op == ARITHMETIC_OPERAND ? &call->operands[node->operand] : NULL;
        int children[4];
        const int n = weft_arithmetic_children(node, children);
        node->is_uniform =
            !operand || (graph->values[operand->value].index_set < 0 && operand->shape.rank == 0);
        for (int k = 0; k < n; ++k)
            node->is_uniform &= call->arithmetic[children[k]].is_uniform;
    }
}

bool weft_arithmetic_integer_power(const weft_call *call, const weft_arithmetic *node, int *n) {
    const weft_arithmetic *exponent = &call->arithmetic[node->b];
    double number = exponent->op == ARITHMETIC_NUMBER ? exponent->number : NAN;
    if (exponent->op == ARITHMETIC_NEGATE && call->arithmetic[exponent->a].op == ARITHMETIC_NUMBER)
        number = -call->arithmetic[exponent->a].number;
    if (!(fabs(number) <= 64 && number == floor(number)))
        return false;
    *n = (int)number;
    return true;
}

const weft_intrinsic *weft_arithmetic_intrinsic(const weft_call *call, int index) {
    const weft_arithmetic *node = &call->arithmetic[index];
    int power = 0;
    if (node->is_uniform)
        return NULL;
    if (node->op == ARITHMETIC_INTRINSIC)
        return weft_intrinsic_find(node->name);
    if (node->op == ARITHMETIC_POWER && !weft_arithmetic_integer_power(call, node, &power))
        return weft_intrinsic_find("pow");
    return NULL;
}

double weft_arithmetic_flops(const weft_call *call, const weft_shape *shape, bool intrinsics) {
    double sum = 0;
    for (int i = 0; i < call->n_arithmetic; ++i) {
        const weft_arithmetic_op op = call->arithmetic[i].op;
        const weft_intrinsic *intrinsic = weft_arithmetic_intrinsic(call, i);
        if (intrinsic)
            sum += intrinsics ? intrinsic->flops : 0;
        else
            sum += op != ARITHMETIC_NUMBER && op != ARITHMETIC_OPERAND;
    }
    return sum * weft_shape_count(shape);
}
