/* Markall, Ham and Kelly 2010: time of assembling (figure 5) and of products (table 1) in runs of advection_diffusion, and what
 * colouring would gain over atomic additions. */
#include "papers.h"

#include "fem/weft_fem.h"
#include "fusion/control/program.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ASSEMBLIES = 3, SIZES = 5, WAYS = 6, REPEATS = 9, RUNS = 20 };

/* Addto; the local matrix approach with atomic additions; with a gather, as the paper's. */
static const char *const assemblies[ASSEMBLIES] = {"csr", "lma", "lma-gather"};

/* Cells along a side of the square: 28,800 to 331,298 triangles; the paper has 28,710 to 331,714. */
static const int sides[SIZES] = {120, 180, 240, 320, 407};

/* ---- runs of advection_diffusion ------------------------------------------------------------- */

typedef struct runs {
    paper_run *run;
    int n_sizes, steps;
    double elements[SIZES], assembly[ASSEMBLIES][SIZES], products[ASSEMBLIES][SIZES],
        steps_seconds[ASSEMBLIES][SIZES];
} runs;

/* The device on which the host launches every kernel, so that parts of a step can be timed. */
static void print_device(const paper_run *run, char out[64]) {
    const char *name = run->options->device;
    if (!run->gpu || strstr(name, ":traced"))
        snprintf(out, 64, "%s", strcmp(name, "auto") == 0 ? "host" : name);
    else
        snprintf(out, 64, "%s:traced", strchr(name, ':') ? name : "cuda:0");
}

static weft_status run_program(const paper_run *run, char *const *arguments, const char *json,
                               json_t **out, weft_error *error) {
    weft_status status = WEFT_OK;
    app_child child = {0};
    int stopped = 0;
    const app_child_start start = {.arguments = arguments};
    TRY(app_child_run(&start, &child, &stopped, error));
    if (stopped || child.exit_code != 0)
        TRY(weft_error_set(error, WEFT_ERROR_DEVICE, "advection_diffusion failed: %.600s",
                           child.error));
    *out = json_load_file(json, 0, NULL);
    if (!*out)
        TRY(weft_error_set(error, WEFT_ERROR_IO, "cannot read %s", json));
    (void)run;
done:
    app_child_clear(&child);
    return status;
}

/* A moving front: advection and diffusion by the paper's schemes, both matrices assembled again in every step. T is
 * given where the flow enters: without that noise grows there, which diverges on the largest mesh although the CFL
 * number (0.1 to 0.35) is far below the limit of 1.15. */
static const char *const problem[] = {"--quiet",
                                      "--reassemble",
                                      "every-step",
                                      "--dt",
                                      "0.001",
                                      "--velocity",
                                      "1,0.5",
                                      "--diffusivity",
                                      "0.01",
                                      "--initial",
                                      "exp(-50*((x-0.3)^2+(y-0.3)^2))",
                                      "--dirichlet",
                                      "boundary=0",
                                      "--probe",
                                      "0,0"};
enum { N_PROBLEM = sizeof problem / sizeof *problem };

static weft_status run_one(runs *r, int assembly, int size, json_t *list, weft_error *error) {
    weft_status status = WEFT_OK;
    char program[4200], mesh[32], device[64], steps[16], json[1200];
    json_t *data = NULL;
    const int side = r->run->options->quick ? 8 * (size + 1) : sides[size];
    snprintf(program, sizeof program, "%s/advection_diffusion", r->run->options->programs);
    snprintf(mesh, sizeof mesh, "square:%d", side);
    snprintf(steps, sizeof steps, "%d", r->steps);
    snprintf(json, sizeof json, "%s/run.json", r->run->folder);
    print_device(r->run, device);
    const char *const arguments[] = {
        program,   "--mesh", mesh,     "--device", device, "--assembly", assemblies[assembly],
        "--steps", steps,    "--json", json};
    enum { N = sizeof arguments / sizeof *arguments };
    char *copies[N + N_PROBLEM + 1] = {NULL};
    memcpy(copies, arguments, sizeof arguments); /* exec does not change them */
    memcpy(copies + N, problem, sizeof problem);
    TRY(run_program(r->run, copies, json, &data, error));
    const json_t *seconds = json_object_get(data, "seconds");
    r->elements[size] = json_number_value(json_object_get(data, "cells"));
    const json_t *parts[] = {json_object_get(seconds, "reassembly"),
                             json_object_get(seconds, "products"),
                             json_object_get(seconds, "solve")};
    double *const to[] = {&r->assembly[assembly][size], &r->products[assembly][size],
                          &r->steps_seconds[assembly][size]};
    for (int i = 0; i < 3; ++i)
        *to[i] = json_is_number(parts[i]) ? json_number_value(parts[i]) : NAN;
    if (json_array_append_new(
            list,
            json_pack("{s:s,s:O,s:O,s:O,s:O,s:O}", "assembly", assemblies[assembly], "elements",
                      json_object_get(data, "cells"), "steps", json_object_get(data, "steps"),
                      "iterations", json_object_get(data, "iterations"), "probes",
                      json_object_get(data, "probes"), "seconds", seconds)) != 0)
        TRY(weft_out_of_memory(error, "the data"));
done:
    json_decref(data);
    (void)remove(json);
    return status;
}

