/** A problem of a form file or a script on a mesh, solved by the library alone. */
#pragma once

#include "forms/bind/bind.h"
#include "wall_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of solutions that are in the spaces, to which discrete equations are solved to 1e-12 times the condition of the
 * matrices. */
static const double CLOSE = 1e-7;

static inline void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

typedef struct setting {
    weft_context context;
    weft_library *library;
    weft_mesh *mesh;
    weft_ufl *ufl;
    weft_problem *problem;
} setting;

/* device: the setting's; text: of a form file; NULL: there is none */
static inline void open_setting_on(setting *s, weft_device *device, weft_mesh *mesh,
                                   const char *text) {
    weft_error error = {0};
    *s = (setting){.context = {.device = device, .plan = WEFT_PLAN_FUSED}, .mesh = mesh};
    check(weft_fem_library_make(&s->library, &error), &error);
    s->context.library = s->library;
    check(weft_data_make(s->context.device, mesh, &s->context.data, &error), &error);
    if (text)
        check(weft_ufl_read_text("test.ufl", text, strlen(text), NULL, &s->ufl, &error), &error);
    check(weft_problem_start(&s->context, NULL, &s->problem, &error), &error);
}

static inline void open_setting(setting *s, weft_mesh *mesh, const char *text) {
    weft_error error = {0};
    weft_device *device = NULL;
    check(weft_device_open("host:1", NULL, &device, &error), &error);
    open_setting_on(s, device, mesh, text);
}

static inline void close_setting(setting *s) {
    weft_problem_free(&s->problem);
    weft_data_free(&s->context.data);
    weft_mesh_free(&s->mesh);
    weft_library_free(&s->library);
    weft_ufl_free(&s->ufl);
    weft_device_free(&s->context.device);
}

static inline void fix(setting *s, const char *group, int component, const char *value) {
    weft_error error = {0};
    const weft_condition condition = {WEFT_DIRICHLET, .group = group, .component = component,
                                      .value = value};
    check(weft_problem_condition(s->problem, &condition, &error), &error);
}

static inline void solve(setting *s) {
    weft_error error = {0};
    weft_problem_report report;
    weft_problem_options options = weft_problem_options_default();
    options.tolerance = 1e-12;
    check(weft_problem_solve(s->problem, &options, &report, &error), &error);
    assert_int_equal(report.result->outcome, WEFT_CG_CONVERGED);
}
