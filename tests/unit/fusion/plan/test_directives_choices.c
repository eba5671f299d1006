/* labels: quick */
/* Variants of calls and blocks of kernels that a script asks for: the plan has them, text and
 * explanation show them, and what cannot be is refused at its place with what can. mmul of 3 x 3
 * has variants of 1, 3 and 9 threads, mvmul of 1 and 3. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/plan/implementation.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "program_support.h"

#define HEAD                                                                                       \
    "index N;\ninput A, B, C : real[3,3] over N;\ninput x : real[3] over N;\n"                     \
    "parameter p = 0;\n"

typedef struct made {
    weft_library *library;
    weft_device *device;
    weft_compilation *c;
    weft_error error;
    weft_status status;
} made;

static made compile(const char *device, const char *text, const weft_compile_options *options) {
    made m = {0};
    const weft_fragment fragment = {"w.weft", text};
    assert_int_equal(weft_library_make(&m.library, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(device, NULL, &m.device, NULL), WEFT_OK);
    m.status = weft_compile(m.library, weft_device_limits(m.device), &fragment, 1, options, &m.c,
                            &m.error);
    return m;
}

static made compile_good(const char *device, const char *text,
                         const weft_compile_options *options) {
    made m = compile(device, text, options);
    case_check(m.status, &m.error);
    return m;
}

static void done(made *m) {
    weft_compilation_free(&m->c);
    weft_device_free(&m->device);
    weft_library_free(&m->library);
}

static const weft_implementation *kernel_of(const weft_compilation *c, const char *name) {
    const weft_segment *s = weft_compilation_only(c);
    for (int i = 0; i < s->cover->n; ++i)
        for (int k = 0; k < s->cover->list[i]->fusion->n_calls; ++k) {
            const int result = s->graph->calls[s->cover->list[i]->order[k]].result;
            if (strcmp(s->graph->values[result].name, name) == 0)
                return s->cover->list[i];
        }
    fail_msg("no kernel makes %s", name);
    return NULL;
}

static int variant_of(const weft_compilation *c, const char *name) {
    const weft_segment *s = weft_compilation_only(c);
    const weft_implementation *one = kernel_of(c, name);
    for (int k = 0; k < one->fusion->n_calls; ++k)
        if (strcmp(s->graph->values[s->graph->calls[one->order[k]].result].name, name) == 0)
            return one->variants[k];
    return -1;
}

static void expect_block(const weft_implementation *one, int elements, int threads_per_element,
                         int iterations) {
    assert_int_equal(one->elements_per_block, elements);
    assert_int_equal(one->threads_per_element, threads_per_element);
    assert_int_equal(one->serial_iterations, iterations);
}

static void refused(const char *device, const char *text, const weft_compile_options *options,
                    int line, int column, const char *message, const char *hint) {
    made m = compile(device, text, options);
    assert_int_not_equal(m.status, WEFT_OK);
    assert_null(m.c);
    if (strcmp(m.error.message, message) != 0 || strcmp(m.error.hint, hint) != 0)
        fail_msg("%s\n%s\n%s", text, m.error.message, m.error.hint);
    assert_int_equal(m.error.line, line);
    assert_int_equal(m.error.column, column);
    done(&m);
}

/* ---- variants ---- */

static void variants(void **state) {
    (void)state;
    static const char text[] = HEAD "M = mmul(A, B) using variant 2;\n"
                                    "N1 = mmul(M, C) using variant 1;\n"
                                    "y = mvmul(N1, x) using variant p;\nreturn y;\n";
    static const char *const devices[] = {"null", "null:h200"};
    const weft_parameter one = {"p", 1};
    for (int i = 0; i < 2; ++i)
        for (int plan = 0; plan < 2; ++plan)
            for (int p = 0; p < 2; ++p) { /* both plans; the parameter's default, and another */
                const weft_compile_options options = {.size = sizeof options,
                                                      .plan = (weft_plan_kind)plan,
                                                      .parameters = &one,
                                                      .n_parameters = p};
                made m = compile_good(devices[i], text, &options);
                assert_int_equal(variant_of(m.c, "M"), 2);
                assert_int_equal(variant_of(m.c, "N1"), 1);
                assert_int_equal(variant_of(m.c, "y"), p);
                done(&m);
            }
    /* an option of the command line comes last */
    const weft_variant_choice choice = {"mmul", 0};
    const weft_compile_options options = {
        .size = sizeof options, .variants = &choice, .n_variants = 1};
    made m = compile_good("null:h200", text, &options);
    assert_int_equal(variant_of(m.c, "M"), 0);
    assert_int_equal(variant_of(m.c, "N1"), 0);
    done(&m);
}

