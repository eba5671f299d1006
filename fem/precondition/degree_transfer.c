/* Transfer between functions of two degrees on one mesh: each cell has a share of what its nodes get, in both directions, so that
 * both are the transpose of each other; or each finer dof is the mean of two. */
#include "fem/precondition/degree_transfer.h"

#include "core/base/fault.h"
#include "core/base/number.h"
#include "core/weft_core.h"
#include "fem/base/memory.h"
#include "fem/space/space.h"
#include "fem/sparse/lists.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/setup/setup.h"

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

/* ---- means of two ------------------------------------------------------------------------ */

/* The two coarser nodes of a cell whose mean each finer node is, [node][2]. Returns false if one is none. */
static bool find_pairs(const weft_degree_transfer *transfer, const double *table, int64_t *pairs) {
    const int rows = count_nodes(transfer->fine), columns = count_nodes(transfer->coarse);
    for (int i = 0; i < rows; ++i) {
        int n = 0;
        for (int k = 0; k < columns; ++k) {
            const double weight = table[i * columns + k];
            if (fabs(weight) <= ROUNDING)
                continue;
            if (n == 2 || (fabs(weight - 0.5) > ROUNDING && fabs(weight - 1) > ROUNDING))
                return false;
            pairs[2 * i + n++] = k;
            if (weight > 0.75)
                pairs[2 * i + n++] = k;
        }
        if (n != 2)
            return false;
    }
    return true;
}

static weft_status list_on_device(const weft_degree_transfer *transfer, const int64_t *pairs,
                                  weft_memory *out, weft_error *error) {
    enum { NUMBERS = 4 };
    weft_status status = WEFT_OK;
    weft_device *device = transfer->context->device;
    const int n = count_nodes(transfer->fine), lanes = weft_device_limits(device)->lanes_double;
    const int64_t n_cells = weft_connectivity_from(weft_space_cells(transfer->fine));
    weft_setup *setup = NULL;
    weft_memory *sizes = NULL, *fines = NULL, *coarses = NULL; /* lists of the spaces */
    int64_t *numbers = malloc((size_t)(NUMBERS + 2 * n) * sizeof *numbers);
    if (!numbers)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    numbers[0] = n;
    numbers[1] = count_nodes(transfer->coarse);
    numbers[2] = lanes;
    numbers[3] = count_components(transfer);
    for (int i = 0; i < 2 * n; ++i)
        numbers[NUMBERS + i] = pairs[i];
    TRY(weft_setup_make(device, &setup, error));
    TRY(weft_setup_numbers(setup, numbers, NUMBERS + 2 * n, &sizes, error));
    TRY(weft_connectivity_interleaved(weft_space_cells(transfer->fine), lanes, &fines, error));
    TRY(weft_connectivity_interleaved(weft_space_cells(transfer->coarse), lanes, &coarses, error));
    const weft_setup_kernel kernel = {"nodes", "list_parents", n_cells, 0, 0};
    TRY(weft_setup_launch(setup, &kernel, (weft_memory *[]){sizes, fines, coarses, out}, 4, error));
done:
    free(numbers);
    weft_memory_free(&sizes);
    weft_setup_free(&setup);
    return status;
}

static weft_status list_on_host(const weft_degree_transfer *transfer, const int64_t *pairs,
                                int32_t *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = count_nodes(transfer->fine), m = count_nodes(transfer->coarse);
    const int c = count_components(transfer);
    const int64_t n_cells = weft_connectivity_from(weft_space_cells(transfer->fine));
    const int32_t *fines = NULL, *coarses = NULL;
    TRY(weft_space_read_cells(transfer->fine, &fines, error));
    TRY(weft_space_read_cells(transfer->coarse, &coarses, error));
    for (int64_t i = 0; i < n_cells * n; ++i)
        for (int k = 0; k < 2 * c; ++k)
            out[2 * c * (int64_t)fines[i] + k] =
                coarses[i / n * m + pairs[2 * (i % n) + k % 2]] * c + k / 2;
done:
    return status;
}