static weft_status draw_parts(runs *r, const char *figure, const char *title,
                              double values[ASSEMBLIES][SIZES], weft_error *error) {
    paper_chart chart = {
        .title = title, .x = {.label = "triangles"}, .y = {.label = "seconds"}, .n = ASSEMBLIES};
    for (int i = 0; i < ASSEMBLIES; ++i)
        chart.curves[i] = (paper_chart_curve){assemblies[i], PAPER_CHART_LINE_AND_POINTS,
                                              r->elements, values[i], r->n_sizes};
    return paper_draw(r->run, figure, &chart, error);
}

/* Table 1, in microseconds of 200 steps. */
static weft_status compare_runs(runs *r, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double local[] = {1.91e6, 2.45e7}, global[] = {8.48e5, 9.85e6};
    const double scale = 1e6 * 200 / r->steps;
    if (r->steps != 200)
        TRY(paper_remark(r->run, error, "times are those of %d steps; compared as if of 200",
                         r->steps));
    for (int i = 0; i < 2; ++i) {
        const int size = i == 0 ? 0 : r->n_sizes - 1;
        const char *which = i == 0 ? "smallest" : "largest";
        char what[96];
        snprintf(what, sizeof what, "table 1, %s mesh, local matrices", which);
        TRY(paper_compare(r->run, what, local[i], scale * r->products[2][size], "us", error));
        snprintf(what, sizeof what, "table 1, %s mesh, M v", which);
        TRY(paper_compare(r->run, what, global[i], scale * r->products[0][size], "us", error));
        snprintf(what, sizeof what, "table 1, %s mesh, ratio", which);
        TRY(paper_compare(r->run, what, local[i] / global[i],
                          r->products[2][size] / r->products[0][size], "", error));
        snprintf(what, sizeof what, "figure 5, %s mesh, csr over local matrices", which);
        TRY(paper_compare(r->run, what, NAN, r->assembly[0][size] / r->assembly[2][size], "",
                          error));
        snprintf(what, sizeof what, "figure 3, %s mesh, steps with csr over local matrices", which);
        TRY(paper_compare(r->run, what, NAN, r->steps_seconds[0][size] / r->steps_seconds[2][size],
                          "", error));
    }
done:
    return status;
}

static weft_status make_runs(paper_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    runs r = {.run = run, .n_sizes = run->options->quick ? 2 : SIZES};
    json_t *list = json_array();
    r.steps = run->options->quick ? 2 : run->gpu ? 200 : 10;
    TRY(paper_set(run, "runs", list, error));
    for (int assembly = 0; assembly < ASSEMBLIES; ++assembly)
        for (int size = 0; size < r.n_sizes; ++size)
            TRY(run_one(&r, assembly, size, list, error));
    TRY(draw_parts(&r, "figure5", "Figure 5: assembling again in every step", r.assembly, error));
    TRY(draw_parts(&r, "table1", "Table 1: products with the operators", r.products, error));
    TRY(compare_runs(&r, error));
done:
    return status;
}

/* ---- colouring ------------------------------------------------------------------------------- */