/* In an accumulating store, an update, and a loop; a name that is not a word of the language. */
static void everywhere(void **state) {
    (void)state;
    made m = compile_good("null:h200",
                          "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
                          "input K : real[3,3] over cells;\ninput u : real over nodes;\n"
                          "input using, variant : real[3] over cells;\n"
                          "b[dofs] += mvmul(K, u[dofs]) using variant 1;\n"
                          "update using = mvmul(K, variant) using variant 1;\nreturn b;\n",
                          NULL);
    for (int i = 0; i < weft_compilation_only(m.c)->graph->n_calls; ++i)
        assert_int_equal(
            weft_compilation_only(m.c)->graph->calls[i].variant,
            strcmp(weft_compilation_only(m.c)->graph->calls[i].label, "mvmul") == 0 ? 1 : -1);
    assert_int_equal(variant_of(m.c, "using_next"), 1);
    done(&m);
    m = compile_good("null:h200",
                     HEAD "input s : real;\ny = mvmul(A, x);\n"
                          "repeat at most 3 while (s < 1) {\n"
                          "    fuse block 96 threads 3 {\n"
                          "        z = mvmul(B, y) using variant 1;\n"
                          "        v = mmul(C, B);\n"
                          "    }\n"
                          "    n = dot(z, v[0]);\n"
                          "    update s = s + sum(n);\n"
                          "}\nt = s + 1;\nreturn t;\n",
                     NULL);
    assert_int_equal(weft_compilation_kernels(m.c) > 1, 1);
    done(&m);
}

static void wrong_variants(void **state) {
    (void)state;
    refused("null", HEAD "M = mmul(A, B) using variant 3;\nreturn M;\n", NULL, 5, 30,
            "'mmul' has no variant 3 here", "it has 0 (1 thread), 1 (3 threads) and 2 (9 threads)");
    refused("null", HEAD "M = mmul(A, B) using variant p;\nreturn M;\n",
            &(weft_compile_options){.size = sizeof(weft_compile_options),
                                    .parameters = &(weft_parameter){"p", -1},
                                    .n_parameters = 1},
            5, 30, "'mmul' has no variant -1 here",
            "it has 0 (1 thread), 1 (3 threads) and 2 (9 threads)");
    refused("null", HEAD "y = 2*x using variant 0;\nreturn y;\n", NULL, 5, 23,
            "only the call of a function has variants, and 'y' is not a call",
            "give the call that is meant a statement of its own: NAME = FUNCTION(...) using "
            "variant N;");
    refused("null", HEAD "y = 2*mvmul(A, x) using variant 0;\nreturn y;\n", NULL, 5, 33,
            "only the call of a function has variants, and 'y' is not a call",
            "give the call that is meant a statement of its own: NAME = FUNCTION(...) using "
            "variant N;");
    /* equal calls are one */
    refused("null",
            HEAD "M = mmul(A, B) using variant 1;\nN1 = mmul(A, B) using variant 2;\n"
                 "return M, N1;\n",
            NULL, 6, 31,
            "this call is the same as an earlier one, which is to have variant 1 (w.weft:5:30)",
            "");
    made m = compile_good("null",
                          HEAD "M = mmul(A, B);\nN1 = mmul(A, B) using variant 2;\n"
                               "O = mmul(A, B) using variant 2;\ny = mvmul(O, x);\n"
                               "return M, N1, y;\n",
                          NULL);
    assert_int_equal(variant_of(m.c, "M"), 2);
    done(&m);
    refused("null", HEAD "M = mmul(A, B) using variant;\nreturn M;\n", NULL, 5, 29,
            "expected the number of a variant, found ';'", "");
    refused("null", HEAD "M = mmul(A, B) using variant 1.5;\nreturn M;\n", NULL, 5, 30,
            "expected the number of a variant, found '1.5'", "");
    refused("null", HEAD "M = mmul(A, B) using block 32;\nreturn M;\n", NULL, 5, 22,
            "expected 'variant' after 'using', found 'block'",
            "that is chosen for a kernel: fuse block 64 { ... }");
    refused("null", HEAD "M = mmul(A, B) using variant q;\nreturn M;\n", NULL, 5, 30,
            "'q' is not a parameter", "the parameters are p");
    refused("null",
            "index n plain;\noperator L over n;\ninput v : real over n;\n"
            "y = apply(L, v) using variant 0;\nreturn y;\n",
            NULL, 4, 23, "the product with an operator has no variants", "");
}

