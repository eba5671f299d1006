/* weft plan diff: shows the differences of two saved plans. */
#include "apps/weft/tool.h"
#include "core/base/file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 1024 };

typedef struct saved_call {
    const char *name;
    int kernel, variant;
} saved_call;

/* elements, threads, iterations; 0: not stated */
typedef struct saved_block {
    int numbers[3];
} saved_block;

typedef struct saved_plan {
    const char *path;
    json_t *root;
    saved_block blocks[MOST_CALLS]; /* by kernel */
    saved_call calls[MOST_CALLS];
    int n_calls, n_kernels;
} saved_plan;

static const char *const block_keys[3] = {"elements", "threads", "iterations"};

static void take_plan(saved_plan *plan, const json_t *one) {
    const json_t *kernels = json_object_get(one, "kernels");
    for (size_t i = 0; i < json_array_size(kernels); ++i) {
        const json_t *calls = json_object_get(json_array_get(kernels, i), "calls");
        for (size_t k = 0; k < json_array_size(calls) && plan->n_calls < MOST_CALLS; ++k) {
            const json_t *call = json_array_get(calls, k);
            const char *name = json_string_value(json_object_get(call, "result"));
            plan->calls[plan->n_calls++] =
                (saved_call){name ? name : "", plan->n_kernels,
                             (int)json_integer_value(json_object_get(call, "variant"))};
        }
        if (json_array_size(calls) == 0 || plan->n_kernels == MOST_CALLS)
            continue;
        const json_t *block = json_object_get(json_array_get(kernels, i), "block");
        for (int k = 0; k < 3; ++k)
            plan->blocks[plan->n_kernels].numbers[k] =
                (int)json_integer_value(json_object_get(block, block_keys[k]));
        if (plan->blocks[plan->n_kernels].numbers[0] == 0) /* the key of older plans */
            plan->blocks[plan->n_kernels].numbers[0] =
                (int)json_integer_value(json_object_get(block, "instances"));
        ++plan->n_kernels;
    }
}

static weft_status read_plan(const char *path, saved_plan *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char *text = NULL;
    json_error_t reason;
    out->path = path;
    TRY(weft_file_read_as(path, WEFT_FILE_PLAN, &text, NULL, error));
    out->root = json_loads(text, 0, &reason);
    free(text);
    if (json_is_object(out->root))
        take_plan(out, out->root);
    for (size_t i = 0; i < json_array_size(out->root); ++i)
        take_plan(out, json_array_get(out->root, i));
    if (out->n_calls == 0) {
        status = weft_error_set(error, WEFT_ERROR_INPUT, "%s has no plan", path);
        weft_error_hint(error, "weft compile SCRIPT --print plan --format json > FILE writes one");
    }
done:
    return status;
}

static const saved_call *find_call(const saved_plan *plan, const char *name) {
    for (int i = 0; i < plan->n_calls; ++i)
        if (strcmp(plan->calls[i].name, name) == 0)
            return &plan->calls[i];
    return NULL;
}

/* "kernel 1: J, G" */
static void print_kernel(const saved_plan *plan, int kernel) {
    bool any = false;
    printf("    %s, kernel %d:", plan->path, kernel);
    for (int i = 0; i < plan->n_calls; ++i)
        if (plan->calls[i].kernel == kernel) {
            printf("%s %s", any ? "," : "", plan->calls[i].name);
            any = true;
        }
    printf("\n");
}

static bool has_kernel(const saved_plan *plan, const saved_plan *other, int kernel) {
    int there = -1, n = 0, n_there = 0;
    for (int i = 0; i < plan->n_calls; ++i) {
        if (plan->calls[i].kernel != kernel)
            continue;
        const saved_call *same = find_call(other, plan->calls[i].name);
        if (!same || (n > 0 && same->kernel != there))
            return false;
        there = same->kernel;
        ++n;
    }
    for (int i = 0; i < other->n_calls; ++i)
        n_there += other->calls[i].kernel == there;
    return n == n_there;
}

/* Print the kernels with equal calls and different blocks; returns their number. */
static int compare_blocks(const saved_plan *a, const saved_plan *b) {
    int differences = 0;
    for (int kernel = 0; kernel < a->n_kernels; ++kernel) {
        int call = 0;
        while (call < a->n_calls && a->calls[call].kernel != kernel)
            ++call;
        if (call == a->n_calls || !has_kernel(a, b, kernel))
            continue;
        const saved_call *same = find_call(b, a->calls[call].name);
        const saved_block *own = &a->blocks[kernel], *other = &b->blocks[same->kernel];
        for (int k = 0; k < 3; ++k) {
            if (own->numbers[k] == other->numbers[k])
                continue;
            printf("the kernel of '%s' has %d %s, and %d\n", same->name, own->numbers[k],
                   k == 0   ? "elements per block"
                   : k == 1 ? "threads per element"
                            : "iterations",
                   other->numbers[k]);
            ++differences;
        }
    }
    return differences;
}

static int compare_plans(const saved_plan *a, const saved_plan *b) {
    int differences = 0;
    printf("%s has %d kernel%s, %s has %d\n", a->path, a->n_kernels, a->n_kernels == 1 ? "" : "s",
           b->path, b->n_kernels);
    for (int side = 0; side < 2; ++side) {
        const saved_plan *plan = side == 0 ? a : b, *other = side == 0 ? b : a;
        for (int kernel = 0; kernel < plan->n_kernels; ++kernel)
            if (!has_kernel(plan, other, kernel)) {
                if (differences++ == 0)
                    printf("Kernels that only one has:\n");
                print_kernel(plan, kernel);
            }
    }
    for (int i = 0; i < a->n_calls; ++i) {
        const saved_call *same = find_call(b, a->calls[i].name);
        if (!same || same->variant == a->calls[i].variant)
            continue;
        printf("'%s' is done by variant %d, and by variant %d\n", same->name, a->calls[i].variant,
               same->variant);
        ++differences;
    }
    differences += compare_blocks(a, b);
    if (differences == 0)
        printf("The same calls share kernels, by the same variants, in the same blocks.\n");
    return differences > 0;
}

static const char doc[] =
    "Show the differences of two saved plans: kernels, their blocks, and variants of calls."
    "\v"
    "weft compile --print plan --format json saves a plan, and --plan-file uses it.\n"
    "\n"
    "Examples:\n"
    "  weft compile poisson.weft --format json > a.json\n"
    "  weft compile poisson.weft --plan unfused --format json > b.json\n"
    "  weft plan diff a.json b.json\n"
    "\n"
    "Exit status: 0 the plans are the same, 1 they differ.";

weft_status weft_tool_plan(int argc, char **argv, const weft_monitor *monitor, int *code,
                           weft_error *error) {
    (void)monitor;
    weft_status status = WEFT_OK;
    weft_tool_options options = {.n_arguments_max = 3};
    saved_plan *plans = calloc(2, sizeof *plans);
    if (!plans)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_tool_read(NULL, NULL, "diff FILE FILE", doc, argc, argv, &options, error));
    if (options.n_arguments != 3 || strcmp(options.arguments[0], "diff") != 0)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "two saved plans are compared",
                              "write weft plan diff A.json B.json"));
    TRY(read_plan(options.arguments[1], &plans[0], error));
    TRY(read_plan(options.arguments[2], &plans[1], error));
    *code = compare_plans(&plans[0], &plans[1]);
done:
    for (int i = 0; plans && i < 2; ++i)
        json_decref(plans[i].root);
    free(plans);
    weft_tool_clear(&options);
    return status;
}
