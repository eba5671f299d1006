/* weft run: runs a script on a mesh, with loops of its own, and writes the values that it returns and updates. */
#include "apps/weft/run.h"
#include "apps/common/files.h"
#include "apps/common/problem.h"
#include "fem/space/space.h"
#include "fusion/weft_outline.h"

#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

static weft_status read_setting(const app_option *row, const char *option, const char *text,
                                void *at, weft_error *error) {
    weft_status status = WEFT_OK;
    settings *all = at;
    setting made = {0};
    TRY(app_split_assignment(option, text, row->value, &made.name, &made.text, error));
    snprintf(made.origin, sizeof made.origin, "%s %.80s", option, made.name);
    char *group = strchr(made.name, '@');
    if (group && strcmp(option, "--input") == 0) {
        *group = '\0';
        made.group = strdup(group + 1);
        if (!made.group)
            TRY(weft_out_of_memory(error, NULL));
    }
    TRY(APP_APPEND(all->list, all->n, made, error));
    made = (setting){0};
done:
    free(made.name);
    free(made.group);
    free(made.text);
    return status;
}

static void settings_clear(settings *all) {
    for (int i = 0; i < all->n; ++i) {
        free(all->list[i].name);
        free(all->list[i].group);
        free(all->list[i].text);
    }
    free(all->list);
}

static weft_status read_script(void *user, const char *text, weft_error *error) {
    run_options *options = user;
    if (!options->script)
        return app_parse_text("SCRIPT", text, &options->script, error);
    weft_error_set(error, WEFT_ERROR_USAGE, "unexpected argument '%.200s'", text);
    weft_error_hint(error, "one script is given, %s", options->script);
    return WEFT_ERROR_USAGE;
}

static const app_option table[] = {
    {.help = "Script:"},
    {"input", "NAME[@GROUP]=EXPR[,EXPR...]",
     "Values of an input, one expression in x, y and z per component: over nodes at the nodes, or "
     "at those of a physical group, which stand after the values for all; over cells at the "
     "centers; repeatable",
     APP_BY(read_setting, run_options, inputs)},
    {"define", "NAME=EXPR", "Body of an expression of the script; repeatable",
     APP_BY(read_setting, run_options, defines)},
    {"param", "NAME=INT", "Value of a parameter of the script; repeatable",
     APP_BY(read_setting, run_options, params)},
    {"operator", "NAME=SCRIPT",
     "The operator of this name is the sum of the local matrices K of another script; repeatable",
     APP_BY(read_setting, run_options, operators)},
    {"kernels", "DIR", "Add the functions of DIR/**/*.kernel.c", APP_TEXT(run_options, kernels)},
    {.help = "Results:"},
    {"output", "FILE.vtkhdf|FILE.vtu",
     "Write the lists over nodes and cells that the script returns or updates", 'o',
     APP_TEXT(run_options, run.output)},
    {"device", "NAME", "auto (default: a GPU if there is one), " APP_DEVICE_NAMES,
     APP_TEXT(run_options, run.device)},
    {"quiet", NULL, "Print only errors", 'q', APP_FLAG(run_options, run.verbosity, APP_QUIET)},
    {"verbose", NULL, "Print the steps of the program and the kernels", 'v',
     APP_FLAG(run_options, run.verbosity, APP_VERBOSE)},
    {0}};

static const char doc[] =
    "Run a script on a mesh, with loops of its own, and write what it returns and updates."
    "\v"
    "The mesh gives the index sets cells and nodes, any connectivity from cells to nodes, one from "
    "an index set facets to nodes, of the boundary, and the input x, the coordinates; a parameter "
    "d is set to its dimension. All other inputs are given by --input. Numbers that the script "
    "returns or updates are printed.\n"
    "\n"
    "Examples:\n"
    "  weft run drum.weft --mesh square:32 --operator A=poisson.weft --input free=1 \\\n"
    "        --input free@boundary=0 --input 'u=sin(pi*x)*sin(pi*y)' --input v=0 --input t=0 \\\n"
    "        --input end=1.4142 --input dt=0.005 --output drum.vtkhdf\n\n"
    "drum.weft is in docs/transients.md.";

/* ---- the script ------------------------------------------------------------------------------ */

