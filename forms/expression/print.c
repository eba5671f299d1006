/* Expressions as text, close to what UFL prints. */
#include "core/base/number.h"
#include "forms/expression/expression.h"

#include <stdio.h>
#include <string.h>

static const char *const function_names[UFL_N_FUNCTIONS] = {
    [UFL_SQRT] = "sqrt", [UFL_EXP] = "exp",   [UFL_LN] = "ln",     [UFL_COS] = "cos",
    [UFL_SIN] = "sin",   [UFL_TAN] = "tan",   [UFL_COSH] = "cosh", [UFL_SINH] = "sinh",
    [UFL_TANH] = "tanh", [UFL_ACOS] = "acos", [UFL_ASIN] = "asin", [UFL_ATAN] = "atan",
    [UFL_ERF] = "erf"};
static const char *const comparison_names[] = {[UFL_EQ] = "==", [UFL_NE] = "!=", [UFL_LE] = "<=",
                                               [UFL_GE] = ">=", [UFL_LT] = "<",  [UFL_GT] = ">"};
static const char *const quantity_names[UFL_N_QUANTITIES] = {
    [UFL_SPATIAL_COORDINATE] = "SpatialCoordinate",
    [UFL_CELL_COORDINATE] = "CellCoordinate",
    [UFL_FACET_NORMAL] = "FacetNormal",
    [UFL_CELL_NORMAL] = "CellNormal",
    [UFL_JACOBIAN] = "Jacobian",
    [UFL_JACOBIAN_DETERMINANT] = "JacobianDeterminant",
    [UFL_JACOBIAN_INVERSE] = "JacobianInverse",
    [UFL_FACET_JACOBIAN] = "FacetJacobian",
    [UFL_FACET_JACOBIAN_DETERMINANT] = "FacetJacobianDeterminant",
    [UFL_FACET_JACOBIAN_INVERSE] = "FacetJacobianInverse",
    [UFL_CELL_VOLUME] = "CellVolume",
    [UFL_CIRCUMRADIUS] = "Circumradius",
    [UFL_CELL_DIAMETER] = "CellDiameter",
    [UFL_FACET_AREA] = "FacetArea",
    [UFL_MIN_CELL_EDGE_LENGTH] = "MinCellEdgeLength",
    [UFL_MAX_CELL_EDGE_LENGTH] = "MaxCellEdgeLength",
    [UFL_MIN_FACET_EDGE_LENGTH] = "MinFacetEdgeLength",
    [UFL_MAX_FACET_EDGE_LENGTH] = "MaxFacetEdgeLength",
    [UFL_CELL_VERTICES] = "CellVertices",
    [UFL_CELL_EDGE_VECTORS] = "CellEdgeVectors",
    [UFL_FACET_EDGE_VECTORS] = "FacetEdgeVectors"};
