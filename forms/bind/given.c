/* States what is given to forms by name, for runs that continue from a checkpoint. */
#include "forms/bind/bind.h"

#include <stdio.h>
#include <stdlib.h>

/* Of values in an array: their hash. */
static weft_status state_memory(weft_context *context, const weft_memory *memory, char *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = weft_records_only(context) ? 0 : weft_memory_bytes(memory);
    char *values = weft_array_make(bytes, 1);
    if (!values)
        TRY(weft_out_of_memory(error, NULL));
    if (bytes > 0)
        TRY(weft_memory_read(memory, 0, values, bytes, error));
    weft_stated_hash(values, bytes, out);
done:
    free(values);
    return status;
}

typedef struct shown {
    weft_stated_value *values; /* [the longest list] */
    char (*texts)[48];         /* of those that are no texts */
} shown;

static weft_status state_values(const weft_problem_given *given, weft_context *context,
                                weft_stated *stated, const shown *to, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < given->n_values; ++i) {
        const weft_input_source *source = &given->values[i].source;
        to->values[i] = (weft_stated_value){given->values[i].name, source->text};
        if (!source->memory)
            continue;
        TRY(state_memory(context, source->memory, to->texts[i], error));
        to->values[i].text = to->texts[i];
    }
    weft_stated_add(stated, "input", to->values, given->n_values);
done:
    return status;
}

static void state_others(const weft_bind_options *options, weft_stated *stated, const shown *to) {
    for (int i = 0; i < options->n_expressions; ++i)
        to->values[i] =
            (weft_stated_value){options->expressions[i].name, options->expressions[i].text};
    weft_stated_add(stated, "define", to->values, options->n_expressions);
    for (int i = 0; i < options->n_parameters; ++i) {
        (void)snprintf(to->texts[i], sizeof to->texts[i], "%d", options->parameters[i].value);
        to->values[i] = (weft_stated_value){options->parameters[i].name, to->texts[i]};
    }
    weft_stated_add(stated, "param", to->values, options->n_parameters);
    for (int i = 0; i < options->n_measures; ++i)
        to->values[i] = (weft_stated_value){options->measures[i].name, options->measures[i].group};
    weft_stated_add(stated, "measure", to->values, options->n_measures);
}

weft_status weft_bind_state(const weft_binding *binding, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_bind_options *options = binding->options;
    weft_problem *problem = binding->problem;
    const int n = problem->names.given.n_values + options->n_expressions + options->n_parameters +
                  options->n_measures + 1;
    const shown to = {calloc((size_t)n, sizeof *to.values), calloc((size_t)n, sizeof *to.texts)};
    weft_stated_clear(&problem->stated);
    if (!to.values || !to.texts)
        TRY(weft_out_of_memory(error, NULL));
    if (!options->in_time)
        goto done;
    TRY(state_values(&problem->names.given, problem->context, &problem->stated, &to, error));
    state_others(options, &problem->stated, &to);
done:
    free(to.values);
    free(to.texts);
    return status;
}
