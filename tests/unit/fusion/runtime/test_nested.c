/* labels: quick */
/* Nested map and reduce: the sequences of BLAS functions of Filipovic et al. 2015, table 1, and
 * other scripts over two index sets, fused and unfused, on the host and as CUDA text run thread by
 * thread. All numbers are small integers, so that every order of additions gives the same sums,
 * which plain loops give too. */
#include "emulated_gpu.h"
#include "fusion/plan/plan.h"
#include "fusion/runtime/runtime.h"
#include "program_support.h"

enum { MOST = 130 };

/* The data of all sequences, by the names of the scripts: matrices [m][n], vectors over rows [m] and
 * over columns [n]. */
typedef struct data {
    int64_t m, n;
    double A[MOST * MOST], B[MOST * MOST], u1[MOST], u2[MOST], y[MOST], r[MOST];
    double v1[MOST], v2[MOST], z[MOST], x[MOST], p[MOST];
    double alpha, beta;
    double matrix[MOST * MOST], rows[MOST], columns[MOST], number; /* expected results */
} data;

static void fill(double *list, int64_t n, int64_t stride, int64_t modulus) {
    for (int64_t i = 0; i < n; ++i)
        list[i] = (double)(i * stride % modulus) - (double)(modulus / 2);
}

static data *data_make(int64_t m, int64_t n) {
    data *d = calloc(1, sizeof *d);
    assert_non_null(d);
    d->m = m;
    d->n = n;
    fill(d->A, m * n, 7, 5);
    fill(d->B, m * n, 5, 7);
    fill(d->u1, m, 3, 5);
    fill(d->u2, m, 2, 3);
    fill(d->y, m, 5, 3);
    fill(d->r, m, 4, 5);
    fill(d->v1, n, 2, 5);
    fill(d->v2, n, 5, 3);
    fill(d->z, n, 11, 9);
    fill(d->x, n, 3, 4);
    fill(d->p, n, 5, 4);
    d->alpha = 2;
    d->beta = -1;
    return d;
}

/* y = A x, added to y; y = A^T x. */
static void multiply(const data *d, const double *A, const double *x, double *y) {
    for (int64_t i = 0; i < d->m; ++i) {
        y[i] = 0;
        for (int64_t j = 0; j < d->n; ++j)
            y[i] += A[i * d->n + j] * x[j];
    }
}

static void multiply_transposed(const data *d, const double *A, const double *x, double *y) {
    for (int64_t j = 0; j < d->n; ++j) {
        y[j] = 0;
        for (int64_t i = 0; i < d->m; ++i)
            y[j] += A[i * d->n + j] * x[i];
    }
}

static void atax(data *d) {
    double y[MOST];
    multiply(d, d->A, d->x, y);
    multiply_transposed(d, d->A, y, d->columns);
}

static void bicgk(data *d) {
    multiply(d, d->A, d->p, d->rows);
    multiply_transposed(d, d->A, d->r, d->columns);
}

static void sgemv(data *d) {
    multiply(d, d->A, d->x, d->rows);
    for (int64_t i = 0; i < d->m; ++i)
        d->rows[i] = d->alpha * d->rows[i] + d->beta * d->y[i];
}

static void transposed_then_plain(data *d, const double *A) {
    multiply_transposed(d, A, d->y, d->columns);
    for (int64_t j = 0; j < d->n; ++j)
        d->columns[j] = d->beta * d->columns[j] + d->z[j];
    multiply(d, A, d->columns, d->rows);
    for (int64_t i = 0; i < d->m; ++i)
        d->rows[i] *= d->alpha;
}

static void sgemvt(data *d) {
    transposed_then_plain(d, d->A);
}

static void gemver(data *d) {
    for (int64_t i = 0; i < d->m; ++i)
        for (int64_t j = 0; j < d->n; ++j)
            d->matrix[i * d->n + j] =
                d->A[i * d->n + j] + d->u1[i] * d->v1[j] + d->u2[i] * d->v2[j];
    transposed_then_plain(d, d->matrix);
}

static void gesummv(data *d) {
    double other[MOST];
    multiply(d, d->A, d->x, d->rows);
    multiply(d, d->B, d->x, other);
    for (int64_t i = 0; i < d->m; ++i)
        d->rows[i] = d->alpha * d->rows[i] + d->beta * other[i];
}

static void madd(data *d) {
    for (int64_t k = 0; k < d->m * d->n; ++k)
        d->matrix[k] = d->A[k] + d->B[k];
}

