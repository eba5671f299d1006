/* A random script as text. */
#include "core/weft_core.h"
#include "random_script.h"

static const char *const functions[RANDOM_FUNCTIONS] = {
    "mmul",  "mvmul", "madd",      "msub",  "smmul", "vadd",  "vsub",
    "svmul", "outer", "transpose", "trace", "dot",   "upper", "symmetric_mvmul"};

const char *random_function_name(random_function function) {
    return functions[function];
}

static void print_list(const random_script *s, const random_node *node, weft_text *out) {
    weft_text_add(out, "%s", s->lists[node->list].name);
    if (node->map >= 0)
        weft_text_add(out, "[%s]", s->connectivities[node->map].name);
    /* a matrix takes its two subscripts at once, or one after the other */
    if (node->n_subscripts == 2 && (node->subscripts[0] + node->subscripts[1]) % 2 == 0)
        weft_text_add(out, "[%d,%d]", node->subscripts[0], node->subscripts[1]);
    else
        for (int i = 0; i < node->n_subscripts; ++i)
            weft_text_add(out, "[%d]", node->subscripts[i]);
}

static void print_node(const random_script *s, int index, weft_text *out);

static void print_around(const random_script *s, const random_node *node, const char *head,
                         const char *between, const char *tail, weft_text *out) {
    weft_text_add(out, "%s", head);
    print_node(s, node->children[0], out);
    weft_text_add(out, "%s", between);
    if (between[0] != '\0')
        print_node(s, node->children[1], out);
    weft_text_add(out, "%s", tail);
}

static void print_node(const random_script *s, int index, weft_text *out) {
    const random_node *node = &s->nodes[index];
    switch (node->kind) {
    case RANDOM_NUMBER:
        weft_text_add(out, "%d", node->number);
        break;
    case RANDOM_LIST:
        print_list(s, node, out);
        break;
    case RANDOM_NEGATE:
        print_around(s, node, "(-", "", ")", out);
        break;
    case RANDOM_ADD:
        print_around(s, node, "(", " + ", ")", out);
        break;
    case RANDOM_SUBTRACT:
        print_around(s, node, "(", " - ", ")", out);
        break;
    case RANDOM_MULTIPLY:
        print_around(s, node, "", "*", "", out);
        break;
    case RANDOM_MIN:
        print_around(s, node, "min(", ", ", ")", out);
        break;
    case RANDOM_MAX:
        print_around(s, node, "max(", ", ", ")", out);
        break;
    case RANDOM_ABS:
        print_around(s, node, "abs(", "", ")", out);
        break;
    case RANDOM_SQUARE:
        print_around(s, node, "(", "", ")^2", out);
        break;
    case RANDOM_SELECT:
        print_around(s, node, "select(", " < ", ", ", out);
        print_node(s, node->children[2], out);
        weft_text_add(out, ", ");
        print_node(s, node->children[3], out);
        weft_text_add(out, ")");
        break;
    case RANDOM_NESTED:
        weft_text_add(out, "%s(", s->functions[node->number].name);
        for (int i = 0; i < s->functions[node->number].n_arguments; ++i) {
            weft_text_add(out, i > 0 ? ", " : "");
            print_node(s, node->children[i], out);
        }
        weft_text_add(out, ")");
        break;
    case RANDOM_CALL:
        weft_text_add(out, "%s", functions[node->function]);
        print_around(s, node, "(", node->children[1] >= 0 ? ", " : "", ")", out);
        break;
    }
}

static void print_reduction(const random_script *s, const random_statement *one, weft_text *out) {
    const char *name = one->op == '+'   ? "sum"
                       : one->op == '.' ? "dot"
                       : one->op == 'a' ? "asum"
                       : one->op == 'm' ? "amax"
                       : one->op == 'n' ? "nrm2_squared"
                       : one->op == 'g' ? "argmax"
                       : one->op == 'l' ? "last_nonzero"
                       : one->op == '<' ? "minimum"
                                        : "maximum";
    weft_text_add(out, "%s%s = %s(", one->update ? "update " : "", s->lists[one->list].name, name);
    print_node(s, one->root, out);
    if (one->op == '.') {
        weft_text_add(out, ", ");
        print_node(s, one->second, out);
    }
    weft_text_add(out, ");\n");
}

