/* Compiles the scripts of forms on other threads, before they are needed. */
#include "fem/form/form.h"

void weft_compile_in_background(const weft_context *context, const weft_fragment *fragments,
                                int n_fragments, const weft_compile_options *options) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    weft_context quiet = *context;
    weft_compile_options planned = *options;
    weft_compilation *compilation = NULL;
    weft_arena *arena = NULL;
    weft_saving saving;
    if (!weft_device_has_compiled(context->device) || weft_context_searches(context))
        goto done;
    quiet.monitor = NULL;
    planned.plan = context->plan;
    planned.distributed = context->comm && !planned.replicated;
    planned.plans = context->device;
    planned.corrected = true;
    TRY(weft_arena_make(&arena, &error));
    TRY(weft_context_tuned(&quiet, fragments, n_fragments, &planned, arena, &error));
    TRY(weft_compile(context->library, weft_device_limits(context->device), fragments, n_fragments,
                     &planned, &compilation, &error));
    /* a GPU's compiler may correct the plan, which weft_compiled_make then keeps */
    if (weft_device_limits(context->device)->execution != WEFT_EXECUTION_SIMT &&
        planned.plan == WEFT_PLAN_FUSED &&
        weft_compilation_saving(compilation, &saving, &error) == WEFT_OK)
        TRY(weft_compilation_keep(compilation, &saving, &error));
    if (weft_compilation_kernels(compilation) > 0)
        weft_module_store_later(context->device, fragments[0].name,
                                weft_compilation_source(compilation));
done:
    (void)status; /* weft_compiled_make reports it */
    weft_compilation_free(&compilation);
    weft_arena_free(&arena);
}
