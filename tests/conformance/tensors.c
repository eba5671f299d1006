/* Compares the tensors of compiled integrals with those that FFCx computed for random cells. */
#include "tensors.h"

#include "forms/operators/operators.h"
#include "forms_support.h"

#include <math.h>
#include <stdio.h>

/* FFCx sums in another order, and replaces entries of tables that are within 1e-9 of 0 or 1. In single
 * precision data are rounded, too. */
#define TOLERANCE_DOUBLE 1e-11
#define TOLERANCE_SINGLE 2e-5
#define SMALLEST_SINGLE 1e-30 /* what is less is about to underflow, */
#define LARGEST_SINGLE 1e37   /* what is more, to overflow */
#define POINT_DISTANCE 1e-9   /* between equal points */
enum { SAMPLES_MAX = 64, FACETS_MAX = 6, JOBS_MAX = 16, POINTS_MAX = 4096 };

/* The samples of an integral of the oracle that have the same local facets, computed in one way. */
typedef struct tensor_case {
    int finding, variant, n, size, n_jobs;
    const json_t *samples[SAMPLES_MAX];
    const json_t *coefficients; /* of the oracle's form */
    const ufl_prepared *form;   /* or its action, */
    const ufl_node *direction;  /* on this; NULL: the form itself */
    bool is_product;            /* by the function for products of the form, where there is one */
    double *expected, *sums;    /* [n][size] */
    forms_job jobs[JOBS_MAX];   /* one for each metadata */
} tensor_case;

typedef struct comparison {
    const tensor_way *way;
    weft_ufl *ufl;
    tensor_finding *findings;
    tensor_case **cases;
    int n_findings, n_cases;
} comparison;

static void find(tensor_finding *finding, tensor_outcome outcome, const char *what) {
    if (finding->outcome == TENSOR_WRONG || finding->outcome == outcome)
        return;
    finding->outcome = outcome;
    snprintf(finding->what, sizeof finding->what, "%s", what);
}

/* ---- data ---- */

/* The vectors that actions are of: the same on every machine, between 0.5 and 1.5 in size. */
static double direction_value(int i) {
    const unsigned mixed = ((unsigned)i + 1) * 2654435761u;
    return (mixed & 0x100 ? -1 : 1) * (0.5 + (double)(mixed >> 16) / 65536);
}

/* The oracle's number of each point of a quadrature element, by its place.
 * element  of the oracle, without blocks
 * order    [rule->n]
 * Returns false where FFCx has other points */
static bool match_points(const json_t *element, const weft_quadrature *rule, int *order) {
    const json_t *points = json_object_get(element, "points");
    const int n = (int)json_array_size(points);
    for (int p = 0; p < rule->n; ++p) {
        order[p] = -1;
        for (int q = 0; q < n; ++q) {
            double most = 0;
            for (int c = 0; c < rule->dimension; ++c)
                most = fmax(most, fabs(json_number_value(json_array_get(
                                           json_array_get(points, (size_t)q), (size_t)c)) -
                                       rule->points[p * rule->dimension + c]));
            if (most < POINT_DISTANCE)
                order[p] = q;
        }
        if (order[p] < 0)
            return false;
    }
    return n == rule->n;
}

/* Where the oracle has entry k of each coefficient that is, or is a vector of, a quadrature element.
 *  description  of the oracle
 *  order        [points]; order[0] < 0: the numbers are the same
 *  Returns false where that is not known */
static bool find_order(const ufl_element *element, const json_t *description, int *order) {
    const ufl_element *points = ufl_element_find_quadrature(element);
    weft_quadrature rule = {0};
    order[0] = -1;
    if (!points)
        return true;
    if (element->kind == UFL_BLOCKED)
        description = json_object_get(description, "of");
    const bool found = ufl_element_rule(points, &rule, NULL) == WEFT_OK && rule.n <= POINTS_MAX &&
                       match_points(description, &rule, order);
    weft_quadrature_free(&rule);
    return found;
}

