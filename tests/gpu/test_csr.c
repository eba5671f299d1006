/* labels: gpu */
/* csr on the GPU against csr on the host: values, diagonal, products. The terms are the same, their
 * order is not: 1e-13 of the largest leaves room for some tens of them. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "gpu_support.h"
#include "operator_fixture.h"

static const double tolerance = 1e-13;

/* A fixture, its operator, and what the operator borrows. */
typedef struct problem {
    fixture f;
    weft_form_input inputs[1];
    weft_parameter dimension;
    weft_expression k, alpha;
    weft_form forms[2];
    weft_operator *op;
} problem;

static void problem_make(const char *device, int d, int64_t cells_a_side, int n_forms, problem *p) {
    weft_error error = {0};
    *p = (problem){.f = fixture_make(device, d, cells_a_side, WEFT_PLAN_FUSED),
                   .dimension = {"d", d},
                   .k = {"diffusivity", "1 + x + 2*y", "test"},
                   .alpha = {"alpha", "1 + y", "test"}};
    p->inputs[0] = (weft_form_input){"x", p->f.x};
    p->forms[0] = (weft_form){.name = "poisson",
                              .text = weft_fem_script("poisson_diffusivity"),
                              .dofs = p->f.cells,
                              .inputs = p->inputs,
                              .n_inputs = 1,
                              .expressions = &p->k,
                              .n_expressions = 1,
                              .parameters = &p->dimension,
                              .n_parameters = 1};
    p->forms[1] = p->forms[0];
    p->forms[1].name = "robin";
    p->forms[1].text = weft_fem_script("robin");
    p->forms[1].dofs = p->f.facets;
    p->forms[1].expressions = &p->alpha;
    gpu_check(
        weft_operator_make(&p->f.context, WEFT_ASSEMBLY_CSR, p->forms, n_forms, &p->op, &error),
        &error);
}

static void problem_free(problem *p) {
    weft_operator_free(&p->op);
    fixture_free(&p->f);
}

static double *numbers(const weft_memory *memory, size_t n) {
    weft_error error = {0};
    double *out = malloc((n + 1) * sizeof *out);
    gpu_check(weft_memory_read(memory, 0, out, n * sizeof *out, &error), &error);
    return out;
}

static void compare(const char *what, const weft_memory *gpu, const weft_memory *host, size_t n) {
    double *a = numbers(gpu, n), *b = numbers(host, n), most = 0;
    for (size_t i = 0; i < n; ++i)
        most = fmax(most, fabs(b[i]));
    for (size_t i = 0; i < n; ++i)
        if (!(fabs(a[i] - b[i]) <= tolerance * most))
            fail_msg("%s %zu of %zu: %.17g, on the host %.17g", what, i, n, a[i], b[i]);
    free(a);
    free(b);
}

static void check(int d, int64_t cells_a_side, int n_forms) {
    problem both[2];
    weft_memory *v[2], *y[2], *a[2];
    weft_error error = {0};
    for (int i = 0; i < 2; ++i) {
        problem_make(i == 0 ? "cuda" : "host", d, cells_a_side, n_forms, &both[i]);
        v[i] = fixture_vector(&both[i].f);
        y[i] = fixture_vector(&both[i].f);
    }
    const size_t n = (size_t)both[0].f.n, bytes = n * sizeof(double);
    double *values = malloc(bytes);
    uint64_t seed = 3;
    for (size_t i = 0; i < n; ++i)
        values[i] = fixture_random(&seed) - 0.5;
    for (int iteration = 0; iteration < 2; ++iteration) /* again: not twice as much */
        for (int i = 0; i < 2; ++i) {
            gpu_check(weft_memory_write(v[i], 0, values, bytes, &error), &error);
            gpu_check(weft_operator_assemble(both[i].op, &error), &error);
            gpu_check(weft_operator_matrix(both[i].op, &a[i], &error), &error);
            gpu_check(weft_operator_apply(both[i].op, v[i], y[i], &error), &error);
        }
    compare("value", a[0], a[1], (size_t)weft_operator_pattern(both[1].op)->n_entries);
    compare("product", y[0], y[1], n);
    for (int i = 0; i < 2; ++i)
        gpu_check(weft_operator_diagonal(both[i].op, y[i], &error), &error);
    compare("diagonal", y[0], y[1], n);
    for (int i = 0; i < 2; ++i) {
        weft_memory_free(&v[i]);
        weft_memory_free(&y[i]);
        problem_free(&both[i]);
    }
    free(values);
}

static void the_host_agrees(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL); /* skips where there is none */
    weft_device_free(&device);
    for (int n_forms = 1; n_forms <= 2; ++n_forms) {
        check(2, 1, n_forms);
        check(2, 25, n_forms);
        check(2, 150, n_forms);
        check(3, 1, n_forms);
        check(3, 8, n_forms);
        check(3, 41, n_forms); /* 74088 nodes; planes 1764 apart */
    }
}

/* A form that asks for a cell's first vertex depends on the numbering, so owners cannot make it:
 * atomic additions do, and the host agrees. */
