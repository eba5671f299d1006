/* Stores what a search has measured: in the tuning database, and as JSON for other tools. */
#include "gemm/embedded_gemm.h"
#include "gemm/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char type_letters[] = "SDCZ", op_letters[] = "NTC";

/* "gemm D NN", and for a batch "gemm batch D NN". */
static void name_of(const weft_gemm_product *p, int64_t n, char out[32]) {
    snprintf(out, 32, "gemm %s%c %c%c", n > 1 ? "batch " : "", type_letters[p->type],
             op_letters[p->op_a], op_letters[p->op_b]);
}

/* The key of winners: name and sources, so that another stencil has other winners. */
static weft_status key_of(const weft_gemm_product *p, int64_t n, char out[33], weft_error *error) {
    weft_text text = {0};
    char name[32];
    name_of(p, n, name);
    weft_text_add(&text, "%s\n", name);
    for (const weft_embedded_file *file = weft_embedded_gemm; file->name; ++file)
        weft_text_add(&text, "%s", file->text);
    const bool failed = text.failed;
    if (!failed)
        weft_hash(text.data, text.length, out);
    weft_text_free(&text);
    return failed ? weft_out_of_memory(error, "the key of a product") : WEFT_OK;
}

/* A class a factor of 4 wide for each of m, n and k. */
static int class_of(const weft_gemm_product *p, int64_t n) {
    enum { CLASSES = 32 };
    if (n > 1) /* small sizes matter one by one */
        return (int)((p->m % 512 * 512 + p->n % 512) * 512 + p->k % 512);
    return (weft_tuning_size_class(p->m) * CLASSES + weft_tuning_size_class(p->n)) * CLASSES +
           weft_tuning_size_class(p->k);
}

/* "gemm D NN POINT KEY", in the arena: what times are stored under. NULL: out of memory. */
static const char *primitive_of(const char *name, const char *key, const weft_gemm_point *point,
                                weft_arena *arena) {
    weft_text text = {0};
    weft_gemm_point_text(point, &text);
    const char *primitive =
        text.failed ? NULL : weft_arena_print(arena, "%s %s %.8s", name, text.data, key);
    weft_text_free(&text);
    return primitive;
}

static weft_tuning_point place_of(const weft_gemm_search *search, int stage, int64_t n) {
    return (weft_tuning_point){.elements = search->sizes[stage][0],
                               .threads = search->sizes[stage][1],
                               .iterations = search->sizes[stage][2],
                               .extra = n};
}

static weft_status store_numbers(weft_tuning *tuning, const char *identity, const char *primitive,
                                 const weft_gemm_candidate *c, weft_arena *arena,
                                 weft_error *error) {
    const struct {
        const char *unit;
        double value;
    } numbers[] = {{"J", c->joules}, {"W", c->watts}, {"MHz", c->megahertz}};
    weft_status status = WEFT_OK;
    for (int i = 0; c->joules > 0 && i < 3; ++i) {
        const char *name = weft_arena_print(arena, "%s %s", primitive, numbers[i].unit);
        if (!name)
            TRY(weft_out_of_memory(error, "the name of a number"));
        TRY(weft_tuning_set(tuning, identity, name, numbers[i].value, error));
    }
done:
    return status;
}

static weft_status store_times(weft_tuning *tuning, const char *identity, const char *key,
                               const weft_gemm_product *p, int64_t n,
                               const weft_gemm_search *search, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    char name[32];
    size_t count = 0;
    weft_tuning_time *times = calloc((size_t)search->n * WEFT_TRIAL_STAGES + 1, sizeof *times);
    if (!times)
        TRY(weft_out_of_memory(error, "times"));
    TRY(weft_arena_make(&arena, error));
    name_of(p, n, name);
    for (int i = 0; i < search->n; ++i) {
        const weft_gemm_candidate *c = &search->candidates[i];
        const char *primitive = primitive_of(name, key, &c->point, arena);
        if (!primitive)
            TRY(weft_out_of_memory(error, "times"));
        for (int stage = 0; stage < WEFT_TRIAL_STAGES; ++stage)
            if (c->trial.seconds[stage] > 0)
                times[count++] = (weft_tuning_time){.primitive = primitive,
                                                    .point = place_of(search, stage, n),
                                                    .seconds = c->trial.seconds[stage]};
        TRY(store_numbers(tuning, identity, primitive, c, arena, error));
    }
    TRY(weft_tuning_add_times(tuning, identity, times, count, error));
done:
    weft_arena_free(&arena);
    free(times);
    return status;
}

