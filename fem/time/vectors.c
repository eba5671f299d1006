/* Sums of up to six vectors and dot products, each a program. */
#include "fem/time/vectors.h"

#include <stdio.h>

void weft_terms_add(weft_terms *terms, double factor, weft_memory *vector) {
    if (factor == 0)
        return;
    terms->factor[terms->n] = factor;
    terms->vector[terms->n++] = vector;
}

void weft_vectors_clear(weft_vectors *vectors) {
    for (int i = 0; i < WEFT_TERMS_MAX; ++i) {
        weft_compiled_free(&vectors->sums[i]);
        weft_memory_free(&vectors->factors[i]);
    }
    weft_compiled_free(&vectors->product);
    weft_compiled_free(&vectors->addition);
}

static weft_status compile(weft_vectors *vectors, const char *name, const weft_text *text,
                           weft_compiled *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragment = {name, text->data};
    const weft_compile_options options = {.elements = vectors->n};
    if (text->failed)
        return weft_out_of_memory(error, "a sum of vectors");
    TRY(weft_compiled_make(vectors->context, &fragment, 1, &options, out, error));
    TRY(weft_program_size(out->program, "nodes", vectors->n, error));
done:
    return status;
}

/* y = c[0]*v0 + c[1]*v1 + ... */
static weft_status make_sum(weft_vectors *vectors, int n, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    weft_text_add(&text, "index nodes plain;\ninput c : real[%d];\n", n);
    for (int i = 0; i < n; ++i)
        weft_text_add(&text, "input v%d : real over nodes;\n", i);
    for (int i = 0; i < n; ++i)
        weft_text_add(&text, "%sc[%d]*v%d", i == 0 ? "y = " : " + ", i, i);
    weft_text_add(&text, ";\nreturn y;\n");
    TRY(compile(vectors, "sum.weft", &text, &vectors->sums[n - 1], error));
    TRY(weft_memory_make(vectors->context->device, (size_t)n * sizeof(double),
                         &vectors->factors[n - 1], error));
    TRY(weft_program_bind(vectors->sums[n - 1].program, "c", vectors->factors[n - 1], error));
done:
    weft_text_free(&text);
    return status;
}

weft_status weft_vectors_sum(weft_vectors *vectors, const weft_terms *terms, weft_memory *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = terms->n;
    char name[16];
    if (!vectors->sums[n - 1].program)
        TRY(make_sum(vectors, n, error));
    weft_program *program = vectors->sums[n - 1].program;
    TRY(weft_memory_write(vectors->factors[n - 1], 0, terms->factor,
                          (size_t)n * sizeof *terms->factor, error));
    for (int i = 0; i < n; ++i) {
        snprintf(name, sizeof name, "v%d", i);
        TRY(weft_program_bind(program, name, terms->vector[i], error));
    }
    TRY(weft_program_bind(program, "y", out, error));
    TRY(weft_program_run(program, error));
done:
    return status;
}

weft_status weft_vectors_add(weft_vectors *vectors, weft_memory *y, weft_memory *x,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    if (!vectors->addition.program) {
        weft_text_add(&text, "index nodes plain;\ninput x, y : real over nodes;\n"
                             "update y = y + x;\n");
        TRY(compile(vectors, "addition.weft", &text, &vectors->addition, error));
    }
    TRY(weft_program_bind(vectors->addition.program, "x", x, error));
    TRY(weft_program_bind(vectors->addition.program, "y", y, error));
    TRY(weft_program_run(vectors->addition.program, error));
done:
    weft_text_free(&text);
    return status;
}

weft_status weft_vectors_product(weft_vectors *vectors, weft_memory *a, weft_memory *b, double *out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    if (!vectors->product.program) {
        weft_text_add(&text, "index nodes plain;\ninput a, b : real over nodes;\ns = dot(a, b);\n"
                             "return s;\n");
        TRY(compile(vectors, "product.weft", &text, &vectors->product, error));
    }
    TRY(weft_program_bind(vectors->product.program, "a", a, error));
    TRY(weft_program_bind(vectors->product.program, "b", b, error));
    TRY(weft_program_run(vectors->product.program, error));
    TRY(weft_memory_read(weft_program_result(vectors->product.program, "s"), 0, out, sizeof *out,
                         error));
done:
    weft_text_free(&text);
    return status;
}
