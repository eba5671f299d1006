/* labels: quick */
/* Random forms: the tensors of compiled integrals against a naive interpreter of the file's expressions.
 * usage: fuzz_forms [--count N] [--seed S] [--device DEVICE] [--precision float|double] [--print]
 *   --device  one of Weft's, or of device_batch.h: batch (the default), emulated
 *   --print   the forms of the seeds, and nothing else */
#include "device_batch.h"
#include "forms_support.h"
#include "make.h"
#include "naive.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>

/* Both add the same numbers in other orders; tolerances are relative to the sum of their sizes. */
#define TOLERANCE_DOUBLE 1e-10
#define TOLERANCE_SINGLE 1e-4
enum { GROUP = 24, TENSORS_MAX = 16 };

typedef struct random_tensor {
    int64_t seed;
    int rows, columns;
    double *expected, *computed, scale;
    char where[64];
    forms_job job;
} random_tensor;

typedef struct study {
    weft_device *device;
    bool single;
    uint64_t state;
    random_tensor *tensors[GROUP * TENSORS_MAX];
    int n_tensors, n_forms, n_failed, n_checked, n_refused;
} study;

/* Between -1 and 1. */
static double random_value(study *s) {
    s->state = s->state * 6364136223846793005u + 1442695040888963407u;
    return (double)(s->state >> 11) / (double)(1ull << 52) - 1;
}

static int random_number(study *s, int n) {
    return (int)((random_value(s) + 1) / 2 * n) % n;
}

/* ---- cells ---- */

/* The second cell has the vertices of its facet on those of the first's, in their order, and the others beyond it. */
static void place_neighbour(study *s, naive_cell *cell) {
    const weft_cell *shape = weft_cell_of(ufl_weft_cell(cell->mesh->cell));
    const int d = shape->dimension;
    int on[2][8];
    double beyond[3] = {0};
    const int n = weft_cell_entity(shape, d - 1, cell->facets[0], on[0]);
    weft_cell_entity(shape, d - 1, cell->facets[1], on[1]);
    for (int a = 0; a < d; ++a) {
        for (int k = 0; k < n; ++k)
            beyond[a] += cell->x[0][on[0][k]][a] / n;
        for (int v = 0; v < shape->n_entities[0]; ++v)
            beyond[a] -= cell->x[0][v][a] / shape->n_entities[0];
    }
    for (int v = 0; v < shape->n_entities[0]; ++v) {
        int nearest = 0;
        double least = 1e9;
        for (int k = 0; k < n; ++k) { /* the vertex of the facet at the other end of v's edge */
            double distance = 0;
            for (int a = 0; a < d; ++a)
                distance += fabs(shape->vertices[v][a] - shape->vertices[on[1][k]][a]);
            if (distance < least) {
                least = distance;
                nearest = k;
            }
        }
        for (int a = 0; a < d; ++a)
            cell->x[1][v][a] = cell->x[0][on[0][nearest]][a] +
                               (least > 0 ? 2 * beyond[a] + 0.05 * random_value(s) : 0);
    }
}

static void place_cells(study *s, naive_cell *cell) {
    const weft_cell *shape = weft_cell_of(ufl_weft_cell(cell->mesh->cell));
    const int d = shape->dimension, turned = random_number(s, 2);
    double A[3][3];
    for (int a = 0; a < d; ++a)
        for (int i = 0; i < d; ++i)
            A[a][i] = (a == (turned && i < 2 && d > 1 ? 1 - i : i)) + 0.3 * random_value(s);
    for (int v = 0; v < shape->n_entities[0]; ++v)
        for (int a = 0; a < d; ++a) {
            cell->x[0][v][a] = 0.06 * random_value(s);
            for (int i = 0; i < d; ++i)
                cell->x[0][v][a] += A[a][i] * shape->vertices[v][i];
        }
    for (int side = 0; side < 2; ++side)
        cell->facets[side] = random_number(s, shape->n_entities[d - 1]);
    place_neighbour(s, cell);
}

/* ---- a tensor ---- */

static void free_tensor(random_tensor *t) {
    forms_job_free(&t->job);
    free(t->expected);
    free(t->computed);
    free(t);
}