/* ---- blocks ---- */

static void blocks(void **state) {
    (void)state;
    const weft_parameter p = {"p", 160};
    const weft_compile_options options = {
        .size = sizeof options, .parameters = &p, .n_parameters = 1};
    /* nine threads, which is the first call's finest variant */
    made m = compile_good("null:h200",
                          HEAD "fuse block 96 threads 9 iterations 3 {\n  M = mmul(A, B);\n"
                               "  y = mvmul(M, x);\n}\nreturn y;\n",
                          NULL);
    expect_block(kernel_of(m.c, "y"), 96, 9, 3);
    assert_ptr_equal(kernel_of(m.c, "y"), kernel_of(m.c, "M"));
    assert_int_equal(variant_of(m.c, "M"), 2);
    done(&m);
    /* one thread, whatever the variants; a parameter */
    m = compile_good("null:h200",
                     HEAD "fuse iterations 2 threads 1 block p { M = mmul(A, B) using variant 1; "
                          "y = mvmul(M, x); }\nreturn y;\n",
                     &options);
    expect_block(kernel_of(m.c, "y"), 160, 0, 2);
    assert_int_equal(variant_of(m.c, "M"), 1);
    done(&m);
    /* of one call; another that joins has the same block */
    m = compile_good("null:h200",
                     HEAD "fuse block 32 threads 3 { M = mmul(A, B); }\ny = mvmul(M, x);\n"
                          "return y;\n",
                     NULL);
    expect_block(kernel_of(m.c, "M"), 32, 3, 1);
    done(&m);
    /* two blocks that want different things are two kernels, also where fewer bytes would move */
    m = compile_good("null:h200",
                     HEAD "fuse block 64 { M = mmul(A, B); }\nfuse block 128 { y = mvmul(M, x); }\n"
                          "return y;\n",
                     NULL);
    assert_int_equal(weft_compilation_only(m.c)->cover->n, 2);
    assert_int_equal(kernel_of(m.c, "M")->elements_per_block, 64);
    assert_int_equal(kernel_of(m.c, "y")->elements_per_block, 128);
    done(&m);
    /* and one where they agree */
    m = compile_good("null:h200",
                     HEAD "fuse block 64 { M = mmul(A, B); }\nfuse block 64 { y = mvmul(M, x); }\n"
                          "return y;\n",
                     NULL);
    assert_int_equal(weft_compilation_only(m.c)->cover->n, 1);
    assert_int_equal(kernel_of(m.c, "M")->elements_per_block, 64);
    done(&m);
}

/* 0 leaves it open; the unfused plan is as ever; a host's block is what it is. */
static void left_open(void **state) {
    (void)state;
    static const char text[] = HEAD
        "fuse block p threads p iterations p { M = mmul(A, B); y = mvmul(M, x); }\nreturn y;\n";
    const weft_parameter lanes = {"p", 1};
    made m = compile_good("null", text, NULL);
    expect_block(kernel_of(m.c, "y"), 8, 0, 1);
    done(&m);
    m = compile_good("null:h200", text, NULL);
    done(&m);
    m = compile_good(
        "null", HEAD "fuse block 8 threads 1 iterations 1 { y = mvmul(A, x); }\nreturn y;\n", NULL);
    done(&m);
    const weft_compile_options unfused = {
        .size = sizeof unfused, .plan = WEFT_PLAN_UNFUSED, .parameters = &lanes, .n_parameters = 1};
    m = compile_good("null:h200", text, &unfused); /* no block of one element: not asked for */
    assert_int_equal(weft_compilation_only(m.c)->cover->n, 2);
    done(&m);
}

