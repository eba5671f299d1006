/** The system C compiler, and the processor that it compiles for.
 *  In: $CC, an instruction set and generated C. Out: a shared object. */
#pragma once

#include "core/base/process.h"
#include "core/cache/cache.h"

typedef struct weft_processor {
    char name[64];      /* "AMD EPYC" */
    char vectors[16];   /* "avx512f", "simd128"; or the name of the requested instruction set */
    const char *option; /* of the compiler: "-march=native", "-march=x86-64-v3" */
    int vector_bytes;   /* 64, 32 or 16 */
    int n_registers;    /* vector registers */
    char identity[33];  /* hash of everything that -march=native depends on, and of the above */
    bool is_named;      /* the instruction set was requested */
    /* the set with the same vectors, for kernels that run on every processor with it; NULL: none */
    const char *set, *set_option;
} weft_processor;
/** Identify the processor and choose the instruction set.
 *  instructions  "sse2", "avx2", "avx512" (x86-64), "neon" (aarch64); NULL: the processor's best
 *  Errors        WEFT_ERROR_USAGE: unknown, or not supported by this processor */
weft_status weft_processor_read(const char *instructions, weft_processor *out, weft_error *error);

enum { WEFT_COMPILER_WORDS = 16, WEFT_COMPILER_OPTIONS = 20 };

typedef struct weft_compiler {
    char command[1024];                   /* the words of $CC, split in place */
    char *words[WEFT_COMPILER_WORDS + 1]; /* program and the user's options, NULL-terminated */
    char program[1024];                   /* absolute path of the program */
    char identity[2600];                  /* path, real path, size, change time, version line */
    char label[64];                       /* "gcc 12.2.0" */
    const char *options[WEFT_COMPILER_OPTIONS + 1]; /* added by Weft, NULL-terminated */
    char vector_library[1024];                      /* linked beside libm; "": none */
    weft_process_limits limits;                     /* of each run */
    const weft_monitor *monitor;                    /* borrowed */
} weft_compiler;

/** The usual command: where PATH has no such program, that of the Python package ziglang is found if Weft is in one, too. */
#define WEFT_COMPILER_USUAL "cc"

/** Find the compiler and its version line (kept in the cache), and choose the options for this
 *  version and the processor's instruction set.
 *  Errors  WEFT_ERROR_COMPILER: missing, does not run, or an unsupported version;
 *          WEFT_ERROR_USAGE: the environment sets a limit that is not a number */
weft_status weft_compiler_find(const char *command, const weft_processor *processor,
                               weft_cache *cache, weft_compiler *out, weft_error *error);
/** The options for a compiler with this version line (core/host/compiler_options.c).
 *  label    [size] "gcc 12.2.0"
 *  options  [WEFT_COMPILER_OPTIONS + 1], NULL-terminated; static strings
 *  Errors   as weft_compiler_find */
weft_status weft_compiler_options(const char *version, const weft_processor *processor, char *label,
                                  size_t size, const char **options, weft_error *error);
/** Replace the option that names an instruction set by that of `zig cc`, a clang with names of its own. */
void weft_compiler_name_for_zig(const char **options);
/** Append the table of options, of all compilers and versions. */
void weft_compiler_add_options(weft_text *out);
/** Hash of everything other than the source that determines the compiler's output: the second half
 *  of a cache key. */
void weft_compiler_key(const weft_compiler *compiler, char out[33]);
/** Compile a source to a shared object in the work directory and read it back.
 *  object  [*size] malloc'd
 *  Errors  WEFT_ERROR_COMPILER (message holds the compiler's first lines), WEFT_ERROR_IO,
 *          WEFT_ERROR_MEMORY */
weft_status weft_compiler_run(const weft_compiler *compiler, const weft_work_folder *work,
                              const char *name, const char *source, unsigned char **object,
                              size_t *size, weft_error *error);