/* Largest entry of every row and every column, and the sum of all. */
static void norms(data *d) {
    for (int64_t i = 0; i < d->m; ++i) {
        d->rows[i] = -INFINITY;
        for (int64_t j = 0; j < d->n; ++j) {
            d->rows[i] = fmax(d->rows[i], d->A[i * d->n + j]);
            d->number += d->A[i * d->n + j];
        }
    }
    for (int64_t j = 0; j < d->n; ++j) {
        d->columns[j] = -INFINITY;
        for (int64_t i = 0; i < d->m; ++i)
            d->columns[j] = fmax(d->columns[j], d->A[i * d->n + j]);
    }
}

/* A is overwritten where a later pass over the same row would read it. */
static void overwrite(data *d) {
    multiply(d, d->A, d->x, d->rows);
    multiply_transposed(d, d->A, d->rows, d->columns);
    for (int64_t i = 0; i < d->m; ++i)
        for (int64_t j = 0; j < d->n; ++j)
            d->matrix[i * d->n + j] = d->A[i * d->n + j] + d->u1[i] * d->v1[j];
}

/* What reads the old A is used again in the pass after the one that could overwrite it. */
static void overwrite_reader(data *d) {
    double q[MOST];
    multiply(d, d->A, d->x, q);
    for (int64_t j = 0; j < d->n; ++j) {
        d->columns[j] = 0;
        for (int64_t i = 0; i < d->m; ++i)
            d->columns[j] += (2 * d->A[i * d->n + j] + q[i]) * d->r[i];
    }
    memcpy(d->rows, q, sizeof q);
    memcpy(d->matrix, d->B, sizeof d->B);
}

/* The same, and the later pass needs what the new A gives. */
static void overwrite_needed(data *d) {
    multiply(d, d->B, d->x, d->rows);
    for (int64_t j = 0; j < d->n; ++j) {
        d->columns[j] = 0;
        for (int64_t i = 0; i < d->m; ++i)
            d->columns[j] += (2 * d->A[i * d->n + j] + d->rows[i]) * d->r[i];
    }
    memcpy(d->matrix, d->B, sizeof d->B);
}

/* What the new A gives is not stored, and computed again in the second pass: A must not be. */
static void overwrite_recomputed(data *d) {
    multiply(d, d->B, d->x, d->rows);
    for (int64_t k = 0; k < d->m * d->n; ++k)
        d->matrix[k] = d->A[k] * d->B[k];
    for (int64_t j = 0; j < d->n; ++j) {
        d->columns[j] = 0;
        for (int64_t i = 0; i < d->m; ++i)
            d->columns[j] += (d->B[i * d->n + j] + d->matrix[i * d->n + j]) * d->rows[i];
    }
}

/* Columns of A are closed for q, then its rows for s: two passes over A. */
static void chain(data *d) {
    double y[MOST];
    multiply_transposed(d, d->A, d->r, y);
    multiply(d, d->A, y, d->rows);
    multiply_transposed(d, d->A, d->rows, d->columns);
}

/* An argument that must be uniform, computed from uniform values. */
static void scaled(data *d) {
    multiply(d, d->A, d->x, d->rows);
    for (int64_t i = 0; i < d->m; ++i)
        d->rows[i] *= 3 * d->alpha + d->beta;
}

typedef struct sequence {
    const char *name; /* file of docs/examples/blas, if text is NULL */
    const char *text;
    void (*expect)(data *);
    const char *matrix, *rows, *columns, *number; /* names of results; NULL: none */
    int passes; /* kernels over the matrix, if everything is fused */
} sequence;

static const char *const largest =
    "//@ function  row_max(A: real over i, j) -> y: real over i\n"
    "//@ kind      reduce max\n//@ flops     1\n"
    "//@ source    max_j A_ij\n//@ threads   1\ny = A;\n\n"
    "//@ function  column_max(A: real over i, j) -> y: real over j\n"
    "//@ kind      reduce max\n//@ flops     1\n"
    "//@ source    max_i A_ij\n//@ threads   1\ny = A;\n\n"
    "//@ function  scaled(A: real over i, j, x: real over j, s: real)"
    " -> y: real over i\n"
    "//@ kind      reduce +\n//@ flops     2\n"
    "//@ source    s A x\n//@ threads   1\ny = s * A * x;\n";