/* The times of a database, sorted by primitive. */
typedef struct stored_times {
    weft_tuning_time *times;
    size_t n;
    int64_t n_products;
    int stages;
} stored_times;

/* The first stages of a candidate; false: its first is not there. */
static bool find_times(const stored_times *stored, const char *primitive,
                       const weft_gemm_search *search, weft_gemm_candidate *c) {
    const weft_tuning_time *times = stored->times;
    const size_t n_times = stored->n;
    size_t low = 0, high = n_times;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(times[middle].primitive, primitive) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n_times && strcmp(times[low].primitive, primitive) == 0; ++low)
        for (int stage = 0; stage < stored->stages; ++stage) {
            const weft_tuning_point wanted = place_of(search, stage, stored->n_products);
            if (memcmp(&times[low].point, &wanted, sizeof wanted) == 0)
                c->trial.seconds[stage] = times[low].seconds;
        }
    return c->trial.seconds[0] > 0;
}

static void find_numbers(weft_tuning *tuning, const char *identity, const char *primitive,
                         weft_gemm_candidate *c, weft_arena *arena) {
    static const char *const units[] = {"J", "W", "MHz"};
    double *values[] = {&c->joules, &c->watts, &c->megahertz};
    for (int i = 0; i < 3; ++i) {
        const char *name = weft_arena_print(arena, "%s %s", primitive, units[i]);
        weft_error ignored;
        bool found = false;
        if (name)
            (void)weft_tuning_get(tuning, identity, name, values[i], &found, &ignored);
    }
}

int weft_gemm_search_known(weft_tuning *tuning, const weft_device *device,
                           const weft_gemm_product *product, int64_t n, int stages,
                           weft_gemm_search *search) {
    weft_arena *arena = NULL;
    stored_times stored = {.n_products = n, .stages = stages};
    int n_known = 0;
    char identity[33], key[33], name[32];
    weft_error ignored;
    name_of(product, n, name);
    weft_device_identity(device, identity);
    if (key_of(product, n, key, &ignored) != WEFT_OK ||
        weft_arena_make(&arena, &ignored) != WEFT_OK ||
        weft_tuning_times(tuning, identity, NULL, arena, &stored.times, &stored.n, &ignored) !=
            WEFT_OK)
        stored.n = 0; /* everything is measured */
    for (int i = 0; stored.n > 0 && i < search->n; ++i) {
        weft_gemm_candidate *c = &search->candidates[i];
        const char *primitive = primitive_of(name, key, &c->point, arena);
        if (!primitive || !find_times(&stored, primitive, search, c))
            continue;
        c->trial.known = true;
        c->trial.outcome = WEFT_TRIAL_RUNS;
        c->registers = c->spill_bytes = -1;
        if (stages == WEFT_TRIAL_STAGES && c->trial.seconds[stages - 1] > 0)
            find_numbers(tuning, identity, primitive, c, arena);
        ++n_known;
    }
    weft_arena_free(&arena);
    return n_known;
}

weft_status weft_gemm_search_store(weft_tuning *tuning, weft_device *device,
                                   const weft_gemm_product *product, int64_t n,
                                   const weft_gemm_search *search, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    char identity[33], key[33];
    const weft_gemm_candidate *best = &search->candidates[search->best];
    const double last = best->trial.seconds[WEFT_TRIAL_STAGES - 1];
    weft_device_identity(device, identity);
    TRY(weft_tuning_describe(tuning, identity, weft_device_limits(device)->name, error));
    TRY(key_of(product, n, key, error));
    weft_gemm_point_text(&best->point, &text);
    if (text.failed)
        TRY(weft_out_of_memory(error, "the best kernel"));
    TRY(weft_tuning_store(tuning, identity,
                          &(weft_tuning_best_plan){.script = key,
                                                   .size_class = class_of(product, n),
                                                   .cover = text.data,
                                                   .predicted = last,
                                                   .seconds = last},
                          error));
    TRY(store_times(tuning, identity, key, product, n, search, error));
done:
    weft_text_free(&text);
    return status;
}