static void wrong_blocks(void **state) {
    (void)state;
#define BODY "{\n M = mmul(A, B);\n y = mvmul(M, x);\n}\nreturn y;\n"
    refused("null:h200", HEAD "fuse block 40 " BODY, NULL, 5, 12,
            "a kernel of 40 elements per block cannot be here",
            "a block has 32, 64, 96, ... 1024 elements, or 1, 2, ... 16 with several threads each");
    refused("null:h200", HEAD "fuse block 2048 " BODY, NULL, 5, 12,
            "a kernel of 2048 elements per block cannot be here",
            "a block has 32, 64, 96, ... 1024 elements, or 1, 2, ... 16 with several threads each");
    refused("null:h200", HEAD "fuse threads 10 " BODY, NULL, 5, 14,
            "a kernel of 10 threads per element cannot be here",
            "the calls of this block have variants of 1 to 9 threads");
    refused("null:h200",
            HEAD "fuse threads 9 {\n M = mmul(A, B) using variant 1;\n y = mvmul(M, x);\n}\n"
                 "return y;\n",
            NULL, 5, 14, "a kernel of 9 threads per element cannot be here",
            "the calls of this block have variants of 1 to 3 threads");
    refused("null:h200", HEAD "fuse iterations 65 " BODY, NULL, 5, 17,
            "a kernel of 65 iterations cannot be here", "a block goes through 1 to 64");
    /* 9 x 128 = 1152 threads; 9 x 96 = 864 */
    refused("null:h200", HEAD "fuse block 128 threads 9 " BODY, NULL, 5, 12,
            "a kernel of 128 elements per block cannot be here",
            "with 9 threads per element, a block has at most 96 elements");
    refused("null", HEAD "fuse block 32 " BODY, NULL, 5, 12,
            "a kernel of 32 elements per block cannot be here",
            "this device has blocks of 8 elements, one thread each, once; 0, maybe a parameter's, "
            "leaves it open");
    refused("null", HEAD "fuse iterations 2 " BODY, NULL, 5, 17,
            "a kernel of 2 iterations cannot be here",
            "this device has blocks of 8 elements, one thread each, once; 0, maybe a parameter's, "
            "leaves it open");
    refused("null:h200", HEAD "fuse blok 32 " BODY, NULL, 5, 6,
            "expected '{' before the statements that are to share a kernel, found 'blok'",
            "did you mean 'block'?");
    refused("null:h200", HEAD "fuse block 32 block 32 " BODY, NULL, 5, 15,
            "'block' is listed twice", "");
    refused("null:h200", HEAD "fuse block { M = mmul(A, B); } return M;", NULL, 5, 12,
            "expected a number, found '{'", "");
    refused("null:h200", HEAD "fuse block -32 " BODY, NULL, 5, 12, "expected a number, found '-'",
            "");
#undef BODY
}

/* What only shows when it is tried: the kernel of a reduction has blocks of 128 and one thread per
 * element. Shared memory: with eight threads, A to E are read by rows and as a whole, and each with
 * each other, so all are alive at once; 5 of 64 doubles are 2560 B per element, of which 232448 B
 * hold 90. */
static void blocks_that_do_not_fit(void **state) {
    (void)state;
    refused("null:h200", HEAD "fuse block 64 { y = x[0] + 1; r = sum(y); }\nreturn r;\n", NULL, 5,
            1, "this block has no kernel of 64 elements per block",
            "blocks of 128 elements can be, the rest being as it is");
    refused("null:h200",
            HEAD "fuse block 128 iterations 3 { y = x[0] + 1; r = sum(y); }\nreturn r;\n", NULL, 5,
            1, "this block has no kernel of 128 elements per block, 3 iterations",
            "blocks of 128 elements can be, with threads and iterations left open");
    made m = compile_good("null:h200", "index n; input a : real over n; b = 2*a; return b;", NULL);
    assert_true(m.c->limits.onchip_bytes == 232448);
    done(&m);
    refused("null:h200",
            "index N;\ninput A, B, C, D, E : real[8,8] over N;\nfuse block 128 threads 8 {\n"
            " AB = mmul(A, B) using variant 1;\n BC = mmul(B, C) using variant 1;\n"
            " CD = mmul(C, D) using variant 1;\n DE = mmul(D, E) using variant 1;\n"
            " EA = mmul(E, A) using variant 1;\n AC = mmul(A, C) using variant 1;\n"
            " BD = mmul(B, D) using variant 1;\n CE = mmul(C, E) using variant 1;\n"
            " DA = mmul(D, A) using variant 1;\n EB = mmul(E, B) using variant 1;\n"
            "}\nreturn AB, BC, CD, DE, EA, AC, BD, CE, DA, EB;\n",
            NULL, 3, 1, "this block has no kernel of 128 elements per block, 8 threads per element",
            "blocks of 1, 2, 4, 8, 16, 32, 64 elements can be, the rest being as it is");
}

