/* weft ufl: reads a UFL form file and prints its forms or the degrees of their integrals. */
#include "apps/common/fem.h"
#include "apps/weft/tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct ufl_stage {
    const char *name;
    weft_status (*print)(weft_ufl *ufl, const char *form, weft_text *out, weft_error *error);
} ufl_stage;

static weft_status print_forms(weft_ufl *ufl, const char *form, weft_text *out, weft_error *error) {
    return weft_ufl_print_forms(ufl, form, out, error);
}

static weft_status print_degrees(weft_ufl *ufl, const char *form, weft_text *out,
                                 weft_error *error) {
    return weft_ufl_print_degrees(ufl, form, out, error);
}

static weft_status print_script(weft_ufl *ufl, const char *form, weft_text *out,
                                weft_error *error) {
    (void)form;
    return weft_ufl_script(ufl, out, error);
}

static const ufl_stage stages[] = {{"forms", print_forms},
                                   {"degrees", print_degrees},
                                   {"script", print_script},
                                   {"kernels", weft_ufl_print_kernels}};
enum { N_STAGES = sizeof stages / sizeof stages[0] };

static const app_option table[] = {
    {"print", "STAGE",
     "What is printed: forms (their arguments, coefficients, constants and integrands; default), "
     "degrees (a table of the integrals with the degrees and numbers of points of their quadrature "
     "rules), script (what solve runs) or kernels (the elementary functions of the integrals)",
     APP_BY(weft_tool_text, weft_tool_options, stage)},
    {"form", "NAME", "Print this form alone", APP_BY(weft_tool_text, weft_tool_options, form)},
    APP_DEGREES(weft_tool_options, ufl.degrees),
    {0}};

static const char doc[] =
    "Read a UFL form file (.ufl in legacy UFL, .py in today's UFL with Basix) and print its forms."
    "\v"
    "The file is read without Python: its assignments, functions, loops and imports from ufl, "
    "basix "
    "and math are executed by Weft itself. Degrees are those of UFL 2026.1, or of --degrees.\n"
    "\n"
    "Examples:\n"
    "  weft ufl Poisson.ufl\n"
    "  weft ufl HyperElasticity.py --print degrees\n"
    "  weft ufl Stokes.ufl --form a";

static weft_status find_stage(const char *name, const ufl_stage **out, weft_error *error) {
    const char *names[N_STAGES];
    for (int i = 0; i < N_STAGES; ++i) {
        names[i] = stages[i].name;
        if (!name || strcmp(stages[i].name, name) == 0) {
            *out = &stages[i];
            return WEFT_OK;
        }
    }
    return weft_tool_refuse("stage", name, names, N_STAGES, error);
}

weft_status weft_tool_ufl(int argc, char **argv, const weft_monitor *monitor, int *code,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_ufl *ufl = NULL;
    weft_text text = {0};
    const ufl_stage *stage = NULL;
    weft_tool_options options = {.n_arguments_max = 1};
    (void)code;
    TRY(weft_tool_read(table, NULL, "FILE", doc, argc, argv, &options, error));
    TRY(find_stage(options.stage, &stage, error));
    if (options.n_arguments == 0)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "no form file is given",
                              "write weft ufl FILE.ufl, or FILE.py"));
    options.ufl.monitor = monitor;
    TRY(weft_ufl_read(options.arguments[0], &options.ufl, &ufl, error));
    TRY(stage->print(ufl, options.form, &text, error));
    if (text.data)
        fputs(text.data, stdout);
done:
    weft_text_free(&text);
    weft_ufl_free(&ufl);
    weft_tool_clear(&options);
    return status;
}
