/* Writes the operators of reductions that are functions of the library (kernels/prelude/combine_*.h):
 * one copy for each operator and shape that the kernels of a module use.
 *
 * Decision  docs/decisions/0059-operators-keep-the-order.md */
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/base/prelude.h"
#include "fusion/codegen/private.h"
#include "fusion/library/function.h"

#include <stdio.h>

/* "own_3x3_mmul": names of functions are unique, and so are shapes behind "own_". */
static const char *name_of(weft_arena *arena, const weft_specialisation *op) {
    char shape[64] = "1";
    size_t n = 0;
    for (int i = 0; i < op->result.rank; ++i)
        n += (size_t)snprintf(shape + n, sizeof shape - n, "%s%d", i ? "x" : "",
                              op->result.sizes[i]);
    return weft_arena_print(arena, "own_%s_%s", shape, op->function->info.name);
}

const char *weft_source_join_name(const source_writer *w, const weft_call *call) {
    const char *name = NULL;
    switch (call->reduction->op) {
    case 'f':
        name = name_of(w->arena, call->combine);
        w->out->failed |= !name;
        return name ? name : "out_of_memory";
    case '*':
        return "multiply";
    case '<':
        return "min";
    case '>':
        return "max";
    default:
        return "add";
    }
}

/* r = a operator b, or r = identity. */
static weft_status body(const weft_backend *backend, const weft_specialisation *op, int variant,
                        weft_text *out, weft_error *error) {
    const weft_accessor arguments[2] = {{.base = "a"}, {.base = "b"}}, result = {.base = "r"};
    const weft_body_style style = {.splat = backend->splat,
                                   .thread = "t",
                                   .indent = "        ",
                                   .keeps_loops = backend->is_threaded};
    return weft_body_emit(op, variant, arguments, &result, &style, out, error);
}

static weft_status write(weft_arena *arena, const weft_backend *backend,
                         const weft_specialisation *op, bool nested, weft_text *out,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text combine = {0}, identity = {0};
    char count[16];
    const char *name = name_of(arena, op);
    if (!name)
        TRY(weft_no_memory(error));
    snprintf(count, sizeof count, "%d", weft_shape_count(&op->result));
    TRY(body(backend, op, weft_function_plain_variant(op->function), &combine, error));
    TRY(body(backend, op, WEFT_IDENTITY, &identity, error));
    if (weft_fault("identity_zero"))
        weft_text_add(&identity, "    for (int c = 0; c < %s; ++c)\n        r[c] = SPLAT(0);\n",
                      count);
    const bool ordered = !weft_function_is_commutative(op->function);
    const weft_prelude_value values[] = {
        {"name", name},
        {"count", count},
        {"combine", combine.data},
        {"identity", identity.data},
        {"ordered", ordered && !weft_fault("order_of_lanes") ? "1" : "0"},
        {"shift", weft_fault("order_of_threads") ? "n / 2 / by" : "by"},
        {NULL, NULL}};
    weft_prelude_write(backend->combine, values, out);
    if (nested)
        weft_prelude_write(backend->combine_nested, values, out);
done:
    weft_text_free(&combine);
    weft_text_free(&identity);
    return status;
}

/* Has a call before this one the same operator? */
static bool is_written(const weft_segment *const *segments, int n, const weft_call *call) {
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < segments[i]->graph->n_calls; ++k) {
            const weft_call *other = &segments[i]->graph->calls[k];
            if (other == call)
                return false;
            if (other->combine && other->combine->function == call->combine->function &&
                weft_shape_equal(&other->combine->result, &call->combine->result))
                return true;
        }
    return false;
}

weft_status weft_source_combines(weft_arena *arena, const weft_backend *backend,
                                 const weft_segment *const *segments, int n, bool nested,
                                 weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < segments[i]->graph->n_calls; ++k) {
            const weft_call *call = &segments[i]->graph->calls[k];
            if (call->combine && !is_written(segments, n, call))
                TRY(write(arena, backend, call->combine, nested, out, error));
        }
done:
    return status;
}
