/* Runs one variant of a function on a device and compares it with its reference. */
#include "apps/weft/tool.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Above the rounding errors of a few dozen operations and of quotients of random numbers near 0,
 * and below the errors of a wrong formula. */
static const double tolerance_double = 1e-11, tolerance_single = 1e-4;

enum { ARGUMENTS = 12, LARGE = 1003, SIDE = 67 };

/* Of emulated threads between barriers. */
static const char *const orders[] = {"in order", "in reverse", "from both ends"};

/* The data of one trial: plain on the host, the device's beside. */
typedef struct data {
    weft_memory *plain[ARGUMENTS + 1], *memory[ARGUMENTS]; /* the last plain one: expected */
    weft_memory *got; /* a result that is an argument of the second call */
} data;

/* Test all cases at one number of elements. */
typedef struct round_data {
    const weft_tool_cross_check *test_case;
    weft_device *device;
    weft_program *program;
    data data[WEFT_TEST_CASES_MAX];
    int64_t n;             /* elements; of nested functions pairs: rows * columns */
    int64_t rows, columns; /* of nested functions; pair (i, j) is element i * columns + j */
    int lanes;
    bool single;
    int order;   /* of emulated threads */
    bool second; /* the call that is checked is the one of its own result */
} round_data;

/* Portable random numbers in [-1, 1]: the linear congruential generator of Numerical Recipes. */
static double next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (double)(1u << 23) - 1.0;
}

/* Make square matrices and vertex lists of simplices non-singular, and square matrices with a row more below. */
static void fill(const weft_test_operand *operand, int64_t n, bool positive, bool single,
                 uint32_t *state, double *out) {
    const int columns = operand->rank == 2 ? operand->sizes[1] : 0;
    const int more = operand->rank == 2 ? operand->sizes[0] - columns : -1;
    const int first = more == 1 && columns > 3 ? 0 : more;
    for (int64_t i = 0; i < n; ++i)
        for (int c = 0; c < operand->n; ++c) {
            double value = next_random(state);
            if (positive)
                value = 1 + 0.5 * value;
            if ((first == 0 || first == 1) && c / columns - first == c % columns)
                value += 2 + columns;
            if (operand->values)
                value = operand->values[c];
            out[i * operand->n + c] = single ? (double)(float)value : value;
        }
}

/* The number of elements of a list over these index sets, and one of the elements of the function
 * (pairs) that have the list's element e. */
static int64_t list_length(const round_data *r, const weft_test_case *test_case, int over) {
    if (!test_case->nested)
        return r->n;
    return (over & 1 ? r->rows : 1) * (over & 2 ? r->columns : 1);
}

static int64_t element_with(const round_data *r, const weft_test_case *test_case, int over,
                            int64_t e) {
    return test_case->nested && over == 1 ? e * r->columns : e;
}

/* Give all pairs of a row, of a column, or all pairs the same value. */
static void share(const round_data *r, const weft_test_operand *operand, double *values) {
    for (int64_t i = 0; operand->over != 3 && i < r->n; ++i) {
        const int64_t from = operand->over == 1   ? i - i % r->columns
                             : operand->over == 2 ? i % r->columns
                                                  : 0;
        if (from != i)
            memcpy(values + i * operand->n, values + from * operand->n,
                   (size_t)operand->n * sizeof *values);
    }
}

static double *values_of(const weft_memory *memory) {
    return weft_memory_host(memory);
}

/* On the emulated device a map is called a second time, with its result in place of the argument
 * that this returns; -1: no argument has the result's shape. The two calls share a kernel, whose
 * barriers depend on their thread patterns. */
static int chained_argument(const weft_tool_cross_check *check, const weft_device *device, int k) {
    const weft_test_case *test_case = &check->test_cases.list[k];
    const weft_test_operand *result = &test_case->result;
    for (int i = 0; i < test_case->n_arguments; ++i)
        if (device == check->emulated && !test_case->reduction && !test_case->line &&
            test_case->arguments[i].over == result->over &&
            test_case->arguments[i].rank == result->rank &&
            memcmp(test_case->arguments[i].sizes, result->sizes,
                   (size_t)result->rank * sizeof *result->sizes) == 0)
            return i;
    return -1;
}

