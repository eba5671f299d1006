/** The system C compiler, and the processor that it compiles for. */
#pragma once

#include "core/base/process.h"
#include "core/cache/cache.h"

typedef struct weft_processor {
    char name[64];      /* "AMD EPYC" */
    char vectors[16];   /* "avx512f", "simd128"; or the instruction set by the name it was given */
    const char *option; /* that makes a compiler use them: "-march=native", "-march=x86-64-v3" */
    int vector_bytes;   /* 64, 32 or 16 */
    int n_registers;    /* vector registers */
    char identity[33];  /* hash of everything that -march=native looks at, and of the above */
} weft_processor;
/** instructions  "sse2", "avx2", "avx512" (x86-64), "neon" (aarch64); NULL: the best there is
 *  Errors        WEFT_ERROR_USAGE: unknown, or this processor does not have it */
weft_status weft_processor_read(const char *instructions, weft_processor *out, weft_error *error);

enum { WEFT_COMPILER_WORDS = 16, WEFT_COMPILER_OPTIONS = 20 };

typedef struct weft_compiler {
    char command[1024];                   /* the words of $CC, cut in place */
    char *words[WEFT_COMPILER_WORDS + 1]; /* program and options of the user's, NULL-terminated */
    char program[1024];                   /* the program found, absolute */
    char identity[2600];                  /* path, real path, size, time of change, version line */
    char label[64];                       /* "gcc 12.2.0" */
    const char *options[WEFT_COMPILER_OPTIONS + 1]; /* ours, NULL-terminated */
    weft_process_limits limits;                     /* of each run */
    const weft_monitor *monitor;                    /* borrowed */
} weft_compiler;

/** Find the program and its version line, which is remembered in the cache, and choose the options
 *  for that version and the processor's instruction set.
 *  Errors WEFT_ERROR_COMPILER: missing, it does not answer, or its version is known to be wrong;
 *         WEFT_ERROR_USAGE: the environment sets a limit that is not a number. */
weft_status weft_compiler_find(const char *command, const weft_processor *processor,
                               weft_cache *cache, weft_compiler *out, weft_error *error);
/** The options for a compiler that says `version` of itself (core/host/compiler_options.c).
 *  label    "gcc 12.2.0", of size bytes
 *  options  [WEFT_COMPILER_OPTIONS + 1], NULL-terminated; strings that last */
weft_status weft_compiler_options(const char *version, const weft_processor *processor, char *label,
                                  size_t size, const char **options, weft_error *error);
/** Everything that decides what it makes of a source, as the second half of a key. */
void weft_compiler_key(const weft_compiler *compiler, char out[33]);
/** Compile to a shared object in work's folder and read it back; *object is malloc'd. */
weft_status weft_compiler_run(const weft_compiler *compiler, const weft_work_folder *work,
                              const char *name, const char *source, unsigned char **object,
                              size_t *size, weft_error *error);