static void numbering_matters(void **state) {
    (void)state;
    static const char text[] = "parameter d = 2;\n"
                               "index cells, nodes;\n"
                               "connectivity dofs : cells -> nodes[d + 1];\n"
                               "input x : real[d] over nodes;\n"
                               "input u : real over nodes;\n"
                               "J = jacobian(x[dofs]);\n"
                               "U = u[dofs];\n"
                               "K = smmul(dshape_dot_dshape(tform_dshape(J), J), U[0]);\n";
    weft_device *device = gpu_open(NULL);
    weft_device_free(&device);
    problem both[2];
    weft_memory *u[2], *a[2];
    weft_error error = {0};
    for (int i = 0; i < 2; ++i) {
        problem *p = &both[i];
        problem_make(i == 0 ? "cuda" : "host", 3, 12, 1, p);
        weft_operator_free(&p->op);
        const size_t n = (size_t)p->f.n;
        double *values = malloc(n * sizeof *values);
        for (size_t k = 0; k < n; ++k)
            values[k] = 1 + sin((double)k);
        u[i] = fixture_vector(&p->f);
        gpu_check(weft_memory_write(u[i], 0, values, n * sizeof *values, &error), &error);
        free(values);
        weft_form_input inputs[] = {{"x", p->f.x}, {"u", u[i]}};
        p->forms[0].name = "first_vertex";
        p->forms[0].text = text;
        p->forms[0].n_expressions = 0;
        p->forms[0].inputs = inputs;
        p->forms[0].n_inputs = 2;
        gpu_check(weft_operator_make(&p->f.context, WEFT_ASSEMBLY_CSR, p->forms, 1, &p->op, &error),
                  &error);
        for (int iteration = 0; iteration < 2; ++iteration)
            gpu_check(weft_operator_assemble(p->op, &error), &error);
        gpu_check(weft_operator_matrix(p->op, &a[i], &error), &error);
    }
    compare("value", a[0], a[1], (size_t)weft_operator_pattern(both[1].op)->n_entries);
    for (int i = 0; i < 2; ++i) {
        weft_memory_free(&u[i]);
        problem_free(&both[i]);
    }
}

/* Assembled by owners and applied, twenty times: bitwise identical results. */
static void bits_repeat(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    weft_device_free(&device);
    problem p;
    weft_error error = {0};
    problem_make("cuda", 3, 20, 2, &p);
    weft_operator *op = p.op;
    weft_memory *v = fixture_vector(&p.f), *y = fixture_vector(&p.f), *a = NULL;
    const size_t n = (size_t)p.f.n;
    double *first = NULL, *values = malloc(n * sizeof *values);
    for (size_t i = 0; i < n; ++i)
        values[i] = sin((double)i);
    gpu_check(weft_memory_write(v, 0, values, n * sizeof *values, &error), &error);
    double *matrix = NULL;
    for (int i = 0; i < 20; ++i) {
        gpu_check(weft_operator_assemble(op, &error), &error);
        gpu_check(weft_operator_apply(op, v, y, &error), &error);
        gpu_check(weft_operator_matrix(op, &a, &error), &error);
        const size_t n_entries = (size_t)weft_operator_pattern(op)->n_entries;
        double *now = numbers(y, n), *entries = numbers(a, n_entries);
        if (first) {
            assert_memory_equal(now, first, n * sizeof *now);
            assert_memory_equal(entries, matrix, n_entries * sizeof *entries);
        }
        free(first);
        free(matrix);
        first = now;
        matrix = entries;
    }
    free(first);
    free(matrix);
    free(values);
    weft_memory_free(&v);
    weft_memory_free(&y);
    problem_free(&p);
}

/* Positions of local matrices are on the device, where kernels of scripts read them. */
static void the_device_has_the_positions(void **state) {
    (void)state;
    const char *const devices[2] = {"cuda", "host"};
    enum { LANES = 32, ENTRIES = 9 };
    uint32_t *positions[2];
    size_t n = 0;
    weft_device *device = gpu_open(NULL); /* skips where there is none */
    weft_device_free(&device);
    for (int i = 0; i < 2; ++i) {
        weft_error error = {0};
        weft_pattern *pattern = NULL;
        weft_memory *memory = NULL;
        fixture f = fixture_make(devices[i], 2, 20, WEFT_PLAN_FUSED);
        gpu_check(weft_pattern_make(f.device, f.cells, LANES, &pattern, &memory, &error), &error);
        n = (size_t)((f.mesh->n_cells + LANES - 1) / LANES) * LANES * ENTRIES;
        positions[i] = malloc(n * sizeof **positions);
        gpu_check(weft_memory_read(memory, 0, positions[i], n * sizeof **positions, &error),
                  &error);
        weft_memory_free(&memory);
        weft_pattern_free(&pattern);
        fixture_free(&f);
    }
    assert_memory_equal(positions[0], positions[1], n * sizeof **positions);
    free(positions[0]);
    free(positions[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_agrees),
        cmocka_unit_test(numbering_matters),
        cmocka_unit_test(bits_repeat),
        cmocka_unit_test(the_device_has_the_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