weft_status weft_gemm_tuned(weft_tuning *tuning, const weft_device *device,
                            const weft_gemm_product *product, int64_t n, weft_gemm_point *out,
                            bool *found, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_tuning_best_plan plan = {0};
    char identity[33], key[33];
    *found = false;
    TRY(weft_arena_make(&arena, error));
    weft_device_identity(device, identity);
    TRY(key_of(product, n, key, error));
    TRY(weft_tuning_lookup(tuning, identity, key, class_of(product, n), arena, &plan, error));
    weft_error ignored;
    *found = plan.cover && weft_gemm_point_read(plan.cover, out, &ignored) == WEFT_OK;
done:
    weft_arena_free(&arena);
    return status;
}

/* ---- T4 ------------------------------------------------------------------------------------- */

static const char *validity(weft_trial_outcome outcome) {
    return outcome == WEFT_TRIAL_RUNS                                      ? "correct"
           : outcome == WEFT_TRIAL_FAILS                                   ? "runtime"
           : outcome == WEFT_TRIAL_SPILLS || outcome == WEFT_TRIAL_UNTRIED ? "constraints"
                                                                           : "compile";
}

static void add_result(const weft_gemm_candidate *c, bool first, weft_text *out) {
    const weft_gemm_stencil *stencil = &weft_gemm_stencils[c->point.stencil];
    double last = 0;
    weft_text_add(out, "%s\n    {\"configuration\": {", first ? "" : ",");
    for (int i = 0; i < stencil->n; ++i)
        weft_text_add(out, "%s\"%s\": %d", i > 0 ? ", " : "", stencil->parameters[i].name,
                      c->point.values[i]);
    if (c->point.stencil < WEFT_GEMM_SMALL)
        weft_text_add(out, ", \"TRANSPOSED\": %d", c->point.transposed);
    weft_text_add(out, "},\n     \"times\": {\"compilation\": %.6g, \"runtimes\": [",
                  c->compile_seconds);
    for (int r = 0, n = 0; r < WEFT_TRIAL_ROUNDS; ++r)
        if (c->trial.rounds[r] > 0)
            weft_text_add(out, "%s%.9g", n++ > 0 ? ", " : "", c->trial.rounds[r]);
    for (int stage = 0; stage < WEFT_TRIAL_STAGES; ++stage)
        last = c->trial.seconds[stage] > 0 ? c->trial.seconds[stage] : last;
    weft_text_add(out, "]},\n     \"invalidity\": \"%s\", \"correctness\": %d,\n",
                  validity(c->trial.outcome), c->trial.outcome == WEFT_TRIAL_RUNS);
    weft_text_add(out, "     \"measurements\": [");
    if (last > 0)
        weft_text_add(out, "{\"name\": \"time\", \"value\": %.9g, \"unit\": \"s\"}", last);
    if (c->joules > 0)
        weft_text_add(out, ", {\"name\": \"energy\", \"value\": %.6g, \"unit\": \"J\"}", c->joules);
    weft_text_add(out, "],\n     \"objectives\": [\"time\"]}");
}

void weft_gemm_search_t4(const weft_gemm_product *product, const weft_gemm_search *search,
                         weft_text *out) {
    char name[32];
    name_of(product, 1, name);
    weft_text_add(out,
                  "{\"schema_version\": \"1.0.0\",\n \"metadata\": {\"problem\": \"%s\", \"m\": "
                  "%lld, \"n\": %lld, \"k\": %lld},\n \"results\": [",
                  name, (long long)product->m, (long long)product->n, (long long)product->k);
    for (int i = 0, n = 0; i < search->n; ++i)
        if (search->candidates[i].trial.outcome != WEFT_TRIAL_UNTRIED)
            add_result(&search->candidates[i], n++ == 0, out);
    weft_text_add(out, "]}\n");
}