/* Ways to add the contributions of cells to a vector. */
typedef struct way {
    const char *name;
    weft_scatter scatter;
    bool is_bound; /* plain additions instead of atomic ones: wrong results, the least time */
} way;
static const way ways[WAYS] = {{"atomic", WEFT_SCATTER_IN_PLACE, false},
                               {"plain (wrong)", WEFT_SCATTER_IN_PLACE, true},
                               {"cell colours", WEFT_SCATTER_CELL_COLOURS, false},
                               {"gathered", WEFT_SCATTER_GATHERED, false},
                               {"owners", WEFT_SCATTER_PATCHES, false},
                               {"cell patches", WEFT_SCATTER_CELL_PATCHES, false}};

typedef struct colouring {
    paper_run *run;
    weft_library *library;
    weft_timer *timer;
    weft_mesh *mesh;
    weft_connectivity *cells;
    weft_memory *x, *v, *y;
} colouring;

static weft_status compile_way(const colouring *c, const way *one, weft_compilation **out,
                               weft_error *error) {
    const weft_parameter dimension = {"d", 2};
    const weft_compile_options options = {.size = sizeof options,
                                          .scatter = one->scatter,
                                          .parameters = &dimension,
                                          .n_parameters = 1,
                                          .elements = c->mesh->n_cells};
    const weft_fragment fragments[] = {
        {"poisson.weft", weft_fem_script("poisson.weft")},
        {"stiffness_product.weft", weft_fem_script("stiffness_product.weft")}};
    return weft_compile(c->library, c->run->limits, fragments, 2, &options, out, error);
}

/* Give a compilation the kernels of its source with plain additions in place of atomic ones. */
static weft_status make_plain(const colouring *c, weft_compilation *compilation,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    static const char atomic[] = "atomicAdd(&";
    const char *at = weft_compilation_source(compilation), *next;
    weft_text text = {0};
    weft_text_add(&text, "#define plain_add(p, v) (*(p) += (v))\n");
    for (; (next = strstr(at, atomic)); at = next + sizeof atomic - 1)
        weft_text_add(&text, "%.*splain_add(&", (int)(next - at), at);
    weft_text_add(&text, "%s", at);
    if (text.failed)
        TRY(weft_out_of_memory(error, "a source"));
    TRY(weft_module_make(c->run->device, "plain additions", text.data, &compilation->module,
                         error));
    compilation->device = c->run->device;
done:
    weft_text_free(&text);
    return status;
}

static weft_status time_runs(const colouring *c, weft_program *program, double *seconds,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    double taken[REPEATS];
    const int repeats = c->run->options->quick ? 1 : REPEATS;
    TRY(weft_program_run(program, error));
    for (int i = 0; i < repeats; ++i) {
        TRY(weft_timer_start(c->timer, error));
        for (int k = 0; k < RUNS; ++k)
            TRY(weft_program_run(program, error));
        TRY(weft_timer_stop(c->timer, error));
        TRY(weft_timer_seconds(c->timer, &taken[i], error));
    }
    *seconds = paper_median(taken, repeats) / RUNS;
done:
    return status;
}

static weft_status measure_way(const colouring *c, const way *one, double *seconds,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    *seconds = 0;
    TRY(compile_way(c, one, &compilation, error));
    for (int i = 0; i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info info;
        weft_compilation_kernel(compilation, i, &info);
        *seconds += info.seconds;
    }
    if (c->run->predicts)
        goto done;
    if (one->is_bound)
        TRY(make_plain(c, compilation, error));
    TRY(weft_program_make(c->run->device, compilation, &program, error));
    TRY(weft_program_bind_connectivity(program, "dofs", c->cells, error));
    TRY(weft_program_bind(program, "x", c->x, error));
    TRY(weft_program_bind(program, "v", c->v, error));
    TRY(weft_program_bind(program, "y", c->y, error));
    TRY(time_runs(c, program, seconds, error));
done:
    weft_program_free(&program);
    weft_compilation_free(&compilation);
    return status;
}

