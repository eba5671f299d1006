/* Writes native bodies as functions of generated code. Their text is unchanged but for `__shared__`; the names of their arguments
 * are macros for as long as it lasts, and what it defines is undefined behind it. */
#include "fusion/library/body.h"

#include <string.h>

typedef struct native_writer {
    const weft_specialisation *specialisation;
    const weft_function *function;
    const weft_variant *variant;
    int number; /* of the variant */
    const weft_native *native;
    const weft_native_style *style;
    body_writer integers; /* prints terms in t */
    weft_text *out;
    bool is_cuda, is_joint;
} native_writer;

/* ---- macros ---------------------------------------------------------------------------------- */

static void push(const native_writer *w, const char *name) {
    weft_text_add(w->out, "#pragma push_macro(\"%s\")\n#undef %s\n", name, name);
}

static void pop(const native_writer *w, const char *name) {
    weft_text_add(w->out, "#pragma pop_macro(\"%s\")\n", name);
}

static void print_term(const native_writer *w, const weft_term *term) {
    body_writer integers = w->integers;
    weft_body_print_integer(&integers, term);
}

/* "((i0_) - (t)) / 32": which of the thread's subscripts it is */
static void print_own(const native_writer *w, const weft_pattern *pattern, int k) {
    weft_text_add(w->out, "((i%d_) - (", k);
    print_term(w, pattern->subscripts[k]);
    weft_text_add(w->out, ")) / (");
    print_term(w, pattern->steps[k]);
    weft_text_add(w->out, ")");
}

/* The number of a component in a list of all, or of the thread's own ones: every subscript once. */
static void print_number(const native_writer *w, const weft_shape *shape, const weft_pattern *own) {
    body_writer integers = w->integers;
    int64_t step = 1;
    bool first = true;
    for (int k = 0; k < shape->rank; ++k) {
        int64_t stride = 1;
        for (int j = k + 1; j < shape->rank; ++j) {
            if (own && own->steps[j] && weft_body_integer(&integers, own->steps[j], &step))
                stride *= shape->sizes[j] / step;
            else
                stride *= own && own->subscripts[j] ? 1 : shape->sizes[j];
        }
        if (own && own->subscripts[k] && !own->steps[k])
            continue;
        weft_text_add(w->out, first ? "" : " + ");
        first = false;
        if (own && own->steps[k])
            print_own(w, own, k);
        else
            weft_text_add(w->out, "(i%d_)", k);
        if (stride != 1)
            weft_text_add(w->out, " * %lld", (long long)stride);
    }
    weft_text_add(w->out, first ? "0" : "");
}

/* Are the subscripts in range and in the thread's part? Emulation asks. */
static void print_holds(const native_writer *w, const weft_shape *shape,
                        const weft_pattern *pattern) {
    for (int k = 0; k < shape->rank; ++k) {
        weft_text_add(w->out, "%s(i%d_) >= 0 && (i%d_) < %d", k > 0 ? " && " : "", k, k,
                      shape->sizes[k]);
        if (!pattern->subscripts[k])
            continue;
        weft_text_add(w->out, " && ((i%d_) - (", k);
        print_term(w, pattern->subscripts[k]);
        weft_text_add(w->out, "))");
        if (pattern->steps[k]) {
            weft_text_add(w->out, " %% (");
            print_term(w, pattern->steps[k]);
            weft_text_add(w->out, ")");
        }
        weft_text_add(w->out, " == 0");
    }
}

static const weft_formal *formal_of(const native_writer *w, int operand) {
    return operand < 0 ? &w->function->result : &w->function->arguments[operand];
}

/* `#define A(i0_, i1_) (`; operand -1: the result */
static void open_accessor(const native_writer *w, const char *name, int rank) {
    push(w, name);
    weft_text_add(w->out, "#define %s(", name);
    for (int k = 0; k < rank; ++k)
        weft_text_add(w->out, "%si%d_", k > 0 ? ", " : "", k);
    weft_text_add(w->out, ") (");
}

/* "NATIVE_AT(4 + (i0_), ...)": the number of a component, with what it must satisfy */
static void print_place(const native_writer *w, int operand, bool own, int offset) {
    const weft_specialisation *s = w->specialisation;
    const weft_shape *shape = operand < 0 ? &s->result : &s->arguments[operand];
    const weft_pattern *pattern =
        operand < 0 ? &w->variant->result : &w->variant->arguments[operand];
    weft_text_add(w->out, "NATIVE_AT(");
    if (offset != 0)
        weft_text_add(w->out, "%d + ", offset);
    print_number(w, shape, own ? pattern : NULL);
    weft_text_add(w->out, ", (");
    print_holds(w, shape, pattern);
    weft_text_add(w->out, "), \"%s: %s\", %s)", w->function->info.name, formal_of(w, operand)->name,
                  w->is_joint ? "t" : "0");
}

