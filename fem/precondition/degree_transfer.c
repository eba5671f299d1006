/* Transfer between functions of two degrees on one mesh: each cell has a share of what its nodes get, in both directions, so that
 * both are the transpose of each other. */
#include "fem/precondition/degree_transfer.h"

#include "core/base/fault.h"
#include "core/base/number.h"
#include "core/weft_core.h"
#include "fem/base/memory.h"

#include <math.h>
#include <stdlib.h>

/* Weights below it are zero. */
static const double ROUNDING = 1e-12;

static int count_components(const weft_degree_transfer *transfer) {
    return weft_space_components(transfer->fine);
}

static int count_nodes(const weft_space *space) {
    return weft_space_element(space)->n_nodes;
}

/* Of a value at a node in scripts: "" or "[3]". */
static const char *shape_of(const weft_degree_transfer *transfer, char out[16]) {
    const int c = count_components(transfer);
    out[0] = 0;
    if (c > 1)
        (void)weft_print(out, 16, "[%d]", c);
    return out;
}

static const char *product_of(const weft_degree_transfer *transfer) {
    return count_components(transfer) > 1 ? "mmul" : "mvmul";
}

/* ---- tables ------------------------------------------------------------------------------ */

static weft_status make_shares(weft_degree_transfer *transfer, weft_error *error) {
    weft_status status = WEFT_OK;
    static const char text[] = "index cells, nodes;\nparameter n = 3;\n"
                               "connectivity dofs : cells -> nodes[n];\n"
                               "input ones : real over nodes;\n"
                               "count[dofs] += ones[dofs];\nshare = 1/max(count, 1);\n";
    weft_device *device = transfer->context->device;
    const size_t n = (size_t)weft_space_nodes(transfer->fine);
    double *values = malloc((n + 1) * sizeof *values);
    weft_memory *ones = NULL;
    weft_bound_form form;
    if (!values)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    for (size_t i = 0; i < n; ++i)
        values[i] = 1;
    TRY(weft_memory_place(device, values, n, sizeof *values, &ones, error));
    TRY(weft_memory_make(device, n * sizeof *values, &transfer->shares, error));
    weft_form_start("degree_shares.weft", text, weft_space_cells(transfer->fine), &form);
    weft_form_bind_input(&form, "ones", ones);
    weft_form_bind_parameter(&form, "n", count_nodes(transfer->fine));
    const weft_form_outputs outputs = {
        .names = (const char *const[]){"share"}, .memories = &transfer->shares, .n = 1};
    TRY(weft_form_run(transfer->context, &form.form, &outputs, error));
done:
    weft_memory_free(&ones);
    free(values);
    return status;
}

static weft_status make_tables(weft_degree_transfer *transfer, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = transfer->context->device;
    const int rows = count_nodes(transfer->fine), columns = count_nodes(transfer->coarse);
    const size_t n = (size_t)(rows * columns);
    double *table = malloc(n * sizeof *table), *transposed = malloc(n * sizeof *table);
    if (!table || !transposed)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(weft_element_interpolate(weft_space_element(transfer->coarse),
                                 weft_space_element(transfer->fine), table, error));
    for (int i = 0; i < rows; ++i)
        for (int k = 0; k < columns; ++k)
            transposed[k * rows + i] = table[i * columns + k];
    TRY(weft_memory_place(device, table, n, sizeof *table, &transfer->table, error));
    TRY(weft_memory_place(device, transposed, n, sizeof *table, &transfer->transposed, error));
done:
    free(transposed);
    free(table);
    return status;
}

weft_status weft_degree_transfer_make(weft_context *context, const weft_space *fine,
                                      const weft_space *coarse, weft_degree_transfer *out,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (weft_degree_transfer){.context = context, .fine = fine, .coarse = coarse};
    TRY(make_shares(out, error));
    TRY(make_tables(out, error));
done:
    return status;
}

void weft_degree_transfer_clear(weft_degree_transfer *transfer) {
    weft_compiled_free(&transfer->restriction);
    weft_compiled_free(&transfer->prolongation);
    weft_memory_free(&transfer->shares);
    weft_memory_free(&transfer->table);
    weft_memory_free(&transfer->transposed);
}

/* ---- constrained dofs -------------------------------------------------------------------- */

/* Sum, for each dof of the coarser space, flags of constrained dofs at which its function is not zero. */
static weft_status sum_flags(const weft_degree_transfer *transfer, weft_memory *d, weft_memory *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = count_nodes(transfer->fine), m = count_nodes(transfer->coarse);
    const size_t n_entries = (size_t)(n * m);
    double *table = malloc(n_entries * sizeof *table);
    weft_memory *weights = NULL;
    weft_text text = {0};
    weft_bound_form form;
    char shape[16];
    if (!table)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(weft_memory_read(transfer->transposed, 0, table, n_entries * sizeof *table, error));
    for (size_t k = 0; k < n_entries; ++k)
        table[k] = fabs(table[k]) > ROUNDING;
    TRY(weft_memory_place(transfer->context->device, table, n_entries, sizeof *table, &weights,
                          error));
    weft_text_add(&text,
                  "index cells, nodes, coarse;\nparameter n = 3, m = 2;\n"
                  "connectivity dofs : cells -> nodes[n];\n"
                  "connectivity coarses : cells -> coarse[m];\n"
                  "input T : real[m,n];\ninput d : real%s over nodes;\n"
                  "flags = select(d > 0, 0, 1);\n"
                  "marks[coarses] += %s(T, flags[dofs]);\n",
                  shape_of(transfer, shape), product_of(transfer));
    if (text.failed)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    weft_form_start("degree_constrained.weft", text.data, weft_space_cells(transfer->fine), &form);
    weft_form_bind_connectivity(&form, "coarses", weft_space_cells(transfer->coarse));
    weft_form_bind_input(&form, "T", weights);
    weft_form_bind_input(&form, "d", d);
    weft_form_bind_parameter(&form, "n", n);
    weft_form_bind_parameter(&form, "m", m);
    const weft_form_outputs outputs = {
        .names = (const char *const[]){"marks"}, .memories = &out, .n = 1};
    TRY(weft_form_run(transfer->context, &form.form, &outputs, error));
done:
    weft_memory_free(&weights);
    weft_text_free(&text);
    free(table);
    return status;
}

