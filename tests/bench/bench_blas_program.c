/* A sequence by Weft: its script compiled for the device, with the first plan or the best few. */
#include "bench_blas.h"
#include "fusion/compile/compile.h"
#include "fusion/control/program.h"
#include "fusion/tune/tune.h"
#include "fusion/weft_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct blas_program {
    weft_compilation *compilation;
    weft_program *program;
};

/* ---- compiling and running ------------------------------------------------------------------- */

static weft_status read_script(const blas_case *c, char **text, weft_error *error) {
    weft_status status = WEFT_OK;
    enum { LONGEST = 4096 };
    char path[1024];
    snprintf(path, sizeof path, "%s/docs/examples/blas/%s.weft", WEFT_SOURCE_DIR,
             c->sequence->script);
    FILE *file = fopen(path, "r");
    *text = calloc(1, LONGEST);
    if (!file)
        TRY(weft_error_set(error, WEFT_ERROR_IO, "cannot open %s", path));
    if (!*text)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for a script"));
    if (fread(*text, 1, LONGEST - 1, file) == 0)
        TRY(weft_error_set(error, WEFT_ERROR_IO, "cannot read %s", path));
done:
    if (file)
        fclose(file);
    return status;
}

static weft_compile_options compile_options(const blas_case *c) {
    return (weft_compile_options){.size = sizeof(weft_compile_options),
                                  .plan = WEFT_PLAN_FUSED,
                                  .single = c->data->single,
                                  .elements =
                                      c->sequence->matrix ? c->data->n * c->data->n : c->data->n};
}

static weft_status bind_numbers(const blas_case *c, const weft_compilation *compilation,
                                weft_program *program, weft_error *error) {
    weft_status status = WEFT_OK;
    static const char *const numbers[] = {"alpha", "beta"};
    for (int i = 0; i < weft_compilation_names(compilation); ++i) {
        weft_name_info info;
        weft_compilation_name(compilation, i, &info);
        for (int k = 0; k < 2; ++k)
            if (strcmp(info.name, numbers[k]) == 0)
                TRY(weft_program_bind(program, numbers[k], c->data->numbers[k], error));
    }
done:
    return status;
}

static weft_status bind(const blas_case *c, const weft_compilation *compilation,
                        weft_program *program, weft_error *error) {
    weft_status status = WEFT_OK;
    const blas_sequence *s = c->sequence;
    TRY(weft_program_size(program, s->matrix ? "rows" : "n", c->data->n, error));
    if (s->matrix)
        TRY(weft_program_size(program, "cols", c->data->n, error));
    TRY(bind_numbers(c, compilation, program, error));
    for (int i = 0; i < s->n_inputs; ++i)
        if (!(s->in_place && i == 0))
            TRY(weft_program_bind_beginning(program, blas_input_names[s->inputs[i]],
                                            c->data->memories[s->inputs[i]], error));
    for (int k = 0; k < BLAS_OUTPUTS && c->outputs[k]; ++k)
        TRY(weft_program_bind_beginning(program, s->outputs[k].name, c->outputs[k], error));
done:
    return status;
}

weft_status blas_program_make(const blas_case *c, blas_program **out, weft_error *error) {
    weft_status status = WEFT_OK;
    char *text = NULL;
    const weft_compile_options options = compile_options(c);
    blas_program *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for a program"));
    TRY(read_script(c, &text, error));
    TRY(weft_compile(c->library, weft_device_limits(c->data->device),
                     &(weft_fragment){c->sequence->script, text}, 1, &options, &made->compilation,
                     error));
    TRY(weft_program_make(c->data->device, made->compilation, &made->program, error));
    TRY(bind(c, made->compilation, made->program, error));
    *out = made;
    made = NULL;
done:
    free(text);
    blas_program_free(&made);
    return status;
}

void blas_program_free(blas_program **program) {
    if (!*program)
        return;
    weft_program_free(&(*program)->program);
    weft_compilation_free(&(*program)->compilation);
    free(*program);
    *program = NULL;
}

weft_status blas_program_run(void *program, weft_error *error) {
    return weft_program_run(((blas_program *)program)->program, error);
}

/* ---- plans ----------------------------------------------------------------------------------- */

typedef struct planning {
    const blas_case *c;
    blas_plans *out;
} planning;

static weft_status run_program(void *program, weft_error *error) {
    return weft_program_run(program, error);
}

