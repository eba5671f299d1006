/* Residuals divided by the diagonal, in single precision scaled to norm 1, and corrections back. */
#include "fem/precondition/cycle.h"

/* b of the finest level, in double precision. */
static weft_status make_divide(weft_cycle *cycle, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragment = {"multigrid_divide.weft", "index fine plain;\n"
                                                             "input r, a : real over fine;\n"
                                                             "b = select(a > 0, r/a, 0);\n"
                                                             "return b;\n"};
    const weft_compile_options options = {.size = sizeof options,
                                          .predicated = cycle->is_predicated};
    const weft_cycle_level *finest = &cycle->levels[0];
    TRY(weft_compiled_make(cycle->context, &fragment, 1, &options, &cycle->divide, error));
    TRY(weft_program_size(cycle->divide.program, "fine", finest->n, error));
    TRY(weft_program_bind(cycle->divide.program, "a", finest->a, error));
    TRY(weft_program_bind(cycle->divide.program, "b", finest->b, error));
done:
    return status;
}

const char weft_cycle_size_script[] = "index fine plain;\n"
                                      "input r : real over fine;\n"
                                      "square = dot(r, r);\n"
                                      "return square;\n";

weft_status weft_cycle_conversion(weft_cycle *cycle, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragment = {"multigrid_size.weft", weft_cycle_size_script};
    const weft_compile_options options = {.size = sizeof options,
                                          .predicated = cycle->is_predicated};
    if (!cycle->single) {
        status = make_divide(cycle, error);
        goto done;
    }
    TRY(weft_compiled_make(cycle->context, &fragment, 1, &options, &cycle->size, error));
    TRY(weft_memory_make(cycle->context->device, sizeof(double), &cycle->square, error));
    TRY(weft_program_size(cycle->size.program, "fine",
                          cycle->outer.share ? cycle->outer.n : cycle->levels[0].n, error));
    TRY(weft_program_share(cycle->size.program, "fine", cycle->outer.share, error));
    TRY(weft_program_bind(cycle->size.program, "square", cycle->square, error));
    TRY(weft_lists_make(cycle->context->device, &cycle->lists, error));
done:
    return status;
}

weft_status weft_cycle_size(weft_cycle *cycle, weft_memory *r, weft_memory *active,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_program_bind(cycle->size.program, "r", r, error));
    TRY(weft_compiled_run(cycle->context, &cycle->size, active, error));
done:
    return status;
}

weft_status weft_cycle_convert_in(weft_cycle *cycle, weft_memory *r, weft_memory *square,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cycle_level *finest = &cycle->levels[0];
    if (cycle->single) {
        status =
            weft_lists_to_single(cycle->lists, finest->n, square, r, finest->a, finest->b, error);
        goto done;
    }
    TRY(weft_program_bind(cycle->divide.program, "r", r, error));
    TRY(weft_program_run(cycle->divide.program, error));
done:
    return status;
}

weft_status weft_cycle_convert_out(weft_cycle *cycle, weft_memory *from, weft_memory *square,
                                   weft_memory *z, weft_error *error) {
    if (!cycle->single)
        return weft_memory_copy(z, from, (size_t)cycle->levels[0].n * sizeof(double), error);
    return weft_lists_to_double(cycle->lists, cycle->levels[0].n, square, from, z, error);
}
