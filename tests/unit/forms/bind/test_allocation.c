/* labels: full */
/* A form file with integrals over cells and a part of the boundary, and a script, bound to a mesh with the n-th allocation
 * failing. Values are numbers, so that no kernel is compiled. */
#include "allocation.h"
#include "setting.h"

static const char heat[] = "element = FiniteElement(\"Lagrange\", triangle, 2)\n"
                           "u, v = TrialFunction(element), TestFunction(element)\n"
                           "k = Coefficient(FiniteElement(\"DG\", triangle, 0))\n"
                           "f = Constant(triangle)\n"
                           "m = u*v*dx\n"
                           "a = k*inner(grad(u), grad(v))*dx\n"
                           "L = f*v*ds(7)\n";

static weft_status bind_file(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    setting *s = user;
    const weft_problem_value values[] = {{"k", {.text = "50"}}, {"f", {.text = "3"}}};
    const weft_bind_measure measure = {"ds(7)", "right", "the test"};
    const weft_bind_options options = {.size = sizeof options,
                                       .measures = &measure,
                                       .n_measures = 1,
                                       .values = values,
                                       .n_values = 2,
                                       .in_time = true};
    weft_library *library = NULL; /* gets the functions of the file, which it borrows */
    weft_ufl *ufl = NULL;
    TRY(weft_fem_library_make(&library, error));
    TRY(weft_ufl_read_text("test.ufl", heat, strlen(heat), NULL, &ufl, error));
    s->context.library = library;
    TRY(weft_problem_start(&s->context, NULL, &s->problem, error));
    TRY(weft_ufl_bind(ufl, s->mesh, library, &options, s->problem, error));
done:
    weft_problem_free(&s->problem);
    s->context.library = s->library;
    weft_library_free(&library);
    weft_ufl_free(&ufl);
    return status;
}

static char *path; /* of a result */

static weft_status bind_script(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    setting *s = user;
    const weft_expression given = {"source", "2", "the test"};
    const weft_bind_options options = {.size = sizeof options,
                                       .file = "heat.weft",
                                       .expressions = &given,
                                       .n_expressions = 1,
                                       .in_time = true};
    TRY(weft_problem_start(&s->context, NULL, &s->problem, error));
    TRY(weft_script_bind(weft_fem_script("heat.weft"), s->mesh, &options, s->problem, error));
    TRY(weft_problem_write(s->problem, path, NULL, "heat", error));
done:
    weft_problem_free(&s->problem);
    return status;
}

static weft_status read_shipped(void *user, weft_error *error) {
    (void)user;
    weft_ufl *ufl = NULL;
    const weft_status status =
        weft_ufl_read_shipped("elasticity.ufl", WEFT_HEXAHEDRON, 1, "force", NULL, &ufl, error);
    weft_ufl_free(&ufl);
    return status;
}

static void binding(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    char *folder = test_folder_make();
    path = test_path(folder, "u.vtu");
    check(weft_mesh_make_square(1, &mesh, &error), &error);
    open_setting(&s, mesh, NULL);
    weft_problem_free(&s.problem);
    assert_true(test_every_allocation("a form file", bind_file, &s) > 100);
    assert_true(test_every_allocation("a script", bind_script, &s) > 100);
    assert_true(test_every_allocation("a shipped form file", read_shipped, NULL) > 5);
    close_setting(&s);
    free(path);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(binding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
