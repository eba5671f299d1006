/* Writes tables, scalars and accesses to dofs as text of a kernel body. */
#include "core/base/number.h"
#include "forms/lower/emit.h"

#include <stdio.h>
#include <string.h>

/* ---- tables ---- */

ufl_element_table *ufl_emit_table(ufl_emitter *e, const ufl_element *scalar, int side) {
    for (int i = 0; i < e->n_elements; ++i)
        if (e->elements[i].scalar == scalar && e->elements[i].side == side)
            return &e->elements[i];
    if (e->n_elements == (int)(sizeof e->elements / sizeof e->elements[0]))
        return ufl_fail(e->l->context, WEFT_ERROR_UNSUPPORTED, "more than 32 scalar elements");
    ufl_element_table *table = &e->elements[e->n_elements];
    *table = (ufl_element_table){.scalar = scalar, .side = side, .number = -1};
    const int order = scalar == e->l->mesh->coordinates->sub[0] && !e->l->mesh->affine ? 2 : 1;
    table->order = ufl_element_about(scalar)->at_points ? 0
                   : e->l->order > order                ? e->l->order
                                                        : order;
    table->n_functions = ufl_tabulate(e->l->context, scalar, table->order, e->n_points,
                                      e->points[side], &table->values);
    if (table->n_functions < 0)
        return NULL;
    ++e->n_elements;
    return table;
}

int ufl_emit_add_table(ufl_emitter *e, const char *prefix, int rank, int n0, int n1, int n2,
                       const double *values) {
    if (e->n_tables == UFL_TABLES_MAX) {
        ufl_fail(e->l->context, WEFT_ERROR_UNSUPPORTED, "an integral with more than %d tables",
                 UFL_TABLES_MAX);
        return -1;
    }
    const char *name = ufl_print(e->l->context, "%s%d", prefix, e->n_tables);
    if (!name)
        return -1;
    e->tables[e->n_tables] =
        (ufl_function_table){.name = name, .rank = rank, .sizes = {n0, n1, n2}, .values = values};
    return e->n_tables++;
}

/* The table of an element in the text. */
const char *ufl_emit_table_name(ufl_emitter *e, ufl_element_table *table) {
    if (!table)
        return NULL;
    if (table->number < 0)
        table->number =
            ufl_emit_add_table(e, "phi", 3, weft_derivative_count(e->l->mesh->tdim, table->order),
                               e->n_points, table->n_functions, table->values);
    return table->number < 0 ? NULL : e->tables[table->number].name;
}

/* Vectors of a blocked element are [nodes, components], as scripts have them; others have one index. */
int ufl_emit_columns(const ufl_element *element) {
    return element->kind == UFL_BLOCKED && element->sub[0]->n_sub == 0 ? element->block_size : 0;
}

void ufl_emit_dof(weft_text *out, const char *name, const ufl_element *element, ufl_part part,
                  const char *index, bool is_list) {
    if (ufl_emit_columns(element) > 0)
        weft_text_add(
            out, part.first >= ufl_emit_columns(element) ? "%s(%d + %s,%d)" : "%s(%.0d%s,%d)", name,
            part.first / ufl_emit_columns(element), index, part.first % ufl_emit_columns(element));
    else if (element->n_dofs == 1 && !is_list)
        weft_text_add(out, "%s", name);
    else if (part.first == 0 && part.stride == 1)
        weft_text_add(out, "%s(%s)", name, index);
    else
        weft_text_add(out, "%s(%d + %d*%s)", name, part.first, part.stride, index);
}

/* ---- scalars ---- */

void ufl_emit_count_uses(ufl_emitter *e, int scalar) {
    const ufl_scalar *s = &e->l->scalars.list[scalar];
    const int operands[] = {s->a, s->b, s->c, s->d};
    if (e->uses[scalar]++ > 0)
        return;
    for (int i = 0; i < ufl_scalar_operands(s); ++i)
        ufl_emit_count_uses(e, operands[i]);
}

/* A number as C writes it. */
const char *ufl_emit_number(double value, char out[40]) {
    weft_print(out, 40, "%.17g", value);
    if (!strpbrk(out, ".en"))
        strcat(out, ".0");
    return out;
}