/* Operators that are printed as NAME(operand, ...). */
static const char *const type_names[UFL_N_TYPES] = {[UFL_ZERO] = "0",
                                                    [UFL_INT] = "an integer",
                                                    [UFL_FLOAT] = "a number",
                                                    [UFL_IDENTITY] = "Identity",
                                                    [UFL_PERMUTATION] = "PermutationSymbol",
                                                    [UFL_ARGUMENT] = "an Argument",
                                                    [UFL_COEFFICIENT] = "a Coefficient",
                                                    [UFL_CONSTANT] = "a Constant",
                                                    [UFL_GEOMETRY] = "a geometric quantity",
                                                    [UFL_INDEXED] = "a component",
                                                    [UFL_COMPONENT_TENSOR] = "a tensor",
                                                    [UFL_LIST_TENSOR] = "a list of components",
                                                    [UFL_INDEX_SUM] = "a sum over an index",
                                                    [UFL_SUM] = "a sum",
                                                    [UFL_PRODUCT] = "a product",
                                                    [UFL_DIVISION] = "a quotient",
                                                    [UFL_POWER] = "a power",
                                                    [UFL_ABS] = "abs",
                                                    [UFL_MATH] = "a function",
                                                    [UFL_ATAN2] = "atan2",
                                                    [UFL_BESSEL] = "a Bessel function",
                                                    [UFL_MIN] = "min_value",
                                                    [UFL_MAX] = "max_value",
                                                    [UFL_COMPARE] = "a comparison",
                                                    [UFL_AND] = "And",
                                                    [UFL_OR] = "Or",
                                                    [UFL_NOT] = "Not",
                                                    [UFL_CONDITIONAL] = "conditional",
                                                    [UFL_VARIABLE] = "variable",
                                                    [UFL_RESTRICTED] = "a restriction",
                                                    [UFL_AVERAGE] = "an average",
                                                    [UFL_TRANSPOSED] = "transpose",
                                                    [UFL_OUTER] = "outer",
                                                    [UFL_INNER] = "inner",
                                                    [UFL_DOT] = "dot",
                                                    [UFL_PERP] = "perp",
                                                    [UFL_CROSS] = "cross",
                                                    [UFL_TRACE] = "tr",
                                                    [UFL_DETERMINANT] = "det",
                                                    [UFL_INVERSE] = "inv",
                                                    [UFL_COFACTOR] = "cofac",
                                                    [UFL_DEVIATORIC] = "dev",
                                                    [UFL_SKEW] = "skew",
                                                    [UFL_SYM] = "sym",
                                                    [UFL_GRAD] = "grad",
                                                    [UFL_DIV] = "div",
                                                    [UFL_NABLA_GRAD] = "nabla_grad",
                                                    [UFL_NABLA_DIV] = "nabla_div",
                                                    [UFL_CURL] = "curl",
                                                    [UFL_VARIABLE_DERIVATIVE] = "diff",
                                                    [UFL_COEFFICIENT_DERIVATIVE] = "derivative"};

const char *ufl_function_name(ufl_function function) {
    return function_names[function];
}

const char *ufl_quantity_name(ufl_quantity quantity) {
    return quantity_names[quantity];
}

const char *ufl_type_name(ufl_type type) {
    return type_names[type];
}

typedef struct text_printer {
    const ufl_names *names;
    size_t end; /* length of the text beyond which nothing is added */
    weft_text *out;
} text_printer;

static bool is_full(const text_printer *printer) {
    return printer->out->failed || printer->out->length >= printer->end;
}

static void print_node(const text_printer *printer, const ufl_node *node, int level);

static void print_indices(const text_printer *printer, const ufl_node *node) {
    for (int i = 0; i < node->n_indices; ++i)
        if (node->indices[i] >= 0)
            weft_text_add(printer->out, "%s%d", i ? ", " : "", node->indices[i]);
        else
            weft_text_add(printer->out, "%si_%d", i ? ", " : "", UFL_FREE(node->indices[i]));
}

static void print_terminal(const text_printer *printer, const ufl_node *node) {
    static const char *const prefixes = "vwc";
    const char *name = printer->names ? printer->names->name(printer->names, node) : NULL;
    switch (node->type) {
    case UFL_ZERO:
        weft_text_add(printer->out, "0");
        break;
    case UFL_INT:
        weft_text_add(printer->out, "%lld", (long long)node->integer);
        break;
    case UFL_FLOAT: {
        char digits[32];
        weft_print(digits, sizeof digits, "%.15g", node->value);
        weft_text_add(printer->out, "%s%s", digits, strpbrk(digits, ".en") ? "" : ".0");
        break;
    }
    case UFL_IDENTITY:
        weft_text_add(printer->out, "I");
        break;
    case UFL_PERMUTATION:
        weft_text_add(printer->out, "eps");
        break;
    case UFL_GEOMETRY:
        weft_text_add(printer->out, "%s", name ? name : quantity_names[node->detail]);
        break;
    default:
        if (name)
            weft_text_add(printer->out, "%s", name);
        else
            weft_text_add(printer->out, "%c_%d", prefixes[node->type - UFL_ARGUMENT], node->detail);
    }
}

/* Operators in increasing order of binding: an operand of lower level gets parentheses. */
enum {
    LEVEL_ANY,
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_COMPARE,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_POWER,
    LEVEL_POSTFIX
};

static void print_infix(const text_printer *printer, const ufl_node *node, const char *between,
                        int own_level, int level) {
    weft_text_add(printer->out, "%s", own_level < level ? "(" : "");
    bool left = node->type == UFL_DIVISION;
    bool right = node->type == UFL_POWER;
    print_node(printer, ufl_operand(node, 0), own_level + right);
    weft_text_add(printer->out, "%s", between);
    print_node(printer, ufl_operand(node, 1), own_level + left);
    weft_text_add(printer->out, "%s", own_level < level ? ")" : "");
}