/* Expected results of every element, by the reference or from the test case.
 * chained  the argument whose value is the device's result; -1: none */
static weft_status expect(const round_data *r, int k, int chained, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_test_case *test_case = &r->test_case->test_cases.list[k];
    const data *d = &r->data[k];
    const int m = test_case->result.n;
    weft_memory *arguments[ARGUMENTS + 1];
    char kernel[32];
    double *expected = values_of(d->plain[ARGUMENTS]);
    for (int64_t i = 0; test_case->result.values && i < r->n * m; ++i)
        expected[i] = test_case->result.values[i % m];
    if (test_case->result.values)
        goto done;
    for (int i = 0; i < test_case->n_arguments; ++i)
        arguments[i] = i == chained ? d->got : d->plain[i];
    arguments[test_case->n_arguments] = d->plain[ARGUMENTS];
    snprintf(kernel, sizeof kernel, "trial_%d", k);
    const weft_launch launch = {.module = r->test_case->references,
                                .kernel = kernel,
                                .arguments = arguments,
                                .n_arguments = test_case->n_arguments + 1,
                                .n_elements = r->n,
                                .lanes = 1};
    TRY(weft_device_launch(r->test_case->host, &launch, error));
    TRY(weft_device_wait(r->test_case->host, error));
done:
    return status;
}

static int64_t count_odd(const double *values, int64_t n) {
    int64_t odd = 0;
    for (int64_t i = 0; i < n; ++i)
        odd += !isfinite(values[i]);
    return odd;
}

/* Numbers of either sign, unless more of the results are numbers for positive ones. */
static weft_status choose_values(const round_data *r, int k, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_test_case *test_case = &r->test_case->test_cases.list[k];
    int64_t odd[2] = {0, 0}, count = r->n * test_case->result.n;
    for (int iteration = 0; iteration < 3; ++iteration) {
        bool positive = iteration == 1 || (iteration == 2 && odd[1] < odd[0]);
        uint32_t state = r->test_case->seed + 7919u * (uint32_t)k + (uint32_t)r->n;
        for (int i = 0; i < test_case->n_arguments; ++i) {
            fill(&test_case->arguments[i], r->n, positive, r->single, &state,
                 values_of(r->data[k].plain[i]));
            if (test_case->nested)
                share(r, &test_case->arguments[i], values_of(r->data[k].plain[i]));
        }
        TRY(expect(r, k, -1, error));
        if (iteration == 2 ||
            (iteration == 0 && count_odd(values_of(r->data[k].plain[ARGUMENTS]), count) == 0))
            break;
        odd[iteration] = count_odd(values_of(r->data[k].plain[ARGUMENTS]), count);
    }
done:
    return status;
}

/* An argument in the layout of the device: lists of nested functions are not interleaved. */
static void lay_out(const round_data *r, int k, int i, double *out) {
    const weft_test_case *test_case = &r->test_case->test_cases.list[k];
    const weft_test_operand *operand = &test_case->arguments[i];
    const double *plain = values_of(r->data[k].plain[i]);
    if (!test_case->nested)
        weft_interleave(plain, r->n, operand->n, r->lanes, out);
    for (int64_t e = 0; test_case->nested && e < list_length(r, test_case, operand->over); ++e)
        memcpy(out + e * operand->n,
               plain + element_with(r, test_case, operand->over, e) * operand->n,
               (size_t)operand->n * sizeof *out);
}