/* ---- text, explanation, forced plans ---- */

static void printed(void **state) {
    (void)state;
    static const char text[] =
        HEAD "fuse block p threads 3 iterations 2 {\nM = mmul(A, B) using variant 2;\n"
             "y = mvmul(M, x);\n}\nsplit;\nz = mvmul(C, y) using variant p;\nreturn z;\n";
    for (int iteration = 0; iteration < 2; ++iteration) {
        weft_text out = {0};
        made m = compile_good("null:h200", text, NULL);
        assert_int_equal(weft_compilation_print(m.c, "script", "text", &out, NULL), WEFT_OK);
        assert_non_null(strstr(out.data, "fuse "));
        assert_string_equal(strstr(out.data, "fuse "), strstr(text, "fuse "));
        weft_text_free(&out);
        done(&m);
    }
}

static void assert_has(const char *text, const char *words) {
    if (strstr(text, words) == NULL)
        fail_msg("\"%s\" is not in\n%s", words, text);
}

static void explained(void **state) {
    (void)state;
    made m = compile_good("null:h200",
                          HEAD "fuse block 96 threads 3 {\nM = mmul(A, B) using variant 1;\n"
                               "y = mvmul(M, x);\n}\nreturn y;\n",
                          NULL);
    weft_text out = {0};
    assert_int_equal(weft_compilation_explain(m.c, &out, NULL), WEFT_OK);
    assert_has(out.data, "2 calls: 2 kernels unfused, 1 fused.");
    assert_has(out.data,
               "block: 96 elements, 3 threads each, 1 iteration (asked for at w.weft:5:1)");
    assert_has(out.data, "1, m = 3*, m*n = 9  (asked for at w.weft:6:30)");
    weft_text_free(&out);
    done(&m);
}

/* What a plan says comes before what the script asks for. */
static void forced(void **state) {
    (void)state;
    static const char text[] = HEAD "fuse block 96 threads 9 {\nM = mmul(A, B) using variant 2;\n"
                                    "y = mvmul(M, x);\n}\nreturn y;\n";
    static const char plan[] =
        "{\"format\": \"weft-plan-1\", \"kernels\": [{\"calls\": [{\"result\": \"M\", \"variant\": "
        "1}]}, {\"calls\": [{\"result\": \"y\"}]}]}";
    const weft_compile_options options = {.size = sizeof options, .forced_plan = plan};
    made m = compile_good("null:h200", text, &options);
    assert_int_equal(weft_compilation_only(m.c)->cover->n, 2);
    assert_int_equal(variant_of(m.c, "M"), 1);
    done(&m);
    /* calls of one function with variants of their own */
    static const char two[] = HEAD "M = mmul(A, B);\nL = mmul(M, C);\nreturn L;\n";
    static const char plan_of_two[] =
        "{\"format\": \"weft-plan-1\", \"kernels\": [{\"calls\": [{\"result\": \"M\", \"variant\": "
        "1}, {\"result\": \"L\", \"variant\": 2}]}]}";
    const weft_compile_options forced_two = {.size = sizeof forced_two, .forced_plan = plan_of_two};
    m = compile_good("null:h200", two, &forced_two);
    assert_int_equal(variant_of(m.c, "M"), 1);
    assert_int_equal(variant_of(m.c, "L"), 2);
    done(&m);
}

/* A plan that was saved has its blocks again, on a device like that; another has its own. */
static void blocks_saved_and_forced(void **state) {
    (void)state;
    static const char text[] = HEAD "fuse block 96 threads 3 iterations 5 { M = mmul(A, B); y = "
                                    "mvmul(M, x); }\nr = sum(y[0]);\nreturn y, r;\n";
    static const char plain[] = HEAD "M = mmul(A, B);\ny = mvmul(M, x);\nr = sum(y[0]);\n"
                                     "return y, r;\n";
    weft_text saved = {0};
    made m = compile_good("null:h200", text, NULL);
    assert_int_equal(weft_compilation_print(m.c, "plan", "json", &saved, NULL), WEFT_OK);
    done(&m);
    for (int unfused = 0; unfused < 2; ++unfused) {
        const weft_compile_options options = {
            .size = sizeof options, .forced_plan = saved.data, .plan = (weft_plan_kind)unfused};
        m = compile_good("null:h200", plain, &options);
        expect_block(kernel_of(m.c, "y"), 96, 3, 5);
        expect_block(kernel_of(m.c, "r"), 128, 0, 1); /* a reduction */
        done(&m);
        m = compile_good("null", plain, &options);
        expect_block(kernel_of(m.c, "y"), 8, 0, 1);
        done(&m);
    }
    weft_text_free(&saved);
}

