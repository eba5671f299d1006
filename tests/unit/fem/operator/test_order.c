/* labels: full */
/* Forms whose values depend on the order of a cell's vertices, connectivities that are `ordered`, and forms that
 * depend on nothing of the kind, on the host and on an emulated GPU, by every assembly. The first two are never
 * computed by kernels that permute cells, and their matrices are those that C code assembles densely, cell by cell, in
 * the order of the vertices. The last are assembled by the owners of rows, also on small meshes.
 *
 * Tolerance: sums of some tens of terms of size one, in another order: 1e-11, as in test_agreement.c. */
#include "emulated_gpu.h"
#include "operator_fixture.h"

#include <stdarg.h>
#include <stdio.h>

#define TOLERANCE 1e-11

typedef struct order_case {
    const char *name, *text;
    bool from_first; /* the matrix of a cell is multiplied by 1 + y of its first vertex */
    bool permutes;   /* owners may compute it */
} order_case;

static const order_case cases[] = {
    {"symmetric",
     "parameter d = 2;\nindex cells, nodes;\nconnectivity dofs : cells -> nodes[d + 1];\n"
     "input x : real[d] over nodes;\nX = x[dofs];\nJ = jacobian(X);\n"
     "K = dshape_dot_dshape(tform_dshape(J), J);\n",
     false, true},
    {"ordered",
     "parameter d = 2;\nindex cells, nodes;\nconnectivity dofs : cells -> nodes[d + 1] ordered;\n"
     "input x : real[d] over nodes;\nX = x[dofs];\nJ = jacobian(X);\n"
     "K = dshape_dot_dshape(tform_dshape(J), J);\n",
     false, false},
    {"from the first vertex",
     "parameter d = 2;\nindex cells, nodes;\nconnectivity dofs : cells -> nodes[d + 1];\n"
     "input x : real[d] over nodes;\nX = x[dofs];\nJ = jacobian(X);\n"
     "K = (1 + X[0,1])*dshape_dot_dshape(tform_dshape(J), J);\n",
     true, false},
};

static const weft_assembly assemblies[] = {WEFT_ASSEMBLY_CSR, WEFT_ASSEMBLY_MATRIX_FREE,
                                           WEFT_ASSEMBLY_LMA, WEFT_ASSEMBLY_LMA_GATHER,
                                           WEFT_ASSEMBLY_SYMMETRIC};
enum { N_ASSEMBLIES = sizeof assemblies / sizeof *assemblies };

/* A += (1 + y of the first vertex) K. */
static double *dense(const fixture *f, const order_case *c) {
    double *A = calloc((size_t)(f->n * f->n), sizeof *A);
    assert_non_null(A);
    for (int64_t cell = 0; cell < f->mesh->n_cells; ++cell) {
        const int32_t *nodes = f->mesh->cells + cell * (f->d + 1);
        double g[4][3], volume = reference_gradients(f->mesh->x, nodes, f->d, g);
        const double k = c->from_first ? 1 + f->mesh->x[nodes[0] * f->d + 1] : 1;
        for (int i = 0; i <= f->d; ++i)
            for (int j = 0; j <= f->d; ++j)
                for (int a = 0; a < f->d; ++a)
                    A[nodes[i] * f->n + nodes[j]] += k * volume * g[i][a] * g[j][a];
    }
    return A;
}

/* What is logged of atomic additions and of owners. */
typedef struct said {
    int n_atomic, n_order;
    char last[512];
} said;

static void remember(void *user, weft_log_level level, const char *message) {
    said *s = user;
    (void)level;
    s->n_atomic += strstr(message, "by atomic additions, not row by row") != NULL;
    s->n_order += strstr(message, "is ordered") != NULL || strstr(message, "depend on the order");
    snprintf(s->last, sizeof s->last, "%s", message);
}

static void check_product(fixture *f, weft_operator *op, const double *A, const char *name) {
    weft_error error = {0};
    weft_memory *v = fixture_vector(f), *y = fixture_vector(f);
    double *values = weft_memory_host(v), *found = weft_memory_host(y);
    uint64_t state = 7;
    for (int64_t i = 0; i < f->n; ++i)
        values[i] = fixture_random(&state) - 0.5;
    if (weft_operator_apply(op, v, y, &error) != WEFT_OK)
        fail_msg("%s: %s", name, error.message);
    for (int64_t i = 0; i < f->n; ++i) {
        double expected = 0;
        for (int64_t j = 0; j < f->n; ++j)
            expected += A[i * f->n + j] * values[j];
        if (!(fabs(found[i] - expected) <= TOLERANCE))
            fail_msg("%s: row %d of a product is %.17g, not %.17g", name, (int)i, found[i],
                     expected);
    }
    weft_memory_free(&v);
    weft_memory_free(&y);
}

static void check_case(const order_case *c, int d, int side, bool gpu) {
    fixture f = fixture_make("host:1", d, side, WEFT_PLAN_FUSED);
    said heard = {0};
    const weft_monitor monitor = {.log = remember, .user = &heard};
    if (gpu)
        emulated_gpu_make(f.device);
    f.context.monitor = &monitor;
    weft_form_input input = {"x", f.x};
    weft_parameter dimension = {"d", d};
    const weft_form form = {.name = c->name,
                            .text = c->text,
                            .dofs = f.cells,
                            .inputs = &input,
                            .n_inputs = 1,
                            .parameters = &dimension,
                            .n_parameters = 1};
    double *A = dense(&f, c);
    for (int a = 0; a < N_ASSEMBLIES - gpu; ++a) { /* the product of the last one is not emulated */
        char name[128];
        weft_operator *op = NULL;
        weft_error error = {0};
        snprintf(name, sizeof name, "%s, %s, %d of %d, %s", c->name, gpu ? "GPU" : "host", side, d,
                 weft_assembly_name(assemblies[a]));
        heard = (said){0};
        if (weft_operator_make(&f.context, assemblies[a], &form, 1, &op, &error) != WEFT_OK ||
            weft_operator_assemble(op, &error) != WEFT_OK)
            fail_msg("%s: %s", name, error.message);
        const bool by_owners = assemblies[a] == WEFT_ASSEMBLY_CSR;
        if (gpu && (by_owners || assemblies[a] == WEFT_ASSEMBLY_MATRIX_FREE)) {
            if (by_owners && heard.n_atomic != !c->permutes)
                fail_msg("%s: %d times atomic: %s", name, heard.n_atomic, heard.last);
            if (heard.n_order != !c->permutes)
                fail_msg("%s: the order was named %d times: %s", name, heard.n_order, heard.last);
        }
        check_product(&f, op, A, name);
        weft_operator_free(&op);
    }
    free(A);
    fixture_free(&f);
}

static void check_all(bool gpu) {
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        for (int d = 2; d <= 3; ++d)
            check_case(&cases[k], d, d == 2 ? 9 : 5, gpu);
}

static void on_the_host(void **state) {
    (void)state;
    check_all(false);
}

static void on_a_gpu(void **state) {
    (void)state;
    check_all(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_the_host), cmocka_unit_test(on_a_gpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
