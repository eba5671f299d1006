/* Runs the compiler as the list of its stages. */
#include "fusion/compile/compile.h"
#include "core/base/fault.h"
#include "core/base/options.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/codegen/codegen.h"
#include "fusion/control/kept_plan.h"
#include "fusion/plan/directives.h"
#include "fusion/plan/patches.h"
#include "fusion/plan/saved_plan.h"

#include <string.h>

static weft_status copy_text(weft_arena *arena, const char **text, weft_error *error) {
    if (!*text)
        return WEFT_OK;
    *text = weft_arena_copy(arena, *text, strlen(*text));
    return *text ? WEFT_OK : weft_no_memory(error);
}

/* Copy the operator choices. Fragments are not copied, because they are read during the call. */
static weft_status copy_operators(weft_arena *arena, const weft_compile_options *from,
                                  weft_compile_options *to, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator_choice *operators = NULL;
    TRY(WEFT_ALLOC(arena, operators, (size_t)from->n_operators + 1, error));
    for (int i = 0; i < from->n_operators; ++i) {
        operators[i] = from->operators[i];
        TRY(copy_text(arena, &operators[i].name, error));
        TRY(copy_text(arena, &operators[i].product_kernel, error));
    }
    to->operators = operators;
done:
    return status;
}

/* A copy of the options that lives as long as the compilation. */
static weft_status copy_options(weft_arena *arena, const weft_compile_options *from,
                                weft_compile_options *to, weft_error *error) {
    weft_status status = WEFT_OK;
    *to = *from;
    weft_expression *expressions = NULL;
    weft_parameter *parameters = NULL;
    weft_variant_choice *variants = NULL;
    TRY(WEFT_ALLOC(arena, expressions, (size_t)from->n_expressions + 1, error));
    TRY(WEFT_ALLOC(arena, parameters, (size_t)from->n_parameters + 1, error));
    TRY(WEFT_ALLOC(arena, variants, (size_t)from->n_variants + 1, error));
    for (int i = 0; i < from->n_expressions; ++i) {
        expressions[i] = from->expressions[i];
        TRY(copy_text(arena, &expressions[i].name, error));
        TRY(copy_text(arena, &expressions[i].text, error));
        TRY(copy_text(arena, &expressions[i].origin, error));
    }
    for (int i = 0; i < from->n_parameters; ++i) {
        parameters[i] = from->parameters[i];
        TRY(copy_text(arena, &parameters[i].name, error));
    }
    for (int i = 0; i < from->n_variants; ++i) {
        variants[i] = from->variants[i];
        TRY(copy_text(arena, &variants[i].function, error));
    }
    TRY(copy_operators(arena, from, to, error));
    TRY(copy_text(arena, &to->cover, error));
    TRY(copy_text(arena, &to->narrow, error));
    TRY(copy_text(arena, &to->forced_plan, error));
    to->expressions = expressions;
    to->parameters = parameters;
    to->variants = variants;
done:
    return status;
}

static weft_status run_stages(weft_compilation *c, const weft_fragment *fragments, int n_fragments,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    bool fits = true;
    if (c->options.narrow && c->limits.execution != WEFT_EXECUTION_SIMT)
        TRY(weft_error_set(
            error, WEFT_ERROR_UNSUPPORTED,
            "lists in single precision beside doubles ('%s') need a device that runs "
            "elements as threads",
            c->options.narrow));
    TRY(weft_script_make(c->arena, fragments, n_fragments, &c->options, &c->script, error));
    c->script->is_proved = c->kept != NULL;
    TRY(weft_check_variants(c, error));
    TRY(weft_control_make(c, &c->control, error));
    if (c->kept)
        TRY(weft_kept_plan_fits(c, c->kept, &fits, error));
    if (!fits && !weft_fault("kept_plan_unchecked"))
        TRY(weft_error_set(error, WEFT_ERROR_INPUT, "the kept plan is of another script"));
    TRY(weft_source_make(c, error));
done:
    return status;
}

weft_status weft_compile_kept(const weft_compilation *like, const weft_kept_plan *kept,
                              const weft_fragment *fragments, int n_fragments,
                              weft_compilation **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_compilation *made = NULL;
    weft_error reason = {0};
    *out = NULL;
    TRY(weft_arena_make(&arena, error));
    TRY(WEFT_ALLOC(arena, made, 1, error));
    *made = (weft_compilation){
        .arena = arena, .library = like->library, .limits = like->limits, .kept = kept};
    memcpy(made->key, like->key, sizeof made->key);
    TRY(copy_options(arena, &like->options, &made->options, error));
    status = run_stages(made, fragments, n_fragments, &reason);
    if (status == WEFT_ERROR_MEMORY)
        TRY(weft_no_memory(error));
    if (status == WEFT_OK) {
        *out = made;
        arena = NULL;
    }
    status = WEFT_OK;
done:
    weft_arena_free(&arena);
    return status;
}

/* With the plan that options.plans keeps, if it does and it fits. */
static weft_status find_and_compile(const weft_compilation *like, const weft_fragment *fragments,
                                    int n_fragments, weft_compilation **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_kept_plan *kept = NULL;
    const weft_device *device = like->options.plans;
    const weft_monitor *monitor = device ? weft_device_monitor(device) : NULL;
    if (!like->key[0])
        goto done;
    TRY(weft_kept_find(device, like->key, like->arena, &kept, error));
    if (kept)
        TRY(weft_compile_kept(like, kept, fragments, n_fragments, out, error));
    weft_log(monitor, WEFT_LOG_DEBUG,
             *out ? "%s: the plan is kept from an earlier run" : "planning %s",
             n_fragments > 0 ? fragments[0].name : "");
done:
    return status;
}

