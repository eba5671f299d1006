/* labels: quick */
/* An explanation says what was counted by hand, in lines of words that are split at spaces. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "library_state.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const diamond = "index cells, nodes;\n"
                                   "connectivity dofs : cells -> nodes[3];\n"
                                   "input k : real[3] over cells;\n"
                                   "a = k*k;\n"
                                   "b[dofs] += a;\n"
                                   "c = sqrt(b[dofs]);\n"
                                   "d = a*c;\n"
                                   "return d;\n";

static char *explain(void **state, const char *device_name, const char *script,
                     const weft_compile_options *options) {
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    weft_text text = {0};
    const weft_fragment fragment = {"script.weft", script};
    assert_int_equal(weft_device_open(device_name, NULL, &device, NULL), WEFT_OK);
    assert_int_equal(
        weft_compile(*state, weft_device_limits(device), &fragment, 1, options, &compilation, NULL),
        WEFT_OK);
    assert_int_equal(weft_compilation_explain(compilation, &text, NULL), WEFT_OK);
    weft_compilation_free(&compilation);
    weft_device_free(&device);
    return text.data;
}

static bool same_words(const char *line, const char *words) {
    for (;;) {
        line += strspn(line, " ");
        words += strspn(words, " ");
        if (*words == '\0')
            return *line == '\n' || *line == '\0';
        const size_t n = strcspn(words, " ");
        if (strncmp(line, words, n) != 0 || strchr(" \n", line[n]) == NULL)
            return false;
        line += n;
        words += n;
    }
}

static void assert_says(const char *text, const char *words) {
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n")) {
        line += *line == '\n';
        if (same_words(line, words))
            return;
    }
    fail_msg("no line \"%s\" in\n%s", words, text);
}

/* unfused: a 60 in 48 out, c 36 in 24 out, d 48 in 24 out; fused: a as before, c and d together 60
 * in 24 out. At 20 GB/s: 240 and 192 bytes. */
static void numbers(void **state) {
    char *text = explain(state, "null", diamond, NULL);
    assert_says(text, "3 calls: 3 kernels unfused, 2 fused. Compiled: fused.");
    assert_says(text, "kernels 3 2");
    assert_says(text, "bytes loaded 144 120 1.20");
    assert_says(text, "bytes stored 96 72 1.33");
    assert_says(text, "floating-point ops 66 66 1.00");
    assert_says(text, "predicted time, ns 12 9.6 1.25");
    assert_says(text, "k1_arithmetic cells 36 24 60 3 memory");
    assert_says(text, "k1_arithmetic_arithmetic cells 60 24 63 4.2 memory");
    /* b[dofs] takes 24 bytes of what a makes, a itself 24; c is stored and loaded no more */
    assert_says(text,
                "a, c not fused: 'b' must be complete before it is read: a global barrier; 24 B "
                "pass between them through memory");
    assert_says(text,
                "a, d not fused: 'b' must be complete before it is read: a global barrier; 24 B "
                "pass between them through memory");
    assert_says(text, "c, d fused: spares 48 B, 'c' stays on chip");
    /* of c and d: b[dofs] 3 and c 3; then a 3, c 3, d 3. 9 components of 8 bytes, 8 elements */
    assert_says(text,
                "k1_arithmetic_arithmetic: at most 9 components at once; 576 B for a block of "
                "8, registers hold 2048 B");
    free(text);
}

static void other_limits(void **state) {
    const weft_compile_options options = {
        .size = sizeof options, .single = true, .plan = WEFT_PLAN_UNFUSED};
    char *text = explain(state, "null:h200", diamond, &options);
    assert_says(text, "3 calls: 3 kernels unfused, 2 fused. Compiled: unfused.");
    /* floats and indices of 4 bytes: a 12 + 12 + 12, c 12 + 12, d 24 in */
    assert_says(text, "bytes loaded 84 72 1.17");
    assert_says(text, "bytes stored 48 36 1.33");
    assert_says(text, "c, d fused: spares 24 B, 'c' stays on chip");
    free(text);
}

