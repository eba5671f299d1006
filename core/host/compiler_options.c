/* Chooses the options for generated code, including workarounds for certain compiler versions.
 *
 * Decision  docs/decisions/0019-compiler-options-are-a-table.md */
#include "core/host/compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No -ffast-math: when linking, it would change the floating-point mode of the whole process. No
 * -fno-signed-zeros: it would change the results of 1/x and atan2 in scripts. */
static const char *const options[] = {
    "-std=gnu17",         "-O3",   "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math",
    "-ffp-contract=fast", "-pipe", "-w"};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

typedef struct compiler_version {
    bool is_clang;
    int major; /* 0: the line is neither gcc's nor clang's */
} compiler_version;

/* Workarounds by compiler version: an additional option, for vectors of at least the given size, or
 * the reason why the version is rejected. */
typedef struct compiler_need {
    bool is_clang;
    int first, last; /* major versions */
    int vector_bytes;
    const char *option, *refused;
} compiler_need;

enum { ANY_VERSION = 1 << 20 };
static const compiler_need needs[] = {
    /* At least gcc 12.2 to 14.2 with AVX-512 miscompiles, at any optimisation level, constant
     * permutations of 8 doubles in which lane 2 or 3 of the result is one of lanes 4 to 7:
     *
     *     __builtin_shuffle(x, (mask){0, 1, 2, 4, 4, 5, 6, 7}) gives {0, 1, 2, 2, 5, 5, 6, 7}
     *
     * Generated code contains no permutations, but the vectorizers introduce them. Both are off for
     * every instruction set, since the code is vectorized already. */
    {false, 0, ANY_VERSION, 0, "-fno-tree-vectorize", NULL},
    {false, 0, ANY_VERSION, 0, "-fno-tree-slp-vectorize", NULL},
    {true, 0, ANY_VERSION, 64, "-mprefer-vector-width=512", NULL},
    /* These versions do not know the levels x86-64-v3 and x86-64-v4. */
    {false, 0, 10, 0, NULL, "Weft needs gcc 11 or newer"},
    {true, 0, 11, 0, NULL, "Weft needs clang 12 or newer"},
};
enum { N_NEEDS = sizeof needs / sizeof needs[0] };

/* Parse a version line and make its label:
 *
 *     gcc (Debian 12.2.0-14) 12.2.0                  "gcc 12.2.0"
 *     gcc (GCC) 11.5.0 2024 (Red Hat 11.5.0-5)       "gcc 11.5.0"
 *     Debian clang version 14.0.6                    "clang 14.0.6" */
static compiler_version read_version(const char *line, char *label, size_t size) {
    const char *number = strstr(line, "version ");
    const bool is_clang = strstr(line, "clang") != NULL;
    if (number) {
        number += strlen("version ");
    } else {
        const char *closed = strstr(line, ") ");
        number = closed ? closed + 1 : line;
        number += strcspn(number, "0123456789");
    }
    snprintf(label, size, "%s %.*s", is_clang ? "clang" : "gcc", (int)strcspn(number, " \t(-"),
             number);
    const bool is_known =
        is_clang || strstr(line, "gcc") || strstr(line, "GCC") || strstr(line, "cc (");
    return (compiler_version){is_clang, is_known ? (int)strtol(number, NULL, 10) : 0};
}

void weft_compiler_name_for_zig(const char **out) {
    static const char *const names[][2] = {{"-march=x86-64", "-march=x86_64"},
                                           {"-march=x86-64-v3", "-march=x86_64_v3"},
                                           {"-march=x86-64-v4", "-march=x86_64_v4"}};
    for (; *out; ++out)
        for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
            if (strcmp(*out, names[i][0]) == 0) {
                *out = names[i][1];
                break;
            }
}

void weft_compiler_add_options(weft_text *out) {
    for (int i = 0; i < N_OPTIONS; ++i)
        weft_text_add(out, "%s|", options[i]);
    for (int i = 0; i < N_NEEDS; ++i)
        weft_text_add(out, "%d %d %d %d %s|", needs[i].is_clang, needs[i].first, needs[i].last,
                      needs[i].vector_bytes, needs[i].option ? needs[i].option : "refused");
}

weft_status weft_compiler_options(const char *version, const weft_processor *processor, char *label,
                                  size_t size, const char **out, weft_error *error) {
    const compiler_version known = read_version(version, label, size);
    int n = 0;
    for (int i = 0; i < N_OPTIONS; ++i)
        out[n++] = options[i];
    out[n++] = processor->option;
    for (int i = 0; i < N_NEEDS; ++i) {
        const compiler_need *need = &needs[i];
        if (need->is_clang != known.is_clang || known.major < need->first ||
            known.major > need->last || processor->vector_bytes < need->vector_bytes)
            continue;
        if (need->refused && known.major > 0) {
            weft_error_set(error, WEFT_ERROR_COMPILER, "%s is not used: %s", label, need->refused);
            weft_error_hint(error, "set CC to another compiler");
            return WEFT_ERROR_COMPILER;
        }
        if (need->option)
            out[n++] = need->option;
    }
    out[n] = NULL;
    _Static_assert(N_OPTIONS + 1 + N_NEEDS <= WEFT_COMPILER_OPTIONS, "room for every option");
    return WEFT_OK;
}
