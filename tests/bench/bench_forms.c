/* Products of forms by kernels of whole cells (forms/lower/action.h), from the text of one-line forms, on a box of
 * quadrilaterals or hexahedra with displaced nodes, general connectivities and geometry recomputed from the nodes.
 *
 *      bench_forms [DEVICE] [--quadrilaterals] [--curved] [--dofs N] [--form mass|laplace|stokes] [--degree P]
 *                  [--shape CELLSxBLOCKS]...
 *      bench_forms [DEVICE] --tetrahedra [--coefficient] [--matrix] [--dofs N] [--degree P]
 *
 *  On null:h200 the kernels are compiled alone. Without options: cuda, 12 million dofs, trilinear hexahedra, BP1 and BP3 of
 *  CEED with degree + 2 points per direction, degrees 2, 4, 6, 8, the default shape. --curved: cells of degree 2. stokes:
 *  vectors of a degree and pressures of one degree less. Each product is checked in four places against quadrature with the
 *  functions of whole cells. With --tetrahedra, matrix-free products of the Laplacian of degree 1 to 4 on an ordered
 *  cube of tetrahedra, with --coefficient of dot(k*grad(u), grad(v)) for a k of degree 1, checked by an energy; with --matrix the
 *  assembly of all local matrices, which are stored, is timed instead of the product. Host figures are processor time, of host:1;
 *  bench_forms_ffcx.py has those of FFCx. */
#include "cell_box_support.h"

#include "core/weft_device_graph.h"

#include <time.h>

enum { GROUPS = 7, RUNS = 6, SHAPES = 16 };

typedef struct options {
    const char *device;
    double dofs;
    bool tetrahedra, coefficient, matrix, quadrilaterals, curved;
    const char *form; /* NULL: those of CEED */
    int degree;
    ufl_action_shape shapes[SHAPES];
    int n_shapes;
} options;

/* A form, and its integrand in two and three dimensions. Tables of spaces are behind cell and mesh. */
typedef struct product_form {
    const char *name, *label, *text;
    cell_integrand *integrands[2];
    bool pressure;
} product_form;
#define SCALARS                                                                                    \
    "V = FunctionSpace(mesh, FiniteElement('Q', cell, p))\n"                                       \
    "u, v = TrialFunction(V), TestFunction(V)\n"
static const product_form forms[] = {
    {"laplace",
     "BP3",
     SCALARS "a = dot(grad(u), grad(v))*dx(degree=2*p + 3)\n",
     {laplace, laplace},
     false},
    {"mass", "BP1", SCALARS "a = u*v*dx(degree=2*p + 3)\n", {mass, mass}, false},
    {"stokes",
     "Stokes",
     "V = FunctionSpace(mesh, VectorElement('Q', cell, p)*FiniteElement('Q', cell, p - 1))\n"
     "(u, r), (v, q) = TrialFunctions(V), TestFunctions(V)\n"
     "a = (inner(grad(u), grad(v)) - r*div(v) - q*div(u))*dx(degree=2*p + 3)\n",
     {stokes_2, stokes_3},
     true}};

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

typedef weft_status run_function(void *user, weft_memory *x, weft_memory *y, weft_error *error);