/* The parents of all finer dofs, if there are two of each. */
static weft_status make_parents(weft_degree_transfer *transfer, const double *table,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = transfer->context->device;
    const int64_t n = weft_space_nodes(transfer->fine) * count_components(transfer);
    const int64_t n_coarse = weft_space_nodes(transfer->coarse) * count_components(transfer);
    const size_t bytes = (size_t)n * 2 * sizeof(int32_t);
    weft_memory *plain = NULL;
    int32_t *parents = NULL;
    int64_t *pairs = malloc((size_t)(2 * count_nodes(transfer->fine)) * sizeof *pairs);
    if (!pairs)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    if (!find_pairs(transfer, table, pairs))
        goto done;
    if (weft_setup_on_device(device)) {
        TRY(weft_memory_make_unset(device, bytes, &plain, error));
        TRY(list_on_device(transfer, pairs, plain, error));
        TRY(weft_connectivity_make_on_device(device, &plain, 2, n_coarse, &transfer->parents,
                                             error));
    } else {
        parents = malloc(bytes + 1);
        if (!parents)
            TRY(weft_out_of_memory(error, "a level of multigrid"));
        TRY(list_on_host(transfer, pairs, parents, error));
        TRY(weft_connectivity_make(device, parents, n, 2, n_coarse, &transfer->parents, error));
        transfer->parent_indices = parents;
        parents = NULL;
    }
done:
    free(pairs);
    free(parents);
    weft_memory_free(&plain);
    return status;
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
    static const double halves[2] = {0.5, 0.5};
    weft_device *device = transfer->context->device;
    const int rows = count_nodes(transfer->fine), columns = count_nodes(transfer->coarse);
    const size_t n = (size_t)(rows * columns);
    double *table = malloc(n * sizeof *table), *transposed = malloc(n * sizeof *table);
    if (!table || !transposed)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(weft_element_interpolate(weft_space_element(transfer->coarse),
                                 weft_space_element(transfer->fine), table, error));
    for (int i = 0; i < rows; ++i)
        for (int k = 0; k < columns; ++k) {
            double *weight = &table[i * columns + k];
            *weight = fabs(*weight) < ROUNDING ? 0 : *weight;
            transposed[k * rows + i] = *weight;
        }
    TRY(weft_memory_place(device, table, n, sizeof *table, &transfer->table, error));
    TRY(weft_memory_place(device, transposed, n, sizeof *table, &transfer->transposed, error));
    TRY(make_parents(transfer, table, error));
    TRY(weft_memory_place(device, halves, 2, sizeof *halves, &transfer->halves, error));
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
    TRY(make_tables(out, error));
    if (!out->parents) {
        TRY(make_shares(out, error));
        weft_connectivity_release_transposed(weft_space_cells(fine));
    }
done:
    return status;
}

void weft_degree_transfer_clear(weft_degree_transfer *transfer) {
    weft_compiled_free(&transfer->restriction);
    weft_compiled_free(&transfer->prolongation);
    weft_connectivity_free(&transfer->parents);
    free(transfer->parent_indices);
    weft_memory_free(&transfer->shares);
    weft_memory_free(&transfer->halves);
    weft_memory_free(&transfer->table);
    weft_memory_free(&transfer->transposed);
}

/* ---- constrained dofs -------------------------------------------------------------------- */

/* Sum, for each dof of the coarser space, flags of constrained dofs at which its function is not zero. */
static weft_status sum_flags_of_means(const weft_degree_transfer *transfer, weft_memory *d,
                                      weft_memory *out, weft_error *error) {
    static const char text[] = "index cells plain, coarse plain;\n"
                               "connectivity dofs : cells -> coarse[2];\n"
                               "input d : real over cells;\ninput halves : real[2];\n"
                               "marks[dofs] += halves*select(d > 0, 0, 1);\n";
    weft_bound_form form;
    weft_form_start("degree_constrained.weft", text, transfer->parents, &form);
    weft_form_bind_input(&form, "halves", transfer->halves);
    weft_form_bind_input(&form, "d", d);
    const weft_form_outputs outputs = {
        .names = (const char *const[]){"marks"}, .memories = &out, .n = 1};
    return weft_form_run(transfer->context, &form.form, &outputs, error);
}

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
    TRY(transfer->parents ? sum_flags_of_means(transfer, d, memory, error)
                          : sum_flags(transfer, d, memory, error));
    if (!transfer->parents)
        weft_connectivity_release_transposed(weft_space_cells(transfer->coarse));
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

static const char *const declarations = "index fine plain, coarse plain;\n"
                                        "connectivity parents : fine -> coarse[2];\n";

/* The restricted residual, or D^-1 of it. */
static void write_restricted(weft_text *text, const weft_degree_lists *lists) {
    weft_text_add(text, "bc = select(dc > 0, %src%s, 0);\nreturn bc;\n",
                  weft_fault("restriction_scaled") ? "2*" : "", lists->divides ? "/dc" : "");
}

static void write_restriction_of_means(const weft_degree_lists *lists, weft_text *text) {
    weft_text_add(text,
                  "%sinput r : real over fine;\ninput dc : real over coarse;\n"
                  "input halves : real[2];\n"
                  "rc[parents] += halves*r;\n",
                  declarations);
    write_restricted(text, lists);
}

static void write_prolongation_of_means(weft_text *text) {
    weft_text_add(text,
                  "%sinput x, d : real over fine;\ninput xc : real over coarse;\n"
                  "input halves : real[2];\n"
                  "x0 = x + select(d > 0, dot(halves, xc[parents]), 0);\nreturn x0;\n",
                  declarations);
}

/* With "n,m" the table, with "m,n" its transpose. */
static void write_declarations(weft_text *text, const char *sizes) {
    weft_text_add(text,
                  "index cells, fine, coarse;\nparameter n = 3, m = 2;\n"
                  "connectivity fines : cells -> fine[n];\n"
                  "connectivity coarses : cells -> coarse[m];\n"
                  "input T : real[%s];\ninput share : real over fine;\n",
                  sizes);
}

