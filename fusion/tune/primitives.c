/* Collects the cost primitives to measure: those of the library's functions, simplices and scripts.
 *
 * The names must be those that fusion/plan/primitives.c makes. */
#include "core/base/options.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/cost/intrinsic.h"
#include "fusion/library/function.h"
#include "fusion/library/native.h"
#include "fusion/tune/tune.h"

#include <stdio.h>
#include <string.h>

weft_status weft_cost_primitive_set_add(weft_cost_primitive_set *set,
                                        const weft_cost_primitive *primitive, weft_error *error) {
    weft_cost_primitive one = *primitive;
    if (WEFT_FIND_NAME(set->list, set->n, primitive->name) >= 0)
        return WEFT_OK;
    one.name = weft_arena_copy(set->arena, primitive->name, strlen(primitive->name));
    if (primitive->function)
        one.function =
            weft_arena_copy(set->arena, primitive->function, strlen(primitive->function));
    if (!one.name || (primitive->function && !one.function))
        return weft_no_memory(error);
    one.handle = -1;
    return WEFT_APPEND(set->arena, set->list, set->n, one, error);
}

typedef struct set_maker {
    weft_cost_primitive_set *set;
    const weft_limits *limits;
    bool single;
    weft_error *error;
} set_maker;

/* Add a primitive with data in registers and, on a GPU, also in shared memory. */
static weft_status add_places(const set_maker *m, const weft_cost_primitive *primitive,
                              const char *stem) {
    weft_status status = WEFT_OK;
    char name[300];
    weft_cost_primitive one = *primitive;
    one.name = name;
    one.real_bytes = m->single ? 4 : 8;
    for (int shared = 0; shared < (weft_target_is_simt(m->limits) ? 2 : 1); ++shared) {
        one.shared = shared;
        snprintf(name, sizeof name, "%s %s %s", stem, m->single ? "float" : "double",
                 shared ? "shared" : "registers");
        TRY(weft_cost_primitive_set_add(m->set, &one, m->error));
    }
done:
    return status;
}

static weft_status add_move(const set_maker *m, weft_cost_kind kind, weft_access_kind form,
                            int components, int width) {
    static const char *const forms[] = {"block", "plain", "indirect", "add", "add_matrix"};
    const double real_bytes = m->single ? 4 : 8;
    const int count = form == WEFT_COST_ADD_MATRIX ? width * width * components
                                                   : components * (width > 0 ? width : 1);
    weft_cost_primitive primitive = {
        .kind = kind, .form = form, .components = components, .width = width};
    char stem[80];
    /* as counted by fusion/plan/primitives.c */
    primitive.bytes = real_bytes * count + 4.0 * width;
    if (form == WEFT_COST_ADD)
        primitive.bytes += real_bytes * count;
    if (form == WEFT_COST_ADD_MATRIX)
        primitive.bytes = (2 * real_bytes + 4) * count;
    snprintf(stem, sizeof stem, "%s %s %d %d", kind == WEFT_COST_LOAD ? "load" : "store",
             forms[form], components, width);
    return add_places(m, &primitive, stem);
}

static weft_status add_lists(const set_maker *m, int components) {
    weft_status status = WEFT_OK;
    for (weft_access_kind form = WEFT_COST_BLOCK; form <= WEFT_COST_AOS; ++form) {
        TRY(add_move(m, WEFT_COST_LOAD, form, components, 0));
        TRY(add_move(m, WEFT_COST_STORE, form, components, 0));
    }
done:
    return status;
}

static weft_status add_computes(const set_maker *m, const weft_function *function,
                                const weft_specialisation *specialisation) {
    weft_status status = WEFT_OK;
    weft_text sizes = {0};
    char stem[220];
    for (int i = 0; i < specialisation->n_names; ++i)
        weft_text_add(&sizes, "%s%s=%d", i > 0 ? "," : "", specialisation->names[i],
                      specialisation->values[i]);
    if (specialisation->n_names == 0)
        weft_text_add(&sizes, "n=%d,flops=%.0f", weft_shape_count(&specialisation->result),
                      specialisation->flops);
    if (sizes.failed)
        TRY(weft_no_memory(m->error));
    for (int v = 0; v < specialisation->n_variants; ++v) {
        weft_cost_primitive primitive = {.kind = WEFT_COST_COMPUTE,
                                         .function = function->info.name,
                                         .variant = v,
                                         .threads = specialisation->threads[v],
                                         .flops = specialisation->flops};
        if (weft_specialisation_language(specialisation, v) != LANGUAGE_PLAIN)
            continue; /* priced by its declaration */
        /* on the host one thread does the work of all: variants of more threads are redundant */
        if (!weft_target_is_simt(m->limits) && v > 0 && specialisation->threads[0] == 1)
            continue;
        snprintf(stem, sizeof stem, "compute %s %d %s", function->info.name,
                 specialisation->threads[v], sizes.data);
        TRY(add_places(m, &primitive, stem));
    }
done:
    weft_text_free(&sizes);
    return status;
}