static weft_status give(round_data *r, int k, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_test_case *test_case = &r->test_case->test_cases.list[k];
    const weft_test_operand *operand = &test_case->arguments[i];
    const int64_t blocks = (r->n + r->lanes - 1) / r->lanes;
    const int64_t elements =
        test_case->nested ? list_length(r, test_case, operand->over) : blocks * r->lanes;
    const size_t count = (size_t)elements * (size_t)operand->n;
    const size_t bytes = count * (r->single ? sizeof(float) : sizeof(double));
    char name[32];
    double *values = malloc(count * sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, NULL));
    lay_out(r, k, i, values);
    for (size_t c = 0; r->single && c < count; ++c) { /* converted to float in place */
        float value = (float)values[c];
        memcpy((char *)values + c * sizeof value, &value, sizeof value);
    }
    snprintf(name, sizeof name, "a_%d_%d", k, i);
    TRY(weft_memory_make(r->device, bytes, &r->data[k].memory[i], error));
    TRY(weft_memory_write(r->data[k].memory[i], 0, values, bytes, error));
    TRY(weft_program_bind(r->program, name, r->data[k].memory[i], error));
done:
    free(values);
    return status;
}

/* The elements that a result combines: first, first + step, ... */
typedef struct members {
    int64_t first, step, n;
} members;

static members members_of(const round_data *r, const weft_test_case *test_case, int64_t e) {
    const int over = test_case->nested ? test_case->result.over : 0;
    return over == 1   ? (members){e * r->columns, 1, r->columns}
           : over == 2 ? (members){e, r->columns, r->rows}
                       : (members){0, 1, r->n};
}

/* The number of elements of the result. */
static int64_t result_length(const round_data *r, const weft_test_case *test_case) {
    const bool uniform = test_case->reduction || test_case->n_arguments == 0;
    return test_case->nested ? list_length(r, test_case, test_case->result.over)
           : uniform         ? 1
                             : r->n;
}

/* Combine the contributions to each result of a reduction by an operator, in the result's place, as `join`. */
static weft_status fold(const round_data *r, int k, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_test_case *test_case = &r->test_case->test_cases.list[k];
    const size_t m = (size_t)test_case->result.n;
    weft_memory *list[] = {r->data[k].got};
    double *values = values_of(r->data[k].plain[ARGUMENTS]), *all = values_of(r->data[k].got);
    char kernel[32];
    snprintf(kernel, sizeof kernel, "fold_%d", k);
    for (int64_t e = 0; e < result_length(r, test_case); ++e) {
        const members of = members_of(r, test_case, e);
        for (int64_t i = 0; i < of.n; ++i)
            memcpy(all + (size_t)i * m, values + (size_t)(of.first + i * of.step) * m,
                   m * sizeof *all);
        const weft_launch launch = {.module = r->test_case->references,
                                    .kernel = kernel,
                                    .arguments = list,
                                    .n_arguments = 1,
                                    .n_elements = of.n,
                                    .lanes = 1};
        TRY(weft_device_launch(r->test_case->host, &launch, error));
        TRY(weft_device_wait(r->test_case->host, error));
        memcpy(values + (size_t)e * m, all, m * sizeof *all);
    }
done:
    return status;
}

static weft_status prepare(round_data *r, int k, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_test_case *test_case = &r->test_case->test_cases.list[k];
    for (int i = 0; i < test_case->n_arguments; ++i)
        TRY(weft_memory_make(r->test_case->host,
                             (size_t)r->n * (size_t)test_case->arguments[i].n * sizeof(double),
                             &r->data[k].plain[i], error));
    TRY(weft_memory_make(r->test_case->host,
                         (size_t)r->n * (size_t)test_case->result.n * sizeof(double),
                         &r->data[k].plain[ARGUMENTS], error));
    TRY(weft_memory_make(r->test_case->host,
                         (size_t)r->n * (size_t)test_case->result.n * sizeof(double),
                         &r->data[k].got, error));
    TRY(choose_values(r, k, error));
    if (test_case->combine)
        TRY(fold(r, k, error));
    for (int i = 0; i < test_case->n_arguments; ++i)
        TRY(give(r, k, i, error));
done:
    return status;
}

