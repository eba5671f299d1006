/* Local stiffness matrices: against an FFCx-style loop, against the bytes that must move, fused
 * against unfused. */
#include "bench_host.h"
#include "bench_host_rivals.h"
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"

#include <stdlib.h>

static const char element_script[] = "J = jacobian(x[dofs]);\n"
                                     "G = tform_dshape(J);\n"
                                     "K = dshape_dot_dshape(G, J);\n";

static const char head[] = "parameter d = 2;\n"
                           "index cells, nodes;\n"
                           "connectivity dofs : cells -> nodes[d+1];\n"
                           "input x : real[d] over nodes;\n";

typedef struct local_run {
    weft_compilation *compilation;
    weft_program *program;
} local_run;

typedef struct rival_run {
    const bench_case *c;
    double *K;
} rival_run;

static weft_status run_program(void *user, weft_error *error) {
    return weft_program_run(((local_run *)user)->program, error);
}

static weft_status run_rival(void *user, weft_error *error) {
    const rival_run *r = user;
    (void)error;
    (r->c->dimension == 2 ? rival_stiffness_triangles : rival_stiffness_tetrahedra)(
        r->c->mesh->x, r->c->mesh->cells, r->c->mesh->n_cells, r->K);
    return WEFT_OK;
}

static weft_status local_make(bench_case *c, weft_plan_kind plan, const char *suffix,
                              local_run *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragments[] = {
        {"head", head}, {"element", element_script}, {"suffix", suffix}};
    const weft_compile_options options = {
        .size = sizeof options, .plan = plan, .parameters = c->parameters, .n_parameters = 1};
    TRY(weft_compile(c->context.library, weft_device_limits(c->context.device), fragments, 3,
                     &options, &out->compilation, error));
    TRY(weft_program_make(c->context.device, out->compilation, &out->program, error));
    TRY(weft_program_bind(out->program, "x", c->x, error));
    TRY(weft_program_bind_connectivity(out->program, "dofs", c->dofs, error));
done:
    return status;
}

static void local_free(local_run *run) {
    weft_program_free(&run->program);
    weft_compilation_free(&run->compilation);
}

weft_status bench_local(bench_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const double n = c->dimension + 1;
    const double cells = (double)c->mesh->n_cells;
    const double bytes =
        cells * (4.0 * n + 8.0 * n * n) + 8.0 * c->dimension * (double)c->mesh->n_nodes;
    local_run fused = {0}, unfused = {0};
    rival_run rival = {.c = c};
    double ours = 0.0, theirs = 0.0;
    rival.K = weft_array_make((size_t)c->mesh->n_cells, (size_t)(n * n) * sizeof *rival.K);
    if (rival.K == NULL) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(local_make(c, WEFT_PLAN_FUSED, "return K;\n", &fused, error));
    TRY(bench_pair(run_program, &fused, &ours, run_rival, &rival, &theirs, error));
    bench_line(c->name, "local stiffness, against an FFCx-style loop", cells / ours * 1e-6,
               "Mcells/s", theirs / ours, 4.0);
    bench_line(c->name, "  its bytes, against copy", bytes / ours * 1e-9, "GB/s",
               bytes / ours / c->copy_bandwidth, 0.5);
    local_free(&fused);
    TRY(local_make(c, WEFT_PLAN_FUSED, "return K;\n", &fused, error));
    TRY(local_make(c, WEFT_PLAN_UNFUSED, "return K;\n", &unfused, error));
    TRY(bench_pair(run_program, &fused, &ours, run_program, &unfused, &theirs, error));
    bench_line(c->name, "element script, fused against unfused", cells / ours * 1e-6, "Mcells/s",
               theirs / ours, 2.0);
done:
    local_free(&fused);
    local_free(&unfused);
    free(rival.K);
    return status;
}
