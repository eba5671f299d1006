/* Writes an elementary function as plain C: its unchanged body, with definitions of its names. It
 * shares no code with the writers for devices, so that it can serve as their reference. */
#include "fusion/base/intrinsics.h"
#include "fusion/base/prelude.h"
#include "fusion/library/private.h"

#include <stdio.h>
#include <string.h>

static void functions(weft_text *out) {
    for (int i = 0; i < weft_intrinsics_count; ++i) {
        const weft_intrinsic *one = &weft_intrinsics[i];
        const bool two = one->n_arguments == 2;
        if (one->flags & INTRINSIC_MASK)
            continue;
        if (!one->c)
            weft_text_add(out, "static inline double %s_(double x%s) { return %s; }\n", one->name,
                          two ? ", double y" : "", one->plain);
        weft_text_add(out, "#define %s(x%s) %s%s%s(x%s)\n", one->name, two ? ", y" : "",
                      one->c ? "__builtin_" : "", one->c ? one->c : one->name, one->c ? "" : "_",
                      two ? ", y" : "");
    }
}

void weft_reference_prelude(weft_text *out) {
    weft_text calls = {0};
    functions(&calls);
    const weft_prelude_value values[] = {{"functions", calls.failed ? "" : calls.data},
                                         {NULL, NULL}};
    weft_prelude_write("reference.h", values, out);
    out->failed |= calls.failed;
    weft_text_free(&calls);
}

/* Add the lines after this line number of the file, up to the next `//@` line. */
static void add_body(const weft_function *function, int line, weft_text *out) {
    const char *text = function->source->text;
    for (int i = 0; i < line; ++i) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    const char *end = text;
    while (*end && strncmp(end + strspn(end, " \t"), "//@", 3) != 0) {
        end += strcspn(end, "\n");
        end += *end == '\n';
    }
    weft_common_expand(function->commons, text, (size_t)(end - text), out);
    weft_text_add(out, "\n");
}

/* `#define A(i0_,i1_) a0_[(i0_) * 3 + (i1_)]` */
static void add_macro(const char *name, const weft_shape *shape, const char *base, weft_text *out) {
    weft_text_add(out, "#define %s(", name);
    for (int i = 0; i < shape->rank; ++i)
        weft_text_add(out, "%si%d_", i ? "," : "", i);
    weft_text_add(out, ") %s[", base);
    for (int i = 1; i < shape->rank; ++i)
        weft_text_add(out, "(");
    weft_text_add(out, "(i0_)");
    for (int i = 1; i < shape->rank; ++i)
        weft_text_add(out, ") * %d + (i%d_)", shape->sizes[i], i);
    weft_text_add(out, "]\n");
}

static void add_tables(const weft_specialisation *specialisation, weft_text *out) {
    for (int k = 0; k < specialisation->n_tables; ++k) {
        weft_text_add(out, "    static const double table%d_[] = {", k);
        for (int i = 0; i < weft_shape_count(&specialisation->table_shapes[k]); ++i)
            weft_text_add(out, "%.17g, ", specialisation->tables[k][i]);
        weft_text_add(out, "};\n");
    }
}

/* The reference kernels of an operator: combine_N(a, b, result) and identity_N(result) of each element,
 * and fold_N(values): the elements of the list combined in their order, in place of the first. */
void weft_reference_combine(const weft_specialisation *op, int number, weft_text *out) {
    const int n = weft_shape_count(&op->result);
    weft_reference_print(op, "combine", number, weft_function_plain_variant(op->function), out);
    weft_reference_print(op, "identity", number, WEFT_IDENTITY, out);
    weft_text_add(out,
                  "void fold_%d(void *const *arguments_, __INT64_TYPE__ n_, __INT64_TYPE__ first_, "
                  "__INT64_TYPE__ last_)\n{\n"
                  "    double *values_ = arguments_[0], next_[%d];\n"
                  "    for (__INT64_TYPE__ i_ = 1; first_ == 0 && i_ < n_; ++i_) {\n"
                  "        void *both_[] = {values_, values_ + i_ * %d, next_};\n"
                  "        combine_%d(both_, 1, 0, 1);\n"
                  "        for (int c_ = 0; c_ < %d; ++c_)\n"
                  "            values_[c_] = next_[c_];\n"
                  "    }\n}\n",
                  number, n, n, number, n);
}

void weft_reference_print(const weft_specialisation *specialisation, const char *name, int number,
                          int variant, weft_text *out) {
    const weft_function *f = specialisation->function;
    const int n_arguments = variant == WEFT_IDENTITY ? 0 : f->n_arguments;
    const int threads = variant == WEFT_IDENTITY ? 1 : specialisation->threads[variant];
    char base[24];
    weft_text_add(out,
                  "void %s_%d(void *const *arguments_, __INT64_TYPE__ n_, __INT64_TYPE__ "
                  "first_, __INT64_TYPE__ last_)\n{\n",
                  name, number);
    add_tables(specialisation, out);
    for (int i = 0; i < specialisation->n_names; ++i)
        weft_text_add(out, "    enum { %s = %d };\n", specialisation->names[i],
                      specialisation->values[i]);
    weft_text_add(out, "    for (__INT64_TYPE__ at_ = 0; first_ == 0 && at_ < n_; ++at_) {\n");
    if (f->element)
        weft_text_add(out, "    const double %s = (double)at_;\n    (void)%s;\n", f->element,
                      f->element);
    for (int i = 0; i < n_arguments; ++i)
        weft_text_add(out, "    const double *a%d_ = (const double *)arguments_[%d] + at_ * %d;\n",
                      i, i, weft_shape_count(&specialisation->arguments[i]));
    weft_text_add(out, "    double *r_ = (double *)arguments_[%d] + at_ * %d;\n", n_arguments,
                  weft_shape_count(&specialisation->result));
    for (int i = 0; i < n_arguments; ++i) {
        snprintf(base, sizeof base, "a%d_", i);
        if (f->arguments[i].rank == 0)
            weft_text_add(out, "    const double %s = a%d_[0];\n", f->arguments[i].name, i);
        else
            add_macro(f->arguments[i].name, &specialisation->arguments[i], base, out);
    }
    for (int k = 0; k < f->n_tables; ++k) {
        snprintf(base, sizeof base, "table%d_", k);
        if (f->tables[k].formal.rank == 0)
            weft_text_add(out, "    const double %s = table%d_[0];\n", f->tables[k].formal.name, k);
        else
            add_macro(f->tables[k].formal.name, &specialisation->table_shapes[k], base, out);
    }
    if (f->result.rank == 0)
        weft_text_add(out, "    double %s = 0;\n", f->result.name);
    else
        add_macro(f->result.name, &specialisation->result, "r_", out);
    weft_text_add(out, "    for (int t = 0; t < %d; ++t) {\n", threads);
    add_body(f, weft_function_variant(f, variant)->line, out);
    weft_text_add(out, "    }\n");
    if (f->result.rank == 0)
        weft_text_add(out, "    r_[0] = %s;\n", f->result.name);
    weft_text_add(out, "    }\n}\n");
    for (int i = 0; i < n_arguments; ++i)
        if (f->arguments[i].rank)
            weft_text_add(out, "#undef %s\n", f->arguments[i].name);
    for (int k = 0; k < f->n_tables; ++k)
        if (f->tables[k].formal.rank)
            weft_text_add(out, "#undef %s\n", f->tables[k].formal.name);
    if (f->result.rank)
        weft_text_add(out, "#undef %s\n", f->result.name);
}