static weft_status run_action(void *user, weft_memory *x, weft_memory *y, weft_error *error) {
    return weft_cell_action_add(user, x, y, error);
}
static weft_status run_operator(void *user, weft_memory *x, weft_memory *y, weft_error *error) {
    return weft_operator_apply(user, x, y, error);
}

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Median seconds: of the device's timer, on the host processor time. */
static weft_status time_product(weft_device *device, run_function *run, void *user, weft_memory *x,
                                weft_memory *y, double *seconds, weft_error *error) {
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
            TRY(run(user, x, y, error));
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

static weft_status run_assembly(void *user, weft_memory *x, weft_memory *y, weft_error *error) {
    (void)x, (void)y;
    return weft_operator_assemble(user, error);
}

/* The operator of a problem's matrix on a cube of tetrahedra, matrix-free or with stored local matrices. */
static weft_status run_tetrahedra(const options *o, weft_device *device, int degree,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    char text[300];
    const weft_ufl_problem *found = NULL;
    weft_ufl *ufl = NULL;
    weft_mesh *mesh = NULL;
    weft_space *space = NULL, *corners = NULL;
    weft_library *library = NULL;
    weft_operator *op = NULL;
    weft_memory *x = NULL, *y = NULL, *k = NULL;
    double *hx = NULL, *hy = NULL, *hk = NULL, seconds = 0;
    weft_bound_form form;
    const int n = (int)(cbrt(o->dofs) / degree);
    snprintf(text, sizeof text,
             "e = FiniteElement('P', tetrahedron, %d)\n"
             "k = Coefficient(FiniteElement('P', tetrahedron, 1))\n"
             "a = %sdot(grad(TrialFunction(e)), grad(TestFunction(e)))*dx\n",
             degree, o->coefficient ? "k*" : "");
    TRY(weft_ufl_read_text("forms.ufl", text, strlen(text), NULL, &ufl, error));
    TRY(weft_ufl_problem_of(ufl, &found, error));
    TRY(weft_fem_library_make(&library, error));
    TRY(weft_ufl_add_functions(ufl, library, error));
    weft_context context = {.device = device, .library = library, .plan = WEFT_PLAN_FUSED};
    TRY(weft_mesh_make_cube(n > 2 ? n : 2, &mesh, error));
    TRY(weft_mesh_order(device, mesh, WEFT_ORDERING_BISECTION, 0, NULL, NULL, error));
    TRY(weft_space_make(device, mesh, (weft_element_kind){WEFT_LAGRANGE, degree}, 1, &space,
                        error));
    TRY(weft_space_make(device, mesh, WEFT_ELEMENT_P1, 1, &corners, error));
    weft_form_start("forms.ufl", found->parts[0].script, weft_space_cells(space), &form);
    form.form.action = found->parts[0].has_action ? "Kv" : NULL;
    weft_form_bind_input(&form, "x", weft_space_coordinates(corners));
    if (degree > 1)
        weft_form_bind_connectivity(&form, "geometry", weft_space_cells(corners));
    if (o->coefficient) {
        TRY(weft_vector_make(device, mesh->n_nodes, &hk, &k, error));
        for (int64_t i = 0; i < mesh->n_nodes; ++i)
            hk[i] = 1 + mesh->x[3 * i] + mesh->x[3 * i + 1] / 2;
        TRY(weft_vector_push(k, hk, mesh->n_nodes, error));
        weft_form_bind_input(&form, "k", k);
    }
    TRY(weft_operator_make(&context, o->matrix ? WEFT_ASSEMBLY_LMA : WEFT_ASSEMBLY_MATRIX_FREE,
                           &form.form, 1, &op, error));
    TRY(weft_operator_assemble(op, error));
    const int64_t n_dofs = weft_space_dofs(space);
    TRY(weft_vector_make(device, n_dofs, &hx, &x, error));
    TRY(weft_vector_make(device, n_dofs, &hy, &y, error));
    /* x^2 + y z has the energy int 4 x^2 + y^2 + z^2 = 2 on the unit cube, times k 31/8; x 2^(1/2) has 2 and 7/2 */
    const double exact = !o->coefficient ? 2 : degree > 1 ? 31. / 8 : 3.5;
    for (int64_t i = 0; i < n_dofs; ++i) {
        const double *at = weft_space_points(space) + 3 * i;
        hx[i] = degree > 1 ? at[0] * at[0] + at[1] * at[2] : sqrt(2) * at[0];
    }
    TRY(weft_vector_push(x, hx, n_dofs, error));
    TRY(weft_operator_apply(op, x, y, error));
    TRY(weft_vector_pull(y, hy, n_dofs, error));
    double energy = 0;
    for (int64_t i = 0; i < n_dofs; ++i)
        energy += hx[i] * hy[i];
    TRY(time_product(device, o->matrix ? run_assembly : run_operator, op, x, y, &seconds, error));
    printf("tetrahedra%s%s p=%d %lld dofs %7.3f GDoF/s %9.1f us %8.1f ns/cell  energy %.2e %s\n",
           o->coefficient ? " k" : "", o->matrix ? " matrices" : "", degree, (long long)n_dofs,
           (double)n_dofs / seconds * 1e-9, seconds * 1e6, seconds / (double)mesh->n_cells * 1e9,
           fabs(energy / exact - 1), fabs(energy / exact - 1) < 1e-10 ? "ok" : "WRONG");
    fflush(stdout);
done:
    weft_operator_free(&op);
    weft_memory_free(&x);
    weft_memory_free(&y);
    weft_memory_free(&k);
    free(hx);
    free(hy);
    free(hk);
    weft_space_free(&space);
    weft_space_free(&corners);
    weft_mesh_free(&mesh);
    weft_library_free(&library);
    weft_ufl_free(&ufl);
    return status;
}

typedef struct problem {
    weft_device *device;
    weft_connectivity *vertices, *nodes;
    weft_memory *coordinates, *x, *y;
    double *hx, *hy;
    int *orders[2]; /* of the functions and of the pressure */
} problem;

static void problem_free(problem *p) {
    weft_connectivity_free(&p->vertices);
    weft_connectivity_free(&p->nodes);
    weft_memory_free(&p->coordinates);
    weft_memory_free(&p->x);
    weft_memory_free(&p->y);
    free(p->hx);
    free(p->hy);
    free(p->orders[0]);
    free(p->orders[1]);
}

static weft_status problem_make(problem *p, const box *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)(b->n_vertices * b->d) * sizeof(double);
    TRY(weft_connectivity_make(p->device, b->vertices, b->n_cells, (int)box_power(b->g + 1, b->d),
                               b->n_vertices, &p->vertices, error));
    TRY(weft_connectivity_make(p->device, b->dofs, b->n_cells, b->width, b->n_dofs, &p->nodes,
                               error));
    TRY(weft_memory_make(p->device, bytes, &p->coordinates, error));
    TRY(weft_memory_write(p->coordinates, 0, b->x, bytes, error));
    TRY(weft_vector_make(p->device, b->n_dofs, &p->hx, &p->x, error));
    TRY(weft_vector_make(p->device, b->n_dofs, &p->hy, &p->y, error));
    for (int64_t i = 0; i < b->n_dofs; ++i)
        p->hx[i] = action_random((uint64_t)i);
    TRY(weft_vector_push(p->x, p->hx, b->n_dofs, error));
done:
    return status;
}

