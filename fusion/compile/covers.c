/* Reports the covers of a compilation's segments: as text, the number of measured kernels, and the
 * key under which the tuning database stores them. */
#include "core/base/options.h"
#include "fusion/base/array.h"
#include "fusion/control/program.h"

weft_status weft_compilation_cover(const weft_compilation *compilation, weft_text *out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_control *control = compilation->control;
    for (int i = 0; i < control->n_segments; ++i)
        TRY(weft_segment_write_cover(control->segments[i], out, error));
done:
    return status;
}

int weft_compilation_measured(const weft_compilation *compilation, int *n_kernels) {
    const weft_control *control = compilation->control;
    int n = 0;
    *n_kernels = 0;
    for (int i = 0; i < control->n_segments; ++i) {
        const weft_cover *cover = control->segments[i]->cover;
        for (int k = 0; k < cover->n; ++k)
            n += cover->list[k]->measured;
        *n_kernels += cover->n;
    }
    return n;
}

bool weft_compilation_recalled(const weft_compilation *compilation) {
    const weft_control *control = compilation->control;
    bool all = true;
    for (int i = 0; i < control->n_segments; ++i)
        all = all && control->segments[i]->cover_recalled;
    return all;
}

/* The hash covers everything that determines the set of covers, except the device. */
weft_status weft_script_hash(const weft_library *library, const weft_fragment *fragments,
                             int n_fragments, const weft_compile_options *options, char out[33],
                             weft_error *error) {
    weft_text all = {0};
    weft_status status =
        weft_options_check("weft_compile_options", options->size, sizeof *options, error);
    if (status != WEFT_OK)
        return status;
    weft_text_add(&all, "plan %d|scatter %d|store %d %d|single %d|fusion %d|", (int)options->plan,
                  (int)options->scatter, (int)options->rematerialise, options->iterations,
                  options->single, options->max_fusion);
    for (int i = 0; i < n_fragments; ++i)
        weft_text_add(&all, "%s\n", fragments[i].text);
    weft_script_add_included(fragments, n_fragments, &all);
    for (int i = 0; i < options->n_expressions; ++i)
        weft_text_add(&all, "%s=%s\n", options->expressions[i].name, options->expressions[i].text);
    for (int i = 0; i < options->n_parameters; ++i)
        weft_text_add(&all, "%s=%d\n", options->parameters[i].name, options->parameters[i].value);
    for (int i = 0; i < options->n_variants; ++i)
        weft_text_add(&all, "%s:%d\n", options->variants[i].function, options->variants[i].variant);
    for (int i = 0; i < options->n_operators; ++i) {
        const weft_operator_choice *one = &options->operators[i];
        weft_text_add(&all, "%s~%s\n", one->name, one->product_kernel ? one->product_kernel : "");
        for (int k = 0; k < one->n_fragments; ++k)
            weft_text_add(&all, "%s\n", one->fragments[k].text);
    }
    for (size_t i = 0; i < weft_library_size(library); ++i) {
        weft_function_info info;
        weft_library_info(library, i, &info);
        weft_text_add(&all, "%s\n", info.text);
    }
    status = all.failed ? weft_no_memory(error) : WEFT_OK;
    if (status == WEFT_OK)
        weft_hash(all.data, all.length, out);
    weft_text_free(&all);
    return status;
}