/* The data of an argument for all samples, [n][size]. */
static double *sample_data(const tensor_case *c, const ufl_prepared *original,
                           const ufl_function_argument *argument) {
    const int size = forms_argument_size(argument);
    int order[POINTS_MAX] = {-1}, coefficient = 0;
    double *plain = calloc((size_t)(c->n * size) + 1, sizeof *plain);
    while (coefficient < original->n_coefficients &&
           original->coefficients[coefficient] != argument->node)
        ++coefficient;
    const int block =
        argument->node && argument->node->space ? argument->node->space->element->block_size : 1;
    if (coefficient < original->n_coefficients)
        find_order(argument->node->space->element,
                   json_array_get(c->coefficients, (size_t)coefficient), order);
    for (int i = 0; plain && i < c->n; ++i) {
        const json_t *from = NULL;
        if (!argument->node)
            from = json_object_get(c->samples[i], "x");
        else if (argument->node->type == UFL_COEFFICIENT) {
            from = json_array_get(json_object_get(c->samples[i], "w"), (size_t)coefficient);
        } else
            for (int k = 0; k < original->n_constants; ++k)
                if (original->constants[k] == argument->node)
                    from = json_array_get(json_object_get(c->samples[i], "c"), (size_t)k);
        for (int k = 0; k < size; ++k) {
            /* x has three coordinates a node */
            const int at = !argument->node ? k / argument->columns * 3 + k % argument->columns
                           : order[0] >= 0 ? order[k / block] * block + k % block
                                           : k;
            plain[i * size + k] = argument->node && argument->node == c->direction
                                      ? direction_value(k)
                                      : json_number_value(json_array_get(from, (size_t)at));
        }
    }
    return plain;
}

/* The oracle's tensor of a sample; by Gauss-Jacobi points where those give another one than the default. */
static const json_t *tensor_of(const json_t *sample) {
    const json_t *A = json_object_get(sample, "A_gauss_jacobi");
    return A ? A : json_object_get(sample, "A");
}

