/* Products without a matrix by each way of keeping concurrent additions apart: time, prediction, and what the planner takes.
 *
 *      bench_scatter [DEVICE] [--contributions N] [--form NAME] [--single]
 *
 *  Without options: cuda, 3e7 numbers that cells add to the nodes, all forms, double. Meshes are ordered boxes. Every product is
 *  compared with the first one, by atomic additions, to 1e-11 (float: 1e-4) of the largest value. */
#include "core/weft_core.h"
#include "fem/form/form.h"
#include "fem/weft_fem.h"
#include "fem/weft_space.h"
#include "forms/weft_ufl.h"
#include "fusion/compile/compile.h"
#include "fusion/control/program.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 7, RUNS = 10 };

typedef struct options {
    const char *device, *form;
    double contributions;
    bool single;
} options;

typedef struct bench_form {
    const char *name;
    weft_cell_type cell;
    int degree, components;
    const char *script,
        *product; /* shipped scripts; NULL: the Laplacian of a form file, or of each component */
} bench_form;

static const bench_form forms[] = {
    {"P1 triangles", WEFT_TRIANGLE, 1, 1, "poisson.weft", "stiffness_product.weft"},
    {"P1 triangles, K v", WEFT_TRIANGLE, 1, 1, "poisson.weft", "product.weft"},
    {"P1 tetrahedra", WEFT_TETRAHEDRON, 1, 1, "poisson.weft", "stiffness_product.weft"},
    {"P1 tetrahedra, K v", WEFT_TETRAHEDRON, 1, 1, "poisson.weft", "product.weft"},
    {"elasticity, triangles", WEFT_TRIANGLE, 1, 2, NULL, NULL},
    {"elasticity, tetrahedra", WEFT_TETRAHEDRON, 1, 3, NULL, NULL},
    {"P2 triangles", WEFT_TRIANGLE, 2, 1, NULL, NULL},
    {"P3 triangles", WEFT_TRIANGLE, 3, 1, NULL, NULL},
    {"P2 tetrahedra", WEFT_TETRAHEDRON, 2, 1, NULL, NULL},
    {"P3 tetrahedra", WEFT_TETRAHEDRON, 3, 1, NULL, NULL},
    {"P2 tetrahedra, vectors", WEFT_TETRAHEDRON, 2, 3, NULL, NULL},
    {"Q1 quadrilaterals", WEFT_QUADRILATERAL, 1, 1, NULL, NULL},
    {"Q1 hexahedra", WEFT_HEXAHEDRON, 1, 1, NULL, NULL},
};

static const struct {
    const char *name;
    weft_scatter scatter;
} ways[] = {{"atomic", WEFT_SCATTER_IN_PLACE},
            {"gather", WEFT_SCATTER_GATHERED},
            {"vertex-patch", WEFT_SCATTER_VERTEX_PATCHES},
            {"edge-patch", WEFT_SCATTER_PATCHES},
            {"cell-patch", WEFT_SCATTER_CELL_PATCHES},
            {"cell-colored", WEFT_SCATTER_CELL_COLOURS}};
enum { WAYS = sizeof ways / sizeof *ways };

/* Of a product. */
typedef struct way_times {
    double seconds, predicted; /* 0: refused */
} way_times;