static weft_status run_shape(const problem *p, const box *b, weft_ufl *ufl,
                             const product_form *form, const ufl_action_shape *shape,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    char name[40];
    double seconds = 0;
    weft_cell_action *action = NULL;
    weft_cell_binding bindings[1] = {{p->nodes, NULL}};
    weft_kernel_resources resources = {0};
    snprintf(name, sizeof name, "%s_%d_%d_%d", form->name, b->p, shape->cells, shape->resident);
    const ufl_cell_action *lowered = ufl_lower_action(&ufl->graph, ufl->prepared[0], 0, name,
                                                      weft_device_limits(p->device), shape);
    if (!lowered)
        return error->status;
    const weft_cell_data data = {.vertices = p->vertices,
                                 .coordinates = p->coordinates,
                                 .nodes = p->nodes,
                                 .sources = bindings};
    TRY(weft_cell_action_make(p->device, &lowered->kernel, &data, &action, error));
    if (weft_device_limits(p->device)->records_only) {
        TRY(weft_module_kernel_resources(weft_cell_action_module(action), name, &resources, error));
        printf("%s p=%d %3dx%-3d regs %3d spill %3d stack %3d  shared %6d\n", form->label, b->p,
               lowered->kernel.cells, shape->resident, resources.registers,
               resources.spill_load_bytes, resources.stack_bytes, lowered->kernel.shared_bytes);
        goto done;
    }
    TRY(weft_memory_zero(p->y, error));
    TRY(weft_cell_action_add(action, p->x, p->y, error));
    TRY(weft_vector_pull(p->y, p->hy, b->n_dofs, error));
    double sum = 0, size = 0;
    for (int64_t i = 0; i < b->n_dofs; ++i) {
        sum += p->hy[i];
        size += fabs(p->hy[i]);
    }
    const double error_there = box_check(b, 2 * b->p + 3, form->integrands[b->d - 2], p->hx, p->hy);
    TRY(time_product(p->device, run_action, action, p->x, p->y, &seconds, error));
    (void)weft_module_resources(weft_cell_action_module(action), name, &resources);
    printf("%s p=%d %3dx%-3d %7.3f GDoF/s  %8.1f us  %8.1f ns/cell  regs %3d spill %3d stack %3d "
           " shared %6d  error %.0e%s  "
           "compiled in %.2f s %s\n",
           form->label, b->p, lowered->kernel.cells, shape->resident,
           (double)b->n_dofs / seconds * 1e-9, seconds * 1e6, seconds / (double)b->n_cells * 1e9,
           resources.registers, resources.spill_load_bytes, resources.stack_bytes,
           lowered->kernel.shared_bytes, error_there,
           form == &forms[0] && fabs(sum) > 1e-9 * size ? " SUM" : "",
           weft_module_seconds(weft_cell_action_module(action)),
           error_there < 1e-11 ? "ok" : "WRONG");
    fflush(stdout);
done:
    weft_cell_action_free(&action);
    return status;
}