static void print_statement(const random_script *s, const random_statement *one, weft_text *out) {
    switch (one->kind) {
    case RANDOM_ASSIGN:
    case RANDOM_UPDATE:
        weft_text_add(out, "%s%s = ", one->kind == RANDOM_UPDATE ? "update " : "",
                      s->lists[one->list].name);
        print_node(s, one->root, out);
        weft_text_add(out, ";\n");
        break;
    case RANDOM_ACCUMULATE:
        weft_text_add(out, "%s[%s] += ", s->lists[one->list].name,
                      s->connectivities[one->map].name);
        print_node(s, one->root, out);
        weft_text_add(out, ";\n");
        break;
    case RANDOM_ADDTO:
        weft_text_add(out, "M[%s,%s] += ", s->connectivities[one->map].name,
                      s->connectivities[one->map].name);
        print_node(s, one->root, out);
        weft_text_add(out, ";\n");
        break;
    case RANDOM_REDUCE:
        print_reduction(s, one, out);
        break;
    case RANDOM_APPLY:
        weft_text_add(out, "%s = apply(A, ", s->lists[one->list].name);
        print_node(s, one->root, out);
        weft_text_add(out, ");\n");
        break;
    case RANDOM_REPEAT:
        weft_text_add(out, "repeat at most %d while (", one->iterations);
        print_node(s, one->root, out);
        weft_text_add(out, " < ");
        print_node(s, one->second, out);
        weft_text_add(out, ") {\n");
        break;
    case RANDOM_END:
        weft_text_add(out, "}\n");
        break;
    }
}

/* What begins and ends before a statement; a number past the last one: at the end. */
static void print_directives(const random_script *s, int number, random_directives directives,
                             weft_text *out) {
    static const char *const combinations[] = {"", " inter_block", " inner_block", " inner_thread"};
    static const random_statement none = {.split = false};
    const random_statement *last = number > 0 ? &s->statements[number - 1] : &none;
    const random_statement *one = number < s->n_statements ? &s->statements[number] : &none;
    if ((last->fuse > 0 && last->fuse != one->fuse) ||
        (last->together > 0 && last->together != one->together))
        weft_text_add(out, "}\n");
    if (one->split)
        weft_text_add(out, "split;\n");
    if (one->together > 0 && one->together != last->together)
        weft_text_add(out, "together%s {\n", combinations[s->togethers[one->together - 1] + 1]);
    if (one->fuse == 0 || one->fuse == last->fuse)
        return;
    const random_fuse *fuse = &s->fuses[one->fuse - 1];
    weft_text_add(out, "fuse ");
    if (directives == RANDOM_DIRECTED)
        weft_text_add(out, "block %d iterations %d stride %d ", fuse->block, fuse->iterations,
                      fuse->stride);
    weft_text_add(out, "{\n");
}

void random_script_print(const random_script *s, random_directives directives, weft_text *out) {
    for (int i = 0; i < s->n_sets; ++i)
        if (!s->sets[i].product)
            weft_text_add(out, "index %s%s;\n", s->sets[i].name, s->sets[i].plain ? " plain" : "");
    for (int i = 0; i < s->n_connectivities; ++i)
        weft_text_add(out, "connectivity %s : %s -> %s[%d];\n", s->connectivities[i].name,
                      s->sets[s->connectivities[i].from].name,
                      s->sets[s->connectivities[i].to].name, s->connectivities[i].width);
    if (s->op.row_start != NULL)
        weft_text_add(out, "operator A over nodes;\n");
    for (int i = 0; i < s->n_inputs; ++i) {
        const random_list *list = &s->lists[i];
        weft_text_add(out, "input %s : real", list->name);
        for (int k = 0; k < list->shape.rank; ++k)
            weft_text_add(out, "%s%d%s", k > 0 ? "," : "[", list->shape.sizes[k],
                          k == list->shape.rank - 1 ? "]" : "");
        if (list->set >= 0)
            weft_text_add(out, " over %s", s->sets[list->set].name);
        weft_text_add(out, ";\n");
    }
    bool has_matrix = false;
    for (int i = 0; i < s->n_statements; ++i) {
        if (directives != RANDOM_UNDIRECTED)
            print_directives(s, i, directives, out);
        print_statement(s, &s->statements[i], out);
        has_matrix |= s->statements[i].kind == RANDOM_ADDTO;
    }
    if (directives != RANDOM_UNDIRECTED)
        print_directives(s, s->n_statements, directives, out);
    if (has_matrix)
        weft_text_add(out, "return M;\n");
    for (int i = 0; i < s->n_lists; ++i)
        if (s->lists[i].returned)
            weft_text_add(out, "return %s;\n", s->lists[i].name);
}

char *random_straight_text(uint64_t *seed) {
    weft_text text = {0};
    while (text.length == 0) {
        random_script *script = random_script_make((*seed)++);
        if (!script->flows && script->product < 0 && !random_script_has_own(script))
            random_script_print(script, RANDOM_UNDIRECTED, &text);
        random_script_free(&script);
    }
    return text.data;
}
