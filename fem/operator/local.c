/* Operators applied cell by cell, with local matrices stored or recomputed in every product. */
#include "fem/form/compare.h"
#include "fem/operator/private.h"

typedef struct weft_part {
    weft_form form;
    weft_memory *local;       /* NULL: matrix-free */
    weft_compiled assemble;   /* form, stored */
    weft_compiled product;    /* form or local, product */
    weft_compiled predicated; /* the product for loops, on devices with graph capture */
    weft_compiled diagonal;   /* form or local, diagonal; made on first use */
    weft_scatter scatter;     /* of product and diagonal */
    bool is_checked;          /* patches were verified against stores in place */
} weft_part;

/* Scripts that follow a form: for one component per node, and for several. */
typedef struct weft_tail {
    const char *scalar, *blocks;
} weft_tail;
static const weft_tail tail_local = {"local.weft", "local_blocks.weft"},
                       tail_continue = {"continue.weft", "continue_blocks.weft"},
                       tail_product = {"product.weft", "product_blocks.weft"},
                       tail_diagonal = {"diagonal.weft", "diagonal_blocks.weft"};

static weft_fragment shipped(const weft_form *form, const weft_tail *tail) {
    const char *name = weft_form_components(form) > 1 ? tail->blocks : tail->scalar;
    return (weft_fragment){name, weft_fem_script(name)};
}

/* The parameters that these scripts declare. */
static weft_status options_make(const weft_form *form, bool is_local, const weft_tail *tail,
                                weft_compile_options *out, weft_parameter room[],
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const int width = weft_connectivity_width(form->dofs), c = weft_form_components(form);
    const weft_parameter local[] = {{"width", width}, {"rows", width * c}};
    const weft_parameter blocks[] = {{"block_components", c}, {"block_nodes", width}};
    *out = is_local ? (weft_compile_options){0} : weft_form_options(form);
    if (is_local)
        TRY(weft_options_add(out, room, local, c > 1 ? 2 : 1, error));
    if (c > 1)
        TRY(weft_options_add(out, room, blocks, tail == &tail_diagonal ? 2 : 1, error));
done:
    return status;
}

/* y = A v from the form's `action`, K v. */
static weft_status action_write(const weft_form *form, weft_text *text, weft_fragment *out,
                                weft_error *error) {
    if (weft_form_components(form) > 1) /* required by continue_blocks.weft */
        weft_text_add(text, "parameter block_components = %d;\n", weft_form_components(form));
    weft_text_add(text, "y[dofs] += %s;\nreturn y;\n", form->action);
    if (text->failed)
        return weft_out_of_memory(error, "a product's script");
    *out = (weft_fragment){"action", text->data};
    return WEFT_OK;
}

/* The largest patch size that gives every multiprocessor its minimum number of resident blocks:
 * four for vertex patches, two for edge patches, which are twice as large. On small meshes smaller
 * patches are faster, because each thread processes fewer of them. */
static int patch_nodes(const weft_limits *limits, const weft_part *part) {
    const weft_connectivity *dofs = part->form.dofs;
    const bool edges = part->scatter == WEFT_SCATTER_PATCHES && weft_connectivity_width(dofs) == 4;
    const int64_t blocks = (int64_t)limits->multiprocessors * (edges ? 2 : 4);
    int nodes = 512;
    while (nodes > 128 && weft_connectivity_to(dofs) < nodes * blocks)
        nodes /= 2;
    return nodes;
}

/* Compile the script of part i with this tail: local matrices come from memory or from the form;
 * all parts but the first add to y. */
