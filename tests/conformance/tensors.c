/* Compares the tensors of compiled integrals with those that FFCx computed for random cells. */
#include "tensors.h"

#include "forms_support.h"

#include <math.h>
#include <stdio.h>

/* FFCx sums in another order, and replaces entries of tables that are within 1e-9 of 0 or 1. */
#define TOLERANCE 1e-11
enum { SAMPLES_MAX = 64, ARGUMENTS_MAX = 64, FACETS_MAX = 6 };

/* The data of an argument for all samples, [n][size]. */
static double *sample_data(const ufl_function_argument *argument, const ufl_prepared *form,
                           const json_t *const *samples, int n) {
    const int size = forms_argument_size(argument);
    double *plain = calloc((size_t)(n * size) + 1, sizeof *plain);
    for (int i = 0; plain && i < n; ++i) {
        const json_t *from = NULL;
        if (!argument->node)
            from = json_object_get(samples[i], "x");
        else if (argument->node->type == UFL_COEFFICIENT) {
            for (int k = 0; k < form->n_coefficients; ++k)
                if (form->coefficients[k] == argument->node)
                    from = json_array_get(json_object_get(samples[i], "w"), (size_t)k);
        } else
            for (int k = 0; k < form->n_constants; ++k)
                if (form->constants[k] == argument->node)
                    from = json_array_get(json_object_get(samples[i], "c"), (size_t)k);
        for (int k = 0; k < size; ++k) {
            /* x has three coordinates a node */
            const int at = argument->node ? k : k / argument->columns * 3 + k % argument->columns;
            plain[i * size + k] = json_number_value(json_array_get(from, (size_t)at));
        }
    }
    return plain;
}

/* Add the tensors of one lowered integral to sums [n][size]. */
static weft_status add_tensors(weft_device *device, const ufl_lowered *lowered,
                               const ufl_prepared *form, const json_t *const *samples, int n,
                               double *sums, weft_error *error) {
    double *data[ARGUMENTS_MAX] = {NULL};
    for (int i = 0; i < lowered->n_arguments && i < ARGUMENTS_MAX; ++i)
        data[i] = sample_data(&lowered->arguments[i], form, samples, n);
    const weft_status status =
        forms_run(device, lowered, (const double *const *)data, n, sums, error);
    for (int i = 0; i < ARGUMENTS_MAX; ++i)
        free(data[i]);
    return status;
}

/* The local facets of a sample, as one number; 0 for cells. */
static int facets_of(const json_t *sample, bool on_cells, int facets[2]) {
    const json_t *entity = json_object_get(sample, "entity");
    facets[0] = facets[1] = 0;
    if (!on_cells)
        facets[0] =
            (int)json_integer_value(json_is_array(entity) ? json_array_get(entity, 0) : entity);
    if (!on_cells && json_array_size(entity) > 1)
        facets[1] = (int)json_integer_value(json_array_get(entity, 1));
    return facets[0] * FACETS_MAX + facets[1];
}

/* The largest difference of n tensors, relative to the largest entry of each. */
static double difference(const double *sums, const json_t *const *samples, int n, const char *key,
                         size_t size) {
    double worst = 0;
    for (int i = 0; i < n; ++i) {
        const json_t *A = json_object_get(samples[i], key);
        double most = 0, least = 0;
        for (size_t j = 0; j < size; ++j) {
            const double value = json_number_value(json_array_get(A, j));
            const double d = fabs(value - sums[(size_t)i * size + j]);
            most = fmax(most, fabs(value));
            least = d > least || isnan(d) ? d : least;
        }
        const double relative = most > 0 ? least / most : least;
        worst = relative > worst || isnan(relative) ? relative : worst;
    }
    return worst;
}

typedef struct comparison {
    weft_device *device;
    weft_ufl *ufl;
    int form, id;
    const char *type, *key; /* key: of the tensors in samples */
    char *what;
    size_t size;
} comparison;