static bool is_wanted(const char *name, const char *const *functions, int n) {
    return !functions || weft_name_index(functions, n, sizeof *functions, name) >= 0;
}

/* Use the second and third choice of sizes: the first is the smallest possible. */
static weft_status add_function(const set_maker *m, const weft_library *library, size_t at) {
    weft_status status = WEFT_OK;
    const weft_function *function = library->functions[at];
    weft_arena *scratch = NULL;
    weft_test_cases *test_cases = NULL;
    const weft_specialisation *elements[WEFT_TEST_CASES_MAX];
    TRY(weft_arena_make(&scratch, m->error));
    TRY(WEFT_ALLOC(scratch, test_cases, 1, m->error));
    status = weft_trials_elements(library, at, scratch, test_cases, elements, m->error);
    if (status == WEFT_ERROR_SHAPE) { /* its tables are not available, so it cannot be called */
        status = WEFT_OK;
        goto done;
    }
    TRY(status);
    const int first = test_cases->n > 1 && test_cases->list[1].line == 0 ? 1 : 0;
    for (int k = first; k < test_cases->n && k <= first + 1; ++k) {
        if (test_cases->list[k].line != 0)
            break;
        TRY(add_computes(m, function, elements[k]));
        for (int i = 0; i < elements[k]->n_arguments; ++i)
            TRY(add_lists(m, weft_shape_count(&elements[k]->arguments[i])));
        TRY(add_lists(m, weft_shape_count(&elements[k]->result)));
    }
done:
    weft_arena_free(&scratch);
    return status;
}

/* The wanted functions of formulas that have one or two arguments. */
static weft_status add_intrinsics(const set_maker *m, const char *const *functions, int n) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < weft_intrinsics_count; ++i) {
        const weft_cost_primitive one =
            weft_cost_of_intrinsic(m->set->arena, &weft_intrinsics[i], m->single);
        if (!one.name)
            TRY(weft_no_memory(m->error));
        if ((weft_intrinsics[i].one || weft_intrinsics[i].two) &&
            is_wanted(one.function, functions, n))
            TRY(weft_cost_primitive_set_add(m->set, &one, m->error));
    }
done:
    return status;
}

weft_status weft_cost_primitive_set_library(weft_cost_primitive_set *set,
                                            const weft_library *library, const weft_limits *limits,
                                            bool single, const char *const *functions,
                                            int n_functions, weft_error *error) {
    weft_status status = WEFT_OK;
    const set_maker m = {set, limits, single, error};
    for (int width = 2; width <= 4 && !functions; ++width) {
        TRY(add_move(&m, WEFT_COST_LOAD, WEFT_COST_INDIRECT, 1, width));
        TRY(add_move(&m, WEFT_COST_LOAD, WEFT_COST_INDIRECT, width - 1, width));
        TRY(add_move(&m, WEFT_COST_STORE, WEFT_COST_ADD, 1, width));
        TRY(add_move(&m, WEFT_COST_STORE, WEFT_COST_ADD_MATRIX, 1, width));
    }
    TRY(add_intrinsics(&m, functions, n_functions));
    for (size_t i = 0; i < library->n; ++i)
        if (is_wanted(library->functions[i]->info.name, functions, n_functions))
            TRY(add_function(&m, library, i));
done:
    return status;
}

/* ---- primitives of a script ---- */

typedef struct collection {
    weft_cost_primitive_set *set;
    bool shared; /* the device has shared memory */
} collection;

static weft_status collect(void *user, weft_cost_primitive *const *primitives, int n,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const collection *to = user;
    for (int i = 0; i < n; ++i)
        if (to->shared || !primitives[i]->shared)
            TRY(weft_cost_primitive_set_add(to->set, primitives[i], error));
done:
    return status;
}

static bool knows_nothing(void *user, const weft_cost_primitive *primitive,
                          const weft_operating_point *point, double *seconds) {
    (void)user;
    (void)primitive;
    (void)point;
    (void)seconds;
    return false;
}

weft_status weft_cost_primitive_set_script(weft_cost_primitive_set *set,
                                           const weft_library *library, const weft_limits *limits,
                                           const weft_fragment *fragments, int n_fragments,
                                           const weft_compile_options *options, weft_error *error) {
    collection to = {set, weft_target_is_simt(limits)};
    const weft_cost_source collector = {
        .name = "collector", .user = &to, .prepare = collect, .lookup = knows_nothing};
    weft_compile_options with;
    weft_compilation *made = NULL;
    weft_status status =
        weft_options_check("weft_compile_options", options->size, sizeof *options, error);
    if (status != WEFT_OK)
        return status;
    with = *options;
    with.costs = &collector;
    status = weft_compile(library, limits, fragments, n_fragments, &with, &made, error);
    weft_compilation_free(&made);
    return status;
}
