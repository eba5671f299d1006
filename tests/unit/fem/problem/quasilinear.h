/** Problems -div((1 + u^2) grad u) = load*source of P1 functions on squares, made of a script. */
#pragma once

#include "fem/problem/problem.h"
#include "fem/weft_fem.h"
#include "forms/weft_bind.h"
#include "fusion/weft_compile.h"

#include <string.h>

static const char script[] =
    "parameter d = 2, degree = 4;\n"
    "index cells, nodes;\n"
    "connectivity dofs : cells -> nodes[d + 1];\n"
    "input x : real[d] over nodes;\n"
    "input u : real over nodes;\n"
    "input load : real;\n"
    "expression source(x, y, z) = 0;\n"
    "X = x[dofs];\n"
    "J = jacobian(X);\n"
    "G = tform_dshape(J);\n"
    "P = quadrature_points(X, degree = degree);\n"
    "U = interpolate(u[dofs], degree = degree);\n"
    "a = quadrature_mean(1 + U^2, d = d, degree = degree);\n"
    "flux = mvmul(G, gradient(G, u[dofs]));\n"
    "K = a*dshape_dot_dshape(G, J) + outer(flux, quadrature_load(2*U, J, degree = degree));\n"
    "r[dofs] += a*measure(J)*flux - load*quadrature_load(source(P), J, degree = degree);\n";

typedef struct setting {
    weft_context context;
    weft_library *library;
    weft_mesh *mesh;
    weft_problem *problem;
    weft_problem_options options;
} setting;

static weft_status open_context(setting *s, weft_error *error) {
    weft_status status = WEFT_OK;
    *s = (setting){.context.plan = WEFT_PLAN_FUSED, .options = weft_problem_options_default()};
    s->options.tolerance = 1e-12;
    TRY(weft_device_open("host:1", NULL, &s->context.device, error));
    TRY(weft_fem_library_make(&s->library, error));
    s->context.library = s->library;
done:
    return status;
}

static weft_status make_problem(setting *s, int side, const char *source, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_expression given = {"source", source, "the source"};
    const weft_bind_options options = {.size = sizeof options,
                                       .file = "test.weft",
                                       .expressions = &given,
                                       .n_expressions = 1,
                                       .nonlinear = true};
    TRY(weft_mesh_make_square(side, &s->mesh, error));
    TRY(weft_problem_start(&s->context, NULL, &s->problem, error));
    TRY(weft_script_bind(script, s->mesh, &options, s->problem, error));
done:
    return status;
}

static void free_problem(setting *s) {
    weft_problem_free(&s->problem);
    weft_mesh_free(&s->mesh);
}

static void close_setting(setting *s) {
    free_problem(s);
    weft_library_free(&s->library);
    weft_device_free(&s->context.device);
}

static weft_status add(setting *s, weft_condition_kind kind, const char *group, int component,
                       const char *value, weft_error *error) {
    const weft_condition condition = {
        .kind = kind, .group = group, .alpha = "1", .value = value, .component = component};
    return weft_problem_condition(s->problem, &condition, error);
}
