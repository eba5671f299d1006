/* Residuals in double precision to lists in single precision, scaled to norm 1, and back. */
#include "core/weft_core.h"
#include "fem/embedded_operators.h"
#include "fem/precondition/cycle.h"

#include <string.h>

enum { THREADS = 256 };

static weft_status size_program(weft_cycle *cycle, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragment = {"multigrid_size.weft", "index fine plain;\n"
                                                           "input r : real over fine;\n"
                                                           "square = dot(r, r);\n"
                                                           "return square;\n"};
    const weft_compile_options options = {.predicated = cycle->is_predicated};
    TRY(weft_compiled_make(cycle->context, &fragment, 1, &options, &cycle->size, error));
    TRY(weft_memory_make(cycle->context->device, sizeof(double), &cycle->square, error));
    TRY(weft_program_size(cycle->size.program, "fine", cycle->levels[0].n, error));
    TRY(weft_program_bind(cycle->size.program, "square", cycle->square, error));
done:
    return status;
}

weft_status weft_cycle_conversion(weft_cycle *cycle, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *text = NULL;
    if (!cycle->single)
        return WEFT_OK;
    TRY(size_program(cycle, error));
    for (const weft_embedded_file *file = weft_embedded_operators; file->name; ++file)
        if (strcmp(file->name, "convert.cu") == 0)
            text = file->text;
    TRY(weft_module_make(cycle->context->device, "convert", text, &cycle->module, error));
done:
    return status;
}

static weft_status convert(const weft_cycle *cycle, const char *kernel, weft_memory *from,
                           weft_memory *to, weft_error *error) {
    weft_memory *const arguments[] = {cycle->square, from, to};
    const weft_launch launch = {.module = cycle->module,
                                .kernel = kernel,
                                .arguments = arguments,
                                .n_arguments = 3,
                                .n_elements = cycle->levels[0].n,
                                .lanes = 32,
                                .block_threads = THREADS};
    return weft_device_launch(cycle->context->device, &launch, error);
}

weft_status weft_cycle_convert_in(weft_cycle *cycle, weft_memory *r, weft_memory *active,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_program_bind(cycle->size.program, "r", r, error));
    TRY(weft_cycle_program_run(cycle, &cycle->size, active, error));
    TRY(convert(cycle, "to_single", r, cycle->levels[0].b, error));
done:
    return status;
}

weft_status weft_cycle_convert_out(weft_cycle *cycle, weft_memory *z, weft_error *error) {
    return convert(cycle, "to_double", cycle->levels[0].z, z, error);
}
