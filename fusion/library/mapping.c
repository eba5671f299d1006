/* The components of operands that the threads of a variant access, by its thread pattern and what
 * the proof of it (thread_pattern.c) has found. */
#include "fusion/library/body.h"

static const weft_pattern *pattern_of(const weft_specialisation *specialisation, int variant,
                                      int operand) {
    const weft_variant *v = specialisation->function->variants[variant];
    return operand < 0 ? &v->result : &v->arguments[operand];
}

static const weft_shape *shape_of(const weft_specialisation *specialisation, int operand) {
    return operand < 0 ? &specialisation->result : &specialisation->arguments[operand];
}

bool weft_specialisation_has_barriers(const weft_specialisation *specialisation, int variant) {
    return specialisation && specialisation->threads[variant] > 1 &&
           specialisation->function->variants[variant]->body.has_barriers;
}

int weft_specialisation_writer(const weft_specialisation *specialisation, int variant,
                               int component) {
    const int *writers = specialisation->writers[variant];
    return writers ? writers[component] : 0;
}

bool weft_specialisation_reads(const weft_specialisation *specialisation, int variant, int argument,
                               int thread, int component) {
    const weft_variant *v = specialisation->function->variants[variant];
    const weft_pattern *pattern = &v->arguments[argument];
    const weft_shape *shape = &specialisation->arguments[argument];
    const body_writer w = {
        .specialisation = specialisation, .variant = v, .thread_known = true, .thread = thread};
    for (int k = shape->rank - 1; k >= 0; component /= shape->sizes[k--]) {
        int64_t first = 0, step = 0;
        const int subscript = component % shape->sizes[k];
        if (!pattern->subscripts[k] || !weft_body_integer(&w, pattern->subscripts[k], &first))
            continue;
        if (pattern->steps[k] ? !weft_body_integer(&w, pattern->steps[k], &step) ||
                                    subscript < first || (subscript - first) % step != 0
                              : subscript != first)
            return false;
    }
    return true;
}

/* The number of subscripts of a thread in one size; 0: not all threads have as many. */
static int part_of_size(const body_writer *w, const weft_pattern *pattern, const weft_shape *shape,
                        int k) {
    int64_t step = 0;
    if (!pattern->subscripts[k])
        return shape->sizes[k];
    if (!pattern->steps[k])
        return 1;
    return weft_body_integer(w, pattern->steps[k], &step) && step > 0 && shape->sizes[k] % step == 0
               ? shape->sizes[k] / (int)step
               : 0;
}

int weft_specialisation_thread_count(const weft_specialisation *specialisation, int variant,
                                     int operand) {
    const weft_pattern *pattern = pattern_of(specialisation, variant, operand);
    const weft_shape *shape = shape_of(specialisation, operand);
    const body_writer w = {.specialisation = specialisation,
                           .variant = specialisation->function->variants[variant]};
    bool stated = operand >= 0;
    int n = 1;
    for (int k = 0; k < shape->rank; ++k) {
        stated = stated || pattern->subscripts[k];
        n *= part_of_size(&w, pattern, shape, k);
    }
    return stated ? n : 0;
}

int weft_specialisation_thread_component(const weft_specialisation *specialisation, int variant,
                                         int operand, int thread, int number) {
    const weft_pattern *pattern = pattern_of(specialisation, variant, operand);
    const weft_shape *shape = shape_of(specialisation, operand);
    const body_writer w = {.specialisation = specialisation,
                           .variant = specialisation->function->variants[variant],
                           .thread_known = true,
                           .thread = thread};
    int stride = 1, component = 0;
    for (int k = shape->rank - 1; k >= 0; --k) {
        const int part = part_of_size(&w, pattern, shape, k);
        int64_t subscript = 0, step = 1;
        if (pattern->subscripts[k] && !weft_body_integer(&w, pattern->subscripts[k], &subscript))
            return -1;
        if (pattern->steps[k])
            weft_body_integer(&w, pattern->steps[k], &step);
        subscript += number % part * step;
        number /= part;
        if (subscript < 0 || subscript >= shape->sizes[k])
            return -1;
        component += (int)subscript * stride;
        stride *= shape->sizes[k];
    }
    return component;
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
        const int part = part_of_size(&w, pattern, shape, k);
        int64_t step = 1;
        if (pattern->steps[k])
            weft_body_integer(&w, pattern->steps[k], &step);
        constant += number % part * (int)step * stride;
        number /= part;
        if (pattern->subscripts[k]) {
            weft_text_add(out, "(");
            weft_body_print_integer(&w, pattern->subscripts[k]);
            weft_text_add(out, ")");
            if (stride != 1)
                weft_text_add(out, " * %d", stride);
            weft_text_add(out, " + ");
        }
        stride *= shape->sizes[k];
    }
    weft_text_add(out, "%d", constant);
}
