/* Identifies the processor and chooses the instruction set: its best, or one given by name. */
#include "core/base/file.h"
#include "core/host/compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An instruction set of the host device's name. Its compiler option is a level known to both gcc
 * and clang, so that a name means the same on every machine. */
typedef struct instruction_set {
    const char *name, *option;
    int vector_bytes, n_registers;
} instruction_set;

#if defined(__x86_64__)
#include <cpuid.h>

/* In ascending order. The levels of the x86-64 psABI, section 3.1.1: the baseline (SSE2,
 * no FMA), level 3 (AVX2 and FMA), level 4 (AVX-512 F, BW, CD, DQ and VL). */
static const instruction_set sets[] = {{"sse2", "-march=x86-64", 16, 16},
                                       {"avx2", "-march=x86-64-v3", 32, 16},
                                       {"avx512", "-march=x86-64-v4", 64, 32}};

/* Check the features of levels 3 and 4 that are not implied by others. The built-in function also
 * checks the operating system's support (XGETBV). */
static bool has_set(int index) {
    unsigned a, b, c, d, basic = 0, extended = 0, more = 0;
    const unsigned basic3 = bit_FMA | bit_MOVBE | bit_F16C | bit_AVX,
                   extended3 = bit_AVX2 | bit_BMI | bit_BMI2,
                   extended4 =
                       bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
    if (__get_cpuid(1, &a, &b, &c, &d))
        basic = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
        extended = b;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d))
        more = c;
    const bool level3 = (basic & basic3) == basic3 && (extended & extended3) == extended3 &&
                        (more & bit_LZCNT) && __builtin_cpu_supports("avx2");
    const bool level4 =
        level3 && (extended & extended4) == extended4 && __builtin_cpu_supports("avx512f");
    return index == 0 || (index == 1 && level3) || (index == 2 && level4);
}

static void choose_best(weft_processor *processor) {
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
    processor->option = "-march=native";
}

/* Collect what -march=native depends on: the CPUID leaves with model and features. The upper half
 * of ebx in leaf 1 is masked, as it holds the number of the current core. */
static void identify(weft_processor *processor, weft_text *all) {
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
    __builtin_cpu_init();
    choose_best(processor);
    weft_text_add_bytes(all, (const char *)answers, sizeof answers);
}

#else

#if defined(__aarch64__)
static const instruction_set sets[] = {{"neon", "-march=armv8-a", 16, 32}};
#else
static const instruction_set sets[] = {{"generic", "-O3", 16, 16}};
#endif

static bool has_set(int index) {
    return index == 0;
}

static void identify(weft_processor *processor, weft_text *all) {
    char text[2048] = "";
    (void)weft_system_file_read("/proc/cpuinfo", text, sizeof text);
    /* Only the first processor's paragraph; the others repeat it with varying clock rates. */
    char *end = strstr(text, "\n\n");
    if (end)
        *end = '\0';
    snprintf(processor->name, sizeof processor->name, "processor");
    snprintf(processor->vectors, sizeof processor->vectors, "simd128");
    processor->vector_bytes = 16;
    processor->n_registers = 32;
    processor->option = "-mcpu=native";
    weft_text_add(all, "%s", text);
}

#endif

enum { N_SETS = sizeof sets / sizeof sets[0] };

static weft_status refuse_set(const char *name, const weft_processor *processor, bool known,
                              weft_error *error) {
    const char *names[N_SETS];
    char list[64] = "";
    int n = 0;
    for (int i = 0; i < N_SETS; ++i) {
        if (!has_set(i))
            continue;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", sets[i].name);
        names[n++] = sets[i].name;
    }
    if (known)
        weft_error_set(error, WEFT_ERROR_USAGE, "this processor (%s) does not have %s; it has %s",
                       processor->name, name, list);
    else
        weft_error_set(error, WEFT_ERROR_USAGE,
                       "no instruction set is called \"%.40s\"; this processor has %s", name, list);
    const char *nearest = known ? NULL : weft_nearest_name(name, names, (size_t)n);
    if (nearest)
        weft_error_hint(error, "did you mean %s?", nearest);
    else
        weft_error_hint(error, "leave it out for the best that the processor has");
    return WEFT_ERROR_USAGE;
}

static weft_status choose_set(const char *name, weft_processor *processor, weft_error *error) {
    for (int i = 0; i < N_SETS; ++i) {
        if (strcmp(sets[i].name, name) != 0)
            continue;
        if (!has_set(i))
            return refuse_set(name, processor, true, error);
        snprintf(processor->vectors, sizeof processor->vectors, "%s", name);
        processor->option = sets[i].option;
        processor->vector_bytes = sets[i].vector_bytes;
        processor->n_registers = sets[i].n_registers;
        return WEFT_OK;
    }
    return refuse_set(name, processor, false, error);
}

static void find_set(weft_processor *processor) {
    for (int i = 0; i < N_SETS; ++i)
        if (has_set(i) && sets[i].vector_bytes == processor->vector_bytes) {
            processor->set = sets[i].name;
            processor->set_option = sets[i].option;
        }
}

weft_status weft_processor_read(const char *instructions, weft_processor *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_processor processor = {0};
    weft_text all = {0};
    identify(&processor, &all);
    for (size_t n = strlen(processor.name); n > 0 && processor.name[n - 1] == ' '; --n)
        processor.name[n - 1] = '\0';
    if (instructions)
        TRY(choose_set(instructions, &processor, error));
    processor.is_named = instructions != NULL;
    find_set(&processor);
    weft_text_add(&all, "|%s|%s", processor.vectors, processor.option);
    if (all.failed)
        TRY(weft_out_of_memory(error, "a device"));
    weft_hash(all.data, all.length, processor.identity);
    *out = processor;
done:
    weft_text_free(&all);
    return status;
}