/* b where the scalar is -1*b and has no name; otherwise -1 */
static int negated(const ufl_emitter *e, int scalar) {
    const ufl_scalar *s = &e->l->scalars.list[scalar];
    return !e->declared[scalar] && s->type == SCALAR_PRODUCT &&
                   ufl_scalar_is(&e->l->scalars, s->a, -1)
               ? s->b
               : -1;
}

/* a + b, or a - c where b is -1*c */
static void write_sum(ufl_emitter *e, const ufl_scalar *s, weft_text *out) {
    int a = s->a, b = s->b;
    if (negated(e, a) >= 0) {
        a = s->b;
        b = s->a;
    }
    const int subtracted = negated(e, b);
    weft_text_add(out, "(");
    ufl_emit_scalar(e, a, out);
    weft_text_add(out, subtracted >= 0 ? " - " : " + ");
    ufl_emit_scalar(e, subtracted >= 0 ? subtracted : b, out);
    weft_text_add(out, ")");
}

static void write_operation(ufl_emitter *e, const ufl_scalar *s, weft_text *out) {
    static const char *const signs[SCALAR_TYPES] = {
        [SCALAR_PRODUCT] = "*", [SCALAR_QUOTIENT] = "/"};
    ++e->flops;
    switch (s->type) {
    case SCALAR_SUM:
        write_sum(e, s, out);
        return;
    case SCALAR_PRODUCT:
    case SCALAR_QUOTIENT:
        weft_text_add(out, "(");
        if (s->type == SCALAR_PRODUCT && ufl_scalar_is(&e->l->scalars, s->a, -1)) {
            weft_text_add(out, "-");
            ufl_emit_scalar(e, s->b, out);
            weft_text_add(out, ")");
            return;
        }
        ufl_emit_scalar(e, s->a, out);
        weft_text_add(out, "%s", signs[s->type]);
        ufl_emit_scalar(e, s->b, out);
        weft_text_add(out, ")");
        return;
    case SCALAR_FUNCTION1:
    case SCALAR_FUNCTION2:
        weft_text_add(out, "%s%s(", e->prefix ? e->prefix : "", s->name);
        ufl_emit_scalar(e, s->a, out);
        if (s->type == SCALAR_FUNCTION2) {
            weft_text_add(out, ", ");
            ufl_emit_scalar(e, s->b, out);
        }
        weft_text_add(out, ")");
        return;
    case SCALAR_SELECT:
        weft_text_add(out, "%sselect(", e->prefix ? e->prefix : "");
        ufl_emit_scalar(e, s->a, out);
        weft_text_add(out, " %s ", s->name);
        ufl_emit_scalar(e, s->b, out);
        weft_text_add(out, ", ");
        ufl_emit_scalar(e, s->c, out);
        weft_text_add(out, ", ");
        ufl_emit_scalar(e, s->d, out);
        weft_text_add(out, ")");
        return;
    default:
        return;
    }
}

void ufl_emit_scalar(ufl_emitter *e, int scalar, weft_text *out) {
    const ufl_scalar *s = &e->l->scalars.list[scalar];
    char text[40];
    if (e->declared[scalar])
        weft_text_add(out, "s%d", scalar);
    else if (s->type == SCALAR_NUMBER)
        weft_text_add(out,
                      e->single      ? "(scalar)(%s)"
                      : s->value < 0 ? "(%s)"
                                     : "%s",
                      ufl_emit_number(s->value, text));
    else if (s->type == SCALAR_VERTEX)
        weft_text_add(out, "X(%d,%d)", s->a, s->b);
    else if (s->type == SCALAR_CONSTANT)
        weft_text_add(out, e->l->constants[s->a]->rank ? "c%d(%d)" : "c%d", s->a, s->b);
    else
        write_operation(e, s, out);
}

