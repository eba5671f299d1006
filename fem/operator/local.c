/* Operators applied cell by cell, with local matrices stored or recomputed in every product; then a
 * costly coefficient may be stored per cell. */
#include "core/base/fault.h"
#include "fem/cells/cells.h"
#include "fem/form/compare.h"
#include "fem/operator/private.h"
#include "fusion/weft_compilation.h"

#include <stdlib.h>
#include <string.h>

typedef struct weft_part {
    weft_form form;
    weft_memory *local;  /* NULL: matrix-free */
    weft_text kept_text; /* the form with a value over cells as an input; "": the form */
    weft_memory *kept;   /* that value: a costly coefficient of a matrix-free product */
    char *kept_name;
    weft_compiled assemble; /* form, stored or the value that is kept */
    bool is_assembled;
    const weft_form_input *wide; /* the form's inputs in double precision */
    /* where products are in single precision: those of actions, of scripts */
    weft_narrow_inputs narrow[2];
    weft_compiled product;     /* form or local, product */
    weft_compiled predicated;  /* the product for loops, on devices with graph capture */
    weft_compiled diagonal;    /* form or local, diagonal; made on first use */
    weft_scatter scatter;      /* of product and diagonal */
    bool has_patches;          /* of product, made or not needed */
    weft_form_actions actions; /* n > 0: of products, which have no program */
} weft_part;

/* Scripts that follow a form: for one component per node, and for several. */
typedef struct script_suffix {
    const char *scalar, *blocks;
} script_suffix;
static const script_suffix suffix_local = {"local.weft", "local_blocks.weft"},
                           suffix_continue = {"continue.weft", "continue_blocks.weft"},
                           suffix_product = {"product.weft", "product_blocks.weft"},
                           suffix_diagonal = {"diagonal.weft", "diagonal_blocks.weft"};

static weft_fragment shipped(const weft_form *form, const script_suffix *suffix) {
    const char *name = weft_form_components(form) > 1 ? suffix->blocks : suffix->scalar;
    return (weft_fragment){name, weft_fem_script(name)};
}

/* The parameters that these scripts declare. */
static weft_status options_make(const weft_form *form, bool is_local, const script_suffix *suffix,
                                weft_compile_options *out, weft_parameter storage[],
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const int width = weft_connectivity_width(form->dofs), c = weft_form_components(form);
    const weft_parameter local[] = {{"width", width}, {"rows", width * c}};
    const weft_parameter blocks[] = {{"block_components", c}, {"block_nodes", width}};
    *out = is_local ? (weft_compile_options){.size = sizeof(weft_compile_options)}
                    : weft_form_options(form);
    if (is_local)
        TRY(weft_options_add(out, storage, local, c > 1 ? 2 : 1, error));
    if (c > 1)
        TRY(weft_options_add(out, storage, blocks, suffix == &suffix_diagonal ? 2 : 1, error));
done:
    return status;
}

/* y = A v from the form's `action`, K v, or y = diag(A) from its `diagonal`. */
static weft_status value_write(const weft_form *form, const char *value, weft_text *text,
                               weft_fragment *out, weft_error *error) {
    if (weft_form_components(form) > 1) /* required by continue_blocks.weft */
        weft_text_add(text, "parameter block_components = %d, block_nodes = 1;\n",
                      weft_form_components(form));
    weft_text_add(text, "y[dofs] += %s;\nreturn y;\n", value);
    if (text->failed)
        return weft_out_of_memory(error, "a product's script");
    *out = (weft_fragment){value == form->action ? "action" : "diagonal", text->data};
    return WEFT_OK;
}

/* The largest patch size that gives every multiprocessor its minimum number of resident blocks:
 * four for vertex patches, two for edge patches, which are twice as large. On small meshes smaller
 * patches are faster, because each thread processes fewer of them. */
static int patch_nodes(const weft_limits *limits, const weft_part *part) {
    const weft_connectivity *dofs = part->form.dofs;
    const bool edges = weft_connectivity_width(dofs) == 4 && weft_form_components(&part->form) == 1;
    const int64_t blocks = (int64_t)limits->multiprocessors * (edges ? 2 : 4);
    int nodes = 512;
    while (nodes > 128 && weft_connectivity_to(dofs) < nodes * blocks)
        nodes /= 2;
    return nodes;
}