weft_status weft_run_refuse(const weft_run *run, const char *hint, weft_error *error,
                            const char *format, const char *name) {
    weft_error_set(error, WEFT_ERROR_INPUT, format, name);
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_INPUT;
}

static weft_status make_operator(weft_run *run, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    const setting *given = &run->options->operators.list[i];
    own_operator *made = &run->operators[i];
    TRY(app_script_read(given->text, &made->text, error));
    weft_form_start(given->text, made->text, weft_space_cells(run->base.problem->fields.space),
                    &made->form);
    weft_form_bind_input(&made->form, "x", weft_space_coordinates(run->base.problem->fields.space));
    made->form.form.points = weft_space_data_points(run->base.problem->fields.space);
    if (weft_has_word(made->text, "parameter") && weft_has_word(made->text, "d"))
        weft_form_bind_parameter(&made->form, "d", run->base.mesh->dimension);
    TRY(weft_operator_make(&run->base.context, WEFT_ASSEMBLY_CSR, &made->form.form, 1, &made->op,
                           error));
    TRY(weft_operator_assemble(made->op, error));
    TRY(weft_operator_in_script_make(made->op, &made->in_script, error));
done:
    return status;
}

/* Every operator of the script is given. */
static weft_status check_operators(const weft_run *run, const weft_outline *outline,
                                   weft_error *error) {
    weft_outline_name name;
    for (int i = 0; i < weft_outline_names(outline); ++i) {
        bool is_given = false;
        weft_outline_describe(outline, i, &name);
        for (int k = 0; k < run->options->operators.n; ++k)
            is_given |= strcmp(run->options->operators.list[k].name, name.name) == 0;
        if (name.kind == WEFT_NAME_OPERATOR && !is_given)
            return weft_run_refuse(run, "add --operator NAME=SCRIPT", error,
                                   "the operator '%s' is not given", name.name);
    }
    return WEFT_OK;
}

/* The parameters of --param, and d if the script has it. */
static weft_status make_parameters(const weft_run *run, weft_parameter **out, int *n,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const settings *params = &run->options->params;
    const weft_fragment fragment = {run->options->script, run->text};
    weft_outline *outline = NULL;
    weft_outline_name d;
    weft_parameter *made = calloc((size_t)params->n + 1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_outline_make(&fragment, 1, &outline, error));
    TRY(check_operators(run, outline, error));
    for (int i = 0; i < params->n; ++i) {
        made[i].name = params->list[i].name;
        TRY(app_parse_integer(params->list[i].origin, params->list[i].text, -1000000, 1000000,
                              &made[i].value, error));
    }
    *n = params->n;
    if (weft_outline_find(outline, "d", &d) && d.kind == WEFT_NAME_PARAMETER)
        made[(*n)++] = (weft_parameter){"d", run->base.mesh->dimension};
    *out = made;
    made = NULL;
done:
    free(made);
    weft_outline_free(&outline);
    return status;
}

static weft_status compile(weft_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const settings *defines = &run->options->defines, *operators = &run->options->operators;
    weft_operator_choice choices[OPERATORS_MAX];
    weft_parameter *parameters = NULL;
    int n_parameters = 0;
    weft_expression *formulas = calloc((size_t)defines->n + 1, sizeof *formulas);
    if (!formulas)
        TRY(weft_out_of_memory(error, NULL));
    if (operators->n > OPERATORS_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "more than %d times --operator",
                           OPERATORS_MAX));
    TRY(app_script_read(run->options->script, &run->text, error));
    for (int i = 0; i < defines->n; ++i)
        formulas[i] = (weft_expression){defines->list[i].name, defines->list[i].text,
                                        defines->list[i].origin};
    for (int i = 0; i < operators->n; ++i) {
        TRY(make_operator(run, i, error));
        choices[i] =
            weft_operator_in_script_choice(&run->operators[i].in_script, operators->list[i].name);
    }
    TRY(make_parameters(run, &parameters, &n_parameters, error));
    const weft_fragment fragment = {run->options->script, run->text};
    const weft_compile_options options = {.size = sizeof options,
                                          .expressions = formulas,
                                          .n_expressions = defines->n,
                                          .parameters = parameters,
                                          .n_parameters = n_parameters,
                                          .operators = choices,
                                          .n_operators = operators->n,
                                          .elements = run->base.mesh->n_nodes};
    TRY(weft_compile(run->base.library, weft_device_limits(run->base.device), &fragment, 1,
                     &options, &run->compilation, error));
    TRY(weft_program_make(run->base.device, run->compilation, &run->program, error));
    for (int i = 0; i < operators->n; ++i)
        TRY(weft_operator_in_script_bind(&run->operators[i].in_script, run->program,
                                         operators->list[i].name, error));
