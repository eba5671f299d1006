/* The compiler as the list of its stages. */
#include "core/weft_core.h"
#include "fusion/base/array.h"
#include "fusion/codegen/codegen.h"
#include "fusion/compile/compile.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/compilation.h"
#include "fusion/plan/cover.h"
#include "fusion/plan/directives.h"
#include "fusion/plan/fusions.h"
#include "fusion/plan/implementation.h"
#include "fusion/plan/patches.h"
#include "fusion/plan/plan.h"
#include "fusion/plan/saved_plan.h"
#include "fusion/script/locale.h"
#include "fusion/script/script.h"
#include "fusion/script/tokens.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"

#include <string.h>

static weft_status copy_text(weft_arena *arena, const char **text, weft_error *error) {
    if (*text == NULL)
        return WEFT_OK;
    *text = weft_arena_copy(arena, *text, strlen(*text));
    return *text != NULL
               ? WEFT_OK
               : weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while compiling");
}

/* Fragments are read at once, and not kept. */
static weft_status copy_operators(weft_arena *arena, const weft_compile_options *from,
                                  weft_compile_options *to, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator_choice *operators =
        weft_arena_alloc(arena, (size_t)from->n_operators + 1, sizeof *operators);
    if (operators == NULL)
        return weft_no_memory(error);
    for (int i = 0; i < from->n_operators; ++i) {
        operators[i] = from->operators[i];
        TRY(copy_text(arena, &operators[i].name, error));
        TRY(copy_text(arena, &operators[i].routine, error));
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
    weft_expression *expressions =
        weft_arena_alloc(arena, (size_t)from->n_expressions + 1, sizeof *expressions);
    weft_parameter *parameters =
        weft_arena_alloc(arena, (size_t)from->n_parameters + 1, sizeof *parameters);
    weft_variant_choice *variants =
        weft_arena_alloc(arena, (size_t)from->n_variants + 1, sizeof *variants);
    if (expressions == NULL || parameters == NULL || variants == NULL)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while compiling");
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
    TRY(copy_text(arena, &to->forced_plan, error));
    to->expressions = expressions;
    to->parameters = parameters;
    to->variants = variants;
done:
    return status;
}

/* Made anew from the texts: only printing wants them. */
static weft_status print_tokens(const weft_compilation *c, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *scratch = NULL;
    TRY(weft_arena_make(&scratch, error));
    for (int i = 0; i < c->script->n_sources; ++i) {
        weft_token *tokens = NULL;
        int n = 0;
        TRY(weft_tokens_make(scratch, &c->script->sources[i], &tokens, &n, error));
        weft_tokens_print(tokens, n, out);
    }
done:
    weft_arena_free(&scratch);
    return status;
}

weft_status weft_compile_stages(weft_compilation *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = c->arena;
    TRY(weft_graph_make(arena, c->library, c->script, &c->graph, error));
    TRY(weft_fusions_make(arena, c->graph, &c->options, &c->fusions, error));
    TRY(weft_wishes_add(c, error));
    TRY(weft_implementations_make(arena, c->graph, c->fusions, &c->limits, &c->options,
                                  &c->implementations, error));
    TRY(weft_wishes_prune(c, error));
    if (c->options.forced_plan != NULL)
        TRY(weft_plan_force(c, c->options.forced_plan, error));
    else
        TRY(weft_cover_choose(c, error));
    TRY(weft_plan_make(arena, c->graph, c->cover, &c->limits, &c->options, &c->plan, error));
done:
    return status;
}

static weft_status run_stages(weft_compilation *c, const weft_fragment *fragments, int n_fragments,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = c->arena;
    bool flows = false;
    TRY(weft_script_make(arena, fragments, n_fragments, &c->options, &c->script, error));
    TRY(weft_flow_wanted(arena, c->library, c->script, &flows, error));
    if (flows && c->options.guarded) {
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                "a script with loops cannot be guarded: its loops are");
        goto done;
    }
    if (flows) {
        TRY(weft_flow_make(c, &c->flow, error));
        TRY(weft_flow_check_wishes(c, c->flow, error));
        TRY(weft_flow_source(c, &c->source, error));
    } else {
        TRY(weft_compile_stages(c, error));
        TRY(weft_source_make(arena, c->graph, c->plan, &c->limits, &c->options, &c->source, error));
    }
done:
    return status;
}

weft_status weft_compile(const weft_library *library, const weft_limits *limits,
                         const weft_fragment *fragments, int n_fragments,
                         const weft_compile_options *options, weft_compilation **out,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    static const weft_compile_options defaults = {0};
    weft_arena *arena = NULL;
    weft_compilation *made = NULL;
    weft_numbers numbers = {0};
    TRY(weft_numbers_begin(&numbers, error));
    TRY(weft_arena_make(&arena, error));
    made = weft_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while compiling");
        goto done;
    }
    made->arena = arena;
    made->library = library;
    made->limits = *limits;
    made->segment = -1;
    TRY(copy_options(arena, options != NULL ? options : &defaults, &made->options, error));
    TRY(run_stages(made, fragments, n_fragments, error));
    *out = made;
    arena = NULL;
done:
    weft_numbers_end(&numbers);
    weft_arena_free(&arena);
    return status;
}

weft_status weft_compile_cover(const weft_compilation *base, weft_cover *cover,
                               weft_compilation **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_compilation *made = NULL;
    weft_numbers numbers = {0};
    TRY(weft_numbers_begin(&numbers, error));
    TRY(weft_arena_make(&arena, error));
    made = weft_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL) {
        status = weft_no_memory(error);
        goto done;
    }
    *made = *base;
    made->arena = arena;
    made->cover = cover;
    TRY(weft_plan_make(arena, made->graph, cover, &made->limits, &made->options, &made->plan,
                       error));
    TRY(weft_source_make(arena, made->graph, made->plan, &made->limits, &made->options,
                         &made->source, error));
    *out = made;
    arena = NULL;
