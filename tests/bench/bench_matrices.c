/* Local matrices of forms with nodal coefficients, which are stored: time of a cell, by bodies of the last function.
 *
 *      bench_matrices [DEVICE] [--cells N] [--form NAME] [--variant V] [--float]
 *
 *  Without options: cuda, 200,000 cells, all forms, the planner's choice of bodies. Cells and coefficients are random. On null:h200
 *  kernels are compiled alone, and what they take is printed. Host figures are processor time, of host:1. */
#include "forms_support.h"

#include "core/weft_launch.h"

#include <stdio.h>
#include <time.h>

enum { GROUPS = 7, RUNS = 4 };

typedef struct bench_form {
    const char *name, *text;
} bench_form;

#define SCALAR(CELL, P)                                                                            \
    "e = FiniteElement('Lagrange', " CELL ", " P ")\nf = Coefficient(e)\n"                         \
    "a = f*inner(grad(TrialFunction(e)), grad(TestFunction(e)))*dx\n"
#define ELASTICITY(CELL, P)                                                                        \
    "V = VectorElement('Lagrange', " CELL ", " P ")\n"                                             \
    "E = Coefficient(FiniteElement('Lagrange', " CELL ", " P "))\n"                                \
    "u, v = TrialFunction(V), TestFunction(V)\neps = lambda w: sym(grad(w))\n"                     \
    "a = E*(2*inner(eps(u), eps(v)) + 0.7*div(u)*div(v))*dx\n"
static const bench_form forms[] = {{"P2_tetrahedra", SCALAR("tetrahedron", "2")},
                                   {"P3_tetrahedra", SCALAR("tetrahedron", "3")},
                                   {"elasticity_P2_tetrahedra", ELASTICITY("tetrahedron", "2")},
                                   {"elasticity_Q1_hexahedra", ELASTICITY("hexahedron", "1")},
                                   {"P4_tetrahedra", SCALAR("tetrahedron", "4")},
                                   {"Q2_hexahedra", SCALAR("hexahedron", "2")},
                                   {"P2_triangles", SCALAR("triangle", "2")},
                                   {"elasticity_P1_tetrahedra", ELASTICITY("tetrahedron", "1")}};

typedef struct options {
    const char *device, *form;
    int cells, variant;
    bool single;
} options;

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Median seconds of a run: of the device's timer, on the host processor time. */
static weft_status time_program(weft_device *device, weft_program *program, double *seconds,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_timer *timer = NULL;
    const bool on_host = weft_device_limits(device)->execution == WEFT_EXECUTION_SIMD;
    double taken[GROUPS];
    TRY(weft_timer_make(device, &timer, error));
    for (int g = -1; g < GROUPS; ++g) {
        double all = 0;
        const double start = processor_seconds();
        TRY(weft_timer_start(timer, error));
        for (int i = 0; i < RUNS; ++i)
            TRY(weft_program_run(program, error));
        TRY(weft_timer_stop(timer, error));
        TRY(weft_timer_seconds(timer, &all, error));
        if (on_host)
            all = processor_seconds() - start;
        if (g >= 0)
            taken[g] = all / RUNS;
    }
    qsort(taken, GROUPS, sizeof *taken, compare);
    *seconds = taken[GROUPS / 2];
done:
    weft_timer_free(&timer);
    return status;
}

/* In [0, 1) */
static double random_number(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.;
}

/* Vertices of the reference cell, displaced; coefficients about 1. */
static weft_status bind(forms_job *job, const forms_way *way, const ufl_lowered *lowered, int k,
                        uint64_t *state, weft_error *error) {
    weft_status status = WEFT_OK;
    const ufl_function_argument *argument = &lowered->arguments[k];
    const int size = forms_argument_size(argument);
    const ufl_mesh *mesh = lowered->integral->mesh;
    const weft_cell *cell = weft_cell_of(ufl_weft_cell(mesh->cell));
    double *plain = calloc((size_t)job->n * (size_t)size, sizeof *plain);
    if (!plain)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < job->n * size; ++i) {
        const int at = i % size;
        const double middle = k > 0 ? 1 : cell->vertices[at / mesh->gdim][at % mesh->gdim];
        plain[i] = middle + 0.1 * random_number(state);
    }
    TRY(forms_bind(job, way, k, argument->name, plain, size, error));
done:
    free(plain);
    return status;
}