done:
    free(formulas);
    free(parameters);
    return status;
}

static weft_status run_all(weft_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(app_run_open(&run->base, error));
    TRY(app_run_files_check(&run->base, error));
    TRY(app_files_check(&run->options->run, run->options->script, NULL, error));
    TRY(app_output_check(run->options->run.output, error));
    if (run->options->kernels)
        TRY(weft_library_add_directory(run->base.library, run->options->kernels, error));
    TRY(app_run_mesh_make(&run->base, error));
    TRY(weft_space_make_with(run->base.device, run->base.mesh, &run->base.mesh_made.copies,
                             WEFT_ELEMENT_P1, 1, &run->base.problem->fields.space, error));
    TRY(compile(run, error));
    TRY(weft_run_bind(run, error));
    const double start = weft_clock();
    TRY(weft_program_run(run->program, error));
    TRY(weft_device_wait(run->base.device, error));
    const double spent = weft_clock() - start;
    if (run->base.is_null)
        goto done;
    TRY(weft_run_pull(run, error));
    TRY(weft_run_write(run, error));
    if (run->options->run.verbosity == APP_QUIET)
        goto done;
    app_messages_clear(run->base.monitor);
    app_mesh_print(run->base.mesh, &run->base.mesh_made);
    weft_run_print(run);
    char seconds[32];
    printf("time        %s\n", app_print_seconds(spent, seconds));
    if (run->options->run.output)
        printf("output      %s\n", run->options->run.output);
done:
    return status;
}

static void clear(weft_run *run) {
    weft_program_free(&run->program);
    weft_compilation_free(&run->compilation);
    for (int i = 0; i < run->n_lists; ++i) {
        weft_memory_free(&run->lists[i].memory);
        free(run->lists[i].values);
        free(run->lists[i].plain);
    }
    for (int i = 0; i < OPERATORS_MAX; ++i) {
        weft_operator_in_script_free(&run->operators[i].in_script);
        weft_operator_free(&run->operators[i].op);
        free(run->operators[i].text);
    }
    weft_space_facets_free(&run->facets);
    free(run->text);
    app_run_clear(&run->base);
}

static weft_status check(const run_options *options, weft_error *error) {
    if (options->script && options->run.mesh.name)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE,
                   options->script ? "no mesh is given" : "no script is given");
    weft_error_hint(error, "write weft run SCRIPT.weft --mesh MESH; --help shows examples");
    return WEFT_ERROR_USAGE;
}

weft_status weft_tool_run(int argc, char **argv, const weft_monitor *monitor, int *code,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    run_options options = {.run = app_run_options_default()};
    weft_run *run = calloc(1, sizeof *run);
    (void)code;
    if (!run)
        TRY(weft_out_of_memory(error, NULL));
    *run = (weft_run){.options = &options, .base = {.options = &options.run, .monitor = monitor}};
    const app_command_line line = {.arguments = "SCRIPT",
                                   .doc = doc,
                                   .tables = {{app_problem_options, &options.run},
                                              {app_mesh_options_table, &options.run},
                                              {app_reading_options, &options.run.mesh.reading},
                                              {table, &options}},
                                   .texts = &options.run.texts,
                                   .argument = read_script,
                                   .user = &options};
    TRY(app_command_line_read(&line, argc, argv, error));
    TRY(check(&options, error));
    TRY(run_all(run, error));
done:
    if (run)
        clear(run);
    free(run);
    settings_clear(&options.inputs);
    settings_clear(&options.defines);
    settings_clear(&options.params);
    settings_clear(&options.operators);
    app_run_options_clear(&options.run);
    return status;
}