done:
    weft_numbers_end(&numbers);
    weft_arena_free(&arena);
    return status;
}

void weft_compilation_free(weft_compilation **compilation) {
    if (compilation == NULL || *compilation == NULL)
        return;
    weft_arena *arena = (*compilation)->arena;
    *compilation = NULL;
    weft_arena_free(&arena);
}

int weft_compilation_kernels(const weft_compilation *compilation) {
    int n = compilation->plan != NULL ? compilation->plan->n_kernels : 0;
    for (int i = 0; compilation->flow != NULL && i < compilation->flow->n_segments; ++i)
        n += compilation->flow->segments[i]->plan->n_kernels;
    return n;
}

static bool reads_star_cells(const weft_plan_kernel *kernel) {
    for (int i = 0; i < kernel->n_arguments; ++i) {
        const weft_argument *argument = &kernel->arguments[i];
        if ((argument->kind == ARGUMENT_STAR &&
             (argument->part == WEFT_STAR_ARGUMENTS - 1 ||
              argument->part == WEFT_STAR_ARGUMENTS + WEFT_EDGE_STAR_ARGUMENTS - 1)) ||
            (argument->kind == ARGUMENT_STAR_MATRIX &&
             argument->part == WEFT_STAR_MATRIX_ARGUMENTS - 1))
            return true;
    }
    return false;
}

void weft_compilation_kernel(const weft_compilation *compilation, int i, weft_kernel_info *out) {
    for (int k = 0; compilation->flow != NULL; ++k) {
        const weft_compilation *segment = compilation->flow->segments[k];
        if (i < segment->plan->n_kernels) {
            compilation = segment;
            break;
        }
        i -= segment->plan->n_kernels;
    }
    const weft_plan_kernel *kernel = &compilation->plan->kernels[i];
    *out = (weft_kernel_info){
        .name = kernel->name,
        .index_set = compilation->graph->index_sets[kernel->index_set].name,
        .n_calls = kernel->implementation != NULL ? kernel->implementation->fusion->n_calls : 0,
        .bytes_loaded = kernel->bytes_loaded,
        .bytes_stored = kernel->bytes_stored,
        .flops = kernel->flops,
        .seconds = kernel->implementation != NULL ? kernel->implementation->cost : 0,
        .stars = kernel->stars,
        .star_cells = reads_star_cells(kernel),
        .cell_colours = kernel->cell_colours,
        .scatter = weft_plan_scatter_name(compilation->plan, kernel),
    };
}

const char *weft_compilation_source(const weft_compilation *compilation) {
    return compilation->source;
}

static const char *const stages[] = {"tokens",          "script", "graph", "fusions",
                                     "implementations", "cover",  "plan",  "source"};

static bool is_stage(const char *name) {
    for (size_t i = 0; i < sizeof stages / sizeof *stages; ++i)
        if (strcmp(name, stages[i]) == 0)
            return true;
    return false;
}

weft_status weft_compilation_print_stage(const weft_compilation *c, const char *stage,
                                         const char *format, weft_text *out, weft_error *error) {
    const bool dot = strcmp(format, "dot") == 0, json = strcmp(format, "json") == 0;
    const bool graph = strcmp(stage, "graph") == 0, plan = strcmp(stage, "plan") == 0;
    if (!dot && !json && strcmp(format, "text") != 0)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "there is no format '%s': text, dot and json are", format);
    if ((dot || json) && !graph && !plan)
        return weft_error_set(error, WEFT_ERROR_USAGE, "only graph and plan are printed as %s",
                              format);
    if (strcmp(stage, "tokens") == 0) {
        weft_status status = print_tokens(c, out, error);
        if (status != WEFT_OK)
            return status;
    } else if (strcmp(stage, "script") == 0)
        weft_script_print(c->script, out);
    else if (c->flow != NULL && strcmp(stage, "source") != 0 && is_stage(stage))
        return weft_flow_print(c, stage, format, out, error);
    else if (graph)
        (dot    ? weft_graph_print_dot
         : json ? weft_graph_print_json
                : weft_graph_print_text)(c->graph, out);
    else if (strcmp(stage, "fusions") == 0)
        weft_fusions_print(c, out);
    else if (strcmp(stage, "implementations") == 0)
        weft_implementations_print(c, out);
    else if (strcmp(stage, "cover") == 0)
        weft_cover_print(c->graph, c->cover, out);
    else if (plan && json)
        weft_plan_print_json(c->graph, c->plan, c->segment, out);
    else if (plan)
        (dot ? weft_plan_print_dot : weft_plan_print_text)(c->graph, c->plan, out);
    else if (strcmp(stage, "source") == 0)
        weft_text_add(out, "%s", c->source);
    else {
        const char *near = weft_nearest_name(stage, stages, sizeof stages / sizeof *stages);
        weft_error_set(error, WEFT_ERROR_USAGE, "there is no stage '%s'", stage);
        weft_error_hint(error,
                        "%s%s%sthe stages are tokens, script, graph, fusions, implementations, "
                        "cover, plan, source",
                        near != NULL ? "did you mean '" : "", near != NULL ? near : "",
                        near != NULL ? "'? " : "");
        return WEFT_ERROR_USAGE;
    }
    return out->failed ? weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while printing")
                       : WEFT_OK;
}

weft_status weft_compilation_print(const weft_compilation *compilation, const char *stage,
                                   const char *format, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_numbers numbers = {0};
    TRY(weft_numbers_begin(&numbers, error));
    TRY(weft_compilation_print_stage(compilation, stage, format, out, error));
done:
    weft_numbers_end(&numbers);
    return status;
}