static void print_kernels(const weft_compilation *compilation, weft_module *module) {
    for (int i = 0; module && i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info info;
        weft_kernel_resources used;
        weft_compilation_kernel(compilation, i, &info);
        if (weft_module_kernel_resources(module, info.name, &used, NULL) == WEFT_OK)
            printf("    %-60.60s regs %3d stack %5d spill %d + %d B\n", info.name, used.registers,
                   used.stack_bytes, used.spill_store_bytes, used.spill_load_bytes);
    }
}

static weft_status run_form(const options *o, weft_device *device, const bench_form *form,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_ufl *ufl = NULL;
    weft_module *module = NULL;
    weft_text script = {0};
    forms_job job = {.n = o->cells, .single = o->single};
    const forms_way way = {device, o->single, 0};
    uint64_t state = 1;
    double seconds = 0;
    TRY(weft_ufl_read_text("forms.ufl", form->text, strlen(form->text), NULL, &ufl, error));
    ufl->context.error = error;
    const ufl_lowered *lowered =
        ufl_lower_integral(&ufl->graph, ufl->prepared[0], 0, "tensor", NULL);
    if (!lowered)
        TRY(error->status);
    weft_variant_choice choice = {lowered->name, o->variant};
    const weft_compile_options how = {.size = sizeof how,
                                      .elements = o->cells,
                                      .single = o->single,
                                      .variants = &choice,
                                      .n_variants = o->variant >= 0};
    forms_script(lowered, &script);
    const weft_fragment fragment = {"tensors", script.data};
    TRY(weft_library_make(&job.library, error));
    TRY(ufl_lowered_add(&lowered, 1, job.library, error));
    TRY(weft_compile(job.library, weft_device_limits(device), &fragment, 1, &how, &job.compilation,
                     error));
    TRY(weft_compilation_correct(job.compilation, device, error));
    printf("%-26s %3d x %-3d %7ld flop/cell ", form->name, lowered->sizes[0], lowered->sizes[1],
           lowered->flops);
    if (weft_device_limits(device)->records_only)
        printf("\n");
    else {
        TRY(weft_program_make(device, job.compilation, &job.program, error));
        TRY(weft_program_size(job.program, "cells", job.n, error));
        for (int k = 0; k < lowered->n_arguments; ++k)
            TRY(bind(&job, &way, lowered, k, &state, error));
        TRY(time_program(device, job.program, &seconds, error));
        printf("%8.2f ns/cell\n", 1e9 * seconds / job.n);
    }
    if (weft_device_limits(device)->execution == WEFT_EXECUTION_SIMT) {
        TRY(weft_module_make(device, form->name, weft_compilation_source(job.compilation), &module,
                             error));
        print_kernels(job.compilation, module);
    }
    fflush(stdout);
done:
    weft_module_free(&module);
    weft_text_free(&script);
    forms_job_free(&job);
    weft_ufl_free(&ufl);
    return status;
}

static bool parse(int argc, char **argv, options *o) {
    *o = (options){.device = "cuda", .cells = 200000, .variant = -1};
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--float") == 0)
            o->single = true;
        else if (argv[i][0] != '-')
            o->device = argv[i];
        else if (i + 1 == argc)
            return false;
        else if (strcmp(argv[i], "--cells") == 0)
            o->cells = atoi(argv[++i]);
        else if (strcmp(argv[i], "--variant") == 0)
            o->variant = atoi(argv[++i]);
        else if (strcmp(argv[i], "--form") == 0)
            o->form = argv[++i];
        else
            return false;
    }
    return o->cells > 0;
}

int main(int argc, char **argv) {
    options o;
    weft_device *device = NULL;
    weft_error error = {0};
    if (!parse(argc, argv, &o)) {
        fprintf(stderr, "usage: bench_matrices [DEVICE] [--cells N] [--form NAME] [--variant V] "
                        "[--float]\n");
        return 2;
    }
    if (weft_device_open(o.device, NULL, &device, &error) != WEFT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 3;
    }
    int failed = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
        if (!o.form || strcmp(o.form, forms[i].name) == 0) {
            const weft_status status = run_form(&o, device, &forms[i], &error);
            if (status != WEFT_OK)
                printf("%s: %s\n", forms[i].name, error.message);
            failed |= status != WEFT_OK;
        }
    weft_device_free(&device);
    return failed ? 3 : 0;
}
