/* Prints the parts of a report that apps share and adds them to JSON. */
#include "apps/common/fem.h"

#include <math.h>
#include <string.h>

void app_history_print(const weft_cg_result *cg) {
    enum { LINES = 20 };
    const int last = cg->iterations, step = (last + LINES - 1) / LINES;
    printf("history     iteration  relative residual\n");
    for (int i = 0; cg->history && i <= last; i += step > 0 ? step : 1)
        printf("            %9d  %.6e\n", i, cg->history[i]);
    if (cg->history && step > 0 && last % step != 0)
        printf("            %9d  %.6e\n", last, cg->history[last]);
}

void app_history_line_print(const weft_cg_result *cg) {
    enum { POINTS = 6 }; /* after the first */
    const int last = cg->iterations, step = (last + POINTS - 1) / POINTS;
    if (!cg->history || last == 0)
        return;
    printf("history     iteration 0: %.1e", cg->history[0]);
    for (int i = step; i < last; i += step)
        if (!isnan(cg->history[i])) /* full multigrid does not compute it everywhere */
            printf(", %d: %.1e", i, cg->history[i]);
    printf(", %d: %.1e\n", last, cg->history[last]);
}

void app_seconds_print(const app_seconds *s) {
    char mesh[32], plan[32], compile[32], assembly[32], precondition[32], solve[32], output[32];
    printf("time        mesh %s, plan %s, compile %s, assembly %s, ",
           app_print_seconds(s->mesh, mesh), app_print_seconds(s->plan, plan),
           app_print_seconds(s->compile, compile), app_print_seconds(s->assembly, assembly));
    if (s->precondition > 0)
        printf("preconditioner %s, ", app_print_seconds(s->precondition, precondition));
    printf("solve %s, output %s\n", app_print_seconds(s->solve, solve),
           app_print_seconds(s->output, output));
}

double app_strip_nan_sign(double value) {
    return isnan(value) ? fabs(value) : value;
}

void app_values_print(const char *head, const double *values, int n) {
    printf("%s", head);
    for (int k = 0; k < n; ++k)
        printf("%s%.10g", k ? ", " : "  ", app_strip_nan_sign(values[k]));
}

weft_status app_stdout_check(weft_error *error) {
    if (fflush(stdout) != 0 || ferror(stdout))
        return weft_error_refuse(error, WEFT_ERROR_IO, "cannot write to standard output",
                                 "make room where it goes, or name files with --json and --output");
    return WEFT_OK;
}

/* Print the fused calls, and the memory traffic that fusion saves. */
static void print_saving(const weft_saving *saving, const char *script) {
    int length = (int)strlen(saving->index_set);
    if (length > 1 && saving->index_set[length - 1] == 's') /* "per cell", of cells */
        --length;
    if (saving->n_unfused > saving->n_kernels)
        printf("            without fusion, its %d calls would take %d kernels\n", saving->n_calls,
               saving->n_unfused);
    if (saving->calls[0])
        printf("            %s: one kernel for %s,\n"
               "            which moves %.0f B per %.*s instead of %.0f B\n",
               script, saving->calls, saving->bytes, length, saving->index_set,
               saving->bytes_unfused);
}

void app_plan_print(const weft_context *context, const char *device_reason, weft_assembly assembly,
                    const char *more) {
    printf("device      %s\n", weft_device_limits(context->device)->name);
    if (device_reason)
        printf("            automatic: %s\n", device_reason);
    printf("plan        %s, %d kernels, assembly %s%s\n",
           context->plan == WEFT_PLAN_FUSED ? "fused" : "unfused", context->n_kernels,
           weft_assembly_name(assembly), more);
    print_saving(&context->saving, context->saving_script);
}

void app_probes_print(const app_probes *probes, const char *name, const double *values,
                      int components) {
    for (int i = 0; i < probes->n; ++i) {
        const double *value = &values[i * components];
        printf("probe       %s(%s)  ", name, probes->list[i].text);
        if (isnan(value[0]))
            printf("outside");
        for (int k = 0; k < components && !isnan(value[0]); ++k)
            printf("%s%.10g", k ? ", " : "", value[k]);
        putchar('\n');
    }
}

