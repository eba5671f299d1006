/* A plan that is printed and read back is the plan that was printed: the same kernels in the same
 * text, and so the same results. */
#include "core/weft_core.h"
#include "cross_check.h"
#include "fusion/codegen/codegen.h"
#include "fusion/compile/compile.h"
#include "fusion/control/kept_plan.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"

#include <string.h>

/* The first line that differs, of either text; NULL: none does. */
static const char *first_difference(const char *a, const char *b) {
    const char *line = a;
    if (strcmp(a, b) == 0)
        return NULL;
    for (size_t i = 0; a[i] == b[i]; ++i)
        if (a[i] == '\n')
            line = a + i + 1;
    return line;
}

static weft_status compare_texts(const char *what, const char *printed, const char *forced,
                                 weft_error *error) {
    const char *line = first_difference(printed, forced);
    if (line == NULL)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_INTERNAL,
                          "the %s of the plan that was printed and read back is not the same: "
                          "%.200s",
                          what, line);
}

static weft_status print_plan(const weft_compilation *compilation, weft_text *out,
                              weft_error *error) {
    return weft_compilation_print(compilation, "plan", "json", out, error);
}

/* The same for the text that is kept on disk, whose source is taken as it is: it must be that of the plan. */
static weft_status kept_check(const weft_fragment *script, const weft_compilation *planned,
                              const char *printed, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_kept_plan *kept = NULL;
    weft_compilation *made = NULL;
    weft_text text = {0}, again = {0};
    TRY(weft_arena_make(&arena, error));
    TRY(weft_kept_plan_write(planned, NULL, &text, error));
    TRY(weft_kept_plan_read(arena, text.data, text.length, &kept, error));
    if (kept)
        TRY(weft_compile_kept(planned, kept, script, 1, &made, error));
    if (!made)
        TRY(weft_error_set(error, WEFT_ERROR_INTERNAL, "a kept plan does not fit its own script"));
    TRY(print_plan(made, &again, error));
    TRY(compare_texts("kept text", printed, again.data, error));
    TRY(compare_texts("kept source", planned->source, made->source, error));
    made->kept = NULL; /* the source that its plan would get */
    TRY(weft_source_make(made, error));
    TRY(compare_texts("source of the kept plan", planned->source, made->source, error));
done:
    weft_compilation_free(&made);
    weft_text_free(&text);
    weft_text_free(&again);
    weft_arena_free(&arena);
    return status;
}

weft_status reload_check(const weft_library *library, const weft_fragment *script,
                         const weft_compilation *planned, weft_error *error) {
    weft_status status = WEFT_OK;
    /* Of the options what says how a kernel is written, for which sizes traffic is predicted, and
     * of what the second plan of a script with columns is made; what the first one is made of is in
     * the saved plan. */
    weft_compile_options options = {.size = sizeof options,
                                    .plan = planned->options.plan,
                                    .max_fusion = planned->options.max_fusion,
                                    .variants = planned->options.variants,
                                    .n_variants = planned->options.n_variants,
                                    .scatter = planned->options.scatter,
                                    .elements = planned->options.elements,
                                    .single = planned->options.single,
                                    .operators = planned->options.operators,
                                    .n_operators = planned->options.n_operators};
    weft_compilation *forced = NULL;
    weft_text printed = {0}, again = {0};
    TRY(print_plan(planned, &printed, error));
    options.forced_plan = printed.data;
    TRY(weft_compile(library, &planned->limits, script, 1, &options, &forced, error));
    TRY(print_plan(forced, &again, error));
    TRY(compare_texts("text", printed.data, again.data, error));
    TRY(compare_texts("source", planned->source, forced->source, error));
    TRY(kept_check(script, planned, printed.data, error));
done:
    weft_compilation_free(&forced);
    weft_text_free(&printed);
    weft_text_free(&again);
    return status;
}