static const sequence sequences[] = {
    {"atax", NULL, atax, NULL, NULL, "y", NULL, 1},
    {"bicgk", NULL, bicgk, NULL, "q", "s", NULL, 1},
    {"sgemv", NULL, sgemv, NULL, "z", NULL, NULL, 1},
    {"sgemvt", NULL, sgemvt, NULL, "w", "x", NULL, 1},
    {"gemver", NULL, gemver, "B", "w", "x", NULL, 1},
    {"gesummv", NULL, gesummv, NULL, "y", NULL, NULL, 1},
    {"madd", NULL, madd, "C", NULL, NULL, NULL, 0},
    {"norms",
     "index rows, cols;\ninput A : real over rows, cols;\n"
     "high = row_max(A);\nwide = column_max(A);\nall = sum(A);\nreturn high, wide, all;\n",
     norms, NULL, "high", "wide", "all", 1},
    {"overwrite",
     "index rows, cols;\ninput A : real over rows, cols;\ninput x, v1 : real over cols;\n"
     "input u1 : real over rows;\nq = gemv(A, x);\ns = gemtv(A, q);\n"
     "update A = ger(A, u1, v1);\nreturn q, s;\n",
     overwrite, "A", "q", "s", NULL, 1},
    {"overwrite_reader",
     "index rows, cols;\ninput A, B : real over rows, cols;\ninput x : real over cols;\n"
     "input r : real over rows;\nC = 2*A;\nq = gemv(A, x);\nupdate A = 1*B;\n"
     "s = gemtv(C + q, r);\nreturn q, s;\n",
     overwrite_reader, "A", "q", "s", NULL, 1},
    {"chain",
     "index rows, cols;\ninput A : real over rows, cols;\ninput r : real over rows;\n"
     "y = gemtv(A, r);\nq = gemv(A, y);\ns = gemtv(A, q);\nreturn q, s;\n",
     chain, NULL, "q", "s", NULL, 2},
    {"scaled",
     "index rows, cols;\ninput A : real over rows, cols;\ninput x : real over cols;\n"
     "input alpha, beta : real;\nt = 3*alpha;\nq = scaled(A, x, t + beta);\nreturn q;\n",
     scaled, NULL, "q", NULL, NULL, 1},
    {"overwrite_needed",
     "index rows, cols;\ninput A, B : real over rows, cols;\ninput x : real over cols;\n"
     "input r : real over rows;\nC = 2*A;\nupdate A = 1*B;\nq = gemv(A, x);\n"
     "s = gemtv(C + q, r);\nreturn q, s;\n",
     overwrite_needed, "A", "q", "s", NULL, 1},
    {"overwrite_recomputed",
     "index rows, cols;\ninput A, B : real over rows, cols;\ninput x : real over cols;\n"
     "q = gemv(B, x);\nupdate A = A*B;\ns = gemtv(B + A, q);\nreturn q, s;\n",
     overwrite_recomputed, "A", "q", "s", NULL, 1},
};

static char *script_of(const sequence *s) {
    char path[1024];
    if (s->text != NULL)
        return strdup(s->text);
    snprintf(path, sizeof path, "%s/docs/examples/blas/%s.weft", getenv("WEFT_SOURCE"), s->name);
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 4096);
    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, 4095, file) > 0);
    fclose(file);
    return text;
}

/* ---- running ---- */

typedef struct setting {
    const char *device; /* "emulated": CUDA text on the host */
    weft_plan_kind plan;
    bool single;
} setting;

static program_case open_case(const setting *how, const char *text) {
    const weft_compile_options options = {
        .size = sizeof options, .plan = how->plan, .single = how->single};
    weft_error error = {0};
    weft_library *library = NULL;
    case_check(weft_library_make(&library, &error), &error);
    case_check(weft_library_add_text(library, "largest.kernel.c", largest, &error), &error);
    program_case c;
    if (strcmp(how->device, "emulated") == 0) {
        const weft_device_options device_options = weft_device_options_default(NULL);
        weft_device *device = NULL;
        case_check(weft_device_open("host:1", &device_options, &device, &error), &error);
        emulated_gpu_make(device);
        device->limits.multiprocessors = 3; /* parts of several slices in small matrices */
        c = case_open_on(library, device, text, &options);
    } else
        c = case_open(library, how->device, text, &options);
    c.own_library = true;
    return c;
}

static void bind_inputs(program_case *c, const data *d) {
    const struct {
        const char *name;
        const double *values;
    } inputs[] = {{"A", d->A}, {"B", d->B},          {"u1", d->u1},     {"u2", d->u2}, {"y", d->y},
                  {"r", d->r}, {"v1", d->v1},        {"v2", d->v2},     {"z", d->z},   {"x", d->x},
                  {"p", d->p}, {"alpha", &d->alpha}, {"beta", &d->beta}};
    const weft_graph *graph = case_segment(c)->graph;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; ++i)
        for (int k = 0; k < graph->n_values; ++k)
            if (graph->values[k].is_input && strcmp(graph->values[k].name, inputs[i].name) == 0)
                case_input(c, inputs[i].name, inputs[i].values);
}