/* The orders of the lattices of the form's functions, from that of all dofs of a cell. */
static bool find_orders(const weft_cell_kernel *kernel, const box *b, int **orders) {
    const int d = weft_cell_of(b->cell)->dimension, c = b->pressure ? d : 1;
    const int sizes[] = {(int)box_power(b->p + 1, d), (int)box_power(b->p, d)};
    const int firsts[] = {0, sizes[0] * c}, strides[] = {c, 1};
    for (int i = 0; i < 1 + b->pressure; ++i) {
        orders[i] = malloc((size_t)sizes[i] * sizeof *orders[i]);
        for (int k = 0; orders[i] && k < sizes[i]; ++k)
            orders[i][k] = (kernel->order[firsts[i] + k] - firsts[i]) / strides[i];
        if (!orders[i])
            return false;
    }
    return true;
}

static weft_status make_mesh(const options *o, const product_form *form, weft_ufl *ufl, box *b,
                             problem *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const ufl_cell_action *lowered = ufl_lower_action(&ufl->graph, ufl->prepared[0], 0, "order",
                                                      weft_device_limits(p->device), NULL);
    if (!lowered)
        return error->status;
    b->cell = o->quadrilaterals ? WEFT_QUADRILATERAL : WEFT_HEXAHEDRON;
    b->g = o->curved ? 2 : 1;
    b->pressure = form->pressure;
    const int d = o->quadrilaterals ? 2 : 3;
    b->n = (int)(pow(o->dofs / (form->pressure ? d : 1), 1. / d) / b->p);
    b->n = b->n > 2 ? b->n : 2;
    b->vertex_order = lowered->kernel.vertex_order;
    const bool found = find_orders(&lowered->kernel, b, p->orders);
    b->order = p->orders[0];
    b->pressure_order = p->orders[1];
    if (!found || !box_make(b))
        TRY(weft_out_of_memory(error, "a mesh"));
    TRY(problem_make(p, b, error));
    printf("# %s%s p=%d: %lld cells, %lld dofs\n", o->curved ? "curved " : "",
           o->quadrilaterals ? "quadrilaterals" : "hexahedra", b->p, (long long)b->n_cells,
           (long long)b->n_dofs);
done:
    return status;
}