/* A form on a mesh, and what its products by each way took. */
typedef struct setting {
    const options *o;
    const bench_form *form;
    weft_context context;
    weft_mesh *mesh;
    weft_space *space, *corners;
    weft_ufl *ufl;
    weft_memory *v, *y, *x; /* x: coordinates as floats */
    double *hv, *hy, *first;
    bool has_first;
    weft_bound_form bound;
    weft_text product;
    way_times times[WAYS];
} setting;

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static weft_status make_mesh(setting *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const bench_form *form = s->form;
    const int d = weft_cell_of(form->cell)->dimension;
    const bool simplex = form->cell == WEFT_TRIANGLE || form->cell == WEFT_TETRAHEDRON;
    const double of_box = simplex ? (d == 2 ? 2 : 6) : 1;
    double nodes = 1;
    for (int i = 1; i <= d; ++i)
        nodes = simplex ? nodes * (form->degree + i) / i : nodes * (form->degree + 1);
    const double boxes = s->o->contributions / (nodes * form->components * of_box);
    const int64_t n = (int64_t)fmax(2, round(pow(boxes, 1. / d)));
    TRY(!simplex ? weft_mesh_make_boxes(form->cell, n, &s->mesh, error)
        : d == 2 ? weft_mesh_make_square(n, &s->mesh, error)
                 : weft_mesh_make_cube(n, &s->mesh, error));
    TRY(weft_mesh_order(s->context.device, s->mesh, WEFT_ORDERING_BISECTION, 0, NULL, NULL, error));
    const weft_element_kind element = {WEFT_LAGRANGE, form->degree};
    TRY(weft_space_make(s->context.device, s->mesh, element, form->components, &s->space, error));
    TRY(weft_space_make(s->context.device, s->mesh, WEFT_ELEMENT_P1, 1, &s->corners, error));
done:
    return status;
}

/* The coordinates as floats. */
static weft_status narrow_coordinates(setting *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *wide = weft_space_coordinates(s->corners);
    const size_t n = weft_memory_bytes(wide) / sizeof(double);
    double *x = malloc(n * sizeof *x);
    float *narrow = malloc(n * sizeof *narrow);
    if (!x || !narrow)
        TRY(weft_out_of_memory(error, "coordinates"));
    TRY(weft_memory_read(wide, 0, x, n * sizeof *x, error));
    for (size_t i = 0; i < n; ++i)
        narrow[i] = (float)x[i];
    TRY(weft_memory_make(s->context.device, n * sizeof *narrow, &s->x, error));
    TRY(weft_memory_write(s->x, 0, narrow, n * sizeof *narrow, error));
    weft_form_bind_input(&s->bound, "x", s->x);
done:
    free(x);
    free(narrow);
    return status;
}

/* The script of the form, bound to the mesh. */
static weft_status make_form(setting *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const bench_form *form = s->form;
    static const char *const names[] = {[WEFT_TRIANGLE] = "triangle",
                                        [WEFT_TETRAHEDRON] = "tetrahedron",
                                        [WEFT_QUADRILATERAL] = "quadrilateral",
                                        [WEFT_HEXAHEDRON] = "hexahedron"};
    const weft_ufl_problem *found = NULL;
    char text[400];
    if (form->script) {
        TRY(weft_form_ship(s->corners, form->script, weft_space_cells(s->space), &s->bound, error));
        weft_text_add(&s->product, "%s", weft_fem_script(form->product));
        goto done;
    }
    snprintf(text, sizeof text,
             "e = %s('Lagrange', %s, %d)\nu, v = TrialFunction(e), TestFunction(e)\n"
             "eps = lambda w: sym(grad(w))\na = %s*dx\n",
             form->components > 1 ? "VectorElement" : "FiniteElement", names[form->cell],
             form->degree,
             form->components > 1 ? "(2*inner(eps(u), eps(v)) + 0.7*div(u)*div(v))"
                                  : "inner(grad(u), grad(v))");
    TRY(weft_ufl_read_text("forms.ufl", text, strlen(text), NULL, &s->ufl, error));
    TRY(weft_ufl_problem_of(s->ufl, &found, error));
    TRY(weft_ufl_add_functions(s->ufl, s->context.library, error));
    weft_form_start("forms.ufl", found->parts[0].script, weft_space_cells(s->space), &s->bound);
    weft_form_bind_input(&s->bound, "x", weft_space_coordinates(s->corners));
    if (form->degree > 1)
        weft_form_bind_connectivity(&s->bound, "geometry", weft_space_cells(s->corners));
    if (found->parts[0].has_action)
        weft_text_add(&s->product, "%sy[dofs] += Kv;\nreturn y;\n", "");
    else
        weft_text_add(&s->product, "%s", weft_fem_script("product.weft"));
done:
    if (status == WEFT_OK && s->product.failed)
        status = weft_out_of_memory(error, "a script");
    return status;
}

