#include "poisson.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

weft_status poisson_output_write(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *path = run->options->output;
    double start = weft_clock();
    if (!path)
        return WEFT_OK;
    if (run->cg.outcome != WEFT_CG_CONVERGED) {
        /* Half a solution must not stand where a whole one is expected. */
        weft_log(&run->messages->monitor, WEFT_LOG_WARNING,
                 "%s is not written, for CG has not converged", path);
        return WEFT_OK;
    }
    const weft_field field = {.name = "u", .n_components = 1, .values = run->u_values};
    TRY(weft_result_write(path, run->mesh, &field, 1, error));
done:
    run->seconds.output = weft_clock() - start;
    return status;
}

static void print_count(const char *what, int64_t n, const char *thing, const char *fate) {
    if (n > 0)
        printf("            %s: %" PRId64 " %s%s %s\n", what, n, thing, n == 1 ? "" : "s", fate);
}

void poisson_mesh_print(const poisson *run) {
    const weft_mesh *mesh = run->mesh;
    printf("mesh        %s: %" PRId64 " %s, %" PRId64 " nodes%s%s\n", mesh->source, mesh->n_cells,
           mesh->dimension == 2 ? "triangles" : "tetrahedra", mesh->n_nodes,
           run->ordered ? ", ordered by " : "", run->ordered ? run->ordered : "");
    print_count("mended", mesh->n_flipped_cells, "inverted cell", "flipped");
    print_count("mended", mesh->n_dropped_nodes, "unused node", "dropped");
    print_count("ignored", mesh->n_ignored_facets, "group facet", "of no cell");
}

/* Some twenty of the iterations, the last among them: a page, however many there were. */
static void print_history(const poisson *run) {
    enum { LINES = 20 };
    const int last = run->cg.iterations, step = (last + LINES - 1) / LINES;
    printf("history     iteration  relative residual\n");
    for (int i = 0; run->cg.history && i <= last; i += step > 0 ? step : 1)
        printf("            %9d  %.6e\n", i, run->cg.history[i]);
    if (run->cg.history && step > 0 && last % step != 0)
        printf("            %9d  %.6e\n", last, run->cg.history[last]);
}

static void print_probes(const poisson *run) {
    for (int i = 0; i < run->options->n_probes; ++i) {
        const char *text = run->options->probes[i].text;
        if (isnan(run->probes[i]))
            printf("probe       u(%s)  outside\n", text);
        else
            printf("probe       u(%s)  %.10g\n", text, run->probes[i]);
    }
}

static void print_seconds(const poisson *run) {
    char mesh[32], plan[32], compile[32], assembly[32], solve[32], output[32];
    const poisson_seconds *s = &run->seconds;
    printf("time        mesh %s, plan %s, compile %s, assembly %s, solve %s, output %s\n",
           app_print_seconds(s->mesh, mesh), app_print_seconds(s->plan, plan),
           app_print_seconds(s->compile, compile), app_print_seconds(s->assembly, assembly),
           app_print_seconds(s->solve, solve), app_print_seconds(s->output, output));
}

/* NaN without its sign, which says nothing. */
static double plain(double value) {
    return isnan(value) ? fabs(value) : value;
}

weft_status poisson_report_print(const poisson *run, weft_error *error) {
    const poisson_options *options = run->options;
    char bytes[32];
    if (options->verbosity == APP_QUIET || (options->json && strcmp(options->json, "-") == 0))
        return WEFT_OK;
    app_messages_clear(run->messages);
    poisson_mesh_print(run);
    printf("device      %s\n", weft_device_limits(run->device)->name);
    printf("plan        %s, %d kernels, assembly %s\n",
           options->plan == WEFT_PLAN_FUSED ? "fused" : "unfused", run->context.n_kernels,
           weft_assembly_name(run->assembly));
    printf("CG          %s, %d iterations, relative residual %.2e\n",
           weft_cg_outcome_name(run->cg.outcome), run->cg.iterations, plain(run->cg.residual));
    if (options->verbosity == APP_VERBOSE)
        print_history(run);
    if (options->exact)
        printf("error       L2 %.6e, H1 seminorm %.6e\n", plain(run->l2_error),
               plain(run->h1_error));
    printf("integral u  %.10g\n", plain(run->integral_u));
    printf("energy      %.10g\n", plain(run->energy));
    print_probes(run);
    print_seconds(run);
    printf("memory      %s at most\n", app_print_bytes((double)weft_memory_peak(), bytes));
    if (options->output && run->cg.outcome == WEFT_CG_CONVERGED)
        printf("output      %s\n", options->output);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        weft_error_set(error, WEFT_ERROR_IO, "cannot write to standard output");
        weft_error_hint(error, "make room where it goes, or name files with --json and --output");
        return WEFT_ERROR_IO;
    }
    return WEFT_OK;
}
