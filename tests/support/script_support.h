/** What the tests of scripts share: reading a text, comparing trees. */
#ifndef SCRIPT_SUPPORT_H
#define SCRIPT_SUPPORT_H

#include "core/weft_core.h"
#include "fusion/script/script.h"
#include "fusion/weft_compile.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

typedef struct script_case {
    weft_arena *arena;
    weft_script *script;
    weft_status status;
    weft_error error;
} script_case;

static inline script_case script_read_fragments(const weft_fragment *fragments, int n,
                                                const weft_compile_options *options) {
    script_case read = {0};
    assert_int_equal(weft_arena_make(&read.arena, NULL), WEFT_OK);
    read.status = weft_script_make(read.arena, fragments, n, options, &read.script, &read.error);
    if (read.status == WEFT_OK)
        assert_non_null(read.script);
    else
        assert_null(read.script);
    return read;
}

static inline script_case script_read(const char *text) {
    const weft_fragment fragment = {"test.weft", text};
    return script_read_fragments(&fragment, 1, NULL);
}

/** Read a text that must be right; prints the error and fails else. */
static inline script_case script_read_good(const char *text) {
    script_case read = script_read(text);
    if (read.status != WEFT_OK) {
        char message[2048];
        weft_error_text(&read.error, message, sizeof message);
        fail_msg("%s\n%s", message, text);
    }
    return read;
}

static inline void script_case_free(script_case *read) {
    weft_arena_free(&read->arena);
}

/** The canonical text, malloc'd; "" for an empty script. */
static inline char *script_printed(const weft_script *script) {
    weft_text text = {0};
    weft_script_print(script, &text);
    weft_text_add(&text, "\n");
    assert_false(text.failed);
    text.data[text.length - 1] = '\0';
    return text.data;
}

/** Do two trees mean the same? Places apart. */
static inline bool trees_equal(const weft_node *a, const weft_node *b) {
    if (a->kind != b->kind || a->op != b->op || a->integer != b->integer || a->number < b->number ||
        a->number > b->number || a->n_children != b->n_children || a->n_keys != b->n_keys ||
        !a->name != !b->name)
        return false;
    if (a->name && strcmp(a->name, b->name) != 0)
        return false;
    for (int i = 0; i < a->n_children; ++i)
        if (!trees_equal(a->children[i], b->children[i]))
            return false;
    for (int i = 0; i < a->n_keys; ++i)
        if (strcmp(a->keys[i], b->keys[i]) != 0 || !trees_equal(a->key_values[i], b->key_values[i]))
            return false;
    return true;
}

#define LISTING_1                                                                                  \
    "index  N;\n"                                                                                  \
    "input  A, B : real[3,3] over N;\n"                                                            \
    "input  c    : real[3]   over N;\n"                                                            \
    "input  D, E : real[5,5] over N;\n"                                                            \
    "M1 = mmul(A, B);\n"                                                                           \
    "v1 = mvmul(M1, c);\n"                                                                         \
    "s1 = norm2(v1);\n"                                                                            \
    "M2 = mmul(D, E);\n"                                                                           \
    "M3 = madd(M2, D);\n"                                                                          \
    "F  = smmul(M3, s1);\n"                                                                        \
    "return F;\n"

#define POISSON                                                                                    \
    "index  cells, nodes;\n"                                                                       \
    "connectivity dofs : cells -> nodes[3];\n"                                                     \
    "input  x : real[2] over nodes;\n"                                                             \
    "input  f : real over nodes;\n"                                                                \
    "J       = jacobian(x[dofs]);            # indirect load: a gather\n"                          \
    "G       = tform_dshape(J);\n"                                                                 \
    "K       = dshape_dot_dshape(G, J);\n"                                                         \
    "b[dofs] += shape_load(f[dofs], J);      # accumulating store: Addto\n"                        \
    "return K, b;                            # K stays per cell: LMA\n"

#endif