static void reasons(void **state) {
    char *text = explain(state, "null",
                         "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
                         "input f : real over nodes;\ninput M, L : real[3,3] over cells;\n"
                         "g = 2*f;\n"
                         "h = mvmul(M, f[dofs]);\n"
                         "i = mvmul(M, h);\n"
                         "j = 3*L;\n"
                         "l = mmul(j, L);\n"
                         "m = g[dofs];\nn = 2*m;\n"
                         "return i, l, n;\n",
                         NULL);
    assert_says(text, "g, h not fused: one is over nodes, the other over cells; 0 B pass between "
                      "them");
    assert_says(text, "g, n not fused: one is over nodes, the other over cells; 24 B pass between "
                      "them through memory");
    /* h: stored and loaded 48, M loaded once 72 */
    assert_says(text, "h, i fused: spares 120 B, 'h' stays on chip");
    assert_says(text, "h, j not fused: they share no data, 0 B would be spared");
    /* j 9 numbers not stored and loaded, L loaded once */
    assert_says(text, "j, l fused: spares 216 B, 'j' stays on chip");
    assert_says(text, "h mvmul 1*, m = 3");
    assert_says(text, "j arithmetic 1*");
    assert_says(text, "l mmul 1*, m = 3, m*n = 9");
    free(text);
}

/* Products with a matrix and its transpose: x is complete only after all rows, and gemv needs it at the start of each. */
static void slices(void **state) {
    char *text = explain(state, "null",
                         "index rows, cols;\ninput A : real over rows, cols;\n"
                         "input y : real over rows;\ninput z : real over cols;\n"
                         "x = 2*gemtv(A, y) + z;\nw = 3*gemv(A, x);\nreturn x, w;\n",
                         NULL);
    assert_says(text, "x, gemv_2 not fused: no slice of the matrix, rows or columns, serves both");
    assert_null(strstr(text, "operator's"));
    assert_non_null(strstr(text, "1 against the rules of slices and operators"));
    free(text);
}

static void reductions(void **state) {
    char *text = explain(state, "null",
                         "index n;\ninput p, q, x, f : real over n;\n"
                         "s = dot(p, q);\n"
                         "y = x + s*p;\n"
                         "z = 2*f;\n"
                         "return y, z;\n",
                         NULL);
    assert_says(text,
                "s, y not fused: 's' must be complete before it is read: a global barrier; 0 B "
                "pass between them");
    /* z shares nothing with either; it comes before the barrier that y stands behind */
    assert_says(text,
                "y, z not fused: 's' must be complete before it is read: a global barrier; 0 B "
                "pass between them");
    assert_says(text, "s, z not fused: they share no data, 0 B would be spared");
    assert_says(text, "k1_finish n 0 0 0 0 launch");
    free(text);
}

/* Hundreds of calls: only pairs that share data are listed, and the others counted. */
static void many_calls(void **state) {
    weft_text script = {0};
    weft_text_add(&script, "index N;\ninput k : real over N;\n");
    for (int i = 0; i < 100; ++i)
        weft_text_add(&script, i == 0 ? "a0 = 2*k;\n" : "a%d = 2*a%d;\n", i, i - 1);
    weft_text_add(&script, "return a99;\n");
    char *text = explain(state, "null", script.data, NULL);
    assert_says(text, "a41, a42 fused: spares 16 B, 'a41' stays on chip");
    /* 4950 pairs, 99 of them neighbours */
    assert_says(text, "and 4851 pairs that share no data");
    free(text);
    weft_text_free(&script);
}

/* c may share a kernel with a and s, from which it takes x, or with b, from which it takes x and y.
 * The second moves 8 bytes less, 40 in place of 48; at 20 GB/s and a million elements 400 us. */
static void candidates(void **state) {
    char *text = explain(state, "null",
                         "index n;\ninput x, y : real over n;\n"
                         "a = 2*x;\ns = sum(a);\nb = x*s + y;\nc = 3*x + y;\n"
                         "return b, c;\n",
                         NULL);
    static const char says[] = "could be fused: candidate, not chosen (predicted ";
    double together = 0, chosen = 0;
    const char *at = strstr(text, says);
    assert_non_null(at);
    const char *line = at;
    while (line[-1] != '\n')
        --line;
    assert_memory_equal(line, "  a, c ", 7);
    assert_int_equal(sscanf(at + sizeof says - 1, "%lf us against %lf)", &together, &chosen), 2);
    assert_double_near(together - chosen, 400, 0, 1); /* of four digits */
    assert_says(text, "b, c fused: spares 16 B, loaded once for both");
    assert_null(strstr(text, "s, c fused"));
    free(text);
}