weft_status weft_degree_transfer_constrained(const weft_degree_transfer *transfer, weft_memory *d,
                                             int32_t **out, int64_t *n, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_dofs = weft_space_nodes(transfer->coarse) * count_components(transfer);
    const size_t bytes = (size_t)n_dofs * sizeof(double);
    double *marks = malloc(bytes + 1);
    int32_t *list = malloc(((size_t)n_dofs + 1) * sizeof *list);
    weft_memory *memory = NULL;
    if (!marks || !list)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(weft_memory_make(transfer->context->device, bytes, &memory, error));
    TRY(sum_flags(transfer, d, memory, error));
    TRY(weft_memory_read(memory, 0, marks, bytes, error));
    *n = 0;
    for (int64_t i = 0; i < n_dofs; ++i)
        if (marks[i] > 0 && !weft_fault("coarse_dof_free"))
            list[(*n)++] = (int32_t)i;
    *out = list;
    list = NULL;
done:
    weft_memory_free(&memory);
    free(marks);
    free(list);
    return status;
}

/* ---- the transfer ------------------------------------------------------------------------ */

/* With "n,m" the table, with "m,n" its transpose. */
static void write_declarations(weft_text *text, const char *sizes) {
    weft_text_add(text,
                  "index cells, fine, coarse;\nparameter n = 3, m = 2;\n"
                  "connectivity fines : cells -> fine[n];\n"
                  "connectivity coarses : cells -> coarse[m];\n"
                  "input T : real[%s];\ninput share : real over fine;\n",
                  sizes);
}

static void write_restriction(const weft_degree_transfer *transfer, weft_text *text) {
    char shape[16];
    shape_of(transfer, shape);
    write_declarations(text, "m,n");
    weft_text_add(text,
                  "input r : real%s over fine;\ninput dc : real%s over coarse;\n"
                  "s = share*r;\n"
                  "rc[coarses] += %s(T, s[fines]);\n"
                  "bc = select(dc > 0, %src, 0);\nreturn bc;\n",
                  shape, shape, product_of(transfer), weft_fault("restriction_scaled") ? "2*" : "");
}

static void write_prolongation(const weft_degree_transfer *transfer, weft_text *text) {
    char shape[16];
    shape_of(transfer, shape);
    write_declarations(text, "n,m");
    weft_text_add(text,
                  "input x : real%s over fine;\ninput d : real%s over fine;\n"
                  "input xc : real%s over coarse;\n"
                  "e[fines] += %s(T, xc[coarses]);\n"
                  "x0 = x + select(d > 0, share*e, 0);\nreturn x0;\n",
                  shape, shape, shape, product_of(transfer));
}

static weft_status compile(const weft_degree_transfer *transfer, const weft_fragment *script,
                           weft_memory *table, const weft_form_input *inputs, int n,
                           weft_compiled *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = transfer->context;
    weft_connectivity *fines = weft_space_cells(transfer->fine),
                      *coarses = weft_space_cells(transfer->coarse);
    const weft_parameter widths[] = {{"n", weft_connectivity_width(fines)},
                                     {"m", weft_connectivity_width(coarses)}};
    const weft_compile_options options = {.size = sizeof options,
                                          .parameters = widths,
                                          .n_parameters = 2,
                                          .predicated = weft_device_captures(context->device),
                                          .elements = weft_connectivity_from(fines)};
    TRY(weft_compiled_make(context, script, 1, &options, out, error));
    TRY(weft_program_bind_connectivity(out->program, "fines", fines, error));
    TRY(weft_program_bind_connectivity(out->program, "coarses", coarses, error));
    TRY(weft_program_bind(out->program, "T", table, error));
    TRY(weft_program_bind(out->program, "share", transfer->shares, error));
    for (int i = 0; i < n; ++i)
        TRY(weft_program_bind(out->program, inputs[i].name, inputs[i].memory, error));
done:
    return status;
}

weft_status weft_degree_transfer_compile(weft_degree_transfer *transfer,
                                         const weft_degree_lists *lists, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text down = {0}, up = {0};
    const weft_form_input restricted[] = {
        {"r", lists->r}, {"dc", lists->coarse_d}, {"bc", lists->b}};
    const weft_form_input prolonged[] = {
        {"x", lists->x}, {"d", lists->fine_d}, {"xc", lists->z}, {"x0", lists->x}};
    write_restriction(transfer, &down);
    write_prolongation(transfer, &up);
    if (down.failed || up.failed)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(compile(transfer, &(weft_fragment){"degree_restrict.weft", down.data}, transfer->transposed,
                restricted, 3, &transfer->restriction, error));
    TRY(compile(transfer, &(weft_fragment){"degree_prolong.weft", up.data}, transfer->table,
                prolonged, 4, &transfer->prolongation, error));
done:
    weft_text_free(&down);
    weft_text_free(&up);
    return status;
}
