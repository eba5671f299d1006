#include "poisson.h"

#include <inttypes.h>
#include <string.h>

/* What the operator runs for each assembly: the form, then what is done with its K. */
static const char *const operator_ends[] = {[WEFT_ASSEMBLY_LMA] = "stored.weft",
                                            [WEFT_ASSEMBLY_LMA_GATHER] = "stored.weft",
                                            [WEFT_ASSEMBLY_CSR] = "matrix.weft",
                                            [WEFT_ASSEMBLY_MATRIX_FREE] = "product.weft"};

static weft_status print_plan(const poisson *run, const weft_fragment *fragments, int n_fragments,
                              const weft_form *form, int64_t n_instances, weft_error *error)
{
    weft_status status = WEFT_OK;
    weft_compilation *compilation = NULL;
    weft_text text = {0};
    const weft_compile_options options = {.plan = run->options->plan,
                                          .expressions = form->expressions,
                                          .n_expressions = form->n_expressions,
                                          .parameters = form->parameters,
                                          .n_parameters = form->n_parameters};
    TRY(weft_compile(run->library, weft_device_limits(run->device), fragments, n_fragments,
                     &options, &compilation, error));
    TRY(weft_compilation_print(compilation, "plan", "text", &text, error));
    printf("\n%s over %" PRId64 " instances:\n", form->name, n_instances);
    fwrite(text.data, 1, text.length, stdout);
    for (int i = 0; i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info info;
        char loaded[32], stored[32];
        weft_compilation_kernel(compilation, i, &info);
        printf("would launch kernel %s: %s loaded, %s stored, %.3g Mflop\n", info.name,
               app_print_bytes(info.bytes_loaded * (double)n_instances, loaded),
               app_print_bytes(info.bytes_stored * (double)n_instances, stored),
               info.flops * (double)n_instances * 1e-6);
    }
done:
    weft_text_free(&text);
    weft_compilation_free(&compilation);
    return status;
}

static weft_status print_operator(const poisson *run, weft_error *error)
{
    weft_status status = WEFT_OK;
    const char *end = operator_ends[run->options->assembly];
    for (int i = 0; i < run->n_forms; ++i) {
        const weft_form *form = &run->forms[i].form;
        const weft_fragment fragments[] = {{form->name, form->text}, {end, weft_fem_script(end)}};
        TRY(print_plan(run, fragments, 2, form, weft_connectivity_from(form->dofs), error));
    }
done:
    return status;
}

weft_status poisson_plan_print(poisson *run, weft_error *error)
{
    weft_status status = WEFT_OK;
    const poisson_options *options = run->options;
    char bytes[32];
    TRY(weft_operator_apply(run->op, run->u, run->b, error));
    if (options->verbosity == APP_QUIET || (options->json && strcmp(options->json, "-") == 0))
        return WEFT_OK;
    printf("device      %s\n", weft_device_limits(run->device)->name);
    printf("plan        %s, %d kernels, assembly %s\n",
           options->plan == WEFT_PLAN_FUSED ? "fused" : "unfused", run->context.n_kernels,
           weft_assembly_name(options->assembly));
    TRY(print_operator(run, error));
    printf("\n%" PRId64 " launches recorded up to the first product, %s of device memory\n",
           weft_device_launches(run->device),
           app_print_bytes((double)weft_device_bytes_peak(run->device), bytes));
    puts("nothing was computed: the device null only plans");
done:
    return status;
}
