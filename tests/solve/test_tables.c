/* labels: full */
/* Tables of values: lines through linear solutions, which are exact, and histories in time, whose
 * last row is the report's and which restarts continue. Tolerance 1e-9: solvers stop at 1e-10. */
#include "ad_run.h"
#include "core/weft_core.h"
#include "poisson_run.h"

#include <unistd.h>

static void expect(double found, double wanted) {
    if (!(fabs(found - wanted) <= 1e-9))
        fail_msg("%.17g, expected %.17g", found, wanted);
}

/* Row i of a CSV file, [n] numbers; NaN where a field is empty. Returns the number of rows. */
static int read_table(const char *path, int n, int i, double *out) {
    char *text = NULL;
    int rows = 0;
    assert_int_equal(weft_file_read(path, &text, NULL, NULL), WEFT_OK);
    const char *at = strchr(text, '\n');
    for (; at && at[1]; at = strchr(at + 1, '\n'), ++rows) {
        const char *field = at + 1;
        for (int k = 0; k < n && rows == i; ++k) {
            char *end = NULL;
            out[k] = strtod(field, &end);
            out[k] = end == field ? NAN : out[k];
            assert_true(*end == (k + 1 < n ? ',' : '\n'));
            field = end + 1;
        }
    }
    free(text);
    return rows;
}

/* u = 1 + 2 x + 3 y in a square, 4 z more in a cube: along a line that ends outside. */
static void lines_through_linear_solutions(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        char *folder = test_folder_make(), line[4200], path[4096];
        const int columns = 1 + d + 1 + d;
        snprintf(path, sizeof path, "%s/line.csv", folder);
        snprintf(line, sizeof line, "%s:6=%s",
                 d == 2 ? "0.1,0.2:1.1,0.2" : "0.1,0.2,0.3:1.1,0.2,0.3", path);
        json_decref(POISSON(0, "--mesh", d == 2 ? "square:7" : "cube:4", "--source", "0",
                            "--dirichlet", d == 2 ? "boundary=1+2*x+3*y" : "boundary=1+2*x+3*y+4*z",
                            "--derive", "g = grad(u)", "--line", line, "--tolerance", "1e-13"));
        for (int i = 0; i < 6; ++i) {
            double row[9];
            assert_int_equal(read_table(path, columns, i, row), 6);
            expect(row[0], 0.2 * i);
            expect(row[1], 0.1 + 0.2 * i);
            expect(row[2], 0.2);
            if (i == 5) { /* x = 1.1 */
                assert_true(isnan(row[1 + d]));
                continue;
            }
            expect(row[1 + d], 1 + 2 * row[1] + 0.6 + (d == 3 ? 1.2 : 0));
            for (int k = 0; k < d; ++k)
                expect(row[2 + d + k], 2 + k);
        }
        test_folder_remove(&folder);
    }
}

/* A sealed body: its content is constant, and the mean of t is known; the last row is the report's. */
static void histories(void **state) {
    (void)state;
    char *folder = test_folder_make(), path[4096];
    snprintf(path, sizeof path, "%s/history.csv", folder);
    json_t *root = AD(0, "--mesh", "square:12", "--diffusivity", "0.1", "--initial", "cos(pi*x)+x",
                      "--dt", "0.01", "--steps", "10", "--history", path, "--history-every", "5",
                      "--probe", "0.3,0.4", "--probe", "3,3", "--integral", "content = T",
                      "--integral", "clock@left = t", "--extrema", "range = T");
    double row[7];
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(read_table(path, 7, i, row), 3);
        expect(row[0], 0.05 * i);
        assert_true(isnan(row[2])); /* the probe outside */
        expect(row[3], 0.5);
        expect(row[4], row[0]);
        assert_true(row[5] < row[6]);
    }
    expect(row[1], app_probe_value(root, 0));
    const json_t *derived = json_object_get(root, "derived");
    expect(row[6], app_number(json_array_get(derived, 2), "greatest"));
    json_decref(root);
    test_folder_remove(&folder);
}

static char *file_text(const char *path) {
    char *text = NULL;
    assert_int_equal(weft_file_read(path, &text, NULL, NULL), WEFT_OK);
    return text;
}

/* Four steps, of which a run makes two and a restart the others: the same file. */
static void restarts_continue_histories(void **state) {
    (void)state;
    char *folder = test_folder_make(), whole[4096], part[4096], kept[4096];
    snprintf(whole, sizeof whole, "%s/whole.csv", folder);
    snprintf(part, sizeof part, "%s/part.csv", folder);
    snprintf(kept, sizeof kept, "%s/kept.vtkhdf", folder);
#define PROBLEM                                                                                    \
    "--mesh", "square:8", "--diffusivity", "0.1*(1+t)", "--initial", "x*y", "--dirichlet",         \
        "left=t", "--dt", "0.02", "--probe", "0.5,0.5", "--integral", "heat@left = -mu*grad(T)[0]"
    json_decref(AD(0, PROBLEM, "--steps", "4", "--history", whole));
    json_decref(AD(0, PROBLEM, "--steps", "2", "--history", part, "--checkpoint", kept));
    json_decref(AD(0, PROBLEM, "--steps", "4", "--history", part, "--restart", kept));
    char *a = file_text(whole), *b = file_text(part);
    assert_string_equal(a, b);
    free(a);
    free(b);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_through_linear_solutions),
                                       cmocka_unit_test(histories),
                                       cmocka_unit_test(restarts_continue_histories)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
