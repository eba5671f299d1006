/* Polynomials in D^-1 A: Chebyshev of the fourth kind with optimised weights, as a smoother of
 * multigrid and as a preconditioner of its own. */
#include "fem/precondition/precondition.h"

#include "core/base/fault.h"
#include "core/weft_core.h"

#include <stdlib.h>

/* Lottes 2022, table 1: they minimise the largest value over x in (0, 1) of |p(x)| / sqrt(x) times
 * a constant, to which the reduction of a two-grid cycle is proportional. */
static const double weights[WEFT_CHEBYSHEV_DEGREE_MAX][WEFT_CHEBYSHEV_DEGREE_MAX] = {
    {1.12500000000000},
    {1.02387287570313, 1.26408905371085},
    {1.00842544782028, 1.08867839208730, 1.33753125909618},
    {1.00391310427285, 1.04035811188593, 1.14863498546254, 1.38268869241000},
    {1.00212930146164, 1.02173711549260, 1.07872433192603, 1.19810065292663, 1.41322542791682},
    {1.00128517255940, 1.01304293035233, 1.04678215124113, 1.11616489419675, 1.23829020218444,
     1.43524297106744},
};

double weft_chebyshev_weight(int degree, int i) {
    return weights[degree - 1][i - 1];
}

/* What is multiplied by A next is stored: computed in the product's kernel it would be computed for
 * every entry of a row, from two lists that are gathered instead of one. */
static const char *split_before(int i, int degree) {
    return i < degree ? "split;\n" : "";
}

/* Steps of D^-1 A and D^-1 b. */
static void append_scaled(weft_text *script, int degree, bool from_zero) {
    weft_text_add(script, from_zero ? "r1 = b;\n" : "r1 = b - apply(A, x0);\n");
    if (!from_zero) /* e1 is a multiple of r1, which is gathered in its place */
        weft_text_add(script, "%s", split_before(1, degree));
    weft_text_add(script, "e1 = 4/3*inverse*r1;\n");
    for (int i = 2; i <= degree; ++i) {
        const int m = i - 1;
        weft_text_add(script,
                      m == 1 ? "r2 = r1 - 4/3*inverse*apply(A, r1);\n"
                             : "r%d = r%d - apply(A, e%d);\n",
                      i, m, m);
        weft_text_add(script, "e%d = %d/%d*e%d + %d/%d*inverse*r%d;\n%s", i, 2 * m - 1, 2 * m + 3,
                      m, 8 * m + 4, 2 * m + 3, i, split_before(i, degree));
    }
}

/* The same with d = D^-1. Products q0, q1, ... have names, so that they can share memory; from zero b is in place of r1. */
static void append_plain(weft_text *script, int degree, unsigned how) {
    const bool from_zero = how & (WEFT_CHEBYSHEV_FROM_ZERO | WEFT_CHEBYSHEV_STARTED);
    if (!from_zero)
        weft_text_add(script, "q0 = apply(A, x0);\nr1 = b - q0;\n");
    if (!(how & WEFT_CHEBYSHEV_STARTED))
        weft_text_add(script, "e1 = 4/3*inverse*d*%s;\n%s", from_zero ? "b" : "r1",
                      split_before(1, degree));
    for (int i = 2; i <= degree; ++i) {
        const int m = i - 1;
        weft_text_add(script, "q%d = apply(A, e%d);\n", m, m);
        if (m > 1)
            weft_text_add(script, "r%d = r%d - q%d;\n", i, m, m);
        else /* r1 is not stored beside e1 */
            weft_text_add(script, "r2 = %s - q1;\n",
                          from_zero ? "b" : "select(d > 0, e1/(4/3*inverse*d), 0)");
        weft_text_add(script, "e%d = %d/%d*e%d + %d/%d*inverse*d*r%d;\n%s", i, 2 * m - 1, 2 * m + 3,
                      m, 8 * m + 4, 2 * m + 3, i, split_before(i, degree));
    }
}

void weft_chebyshev_append(weft_text *script, int degree, unsigned how) {
    const bool from_zero = how & (WEFT_CHEBYSHEV_FROM_ZERO | WEFT_CHEBYSHEV_STARTED);
    if (how & WEFT_CHEBYSHEV_SCALED)
        append_scaled(script, degree, from_zero);
    else
        append_plain(script, degree, how);
    weft_text_add(script, from_zero ? "x = " : "x = x0 + ");
    for (int i = 1; i <= degree; ++i)
        weft_text_add(
            script, "%s%.15g*e%d", i > 1 ? " + " : "",
            weights[degree - 1 - (weft_fault("weights_of_lower_degree") && degree > 1)][i - 1], i);
    weft_text_add(script, ";\n");
}

/* ---- the preconditioner ---- */

typedef struct chebyshev {
    weft_memory *d, *inverse;
    weft_eigenvalue_steps bound;
    weft_compiled compiled;
    weft_operator_in_script in_script;
} chebyshev;