static tensor_outcome compare_samples(comparison *c, const int *facets,
                                      const json_t *const *samples, int n) {
    const ufl_prepared *form = c->ufl->prepared[c->form];
    const size_t size = json_array_size(json_object_get(samples[0], c->key));
    double *sums = calloc((size_t)n * size + 1, sizeof *sums);
    weft_error error = {0};
    tensor_outcome outcome = TENSOR_MATCHED;
    c->ufl->context.error = &error;
    for (int k = 0; sums && k < form->form.n_integrals && outcome == TENSOR_MATCHED; ++k) {
        const ufl_integral *integral = &form->form.integrals[k];
        if (strcmp(ufl_integral_type_name(integral->type), c->type) != 0 || integral->id != c->id)
            continue;
        c->ufl->context.status = WEFT_OK;
        const ufl_lowered *lowered = ufl_lower_integral(&c->ufl->graph, form, k, "tensor", facets);
        if (!lowered || (size_t)forms_size(lowered) != size ||
            add_tensors(c->device, lowered, form, samples, n, sums, &error) != WEFT_OK) {
            snprintf(c->what, c->size, "%s %d, line %d: %s", c->type, c->id, error.line,
                     error.message[0] ? error.message : "a tensor of another size");
            outcome = TENSOR_UNSUPPORTED;
        }
    }
    const double worst = difference(sums, samples, n, c->key, size);
    if (outcome == TENSOR_MATCHED && !(worst <= TOLERANCE)) {
        snprintf(c->what, c->size, "%s %d differs by %.1e of its largest entry", c->type, c->id,
                 worst);
        outcome = TENSOR_WRONG;
    }
    free(sums);
    c->ufl->context.error = NULL;
    return outcome;
}

/* Integrands that are no polynomials: both take Gauss-Jacobi points instead of a default rule. */
static void take_gauss_jacobi(weft_ufl *ufl, int form) {
    const ufl_form *f = &ufl->prepared[form]->form;
    for (int k = 0; k < f->n_integrals; ++k) {
        ufl_metadata *metadata = &((ufl_integral *)&f->integrals[k])->metadata;
        if (metadata->rule == UFL_RULE_DEFAULT)
            metadata->rule = UFL_RULE_GAUSS_JACOBI;
    }
}

tensor_outcome tensors_compare(weft_device *device, weft_ufl *ufl, int form, const json_t *expected,
                               char *what, size_t size) {
    const json_t *all = json_object_get(expected, "samples");
    comparison c = {.device = device,
                    .ufl = ufl,
                    .form = form,
                    .id = (int)json_integer_value(json_object_get(expected, "id")),
                    .type = json_string_value(json_object_get(expected, "type")),
                    .key = "A",
                    .what = what,
                    .size = size};
    const bool on_cells = strcmp(c.type, "cell") == 0;
    if (json_array_size(all) == 0)
        return TENSOR_UNKNOWN;
    if (!json_is_true(json_object_get(expected, "exact"))) {
        c.key = "A_gauss_jacobi";
        if (!json_object_get(json_array_get(all, 0), c.key))
            return TENSOR_UNKNOWN;
        take_gauss_jacobi(ufl, form);
    }
    for (int at = 0; at < FACETS_MAX * FACETS_MAX; ++at) {
        const json_t *samples[SAMPLES_MAX];
        int n = 0, facets[2];
        for (size_t i = 0; i < json_array_size(all) && n < SAMPLES_MAX; ++i)
            if (facets_of(json_array_get(all, i), on_cells, facets) == at)
                samples[n++] = json_array_get(all, i);
        const int wanted[2] = {at / FACETS_MAX, at % FACETS_MAX};
        const tensor_outcome outcome =
            n > 0 ? compare_samples(&c, on_cells ? NULL : wanted, samples, n) : TENSOR_MATCHED;
        if (outcome != TENSOR_MATCHED)
            return outcome;
    }
    return TENSOR_MATCHED;
}