bool app_json_set_mesh(json_t *root, const weft_mesh *mesh) {
    json_t *object = json_object();
    return app_json_set(root, "mesh", object) &&
           app_json_set(object, "cells", json_integer(mesh->n_cells)) &&
           app_json_set(object, "nodes", json_integer(mesh->n_nodes)) &&
           app_json_set(object, "dimension", json_integer(mesh->dimension)) &&
           app_json_set(object, "source", app_json_text(mesh->source)) &&
           app_json_set(object, "flipped_cells", json_integer(mesh->n_flipped_cells)) &&
           app_json_set(object, "dropped_nodes", json_integer(mesh->n_dropped_nodes)) &&
           app_json_set(object, "ignored_facets", json_integer(mesh->n_ignored_facets)) &&
           app_json_set(object, "coincident_nodes", json_integer(mesh->n_coincident));
}

bool app_json_set_plan(json_t *root, const weft_context *context, const char *device_reason,
                       weft_assembly assembly) {
    json_t *object = json_object();
    const char *kind = context->plan == WEFT_PLAN_FUSED ? "fused" : "unfused";
    return app_json_set(root, "assembly", json_string(weft_assembly_name(assembly))) &&
           app_json_set(root, "plan", object) && app_json_set(object, "kind", json_string(kind)) &&
           app_json_set(object, "kernels", json_integer(context->n_kernels)) &&
           app_json_set(root, "device", app_json_text(weft_device_limits(context->device)->name)) &&
           app_json_set(root, "device_reason", json_string(device_reason));
}

json_t *app_json_values(const double *values, int components) {
    return components == 1 ? app_json_real(values[0]) : app_json_list(values, components);
}

bool app_json_set_probes(json_t *root, const app_probes *probes, const double *values,
                         int components) {
    json_t *array = json_array();
    bool fine = app_json_set(root, "probes", array);
    for (int i = 0; fine && i < probes->n; ++i) {
        const app_place *place = &probes->list[i].place;
        json_t *object = json_object();
        fine = json_array_append_new(array, object) == 0 &&
               app_json_set(object, "point", app_json_list(place->point, place->n)) &&
               app_json_set(object, "u",
                            values ? app_json_values(&values[i * components], components)
                                   : json_null());
    }
    return fine;
}

bool app_json_set_history(json_t *root, const weft_cg_result *cg) {
    return !cg->history ||
           app_json_set(root, "history", app_json_list(cg->history, cg->iterations + 1));
}

bool app_json_set_costs(json_t *root, const weft_device *device, const app_seconds *s,
                        bool in_time) {
    const double total = s->started > 0 ? weft_clock() - s->started : NAN;
    const struct {
        const char *name;
        double seconds;
    } parts[] = {{"start", s->start},     {"mesh", s->mesh},
                 {"order", s->order},     {"plan", s->plan},
                 {"compile", s->compile}, {"assembly", s->assembly},
                 {"solve", s->solve},     {"preconditioner", s->precondition},
                 {"measure", s->measure}, {"output", s->output},
                 {"total", total},        {"checkpoint", s->checkpoint}};
    json_t *object = json_object();
    bool fine = app_json_set(root, "bytes_peak", json_integer((json_int_t)weft_memory_peak())) &&
                app_json_set(root, "bytes_device",
                             json_integer((json_int_t)weft_device_bytes_peak(device))) &&
                app_json_set(root, "seconds", object);
    for (int i = 0; fine && i < (in_time ? 12 : 11); ++i)
        fine = app_json_set(object, parts[i].name, app_json_real(parts[i].seconds));
    return fine && (!in_time || (app_json_set(object, "products", app_json_real(s->products)) &&
                                 app_json_set(object, "reassembly", app_json_real(s->reassembly))));
}