/* real sN = sum of table values times dofs, for what is interpolated at a point. */
static bool declare_interpolated(ufl_emitter *e, int number, const ufl_scalar *s) {
    const char *indent = e->indent;
    if (s->type != SCALAR_COEFFICIENT) {
        const ufl_element *coordinates = e->l->mesh->coordinates;
        const int side = s->type == SCALAR_COORDINATE ? 0 : s->c;
        int powers[3] = {0}, derivative = s->b;
        if (s->type == SCALAR_JACOBIAN)
            powers[s->b] = 1;
        if (s->type != SCALAR_CURVATURE)
            derivative = weft_derivative_index(e->l->mesh->tdim, powers);
        ufl_element_table *table = ufl_emit_table(e, coordinates->sub[0], side);
        const char *name = ufl_emit_table_name(e, table);
        if (!name)
            return false;
        weft_text_add(&e->body,
                      "%sreal s%d = 0;\n%sfor (int i = 0; i < %d; ++i)\n%s    s%d += "
                      "%s(%d,p,i) * X(%.0d%si,%d);\n",
                      indent, number, indent, table->n_functions, indent, number, name, derivative,
                      side * coordinates->sub[0]->n_dofs, side ? " + " : "", s->a);
        e->flops += 2L * table->n_functions;
        return true;
    }
    const ufl_node *w = e->l->coefficients[s->a / 2];
    ufl_part parts[UFL_PARTS_MAX];
    const int n = ufl_component_parts(e->l->context, w->space->element, s->b, parts);
    char dofs[16];
    snprintf(dofs, sizeof dofs, "w%d", s->a / 2);
    for (int k = 0; k < n; ++k)
        parts[k].first += s->a % 2 * w->space->element->n_dofs;
    if (n == 1 && s->constant) {
        weft_text_add(&e->body, "%sreal s%d = ", indent, number);
        ufl_emit_dof(&e->body, dofs, w->space->element, parts[0], "0", e->l->n_sides == 2);
        weft_text_add(&e->body, ";\n");
        return true;
    }
    if (n == 1 && ufl_element_about(parts[0].scalar)->at_points) { /* values at these very points */
        weft_text_add(&e->body, "%sreal s%d = ", indent, number);
        ufl_emit_dof(&e->body, dofs, w->space->element, parts[0], "p", false);
        weft_text_add(&e->body, ";\n");
        return true;
    }
    weft_text_add(&e->body, "%sreal s%d = 0;\n", indent, number);
    for (int k = 0; k < n; ++k) {
        ufl_element_table *table = ufl_emit_table(e, parts[k].scalar, s->a % 2);
        const char *name = ufl_emit_table_name(e, table);
        if (!name)
            return false;
        weft_text_add(&e->body, "%sfor (int i = 0; i < %d; ++i)\n%s    s%d += %s(%d,p,i) * ",
                      indent, table->n_functions, indent, number, name, s->c);
        ufl_emit_dof(&e->body, dofs, w->space->element, parts[k], "i", e->l->n_sides == 2);
        weft_text_add(&e->body, ";\n");
        e->flops += 2L * table->n_functions;
    }
    return n >= 0;
}

/* Kernel bodies have at most 64 nested parentheses. */
enum { NESTED_MAX = 24 };

static int depth_of(const ufl_emitter *e, const ufl_scalar *s) {
    const int operands[] = {s->a, s->b, s->c, s->d};
    int depth = 0;
    for (int i = 0; i < ufl_scalar_operands(s); ++i)
        if (!e->declared[operands[i]] && e->depths[operands[i]] > depth)
            depth = e->depths[operands[i]];
    return depth + 1;
}

void ufl_emit_shared(ufl_emitter *e, int scalar) {
    weft_text value = {0};
    e->depths[scalar] = depth_of(e, &e->l->scalars.list[scalar]);
    if ((e->uses[scalar] < 2 && e->depths[scalar] <= NESTED_MAX) || negated(e, scalar) >= 0)
        return;
    write_operation(e, &e->l->scalars.list[scalar], &value);
    weft_text_add(&e->body, "%sreal s%d = %s;\n", e->indent, scalar, value.data ? value.data : "0");
    e->body.failed = e->body.failed || value.failed;
    weft_text_free(&value);
    e->declared[scalar] = true;
}

/* Declare what is used more than once, what is nested deeply, and what is interpolated: of the scalars that are used, those
 * that are constant on the cell, or the others. */
bool ufl_emit_declare(ufl_emitter *e, bool constant) {
    for (int i = 0; i < e->l->scalars.n; ++i) {
        const ufl_scalar *s = &e->l->scalars.list[i];
        if (e->uses[i] == 0 || s->constant != constant || e->declared[i])
            continue;
        if (s->type == SCALAR_COEFFICIENT || s->type == SCALAR_COORDINATE ||
            s->type == SCALAR_JACOBIAN || s->type == SCALAR_CURVATURE) {
            if (!declare_interpolated(e, i, s))
                return false;
            e->declared[i] = true;
        } else if (ufl_scalar_operands(s) > 0)
            ufl_emit_shared(e, i);
    }
    return true;
}
