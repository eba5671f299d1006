/* Measures the best covers of a script in order of prediction, until no remaining cover can win.
 *
 * Several covers are compiled at once. The stages before the cover run once; only plan and source
 * are made per cover, and freed after its measurement. */
#include "core/base/options.h"
#include "fusion/base/array.h"
#include "fusion/compile/compile.h"
#include "fusion/control/program.h"
#include "fusion/plan/implementations.h"
#include "fusion/tune/synthetic_data.h"
#include "fusion/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    AT_ONCE_MOST = 8,
    CONFIRMATIONS = 5,
    AT_LEAST = 3,    /* covers measured before any is skipped */
    SPREAD_OF = 300, /* best covers from which the spread is taken */
    ELEMENTS_LEAST = 1 << 14,
    ELEMENTS_MOST = 1 << 28
};
/* Later predictions may be too high by this factor more than the worst so far. */
static const double SLACK = 1.25;

typedef struct searcher {
    weft_device *device;
    weft_search_options how;
    weft_arena *arena;
    weft_search_result *out;
    weft_compilation *script; /* compiled with its best cover */
    weft_arena *found;        /* owns the other covers */
    weft_covers *covers;
    weft_cover **tried; /* [out->n] */
    weft_cover **queue; /* [n_queue] the covers to try, from `next` on; NULL: the next best ones */
    int n_queue, next;
    weft_synthetic_run *synthetic_run;
    weft_compilation *compilations[AT_ONCE_MOST];
    weft_program *programs[AT_ONCE_MOST];
    weft_status made[AT_ONCE_MOST];
    weft_error errors[AT_ONCE_MOST];
} searcher;

weft_status weft_search_elements(const weft_search_script *script, const weft_limits *limits,
                                 int64_t *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *compilation = NULL;
    double bytes = 0;
    TRY(weft_compile(script->library, limits, script->fragments, script->n_fragments,
                     script->options, &compilation, error));
    for (int i = 0; i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info info;
        weft_compilation_kernel(compilation, i, &info);
        bytes += info.bytes_loaded + info.bytes_stored;
    }
    for (*out = ELEMENTS_LEAST;
         *out < ELEMENTS_MOST && bytes * (double)*out < 4.0 * (double)limits->l2_bytes;)
        *out *= 2;
done:
    weft_compilation_free(&compilation);
    return status;
}

static weft_status describe(searcher *s, const weft_compilation *compilation,
                            weft_search_candidate *candidate, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    const weft_cover *cover = weft_compilation_only(compilation)->cover;
    TRY(weft_compilation_cover(compilation, &text, error));
    candidate->cover = weft_arena_copy(s->arena, text.data, text.length);
    candidate->parts = weft_arena_alloc(s->arena, (size_t)cover->n + 1, sizeof *candidate->parts);
    if (!candidate->cover || !candidate->parts)
        TRY(weft_no_memory(error));
    candidate->predicted = cover->seconds;
    candidate->all_measured = true;
    for (int i = 0; i < cover->n; ++i) {
        const weft_implementation *one = cover->list[i];
        candidate->parts[candidate->n_parts++] = weft_implementation_prediction(one);
        candidate->all_measured = candidate->all_measured && one->measured;
    }
done:
    weft_text_free(&text);
    return status;
}

/* Compile the script and begin the enumeration of its covers. */
static weft_status start(searcher *s, const weft_search_script *script, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compile_options own = *script->options;
    own.alternative = 0;
    own.cover = NULL;
    own.elements = s->how.elements;
    TRY(weft_compile(script->library, weft_device_limits(s->device), script->fragments,
                     script->n_fragments, &own, &s->script, error));
    const weft_segment *segment = weft_compilation_only(s->script);
    if (!segment)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "a script with loops or operators cannot be tried alone"));
    TRY(weft_arena_make(&s->found, error));
    TRY(weft_covers_begin(&(weft_cover_problem){.arena = s->found,
                                                .graph = segment->graph,
                                                .fusions = segment->fusions,
                                                .implementations = segment->implementations,
                                                .kind = own.plan,
                                                .all = s->how.most > 1},
                          &s->covers, error));