static weft_status part_compile(const weft_operator *op, int i, const weft_tail *tail,
                                bool predicated, weft_compiled *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part *part = (weft_part *)op->parts + i;
    const weft_form *form = &part->form;
    weft_parameter room[WEFT_PARAMETERS_MAX];
    weft_compile_options options = {0};
    weft_fragment fragments[WEFT_FRAGMENTS_MAX];
    weft_text text = {0};
    int n = 0;
    const bool acts = form->action && !part->local && tail == &tail_product;
    TRY(options_make(form, part->local != NULL, tail, &options, room, error));
    options.scatter = part->scatter;
    options.predicated = predicated;
    options.patch_nodes = patch_nodes(weft_device_limits(op->context->device), part);
    fragments[n++] = (weft_fragment){form->name, form->text};
    if (part->local)
        fragments[0] = shipped(form, &tail_local);
    if (i > 0)
        fragments[n++] = shipped(form, &tail_continue);
    fragments[n++] = shipped(form, tail);
    if (acts)
        TRY(action_write(form, &text, &fragments[n - 1], error));
    TRY(weft_compiled_make(op->context, fragments, n, &options, out, error));
    if (part->local) {
        TRY(weft_program_bind_connectivity(out->program, "dofs", form->dofs, error));
        TRY(weft_program_bind(out->program, "K", part->local, error));
    } else {
        TRY(weft_compiled_bind_form(out, form, error));
    }
done:
    weft_text_free(&text);
    return status;
}

/* Memory for the local matrices of a form: [block][i * rows + j][lane]. */
static weft_status local_make(weft_device *device, const weft_form *form, int lanes,
                              weft_memory **out, weft_error *error) {
    size_t rows = (size_t)(weft_connectivity_width(form->dofs) * weft_form_components(form)), bytes;
    size_t n_blocks = (size_t)((weft_connectivity_from(form->dofs) + lanes - 1) / lanes);
    if (__builtin_mul_overflow(n_blocks, rows * rows * (size_t)lanes * sizeof(double), &bytes))
        return weft_error_set(error, WEFT_ERROR_MEMORY, "too many cells for local matrices");
    return weft_memory_make(device, bytes, out, error);
}

static weft_status part_store(const weft_operator *op, weft_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_form *form = &part->form;
    weft_fragment fragments[] = {{form->name, form->text},
                                 {"stored.weft", weft_fem_script("stored.weft")}};
    weft_compile_options options = weft_form_options(form);
    TRY(weft_compiled_make(op->context, fragments, 2, &options, &part->assemble, error));
    TRY(weft_compiled_bind_form(&part->assemble, form, error));
    TRY(local_make(op->context->device, form, weft_program_lanes(part->assemble.program),
                   &part->local, error));
    TRY(weft_program_bind(part->assemble.program, "K", part->local, error));
done:
    return status;
}

