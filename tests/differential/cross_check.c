#include "cross_check.h"
#include "core/weft_core.h"
#include "device_batch.h"
#include "fusion/control/program.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ways ---- */

int cross_check_ways(const random_script *script, const char *device, cross_check_way *out) {
    uint64_t state = script->seed * 31u + 5u;
    const bool host = strcmp(device, "batch") == 0 || strncmp(device, "optimised", 9) == 0 ||
                      strncmp(device, "host", 4) == 0;
    const bool on_gpu =
        strncmp(device, "cuda", 4) == 0; /* the emulation has no kernels by patches */
    const int n = script->product >= 0 ? CROSS_CHECK_WAYS : CROSS_CHECK_WAYS - 2;
    for (int i = 0; i < n; ++i) {
        static const weft_scatter gpu[] = {WEFT_SCATTER_IN_PLACE, WEFT_SCATTER_GATHERED,
                                           WEFT_SCATTER_CELL_COLOURS, WEFT_SCATTER_AUTO};
        cross_check_way *way = &out[i];
        *way = (cross_check_way){.device = device};
        way->plan = i == 0 ? WEFT_PLAN_UNFUSED : WEFT_PLAN_FUSED;
        way->scatter = gpu[random_below(&state, host ? 2 : on_gpu ? 4 : 3)];
        way->best = i == 2 ? random_next(&state) | 1u : i > 3 ? out[2].best + (unsigned)i - 3 : 0;
        way->directives = i == 0 || i == 3 ? RANDOM_UNDIRECTED
                          : host           ? RANDOM_SHAPELESS
                                           : RANDOM_DIRECTED;
        way->partition = i == 3 ? random_next(&state) | 1u : 0;
        way->alone = i == 3 || (i == 0 && random_below(&state, 4) > 0);
        way->variants = random_below(&state, 3) > 0 ? random_next(&state) | 1u : 0;
        way->backwards = random_below(&state, 2) == 0;
        way->product_kernel =
            !host && (random_below(&state, 2) == 0 || strncmp(device, "cuda", 4) == 0);
        way->few_blocks = strcmp(device, "emulated") == 0 && random_below(&state, 2) == 0;
        way->brings_dot = random_below(&state, 2) == 0;
        way->rematerialise = (weft_rematerialise)random_below(&state, 3);
        way->elements = random_below(&state, 2) == 0 ? 1000 : 0;
    }
    return n;
}

void cross_check_way_print(const cross_check_way *way, weft_text *out) {
    static const char *const scatters[] = {"as planned", "coloured", "gathered", "patches",
                                           "by colours of cells"};
    weft_text_add(out, "%s, %s%s%s, accumulating stores %s%s", way->device,
                  way->plan == WEFT_PLAN_UNFUSED ? "unfused" : "fused",
                  way->partition != 0 ? " at random"
                  : way->best != 0    ? " by another of the best covers"
                                      : "",
                  way->directives == RANDOM_UNDIRECTED ? "" : ", by directives",
                  scatters[way->scatter], way->backwards ? ", backwards" : "");
}

/* One of the bodies that the device runs. Not all native ones may be in the kernels of a partition at random. */
static int variant_of(const weft_library *library, const cross_check_way *way, const char *function,
                      uint64_t *state) {
    const bool host = strncmp(way->device, "host", 4) == 0 || strcmp(way->device, "batch") == 0;
    const char *language = way->partition != 0 ? "plain" : host ? "c" : "cuda";
    weft_function_info info = {0};
    for (size_t i = 0; i < weft_library_size(library); ++i) {
        weft_library_info(library, i, &info);
        if (strcmp(info.name, function) != 0 || strcmp(info.kind, "map") != 0)
            continue;
        const int variant = random_below(state, info.n_variants);
        return strcmp(info.languages[variant], "plain") == 0 ||
                       strcmp(info.languages[variant], language) == 0
                   ? variant
                   : 0;
    }
    return 0;
}

