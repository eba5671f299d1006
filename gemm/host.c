/* Computes dense products on the host: divides them among its threads. */
#include "gemm/kernels.h"

#include <stdlib.h>

static int least(int64_t a, int64_t b) {
    return (int)(a < b ? a : b);
}

/* ---- the choice of a kernel ----------------------------------------------------------------- */

/* Share of the work of tiles that C needs, less for tiles that are not whole: those are packed. */
static double filled(const weft_gemm_shape *shape, int mr, int nr, int lanes) {
    enum { IN_FLIGHT = 8 };
    const double rows = (double)((shape->m + mr - 1) / mr * mr);
    const double columns = (double)((shape->n + nr - 1) / nr * nr);
    const double share = (double)shape->m / rows * ((double)shape->n / columns);
    const double sums = (double)mr / lanes * nr;
    return share * (sums < IN_FLIGHT ? sums / IN_FLIGHT : 1 + 0.01 * sums) *
           (rows > (double)shape->m || columns > (double)shape->n ? 0.8 : 1);
}

/* A complex sum has two products of each k: half as many at once, so that it is as exact as one of real
 * numbers. */
weft_gemm_point weft_gemm_host_default(const weft_gemm_shape *shape,
                                       const weft_gemm_limits *limits) {
    enum { FEW = 64, KC = 256, COMPLEX_KC = 128, MC = 192, NC = 4080 };
    const bool complex = weft_gemm_is_complex(shape->type), many = limits->vector_registers >= 32;
    const int real_bytes = weft_gemm_element_bytes(shape->type) / (complex ? 2 : 1);
    const int lanes = limits->vector_bytes / real_bytes;
    int rows = complex ? (many ? 2 : 1) : limits->vector_bytes > 16 ? 3 : 2;
    int nr = complex ? (many ? 6 : 4) : many ? 8 : 4;
    if (!complex && shape->m <= FEW && shape->n <= FEW) {
        const int tallest = rows, widest = nr;
        double best = 0;
        for (int r = 1; r <= tallest; ++r)
            for (int w = 2; w <= widest; ++w)
                if (filled(shape, r * lanes, w, lanes) > best) {
                    best = filled(shape, r * lanes, w, lanes);
                    rows = r;
                    nr = w;
                }
    }
    const int mr = rows * lanes;
    return (weft_gemm_point){.stencil = WEFT_GEMM_HOST,
                             .values = {[HOST_MR] = mr,
                                        [HOST_NR] = nr,
                                        [HOST_KC] = complex ? COMPLEX_KC : KC,
                                        [HOST_MC] = MC / mr > 0 ? MC / mr * mr : mr,
                                        [HOST_NC] = NC}};
}

/* ---- threads -------------------------------------------------------------------------------- */

/* A share of the work is a range of the products of a batch, or of the columns of C, else of its rows. */
typedef enum division { BY_PRODUCTS, BY_COLUMNS, BY_ROWS } division;

typedef struct host_run {
    weft_gemm_kernels *kernels;
    const weft_module *module;
    const weft_gemm_product *product;
    division division;
    int64_t n, units; /* products; divided: products, columns or rows, in units of `unit` */
    int unit, tasks;
    weft_status status[WEFT_GEMM_TASKS];
    weft_error errors[WEFT_GEMM_TASKS];
} host_run;

/* Columns [first, last) of C, or rows. */
static void take_part(const host_run *run, int64_t first, int64_t last, weft_gemm_values *v) {
    const weft_gemm_product *p = run->product;
    if (run->division == BY_COLUMNS) {
        v->first_b += p->op_b == WEFT_GEMM_PLAIN ? first * p->b.ld : first;
        v->first_c += first * p->c.ld;
        v->n = (int)(last - first);
    } else {
        v->first_a += p->op_a == WEFT_GEMM_PLAIN ? first : first * p->a.ld;
        v->first_c += first;
        v->m = (int)(last - first);
    }
}

