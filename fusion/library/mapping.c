/* The components of an operand that one thread of a variant accesses, by the variant's
 * thread-to-data mapping. */
#include "fusion/library/body.h"

static const weft_pattern *pattern_of(const weft_specialisation *specialisation, int variant,
                                      int operand) {
    const weft_variant *v = specialisation->function->variants[variant];
    return operand < 0 ? &v->result : &v->arguments[operand];
}

static const weft_shape *shape_of(const weft_specialisation *specialisation, int operand) {
    return operand < 0 ? &specialisation->result : &specialisation->arguments[operand];
}

int weft_specialisation_thread_count(const weft_specialisation *specialisation, int variant,
                                     int operand) {
    const weft_pattern *pattern = pattern_of(specialisation, variant, operand);
    const weft_shape *shape = shape_of(specialisation, operand);
    int n = 1;
    for (int k = 0; k < shape->rank; ++k)
        n *= pattern->subscripts[k] == NULL ? shape->sizes[k] : 1;
    return n;
}

void weft_specialisation_component(const weft_specialisation *specialisation, int variant,
                                   int operand, int number, const char *thread, weft_text *out) {
    const weft_pattern *pattern = pattern_of(specialisation, variant, operand);
    const weft_shape *shape = shape_of(specialisation, operand);
    const weft_body_style style = {.thread = thread};
    body_writer w = {.specialisation = specialisation,
                     .variant = specialisation->function->variants[variant],
                     .style = &style,
                     .out = out};
    int stride = 1, constant = 0;
    for (int k = shape->rank - 1; k >= 0; --k) {
        if (pattern->subscripts[k] == NULL) {
            constant += number % shape->sizes[k] * stride;
            number /= shape->sizes[k];
        } else {
            weft_text_add(out, "(");
            weft_body_print_integer(&w, pattern->subscripts[k]);
            weft_text_add(out, ") * %d + ", stride);
        }
        stride *= shape->sizes[k];
    }
    weft_text_add(out, "%d", constant);
}
