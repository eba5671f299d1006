/* labels: quick */
/* The user's text inside of other languages: exact cases, properties over random bytes, and what is
 * generated from scripts with hostile names, which must have the structure that it has for a
 * harmless name: the same C without its comments, the same tags, and JSON that gives the name back.
 */
#include "core/weft_core.h"
#include "core/weft_escape.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "script_support.h"

#include <jansson.h>

typedef void (*adder)(weft_text *text, const char *string);

static void check(adder add, const char *string, const char *expected) {
    weft_text text = {0};
    add(&text, string);
    assert_string_equal(text.data ? text.data : "", expected);
    weft_text_free(&text);
}

static void exact_cases(void **state) {
    (void)state;
    check(weft_text_add_json, "a\"\\\n\x01\xC3\xA9\xFF",
          "\"a\\\"\\\\\\n\\u0001\xC3\xA9\xEF\xBF\xBD\"");
    check(weft_text_add_json, NULL, "\"\"");
    check(weft_text_add_markup, "<a href='x' b=\"y\">&\x1B\n",
          "&lt;a href=&#39;x&#39; b=&quot;y&quot;&gt;&amp;\xEF\xBF\xBD\n");
    check(weft_text_add_comment, "x*/ system(\"rm\"); /*", "x_/ system(\"rm\"); /_");
    check(weft_text_add_comment, "a?\?/\nb\\\nc\xC3\xA9", "a__/_b__c__");
    check(weft_text_add_dot, "a\"];x\\\n&lt;\x7F", "a\\\"];x\\\\\\n&amp;lt;\xEF\xBF\xBD");
    check(weft_text_add_gnuplot, "it's `ls` @m\n\\", "'it''s `ls` @m \\'");
    check(weft_text_add_markdown, "a|b\n<script>`*[x](y)&_",
          "a\\|b \\<script\\>\\`\\*\\[x\\](y)\\&_");
    check(weft_text_add_terminal, "a\tb\n\x1B[2J\x7F\xC2\x9B\xE2\x80\xAE.", "a\tb\n?[2J???.");
    /* too long a form of '/', a surrogate, half a character, beyond Unicode */
    check(weft_text_add_terminal, "\xC0\xAF \xED\xA0\x80 \xE2\x80 \xF4\x90\x80\x80",
          "?? ??? ?? ????");
}

/* ---- random bytes, most of them with a meaning somewhere ---- */

enum { LENGTH = 24, N_RANDOM = 20000 };

static uint32_t next(uint32_t *state) {
    return *state = *state * 1664525u + 1013904223u;
}

static void random_string(uint32_t *state, char *out) {
    static const char special[] = "*/\\\"'`<>&|?\n\r\t@$#;!~[](){}%\x1B\x7F-_=";
    static const char *const characters[] = {"\xC3\xA9",     "\xE2\x80\xAE", "\xF0\x9F\x98\x80",
                                             "\xE2\x80\xA8", "\xED\xA0\x80", "\xC2\x85"};
    size_t n = 0, wanted = next(state) >> 16 & 15;
    while (n < wanted) {
        const uint32_t kind = next(state) >> 20 & 7;
        if (kind < 4) {
            out[n++] = special[(next(state) >> 12) % (sizeof special - 1)];
        } else if (kind < 6) {
            out[n++] = (char)('a' + (next(state) >> 12) % 26);
        } else if (kind == 6) {
            out[n++] = (char)(1 + (next(state) >> 12) % 255);
        } else {
            const char *c = characters[(next(state) >> 12) % 6];
            memcpy(out + n, c, strlen(c));
            n += strlen(c);
        }
    }
    out[n] = '\0';
}

/* UTF-8 as jansson sees it, and none of the characters. */
static bool is_clean(const char *text, const char *without) {
    json_t *json = json_string(text);
    bool clean = json != NULL && text[strcspn(text, without)] == '\0';
    json_decref(json);
    return clean;
}

#define CONTROLS                                                                                   \
    "\x01\x02\x03\x04\x05\x06\x07\x08\x0B\x0C\x0D\x0E\x0F\x10\x11\x12\x13\x14\x15\x16\x17\x18"     \
    "\x19\x1A\x1B\x1C\x1D\x1E\x1F\x7F"

static bool is_shown(const char *string) {
    bool shown = true, all = true;
    for (int length; (length = weft_character_length(string, &shown)) > 0; string += length)
        all = all && shown;
    return all;
}