static weft_status measure(void *user, const weft_compilation *compilation, weft_program *program,
                           double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    const planning *p = user;
    double worst = 0;
    const blas_task tasks[2] = {run_program, NULL};
    void *const users[2] = {program, NULL};
    TRY(bind(p->c, compilation, program, error));
    TRY(blas_case_check(p->c, run_program, program, &worst, error));
    p->out->n_wrong += worst > 1;
    TRY(blas_case_time(p->c, tasks, users, seconds, error));
done:
    return status;
}

/* Speeds within a thousandth are the same, as in Table 4 of the paper. */
static void rank(const weft_search_result *found, blas_plans *out) {
    double best = found->candidates[found->best].measured, worst = best;
    for (int i = found->n_measured - 1; i >= 0; --i) {
        const double seconds = found->candidates[i].measured;
        worst = seconds > worst ? seconds : worst;
        if (seconds <= best * 1.001)
            out->best = i + 1;
    }
    out->n_measured = found->n_measured;
    out->first_share = best / found->candidates[0].measured;
    out->worst_share = best / worst;
}

static weft_status search(planning *p, const weft_fragment *script, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_compile_options options = compile_options(p->c);
    const weft_search_script searched = {p->c->library, script, 1, &options};
    const weft_search_options how = {.size = sizeof how,
                                     .most = p->c->options->plans,
                                     .all = true,
                                     .elements = options.elements,
                                     .measure = measure,
                                     .user = p};
    weft_search_result found = {0};
    weft_arena *arena = NULL;
    const double start = weft_clock();
    TRY(weft_arena_make(&arena, error));
    TRY(weft_search_covers(p->c->data->device, &searched, &how, arena, &found, error));
    p->out->search_seconds = weft_clock() - start;
    rank(&found, p->out);
done:
    weft_arena_free(&arena);
    return status;
}

static weft_status count_plans(const weft_segment *segment, int *n, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_covers *covers = NULL;
    weft_cover *cover = NULL;
    TRY(weft_arena_make(&arena, error));
    TRY(weft_covers_begin(&(weft_cover_problem){.arena = arena,
                                                .graph = segment->graph,
                                                .fusions = segment->fusions,
                                                .implementations = segment->implementations,
                                                .kind = WEFT_PLAN_FUSED,
                                                .all = true},
                          &covers, error));
    for (*n = 0; *n < BLAS_PLANS_COUNTED; ++*n) {
        TRY(weft_covers_next(covers, &cover, error));
        if (!cover)
            break;
    }
done:
    weft_covers_end(&covers);
    weft_arena_free(&arena);
    return status;
}

weft_status blas_predict(const blas_case *c, double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *compilation = NULL;
    char *text = NULL;
    const weft_compile_options options = compile_options(c);
    *seconds = 0;
    TRY(read_script(c, &text, error));
    TRY(weft_compile(c->library, weft_device_limits(c->data->device),
                     &(weft_fragment){c->sequence->script, text}, 1, &options, &compilation,
                     error));
    for (int i = 0; i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info info;
        weft_compilation_kernel(compilation, i, &info);
        *seconds += info.seconds;
    }
done:
    weft_compilation_free(&compilation);
    free(text);
    return status;
}

weft_status blas_plans_make(const blas_case *c, blas_plans *out, weft_error *error) {
    weft_status status = WEFT_OK;
    planning p = {c, out};
    weft_compilation *compilation = NULL;
    char *text = NULL;
    const weft_compile_options options = compile_options(c);
    *out = (blas_plans){.sequence = c->sequence, .n = c->data->n};
    TRY(read_script(c, &text, error));
    const weft_fragment script = {c->sequence->script, text};
    double start = weft_clock();
    TRY(weft_compile(c->library, weft_device_limits(c->data->device), &script, 1, &options,
                     &compilation, error));
    out->plan_seconds = weft_clock() - start;
    const weft_segment *segment = weft_compilation_only(compilation);
    out->n_kernels = segment->plan->n_kernels;
    for (int i = 0; i < segment->plan->n_kernels; ++i)
        out->n_passes += segment->plan->kernels[i].kind == KERNEL_NESTED;
    out->n_implementations = segment->implementations->n;
    start = weft_clock();
    TRY(count_plans(segment, &out->n_plans, error));
    out->count_seconds = weft_clock() - start;
    if (c->options->plans > 0 && !weft_device_limits(c->data->device)->records_only)
        TRY(search(&p, &script, error));
done:
    weft_compilation_free(&compilation);
    free(text);
    return status;
}