static void run_task(void *user, int64_t task) {
    host_run *run = user;
    const weft_gemm_product *p = run->product;
    const int64_t size = run->division == BY_PRODUCTS  ? run->n
                         : run->division == BY_COLUMNS ? p->n
                                                       : p->m;
    const int64_t first = least(size, run->units * task / run->tasks * run->unit);
    const int64_t last = least(size, run->units * (task + 1) / run->tasks * run->unit);
    weft_gemm_values values = weft_gemm_values_of(p, run->n, false);
    weft_memory *arguments[] = {p->a.memory, p->b.memory, p->c.memory, run->kernels->packed[task]};
    int64_t n = run->n;
    if (first >= last)
        return;
    if (run->division == BY_PRODUCTS) {
        n = last - first;
        values.first_a += first * values.stride_a;
        values.first_b += first * values.stride_b;
        values.first_c += first * values.stride_c;
    } else
        take_part(run, first, last, &values);
    weft_schedule schedule = {
        .n_colours = 1, .colour_start = (int64_t[]){0, 1}, .ranges = (int64_t[][2]){{0, n}}};
    run->status[task] = weft_device_launch(run->kernels->device,
                                           &(weft_launch){.module = run->module,
                                                          .kernel = "product",
                                                          .arguments = arguments,
                                                          .n_arguments = 4,
                                                          .values = &values,
                                                          .n_elements = n,
                                                          .lanes = 1,
                                                          .schedule = &schedule},
                                           &run->errors[task]);
}

/* A buffer for the packed operands of each task. */
static weft_status make_buffers(weft_gemm_kernels *kernels, int tasks, size_t bytes,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    if (kernels->n_packed < tasks) {
        weft_memory **packed = realloc(kernels->packed, (size_t)tasks * sizeof *packed);
        if (!packed)
            TRY(weft_out_of_memory(error, "packed matrices"));
        kernels->packed = packed;
        for (; kernels->n_packed < tasks; ++kernels->n_packed)
            packed[kernels->n_packed] = NULL;
    }
    for (int i = 0; i < tasks; ++i)
        if (!kernels->packed[i] || weft_memory_bytes(kernels->packed[i]) < bytes) {
            weft_memory_free(&kernels->packed[i]);
            TRY(weft_memory_make_unset(kernels->device, bytes, &kernels->packed[i], error));
        }
done:
    return status;
}

static void divide(host_run *run, const int *v) {
    enum { LEAST_WORK = 1 << 16 }; /* multiply-adds that are worth a thread */
    const weft_gemm_product *p = run->product;
    const int threads = weft_device_limits(run->kernels->device)->threads;
    const double work = (double)p->m * (double)p->n * (double)p->k * (double)run->n / LEAST_WORK;
    run->tasks = least(threads, work < WEFT_GEMM_TASKS ? 1 + (int64_t)work : WEFT_GEMM_TASKS);
    run->division = run->n > 1 ? BY_PRODUCTS : p->n >= p->m ? BY_COLUMNS : BY_ROWS;
    run->unit = run->division == BY_PRODUCTS  ? 1
                : run->division == BY_COLUMNS ? v[HOST_NR]
                                              : v[HOST_MR];
    const int64_t size = run->division == BY_PRODUCTS  ? run->n
                         : run->division == BY_COLUMNS ? p->n
                                                       : p->m;
    run->units = (size + run->unit - 1) / run->unit;
    run->tasks = least(run->tasks, run->units);
}

weft_status weft_gemm_host_run(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                               int64_t n, const weft_gemm_point *point, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_module *module = NULL;
    const int *v = point->values;
    host_run *run = calloc(1, sizeof *run);
    if (!run)
        TRY(weft_out_of_memory(error, "a product"));
    TRY(weft_gemm_module(kernels, product, n, point, &module, error));
    run->kernels = kernels;
    run->module = module;
    run->product = product;
    run->n = n;
    divide(run, v);
    const int64_t columns =
        (least(product->n, v[HOST_NC]) + v[HOST_NR] - 1) / v[HOST_NR] * v[HOST_NR];
    const size_t entries = (size_t)v[HOST_KC] * ((size_t)v[HOST_MC] + (size_t)columns);
    TRY(make_buffers(kernels, run->tasks, entries * (size_t)weft_gemm_element_bytes(product->type),
                     error));
    TRY(weft_device_for(kernels->device, run->tasks, run_task, run, error));
    for (int i = 0; i < run->tasks; ++i)
        if (run->status[i] != WEFT_OK) {
            if (error)
                *error = run->errors[i];
            TRY(run->status[i]);
        }
done:
    free(run);
    return status;
}
