/* labels: quick */
/* Python's rules in form files: expressions with the values that CPython 3.11 gives, and statements. */
#include "forms/file/file.h"
#include "test_support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *expression;
    double value;
} expressions[] = {
    {"7 // 2", 3.0},
    {"-7 // 2", -4.0},
    {"-7 % 3", 2.0},
    {"7 % -3", -2.0},
    {"7 / 2", 3.5},
    {"2**10", 1024.0},
    {"2**-1", 0.5},
    {"2.0**3", 8.0},
    {"-2**2", -4.0},
    {"(-2)**2", 4.0},
    {"2**3**2", 512.0},
    {"1_000 + 1", 1001.0},
    {"1e3 + .5", 1000.5},
    {"10 - 2 - 3", 5.0},
    {"2 + 3*4", 14.0},
    {"(2 + 3)*4", 20.0},
    {"abs(-3) + abs(2.5)", 5.5},
    {"len([1, 2, 3]) + len((1,)) + len({'a': 1})", 5.0},
    {"sum([1, 2, 3]) + sum(range(5))", 16.0},
    {"max(1, 5, 3) - min([4, 2, 8])", 3.0},
    {"int(3.7) + int('12') + int(-3.7)", 12.0},
    {"float(2) / 4", 0.5},
    {"round(2.6)", 3.0},
    {"[10, 20, 30][-1]", 30.0},
    {"(1, 2, 3)[1]", 2.0},
    {"[1, 2, 3, 4, 5][1:4][2]", 4.0},
    {"[1, 2, 3, 4, 5][::2][-1]", 5.0},
    {"{'a': 1, 'b': 2}['b']", 2.0},
    {"sum([k*k for k in range(5) if k % 2 == 0])", 20.0},
    {"sum([i*j for i in (1, 2) for j in (3, 4)])", 21.0},
    {"sum(k for k in range(4))", 6.0},
    {"(lambda x, y=3: x*y)(2)", 6.0},
    {"(lambda x, y=3: x*y)(2, y=5)", 10.0},
    {"1 if 2 > 1 else 0", 1.0},
    {"1 if not True else 0", 0.0},
    {"(0 or 5) + (3 and 4)", 9.0},
    {"1 < 2 < 3", 1.0},
    {"(1 < 2 > 3) + 1", 1.0},
    {"int('a' + 'b' == 'ab')", 1.0},
    {"int('x' in 'xyz') + int(3 in [1, 2, 3]) + int(4 not in (1, 2))", 3.0},
    {"len('a' * 0 if False else 'abc')", 3.0},
    {"len(str(12.5)) + len(f\"{1 + 1}{'x'}\")", 6.0},
    {"len(\"a{}b{}\".format(1, 22))", 5.0},
    {"int(None is None) + int(1 is not None)", 2.0},
    {"sum([a*b for a, b in zip([1, 2], [3, 4])])", 11.0},
    {"sum([i*x for i, x in enumerate([5, 6, 7])])", 20.0},
    {"list(reversed([1, 2, 3]))[0]", 3.0},
    {"len([0]*5 + [1, 2])", 7.0},
    {"sum([v for k, v in {'a': 1, 'b': 5}.items()])", 6.0},
    {"{'a': 1}.get('c', 7)", 7.0},
    {"math.floor(2.7) + math.ceil(2.1) + math.sqrt(16)", 9.0},
    {"math.pi > 3.14", 1.0},
    {"True + True", 2.0},
    {"3 == 3.0", 1.0},
    {"bool([]) + bool([0])", 1.0},
    {"tuple([1, 2])[0] + list((3, 4))[1]", 5.0},
    {"pow(2, 5)", 32.0},
    {"{'a': 1, 'a': 5}['a']", 5.0},
    {"{1: 2, True: 3, 1.0: 4}[1]", 4.0},
    {"len({0: 1, -0.0: 2, 0.0: 3})", 1.0},
    {"{(1, 'a'): 3, (1.0, 'a'): 4}[(True, 'a')]", 4.0},
    {"len({None: 1, 'None': 2, (): 3})", 3.0},
};

/* The number that a text leaves in x: the integrand of x*dx. */
static double number(const char *statements) {
    char text[2000];
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    snprintf(text, sizeof text, "import math\n%s\nforms = [as_ufl(x)*dx(triangle)]\n", statements);
    if (weft_ufl_read_text("test.ufl", text, strlen(text), NULL, &ufl, &error) != WEFT_OK)
        fail_msg("%s\n%d:%d: %s", text, error.line, error.column, error.message);
    double value = ufl_number(ufl->module->forms[0].form->integrals[0].integrand);
    weft_ufl_free(&ufl);
    return value;
}

static void test_expressions(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof expressions / sizeof expressions[0]; ++i) {
        char text[500];
        snprintf(text, sizeof text, "x = %s", expressions[i].expression);
        double value = number(text);
        if (value != expressions[i].value)
            fail_msg("%s is %.17g, not %.17g", text, value, expressions[i].value);
    }
}