static weft_status make_vectors(setting *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_space_dofs(s->space);
    const size_t bytes = (size_t)n * (s->o->single ? sizeof(float) : sizeof(double));
    s->hv = malloc((size_t)n * sizeof(double));
    s->hy = calloc((size_t)n, sizeof(double));
    s->first = calloc((size_t)n, sizeof(double));
    if (!s->hv || !s->hy || !s->first)
        TRY(weft_out_of_memory(error, "vectors"));
    for (int64_t i = 0; i < n; ++i) {
        const double value = sin((double)(i % 1013));
        s->hv[i] = value;
        if (s->o->single)
            ((float *)s->hv)[i] = (float)value;
    }
    TRY(weft_memory_make(s->context.device, bytes, &s->v, error));
    TRY(weft_memory_make(s->context.device, bytes, &s->y, error));
    TRY(weft_memory_write(s->v, 0, s->hv, bytes, error));
done:
    return status;
}

static weft_status time_program(const setting *s, weft_program *program, double *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_timer *timer = NULL;
    double taken[GROUPS];
    TRY(weft_timer_make(s->context.device, &timer, error));
    for (int g = -1; g < GROUPS; ++g) {
        TRY(weft_timer_start(timer, error));
        for (int i = 0; i < RUNS; ++i)
            TRY(weft_program_run(program, error));
        TRY(weft_timer_stop(timer, error));
        TRY(weft_timer_seconds(timer, &taken[g < 0 ? 0 : g], error));
    }
    qsort(taken, GROUPS, sizeof *taken, compare);
    *out = taken[GROUPS / 2] / RUNS;
done:
    weft_timer_free(&timer);
    return status;
}

/* Did the plan take this way? */
static bool takes(const weft_compilation *compilation, const char *name) {
    for (int i = 0; i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info info;
        weft_compilation_kernel(compilation, i, &info);
        if (info.scatter &&
            (strcmp(info.scatter, name) == 0 ||
             (strcmp(name, "atomic") == 0 && strcmp(info.scatter, "chunk-colored") == 0)))
            return true;
    }
    return false;
}

static weft_status compile(const setting *s, weft_scatter scatter, weft_compilation **out,
                           weft_error *error) {
    const weft_fragment fragments[] = {{s->bound.form.name, s->bound.form.text},
                                       {"product", s->product.data}};
    weft_compile_options how = weft_form_options(&s->bound.form);
    how.scatter = scatter;
    how.single = s->o->single;
    how.elements = weft_connectivity_from(weft_space_cells(s->space));
    return weft_compile(s->context.library, weft_device_limits(s->context.device), fragments, 2,
                        &how, out, error);
}

/* The largest difference to the first product, over its largest value. */
static weft_status check(setting *s, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_space_dofs(s->space);
    double difference = 0, largest = 0;
    TRY(weft_memory_read(s->y, 0, s->hy,
                         (size_t)n * (s->o->single ? sizeof(float) : sizeof(double)), error));
    for (int64_t i = 0; i < n; ++i) {
        const double value = s->o->single ? (double)((float *)s->hy)[i] : s->hy[i];
        if (!s->has_first)
            s->first[i] = value;
        difference = fmax(difference, fabs(value - s->first[i]));
        largest = fmax(largest, fabs(s->first[i]));
    }
    s->has_first = true;
    *out = difference / largest;
done:
    return status;
}

static weft_status run_way(setting *s, int way, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    double difference = 0;
    TRY(compile(s, ways[way].scatter, &compilation, error));
    if (!takes(compilation, ways[way].name))
        goto done;
    TRY(weft_program_make(s->context.device, compilation, &program, error));
    weft_compiled made = {.compilation = compilation, .program = program};
    TRY(weft_compiled_bind_form(&made, &s->bound.form, error));
    TRY(weft_program_bind(program, "v", s->v, error));
    TRY(weft_program_bind(program, "y", s->y, error));
    TRY(weft_program_run(program, error));
    TRY(check(s, &difference, error));
    TRY(time_program(s, program, &s->times[way].seconds, error));
    if (difference > (s->o->single ? 1e-4 : 1e-11))
        printf("    %s: WRONG by %.0e\n", ways[way].name, difference);
done:
    weft_program_free(&program);
    weft_compilation_free(&compilation);
    return status;
}