static void check_json(const char *string, const char *text) {
    json_error_t error;
    json_t *json = json_loads(text, JSON_DECODE_ANY, &error);
    if (!json)
        fail_msg("%s: %s", text, error.text);
    json_t *plain = json_string(string);
    if (plain && is_shown(string))
        assert_string_equal(json_string_value(json), string);
    json_decref(plain);
    json_decref(json);
}

static void check_markup(const char *string, const char *text) {
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    static const char plain[] = "&<>\"'";
    char back[8 * LENGTH];
    size_t n = 0;
    assert_true(is_clean(text, "<>\"'" CONTROLS));
    for (const char *c = text; *c;) {
        size_t k = 0;
        while (*c == '&' && k < 5 && strncmp(c, entities[k], strlen(entities[k])) != 0)
            ++k;
        assert_true(k < 5);
        back[n++] = *c == '&' ? plain[k] : *c;
        c += *c == '&' ? strlen(entities[k]) : 1;
    }
    back[n] = '\0';
    if (is_shown(string))
        assert_string_equal(back, string);
}

/* Every mark of these stands behind a backslash, and every backslash before one of them. */
static void check_backslashes(const char *text, const char *marks, const char *more) {
    assert_true(is_clean(text, "\n" CONTROLS));
    for (const char *c = text; *c; ++c) {
        if (*c == '\\') {
            ++c;
            assert_true(*c && (strchr(marks, *c) || strchr(more, *c)));
        } else {
            assert_null(strchr(marks, *c));
        }
    }
}

static void check_gnuplot(const char *text) {
    const size_t length = strlen(text);
    assert_true(is_clean(text, "\n\t" CONTROLS));
    assert_true(length >= 2 && text[0] == '\'' && text[length - 1] == '\'');
    for (size_t i = 1; i + 1 < length; ++i)
        if (text[i] == '\'') {
            ++i;
            assert_true(i + 1 < length && text[i] == '\'');
        }
}

static void random_bytes(void **state) {
    static const adder adders[] = {
        weft_text_add_json,    weft_text_add_markup,   weft_text_add_comment, weft_text_add_dot,
        weft_text_add_gnuplot, weft_text_add_markdown, weft_text_add_terminal};
    uint32_t random = 1;
    (void)state;
    for (int i = 0; i < N_RANDOM; ++i) {
        char string[2 * LENGTH];
        weft_text texts[7] = {{0}};
        random_string(&random, string);
        for (int k = 0; k < 7; ++k) {
            weft_text_add_bytes(&texts[k], "", 0);
            adders[k](&texts[k], string);
        }
        check_json(string, texts[0].data);
        check_markup(string, texts[1].data);
        assert_int_equal(strlen(texts[2].data), strlen(string));
        for (const char *c = texts[2].data; *c; ++c)
            assert_true(*c >= 0x20 && *c < 0x7F && !strchr("*?\\", *c));
        check_backslashes(texts[3].data, "\"\\", "n");
        check_gnuplot(texts[4].data);
        check_backslashes(texts[5].data, "\\`*[]<>|&!~$", "");
        assert_true(is_clean(texts[6].data, CONTROLS));
        for (int k = 0; k < 7; ++k)
            weft_text_free(&texts[k]);
    }
}

/* ---- what is generated ---- */

static const char script[] = "index cells, nodes;\n"
                             "connectivity dofs : cells -> nodes[3];\n"
                             "input x : real[2] over nodes;\n"
                             "input f : real over nodes;\n"
                             "J = jacobian(x[dofs]);\n"
                             "G = tform_dshape(J);\n"
                             "K = dshape_dot_dshape(G, J);\n"
                             "b[dofs] += shape_load(f[dofs], J);\n"
                             "A[dofs,dofs] += K;\n"
                             "s = sum(f*f);\n"
                             "return b, A, s;\n";

static const char *const hostile[] = {
    "x*/ system(\"touch pwned\"); /*/d.weft",
    "x*/d.weft",
    "/*.weft",
    "a\n#error line\n.weft",
    "back\\\nslash\\.weft",
    "tri?\?/\ngraph?\?/",
    "// x \\",
    "\"];evil[label=\"x",
    "</title><script>alert('x')</script>",
    "' onload='alert(1)",
    "&lt;not an entity&#60;",
    "umlaut \xC3\xBC, right to left \xE2\x80\xAE/*x*\\/",
    "no UTF-8 \xFF\xC3(",
    "\x1B[2Jcontrol\x7F",
};