static void test_statements(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"x = y = 3\nx += y\nx *= 2; x -= 1", 11},
        {"a, (b, c) = 1, (2, 3)\n[d, e] = [4, 5]\nx = a + 10*b + 100*c + 1000*d + 10000*e", 54321},
        {"x = 0\nfor i in range(10):\n    if i == 3:\n        continue\n    elif i == 6:\n"
         "        break\n    else:\n        x += i",
         12},
        {"def f(a, b=2):\n    def g(c):\n        return a*b + c\n    return g(1)\n"
         "x = f(3) + f(b=5, a=2)",
         18},
        {"k = 5\ndef f():\n    return k\nk = 7\nx = f()", 7},
        {"def f(n):\n    if n == 0:\n        return 1\n    return n*f(n - 1)\nx = f(6)", 720},
        {"a = [1]\nb = a\nb += [2]\nb.append(3)\nx = len(a)", 3},
        {"vars()['name' + str(1)] = 4\nx = name1", 4},
        {"d = {}\nd['a'] = 1\nd['a'] += 5\nx = d['a']", 6},
        {"l = [1, 2, 3]\nl[1] = 7\ndel l[0]\nx = l[0]", 7},
        {"x = (1 +\n     2 +  # comment\n     3)", 6},
        {"x = 1 + \\\n    2", 3},
        {"if 1:\n\tx = 1\n\tif 2:\n\t\tx = 2\n", 2},
        {"\"\"\"a docstring\nof two lines\"\"\"\nx: int = 5", 5},
        {"x = 1\nfor x in []:\n    pass\n", 1},
        {"i = 3\nl = [i for i in range(2)]\nx = i", 3},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        double value = number(cases[k].text);
        if (value != cases[k].value)
            fail_msg("%s\ngives %g, not %g", cases[k].text, value, cases[k].value);
    }
}

/* Byte order mark, CR LF and a line for the encoding. */
static void test_text(void **state) {
    (void)state;
    static const char text[] = "\xEF\xBB\xBF# -*- coding: utf-8 -*-\r\nif True:\r\n    y = 2\r\n"
                               "# \xC3\xA4\r\nM = y*dx(triangle)";
    weft_ufl *ufl = NULL;
    assert_int_equal(weft_ufl_read_text("test.ufl", text, strlen(text), NULL, &ufl, NULL), WEFT_OK);
    assert_string_equal(ufl->module->forms[0].name, "M");
    weft_ufl_free(&ufl);
}

/* What a file exports: the last values of its names. */
static void test_exports(void **state) {
    (void)state;
    static const struct {
        const char *text, *names;
    } cases[] = {
        {"a = 1*dx(triangle)\nL = 2*dx(triangle)\nF = 3*dx(triangle)", "a L "},
        {"F = 3*dx(triangle)\nJ = 2*dx(triangle)\na = 2", "F J "},
        {"F = 3*dx(triangle)\nF = Identity(2)\nM = 2*dx(triangle)", "M "},
        {"b = 3*dx(triangle)\nc = b\nforms = (b, 2*dx(triangle))", "b forms[1] "},
        {"F = 2*dx(triangle)\nL = F\na = 3*dx(triangle)", "a L "},
        {"A = 3*dx(triangle)\na = A\nF = 2*dx(triangle)\nL = F\nforms = [A, F]", "a L "},
        {"B = 2*dx(triangle)\nF = B\nC = 3*dx(triangle)\nJ = C", "F J "},
        {"B = 2*dx(triangle)\nF = B\nC = 3*dx(triangle)\nforms = [C, B]", "C F "},
        {"element = FiniteElement('P', triangle, 2)", ""},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        weft_ufl *ufl = NULL;
        char names[200] = "";
        size_t length = strlen(cases[k].text), at = 0;
        assert_int_equal(weft_ufl_read_text("test.ufl", cases[k].text, length, NULL, &ufl, NULL),
                         WEFT_OK);
        for (int i = 0; i < ufl->module->n_forms; ++i)
            at +=
                (size_t)snprintf(names + at, sizeof names - at, "%s ", ufl->module->forms[i].name);
        assert_string_equal(names, cases[k].names);
        weft_ufl_free(&ufl);
    }
}

/* Dictionaries of many keys of all kinds, by the value that CPython gives. They were searched
 * linearly, which took minutes for these. */
static void test_large_dictionaries(void **state) {
    (void)state;
    alarm(60);
    assert_double_near(
        number(
            "d = {}\n"
            "for k in range(12000):\n"
            "    d[k] = k\n"
            "    d['n' + str(k)] = 2*k\n"
            "    d[(k, 'n')] = 3*k if k < 9000 else 0\n"
            "for k in range(0, 12000, 2):\n"
            "    d[float(k)] = 1\n"
            "e = dict(d)\n"
            "e.update({'n7': 5})\n"
            "x = len(e) + sum(e.values()) + e['n7'] + d['n7'] + d[11999] + d[4] + d[(8999, 'n')]\n"
            "x = x + int(11999.0 in d) + int('n12000' in d) + int((1, 'm') in d) + e.get(12000, "
            "3)\n"),
        301555511.0, 0, 0);
    alarm(0);
}

/* What searching costs counts: keys with equal hashes end with a message. */
static void test_budget(void **state) {
    static const char *const texts[] = {
        "d = {}\nfor k in range(40000):\n    d[[k]] = k\n",
        "d = list(range(50000))\nfor k in range(50000):\n    d.count(-1)\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        weft_ufl *ufl = NULL;
        weft_error error = {0};
        assert_int_not_equal(
            weft_ufl_read_text("test.ufl", texts[i], strlen(texts[i]), NULL, &ufl, &error),
            WEFT_OK);
        assert_non_null(strstr(error.message, "visits more than"));
    }
}

/* A string with a line feed begins no line of a message or hint. */
static void test_line_feeds(void **state) {
    static const char text[] =
        "from ufl import *\nx = FiniteElement('a\\nerror: b', triangle, 1)\n";
    (void)state;
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    assert_int_not_equal(weft_ufl_read_text("test.ufl", text, strlen(text), NULL, &ufl, &error),
                         WEFT_OK);
    assert_non_null(strstr(error.message, "a?error: b"));
    assert_null(strchr(error.message, '\n'));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions), cmocka_unit_test(test_statements),
        cmocka_unit_test(test_text),        cmocka_unit_test(test_line_feeds),
        cmocka_unit_test(test_exports),     cmocka_unit_test(test_large_dictionaries),
        cmocka_unit_test(test_budget)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