/* What is read only is a number, which cannot be assigned to. */
static void define_accessor(const native_writer *w, int operand, bool own, bool writes) {
    const weft_formal *formal = formal_of(w, operand);
    if (formal->rank == 0)
        return;
    open_accessor(w, formal->name, formal->rank);
    weft_text_add(w->out, "%s%s[", writes ? "" : "(real)", formal->name);
    print_place(w, operand, own, operand < 0 ? 0 : w->style->offsets[operand]);
    weft_text_add(w->out, "])\n");
}

static void print_tables(const native_writer *w) {
    const weft_specialisation *s = w->specialisation;
    for (int k = 0; k < s->n_tables; ++k) {
        weft_text_add(w->out, "static %sconst scalar %s_%s[] = {", w->is_cuda ? "__device__ " : "",
                      w->style->name, w->function->tables[k].formal.name);
        for (int i = 0; i < weft_shape_count(&s->table_shapes[k]); ++i)
            weft_text_add(w->out, "%s(scalar)%.17g", i > 0 ? ", " : "", s->tables[k][i]);
        weft_text_add(w->out, "};\n");
    }
}

static void define_tables(const native_writer *w) {
    const weft_specialisation *s = w->specialisation;
    for (int k = 0; k < s->n_tables; ++k) {
        const weft_formal *formal = &w->function->tables[k].formal;
        push(w, formal->name);
        weft_text_add(w->out, "#define %s", formal->name);
        for (int i = 0; i < formal->rank; ++i)
            weft_text_add(w->out, "%si%d_", i > 0 ? ", " : "(", i);
        weft_text_add(w->out, "%s %s_%s[", formal->rank > 0 ? ")" : "", w->style->name,
                      formal->name);
        print_number(w, &s->table_shapes[k], NULL);
        weft_text_add(w->out, "]\n");
    }
}