/* A script of a part and how it is compiled. */
typedef struct part_script {
    weft_fragment fragments[WEFT_FRAGMENTS_MAX];
    int n;
    weft_compile_options options;
    weft_parameter storage[WEFT_PARAMETERS_MAX];
    weft_text text; /* of the fragment that is written here */
} part_script;

/* The script of part i with this suffix: local matrices come from memory or from the form; all parts
 * but the first add to y. */
static weft_status part_script_make(const weft_operator *op, int i, const script_suffix *suffix,
                                    part_script *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_part *part = (weft_part *)op->parts + i;
    const weft_form *form = &part->form;
    const char *value = part->local                  ? NULL
                        : suffix == &suffix_product  ? form->action
                        : suffix == &suffix_diagonal ? form->diagonal
                                                     : NULL;
    *out = (part_script){0};
    TRY(options_make(form, part->local != NULL, suffix, &out->options, out->storage, error));
    out->options.scatter = part->scatter;
    out->options.single = op->single;
    out->options.patch_nodes = patch_nodes(weft_device_limits(op->context->device), part);
    out->fragments[out->n++] =
        (weft_fragment){form->name, part->kept_text.length > 0 ? part->kept_text.data : form->text};
    if (part->local)
        out->fragments[0] = shipped(form, &suffix_local);
    if (i > 0)
        out->fragments[out->n++] = shipped(form, &suffix_continue);
    out->fragments[out->n++] = shipped(form, suffix);
    if (value)
        TRY(value_write(form, value, &out->text, &out->fragments[out->n - 1], error));
done:
    return status;
}

/* Does a kernel of whole cells read this input? */
static bool kernels_read(const weft_form_kernel *list, int n, const char *input) {
    for (int k = 0; k < n; ++k) {
        if (strcmp(list[k].coordinates, input) == 0)
            return true;
        for (int i = 0; i < list[k].kernel->n_sources; ++i)
            if (list[k].inputs[i] && strcmp(list[k].inputs[i], input) == 0)
                return true;
    }
    return false;
}

/* Let the form have the inputs that are read as floats where products are in single precision.
 *  compiled  a script with the form's text; NULL: for actions */
static weft_status part_narrow(const weft_operator *op, weft_part *part,
                               const weft_compiled *compiled, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_narrow_inputs *narrow = &part->narrow[compiled != NULL];
    const weft_limits *limits = weft_device_limits(op->context->device);
    const weft_form_kernel *list = NULL;
    weft_error none = {0};
    int n = 0;
    if (!op->single)
        goto done;
    part->form.inputs = part->wide;
    if (compiled && weft_compilation_data_inputs(compiled->compilation) > 0)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "%s: its formulas by group are in double precision", part->form.name));
    if (!compiled &&
        part->form.kernels->make(part->form.kernels, limits, true, &list, &n, &none) != WEFT_OK)
        n = 0;
    if (!narrow->inputs)
        TRY(weft_narrow_inputs_make(op->context, &part->form, narrow, error));
    for (int i = 0; i < narrow->n; ++i)
        if (compiled ? weft_program_needs(compiled->program, part->wide[i].name)
                     : kernels_read(list, n, part->wide[i].name))
            TRY(weft_narrow_inputs_add(narrow, i, compiled ? compiled->compilation : NULL, error));
    part->form.inputs = narrow->inputs;
done:
    return status;
}

static weft_status part_compile(const weft_operator *op, int i, const script_suffix *suffix,
                                bool predicated, weft_compiled *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part *part = (weft_part *)op->parts + i;
    part_script script = {0};
    TRY(part_script_make(op, i, suffix, &script, error));
    script.options.predicated = predicated;
    script.options.runs_once = suffix == &suffix_diagonal;
    TRY(weft_compiled_make(op->context, script.fragments, script.n, &script.options, out, error));
    if (part->local) {
        TRY(weft_program_bind_connectivity(out->program, "dofs", part->form.dofs, error));
        TRY(weft_program_bind(out->program, "K", part->local, error));
    } else {
        TRY(part_narrow(op, part, out, error));
        TRY(weft_compiled_bind_form(out, &part->form, error));
    }
    if (part->kept)
        TRY(weft_program_bind(out->program, part->kept_name, part->kept, error));
done:
    weft_text_free(&script.text);
    return status;
}

/* Components of a form's local matrices. */
static size_t local_components(const weft_form *form) {
    const size_t rows = (size_t)(weft_connectivity_width(form->dofs) * weft_form_components(form));
    return rows * rows;
}