/* Data of all coefficients and constants of a form; sides of a cell one after another. */
static void make_data(study *s, const ufl_prepared *form, const naive_cell *cell, naive_data *data,
                      double *storage) {
    int used = 0;
    data->n = 0;
    for (int k = 0; k < form->n_coefficients + form->n_constants; ++k) {
        const bool constant = k >= form->n_coefficients;
        const ufl_node *node =
            constant ? form->constants[k - form->n_coefficients] : form->coefficients[k];
        int n = constant ? 1 : cell->n_sides * node->space->element->n_dofs;
        for (int i = 0; constant && i < node->rank; ++i)
            n *= node->shape[i];
        data->nodes[data->n] = node;
        data->values[data->n++] = storage + used;
        for (int i = 0; i < n; ++i)
            storage[used++] = random_value(s);
    }
}

static weft_status make_job(study *s, random_tensor *t, const ufl_lowered *lowered,
                            const naive_cell *cell, const naive_data *data, weft_error *error) {
    const double *arguments[FORMS_ARGUMENTS] = {NULL};
    double x[48];
    const int n = weft_cell_of(ufl_weft_cell(cell->mesh->cell))->n_entities[0],
              d = cell->mesh->tdim;
    for (int i = 0; i < cell->n_sides * n * d; ++i)
        x[i] = cell->x[i / d / n][i / d % n][i % d];
    for (int k = 0; k < lowered->n_arguments && k < FORMS_ARGUMENTS; ++k) {
        arguments[k] = x;
        for (int i = 0; i < data->n; ++i)
            if (data->nodes[i] == lowered->arguments[k].node)
                arguments[k] = data->values[i];
    }
    const forms_way way = {s->device, s->single, (int)(t->seed % 3)}; /* a body of each function */
    return forms_job_make(&t->job, &way, lowered, arguments, 1, error);
}

/* One integral of a prepared form. Returns false and prints where something is wrong. */
static bool add_tensor(study *s, weft_ufl *ufl, int form, int number, int degree, int64_t seed) {
    enum { STORAGE = 4096 };
    weft_error error = {0};
    naive_data data = {0};
    const ufl_prepared *prepared = ufl->prepared[form];
    const ufl_integral *integral = &prepared->form.integrals[number];
    naive_cell cell = {.mesh = integral->mesh,
                       .type = integral->type,
                       .n_sides = integral->type == UFL_INTERIOR_FACET ? 2 : 1};
    double *storage = calloc(STORAGE, sizeof *storage);
    random_tensor *t = calloc(1, sizeof *t);
    bool fine = storage && t;
    if (fine) {
        place_cells(s, &cell);
        make_data(s, prepared, &cell, &data, storage);
        ufl->context.error = &error;
        const ufl_lowered *lowered = ufl_lower_integral(&ufl->graph, prepared, number, "tensor",
                                                        cell.type == UFL_CELL ? NULL : cell.facets);
        t->seed = seed;
        snprintf(t->where, sizeof t->where, "%s, %s", ufl->module->forms[form].name,
                 ufl_measure_name(cell.type));
        fine = lowered && make_job(s, t, lowered, &cell, &data, &error) == WEFT_OK;
        if (fine) {
            t->rows = lowered->rank > 0 ? lowered->sizes[0] : 1;
            t->columns = lowered->rank > 1 ? lowered->sizes[1] : 1;
            t->expected = calloc((size_t)(t->rows * t->columns), sizeof *t->expected);
            t->computed = calloc((size_t)(t->rows * t->columns), sizeof *t->computed);
            fine = t->expected && t->computed &&
                   naive_tensor(ufl->module->forms[form].form, &cell, &data, degree, t->rows,
                                t->columns, t->expected, &t->scale);
        }
        if (!fine)
            printf("seed %lld, %s: %s\n", (long long)seed, t->where,
                   error.message[0] ? error.message : "the interpreter does not know an operator");
        ufl->context.error = NULL;
    }
    free(storage);
    if (fine)
        s->tensors[s->n_tensors++] = t;
    else if (t)
        free_tensor(t);
    return fine;
}

/* ---- seeds ---- */