static weft_status run_degree(const options *o, weft_device *device, int degree,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    static const ufl_action_shape standard = {.cells = 0};
    box b = {.p = degree};
    problem p = {.device = device};
    weft_ufl *ufl = NULL, *first = NULL; /* first: the box has its order */
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; ++k) {
        const product_form *form = &forms[k];
        char text[500];
        if (o->form ? strcmp(o->form, form->name) != 0 : form->pressure)
            continue;
        snprintf(text, sizeof text,
                 "p = %d\ncell = %s\nmesh = Mesh(VectorElement('Q', cell, %d))\n%s", degree,
                 o->quadrilaterals ? "quadrilateral" : "hexahedron", o->curved ? 2 : 1, form->text);
        TRY(weft_ufl_read_text("forms.ufl", text, strlen(text), NULL, &ufl, error));
        ufl->context.error = error;
        if (!first)
            TRY(make_mesh(o, form, ufl, &b, &p, error));
        for (int i = 0; i < (o->n_shapes > 0 ? o->n_shapes : 1); ++i)
            TRY(run_shape(&p, &b, ufl, form, o->n_shapes > 0 ? &o->shapes[i] : &standard, error));
        if (first)
            weft_ufl_free(&ufl);
        else
            first = ufl;
        ufl = NULL;
    }
done:
    weft_ufl_free(&ufl);
    weft_ufl_free(&first);
    problem_free(&p);
    box_free(&b);
    return status;
}

static bool parse(int argc, char **argv, options *o) {
    *o = (options){.device = "cuda", .dofs = 12e6};
    for (int i = 1; i < argc; ++i) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--quadrilaterals") == 0 || strcmp(argv[i], "--curved") == 0) {
            o->curved |= argv[i][2] == 'c';
            o->quadrilaterals |= argv[i][2] == 'q';
            continue;
        }
        if (strcmp(argv[i], "--tetrahedra") == 0 || strcmp(argv[i], "--coefficient") == 0) {
            o->coefficient |= argv[i][2] == 'c';
            o->tetrahedra = true;
            continue;
        }
        if (strcmp(argv[i], "--matrix") == 0) {
            o->matrix = true;
            continue;
        }
        if (argv[i][0] != '-') {
            o->device = argv[i];
            continue;
        }
        if (!value)
            return false;
        ++i;
        if (strcmp(argv[i - 1], "--dofs") == 0)
            o->dofs = atof(value);
        else if (strcmp(argv[i - 1], "--degree") == 0)
            o->degree = atoi(value);
        else if (strcmp(argv[i - 1], "--form") == 0)
            o->form = value;
        else if (strcmp(argv[i - 1], "--shape") == 0 && o->n_shapes < SHAPES &&
                 sscanf(value, "%dx%d", &o->shapes[o->n_shapes].cells,
                        &o->shapes[o->n_shapes].resident) == 2)
            ++o->n_shapes;
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
                "usage: bench_forms [DEVICE] [--quadrilaterals] [--curved] [--dofs N] [--form "
                "mass|laplace|stokes] [--degree P] [--shape CELLSxBLOCKS]... [--tetrahedra "
                "[--coefficient] [--matrix]]\n");
        return 2;
    }
    weft_status status = weft_device_open(o.device, NULL, &device, &error);
    if (status == WEFT_OK)
        printf("# %s\n", weft_device_limits(device)->name);
    for (int degree = 2; degree <= 8 && status == WEFT_OK; degree += 2)
        if (o.degree == 0 || degree == 2)
            status = o.tetrahedra
                         ? run_tetrahedra(&o, device, o.degree > 0 ? o.degree : degree / 2, &error)
                         : run_degree(&o, device, o.degree > 0 ? o.degree : degree, &error);
    if (status != WEFT_OK) {
        weft_error_text(&error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    weft_device_free(&device);
    return status == WEFT_OK ? 0 : 1;
}
