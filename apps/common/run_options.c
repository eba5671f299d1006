/* Reads the options that apps which solve on a mesh share. */
#include "apps/common/fem.h"

#include <math.h>
#include <string.h>

weft_status app_parse_text(const char *option, const char *text, const char **out,
                           weft_error *error) {
    if (!text[strspn(text, " \t")]) {
        weft_error_set(error, WEFT_ERROR_USAGE, "option '%s' needs a value that is not empty",
                       option);
        weft_error_hint(error, "--help shows what to give");
        return WEFT_ERROR_USAGE;
    }
    *out = text;
    return WEFT_OK;
}

app_run_options app_run_options_default(void) {
    return (app_run_options){.device = "auto",
                             .tolerance = 1e-8,
                             .max_iterations = -1,
                             .assembly_auto = true,
                             .plan = WEFT_PLAN_FUSED,
                             .jacobi = true};
}

int app_iterations_limit(const app_run_options *options, const weft_mesh *mesh) {
    return options->max_iterations >= 0
               ? options->max_iterations
               : weft_cg_iterations_limit(mesh->dimension, mesh->n_nodes, options->tolerance);
}

void app_run_options_clear(app_run_options *options) {
    app_conditions_clear(&options->conditions);
    app_probes_clear(&options->probes);
}

bool app_is_silent(const app_run_options *options) {
    return options->verbosity == APP_QUIET || (options->json && strcmp(options->json, "-") == 0);
}

weft_status app_parse_assembly(const char *text, const char *other, bool *is_other,
                               weft_assembly *out, weft_error *error) {
    const char *names[WEFT_ASSEMBLIES_MOST + 1];
    int choice = weft_assembly_count();
    weft_assembly found = 0;
    if (other)
        *is_other = strcmp(text, other) == 0;
    if (!(other && *is_other) && weft_assembly_find(text, &found, NULL) != WEFT_OK) {
        for (int i = 0; i < choice; ++i)
            names[i] = weft_assembly_name((weft_assembly)i);
        names[choice] = other;
        return app_parse_choice("--assembly", text, names, choice + (other != NULL), &choice,
                                error);
    }
    *out = found;
    return WEFT_OK;
}

static weft_status read_choice(app_run_options *options, int key, const char *text,
                               weft_error *error) {
    static const char *const orderings[] = {"auto", "bisection", "metis", "none"};
    static const char *const plans[] = {"fused", "unfused"};
    static const char *const preconditioners[] = {"none", "jacobi"};
    weft_status status = WEFT_OK;
    int choice = 0;
    switch (key) {
    case APP_KEY_ASSEMBLY:
        TRY(app_parse_assembly(text, "auto", &options->assembly_auto, &options->assembly, error));
        break;
    case APP_KEY_ORDERING:
        TRY(app_parse_choice("--ordering", text, orderings, 4, &choice, error));
        options->mesh.ordering = (app_ordering)choice;
        break;
    case APP_KEY_PLAN:
        TRY(app_parse_choice("--plan", text, plans, 2, &choice, error));
        options->plan = (weft_plan_kind)choice;
        break;
    case APP_KEY_PRECONDITIONER:
        TRY(app_parse_choice("--preconditioner", text, preconditioners, 2, &choice, error));
        options->jacobi = choice == 1;
        break;
    default:
        status = weft_error_set(error, WEFT_ERROR_USAGE, "the options are not understood");
    }
done:
    return status;
}

weft_status app_run_option_read(app_run_options *o, int key, const char *text, weft_error *error) {
    switch (key) {
    case APP_KEY_MESH:
        return app_parse_text("--mesh", text, &o->mesh.name, error);
    case APP_KEY_DEVICE:
        return app_parse_text("--device", text, &o->device, error);
    case APP_KEY_OUTPUT:
        return app_parse_text("--output", text, &o->output, error);
    case APP_KEY_JSON:
        return app_parse_text("--json", text, &o->json, error);
    case APP_KEY_SIZE:
        return app_parse_number("--size", text, 1e-300, HUGE_VAL, &o->mesh.reading.size, error);
    case APP_KEY_MESH_MEMORY:
    case APP_KEY_MESH_TIME:
    case APP_KEY_TRUST_GEO:
        return app_mesh_option_read(&o->mesh.reading, key, text, error);
    case APP_KEY_REFINE:
        return app_parse_integer("--refine", text, 0, 12, &o->mesh.refine, error);
    case APP_KEY_TOLERANCE:
        return app_parse_number("--tolerance", text, 0, 1, &o->tolerance, error);
    case APP_KEY_MAX_ITERATIONS:
        return app_parse_integer("--max-iterations", text, 0, 1000000000, &o->max_iterations,
                                 error);
    case APP_KEY_TUNE:
        return app_parse_integer("--tune", text, 1, 1000, &o->tune, error);
    case APP_KEY_DIRICHLET:
        return app_condition_read(&o->conditions, WEFT_DIRICHLET, text, error);
    case APP_KEY_NEUMANN:
        return app_condition_read(&o->conditions, WEFT_NEUMANN, text, error);
    case APP_KEY_ROBIN:
        return app_condition_read(&o->conditions, WEFT_ROBIN, text, error);
    case APP_KEY_PROBE:
        return app_probe_read(&o->probes, text, error);
    case APP_KEY_QUIET:
        o->verbosity = APP_QUIET;
        return WEFT_OK;
    case APP_KEY_VERBOSE:
        o->verbosity = APP_VERBOSE;
        return WEFT_OK;
    case APP_KEY_KEEP_UNCONVERGED:
        o->keep_unconverged = true;
        return WEFT_OK;
    default:
        return read_choice(o, key, text, error);
    }
}