static int choose_variants(const weft_library *library, const cross_check *t,
                           weft_variant_choice *choices) {
    bool calls[RANDOM_FUNCTIONS] = {false};
    uint64_t state = t->way.variants;
    int n = 0;
    random_script_calls(t->script, calls);
    for (int i = 0; i < RANDOM_FUNCTIONS && state != 0; ++i) {
        const char *name = random_function_name((random_function)i);
        if (calls[i])
            choices[n++] = (weft_variant_choice){name, variant_of(library, &t->way, name, &state)};
    }
    return n;
}

/* ---- making ---- */

static weft_status compile(weft_library *library, cross_check *t, int n_variants,
                           const weft_variant_choice *variants, weft_error *error) {
    const weft_fragment fragment = {"random.weft", t->text};
    const weft_operator_choice op = {.name = "A",
                                     .product_kernel = t->way.product_kernel ? "csr" : NULL,
                                     .brings_dot = !t->way.product_kernel && t->way.brings_dot};
    const weft_compile_options options = {.size = sizeof options,
                                          .plan = t->way.plan,
                                          .scatter = t->way.scatter,
                                          .rematerialise = t->way.rematerialise,
                                          .single = t->script->single,
                                          .elements = t->way.elements,
                                          .max_fusion = t->way.alone ? 1 : 0,
                                          .variants = variants,
                                          .n_variants = n_variants,
                                          .operators = &op,
                                          .n_operators = t->script->op.row_start != NULL};
    return weft_compile(library, weft_device_limits(t->device), &fragment, 1, &options,
                        &t->compilation, error);
}

/* Blocks that join reductions then go from chunk to chunk. */
static void set_few_blocks(weft_compilation *c) {
    c->limits.multiprocessors = 0;
    for (int i = 0; i < c->control->n_segments; ++i)
        c->control->segments[i]->limits.multiprocessors = 0;
}

/* Compile with these directives, and cover as the way says. */
static weft_status plan_as(weft_library *library, cross_check *t, random_directives directives,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    weft_variant_choice choices[RANDOM_FUNCTIONS];
    weft_text text = {0};
    random_script_print(t->script, directives, &text);
    free(t->text);
    t->text = text.data;
    weft_compilation_free(&t->compilation);
    status = compile(library, t, choose_variants(library, t, choices), choices, error);
    if (status == WEFT_ERROR_USAGE) /* a function whose calls are all dropped */
        status = compile(library, t, 0, NULL, error);
    TRY(status);
    if (t->way.best != 0)
        TRY(partition_make(t->compilation, t->way.best, true, error));
    if (t->way.partition != 0)
        TRY(partition_make(t->compilation, t->way.partition, false, error));
done:
    return status;
}

weft_status cross_check_make(weft_library *library, weft_device *device,
                             const random_script *script, const cross_check_way *way,
                             cross_check *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (cross_check){.script = script, .way = *way, .device = device};
    out->directed = way->directives != RANDOM_UNDIRECTED && random_script_is_directed(script);
    status = plan_as(library, out, out->directed ? way->directives : RANDOM_UNDIRECTED, error);
    if (status == WEFT_ERROR_TYPE && out->directed) { /* no kernel or launch can be as they say */
        out->directed = false;
        status = plan_as(library, out, RANDOM_UNDIRECTED, error);
    }
    TRY(status);
    TRY(reload_check(library, &(weft_fragment){"random.weft", out->text}, out->compilation, error));
    if (way->few_blocks)
        set_few_blocks(out->compilation);
    TRY(weft_program_make(device, out->compilation, &out->program, error));
done:
    return status;
}

void cross_check_free(cross_check *t) {
    weft_program_free(&t->program);
    for (int i = 0; i < RANDOM_LISTS; ++i)
        weft_memory_free(&t->memory[i]);
    for (int i = 0; i < RANDOM_MAPS; ++i)
        weft_connectivity_free(&t->connectivities[i]);
    for (int i = 0; i < 3; ++i)
        weft_memory_free(&t->rows[i]);
    weft_memory_free(&t->matrix);
    weft_memory_free(&t->positions);
    weft_compilation_free(&t->compilation);
    free(t->text);
}

