#include "core_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* What the compiler asks to resolve -march=native: the leaves that name model and features. Leaf 1
 * tells in the upper half of ebx which processor answers: masked. */
static void identify(weft_processor *processor) {
    static const unsigned leaves[][2] = {{0, 0},          {1, 0},          {7, 0},
                                         {7, 1},          {0x80000001, 0}, {0x80000002, 0},
                                         {0x80000003, 0}, {0x80000004, 0}};
    enum { N_LEAVES = sizeof leaves / sizeof leaves[0] };
    unsigned answers[N_LEAVES][4] = {{0}};
    for (int i = 0; i < N_LEAVES; ++i) {
        unsigned *r = answers[i];
        if (!__get_cpuid_count(leaves[i][0], leaves[i][1], &r[0], &r[1], &r[2], &r[3]))
            memset(r, 0, sizeof answers[i]);
        if (leaves[i][0] == 1)
            r[1] &= 0x0000FFFF;
    }
    char brand[49];
    memcpy(brand, answers[5], 48);
    brand[48] = '\0';
    const char *start = brand + strspn(brand, " ");
    snprintf(processor->name, sizeof processor->name, "%s", *start ? start : "x86-64");
    /* These ask the operating system's part (XGETBV) as well. */
    __builtin_cpu_init();
    const char *vectors = "sse2";
    processor->vector_bytes = 16;
    processor->n_registers = 16;
    if (__builtin_cpu_supports("avx512f")) {
        vectors = "avx512f";
        processor->vector_bytes = 64;
        processor->n_registers = 32;
    } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        vectors = "avx2";
        processor->vector_bytes = 32;
    }
    snprintf(processor->vectors, sizeof processor->vectors, "%s", vectors);
    unsigned char all[sizeof answers + sizeof processor->vectors] = {0};
    memcpy(all, answers, sizeof answers);
    memcpy(all + sizeof answers, processor->vectors, sizeof processor->vectors);
    weft_hash(all, sizeof all, processor->identity);
}

#else

static void identify(weft_processor *processor) {
    char text[2048] = "";
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    /* Only the first processor's paragraph; the rest repeats it, clock rates and all. */
    char *end = strstr(text, "\n\n");
    if (end)
        *end = '\0';
    snprintf(processor->name, sizeof processor->name, "processor");
    snprintf(processor->vectors, sizeof processor->vectors, "simd128");
    processor->vector_bytes = 16;
    processor->n_registers = 32;
    weft_hash(text, strlen(text), processor->identity);
}

#endif

void weft_processor_read(weft_processor *processor) {
    *processor = (weft_processor){0};
    identify(processor);
    for (size_t n = strlen(processor->name); n > 0 && processor->name[n - 1] == ' '; --n)
        processor->name[n - 1] = '\0';
}