static void chebyshev_free(weft_preconditioner *preconditioner) {
    chebyshev *state = preconditioner->state;
    if (!state)
        return;
    weft_eigenvalue_steps_clear(&state->bound);
    weft_compiled_free(&state->compiled);
    weft_operator_in_script_free(&state->in_script);
    weft_memory_free(&state->d);
    weft_memory_free(&state->inverse);
    free(state);
    preconditioner->state = NULL;
}

static weft_status compile(weft_preconditioner *preconditioner, int degree, weft_error *error) {
    weft_status status = WEFT_OK;
    chebyshev *state = preconditioner->state;
    weft_text text = {0};
    weft_text_add(&text, "index nodes plain;\noperator A over nodes;\n"
                         "input b, d : real over nodes;\ninput inverse : real;\n");
    weft_chebyshev_append(&text, degree, WEFT_CHEBYSHEV_FROM_ZERO);
    weft_text_add(&text, "return x;\n");
    if (text.failed)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    const weft_fragment fragment = {"chebyshev.weft", text.data};
    TRY(weft_operator_in_script_make(preconditioner->problem.op, &state->in_script, error));
    const weft_operator_choice choice = weft_operator_in_script_choice(&state->in_script, "A");
    const weft_compile_options options = {
        .size = sizeof options, .operators = &choice, .n_operators = 1};
    TRY(weft_compiled_make(preconditioner->context, &fragment, 1, &options, &state->compiled,
                           error));
done:
    weft_text_free(&text);
    return status;
}

static weft_status bind(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    chebyshev *state = preconditioner->state;
    weft_program *program = state->compiled.program;
    TRY(weft_program_size(program, "nodes", weft_operator_dofs(preconditioner->problem.op), error));
    TRY(weft_program_bind(program, "d", state->d, error));
    TRY(weft_program_bind(program, "inverse", state->inverse, error));
    TRY(weft_operator_in_script_bind(&state->in_script, program, "A", error));
done:
    return status;
}

/* Compute what depends on the operator's values. */
static weft_status chebyshev_update(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    chebyshev *state = preconditioner->state;
    weft_operator *op = preconditioner->problem.op;
    weft_preconditioner_level *level = &preconditioner->report.levels[0];
    TRY(weft_inverse_diagonal(&preconditioner->problem, preconditioner->context, state->d, NULL,
                              error));
    TRY(weft_eigenvalue_bound(preconditioner->context, &state->bound, op, state->d, &level->lambda,
                              error));
    const double inverse = 1 / level->lambda;
    TRY(weft_memory_write(state->inverse, 0, &inverse, sizeof inverse, error));
done:
    return status;
}

static weft_status chebyshev_make(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    enum { DEGREE = 3 };
    weft_preconditioner_report *report = &preconditioner->report;
    weft_device *device = preconditioner->context->device;
    const int64_t n = weft_operator_dofs(preconditioner->problem.op);
    const int wanted = preconditioner->problem.degree;
    if (wanted < 0 || wanted > WEFT_CHEBYSHEV_DEGREE_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "the degree of a smoother is 1 to %d",
                           WEFT_CHEBYSHEV_DEGREE_MAX));
    chebyshev *state = preconditioner->state = calloc(1, sizeof *state);
    if (!state)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    report->degree = wanted > 0 ? wanted : DEGREE;
    report->levels[0].n_rows = n;
    report->levels[0].n_entries = weft_operator_entries(preconditioner->problem.op);
    TRY(weft_memory_make(device, (size_t)n * sizeof(double), &state->d, error));
    TRY(weft_memory_make(device, sizeof(double), &state->inverse, error));
    TRY(compile(preconditioner, report->degree, error));
    TRY(bind(preconditioner, error));
    TRY(chebyshev_update(preconditioner, error));
done:
    return status;
}

static weft_status chebyshev_apply(weft_preconditioner *preconditioner, weft_memory *r,
                                   weft_memory *z, weft_error *error) {
    weft_status status = WEFT_OK;
    const chebyshev *state = preconditioner->state;
    TRY(weft_program_bind(state->compiled.program, "b", r, error));
    TRY(weft_program_bind(state->compiled.program, "x", z, error));
    TRY(weft_program_run(state->compiled.program, error));
done:
    return status;
}

/* d, and in a polynomial the residual, the step and the sum */
static size_t chebyshev_estimate_memory(const weft_operator_sizes *sizes, int dimension) {
    (void)dimension;
    return 4 * sizeof(double) * sizes->n_rows;
}

const weft_preconditioner_kind weft_preconditioner_chebyshev = {
    .info = {.name = "chebyshev", .help = "a polynomial in D^-1 A"},
    .make = chebyshev_make,
    .update = chebyshev_update,
    .apply = chebyshev_apply,
    .free = chebyshev_free,
    .estimate_memory = chebyshev_estimate_memory,
};