static weft_status make_mesh(colouring *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = c->run->device;
    TRY(weft_mesh_make_square(c->run->options->quick ? 12 : sides[SIZES - 1], &c->mesh, error));
    const size_t bytes = (size_t)c->mesh->n_nodes * sizeof(double);
    TRY(weft_connectivity_make(device, c->mesh->cells, c->mesh->n_cells, 3, c->mesh->n_nodes,
                               &c->cells, error));
    TRY(weft_memory_make(device, 2 * bytes, &c->x, error));
    TRY(weft_memory_write(c->x, 0, c->mesh->x, 2 * bytes, error));
    TRY(weft_memory_make(device, bytes, &c->v, error));
    TRY(weft_memory_write(c->v, 0, c->mesh->x, bytes, error));
    TRY(weft_memory_make(device, bytes, &c->y, error));
done:
    return status;
}

/* The ways that the device has, as bars. */
static weft_status measure_ways(colouring *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *names[WAYS];
    double place[WAYS], micro[WAYS], seconds[WAYS];
    int n = 0;
    json_t *list = json_array();
    TRY(paper_set(c->run, "additions", list, error));
    for (int i = 0; i < WAYS; ++i) {
        seconds[i] = NAN;
        if ((!c->run->gpu && i > 0 && ways[i].scatter != WEFT_SCATTER_GATHERED) ||
            (!c->run->gpu && ways[i].is_bound) || (c->run->predicts && ways[i].is_bound))
            continue;
        TRY(measure_way(c, &ways[i], &seconds[i], error));
        names[n] = c->run->gpu || i > 0 ? ways[i].name : "ranges of colours";
        place[n] = n;
        micro[n] = 1e6 * seconds[i];
        if (json_array_append_new(list, json_pack("{s:s,s:I,s:f}", "way", names[n], "elements",
                                                  (json_int_t)c->mesh->n_cells, "seconds",
                                                  seconds[i])) != 0)
            TRY(weft_out_of_memory(error, "the data"));
        ++n;
    }
    TRY(paper_draw(c->run, "colouring",
                   &(paper_chart){.title = "Adding the contributions of triangles to a vector",
                                  .x = {.label = "", .names = names, .n_names = n},
                                  .y = {.label = "microseconds"},
                                  .n = 1,
                                  .curves = {{"time", PAPER_CHART_BARS, place, micro, n}}},
                   error));
    if (c->run->predicts) {
        TRY(paper_leave_out(c->run, "ratios of ways to add", "predictions do not tell these apart",
                            error));
        goto done;
    }
    TRY(paper_compare(c->run, "assembly with atomic over the same with plain additions", 1.25,
                      seconds[0] / seconds[1], "", error));
    TRY(paper_compare(c->run, "assembly with atomic additions over cell colours", NAN,
                      seconds[0] / seconds[2], "", error));
    TRY(paper_compare(c->run, "assembly with atomic additions over owners", NAN,
                      seconds[0] / seconds[4], "", error));
done:
    return status;
}

static weft_status make_colouring(paper_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    colouring c = {.run = run};
    TRY(weft_fem_library_make(&c.library, error));
    TRY(weft_timer_make(run->device, &c.timer, error));
    TRY(make_mesh(&c, error));
    TRY(measure_ways(&c, error));
    if (!run->gpu)
        TRY(paper_leave_out(run, "atomic additions, their bound, colours of cells, owners",
                            "a host adds by ranges of cells of one colour, or gathers", error));
    else if (run->predicts)
        TRY(paper_leave_out(run, "the bound of plain additions", "the device computes nothing",
                            error));
done:
    weft_memory_free(&c.x);
    weft_memory_free(&c.v);
    weft_memory_free(&c.y);
    weft_connectivity_free(&c.cells);
    weft_mesh_free(&c.mesh);
    weft_timer_free(&c.timer);
    weft_library_free(&c.library);
    return status;
}

static weft_status make(paper_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (run->predicts)
        TRY(paper_leave_out(run, "figure 5 and table 1",
                            "the device computes nothing, so a run has no steps to time", error));
    else
        TRY(make_runs(run, error));
    TRY(make_colouring(run, error));
done:
    return status;
}

const paper paper_markall = {
    "markall",
    "Markall, Ham and Kelly 2010, Optimised finite element solvers from high-level "
    "specifications",
    "GeForce 280GTX", make};
