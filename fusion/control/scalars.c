/* Converts and evaluates arithmetic on uniform values, which the host or one thread computes. */
#include "fusion/base/array.h"
#include "fusion/base/intrinsics.h"
#include "fusion/control/private.h"
#include "fusion/graph/builder.h"

#include <math.h>
#include <string.h>

/* Not a name of the language, so it cannot clash with an input. */
static const char VALUE[] = "=";

/* ---- conversion ------------------------------------------------------------------------------ */

static weft_status check_uniform(const control_builder *b, const weft_node *node) {
    weft_status status = WEFT_OK;
    const weft_library *library = b->compilation->library;
    if (node->kind == NODE_NAME) {
        const int id = weft_control_name_find(b->control, node->name);
        const weft_control_name *name = id >= 0 ? &b->control->names[id] : NULL;
        if (name && (name->index_set != UNIFORM || name->matrix)) {
            weft_error_at(b->error, WEFT_ERROR_TYPE, node->place,
                          "'%s' is over %s: a uniform value is wanted here", node->name,
                          name->matrix ? "a sparse pattern"
                                       : b->script->indices[name->index_set].name);
            weft_error_hint(b->error,
                            "reductions such as sum and dot make uniform values of lists");
            TRY(WEFT_ERROR_TYPE);
        }
    }
    if (node->kind == NODE_CALL && (weft_library_find(library, node->name) ||
                                    weft_library_find_reduction(library, node->name))) {
        weft_error_at(b->error, WEFT_ERROR_TYPE, node->place,
                      "'%s' works on lists: a uniform value is wanted here", node->name);
        weft_error_hint(b->error, "make a name of it before, and update that name in the loop");
        TRY(WEFT_ERROR_TYPE);
    }
    for (int i = 0; i < node->n_children; ++i)
        TRY(check_uniform(b, node->children[i]));
done:
    return status;
}

static weft_status uniform_inputs(const control_builder *b, const weft_node *node,
                                  weft_script *script) {
    script->n_inputs = 0;
    script->inputs =
        weft_arena_alloc(b->arena, (size_t)b->control->n_names + 1, sizeof *script->inputs);
    if (!script->inputs)
        return weft_no_memory(b->error);
    for (int i = 0; i < b->control->n_names; ++i) {
        const weft_control_name *name = &b->control->names[i];
        if (name->hidden || name->index_set != UNIFORM || name->matrix ||
            !weft_control_node_reads(node, name->name))
            continue;
        weft_script_input *input = &script->inputs[script->n_inputs++];
        *input =
            (weft_script_input){.name = name->name, .rank = name->shape.rank, .place = name->place};
        for (int k = 0; k < input->rank; ++k) {
            input->sizes[k] = weft_arena_alloc(b->arena, 1, sizeof(weft_node));
            if (!input->sizes[k])
                return weft_no_memory(b->error);
            *input->sizes[k] =
                (weft_node){.kind = NODE_NUMBER, .number = name->shape.sizes[k], .integer = true};
        }
    }
    return WEFT_OK;
}

static weft_status scalar_of(const control_builder *b, const weft_graph_builder *graph,
                             const weft_lazy_value *v, weft_location place,
                             weft_control_scalar *out) {
    weft_status status = WEFT_OK;
    static const weft_arithmetic whole = {.op = ARITHMETIC_OPERAND, .a = -1, .b = -1};
    const tree *t = v->arithmetic;
    const weft_shape *shape = t ? &t->shape : &v->operand.shape;
    const weft_operand *operands = t ? t->operands : &v->operand;
    if (shape->rank > 0)
        TRY(weft_error_at(b->error, WEFT_ERROR_SHAPE, place,
                          "a uniform number is wanted here, not a tensor"));
    out->n_nodes = t ? t->n : 1;
    out->n_operands = t ? t->n_operands : 1;
    TRY(WEFT_ALLOC(b->arena, out->nodes, (size_t)out->n_nodes, b->error));
    TRY(WEFT_ALLOC(b->arena, out->operands, (size_t)out->n_operands + 1, b->error));
    TRY(WEFT_ALLOC(b->arena, out->offsets, (size_t)out->n_operands + 1, b->error));
    memcpy(out->nodes, t ? t->nodes : &whole, (size_t)out->n_nodes * sizeof *out->nodes);
    for (int i = 0; i < out->n_operands; ++i) {
        if (operands[i].shape.rank > 0)
            TRY(weft_error_at(b->error, WEFT_ERROR_SHAPE, place,
                              "a uniform number is wanted here, not a tensor"));
        out->operands[i] =
            weft_control_name_find(b->control, graph->graph->values[operands[i].value].name);
        out->offsets[i] = operands[i].offset;
    }
done:
    return status;
}

weft_status weft_control_scalar_make(control_builder *b, const weft_node *node, int target,
                                     weft_control_scalar *out) {
    weft_status status = WEFT_OK;
    weft_script script = *b->script;
    weft_script_statement statement = {
        .name = VALUE, .value = (weft_node *)node, .loop = -1, .place = node->place};
    weft_graph_builder graph = {
        .arena = b->arena, .library = b->compilation->library, .script = &script};
    TRY(check_uniform(b, node));
    TRY(uniform_inputs(b, node, &script));
    script.statements = &statement;
    script.n_statements = 1;
    script.n_returns = script.n_loops = script.n_operators = 0;
    TRY(weft_graph_statements(&graph, b->error));
    *out = (weft_control_scalar){.target = target};
    TRY(scalar_of(b, &graph, &weft_binding_find(&graph, VALUE)->lazy, node->place, out));
done:
    return status;
}

weft_status weft_control_condition_make(control_builder *b, const weft_node *node,
                                        weft_control_scalar *out) {
    static weft_node one = {.kind = NODE_NUMBER, .number = 1, .integer = true},
                     zero = {.kind = NODE_NUMBER, .integer = true};
    weft_node *children[] = {(weft_node *)node, &one, &zero};
    weft_node select = {.kind = NODE_CALL,
                        .name = "select",
                        .place = node->place,
                        .children = children,
                        .n_children = 3};
    return weft_control_scalar_make(b, &select, -1, out);
}

/* ---- evaluation ------------------------------------------------------------------------------ */

static bool compares(const char *op, double a, double b) {
    const bool or_equal = op[1] == '=';
    return op[0] == '<' ? (or_equal ? a <= b : a < b) : (or_equal ? a >= b : a > b);
}

static double evaluate(const weft_control_scalar *scalar, int index, const double *values) {
    const weft_arithmetic *node = &scalar->nodes[index];
    const double a = node->op > ARITHMETIC_OPERAND ? evaluate(scalar, node->a, values) : 0;
    const double b =
        node->op > ARITHMETIC_OPERAND && node->b >= 0 ? evaluate(scalar, node->b, values) : 0;
    switch (node->op) {
    case ARITHMETIC_NUMBER:
        return node->number;
    case ARITHMETIC_OPERAND:
        return values[node->operand];
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
    case ARITHMETIC_INTRINSIC:
        return weft_intrinsic_value(weft_intrinsic_find(node->name), a, b);
    case ARITHMETIC_SELECT:
        return evaluate(scalar, compares(node->name, a, b) ? node->c : node->d, values);
    }
    return 0;
}

double weft_control_evaluate(const weft_control_scalar *scalar, const double *values) {
    return evaluate(scalar, scalar->n_nodes - 1, values);
}