/* a and b share nothing; d is behind the split. Candidates: the four alone, {a, c}, {b, c}, {c, d},
 * {a, d} by x, {a, b, c}, {b, c, d}, {a, c, d}, {a, b, c, d}. (a, d) is not convex: c lies between.
 * Without those against the directives: {a, b}, {a, b, c}, {c}, {d}. */
static void directives(void **state) {
    static const char script[] = "index n;\ninput x, y : real over n;\n"
                                 "fuse { a = 2*x; b = 3*y; }\nc = a + b;\nsplit;\nd = c*x;\n"
                                 "return d;\n";
    char *text = explain(state, "null", script, NULL);
    assert_says(text, "4 calls: 4 kernels unfused, 2 fused. Compiled: fused.");
    assert_says(text, "implementations: 12 made, 4 kept; 4 since it cuts a fuse block of the "
                      "script, 4 since the script has a split between its calls");
    assert_says(text, "c, d not fused: the script has a split between its calls; 8 B pass between "
                      "them through memory");
    free(text);
}

/* A call of arithmetic: one thread, blocks of 32, 64, ... 1024, and two elements of a thread in the first. mmul of
 * 3 x 3: 6 blocks by 1 thread, 10 by 3 threads, 10 by 2 of its 3, and by 9, 8, 4, 2 of its 9 threads 8, 8, 9, 10 blocks, of
 * 1, 2, 4, ... elements to the limit and the most; more iterations where starting blocks is the limit. The best of each
 * body is kept. */
static void counts(void **state) {
    char *text = explain(state, "null:h200",
                         "index n;\ninput x : real over n;\na = 2*x;\nreturn a;\n", NULL);
    assert_says(text, "implementations: 7 made, 1 kept; 6 dominated");
    free(text);
    text = explain(state, "null:h200",
                   "index n;\ninput x : real[3,3] over n;\na = mmul(x, x);\nreturn a;\n", NULL);
    const char *at = strstr(text, "implementations: ");
    int made = 0, kept = 0;
    assert_non_null(at);
    assert_int_equal(sscanf(at, "implementations: %d made, %d kept", &made, &kept), 2);
    assert_true(made >= 6 + 10 + 10 + 8 + 8 + 9 + 10);
    assert_int_equal(kept, 3);
    free(text);
}

/* Everything that was made is kept or counted as left out, also summed over segments. */
static void counts_add_up(void **state) {
    char *text = explain(state, "null:h200",
                         "index n;\ninput A, B : real[3,3] over n;\ninput r : real;\n"
                         "C = mmul(A, B);\nD = mmul(C, B);\nE = madd(D, A);\n"
                         "s = sum(E[0,0]);\n"
                         "repeat at most 3 while (r < 1) {\n  update r = r + s;\n}\n"
                         "return E, s;\n",
                         NULL);
    const char *all = strstr(text, "# all segments");
    assert_non_null(all);
    const char *at = strstr(all, "implementations: ");
    assert_non_null(at);
    long long made = 0, sum = 0;
    int n = 0, of_numbers = 0;
    assert_int_equal(sscanf(at, "implementations: %lld made%n", &made, &n), 1);
    for (at += n; *at != '\n';) {
        if (*at != ',' && *at != ';') {
            ++at;
            continue;
        }
        long long part = 0;
        assert_int_equal(sscanf(at + 1, "%lld%n", &part, &n), 1);
        sum += part;
        ++of_numbers;
        at += 1 + n;
    }
    assert_true(of_numbers > 1);
    assert_true(made == sum && made > 100);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),    cmocka_unit_test(other_limits),
        cmocka_unit_test(reasons),    cmocka_unit_test(reductions),
        cmocka_unit_test(slices),     cmocka_unit_test(many_calls),
        cmocka_unit_test(candidates), cmocka_unit_test(directives),
        cmocka_unit_test(counts),     cmocka_unit_test(counts_add_up)};
    return cmocka_run_group_tests(tests, library_open, library_close);
}