/* ---- data ---- */

static int lanes_of(const cross_check *t) {
    const weft_limits *limits = weft_device_limits(t->device);
    return t->script->single ? limits->lanes_float : limits->lanes_double;
}

static bool is_plain(const cross_check *t, int set) {
    const random_set *product =
        t->script->product >= 0 ? &t->script->sets[t->script->product] : NULL;
    bool plain = t->script->sets[set].plain || t->script->sets[set].product ||
                 (product != NULL && (product->first == set || product->second == set));
    for (int i = 0; i < t->script->n_connectivities; ++i)
        plain |= t->script->connectivities[i].to == set;
    return plain;
}

/* The number of a pair of a packed triangle. */
static int64_t packed_number(const cross_check *t, int set, int64_t i) {
    const random_set *pairs = &t->script->sets[set];
    const int64_t n = t->script->sets[pairs->second].n, row = i / n, column = i % n;
    return pairs->pairs.triangle == TRIANGLE_LOWER ? row * (row + 1) / 2 + column
                                                   : row * n - row * (row + 1) / 2 + column;
}

static size_t position(const cross_check *t, const random_list *list, int64_t i, int c) {
    const int count = random_shape_count(&list->shape), lanes = lanes_of(t);
    if (list->set >= 0 && t->script->sets[list->set].pairs.packed)
        return (size_t)(packed_number(t, list->set, i) * count + c);
    if (list->set < 0 || is_plain(t, list->set))
        return (size_t)(i * count + c);
    return (size_t)((i / lanes * count + c) * lanes + i % lanes);
}

static size_t members_stored(const cross_check *t, const random_list *list) {
    const int64_t n = random_members(t->script, list->set), lanes = lanes_of(t);
    const bool blocks = list->set >= 0 && !is_plain(t, list->set);
    if (list->set >= 0 && t->script->sets[list->set].pairs.packed) {
        const int64_t rows = t->script->sets[t->script->sets[list->set].first].n;
        return (size_t)(rows * (rows + 1) / 2);
    }
    return (size_t)(blocks ? (n + lanes - 1) / lanes * lanes : n);
}

static size_t bytes_of(const cross_check *t, const random_list *list) {
    return members_stored(t, list) * (size_t)random_shape_count(&list->shape) *
           (t->script->single ? sizeof(float) : sizeof(double));
}

static void put_number(const cross_check *t, void *raw, size_t at, double number) {
    if (t->script->single)
        ((float *)raw)[at] = (float)number;
    else
        ((double *)raw)[at] = number;
}

static double get_number(const cross_check *t, const void *raw, size_t at) {
    return t->script->single ? (double)((const float *)raw)[at] : ((const double *)raw)[at];
}

/* Spare lanes repeat the last member. */
static weft_status write_input(const cross_check *t, int number, weft_error *error) {
    const random_list *list = &t->script->lists[number];
    const int count = random_shape_count(&list->shape);
    const int64_t n = random_members(t->script, list->set);
    int64_t *values = random_input(t->script, number);
    void *raw = random_alloc(bytes_of(t, list) + 1, 1);
    const bool packed = list->set >= 0 && t->script->sets[list->set].pairs.packed;
    for (int64_t i = 0; n > 0 && i < (packed ? n : (int64_t)members_stored(t, list)); ++i)
        for (int c = 0; c < count; ++c) {
            const bool stored = random_is_stored(t->script, list->set, i);
            if (stored || !packed) /* what is not of a triangle must not be read */
                put_number(t, raw, position(t, list, i, c),
                           stored ? (double)values[(i < n ? i : n - 1) * count + c] : (double)NAN);
        }
    const weft_status status =
        weft_memory_write(t->memory[number], 0, raw, bytes_of(t, list), error);
    free(values);
    free(raw);
    return status;
}

