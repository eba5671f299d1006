/** What device_batch.c collects and launches, and batch_compile.c compiles. */
#ifndef BATCH_H
#define BATCH_H

#include "core/device/device.h"
#include "core/weft_core.h"

#include <stddef.h>
#include <stdint.h>

/* A name of emulated CUDA text: what runs it (cuda_on_host.h). */
typedef struct emulated_named {
    const char *name;
    void (*call)(long long n, void **arguments);
} emulated_named;
typedef void emulate_call(void (*call)(long long n, void **arguments), long long n,
                          void **arguments, unsigned n_blocks, unsigned n_threads,
                          unsigned shared_bytes, int backwards);

typedef void emulate_function(void *kernel, long long n, void **arguments, unsigned n_blocks,
                              unsigned n_threads, unsigned shared_bytes, int backwards);

/* CUDA text that is not a module of the batch, such as a kernel of the set-up: compiled alone. */
typedef struct batch_own {
    char hash[33]; /* of the text */
    void *object;
    emulate_function *emulate;
} batch_own;
enum { BATCH_OWN = 32 };

/* The state of a module. */
typedef struct batch_module {
    int number;           /* in the batch; -1: it is compiled alone */
    const batch_own *own; /* the batch's */
} batch_module;

typedef struct batch {
    weft_device_table table;       /* the device's: the host's with other modules */
    const weft_device_table *host; /* memory is the host's */
    bool emulated, optimised, backwards;
    const char *set;   /* the host's instruction set; NULL: the best */
    weft_text text[2]; /* of double and of float; kernels are called mNUMBER_NAME */
    weft_text names;   /* emulated: the table of what can be launched */
    bool nested[2];    /* has kernels over matrices, not emulated: their prelude is needed once */
    bool broken;       /* it does not compile */
    int n_modules, n_alive;
    void *object;
    emulate_call *emulate;
    batch_own own[BATCH_OWN];
    int n_own;
} batch;

static inline batch *batch_of(const weft_device *device) {
    return (batch *)((char *)(uintptr_t)device->table - offsetof(batch, table));
}

/** The text that a device's sources start with. */
void batch_prelude(const weft_device *device, bool single, weft_text *out);
/** The text that kernels over matrices need besides; nothing where modules are namespaces. */
void batch_prelude_nested(const weft_device *device, weft_text *out);
/** All modules, as one object that is opened. */
weft_status batch_compile(weft_device *device, weft_error *error);
/** A text of the emulated device that is compiled alone, once. */
weft_status batch_compile_own(batch *b, const char *source, const batch_own **out,
                              weft_error *error);
/** What it says goes to stderr; not 0: it failed, 127: there is none. */
int batch_run_program(const char *const *arguments);

#endif