weft_status weft_compile(const weft_library *library, const weft_limits *limits,
                         const weft_fragment *fragments, int n_fragments,
                         const weft_compile_options *options, weft_compilation **out,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    static const weft_compile_options defaults = {.size = sizeof defaults};
    weft_compilation *made = NULL, *kept = NULL;
    weft_arena *arena = NULL;
    if (!options)
        options = &defaults;
    TRY(weft_options_check("weft_compile_options", options->size, sizeof *options, error));
    TRY(weft_target_check(limits, error));
    if (options->distributed && !weft_source_backend(limits)->exact)
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "this device does not compute with several ranks yet",
                              "use one rank, or the device host"));
    TRY(weft_arena_make(&arena, error));
    TRY(WEFT_ALLOC(arena, made, 1, error));
    made->arena = arena;
    made->library = library;
    made->limits = *limits;
    TRY(copy_options(arena, options, &made->options, error));
    TRY(weft_kept_key(library, limits, fragments, n_fragments, options, made->key, error));
    TRY(find_and_compile(made, fragments, n_fragments, &kept, error));
    if (kept) {
        kept->basis = arena; /* of the plan */
        *out = kept;
        arena = NULL;
        goto done;
    }
    TRY(run_stages(made, fragments, n_fragments, error));
    *out = made;
    arena = NULL;
done:
    weft_arena_free(&arena);
    return status;
}

weft_status weft_compile_cover(const weft_compilation *base, weft_cover *cover,
                               weft_compilation **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    TRY(weft_arena_make(&arena, error));
    weft_compilation *made = weft_arena_alloc(arena, 1, sizeof *made);
    weft_control *control = weft_arena_alloc(arena, 1, sizeof *control);
    weft_segment *segment = weft_arena_alloc(arena, 1, sizeof *segment);
    weft_segment **segments = weft_arena_alloc(arena, 1, sizeof *segments);
    if (!made || !control || !segment || !segments)
        TRY(weft_no_memory(error));
    *made = *base;
    *control = *base->control;
    *segment = *base->control->segments[0];
    made->arena = segment->arena = arena;
    made->basis = NULL;
    made->module = NULL;
    made->key[0] = '\0';
    made->control = control;
    control->segments = segments;
    segments[0] = segment;
    segment->cover = cover;
    TRY(weft_segment_plan_cover(segment, error));
    TRY(weft_source_make(made, error));
    *out = made;
    arena = NULL;
done:
    weft_arena_free(&arena);
    return status;
}

void weft_compilation_free(weft_compilation **compilation) {
    if (!compilation || !*compilation)
        return;
    weft_arena *arena = (*compilation)->arena, *basis = (*compilation)->basis;
    weft_module_free(&(*compilation)->module);
    *compilation = NULL;
    weft_arena_free(&arena);
    weft_arena_free(&basis);
}

const char *weft_compilation_module_name(const weft_compilation *compilation) {
    const weft_control *control = compilation->control;
    return control->n_segments > 0 ? control->segments[0]->plan->kernels[0].name : "scalars";
}

int weft_compilation_kernels(const weft_compilation *compilation) {
    int n = 0;
    for (int i = 0; i < compilation->control->n_segments; ++i)
        n += compilation->control->segments[i]->plan->n_kernels;
    return n;
}

static bool reads_patch_cells(const weft_plan_kernel *kernel) {
    for (int i = 0; i < kernel->n_arguments; ++i) {
        const weft_argument *argument = &kernel->arguments[i];
        if ((argument->kind == ARGUMENT_PATCH &&
             (argument->part == WEFT_PATCH_ARGUMENTS - 1 ||
              argument->part == WEFT_PATCH_ARGUMENTS + WEFT_EDGE_PATCH_ARGUMENTS - 1)) ||
            (argument->kind == ARGUMENT_PATCH_MATRIX &&
             argument->part == WEFT_PATCH_MATRIX_ARGUMENTS - 1))
            return true;
    }
    return false;
}

void weft_compilation_kernel(const weft_compilation *compilation, int i, weft_kernel_info *out) {
    weft_segment *const *segment = compilation->control->segments;
    for (; i >= (*segment)->plan->n_kernels; ++segment)
        i -= (*segment)->plan->n_kernels;
    const weft_plan_kernel *kernel = &(*segment)->plan->kernels[i];
    *out = (weft_kernel_info){
        .name = kernel->name,
        .index_set = weft_index_set_name((*segment)->graph, kernel->index_set),
        .n_calls = kernel->implementation ? kernel->implementation->fusion->n_calls : 0,
        .bytes_loaded = kernel->bytes_loaded,
        .bytes_stored = kernel->bytes_stored,
        .flops = kernel->flops,
        .seconds = kernel->seconds > 0 || !kernel->implementation ? kernel->seconds
                                                                  : kernel->implementation->cost,
        .is_member = kernel->is_member,
        .is_sized = kernel->kind == KERNEL_NESTED && kernel->slice == SLICE_COLUMNS,
        .patches = weft_kernel_is_patch(kernel->kind),
        .patch_cells = reads_patch_cells(kernel),
        .patch_rows = kernel->kind == KERNEL_MATRIX_PATCH,
        .not_permuted = kernel->not_permuted,
        .cell_colours = kernel->kind == KERNEL_CELL_COLOURS,
        .scatter = weft_plan_scatter_name((*segment)->plan, kernel)};
}

const char *weft_compilation_source(const weft_compilation *compilation) {
    return compilation->source;
}
