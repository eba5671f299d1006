/* Sums of up to six vectors and dot products, each a program. */
#include "fem/form/vectors.h"

#include <math.h>
#include <stdio.h>

void weft_terms_add(weft_terms *terms, double factor, weft_memory *vector) {
    if (factor == 0)
        return;
    terms->factor[terms->n] = factor;
    terms->vector[terms->n++] = vector;
}

void weft_vectors_clear(weft_vector_programs *vectors) {
    for (int i = 0; i < WEFT_TERMS_MAX; ++i) {
        weft_compiled_free(&vectors->sums[i]);
        weft_memory_free(&vectors->factors[i]);
    }
    weft_compiled_free(&vectors->product);
    weft_compiled_free(&vectors->addition);
    weft_compiled_free(&vectors->norms);
    weft_compiled_free(&vectors->scaled);
    weft_compiled_free(&vectors->along);
    weft_compiled_free(&vectors->masked);
}

static weft_status compile(weft_vector_programs *vectors, const char *name, const weft_text *text,
                           weft_compiled *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragment = {name, text->data};
    const weft_compile_options options = {.size = sizeof options, .elements = vectors->n};
    if (text->failed)
        TRY(weft_out_of_memory(error, "a sum of vectors"));
    TRY(weft_compiled_make(vectors->context, &fragment, 1, &options, out, error));
    TRY(weft_program_size(out->program, "nodes", vectors->n, error));
    TRY(weft_program_share(out->program, "nodes", vectors->share, error));
done:
    return status;
}

/* y = c[0]*v0 + c[1]*v1 + ... */
static weft_status make_sum(weft_vector_programs *vectors, int n, weft_error *error) {
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

weft_status weft_vectors_sum(weft_vector_programs *vectors, const weft_terms *terms,
                             weft_memory *out, weft_error *error) {
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

/* A program of a fixed text, compiled at first use, with its inputs. */
static weft_status run_text(weft_vector_programs *vectors, weft_compiled *compiled,
                            const char *text, const weft_form_input *inputs, int n,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text copy = {0};
    if (!compiled->program) {
        weft_text_add(&copy, "index nodes plain;\n%s", text);
        TRY(compile(vectors, "vectors.weft", &copy, compiled, error));
    }
    for (int i = 0; i < n; ++i)
        TRY(weft_program_bind(compiled->program, inputs[i].name, inputs[i].memory, error));
    TRY(weft_program_run(compiled->program, error));
done:
    weft_text_free(&copy);
    return status;
}

static weft_status read_number(const weft_compiled *compiled, const char *name, double *out,
                               weft_error *error) {
    return weft_memory_read(weft_program_result(compiled->program, name), 0, out, sizeof *out,
                            error);
}

weft_status weft_vectors_add(weft_vector_programs *vectors, weft_memory *y, weft_memory *x,
                             weft_error *error) {
    return run_text(vectors, &vectors->addition,
                    "input x, y : real over nodes;\nupdate y = y + x;\n",
                    (const weft_form_input[]){{"x", x}, {"y", y}}, 2, error);
}

weft_status weft_vectors_product(weft_vector_programs *vectors, weft_memory *a, weft_memory *b,
                                 double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(run_text(vectors, &vectors->product,
                 "input a, b : real over nodes;\ns = dot(a, b);\nreturn s;\n",
                 (const weft_form_input[]){{"a", a}, {"b", b}}, 2, error));
    TRY(read_number(&vectors->product, "s", out, error));
done:
    return status;
}

weft_status weft_vectors_mask(weft_vector_programs *vectors, weft_memory *x, weft_memory *mask,
                              weft_memory *y, weft_error *error) {
    return run_text(vectors, &vectors->masked,
                    "input x, mask, y : real over nodes;\nupdate y = mask*x;\n",
                    (const weft_form_input[]){{"x", x}, {"mask", mask}, {"y", y}}, 3, error);
}

/* sqrt(square)*most, the norm of a list that was divided by `most` */
static weft_status read_norm(const weft_compiled *compiled, const char *square, const char *most,
                             double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    double largest = 0;
    TRY(read_number(compiled, square, out, error));
    TRY(read_number(compiled, most, &largest, error));
    *out = sqrt(*out) * largest;
done:
    return status;
}

weft_status weft_vectors_norms(weft_vector_programs *vectors, weft_memory *r, weft_memory *is_free,
                               double norms[2], weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(run_text(vectors, &vectors->norms,
                 "input r, is_free : real over nodes;\nmost = maximum(abs(r));\n"
                 "part = select(most > 0, r/most, r);\nall = dot(part, part);\n"
                 "loose = dot(is_free*part, part);\nreturn all, loose, most;\n",
                 (const weft_form_input[]){{"r", r}, {"is_free", is_free}}, 2, error));
    TRY(read_norm(&vectors->norms, "all", "most", &norms[0], error));
    TRY(read_norm(&vectors->norms, "loose", "most", &norms[1], error));
done:
    return status;
}

weft_status weft_vectors_scaled(weft_vector_programs *vectors, weft_memory *r, weft_memory *u,
                                weft_memory *d, weft_memory *is_free, double norms[3],
                                weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(run_text(vectors, &vectors->scaled,
                 "input r, u, d, is_free : real over nodes;\ns = sqrt(abs(d));\n"
                 "a = select(s > 0, is_free*r/s, 0);\nb = s*u;\nc = select(s > 0, 0, is_free*r);\n"
                 "most_a = maximum(abs(a));\nmost_b = maximum(abs(b));\nmost_c = maximum(abs(c));\n"
                 "p = select(most_a > 0, a/most_a, a);\nq = select(most_b > 0, b/most_b, b);\n"
                 "w = select(most_c > 0, c/most_c, c);\n"
                 "left = dot(p, p);\nright = dot(q, q);\nrest = dot(w, w);\n"
                 "return left, right, rest, most_a, most_b, most_c;\n",
                 (const weft_form_input[]){{"r", r}, {"u", u}, {"d", d}, {"is_free", is_free}}, 4,
                 error));
    TRY(read_norm(&vectors->scaled, "left", "most_a", &norms[0], error));
    TRY(read_norm(&vectors->scaled, "right", "most_b", &norms[1], error));
    TRY(read_norm(&vectors->scaled, "rest", "most_c", &norms[2], error));
done:
    return status;
}

/* The entries of a are divided by the largest too, so that their products with those of b do not underflow. */
weft_status weft_vectors_along(weft_vector_programs *vectors, weft_memory *a, weft_memory *b,
                               double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    double most = 0;
    TRY(run_text(
        vectors, &vectors->along,
        "input a, b : real over nodes;\nmost = maximum(abs(a));\nlength = maximum(abs(b));\n"
        "p = select(most > 0, a/most, a);\nq = select(length > 0, b/length, b);\n"
        "s = dot(p, q);\nreturn s, most;\n",
        (const weft_form_input[]){{"a", a}, {"b", b}}, 2, error));
    TRY(read_number(&vectors->along, "s", out, error));
    TRY(read_number(&vectors->along, "most", &most, error));
    *out *= most;
done:
    return status;
}