/* Combine the contributions to result e of a reduction, in their place; a sum's magnitudes are added
 * to `scale`. Results that follow do not need those that are overwritten. */
static void join(const round_data *r, const weft_test_case *test_case, int64_t e, double *values,
                 double *scale) {
    const int m = test_case->result.n;
    const members all = members_of(r, test_case, e);
    for (int c = 0; c < m; ++c) {
        double total = values[all.first * m + c];
        for (int64_t i = 0; i < all.n; ++i) {
            const double next = values[(all.first + i * all.step) * m + c];
            *scale += test_case->reduction == '+' ? fabs(next) : 0;
            if (i > 0)
                total = test_case->reduction == '+'   ? total + next
                        : test_case->reduction == '*' ? total * next
                        : test_case->reduction == '<' ? fmin(total, next)
                                                      : fmax(total, next);
        }
        values[e * m + c] = total;
    }
}

static void print_values(const weft_test_operand *operand, const double *values, weft_text *out) {
    weft_text_add(out, "%s = ", operand->name);
    for (int c = 0; c < operand->n && c < 16; ++c)
        weft_text_add(out, "%s%.9g", c ? ", " : operand->rank ? "[" : "", values[c]);
    weft_text_add(out, "%s%s", operand->n > 16 ? ", ..." : "", operand->rank ? "]" : "");
}

/* Report a wrong component of an element's result. */
typedef struct difference {
    int64_t specialisation;
    int component;
    double got, expected, error;
} difference;

static void describe(const round_data *r, int k, const difference *d, weft_text *out) {
    const weft_test_case *test_case = &r->test_case->test_cases.list[k];
    weft_text_add(out, "%s%s", r->single ? "float" : "double",
                  test_case->line       ? ", example "
                  : test_case->sizes[0] ? ", "
                                        : "");
    weft_text_add(out, "%s: element %lld of %lld", test_case->sizes, (long long)d->specialisation,
                  (long long)result_length(r, test_case));
    if (test_case->result.rank)
        weft_text_add(out, ", component %d", d->component);
    if (r->device == r->test_case->emulated)
        weft_text_add(out, ", threads %s%s", orders[r->order],
                      r->second ? ", applied to its own result" : "");
    weft_text_add(out, ": %.9g, but the %s says %.9g (error %.2g)\n", d->got,
                  test_case->line ? "example" : "reference", d->expected, d->error);
    if (test_case->line || test_case->reduction || r->second)
        return;
    weft_text_add(out, "        with ");
    for (int i = 0; i < test_case->n_arguments; ++i) {
        weft_text_add(out, "%s", i ? ", " : "");
        print_values(&test_case->arguments[i],
                     values_of(r->data[k].plain[i]) + d->specialisation * test_case->arguments[i].n,
                     out);
    }
    weft_text_add(out, "; --seed %u\n", r->test_case->seed);
    if (test_case->sizes[0] && !r->single)
        weft_text_add(
            out,
            "        hint: if %s is not meant for %s, say so above its bodies with a line "
            "//@ where\n",
            r->test_case->info.name, test_case->sizes);
}

/* Is a result by an operator within the numbers of the precision? That of many elements may not be, as a product of a
 * thousand factors. */
static bool is_within(const round_data *r, const double *result, int m) {
    const double most = r->single ? 1e30 : 1e250;
    bool is = true;
    for (int c = 0; c < m; ++c)
        is &= fabs(result[c]) <= most && (result[c] == 0 || fabs(result[c]) >= 1 / most);
    return is || r->n <= r->lanes + 1;
}