/* y = A v, and where wanted v . y, for an operator that is a function of ours. */
static weft_status apply(void *user, const weft_program_product *product, weft_error *error) {
    weft_status status = WEFT_OK;
    const cross_check *t = user;
    const random_operator *op = &t->script->op;
    const size_t n = (size_t)t->script->sets[NODES].n;
    const size_t real_bytes = t->script->single ? sizeof(float) : sizeof(double);
    double *in = random_alloc(n + 1, sizeof *in), *out = random_alloc(n + 1, sizeof *out), dot = 0;
    TRY(weft_memory_read(product->v, 0, in, n * real_bytes, error));
    for (size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int64_t k = op->row_start[i]; k < op->row_start[i + 1]; ++k)
            sum += op->entries[k] * get_number(t, in, (size_t)op->columns[k]);
        put_number(t, out, i, sum);
        dot += sum * get_number(t, in, i);
    }
    TRY(weft_memory_write(product->y, 0, out, n * real_bytes, error));
    put_number(t, out, 0, dot);
    if (product->vy != NULL)
        TRY(weft_memory_write(product->vy, 0, out, real_bytes, error));
done:
    free(in);
    free(out);
    return status;
}

static weft_status bind_operator(cross_check *t, weft_error *error) {
    weft_status status = WEFT_OK;
    const random_operator *op = &t->script->op;
    const size_t n = (size_t)t->script->sets[NODES].n;
    if (op->row_start == NULL)
        return WEFT_OK;
    const size_t n_entries = (size_t)op->row_start[n];
    const void *const arrays[3] = {op->row_start, op->columns, op->entries};
    const size_t bytes[3] = {(n + 1) * sizeof *op->row_start, n_entries * sizeof *op->columns,
                             n_entries * sizeof *op->entries};
    for (int i = 0; i < 3; ++i) {
        TRY(weft_memory_make(t->device, bytes[i], &t->rows[i], error));
        TRY(weft_memory_write(t->rows[i], 0, arrays[i], bytes[i], error));
    }
    t->product_kernel = (weft_product_arguments){
        .product_kernel = "csr", .arguments = t->rows, .n_arguments = 3, .n_rows = (int64_t)n};
    if (t->way.product_kernel)
        weft_program_bind_product(t->program, "A", &t->product_kernel, NULL);
    else
        weft_program_bind_operator(t->program, "A", apply, t, NULL);
done:
    return status;
}

/* Positions as they are stored: [block][component][lane], spare lanes as the last element. */
static weft_status bind_matrix(cross_check *t, weft_error *error) {
    weft_status status = WEFT_OK;
    const random_script *s = t->script;
    if (s->matrix_map < 0)
        return WEFT_OK;
    const random_map *map = &s->connectivities[s->matrix_map];
    const int64_t n = s->sets[map->from].n, lanes = lanes_of(t), count = map->width * map->width;
    const size_t stored = (size_t)((n + lanes - 1) / lanes * lanes * count);
    uint32_t *plain = random_positions(s, &t->n_matrix);
    uint32_t *raw = random_alloc(stored + 1, sizeof *raw);
    for (int64_t i = 0; n > 0 && i < (n + lanes - 1) / lanes * lanes; ++i)
        for (int64_t c = 0; c < count; ++c)
            raw[(i / lanes * count + c) * lanes + i % lanes] =
                plain[(i < n ? i : n - 1) * count + c];
    TRY(weft_memory_make(t->device, stored * sizeof *raw, &t->positions, error));
    TRY(weft_memory_write(t->positions, 0, raw, stored * sizeof *raw, error));
    TRY(weft_memory_make(t->device, (size_t)t->n_matrix * sizeof(double), &t->matrix, error));
    weft_program_bind_matrix(t->program, "M", t->matrix, t->positions, NULL);
done:
    free(plain);
    free(raw);
    return status;
}

