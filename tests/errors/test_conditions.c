/* labels: quick */
/* Conditions on the flux and periodic sides for functions and meshes that they are not for: exit 2 and one message. */
#include "bad_run.h"

#include <unistd.h>

/* Two squares, each of two triangles, with the line between them as a group; the end is for periodic sides. */
static const char mesh[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n1 1 \"left\"\n1 2 \"right\"\n"
    "1 3 \"middle\"\n2 4 \"all\"\n$EndPhysicalNames\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n"
    "4 0 1 0\n5 1 1 0\n6 2 1 0\n$EndNodes\n$Elements\n7\n1 1 2 1 1 1 4\n2 1 2 2 2 3 6\n"
    "3 1 2 3 3 2 5\n4 2 2 4 4 1 2 5\n5 2 2 4 4 1 5 4\n6 2 2 4 4 2 3 6\n7 2 2 4 4 2 6 5\n"
    "$EndElements\n";

#define PROBLEM(element)                                                                           \
    "E = " element "\n"                                                                            \
    "u, v = TrialFunction(E), TestFunction(E)\n"                                                   \
    "a = inner(grad(u), grad(v))*dx + inner(u, v)*dx\n"

static const struct {
    bad_case problem;
    const char *form, *periodic;
} cases[] = {
    {{"bubbles",
      {"--neumann", "left=1"},
      {"--neumann left: error: conditions on the flux are not for functions that are zero on all "
       "facets, such as bubbles",
       "leave the condition out"}},
     PROBLEM("FiniteElement('B', triangle, 3)"),
     ""},
    {{"two values",
      {"--robin", "middle=1,2"},
      {"--robin middle: error: conditions on the flux are not for discontinuous functions on "
       "facets between two cells, where they have two values",
       "write the term into the form, with dS"}},
     PROBLEM("FiniteElement('DG', triangle, 1)"),
     ""},
    {{"an image of a vertex",
      {"--periodic", "mesh"},
      {"--periodic mesh: error: ",
       "declares an image of the vertex (2, 0), and of no facet around it",
       "declare whole sides periodic"}},
     PROBLEM("FiniteElement('P', triangle, 2)"),
     "$Periodic\n1\n1 2 1\n1\n3 1\n$EndPeriodic\n"},
    {{"rotated sides of vectors",
      {"--periodic", "mesh"},
      {"--periodic mesh: error: the sides that ",
       "declares periodic are rotated against each other",
       "vectors are periodic by translation only"}},
     PROBLEM("VectorElement('P', triangle, 2)"),
     "$Periodic\n1\n1 2 1\n2\n3 4\n6 1\n$EndPeriodic\n"},
    {{"rotated sides of linear vectors",
      {"--periodic", "mesh"},
      {"declares periodic are rotated against each other"}},
     PROBLEM("VectorElement('P', triangle, 1)"),
     "$Periodic\n1\n1 2 1\n2\n3 4\n6 1\n$EndPeriodic\n"},
};

static void messages(void **state) {
    (void)state;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    char *folder = test_folder_make(), *path = test_path(folder, "two.msh"),
         *form = test_path(folder, "form.ufl"), text[2048];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *arguments[BAD_ARGUMENTS_MAX] = {"--mesh", path};
        snprintf(text, sizeof text, "%s%s", mesh, cases[i].periodic);
        test_text_write(path, text);
        test_text_write(form, cases[i].form);
        memcpy(arguments + 2, cases[i].problem.arguments, 2 * sizeof *arguments);
        test_run run = bad_run("solve", folder, form, arguments);
        bad_check(&cases[i].problem, 2, &run);
        test_run_free(&run);
    }
    free(path);
    free(form);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