static void write_restriction(const weft_degree_transfer *transfer, const weft_degree_lists *lists,
                              weft_text *text) {
    char shape[16];
    if (transfer->parents) {
        write_restriction_of_means(lists, text);
        return;
    }
    shape_of(transfer, shape);
    write_declarations(text, "m,n");
    weft_text_add(text,
                  "input r : real%s over fine;\ninput dc : real%s over coarse;\n"
                  "s = share*r;\n"
                  "rc[coarses] += %s(T, s[fines]);\n",
                  shape, shape, product_of(transfer));
    write_restricted(text, lists);
}

static void write_prolongation(const weft_degree_transfer *transfer, weft_text *text) {
    char shape[16];
    if (transfer->parents) {
        write_prolongation_of_means(text);
        return;
    }
    shape_of(transfer, shape);
    write_declarations(text, "n,m");
    weft_text_add(text,
                  "input x : real%s over fine;\ninput d : real%s over fine;\n"
                  "input xc : real%s over coarse;\n"
                  "e[fines] += %s(T, xc[coarses]);\n"
                  "x0 = x + select(d > 0, share*e, 0);\nreturn x0;\n",
                  shape, shape, shape, product_of(transfer));
}

/* Bind what cells have. */
static weft_status bind_cells(const weft_degree_transfer *transfer, weft_program *program,
                              weft_memory *table, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_program_bind_connectivity(program, "fines", weft_space_cells(transfer->fine), error));
    TRY(weft_program_bind_connectivity(program, "coarses", weft_space_cells(transfer->coarse),
                                       error));
    TRY(weft_program_bind(program, "T", table, error));
    TRY(weft_program_bind(program, "share", transfer->shares, error));
done:
    return status;
}

static weft_status bind_means(const weft_degree_transfer *transfer, weft_program *program,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_program_bind_connectivity(program, "parents", transfer->parents, error));
    TRY(weft_program_bind(program, "halves", transfer->halves, error));
done:
    return status;
}

static weft_status compile(const weft_degree_transfer *transfer, const weft_degree_lists *lists,
                           const weft_fragment *script, const weft_form_input *inputs, int n,
                           weft_compiled *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = transfer->context;
    weft_memory *table = out == &transfer->restriction ? transfer->transposed : transfer->table;
    weft_connectivity *fines = weft_space_cells(transfer->fine),
                      *coarses = weft_space_cells(transfer->coarse);
    const bool by_cells = !transfer->parents;
    const weft_parameter widths[] = {{"n", weft_connectivity_width(fines)},
                                     {"m", weft_connectivity_width(coarses)}};
    const weft_compile_options options = {
        .size = sizeof options,
        .parameters = by_cells ? widths : NULL,
        .n_parameters = by_cells ? 2 : 0,
        .single = lists->single,
        .scatter = by_cells ? WEFT_SCATTER_IN_PLACE : WEFT_SCATTER_GATHERED,
        .predicated = weft_device_captures(context->device),
        .elements = weft_connectivity_from(by_cells ? fines : transfer->parents)};
    TRY(weft_compiled_make(context, script, 1, &options, out, error));
    if (lists->buffers)
        weft_program_share_buffers(out->program, lists->buffers);
    TRY(by_cells ? bind_cells(transfer, out->program, table, error)
                 : bind_means(transfer, out->program, error));
    for (int i = 0; i < n; ++i)
        TRY(weft_program_bind(out->program, inputs[i].name, inputs[i].memory, error));
done:
    return status;
}

/* A list as floats in place of one of doubles. */
static weft_status narrow(weft_lists *lists, weft_memory **list, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *made = NULL;
    if (!*list)
        goto done;
    const size_t n = weft_memory_bytes(*list) / sizeof(double);
    TRY(weft_memory_make(weft_lists_device(lists), n * sizeof(float), &made, error));
    TRY(weft_lists_narrow(lists, (int64_t)n, *list, made, error));
    weft_memory_free(list);
    *list = made;
    made = NULL;
done:
    weft_memory_free(&made);
    return status;
}

static weft_status narrow_all(weft_degree_transfer *transfer, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_lists *lists = NULL;
    weft_memory **all[] = {&transfer->shares, &transfer->table, &transfer->transposed,
                           &transfer->halves};
    TRY(weft_lists_make(transfer->context->device, &lists, error));
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        TRY(narrow(lists, all[i], error));
done:
    weft_lists_free(&lists);
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
    if (lists->single)
        TRY(narrow_all(transfer, error));
    write_restriction(transfer, lists, &down);
    write_prolongation(transfer, &up);
    if (down.failed || up.failed)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(compile(transfer, lists, &(weft_fragment){"degree_restrict.weft", down.data}, restricted, 3,
                &transfer->restriction, error));
    TRY(compile(transfer, lists, &(weft_fragment){"degree_prolong.weft", up.data}, prolonged, 4,
                &transfer->prolongation, error));
done:
    weft_text_free(&down);
    weft_text_free(&up);
    return status;
}