/* What the script does not use is unknown to the program; that is not an error. */
static weft_status bind(cross_check *t, weft_error *error) {
    weft_status status = WEFT_OK;
    const random_script *s = t->script;
    for (int i = 0; i < s->n_sets; ++i)
        if (!s->sets[i].product)
            weft_program_size(t->program, s->sets[i].name, s->sets[i].n, NULL);
    for (int i = 0; i < s->n_connectivities; ++i) {
        const random_map *map = &s->connectivities[i];
        TRY(weft_connectivity_make(t->device, map->indices, s->sets[map->from].n, map->width,
                                   s->sets[map->to].n, &t->connectivities[i], error));
        weft_program_bind_connectivity(t->program, map->name, t->connectivities[i], NULL);
    }
    for (int i = 0; i < s->n_inputs; ++i) {
        TRY(weft_memory_make(t->device, bytes_of(t, &s->lists[i]), &t->memory[i], error));
        weft_program_bind(t->program, s->lists[i].name, t->memory[i], NULL);
    }
    TRY(bind_operator(t, error));
    TRY(bind_matrix(t, error));
done:
    return status;
}

/* ---- comparing ---- */

static weft_status compare_list(const cross_check *t, int number, const weft_memory *memory,
                                const int64_t *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const random_list *list = &t->script->lists[number];
    const int count = random_shape_count(&list->shape);
    const int64_t n = random_members(t->script, list->set);
    void *raw = random_alloc(bytes_of(t, list) + 1, 1);
    if (memory == NULL || values == NULL) {
        status = weft_error_set(error, WEFT_ERROR_INTERNAL, "%s has no value", list->name);
        goto done;
    }
    TRY(weft_memory_read(memory, 0, raw, bytes_of(t, list), error));
    for (int64_t i = 0; i < n; ++i)
        for (int c = 0; c < count; ++c) {
            if (!random_is_stored(t->script, list->set, i))
                continue;
            /* zeros of either sign are equal */
            const double got = get_number(t, raw, position(t, list, i, c)) + 0.0;
            const double wanted = (double)values[i * count + c];
            if (memcmp(&got, &wanted, sizeof got) != 0) {
                status = weft_error_set(error, WEFT_ERROR_INTERNAL,
                                        "%s[%lld], component %d of %d, is %.17g, not %.17g",
                                        list->name, (long long)i, c, count, got, wanted);
                goto done;
            }
        }
done:
    free(raw);
    return status;
}

static weft_status compare_matrix(const cross_check *t, const int64_t *values, weft_error *error) {
    weft_status status = WEFT_OK;
    double *raw = random_alloc((size_t)t->n_matrix + 1, sizeof *raw);
    TRY(weft_memory_read(t->matrix, 0, raw, (size_t)t->n_matrix * sizeof *raw, error));
    for (int64_t i = 0; i < t->n_matrix && status == WEFT_OK; ++i) {
        const double got = get_number(t, raw, (size_t)i) + 0.0, wanted = (double)values[i];
        if (memcmp(&got, &wanted, sizeof got) != 0)
            status =
                weft_error_set(error, WEFT_ERROR_INTERNAL, "M, position %lld, is %.17g, not %.17g",
                               (long long)i, got, wanted);
    }
done:
    free(raw);
    return status;
}

static weft_status compare(const cross_check *t, const random_values *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const random_script *s = t->script;
    for (int i = 0; i < s->n_inputs; ++i)
        TRY(compare_list(t, i, t->memory[i], values->values[i], error));
    for (int i = s->n_inputs; i < s->n_lists; ++i)
        if (s->lists[i].returned)
            TRY(compare_list(t, i, weft_program_result(t->program, s->lists[i].name),
                             values->values[i], error));
    if (t->matrix != NULL && values->matrix != NULL)
        TRY(compare_matrix(t, values->matrix, error));
done:
    return status;
}

weft_status cross_check_run(cross_check *t, const random_values *values, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(bind(t, error));
    device_batch_iteration(t->device, t->way.backwards);
    for (int iteration = 0; iteration < 2; ++iteration) { /* the second finds what the first has
                                                             left */
        for (int i = 0; i < t->script->n_inputs; ++i)
            TRY(write_input(t, i, error));
        TRY(weft_program_run(t->program, error));
        TRY(compare(t, values, error));
    }
done:
    return status;
}