/* Comments out of C, strings left as they are. */
static void strip_comments(char *text) {
    char *out = text;
    for (const char *c = text; *c;) {
        if (c[0] == '/' && c[1] == '*') {
            const char *end = strstr(c + 2, "*/");
            assert_non_null(end);
            c = end + 2;
        } else if (c[0] == '/' && c[1] == '/') {
            c += strcspn(c, "\n");
        } else {
            *out++ = *c++;
        }
    }
    *out = '\0';
}

/* Text out of HTML: tags with their attributes stay. */
static void strip_text(char *text) {
    char *out = text;
    bool inside = false;
    for (const char *c = text; *c; ++c) {
        inside = inside || *c == '<';
        if (inside)
            *out++ = *c;
        inside = inside && *c != '>';
    }
    *out = '\0';
}

/* Strings out of Graphviz. */
static void strip_strings(char *text) {
    char *out = text;
    for (const char *c = text; *c; ++c) {
        *out++ = *c;
        if (*c != '"')
            continue;
        for (++c; *c != '"'; ++c) {
            assert_true(*c && *c != '\n');
            c += *c == '\\';
        }
        *out++ = '"';
    }
    *out = '\0';
}

static char *print(const weft_compilation *compilation, const char *stage, const char *format) {
    weft_text text = {0};
    weft_error error = {0};
    weft_status status = strcmp(stage, "html") == 0
                             ? weft_compilation_html(compilation, NULL, NULL, &text, &error)
                             : weft_compilation_print(compilation, stage, format, &text, &error);
    if (status != WEFT_OK)
        fail_msg("%s: %s", stage, error.message);
    return text.data;
}

typedef struct texts {
    char *source, *html, *dots[2];
} texts;

static texts texts_of(weft_library *library, const weft_limits *limits,
                      const weft_compile_options *options, const char *name) {
    const weft_fragment fragment = {name, script};
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    texts out;
    if (weft_compile(library, limits, &fragment, 1, options, &compilation, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    out.source = strdup(weft_compilation_source(compilation));
    out.html = print(compilation, "html", NULL);
    out.dots[0] = print(compilation, "graph", "dot");
    out.dots[1] = print(compilation, "plan", "dot");
    char *graph = print(compilation, "graph", "json"), *plan = print(compilation, "plan", "json");
    json_t *json = json_loads(graph, 0, NULL), *other = json_loads(plan, 0, NULL);
    assert_non_null(json);
    assert_non_null(other);
    const char *file = json_string_value(
        json_object_get(json_array_get(json_object_get(json, "calls"), 0), "file"));
    if (is_shown(name))
        assert_string_equal(file, name);
    json_decref(json);
    json_decref(other);
    free(graph);
    free(plan);
    weft_compilation_free(&compilation);
    strip_comments(out.source);
    assert_true(is_clean(out.html, CONTROLS));
    strip_text(out.html);
    strip_strings(out.dots[0]);
    strip_strings(out.dots[1]);
    return out;
}

static void texts_free(texts *t) {
    free(t->source);
    free(t->html);
    free(t->dots[0]);
    free(t->dots[1]);
}

static void hostile_names(void **state) {
    const weft_limits host = {.lanes_double = 8, .lanes_float = 16, .bandwidth = 1e9};
    weft_device *device = NULL;
    weft_device_options null_options = weft_device_options_default(NULL);
    assert_int_equal(weft_device_open("null:h200", &null_options, &device, NULL), WEFT_OK);
    const weft_limits *limits[] = {&host, weft_device_limits(device)};
    for (int l = 0; l < 2; ++l)
        for (int scatter = 0; scatter < 5; ++scatter) {
            const weft_compile_options options = {.size = sizeof options,
                                                  .scatter = (weft_scatter)scatter};
            texts plain = texts_of(*state, limits[l], &options, "plain.weft");
            for (size_t i = 0; i < sizeof hostile / sizeof *hostile; ++i) {
                texts other = texts_of(*state, limits[l], &options, hostile[i]);
                assert_string_equal(other.source, plain.source);
                assert_string_equal(other.html, plain.html);
                assert_string_equal(other.dots[0], plain.dots[0]);
                assert_string_equal(other.dots[1], plain.dots[1]);
                texts_free(&other);
            }
            texts_free(&plain);
        }
    weft_device_free(&device);
}

static int make_library(void **state) {
    weft_library *library = NULL;
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    *state = library;
    return 0;
}

static int free_library(void **state) {
    weft_library *library = *state;
    weft_library_free(&library);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_cases),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(hostile_names),
    };
    return cmocka_run_group_tests(tests, make_library, free_library);
}