/* What the planner takes, and what it predicted for each way. */
static weft_status predict(setting *s, int *chosen, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *compilation = NULL;
    *chosen = 0;
    TRY(compile(s, WEFT_SCATTER_AUTO, &compilation, error));
    const weft_segment *segment = compilation->control->segments[0];
    for (int i = 0; i < segment->n_ways; ++i)
        for (int way = 0; way < WAYS; ++way)
            if (ways[way].scatter == segment->ways[i].scatter && !segment->ways[i].refused)
                s->times[way].predicted = segment->ways[i].seconds;
    for (int way = 0; way < WAYS; ++way)
        if (ways[way].scatter == segment->plan->scatter)
            *chosen = way;
done:
    weft_compilation_free(&compilation);
    return status;
}

static void print_ways(const setting *s, int chosen) {
    int best = 0;
    for (int way = 0; way < WAYS; ++way)
        if (s->times[way].seconds > 0 && s->times[way].seconds < s->times[best].seconds)
            best = way;
    for (int way = 0; way < WAYS; ++way)
        if (s->times[way].seconds > 0)
            printf("    %-13s %9.1f us, predicted %9.1f us%s\n", ways[way].name,
                   1e6 * s->times[way].seconds, 1e6 * s->times[way].predicted,
                   way == best ? "  fastest" : "");
    printf("    taken: %s, %.2f of the fastest\n", ways[chosen].name,
           s->times[best].seconds / s->times[chosen].seconds);
    fflush(stdout);
}

static weft_status run_form(const options *o, weft_device *device, const bench_form *form,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    setting s = {.o = o, .form = form, .context = {.device = device, .plan = WEFT_PLAN_FUSED}};
    TRY(weft_fem_library_make(&s.context.library, error));
    TRY(make_mesh(&s, error));
    TRY(make_form(&s, error));
    if (o->single)
        TRY(narrow_coordinates(&s, error));
    TRY(make_vectors(&s, error));
    printf("%s: %lld cells, %lld dofs\n", form->name, (long long)s.mesh->n_cells,
           (long long)weft_space_dofs(s.space));
    for (int way = 0; way < WAYS; ++way)
        TRY(run_way(&s, way, error));
    int chosen = 0;
    TRY(predict(&s, &chosen, error));
    print_ways(&s, chosen);
done:
    weft_memory_free(&s.v);
    weft_memory_free(&s.y);
    weft_memory_free(&s.x);
    free(s.hv);
    free(s.hy);
    free(s.first);
    weft_text_free(&s.product);
    weft_space_free(&s.space);
    weft_space_free(&s.corners);
    weft_mesh_free(&s.mesh);
    weft_ufl_free(&s.ufl);
    weft_library_free(&s.context.library);
    return status;
}

static bool parse(int argc, char **argv, options *o) {
    *o = (options){.device = "cuda", .contributions = 3e7};
    for (int i = 1; i < argc; ++i) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--single") == 0)
            o->single = true;
        else if (argv[i][0] != '-')
            o->device = argv[i];
        else if (value && strcmp(argv[i], "--contributions") == 0)
            o->contributions = atof(argv[++i]);
        else if (value && strcmp(argv[i], "--form") == 0)
            o->form = argv[++i];
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv) {
    options o;
    weft_device *device = NULL;
    weft_error error = {0};
    char text[2048];
    if (!parse(argc, argv, &o)) {
        fprintf(stderr,
                "usage: bench_scatter [DEVICE] [--contributions N] [--form NAME] [--single]\n");
        return 2;
    }
    weft_status status = weft_device_open(o.device, NULL, &device, &error);
    if (status == WEFT_OK)
        printf("# %s\n", weft_device_limits(device)->name);
    for (size_t i = 0; i < sizeof forms / sizeof *forms && status == WEFT_OK; ++i)
        if (!o.form || strcmp(o.form, forms[i].name) == 0)
            status = run_form(&o, device, &forms[i], &error);
    if (status != WEFT_OK) {
        weft_error_text(&error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    weft_device_free(&device);
    return status == WEFT_OK ? 0 : 1;
}
