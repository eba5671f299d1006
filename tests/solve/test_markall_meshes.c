/* labels: full */
/* The sizes that meshes/markall_square.geo tells are those that it makes, within 1 % of what
 * Markall et al. name: another release of Gmsh may place its nodes a little differently. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = WEFT_SOURCE_DIR "/meshes/markall_square.geo";

typedef struct row {
    double size, asked, triangles, nodes;
} row;

/* The rows of the table in the file's comment. */
static int read_table(row rows[8]) {
    int n = 0;
    char *text = test_file_read(path, NULL);
    assert_non_null(text);
    for (char *line = strtok(text, "\n"); line && n < 8; line = strtok(NULL, "\n"))
        if (sscanf(line, "// %lf %lf %lf %lf", &rows[n].size, &rows[n].asked, &rows[n].triangles,
                   &rows[n].nodes) == 4)
            ++n;
    free(text);
    return n;
}

static double area_of(const weft_mesh *mesh) {
    double area = 0;
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        const double *a = &mesh->x[2 * mesh->cells[3 * c]],
                     *b = &mesh->x[2 * mesh->cells[3 * c + 1]],
                     *d = &mesh->x[2 * mesh->cells[3 * c + 2]];
        area += ((b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0])) / 2;
    }
    return area;
}

static double length_of(const weft_mesh *mesh, const char *name) {
    weft_error error = {0};
    int32_t *facets = NULL;
    int64_t n = 0;
    int group = 0;
    double length = 0;
    assert_int_equal(weft_mesh_group(mesh, name, &group, &error), WEFT_OK);
    assert_int_equal(weft_mesh_group_facets(mesh, group, &facets, &n, &error), WEFT_OK);
    for (int64_t i = 0; i < n; ++i) {
        const double *a = &mesh->x[2 * facets[2 * i]], *b = &mesh->x[2 * facets[2 * i + 1]];
        length += hypot(b[0] - a[0], b[1] - a[1]);
    }
    free(facets);
    return length;
}

static void check_mesh(const row *reported) {
    static const char *const sides[] = {"bottom", "right", "top", "left"};
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    if (weft_mesh_read(path, reported->size, NULL, &mesh, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(mesh->dimension, 2);
    assert_double_near((double)mesh->n_cells, reported->asked, 0.01, 0);
    assert_double_near((double)mesh->n_cells, reported->triangles, 0.01, 0);
    assert_double_near((double)mesh->n_nodes, reported->nodes, 0.01, 0);
    assert_double_near(area_of(mesh), 1, 1e-10, 0); /* 332,000 terms, each rounded */
    for (int i = 0; i < 4; ++i)
        assert_double_near(length_of(mesh, sides[i]), 1, 1e-12, 0);
    weft_mesh_free(&mesh);
}

static void test_sizes(void **state) {
    row rows[8];
    (void)state;
    int n = read_table(rows);
    assert_int_equal(n, 5);
    assert_true(rows[0].asked == 28710 && rows[4].asked == 331714);
    for (int i = 1; i < 4; ++i) /* equal ratios */
        assert_double_near(rows[i].asked, 28710 * pow(331714.0 / 28710, i / 4.0), 1e-3, 0);
    const char *program = getenv("WEFT_GMSH");
    FILE *file = program ? fopen(program, "r") : NULL;
    if (!file)
        skip_test("weft-gmsh is not part of this build");
    fclose(file);
    for (int i = 0; i < (test_is_full() ? n : 3); ++i) /* the last two take most of the time */
        check_mesh(&rows[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
