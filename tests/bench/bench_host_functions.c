/* Functions of formulas: y = sin(x) + exp(x) against glibc's vector functions called by hand. */
#include "bench_host.h"
#include "bench_host_rivals.h"

#include <stdlib.h>

enum { N = 1 << 20 };

typedef struct functions_run {
    weft_compilation *compilation;
    weft_program *program;
    weft_memory *x, *y;
    void *rival_y;
    bool single;
} functions_run;

static weft_status run_program(void *user, weft_error *error) {
    return weft_program_run(((functions_run *)user)->program, error);
}

static weft_status run_rival(void *user, weft_error *error) {
    functions_run *r = user;
    const void *x = weft_memory_host(r->x);
    (void)error;
    if (r->single)
        rival_sin_exp_float(x, r->rival_y, N);
    else
        rival_sin_exp(x, r->rival_y, N);
    return WEFT_OK;
}

static weft_status functions_make(const weft_context *context, bool single, functions_run *out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    static const char text[] =
        "index n plain;\ninput x : real over n;\ny = sin(x) + exp(x);\nreturn y;\n";
    const weft_fragment fragment = {"functions.weft", text};
    const weft_compile_options options = {.size = sizeof options, .single = single};
    const size_t size = single ? sizeof(float) : sizeof(double);
    *out = (functions_run){.single = single};
    TRY(weft_compile(context->library, weft_device_limits(context->device), &fragment, 1, &options,
                     &out->compilation, error));
    TRY(weft_program_make(context->device, out->compilation, &out->program, error));
    TRY(weft_memory_make(context->device, N * size, &out->x, error));
    TRY(weft_memory_make(context->device, N * size, &out->y, error));
    for (int i = 0; i < N; ++i) {
        const double value = 8.0 * i / N - 4;
        if (single)
            ((float *)weft_memory_host(out->x))[i] = (float)value;
        else
            ((double *)weft_memory_host(out->x))[i] = value;
    }
    TRY(weft_program_size(out->program, "n", N, error));
    TRY(weft_program_bind(out->program, "x", out->x, error));
    TRY(weft_program_bind(out->program, "y", out->y, error));
    out->rival_y = weft_array_make(N, size);
    if (out->rival_y == NULL)
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
done:
    return status;
}

weft_status bench_functions(const weft_context *context, weft_error *error) {
    weft_status status = WEFT_OK;
    /* WEFT_INSTRUCTIONS may ask Weft for others */
    const bool same = weft_device_limits(context->device)->lanes_double * (int)sizeof(double) ==
                      rival_vector_bytes();
    for (int single = 0; single < 2; ++single) {
        functions_run run = {0};
        double ours = 0, theirs = 0;
        status = functions_make(context, single, &run, error);
        if (status == WEFT_OK)
            status = bench_pair(run_program, &run, &ours, run_rival, &run, &theirs, error);
        if (status == WEFT_OK)
            bench_line(single ? "float" : "double", "sin(x) + exp(x), against libmvec by hand",
                       ours / N * 1e9, "ns", same ? theirs / ours : 0, same ? 1 / 1.5 : 0);
        weft_program_free(&run.program);
        weft_compilation_free(&run.compilation);
        weft_memory_free(&run.x);
        weft_memory_free(&run.y);
        free(run.rival_y);
        TRY(status);
    }
done:
    return status;
}
