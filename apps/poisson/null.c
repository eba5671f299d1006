/* Prints the plans and the launches that would be made, on the null device. */
#include "apps/poisson/poisson.h"

#include <inttypes.h>
#include <string.h>

/* One script of the run: its fragments and bindings. */
typedef struct script {
    const char *title;
    weft_fragment fragments[2];
    weft_form form; /* its expressions and parameters */
    weft_scatter scatter;
    int64_t n_elements;
} script;

static void print_launch(const weft_compilation *compilation, int kernel, int64_t n_elements) {
    weft_kernel_info info;
    char loaded[32], stored[32];
    double n = (double)n_elements;
    weft_compilation_kernel(compilation, kernel, &info);
    printf("would launch %s over %" PRId64 " %s: %s loaded, %s stored, %.3g flop\n", info.name,
           n_elements, info.index_set, app_print_bytes(info.bytes_loaded * n, loaded),
           app_print_bytes(info.bytes_stored * n, stored), info.flops * n);
}

static weft_status print_script(const solve *run, const script *item, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *compilation = NULL;
    weft_text text = {0};
    const weft_form *form = &item->form;
    const weft_compile_options options = {.size = sizeof options,
                                          .plan = run->options->run.plan,
                                          .scatter = item->scatter,
                                          .expressions = form->expressions,
                                          .n_expressions = form->n_expressions,
                                          .parameters = form->parameters,
                                          .n_parameters = form->n_parameters};
    TRY(weft_compile(run->base.library, weft_device_limits(run->base.device), item->fragments, 2,
                     &options, &compilation, error));
    TRY(weft_compilation_print(compilation, "plan", "text", &text, error));
    printf("\n%s (%s, %s)\n", item->title, item->fragments[0].name, item->fragments[1].name);
    if (text.data)
        fwrite(text.data, 1, text.length, stdout);
    for (int i = 0; i < weft_compilation_kernels(compilation); ++i)
        print_launch(compilation, i, item->n_elements);
done:
    weft_text_free(&text);
    weft_compilation_free(&compilation);
    return status;
}

/* Print the scripts of the assembly and, if it is separate, of the operator application. */
static weft_status print_form(const solve *run, const weft_form *form, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_assembly_info *info =
        weft_assembly_about(run->base.problem->system.linear.choice.assembly);
    const char *end = info->script;
    weft_parameter width = {"width", weft_connectivity_width(form->dofs)};
    const script item = {.title = strcmp(end, "product.weft") == 0 ? "product" : "local matrices",
                         .fragments = {{form->name, form->text}, {end, weft_fem_script(end)}},
                         .form = *form,
                         .n_elements = weft_connectivity_from(form->dofs)};
    const script product = {.title = "product",
                            .fragments = {{"local.weft", weft_fem_script("local.weft")},
                                          {"product.weft", weft_fem_script("product.weft")}},
                            .form = {.parameters = &width, .n_parameters = 1},
                            .scatter = info->scatter,
                            .n_elements = item.n_elements};
    TRY(print_script(run, &item, error));
    if (info->stores_local)
        TRY(print_script(run, &product, error));
done:
    return status;
}

static weft_status print_operator(const solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_form *robin = NULL;
    const int n_robin = weft_bc_forms(run->base.problem->fields.bc, &robin);
    TRY(print_form(run, &run->base.problem->forms.first.form, error));
    for (int i = 0; i < n_robin; ++i)
        TRY(print_form(run, &robin[i], error));
done:
    return status;
}

static weft_status print_load(const solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_bound_form form;
    TRY(weft_form_ship(run->base.problem->fields.space, "load.weft",
                       weft_space_cells(run->base.problem->fields.space), &form, error));
    weft_form_bind_expression(&form, "source", run->options->source, "--source");
    const script item = {
        .title = "right-hand side",
        .fragments = {{form.form.name, form.form.text}, {"outputs", "return b;\n"}},
        .form = form.form,
        .n_elements = run->base.mesh->n_cells};
    TRY(print_script(run, &item, error));
done:
    return status;
}

weft_status poisson_plan_print(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(print_operator(run, error));
    TRY(print_load(run, error));
done:
    return status;
}