static void pop_names(const native_writer *w) {
    const weft_specialisation *s = w->specialisation;
    for (int k = 0; k < s->n_tables; ++k)
        pop(w, w->function->tables[k].formal.name);
    for (int i = 0; i <= s->n_arguments; ++i) {
        const weft_formal *formal =
            i < s->n_arguments ? &w->function->arguments[i] : &w->function->result;
        if (formal->rank > 0)
            pop(w, formal->name);
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

/* "__shared__ real tile[4][5];", of which `text` is behind the first word, as a part of the element's
 * shared memory. Returns what is behind it. */
static const char *print_shared(const native_writer *w, const char *text, weft_text *names) {
    const char *end = strchr(text, ';'), *dimensions = text;
    while (dimensions < end && *dimensions != '[')
        ++dimensions;
    const char *name = dimensions;
    while (name > text && strchr(" \t", name[-1]))
        --name;
    const char *behind = name;
    while (name > text && !strchr(" \t\n*", name[-1]))
        --name;
    const int n_type = (int)(name - text), n_name = (int)(behind - name),
              n_dimensions = (int)(end - dimensions);
    weft_text_add(w->out,
                  "%.*s(&%.*s)%.*s = *(%.*s(*)%.*s)scratch_; scratch_ += (sizeof %.*s + 7) / 8 * 8",
                  n_type, text, n_name, name, n_dimensions, dimensions, n_type, text, n_dimensions,
                  dimensions, n_name, name);
    weft_text_add(names, "%ssizeof %.*s", names->length > 0 ? " + " : "", n_name, name);
    return end;
}

static void print_text(const native_writer *w, const weft_routine *routine, weft_text *names) {
    const char *text = routine->text, *end = text + routine->length;
    weft_text_add(w->out, "#line %d \"", routine->line);
    for (const char *c = w->function->source->name; *c; ++c)
        weft_text_add(w->out, *c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? "?" : "%c", *c);
    weft_text_add(w->out, "\"\n");
    for (int i = 0; names && i < w->native->n_shared; ++i) {
        const char *next = routine->text + w->native->shared_at[i];
        weft_text_add_bytes(w->out, text, (size_t)(next - text));
        text = print_shared(w, next + strlen("__shared__"), names);
    }
    weft_text_add_bytes(w->out, text, (size_t)(end - text));
    weft_text_add(w->out, "\n#line 1 \"generated\"\n");
}

static void print_parameter(const native_writer *w, int operand) {
    const weft_formal *formal =
        operand < 0 ? &w->function->result : &w->function->arguments[operand];
    const bool scalar = formal->rank == 0;
    if (operand < 0 && scalar)
        weft_text_add(w->out, "real *result_");
    else if (scalar)
        weft_text_add(w->out, "const real %s", formal->name);
    else if (w->is_cuda)
        weft_text_add(w->out, "%sL%d &%s", operand < 0 ? "" : "const ",
                      operand < 0 ? w->specialisation->n_arguments : operand, formal->name);
    else
        weft_text_add(w->out, "%sreal *%s", operand < 0 ? "" : "const ", formal->name);
}

static void print_sizes(const native_writer *w) {
    for (int i = 0; i < w->specialisation->n_names; ++i)
        weft_text_add(w->out,
                      w->is_cuda ? "    constexpr int %s = %d;\n" : "    enum { %s = %d };\n",
                      w->specialisation->names[i], w->specialisation->values[i]);
    if (!w->is_joint)
        weft_text_add(w->out, w->is_cuda ? "    constexpr int t = 0;\n" : "    enum { t = 0 };\n");
}

static void print_head(const native_writer *w) {
    const int n = w->specialisation->n_arguments;
    const char *before = "template <";
    for (int i = 0; i <= n && w->is_cuda; ++i)
        if ((i < n ? &w->function->arguments[i] : &w->function->result)->rank > 0) {
            weft_text_add(w->out, "%sclass L%d", before, i);
            before = ", ";
        }
    weft_text_add(w->out, *before == ',' ? ">\n" : "");
    weft_text_add(w->out, "INLINE void %s(", w->style->name);
    for (int i = 0; i <= n; ++i) {
        weft_text_add(w->out, i > 0 ? ", " : "");
        print_parameter(w, i < n ? i : -1);
    }
    if (w->is_joint)
        weft_text_add(w->out, ", const int t, unsigned char *scratch_");
    weft_text_add(w->out, ")\n{\n");
    print_sizes(w);
    if (w->function->result.rank == 0)
        weft_text_add(w->out, "    real %s;\n", w->function->result.name);
}

static void print_function(const native_writer *w) {
    const weft_footprint *needs = &w->specialisation->footprints[w->number];
    weft_text names = {0};
    print_tables(w);
    print_head(w);
    for (int i = 0; i <= w->specialisation->n_arguments; ++i)
        define_accessor(w, i < w->specialisation->n_arguments ? i : -1, w->style->own[i],
                        i == w->specialisation->n_arguments);
    define_tables(w);
    weft_text_add(w->out, "    {\n");
    print_text(w, &w->native->compute, &names);
    if (names.length > 0)
        weft_text_add(
            w->out,
            "    static_assert(%s == %d%s, \"%s: __shared__ data of other than the declared "
            "size (line %d)\");\n",
            names.data, needs->shared, needs->shared_is_reals ? " * sizeof(real)" : "",
            w->function->info.name, w->variant->line);
    weft_text_add(w->out, "    }\n");
    if (w->function->result.rank == 0)
        weft_text_add(w->out, "    *result_ = %s;\n", w->function->result.name);
    weft_text_add(w->out, "}\n");
    pop_names(w);
    w->out->failed |= names.failed;
    weft_text_free(&names);
}

/* The routine that loads an argument, or (-1) stores the result. `from` and `to` are components in memory, `stride`
 * apart. */
static void print_move(const native_writer *w, int operand) {
    const weft_routine *routine = operand < 0 ? &w->native->store : &w->native->loads[operand];
    const weft_formal *formal = formal_of(w, operand);
    const char *memory = operand < 0 ? "to" : "from";
    const bool own = operand < 0 ? w->style->stored_own : w->style->own[operand];
    if (!routine->text)
        return;
    weft_text_add(w->out,
                  "template <int stride, class L, class M>\n"
                  "INLINE void %s_move%d(%sL &%s, %sM *memory_, const int t)\n{\n",
                  w->style->name, operand + 1, operand < 0 ? "const " : "", formal->name,
                  operand < 0 ? "" : "const ");
    print_sizes(w);
    define_accessor(w, operand, own, operand >= 0);
    open_accessor(w, memory, formal->rank);
    weft_text_add(w->out, "memory_[");
    print_place(w, operand, false, 0);
    weft_text_add(w->out, " * stride])\n    {\n");
    print_text(w, routine, NULL);
    weft_text_add(w->out, "    }\n}\n");
    pop(w, memory);
    pop(w, formal->name);
}

void weft_native_print(const weft_specialisation *specialisation, int variant,
                       const weft_native_style *style, weft_text *out) {
    const weft_function *function = specialisation->function;
    const weft_variant *one = function->variants[variant];
    const weft_body_style numbers = {.thread = "t"};
    const native_writer w = {.specialisation = specialisation,
                             .function = function,
                             .variant = one,
                             .number = variant,
                             .native = one->native,
                             .style = style,
                             .integers = {.specialisation = specialisation,
                                          .variant = one,
                                          .style = &numbers,
                                          .out = out},
                             .out = out,
                             .is_cuda = one->native->language == LANGUAGE_CUDA,
                             .is_joint = specialisation->threads[variant] > 1};
    weft_text_add(out, "/* %s in %s */\n", function->info.name,
                  weft_language_names[one->native->language]);
    for (int i = 0; i < one->native->n_macros; ++i)
        push(&w, one->native->macros[i]);
    for (int i = 0; i < one->native->n_globals; ++i) {
        push(&w, one->native->globals[i]);
        weft_text_add(out, "#define %s %s_%s\n", one->native->globals[i], style->name,
                      one->native->globals[i]);
    }
    if (one->native->helpers.text)
        print_text(&w, &one->native->helpers, NULL);
    print_function(&w);
    for (int i = -1; i < specialisation->n_arguments; ++i)
        print_move(&w, i);
    for (int i = one->native->n_globals; i-- > 0;)
        pop(&w, one->native->globals[i]);
    for (int i = one->native->n_macros; i-- > 0;)
        pop(&w, one->native->macros[i]);
    weft_text_add(out, "\n");
}