static void compare(const program_case *c, const sequence *s, const char *name,
                    const double *expected, int64_t n) {
    if (name == NULL)
        return;
    double *found = case_result(c, name);
    for (int64_t i = 0; i < n; ++i)
        if (found[i] != expected[i])
            fail_msg("%s: %s[%lld] is %g, expected %g", s->name, name, (long long)i, found[i],
                     expected[i]);
    free(found);
}

static void check(program_case *c, const sequence *s, int64_t m, int64_t n) {
    data *d = data_make(m, n);
    case_size(c, "rows", m);
    case_size(c, "cols", n);
    bind_inputs(c, d);
    s->expect(d);
    case_run(c);
    compare(c, s, s->matrix, d->matrix, m * n);
    compare(c, s, s->rows, d->rows, m);
    compare(c, s, s->columns, d->columns, n);
    compare(c, s, s->number, &d->number, 1);
    free(d);
}

static const int64_t sizes[][2] = {{1, 1},   {7, 9},   {9, 7},    {8, 16},   {33, 31}, {64, 65},
                                   {100, 3}, {3, 100}, {129, 17}, {17, 129}, {0, 5},   {5, 0}};

/* Every so many sequences from the first; every step-th size, one after another with one program. */
static void check_some(const setting *how, size_t first, size_t every, size_t step) {
    for (size_t i = first; i < sizeof sequences / sizeof *sequences; i += every) {
        char *text = script_of(&sequences[i]);
        program_case c = open_case(how, text);
        for (size_t k = i % step; k < sizeof sizes / sizeof *sizes; k += step)
            check(&c, &sequences[i], sizes[k][0], sizes[k][1]);
        case_close(&c);
        free(text);
    }
}

static void on_host(void **state) {
    (void)state;
    check_some(&(setting){"host:1", WEFT_PLAN_FUSED, false}, 0, 1, 1);
    check_some(&(setting){"host:3", WEFT_PLAN_FUSED, true}, 0, 2, 1);
    check_some(&(setting){"host:2", WEFT_PLAN_UNFUSED, false}, 1, 2, 1);
}

static void on_gpu_text(void **state) {
    (void)state;
    check_some(&(setting){"emulated", WEFT_PLAN_FUSED, false}, 0, 1, 2);
    check_some(&(setting){"emulated", WEFT_PLAN_UNFUSED, true}, 0, 2, 3);
}

/* The rule of slices (a sum of matrices has none: its elements are those of one list): with unlimited fusion every sequence is one kernel over the matrix. */
static void passes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; ++i) {
        char *text = script_of(&sequences[i]);
        program_case c = open_case(&(setting){"null:h200", WEFT_PLAN_FUSED, true}, text);
        const weft_plan *plan = case_segment(&c)->plan;
        int n = 0;
        for (int k = 0; k < plan->n_kernels; ++k)
            n += plan->kernels[k].kind == KERNEL_NESTED;
        if (n != sequences[i].passes)
            fail_msg("%s has %d kernels over the matrix, expected %d", sequences[i].name, n,
                     sequences[i].passes);
        case_close(&c);
        free(text);
    }
}

/* A panel of columns has 256 to 32,768 rows; for others there is a second plan. */
static void plan_for_sizes(void **state) {
    static const int64_t tried[][2] = {{1024, 64},  {64, 1024},  {1024, 64}, {16384, 32},
                                       {17000, 32}, {32768, 32}, {33000, 32}};
    const bool first[] = {true, false, true, true, true, true, false};
    double *list = calloc(33000 * 32, sizeof *list), number = 1;
    (void)state;
    assert_non_null(list);
    char *text = script_of(&(sequence){.name = "sgemvt"});
    program_case c = open_case(&(setting){"null:h200", WEFT_PLAN_FUSED, true}, text);
    for (size_t i = 0; i < sizeof tried / sizeof *tried; ++i) {
        case_size(&c, "rows", tried[i][0]);
        case_size(&c, "cols", tried[i][1]);
        case_input(&c, "A", list);
        case_input(&c, "y", list);
        case_input(&c, "z", list);
        case_input(&c, "alpha", &number);
        case_input(&c, "beta", &number);
        case_run(&c);
        const weft_program_segment *segment = c.program->segments[0];
        assert_int_equal(segment->segment == segment->first, first[i]);
    }
    case_close(&c);
    free(text);
    free(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_host),
        cmocka_unit_test(on_gpu_text),
        cmocka_unit_test(passes),
        cmocka_unit_test(plan_for_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