/* Memory for a value over a form's cells: [block][component][lane]. */
static weft_status values_make(const weft_operator *op, const weft_form *form, size_t components,
                               int lanes, weft_memory **out, weft_error *error) {
    const size_t real_bytes = op->single ? sizeof(float) : sizeof(double);
    size_t bytes, n_blocks = (size_t)((weft_connectivity_from(form->dofs) + lanes - 1) / lanes);
    if (__builtin_mul_overflow(n_blocks, components * (size_t)lanes * real_bytes, &bytes))
        return weft_error_set(error, WEFT_ERROR_MEMORY, "too many cells for values of each");
    return weft_memory_make(op->context->device, bytes, out, error);
}

static weft_status part_store(const weft_operator *op, weft_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_form *form = &part->form;
    weft_fragment fragments[] = {{form->name, form->text},
                                 {"stored.weft", weft_fem_script("stored.weft")}};
    weft_compile_options options = weft_form_options(form);
    TRY(weft_compiled_make(op->context, fragments, 2, &options, &part->assemble, error));
    TRY(weft_compiled_bind_form(&part->assemble, form, error));
    TRY(values_make(op, form, local_components(form), weft_program_lanes(part->assemble.program),
                    &part->local, error));
    TRY(weft_program_bind(part->assemble.program, "K", part->local, error));
done:
    return status;
}

/* ---- a costly coefficient of a matrix-free product, kept in each cell ---- */

static double seconds_of(const weft_compilation *compilation) {
    double seconds = 0;
    for (int k = 0; k < weft_compilation_kernels(compilation); ++k) {
        weft_kernel_info info;
        weft_compilation_kernel(compilation, k, &info);
        seconds += info.seconds;
    }
    return seconds;
}

/* A planned product. */
typedef struct product_prediction {
    double seconds;
    bool patches;
} product_prediction;

/* Plan the product of part i; `value`, unless NULL: the value that is worth keeping. */
static weft_status product_plan(const weft_operator *op, int i, product_prediction *out,
                                weft_name_info *value, char **name, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *planned = NULL;
    part_script script = {0};
    bool found = false;
    TRY(part_script_make(op, i, &suffix_product, &script, error));
    weft_context_costs(op->context, &script.options);
    TRY(weft_context_compile(op->context, script.fragments, script.n, &script.options, &planned,
                             error));
    *out = (product_prediction){seconds_of(planned), weft_owners_of(planned).patches};
    if (value)
        TRY(weft_compilation_costly_value(planned, "cells", "v", &found, value, error));
    if (found) {
        *name = strdup(value->name);
        if (!*name)
            TRY(weft_out_of_memory(error, "a coefficient"));
    }
done:
    weft_compilation_free(&planned);
    weft_text_free(&script.text);
    return status;
}

/* The form's script with `input NAME : real[...] over cells;` in place of the statement that computes
 * NAME. "": it has no such statement. */
static weft_status kept_text_write(const weft_operator *op, const weft_form *form, const char *name,
                                   const weft_name_info *value, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *planned = NULL;
    weft_text script = {0}, head = {0}, suffix = {0};
    const weft_compile_options options = weft_form_options(form);
    weft_text_add(&suffix, "return %s;\n", name);
    weft_text_add(&head, "\n%s = ", name);
    if (suffix.failed || head.failed)
        TRY(weft_out_of_memory(error, "a coefficient"));
    const weft_fragment fragments[] = {{form->name, form->text}, {"return", suffix.data}};
    TRY(weft_context_compile(op->context, fragments, 2, &options, &planned, error));
    TRY(weft_compilation_print(planned, "script", "text", &script, error));
    const char *at = strstr(script.data, head.data);
    const char *after = at ? strchr(at + 1, '\n') : NULL, *end = strstr(script.data, suffix.data);
    if (!after || !end || end < after)
        goto done;
    weft_text_add_bytes(out, script.data, (size_t)(at + 1 - script.data));
    weft_text_add(out, "input %s : real", name);
    for (int k = 0; k < value->rank; ++k)
        weft_text_add(out, "%s%d%s", k > 0 ? "," : "[", value->sizes[k],
                      k + 1 < value->rank ? "" : "]");
    weft_text_add(out, " over cells;");
    weft_text_add_bytes(out, after, (size_t)(end - after));
    if (out->failed)
        TRY(weft_out_of_memory(error, "a coefficient"));
done:
    weft_compilation_free(&planned);
    weft_text_free(&script);
    weft_text_free(&head);
    weft_text_free(&suffix);
    return status;
}