done:
    return status;
}

/* Compile the next cover; *out stays NULL when there are no more. */
static weft_status compile_next(searcher *s, int number, weft_compilation **out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cover *cover = NULL;
    if (s->queue)
        cover = s->next < s->n_queue ? s->queue[s->next++] : NULL;
    else
        TRY(weft_covers_next(s->covers, &cover, error));
    s->tried[number] = cover;
    if (cover)
        TRY(weft_compile_cover(s->script, cover, out, error));
done:
    return status;
}

static void make_program(void *user, int64_t i) {
    searcher *s = user;
    s->made[i] = weft_program_make(s->device, s->compilations[i], &s->programs[i], &s->errors[i]);
}

static void clear_chunk(searcher *s) {
    for (int i = 0; i < AT_ONCE_MOST; ++i) {
        weft_program_free(&s->programs[i]);
        weft_compilation_free(&s->compilations[i]);
    }
}

/* Could a cover of this predicted time be faster than the best measured one? */
static bool can_win(const searcher *s, double predicted) {
    double most = 0;
    if (s->how.all || s->out->n_measured < AT_LEAST)
        return true;
    for (int i = 0; i < s->out->n_measured; ++i)
        if (s->out->candidates[i].predicted / s->out->candidates[i].measured > most)
            most = s->out->candidates[i].predicted / s->out->candidates[i].measured;
    return predicted / (SLACK * most) < s->out->candidates[s->out->best].measured;
}

static weft_status measure_one(searcher *s, int i, weft_search_candidate *candidate,
                               weft_error *error) {
    const double best = s->out->n_measured > 0 ? s->out->candidates[s->out->best].measured : 0;
    if (s->made[i] != WEFT_OK) {
        if (error)
            *error = s->errors[i];
        return s->made[i];
    }
    if (s->how.measure)
        return s->how.measure(s->how.user, s->compilations[i], s->programs[i], &candidate->measured,
                              error);
    return weft_synthetic_run_time(s->synthetic_run, s->programs[i], s->compilations[i],
                                   s->how.all ? 0 : best, &candidate->measured, error);
}

/* Covers [first, first + n): compile in parallel, then measure in sequence. */
static weft_status try_chunk(searcher *s, int first, int n, bool *ended, weft_error *error) {
    weft_status status = WEFT_OK;
    int there = 0;
    for (; there < n; ++there) {
        TRY(compile_next(s, first + there, &s->compilations[there], error));
        if (!s->compilations[there])
            break;
        TRY(describe(s, s->compilations[there], &s->out->candidates[first + there], error));
    }
    *ended = there < n;
    s->out->n += there;
    if (!s->how.measure && !s->synthetic_run && there > 0)
        TRY(weft_synthetic_run_make(s->device, s->compilations[0], s->how.elements,
                                    &s->synthetic_run, error));
    TRY(weft_device_for(s->device, there, make_program, s, error));
    for (int i = 0; i < there; ++i) {
        weft_search_candidate *candidate = &s->out->candidates[first + i];
        if (!can_win(s, candidate->predicted)) {
            *ended = true;
            break;
        }
        TRY(measure_one(s, i, candidate, error));
        if (s->out->n_measured++ == 0 ||
            candidate->measured < s->out->candidates[s->out->best].measured)
            s->out->best = first + i;
    }
done:
    clear_chunk(s);
    return status;
}

/* Queue evenly spaced covers from those that follow the best ones, including the last. */
static weft_status spread_queue(searcher *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const int most = SPREAD_OF - s->out->n, wanted = s->how.spread;
    int n = 0;
    weft_cover **all = weft_arena_alloc(s->arena, SPREAD_OF + 1, sizeof(weft_cover *));
    s->queue = weft_arena_alloc(s->arena, (size_t)wanted + 1, sizeof(weft_cover *));
    if (!all || !s->queue)
        TRY(weft_no_memory(error));
    for (; n < most; ++n) {
        TRY(weft_covers_next(s->covers, &all[n], error));
        if (!all[n])
            break;
    }
    for (int i = 0; i < n && i < wanted; ++i)
        s->queue[s->n_queue++] = all[n > wanted ? (int)((int64_t)(i + 1) * n / wanted) - 1 : i];
done:
    return status;
}

