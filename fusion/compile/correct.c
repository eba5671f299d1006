/* Corrects the choice of covers by the registers and spills that the device's compiler reports.
 *
 * Decision  docs/decisions/0015-spills-are-priced-when-known.md */
#include "core/weft_launch.h"
#include "fusion/base/array.h"
#include "fusion/codegen/codegen.h"
#include "fusion/control/program.h"
#include "fusion/plan/implementations.h"

enum { ROUNDS = 4 /* most times that the choice is corrected */ };

/* Replace the estimated registers and spills of a segment's kernels by those of the compiler, also where there are none. *any: a price has
 * changed. Kernels whose spills the compiler does not report, or that have arrays in memory besides, are left as they are, and
 * so are patches: a kernel that adds up the same sums without them stores atomically, which costs more than their spills. */
static void price_compiled(const weft_segment *segment, const weft_module *module, bool *any) {
    weft_implementations *all = segment->implementations;
    for (int i = 0; i < segment->plan->n_kernels; ++i) {
        const weft_plan_kernel *kernel = &segment->plan->kernels[i];
        weft_kernel_resources used;
        int number = 0;
        while (number < all->n && &all->list[number] != kernel->implementation)
            ++number;
        if (number == all->n || weft_kernel_is_patch(kernel->kind) ||
            all->list[number].spills_are_known ||
            !weft_module_resources(module, kernel->name, &used) || used.spill_store_bytes < 0 ||
            (used.spill_store_bytes == 0 && used.stack_bytes > 0))
            continue;
        const double cost = all->list[number].cost;
        weft_implementation_compiled(used.registers, used.spill_store_bytes + used.spill_load_bytes,
                                     &all->list[number]);
        *any |= all->list[number].cost != cost;
    }
}

/* The cover of least predicted time, unless the user or a search has chosen it. *changed: it is
 * another one than before. */
static weft_status choose_again(weft_segment *segment, bool *changed, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cover *cover = NULL;
    weft_covers *covers = NULL;
    const weft_cover_problem problem = {.arena = segment->arena,
                                        .graph = segment->graph,
                                        .fusions = segment->fusions,
                                        .implementations = segment->implementations,
                                        .kind = segment->options.plan,
                                        .all = true};
    if (segment->cover_recalled || segment->options.forced_plan || segment->options.alternative > 0)
        goto done;
    TRY(weft_covers_begin(&problem, &covers, error));
    TRY(weft_covers_next(covers, &cover, error));
    if (!cover)
        goto done;
    bool same = cover->n == segment->cover->n;
    for (int i = 0; same && i < cover->n; ++i)
        same = cover->list[i] == segment->cover->list[i];
    if (same)
        goto done;
    segment->cover = cover;
    *changed = true;
    TRY(weft_segment_plan_cover(segment, error));
done:
    weft_covers_end(&covers);
    return status;
}

/* The module stays with the compilation, unless its source has changed. */
static weft_status correct(weft_compilation *c, weft_device *device, bool *changed,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    weft_kernel_resources used;
    bool any = false;
    *changed = false;
    weft_module_free(&c->module);
    c->device = device;
    TRY(weft_module_make(device, weft_compilation_module_name(c), c->source, &c->module, error));
    for (int i = 0; i < weft_compilation_kernels(c); ++i) {
        weft_kernel_info first;
        weft_compilation_kernel(c, i, &first);
        if (first.is_member || first.is_sized)
            continue;
        /* compiles where only sources are kept */
        status = weft_module_kernel_resources(c->module, first.name, &used, error);
        if (status == WEFT_ERROR_UNSUPPORTED) { /* its compiler does not report spills */
            status = WEFT_OK;
            goto done;
        }
        TRY(status);
        break;
    }
    for (int i = 0; i < c->control->n_segments; ++i)
        price_compiled(c->control->segments[i], c->module, &any);
    for (int i = 0; i < c->control->n_segments && any; ++i)
        TRY(choose_again(c->control->segments[i], changed, error));
    if (*changed)
        TRY(weft_source_make(c, error));
done:
    if (*changed || status != WEFT_OK)
        weft_module_free(&c->module);
    return status;
}

weft_status weft_compilation_correct(weft_compilation *compilation, weft_device *device,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    bool changed = true;
    if (weft_device_limits(device)->execution != WEFT_EXECUTION_SIMT ||
        compilation->control->n_segments == 0)
        goto done;
    for (int round = 0; round < ROUNDS && changed; ++round)
        TRY(correct(compilation, device, &changed, error));
done:
    return status;
}