/* The program that computes the value, and its memory. */
static weft_status kept_make(const weft_operator *op, weft_part *part, const weft_name_info *value,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_form *form = &part->form;
    weft_compile_options options = weft_form_options(form);
    size_t components = 1;
    options.single = op->single;
    weft_text suffix = {0};
    for (int k = 0; k < value->rank; ++k)
        components *= (size_t)value->sizes[k];
    weft_text_add(&suffix, "return %s;\n", part->kept_name);
    if (suffix.failed)
        TRY(weft_out_of_memory(error, "a coefficient"));
    const weft_fragment fragments[] = {{form->name, form->text}, {"return", suffix.data}};
    TRY(weft_compiled_make(op->context, fragments, 2, &options, &part->assemble, error));
    TRY(part_narrow(op, part, &part->assemble, error));
    TRY(weft_compiled_bind_form(&part->assemble, form, error));
    TRY(values_make(op, form, components, weft_program_lanes(part->assemble.program), &part->kept,
                    error));
    TRY(weft_program_bind(part->assemble.program, part->kept_name, part->kept, error));
done:
    weft_text_free(&suffix);
    return status;
}

/* Keep a value over cells that functions of formulas make costly, such as a diffusivity, if products
 * that load it are predicted to be faster than products that compute it. */
static weft_status part_keep(const weft_operator *op, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part *part = (weft_part *)op->parts + i;
    weft_name_info value = {0};
    product_prediction recomputed = {0}, kept = {0};
    size_t components = 1;
    TRY(product_plan(op, i, &recomputed, &value, &part->kept_name, error));
    for (int k = 0; k < value.rank; ++k)
        components *= (size_t)value.sizes[k];
    if (!part->kept_name || components >= local_components(&part->form))
        goto done;
    TRY(kept_text_write(op, &part->form, part->kept_name, &value, &part->kept_text, error));
    if (part->kept_text.length > 0)
        TRY(product_plan(op, i, &kept, NULL, NULL, error));
    if (part->kept_text.length == 0 || kept.seconds >= recomputed.seconds ||
        kept.patches != recomputed.patches) {
        weft_text_free(&part->kept_text);
        goto done;
    }
    weft_log(op->context->monitor, WEFT_LOG_INFO,
             "%s: products load %s, computed once per cell: predicted %.3g s instead of %.3g s",
             part->form.name, part->kept_name, kept.seconds, recomputed.seconds);
    TRY(kept_make(op, part, &value, error));
done:
    return status;
}

static weft_status product_run(const weft_compiled *product, weft_memory *v, weft_memory *y,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_program_bind(product->program, "v", v, error));
    TRY(weft_program_bind(product->program, "y", y, error));
    TRY(weft_program_run(product->program, error));
done:
    return status;
}

static weft_status part_product(const weft_operator *op, int i, bool predicated, weft_compiled *out,
                                weft_error *error) {
    const weft_part *part = (weft_part *)op->parts + i;
    const script_suffix own = {part->form.product, part->form.product};
    return part_compile(op, i,
                        part->scatter == WEFT_SCATTER_AUTO && own.scalar ? &own : &suffix_product,
                        predicated, out, error);
}

static weft_status part_assemble(weft_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_program_run(part->assemble.program, error));
    part->is_assembled = true;
done:
    return status;
}

/* Say why owners do not add up. */
static void log_order(const weft_operator *op, const weft_part *part) {
    const weft_owners owners = weft_owners_of(part->product.compilation);
    if (owners.not_permuted)
        weft_log(op->context->monitor, WEFT_LOG_INFO,
                 "%s: the product adds %s, not by the owners of nodes: %s", part->form.name,
                 owners.patches ? "by patches of cells" : "atomically", owners.not_permuted);
}

/* Make the patches of the product. */
static weft_status part_patches(weft_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    if (part->actions.n == 0 && !part->has_patches)
        TRY(weft_program_patches_make(part->product.program, error));
    part->has_patches = true;
done:
    return status;
}

/* On GPUs of ranks products add in the order of cells, which does not depend on parts; kernels of forms and patches have
 * orders of their own. */
static bool adds_in_order(const weft_context *context) {
    return context->comm && weft_device_limits(context->device)->execution == WEFT_EXECUTION_SIMT;
}