static weft_status try_covers(searcher *s, int most, weft_error *error) {
    weft_status status = WEFT_OK;
    bool ended = false;
    const int threads = weft_device_limits(s->device)->threads, from = s->out->n;
    const int at_once = threads < 1 ? 1 : threads > AT_ONCE_MOST ? AT_ONCE_MOST : threads;
    for (int k = 0; k < most && !ended; k += at_once) {
        const int n = most - k < at_once ? most - k : at_once;
        TRY(try_chunk(s, from + k, n, &ended, error));
        weft_progress(weft_device_monitor(s->device), "search", from + k + n,
                      s->how.most + s->how.spread);
    }
done:
    return status;
}

/* Measure the best cover again, until a time agrees with the least one so far. */
static weft_status confirm(searcher *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_search_candidate again = {0}, *best = &s->out->candidates[s->out->best];
    if (s->out->n_measured == 0)
        goto done;
    TRY(weft_compile_cover(s->script, s->tried[s->out->best], &s->compilations[0], error));
    TRY(weft_device_for(s->device, 1, make_program, s, error));
    for (int i = 0; i < CONFIRMATIONS; ++i) {
        TRY(measure_one(s, 0, &again, error));
        s->out->scatter = fabs(again.measured / best->measured - 1);
        best->measured = fmin(best->measured, again.measured);
        if (s->out->scatter <= WEFT_SEARCH_SCATTER_MOST)
            break;
    }
done:
    clear_chunk(s);
    return status;
}

weft_status weft_search_covers(weft_device *device, const weft_search_script *script,
                               const weft_search_options *how, weft_arena *arena,
                               weft_search_result *out, weft_error *error) {
    weft_status status = WEFT_OK;
    searcher s = {.device = device, .arena = arena, .out = out};
    *out = (weft_search_result){0};
    TRY(weft_options_check("weft_search_options", how->size, sizeof *how, error));
    TRY(weft_options_check("weft_compile_options", script->options->size, sizeof *script->options,
                           error));
    s.how = *how;
    if (s.how.elements <= 0)
        s.how.elements = 1000000;
    TRY(WEFT_ALLOC(arena, out->candidates, (size_t)(how->most + how->spread) + 1, error));
    TRY(WEFT_ALLOC(arena, s.tried, (size_t)(how->most + how->spread) + 1, error));
    TRY(start(&s, script, error));
    out->script_class = weft_compilation_only(s.script)->graph->n_connectivities > 0
                            ? WEFT_SCRIPT_INDIRECT
                            : WEFT_SCRIPT_DIRECT;
    TRY(try_covers(&s, how->most, error));
    if (how->spread > 0 && out->n == how->most) {
        TRY(spread_queue(&s, error));
        TRY(try_covers(&s, s.n_queue, error));
    }
    if (how->confirm)
        TRY(confirm(&s, error));
done:
    clear_chunk(&s);
    weft_synthetic_run_free(&s.synthetic_run);
    weft_covers_end(&s.covers);
    weft_arena_free(&s.found);
    weft_compilation_free(&s.script);
    return status;
}

weft_status weft_search_kernels(weft_device *device, const weft_compilation *compilation,
                                double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_synthetic_run *synthetic_run = NULL;
    weft_program *program = NULL;
    const int64_t n = compilation->options.elements;
    TRY(weft_synthetic_run_make(device, compilation, n > 0 ? n : 1000000, &synthetic_run, error));
    TRY(weft_program_make(device, compilation, &program, error));
    TRY(weft_synthetic_run_time_kernels(synthetic_run, program, compilation, seconds, error));
done:
    weft_program_free(&program);
    weft_synthetic_run_free(&synthetic_run);
    return status;
}
