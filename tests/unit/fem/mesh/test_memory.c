/* labels: quick */
/* What weft_mesh_make takes beyond the arrays that it is given, at its peak: two cell numbers a
 * cell (8 bytes), a start a node (4 of them for 5.8 cells), and at last the boundary: at most 12
 * bytes a tetrahedron. Peak resident memory, of a process of its own, since it has no way back. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static double resident_peak(const char *key) {
    char *text = test_file_read("/proc/self/status", NULL), *line = text ? strstr(text, key) : NULL;
    double bytes = line ? 1024 * strtod(line + strlen(key), NULL) : -1;
    free(text);
    return bytes;
}

/* 0 when it takes no more than `most` bytes a cell; else the bytes, or 255. */
static int measure(int dimension, int64_t n, double most) {
    weft_mesh *from = NULL, *mesh = NULL;
    if ((dimension == 2 ? weft_mesh_make_square(n, &from, NULL)
                        : weft_mesh_make_cube(n, &from, NULL)) != WEFT_OK)
        return 255;
    weft_mesh_data data = {.dimension = dimension,
                           .n_nodes = from->n_nodes,
                           .n_cells = from->n_cells,
                           .x = from->x,
                           .cells = from->cells};
    from->x = NULL;
    from->cells = NULL;
    double before = resident_peak("VmHWM:"), now = resident_peak("VmRSS:");
    if (before < 0 || before - now > 4e6 ||
        weft_mesh_make(&data, "memory", NULL, &mesh, NULL) != WEFT_OK)
        return 255;
    double bytes = (resident_peak("VmHWM:") - before) / (double)mesh->n_cells;
    printf("%d-dimensional: %.1f bytes a cell\n", dimension, bytes);
    fflush(stdout);
    weft_mesh_free(&mesh);
    weft_mesh_free(&from);
    return bytes <= most ? 0 : (int)bytes;
}

static void check(int dimension, int64_t n, double most) {
    int how = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(measure(dimension, n, most));
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
}

static void test_peak(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip_test("a sanitizer's own memory would be counted");
#endif
    check(3, 60, 12);
    check(2, 600, 14);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_peak)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
