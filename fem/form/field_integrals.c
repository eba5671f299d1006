/* Computes mass, centroid, extrema, norm and error of a field by one program
 * (fem/scripts/measure_*.weft). */
#include "fem/form/form.h"

#include <math.h>
#include <stdlib.h>

struct weft_field_measure {
    int dimension;
    bool has_exact;
    weft_compiled compiled;
    weft_memory *t;
};

static weft_status compile(weft_context *context, int dimension, const weft_expression *exact,
                           weft_field_measure *measure, weft_error *error) {
    static const char *const scripts[] = {"measure_2.weft", "measure_3.weft"};
    static const char *const returns[] = {"return m, s, m_0, m_1, least, most;\n",
                                          "return m, s, m_0, m_1, m_2, least, most;\n"};
    const int k = dimension - 2;
    weft_fragment fragments[] = {{scripts[k], weft_fem_script(scripts[k])},
                                 {"outputs", returns[k]},
                                 {"measure_error.weft", weft_fem_script("measure_error.weft")}};
    weft_expression given = {0};
    weft_compile_options options = {.size = sizeof options};
    if (exact) {
        given = (weft_expression){"exact", exact->text, exact->origin};
        options.expressions = &given;
        options.n_expressions = 1;
    }
    return weft_compiled_make(context, fragments, exact ? 3 : 2, &options, &measure->compiled,
                              error);
}

weft_status weft_field_measure_make(weft_context *context, const weft_nodal_field *field,
                                    const weft_expression *exact, weft_field_measure **out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_field_measure *measure = calloc(1, sizeof *measure);
    if (!measure)
        TRY(weft_out_of_memory(error, "measures"));
    measure->dimension = field->mesh->dimension;
    measure->has_exact = exact != NULL;
    TRY(weft_memory_make(context->device, sizeof(double), &measure->t, error));
    TRY(compile(context, measure->dimension, exact, measure, error));
    weft_program *program = measure->compiled.program;
    TRY(weft_program_bind_connectivity(program, "dofs", field->cells, error));
    TRY(weft_program_bind(program, "x", field->x, error));
    TRY(weft_program_bind(program, "u", field->u, error));
    if (exact)
        TRY(weft_program_bind(program, "t", measure->t, error));
    TRY(weft_data_bind(context->data, measure->compiled.compilation, program,
                       &(weft_data_sites){.elements = field->cells}, error));
    *out = measure;
    measure = NULL;
done:
    weft_field_measure_free(&measure);
    return status;
}

void weft_field_measure_free(weft_field_measure **measure) {
    if (!measure || !*measure)
        return;
    weft_compiled_free(&(*measure)->compiled);
    weft_memory_free(&(*measure)->t);
    free(*measure);
    *measure = NULL;
}

static weft_status result(const weft_field_measure *measure, const char *name, double *out,
                          weft_error *error) {
    return weft_memory_read(weft_program_result(measure->compiled.program, name), 0, out,
                            sizeof *out, error);
}

weft_status weft_field_measure_run(weft_field_measure *measure, double t, weft_field_measures *out,
                                   weft_error *error) {
    static const char *const moments[] = {"m_0", "m_1", "m_2"};
    weft_status status = WEFT_OK;
    weft_field_measures made = {.centroid = {NAN, NAN, NAN}, .l2_error = NAN};
    double square = 0;
    TRY(weft_memory_write(measure->t, 0, &t, sizeof t, error));
    TRY(weft_program_run(measure->compiled.program, error));
    TRY(result(measure, "m", &made.mass, error));
    for (int k = 0; k < measure->dimension; ++k) {
        TRY(result(measure, moments[k], &made.centroid[k], error));
        made.centroid[k] = made.mass != 0 ? made.centroid[k] / made.mass : NAN;
    }
    TRY(result(measure, "least", &made.minimum, error));
    TRY(result(measure, "most", &made.maximum, error));
    TRY(result(measure, "s", &square, error));
    made.l2_norm = sqrt(square);
    if (measure->has_exact) {
        TRY(result(measure, "error", &square, error));
        made.l2_error = sqrt(square);
    }
    *out = made;
done:
    return status;
}