static bool has_patches(const weft_compiled *compiled) {
    bool patches = false;
    for (int k = 0; k < weft_compilation_kernels(compiled->compilation); ++k) {
        weft_kernel_info info;
        weft_compilation_kernel(compiled->compilation, k, &info);
        patches |= info.patches;
    }
    return patches;
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

/* A weft_product_way by two programs. */
static weft_status one_of_two_run(void *user, int which, weft_memory *v, weft_memory *y,
                                  weft_error *error) {
    const weft_compiled *const *programs = user;
    return product_run(programs[which], v, y, error);
}

static weft_status part_product(const weft_operator *op, int i, bool predicated, weft_compiled *out,
                                weft_error *error) {
    const weft_part *part = (weft_part *)op->parts + i;
    const weft_tail own = {part->form.product, part->form.product};
    const bool by_patches =
        part->scatter == WEFT_SCATTER_PATCHES || part->scatter == WEFT_SCATTER_VERTEX_PATCHES;
    return part_compile(op, i, by_patches && own.scalar ? &own : &tail_product, predicated, out,
                        error);
}

/* Patches are unsuitable for forms whose values depend on the numbering of a cell's vertices (e.g.
 * an asymmetric quadrature rule), and for meshes whose patches touch too many nodes. This is
 * determined by trial: edge patches, then vertex patches, which renumber less and need less memory,
 * then stores in place. */
static weft_status part_check(const weft_operator *op, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part *part = (weft_part *)op->parts + i;
    weft_compiled plain = {0};
    weft_error why = {0};
    const weft_compiled *both[] = {&plain, &part->product};
    weft_device *device = op->context->device;
    bool good = false;
    if (part->is_checked)
        return WEFT_OK;
    part->is_checked = true;
    if (!has_patches(&part->product))
        return WEFT_OK;
    part->scatter = WEFT_SCATTER_IN_PLACE;
    TRY(part_compile(op, i, &tail_product, false, &plain, error));
    part->scatter = WEFT_SCATTER_PATCHES;
    TRY(weft_products_agree(device, op->n_dofs, one_of_two_run, both, &good, &why, error));
    if (!good && weft_connectivity_width(part->form.dofs) == 4) {
        weft_log(op->context->monitor, WEFT_LOG_INFO,
                 "%s: by vertex patches, not by edge patches: %s", part->form.name, why.message);
        weft_compiled_free(&part->product);
        part->scatter = WEFT_SCATTER_VERTEX_PATCHES;
        TRY(part_product(op, i, false, &part->product, error));
        TRY(weft_products_agree(device, op->n_dofs, one_of_two_run, both, &good, &why, error));
    }
    if (good)
        goto done;
    weft_log(op->context->monitor, WEFT_LOG_WARNING,
             "%s: the product stores atomically, not by patches: %s", part->form.name, why.message);
    part->scatter = WEFT_SCATTER_IN_PLACE;
    weft_compiled_free(&part->product);
    part->product = plain;
    plain = (weft_compiled){0};
done:
    weft_compiled_free(&plain);
    return status;
}

static weft_status part_guard(const weft_operator *op, int i, weft_error *error) {
    weft_part *part = (weft_part *)op->parts + i;
    return part->predicated.program ? WEFT_OK : part_product(op, i, true, &part->predicated, error);
}

/* The trial of patches, which runs once, and compilation for loops are part of the set-up. */
static weft_status cells_assemble(weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part *parts = op->parts;
    for (int i = 0; i < op->n_parts; ++i) {
        if (parts[i].local)
            TRY(weft_program_run(parts[i].assemble.program, error));
        TRY(part_check(op, i, error));
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
        TRY(part_check(op, i, error));
        TRY(product_run(&parts[i].product, v, y, error));
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
        TRY(part_check(op, i, error));
        TRY(part_guard(op, i, error));
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
        TRY(part_check(op, i, error));
        weft_compiled *diagonal = &parts[i].diagonal;
        if (!diagonal->program)
            TRY(part_compile(op, i, &tail_diagonal, false, diagonal, error));
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
        weft_memory_free(&part->local);
    }
}

/* Patches if cells have the dimension of the nodes' space; the few facets of a boundary form are
 * better stored atomically. Not on a null device, which cannot run the trial. */
static weft_scatter scatter_of(const weft_context *context, weft_scatter wanted,
                               const weft_form *form) {
    const int64_t width = weft_connectivity_width(form->dofs);
    const weft_limits *limits = weft_device_limits(context->device);
    const bool fits =
        limits->execution == WEFT_EXECUTION_SIMT && !limits->records_only && width > 2 &&
        weft_form_components(form) == 1 &&
        weft_connectivity_from(form->dofs) * width >= 2 * weft_connectivity_to(form->dofs);
    return wanted == WEFT_SCATTER_PATCHES && !fits ? WEFT_SCATTER_IN_PLACE : wanted;
}

static const weft_operator_table cells_table = {.assemble = cells_assemble,
                                                .apply = cells_apply,
                                                .apply_predicated = cells_apply_predicated,
                                                .diagonal = cells_diagonal,
                                                .free = cells_free};

weft_status weft_operator_make_cells(weft_context *context, const weft_form *forms, int n_forms,
                                     bool stores, weft_scatter scatter, weft_operator **out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    const weft_operator_bytes bytes = {.part = sizeof(weft_part)};
    TRY(weft_operator_allocate(context, &cells_table, &bytes, forms, n_forms, &op, error));
    weft_part *parts = op->parts;
    for (int i = 0; i < n_forms; ++i) {
        parts[i].form = forms[i];
        parts[i].scatter = scatter_of(context, scatter, &forms[i]);
    }
    for (int i = 0; i < n_forms; ++i) {
        if (stores)
            TRY(part_store(op, &parts[i], error));
        TRY(part_product(op, i, false, &parts[i].product, error));
    }
    *out = op;
    op = NULL;
done:
    weft_operator_free(&op);
    return status;
}

weft_memory *weft_operator_local(const weft_operator *op, int form) {
    const weft_part *parts = op->table == &cells_table ? op->parts : NULL;
    return parts && form >= 0 && form < op->n_parts ? parts[form].local : NULL;
}