/* A, or A u. */
static double *expected_values(const tensor_case *c) {
    double *values = calloc((size_t)(c->n * c->size) + 1, sizeof *values);
    for (int i = 0; values && i < c->n; ++i) {
        const json_t *A = tensor_of(c->samples[i]);
        const int columns = (int)json_array_size(A) / c->size;
        for (int j = 0; j < c->size; ++j)
            for (int k = 0; k < columns; ++k)
                values[i * c->size + j] +=
                    json_number_value(json_array_get(A, (size_t)(j * columns + k))) *
                    (c->direction ? direction_value(k) : 1);
    }
    return values;
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

/* The largest difference of n tensors, relative to the largest entry of each, of those that the precision
 * can represent. */
static double difference(const tensor_case *c, bool single) {
    double worst = 0;
    for (int i = 0; i < c->n; ++i) {
        double most = single ? SMALLEST_SINGLE : 0, least = 0;
        for (int j = i * c->size; j < (i + 1) * c->size; ++j) {
            const double d = fabs(c->expected[j] - c->sums[j]);
            most = fmax(most, fabs(c->expected[j]));
            least = d > least || isnan(d) ? d : least;
        }
        if (single && most > LARGEST_SINGLE)
            continue;
        const double relative = most > 0 ? least / most : least;
        worst = relative > worst || isnan(relative) ? relative : worst;
    }
    return worst;
}

/* ---- cases ---- */

static void free_case(tensor_case *c) {
    for (int i = 0; i < c->n_jobs; ++i)
        forms_job_free(&c->jobs[i]);
    free(c->expected);
    free(c->sums);
    free(c);
}

static weft_status add_job(comparison *all, tensor_case *c, const ufl_lowered *lowered,
                           const ufl_prepared *original, weft_error *error) {
    double *data[FORMS_ARGUMENTS] = {NULL};
    const forms_way way = {all->way->device, all->way->single, c->variant};
    for (int i = 0; i < lowered->n_arguments && i < FORMS_ARGUMENTS; ++i)
        data[i] = sample_data(c, original, &lowered->arguments[i]);
    const weft_status status = forms_job_make(&c->jobs[c->n_jobs++], &way, lowered,
                                              (const double *const *)data, c->n, error);
    for (int i = 0; i < FORMS_ARGUMENTS; ++i)
        free(data[i]);
    return status;
}

/* Lower and compile. Returns the largest number of bodies of a function, or -1: not supported. */
static int prepare_case(comparison *all, tensor_case *c, const ufl_prepared *original,
                        const json_t *expected, const int *facets) {
    const char *type = json_string_value(json_object_get(expected, "type"));
    const int id = (int)json_integer_value(json_object_get(expected, "id"));
    weft_error error = {0};
    char what[1100];
    int n_variants = 0;
    all->ufl->context.error = &error;
    for (int k = 0; k < c->form->form.n_integrals && n_variants >= 0; ++k) {
        const ufl_integral *integral = &c->form->form.integrals[k];
        if (strcmp(ufl_integral_type_name(integral->type), type) != 0 || integral->id != id ||
            c->n_jobs == JOBS_MAX)
            continue;
        all->ufl->context.status = WEFT_OK;
        const ufl_lowered *lowered =
            c->is_product ? ufl_lower_product(&all->ufl->graph, c->form, k, "tensor", c->direction)
                          : ufl_lower_integral(&all->ufl->graph, c->form, k, "tensor", facets);
        if (!lowered && c->is_product) {
            n_variants = -1; /* not all forms have one */
            continue;
        }
        if (!lowered || forms_size(lowered) != c->size ||
            add_job(all, c, lowered, original, &error) != WEFT_OK) {
            snprintf(what, sizeof what, "%sline %d: %s", c->direction ? "the action, " : "",
                     error.line, error.message[0] ? error.message : "a tensor of another size");
            find(&all->findings[c->finding], TENSOR_UNSUPPORTED, what);
            n_variants = -1;
        } else if (c->jobs[c->n_jobs - 1].n_variants > n_variants)
            n_variants = c->jobs[c->n_jobs - 1].n_variants;
    }
    all->ufl->context.error = NULL;
    return n_variants;
}

/* One case for each body. */
static void add_cases(comparison *all, const tensor_case *model, const ufl_prepared *original,
                      const json_t *expected, const int *facets) {
    int n_variants = 1;
    for (int v = 0; v < n_variants; ++v) {
        tensor_case *c = malloc(sizeof *c);
        tensor_case **grown =
            realloc(all->cases, ((size_t)all->n_cases + 1) * sizeof(tensor_case *));
        all->cases = grown ? grown : all->cases;
        if (!c || !grown) {
            free(c);
            return;
        }
        *c = *model;
        c->variant = v;
        c->expected = expected_values(c);
        c->sums = calloc((size_t)(c->n * c->size) + 1, sizeof *c->sums);
        n_variants = c->expected && c->sums ? prepare_case(all, c, original, expected, facets) : -1;
        if (n_variants < 0)
            free_case(c);
        else
            grown[all->n_cases++] = c;
    }
}

/* Integrands that are not polynomials: both take Gauss-Jacobi points instead of a default rule. */
static void take_gauss_jacobi(const ufl_prepared *form) {
    for (int k = 0; k < form->form.n_integrals; ++k) {
        ufl_metadata *metadata = &((ufl_integral *)&form->form.integrals[k])->metadata;
        if (metadata->rule == UFL_RULE_DEFAULT)
            metadata->rule = UFL_RULE_GAUSS_JACOBI;
    }
}

/* The action of a form on a new function; NULL and a finding where that cannot be made. */
static const ufl_prepared *make_action(comparison *all, int form, tensor_finding *finding,
                                       const ufl_node **direction) {
    weft_error error = {0};
    ufl_graph *graph = &all->ufl->graph;
    const ufl_prepared *original = all->ufl->prepared[form];
    all->ufl->context.error = &error;
    all->ufl->context.status = WEFT_OK;
    *direction = ufl_coefficient(graph, original->arguments[1]->space, -1);
    const ufl_form *action =
        *direction ? ufl_action(graph, all->ufl->module->forms[form].form, *direction) : NULL;
    const ufl_prepared *prepared = action ? ufl_prepare(graph, action, &all->ufl->names) : NULL;
    if (!prepared)
        find(finding, TENSOR_UNSUPPORTED, error.message);
    all->ufl->context.error = NULL;
    return prepared;
}

/* Do coefficients on quadrature elements have the same points? */
static bool same_points(const ufl_prepared *form, const json_t *coefficients) {
    int order[POINTS_MAX];
    for (int k = 0; k < form->n_coefficients; ++k)
        if (!find_order(form->coefficients[k]->space->element,
                        json_array_get(coefficients, (size_t)k), order))
            return false;
    return true;
}

static void prepare_integral(comparison *all, int finding, const json_t *form,
                             const json_t *expected) {
    tensor_finding *found = &all->findings[finding];
    const ufl_prepared *original = all->ufl->prepared[found->form];
    const json_t *samples = json_object_get(expected, "samples");
    const char *type = json_string_value(json_object_get(expected, "type"));
    const bool on_cells = strcmp(type, "cell") == 0;
    const bool interior = strcmp(type, "interior_facet") == 0;
    const bool exact = json_is_true(json_object_get(expected, "exact"));
    const size_t size = json_array_size(tensor_of(json_array_get(samples, 0)));
    const ufl_node *direction = NULL;
    if (size == 0) {
        find(found, TENSOR_UNKNOWN, "no samples");
        return;
    }
    if (!same_points(original, json_object_get(form, "coefficients"))) {
        find(found, TENSOR_UNSUPPORTED, "a quadrature element of other points than FFCx's");
        return;
    }
    const ufl_prepared *action =
        original->n_arguments == 2 ? make_action(all, found->form, found, &direction) : NULL;
    if (!exact) {
        take_gauss_jacobi(original);
        if (action)
            take_gauss_jacobi(action);
    }
    found->has_action = action != NULL;
    for (int at = 0; at < FACETS_MAX * FACETS_MAX; ++at) {
        tensor_case model = {.finding = finding,
                             .form = original,
                             .size = (int)size,
                             .coefficients = json_object_get(form, "coefficients")};
        int facets[2];
        for (size_t i = 0; i < json_array_size(samples) && model.n < SAMPLES_MAX; ++i)
            if (facets_of(json_array_get(samples, i), on_cells, facets) == at)
                model.samples[model.n++] = json_array_get(samples, i);
        const int wanted[2] = {at / FACETS_MAX, at % FACETS_MAX};
        if (model.n == 0)
            continue;
        add_cases(all, &model, original, expected, on_cells ? NULL : wanted);
        model.form = action;
        model.direction = direction;
        if (action && found->outcome == TENSOR_MATCHED) {
            model.size = (interior ? 2 : 1) * original->arguments[0]->space->element->n_dofs;
            add_cases(all, &model, original, expected, on_cells ? NULL : wanted);
            model.form = original;
            model.is_product = true;
            if (on_cells)
                add_cases(all, &model, original, expected, NULL);
        }
    }
}

/* ---- the whole file ---- */

static void run_case(comparison *all, tensor_case *c) {
    tensor_finding *finding = &all->findings[c->finding];
    weft_error error = {0};
    char what[1100];
    for (int i = 0; i < c->n_jobs; ++i)
        if (forms_job_run(&c->jobs[i], c->sums, &error) != WEFT_OK) {
            find(finding, TENSOR_WRONG, error.message);
            return;
        }
    finding->n_bodies += c->n_jobs;
    const double worst = difference(c, all->way->single);
    if (!(worst <= (all->way->single ? TOLERANCE_SINGLE : TOLERANCE_DOUBLE))) {
        snprintf(what, sizeof what, "%s, body %d, differs by %.1e of its largest entry",
                 c->is_product  ? "the product"
                 : c->direction ? "the action"
                                : "the tensor",
                 c->variant, worst);
        find(finding, TENSOR_WRONG, what);
    }
}

void tensors_compare(const tensor_way *way, weft_ufl *ufl, const json_t *forms,
                     void (*report)(void *user, const tensor_finding *finding), void *user) {
    comparison all = {.way = way, .ufl = ufl};
    size_t most = 1;
    for (size_t f = 0; f < json_array_size(forms); ++f)
        most += json_array_size(json_object_get(json_array_get(forms, f), "integrals"));
    all.findings = calloc(most, sizeof *all.findings);
    for (size_t f = 0; all.findings && f < json_array_size(forms); ++f) {
        const json_t *integrals = json_object_get(json_array_get(forms, f), "integrals");
        for (size_t i = 0; i < json_array_size(integrals); ++i) {
            all.findings[all.n_findings++] = (tensor_finding){.form = (int)f, .integral = (int)i};
            prepare_integral(&all, all.n_findings - 1, json_array_get(forms, f),
                             json_array_get(integrals, i));
        }
    }
    for (int i = 0; i < all.n_cases; ++i)
        run_case(&all, all.cases[i]);
    for (int i = 0; i < all.n_cases; ++i)
        free_case(all.cases[i]);
    for (int i = 0; i < all.n_findings; ++i)
        report(user, &all.findings[i]);
    free(all.cases);
    free(all.findings);
}