static void blocks_that_are_not_forced(void **state) {
    (void)state;
    static const struct {
        const char *block, *says;
    } cases[] = {
        {"{\"elements\": 40}", "the elements of kernel 0's block are a number from 1 to 1024, a "
                               "power of two or a multiple of a warp's threads"},
        {"{\"instances\": \"96\"}", "the elements of kernel 0's block are a number from 1 to 1024, "
                                    "a power of two or a multiple of a warp's threads"},
        {"{\"threads\": 0}", "the threads of kernel 0's block are a number from 1 to 1024"},
        {"{\"iterations\": 65}", "the iterations of kernel 0's block are a number from 1 to 64"},
        {"{\"elements\": 128, \"threads\": 9}",
         "no implementation of kernel 0 has these variants and this block"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char plan[512];
        snprintf(plan, sizeof plan,
                 "{\"format\": \"weft-plan-1\", \"lanes\": 32, \"kernels\": [{\"block\": %s, "
                 "\"calls\": [{\"result\": \"M\"}]}]}",
                 cases[i].block);
        const weft_compile_options options = {.size = sizeof options, .forced_plan = plan};
        made m = compile("null:h200", HEAD "M = mmul(A, B);\nreturn M;\n", &options);
        assert_int_equal(m.status, WEFT_ERROR_INPUT);
        if (strstr(m.error.message, cases[i].says) == NULL)
            fail_msg("%s", m.error.message);
        assert_true(m.error.hint[0] != '\0');
        done(&m);
    }
}

/* Native bodies of 4 and of 8 threads are in no kernel together. */
static void variants_that_no_kernel_has(void **state) {
    (void)state;
    static const char script[] =
        HEAD "fuse {\n    y = four(x);\n    z = eight(x);\n}\nreturn y, z;\n";
    static const weft_variant_choice variants[] = {{"four", 1}, {"eight", 1}};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_text kernels = {0};
    assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    for (int i = 0; i < 2; ++i)
        weft_text_add(&kernels,
                      "//@ function %s(x: real[n]) -> y: real[n]\n//@ kind map\n//@ flops n\n"
                      "//@ source y = 2 x\n//@ where n > 0\n//@ threads 1\n"
                      "for (int i = 0; i < n; ++i)\n    y(i) = 2 * x(i);\n"
                      "//@ body cuda\n//@ threads %d\n//@ compute\n"
                      "for (int i = t; i < n; i += %d)\n    y(i) = 2 * x(i);\n\n",
                      i == 0 ? "four" : "eight", 4 << i, 4 << i);
    assert_int_equal(weft_library_add_text(library, "own.kernel.c", kernels.data, NULL), WEFT_OK);
    for (int n = 0; n <= 2; ++n) {
        weft_error error = {0};
        weft_compilation *c = NULL;
        const weft_fragment fragment = {"w.weft", script};
        const weft_compile_options options = {
            .size = sizeof options, .variants = variants, .n_variants = n};
        const weft_status status =
            weft_compile(library, weft_device_limits(device), &fragment, 1, &options, &c, &error);
        assert_int_equal(status, n < 2 ? WEFT_OK : WEFT_ERROR_USAGE);
        if (n == 2)
            assert_non_null(
                strstr(error.message, "no kernel of this block can have variant 1 of 'four'"));
        weft_compilation_free(&c);
    }
    weft_text_free(&kernels);
    weft_library_free(&library);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants),
        cmocka_unit_test(everywhere),
        cmocka_unit_test(wrong_variants),
        cmocka_unit_test(blocks),
        cmocka_unit_test(left_open),
        cmocka_unit_test(wrong_blocks),
        cmocka_unit_test(variants_that_no_kernel_has),
        cmocka_unit_test(blocks_that_do_not_fit),
        cmocka_unit_test(printed),
        cmocka_unit_test(explained),
        cmocka_unit_test(forced),
        cmocka_unit_test(blocks_saved_and_forced),
        cmocka_unit_test(blocks_that_are_not_forced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
