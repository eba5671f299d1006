/* labels: quick */
/* A list that a kernel both reads at other rows and gives its next value has two memories in turn.
 * After a loop of any number of iterations it is where its owner put it. An emulated GPU's, for the
 * host's kernels read no rows. */
#include "core/weft_core.h"
#include "differential/device_batch.h"
#include "fusion/control/program.h"
#include "fusion/plan/plan.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "program_support.h"

enum { N = 70, ITERATIONS = 5 };

static const char text[] = "index nodes plain;\noperator A over nodes;\n"
                           "input z, p, r : real over nodes;\ninput s, trips : real;\n"
                           "repeat at most 5 while (s < trips) {\n"
                           "    update p = z + 2*p;\n    q = apply(A, p);\n"
                           "    update r = r - q;\n    update s = s + 1;\n}\n";

static program_case open_emulated(void) {
    const weft_fragment fragment = {"double_buffers.weft", text};
    const weft_operator_choice choice = {.name = "A", .product_kernel = "csr"};
    const weft_compile_options options = {
        .size = sizeof options, .operators = &choice, .n_operators = 1};
    weft_error error = {0};
    program_case c = {.own_library = true};
    if (!test_program_exists("g++"))
        skip_test("no g++ here");
    case_check(weft_library_make(&c.library, &error), &error);
    case_check(device_batch_open("emulated", &c.device, &error), &error);
    case_check(weft_compile(c.library, weft_device_limits(c.device), &fragment, 1, &options,
                            &c.compilation, &error),
               &error);
    case_check(weft_program_make(c.device, c.compilation, &c.program, &error), &error);
    return c;
}

static int double_buffers_of(const weft_compilation *c) {
    int n = 0;
    for (int i = 0; i < c->control->n_segments; ++i)
        for (int k = 0; k < c->control->segments[i]->plan->n_kernels; ++k) {
            const weft_plan_kernel *kernel = &c->control->segments[i]->plan->kernels[k];
            for (int a = 0; a < kernel->n_arguments; ++a)
                n += kernel->arguments[a].kind == ARGUMENT_DOUBLE_BUFFER;
        }
    return n;
}

static weft_memory *memory_of(program_case *c, const void *values, size_t bytes) {
    weft_error error = {0};
    weft_memory *made = NULL;
    case_check(weft_memory_make(c->device, bytes, &made, &error), &error);
    if (values != NULL)
        case_check(weft_memory_write(made, 0, values, bytes, &error), &error);
    c->memories[c->n_memories++] = made;
    return made;
}

/* y_i = 2 v_i - v_(i+1) */
static void bind_matrix(program_case *c) {
    static int64_t start[N + 1];
    static int32_t columns[2 * N];
    static double entries[2 * N];
    static weft_memory *memories[3];
    static const weft_product_arguments rows = {"csr", memories, 3, N, 0}; /* stays bound */
    weft_error error = {0};
    for (int i = 0; i < N; ++i) {
        start[i + 1] = 2 * i + 2;
        columns[2 * i] = i;
        columns[2 * i + 1] = (i + 1) % N;
        entries[2 * i] = 2;
        entries[2 * i + 1] = -1;
    }
    memories[0] = memory_of(c, start, sizeof start);
    memories[1] = memory_of(c, columns, sizeof columns);
    memories[2] = memory_of(c, entries, sizeof entries);
    case_check(weft_program_bind_product(c->program, "A", &rows, &error), &error);
}

static void check_list(const weft_memory *memory, const double *expected) {
    double found[N];
    weft_error error = {0};
    case_check(weft_memory_read(memory, 0, found, sizeof found, &error), &error);
    assert_same_bits(found, expected, N);
}

static void iterations(void **state) {
    (void)state;
    weft_error error = {0};
    program_case c = open_emulated();
    assert_true(double_buffers_of(c.compilation) > 0);
    weft_memory *z = memory_of(&c, NULL, N * sizeof(double)),
                *p = memory_of(&c, NULL, N * sizeof(double)),
                *r = memory_of(&c, NULL, N * sizeof(double)),
                *s = memory_of(&c, NULL, sizeof(double)),
                *wanted = memory_of(&c, NULL, sizeof(double));
    bind_matrix(&c);
    case_check(weft_program_size(c.program, "nodes", N, &error), &error);
    case_check(weft_program_bind(c.program, "z", z, &error), &error);
    case_check(weft_program_bind(c.program, "p", p, &error), &error);
    case_check(weft_program_bind(c.program, "r", r, &error), &error);
    case_check(weft_program_bind(c.program, "s", s, &error), &error);
    case_check(weft_program_bind(c.program, "trips", wanted, &error), &error);
    for (int n = 0; n <= ITERATIONS; ++n) {
        double in[N], now[N], left[N];
        const double none = 0, limit = n;
        for (int i = 0; i < N; ++i) {
            in[i] = i % 7 - 3;
            now[i] = i % 5 - 2;
            left[i] = i;
        }
        case_check(weft_memory_write(z, 0, in, sizeof in, &error), &error);
        case_check(weft_memory_write(p, 0, now, sizeof now, &error), &error);
        case_check(weft_memory_write(r, 0, left, sizeof left, &error), &error);
        case_check(weft_memory_write(s, 0, &none, sizeof none, &error), &error);
        case_check(weft_memory_write(wanted, 0, &limit, sizeof limit, &error), &error);
        case_check(weft_program_run(c.program, &error), &error);
        for (int iteration = 0; iteration < n; ++iteration) {
            for (int i = 0; i < N; ++i)
                now[i] = in[i] + 2 * now[i];
            for (int i = 0; i < N; ++i)
                left[i] -= 2 * now[i] - now[(i + 1) % N];
        }
        check_list(z, in);
        check_list(p, now);
        check_list(r, left);
    }
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(iterations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