static void compare(const round_data *r, int k, const double *results, weft_tool_outcome *out) {
    const weft_test_case *test_case = &r->test_case->test_cases.list[k];
    const int m = test_case->result.n;
    double *expected = values_of(r->data[k].plain[ARGUMENTS]);
    for (int64_t i = 0; i < result_length(r, test_case); ++i) {
        double scale = 0.1;
        if (test_case->combine && !is_within(r, expected + i * m, m))
            continue;
        if (test_case->reduction && !test_case->combine)
            join(r, test_case, i, expected, &scale);
        for (int c = 0; c < m; ++c)
            if (isfinite(expected[i * m + c]))
                scale = fmax(scale, fabs(expected[i * m + c]));
        for (int c = 0; c < m; ++c) {
            const double a = results[i * m + c], b = expected[i * m + c];
            const bool same = isfinite(b) ? false : isnan(b) ? isnan(a) : a == b;
            const double e = same ? 0 : fabs(a - b) / scale;
            if (!isnan(out->worst) && !(e <= out->worst)) /* also true for NaN, which stays */
                out->worst = e;
            if (!(e <= out->tolerance) && !out->failure.data)
                describe(r, k, &(difference){i, c, a, b, e}, &out->failure);
        }
    }
}

/* A result as [element][component]. */
static weft_status read_result(const round_data *r, int k, const char *name, double *results,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_test_case *test_case = &r->test_case->test_cases.list[k];
    const bool plain = test_case->nested || test_case->reduction || test_case->n_arguments == 0;
    const int64_t elements =
        plain ? result_length(r, test_case) : (r->n + r->lanes - 1) / r->lanes * r->lanes;
    const size_t count = (size_t)elements * (size_t)test_case->result.n;
    double *values = malloc(count * sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_memory_read(weft_program_result(r->program, name), 0, values,
                         count * (r->single ? sizeof(float) : sizeof(double)), error));
    for (size_t i = count; r->single && i-- > 0;) { /* converted to double in place, from the end */
        float value;
        memcpy(&value, (const char *)values + i * sizeof value, sizeof value);
        values[i] = value;
    }
    if (plain)
        memcpy(results, values, count * sizeof *values);
    else
        weft_deinterleave(values, r->n, test_case->result.n, r->lanes, results);
done:
    free(values);
    return status;
}

static weft_status check(round_data *r, int k, weft_tool_outcome *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int chained = chained_argument(r->test_case, r->device, k);
    double *results = values_of(r->data[k].got);
    char name[32];
    snprintf(name, sizeof name, "r_%d", k);
    TRY(read_result(r, k, name, results, error));
    compare(r, k, results, out);
    if (chained < 0)
        goto done;
    TRY(expect(r, k, chained, error));
    snprintf(name, sizeof name, "c_%d", k);
    TRY(read_result(r, k, name, results, error));
    r->second = true;
    compare(r, k, results, out);
    r->second = false;
done:
    return status;
}

static weft_status run_round(round_data *r, weft_tool_outcome *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n_trials = r->test_case->test_cases.n;
    const bool nested = r->test_case->test_cases.list[0].nested;
    TRY(weft_program_size(r->program, "N", nested ? r->rows : r->n, error));
    if (nested)
        TRY(weft_program_size(r->program, "M", r->columns, error));
    for (int k = 0; k < n_trials; ++k)
        TRY(prepare(r, k, error));
    TRY(weft_program_run(r->program, error));
    for (int k = 0; k < n_trials; ++k)
        TRY(check(r, k, out, error));
done:
    for (int k = 0; k < n_trials; ++k)
        for (int i = 0; i <= ARGUMENTS; ++i) {
            weft_memory_free(&r->data[k].plain[i]);
            if (i < ARGUMENTS)
                weft_memory_free(&r->data[k].memory[i]);
        }
    for (int k = 0; k < n_trials; ++k)
        weft_memory_free(&r->data[k].got);
    return status;
}

static void print_type(const weft_test_operand *operand, weft_text *out) {
    weft_text_add(out, "real");
    for (int i = 0; i < operand->rank; ++i)
        weft_text_add(out, "%s%d%s", i ? "," : "[", operand->sizes[i],
                      i + 1 == operand->rank ? "]" : "");
}

