/* Finds and stores the plans that a device keeps on disk.
 *
 * The key is a hash of everything that plan and source depend on. What cannot be named in it (a search's own costs, a cover that
 * is asked for) is planned every time.
 *
 * Decision  docs/decisions/0072-plans-are-kept-on-disk.md */
#include "core/base/build.h"
#include "core/device/kept_text.h"
#include "fusion/base/array.h"
#include "fusion/compile/compile.h"
#include "fusion/control/kept_plan.h"
#include "fusion/cost/cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_limits(const weft_limits *limits, weft_text *out) {
    const weft_target *target = &limits->target;
    weft_text_add(out, "%d %d %d %s|%s|%d %d %d %d %zu %d %d %zu %zu %zu %.17g %.17g %.17g|",
                  (int)limits->kind, (int)limits->execution, limits->records_only,
                  limits->language ? limits->language : "", limits->name, limits->lanes_double,
                  limits->lanes_float, limits->threads, limits->multiprocessors,
                  limits->register_bytes, limits->cluster_blocks, limits->matrix_depth,
                  limits->onchip_bytes, limits->l2_bytes, limits->memory_bytes, limits->bandwidth,
                  limits->flops, limits->launch_seconds);
    weft_text_add(out, "%d %d %d %d %d %d %d %d %d %d|", target->warp_threads,
                  target->block_threads, target->block_threads_most, target->resident_threads,
                  target->resident_blocks, target->reserved_bytes, target->reduction_tile,
                  target->joined_direct, target->joined_exact, target->joined_before);
}

/* What weft_script_hash leaves out. The names of the fragments are in the comments of the source. */
static void add_options(const weft_compile_options *options, const weft_fragment *fragments,
                        int n_fragments, weft_text *out) {
    weft_text_add(out, "%s|%lld %d %d %d %d %d|%s|", options->narrow ? options->narrow : "",
                  (long long)options->elements, options->patch_nodes, options->predicated,
                  options->runs_once, options->distributed, options->corrected,
                  options->costs ? options->costs->identity : "");
    for (int i = 0; i < options->n_operators; ++i)
        weft_text_add(out, "%d %d|", options->operators[i].brings_dot,
                      options->operators[i].is_long);
    for (int i = 0; i < options->n_expressions; ++i)
        weft_text_add(out, "%s|", options->expressions[i].origin);
    for (int i = 0; i < n_fragments; ++i)
        weft_text_add(out, "%s\n", fragments[i].name);
    for (int i = 0; i < options->n_operators; ++i)
        for (int k = 0; k < options->operators[i].n_fragments; ++k)
            weft_text_add(out, "%s\n", options->operators[i].fragments[k].name);
}

static bool is_kept(const weft_compile_options *options) {
    return options->plans && weft_device_keeps_texts(options->plans) &&
           options->plan == WEFT_PLAN_FUSED && options->alternative == 0 && !options->cover &&
           !options->forced_plan && (!options->costs || options->costs->identity);
}

weft_status weft_kept_key(const weft_library *library, const weft_limits *limits,
                          const weft_fragment *fragments, int n_fragments,
                          const weft_compile_options *options, char out[33], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text all = {0};
    char build[33], script[33];
    out[0] = '\0';
    if (!is_kept(options) || !weft_build_identity(build))
        goto done;
    TRY(weft_script_hash(library, fragments, n_fragments, options, script, error));
    weft_text_add(&all, "weft plan|%s|%s|%s|", weft_version(), build, script);
    add_limits(limits, &all);
    add_options(options, fragments, n_fragments, &all);
    if (all.failed)
        TRY(weft_no_memory(error));
    weft_hash(all.data, all.length, out);
done:
    weft_text_free(&all);
    return status;
}

weft_status weft_kept_find(const weft_device *device, const char key[33], weft_arena *arena,
                           weft_kept_plan **out, weft_error *error) {
    weft_status status = WEFT_OK;
    size_t size = 0;
    *out = NULL;
    char *text = key[0] ? weft_device_text_load(device, key, &size) : NULL;
    if (text)
        status = weft_kept_plan_read(arena, text, size, out, error);
    free(text);
    return status;
}

weft_status weft_compilation_keep(const weft_compilation *compilation, const weft_saving *saving,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    char description[256];
    if (compilation->kept || !compilation->key[0])
        goto done;
    TRY(weft_kept_plan_write(compilation, saving, &text, error));
    snprintf(description, sizeof description, "plan of %.100s, %s",
             compilation->script->n_sources > 0 ? compilation->script->sources[0].name : "",
             compilation->limits.name);
    weft_device_text_store(compilation->options.plans, compilation->key, description, text.data,
                           text.length);
done:
    weft_text_free(&text);
    return status;
}

bool weft_compilation_is_kept(const weft_compilation *compilation) {
    return compilation->kept != NULL;
}