static weft_status part_actions(const weft_operator *op, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part *part = (weft_part *)op->parts + i;
    if (!part->form.kernels || adds_in_order(op->context))
        goto done;
    TRY(part_narrow(op, part, NULL, error));
    if (op->exact && op->exact->table == op->table && op->exact->n_dofs == op->n_dofs)
        part->actions.like = &((const weft_part *)op->exact->parts)[i].actions;
    TRY(weft_form_actions_make(op->context, &part->form, op->single, &part->actions, error));
    if (part->actions.n == 0) {
        weft_narrow_inputs_clear(&part->narrow[0]);
        part->form.inputs = part->wide;
    }
done:
    return status;
}

/* What its products are made by. */
static weft_status part_make(const weft_operator *op, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part *part = (weft_part *)op->parts + i;
    if (!part->local)
        TRY(part_actions(op, i, error));
    if (part->actions.n > 0)
        goto done;
    if (!part->local)
        TRY(part_keep(op, i, error));
    TRY(part_product(op, i, false, &part->product, error));
    log_order(op, part);
done:
    return status;
}

/* What a part needs before its first product. */
static weft_status part_prepare(const weft_operator *op, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part *part = (weft_part *)op->parts + i;
    if (part->actions.n == 0 && !part->product.program)
        TRY(part_make(op, i, error));
    if (part->assemble.program && !part->is_assembled)
        TRY(part_assemble(part, error));
    TRY(part_patches(part, error));
done:
    return status;
}

static weft_status part_guard(const weft_operator *op, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part *part = (weft_part *)op->parts + i;
    for (int k = 0; k < part->actions.n; ++k)
        TRY(weft_cell_action_guard(part->actions.list[k], error));
    if (part->actions.n == 0 && !part->predicated.program)
        TRY(part_product(op, i, true, &part->predicated, error));
done:
    return status;
}

/* Patches and compilation for loops are part of the set-up. */
static weft_status cells_assemble(weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part *parts = op->parts;
    for (int i = 0; i < op->n_parts; ++i) {
        for (int k = 0; k < 2; ++k)
            if (parts[i].narrow[k].inputs && !weft_fault("narrow_stale"))
                TRY(weft_narrow_inputs_refresh(&parts[i].narrow[k], error));
        if (parts[i].assemble.program)
            TRY(part_assemble(&parts[i], error));
        TRY(part_prepare(op, i, error));
        if (weft_device_captures(op->context->device))
            TRY(part_guard(op, i, error));
    }
done:
    return status;
}

static weft_status cells_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part *parts = op->parts;
    for (int i = 0; i < op->n_parts; ++i) {
        TRY(part_prepare(op, i, error));
        TRY(parts[i].actions.n > 0
                ? weft_form_actions_run(&parts[i].actions, v, y, NULL, i == 0, error)
                : product_run(&parts[i].product, v, y, error));
    }
done:
    return status;
}

static weft_status cells_apply_predicated(weft_operator *op, const weft_program_product *product,
                                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part *parts = op->parts;
    for (int i = 0; i < op->n_parts; ++i) {
        weft_compiled *predicated = &parts[i].predicated;
        TRY(part_prepare(op, i, error));
        TRY(part_guard(op, i, error));
        if (parts[i].actions.n > 0) {
            TRY(weft_form_actions_run(&parts[i].actions, product->v, product->y, product->active,
                                      i == 0, error));
            continue;
        }
        weft_program_predicate(predicated->program, product->active);
        TRY(product_run(predicated, product->v, product->y, error));
    }
done:
    return status;
}

static weft_status cells_diagonal(weft_operator *op, weft_memory *d, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part *parts = op->parts;
    for (int i = 0; i < op->n_parts; ++i) {
        if (parts[i].assemble.program && !parts[i].is_assembled)
            TRY(part_assemble(&parts[i], error));
        weft_compiled *diagonal = &parts[i].diagonal;
        if (!diagonal->program)
            TRY(part_compile(op, i, &suffix_diagonal, false, diagonal, error));
        TRY(weft_program_bind(diagonal->program, "y", d, error));
        TRY(weft_program_run(diagonal->program, error));
    }
done:
    return status;
}