/* A call with its own inputs, or with its first result in place of one of them. */
static void print_call(const weft_tool_cross_check *test_case, int k, int chained, weft_text *out) {
    const weft_test_case *t = &test_case->test_cases.list[k];
    const char *name = chained < 0 ? "r" : "c";
    weft_text_add(out, "%s_%d = %s(", name, k, test_case->info.name);
    for (int i = 0; i < t->n_arguments; ++i)
        if (i == chained)
            weft_text_add(out, "%sr_%d", i ? ", " : "", k);
        else
            weft_text_add(out, "%sa_%d_%d", i ? ", " : "", k, i);
    weft_text_add(out, "%s);\nreturn %s_%d;\n",
                  t->n_arguments || !t->keys[0] ? t->keys : t->keys + 2, name, k);
}

/* The calls of all test cases. */
static void print_script(const weft_tool_cross_check *test_case, const weft_device *device,
                         weft_text *out) {
    static const char *const over[] = {"", " over N", " over M", " over N, M"};
    const bool nested = test_case->test_cases.list[0].nested;
    weft_text_add(out, "index N%s;\n", nested ? ", M" : "");
    for (int k = 0; k < test_case->test_cases.n; ++k) {
        const weft_test_case *t = &test_case->test_cases.list[k];
        for (int i = 0; i < t->n_arguments; ++i) {
            weft_text_add(out, "input a_%d_%d : ", k, i);
            print_type(&t->arguments[i], out);
            weft_text_add(out, "%s;\n", over[nested ? t->arguments[i].over : 1]);
        }
    }
    for (int k = 0; k < test_case->test_cases.n; ++k) {
        const int chained = chained_argument(test_case, device, k);
        print_call(test_case, k, -1, out);
        if (chained >= 0)
            print_call(test_case, k, chained, out);
    }
}

weft_status weft_tool_try(const weft_tool_cross_check *test_case, weft_device *device, int variant,
                          bool single, weft_tool_outcome *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text script = {0};
    weft_compilation *compilation = NULL;
    round_data r = {.test_case = test_case, .device = device, .single = single};
    const weft_variant_choice choice = {test_case->info.name, variant};
    const weft_compile_options options = {.size = sizeof options,
                                          .plan = device == test_case->emulated ? WEFT_PLAN_FUSED
                                                                                : WEFT_PLAN_UNFUSED,
                                          .single = single,
                                          .variants = &choice,
                                          .n_variants = 1};
    out->tolerance = single ? tolerance_single : tolerance_double;
    print_script(test_case, device, &script);
    if (script.failed)
        TRY(weft_out_of_memory(error, NULL));
    const weft_fragment fragment = {"a test of this function", script.data};
    TRY(weft_compile(test_case->library, weft_device_limits(device), &fragment, 1, &options,
                     &compilation, error));
    TRY(weft_program_make(device, compilation, &r.program, error));
    r.lanes = weft_program_lanes(r.program);
    const bool nested = test_case->test_cases.list[0].nested;
    const int64_t sizes[] = {1, r.lanes - 1, r.lanes, r.lanes + 1, nested ? SIDE : LARGE};
    const int64_t rows[] = {1, 3, r.lanes + 1, 2, SIDE};
    const int n_orders = device == test_case->emulated ? (int)(sizeof orders / sizeof *orders) : 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes * (size_t)n_orders; ++i) {
        r.columns = sizes[i / (size_t)n_orders];
        r.rows = nested ? rows[i / (size_t)n_orders] : 1;
        r.n = r.rows * r.columns;
        r.order = (int)(i % (size_t)n_orders);
        if (device == test_case->emulated)
            weft_tool_emulated_order(device, r.order);
        if (r.n > 0)
            TRY(run_round(&r, out, error));
    }
    if (out->failure.failed)
        status = weft_out_of_memory(error, NULL);
done:
    weft_program_free(&r.program);
    weft_compilation_free(&compilation);
    weft_text_free(&script);
    return status;
}