static void print_call(const text_printer *printer, const char *name, const ufl_node *node) {
    weft_text_add(printer->out, "%s(", name);
    for (int i = 0; i < node->n_operands && !is_full(printer); ++i) {
        weft_text_add(printer->out, "%s", i ? ", " : "");
        print_node(printer, ufl_operand(node, i), LEVEL_ANY);
    }
    weft_text_add(printer->out, ")");
}

/* Index notation. */
static void print_tensor(const text_printer *printer, const ufl_node *node) {
    switch (node->type) {
    case UFL_INDEXED:
        print_node(printer, ufl_operand(node, 0), LEVEL_POSTFIX);
        weft_text_add(printer->out, "[");
        print_indices(printer, node);
        weft_text_add(printer->out, "]");
        break;
    case UFL_COMPONENT_TENSOR:
        weft_text_add(printer->out, "as_tensor(");
        print_node(printer, ufl_operand(node, 0), LEVEL_ANY);
        weft_text_add(printer->out, ", (");
        print_indices(printer, node);
        weft_text_add(printer->out, ",))");
        break;
    case UFL_INDEX_SUM:
        weft_text_add(printer->out, "sum_{");
        print_indices(printer, node);
        weft_text_add(printer->out, "}(");
        print_node(printer, ufl_operand(node, 0), LEVEL_ANY);
        weft_text_add(printer->out, ")");
        break;
    default: /* UFL_LIST_TENSOR */
        weft_text_add(printer->out, "[");
        for (int i = 0; i < node->n_operands && !is_full(printer); ++i) {
            weft_text_add(printer->out, "%s", i ? ", " : "");
            print_node(printer, ufl_operand(node, i), LEVEL_ANY);
        }
        weft_text_add(printer->out, "]");
        break;
    }
}

static void print_node(const text_printer *printer, const ufl_node *node, int level) {
    char name[16];
    if (is_full(printer))
        return;
    switch (node->type) {
    case UFL_INDEXED:
    case UFL_COMPONENT_TENSOR:
    case UFL_INDEX_SUM:
    case UFL_LIST_TENSOR:
        print_tensor(printer, node);
        break;
    case UFL_SUM:
        print_infix(printer, node, " + ", LEVEL_SUM, level);
        break;
    case UFL_PRODUCT:
        print_infix(printer, node, "*", LEVEL_PRODUCT, level);
        break;
    case UFL_DIVISION:
        print_infix(printer, node, "/", LEVEL_PRODUCT, level);
        break;
    case UFL_POWER:
        print_infix(printer, node, "**", LEVEL_POWER, level);
        break;
    case UFL_COMPARE:
        snprintf(name, sizeof name, " %s ", comparison_names[node->detail]);
        print_infix(printer, node, name, LEVEL_COMPARE, level);
        break;
    case UFL_MATH:
        print_call(printer, function_names[node->detail], node);
        break;
    case UFL_BESSEL:
        snprintf(name, sizeof name, "bessel_%c", node->detail);
        print_call(printer, name, node);
        break;
    case UFL_AVERAGE:
        print_call(printer, node->detail == 'c' ? "cell_avg" : "facet_avg", node);
        break;
    case UFL_RESTRICTED:
        print_node(printer, ufl_operand(node, 0), LEVEL_POSTFIX);
        weft_text_add(printer->out, "('%c')", node->detail);
        break;
    default:
        if (ufl_is_terminal(node))
            print_terminal(printer, node);
        else
            print_call(printer, type_names[node->type], node);
    }
}

void ufl_expression_text(const ufl_node *node, const ufl_names *names, size_t most,
                         weft_text *out) {
    size_t start = out->length;
    const text_printer printer = {names, start + most, out};
    print_node(&printer, node, LEVEL_ANY);
    if (out->failed || out->length - start <= most)
        return;
    out->length = start + most;
    while (out->length > start && ((unsigned char)out->data[out->length] & 0xC0) == 0x80)
        --out->length;
    out->data[out->length] = '\0';
    weft_text_add(out, "...");
}