static void cells_free(weft_operator *op) {
    for (int i = 0; i < op->n_parts; ++i) {
        weft_part *part = (weft_part *)op->parts + i;
        weft_compiled_free(&part->assemble);
        weft_compiled_free(&part->product);
        weft_compiled_free(&part->predicated);
        weft_compiled_free(&part->diagonal);
        weft_form_actions_free(&part->actions);
        for (int k = 0; k < 2; ++k)
            weft_narrow_inputs_clear(&part->narrow[k]);
        weft_memory_free(&part->local);
        weft_memory_free(&part->kept);
        weft_text_free(&part->kept_text);
        free(part->kept_name);
    }
}

/* What is asked for; of what is open, in place for the few facets of a boundary form, and on a null device, where tables of
 * patches take time and nothing runs. */
static weft_scatter scatter_of(const weft_context *context, weft_scatter wanted,
                               const weft_form *form) {
    const int64_t width = weft_connectivity_width(form->dofs);
    const weft_limits *limits = weft_device_limits(context->device);
    const bool fits =
        limits->execution == WEFT_EXECUTION_SIMT && !limits->records_only && width > 2 &&
        weft_connectivity_from(form->dofs) * width >= 2 * weft_connectivity_to(form->dofs);
    if (adds_in_order(context))
        return WEFT_SCATTER_GATHERED;
    return wanted == WEFT_SCATTER_AUTO && !fits ? WEFT_SCATTER_IN_PLACE : wanted;
}

static const weft_operator_table cells_table = {.assemble = cells_assemble,
                                                .apply = cells_apply,
                                                .apply_predicated = cells_apply_predicated,
                                                .diagonal = cells_diagonal,
                                                .free = cells_free};

weft_status weft_operator_make_cells(weft_context *context, const weft_form *forms, int n_forms,
                                     unsigned how, weft_scatter scatter, weft_operator **out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    const weft_operator_bytes bytes = {.part = sizeof(weft_part)};
    const bool stores = how & WEFT_CELLS_STORED;
    TRY(weft_operator_allocate(context, &cells_table, &bytes, forms, n_forms, &op, error));
    weft_part *parts = op->parts;
    op->single = how & WEFT_CELLS_SINGLE;
    for (int i = 0; i < n_forms; ++i) {
        parts[i].form = forms[i];
        parts[i].wide = forms[i].inputs;
        parts[i].scatter = scatter_of(context, scatter, &forms[i]);
    }
    for (int i = 0; i < n_forms; ++i) {
        if (stores)
            TRY(part_store(op, &parts[i], error));
        if (!(how & WEFT_CELLS_LATER))
            TRY(part_make(op, i, error));
    }
    *out = op;
    op = NULL;
done:
    weft_operator_free(&op);
    return status;
}

weft_status weft_operator_make_diagonal(weft_context *context, const weft_form *forms, int n_forms,
                                        weft_operator **out, weft_error *error) {
    return weft_operator_make_cells(context, forms, n_forms, WEFT_CELLS_LATER, WEFT_SCATTER_AUTO,
                                    out, error);
}

weft_status weft_operator_make_single(weft_context *context, const weft_form *forms, int n_forms,
                                      weft_operator **out, weft_error *error) {
    return weft_operator_make_cells(context, forms, n_forms, WEFT_CELLS_SINGLE, WEFT_SCATTER_AUTO,
                                    out, error);
}

weft_status weft_operator_single(weft_operator *op, weft_operator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_part *parts = op->parts;
    weft_operator *made = NULL;
    weft_form *forms = calloc((size_t)op->n_parts + 1, sizeof *forms);
    if (!forms)
        TRY(weft_out_of_memory(error, "an operator in single precision"));
    if (op->table != &cells_table || parts[0].local)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "the operator is not one that is recomputed in each product"));
    for (int i = 0; i < op->n_parts; ++i)
        forms[i] = parts[i].form;
    TRY(weft_operator_make_cells(op->context, forms, op->n_parts,
                                 WEFT_CELLS_SINGLE | WEFT_CELLS_LATER, WEFT_SCATTER_AUTO, &made,
                                 error));
    made->exact = op;
    for (int i = 0; i < made->n_parts; ++i)
        TRY(part_make(made, i, error));
    *out = made;
    made = NULL;
done:
    weft_operator_free(&made);
    free(forms);
    return status;
}

weft_memory *weft_operator_local(const weft_operator *op, int form) {
    const weft_part *parts = op->table == &cells_table ? op->parts : NULL;
    return parts && form >= 0 && form < op->n_parts ? parts[form].local : NULL;
}