static void add_seed(study *s, int64_t seed) {
    weft_text text = {0};
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    int degree = 0;
    random_form((uint64_t)seed, &degree, &text);
    s->state = (uint64_t)seed * 0xD1342543DE82EF95u + 1;
    if (text.failed ||
        weft_ufl_read_text("random.ufl", text.data, text.length, NULL, &ufl, &error) != WEFT_OK) {
        /* an integrand that is zero has no mesh, as in UFL */
        const bool zero = strstr(error.message, "mesh") != NULL;
        if (!zero)
            printf("seed %lld:%d:%d: %s\n", (long long)seed, error.line, error.column,
                   error.message);
        s->n_refused += zero;
        s->n_failed += !zero;
    }
    for (int f = 0; ufl && f < weft_ufl_n_forms(ufl); ++f) {
        ++s->n_forms;
        for (int k = 0; k < ufl->prepared[f]->form.n_integrals; ++k)
            s->n_failed +=
                s->n_tensors == GROUP * TENSORS_MAX || !add_tensor(s, ufl, f, k, degree, seed);
    }
    weft_ufl_free(&ufl);
    weft_text_free(&text);
}

static void check_tensor(study *s, random_tensor *t) {
    weft_error error = {0};
    double worst = 0;
    bool known = true;
    if (forms_job_run(&t->job, t->computed, &error) != WEFT_OK) {
        printf("seed %lld, %s: %s\n", (long long)t->seed, t->where, error.message);
        ++s->n_failed;
        return;
    }
    for (int i = 0; i < t->rows * t->columns; ++i) {
        const double d = fabs(t->expected[i] - t->computed[i]);
        known = known && isfinite(t->expected[i]);
        worst = d > worst || isnan(d) ? d : worst;
    }
    const double tolerance = (s->single ? TOLERANCE_SINGLE : TOLERANCE_DOUBLE) * t->scale;
    ++s->n_checked;
    if (known && !(worst <= tolerance)) {
        printf("seed %lld, %s: differs by %.1e of the size of its terms\n", (long long)t->seed,
               t->where, t->scale > 0 ? worst / t->scale : worst);
        ++s->n_failed;
    }
}

static void run(study *s, int64_t first, int64_t count) {
    for (int64_t seed = first; seed < first + count; ++seed) {
        add_seed(s, seed);
        if ((seed - first) % GROUP < GROUP - 1 && seed + 1 < first + count)
            continue;
        for (int i = 0; i < s->n_tensors; ++i)
            check_tensor(s, s->tensors[i]);
        while (s->n_tensors > 0)
            free_tensor(s->tensors[--s->n_tensors]);
    }
}

static int usage(void) {
    fputs("usage: fuzz_forms [--count N] [--seed S] [--device DEVICE] [--precision float|double] "
          "[--print]\n",
          stderr);
    return 2;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"count", required_argument, NULL, 'n'},  {"seed", required_argument, NULL, 's'},
        {"device", required_argument, NULL, 'd'}, {"precision", required_argument, NULL, 'p'},
        {"print", no_argument, NULL, 't'},        {0}};
    static study s;
    long long count = 20, seed = 1;
    const char *device = "batch";
    bool print = false;
    weft_error error = {0};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'n')
            count = strtoll(optarg, NULL, 10);
        else if (option == 's')
            seed = strtoll(optarg, NULL, 10);
        else if (option == 'd')
            device = optarg;
        else if (option == 'p' && (strcmp(optarg, "float") == 0 || strcmp(optarg, "double") == 0))
            s.single = optarg[0] == 'f';
        else if (option == 't')
            print = true;
        else
            return usage();
    }
    if (optind < argc || count < 0)
        return usage();
    for (long long i = seed; print && i < seed + count; ++i) {
        weft_text text = {0};
        int degree = 0;
        random_form((uint64_t)i, &degree, &text);
        printf("# seed %lld\n%s", i, text.data ? text.data : "");
        weft_text_free(&text);
    }
    if (print)
        return 0;
    const weft_status status = device_batch_is(device)
                                   ? device_batch_open(device, &s.device, &error)
                                   : weft_device_open(device, NULL, &s.device, &error);
    if (status != WEFT_OK) {
        fprintf(stderr, "error: %s\n", error.message);
        return 3;
    }
    run(&s, seed, count);
    weft_device_free(&s.device);
    printf("%lld files, %d of zero forms, %d forms, %d integrals, %d wrong\n", count, s.n_refused,
           s.n_forms, s.n_checked, s.n_failed);
    return s.n_failed > 0 || (count > 0 && 2 * s.n_refused > count);
}
